//! References in the result to what is not in it.

use super::Checker;
use crate::diagnostic::{Code, Diagnostic};
use crate::graph::Step;
use crate::options::Kind;
use crate::presence::Presence;
use crate::yaml::{Node, NodeKind};

impl<'a> Checker<'_, 'a> {
    /// Reports them as warnings: an orchestrator may fill the gap.
    pub(super) fn dangling(&mut self, presence: &Presence) {
        let graph = self.graph;
        for reference in &graph.references {
            let dangles = presence.is(reference.from) && presence.among(&reference.targets).next().is_none();
            if let Some(&target) = reference.targets.first().filter(|_| dangles) {
                let message = format!("{} refers to {}, which is absent", graph.display(reference.from), graph.display(target));
                let warning = Diagnostic::warning(Code::DanglingReference, message).at(reference.span);
                self.diagnostics.push(warning.label(graph.element(target).span, "this is absent"));
            }
        }
        let Some(topology) = graph.template.root.get("topology_template") else { return };
        if let Some(mappings) = topology.get("substitution_mappings") {
            self.mappings(mappings, presence);
        }
        if let Some(workflows) = topology.get("workflows") {
            self.targets(workflows, presence);
        }
    }

    /// `[node, capability]` and the like, at any depth.
    fn mappings(&mut self, node: Node<'a>, presence: &Presence) {
        match node.kind() {
            NodeKind::Sequence => node.items().next().into_iter().for_each(|name| self.name(name, presence)),
            _ => node.entries().for_each(|(_, value)| self.mappings(value, presence)),
        }
    }

    /// `target: node`, at any depth.
    fn targets(&mut self, node: Node<'a>, presence: &Presence) {
        node.items().for_each(|item| self.targets(item, presence));
        for (key, value) in node.entries() {
            if key.text() == Some("target") && value.kind() == NodeKind::Scalar {
                self.name(value, presence);
            } else {
                self.targets(value, presence);
            }
        }
    }

    /// A name that is neither a node's nor a group's means something else.
    fn name(&mut self, name: Node<'a>, presence: &Presence) {
        let graph = self.graph;
        let found = [Kind::Node, Kind::Group].into_iter().find_map(|kind| graph.find(Step::Root(kind), name).ok());
        if let Some(absent) = found.filter(|&id| !presence.is(id)) {
            let message = format!("this refers to {}, which is absent", graph.display(absent));
            let warning = Diagnostic::warning(Code::DanglingReference, message).at(name.span());
            self.diagnostics.push(warning.label(graph.element(absent).span, "this is absent"));
        }
    }
}
