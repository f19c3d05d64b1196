//! Runs plans: calls the scripts and playbooks of operations, here and on hosts, hands values from
//! one to the next, and records each step before it begins and when it has ended.
//!
//! This module is not stable: it may change with any version.
//!
//! [`InstanceOperator`] is the entry point. What runs processes is behind [`Executor`].

mod ask;
mod carry;
mod check;
mod event;
mod files;
mod handed;
mod handover;
mod kinds;
mod lease;
mod local;
mod opera;
mod orchestrator;
mod orphans;
mod output;
mod outputs;
mod place;
mod plan;
mod preflight;
mod process;
mod reports;
mod runner;
mod settings;
mod ssh;
mod task;
mod unfurl;
mod untaken;
mod values;
mod workshop;

pub use ask::ask;
pub use check::{CHECK, CheckedNode, HOW, InstanceCheck, checkable};
pub use event::{RunEvent, RunSummary, StepFailure};
pub use handover::HandedVariant;
pub use lease::Lease;
pub use local::LocalExecutor;
pub use orchestrator::Orchestrator;
pub use place::{HostAddress, Provider, Providers, TaskPlace};
pub use process::end_group;
pub use runner::{Protocol, Runner, Runners};
pub use settings::RunSettings;
pub use task::{Executor, Signal, Task, TaskEnd, TaskFailure, TaskOutputs};

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::orchestrate::instance::{InstanceModel, InstanceReport, OsStore, SecretValues};
use crate::resolver::{RecordAuthorNow, StoredInstance, TakenReports};
use crate::topology::sensitive::SENSITIVE;
use crate::tosca::v2_0;
use carry::Carrying;
use cuvee_text::answer::Failure;
use cuvee_text::yaml::write_flow;
use files::KeptFiles;
use jiff::Timestamp;
use kinds::Kinds;
use lease::LeaseTaker;
use plan::RunPlan;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use values::{RunSecrets, Values};
use workshop::{Workshop, absolute};

/// Runs plans of one instance.
pub struct InstanceOperator<'o> {
    /// The store.
    pub store: &'o OsStore,
    /// The name of the instance.
    pub instance: &'o str,
    /// How plans are run.
    pub settings: &'o RunSettings,
    /// The author and the time of records.
    pub author: &'o dyn Fn() -> RecordAuthorNow,
    /// The secrets that the caller knows.
    pub secrets: SecretValues,
    /// The directory of the run, which is gone afterwards.
    pub directory: PathBuf,
}

/// The task that a step would run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlannedTask {
    /// The step.
    pub step: Arc<str>,
    /// The place where it would run; `None` if that is known only once other steps have run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The command.
    pub command: String,
    /// Its variables, with secrets hidden, and with functions as they are written where they are
    /// evaluated when the step begins.
    pub variables: Vec<(Arc<str>, String)>,
}

/// The two ends of the channel for the signals of a run.
pub type Signals = (SyncSender<Signal>, Receiver<Signal>);

/// A channel for the signals of a run. Whoever writes faster than lines are shown has to wait.
pub fn signals() -> Signals {
    sync_channel(task::WAITING)
}

