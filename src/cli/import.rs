//! `cuvee import`

use super::args::ImportArgs;
use super::read::ReadFiles;
use super::{Outcome, output, rejected, select};
use cuvee::exchange;
use cuvee::source::MemoryFiles;
use std::path::Path;
use std::process::ExitCode;

/// Writes the inputs and constraints that a feature model stands for.
pub(crate) fn run(args: &ImportArgs) -> Outcome {
    output::clean_up_on_interrupt();
    let read = ReadFiles::default();
    let text = match select::stream(&args.model)? {
        Some((name, text)) => {
            exchange::import(&MemoryFiles::from([(&name, text)]), Path::new(&name))?
        }
        None => exchange::import(&read, &args.model)?,
    };
    output::deliver(args.output.as_deref(), text, &read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}
