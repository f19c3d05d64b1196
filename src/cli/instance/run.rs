//! Runs `cuvee instance run`.

use super::InstanceWriting;
use super::init::deploying;
use super::next::NextCommands;
use super::progress::RunProgress;
use super::{adapt, interrupt};
use crate::cli::args::instance::{InterruptedFormat, RunInstanceArgs};
use crate::cli::args::{ListFormat, PlanFormat};
use crate::cli::plan::{ShownPlan, drawn, order};
use crate::cli::read::ReadFiles;
use crate::cli::reporter::Reporter;
use crate::cli::stored::{directory, store};
use crate::cli::{Outcome, config, output, rejected, select, watch};
use cuvee::deploy::instance::{
    ByName, InstanceModel, InstancePlanQuery, InstanceReport, InstanceSettings, InstanceState,
    OsStore, RecordAuthorNow, RecordOrigin, ReportOutcome, SecretValues, StepStatus,
    StoredInstance, TakenReports, instance_names, plan_instance,
};
use cuvee::deploy::plan::{ChangeClass, Plan};
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::explore::Answer;
use cuvee::operate::{
    InstanceOperator, Lease, LocalExecutor, PlannedTask, RunSettings, RunSummary, signals,
};
use cuvee::parts::yaml::write_flow;
use cuvee::source::SourceMap;
use cuvee::source::value::Value;
use cuvee::{Failure, Resolver};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tempfile::TempDir;

/// The exit code where somebody has to be asked and nobody is there.
pub(super) const NOBODY: u8 = 2;

/// Deploys a variant, or turns what is deployed into it.
pub(super) fn run(args: &RunInstanceArgs, reporter: &Reporter) -> Outcome {
    interrupt::handle();
    let root = directory(args.author.store.store.as_deref());
    let mut settings = config::call_settings(&args.how.calls, &root)?;
    settings.retries = args.how.retries;
    settings.retry_delay = args.how.retry_delay;
    settings.keep_going = args.how.keep_going;
    let aside = tempfile::Builder::new().prefix("cuvee-run-").tempdir();
    let aside = aside.map_err(|why| no_directory(&why))?;
    let at = RunDirectory { settings, aside };
    match args.watched.is_empty() {
        true => at.run(args, reporter, false),
        false => adapt::run(args, reporter, &at),
    }
}

/// The directory for the files of runs, and how they run.
pub(super) struct RunDirectory {
    settings: RunSettings,
    aside: TempDir,
}

impl RunDirectory {
    /// Runs the instance once. `is_anew` gives up what an earlier run left unfinished, instead of
    /// going on with it.
    pub(super) fn run(
        &self,
        args: &RunInstanceArgs,
        reporter: &Reporter,
        is_anew: bool,
    ) -> Outcome {
        let Self { settings, aside } = self;
        let own = store(args.author.store.store.as_deref());
        let is_there = instance_names(&own).map_err(rejected)?.contains(&args.name);
        let is_tried = args.how.dry_run || args.how.rehearse;
        // A rehearsal of an instance that is not there leaves none.
        let store =
            if is_there || !is_tried { own } else { OsStore::new(aside.path().join("store")) };
        if !is_there {
            make(args, &store, reporter)?;
        }
        let author = || writing(args);
        let secrets = known_secrets(args, &store)?;
        let (instance, directory) = (args.name.as_str(), aside.path().join("work"));
        let operator = InstanceOperator {
            store: &store,
            instance,
            settings,
            author: &author,
            secrets,
            directory,
        };
        InstanceRun { args, reporter, store: &store, operator }.run(is_anew)
    }
}

/// Makes the instance.
fn make(args: &RunInstanceArgs, store: &OsStore, reporter: &Reporter) -> Result<(), Failure> {
    let Some(template) = &args.template else {
        let message = format!("there is no instance `{}`", args.name);
        let help = format!(
            "name the template that it is made of: `cuvee instance run {} TEMPLATE`",
            args.name
        );
        return Err(rejected(Diagnostic::error(Code::UnknownInstance, message).help(help)));
    };
    let resolver = deploying(select::chosen(template, &args.choose)?, &args.deployment);
    let settings = InstanceSettings {
        secrets: args.secrets.into(),
        sensitive: args.sensitive.clone(),
        ..InstanceSettings::default()
    };
    let writing = InstanceWriting::of(&args.author, None);
    let author = writing.author(RecordOrigin::Client);
    let answer = resolver.init_instance(store, &args.name, &settings, &author)?;
    reporter.report(&answer.warnings, &answer.sources);
    Ok(())
}

