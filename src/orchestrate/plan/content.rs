//! Compares the contents of files that two templates call by the same name.

use super::model::ChangeReason;
use crate::tosca::digest::sha256;
use crate::tosca::load::Loaded;
use cuvee_text::source::{FileId, Span};
use cuvee_text::value::Value;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// The files of two templates.
pub(super) struct Contents<'l> {
    from: &'l Loaded,
    to: &'l Loaded,
    /// The known differences, by the files that name them and by name. Many nodes name the same
    /// files.
    known: RefCell<FxHashMap<[FileId; 2], FxHashMap<String, Digests>>>,
}

impl<'l> Contents<'l> {
    pub(super) fn new(from: &'l Loaded, to: &'l Loaded) -> Self {
        Self { from, to, known: RefCell::default() }
    }

    /// The difference between the files of a name at these places, if there is one. The same name
    /// may stand for two files with different contents. Files that cannot be read are not compared;
    /// only their names are.
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

/// The digests of two files, if they differ.
type Digests = Option<[String; 2]>;

/// The beginning of a digest; it is long enough for people to tell contents apart.
fn digest(bytes: &[u8]) -> String {
    let digest = sha256(bytes);
    format!("sha256:{}", digest.get(..12).unwrap_or(&digest))
}
