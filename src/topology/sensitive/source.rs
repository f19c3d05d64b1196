//! Finds the secrets of a template as its author wrote it, in all its variants.

use super::Sensitivity;
use super::area::{Area, SlotForm, each_part, form};
use crate::topology::{Spanned, Topology};
use crate::tosca::Types;
use crate::tosca::function::{Function, function_in};
use crate::tosca::secrecy::{Secrecy, SecretNames};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Document, Node, NodeKind, Out, OutNode};
use rustc_hash::FxHashMap;

/// The topology of a template in which variants differ. A node that may have several types is there
/// once for each of them.
pub(crate) fn source_topology(root: Node<'_>) -> Topology {
    let mut topology = Topology::read(&Out::Source(root), &|_| false);
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    for (at, node) in topology.nodes.iter().enumerate() {
        places.entry(node.name.clone()).or_insert(at);
    }
    let templates = root.get("topology_template").and_then(|body| body.get("node_templates"));
    for (key, body) in templates.into_iter().flat_map(Node::entries) {
        let Some(kind) = body.get("type").filter(|kind| kind.kind() != NodeKind::Scalar) else {
            continue;
        };
        let Some(&at) = key.text().and_then(|name| places.get(name)) else { continue };
        for (count, name) in alternatives(kind).into_iter().enumerate() {
            let Some(text) = name.text() else { continue };
            let name = Some(Spanned { value: text.to_owned(), span: name.span() });
            match count {
                0 => topology.nodes[at].described.type_name = name,
                _ => {
                    let mut node = topology.nodes[at].clone();
                    node.described.type_name = name;
                    topology.nodes.push(node);
                }
            }
        }
    }
    topology
}

/// The names in a list of alternatives, or in a map of them to their conditions.
fn alternatives(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found: Vec<_> = node.entries().map(|(key, _)| key).collect();
    for item in node.items() {
        match item.kind() {
            NodeKind::Mapping => found.extend(item.entries().map(|(key, _)| key)),
            _ => found.push(item),
        }
    }
    found
}

/// Calls `found` with the places of literals in a document that are secret. Only parts count whose
/// places `is_asked` accepts.
pub(crate) fn secret_spans(
    document: &Document,
    types: &Types<'_>,
    is_asked: &dyn Fn(Span) -> bool,
    found: &mut dyn FnMut(Span),
) {
    let topology = source_topology(document.root());
    let secrets = Sensitivity::of(&topology, types, SecretNames::default());
    let (out, file) = (Out::Source(document.root()), Some(document.file()));
    let root = (OutNode::root(&out), Area::DOCUMENT);
    each_part(root, &mut Vec::new(), is_asked, &mut |area, path, node| {
        let mut spans = SecretSpans { secrets: &secrets, found };
        match area {
            Area::Slots => {
                let value = node.to_value();
                let secrecy = secrets.of_slot(path, &value, file);
                match form(path, &value) {
                    SlotForm::Value => spans.of(node, &secrecy),
                    SlotForm::Definition => ["default", "value"]
                        .into_iter()
                        .filter_map(|key| node.get(key))
                        .for_each(|node| spans.of(node, &secrecy)),
                }
            }
            Area::Secret => spans.of(node, &Secrecy::Whole),
            _ => spans.of(node, &Secrecy::Open),
        }
    });
}

/// Whether a value calls the function `token`, whose name is no name of a secret.
fn takes_token(value: &Value) -> bool {
    let is_position = |last: &Value| matches!(last, Value::Number(_));
    let call = Function::called_in(value).filter(|(function, _)| *function == Function::Token);
    call.is_some_and(|(_, arguments)| {
        matches!(arguments, Value::List(all) if all.len() == 3 && all.last().is_some_and(is_position))
    })
}

/// Finds the places of what is secret in values.
struct SecretSpans<'f, 's, 't, 'a> {
    secrets: &'s Sensitivity<'t, 'a>,
    found: &'f mut dyn FnMut(Span),
}

impl SecretSpans<'_, '_, '_, '_> {
    fn of(&mut self, node: OutNode<'_, '_>, secrecy: &Secrecy) {
        let is_part = node.kind() != NodeKind::Scalar;
        match secrecy {
            // What is computed from secrets tells none of them.
            Secrecy::Computed => {}
            Secrecy::Whole if is_part && function_in(&node.to_value()).is_some() => {
                self.literals(node);
            }
            Secrecy::Whole => (self.found)(node.span()),
            Secrecy::Open if !is_part => {}
            _ => self.parts(node, secrecy),
        }
    }

    fn parts(&mut self, node: OutNode<'_, '_>, secrecy: &Secrecy) {
        let (data, names) = (self.secrets.data(), self.secrets.names());
        for (_, item) in node.items() {
            let each = data.parts(secrecy).map(|parts| parts.each.clone());
            self.of(item, &each.unwrap_or_default());
        }
        let entries = node.entries();
        let is_only = entries.len() == 1;
        for entry in entries {
            let is_call = || is_only && takes_token(&node.to_value());
            let by_name = || Secrecy::whole(names.has(&entry.name) && !is_call());
            let part = data.part(secrecy, &entry.name).cloned();
            self.of(entry.value, &part.unwrap_or_else(by_name));
        }
    }

    /// The literals among the arguments of functions, but for those that name what functions read.
    fn literals(&mut self, node: OutNode<'_, '_>) {
        let is_call = |value: &Value| Function::called_in(value).is_some();
        for (_, item) in node.items() {
            self.of(item, &Secrecy::Whole);
        }
        for entry in node.entries() {
            let name = entry.name.trim_start_matches('$');
            let reads = is_call(&node.to_value()) && name.starts_with("get_");
            if !reads {
                self.of(entry.value, &Secrecy::Whole);
            }
        }
    }
}
