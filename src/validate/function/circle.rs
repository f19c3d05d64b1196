//! Finds defaults of inputs and properties of TOSCA 2.0 whose values need themselves, or items that
//! lists lack, along paths that are constant.

use super::super::checker::Checker;
use super::path::{PathStop, ReachedNode, path_call};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use crate::topology::cycle::shortest_cycles;
use crate::tosca::function::Function;
use crate::tosca::v2_0::function::BuiltIn;
use crate::tosca::{Part, PropertyDefinition, v2_0};
use crate::variability::element::ElementKind;
use crate::variability::graph::{ElementId, NodeElement, NodeId};
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, NodeKind, Scalar};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A value of a property of a node, or a part of it.
pub(in crate::validate) struct CircleValue<'n> {
    /// The node, unless it is the value of an output.
    node: Option<NodeId>,
    pub(in crate::validate) value: Node<'n>,
    /// The elements without which it is another one.
    pub(in crate::validate) when: Vec<ElementId>,
}

/// The values that need each other.
#[derive(Default)]
struct CircleValues<'n> {
    all: Vec<CircleValue<'n>>,
    known: FxHashMap<(Option<NodeId>, Span), usize>,
}

impl<'n> CircleValues<'n> {
    /// The position of a value, which is added if it is new.
    fn position(&mut self, needed: CircleValue<'n>) -> usize {
        let next = self.all.len();
        let position = *self.known.entry((needed.node, needed.value.span())).or_insert(next);
        if position == next {
            self.all.push(needed);
        }
        position
    }
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Reports values of properties that need themselves, and items that lists lack.
    pub(super) fn circles(&self) {
        let mut needed = CircleValues::default();
        for (slot, node) in self.graph.nodes.iter().enumerate() {
            let Some(id) = u32::try_from(slot).ok().map(NodeId) else { continue };
            let own = node.properties.iter().map(|&property| self.graph.element(property).name);
            let kind = self.only_type(node.id).map(|kind| &self.types.effective(kind).properties);
            let is_computed = |part: &&Arc<Part<'_, PropertyDefinition<'_>>>| {
                part.definition.taken().is_some_and(v2_0::calls)
            };
            let defined = kind.into_iter().flat_map(|all| all.values()).filter(is_computed);
            for name in own.chain(defined.map(|part| part.named.name)) {
                if let Some(own) = self.needed(id, name) {
                    needed.position(own);
                }
            }
        }
        let mut edges: Vec<Vec<(usize, usize)>> = Vec::new();
        while let Some(next) = needed.all.get(edges.len()) {
            let mut read = Vec::new();
            self.reads(next, next.value, &mut read);
            edges.push(read.into_iter().map(|it| (needed.position(it), 0)).collect());
        }
        for output in self.graph.outputs.iter().filter(|output| self.counts(output.id)) {
            let declared = &output.parameter.declared;
            let definition = declared.parameter_definition(&mut Diagnostics::default());
            let value = definition.value.filter(|value| v2_0::is_of(value.document()));
            if let Some(value) = value {
                let of = CircleValue { node: None, value, when: vec![output.id] };
                self.reads(&of, value, &mut Vec::new());
            }
        }
        for circle in shortest_cycles(&edges) {
            let values: Vec<_> = circle.iter().map(|(at, _)| &needed.all[*at]).collect();
            let Some((first, others)) = values.split_first() else { continue };
            let message = "the value of a function needs itself";
            let error = Diagnostic::error(Code::InvalidFunction, message).at(first.value.span());
            let through = others.iter().map(|other| other.value.span());
            let error = through.fold(error, |error, at| error.label(at, "through this value"));
            let when: Vec<_> = values.iter().flat_map(|value| value.when.iter().copied()).collect();
            let error = error.section("4.4.2").help("give one of them a value of its own");
            self.report_when(&when, &[], error);
        }
    }

