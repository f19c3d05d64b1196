//! Conditions over inputs as propositions over features.

use super::model::{FeatureId, MAX_DEPTH, Proposition};
use crate::text::value::Value;
use crate::text::yaml::{Node, NodeKind};
use crate::variability::inputs::{Declarations, InputType};
use rustc_hash::FxHashMap;

/// How an input is represented by features.
pub(super) enum Domain {
    /// It is true where the feature is selected.
    Feature(FeatureId),
    /// It has one of these values, and of their features exactly one is selected.
    Values(Vec<(Value, FeatureId)>),
    /// Not at all.
    Other,
}

/// What an expression means.
enum Meaning {
    /// A truth.
    Logic(Proposition),
    /// Values, each in the cases that a proposition describes; exactly one of these holds.
    Cases(Vec<(Value, Proposition)>),
}

/// As large as a proposition may get: named expressions are written out wherever they are used.
const MAX_SIZE: usize = 20_000;

/// Translates conditions.
pub(super) struct Logic<'l, 'a> {
    declarations: &'l Declarations<'a>,
    domains: &'l [Domain],
    expressions: FxHashMap<&'a str, Node<'a>>,
    /// What is left of [`MAX_SIZE`].
    budget: usize,
    nested: usize,
}

impl<'l, 'a> Logic<'l, 'a> {
    pub fn new(
        declarations: &'l Declarations<'a>,
        domains: &'l [Domain],
        expressions: &[(Node<'a>, Node<'a>)],
    ) -> Self {
        let expressions =
            expressions.iter().filter_map(|(key, body)| Some((key.text()?, *body))).collect();
        Self { declarations, domains, expressions, budget: 0, nested: 0 }
    }

    /// A condition as a proposition; nothing where it is about more than features, or too large to
    /// be written out.
    pub fn proposition(&mut self, condition: Node<'a>) -> Option<Proposition> {
        (self.budget, self.nested) = (MAX_SIZE, 0);
        self.condition(condition).filter(|proposition| proposition.depth() <= MAX_DEPTH)
    }

    fn condition(&mut self, node: Node<'a>) -> Option<Proposition> {
        // A string is the name of an element.
        if node.as_str().is_some() {
            return None;
        }
        match self.meaning(node)? {
            Meaning::Logic(proposition) => Some(proposition),
            Meaning::Cases(cases) => {
                let holds = |(value, case): (Value, Proposition)| match value {
                    Value::Bool(truth) => Some((truth, case)),
                    Value::Number(number) => Some((number.as_f64() > 0.0, case)),
                    Value::String(_) => Some((true, case)),
                    Value::Null | Value::List(_) | Value::Map(_) => None,
                };
                let cases = cases.into_iter().map(holds).collect::<Option<Vec<_>>>()?;
                if cases.iter().all(|(truth, _)| *truth) {
                    return Some(Proposition::Constant(true));
                }
                Some(Proposition::or(
                    cases.into_iter().filter_map(|(truth, case)| truth.then_some(case)),
                ))
            }
        }
    }

    fn conditions(&mut self, list: Node<'a>) -> Option<Vec<Proposition>> {
        if list.kind() != NodeKind::Sequence {
            return None;
        }
        list.items().map(|item| self.condition(item)).collect()
    }

    fn cases(&mut self, node: Node<'a>) -> Option<Vec<(Value, Proposition)>> {
        match self.meaning(node)? {
            Meaning::Cases(cases) => Some(cases),
            Meaning::Logic(proposition) => {
                let copy = self.copy(&proposition)?;
                Some(vec![(true.into(), copy), (false.into(), !proposition)])
            }
        }
    }

    fn meaning(&mut self, node: Node<'a>) -> Option<Meaning> {
        self.budget = self.budget.checked_sub(1)?;
        self.nested += 1;
        let meaning = if self.nested > MAX_DEPTH { None } else { self.meaning_here(node) };
        self.nested -= 1;
        meaning
    }

    fn meaning_here(&mut self, node: Node<'a>) -> Option<Meaning> {
        let mut entries = node.entries();
        let (keyword, operand) = match (node.kind(), entries.next()) {
            (NodeKind::Scalar, _) => {
                return Some(Meaning::Cases(vec![(node.to_value(), Proposition::Constant(true))]));
            }
            (NodeKind::Mapping, Some(entry)) if entries.len() == 0 => entry,
            _ => return None,
        };
        let proposition = match keyword.text()? {
            "variability_input" => return self.input(operand),
            "value_expression" => return self.meaning(*self.expressions.get(operand.text()?)?),
            "logic_expression" => self.condition(*self.expressions.get(operand.text()?)?)?,
            "and" => Proposition::and(self.conditions(operand)?),
            "or" => Proposition::or(self.conditions(operand)?),
            "not" => !self.condition(operand)?,
            "xor" => Proposition::xor(self.conditions(operand)?),
            "exo" => self.exactly_one(operand)?,
            "amo" => Proposition::at_most_one(self.conditions(operand)?),
            "implies" => match &self.conditions(operand)?[..] {
                [premise, conclusion] => premise.clone().implies(conclusion.clone()),
                _ => return None,
            },
            "equal" => self.equal(operand)?,
            _ => return None,
        };
        Some(Meaning::Logic(proposition))
    }

    fn input(&mut self, operand: Node<'a>) -> Option<Meaning> {
        let id = self.declarations.id(operand.text()?)?;
        match self.domains.get(id.index())? {
            // Of an input without type, the feature says whether it counts as true, not what it is.
            Domain::Feature(feature) if self.declarations.get(id)?.kind == InputType::Boolean => {
                Some(Meaning::Logic(Proposition::Feature(*feature)))
            }
            Domain::Values(cases) => {
                self.budget = self.budget.checked_sub(cases.len())?;
                let case = |(value, feature): &(Value, FeatureId)| {
                    (value.clone(), Proposition::Feature(*feature))
                };
                Some(Meaning::Cases(cases.iter().map(case).collect()))
            }
            Domain::Feature(_) | Domain::Other => None,
        }
    }

    fn exactly_one(&mut self, operand: Node<'a>) -> Option<Proposition> {
        let operands = self.conditions(operand)?;
        let copies = operands.iter().map(|one| self.copy(one)).collect::<Option<Vec<_>>>()?;
        Some(Proposition::and([Proposition::or(copies), Proposition::at_most_one(operands)]))
    }

    /// The first against every other: the cases in which both have one value.
    fn equal(&mut self, list: Node<'a>) -> Option<Proposition> {
        let mut operands =
            list.items().map(|item| self.cases(item)).collect::<Option<Vec<_>>>()?.into_iter();
        let first = operands.next()?;
        let mut equal = Vec::new();
        for other in operands {
            let mut both = Vec::new();
            for (value, case) in &first {
                for (_, with) in other.iter().filter(|(with, _)| with == value) {
                    both.push(Proposition::and([self.copy(case)?, self.copy(with)?]));
                }
            }
            equal.push(Proposition::or(both));
        }
        Some(Proposition::and(equal))
    }

    /// A copy, as far as the budget allows.
    fn copy(&mut self, proposition: &Proposition) -> Option<Proposition> {
        self.budget = self.budget.checked_sub(size(proposition))?;
        Some(proposition.clone())
    }
}

fn size(proposition: &Proposition) -> usize {
    1 + proposition.operands().iter().map(size).sum::<usize>()
}
