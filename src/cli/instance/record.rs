//! Runs `cuvee instance record`.

use super::InstanceWriting;
use super::change::{told, yaml};
use crate::cli::args::instance::{RecordInstanceArgs, StepOutcomeFormat};
use crate::cli::reporter::Reporter;
use crate::cli::stored::store;
use crate::cli::{Outcome, output, rejected};
use cuvee::Failure;
use cuvee::deploy::instance::{
    Acknowledgement, GROUP_LINES, GROUP_TIME, InstanceReport, RecordOrigin, ReportOutcome, Reported,
};
use cuvee::deploy::instance::{RecordAuthorNow, ReportLines, StoredInstance, TakenReports};
use cuvee::source::SourceMap;
use cuvee::source::value::Value;
use std::io::{BufRead, BufReader};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Instant;

/// Records a report, or a stream of reports.
pub(super) fn run(args: &RecordInstanceArgs, reporter: &Reporter) -> Outcome {
    let store = store(args.author.store.store.as_deref());
    if args.stream {
        let mut instance = StoredInstance::open(&store, &args.name).map_err(rejected)?;
        return stream(args, &mut instance);
    }
    let writing = InstanceWriting::of(&args.author, Some(&args.clock));
    let author = writing.author(RecordOrigin::Orchestrator);
    let report = report(args, writing.expect)?;
    let recorded = StoredInstance::record_one(&store, &args.name, &report, &author, taking(args))?;
    let Reported::Claimed(token) = &recorded.result else { return told(recorded, reporter) };
    reporter.report(&recorded.warnings, &SourceMap::default());
    output::to_stdout(format!("{token}\n")).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

fn taking(args: &RecordInstanceArgs) -> TakenReports {
    TakenReports { undeclared: args.undeclared, force: args.force }
}

/// Makes a report of the arguments.
fn report(args: &RecordInstanceArgs, expect: Option<u64>) -> Result<InstanceReport, Failure> {
    let values = |said: &[(String, String)]| {
        let value = |(name, text): &(String, String)| {
            Ok::<(Arc<str>, Value), Failure>((Arc::from(&**name), yaml(name, text)?))
        };
        said.iter().map(value).collect::<Result<Vec<_>, _>>()
    };
    let mut report = InstanceReport::default();
    report.node = args.node.as_deref().map(Arc::from);
    report.relation = args.relation.as_deref().map(Arc::from);
    report.state = args.state.as_deref().map(Arc::from);
    for (name, value) in values(&args.attributes)? {
        match name.split_once('.') {
            Some((capability, name)) => {
                report.capability_attributes.push((capability.into(), name.into(), value));
            }
            None => report.attributes.push((name, value)),
        }
    }
    report.event = args.event.as_deref().map(Arc::from);
    report.outputs = values(&args.outputs)?;
    report.step = args.step.as_deref().map(Arc::from);
    report.outcome = args.outcome.map(|outcome| match outcome {
        StepOutcomeFormat::Done => ReportOutcome::Done,
        StepOutcomeFormat::Failed => ReportOutcome::Failed,
    });
    report.claim = args.claim.then_some(args.lease);
    report.token = args.token.as_deref().map(Arc::from);
    report.key = args.key.as_deref().map(Arc::from);
    report.expect = expect;
    report.note = args.note.as_deref().map(Arc::from);
    Ok(report)
}

/// Reads reports from standard input and answers each.
fn stream(args: &RecordInstanceArgs, instance: &mut StoredInstance<'_>) -> Outcome {
    let lines = lines();
    let mut waiting = Vec::new();
    let mut next = |answers: &[Acknowledgement]| {
        let mut text = Vec::new();
        for answer in answers {
            // Strings, numbers and booleans can always be written, and a buffer takes all.
            let _ = serde_json::to_writer(&mut text, answer);
            text.push(b'\n');
        }
        output::to_stdout(text)?;
        Ok(group(&lines, &mut waiting).map(|lines| {
            let InstanceWriting { holder, timeout, time, .. } =
                InstanceWriting::of(&args.author, Some(&args.clock));
            ReportLines { author: RecordAuthorNow { holder, timeout, time }, lines }
        }))
    };
    let is_whole = instance.stream(taking(args), args.fail_fast, &mut next)?;
    Ok(ExitCode::from(u8::from(!is_whole)))
}

/// The number of bytes that are read from standard input at once.
const READ: usize = 1 << 16;

/// Receives the lines of standard input as they arrive. Each message has all lines that were
/// available.
fn lines() -> Receiver<Vec<String>> {
    let (send, lines) = sync_channel(4);
    std::thread::spawn(move || {
        let mut input = BufReader::with_capacity(READ, std::io::stdin());
        let mut ready = Vec::new();
        loop {
            let mut line = String::new();
            let is_over = !matches!(input.read_line(&mut line), Ok(1..));
            if !is_over {
                ready.push(line);
            }
            let has_more = !is_over && input.buffer().contains(&b'\n');
            let is_ready = ready.len() == GROUP_LINES || !has_more;
            if is_ready && (send.send(std::mem::take(&mut ready)).is_err() || is_over) {
                return;
            }
        }
    });
    lines
}

/// Collects the lines that are recorded together: the available ones, up to `GROUP_LINES`, within
/// `GROUP_TIME`. The other lines wait for the next group.
fn group(lines: &Receiver<Vec<String>>, waiting: &mut Vec<String>) -> Option<Vec<String>> {
    let mut group = std::mem::take(waiting);
    let end = Instant::now() + GROUP_TIME;
    while group.len() < GROUP_LINES {
        let more = match lines.try_recv() {
            Ok(more) => more,
            Err(_) if group.is_empty() => lines.recv().ok()?,
            // A sender that waits for an answer sends no further lines, so the wait is short.
            Err(_) => match lines
                .recv_timeout(end.saturating_duration_since(Instant::now()).min(GROUP_TIME / 20))
            {
                Ok(more) => more,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            },
        };
        group.extend(more);
    }
    *waiting = group.split_off(group.len().min(GROUP_LINES));
    Some(group)
}
