//! `equal`, `greater`, …, `in_range`, `valid_values`, `length`, `min_length`, `max_length`.

use super::{Operands, OperatorError, Outcome};
use crate::text::value::Value;
use std::cmp::Ordering;

/// Whether every operand equals the first, strictly on type.
pub(super) fn equal(operands: &Operands<'_>) -> Outcome {
    let values = operands.list()?;
    Ok(Value::Bool(values.iter().skip(1).all(|value| values.first() == Some(value))))
}

pub(super) fn greater(operands: &Operands<'_>) -> Outcome {
    ordered(operands, Ordering::is_gt)
}

pub(super) fn greater_or_equal(operands: &Operands<'_>) -> Outcome {
    ordered(operands, Ordering::is_ge)
}

pub(super) fn less(operands: &Operands<'_>) -> Outcome {
    ordered(operands, Ordering::is_lt)
}

pub(super) fn less_or_equal(operands: &Operands<'_>) -> Outcome {
    ordered(operands, Ordering::is_le)
}

/// Whether a value is in a range, both ends of which belong to it.
pub(super) fn in_range(operands: &Operands<'_>) -> Outcome {
    const EXPECTED: &str = "a value and a range of two values";
    let [value, range] = operands.exactly(EXPECTED)?;
    let [low, high] = operands.tuple(range, EXPECTED)?;
    let (from, to) = (order(operands, value, low)?, order(operands, value, high)?);
    Ok(Value::Bool(from.is_ge() && to.is_le()))
}

/// Whether a value is in a list.
pub(super) fn valid_values(operands: &Operands<'_>) -> Outcome {
    const EXPECTED: &str = "a value and a list of values";
    let [value, valid] = operands.exactly(EXPECTED)?;
    Ok(Value::Bool(operands.list_of(valid, EXPECTED)?.contains(value)))
}

pub(super) fn length(operands: &Operands<'_>) -> Outcome {
    sized(operands, Ordering::is_eq)
}

pub(super) fn min_length(operands: &Operands<'_>) -> Outcome {
    sized(operands, Ordering::is_ge)
}

pub(super) fn max_length(operands: &Operands<'_>) -> Outcome {
    sized(operands, Ordering::is_le)
}

fn ordered(operands: &Operands<'_>, holds: fn(Ordering) -> bool) -> Outcome {
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

fn sized(operands: &Operands<'_>, holds: fn(Ordering) -> bool) -> Outcome {
    let [value, length] = operands.exactly("a value and a length")?;
    let size = size(value).ok_or_else(|| operands.expected("a string, a list or a map", value))?;
    let length = operands.index(length, "an integer from zero as length")?;
    Ok(Value::Bool(holds(size.cmp(&length))))
}

/// Orders two numbers, two versions, or two strings by code point; nothing for anything else.
pub fn compare(a: &Value, b: &Value) -> Option<Ordering> {
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

/// How many characters a string, items a list, or entries a map has; nothing for anything else.
pub fn size(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::List(items) => Some(items.len()),
        Value::Map(entries) => Some(entries.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Whether a text is a TOSCA version.
pub(crate) fn is_version(text: &str) -> bool {
    Version::parse(text).is_some()
}

/// A TOSCA version, `major.minor[.fix[.qualifier[-build]]]`; fields in the order in which they
/// decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version<'a> {
    numbers: [u64; 3],
    release: bool,
    qualifier: &'a str,
    build: u64,
}

impl<'a> Version<'a> {
    /// Reads a version.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.splitn(4, '.');
        let (major, minor, fix) =
            (digits(parts.next()?)?, digits(parts.next()?)?, parts.next().map_or(Some(0), digits)?);
        let qualified = parts.next();
        let (qualifier, build) =
            match qualified.map(|rest| rest.rsplit_once('-').unwrap_or((rest, "0"))) {
                None => ("", 0),
                Some((qualifier, build)) => (qualifier, digits(build)?),
            };
        let named = !qualifier.is_empty()
            && qualifier.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let version =
            Self { numbers: [major, minor, fix], release: qualified.is_none(), qualifier, build };
        (version.release || named).then_some(version)
    }

    /// Whether it is the one that says that there is none.
    pub(crate) fn is_zero(&self) -> bool {
        self.numbers == [0; 3]
    }

    /// Whether it has a qualifier.
    pub(crate) fn is_qualified(&self) -> bool {
        !self.release
    }

    /// Orders two versions of one branch; nothing where they differ in their qualifiers first,
    /// which nobody can order.
    pub(crate) fn compare_in_branch(&self, other: &Self) -> Option<Ordering> {
        let apart = self.numbers == other.numbers && self.is_qualified() && other.is_qualified();
        (!apart || self.qualifier == other.qualifier).then(|| self.cmp(other))
    }
}

/// A run of digits: no sign, no space.
fn digits(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}
