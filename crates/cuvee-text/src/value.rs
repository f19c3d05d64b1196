//! Represents the values of inputs and expressions.

use super::float::parse_float;
use std::fmt;
use std::sync::Arc;

/// A number. It keeps the text it was written as, if it was written.
#[derive(Clone, Debug)]
pub struct Number {
    repr: Repr,
    text: Option<Arc<str>>,
    notation: Notation,
}

/// How a number was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notation {
    /// The number was computed. It is an integer if its value is one.
    Computed,
    /// The number was written as an integer. Beyond 64 bits its value is a double.
    Integer,
    /// The number was written with a point or an exponent.
    Float,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Repr {
    Int(i64),
    Float(f64),
}

impl Number {
    /// Creates an integer.
    pub fn int(value: i64) -> Self {
        Self { repr: Repr::Int(value), text: None, notation: Notation::Computed }
    }

    /// Creates a number. If it has no fraction and an integer holds it exactly, it becomes an
    /// integer.
    pub fn float(value: f64) -> Self {
        // Up to 2^53, every integer has a double of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let repr = if value.fract() == 0.0 && value.abs() <= EXACT {
            Repr::Int(value as i64)
        } else {
            Repr::Float(value)
        };
        Self { repr, text: None, notation: Notation::Computed }
    }

    /// The same number, which is written as `text`.
    pub fn with_text(mut self, text: impl Into<Arc<str>>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// The same number, marked as written as an integer or not. `5.0` is not written as an integer,
    /// whatever its value.
    pub fn written_as_integer(mut self, integer: bool) -> Self {
        self.notation = if integer { Notation::Integer } else { Notation::Float };
        self
    }

    /// Whether the number is an integer: by how it was written, or by its value if it was computed.
    pub fn is_integer(&self) -> bool {
        match self.notation {
            Notation::Computed => self.as_int().is_some(),
            notation => notation == Notation::Integer,
        }
    }

    /// The value as an integer, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self.repr {
            Repr::Int(value) => Some(value),
            Repr::Float(_) => None,
        }
    }

    /// The value as a double.
    pub fn as_f64(&self) -> f64 {
        match self.repr {
            Repr::Int(value) => value as f64,
            Repr::Float(value) => value,
        }
    }

    /// The text that the number was written as, if any.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Whether the number was written as an integer that does not fit into 64 bits.
    pub fn is_beyond_64_bits(&self) -> bool {
        self.notation == Notation::Integer && self.as_int().is_none()
    }

    /// The text that stands for the number in JSON, which has no such number, or whose readers take
    /// another one for it.
    fn text_in_json(&self) -> Option<String> {
        let is_told = self.as_f64().is_finite() && !self.is_beyond_64_bits();
        (!is_told).then(|| self.to_string())
    }

    /// Whether JSON has the number, but not all of its digits: `1.10` is `1.1` there.
    fn loses_digits(&self) -> bool {
        let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'.';
        let text = self.text().filter(|text| text.contains('.') && text.bytes().all(is_digit));
        text.is_some_and(|text| Self::float(self.as_f64()).to_string() != text)
    }

    /// The number that a text stands for in JSON.
    fn of_text_in_json(text: &str) -> Option<Self> {
        let value = number_in(text)?;
        let is_decimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-'));
        let is_integer = is_decimal || text.starts_with("0x") || text.starts_with("0o");
        let number = Self::float(value).with_text(text).written_as_integer(is_integer);
        (number.text_in_json().is_some() || number.loses_digits()).then_some(number)
    }
}

/// The number that a text is in YAML, as far as JSON may lack it: an integer or not finite.
fn number_in(text: &str) -> Option<f64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let with_base = |base: u32| {
        let mut digits = digits.chars().skip(2).map(|digit| digit.to_digit(base));
        digits.try_fold(0.0, |sum, digit| Some(sum * f64::from(base) + f64::from(digit?)))
    };
    let value = match digits {
        ".inf" | ".Inf" | ".INF" => f64::INFINITY,
        ".nan" | ".NaN" | ".NAN" => f64::NAN,
        _ if digits.starts_with("0x") => with_base(16)?,
        _ if digits.starts_with("0o") => with_base(8)?,
        _ => parse_float(digits)?,
    };
    Some(sign * value)
}

