//! Translates conditions over inputs to propositions over features.

use super::model::{FeatureId, MAX_DEPTH, Proposition};
use crate::tosca::value::Primitive;
use crate::variability::graph::Graph;
use crate::variability::inputs::Declarations;
use crate::variability::operators::ValueOperator;
use crate::variability::syntax::{
    Application, Connective, ExpressionId, ExpressionOperator, ReadAs, Syntax, Term,
};
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use rustc_hash::FxHashMap;

/// The features that represent an input.
pub(super) enum Domain {
    /// A feature that is selected if the input is true.
    Feature(FeatureId),
    /// The values of the input, each with its feature; exactly one of the features is selected.
    Values(Vec<(Value, FeatureId)>),
    /// No features.
    Other,
}

/// The meaning of an expression.
enum ExpressionMeaning {
    /// A proposition.
    Logic(Proposition),
    /// Values, each with the proposition under which the expression has it; exactly one of these
    /// holds.
    Cases(Vec<(Value, Proposition)>),
}

/// The greatest size of a proposition. Named expressions are expanded wherever they are used.
const MAX_SIZE: usize = 20_000;

/// Translates conditions to propositions.
pub(super) struct Logic<'l, 'a> {
    declarations: &'l Declarations<'a>,
    domains: &'l [Domain],
    syntax: &'l Syntax<'a>,
    expressions: FxHashMap<&'a str, ExpressionId>,
    /// The remaining part of [`MAX_SIZE`].
    budget: usize,
    nested: usize,
}

impl<'l, 'a> Logic<'l, 'a> {
    pub(super) fn new(
        declarations: &'l Declarations<'a>,
        domains: &'l [Domain],
        graph: &'l Graph<'a>,
    ) -> Self {
        let (syntax, named) = (&graph.syntax, &graph.template.variability.expressions);
        let expressions = named
            .iter()
            .enumerate()
            .filter_map(|(index, (key, _))| Some((key.text()?, syntax.named(index))))
            .collect();
        Self { declarations, domains, syntax, expressions, budget: 0, nested: 0 }
    }

    /// A condition as a proposition; `None` if it is about anything other than features, or becomes
    /// too large.
    pub(super) fn proposition(&mut self, condition: Node<'a>) -> Option<Proposition> {
        (self.budget, self.nested) = (MAX_SIZE, 0);
        self.condition(self.syntax.read(condition))
            .filter(|proposition| proposition.depth() <= MAX_DEPTH)
    }

    fn condition(&mut self, id: ExpressionId) -> Option<Proposition> {
        // A string is the name of an element, not of a feature.
        if self.syntax.get(id).scalar().and_then(Node::as_str).is_some() {
            return None;
        }
        match self.meaning(id)? {
            ExpressionMeaning::Logic(proposition) => Some(proposition),
            ExpressionMeaning::Cases(cases) => {
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

    fn conditions(&mut self, list: ExpressionId) -> Option<Vec<Proposition>> {
        self.syntax.get(list).items()?.iter().map(|item| self.condition(item)).collect()
    }

    fn cases(&mut self, id: ExpressionId) -> Option<Vec<(Value, Proposition)>> {
        match self.meaning(id)? {
            ExpressionMeaning::Cases(cases) => Some(cases),
            ExpressionMeaning::Logic(proposition) => {
                let copy = self.copy(&proposition)?;
                Some(vec![(true.into(), copy), (false.into(), !proposition)])
            }
        }
    }

    fn meaning(&mut self, id: ExpressionId) -> Option<ExpressionMeaning> {
        self.budget = self.budget.checked_sub(1)?;
        self.nested += 1;
        let meaning = if self.nested > MAX_DEPTH { None } else { self.meaning_here(id) };
        self.nested -= 1;
        meaning
    }

    fn meaning_here(&mut self, id: ExpressionId) -> Option<ExpressionMeaning> {
        let Application { operator, operand } = match self.syntax.get(id).term {
            Term::Scalar(node) => {
                return Some(ExpressionMeaning::Cases(vec![(
                    node.to_value(),
                    Proposition::Constant(true),
                )]));
            }
            Term::Application(operation) => operation,
            Term::List(_) | Term::Broken(..) => return None,
        };
        let proposition = match operator {
            ExpressionOperator::Input => return self.input(operand),
            ExpressionOperator::Named(ReadAs::Value) => {
                let body = self.named(operand)?;
                return self.meaning(body);
            }
            ExpressionOperator::Named(ReadAs::Logic) => {
                let body = self.named(operand)?;
                self.condition(body)?
            }
            ExpressionOperator::Logical(connective) => self.logical(connective, operand)?,
            ExpressionOperator::Value(ValueOperator::Equal) => self.equal(operand)?,
            ExpressionOperator::Value(_) | ExpressionOperator::Presence(_) => return None,
        };
        Some(ExpressionMeaning::Logic(proposition))
    }

    fn named(&self, operand: ExpressionId) -> Option<ExpressionId> {
        self.expressions.get(self.syntax.get(operand).text()?).copied()
    }

    fn logical(&mut self, connective: Connective, operand: ExpressionId) -> Option<Proposition> {
        Some(match connective {
            Connective::And => Proposition::and(self.conditions(operand)?),
            Connective::Or => Proposition::or(self.conditions(operand)?),
            Connective::Not => !self.condition(operand)?,
            Connective::Xor => Proposition::xor(self.conditions(operand)?),
            Connective::ExactlyOne => self.exactly_one(operand)?,
            Connective::AtMostOne => Proposition::at_most_one(self.conditions(operand)?),
            Connective::Implies => match &self.conditions(operand)?[..] {
                [premise, conclusion] => premise.clone().implies(conclusion.clone()),
                _ => return None,
            },
        })
    }

    fn input(&mut self, operand: ExpressionId) -> Option<ExpressionMeaning> {
        let id = self.declarations.id(self.syntax.get(operand).text()?)?;
        match self.domains.get(id.index())? {
            // For an input without a type, the feature only represents whether it counts as true,
            // not its value.
            Domain::Feature(feature)
                if self.declarations.get(id)?.primitive() == Some(Primitive::Boolean) =>
            {
                Some(ExpressionMeaning::Logic(Proposition::Feature(*feature)))
            }
            Domain::Values(cases) => {
                self.budget = self.budget.checked_sub(cases.len())?;
                let case = |(value, feature): &(Value, FeatureId)| {
                    (value.clone(), Proposition::Feature(*feature))
                };
                Some(ExpressionMeaning::Cases(cases.iter().map(case).collect()))
            }
            Domain::Feature(_) | Domain::Other => None,
        }
    }

    fn exactly_one(&mut self, operand: ExpressionId) -> Option<Proposition> {
        let operands = self.conditions(operand)?;
        let copies = operands.iter().map(|one| self.copy(one)).collect::<Option<Vec<_>>>()?;
        Some(Proposition::and([Proposition::or(copies), Proposition::at_most_one(operands)]))
    }

    /// The proposition that the first operand equals every other one, as the cases in which both
    /// have the same value.
    fn equal(&mut self, list: ExpressionId) -> Option<Proposition> {
        let operands = self.syntax.items(list).iter().map(|item| self.cases(item));
        let mut operands = operands.collect::<Option<Vec<_>>>()?.into_iter();
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

    /// A copy of a proposition, as far as the budget allows.
    fn copy(&mut self, proposition: &Proposition) -> Option<Proposition> {
        self.budget = self.budget.checked_sub(size(proposition))?;
        Some(proposition.clone())
    }
}

fn size(proposition: &Proposition) -> usize {
    1 + proposition.operands().iter().map(size).sum::<usize>()
}
