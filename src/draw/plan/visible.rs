//! The steps of a plan that something is done in; the others only pass on what they wait for.

use crate::orchestrate::plan::{Plan, PlanStepIndex, StepWork};

/// Steps that something is done in, each behind all that it waits for.
pub(super) struct VisibleSteps {
    pub steps: Vec<PlanStepIndex>,
    /// For each the positions of those that it waits for, directly or through steps between that
    /// do nothing.
    pub after: Vec<Vec<usize>>,
}

impl VisibleSteps {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut visible = Self { steps: Vec::new(), after: Vec::new() };
        // For each step of the plan what those behind it wait for.
        let mut fronts: Vec<Vec<usize>> = Vec::with_capacity(plan.steps.len());
        for id in plan.step_ids() {
            let step = plan.step(id);
            let waits = plan.after(id);
            let mut front: Vec<usize> =
                waits.iter().flat_map(|wait| &fronts[wait.index()]).copied().collect();
            front.sort_unstable();
            front.dedup();
            if !is_kept(step.is_shown, step.work) {
                fronts.push(front);
                continue;
            }
            fronts.push(vec![visible.steps.len()]);
            visible.steps.push(id);
            visible.after.push(front);
        }
        visible
    }
}

/// A turn stays, though nothing is done in it: all that comes waits for all that goes, or the other
/// way round, and without it each of the one for each of the other.
fn is_kept(is_shown: bool, work: StepWork) -> bool {
    is_shown || work == StepWork::Turn
}
