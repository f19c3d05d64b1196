//! Costs that exclude each other, as far as propagation sees it.
//!
//! # References
//!
//! - Armin Biere, Daniel Le Berre, Emmanuel Lonca, Norbert Manthey. "Detecting Cardinality Constraints
//!   in CNF." SAT 2014: groups that grow by what the propagation of each of their literals excludes.
//! - Marijn J. H. Heule, Mark Dufour, Joris van Zwieten, Hans van Maaren. "March_eq: Implementing
//!   Additional Reasoning into an Efficient Look-Ahead SAT Solver." SAT 2004: what a literal implies at
//!   once is propagated once for all that imply it.

use super::forest::ImplicationForest;
use super::propagator::Propagator;
use super::solver::Recorded;
use crate::sat::formula::Lit;
use rustc_hash::{FxHashMap, FxHashSet};

/// Literals that propagation may look at before it has to come to an end, so that no template makes
/// it search for long: for groups, which are what makes wide choices tractable, and for what is
/// asked of single cores.
const GROUPING: usize = 40_000_000;
const ASKING: usize = 1_000_000;

/// From so many literals on a group is one that only [`Exclusions::wide_groups`] finds in time.
pub(super) const WIDE: usize = 256;
/// So many of what propagation found last are looked at for a group to join.
const RECENT: usize = 16;

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
        let mut grouped = vec![false; literals.len()];
        let mut groups = self.wide_groups(literals, &positions, WIDE);
        for literal in groups.iter().flatten() {
            grouped[positions[literal]] = true;
        }
        // With how many literals of the group that is being gathered each one is in conflict.
        let mut conflicts = vec![0_usize; literals.len()];
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

    /// Those of these groups that have at least so many literals.
    ///
    /// To propagate each literal takes time that is quadratic in the size of its group. But where
    /// `a` implies `b` at once, what `b` excludes is excluded by `a` as well; so the literals that
    /// are implied stand in a forest, in which each is propagated once, behind those that it
    /// implies, and the literals that are to be grouped are its leaves. What stands behind a clause
    /// of a ladder, as those of exactly one of many do, is one step more than the one before.
    fn wide_groups(
        &mut self,
        literals: &[Lit],
        positions: &FxHashMap<Lit, usize>,
        width: usize,
    ) -> Vec<Vec<Lit>> {
        if literals.len() < width {
            return Vec::new();
        }
        let vars = self.propagator.vars();
        let known = literals.iter().filter(|literal| literal.var().index() < vars);
        let forest = ImplicationForest::of(&self.propagator, known.map(|&literal| !literal));
        let mut search =
            GroupSearch { positions, places: FxHashMap::default(), groups: Vec::new() };
        let mut entered = Vec::new();
        let mut next: Vec<_> = forest.roots().map(ForestStep::Enter).collect();
        while let Some(step) = next.pop() {
            let literal = match step {
                ForestStep::Leave => {
                    let start = entered.pop().unwrap_or_default();
                    search.forget(&self.propagator.trail()[start..]);
                    self.propagator.undo(start);
                    continue;
                }
                ForestStep::Enter(literal) => literal,
            };
            if self.propagator.value(literal) == Some(false) || self.effort >= GROUPING {
                continue;
            }
            let start = self.propagator.trail().len();
            let is_possible =
                self.propagator.value(literal).is_some() || self.propagator.assume(literal);
            self.effort += self.propagator.trail().len() - start;
            if !is_possible {
                self.propagator.undo(start);
                continue;
            }
            search.learn(&self.propagator.trail()[start..]);
            entered.push(start);
            next.push(ForestStep::Leave);
            // All of them join groups before more is assumed, which may exclude them.
            for &child in forest.children(literal) {
                search.visit(child, &self.propagator);
                if !forest.children(child).is_empty() {
                    next.push(ForestStep::Enter(child));
                }
            }
        }
        self.effort = 0;
        search.groups.retain(|group| group.literals.len() >= width);
        search.groups.into_iter().map(|group| group.literals).collect()
    }
}

/// What is done next on the way through a forest.
enum ForestStep {
    Enter(Lit),
    /// Takes back what the literal that was entered last made known.
    Leave,
}

struct ExclusiveGroup {
    literals: Vec<Lit>,
    /// How many of them are true by what is assumed now.
    known: usize,
}

