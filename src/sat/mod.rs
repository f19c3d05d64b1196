//! Boolean formulas: turned into clauses, solved, optimised, explained and counted.
//!
//! Knows nothing of what the formulas are about.

pub mod count;
pub(crate) mod dimacs;
pub mod formula;
pub mod progress;
pub mod solve;
