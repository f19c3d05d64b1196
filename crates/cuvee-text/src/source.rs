//! Stores source files, finds places in them, and defines the trait through which files are read.

use elsa::sync::FrozenVec;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::{Bound, Deref, Range};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};

/// The id of a file: of a file in a [`SourceMap`], of a built-in file, or of
/// [no file](FileId::DETACHED).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub(crate) u32);

/// How many built-in files there can be.
const MOST_BUILT_IN: usize = 8;

impl FileId {
    /// The id of no file, for text that has no place of its own, such as a value on the command
    /// line.
    pub const DETACHED: Self = Self(u32::MAX);

    /// The id of the file with this number. A [`SourceMap`] numbers its files from zero.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Whether this is the id of no file.
    pub fn is_detached(self) -> bool {
        self == Self::DETACHED
    }

    /// Whether this is the id of a built-in file, which is part of the program.
    pub fn is_built_in(self) -> bool {
        self.built_in_number().is_some()
    }

    /// The id of a built-in file. Ids of files that are read count up from zero, those of built-in
    /// files count down from the end. So a span into a built-in file is valid with any source map.
    const fn built_in(number: u8) -> Self {
        Self(Self::DETACHED.0 - 1 - number as u32)
    }

    fn built_in_number(self) -> Option<usize> {
        let number = (Self::DETACHED.0 - 1).checked_sub(self.0)? as usize;
        (number < MOST_BUILT_IN).then_some(number)
    }
}

/// A range of bytes in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The offset of the first byte.
    pub start: u32,
    /// The offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// A span without a place. A diagnostic with this span has no place.
    pub const DETACHED: Self = Self { file: FileId::DETACHED, start: 0, end: 0 };

    /// Whether the span has no place.
    pub fn is_detached(self) -> bool {
        self.file.is_detached()
    }
}

/// A place in the form that people use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// The path of the file, as it was named or found.
    pub path: &'a Path,
    /// The number of the line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// The text of a file, shared by all who read it. It takes over a [`String`] without a copy, so that
/// a large file is in memory once.
///
/// ```
/// use cuvee_text::source::SourceText;
/// let text = SourceText::from("a: 1");
/// assert_eq!(text.clone().lines().count(), 1);
/// ```
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct SourceText(Arc<String>);

impl Deref for SourceText {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for SourceText {
    fn as_ref(&self) -> &str {
        self
    }
}

impl From<String> for SourceText {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&str> for SourceText {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl PartialEq for SourceText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for SourceText {}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    path: PathBuf,
    /// The path by which the file was asked for, if it is another one.
    asked: Option<PathBuf>,
    text: SourceText,
    line_starts: OnceLock<Vec<u32>>,
    /// The number of characters before each block of bytes.
    characters: OnceLock<Vec<CharacterCount>>,
    /// The ranges of bytes that no excerpt shows.
    hidden: FrozenVec<Arc<Range<usize>>>,
}

/// The size of a block. Where lines are longer than a block, the characters of the file are counted
/// once, block by block. Counting from the start of the line for each place would take quadratic
/// time.
const BLOCK: usize = 1024;

/// The number of characters in a text, and how many of them take two code units of UTF-16.
#[derive(Clone, Copy, Debug, Default)]
struct CharacterCount {
    all: usize,
    wide: usize,
}

impl CharacterCount {
    /// Counts the characters of a part of a text by their first bytes.
    fn of(bytes: &[u8]) -> Self {
        let all = bytes.iter().filter(|&&byte| byte & 0b1100_0000 != 0b1000_0000).count();
        Self { all, wide: bytes.iter().filter(|&&byte| byte >= 0b1111_0000).count() }
    }

