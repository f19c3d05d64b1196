//! Finds which variables a factor influences: those that differ between two models that differ in
//! this factor alone.
//!
//! Where all variables follow from inputs, only variables behind a factor can differ with it.
//! Walking through models shows most of them: each step changes one factor. For the rest, the
//! clauses behind each factor are copied, next to one model that all factors share. Each copy is
//! enabled by a literal of its own. So one model shows the influence of several factors, and one
//! question proves all that is left.
//!
//! Where some variables do not follow from inputs, two models are compared side by side, with a
//! question for each factor.

use rustc_hash::{FxHashMap, FxHashSet};

use super::SolverSettings;
use super::backbone::impossible;
use super::circuit::Circuit;
use super::exclusion::{Exclusions, WIDE};
use super::models::Models;
use super::propagator::Propagator;
use super::walk::{LaneWalk, opposites};
use crate::formula::{Cnf, Lit, Var};
use crate::progress::Progress;

/// The question which variables each factor influences.
#[derive(Clone, Copy)]
pub struct InfluenceQuestion<'q> {
    /// The clauses whose models are compared.
    pub cnf: &'q Cnf,
    /// The variables from which the other variables follow.
    pub inputs: &'q [Var],
    /// The factors, each a list of cases of which exactly one is true in every model.
    pub factors: &'q [Vec<Lit>],
    /// The variables whose differences are looked for.
    pub of: &'q [Var],
}

impl InfluenceQuestion<'_> {
    /// Returns for each factor the positions in `of` of the variables that it influences, in order.
    pub fn answer(
        &self,
        settings: &SolverSettings,
        progress: &mut dyn Progress,
    ) -> Vec<Vec<usize>> {
        match Circuit::new(self.cnf, self.inputs) {
            Some(circuit) => Behind::new(self, &circuit).found(settings, progress),
            None => {
                progress.counted("questions", self.factors.len());
                let mut pairs = Pairs::new(self, settings);
                (0..self.factors.len()).map(|factor| pairs.influenced(factor)).collect()
            }
        }
    }
}

/// How many passes of walking in a row may show nothing new before walking ends.
const IN_VAIN: u32 = 2;
/// How many passes of walking there are at most.
const PASSES: u32 = 24;
/// The copies made at a time may have as many literals as the clauses themselves, or this many where
/// that is more. Each answer is about all copies, so larger ones would cost more than they save.
const COPIED: usize = 50_000;

