//! Finds the best variant: encodes formulas as clauses, solves them, and checks that the variant is
//! unique where the options ask for that.

use crate::diagnostic::{Code, Diagnostic};
use crate::variability::element::ElementKind;
use crate::variability::enrich::Assertions;
use crate::variability::expression::Evaluator;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::objectives::{
    ObjectiveMeasure, WEIGHT_OF_NODES, WeightedSum, after_topology, before_technologies,
};
use crate::variability::options::{Flag, Options};
use crate::variability::presence::Presence;
use cuvee_sat::formula::{Atom, Encoder, OriginId};
use cuvee_sat::progress::Progress;
use cuvee_sat::solve::{
    self, Bounds, Conflict, Interrupted, Problem, Solution, SolverSettings, Unique, Unsolved,
};

/// The variant that the solver found.
pub(crate) struct BestVariant {
    pub presence: Presence,
    /// The optimised sums, in the order of their rank.
    pub optima: Vec<Optimum>,
    /// The warning that the variant may not be the only best one, because the time was over.
    pub unproven: Option<Diagnostic>,
}

/// The value of one optimised sum in a variant, and what is proven about it.
///
/// ```
/// let resolution = cuvee::Resolver::new("examples/shop").preset("prod").option("optimization_topology", "min").resolve()?;
/// let weight = &resolution.optima()[0];
/// assert_eq!((weight.what, weight.is_proven()), ("the weight of the nodes", true));
/// # Ok::<(), cuvee::Failure>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Optimum {
    /// The quantity that is added up, in words.
    pub what: &'static str,
    /// The value of the sum in the variant, as an exact decimal.
    pub value: String,
    /// The proven bound: no variant has a better value. As an exact decimal.
    pub bound: String,
    /// Whether the sum is maximised instead of minimised.
    pub is_maximized: bool,
}

impl Optimum {
    /// Whether it is proven that no variant has a better value.
    pub fn is_proven(&self) -> bool {
        self.value == self.bound
    }

    /// Whether the sum adds up the weights of nodes.
    pub(super) fn is_of_weight(&self) -> bool {
        self.what == WEIGHT_OF_NODES
    }

    fn of(measure: ObjectiveMeasure, bounds: Bounds) -> Self {
        let shown = |cost| measure.of(cost).to_string();
        let (value, bound) = (shown(bounds.upper), shown(bounds.lower));
        Self { what: measure.what, value, bound, is_maximized: measure.is_maximized() }
    }
}

/// Solves the assertions under the objectives, and checks that the result is unique.
///
/// # Errors
/// `unsatisfiable` with a minimal conflict, `ambiguous-topology`, `ambiguous-scenarios`,
/// `ambiguous-technologies`; `unproven` where no variant was found in time.
pub(crate) fn find(
    evaluator: &Evaluator<'_, '_>,
    assertions: &Assertions,
    objectives: &[WeightedSum],
    options: &Options,
    settings: &SolverSettings,
    progress: &mut dyn Progress,
) -> Result<BestVariant, Diagnostic> {
    let graph = evaluator.graph;
    progress.phase("encoding");
    let mut encoder = encoder(evaluator, assertions);
    let sums: Vec<_> = objectives.iter().map(|sum| objective(&mut encoder, sum)).collect();
    let cnf = encoder.finish();
    let preference = preference(graph, options);
    progress.counted("variables", cnf.vars());
    progress.counted("clauses", cnf.len());
    progress.phase("solving");
    let problem = Problem { cnf: &cnf, objectives: &sums, preference: &preference };
    let mut solution = match solve::solve(&problem, settings, progress) {
        Ok(solution) => solution,
        Err(Unsolved::Conflict(conflict)) => {
            return Err(unsatisfiable(graph, assertions, options, &conflict));
        }
        Err(Unsolved::Interrupted) => {
            let message = "the time was over before any variant was found";
            return Err(Diagnostic::error(Code::Unproven, message).help("allow more time"));
        }
    };
    let presence =
        Presence::new((0..evaluator.atoms()).map(|atom| solution.is_true(Atom(atom))).collect());
    let optima = objectives
        .iter()
        .zip(solution.bounds())
        .map(|(sum, &bounds)| Optimum::of(sum.measure, bounds))
        .collect();
    let mut variant = BestVariant { presence, optima, unproven: None };
    progress.phase("looking for other variants");
    let is_proven =
        solution.is_proven() && all_unique(graph, options, &problem, &mut solution, settings)?;
    variant.unproven = (!is_proven).then(|| unproven(&variant.optima));
    Ok(variant)
}

