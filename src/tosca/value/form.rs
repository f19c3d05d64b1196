//! Says what the types of TOSCA 2.0 make of values that are written as texts: versions, timestamps,
//! bytes and scalars.

use super::check::{TypedSchema, ValueChecker};
use super::timestamp::rfc_3339;
use super::unit::units;
use super::validation::{UnitSize, amount};
use super::version::{Version, is_version};
use super::{DataTypes, Primitive, Schema};
use crate::tosca::v2_0::function::FormOfText;
use cuvee_text::value::{Number, Value};
use std::cmp::Ordering;

/// What the type of values, or of the entries of lists and maps, makes of texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextType {
    Version,
    Timestamp,
    Bytes,
    /// Scalars with these units, and whether their numbers are integers.
    Scalar(Vec<UnitSize>, bool),
}

/// How deep lists and maps may contain each other.
const DEPTH: usize = 16;

impl TextType {
    /// That of a part of values of a schema.
    pub(crate) fn of_part<'t, 'a>(
        schema: &'t Schema<'t>,
        path: &[String],
        types: &'t dyn DataTypes<'a>,
    ) -> Option<Self> {
        let checker = ValueChecker::new(types);
        let mut kind = checker.part(schema, path)?;
        for _ in 0..DEPTH {
            match kind.base {
                Some(Primitive::List | Primitive::Map) => kind = checker.kind(kind.entry_schema()?),
                _ => break,
            }
        }
        Self::of(&kind)
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
            Primitive::ScalarUnit(dimension) => {
                let units = units(dimension).iter();
                let units = units.map(|(unit, size)| ((*unit).to_owned(), Some(size.to_string())));
                Some(Self::Scalar(units.collect(), false))
            }
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
            Self::Bytes | Self::Scalar(..) => None,
        }
    }

    fn base_amount(&self, text: &str) -> Option<Number> {
        let Self::Scalar(units, _) = self else { return None };
        Some(amount(text, units)?.number())
    }

    fn base_unit(&self) -> Option<&str> {
        let Self::Scalar(units, _) = self else { return None };
        let base = units.iter().find(|(_, size)| size.as_deref() == Some("1"));
        base.map(|(unit, _)| &**unit)
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
        let whole = amount(&format!("{number} {unit}"), units)?.number().as_int()?;
        Some(format!("{whole} {}", self.base_unit()?).into())
    }
}
