//! Decides before anything runs which steps the conditions of a plan let run, as far as values are
//! known.

use super::model::Plan;
use super::simulate::{SimulationOptions, Simulator, StepOutcome};
use super::start::StartStates;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};

/// What is known of a condition before anything runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownCondition {
    /// It holds, or there is none.
    Met,
    /// It does not hold.
    Unmet,
    /// It depends on a value that is unknown.
    Unknown,
}

/// What is known of the conditions of a plan before anything runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DecidedConditions {
    /// The preconditions of the workflow that do not hold.
    pub refused: Vec<Diagnostic>,
    /// Whether preconditions are unknown.
    pub is_unsure: bool,
    /// For each step its conditions, taken together.
    pub steps: Vec<KnownCondition>,
}

/// Checks that the preconditions of a plan for an instance hold where nodes have the states that
/// `start` gives. What nobody reported counts as not met.
///
/// # Errors
/// `failed-precondition`
pub(crate) fn may_begin(
    plan: &Plan,
    start: impl FnOnce() -> StartStates,
) -> Result<(), Diagnostics> {
    // Few plans have any, and an instance may have many nodes.
    if plan.preconditions.is_empty() {
        return Ok(());
    }
    let start = start();
    let how = SimulationOptions { assume_unmet: true, ..SimulationOptions::default() };
    let mut simulator = Simulator::new(plan, &start, &how)?;
    if simulator.may_begin() {
        return Ok(());
    }
    let found = simulator.simulation.diagnostics.0.into_iter();
    let failed = found.filter(|found| found.severity == Severity::Error);
    let help = "report what holds by now: `cuvee instance record NAME NODE --attribute ATTRIBUTE=VALUE`, or `--state STATE`";
    Err(Diagnostics(failed.map(|failed| failed.help(help)).collect()))
}

/// Decides the conditions of a plan by the values that are known: properties, initial values of
/// attributes, given states and attributes of nodes, and states that the plan itself sets. Where
/// nothing is deployed yet, nodes are `initial`.
///
/// ```
/// use cuvee::deploy::plan::{KnownCondition, PlanQuery, StartStates, decide};
/// let plan = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?.result;
/// let decided = decide(&plan, &StartStates::default()).unwrap();
/// assert!(decided.steps.iter().all(|known| *known == KnownCondition::Met));
/// # Ok::<(), cuvee::Failure>(())
/// ```
///
/// # Errors
/// `unknown-element` for a node with a start state that a generated plan does not contain.
pub fn decide(plan: &Plan, start: &StartStates) -> Result<DecidedConditions, Diagnostics> {
    let simulated = |assume_unmet| {
        let how = SimulationOptions { assume_unmet, ..SimulationOptions::default() };
        let mut simulator = Simulator::new(plan, start, &how)?;
        simulator.forget_states(start);
        let may_begin = simulator.may_begin();
        let refused = std::mem::take(&mut simulator.simulation.diagnostics);
        simulator.run();
        Ok::<_, Diagnostics>((may_begin, refused, simulator.simulation.outcomes))
    };
    let (may_begin, Diagnostics(mut refused), outcomes) = simulated(false)?;
    let (would_begin, _, if_unmet) = simulated(true)?;
    refused.retain(|found| found.severity == Severity::Error);
    let steps = outcomes.iter().zip(if_unmet).map(|outcomes| match outcomes {
        (StepOutcome::Skipped, _) => KnownCondition::Unmet,
        (_, StepOutcome::Skipped) => KnownCondition::Unknown,
        _ => KnownCondition::Met,
    });
    let is_unsure = may_begin && !would_begin;
    Ok(DecidedConditions { refused, is_unsure, steps: steps.collect() })
}
