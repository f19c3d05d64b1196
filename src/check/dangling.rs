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
            NodeKind::Sequence => node.items().next().into_iter().for_each(|name| self.node_name(name)),
            _ => node.entries().for_each(|(_, value)| self.mappings(value)),
        }
    }

    /// `target: node`, at any depth.
    fn targets(&mut self, node: Node<'a>) {
        node.items().for_each(|item| self.targets(item));
        for (key, value) in node.entries() {
            if key.text() == Some("target") && value.kind() == NodeKind::Scalar {
                self.node_name(value);
            } else {
                self.targets(value);
            }
        }
    }

    /// Names that are no node's mean something else.
    fn node_name(&mut self, name: Node<'a>) {
        let node = self.graph.find(Step::Root(Kind::Node), name).ok();
        if let Some(node) = node.filter(|&node| !self.presence.is(node)) {
            let message = format!("this refers to {}, which is absent", self.graph.display(node));
            let warning = Diagnostic::warning(Code::DanglingReference, message).at(name.span());
            self.diagnostics.push(warning.label(self.graph.element(node).span, "this is absent"));
        }
    }
}
