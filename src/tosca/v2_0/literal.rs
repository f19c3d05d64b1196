//! Values of TOSCA 2.0 outside of its documents. In a document a leading `$` calls a function, so
//! one that is meant is written as `$$` (section 10.1). What still calls a function stays as it is.

use super::function::INDICES;
use super::{function_name, is_of};
use crate::tosca::function::SECRET_MARK;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use std::sync::Arc;

/// The value that a node means.
pub(crate) fn meant_by(node: Node<'_>) -> Value {
    if is_of(node.document()) { meant(node.to_value()) } else { node.to_value() }
}

/// The key that a node means.
pub(crate) fn meant_key(key: Node<'_>) -> Arc<str> {
    let text = key.key_text();
    unescaped(&text).filter(|_| is_of(key.document())).unwrap_or(&text).into()
}

/// The text behind the first `$` of several.
pub(crate) fn unescaped(text: &str) -> Option<&str> {
    text.strip_prefix('$').filter(|rest| rest.starts_with('$'))
}

/// The value that is meant by a written one. A text, or the only key of a map, that would then be a
/// call stays.
pub(crate) fn meant(written: Value) -> Value {
    texts(written, &|text, is_only_key| {
        let meant = unescaped(text).filter(|meant| !is_only_key && !is_index(meant));
        meant.map(Arc::from)
    })
}

/// How a value is written that calls no functions.
pub(crate) fn written(meant: Value) -> Value {
    texts(meant, &|text, is_only_key| {
        let is_mark = is_only_key && function_name(text) == Some(SECRET_MARK);
        (text.starts_with('$') && !is_mark).then(|| format!("${text}").into())
    })
}

/// How a value is written in which [`meant`] left calls.
pub(crate) fn written_again(meant: Value) -> Value {
    texts(meant, &|text, is_only_key| {
        let is_literal = text.starts_with('$') && !is_only_key && !is_index(text);
        is_literal.then(|| format!("${text}").into())
    })
}

/// Whether a text calls a function that takes no arguments.
fn is_index(text: &str) -> bool {
    function_name(text).is_some_and(|name| INDICES.contains(&name))
}

/// A value with other texts and keys. `other` is told whether a text is the only key of its map.
fn texts(value: Value, other: &dyn Fn(&str, bool) -> Option<Arc<str>>) -> Value {
    match value {
        Value::String(text) => Value::String(other(&text, false).unwrap_or(text)),
        Value::List(items) => {
            items.iter().map(|item| texts(item.clone(), other)).collect::<Vec<_>>().into()
        }
        Value::Map(entries) => {
            let is_only = entries.len() == 1;
            let entry = |(key, value): &(Arc<str>, Value)| {
                (other(key, is_only).unwrap_or_else(|| key.clone()), texts(value.clone(), other))
            };
            Value::Map(entries.iter().map(entry).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuvee_text::source::FileId;
    use cuvee_text::yaml::{Limits, parse, write_flow};

    #[test]
    fn one_dollar_is_written_as_two() {
        for (said, means) in [
            ("$$5", "$5"),
            ("[$$a, $$$b, c$$d, $, $$]", "[$a, $$b, c$$d, $, $]"),
            ("{$$a: $$b, c: 1}", "{$a: $b, c: 1}"),
            ("{$concat: [$$a, $node_index]}", "{$concat: [$a, $node_index]}"),
            ("{$$concat: [$$node_index]}", "{$$concat: [$$node_index]}"),
        ] {
            let value = |text: &str| {
                parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap().root().to_value()
            };
            assert_eq!(write_flow(&meant(value(said))), write_flow(&value(means)), "{said}");
            assert_eq!(meant(written_again(value(means))), value(means), "{means}");
        }
    }
}
