//! Runs `cuvee report`.

use super::args::{ReportArgs, SelectArgs};
use super::read::ReadFiles;
use super::{Outcome, format, output, rejected, select, stored};
use cuvee::output::report::ReportedInstance;
use std::process::ExitCode;

/// Writes the page of the report.
pub(crate) fn run(args: &ReportArgs) -> Outcome {
    output::clean_up_on_interrupt();
    format::only(format::HTML, args.output.as_deref())?;
    let read = ReadFiles::default();
    let mut resolver = select::resolver(&args.select)?.files(read.clone());
    if args.reveal {
        resolver = resolver.reveal_secrets();
    }
    let command = command(&args.select);
    let page = match &args.state {
        Some(source) => {
            let model = &stored::model_of(source, args.store.as_deref())?;
            resolver.report_of_instance(&command, ReportedInstance { source, model })?
        }
        None => resolver.report(&command)?,
    };
    output::deliver(args.output.as_deref(), page, &read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// The command line that resolves the chosen variant.
fn command(select: &SelectArgs) -> Vec<String> {
    let mut words =
        vec!["cuvee".to_owned(), "resolve".to_owned(), select.template.display().to_string()];
    let mut flag = |name: &str, value: String| words.extend([name.to_owned(), value]);
    let choose = &select.choose;
    choose.presets.iter().for_each(|preset| flag("--preset", preset.clone()));
    choose.inputs_files.iter().for_each(|file| flag("--inputs", file.display().to_string()));
    choose.inputs.iter().for_each(|(name, value)| flag("-i", format!("{name}={value}")));
    choose.options.set.iter().for_each(|(name, value)| flag("--option", format!("{name}={value}")));
    choose.options.edition.iter().for_each(|edition| flag("--edition", edition.clone()));
    words
}
