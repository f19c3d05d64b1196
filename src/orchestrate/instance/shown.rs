//! Decides which parts of a value are shown.

use super::model::{InstanceModel, SecretsMode};
use crate::topology::sensitive::kept_secret;
use cuvee_text::value::{Number, Value};
use std::sync::Arc;

/// The text that is shown for a secret value.
pub(crate) const SENSITIVE: &str = "(sensitive)";

/// The only key of the map that is kept in place of a secret.
const MARK: &str = "$sensitive";

/// Shows values of a model without its secrets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShownValues {
    reveals: bool,
    marks: bool,
}

impl ShownValues {
    /// For a reader. Secrets can only be revealed if the instance keeps them as they are.
    pub(crate) fn of(model: &InstanceModel, reveal: bool) -> Self {
        Self { reveals: reveal && model.secrets == SecretsMode::Keep, marks: false }
    }

    /// For a program that reads the values back and has to know which are secret.
    pub(crate) fn marked(self) -> Self {
        Self { marks: true, ..self }
    }

    /// The value as it is shown. Entries of maps in it are sorted by name.
    pub(crate) fn value(self, value: &Value) -> Value {
        match (value, kept_secret(value)) {
            (_, Some(kept)) if self.reveals && self.marks => marked(self.value(kept)),
            (_, Some(kept)) if self.reveals => self.value(kept),
            (_, Some(_)) => Value::from(SENSITIVE),
            (Value::List(items), _) => {
                items.iter().map(|item| self.value(item)).collect::<Vec<_>>().into()
            }
            (Value::Map(entries), _) => {
                let shown = |(key, value): &(Arc<str>, Value)| (Arc::clone(key), self.value(value));
                let mut entries: Vec<_> = entries.iter().map(shown).collect();
                entries.sort_by(|(one, _), (other, _)| one.cmp(other));
                Value::Map(entries.into())
            }
            // Not all stores keep how a number was written, so it is never shown.
            (Value::Number(number), _) => Value::Number(unwritten(number)),
            (Value::Null | Value::Bool(_) | Value::String(_), _) => value.clone(),
        }
    }
}

fn marked(kept: Value) -> Value {
    Value::Map([(MARK.into(), kept)].into())
}

/// A value that was read from shown text. A hidden secret becomes a secret of unknown value.
pub(crate) fn taken(value: &Value) -> Value {
    match value {
        Value::String(text) if &**text == SENSITIVE => marked(Value::Null),
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