/// Whether it was proven in time that the variant is the only best one, wherever the options ask
/// for that.
///
/// # Errors
/// `ambiguous-topology`, `ambiguous-scenarios`, `ambiguous-technologies`.
fn all_unique(
    graph: &Graph<'_>,
    options: &Options,
    problem: &Problem<'_>,
    solution: &mut Solution,
    settings: &SolverSettings,
) -> Result<bool, Diagnostic> {
    for (code, unique) in uniqueness(graph, options) {
        match unique.disagreement(problem, solution, settings) {
            Ok(None) => {}
            Ok(Some(both)) => {
                let over: Vec<_> = unique.atoms.iter().map(|atom| ElementId(atom.0)).collect();
                return Err(ambiguous(graph, &both, &over, code));
            }
            Err(Interrupted) => return Ok(false),
        }
    }
    Ok(true)
}

/// The warning that the variant may not be the best one.
fn unproven(optima: &[Optimum]) -> Diagnostic {
    let open = optima.iter().filter(|optimum| !optimum.is_proven());
    let bounds: Vec<_> = open
        .map(|optimum| {
            let Optimum { what, value, bound, is_maximized } = optimum;
            let direction = if *is_maximized { "more" } else { "less" };
            format!("{what} is {value}, and no variant has {direction} than {bound}")
        })
        .collect();
    let message = match bounds.is_empty() {
        true => {
            "the time was over before it was certain that no other variant is as good".to_owned()
        }
        false => format!(
            "the time was over before this variant was proven to be the best: {}",
            bounds.join("; ")
        ),
    };
    Diagnostic::warning(Code::Unproven, message)
        .help("allow more time, or accept what was found in time")
}

/// The atoms that choose between equally good variants. Each is rather false, and earlier ones
/// count more: nodes come first, because fewer nodes mean more than fewer properties.
pub(crate) fn preference(graph: &Graph<'_>, options: &Options) -> Vec<Atom> {
    let first = options.flag(Flag::OptimizationTechnologiesFirst);
    let others = graph.ids().filter(|&id| graph.element(id).kind != ElementKind::Node);
    // Earlier elements are rather absent. Without the reversal, the last technology of a node would
    // remain.
    let turned = others.map(|id| if first { mirrored(graph, id) } else { id });
    graph.nodes.iter().map(|node| node.id).chain(turned).map(Atom::from).collect()
}

/// For a technology, the technology of the same node at the same distance from the other end of the
/// list; any other element stays as it is.
fn mirrored(graph: &Graph<'_>, id: ElementId) -> ElementId {
    let element = graph.element(id);
    if element.kind != ElementKind::Technology {
        return id;
    }
    let node = graph.node(graph.technologies[element.slot as usize].node);
    node.technologies.iter().rev().nth(element.index as usize).copied().unwrap_or(id)
}

/// The elements in which equally good variants must agree, each with the code of the error if they
/// do not.
pub(crate) fn uniqueness(graph: &Graph<'_>, options: &Options) -> Vec<(Code, Unique)> {
    let mut found = Vec::new();
    if options.flag(Flag::OptimizationTopologyUnique) {
        let atoms = graph.nodes.iter().map(|node| node.id.into()).collect();
        let admits_more = !options.flag(Flag::OptimizationTopologyUniqueBackward);
        let is_first = options.flag(Flag::OptimizationTopologyUniqueFirst);
        let objectives = if is_first { after_topology(options) } else { usize::MAX };
        found.push((Code::AmbiguousTopology, Unique { atoms, admits_more, objectives }));
    }
    let technologies = || graph.technologies.iter().map(|technology| technology.id.into());
    if options.flag(Flag::OptimizationScenarios) && options.flag(Flag::OptimizationScenariosUnique)
    {
        let objectives = before_technologies(options);
        let unique = Unique { atoms: technologies().collect(), admits_more: true, objectives };
        found.push((Code::AmbiguousScenarios, unique));
    }
    if options.flag(Flag::OptimizationTechnologiesUnique) {
        let atoms = technologies().collect();
        let unique = Unique { atoms, admits_more: false, objectives: usize::MAX };
        found.push((Code::AmbiguousTechnologies, unique));
    }
    found
}