    fn and(self, other: Self) -> Self {
        Self { all: self.all + other.all, wide: self.wide + other.wide }
    }
}

impl SourceFile {
    fn new(path: impl Into<PathBuf>, text: impl Into<SourceText>) -> Self {
        Self {
            path: path.into(),
            asked: None,
            text: text.into(),
            line_starts: OnceLock::new(),
            characters: OnceLock::new(),
            hidden: FrozenVec::new(),
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path by which other files refer to the file.
    pub fn asked(&self) -> &Path {
        self.asked.as_deref().unwrap_or(&self.path)
    }

    /// The whole text.
    pub fn text(&self) -> &SourceText {
        &self.text
    }

    /// The ranges of bytes that no excerpt shows, in order, each apart from the next one.
    #[cfg(feature = "render")]
    pub(crate) fn hidden(&self) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = self.hidden.iter().cloned().collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut apart: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match apart.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => apart.push(range),
            }
        }
        apart
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            std::iter::once(0).chain(line_ends(&self.text).map(|end| end as u32)).collect()
        })
    }

    /// The number of the line that a byte is in, from 1.
    fn line_at(&self, at: usize) -> usize {
        self.line_starts().partition_point(|&start| start as usize <= at).max(1)
    }

    /// The range of bytes of a line, with its line break.
    fn line_range(&self, line: usize) -> Range<usize> {
        let starts = self.line_starts();
        let start = |line: usize| starts.get(line).map_or(self.text.len(), |&at| at as usize);
        start(line - 1)..start(line)
    }

    fn characters(&self, range: Range<usize>) -> CharacterCount {
        let bytes = self.text.as_bytes();
        if range.len() <= BLOCK {
            return CharacterCount::of(&bytes[range]);
        }
        let blocks = self.characters.get_or_init(|| {
            let mut before = CharacterCount::default();
            let count = |block| {
                let own = before;
                before = own.and(CharacterCount::of(block));
                own
            };
            bytes.chunks(BLOCK).map(count).chain([CharacterCount::of(bytes)]).collect()
        });
        let before = |at: usize| {
            let block = at / BLOCK;
            blocks[block].and(CharacterCount::of(&bytes[block * BLOCK..at]))
        };
        let (end, start) = (before(range.end), before(range.start));
        CharacterCount { all: end.all - start.all, wide: end.wide - start.wide }
    }
}

/// A file that is part of the program. Each has a different number.
pub struct BuiltInFile {
    number: u8,
    name: &'static str,
    text: fn() -> &'static str,
    source: OnceLock<SourceFile>,
}

/// The built-in files whose ids were asked for. There are no spans into other built-in files.
static BUILT_IN: [OnceLock<&BuiltInFile>; MOST_BUILT_IN] =
    [const { OnceLock::new() }; MOST_BUILT_IN];

/// The file of ids that belong to no file.
static NO_FILE: LazyLock<SourceFile> = LazyLock::new(|| SourceFile::new("", ""));

impl BuiltInFile {
    /// Creates a built-in file, whose text is asked for when it is needed. No two files may have the
    /// same number.
    pub const fn new(number: u8, name: &'static str, text: fn() -> &'static str) -> Self {
        Self { number, name, text, source: OnceLock::new() }
    }

    /// The name of the file, which is its path in messages.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The whole text of the file.
    pub fn text(&self) -> &'static str {
        (self.text)()
    }

    /// The id of the file. Once it was asked for, every source map knows the file.
    pub fn id(&'static self) -> FileId {
        if let Some(slot) = BUILT_IN.get(usize::from(self.number)) {
            slot.get_or_init(|| self);
        }
        FileId::built_in(self.number)
    }

    /// The file in the form that a source map returns.
    pub fn source(&self) -> &SourceFile {
        self.source.get_or_init(|| SourceFile::new(self.name, self.text()))
    }

    fn find(id: FileId) -> Option<&'static SourceFile> {
        Some(BUILT_IN.get(id.built_in_number()?)?.get()?.source())
    }
}

/// The files that were read, in their order. Spans point into it.
///
/// ```
/// use cuvee_text::source::{SourceMap, Span};
/// let sources = SourceMap::default();
/// let file = sources.add("shop.yaml", "shop:\n  type: Shop\n");
/// let span = Span { file, start: 14, end: 18 };
/// assert_eq!(sources.snippet(span), "Shop");
/// assert_eq!((sources.location(span).line, sources.location(span).column), (2, 9));
/// ```
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    /// The files. They are only added, even while references to them exist, and shared with clones
    /// of the map.
    files: FrozenVec<Arc<SourceFile>>,
}

impl SourceMap {
    /// Adds a file and returns its id.
    pub fn add(&self, path: impl Into<PathBuf>, text: impl Into<SourceText>) -> FileId {
        FileId(self.files.push_get_index(Arc::new(SourceFile::new(path, text))) as u32)
    }

    /// Adds a file of a file system, which may show it at another path than where it is.
    pub fn add_from(
        &self,
        system: &dyn FileSystem,
        path: &Path,
        text: impl Into<SourceText>,
    ) -> FileId {
        let file = match system.place(path) {
            Cow::Borrowed(_) => SourceFile::new(path, text),
            Cow::Owned(place) => {
                SourceFile { asked: Some(path.into()), ..SourceFile::new(place, text) }
            }
        };
        FileId(self.files.push_get_index(Arc::new(file)) as u32)
    }

