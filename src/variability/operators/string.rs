//! Implements `concat`, `join`, `token`.

use super::{MAX_BYTES, Operands, OperatorError, OperatorResult};
use cuvee_text::value::Value;
use std::borrow::Cow;

/// The concatenation of all operands.
pub(super) fn concat(operands: &Operands<'_>) -> OperatorResult {
    joined(operands, operands.list()?, "")
}

/// The values of a list joined by a delimiter.
pub(super) fn join(operands: &Operands<'_>) -> OperatorResult {
    const EXPECTED: &str = "a list of values and a delimiter";
    let [values, delimiter] = operands.exactly(EXPECTED)?;
    joined(
        operands,
        operands.list_of(values, EXPECTED)?,
        operands.string(delimiter, "a string as delimiter")?,
    )
}

/// The part of a text at a position, counted from zero. The text is split at every occurrence of
/// the whole delimiter.
pub(super) fn token(operands: &Operands<'_>) -> OperatorResult {
    let [value, delimiter, index] = operands.exactly("a value, a delimiter and an index")?;
    let (value, delimiter) =
        (text(operands, value)?, operands.string(delimiter, "a string as delimiter")?);
    if delimiter.is_empty() {
        return Err(operands.error("expects a delimiter, but got an empty string"));
    }
    let position = operands.index(index, "an integer from zero as index")?;
    let mut parts = value.split(delimiter);
    parts.nth(position).map(Value::from).ok_or_else(|| {
        let count = value.split(delimiter).count();
        operands.error(format!("has no part {position}: the value has {count}, counted from zero"))
    })
}

fn joined(operands: &Operands<'_>, values: &[Value], delimiter: &str) -> OperatorResult {
    let parts = values.iter().map(|value| text(operands, value)).collect::<Result<Vec<_>, _>>()?;
    let delimiters = parts.len().saturating_sub(1).saturating_mul(delimiter.len());
    if parts.iter().fold(delimiters, |sum, part| sum.saturating_add(part.len())) > MAX_BYTES {
        return Err(operands.error(format!("has a result of more than {MAX_BYTES} bytes")));
    }
    Ok(Value::from(parts.join(delimiter)))
}

/// The text of a scalar in YAML; a number keeps its original notation.
fn text<'a>(operands: &Operands<'_>, value: &'a Value) -> Result<Cow<'a, str>, OperatorError> {
    match value {
        Value::String(text) => Ok(Cow::Borrowed(text)),
        Value::Number(_) | Value::Bool(_) => Ok(Cow::Owned(value.to_string())),
        other => Err(operands.expected("strings, numbers and booleans", other)),
    }
}
