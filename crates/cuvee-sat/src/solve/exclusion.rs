//! Finds literals that exclude each other, such as costs or inputs, as far as unit propagation shows
//! it.
//!
//! # References
//!
//! - Armin Biere, Daniel Le Berre, Emmanuel Lonca, Norbert Manthey. "Detecting Cardinality
//!   Constraints in CNF." SAT 2014: groups that grow by what the propagation of each of their
//!   literals excludes.
//! - Marijn J. H. Heule, Mark Dufour, Joris van Zwieten, Hans van Maaren. "March_eq: Implementing
//!   Additional Reasoning into an Efficient Look-Ahead SAT Solver." SAT 2004: what a literal
//!   implies directly is propagated once for all literals that imply it.

use super::forest::ImplicationForest;
use super::propagator::Propagator;
use super::solver::Recorded;
use crate::formula::{Cnf, Lit};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many literals propagation may look at before it has to end, so that no input makes it search
/// for long. `GROUPING` is for groups, which make wide choices tractable. `ASKING` is for questions
/// about single cores.
const GROUPING: usize = 40_000_000;
const ASKING: usize = 1_000_000;

/// The size from which a group is so wide that to propagate each of its literals takes too long.
pub const WIDE: usize = 256;
/// How many of the literals that propagation found last are checked for a group to join, and how many
/// of the groups that were found first.
const RECENT: usize = 16;

/// Finds literals that cannot be true together, or false together.
///
/// ```
/// use cuvee_sat::formula::{Cnf, Var};
/// use cuvee_sat::solve::exclusion::Exclusions;
///
/// let [a, b, c] = [0, 1, 2].map(|var| Var(var).positive());
/// let mut exclusions = Exclusions::among(&Cnf::of(3, [vec![!a, !b]]));
/// assert!(exclusions.are_exclusive(&[a, b]));
/// assert!(!exclusions.are_exclusive(&[a, b, c]));
/// ```
pub struct Exclusions {
    propagator: Propagator,
    /// How many literals were looked at.
    effort: usize,
}

impl Exclusions {
    /// Finds what excludes each other according to these clauses.
    pub fn among(cnf: &Cnf) -> Self {
        Self::of(Propagator::over(cnf.vars(), || cnf.clauses().map(|clause| clause.literals)))
    }

    pub(super) fn new(solver: &Recorded) -> Self {
        Self::of(Propagator::new(solver))
    }

    pub(super) fn of(propagator: Propagator) -> Self {
        Self { propagator, effort: 0 }
    }

    pub(super) fn propagator(&mut self) -> &mut Propagator {
        &mut self.propagator
    }

    /// The literals that follow from a literal. Empty where the literal contradicts the clauses, or
    /// where the effort has reached `most`.
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

    /// Whether propagation shows that at most one of the literals is true. Where it does not, that may
    /// still follow from the clauses.
    pub fn are_exclusive(&mut self, literals: &[Lit]) -> bool {
        if literals.len() >= WIDE {
            let open = literals.iter().filter(|it| self.propagator.value(**it) != Some(false));
            let negated: Vec<Lit> = open.map(|&literal| !literal).collect();
            if !self.wide_groups(&negated, negated.len()).is_empty() {
                return true;
            }
        }
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

    /// Finds disjoint groups of at least two of the literals. Propagation shows that at most one
    /// literal of a group is false in any model.
    pub(super) fn groups(&mut self, literals: &[Lit]) -> Vec<Vec<Lit>> {
        let positions: FxHashMap<Lit, usize> = literals.iter().copied().zip(0..).collect();
        let mut grouped = vec![false; literals.len()];
        let mut groups = self.wide_groups(literals, WIDE);
        for literal in groups.iter().flatten() {
            grouped[positions[literal]] = true;
        }
        // For each literal, how many literals of the current group exclude that it is false as
        // well.
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

    /// Finds groups of at least `width` literals. Propagation shows that exactly one literal of a
    /// group is false in any model.
    pub(super) fn exact_groups(&mut self, literals: &[Lit], width: usize) -> Vec<Vec<Lit>> {
        let mut groups = self.wide_groups(literals, width);
        groups.retain(|group| self.propagator.contradiction(group).is_some());
        groups
    }

    /// Finds groups of at least `width` literals. Propagation shows that at most one literal of a
    /// group is false in any model.
    ///
    /// To propagate each literal takes time that is quadratic in the size of its group. But where
    /// `a` directly implies `b`, `a` excludes whatever `b` excludes. So the implied literals are
    /// arranged as a forest, in which each literal is below one that it implies, and is propagated
    /// once, after that one. The leaves are the negations of the literals to be grouped. Along the
    /// ladder of clauses that encodes exactly one of many, each step down propagates only one step
    /// more than the one above.
    pub(super) fn wide_groups(&mut self, literals: &[Lit], width: usize) -> Vec<Vec<Lit>> {
        if literals.len() < width {
            return Vec::new();
        }
        let vars = self.propagator.vars();
        let known = literals.iter().filter(|literal| literal.var().index() < vars);
        let forest = ImplicationForest::of(&self.propagator, known.map(|&literal| !literal));
        let mut search = GroupSearch {
            open: literals.iter().copied().collect(),
            places: FxHashMap::default(),
            groups: Vec::new(),
        };
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
            // All children join groups before anything else is assumed that may exclude them.
            for &child in forest.children(literal) {
                let member = search.member(child, &forest, &self.propagator);
                search.visit(child, member, &self.propagator);
                if member == child && !forest.children(child).is_empty() {
                    next.push(ForestStep::Enter(child));
                }
            }
        }
        self.effort = 0;
        search.groups.retain(|group| group.literals.len() >= width);
        search.groups.into_iter().map(|group| group.literals).collect()
    }
}

/// A step of the walk through a forest.
enum ForestStep {
    Enter(Lit),
    /// Takes back what followed from the literal that was entered last.
    Leave,
}

struct ExclusiveGroup {
    literals: Vec<Lit>,
    /// How many of the literals are true under the current assumptions.
    known: usize,
}

/// Groups that grow during the walk through a forest.
struct GroupSearch {
    /// The literals to be grouped that are in none yet.
    open: FxHashSet<Lit>,
    /// The group of each literal that is in one, or is equal to one that is.
    places: FxHashMap<Lit, usize>,
    groups: Vec<ExclusiveGroup>,
}

impl GroupSearch {
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

