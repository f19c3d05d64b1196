//! Runs `cuvee plan --simulate`.

use super::args::{AssumeFormat, PlanArgs, PlanFormat, SimulateArgs};
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::{Outcome, json, output, rejected, stored};
use cuvee::Failure;
use cuvee::deploy::plan::{Plan, SimulationOptions, StartStates, simulate};
use cuvee::diagnostic::{Code, Diagnostic, Diagnostics};
use cuvee::output::draw::plan::{PlanDocument, simulated};
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::{FileSystem, SourceMap, SourceText};
use std::process::ExitCode;

/// Simulates a plan.
pub(super) fn run(
    args: &PlanArgs,
    format: PlanFormat,
    plan: &Plan,
    sources: &SourceMap,
    read: &ReadFiles,
    reporter: &Reporter,
) -> Outcome {
    let failed = |Diagnostics(diagnostics)| Failure { diagnostics, sources: sources.clone() };
    let start = start_states(&args.simulate, sources, read)?;
    let SimulateArgs { fail, assume, .. } = &args.simulate;
    let assume_unmet = *assume == AssumeFormat::Unmet;
    let how = SimulationOptions { fail: fail.clone(), assume_unmet };
    let simulation = simulate(plan, &start, &how).map_err(failed)?;
    let Diagnostics(found) = &simulation.diagnostics;
    let text = match format {
        // A simulation that may not begin has no output.
        PlanFormat::Human if simulation.diagnostics.has_errors() => None,
        PlanFormat::Human => Some(simulated(plan, &simulation)),
        PlanFormat::Json => {
            let document = PlanDocument::of(plan, sources, args.reveal).simulated(&simulation);
            Some(json(&document))
        }
        _ => {
            let message = "a simulation is written for people or as JSON";
            let help = "use `--format human` or `--format json`, or leave out `--simulate`";
            return Err(rejected(Diagnostic::error(Code::Usage, message).help(help)));
        }
    };
    if let Some(text) = text {
        output::deliver(args.output.as_deref(), text, read).map_err(rejected)?;
    }
    if simulation.diagnostics.has_errors() {
        return Err(failed(Diagnostics(found.clone())));
    }
    reporter.report(found, sources);
    Ok(ExitCode::from(u8::from(simulation.has_failed)))
}

/// The states before the plan, from the arguments.
pub(super) fn start_states(
    args: &SimulateArgs,
    sources: &SourceMap,
    read: &ReadFiles,
) -> Result<StartStates, Failure> {
    let failed = |Diagnostics(diagnostics)| Failure { diagnostics, sources: sources.clone() };
    given_states(args, sources, read).map_err(failed)
}

fn given_states(
    args: &SimulateArgs,
    sources: &SourceMap,
    read: &ReadFiles,
) -> Result<StartStates, Diagnostics> {
    let Some(path) = &args.state else { return Ok(StartStates::default()) };
    if let Some(source) = path.to_str().filter(|path| path.starts_with("instance:")) {
        let model = stored::model_of(source, args.store.as_deref());
        let model = model.map_err(|failure| Diagnostics(failure.diagnostics))?;
        return Ok(model.start_states());
    }
    let text = read.read(path).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        Diagnostic::error(Code::File, message)
    })?;
    let text = String::from_utf8(text).map_err(|_| {
        Diagnostic::error(Code::Syntax, format!("`{}` is no UTF-8 text", path.display()))
    })?;
    let text = SourceText::from(text);
    let file = sources.add(path, text.clone());
    StartStates::read(parse(file, text, &Limits::default())?.root())
}
