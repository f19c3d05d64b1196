//! Orchestrations: begins and ends changes, tells which steps are ready, and applies what is
//! reported of them.

mod carry;
mod claim;
mod document;
mod effect;
mod progress;

pub use claim::ClaimedStep;
pub use document::AppliedPlan;
pub(super) use document::PlanUnitIndex;
pub use effect::TargetModels;

use super::event::{Event, ReportOutcome};
use super::model::{InstanceModel, InstanceState, InstanceTarget, OpenOrchestration, StepStatus};
use super::reduce::ImpossibleEvent;
use super::unwritten::Unwritten;
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::plan::PartKind;
use crate::tosca::NodeState;
use document::{AppliedStep, PlanUnit};
use jiff::Timestamp;
use progress::PlanProgress;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The error for an event that cannot have happened. Everything was checked before, so this is a
/// mistake in the program.
pub(super) fn impossible(why: ImpossibleEvent) -> Diagnostic {
    Diagnostic::error(Code::UnknownElement, why.to_string())
}

/// Adds everything that a target defines, in the state `initial`.
pub(super) fn complete_model(
    record: &mut Unwritten<'_>,
    to: &InstanceModel,
) -> Result<(), ImpossibleEvent> {
    effect::complete(record, &TargetModels { to, from: None }, &|_| false)
}

/// Refuses to begin if another orchestration is open (I-36).
pub(crate) fn none_open(model: &InstanceModel) -> Result<(), Diagnostic> {
    let Some(open) = &model.orchestration else { return Ok(()) };
    let message = format!("{} is open", open_name(open));
    Err(Diagnostic::error(Code::OrchestrationOpen, message)
        .help("see what is left with `cuvee instance ready NAME`, or end it with `cuvee instance finish NAME`"))
}

/// The name of an orchestration in messages.
fn open_name(open: &OpenOrchestration) -> String {
    let of = match (&open.workflow, &open.plan) {
        (Some(workflow), None) => format!(" of the workflow `{workflow}`"),
        (_, Some(plan)) => format!(" of the plan `{}`", short(plan)),
        _ => String::new(),
    };
    format!(
        "the orchestration{of}, begun by `{}` at {}, revision {},",
        open.actor, open.time, open.id
    )
}

fn short(digest: &str) -> &str {
    let digest = digest.strip_prefix("sha256:").unwrap_or(digest);
    digest.get(..12).unwrap_or(digest)
}

/// The orchestration that is open.
pub(super) fn open_of(model: &InstanceModel) -> Result<&OpenOrchestration, Diagnostic> {
    model.orchestration.as_ref().ok_or_else(|| {
        Diagnostic::error(Code::NoOrchestration, "no orchestration is open")
            .help("begin one: `cuvee instance apply NAME PLAN`, or `cuvee instance begin NAME --workflow WORKFLOW`")
    })
}

/// Begins an orchestration that has no plan.
///
/// ```
/// use cuvee::deploy::instance::{InstanceModel, RecordOrigin, ReportOutcome, Unwritten, begin_workflow, finish_workflow};
/// let mut model = InstanceModel::default();
/// let mut record = Unwritten::new(&mut model, "2026-01-01T00:00:00Z", "ann", RecordOrigin::Client);
/// begin_workflow(&mut record, "backup")?;
/// assert_eq!(begin_workflow(&mut record, "backup").unwrap_err().code.as_str(), "orchestration-open");
/// finish_workflow(&mut record, ReportOutcome::Done)?;
/// assert_eq!(record.close(None).len(), 2);
/// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
/// ```
///
/// # Errors
/// `orchestration-open`
pub fn begin_workflow(record: &mut Unwritten<'_>, workflow: &str) -> Result<(), Diagnostic> {
    none_open(record.model())?;
    let workflow = Some(workflow.into());
    let event = Event::OrchestrationStarted { plan: None, workflow, target: None };
    record.add(event).map_err(impossible)
}

/// Ends the open orchestration of any workflow; steps that are not done stay as they are. If it has
/// a plan, [`Orchestration`] ends it when all is done.
///
/// # Errors
/// `no-orchestration`; `step-not-ready` if the plan would have to be done first.
pub fn finish_workflow(
    record: &mut Unwritten<'_>,
    outcome: ReportOutcome,
) -> Result<(), Diagnostic> {
    let open = open_of(record.model())?;
    if open.plan.is_some() && outcome == ReportOutcome::Done {
        let message =
            "an orchestration with a plan ends as done only when all steps of the plan are done";
        return Err(Diagnostic::error(Code::StepNotReady, message)
            .help("report the outcome of the steps, use `cuvee instance apply NAME --assume-done`, or end the orchestration with another outcome"));
    }
    if outcome != ReportOutcome::Done {
        give_up(record).map_err(impossible)?;
    }
    record.add(Event::OrchestrationEnded { outcome }).map_err(impossible)
}

