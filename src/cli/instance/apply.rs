//! Runs `cuvee instance apply`.

use super::InstanceWriting;
use super::change::told;
use crate::cli::args::ListFormat;
use crate::cli::args::instance::ApplyInstanceArgs;
use crate::cli::reporter::Reporter;
use crate::cli::stored::store;
use crate::cli::{Outcome, json, output, rejected, streams};
use cuvee::Failure;
use cuvee::deploy::instance::{
    ReadyStep, RecordAuthor, RecordOrigin, RecordedChange, ReportOutcome, StoredInstance,
    finish_workflow,
};
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::output::draw::printable;
use cuvee::source::SourceMap;
use serde::Serialize;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

/// Begins to carry out a plan, resumes it, or cancels it.
pub(super) fn run(args: &ApplyInstanceArgs, reporter: &Reporter) -> Outcome {
    let store = store(args.author.store.store.as_deref());
    let mut instance = StoredInstance::open(&store, &args.name).map_err(rejected)?;
    let writing = InstanceWriting::of(&args.author, Some(&args.clock));
    let author = writing.author(RecordOrigin::Client);
    if args.cancel {
        return told(cancelled(&mut instance, &author, writing.expect)?, reporter);
    }
    let applied = match &args.plan {
        Some(plan) => instance.apply(&document(plan)?, &author, writing.expect, args.assume_done),
        None => instance.resume(&author, writing.expect, args.assume_done),
    };
    let changed = applied.map_err(rejected)?;
    reporter.report(&changed.warnings, &SourceMap::default());
    shown(&changed.result, changed.revision, args.format)
}

/// Gives up the plan that is carried out.
pub(super) fn cancelled(
    instance: &mut StoredInstance<'_>,
    author: &RecordAuthor<'_>,
    expect: Option<u64>,
) -> Result<RecordedChange<()>, Failure> {
    let cancelled = instance.log().change(author, expect, None, |record, _| {
        finish_workflow(record, ReportOutcome::Cancelled)
    });
    cancelled.map_err(rejected)
}

/// Reads the document of a plan.
pub(super) fn document(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        rejected(Diagnostic::error(Code::File, message))
    };
    if path == Path::new(streams::STANDARD_INPUT) {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(failed)?;
        return Ok(text);
    }
    std::fs::read_to_string(path).map_err(failed)
}

/// The steps that can be done next, in their JSON form.
#[derive(Serialize)]
struct AppliedSteps<'r> {
    revision: u64,
    ready: &'r [ReadyStep],
}

fn shown(ready: &[ReadyStep], revision: u64, format: ListFormat) -> Outcome {
    let text = match format {
        ListFormat::Json => json(&AppliedSteps { revision, ready }),
        ListFormat::Human if ready.is_empty() => "nothing is left to do\n".to_owned(),
        ListFormat::Human => lines(ready),
    };
    output::to_stdout(text).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// The steps that can be done next, one a line.
pub(super) fn lines(ready: &[ReadyStep]) -> String {
    let mut text = String::new();
    for ReadyStep { step, status, .. } in ready {
        // Writing to a string does not fail.
        let _ = match status {
            Some(status) => writeln!(text, "{}  {}", printable(step), status.as_str()),
            None => writeln!(text, "{}", printable(step)),
        };
    }
    text
}
