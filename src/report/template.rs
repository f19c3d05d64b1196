//! Describes a template for a report, independently of its inputs.

use crate::explore::outline::{conditions, group_conditions};
use crate::explore::words;
use crate::variability::element::ElementKind;
use crate::variability::graph::ElementId;
use crate::variability::prepared::Prepared;
use serde::Serialize;

/// An element in a report.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ElementReport {
    /// The identifier of the element.
    pub id: String,
    /// The name, as the author wrote it.
    pub name: String,
    /// The kind, such as `node`.
    pub kind: &'static str,
    /// The position of the containing element.
    pub container: Option<usize>,
    /// The author's conditions, in words.
    pub conditions: Option<String>,
    /// For a relation to a host, the position of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<usize>,
    /// The place: `file:line:column`
    pub place: String,
    /// The literal of the element's presence in the clauses.
    pub literal: Option<i32>,
}

/// The description of a whole template.
#[derive(Clone, Debug)]
pub(super) struct TemplateReport {
    /// The name from the template's metadata.
    pub title: Option<String>,
    /// The description, for people.
    pub description: Option<String>,
    /// The path of the file.
    pub path: String,
    /// The elements, in order.
    pub elements: Vec<ElementReport>,
}

impl TemplateReport {
    /// Describes a template, with all inputs left open. `literals` are those of its elements, if
    /// there are clauses.
    pub(super) fn of(prepared: &Prepared<'_>, literals: &[(String, i32)]) -> Self {
        let (graph, sources) = (&prepared.graph, prepared.sources());
        let root = graph.template.root;
        let groups = group_conditions(graph);
        let host = |slot: u32| {
            let relation = &graph.relations[slot as usize];
            let target = relation.target.filter(|_| relation.hosting)?;
            Some(graph.node(target).id.0 as usize)
        };
        let element = |id: ElementId| {
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
                literal: literals.get(id.0 as usize).map(|(_, literal)| *literal),
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
