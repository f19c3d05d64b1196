//! Finds out what is really there: runs the operations and programs that check nodes, and compares
//! what they say with the log.

use super::carry::failed_step;
use super::event::StepFailure;
use super::plan::{RunPlan, RunStep};
use super::runner::Protocol;
use super::task::{Executor, Signal, Task, TaskEnd, TaskFailure};
use super::workshop::{Workshop, absolute};
use super::{InstanceOperator, Signals};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::orchestrate::instance::{
    InstanceModel, InstanceReport, InstanceState, NodeInstance, diff_models,
};
use crate::resolver::{StoredInstance, TakenReports};
use crate::topology::diff::Diff;
use crate::tosca::NodeState;
use cuvee_text::answer::Failure;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The operation that tells whether a node runs.
pub const CHECK: &str = "check";

/// The exit code by which a check says that its node does not run.
const NOT_RUNNING: i32 = 1;
/// The exit code of a playbook of which a task failed.
const TASK_FAILED: i32 = 2;

/// What is really there of an instance, beside what its log says.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct InstanceCheck {
    /// The nodes that were checked, by name.
    pub checked: Vec<CheckedNode>,
    /// The nodes that nothing checks, and those that the log does not take for running.
    pub unchecked: Vec<Arc<str>>,
    /// What differs from the log.
    #[serde(flatten)]
    pub drift: Diff,
    /// Whether somebody stopped the check; the rest is not known then.
    pub stopped: bool,
    /// What records the drift.
    #[serde(skip)]
    pub report: InstanceReport,
}

/// What the check of a node says.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CheckedNode {
    /// The node.
    pub node: Arc<str>,
    /// Whether it runs; absent if its check could not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<bool>,
    /// What went wrong with the check itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<StepFailure>,
    /// Notes, such as of outputs that nothing declares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(skip)]
    reports: Vec<InstanceReport>,
}

/// The names of nodes of a model.
type NodeIds<'m> = BTreeSet<&'m Arc<str>>;

