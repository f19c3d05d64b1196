//! Selects the steps of a plan that do something; hidden steps only pass on what they wait for.

use crate::orchestrate::plan::{Plan, PlanStepIndex, StepWork};

/// The steps that do something, each after all steps that it waits for.
pub(super) struct VisibleSteps {
    pub steps: Vec<PlanStepIndex>,
    /// For each step, the positions of the steps that it waits for, directly or through hidden
    /// steps.
    pub after: Vec<Vec<usize>>,
}

impl VisibleSteps {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut visible = Self { steps: Vec::new(), after: Vec::new() };
        // For each step of the plan, the visible steps that its successors wait for.
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

/// Whether a step is kept. A turn does nothing but is kept: all nodes that come wait there for all
/// that leave, or the reverse, and without it each would wait for each.
fn is_kept(is_shown: bool, work: StepWork) -> bool {
    is_shown || work == StepWork::Turn
}
