//! What a report says of a template, whatever its inputs.

use crate::explore::outline::{conditions, group_conditions};
use crate::explore::words;
use crate::variability::element::ElementKind;
use crate::variability::prepared::Prepared;
use serde::Serialize;

/// An element for reports.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ElementReport {
    /// Its identifier.
    pub id: String,
    /// Its name, as its author wrote it.
    pub name: String,
    /// Its kind: `node`.
    pub kind: &'static str,
    /// The position of what it belongs to.
    pub container: Option<usize>,
    /// What its author says about its presence, in words.
    pub conditions: Option<String>,
    /// Of a relation that hosts its node, the position of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<usize>,
    /// `file:line:column`
    pub place: String,
}

/// What a report says of a template as a whole.
#[derive(Clone, Debug)]
pub(super) struct TemplateReport {
    /// Its name, from its metadata, or else that of its file.
    pub title: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// The file.
    pub path: String,
    /// Its elements, in order.
    pub elements: Vec<ElementReport>,
}

impl TemplateReport {
    /// What a report says of the template, whatever its inputs.
    pub(super) fn of(prepared: &Prepared<'_>) -> Self {
        let (graph, sources) = (&prepared.graph, prepared.sources());
        let root = graph.template.root;
        let groups = group_conditions(graph);
        let host = |slot: u32| {
            let relation = &graph.relations[slot as usize];
            let target = relation.target.filter(|_| relation.hosting)?;
            Some(graph.node(target).id.0 as usize)
        };
        let element = |id| {
            let element = graph.element(id);
            let conditions = conditions(graph, id, &groups);
            ElementReport {
                id: graph.identifier(id).to_string(),
                name: element.name.to_owned(),
                kind: element.kind.as_str(),
                container: element.container.map(|container| container.0 as usize),
                conditions: (!conditions.is_empty()).then(|| words::all(&conditions)),
                host: if element.kind == ElementKind::Relation { host(element.slot) } else { None },
                place: sources.place(element.span),
            }
        };
        let name = root
            .get("metadata")
            .and_then(|metadata| metadata.get("template_name"))
            .and_then(|name| name.text());
        Self {
            title: name.map(str::to_owned),
            description: root
                .get("description")
                .and_then(|text| text.text())
                .map(|text| text.trim().to_owned()),
            path: sources.location(root.span()).path.display().to_string(),
            elements: graph.ids().map(element).collect(),
        }
    }
}
