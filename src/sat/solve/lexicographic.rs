//! Makes the model independent of the solver's luck: of all models the lexicographic minimum.
//!
//! Propagation makes a guess: literal by literal, false unless what was decided before implies that it
//! is true. If a model fulfils the guess, nothing is less. If none does, the solver names decisions
//! that cannot hold together; the last of them is thereby implied to be true by the others, and
//! guessing goes on from there. So the solver is asked once for each decision that propagation does not
//! see through, not once for each literal.
//!
//! The guess stays with the solver. Where the same preference is asked for again and clauses have come
//! that the last model violates, guessing goes back only as far as they say: models that are listed one
//! after the other, each excluded by a clause, share most of what was guessed.
//!
//! # References
//!
//! - Donald E. Knuth. *The Art of Computer Programming*, volume 4, section 7.2.2.2, where the problem is
//!   called LEXSAT.
//! - Ana Petkovska, Alan Mishchenko, Mathias Soeken, Giovanni De Micheli, Robert Brayton, Paolo Ienne.
//!   "Fast Generation of Lexicographic Satisfiable Assignments: Enabling Canonicity in SAT-Based
//!   Applications." ICCAD 2016. Here cores, and not single literals, say where the guess was wrong.

use super::propagator::Propagator;
use super::solver::{Recorded, SatSolver};
use crate::sat::formula::Lit;

/// Makes the solver find the model in which these literals are lexicographically least, false
/// before true. Whether there is a model and that worked out before the limit.
pub(super) fn lexicographic_minimum(preference: &[Lit], solver: &mut Recorded) -> bool {
    let mut guess = solver.take_guess(preference);
    let is_found = loop {
        guess.complete();
        match solver.search(&guess.decisions()) {
            // Nothing was assumed that could be otherwise.
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

/// Which position of a guess makes a literal false; the later, the more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FalseAt {
    Position(usize),
    Never,
}

/// What propagation makes of a preference.
pub(super) struct Guess {
    preference: Vec<Lit>,
    propagator: Propagator,
    /// How many literals were known before each position.
    known: Vec<usize>,
    /// The positions that were decided, not implied.
    decided: Vec<usize>,
}

impl Guess {
    pub(super) fn new(preference: &[Lit], propagator: Propagator) -> Self {
        let preference = preference.to_vec();
        Self { preference, propagator, known: Vec::new(), decided: Vec::new() }
    }

    /// The same of this preference: from the start, unless it is the one that there was.
    pub(super) fn toward(mut self, preference: &[Lit]) -> Self {
        if self.preference != preference {
            self.back_to(0);
            self.preference.clear();
            self.preference.extend_from_slice(preference);
        }
        self
    }

    /// Makes so many variables known.
    pub(super) fn cover(&mut self, vars: usize) {
        self.propagator.cover(vars);
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

    fn decisions(&self) -> Vec<Lit> {
        self.decided.iter().map(|&position| !self.preference[position]).collect()
    }

    /// Takes a clause into account. Where the guess violates it, that goes back to before the last
    /// position that does, which is implied to be otherwise.
    pub(super) fn learn(&mut self, clause: &[Lit]) {
        let Some(mut clause) = self.open_literals(clause) else { return };
        clause.sort_by_key(|&(position, _)| std::cmp::Reverse(position));
        let literals: Vec<_> = clause.iter().map(|&(_, literal)| literal).collect();
        match clause[..] {
            [] => {}
            // Alone, it holds from the start.
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

    /// The literals of a clause that may become true, each with the position that makes it false, if
    /// one does; nothing where the clause holds whatever is decided.
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

    /// Makes a literal true with what follows; where that fails, the solver is asked sooner or later.
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
