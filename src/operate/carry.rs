//! Carries out a plan: begins what is ready, waits for what runs, and records both. What a step
//! does is recorded before it begins, and what became of it before anything else begins.

use super::event::{RunEvent, RunSummary, StepFailure};
use super::output;
use super::plan::RunStep;
use super::task::{Executor, Signal, Task, TaskEnd, TaskFailure, WAITING};
use super::workshop::{FILES, PreparedStep, Workshop};
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::instance::{
    Acknowledgement, InstanceModel, InstanceReport, ReadyStep, ReportOutcome,
};
use crate::resolver::{RecordAuthorNow, RecordReports};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

/// A run of a plan.
pub(super) struct Carrying<'c, 'r> {
    pub(super) workshop: &'c Workshop<'r>,
    pub(super) executor: &'c mut dyn Executor,
    pub(super) signals: (SyncSender<Signal>, Receiver<Signal>),
    /// Says who writes, and when.
    pub(super) author: &'c dyn Fn() -> RecordAuthorNow,
    pub(super) tell: &'c mut dyn FnMut(RunEvent),
}

/// How long a step is claimed. The claim of a runner that is gone ends when another one takes over.
const CLAIM: Duration = Duration::from_secs(24 * 60 * 60);

/// How far the carrying out of a plan is.
#[derive(Default)]
struct CarryProgress {
    /// The steps that run now, and which attempt it is.
    running: FxHashMap<Arc<str>, u32>,
    /// The tokens of the steps that are claimed.
    tokens: FxHashMap<Arc<str>, Arc<str>>,
    /// Failed steps that are tried again at a time.
    again: Vec<(Arc<str>, u32, Instant)>,
    /// The steps that are not begun any more in this run.
    over: FxHashSet<Arc<str>>,
    has_failed: bool,
    summary: RunSummary,
    is_stopping: bool,
    /// Whether a failure was dealt with by steps that handle it.
    is_handled: bool,
    /// Reports that could not be written.
    unrecorded: Vec<InstanceReport>,
    /// The error that ended the run.
    refused: Option<Diagnostic>,
}

/// A step that has ended, to be recorded.
struct Ended {
    step: Arc<str>,
    report: InstanceReport,
    /// The event that is sent once the step is recorded.
    event: RunEvent,
    tail: Vec<String>,
}

/// The steps that begin together.
#[derive(Default)]
struct Begun {
    /// The steps that begin.
    starts: Vec<StartedStep>,
    /// Whether something ended without being run, which may make more ready.
    passes: bool,
    /// The steps whose outputs were refused, so that they have failed.
    refused: Vec<Ended>,
}

/// A step that begins.
struct StartedStep {
    step: Arc<str>,
    attempt: u32,
    /// The position of the report of its beginning.
    report: usize,
}

impl Begun {
    fn start(
        &mut self,
        step: Arc<str>,
        attempt: u32,
        token: Option<Arc<str>>,
        reports: &mut Vec<InstanceReport>,
    ) {
        let (begins, claim) = (Some(Arc::clone(&step)), Some(CLAIM));
        self.starts.push(StartedStep { step, attempt, report: reports.len() });
        reports.push(InstanceReport { step: begins, claim, token, ..Default::default() });
    }
}

impl Carrying<'_, '_> {
    /// Carries out the plan until nothing is left that can begin. `left` is how many steps are
    /// left that run something.
    pub(super) fn run(
        mut self,
        left: usize,
        record: &mut dyn RecordReports,
    ) -> Result<RunSummary, Diagnostic> {
        let summary = RunSummary { left, ..RunSummary::default() };
        let mut progress = CarryProgress { summary, ..CarryProgress::default() };
        if let Err(error) = self.rounds(&mut progress, record) {
            self.let_end(&mut progress, record);
            return Err(error);
        }
        match progress.refused {
            Some(error) => Err(error),
            None => Ok(progress.summary),
        }
    }

    fn rounds(
        &mut self,
        progress: &mut CarryProgress,
        record: &mut dyn RecordReports,
    ) -> Result<(), Diagnostic> {
        let mut ended = Vec::new();
        loop {
            let begun = self.round(progress, std::mem::take(&mut ended), record)?;
            let passes = begun.passes;
            ended = self.begin(progress, begun, record.model());
            let waits = !progress.again.is_empty() && !progress.is_stopping;
            match () {
                () if !ended.is_empty() => {}
                () if passes && !progress.is_stopping => {}
                () if progress.running.is_empty() && !waits => return Ok(()),
                () => self.wait(progress, &mut ended),
            }
        }
    }

