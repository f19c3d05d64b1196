//! `cuvee import`

use super::args::ImportArgs;
use super::{Outcome, output, rejected, select};
use cuvee::exchange;
use cuvee::source::{MemoryFiles, OsFiles};
use std::path::Path;
use std::process::ExitCode;

/// Writes the inputs and constraints that a feature model stands for.
pub(crate) fn run(args: &ImportArgs) -> Outcome {
    output::clean_up_on_interrupt();
    let text = match select::stream(&args.model)? {
        Some((name, text)) => {
            exchange::import(&MemoryFiles::from([(&name, text)]), Path::new(&name))?
        }
        None => exchange::import(&OsFiles, &args.model)?,
    };
    match &args.output {
        Some(file) => output::to_file(file, &text).map_err(rejected)?,
        None => output::to_stdout(&text).map_err(rejected)?,
    }
    Ok(ExitCode::SUCCESS)
}
