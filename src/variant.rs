//! Finds the variant: formulas to clauses, clauses to presence, presence to a unique answer.

use crate::diagnostic::{Code, Diagnostic};
use crate::enrich::Assertions;
use crate::expression::Evaluator;
use crate::formula::{Atom, Cnf, Encoder, OriginId};
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
    let (cnf, objectives) = encode(evaluator, assertions, objectives);
    // Nodes first: fewer nodes say more than fewer properties.
    let others = graph.ids().filter(|&id| graph.element(id).kind != Kind::Node);
    let preference: Vec<Atom> = graph.nodes.iter().map(|node| node.id).chain(others).map(Atom::from).collect();
    progress.phase("solving");
    let problem = Problem { cnf: &cnf, objectives: &objectives, preference: &preference };
    let mut solution = match solve::solve(&problem, solver, progress) {
        Ok(solution) => solution,
        Err(conflict) => return Err(unsatisfiable(graph, assertions, options, &conflict)),
    };
    let presence = Presence::new((0..evaluator.atoms()).map(|atom| solution.is_true(Atom(atom))).collect());
    progress.phase("looking for other variants");
    if options.flag(Flag::OptimizationTopologyUnique) {
        let nodes: Vec<_> = graph.nodes.iter().map(|node| node.id).collect();
        unique(graph, &mut solution, &presence, &nodes, Code::AmbiguousTopology, "nodes")?;
    }
    if options.flag(Flag::OptimizationTechnologiesUnique) {
        let technologies: Vec<_> = graph.technologies.iter().map(|technology| technology.id).collect();
        unique(graph, &mut solution, &presence, &technologies, Code::AmbiguousTechnologies, "technologies")?;
    }
    Ok(presence)
}

/// What is asserted as clauses, and what it costs as weighted sums of literals.
pub fn encode(evaluator: &Evaluator<'_, '_>, assertions: &Assertions, objectives: &[Objective]) -> (Cnf, Vec<solve::Objective>) {
    let mut encoder = Encoder::new(&evaluator.arena, evaluator.atoms());
    for (clause, origin) in assertions.iter() {
        encoder.assert(clause, origin);
    }
    let mut encode = |objective: &Objective| {
        let terms = objective.iter().map(|&(formula, weight)| (encoder.literal(formula), weight)).collect();
        solve::Objective { terms }
    };
    let objectives = objectives.iter().map(&mut encode).collect();
    (encoder.finish(), objectives)
}

/// Names every reason of a minimal conflict at its place.
fn unsatisfiable(graph: &Graph<'_>, assertions: &Assertions, options: &Options, conflict: &Conflict) -> Diagnostic {
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
    what: &str,
) -> Result<(), Diagnostic> {
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
