//! The types that inputs are declared with.

use super::unit::{Dimension, measure};
use crate::text::value::Value;
use crate::variability::operators::{self, instant};
use std::cmp::Ordering;

/// The type of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputType {
    /// `string`
    String,
    /// `integer`
    Integer,
    /// `float`
    Float,
    /// `number`
    Number,
    /// `boolean`
    Boolean,
    /// `list`
    List,
    /// `map`
    Map,
    /// `timestamp`
    Timestamp,
    /// `version`
    Version,
    /// `range`
    Range,
    /// `scalar-unit.size`, `scalar-unit.time`, …
    ScalarUnit(Dimension),
    /// None, or one that says nothing about its values here: they are taken as they are.
    Any,
}

impl InputType {
    /// The type of this name.
    pub fn from_name(name: &str) -> Self {
        let name = name.strip_prefix("tosca:").unwrap_or(name);
        Self::NAMED.into_iter().find(|kind| kind.name() == Some(name)).unwrap_or(Self::Any)
    }

    /// The types that have names.
    const NAMED: [Self; 14] = [
        Self::String,
        Self::Integer,
        Self::Float,
        Self::Number,
        Self::Boolean,
        Self::List,
        Self::Map,
        Self::Timestamp,
        Self::Version,
        Self::Range,
        Self::ScalarUnit(Dimension::Size),
        Self::ScalarUnit(Dimension::Time),
        Self::ScalarUnit(Dimension::Frequency),
        Self::ScalarUnit(Dimension::Bitrate),
    ];

    /// The name of the type, if it has one.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::List => "list",
            Self::Map => "map",
            Self::Timestamp => "timestamp",
            Self::Version => "version",
            Self::Range => "range",
            Self::ScalarUnit(Dimension::Size) => "scalar-unit.size",
            Self::ScalarUnit(Dimension::Time) => "scalar-unit.time",
            Self::ScalarUnit(Dimension::Frequency) => "scalar-unit.frequency",
            Self::ScalarUnit(Dimension::Bitrate) => "scalar-unit.bitrate",
            Self::Any => return None,
        })
    }

    /// What its values are, for messages: `a string`.
    pub fn describe(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Float | Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Timestamp => "an ISO 8601 date",
            Self::Version => "a version such as `1.2.0`",
            Self::Range => "a range such as `[1, 4]`",
            Self::ScalarUnit(Dimension::Size) => "a size such as `4 GB`",
            Self::ScalarUnit(Dimension::Time) => "a time such as `10 ms`",
            Self::ScalarUnit(Dimension::Frequency) => "a frequency such as `2 GHz`",
            Self::ScalarUnit(Dimension::Bitrate) => "a bit rate such as `10 Mbps`",
            Self::Any => "a value",
        }
    }

    /// The value as this type has it: a version stays the text it was written as, though `1.10`
    /// also reads as a number.
    pub fn read(self, value: Value) -> Value {
        match (self, &value) {
            (Self::Version, Value::Number(number)) => Value::from(number.to_string()),
            _ => value,
        }
    }

    /// Whether this is a value of the type.
    pub fn admits(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Any, _)
            | (Self::String, Value::String(_))
            | (Self::Float | Self::Number, Value::Number(_))
            | (Self::Boolean, Value::Bool(_))
            | (Self::List, Value::List(_))
            | (Self::Map, Value::Map(_)) => true,
            (Self::Integer, Value::Number(number)) => number.as_int().is_some(),
            (Self::Timestamp, value) => instant(value).is_some(),
            (Self::Version, Value::String(text)) => operators::is_version(text),
            (Self::Range, Value::List(bounds)) => is_range(bounds),
            (Self::ScalarUnit(dimension), Value::String(text)) => {
                measure(dimension, text).is_some()
            }
            _ => false,
        }
    }

    /// Orders two values of the type; nothing where it has no order.
    pub fn compare(self, a: &Value, b: &Value) -> Option<Ordering> {
        match self {
            Self::Timestamp => Some(instant(a)?.cmp(&instant(b)?)),
            Self::ScalarUnit(dimension) => {
                measure(dimension, a.as_str()?)?.partial_cmp(&measure(dimension, b.as_str()?)?)
            }
            _ => operators::compare(a, b),
        }
    }

    /// Whether two values of the type are equal: `1 GB` is `1000 MB`.
    pub fn equal(self, a: &Value, b: &Value) -> bool {
        match self {
            Self::Timestamp | Self::Version | Self::ScalarUnit(_) => {
                self.compare(a, b) == Some(Ordering::Equal)
            }
            _ => a == b,
        }
    }
}

fn is_range(bounds: &[Value]) -> bool {
    let [Value::Number(low), high] = bounds else { return false };
    match (low.as_int(), high) {
        (Some(low), Value::Number(high)) => high.as_int().is_some_and(|high| low <= high),
        (Some(_), Value::String(word)) => &**word == "UNBOUNDED",
        _ => false,
    }
}
