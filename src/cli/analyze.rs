//! Runs `cuvee analyze`.

use super::args::AnalyzeArgs;
use super::reporter::Reporter;
use super::{Outcome, answered, rejected, select};
use cuvee::diagnostic::{Code, Diagnostic, Severity};
use cuvee::explore::{Analysis, Placed, RejectedPreset, Rejecting, Verdict, flags};
use std::process::ExitCode;

/// Analyses all variants.
pub(crate) fn run(args: &AnalyzeArgs, reporter: &Reporter) -> Outcome {
    let resolver = select::resolver(&args.select)?;
    let mut answer = resolver.analyze()?;
    if args.strict {
        let dead = answer.warnings.iter_mut().filter(|warning| warning.code == Code::DeadElement);
        dead.for_each(|warning| warning.severity = Severity::Error);
    }
    answered(&answer, args.format, reporter, human)?;
    let wrong = wrong(&answer.result);
    if !args.strict || wrong.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let message = format!("`--strict` rejects the template: {}", wrong.join(", "));
    Err(rejected(Diagnostic::error(Code::InVain, message)))
}

/// Counts the flaws that no template is meant to have.
fn wrong(analysis: &Analysis) -> Vec<String> {
    let Analysis { void, dead, false_optional, idle_inputs, constraints, presets, .. } = analysis;
    let idle = idle_inputs.iter().filter(|input| input.values.is_empty()).count();
    let redundant = constraints.iter().filter(|verdict| verdict.redundant).count();
    let counted = [
        (dead.len(), ["element in no variant", "elements in no variant"]),
        (
            false_optional.len(),
            ["element with conditions in vain", "elements with conditions in vain"],
        ),
        (idle, ["input that changes nothing", "inputs that change nothing"]),
        (
            redundant,
            ["constraint that follows from the rest", "constraints that follow from the rest"],
        ),
        (presets.len(), ["preset without a variant", "presets without a variant"]),
    ];
    let some = counted.into_iter().filter(|&(count, _)| count > 0);
    let some =
        some.map(|(count, [one, many])| format!("{count} {}", if count == 1 { one } else { many }));
    void.then(|| "there is no variant".to_owned()).into_iter().chain(some).collect()
}

fn human(analysis: &Analysis) -> String {
    let placed =
        |all: &[Placed]| all.iter().map(|one| format!("{}  {}", one.element, one.place)).collect();
    let (values, nothing): (Vec<_>, Vec<_>) =
        analysis.idle_inputs.iter().partition(|input| !input.values.is_empty());
    let sections: [(&str, Vec<String>); 10] = [
        (
            "there is no variant",
            if analysis.void { vec!["`cuvee explain` says why".into()] } else { Vec::new() },
        ),
        ("in every variant", analysis.core.clone()),
        ("in no variant", placed(&analysis.dead)),
        (
            "always present with what they belong to, in spite of their conditions",
            placed(&analysis.false_optional),
        ),
        ("in the same variants", analysis.atomic_sets.iter().map(|set| set.join(" ")).collect()),
        (
            "inputs that change values only",
            values
                .iter()
                .map(|input| {
                    format!("{}  {}: {}", input.name, input.place, input.values.join(", "))
                })
                .collect(),
        ),
        (
            "inputs that change nothing",
            nothing.iter().map(|input| format!("{}  {}", input.name, input.place)).collect(),
        ),
        ("constraints", analysis.constraints.iter().map(verdict).collect()),
        ("checks that reject variants", analysis.checks.iter().map(rejecting).collect()),
        ("presets without a variant", presets(&analysis.presets)),
    ];
    let mut text = String::new();
    for (title, lines) in sections.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        let gap = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!("{gap}{title}:\n  {}\n", lines.join("\n  ")));
    }
    if text.is_empty() { "nothing stands out\n".into() } else { text }
}

fn verdict(verdict: &Verdict) -> String {
    let what = if verdict.redundant { "follows from the rest" } else { "leaves no variant" };
    format!("{what}: {}  {}", verdict.constraint, verdict.place)
}

fn rejecting(check: &Rejecting) -> String {
    let element =
        check.element.as_ref().map(|element| format!(", because of {element}")).unwrap_or_default();
    let topologies =
        |count: &String| format!("{count} topolog{}, ", if count == "1" { "y" } else { "ies" });
    let count = check.count.as_ref().map(topologies).unwrap_or_default();
    format!("{}: {count}for example {}{element}", check.check, flags(&check.inputs))
}

/// Lists the presets that give no variant, with the reasons. Presets with the same reasons share an
/// entry.
fn presets(rejected: &[RejectedPreset]) -> Vec<String> {
    let alike = rejected.chunk_by(|a, b| (&a.reasons, a.void) == (&b.reasons, b.void));
    let line = |presets: &[RejectedPreset]| {
        let names: Vec<_> = presets.iter().map(|preset| &*preset.preset).collect();
        let first = presets.first()?;
        let void = if first.void { ", whatever the other inputs are" } else { "" };
        Some(format!("{}{void}\n    {}", names.join(", "), first.reasons.join("\n    ")))
    };
    alike.filter_map(line).collect()
}