/// Finds what each factor influences, where all variables follow from inputs.
struct Behind<'q> {
    question: &'q InfluenceQuestion<'q>,
    circuit: &'q Circuit,
    /// The position of each variable among those that are looked at.
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

    fn found(mut self, settings: &SolverSettings, progress: &mut dyn Progress) -> Vec<Vec<usize>> {
        progress.phase("walking through models");
        let mut models = Models::of(self.question.cnf, settings.clone());
        if let Some(mut walk) = LaneWalk::new(self.circuit, self.question.factors, &mut models) {
            self.walk(&mut walk);
            progress.counted("steps of simulation", walk.lanes.steps as usize);
            progress.phase("inputs without influence");
            self.prove(models.propagator(), settings, progress);
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
            let may_go_on = walk.pass(&mut |factor, lanes, holds| {
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
            if in_vain == IN_VAIN || !may_go_on {
                return;
            }
        }
    }

    /// The inputs that change with a factor. Of two opposite cases, the other one is taken.
    fn changed_inputs(&self, factor: usize) -> Vec<(Var, Option<Lit>)> {
        let cases = &self.question.factors[factor];
        let is_flipped = opposites(cases).is_some();
        let mut inputs: Vec<Var> = cases.iter().map(|literal| literal.var()).collect();
        inputs.retain(|&var| self.circuit.is_input(var));
        inputs.sort_unstable();
        inputs.dedup();
        inputs.into_iter().map(|var| (var, is_flipped.then(|| var.negative()))).collect()
    }

    /// Asks the solver about all variables behind a factor that were not seen to be influenced.
    fn prove(
        &mut self,
        propagator: Propagator,
        settings: &SolverSettings,
        progress: &mut dyn Progress,
    ) {
        let most = self.question.cnf.literals().max(COPIED);
        let mut bound = BoundFactors::new(self.circuit, propagator);
        let mut factor = 0;
        while factor < self.found.len() {
            let mut copies = Copies::new(self.question.cnf, settings);
            while factor < self.found.len() && copies.literals < most {
                if !bound.may_change_alone(&self.question.factors[factor]) {
                    factor += 1;
                    continue;
                }
                let cone = self.circuit.cone(self.changed_inputs(factor));
                let open = |&(var, value): &(Var, Option<Lit>)| {
                    let position = self.positions[var.index()]?;
                    let is_open =
                        value != Some(var.positive()) && !self.found[factor].contains(&position);
                    is_open.then_some((position, var))
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

/// Finds factors that cannot change alone, as far as propagation can tell.
struct BoundFactors<'q> {
    circuit: &'q Circuit,
    exclusions: Exclusions,
    /// Literals that contradict each other. What contradicts one factor often contradicts the next
    /// one.
    refuted: Vec<Lit>,
    /// The variables of wide groups of literals of which exactly one is false.
    grouped: FxHashSet<Var>,
}

impl<'q> BoundFactors<'q> {
    fn new(circuit: &'q Circuit, propagator: Propagator) -> Self {
        let (refuted, grouped) = (Vec::new(), FxHashSet::default());
        Self { circuit, exclusions: Exclusions::of(propagator), refuted, grouped }
    }

    /// Whether two models may differ in a factor of two opposite cases, but in no other input: what
    /// one case makes of the other inputs suits the other case.
    fn may_change_alone(&mut self, factor: &[Lit]) -> bool {
        let Some([one, other]) = opposites(factor) else { return true };
        if self.exclusions.propagator().value(one).is_some() {
            return true;
        }
        !self.grouped.contains(&one.var()) && self.suits(one, other) && self.suits(other, one)
    }

    /// Whether the other case suits what a case makes of the inputs.
    fn suits(&mut self, case: Lit, other: Lit) -> bool {
        let propagator = self.exclusions.propagator();
        let known = propagator.trail().len();
        let is_possible = propagator.assume(case);
        let is_made = |&literal: &Lit| {
            literal == other || literal != case && propagator.value(literal) == Some(true)
        };
        if !is_possible || !self.refuted.is_empty() && self.refuted.iter().all(is_made) {
            propagator.undo(known);
            return false;
        }
        let implied = propagator.trail()[known + 1..].iter().copied();
        let implied = implied.filter(|literal| self.circuit.is_input(literal.var()));
        let mut assumed: Vec<Lit> = std::iter::once(other).chain(implied).collect();
        propagator.undo(known);
        let fails = propagator.contradiction(&assumed);
        if let Some(last) = fails {
            assumed.truncate(last + 1);
            // Where exactly one of many is true, finding what each makes of the others takes the square
            // of their number.
            let groups = self.exclusions.exact_groups(&assumed, WIDE);
            self.grouped.extend(groups.iter().flatten().map(|literal| literal.var()));
            self.refuted = assumed;
        }
        fails.is_none()
    }
}

/// The clauses of one model, and for several factors a copy of the clauses behind them.
struct Copies {
    models: Models,
    literals: usize,
    /// The literals that are asked about, each with the factor and the position of the variable
    /// that differs where it is true.
    asked: Vec<(Lit, (usize, u32))>,
}

impl Copies {
    fn new(cnf: &Cnf, settings: &SolverSettings) -> Self {
        Self { models: Models::of(cnf, settings.clone()), literals: 0, asked: Vec::new() }
    }

    fn add(
        &mut self,
        factor: usize,
        circuit: &Circuit,
        cone: &[(Var, Option<Lit>)],
        open: &[(u32, Var)],
    ) {
        let Self { models, literals, asked } = self;
        let applies = models.new_var().positive();
        let mut twin = |value: Option<Lit>| value.unwrap_or_else(|| models.new_var().positive());
        let twins: FxHashMap<Var, Lit> =
            cone.iter().map(|&(var, value)| (var, twin(value))).collect();
        let vars: Vec<Var> = cone.iter().map(|&(var, _)| var).collect();
        let twin = |literal: Lit| match twins.get(&literal.var()) {
            Some(twin) => twin.negate_if(literal.is_negative()),
            None => literal,
        };
        let mut add = |models: &mut Models, mut clause: Vec<Lit>| {
            clause.sort_unstable();
            clause.dedup();
            if clause.windows(2).all(|pair| pair[0] != !pair[1]) {
                *literals += clause.len();
                models.add_clause(&clause);
            }
        };
        if let &[(input, Some(_)), ..] = cone {
            // The other model of a pair is like this one, so that it does not matter which is which.
            add(models, vec![!applies, input.positive()]);
        }
        for clause in circuit.clauses_of(&vars) {
            add(models, clause.iter().copied().map(twin).chain([!applies]).collect());
        }
        for &(position, var) in open {
            let (one, differs) = (var.positive(), models.new_var().positive());
            add(models, vec![!differs, applies]);
            add(models, vec![!differs, one, twin(one)]);
            add(models, vec![!differs, !one, !twin(one)]);
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
    /// For each factor, a literal that implies that both models have the same case.
    same: Vec<Lit>,
    /// For each variable that is looked at, a literal that implies that the models differ in it.
    differs: Vec<Lit>,
}

impl<'q> Pairs<'q> {
    fn new(question: &'q InfluenceQuestion<'q>, settings: &SolverSettings) -> Self {
        let mut models = Models::of(question.cnf, settings.clone());
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

    /// The positions of the variables in which two models can differ that differ only in this
    /// factor.
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

/// The literal in the second model that corresponds to a literal in the first.
fn twin(literal: Lit, vars: usize) -> Lit {
    Lit(literal.0 + 2 * vars as u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::solve::gates::tests::circuit;
    use crate::solve::random::Random;
    use crate::solve::tests::{KINDS, clauses, holds};

    const INPUTS: u32 = 5;
    const GATES: u32 = 7;

    /// The first three inputs are the cases of one factor. Each other input is a factor of its own.
    fn factors() -> Vec<Vec<Lit>> {
        let mut factors = vec![(0..3).map(|var| Var(var).positive()).collect()];
        factors.extend((3..INPUTS).map(|var| vec![Var(var).positive(), Var(var).negative()]));
        factors
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// Compares with brute force, on circuits with constraints and on clauses that leave more
        /// open.
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
                let found = InfluenceQuestion { cnf: &cnf, inputs: &inputs, factors: &factors, of: &of }.answer(&kind.into(), &mut ());
                let found: Vec<FxHashSet<usize>> = found.into_iter().map(|found| found.into_iter().collect()).collect();
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
