//! Collects which node waits for which during deployment, over all variants at once.

use crate::diagnostic::{Cite, Diagnostic, Severity};
use crate::explore::{Assigned, flags, literal};
use crate::topology::cycle::{Cycle, shortest_cycles};
use crate::topology::waiting::{Wait, cyclic_deployment};
use crate::variability::graph::{ElementId, Graph, NodeId, RelationElement};
use cuvee_sat::formula::Lit;
use std::sync::Arc;

/// The graph of which node may wait for which, as far as it may contain a cycle.
pub(super) struct Waiting<'c, 'a> {
    graph: &'c Graph<'a>,
    /// For each node, the nodes that it may wait for, each with the position of the reason. Empty
    /// if there is no cycle.
    edges: Vec<Vec<(usize, usize)>>,
    reasons: Vec<WaitReason<'c, 'a>>,
}

/// The reason why a node waits for another one.
struct WaitReason<'c, 'a> {
    relation: &'c RelationElement<'a>,
    /// The further elements that the order depends on: the type assignment if it is one of several.
    when: Vec<ElementId>,
}

impl<'c, 'a> Waiting<'c, 'a> {
    pub(super) fn new(graph: &'c Graph<'a>) -> Self {
        Self { graph, edges: Vec::new(), reasons: Vec::new() }
    }

    /// Adds that the source of a relation waits for its target while all of `when` are present,
    /// too.
    pub(super) fn add(
        &mut self,
        relation: &'c RelationElement<'a>,
        target: NodeId,
        when: Vec<ElementId>,
    ) {
        self.edges.resize(self.graph.nodes.len(), Vec::new());
        let edge = (target.0 as usize, self.reasons.len());
        self.edges[relation.source.0 as usize].push(edge);
        self.reasons.push(WaitReason { relation, when });
    }

    pub(super) fn edges(&self) -> &[Vec<(usize, usize)>] {
        &self.edges
    }

    /// The elements that must be present for an edge.
    fn when(&self, edge: usize) -> impl Iterator<Item = ElementId> {
        let WaitReason { relation, when } = &self.reasons[edge];
        let source = self.graph.node(relation.source).id;
        [relation.id, source].into_iter().chain(when.iter().copied())
    }

    /// The literals that are true in a variant that has an edge.
    pub(super) fn literals(&self, edge: usize) -> Vec<Lit> {
        self.when(edge).map(literal).collect()
    }

    /// The elements that are present in a variant that has a cycle.
    pub(super) fn on(&self, cycle: &Cycle<usize>) -> Vec<ElementId> {
        cycle.iter().flat_map(|&(_, edge)| self.when(edge)).collect()
    }

    /// The shortest cycle of each strongly connected component, with all edges taken to be present
    /// at once.
    pub(super) fn shortest(&self) -> Vec<Cycle<usize>> {
        shortest_cycles(&self.edges)
    }

    /// The warning for a cycle of the variant with these inputs.
    pub(super) fn warning(&self, cycle: &Cycle<usize>, inputs: &[Arc<Assigned>]) -> Diagnostic {
        let name = |node: NodeId| self.graph.element(self.graph.node(node).id).name;
        let wait = |relation: &RelationElement<'_>| Wait {
            source: name(relation.source),
            target: relation.target.map_or("", name),
            place: self.graph.element(relation.id).span,
        };
        let relations = cycle.iter().map(|&(_, edge)| self.reasons[edge].relation);
        let waits: Vec<_> = relations.map(wait).collect();
        let warning = cyclic_deployment(Severity::Warning, &waits).section("7.2.2");
        let help = "leave one out of the order with `cuvee plan --ignore`";
        match inputs.iter().any(|input| !input.default) {
            true => {
                warning.help(format!("this happens for example with `{}`; {help}", flags(inputs)))
            }
            false => warning.help(help),
        }
    }
}
