//! Shows other texts in the place of some files, such as what an editor has not saved yet.

use super::source::{FileSystem, SourceText, normalize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file system in which some files have other texts, or are there although they were never saved.
///
/// ```
/// use cuvee_text::overlay::OverlayFiles;
/// use cuvee_text::source::{FileSystem, MemoryFiles};
/// use std::sync::Arc;
/// let saved = MemoryFiles::from([("shop.yaml", "a: 1"), ("types.yaml", "b: 1")]);
/// let files = OverlayFiles::new(Arc::new(saved), [("shop.yaml".into(), "a: 2".into())]);
/// assert_eq!(files.read("./shop.yaml".as_ref()).unwrap(), b"a: 2");
/// assert_eq!(files.read("types.yaml".as_ref()).unwrap(), b"b: 1");
/// ```
#[derive(Clone)]
pub struct OverlayFiles {
    files: Arc<dyn FileSystem + Send>,
    /// The texts by normalised paths.
    texts: BTreeMap<PathBuf, SourceText>,
}

impl OverlayFiles {
    /// Shows these texts over other files.
    pub fn new(
        files: Arc<dyn FileSystem + Send>,
        texts: impl IntoIterator<Item = (PathBuf, SourceText)>,
    ) -> Self {
        let texts = texts.into_iter().map(|(path, text)| (normalize(&path), text)).collect();
        Self { files, texts }
    }

    /// The text that is shown at a path.
    pub fn text(&self, path: &Path) -> Option<&SourceText> {
        self.texts.get(&normalize(path))
    }
}

impl FileSystem for OverlayFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.text(path) {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => self.files.read(path),
        }
    }

    fn read_start(&self, path: &Path, most: usize) -> io::Result<Vec<u8>> {
        match self.text(path) {
            Some(text) => Ok(text.as_bytes().iter().copied().take(most).collect()),
            None => self.files.read_start(path, most),
        }
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        match self.text(path) {
            Some(text) => Ok(text.len() as u64),
            None => self.files.size(path),
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        self.text(path).is_some() || self.files.is_file(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.files.is_dir(path)
            || self.texts.keys().any(|file| file != path && file.starts_with(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let place = normalize(path);
        let mut found = self
            .files
            .list(path)
            .or_else(|error| if self.is_dir(path) { Ok(Vec::new()) } else { Err(error) })?;
        let added = self.texts.keys().filter_map(|file| file.strip_prefix(&place).ok());
        let added = added.filter_map(|below| Some(path.join(below.components().next()?)));
        found.extend(added);
        found.sort();
        found.dedup();
        Ok(found)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.canonical(path).or_else(|error| match self.text(path) {
            Some(_) => Ok(normalize(path)),
            None => Err(error),
        })
    }

    fn is_link(&self, path: &Path) -> bool {
        self.files.is_link(path)
    }

    fn place<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        self.files.place(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryFiles;

    #[test]
    fn new_files_are_in_their_directories() {
        let saved = MemoryFiles::from([("lib/a.yaml", "a")]);
        let files = OverlayFiles::new(
            Arc::new(saved),
            [("lib/b.yaml".into(), "b".into()), ("new/c.yaml".into(), "cd".into())],
        );
        let list = |path: &str| files.list(path.as_ref()).unwrap();
        assert_eq!(list("lib"), [Path::new("lib/a.yaml"), Path::new("lib/b.yaml")]);
        assert_eq!(list("new"), [Path::new("new/c.yaml")]);
        assert!(files.is_dir("new".as_ref()) && files.is_file("new/c.yaml".as_ref()));
        assert!(!files.is_dir("old".as_ref()) && files.list("lib/a.yaml".as_ref()).is_ok());
        assert_eq!(files.size("new/c.yaml".as_ref()).unwrap(), 2);
        assert_eq!(files.read_start("new/c.yaml".as_ref(), 1).unwrap(), b"c");
    }
}
