//! Builds the objectives of the solver ("Optimization"): first the topology, then how special
//! technology rules are, then the technologies.

use crate::diagnostic::{Code, Diagnostic};
use crate::variability::expression::Evaluator;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::options::{Flag, Optimization, Options, TechnologiesMode, TopologyMode};
use cuvee_sat::formula::Formula;
use cuvee_text::decimal::Decimal;

/// A weighted sum of formulas, to minimise.
#[derive(Default)]
pub(crate) struct WeightedSum {
    /// The formulas, each with its cost.
    pub terms: Vec<(Formula, u64)>,
    /// The meaning of the sum for its reader.
    pub measure: ObjectiveMeasure,
}

/// The meaning of a sum, to show its value to a user.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ObjectiveMeasure {
    /// The quantity that is added up, in words.
    pub what: &'static str,
    /// The exponent of the unit of weights: costs count units of `10^-scale`.
    scale: u32,
    /// The weight of all elements together, if the sum is maximised: the solver then minimises the
    /// weight that is missing from it.
    total: Option<u64>,
}

impl ObjectiveMeasure {
    /// The value that a cost stands for.
    pub(crate) fn of(self, cost: u64) -> Decimal {
        Decimal::of_units(self.total.map_or(cost, |total| total.saturating_sub(cost)), self.scale)
    }

    /// Whether the sum is maximised.
    pub(crate) fn is_maximized(self) -> bool {
        self.total.is_some()
    }
}

/// The name of the sum of node weights.
pub(super) const WEIGHT_OF_NODES: &str = "the weight of the nodes";

/// The objectives in the order of their rank.
///
/// # Errors
/// `invalid-template` where weights have so many digits that they cannot be added exactly.
pub(crate) fn objectives(
    evaluator: &mut Evaluator<'_, '_>,
    options: &Options,
) -> Result<Vec<WeightedSum>, Diagnostic> {
    let graph = evaluator.graph;
    let mut objectives = Vec::new();
    if options.topology() != Optimization::Off {
        objectives.push(topology(evaluator, options.topology_mode(), options.topology())?);
    }
    if options.flag(Flag::OptimizationScenarios) {
        objectives.push(scenarios(evaluator));
    }
    let direction = options.technologies();
    if direction == Optimization::Off {
        return Ok(objectives);
    }
    let mode = options.technologies_mode();
    if mode != TechnologiesMode::Count {
        let technologies: Vec<_> = graph
            .technologies
            .iter()
            .map(|technology| (technology.id, technology.weight))
            .collect();
        objectives.push(weighted(
            evaluator,
            "the weight of the technologies",
            &technologies,
            direction,
        )?);
    }
    match mode {
        TechnologiesMode::Weight => {}
        TechnologiesMode::Count => objectives.push(count(evaluator, direction)),
        // Among the best weights, the variant with the fewest technologies wins, even if the
        // weights are maximised.
        TechnologiesMode::WeightCount => objectives.push(count(evaluator, Optimization::Min)),
    }
    Ok(objectives)
}

/// The number of objectives about the topology.
pub(crate) fn after_topology(options: &Options) -> usize {
    usize::from(options.topology() != Optimization::Off)
}

/// The number of objectives that come before those that compare technologies.
pub(crate) fn before_technologies(options: &Options) -> usize {
    after_topology(options) + usize::from(options.flag(Flag::OptimizationScenarios))
}

/// The distance of technologies from their nodes: how many steps the type of a node derives from
/// the component of its technology's rule.
fn scenarios(evaluator: &mut Evaluator<'_, '_>) -> WeightedSum {
    let technologies = evaluator.graph.technologies.iter();
    let terms = technologies
        .filter(|technology| technology.priority > 0)
        .map(|technology| (evaluator.atom(technology.id), u64::from(technology.priority)))
        .collect();
    let what = "the distance between components and the nodes they are assigned to";
    WeightedSum { terms, measure: ObjectiveMeasure { what, scale: 0, total: None } }
}

/// The weight of all present nodes, or their number.
///
/// # Errors
/// As [`objectives`].
pub(crate) fn topology(
    evaluator: &mut Evaluator<'_, '_>,
    mode: TopologyMode,
    direction: Optimization,
) -> Result<WeightedSum, Diagnostic> {
    let weight = |decimal| if mode == TopologyMode::Weight { decimal } else { Decimal::ONE };
    let nodes: Vec<_> =
        evaluator.graph.nodes.iter().map(|node| (node.id, weight(node.template.weight))).collect();
    let what = if mode == TopologyMode::Weight { WEIGHT_OF_NODES } else { "the number of nodes" };
    weighted(evaluator, what, &nodes, direction)
}

/// Turns a formula around to maximise: maximising `Σ w·x` is minimising `Σ w·¬x`.
fn directed(formula: Formula, direction: Optimization) -> Formula {
    if direction == Optimization::Max { !formula } else { formula }
}

fn weighted(
    evaluator: &mut Evaluator<'_, '_>,
    what: &'static str,
    elements: &[(ElementId, Decimal)],
    direction: Optimization,
) -> Result<WeightedSum, Diagnostic> {
    let scale = elements.iter().map(|(_, weight)| weight.scale()).max().unwrap_or_default();
    let mut sum = 0u64;
    let mut terms = Vec::with_capacity(elements.len());
    for &(id, weight) in elements {
        let units = weight
            .units(scale)
            .filter(|&units| sum.checked_add(units).map(|total| sum = total).is_some());
        let units = units.ok_or_else(|| too_precise(evaluator.graph, id))?;
        terms.push((directed(evaluator.atom(id), direction), units));
    }
    let total = (direction == Optimization::Max).then_some(sum);
    Ok(WeightedSum { terms, measure: ObjectiveMeasure { what, scale, total } })
}

fn too_precise(graph: &Graph<'_>, id: ElementId) -> Diagnostic {
    let message = format!(
        "the weight of {} has too many digits to be added to the others exactly",
        graph.display(id)
    );
    Diagnostic::error(Code::InvalidTemplate, message)
        .at(graph.element(id).span)
        .help("round the weights")
}

/// The number of different technologies in use.
pub(crate) fn count(evaluator: &mut Evaluator<'_, '_>, direction: Optimization) -> WeightedSum {
    let graph = evaluator.graph;
    let mut by_name: indexmap::IndexMap<&str, Vec<ElementId>, rustc_hash::FxBuildHasher> =
        indexmap::IndexMap::default();
    for technology in graph.technologies.iter().filter(|technology| !technology.none) {
        by_name.entry(graph.element(technology.id).name).or_default().push(technology.id);
    }
    let terms: Vec<_> =
        by_name.values().map(|ids| (directed(evaluator.any(ids), direction), 1)).collect();
    let total = (direction == Optimization::Max).then_some(terms.len() as u64);
    WeightedSum {
        terms,
        measure: ObjectiveMeasure { what: "the number of technologies", scale: 0, total },
    }
}
