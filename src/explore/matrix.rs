//! Tabulates which elements are present with which preset.

use crate::diagnostic::{Diagnostics, Severity};
use crate::variability::choice::Choice;
use crate::variability::element::ElementKind;
use crate::variability::graph::Graph;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::{Interpreted, Prepared};
use crate::variability::presence::Presence;
use crate::variability::resolve;
use cuvee_text::source::SourceMap;
use cuvee_text::yaml::Out;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// The elements of a template, and the presets with which each is present.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Matrix {
    /// The columns: first the variant without a preset, then one for each preset, in the order of
    /// the template.
    pub columns: Vec<Column>,
    /// The rows: the elements in the order of the template.
    pub rows: Vec<Row>,
}

/// A column: one choice of a preset.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// The preset; `None` for the variant without any of the template's presets.
    pub preset: Option<String>,
    /// The description of the preset.
    pub description: Option<String>,
    /// The reasons why there is no such variant, one a line; empty if there is one.
    pub rejected: Vec<String>,
}

/// A row: one element.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The identifier of the element, such as `node.shop`.
    pub identifier: String,
    /// The kind of the element.
    #[serde(serialize_with = "name")]
    pub kind: ElementKind,
    /// For each column, whether the element is present; `None` if there is no such variant.
    pub present: Vec<Option<bool>>,
}

fn name<S: serde::Serializer>(kind: &ElementKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}

/// Resolves the template once as chosen, and once with each of its presets applied on top. Also
/// returns the errors that reject columns. `open` is the template with its inputs open. `look` is
/// called with each prepared choice before it is resolved, `read` with the document of each
/// variant.
pub(crate) fn columns(
    interpreted: &Interpreted<'_>,
    choice: &Choice,
    open: &Prepared<'_>,
    look: &mut dyn FnMut(Option<&Prepared<'_>>),
    read: &mut dyn FnMut(Option<&Out<'_>>),
) -> (Matrix, Vec<Diagnostics>) {
    let graph = &open.graph;
    let row = |id| Row {
        identifier: graph.identifier(id).to_string(),
        kind: graph.element(id).kind,
        present: Vec::new(),
    };
    let mut matrix = Matrix { columns: Vec::new(), rows: graph.ids().map(row).collect() };
    let mut failures = Vec::new();
    for preset in std::iter::once(None).chain(open.presets.iter().map(Some)) {
        let chosen = preset.map(|preset| choice.with_preset(preset.id));
        let chosen = chosen.as_ref().unwrap_or(choice);
        let prepared = Prepared::of(interpreted, chosen, InputMode::Closed, &mut ());
        look(prepared.as_ref().ok());
        let variant = prepared.and_then(|prepared| {
            let presence =
                resolve::presence(&prepared, chosen, &mut |document| read(Some(document)))?;
            add(&mut matrix.rows, graph, &prepared.graph, &presence);
            Ok(())
        });
        if variant.is_err() {
            read(None);
            matrix.rows.iter_mut().for_each(|row| row.present.push(None));
        }
        matrix.columns.push(Column {
            preset: preset.map(|preset| preset.id.to_owned()),
            description: preset.and_then(|preset| preset.description).map(str::to_owned),
            rejected: variant
                .as_ref()
                .err()
                .map(|errors| reasons(errors, open.sources()))
                .unwrap_or_default(),
        });
        failures.extend(variant.err());
    }
    (matrix, failures)
}

/// Adds a column; an element that a variant does not even declare is absent in it.
fn add(rows: &mut [Row], all: &Graph<'_>, graph: &Graph<'_>, presence: &Presence) {
    let same = |id| {
        let (one, other) = (all.element(id), graph.element(id));
        (one.kind, one.name, one.index, one.container)
            == (other.kind, other.name, other.index, other.container)
    };
    // In most cases the elements are the same, and need not be looked up by name.
    if all.elements.len() == graph.elements.len() && all.ids().all(same) {
        for (row, id) in rows.iter_mut().zip(graph.ids()) {
            row.present.push(Some(presence.is(id)));
        }
        return;
    }
    let identified = graph.ids().map(|id| (graph.identifier(id).to_string(), presence.is(id)));
    let present: FxHashMap<_, _> = identified.collect();
    for row in rows {
        row.present.push(Some(present.get(&row.identifier).copied().unwrap_or_default()));
    }
}

fn reasons(errors: &Diagnostics, sources: &SourceMap) -> Vec<String> {
    let errors = errors.0.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    errors.map(|diagnostic| diagnostic.one_line(sources)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Resolver;
    use cuvee_text::source::MemoryFiles;

    const TEMPLATE: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    options: { type_default_condition: true }
    inputs:
      size: { type: integer }
    presets:
      small: { description: for one, inputs: { size: 1 } }
      large: { inputs: { size: 9 } }
      wrong: { inputs: { size: nine } }
  node_templates:
    one: { type: T }
    two: { type: T, conditions: { greater: [{ variability_input: size }, 5] } }
";

    fn resolver(text: &str) -> Resolver {
        Resolver::new("t.yaml").files(MemoryFiles::from([("t.yaml", text)]))
    }

    fn present(matrix: &Matrix, identifier: &str) -> Vec<Option<bool>> {
        matrix.rows.iter().find(|row| row.identifier == identifier).unwrap().present.clone()
    }

    #[test]
    fn says_what_is_present_where() {
        let matrix = resolver(TEMPLATE).matrix().unwrap();
        assert_eq!(present(&matrix, "node.one"), [None, Some(true), Some(true), None]);
        assert_eq!(present(&matrix, "node.two"), [None, Some(false), Some(true), None]);
        let kinds: Vec<_> = matrix.rows.iter().map(|row| row.kind).collect();
        assert_eq!(
            kinds,
            [ElementKind::Node, ElementKind::Type, ElementKind::Node, ElementKind::Type]
        );
        assert_eq!(matrix.columns[1].description.as_deref(), Some("for one"));
        let reasons: Vec<_> = matrix.columns.iter().map(|column| column.rejected.len()).collect();
        assert_eq!(reasons, [1, 0, 0, 1]);
        assert!(matrix.columns[0].rejected[0].contains("[missing-input]"), "{matrix:?}");
        assert!(matrix.columns[3].rejected[0].starts_with("t.yaml:10:"), "{matrix:?}");
    }

    #[test]
    fn inputs_count_in_every_column() {
        let matrix = resolver(TEMPLATE).input("size", 7).matrix().unwrap();
        assert_eq!(present(&matrix, "node.two"), [Some(true); 4]);
    }

    #[test]
    fn presets_are_laid_over_those_chosen() {
        let matrix = resolver(TEMPLATE).preset("small").matrix().unwrap();
        assert_eq!(present(&matrix, "node.two"), [Some(false), Some(false), Some(true), None]);
    }

    #[test]
    fn what_rejects_all_is_an_error() {
        let failure =
            resolver(&TEMPLATE.replace("type: T, cond", "type: T, condi")).matrix().unwrap_err();
        assert!(failure.to_string().contains("unknown-keyword"), "{failure}");
        let failure = resolver(&TEMPLATE.replace("greater", "greatest")).matrix().unwrap_err();
        assert!(failure.to_string().contains("invalid-expression"), "{failure}");
    }
}
