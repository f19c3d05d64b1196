//! Collects the files of the output: documents, and the files of artifacts.

use super::implementation::files_name;
use super::names::unique;
use crate::tosca::v1_0::{DefinitionsExtent, LoadedDefinitions};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// All files of the output.
pub(super) struct ConvertedFiles<'c> {
    loaded: &'c LoadedDefinitions,
    is_single: bool,
    main: Option<(PathBuf, Vec<u8>)>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl<'c> ConvertedFiles<'c> {
    pub(super) fn of(loaded: &'c LoadedDefinitions, is_single: bool) -> Self {
        Self { loaded, is_single, main: None, files: BTreeMap::new() }
    }

    /// Sets the main document.
    pub(super) fn main(&mut self, path: PathBuf, text: String) {
        self.main = Some((path, text.into_bytes()));
    }

    pub(super) fn add(&mut self, path: PathBuf, content: Vec<u8>) {
        self.files.insert(path, content);
    }

    /// Copies a file of the source, or all files below a directory, and returns its new name.
    ///
    /// # Errors
    /// The reason why the file cannot be copied.
    pub(super) fn copy(&mut self, reference: &str) -> Result<String, &'static str> {
        let Some(name) = self.loaded.found(reference) else {
            // A single document may be converted without the files beside it. In a repository,
            // missing files have been reported already.
            let is_file = self.loaded.extent == DefinitionsExtent::File;
            return match is_file && !self.is_single {
                true => Err("the file does not exist"),
                false => Ok(files_name(reference)),
            };
        };
        if self.is_single {
            return Err("one document holds no files; write an archive or a directory");
        }
        if let Some(content) = self.loaded.read_file(&name) {
            self.files.insert(PathBuf::from(&name), content);
            return Ok(name);
        }
        let below = self.loaded.files_below(&name);
        if below.is_empty() {
            return Err("the file does not exist");
        }
        for file in below {
            if let Some(content) = self.loaded.read_file(&file) {
                self.files.insert(file.into(), content);
            }
        }
        Ok(name)
    }

    /// Adds a file in a directory; `None` if the output is a single document.
    pub(super) fn inline(
        &mut self,
        directory: &str,
        name: &str,
        content: Vec<u8>,
    ) -> Option<String> {
        if self.is_single {
            return None;
        }
        let wanted = format!("{directory}/{name}");
        let is_taken = |path: &str| {
            let known = self.files.get(&PathBuf::from(path));
            known.is_some_and(|known| *known != content) || self.loaded.read_file(path).is_some()
        };
        let path = unique(&wanted, is_taken);
        self.files.insert(PathBuf::from(&path), content);
        Some(path)
    }

    /// All files, the main document first.
    pub(super) fn written(&mut self) -> Vec<(PathBuf, Vec<u8>)> {
        let files = std::mem::take(&mut self.files);
        self.main.take().into_iter().chain(files).collect()
    }
}
