//! Builds clauses with bounds on the number of true literals, for callers that use no formulas.

use super::totalizer::{ClauseSink, Totalizer};
use crate::formula::{Cnf, Lit, OriginId, Var};

/// A builder of clauses, each with its origin, that can bound the number of true literals.
///
/// ```
/// use cuvee_sat::formula::OriginId;
/// use cuvee_sat::solve::{BoundedClauses, Objective, Problem, SolverSettings, solve};
///
/// let mut clauses = BoundedClauses::default();
/// let seats = [0; 4].map(|_| clauses.fresh().positive());
/// clauses.at_most(&seats, 2, OriginId(0));
/// let guests = clauses.at_least(&seats, 2).unwrap();
/// clauses.assert(&[guests], OriginId(1));
/// assert!(clauses.at_least(&seats, 5).is_none());
///
/// let empty = Objective { terms: seats.map(|seat| (!seat, 1)).to_vec() };
/// let problem = Problem { cnf: &clauses.finish(), objectives: &[empty], preference: &[] };
/// assert!(solve(&problem, &SolverSettings::default(), &mut ())?.costs().eq([2]));
/// # Ok::<(), cuvee_sat::solve::Unsolved>(())
/// ```
#[derive(Debug, Default)]
pub struct BoundedClauses {
    cnf: Cnf,
}

/// The most literals for which "at most one" is encoded as a clause for each pair of them.
const PAIRS: usize = 5;

impl BoundedClauses {
    /// Adds a variable.
    pub fn fresh(&mut self) -> Var {
        self.cnf.fresh()
    }

    /// Asserts that at least one of the literals is true.
    pub fn assert(&mut self, literals: &[Lit], origin: OriginId) {
        self.cnf.push(&mut literals.to_vec(), Some(origin));
    }

    /// Asserts that at most `most` of the literals are true. A literal that is given several times
    /// counts each time.
    pub fn at_most(&mut self, literals: &[Lit], most: usize, origin: OriginId) {
        if literals.len() <= most {
            return;
        }
        match most {
            0 => literals.iter().for_each(|&literal| self.assert(&[!literal], origin)),
            1 if literals.len() <= PAIRS => {
                for (position, &one) in literals.iter().enumerate() {
                    let others = &literals[position + 1..];
                    others.iter().for_each(|&other| self.assert(&[!one, !other], origin));
                }
            }
            _ => {
                let more = Totalizer::new(literals).at_least(most + 1, self);
                self.assert(&more.map(|more| !more).into_iter().collect::<Vec<_>>(), origin);
            }
        }
    }

    /// Returns a literal that is true only where at least `least` of the literals are. `None` where
    /// that is never so, or where `least` is 0.
    ///
    /// At least `k` of the first `i` literals are true only if `k` of the first `i - 1` are, or
    /// `k - 1` of these and the `i`-th.
    pub fn at_least(&mut self, literals: &[Lit], least: usize) -> Option<Lit> {
        let below = least.checked_sub(1)?;
        let start = literals.get(..below)?.len();
        // `among[k - 1]` implies that at least `k` of the literals looked at so far are true.
        let mut among: Vec<Lit> = Vec::with_capacity(least);
        for (position, &literal) in literals.iter().enumerate() {
            // Counts that the remaining literals cannot complete to `least` are left out.
            let needed = least.saturating_sub(literals.len() - position).max(1);
            for count in (needed..=least.min(position + 1)).rev() {
                let defined = self.fresh().positive();
                let before = among.get(count - 1).copied();
                let fewer = if count == 1 { None } else { among.get(count - 2).copied() };
                self.define_either(&[!defined, literal], before);
                if let Some(fewer) = fewer {
                    self.define_either(&[!defined, fewer], before);
                }
                match among.get_mut(count - 1) {
                    Some(known) => *known = defined,
                    None => among.push(defined),
                }
            }
        }
        among.get(start).copied()
    }

    fn define_either(&mut self, clause: &[Lit], other: Option<Lit>) {
        let mut clause: Vec<_> = clause.iter().copied().chain(other).collect();
        self.cnf.push(&mut clause, None);
    }

    /// The clauses so far.
    pub fn cnf(&self) -> &Cnf {
        &self.cnf
    }

    /// Returns the clauses.
    pub fn finish(self) -> Cnf {
        self.cnf
    }
}

impl ClauseSink for BoundedClauses {
    fn fresh(&mut self) -> Var {
        self.cnf.fresh()
    }

    fn define(&mut self, clause: &[Lit]) {
        self.cnf.push(&mut clause.to_vec(), None);
    }
}
