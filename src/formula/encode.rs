//! From formulas to clauses.

use super::arena::{Arena, Formula};

/// A variable of the solver; the first ones are the atoms, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// A variable or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(pub u32);

/// Why a clause is there: an index into whatever the caller keeps its reasons in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OriginId(pub u32);

/// Clauses, each with its origin.
#[derive(Debug, Default)]
pub struct Cnf {}

/// Turns asserted formulas into clauses.
pub struct Encoder<'f> {
    _arena: &'f Arena,
}

impl<'f> Encoder<'f> {
    /// An encoder for formulas of this arena over `atoms` atoms.
    pub fn new(arena: &'f Arena, atoms: u32) -> Self {
        let _ = atoms;
        Self { _arena: arena }
    }

    /// Asserts that at least one of these holds.
    pub fn assert(&mut self, clause: &[Formula], origin: OriginId) {
        let _ = (clause, origin);
        todo!()
    }

    /// The literal that is equivalent to a formula.
    pub fn literal(&mut self, formula: Formula) -> Lit {
        let _ = formula;
        todo!()
    }

    /// The clauses.
    pub fn finish(self) -> Cnf {
        todo!()
    }
}