    /// Warns of inputs whose defaults need each other: one of them has to be given.
    pub(super) fn circles_of_defaults(&self) {
        let inputs = &self.graph.inputs;
        let slot = |id: ElementId| {
            let element = self.graph.element(id);
            (element.kind == ElementKind::Input).then_some(element.slot as usize)
        };
        let mut edges = vec![Vec::new(); inputs.len()];
        for reference in &self.graph.references {
            let Some(from) = reference.from.and_then(slot) else { continue };
            let default = inputs[from].parameter.declared.value().get("default").map(Node::span);
            let is_in = |it: Span| it.start <= reference.span.start && reference.span.end <= it.end;
            if default.is_some_and(is_in) {
                let asked = reference.targets.iter().filter_map(|id| slot(*id));
                edges[from].extend(asked.map(|asked| (asked, ())));
            }
        }
        for circle in shortest_cycles(&edges) {
            let ids: Vec<_> = circle.iter().map(|(at, _)| inputs[*at].id).collect();
            let Some((first, others)) = ids.split_first() else { continue };
            let display = self.graph.display(*first);
            let message =
                format!("the default of {display} needs itself, so nobody can leave it out");
            let at = self.graph.element(*first).span;
            let warning = Diagnostic::warning(Code::InvalidFunction, message).at(at);
            let through = others.iter().map(|id| self.graph.element(*id).span);
            let warning = through.fold(warning, |it, at| it.label(at, "through this input"));
            let help = "give one of them a default of its own";
            self.report_when(&ids, &[], warning.section("4.4.1").help(help));
        }
    }

    /// The value of a property of a node, if it is the same in all variants that have it.
    pub(in crate::validate) fn needed(&self, id: NodeId, name: &str) -> Option<CircleValue<'c>> {
        let node = self.graph.node(id);
        let body = node.template.declared.value();
        let is_one = !self.is_selected(node) && body.get("instance_count").is_none();
        let holder: &NodeElement<'a> = self.graph.holder(node, "properties");
        let assigned = self.assigned_once(&holder.properties, name).ok().filter(|_| is_one)?;
        let (value, when) = match assigned {
            Some((property, value)) => (value, vec![node.id, property]),
            None => {
                let properties = &self.types.effective(self.only_type(node.id)?).properties;
                (properties.get(name)?.definition.taken()?, vec![node.id])
            }
        };
        v2_0::is_of(value.document()).then_some(CircleValue { node: Some(id), value, when })
    }

    /// Collects what a part of a value of a node needs for certain.
    fn reads(&self, of: &CircleValue<'c>, part: Node<'c>, read: &mut Vec<CircleValue<'c>>) {
        if let Some((call, steps)) = path_call(part) {
            let is_property = call.function == Function::GetProperty;
            return read.extend(self.read_at(of, &steps).filter(|_| is_property));
        }
        let called = v2_0::called(part).map(|(name, _)| name);
        // Of these, one argument may decide.
        let is_strict = |name: &&str| !["and", "or"].contains(name);
        let is_needed = called.is_none_or(|name| {
            BuiltIn::named(name).is_some_and(|it| it.value.is_some()) && is_strict(&name)
        });
        if is_needed {
            part.parts().for_each(|part| self.reads(of, part, read));
        }
    }

    /// The value that a path from a node leads to, if no variant changes the way.
    fn read_at(&self, of: &CircleValue<'c>, steps: &[Node<'c>]) -> Option<CircleValue<'c>> {
        let (start, steps) = steps.split_first()?;
        let start = match start.as_str()? {
            "SELF" => of.node?,
            name => NodeId(self.graph.element(self.graph.node_named(name)?.id).slot),
        };
        let kind = self.only_type(self.graph.node(start).id)?;
        let from = PathStop::Node(ReachedNode { kind, template: Some(start) });
        let end = self.follow(from, steps).ok().filter(|end| !end.is_list)?;
        let PathStop::Node(ReachedNode { template: Some(node), .. }) = end.reached else {
            return None;
        };
        // Relations may depend on the variant.
        let is_constant = end.rest.len() == steps.len() || self.graph.template.is_plain();
        let (property, nested) = end.rest.split_first().filter(|_| is_constant)?;
        let mut found = self.needed(node, property.as_str()?)?;
        for step in nested {
            if v2_0::called(found.value).is_some() {
                break;
            }
            found.value = match (found.value.kind(), step.scalar()) {
                (NodeKind::Sequence, Some(Scalar::Int(index))) => {
                    let item =
                        usize::try_from(index).ok().and_then(|at| found.value.items().nth(at));
                    if item.is_none() {
                        self.no_item(of, &found, *step);
                    }
                    item?
                }
                (NodeKind::Mapping, _) => found.value.get(step.text()?)?,
                _ => return None,
            };
        }
        Some(found)
    }

    /// Reports an index for which a list has no item.
    fn no_item(&self, of: &CircleValue<'c>, list: &CircleValue<'c>, index: Node<'_>) {
        let (length, text) = (list.value.items().len(), index.text().unwrap_or_default());
        let message = format!("the list has no item {text}: it has {length}, counted from 0");
        let error = Diagnostic::error(Code::InvalidFunction, message).at(index.span());
        let error = error.section("4.4.2").label(list.value.span(), "the list is here");
        self.report_when(&[&*of.when, &*list.when].concat(), &[], error);
    }
}
