//! Variability expressions: value expressions over inputs, logic expressions over presence.
//!
//! Specification: "Variability Expression", "Variability Condition", "Intrinsic Functions".
//! An expression evaluates to a value, or, where it depends on what is present, to a formula.

mod cases;
mod dependencies;
mod evaluate;
mod presence;
mod validate;

pub(crate) use cases::{InputCase, NumberRange, OpenInput, Roots, partition};
pub(crate) use evaluate::Evaluator;
pub(crate) use presence::has_artifact_type;
