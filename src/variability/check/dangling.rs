//! Finds references in the result to elements that are absent.

use super::PresenceChecker;
use crate::diagnostic::{Code, Diagnostic};
use crate::variability::graph::{Graph, Reference};
use crate::variability::presence::Presence;

/// The warning that a reference dangles; an orchestrator may fill the gap, so it is no error. `None`
/// where the reference has no targets.
pub(crate) fn dangles(reference: &Reference, graph: &Graph<'_>) -> Option<Diagnostic> {
    let &target = reference.targets.first()?;
    let from =
        reference.from.map_or_else(|| "this".to_owned(), |from| graph.display(from).to_string());
    let message = format!("{from} refers to {}, which is absent", graph.display(target));
    let warning = Diagnostic::warning(Code::DanglingReference, message).at(reference.span);
    let warning = warning.label(graph.element(target).span, "this is absent");
    Some(warning.help("give what refers to it the conditions of what it refers to"))
}

impl PresenceChecker<'_, '_> {
    /// Warns about references that dangle in a variant.
    pub(super) fn dangling(&mut self, presence: &Presence) {
        let graph = self.graph;
        for reference in &graph.references {
            let is_there = reference.from.is_none_or(|from| presence.is(from));
            if is_there && presence.among(&reference.targets).next().is_none() {
                self.diagnostics.0.extend(dangles(reference, graph));
            }
        }
    }
}