impl InstanceOperator<'_> {
    /// Takes the lease of the instance: nobody else runs it until the lease is dropped.
    ///
    /// # Errors
    /// `instance-running`, `file`
    pub fn lease(&self) -> Result<Lease, Diagnostic> {
        let actor = (self.author)().holder.actor;
        let taker = LeaseTaker { actor: &actor, directory: &self.directory, now: Timestamp::now };
        Lease::take(&self.store.directory_of(self.instance), self.instance, &taker)
    }

    /// Checks a plan before it begins: all that would stop it and can be known. Gives what each
    /// step would run.
    ///
    /// # Errors
    /// All problems, each with the steps that it concerns: `file`, `no-runner`, `missing-program`,
    /// `no-provider`, `unreachable-host`, `missing-secret`.
    pub fn check(
        &self,
        instance: &StoredInstance<'_>,
        document: &str,
        executor: &mut dyn Executor,
    ) -> Result<Vec<PlannedTask>, Failure> {
        self.with_workshop(instance, RunPlan::read(document)?, |workshop| {
            let model = instance.model();
            workshop.check_named(model)?;
            let mut reaches = |host: &HostAddress| {
                executor.reaches(host).map_err(|why| {
                    let error = Diagnostic::error(Code::UnreachableHost, why.message);
                    error.help_opt(why.help)
                })
            };
            let problems = preflight::check(workshop, model, &mut reaches);
            if !problems.is_empty() {
                return Err(Failure { diagnostics: problems, sources: Default::default() });
            }
            Ok(workshop.remaining(model).map(|step| workshop.planned(step, model)).collect())
        })
    }

    /// The variant that was handed to another orchestrator, and that it has not undeployed yet.
    ///
    /// # Errors
    /// `file`
    pub fn handed(&self) -> Result<Option<HandedVariant>, Diagnostic> {
        let directory = self.store.directory_of(self.instance);
        HandedVariant::find(&directory).map_err(|why| {
            let message = format!("cannot read `{}`: {why}", directory.display());
            Diagnostic::error(Code::File, message)
        })
    }

    /// What another orchestrator does not take of a plan: errors where it refuses something,
    /// warnings where it leaves something out.
    ///
    /// # Errors
    /// Those of reading.
    pub fn not_taken(
        &self,
        instance: &StoredInstance<'_>,
        document: &str,
        by: Orchestrator,
    ) -> Result<Vec<Diagnostic>, Failure> {
        self.with_workshop(instance, RunPlan::read(document)?, |workshop| Ok(workshop.untaken(by)))
    }

    /// Carries out the plan that was begun, until it is done, fails or is stopped.
    ///
    /// # Errors
    /// `no-orchestration`, and those of reading and writing. The failure of a step is none: the
    /// summary tells it.
    pub fn carry_out(
        &self,
        instance: &mut StoredInstance<'_>,
        executor: &mut dyn Executor,
        signals: Signals,
        tell: &mut dyn FnMut(RunEvent),
    ) -> Result<RunSummary, Failure> {
        let plan = RunPlan::read(&instance.plan_document()?)?;
        // Recording needs the instance, and what is prepared only its model.
        let reader = StoredInstance::open(self.store, self.instance)?;
        self.with_workshop(&reader, plan, |workshop| {
            let model = reader.model();
            let left = workshop.left(model);
            let revision = model.orchestration.as_ref().map_or(0, |open| open.id);
            tell(RunEvent::Begun { instance: self.instance.to_owned(), revision, steps: left });
            let author = self.author;
            let summary = instance.carry_out(TakenReports::default(), |record| {
                Carrying { workshop, executor, signals, author, tell }.run(left, record)
            })?;
            tell(RunEvent::Ended(summary.clone()));
            Ok(summary)
        })
    }

    /// Records the present values of the outputs of the topology where they are new. Gives a warning
    /// for each that has no value.
    ///
    /// # Errors
    /// Those of reading and writing.
    pub fn outputs(&self, instance: &mut StoredInstance<'_>) -> Result<Vec<Diagnostic>, Failure> {
        let digest = Arc::clone(&instance.model().target.digest);
        if digest.is_empty() {
            return Ok(Vec::new());
        }
        let target = instance.target(&digest)?;
        let template = v2_0::parsed(target.concrete.as_str())?;
        let to = &target.model;
        let secrets = RunSecrets::of(instance.seal()?, self.secrets.clone());
        let (model, secrets) = (instance.model(), &secrets);
        let found = instance.with_types_of(&digest, |types, sources, forms| {
            let kinds = &Kinds::of(types, sources);
            let values = Values { model, to, kinds, forms, secrets, artifacts: &|_, _| None };
            values.outputs(template.root())
        })?;
        let (mut outputs, mut lacking) = (Vec::new(), Vec::new());
        for (name, value) in found {
            match value {
                Ok(value) => outputs.push((name, value)),
                // What was known once, such as a secret, may not be known to this run.
                Err(_) if model.outputs.contains_key(&name) => {}
                Err(why) => lacking.push(why.with_severity(Severity::Warning)),
            }
        }
        if !outputs.is_empty() {
            let report = InstanceReport { outputs, ..InstanceReport::default() };
            // What the template computes is kept, whether or not it fits its type.
            let taking = TakenReports { force: true, ..TakenReports::default() };
            instance.record(&report, &(self.author)().author(), taking)?;
        }
        Ok(lacking)
    }

    fn with_workshop<T>(
        &self,
        instance: &StoredInstance<'_>,
        plan: RunPlan,
        act: impl FnOnce(&Workshop<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let model = instance.model();
        let present = Arc::clone(&model.target.digest);
        let wanted = plan.target().cloned().unwrap_or_else(|| Arc::clone(&present));
        let of_nodes = model.nodes.values().filter_map(|node| node.target.clone());
        let mut files: FxHashMap<Arc<str>, KeptFiles> = FxHashMap::default();
        let mut to = Arc::<InstanceModel>::default();
        let mut asked = BTreeSet::new();
        for digest in [Arc::clone(&wanted), present].into_iter().chain(of_nodes) {
            if digest.is_empty() || files.contains_key(&digest) {
                continue;
            }
            let target = instance.target(&digest)?;
            target.asked_outputs(&mut asked);
            if digest == wanted {
                to = Arc::clone(&target.model);
            }
            let template = match plan.template().filter(|_| digest == wanted) {
                Some(template) => template,
                None => &*model.target.template,
            };
            files.insert(digest, KeptFiles::of(target, Path::new(template))?);
        }
        let secrets = RunSecrets::of(instance.seal()?, self.secrets.clone());
        let revision = model.orchestration.as_ref().map_or(0, |open| open.id);
        let home = self.store.directory_of(self.instance);
        instance.with_types_of(&wanted, |types, sources, forms| {
            act(&Workshop {
                plan,
                instance: self.instance,
                settings: self.settings,
                kinds: &Kinds::of(types, sources),
                forms,
                secrets: &secrets,
                files,
                to,
                asked,
                directory: self.directory.clone(),
                logs: home.join("runs").join(revision.to_string()),
                home: absolute(&home),
                made: Cell::new(0),
            })
        })?
    }
}

