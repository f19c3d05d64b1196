//! Makes the model independent of the solver's luck: of all models the one that is lexicographically least.
//!
//! Propagation makes a guess: literal by literal, false unless what was decided before implies that it is true. If a model fulfils the guess,
//! nothing is less. If none does, the solver names decisions that cannot hold together; the last of them is thereby implied to be true by the others,
//! and guessing goes on from there. So the solver is asked once for each decision that propagation does not see through, not once for each literal.

use rustc_hash::FxHashMap;

use super::solver::{Recorded, SatSolver};
use crate::formula::Lit;

/// Makes the solver find the model in which these literals are lexicographically least, false before true, given that there is a model.
pub(super) fn least(preference: &[Lit], solver: &mut Recorded) {
    let mut guess = Guess::new(preference, Propagator::new(solver));
    loop {
        guess.complete();
        if solver.solve(&guess.decisions()) {
            return;
        }
        guess.refute(solver.core());
    }
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
        let positions = preference.iter().enumerate().rev().map(|(position, &literal)| (literal, position)).collect();
        Self { preference, positions, propagator, known: Vec::new(), decided: Vec::new() }
    }

    /// Decides all positions, or all before one at which both values fail.
    fn complete(&mut self) {
        while let Some(&literal) = self.preference.get(self.known.len()) {
            let known = self.propagator.trail.len();
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

    /// Goes back to the last of some decisions that fail together, and remembers that they do.
    fn refute(&mut self, core: &[Lit]) {
        let position_of = |decision: &Lit| self.positions.get(&!*decision).copied().unwrap_or(0);
        let mut clause: Vec<_> = core.iter().map(|&decision| !decision).collect();
        clause.sort_by_key(|literal| std::cmp::Reverse(position_of(&!*literal)));
        // Alone, it holds from the start.
        let position = if clause.len() == 1 { 0 } else { clause.first().map_or(0, |literal| position_of(&!*literal)) };
        if let Some(&known) = self.known.get(position) {
            self.propagator.undo(known);
        }
        self.known.truncate(position);
        self.decided.retain(|&decided| decided < position);
        self.propagator.add(&clause);
    }
}

/// Unit propagation that can be taken back; two literals of each clause are watched.
struct Propagator {
    literals: Vec<Lit>,
    /// Where each clause starts and ends.
    clauses: Vec<(u32, u32)>,
    /// The clauses that watch each literal.
    watches: Vec<Vec<u32>>,
    values: Vec<Option<bool>>,
    trail: Vec<Lit>,
}

impl Propagator {
    fn new(solver: &Recorded) -> Self {
        let vars = solver.vars();
        let mut propagator = Self {
            literals: Vec::new(),
            clauses: Vec::new(),
            watches: vec![Vec::new(); 2 * vars],
            values: vec![None; vars],
            trail: Vec::new(),
        };
        solver.clauses().filter(|clause| clause.len() > 1).for_each(|clause| propagator.add(clause));
        solver.clauses().filter(|clause| clause.len() == 1).for_each(|clause| propagator.add(clause));
        propagator
    }

    fn value(&self, literal: Lit) -> Option<bool> {
        self.values[literal.var().index()].map(|value| value != literal.is_negative())
    }

    /// Adds a clause. Its first literals are those that become unknown first when assumptions are undone.
    fn add(&mut self, clause: &[Lit]) {
        match *clause {
            [] => {}
            [literal] => {
                if self.value(literal).is_none() {
                    self.assume(literal);
                }
            }
            [first, second, ..] => {
                let index = self.clauses.len() as u32;
                let start = self.literals.len() as u32;
                self.literals.extend_from_slice(clause);
                self.clauses.push((start, self.literals.len() as u32));
                self.watches[first.index()].push(index);
                self.watches[second.index()].push(index);
            }
        }
    }

    /// Makes a literal true that has no value, and what follows; whether that works. If not, it is to be undone.
    fn assume(&mut self, literal: Lit) -> bool {
        let mut next = self.trail.len();
        self.set(literal);
        while let Some(&literal) = self.trail.get(next) {
            next += 1;
            if !self.visit(!literal) {
                return false;
            }
        }
        true
    }

    fn set(&mut self, literal: Lit) {
        self.values[literal.var().index()] = Some(!literal.is_negative());
        self.trail.push(literal);
    }

    /// Finds another literal to watch in the clauses that watch a false one; whether no clause is violated.
    fn visit(&mut self, falsified: Lit) -> bool {
        let mut watching = std::mem::take(&mut self.watches[falsified.index()]);
        let mut consistent = true;
        watching.retain(|&index| {
            if !consistent {
                return true;
            }
            let (start, end) = self.clauses[index as usize];
            let clause = &mut self.literals[start as usize..end as usize];
            if clause[0] == falsified {
                clause.swap(0, 1);
            }
            let is_false = |literal: Lit| self.values[literal.var().index()] == Some(literal.is_negative());
            let other = clause[0];
            if let Some(free) = (2..clause.len()).find(|&position| !is_false(clause[position])) {
                clause.swap(1, free);
                self.watches[clause[1].index()].push(index);
                return false;
            }
            match self.values[other.var().index()] {
                None => self.set(other),
                Some(value) => consistent = value != other.is_negative(),
            }
            true
        });
        self.watches[falsified.index()] = watching;
        consistent
    }

    /// Forgets all but the first so many literals.
    fn undo(&mut self, known: usize) {
        for literal in self.trail.drain(known..) {
            self.values[literal.var().index()] = None;
        }
    }
}
