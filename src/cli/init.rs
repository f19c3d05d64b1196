//! Runs `cuvee init`.

use super::args::InitArgs;
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::{Outcome, format, output, rejected, select};
use cuvee::diagnostic::{Code, Diagnostic};
use std::process::ExitCode;

/// Turns a plain template into a variable one, unless the output file exists already.
pub(crate) fn run(args: &InitArgs, reporter: &Reporter) -> Outcome {
    let target = args.output.as_deref();
    if let Some(file) = target.filter(|target| !output::is_stdout(target) && target.exists()) {
        let message = format!("`{}` is there already", file.display());
        let error = Diagnostic::error(Code::File, message);
        return Err(rejected(
            error.help("write to another file: `cuvee init` never overwrites one"),
        ));
    }
    output::clean_up_on_interrupt();
    format::only(format::YAML, args.output.as_deref())?;
    let read = ReadFiles::default();
    let made = select::template(&args.template)?.files(read.clone()).variable_template()?;
    reporter.report(&made.warnings, &made.sources);
    output::deliver(target, made.result, &read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}
