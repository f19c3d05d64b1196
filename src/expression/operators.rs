//! The operators that compute values from values: arithmetic, string, constraint, analytical and date.

use crate::value::Value;

/// Why an operator has no value for its operands; the caller adds the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorError(pub String);

/// An operator over values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {}

impl Operator {
    /// The operator of this keyword.
    pub fn from_keyword(_keyword: &str) -> Option<Self> {
        todo!()
    }

    /// All keywords.
    pub fn keywords() -> impl Iterator<Item = &'static str> {
        std::iter::empty()
    }

    /// Applies the operator. `operands` is what stands behind the keyword, evaluated; `now` is the clock, in the zone that `weekday` means.
    ///
    /// # Errors
    /// Says what is wrong with the number, type or value of the operands.
    pub fn apply(self, _operands: &Value, _now: &jiff::Zoned) -> Result<Value, OperatorError> {
        todo!()
    }
}
