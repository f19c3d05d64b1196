//! How plans are told, whatever the format.

use crate::orchestrate::plan::{
    InstanceCount, Plan, PlanElementIndex, PlanStep, PlanStepIndex, StepHost, StepWork,
};
use crate::text::value::Value;
use std::borrow::Cow;

/// What stands for a value that is nobody's business.
pub(super) const SENSITIVE: &str = "(sensitive)";

/// A number of things.
pub(super) fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// An element for people, with how often it is there.
pub(super) fn element(plan: &Plan, id: PlanElementIndex) -> Cow<'_, str> {
    let element = plan.element(id);
    match element.count {
        InstanceCount::One => Cow::Borrowed(&element.name),
        InstanceCount::Known(count) => Cow::Owned(format!("{} ×{count}", element.name)),
        InstanceCount::Open => Cow::Owned(format!("{} ×?", element.name)),
    }
}

/// What a step runs, for people: a file, or a deployment artifact.
pub(super) fn implementation(plan: &Plan, id: PlanStepIndex) -> &str {
    let call = plan.call_of(id);
    call.and_then(|call| call.primary.as_deref().or(call.artifact.as_deref())).unwrap_or_default()
}

/// What a step does, in a word.
pub(super) fn operation(plan: &Plan, id: PlanStepIndex) -> &str {
    let step = plan.step(id);
    match (step.work, plan.call_of(id)) {
        (StepWork::Call, Some(call)) => &call.operation,
        (work, _) => plan.label(work),
    }
}

/// The state that the element of a step is in once it is done: its own, or that of the step that
/// only says so behind it.
pub(super) fn state_after(plan: &Plan, id: PlanStepIndex) -> Option<&str> {
    let step = plan.step(id);
    if let Some(state) = reached(plan, step.work) {
        return Some(state);
    }
    let rest = &plan.steps[id.index() + 1..];
    let following = match step.activity {
        // Behind a call come the other members of a group, and the states of them all.
        Some((written, _)) => {
            let of_step = |next: &&PlanStep| {
                next.scope == step.scope && next.activity.is_some_and(|(other, _)| other == written)
            };
            let mut of_step = rest.iter().take_while(of_step);
            of_step.find(|next| next.element == step.element && !is_begun(next.work))?
        }
        None => {
            let next = PlanStepIndex::new(id.index() + 1);
            rest.first().filter(|_| plan.after(next) == [id])?
        }
    };
    (following.element == step.element).then(|| settled(plan, following.work))?
}

/// The state that is reached with this, and stays.
pub(super) fn settled(plan: &Plan, work: StepWork) -> Option<&str> {
    reached(plan, work).filter(|_| !is_begun(work))
}

/// The state that is reached with this.
pub(super) fn reached(plan: &Plan, work: StepWork) -> Option<&str> {
    match work {
        StepWork::Deleted => Some("-"),
        StepWork::OtherState(_) => Some(plan.label(work)),
        _ => Some(work.state()?.as_str()),
    }
}

/// Whether a state says that something begins, not that something is done.
fn is_begun(work: StepWork) -> bool {
    matches!(work, StepWork::State(state) if state.is_transitional())
}

/// Where a step runs, by the name of the host.
pub(super) fn host(plan: &Plan, host: StepHost) -> Option<&str> {
    match host {
        StepHost::None => None,
        StepHost::Orchestrator => Some("the orchestrator"),
        StepHost::Element(element) => Some(&plan.element(element).name),
    }
}

/// A value as it may be shown.
pub(super) fn shown(value: &Value, is_hidden: bool) -> Cow<'_, Value> {
    match is_hidden {
        true => Cow::Owned(Value::String(SENSITIVE.into())),
        false => Cow::Borrowed(value),
    }
}
