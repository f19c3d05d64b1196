//! References in the result to what is not in it.

use super::Checker;
use crate::diagnostic::{Code, Diagnostic};
use crate::graph::Step;
use crate::options::Kind;
use crate::yaml::{Node, NodeKind};

impl<'a> Checker<'_, 'a> {
    /// Reports them as warnings: an orchestrator may fill the gap.
    pub(super) fn dangling(&mut self) {
        let graph = self.graph;
        for reference in &graph.references {
            let dangles = self.presence.is(reference.from) && self.presence.among(&reference.targets).next().is_none();
            if let Some(&target) = reference.targets.first().filter(|_| dangles) {
                let message = format!("{} refers to {}, which is absent", graph.display(reference.from), graph.display(target));
                let warning = Diagnostic::warning(Code::DanglingReference, message).at(reference.span);
                self.diagnostics.push(warning.label(graph.element(target).span, "this is absent"));
            }
        }
        let Some(topology) = graph.template.root.get("topology_template") else { return };
        if let Some(mappings) = topology.get("substitution_mappings") {
            self.mappings(mappings);
        }
        if let Some(workflows) = topology.get("workflows") {
            self.targets(workflows);
        }
    }

    /// `[node, capability]` and the like, at any depth.
    fn mappings(&mut self, node: Node<'a>) {
        match node.kind() {
            NodeKind::Sequence => node.items().next().into_iter().for_each(|name| self.name(name)),
            _ => node.entries().for_each(|(_, value)| self.mappings(value)),
        }
    }

    /// `target: node`, at any depth.
    fn targets(&mut self, node: Node<'a>) {
        node.items().for_each(|item| self.targets(item));
        for (key, value) in node.entries() {
            if key.text() == Some("target") && value.kind() == NodeKind::Scalar {
                self.name(value);
            } else {
                self.targets(value);
            }
        }
    }

    /// A name that is neither a node's nor a group's means something else.
    fn name(&mut self, name: Node<'a>) {
        let (graph, presence) = (self.graph, self.presence);
        let found = [Kind::Node, Kind::Group].into_iter().find_map(|kind| graph.find(Step::Root(kind), name).ok());
        if let Some(absent) = found.filter(|&id| !presence.is(id)) {
            let message = format!("this refers to {}, which is absent", graph.display(absent));
            let warning = Diagnostic::warning(Code::DanglingReference, message).at(name.span());
            self.diagnostics.push(warning.label(graph.element(absent).span, "this is absent"));
        }
    }
}
