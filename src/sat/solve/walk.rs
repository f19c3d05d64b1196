//! Wanders through the models of a circuit, to see much of what there is before a solver is asked
//! whether there is more.

use super::circuit::{Circuit, Lanes};
use super::models::Models;
use super::random::Random;
use crate::sat::formula::{Lit, Var};

/// So many models, 64 at a time, are kept to be looked at.
const KEPT: usize = 12;

/// A factor with more cases has most of them in none of those by chance, so that each is looked at.
pub(crate) const WIDE: usize = 64;

/// So many words are kept at most, whatever the cases are.
const WORDS: usize = 1 << 23;

/// From models that were found on the way, walking goes on for so many passes.
const AROUND: usize = 3;

/// Models that were met on walks.
#[derive(Default)]
pub(crate) struct Samples {
    /// For each variable the lanes in which it is true, for each time that was looked.
    rounds: Vec<Vec<u64>>,
    /// What is walked through, where there is something.
    ground: Option<Ground>,
    /// The models from which to walk on, side by side, and how many there are.
    starts: Vec<u64>,
    started: u32,
}

/// A circuit and its factors.
struct Ground {
    circuit: Circuit,
    factors: Vec<Vec<Lit>>,
}

impl Samples {
    /// Models of a circuit with these factors; none where there is no model.
    pub(crate) fn of(circuit: Circuit, factors: &[Vec<Lit>], models: &mut Models) -> Self {
        let Some(mut walk) = LaneWalk::new(&circuit, factors, models) else {
            return Self::default();
        };
        let mut rounds = vec![walk.lanes.values().to_vec()];
        while rounds.len() < KEPT {
            walk.pass(&mut |_, _, holds| holds);
            rounds.push(walk.lanes.values().to_vec());
        }
        for factor in factors.iter().filter(|factor| factor.len() > WIDE) {
            let kept = most_rounds(walk.lanes.values());
            for first in (0..factor.len()).step_by(64).take(kept.saturating_sub(rounds.len())) {
                walk.side_by_side(factor, first);
                rounds.push(walk.lanes.values().to_vec());
            }
        }
        let ground = Some(Ground { circuit, factors: factors.to_vec() });
        Self { rounds, ground, ..Self::default() }
    }

    /// Takes note of the model that was found last. From some at a time, walking goes on; since when
    /// there is more then.
    pub(super) fn see(&mut self, models: &Models) -> usize {
        let known = self.rounds.len();
        let Some(Ground { circuit, factors }) = &self.ground else { return known };
        let starts = std::mem::take(&mut self.starts);
        let mut walk = LaneWalk::at(circuit, factors, starts, known as u64);
        let lanes = if self.started == 0 { u64::MAX } else { share() << self.started };
        walk.lanes.set(lanes, &|literal| models.is_true(literal));
        self.started += 1;
        if self.started == STARTS {
            for _ in 0..AROUND.min(most_rounds(walk.lanes.values()).saturating_sub(known)) {
                walk.pass(&mut |_, _, holds| holds);
                self.rounds.push(walk.lanes.values().to_vec());
            }
            self.started = 0;
        }
        self.starts = walk.lanes.into_values();
        known
    }

    /// The models in which a literal is true, 64 at a time; of one that came later, nothing is known.
    pub(crate) fn of_literal(&self, literal: Lit) -> impl Iterator<Item = u64> {
        self.since(0, literal)
    }

    /// The same, of those that were met since then.
    pub(super) fn since(&self, known: usize, literal: Lit) -> impl Iterator<Item = u64> {
        let negated = if literal.is_negative() { u64::MAX } else { 0 };
        let value =
            move |round: &Vec<u64>| round.get(literal.var().index()).map(|value| value ^ negated);
        self.rounds[known..].iter().filter_map(value)
    }

    /// Whether a literal is true in one of them.
    pub(crate) fn show(&self, literal: Lit) -> bool {
        self.show_since(0, literal)
    }

    /// Whether it is in one of those that were met since then.
    pub(super) fn show_since(&self, known: usize, literal: Lit) -> bool {
        self.since(known, literal).any(|lanes| lanes != 0)
    }
}

/// How many rounds of so many values are kept at most.
fn most_rounds(values: &[u64]) -> usize {
    WORDS / values.len().max(1)
}

/// So many models are asked for; the others are neighbours of those, and of their neighbours.
const STARTS: u32 = 8;

/// The lanes of the first of so many models; those of the others stand beside.
fn share() -> u64 {
    u64::MAX / u64::from(2_u32.pow(64 / STARTS) - 1)
}

/// 64 models of a circuit, each of which takes a step at a time: one factor gets another case.
pub(crate) struct LaneWalk<'c> {
    circuit: &'c Circuit,
    factors: &'c [Vec<Lit>],
    pub(crate) lanes: Lanes<'c>,
    random: Random,
}

impl<'c> LaneWalk<'c> {
    /// From models that are as unlike each other as may be; nothing where there is no model. A factor
    /// is its cases, of which exactly one is true in each model.
    pub(crate) fn new(
        circuit: &'c Circuit,
        factors: &'c [Vec<Lit>],
        models: &mut Models,
    ) -> Option<Self> {
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

    /// From models that are known, or yet to be set.
    fn at(circuit: &'c Circuit, factors: &'c [Vec<Lit>], values: Vec<u64>, seed: u64) -> Self {
        let lanes = Lanes::new(circuit, values);
        Self { circuit, factors, lanes, random: Random::new(seed) }
    }

    /// Some case of each factor, the factors in no order.
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

    /// Lets each factor take each of its other cases, in as many lanes as can, and shows each time
    /// what changed in which of them: the position of the factor, and the lanes that are models. Of
    /// those that may stay there, half do.
    pub(crate) fn pass(&mut self, see: &mut dyn FnMut(usize, &Lanes<'c>, u64) -> u64) {
        for (index, factor) in self.factors.iter().enumerate() {
            // Of two cases, which are opposite mostly, either is the other one's other.
            let targets =
                if factor.len() == 2 && factor[0] == !factor[1] { 1 } else { factor.len() };
            for target in 0..targets {
                let wanted = |case| if case == target { u64::MAX } else { 0 };
                let Some(changes) = self.changes(factor, &wanted) else { continue };
                let holds = self.lanes.change(changes);
                let stay = see(index, &self.lanes, holds);
                let kept = holds & stay & self.random.next();
                self.lanes.keep(kept);
            }
        }
    }

    /// Lets a factor take as many of its cases as there are lanes, from this one on, each in one of
    /// them; where that is no model, nothing changes.
    fn side_by_side(&mut self, factor: &[Lit], first: usize) {
        let last = factor.len() - 1;
        let lanes_of = |case: usize| match case.checked_sub(first) {
            Some(lane) if lane < 64 && case == last => u64::MAX << lane,
            Some(lane) if lane < 64 => 1 << lane,
            _ => 0,
        };
        if let Some(changes) = self.changes(factor, &lanes_of) {
            let holds = self.lanes.change(changes);
            self.lanes.keep(holds);
        }
    }

    /// What has to change for a factor to have each case in the lanes that are wanted, where it can
    /// have it at all.
    fn changes(&self, factor: &[Lit], wanted: &dyn Fn(usize) -> u64) -> Option<Vec<(Var, u64)>> {
        if let &[one, other] = factor
            && one == !other
        {
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
    use crate::sat::formula::Cnf;
    use crate::sat::solve::SolverKind;

    /// 150 cases, every seventh of which is in no model.
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
}
