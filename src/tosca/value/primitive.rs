//! Defines the primitive types, which need no definition in a template (section 3.3).

use super::datum::Datum;
use super::literal::Literal;
use super::unit::{Dimension, unit, units};
use cuvee_text::yaml::{NodeKind, Scalar};

/// A primitive type.
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
    /// `bytes` of TOSCA 2.0
    Bytes,
    /// `nil` of TOSCA 2.0
    Nil,
    /// `scalar-unit` of TOSCA 2.0, whose units derived types define
    Scalar,
}

impl Primitive {
    /// All primitive types, in the order of section 3.3.
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

    /// The primitive types of TOSCA 2.0 (section 9.1).
    pub const OF_2_0: [Self; 11] = [
        Self::String,
        Self::Integer,
        Self::Float,
        Self::Boolean,
        Self::Bytes,
        Self::Nil,
        Self::Timestamp,
        Self::Version,
        Self::Scalar,
        Self::List,
        Self::Map,
    ];

    /// The type with this name in a file of TOSCA 2.0. Later texts of the standard call its
    /// `scalar-unit` `scalar`, and files do so already.
    pub fn of_2_0(name: &str) -> Option<Self> {
        let name = if name == "scalar" { Self::Scalar.name() } else { name };
        Self::OF_2_0.into_iter().find(|primitive| primitive.name() == name)
    }

    /// The type with this name in any version.
    pub(crate) fn of_any_version(name: &str) -> Option<Self> {
        Self::from_name(name).or_else(|| Self::of_2_0(name))
    }

    /// The type with this short or qualified name.
    ///
    /// ```
    /// use cuvee::parts::tosca::value::Primitive;
    /// assert_eq!(Primitive::from_name("tosca:range"), Some(Primitive::Range));
    /// assert_eq!(Primitive::from_name("Port"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.strip_prefix("tosca:").unwrap_or(name);
        Self::ALL.into_iter().find(|primitive| primitive.name() == name)
    }

    /// The short name of the type.
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
            Self::Bytes => "bytes",
            Self::Nil => "nil",
            Self::Scalar => "scalar-unit",
        }
    }

    /// The values of the type, for messages.
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
            Self::Bytes => "bytes in base64",
            Self::Nil => "null",
            Self::Scalar => "a number and a unit",
        }
    }

    /// The section that defines the values of the type.
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

    /// The type of a value without a declared type. A number is a float, because an integer is a
    /// float, too.
    pub(super) fn of(datum: Datum<'_>) -> Self {
        match (datum.kind(), datum.scalar()) {
            (NodeKind::Sequence, _) => Self::List,
            (NodeKind::Mapping, _) => Self::Map,
            (_, None | Some(Scalar::Null)) => Self::Null,
            (_, Some(Scalar::Bool(_))) => Self::Boolean,
            (_, Some(Scalar::Int(_) | Scalar::Float(_))) => Self::Float,
            (_, Some(Scalar::String(_))) => Self::String,
        }
    }

    /// Whether the values of the type are ordered (section 3.6.3.1.1).
    pub fn is_comparable(self) -> bool {
        matches!(
            self,
            Self::Integer
                | Self::Float
                | Self::Timestamp
                | Self::String
                | Self::Version
                | Self::ScalarUnit(_)
                | Self::Scalar
        )
    }

    /// Advice for somebody who wrote an invalid value of the type.
    pub(super) fn advice(self, datum: Datum<'_>) -> Option<String> {
        let text = datum.written()?;
        match self {
            Self::String if datum.as_str().is_none() => {
                Some(format!("write it in quotes: `\"{text}\"`"))
            }
            Self::Integer | Self::Float | Self::Boolean | Self::Null
                if datum.as_str().is_some() && Literal::read(Datum::Key(&text), self).is_some() =>
            {
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

    /// The preferred spelling of a value's unit, if the value has it in another case, with the
    /// section that lists the unit.
    pub(super) fn better_case(self, text: &str) -> Option<(&'static str, &'static str)> {
        let Self::ScalarUnit(dimension) = self else { return None };
        let written = text.trim().trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        let (best, _) = unit(dimension, written).filter(|(best, _)| *best != written)?;
        let section = match dimension {
            Dimension::Size => "3.3.6.4.3",
            Dimension::Time => "3.3.6.5.1",
            Dimension::Frequency => "3.3.6.6.1",
            Dimension::Bitrate => "3.3.6.7.1",
        };
        Some((best, section))
    }
}
