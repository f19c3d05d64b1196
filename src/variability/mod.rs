//! Variability4TOSCA: from a template with conditions and a choice of inputs to the variant of that
//! choice.

pub mod check;
pub mod choice;
pub mod clock;
pub mod element;
pub mod emit;
pub mod enrich;
pub mod expression;
pub mod find;
pub mod function;
pub mod graph;
pub mod inputs;
pub mod objectives;
pub mod operators;
pub mod options;
pub mod prepared;
pub mod presence;
pub mod resolution;
pub mod resolve;
pub mod syntax;
pub mod technology;
pub mod template;
mod words;
