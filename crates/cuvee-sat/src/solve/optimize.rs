//! Minimises a weighted sum, guided by unsatisfiable cores.
//!
//! The cost of a model is written as `lower + Σ wᵢ·xᵢ`, in which every `xᵢ` is a literal that costs
//! `wᵢ`. At first `lower` is 0, and the terms are those of the objective. All `xᵢ` are assumed to
//! be false. If the solver finds a model, it costs `lower`, and no model costs less. If it finds
//! none, it names a *core* `{x₁, …, xₙ}`, of which at least one is true in every model. Let `w` be
//! the least weight in the core. Each of its literals gives up `w`, and since `Σ xᵢ` is the number
//! of them that are true,
//!
//! ```text
//! Σ w·xᵢ = w + Σₖ₌₂ w·[at least k of x₁, …, xₙ are true]
//! ```
//!
//! so `lower` rises by `w`, and the sum gets new terms. This is the same cost for every model,
//! written differently: the part that every model has to pay is now in `lower`. The count "at least
//! 2" becomes a literal that costs `w`. "At least 3" becomes one only once "at least 2" was in a
//! core itself, so that sums grow only as far as needed. Each core raises `lower`, so that the
//! search ends.
//!
//! The cost of any model found on the way is an upper bound, `upper`. Where both bounds meet, or
//! the limit is reached, the search ends with what is proven by then. Afterwards every literal that
//! still costs something is made false for good. The models that are left are the best ones, and
//! the next objective chooses among those.
//!
//! Several techniques make this fast. [`Technique`] names them, and each can be measured on and
//! off:
//!
//! - *Held-back cores*: sums are built only when the present terms have no core left. So cores
//!   share few literals, and there are fewer sums of sums.
//! - *Minimisation*: a shorter core raises `lower` by as much, and needs a smaller sum.
//! - *Exclusive cores*: where at most one literal of a core can be true, nothing but `w` is left of
//!   the sum.
//! - *At most one*: among some costs, all but one are bound to arise. An example is alternatives
//!   that exclude each other, when as many as possible are wanted. All but one of these costs are
//!   added to `lower` before any core is searched for. Otherwise each pair of them would be a core.
//! - *Hardening*: a literal that costs more than the gap between the bounds is false in every model
//!   that is as good as the best one found.
//! - *Locality*: cores among few costs that are close together in the objective are found first,
//!   and faster.
//!
//! # References
//!
//! - António Morgado, Carmine Dodaro, João Marques-Silva. "Core-Guided MaxSAT with Soft Cardinality
//!   Constraints." CP 2014: this algorithm, OLL, for MaxSAT; after Benjamin Andres, Benjamin
//!   Kaufmann, Oliver Matheis, Torsten Schaub. "Unsatisfiability-based optimization in clasp." ICLP
//!   2012.
//! - Ruben Martins, Saurabh Joshi, Vasco Manquinho, Inês Lynce. "Incremental Cardinality
//!   Constraints for MaxSAT." CP 2014: sums that grow.
//! - Jeremias Berg, Matti Järvisalo. "Weight-Aware Core Extraction in SAT-Based MaxSAT Solving." CP
//!   2017: held-back cores.
//! - Carlos Ansótegui, María Luisa Bonet, Joel Gabàs, Jordi Levy. "Improving SAT-Based Weighted
//!   MaxSAT Solvers." CP 2012: hardening.
//! - Alexey Ignatiev, António Morgado, João Marques-Silva. "RC2: an Efficient MaxSAT Solver." JSAT
//!   2019: costs of which all but one arise. Here they may have different weights.

use super::exclusion::{Exclusions, WIDE};
use super::solver::{Recorded, SatSolver};
use super::totalizer::Totalizer;
use super::{Technique, Techniques};
use crate::formula::Lit;
use rustc_hash::FxHashSet;

/// A callback that gets the bounds. Right after the solver found a better model, it also gets the
/// solver.
pub(super) type Observer<'o> = dyn FnMut(u128, u128, Option<&dyn SatSolver>) + 'o;

/// Finds the least cost, given the cost of some model, and restricts the solver to the models of
/// the least cost. Returns the bounds of that cost, which are equal unless the solver reached its
/// limit.
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

/// How many assumptions may be tried to shorten one core. That is enough to try to leave out each
/// literal of a short core, but not of a core of thousands.
const EFFORT: usize = 20_000;

/// How many costs are in a group at first, and how many groups are then put together.
const GROUP: usize = 8;

/// The output of a sum that a literal stands for.
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
    /// The current cost of each literal, which is not yet in `lower`.
    weights: Vec<u128>,
    /// The literals that had a weight at some time, except those whose weight is known to be used
    /// up.
    costly: Vec<Lit>,
    /// The costly literals that stand for very large groups.
    wide: FxHashSet<Lit>,
    outputs: Vec<Option<SumOutput>>,
    sums: Vec<Sum>,
    /// The cores whose sums are not built yet, each with its weight.
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

    /// Handles groups of costs of which all but one are bound to arise. All costs but the heaviest
    /// are added to `lower`. The rest depends on which cost does not arise: the lighter that cost,
    /// the more is still to be paid. So for each cost, from the heaviest down, a literal says that
    /// it and all heavier costs arise. The literal costs the difference to the next lighter cost.
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

    /// Gives a literal a cost.
    fn charge(&mut self, literal: Lit, weight: u128, output: Option<SumOutput>) {
        if literal.index() >= self.weights.len() {
            self.weights.resize(literal.index() + 1, 0);
            self.outputs.resize(literal.index() + 1, None);
        }
        self.weights[literal.index()] = weight;
        self.outputs[literal.index()] = output;
        self.costly.push(literal);
    }

    /// Relaxes the cores in groups of neighbouring costs, and then in groups of these groups. Costs
    /// that conflict are mostly written close together, and a core among few costs is found faster
    /// than one among all. A literal that stands for a group of thousands is left out, because it
    /// depends on the whole group, and propagation would go through the whole group for each of its
    /// neighbours.
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

    /// Removes the literals that no longer cost anything.
    fn forget_paid(&mut self) {
        let weights = &self.weights;
        self.costly.retain(|literal| weights[literal.index()] > 0);
    }

    /// The negations of those of the literals that cost something, the heaviest first.
    fn assumptions(&self, literals: &[Lit]) -> Vec<Lit> {
        let weight = |literal: Lit| self.weights[literal.index()];
        let mut heavy: Vec<_> =
            literals.iter().copied().filter(|&literal| weight(literal) > 0).collect();
        heavy.sort_by_key(|&literal| (std::cmp::Reverse(weight(literal)), literal));
        heavy.iter().map(|&literal| !literal).collect()
    }

    /// Records the model that the solver just found, if it is better.
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

    /// Tries to shorten a core. The solver may find a shorter one at once, and each literal may
    /// turn out not to be needed. Light literals are tried first, because the core raises the bound
    /// by its least weight.
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

    /// Raises the bound by a core, which is given as the assumptions that fail.
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

    /// Adds a cost for an output of a sum.
    fn demand(&mut self, sum: usize, count: usize) {
        let Sum { totalizer, weight } = &mut self.sums[sum];
        let weight = *weight;
        if let Some(literal) = totalizer.at_least(count, self.solver) {
            self.charge(literal, weight, Some(SumOutput { sum, count }));
        }
    }

    /// Builds the sums of the cores.
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

    /// Excludes literals that cost more than the gap between the bounds. They are false in every
    /// model that is as good as the best one found.
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

    /// Allows only models of the least cost, in which no costly literal is true.
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
