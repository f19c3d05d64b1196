//! A solver that answers one question after the other about the same clauses.

use super::SolverKind;
use super::equivalence::Equivalences;
use super::lexicographic::lexicographic_minimum;
use super::propagate::Propagation;
use super::propagator::Propagator;
use super::solver::{Recorded, SatSolver};
use crate::sat::formula::{Cnf, Lit, Var};

/// The models of clauses, found one at a time.
///
/// ```
/// use cuvee::formula::Var;
/// use cuvee::solve::{Models, SolverKind};
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
    /// The models of clauses over the first `vars` variables.
    pub fn new<'c>(
        vars: usize,
        clauses: impl Iterator<Item = &'c [Lit]>,
        kind: SolverKind,
    ) -> Self {
        let mut models = Self { solver: Recorded::new(kind.start()) };
        models.cover(vars);
        for clause in clauses {
            models.cover_literals(clause);
            models.solver.add_clause(clause);
        }
        models
    }

    /// The models of clauses with origins.
    pub fn of(cnf: &Cnf, kind: SolverKind) -> Self {
        Self::new(cnf.vars(), cnf.clauses().map(|clause| clause.literals), kind)
    }

    /// Whether there is a model in which all assumptions are true.
    pub fn solve(&mut self, assumptions: &[Lit]) -> bool {
        self.cover_literals(assumptions);
        self.solver.solve(assumptions)
    }

    /// How many variables there are.
    pub(super) fn vars(&self) -> usize {
        self.solver.vars()
    }

    /// How often a solver was asked so far.
    pub(crate) fn searches(&self) -> usize {
        self.solver.searches()
    }

    /// Whether a literal is true in the model that was found last.
    pub fn is_true(&self, literal: Lit) -> bool {
        self.solver.is_true(literal)
    }

    /// Of assumptions for which there is no model, some that have none together, and none of which
    /// can be left out: the same whatever the solver, for it is asked for nothing but whether there
    /// is a model.
    ///
    /// Ulrich Junker. "QuickXplain: Preferred Explanations and Relaxations for Over-Constrained
    /// Problems." AAAI 2004.
    pub(super) fn least_core(&mut self, assumptions: &[Lit]) -> Vec<Lit> {
        self.core_beside(&mut Vec::new(), false, assumptions)
    }

    /// What of these assumptions is needed beside others for there to be no model; the others may
    /// have grown, so that they are enough alone.
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

    /// A variable that no clause mentions yet.
    pub(crate) fn new_var(&mut self) -> Var {
        self.solver.new_var()
    }

    /// Admits only models of this clause from now on.
    pub(crate) fn add_clause(&mut self, clause: &[Lit]) {
        self.solver.add_clause(clause);
    }

    /// Makes variables up to those of some literals known.
    pub(super) fn cover_literals(&mut self, literals: &[Lit]) {
        let vars = literals.iter().map(|literal| literal.var().index() + 1);
        self.cover(vars.max().unwrap_or(0));
    }

    fn cover(&mut self, vars: usize) {
        while self.solver.vars() < vars {
            self.solver.new_var();
        }
    }

    /// Whether there is a model in which at least one of some literals is true, and all assumptions
    /// are.
    pub(crate) fn solve_any(&mut self, literals: &[Lit], assumptions: &[Lit]) -> bool {
        let asked = self.new_var().positive();
        self.add_clause(&literals.iter().copied().chain([!asked]).collect::<Vec<_>>());
        let found = self.solve(&assumptions.iter().copied().chain([asked]).collect::<Vec<_>>());
        self.add_clause(&[!asked]);
        found
    }

    /// Those of some literals of which propagation does not see that they are in no model in which all
    /// assumptions are true.
    pub(crate) fn not_excluded(&self, literals: &[Lit], assumptions: &[Lit]) -> Vec<Lit> {
        let mut propagator = self.propagator();
        let mut assumptions = assumptions.iter();
        let holds = assumptions.all(|&literal| {
            propagator.value(literal).unwrap_or_else(|| propagator.assume(literal))
        });
        let possible = literals.iter().copied().filter(|_| holds);
        possible.filter(|&literal| propagator.is_possible(literal)).collect()
    }

    /// As [`solve`](Self::solve), and of the models in which the assumptions are true the one in
    /// which the first of these literals is true if it can be, then the second, ...: whatever the
    /// solver, it is the same where they decide all that is looked at.
    pub(crate) fn solve_least(&mut self, assumptions: &[Lit], toward: &[Lit]) -> bool {
        if assumptions.is_empty() {
            // Guessing finds out by itself.
            return self.solve_toward(toward);
        }
        let found = self.solve(assumptions);
        if found {
            self.solve_toward(&[assumptions, toward].concat());
        }
        found
    }

    /// Finds a model in which the first literal is true if it can be, then the second, ...; whether
    /// there is one.
    pub(super) fn solve_toward(&mut self, literals: &[Lit]) -> bool {
        let preference: Vec<_> = literals.iter().map(|&literal| !literal).collect();
        lexicographic_minimum(&preference, &mut self.solver)
    }

    /// What clauses of two literals make equal.
    pub(super) fn equivalences(&self) -> Equivalences {
        let cnf = Cnf::of(self.vars(), self.solver.clauses().map(<[Lit]>::to_vec));
        Equivalences::new(&cnf, &Propagation::of(&cnf), true)
    }

    pub(super) fn propagator(&self) -> Propagator {
        Propagator::new(&self.solver)
    }
}
