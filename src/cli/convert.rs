//! Runs `cuvee convert`.

use super::args::convert::{ConvertArgs, ConvertDialect, ConvertFormat};
use super::format::{self, FileFormat};
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::{Outcome, json, output, rejected, select, stricter, watch};
use cuvee::diagnostic::{Code, Diagnostic, Severity};
use cuvee::explore::Answer;
use cuvee::output::convert::ConversionDialect;
use cuvee::output::convert::ConversionFormat;
use cuvee::output::convert::ConversionQuery;
use cuvee::source::csar::is_written_archive;
use cuvee::{Failure, Resolver};
use std::path::Path;
use std::process::ExitCode;

/// The form of the output.
enum ConvertTarget<'t> {
    /// One document, to a file or to standard output.
    Document(Option<&'t Path>),
    Archive(&'t Path),
    Directory(&'t Path),
}

/// Converts, and reports the parts that have no counterpart.
pub(crate) fn run(args: &ConvertArgs, reporter: &Reporter) -> Outcome {
    output::clean_up_on_interrupt();
    let read = ReadFiles::default();
    let resolver = select::chosen(&args.template, &args.choose)?.files(read.clone()).keep_memory();
    let is_xml = resolver.is_xml_document();
    if args.to == Some(ConvertFormat::Xml) && (is_xml || args.check) {
        return canonical(args, &resolver, &read);
    }
    if args.check {
        let error = Diagnostic::error(Code::Usage, "`--check` is for `--to xml`");
        return Err(rejected(error.help("add `--to xml`, or leave out `--check`")));
    }
    let target = target(args.output.as_deref());
    if is_xml && args.to != Some(ConvertFormat::Tosca20) {
        fits(args, &target, ConversionFormat::Yaml, is_xml).map_err(rejected)?;
    }
    let Answer { result, mut warnings, sources } = resolver.convert(&query(args, &target))?;
    fits(args, &target, result.format, is_xml).map_err(rejected)?;
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
    watch::phase("writing");
    let written = match target {
        ConvertTarget::Document(file) => {
            let content = result.files.first().map(|(_, content)| &**content);
            output::deliver(file, content.unwrap_or_default(), &read)
        }
        ConvertTarget::Archive(file) => output::deliver(Some(file), result.to_csar()?, &read),
        ConvertTarget::Directory(path) => output::to_directory(path, &result.to_files(), &read),
    };
    written.map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a document in its canonical form, or reports whether it has that form.
fn canonical(args: &ConvertArgs, resolver: &Resolver, read: &ReadFiles) -> Outcome {
    let form = resolver.canonical_document()?;
    if !args.check {
        format::only(ConvertFormat::Xml.endings(), args.output.as_deref())?;
        output::deliver(args.output.as_deref(), form.text, read).map_err(rejected)?;
        return Ok(ExitCode::SUCCESS);
    }
    let how = if form.is_canonical { "is" } else { "is not" };
    let said = format!("`{}` {how} in its canonical form\n", args.template.display());
    output::deliver(None, said, read).map_err(rejected)?;
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
    if args.no_extensions {
        query = query.without_extensions();
    }
    if args.record_inputs {
        query = query.record_inputs();
    }
    if args.dialect == ConvertDialect::Opentosca {
        query = query.dialect(ConversionDialect::OpenTosca);
    }
    if let Some(file) = &args.types {
        query = query.types(file);
    }
    query = match args.to {
        Some(ConvertFormat::Tosca20) => query.to_2_0(),
        Some(ConvertFormat::Tosca13) => query.to_1_3(),
        _ => query,
    };
    args.implementations.iter().fold(query, ConversionQuery::implementation)
}

/// The form of the output, derived from its name.
fn target(output: Option<&Path>) -> ConvertTarget<'_> {
    let Some(path) = output.filter(|path| !output::is_stdout(path)) else {
        return ConvertTarget::Document(None);
    };
    if is_written_archive(path) {
        return ConvertTarget::Archive(path);
    }
    let is_called_directory =
        || path.as_os_str().to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR]);
    if path.is_dir() || is_called_directory() {
        return ConvertTarget::Directory(path);
    }
    ConvertTarget::Document(Some(path))
}

