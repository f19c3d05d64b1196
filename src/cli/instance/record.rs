//! `cuvee instance record`

use super::InstanceWriting;
use super::change::{told, yaml};
use crate::cli::args::instance::{RecordInstanceArgs, StepOutcomeFormat};
use crate::cli::reporter::Reporter;
use crate::cli::stored::store;
use crate::cli::{Outcome, output, rejected};
use cuvee::Failure;
use cuvee::instance::{
    Acknowledgement, GROUP_LINES, GROUP_TIME, InstanceReport, RecordOrigin, ReportOutcome,
};
use cuvee::instance::{RecordAuthorNow, ReportLines, StoredInstance, TakenReports};
use cuvee::value::Value;
use std::io::BufRead;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Instant;

/// Records what has happened.
pub(super) fn run(args: &RecordInstanceArgs, reporter: &Reporter) -> Outcome {
    let store = store(args.author.store.store.as_deref());
    let mut instance = StoredInstance::open(&store, &args.name).map_err(rejected)?;
    if args.stream {
        return stream(args, &mut instance);
    }
    let writing = InstanceWriting::of(&args.author, Some(&args.clock));
    let author = writing.author(RecordOrigin::Orchestrator);
    told(instance.record(&report(args, writing.expect)?, &author, taking(args))?, reporter)
}

fn taking(args: &RecordInstanceArgs) -> TakenReports {
    TakenReports { undeclared: args.undeclared, force: args.force }
}

/// What the arguments report.
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
    report.outputs = values(&args.outputs)?;
    report.step = args.step.as_deref().map(Arc::from);
    report.outcome = args.outcome.map(|outcome| match outcome {
        StepOutcomeFormat::Done => ReportOutcome::Done,
        StepOutcomeFormat::Failed => ReportOutcome::Failed,
    });
    report.key = args.key.as_deref().map(Arc::from);
    report.expect = expect;
    report.note = args.note.as_deref().map(Arc::from);
    Ok(report)
}

/// Reads reports from standard input and answers each.
fn stream(args: &RecordInstanceArgs, instance: &mut StoredInstance<'_>) -> Outcome {
    let lines = lines();
    let mut next = |answers: &[Acknowledgement]| {
        let mut text = String::new();
        for answer in answers {
            // Strings, numbers and booleans can always be written.
            text.push_str(&serde_json::to_string(answer).unwrap_or_default());
            text.push('\n');
        }
        output::to_stdout(text)?;
        Ok(group(&lines).map(|lines| {
            let InstanceWriting { holder, timeout, time, .. } =
                InstanceWriting::of(&args.author, Some(&args.clock));
            ReportLines { author: RecordAuthorNow { holder, timeout, time }, lines }
        }))
    };
    let is_whole = instance.stream(taking(args), args.fail_fast, &mut next)?;
    Ok(ExitCode::from(u8::from(!is_whole)))
}

/// The lines of standard input as they come.
fn lines() -> Receiver<String> {
    let (send, lines) = sync_channel(4 * GROUP_LINES);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if send.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

/// The lines that are recorded together: those that are there, up to so many, for so long.
fn group(lines: &Receiver<String>) -> Option<Vec<String>> {
    let mut group = vec![lines.recv().ok()?];
    let end = Instant::now() + GROUP_TIME;
    while group.len() < GROUP_LINES {
        let line = match lines.try_recv() {
            Ok(line) => line,
            // Who waits for an answer sends nothing more.
            Err(_) => match lines
                .recv_timeout(end.saturating_duration_since(Instant::now()).min(GROUP_TIME / 20))
            {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            },
        };
        group.push(line);
    }
    Some(group)
}
