//! Finds small sets of models in which all cases meet that can: a *constrained covering array* of
//! strength `t`. There are factors, each with several cases. Every choice of `t` cases of different
//! factors that is in any model is in one of the models found.
//!
//! The array is built greedily, one row (one model) at a time. The smallest array is hard to find
//! and rarely needed. Rows that each cover as much as they can are nearly as few.
//!
//! 1. All open choices of `t` cases are kept as bits: for each choice of `t - 1` cases, the cases
//!    that it has not met yet. Choices that propagation excludes are removed at once, so that no
//!    row aims at them.
//! 2. A row starts with the first open choice. If that is in no model, the choice is counted as
//!    infeasible. So each row covers something new, and the search ends.
//! 3. The other factors follow, those with most open choices first. Each takes the case that makes
//!    most of the open choices meet: for certain with the cases that are decided, and on average
//!    with those of undecided factors. After each step, propagation shows which cases are now
//!    excluded.
//! 4. Propagation completes the row, or else the solver does. Where the solver finds that the
//!    decided cases exclude each other, it names cases that conflict. They are remembered as a
//!    clause, the row goes back to before the last of them, and continues from there.
//! 5. The choices in the completed model are no longer open.
//!
//! All this is done with the clauses that are left when variables that are no cases have been
//! eliminated, so that propagation has a fraction of them to look at. The rows found are completed
//! 64 at a time.
//!
//! Early rows are chosen with little knowledge, and later rows may cover all that they cover. So in
//! the end, every row that the others make redundant is removed.
//!
//! Nothing is random, so that the same clauses have the same rows everywhere.
//!
//! # References
//!
//! - David M. Cohen, Siddhartha R. Dalal, Michael L. Fredman, Gardner C. Patton. "The AETG System:
//!   An Approach to Testing Based on Combinatorial Design." IEEE TSE 1997: one row at a time,
//!   greedily. AETG draws several random candidates for each row and keeps the best; here there is
//!   one candidate, which is not random.
//! - Renée C. Bryce, Charles J. Colbourn. "The Density Algorithm for Pairwise Interaction Testing."
//!   Software Testing, Verification and Reliability 2007: undecided factors count by their average.
//! - Myra B. Cohen, Matthew B. Dwyer, Jiangfan Shi. "Constructing Interaction Test Suites for
//!   Highly-Configurable Systems in the Presence of Constraints: A Greedy Approach." IEEE TSE 2008:
//!   a SAT solver for the constraints.
//! - Niklas Eén, Armin Biere. "Effective Preprocessing in SAT through Variable and Clause
//!   Elimination." SAT 2005: the elimination.

use rustc_hash::FxHashSet;

use super::free::FreeFactors;
use super::models::Models;
use super::propagator::Propagator;
use super::walk::Samples;
use crate::formula::{Lit, Var};

/// A set of models that covers every choice of cases that it can.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covering {
    /// The models. What they cover are their [rows](CoveringModel::row).
    pub models: Vec<CoveringModel>,
    /// How many choices of cases are in some model.
    pub feasible: u64,
    /// How many choices of cases are in no model.
    pub infeasible: u64,
}

/// Finds a small set of models that covers every choice of `t` cases of different factors that is
/// in any model. `t` is limited to at least 1, and at most the number of factors.
///
/// A factor is the list of its cases, of which exactly one is true in each model.
///
/// Returns `None` where there are too many choices to look at. About 46,000 cases are possible for
/// pairs, and 1,600 for triples. Cases that are in no model do not count, nor do factors that
/// always go together with another factor.
///
/// ```
/// use cuvee_sat::formula::Var;
/// use cuvee_sat::solve::covering::covering;
/// use cuvee_sat::solve::{Models, SolverKind};
///
/// let [a, b, c] = [0, 1, 2].map(|var| Var(var).positive());
/// let factors = [a, b, c].map(|literal| vec![!literal, literal]);
/// let mut models = Models::new(3, [[!a, !b].as_slice()].into_iter(), SolverKind::default());
/// let covering = covering(2, &factors, &mut models).unwrap();
/// assert_eq!((covering.feasible, covering.infeasible), (11, 1));
/// assert!(covering.models.len() < 6);
/// ```
pub fn covering(t: usize, factors: &[Vec<Lit>], models: &mut Models) -> Option<Covering> {
    covering_beside(&mut Samples::default(), t, factors, models)
}

/// Does the same as [`covering`], given some models that are known already.
pub fn covering_beside(
    samples: &mut Samples,
    t: usize,
    factors: &[Vec<Lit>],
    models: &mut Models,
) -> Option<Covering> {
    let t = t.clamp(1, factors.len().max(1));
    let all = all_choices(t, factors)?;
    let literals = factors.concat();
    models.cover_literals(&literals);
    // These clauses change nothing where exactly one case of each factor is true, as required.
    factors.iter().for_each(|factor| models.add_clause(factor));
    let none = Some(Covering { infeasible: all, ..Covering::default() });
    let Some(mut projected) = models.projected(&literals, samples) else { return none };
    let Some(free) = FreeFactors::of(samples, factors, &mut projected) else { return none };
    let cases = Cases::new(&free.factors);
    let FoundRows { rows, models: found, feasible } =
        FoundRows::of(t.min(free.factors.len()), &cases, &literals, &mut projected)?;
    let feasible = feasible_choices(t, (&rows, feasible), &cases, &free);
    models.add_searches(projected.searches() - models.searches());
    let models = completed(samples, &literals, &found, models);
    Some(Covering { models, feasible, infeasible: all - feasible })
}

