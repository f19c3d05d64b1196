//! Reports the inputs of a template, and what each of them influences.

use super::Projection;
use super::space::{Space, literal};
use crate::diagnostic::Diagnostics;
use crate::variability::expression::InputCase;
use crate::variability::graph::ElementId;
use crate::variability::inputs::{InputId, InputValue};
use crate::variability::template::PropertyValue;
use cuvee_sat::formula::{Cnf, Lit, Var};
use cuvee_sat::progress::Progress;
use cuvee_sat::solve::influence::InfluenceQuestion;
use cuvee_text::value::Value;
use serde::Serialize;

/// All inputs of a template.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InputsReport {
    /// The inputs, in the order of the template.
    pub inputs: Vec<InputReport>,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InputReport {
    /// Its name.
    pub name: String,
    /// The place of its declaration: `file:line:column`.
    pub place: String,
    /// The type as it is declared; `None` if none is.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The description, for people.
    pub description: Option<String>,
    /// The constraints on values: `in_range: [1, 4]`.
    pub constraints: Vec<String>,
    /// The default.
    pub default: Option<Value>,
    /// The expression that computes the default.
    pub computed: Option<String>,
    /// The value that the caller assigns, so that the input is not open.
    pub assigned: Option<Value>,
    /// The cases of the input; empty if it is assigned.
    pub cases: Vec<CaseReport>,
    /// The values that presets assign to the input.
    pub presets: Vec<PresetValue>,
    /// The elements whose presence differs between two assignments that differ in this input only.
    pub influences: Vec<String>,
    /// The properties whose values are computed from the input.
    pub values: Vec<String>,
    /// Whether a constraint or a rule between inputs mentions the input, so that it affects which
    /// variants exist.
    pub constrained: bool,
}

/// Values of an input that no condition distinguishes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CaseReport {
    /// All values of the case as text for people: `≥ 500`, `laptop`, `something else`.
    pub label: String,
    /// A valid value of the case, if one is known.
    pub value: Option<Value>,
}

impl CaseReport {
    pub(super) fn of(case: &InputCase) -> Self {
        Self { label: case.label.clone(), value: case.value.clone() }
    }
}

/// The value that a preset assigns to an input.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PresetValue {
    /// The name of the preset.
    pub preset: String,
    /// The assigned value.
    pub value: Value,
}

impl<'s, 'a> Space<'s, 'a> {
    /// The inputs of a template, the cases of the open ones, and what each influences if the rules
    /// between inputs are ignored.
    ///
    /// # Errors
    /// As [`Space::of`].
    pub(crate) fn inputs_apart(
        &mut self,
        progress: &mut dyn Progress,
    ) -> Result<InputsReport, Diagnostics> {
        let has_rules =
            self.prepared.inputs.declarations.iter().any(|(_, input)| !input.rules.is_empty());
        if has_rules {
            let mut apart = Space::of(self.prepared, false, progress)?;
            Ok(apart.inputs(progress))
        } else {
            Ok(self.inputs(progress))
        }
    }

    /// Reports the inputs as [`Self::inputs_apart`] does, but under the rules that this space has.
    pub(crate) fn inputs(&mut self, progress: &mut dyn Progress) -> InputsReport {
        let sources = self.prepared.sources();
        let mut influences = self.influences(progress);
        let declarations = &self.prepared.inputs.declarations;
        let inputs = declarations.iter().map(|(id, declaration)| {
            let open = self.open.iter().position(|open| open.input == id);
            let assigned = match self.prepared.inputs.values.get(id) {
                InputValue::Assigned(value) => Some(value.clone()),
                _ => None,
            };
            let cases = open.map_or(&[][..], |index| &self.open[index].cases);
            let influenced =
                open.map_or_else(Vec::new, |index| std::mem::take(&mut influences[index]));
            InputReport {
                name: declaration.name.to_owned(),
                place: sources.place(declaration.span),
                kind: declaration.primitive().map(|kind| kind.name().to_owned()),
                description: declaration.description.map(str::to_owned),
                constraints: declaration
                    .constraints()
                    .iter()
                    .map(|constraint| constraint.text())
                    .collect(),
                default: declaration.default_value(),
                computed: declaration.computed_default().map(|node| node.to_value().to_string()),
                assigned,
                cases: cases.iter().map(CaseReport::of).collect(),
                presets: self.preset_values(declaration.name),
                influences: influenced
                    .into_iter()
                    .map(|id| self.graph().identifier(id).to_string())
                    .collect(),
                values: self.values_of(id),
                constrained: self.is_constrained(id),
            }
        });
        InputsReport { inputs: inputs.collect() }
    }

    /// For each open input, the elements in which two variants may differ when all other inputs are
    /// equal. Variants count whether or not they pass the checks.
    fn influences(&self, progress: &mut dyn Progress) -> Vec<Vec<ElementId>> {
        let cnf = Cnf::of(self.vars(), self.best_clauses().map(<[Lit]>::to_vec));
        let inputs = self.input_vars();
        let elements = Projection::All.elements(self.graph());
        let of: Vec<Var> = elements.iter().map(|&id| literal(id).var()).collect();
        let question =
            InfluenceQuestion { cnf: &cnf, inputs: &inputs, factors: &self.cases, of: &of };
        let found = question.answer(&self.prepared.settings(), progress);
        let ids = |positions: Vec<usize>| positions.into_iter().map(|at| elements[at]).collect();
        found.into_iter().map(ids).collect()
    }

    fn is_constrained(&self, input: InputId) -> bool {
        let declarations = &self.prepared.inputs.declarations;
        let by_rule = declarations.iter().any(|(id, declaration)| {
            declaration.rules.iter().any(|rule| id == input || rule.targets.contains(&input))
        });
        let constraints = &self.graph().template.variability.constraints;
        by_rule || constraints.iter().any(|&constraint| self.evaluator.mentions(constraint, input))
    }

    fn preset_values(&self, name: &str) -> Vec<PresetValue> {
        let presets = &self.prepared.presets;
        let values = presets.iter().flat_map(|preset| {
            let assignments = presets.assignments(&[preset.id], &mut Diagnostics::default());
            let own = assignments.into_iter().filter(|assignment| assignment.name == name);
            own.map(|assignment| PresetValue {
                preset: preset.id.to_owned(),
                value: assignment.value,
            })
        });
        values.collect()
    }

    /// The properties whose value expressions mention an input, directly or through named
    /// expressions.
    pub(super) fn values_of(&self, input: InputId) -> Vec<String> {
        let mentions = |property: &&crate::variability::graph::PropertyElement<'a>| match property
            .property
            .value
        {
            PropertyValue::Expression(expression) => self.evaluator.mentions(expression, input),
            PropertyValue::Value(_) => false,
        };
        let properties = self.graph().properties.iter().filter(mentions);
        properties.map(|property| self.graph().identifier(property.id).to_string()).collect()
    }
}
