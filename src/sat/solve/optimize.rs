//! Minimises a weighted sum, guided by unsatisfiable cores.
//!
//! The cost of a model is written as `lower + Σ wᵢ·xᵢ`, in which every `xᵢ` is a literal that costs. At
//! first `lower` is 0, and the terms are those of the objective. All `xᵢ` are assumed false. If the
//! solver finds a model, it costs `lower`, and nothing costs less. If it does not, it names a *core*
//! `{x₁, …, xₙ}`, of which at least one is true in every model. With `w` the least weight in it, each of
//! its literals gives up `w`, and since `Σ xᵢ` is the number of them that are true,
//!
//! ```text
//! Σ w·xᵢ = w + Σₖ₌₂ w·[at least k of x₁, …, xₙ are true]
//! ```
//!
//! so `lower` rises by `w`, and the sum gets new terms. That is the same cost for every model, written
//! differently; only, what is bound to be paid is now in `lower`. The count "at least 2" becomes a
//! literal that costs `w`, and "at least 3" one once "at least 2" was in a core itself, so that sums
//! grow as far as they are needed. Each core raises `lower`, so that the search ends.
//!
//! Any model found on the way is an upper bound, `upper`. Where both meet, or the limit is reached, the
//! search ends with what is proven by then. Afterwards everything that still costs is made false for
//! good: the models that are left are the best ones, and the next objective chooses among those.
//!
//! What makes this fast is named by [`Technique`], each of which can be measured on and off:
//!
//! - *Held-back cores*: sums are built once the terms as they are have no core left. So cores share few
//!   literals, and there are fewer sums of sums.
//! - *Minimisation*: a short core raises `lower` by as much, and costs a smaller sum.
//! - *Exclusive cores*: where at most one literal of a core can be true, the sum ends at `w`.
//! - *At most one*: of costs of which all but one are bound to arise, such as those of alternatives that
//!   exclude each other when as much as possible is wanted, all but one are in `lower` before any core
//!   was looked for. Without that, each pair of them is a core.
//! - *Hardening*: what costs more than the gap between the bounds is false in every model that is as
//!   good as the best one found.
//! - *Locality*: cores among few costs that stand close together are found first, and faster.
//!
//! # References
//!
//! - António Morgado, Carmine Dodaro, João Marques-Silva. "Core-Guided MaxSAT with Soft Cardinality
//!   Constraints." CP 2014: this algorithm, OLL, for MaxSAT; after Benjamin Andres, Benjamin Kaufmann,
//!   Oliver Matheis, Torsten Schaub. "Unsatisfiability-based optimization in clasp." ICLP 2012.
//! - Ruben Martins, Saurabh Joshi, Vasco Manquinho, Inês Lynce. "Incremental Cardinality Constraints for
//!   MaxSAT." CP 2014: sums that grow.
//! - Jeremias Berg, Matti Järvisalo. "Weight-Aware Core Extraction in SAT-Based MaxSAT Solving." CP
//!   2017: cores held back.
//! - Carlos Ansótegui, María Luisa Bonet, Joel Gabàs, Jordi Levy. "Improving SAT-Based Weighted MaxSAT
//!   Solvers." CP 2012: hardening.
//! - Alexey Ignatiev, António Morgado, João Marques-Silva. "RC2: an Efficient MaxSAT Solver." JSAT 2019:
//!   costs of which all but one arise. Here they may have different weights.

use super::exclusion::{Exclusions, WIDE};
use super::solver::{Recorded, SatSolver};
use super::totalizer::Totalizer;
use super::{Technique, Techniques};
use crate::sat::formula::Lit;
use rustc_hash::FxHashSet;

/// Is told the bounds, and sees the solver right after it found a model that is better than those
/// before.
pub(super) type Observer<'o> = dyn FnMut(u128, u128, Option<&dyn SatSolver>) + 'o;

/// Finds the least cost, given the cost of some model, and restricts the solver to the models of
/// the least cost. Bounds of that cost, which meet unless the solver reached its limit.
pub(super) fn minimize(
    terms: &[(Lit, u128)],
    start: u128,
    solver: &mut Recorded,
    techniques: Techniques,
    observer: &mut Observer<'_>,
) -> (u128, u128) {
    let mut search = CoreGuided::new(terms, start, solver, techniques, observer);
    search.run();
    search.restrict();
    (search.lower, search.upper)
}

/// Assumptions that shortening one core may try: all of a short one can be left out one by one,
/// those of a core of thousands cannot.
const EFFORT: usize = 20_000;

/// How many costs are looked at together first, and how many groups of those then.
const GROUP: usize = 8;

/// Which count of which sum a literal stands for.
#[derive(Clone, Copy)]
struct SumOutput {
    sum: usize,
    count: usize,
}

struct Sum {
    totalizer: Totalizer,
    weight: u128,
}

