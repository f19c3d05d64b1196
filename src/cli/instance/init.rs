//! Runs `cuvee instance init`.

use super::InstanceWriting;
use crate::cli::args::instance::{DeploymentArgs, InitInstanceArgs};
use crate::cli::reporter::Reporter;
use crate::cli::stored::store;
use crate::cli::{Outcome, output, rejected, select};
use cuvee::Resolver;
use cuvee::deploy::instance::InstanceSettings;
use cuvee::deploy::instance::RecordOrigin;
use std::process::ExitCode;

/// Makes an instance of a variant.
pub(super) fn run(args: &InitInstanceArgs, reporter: &Reporter) -> Outcome {
    let resolver = deploying(select::chosen(&args.template, &args.choose)?, &args.deployment);
    let settings = InstanceSettings {
        secrets: args.secrets.into(),
        sensitive: args.sensitive.clone(),
        tenant: args.tenant.clone(),
        runtime: args.runtime.clone(),
    };
    let mut writing = InstanceWriting::of(&args.author, None);
    if let Some(now) = &args.choose.now {
        writing.time = now.timestamp();
    }
    let author = writing.author(RecordOrigin::Client);
    let answer = resolver.init_instance(
        &store(args.author.store.store.as_deref()),
        &args.name,
        &settings,
        &author,
    )?;
    reporter.report(&answer.warnings, &answer.sources);
    let model = answer.result;
    let nodes = model.nodes.len();
    let nodes = if nodes == 1 { "1 node".to_owned() } else { format!("{nodes} nodes") };
    let told = format!("{}: {nodes}, revision {}\n", args.name, model.revision);
    output::to_stdout(told).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// Configures the resolver to evaluate functions with these topology inputs.
pub(super) fn deploying(resolver: Resolver, args: &DeploymentArgs) -> Resolver {
    let DeploymentArgs { deployment_files, deployment_inputs } = args;
    select::with_deployment(resolver.evaluate_functions(), deployment_files, deployment_inputs)
}
