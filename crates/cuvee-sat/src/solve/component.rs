//! Solves one component of the clauses with a solver of its own.

use super::components::{Component, Components};
use super::lexicographic::lexicographic_minimum;
use super::optimize;
use super::propagate::Propagation;
use super::solver::{Recorded, SatSolver};
use super::{Interrupted, Limit, SolverSettings, Technique, Techniques, UNTIMED};
use crate::formula::{Cnf, Lit, Var};

/// A component with its solver. The solver allows only models that are optimal for the objectives
/// so far.
pub(super) struct ComponentSolver {
    solver: Recorded,
    techniques: Techniques,
    limit: Limit,
    /// Whether to look for a good model first, because there may be no time to prove the best one.
    improves: bool,
    /// The values of its variables in the best model so far.
    model: Vec<bool>,
    /// Whether every optimisation so far was finished before the limit.
    finished: bool,
}

impl ComponentSolver {
    /// Starts a solver for a component and finds a first model. `None` where there is none.
    pub(super) fn start(
        cnf: &Cnf,
        components: &Components,
        fixed: &Propagation,
        component: &Component,
        settings: &SolverSettings,
    ) -> Result<Option<Self>, Interrupted> {
        let mut solver = Recorded::new(settings.solver.start_within(&settings.limit));
        (0..component.vars).for_each(|_| {
            solver.new_var();
        });
        let mut literals = Vec::new();
        for (done, &clause) in component.clauses.iter().enumerate() {
            if (done + 1).is_multiple_of(UNTIMED) && settings.limit.is_over() {
                return Err(Interrupted);
            }
            literals.clear();
            let residue = fixed.residue(cnf.clause(clause).literals).into_iter().flatten();
            literals.extend(residue.filter_map(|literal| components.inner(literal)));
            // Literals that are different outside may be equal or opposite inside.
            literals.sort_unstable();
            literals.dedup();
            if !literals.windows(2).any(|pair| pair[0] == !pair[1]) {
                solver.add_clause(&literals);
            }
        }
        let found = solver.search(&[]).ok_or(Interrupted)?;
        let model = model(&solver, component.vars as usize);
        let techniques = settings.techniques;
        let improves = techniques.has(Technique::Greedy) || settings.limit.is_set();
        let limit = settings.limit.clone();
        Ok(found.then_some(Self { solver, techniques, limit, improves, model, finished: true }))
    }

    /// Whether the model is proven to be the best, and is the preferred one among the best.
    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Whether a literal is true in the best model so far.
    pub(super) fn is_true(&self, literal: Lit) -> bool {
        self.model[literal.var().index()] != literal.is_negative()
    }

    /// Whether a literal is true in the model that [`Self::differs`] found.
    pub(super) fn is_true_in_last(&self, literal: Lit) -> bool {
        self.solver.is_true(literal)
    }

    /// The cost of the best model so far.
    pub(super) fn cost(&self, terms: &[(Lit, u128)]) -> u128 {
        terms.iter().filter(|(literal, _)| self.is_true(*literal)).map(|(_, weight)| weight).sum()
    }

    /// Minimises a sum, and allows only models of the least cost from now on. Returns the bounds of
    /// that cost, which are equal unless the limit was reached.
    pub(super) fn minimize(
        &mut self,
        terms: &[(Lit, u128)],
        bounds: &mut dyn FnMut(u128, u128),
    ) -> (u128, u128) {
        if !self.finished {
            return (0, self.cost(terms));
        }
        // Looking for a good model goes through all clauses before the solver is asked.
        if self.improves && !self.limit.is_over() {
            self.improve(terms);
            bounds(0, self.cost(terms));
        }
        let start = self.cost(terms);
        let Self { solver, model: best, techniques, finished, .. } = self;
        let (lower, upper) =
            optimize::minimize(terms, start, solver, *techniques, &mut |lower, upper, found| {
                if let Some(found) = found {
                    *best = model(found, best.len());
                }
                bounds(lower, upper);
            });
        *finished = lower == upper;
        (lower, upper)
    }

    /// Looks for a model that avoids the heaviest cost if possible, then the next one, and so on.
    /// Takes it if it is better.
    fn improve(&mut self, terms: &[(Lit, u128)]) {
        let mut heaviest = terms.to_vec();
        heaviest.sort_by_key(|&(literal, weight)| (std::cmp::Reverse(weight), literal));
        let literals: Vec<_> = heaviest.iter().map(|&(literal, _)| literal).collect();
        if lexicographic_minimum(&literals, &mut self.solver) {
            let found = model(&self.solver, self.model.len());
            let cost = self.cost(terms);
            let before = std::mem::replace(&mut self.model, found);
            if self.cost(terms) > cost {
                self.model = before;
            }
        }
    }

    /// Takes the model in which these literals are lexicographically least.
    pub(super) fn prefer(&mut self, preference: &[Lit]) {
        self.finished = self.finished
            && !self.limit.is_over()
            && lexicographic_minimum(preference, &mut self.solver);
        if self.finished {
            self.model = model(&self.solver, self.model.len());
        }
    }

    /// Whether there is another model of the same costs in which at least one of these literals
    /// differs.
    pub(super) fn differs(&mut self, literals: &[Lit]) -> Result<bool, Interrupted> {
        let asked = self.solver.new_var().positive();
        let mut clause = vec![!asked];
        clause.extend(literals.iter().map(|&literal| literal.negate_if(self.is_true(literal))));
        self.solver.add_clause(&clause);
        let found = self.solver.search(&[asked]);
        self.solver.add_clause(&[!asked]);
        found.ok_or(Interrupted)
    }
}

/// The values of the first `vars` variables in the last model of a solver.
fn model(solver: &dyn SatSolver, vars: usize) -> Vec<bool> {
    (0..vars as u32).map(|var| solver.is_true(Var(var).positive())).collect()
}