/// The models in which the literals `deciding` are as in some projected ones.
fn completed(
    samples: &Samples,
    deciding: &[Lit],
    found: &[CoveringModel],
    models: &mut Models,
) -> Vec<CoveringModel> {
    let mut completed = Vec::with_capacity(found.len());
    let mut propagator = models.propagator();
    for chunk in found.chunks(64) {
        let lanes = |var: Var| {
            let values = chunk.iter().map(|model| u64::from(model.is_true(var.positive())));
            values.zip(0..).fold(0, |lanes, (value, lane)| lanes | value << lane)
        };
        match samples.completed(&lanes) {
            Some(values) => completed.extend((0..chunk.len()).map(|lane| {
                let is_true = |literal: Lit| values[literal.var().index()] >> lane & 1 == 1;
                CoveringModel::of(values.len(), is_true)
            })),
            None => completed.extend(
                chunk.iter().map(|model| model.completed(deciding, &mut propagator, models)),
            ),
        }
    }
    completed
}

/// The rows of a covering array.
struct FoundRows {
    rows: Vec<RowCases>,
    models: Vec<CoveringModel>,
    /// The choices of `t` cases that the rows have; `None` without factors.
    feasible: Option<Choices>,
}

impl FoundRows {
    /// Finds rows whose models the literals `deciding` determine. `None` where there are too many
    /// choices to look at.
    fn of(t: usize, cases: &Cases, deciding: &[Lit], models: &mut Models) -> Option<Self> {
        if t == 0 {
            // Without free factors, the model that was found last is the only row.
            let model = CoveringModel::of(models.vars(), |literal| models.is_true(literal));
            return Some(Self { rows: Vec::new(), models: vec![model], feasible: None });
        }
        let open = Choices::of_different_factors(cases, t)?;
        let mut greedy = Greedy::new(models, cases, deciding, open);
        // No row should aim at choices that are known to be impossible.
        (0..greedy.open.rows()).for_each(|others| greedy.exclude(others));
        let mut found = Vec::new();
        let mut others = 0;
        while let Some(start) = greedy.next_start(&mut others) {
            let Some(model) = greedy.make_row(&start) else {
                greedy.forbid(&start);
                continue;
            };
            let row = RowCases::new(&cases.row(&model), greedy.open.words);
            greedy.open.remove_all(&row);
            found.push((row, model));
        }
        let Greedy { open, feasible, .. } = greedy;
        drop(open);
        let (rows, models): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let kept = not_redundant(&rows, &feasible);
        let found = rows.into_iter().zip(models).zip(kept);
        let (rows, models) = found.filter_map(|(row, kept)| kept.then_some(row)).unzip();
        Some(Self { rows, models, feasible: Some(feasible) })
    }
}

/// The number of choices of `t` cases of different factors. `None` where it does not fit into 64
/// bits.
fn all_choices(t: usize, factors: &[Vec<Lit>]) -> Option<u64> {
    let mut counts = vec![0_u64; t + 1];
    counts[0] = 1;
    for factor in factors {
        for size in (1..=t).rev() {
            let with = counts[size - 1].saturating_mul(factor.len() as u64);
            counts[size] = counts[size].saturating_add(with);
        }
    }
    Some(counts[t]).filter(|&count| count < u64::MAX)
}

/// The number of choices of `t` cases of all factors that some model has. The rows over the free
/// factors contain all feasible choices of these, which are known for the most factors; each stands
/// for several choices of all factors.
fn feasible_choices(
    t: usize,
    (rows, mut known): (&[RowCases], Option<Choices>),
    cases: &Cases,
    free: &FreeFactors,
) -> u64 {
    let (decided, ways) = (free.ways_decided(t), free.ways(t));
    let of_case = |case: u32| &ways[cases.factors[case as usize] as usize];
    let mut count = decided[t];
    for size in 1..=t.min(free.factors.len()) {
        // There are fewer of these choices than of those that were looked at.
        let Some(met) =
            known.take_if(|known| known.t == size).or_else(|| Choices::of_rows(rows, cases, size))
        else {
            continue;
        };
        for others in (0..met.rows()).filter(|&others| !met.is_none_with(others)) {
            let chosen = met.at(others);
            let before = chosen
                .iter()
                .fold(decided.clone(), |before, &case| product(&before, of_case(case)));
            let mut last = vec![0_u64; t + 1];
            each_bit(met.with(others), |case| {
                // Each choice occurs once for each of its cases, and is counted at the last.
                if chosen.last().is_none_or(|&chosen| case > chosen as usize) {
                    let own = last.iter_mut().zip(of_case(case as u32));
                    own.for_each(|(sum, own)| *sum = sum.wrapping_add(*own));
                }
            });
            count = count.wrapping_add(product(&before, &last)[t]);
        }
    }
    count
}

