//! Finds references in the result to elements that are absent.

use super::PresenceChecker;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::substitution::substitution;
use crate::variability::element::ElementKind;
use crate::variability::graph::{ElementId, Graph, LookupStep};
use crate::variability::presence::Presence;
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, NodeKind};

/// One place that refers to elements. The place exists while `from` is present.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mention<'m> {
    /// The element that contains the place; `None` where the place is in every variant.
    pub from: Option<ElementId>,
    /// The elements that the place may mean; one of them has to be present.
    pub targets: &'m [ElementId],
    /// The place.
    pub span: Span,
}

impl Mention<'_> {
    /// The warning that the reference dangles; an orchestrator may fill the gap, so it is no error.
    /// `None` where the reference has no targets.
    pub(crate) fn dangles(&self, graph: &Graph<'_>) -> Option<Diagnostic> {
        let &target = self.targets.first()?;
        let from =
            self.from.map_or_else(|| "this".to_owned(), |from| graph.display(from).to_string());
        let message = format!("{from} refers to {}, which is absent", graph.display(target));
        let warning = Diagnostic::warning(Code::DanglingReference, message).at(self.span);
        let warning = warning.label(graph.element(target).span, "this is absent");
        Some(warning.help("give what refers to it the conditions of what it refers to"))
    }
}

/// Every reference of a template: in values, substitution mappings and workflows.
pub(crate) fn mentions(graph: &Graph<'_>, found: &mut dyn FnMut(Mention<'_>)) {
    for reference in &graph.references {
        found(Mention {
            from: Some(reference.from),
            targets: &reference.targets,
            span: reference.span,
        });
    }
    let Some(topology) = graph.template.root.get("topology_template") else { return };
    if let Some(node) = topology.get("substitution_mappings") {
        // Validating reports mistakes in the shape of the mappings.
        let substitution = substitution(node, &mut Diagnostics::default());
        substitution.nodes().for_each(|node| name(graph, node, found));
    }
    if let Some(node) = topology.get("workflows") {
        targets(graph, node, found);
    }
}

/// Reports references of the form `target: node`, at any depth.
fn targets<'a>(graph: &Graph<'a>, node: Node<'a>, found: &mut dyn FnMut(Mention<'_>)) {
    node.items().for_each(|item| targets(graph, item, found));
    for (key, value) in node.entries() {
        if key.text() == Some("target") && value.kind() == NodeKind::Scalar {
            name(graph, value, found);
        } else {
            targets(graph, value, found);
        }
    }
}

/// Reports a reference by name. A name that is neither a node's nor a group's means something else.
fn name<'a>(graph: &Graph<'a>, name: Node<'a>, found: &mut dyn FnMut(Mention<'_>)) {
    let target = [ElementKind::Node, ElementKind::Group]
        .into_iter()
        .find_map(|kind| graph.find(LookupStep::Root(kind), name).ok());
    if let Some(target) = target {
        found(Mention { from: None, targets: &[target], span: name.span() });
    }
}

impl PresenceChecker<'_, '_> {
    /// Warns about references that dangle in a variant.
    pub(super) fn dangling(&mut self, presence: &Presence) {
        let graph = self.graph;
        mentions(graph, &mut |mention| {
            let is_there = mention.from.is_none_or(|from| presence.is(from));
            if is_there && presence.among(mention.targets).next().is_none() {
                self.diagnostics.0.extend(mention.dangles(graph));
            }
        });
    }
}
