//! Small sets of models in which everything that can meet, meets: each choice of `t` cases of different factors that is in any model is in one of them.
//!
//! Models are made one at a time. Each starts with a choice that was in none so far, and takes on, case by case, whatever makes most of the open choices
//! meet; unit propagation sees what is excluded thereby. The solver completes the model, or says which cases cannot be together.

use rustc_hash::FxHashMap;

use super::models::Models;
use super::propagator::Propagator;
use crate::formula::Lit;

/// Models that cover what they can.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covering {
    /// For each model the case of each factor, as a position among its cases.
    pub rows: Vec<Vec<usize>>,
    /// How many choices of cases are in a model.
    pub feasible: u64,
    /// How many are in none.
    pub infeasible: u64,
}

/// Above this number of choices there is no answer.
const MOST: u64 = 1 << 26;

/// A small set of models that covers every choice of `t` cases of different factors that any model has; of all factors, where there are fewer.
/// `None` where there are too many choices to look at, about 67 million.
///
/// A factor is its cases, of which exactly one is true in each model.
///
/// ```
/// use cuvee::formula::Var;
/// use cuvee::solve::covering::covering;
/// use cuvee::solve::{Models, SolverKind};
///
/// let [a, b, c] = [0, 1, 2].map(|var| Var(var).positive());
/// let factors = [a, b, c].map(|literal| vec![!literal, literal]);
/// let mut models = Models::new(3, [[!a, !b].as_slice()].into_iter(), SolverKind::default());
/// let covering = covering(2, &factors, &mut models).unwrap();
/// assert_eq!((covering.feasible, covering.infeasible), (11, 1));
/// assert!(covering.rows.len() < 8);
/// ```
pub fn covering(t: usize, factors: &[Vec<Lit>], models: &mut Models) -> Option<Covering> {
    let cases: Vec<Lit> = factors.concat();
    let tuples = Tuples::new(cases.len(), t.min(factors.len()))?;
    models.cover_literals(&cases);
    // Says nothing new where factors are what they should be.
    factors.iter().for_each(|factor| models.add_clause(factor));
    let mut by_literal: FxHashMap<Lit, Vec<u32>> = FxHashMap::default();
    cases.iter().zip(0..).for_each(|(&literal, case)| by_literal.entry(literal).or_default().push(case));
    let (open, count) = tuples.of_different(factors);
    let propagator = models.propagator();
    let root = propagator.trail().len();
    let mut greedy = Greedy { models, propagator, root, tuples, cases, by_literal, open, row: Row::default() };
    let mut rows = Vec::new();
    let mut infeasible = 0;
    let mut next = 0;
    while let Some(index) = greedy.open.first_from(next) {
        next = index;
        let start = greedy.tuples.at(index);
        if !greedy.is_feasible(&start) {
            greedy.open.remove(index);
            infeasible += 1;
            continue;
        }
        greedy.make_row(&start);
        let row = greedy.last_row(factors);
        let Greedy { tuples, open, .. } = &mut greedy;
        each_subset(&numbers(&row, factors), tuples.t, |subset| open.remove(tuples.index(subset)));
        // A model has it, so the row does; going on must not depend on that.
        greedy.open.remove(index);
        rows.push(row);
    }
    drop_redundant(&mut rows, &greedy.tuples, factors);
    Some(Covering { rows, feasible: count - infeasible, infeasible })
}

/// The cases of a row, numbered through all factors.
fn numbers(row: &[usize], factors: &[Vec<Lit>]) -> Vec<u32> {
    let mut before = 0;
    let number = |(&case, factor): (&usize, &Vec<Lit>)| {
        let number = (before + case) as u32;
        before += factor.len();
        number
    };
    row.iter().zip(factors).map(number).collect()
}

/// Drops rows of which the others cover everything.
fn drop_redundant(rows: &mut Vec<Vec<usize>>, tuples: &Tuples, factors: &[Vec<Lit>]) {
    // What is covered so often that it cannot be counted stays so.
    let mut covered = vec![0_u8; tuples.count as usize];
    for row in rows.iter() {
        each_subset(&numbers(row, factors), tuples.t, |subset| {
            let count = &mut covered[tuples.index(subset) as usize];
            *count = count.saturating_add(1);
        });
    }
    rows.retain(|row| {
        let row = numbers(row, factors);
        let mut needed = false;
        each_subset(&row, tuples.t, |subset| needed |= covered[tuples.index(subset) as usize] == 1);
        if !needed {
            each_subset(&row, tuples.t, |subset| {
                let count = &mut covered[tuples.index(subset) as usize];
                *count -= u8::from(*count < u8::MAX);
            });
        }
        needed
    });
}

