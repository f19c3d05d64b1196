//! Searches for a model near a known one.
//!
//! A question about one literal of a large problem usually concerns a few variables around it. The
//! others can keep the values that they have in a known model. So the search starts from what
//! propagation makes of the literal, and only repairs the clauses that the known model breaks then.
//! What it costs grows with the difference between the two models and not with the problem.
//!
//! # References
//!
//! - Martin Davis, George Logemann, Donald Loveland. "A Machine Program for Theorem-Proving."
//!   Communications of the ACM 1962: each literal of a clause is tried in turn, and false from then
//!   on.
//! - Anton Belov, João Marques-Silva. "Accelerating MUS Extraction with Recursive Model Rotation."
//!   FMCAD 2011: that a small change of a known model often answers the next question.

use super::propagate::ClauseLists;
use super::propagator::Propagator;
use super::solver::{Recorded, SatSolver};
use crate::formula::{Lit, Var};

/// How many literals are tried for a question before it is given up.
const TRIED: u32 = 256;

/// How many clauses are looked at for each literal that is tried, on average.
const LOOKED: u32 = 256;

/// How many searches near a model may be in vain, one after the other, before no more are made.
pub(super) const IN_VAIN: usize = 8;

/// Clauses, and a model of them.
pub(super) struct Nearby<'c> {
    clauses: Vec<&'c [Lit]>,
    lists: ClauseLists,
    /// Whether each variable is true in the model.
    model: Vec<bool>,
}

/// What a search may still try, and look at.
struct Effort {
    tried: u32,
    looked: u32,
}

impl<'c> Nearby<'c> {
    /// Takes the clauses of a solver, and the model that it found last.
    pub(super) fn of(solver: &'c Recorded) -> Self {
        let clauses: Vec<&[Lit]> = solver.clauses().collect();
        let lists = ClauseLists::new(solver.vars(), || clauses.iter().copied());
        let vars = (0..solver.vars() as u32).map(Var);
        let model = vars.map(|var| solver.is_true(var.positive())).collect();
        Self { clauses, lists, model }
    }

    /// Whether there is a model in which a literal is true, and all that the propagator knows.
    /// `None` where the search is given up. The propagator must have been made of the same clauses,
    /// and know nothing that is false in the known model.
    pub(super) fn has_model(&self, literal: Lit, propagator: &mut Propagator) -> Option<bool> {
        self.with_model(literal, propagator, |_| ())
    }

    /// Does the same as [`Nearby::has_model`], and shows the model that it finds: `see` is called
    /// with what tells whether a literal is true in it.
    pub(super) fn with_model(
        &self,
        literal: Lit,
        propagator: &mut Propagator,
        see: impl FnOnce(&dyn Fn(Lit) -> bool),
    ) -> Option<bool> {
        let known = propagator.trail().len();
        let mut effort = Effort { tried: TRIED, looked: TRIED * LOOKED };
        let answer = match propagator.value(literal) {
            Some(false) => Some(false),
            Some(true) => self.repaired(known, propagator, &mut effort),
            None if propagator.assume(literal) => self.repaired(known, propagator, &mut effort),
            None => Some(false),
        };
        if answer == Some(true) {
            see(&|literal| self.is_true_after(literal, propagator));
        }
        propagator.undo(known);
        answer
    }

    /// Repairs the clauses that the known model breaks with the literals of the trail from position
    /// `from` on.
    fn repaired(
        &self,
        mut from: usize,
        propagator: &mut Propagator,
        effort: &mut Effort,
    ) -> Option<bool> {
        while let Some(&literal) = propagator.trail().get(from) {
            if !self.is_true(literal) {
                for &index in self.lists.of_literal(!literal) {
                    effort.looked = effort.looked.checked_sub(1)?;
                    let clause = self.clauses[index as usize];
                    if !self.holds(clause, propagator) {
                        return self.any_of(clause, from, propagator, effort);
                    }
                }
            }
            from += 1;
        }
        Some(true)
    }

    /// Tries each literal of a broken clause. Whatever was tried in vain is false from then on.
    fn any_of(
        &self,
        clause: &[Lit],
        from: usize,
        propagator: &mut Propagator,
        effort: &mut Effort,
    ) -> Option<bool> {
        for &literal in clause {
            let known = propagator.trail().len();
            match propagator.value(literal) {
                // The last literal left, or one that follows from those that failed.
                Some(true) => return self.repaired(from, propagator, effort),
                Some(false) => continue,
                None => {}
            }
            effort.tried = effort.tried.checked_sub(1)?;
            if propagator.assume(literal) && self.repaired(from, propagator, effort)? {
                return Some(true);
            }
            propagator.undo(known);
            if !propagator.assume(!literal) {
                return Some(false);
            }
        }
        Some(false)
    }

    /// Whether a literal is true in the known model.
    fn is_true(&self, literal: Lit) -> bool {
        self.model[literal.var().index()] != literal.is_negative()
    }

    /// Whether a literal is true where variables that the propagator does not know are as in the
    /// known model.
    fn is_true_after(&self, literal: Lit, propagator: &Propagator) -> bool {
        propagator.value(literal).unwrap_or_else(|| self.is_true(literal))
    }

    fn holds(&self, clause: &[Lit], propagator: &Propagator) -> bool {
        clause.iter().any(|&literal| self.is_true_after(literal, propagator))
    }
}
