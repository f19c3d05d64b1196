//! Minimises a weighted sum, guided by unsatisfiable cores.
//!
//! The cost of a model is written as `lower + Σ wᵢ·xᵢ`. All `xᵢ` are assumed false. Where that
//! fails, the core `{x₁, …, xₙ}` says that at least one of them is true: with `w` the least weight
//! in it, `Σ w·xᵢ = w + Σₖ₌₂ w·[at least k of them]`, so `lower` rises by `w`, and the sum gets new
//! terms, one at a time. Once all terms can be false, `lower` is the optimum.
//!
//! What makes this fast is named by [`Technique`].

use super::exclusion::Exclusions;
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
    let mut search = Search::new(terms, start, solver, techniques, observer);
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
struct Output {
    sum: usize,
    count: usize,
}

struct Sum {
    totalizer: Totalizer,
    weight: u128,
}

struct Search<'s> {
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
    outputs: Vec<Option<Output>>,
    sums: Vec<Sum>,
    /// Cores whose sums are not built yet, each with its weight.
    cores: Vec<(Vec<Lit>, u128)>,
}

impl<'s> Search<'s> {
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
            self.relax_groups();
        }
        while self.lower < self.upper {
            self.forget_settled();
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
            let mut all: Option<Lit> = None;
            for (position, &literal) in group.iter().enumerate().rev() {
                let heavier = weights[position]
                    - position.checked_sub(1).map_or(0, |lighter| weights[lighter]);
                self.weights[literal.index()] = 0;
                all = Some(match all {
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
                });
            }
            self.raise(weights.split_last().map_or(0, |(_, lighter)| lighter.iter().sum()));
        }
    }

    /// Lets a literal cost something.
    fn charge(&mut self, literal: Lit, weight: u128, output: Option<Output>) {
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
    /// core among few is found faster than one among all.
    fn relax_groups(&mut self) {
        let mut size = GROUP;
        while size < self.costly.len() {
            for group in self.costly.clone().chunks(size) {
                while self.lower < self.upper
                    && let Some(false) = self.solver.attempt(&self.assumptions(group))
                {
                    let core = self.smaller(self.solver.core().to_vec());
                    self.relax(core);
                }
            }
            self.count_cores();
            self.harden();
            self.forget_settled();
            size *= GROUP;
        }
    }

    /// What costs nothing any more is of no interest.
    fn forget_settled(&mut self) {
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
            self.charge(literal, weight, Some(Output { sum, count }));
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
