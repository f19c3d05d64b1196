//! The solver of the feature `varisat`, to cross-check the other.

use super::Limit;
use super::solver::SatSolver;
use crate::sat::formula::{Lit, Var};
use ::varisat::ExtendFormula;

/// Varisat cannot be stopped, so each attempt is a search, and a limit counts between searches; its
/// cores are verified.
#[derive(Default)]
pub(super) struct Varisat {
    limit: Limit,
    solver: ::varisat::Solver<'static>,
    vars: u32,
    model: Vec<bool>,
    core: Vec<Lit>,
}

impl Varisat {
    pub(super) fn new(limit: Limit) -> Self {
        Self { limit, ..Self::default() }
    }

    /// The answer, and the model where there is one.
    fn answer(&mut self, assumptions: &[Lit]) -> bool {
        self.solver
            .assume(&assumptions.iter().map(|&literal| to_varisat(literal)).collect::<Vec<_>>());
        // An interrupted run can be continued; no proof is written, so nothing else can fail.
        let satisfiable = loop {
            if let Ok(satisfiable) = self.solver.solve() {
                break satisfiable;
            }
        };
        if satisfiable {
            self.model.clear();
            self.model.resize(self.vars as usize, false);
            for literal in self.solver.model().unwrap_or_default() {
                if let Some(value) = self.model.get_mut(literal.var().index()) {
                    *value = literal.is_positive();
                }
            }
        }
        satisfiable
    }

    /// The failed core may lack assumptions that are needed: where a model satisfies it,
    /// assumptions that the model violates join it.
    fn verified_core(&mut self, assumptions: &[Lit]) -> Vec<Lit> {
        let mut core = self.failed_core();
        while core.len() < assumptions.len() && self.answer(&core) {
            let violated: Vec<_> =
                assumptions.iter().copied().filter(|&literal| !self.is_true(literal)).collect();
            core.extend(violated);
        }
        core
    }

    fn failed_core(&self) -> Vec<Lit> {
        self.solver
            .failed_core()
            .unwrap_or_default()
            .iter()
            .map(|&literal| from_varisat(literal))
            .collect()
    }
}

impl SatSolver for Varisat {
    fn new_var(&mut self) -> Var {
        self.vars += 1;
        from_varisat(self.solver.new_lit()).var()
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        self.solver
            .add_clause(&clause.iter().map(|&literal| to_varisat(literal)).collect::<Vec<_>>());
    }

    fn search(&mut self, assumptions: &[Lit]) -> Option<bool> {
        if self.limit.is_over() {
            return None;
        }
        let satisfiable = self.answer(assumptions);
        if !satisfiable {
            // Verifying finds models of parts of the assumptions; the last model asked for stays.
            let model = std::mem::take(&mut self.model);
            self.core = self.verified_core(assumptions);
            self.model = model;
        }
        Some(satisfiable)
    }

    fn is_true(&self, literal: Lit) -> bool {
        self.model.get(literal.var().index()).copied().unwrap_or(false) != literal.is_negative()
    }

    fn core(&self) -> &[Lit] {
        &self.core
    }
}

fn to_varisat(literal: Lit) -> ::varisat::Lit {
    ::varisat::Lit::from_index(literal.var().index(), !literal.is_negative())
}

fn from_varisat(literal: ::varisat::Lit) -> Lit {
    Var(literal.var().index() as u32).positive().negate_if(literal.is_negative())
}
