//! The formula of a template, for solvers.

use crate::explore::{Opened, Projection, Space};
use crate::sat::dimacs::{DimacsFormula, WeightOverflow};
use crate::sat::formula::{Cnf, Lit};
use crate::sat::solve;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::variability::find as variant;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::prepared::Prepared;

/// The problem that resolving solves: what must hold before the best is taken, and what is
/// optimised.
///
/// # Errors
/// As [`Opened::new`].
pub(crate) fn optimization(prepared: &Prepared<'_>) -> Result<DimacsFormula, Diagnostics> {
    let Encoded { cnf, objectives, cases } = encoded(prepared)?;
    let elements: Vec<_> = prepared.graph.ids().collect();
    let clauses = cnf.clauses().map(|clause| clause.literals);
    Ok(named(&prepared.graph, cnf.vars(), clauses, &elements, &cases, &objectives))
}

impl Space<'_, '_> {
    /// The formula whose models, projected to the elements, are the variants.
    pub(crate) fn formula(&self) -> DimacsFormula {
        let cases = self.named_cases();
        let projection = Projection::All.elements(self.graph());
        named(self.graph(), self.vars(), self.valid_clauses(), &projection, &cases, &[])
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

/// Names what variables mean: identifiers of elements such as `node.shop`, and choices of inputs
/// such as `input stack = cluster`.
///
/// An element's id is the number of its atom, and an atom that of its variable; DIMACS counts from
/// 1.
fn named<'c>(
    graph: &Graph<'_>,
    vars: usize,
    clauses: impl Iterator<Item = &'c [Lit]>,
    projection: &[ElementId],
    cases: &[(String, Lit)],
    objectives: &[solve::Objective],
) -> DimacsFormula {
    let elements = graph.ids().map(|id| (id.0 + 1, graph.identifier(id).to_string()));
    // A case that is the negation of another is named by that one.
    let cases = cases.iter().filter(|(_, literal)| !literal.is_negative());
    let cases = cases.map(|(name, literal)| (literal.var().0 + 1, name.clone()));
    DimacsFormula {
        names: elements.chain(cases).collect(),
        projection: projection.iter().map(|id| id.0 as i32 + 1).collect(),
        ..DimacsFormula::new(vars, clauses, objectives)
    }
}

impl From<WeightOverflow> for Diagnostic {
    fn from(error: WeightOverflow) -> Self {
        Self::error(Code::InvalidTemplate, error.to_string())
            .help("round the weights, or leave out an objective with `--option optimization_technologies=false`")
    }
}

/// What resolving solves, and what the best variant costs; nothing where there is no variant.
#[cfg(test)]
pub(super) fn solved(
    resolver: &crate::Resolver,
    kind: solve::SolverKind,
) -> Option<(DimacsFormula, Vec<u64>)> {
    let made = resolver.ask(crate::variability::inputs::InputMode::Closed, |prepared| {
        let Encoded { cnf, objectives, cases } = encoded(prepared)?;
        let problem = solve::Problem { cnf: &cnf, objectives: &objectives, preference: &[] };
        let solution = solve::solve(&problem, &kind.into(), &mut ());
        let clauses = cnf.clauses().map(|clause| clause.literals);
        let formula = named(&prepared.graph, cnf.vars(), clauses, &[], &cases, &objectives);
        Ok(solution.ok().map(|solution| (formula, solution.costs().collect())))
    });
    made.ok().and_then(|answer| answer.result)
}
