//! Runs `cuvee enrich`.

use super::args::{EnrichArgs, ResultFormat};
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::{Outcome, format, json, output, rejected, select};
use std::process::ExitCode;

/// Writes out what options add, as a template or as data.
pub(crate) fn run(args: &EnrichArgs, reporter: &Reporter) -> Outcome {
    output::clean_up_on_interrupt();
    let format = format::chosen(args.format, args.output.as_deref())?;
    let read = ReadFiles::default();
    let resolver = select::template(&args.template)?.files(read.clone());
    let resolver = select::with_imports(resolver, &args.imports);
    let answer = select::with_options(resolver, &args.options).enrich()?;
    reporter.report(&answer.warnings, &answer.sources);
    let enriched = answer.result;
    let text = match format.unwrap_or(ResultFormat::Yaml) {
        ResultFormat::Json => json(&enriched),
        ResultFormat::Yaml => enriched.yaml,
    };
    output::deliver(args.output.as_deref(), text, &read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}
