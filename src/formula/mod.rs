//! Formulas over the presence of elements: hash-consed, folded as they are built, encoded to clauses.

mod arena;
mod encode;

pub use arena::{Arena, Atom, Formula, View};
pub use encode::{Cnf, Encoder, Lit, OriginId, Var};
