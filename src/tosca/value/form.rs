//! Says what the types of TOSCA 2.0 make of values that are written as texts: versions, timestamps,
//! bytes and scalars.

use super::check::{TypedSchema, ValueChecker};
use super::timestamp::rfc_3339;
use super::unit::{measure, units};
use super::validation::{UnitSize, amount};
use super::version::{Version, is_version};
use super::{DataTypes, Dimension, Primitive, PropertyDefinition, Schema};
use crate::tosca::v2_0::function::{FormOfText, PlainText};
use cuvee_text::value::{Number, Value};
use std::cmp::Ordering;

/// What the type of values, or of the entries of lists and maps, makes of texts. Through lists, and
/// through maps of texts, it stays the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextType {
    Version,
    Timestamp,
    Bytes,
    /// Scalars with these units, and whether their numbers are integers.
    Scalar(Vec<UnitSize>, bool),
    /// Amounts of version 1.3, whose units may be written in any case.
    Amount(Dimension),
    /// Structures whose properties are of such types.
    Structure(Vec<(String, Self)>),
    /// Maps of structures.
    Map(Box<Self>),
}

/// How deep lists, maps and structures may contain each other.
const DEPTH: usize = 16;

/// How many properties a structure may have, with those of structures in it.
const PROPERTIES: usize = 256;

impl TextType {
    /// That of a part of values of a schema.
    pub(crate) fn of_part<'t, 'a>(
        schema: &'t Schema<'t>,
        path: &[String],
        types: &'t dyn DataTypes<'a>,
    ) -> Option<Self> {
        let checker = ValueChecker::new(types);
        let kind = checker.part(schema, path)?;
        Self::within(&checker, &kind, DEPTH, &mut 0)
    }

    /// That of values of a type, which may be a list, a map or a structure.
    fn within<'t>(
        checker: &ValueChecker<'t, '_>,
        kind: &TypedSchema<'t>,
        depth: usize,
        read: &mut usize,
    ) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        match kind.base {
            Some(Primitive::List | Primitive::Map) => {
                let entry = checker.kind(kind.entry_schema()?);
                let entry = Self::within(checker, &entry, depth, read)?;
                let is_nested = matches!(entry, Self::Structure(_) | Self::Map(_));
                let is_map = kind.base == Some(Primitive::Map);
                Some(if is_map && is_nested { Self::Map(Box::new(entry)) } else { entry })
            }
            Some(_) => Self::of(kind),
            None => {
                let properties = kind.data_type?.properties;
                *read += properties.len();
                if *read > PROPERTIES {
                    return None;
                }
                let form = |property: &&'t PropertyDefinition<'t>| {
                    let kind = checker.kind(property.expected()?);
                    let form = Self::within(checker, &kind, depth, read)?;
                    Some((property.named.name.to_owned(), form))
                };
                let forms: Vec<_> = properties.iter().filter_map(form).collect();
                (!forms.is_empty()).then_some(Self::Structure(forms))
            }
        }
    }

    /// That of a part at the end of a path. Items of lists have the same.
    pub(crate) fn at(&self, path: &[String]) -> Option<&Self> {
        path.iter().try_fold(self, |form, step| {
            let is_position = step.bytes().all(|byte| byte.is_ascii_digit());
            form.entry(step).or_else(|| is_position.then_some(form))
        })
    }

    /// That of an entry of a map, or of a property of a structure.
    fn entry(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(entry) => Some(&**entry),
            Self::Structure(properties) => {
                properties.iter().find(|(name, _)| name == key).map(|(_, form)| form)
            }
            own => Some(own),
        }
    }

    /// A value with texts in place of unquoted versions; `None` where it has none.
    pub(crate) fn with_versions(&self, value: &Value) -> Option<Value> {
        match value {
            Value::Number(number) => self.is_text(number).then(|| number.to_string().into()),
            _ => value.with_parts(&mut |key, part| match key {
                Some(key) => self.entry(key)?.with_versions(part),
                None => self.with_versions(part),
            }),
        }
    }

    pub(super) fn of(kind: &TypedSchema<'_>) -> Option<Self> {
        match kind.base? {
            Primitive::Version => Some(Self::Version),
            Primitive::Timestamp => Some(Self::Timestamp),
            Primitive::Bytes => Some(Self::Bytes),
            Primitive::Scalar => {
                let data_type = kind.data_type?;
                let are_integers = data_type.numbers.are_integers;
                Some(Self::Scalar(data_type.units.to_vec(), are_integers))
            }
            Primitive::ScalarUnit(dimension) => Some(Self::Amount(dimension)),
            _ => None,
        }
    }
}

