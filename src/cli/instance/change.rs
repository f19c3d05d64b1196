//! Runs `cuvee instance begin`, `finish` and `edit`.

use super::InstanceWriting;
use crate::cli::args::instance::{
    BeginInstanceArgs, EditCommand, EditInstanceArgs, FinishInstanceArgs, OutcomeFormat,
};
use crate::cli::reporter::Reporter;
use crate::cli::stored::store;
use crate::cli::{Outcome, output, rejected};
use cuvee::Failure;
use cuvee::deploy::instance::StoredInstance;
use cuvee::deploy::instance::{
    InstanceLog, ModelEdit, RecordOrigin, RecordedChange, ReportOutcome, finish_workflow,
};
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::value::Value;
use cuvee::source::{FileId, SourceMap};
use std::process::ExitCode;

/// Begins a change without a plan.
pub(super) fn begin(args: &BeginInstanceArgs, reporter: &Reporter) -> Outcome {
    let (store, writing) = (
        store(args.author.store.store.as_deref()),
        InstanceWriting::of(&args.author, Some(&args.clock)),
    );
    let mut instance = StoredInstance::open(&store, &args.name).map_err(rejected)?;
    let author = writing.author(RecordOrigin::Client);
    let changed = instance.begin(&args.workflow, &author, writing.expect);
    told(changed.map_err(rejected)?, reporter)
}

/// Ends a change without a plan.
pub(super) fn finish(args: &FinishInstanceArgs, reporter: &Reporter) -> Outcome {
    let (store, writing) = (
        store(args.author.store.store.as_deref()),
        InstanceWriting::of(&args.author, Some(&args.clock)),
    );
    let mut log = InstanceLog::open(&store, &args.name).map_err(rejected)?;
    let author = writing.author(RecordOrigin::Client);
    let outcome = match args.outcome {
        OutcomeFormat::Done => ReportOutcome::Done,
        OutcomeFormat::Failed => ReportOutcome::Failed,
        OutcomeFormat::Cancelled => ReportOutcome::Cancelled,
    };
    let changed =
        log.change(&author, writing.expect, None, |record, _| finish_workflow(record, outcome));
    told(changed.map_err(rejected)?, reporter)
}

/// Changes the model directly, without a report from the orchestrator.
pub(super) fn edit(args: &EditInstanceArgs, reporter: &Reporter) -> Outcome {
    let (store, writing) = (
        store(args.author.store.store.as_deref()),
        InstanceWriting::of(&args.author, Some(&args.clock)),
    );
    let mut instance = StoredInstance::open(&store, &args.name).map_err(rejected)?;
    let author = writing.author(RecordOrigin::Edit);
    let changed = instance.edit(&edit_of(args)?, &author, writing.expect, args.force)?;
    told(changed, reporter)
}

fn edit_of(args: &EditInstanceArgs) -> Result<ModelEdit, Failure> {
    if let (Some((path, value)), None) = (&args.set, &args.command) {
        return Ok(ModelEdit::Set { path: path.as_str().into(), value: Some(yaml(path, value)?) });
    }
    let Some(command) = &args.command else {
        let error =
            Diagnostic::error(Code::Usage, "`cuvee instance edit` needs something to change");
        return Err(rejected(
            error.help("give `--set PATH=VALUE`, `adopt`, `forget`, `rename` or `link`"),
        ));
    };
    Ok(match command {
        EditCommand::Adopt { type_name, id } => {
            ModelEdit::Adopt { type_name: type_name.as_str().into(), id: id.as_str().into() }
        }
        EditCommand::Forget { id } => ModelEdit::Forget { id: id.as_str().into() },
        EditCommand::Rename { old, new } => {
            ModelEdit::Rename { from: old.as_str().into(), to: new.as_str().into() }
        }
        EditCommand::Link { entity, link: (name, uri) } => ModelEdit::Link {
            entity: entity.as_str().into(),
            name: name.as_str().into(),
            uri: (!uri.is_empty()).then(|| uri.as_str().into()),
        },
    })
}

/// Parses the YAML value of an argument.
pub(super) fn yaml(what: &str, text: &str) -> Result<Value, Failure> {
    match parse(FileId::DETACHED, text.into(), &Limits::default()) {
        Ok(document) => Ok(document.root().to_value()),
        Err(mut error) => {
            error.message = format!("the value of `{what}`: {}", error.message);
            error.span = None;
            Err(rejected(error))
        }
    }
}

/// Prints the revision of the new record.
pub(super) fn told<T>(changed: RecordedChange<T>, reporter: &Reporter) -> Outcome {
    let RecordedChange { revision, is_written, warnings, .. } = changed;
    reporter.report(&warnings, &SourceMap::default());
    let told = match is_written {
        true => format!("revision {revision}\n"),
        false => format!("unchanged: revision {revision}\n"),
    };
    output::to_stdout(told).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}
