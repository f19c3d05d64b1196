//! What is in the files that two templates name alike.

use super::model::ChangeReason;
use crate::text::source::Span;
use crate::text::value::Value;
use crate::tosca::load::Loaded;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::fmt::Write;
use std::path::PathBuf;

/// The files of two templates.
pub(super) struct Contents<'l> {
    from: &'l Loaded,
    to: &'l Loaded,
    /// The digests of pairs of files that differ; many nodes name the same ones.
    known: RefCell<FxHashMap<[PathBuf; 2], Option<[String; 2]>>>,
}

impl<'l> Contents<'l> {
    pub(super) fn new(from: &'l Loaded, to: &'l Loaded) -> Self {
        Self { from, to, known: RefCell::default() }
    }

    /// How the files of a name at these places differ, if they do: what each template means by the
    /// name may be another file with other content. What cannot be read is no file of theirs, and
    /// nothing but its name is known of it.
    pub(super) fn differ(&self, path: String, name: &str, at: [Span; 2]) -> Option<ChangeReason> {
        let files = [self.from.named_file(name, at[0]), self.to.named_file(name, at[1])];
        let mut known = self.known.borrow_mut();
        let digests = known.entry(files).or_insert_with_key(|[was, is]| {
            if was == is {
                return None;
            }
            let (was, is) = (self.from.bytes(was)?, self.to.bytes(is)?);
            (was != is).then(|| [digest(&was), digest(&is)])
        });
        let [was, is] = digests.as_ref()?;
        Some(ChangeReason {
            path,
            from: Some(Value::String(was.as_str().into())),
            to: Some(Value::String(is.as_str().into())),
            span: Some(at[1]),
            ..Default::default()
        })
    }
}

/// Enough of a digest for people to tell contents apart.
fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().take(6).fold(String::from("sha256:"), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
