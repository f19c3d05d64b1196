//! Answers one question after the other about the same clauses.

use super::SolverSettings;
use super::equivalence::Equivalences;
use super::lexicographic::lexicographic_minimum;
use super::nearby::Nearby;
use super::propagate::Propagation;
use super::propagator::Propagator;
use super::solver::{Recorded, SatSolver};
use crate::formula::{Cnf, Lit, Var};

/// A solver for a set of clauses. It finds models one at a time, and clauses can be added.
///
/// ```
/// use cuvee_sat::formula::Var;
/// use cuvee_sat::solve::{Models, SolverKind};
///
/// let [a, b] = [0, 1].map(|var| Var(var).positive());
/// let mut models = Models::new(2, [[a, b].as_slice()].into_iter(), SolverKind::default());
/// assert!(models.solve(&[!a]));
/// assert!(models.is_true(b));
/// assert!(!models.solve(&[!a, !b]));
/// ```
pub struct Models {
    solver: Recorded,
}

impl Models {
    /// Starts a solver for clauses over the first `vars` variables. Where its settings have a limit,
    /// all questions after that are answered as if there were no model.
    pub fn new<'c>(
        vars: usize,
        clauses: impl Iterator<Item = &'c [Lit]>,
        settings: impl Into<SolverSettings>,
    ) -> Self {
        let settings = settings.into();
        let solver = settings.solver.start_within(&settings.limit);
        let mut models = Self { solver: Recorded::new(solver) };
        models.cover(vars);
        for clause in clauses {
            models.cover_literals(clause);
            models.solver.add_clause(clause);
        }
        models
    }

    /// Starts a solver for clauses with origins, which are ignored.
    pub fn of(cnf: &Cnf, settings: impl Into<SolverSettings>) -> Self {
        Self::new(cnf.vars(), cnf.clauses().map(|clause| clause.literals), settings)
    }

    /// Whether there is a model in which all assumptions are true.
    pub fn solve(&mut self, assumptions: &[Lit]) -> bool {
        self.cover_literals(assumptions);
        self.solver.solve(assumptions)
    }

    /// The number of variables.
    pub(super) fn vars(&self) -> usize {
        self.solver.vars()
    }

    /// How often the solver was asked so far.
    pub fn searches(&self) -> usize {
        self.solver.searches()
    }

    /// Whether a literal is true in the model that was found last.
    pub fn is_true(&self, literal: Lit) -> bool {
        self.solver.is_true(literal)
    }

    /// Given assumptions for which there is no model, finds a minimal subset for which there is
    /// none. The result is the same for every solver, because the solver is only asked whether
    /// there is a model.
    ///
    /// Ulrich Junker. "QuickXplain: Preferred Explanations and Relaxations for Over-Constrained
    /// Problems." AAAI 2004.
    pub(super) fn least_core(&mut self, assumptions: &[Lit]) -> Vec<Lit> {
        self.core_beside(&mut Vec::new(), false, assumptions)
    }

    /// The assumptions that are needed beside `others` so that there is no model. If the others
    /// have `grown`, they may be enough alone.
    fn core_beside(&mut self, others: &mut Vec<Lit>, grown: bool, assumptions: &[Lit]) -> Vec<Lit> {
        if grown && !self.solve(others) {
            return Vec::new();
        }
        if assumptions.len() < 2 {
            return assumptions.to_vec();
        }
        let (first, second) = assumptions.split_at(assumptions.len() / 2);
        let before = others.len();
        others.extend(first);
        let of_second = self.core_beside(others, true, second);
        others.truncate(before);
        others.extend(&of_second);
        let mut core = self.core_beside(others, !of_second.is_empty(), first);
        others.truncate(before);
        core.extend(of_second);
        core
    }

    /// Adds a variable that no clause mentions yet.
    pub fn new_var(&mut self) -> Var {
        self.solver.new_var()
    }

    /// Adds a clause. All further models satisfy it.
    pub fn add_clause(&mut self, clause: &[Lit]) {
        self.solver.add_clause(clause);
    }

    /// Adds variables until those of the literals exist.
    pub(super) fn cover_literals(&mut self, literals: &[Lit]) {
        let vars = literals.iter().map(|literal| literal.var().index() + 1);
        self.cover(vars.max().unwrap_or(0));
    }

    fn cover(&mut self, vars: usize) {
        while self.solver.vars() < vars {
            self.solver.new_var();
        }
    }

    /// Whether there is a model in which all assumptions and at least one of some literals are
    /// true.
    pub fn solve_any(&mut self, literals: &[Lit], assumptions: &[Lit]) -> bool {
        let asked = self.new_var().positive();
        self.add_clause(&literals.iter().copied().chain([!asked]).collect::<Vec<_>>());
        let found = self.solve(&assumptions.iter().copied().chain([asked]).collect::<Vec<_>>());
        self.add_clause(&[!asked]);
        found
    }

    /// The literals that may be true in a model in which all assumptions are true, as far as
    /// propagation alone can tell.
    pub fn not_excluded(&self, literals: &[Lit], assumptions: &[Lit]) -> Vec<Lit> {
        let mut propagator = self.propagator();
        let mut assumptions = assumptions.iter();
        let holds = assumptions.all(|&literal| {
            propagator.value(literal).unwrap_or_else(|| propagator.assume(literal))
        });
        let possible = literals.iter().copied().filter(|_| holds);
        possible.filter(|&literal| propagator.is_possible(literal)).collect()
    }

    /// Asks as [`solve`](Self::solve) does, and finds a particular model: the first literal of
    /// `toward` is true if it can be, then the second, and so on. Where these literals decide all
    /// that is looked at, the result is the same for every solver.
    pub fn solve_least(&mut self, assumptions: &[Lit], toward: &[Lit]) -> bool {
        if assumptions.is_empty() {
            // Without assumptions, the guess finds out by itself whether there is a model.
            return self.solve_toward(toward);
        }
        let found = self.solve(assumptions);
        if found {
            self.solve_toward(&[assumptions, toward].concat());
        }
        found
    }

    /// Finds a model in which the first literal is true if it can be, then the second, and so on.
    /// Returns whether there is a model.
    pub(super) fn solve_toward(&mut self, literals: &[Lit]) -> bool {
        let preference: Vec<_> = literals.iter().map(|&literal| !literal).collect();
        lexicographic_minimum(&preference, &mut self.solver)
    }

    /// The equivalences that follow from the clauses of two literals.
    pub(super) fn equivalences(&self) -> Equivalences {
        let cnf = Cnf::of(self.vars(), self.solver.clauses().map(<[Lit]>::to_vec));
        Equivalences::new(&cnf, &Propagation::of(&cnf), true)
    }

    pub(super) fn propagator(&self) -> Propagator {
        Propagator::new(&self.solver)
    }

    /// A search near the model that was found last.
    pub(super) fn nearby(&self) -> Nearby<'_> {
        Nearby::of(&self.solver)
    }
}
