//! Writes diagnostics for JavaScript: places are lines and columns as its strings have them.

use cuvee::Failure;
use cuvee::diagnostic::{Diagnostic, Severity};
use cuvee::editor::{Encoding, Range, range};
use cuvee::source::{SourceMap, Span};
use serde::Serialize;

#[derive(Serialize)]
struct Place {
    path: String,
    range: Range,
}

#[derive(Serialize)]
struct Label<'d> {
    #[serde(flatten)]
    place: Place,
    message: &'d str,
}

#[derive(Serialize)]
struct Fix {
    #[serde(flatten)]
    place: Place,
    replacement: String,
}

/// A diagnostic with its places.
#[derive(Serialize)]
pub(crate) struct PlacedDiagnostic<'d> {
    severity: Severity,
    code: &'static str,
    message: &'d str,
    path: Option<String>,
    range: Option<Range>,
    labels: Vec<Label<'d>>,
    help: Option<&'d str>,
    rule: Option<String>,
    fix: Option<Fix>,
}

/// Diagnostics, each with the places in these files.
pub(crate) fn placed<'d>(
    found: &'d [Diagnostic],
    sources: &SourceMap,
) -> Vec<PlacedDiagnostic<'d>> {
    let place = |span: Span| Place {
        path: sources.file(span.file).path().to_string_lossy().into_owned(),
        range: range(sources, span, Encoding::Utf16),
    };
    let one = |it: &'d Diagnostic| {
        let (path, range) = it.span.map(place).map(|it| (it.path, it.range)).unzip();
        let labels = it.labels.iter();
        PlacedDiagnostic {
            severity: it.severity,
            code: it.code.as_str(),
            message: &it.message,
            path,
            range,
            labels: labels
                .map(|it| Label { place: place(it.span), message: &it.message })
                .collect(),
            help: it.help.as_deref(),
            rule: it.rule.as_ref().map(ToString::to_string),
            fix: it
                .fix(sources)
                .map(|it| Fix { place: place(it.span), replacement: it.replacement }),
        }
    };
    found.iter().map(one).collect()
}

/// Why there is no answer, for people and for programs.
#[derive(Serialize)]
struct Refusal<'f> {
    message: String,
    diagnostics: Vec<PlacedDiagnostic<'f>>,
}

/// A failure in JSON.
pub(crate) fn failure(failure: &Failure) -> String {
    let diagnostics = placed(&failure.diagnostics, &failure.sources);
    text(&Refusal { message: failure.to_string(), diagnostics })
}

/// A question that makes no sense, in JSON: without diagnostics, it is an error of the caller.
pub(crate) fn misuse(message: &str) -> String {
    text(&Refusal { message: message.to_owned(), diagnostics: Vec::new() })
}

/// An answer in JSON, indented as the command does it.
pub(crate) fn text(answer: &impl Serialize) -> String {
    // Texts, numbers, lists and maps with texts as keys can always be written.
    serde_json::to_string_pretty(answer).unwrap_or_default()
}
