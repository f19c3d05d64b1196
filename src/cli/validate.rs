//! `cuvee validate`

use super::args::{FindingsFormat, ValidateArgs};
use super::reporter::{LocatedDiagnostic, Reporter};
use super::{Outcome, output, rejected, sarif, select};
use cuvee::diagnostic::Severity;
use cuvee::render;
use cuvee::validate::Validation;
use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

/// Reports what is wrong with each template.
pub(crate) fn run(args: &ValidateArgs, reporter: &Reporter) -> Outcome {
    let validated: Vec<_> = args
        .templates
        .iter()
        .map(|template| (template.as_path(), validate(template, args)))
        .collect();
    let wrong = validated.iter().any(|(_, validation)| !validation.is_valid(false));
    let mut found = findings(&validated);
    found.retain(|(_, (diagnostic, _))| reporter.tells(diagnostic.severity));
    let diagnostics: Vec<_> = found.iter().map(|&(_, found)| found).collect();
    let text = match args.format {
        FindingsFormat::Json => render::json(diagnostics),
        FindingsFormat::Sarif => sarif::document(&found),
        FindingsFormat::Human => {
            reporter.tell(&diagnostics);
            if reporter.tells(Severity::Note) { valid(&validated) } else { String::new() }
        }
    };
    output::to_stdout(&text).map_err(rejected)?;
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What is wrong with one template; that it cannot be read is one of these things.
fn validate(template: &Path, args: &ValidateArgs) -> Validation {
    let resolver = match select::chosen(template, &args.choose) {
        Ok(resolver) if args.non_normative => resolver.non_normative_types(),
        Ok(resolver) => resolver,
        Err(failure) => return failure.into(),
    };
    let validation = resolver.validate();
    if args.strict { validation.strict() } else { validation }
}

/// Everything that was found, in the order of the templates; of files that several of them import
/// it is said once.
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

/// One line for each template of which nothing is wrong.
fn valid(validated: &[(&Path, Validation)]) -> String {
    let valid = validated.iter().filter(|(_, validation)| validation.is_valid(false));
    valid.map(|(template, _)| format!("`{}` is valid\n", template.display())).collect()
}