/// The product of two polynomials, up to their common degree.
fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let coefficient = |degree: usize| {
        let pairs = a[..=degree].iter().zip(b[..=degree].iter().rev());
        pairs.fold(0_u64, |sum, (a, b)| sum.wrapping_add(a.wrapping_mul(*b)))
    };
    (0..a.len()).map(coefficient).collect()
}

/// A model as a bit for each variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoveringModel {
    bits: Vec<u64>,
}

impl CoveringModel {
    /// The model of the variables that are true.
    fn of(vars: usize, is_true: impl Fn(Lit) -> bool) -> Self {
        let mut bits = vec![0; vars.div_ceil(64)];
        for var in (0..vars as u32).filter(|&var| is_true(Var(var).positive())) {
            bits[var as usize / 64] |= 1 << (var % 64);
        }
        Self { bits }
    }

    /// The model that propagation knows. `None` where it does not know all of it.
    fn known(propagator: &Propagator) -> Option<Self> {
        let is_true = |literal| propagator.value(literal) == Some(true);
        let vars = propagator.vars();
        (propagator.trail().len() == vars).then(|| Self::of(vars, is_true))
    }

    /// The model in which the literals `deciding` are as in this one.
    fn completed(
        &self,
        deciding: &[Lit],
        propagator: &mut Propagator,
        models: &mut Models,
    ) -> Self {
        let known = deciding.iter().map(|&literal| literal.negate_if(!self.is_true(literal)));
        let known: Vec<Lit> = known.collect();
        let root = propagator.trail().len();
        for &literal in &known {
            if propagator.value(literal).is_none() {
                propagator.assume(literal);
            }
        }
        let found = Self::known(propagator);
        propagator.undo(root);
        found.unwrap_or_else(|| {
            models.solve(&known);
            Self::of(models.vars(), |literal| models.is_true(literal))
        })
    }

    /// The case of each factor, as an index among the cases of the factor.
    pub fn row(&self, factors: &[Vec<Lit>]) -> Vec<usize> {
        let case = |factor: &Vec<Lit>| factor.iter().position(|&case| self.is_true(case));
        factors.iter().map(|factor| case(factor).unwrap_or_default()).collect()
    }

    /// Whether a literal is true in the model.
    pub fn is_true(&self, literal: Lit) -> bool {
        let index = literal.var().index();
        self.bits.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
            != literal.is_negative()
    }
}

/// Which rows to keep. Rows are removed one after the other if the others cover everything that
/// they cover.
///
/// Most rows have a choice that no other has. Only for the few other rows it has to be counted what
/// they add to those. Most choices are soon met twice, and not looked at any more.
fn not_redundant(rows: &[RowCases], choices: &Choices) -> Vec<bool> {
    let mut rare = choices.clone();
    let mut once = vec![0_u64; choices.bits.len()];
    for row in rows {
        rare.strike(row, |at, met| {
            let twice = once[at] & met;
            once[at] |= met;
            twice
        });
    }
    drop(once);
    let has_rare = |row: &RowCases| {
        let mut any = false;
        rare.each_met(row, |_, met| any |= met != 0);
        any
    };
    let alone: Vec<bool> = rows.iter().map(has_rare).collect();
    drop(rare);
    let mut open = choices.clone();
    let needed = rows.iter().zip(&alone).filter(|&(_, &alone)| alone);
    needed.for_each(|(row, _)| open.remove_all(row));
    keep_needed(rows, open, alone)
}

/// Of the rows that others may make redundant, decides which to keep. A row is kept if it has a
/// choice that is still open: neither earlier kept rows have it, nor any later row.
fn keep_needed(rows: &[RowCases], mut open: Choices, mut kept: Vec<bool>) -> Vec<bool> {
    let unsure: Vec<usize> = (0..rows.len()).filter(|&row| !kept[row]).collect();
    let mut shared = Ranks { words: vec![0; open.bits.len()], before: Vec::new() };
    for &row in &unsure {
        open.each_met(&rows[row], |at, met| shared.words[at] |= met);
    }
    let mut last = vec![0_u32; shared.count()];
    for &row in &unsure {
        open.each_met(&rows[row], |at, met| {
            shared.each_rank(at, met, |rank| last[rank] = row as u32);
        });
    }
    for row in unsure {
        open.each_met(&rows[row], |at, met| {
            shared.each_rank(at, met, |rank| kept[row] |= last[rank] == row as u32);
        });
        if kept[row] {
            open.remove_all(&rows[row]);
        }
    }
    kept
}

/// A set of bits that are numbered from 0.
struct Ranks {
    words: Vec<u64>,
    /// How many bits of the set come before each word.
    before: Vec<u32>,
}

impl Ranks {
    /// Numbers the bits, and returns how many there are.
    fn count(&mut self) -> usize {
        let mut sum = 0;
        let counts = self.words.iter().map(|word| {
            let before = sum;
            sum += word.count_ones();
            before
        });
        self.before = counts.collect();
        sum as usize
    }

    /// Calls `call` with the numbers of some bits of a word.
    fn each_rank(&self, at: usize, mut bits: u64, mut call: impl FnMut(usize)) {
        while bits != 0 {
            let lower = self.words[at] & ((1 << bits.trailing_zeros()) - 1);
            call((self.before[at] + lower.count_ones()) as usize);
            bits &= bits - 1;
        }
    }
}

