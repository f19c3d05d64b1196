//! One component with its solver.

use super::SolverKind;
use super::components::{Component, Components};
use super::least::least;
use super::optimize;
use super::propagate::Propagation;
use super::solver::{Recorded, SatSolver};
use crate::formula::{Cnf, Lit, Var};

/// A component with its solver, which allows only models that are as good as the objectives so far demand.
pub(super) struct Part {
    solver: Recorded,
    /// The truth of its variables in the model so far.
    model: Vec<bool>,
}

impl Part {
    /// A first model, if there is one.
    pub fn start(
        cnf: &Cnf,
        components: &Components,
        fixed: &Propagation,
        component: &Component,
        kind: SolverKind,
    ) -> Option<Self> {
        let mut solver = Recorded::new(kind.start());
        for _ in &component.vars {
            solver.new_var();
        }
        let mut literals = Vec::new();
        for &clause in &component.clauses {
            literals.clear();
            let residue = fixed.residue(cnf.clause(clause).literals).into_iter().flatten();
            literals.extend(residue.filter_map(|literal| components.inner(literal)));
            solver.add_clause(&literals);
        }
        solver.solve(&[]).then(|| Self { model: model(&solver, component.vars.len()), solver })
    }

    /// Whether a literal is true in the model so far.
    pub fn is_true(&self, literal: Lit) -> bool {
        self.model[literal.var().index()] != literal.is_negative()
    }

    /// Whether a literal is true in the model that [`Self::differs`] found.
    pub fn is_true_in_last(&self, literal: Lit) -> bool {
        self.solver.is_true(literal)
    }

    /// What the model so far costs.
    pub fn cost(&self, terms: &[(Lit, u128)]) -> u128 {
        terms.iter().filter(|(literal, _)| self.is_true(*literal)).map(|(_, weight)| weight).sum()
    }

    /// Minimises a sum, and admits only models of the least cost from now on.
    pub fn minimize(&mut self, terms: &[(Lit, u128)], bounds: &mut dyn FnMut(u128, u128)) -> u128 {
        let start = self.cost(terms);
        let Self { solver, model: best } = self;
        optimize::minimize(terms, start, solver, &mut |lower, upper, found| {
            if let Some(found) = found {
                *best = model(found, best.len());
            }
            bounds(lower, upper);
        })
    }

    /// Takes the model in which these literals are lexicographically least.
    pub fn prefer(&mut self, preference: &[Lit]) {
        least(preference, &mut self.solver);
        self.model = model(&self.solver, self.model.len());
    }

    /// Whether there is another model as good in which at least one of these literals differs.
    pub fn differs(&mut self, literals: &[Lit]) -> bool {
        let asked = self.solver.new_var().positive();
        let mut clause = vec![!asked];
        clause.extend(literals.iter().map(|&literal| literal.negate_if(self.is_true(literal))));
        self.solver.add_clause(&clause);
        let found = self.solver.solve(&[asked]);
        self.solver.add_clause(&[!asked]);
        found
    }
}

/// The truth of the first variables of a solver.
fn model(solver: &dyn SatSolver, vars: usize) -> Vec<bool> {
    (0..vars as u32).map(|var| solver.is_true(Var(var).positive())).collect()
}