/// Sets nodes to `error` of which somebody has begun to bring them, although no state says so.
fn give_up(record: &mut Unwritten<'_>) -> Result<(), ImpossibleEvent> {
    let model = record.model();
    let steps = model.orchestration.iter().flat_map(|open| &open.steps);
    let running = steps.filter(|(_, status)| **status == StepStatus::Running);
    let is_only_defined = |element: &str| {
        let node = element.strip_prefix("node.").and_then(|id| model.nodes.get(id));
        node.is_some_and(|node| node.state == InstanceState::default())
    };
    let begun: Vec<Arc<str>> = running
        .filter_map(|(step, _)| step.rsplit_once('/'))
        .filter(|(element, part)| *part == PartKind::Up.as_str() && is_only_defined(element))
        .map(|(element, _)| element.into())
        .collect();
    begun.into_iter().try_for_each(|entity| {
        let (from, to) = (InstanceState::default(), NodeState::Error.into());
        record.add(Event::State { entity, from, to, skipped: Vec::new(), forced: false })
    })
}

/// A step or part that is ready.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ReadyStep {
    /// The identifier of the step, or of a part that has nothing to run.
    pub step: Arc<str>,
    /// The part that contains the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Arc<str>>,
    /// Its status, if something was reported of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<StepStatus>,
}

/// A plan that has begun, with its document's digest and the models of its targets.
#[derive(Clone, Copy, Debug)]
pub struct BegunPlan<'p> {
    /// The digest under which its document is kept.
    pub kept: &'p str,
    /// The plan.
    pub plan: &'p AppliedPlan,
    /// The models of the targets that the plan leads between.
    pub models: TargetModels<'p>,
}

impl BegunPlan<'_> {
    /// Whether the open orchestration carries out this plan.
    pub fn is_open_in(&self, model: &InstanceModel) -> bool {
        let open = model.orchestration.as_ref().and_then(|open| open.plan.as_ref());
        open.is_some_and(|kept| **kept == *self.kept)
    }
}

/// The error that another plan has begun meanwhile.
pub(crate) fn another_plan() -> Diagnostic {
    Diagnostic::error(Code::OrchestrationOpen, "the orchestration of another plan has begun")
}

/// A plan while it is carried out: which units wait for which, and how far they are.
#[derive(Debug)]
pub struct Orchestration<'p> {
    plan: &'p AppliedPlan,
    models: TargetModels<'p>,
    /// The target of the instance after it; `None` if the instance is to be empty.
    target: Option<InstanceTarget>,
    progress: PlanProgress<'p>,
}

impl<'p> Orchestration<'p> {
    /// Begins to carry out a plan. `kept` is the digest under which its document is kept. Units
    /// that have nothing to run are done at once.
    ///
    /// # Errors
    /// `orchestration-open`; `stale-plan` if the plan was made for another instance or another
    /// structure of this one; `invalid-plan` if the given target is not that of the plan.
    pub fn begin(
        record: &mut Unwritten<'_>,
        plan: &'p AppliedPlan,
        kept: &str,
        target: Option<&InstanceTarget>,
        models: TargetModels<'p>,
    ) -> Result<Self, Diagnostic> {
        none_open(record.model())?;
        check_base(record.model(), plan)?;
        let digest = |target: &InstanceTarget| Arc::clone(&target.digest);
        if plan.target.as_ref().map(|target| Arc::clone(&target.digest)) != target.map(digest) {
            let message = "the plan leads to another target than the one that was given with it";
            return Err(Diagnostic::error(Code::InvalidPlan, message));
        }
        let started = Event::OrchestrationStarted {
            plan: Some(kept.into()),
            workflow: Some(Arc::clone(&plan.workflow)),
            target: target.cloned(),
        };
        record.add(started).map_err(impossible)?;
        for (id, to) in &plan.moved {
            let (id, to) = (Arc::clone(id), Arc::clone(to));
            if record.model().nodes.contains_key(&id) {
                record.add(Event::NodeRenamed { id, to }).map_err(impossible)?;
            }
        }
        let mut orchestration = Self::of(record.model(), plan, models);
        orchestration.pass(record)?;
        Ok(orchestration)
    }

    /// Resumes a plan that has begun.
    ///
    /// # Errors
    /// `no-orchestration`
    pub fn resume(
        model: &InstanceModel,
        plan: &'p AppliedPlan,
        models: TargetModels<'p>,
    ) -> Result<Self, Diagnostic> {
        open_of(model)?;
        Ok(Self::of(model, plan, models))
    }

