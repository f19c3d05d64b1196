//! Runs `cuvee explain`.

use super::args::{ExplainArgs, ListFormat};
use super::reporter::Reporter;
use super::{Outcome, answered, select, written};
use cuvee::Resolver;
use cuvee::explore::{Change, Explanation, Reason, ReasonKind};
use cuvee::parts::yaml::write_flow;
use serde::Serialize;
use std::collections::HashSet;
use std::fmt::Write;
use std::process::ExitCode;

/// The default number of levels of reasons.
pub(super) const DEPTH: usize = 4;

/// Explains an element, or the variant as a whole.
pub(crate) fn run(args: &ExplainArgs, reporter: &Reporter) -> Outcome {
    let resolver = select::resolver(&args.select)?;
    let Some(element) = &args.element else {
        return outlook(&resolver.load()?, args, reporter);
    };
    let mut answer = resolver.explain(element)?;
    let Explanation { present, change, .. } = &answer.result;
    let is_dead = !present && change.is_none();
    if let (Some(depth), ListFormat::Json) = (args.depth, args.format) {
        cut(&mut answer.result.because, depth);
    }
    let depth = args.depth.unwrap_or(DEPTH);
    answered(&answer, args.format, reporter, |explanation| human(explanation, depth))?;
    Ok(exit(args.strict && is_dead))
}

fn exit(is_failure: bool) -> ExitCode {
    if is_failure { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Removes the reasons below this depth.
fn cut(reasons: &mut Vec<Reason>, depth: usize) {
    match depth.checked_sub(1) {
        None => reasons.clear(),
        Some(depth) => reasons.iter_mut().for_each(|reason| cut(&mut reason.because, depth)),
    }
}

/// Whether the inputs give a variant, and the inputs that would have to change otherwise.
#[derive(Serialize)]
struct Outlook {
    resolves: bool,
    change: Option<Vec<Change>>,
}

/// Prints whether there is a variant, and the changes that would give one. Errors are reported
/// afterwards, as `resolve` reports them.
fn outlook(resolver: &Resolver, args: &ExplainArgs, reporter: &Reporter) -> Outcome {
    let (outlook, diagnostics, sources) = match resolver.resolve() {
        Ok(resolution) => {
            let outlook = Outlook { resolves: true, change: None };
            (outlook, resolution.warnings().to_vec(), resolution.source_map().clone())
        }
        Err(failure) => match resolver.remedy() {
            Ok(answer) => {
                let outlook = Outlook { resolves: false, change: answer.result };
                (outlook, failure.diagnostics, failure.sources)
            }
            // Errors in the template itself, independent of the inputs, are not reported twice.
            Err(same) if same.diagnostics.iter().all(|it| failure.diagnostics.contains(it)) => {
                return Err(failure);
            }
            Err(other) => {
                reporter.report(&failure.diagnostics, &failure.sources);
                return Err(other);
            }
        },
    };
    written(&outlook, args.format, outlook_text)?;
    reporter.report(&diagnostics, &sources);
    Ok(exit(args.strict && !outlook.resolves))
}

fn outlook_text(outlook: &Outlook) -> String {
    match &outlook.change {
        _ if outlook.resolves => "these inputs give a variant\n".into(),
        Some(change) => format!(
            "these inputs give no variant; the smallest change that gives one: {}\n",
            flags(change)
        ),
        None => "these inputs give no variant, and no change of inputs gives one\n".into(),
    }
}

pub(super) fn human(explanation: &Explanation, depth: usize) -> String {
    let mut text =
        format!("{}\n\n{}  {}\n", sentence(explanation), explanation.element, explanation.place);
    if tree(&explanation.because, "", depth, &mut text) {
        // Writing into a string does not fail.
        let _ = writeln!(text, "… more than {depth} steps down: `--depth` goes further");
    }
    text
}

/// The answer in one sentence: why, and what would change it.
fn sentence(Explanation { element, present, because, change, .. }: &Explanation) -> String {
    let word = |present: bool| if present { "present" } else { "absent" };
    let (is, other) = (word(*present), word(!present));
    let Some(change) = change else {
        return format!("{element} is {is}, and no change of inputs makes it {other}");
    };
    let mut met = HashSet::new();
    inputs(because, &mut met);
    // Some inputs change only as a consequence of others.
    let is_met = |change: &&Change| met.contains(&*change.to.name);
    let causes: Vec<_> = change.iter().filter(is_met).collect();
    let causes = if causes.is_empty() { change.iter().collect() } else { causes };
    let causes: Vec<_> = causes.into_iter().map(now).collect();
    let to: Vec<_> = change.iter().map(Change::flag).collect();
    format!(
        "{element} is {is} because {}; to make it {other}: {}",
        causes.join(" and "),
        to.join(" ")
    )
}

/// Collects the names of the inputs at the ends of reasons.
fn inputs<'r>(reasons: &'r [Reason], names: &mut HashSet<&'r str>) {
    for reason in reasons {
        names.extend(reason.input.as_deref());
        inputs(&reason.because, names);
    }
}

/// Adds reasons to the text. Returns whether deeper reasons were left out; the mark that nothing
/// follows does not count as one.
fn tree(reasons: &[Reason], indent: &str, depth: usize, text: &mut String) -> bool {
    let is_cut = |reasons: &[Reason], depth: usize| {
        depth == 0 && reasons.iter().any(|reason| reason.kind != ReasonKind::End)
    };
    if is_cut(reasons, depth) {
        return true;
    }
    let deeper = depth.saturating_sub(1);
    let mut is_any_cut = false;
    for (index, reason) in reasons.iter().enumerate() {
        let last = index + 1 == reasons.len();
        let (branch, below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let holds =
            if reason.kind == ReasonKind::Condition && !reason.holds { " fails" } else { "" };
        let place = reason.place.as_ref().map(|place| format!("  {place}")).unwrap_or_default();
        let more = if is_cut(&reason.because, deeper) { " …" } else { "" };
        let _ = writeln!(text, "{indent}{branch}{}{holds}{more}{place}", reason.what);
        is_any_cut |= tree(&reason.because, &format!("{indent}{below}"), deeper, text);
    }
    is_any_cut
}

/// The current value of an input.
fn now(change: &Change) -> String {
    match &change.from {
        Some(value) => format!("{} is {}", change.to.name, write_flow(value)),
        None => format!("{} has no value", change.to.name),
    }
}

/// The changes as on a command line, with the current values.
fn flags(changes: &[Change]) -> String {
    let from = |change: &Change| match &change.from {
        Some(value) => format!("{}={}", change.to.name, write_flow(value)),
        None => format!("no {}", change.to.name),
    };
    if changes.is_empty() {
        return "none is needed".into();
    }
    let to: Vec<_> = changes.iter().map(Change::flag).collect();
    let from: Vec<_> = changes.iter().map(from).collect();
    format!("{} (now {})", to.join(" "), from.join(", "))
}
