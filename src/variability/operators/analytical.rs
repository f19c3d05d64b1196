//! Implements `sum`, `count`, …, `standard_deviation`, and the regressions.
//!
//! A regression rounds its coefficients to two decimals before it predicts. The prediction is thus
//! that of the equation in its printed form.

use super::{Operands, OperatorError, OperatorResult, arithmetic};
use cuvee_text::value::{Number, Value};
use std::cmp::Ordering;

/// The sum, which is exact for integers and rounded otherwise; 0 if there are no numbers.
pub(super) fn sum(operands: &Operands<'_>) -> OperatorResult {
    let total = arithmetic::total(operands, &operands.numbers()?)?;
    if total.as_int().is_some() {
        Ok(Value::Number(total))
    } else {
        rounded(operands, total.as_f64())
    }
}

/// The number of items, whatever their types.
pub(super) fn count(operands: &Operands<'_>) -> OperatorResult {
    Ok(Value::Number(Number::int(operands.list()?.len() as i64)))
}

pub(super) fn min(operands: &Operands<'_>) -> OperatorResult {
    extreme(operands, Ordering::Less)
}

pub(super) fn max(operands: &Operands<'_>) -> OperatorResult {
    extreme(operands, Ordering::Greater)
}

pub(super) fn mean(operands: &Operands<'_>) -> OperatorResult {
    let numbers = some_numbers(operands)?;
    rounded(operands, average(operands, &numbers)?)
}

/// The middle of the sorted numbers, or the mean of the two middle numbers.
pub(super) fn median(operands: &Operands<'_>) -> OperatorResult {
    let mut numbers = some_numbers(operands)?;
    numbers.sort_by(|a, b| order(a, b));
    let middle = numbers.len() / 2;
    match numbers.get(middle.saturating_sub(1)..=middle) {
        Some(pair) if numbers.len() % 2 == 0 => {
            if let Some(total) = arithmetic::exact_total(pair).filter(|total| total % 2 == 0) {
                return Ok(Value::Number(arithmetic::integer(operands, total / 2)?));
            }
            let total = Number::float(pair.iter().map(|number| number.as_f64()).sum());
            Ok(Value::Number(arithmetic::quotient(operands, &total, &Number::int(2))?))
        }
        Some([.., number]) => Ok(Value::Number((*number).clone())),
        _ => Err(operands.error("has no middle")),
    }
}

pub(super) fn variance(operands: &Operands<'_>) -> OperatorResult {
    rounded(operands, spread(operands)?)
}

pub(super) fn standard_deviation(operands: &Operands<'_>) -> OperatorResult {
    rounded(operands, spread(operands)?.sqrt())
}

/// `y = a + b x`, least squares.
pub(super) fn linear_regression(operands: &Operands<'_>) -> OperatorResult {
    let [points, x] = operands.exactly("a list of points and a number")?;
    on_line(operands, &points_of(operands, points)?, coordinate(operands, x)?)
}

/// `y = a + b ln x`, least squares.
pub(super) fn logarithmic_regression(operands: &Operands<'_>) -> OperatorResult {
    let [points, x] = operands.exactly("a list of points and a number")?;
    let ln = |x: f64| {
        if x > 0.0 {
            Ok(x.ln())
        } else {
            Err(operands.error(format!("needs an x above zero, but got {x}")))
        }
    };
    let mut points = points_of(operands, points)?;
    for point in &mut points {
        point.x = ln(point.x)?;
    }
    on_line(operands, &points, ln(coordinate(operands, x)?)?)
}

/// `y = a + b x + c x² + …` up to an order, least squares.
pub(super) fn polynomial_regression(operands: &Operands<'_>) -> OperatorResult {
    // A higher order is not determined by real data, and the cost grows with its square.
    const MAX_ORDER: usize = 32;
    let [points, order, x] = operands.exactly("a list of points, an order and a number")?;
    let expected = "an integer from 0 to 32 as order";
    let degree = operands.index(order, expected)?;
    if degree > MAX_ORDER {
        return Err(operands.expected(expected, order));
    }
    let (fitted, x) =
        (fit(operands, &points_of(operands, points)?, degree)?, coordinate(operands, x)?);
    let coefficients = fitted
        .into_iter()
        .map(|coefficient| coefficient.rounded(operands))
        .collect::<Result<Vec<_>, _>>()?;
    rounded(
        operands,
        coefficients.iter().rev().fold(0.0, |value, coefficient| value * x + coefficient),
    )
}

/// `y = a e^(b x)`, least squares on `ln y`; weighted by `y`, so that small values do not outweigh
/// large ones.
pub(super) fn exponential_regression(operands: &Operands<'_>) -> OperatorResult {
    let [points, x] = operands.exactly("a list of points and a number")?;
    let (mut points, x) = (points_of(operands, points)?, coordinate(operands, x)?);
    for point in &mut points {
        if point.y <= 0.0 {
            return Err(operands.error(format!("needs every y above zero, but got {}", point.y)));
        }
        (point.weight, point.y) = (point.y, point.y.ln());
    }
    let [ln_a, b] = fit_line(operands, &points)?;
    let a = Estimate { value: ln_a.value.exp(), error: ln_a.value.exp() * ln_a.error };
    rounded(operands, a.rounded(operands)? * (b.rounded(operands)? * x).exp())
}

