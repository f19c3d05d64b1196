//! The kinds of values that the functions of TOSCA 2.0 take as arguments (section 10.2).

use super::Primitive;

/// A set of kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValueKinds(u16);

const BOOLEAN: u16 = 1;
const INTEGER: u16 = 1 << 1;
const FLOAT: u16 = 1 << 2;
const STRING: u16 = 1 << 3;
const LIST: u16 = 1 << 4;
const MAP: u16 = 1 << 5;
const TIMESTAMP: u16 = 1 << 6;
const VERSION: u16 = 1 << 7;
const SCALAR: u16 = 1 << 8;
const BYTES: u16 = 1 << 9;

const NUMBER: u16 = INTEGER | FLOAT;
/// What is written as a string.
const TEXT: u16 = STRING | TIMESTAMP | VERSION | SCALAR | BYTES;

impl ValueKinds {
    /// Of a value of which nothing is known.
    pub(crate) const ANY: Self = Self(u16::MAX);
    /// Of a string that is written, and may be read as something else.
    pub(crate) const TEXT: Self = Self(TEXT);
    /// Of maps, and of values with properties.
    pub(crate) const MAP: Self = Self(MAP);

    /// Of the values of a type. Of `nil`, nobody says what takes it.
    pub(crate) fn of(primitive: Primitive) -> Self {
        Self(match primitive {
            Primitive::Boolean => BOOLEAN,
            Primitive::Integer => INTEGER,
            Primitive::Float => FLOAT,
            Primitive::String => STRING,
            Primitive::List | Primitive::Range => LIST,
            Primitive::Map => MAP,
            Primitive::Timestamp => TIMESTAMP,
            Primitive::Version => VERSION,
            Primitive::Scalar | Primitive::ScalarUnit(_) => SCALAR,
            Primitive::Bytes => BYTES,
            Primitive::Null | Primitive::Nil => return Self::ANY,
        })
    }

    /// What an argument may be that the table of functions has as this letter, and how that is
    /// called.
    pub(crate) fn taken(letter: u8) -> (Self, &'static str) {
        let (kinds, called) = match letter {
            b'b' => (BOOLEAN, "`true` or `false`"),
            b'o' => (NUMBER | TEXT & !BYTES, "values of one type that has an order"),
            b'l' => (LIST, "a list"),
            b'c' => (LIST | MAP, "a list or a map"),
            b'm' => (MAP, "a map"),
            b's' => (TEXT, "a string"),
            b't' => (TEXT | LIST, "two strings or two lists"),
            b'z' => (TEXT | LIST | MAP, "a string, a list or a map"),
            // The standard concatenates a port, too.
            b'x' => (TEXT | NUMBER | LIST, "strings or lists"),
            // And joins a number.
            b'j' => (TEXT | NUMBER, "a list of strings"),
            b'n' => (NUMBER | SCALAR, "a number or a scalar"),
            b'f' => (NUMBER, "a number"),
            b'i' => (INTEGER, "an integer"),
            b'w' => (INTEGER | SCALAR, "an integer or a scalar"),
            _ => return (Self::ANY, "a value"),
        };
        (Self(kinds), called)
    }

    /// Whether a value may be of one of both.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether values of both may be equal, or in an order: numbers with numbers and amounts,
    /// strings with what is written as a string.
    pub(crate) fn is_comparable(self, other: Self) -> bool {
        let number = if self.0 & (NUMBER | SCALAR) != 0 { NUMBER | SCALAR } else { 0 };
        // A version without quotes reads as a number.
        let version = match self.0 {
            FLOAT => VERSION,
            VERSION => FLOAT,
            _ => 0,
        };
        let text = if self.0 & TEXT != 0 { TEXT } else { 0 };
        (self.0 | number | version | text) & other.0 != 0
    }

    /// Whether a value is a list (or an integer, a number, an amount, a string) for certain.
    pub(crate) fn is_only(self, letter: u8) -> bool {
        let (kinds, _) = Self::taken(letter);
        self.0 & !kinds.0 == 0
    }

    /// Whether a value is a scalar for certain.
    pub(crate) fn is_scalar(self) -> bool {
        self.0 == SCALAR
    }
}
