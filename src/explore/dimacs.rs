//! Clauses over elements and cases of inputs as a formula for solvers.

use crate::sat::dimacs::DimacsFormula;
use crate::sat::formula::Lit;
use crate::sat::solve::Objective;
use crate::variability::graph::{ElementId, Graph};

/// Names what variables mean: identifiers of elements such as `node.shop`, and choices of inputs
/// such as `input stack = cluster`.
///
/// An element's id is the number of its atom, and an atom that of its variable; DIMACS counts from
/// 1.
pub(crate) fn dimacs<'c>(
    graph: &Graph<'_>,
    vars: usize,
    clauses: impl Iterator<Item = &'c [Lit]>,
    projection: &[ElementId],
    cases: &[(String, Lit)],
    objectives: &[Objective],
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
