//! Compares the contents of files that two templates name.

use super::model::ChangeReason;
use super::{KeepsValues, VariantOrigin};
use crate::tosca::digest::sha256;
use crate::tosca::load::Loaded;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// A file as a template names it, and where it does.
pub(super) type CalledFile<'n> = (&'n str, Span);

/// The files of the new one of two variants, and what was compared with them.
pub(super) struct Contents<'l> {
    to: &'l Loaded,
    keeping: Option<&'l dyn KeepsValues>,
    /// The known differences, by the paths of the files and by the files of the old variant. Many
    /// nodes name the same files.
    known: RefCell<FxHashMap<(*const Loaded, [PathBuf; 2]), Digests>>,
}

impl<'l> Contents<'l> {
    pub(super) fn new(to: &'l Loaded, keeping: Option<&'l dyn KeepsValues>) -> Self {
        Self { to, keeping, known: RefCell::default() }
    }

    /// The difference between two files, if there is one: another name or, if both lead to a file
    /// that can be read, another content.
    pub(super) fn differ(
        &self,
        path: &str,
        from: &VariantOrigin<'_, '_>,
        was: Option<CalledFile<'_>>,
        is: Option<CalledFile<'_>>,
    ) -> Option<ChangeReason> {
        let reason = |from: Option<&str>, to: Option<&str>| ChangeReason {
            path: path.to_owned(),
            from: from.map(Value::from),
            to: to.map(Value::from),
            span: is.map(|(_, span)| span),
            ..ChangeReason::default()
        };
        let (Some((old, old_span)), Some((new, new_span))) = (was, is) else {
            let differs = was.is_some() || is.is_some();
            return differs.then(|| reason(was.map(|(name, _)| name), is.map(|(name, _)| name)));
        };
        let paths = [from.loaded.named_file(old, old_span), self.to.named_file(new, new_span)];
        // The same file may be named from another directory.
        if old != new && below(from.loaded, &paths[0]) != below(self.to, &paths[1]) {
            return Some(reason(Some(old), Some(new)));
        }
        let mut known = self.known.borrow_mut();
        let key = (std::ptr::from_ref(from.loaded), paths);
        if !known.contains_key(&key) {
            let digests = self.digests(from, &key.1);
            known.insert(key.clone(), digests);
        }
        let [was, is] = known.get(&key)?.as_ref()?;
        Some(reason(Some(was), Some(is)))
    }

    fn digests(&self, from: &VariantOrigin<'_, '_>, [old, new]: &[PathBuf; 2]) -> Digests {
        if std::ptr::eq(from.loaded, self.to) && old == new {
            return None;
        }
        let is = self.to.bytes(new)?;
        if let Some(was) = from.loaded.bytes(old) {
            return (was != is).then(|| [short(&sha256(&was)), short(&sha256(&is))]);
        }
        let (_, was) = from.digests.iter().find(|(path, _)| Path::new(path) == old)?;
        let is = self.keeping?.digest(&is);
        (*was != is).then(|| [short(was), short(&is)])
    }
}

/// The digests of two files, if they differ.
type Digests = Option<[String; 2]>;

/// The beginning of a digest; it is long enough for people to tell contents apart.
fn short(digest: &str) -> String {
    let (kind, digest) = digest.split_once(':').unwrap_or(("sha256", digest));
    format!("{kind}:{}", digest.get(..12).unwrap_or(digest))
}

/// The path of a file from the directory of the template.
fn below<'p>(loaded: &Loaded, path: &'p Path) -> &'p Path {
    path.strip_prefix(loaded.base()).unwrap_or(path)
}
