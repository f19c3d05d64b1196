//! Runs `cuvee plan`.

use super::args::{AdaptArgs, OrderArgs, OrderFormat, PlanArgs, PlanFormat};
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::{Outcome, format, json, output, rejected, select, simulate};
use cuvee::deploy::plan::{
    Adaptation, OrderOptions, Plan, PlanQuery, Relaxation, StartStates, WorkflowOutline, decide,
};
use cuvee::diagnostic::{Code, Diagnostic, Diagnostics};
use cuvee::explore::Answer;
use cuvee::output::draw::plan::{
    PlanDocument, bpmn, dot, human, make, mermaid, svg, workflows, yaml,
};
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::value::Value;
use cuvee::source::{FileId, SourceMap};
use cuvee::{Failure, Resolver};
use serde::Serialize;
use std::io::{IsTerminal, stdout};
use std::path::Path;
use std::process::ExitCode;

/// Plans a workflow of a variant, or the change from one variant to another.
pub(crate) fn run(args: &PlanArgs, reporter: &Reporter) -> Outcome {
    output::clean_up_on_interrupt();
    let read = ReadFiles::default();
    let format = format::chosen(args.format, args.output.as_deref())?.unwrap_or(PlanFormat::Human);
    if args.list {
        return list(args, format, &read, reporter);
    }
    let answer = planned(args, &read)?;
    reporter.report(&answer.warnings, &answer.sources);
    let plan = &answer.result;
    if args.simulate.simulate {
        return simulate::run(args, format, plan, &answer.sources, &read, reporter);
    }
    let shown = ShownPlan { all_steps: args.all_steps, reveal: args.reveal };
    let text = match format {
        PlanFormat::Make => {
            let start = simulate::start_states(&args.simulate, &answer.sources, &read)?;
            makefile(plan, &start, args.reveal, &answer.sources)?
        }
        _ if args.simulate.state.is_some() => {
            let message =
                "the states before a plan are only asked for by a simulation and a makefile";
            let help = "give `--state` with `--simulate` or `--format make`";
            return Err(rejected(Diagnostic::error(Code::Usage, message).help(help)));
        }
        _ => drawn(plan, format, shown, &answer.sources, args.output.as_deref())?,
    };
    output::deliver(args.output.as_deref(), text, &read).map_err(rejected)?;
    Ok(ExitCode::from(u8::from(args.adapt.exit_code && !plan.steps.is_empty())))
}

/// The parts of a plan to show.
#[derive(Clone, Copy)]
pub(super) struct ShownPlan {
    pub(super) all_steps: bool,
    pub(super) reveal: bool,
}

/// Writes a plan in a format.
pub(super) fn drawn(
    plan: &Plan,
    format: PlanFormat,
    ShownPlan { all_steps, reveal }: ShownPlan,
    sources: &SourceMap,
    output: Option<&Path>,
) -> Result<String, Failure> {
    Ok(match format {
        PlanFormat::Human => whole_or_start(human(plan, all_steps, reveal), output),
        PlanFormat::Json => json(&PlanDocument::of(plan, sources, reveal)),
        PlanFormat::Mermaid => mermaid(plan),
        PlanFormat::Dot => dot(plan),
        PlanFormat::Svg => svg(plan),
        PlanFormat::Bpmn => bpmn(plan, reveal),
        PlanFormat::Make => makefile(plan, &StartStates::default(), reveal, sources)?,
        PlanFormat::Yaml => yaml(plan)
            .map_err(|error| Failure { diagnostics: vec![error], sources: sources.clone() })?,
    })
}

/// A plan as a makefile, with the conditions that are known where nodes have these states.
pub(super) fn makefile(
    plan: &Plan,
    start: &StartStates,
    reveal: bool,
    sources: &SourceMap,
) -> Result<String, Failure> {
    let failed = |Diagnostics(diagnostics)| Failure { diagnostics, sources: sources.clone() };
    Ok(make(plan, &decide(plan, start).map_err(failed)?, reveal))
}

