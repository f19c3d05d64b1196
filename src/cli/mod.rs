//! What only the binary does: arguments, environment, clock, terminal, files that are written.

pub mod args;
pub mod explain;
pub mod explain_code;
pub mod inputs;
pub mod graph;
pub mod matrix;
pub mod options;
mod output;
mod progress;
pub mod render;
pub mod resolve;
mod select;
pub mod test;
pub mod variants;

use cuvee::Failure;
use cuvee::diagnostic::Diagnostic;
use cuvee::source::SourceMap;
use serde::Serialize;
use std::process::ExitCode;

/// What a command comes to: how to exit, or everything that is wrong.
pub type Outcome = Result<ExitCode, Failure>;

/// The version of every JSON document that a command writes; it grows when something is removed or means something else.
const JSON_VERSION: u32 = 1;

/// A result with its version, as indented JSON.
fn json<T: Serialize>(result: &T) -> String {
    #[derive(Serialize)]
    struct Versioned<'r, T> {
        version: u32,
        #[serde(flatten)]
        result: &'r T,
    }
    // Strings, numbers, lists and maps with string keys can always be written.
    let mut text = serde_json::to_string_pretty(&Versioned { version: JSON_VERSION, result }).unwrap_or_default();
    text.push('\n');
    text
}

/// A failure that has no place in a file.
fn rejected(diagnostic: Diagnostic) -> Failure {
    Failure { diagnostics: vec![diagnostic], sources: SourceMap::default() }
}