/// Checks that the output format suits the request and the name of the output.
fn fits(
    args: &ConvertArgs,
    target: &ConvertTarget<'_>,
    format: ConversionFormat,
    is_xml: bool,
) -> Result<(), Diagnostic> {
    let written = match (format, args.to) {
        (ConversionFormat::Xml, _) => ConvertFormat::Xml,
        (ConversionFormat::Tosca2, _) => ConvertFormat::Tosca20,
        (_, Some(ConvertFormat::Tosca13)) => ConvertFormat::Tosca13,
        _ => ConvertFormat::Yaml,
    };
    if args.to.is_some_and(|wanted| wanted != written) {
        let message = match written {
            ConvertFormat::Xml => "the template is YAML already",
            _ => "only a single file of XML can be written as XML",
        };
        let help = match written {
            ConvertFormat::Xml => "write a variant of it with `cuvee resolve`",
            _ => "name one of the documents",
        };
        return Err(Diagnostic::error(Code::Usage, message).help(help));
    }
    meant_for(args, format, is_xml)?;
    let ConvertTarget::Document(Some(path)) = target else { return Ok(()) };
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let (called, is_written, other) = match (extension.as_deref(), written) {
        (
            Some("tosca" | "xml"),
            ConvertFormat::Yaml | ConvertFormat::Tosca13 | ConvertFormat::Tosca20,
        ) => ("XML", "YAML", ".yaml"),
        (Some("yaml" | "yml" | "json"), ConvertFormat::Xml) => ("YAML", "XML", ".tosca"),
        _ => return format::only(written.endings(), Some(path)),
    };
    let message = format!(
        "the ending of `{}` is one of {called}, but {is_written} is written",
        path.display()
    );
    let help = match written {
        ConvertFormat::Yaml => ", or write XML with `--to xml`",
        _ => "",
    };
    let help = format!("use the ending `{other}`, or `/` for a directory{help}");
    Err(Diagnostic::error(Code::Usage, message).help(help))
}

/// Checks that all given arguments apply to the output format.
fn meant_for(args: &ConvertArgs, format: ConversionFormat, is_xml: bool) -> Result<(), Diagnostic> {
    let is_to_version =
        matches!(args.to, Some(ConvertFormat::Tosca20 | ConvertFormat::Tosca13)) && !is_xml;
    let choose = &args.choose;
    let of_templates = [
        ("--preset", !choose.presets.is_empty()),
        ("--inputs", !choose.inputs_files.is_empty()),
        ("--input", !choose.inputs.is_empty()),
        ("--option", !choose.options.set.is_empty()),
        ("--edition", choose.options.edition.is_some()),
        ("--no-extensions", args.no_extensions),
        ("--record-inputs", args.record_inputs),
    ];
    let of_versions = [
        ("--types", args.types.is_some()),
        ("--dialect", args.dialect == ConvertDialect::Opentosca),
    ];
    let of_definitions = [
        ("--service-template", args.service_template.is_some()),
        ("--implementation", !args.implementations.is_empty()),
    ];
    let (given, are, have) = match format {
        _ if is_to_version => {
            let all = of_templates.iter().chain(&of_definitions).chain(&of_versions);
            let Some((flag, _)) = all.into_iter().find(|(_, is_given)| *is_given) else {
                return Ok(());
            };
            let message = format!("`{flag}` is for conversions from and to TOSCA 1.0");
            return Err(Diagnostic::error(Code::Usage, message).help(format!("leave out `{flag}`")));
        }
        ConversionFormat::Xml => {
            (&of_definitions[..], "a template in YAML", "definitions of TOSCA 1.0")
        }
        _ => (&of_templates[..], "definitions of TOSCA 1.0", "templates in YAML"),
    };
    let Some((flag, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let message = format!("`{flag}` is for {have}, not for {are}");
    Err(Diagnostic::error(Code::Usage, message).help(format!("leave out `{flag}`")))
}