    /// Waits for what runs, since nothing can be recorded: nobody else may run the instance before.
    /// By then there may be room for records again; steps without one count as interrupted.
    fn let_end(&mut self, progress: &mut CarryProgress, record: &mut dyn RecordReports) {
        progress.is_stopping = true;
        let mut ended = Vec::new();
        while !progress.running.is_empty() {
            self.wait(progress, &mut ended);
        }
        let mut reports = std::mem::take(&mut progress.unrecorded);
        reports.extend(ended.iter().map(|ended| progress.with_token(ended)));
        let _ = record.record(&(self.author)(), &reports, &mut |_, _| Vec::new());
    }

    /// Records what has ended, and that what is ready begins.
    fn round(
        &mut self,
        progress: &mut CarryProgress,
        ended: Vec<Ended>,
        record: &mut dyn RecordReports,
    ) -> Result<Begun, Diagnostic> {
        let first: Vec<_> = ended.iter().map(|ended| progress.with_token(ended)).collect();
        let (mut begun, mut is_open) = (Begun::default(), true);
        let workshop = self.workshop;
        let mut next = |model: &InstanceModel, ready: &mut dyn Iterator<Item = ReadyStep>| {
            is_open = model.orchestration.is_some();
            progress.begin(workshop, ready, &mut begun)
        };
        let answers = record.record(&(self.author)(), &first, &mut next);
        let answers = answers.inspect_err(|_| progress.unrecorded = first.clone())?;
        let (of_ended, of_begun) = answers.split_at(first.len().min(answers.len()));
        let mut refused = Vec::new();
        for (ended, answer) in ended.into_iter().zip(of_ended) {
            refused.extend(self.recorded(progress, ended, answer));
        }
        progress.summary.open = is_open;
        progress.summary.complete = !is_open && progress.summary.failed.is_empty();
        if let Some(last) = answers.last() {
            progress.summary.revision = last.revision;
        }
        begun.starts.retain(|start| {
            let answer = of_begun.get(start.report);
            match answer.filter(|answer| answer.ok) {
                Some(answer) => {
                    let token = answer.token.clone();
                    progress.tokens.extend(token.map(|token| (Arc::clone(&start.step), token)));
                    true
                }
                None => {
                    progress.refuse(&start.step, answer);
                    false
                }
            }
        });
        begun.refused = refused;
        Ok(begun)
    }

    /// Begins the tasks of steps whose beginning is recorded: what they see is the model with it.
    /// Gives the steps that have ended without a task.
    fn begin(
        &mut self,
        progress: &mut CarryProgress,
        begun: Begun,
        model: &InstanceModel,
    ) -> Vec<Ended> {
        let Begun { starts, refused: mut ended, .. } = begun;
        let made: Vec<_> =
            starts.iter().map(|start| made_of(self.workshop, model, start)).collect();
        for made in made {
            match made {
                Ok(task) => self.start(progress, *task),
                Err(end) => {
                    progress.over.insert(Arc::clone(&end.step));
                    progress.has_failed |= matches!(end.event, RunEvent::Failed(_));
                    ended.push(*end);
                }
            }
        }
        ended
    }

    fn start(&mut self, progress: &mut CarryProgress, task: Task) {
        progress.running.insert(Arc::clone(&task.step), task.attempt);
        (self.tell)(RunEvent::Started {
            step: Arc::clone(&task.step),
            place: task.place.to_string(),
            command: command_line(&task),
            attempt: task.attempt,
        });
        self.executor.start(task, &self.signals.0);
    }

    /// Tells what was recorded. Gives the failure of a step whose outputs were refused.
    fn recorded(
        &mut self,
        progress: &mut CarryProgress,
        ended: Ended,
        answer: &Acknowledgement,
    ) -> Option<Ended> {
        if answer.ok {
            let summary = &mut progress.summary;
            match &ended.event {
                RunEvent::Done { .. } | RunEvent::Skipped { .. } => {
                    let runs = self.workshop.plan.step(&ended.step).is_some_and(RunStep::is_run);
                    summary.done += usize::from(runs);
                    summary.left = summary.left.saturating_sub(usize::from(runs));
                }
                RunEvent::Failed(_) => summary.failed.push(Arc::clone(&ended.step)),
                _ => {}
            }
            (self.tell)(ended.event.with_left(progress.summary.left));
            return None;
        }
        let message = answer.message.clone().unwrap_or_default();
        if matches!(ended.event, RunEvent::Failed(_)) {
            // Not even the failure could be recorded.
            progress.refuse(&ended.step, Some(answer));
            return None;
        }
        let failure = TaskFailure::new(format!("what it gave was refused: {message}"));
        let failure = answer.help.iter().fold(failure, |it, help| it.help(help.clone()));
        let seconds = match ended.event {
            RunEvent::Done { seconds, .. } => seconds,
            _ => 0.0,
        };
        let log = Some(self.workshop.log(&ended.step)).filter(|log| log.exists());
        progress.has_failed = true;
        Some(failed(ended.step, &failure, Duration::from_secs_f64(seconds), ended.tail, log))
    }