/// How many lines are printed on a terminal at most.
const LINES: usize = 200;

/// The whole text. On a terminal, its first lines and the number of the remaining ones.
fn whole_or_start(text: String, output: Option<&Path>) -> String {
    let is_shown = output.is_none_or(output::is_stdout) && stdout().is_terminal();
    if is_shown { start(text) } else { text }
}

fn start(text: String) -> String {
    let Some((end, _)) = text.match_indices('\n').nth(LINES - 1) else { return text };
    let more = text[end + 1..].lines().count();
    match more {
        0 => text,
        _ => format!("{}\n... and {more} more lines: `--output FILE` writes all\n", &text[..end]),
    }
}

fn planned(args: &PlanArgs, read: &ReadFiles) -> Result<Answer<Plan>, Failure> {
    let order = order(&args.order);
    let names = [args.from.as_deref(), args.to.as_deref()];
    let Some(template) = &args.template else {
        let [from, to] = names.map(|name| {
            let resolver = select::template(Path::new(name.unwrap_or_default()))?;
            let resolver = resolver.files(read.clone());
            Ok::<Resolver, Failure>(select::evaluated(resolver, &args.evaluate))
        });
        return from?.adapt(&to?, &adaptation(&args.adapt), &order);
    };
    let resolver = select::chosen(template, &args.choose)?.files(read.clone());
    let resolver = select::evaluated(resolver, &args.evaluate);
    if names == [None, None] {
        let workflow = args.workflow.clone();
        let inputs = args.workflow_inputs.iter().map(workflow_input).collect::<Result<_, _>>()?;
        let (trigger, generated) = (args.trigger.clone(), args.generated);
        return resolver.plan(&PlanQuery { workflow, generated, trigger, inputs, order });
    }
    let resolver = resolver.load()?;
    let [from, to] = names.map(|name| select::side(resolver.clone(), name));
    from.adapt(&to, &adaptation(&args.adapt), &order)
}

/// Parses the YAML value of an input of the workflow.
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
fn list(args: &PlanArgs, format: PlanFormat, read: &ReadFiles, reporter: &Reporter) -> Outcome {
    if !matches!(format, PlanFormat::Human | PlanFormat::Json) {
        let message = "a list of workflows is written for people or as JSON";
        let help = "use `--format human` or `--format json`, or leave out `--list`";
        return Err(rejected(Diagnostic::error(Code::Usage, message).help(help)));
    }
    let template = args.template.as_deref().unwrap_or(Path::new("."));
    let resolver = select::chosen(template, &args.choose)?.files(read.clone());
    let answer = resolver.workflows()?;
    reporter.report(&answer.warnings, &answer.sources);
    let text = match format {
        PlanFormat::Json => json(&WorkflowList { workflows: &answer.result }),
        _ => workflows(&answer.result),
    };
    output::deliver(args.output.as_deref(), text, read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// The workflows of a variant, in their JSON form.
#[derive(Serialize)]
struct WorkflowList<'w> {
    workflows: &'w [WorkflowOutline],
}

pub(super) fn order(args: &OrderArgs) -> OrderOptions {
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

pub(super) fn adaptation(args: &AdaptArgs) -> Adaptation {
    Adaptation {
        moved: args.moved.clone(),
        recreate: args.recreate.clone(),
        removals_first: args.removals_first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_get_the_start_of_what_is_long() {
        let lines = |count: usize| (0..count).map(|line| format!("{line}\n")).collect::<String>();
        assert_eq!(start(lines(LINES)), lines(LINES));
        let shown = start(lines(LINES + 3));
        assert!(shown.starts_with(&lines(LINES)));
        assert_eq!(shown.lines().count(), LINES + 1);
        assert!(shown.ends_with("... and 3 more lines: `--output FILE` writes all\n"), "{shown}");
        assert_eq!(start(String::new()), "");
    }
}
