//! Runs `cuvee export`.

use super::args::{ExportArgs, ExportFormat};
use super::read::ReadFiles;
use super::{Outcome, format, output, rejected, select};
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::output::exchange::overflowing;
use std::process::ExitCode;

/// Writes the formula or the feature model.
pub(crate) fn run(args: &ExportArgs) -> Outcome {
    output::clean_up_on_interrupt();
    let Some(format) = format::chosen(args.format, args.output.as_deref())? else {
        let error = Diagnostic::error(Code::Usage, "the ending of the file names no format");
        let help = "say which: `--format dimacs`, `wcnf`, `uvl` or `featureide`";
        return Err(rejected(error.help(help)));
    };
    let read = ReadFiles::default();
    let resolver = select::resolver(&args.select)?.files(read.clone());
    let text = match format {
        ExportFormat::Dimacs => resolver.variants_formula()?.dimacs().to_string(),
        ExportFormat::Wcnf => resolver
            .optimization_formula()?
            .wcnf()
            .map_err(|error| rejected(overflowing(&error)))?
            .to_string(),
        ExportFormat::Uvl => resolver.feature_model()?.to_uvl(),
        ExportFormat::Featureide => resolver.feature_model()?.to_feature_ide(),
    };
    output::deliver(args.output.as_deref(), text, &read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}
