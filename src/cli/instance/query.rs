//! Runs `cuvee instance query`.

use crate::cli::args::ListFormat;
use crate::cli::read::ReadFiles;
use crate::cli::reporter::Reporter;
use crate::cli::stored::document;
use crate::cli::{Outcome, output, rejected};
use cuvee::Failure;
use cuvee::deploy::instance::{
    InstanceModel, InstanceQuery, ModelReading, QueryAnswer, query_by_filter, query_function,
    query_value,
};
use cuvee::diagnostic::{Code, Diagnostic, Diagnostics};
use cuvee::output::draw::instance::{rows, told};
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::SourceMap;
use cuvee::source::value::Value;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// A query: one of a path, a node filter, a function, and a value with functions.
pub(super) struct QueryAsk<'a> {
    pub path: Option<&'a str>,
    pub node_filter: Option<&'a Path>,
    pub function: Option<&'a str>,
    pub evaluate: Option<&'a str>,
    /// The element whose function or value it is.
    pub of: Option<&'a str>,
    pub unstable: bool,
    pub reveal: bool,
    pub format: ListFormat,
    pub output: Option<&'a Path>,
}

/// Answers a query about an instance. `types` reads the model with what is known of types.
pub(super) fn run(
    model: &InstanceModel,
    ask: &QueryAsk<'_>,
    types: &ModelReading<'_>,
    read: &ReadFiles,
    reporter: &Reporter,
) -> Outcome {
    let sources = SourceMap::default();
    let text = answer(model, ask, types, read, reporter, &sources)
        .map_err(|Diagnostics(diagnostics)| Failure { diagnostics, sources })?;
    output::deliver(ask.output, text, read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

fn answer(
    model: &InstanceModel,
    ask: &QueryAsk<'_>,
    types: &ModelReading<'_>,
    read: &ReadFiles,
    reporter: &Reporter,
    sources: &SourceMap,
) -> Result<String, Diagnostics> {
    let reading = ModelReading { unstable: ask.unstable, reveal: ask.reveal, ..*types };
    let QueryAnswer { rows: found, warnings, .. } = match (ask.path, ask.node_filter) {
        (Some(path), _) => {
            InstanceQuery::parse(path, sources.add("query", path))?.run(model, &reading)?
        }
        (None, Some(filter)) => {
            query_by_filter(model, document(filter, read, sources)?.root(), &reading)?
        }
        (None, None) => {
            let value = value(model, ask, &reading, sources)?;
            return Ok(match ask.format {
                ListFormat::Human => format!("{}\n", told(&value)),
                ListFormat::Json => lines(&[Answered { value }]),
            });
        }
    };
    reporter.report(&warnings, sources);
    Ok(match ask.format {
        ListFormat::Human => rows(&found),
        ListFormat::Json => lines(&found),
    })
}

/// The value of a function, or of all functions in a value.
fn value(
    model: &InstanceModel,
    ask: &QueryAsk<'_>,
    reading: &ModelReading<'_>,
    sources: &SourceMap,
) -> Result<Value, Diagnostic> {
    let read =
        |name: &str, text: &str| parse(sources.add(name, text), text.into(), &Limits::default());
    match (ask.function, ask.evaluate) {
        (Some(call), _) => query_function(model, read("function", call)?.root(), ask.of, reading),
        (None, Some(value)) => query_value(model, read("value", value)?.root(), ask.of, reading),
        (None, None) => {
            let message = "a query is a path, a node filter, a function or a value";
            let error = Diagnostic::error(Code::Usage, message);
            Err(error.help("ask for one of them, such as `nodes/*/state`"))
        }
    }
}

/// The result of a function.
#[derive(Serialize)]
struct Answered {
    value: Value,
}

/// Writes the objects as JSON, one a line.
fn lines<T: Serialize>(all: &[T]) -> String {
    let mut text = String::new();
    for one in all {
        // Strings, numbers, lists and maps with string keys can always be written.
        text.push_str(&serde_json::to_string(one).unwrap_or_default());
        text.push('\n');
    }
    text
}
