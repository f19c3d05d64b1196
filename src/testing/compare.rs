//! Compares documents as data, and applies the edits that a test requests before the comparison.

use cuvee_text::value::Value;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How many characters of a value a difference shows.
const SHOWN: usize = 100;
/// How many characters of the common beginning a difference shows before the values part.
const SHARED: usize = 30;

/// Lists the differences, one a line: `path: expected …, got …`. The order of map entries does not
/// matter, and `1` equals `1.0`.
pub(super) fn differences(expected: &Value, got: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(&mut String::new(), expected, got, &mut found);
    found
}

fn compare(path: &mut String, expected: &Value, got: &Value, found: &mut Vec<String>) {
    match (expected, got) {
        (Value::Map(expected), Value::Map(got)) => {
            let others: FxHashMap<&str, &Value> =
                got.iter().map(|(key, value)| (&**key, value)).collect();
            for (key, value) in expected.iter() {
                within(path, &step(key), |path| {
                    side_by_side(path, Some(value), others.get(&**key).copied(), found)
                });
            }
            let known: FxHashMap<&str, ()> = expected.iter().map(|(key, _)| (&**key, ())).collect();
            for (key, value) in got.iter().filter(|(key, _)| !known.contains_key(&**key)) {
                within(path, &step(key), |path| side_by_side(path, None, Some(value), found));
            }
        }
        (Value::List(expected), Value::List(got)) => {
            for index in 0..expected.len().max(got.len()) {
                within(path, &format!("[{index}]"), |path| {
                    side_by_side(path, expected.get(index), got.get(index), found)
                });
            }
        }
        _ if same_scalar(expected, got) => {}
        _ => found.push(line(path, Some(expected), Some(got))),
    }
}

fn side_by_side(
    path: &mut String,
    expected: Option<&Value>,
    got: Option<&Value>,
    found: &mut Vec<String>,
) {
    match (expected, got) {
        (Some(expected), Some(got)) => compare(path, expected, got, found),
        _ => found.push(line(path, expected, got)),
    }
}

/// Compares scalars. Unlike in arithmetic, a NaN equals a NaN.
fn same_scalar(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.as_f64().is_nan() && b.as_f64().is_nan())
        }
        _ => expected == got,
    }
}

fn step(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-~#@:".contains(c));
    if plain { format!(".{key}") } else { format!("[{key:?}]") }
}

fn within(path: &mut String, step: &str, inner: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push_str(if path.is_empty() { step.trim_start_matches('.') } else { step });
    inner(path);
    path.truncate(length);
}

fn line(path: &str, expected: Option<&Value>, got: Option<&Value>) -> String {
    let (expected, got) = (text(expected), text(got));
    let shared = expected.chars().zip(got.chars()).take_while(|(a, b)| a == b).count();
    let skipped = shared.saturating_sub(SHARED);
    let path = if path.is_empty() { "the document" } else { path };
    format!("{path}: expected {}, got {}", cut(&expected, skipped), cut(&got, skipped))
}

/// Writes a value as JSON, which distinguishes `"1"` from `1` and fits on one line.
fn text(value: Option<&Value>) -> String {
    match value {
        None => "nothing".into(),
        Some(Value::Number(number)) => number.to_string(),
        Some(value) => serde_json::to_string(value).unwrap_or_else(|_| value.to_string()),
    }
}

fn cut(text: &str, skipped: usize) -> String {
    let mut rest = text.chars().skip(skipped);
    let shown: String = rest.by_ref().take(SHOWN).collect();
    let (before, behind) =
        (if skipped > 0 { "…" } else { "" }, if rest.next().is_some() { "…" } else { "" });
    format!("{before}{shown}{behind}")
}

/// Merges `over` into `value`: maps are merged entry by entry, any other value replaces the old
/// one.
pub(super) fn merge(value: &Value, over: &Value) -> Value {
    let (Value::Map(old), Value::Map(new)) = (value, over) else { return over.clone() };
    let mut merged: indexmap::IndexMap<Arc<str>, Value> = old.iter().cloned().collect();
    for (key, value) in new.iter() {
        let value = merged.get(key).map_or_else(|| value.clone(), |old| merge(old, value));
        merged.insert(key.clone(), value);
    }
    Value::Map(merged.into_iter().collect())
}

