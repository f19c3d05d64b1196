//! `cuvee plan`

use super::args::{AdaptArgs, OrderArgs, OrderFormat, PlanArgs, PlanFormat};
use super::diff::choose;
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::{Outcome, json, output, rejected, select, simulate};
use cuvee::draw::plan::{PlanDocument, human, workflows};
use cuvee::explore::Answer;
use cuvee::plan::{Adaptation, OrderOptions, Plan, PlanQuery, Relaxation, WorkflowOutline};
use cuvee::source::FileId;
use cuvee::value::Value;
use cuvee::yaml::{Limits, parse};
use cuvee::{Failure, Resolver};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// Plans a workflow of a variant, or what leads from one to another.
pub(crate) fn run(args: &PlanArgs, reporter: &Reporter) -> Outcome {
    output::clean_up_on_interrupt();
    let read = ReadFiles::default();
    if args.list {
        return list(args, &read, reporter);
    }
    let answer = planned(args, &read)?;
    reporter.report(&answer.warnings, &answer.sources);
    let plan = &answer.result;
    if args.simulate.simulate {
        return simulate::run(args, plan, &answer.sources, &read, reporter);
    }
    let text = match args.format {
        PlanFormat::Human => human(plan, args.all_steps),
        PlanFormat::Json => json(&PlanDocument::of(plan, &answer.sources, args.reveal)),
    };
    output::deliver(args.output.as_deref(), text, &read).map_err(rejected)?;
    Ok(ExitCode::from(u8::from(args.adapt.exit_code && !plan.steps.is_empty())))
}

fn planned(args: &PlanArgs, read: &ReadFiles) -> Result<Answer<Plan>, Failure> {
    let order = order(&args.order);
    let names = [args.from.as_deref(), args.to.as_deref()];
    let Some(template) = &args.template else {
        let [from, to] = names.map(|name| {
            let resolver = select::template(Path::new(name.unwrap_or_default()))?;
            Ok::<Resolver, Failure>(resolver.files(read.clone()))
        });
        return from?.adapt(&to?, &adaptation(&args.adapt), &order);
    };
    let resolver = select::chosen(template, &args.choose)?.files(read.clone());
    if names == [None, None] {
        let workflow = args.workflow.clone();
        let inputs = args.workflow_inputs.iter().map(workflow_input).collect::<Result<_, _>>()?;
        return resolver.plan(&PlanQuery { workflow, generated: args.generated, inputs, order });
    }
    let resolver = resolver.load()?;
    let [from, to] = names.map(|name| choose(resolver.clone(), name));
    from?.adapt(&to?, &adaptation(&args.adapt), &order)
}

/// The value of an input of the workflow, read as YAML.
fn workflow_input((name, text): &(String, String)) -> Result<(String, Value), Failure> {
    let document = parse(FileId::DETACHED, text.as_str().into(), &Limits::default());
    match document {
        Ok(document) => Ok((name.clone(), document.root().to_value())),
        Err(mut error) => {
            error.message = format!("value of the workflow input `{name}`: {}", error.message);
            error.span = None;
            Err(rejected(error))
        }
    }
}

/// Lists the workflows of a variant.
fn list(args: &PlanArgs, read: &ReadFiles, reporter: &Reporter) -> Outcome {
    let template = args.template.as_deref().unwrap_or(Path::new("."));
    let resolver = select::chosen(template, &args.choose)?.files(read.clone());
    let answer = resolver.workflows()?;
    reporter.report(&answer.warnings, &answer.sources);
    let text = match args.format {
        PlanFormat::Json => json(&WorkflowList { workflows: &answer.result }),
        PlanFormat::Human => workflows(&answer.result),
    };
    output::deliver(args.output.as_deref(), text, read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// The workflows of a variant as they are written to JSON.
#[derive(Serialize)]
struct WorkflowList<'w> {
    workflows: &'w [WorkflowOutline],
}

fn order(args: &OrderArgs) -> OrderOptions {
    OrderOptions {
        parallel_hosts: args.parallel_hosts,
        relaxation: match args.order {
            OrderFormat::Strict => Relaxation::Strict,
            OrderFormat::Parallel => Relaxation::Connections,
        },
        ignore: args.ignore.clone(),
        managed: args.managed.clone(),
    }
}

fn adaptation(args: &AdaptArgs) -> Adaptation {
    Adaptation {
        moved: args.moved.clone(),
        recreate: args.recreate.clone(),
        removals_first: args.removals_first,
    }
}