    /// The literal to be grouped that a literal stands for: the only one below it, where the two are
    /// equal, so that it need not be entered for that; else the literal itself.
    fn member(&self, literal: Lit, forest: &ImplicationForest, propagator: &Propagator) -> Lit {
        match *forest.children(literal) {
            [only]
                if forest.children(only).is_empty()
                    && self.open.contains(&!only)
                    && !self.open.contains(&!literal)
                    && propagator.implied_at_once(literal).any(|implied| implied == only) =>
            {
                only
            }
            _ => literal,
        }
    }

    /// Puts the negation of `member` into a group, if it is to be grouped and has no value yet. That
    /// is a group whose literals are all true when the negation is false, or else a new group.
    /// `literal` is the member itself, or one that is equal to it. The current assumptions follow
    /// from it, and so do the literals that it implies directly.
    fn visit(&mut self, literal: Lit, member: Lit, propagator: &Propagator) {
        if propagator.value(literal).is_some() || !self.open.remove(&!member) {
            return;
        }
        let place_of = |literal: Lit| self.places.get(&literal).copied();
        let equal = [literal, member].into_iter();
        let mut direct: Vec<Lit> = equal.flat_map(|it| propagator.implied_at_once(it)).collect();
        direct.sort_unstable();
        direct.dedup();
        let direct = direct.into_iter().filter_map(place_of);
        let mut besides: FxHashMap<usize, usize> = FxHashMap::default();
        direct.clone().for_each(|place| *besides.entry(place).or_default() += 1);
        let is_whole = |&place: &usize| {
            let ExclusiveGroup { literals, known } = &self.groups[place];
            known + besides.get(&place).copied().unwrap_or(0) == literals.len()
        };
        let recent = propagator.trail().iter().rev().take(RECENT).copied().filter_map(place_of);
        let first = 0..self.groups.len().min(RECENT);
        let place = direct.chain(recent).chain(first).find(is_whole).unwrap_or(self.groups.len());
        if place == self.groups.len() {
            self.groups.push(ExclusiveGroup { literals: Vec::new(), known: 0 });
        }
        self.groups[place].literals.push(!member);
        self.places.insert(!literal, place);
    }
}

#[cfg(test)]
mod tests {
    use super::super::SolverKind;
    use super::super::solver::SatSolver;
    use super::super::tests::{clauses, holds};
    use super::*;
    use crate::formula::{Arena, Atom, Encoder, OriginId, Var};
    use proptest::prelude::*;

    const VARS: u32 = 8;

    fn wide_groups(solver: &Recorded, literals: &[Lit], width: usize) -> Vec<Vec<Lit>> {
        Exclusions::new(solver).wide_groups(literals, width)
    }

    proptest! {
        #[test]
        fn of_a_group_at_most_one_or_exactly_one_is_false(clauses in clauses(VARS, 1..24)) {
            let mut solver = Recorded::new(SolverKind::default().start());
            (0..VARS).for_each(|_| _ = solver.new_var());
            clauses.iter().for_each(|clause| solver.add_clause(clause));
            let literals: Vec<_> = (0..VARS).map(|var| Var(var).negative()).collect();
            let wide = wide_groups(&solver, &literals, 2);
            let exact = Exclusions::new(&solver).exact_groups(&literals, 2);
            for model in (0..1 << VARS).filter(|&model| holds(&clauses, model)) {
                let is_false = |literal: &&Lit| model >> literal.var().0 & 1 == 1;
                let false_in = |group: &Vec<Lit>| group.iter().filter(is_false).count();
                prop_assert!(wide.iter().all(|group| false_in(group) < 2));
                prop_assert!(exact.iter().all(|group| false_in(group) == 1));
            }
        }
    }

    /// Groups are found among literals, and among others that are equal to them.
    #[test]
    fn one_of_many_is_one_wide_group() {
        const SIZE: u32 = 10_000;
        let mut arena = Arena::default();
        let atoms: Vec<_> = (0..2 * SIZE).map(|atom| arena.atom(Atom(atom))).collect();
        let (others, exclusive) = atoms.split_at(SIZE as usize);
        let ladder = arena.at_most_one(exclusive.iter().copied());
        let mut encoder = Encoder::new(&arena, 2 * SIZE);
        encoder.assert(&[ladder], OriginId(0));
        for (&other, &one) in others.iter().zip(exclusive) {
            encoder.assert(&[!other, one], OriginId(0));
            encoder.assert(&[!one, other], OriginId(0));
        }
        let mut exclusions = Exclusions::among(&encoder.finish());
        for first in [0, SIZE] {
            let literals: Vec<_> = (first..first + SIZE).map(|var| Var(var).negative()).collect();
            let groups = exclusions.wide_groups(&literals, WIDE);
            assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [SIZE as usize]);
        }
    }
}
