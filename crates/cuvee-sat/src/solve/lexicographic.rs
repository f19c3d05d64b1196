//! Finds the lexicographically least model, so that the result does not depend on the solver.
//!
//! Propagation makes a guess: literal by literal, each is false unless the decisions before imply
//! that it is true. If a model fulfils the guess, it is the least. If none does, the solver names
//! decisions that cannot hold together. The last of them is thereby implied by the others to be
//! wrong, and guessing goes on from there. So the solver is asked once for each decision that
//! propagation gets wrong, not once for each literal.
//!
//! The guess is kept with the solver. If the same preference is asked for again, and the last model
//! violates new clauses, guessing goes back only as far as these clauses require. Models that are
//! listed one after the other, each excluded by a clause, share most of the guess.
//!
//! # References
//!
//! - Donald E. Knuth. *The Art of Computer Programming*, volume 4, section 7.2.2.2, where the
//!   problem is called LEXSAT.
//! - Ana Petkovska, Alan Mishchenko, Mathias Soeken, Giovanni De Micheli, Robert Brayton, Paolo
//!   Ienne. "Fast Generation of Lexicographic Satisfiable Assignments: Enabling Canonicity in
//!   SAT-Based Applications." ICCAD 2016. Here cores, and not single literals, show where the guess
//!   was wrong.

use super::propagator::Propagator;
use super::solver::{Recorded, SatSolver};
use crate::formula::Lit;

/// Makes the solver find the model in which these literals are lexicographically least, where false
/// is less than true. Returns whether there is a model and the search ended before the limit.
pub(super) fn lexicographic_minimum(preference: &[Lit], solver: &mut Recorded) -> bool {
    let mut guess = solver.take_guess(preference);
    let is_found = loop {
        guess.complete();
        match solver.search(&guess.decisions()) {
            // The core is empty, so no other decision would help.
            Some(false) if solver.core().is_empty() => break false,
            Some(false) => {
                guess.learn(&solver.core().iter().map(|&decision| !decision).collect::<Vec<_>>());
            }
            found => break found.is_some(),
        }
    };
    solver.keep_guess(guess);
    is_found
}

/// The position of a guess that makes a literal false. Later positions are greater, and literals
/// that no position makes false are greatest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FalseAt {
    Position(usize),
    Never,
}

/// The guess that propagation makes for a preference.
pub(super) struct Guess {
    preference: Vec<Lit>,
    propagator: Propagator,
    /// How many literals were known before each position.
    known: Vec<usize>,
    /// The positions whose literal was decided and not implied.
    decided: Vec<usize>,
}

impl Guess {
    pub(super) fn new(preference: &[Lit], propagator: Propagator) -> Self {
        let preference = preference.to_vec();
        Self { preference, propagator, known: Vec::new(), decided: Vec::new() }
    }

    /// Changes the preference of the guess. The guess starts anew unless the preference is the
    /// same.
    pub(super) fn toward(mut self, preference: &[Lit]) -> Self {
        if self.preference != preference {
            self.back_to(0);
            self.preference.clear();
            self.preference.extend_from_slice(preference);
        }
        self
    }

    /// Makes the first `vars` variables known.
    pub(super) fn cover(&mut self, vars: usize) {
        self.propagator.cover(vars);
    }

    /// Decides all positions, or all before the first at which both values fail.
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

    fn decisions(&self) -> Vec<Lit> {
        self.decided.iter().map(|&position| !self.preference[position]).collect()
    }

    /// Adds a clause. If the guess violates it, the guess goes back to before the last position
    /// that makes one of its literals false. That literal is now implied.
    pub(super) fn learn(&mut self, clause: &[Lit]) {
        let Some(mut clause) = self.open_literals(clause) else { return };
        clause.sort_by_key(|&(position, _)| std::cmp::Reverse(position));
        let literals: Vec<_> = clause.iter().map(|&(_, literal)| literal).collect();
        match clause[..] {
            [] => {}
            // A single literal holds from the start.
            [(_, literal)] => {
                self.back_to(0);
                self.assume(literal);
            }
            [(FalseAt::Position(position), _), ..] => {
                self.back_to(position);
                self.propagator.add(&literals);
            }
            [(FalseAt::Never, literal), (second, _), ..] => {
                self.propagator.add(&literals);
                if second != FalseAt::Never && self.propagator.value(literal).is_none() {
                    self.assume(literal);
                }
            }
        }
    }

    /// The literals of a clause that can become true, each with the position that makes it false,
    /// if any. `None` where the clause holds whatever is decided.
    fn open_literals(&self, clause: &[Lit]) -> Option<Vec<(FalseAt, Lit)>> {
        let trail = self.propagator.trail();
        let base = self.known.first().copied().unwrap_or(trail.len());
        let mut open = Vec::with_capacity(clause.len());
        for &literal in clause {
            let at = self.propagator.known_at(literal);
            match (self.propagator.value(literal), at) {
                (Some(true), Some(at)) if at < base => return None,
                (Some(false), Some(at)) if at < base => {}
                (Some(false), Some(at)) => {
                    let position = self.known.partition_point(|&known| known <= at) - 1;
                    open.push((FalseAt::Position(position), literal));
                }
                _ => open.push((FalseAt::Never, literal)),
            }
        }
        Some(open)
    }

    /// Makes a literal true, and every literal that follows. If that fails, nothing is set, and the
    /// solver will find the contradiction.
    fn assume(&mut self, literal: Lit) {
        let known = self.propagator.trail().len();
        if !self.propagator.assume(literal) {
            self.propagator.undo(known);
        }
    }

    /// Goes back to before a position.
    fn back_to(&mut self, position: usize) {
        if let Some(&known) = self.known.get(position) {
            self.propagator.undo(known);
        }
        self.known.truncate(position);
        self.decided.retain(|&decided| decided < position);
    }
}
