//! Connects the solver `varisat`, a feature, to cross-check the other solver.

use super::Limit;
use super::solver::SatSolver;
use crate::formula::{Lit, Var};
use ::varisat::ExtendFormula;

/// The solver `varisat`. It cannot be stopped. So each attempt is a full search, and a limit is
/// checked only between searches. Its cores are verified.
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

    /// Asks the solver. If there is a model, keeps it.
    fn answer(&mut self, assumptions: &[Lit]) -> bool {
        self.solver
            .assume(&assumptions.iter().map(|&literal| to_varisat(literal)).collect::<Vec<_>>());
        // An interrupted run can be continued. No proof is written, so nothing else can fail.
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

    /// Verifies the core. It may lack assumptions that are needed. Where a model satisfies the
    /// core, the assumptions that this model violates are added.
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
            // Verification finds models of parts of the assumptions. The last model that was asked
            // for is kept.
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
