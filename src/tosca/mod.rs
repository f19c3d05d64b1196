//! TOSCA Simple Profile 1.3.

pub mod value;
