//! Constraint clauses (TOSCA Simple Profile 1.3, 3.6.3).

use super::{InputType, listed, shape};
use crate::text::diagnostic::{Advice, Code, Diagnostic, did_you_mean};
use crate::text::source::Span;
use crate::text::value::Value;
use crate::text::yaml::{Node, NodeKind};
use crate::variability::operators::size;
use regex_lite::Regex;
use std::cmp::Ordering;

/// A clause that the values of an input must fulfil.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Where it is declared.
    pub span: Span,
    /// As it is written on one line: `in_range: [1, 4]`.
    pub text: String,
    operand: Value,
    kind: InputType,
    clause: Clause,
}

/// Clauses with a test on an order differ in the test alone.
#[derive(Clone, Debug)]
enum Clause {
    Equal(Value),
    Ordered(Test, Value),
    InRange(Value, Option<Value>),
    ValidValues(Vec<Value>),
    Sized(Test, usize),
    Pattern(Regex),
    Schema,
}

type Test = fn(Ordering) -> bool;

const KEYWORDS: [&str; 12] = [
    "equal",
    "greater_than",
    "greater_or_equal",
    "less_than",
    "less_or_equal",
    "in_range",
    "valid_values",
    "length",
    "min_length",
    "max_length",
    "pattern",
    "schema",
];

impl Constraint {
    /// Reads a clause on values of this type: a map with the clause's keyword as only key, or a
    /// bare value that is meant by `equal`.
    ///
    /// # Errors
    /// `invalid-input` where the clause is unknown or its operand does not fit it or the type;
    /// `invalid-template` for another shape.
    pub fn parse(node: Node<'_>, kind: InputType) -> Result<Self, Diagnostic> {
        let mut entries = node.entries();
        match (node.kind(), entries.next()) {
            (NodeKind::Scalar, _) => Self::new("equal", node.to_value(), kind, node.span()),
            (_, Some((key, operand))) if entries.len() == 0 => {
                Self::new(key.text().unwrap_or_default(), operand.to_value(), kind, key.span())
            }
            _ => Err(shape(
                node,
                "a constraint clause is a map with one key, such as `min_length: 1`",
            )),
        }
    }

    /// Makes a clause of its keyword and operand.
    ///
    /// # Errors
    /// As [`Constraint::parse`].
    pub fn new(
        keyword: &str,
        operand: Value,
        kind: InputType,
        span: Span,
    ) -> Result<Self, Diagnostic> {
        let text = format!("{keyword}: {operand}");
        match clause(keyword, operand.clone(), kind) {
            Ok(clause) => Ok(Self { span, text, operand, kind, clause }),
            Err(problem) if KEYWORDS.contains(&keyword) => Err(Diagnostic::error(
                Code::InvalidInput,
                format!("the constraint `{text}` {problem}"),
            )
            .at(span)),
            Err(problem) => {
                let help = did_you_mean(keyword, KEYWORDS).unwrap_or_else(|| {
                    format!("there are {}", listed(KEYWORDS.into_iter())).into()
                });
                Err(Diagnostic::error(Code::InvalidInput, problem).at(span).help(help))
            }
        }
    }