/// The cases of a row.
struct RowCases {
    /// The cases as bits.
    mask: Vec<u64>,
    /// Which words of the mask are not zero.
    filled: Vec<u64>,
}

impl RowCases {
    fn new(cases: &[u32], words: usize) -> Self {
        let mask = mask(cases, words);
        Self { filled: summary(&mask), mask }
    }

    fn cases(&self) -> Vec<u32> {
        let mut cases = Vec::new();
        each_bit(&self.mask, |case| cases.push(case as u32));
        cases
    }
}

/// The cases of all factors, numbered one after the other.
struct Cases {
    literals: Vec<Lit>,
    /// The start of the cases of each factor, and the end of the last ones.
    starts: Vec<usize>,
    /// The factor of each case.
    factors: Vec<u32>,
}

impl Cases {
    fn new(factors: &[Vec<Lit>]) -> Self {
        let mut cases = Self { literals: factors.concat(), starts: vec![0], factors: Vec::new() };
        for (factor, index) in factors.iter().zip(0..) {
            cases.factors.resize(cases.factors.len() + factor.len(), index);
            cases.starts.push(cases.factors.len());
        }
        cases
    }

    fn of_factor(&self, factor: usize) -> std::ops::Range<usize> {
        self.starts[factor]..self.starts[factor + 1]
    }

    /// The cases of a model, one for each factor.
    fn row(&self, model: &CoveringModel) -> Vec<u32> {
        let factors = (0..self.starts.len() - 1).map(|factor| self.of_factor(factor));
        let case =
            factors.filter_map(|mut cases| cases.find(|&case| model.is_true(self.literals[case])));
        case.map(|case| case as u32).collect()
    }
}

/// A set of choices of `t` cases. For each choice of `t - 1` cases, called *others* and numbered,
/// there is a set of cases. So each choice occurs `t` times.
#[derive(Clone)]
struct Choices {
    t: usize,
    /// For each `i` from 1 to `t - 1`, the number of sets of `i` numbers below each bound. The set
    /// `{c₁ < c₂ < …}` has the number `Σ (cᵢ choose i)`.
    choose: Vec<Vec<usize>>,
    /// How many words a set of cases takes.
    words: usize,
    bits: Vec<u64>,
    /// Which words of each set of cases may have bits: in the end, few do.
    filled: Vec<u64>,
    /// How many cases the set of each choice of others has.
    counts: Vec<u32>,
}

/// The most bits of a set of choices. Four times as much memory is needed at once.
const MOST: usize = 1 << 31;

impl Choices {
    /// The empty set of choices. `None` where all possible choices would be too many.
    fn none(cases: &Cases, t: usize) -> Option<Self> {
        let count = cases.literals.len();
        let mut choose = Vec::with_capacity(t - 1);
        let mut fewer = vec![1_usize; count + 1];
        for _ in 1..t {
            let mut sum = 0_usize;
            for count in &mut fewer {
                let next = sum.saturating_add(*count);
                *count = std::mem::replace(&mut sum, next);
            }
            choose.push(fewer.clone());
        }
        let words = count.div_ceil(64);
        let rows = choose.last().map_or(1, |counts| counts[count]);
        let size = rows.checked_mul(words).filter(|&size| size <= MOST / 64)?;
        let (bits, filled) = (vec![0; size], vec![0; rows * words.div_ceil(64)]);
        Some(Self { t, choose, words, bits, filled, counts: vec![0; rows] })
    }

    /// The set of all choices whose cases are of different factors. `None` where they are too many.
    fn of_different_factors(cases: &Cases, t: usize) -> Option<Self> {
        let mut choices = Self::none(cases, t)?;
        for others in 0..choices.rows() {
            choices.open_row(others, cases);
        }
        Some(choices)
    }

    /// The set of all choices that rows have. `None` where there may be too many.
    fn of_rows(rows: &[RowCases], cases: &Cases, t: usize) -> Option<Self> {
        let mut choices = Self::none(cases, t)?;
        rows.iter().for_each(|row| choices.add_all(row));
        Some(choices)
    }

    fn open_row(&mut self, others: usize, cases: &Cases) {
        let chosen = self.at(others);
        let factor = |case: u32| cases.factors[case as usize];
        if chosen.windows(2).any(|pair| factor(pair[0]) == factor(pair[1])) {
            return;
        }
        let row = &mut self.bits[others * self.words..(others + 1) * self.words];
        (0..cases.literals.len()).for_each(|case| row[case / 64] |= 1 << (case % 64));
        for case in chosen.iter().flat_map(|&case| cases.of_factor(factor(case) as usize)) {
            row[case / 64] &= !(1 << (case % 64));
        }
        self.counts[others] = ones(row);
        let filled = summary(row);
        self.filled_with(others).copy_from_slice(&filled);
    }

    /// Which words of the set of some others may have bits.
    fn filled_with(&mut self, others: usize) -> &mut [u64] {
        let words = self.words.div_ceil(64);
        &mut self.filled[others * words..(others + 1) * words]
    }

    /// The number of `t - 1` others.
    fn index(&self, others: &[u32]) -> usize {
        self.index_after(0, others)
    }

    /// The others that have a number.
    fn at(&self, mut index: usize) -> Vec<u32> {
        let mut others = vec![0; self.t - 1];
        for (case, choose) in others.iter_mut().zip(&self.choose).rev() {
            let found = choose.partition_point(|&count| count <= index).saturating_sub(1);
            index -= choose[found];
            *case = found as u32;
        }
        others
    }

