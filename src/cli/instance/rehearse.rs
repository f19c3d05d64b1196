//! Rehearses a plan: lets each step fail in turn, in simulation, and tells what would be left.

use crate::cli::args::ListFormat;
use crate::cli::{Outcome, json, output, rejected};
use cuvee::Failure;
use cuvee::deploy::plan::{
    Plan, Simulation, SimulationOptions, StartStates, StepOutcome, simulate,
};
use cuvee::diagnostic::Diagnostics;
use cuvee::source::SourceMap;
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// The result of a plan in which one step fails.
#[derive(Serialize)]
struct RehearsedFailure {
    step: String,
    /// How many steps would have been done.
    done: usize,
    /// The steps that would have dealt with the failure.
    handled_by: Vec<String>,
    /// How many steps would not have begun.
    not_reached: usize,
    /// The nodes that would not be as before nor as planned, with their states.
    left: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Rehearsal {
    failures: Vec<RehearsedFailure>,
}

/// Rehearses a plan.
pub(super) fn run(plan: &Plan, format: ListFormat) -> Outcome {
    let start = StartStates::default();
    let steps = plan.step_ids().filter(|&id| plan.step(id).is_run());
    let mut failures = Vec::new();
    for id in steps.filter(|&id| !plan.step(id).is_handler) {
        let step = plan.identifier(id);
        let how = SimulationOptions { fail: vec![step.clone()], assume_unmet: false };
        let simulation = simulate(plan, &start, &how).map_err(|Diagnostics(diagnostics)| {
            Failure { diagnostics, sources: SourceMap::default() }
        })?;
        failures.push(failure(plan, step, &simulation));
    }
    let text = match format {
        ListFormat::Json => json(&Rehearsal { failures }),
        ListFormat::Human => failures.iter().map(told).collect(),
    };
    output::to_stdout(text).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

fn failure(plan: &Plan, step: String, simulation: &Simulation<'_>) -> RehearsedFailure {
    let count = |wanted: StepOutcome| {
        let run = plan.step_ids().filter(|&id| plan.step(id).is_run() && !plan.step(id).is_handler);
        run.filter(|id| simulation.outcomes[id.index()] == wanted).count()
    };
    let states = plan.elements.iter().zip(&simulation.states);
    let is_between = |state: &str| !matches!(state, "started" | "initial" | Simulation::GONE);
    let left = states
        .filter(|(element, state)| element.identifier.starts_with("node.") && is_between(state))
        .map(|(element, state)| (element.identifier.clone(), (*state).to_owned()))
        .collect();
    RehearsedFailure {
        step,
        done: count(StepOutcome::Done),
        handled_by: simulation.handled_by.iter().map(|name| (*name).to_owned()).collect(),
        not_reached: count(StepOutcome::NotReached),
        left,
    }
}

fn told(failure: &RehearsedFailure) -> String {
    let RehearsedFailure { step, done, handled_by, not_reached, left } = failure;
    let mut text = format!("{step} fails: {done} steps are done, {not_reached} do not begin\n");
    for (node, state) in left {
        text.push_str(&format!("  {node} is left in `{state}`; the next run repairs it\n"));
    }
    if !handled_by.is_empty() {
        text.push_str(&format!("  handled by {}\n", handled_by.join(", ")));
    }
    text
}
