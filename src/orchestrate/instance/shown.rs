//! What of a value anybody may see.

use super::model::{InstanceModel, SecretsMode};
use crate::text::value::{Number, Value};
use crate::topology::sensitive::kept_secret;
use std::sync::Arc;

/// What stands for a value that is nobody's business.
pub(crate) const SENSITIVE: &str = "(sensitive)";

/// The only key of what is kept of a secret.
const MARK: &str = "$sensitive";

/// Shows values of a model, and nothing that is secret in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShownValues {
    reveals: bool,
    marks: bool,
}

impl ShownValues {
    /// For who asks; only where secrets are kept they can be revealed.
    pub(crate) fn of(model: &InstanceModel, reveal: bool) -> Self {
        Self { reveals: reveal && model.secrets == SecretsMode::Keep, marks: false }
    }

    /// For who reads it back, and has to know that a secret is one.
    pub(crate) fn marked(self) -> Self {
        Self { marks: true, ..self }
    }

    /// A value; the entries of maps in it are in the order of their names.
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
            // How a number was written is not kept everywhere, so it is shown nowhere.
            (Value::Number(number), _) => Value::Number(unwritten(number)),
            (Value::Null | Value::Bool(_) | Value::String(_), _) => value.clone(),
        }
    }
}

fn marked(kept: Value) -> Value {
    Value::Map([(MARK.into(), kept)].into())
}

/// A value as it was shown: of a secret only that it was one is known.
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