fn writing(args: &RunInstanceArgs) -> RecordAuthorNow {
    let InstanceWriting { holder, timeout, time, .. } = InstanceWriting::of(&args.author, None);
    RecordAuthorNow { holder, timeout, time }
}

pub(super) fn no_directory(why: &io::Error) -> Failure {
    let message = format!("there is no place for the files of a run: {why}");
    rejected(Diagnostic::error(Code::File, message).help("`TMPDIR` names another directory"))
}

/// The secrets of the variant, resolved once more: an instance may keep only digests of them.
fn known_secrets(args: &RunInstanceArgs, store: &OsStore) -> Result<SecretValues, Failure> {
    let instance = StoredInstance::open(store, &args.name).map_err(rejected)?;
    let Some(resolver) = wanted(args, &instance)? else { return Ok(SecretValues::default()) };
    let kept = instance.secrets().map_err(rejected)?;
    match resolver.instance_secrets(&kept) {
        Ok(secrets) => Ok(secrets),
        // Whoever wants a template is told what is wrong with it; for others it only lacks secrets.
        Err(failure) if args.template.is_some() => Err(failure),
        Err(_) => Ok(SecretValues::default()),
    }
}

/// Whether presets or inputs choose a variant.
fn is_chosen(args: &RunInstanceArgs) -> bool {
    let choose = &args.choose;
    !choose.presets.is_empty() || !choose.inputs.is_empty() || !choose.inputs_files.is_empty()
}

/// The variant that the instance is to become; `None` where nobody says and nothing is known.
pub(super) fn wanted(
    args: &RunInstanceArgs,
    instance: &StoredInstance<'_>,
) -> Result<Option<Resolver>, Failure> {
    let choose = &args.choose;
    let target = &instance.model().target;
    let own = Some(PathBuf::from(&*target.template)).filter(|path| !path.as_os_str().is_empty());
    let Some(template) = args.template.clone().or(own) else { return Ok(None) };
    let mut resolver = select::chosen(&template, choose)?.files(ReadFiles::default());
    if args.template.is_none() && !is_chosen(args) {
        resolver = instance.with_choice(resolver);
    }
    Ok(Some(instance.with_inputs(deploying(resolver, &args.deployment))))
}

/// A run of an instance.
pub(super) struct InstanceRun<'r> {
    pub(super) args: &'r RunInstanceArgs,
    pub(super) reporter: &'r Reporter,
    store: &'r OsStore,
    pub(super) operator: InstanceOperator<'r>,
}

