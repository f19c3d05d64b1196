//! Checks values against the validation clauses of TOSCA 2.0: expressions about `$value` (section
//! 9.10).

use super::UndecidedReason;
use super::check::{TypedSchema, ValueChecker};
use super::clause::Clause;
use super::datum::Datum;
use super::form::TextType;
use super::truth::is_unsupported;
use super::unit::{Measure, decimal};
use crate::diagnostic::{Code, Diagnostic, Rule, TOSCA_2_0};
use crate::tosca::function::function_in;
use crate::tosca::v2_0;
use crate::tosca::v2_0::clause::{ClauseArgument, ExpressionClause, conjuncts};
use crate::tosca::v2_0::function::{
    FormedValue, FunctionOutcome, PlainText, amount_and_unit, constant, evaluate,
};
use cuvee_text::value::{ReplacedPart, Value};
use cuvee_text::yaml::{Node, write_flow};

/// A unit of a scalar, and its size in the base unit.
pub(crate) type UnitSize = (String, Option<String>);

impl<'t> ValueChecker<'t, '_> {
    /// Checks a value against all validation clauses of its schema and of the schema's type.
    pub(super) fn validations(&mut self, datum: Datum<'t>, kind: &TypedSchema<'t>) {
        let numbers = kind.data_type.map(|data_type| data_type.numbers).unwrap_or_default();
        let mut validations = kind.validations().peekable();
        if validations.peek().is_none() && numbers.validations.is_empty() {
            return;
        }
        // Whether parts that functions compute fit is known when they are.
        let Some(value) = meant(datum) else { return };
        let number = value.as_str().and_then(|text| decimal(amount_and_unit(text)?.0));
        validations.for_each(|clause| self.validation(datum, kind, *clause, &value));
        if let Some(number) = number {
            let number = Value::Number(number.number());
            numbers.validations.iter().for_each(|clause| {
                self.validation(datum, kind, *clause, &number);
            });
        }
    }

    fn validation(
        &mut self,
        datum: Datum<'t>,
        kind: &TypedSchema<'t>,
        clause: Node<'t>,
        value: &Value,
    ) {
        match self.validated(clause, value, kind) {
            Ok(Some(Value::Bool(true))) => {}
            Ok(Some(Value::Bool(false))) => self.violates(datum, clause),
            // What calls nothing is no validation, which is reported with its definition.
            Ok(_) => {
                if let Some((name, _)) = v2_0::called(clause) {
                    self.undecided(datum, UndecidedReason::Function(name), Some(kind.schema));
                }
            }
            Err(why) if is_unsupported(&why) => {
                let message = format!("whether the value fits cannot be decided: {why}");
                let note = Diagnostic::note(Code::Undecidable, message).at(datum.span());
                self.report(note.rule(Rule::new(&TOSCA_2_0, "10.2.2.2.7")));
            }
            Err(why) => {
                let message = format!("the validation of {} has no value: {why}", datum.shown());
                let error = Diagnostic::error(Code::InvalidFunction, message);
                self.report(error.at(clause.span()).rule(Rule::new(&TOSCA_2_0, "9.10")));
            }
        }
    }

    /// The value of a validation clause for `$value`.
    fn validated(
        &self,
        clause: Node<'t>,
        value: &Value,
        kind: &TypedSchema<'t>,
    ) -> FunctionOutcome {
        let query = |name: &str, path: Option<Node<'_>>| match name {
            "value" => self.part_of_value(value, *kind, &v2_0::listed(path)),
            _ => self.ask?(name, path),
        };
        evaluate(clause, &query, &TextType::of_part(kind.schema, &[], self.types))
    }

    /// A part of a value; a property without one has its default.
    fn part_of_value(
        &self,
        value: &Value,
        kind: TypedSchema<'t>,
        path: &[Node<'_>],
    ) -> Option<FormedValue<TextType>> {
        let (mut value, mut schema) = (value.clone(), Some(kind.schema));
        for step in path {
            let step = constant(*step, &PlainText).ok()??.to_string();
            let kind = schema.map(|schema| self.kind(schema));
            let default = || meant(kind?.property(&step)?.default?.into());
            let part = match &value {
                Value::Map(entries) => {
                    let known = entries.iter().find(|(key, _)| **key == *step);
                    known.map(|(_, part)| part.clone()).or_else(default)?
                }
                Value::List(items) => items.get(step.parse::<usize>().ok()?)?.clone(),
                _ => return None,
            };
            (value, schema) = (part, kind.and_then(|kind| kind.part(&step)));
        }
        let form = schema.and_then(|schema| TextType::of_part(schema, &[], self.types));
        Some((value, form))
    }

    fn violates(&mut self, datum: Datum<'t>, clause: Node<'t>) {
        let text = super::check::short(write_flow(&clause.to_value()));
        let message = format!("{} violates `{text}`", datum.shown());
        let error = Diagnostic::error(Code::ViolatedConstraint, message).at(datum.span());
        let error = error.rule(Rule::new(&TOSCA_2_0, "9.10"));
        self.report(error.label(clause.span(), "the validation is declared here"));
    }
}

/// The clauses that a validation says all of, as far as it compares `$value` or its length with
/// values.
pub(crate) fn said_clauses(validation: Node<'_>) -> Vec<Clause<'_>> {
    let clauses = conjuncts(validation).into_iter().filter_map(ExpressionClause::read);
    let about_value =
        clauses.filter(|clause| matches!(v2_0::called(clause.subject), Some(("value", None))));
    let clauses = about_value.filter_map(|clause| match clause.argument {
        ClauseArgument::Node(operand) if !v2_0::calls(operand) => {
            Clause::new(clause.operator, operand, validation.span()).ok()
        }
        _ => None,
    });
    clauses.collect()
}

/// The value that is meant by a datum; `None` where functions compute parts of it.
fn meant(datum: Datum<'_>) -> Option<Value> {
    match datum.node().filter(|node| v2_0::is_of(node.document())) {
        Some(node) => {
            let is_known = !v2_0::calls(node);
            is_known.then(|| constant(node, &PlainText).ok()?)?
        }
        None => Some(datum.to_value()).filter(|value| function_in(value).is_none()),
    }
}

/// A scalar as an amount of the base unit, if the size of its unit is known.
pub(super) fn amount(scalar: &str, units: &[UnitSize]) -> Option<Measure> {
    let (number, unit) = amount_and_unit(scalar)?;
    let (_, size) = units.iter().find(|(known, _)| known == unit)?;
    Some(decimal(number)?.times(&decimal(size.as_deref()?)?))
}

/// A value whose scalars are numbers of the base unit, as far as their units are known.
pub(crate) fn in_base_unit(value: Value, units: &[UnitSize]) -> Value {
    if units.is_empty() {
        return value;
    }
    let amount = |part: &Value| amount(part.as_str()?, units);
    let mut replaced = |part: &Value| match amount(part) {
        Some(amount) => ReplacedPart::By(Value::Number(amount.number())),
        None => ReplacedPart::Within,
    };
    value.replaced(&mut replaced).unwrap_or(value)
}
