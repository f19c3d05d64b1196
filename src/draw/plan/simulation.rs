//! Shows the course of a simulation, for people and for programs.

use super::words::{counted, element, operation};
use crate::orchestrate::plan::{
    Plan, PlanElementIndex, PlanStep, Simulation, SimulationEvent, StepOutcome,
};
use crate::tosca::NodeState;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The state of a node at which a step failed.
const FAILED: &str = NodeState::Error.as_str();

/// A simulation for people: after each round the nodes whose state changed; at the end the state of
/// each node and the outcomes of the steps.
///
/// ```
/// use cuvee::output::draw::plan::simulated;
/// use cuvee::deploy::plan::{PlanQuery, SimulationOptions, StartStates, simulate};
/// let plan = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?.result;
/// let start = StartStates::default();
/// let simulation = simulate(&plan, &start, &SimulationOptions::default()).unwrap();
/// assert!(simulated(&plan, &simulation).contains("wave 1\n"));
/// # Ok::<(), cuvee::Failure>(())
/// ```
pub fn simulated(plan: &Plan, simulation: &Simulation<'_>) -> String {
    let mut text = String::new();
    let nodes: Vec<_> = (0..plan.elements.len())
        .map(PlanElementIndex::new)
        .filter(|&id| plan.element(id).identifier.starts_with("node."))
        .collect();
    let names = nodes.iter().map(|&id| element(plan, id).chars().count());
    let widest = names.max().unwrap_or(0);
    for round in simulation.events.chunk_by(|one, next| one.wave == next.wave) {
        text.push_str(&format!("wave {}\n", round.first().map_or(0, |event| event.wave)));
        for change in changes(plan, round) {
            text.push_str(&change.line(widest));
        }
    }
    text.push_str("at the end\n");
    for id in nodes {
        let (name, state) = (element(plan, id), simulation.states[id.index()]);
        text.push_str(&format!("  {name:<widest$}  {state}\n"));
    }
    // Steps with nothing to run are no steps to people, unless one of them fails.
    let counts = StepOutcome::ALL.into_iter().filter_map(|outcome| {
        let is_counted = |step: &PlanStep| step.takes_wave() || outcome == StepOutcome::Failed;
        let all = plan.steps.iter().zip(&simulation.outcomes);
        let count = all.filter(|(step, one)| **one == outcome && is_counted(step)).count();
        let (is_said, word) = (count > 0 || outcome == StepOutcome::Done, outcome.as_str());
        let first =
            if outcome == StepOutcome::Done { counted(count, "step") } else { count.to_string() };
        is_said.then(|| format!("{first} {}", word.replace('-', " ")))
    });
    text.push_str(&counts.collect::<Vec<_>>().join(", "));
    text.push('\n');
    if simulation.has_failed {
        let handlers: Vec<_> =
            simulation.handled_by.iter().map(|name| format!("`{name}`")).collect();
        let by = if handlers.is_empty() { "" } else { ", handled by " };
        text.push_str(&format!("{} failed{by}{}\n", plan.workflow, handlers.join(", ")));
    }
    text
}

/// A change in a round: of a node, or of a step that failed or was skipped.
struct RoundChange<'p> {
    name: Cow<'p, str>,
    /// The states before and after; in between, the state in which a step failed.
    states: Vec<&'p str>,
    /// The reason: the step that failed or was skipped.
    note: Option<String>,
}

/// The changes of a round, in the order of elements, followed by skipped steps.
fn changes<'p>(plan: &'p Plan, round: &[SimulationEvent<'p>]) -> Vec<RoundChange<'p>> {
    let mut nodes: BTreeMap<PlanElementIndex, RoundChange<'p>> = BTreeMap::new();
    let mut others = Vec::new();
    for event in round {
        let note = match event.outcome {
            StepOutcome::Failed => Some("failed"),
            StepOutcome::Skipped => Some("skipped"),
            _ => None,
        };
        let note = note.map(|what| match plan.step(event.step).activity {
            Some(_) => format!("{} {what}", plan.identifier(event.step)),
            None => format!("{} {what}", operation(plan, event.step)),
        });
        match (event.element.zip(event.states), note) {
            (Some((id, (from, to))), note) => {
                let change = nodes.entry(id).or_insert_with(|| RoundChange {
                    name: element(plan, id),
                    states: vec![from],
                    note: None,
                });
                // Intermediate states of a round are omitted, unless they are failures.
                if change.states.len() > 1 && change.states.last() != Some(&FAILED) {
                    change.states.pop();
                }
                change.states.push(to);
                change.note = note.or(change.note.take());
            }
            (None, Some(note)) => {
                let name = plan.step(event.step).element.map(|id| element(plan, id));
                let name = name.unwrap_or_default();
                others.push(RoundChange { name, states: Vec::new(), note: Some(note) });
            }
            (None, None) => {}
        }
    }
    let is_said = |change: &RoundChange<'_>| {
        change.note.is_some() || change.states.first() != change.states.last()
    };
    nodes.into_values().filter(is_said).chain(others).collect()
}

impl RoundChange<'_> {
    fn line(&self, widest: usize) -> String {
        let states = (!self.states.is_empty()).then(|| self.states.join(" -> "));
        let said: Vec<_> = states.into_iter().chain(self.note.clone()).collect();
        let name = &self.name;
        format!("  {name:<widest$}  {}\n", said.join(": "))
    }
}

/// An event of a simulation, for programs.
#[derive(Serialize)]
pub(super) struct EventDocument<'p> {
    wave: u32,
    step: String,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'p str>,
}

/// The result of a simulation, for programs.
#[derive(Serialize)]
pub(super) struct SimulationDocument<'p> {
    events: Vec<EventDocument<'p>>,
    states: BTreeMap<&'p str, &'p str>,
    failed: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    handled_by: &'p [&'p str],
}

impl<'p> SimulationDocument<'p> {
    pub(super) fn of(plan: &'p Plan, simulation: &'p Simulation<'p>) -> Self {
        let event = |event: &'p SimulationEvent<'p>| EventDocument {
            wave: event.wave,
            step: plan.identifier(event.step),
            outcome: event.outcome.as_str(),
            node: event.element.map(|id| &*plan.element(id).identifier),
            from: event.states.map(|(from, _)| from),
            to: event.states.map(|(_, to)| to),
        };
        let elements = plan.elements.iter().zip(&simulation.states);
        let nodes = elements.filter(|(element, _)| element.identifier.starts_with("node."));
        Self {
            events: simulation.events.iter().map(event).collect(),
            states: nodes.map(|(element, state)| (&*element.identifier, *state)).collect(),
            failed: simulation.has_failed,
            handled_by: &simulation.handled_by,
        }
    }
}
