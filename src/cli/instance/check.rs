//! Runs `cuvee instance check`.

use super::init::deploying;
use super::run::no_directory;
use super::{InstanceWriting, interrupt, progress};
use crate::cli::args::instance::{CheckInstanceArgs, DeploymentArgs};
use crate::cli::args::{ListFormat, PlanFormat};
use crate::cli::diff::human;
use crate::cli::plan::{ShownPlan, drawn};
use crate::cli::read::ReadFiles;
use crate::cli::reporter::Reporter;
use crate::cli::stored::{directory, store};
use crate::cli::{Outcome, config, json, output, rejected, watch};
use clap::ColorChoice;
use cuvee::deploy::instance::{
    InstancePlanQuery, OsStore, RecordAuthorNow, SecretValues, StoredInstance,
};
use cuvee::operate::{
    CHECK, HOW, InstanceCheck, InstanceOperator, LocalExecutor, RunSettings, checkable, signals,
};
use cuvee::{Failure, Resolver};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

/// What a check found, in its JSON form.
#[derive(Serialize)]
struct CheckDocument<'c> {
    instance: &'c str,
    #[serde(flatten)]
    found: &'c InstanceCheck,
    /// The record of the drift, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<u64>,
}

/// Finds out what is really there.
pub(super) fn run(args: &CheckInstanceArgs, reporter: &Reporter, color: ColorChoice) -> Outcome {
    interrupt::handle();
    let root = directory(args.author.store.store.as_deref());
    let mut settings = config::call_settings(&args.calls, &root)?;
    config::add_probes(&args.probes, &mut settings)?;
    let store = store(args.author.store.store.as_deref());
    let aside = tempfile::Builder::new().prefix("cuvee-check-").tempdir();
    let aside = aside.map_err(|why| no_directory(&why))?;
    let mut instance = StoredInstance::open(&store, &args.name).map_err(rejected)?;
    let (found, recorded) =
        checked(args, reporter, (&store, &mut instance), &settings, aside.path())?;
    tell(args, color, &found, recorded)?;
    let has_failed = found.stopped || found.checked.iter().any(|node| node.failure.is_some());
    let differs = args.exit_code && !found.drift.is_empty();
    Ok(ExitCode::from(u8::from(has_failed || differs)))
}

/// Checks the nodes, and records the drift if that is wanted.
fn checked(
    args: &CheckInstanceArgs,
    reporter: &Reporter,
    (store, instance): (&OsStore, &mut StoredInstance<'_>),
    settings: &RunSettings,
    directory: &Path,
) -> Result<(InstanceCheck, Option<u64>), Failure> {
    let author = || {
        let InstanceWriting { holder, timeout, time, .. } = InstanceWriting::of(&args.author, None);
        RecordAuthorNow { holder, timeout, time }
    };
    let operator = InstanceOperator {
        store,
        instance: &args.name,
        settings,
        author: &author,
        secrets: secrets(args, instance)?,
        directory: directory.join("work"),
    };
    // While somebody runs the instance, nothing is as the log says for long.
    let lease = args.record.then(|| operator.lease()).transpose().map_err(rejected)?;
    let document = document(args, reporter, instance)?;
    watch::hide();
    let mut executor = LocalExecutor::new(&operator.directory, false);
    let signals = signals();
    interrupt::tell(Some(signals.0.clone()));
    let found = operator.look(instance, &document, &args.nodes, &mut executor, signals);
    interrupt::tell(None);
    let found = found?;
    let mut recorded = None;
    if args.record && !found.drift.is_empty() && !found.stopped {
        let change = instance.record(&found.report, &author().author(), HOW)?;
        recorded = Some(change.revision);
    }
    drop(lease);
    Ok((found, recorded))
}

/// The plan that calls the operations that check nodes.
fn document(
    args: &CheckInstanceArgs,
    reporter: &Reporter,
    instance: &StoredInstance<'_>,
) -> Result<String, Failure> {
    let (ran, _) = checkable(instance.model(), &args.nodes).map_err(rejected)?;
    let ran: BTreeSet<&str> = ran.into_iter().map(|node| &**node).collect();
    let query = InstancePlanQuery { name: args.name.clone(), ..InstancePlanQuery::default() };
    let answer = instance.plan_operation(&query, CHECK, &|node| ran.contains(node))?;
    reporter.report(&answer.warnings, &answer.sources);
    let shown = ShownPlan { all_steps: true, reveal: false };
    drawn(&answer.result, PlanFormat::Json, shown, &answer.sources, None)
}

/// The secrets of the variant, resolved once more: the instance may keep only digests of them.
fn secrets(
    args: &CheckInstanceArgs,
    instance: &StoredInstance<'_>,
) -> Result<SecretValues, Failure> {
    let template = &*instance.model().target.template;
    if template.is_empty() {
        return Ok(SecretValues::default());
    }
    let resolver = instance.with_choice(Resolver::new(template).files(ReadFiles::default()));
    let resolver = instance.with_inputs(deploying(resolver, &args.deployment));
    let DeploymentArgs { deployment_files, deployment_inputs } = &args.deployment;
    let is_given = !deployment_files.is_empty() || !deployment_inputs.is_empty();
    match resolver.instance_secrets(&instance.secrets().map_err(rejected)?) {
        Ok(secrets) => Ok(secrets),
        Err(failure) if is_given => Err(failure),
        // Only checks that need secrets miss them, and say so.
        Err(_) => Ok(SecretValues::default()),
    }
}

fn tell(
    args: &CheckInstanceArgs,
    color: ColorChoice,
    found: &InstanceCheck,
    recorded: Option<u64>,
) -> Result<(), Failure> {
    if args.format == ListFormat::Json {
        let document = CheckDocument { instance: &args.name, found, recorded };
        return output::to_stdout(json(&document)).map_err(rejected);
    }
    let mut text = String::new();
    for node in &found.checked {
        node.notes.iter().for_each(|note| text.push_str(&format!("{}: {note}\n", node.node)));
        if let Some(failure) = &node.failure {
            text.push_str(&format!("{}\n", progress::failed(failure)));
        }
    }
    output::to_stdout(text).map_err(rejected)?;
    output::to_stdout_styled(&human(&found.drift), color).map_err(rejected)?;
    output::to_stdout(counts(found, recorded)).map_err(rejected)
}

/// How many nodes were checked, and what was recorded.
fn counts(found: &InstanceCheck, recorded: Option<u64>) -> String {
    let count = found.checked.len();
    let mut text = format!("{count} {} checked", if count == 1 { "node" } else { "nodes" });
    match &*found.unchecked {
        [] => {}
        some => text.push_str(&format!(", {} not checked: {}", some.len(), some.join(", "))),
    }
    if found.stopped {
        text.push_str("; stopped before the end");
    }
    text.push('\n');
    recorded.into_iter().for_each(|revision| text.push_str(&format!("revision {revision}\n")));
    text
}
