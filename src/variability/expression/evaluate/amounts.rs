//! Reads the operands of comparisons as amounts where an input among them has amounts with units:
//! `2 GB` is more than `500 MB`.

use super::{Evaluator, MAX_DEPTH};
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::value::AmountUnits;
use crate::variability::operators::{ValueOperator, quote};
use crate::variability::syntax::{Application, ExpressionId, ExpressionOperator, ReadAs};
use cuvee_text::value::Value;

impl Evaluator<'_, '_> {
    /// The operands of a comparison as numbers of the base unit; `None` where nothing says that they
    /// are amounts.
    ///
    /// # Errors
    /// An operand that has an order only if it is an amount, and is none.
    pub(super) fn amounts(
        &self,
        operator: ValueOperator,
        operands: &Value,
        at: ExpressionId,
    ) -> Result<Option<Value>, Diagnostic> {
        let Some(units) = self.units_compared(operator, at) else { return Ok(None) };
        let read = units.in_base_unit(operands);
        let is_ordered = !matches!(operator, ValueOperator::Equal | ValueOperator::ValidValues);
        match other_than_number(&read).filter(|_| is_ordered) {
            None => Ok(Some(read)),
            Some(other) => {
                let keyword = operator.keyword();
                let message = format!(
                    "`{keyword}` compares amounts with units here, but got {}",
                    quote(other)
                );
                let known: Vec<_> =
                    units.sizes().iter().map(|(unit, _)| format!("`{unit}`")).collect();
                let error = Diagnostic::error(Code::InvalidExpression, message);
                let help = format!("write a number and a unit; the units are {}", known.join(", "));
                Err(error.at(self.expression(at).span()).help(help))
            }
        }
    }

    /// The units of the first input with amounts among the operands of a comparison, or among the
    /// values of a range or list.
    fn units_compared(&self, operator: ValueOperator, at: ExpressionId) -> Option<&AmountUnits> {
        use ValueOperator::{Length, MaxLength, MinLength};
        if !operator.compares() || matches!(operator, Length | MinLength | MaxLength) {
            return None;
        }
        let syntax = &self.graph.syntax;
        let parts = |item: ExpressionId| item.only().iter().chain(syntax.items(item).iter());
        let mut operands = syntax.items(at).iter().flat_map(parts);
        operands.find_map(|operand| self.units_of(operand, MAX_DEPTH))
    }

    /// The units of the input that an expression is, itself or by name.
    fn units_of(&self, id: ExpressionId, depth: usize) -> Option<&AmountUnits> {
        let Application { operator, operand } = self.expression(id).application()?;
        match operator {
            ExpressionOperator::Input => {
                let name = self.expression(operand).text()?;
                let declarations = &self.known.inputs.declarations;
                declarations.get(declarations.id(name)?)?.amounts()
            }
            ExpressionOperator::Named(ReadAs::Value) => {
                let body = self.graph.syntax.named(self.expression_index(operand).ok()?);
                self.units_of(body, depth.checked_sub(1)?)
            }
            _ => None,
        }
    }
}

/// A part of a value that is no number.
fn other_than_number(value: &Value) -> Option<&Value> {
    match value {
        Value::Number(_) => None,
        Value::List(items) => items.iter().find_map(other_than_number),
        other => Some(other),
    }
}