    /// Waits until something happens, and takes all that has happened.
    fn wait(&mut self, progress: &mut CarryProgress, ended: &mut Vec<Ended>) {
        let next = progress.again.iter().map(|(_, _, at)| *at).min();
        let signal = match next.filter(|_| !progress.is_stopping) {
            None => self.signals.1.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => self.signals.1.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        let mut signal = signal.ok();
        // Lines may come without an end, and what has ended has to be recorded.
        for _ in 0..WAITING {
            let Some(one) = signal else { break };
            match one {
                Signal::Ended(end) => self.take(progress, *end, ended),
                Signal::Said(step, line) => (self.tell)(RunEvent::Said { step, line }),
                Signal::Stop => {
                    progress.is_stopping = true;
                    progress.summary.stopped = true;
                    let kill = self.executor.stop();
                    (self.tell)(RunEvent::Stopping { kill });
                }
            }
            signal = self.signals.1.try_recv().ok();
        }
    }

    /// Takes the end of a task.
    fn take(&mut self, progress: &mut CarryProgress, mut end: TaskEnd, ended: &mut Vec<Ended>) {
        let attempt = progress.running.remove(&end.step).unwrap_or(1);
        progress.over.insert(Arc::clone(&end.step));
        for note in end.notes {
            (self.tell)(RunEvent::Noted { step: Arc::clone(&end.step), note });
        }
        let Workshop { settings, secrets, .. } = *self.workshop;
        let known = secrets.times_learned();
        let given = end.outcome.and_then(|outputs| self.workshop.ended(&end.step, outputs));
        if secrets.times_learned() > known {
            let masker = secrets.masker();
            end.tail.iter_mut().for_each(|line| *line = masker.text(line).into_owned());
            let hidden = end.log.as_deref().map_or(Ok(()), |log| output::hide(log, masker));
            if let Err(why) = hidden {
                let note = format!("secrets that it gave cannot be hidden in its log: {why}");
                (self.tell)(RunEvent::Noted { step: Arc::clone(&end.step), note });
            }
        }
        match given {
            Ok((report, notes)) => {
                for note in notes {
                    (self.tell)(RunEvent::Noted { step: Arc::clone(&end.step), note });
                }
                let event = done(&end.step, end.took);
                ended.push(Ended { step: end.step, report, event, tail: end.tail });
            }
            Err(failure) if failure.is_stopped => {
                let report = outcome(&end.step, ReportOutcome::Interrupted);
                let note = failure.message;
                let event = RunEvent::Noted { step: Arc::clone(&end.step), note };
                ended.push(Ended { step: end.step, report, event, tail: end.tail });
            }
            Err(failure) if attempt <= settings.retries && !progress.is_stopping => {
                let ended = failed(end.step, &failure, end.took, end.tail, end.log);
                if let RunEvent::Failed(failure) = ended.event {
                    (self.tell)(RunEvent::Failed(Box::new(StepFailure {
                        retried: true,
                        ..*failure
                    })));
                }
                let at = Instant::now() + settings.retry_delay;
                progress.again.push((ended.step, attempt + 1, at));
            }
            Err(failure) => {
                progress.has_failed = true;
                ended.push(failed(end.step, &failure, end.took, end.tail, end.log));
            }
        }
    }
}

/// The task of a step; its end, if it has none.
fn made_of(
    workshop: &Workshop<'_>,
    model: &InstanceModel,
    start: &StartedStep,
) -> Result<Box<Task>, Box<Ended>> {
    let id = &start.step;
    let ends =
        |report, event| Box::new(Ended { step: Arc::clone(id), report, event, tail: Vec::new() });
    let Some(step) = workshop.plan.step(id) else {
        return Err(ends(outcome(id, ReportOutcome::Done), done(id, Duration::ZERO)));
    };
    let prepared = workshop.decided(step, model).and_then(|runs| match runs {
        true => workshop.prepared(step, model, start.attempt).map(Some),
        false => Ok(None),
    });
    match prepared {
        Ok(Some(PreparedStep::Task(task))) => Ok(task),
        Ok(Some(PreparedStep::Given(outputs))) => Err(match workshop.ended(id, outputs) {
            Ok((report, _)) => ends(report, done(id, Duration::ZERO)),
            Err(why) => Box::new(failed(Arc::clone(id), &why, Duration::ZERO, Vec::new(), None)),
        }),
        Ok(None) => {
            let event = RunEvent::Skipped { step: Arc::clone(id) };
            let done = outcome(id, ReportOutcome::Done);
            Err(ends(InstanceReport { is_left_out: true, ..done }, event))
        }
        Err(why) => {
            let failure = TaskFailure::from(why);
            Err(Box::new(failed(Arc::clone(id), &failure, Duration::ZERO, Vec::new(), None)))
        }
    }
}

impl CarryProgress {
    /// The report of the end of a step, with the token of its claim.
    fn with_token(&self, ended: &Ended) -> InstanceReport {
        let mut report = ended.report.clone();
        let token = self.tokens.get(&ended.step).cloned();
        let is_end = |part: &&mut InstanceReport| part.step.as_ref() == Some(&ended.step);
        match report.batch.iter_mut().find(is_end) {
            Some(end) => end.token = token,
            None => report.token = token,
        }
        report
    }

