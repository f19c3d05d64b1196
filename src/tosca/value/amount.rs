//! Reads values that are amounts with units, such as `10 GB`, as numbers that can be compared.

use super::check::ValueChecker;
use super::unit::{Dimension, measure, units};
use super::validation::{UnitSize, amount};
use super::{DataTypes, Primitive, Schema};
use cuvee_text::float::parse_float;
use cuvee_text::value::{Number, ReplacedPart, Value};

/// The units in which the values of a type are amounts.
#[derive(Clone, Debug)]
pub(crate) enum AmountUnits {
    /// Those of a `scalar-unit`.
    Dimension(Dimension),
    /// Those that a type derived from `scalar` defines (TOSCA 2.0, section 9.1.2.4).
    Defined(Vec<UnitSize>),
}

impl AmountUnits {
    /// The units of the values of a schema; `None` if these are no amounts.
    pub(crate) fn of<'t, 'a>(schema: &'t Schema<'t>, types: &'t dyn DataTypes<'a>) -> Option<Self> {
        let kind = ValueChecker::new(types).kind(schema);
        match kind.base? {
            Primitive::ScalarUnit(dimension) => Some(Self::Dimension(dimension)),
            Primitive::Scalar => Some(Self::Defined(kind.data_type?.units.to_vec())),
            _ => None,
        }
    }

    /// The amount that a text says, in the base unit; `None` if the text says none, or if it is not
    /// known how large its unit is.
    pub(crate) fn amount(&self, text: &str) -> Option<Number> {
        let measured = match self {
            Self::Dimension(dimension) => measure(*dimension, text),
            Self::Defined(units) => amount(text, units),
        };
        Some(measured?.number())
    }

    /// A value whose texts are amounts in the base unit, as far as they say some.
    pub(crate) fn in_base_unit(&self, value: &Value) -> Value {
        let amount = |part: &Value| self.amount(part.as_str()?);
        let mut replaced = |part: &Value| match amount(part) {
            Some(amount) => ReplacedPart::By(Value::Number(amount)),
            None => ReplacedPart::Within,
        };
        value.replaced(&mut replaced).unwrap_or_else(|| value.clone())
    }

    /// The units, each with its size in the base unit.
    pub(crate) fn sizes(&self) -> Vec<(&str, f64)> {
        match self {
            Self::Dimension(dimension) => {
                units(*dimension).iter().map(|&(unit, size)| (unit, size as f64)).collect()
            }
            Self::Defined(units) => {
                let size = |size: &Option<String>| parse_float(size.as_deref()?);
                units.iter().filter_map(|(unit, own)| Some((&**unit, size(own)?))).collect()
            }
        }
    }
}
