//! Answers requests about a place in a file.

use super::place;
use super::protocol::{Encoding, Position};
use cuvee::editor::TemplateAnalysis;
use serde_json::{Value, json};
use std::path::Path;

/// The requests that are answered.
pub(super) const METHODS: &[&str] = &[];

/// What the server says that it can answer.
pub(super) fn capabilities() -> Value {
    json!({})
}

/// The offset that a request is about.
pub(super) fn offset(params: &Value, text: Option<&str>, encoding: Encoding) -> Option<usize> {
    let position: Position = serde_json::from_value(params.get("position")?.clone()).ok()?;
    Some(place::offset(text?, position, encoding))
}

/// Answers a request.
///
/// # Errors
/// Why what was asked for cannot be done, for people.
pub(super) fn answer(
    _analysis: &TemplateAnalysis<'_>,
    _method: &str,
    _file: &Path,
    _text: Option<&str>,
    _params: &Value,
    _encoding: Encoding,
) -> Result<Value, String> {
    Ok(Value::Null)
}
