//! Costs that exclude each other, as far as propagation sees it.
//!
//! # References
//!
//! - Armin Biere, Daniel Le Berre, Emmanuel Lonca, Norbert Manthey. "Detecting Cardinality Constraints
//!   in CNF." SAT 2014: groups that grow by what the propagation of each of their literals excludes.

use super::propagator::Propagator;
use super::solver::Recorded;
use crate::sat::formula::Lit;
use rustc_hash::{FxHashMap, FxHashSet};

/// Literals that propagation may look at before it has to come to an end, so that no template makes
/// it search for long: for groups, which are what makes wide choices tractable, and for what is
/// asked of single cores.
const GROUPING: usize = 40_000_000;
const ASKING: usize = 1_000_000;

/// Finds out which literals cannot be true together, or false together.
pub(super) struct Exclusions {
    propagator: Propagator,
    /// Literals that were looked at.
    effort: usize,
}

impl Exclusions {
    pub(super) fn new(solver: &Recorded) -> Self {
        Self { propagator: Propagator::new(solver), effort: 0 }
    }

    /// What follows from a literal; nothing where it contradicts the clauses, and after so much
    /// effort.
    fn implied(&mut self, literal: Lit, most: usize) -> Vec<Lit> {
        let Self { propagator, effort } = self;
        if *effort >= most
            || literal.var().index() >= propagator.vars()
            || propagator.value(literal).is_some()
        {
            return Vec::new();
        }
        let known = propagator.trail().len();
        let consistent = propagator.assume(literal);
        let implied =
            propagator.trail().get(known + 1..).filter(|_| consistent).unwrap_or_default().to_vec();
        *effort += propagator.trail().len() - known;
        propagator.undo(known);
        implied
    }

    /// Whether propagation sees that at most one of these is true.
    pub(super) fn are_exclusive(&mut self, literals: &[Lit]) -> bool {
        literals.iter().enumerate().all(|(position, &literal)| {
            let others = &literals[position + 1..];
            let implied: FxHashSet<_> = if others.is_empty() {
                FxHashSet::default()
            } else {
                self.implied(literal, ASKING).into_iter().collect()
            };
            others.iter().all(|&other| implied.contains(&!other))
        })
    }

    /// Groups of at least two of these, without common literals, of which propagation sees that at
    /// most one is false in any model.
    pub(super) fn groups(&mut self, literals: &[Lit]) -> Vec<Vec<Lit>> {
        let positions: FxHashMap<Lit, usize> = literals.iter().copied().zip(0..).collect();
        // With how many literals of the group that is being gathered each one is in conflict.
        let mut conflicts = vec![0_usize; literals.len()];
        let mut grouped = vec![false; literals.len()];
        let mut groups = Vec::new();
        for first in 0..literals.len() {
            if grouped[first] {
                continue;
            }
            let mut excluded = |position: usize| -> Vec<usize> {
                self.implied(!literals[position], GROUPING)
                    .iter()
                    .filter_map(|literal| positions.get(literal).copied())
                    .collect()
            };
            let candidates = excluded(first);
            let (mut group, mut counted) = (vec![first], candidates.clone());
            counted.iter().for_each(|&position| conflicts[position] += 1);
            for candidate in candidates {
                if !grouped[candidate] && conflicts[candidate] == group.len() {
                    group.push(candidate);
                    for position in excluded(candidate) {
                        conflicts[position] += 1;
                        counted.push(position);
                    }
                }
            }
            counted.iter().for_each(|&position| conflicts[position] = 0);
            if group.len() > 1 {
                group.iter().for_each(|&position| grouped[position] = true);
                groups.push(group.into_iter().map(|position| literals[position]).collect());
            }
        }
        self.effort = 0;
        groups
    }
}