impl<'r> InstanceRun<'r> {
    fn run(&self, is_anew: bool) -> Outcome {
        let is_tried = self.args.how.dry_run || self.args.how.rehearse;
        let lease = if is_tried { None } else { Some(self.operator.lease().map_err(rejected)?) };
        let warnings = lease.as_ref().map(Lease::warnings).unwrap_or_default();
        self.reporter.report(&warnings, &SourceMap::default());
        let mut instance = self.open()?;
        let by = self.orchestrator(&instance)?;
        let (mut summary, before) = (None, choice_before(instance.model()));
        let gives_up = is_anew || by.is_none() && self.undeploys_anew(&instance);
        if gives_up
            && !is_tried
            && let Some(code) = self.give_up(&mut instance, is_anew)?
        {
            return Ok(code);
        }
        if instance.model().orchestration.is_some() && !gives_up {
            if is_tried {
                return self.tried(&instance, &instance.plan_document().map_err(rejected)?);
            }
            let open = instance.model().orchestration.as_ref();
            let removes = open.is_some_and(|open| open.plan.is_some() && open.target.is_none());
            match self.go_on(&mut instance)? {
                // Who goes on with an undeployment, and asks for nothing else, wants no new nodes.
                Ok(ended) if ended.complete && removes && by.is_none() && !self.asks() => {
                    return Ok(ExitCode::SUCCESS);
                }
                Ok(ended) if ended.complete => summary = Some(ended),
                Ok(ended) => return self.ended(&mut instance, &ended),
                Err(code) => return Ok(code),
            }
        }
        if let Some(orchestrator) = self.orchestrator(&instance)?.or(by) {
            return self.hand_over(&mut instance, orchestrator, summary, &before);
        }
        let answer = self.plan(&mut instance)?;
        let (text, plan) = match &answer {
            WantedPlan::Made(answer) => {
                self.reporter.report(&answer.warnings, &answer.sources);
                (self.document(&answer.result, &answer.sources)?, Some(&answer.result))
            }
            WantedPlan::Document(text) => (text.clone(), None),
        };
        let is_done = plan.is_some_and(|plan| plan.steps.is_empty());
        if is_done && (is_tried || plan.is_some_and(|plan| !is_adopted(plan, instance.model()))) {
            return self.nothing_left(&mut instance, summary);
        }
        if self.args.how.rehearse {
            return self.rehearsed(plan);
        }
        if is_tried {
            return self.tried(&instance, &text);
        }
        self.operator.check(&instance, &text, &mut self.executor())?;
        let is_asked = !is_done || plan.is_some_and(has_changes);
        if is_asked && let Some(code) = self.may_begin(plan)? {
            return Ok(code);
        }
        // What is run is read from what is kept.
        drop(answer);
        let begun = self.begin(&mut instance, text, &before)?;
        if !is_asked {
            return self.nothing_left(&mut instance, summary);
        }
        let summary = begun;
        let outcome = self.ended(&mut instance, &summary);
        drop(lease);
        outcome
    }

    /// Applies a plan, and carries it out.
    pub(super) fn begin(
        &self,
        instance: &mut StoredInstance<'_>,
        document: String,
        before: &ByName<Value>,
    ) -> Result<RunSummary, Failure> {
        let writing = InstanceWriting::of(&self.args.author, None);
        let author = writing.author(RecordOrigin::Orchestrator);
        instance.apply(&document, &author, None, false).map_err(rejected)?;
        drop(document);
        self.note_cause(instance, before)?;
        match instance.model().orchestration {
            // A plan whose steps run nothing is done at once.
            None => Ok(RunSummary::nothing_to_run()),
            Some(_) => self.carry_out(instance, false),
        }
    }

    /// Whether a template or a choice is asked for.
    fn asks(&self) -> bool {
        self.args.template.is_some() || is_chosen(self.args)
    }

