//! `cuvee analyze`

use super::args::AnalyzeArgs;
use super::reporter::Reporter;
use super::{Outcome, answered, select};
use cuvee::explore::{Analysis, Placed, RejectedPreset, Rejecting, Verdict, flags};

/// Analyses all variants.
pub(crate) fn run(args: &AnalyzeArgs, reporter: &Reporter) -> Outcome {
    answered(&select::resolver(&args.select)?.analyze()?, args.format, reporter, human)
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
        ("presets without a variant", analysis.presets.iter().map(preset).collect()),
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

fn preset(rejected: &RejectedPreset) -> String {
    let void = if rejected.void { ", whatever the other inputs are" } else { "" };
    format!("{}{void}\n    {}", rejected.preset, rejected.reasons.join("\n    "))
}