/// Sets of `t` numbers below a bound, numbered: `{c₁ < … < cₜ}` is `Σ (cᵢ choose i)`.
struct Tuples {
    t: usize,
    count: u64,
    /// For each `i` from 1 the number of sets of `i` numbers below each bound.
    choose: Vec<Vec<u64>>,
}

impl Tuples {
    /// `None` where there are too many.
    fn new(bound: usize, t: usize) -> Option<Self> {
        let mut choose: Vec<Vec<u64>> = Vec::with_capacity(t);
        let mut fewer = vec![1_u64; bound + 1];
        for _ in 0..t {
            let mut sum = 0_u64;
            for count in &mut fewer {
                let next = sum.saturating_add(*count);
                *count = std::mem::replace(&mut sum, next);
            }
            choose.push(fewer.clone());
        }
        let count = choose.last().map_or(1, |counts| counts[bound]);
        (count <= MOST).then_some(Self { t, count, choose })
    }

    fn index(&self, tuple: &[u32]) -> u64 {
        self.choose.iter().zip(tuple).map(|(choose, &case)| choose[case as usize]).sum()
    }

    fn at(&self, mut index: u64) -> Vec<u32> {
        let mut tuple = vec![0; self.t];
        for (case, choose) in tuple.iter_mut().zip(&self.choose).rev() {
            let found = choose.partition_point(|&count| count <= index).saturating_sub(1);
            index -= choose[found];
            *case = found as u32;
        }
        tuple
    }

    /// Those of which all cases are of different factors, and how many they are.
    fn of_different(&self, factors: &[Vec<Lit>]) -> (Bits, u64) {
        let factor_of: Vec<_> =
            factors.iter().zip(0_u32..).flat_map(|(cases, factor)| cases.iter().map(move |_| factor)).collect();
        let mut bits = Bits { words: vec![0; self.count.div_ceil(64) as usize] };
        let mut count = 0;
        each_subset(&(0..factor_of.len() as u32).collect::<Vec<_>>(), self.t, |subset| {
            if subset.windows(2).all(|pair| factor_of[pair[0] as usize] != factor_of[pair[1] as usize]) {
                bits.insert(self.index(subset));
                count += 1;
            }
        });
        (bits, count)
    }
}

/// Calls for each set of `size` of some items, in their order.
fn each_subset(items: &[u32], size: usize, mut call: impl FnMut(&[u32])) {
    if size > items.len() {
        return;
    }
    let mut positions: Vec<_> = (0..size).collect();
    let mut subset = items[..size].to_vec();
    loop {
        call(&subset);
        let Some(moved) = (0..size).rev().find(|&index| positions[index] < items.len() - size + index) else { return };
        let position = positions[moved] + 1;
        for index in moved..size {
            positions[index] = position + index - moved;
            subset[index] = items[positions[index]];
        }
    }
}

/// A set of numbers.
struct Bits {
    words: Vec<u64>,
}

impl Bits {
    fn insert(&mut self, index: u64) {
        self.words[(index / 64) as usize] |= 1 << (index % 64);
    }

    fn remove(&mut self, index: u64) {
        self.words[(index / 64) as usize] &= !(1 << (index % 64));
    }

    fn get(&self, index: u64) -> u64 {
        self.words[(index / 64) as usize] >> (index % 64) & 1
    }

    /// The least that is not below a number.
    fn first_from(&self, index: u64) -> Option<u64> {
        let start = (index / 64) as usize;
        let masked = self.words.get(start)? >> (index % 64) << (index % 64);
        let words = std::iter::once(&masked).chain(&self.words[start + 1..]);
        words.zip(start as u64..).find(|(word, _)| **word != 0).map(|(word, at)| at * 64 + u64::from(word.trailing_zeros()))
    }
}

struct Greedy<'m> {
    models: &'m mut Models,
    /// What the solver knows, and what it taught us.
    propagator: Propagator,
    /// How much of its trail holds in each model.
    root: usize,
    tuples: Tuples,
    cases: Vec<Lit>,
    by_literal: FxHashMap<Lit, Vec<u32>>,
    /// What may be in a model and is in none so far.
    open: Bits,
    row: Row,
}

/// The model in work.
#[derive(Default)]
struct Row {
    decisions: Vec<Lit>,
    /// How much of the trail is taken account of.
    seen: usize,
    /// The cases that are true, in ascending order.
    chosen: Vec<u32>,
    /// How many open choices each case would complete.
    gains: Vec<u32>,
}