    fn open(&self) -> Result<StoredInstance<'r>, Failure> {
        StoredInstance::open(self.store, &self.args.name).map_err(rejected)
    }

    /// Records which inputs cause an adaptation: those that differ from those of the last one.
    fn note_cause(
        &self,
        instance: &mut StoredInstance<'_>,
        before: &ByName<Value>,
    ) -> Result<(), Failure> {
        if self.args.watched.is_empty() {
            return Ok(());
        }
        let model = instance.model();
        let wanted = model.orchestration.as_ref().and_then(|open| open.target.as_ref());
        let changed = changed_inputs(before, &wanted.unwrap_or(&model.target).choice);
        if changed.is_empty() {
            return Ok(());
        }
        let mut report = InstanceReport::default();
        report.note = Some(format!("adapts to {}", changed.join(", ")).into());
        instance.record(&report, &writing(self.args).author(), TakenReports::default()).map(drop)
    }

    pub(super) fn executor(&self) -> LocalExecutor {
        LocalExecutor::new(&self.operator.directory, self.args.how.verbose)
    }

    /// The plan that is to be run.
    pub(super) fn plan(&self, instance: &mut StoredInstance<'_>) -> Result<WantedPlan, Failure> {
        if let Some(file) = &self.args.plan {
            return super::apply::document(file).map(WantedPlan::Document);
        }
        let query = self.query();
        let answer = match self.args.undeploy {
            true => instance.plan_removal(&query)?,
            false if self.args.template.is_none() && !self.is_chosen() => {
                instance.plan_repair(&query)?
            }
            false => match wanted(self.args, instance)? {
                Some(resolver) => self.plan_to(instance, &resolver)?,
                None => instance.plan_repair(&query)?,
            },
        };
        Ok(WantedPlan::Made(Box::new(answer)))
    }

    /// The plan that turns the instance into a variant.
    pub(super) fn plan_to(
        &self,
        instance: &mut StoredInstance<'_>,
        resolver: &Resolver,
    ) -> Result<Answer<Plan>, Failure> {
        let writing = InstanceWriting::reading();
        let author = writing.author(RecordOrigin::Client);
        match plan_instance(instance, resolver, &self.query(), &author)? {
            (_, Some(unkept)) => Err(rejected(unkept)),
            (answer, None) => Ok(answer),
        }
    }

    pub(super) fn query(&self) -> InstancePlanQuery {
        InstancePlanQuery {
            name: self.args.name.clone(),
            order: order(&self.args.order),
            overwrite: self.args.overwrite,
            ..InstancePlanQuery::default()
        }
    }

    fn is_chosen(&self) -> bool {
        let choose = &self.args.choose;
        !choose.presets.is_empty()
            || !choose.inputs.is_empty()
            || !choose.inputs_files.is_empty()
            || !self.args.deployment.deployment_files.is_empty()
            || !self.args.deployment.deployment_inputs.is_empty()
    }

    pub(super) fn document(&self, plan: &Plan, sources: &SourceMap) -> Result<String, Failure> {
        let shown = ShownPlan { all_steps: true, reveal: false };
        drawn(plan, PlanFormat::Json, shown, sources, None)
    }

    /// Shows what a plan would run.
    fn tried(&self, instance: &StoredInstance<'_>, document: &str) -> Outcome {
        let tasks = self.operator.check(instance, document, &mut self.executor())?;
        self.shown(&tasks)
    }

    pub(super) fn shown(&self, tasks: &[PlannedTask]) -> Outcome {
        let text = match self.args.how.format {
            ListFormat::Json => crate::cli::json(&PlannedTasks { tasks }),
            ListFormat::Human => tasks.iter().map(planned).collect(),
        };
        output::to_stdout(text).map_err(rejected)?;
        Ok(ExitCode::SUCCESS)
    }

    fn rehearsed(&self, plan: Option<&Plan>) -> Outcome {
        match plan {
            Some(plan) => super::rehearse::run(plan, self.args.how.format),
            None => {
                let message = "a plan that was read from a file cannot be rehearsed";
                let help = "let the plan be made: leave out `--plan`";
                Err(rejected(Diagnostic::error(Code::Usage, message).help(help)))
            }
        }
    }

    /// Whether all is to be undeployed, and the open plan leads to something else.
    fn undeploys_anew(&self, instance: &StoredInstance<'_>) -> bool {
        let open = instance.model().orchestration.as_ref();
        self.args.undeploy && open.is_some_and(|open| open.target.is_some())
    }

    /// Gives up what was begun, if something was; asks first, unless `is_anew`. Gives an exit code
    /// if it is not to be given up.
    fn give_up(
        &self,
        instance: &mut StoredInstance<'_>,
        is_anew: bool,
    ) -> Result<Option<ExitCode>, Failure> {
        if instance.model().orchestration.is_none() {
            return Ok(None);
        }
        if !is_anew {
            let what = "whether what was begun is to be given up";
            if let Some(code) = self.consents(what, "Give up what was begun? [y/N] ") {
                return Ok(Some(code));
            }
            if self.args.how.format == ListFormat::Human && !self.reporter.is_quiet() {
                let text = format!("{}: what was begun is given up\n", self.args.name);
                output::to_stdout(text).map_err(rejected)?;
            }
        }
        super::apply::cancelled(instance, &writing(self.args).author(), None).map(|_| None)
    }

    /// Shows the plan and asks whether it is to be run. Gives an exit code if it is not.
    pub(super) fn may_begin(&self, plan: Option<&Plan>) -> Result<Option<ExitCode>, Failure> {
        // Whoever is asked sees what about.
        let is_shown = !(self.args.how.yes && self.reporter.is_quiet())
            && self.args.how.format == ListFormat::Human;
        if let Some(plan) = plan.filter(|_| is_shown) {
            let text = cuvee::output::draw::plan::human(plan, false, false);
            output::to_stdout(text).map_err(rejected)?;
        }
        Ok(self.consents("whether the plan is to be run", "Run this plan? [y/N] "))
    }

    /// Asks a question. Gives an exit code if the answer is not yes.
    fn consents(&self, what: &str, question: &str) -> Option<ExitCode> {
        if self.args.how.yes {
            return None;
        }
        if !is_asked() {
            let message = format!("nobody is there to ask {what}");
            let error = Diagnostic::error(Code::Usage, message);
            let help = "`--yes` runs it without asking; `--dry-run` shows what it would do";
            self.reporter.failed(&rejected(error.help(help)));
            return Some(ExitCode::from(NOBODY));
        }
        match ask(question).as_str() {
            "y" | "yes" => None,
            _ => Some(ExitCode::FAILURE),
        }
    }

    /// Goes on with the plan that was begun. Gives an exit code where nobody says what became of
    /// steps that were interrupted.
    fn go_on(
        &self,
        instance: &mut StoredInstance<'_>,
    ) -> Result<Result<RunSummary, ExitCode>, Failure> {
        let document = instance.plan_document().map_err(rejected)?;
        let steps = instance.model().orchestration.as_ref().map(|open| open.steps.clone());
        let is_cut =
            |status: &StepStatus| matches!(status, StepStatus::Running | StepStatus::Interrupted);
        let cut = steps.unwrap_or_default().into_iter().filter(|(_, status)| is_cut(status));
        let tasks = self.operator.check(instance, &document, &mut self.executor())?;
        let runs = |step: &Arc<str>| tasks.iter().any(|task| task.step == *step);
        let cut: Vec<_> = cut.map(|(step, _)| step).filter(runs).collect();
        let how = match (self.args.how.interrupted, cut.is_empty()) {
            (_, true) => InterruptedFormat::Retry,
            (Some(how), false) => how,
            (None, false) if is_asked() => asked(&cut),
            (None, false) => {
                let names: Vec<_> = cut.iter().map(|step| format!("`{step}`")).collect();
                let message =
                    format!("an earlier run ended while these steps ran: {}", names.join(", "));
                let help = "say what became of them: `--interrupted retry`, `failed` or `done`";
                let error = Diagnostic::error(Code::Usage, message).help(help);
                self.reporter.failed(&rejected(error));
                return Ok(Err(ExitCode::from(NOBODY)));
            }
        };
        let writing = InstanceWriting::of(&self.args.author, None);
        let author = writing.author(RecordOrigin::Orchestrator);
        instance.resume(&author, None, false).map_err(rejected)?;
        let outcome = match how {
            InterruptedFormat::Retry => None,
            InterruptedFormat::Failed => Some(ReportOutcome::Failed),
            InterruptedFormat::Done => Some(ReportOutcome::Done),
        };
        for step in cut.iter().filter(|_| outcome.is_some()) {
            let mut report = InstanceReport::default();
            report.step = Some(Arc::clone(step));
            report.outcome = outcome;
            instance.record(&report, &author, TakenReports::default())?;
        }
        match instance.model().orchestration {
            None => Ok(Ok(RunSummary::nothing_to_run())),
            Some(_) => self.carry_out(instance, true).map(Ok),
        }
    }

    /// Carries out the open plan. `is_resumed` where an earlier run began it.
    fn carry_out(
        &self,
        instance: &mut StoredInstance<'_>,
        is_resumed: bool,
    ) -> Result<RunSummary, Failure> {
        watch::hide();
        let (send, receive) = signals();
        interrupt::tell(Some(send.clone()));
        let is_quiet = self.reporter.is_quiet();
        let named = (&*self.args.name, NextCommands::of(instance, self.args, is_resumed));
        let mut progress = RunProgress::new(&self.args.how, named, is_quiet);
        let mut executor = self.executor();
        let ended =
            self.operator.carry_out(instance, &mut executor, (send, receive), &mut |event| {
                progress.tell(&event);
            });
        interrupt::tell(None);
        ended
    }

    pub(super) fn nothing_left(
        &self,
        instance: &mut StoredInstance<'_>,
        before: Option<RunSummary>,
    ) -> Outcome {
        if before.is_none() && self.args.how.format == ListFormat::Human {
            output::to_stdout("nothing to do\n").map_err(rejected)?;
        }
        self.ended(instance, &before.unwrap_or_else(RunSummary::nothing_to_run))
    }

    /// Shows the outputs, and tells how the run ended by the exit code.
    pub(super) fn ended(&self, instance: &mut StoredInstance<'_>, summary: &RunSummary) -> Outcome {
        if !summary.complete {
            return Ok(ExitCode::FAILURE);
        }
        if self.args.undeploy {
            return Ok(ExitCode::SUCCESS);
        }
        let lacking = self.operator.outputs(instance)?;
        self.reporter.report(&lacking, &SourceMap::default());
        super::progress::outputs(instance.model(), self.args.how.format)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A plan that is to be run.
pub(super) enum WantedPlan {
    Made(Box<Answer<Plan>>),
    Document(String),
}

/// Whether a plan without steps makes the instance another one: groups, policies, inputs, outputs
/// and descriptions change without a step.
fn is_adopted(plan: &Plan, model: &InstanceModel) -> bool {
    let target = plan.instance.as_ref().and_then(|it| it.target.as_ref());
    target.is_some_and(|it| it.digest != model.target.digest || has_changes(plan))
}

/// Whether people are shown changes of a plan.
fn has_changes(plan: &Plan) -> bool {
    plan.changes.iter().any(|change| change.class != ChangeClass::Keep)
}

/// The tasks that steps would run, in their JSON form.
#[derive(Serialize)]
struct PlannedTasks<'t> {
    tasks: &'t [PlannedTask],
}

