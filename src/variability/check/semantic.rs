//! Checks that keep the result meaningful.

use super::{PresenceChecker, error, warning};
use crate::text::diagnostic::Code;
use crate::variability::graph::ElementId;
use crate::variability::options::Check;
use crate::variability::presence::Presence;

/// So many absent elements are shown.
const LABELLED: usize = 5;

impl PresenceChecker<'_, '_> {
    pub(super) fn semantic(&mut self) {
        let graph = self.graph;
        for node in &graph.nodes {
            if !self.concerns(node.id) {
                continue;
            }
            if self.options.check(Check::ExpectedHosting) {
                let hosting: Vec<_> = graph.hosting(node).map(|relation| relation.id).collect();
                self.expect(
                    Check::ExpectedHosting,
                    Code::ExpectedHosting,
                    node.id,
                    &hosting,
                    "hosting relation",
                );
            }
            if self.options.check(Check::ExpectedIncomingRelation) {
                let incoming: Vec<_> =
                    node.incoming.iter().map(|&id| graph.relation(id).id).collect();
                let (check, code) =
                    (Check::ExpectedIncomingRelation, Code::ExpectedIncomingRelation);
                self.expect(check, code, node.id, &incoming, "incoming relation");
            }
            self.expect(
                Check::ExpectedArtifact,
                Code::ExpectedArtifact,
                node.id,
                &node.artifacts,
                "deployment artifact",
            );
        }
        if self.options.check(Check::UnconsumedInput) {
            for input in &graph.inputs {
                self.any(Code::UnconsumedInput, input.id, &input.consumers, |graph| {
                    let message =
                        format!("{} is consumed by no present element", graph.display(input.id));
                    error(graph, Code::UnconsumedInput, input.id, message)
                });
            }
        }
        if self.options.check(Check::UnproducedOutput) {
            for output in &graph.outputs {
                self.any(Code::UnproducedOutput, output.id, &output.producers, |graph| {
                    let message =
                        format!("{} is produced by no present element", graph.display(output.id));
                    error(graph, Code::UnproducedOutput, output.id, message)
                });
            }
        }
    }

    /// An output that takes its value from no element is pruned in every variant, which its author
    /// hardly meant.
    pub(super) fn constant_outputs(&mut self, presence: &Presence) {
        let graph = self.graph;
        for output in &graph.outputs {
            let conditional = &output.parameter.declared.conditional;
            let unconditional =
                conditional.conditions.is_none() && conditional.default_alternative().is_none();
            if unconditional && output.producers.is_empty() && !presence.is(output.id) {
                let message = format!(
                    "{} is absent, since it takes its value from no element",
                    graph.display(output.id)
                );
                let help =
                    "declare `pruning: false` and `default_condition: false` at it to keep it";
                self.diagnostics
                    .push(warning(graph, Code::UnproducedOutput, output.id, message).help(help));
            }
        }
    }

    /// Of what a present node has in the variable template, something is left.
    fn expect(
        &mut self,
        check: Check,
        code: Code,
        node: ElementId,
        elements: &[ElementId],
        what: &str,
    ) {
        if elements.is_empty() || !self.options.check(check) {
            return;
        }
        self.any(code, node, elements, |graph| {
            let count = elements.len();
            let message = format!(
                "{} is expected to have a present {what}: it has {count}, all absent",
                graph.display(node)
            );
            let error = error(graph, code, node, message);
            let error = elements.iter().take(LABELLED).fold(error, |error, &id| {
                error.label(graph.element(id).span, "this one is absent")
            });
            error.help(format!("keep one of them, or set the option `{}` to false", check.as_str()))
        });
    }
}
