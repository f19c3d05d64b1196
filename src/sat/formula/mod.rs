//! Formulas over the presence of elements: hash-consed, folded as they are built, encoded to
//! clauses.

mod arena;
mod encode;

pub use arena::{Arena, Atom, Formula, FormulaEvaluator, View};
pub use encode::{Cnf, CnfClause, Encoder, Lit, OriginId, Var};
