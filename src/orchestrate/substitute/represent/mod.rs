//! Makes the representations of the node templates of TOSCA 2.0 (chapter 14). A template with
//! `count` stands for that many nodes, and each of them has an index from 0 that never changes: the
//! template `site` becomes the nodes `site@0`, `site@1` and so on, as in instances.
//!
//! First the nodes are repeated, and whatever names their templates names them instead
//! ([`rewrite`], [`sections`]). Then requirements get their targets among them ([`link`], [`matching`]). What is
//! not known before deployment stays as it is.

mod known;
mod link;
mod matching;
mod rewrite;
mod sections;

use super::view::{entry, is_of_2_0, key_span};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0};
use crate::orchestrate::representation;
use crate::orchestrate::tree::{MapEntries, entries, key_name, like, within_topology};
use crate::tosca::Types;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Out, OutKey, OutNode};
use known::{Indices, KnownInputs};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// How many nodes all templates stand for at most, and how many relations lead to these.
const REPRESENTATIONS: u64 = 100_000;

/// A document in which no node template stands for several nodes, as far as counts are known.
pub(super) struct RepresentedDocument<'a> {
    pub document: Out<'a>,
    /// The document with the values of functions, if there is one.
    pub evaluated: Option<Out<'a>>,
    pub nodes: RepresentedNodes,
    /// Whether it is another document than the given one.
    pub is_changed: bool,
}

/// The nodes that each template with a count stands for.
#[derive(Default)]
pub(super) struct RepresentedNodes {
    by_template: FxHashMap<String, Vec<String>>,
}

impl RepresentedNodes {
    /// The nodes that a template stands for: one of its own name, if it has no count.
    pub(super) fn of<'n>(&'n self, template: &'n String) -> impl Iterator<Item = &'n String> {
        let nodes = self.by_template.get(template).map(Vec::as_slice);
        nodes.unwrap_or(std::slice::from_ref(template)).iter()
    }
}

/// The numbers of nodes that templates stand for.
struct NodeCounts {
    by_template: FxHashMap<String, u64>,
}

/// The making of representations.
struct Representing<'r> {
    counts: &'r NodeCounts,
    known: &'r KnownInputs,
    /// Whether functions are replaced by their values where indices decide these.
    evaluates: bool,
    found: RefCell<Diagnostics>,
}

/// Makes the representations of a document. `inputs` are the given values of topology inputs.
///
/// # Errors
/// `invalid-value` for counts that are none, `dangling-reference` for paths to nodes that do not
/// exist, and `unfulfilled-requirement` for requirements that get no target.
pub(super) fn represented<'a>(
    document: Out<'a>,
    evaluated: Option<Out<'a>>,
    inputs: &FxHashMap<String, Value>,
    types: &Types<'_>,
) -> Result<RepresentedDocument<'a>, Diagnostics> {
    if !is_of_2_0(&document) {
        let nodes = RepresentedNodes::default();
        return Ok(RepresentedDocument { document, evaluated, nodes, is_changed: false });
    }
    let judged = evaluated.as_ref().unwrap_or(&document);
    let section = |name: &str| entry(&entry(judged, "topology_template")?, name);
    let declared = section("inputs");
    let known = KnownInputs::of(declared.as_ref().map(OutNode::root), inputs);
    let templates = section("node_templates").map(|all| uncopied(&all)).unwrap_or_default();
    let counts = NodeCounts::of(&templates, &known)?;
    let repeated = |document: Out<'a>, evaluates: bool| {
        if counts.by_template.is_empty() {
            return Ok(document);
        }
        let found = RefCell::default();
        let representing = Representing { counts: &counts, known: &known, evaluates, found };
        let document = representing.document(&document);
        let found = representing.found.into_inner();
        // The same errors are found in both documents.
        if found.has_errors() { Err(found) } else { Ok(document) }
    };
    let (document, evaluated) =
        (repeated(document, false)?, evaluated.map(|it| repeated(it, true)).transpose()?);
    let judged = evaluated.as_ref().unwrap_or(&document);
    let links = match counts.by_template.is_empty() && !link::are_needed(&templates) {
        true => None,
        false => Some(link::links(judged, &counts, &known, types)?).filter(|it| !it.is_empty()),
    };
    let is_changed = !counts.by_template.is_empty() || links.is_some();
    let (document, evaluated) = match links {
        None => (document, evaluated),
        Some(links) => {
            (links.write(&document, &known), evaluated.map(|it| links.write(&it, &known)))
        }
    };
    Ok(RepresentedDocument { document, evaluated, nodes: counts.names(), is_changed })
}

