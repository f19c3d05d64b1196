//! Evaluates TOSCA's functions in a variant, with the values of topology inputs.

pub(crate) mod deployment;
pub(crate) mod fit;
pub(crate) mod scope;
