//! What a report says of a template, whatever its inputs.

use crate::Failure;
use crate::Resolver;
use crate::explore::outline::{conditions, group_conditions};
use crate::variability::inputs::Openness;
use serde::Serialize;

/// An element for reports.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ElementReport {
    /// Its identifier.
    pub id: String,
    /// Its kind: `node`.
    pub kind: &'static str,
    /// The position of what it belongs to.
    pub container: Option<usize>,
    /// What its author says about its presence, on one line.
    pub conditions: Option<String>,
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

impl Resolver {
    /// What a report says of the template, whatever its inputs.
    ///
    /// # Errors
    /// What is wrong with the template whatever its inputs.
    pub(super) fn template_report(&self) -> Result<TemplateReport, Failure> {
        self.survey(Openness::Open, |prepared, sources| {
            let graph = prepared.graph;
            let root = graph.template.root;
            let groups = group_conditions(graph);
            let element = |id| {
                let element = graph.element(id);
                let conditions = conditions(graph, id, &groups);
                ElementReport {
                    id: graph.identifier(id).to_string(),
                    kind: element.kind.as_str(),
                    container: element.container.map(|container| container.0 as usize),
                    conditions: (!conditions.is_empty()).then(|| conditions.join(" and ")),
                    place: sources.place(element.span),
                }
            };
            let name = root
                .get("metadata")
                .and_then(|metadata| metadata.get("template_name"))
                .and_then(|name| name.text());
            Ok(TemplateReport {
                title: name.map(str::to_owned),
                description: root
                    .get("description")
                    .and_then(|text| text.text())
                    .map(|text| text.trim().to_owned()),
                path: sources.location(root.span()).path.display().to_string(),
                elements: graph.ids().map(element).collect(),
            })
        })
    }
}
