//! Runs `cuvee instance query`.

use crate::cli::args::ListFormat;
use crate::cli::read::ReadFiles;
use crate::cli::reporter::Reporter;
use crate::cli::stored::document;
use crate::cli::{Outcome, output, rejected};
use cuvee::Failure;
use cuvee::deploy::instance::{
    DerivesFrom, InstanceModel, InstanceQuery, ModelReading, QueryAnswer, query_by_filter,
    query_function,
};
use cuvee::diagnostic::{Code, Diagnostic, Diagnostics};
use cuvee::output::draw::instance::{rows, told};
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::SourceMap;
use cuvee::source::value::Value;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// A query: one of a path, a node filter, and a function.
pub(super) struct QueryAsk<'a> {
    pub path: Option<&'a str>,
    pub node_filter: Option<&'a Path>,
    pub function: Option<&'a str>,
    pub unstable: bool,
    pub reveal: bool,
    pub format: ListFormat,
    pub output: Option<&'a Path>,
}

/// Answers a query about an instance.
pub(super) fn run(
    model: &InstanceModel,
    ask: &QueryAsk<'_>,
    derives: DerivesFrom<'_>,
    read: &ReadFiles,
    reporter: &Reporter,
) -> Outcome {
    let sources = SourceMap::default();
    let text = answer(model, ask, derives, read, reporter, &sources)
        .map_err(|Diagnostics(diagnostics)| Failure { diagnostics, sources })?;
    output::deliver(ask.output, text, read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

fn answer(
    model: &InstanceModel,
    ask: &QueryAsk<'_>,
    derives: DerivesFrom<'_>,
    read: &ReadFiles,
    reporter: &Reporter,
    sources: &SourceMap,
) -> Result<String, Diagnostics> {
    let reading = ModelReading { unstable: ask.unstable, reveal: ask.reveal, derives };
    let QueryAnswer { rows: found, warnings, .. } = match (ask.path, ask.node_filter, ask.function)
    {
        (Some(path), None, None) => {
            InstanceQuery::parse(path, sources.add("query", path))?.run(model, &reading)?
        }
        (None, Some(filter), None) => {
            query_by_filter(model, document(filter, read, sources)?.root(), &reading)?
        }
        (None, None, Some(call)) => {
            let file = sources.add("function", call);
            let call = parse(file, call.into(), &Limits::default())?;
            let value = query_function(model, call.root(), &reading)?;
            return Ok(match ask.format {
                ListFormat::Human => format!("{}\n", told(&value)),
                ListFormat::Json => lines(&[Answered { value }]),
            });
        }
        _ => {
            let error =
                Diagnostic::error(Code::Usage, "a query is a path, a node filter or a function");
            return Err(error.help("ask for one of them, such as `nodes/*/state`").into());
        }
    };
    reporter.report(&warnings, sources);
    Ok(match ask.format {
        ListFormat::Human => rows(&found),
        ListFormat::Json => lines(&found),
    })
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
