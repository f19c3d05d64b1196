//! Adds an instance of the template to the page.

use crate::draw::{Drawing, State};
use crate::explore::outline::Outline;
use crate::orchestrate::instance::InstanceModel;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// An instance that a page shows along with the variants.
#[derive(Clone, Copy, Debug)]
pub struct ReportedInstance<'m> {
    /// The source as the caller named it: `instance:shop@17`, or a file.
    pub source: &'m str,
    /// The model of the instance.
    pub model: &'m InstanceModel,
}

/// The data of the instance for the page.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PageInstance {
    source: String,
    revision: u64,
    time: String,
    /// Whether a change of the instance is in progress.
    open: bool,
    /// The states in which elements are drawn, by identifier; missing elements are drawn as absent.
    looks: BTreeMap<String, State>,
    /// For each node template, by identifier, its nodes: ids, states, notes.
    states: BTreeMap<String, Vec<(String, String, Option<String>)>>,
    /// The ids of nodes without a node template.
    others: Vec<String>,
}

impl PageInstance {
    pub(super) fn of(of: &ReportedInstance<'_>, outline: &Outline) -> Self {
        let model = of.model;
        let drawing = Drawing::of_instance(outline, model);
        let nodes = drawing.nodes().map(|(node, state)| (node.identifier.clone(), state));
        let relations =
            drawing.relations().map(|(relation, state)| (relation.identifier.clone(), state));
        let looks = nodes.chain(relations).filter(|(_, state)| *state != State::Absent).collect();
        let known: BTreeSet<&str> = outline.nodes.iter().map(|node| &*node.identifier).collect();
        let mut states: BTreeMap<String, Vec<_>> = BTreeMap::new();
        let mut others = Vec::new();
        for (id, node) in &model.nodes {
            let identifier = format!("node.{}", node.template.as_deref().unwrap_or(id));
            if known.contains(&*identifier) {
                let note = node.note.as_deref().map(str::to_owned);
                let state = (id.to_string(), node.state.to_string(), note);
                states.entry(identifier).or_default().push(state);
            } else {
                others.push(id.to_string());
            }
        }
        Self {
            source: of.source.to_owned(),
            revision: model.revision,
            time: model.time.to_string(),
            open: model.orchestration.is_some(),
            looks,
            states,
            others,
        }
    }
}