fn planned(task: &PlannedTask) -> String {
    let place = task.place.as_deref().unwrap_or("a host that is not known yet");
    let mut text = format!("{}  {place}: {}\n", task.step, task.command);
    for (name, value) in &task.variables {
        text.push_str(&format!("    {name}={value}\n"));
    }
    text
}

/// The choice that the last adaptation was for, even if that failed; empty if nothing was deployed.
fn choice_before(model: &InstanceModel) -> ByName<Value> {
    let open = model.orchestration.as_ref().and_then(|open| open.target.as_ref());
    let is_new = model.nodes.values().all(|node| node.state == InstanceState::default());
    match open {
        None if is_new => ByName::default(),
        open => open.unwrap_or(&model.target).choice.clone(),
    }
}

/// The inputs of a choice that differ from those of another one, as people read them.
fn changed_inputs(before: &ByName<Value>, after: &ByName<Value>) -> Vec<String> {
    let inputs = |choice: &ByName<Value>| match choice.get("inputs") {
        Some(Value::Map(inputs)) => inputs.iter().cloned().collect::<BTreeMap<_, _>>(),
        _ => BTreeMap::new(),
    };
    let (before, after) = (inputs(before), inputs(after));
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), write_flow);
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| match before.get(name) {
            None => format!("{name}: {}", shown(after.get(name))),
            old => format!("{name}: {} -> {}", shown(old), shown(after.get(name))),
        })
        .collect()
}

/// Whether somebody can be asked.
fn is_asked() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The answer of the user, in lower case; empty if it cannot be read.
fn ask(question: &str) -> String {
    watch::hide();
    let mut answer = String::new();
    let mut stderr = io::stderr();
    let asked = stderr.write_all(question.as_bytes()).and_then(|()| stderr.flush());
    let read = asked.and_then(|()| io::stdin().lock().read_line(&mut answer));
    match read {
        Ok(_) => answer.trim().to_ascii_lowercase(),
        Err(_) => String::new(),
    }
}

fn asked(steps: &[Arc<str>]) -> InterruptedFormat {
    let names = steps.iter().map(|step| format!("  {step}\n")).collect::<String>();
    let question = format!(
        "An earlier run ended while these steps ran:\n{names}What became of them? [retry/failed/done] "
    );
    loop {
        match ask(&question).as_str() {
            "retry" | "r" => return InterruptedFormat::Retry,
            "done" | "d" => return InterruptedFormat::Done,
            // Whoever closes the terminal decides nothing: failed steps run again, too.
            "failed" | "f" | "" => return InterruptedFormat::Failed,
            _ => {}
        }
    }
}
