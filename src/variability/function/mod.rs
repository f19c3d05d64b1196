//! TOSCA's functions in a variant: evaluated with the values of topology inputs.

pub mod deployment;
pub mod evaluate;