/// The nodes of an instance that can be checked: those of these names, or all. The log takes them
/// for running, or for failed since they ran.
///
/// # Errors
/// `unknown-element` if there is no node of a name.
pub fn checkable<'m>(
    model: &'m InstanceModel,
    names: &[String],
) -> Result<(NodeIds<'m>, NodeIds<'m>), Diagnostic> {
    let of_name = |name: &String| {
        let id = name.strip_prefix("node.").unwrap_or(name);
        model.nodes.get_key_value(id).ok_or_else(|| {
            let message = format!("the instance has no node `{id}`");
            let known = model.nodes.keys().map(|id| &**id);
            Diagnostic::error(Code::UnknownElement, message).help_opt(did_you_mean(id, known))
        })
    };
    let meant: Vec<_> = match names {
        [] => model.nodes.iter().collect(),
        names => names.iter().map(of_name).collect::<Result<_, _>>()?,
    };
    let (ran, others): (Vec<_>, Vec<_>) = meant.into_iter().partition(|(_, node)| has_run(node));
    let ids = |nodes: Vec<(&'m Arc<str>, _)>| nodes.into_iter().map(|(id, _)| id).collect();
    Ok((ids(ran), ids(others)))
}

fn has_run(node: &NodeInstance) -> bool {
    match &node.state {
        InstanceState::Known(NodeState::Started) | InstanceState::Other(_) => true,
        state => {
            is_error(state) && node.failed_in == Some(InstanceState::Known(NodeState::Started))
        }
    }
}

fn is_error(state: &InstanceState) -> bool {
    *state == InstanceState::Known(NodeState::Error)
}

impl InstanceOperator<'_> {
    /// Finds out what is really there of the nodes of these names, or of all. `document` is a plan
    /// that calls the operation [`CHECK`] of nodes.
    ///
    /// # Errors
    /// Those of reading. What goes wrong with a check is in the answer.
    pub fn look(
        &self,
        instance: &mut StoredInstance<'_>,
        document: &str,
        names: &[String],
        executor: &mut dyn Executor,
        signals: Signals,
    ) -> Result<InstanceCheck, Failure> {
        let (mut checks, mut unchecked) = (CheckRun::default(), Vec::new());
        self.with_workshop(instance, RunPlan::read(document)?, |workshop| {
            let model = instance.model();
            workshop.check_named(model)?;
            let (ran, others) = checkable(model, names)?;
            unchecked.extend(others.into_iter().cloned());
            let calls = workshop.plan.steps.iter().filter(|step| step.is_run());
            let calls: FxHashMap<_, _> = calls.map(|step| (step.node(), step)).collect();
            let mut steps = Vec::new();
            for node in ran {
                // What the caller names is run in place of the operation.
                let probe = workshop.named_for(&workshop.settings.probes, node, model);
                match (probe, calls.get(&Some(&**node))) {
                    (Some(_), _) => steps.push(Cow::Owned(RunStep::probing(node))),
                    (None, Some(step)) => steps.push(Cow::Borrowed(*step)),
                    (None, None) => unchecked.push(Arc::clone(node)),
                }
            }
            checks.run(&steps, workshop, model, executor, &signals);
            Ok(())
        })?;
        unchecked.sort();
        let CheckRun { mut checked, stopped } = checks;
        checked.sort_by(|one, other| one.node.cmp(&other.node));
        let (drift, report) = self.drift(instance, &mut checked)?;
        Ok(InstanceCheck { checked, unchecked, drift, stopped, report })
    }

    /// What differs from the log, and the report of it. What a check gave and its node cannot have
    /// makes the check fail.
    fn drift(
        &self,
        instance: &mut StoredInstance<'_>,
        checked: &mut [CheckedNode],
    ) -> Result<(Diff, InstanceReport), Failure> {
        let whole = |node: &CheckedNode| {
            let batch = node.reports.clone();
            InstanceReport { batch, ..InstanceReport::default() }
        };
        let reports: Vec<_> = checked.iter().map(whole).collect();
        let author = (self.author)();
        let (found, refused) = instance.supposing(&reports, &author.author(), HOW)?;
        for (node, why) in checked.iter_mut().zip(&refused) {
            let Some(why) = why else { continue };
            let why = TaskFailure::new(format!("what it gave was refused: {}", why.message));
            node.fails(&why, None);
        }
        let drift = diff_models(instance.model(), &found);
        let differing: BTreeSet<_> = drift.changes.iter().map(|change| &*change.element).collect();
        let mut report = InstanceReport::default();
        for ((node, of_node), refused) in checked.iter().zip(reports).zip(refused) {
            if refused.is_none() && differing.contains(&*format!("node.{}", node.node)) {
                report.batch.push(of_node);
            }
        }
        Ok((drift, report))
    }
}

/// How drift is recorded: outside of an orchestration, no node comes from `started` to `error`.
pub const HOW: TakenReports = TakenReports { undeclared: false, force: true };

/// Checks that run side by side.
#[derive(Default)]
struct CheckRun {
    checked: Vec<CheckedNode>,
    stopped: bool,
}

