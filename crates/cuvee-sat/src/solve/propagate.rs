//! Finds the literals that unit clauses decide, in time linear in the clauses. In typical problems
//! these are most literals.
//!
//! # References
//!
//! - William F. Dowling, Jean H. Gallier. "Linear-Time Algorithms for Testing the Satisfiability of
//!   Propositional Horn Formulae." Journal of Logic Programming 1984: counting the literals that
//!   are left of each clause.

use crate::formula::{Cnf, Lit, Var};

/// The result of unit propagation.
pub(super) struct Propagation {
    values: Vec<Option<bool>>,
    /// The clause that fixed each variable, if it is fixed.
    reasons: Vec<usize>,
    /// A clause all of whose literals are false.
    pub conflict: Option<usize>,
}

impl Propagation {
    /// A result in which nothing is fixed.
    pub(super) fn none(cnf: &Cnf) -> Self {
        let conflict = cnf.clauses().position(|clause| clause.literals.is_empty());
        Self { values: vec![None; cnf.vars()], reasons: vec![usize::MAX; cnf.vars()], conflict }
    }

    pub(super) fn of(cnf: &Cnf) -> Self {
        let occurrences = ClauseLists::of(cnf);
        let mut left: Vec<u32> = cnf.clauses().map(|clause| clause.literals.len() as u32).collect();
        let mut found = Self::none(cnf);
        let mut queue = Vec::new();
        for (index, clause) in cnf.clauses().enumerate() {
            match clause.literals {
                &[literal] if found.value(literal).is_none() => {
                    found.fix(literal, index, &mut queue)
                }
                _ => {}
            }
        }
        while found.conflict.is_none()
            && let Some(literal) = queue.pop()
        {
            for &index in occurrences.of_literal(!literal) {
                left[index as usize] -= 1;
                match left[index as usize] {
                    0 => found.conflict = found.conflict.or(Some(index as usize)),
                    1 => {
                        let literals = cnf.clause(index as usize).literals;
                        if let Some(&last) =
                            literals.iter().find(|&&literal| found.value(literal) != Some(false))
                            && found.value(last).is_none()
                        {
                            found.fix(last, index as usize, &mut queue);
                        }
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// The value of a literal, if it is fixed.
    pub(super) fn value(&self, literal: Lit) -> Option<bool> {
        self.values[literal.var().index()].map(|value| value != literal.is_negative())
    }

    fn fix(&mut self, literal: Lit, reason: usize, queue: &mut Vec<Lit>) {
        self.values[literal.var().index()] = Some(!literal.is_negative());
        self.reasons[literal.var().index()] = reason;
        queue.push(literal);
    }

    /// The values of the variables; `None` for variables that are not fixed.
    pub(super) fn into_values(self) -> Vec<Option<bool>> {
        self.values
    }

    /// The literals of a clause that have no value. `None` where the clause holds already.
    pub(super) fn residue<'a>(
        &'a self,
        literals: &'a [Lit],
    ) -> Option<impl Iterator<Item = Lit> + 'a> {
        let holds = literals.iter().any(|&literal| self.value(literal) == Some(true));
        (!holds).then(|| literals.iter().copied().filter(|&literal| self.value(literal).is_none()))
    }

    /// The given clauses and all clauses that made their literals false, in ascending order.
    pub(super) fn cone(&self, cnf: &Cnf, clauses: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut cone: Vec<usize> = clauses.into_iter().collect();
        let mut met = vec![false; cnf.len()];
        cone.iter().for_each(|&clause| met[clause] = true);
        let mut next = 0;
        while let Some(&clause) = cone.get(next) {
            next += 1;
            for &literal in cnf.clause(clause).literals {
                let Var(var) = literal.var();
                let reason = self.reasons[var as usize];
                if self.value(literal) == Some(false) && !std::mem::replace(&mut met[reason], true)
                {
                    cone.push(reason);
                }
            }
        }
        cone.sort_unstable();
        cone
    }
}

/// The clauses that contain each literal.
pub(super) struct ClauseLists {
    /// The start of the clauses of each literal.
    starts: Vec<u32>,
    clauses: Vec<u32>,
}

impl ClauseLists {
    fn of(cnf: &Cnf) -> Self {
        Self::new(cnf.vars(), || cnf.clauses().map(|clause| clause.literals))
    }

    /// Lists the clauses by literal. It iterates over the clauses twice.
    pub(super) fn new<'c, C: Iterator<Item = &'c [Lit]>>(
        vars: usize,
        clauses: impl Fn() -> C,
    ) -> Self {
        let mut starts = vec![0; 2 * vars + 1];
        for literal in clauses().flatten() {
            starts[literal.index() + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut lists = vec![0; starts.last().map_or(0, |&end| end as usize)];
        for (clause, index) in clauses().zip(0..) {
            for literal in clause {
                let position = &mut next[literal.index()];
                lists[*position as usize] = index;
                *position += 1;
            }
        }
        Self { starts, clauses: lists }
    }

    pub(super) fn of_literal(&self, literal: Lit) -> &[u32] {
        &self.clauses
            [self.starts[literal.index()] as usize..self.starts[literal.index() + 1] as usize]
    }
}
