//! Runs `cuvee validate`.

use super::args::{FindingsFormat, ValidateArgs};
use super::reporter::{LocatedDiagnostic, Reporter};
use super::streams::STANDARD_INPUT;
use super::{Outcome, json, output, rejected, sarif, select, streams};
use cuvee::deploy::substitute::SubstitutionQuery;
use cuvee::diagnostic::Severity;
use cuvee::output::json::FindingsDocument;
use cuvee::parts::yaml::{Limits, parse_filtered};
use cuvee::source::csar;
use cuvee::source::{FileId, FileSystem, OsFiles};
use cuvee::validate::Validation;
use memchr::memmem;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The keyname that every TOSCA file has.
const VERSION: &str = "tosca_definitions_version";

/// The namespace of definitions of TOSCA 1.0, which are XML.
const DEFINITIONS: &str = "http://docs.oasis-open.org/tosca/ns/2011/12";

/// Reports the errors in each template.
pub(crate) fn run(args: &ValidateArgs, reporter: &Reporter) -> Outcome {
    let named = args.templates.iter().map(PathBuf::as_path);
    let templates: Vec<_> =
        named.filter(|template| !args.only_tosca || may_be_tosca(template)).collect();
    let validated: Vec<_> = templates
        .iter()
        .flat_map(|&template| validate(template, args).into_iter().map(move |it| (template, it)))
        .collect();
    let wrong = validated.iter().any(|(_, validation)| !validation.is_valid(false));
    let mut found = findings(&validated);
    found.retain(|(_, (diagnostic, _))| reporter.tells(diagnostic.severity));
    let diagnostics: Vec<_> = found.iter().map(|&(_, found)| found).collect();
    let text = match args.format {
        FindingsFormat::Json => json(&FindingsDocument::of(diagnostics)),
        FindingsFormat::Sarif => sarif::document(&found),
        FindingsFormat::Human => {
            reporter.tell(&diagnostics);
            if reporter.tells(Severity::Note) {
                valid(&validated) + &passed_over(args.templates.len() - templates.len())
            } else {
                String::new()
            }
        }
    };
    output::to_stdout(&text).map_err(rejected)?;
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Whether the text of a file mentions what all files of TOSCA have, in YAML or in XML.
pub(crate) fn mentions_tosca(text: &[u8]) -> bool {
    let wanted = if is_xml(text) { DEFINITIONS } else { VERSION };
    memmem::find(text, wanted.as_bytes()).is_some()
}

fn is_xml(text: &[u8]) -> bool {
    text.first() == Some(&b'<')
}

/// Whether a path has to be validated with `--only-tosca`. Only readable files without TOSCA
/// content are skipped. Most of them do not contain the keyname at all, so few files are parsed.
fn may_be_tosca(path: &Path) -> bool {
    if !OsFiles.is_file(path) || csar::is_archive(path) || streams::is_stream(path) {
        return true;
    }
    // A file that cannot be read, or is too large, is reported as an error later on.
    let is_small = OsFiles.size(path).is_ok_and(|size| size <= Limits::default().bytes);
    let bytes = is_small.then(|| OsFiles.read(path).ok()).flatten();
    let Some(bytes) = bytes else { return true };
    let is_mentioned = mentions_tosca(&bytes);
    if !is_mentioned || is_xml(&bytes) {
        return is_mentioned;
    }
    let Ok(text) = String::from_utf8(bytes) else { return true };
    let only_version = |path: &[&str]| *path == [VERSION];
    let parsed = parse_filtered(FileId::DETACHED, text.into(), &Limits::default(), &only_version);
    parsed.map_or(true, |document| document.root().get(VERSION).is_some())
}

/// Validates a template, and also whether its nodes can be substituted if that is requested. A
/// template that cannot be read gives a finding as well.
fn validate(template: &Path, args: &ValidateArgs) -> Vec<Validation> {
    let mut resolver = match select::chosen(template, &args.choose) {
        Ok(resolver) => resolver,
        Err(failure) => return vec![failure.into()],
    };
    if args.non_normative {
        resolver = resolver.non_normative_types();
    }
    if args.portable {
        resolver = resolver.portable();
    }
    let mut found = vec![resolver.validate()];
    if !args.with.is_empty() {
        found.push(resolver.validate_substitutions(&SubstitutionQuery::with(&args.with)));
    }
    match args.strict {
        true => found.into_iter().map(Validation::strict).collect(),
        false => found,
    }
}

/// All findings in the order of the templates. A finding in a file that several templates import is
/// listed once.
fn findings<'v>(validated: &'v [(&Path, Validation)]) -> Vec<(&'v Path, LocatedDiagnostic<'v>)> {
    let all = validated.iter().flat_map(|(template, validation)| {
        validation
            .diagnostics
            .iter()
            .map(|diagnostic| (*template, (diagnostic, &validation.sources)))
    });
    let mut said = HashSet::new();
    all.filter(|(template, (diagnostic, sources))| {
        let place =
            diagnostic.span.map(|span| (sources.file(span.file).path(), span.start, span.end));
        let template = if place.is_none() { Some(*template) } else { None };
        said.insert((template, place, diagnostic.severity, diagnostic.code, &diagnostic.message))
    })
    .collect()
}

/// Writes a line for each valid template.
fn valid(validated: &[(&Path, Validation)]) -> String {
    let of_one = validated.chunk_by(|(one, _), (other, _)| one == other);
    let valid = of_one.filter(|all| all.iter().all(|(_, validation)| validation.is_valid(false)));
    let names = valid.filter_map(|all| all.first().map(|(template, _)| *template));
    let named = names.map(|template| match template == Path::new(STANDARD_INPUT) {
        true => streams::label(template),
        false => template.display().to_string(),
    });
    named.map(|template| format!("`{template}` is valid\n")).collect()
}

/// Reports the number of skipped files.
fn passed_over(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => format!("1 file without `{VERSION}` was passed over\n"),
        _ => format!("{count} files without `{VERSION}` were passed over\n"),
    }
}
