//! Walks randomly through the models of a circuit. That shows many of them before a solver is asked
//! whether there are more.

use super::circuit::{Circuit, Lanes};
use super::exclusion::{self, Exclusions};
use super::models::Models;
use super::random::Random;
use crate::formula::{Lit, Var};
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// How many times 64 models are kept.
const KEPT: usize = 12;

/// The most cases that a factor may have for random walks to show most of them. Each case of a
/// larger factor is tried, 64 of them side by side.
pub const WIDE: usize = 64;

/// How many words are kept at most, whatever the number of cases.
const WORDS: usize = 1 << 23;

/// How many passes a walk from newly found models has.
const AROUND: usize = 3;

/// A collection of models that were met on walks.
#[derive(Default)]
pub struct Samples {
    /// For each round, a word for each variable with the lanes in which it is true.
    rounds: Vec<Vec<u64>>,
    /// The circuit to walk through, if any.
    ground: Option<Ground>,
    /// Whether the last walk found that no single factor can change.
    is_barren: bool,
    /// The models from which the next walk starts, as lanes, and how many were set so far.
    starts: Vec<u64>,
    started: u32,
}

/// A circuit and the factors that can be changed.
struct Ground {
    circuit: Circuit,
    factors: Vec<Vec<Lit>>,
}

impl Samples {
    /// Collects models of a circuit with these factors by walking. The collection is empty where
    /// there is no model.
    pub fn of(circuit: Circuit, factors: &[Vec<Lit>], models: &mut Models) -> Self {
        let Some(mut walk) = LaneWalk::new(&circuit, factors, models) else {
            return Self::default();
        };
        let mut rounds = vec![walk.lanes.values().to_vec()];
        let mut is_stuck = vec![true; factors.len()];
        let mut is_barren = !walk.pass(&mut |factor, _, holds| {
            is_stuck[factor] &= holds == 0;
            holds
        });
        let factors = merged(factors, &is_stuck, models);
        if let Cow::Owned(_) = factors {
            walk = LaneWalk::at(&circuit, &factors, walk.lanes.into_values(), rounds.len() as u64);
            is_barren = false;
        }
        rounds.push(walk.lanes.values().to_vec());
        while rounds.len() < KEPT && !is_barren {
            is_barren = !walk.pass(&mut |_, _, holds| holds);
            rounds.push(walk.lanes.values().to_vec());
        }
        for factor in factors.iter().filter(|factor| factor.len() > WIDE) {
            let kept = most_rounds(walk.lanes.values().len());
            for first in (0..factor.len()).step_by(64).take(kept.saturating_sub(rounds.len())) {
                walk.side_by_side(factor, first);
                rounds.push(walk.lanes.values().to_vec());
            }
        }
        let factors = factors.into_owned();
        let ground = Some(Ground { circuit, factors });
        Self { rounds, ground, is_barren, ..Self::default() }
    }

    /// The variables from whose values those of all others follow, if there is a circuit.
    pub(super) fn inputs(&self) -> impl Iterator<Item = Var> {
        self.ground.iter().flat_map(|ground| ground.circuit.inputs())
    }

    /// Up to 64 models of the circuit, given the lanes in which each input is true: a word for each
    /// variable. `None` where there is no circuit.
    pub(super) fn completed(&self, input: &dyn Fn(Var) -> u64) -> Option<Vec<u64>> {
        let (Ground { circuit, .. }, known) = (self.ground.as_ref()?, self.rounds.first()?);
        let mut lanes = Lanes::new(circuit, known.clone());
        lanes.change(circuit.inputs().map(|var| (var, known[var.index()] ^ input(var))));
        Some(lanes.into_values())
    }

    /// Records the last model of the solver, of which only inputs matter. After every few models, it
    /// walks on from them, unless that was in vain before. Returns the number of rounds before;
    /// later rounds are new.
    pub(super) fn see(&mut self, models: &Models) -> usize {
        let known = self.rounds.len();
        let Some(round) = self.rounds.first() else { return known };
        self.starts.resize(round.len(), 0);
        let lanes = if self.started == 0 { u64::MAX } else { share() << self.started };
        for (value, var) in self.starts.iter_mut().zip((0..).map(Var)) {
            *value = if models.is_true(var.positive()) { *value | lanes } else { *value & !lanes };
        }
        self.started += 1;
        if self.started == STARTS {
            self.started = 0;
            self.walk_on();
        }
        known
    }