/// The key of a number in JSON that JSON does not have.
pub const NUMBER: &str = "$number";

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self.repr, other.repr) {
            (Repr::Int(a), Repr::Int(b)) => a == b,
            // Doubles are the same for many integers of more than 64 bits.
            (Repr::Float(_), Repr::Float(_))
                if self.is_beyond_64_bits() && other.is_beyond_64_bits() =>
            {
                digits(self) == digits(other)
            }
            (Repr::Int(_), Repr::Float(_)) if other.is_beyond_64_bits() => false,
            (Repr::Float(_), Repr::Int(_)) if self.is_beyond_64_bits() => false,
            // A value is what it is, even if it is no number.
            (Repr::Float(a), Repr::Float(b)) if a.is_nan() && b.is_nan() => true,
            _ => self.as_f64() == other.as_f64(),
        }
    }
}

/// The sign and the digits of a written integer.
fn digits(number: &Number) -> (bool, &str) {
    let text = number.text().unwrap_or_default();
    let digits = text.trim_start_matches(['+', '-']).trim_start_matches('0');
    (text.starts_with('-'), digits)
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.text, self.repr) {
            (Some(text), _) => f.write_str(text),
            (None, Repr::Int(value)) => write!(f, "{value}"),
            (None, Repr::Float(value)) if value.is_nan() => f.write_str(".nan"),
            (None, Repr::Float(value)) if value.is_infinite() => {
                f.write_str(if value > 0.0 { ".inf" } else { "-.inf" })
            }
            (None, Repr::Float(value)) => write!(f, "{value}"),
        }
    }
}

/// A value of an input or an expression. Values of different types are never equal: `1` is not
/// `"1"`. The order of map entries does not matter for equality.
#[derive(Clone, Debug)]
pub enum Value {
    /// The value `null`.
    Null,
    /// The value `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Arc<str>),
    /// A list.
    List(Arc<[Value]>),
    /// A map with string keys, in the order in which it was written.
    Map(Arc<[(Arc<str>, Value)]>),
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Map(a), Self::Map(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, value)| b.iter().any(|(k, v)| k == key && v == value))
            }
            _ => false,
        }
    }
}

/// The decision about a part of a value in [`Value::replaced`].
pub enum ReplacedPart {
    /// The part stays as it is.
    Stays,
    /// The part is replaced by this value.
    By(Value),
    /// The parts of this part are examined.
    Within,
}

impl Value {
    /// Replaces parts of the value. `replaced` gets each part before the parts in it. `None` where
    /// nothing is replaced.
    pub fn replaced(&self, replaced: &mut dyn FnMut(&Self) -> ReplacedPart) -> Option<Self> {
        match replaced(self) {
            ReplacedPart::Stays => return None,
            ReplacedPart::By(other) => return Some(other),
            ReplacedPart::Within => {}
        }
        self.with_parts(&mut |_, part| part.replaced(replaced))
    }

    /// Replaces items of a list and entries of a map. `new` gets each, with the key of an entry.
    /// `None` where nothing is replaced.
    ///
    /// ```
    /// use cuvee_text::value::Value;
    /// let sizes = Value::from(vec![1.into(), 2.into()]);
    /// let doubled = sizes.with_parts(&mut |_, size| (*size == 2.into()).then(|| 4.into()));
    /// assert_eq!(doubled, Some(vec![1.into(), 4.into()].into()));
    /// ```
    pub fn with_parts(
        &self,
        new: &mut dyn FnMut(Option<&str>, &Self) -> Option<Self>,
    ) -> Option<Self> {
        let is_some = |new: &[Option<Self>]| new.iter().any(Option::is_some);
        let either = |new: Option<Self>, old: &Self| new.unwrap_or_else(|| old.clone());
        match self {
            Self::List(items) => {
                let new: Vec<_> = items.iter().map(|item| new(None, item)).collect();
                is_some(&new).then(|| {
                    let both = new.into_iter().zip(&**items);
                    Self::List(both.map(|(new, old)| either(new, old)).collect())
                })
            }
            Self::Map(entries) => {
                let new: Vec<_> = entries.iter().map(|(key, it)| new(Some(key), it)).collect();
                is_some(&new).then(|| {
                    let both = new.into_iter().zip(&**entries);
                    Self::Map(
                        both.map(|(new, (key, old))| (Arc::clone(key), either(new, old))).collect(),
                    )
                })
            }
            _ => None,
        }
    }