fn rounded(operands: &Operands<'_>, value: f64) -> OperatorResult {
    Ok(Value::Number(operands.finite(two_decimals(value))?))
}

fn two_decimals(value: f64) -> f64 {
    // From 2^46 on, a double has no two decimals that could be rounded.
    const COARSE: f64 = 70_368_744_177_664.0;
    if value.abs() < COARSE { (value * 100.0).round() / 100.0 } else { value }
}

fn some_numbers<'a>(operands: &Operands<'a>) -> Result<Vec<&'a Number>, OperatorError> {
    let numbers = operands.numbers()?;
    if numbers.is_empty() {
        Err(operands.error("expects at least one number, but got an empty list"))
    } else {
        Ok(numbers)
    }
}

fn order(a: &Number, b: &Number) -> Ordering {
    match (a.as_int(), b.as_int()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.as_f64().total_cmp(&b.as_f64()),
    }
}

/// The first number that no other number beats, in its original notation.
fn extreme(operands: &Operands<'_>, better: Ordering) -> OperatorResult {
    let numbers = some_numbers(operands)?;
    let best = numbers
        .into_iter()
        .reduce(|best, next| if order(next, best) == better { next } else { best });
    best.map(|number| Value::Number(number.clone()))
        .ok_or_else(|| operands.error("expects at least one number"))
}

fn average(operands: &Operands<'_>, numbers: &[&Number]) -> Result<f64, OperatorError> {
    let total = match arithmetic::exact_total(numbers) {
        Some(total) => total as f64,
        None => arithmetic::total(operands, numbers)?.as_f64(),
    };
    Ok(total / numbers.len() as f64)
}

/// The variance of the numbers as a population.
fn spread(operands: &Operands<'_>) -> Result<f64, OperatorError> {
    let numbers = some_numbers(operands)?;
    let mean = average(operands, &numbers)?;
    Ok(numbers.iter().map(|number| (number.as_f64() - mean).powi(2)).sum::<f64>()
        / numbers.len() as f64)
}

struct DataPoint {
    x: f64,
    y: f64,
    weight: f64,
}

/// A coefficient with a bound on its rounding error.
#[derive(Clone, Copy)]
struct Estimate {
    value: f64,
    error: f64,
}

impl Estimate {
    /// Rounds to two decimals, unless the rounding error is too large for that.
    fn rounded(self, operands: &Operands<'_>) -> Result<f64, OperatorError> {
        let reliable = self.error <= 0.005 + 1e-9 * self.value.abs();
        if reliable { Ok(two_decimals(self.value)) } else { Err(ill_conditioned(operands)) }
    }
}

fn points_of(operands: &Operands<'_>, points: &Value) -> Result<Vec<DataPoint>, OperatorError> {
    const EXPECTED: &str = "points, each a list of two numbers";
    let items = match points {
        Value::List(items) => items.iter(),
        other => return Err(operands.expected(EXPECTED, other)),
    };
    let point = |item: &Value| match item {
        Value::List(pair) => match &**pair {
            [x, y] => Ok(DataPoint {
                x: coordinate(operands, x)?,
                y: coordinate(operands, y)?,
                weight: 1.0,
            }),
            _ => {
                Err(operands.error(format!("expects {EXPECTED}, but got a list of {}", pair.len())))
            }
        },
        other => Err(operands.expected(EXPECTED, other)),
    };
    items.map(point).collect()
}

fn coordinate(operands: &Operands<'_>, value: &Value) -> Result<f64, OperatorError> {
    match value {
        Value::Number(number) if number.as_f64().is_finite() => Ok(number.as_f64()),
        other => Err(operands.expected("finite numbers", other)),
    }
}

fn ill_conditioned(operands: &Operands<'_>) -> OperatorError {
    operands.error("is ill-conditioned: the points determine no reliable curve; use more distinct points, or a lower order")
}

/// The value of the least squares line at `x`; its intercept is computed from the rounded slope.
fn on_line(operands: &Operands<'_>, points: &[DataPoint], x: f64) -> OperatorResult {
    let [_, slope] = fit_line(operands, points)?;
    let slope = slope.rounded(operands)?;
    let mean =
        |term: fn(&DataPoint) -> f64| points.iter().map(term).sum::<f64>() / points.len() as f64;
    let (mean_x, mean_y) = (mean(|point| point.x), mean(|point| point.y));
    let error = points.len() as f64 * f64::EPSILON * (mean_y.abs() + (slope * mean_x).abs());
    let intercept = Estimate { value: mean_y - slope * mean_x, error }.rounded(operands)?;
    rounded(operands, intercept + slope * x)
}

fn fit_line(operands: &Operands<'_>, points: &[DataPoint]) -> Result<[Estimate; 2], OperatorError> {
    fit(operands, points, 1)?.try_into().map_err(|_| ill_conditioned(operands))
}

