//! What is nobody's business in what is kept (page "KeptSecrets" of `docs/instances.md`): values are
//! replaced before anything is written.

use super::model::SecretsMode;
use crate::text::digest::hexadecimal;
use crate::text::value::{ReplacedPart, Value};
use crate::topology::sensitive::{is_sensitive_name, kept_secret};
use aho_corasick::AhoCorasick;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How an instance keeps secrets, and what is known to be one.
#[derive(Clone, Debug)]
pub struct KeptSecrets {
    mode: SecretsMode,
    /// The key of digests: two values are alike where their digests are.
    key: [u8; 32],
    /// Further names whose values are secret: parts of names, whatever their case.
    patterns: Vec<String>,
    /// What was met: wherever one of these stands in a text, that is secret, too.
    values: BTreeSet<String>,
}

impl KeptSecrets {
    /// The secrets of an instance: how it keeps them, with which key, and which names it adds to
    /// those that always say so.
    pub fn new<P: AsRef<str>>(
        mode: SecretsMode,
        key: [u8; 32],
        patterns: impl IntoIterator<Item = P>,
    ) -> Self {
        let patterns = patterns.into_iter().map(|pattern| pattern.as_ref().to_ascii_lowercase());
        Self { mode, key, patterns: patterns.collect(), values: BTreeSet::new() }
    }

    /// How they are kept.
    pub fn mode(&self) -> SecretsMode {
        self.mode
    }

    /// Whether a name says that its value is secret.
    pub fn is_sensitive_name(&self, name: &str) -> bool {
        let is_added = || {
            let lower = name.to_ascii_lowercase();
            self.patterns.iter().any(|pattern| lower.contains(pattern))
        };
        is_sensitive_name(name) || !self.patterns.is_empty() && is_added()
    }

    /// What is kept of a value that somebody reports: secret is what its name says is, and what is
    /// below such a name.
    pub fn sealed(&self, name: &str, value: &Value) -> Value {
        self.seal(value, self.is_sensitive_name(name), &mut |_| {})
    }

    /// The same of a value of a template, which may be secret for more than its name: what is, is
    /// remembered.
    pub(crate) fn learned(&mut self, value: &Value, is_secret: bool) -> Value {
        let mut found = Vec::new();
        let sealed = self.seal(value, is_secret, &mut |secret| found.push(secret.clone()));
        // A call says where a secret is, and not what.
        found.iter().filter(|secret| !holds_call(secret)).for_each(|secret| self.learn(secret));
        sealed
    }

    fn seal(&self, value: &Value, is_secret: bool, found: &mut dyn FnMut(&Value)) -> Value {
        if is_secret {
            found(value);
            return self.kept(value);
        }
        match value {
            Value::List(items) => {
                Value::List(items.iter().map(|item| self.seal(item, false, found)).collect())
            }
            Value::Map(entries) if kept_secret(value).is_none() => {
                let entries = entries.iter().map(|(key, value)| {
                    let is_secret = self.is_sensitive_name(key);
                    (Arc::clone(key), self.seal(value, is_secret, found))
                });
                Value::Map(entries.collect())
            }
            other => other.clone(),
        }
    }

    /// Remembers that a value is secret: where it stands elsewhere, that is secret as well.
    pub(crate) fn learn(&mut self, value: &Value) {
        match value {
            Value::List(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Map(entries) => entries.iter().for_each(|(_, value)| self.learn(value)),
            Value::Null | Value::Bool(_) => {}
            scalar => drop(self.values.insert(scalar.to_string())),
        }
    }

    /// Finds what was met so far in other values.
    pub(crate) fn scanner(&self) -> SecretScanner<'_> {
        // What is short stands in many texts by chance.
        const TELLING: usize = 4;
        let telling = self.values.iter().filter(|secret| secret.len() >= TELLING);
        // Only patterns of gigabytes are too many.
        SecretScanner { secrets: self, within: AhoCorasick::new(telling).ok() }
    }