    /// The cases that form a choice of the set with some others.
    fn with(&self, others: usize) -> &[u64] {
        &self.bits[others * self.words..(others + 1) * self.words]
    }

    /// Whether no choice of the set contains these others.
    fn is_none_with(&self, others: usize) -> bool {
        self.counts[others] == 0
    }

    /// The number of choices of others.
    fn rows(&self) -> usize {
        self.counts.len()
    }

    /// Removes a choice.
    fn remove(&mut self, choice: &[u32]) {
        for (position, &case) in choice.iter().enumerate() {
            let others = self.index(&choice[..position])
                + self.index_after(position, &choice[position + 1..]);
            let word = &mut self.bits[others * self.words + case as usize / 64];
            self.counts[others] -= u32::from(*word >> (case % 64) & 1 == 1);
            *word &= !(1 << (case % 64));
        }
    }

    /// The sum that others add to their number when `before` cases come before them.
    fn index_after(&self, before: usize, others: &[u32]) -> usize {
        self.choose[before..].iter().zip(others).map(|(choose, &case)| choose[case as usize]).sum()
    }

    /// Removes all choices of cases of a row.
    fn remove_all(&mut self, row: &RowCases) {
        self.strike(row, |_, met| met);
    }

    /// Calls `call` with the choices of the set whose cases are all of a row, as bits of words.
    fn each_met(&mut self, row: &RowCases, mut call: impl FnMut(usize, u64)) {
        self.strike(row, |at, met| {
            call(at, met);
            0
        });
    }

    /// Does the same as [`each_met`](Self::each_met), and removes the choices that `call` returns.
    fn strike(&mut self, row: &RowCases, mut call: impl FnMut(usize, u64) -> u64) {
        for others in self.all_others(&row.cases()) {
            if self.counts[others] == 0 {
                continue;
            }
            let (start, filled) = (others * self.words, others * row.filled.len());
            for (group, in_row) in row.filled.iter().enumerate() {
                each_bit(&[self.filled[filled + group] & in_row], |bit| {
                    let at = start + group * 64 + bit;
                    let struck = call(at, self.bits[at] & row.mask[group * 64 + bit]);
                    self.bits[at] &= !struck;
                    self.counts[others] -= struck.count_ones();
                    self.filled[filled + group] &= !(u64::from(self.bits[at] == 0) << bit);
                });
            }
        }
    }

    /// How many choices of some others each of two sets of cases has.
    fn common(&self, others: usize, [one, other]: [&[u64]; 2]) -> [u64; 2] {
        let (words, mut common) = (self.with(others), [0; 2]);
        let filled = self.words.div_ceil(64);
        each_bit(&self.filled[others * filled..(others + 1) * filled], |at| {
            common[0] += u64::from((words[at] & one[at]).count_ones());
            common[1] += u64::from((words[at] & other[at]).count_ones());
        });
        common
    }

    /// Adds all choices of cases of a row. That includes sets with one case twice, which are not
    /// choices.
    fn add_all(&mut self, row: &RowCases) {
        for others in self.all_others(&row.cases()) {
            let words = &mut self.bits[others * self.words..(others + 1) * self.words];
            words.iter_mut().zip(&row.mask).for_each(|(word, mask)| *word |= mask);
            self.counts[others] = ones(words);
            let filled = summary(words);
            self.filled_with(others).copy_from_slice(&filled);
        }
    }

    /// The numbers of all choices of `t - 1` cases of a row.
    fn all_others(&self, row: &[u32]) -> Vec<usize> {
        let mut all = Vec::new();
        each_subset(row, self.t - 1, |others| all.push(self.index(others)));
        all
    }

    /// How many choices contain each case. All are counted the same number of times.
    fn weights(&self, cases: usize) -> Vec<u64> {
        if self.t == 2 {
            return self.counts.iter().copied().map(u64::from).collect();
        }
        let mut weights = vec![0; cases];
        if self.t == 1 {
            each_bit(self.with(0), |case| weights[case] += 1);
            return weights;
        }
        for (index, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.at(index).iter().for_each(|&case| weights[case as usize] += u64::from(count));
        }
        weights
    }
}

fn mask(cases: &[u32], words: usize) -> Vec<u64> {
    let mut mask = vec![0; words];
    cases.iter().for_each(|&case| mask[case as usize / 64] |= 1 << (case % 64));
    mask
}

/// Which words are not zero, as bits.
fn summary(words: &[u64]) -> Vec<u64> {
    let bits = |words: &[u64]| {
        words.iter().zip(0..).fold(0, |bits, (word, at)| bits | u64::from(*word != 0) << at)
    };
    words.chunks(64).map(bits).collect()
}

fn ones(words: &[u64]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}