/// The coefficients of the weighted least squares polynomial of a degree, the constant first.
///
/// Its basis consists of polynomials that are orthonormal over the points. Each is made from the
/// one before times `t`, where `t` is `x` centred and scaled to -1…1. That is the QR decomposition
/// of the Vandermonde matrix, without forming that matrix, whose columns are nearly parallel.
fn fit(
    operands: &Operands<'_>,
    points: &[DataPoint],
    degree: usize,
) -> Result<Vec<Estimate>, OperatorError> {
    let (low, high) = points
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p.x), high.max(p.x)));
    let (centre, half) = (low / 2.0 + high / 2.0, high / 2.0 - low / 2.0);
    let distinct = half > 1e-12 * low.abs().max(high.abs());
    if points.len() <= degree || (degree > 0 && !distinct) {
        return Err(ill_conditioned(operands));
    }
    let half = if distinct { half } else { 1.0 };
    let t: Vec<f64> = points.iter().map(|point| (point.x - centre) / half).collect();
    let heaviest = points.iter().fold(0.0, |weight: f64, point| weight.max(point.weight));
    let weights: Vec<f64> = points.iter().map(|point| (point.weight / heaviest).sqrt()).collect();
    let y: Vec<f64> = points.iter().zip(&weights).map(|(point, weight)| point.y * weight).collect();

    let mut basis: Vec<BasisPolynomial> = Vec::with_capacity(degree + 1);
    for _ in 0..=degree {
        let next = basis
            .last()
            .map_or_else(|| BasisPolynomial::constant(&weights, degree), |last| last.times(&t));
        basis.push(next.orthonormal_to(&basis).ok_or_else(|| ill_conditioned(operands))?);
    }
    let unit = 4.0 * f64::EPSILON * (degree + 1) as f64;
    let length = dot(&y, &y).sqrt();
    let mut in_t = vec![Estimate { value: 0.0, error: 0.0 }; degree + 1];
    for q in &basis {
        let along = dot(&q.at_points, &y);
        for (sum, coefficient) in in_t.iter_mut().zip(&q.coefficients) {
            sum.value += along * coefficient;
            sum.error += unit * length * coefficient.abs();
        }
    }
    Ok(in_x(&in_t, centre / half, half, unit))
}

/// Converts a polynomial in `t = x / half - shift` to one in `x`, by Horner's scheme.
fn in_x(in_t: &[Estimate], shift: f64, half: f64, unit: f64) -> Vec<Estimate> {
    let mut result: Vec<Estimate> = Vec::with_capacity(in_t.len());
    for &coefficient in in_t.iter().rev() {
        result.insert(0, Estimate { value: 0.0, error: 0.0 });
        for power in 0..result.len() {
            let up = result.get(power + 1).copied().unwrap_or(Estimate { value: 0.0, error: 0.0 });
            if let Some(own) = result.get_mut(power) {
                let (taken, kept) = (shift * up.value, own.value / half);
                let error =
                    own.error / half + shift.abs() * up.error + unit * (taken.abs() + kept.abs());
                *own = Estimate { value: kept - taken, error };
            }
        }
        if let Some(constant) = result.first_mut() {
            constant.value += coefficient.value;
            constant.error += coefficient.error + unit * coefficient.value.abs();
        }
    }
    result
}

/// A polynomial in `t`: its (weighted) values at the points, and its coefficients, the constant
/// first.
struct BasisPolynomial {
    at_points: Vec<f64>,
    coefficients: Vec<f64>,
}

impl BasisPolynomial {
    fn constant(weights: &[f64], degree: usize) -> Self {
        let mut coefficients = vec![0.0; degree + 1];
        coefficients.iter_mut().take(1).for_each(|constant| *constant = 1.0);
        Self { at_points: weights.to_vec(), coefficients }
    }

    fn times(&self, t: &[f64]) -> Self {
        let mut coefficients = self.coefficients.clone();
        coefficients.rotate_right(1);
        Self { at_points: zip(&self.at_points, t, |value, t| value * t), coefficients }
    }

    /// The component of this column that is orthogonal to the others, normalised to length one.
    /// `None` if the points cannot distinguish the column from the others.
    fn orthonormal_to(mut self, basis: &[Self]) -> Option<Self> {
        let before = dot(&self.at_points, &self.at_points).sqrt();
        // Two passes are needed, because the first leaves rounding errors in the direction of the
        // others.
        for q in basis.iter().chain(basis) {
            let along = dot(&q.at_points, &self.at_points);
            self.at_points = zip(&self.at_points, &q.at_points, |own, other| own - along * other);
            self.coefficients =
                zip(&self.coefficients, &q.coefficients, |own, other| own - along * other);
        }
        let length = dot(&self.at_points, &self.at_points).sqrt();
        if length <= 1e-10 * before {
            return None;
        }
        self.at_points.iter_mut().chain(&mut self.coefficients).for_each(|value| *value /= length);
        Some(self)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn zip(a: &[f64], b: &[f64], combine: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    a.iter().zip(b).map(|(&a, &b)| combine(a, b)).collect()
}
