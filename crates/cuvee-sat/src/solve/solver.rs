//! Puts the SAT solvers behind one interface, so that they can be exchanged and checked against
//! each other.

use std::cell::Cell;

use batsat::SolverInterface;

use super::lexicographic::Guess;
use super::propagator::Propagator;
#[cfg(feature = "varisat")]
use super::varisat::Varisat;
use super::{Limit, SolverKind};
use crate::formula::{Lit, Var};

/// An incremental SAT solver. Its answers depend on nothing but the calls before.
pub(crate) trait SatSolver {
    /// Adds a variable that no clause mentions yet. Variables are numbered from zero.
    fn new_var(&mut self) -> Var;

    /// Adds a variable as [`new_var`](Self::new_var) does, which is true where that is as good.
    fn new_true_var(&mut self) -> Var {
        self.new_var()
    }

    /// Adds a clause for good.
    fn add_clause(&mut self, clause: &[Lit]);

    /// Whether there is a model in which all assumptions hold. For solvers without a limit.
    fn solve(&mut self, assumptions: &[Lit]) -> bool {
        // A solver without a limit always answers.
        self.search(assumptions) == Some(true)
    }

    /// Asks as [`solve`](Self::solve) does. `None` where the limit is reached before the answer.
    fn search(&mut self, assumptions: &[Lit]) -> Option<bool>;

    /// Asks as [`search`](Self::search) does, if the answer is near. `None` where it is not.
    fn attempt(&mut self, assumptions: &[Lit]) -> Option<bool> {
        self.search(assumptions)
    }

    /// Asks as [`search`](Self::search) does. `None` where that takes more than `_decisions`
    /// decisions. The decisions that it takes are subtracted.
    fn solve_within(&mut self, assumptions: &[Lit], _decisions: &mut u64) -> Option<bool> {
        self.search(assumptions)
    }

    /// Whether a literal is true in the model that was found last.
    fn is_true(&self, literal: Lit) -> bool;

    /// Whether the solver knows that a literal is true in no model, because the clauses alone make it
    /// false.
    fn excludes(&self, _literal: Lit) -> bool {
        false
    }

    /// After an unsatisfiable answer: assumptions that cannot hold together with the clauses.
    fn core(&self) -> &[Lit];
}

impl SolverKind {
    pub(crate) fn start(self) -> Box<dyn SatSolver> {
        self.start_within(&Limit::default())
    }

    /// Starts a solver that stops at a limit.
    pub(crate) fn start_within(self, limit: &Limit) -> Box<dyn SatSolver> {
        match self {
            #[cfg(feature = "varisat")]
            Self::Varisat => Box::new(Varisat::new(limit.clone())),
            Self::Batsat => Box::new(Batsat::new(limit.clone())),
        }
    }
}

/// A solver that records its clauses.
pub(super) struct Recorded {
    solver: Box<dyn SatSolver>,
    vars: usize,
    literals: Vec<Lit>,
    ends: Vec<usize>,
    /// The last guess, with the number of clauses that it takes into account.
    guess: Option<(Guess, usize)>,
    /// How often the solver was asked.
    searches: usize,
}

impl Recorded {
    pub(super) fn new(solver: Box<dyn SatSolver>) -> Self {
        Self { solver, vars: 0, literals: Vec::new(), ends: Vec::new(), guess: None, searches: 0 }
    }

    /// The guess that propagation makes for a preference and all clauses. The caller should return
    /// it by [`keep_guess`](Self::keep_guess). Then it need not be made anew when a few clauses
    /// were added.
    pub(super) fn take_guess(&mut self, preference: &[Lit]) -> Guess {
        let Some((guess, count)) = self.guess.take() else {
            return Guess::new(preference, Propagator::new(self));
        };
        let mut guess = guess.toward(preference);
        guess.cover(self.vars);
        self.clauses().skip(count).for_each(|clause| guess.learn(clause));
        guess
    }

    /// Keeps a guess, which must take all clauses into account.
    pub(super) fn keep_guess(&mut self, guess: Guess) {
        self.guess = Some((guess, self.ends.len()));
    }

    pub(super) fn vars(&self) -> usize {
        self.vars
    }

    pub(crate) fn searches(&self) -> usize {
        self.searches
    }

    pub(super) fn add_searches(&mut self, searches: usize) {
        self.searches += searches;
    }

    pub(super) fn clauses(&self) -> impl Iterator<Item = &[Lit]> {
        (0..self.ends.len()).map(|index| {
            let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.literals[start..self.ends[index]]
        })
    }
}

impl SatSolver for Recorded {
    fn new_var(&mut self) -> Var {
        self.vars += 1;
        self.solver.new_var()
    }

    fn new_true_var(&mut self) -> Var {
        self.vars += 1;
        self.solver.new_true_var()
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        self.literals.extend_from_slice(clause);
        self.ends.push(self.literals.len());
        self.solver.add_clause(clause);
    }

    fn search(&mut self, assumptions: &[Lit]) -> Option<bool> {
        self.searches += 1;
        self.solver.search(assumptions)
    }

    fn attempt(&mut self, assumptions: &[Lit]) -> Option<bool> {
        self.solver.attempt(assumptions)
    }

    fn is_true(&self, literal: Lit) -> bool {
        self.solver.is_true(literal)
    }

    fn excludes(&self, literal: Lit) -> bool {
        self.solver.excludes(literal)
    }

    fn core(&self) -> &[Lit] {
        self.solver.core()
    }
}

struct Batsat {
    solver: batsat::Solver<Budget>,
    model: Vec<batsat::lbool>,
    core: Vec<Lit>,
}

/// How many decisions an attempt may take, beyond the assumptions.
const ATTEMPT: u64 = 3;

