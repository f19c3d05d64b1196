//! `cuvee init`

use super::args::InitArgs;
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::{Outcome, output, rejected, select};
use cuvee::diagnostic::{Code, Diagnostic};
use std::process::ExitCode;

/// Writes a variable template out of a plain one, where nothing is yet.
pub(crate) fn run(args: &InitArgs, reporter: &Reporter) -> Outcome {
    let target = args.output.as_deref();
    if let Some(file) = target.filter(|target| !output::is_stdout(target) && target.exists()) {
        let message = format!("`{}` is there already", file.display());
        let error = Diagnostic::error(Code::File, message);
        return Err(rejected(
            error.help("write to another file: what is there is never overwritten"),
        ));
    }
    output::clean_up_on_interrupt();
    let read = ReadFiles::default();
    let made = select::template(&args.template)?.files(read.clone()).variable_template()?;
    reporter.report(&made.warnings, &made.sources);
    output::deliver(target, made.result, &read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}