    /// The file of an id. Built-in files belong to every map.
    #[inline]
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize).or_else(|| BuiltInFile::find(id))
    }

    /// The file of an id. For an id without a file, an empty file without a name.
    #[inline]
    pub fn file(&self, id: FileId) -> &SourceFile {
        self.get(id).unwrap_or_else(|| &NO_FILE)
    }

    /// Hides a part of a file from excerpts: people see a word in its place.
    ///
    /// ```
    /// # #[cfg(feature = "render")] {
    /// use cuvee_text::diagnostic::{CodeName, Diagnostic};
    /// use cuvee_text::render;
    /// use cuvee_text::source::{SourceMap, Span};
    /// let sources = SourceMap::default();
    /// let file = sources.add("shop.yaml", "login: {user: ann, pin: 4711}\n");
    /// sources.hide(Span { file, start: 24, end: 28 });
    /// let error = Diagnostic::error(CodeName::FILE, "too short").at(Span { file, start: 24, end: 28 });
    /// let shown = render::plain([(&error, &sources)]);
    /// assert!(shown.contains("1 | login: {user: ann, pin: (sensitive)}"), "{shown}");
    /// # }
    /// ```
    pub fn hide(&self, span: Span) {
        if let Some(file) = self.files.get(span.file.0 as usize)
            && span.start < span.end
        {
            file.hidden.push(Arc::new(span.start as usize..span.end as usize));
        }
    }

    /// All files, in the order in which they were read.
    pub fn files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }

    /// The id of the file that was read at a path.
    pub fn find(&self, path: &Path) -> Option<FileId> {
        let position = self.files().position(|file| file.path() == path)?;
        Some(FileId(position as u32))
    }

    /// The path, line and column of the start of a span.
    pub fn location(&self, span: Span) -> Location<'_> {
        let (line, before) = self.before(span);
        Location { path: &self.file(span.file).path, line, column: before.all + 1 }
    }

    /// The column of the start of a span in code units of UTF-16, from 1.
    pub fn utf16_column(&self, span: Span) -> usize {
        let (_, before) = self.before(span);
        before.all + before.wide + 1
    }

    /// The line of the start of a span, and the number of characters before it in that line.
    fn before(&self, span: Span) -> (usize, CharacterCount) {
        let file = self.file(span.file);
        let line = file.line_at(span.start as usize);
        let start = file.line_range(line).start;
        let end = (span.start as usize).clamp(start, file.text.len());
        (line, file.characters(start..end))
    }

    /// The range of bytes of the line in which a span starts, without its line break.
    pub fn line_range(&self, span: Span) -> Range<usize> {
        let file = self.file(span.file);
        let range = file.line_range(file.line_at(span.start as usize));
        let text = &file.text[range.clone()];
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        range.start..range.start + text.len()
    }

    /// The text of the line in which a span starts.
    pub fn line(&self, span: Span) -> &str {
        self.file(span.file).text.get(self.line_range(span)).unwrap_or_default()
    }

    /// The start of a span in the form `shop.yaml:12:5`.
    pub fn place(&self, span: Span) -> String {
        let at = self.location(span);
        format!("{}:{}:{}", at.path.display(), at.line, at.column)
    }

    /// The text of a span.
    pub fn snippet(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

/// The places behind the line breaks of a text. A carriage return is one, too, also alone.
pub fn line_ends(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let breaks = memchr::memchr2_iter(b'\n', b'\r', bytes).map(|at| at + 1);
    breaks.filter(|&end| bytes.get(end - 1..=end) != Some(b"\r\n"))
}

/// Whether a path has the extension of a YAML file.
pub fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Removes `.` and `..` from a path, so that each file has only one path.
pub fn normalize(path: &Path) -> PathBuf {
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

/// A source of files. All files are read through this trait: from the operating system, from memory
/// in tests and build scripts, or from elsewhere.
pub trait FileSystem: Sync {
    /// Reads a whole file.
    ///
    /// # Errors
    /// Returns the error of the system, `NotFound` where the file does not exist.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Reads the first `most` bytes of a file, for callers that only need to know its kind. The
    /// default reads the whole file.
    ///
    /// # Errors
    /// As [`FileSystem::read`].
    fn read_start(&self, path: &Path, most: usize) -> io::Result<Vec<u8>> {
        let mut bytes = self.read(path)?;
        bytes.truncate(most);
        Ok(bytes)
    }

    /// The size of a file in bytes, so that a file beyond a limit is refused before it is read.
    ///
    /// # Errors
    /// Returns the error of the system.
    fn size(&self, path: &Path) -> io::Result<u64>;

    /// Whether the path is a file.
    fn is_file(&self, path: &Path) -> bool;

    /// Whether the path is a directory.
    fn is_dir(&self, path: &Path) -> bool;

    /// The entries of a directory as full paths. They are sorted, so that nothing depends on the
    /// order on the disk.
    ///
    /// # Errors
    /// Returns the error of the system.
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>>;

    /// Resolves the links in a path, so that it shows where a file really is. The default only
    /// normalises the path.
    ///
    /// # Errors
    /// Returns the error of the system.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(normalize(path))
    }

    /// Whether the path is a symbolic link, even one that leads nowhere. By default there are no
    /// links.
    fn is_link(&self, _path: &Path) -> bool {
        false
    }

    /// The real path of a file that may be shown at another path, for people and tools. By default
    /// it is the path itself.
    fn place<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        Cow::Borrowed(path)
    }
}