/// Replaces text in every string, including keys. The pairs apply one after the other.
pub(super) fn replace(value: &Value, pairs: &[(String, String)]) -> Value {
    let string = |text: &str| -> Arc<str> {
        pairs
            .iter()
            .fold(text.to_owned(), |text, (from, to)| text.replace(from.as_str(), to))
            .into()
    };
    match value {
        Value::String(text) => Value::String(string(text)),
        Value::List(items) => Value::List(items.iter().map(|item| replace(item, pairs)).collect()),
        Value::Map(entries) => Value::Map(
            entries.iter().map(|(key, value)| (string(key), replace(value, pairs))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    fn list<const N: usize>(items: [Value; N]) -> Value {
        Value::from(Vec::from(items))
    }

    /// Values over small alphabets, so that equal keys are likely.
    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0i64..3).prop_map(Value::from),
            "[a-c]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            let entries = proptest::collection::btree_map("[a-c]", inner.clone(), 0..4);
            prop_oneof![
                proptest::collection::vec(inner, 0..4).prop_map(Value::from),
                entries.prop_map(|entries| Value::Map(
                    entries.into_iter().map(|(key, value)| (key.into(), value)).collect()
                )),
            ]
        })
    }

    proptest! {
        #[test]
        fn differences_are_none_exactly_for_equals(a in any_value(), b in any_value()) {
            prop_assert_eq!(differences(&a, &b).is_empty(), a == b);
            prop_assert!(differences(&a, &a).is_empty());
        }

        #[test]
        fn merging_is_idempotent_and_keeps_what_it_lays_over(a in any_value(), b in any_value()) {
            let merged = merge(&a, &b);
            prop_assert_eq!(&merge(&merged, &b), &merged);
            prop_assert_eq!(merge(&a, &a), a);
        }
    }

    #[test]
    fn says_where_and_what() {
        let expected = map([
            ("a", 1.into()),
            ("b.c", list([true.into(), "x".into()])),
            ("same", map([("k", 1.0.into())])),
            ("gone", map([("k", Value::Null)])),
        ]);
        let got = map([
            ("new", "y".into()),
            ("same", map([("k", 1.into())])),
            ("b.c", list([true.into(), 7.into(), 8.5.into()])),
            ("a", "1".into()),
        ]);
        assert_eq!(
            differences(&expected, &got),
            [
                r#"a: expected 1, got "1""#,
                r#"["b.c"][1]: expected "x", got 7"#,
                r#"["b.c"][2]: expected nothing, got 8.5"#,
                r#"gone: expected {"k":null}, got nothing"#,
                r#"new: expected nothing, got "y""#,
            ]
        );
        assert_eq!(differences(&1.into(), &Value::Null), ["the document: expected 1, got null"]);
    }

    #[test]
    fn shows_long_values_where_they_part() {
        let long =
            |tail: &str| Value::from(format!("{}{tail}{}", "s".repeat(200), "t".repeat(200)));
        let lines = differences(&long("é"), &long("è"));
        let start = "s".repeat(SHARED);
        let rest = "t".repeat(SHOWN - SHARED - 1);
        assert_eq!(
            lines,
            [format!("the document: expected …{start}é{rest}…, got …{start}è{rest}…")]
        );
    }

    #[test]
    fn not_a_number_is_equal_to_itself_here() {
        let nan = Value::from(f64::NAN);
        assert!(differences(&nan, &nan).is_empty());
        assert_eq!(differences(&nan, &1.into()), ["the document: expected .nan, got 1"]);
    }

    #[test]
    fn merges_deeply() {
        let value = map([("a", map([("x", 1.into()), ("y", 2.into())])), ("l", list([1.into()]))]);
        let over = map([("a", map([("y", 3.into()), ("z", 4.into())])), ("l", list([2.into()]))]);
        let merged = map([
            ("a", map([("x", 1.into()), ("y", 3.into()), ("z", 4.into())])),
            ("l", list([2.into()])),
        ]);
        assert_eq!(merge(&value, &over), merged);
    }

    #[test]
    fn replaces_in_keys_and_values_in_order() {
        let pairs = [("_ansible".into(), "".into()), ("a".into(), "b".into())];
        let value = map([("shop_ansible", list(["a_ansible".into(), 1.into()]))]);
        assert_eq!(replace(&value, &pairs), map([("shop", list(["b".into(), 1.into()]))]));
    }
}
