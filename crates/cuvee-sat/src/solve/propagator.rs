//! Propagates unit clauses, as a cheap guess at what a solver would answer.
//!
//! # References
//!
//! - Matthew W. Moskewicz, Conor F. Madigan, Ying Zhao, Lintao Zhang, Sharad Malik. "Chaff:
//!   Engineering an Efficient SAT Solver." DAC 2001: two literals of each clause are watched.
//! - Ian P. Gent. "Optimal Implementation of Watched Literals and More General Techniques." JAIR
//!   2013: the search for a new watch continues where the last one was found.
//! - Niklas Sörensson, Niklas Eén. "MiniSat 2.1 and MiniSat++ 1.0." SAT Race 2008: each watch comes
//!   with another literal, which is often true.

use super::solver::Recorded;
use crate::formula::Lit;

/// Unit propagation that can be undone. Two literals of each clause of three or more are watched.
pub(super) struct Propagator {
    /// For each literal, the other literals of the clauses of two literals that contain it.
    pairs: Vec<Vec<Lit>>,
    literals: Vec<Lit>,
    /// The clauses of three or more literals.
    clauses: Vec<Watched>,
    /// For each literal, the longer clauses that watch it.
    watches: Vec<Vec<Watching>>,
    values: Vec<Option<bool>>,
    trail: Vec<Lit>,
    /// The position of each variable on the trail, if it has a value.
    places: Vec<u32>,
}

/// A longer clause: its range among the literals, and the position at which the last new watch was
/// found. All literals before that position were false then. Continuing there avoids looking at the
/// same literals of a long clause again and again.
#[derive(Clone, Copy)]
struct Watched {
    start: u32,
    end: u32,
    last: u32,
}

/// An entry that a clause watches a literal. If the other literal is true, as is frequent, the
/// clause is not looked at.
#[derive(Clone, Copy)]
struct Watching {
    clause: u32,
    /// Another literal of the clause.
    other: Lit,
}

impl Propagator {
    pub(super) fn new(solver: &Recorded) -> Self {
        Self::over(solver.vars(), || solver.clauses())
    }

    /// A propagator over clauses, which are asked for twice.
    pub(super) fn over<'c, I: Iterator<Item = &'c [Lit]>>(
        vars: usize,
        clauses: impl Fn() -> I,
    ) -> Self {
        let mut propagator = Self {
            pairs: vec![Vec::new(); 2 * vars],
            literals: Vec::new(),
            clauses: Vec::new(),
            watches: vec![Vec::new(); 2 * vars],
            values: vec![None; vars],
            trail: Vec::new(),
            places: vec![0; vars],
        };
        let of_size = |is_one: bool| clauses().filter(move |clause| (clause.len() == 1) == is_one);
        // What is known from the beginning makes clauses shorter.
        let mut left = Vec::new();
        for clause in of_size(true).chain(of_size(false)) {
            left.clear();
            left.extend(clause.iter().filter(|it| propagator.value(**it) != Some(false)));
            if !left.iter().any(|literal| propagator.value(*literal) == Some(true)) {
                propagator.add(&left);
            }
        }
        propagator
    }

    pub(super) fn vars(&self) -> usize {
        self.values.len()
    }

    pub(super) fn value(&self, literal: Lit) -> Option<bool> {
        value(&self.values, literal)
    }

    /// Adds variables until there are `vars`.
    pub(super) fn cover(&mut self, vars: usize) {
        self.values.resize(vars, None);
        self.places.resize(vars, 0);
        self.pairs.resize(2 * vars, Vec::new());
        self.watches.resize(2 * vars, Vec::new());
    }

    /// The position of a literal or its negation on the trail.
    pub(super) fn known_at(&self, literal: Lit) -> Option<usize> {
        self.value(literal).map(|_| self.places[literal.var().index()] as usize)
    }

    /// Adds a clause. Its first two literals must be those that become unknown first when
    /// assumptions are undone.
    pub(super) fn add(&mut self, clause: &[Lit]) {
        match *clause {
            [] => {}
            [literal] => {
                if self.value(literal).is_none() {
                    self.assume(literal);
                }
            }
            [one, other] => {
                self.pairs[one.index()].push(other);
                self.pairs[other.index()].push(one);
            }
            [first, second, ..] => {
                let index = self.clauses.len() as u32;
                let start = self.literals.len() as u32;
                self.literals.extend_from_slice(clause);
                self.clauses.push(Watched { start, end: self.literals.len() as u32, last: 2 });
                self.watches[first.index()].push(Watching { clause: index, other: second });
                self.watches[second.index()].push(Watching { clause: index, other: first });
            }
        }
    }

