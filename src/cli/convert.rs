//! `cuvee convert`

use super::args::convert::{ConvertArgs, ConvertFormat};
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::{Outcome, json, output, rejected, select, stricter};
use cuvee::csar::is_archive;
use cuvee::diagnostic::{Code, Diagnostic, Severity};
use cuvee::explore::Answer;
use cuvee::{ConversionQuery, Failure};
use std::path::Path;
use std::process::ExitCode;

/// What is written.
enum ConvertTarget<'t> {
    /// One document, to a file or to standard output.
    Document(Option<&'t Path>),
    Archive(&'t Path),
    Directory(&'t Path),
}

/// Converts, and says what has no counterpart.
pub(crate) fn run(args: &ConvertArgs, reporter: &Reporter) -> Outcome {
    output::clean_up_on_interrupt();
    if args.to == ConvertFormat::Xml {
        return canonical(args);
    }
    if args.check {
        let error = Diagnostic::error(Code::Usage, "`--check` is for `--to xml`");
        return Err(rejected(error.help("YAML is written as its conversion says")));
    }
    let target = target(args.output.as_deref())?;
    let read = ReadFiles::default();
    let resolver = select::template(&args.template)?.files(read.clone());
    let Answer { result, mut warnings, sources } = resolver.convert(&query(args, &target))?;
    warnings.extend(result.losses.diagnostics());
    let is_warning = |found: &Diagnostic| found.severity == Severity::Warning;
    if args.strict && warnings.iter().any(is_warning) {
        let diagnostics = warnings.into_iter().map(stricter).collect();
        return Err(Failure { diagnostics, sources });
    }
    reporter.report(&warnings, &sources);
    if let Some(file) = &args.loss {
        let report = json(&result.losses.report(&sources));
        output::deliver(Some(file), report, &read).map_err(rejected)?;
    }
    let written = match target {
        ConvertTarget::Document(file) => output::deliver(file, result.text(), &read),
        ConvertTarget::Archive(file) => output::deliver(Some(file), result.to_csar()?, &read),
        ConvertTarget::Directory(path) => output::to_directory(path, &result.files, &read),
    };
    written.map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a document in its canonical form, or says whether it is.
fn canonical(args: &ConvertArgs) -> Outcome {
    let read = ReadFiles::default();
    let form = select::template(&args.template)?.files(read.clone()).canonical_document()?;
    if !args.check {
        output::deliver(args.output.as_deref(), form.text, &read).map_err(rejected)?;
        return Ok(ExitCode::SUCCESS);
    }
    let how = if form.is_canonical { "is" } else { "is not" };
    let said = format!("`{}` {how} in its canonical form\n", args.template.display());
    output::deliver(None, said, &read).map_err(rejected)?;
    Ok(ExitCode::from(u8::from(!form.is_canonical)))
}

fn query(args: &ConvertArgs, target: &ConvertTarget<'_>) -> ConversionQuery {
    let mut query = ConversionQuery::default();
    if matches!(target, ConvertTarget::Document(_)) {
        query = query.one_document();
    }
    if let Some(name) = &args.service_template {
        query = query.service_template(name);
    }
    if let Some(file) = &args.types {
        query = query.types(file);
    }
    args.implementations.iter().fold(query, ConversionQuery::implementation)
}

/// What is called so.
fn target(output: Option<&Path>) -> Result<ConvertTarget<'_>, Failure> {
    let Some(path) = output.filter(|path| !output::is_stdout(path)) else {
        return Ok(ConvertTarget::Document(None));
    };
    if is_archive(path) {
        return Ok(ConvertTarget::Archive(path));
    }
    if path.is_dir()
        || path.as_os_str().to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR])
    {
        return Ok(ConvertTarget::Directory(path));
    }
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("tosca" | "xml") => {
            let message = format!("`{}` is called like XML, and YAML is written", path.display());
            let error = Diagnostic::error(Code::Usage, message);
            let help =
                "call it `.yaml`, end it in `/` for a directory, or write XML with `--to xml`";
            Err(rejected(error.help(help)))
        }
        _ => Ok(ConvertTarget::Document(Some(path))),
    }
}
