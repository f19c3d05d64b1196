//! Values of TOSCA 2.0 outside of its documents, where they are written as in version 1.3, so that
//! whoever follows values knows one form of them. In a document a leading `$` calls a function, so
//! one that is meant is written as `$$` (section 10.1), and paths of functions have more words.

use super::function::{Function, SECRET_MARK};
use super::v2_0::function::INDICES;
use super::v2_0::{PathStep, escaped, function_name, is_of, simple_path, unescaped};
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use std::sync::Arc;

/// The value that a node means.
pub(crate) fn value_of(node: Node<'_>) -> Value {
    if is_of(node.document()) { value(node.to_value()) } else { node.to_value() }
}

/// The value that is meant by a written one. Calls that version 1.3 does not have stay, and so does
/// a text, or the only key of a map, that would then be a call.
pub(crate) fn value(written: Value) -> Value {
    match written {
        Value::String(text) => {
            let meant = unescaped(&text).filter(|meant| !is_index(meant)).map(Arc::from);
            Value::String(meant.unwrap_or(text))
        }
        Value::List(items) => items.iter().cloned().map(value).collect::<Vec<_>>().into(),
        Value::Map(entries) => Value::Map(match &*entries {
            [(name, arguments)] => {
                let call = function_name(name).and_then(|name| simple_call(name, arguments));
                [call.unwrap_or_else(|| (name.clone(), value(arguments.clone())))].into()
            }
            entries => {
                let key = |key: &Arc<str>| unescaped(key).map_or_else(|| key.clone(), Arc::from);
                entries.iter().map(|(name, it)| (key(name), value(it.clone()))).collect()
            }
        }),
        other => other,
    }
}

/// A call that asks for something, as version 1.3 writes it.
fn simple_call(name: &str, arguments: &Value) -> Option<(Arc<str>, Value)> {
    let arguments = match (Function::named(name)?, arguments) {
        (Function::GetInput, Value::String(_) | Value::List(_)) => arguments.clone(),
        // Version 1.3 does not say which node of several a path is about.
        (_, Value::List(path)) if path.get(1).is_some_and(|step| step.index().is_some()) => {
            return None;
        }
        (Function::GetProperty | Function::GetAttribute, Value::List(path)) => {
            simple_path(path)?.into()
        }
        (Function::GetArtifact, Value::List(all)) => {
            let (artifact, path) = all.split_last()?;
            [simple_path(path)?, vec![artifact.clone()]].concat().into()
        }
        _ => return None,
    };
    Some((name.into(), arguments))
}

/// How a value is written that calls no functions.
pub(crate) fn literal(meant: Value) -> Value {
    match meant {
        Value::String(text) => Value::String(doubled(&text)),
        Value::List(items) => items.iter().cloned().map(literal).collect::<Vec<_>>().into(),
        Value::Map(entries) => match &*entries {
            [(name, _)] if function_name(name) == Some(SECRET_MARK) => Value::Map(entries),
            entries => {
                let entry = |(key, it): &(Arc<str>, Value)| (doubled(key), literal(it.clone()));
                Value::Map(entries.iter().map(entry).collect())
            }
        },
        other => other,
    }
}

/// How a value is written that may have the calls that [`value`] leaves or makes.
pub(crate) fn written(meant: Value) -> Value {
    match &meant {
        Value::String(text) if is_index(text) => meant,
        Value::List(items) => items.iter().cloned().map(written).collect::<Vec<_>>().into(),
        Value::Map(entries) => Value::Map(match &**entries {
            [(name, arguments)] => {
                let is_made = !name.starts_with('$') && Function::called_in(&meant).is_some();
                let name = if is_made { format!("${name}").into() } else { name.clone() };
                [(name, written(arguments.clone()))].into()
            }
            entries => {
                entries.iter().map(|(key, it)| (doubled(key), written(it.clone()))).collect()
            }
        }),
        _ => literal(meant),
    }
}

/// A text as it is written where it calls nothing.
fn doubled(text: &Arc<str>) -> Arc<str> {
    escaped(text).map_or_else(|| text.clone(), Arc::from)
}

/// Whether a text calls a function that takes no arguments.
fn is_index(text: &str) -> bool {
    function_name(text).is_some_and(|name| INDICES.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuvee_text::source::FileId;
    use cuvee_text::yaml::{Limits, parse, write_flow};

    fn read(text: &str) -> Value {
        parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap().root().to_value()
    }

    #[test]
    fn one_dollar_is_written_as_two() {
        for (said, means) in [
            ("$$5", "$5"),
            ("[$$a, $$$b, c$$d, $, $$]", "[$a, $$b, c$$d, $, $]"),
            ("{$$a: $$b, c: 1}", "{$a: $b, c: 1}"),
            ("{$concat: [$$a, $node_index]}", "{$concat: [$a, $node_index]}"),
            ("{$$concat: [$$node_index]}", "{$$concat: [$$node_index]}"),
        ] {
            assert_eq!(write_flow(&value(read(said))), write_flow(&read(means)), "{said}");
            assert_eq!(value(written(read(means))), read(means), "{means}");
        }
        for means in ["$5", "{$a: $b}", "{$concat: [$a, $node_index]}", "[{$sensitive: hmac:1}]"] {
            let again = write_flow(&literal(read(means))).replace("$$", "$");
            assert_eq!(again, write_flow(&read(means)), "{means}");
        }
    }

    #[test]
    fn functions_are_called_as_in_version_1_3() {
        for (said, means) in [
            ("{$get_input: [shop, 0]}", "{get_input: [shop, 0]}"),
            ("{$get_property: [SELF, CAPABILITY, c, p]}", "{get_property: [SELF, c, p]}"),
            ("{$get_property: [SELF, RELATIONSHIP, r, TARGET, p]}", "{get_property: [SELF, r, p]}"),
            ("[{$get_attribute: [SELF, TARGET, a, 1]}]", "[{get_attribute: [TARGET, a, 1]}]"),
            ("{$get_artifact: [SELF, file]}", "{get_artifact: [SELF, file]}"),
        ] {
            assert_eq!(write_flow(&value(read(said))), write_flow(&read(means)), "{said}");
            assert_eq!(value(written(read(means))), read(means), "{means}");
        }
        for stays in [
            "{$get_attribute: [web, 1, url]}",
            "{$get_property: [SELF, RELATIONSHIP, r, ALL, TARGET, p]}",
            "{$join: [[a]]}",
        ] {
            assert_eq!(value(read(stays)), read(stays));
            assert_eq!(written(read(stays)), read(stays));
        }
    }
}
