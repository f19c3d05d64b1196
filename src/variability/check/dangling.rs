//! Finds references in the result to elements that are absent.

use super::PresenceChecker;
use crate::diagnostic::{Code, Diagnostic};
use crate::variability::graph::{ElementId, Graph, Reference};
use crate::variability::options::{Check, Options};
use crate::variability::presence::Presence;
use std::borrow::Cow;
use std::iter::successors;

/// The references that may dangle. Relations refer to their targets; where a check asks for those,
/// it tells what is absent.
pub(crate) fn may_dangle<'g>(
    graph: &'g Graph<'_>,
    options: &Options,
) -> impl Iterator<Item = Cow<'g, Reference>> {
    let unchecked = !options.check(Check::RelationTarget);
    let relations = graph.relations.iter().filter(move |_| unchecked);
    let targets = relations.filter_map(|relation| {
        let (target, named) = relation.target.zip(relation.requirement.target())?;
        Some(Reference {
            from: Some(relation.id),
            targets: vec![graph.node(target).id],
            span: named.span(),
            by_position: false,
        })
    });
    graph.references.iter().map(Cow::Borrowed).chain(targets.map(Cow::Owned))
}

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
        // What an element contains is written only with the element.
        let container = |id: &ElementId| graph.element(*id).container;
        let is_written = |from| successors(from, container).all(|id| presence.is(id));
        let mapped = graph.mapped_outputs.iter().map(Cow::Borrowed);
        for reference in may_dangle(graph, self.options).chain(mapped) {
            let is_gone = presence.among(&reference.targets).next().is_none();
            if is_gone && is_written(reference.from) {
                self.diagnostics.0.extend(dangles(&reference, graph));
            }
        }
    }
}
