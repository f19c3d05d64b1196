//! Implements `add`, `sub`, `mul`, `div`, `mod`. They are exact on integers, whose results have to
//! fit 64 bits. They use doubles if one of two numbers is not an integer, or if a division leaves a
//! remainder.

use super::{Operands, OperatorError, OperatorResult};
use cuvee_text::value::{Number, Value};

/// The sum of all operands; 0 if there are none.
pub(super) fn add(operands: &Operands<'_>) -> OperatorResult {
    Ok(Value::Number(total(operands, &operands.numbers()?)?))
}

/// The first operand minus the others.
pub(super) fn sub(operands: &Operands<'_>) -> OperatorResult {
    from_first(operands, |a, b| step(operands, a, b, |a, b| Some(a - b), |a, b| a - b))
}

/// The product of all operands; 1 if there are none.
pub(super) fn mul(operands: &Operands<'_>) -> OperatorResult {
    let product = |a: Number, b: &Number| step(operands, &a, b, |a, b| Some(a * b), |a, b| a * b);
    Ok(Value::Number(operands.numbers()?.into_iter().try_fold(Number::int(1), product)?))
}

/// The first operand divided by the others, one after the other.
pub(super) fn div(operands: &Operands<'_>) -> OperatorResult {
    from_first(operands, |a, b| quotient(operands, a, b))
}

/// The remainder of the first operand divided by the second, with the sign of the first.
pub(super) fn modulo(operands: &Operands<'_>) -> OperatorResult {
    let [a, b] = operands.exactly("two numbers")?;
    let (a, b) = (operands.number(a, "two numbers")?, operands.number(b, "two numbers")?);
    not_zero(operands, b)?;
    Ok(Value::Number(step(operands, a, b, |a, b| Some(a % b), |a, b| a % b)?))
}

/// The sum of these numbers.
pub(super) fn total(operands: &Operands<'_>, numbers: &[&Number]) -> Result<Number, OperatorError> {
    if let Some(total) = exact_total(numbers) {
        return integer(operands, total);
    }
    let sum = |a: Number, b: &&Number| step(operands, &a, b, |a, b| Some(a + b), |a, b| a + b);
    numbers.iter().try_fold(Number::int(0), sum)
}

/// The sum of these numbers if all are integers, whether it fits 64 bits or not.
pub(super) fn exact_total(numbers: &[&Number]) -> Option<i128> {
    numbers.iter().map(|number| number.as_int().map(i128::from)).sum()
}

/// An integer, or an error if it does not fit 64 bits.
pub(super) fn integer(operands: &Operands<'_>, integer: i128) -> Result<Number, OperatorError> {
    let fits = i64::try_from(integer).map(Number::int);
    fits.map_err(|_| {
        let error = operands.error("has a result that is too large for an integer of 64 bits");
        OperatorError { is_overflow: true, ..error }
    })
}

/// The quotient of two numbers; an integer if the division leaves no remainder.
pub(super) fn quotient(
    operands: &Operands<'_>,
    a: &Number,
    b: &Number,
) -> Result<Number, OperatorError> {
    not_zero(operands, b)?;
    step(operands, a, b, |a, b| (a % b == 0).then(|| a / b), |a, b| a / b)
}

fn not_zero(operands: &Operands<'_>, divisor: &Number) -> Result<(), OperatorError> {
    if divisor.as_f64() == 0.0 { Err(operands.error("cannot divide by zero")) } else { Ok(()) }
}

fn from_first(
    operands: &Operands<'_>,
    step: impl Fn(&Number, &Number) -> Result<Number, OperatorError>,
) -> OperatorResult {
    let numbers = operands.numbers()?;
    let Some((&first, others)) = numbers.split_first() else {
        return Err(operands.error("expects at least one number, but got an empty list"));
    };
    Ok(Value::Number(
        others.iter().try_fold(first.clone(), |result, operand| step(&result, operand))?,
    ))
}

/// Applies one step to two numbers: on integers if both operands and the result are integers, else
/// on doubles. 128 bits hold every result for two integers of 64 bits.
fn step(
    operands: &Operands<'_>,
    a: &Number,
    b: &Number,
    exact: impl Fn(i128, i128) -> Option<i128>,
    double: impl Fn(f64, f64) -> f64,
) -> Result<Number, OperatorError> {
    let integers = a.as_int().zip(b.as_int());
    match integers.and_then(|(a, b)| exact(a.into(), b.into())) {
        Some(result) => integer(operands, result),
        None => operands.finite(double(a.as_f64(), b.as_f64())),
    }
}
