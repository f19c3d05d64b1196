//! Resolves Variability4TOSCA.

pub mod clock;
pub mod diagnostic;
pub mod expression;
pub mod formula;
pub mod inputs;
pub mod options;
pub mod progress;
mod resolver;
pub mod solve;
pub mod source;
pub mod testing;
pub mod value;
pub mod yaml;

pub use resolver::{Failure, Resolution, Resolver};
