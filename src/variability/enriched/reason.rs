//! Says in a few words where a condition comes from.

use crate::variability::element::ElementKind;
use crate::variability::enrich::{By, Origin};
use crate::variability::graph::{ElementId, Graph};
use crate::variability::options::ModePart;

/// The comment of a condition with this origin.
pub(super) fn comment(graph: &Graph<'_>, origin: Origin) -> String {
    match origin {
        Origin::Generic(id, _, part, by) => {
            let word = match by {
                By::Default => "default: absent",
                By::Pruning => "pruned",
            };
            match part {
                Some(ModePart::Default | ModePart::Other) => {
                    format!("{word} beside {}", lost(graph, id, part))
                }
                _ => format!("{word} with {}", lost(graph, id, part)),
            }
        }
        Origin::Follows(id) => format!("absent with {}", lost(graph, id, None)),
        Origin::TypeSpecific(..) => "default condition of its type".into(),
        Origin::Technology(_) => "technology rule: what it asks for".into(),
        Origin::Input(..) => "the variability input of its name".into(),
        Origin::DefaultAlternative(_) => "default alternative: absent beside another one".into(),
        Origin::NoDefaultAlternative(_) => "an alternative that nothing selects".into(),
        _ => "technology rule: its own conditions".into(),
    }
}

/// What an element is absent with, or, for alternatives, beside.
fn lost(graph: &Graph<'_>, id: ElementId, part: Option<ModePart>) -> String {
    let element = graph.element(id);
    let slot = element.slot as usize;
    let node = (element.kind == ElementKind::Node).then(|| &graph.nodes[slot]);
    let relation = (element.kind == ElementKind::Relation).then(|| &graph.relations[slot]);
    let quoted = |id: ElementId| format!("\"{}\"", graph.element(id).name);
    let only = |ids: Vec<ElementId>, one: &str, all: &str| match &ids[..] {
        [only] => format!("{}, {one}", quoted(*only)),
        _ => all.to_owned(),
    };
    let sources =
        || node.iter().flat_map(|node| &node.incoming).map(|&id| graph.relation(id).source);
    let targets =
        || node.iter().flat_map(|node| &node.relations).filter_map(|&id| graph.relation(id).target);
    let hosts = || {
        let hosting = node.iter().flat_map(|&node| graph.hosting(node));
        hosting.filter_map(|relation| relation.target).map(|host| graph.node(host).id).collect()
    };
    let end = |node| quoted(graph.node(node).id);
    match (part, element.kind) {
        (Some(ModePart::Host), _) => only(hosts(), "its only host", "all of its hosts"),
        (
            Some(ModePart::Source | ModePart::Incoming | ModePart::IncomingNaive),
            ElementKind::Node,
        ) => {
            let sources = sources().map(|node| graph.node(node).id).collect();
            only(sources, "its only source", "all of its sources")
        }
        (Some(ModePart::Outgoing | ModePart::OutgoingNaive), _) => {
            let targets = targets().map(|node| graph.node(node).id).collect();
            only(targets, "its only target", "all of its targets")
        }
        (Some(ModePart::Artifact | ModePart::ArtifactNaive), _) => {
            let artifacts = node.map(|node| node.artifacts.to_vec()).unwrap_or_default();
            only(artifacts, "its only artifact", "all of its artifacts")
        }
        (Some(ModePart::Source), _) => {
            relation.map_or_else(String::new, |it| format!("{}, its source", end(it.source)))
        }
        (Some(ModePart::Target), _) => match relation.and_then(|it| it.target) {
            Some(target) => format!("{}, its target", end(target)),
            None => "its target".into(),
        },
        (Some(ModePart::Consuming), _) => "all that it takes its value from".into(),
        (Some(ModePart::Managed), _) => "all technologies that manage it".into(),
        (Some(ModePart::Other), _) => "another technology".into(),
        (Some(ModePart::Default), _) => "another alternative".into(),
        (_, ElementKind::Input) => "all that takes from it".into(),
        (_, ElementKind::Output) => "all that it takes its value from".into(),
        (_, ElementKind::Policy) => "all of its targets".into(),
        (_, ElementKind::Group) => "all of its members".into(),
        _ => match element.container {
            Some(container) => format!("the {} that has it", graph.element(container).kind),
            None => "its container".into(),
        },
    }
}
