//! Runs `cuvee instance`: keeps the state of deployments, their history, and their next steps.

mod adapt;
mod apply;
mod change;
mod check;
mod diff;
mod export;
mod handover;
mod init;
mod interrupt;
mod keep;
mod log;
mod next;
mod plan;
mod progress;
mod query;
mod ready;
mod record;
mod rehearse;
mod run;
mod show;

use super::read::ReadFiles;
use super::reporter::Reporter;
use super::stored::{NamedModel, exported, instance_name, model, store};
use super::{Outcome, format, output, rejected, watch};
use crate::cli::args::ListFormat;
use crate::cli::args::instance::{
    AuthorArgs, ClockArgs, DiffInstancesArgs, ExportInstanceArgs, ExportedForm, InstanceArgs,
    InstanceCommand, QueryInstanceArgs, ReadInstanceArgs, ShowInstanceArgs,
};
use clap::ColorChoice;
use cuvee::Failure;
use cuvee::deploy::instance::{
    InstanceModel, LockHolder, ModelExport, ModelReading, RecordAuthor, RecordOrigin, SecretsMode,
    ask_about_entity, export_log, view_entity,
};
use cuvee::deploy::instance::{StoredInstance, with_derivation};
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::source::SourceMap;
use export::ModelFormat;
use jiff::Timestamp;
use query::QueryAsk;
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::time::Duration;

/// Runs the command for instances.
pub(crate) fn run(args: &InstanceArgs, reporter: &Reporter, color: ColorChoice) -> Outcome {
    // What runs something ends that before it ends itself.
    if !matches!(args.command, InstanceCommand::Run(_) | InstanceCommand::Check(_)) {
        output::clean_up_on_interrupt();
    }
    // `record` may wait for reports for a long time, which no phase should be charged with.
    if !matches!(args.command, InstanceCommand::Record(_)) {
        watch::phase("reading the instance");
    }
    match &args.command {
        InstanceCommand::Init(args) => init::run(args, reporter),
        InstanceCommand::List(args) => keep::list(args),
        InstanceCommand::Show(args) => show(args),
        InstanceCommand::Query(args) => query(args, reporter),
        InstanceCommand::Log(args) => log::run(args),
        InstanceCommand::Plan(args) => plan::run(args, reporter),
        InstanceCommand::Run(args) => run::run(args, reporter),
        InstanceCommand::Check(args) => check::run(args, reporter, color),
        InstanceCommand::Apply(args) => apply::run(args, reporter),
        InstanceCommand::Ready(args) => ready::run(args),
        InstanceCommand::Begin(args) => change::begin(args, reporter),
        InstanceCommand::Finish(args) => change::finish(args, reporter),
        InstanceCommand::Record(args) => record::run(args, reporter),
        InstanceCommand::Edit(args) => change::edit(args, reporter),
        InstanceCommand::Diff(args) => diff(args, color),
        InstanceCommand::Export(args) => export(args, reporter),
        InstanceCommand::Import(args) => keep::import(args, reporter),
        InstanceCommand::Verify(args) => keep::verify(args, reporter),
        InstanceCommand::Compact(args) => keep::compact(args),
        InstanceCommand::Delete(args) => keep::delete(args),
    }
}

/// The author, the time and the conditions of a record to be written.
struct InstanceWriting {
    holder: LockHolder,
    timeout: Duration,
    time: Timestamp,
    expect: Option<u64>,
}

impl InstanceWriting {
    fn of(author: &AuthorArgs, clock: Option<&ClockArgs>) -> Self {
        let now = clock.and_then(|clock| clock.now.as_ref());
        Self {
            holder: LockHolder { actor: actor(author), process: std::process::id() },
            timeout: Duration::from_secs(author.lock_timeout),
            time: now.map_or_else(Timestamp::now, jiff::Zoned::timestamp),
            expect: author.expect,
        }
    }

    /// The settings for commands that only store what a plan needs.
    fn reading() -> Self {
        let holder = LockHolder { actor: user(), process: std::process::id() };
        Self { holder, timeout: Duration::from_secs(10), time: Timestamp::now(), expect: None }
    }

    fn author(&self, origin: RecordOrigin) -> RecordAuthor<'_> {
        let Self { holder, timeout, time, .. } = self;
        RecordAuthor { holder, timeout: *timeout, time: *time, origin }
    }
}

/// The author of a record.
fn actor(args: &AuthorArgs) -> String {
    args.actor.clone().unwrap_or_else(user)
}

/// The name of the user who runs the program, or else the number.
fn user() -> String {
    let known = ["USER", "LOGNAME"].iter().filter_map(|name| std::env::var(name).ok());
    known.into_iter().find(|name| !name.is_empty()).unwrap_or_else(user_number)
}

#[cfg(unix)]
fn user_number() -> String {
    rustix::process::getuid().as_raw().to_string()
}

#[cfg(not(unix))]
fn user_number() -> String {
    std::env::var("USERNAME").unwrap_or_else(|_| "unknown".to_owned())
}

/// Reads the requested model. The model is never freed, because that would take a fifth of the time
/// of a query on a large one, and the process ends soon.
fn read(args: &ReadInstanceArgs) -> Result<ManuallyDrop<InstanceModel>, Failure> {
    let reading = ModelReading { unstable: args.unstable, ..ModelReading::default() };
    let store = store(args.store.store.as_deref());
    let model = model(&args.name, args.at.as_deref(), &store, &reading)?;
    check_reveal(args, &model).map(|()| ManuallyDrop::new(model)).map_err(rejected)
}

