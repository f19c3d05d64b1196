//! The types that are there without being defined (section 3.3), and the literals that they have.

use super::timestamp;
use crate::text::yaml::{Node, NodeKind, Scalar};
use crate::variability::inputs::{Dimension, Measure, measure, units};
use crate::variability::operators::Version;
use jiff::Timestamp;
use std::cmp::Ordering;

/// A type that is there without being defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// `string`
    String,
    /// `integer`
    Integer,
    /// `float`
    Float,
    /// `boolean`
    Boolean,
    /// `timestamp`
    Timestamp,
    /// `null`
    Null,
    /// `version`
    Version,
    /// `range`
    Range,
    /// `list`
    List,
    /// `map`
    Map,
    /// `scalar-unit.size`, `scalar-unit.time`, …
    ScalarUnit(Dimension),
}

impl Primitive {
    /// All of them, in the order of section 3.3.
    pub const ALL: [Self; 14] = [
        Self::String,
        Self::Integer,
        Self::Float,
        Self::Boolean,
        Self::Timestamp,
        Self::Null,
        Self::Version,
        Self::Range,
        Self::List,
        Self::Map,
        Self::ScalarUnit(Dimension::Size),
        Self::ScalarUnit(Dimension::Time),
        Self::ScalarUnit(Dimension::Frequency),
        Self::ScalarUnit(Dimension::Bitrate),
    ];

    /// The type of this name, short or qualified.
    ///
    /// ```
    /// use cuvee::tosca::value::Primitive;
    /// assert_eq!(Primitive::from_name("tosca:range"), Some(Primitive::Range));
    /// assert_eq!(Primitive::from_name("Port"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.strip_prefix("tosca:").unwrap_or(name);
        Self::ALL.into_iter().find(|primitive| primitive.name() == name)
    }

    /// The short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Boolean => "boolean",
            Self::Timestamp => "timestamp",
            Self::Null => "null",
            Self::Version => "version",
            Self::Range => "range",
            Self::List => "list",
            Self::Map => "map",
            Self::ScalarUnit(Dimension::Size) => "scalar-unit.size",
            Self::ScalarUnit(Dimension::Time) => "scalar-unit.time",
            Self::ScalarUnit(Dimension::Frequency) => "scalar-unit.frequency",
            Self::ScalarUnit(Dimension::Bitrate) => "scalar-unit.bitrate",
        }
    }

    /// What its values are, for messages.
    pub fn describe(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Float => "a number",
            Self::Boolean => "`true` or `false`",
            Self::Timestamp => "a timestamp such as `2020-02-29T12:30:00Z`",
            Self::Null => "null",
            Self::Version => "a version such as `1.2.0`",
            Self::Range => "a range such as `[1, 4]`",
            Self::List => "a list",
            Self::Map => "a map",
            Self::ScalarUnit(Dimension::Size) => "a size such as `4 GB`",
            Self::ScalarUnit(Dimension::Time) => "a time such as `10 ms`",
            Self::ScalarUnit(Dimension::Frequency) => "a frequency such as `2.4 GHz`",
            Self::ScalarUnit(Dimension::Bitrate) => "a bit rate such as `10 Mbps`",
        }
    }

    /// The section that says what its values are.
    pub fn section(self) -> &'static str {
        match self {
            Self::Version => "3.3.2",
            Self::Range => "3.3.3",
            Self::List => "3.3.4",
            Self::Map => "3.3.5",
            Self::ScalarUnit(Dimension::Size) => "3.3.6.4",
            Self::ScalarUnit(Dimension::Time) => "3.3.6.5",
            Self::ScalarUnit(Dimension::Frequency) => "3.3.6.6",
            Self::ScalarUnit(Dimension::Bitrate) => "3.3.6.7",
            _ => "3.3.1",
        }
    }

    /// Whether its values are ordered (section 3.6.3.1.1).
    pub fn is_comparable(self) -> bool {
        matches!(
            self,
            Self::Integer
                | Self::Float
                | Self::Timestamp
                | Self::String
                | Self::Version
                | Self::ScalarUnit(_)
        )
    }

    /// What somebody who wrote this as a value of the type may do.
    pub(super) fn advice(self, node: Node<'_>) -> Option<String> {
        let text = node.text()?;
        match self {
            Self::String if node.as_str().is_none() => {
                Some(format!("write it in quotes: `\"{text}\"`"))
            }
            Self::Integer | Self::Float | Self::Boolean if Literal::read_plain(text, self) => {
                Some(format!("write it without quotes: `{text}`"))
            }
            Self::ScalarUnit(dimension) => {
                let names: Vec<_> =
                    units(dimension).iter().map(|(name, _)| format!("`{name}`")).collect();
                Some(format!("write a number and one of {}", names.join(", ")))
            }
            Self::Version => {
                Some("write `<major>.<minor>[.<fix>[.<qualifier>[-<build>]]]`".to_owned())
            }
            _ => None,
        }
    }

    /// How the unit of a size is best written, where it is written in another case (section
    /// 3.3.6.4.3).
    pub(super) fn better_case(self, text: &str) -> Option<&'static str> {
        let Self::ScalarUnit(dimension @ Dimension::Size) = self else { return None };
        let unit = text.trim().trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        let (best, _) =
            units(dimension).iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
        (*best != unit).then_some(*best)
    }
}