/// The files of the operating system. Only regular files are read, because reading a device or a
/// pipe may never end, or never begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsFiles;

impl FileSystem for OsFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        // Files that the system generates while they are read, as in `/proc`, have no size and
        // maybe no end.
        let (file, size) = open(path)?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_BYTES {
            let why = format!("it is larger than {} MiB", MAX_BYTES >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        Ok(bytes)
    }

    fn read_start(&self, path: &Path, most: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        open(path)?.0.take(most as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
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

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }

    fn is_link(&self, path: &Path) -> bool {
        path.is_symlink()
    }
}

/// Opens a regular file, and returns its size.
fn open(path: &Path) -> io::Result<(std::fs::File, u64)> {
    let meta = std::fs::metadata(path)?;
    if !meta.is_file() && !meta.is_dir() {
        let why = format!("it is {}, not a file", kind(meta.file_type()));
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    Ok((std::fs::File::open(path)?, meta.len()))
}

/// The most bytes that are read of any file. An archive may be this large.
const MAX_BYTES: u64 = 512 << 20;

/// Names the kind of a path that is not a regular file, for messages.
#[cfg(unix)]
fn kind(kind: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn kind(_: std::fs::FileType) -> &'static str {
    "a device"
}

/// Files in memory.
///
/// ```
/// use cuvee_text::source::{FileSystem, MemoryFiles};
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

    /// The files below a directory. Paths are ordered by their components, so these follow its own.
    fn below<'p>(&'p self, path: &'p Path) -> impl Iterator<Item = &'p PathBuf> {
        let behind = self.files.range::<Path, _>((Bound::Excluded(path), Bound::Unbounded));
        behind.map(|(file, _)| file).take_while(move |file| file.starts_with(path))
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
        self.below(path).next().is_some()
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let below = self.below(path);
        let below = below.filter_map(|file| file.strip_prefix(path).ok()?.components().next());
        let mut found: Vec<_> = below.map(|first| path.join(first)).collect();
        found.dedup();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static FIRST: BuiltInFile = BuiltInFile::new(6, "first.yaml", || "a: 1\nb: 2\n");
    static NEVER: u8 = 7;

    #[test]
    fn built_in_files_are_in_every_map() {
        let (span, sources) = (Span { file: FIRST.id(), start: 5, end: 6 }, SourceMap::default());
        assert_eq!(sources.place(span), "first.yaml:2:1");
        let own = sources.add("own.yaml", "c");
        assert_eq!((sources.snippet(span), own.is_built_in()), ("b", false));
        assert!(span.file.is_built_in() && own < span.file);
        assert_eq!(sources.files().count(), 1);
    }

    #[test]
    fn files_in_memory_have_directories() {
        let names = ["a", "a/b/c", "a/b/d", "a-b", "a/e", "f/g"];
        let files: MemoryFiles = names.into_iter().map(|name| (name, "")).collect();
        let are_directories = ["a", "a/b", "a/", "f", "a-b", "a/b/c", "g", ""];
        let found = are_directories.map(|path| files.is_dir(Path::new(path)));
        assert_eq!(found, [true, true, true, true, false, false, false, true]);
        let list = |path: &str| files.list(Path::new(path)).unwrap();
        assert_eq!(list("a"), [Path::new("a/b"), Path::new("a/e")]);
        assert_eq!(list("a/b"), [Path::new("a/b/c"), Path::new("a/b/d")]);
        assert_eq!(list(""), ["a", "a-b", "f"].map(Path::new));
    }

    #[test]
    fn no_file_is_an_empty_one() {
        let sources = SourceMap::default();
        for file in [FileId::DETACHED, FileId(3), FileId::built_in(NEVER)] {
            let span = Span { file, start: 4, end: 9 };
            assert_eq!((sources.snippet(span), sources.line(span)), ("", ""));
            assert_eq!(sources.place(span), ":1:1");
        }
        assert!(Span::DETACHED.is_detached() && !FileId::DETACHED.is_built_in());
    }
}
