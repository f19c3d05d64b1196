//! Makes the model independent of the solver's luck: of all models the one that is lexicographically least.

use super::solver::SatSolver;
use crate::formula::Lit;

/// The truth of these literals in the lexicographically least model, false before true, given the truth in some model.
///
/// Asks for many literals at once: whether some of the next that are true could be false. Where they could not, all are settled; where they could, the
/// new model is a better one or the question was too wide.
pub(super) fn least(preference: &[Lit], truth: Vec<bool>, solver: &mut dyn SatSolver) -> Vec<bool> {
    let settled = solver.new_var().positive();
    let mut search = Search { preference, truth, solver, settled, next: 0 };
    let mut width = 1;
    while search.next < preference.len() {
        let end = search.after(width);
        if search.improve(end) {
            width = (width / 4).max(1);
        } else {
            search.settle(end);
            width *= 2;
        }
    }
    search.solver.add_clause(&[!settled]);
    search.truth
}

struct Search<'s> {
    preference: &'s [Lit],
    truth: Vec<bool>,
    solver: &'s mut dyn SatSolver,
    /// While assumed, the literals before `next` keep their truth.
    settled: Lit,
    next: usize,
}

impl Search<'_> {
    /// The position after the next so many literals that are true, after what is false anyway.
    fn after(&self, width: usize) -> usize {
        let mut trues = (self.next..self.truth.len()).filter(|&position| self.truth[position]);
        trues.nth(width - 1).map_or(self.truth.len(), |position| position + 1)
    }

    /// Settles the literals before a position as they are.
    fn settle(&mut self, end: usize) {
        for position in self.next..end {
            let literal = self.preference[position].negate_if(!self.truth[position]);
            self.solver.add_clause(&[!self.settled, literal]);
        }
        self.next = end;
    }

    /// Whether one of the true literals before a position may be false; if so, takes the new model where it is lexicographically smaller.
    fn improve(&mut self, end: usize) -> bool {
        let Some(first) = (self.next..end).find(|&position| self.truth[position]) else { return false };
        self.settle(first);
        let asked = self.solver.new_var().positive();
        let mut clause = vec![!asked];
        clause.extend((first..end).filter(|&position| self.truth[position]).map(|position| !self.preference[position]));
        self.solver.add_clause(&clause);
        let found = self.solver.solve(&[self.settled, asked]);
        if found {
            let truth: Vec<_> = self.preference.iter().map(|&literal| self.solver.is_true(literal)).collect();
            if truth < self.truth {
                self.truth = truth;
            }
        }
        self.solver.add_clause(&[!asked]);
        found
    }
}
