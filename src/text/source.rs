//! Where text comes from: files, spans in them, and the one trait through which they are read.

use crate::tosca::profile;
use elsa::sync::FrozenVec;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};

/// A file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

/// A place as people name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// The file, as it was named or found.
    pub path: &'a Path,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// One file that was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    path: PathBuf,
    text: Arc<str>,
    line_starts: OnceLock<Vec<u32>>,
}

impl SourceFile {
    pub(crate) fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> Self {
        Self { path: path.into(), text: text.into(), line_starts: OnceLock::new() }
    }

    /// The path under which the file was read.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            std::iter::once(0)
                .chain(memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|at| at as u32 + 1))
                .collect()
        })
    }
}

/// Every file that took part, in the order of reading; spans point into it.
///
/// ```
/// use cuvee::source::{SourceMap, Span};
/// let sources = SourceMap::default();
/// let file = sources.add("shop.yaml", "shop:\n  type: Shop\n");
/// let span = Span { file, start: 14, end: 18 };
/// assert_eq!(sources.snippet(span), "Shop");
/// assert_eq!((sources.location(span).line, sources.location(span).column), (2, 9));
/// ```
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    /// Only ever added to, also while others look at what is there; shared with clones of the map.
    files: FrozenVec<Arc<SourceFile>>,
}

impl SourceMap {
    /// Adds a file and returns its id.
    pub fn add(&self, path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> FileId {
        FileId(self.files.push_get_index(Arc::new(SourceFile::new(path, text))) as u32)
    }

    /// The file of this id; profiles that are built in are files of every map, and what is in none
    /// is in an empty file without a name.
    pub fn file(&self, id: FileId) -> &SourceFile {
        static NOWHERE: LazyLock<SourceFile> = LazyLock::new(|| SourceFile::new("", ""));
        let read = || self.files.get(id.0 as usize);
        profile::source(id).or_else(read).unwrap_or(&NOWHERE)
    }

    /// All files in the order of reading.
    pub fn files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }

    /// Path, line and column of the start of a span.
    pub fn location(&self, span: Span) -> Location<'_> {
        let file = self.file(span.file);
        let starts = file.line_starts();
        let line = starts.partition_point(|&start| start <= span.start).max(1);
        let start = starts[line - 1] as usize;
        let end = (span.start as usize).min(file.text.len());
        let column = file.text.get(start..end).map_or(0, |before| before.chars().count()) + 1;
        Location { path: &file.path, line, column }
    }

    /// The line that a span starts in.
    pub fn line(&self, span: Span) -> &str {
        let text = self.file(span.file).text();
        let start = text
            .get(..span.start as usize)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |end| end + 1);
        text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default()
    }

    /// The start of a span for people: `shop.yaml:12:5`.
    pub fn place(&self, span: Span) -> String {
        let at = self.location(span);
        format!("{}:{}:{}", at.path.display(), at.line, at.column)
    }

    /// The text a span covers.
    pub fn snippet(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

/// The only way files are read: the operating system's in the command line, a map in tests and
/// build scripts.
pub trait FileSystem: Sync {
    /// Reads a whole file.
    ///
    /// # Errors
    /// As the system gives them; `NotFound` where there is no such file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The size in bytes, so that a file past the limit is refused before it is read.
    ///
    /// # Errors
    /// As the system gives them.
    fn size(&self, path: &Path) -> io::Result<u64>;

    /// Whether this is a file.
    fn is_file(&self, path: &Path) -> bool;

    /// Whether this is a directory.
    fn is_dir(&self, path: &Path) -> bool;

    /// The entries of a directory as full paths, sorted, so that nothing depends on the order a
    /// disk keeps them in.
    ///
    /// # Errors
    /// As the system gives them.
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>>;

    /// Whether this is a symbolic link, whatever it leads to; there are none unless a system says
    /// so.
    fn is_link(&self, _path: &Path) -> bool {
        false
    }
}

/// The operating system's files.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsFiles;

impl FileSystem for OsFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        std::fs::metadata(path).map(|meta| meta.len())
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = std::fs::read_dir(path)?
            .map(|entry| entry.map(|e| e.path()))
            .collect::<io::Result<Vec<_>>>()?;
        found.sort();
        Ok(found)
    }

    fn is_link(&self, path: &Path) -> bool {
        path.is_symlink()
    }
}

/// Files that live in memory.
///
/// ```
/// use cuvee::source::{FileSystem, MemoryFiles};
/// let files = MemoryFiles::from([("lib/types.yaml", "node_types: {}")]);
/// assert!(files.is_dir("lib".as_ref()));
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl<P: Into<PathBuf>, T: Into<Vec<u8>>, const N: usize> From<[(P, T); N]> for MemoryFiles {
    fn from(files: [(P, T); N]) -> Self {
        files.into_iter().collect()
    }
}

impl<P: Into<PathBuf>, T: Into<Vec<u8>>> FromIterator<(P, T)> for MemoryFiles {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(files: I) -> Self {
        Self { files: files.into_iter().map(|(path, text)| (path.into(), text.into())).collect() }
    }
}

impl MemoryFiles {
    fn get(&self, path: &Path) -> io::Result<&Vec<u8>> {
        let found = self.files.get(path).or_else(|| self.files.get(&normalize(path)));
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
    }
}

impl FileSystem for MemoryFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.get(path).cloned()
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        self.get(path).map(|text| text.len() as u64)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.get(path).is_ok()
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.files.keys().any(|file| file != path && file.starts_with(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let below =
            self.files.keys().filter_map(|file| file.strip_prefix(path).ok()?.components().next());
        let mut found: Vec<_> = below.map(|first| path.join(first)).collect();
        found.dedup();
        Ok(found)
    }
}

/// Without `.` and `..`, so that one file has one name.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(normal.components().next_back(), Some(Component::Normal(_))) =>
            {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}
