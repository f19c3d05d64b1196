//! The steps of a plan that something is done in; the others only pass on what they wait for.

use crate::orchestrate::plan::{Plan, PlanStepIndex, StepWork};
use rustc_hash::FxHashSet;

/// Steps that something is done in, each behind all that it waits for.
pub(super) struct VisibleSteps {
    pub steps: Vec<PlanStepIndex>,
    /// For each the positions of those that it waits for, directly or through steps between that
    /// do nothing.
    pub after: Vec<Vec<usize>>,
    /// For each whether it is only reached where another one fails.
    pub is_handler: Vec<bool>,
}

impl VisibleSteps {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut visible = Self { steps: Vec::new(), after: Vec::new(), is_handler: Vec::new() };
        let handlers = handlers(plan);
        // For each step of the plan what those behind it wait for, and whether a failure leads there.
        let mut fronts: Vec<Vec<usize>> = Vec::with_capacity(plan.steps.len());
        let mut handling = Vec::with_capacity(plan.steps.len());
        for id in plan.step_ids() {
            let step = plan.step(id);
            let waits = plan.after(id);
            let mut front: Vec<usize> =
                waits.iter().flat_map(|wait| &fronts[wait.index()]).copied().collect();
            front.sort_unstable();
            front.dedup();
            let is_named = step.activity.is_some_and(|(written, _)| handlers.contains(&written));
            let is_handler = is_named || waits.iter().any(|wait| handling[wait.index()]);
            handling.push(is_handler);
            if !is_kept(step.is_shown, step.work) {
                fronts.push(front);
                continue;
            }
            fronts.push(vec![visible.steps.len()]);
            visible.steps.push(id);
            visible.after.push(front);
            visible.is_handler.push(is_handler);
        }
        visible
    }
}

/// The turn stays, though nothing is done in it: all that comes waits for all that goes, and without
/// it each of the one for each of the other.
fn is_kept(is_shown: bool, work: StepWork) -> bool {
    is_shown || work == StepWork::Turn
}

/// The written steps that follow only where another one fails.
fn handlers(plan: &Plan) -> FxHashSet<u32> {
    let written = &plan.workflow_steps;
    let mut handlers: FxHashSet<_> =
        written.iter().flat_map(|step| &step.on_failure).copied().collect();
    written.iter().flat_map(|step| &step.on_success).for_each(|next| {
        handlers.remove(next);
    });
    handlers
}
