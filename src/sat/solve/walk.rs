//! Wanders through the models of a circuit, to see much of what there is before a solver is asked
//! whether there is more.

use super::circuit::{Circuit, Lanes};
use super::models::Models;
use super::random::Random;
use crate::sat::formula::{Lit, Var};

/// So many models, 64 at a time, are kept to be looked at.
const KEPT: usize = 12;

/// Models that were met on a walk.
#[derive(Default)]
pub(crate) struct Samples {
    /// For each variable the lanes in which it is true, for each time that was looked.
    rounds: Vec<Vec<u64>>,
}

impl Samples {
    /// Models of a circuit with these factors; none where there is no model.
    pub(crate) fn of(circuit: &Circuit, factors: &[Vec<Lit>], models: &mut Models) -> Self {
        let Some(mut walk) = LaneWalk::new(circuit, factors, models) else {
            return Self::default();
        };
        let mut samples = Self { rounds: vec![walk.lanes.values().to_vec()] };
        while samples.rounds.len() < KEPT {
            walk.pass(&mut |_, _, holds| holds);
            samples.rounds.push(walk.lanes.values().to_vec());
        }
        samples
    }

    /// The models in which a literal is true, 64 at a time; of one that came later, nothing is known.
    pub(crate) fn of_literal(&self, literal: Lit) -> impl Iterator<Item = u64> {
        let negated = if literal.is_negative() { u64::MAX } else { 0 };
        let value =
            move |round: &Vec<u64>| round.get(literal.var().index()).map(|value| value ^ negated);
        self.rounds.iter().filter_map(value)
    }

    /// Whether a literal is true in one of them.
    pub(crate) fn show(&self, literal: Lit) -> bool {
        self.of_literal(literal).any(|lanes| lanes != 0)
    }
}

/// So many models are asked for; the others are neighbours of those, and of their neighbours.
const STARTS: u32 = 8;

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
        let lanes = Lanes::new(circuit, &|literal| models.is_true(literal));
        let mut walk = Self { circuit, factors, lanes, random: Random::new(0) };
        let share = u64::MAX / u64::from(2_u32.pow(64 / STARTS) - 1);
        for start in 0..STARTS {
            let wanted = walk.any_cases();
            if models.solve_toward(&wanted) {
                walk.lanes.set(share << start, &|literal| models.is_true(literal));
            }
        }
        Some(walk)
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
                let Some(changes) = self.changes(factor, target) else { continue };
                let holds = self.lanes.change(changes);
                let stay = see(index, &self.lanes, holds);
                let kept = holds & stay & self.random.next();
                self.lanes.keep(kept);
            }
        }
    }

    /// What has to change for a factor to have a case, where it can have it at all.
    fn changes(&self, factor: &[Lit], target: usize) -> Option<Vec<(Var, u64)>> {
        if let &[one, other] = factor
            && one == !other
        {
            return self.circuit.is_input(one.var()).then(|| vec![(one.var(), u64::MAX)]);
        }
        let wanted = |case: usize| if case == target { u64::MAX } else { 0 };
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