    fn of(model: &InstanceModel, plan: &'p AppliedPlan, models: TargetModels<'p>) -> Self {
        let open = model.orchestration.as_ref();
        let mut progress = PlanProgress::new(plan);
        for unit in (0..plan.units.len()).map(PlanUnitIndex::new) {
            let Some(status) = open.and_then(|open| open.steps.get(&plan.unit(unit).id)) else {
                continue;
            };
            progress.begin(unit);
            match status {
                StepStatus::Done => drop(progress.end(unit)),
                StepStatus::Failed => drop(progress.fail(unit)),
                StepStatus::Running | StepStatus::Interrupted => {}
            }
        }
        Self { plan, models, target: open.and_then(|open| open.target.clone()), progress }
    }

    /// Computes the progress of the plan again, after events were taken back.
    pub fn recount(&mut self, model: &InstanceModel) {
        let target = self.target.take();
        *self = Self { target, ..Self::of(model, self.plan, self.models) };
    }

    /// The plan.
    pub fn plan(&self) -> &'p AppliedPlan {
        self.plan
    }

    /// The steps that are ready, in the order of the plan, and ready parts that have no step to
    /// run. Steps that somebody has claimed are left out until their leases are over.
    pub fn ready(&self, model: &InstanceModel, now: Timestamp) -> Vec<ReadyStep> {
        self.each_ready(model, now).collect()
    }

    /// As [`Orchestration::ready`], as far as the caller asks for more.
    pub(super) fn each_ready<'o>(
        &'o self,
        model: &'o InstanceModel,
        now: Timestamp,
    ) -> impl Iterator<Item = ReadyStep> + 'o {
        let units = (0..self.plan.units.len()).map(PlanUnitIndex::new);
        let ready = units.filter(|&unit| self.progress.is_ready(unit));
        ready.flat_map(move |unit| self.ready_of(self.plan.unit(unit), model, now))
    }

    /// What can be done of a unit that is ready.
    fn ready_of(&self, unit: &PlanUnit, model: &InstanceModel, now: Timestamp) -> Vec<ReadyStep> {
        let is_claimed = |id: &str| model.claim_of(id).is_some_and(|claim| !claim.is_over(now));
        let PlanUnit { id, steps, .. } = unit;
        if is_claimed(id) {
            return Vec::new();
        }
        let is_next = |at: &usize| {
            let step = &self.plan.steps[*at];
            step.is_run && !is_done(model, step) && self.missing(model, *at).is_none()
        };
        let next: Vec<_> = steps.clone().filter(is_next).collect();
        let status = Self::status_at(model, id, now);
        if next.is_empty() {
            return vec![ReadyStep { step: Arc::clone(id), part: None, status }];
        }
        // Whoever claimed the whole part may have begun any step of it.
        let of_part = status.filter(|_| model.claim_of(id).is_some());
        let next = next.into_iter().map(|at| &self.plan.steps[at].id);
        let ready = next.filter(|step| !is_claimed(step)).map(|step| ReadyStep {
            step: Arc::clone(step),
            part: (step != id).then(|| Arc::clone(id)),
            status: of_part.or_else(|| Self::status_at(model, step, now)),
        });
        ready.collect()
    }

    /// The step of the same unit that a step still waits for. A step that runs nothing is done when
    /// the steps before it are.
    fn missing(&self, model: &InstanceModel, step: usize) -> Option<&'p AppliedStep> {
        let mut open = self.plan.steps[step].after.clone();
        let mut seen = FxHashSet::default();
        while let Some(before) = open.pop() {
            let before = &self.plan.steps[before];
            if is_done(model, before) || !seen.insert(&before.id) {
                continue;
            }
            if before.is_run {
                return Some(before);
            }
            open.extend(&before.after);
        }
        None
    }

    /// The reported status of a step or part.
    fn status(model: &InstanceModel, id: &str) -> Option<StepStatus> {
        model.orchestration.as_ref()?.steps.get(id).copied()
    }
}

/// Whether a step was reported to be done.
fn is_done(model: &InstanceModel, step: &AppliedStep) -> bool {
    Orchestration::status(model, &step.id) == Some(StepStatus::Done)
}

const PLAN_ANEW: &str = "plan anew: `cuvee instance plan`";

/// Checks that a plan was made for an instance.
///
/// # Errors
/// `stale-plan`
pub(crate) fn check_lineage(model: &InstanceModel, plan: &AppliedPlan) -> Result<(), Diagnostic> {
    let base = &plan.base;
    if base.lineage == model.lineage {
        return Ok(());
    }
    let message =
        format!("the plan was made for another instance, which was called `{}`", base.instance);
    Err(Diagnostic::error(Code::StalePlan, message).help(PLAN_ANEW))
}

fn check_base(model: &InstanceModel, plan: &AppliedPlan) -> Result<(), Diagnostic> {
    check_lineage(model, plan)?;
    let base = &plan.base;
    if base.structure != model.structure {
        let message = format!(
            "the instance has changed since the plan was made: its structure is {} and was {} then",
            model.structure, base.structure
        );
        return Err(Diagnostic::error(Code::StalePlan, message).help(PLAN_ANEW));
    }
    Ok(())
}
