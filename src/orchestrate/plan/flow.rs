//! The flow of a plan, along which a simulation runs: which steps follow a step that succeeds, and
//! which handle one that fails.

use super::model::{Plan, PlanStepIndex, StepWork};
use rustc_hash::{FxHashMap, FxHashSet};

/// The steps of a plan, by the steps that they wait for.
#[derive(Default)]
pub(crate) struct Flow {
    /// How many steps each one waits for.
    pub(super) waits: Vec<u32>,
    /// The followers of all steps, step by step.
    pub(super) followers: Vec<PlanStepIndex>,
    /// The end of each step's followers in `followers`.
    ends: Vec<u32>,
    /// The first steps of each written step that handles failures.
    entries: FxHashMap<u32, Vec<PlanStepIndex>>,
}

impl Flow {
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut flow = Self::default();
        let mut counts = vec![0u32; plan.steps.len()];
        for id in plan.step_ids() {
            let waits = plan.after(id);
            waits.iter().for_each(|wait| counts[wait.index()] += 1);
            flow.waits.push(waits.len() as u32);
        }
        let mut end = 0;
        let starts = counts.iter().map(|count| {
            end += count;
            end - count
        });
        // Filling has moved each start to the end of its range.
        flow.ends = starts.collect();
        flow.followers = vec![PlanStepIndex::new(0); end as usize];
        for id in plan.step_ids() {
            for wait in plan.after(id) {
                let end = &mut flow.ends[wait.index()];
                flow.followers[*end as usize] = id;
                *end += 1;
            }
        }
        flow.entries = first_of_handlers(plan);
        flow
    }

    /// The range of a step's followers in `followers`.
    pub(crate) fn followers_of(&self, id: PlanStepIndex) -> std::ops::Range<usize> {
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[id.index()] as usize
    }

    /// The first steps of a failure handler.
    pub(crate) fn entries(&self, handler: u32) -> &[PlanStepIndex] {
        self.entries.get(&handler).map_or(&[], Vec::as_slice)
    }

    /// The written steps that handle the failure of a step: those that its own written step names,
    /// and those that the steps around its inlined workflow name.
    pub(crate) fn handlers(plan: &Plan, id: PlanStepIndex) -> Vec<u32> {
        let written = stands_for(plan, id);
        written.flat_map(|it| &plan.workflow_steps[it as usize].on_failure).copied().collect()
    }
}

/// For each written step that handles failures, its first steps.
fn first_of_handlers(plan: &Plan) -> FxHashMap<u32, Vec<PlanStepIndex>> {
    let mut entries: FxHashMap<_, Vec<_>> = FxHashMap::default();
    let written = &plan.workflow_steps;
    let handlers: FxHashSet<_> = written.iter().flat_map(|step| &step.on_failure).collect();
    if handlers.is_empty() {
        return entries;
    }
    for id in plan.step_ids() {
        // A handler inside an inlined workflow is not a first step of the handler that inlines it.
        let Some(handler) = stands_for(plan, id).find(|it| handlers.contains(it)) else {
            continue;
        };
        let is_within = |wait: &PlanStepIndex| stands_for(plan, *wait).any(|it| it == handler);
        if !plan.after(id).iter().any(is_within) {
            entries.entry(handler).or_default().push(id);
        }
    }
    entries
}

/// For each first step of a failure handler, the written steps that it handles.
pub(crate) fn handled_steps(plan: &Plan) -> FxHashMap<PlanStepIndex, Vec<u32>> {
    let entries = first_of_handlers(plan);
    let mut handled: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for (written, step) in (0..).zip(&plan.workflow_steps) {
        for id in step.on_failure.iter().filter_map(|handler| entries.get(handler)).flatten() {
            handled.entry(*id).or_default().push(written);
        }
    }
    handled
}

/// Whether the steps after this one go on even if it fails. They do in `undeploy`: nodes are
/// removed whatever happens.
pub(crate) fn is_tolerant(plan: &Plan, id: PlanStepIndex) -> bool {
    let scope = plan.scopes[plan.step(id).scope.index()].trim_end_matches('/');
    let inlined = scope.rsplit('/').next().filter(|name| !name.is_empty());
    matches!(inlined.unwrap_or(&plan.workflow), "undeploy" | "uninstall")
}

/// The written step that a step belongs to, and the written steps around it that inline its
/// workflow.
fn stands_for(plan: &Plan, id: PlanStepIndex) -> impl Iterator<Item = u32> {
    let step = plan.step(id);
    let mut at = plan.scope_owners[step.scope.index()];
    let outer = std::iter::from_fn(move || {
        let (scope, written) = at?;
        at = plan.scope_owners[scope.index()];
        Some(written)
    });
    step.activity.map(|(written, _)| written).into_iter().chain(outer)
}

/// Whether the second step only completes the first one: it is a further activity of the same
/// written step, or the state that has been reached.
pub(super) fn completes(plan: &Plan, before: PlanStepIndex, id: PlanStepIndex) -> bool {
    let (before, step) = (plan.step(before), plan.step(id));
    if let Some(((before, _), (after, _))) = before.activity.zip(step.activity) {
        return before == after;
    }
    let is_reached = match step.work {
        StepWork::State(state) => !state.is_transitional(),
        StepWork::Stopped | StepWork::Deleted | StepWork::OtherState(_) => true,
        _ => false,
    };
    is_reached && before.work.state().is_none() && before.element == step.element
}
