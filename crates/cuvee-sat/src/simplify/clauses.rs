//! Stores clauses one after the other in memory, with the clauses that each literal occurs in.

use crate::formula::Lit;

#[derive(Default)]
pub(crate) struct ClauseList {
    literals: Vec<Lit>,
    /// The end of each clause among the literals.
    ends: Vec<u32>,
}

impl ClauseList {
    pub(crate) fn push(&mut self, clause: &[Lit]) {
        self.literals.extend_from_slice(clause);
        self.ends.push(self.literals.len() as u32);
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, index: usize) -> &[Lit] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.literals[start as usize..self.ends[index] as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[Lit]> {
        (0..self.len()).map(|index| self.get(index))
    }
}

/// The clauses that each literal occurs in.
pub(crate) struct LiteralOccurrences {
    /// The start of the clauses of each literal.
    starts: Vec<u32>,
    clauses: Vec<u32>,
}

impl LiteralOccurrences {
    pub(crate) fn of(clauses: &ClauseList, vars: usize) -> Self {
        let mut starts = vec![0; 2 * vars + 1];
        for literal in &clauses.literals {
            starts[literal.index() + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut found = vec![0; clauses.literals.len()];
        for (index, clause) in clauses.iter().enumerate() {
            for literal in clause {
                let position = &mut next[literal.index()];
                found[*position as usize] = index as u32;
                *position += 1;
            }
        }
        Self { starts, clauses: found }
    }

    /// The positions of the clauses of a literal.
    pub(crate) fn of_literal(&self, literal: Lit) -> std::ops::Range<usize> {
        self.starts[literal.index()] as usize..self.starts[literal.index() + 1] as usize
    }

    /// The positions of the clauses of a variable.
    pub(crate) fn of_var(&self, var: u32) -> std::ops::Range<usize> {
        self.starts[2 * var as usize] as usize..self.starts[2 * var as usize + 2] as usize
    }

    /// The clause at a position.
    pub(crate) fn at(&self, position: usize) -> usize {
        self.clauses[position] as usize
    }
}
