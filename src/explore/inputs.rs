//! What inputs there are, and what they influence.

use super::Projection;
use super::space::{Space, literal};
use crate::sat::formula::Lit;
use crate::sat::solve::Models;
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
    pub(crate) fn inputs_apart(&mut self) -> Result<InputsReport, Diagnostics> {
        let has_rules =
            self.prepared.inputs.declarations.iter().any(|(_, input)| !input.rules.is_empty());
        if has_rules { Ok(Space::of(self.prepared, false)?.inputs()) } else { Ok(self.inputs()) }
    }

    /// The same, where only inputs count that fulfil what this space asks of them.
    pub(crate) fn inputs(&mut self) -> InputsReport {
        let sources = self.prepared.sources();
        let mut pairs = Pairs::new(self);
        let declarations = &self.prepared.inputs.declarations;
        let inputs = declarations.iter().map(|(id, declaration)| {
            let open = self.open.iter().position(|open| open.input == id);
            let assigned = match self.prepared.inputs.values.get(id) {
                InputValue::Assigned(value) => Some(value.clone()),
                _ => None,
            };
            let cases = open.map_or(&[][..], |index| &self.open[index].cases);
            let influenced = open.map_or_else(Vec::new, |index| pairs.influenced(index));
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

/// Two variants side by side, whether they pass checks or not, to see what one input changes while
/// all others stay.
pub(super) struct Pairs {
    models: Models,
    vars: usize,
    elements: Vec<ElementId>,
    /// For each open input, a literal under which both variants have the same case.
    same: Vec<Lit>,
    /// For each element, a literal under which the variants differ in it.
    differs: Vec<Lit>,
}

impl Pairs {
    pub(super) fn new(space: &Space<'_, '_>) -> Self {
        let mut models = space.best_models();
        let vars = space.determinised.vars;
        (0..vars).for_each(|_| {
            models.new_var();
        });
        let twin = |literal: Lit| twin(literal, vars);
        for clause in space.best_clauses() {
            models.add_clause(&clause.iter().copied().map(twin).collect::<Vec<_>>());
        }
        let mut same = Vec::new();
        for cases in &space.cases {
            let all = models.new_var().positive();
            for &case in cases {
                models.add_clause(&[!all, !case, twin(case)]);
            }
            same.push(all);
        }
        let elements = Projection::All.elements(space.graph());
        let mut differs = Vec::new();
        for &id in &elements {
            let (one, differ) = (literal(id), models.new_var().positive());
            models.add_clause(&[!differ, one, twin(one)]);
            models.add_clause(&[!differ, !one, !twin(one)]);
            differs.push(differ);
        }
        Self { models, vars, elements, same, differs }
    }

    /// The elements in which two variants may differ when only this input does.
    pub(super) fn influenced(&mut self, input: usize) -> Vec<ElementId> {
        let Self { models, vars, elements, same, differs } = self;
        let others =
            same.iter().enumerate().filter(|&(index, _)| index != input).map(|(_, &same)| same);
        let others: Vec<_> = others.collect();
        let mut found = vec![false; elements.len()];
        let rest = |found: &[bool]| {
            let rest = differs.iter().zip(found).filter(|&(_, found)| !found);
            rest.map(|(&differ, _)| differ).collect::<Vec<_>>()
        };
        while models.solve_any(&rest(&found), &others) {
            for (found, &id) in found.iter_mut().zip(&*elements) {
                *found |= models.is_true(literal(id)) != models.is_true(twin(literal(id), *vars));
            }
        }
        elements.iter().zip(found).filter(|&(_, found)| found).map(|(&id, _)| id).collect()
    }
}

/// A literal as it is in the second variant.
fn twin(literal: Lit, vars: usize) -> Lit {
    Lit(literal.0 + 2 * vars as u32)
}
