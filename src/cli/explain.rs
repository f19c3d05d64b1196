//! `cuvee explain`

use super::args::ExplainArgs;
use super::reporter::Reporter;
use super::{Outcome, answered, select, written};
use cuvee::Resolver;
use cuvee::explore::{Change, Explanation, Reason, ReasonKind, flag};
use cuvee::yaml::write_flow;
use serde::Serialize;
use std::fmt::Write;

/// Explains an element, or the variant as a whole.
pub(crate) fn run(args: &ExplainArgs, reporter: &Reporter) -> Outcome {
    let resolver = select::resolver(&args.select)?;
    match &args.element {
        Some(element) => answered(&resolver.explain(element)?, args.format, reporter, human),
        None => written(&outlook(&resolver.load()?, reporter)?, args.format, outlook_text),
    }
}

/// Whether inputs give a variant, and what would have to change.
#[derive(Serialize)]
struct Outlook {
    resolves: bool,
    change: Option<Vec<Change>>,
}

/// What is wrong is reported as `resolve` reports it; what would change that is the explanation.
fn outlook(resolver: &Resolver, reporter: &Reporter) -> Result<Outlook, cuvee::Failure> {
    Ok(match resolver.resolve() {
        Ok(resolution) => {
            reporter.report(resolution.warnings(), resolution.source_map());
            Outlook { resolves: true, change: None }
        }
        Err(failure) => {
            reporter.report(&failure.diagnostics, &failure.sources);
            Outlook { resolves: false, change: resolver.remedy()?.result }
        }
    })
}

fn outlook_text(outlook: &Outlook) -> String {
    match &outlook.change {
        _ if outlook.resolves => "these inputs give a variant\n".into(),
        Some(change) => format!("the smallest change that gives a variant: {}\n", flags(change)),
        None => "no change of inputs gives a variant\n".into(),
    }
}

fn human(explanation: &Explanation) -> String {
    let Explanation { element, place, present, because, change, .. } = explanation;
    let word = |present: bool| if present { "present" } else { "absent" };
    let mut text = format!("{element} is {}  {place}\n", word(*present));
    tree(because, "", &mut text);
    // Writing into a string does not fail.
    let _ = match change {
        Some(change) => writeln!(text, "to make it {}: {}", word(!present), flags(change)),
        None => writeln!(text, "no change of inputs makes it {}", word(!present)),
    };
    text
}

fn tree(reasons: &[Reason], indent: &str, text: &mut String) {
    for (index, reason) in reasons.iter().enumerate() {
        let last = index + 1 == reasons.len();
        let (branch, below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let holds =
            if reason.kind == ReasonKind::Condition && !reason.holds { " fails" } else { "" };
        let place = reason.place.as_ref().map(|place| format!("  {place}")).unwrap_or_default();
        let _ = writeln!(text, "{indent}{branch}{}{holds}{place}", reason.what);
        tree(&reason.because, &format!("{indent}{below}"), text);
    }
}

/// Changes as they are written on a command line, and what is now.
fn flags(changes: &[Change]) -> String {
    let to = |change: &Change| match &change.to.value {
        Some(value) => flag(&change.to.name, value),
        None => format!("{}: {}", change.to.name, change.to.case),
    };
    let from = |change: &Change| match &change.from {
        Some(value) => format!("{}={}", change.to.name, write_flow(value)),
        None => format!("no {}", change.to.name),
    };
    let all = |one: &dyn Fn(&Change) -> String, between: &str| {
        changes.iter().map(one).collect::<Vec<_>>().join(between)
    };
    if changes.is_empty() {
        "none is needed".into()
    } else {
        format!("{} (now {})", all(&to, " "), all(&from, ", "))
    }
}
