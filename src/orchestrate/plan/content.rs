//! What is in the files that two templates name alike.

use super::model::ChangeReason;
use crate::text::digest::sha256;
use crate::text::source::{FileId, Span};
use crate::text::value::Value;
use crate::tosca::load::Loaded;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// The files of two templates.
pub(super) struct Contents<'l> {
    from: &'l Loaded,
    to: &'l Loaded,
    /// How files differ, by where they are named, and their name; many nodes name the same ones.
    known: RefCell<FxHashMap<[FileId; 2], FxHashMap<String, Digests>>>,
}

impl<'l> Contents<'l> {
    pub(super) fn new(from: &'l Loaded, to: &'l Loaded) -> Self {
        Self { from, to, known: RefCell::default() }
    }

    /// How the files of a name at these places differ, if they do: what each template means by the
    /// name may be another file with other content. What cannot be read is no file of theirs, and
    /// nothing but its name is known of it.
    pub(super) fn differ(
        &self,
        path: impl FnOnce() -> String,
        name: &str,
        at: [Span; 2],
    ) -> Option<ChangeReason> {
        let mut known = self.known.borrow_mut();
        let known = known.entry(at.map(|span| span.file)).or_default();
        if !known.contains_key(name) {
            known.insert(name.to_owned(), self.digests(name, at));
        }
        let [was, is] = known.get(name)?.as_ref()?;
        Some(ChangeReason {
            path: path(),
            from: Some(Value::String(was.as_str().into())),
            to: Some(Value::String(is.as_str().into())),
            span: Some(at[1]),
            ..Default::default()
        })
    }

    fn digests(&self, name: &str, at: [Span; 2]) -> Digests {
        let [was, is] = [self.from.named_file(name, at[0]), self.to.named_file(name, at[1])];
        if was == is {
            return None;
        }
        let (was, is) = (self.from.bytes(&was)?, self.to.bytes(&is)?);
        (was != is).then(|| [digest(&was), digest(&is)])
    }
}

/// Those of two files, where they differ.
type Digests = Option<[String; 2]>;

/// Enough of a digest for people to tell contents apart.
fn digest(bytes: &[u8]) -> String {
    let digest = sha256(bytes);
    format!("sha256:{}", digest.get(..12).unwrap_or(&digest))
}
