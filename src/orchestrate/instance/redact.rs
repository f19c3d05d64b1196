//! Documents without what is nobody's business: what is kept of a target shows no secret (rule X-3).

use super::concrete::{entries, items, like};
use super::secrets::{KeptSecrets, SecretScanner, is_call};
use crate::text::value::Value;
use crate::text::yaml::{NodeKind, Out, OutKey, OutNode};
use crate::topology::sensitive::kept_secret;
use crate::tosca::shape::PARAMETER;

/// A document with each secret replaced by what is kept of it: values below names that say so, and
/// whatever was met as a secret elsewhere. The rest is as its author wrote it.
pub(crate) fn redacted<'a>(document: &Out<'a>, secrets: &KeptSecrets) -> Out<'a> {
    Redaction { scanner: secrets.scanner(), secrets }.within(document, RedactionPlace::Anywhere)
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
    fn within<'a>(&self, out: &Out<'a>, place: RedactionPlace) -> Out<'a> {
        let node = OutNode::root(out);
        match node.kind() {
            NodeKind::Mapping => self.map(out, place),
            NodeKind::Sequence => {
                let old = items(out);
                let new: Vec<_> = old.iter().map(|item| self.within(item, place)).collect();
                let is_same = old.iter().zip(&new).all(|(old, new)| is_untouched(old, new));
                if is_same {
                    return out.clone();
                }
                Out::Seq { items: new.into_iter().map(|item| (None, item)).collect(), like: None }
            }
            NodeKind::Scalar => {
                let value = node.to_value();
                let is_secret = place == RedactionPlace::Secret
                    && !matches!(value, Value::Null | Value::Bool(_));
                match is_secret || self.scanner.is_known(&value) {
                    true => Out::Value(self.secrets.kept(&value)),
                    false => out.clone(),
                }
            }
        }
    }

    fn map<'a>(&self, out: &Out<'a>, place: RedactionPlace) -> Out<'a> {
        let value = OutNode::root(out).to_value();
        if kept_secret(&value).is_some() {
            return out.clone();
        }
        // What a function takes from is no secret; what it is given as a text may be one.
        let place = if is_call(&value) { RedactionPlace::Anywhere } else { place };
        let is_definition = place == RedactionPlace::Secret && is_definition(&value);
        let old = entries(out);
        let new: Vec<_> = old
            .iter()
            .map(|(key, value)| {
                let name = match key {
                    OutKey::Source(key) => key.key_text(),
                    OutKey::New(name) => name.clone(),
                };
                let below = match place {
                    RedactionPlace::Secret
                        if is_definition && !matches!(&*name, "default" | "value") =>
                    {
                        RedactionPlace::Anywhere
                    }
                    RedactionPlace::Secret => RedactionPlace::Secret,
                    RedactionPlace::Anywhere if self.secrets.is_sensitive_name(&name) => {
                        RedactionPlace::Secret
                    }
                    RedactionPlace::Anywhere => RedactionPlace::Anywhere,
                };
                (key.clone(), self.within(value, below))
            })
            .collect();
        let is_same = old.iter().zip(&new).all(|(old, new)| is_untouched(&old.1, &new.1));
        if is_same { out.clone() } else { like(out, new) }
    }
}

/// Whether a map defines something instead of being its value.
fn is_definition(value: &Value) -> bool {
    let Value::Map(entries) = value else { return false };
    let is_typed = entries.iter().any(|(key, _)| &**key == "type");
    is_typed && entries.iter().all(|(key, _)| PARAMETER.has(key))
}

/// Whether a part is what it was.
fn is_untouched(old: &Out<'_>, new: &Out<'_>) -> bool {
    match (old, new) {
        (Out::Source(_), Out::Source(_)) | (Out::String(_), Out::String(_)) => true,
        (Out::Value(old), Out::Value(new)) => old == new,
        (Out::Lifted(..), Out::Lifted(..)) => true,
        _ => false,
    }
}
