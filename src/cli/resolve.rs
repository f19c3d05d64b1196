//! `cuvee resolve`

use super::args::{ResolveArgs, ResultFormat};
use super::progress::Spinner;
use super::render::Reporter;
use super::{Outcome, output, rejected, select};
use std::borrow::Cow;
use std::process::ExitCode;

/// Resolves, and writes the result.
pub fn run(args: &ResolveArgs, reporter: &Reporter) -> Outcome {
    output::clean_up_on_interrupt();
    let resolver = select::resolver(&args.select)?;
    let mut spinner = Spinner::new(reporter.shows_progress());
    let result = resolver.resolve_with(&mut spinner);
    drop(spinner);
    let resolution = result?;
    reporter.report(resolution.warnings(), resolution.source_map());
    let text = match args.format {
        ResultFormat::Yaml => Cow::Borrowed(resolution.to_yaml()),
        ResultFormat::Json => resolution.to_json().into(),
    };
    match &args.output {
        Some(file) => output::to_file(file, &text).map_err(rejected)?,
        None => output::to_stdout(&text).map_err(rejected)?,
    }
    Ok(ExitCode::SUCCESS)
}
