//! Exports the formula of a template for solvers.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::explore::{Opened, Projection, Space};
use crate::variability::find as variant;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::prepared::Prepared;
use cuvee_sat::dimacs::{DimacsFormula, WeightOverflow};
use cuvee_sat::formula::{Cnf, Lit};
use cuvee_sat::solve;

/// The problem that resolving solves: the clauses that must hold, and the objectives.
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

/// The encoded problem of resolving.
struct Encoded {
    cnf: Cnf,
    objectives: Vec<solve::Objective>,
    /// The literal of each case of each open input, with its label.
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

/// Names the variables: by identifiers of elements such as `node.shop`, and by choices of inputs
/// such as `input stack = cluster`.
///
/// The id of an element is the number of its atom, which is the number of its variable. DIMACS
/// counts from 1.
fn named<'c>(
    graph: &Graph<'_>,
    vars: usize,
    clauses: impl Iterator<Item = &'c [Lit]>,
    projection: &[ElementId],
    cases: &[(String, Lit)],
    objectives: &[solve::Objective],
) -> DimacsFormula {
    let elements = graph.ids().map(|id| (id.0 + 1, graph.identifier(id).to_string()));
    // A case that is the negation of another one needs no name of its own.
    let cases = cases.iter().filter(|(_, literal)| !literal.is_negative());
    let cases = cases.map(|(name, literal)| (literal.var().0 + 1, name.clone()));
    let mut formula = DimacsFormula::new(vars, clauses, objectives);
    formula.names = elements.chain(cases).collect();
    formula.projection = projection.iter().map(|id| id.0 as i32 + 1).collect();
    formula
}

/// The error that a file for solvers cannot express the weights of a template, with a remedy.
pub fn overflowing(error: &WeightOverflow) -> Diagnostic {
    Diagnostic::error(Code::InvalidTemplate, error.to_string())
        .help("round the weights, or leave out an objective with `--option optimization_technologies=false`")
}

/// The problem of resolving, and the costs of the best variant; `None` if there is no variant.
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
