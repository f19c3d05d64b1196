//! Variability expressions: value expressions over inputs, logic expressions over presence.

pub mod operators;
