//! Resolves Variability4TOSCA: turns a template with conditions and a choice of inputs into the
//! variant of that choice.

pub(crate) mod advice;
pub(crate) mod assign;
pub(crate) mod check;
pub(crate) mod choice;
pub mod clock;
pub(crate) mod element;
pub(crate) mod emit;
pub(crate) mod enrich;
pub(crate) mod enriched;
pub(crate) mod expression;
pub(crate) mod find;
pub(crate) mod function;
pub(crate) mod graph;
pub(crate) mod init;
pub(crate) mod inputs;
pub(crate) mod objectives;
pub(crate) mod operators;
pub(crate) mod options;
pub(crate) mod prepared;
pub(crate) mod presence;
pub(crate) mod pruned;
pub(crate) mod resolution;
pub(crate) mod resolve;
pub(crate) mod syntax;
pub(crate) mod technology;
pub(crate) mod template;
#[cfg(test)]
mod tests;
mod words;
