//! `cuvee inputs`

use super::args::{InputsArgs, ListFormat};
use super::render::Reporter;
use super::{Outcome, json, output, rejected, select};
use cuvee::explore::{InputReport, InputsReport};
use std::fmt::Write;
use std::process::ExitCode;

/// More elements than this are counted instead of named.
const SHOWN: usize = 8;

/// Lists inputs.
pub fn run(args: &InputsArgs, reporter: &Reporter) -> Outcome {
    let answer = select::resolver(&args.select)?.input_report()?;
    reporter.report(&answer.warnings, &answer.sources);
    let text = match args.format {
        ListFormat::Human => human(&answer.result),
        ListFormat::Json => json(&answer.result),
    };
    output::to_stdout(&text).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
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
