//! What inputs there are, and what they influence.

use super::Projection;
use super::space::{Space, literal};
use crate::sat::formula::{Cnf, Lit, Var};
use crate::sat::progress::Progress;
use crate::sat::solve::influence::InfluenceQuestion;
use crate::text::diagnostic::Diagnostics;
use crate::text::value::Value;
use crate::variability::expression::InputCase;
use crate::variability::graph::ElementId;
use crate::variability::inputs::{InputId, InputValue};
use crate::variability::template::PropertyValue;
use serde::Serialize;

/// All inputs of a template.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InputsReport {
    /// In the order of the template.
    pub inputs: Vec<InputReport>,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InputReport {
    /// Its name.
    pub name: String,
    /// Where it is declared: `file:line:column`.
    pub place: String,
    /// Its type, as it is declared; nothing where it has none.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// What its values have to fulfil: `in_range: [1, 4]`.
    pub constraints: Vec<String>,
    /// Its default.
    pub default: Option<Value>,
    /// The expression whose value it has by default.
    pub computed: Option<String>,
    /// The value that the call assigns, which leaves it no choice.
    pub assigned: Option<Value>,
    /// Its cases; none where it is assigned.
    pub cases: Vec<CaseReport>,
    /// What presets assign to it.
    pub presets: Vec<PresetValue>,
    /// The elements that differ between some two assignments that differ in this input alone.
    pub influences: Vec<String>,
    /// The properties whose values are computed from it.
    pub values: Vec<String>,
    /// Whether a constraint or a rule between inputs mentions it, so that it decides which variants
    /// there are.
    pub constrained: bool,
}

/// Values of an input that no condition tells apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CaseReport {
    /// All of them, for people: `≥ 500`, `laptop`, `something else`.
    pub label: String,
    /// One of them that is valid, where one is known.
    pub value: Option<Value>,
}

impl CaseReport {
    pub(super) fn of(case: &InputCase) -> Self {
        Self { label: case.label.clone(), value: case.value.clone() }
    }
}

/// What a preset assigns to an input.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PresetValue {
    /// The preset.
    pub preset: String,
    /// The value.
    pub value: Value,
}

impl<'s, 'a> Space<'s, 'a> {
    /// The inputs of a template, what cases open ones have, and what each influences, apart from
    /// what the others allow it to do.
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

    /// The same, where only inputs count that fulfil what this space asks of them.
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

    /// For each open input the elements in which two variants may differ, whether they pass checks or
    /// not, when all other inputs are the same.
    fn influences(&self, progress: &mut dyn Progress) -> Vec<Vec<ElementId>> {
        let cnf = Cnf::of(self.vars(), self.best_clauses().map(<[Lit]>::to_vec));
        let inputs = self.input_vars();
        let elements = Projection::All.elements(self.graph());
        let of: Vec<Var> = elements.iter().map(|&id| literal(id).var()).collect();
        let question =
            InfluenceQuestion { cnf: &cnf, inputs: &inputs, factors: &self.cases, of: &of };
        let found = question.answer(self.prepared.solver, progress);
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

    /// The properties whose value expressions mention an input, by name or through named
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
