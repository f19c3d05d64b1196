//! The formula of a template, for solvers.

use crate::explore::{Opened, dimacs};
use crate::resolver::{Failure, Prepared, Resolver};
use crate::sat::dimacs::{DimacsFormula, WeightOverflow};
use crate::sat::formula::{Cnf, Lit};
use crate::sat::solve;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::variability::find as variant;
use crate::variability::inputs::Openness;

impl Resolver {
    /// The formula whose models, projected to the elements, are the variants: inputs that nothing
    /// assigns are open, and of equally good variants of the same inputs only the one that
    /// resolving takes is a model. It has no objectives.
    ///
    /// # Errors
    /// As [`Resolver::variants`], except that there may be no variant.
    pub fn variants_formula(&self) -> Result<DimacsFormula, Failure> {
        let formula = self.explore(Openness::Open, true, |space, _, _| Ok(space.formula()));
        formula.map(|answer| answer.result)
    }

    /// The problem that resolving solves: what must hold before the best is taken, and what is
    /// optimised. Inputs that nothing assigns are open.
    ///
    /// With every input assigned, its optimum is what
    /// [`Solution::costs`](crate::sat::solve::Solution::costs) says.
    ///
    /// # Errors
    /// What is wrong with the template whatever the inputs; `open-input` where an input cannot stay
    /// open.
    pub fn optimization_formula(&self) -> Result<DimacsFormula, Failure> {
        self.survey(Openness::Open, |prepared, _| {
            let Encoded { cnf, objectives, cases } = encoded(prepared)?;
            let elements: Vec<_> = prepared.graph.ids().collect();
            let clauses = cnf.clauses().map(|clause| clause.literals);
            Ok(dimacs(prepared.graph, cnf.vars(), clauses, &elements, &cases, &objectives))
        })
    }
}

/// What resolving solves.
struct Encoded {
    cnf: Cnf,
    objectives: Vec<solve::Objective>,
    /// When open inputs are in which case.
    cases: Vec<(String, Lit)>,
}

fn encoded(prepared: &Prepared<'_, '_>) -> Result<Encoded, Diagnostics> {
    let opened = Opened::new(prepared, true, &mut ())?;
    let mut encoder = variant::encoder(&opened.evaluator, &opened.assertions);
    let objectives =
        opened.objectives.iter().map(|sum| variant::objective(&mut encoder, sum)).collect();
    let cases = opened.cases(&prepared.inputs.declarations);
    let cases = cases.into_iter().map(|(name, when)| (name, encoder.literal(when))).collect();
    Ok(Encoded { cnf: encoder.finish(), objectives, cases })
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
    resolver: &Resolver,
    kind: solve::SolverKind,
) -> Option<(DimacsFormula, Vec<u64>)> {
    let made = resolver.survey(Openness::Closed, |prepared, _| {
        let Encoded { cnf, objectives, cases } = encoded(prepared)?;
        let problem = solve::Problem { cnf: &cnf, objectives: &objectives, preference: &[] };
        let solution = solve::solve(&problem, &kind.into(), &mut ());
        let clauses = cnf.clauses().map(|clause| clause.literals);
        let formula = dimacs(prepared.graph, cnf.vars(), clauses, &[], &cases, &objectives);
        Ok(solution.ok().map(|solution| (formula, solution.costs().collect())))
    });
    made.ok().flatten()
}
