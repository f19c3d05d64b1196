//! Finds cycles of relations: their nodes wait for each other, so no order of deployment exists
//! (section 7.2.2).
//!
//! Each alternative of a requirement is a relation of its own, and each of its types may be an edge
//! of its own. The graph contains the edges of all variants at once, and each edge names the
//! elements that it depends on.

use super::super::checker::Checker;
use super::super::waiting::Waiting;
use super::indexed::is_computed;
use super::template::Templates;
use crate::topology::cycle::components;
use crate::tosca::{Family, TypeId};
use crate::variability::graph::{ElementId, NodeId, RelationElement};

/// The workflows that are generated from the order of nodes, unless their author writes them.
const GENERATED: [&str; 2] = ["deploy", "undeploy"];

impl<'c, 'a> Checker<'c, 'a> {
    /// Collects which node waits for which.
    pub(in super::super) fn waiting(&self) -> Waiting<'c, 'a> {
        let mut waiting = Waiting::new(self.graph);
        let knotted = self.knotted();
        if knotted.is_empty() || self.is_deployed_otherwise() {
            return waiting;
        }
        let templates = Templates::of(self.graph);
        for (relation, target) in knotted {
            for when in self.orders(relation, &templates) {
                waiting.add(relation, target, when);
            }
        }
        waiting
    }

    /// The relations that would be on a cycle if every relation imposed an order. Most templates
    /// have none, so that no type has to be examined.
    fn knotted(&self) -> Vec<(&'c RelationElement<'a>, NodeId)> {
        let graph = self.graph;
        let counting = graph.relations.iter().filter(|relation| self.counts(relation.id));
        let waits = counting.filter_map(|relation| Some((relation, relation.target?)));
        let mut edges = vec![Vec::new(); graph.nodes.len()];
        for (relation, target) in waits.clone() {
            edges[relation.source.0 as usize].push((target.0 as usize, ()));
        }
        let knots = components(&edges);
        let is_inner = |(relation, target): &(&RelationElement<'_>, NodeId)| {
            knots[relation.source.0 as usize] == knots[target.0 as usize]
        };
        let is_found = |node| self.is_found(node);
        let moves = |(relation, target): &(&RelationElement<'_>, NodeId)| {
            !is_found(relation.source)
                && !is_found(*target)
                && !is_computed(relation.requirement.declared.value())
        };
        waits.filter(is_inner).filter(moves).collect()
    }

    /// Whether a node was found among existing instances, so that no node has to wait for it.
    fn is_found(&self, node: NodeId) -> bool {
        let body = self.graph.node(node).template.declared.value();
        body.get("metadata").is_some_and(|metadata| metadata.get("instance").is_some())
    }

    /// Whether the template itself contains the workflows that deploy and undeploy it.
    fn is_deployed_otherwise(&self) -> bool {
        let topology = self.graph.template.root.get("topology_template");
        let workflows = topology.and_then(|topology| topology.get("workflows"));
        workflows.is_some_and(|own| GENERATED.iter().all(|name| own.get(name).is_some()))
    }

    /// The alternative conditions, beside its own presence, under which a relation imposes an
    /// order. All relations with types of the specification's hierarchy do. If the type of a node
    /// has an undefined ancestor, nothing is known.
    fn orders(
        &self,
        relation: &RelationElement<'a>,
        templates: &Templates<'_, 'a>,
    ) -> Vec<Vec<ElementId>> {
        let named = self.relationship_types(relation, templates).into_iter();
        let mut kinds: Vec<_> = named.map(|(kind, when)| (Some(kind), when)).collect();
        if kinds.is_empty() {
            let name = self.graph.element(relation.id).name;
            let sources = self.types_of(self.graph.node(relation.source).id, Family::Node);
            let defined = |(source, when)| {
                let definition = self.requirement_definition(source, name);
                let kind =
                    definition.and_then(|it| self.defined(Family::Relationship, it.relationship));
                (kind.is_some() || !self.is_open(source)).then_some((kind, when))
            };
            kinds.extend(sources.into_iter().filter_map(defined));
        }
        let several = kinds.len();
        let is_ordering = |(kind, _): &(Option<TypeId>, Vec<ElementId>)| {
            kind.is_none_or(|kind| self.types.is_ordering(kind))
        };
        kinds.retain(is_ordering);
        // If all types impose an order, it does not matter which one is chosen.
        let all = kinds.len() == several;
        if all {
            kinds.truncate(1)
        }
        kinds.into_iter().map(|(_, when)| if all { Vec::new() } else { when }).collect()
    }
}