    /// The value with all digits of its numbers, also where JSON has it: as `{"$number": "1.10"}`.
    /// `None` where it loses none.
    pub fn with_digits(&self) -> Option<Self> {
        self.replaced(&mut |part| match part {
            Self::Number(number) if number.loses_digits() => {
                let text = Self::from(number.to_string());
                ReplacedPart::By(Self::Map([(NUMBER.into(), text)].into()))
            }
            _ => ReplacedPart::Within,
        })
    }

    /// The kind of the value for messages, such as `a string`.
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    /// The text, if the value is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The approximate number of bytes needed to write the value. Counting stops when the number
    /// passes `limit`, because shared parts may occur in the value many times.
    pub fn bytes_up_to(&self, limit: usize) -> usize {
        let mut bytes = 0;
        let mut rest = vec![self];
        while let Some(value) = rest.pop() {
            bytes += 1;
            match value {
                Self::String(text) => bytes += text.len(),
                Self::List(items) => rest.extend(items.iter()),
                Self::Map(entries) => rest.extend(entries.iter().map(|(key, value)| {
                    bytes += key.len();
                    value
                })),
                _ => {}
            }
            if bytes > limit {
                break;
            }
        }
        bytes
    }

    /// Whether the value of a feature counts as true. `null`, `false` and `0` are false, all others
    /// are true.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => *value,
            Self::Number(number) => number.as_f64() != 0.0,
            _ => true,
        }
    }
}

/// Describes a value in a message: its type, and its text if that is short.
pub fn quote(value: &Value) -> String {
    match value {
        Value::Null | Value::List(_) | Value::Map(_) => value.describe().to_owned(),
        scalar => {
            let text = scalar.to_string();
            let cut = text.char_indices().nth(40).map_or(text.len(), |(at, _)| at);
            let dots = if cut < text.len() { "…" } else { "" };
            format!("{} `{}{dots}`", scalar.describe(), text.get(..cut).unwrap_or_default())
        }
    }
}

/// Writes the value in one line, similar to YAML's flow style. Strings have no quotes.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::String(text) => f.write_str(text),
            Self::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Map(entries) => {
                f.write_str("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Number(Number::int(value))
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::from(i64::from(value))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Number(Number::float(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::String(value.into())
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::List(items.into())
    }
}

/// JSON has neither `.inf` nor `.nan`, and its readers take integers of more than 64 bits for
/// doubles. These are written as `{"$number": ".inf"}`, and read again, as is what
/// [`Value::with_digits`] gives.
impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => match (number.text_in_json(), number.repr) {
                (Some(text), _) => serializer.collect_map([(NUMBER, text)]),
                (None, Repr::Int(value)) => serializer.serialize_i64(value),
                (None, Repr::Float(value)) => serializer.serialize_f64(value),
            },
            Self::String(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items.iter()),
            Self::Map(entries) => {
                serializer.collect_map(entries.iter().map(|(key, value)| (&**key, value)))
            }
        }
    }
}

impl<'de> serde::Deserialize<'de> for Value {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

/// Builds values from deserialised data such as JSON.
struct ValueVisitor;

impl<'de> serde::de::Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or_else(|_| Value::from(value as f64), Value::from))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list.into()))
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some((key, value)) = entries.next_entry::<std::borrow::Cow<'de, str>, _>()? {
            map.push((Arc::from(&*key), value));
        }
        if let [(name, Value::String(text))] = &*map
            && &**name == NUMBER
            && let Some(number) = Number::of_text_in_json(text)
        {
            return Ok(Value::Number(number));
        }
        Ok(Value::Map(map.into()))
    }
}
