//! Reads scalar values as values of a primitive type. Only this module decides which literal is a
//! value of which type, and how two of them compare.

use super::Primitive;
use super::datum::Datum;
use super::timestamp::{rfc_3339, timestamp};
use super::unit::{Measure, measure};
use super::version::Version;
use crate::tosca::v2_0;
use crate::tosca::v2_0::function::amount_and_unit;
use cuvee_text::float::parse_float;
use cuvee_text::yaml::{NodeKind, Scalar};
use jiff::Timestamp;
use num_bigint::BigInt;
use std::cmp::Ordering;

/// A scalar value of a primitive type.
#[derive(Clone, Debug)]
pub(super) enum Literal<'t> {
    Text(&'t str),
    Integer(BigInt),
    Float(f64),
    Boolean(bool),
    Timestamp(Timestamp),
    Null,
    Version(Version<'t>),
    Measure(Measure),
}

impl<'t> Literal<'t> {
    /// Reads a datum as a value of this type. Returns nothing where it is no such value, or where
    /// values of the type have parts.
    pub(super) fn read(datum: Datum<'t>, primitive: Primitive) -> Option<Self> {
        let scalar = datum.scalar()?;
        let own = Self::scalar(datum, scalar, primitive);
        own.or_else(|| Self::scalar(datum, datum.key()?, primitive))
    }

    fn scalar(datum: Datum<'t>, scalar: Scalar<'t>, primitive: Primitive) -> Option<Self> {
        match (primitive, scalar) {
            (Primitive::String, Scalar::String(text)) => Some(Self::Text(text)),
            (Primitive::Integer, Scalar::Int(value)) => Some(Self::Integer(value.into())),
            // Those of TOSCA 2.0 have 64 bits.
            (Primitive::Integer, Scalar::Float(_)) if is_of_2_0(datum) => None,
            (Primitive::Integer, Scalar::Float(_)) => past_64_bits(datum).map(Self::Integer),
            // Integers are compared exactly, because a double cannot represent all of them.
            (Primitive::Float, Scalar::Int(value)) => Some(Self::Integer(value.into())),
            (Primitive::Float, Scalar::Float(value)) => {
                Some(past_64_bits(datum).map_or(Self::Float(value), Self::Integer))
            }
            (Primitive::Boolean, Scalar::Bool(value)) => Some(Self::Boolean(value)),
            (Primitive::Timestamp, Scalar::String(text)) if is_of_2_0(datum) => {
                rfc_3339(text).map(Self::Timestamp)
            }
            (Primitive::Timestamp, Scalar::String(text)) => timestamp(text).map(Self::Timestamp),
            (Primitive::Null | Primitive::Nil, Scalar::Null) => Some(Self::Null),
            (Primitive::Version, Scalar::String(_) | Scalar::Int(_) | Scalar::Float(_)) => {
                Version::parse(datum.text()?).map(Self::Version)
            }
            (Primitive::ScalarUnit(dimension), Scalar::String(text)) => {
                measure(dimension, text).map(Self::Measure)
            }
            (Primitive::Bytes, Scalar::String(text)) if is_base64(text) => Some(Self::Text(text)),
            (Primitive::Scalar, Scalar::String(text)) => {
                amount_and_unit(text).map(|_| Self::Text(text))
            }
            _ => None,
        }
    }

    /// Orders two values of one type. Returns nothing for a NaN, for versions of different
    /// branches, and for different booleans, which have no order.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Float(b)) => nearest(a).partial_cmp(b),
            (Self::Float(a), Self::Integer(b)) => a.partial_cmp(&nearest(b)),
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

fn is_of_2_0(datum: Datum<'_>) -> bool {
    datum.node().is_some_and(|node| v2_0::is_of(node.document()))
}

/// Whether a text is base64 (TOSCA 2.0, section 9.1.1.5); it may have line breaks.
fn is_base64(text: &str) -> bool {
    let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let (mut count, mut padding) = (0_usize, 0);
    for byte in digits {
        match byte {
            b'=' => padding += 1,
            byte if is_digit(byte) && padding == 0 => {}
            _ => return false,
        }
        count += 1;
    }
    count % 4 == 0 && padding <= 2
}

/// Reads an integer that does not fit into 64 bits. Integers of more than a thousand digits are
/// rejected, because arithmetic on them is slow and no template needs them.
fn past_64_bits(datum: Datum<'_>) -> Option<BigInt> {
    const LONGEST: usize = 1000;
    let is_integer = datum.is_integer() || datum.key().is_some();
    let text = datum.text().filter(|text| is_integer && text.len() <= LONGEST)?;
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (text.get(2..)?, 16),
        Some("0o") => (text.get(2..)?, 8),
        _ => (text.strip_prefix('+').unwrap_or(text), 10),
    };
    let digit = |c: char| c.is_digit(radix);
    digits.strip_prefix('-').unwrap_or(digits).chars().all(digit).then_some(())?;
    BigInt::parse_bytes(digits.as_bytes(), radix)
}

/// The double that is nearest to an integer.
fn nearest(integer: &BigInt) -> f64 {
    let exact = i64::try_from(integer).ok().map(|integer| integer as f64);
    exact.or_else(|| parse_float(&integer.to_string())).unwrap_or(f64::NAN)
}

/// The bounds of a range. The upper one is `None` where it is `UNBOUNDED`.
pub(super) fn range(datum: Datum<'_>) -> Option<(BigInt, Option<BigInt>)> {
    if datum.kind() != NodeKind::Sequence {
        return None;
    }
    let mut bounds = datum.items();
    let (low, high) = (integer(bounds.next()?)?, bounds.next()?);
    let high = if high.is_unbounded() { None } else { Some(integer(high)?) };
    let in_order = high.as_ref().is_none_or(|high| low <= *high);
    (bounds.next().is_none() && in_order).then_some((low, high))
}

/// The datum as an integer, if it is one.
pub(super) fn integer(datum: Datum<'_>) -> Option<BigInt> {
    match Literal::read(datum, Primitive::Integer)? {
        Literal::Integer(value) => Some(value),
        _ => None,
    }
}
