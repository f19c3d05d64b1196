//! The files that `cuvee diff` compares: plain templates, or definitions of TOSCA 1.0, which are
//! compared as the templates that they become.

use super::streams::CommandFiles;
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::diff::read;
use cuvee::explore::Answer;
use cuvee::source::{MemoryFiles, SourceMap};
use cuvee::value::Value;
use cuvee::{Conversion, ConversionQuery, Failure, Resolver};
use std::path::Path;

/// A file that is compared.
pub(super) struct ComparedFile {
    pub value: Value,
    /// What there is to say of it.
    pub told: Vec<Diagnostic>,
    pub sources: SourceMap,
}

/// Reads a file that is compared with another one.
///
/// # Errors
/// As reading a template, or converting definitions, gives them.
pub(super) fn compared(name: &str, other: &str) -> Result<ComparedFile, Failure> {
    let path = Path::new(name);
    let Some(converted) = converted(path, &ConversionQuery::default().one_document())? else {
        let (told, sources) = (Vec::new(), SourceMap::default());
        return Ok(ComparedFile { value: read(path, &CommandFiles)?, told, sources });
    };
    // Where the other one has its types in files of their own, so has this one.
    let has_imports = read(Path::new(other), &CommandFiles).is_ok_and(|value| imports(&value));
    let converted = match has_imports {
        true => self::converted(path, &ConversionQuery::default())?.unwrap_or(converted),
        false => converted,
    };
    // What is wrong with them is for who validates or converts them.
    let Answer { result, sources, .. } = converted;
    let mut told = Vec::new();
    let lost = result.losses.entries().len();
    if lost > 0 {
        let message = format!(
            "what has no counterpart in YAML is not compared: {lost} {} of the conversion",
            if lost == 1 { "message" } else { "messages" }
        );
        let help = format!("`cuvee convert {name}` tells");
        told.push(Diagnostic::note(Code::ConversionLoss, message).help(help));
    }
    let files = MemoryFiles::from([("converted.yaml", &*result.text())]);
    Ok(ComparedFile { value: read(Path::new("converted.yaml"), &files)?, told, sources })
}

/// What definitions of TOSCA 1.0 become; nothing where a path leads to none.
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

/// What of several is meant is said when converting.
fn to_be_chosen(path: &Path, failure: Failure) -> Failure {
    let help = format!("convert `{}` first: `cuvee convert` can be told which", path.display());
    let diagnostics = failure.diagnostics.into_iter().map(|found| found.help(help.clone()));
    Failure { diagnostics: diagnostics.collect(), sources: failure.sources }
}

fn imports(value: &Value) -> bool {
    let Value::Map(entries) = value else { return false };
    entries.iter().any(|(key, _)| &**key == "imports")
}
