//! Checks that keep the result meaningful.

use super::Checker;
use crate::diagnostic::Code;
use crate::graph::ElementId;
use crate::options::Check;

impl Checker<'_, '_> {
    pub(super) fn semantic(&mut self) {
        let graph = self.graph;
        for node in graph.nodes.iter().filter(|node| self.presence.is(node.id)) {
            let hosting: Vec<_> = graph.hosting(node).map(|relation| relation.id).collect();
            let incoming: Vec<_> = node.incoming.iter().map(|&id| graph.relation(id).id).collect();
            self.expect(Check::ExpectedHosting, Code::ExpectedHosting, node.id, &hosting, "hosting relation");
            self.expect(Check::ExpectedIncomingRelation, Code::ExpectedIncomingRelation, node.id, &incoming, "incoming relation");
            self.expect(Check::ExpectedArtifact, Code::ExpectedArtifact, node.id, &node.artifacts, "deployment artifact");
        }
        if self.options.check(Check::UnconsumedInput) {
            for input in graph.inputs.iter().filter(|input| self.presence.is(input.id)) {
                if self.presence.among(&input.consumers).next().is_none() {
                    self.error(
                        Code::UnconsumedInput,
                        input.id,
                        format!("{} is consumed by no present element", graph.display(input.id)),
                    );
                }
            }
        }
        self.constant_outputs();
        if self.options.check(Check::UnproducedOutput) {
            for output in graph.outputs.iter().filter(|output| self.presence.is(output.id)) {
                if self.presence.among(&output.producers).next().is_none() {
                    self.error(
                        Code::UnproducedOutput,
                        output.id,
                        format!("{} is produced by no present element", graph.display(output.id)),
                    );
                }
            }
        }
    }

    /// An output that takes its value from no element is pruned in every variant, which its author hardly meant.
    fn constant_outputs(&mut self) {
        let graph = self.graph;
        for output in &graph.outputs {
            let conditional = &output.parameter.declared.conditional;
            let unconditional = conditional.conditions.is_none() && conditional.default_alternative().is_none();
            if unconditional && output.producers.is_empty() && !self.presence.is(output.id) {
                let message = format!("{} is absent, since it takes its value from no element", graph.display(output.id));
                let help = "declare `pruning: false` and `default_condition: false` at it to keep it";
                self.warning(Code::UnproducedOutput, output.id, message).help = Some(help.into());
            }
        }
    }

    /// Of what a present node has in the variable template, something is left.
    fn expect(&mut self, check: Check, code: Code, node: ElementId, elements: &[ElementId], what: &str) {
        if !elements.is_empty() && self.options.check(check) && self.presence.among(elements).next().is_none() {
            let message = format!(
                "{} is expected to have a present {what}: it has {}, all absent",
                self.graph.display(node),
                elements.len()
            );
            self.error(code, node, message);
        }
    }
}
