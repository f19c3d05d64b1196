//! The formula of a template in the formats of solvers: DIMACS CNF for satisfiability and counting,
//! WCNF for optimisation.

use crate::explore::{Opened, Projection, Space};
use crate::sat::formula::{Cnf, Lit};
use crate::sat::solve;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::variability::find as variant;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::prepared::Prepared;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write};

/// Clauses over numbered variables, what some of the variables mean, and what to minimise.
///
/// Literals are those of DIMACS: variable 7 is `7`, its negation `-7`.
///
/// ```
/// use cuvee::exchange::Formula;
///
/// let formula = Formula {
///     vars: 2,
///     names: vec![(1, "node.shop".into()), (2, "node.cache".into())],
///     clauses: vec![vec![1, 2], vec![-1, 2]],
///     projection: vec![1, 2],
///     objectives: vec![vec![(3, 1), (2, 2)]],
/// };
/// assert!(formula.dimacs().to_string().ends_with("c p show 1 2 0\np cnf 2 2\n1 2 0\n-1 2 0\n"));
/// assert!(formula.wcnf()?.to_string().ends_with("h 1 2 0\nh -1 2 0\n3 -1 0\n2 -2 0\n"));
/// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Formula {
    /// How many variables there are; the first is 1.
    pub vars: usize,
    /// What variables mean: identifiers of elements such as `node.shop`, and choices of inputs such
    /// as `input stack = cluster`.
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

/// The problem that resolving solves: what must hold before the best is taken, and what is
/// optimised.
///
/// # Errors
/// As [`Opened::new`].
pub(crate) fn optimization(prepared: &Prepared<'_>) -> Result<Formula, Diagnostics> {
    let Encoded { cnf, objectives, cases } = encoded(prepared)?;
    let elements: Vec<_> = prepared.graph.ids().collect();
    let clauses = cnf.clauses().map(|clause| clause.literals);
    Ok(Formula::new(&prepared.graph, cnf.vars(), clauses, &elements, &cases, &objectives))
}

impl Space<'_, '_> {
    /// The formula whose models, projected to the elements, are the variants.
    pub(crate) fn formula(&self) -> Formula {
        let cases = self.named_cases();
        let projection = Projection::All.elements(self.graph());
        Formula::new(self.graph(), self.vars(), self.valid_clauses(), &projection, &cases, &[])
    }
}

/// What resolving solves.
struct Encoded {
    cnf: Cnf,
    objectives: Vec<solve::Objective>,
    /// When open inputs are in which case.
    cases: Vec<(String, Lit)>,
}

fn encoded(prepared: &Prepared<'_>) -> Result<Encoded, Diagnostics> {
    let opened = Opened::new(prepared, true, &mut ())?;
    let mut encoder = variant::encoder(&opened.evaluator, &opened.assertions);
    let objectives =
        opened.objectives.iter().map(|sum| variant::objective(&mut encoder, sum)).collect();
    let cases = opened.cases(&prepared.inputs.declarations);
    let cases = cases.into_iter().map(|(name, when)| (name, encoder.literal(when))).collect();
    Ok(Encoded { cnf: encoder.finish(), objectives, cases })
}