struct CoreGuided<'s> {
    solver: &'s mut Recorded,
    techniques: Techniques,
    exclusions: Exclusions,
    observer: &'s mut Observer<'s>,
    terms: &'s [(Lit, u128)],
    lower: u128,
    upper: u128,
    /// What each literal costs now, beside `lower`.
    weights: Vec<u128>,
    /// The literals that ever had a weight.
    costly: Vec<Lit>,
    /// Those of them that stand for groups of very many.
    wide: FxHashSet<Lit>,
    outputs: Vec<Option<SumOutput>>,
    sums: Vec<Sum>,
    /// Cores whose sums are not built yet, each with its weight.
    cores: Vec<(Vec<Lit>, u128)>,
}

impl<'s> CoreGuided<'s> {
    fn new(
        terms: &'s [(Lit, u128)],
        start: u128,
        solver: &'s mut Recorded,
        techniques: Techniques,
        observer: &'s mut Observer<'s>,
    ) -> Self {
        let mut search = Self {
            exclusions: Exclusions::new(solver),
            techniques,
            solver,
            observer,
            terms,
            lower: 0,
            upper: start,
            weights: Vec::new(),
            costly: Vec::new(),
            wide: FxHashSet::default(),
            outputs: Vec::new(),
            sums: Vec::new(),
            cores: Vec::new(),
        };
        for &(literal, weight) in terms {
            search.charge(literal, weight, None);
        }
        search
    }

    fn run(&mut self) {
        if self.techniques.has(Technique::AtMostOne) {
            self.charge_bound();
        }
        if self.techniques.has(Technique::Locality) {
            self.relax_neighbours();
        }
        while self.lower < self.upper {
            self.forget_paid();
            match self.solver.search(&self.assumptions(&self.costly)) {
                None => return,
                Some(true) => {
                    self.record();
                    self.count_cores();
                }
                Some(false) => {
                    let core = self.smaller(self.solver.core().to_vec());
                    self.relax(core);
                }
            }
            self.harden();
        }
    }

    /// Of costs of which all but one are bound to arise, lets all but the heaviest count. What is
    /// left depends on which one does not arise: the more, the lighter it is. So for each, from the
    /// heaviest down, a literal says that it and all heavier ones arise, and costs by how much it
    /// is heavier than the next lighter one.
    fn charge_bound(&mut self) {
        let literals: Vec<_> = self.terms.iter().map(|&(literal, _)| literal).collect();
        for mut group in self.exclusions.groups(&literals) {
            group.sort_by_key(|literal| (self.weights[literal.index()], *literal));
            let weights: Vec<u128> =
                group.iter().map(|literal| self.weights[literal.index()]).collect();
            let is_wide = group.len() >= WIDE;
            let mut all: Option<Lit> = None;
            for (position, &literal) in group.iter().enumerate().rev() {
                let heavier = weights[position]
                    - position.checked_sub(1).map_or(0, |lighter| weights[lighter]);
                self.weights[literal.index()] = 0;
                let all_arise = match all {
                    None => {
                        self.weights[literal.index()] = heavier;
                        literal
                    }
                    Some(all) => {
                        let arises = self.solver.new_var().positive();
                        self.solver.add_clause(&[arises, !literal, !all]);
                        self.charge(arises, heavier, None);
                        arises
                    }
                };
                if is_wide {
                    self.wide.insert(all_arise);
                }
                all = Some(all_arise);
            }
            self.raise(weights.split_last().map_or(0, |(_, lighter)| lighter.iter().sum()));
        }
    }

    /// Lets a literal cost something.
    fn charge(&mut self, literal: Lit, weight: u128, output: Option<SumOutput>) {
        if literal.index() >= self.weights.len() {
            self.weights.resize(literal.index() + 1, 0);
            self.outputs.resize(literal.index() + 1, None);
        }
        self.weights[literal.index()] = weight;
        self.outputs[literal.index()] = output;
        self.costly.push(literal);
    }

    /// Relaxes the cores in groups of costs that stand beside each other, and then in groups of
    /// those: what contradicts each other in a template is mostly written close together, and a
    /// core among few is found faster than one among all. What stands for a group of thousands
    /// depends on all of it, so that each of its neighbours would be followed through the whole group.
    fn relax_neighbours(&mut self) {
        let mut size = GROUP;
        while size < self.costly.len() {
            let is_local = |literal: &Lit| !self.wide.contains(literal);
            let local: Vec<_> = self.costly.iter().copied().filter(is_local).collect();
            for group in local.chunks(size) {
                while self.lower < self.upper
                    && let assumptions = self.assumptions(group)
                    && !assumptions.is_empty()
                    && let Some(false) = self.solver.attempt(&assumptions)
                {
                    let core = self.smaller(self.solver.core().to_vec());
                    self.relax(core);
                }
            }
            self.count_cores();
            self.harden();
            self.forget_paid();
            size *= GROUP;
        }
    }

