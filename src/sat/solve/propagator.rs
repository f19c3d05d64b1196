//! Unit propagation, as a cheap guess at what a solver would answer.
//!
//! # References
//!
//! - Matthew W. Moskewicz, Conor F. Madigan, Ying Zhao, Lintao Zhang, Sharad Malik. "Chaff: Engineering
//!   an Efficient SAT Solver." DAC 2001: two literals of each clause are watched.
//! - Ian P. Gent. "Optimal Implementation of Watched Literals and More General Techniques." JAIR 2013:
//!   looking on from where the last one was found.
//! - Niklas Sörensson, Niklas Eén. "MiniSat 2.1 and MiniSat++ 1.0." SAT Race 2008: beside each watch
//!   another literal, which is often true.

use super::solver::Recorded;
use crate::sat::formula::Lit;

/// Unit propagation that can be taken back; two literals of each clause of three and more are watched.
pub(super) struct Propagator {
    /// What clauses of two literals say beside each.
    pairs: Vec<Vec<Lit>>,
    literals: Vec<Lit>,
    /// The longer clauses.
    clauses: Vec<Watched>,
    /// The longer clauses that watch each literal.
    watches: Vec<Vec<Watching>>,
    values: Vec<Option<bool>>,
    trail: Vec<Lit>,
    /// Where on the trail each variable is, if it has a value.
    places: Vec<u32>,
}

/// Where a clause starts and ends, and where the literal that was watched last stood: those before
/// it were false then, so that looking on from there does not look at the same literals of a long
/// clause again and again.
#[derive(Clone, Copy)]
struct Watched {
    start: u32,
    end: u32,
    last: u32,
}

/// That a clause watches a literal. Most that do are true by another one, and are not looked at.
#[derive(Clone, Copy)]
struct Watching {
    clause: u32,
    /// Another literal of the clause.
    other: Lit,
}

impl Propagator {
    pub(super) fn new(solver: &Recorded) -> Self {
        let vars = solver.vars();
        let mut propagator = Self {
            pairs: vec![Vec::new(); 2 * vars],
            literals: Vec::new(),
            clauses: Vec::new(),
            watches: vec![Vec::new(); 2 * vars],
            values: vec![None; vars],
            trail: Vec::new(),
            places: vec![0; vars],
        };
        solver
            .clauses()
            .filter(|clause| clause.len() > 1)
            .for_each(|clause| propagator.add(clause));
        solver
            .clauses()
            .filter(|clause| clause.len() == 1)
            .for_each(|clause| propagator.add(clause));
        propagator
    }

    pub(super) fn vars(&self) -> usize {
        self.values.len()
    }

    pub(super) fn value(&self, literal: Lit) -> Option<bool> {
        value(&self.values, literal)
    }

    /// Makes so many variables known.
    pub(super) fn cover(&mut self, vars: usize) {
        self.values.resize(vars, None);
        self.places.resize(vars, 0);
        self.pairs.resize(2 * vars, Vec::new());
        self.watches.resize(2 * vars, Vec::new());
    }

    /// Where on the trail a literal is, or its opposite.
    pub(super) fn known_at(&self, literal: Lit) -> Option<usize> {
        self.value(literal).map(|_| self.places[literal.var().index()] as usize)
    }

    /// Adds a clause. Its first literals are those that become unknown first when assumptions are
    /// undone.
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

    /// What follows from a literal by clauses of two literals, as far as it has no value.
    pub(super) fn implied_at_once(&self, literal: Lit) -> impl Iterator<Item = Lit> {
        let pairs = self.pairs[(!literal).index()].iter().copied();
        pairs.filter(|&other| self.value(other).is_none())
    }

    /// Makes a literal true that has no value, and what follows; whether that works. If not, it is
    /// to be undone.
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

    /// Whether nothing that follows from a literal contradicts the clauses, or what is known.
    pub(super) fn is_possible(&mut self, literal: Lit) -> bool {
        let known = self.trail.len();
        let possible = self.value(literal).unwrap_or_else(|| self.assume(literal));
        self.undo(known);
        possible
    }

    fn set(&mut self, literal: Lit) {
        self.values[literal.var().index()] = Some(!literal.is_negative());
        self.places[literal.var().index()] = self.trail.len() as u32;
        self.trail.push(literal);
    }

    /// What follows from a false literal; whether no clause is violated.
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

    /// Finds another literal to watch in the clauses that watch a false one; whether no clause is
    /// violated.
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

    /// What is true, in the order in which it became known.
    pub(super) fn trail(&self) -> &[Lit] {
        &self.trail
    }

    /// Forgets all but the first so many literals.
    pub(super) fn undo(&mut self, known: usize) {
        for literal in self.trail.drain(known..) {
            self.values[literal.var().index()] = None;
        }
    }
}

/// What a literal is where variables have these values.
fn value(values: &[Option<bool>], literal: Lit) -> Option<bool> {
    values[literal.var().index()].map(|value| value != literal.is_negative())
}
