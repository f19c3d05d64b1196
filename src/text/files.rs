//! Files that are read and parsed once, whoever asks for them and how often.

use super::diagnostic::{Advice, Code, Diagnostic, closest};
use super::source::{FileId, FileSystem, SourceMap, normalize};
use super::yaml::{self, Document, Job, Keep, Limits};
use elsa::sync::FrozenMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// What was read so far. It only grows, so that what it gives stays as long as it does itself.
#[derive(Debug, Default)]
pub(crate) struct Files {
    sources: SourceMap,
    /// By their normal paths; what could not be read is not tried again.
    by_path: FrozenMap<PathBuf, Box<Result<FileId, Diagnostic>>>,
    documents: FrozenMap<FileId, Box<Parsed>>,
    /// What becomes of each document that was parsed.
    reading: Option<DocumentReading>,
    /// Texts that stand in no file.
    inline: FrozenMap<String, Box<FileId>>,
}

/// Makes of a document what is read of it.
pub(crate) type DocumentReading = fn(Document) -> Result<Document, Diagnostic>;

type Parse = OnceLock<Result<Document, Diagnostic>>;

/// What parsing a file gave, where it was parsed.
#[derive(Debug, Default)]
struct Parsed {
    whole: Parse,
    /// Only what was to be kept.
    part: Parse,
}

impl Files {
    /// No files yet; of each this is read.
    pub(crate) fn reading(reading: Option<DocumentReading>) -> Self {
        Self { reading, ..Self::default() }
    }

    fn read_as(&self, parsed: Result<Document, Diagnostic>) -> Result<Document, Diagnostic> {
        match self.reading {
            Some(reading) => reading(parsed?),
            None => parsed,
        }
    }

    /// The texts that spans point into, in the order of reading.
    pub(crate) fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Holds this text for the file of a path, which is then not read.
    pub(crate) fn add(&self, system: &dyn FileSystem, path: &Path, text: Arc<str>) -> FileId {
        let id = self.sources.add_from(system, path, text);
        self.by_path.insert(normalize(path), Box::new(Ok(id)));
        id
    }

    /// Whether the file of this path was read.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.by_path.get(&normalize(path)).is_some()
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// `file` where it cannot be read or is too large, `syntax` where it is not UTF-8.
    pub(crate) fn read(&self, system: &dyn FileSystem, path: &Path) -> Result<FileId, Diagnostic> {
        let normal = normalize(path);
        if let Some(read) = self.by_path.get(&normal) {
            return read.clone();
        }
        let bytes = read_bytes(system, path).and_then(|bytes| decode(path, bytes));
        let read = bytes.map(|text| self.sources.add_from(system, path, text));
        self.by_path.insert(normal, Box::new(read)).clone()
    }

    /// The text of a file that was read.
    pub(crate) fn text(&self, file: FileId) -> &Arc<str> {
        self.sources.file(file).text()
    }

    /// The whole tree of a file that was read.
    ///
    /// # Errors
    /// `syntax` at its place.
    pub(crate) fn whole(&self, file: FileId) -> Result<&Document, Diagnostic> {
        let parse =
            || self.read_as(yaml::parse(file, Arc::clone(self.text(file)), &Limits::default()));
        self.parsed(file).whole.get_or_init(parse).as_ref().map_err(Clone::clone)
    }

    /// Reads and parses a file.
    ///
    /// # Errors
    /// As [`Files::read`] and [`Files::whole`].
    pub(crate) fn document(
        &self,
        system: &dyn FileSystem,
        path: &Path,
    ) -> Result<&Document, Diagnostic> {
        self.whole(self.read(system, path)?)
    }

    /// Parses a text that stands in no file; `name` is what messages call it.
    ///
    /// # Errors
    /// As [`Files::whole`].
    pub(crate) fn inline(&self, name: &str, text: &str) -> Result<&Document, Diagnostic> {
        let add = || Box::new(self.sources.add(name, text));
        self.whole(*self.inline.insert_with(text.to_owned(), add))
    }

    /// Parses files by all cores, as far as they are not parsed yet: what `keep` says of each, or
    /// the whole where nothing is said.
    pub(crate) fn parse(
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
            // Where another thread was faster, both have the same.
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
    /// The whole serves who wants a part as well.
    fn get(&self, keep: Option<Keep<'_>>) -> Option<&Result<Document, Diagnostic>> {
        self.whole.get().or_else(|| self.part.get().filter(|_| keep.is_some()))
    }
}

/// Reads a whole file.
///
/// # Errors
/// `file` where it cannot be read or is too large.
pub(crate) fn read_bytes(system: &dyn FileSystem, path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let limit = Limits::default().bytes;
    let error = |why: &dyn std::fmt::Display| {
        Diagnostic::error(Code::File, format!("cannot read `{}`: {why}", path.display()))
    };
    // A stream such as `/dev/stdin` has no size to look at; what it gives is measured by the
    // parser.
    if system.size(path).is_ok_and(|size| size > limit) {
        return Err(error(&format!("it is larger than {} MiB", limit >> 20)));
    }
    system.read(path).map_err(|why| match why.kind() {
        ErrorKind::NotFound => error(&why).help_opt(neighbour(system, path)),
        _ => error(&why),
    })
}

/// The file beside whose name was meant, perhaps.
fn neighbour(system: &dyn FileSystem, path: &Path) -> Option<Advice> {
    let directory = path.parent()?;
    let listed = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let beside = system.list(listed).ok()?;
    let names = beside.iter().filter_map(|path| path.file_name()?.to_str());
    let written = path.file_name()?.to_str()?;
    // A link that leads nowhere is listed as well.
    let meant = closest(written, names.filter(|name| *name != written))?;
    Some(format!("did you mean `{}`?", directory.join(meant).display()).into())
}

/// The text that bytes of a file are.
///
/// # Errors
/// `syntax` where they are not UTF-8.
pub(crate) fn decode(path: &Path, bytes: Vec<u8>) -> Result<Arc<str>, Diagnostic> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(why) => {
            let at = why.utf8_error().valid_up_to();
            let message =
                format!("`{}` is not UTF-8: byte {at} starts no character", path.display());
            Err(Diagnostic::error(Code::Syntax, message).help("save the file as UTF-8"))
        }
    }
}
