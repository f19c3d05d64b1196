//! Reads the files that `cuvee diff` compares: plain templates, or definitions of TOSCA 1.0, which
//! are converted to templates first.

use super::streams::CommandFiles;
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::explore::Answer;
use cuvee::output::convert::Conversion;
use cuvee::output::convert::ConversionQuery;
use cuvee::source::value::Value;
use cuvee::source::{MemoryFiles, SourceMap};
use cuvee::topology::diff::read;
use cuvee::{Failure, Resolver};
use std::path::Path;

/// A file of a comparison.
pub(super) struct ComparedFile {
    pub value: Value,
    /// The diagnostics about the file.
    pub told: Vec<Diagnostic>,
    pub sources: SourceMap,
}

/// Reads a file for a comparison with another one.
///
/// # Errors
/// The errors of reading a template, or of converting definitions.
pub(super) fn compared(name: &str, other: &str) -> Result<ComparedFile, Failure> {
    let path = Path::new(name);
    let Some(converted) = converted(path, &ConversionQuery::default().one_document())? else {
        let (told, sources) = (Vec::new(), SourceMap::default());
        return Ok(ComparedFile { value: read(path, &CommandFiles)?, told, sources });
    };
    // If the other file imports its types, this one has them in separate files, too.
    let has_imports = read(Path::new(other), &CommandFiles).is_ok_and(|value| imports(&value));
    let converted = match has_imports {
        true => self::converted(path, &ConversionQuery::default())?.unwrap_or(converted),
        false => converted,
    };
    // Errors in definitions are reported when they are validated or converted.
    let Answer { result, sources, .. } = converted;
    let mut told = Vec::new();
    let lost = result.losses.entries().len();
    if lost > 0 {
        let message = format!(
            "parts without a counterpart in YAML are not compared: {lost} {} of the conversion",
            if lost == 1 { "message" } else { "messages" }
        );
        let help = format!("`cuvee convert {name}` lists them");
        told.push(Diagnostic::note(Code::ConversionLoss, message).help(help));
    }
    let files = MemoryFiles::from([("converted.yaml", &*result.text())]);
    Ok(ComparedFile { value: read(Path::new("converted.yaml"), &files)?, told, sources })
}

/// Converts definitions of TOSCA 1.0. Returns nothing where the path does not lead to any.
fn converted(path: &Path, query: &ConversionQuery) -> Result<Option<Answer<Conversion>>, Failure> {
    let resolver = Resolver::new(path).files(CommandFiles);
    if !resolver.names_definitions() {
        return Ok(None);
    }
    let failure = match resolver.convert(query) {
        Ok(converted) => return Ok(Some(converted)),
        Err(failure) => failure,
    };
    let is_choice = |found: &Diagnostic| found.code == Code::Usage;
    match failure.diagnostics.iter().any(is_choice) {
        true => Err(to_be_chosen(path, failure)),
        false => Err(failure),
    }
}

/// Adds the advice to convert first, because only that command can choose between several
/// templates.
fn to_be_chosen(path: &Path, failure: Failure) -> Failure {
    let help = format!(
        "convert `{}` first: flags of `cuvee convert` choose which one is meant",
        path.display()
    );
    let diagnostics = failure.diagnostics.into_iter().map(|found| found.help(help.clone()));
    Failure { diagnostics: diagnostics.collect(), sources: failure.sources }
}

fn imports(value: &Value) -> bool {
    let Value::Map(entries) = value else { return false };
    entries.iter().any(|(key, _)| &**key == "imports")
}