/// A value of a type that has no parts.
#[derive(Clone, Debug)]
pub(super) enum Literal<'a> {
    Text(&'a str),
    Integer(i128),
    Float(f64),
    Boolean(bool),
    Timestamp(Timestamp),
    Null,
    Version(Version<'a>),
    Measure(Measure),
}

impl<'a> Literal<'a> {
    /// The value of this type that a node is; nothing where it is none, or where values of the type
    /// have parts.
    pub(super) fn read(node: Node<'a>, primitive: Primitive) -> Option<Self> {
        let text = node.text()?;
        match (primitive, node.scalar()?) {
            (Primitive::String, Scalar::String(text)) => Some(Self::Text(text)),
            (Primitive::Integer, Scalar::Int(value)) => Some(Self::Integer(value.into())),
            // Past 64 bits the scalar is a float, and its text is still that of an integer.
            (Primitive::Integer, Scalar::Float(_)) => text.parse().ok().map(Self::Integer),
            (Primitive::Float, Scalar::Int(value)) => Some(Self::Float(value as f64)),
            (Primitive::Float, Scalar::Float(value)) => Some(Self::Float(value)),
            (Primitive::Boolean, Scalar::Bool(value)) => Some(Self::Boolean(value)),
            (Primitive::Timestamp, Scalar::String(text)) => {
                timestamp::read(text).map(Self::Timestamp)
            }
            (Primitive::Null, Scalar::Null) => Some(Self::Null),
            (Primitive::Version, Scalar::String(_) | Scalar::Int(_) | Scalar::Float(_)) => {
                version(text).map(Self::Version)
            }
            (Primitive::ScalarUnit(dimension), Scalar::String(text)) => {
                measure(dimension, text).map(Self::Measure)
            }
            _ => None,
        }
    }

    /// Whether a text in quotes would be a value of the type without them.
    fn read_plain(text: &str, primitive: Primitive) -> bool {
        match primitive {
            Primitive::Integer => text.parse::<i128>().is_ok(),
            Primitive::Float => text.parse::<f64>().is_ok_and(f64::is_finite),
            Primitive::Boolean => matches!(text, "true" | "false"),
            _ => false,
        }
    }

    /// Orders two values of one type; nothing where one of them is no number, where versions are of
    /// different branches, and for booleans that differ, which are not ordered.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            (Self::Boolean(a), Self::Boolean(b)) => (a == b).then_some(Ordering::Equal),
            (Self::Timestamp(a), Self::Timestamp(b)) => Some(a.cmp(b)),
            (Self::Null, Self::Null) => Some(Ordering::Equal),
            (Self::Version(a), Self::Version(b)) => a.compare_in_branch(b),
            (Self::Measure(a), Self::Measure(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

/// A version; one that is zero says that there is none, so it has no qualifier (section 3.3.2.5).
fn version(text: &str) -> Option<Version<'_>> {
    let version = Version::parse(if text == "0" { "0.0" } else { text })?;
    (!version.is_zero() || !version.is_qualified()).then_some(version)
}

/// A range: its bounds, the upper one nothing where it is `UNBOUNDED`.
pub(super) fn range(node: Node<'_>) -> Option<(i128, Option<i128>)> {
    if node.kind() != NodeKind::Sequence {
        return None;
    }
    let mut bounds = node.items();
    let (low, high) = (integer(bounds.next()?)?, bounds.next()?);
    let high = if is_unbounded(high) { None } else { Some(integer(high)?) };
    (bounds.next().is_none() && high.is_none_or(|high| low <= high)).then_some((low, high))
}

pub(super) fn is_unbounded(node: Node<'_>) -> bool {
    node.as_str() == Some("UNBOUNDED")
}

fn integer(node: Node<'_>) -> Option<i128> {
    match Literal::read(node, Primitive::Integer)? {
        Literal::Integer(value) => Some(value),
        _ => None,
    }
}
