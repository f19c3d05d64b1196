//! Writes formulas in the formats of solvers: DIMACS CNF for satisfiability and counting, and WCNF
//! for optimisation.
//!
//! # References
//!
//! - "Satisfiability: Suggested Format." DIMACS Challenge 1993: `p cnf`.
//! - Johannes K. Fichte, Markus Hecher, Florim Hamiti. "The Model Counting Competition 2020."
//!   Journal of Experimental Algorithmics 2021, and the format of the competitions since:
//!   `c p show`.
//! - MaxSAT Evaluation 2022: WCNF with `h` before hard clauses.

use super::formula::Lit;
use super::solve::Objective;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write};

/// Clauses over numbered variables, the meaning of some variables, and the costs to minimise.
///
/// Literals are written as in DIMACS: variable 7 is `7`, its negation is `-7`.
///
/// ```
/// use cuvee_sat::dimacs::DimacsFormula;
///
/// let mut formula = DimacsFormula::default();
/// formula.vars = 2;
/// formula.names = vec![(1, "node.shop".into()), (2, "node.cache".into())];
/// formula.clauses = vec![vec![1, 2], vec![-1, 2]];
/// formula.projection = vec![1, 2];
/// formula.objectives = vec![vec![(3, 1), (2, 2)]];
/// assert!(formula.dimacs().to_string().ends_with("c p show 1 2 0\np cnf 2 2\n1 2 0\n-1 2 0\n"));
/// assert!(formula.wcnf()?.to_string().ends_with("h 1 2 0\nh -1 2 0\n3 -1 0\n2 -2 0\n"));
/// # Ok::<(), cuvee_sat::dimacs::WeightOverflow>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DimacsFormula {
    /// The number of variables. The first variable is 1.
    pub vars: usize,
    /// The names of variables, for people and for programs that read the answer of a solver.
    pub names: Vec<(u32, String)>,
    /// The clauses that must hold. Each is a disjunction of literals.
    pub clauses: Vec<Vec<i32>>,
    /// The variables by which models are told apart. The values of the other variables follow from
    /// these or do not matter.
    pub projection: Vec<i32>,
    /// The costs to minimise: for each objective its literals, with what each costs where it is
    /// true. The first objective counts above all others, then the second, and so on.
    pub objectives: Vec<Vec<(u64, i32)>>,
}

/// The weights of all objectives together do not fit into the 64 bits of a WCNF weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WeightOverflow;

impl Display for WeightOverflow {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the weights of all objectives together do not fit into the 64 bits of a WCNF weight",
        )
    }
}

impl std::error::Error for WeightOverflow {}

impl DimacsFormula {
    /// Creates a formula of clauses over `vars` variables. It has neither names nor a projection.
    pub fn new<'c>(
        vars: usize,
        clauses: impl Iterator<Item = &'c [Lit]>,
        objectives: &[Objective],
    ) -> Self {
        let term = |&(literal, weight): &(Lit, u64)| (weight, literal.to_dimacs());
        let terms = |objective: &Objective| objective.terms.iter().map(term).collect();
        Self {
            vars,
            clauses: clauses
                .map(|clause| clause.iter().map(|&literal| literal.to_dimacs()).collect())
                .collect(),
            objectives: objectives.iter().map(terms).collect(),
            ..Self::default()
        }
    }

    /// Returns the clauses as DIMACS CNF. Names are written as comments, such as `c 12 node.shop`.
    /// The projection is written as `c p show 1 2 3 0`, where model counters look for it.
    pub fn dimacs(&self) -> impl Display {
        CnfText(self)
    }

    /// Returns the optimisation problem as WCNF in the form of the MaxSAT evaluations since 2022:
    /// `h` before hard clauses, a weight before soft ones. All objectives are added up to one sum.
    /// The weights of each objective are multiplied by the most that the later objectives can cost
    /// together, plus one.
    ///
    /// # Errors
    /// Returns [`WeightOverflow`] where that sum does not fit into 64 bits.
    pub fn wcnf(&self) -> Result<impl Display, WeightOverflow> {
        Ok(WcnfText { formula: self, ranks: self.ranks()? })
    }

    /// Computes the scale of each objective, starting with the last, whose scale is 1.
    fn ranks(&self) -> Result<Vec<Rank>, WeightOverflow> {
        let mut ranks = Vec::with_capacity(self.objectives.len());
        let mut total = 0_u64;
        for objective in self.objectives.iter().rev() {
            let scale = total.checked_add(1).ok_or(WeightOverflow)?;
            let mut soft: BTreeMap<i32, u64> = BTreeMap::new();
            let mut most = 0_u64;
            for &(weight, literal) in objective.iter().filter(|(weight, _)| *weight > 0) {
                most = most.checked_add(weight).ok_or(WeightOverflow)?;
                *soft.entry(literal).or_default() += weight;
            }
            total = most
                .checked_mul(scale)
                .and_then(|scaled| total.checked_add(scaled))
                .ok_or(WeightOverflow)?;
            ranks.push(Rank { soft, scale, most });
        }
        ranks.reverse();
        Ok(ranks)
    }

    fn write_names(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (var, name) in &self.names {
            write!(f, "c {var} ")?;
            // A line break would end the comment, so control characters are escaped.
            name.chars().try_for_each(|c| {
                if c.is_control() { write!(f, "{}", c.escape_default()) } else { f.write_char(c) }
            })?;
            f.write_char('\n')?;
        }
        Ok(())
    }
}

