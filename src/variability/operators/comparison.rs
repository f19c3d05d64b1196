//! Implements `equal`, `greater`, …, `in_range`, `valid_values`, `length`, `min_length`,
//! `max_length`.

use super::{Operands, OperatorError, OperatorResult};
use crate::tosca::value::Version;
use cuvee_text::value::Value;
use std::cmp::Ordering;

/// Whether every operand equals the first, strictly on type.
pub(super) fn equal(operands: &Operands<'_>) -> OperatorResult {
    let values = operands.list()?;
    Ok(Value::Bool(values.iter().skip(1).all(|value| values.first() == Some(value))))
}

pub(super) fn greater(operands: &Operands<'_>) -> OperatorResult {
    ordered(operands, Ordering::is_gt)
}

pub(super) fn greater_or_equal(operands: &Operands<'_>) -> OperatorResult {
    ordered(operands, Ordering::is_ge)
}

pub(super) fn less(operands: &Operands<'_>) -> OperatorResult {
    ordered(operands, Ordering::is_lt)
}

pub(super) fn less_or_equal(operands: &Operands<'_>) -> OperatorResult {
    ordered(operands, Ordering::is_le)
}

/// Whether a value is in a range, which includes both ends.
pub(super) fn in_range(operands: &Operands<'_>) -> OperatorResult {
    const EXPECTED: &str = "a value and a range of two values";
    let [value, range] = operands.exactly(EXPECTED)?;
    let [low, high] = operands.tuple(range, EXPECTED)?;
    let (from, to) = (order(operands, value, low)?, order(operands, value, high)?);
    Ok(Value::Bool(from.is_ge() && to.is_le()))
}

/// Whether a value is in a list.
pub(super) fn valid_values(operands: &Operands<'_>) -> OperatorResult {
    const EXPECTED: &str = "a value and a list of values";
    let [value, valid] = operands.exactly(EXPECTED)?;
    Ok(Value::Bool(operands.list_of(valid, EXPECTED)?.contains(value)))
}

pub(super) fn length(operands: &Operands<'_>) -> OperatorResult {
    sized(operands, Ordering::is_eq)
}

pub(super) fn min_length(operands: &Operands<'_>) -> OperatorResult {
    sized(operands, Ordering::is_ge)
}

pub(super) fn max_length(operands: &Operands<'_>) -> OperatorResult {
    sized(operands, Ordering::is_le)
}

fn ordered(operands: &Operands<'_>, holds: fn(Ordering) -> bool) -> OperatorResult {
    let [a, b] = operands.exactly("two values")?;
    Ok(Value::Bool(holds(order(operands, a, b)?)))
}

fn order(operands: &Operands<'_>, a: &Value, b: &Value) -> Result<Ordering, OperatorError> {
    compare(a, b).ok_or_else(|| {
        let (a, b) = (super::quote(a), super::quote(b));
        operands
            .error(format!("compares numbers, or strings, or versions alike, but got {a} and {b}"))
    })
}

fn sized(operands: &Operands<'_>, holds: fn(Ordering) -> bool) -> OperatorResult {
    let [value, length] = operands.exactly("a value and a length")?;
    let size = size(value).ok_or_else(|| operands.expected("a string, a list or a map", value))?;
    let length = operands.index(length, "an integer from zero as length")?;
    Ok(Value::Bool(holds(size.cmp(&length))))
}

/// Orders two numbers, two versions, or two strings by code point; `None` for other values.
pub(crate) fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_int(), b.as_int()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64().partial_cmp(&b.as_f64()),
        },
        (Value::String(a), Value::String(b)) => {
            Some(match (Version::parse(a), Version::parse(b)) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => a.cmp(b),
            })
        }
        _ => None,
    }
}

/// The number of characters of a string, items of a list, or entries of a map; `None` for other
/// values.
pub(crate) fn size(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::List(items) => Some(items.len()),
        Value::Map(entries) => Some(entries.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
