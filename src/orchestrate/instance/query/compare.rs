//! Compares values of a model with the values of a filter.

use super::parse::{Comparison, FilterTest};
use crate::tosca::v2_0::function::FormOfText;
use crate::tosca::value::{TextType, compare};
use cuvee_text::value::{Number, Value};
use cuvee_text::yaml::{Scalar, write_flow};
use std::cmp::Ordering;

impl FilterTest {
    /// Whether a value that exists passes the test. `form` is what its type makes of texts.
    pub(super) fn holds(&self, value: &Value, form: Option<&TextType>) -> bool {
        match self {
            Self::Compare(comparison, text) => comparison.holds(value, text, form),
            Self::Match(pattern) => pattern.is_match(&text_of(value)),
            Self::Missing => false,
        }
    }
}

impl Comparison {
    fn holds(self, value: &Value, text: &str, form: Option<&TextType>) -> bool {
        let order = match form {
            Some(form) => order_in(form, value, text),
            None => order(value, text),
        };
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::Unequal => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => order == Some(Ordering::Greater),
            Self::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

/// The order of a value of a type and a written one; `None` if they cannot be ordered. Another type
/// may have the same units, so nothing is guessed here.
fn order_in(form: &TextType, value: &Value, text: &str) -> Option<Ordering> {
    let own = text_of(value);
    if let Some(order) = form.order(&own, text) {
        return order;
    }
    match [&*own, text].map(|text| form.base_amount(text).map(Value::Number)) {
        [Some(own), Some(other)] => compare((&own).into(), (&other).into()),
        _ => (own == text).then_some(Ordering::Equal),
    }
}

/// The order of a value and a written one; `None` if they cannot be ordered.
fn order(value: &Value, text: &str) -> Option<Ordering> {
    if matches!(value, Value::String(_)) {
        return compare(value.into(), (&Value::from(text)).into());
    }
    let other = match Scalar::plain(text) {
        Scalar::Null => Value::Null,
        Scalar::Bool(value) => Value::Bool(value),
        Scalar::Int(value) => Value::Number(Number::int(value)),
        Scalar::Float(value) => Value::Number(Number::float(value)),
        Scalar::String(_) => Value::from(text),
    };
    compare(value.into(), (&other).into())
        .or_else(|| (text_of(value) == text).then_some(Ordering::Equal))
}

/// A value as text: a string as it is, other values as YAML in one line.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        value => write_flow(value),
    }
}
