//! Records the files that a run reads, so that the run does not overwrite any of them.

use super::streams::CommandFiles;
use cuvee::source::FileSystem;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The file system of a command, which records the files that were read.
#[derive(Clone, Default)]
pub(super) struct ReadFiles(Arc<Mutex<BTreeSet<PathBuf>>>);

impl ReadFiles {
    /// Whether this path leads to a file that was read, under any name. Devices and pipes do not
    /// count, because they may be both read and written.
    pub(super) fn contain(&self, path: &Path) -> bool {
        let Some(target) = path.canonicalize().ok().filter(|target| target.is_file()) else {
            return false;
        };
        let read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        read.iter().any(|file| file.canonicalize().is_ok_and(|file| file == target))
    }
}

impl FileSystem for ReadFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
        CommandFiles.read(path)
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        CommandFiles.size(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        CommandFiles.is_file(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        CommandFiles.is_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        CommandFiles.list(path)
    }

    fn is_link(&self, path: &Path) -> bool {
        CommandFiles.is_link(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        CommandFiles.canonical(path)
    }
}
