//! `cuvee inputs`

use super::args::InputsArgs;
use super::render::Reporter;
use super::{Outcome, answered, select};
use cuvee::explore::{InputReport, InputsReport};
use std::fmt::Write;

/// More elements than this are counted instead of named.
const SHOWN: usize = 8;

/// Lists inputs.
pub fn run(args: &InputsArgs, reporter: &Reporter) -> Outcome {
    answered(&select::resolver(&args.select)?.input_report()?, args.format, reporter, human)
}

fn human(report: &InputsReport) -> String {
    let mut text = String::new();
    for input in &report.inputs {
        let kind = input.kind.as_ref().map(|kind| format!(": {kind}")).unwrap_or_default();
        let description = input.description.as_ref().map(|text| format!("  {}", text.trim())).unwrap_or_default();
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
    let presets: Vec<_> = input.presets.iter().map(|preset| format!("{}={}", preset.preset, preset.value)).collect();
    let default = input.default.as_ref().map(ToString::to_string);
    let rows = [
        ("assigned", input.assigned.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("cases", cases.join(" | ")),
        ("default", default.or_else(|| input.computed.clone()).unwrap_or_default()),
        ("presets", presets.join(", ")),
        ("influences", shown(&input.influences)),
        ("sets", shown(&input.values)),
    ];
    rows.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

fn shown(elements: &[String]) -> String {
    match elements.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{} and {more} more", elements[..SHOWN].join(", ")),
        _ => elements.join(", "),
    }
}
