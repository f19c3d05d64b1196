//! Evaluates the logical operators ("Logical Operators"), and `equal` where it compares presence.
//!
//! Operands are evaluated in order, up to the first one that decides the result. Later operands do
//! not matter, so their inputs need no values. With open inputs, an operand may decide the result
//! only in some cases. Later operands then matter in the other cases, so their failures count only
//! there.

use super::{Evaluation, Evaluator, ValueCase};
use crate::diagnostic::{Code, Diagnostic};
use crate::variability::graph::ElementId;
use crate::variability::operators::ValueOperator;
use crate::variability::syntax::{Connective, ExpressionId, ExpressionRange};
use cuvee_sat::formula::Formula;
use cuvee_text::source::Span;
use cuvee_text::value::Value;

impl Evaluator<'_, '_> {
    pub(super) fn logical(
        &mut self,
        connective: Connective,
        operand: ExpressionId,
        context: Option<ElementId>,
    ) -> Result<Formula, Diagnostic> {
        match connective {
            Connective::And => {
                let operands = self.operands_until(operand, context, Formula::FALSE)?;
                Ok(self.arena.and(operands))
            }
            Connective::Or => {
                let operands = self.operands_until(operand, context, Formula::TRUE)?;
                Ok(self.arena.or(operands))
            }
            Connective::Not => self.condition(operand, context).map(|formula| !formula),
            Connective::Xor => {
                let operands = self.operands(operand, context)?;
                Ok(self.arena.xor(operands))
            }
            Connective::ExactlyOne => {
                let operands = self.operands(operand, context)?;
                Ok(self.arena.exactly_one(operands))
            }
            Connective::AtMostOne => {
                let operands = self.operands(operand, context)?;
                Ok(self.arena.at_most_one(operands))
            }
            Connective::Implies => self.implication(operand, context),
        }
    }

    /// Evaluates `implies`. A false premise decides it, so that the conclusion does not matter and
    /// needs no inputs.
    fn implication(
        &mut self,
        list: ExpressionId,
        context: Option<ElementId>,
    ) -> Result<Formula, Diagnostic> {
        let list = self.expression(list);
        let Some(operands) = list.items().filter(|items| items.iter().len() == 2) else {
            return Err(Diagnostic::error(Code::InvalidExpression, "`implies` takes two operands")
                .at(list.span()));
        };
        let operands = self.until(operands, context, Formula::FALSE)?;
        match operands[..] {
            [(premise, _), (conclusion, _)] => Ok(self.arena.implies(premise, conclusion)),
            _ => Ok(Formula::TRUE),
        }
    }

    fn operands(
        &mut self,
        list: ExpressionId,
        context: Option<ElementId>,
    ) -> Result<Vec<Formula>, Diagnostic> {
        self.listed(list)?.iter().map(|item| self.condition(item, context)).collect()
    }

    fn operands_until(
        &mut self,
        list: ExpressionId,
        context: Option<ElementId>,
        settled: Formula,
    ) -> Result<Vec<Formula>, Diagnostic> {
        let operands = self.until(self.listed(list)?, context, settled)?;
        Ok(operands.into_iter().map(|(formula, _)| formula).collect())
    }

    /// Evaluates expressions up to the first one that equals `settled`, each with its place.
    pub(super) fn until(
        &mut self,
        expressions: ExpressionRange,
        context: Option<ElementId>,
        settled: Formula,
    ) -> Result<Vec<(Formula, Span)>, Diagnostic> {
        let mut formulas = Vec::new();
        let mut unsettled = Formula::TRUE;
        for expression in expressions.iter() {
            let failed = self.failures.len();
            let formula = match self.condition(expression, context) {
                Ok(formula) => formula,
                // In cases where earlier operands decide the result, this error does not matter. In
                // the other cases the whole has no value, so that later operands do not matter.
                Err(error) if unsettled != Formula::TRUE && error.code != Code::OpenInput => {
                    self.failures.push((unsettled, error));
                    break;
                }
                Err(error) => return Err(error),
            };
            for (when, _) in &mut self.failures[failed..] {
                *when = self.arena.and([*when, unsettled]);
            }
            formulas.push((formula, self.expression(expression).span()));
            if formula == settled {
                break;
            }
            if !self.opened.is_empty() {
                let super::open::OpenCases { atoms, folded, .. } = &mut self.opened;
                let value = settled == Formula::TRUE;
                let settles = self.arena.folds_to(formula, value, atoms, folded);
                unsettled = self.arena.and([unsettled, !settles]);
            }
        }
        Ok(formulas)
    }

    fn listed(&self, list: ExpressionId) -> Result<ExpressionRange, Diagnostic> {
        let list = self.expression(list);
        list.items().ok_or_else(|| {
            let message = format!("the operands have to be a list, not {}", list.describe());
            Diagnostic::error(Code::InvalidExpression, message)
                .at(list.span())
                .help("write them as `[a, b]`")
        })
    }

    /// Evaluates `equal`, which may also compare presence: `equal: [{node_presence: a}, true]`.
    pub(super) fn equal(
        &mut self,
        list: ExpressionId,
        operands: ExpressionRange,
        context: Option<ElementId>,
    ) -> Result<Evaluation, Diagnostic> {
        let operands = operands
            .iter()
            .map(|item| self.evaluate(item, context))
            .collect::<Result<Vec<_>, _>>()?;
        let value = |one: &Evaluation| {
            if let Evaluation::Value(value) = one { Some(value.clone()) } else { None }
        };
        if let Some(values) = operands.iter().map(value).collect::<Option<Vec<_>>>() {
            return self.apply(ValueOperator::Equal, &values.into(), list).map(Evaluation::Value);
        }
        for one in &operands {
            if let Evaluation::Cases(cases) = one {
                let failed =
                    cases.iter().filter_map(|case| Some((case.when, case.outcome.clone().err()?)));
                self.failures.extend(failed);
            }
        }
        // Presence is a boolean, and a boolean never equals a value of another type.
        let mut formulas = Vec::with_capacity(operands.len());
        let mut boolean = Formula::TRUE;
        for one in operands {
            formulas.push(match one {
                Evaluation::Logic(formula) => formula,
                Evaluation::Value(Value::Bool(value)) => Formula::constant(value),
                Evaluation::Value(_) => return Ok(Evaluation::Value(false.into())),
                Evaluation::Cases(cases) => {
                    let booleans = self.whether(&cases, |value| matches!(value, Value::Bool(_)));
                    boolean = self.arena.and([boolean, booleans]);
                    self.whether(&cases, |value| *value == Value::Bool(true))
                }
            });
        }
        let mut pairs: Vec<_> =
            formulas[1..].iter().map(|&other| self.arena.iff(formulas[0], other)).collect();
        pairs.push(boolean);
        let formula = self.arena.and(pairs);
        Ok(self.decided(formula))
    }

    /// The condition that a value fulfils `is`.
    fn whether(&mut self, cases: &[ValueCase], is: fn(&Value) -> bool) -> Formula {
        let among = cases.iter().filter(|case| case.outcome.as_ref().is_ok_and(is));
        self.arena.or(among.map(|case| case.when))
    }
}
