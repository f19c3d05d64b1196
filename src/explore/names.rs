//! Lists the names that a template defines, for tools that complete or offer them.

use super::CaseReport;
use super::space::{known_values, roots};
use crate::variability::expression::{OpenInput, partition};
use crate::variability::inputs::{Declaration, InputId};
use crate::variability::prepared::Prepared;
use cuvee_text::value::Value;
use cuvee_text::yaml::write_flow;
use serde::Serialize;

/// The names of a template.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Names {
    /// Variability presets, in the order of the template.
    pub presets: Vec<NamedPreset>,
    /// Variability inputs, in the order of the template.
    pub inputs: Vec<NamedInput>,
    /// The identifiers of all elements, such as `node.shop`.
    pub elements: Vec<String>,
}

/// A variability preset.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedPreset {
    /// Its name.
    pub name: String,
    /// The description, for people.
    pub description: Option<String>,
}

/// A variability input.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedInput {
    /// Its name.
    pub name: String,
    /// The description, for people.
    pub description: Option<String>,
    /// A value of each of the input's cases if these can be computed, otherwise the values that the
    /// template names.
    pub values: Vec<CaseReport>,
}

impl Names {
    /// Collects the names of a template, as far as it can be interpreted.
    pub(crate) fn of(prepared: &Prepared<'_>) -> Self {
        let presets = prepared.presets.iter().map(|preset| NamedPreset {
            name: preset.id.to_owned(),
            description: preset.description.or(preset.name).map(str::to_owned),
        });
        let mut known = known_values(prepared);
        let open = partition(&mut prepared.evaluator(), &roots(prepared), &known);
        let open = open.unwrap_or_default();
        let inputs = prepared.inputs.declarations.iter().map(|(id, declaration)| NamedInput {
            name: declaration.name.to_owned(),
            description: declaration.description.map(str::to_owned),
            values: cases(&open, id)
                .unwrap_or_else(|| named(declaration, known.remove(&id).unwrap_or_default())),
        });
        let graph = &prepared.graph;
        Self {
            presets: presets.collect(),
            inputs: inputs.collect(),
            elements: graph.ids().map(|id| graph.identifier(id).to_string()).collect(),
        }
    }
}

fn cases(open: &[OpenInput], input: InputId) -> Option<Vec<CaseReport>> {
    let open = open.iter().find(|open| open.input == input)?;
    Some(open.cases.iter().map(CaseReport::of).collect())
}

/// The values that the declaration lists, followed by the other values that it and presets assign.
fn named(declaration: &Declaration<'_>, known: Vec<Value>) -> Vec<CaseReport> {
    let mut values = declaration.listed_values().unwrap_or_default();
    for value in known {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let case = |value: Value| CaseReport { label: write_flow(&value), value: Some(value) };
    values.into_iter().map(case).collect()
}

#[cfg(test)]
mod tests {
    use crate::Resolver;
    use cuvee_text::source::MemoryFiles;

    const TEMPLATE: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs:
      tier: { type: string, description: How fast, constraints: [{ valid_values: [a, b] }] }
      size: { type: integer, default: 1 }
      cached: { type: boolean, default: true }
    presets:
      big: { description: A lot, inputs: { size: 9 } }
  node_templates:
    one: { type: T, conditions: { greater: [{ variability_input: size }, 4] } }
    two: { type: T, conditions: { variability_input: cached } }
    three: { type: T, conditions: { equal: [{ variability_input: tier }, a] } }
";

    fn said(text: String) -> String {
        let resolver = Resolver::new("t.yaml").files(MemoryFiles::from([("t.yaml", text)]));
        let names = resolver.names().unwrap();
        let presets = names.presets.iter().map(|preset| {
            format!("{}: {}\n", preset.name, preset.description.as_deref().unwrap_or_default())
        });
        let inputs = names.inputs.iter().map(|input| {
            let values = input.values.iter().filter_map(|case| case.value.as_ref());
            format!("{} {}\n", input.name, values.map(|v| format!(" {v}")).collect::<String>())
        });
        let nodes = names.elements.iter().filter(|id| id.starts_with("node."));
        presets.chain(inputs).chain(nodes.map(|id| format!("{id}\n"))).collect()
    }

    const SAID: &str =
        "big: A lot\ntier  a b\nsize  1 9\ncached  false true\nnode.one\nnode.two\nnode.three\n";

    #[test]
    fn names_of_a_template() {
        assert_eq!(said(TEMPLATE.into()), SAID);
    }

    #[test]
    fn what_is_wrong_takes_no_names_away() {
        let wrong = format!(
            "{TEMPLATE}    four: {{ type: T, conditions: {{ node_presence: nobody }}, propertys: 1 }}\n"
        );
        assert_eq!(said(wrong), format!("{SAID}node.four\n"));
    }
}
