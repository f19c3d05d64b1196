//! Which elements are present with which preset.

use crate::resolver::{Failure, Resolution, Resolver};
use crate::text::diagnostic::Severity;
use crate::variability::inputs::Openness;
use crate::variability::options::Kind;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// The elements of a template, and with which presets each is present.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Matrix {
    /// What is chosen: first nothing, then each preset in the order of the template.
    pub columns: Vec<Column>,
    /// The elements in the order of the template.
    pub rows: Vec<Row>,
}

/// What is chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// The preset; nothing for the variant without any of the template's presets.
    pub preset: Option<String>,
    /// What the template says of the preset.
    pub description: Option<String>,
    /// Why there is no such variant, a line each; empty where there is one.
    pub rejected: Vec<String>,
}

/// An element.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its identifier, such as `node.shop`.
    pub identifier: String,
    /// Its kind.
    #[serde(serialize_with = "name")]
    pub kind: Kind,
    /// For each column whether it is present; nothing where there is no such variant.
    pub present: Vec<Option<bool>>,
}

fn name<S: serde::Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}

/// The elements and presets of a template, whatever its inputs are.
struct Survey {
    elements: Vec<(String, Kind)>,
    presets: Vec<(String, Option<String>)>,
}

impl Resolver {
    /// Resolves once as chosen, and once with each preset of the template laid over that.
    ///
    /// A preset that is rejected leaves its column empty. What rejects every column is an error.
    ///
    /// ```
    /// let matrix = cuvee::Resolver::new("examples/shop").matrix()?;
    /// let presets: Vec<_> = matrix.columns.iter().map(|column| column.preset.as_deref()).collect();
    /// assert_eq!(presets, [None, Some("dev"), Some("prod"), Some("edge"), Some("sale")]);
    /// let cluster = matrix.rows.iter().find(|row| row.identifier == "node.cluster").unwrap();
    /// assert_eq!(cluster.present[..4], [Some(false), Some(false), Some(true), Some(false)]);
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the template is wrong whatever its inputs are, or no variant can be
    /// resolved.
    pub fn matrix(&self) -> Result<Matrix, Failure> {
        let (matrix, failures) = self.all_columns()?;
        match failures
            .into_iter()
            .next()
            .filter(|_| matrix.columns.iter().all(|column| !column.rejected.is_empty()))
        {
            Some(failure) => Err(failure),
            None => Ok(matrix),
        }
    }

    /// The same, where all columns may be rejected, and why they are.
    pub(crate) fn all_columns(&self) -> Result<(Matrix, Vec<Failure>), Failure> {
        let survey = self.columns_and_rows()?;
        let mut rows: Vec<_> = survey
            .elements
            .into_iter()
            .map(|(identifier, kind)| Row { identifier, kind, present: Vec::new() })
            .collect();
        let mut columns = Vec::new();
        let mut failures = Vec::new();
        for chosen in std::iter::once(None).chain(survey.presets.into_iter().map(Some)) {
            let resolver =
                chosen.iter().fold(self.clone(), |resolver, (preset, _)| resolver.preset(preset));
            let variant = resolver.resolve();
            add(&mut rows, variant.as_ref().ok());
            let rejected = variant.as_ref().err().map(reasons).unwrap_or_default();
            failures.extend(variant.err());
            let (preset, description) = chosen.unzip();
            columns.push(Column { preset, description: description.flatten(), rejected });
        }
        Ok((Matrix { columns, rows }, failures))
    }

    fn columns_and_rows(&self) -> Result<Survey, Failure> {
        self.survey(Openness::Open, |prepared, _| {
            let graph = prepared.graph;
            let element = |id| (graph.identifier(id).to_string(), graph.element(id).kind);
            Ok(Survey {
                elements: graph.ids().map(element).collect(),
                presets: prepared
                    .presets
                    .iter()
                    .map(|preset| (preset.id.to_owned(), preset.description.map(str::to_owned)))
                    .collect(),
            })
        })
    }
}

/// Adds a column: what a variant does not have at all is absent in it.
fn add(rows: &mut [Row], variant: Option<&Resolution>) {
    let present: Option<FxHashMap<_, _>> = variant.map(|variant| variant.presence().collect());
    for row in rows {
        row.present.push(
            present
                .as_ref()
                .map(|present| present.get(&row.identifier).copied().unwrap_or_default()),
        );
    }
}

fn reasons(failure: &Failure) -> Vec<String> {
    let errors =
        failure.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    errors.map(|diagnostic| diagnostic.one_line(&failure.sources)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::source::MemoryFiles;

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
        assert_eq!(kinds, [Kind::Node, Kind::Type, Kind::Node, Kind::Type]);
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