impl Formula {
    /// An element's id is the number of its atom, and an atom that of its variable; DIMACS counts
    /// from 1.
    pub(crate) fn new<'c>(
        graph: &Graph<'_>,
        vars: usize,
        clauses: impl Iterator<Item = &'c [Lit]>,
        projection: &[ElementId],
        cases: &[(String, Lit)],
        objectives: &[solve::Objective],
    ) -> Self {
        let term = |&(literal, weight): &(Lit, u64)| (weight, literal.to_dimacs());
        let elements = graph.ids().map(|id| (id.0 + 1, graph.identifier(id).to_string()));
        // A case that is the negation of another is named by that one.
        let cases = cases.iter().filter(|(_, literal)| !literal.is_negative());
        Self {
            vars,
            names: elements
                .chain(cases.map(|(name, literal)| (literal.var().0 + 1, name.clone())))
                .collect(),
            clauses: clauses
                .map(|clause| clause.iter().map(|&literal| literal.to_dimacs()).collect())
                .collect(),
            projection: projection.iter().map(|id| id.0 as i32 + 1).collect(),
            objectives: objectives
                .iter()
                .map(|objective| objective.terms.iter().map(term).collect())
                .collect(),
        }
    }

    /// The clauses as DIMACS CNF: names as comments `c 12 node.shop`, and the variables to project
    /// to as `c p show 1 2 3 0`, where model counters look for them.
    pub fn dimacs(&self) -> impl Display {
        Dimacs(self)
    }

    /// The optimisation problem as WCNF in the form of the MaxSAT evaluations since 2022: `h`
    /// before hard clauses, a weight before soft ones. One sum stands for all objectives: each is
    /// scaled by what the later ones can cost at most, plus one.
    ///
    /// # Errors
    /// `invalid-template` where that sum does not fit into 64 bits.
    pub fn wcnf(&self) -> Result<impl Display, Diagnostic> {
        Ok(Wcnf { formula: self, ranks: self.ranks()? })
    }

    /// From the last objective, whose unit is 1, to the first.
    fn ranks(&self) -> Result<Vec<Rank>, Diagnostic> {
        let mut ranks = Vec::with_capacity(self.objectives.len());
        let mut total = 0_u64;
        for objective in self.objectives.iter().rev() {
            let scale = total.checked_add(1).ok_or_else(too_heavy)?;
            let mut soft: BTreeMap<i32, u64> = BTreeMap::new();
            let mut most = 0_u64;
            for &(weight, literal) in objective.iter().filter(|(weight, _)| *weight > 0) {
                most = most.checked_add(weight).ok_or_else(too_heavy)?;
                *soft.entry(literal).or_default() += weight;
            }
            total = most
                .checked_mul(scale)
                .and_then(|scaled| total.checked_add(scaled))
                .ok_or_else(too_heavy)?;
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

fn too_heavy() -> Diagnostic {
    Diagnostic::error(
        Code::InvalidTemplate,
        "the weights of all objectives together do not fit into the 64 bits of a WCNF weight",
    )
    .help("round the weights, or leave out an objective with `--option optimization_technologies=false`")
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

struct Dimacs<'f>(&'f Formula);

impl Display for Dimacs<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let formula = self.0;
        formula.write_names(f)?;
        f.write_str("c p show ")?;
        write_literals(f, &formula.projection)?;
        writeln!(f, "p cnf {} {}", formula.vars, formula.clauses.len())?;
        formula.clauses.iter().try_for_each(|clause| write_literals(f, clause))
    }
}

struct Wcnf<'f> {
    formula: &'f Formula,
    ranks: Vec<Rank>,
}

impl Display for Wcnf<'_> {
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

impl Wcnf<'_> {
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

/// What resolving solves, and what the best variant costs; nothing where there is no variant.
#[cfg(test)]
pub(super) fn solved(
    resolver: &crate::Resolver,
    kind: solve::SolverKind,
) -> Option<(Formula, Vec<u64>)> {
    let made = resolver.ask(crate::variability::inputs::InputMode::Closed, |prepared| {
        let Encoded { cnf, objectives, cases } = encoded(prepared)?;
        let problem = solve::Problem { cnf: &cnf, objectives: &objectives, preference: &[] };
        let solution = solve::solve(&problem, &kind.into(), &mut ());
        let clauses = cnf.clauses().map(|clause| clause.literals);
        let formula = Formula::new(&prepared.graph, cnf.vars(), clauses, &[], &cases, &objectives);
        Ok(solution.ok().map(|solution| (formula, solution.costs().collect())))
    });
    made.ok().and_then(|answer| answer.result)
}
