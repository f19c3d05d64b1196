//! Finds the variant: formulas to clauses, clauses to presence, presence to a unique answer.

use crate::diagnostic::{Code, Diagnostic};
use crate::enrich::Assertions;
use crate::expression::Evaluator;
use crate::formula::{Atom, Encoder, OriginId};
use crate::graph::{ElementId, Graph};
use crate::objectives::Objective;
use crate::options::{Flag, Kind, Options};
use crate::presence::Presence;
use crate::progress::Progress;
use crate::solve::{self, Conflict, Problem, Solution, SolverKind};

/// Solves the assertions under the objectives.
///
/// # Errors
/// `unsatisfiable` with a minimal conflict, `ambiguous-topology`, `ambiguous-technologies`.
pub fn find(
    evaluator: &Evaluator<'_, '_>,
    assertions: &Assertions,
    objectives: &[Objective],
    options: &Options,
    solver: SolverKind,
    progress: &mut dyn Progress,
) -> Result<Presence, Diagnostic> {
    let graph = evaluator.graph;
    progress.phase("encoding");
    let mut encoder = encoder(evaluator, assertions);
    let objectives: Vec<_> = objectives.iter().map(|sum| objective(&mut encoder, sum)).collect();
    let cnf = encoder.finish();
    let preference = preference(graph);
    progress.counted("variables", cnf.vars());
    progress.counted("clauses", cnf.len());
    progress.phase("solving");
    let problem = Problem { cnf: &cnf, objectives: &objectives, preference: &preference };
    let mut solution = match solve::solve(&problem, solver, progress) {
        Ok(solution) => solution,
        Err(conflict) => return Err(unsatisfiable(graph, assertions, options, &conflict)),
    };
    let presence = Presence::new((0..evaluator.atoms()).map(|atom| solution.is_true(Atom(atom))).collect());
    progress.phase("looking for other variants");
    for (code, over) in uniqueness(graph, options) {
        unique(graph, &mut solution, &presence, &over, code)?;
    }
    Ok(presence)
}

/// Which variant is taken of those that are equally good: nodes first, because fewer nodes say more than fewer properties.
pub fn preference(graph: &Graph<'_>) -> Vec<Atom> {
    let others = graph.ids().filter(|&id| graph.element(id).kind != Kind::Node);
    graph.nodes.iter().map(|node| node.id).chain(others).map(Atom::from).collect()
}

/// The elements in which equally good variants must not differ, and what it is called if they do.
pub fn uniqueness(graph: &Graph<'_>, options: &Options) -> Vec<(Code, Vec<ElementId>)> {
    let mut found = Vec::new();
    if options.flag(Flag::OptimizationTopologyUnique) {
        found.push((Code::AmbiguousTopology, graph.nodes.iter().map(|node| node.id).collect()));
    }
    if options.flag(Flag::OptimizationTechnologiesUnique) {
        let technologies = graph.technologies.iter().map(|technology| technology.id);
        found.push((Code::AmbiguousTechnologies, technologies.collect()));
    }
    found
}

/// An encoder that has what is asserted.
pub fn encoder<'f>(evaluator: &'f Evaluator<'_, '_>, assertions: &Assertions) -> Encoder<'f> {
    let mut encoder = Encoder::new(&evaluator.arena, evaluator.atoms());
    assertions.iter().for_each(|(clause, origin)| encoder.assert(clause, origin));
    encoder
}

/// A weighted sum of formulas as one of literals.
pub fn objective(encoder: &mut Encoder<'_>, sum: &Objective) -> solve::Objective {
    solve::Objective { terms: sum.iter().map(|&(formula, weight)| (encoder.literal(formula), weight)).collect() }
}

/// Names every reason of a minimal conflict at its place.
pub fn unsatisfiable(graph: &Graph<'_>, assertions: &Assertions, options: &Options, conflict: &Conflict) -> Diagnostic {
    let mut origins: Vec<_> = conflict.origins.iter().map(|&origin: &OriginId| assertions.origin(origin)).collect();
    origins.sort_by_key(|origin| origin.distance());
    let mut reasons: Vec<_> = origins.into_iter().map(|origin| origin.explain(graph, options)).collect();
    reasons.dedup();
    let count = reasons.len();
    let (message, help) = match count {
        1 => ("no variant fulfils all conditions: this one cannot hold".into(), "drop or weaken it"),
        _ => (
            format!("no variant fulfils all conditions: these {count} conflict"),
            "each of them could hold without one of the others: drop or weaken any one",
        ),
    };
    let diagnostic = Diagnostic::error(Code::Unsatisfiable, message).help(help);
    let mut reasons = reasons.into_iter();
    let first = reasons.next();
    let diagnostic = match first {
        Some((span, message)) => diagnostic.at(span).label(span, message),
        None => diagnostic,
    };
    reasons.fold(diagnostic, |diagnostic, (span, message)| diagnostic.label(span, message))
}

/// How many of the elements that differ are named: enough to see what it is about.
const SHOWN: usize = 8;

/// An error where another variant, as good as this one, differs in these elements.
fn unique(
    graph: &Graph<'_>,
    solution: &mut Solution,
    presence: &Presence,
    over: &[ElementId],
    code: Code,
) -> Result<(), Diagnostic> {
    let what = if code == Code::AmbiguousTopology { "nodes" } else { "technologies" };
    let atoms: Vec<Atom> = over.iter().map(|&id| id.into()).collect();
    let Some(other) = solution.another(&atoms) else { return Ok(()) };
    let other = |id: &ElementId| other.binary_search(&Atom::from(*id)).is_ok();
    let only = |here: bool| {
        let ids: Vec<_> = over.iter().filter(|id| presence.is(**id) == here && other(id) != here).collect();
        let names: Vec<_> = ids.iter().take(SHOWN).map(|&&id| format!("`{}`", graph.identifier(id))).collect();
        match ids.len() {
            0 => "nothing besides".into(),
            count if count > SHOWN => format!("{} and {} more", names.join(", "), count - SHOWN),
            _ => names.join(", "),
        }
    };
    let message =
        format!("the result is ambiguous considering {what}: one variant has {}, another has {}", only(true), only(false));
    let differing = over.iter().filter(|id| presence.is(**id) != other(id));
    let error = Diagnostic::error(code, message).help("prefer one by conditions, weights or optimisation");
    let error = differing.clone().take(SHOWN).fold(error, |error, &id| {
        let message = if presence.is(id) { "present in one variant only" } else { "present in the other variant only" };
        error.label(graph.element(id).span, message)
    });
    Err(error.at(differing.clone().next().map(|&id| graph.element(id).span)))
}