/// Checks that secrets can be shown: the instance has to keep them.
fn check_reveal(args: &ReadInstanceArgs, model: &InstanceModel) -> Result<(), Diagnostic> {
    if !args.reveal || model.secrets == SecretsMode::Keep {
        return Ok(());
    }
    let message = format!("`{}` does not keep secrets, so none can be shown", args.name);
    let help = "`cuvee instance init --secrets keep` keeps them";
    Err(Diagnostic::error(Code::Usage, message).help(help))
}

/// Checks that a log can be exported: it has to stay as it is, with the secrets that are kept in it.
fn check_hidden(args: &ReadInstanceArgs) -> Result<(), Failure> {
    if args.reveal || read(args)?.secrets != SecretsMode::Keep {
        return Ok(());
    }
    let message = format!("the log of `{}` contains secrets as they are", args.name);
    let help = "`--reveal` exports them";
    Err(rejected(Diagnostic::error(Code::Usage, message).help(help)))
}

fn show(args: &ShowInstanceArgs) -> Outcome {
    let ReadInstanceArgs { name, at, unstable, reveal, output, .. } = &args.read;
    let (unstable, reveal) = (*unstable, *reveal);
    let reading = ModelReading { unstable, reveal, ..ModelReading::default() };
    let format = format::chosen(args.format, output.as_deref())?.unwrap_or(ListFormat::Human);
    let text = match &args.entity {
        None => show::model(&*read(&args.read)?, &reading, format),
        Some(entity) => {
            let view = |model: &InstanceModel| {
                check_reveal(&args.read, model)?;
                view_entity(model, entity, &reading)
            };
            let view = match NamedModel::of(name, at.as_deref())? {
                NamedModel::File(path) => view(&exported(path, &ReadFiles::default())?),
                // The value of an output may depend on any part of the instance.
                NamedModel::Instance(..) if entity.starts_with("output.") => {
                    view(&*read(&args.read)?)
                }
                NamedModel::Instance(name, at) => {
                    let store = store(args.read.store.store.as_deref());
                    ask_about_entity(&store, name, at, entity, &view)
                }
            };
            show::entity(&view.map_err(rejected)?, format)
        }
    };
    output::deliver(output.as_deref(), text, &ReadFiles::default()).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

fn query(args: &QueryInstanceArgs, reporter: &Reporter) -> Outcome {
    let ReadInstanceArgs { unstable, reveal, output, .. } = &args.read;
    let model = read(&args.read)?;
    let ask = QueryAsk {
        path: args.path.as_deref(),
        node_filter: args.node_filter.as_deref(),
        function: args.function.as_deref(),
        evaluate: args.evaluate.as_deref(),
        of: args.of.as_deref(),
        unstable: *unstable,
        reveal: *reveal,
        format: format::chosen(args.format, output.as_deref())?.unwrap_or(ListFormat::Human),
        output: output.as_deref(),
    };
    let read = ReadFiles::default();
    match NamedModel::of(&args.read.name, None)? {
        NamedModel::Instance(name, _) => {
            let store = store(args.read.store.store.as_deref());
            with_derivation(&store, name, &model, |derives, forms| {
                let types = ModelReading { derives, forms: Some(forms), ..ModelReading::default() };
                query::run(&model, &ask, &types, &read, reporter)
            })?
        }
        // An export has the types of its nodes, but not the derivation of these types.
        NamedModel::File(_) => query::run(&model, &ask, &ModelReading::default(), &read, reporter),
    }
}

fn diff(args: &DiffInstancesArgs, color: ColorChoice) -> Outcome {
    let store = store(args.store.store.as_deref());
    let read = |name: &str| model(name, None, &store, &ModelReading::default());
    let (from, to) = (read(&args.from)?, read(&args.to)?);
    diff::run([&from, &to], [&args.from, &args.to], args.exit_code, args.format, color)
}

fn export(args: &ExportInstanceArgs, reporter: &Reporter) -> Outcome {
    let ReadInstanceArgs { name, unstable, reveal, output, store: stored, .. } = &args.read;
    let (read_files, output) = (ReadFiles::default(), output.as_deref());
    let form = format::chosen(args.format, output)?.unwrap_or(ExportedForm::Yaml);
    let format = match form {
        ExportedForm::Yaml => ModelFormat::Yaml,
        ExportedForm::Json => ModelFormat::Json,
        ExportedForm::Bindings => ModelFormat::Bindings,
        ExportedForm::Template => {
            let model = read(&args.read)?;
            let store = store(stored.store.as_deref());
            let name = instance_name(name);
            let instance = StoredInstance::open(&store, name).map_err(rejected)?;
            let text = instance.template(&model, *reveal)?;
            output::deliver(output, text, &read_files).map_err(rejected)?;
            return Ok(ExitCode::SUCCESS);
        }
        ExportedForm::Log => {
            check_hidden(&args.read)?;
            let log = export_log(&store(stored.store.as_deref()), name).map_err(rejected)?;
            reporter.report(&log.warnings, &SourceMap::default());
            output::deliver(output, log.text, &read_files).map_err(rejected)?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let how = ModelExport { unstable: *unstable, reveal: *reveal };
    export::run(&*read(&args.read)?, format, how, output, &read_files)
}
