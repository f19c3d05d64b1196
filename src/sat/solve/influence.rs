//! What differs between two models that differ in one factor alone.
//!
//! Where all follows from inputs, only what stands behind a factor can differ with it. Most of that is
//! seen by walking through models: each step changes one factor. For the rest the clauses behind the
//! factor are there once more, under a literal of their own, beside one model that all factors share.
//! So one model shows what several factors do to it, and one question proves all that is left.
//!
//! Else two models stand side by side, and there is a question for each factor.

use rustc_hash::{FxHashMap, FxHashSet};

use super::SolverKind;
use super::backbone::impossible;
use super::circuit::Circuit;
use super::models::Models;
use super::walk::LaneWalk;
use crate::sat::formula::{Cnf, Lit, Var};
use crate::sat::progress::Progress;

/// What is asked.
#[derive(Clone, Copy)]
pub(crate) struct InfluenceQuestion<'q> {
    /// The models.
    pub cnf: &'q Cnf,
    /// What all else follows from.
    pub inputs: &'q [Var],
    /// Those that may differ, each the cases of which exactly one is true.
    pub factors: &'q [Vec<Lit>],
    /// The variables that are looked at.
    pub of: &'q [Var],
}

impl InfluenceQuestion<'_> {
    /// For each factor the positions of the variables that it influences, in order.
    pub(crate) fn answer(&self, kind: SolverKind, progress: &mut dyn Progress) -> Vec<Vec<usize>> {
        match Circuit::new(self.cnf, self.inputs) {
            Some(circuit) => Behind::new(self, &circuit).found(kind, progress),
            None => {
                progress.counted("questions", self.factors.len());
                let mut pairs = Pairs::new(self, kind);
                (0..self.factors.len()).map(|factor| pairs.influenced(factor)).collect()
            }
        }
    }
}

/// So often walking on may show nothing new.
const IN_VAIN: u32 = 2;
/// Walking ends after so many passes.
const PASSES: u32 = 24;
/// Copies of so many literals are made at a time.
const COPIED: usize = 2_000_000;

/// What stands behind each factor.
struct Behind<'q> {
    question: &'q InfluenceQuestion<'q>,
    circuit: &'q Circuit,
    /// Where each variable stands among those that are looked at.
    positions: Vec<Option<u32>>,
    found: Vec<FxHashSet<u32>>,
}

impl<'q> Behind<'q> {
    fn new(question: &'q InfluenceQuestion<'q>, circuit: &'q Circuit) -> Self {
        let mut positions = vec![None; question.cnf.vars()];
        for (var, position) in question.of.iter().zip(0..) {
            positions[var.index()] = Some(position);
        }
        let found = vec![FxHashSet::default(); question.factors.len()];
        Self { question, circuit, positions, found }
    }

    fn found(mut self, kind: SolverKind, progress: &mut dyn Progress) -> Vec<Vec<usize>> {
        progress.phase("walking through variants");
        let mut models = Models::of(self.question.cnf, kind);
        if let Some(mut walk) = LaneWalk::new(self.circuit, self.question.factors, &mut models) {
            self.walk(&mut walk);
            progress.counted("steps of simulation", walk.lanes.steps as usize);
            progress.phase("inputs without influence");
            self.prove(kind, progress);
        }
        let sorted = |found: FxHashSet<u32>| {
            let mut found: Vec<_> = found.into_iter().map(|position| position as usize).collect();
            found.sort_unstable();
            found
        };
        self.found.into_iter().map(sorted).collect()
    }

    fn walk(&mut self, walk: &mut LaneWalk<'_>) {
        let mut in_vain = 0;
        for _ in 0..PASSES {
            let mut any = false;
            walk.pass(&mut |factor, lanes, holds| {
                for (var, changed) in lanes.changed() {
                    if changed & holds != 0
                        && let Some(position) = self.positions[var.index()]
                    {
                        any |= self.found[factor].insert(position);
                    }
                }
                holds
            });
            in_vain = if any { 0 } else { in_vain + 1 };
            if in_vain == IN_VAIN {
                return;
            }
        }
    }