    /// Checks a value of the type.
    ///
    /// # Errors
    /// Says which clause the value violates.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let holds = match &self.clause {
            Clause::Equal(expected) => self.kind.equal(value, expected),
            Clause::Ordered(test, bound) => self.kind.compare(value, bound).is_some_and(test),
            Clause::InRange(low, high) => self.in_range(value, low, high.as_ref()),
            Clause::ValidValues(valid) => valid.iter().any(|valid| self.kind.equal(value, valid)),
            Clause::Sized(test, length) => size(value).is_some_and(|size| test(size.cmp(length))),
            Clause::Pattern(pattern) => value.as_str().is_some_and(|text| pattern.is_match(text)),
            Clause::Schema => true,
        };
        if holds { Ok(()) } else { Err(format!("`{value}` violates `{}`", self.text)) }
    }

    /// The values that it admits, where it lists them.
    pub fn values(&self) -> Option<&[Value]> {
        match &self.clause {
            Clause::Equal(value) => Some(std::slice::from_ref(value)),
            Clause::ValidValues(values) => Some(values),
            _ => None,
        }
    }

    /// The values at which it may begin or cease to hold, where values are ordered.
    pub fn bounds(&self) -> impl Iterator<Item = &Value> {
        let (first, second) = match &self.clause {
            Clause::Ordered(_, bound) => (Some(bound), None),
            Clause::InRange(low, high) => (Some(low), high.as_ref()),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The size that it asks for, or that it bounds.
    pub fn size(&self) -> Option<usize> {
        if let Clause::Sized(_, size) = self.clause { Some(size) } else { None }
    }

    /// The regular expression that it asks for, anchored at both ends.
    pub fn pattern(&self) -> Option<&str> {
        if let Clause::Pattern(pattern) = &self.clause { Some(pattern.as_str()) } else { None }
    }

    /// Which of the valid values somebody who gave this one may have meant.
    pub fn suggestion(&self, value: &Value) -> Option<Advice> {
        match &self.clause {
            Clause::ValidValues(valid) => {
                did_you_mean(value.as_str()?, valid.iter().filter_map(Value::as_str))
            }
            _ => None,
        }
    }

    /// The clause as a value: a map from its keyword to its operand.
    pub fn to_value(&self) -> Value {
        let keyword = self.text.split(':').next().unwrap_or_default();
        Value::Map([(keyword.into(), self.operand.clone())].into())
    }

    /// A range is in another when both its ends are.
    fn in_range(&self, value: &Value, low: &Value, high: Option<&Value>) -> bool {
        let within = |value: &Value| {
            let above = self.kind.compare(value, low).is_some_and(Ordering::is_ge);
            let below =
                high.is_none_or(|high| self.kind.compare(value, high).is_some_and(Ordering::is_le));
            above && below
        };
        match value {
            Value::List(ends) if self.kind == InputType::Range => {
                ends.iter().all(|end| within(end) || (is_unbounded(end) && high.is_none()))
            }
            value => within(value),
        }
    }
}

fn is_unbounded(value: &Value) -> bool {
    value.as_str() == Some("UNBOUNDED")
}

fn clause(keyword: &str, operand: Value, kind: InputType) -> Result<Clause, String> {
    Ok(match keyword {
        "equal" => Clause::Equal(typed(operand, kind)?),
        "greater_than" => Clause::Ordered(Ordering::is_gt, comparable(operand, kind)?),
        "greater_or_equal" => Clause::Ordered(Ordering::is_ge, comparable(operand, kind)?),
        "less_than" => Clause::Ordered(Ordering::is_lt, comparable(operand, kind)?),
        "less_or_equal" => Clause::Ordered(Ordering::is_le, comparable(operand, kind)?),
        "in_range" => range(operand, kind)?,
        "valid_values" => match operand {
            Value::List(values) => Clause::ValidValues(
                values.iter().map(|value| typed(value.clone(), kind)).collect::<Result<_, _>>()?,
            ),
            other => return Err(format!("needs a list of values, not {}", other.describe())),
        },
        "length" => Clause::Sized(Ordering::is_eq, length(&operand)?),
        "min_length" => Clause::Sized(Ordering::is_ge, length(&operand)?),
        "max_length" => Clause::Sized(Ordering::is_le, length(&operand)?),
        "pattern" => Clause::Pattern(pattern(&operand)?),
        "schema" => Clause::Schema,
        unknown => return Err(format!("`{unknown}` is no constraint clause")),
    })
}

fn typed(operand: Value, kind: InputType) -> Result<Value, String> {
    let operand = kind.read(operand);
    if kind.admits(&operand) {
        Ok(operand)
    } else {
        Err(format!("does not fit its type: `{operand}` is not {}", kind.describe()))
    }
}

fn comparable(operand: Value, kind: InputType) -> Result<Value, String> {
    let operand = typed(operand, kind)?;
    let ordered = kind.compare(&operand, &operand).is_some();
    if ordered {
        Ok(operand)
    } else {
        Err(format!("needs a value that has an order, not {}", operand.describe()))
    }
}

fn range(operand: Value, kind: InputType) -> Result<Clause, String> {
    let bound = if kind == InputType::Range { InputType::Integer } else { kind };
    match &operand {
        Value::List(bounds) => match &**bounds {
            [low, high] => {
                let low = comparable(low.clone(), bound)?;
                let high =
                    if is_unbounded(high) { None } else { Some(comparable(high.clone(), bound)?) };
                Ok(Clause::InRange(low, high))
            }
            _ => Err(format!("needs a lower and an upper bound, not {} values", bounds.len())),
        },
        other => {
            Err(format!("needs a list of a lower and an upper bound, not {}", other.describe()))
        }
    }
}

fn length(operand: &Value) -> Result<usize, String> {
    let length = match operand {
        Value::Number(number) => number.as_int().and_then(|length| usize::try_from(length).ok()),
        _ => None,
    };
    length.ok_or_else(|| "needs an integer from zero".to_owned())
}

/// A pattern that must match a whole string.
fn pattern(operand: &Value) -> Result<Regex, String> {
    let text = operand
        .as_str()
        .ok_or_else(|| format!("needs a regular expression, not {}", operand.describe()))?;
    anchored(text).map_err(|error| format!("is no regular expression: {error}"))
}

/// The regular expression that matches where this one matches a whole text.
pub(crate) fn anchored(text: &str) -> Result<Regex, regex_lite::Error> {
    // On its own first, so that an unbalanced parenthesis is not taken for one of ours.
    Regex::new(text).and_then(|_| Regex::new(&format!(r"\A(?:{text})\z")))
}