/// Groups that grow while a forest is walked through.
struct GroupSearch<'p> {
    /// The literals that are to be grouped.
    positions: &'p FxHashMap<Lit, usize>,
    /// In which group each is.
    places: FxHashMap<Lit, usize>,
    groups: Vec<ExclusiveGroup>,
}

impl GroupSearch<'_> {
    fn learn(&mut self, trail: &[Lit]) {
        for place in trail.iter().filter_map(|literal| self.places.get(literal)) {
            self.groups[*place].known += 1;
        }
    }

    fn forget(&mut self, trail: &[Lit]) {
        for place in trail.iter().filter_map(|literal| self.places.get(literal)) {
            self.groups[*place].known -= 1;
        }
    }

    /// Puts the opposite of a literal without a value, where it is to be grouped, into a group of which
    /// all are true when it is false, or else into one of its own. What is assumed follows from the
    /// literal, and so does what it implies at once.
    fn visit(&mut self, literal: Lit, propagator: &Propagator) {
        let opposite = !literal;
        if propagator.value(literal).is_some()
            || !self.positions.contains_key(&opposite)
            || self.places.contains_key(&opposite)
        {
            return;
        }
        let place_of = |literal: Lit| self.places.get(&literal).copied();
        let mut besides: FxHashMap<usize, usize> = FxHashMap::default();
        let implied = propagator.implied_at_once(literal).filter_map(place_of);
        implied.for_each(|place| *besides.entry(place).or_default() += 1);
        let is_whole = |&place: &usize| {
            let ExclusiveGroup { literals, known } = &self.groups[place];
            known + besides.get(&place).copied().unwrap_or(0) == literals.len()
        };
        let recent = propagator.trail().iter().rev().take(RECENT).copied().filter_map(place_of);
        let direct = propagator.implied_at_once(literal).filter_map(place_of);
        let place = direct.chain(recent).find(is_whole).unwrap_or(self.groups.len());
        if place == self.groups.len() {
            self.groups.push(ExclusiveGroup { literals: Vec::new(), known: 0 });
        }
        self.groups[place].literals.push(opposite);
        self.places.insert(opposite, place);
    }
}

#[cfg(test)]
mod tests {
    use super::super::SolverKind;
    use super::super::solver::SatSolver;
    use super::super::tests::{clauses, holds};
    use super::*;
    use crate::sat::formula::{Arena, Atom, Encoder, OriginId, Var};
    use proptest::prelude::*;

    const VARS: u32 = 8;

    fn wide_groups(solver: &Recorded, literals: &[Lit], width: usize) -> Vec<Vec<Lit>> {
        let positions = literals.iter().copied().zip(0..).collect();
        Exclusions::new(solver).wide_groups(literals, &positions, width)
    }

    proptest! {
        #[test]
        fn of_a_wide_group_at_most_one_is_false(clauses in clauses(VARS, 1..24)) {
            let mut solver = Recorded::new(SolverKind::default().start());
            (0..VARS).for_each(|_| _ = solver.new_var());
            clauses.iter().for_each(|clause| solver.add_clause(clause));
            let literals: Vec<_> = (0..VARS).map(|var| Var(var).negative()).collect();
            for group in wide_groups(&solver, &literals, 2) {
                for model in (0..1 << VARS).filter(|&model| holds(&clauses, model)) {
                    let is_false = |literal: &&Lit| model >> literal.var().0 & 1 == 1;
                    prop_assert!(group.iter().filter(is_false).count() < 2);
                }
            }
        }
    }

    #[test]
    fn one_of_many_is_one_wide_group() {
        const SIZE: u32 = 1_000;
        let mut arena = Arena::default();
        let atoms: Vec<_> = (0..SIZE).map(|atom| arena.atom(Atom(atom))).collect();
        let ladder = arena.at_most_one(atoms.iter().copied());
        let mut encoder = Encoder::new(&arena, SIZE);
        encoder.assert(&[ladder], OriginId(0));
        let cnf = encoder.finish();
        let mut solver = Recorded::new(SolverKind::default().start());
        (0..cnf.vars()).for_each(|_| _ = solver.new_var());
        cnf.clauses().for_each(|clause| solver.add_clause(clause.literals));
        let literals: Vec<_> = (0..SIZE).map(|var| Var(var).negative()).collect();
        let groups = wide_groups(&solver, &literals, WIDE);
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [SIZE as usize]);
    }
}
