//! Contains the parts that only the binary needs: arguments, environment, clock, terminal, and
//! files that are written.

pub(crate) mod analyze;
pub(crate) mod args;
pub(crate) mod assign;
pub(crate) mod complete;
mod config;
pub(crate) mod convert;
mod csv;
pub(crate) mod diff;
mod diff_files;
pub(crate) mod enrich;
pub(crate) mod explain;
pub(crate) mod explain_code;
pub(crate) mod export;
mod format;
pub(crate) mod graph;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod inputs;
pub(crate) mod instance;
mod junit;
#[cfg(feature = "lsp")]
pub(crate) mod lsp;
mod manual;
pub(crate) mod matrix;
pub(crate) mod misuse;
pub(crate) mod options;
pub(crate) mod output;
pub(crate) mod packaging;
#[cfg(target_os = "linux")]
pub(crate) mod pages;
pub(crate) mod plan;
mod plugin;
mod progress;
pub(crate) mod quality;
mod read;
#[cfg(test)]
mod reference;
pub(crate) mod report;
pub(crate) mod reporter;
pub(crate) mod resolve;
mod sarif;
mod select;
mod simulate;
mod stored;
mod streams;
pub(crate) mod substitute;
pub(crate) mod test;
mod timings;
pub(crate) mod types;
pub(crate) mod validate;
pub(crate) mod variants;
pub(crate) mod watch;

use self::args::ListFormat;
use self::reporter::Reporter;
use cuvee::Failure;
use cuvee::diagnostic::{Diagnostic, Severity};
use cuvee::explore::Answer;
use cuvee::output::json::AnswerDocument;
use serde::Serialize;
use std::io::{self, Write};
use std::process::ExitCode;

/// The result of a command: the exit code, or all errors.
pub(crate) type Outcome = Result<ExitCode, Failure>;

/// Writes a result with its version, as indented JSON.
fn write_json<T: Serialize>(result: &T, to: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, &AnswerDocument::of(result))?;
    to.write_all(b"\n")
}

/// Writes one of many results, with its version, as a line of JSON.
fn json_line<T: Serialize>(result: &T) -> String {
    // Strings, numbers, lists and maps with string keys can always be written.
    let line = serde_json::to_string(&AnswerDocument::of(result));
    line.unwrap_or_default() + "\n"
}

/// Writes a result with its version as a text of JSON.
fn json<T: Serialize>(result: &T) -> String {
    let mut text = Vec::new();
    // Strings, numbers, lists and maps with string keys can always be written, and are UTF-8.
    let written = write_json(result, &mut text).ok();
    written.and_then(|()| String::from_utf8(text).ok()).unwrap_or_default()
}

/// Writes the answer to a query, after reporting its warnings.
fn answered<T: Serialize>(
    answer: &Answer<T>,
    format: ListFormat,
    reporter: &Reporter,
    human: impl FnOnce(&T) -> String,
) -> Outcome {
    reporter.report(&answer.warnings, &answer.sources);
    written(&answer.result, format, human)
}

/// Writes a result for people or for programs.
fn written<T: Serialize>(
    result: &T,
    format: ListFormat,
    human: impl FnOnce(&T) -> String,
) -> Outcome {
    let done = match format {
        ListFormat::Human => output::to_stdout(human(result)),
        ListFormat::Json => output::stream_to_stdout(|to| write_json(result, to)),
    };
    done.map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// Turns a warning into an error.
fn stricter(mut found: Diagnostic) -> Diagnostic {
    if found.severity == Severity::Warning {
        found.severity = Severity::Error;
    }
    found
}

/// A failure whose diagnostic has no place in a file.
fn rejected(diagnostic: Diagnostic) -> Failure {
    diagnostic.into()
}