fn each_bit(words: &[u64], mut call: impl FnMut(usize)) {
    for (index, &word) in words.iter().enumerate() {
        let mut left = word;
        while left != 0 {
            call(index * 64 + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}

/// Calls `call` for each subset of `size` items, in their order.
fn each_subset(items: &[u32], size: usize, mut call: impl FnMut(&[u32])) {
    if size > items.len() {
        return;
    }
    let mut positions: Vec<_> = (0..size).collect();
    let mut subset = items[..size].to_vec();
    loop {
        call(&subset);
        let Some(moved) =
            (0..size).rev().find(|&index| positions[index] < items.len() - size + index)
        else {
            return;
        };
        let position = positions[moved] + 1;
        for index in moved..size {
            positions[index] = position + index - moved;
            subset[index] = items[positions[index]];
        }
    }
}

struct Greedy<'c> {
    models: &'c mut Models,
    cases: &'c Cases,
    /// The literals that determine a model.
    deciding: &'c [Lit],
    /// The cases that each literal is.
    by_literal: Vec<Vec<u32>>,
    /// The clauses of the solver, and those learnt here.
    propagator: Propagator,
    /// How many literals of the propagator's trail hold in every model.
    root: usize,
    /// How many of these were known from the start. None of them is a case.
    known: usize,
    /// The choices that may be in a model and are in none found so far.
    open: Choices,
    /// The choices that are in a model or may be in one.
    feasible: Choices,
    row: RowDraft,
}

/// The row that is being built.
#[derive(Default)]
struct RowDraft {
    decisions: Vec<Lit>,
    /// How many literals of the trail have been taken into account.
    seen: usize,
    /// The cases that are true, in ascending order if `t` is greater than 2, and as bits.
    chosen: Vec<u32>,
    mask: Vec<u64>,
    /// The cases of factors of which no case is true yet.
    undecided: Vec<u64>,
}

impl<'c> Greedy<'c> {
    fn new(models: &'c mut Models, cases: &'c Cases, deciding: &'c [Lit], open: Choices) -> Self {
        let propagator = models.propagator();
        let mut by_literal = vec![Vec::new(); 2 * propagator.vars()];
        let numbered = cases.literals.iter().zip(0..);
        numbered.for_each(|(literal, case)| by_literal[literal.index()].push(case));
        let root = propagator.trail().len();
        let row = RowDraft::default();
        let feasible = open.clone();
        Self {
            models,
            cases,
            deciding,
            by_literal,
            propagator,
            root,
            known: root,
            open,
            feasible,
            row,
        }
    }

    /// Finds a choice that propagation does not exclude and that is in no model so far. No choice
    /// with a smaller number of others than `others` is open any more.
    fn next_start(&mut self, others: &mut usize) -> Option<Vec<u32>> {
        while *others < self.open.rows() {
            if self.open.is_none_with(*others) {
                *others += 1;
                continue;
            }
            self.exclude(*others);
            let mut first = None;
            each_bit(self.open.with(*others), |case| first = first.or(Some(case as u32)));
            if let Some(case) = first {
                return Some(insert(&self.open.at(*others), case));
            }
            *others += 1;
        }
        None
    }

    /// Removes the choices with some others that propagation excludes.
    fn exclude(&mut self, others: usize) {
        if self.open.is_none_with(others) {
            return;
        }
        let chosen = self.open.at(others);
        self.restart();
        let possible = self.decide_all(&self.literals(&chosen));
        let mut excluded = Vec::new();
        each_bit(self.open.with(others), |case| {
            if !possible || self.propagator.value(self.cases.literals[case]) == Some(false) {
                excluded.push(case as u32);
            }
        });
        excluded.iter().for_each(|&case| self.give_up(&insert(&chosen, case)));
    }

    fn literals(&self, cases: &[u32]) -> Vec<Lit> {
        cases.iter().map(|&case| self.cases.literals[case as usize]).collect()
    }

    /// Records that a choice is in no model.
    fn forbid(&mut self, choice: &[u32]) {
        self.learn(&self.literals(choice));
        self.give_up(choice);
    }

    /// Removes a choice that is in no model.
    fn give_up(&mut self, choice: &[u32]) {
        self.open.remove(choice);
        self.feasible.remove(choice);
    }

    /// Learns which of some decisions contradict each other, and restarts the row. Returns those
    /// decisions.
    fn learn(&mut self, decisions: &[Lit]) -> Vec<Lit> {
        self.propagator.undo(self.root);
        // Each case alone is in some model, so two that exclude each other are both needed.
        let core = match decisions.len() {
            2 => decisions.to_vec(),
            _ => self.models.least_core(decisions),
        };
        let clause: Vec<_> = core
            .iter()
            .map(|&literal| !literal)
            .filter(|&literal| self.propagator.value(literal).is_none())
            .collect();
        self.propagator.add(&clause);
        self.root = self.propagator.trail().len();
        self.restart();
        core
    }

    /// Builds a model that contains some cases and covers as much else as possible. `None` where no
    /// model contains these cases, which mostly shows without the solver.
    fn make_row(&mut self, start: &[u32]) -> Option<CoveringModel> {
        let weights = self.open.weights(self.cases.literals.len());
        let weight = |factor: usize| weights[self.cases.of_factor(factor)].iter().sum::<u64>();
        let mut factors: Vec<_> =
            (0..self.cases.starts.len() - 1).filter(|&factor| weight(factor) > 0).collect();
        factors.sort_by_cached_key(|&factor| std::cmp::Reverse(weight(factor)));
        self.restart();
        let start = self.literals(start);
        if !self.decide_all(&start) {
            return None;
        }
        let starts = self.row.decisions.len();
        loop {
            factors.iter().for_each(|&factor| self.extend(factor));
            let mut decisions = std::mem::take(&mut self.row.decisions);
            if let Some(model) = self.propagated() {
                return Some(model);
            }
            if self.models.solve_least(&decisions, self.deciding) {
                let Self { models, .. } = self;
                let is_true = |literal| models.is_true(literal);
                return Some(CoveringModel::of(models.vars(), is_true));
            }
            // What comes after the solver's core is not needed, and the least core is the same.
            decisions.truncate(last_of(self.models.core(), &decisions).map_or(0, |last| last + 1));
            let core = self.learn(&decisions);
            // Where the first decisions exclude each other, no later ones are in the core.
            let kept = last_of(&core, &decisions).filter(|&last| last >= starts)?;
            self.decide_all(&decisions[..kept]);
        }
    }

    /// Completes the decided literals to a model: the first undecided case is true if it can be,
    /// then the next one, and so on. `None` where propagation alone does not get to a model; then
    /// the solver is needed.
    fn propagated(&mut self) -> Option<CoveringModel> {
        for &literal in self.deciding {
            let decided = self.propagator.value(literal).is_some();
            if !decided && !self.assume(literal) && !self.assume(!literal) {
                return None;
            }
        }
        CoveringModel::known(&self.propagator)
    }

    /// Decides for the case of a factor that covers most, unless the factor is decided already.
    fn extend(&mut self, factor: usize) {
        self.observe();
        let unknown = |&case: &usize| self.propagator.value(self.cases.literals[case]).is_none();
        let mut ranked: Vec<_> = self
            .cases
            .of_factor(factor)
            .filter(unknown)
            .map(|case| (std::cmp::Reverse(self.gain(case as u32)), case))
            .collect();
        if ranked.iter().all(|(gain, _)| gain.0 == 0) {
            return;
        }
        ranked.sort_unstable();
        for (_, case) in ranked {
            let literal = self.cases.literals[case];
            match self.propagator.value(literal) {
                Some(true) => return,
                Some(false) => {}
                None if self.decide(literal) => return,
                None if self.assume(!literal) => {}
                None => {
                    // Propagation excludes both values. The solver will find out which decisions
                    // conflict.
                    self.row.decisions.push(literal);
                    return;
                }
            }
        }
    }

    /// How much a case would cover together with the true cases, plus on average together with
    /// undecided factors.
    fn gain(&self, case: u32) -> u64 {
        let Self { open, row, cases, .. } = self;
        let Some(size) = open.t.checked_sub(2) else {
            return open.with(0)[case as usize / 64] >> (case % 64) & 1;
        };
        let (mut decided, mut undecided) = (0, 0);
        each_subset(&row.chosen, size, |others| {
            let others = open.index(&insert(others, case));
            if !open.is_none_with(others) {
                let common = open.common(others, [&row.mask, &row.undecided]);
                decided += common[0];
                undecided += common[1];
            }
        });
        // The choices with true cases are counted once for each of them. Of the cases of an
        // undecided factor, only one will be true.
        let per_factor = (cases.starts.len() - 1) as u64;
        decided * cases.literals.len() as u64 + undecided * per_factor * (size as u64 + 1)
    }

    fn restart(&mut self) {
        self.propagator.undo(self.root);
        // A bit too many matches no choice.
        let [mask, undecided] = [0, u64::MAX].map(|word| vec![word; self.open.words]);
        self.row = RowDraft { mask, undecided, seen: self.known, ..RowDraft::default() };
    }

    /// Decides for literals as long as propagation allows it. Returns whether it allows all.
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

    /// Assumes a literal. If that contradicts what is known, takes it back and returns `false`.
    fn assume(&mut self, literal: Lit) -> bool {
        let before = self.propagator.trail().len();
        let possible = self.propagator.assume(literal);
        if !possible {
            self.propagator.undo(before);
        }
        possible
    }

    /// Takes the literals into account that became known.
    fn observe(&mut self) {
        for literal in &self.propagator.trail()[self.row.seen..] {
            for &case in &self.by_literal[literal.index()] {
                self.row.chosen.push(case);
                self.row.mask[case as usize / 64] |= 1 << (case % 64);
                let factor = self.cases.factors[case as usize] as usize;
                self.cases
                    .of_factor(factor)
                    .for_each(|case| self.row.undecided[case / 64] &= !(1 << (case % 64)));
            }
        }
        self.row.seen = self.propagator.trail().len();
        if self.open.t > 2 {
            self.row.chosen.sort();
        }
    }
}

/// The position of the last of some decisions that a core contains.
fn last_of(core: &[Lit], decisions: &[Lit]) -> Option<usize> {
    let core: FxHashSet<Lit> = core.iter().copied().collect();
    decisions.iter().rposition(|decision| core.contains(decision))
}

/// Inserts a number into a list of ascending numbers.
fn insert(others: &[u32], case: u32) -> Vec<u32> {
    let mut all = others.to_vec();
    all.insert(others.partition_point(|&other| other < case), case);
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::solve::SolverKind;
    use crate::solve::tests::{KINDS, clauses, holds};

    const VARS: u32 = 8;

    /// Two factors of three cases and two of two. Each of the latter is a variable and its
    /// negation.
    fn factors() -> Vec<Vec<Lit>> {
        let mut factors: Vec<Vec<Lit>> = [0, 3]
            .map(|first| (first..first + 3).map(|var| Var(var).positive()).collect())
            .to_vec();
        factors.extend([6, 7].map(|var| vec![Var(var).negative(), Var(var).positive()]));
        factors
    }

    fn exactly_one(factors: &[Vec<Lit>]) -> Vec<Vec<Lit>> {
        let mut clauses = factors.to_vec();
        for factor in factors {
            clauses.extend(
                factor
                    .iter()
                    .enumerate()
                    .flat_map(|(index, &a)| factor[..index].iter().map(move |&b| vec![!a, !b])),
            );
        }
        clauses.retain(|clause| !clause.contains(&!clause[0]));
        clauses
    }

    /// The choices that a row covers, each as positions of factors with their cases.
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
            let size = t.clamp(1, factors.len());
            let feasible: BTreeSet<_> = possible.iter().flat_map(|row| covered(row, size)).collect();
            for &kind in KINDS {
                let mut models = Models::new(VARS as usize, clauses.iter().map(Vec::as_slice), kind);
                let found = covering(t, &factors, &mut models).unwrap();
                let rows: Vec<_> = found.models.iter().map(|model| model.row(&factors)).collect();
                prop_assert!(rows.iter().all(|row| possible.contains(row)));
                for (own, model) in rows.iter().zip(&found.models) {
                    let bits = (0..VARS).filter(|&var| model.is_true(Var(var).positive())).map(|var| 1 << var).sum();
                    prop_assert!(holds(&clauses, bits));
                    prop_assert_eq!(own, &row(bits));
                }
                let covers = |rows: &[Vec<usize>]| rows.iter().flat_map(|row| covered(row, size)).collect::<BTreeSet<_>>();
                prop_assert_eq!(covers(&rows), feasible.clone());
                prop_assert_eq!(found.feasible, feasible.len() as u64);
                let all = [1, 10, 37, 60, 36][size];
                prop_assert_eq!(found.infeasible, all - found.feasible);
                for index in 0..rows.len() {
                    let mut fewer = rows.clone();
                    fewer.remove(index);
                    prop_assert!(covers(&fewer) != feasible);
                }
            }
        }
    }

    #[test]
    fn others_are_numbered_one_after_the_other() {
        let factors: Vec<_> = (0..9).map(|var| vec![Var(var).positive()]).collect();
        for t in 1..6 {
            let choices = Choices::none(&Cases::new(&factors), t).unwrap();
            let mut indices = Vec::new();
            each_subset(&(0..9).collect::<Vec<_>>(), t - 1, |others| {
                assert_eq!(choices.at(choices.index(others)), others);
                indices.push(choices.index(others));
            });
            indices.sort_unstable();
            assert_eq!(indices, (0..choices.bits.len() / choices.words).collect::<Vec<_>>());
        }
    }

    /// Where nothing is excluded, the number of models that pairs need grows with the logarithm of
    /// the number of factors.
    #[test]
    fn sets_are_small() {
        let factors: Vec<_> =
            (0..100).map(|var| vec![Var(var).negative(), Var(var).positive()]).collect();
        let mut models = Models::new(100, std::iter::empty(), SolverKind::Batsat);
        assert!(covering(2, &factors, &mut models).unwrap().models.len() <= 16);
    }

    #[test]
    fn without_factors_one_model_will_do() {
        let mut models = Models::new(1, std::iter::empty(), SolverKind::Batsat);
        assert_eq!(covering(2, &[], &mut models).unwrap().models.len(), 1);
    }

    #[test]
    fn too_many_choices_are_refused() {
        let factors: Vec<_> =
            (0..1000).map(|var| vec![Var(var).negative(), Var(var).positive()]).collect();
        let mut models = Models::new(1000, std::iter::empty(), SolverKind::Batsat);
        assert_eq!(covering(3, &factors, &mut models), None);
    }

    /// Here `a`, `b` and `c` are equal, `d` is never true, and `e` is free.
    #[test]
    fn what_goes_together_counts_as_often_as_it_is_there() {
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|var| Var(var).positive());
        let clauses = [vec![!a, b], vec![!b, c], vec![!c, a], vec![!d, e], vec![!d, !e]];
        let factors = [a, b, c, d, e].map(|literal| vec![!literal, literal]);
        let mut models = Models::new(5, clauses.iter().map(Vec::as_slice), SolverKind::default());
        let found = covering(2, &factors, &mut models).unwrap();
        // The sum is: 3 pairs of 2, 3 with `d` of 2, 3 with `e` of 4, and `d` with `e` of 2.
        assert_eq!((found.models.len(), found.feasible, found.infeasible), (4, 26, 14));
    }

    /// A factor of one case has nothing to choose, and is part of each row all the same.
    #[test]
    fn a_factor_of_one_case_is_in_every_row() {
        let [a, b] = [0, 1].map(|var| Var(var).positive());
        let mut models = Models::new(2, [[a].as_slice()].into_iter(), SolverKind::Batsat);
        let found = covering(2, &[vec![a], vec![b, !b]], &mut models).unwrap();
        assert_eq!((found.models.len(), found.feasible, found.infeasible), (2, 2, 0));
    }
}
