//! Runs `cuvee instance list`, `import`, `verify`, `compact` and `delete`.

use super::InstanceWriting;
use crate::cli::args::instance::{
    DeleteInstanceArgs, ImportInstanceArgs, ListInstancesArgs, NamedInstanceArgs,
    VerifyInstanceArgs,
};
use crate::cli::read::ReadFiles;
use crate::cli::reporter::Reporter;
use crate::cli::stored::{exported, store};
use crate::cli::{Outcome, output, rejected, written};
use cuvee::deploy::instance::{
    InstanceLog, InstanceModel, ModelAt, OsStore, RecordOrigin, import_instance, import_log,
    instance_names, read_states, salvage, verify_instance,
};
use cuvee::diagnostic::{Code, Diagnostic, Severity};
use cuvee::output::draw::printable;
use cuvee::source::SourceMap;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

/// An instance in a list.
#[derive(Serialize)]
struct ListedInstance {
    name: String,
    revision: u64,
    template: String,
    /// The number of nodes in each state.
    states: BTreeMap<String, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    orchestration: Option<u64>,
    changed: String,
}

#[derive(Serialize)]
struct InstanceList {
    instances: Vec<ListedInstance>,
}

/// Lists the instances of a store.
pub(super) fn list(args: &ListInstancesArgs) -> Outcome {
    let store = store(args.store.store.as_deref());
    let names = instance_names(&store).map_err(rejected)?;
    let instances = names.into_iter().map(|name| {
        let model = read_states(&store, &name, ModelAt::Latest)?;
        Ok(listed(name, &model))
    });
    let instances = instances.collect::<Result<_, Diagnostic>>().map_err(rejected)?;
    written(&InstanceList { instances }, args.format, |list| {
        let mut text = String::new();
        for it in &list.instances {
            let states: Vec<_> =
                it.states.iter().map(|(state, count)| format!("{count} {state}")).collect();
            let open = it.orchestration.map_or_else(String::new, |id| format!("  since {id} open"));
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "{}@{}  {}  {}{open}  {}",
                it.name,
                it.revision,
                printable(&it.template),
                printable(&states.join(", ")),
                it.changed
            );
        }
        text
    })
}

fn listed(name: String, model: &InstanceModel) -> ListedInstance {
    let mut states = BTreeMap::new();
    for node in model.nodes.values() {
        *states.entry(node.state.to_string()).or_default() += 1;
    }
    ListedInstance {
        name,
        revision: model.revision,
        template: model.target.template.to_string(),
        states,
        orchestration: model.orchestration.as_ref().map(|open| open.id),
        changed: model.time.to_string(),
    }
}

/// Makes an instance of an export.
pub(super) fn import(args: &ImportInstanceArgs, reporter: &Reporter) -> Outcome {
    let (store, writing) = (
        store(args.author.store.store.as_deref()),
        InstanceWriting::of(&args.author, Some(&args.clock)),
    );
    let author = writing.author(RecordOrigin::Import);
    let is_log = args.file.extension().is_some_and(|it| it == "ndjson" || it == "log");
    let (revision, warnings) = if is_log {
        let text = std::fs::read_to_string(&args.file).map_err(|error| {
            let message = format!("cannot read `{}`: {error}", args.file.display());
            rejected(Diagnostic::error(Code::File, message))
        })?;
        let imported = import_log(&store, &args.name, &text, &author).map_err(rejected)?;
        (imported.revision, imported.warnings)
    } else {
        let model = exported(&args.file, &ReadFiles::default())?;
        let revision = import_instance(&store, &args.name, &model, &author).map_err(rejected)?;
        (revision, Vec::new())
    };
    reporter.report(&warnings, &SourceMap::default());
    output::to_stdout(format!("{}: revision {revision}\n", args.name)).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// The parts of an instance that were verified.
#[derive(Serialize)]
struct VerifiedLog {
    revision: u64,
    segments: usize,
    bytes: u64,
    blobs: usize,
    missing: usize,
    snapshots: usize,
    /// Whether all acknowledged records are present.
    whole: bool,
}

/// The parts of an instance that were salvaged.
#[derive(Serialize)]
struct SalvagedLog {
    revision: u64,
    blobs: usize,
}

/// Checks the stored data of an instance.
pub(super) fn verify(args: &VerifyInstanceArgs, reporter: &Reporter) -> Outcome {
    let store = store(args.store.store.as_deref());
    if let Some(to) = &args.salvage {
        let to = OsStore::new(to.clone());
        let salvaged = salvage(
            (&store, &args.name),
            (&to, &args.name),
            &InstanceWriting::reading().holder,
            Duration::from_secs(10),
        )
        .map_err(rejected)?;
        reporter.report(&salvaged.left, &SourceMap::default());
        let told = SalvagedLog { revision: salvaged.revision, blobs: salvaged.blobs };
        return written(&told, args.format, |it| {
            format!("revision {}, {} files beside the log\n", it.revision, it.blobs)
        });
    }
    let found = verify_instance(&store, &args.name).map_err(rejected)?;
    reporter.report(&found.diagnostics, &SourceMap::default());
    let is_broken = found.diagnostics.iter().any(|it| it.severity == Severity::Error);
    let told = VerifiedLog {
        revision: found.revision,
        segments: found.segments,
        bytes: found.bytes,
        blobs: found.blobs,
        missing: found.missing,
        snapshots: found.snapshots,
        whole: !is_broken,
    };
    written(&told, args.format, |it| {
        let VerifiedLog { revision, segments, bytes, blobs, missing, snapshots, .. } = it;
        format!(
            "revision {revision}: {bytes} bytes in {segments} segments, {blobs} files beside them, {missing} missing, {snapshots} snapshots\n"
        )
    })?;
    Ok(ExitCode::from(u8::from(is_broken)))
}

/// Writes a snapshot, so that the instance is faster to read.
pub(super) fn compact(args: &NamedInstanceArgs) -> Outcome {
    let (store, writing) =
        (store(args.author.store.store.as_deref()), InstanceWriting::of(&args.author, None));
    let mut log = InstanceLog::open(&store, &args.name).map_err(rejected)?;
    log.compact(&writing.author(RecordOrigin::Client)).map_err(rejected)?;
    let told = format!("snapshot of revision {}\n", log.model().revision);
    output::to_stdout(told).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// Deletes the data of an instance, but undeploys nothing.
pub(super) fn delete(args: &DeleteInstanceArgs) -> Outcome {
    let (store, writing) =
        (store(args.author.store.store.as_deref()), InstanceWriting::of(&args.author, None));
    let log = InstanceLog::open(&store, &args.name).map_err(rejected)?;
    let nodes = log.model().nodes.len();
    if nodes > 0 && !args.force {
        let message = format!("`{}` has {nodes} nodes", args.name);
        let help = "undeploy it first: `cuvee instance plan NAME --undeploy`; `--force` forgets it, and undeploys nothing";
        return Err(rejected(Diagnostic::error(Code::Usage, message).help(help)));
    }
    log.delete(&writing.author(RecordOrigin::Client)).map_err(rejected)?;
    output::to_stdout(format!("{} is forgotten; nothing was undeployed\n", args.name))
        .map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}
