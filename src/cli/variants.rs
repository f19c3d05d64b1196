//! `cuvee variants`

use super::args::{ListFormat, VariantsArgs};
use super::render::Reporter;
use super::{Outcome, json, output, rejected, select};
use cuvee::explore::{Assigned, Found, Query, Variant};
use std::fmt::Write;
use std::process::ExitCode;

/// Lists variants.
pub fn run(args: &VariantsArgs, reporter: &Reporter) -> Outcome {
    let resolver = args.conditions.iter().fold(select::resolver(&args.select)?, |resolver, text| resolver.only_where(text));
    let query = Query { projection: args.projection.into(), limit: args.limit, goal: args.minimize.map(Into::into) };
    let answer = resolver.variants(&query)?;
    reporter.report(&answer.warnings, &answer.sources);
    let text = match args.format {
        ListFormat::Human => human(&answer.result),
        ListFormat::Json => json(&answer.result),
    };
    output::to_stdout(&text).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

fn human(found: &Found) -> String {
    let mut text = String::new();
    for (index, variant) in found.variants.iter().enumerate() {
        // Writing into a string does not fail.
        let _ = writeln!(text, "{}  {}\n   {}", index + 1, nodes(variant), inputs(&variant.inputs));
    }
    let count = found.variants.len();
    let more = if found.more { ", and there are more" } else { "" };
    let cost = found.cost.as_ref().map(|cost| format!(", cost {cost}")).unwrap_or_default();
    let _ = writeln!(text, "{count} variant{}{cost}{more}", if count == 1 { "" } else { "s" });
    text
}

/// The names of the nodes, and how many elements there are beside them.
fn nodes(variant: &Variant) -> String {
    let names: Vec<_> = variant.present.iter().filter_map(|id| id.strip_prefix("node.")).collect();
    let others = variant.present.len() - names.len();
    let names = if names.is_empty() { "no nodes".to_owned() } else { names.join(" ") };
    if others == 0 { names } else { format!("{names} (+{others})") }
}

/// The inputs that have to be assigned to get there, as they are written on a command line.
fn inputs(inputs: &[Assigned]) -> String {
    let needed = inputs.iter().filter(|input| !input.default && input.value.is_some());
    let flags: Vec<_> = needed.filter_map(|input| Some(format!("-i {}={}", input.name, input.value.as_ref()?))).collect();
    if flags.is_empty() { "as it is".into() } else { flags.join(" ") }
}
