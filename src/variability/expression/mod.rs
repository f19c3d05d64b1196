//! Evaluates variability expressions: value expressions over inputs, and logic expressions over
//! presence. An expression evaluates to a value, or to a formula if it depends on presence.
//!
//! Specification: "Variability Expression", "Variability Condition", "Intrinsic Functions".

mod cases;
mod dependencies;
mod evaluate;
mod presence;
mod validate;

pub(crate) use cases::{InputCase, NumberRange, OpenInput, Roots, partition};
pub(crate) use evaluate::Evaluator;
pub(crate) use presence::has_artifact_type;