impl Workshop<'_> {
    /// The task that a step would run.
    fn planned(&self, step: &plan::RunStep, model: &InstanceModel) -> PlannedTask {
        let said = step.implementation.clone().unwrap_or_default();
        let by = step.orchestrator();
        let command = match self.implementation(step, &said, model) {
            Ok(found) => {
                let words = found.runner.command.join(" ");
                format!("{words} {}", found.path.display())
            }
            Err(_) if by.is_some() => self.handover_command(),
            Err(_) => {
                let workflow = step.workflow.as_deref().unwrap_or("deploy");
                match self.provider(step.node().unwrap_or_default(), model) {
                    Some(Provider::Command(path)) => {
                        format!("{} {}", path.display(), workshop::verb(step))
                    }
                    _ => format!("({workflow} by the provider)"),
                }
            }
        };
        let variables = step.inputs.iter().map(|(name, input)| {
            let value = match &input.value {
                _ if input.sealed.is_some() && input.when.is_none() => SENSITIVE.to_owned(),
                value if input.when.is_some() => write_flow(value),
                value => values::as_text(value),
            };
            (Arc::clone(name), value)
        });
        let place = self.place(step, model).ok().map(|place| place.to_string());
        PlannedTask { step: Arc::clone(&step.id), place, command, variables: variables.collect() }
    }
}