/// What a data type gives a part of values of a schema that nothing assigns.
pub(crate) fn default_of_part<'t, 'a>(
    schema: &'t Schema<'t>,
    path: &[String],
    types: &'t dyn DataTypes<'a>,
) -> Option<Value> {
    let (name, outer) = path.split_last()?;
    let definition = ValueChecker::new(types).part(schema, outer)?.property(name)?;
    Some(definition.value.or(definition.default)?.to_value())
}

impl<'t> ValueChecker<'t, '_> {
    /// The schema and type of a part of values.
    fn part(&self, schema: &'t Schema<'t>, path: &[String]) -> Option<TypedSchema<'t>> {
        let mut kind = self.kind(schema);
        for step in path {
            kind = self.kind(kind.part(step)?);
        }
        Some(kind)
    }
}

impl FormOfText for TextType {
    fn order(&self, one: &str, other: &str) -> Option<Option<Ordering>> {
        match self {
            Self::Version => {
                let (one, other) = (Version::parse(one)?, Version::parse(other)?);
                Some(one.compare_in_branch(&other))
            }
            Self::Timestamp => Some(Some(rfc_3339(one)?.cmp(&rfc_3339(other)?))),
            _ => None,
        }
    }

    fn base_amount(&self, text: &str) -> Option<Number> {
        match self {
            Self::Scalar(units, _) => Some(amount(text, units)?.number()),
            Self::Amount(dimension) => Some(measure(*dimension, text)?.number()),
            _ => None,
        }
    }

    fn base_unit(&self) -> Option<&str> {
        match self {
            Self::Scalar(units, _) => {
                let base = units.iter().find(|(_, size)| size.as_deref() == Some("1"));
                base.map(|(unit, _)| &**unit)
            }
            Self::Amount(dimension) => {
                units(*dimension).iter().find(|(_, size)| *size == 1).map(|(unit, _)| *unit)
            }
            _ => None,
        }
    }

    /// Three bytes are four characters of base64, of which those at the end may be padding.
    fn length(&self, text: &str) -> Option<usize> {
        let digits = || text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=');
        (*self == Self::Bytes).then(|| digits().count() * 3 / 4)
    }

    /// A version without quotes is a number.
    fn is_text(&self, number: &Number) -> bool {
        *self == Self::Version && is_version(&number.to_string())
    }

    fn in_whole_units(&self, number: &Number, unit: &str) -> Option<Value> {
        let Self::Scalar(units, true) = self else { return None };
        if number.as_int().is_some() {
            return None;
        }
        let whole = amount(&format!("{number} {unit}"), units)?.number();
        let whole = whole.as_int().unwrap_or(whole.as_f64() as i64);
        Some(format!("{whole} {}", self.base_unit()?).into())
    }

    fn part(&self, key: &str) -> Option<&dyn FormOfText> {
        match self {
            Self::Map(entry) => Some(&**entry),
            Self::Structure(properties) => {
                let own = properties.iter().find(|(name, _)| name == key);
                Some(own.map_or(&PlainText as &dyn FormOfText, |(_, form)| form))
            }
            _ => None,
        }
    }
}