    /// The literals without a value that follow from a literal by clauses of two literals.
    pub(super) fn implied_at_once(&self, literal: Lit) -> impl Iterator<Item = Lit> {
        let pairs = self.pairs[(!literal).index()].iter().copied();
        pairs.filter(|&other| self.value(other).is_none())
    }

    /// Makes a literal without a value true, and every literal that follows. Returns whether that
    /// is free of contradiction. If it is not, the caller must undo it.
    pub(super) fn assume(&mut self, literal: Lit) -> bool {
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

    /// Whether a literal can be true: nothing that follows from it contradicts the clauses or the
    /// known values.
    pub(crate) fn is_possible(&mut self, literal: Lit) -> bool {
        let known = self.trail.len();
        let possible = self.value(literal).unwrap_or_else(|| self.assume(literal));
        self.undo(known);
        possible
    }

    /// The position of the first literal that contradicts those before it.
    pub(super) fn contradiction(&mut self, literals: &[Lit]) -> Option<usize> {
        let known = self.trail.len();
        let position = literals
            .iter()
            .position(|&literal| !self.value(literal).unwrap_or_else(|| self.assume(literal)));
        self.undo(known);
        position
    }

    /// Those of the literals that can be true, as [`is_possible`](Self::is_possible) says. What
    /// follows from a literal that can be true can be true as well, so it is not tried again.
    pub(super) fn possible(&mut self, literals: &[Lit]) -> Vec<Lit> {
        let mut seen = vec![false; 2 * self.vars()];
        let known = self.trail.len();
        let mut can_be_true = |&literal: &Lit| {
            let is_possible = seen[literal.index()]
                || self.value(literal).unwrap_or_else(|| self.assume(literal));
            if is_possible {
                self.trail[known..].iter().for_each(|implied| seen[implied.index()] = true);
            }
            self.undo(known);
            is_possible
        };
        literals.iter().copied().filter(|literal| can_be_true(literal)).collect()
    }

    fn set(&mut self, literal: Lit) {
        self.values[literal.var().index()] = Some(!literal.is_negative());
        self.places[literal.var().index()] = self.trail.len() as u32;
        self.trail.push(literal);
    }

    /// Sets the literals that follow from a false literal. Returns whether no clause is violated.
    fn visit(&mut self, falsified: Lit) -> bool {
        for at in 0..self.pairs[falsified.index()].len() {
            let other = self.pairs[falsified.index()][at];
            match self.value(other) {
                None => self.set(other),
                Some(true) => {}
                Some(false) => return false,
            }
        }
        self.visit_watching(falsified)
    }

    /// Finds another literal to watch in the clauses that watch a false literal. Returns whether no
    /// clause is violated.
    fn visit_watching(&mut self, falsified: Lit) -> bool {
        let mut watching = std::mem::take(&mut self.watches[falsified.index()]);
        let mut consistent = true;
        watching.retain_mut(|watch| {
            if !consistent || self.value(watch.other) == Some(true) {
                return true;
            }
            let Watched { start, end, last } = self.clauses[watch.clause as usize];
            let clause = &mut self.literals[start as usize..end as usize];
            if clause[0] == falsified {
                clause.swap(0, 1);
            }
            let other = clause[0];
            let value = |literal: Lit| value(&self.values, literal);
            if value(other) == Some(true) {
                watch.other = other;
                return true;
            }
            let last = last as usize;
            if let Some(free) = (last..clause.len())
                .chain(2..last)
                .find(|&position| value(clause[position]) != Some(false))
            {
                clause.swap(1, free);
                self.clauses[watch.clause as usize].last = free as u32;
                self.watches[clause[1].index()].push(Watching { clause: watch.clause, other });
                return false;
            }
            match value(other) {
                None => self.set(other),
                Some(value) => consistent = value,
            }
            true
        });
        self.watches[falsified.index()] = watching;
        consistent
    }

    /// The literals that are true, in the order in which they became known.
    pub(super) fn trail(&self) -> &[Lit] {
        &self.trail
    }

    /// Takes back all literals but the first `known`.
    pub(super) fn undo(&mut self, known: usize) {
        for literal in self.trail.drain(known..) {
            self.values[literal.var().index()] = None;
        }
    }
}

/// The value of a literal under the values of variables.
fn value(values: &[Option<bool>], literal: Lit) -> Option<bool> {
    values[literal.var().index()].map(|value| value != literal.is_negative())
}