    /// A secret value as it is kept, marked as one; functions in it stay, since they are none.
    ///
    /// ```
    /// use cuvee::instance::{KeptSecrets, SecretsMode};
    /// use cuvee::value::Value;
    /// let secrets = KeptSecrets::new(SecretsMode::Digest, [7; 32], [""; 0]);
    /// let kept = secrets.kept(&Value::from("hunter2"));
    /// assert!(!kept.to_string().contains("hunter2"));
    /// assert_eq!(kept, secrets.kept(&Value::from("hunter2")));
    /// assert_eq!(secrets.kept(&kept), kept);
    /// ```
    pub fn kept(&self, value: &Value) -> Value {
        if kept_secret(value).is_some() || is_call(value) {
            return value.clone();
        }
        match value {
            Value::Null => Value::Null,
            Value::List(items) if items.iter().any(holds_call) => {
                Value::List(items.iter().map(|item| self.kept(item)).collect())
            }
            Value::Map(entries) if entries.iter().any(|(_, value)| holds_call(value)) => {
                let kept = entries.iter().map(|(key, value)| (Arc::clone(key), self.kept(value)));
                Value::Map(kept.collect())
            }
            _ => self.marked(value),
        }
    }

    fn marked(&self, value: &Value) -> Value {
        let said = match self.mode {
            SecretsMode::Drop => Value::Null,
            SecretsMode::Keep => value.clone(),
            SecretsMode::Digest => Value::from(self.code(value)),
        };
        Value::Map([(Arc::from("$sensitive"), said)].into())
    }

    fn code(&self, value: &Value) -> String {
        // Keys of any length are taken, so this does not fail.
        let Ok(mut code) = Hmac::<Sha256>::new_from_slice(&self.key) else { return String::new() };
        code.update(canonical(value).as_bytes());
        format!("hmac-sha256:{}", hexadecimal(&code.finalize().into_bytes()))
    }
}

/// Finds secrets in values, however many there are.
pub(crate) struct SecretScanner<'s> {
    pub(crate) secrets: &'s KeptSecrets,
    within: Option<AhoCorasick>,
}

impl SecretScanner<'_> {
    /// Whether there is nothing to be found.
    pub(crate) fn is_idle(&self) -> bool {
        self.secrets.values.is_empty()
    }

    /// Whether a scalar is a secret that was met, or a text that one stands in.
    pub(crate) fn is_known(&self, value: &Value) -> bool {
        let values = &self.secrets.values;
        match value {
            Value::String(text) => {
                values.contains(&**text)
                    || self.within.as_ref().is_some_and(|secrets| secrets.is_match(&**text))
            }
            Value::Number(_) => values.contains(&value.to_string()),
            _ => false,
        }
    }

    /// A value with what is secret in it hidden, where something is.
    pub(crate) fn hidden(&self, value: &Value) -> Option<Value> {
        if self.is_idle() {
            return None;
        }
        value.replaced(&mut |part| match part {
            marked if kept_secret(marked).is_some() => ReplacedPart::Stays,
            Value::List(_) | Value::Map(_) => ReplacedPart::Within,
            known if self.is_known(known) => ReplacedPart::By(self.secrets.kept(known)),
            _ => ReplacedPart::Stays,
        })
    }
}

/// The same text for values that are alike, in whichever order their entries stand.
fn canonical(value: &Value) -> String {
    match value {
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Map(entries) => {
            let mut entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| format!("{key:?}:{}", canonical(value)))
                .collect();
            entries.sort_unstable();
            format!("{{{}}}", entries.join(","))
        }
        Value::String(text) => format!("{text:?}"),
        scalar => scalar.to_string(),
    }
}

/// Whether a value is the call of a function: known by its name alone, since nothing is evaluated
/// here.
pub(crate) fn is_call(value: &Value) -> bool {
    matches!(value, Value::Map(entries) if matches!(&**entries, [(name, _)] if crate::tosca::function::Function::named(name).is_some()))
}

/// Whether a call stands somewhere in a value.
pub(crate) fn holds_call(value: &Value) -> bool {
    is_call(value)
        || match value {
            Value::List(items) => items.iter().any(holds_call),
            Value::Map(entries) => entries.iter().any(|(_, value)| holds_call(value)),
            _ => false,
        }
}