impl NodeCounts {
    /// Reads the counts of node templates.
    fn of(templates: &MapEntries<'_>, known: &KnownInputs) -> Result<Self, Diagnostics> {
        let mut errors = Diagnostics::default();
        let mut by_template = FxHashMap::default();
        let mut all = 0_u64;
        for (key, body) in templates {
            let Some(count) = entry(body, "instance_count") else { continue };
            let (name, place) = (key_name(key), OutNode::root(&count).span());
            let place = if place.is_detached() { key_span(key) } else { place };
            // Outside of nodes that are there, the index is that of a single one.
            let at = Indices { node: Some(0), relationship: None };
            match known.value(&count, at).map(|value| value.map(|value| (whole(&value), value))) {
                Ok(None | Some((None, Value::Null))) => {}
                Ok(Some((Some(count), _))) => {
                    all = all.saturating_add(count);
                    if all > REPRESENTATIONS {
                        let message = format!(
                            "the node templates stand for more than {REPRESENTATIONS} nodes together"
                        );
                        errors.push(invalid(message, place).help("lower the `count`"));
                        break;
                    }
                    by_template.insert(name.into_owned(), count);
                }
                Ok(Some((None, other))) => {
                    let message =
                        format!("the `count` of `{name}` is an integer from 0 up, not `{other}`");
                    errors.push(invalid(message, place));
                }
                Err(why) => {
                    let message = format!("the `count` of `{name}` has no value: {why}");
                    errors.push(invalid(message, place));
                }
            }
        }
        if errors.has_errors() { Err(errors) } else { Ok(Self { by_template }) }
    }

    /// How many nodes a template stands for, if it says so.
    fn get(&self, template: &str) -> Option<u64> {
        self.by_template.get(template).copied()
    }

    /// The names of the nodes that a template stands for, if it says how many.
    fn nodes(&self, template: &str) -> Option<Vec<String>> {
        let count = self.get(template)?;
        Some((0..count).map(|index| representation(template, index)).collect())
    }

    fn names(&self) -> RepresentedNodes {
        let names = self.by_template.keys();
        let names = names.filter_map(|template| Some((template.clone(), self.nodes(template)?)));
        RepresentedNodes { by_template: names.collect() }
    }
}

/// A number from 0 up.
fn whole(value: &Value) -> Option<u64> {
    if let Value::Number(number) = value { u64::try_from(number.as_int()?).ok() } else { None }
}

fn invalid(message: String, place: Span) -> Diagnostic {
    let error = Diagnostic::error(Code::InvalidValue, message).at(place);
    error.rule(Rule::new(&TOSCA_2_0, "14.1"))
}

/// The node templates. A copy of a template that stands for several nodes, or that does so itself,
/// has what it copies: there the index is that of the copy.
fn uncopied<'a>(section: &Out<'a>) -> MapEntries<'a> {
    let all = entries(section);
    let by_name: FxHashMap<String, Out<'a>> =
        all.iter().map(|(key, body)| (key_name(key).into_owned(), body.clone())).collect();
    let of = |(key, body): (OutKey<'a>, Out<'a>)| {
        let copied =
            entry(&body, "copy").and_then(|it| Some(OutNode::root(&it).text()?.into_owned()));
        let Some(copied) = copied.and_then(|name| by_name.get(&name)) else { return (key, body) };
        let is_counted = |body: &Out<'a>| entry(body, "instance_count").is_some();
        if !is_counted(&body) && !is_counted(copied) {
            return (key, body);
        }
        let mut own = entries(&body);
        own.retain(|(key, _)| key_name(key) != "copy");
        for (key, value) in entries(copied) {
            let name = key_name(&key);
            if name != "copy" && own.iter().all(|(key, _)| key_name(key) != name) {
                own.push((key, value));
            }
        }
        (key, like(&body, own))
    };
    all.into_iter().map(of).collect()
}

impl Representing<'_> {
    fn document<'a>(&self, document: &Out<'a>) -> Out<'a> {
        within_topology(document, &mut |section, value| match section {
            "node_templates" => self.nodes(value),
            "groups" => self.groups(value),
            "policies" => self.policies(value),
            "workflows" => self.workflows(value),
            "substitution_mappings" => self.mappings(value),
            "inputs" => value.clone(),
            _ => self.value(value, Indices::default()),
        })
    }

    fn nodes<'a>(&self, section: &Out<'a>) -> Out<'a> {
        let mut all = Vec::new();
        for (key, body) in uncopied(section) {
            let name = key_name(&key);
            let Some(count) = self.counts.get(&name) else {
                all.push((key, self.value(&body, Indices::default())));
                continue;
            };
            let mut body_entries = entries(&body);
            body_entries.retain(|(key, _)| key_name(key) != "instance_count");
            let body = like(&body, body_entries);
            for index in 0..count {
                let new = representation(&name, index);
                let key = match &key {
                    OutKey::Source(key) | OutKey::Renamed(key, _) if index == 0 => {
                        OutKey::Renamed(*key, new.into())
                    }
                    _ => OutKey::New(new.into()),
                };
                let at = Indices { node: Some(index), relationship: None };
                all.push((key, self.value(&body, at)));
            }
        }
        like(section, all)
    }
}
