//! Replaces secret values before anything of an instance is written (section "Secrets" of
//! `docs/instances.md`).

use super::masker::SecretMasker;
use super::model::SecretsMode;
use super::shown::{MARK, marked};
use super::target::TargetSources;
use crate::diagnostic::Diagnostic;
use crate::topology::sensitive::{
    DIGEST, InstanceValue, SecretPlaces, is_digest, kept_secret, masked,
};
use crate::tosca::digest::hexadecimal;
use crate::tosca::function::{Function, function_in};
use crate::tosca::secrecy::{Secrecy, SecretData, SecretNames, telling_texts};
use aho_corasick::AhoCorasick;
use cuvee_text::source::{FileId, is_yaml};
use cuvee_text::value::{ReplacedPart, Value};
use cuvee_text::yaml::{self, Limits};
use hmac::{Hmac, Mac};
use rustc_hash::FxHashMap;
use sha2::Sha256;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// How an instance keeps secrets, and which values are known to be secret.
#[derive(Clone, Debug)]
pub struct KeptSecrets {
    mode: SecretsMode,
    /// The key of digests. Two values are alike if their digests are.
    key: [u8; 32],
    /// The names whose values are secret if nothing else is said of them.
    names: SecretNames,
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
        Self { mode, key, names: SecretNames::with(patterns), values: BTreeSet::new() }
    }

    /// How secrets are kept.
    pub fn mode(&self) -> SecretsMode {
        self.mode
    }

    /// The same secrets, kept as they are, for a reader who does not write them.
    pub(crate) fn keeping(&self) -> Self {
        Self { mode: SecretsMode::Keep, values: BTreeSet::new(), ..self.clone() }
    }

    /// Whether a value with this name is secret if nothing else is said of it.
    pub fn is_sensitive_name(&self, name: &str) -> bool {
        self.names.has(name)
    }

    /// The names whose values are secret if nothing else is said of them.
    pub(crate) fn names(&self) -> &SecretNames {
        &self.names
    }

    /// What is kept of a value of which only the name is known. It is secret if its name is, and so
    /// is each part of it below a secret name.
    pub fn sealed(&self, name: &str, value: &Value) -> Value {
        let secrecy = Secrecy::whole(self.names.has(name));
        self.seal(value, &secrecy, &SecretData::default(), &mut |_| {})
    }

    /// What is kept of a value of which this is secret.
    pub(crate) fn sealed_as(&self, value: &Value, secrecy: &Secrecy, data: &SecretData) -> Value {
        self.seal(value, secrecy, data, &mut |_| {})
    }

    /// What is kept of a value of which this is secret. The secrets found in it are remembered.
    pub(crate) fn learned(&mut self, value: &Value, secrecy: &Secrecy, data: &SecretData) -> Value {
        let mut found = Vec::new();
        let sealed = self.seal(value, secrecy, data, &mut |secret| found.push(secret.clone()));
        // A function call says where to find a secret, not what it is.
        found
            .iter()
            .filter(|secret| function_in(secret).is_none())
            .for_each(|secret| self.learn(secret));
        sealed
    }

    fn seal(
        &self,
        value: &Value,
        secrecy: &Secrecy,
        data: &SecretData,
        found: &mut dyn FnMut(&Value),
    ) -> Value {
        match (value, secrecy) {
            (_, Secrecy::Whole) => {
                found(value);
                self.kept(value)
            }
            (_, Secrecy::Computed) => {
                found(value);
                self.result(value)
            }
            (Value::List(items), _) => {
                let each = data.parts(secrecy).map_or(&Secrecy::Open, |parts| &parts.each);
                Value::List(items.iter().map(|item| self.seal(item, each, data, found)).collect())
            }
            (Value::Map(entries), _) if kept_secret(value).is_none() => {
                // `token` is the name of a function, too.
                let is_call = Function::called_in(value).is_some();
                let entries = entries.iter().map(|(key, value)| {
                    let by_name = Secrecy::whole(!is_call && self.names.has(key));
                    let part = data.part(secrecy, key).unwrap_or(&by_name);
                    (Arc::clone(key), self.seal(value, part, data, found))
                });
                Value::Map(entries.collect())
            }
            (other, _) => other.clone(),
        }
    }

    /// Remembers a secret value, so that it is also hidden elsewhere.
    pub(crate) fn learn(&mut self, value: &Value) {
        match value {
            marked if kept_secret(marked).is_some() => {}
            Value::List(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Map(entries) => entries.iter().for_each(|(_, value)| self.learn(value)),
            scalar => telling_texts(scalar, &mut |text| self.values.extend([text])),
        }
    }

    /// A masker that hides the secrets known so far in texts.
    pub(crate) fn masker(&self) -> SecretMasker {
        SecretMasker::of(self.values.iter().map(String::as_str))
    }

    /// A scanner that finds the secrets known so far in other values.
    pub(crate) fn scanner(&self) -> SecretScanner<'_> {
        // Building fails only for patterns of gigabytes.
        SecretScanner { secrets: self, within: AhoCorasick::new(&self.values).ok() }
    }

    /// A secret value as it is kept, marked as a secret. Function calls in it stay, since they are
    /// not secret, but for their literals.
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
        self.marked_within(value, true)
    }

    /// What is kept of a value that is secret because it is computed from secrets.
    fn result(&self, value: &Value) -> Value {
        self.marked_within(value, false)
    }

    fn marked_within(&self, value: &Value, has_literals: bool) -> Value {
        if kept_secret(value).is_some() {
            return value.clone();
        }
        if let Some((function, arguments)) = Function::called_in(value) {
            let joins = matches!(function, Function::Concat | Function::Join | Function::Token);
            let (Value::List(items), true) = (arguments, joins && has_literals) else {
                return value.clone();
            };
            let items = items.iter().map(|item| self.marked_within(item, true)).collect();
            let name = if let Value::Map(entries) = value { entries.first() } else { None };
            let name = name.map_or_else(|| function.name().into(), |(name, _)| Arc::clone(name));
            return Value::Map([(name, Value::List(items))].into());
        }
        // What is marked already stays: the digest of a digest would be known to nobody.
        let has_parts = |value: &Value| function_in(value).is_some() || masked(value).is_some();
        match value {
            Value::Null => Value::Null,
            Value::List(items) if items.iter().any(has_parts) => Value::List(
                items.iter().map(|item| self.marked_within(item, has_literals)).collect(),
            ),
            Value::Map(entries) if entries.iter().any(|(_, value)| has_parts(value)) => {
                let kept = entries.iter();
                let kept =
                    kept.map(|(key, it)| (Arc::clone(key), self.marked_within(it, has_literals)));
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
        marked(said)
    }

    /// A kept value with digests in place of secrets that are kept as they are; `None` if it has
    /// none.
    pub(crate) fn digested(&self, value: &Value) -> Option<Value> {
        with_plain(value, &|kept| marked(self.code(kept).into()))
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

    /// What is kept of a value from elsewhere, in which secrets may be marked already: as they are,
    /// or as digests.
    pub(crate) fn taken(&self, name: &str, value: &Value) -> Value {
        let sealed = self.sealed(name, value);
        with_plain(&sealed, &|kept| self.marked(kept)).unwrap_or(sealed)
    }
}

/// The value with null in place of secrets that are kept as they are; `None` if it has none.
pub(super) fn dropped(value: &Value) -> Option<Value> {
    with_plain(value, &|_| marked(Value::Null))
}

/// The value with the secrets that are kept in it as they are; `None` if it has none.
pub(crate) fn with_secrets(value: &Value) -> Option<Value> {
    with_plain(value, &Value::clone)
}

/// The value with something else in place of secrets that are kept as they are; `None` if it has
/// none.
fn with_plain(value: &Value, other: &dyn Fn(&Value) -> Value) -> Option<Value> {
    value.replaced(&mut |part| match kept_secret(part) {
        Some(kept) if *kept == Value::Null || is_digest(kept) => ReplacedPart::Stays,
        Some(kept) => ReplacedPart::By(other(kept)),
        None => ReplacedPart::Within,
    })
}

/// Seals the values that somebody reports or sets: knows which of them are secret, and how an
/// instance keeps them.
#[derive(Clone, Debug)]
pub struct SecretSeal {
    secrets: KeptSecrets,
    /// The secrets of each target that nodes of the instance have.
    places: Vec<Arc<SecretPlaces>>,
}

impl SecretSeal {
    /// A seal for an instance that keeps secrets like this, and has these targets.
    ///
    /// ```
    /// use cuvee::deploy::instance::{KeptSecrets, InstanceValue, SecretSeal, SecretsMode};
    /// let seal = SecretSeal::new(KeptSecrets::new(SecretsMode::Drop, [7; 32], [""; 0]), []);
    /// assert!(seal.is_secret(&InstanceValue::Output("api_token")));
    /// let sealed = seal.sealed(&InstanceValue::Output("api_token"), &"hunter2".into());
    /// assert_eq!(sealed.to_string(), "{$sensitive: null}");
    /// ```
    pub fn new(secrets: KeptSecrets, places: impl IntoIterator<Item = Arc<SecretPlaces>>) -> Self {
        Self { secrets, places: places.into_iter().collect() }
    }

    /// Whether a value is secret, or has parts that are.
    pub fn is_secret(&self, value: &InstanceValue<'_>) -> bool {
        self.secrecies(value).iter().any(|(secrecy, _)| !secrecy.is_open())
    }

    /// What is kept of a value.
    pub fn sealed(&self, of: &InstanceValue<'_>, value: &Value) -> Value {
        let secrecies = self.secrecies(of);
        secrecies.into_iter().fold(value.clone(), |value, (secrecy, data)| {
            self.secrets.sealed_as(&value, &secrecy, data)
        })
    }

    /// What each target says of a value; what its name says if none does.
    fn secrecies(&self, value: &InstanceValue<'_>) -> Vec<(Secrecy, &SecretData)> {
        static NONE: SecretData = SecretData(Vec::new());
        let names = self.secrets.names();
        if names.adds(value.name()) {
            return vec![(Secrecy::Whole, &NONE)];
        }
        let said = self.places.iter().filter_map(|it| Some((it.of(value)?, it.data())));
        let said: Vec<_> = said.collect();
        match said.is_empty() {
            true => vec![(Secrecy::whole(names.has(value.name())), &NONE)],
            false => said,
        }
    }

    /// How the instance keeps secrets.
    #[cfg(feature = "cli")]
    pub(crate) fn kept(&self) -> &KeptSecrets {
        &self.secrets
    }
}

/// Secret values that a caller knows, by what instances keep of them.
#[derive(Clone, Debug, Default)]
pub struct SecretValues {
    by_digest: FxHashMap<Arc<str>, Value>,
    /// The inputs of operations that have secrets, with the operation and its element: of what an
    /// instance does not keep at all, this is the only trace.
    by_input: FxHashMap<(Arc<str>, Arc<str>), Value>,
}

impl SecretValues {
    /// The secrets in a target that keeps them ([`SecretsMode::Keep`]), as an instance would keep
    /// them.
    ///
    /// # Errors
    /// Those of reading its texts.
    pub fn of(target: &TargetSources, secrets: &KeptSecrets) -> Result<Self, Diagnostic> {
        let mut values = Self::default();
        let files = target.files.iter().filter(|(name, _)| is_yaml(Path::new(name)));
        let files = files.filter_map(|(_, bytes)| std::str::from_utf8(bytes).ok());
        for text in files.chain([&*target.concrete, &*target.written]) {
            // Most files have no secrets, and reading them takes time.
            if memchr::memmem::find(text.as_bytes(), MARK.as_bytes()).is_some() {
                let document = yaml::parse(FileId::DETACHED, text.into(), &Limits::default())?;
                values.add_marked(&document.root().to_value(), secrets);
            }
        }
        Ok(values)
    }

    /// Adds what a value marks as secret.
    pub(crate) fn add_marked(&mut self, value: &Value, secrets: &KeptSecrets) {
        match (value, kept_secret(value)) {
            (_, Some(secret)) => self.add(secret, secrets),
            (Value::List(items), _) => {
                items.iter().for_each(|item| self.add_marked(item, secrets));
            }
            (Value::Map(entries), _) => {
                entries.iter().for_each(|(_, value)| self.add_marked(value, secrets));
            }
            _ => {}
        }
    }

    /// Adds an input of an operation, if it has secrets.
    pub(crate) fn add_input(&mut self, operation: &str, name: &str, value: &Value) {
        let plain = with_secrets(value);
        self.by_input.extend(plain.map(|plain| ((operation.into(), name.into()), plain)));
    }

    /// The value of an input of an operation that has secrets.
    #[cfg(feature = "cli")]
    pub(crate) fn of_input(&self, operation: &str, name: &str) -> Option<&Value> {
        self.by_input.get(&(operation.into(), name.into()))
    }

    /// Adds the parts of a value of which an instance keeps something else.
    #[cfg(feature = "cli")]
    pub(crate) fn add_parts(&mut self, value: &Value, sealed: &Value, secrets: &KeptSecrets) {
        match (value, sealed) {
            (value, sealed) if value == sealed => {}
            (value, sealed) if kept_secret(sealed).is_some() => self.add(value, secrets),
            (Value::List(values), Value::List(kept)) => {
                let parts = values.iter().zip(kept.iter());
                parts.for_each(|(value, sealed)| self.add_parts(value, sealed, secrets));
            }
            (Value::Map(values), Value::Map(kept)) => {
                let parts = values.iter().zip(kept.iter());
                parts.for_each(|((_, value), (_, kept))| self.add_parts(value, kept, secrets));
            }
            _ => {}
        }
    }

    /// Adds a secret.
    pub fn add(&mut self, secret: &Value, secrets: &KeptSecrets) {
        // A digest is not what it stands for.
        if !matches!(secret, Value::Null) && !is_digest(secret) {
            self.by_digest.insert(secrets.code(secret).into(), secret.clone());
        }
    }

    /// The secret that an instance keeps in this form; `None` if it is not known.
    pub fn value(&self, kept: &Value) -> Option<Value> {
        match kept_secret(kept)? {
            Value::Null => None,
            digest if is_digest(digest) => self.of_digest(digest.as_str()?),
            value => Some(value.clone()),
        }
    }

    /// The secret of this digest.
    pub fn of_digest(&self, digest: &str) -> Option<Value> {
        self.by_digest.get(digest).cloned()
    }

    /// A masker that hides all of them.
    pub fn masker(&self) -> SecretMasker {
        SecretMasker::new(self.by_digest.values())
    }
}

/// Finds any number of secrets in values at once.
pub(crate) struct SecretScanner<'s> {
    secrets: &'s KeptSecrets,
    within: Option<AhoCorasick>,
}

impl SecretScanner<'_> {
    /// Whether no secrets are known.
    pub(crate) fn is_idle(&self) -> bool {
        self.secrets.values.is_empty()
    }

    /// The value without the parts of which this is secret, and without known secrets; `None` if it
    /// has none.
    pub(crate) fn sealed(
        &self,
        value: &Value,
        secrecy: &Secrecy,
        data: &SecretData,
    ) -> Option<Value> {
        let sealed = self.secrets.sealed_as(value, secrecy, data);
        self.hidden(&sealed).or_else(|| (sealed != *value).then_some(sealed))
    }

    /// Whether a scalar is a known secret, or a text that contains one.
    pub(crate) fn is_known(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_in(text),
            Value::Number(_) => self.secrets.values.contains(&value.to_string()),
            _ => false,
        }
    }

    /// Whether a text contains a known secret.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.within.as_ref().is_some_and(|secrets| secrets.is_match(text))
    }

    /// Whether a text tells a secret that may not be kept.
    pub(crate) fn is_told(&self, text: &str) -> bool {
        self.secrets.mode != SecretsMode::Keep && self.is_in(text)
    }

    /// The value with the secrets in it hidden; `None` if it has none.
    pub(crate) fn hidden(&self, value: &Value) -> Option<Value> {
        if self.is_idle() {
            return None;
        }
        value.replaced(&mut |part| match part {
            marked if kept_secret(marked).is_some() => ReplacedPart::Stays,
            Value::List(_) | Value::Map(_) => ReplacedPart::Within,
            known if self.is_known(known) => ReplacedPart::By(self.secrets.marked(known)),
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
