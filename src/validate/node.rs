//! Node templates (section 3.8.3).

use super::checker::Checker;
use crate::graph::NodeElement;
use crate::tosca::Family;

impl<'a> Checker<'_, 'a> {
    /// Checks all node templates.
    pub(super) fn nodes(&self) {
        for node in self.graph.nodes.iter().filter(|node| self.counts(node.id)) {
            self.node(node);
        }
    }

    fn node(&self, node: &NodeElement<'a>) {
        for (kind, when) in self.types_of(node.id, Family::Node) {
            self.properties(node.id, &node.properties, kind, &when);
        }
    }
}