/// An encoder that contains all assertions.
pub(crate) fn encoder<'f>(
    evaluator: &'f Evaluator<'_, '_>,
    assertions: &Assertions,
) -> Encoder<'f> {
    let mut encoder = Encoder::new(&evaluator.arena, evaluator.atoms());
    assertions.iter().for_each(|(clause, origin)| encoder.assert(clause, origin));
    encoder
}

/// Turns a weighted sum of formulas into a weighted sum of literals.
pub(crate) fn objective(encoder: &mut Encoder<'_>, sum: &WeightedSum) -> solve::Objective {
    solve::Objective {
        terms: sum
            .terms
            .iter()
            .map(|&(formula, weight)| (encoder.literal(formula), weight))
            .collect(),
    }
}

/// What the message of a conflict begins with.
pub(crate) const NO_VARIANT: &str = "no variant fulfils all conditions: ";

/// Builds the error that lists each reason of a conflict at its place.
pub(crate) fn unsatisfiable(
    graph: &Graph<'_>,
    assertions: &Assertions,
    options: &Options,
    conflict: &Conflict,
) -> Diagnostic {
    let mut origins: Vec<_> =
        conflict.origins.iter().map(|&origin: &OriginId| assertions.origin(origin)).collect();
    origins.sort_by_key(|origin| origin.distance());
    let mut reasons: Vec<_> =
        origins.into_iter().map(|origin| origin.explain(graph, options)).collect();
    reasons.dedup();
    let count = reasons.len();
    let (message, help) = match count {
        1 => (format!("{NO_VARIANT}this one cannot hold"), "drop or weaken it"),
        _ if !conflict.is_minimal => {
            reasons.truncate(UNSORTED);
            (
                format!("{NO_VARIANT}some of these {count} conflict"),
                "allow more time to learn which of them do",
            )
        }
        _ => (
            format!("{NO_VARIANT}these {count} conflict"),
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

/// How many reasons the error shows if the time was too short to minimise the conflict: there may
/// be thousands.
const UNSORTED: usize = 20;

/// How many of the differing elements the error names.
const SHOWN: usize = 8;

/// Builds the error that two equally good variants differ in these elements. The variants are given
/// by their present elements.
fn ambiguous(
    graph: &Graph<'_>,
    both: &[Vec<Atom>; 2],
    over: &[ElementId],
    code: Code,
) -> Diagnostic {
    let what = if code == Code::AmbiguousTopology { "nodes" } else { "technologies" };
    let [one, other] = both
        .each_ref()
        .map(|present| |id: &ElementId| present.binary_search(&Atom::from(*id)).is_ok());
    let only = |here: bool| {
        let ids: Vec<_> = over.iter().filter(|id| one(id) == here && other(id) != here).collect();
        let names: Vec<_> =
            ids.iter().take(SHOWN).map(|&&id| format!("`{}`", graph.identifier(id))).collect();
        match ids.len() {
            0 => "no other elements".into(),
            count if count > SHOWN => format!("{} and {} more", names.join(", "), count - SHOWN),
            _ => names.join(", "),
        }
    };
    let message = format!(
        "the result is ambiguous considering {what}: one variant has {}, another has {}",
        only(true),
        only(false)
    );
    let differing = over.iter().filter(|id| one(id) != other(id));
    let error =
        Diagnostic::error(code, message).help("prefer one by conditions, weights or optimisation");
    let error = differing.clone().take(SHOWN).fold(error, |error, &id| {
        let message = if one(&id) {
            "present in one variant only"
        } else {
            "present in the other variant only"
        };
        error.label(graph.element(id).span, message)
    });
    error.at(differing.clone().next().map(|&id| graph.element(id).span))
}