    /// Asks for all that may be influenced and was not seen to be.
    fn prove(&mut self, kind: SolverKind, progress: &mut dyn Progress) {
        let mut factor = 0;
        while factor < self.found.len() {
            let mut copies = Copies::new(self.question.cnf, kind);
            while factor < self.found.len() && copies.literals < COPIED {
                let cases = &self.question.factors[factor];
                let mut inputs: Vec<Var> = cases.iter().map(|literal| literal.var()).collect();
                inputs.retain(|&var| self.circuit.is_input(var));
                inputs.sort_unstable();
                inputs.dedup();
                let cone = self.circuit.cone(&inputs);
                let open = |var: &Var| {
                    let position = self.positions[var.index()]?;
                    (!self.found[factor].contains(&position)).then_some((position, *var))
                };
                let open: Vec<_> = cone.iter().filter_map(open).collect();
                if !open.is_empty() {
                    copies.add(factor, self.circuit, &cone, &open);
                }
                factor += 1;
            }
            progress.counted("questions", copies.asked.len());
            for (factor, position) in copies.possible() {
                self.found[factor].insert(position);
            }
        }
    }
}

/// A model, and for several factors what stands behind them once more.
struct Copies {
    models: Models,
    literals: usize,
    /// For each literal that is asked about, what is seen where it is true.
    asked: Vec<(Lit, (usize, u32))>,
}

impl Copies {
    fn new(cnf: &Cnf, kind: SolverKind) -> Self {
        Self { models: Models::of(cnf, kind), literals: 0, asked: Vec::new() }
    }

    fn add(&mut self, factor: usize, circuit: &Circuit, cone: &[Var], open: &[(u32, Var)]) {
        let Self { models, literals, asked } = self;
        let applies = models.new_var().positive();
        let twins: FxHashMap<Var, Lit> =
            cone.iter().map(|&var| (var, models.new_var().positive())).collect();
        let twin = |literal: Lit| match twins.get(&literal.var()) {
            Some(twin) => twin.negate_if(literal.is_negative()),
            None => literal,
        };
        for clause in circuit.clauses_of(cone) {
            let copied: Vec<_> = clause.iter().copied().map(twin).chain([!applies]).collect();
            *literals += copied.len();
            models.add_clause(&copied);
        }
        for &(position, var) in open {
            let (one, differs) = (var.positive(), models.new_var().positive());
            models.add_clause(&[!differs, applies]);
            models.add_clause(&[!differs, one, twin(one)]);
            models.add_clause(&[!differs, !one, !twin(one)]);
            asked.push((differs, (factor, position)));
        }
    }

    fn possible(mut self) -> Vec<(usize, u32)> {
        let all = self.asked.iter().map(|&(literal, _)| literal).collect();
        let never: FxHashSet<Lit> = impossible(all, &mut self.models).into_iter().collect();
        self.asked.retain(|(literal, _)| !never.contains(literal));
        self.asked.into_iter().map(|(_, seen)| seen).collect()
    }
}

/// Two models side by side.
struct Pairs<'q> {
    question: &'q InfluenceQuestion<'q>,
    models: Models,
    /// For each factor, a literal under which both have the same case.
    same: Vec<Lit>,
    /// For each variable that is looked at, a literal under which they differ in it.
    differs: Vec<Lit>,
}

impl<'q> Pairs<'q> {
    fn new(question: &'q InfluenceQuestion<'q>, kind: SolverKind) -> Self {
        let mut models = Models::of(question.cnf, kind);
        let vars = question.cnf.vars();
        (0..vars).for_each(|_| {
            models.new_var();
        });
        let twin = |literal: Lit| twin(literal, vars);
        for clause in question.cnf.clauses() {
            models.add_clause(&clause.literals.iter().copied().map(twin).collect::<Vec<_>>());
        }
        let mut same = Vec::new();
        for cases in question.factors {
            let all = models.new_var().positive();
            for &case in cases {
                models.add_clause(&[!all, !case, twin(case)]);
            }
            same.push(all);
        }
        let mut differs = Vec::new();
        for one in question.of.iter().map(|var| var.positive()) {
            let differ = models.new_var().positive();
            models.add_clause(&[!differ, one, twin(one)]);
            models.add_clause(&[!differ, !one, !twin(one)]);
            differs.push(differ);
        }
        Self { question, models, same, differs }
    }