    /// Walks on from the models that were recorded.
    fn walk_on(&mut self) {
        let known = self.rounds.len();
        let Some(values) = self.completed(&|var| self.starts[var.index()]) else { return };
        let Some(Ground { circuit, factors }) = &self.ground else { return };
        let most = most_rounds(values.len()).saturating_sub(known);
        let mut walk = LaneWalk::at(circuit, factors, values, known as u64);
        for _ in 0..AROUND.min(most) {
            self.is_barren = self.is_barren || !walk.pass(&mut |_, _, holds| holds);
            self.rounds.push(walk.lanes.values().to_vec());
            if self.is_barren {
                break;
            }
        }
    }

    /// The lanes in which a literal is true, a word for each round. Rounds that do not contain its
    /// variable are left out.
    pub fn of_literal(&self, literal: Lit) -> impl Iterator<Item = u64> {
        self.since(0, literal)
    }

    /// Like [`of_literal`](Self::of_literal), for the rounds from number `known` on.
    pub(super) fn since(&self, known: usize, literal: Lit) -> impl Iterator<Item = u64> {
        let negated = if literal.is_negative() { u64::MAX } else { 0 };
        let value =
            move |round: &Vec<u64>| round.get(literal.var().index()).map(|value| value ^ negated);
        self.rounds[known..].iter().filter_map(value)
    }

    /// Whether a literal is true in any of the models.
    pub fn show(&self, literal: Lit) -> bool {
        self.show_since(0, literal)
    }

    /// Whether a literal is true in any model of the rounds from number `known` on.
    pub(super) fn show_since(&self, known: usize, literal: Lit) -> bool {
        self.since(known, literal).any(|lanes| lanes != 0)
    }
}

/// The two cases of a factor of which one is the negation of the other.
pub(super) fn opposites(factor: &[Lit]) -> Option<[Lit; 2]> {
    <[Lit; 2]>::try_from(factor).ok().filter(|[one, other]| *one == !*other)
}

/// The lane that takes a case of a factor, where the cases from `first` on have a lane each. The last
/// case has all other lanes.
fn lane_of(factor: &[Lit], first: usize, case: usize) -> u64 {
    match case.checked_sub(first) {
        Some(lane) if lane < 64 && case + 1 == factor.len() => u64::MAX << lane,
        Some(lane) if lane < 64 => 1 << lane,
        _ => 0,
    }
}

/// The factors, where many of those that could not change alone exclude each other, and one of them
/// is always true: those become one factor, since another of them is true after each change.
fn merged<'f>(factors: &'f [Vec<Lit>], is_stuck: &[bool], models: &Models) -> Cow<'f, [Vec<Lit>]> {
    let stuck = factors.iter().zip(is_stuck).filter(|(_, is_stuck)| **is_stuck);
    let mut stuck: Vec<[Lit; 2]> = stuck.filter_map(|(factor, _)| opposites(factor)).collect();
    if stuck.len() < exclusion::WIDE {
        return factors.into();
    }
    let mut exclusions = Exclusions::of(models.propagator());
    let (mut grouped, mut found) = (FxHashSet::default(), Vec::new());
    for case in [0, 1] {
        let literals: Vec<Lit> = stuck.iter().map(|cases| !cases[case]).collect();
        let groups = exclusions.exact_groups(&literals, exclusion::WIDE);
        grouped.extend(groups.iter().flatten().map(|literal| literal.var()));
        stuck.retain(|[one, _]| !grouped.contains(&one.var()));
        found.extend(groups.into_iter().map(|group| group.into_iter().map(|it| !it).collect()));
    }
    if found.is_empty() {
        return factors.into();
    }
    let is_grouped =
        |factor: &Vec<Lit>| opposites(factor).is_some_and(|[one, _]| grouped.contains(&one.var()));
    found.extend(factors.iter().filter(|factor| !is_grouped(factor)).cloned());
    found.into()
}