/// How many decisions there are between two looks at the clock. A look takes longer than a decision
/// should.
const PATIENCE: u64 = 64;

/// Stops the search after a number of decisions, and when the limit is reached.
#[derive(Default)]
struct Budget {
    left: Cell<Option<u64>>,
    asked: Cell<u64>,
    limit: Limit,
    /// Whether the limit was found to be reached.
    is_over: Cell<bool>,
}

impl batsat::Callbacks for Budget {
    /// Decides whether to stop. The solver asks before each decision, and asks again when it
    /// chooses whether to restart. So once the limit is reached, the answer stays the same.
    fn stop(&self) -> bool {
        self.left.set(self.left.get().map(|left| left.saturating_sub(1)));
        self.asked.set(self.asked.get().wrapping_add(1));
        if self.asked.get().is_multiple_of(PATIENCE) && self.limit.is_over() {
            self.is_over.set(true);
        }
        self.left.get() == Some(0) || self.is_over.get()
    }
}

impl Batsat {
    fn new(limit: Limit) -> Self {
        let solver = batsat::Solver::new(
            batsat::SolverOpts::default(),
            Budget { limit, ..Budget::default() },
        );
        Self { solver, model: Vec::new(), core: Vec::new() }
    }

    fn answer(&mut self, assumptions: &[Lit], decisions: Option<u64>) -> Option<bool> {
        if self.solver.cb().limit.is_over() {
            return None;
        }
        self.solver.cb_mut().left.set(decisions);
        let assumptions: Vec<_> = assumptions.iter().map(|&literal| to_batsat(literal)).collect();
        let answer = self.solver.solve_limited(&assumptions);
        if answer == batsat::lbool::TRUE {
            self.model.clear();
            self.model.extend_from_slice(self.solver.get_model());
            Some(true)
        } else if answer == batsat::lbool::FALSE {
            // Batsat returns the core as a clause of negated assumptions.
            self.core =
                self.solver.unsat_core().iter().map(|&literal| !from_batsat(literal)).collect();
            Some(false)
        } else {
            None
        }
    }
}

impl SatSolver for Batsat {
    fn new_var(&mut self) -> Var {
        Var(self.solver.new_var_default().idx())
    }

    fn new_true_var(&mut self) -> Var {
        Var(self.solver.new_var(batsat::lbool::TRUE, true).idx())
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        self.solver
            .add_clause_reuse(&mut clause.iter().map(|&literal| to_batsat(literal)).collect());
    }

    fn search(&mut self, assumptions: &[Lit]) -> Option<bool> {
        self.answer(assumptions, None)
    }

    fn attempt(&mut self, assumptions: &[Lit]) -> Option<bool> {
        self.answer(assumptions, Some(assumptions.len() as u64 + ATTEMPT))
    }

    fn solve_within(&mut self, assumptions: &[Lit], decisions: &mut u64) -> Option<bool> {
        let answer = self.answer(assumptions, Some(*decisions));
        *decisions = self.solver.cb().left.get().unwrap_or(0);
        answer
    }

    fn is_true(&self, literal: Lit) -> bool {
        self.model.get(literal.var().index()).is_some_and(|&value| value == batsat::lbool::TRUE)
            != literal.is_negative()
    }

    fn excludes(&self, literal: Lit) -> bool {
        self.solver.value_lvl_0(to_batsat(literal)) == batsat::lbool::FALSE
    }

    fn core(&self) -> &[Lit] {
        &self.core
    }
}

fn to_batsat(literal: Lit) -> batsat::Lit {
    batsat::Lit::new(batsat::Var::unsafe_from_idx(literal.var().0), !literal.is_negative())
}

fn from_batsat(literal: batsat::Lit) -> Lit {
    Var(literal.var().idx()).positive().negate_if(!literal.sign())
}

#[cfg(test)]
mod tests {
    use batsat::Callbacks;
    use proptest::prelude::*;
    use std::time::Duration;

    use super::super::tests::{KINDS, clauses, holds};
    use super::*;

    const VARS: u32 = 6;

    #[test]
    fn who_is_to_stop_is_told_so_again() {
        let budget = Budget { limit: Limit::after(Duration::ZERO), ..Budget::default() };
        assert!((0..PATIENCE).any(|_| budget.stop()));
        assert!((0..3 * PATIENCE).all(|_| budget.stop()));
    }

    proptest! {
        /// Checks answers, models and cores, over several calls of the same solver.
        #[test]
        fn answers_are_right(clauses in clauses(VARS, 1..24), queries in prop::collection::vec(clauses(VARS, 1..2), 1..6)) {
            for &kind in KINDS {
                let mut solver = kind.start();
                (0..VARS).for_each(|var| assert_eq!(solver.new_var(), Var(var)));
                clauses.iter().for_each(|clause| solver.add_clause(clause));
                let satisfiable = |assumptions: &[Lit]| (0..1 << VARS).any(|model| {
                    holds(&clauses, model) && assumptions.iter().all(|&literal| holds(&[vec![literal]], model))
                });
                for assumptions in queries.iter().flatten() {
                    prop_assert_eq!(solver.solve(assumptions), satisfiable(assumptions));
                    if satisfiable(assumptions) {
                        let model = (0..VARS).map(|var| u32::from(solver.is_true(Var(var).positive())) << var).sum();
                        prop_assert!(holds(&clauses, model));
                        prop_assert!(assumptions.iter().all(|&literal| solver.is_true(literal)));
                    } else {
                        prop_assert!(solver.core().iter().all(|literal| assumptions.contains(literal)));
                        prop_assert!(!satisfiable(solver.core()));
                    }
                }
            }
        }
    }
}
