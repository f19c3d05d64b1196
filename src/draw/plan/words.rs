//! Words that all formats of plans share.

use crate::orchestrate::plan::{
    InstanceCount, Plan, PlanElementIndex, PlanStep, PlanStepIndex, StepHost, StepWork,
};
use crate::topology::sensitive::SENSITIVE;
use cuvee_text::value::Value;
use std::borrow::Cow;

/// A number with its noun.
pub(super) fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// The name of an element for people, with the number of its instances.
pub(super) fn element(plan: &Plan, id: PlanElementIndex) -> Cow<'_, str> {
    let element = plan.element(id);
    match element.count {
        InstanceCount::One => Cow::Borrowed(&element.name),
        InstanceCount::Known(count) => Cow::Owned(format!("{} ×{count}", element.name)),
        InstanceCount::Open => Cow::Owned(format!("{} ×?", element.name)),
    }
}

/// The implementation that a step runs, for people: a file or a deployment artifact.
pub(super) fn implementation(plan: &Plan, id: PlanStepIndex) -> &str {
    let call = plan.call_of(id);
    call.and_then(|call| call.primary.as_deref().or(call.artifact.as_deref())).unwrap_or_default()
}

/// The operation of a step, in a word.
pub(super) fn operation(plan: &Plan, id: PlanStepIndex) -> &str {
    let step = plan.step(id);
    match (step.work, plan.call_of(id)) {
        (StepWork::Call, Some(call)) => &call.operation,
        (work, _) => plan.label(work),
    }
}

/// The state of the step's element after the step: the state that the step sets, or else the one
/// that the following step sets.
pub(super) fn state_after(plan: &Plan, id: PlanStepIndex) -> Option<&str> {
    let step = plan.step(id);
    if let Some(state) = reached(plan, step.work) {
        return Some(state);
    }
    let rest = &plan.steps[id.index() + 1..];
    let following = match step.activity {
        // After a call come the calls for the other members of a group, then the states of all
        // members.
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

/// The state that the work sets, unless the state is transitional.
pub(super) fn settled(plan: &Plan, work: StepWork) -> Option<&str> {
    reached(plan, work).filter(|_| !is_begun(work))
}

/// The state that the work sets.
pub(super) fn reached(plan: &Plan, work: StepWork) -> Option<&str> {
    match work {
        StepWork::Deleted => Some("-"),
        StepWork::OtherState(_) => Some(plan.label(work)),
        _ => Some(work.state()?.as_str()),
    }
}

/// Whether the work sets a transitional state, at the beginning of an operation.
fn is_begun(work: StepWork) -> bool {
    matches!(work, StepWork::State(state) if state.is_transitional())
}

/// The name of the host that a step runs on.
pub(super) fn host(plan: &Plan, host: StepHost) -> Option<&str> {
    match host {
        StepHost::None => None,
        StepHost::Orchestrator => Some("the orchestrator"),
        StepHost::Element(element) => Some(&plan.element(element).name),
    }
}

/// A value, or its replacement if it is hidden.
pub(super) fn shown(value: &Value, is_hidden: bool) -> Cow<'_, Value> {
    match is_hidden {
        true => Cow::Owned(Value::String(SENSITIVE.into())),
        false => Cow::Borrowed(value),
    }
}
