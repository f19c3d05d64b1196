//! Replaces secret values before anything of an instance is written (section "Secrets" of
//! `docs/instances.md`).

use super::model::SecretsMode;
use super::target::TargetSources;
use crate::diagnostic::Diagnostic;
use crate::topology::sensitive::{DIGEST, is_sensitive_name, kept_secret};
use crate::tosca::digest::hexadecimal;
use aho_corasick::AhoCorasick;
use cuvee_text::source::FileId;
use cuvee_text::value::{ReplacedPart, Value};
use cuvee_text::yaml::{self, Limits};
use hmac::{Hmac, Mac};
use rustc_hash::FxHashMap;
use sha2::Sha256;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How an instance keeps secrets, and which values are known to be secret.
#[derive(Clone, Debug)]
pub struct KeptSecrets {
    mode: SecretsMode,
    /// The key of digests. Two values are alike if their digests are.
    key: [u8; 32],
    /// Further parts of names whose values are secret, in any case.
    patterns: Vec<String>,
    /// The secret values found so far. A text that contains one of them is secret, too.
    values: BTreeSet<String>,
}

impl KeptSecrets {
    /// The secrets of an instance: how it keeps them, with which key, and which name parts it adds
    /// to those that always mark a secret.
    pub fn new<P: AsRef<str>>(
        mode: SecretsMode,
        key: [u8; 32],
        patterns: impl IntoIterator<Item = P>,
    ) -> Self {
        let patterns = patterns.into_iter().map(|pattern| pattern.as_ref().to_ascii_lowercase());
        Self { mode, key, patterns: patterns.collect(), values: BTreeSet::new() }
    }

    /// How secrets are kept.
    pub fn mode(&self) -> SecretsMode {
        self.mode
    }

    /// The same secrets, kept as they are, for a reader who does not write them.
    pub(crate) fn keeping(&self) -> Self {
        Self { mode: SecretsMode::Keep, values: BTreeSet::new(), ..self.clone() }
    }

    /// Whether a value with this name is secret.
    pub fn is_sensitive_name(&self, name: &str) -> bool {
        let is_added = || {
            let lower = name.to_ascii_lowercase();
            self.patterns.iter().any(|pattern| lower.contains(pattern))
        };
        is_sensitive_name(name) || !self.patterns.is_empty() && is_added()
    }

    /// The form in which a reported value is kept. It is secret if its name is, and so is each part
    /// of it below a secret name.
    pub fn sealed(&self, name: &str, value: &Value) -> Value {
        self.seal(value, self.is_sensitive_name(name), &mut |_| {})
    }

    /// The form in which a value of a template is kept, which may be secret for other reasons than
    /// its name. The secrets found in it are remembered.
    pub(crate) fn learned(&mut self, value: &Value, is_secret: bool) -> Value {
        let mut found = Vec::new();
        let sealed = self.seal(value, is_secret, &mut |secret| found.push(secret.clone()));
        // A function call says where to find a secret, not what it is.
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

    /// Remembers a secret value, so that it is also hidden elsewhere.
    pub(crate) fn learn(&mut self, value: &Value) {
        match value {
            Value::List(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Map(entries) => entries.iter().for_each(|(_, value)| self.learn(value)),
            Value::Null | Value::Bool(_) => {}
            scalar => drop(self.values.insert(scalar.to_string())),
        }
    }

    /// A scanner that finds the secrets known so far in other values.
    pub(crate) fn scanner(&self) -> SecretScanner<'_> {
        // Shorter secrets occur in many texts by chance.
        const TELLING: usize = 4;
        let telling = self.values.iter().filter(|secret| secret.len() >= TELLING);
        // Building fails only for patterns of gigabytes.
        SecretScanner { secrets: self, within: AhoCorasick::new(telling).ok() }
    }

    /// A secret value as it is kept, marked as a secret. Function calls in it stay, since they are
    /// not secret.
    ///
    /// ```
    /// use cuvee::deploy::instance::{KeptSecrets, SecretsMode};
    /// use cuvee::source::value::Value;
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

    /// A kept value with digests in place of secrets that are kept as they are.
    pub(crate) fn digested(&self, value: &Value) -> Option<Value> {
        let digests = Self { mode: SecretsMode::Digest, ..Self::new(self.mode, self.key, [""; 0]) };
        value.replaced(&mut |part| match kept_secret(part) {
            Some(Value::Null) => ReplacedPart::Stays,
            Some(kept) if kept.as_str().is_some_and(|text| text.starts_with(DIGEST)) => {
                ReplacedPart::Stays
            }
            Some(kept) => ReplacedPart::By(digests.marked(kept)),
            None => ReplacedPart::Within,
        })
    }

    fn code(&self, value: &Value) -> String {
        self.digest(canonical(value).as_bytes())
    }

    /// The digest of a content under the key.
    pub(crate) fn digest(&self, content: &[u8]) -> String {
        // HMAC accepts keys of any length, so this does not fail.
        let Ok(mut code) = Hmac::<Sha256>::new_from_slice(&self.key) else { return String::new() };
        code.update(content);
        format!("{DIGEST}{}", hexadecimal(&code.finalize().into_bytes()))
    }
}

/// Secret values that a caller knows, by what instances keep of them.
#[derive(Clone, Debug, Default)]
pub struct SecretValues {
    by_digest: FxHashMap<Arc<str>, Value>,
}

impl SecretValues {
    /// The secrets in a target that keeps them ([`SecretsMode::Keep`]), as an instance would keep
    /// them.
    ///
    /// # Errors
    /// Those of reading its texts.
    pub fn of(target: &TargetSources, secrets: &KeptSecrets) -> Result<Self, Diagnostic> {
        let mut values = Self::default();
        for text in [&target.concrete, &target.written] {
            let document = yaml::parse(FileId::DETACHED, text.as_str().into(), &Limits::default())?;
            values.find(&document.root().to_value(), secrets);
        }
        Ok(values)
    }