impl CheckRun {
    fn run(
        &mut self,
        steps: &[Cow<'_, RunStep>],
        workshop: &Workshop<'_>,
        model: &InstanceModel,
        executor: &mut dyn Executor,
        signals: &Signals,
    ) {
        let by_id: FxHashMap<_, _> = steps.iter().map(|step| (&*step.id, step)).collect();
        let (mut waiting, mut running) = (steps.iter(), 0);
        loop {
            while running < workshop.settings.jobs && !self.stopped {
                let Some(step) = waiting.next() else { break };
                match workshop.check_task(step, model) {
                    Ok(task) => {
                        executor.start(task, &signals.0);
                        running += 1;
                    }
                    Err(why) => {
                        let mut checked = CheckedNode::of(step);
                        checked.fails(&TaskFailure::from(why), None);
                        self.checked.push(checked);
                    }
                }
            }
            if running == 0 {
                break;
            }
            match signals.1.recv() {
                Ok(Signal::Ended(end)) => {
                    running -= 1;
                    let step = by_id.get(&*end.step);
                    self.checked.extend(step.map(|step| workshop.checked(step, *end, model)));
                }
                Ok(Signal::Stop) => {
                    self.stopped = true;
                    executor.stop();
                }
                Ok(Signal::Said(..)) => {}
                Err(_) => break,
            }
        }
    }
}

impl CheckedNode {
    fn of(step: &RunStep) -> Self {
        let (runs, failure, notes, reports) = Default::default();
        Self { node: step.node().unwrap_or_default().into(), runs, failure, notes, reports }
    }

    /// Says that the check itself failed.
    fn fails(&mut self, why: &TaskFailure, end: Option<&TaskEnd>) {
        let step = Arc::clone(&self.node);
        let took = end.map(|end| end.took).unwrap_or_default();
        let tail = end.map(|end| end.tail.clone()).unwrap_or_default();
        // Logs of checks are in the directory of the run, which is gone afterwards.
        self.failure = Some(failed_step(step, why, took, tail, None));
        self.runs = None;
        self.reports.clear();
    }

    /// Says in which state the node is, if that differs from what the log says.
    fn state(&mut self, runs: bool, logged: &NodeInstance) {
        self.runs = Some(runs);
        let state = match (runs, is_error(&logged.state)) {
            (false, false) => NodeState::Error,
            (true, true) => NodeState::Started,
            _ => return,
        };
        let (node, state) = (Some(Arc::clone(&self.node)), Some(state.as_str().into()));
        self.reports.push(InstanceReport { node, state, ..InstanceReport::default() });
    }
}

impl Workshop<'_> {
    fn check_task(&self, step: &RunStep, model: &InstanceModel) -> Result<Task, Diagnostic> {
        let node = step.node().unwrap_or_default();
        let probe = self.named_for(&self.settings.probes, node, model);
        let mut task = match probe {
            Some(command) => {
                let mut command = command.clone();
                // A program that is named by its path is beside the caller, not beside the task.
                if let Some(program) = command.first_mut().filter(|it| it.contains('/')) {
                    *program = absolute(Path::new(program)).to_string_lossy().into_owned();
                }
                *self.told(step, (model.nodes.get(node), true), 1, command)?
            }
            None => self.called(step, model, 1)?,
        };
        // Asking leaves nothing in the store.
        task.log = task.directory.with_extension("log");
        Ok(task)
    }

    /// What the check of a node says.
    fn checked(&self, step: &RunStep, end: TaskEnd, model: &InstanceModel) -> CheckedNode {
        let mut checked = CheckedNode::of(step);
        checked.notes.clone_from(&end.notes);
        let Some(logged) = model.nodes.get(&checked.node) else { return checked };
        match &end.outcome {
            Ok(outputs) => {
                checked.state(true, logged);
                let (reports, notes) = self.given(step, outputs.clone());
                checked.reports.extend(reports);
                checked.notes.extend(notes);
            }
            Err(why) if why.exit_code == Some(self.denial(step, model)) => {
                checked.state(false, logged)
            }
            Err(why) => checked.fails(why, Some(&end)),
        }
        checked
    }

    /// The exit code by which a step says that its node does not run. A playbook cannot choose
    /// one, so a failed task of it says so.
    fn denial(&self, step: &RunStep, model: &InstanceModel) -> i32 {
        let said = step.implementation.clone().unwrap_or_default();
        let found = self.implementation(step, &said, model);
        let is_playbook = found.is_ok_and(|found| found.runner.protocol == Protocol::Ansible);
        if is_playbook { TASK_FAILED } else { NOT_RUNNING }
    }
}