/// One objective as part of the sum of all objectives.
struct Rank {
    /// The cost of each literal in the unit of the objective itself.
    soft: BTreeMap<i32, u64>,
    /// The cost in the sum of one unit of the objective.
    scale: u64,
    /// The most that the objective can cost, in its own unit.
    most: u64,
}

struct CnfText<'f>(&'f DimacsFormula);

impl Display for CnfText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let formula = self.0;
        formula.write_names(f)?;
        f.write_str("c p show ")?;
        write_literals(f, &formula.projection)?;
        writeln!(f, "p cnf {} {}", formula.vars, formula.clauses.len())?;
        formula.clauses.iter().try_for_each(|clause| write_literals(f, clause))
    }
}

struct WcnfText<'f> {
    formula: &'f DimacsFormula,
    ranks: Vec<Rank>,
}

impl Display for WcnfText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write_legend(f)?;
        self.formula.write_names(f)?;
        for clause in &self.formula.clauses {
            f.write_str("h ")?;
            write_literals(f, clause)?;
        }
        for Rank { soft, scale, .. } in &self.ranks {
            for (literal, weight) in soft {
                writeln!(f, "{} {} 0", weight * scale, -literal)?;
            }
        }
        Ok(())
    }
}

impl WcnfText<'_> {
    /// Writes how to split the optimum into the costs of the objectives. The scale of an objective
    /// is the product of the most that each later objective can cost, plus one each.
    fn write_legend(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.ranks.is_empty() {
            f.write_str("c of the optimum o, the objectives in the order of their rank cost (/ drops the remainder, % is the remainder)\n")?;
        }
        for (index, Rank { scale, most, .. }) in self.ranks.iter().enumerate() {
            match most.checked_add(1) {
                Some(modulus) => writeln!(f, "c objective {}: o / {scale} % {modulus}", index + 1)?,
                None => writeln!(f, "c objective {}: o", index + 1)?,
            }
        }
        Ok(())
    }
}

fn write_literals(f: &mut Formatter<'_>, literals: &[i32]) -> fmt::Result {
    literals.iter().try_for_each(|literal| write!(f, "{literal} "))?;
    f.write_str("0\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_combine_exactly_or_not_at_all() {
        let formula = |objectives: &[&[(u64, i32)]]| DimacsFormula {
            vars: 2,
            objectives: objectives.iter().map(|terms| terms.to_vec()).collect(),
            ..DimacsFormula::default()
        };
        let text = formula(&[&[(2, 1), (3, -2), (1, 1)], &[], &[(0, 1), (5, 2)]])
            .wcnf()
            .unwrap()
            .to_string();
        assert!(text.ends_with("18 2 0\n18 -1 0\n5 -2 0\n"), "{text}");
        assert!(
            text.contains(
                "c objective 1: o / 6 % 7\nc objective 2: o / 6 % 1\nc objective 3: o / 1 % 6\n"
            ),
            "{text}"
        );

        assert!(formula(&[&[(u64::MAX, 1)]]).wcnf().is_ok());
        assert!(formula(&[&[(1, 1)], &[(u64::MAX / 2, 1)]]).wcnf().is_ok());
        for refused in [
            &[&[(1, 1)][..], &[(u64::MAX, 1)]][..],
            &[&[(u64::MAX, 1), (1, 2)]],
            &[&[(1, 1)], &[(1, 1)], &[(u64::MAX / 2, 1)]],
        ] {
            assert!(formula(refused).wcnf().is_err());
        }
    }

    #[test]
    fn names_stay_in_their_comment() {
        let formula = DimacsFormula {
            vars: 1,
            names: vec![(1, "node.a\n-1 0 é".into())],
            ..DimacsFormula::default()
        };
        assert_eq!(formula.dimacs().to_string(), "c 1 node.a\\n-1 0 é\nc p show 0\np cnf 1 0\n");
    }
}
