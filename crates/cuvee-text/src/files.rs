//! Reads and parses each file only once, however often it is asked for.

use super::diagnostic::{Advice, CodeName, Diagnostic, closest};
use super::source::{FileId, FileSystem, SourceMap, normalize};
use super::yaml::{self, Document, Job, Keep, Limits};
use elsa::sync::FrozenMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The files that were read so far. Files are only added, so that references into it stay valid as
/// long as it exists.
#[derive(Debug, Default)]
pub struct Files {
    sources: SourceMap,
    /// The files by their normalised paths. A file that could not be read is not tried again.
    by_path: FrozenMap<PathBuf, Box<Result<FileId, Diagnostic>>>,
    documents: FrozenMap<FileId, Box<Parsed>>,
    /// A function that every parsed document goes through.
    reading: Option<DocumentReading>,
    /// The documents that are in no file, by their texts.
    inline: FrozenMap<String, Box<FileId>>,
}

/// A function that checks or changes a document after it was parsed.
pub type DocumentReading = fn(Document) -> Result<Document, Diagnostic>;

type Parse = OnceLock<Result<Document, Diagnostic>>;

/// The parsed document of a file, as far as it was parsed.
#[derive(Debug, Default)]
struct Parsed {
    whole: Parse,
    /// The document with only the entries that were to be kept.
    part: Parse,
}

impl Files {
    /// Creates an empty collection. Every parsed document goes through `reading`.
    pub fn reading(reading: Option<DocumentReading>) -> Self {
        Self { reading, ..Self::default() }
    }

    fn read_as(&self, parsed: Result<Document, Diagnostic>) -> Result<Document, Diagnostic> {
        match self.reading {
            Some(reading) => reading(parsed?),
            None => parsed,
        }
    }

    /// The texts that spans point into, in the order in which they were read.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Sets the text of a file, which is then not read.
    pub fn add(&self, system: &dyn FileSystem, path: &Path, text: Arc<str>) -> FileId {
        let id = self.sources.add_from(system, path, text);
        self.by_path.insert(normalize(path), Box::new(Ok(id)));
        id
    }