/// How many rounds are kept at most, where each has this many words.
fn most_rounds(values: usize) -> usize {
    WORDS / values.max(1)
}

/// How many models the solver is asked for. The other lanes become their neighbours, and neighbours
/// of those.
const STARTS: u32 = 8;

/// The lanes that start with the first of these models. Shifted, they are those of the other
/// models.
fn share() -> u64 {
    u64::MAX / u64::from(2_u32.pow(64 / STARTS) - 1)
}

/// A random walk of 64 models of a circuit. In each step, one factor takes another case.
pub struct LaneWalk<'c> {
    circuit: &'c Circuit,
    factors: &'c [Vec<Lit>],
    /// The current models.
    pub lanes: Lanes<'c>,
    random: Random,
}

impl<'c> LaneWalk<'c> {
    /// Starts from models that are as different from each other as possible. `None` where there is
    /// no model. A factor is a list of cases, of which exactly one is true in each model.
    pub fn new(circuit: &'c Circuit, factors: &'c [Vec<Lit>], models: &mut Models) -> Option<Self> {
        if !models.solve(&[]) {
            return None;
        }
        let mut walk = Self::at(circuit, factors, Vec::new(), 0);
        walk.lanes.set(u64::MAX, &|literal| models.is_true(literal));
        for start in 0..STARTS {
            let wanted = walk.any_cases();
            if models.solve_toward(&wanted) {
                walk.lanes.set(share() << start, &|literal| models.is_true(literal));
            }
        }
        Some(walk)
    }

    /// Starts from known values, or from values to be set later.
    fn at(circuit: &'c Circuit, factors: &'c [Vec<Lit>], values: Vec<u64>, seed: u64) -> Self {
        let lanes = Lanes::new(circuit, values);
        Self { circuit, factors, lanes, random: Random::new(seed) }
    }

    /// A random case of each factor, in random order of the factors.
    fn any_cases(&mut self) -> Vec<Lit> {
        let mut wanted = Vec::with_capacity(self.factors.len());
        for factor in self.factors.iter().filter(|factor| !factor.is_empty()) {
            wanted.push(factor[self.random.next() as usize % factor.len()]);
            let other = self.random.next() as usize % wanted.len();
            let last = wanted.len() - 1;
            wanted.swap(last, other);
        }
        wanted
    }

