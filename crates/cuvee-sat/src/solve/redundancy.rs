//! Finds which constraints can be violated alone.
//!
//! A constraint that cannot is implied by the others. Where all constraints together have no model,
//! a constraint that can is one to blame. The search first walks through models: a neighbour of a
//! model in which exactly one constraint fails shows that this one can fail alone. Then, with all
//! other constraints assumed, propagation and a search near a model decide about most of the rest.
//! For the others, clauses demand that at most one constraint fails, and a solver is asked for a
//! model in which it is this one.

use super::SolverKind;
use super::backbone::never;
use super::circuit::Circuit;
use super::models::Models;
use super::nearby::Nearby;
use super::propagator::Propagator;
use super::walk::LaneWalk;
use crate::formula::{Cnf, Lit, Var};
use crate::progress::Progress;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// How many passes of walking there are at most, and how many in a row may show nothing new.
const PASSES: u32 = 24;
const IN_VAIN: u32 = 2;

/// The question which constraints can be violated alone.
#[derive(Clone, Copy)]
pub struct ConstraintQuestion<'q> {
    /// All clauses but the constraints. They define the literals of the constraints.
    pub rest: &'q Cnf,
    /// The variables from which gates follow.
    pub inputs: &'q [Var],
    /// The factors that walking changes, each a list of cases of which exactly one is true in every
    /// model.
    pub factors: &'q [Vec<Lit>],
    /// The constraints: the origin of each, and its literal. Constraints of the same origin count
    /// as one.
    pub constraints: &'q [(u32, Lit)],
}

/// The answer to a [`ConstraintQuestion`].
pub struct ConstraintsAlone {
    /// Whether no model fulfils all constraints.
    pub void: bool,
    /// For each constraint, whether it can fail while those of all other origins hold. Where no
    /// model fulfils all constraints, it is whether any constraint of its origin can.
    pub may_fail: Vec<bool>,
}

/// A step of the walk through halves of the origins, which are given as ranges of positions.
enum Halving {
    /// Assumes the constraints of the first range, and continues within the second.
    Beside(Range<usize>, Range<usize>),
    Within(Range<usize>),
    /// Takes back all literals but this many.
    Back(usize),
}

