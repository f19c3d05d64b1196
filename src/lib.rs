//! Resolves Variability4TOSCA.

mod check;
pub mod clock;
mod decimal;
pub mod diagnostic;
mod emit;
mod enrich;
pub mod expression;
pub mod formula;
mod graph;
pub mod inputs;
mod load;
mod objectives;
pub mod options;
mod presence;
pub mod progress;
mod resolver;
pub mod solve;
pub mod source;
mod technology;
mod template;
pub mod testing;
mod types;
pub mod value;
mod variant;
pub mod yaml;

pub use resolver::{Failure, Resolution, Resolver};