    /// What costs nothing any more is of no interest.
    fn forget_paid(&mut self) {
        let weights = &self.weights;
        self.costly.retain(|literal| weights[literal.index()] > 0);
    }

    /// Those of these literals that cost something are false, the heaviest first.
    fn assumptions(&self, literals: &[Lit]) -> Vec<Lit> {
        let weight = |literal: Lit| self.weights[literal.index()];
        let mut heavy: Vec<_> =
            literals.iter().copied().filter(|&literal| weight(literal) > 0).collect();
        heavy.sort_by_key(|&literal| (std::cmp::Reverse(weight(literal)), literal));
        heavy.iter().map(|&literal| !literal).collect()
    }

    /// Takes note of the model that the solver just found.
    fn record(&mut self) {
        let cost = self
            .terms
            .iter()
            .filter(|(literal, _)| self.solver.is_true(*literal))
            .map(|(_, weight)| weight)
            .sum();
        if cost < self.upper {
            self.upper = cost;
            (self.observer)(self.lower, self.upper, Some(&*self.solver));
        }
    }

    fn raise(&mut self, weight: u128) {
        self.lower += weight;
        (self.observer)(self.lower, self.upper, None);
    }

    /// Tries to shorten a core: the solver may find a shorter one at once, and each literal may
    /// turn out not to be needed. Light ones are tried first, as the least weight of the core is
    /// what it raises the bound by.
    fn smaller(&mut self, mut core: Vec<Lit>) -> Vec<Lit> {
        if !self.techniques.has(Technique::Minimisation) {
            return core;
        }
        core.sort_by_key(|&literal| (self.weights[(!literal).index()], literal));
        let (mut needed, mut effort) = (0, 0);
        while needed < core.len() && core.len() > 1 && effort < EFFORT {
            effort += core.len();
            let mut rest = core.clone();
            rest.remove(needed);
            match self.solver.attempt(&rest) {
                Some(false) => {
                    let found: FxHashSet<_> = self.solver.core().iter().copied().collect();
                    let is_left = |literal: &Lit| found.contains(literal);
                    needed =
                        core[..needed].iter().copied().filter(|literal| is_left(literal)).count();
                    core.retain(is_left);
                }
                Some(true) => {
                    self.record();
                    needed += 1;
                }
                None => needed += 1,
            }
        }
        core
    }

    /// Raises the bound by a core, given as the assumptions that fail.
    fn relax(&mut self, core: Vec<Lit>) {
        let core: Vec<_> = core.into_iter().map(|literal| !literal).collect();
        let weight = core.iter().map(|literal| self.weights[literal.index()]).min().unwrap_or(0);
        self.solver.add_clause(&core);
        for &literal in &core {
            self.weights[literal.index()] -= weight;
            if let Some(output) = self.outputs[literal.index()].take() {
                self.demand(output.sum, output.count + 1);
            }
        }
        self.raise(weight);
        let is_counted = core.len() > 1
            && !(self.techniques.has(Technique::ExclusiveCores)
                && self.exclusions.are_exclusive(&core));
        if is_counted {
            self.cores.push((core, weight));
        }
        if !self.techniques.has(Technique::HeldBackCores) {
            self.count_cores();
        }
    }

    /// Charges for a count of a sum.
    fn demand(&mut self, sum: usize, count: usize) {
        let Sum { totalizer, weight } = &mut self.sums[sum];
        let weight = *weight;
        if let Some(literal) = totalizer.at_least(count, self.solver) {
            self.charge(literal, weight, Some(SumOutput { sum, count }));
        }
    }

    /// Replaces the cores by sums.
    fn count_cores(&mut self) {
        for (core, weight) in std::mem::take(&mut self.cores) {
            let mut totalizer = Totalizer::new(&core);
            if !self.techniques.has(Technique::GrowingSums) {
                totalizer.at_least(core.len(), self.solver);
            }
            self.sums.push(Sum { totalizer, weight });
            self.demand(self.sums.len() - 1, 2);
        }
    }

    /// What costs more than the best model has above the bound is false in every model that is as
    /// good.
    fn harden(&mut self) {
        if !self.techniques.has(Technique::Hardening) {
            return;
        }
        let gap = self.upper - self.lower;
        for &literal in &self.costly {
            if self.weights[literal.index()] > gap {
                self.weights[literal.index()] = 0;
                self.solver.add_clause(&[!literal]);
            }
        }
    }

    /// Allows only models of the least cost: those in which no costly literal is true.
    fn restrict(&mut self) {
        if self.lower < self.upper {
            return;
        }
        self.count_cores();
        for &literal in &self.costly {
            if self.weights[literal.index()] > 0 {
                self.solver.add_clause(&[!literal]);
            }
        }
    }
}
