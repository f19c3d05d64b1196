//! Reads streams of reports: one object per line. Each line is answered, and many become durable at
//! once.

use super::apply::{BegunPlan, Orchestration, ReadyStep, another_plan};
use super::model::InstanceModel;
use super::open::{InstanceLog, RecordAuthor, RecordGroup, RecordedChange};
use super::report::{InstanceReport, ReportRules, Reported};
use super::store::SnapshotPace;
use crate::diagnostic::Diagnostic;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// How many lines become durable at once at most.
pub const GROUP_LINES: usize = 1_000;

/// How long the first line of a group waits for others at most.
pub const GROUP_TIME: Duration = Duration::from_millis(20);

/// The answer to a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Acknowledgement {
    /// Whether the report was accepted.
    pub ok: bool,
    /// The number of the line, from 1.
    pub line: u64,
    /// The code of the error, if the report was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The message of the error, which shows no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The help of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Whether the report changed nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// The record of the report; for a repeated one the record of the first; otherwise the last
    /// record.
    pub revision: u64,
    /// The number of structural changes after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structure: Option<u64>,
    /// The token for further reports of the steps that the report claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Arc<str>>,
}

/// The progress of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakenLines {
    /// How many lines were read.
    pub lines: u64,
    /// Whether a line was refused.
    pub has_failed: bool,
}

/// Gives the reports that follow, for a model and the steps that are ready in it.
pub type NextReports<'n> =
    dyn FnMut(&InstanceModel, &mut dyn Iterator<Item = ReadyStep>) -> Vec<InstanceReport> + 'n;

/// A stream of reports.
///
/// The caller passes the lines that have arrived: at most [`GROUP_LINES`], and none that arrived
/// more than [`GROUP_TIME`] after the first. One write turns them into records, so every line that
/// was answered is durable.
///
/// ```
/// use cuvee::deploy::instance::{EventLog, Draft, Event, InstanceLog, LockHolder, MemoryStore, RecordAuthor, RecordOrigin, ReportRules, ReportStream};
/// use std::time::Duration;
/// let store = MemoryStore::new(1);
/// let ann = LockHolder { actor: "ann".to_owned(), process: 1 };
/// let author = RecordAuthor { holder: &ann, timeout: Duration::ZERO, time: jiff::Timestamp::UNIX_EPOCH, origin: RecordOrigin::Orchestrator };
/// let first = [Event::NodeAdopted { id: "db".into(), type_name: "Db".into() }];
/// let draft = Draft { time: author.time, actor: "ann", origin: author.origin, orchestration: None, key: None, events: &first };
/// EventLog::create(&store, "shop", &ann, Duration::ZERO, |writer| writer.commit(&[draft]))?;
///
/// let mut shop = InstanceLog::open(&store, "shop")?;
/// let mut stream = ReportStream::new(ReportRules::default(), None);
/// let lines = [r#"{"node": "db", "attributes": {"port": 5432}}"#, r#"{"node": "bd", "note": "slow"}"#];
/// let answers = stream.group(&mut shop, &author, &lines)?;
/// assert_eq!(serde_json::to_string(&answers[0]).unwrap(), r#"{"ok":true,"line":1,"revision":2,"structure":1}"#);
/// assert_eq!((answers[1].ok, answers[1].code), (false, Some("unknown-element")));
/// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
/// ```
pub struct ReportStream<'r, 't, 'a, 'p> {
    rules: ReportRules<'r, 't, 'a>,
    plan: Option<BegunPlan<'p>>,
    /// Whether another plan is carried out than the stream knows.
    is_outdated: bool,
    /// The plan with its progress, and the revision of that progress.
    running: Option<(Orchestration<'p>, u64)>,
    lines: u64,
    is_fail_fast: bool,
    has_failed: bool,
}

impl<'r, 't, 'a, 'p> ReportStream<'r, 't, 'a, 'p> {
    /// A stream of reports. `plan` is the plan that is carried out, if there is one.
    pub fn new(rules: ReportRules<'r, 't, 'a>, plan: Option<BegunPlan<'p>>) -> Self {
        let (running, lines, is_outdated) = (None, 0, false);
        Self { rules, plan, is_outdated, running, lines, is_fail_fast: false, has_failed: false }
    }

    /// The stream as the continuation of another one that had to stop.
    #[must_use]
    pub fn behind(self, TakenLines { lines, has_failed }: TakenLines) -> Self {
        Self { lines, has_failed, ..self }
    }

    /// The progress so far.
    pub fn taken(&self) -> TakenLines {
        TakenLines { lines: self.lines, has_failed: self.has_failed }
    }

    /// Whether another plan is carried out than the stream knows, so that lines were refused.
    pub fn is_outdated(&self) -> bool {
        self.is_outdated
    }

    /// The stream, set to end at the first line that is refused.
    pub fn fail_fast(self) -> Self {
        Self { is_fail_fast: true, ..self }
    }

    /// Whether a line was refused.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Whether the stream accepts no further line.
    pub fn is_over(&self) -> bool {
        self.is_fail_fast && self.has_failed
    }

