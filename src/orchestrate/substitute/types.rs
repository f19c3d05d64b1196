//! Adds the types, functions, imports and repositories of substituting templates, each only once.

use super::candidate::CatalogueTemplate;
use super::flatten::Flattening;
use super::rewrite::WrittenIn;
use super::view::{entry, key_span, listed};
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::tree::{MapEntries, entries, key_name, like, like_list};
use crate::tosca::shape::type_sections;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Out, OutKey, OutNode};
use rustc_hash::{FxHashMap, FxHashSet};

/// Adds the definitions of the substituting templates to the entries of the outer template. New
/// sections are inserted before the topology.
pub(super) fn come_along<'a>(flattening: &Flattening<'_, '_, 'a>, all: &mut MapEntries<'a>) {
    let mut seen = FxHashSet::default();
    let mut known: FxHashMap<String, (OutKey<'a>, Value)> = FxHashMap::default();
    for (key, value) in declared(&flattening.outer.document) {
        known.insert(key_name(&key).into_owned(), (key, OutNode::root(&value).to_value()));
    }
    for (position, chosen) in flattening.chosen.iter().enumerate() {
        if !seen.insert(chosen.template.file) {
            continue;
        }
        let at = WrittenIn::Inner(position, &[]);
        for (key, value) in declared(&chosen.variant.view.document) {
            let value = OutNode::root(&flattening.value(&value, at)).to_value();
            match known.get(&*key_name(&key)) {
                Some((other, known)) if *known != value => {
                    clashes(flattening, other, &key, chosen.template);
                }
                Some(_) => {}
                None => drop(known.insert(key_name(&key).into_owned(), (key, value))),
            }
        }
        let sections = ["repositories", "functions", "imports"].into_iter().chain(type_sections());
        for name in sections {
            if let Some(section) = entry(&chosen.variant.view.document, name) {
                add(flattening, all, name, &flattening.value(&section, at), chosen.template);
            }
        }
    }
}

/// The functions that a document declares; a service template refines those of its file.
fn declared<'a>(document: &Out<'a>) -> MapEntries<'a> {
    let mut all = entry(document, "functions").map(|it| entries(&it)).unwrap_or_default();
    let topology = entry(document, "topology_template");
    let refining = topology.and_then(|topology| entry(&topology, "functions"));
    for (key, value) in refining.iter().flat_map(entries) {
        all.retain(|(known, _)| key_name(known) != key_name(&key));
        all.push((key, value));
    }
    all
}

/// The functions that service templates of TOSCA 2.0 declare, all in one.
pub(super) fn functions<'a>(flattening: &Flattening<'_, '_, 'a>, all: &mut MapEntries<'a>) {
    for (position, chosen) in flattening.chosen.iter().enumerate() {
        if let Some(section) = chosen.variant.view.section("functions") {
            let section = flattening.value(&section, WrittenIn::Inner(position, &[]));
            add(flattening, all, "functions", &section, chosen.template);
        }
    }
}

fn add<'a>(
    flattening: &Flattening<'_, '_, 'a>,
    all: &mut MapEntries<'a>,
    name: &str,
    section: &Out<'a>,
    template: &CatalogueTemplate<'a>,
) {
    let old = all.iter().position(|(key, _)| key_name(key) == name);
    let Some(old) = old else {
        let topology = all.iter().position(|(key, _)| key_name(key) == "topology_template");
        let at = topology.unwrap_or(all.len());
        return all.insert(at, (OutKey::New(name.to_owned().into()), section.clone()));
    };
    let there = &mut all[old].1;
    if name == "imports" {
        *there = imports(there, section);
        return;
    }
    let mut known = entries(there);
    for (key, value) in entries(section) {
        let same = known.iter().find(|(known, _)| key_name(known) == key_name(&key));
        let Some((other, definition)) = same else {
            known.push((key, value));
            continue;
        };
        if OutNode::root(definition).to_value() != OutNode::root(&value).to_value() {
            clashes(flattening, other, &key, template);
        }
    }
    *there = like(there, known);
}

/// Reports that something is defined otherwise in a substituting template.
fn clashes<'a>(
    flattening: &Flattening<'_, '_, 'a>,
    other: &OutKey<'a>,
    key: &OutKey<'a>,
    template: &CatalogueTemplate<'a>,
) {
    let (name, template) = (key_name(key), &template.name);
    let message = format!("`{name}` has a different definition in `{template}`");
    let error = Diagnostic::error(Code::TypeClash, message).at(key_span(other));
    let error = error.label(key_span(key), "it is defined here, too");
    let help = "rename one of them, or let both templates import one definition";
    flattening.tell(error.help(help));
}

/// Imports with further ones, each only once.
fn imports<'a>(there: &Out<'a>, more: &Out<'a>) -> Out<'a> {
    let mut all = listed(there);
    let mut seen: Vec<_> = all.iter().map(|(_, item)| OutNode::root(item).to_value()).collect();
    for (owner, item) in listed(more) {
        let value = OutNode::root(&item).to_value();
        if !seen.contains(&value) {
            seen.push(value);
            all.push((owner, item));
        }
    }
    like_list(there, all)
}
