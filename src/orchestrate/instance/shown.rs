//! What of a value anybody may see.

use super::model::{InstanceModel, SecretsMode};
use crate::text::value::{Number, Value};
use crate::topology::sensitive::is_sensitive_name;
use std::sync::Arc;

/// What stands for a value that is nobody's business.
pub(crate) const SENSITIVE: &str = "(sensitive)";

/// The only key of what is kept instead of a secret.
const MARK: &str = "$sensitive";

/// Shows values of a model, and nothing that is secret in it.
#[derive(Clone, Debug)]
pub(crate) struct ShownValues {
    /// Whether secrets are there as they are, and not asked for.
    hides_names: bool,
    patterns: Vec<String>,
}

impl ShownValues {
    /// Only who keeps secrets can reveal them.
    pub(crate) fn of(model: &InstanceModel, reveal: bool) -> Self {
        let patterns = model.sensitive.iter().map(|pattern| pattern.to_ascii_lowercase());
        Self {
            hides_names: model.secrets == SecretsMode::Keep && !reveal,
            patterns: patterns.collect(),
        }
    }

    /// The value of this name; the entries of maps in it are in the order of their names.
    pub(crate) fn value(&self, name: &str, value: &Value) -> Value {
        match value {
            secret if is_marked(secret) => Value::from(SENSITIVE),
            Value::Null => Value::Null,
            _ if self.hides(name) => Value::from(SENSITIVE),
            Value::List(items) => {
                items.iter().map(|item| self.value(name, item)).collect::<Vec<_>>().into()
            }
            Value::Map(entries) => {
                let shown =
                    |(key, value): &(Arc<str>, Value)| (Arc::clone(key), self.value(key, value));
                let mut entries: Vec<_> = entries.iter().map(shown).collect();
                entries.sort_by(|(one, _), (other, _)| one.cmp(other));
                Value::Map(entries.into())
            }
            // How a number was written is not kept everywhere, so it is shown nowhere.
            Value::Number(number) => Value::Number(unwritten(number)),
            Value::Bool(_) | Value::String(_) => value.clone(),
        }
    }

    /// Whether what has this name is not shown, although it is there.
    pub(crate) fn hides(&self, name: &str) -> bool {
        let lower = || name.to_ascii_lowercase();
        let is_named = || self.patterns.iter().any(|pattern| lower().contains(pattern));
        self.hides_names && (is_sensitive_name(name) || is_named())
    }
}

/// Whether a value stands for a secret.
pub(crate) fn is_marked(value: &Value) -> bool {
    matches!(value, Value::Map(entries) if matches!(&**entries, [(name, _)] if &**name == MARK))
}

/// A value as it was shown: of a secret only that it was one is known.
pub(crate) fn taken(value: &Value) -> Value {
    match value {
        Value::String(text) if &**text == SENSITIVE => {
            Value::Map([(MARK.into(), Value::from(""))].into())
        }
        Value::List(items) => items.iter().map(taken).collect::<Vec<_>>().into(),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|(key, value)| (Arc::clone(key), taken(value))).collect())
        }
        Value::Number(number) => Value::Number(unwritten(number)),
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

fn unwritten(number: &Number) -> Number {
    number.as_int().map_or_else(|| Number::float(number.as_f64()), Number::int)
}