impl ConstraintQuestion<'_> {
    /// Answers the question with a solver.
    pub fn answer(&self, kind: SolverKind, progress: &mut dyn Progress) -> ConstraintsAlone {
        let mut models = Models::of(self.rest, kind);
        let all: Vec<Lit> = self.constraints.iter().map(|&(_, literal)| literal).collect();
        let void = !models.solve(&all);
        let nearby = (!void).then(|| models.nearby());
        let mut may_fail = FxHashSet::default();
        if !void && let Some(circuit) = Circuit::new(self.rest, self.inputs) {
            let mut fulfilling = Models::of(self.rest, kind);
            all.iter().for_each(|&literal| fulfilling.add_clause(&[literal]));
            if let Some(walk) = LaneWalk::new(&circuit, self.factors, &mut fulfilling) {
                self.walk(walk, &mut may_fail);
            }
        }
        let open = self.undecided(&mut models.propagator(), nearby.as_ref(), &mut may_fail);
        self.at_most_one_fails(&mut models);
        progress.counted("questions", open.len());
        // Each is asked for by itself: that it fails makes all others hold at once. A solver that
        // may choose which one fails decides on the others first.
        let holding: FxHashSet<_> =
            never(open.clone(), &mut models, &mut |_, _| {}).into_iter().collect();
        may_fail.extend(open.into_iter().filter(|failed| !holding.contains(failed)));
        progress.counted("searches", models.searches());
        let fails = |own: &&(u32, Lit)| may_fail.contains(&!own.1);
        let origins: FxHashSet<u32> =
            self.constraints.iter().filter(fails).map(|&(origin, _)| origin).collect();
        // Where all constraints together have no model, constraints of the same origin are to blame
        // together.
        let may_fail = self.constraints.iter();
        let may_fail =
            may_fail.map(|own| if void { origins.contains(&own.0) } else { fails(&own) });
        let may_fail = may_fail.collect();
        ConstraintsAlone { void, may_fail }
    }

    /// Adds constraints that fail alone in a neighbour of a model, as their negated literals.
    fn walk(&self, mut walk: LaneWalk<'_>, may_fail: &mut FxHashSet<Lit>) {
        let mut by_var: FxHashMap<Var, Vec<Lit>> = FxHashMap::default();
        for &(_, literal) in self.constraints {
            // Constraints with the same literal fail together, so neither of them fails alone.
            by_var.entry(literal.var()).or_default().push(literal);
        }
        let mut in_vain = 0;
        for _ in 0..PASSES {
            let before = may_fail.len();
            let may_go_on = walk.pass(&mut |_, lanes, holds| {
                let of_changed = || {
                    let changed = lanes.changed().filter_map(|(var, _)| by_var.get(&var));
                    changed.flatten().map(|&literal| (literal, lanes.value(!literal)))
                };
                let planes =
                    |(one, more): (u64, u64), failed: u64| (one | failed, more | one & failed);
                let (one, more) = of_changed().map(|(_, failed)| failed).fold((0, 0), planes);
                let alone = holds & one & !more;
                if alone != 0 {
                    let shown = of_changed().filter(|(_, failed)| failed & alone != 0);
                    may_fail.extend(shown.map(|(literal, _)| !literal));
                }
                holds & !one
            });
            in_vain = if may_fail.len() > before { 0 } else { in_vain + 1 };
            if in_vain == IN_VAIN || !may_go_on {
                return;
            }
        }
    }

    /// The negated literals of the constraints of which neither propagation nor a search near a
    /// model can tell whether they may fail while those of all other origins hold. Adds those of
    /// which the search can.
    ///
    /// The origins are halved again and again. For all origins of the left half, the origins of the
    /// right half imply the same literals, and the other way round. So each constraint is assumed
    /// once for each halving around it, and not once for each other constraint.
    fn undecided(
        &self,
        propagator: &mut Propagator,
        nearby: Option<&Nearby<'_>>,
        may_fail: &mut FxHashSet<Lit>,
    ) -> Vec<Lit> {
        let mut constraints: Vec<(u32, Lit)> = self.constraints.to_vec();
        constraints.sort_unstable();
        constraints.dedup();
        let origins: Vec<&[(u32, Lit)]> = constraints.chunk_by(|a, b| a.0 == b.0).collect();
        let is_open = |own: &&[(u32, Lit)]| own.iter().any(|(_, own)| !may_fail.contains(&!*own));
        let asked: Vec<usize> = (0..origins.len()).filter(|&at| is_open(&origins[at])).collect();
        let is_asked = |range: &Range<usize>| {
            asked
                .get(asked.partition_point(|&at| at < range.start))
                .is_some_and(|&at| at < range.end)
        };
        let mut open = Vec::new();
        let mut next = vec![Halving::Within(0..origins.len())];
        while let Some(step) = next.pop() {
            match step {
                Halving::Back(known) => propagator.undo(known),
                Halving::Beside(_, own) if !is_asked(&own) => {}
                Halving::Beside(others, own) => {
                    let known = propagator.trail().len();
                    next.push(Halving::Back(known));
                    let mut others = origins[others].iter().copied().flatten();
                    let is_possible = others.all(|&(_, literal)| {
                        propagator.value(literal).unwrap_or_else(|| propagator.assume(literal))
                    });
                    if is_possible {
                        next.push(Halving::Within(own));
                    }
                }
                Halving::Within(range) if range.len() > 1 => {
                    let middle = range.start + range.len() / 2;
                    let (left, right) = (range.start..middle, middle..range.end);
                    next.push(Halving::Beside(left.clone(), right.clone()));
                    next.push(Halving::Beside(right, left));
                }
                Halving::Within(range) => {
                    for failed in origins[range].iter().copied().flatten().map(|own| !own.1) {
                        if may_fail.contains(&failed) {
                            continue;
                        }
                        let found = match nearby {
                            Some(nearby) => nearby.has_model(failed, propagator),
                            None => (!propagator.is_possible(failed)).then_some(false),
                        };
                        match found {
                            Some(false) => {}
                            Some(true) => drop(may_fail.insert(failed)),
                            None => open.push(failed),
                        }
                    }
                }
            }
        }
        open
    }

    /// Adds clauses so that constraints of at most one origin fail. A literal for each origin says
    /// whether a constraint has failed up to there.
    fn at_most_one_fails(&self, models: &mut Models) {
        let mut origins: Vec<(u32, Lit)> = self.constraints.to_vec();
        origins.sort_unstable();
        let mut before: Option<Lit> = None;
        for constraints in origins.chunk_by(|a, b| a.0 == b.0) {
            let failed = models.new_var().positive();
            for &(_, literal) in constraints {
                models.add_clause(&[failed, literal]);
                if let Some(before) = before {
                    models.add_clause(&[!before, literal]);
                }
            }
            if let Some(before) = before {
                models.add_clause(&[!before, failed]);
            }
            before = Some(failed);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::solve::gates::tests::circuit;
    use crate::solve::random::Random;
    use crate::solve::tests::{KINDS, clauses, holds};

    const INPUTS: u32 = 5;
    const GATES: u32 = 5;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// Compares with brute force. Some origins have several constraints.
        #[test]
        fn what_fails_alone(seed: u64, more in clauses(INPUTS + GATES, 0..4), constraints in prop::collection::vec((0..5_u32, (0..2 * (INPUTS + GATES)).prop_map(Lit)), 0..8), is_circuit in prop::bool::weighted(0.8)) {
            let vars = INPUTS + GATES;
            let mut all = if is_circuit { circuit(INPUTS, GATES, &mut Random::new(seed)) } else { Vec::new() };
            all.extend(more);
            let models: Vec<u32> = (0..1 << vars).filter(|&model| holds(&all, model)).collect();
            let is_true = |literal: Lit, model: u32| holds(&[vec![literal]], model);
            let void = !models.iter().any(|&model| constraints.iter().all(|&(_, literal)| is_true(literal, model)));
            let expected: Vec<bool> = constraints.iter().map(|&(origin, own)| models.iter().any(|&model| {
                let others = constraints.iter().filter(|(other, _)| *other != origin);
                (void || !is_true(own, model)) && others.into_iter().all(|&(_, literal)| is_true(literal, model))
            })).collect();
            let factors: Vec<Vec<Lit>> = (0..INPUTS).map(|var| vec![Var(var).positive(), Var(var).negative()]).collect();
            let inputs: Vec<Var> = (0..INPUTS).map(Var).collect();
            let rest = Cnf::of(vars as usize, all);
            for &kind in KINDS {
                let question = ConstraintQuestion { rest: &rest, inputs: &inputs, factors: &factors, constraints: &constraints };
                let found = question.answer(kind, &mut ());
                prop_assert_eq!((found.void, found.may_fail), (void, expected.clone()));
            }
        }
    }
}
