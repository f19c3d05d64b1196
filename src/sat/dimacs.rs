//! Formulas in the formats of solvers: DIMACS CNF for satisfiability and counting, WCNF for
//! optimisation.
//!
//! # References
//!
//! - "Satisfiability: Suggested Format." DIMACS Challenge 1993: `p cnf`.
//! - Johannes K. Fichte, Markus Hecher, Florim Hamiti. "The Model Counting Competition 2020." Journal
//!   of Experimental Algorithmics 2021, and the format of the competitions since: `c p show`.
//! - MaxSAT Evaluation 2022: WCNF with `h` before hard clauses.

use super::formula::Lit;
use super::solve::Objective;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write};

/// Clauses over numbered variables, what some of the variables mean, and what to minimise.
///
/// Literals are those of DIMACS: variable 7 is `7`, its negation `-7`.
///
/// ```
/// use cuvee::exchange::DimacsFormula;
///
/// let mut formula = DimacsFormula::default();
/// formula.vars = 2;
/// formula.names = vec![(1, "node.shop".into()), (2, "node.cache".into())];
/// formula.clauses = vec![vec![1, 2], vec![-1, 2]];
/// formula.projection = vec![1, 2];
/// formula.objectives = vec![vec![(3, 1), (2, 2)]];
/// assert!(formula.dimacs().to_string().ends_with("c p show 1 2 0\np cnf 2 2\n1 2 0\n-1 2 0\n"));
/// assert!(formula.wcnf()?.to_string().ends_with("h 1 2 0\nh -1 2 0\n3 -1 0\n2 -2 0\n"));
/// # Ok::<(), cuvee::exchange::WeightOverflow>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DimacsFormula {
    /// How many variables there are; the first is 1.
    pub vars: usize,
    /// What variables mean, for people and for whoever reads the answer of a solver.
    pub names: Vec<(u32, String)>,
    /// What must hold: each a disjunction of literals.
    pub clauses: Vec<Vec<i32>>,
    /// The variables by which models are told apart; the values of the others follow from theirs or
    /// do not matter.
    pub projection: Vec<i32>,
    /// What true literals cost, to be minimised: the first objective above all, then the second,
    /// ...
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
    /// A formula of these clauses over so many variables, that has neither names nor a projection.
    pub(crate) fn new<'c>(
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

    /// The clauses as DIMACS CNF: names as comments `c 12 node.shop`, and the variables to project
    /// to as `c p show 1 2 3 0`, where model counters look for them.
    pub fn dimacs(&self) -> impl Display {
        CnfText(self)
    }

    /// The optimisation problem as WCNF in the form of the MaxSAT evaluations since 2022: `h`
    /// before hard clauses, a weight before soft ones. One sum stands for all objectives: each is
    /// scaled by what the later ones can cost at most, plus one.
    ///
    /// # Errors
    /// Where that sum does not fit into 64 bits.
    pub fn wcnf(&self) -> Result<impl Display, WeightOverflow> {
        Ok(WcnfText { formula: self, ranks: self.ranks()? })
    }

    /// From the last objective, whose unit is 1, to the first.
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
            // A comment ends with its line.
            name.chars().try_for_each(|c| {
                if c.is_control() { write!(f, "{}", c.escape_default()) } else { f.write_char(c) }
            })?;
            f.write_char('\n')?;
        }
        Ok(())
    }
}

/// One objective as part of the common sum.
struct Rank {
    /// What each literal costs in the objective's own unit.
    soft: BTreeMap<i32, u64>,
    /// What a unit of it is worth in the sum.
    scale: u64,
    /// What it can cost at most.
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
    /// How the optimum splits into the costs of the objectives: a scale is the product of what the
    /// later ones can cost, plus one each.
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