    fn find(&mut self, value: &Value, secrets: &KeptSecrets) {
        match (value, kept_secret(value)) {
            (_, Some(secret)) => self.add(secret, secrets),
            (Value::List(items), _) => items.iter().for_each(|item| self.find(item, secrets)),
            (Value::Map(entries), _) => {
                entries.iter().for_each(|(_, value)| self.find(value, secrets));
            }
            _ => {}
        }
    }

    /// Adds a secret.
    pub fn add(&mut self, secret: &Value, secrets: &KeptSecrets) {
        if !matches!(secret, Value::Null) {
            self.by_digest.insert(secrets.code(secret).into(), secret.clone());
        }
    }

    /// The secret that an instance keeps in this form; `None` if it is not known.
    pub fn value(&self, kept: &Value) -> Option<Value> {
        match kept_secret(kept)? {
            Value::Null => None,
            Value::String(digest) if digest.starts_with(DIGEST) => self.of_digest(digest),
            value => Some(value.clone()),
        }
    }

    /// The secret of this digest.
    pub fn of_digest(&self, digest: &str) -> Option<Value> {
        self.by_digest.get(digest).cloned()
    }

    /// The texts in all secrets, to be hidden.
    pub fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        self.by_digest.values().for_each(|value| texts_in(value, &mut texts));
        texts.sort_unstable();
        texts.dedup();
        texts
    }
}

fn texts_in(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::List(items) => items.iter().for_each(|item| texts_in(item, texts)),
        Value::Map(entries) => entries.iter().for_each(|(_, value)| texts_in(value, texts)),
        Value::Null | Value::Bool(_) => {}
        scalar => texts.push(scalar.to_string()),
    }
}

/// Finds any number of secrets in values at once.
pub(crate) struct SecretScanner<'s> {
    pub(crate) secrets: &'s KeptSecrets,
    within: Option<AhoCorasick>,
}

impl SecretScanner<'_> {
    /// Whether no secrets are known.
    pub(crate) fn is_idle(&self) -> bool {
        self.secrets.values.is_empty()
    }

    /// Whether a scalar is a known secret, or a text that contains one.
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

    /// The value with the secrets in it hidden; `None` if it has none.
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

/// A text that is the same for equal values, whatever the order of their entries.
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

/// Whether a value is a function call. Only its name is checked, since nothing is evaluated here.
pub(crate) fn is_call(value: &Value) -> bool {
    matches!(value, Value::Map(entries) if matches!(&**entries, [(name, _)] if crate::tosca::function::Function::named(name).is_some()))
}

/// Whether a value is or contains a function call.
pub(crate) fn holds_call(value: &Value) -> bool {
    is_call(value)
        || match value {
            Value::List(items) => items.iter().any(holds_call),
            Value::Map(entries) => entries.iter().any(|(_, value)| holds_call(value)),
            _ => false,
        }
}
