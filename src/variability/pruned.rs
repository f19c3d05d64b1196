//! Warns of nodes that went although no condition says so: default conditions and pruning take a
//! node away together with all that uses it.

use super::graph::{ElementId, Graph, NodeElement, RelationElement};
use super::options::Flag;
use super::prepared::Prepared;
use super::presence::Presence;
use crate::diagnostic::{Code, Diagnostic, LISTED, listed_as};
use rustc_hash::FxHashSet;

/// The warnings about a variant: no node is left, or nodes went that no condition speaks about.
///
/// A host that goes with all that it hosts is no surprise, and is not told.
pub(super) fn warnings(prepared: &Prepared<'_>, presence: &Presence) -> Vec<Diagnostic> {
    let graph = &prepared.graph;
    let mut found = Vec::new();
    let absent: Vec<_> = graph.nodes.iter().filter(|node| !presence.is(node.id)).collect();
    if let Some(first) = absent.first().filter(|_| absent.len() == graph.nodes.len()) {
        found.push(nothing_left().at(graph.element(first.id).span));
    }
    // A condition for a type may speak about any node.
    if !absent.is_empty() && prepared.type_specific.is_empty() {
        let elsewhere = spoken_elsewhere(prepared);
        let is_spoken =
            |id: ElementId| graph.element(id).conditions.is_some() || elsewhere.contains(&id);
        let unspoken = absent.into_iter().filter(|node| !is_spoken(node.id));
        let unspoken =
            unspoken.filter_map(|node| Some((node, cause(graph, presence, &is_spoken, node)?)));
        found.extend(pruned(graph, &unspoken.collect::<Vec<_>>()));
    }
    found
}

/// The warning that a variant has no nodes.
pub(crate) fn nothing_left() -> Diagnostic {
    Diagnostic::warning(Code::NothingLeft, "no node is left, so the result deploys nothing")
        .help("weaken the conditions, or declare `persistent: true` at a node that has to stay")
}

/// The elements about which groups and inputs speak, and not only conditions of their own.
fn spoken_elsewhere(prepared: &Prepared<'_>) -> FxHashSet<ElementId> {
    let graph = &prepared.graph;
    let groups = graph.groups.iter().filter(|group| group.variability);
    let members = groups.flat_map(|group| group.members.iter().map(|&(_, member)| member));
    let mut spoken: FxHashSet<_> = members.collect();
    if prepared.options.flag(Flag::EnrichInputCondition) {
        let inputs = prepared.inputs.declarations.iter();
        spoken.extend(inputs.filter_map(|(_, input)| graph.by_identifier(input.name)));
    }
    spoken
}

/// Why a node without conditions went: all that uses it did, or all that it needs. Returns nothing
/// if a condition speaks about its relations, or if it went with what it hosts.
fn cause<'a>(
    graph: &Graph<'a>,
    presence: &Presence,
    is_spoken: &dyn Fn(ElementId) -> bool,
    node: &NodeElement<'a>,
) -> Option<String> {
    let incoming: Vec<_> = node.incoming.iter().map(|&id| graph.relation(id)).collect();
    let hosting: Vec<_> = graph.hosting(node).collect();
    let are_gone = |nodes: &[&NodeElement<'_>]| {
        !nodes.is_empty() && nodes.iter().all(|it| !presence.is(it.id))
    };
    let are_spoken = |relations: &[&RelationElement<'_>]| {
        relations.iter().any(|relation| is_spoken(relation.id))
    };
    if !incoming.is_empty() && incoming.iter().all(|relation| !presence.is(relation.id)) {
        let sources: Vec<_> = incoming.iter().map(|it| graph.node(it.source)).collect();
        let is_host = incoming.iter().all(|relation| relation.hosting);
        let is_told = !is_host && are_gone(&sources) && !are_spoken(&incoming);
        return is_told.then(|| names(graph, "source", &sources));
    }
    let hosts: Vec<_> = hosting.iter().filter_map(|it| Some(graph.node(it.target?))).collect();
    (are_gone(&hosts) && !are_spoken(&hosting)).then(|| names(graph, "host", &hosts))
}

fn names(graph: &Graph<'_>, what: &str, nodes: &[&NodeElement<'_>]) -> String {
    let mut named: Vec<String> = Vec::new();
    for node in nodes {
        let name = quoted(graph, node);
        if !named.contains(&name) {
            named.push(name);
        }
    }
    match &named[..] {
        [only] => format!("{only}, its only {what}, did"),
        _ => format!("all of its {what}s did: {}", listed_as(named)),
    }
}

fn quoted(graph: &Graph<'_>, node: &NodeElement<'_>) -> String {
    format!("\"{}\"", graph.element(node.id).name)
}

/// The warning about nodes that went, each with its cause.
fn pruned(graph: &Graph<'_>, nodes: &[(&NodeElement<'_>, String)]) -> Option<Diagnostic> {
    let (first, _) = nodes.first()?;
    let names = listed_as(nodes.iter().map(|(node, _)| quoted(graph, node)));
    let noun = if nodes.len() == 1 { "a node" } else { "nodes" };
    let message = format!("pruning removed {noun} that no condition speaks about: {names}");
    let warning = Diagnostic::warning(Code::Pruned, message).at(graph.element(first.id).span);
    let causes = nodes.iter().take(LISTED);
    let warning = causes.fold(warning, |warning, (node, cause)| {
        let label = format!("{} went because {cause}", quoted(graph, node));
        warning.label(graph.element(node.id).span, label)
    });
    Some(warning.help(
        "a node that has to stay is `persistent: true`, with the option `expected_incoming_relation_check: false`",
    ))
}