    /// Whether the file was read or added, or reading it failed.
    pub fn has(&self, path: &Path) -> bool {
        self.by_path.get(&normalize(path)).is_some()
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Returns a diagnostic `file` where the file cannot be read or is too large, and `syntax`
    /// where it is not UTF-8.
    pub fn read(&self, system: &dyn FileSystem, path: &Path) -> Result<FileId, Diagnostic> {
        let normal = normalize(path);
        if let Some(read) = self.by_path.get(&normal) {
            return read.clone();
        }
        let bytes = read_bytes(system, path).and_then(|bytes| decode(path, bytes));
        let read = bytes.map(|text| self.sources.add_from(system, path, text));
        self.by_path.insert(normal, Box::new(read)).clone()
    }

    /// The text of a file that was read.
    pub fn text(&self, file: FileId) -> &Arc<str> {
        self.sources.file(file).text()
    }

    /// Parses the whole text of a file that was read.
    ///
    /// # Errors
    /// Returns a diagnostic `syntax` with its place.
    pub fn whole(&self, file: FileId) -> Result<&Document, Diagnostic> {
        let parse =
            || self.read_as(yaml::parse(file, Arc::clone(self.text(file)), &Limits::default()));
        self.parsed(file).whole.get_or_init(parse).as_ref().map_err(Clone::clone)
    }

    /// Reads and parses a file.
    ///
    /// # Errors
    /// As [`Files::read`] and [`Files::whole`].
    pub fn document(&self, system: &dyn FileSystem, path: &Path) -> Result<&Document, Diagnostic> {
        self.whole(self.read(system, path)?)
    }

    /// Parses a text that is in no file. Messages call it `name`.
    ///
    /// # Errors
    /// As [`Files::whole`].
    pub fn inline(&self, name: &str, text: &str) -> Result<&Document, Diagnostic> {
        let add = || Box::new(self.sources.add(name, text));
        self.whole(*self.inline.insert_with(text.to_owned(), add))
    }

    /// Parses files on all cores, unless they are parsed already. Each comes with a filter `keep`
    /// of its entries; where there is none, the whole file is parsed.
    pub fn parse(
        &self,
        files: &[(FileId, Option<Keep<'_>>)],
    ) -> Vec<Result<&Document, Diagnostic>> {
        let open = files.iter().filter(|(file, keep)| self.parsed(*file).get(*keep).is_none());
        let open: Vec<_> = open.map(|&(file, keep)| (keep.is_none(), file, keep)).collect();
        let jobs: Vec<_> = open
            .iter()
            .map(|&(_, file, keep)| Job { file, text: Arc::clone(self.text(file)), keep })
            .collect();
        for (&(whole, file, _), document) in
            open.iter().zip(yaml::parse_all(&jobs, &Limits::default()))
        {
            let parsed = self.parsed(file);
            // If another thread was faster, its document is the same.
            let document = self.read_as(document);
            let _ = if whole { &parsed.whole } else { &parsed.part }.set(document);
        }
        let document =
            |&(file, keep): &(FileId, Option<Keep<'_>>)| match self.parsed(file).get(keep) {
                Some(parsed) => parsed.as_ref().map_err(Clone::clone),
                None => self.whole(file),
            };
        files.iter().map(document).collect()
    }

    fn parsed(&self, file: FileId) -> &Parsed {
        let known = self.documents.get(&file);
        known.unwrap_or_else(|| self.documents.insert_with(file, Box::default))
    }
}

impl Parsed {
    /// The parsed document. The whole document also serves callers that need only a part.
    fn get(&self, keep: Option<Keep<'_>>) -> Option<&Result<Document, Diagnostic>> {
        self.whole.get().or_else(|| self.part.get().filter(|_| keep.is_some()))
    }
}

/// Reads a whole file.
///
/// # Errors
/// Returns a diagnostic `file` where the file cannot be read or is too large.
pub fn read_bytes(system: &dyn FileSystem, path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let limit = Limits::default().bytes;
    let error = |why: &dyn std::fmt::Display| {
        Diagnostic::error(CodeName::FILE, format!("cannot read `{}`: {why}", path.display()))
    };
    // A stream such as `/dev/stdin` has no size to check here. The parser checks the length of its
    // text.
    if system.size(path).is_ok_and(|size| size > limit) {
        return Err(error(&format!("it is larger than {} MiB", limit >> 20)));
    }
    system.read(path).map_err(|why| match why.kind() {
        ErrorKind::NotFound => error(&why).help_opt(neighbour(system, path)),
        _ => error(&why),
    })
}

/// Suggests the file in the same directory whose name is most similar.
fn neighbour(system: &dyn FileSystem, path: &Path) -> Option<Advice> {
    let directory = path.parent()?;
    let listed = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let beside = system.list(listed).ok()?;
    let names = beside.iter().filter_map(|path| path.file_name()?.to_str());
    let written = path.file_name()?.to_str()?;
    // The name itself may be listed, for a link that leads nowhere.
    let meant = closest(written, names.filter(|name| *name != written))?;
    Some(format!("did you mean `{}`?", directory.join(meant).display()).into())
}

/// Decodes the bytes of a file as text.
///
/// # Errors
/// Returns a diagnostic `syntax` where they are not UTF-8.
pub fn decode(path: &Path, bytes: Vec<u8>) -> Result<Arc<str>, Diagnostic> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(why) => {
            let at = why.utf8_error().valid_up_to();
            let message =
                format!("`{}` is not UTF-8: byte {at} starts no character", path.display());
            Err(Diagnostic::error(CodeName::SYNTAX, message).help("save the file as UTF-8"))
        }
    }
}
