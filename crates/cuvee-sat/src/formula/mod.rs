//! Builds Boolean formulas and encodes them as clauses.
//!
//! Equal formulas are shared in an [`Arena`] and simplified as they are built. An [`Encoder`] turns
//! the formulas that must hold into clauses in conjunctive normal form, the [`Cnf`].

mod arena;
mod encode;

pub use arena::{Arena, Atom, Formula, FormulaEvaluator, View};
pub use encode::{Cnf, CnfClause, Encoder, Lit, OriginId, Var};