    /// Lets each factor take each of its other cases, in all lanes where that is possible, or in one
    /// lane for each case of a wide factor. After each step it calls `see` with the position of the
    /// factor, the lanes, and the lanes that are still models. `see` returns the lanes that may keep
    /// the change. A random half of these keep it. Returns whether any change may be kept; if not,
    /// another pass would see the same.
    pub fn pass(&mut self, see: &mut dyn FnMut(usize, &Lanes<'c>, u64) -> u64) -> bool {
        let mut may_change = 0;
        for (index, factor) in self.factors.iter().enumerate() {
            // With two opposite cases, one change is enough: each lane takes the other case.
            let targets = if opposites(factor).is_some() { 1 } else { factor.len() };
            let is_wide = factor.len() > WIDE;
            for target in (0..targets).step_by(if is_wide { 64 } else { 1 }) {
                let wanted = |case| match is_wide {
                    true => lane_of(factor, target, case),
                    false if case == target => u64::MAX,
                    false => 0,
                };
                let Some(changes) = self.changes(factor, &wanted) else { continue };
                let holds = self.lanes.change(changes);
                let stay = holds & see(index, &self.lanes, holds);
                may_change |= stay;
                self.lanes.keep(stay & self.random.next());
            }
        }
        may_change != 0
    }

    /// Lets a factor take up to 64 of its cases, from `first` on, each in a lane of its own. Lanes
    /// that are no models afterwards keep their values.
    fn side_by_side(&mut self, factor: &[Lit], first: usize) {
        if let Some(changes) = self.changes(factor, &|case| lane_of(factor, first, case)) {
            let holds = self.lanes.change(changes);
            self.lanes.keep(holds);
        }
    }

    /// The changes that give a factor the wanted case in each lane, as far as inputs allow it.
    /// `None` where a factor of two opposite cases is no input.
    fn changes(&self, factor: &[Lit], wanted: &dyn Fn(usize) -> u64) -> Option<Vec<(Var, u64)>> {
        if let Some([one, _]) = opposites(factor) {
            return self.circuit.is_input(one.var()).then(|| vec![(one.var(), u64::MAX)]);
        }
        let change = |(case, &literal): (usize, &Lit)| {
            (literal.var(), self.lanes.value(literal) ^ wanted(case))
        };
        let changes = factor.iter().enumerate().map(change);
        let (changes, stuck): (Vec<_>, Vec<_>) =
            changes.partition(|(var, _)| self.circuit.is_input(*var));
        let blocked = stuck.into_iter().fold(0, |blocked, (_, lanes)| blocked | lanes);
        let open = changes.into_iter().map(|(var, lanes)| (var, lanes & !blocked));
        Some(open.filter(|&(_, lanes)| lanes != 0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Arena, Atom, Cnf, Encoder, OriginId};
    use crate::solve::SolverKind;

    /// There are 150 cases, every seventh of which is in no model.
    #[test]
    fn each_of_many_cases_is_seen() {
        let cases: Vec<Lit> = (0..150).map(|var| Var(var).positive()).collect();
        let pairs = cases.iter().flat_map(|&a| cases.iter().map(move |&b| (a, b)));
        let mut clauses: Vec<Vec<Lit>> =
            pairs.filter(|(a, b)| a < b).map(|(a, b)| vec![!a, !b]).collect();
        clauses.push(cases.clone());
        let beside = Var(150).positive();
        clauses.extend(
            cases.iter().step_by(7).flat_map(|&case| [vec![!case, beside], vec![!case, !beside]]),
        );
        let cnf = Cnf::of(151, clauses.iter().cloned());
        let inputs: Vec<Var> = (0..151).map(Var).collect();
        let circuit = Circuit::new(&cnf, &inputs).expect("all variables are inputs");
        let factors = vec![cases.clone(), vec![beside, !beside]];
        let mut models = Models::of(&cnf, SolverKind::default());
        let samples = Samples::of(circuit, &factors, &mut models);
        for (case, index) in cases.iter().zip(0..) {
            assert_eq!(samples.show(*case), index % 7 != 0, "{index}");
        }
        for round in &samples.rounds {
            let value = |literal: &Lit| {
                round[literal.var().index()] ^ if literal.is_negative() { u64::MAX } else { 0 }
            };
            for clause in &clauses {
                assert_eq!(clause.iter().map(value).fold(0, |all, one| all | one), u64::MAX);
            }
        }
    }

    /// No step that changes one input alone leads from model to model.
    #[test]
    fn each_of_many_inputs_that_exclude_each_other_is_seen() {
        const SIZE: u32 = 300;
        let mut arena = Arena::default();
        let inputs: Vec<_> = (0..SIZE).map(|atom| arena.atom(Atom(atom))).collect();
        let one = arena.exactly_one(inputs);
        let mut encoder = Encoder::new(&arena, SIZE);
        encoder.assert(&[one], OriginId(0));
        let cnf = encoder.finish();
        let inputs: Vec<Var> = (0..SIZE).map(Var).collect();
        for negate in [false, true] {
            let cases = |var: &Var| {
                let one = var.positive().negate_if(negate);
                vec![one, !one]
            };
            let factors: Vec<_> = inputs.iter().map(cases).collect();
            let circuit = Circuit::new(&cnf, &inputs).expect("the ladder follows from inputs");
            let mut models = Models::of(&cnf, SolverKind::default());
            let samples = Samples::of(circuit, &factors, &mut models);
            for input in inputs.iter().map(|var| var.positive()) {
                assert!(samples.show(input) && samples.show(!input));
            }
            for round in &samples.rounds {
                let mut counted = [0; 64];
                for var in &inputs {
                    for (lane, count) in counted.iter_mut().enumerate() {
                        *count += round[var.index()] >> lane & 1;
                    }
                }
                assert_eq!(counted, [1; 64]);
            }
        }
    }
}