    /// The variables in which two models may differ when only this factor does.
    fn influenced(&mut self, factor: usize) -> Vec<usize> {
        let Self { question, models, same, differs } = self;
        let others = same.iter().enumerate().filter(|&(index, _)| index != factor);
        let others: Vec<_> = others.map(|(_, &same)| same).collect();
        let mut open: Vec<usize> = (0..differs.len()).collect();
        let mut found = Vec::new();
        while models.solve_any(&open.iter().map(|&at| differs[at]).collect::<Vec<_>>(), &others) {
            let differs = |at: &usize| {
                let one = question.of[*at].positive();
                models.is_true(one) != models.is_true(twin(one, question.cnf.vars()))
            };
            let (new, rest): (Vec<_>, Vec<_>) = open.iter().partition(|at| differs(at));
            found.extend(new);
            open = rest;
        }
        found.sort_unstable();
        found
    }
}

/// A literal as it is in the second model.
fn twin(literal: Lit, vars: usize) -> Lit {
    Lit(literal.0 + 2 * vars as u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sat::solve::gates::tests::circuit;
    use crate::sat::solve::random::Random;
    use crate::sat::solve::tests::{KINDS, clauses, holds};

    const INPUTS: u32 = 5;
    const GATES: u32 = 7;

    /// The first three inputs are the cases of one factor; each other is one.
    fn factors() -> Vec<Vec<Lit>> {
        let mut factors = vec![(0..3).map(|var| Var(var).positive()).collect()];
        factors.extend((3..INPUTS).map(|var| vec![Var(var).positive(), Var(var).negative()]));
        factors
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// By brute force, of circuits with constraints and of clauses that leave more open.
        #[test]
        fn influences_are_those_of_pairs(seed: u64, constraints in clauses(INPUTS + GATES, 0..6), is_circuit in prop::bool::weighted(0.8)) {
            let vars = INPUTS + GATES;
            let one = |bits: u32| -> Vec<Lit> { (0..3).map(|var| Var(var).positive().negate_if(bits >> var & 1 == 0)).collect() };
            let mut all: Vec<Vec<Lit>> = [0b011, 0b101, 0b110, 0b111].map(|bits| one(!bits)).to_vec();
            all.push(one(0b111));
            if is_circuit {
                all.extend(circuit(INPUTS, GATES, &mut Random::new(seed)));
            }
            all.extend(constraints);
            let models: Vec<u32> = (0..1 << vars).filter(|&model| holds(&all, model)).collect();
            let factors = factors();
            let case = |factor: &[Lit], model: u32| factor.iter().position(|&literal| holds(&[vec![literal]], model));
            let of: Vec<Var> = (0..vars).map(Var).collect();
            let mut expected = vec![FxHashSet::default(); factors.len()];
            for (index, &one) in models.iter().enumerate() {
                for &other in &models[index + 1..] {
                    let changed = |factor: &Vec<Lit>| case(factor, one) != case(factor, other);
                    let differing: Vec<_> = (0..factors.len()).filter(|&factor| changed(&factors[factor])).collect();
                    let bits = (0..vars as usize).filter(|bit| (one ^ other) >> bit & 1 == 1);
                    match differing[..] {
                        [factor] => expected[factor].extend(bits),
                        [] => expected.iter_mut().for_each(|expected| expected.extend(bits.clone())),
                        _ => {}
                    }
                }
            }
            let inputs: Vec<Var> = (0..INPUTS).map(Var).collect();
            let cnf = Cnf::of(vars as usize, all);
            for &kind in KINDS {
                let found = InfluenceQuestion { cnf: &cnf, inputs: &inputs, factors: &factors, of: &of }.answer(kind, &mut ());
                let found: Vec<FxHashSet<usize>> = found.into_iter().map(|found| found.into_iter().collect()).collect();
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