impl Greedy<'_> {
    /// Whether some cases are together in any model.
    fn is_feasible(&mut self, tuple: &[u32]) -> bool {
        self.restart();
        let literals: Vec<_> = tuple.iter().map(|&case| self.cases[case as usize]).collect();
        if !self.decide_all(&literals) {
            return false;
        }
        let feasible = self.models.solve(&literals);
        if !feasible {
            self.learn();
        }
        feasible
    }

    /// Remembers which assumptions failed, and forgets the row.
    fn learn(&mut self) {
        self.propagator.undo(self.root);
        let core = self.models.core().iter().map(|&literal| !literal);
        let clause: Vec<_> = core.filter(|&literal| self.propagator.value(literal).is_none()).collect();
        self.propagator.add(&clause);
        self.root = self.propagator.trail().len();
        self.restart();
    }

    /// Makes a model that has some cases, and as much else as it can.
    fn make_row(&mut self, start: &[u32]) {
        self.restart();
        let literals: Vec<_> = start.iter().map(|&case| self.cases[case as usize]).collect();
        self.decide_all(&literals);
        loop {
            self.extend();
            let decisions = std::mem::take(&mut self.row.decisions);
            if self.models.solve(&decisions) {
                return;
            }
            let core = self.models.core();
            let kept = decisions.iter().rposition(|decision| core.contains(decision)).unwrap_or(0);
            self.learn();
            self.decide_all(&decisions[..kept]);
        }
    }

    /// Decides for whatever gains most until nothing gains.
    fn extend(&mut self) {
        loop {
            self.observe();
            let unknown = (0..self.cases.len()).filter(|&case| self.propagator.value(self.cases[case]).is_none());
            let best = unknown.max_by_key(|&case| (self.row.gains[case], std::cmp::Reverse(case)));
            let Some(best) = best.filter(|&case| self.row.gains[case] > 0) else { return };
            let literal = self.cases[best];
            // Where neither value is possible, the solver says why.
            if !self.decide(literal) && !self.assume(!literal) {
                self.row.decisions.push(literal);
                return;
            }
        }
    }

    fn restart(&mut self) {
        self.propagator.undo(self.root);
        self.row = Row { gains: vec![0; self.cases.len()], ..Row::default() };
        if self.tuples.t == 1 {
            self.add_gains(&[]);
        }
    }

    /// Decides for literals as long as they are possible; whether all are.
    fn decide_all(&mut self, literals: &[Lit]) -> bool {
        literals.iter().all(|&literal| match self.propagator.value(literal) {
            Some(value) => value,
            None => self.decide(literal),
        })
    }

    fn decide(&mut self, literal: Lit) -> bool {
        let possible = self.assume(literal);
        if possible {
            self.row.decisions.push(literal);
        }
        possible
    }

    /// Assumes a literal, unless that contradicts what is known.
    fn assume(&mut self, literal: Lit) -> bool {
        let before = self.propagator.trail().len();
        let possible = self.propagator.assume(literal);
        if !possible {
            self.propagator.undo(before);
        }
        possible
    }

    /// Takes account of what became known.
    fn observe(&mut self) {
        while let Some(literal) = self.propagator.trail().get(self.row.seen) {
            let cases = self.by_literal.get(literal).cloned().unwrap_or_default();
            self.row.seen += 1;
            cases.into_iter().for_each(|case| self.choose(case));
        }
    }

    fn choose(&mut self, case: u32) {
        let position = self.row.chosen.partition_point(|&other| other < case);
        if let Some(size) = self.tuples.t.checked_sub(2) {
            let chosen = std::mem::take(&mut self.row.chosen);
            let mut base = Vec::with_capacity(size + 1);
            each_subset(&chosen, size, |subset| {
                base.clear();
                base.extend_from_slice(subset);
                base.insert(subset.partition_point(|&other| other < case), case);
                self.add_gains(&base);
            });
            self.row.chosen = chosen;
        }
        self.row.chosen.insert(position, case);
    }

    /// Adds to the gain of each case whether together with one less than `t` others it is open.
    fn add_gains(&mut self, base: &[u32]) {
        let Self { tuples, open, row, .. } = self;
        for position in 0..=base.len() {
            let lower: u64 = tuples.choose.iter().zip(&base[..position]).map(|(choose, &case)| choose[case as usize]).sum();
            let higher: u64 =
                tuples.choose[position + 1..].iter().zip(&base[position..]).map(|(choose, &case)| choose[case as usize]).sum();
            let start = if position == 0 { 0 } else { base[position - 1] as usize + 1 };
            let end = base.get(position).map_or(row.gains.len(), |&case| case as usize);
            for case in start..end {
                row.gains[case] += open.get(lower + higher + tuples.choose[position][case]) as u32;
            }
        }
    }

    /// The cases of the model that was found last.
    fn last_row(&self, factors: &[Vec<Lit>]) -> Vec<usize> {
        let is_true = |&literal: &Lit| self.models.is_true(literal);
        factors.iter().map(|factor| factor.iter().position(is_true).unwrap_or(0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::formula::Var;
    use crate::solve::tests::{KINDS, clauses, holds};

    const VARS: u32 = 8;

    /// Two factors of three cases and two of two, the last of which are one variable each.
    fn factors() -> Vec<Vec<Lit>> {
        let mut factors: Vec<Vec<Lit>> = [0, 3].map(|first| (first..first + 3).map(|var| Var(var).positive()).collect()).to_vec();
        factors.extend([6, 7].map(|var| vec![Var(var).negative(), Var(var).positive()]));
        factors
    }

    fn exactly_one(factors: &[Vec<Lit>]) -> Vec<Vec<Lit>> {
        let mut clauses = factors.to_vec();
        for factor in factors {
            clauses.extend(factor.iter().enumerate().flat_map(|(index, &a)| factor[..index].iter().map(move |&b| vec![!a, !b])));
        }
        clauses.retain(|clause| !clause.contains(&!clause[0]));
        clauses
    }

    /// What a row covers: positions of factors with their cases.
    fn covered(row: &[usize], t: usize) -> Vec<Vec<(u32, usize)>> {
        let mut covered = Vec::new();
        each_subset(&(0..row.len() as u32).collect::<Vec<_>>(), t, |subset| {
            covered.push(subset.iter().map(|&factor| (factor, row[factor as usize])).collect());
        });
        covered
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn exactly_what_is_feasible_is_covered(mut clauses in clauses(VARS, 0..8), t in 0..6_usize) {
            let factors = factors();
            clauses.extend(exactly_one(&factors));
            let is_true = |literal: Lit, model: u32| holds(&[vec![literal]], model);
            let row = |model: u32| factors.iter().map(|factor| factor.iter().position(|&literal| is_true(literal, model)).unwrap()).collect::<Vec<_>>();
            let possible: BTreeSet<_> = (0..1 << VARS).filter(|&model| holds(&clauses, model)).map(row).collect();
            let size = t.min(factors.len());
            let feasible: BTreeSet<_> = possible.iter().flat_map(|row| covered(row, size)).collect();
            for kind in KINDS {
                let mut models = Models::new(VARS as usize, clauses.iter().map(Vec::as_slice), kind);
                let found = covering(t, &factors, &mut models).unwrap();
                prop_assert!(found.rows.iter().all(|row| possible.contains(row)));
                let covers = |rows: &[Vec<usize>]| rows.iter().flat_map(|row| covered(row, size)).collect::<BTreeSet<_>>();
                prop_assert_eq!(covers(&found.rows), feasible.clone());
                prop_assert_eq!(found.feasible, feasible.len() as u64);
                let all = [1, 10, 37, 60, 36][size];
                prop_assert_eq!(found.infeasible, all - found.feasible);
                for index in 0..found.rows.len() {
                    let mut fewer = found.rows.clone();
                    fewer.remove(index);
                    prop_assert!(covers(&fewer) != feasible);
                }
            }
        }
    }

    #[test]
    fn sets_are_numbered_one_after_the_other() {
        for t in 0..5 {
            let tuples = Tuples::new(9, t).unwrap();
            let mut indices = Vec::new();
            each_subset(&(0..9).collect::<Vec<_>>(), t, |subset| {
                assert_eq!(tuples.at(tuples.index(subset)), subset);
                indices.push(tuples.index(subset));
            });
            indices.sort_unstable();
            assert_eq!(indices, (0..tuples.count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn too_many_choices_are_refused() {
        let factors: Vec<_> = (0..1000).map(|var| vec![Var(var).negative(), Var(var).positive()]).collect();
        let mut models = Models::new(1000, std::iter::empty(), KINDS[1]);
        assert_eq!(covering(3, &factors, &mut models), None);
    }

    /// A single value has nothing to choose, and still takes part.
    #[test]
    fn a_factor_of_one_case_is_in_every_row() {
        let [a, b] = [0, 1].map(|var| Var(var).positive());
        let mut models = Models::new(2, [[a].as_slice()].into_iter(), KINDS[1]);
        let found = covering(2, &[vec![a], vec![b, !b]], &mut models).unwrap();
        assert_eq!((found.rows.len(), found.feasible, found.infeasible), (2, 2, 0));
    }
}
