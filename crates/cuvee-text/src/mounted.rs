//! Shows directories at another place of the file system than where they are.

use super::source::{FileSystem, normalize};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file system that shows some directories, which are elsewhere, as subdirectories of another
/// directory.
pub struct Mounted {
    files: Arc<dyn FileSystem + Send>,
    /// The directory with the additional subdirectories, as a normalised path.
    at: PathBuf,
    /// The names of the subdirectories, and the paths where they really are.
    mounts: Vec<(OsString, PathBuf)>,
}

impl Mounted {
    /// Shows directories as subdirectories of `at`. Each has a name there and its real path.
    pub fn new(
        files: Arc<dyn FileSystem + Send>,
        at: &Path,
        mounts: Vec<(OsString, PathBuf)>,
    ) -> Self {
        Self { files, at: normalize(at), mounts }
    }

    fn mount(&self, name: &OsStr) -> Option<&Path> {
        self.mounts.iter().find(|(mounted, _)| mounted == name).map(|(_, place)| place.as_path())
    }
}

impl FileSystem for Mounted {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.read(&self.place(path))
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        self.files.size(&self.place(path))
    }

    fn is_file(&self, path: &Path) -> bool {
        self.files.is_file(&self.place(path))
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.files.is_dir(&self.place(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let place = self.place(path);
        let mut found = self.files.list(&place)?;
        if let Cow::Owned(place) = &place {
            let below = found.iter().filter_map(|found| found.strip_prefix(place).ok());
            found = below.map(|rest| path.join(rest)).collect();
        } else if normalize(path) == self.at {
            found.extend(self.mounts.iter().map(|(name, _)| path.join(name)));
            found.sort();
        }
        Ok(found)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.canonical(&self.place(path))
    }

    fn is_link(&self, path: &Path) -> bool {
        self.files.is_link(&self.place(path))
    }

    fn place<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        let normal = normalize(path);
        let below = normal.strip_prefix(&self.at).ok();
        let mounted = below.and_then(|below| {
            let mut parts = below.components();
            let place = self.mount(parts.next()?.as_os_str())?;
            Some(place.join(parts.as_path()))
        });
        mounted.map_or(Cow::Borrowed(path), Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryFiles;

    #[test]
    fn shows_directories_where_they_do_not_lie() {
        let files = MemoryFiles::from([
            ("shop/template.yaml", "shop"),
            ("wood/lib/desks.yaml", "desks"),
            ("wood/lib/deep/legs.yaml", "legs"),
            ("wood/other.yaml", ""),
        ]);
        let mounts = vec![("lib".into(), "wood/lib".into())];
        let files = Mounted::new(Arc::new(files), Path::new("./shop"), mounts);
        let path = |text: &'static str| Path::new(text);
        assert_eq!(files.read(path("shop/lib/desks.yaml")).unwrap(), b"desks");
        assert_eq!(files.read(path("shop/x/../lib/deep/legs.yaml")).unwrap(), b"legs");
        assert_eq!(files.size(path("shop/template.yaml")).unwrap(), 4);
        assert!(files.is_dir(path("shop/lib")) && files.is_dir(path("shop/lib/deep")));
        assert!(!files.is_file(path("shop/lib")) && !files.is_file(path("lib/desks.yaml")));
        let listed = |at| files.list(path(at)).unwrap();
        assert_eq!(listed("shop"), [path("shop/lib"), path("shop/template.yaml")]);
        assert_eq!(listed("shop/lib"), [path("shop/lib/deep"), path("shop/lib/desks.yaml")]);
        assert_eq!(listed("wood"), [path("wood/lib"), path("wood/other.yaml")]);
        assert_eq!(files.canonical(path("shop/lib/deep")).unwrap(), path("wood/lib/deep"));
        assert_eq!(files.place(path("shop/lib/desks.yaml")), path("wood/lib/desks.yaml"));
        assert!(matches!(files.place(path("shop/library")), Cow::Borrowed(_)));
    }
}
