//! Variability expressions: value expressions over inputs, logic expressions over presence.
//!
//! Specification: "Variability Expression", "Variability Condition", "Intrinsic Functions".
//! An expression evaluates to a value, or, where it depends on what is present, to a formula.

mod cases;
mod dependencies;
mod evaluate;
mod presence;
mod validate;

pub use cases::{InputCase, OpenInput, Roots, partition};
pub use evaluate::Evaluator;
pub use presence::has_artifact_type;
