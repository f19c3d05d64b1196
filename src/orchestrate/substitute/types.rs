//! Adds the types, imports and repositories of substituting templates, each only once.

use super::candidate::CatalogueTemplate;
use super::flatten::Flattening;
use super::rewrite::WrittenIn;
use super::view::{entry, key_span, listed};
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::tree::{MapEntries, entries, key_name, like, like_list};
use crate::tosca::shape::type_sections;
use cuvee_text::yaml::{Out, OutKey, OutNode};
use rustc_hash::FxHashSet;

/// Adds the definitions of the substituting templates to the entries of the outer template. New
/// sections are inserted before the topology.
pub(super) fn come_along<'a>(flattening: &Flattening<'_, '_, 'a>, all: &mut MapEntries<'a>) {
    let mut seen = FxHashSet::default();
    for (position, chosen) in flattening.chosen.iter().enumerate() {
        if !seen.insert(chosen.template.file) {
            continue;
        }
        for name in ["repositories", "imports"].into_iter().chain(type_sections()) {
            if let Some(section) = entry(&chosen.variant.view.document, name) {
                let section = flattening.value(&section, WrittenIn::Inner(position, &[]));
                add(flattening, all, name, &section, chosen.template);
            }
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
            let name = key_name(&key).into_owned();
            let message = format!("`{name}` has a different definition in `{}`", template.name);
            let error = Diagnostic::error(Code::TypeClash, message).at(key_span(other));
            let error = error.label(key_span(&key), "it is defined here, too");
            let help = "rename one of them, or let both templates import one definition";
            flattening.found.borrow_mut().push(error.help(help));
        }
    }
    *there = like(there, known);
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
