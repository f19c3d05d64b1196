//! Confirms optima without any code of the optimiser: circuits of adders add up the costs, and a
//! solver is asked whether lower ones are possible.
//!
//! Literals are written as in DIMACS.

use varisat::{ExtendFormula, Lit, Solver};

/// Clauses that must hold, and objectives, each a sum of the costs of true literals. The first
/// objective is the most important one, then the second, and so on.
pub(super) struct Problem {
    pub clauses: Vec<Vec<i32>>,
    pub objectives: Vec<Vec<(u64, i32)>>,
}

impl Problem {
    /// Whether the given costs can be reached, and no lower ones.
    pub(super) fn confirms(&self, costs: &[u64]) -> bool {
        let reached: Vec<_> = self.objectives.iter().zip(costs.iter().copied()).collect();
        let lower = |position: usize| {
            let below = reached[position].1.checked_sub(1).map(|cost| (reached[position].0, cost));
            below
                .is_some_and(|below| self.holds(reached[..position].iter().copied().chain([below])))
        };
        costs.len() == self.objectives.len()
            && self.holds(reached.iter().copied())
            && !(0..reached.len()).any(lower)
    }

    /// Whether there is a model in which each sum is at most its limit.
    fn holds<'p>(&self, limits: impl Iterator<Item = (&'p Vec<(u64, i32)>, u64)>) -> bool {
        let mut circuit = Circuit::default();
        for clause in &self.clauses {
            circuit
                .solver
                .add_clause(&clause.iter().map(|&literal| of_dimacs(literal)).collect::<Vec<_>>());
        }
        for (terms, limit) in limits {
            let sum = circuit.sum(terms);
            circuit.at_most(&sum, limit);
        }
        // Nothing interrupts the solver.
        circuit.solver.solve().unwrap_or_default()
    }

    /// The least costs, found by trying all models; `None` where there is none.
    pub(super) fn brute_force(&self, vars: u32) -> Option<Vec<u64>> {
        let is_true = |model: u64, literal: i32| {
            (model >> (literal.unsigned_abs() - 1) & 1 == 1) == (literal > 0)
        };
        let holds = |model: &u64| {
            self.clauses.iter().all(|clause| clause.iter().any(|&literal| is_true(*model, literal)))
        };
        let cost = |model: u64, terms: &Vec<(u64, i32)>| {
            terms.iter().filter(|term| is_true(model, term.1)).map(|term| term.0).sum()
        };
        (0..1 << vars)
            .filter(holds)
            .map(|model| self.objectives.iter().map(|terms| cost(model, terms)).collect())
            .min()
    }
}

fn of_dimacs(literal: i32) -> Lit {
    Lit::from_dimacs(literal as isize)
}

#[derive(Default)]
struct Circuit {
    solver: Solver<'static>,
}

/// A number in binary, its lowest bit first. Bits behind the last one are not set.
type Number = Vec<Lit>;

impl Circuit {
    fn sum(&mut self, terms: &[(u64, i32)]) -> Number {
        let weighted = |&(weight, literal): &(u64, i32)| (weight, of_dimacs(literal));
        let mut numbers: Vec<Number> = terms
            .iter()
            .map(weighted)
            .map(|(weight, literal)| self.scaled(weight, literal))
            .collect();
        while numbers.len() > 1 {
            numbers = numbers
                .chunks(2)
                .map(|pair| if let [a, b] = pair { self.add(a, b) } else { pair[0].clone() })
                .collect();
        }
        numbers.pop().unwrap_or_default()
    }

    fn scaled(&mut self, weight: u64, literal: Lit) -> Number {
        let never = self.never();
        (0..u64::BITS - weight.leading_zeros())
            .map(|bit| if weight >> bit & 1 == 1 { literal } else { never })
            .collect()
    }

    fn never(&mut self) -> Lit {
        let never = self.solver.new_lit();
        self.solver.add_clause(&[!never]);
        never
    }

    fn add(&mut self, a: &Number, b: &Number) -> Number {
        let mut carry = self.never();
        let never = carry;
        let mut sum = Vec::new();
        for bit in 0..a.len().max(b.len()) {
            let [a, b] = [a, b].map(|number| number.get(bit).copied().unwrap_or(never));
            let [low, high] = [self.solver.new_lit(), self.solver.new_lit()];
            for case in 0..8_u32 {
                let inputs = [a, b, carry].into_iter().enumerate();
                let differ: Vec<_> = inputs
                    .map(|(at, input)| if case >> at & 1 == 1 { !input } else { input })
                    .collect();
                let ones = case.count_ones();
                for (output, is_set) in [(low, ones % 2 == 1), (high, ones > 1)] {
                    self.solver.add_clause(
                        &[&differ[..], &[if is_set { output } else { !output }]].concat(),
                    );
                }
            }
            sum.push(low);
            carry = high;
        }
        sum.push(carry);
        sum
    }

    /// Keeps a number at or below a limit: for each bit that the limit lacks, the number lacks that
    /// bit, too, or lacks a higher one that the limit has.
    fn at_most(&mut self, number: &Number, limit: u64) {
        let has = |bit: usize| bit < 64 && limit >> bit & 1 == 1;
        if (number.len()..64).any(has) {
            return;
        }
        for bit in (0..number.len()).filter(|&bit| !has(bit)) {
            let lacking =
                (bit + 1..number.len()).filter(|&higher| has(higher)).map(|higher| !number[higher]);
            let clause: Vec<_> = lacking.chain([!number[bit]]).collect();
            self.solver.add_clause(&clause);
        }
    }
}
