//! Finds the variant: satisfies the clauses, optimises the objectives one after the other, and explains what conflicts.

use crate::formula::{Atom, Cnf, Lit, OriginId};
use crate::progress::Progress;

/// Which solver does the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolverKind {
    /// varisat
    #[default]
    Varisat,
    /// batsat
    Batsat,
}

/// A weighted sum to minimise. Maximising `Σ w·x` is minimising `Σ w·¬x`.
#[derive(Clone, Debug, Default)]
pub struct Objective {
    /// What each true literal costs.
    pub terms: Vec<(Lit, u64)>,
}

/// What to solve.
#[derive(Debug)]
pub struct Problem<'p> {
    /// What must hold.
    pub cnf: &'p Cnf,
    /// What to minimise: the first above all, then the second, ...
    pub objectives: &'p [Objective],
    /// Among equally good models the one that is lexicographically least here: the first of these absent if it can be, then the second, ...
    pub preference: &'p [Atom],
}

/// A model with proven optimal costs, and the solver that found it, to ask for others.
pub struct Solution {}

/// A minimal set of origins that cannot all be fulfilled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// In ascending order.
    pub origins: Vec<OriginId>,
}

/// Solves.
///
/// # Errors
/// A [`Conflict`] where nothing satisfies the clauses.
pub fn solve(problem: &Problem<'_>, kind: SolverKind, progress: &mut dyn Progress) -> Result<Solution, Conflict> {
    let _ = (problem, kind, progress);
    todo!()
}

impl Solution {
    /// Whether an atom is true.
    pub fn is_true(&self, _atom: Atom) -> bool {
        todo!()
    }

    /// The cost of each objective.
    pub fn costs(&self) -> &[u64] {
        todo!()
    }

    /// Another model of the same costs in which at least one of these atoms differs: its true atoms among them, in order.
    pub fn another(&mut self, _over: &[Atom]) -> Option<Vec<Atom>> {
        todo!()
    }
}
