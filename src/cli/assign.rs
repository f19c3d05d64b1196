//! Runs `cuvee assign`.

use super::args::{AssignArgs, AssignFormat};
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::{Outcome, format, json, output, rejected, select};
use cuvee::technology::NodeTechnology;
use std::process::ExitCode;

/// Assigns technologies, and prints the reasons.
pub(crate) fn run(args: &AssignArgs, reporter: &Reporter) -> Outcome {
    output::clean_up_on_interrupt();
    format::only(format::YAML, args.output.as_deref())?;
    let read = ReadFiles::default();
    let answer = select::resolver(&args.select)?.files(read.clone()).assign_technologies()?;
    reporter.report(&answer.warnings, &answer.sources);
    let assigned = answer.result;
    if let Some(file) = &args.output {
        output::deliver(Some(file), &assigned.yaml, &read).map_err(rejected)?;
        // The template on standard output is not mixed with a table.
        if output::is_stdout(file) {
            return Ok(ExitCode::SUCCESS);
        }
    }
    let text = match args.format {
        AssignFormat::Human => table(&assigned.nodes),
        AssignFormat::Json => json(&assigned),
        AssignFormat::Yaml => assigned.yaml,
    };
    output::to_stdout(&text).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a table with a line for each node.
pub(super) fn table(nodes: &[NodeTechnology]) -> String {
    let rows: Vec<_> = nodes.iter().map(row).collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths = [0, 1, 2, 3].map(width);
    let line = |row: &[String; 4]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn row(node: &NodeTechnology) -> [String; 4] {
    let technology = node.technology.as_deref().unwrap_or("-").to_owned();
    let quality = match (node.weight, node.quality) {
        (Some(weight), Some(quality)) => format!("{quality} ({weight})"),
        _ => "-".to_owned(),
    };
    let scenario = node.scenario.as_ref().map(|scenario| {
        let artifact = scenario.artifact.as_deref().map(|artifact| format!("#{artifact}"));
        let hosting = match &scenario.hosting[..] {
            [] => String::new(),
            hosting => format!("@{}", hosting.join("->")),
        };
        format!("{}{}{hosting}", scenario.component, artifact.unwrap_or_default())
    });
    let reason = node.reason.as_deref().map(|reason| format!(": {reason}"));
    let why = scenario.map(|scenario| format!("{scenario}{}", reason.unwrap_or_default()));
    [node.node.clone(), technology, quality, why.unwrap_or_default()]
}
