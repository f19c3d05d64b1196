//! Removes secrets from documents, so that the kept texts of a target show none (rule X-3).

use super::secrets::{KeptSecrets, SecretScanner, is_call};
use crate::orchestrate::tree::{entries, items, like};
use crate::topology::sensitive::kept_secret;
use crate::tosca::shape::PARAMETER;
use cuvee_text::value::Value;
use cuvee_text::yaml::{NodeKind, Out, OutKey, OutNode};
use std::borrow::Cow;

/// The document with each secret replaced by what is kept of it. Secrets are values below names
/// that are secret, and values that were found to be secret elsewhere. The rest keeps its source
/// text.
pub(crate) fn redacted<'a>(document: &Out<'a>, secrets: &KeptSecrets) -> Out<'a> {
    let redaction = Redaction { scanner: secrets.scanner(), secrets };
    redaction.within(document, RedactionPlace::Anywhere).unwrap_or_else(|| document.clone())
}

/// The surroundings of a part of a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RedactionPlace {
    Anywhere,
    /// Below a name whose value is secret.
    Secret,
}

struct Redaction<'s> {
    scanner: SecretScanner<'s>,
    secrets: &'s KeptSecrets,
}

impl Redaction<'_> {
    /// The redacted part; `None` if the part has no secret.
    fn within<'a>(&self, out: &Out<'a>, place: RedactionPlace) -> Option<Out<'a>> {
        if let Out::Lifted(key, inner) = out {
            return Some(Out::Lifted(*key, Box::new(self.within(inner, place)?)));
        }
        if let Out::Below(gone, inner) = out {
            return Some(Out::Below(gone.clone(), Box::new(self.within(inner, place)?)));
        }
        let node = OutNode::root(out);
        match node.kind() {
            NodeKind::Mapping => self.map(out, place),
            NodeKind::Sequence => {
                let old = items(out);
                let new: Vec<_> = old.iter().map(|item| self.within(item, place)).collect();
                new.iter().any(Option::is_some).then(|| {
                    let items = old.into_iter().zip(new);
                    let items = items.map(|(old, new)| (None, new.unwrap_or(old)));
                    Out::Seq { items: items.collect(), like: None }
                })
            }
            NodeKind::Scalar if place == RedactionPlace::Anywhere && self.scanner.is_idle() => None,
            NodeKind::Scalar => {
                let value = node.to_value();
                let is_secret = place == RedactionPlace::Secret
                    && !matches!(value, Value::Null | Value::Bool(_));
                let is_secret = is_secret || self.scanner.is_known(&value);
                is_secret.then(|| Out::Value(self.secrets.kept(&value)))
            }
        }
    }

    fn map<'a>(&self, out: &Out<'a>, mut place: RedactionPlace) -> Option<Out<'a>> {
        let old = match out {
            Out::Map { entries, .. } => Cow::Borrowed(entries),
            _ => Cow::Owned(entries(out)),
        };
        // The keys tell what kind of map it is.
        let keys =
            || Value::Map(old.iter().map(|(key, _)| (name(key).into(), Value::Null)).collect());
        if let [_] = &**old {
            let keys = keys();
            if kept_secret(&keys).is_some() {
                return None;
            }
            // The arguments of a function refer to values and are no secrets; a literal text among
            // them may be one.
            if is_call(&keys) {
                place = RedactionPlace::Anywhere;
            }
        }
        let is_definition = place == RedactionPlace::Secret && is_definition(&keys());
        let below = |name: &str| match place {
            RedactionPlace::Secret if is_definition && !matches!(name, "default" | "value") => {
                RedactionPlace::Anywhere
            }
            RedactionPlace::Secret => RedactionPlace::Secret,
            RedactionPlace::Anywhere if self.secrets.is_sensitive_name(name) => {
                RedactionPlace::Secret
            }
            RedactionPlace::Anywhere => RedactionPlace::Anywhere,
        };
        let new: Vec<_> =
            old.iter().map(|(key, value)| self.within(value, below(&name(key)))).collect();
        new.iter().any(Option::is_some).then(|| {
            let entries = old
                .iter()
                .zip(new)
                .map(|((key, old), new)| (key.clone(), new.unwrap_or_else(|| old.clone())));
            like(out, entries.collect())
        })
    }
}

fn name<'k>(key: &'k OutKey<'_>) -> Cow<'k, str> {
    match key {
        OutKey::Source(key) => key.key_text(),
        OutKey::Renamed(_, name) | OutKey::New(name) => Cow::Borrowed(name),
    }
}

/// Whether a map defines a parameter and is not itself a value.
fn is_definition(value: &Value) -> bool {
    let Value::Map(entries) = value else { return false };
    let is_typed = entries.iter().any(|(key, _)| &**key == "type");
    is_typed && entries.iter().all(|(key, _)| PARAMETER.has(key))
}
