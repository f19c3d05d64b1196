//! Runs `cuvee inputs`.

use super::args::InputsArgs;
use super::reporter::Reporter;
use super::{Outcome, answered, select};
use cuvee::explore::{InputReport, InputsReport};
use cuvee::parts::yaml::write_flow;
use std::collections::HashSet;
use std::fmt::Write;

/// How many elements are named at most. If there are more, the rest is only counted.
const SHOWN: usize = 8;

/// Lists inputs.
pub(crate) fn run(args: &InputsArgs, reporter: &Reporter) -> Outcome {
    let resolver = select::resolver(&args.select)?;
    let answer = resolver.input_report()?;
    answered(&answer, args.format, reporter, human)
}

fn human(report: &InputsReport) -> String {
    if report.inputs.is_empty() {
        return "no inputs\n".into();
    }
    let mut text = String::new();
    for input in &report.inputs {
        let kind = input.kind.as_ref().map(|kind| format!(": {kind}")).unwrap_or_default();
        let description =
            input.description.as_ref().map(|text| format!("  {}", text.trim())).unwrap_or_default();
        // Writing into a string does not fail.
        let _ = writeln!(text, "{}{kind}{description}", input.name);
        for (title, value) in rows(input) {
            let _ = writeln!(text, "  {title:<11}{value}");
        }
    }
    text
}

fn rows(input: &InputReport) -> Vec<(&'static str, String)> {
    let cases: Vec<_> = input.cases.iter().map(|case| case.label.as_str()).collect();
    let presets: Vec<_> = input
        .presets
        .iter()
        .map(|preset| format!("{}={}", preset.preset, write_flow(&preset.value)))
        .collect();
    let default = input.default.as_ref().map(write_flow);
    let rows = [
        ("assigned", input.assigned.as_ref().map(write_flow).unwrap_or_default()),
        ("cases", cases.join(" | ")),
        ("default", default.or_else(|| input.computed.clone()).unwrap_or_default()),
        ("presets", presets.join(", ")),
        ("influences", shown(&input.influences)),
        ("sets", shown(&input.values)),
    ];
    rows.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// Lists elements, nodes first. Elements inside of other listed ones are left out.
fn shown(elements: &[String]) -> String {
    let all: HashSet<&str> = elements.iter().map(String::as_str).collect();
    let is_inner = |id: &str| id.match_indices('.').any(|(dot, _)| all.contains(&id[dot + 1..]));
    let mut elements: Vec<_> =
        elements.iter().map(String::as_str).filter(|id| !is_inner(id)).collect();
    elements.sort_by_key(|id| !id.starts_with("node."));
    match elements.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{} and {more} more", elements[..SHOWN].join(", ")),
        _ => elements.join(", "),
    }
}
