//! Costs that exclude each other, as far as propagation sees it.

use super::propagator::Propagator;
use super::solver::Recorded;
use crate::formula::Lit;
use rustc_hash::FxHashSet;

/// Literals that propagation may look at before it has to come to an end, so that no template makes it search for long.
const PATIENCE: usize = 1_000_000;

/// Finds out which literals cannot be true together, or false together.
pub(super) struct Exclusions {
    propagator: Propagator,
    left: usize,
}

impl Exclusions {
    pub fn new(solver: &Recorded) -> Self {
        Self { propagator: Propagator::new(solver), left: PATIENCE }
    }

    /// What follows from a literal; nothing where it contradicts the clauses, and once it is time to come to an end.
    fn implied(&mut self, literal: Lit) -> Vec<Lit> {
        let Self { propagator, left } = self;
        if *left == 0 || literal.var().index() >= propagator.vars() || propagator.value(literal).is_some() {
            return Vec::new();
        }
        let known = propagator.trail().len();
        let consistent = propagator.assume(literal);
        let implied = propagator.trail().get(known + 1..).filter(|_| consistent).unwrap_or_default().to_vec();
        *left = left.saturating_sub(propagator.trail().len() - known);
        propagator.undo(known);
        implied
    }

    /// Whether propagation sees that at most one of these is true.
    pub fn are_exclusive(&mut self, literals: &[Lit]) -> bool {
        literals.iter().enumerate().all(|(position, &literal)| {
            let others = &literals[position + 1..];
            let implied: FxHashSet<_> =
                if others.is_empty() { FxHashSet::default() } else { self.implied(literal).into_iter().collect() };
            others.iter().all(|&other| implied.contains(&!other))
        })
    }

    /// Groups of at least two of these, without common literals, of which at most one is false in any model.
    pub fn groups(&mut self, literals: &[Lit]) -> Vec<Vec<Lit>> {
        let listed: FxHashSet<_> = literals.iter().copied().collect();
        let implied: Vec<Vec<Lit>> = literals
            .iter()
            .map(|&literal| self.implied(!literal).into_iter().filter(|other| listed.contains(other)).collect())
            .collect();
        let pairs: FxHashSet<(Lit, Lit)> = literals
            .iter()
            .zip(&implied)
            .flat_map(|(&literal, others)| others.iter().map(move |&other| (literal, other)))
            .collect();
        let exclude = |one: Lit, other: Lit| pairs.contains(&(one, other)) || pairs.contains(&(other, one));
        let (mut grouped, mut groups) = (FxHashSet::default(), Vec::new());
        for (&literal, others) in literals.iter().zip(&implied).filter(|(_, others)| !others.is_empty()) {
            let mut group = vec![literal];
            for &other in others.iter().filter(|other| !grouped.contains(*other)) {
                if group.iter().all(|&member| exclude(member, other)) {
                    group.push(other);
                }
            }
            if group.len() > 1 && grouped.insert(literal) {
                grouped.extend(group.iter().copied());
                groups.push(group);
            }
        }
        groups
    }
}