    /// The reports that what is ready begins.
    fn begin(
        &mut self,
        workshop: &Workshop<'_>,
        ready: &mut dyn Iterator<Item = ReadyStep>,
        begun: &mut Begun,
    ) -> Vec<InstanceReport> {
        let mut reports = Vec::new();
        if self.is_stopping || self.refused.is_some() {
            return reports;
        }
        let now = Instant::now();
        for (step, attempt, _) in self.again.extract_if(.., |(_, _, at)| *at <= now) {
            let token = self.tokens.get(&step).cloned();
            begun.start(step, attempt, token, &mut reports);
        }
        // Only after a failure it matters what else is ready: it may be what handles the failure.
        let steps: Vec<_> = match self.has_failed {
            true => ready.collect(),
            false => Vec::new(),
        };
        let handles = |it: &ReadyStep| workshop.plan.step(&it.step).is_some_and(|it| it.handler);
        self.is_handled |= steps.iter().any(handles);
        if self.has_failed && !workshop.settings.keep_going && !self.is_handled {
            return reports;
        }
        for ReadyStep { step: id, .. } in steps.into_iter().chain(ready) {
            if self.running.contains_key(&id) || self.over.contains(&id) {
                continue;
            }
            let step = workshop.plan.step(&id);
            match step.filter(|step| step.is_run() || !step.guard.is_empty()) {
                // A part or step that runs nothing is done as soon as it is ready.
                None => {
                    begun.passes = true;
                    reports.push(outcome(&id, ReportOutcome::Done));
                    self.over.insert(id);
                }
                Some(_) if self.running.len() + begun.starts.len() < workshop.settings.jobs => {
                    begun.start(id, 1, None, &mut reports);
                }
                Some(_) => break,
            }
        }
        reports
    }

    /// Ends the run, because a step could not be recorded.
    fn refuse(&mut self, step: &Arc<str>, answer: Option<&Acknowledgement>) {
        let message = answer.and_then(|answer| answer.message.clone()).unwrap_or_default();
        let error = Diagnostic::error(
            Code::StepNotReady,
            format!("`{step}` cannot be recorded: {message}"),
        );
        let error = error.help_opt(answer.and_then(|answer| answer.help.clone()));
        self.refused.get_or_insert(error);
        self.is_stopping = true;
    }
}

fn outcome(step: &Arc<str>, outcome: ReportOutcome) -> InstanceReport {
    let (step, outcome) = (Some(Arc::clone(step)), Some(outcome));
    InstanceReport { step, outcome, ..InstanceReport::default() }
}

fn done(step: &Arc<str>, took: Duration) -> RunEvent {
    RunEvent::Done { step: Arc::clone(step), seconds: seconds(took), left: 0 }
}

/// Seconds with three digits behind the point.
fn seconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1000.0).round() / 1000.0
}

fn failed(
    step: Arc<str>,
    failure: &TaskFailure,
    took: Duration,
    tail: Vec<String>,
    log: Option<std::path::PathBuf>,
) -> Ended {
    let mut report = outcome(&step, ReportOutcome::Failed);
    report.note = Some(failure.message.as_str().into());
    let failure = failed_step(Arc::clone(&step), failure, took, tail.clone(), log);
    let event = RunEvent::Failed(Box::new(failure));
    Ended { step, report, event, tail }
}

/// The failure of a step as it is told.
pub(super) fn failed_step(
    step: Arc<str>,
    failure: &TaskFailure,
    took: Duration,
    tail: Vec<String>,
    log: Option<std::path::PathBuf>,
) -> StepFailure {
    let TaskFailure { message, help, code, .. } = failure.clone();
    StepFailure { step, message, code, help, seconds: seconds(took), retried: false, tail, log }
}

/// The command of a task, with the names of its files as the template has them.
pub(super) fn command_line(task: &Task) -> String {
    let directory = format!("{}/", task.directory.join(FILES).display());
    let words = task.command.iter().map(|word| word.replace(&directory, ""));
    words.collect::<Vec<_>>().join(" ")
}
