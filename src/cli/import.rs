//! Runs `cuvee import`.

use super::args::ImportArgs;
use super::read::ReadFiles;
use super::{Outcome, format, output, rejected, select, watch};
use cuvee::output::exchange;
use cuvee::source::MemoryFiles;
use std::path::Path;
use std::process::ExitCode;

/// Writes the inputs and constraints of a feature model, or a template with them.
pub(crate) fn run(args: &ImportArgs) -> Outcome {
    output::clean_up_on_interrupt();
    format::only(format::YAML, args.output.as_deref())?;
    let read = ReadFiles::default();
    let import = if args.nodes { exchange::import_template } else { exchange::import };
    watch::phase("importing");
    let text = match select::stream(&args.model)? {
        Some((name, text)) => import(&MemoryFiles::from([(&name, text)]), Path::new(&name))?,
        None => import(&read, &args.model)?,
    };
    output::deliver(args.output.as_deref(), text, &read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}
