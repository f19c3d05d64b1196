//! What only the binary does: arguments, environment, clock, terminal, files that are written.

pub mod analyze;
pub mod args;
pub mod diff;
pub mod explain;
pub mod explain_code;
pub mod export;
pub mod graph;
pub mod import;
pub mod inputs;
pub mod matrix;
pub mod options;
mod output;
pub mod packaging;
mod progress;
pub mod render;
pub mod report;
pub mod resolve;
mod select;
pub mod test;
pub mod types;
pub mod variants;

use self::args::ListFormat;
use self::render::Reporter;
use cuvee::Failure;
use cuvee::diagnostic::Diagnostic;
use cuvee::explore::{Answer, Assigned};
use cuvee::source::SourceMap;
use cuvee::value::Value;
use cuvee::yaml::write_flow;
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

/// The inputs that have to be assigned to get there, as they are written on a command line.
fn flags(inputs: &[Assigned]) -> String {
    let needed = inputs.iter().filter(|input| !input.default);
    let flags: Vec<_> = needed.filter_map(|input| Some(flag(&input.name, input.value.as_ref()?))).collect();
    if flags.is_empty() { "as it is".into() } else { flags.join(" ") }
}

/// The flag that assigns an input, quoted so that a shell hands on what is then read as this value.
fn flag(name: &str, value: &Value) -> String {
    let word = format!("{name}={}", write_flow(value));
    let is_plain = |c: char| c.is_alphanumeric() || "_-+=.,:/@%^".contains(c);
    let is_expanded = |c: char| "\"\\$`!".contains(c);
    match () {
        () if word.chars().all(is_plain) => format!("-i {word}"),
        () if !word.contains('\'') => format!("-i '{word}'"),
        () if !word.contains(is_expanded) => format!("-i \"{word}\""),
        () => format!("-i '{}'", word.replace('\'', "'\\''")),
    }
}

/// Writes what a question came to, behind its warnings.
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
fn written<T: Serialize>(result: &T, format: ListFormat, human: impl FnOnce(&T) -> String) -> Outcome {
    let text = match format {
        ListFormat::Human => human(result),
        ListFormat::Json => json(result),
    };
    output::to_stdout(&text).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// A failure that has no place in a file.
fn rejected(diagnostic: Diagnostic) -> Failure {
    Failure { diagnostics: vec![diagnostic], sources: SourceMap::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_survive_the_shell_and_yaml() {
        let cases: [(Value, &str); 8] = [
            ("eu-north".into(), "-i name=eu-north"),
            (2000.into(), "-i name=2000"),
            ("7".into(), "-i \"name='7'\""),
            ("tea shop".into(), "-i 'name=tea shop'"),
            ("$HOME".into(), "-i 'name=$HOME'"),
            ("it's".into(), "-i \"name=it's\""),
            ("it's $5".into(), r"-i 'name=it'\''s $5'"),
            (vec![1.into(), "a".into()].into(), "-i 'name=[1, a]'"),
        ];
        for (value, expected) in cases {
            assert_eq!(flag("name", &value), expected);
        }
    }
}
