//! What only the binary does: arguments, environment, clock, terminal, files that are written.

pub mod args;
pub mod explain;
pub mod export;
pub mod import;
pub mod options;
mod output;
mod progress;
pub mod render;
pub mod resolve;
mod select;
pub mod test;

use cuvee::Failure;
use cuvee::diagnostic::Diagnostic;
use cuvee::source::SourceMap;
use std::process::ExitCode;

/// What a command comes to: how to exit, or everything that is wrong.
pub type Outcome = Result<ExitCode, Failure>;

/// A failure that has no place in a file.
fn rejected(diagnostic: Diagnostic) -> Failure {
    Failure { diagnostics: vec![diagnostic], sources: SourceMap::default() }
}
