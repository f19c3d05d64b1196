//! Decides which parts of a value are shown.

use super::model::{InstanceModel, SecretsMode};
use crate::topology::sensitive::{SENSITIVE, kept_secret};
use cuvee_text::value::{Number, Value};
use std::sync::Arc;

/// The only key of the map that is kept in place of a secret.
pub(super) const MARK: &str = "$sensitive";

/// Gives the secret that an instance keeps in some form, if a reader knows it.
pub type OpenSecret<'s> = &'s dyn Fn(&Value) -> Option<Value>;

/// Shows values of a model without its secrets.
#[derive(Clone, Copy)]
pub(crate) struct ShownValues<'s> {
    reveals: bool,
    marks: bool,
    open: Option<OpenSecret<'s>>,
}

impl<'s> ShownValues<'s> {
    /// For a reader. Secrets can only be revealed if the instance keeps them as they are.
    pub(crate) fn of(model: &InstanceModel, reveal: bool) -> Self {
        let reveals = reveal && model.secrets == SecretsMode::Keep;
        Self { reveals, marks: false, open: None }
    }

    /// For a reader who knows secrets.
    pub(crate) fn opened(self, open: Option<OpenSecret<'s>>) -> Self {
        Self { open, ..self }
    }

    /// For a program that reads the values back and has to know which are secret.
    pub(crate) fn marked(self) -> Self {
        Self { marks: true, ..self }
    }

    /// The value as it is shown. Entries of maps in it are sorted by name.
    pub(crate) fn value(self, value: &Value) -> Value {
        match (value, kept_secret(value)) {
            // Where the reader does not know the secret, it stays one that whoever asks can tell.
            (_, Some(_)) if self.open.is_some() => {
                self.open.and_then(|open| open(value)).unwrap_or_else(|| value.clone())
            }
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

/// What is kept of a secret, marked as such.
pub(super) fn marked(kept: Value) -> Value {
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
    match number.as_int() {
        Some(value) => Number::int(value),
        // Only its text has all digits.
        None if number.is_beyond_64_bits() => number.clone(),
        None => Number::float(number.as_f64()),
    }
}
