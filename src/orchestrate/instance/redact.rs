//! Documents without what is nobody's business: what is kept of a target shows no secret (rule X-3).

use super::secrets::{KeptSecrets, SecretScanner, is_call};
use crate::orchestrate::tree::{entries, items, like};
use crate::text::value::Value;
use crate::text::yaml::{NodeKind, Out, OutKey, OutNode};
use crate::topology::sensitive::kept_secret;
use crate::tosca::shape::PARAMETER;
use std::borrow::Cow;

/// A document with each secret replaced by what is kept of it: values below names that say so, and
/// whatever was met as a secret elsewhere. The rest is as its author wrote it.
pub(crate) fn redacted<'a>(document: &Out<'a>, secrets: &KeptSecrets) -> Out<'a> {
    let redaction = Redaction { scanner: secrets.scanner(), secrets };
    redaction.within(document, RedactionPlace::Anywhere).unwrap_or_else(|| document.clone())
}

/// What a part of a document is below.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RedactionPlace {
    Anywhere,
    /// A name that says that what is below is secret.
    Secret,
}

struct Redaction<'s> {
    scanner: SecretScanner<'s>,
    secrets: &'s KeptSecrets,
}

impl Redaction<'_> {
    /// What becomes of a part; nothing where it stays as it is.
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
        // What it is, its keys say.
        let keys =
            || Value::Map(old.iter().map(|(key, _)| (name(key).into(), Value::Null)).collect());
        if let [_] = &**old {
            let keys = keys();
            if kept_secret(&keys).is_some() {
                return None;
            }
            // What a function takes from is no secret; what it is given as a text may be one.
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

/// Whether a map defines something instead of being its value.
fn is_definition(value: &Value) -> bool {
    let Value::Map(entries) = value else { return false };
    let is_typed = entries.iter().any(|(key, _)| &**key == "type");
    is_typed && entries.iter().all(|(key, _)| PARAMETER.has(key))
}
