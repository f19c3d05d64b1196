//! Makes the model independent of the solver's luck: of all models the lexicographic minimum.
//!
//! Propagation makes a guess: literal by literal, false unless what was decided before implies that it
//! is true. If a model fulfils the guess, nothing is less. If none does, the solver names decisions
//! that cannot hold together; the last of them is thereby implied to be true by the others, and
//! guessing goes on from there. So the solver is asked once for each decision that propagation does not
//! see through, not once for each literal.
//!
//! # References
//!
//! - Donald E. Knuth. *The Art of Computer Programming*, volume 4, section 7.2.2.2, where the problem is
//!   called LEXSAT.
//! - Ana Petkovska, Alan Mishchenko, Mathias Soeken, Giovanni De Micheli, Robert Brayton, Paolo Ienne.
//!   "Fast Generation of Lexicographic Satisfiable Assignments: Enabling Canonicity in SAT-Based
//!   Applications." ICCAD 2016. Here cores, and not single literals, say where the guess was wrong.

use rustc_hash::FxHashMap;

use super::propagator::Propagator;
use super::solver::{Recorded, SatSolver};
use crate::sat::formula::Lit;

/// Makes the solver find the model in which these literals are lexicographically least, false
/// before true, given that there is a model. Whether that worked out before the limit.
pub(super) fn lexicographic_minimum(preference: &[Lit], solver: &mut Recorded) -> bool {
    let mut guess = Guess::new(preference, solver.take_propagator());
    let is_found = loop {
        guess.complete();
        match solver.search(&guess.decisions()) {
            Some(false) => guess.refute(solver.core()),
            found => break found.is_some(),
        }
    };
    solver.give_back(guess.taken_back());
    is_found
}

/// What propagation makes of the preference.
struct Guess<'p> {
    preference: &'p [Lit],
    positions: FxHashMap<Lit, usize>,
    propagator: Propagator,
    /// How many literals were known before each position.
    known: Vec<usize>,
    /// The positions that were decided, not implied.
    decided: Vec<usize>,
}

impl<'p> Guess<'p> {
    fn new(preference: &'p [Lit], propagator: Propagator) -> Self {
        // Of one that is there twice, the first place counts.
        let positions = preference
            .iter()
            .enumerate()
            .rev()
            .map(|(position, &literal)| (literal, position))
            .collect();
        Self { preference, positions, propagator, known: Vec::new(), decided: Vec::new() }
    }

    /// Decides all positions, or all before one at which both values fail.
    fn complete(&mut self) {
        while let Some(&literal) = self.preference.get(self.known.len()) {
            let known = self.propagator.trail().len();
            if self.propagator.value(literal).is_none() {
                if self.propagator.assume(!literal) {
                    self.decided.push(self.known.len());
                } else {
                    self.propagator.undo(known);
                    if !self.propagator.assume(literal) {
                        self.propagator.undo(known);
                        return;
                    }
                }
            }
            self.known.push(known);
        }
    }

    /// The propagator without what was guessed; what follows from refuted guesses stays.
    fn taken_back(mut self) -> Propagator {
        if let Some(&known) = self.known.first() {
            self.propagator.undo(known);
        }
        self.propagator
    }

    fn decisions(&self) -> Vec<Lit> {
        self.decided.iter().map(|&position| !self.preference[position]).collect()
    }

    /// Goes back to the last of some decisions that fail together, and remembers that they do.
    fn refute(&mut self, core: &[Lit]) {
        let position_of = |decision: &Lit| self.positions.get(&!*decision).copied().unwrap_or(0);
        let mut clause: Vec<_> = core.iter().map(|&decision| !decision).collect();
        clause.sort_by_key(|literal| std::cmp::Reverse(position_of(&!*literal)));
        // Alone, it holds from the start.
        let position = if clause.len() == 1 {
            0
        } else {
            clause.first().map_or(0, |literal| position_of(&!*literal))
        };
        if let Some(&known) = self.known.get(position) {
            self.propagator.undo(known);
        }
        self.known.truncate(position);
        self.decided.retain(|&decided| decided < position);
        self.propagator.add(&clause);
    }
}
