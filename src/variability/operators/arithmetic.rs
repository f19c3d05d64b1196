//! `add`, `sub`, `mul`, `div`, `mod`: exact on integers as long as 64 bits hold the result, on
//! doubles from there.

use super::{Operands, OperatorError, Outcome};
use crate::text::value::{Number, Value};

/// The sum of all operands; 0 for none.
pub(super) fn add(operands: &Operands<'_>) -> Outcome {
    Ok(Value::Number(total(operands, &operands.numbers()?)?))
}

/// The first operand less the others.
pub(super) fn sub(operands: &Operands<'_>) -> Outcome {
    from_first(operands, |a, b| step(operands, a, b, i64::checked_sub, |a, b| a - b))
}

/// The product of all operands; 1 for none.
pub(super) fn mul(operands: &Operands<'_>) -> Outcome {
    let product = |a: Number, b: &Number| step(operands, &a, b, i64::checked_mul, |a, b| a * b);
    Ok(Value::Number(operands.numbers()?.into_iter().try_fold(Number::int(1), product)?))
}

/// The first operand divided by the others, one after the other.
pub(super) fn div(operands: &Operands<'_>) -> Outcome {
    from_first(operands, |a, b| quotient(operands, a, b))
}

/// The remainder of the first operand divided by the second; it has the sign of the first.
pub(super) fn modulo(operands: &Operands<'_>) -> Outcome {
    let [a, b] = operands.exactly("two numbers")?;
    let (a, b) = (operands.number(a, "two numbers")?, operands.number(b, "two numbers")?);
    not_zero(operands, b)?;
    Ok(Value::Number(step(operands, a, b, i64::checked_rem, |a, b| a % b)?))
}

/// The sum of these numbers.
pub(super) fn total(operands: &Operands<'_>, numbers: &[&Number]) -> Result<Number, OperatorError> {
    let sum = |a: Number, b: &&Number| step(operands, &a, b, i64::checked_add, |a, b| a + b);
    numbers.iter().try_fold(Number::int(0), sum)
}

/// One number divided by another: an integer where the division leaves no remainder.
pub(super) fn quotient(
    operands: &Operands<'_>,
    a: &Number,
    b: &Number,
) -> Result<Number, OperatorError> {
    not_zero(operands, b)?;
    let exact = |a: i64, b: i64| if a.checked_rem(b)? == 0 { a.checked_div(b) } else { None };
    step(operands, a, b, exact, |a, b| a / b)
}

fn not_zero(operands: &Operands<'_>, divisor: &Number) -> Result<(), OperatorError> {
    if divisor.as_f64() == 0.0 { Err(operands.error("cannot divide by zero")) } else { Ok(()) }
}

fn from_first(
    operands: &Operands<'_>,
    step: impl Fn(&Number, &Number) -> Result<Number, OperatorError>,
) -> Outcome {
    let numbers = operands.numbers()?;
    let Some((&first, others)) = numbers.split_first() else {
        return Err(operands.error("expects at least one number, but got an empty list"));
    };
    Ok(Value::Number(
        others.iter().try_fold(first.clone(), |result, operand| step(&result, operand))?,
    ))
}

/// One step on integers where both are and the result is, else on doubles.
fn step(
    operands: &Operands<'_>,
    a: &Number,
    b: &Number,
    exact: impl Fn(i64, i64) -> Option<i64>,
    double: impl Fn(f64, f64) -> f64,
) -> Result<Number, OperatorError> {
    match a.as_int().zip(b.as_int()).and_then(|(a, b)| exact(a, b)) {
        Some(integer) => Ok(Number::int(integer)),
        None => operands.finite(double(a.as_f64(), b.as_f64())),
    }
}