    /// Reads lines, and answers each in order once all are durable. Blank lines are counted but not
    /// answered.
    ///
    /// # Errors
    /// As [`InstanceLog::change`]; none of the lines was accepted then. `orchestration-open` if
    /// another plan has begun than the one that the stream knows.
    pub fn group(
        &mut self,
        log: &mut InstanceLog<'_>,
        author: &RecordAuthor<'_>,
        lines: &[impl AsRef<str>],
    ) -> Result<Vec<Acknowledgement>, Diagnostic> {
        let before = self.taken();
        let written = log.writing(author, SnapshotPace::Seldom, |group| {
            self.catch_up(group)?;
            let mut answers = Vec::with_capacity(lines.len());
            for line in lines.iter().map(AsRef::as_ref) {
                if self.is_over() || line.trim().is_empty() {
                    self.lines += 1;
                    continue;
                }
                let report = InstanceReport::parse(line);
                answers.push(self.report(group, report.as_ref().map_err(Clone::clone)));
            }
            Ok(answers)
        });
        self.written(written, before)
    }

    /// Records reports, and then those that `next` gives for what is ready after them. Answers
    /// each in order once all are durable. `next` is called once, also without reports.
    ///
    /// # Errors
    /// As [`ReportStream::group`].
    pub fn reports(
        &mut self,
        log: &mut InstanceLog<'_>,
        author: &RecordAuthor<'_>,
        first: &[InstanceReport],
        next: &mut NextReports<'_>,
    ) -> Result<Vec<Acknowledgement>, Diagnostic> {
        let before = self.taken();
        let written = log.writing(author, SnapshotPace::Seldom, |group| {
            self.catch_up(group)?;
            let mut answers: Vec<_> =
                first.iter().map(|report| self.report(group, Ok(report))).collect();
            let is_open = group.model.orchestration.is_some();
            let running = self.running.as_ref().filter(|_| is_open);
            let model = &*group.model;
            let mut ready =
                running.into_iter().flat_map(|(it, _)| it.each_ready(model, author.time));
            let reports = next(model, &mut ready);
            drop(ready);
            for report in reports {
                answers.push(self.report(group, Ok(&report)));
            }
            Ok(answers)
        });
        self.written(written, before)
    }

    /// Notes whether what was read is durable.
    fn written<T>(
        &mut self,
        written: Result<RecordedChange<T>, Diagnostic>,
        before: TakenLines,
    ) -> Result<T, Diagnostic> {
        match written {
            Ok(written) => {
                if let Some((_, at)) = &mut self.running {
                    *at = written.revision;
                }
                Ok(written.result)
            }
            Err(error) => {
                (self.running, self.lines) = (None, before.lines);
                self.has_failed = before.has_failed;
                Err(error)
            }
        }
    }

    /// Renews the progress of the plan, since others may have written records meanwhile.
    fn catch_up(&mut self, group: &RecordGroup<'_, '_, '_>) -> Result<(), Diagnostic> {
        let model = &*group.model;
        if self.running.as_ref().is_some_and(|(_, at)| *at == model.revision) {
            return Ok(());
        }
        let known = self.plan.filter(|plan| plan.is_open_in(model));
        let has_plan = model.orchestration.as_ref().is_some_and(|open| open.plan.is_some());
        self.is_outdated = has_plan && known.is_none();
        if self.is_outdated {
            return Err(another_plan());
        }
        let running =
            known.map(|it| Orchestration::resume(model, it.plan, it.models)).transpose()?;
        self.running = running.map(|running| (running, model.revision));
        Ok(())
    }

    fn report(
        &mut self,
        group: &mut RecordGroup<'_, '_, '_>,
        report: Result<&InstanceReport, Diagnostic>,
    ) -> Acknowledgement {
        self.lines += 1;
        let reported = report.and_then(|report| {
            let is_open = group.model.orchestration.is_some();
            let mut running = self.running.as_mut().filter(|_| is_open).map(|(it, _)| it);
            let (mut record, _) = group.record();
            let reported = report.add_to(&mut record, &self.rules, running.as_deref_mut());
            match reported {
                Ok(reported) => {
                    let events = record.close(report.key.as_deref());
                    group.keep(events, report.key.as_deref());
                    Ok(reported)
                }
                Err(error) => {
                    // The progress of the plan is taken back as well.
                    let is_touched = !record.events().is_empty();
                    record.take_back();
                    if let Some(running) = running.filter(|_| is_touched) {
                        running.recount(group.model);
                    }
                    Err(error)
                }
            }
        });
        self.has_failed |= reported.is_err();
        answer(self.lines, reported, group)
    }
}

fn answer(
    line: u64,
    reported: Result<Reported, Diagnostic>,
    group: &RecordGroup<'_, '_, '_>,
) -> Acknowledgement {
    let (revision, structure) = (group.model.revision, Some(group.model.structure));
    let ok = Acknowledgement {
        ok: true,
        line,
        code: None,
        message: None,
        help: None,
        unchanged: false,
        revision,
        structure,
        token: None,
    };
    match reported {
        Ok(Reported::Changed) => ok,
        Ok(Reported::Claimed(token)) => Acknowledgement { token: Some(token), ..ok },
        Ok(Reported::Unchanged) => Acknowledgement { unchanged: true, ..ok },
        Ok(Reported::Repeated(revision)) => {
            Acknowledgement { unchanged: true, revision, structure: None, ..ok }
        }
        Err(error) => Acknowledgement {
            ok: false,
            code: Some(error.code.as_str()),
            message: Some(error.message),
            help: error.help.map(Into::into),
            structure: None,
            ..ok
        },
    }
}
