//! Checks that the result is meaningful: whether nodes keep hosts, users and artifacts, and
//! parameters keep a use.

use super::{PresenceChecker, error, warning};
use crate::diagnostic::{Code, Diagnostic};
use crate::variability::graph::{ElementId, Graph};
use crate::variability::options::Check;
use crate::variability::presence::Presence;

/// How many absent elements an error shows.
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
        for input in graph.inputs.iter().filter(|input| !input.is_always_consumed) {
            let (check, code) = (Check::UnconsumedInput, Code::UnconsumedInput);
            self.used(check, code, input.id, &input.consumers, "consumed");
        }
        for output in &graph.outputs {
            let (check, code) = (Check::UnproducedOutput, Code::UnproducedOutput);
            self.used(check, code, output.id, &output.producers, "produced");
        }
    }

    /// Checks that a present input is consumed, or that a present output is produced.
    fn used(&mut self, check: Check, code: Code, id: ElementId, by: &[ElementId], done: &str) {
        if !self.options.check(check) {
            return;
        }
        self.any(code, id, by, |graph| {
            let message = format!("{} is {done} by no present element", graph.display(id));
            with_absent(error(graph, code, id, message), graph, by, check)
        });
    }

    /// Warns about unconditional outputs that take their value from no element: they are pruned in
    /// every variant, which their authors hardly intend.
    pub(super) fn constant_outputs(&mut self, presence: &Presence) {
        let graph = self.graph;
        for output in &graph.outputs {
            let declared = &output.parameter.declared;
            let unconditional =
                declared.conditions().is_none() && declared.default_alternative().is_none();
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

    /// Checks that a present node keeps at least one of these elements, if the variable template
    /// gives it any.
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
            with_absent(error(graph, code, node, message), graph, elements, check)
        });
    }
}

/// Labels the absent elements, of which one was expected to be present.
fn with_absent(
    error: Diagnostic,
    graph: &Graph<'_>,
    elements: &[ElementId],
    check: Check,
) -> Diagnostic {
    let error = elements
        .iter()
        .take(LABELLED)
        .fold(error, |error, &id| error.label(graph.element(id).span, "this one is absent"));
    let option = format!("set the option `{}` to false", check.as_str());
    error.help(match elements.is_empty() {
        true => option,
        false => format!("keep one of them, or {option}"),
    })
}
