//! Reads and parses each file only once, however often it is asked for.

use super::diagnostic::{Advice, CodeName, Diagnostic, closest};
use super::kept::{KeptDocuments, KeptReading};
use super::source::{FileId, FileSystem, SourceMap, SourceText, Span, normalize};
use super::yaml::{self, Document, Job, Keep, Limits};
use elsa::sync::FrozenMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;
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
    /// The documents of runs before this one.
    kept: Option<Arc<KeptDocuments>>,
    /// The documents that are in no file, by their names and texts.
    inline: FrozenMap<String, Box<FileId>>,
    /// For documents that are answers, where they were asked for.
    askers: FrozenMap<FileId, Box<Span>>,
}

/// A function that changes a document after it was parsed.
pub type DocumentReading = fn(Document) -> Document;

type Parse = OnceLock<Result<Arc<Document>, Diagnostic>>;

/// The parsed document of a file, as far as it was parsed.
#[derive(Debug, Default)]
struct Parsed {
    whole: Parse,
    /// The document with only the entries that were to be kept.
    part: Parse,
}

impl Files {
    /// Creates an empty collection. Every parsed document goes through `reading`.
    pub fn reading(reading: DocumentReading) -> Self {
        Self { reading: Some(reading), ..Self::default() }
    }

    /// The same, which takes documents that are kept, and keeps those that it parses.
    pub fn keeping(self, kept: Option<Arc<KeptDocuments>>) -> Self {
        kept.iter().for_each(|kept| kept.begin());
        Self { kept, ..self }
    }

    /// Takes over a document that was parsed.
    fn read_as(
        &self,
        parsed: Result<Document, Diagnostic>,
        is_part: bool,
    ) -> Result<Arc<Document>, Diagnostic> {
        let document = match self.reading {
            Some(reading) => parsed.map(reading),
            None => parsed,
        };
        let document = Arc::new(document?);
        if let Some(kept) = &self.kept {
            let path = self.sources.file(document.file()).path();
            kept.keep(path, self.how(is_part), &document);
        }
        Ok(document)
    }

    fn how(&self, is_part: bool) -> KeptReading {
        KeptReading { is_changed: self.reading.is_some(), is_part }
    }

    /// The document of a file that another run has parsed.
    fn kept(&self, file: FileId, is_part: bool) -> Option<Arc<Document>> {
        let (kept, source) = (self.kept.as_ref()?, self.sources.file(file));
        kept.get(file, source.path(), source.text(), self.how(is_part))
    }

    /// The texts that spans point into, in the order in which they were read.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Sets the text of a file, which is then not read.
    pub fn add(&self, system: &dyn FileSystem, path: &Path, text: SourceText) -> FileId {
        let id = self.sources.add_from(system, path, self.shared(system, path, text));
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
        let read = read_bytes(system, path).and_then(|bytes| match String::from_utf8(bytes) {
            Ok(text) => Ok(self.sources.add_from(system, path, self.shared(system, path, text))),
            Err(why) => {
                let (text, at, wrong) = undecoded(&why);
                let file = self.sources.add_from(system, path, text);
                Err(wrong.at(Span { file, start: at, end: at }))
            }
        });
        self.by_path.insert(normal, Box::new(read)).clone()
    }

    /// The text of a file: that of a document that is kept, if it is the same.
    fn shared(
        &self,
        system: &dyn FileSystem,
        path: &Path,
        text: impl AsRef<str> + Into<SourceText>,
    ) -> SourceText {
        let readings = [true, false].map(|is_part| self.how(is_part));
        let same =
            |kept: &Arc<KeptDocuments>| kept.text(&system.place(path), text.as_ref(), readings);
        self.kept.as_ref().and_then(same).unwrap_or_else(|| text.into())
    }

    /// The text of a file that was read.
    pub fn text(&self, file: FileId) -> &SourceText {
        self.sources.file(file).text()
    }

    /// Parses the whole text of a file that was read.
    ///
    /// # Errors
    /// Returns a diagnostic `syntax` with its place.
    pub fn whole(&self, file: FileId) -> Result<&Document, Diagnostic> {
        let parse = || match self.kept(file, false) {
            Some(document) => Ok(document),
            None => {
                let text = self.text(file).clone();
                self.read_as(yaml::parse(file, text, &Limits::default()), false)
            }
        };
        shared(self.parsed(file).whole.get_or_init(parse))
    }

    /// The document of a file as far as it was parsed; none where it was not, or could not be.
    pub fn known(&self, file: FileId) -> Option<&Document> {
        let Parsed { whole, part } = self.documents.get(&file)?;
        whole.get().or_else(|| part.get())?.as_deref().ok()
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
        self.whole(*self.inline.insert_with(format!("{name}\0{text}"), add))
    }

    /// Parses a text that answers what is asked for at a place in a file.
    ///
    /// # Errors
    /// As [`Files::inline`].
    pub fn answer(&self, name: &str, text: &str, asker: Span) -> Result<&Document, Diagnostic> {
        let answer = self.inline(name, text)?;
        self.askers.insert(answer.file(), Box::new(asker));
        Ok(answer)
    }

    /// Moves diagnostics about answers to where these were asked for.
    pub fn place_at_askers(&self, diagnostics: &mut [Diagnostic]) {
        for found in diagnostics {
            let Some(span) = found.span else { continue };
            if let Some(&asker) = self.askers.get(&span.file) {
                *found = found.clone().at(asker).label(span, "this answer");
            }
        }
    }

    /// Parses files on all cores, unless they are parsed already. Each comes with a filter `keep`
    /// of its entries; where there is none, the whole file is parsed.
    pub fn parse(
        &self,
        files: &[(FileId, Option<Keep<'_>>)],
    ) -> Vec<Result<&Document, Diagnostic>> {
        let open = files.iter().filter(|(file, keep)| !self.has_parsed(*file, keep.is_some()));
        let open: Vec<_> = open.map(|&(file, keep)| (keep.is_none(), file, keep)).collect();
        let jobs: Vec<_> = open
            .iter()
            .map(|&(_, file, keep)| Job { file, text: self.text(file).clone(), keep })
            .collect();
        for (&(whole, file, _), document) in
            open.iter().zip(yaml::parse_all(&jobs, &Limits::default()))
        {
            let parsed = self.parsed(file);
            // If another thread was faster, its document is the same.
            let document = self.read_as(document, !whole);
            let _ = if whole { &parsed.whole } else { &parsed.part }.set(document);
        }
        let document =
            |&(file, keep): &(FileId, Option<Keep<'_>>)| match self.parsed(file).get(keep) {
                Some(parsed) => shared(parsed),
                None => self.whole(file),
            };
        files.iter().map(document).collect()
    }

    /// Whether a file was parsed, by this run or another one.
    fn has_parsed(&self, file: FileId, is_part: bool) -> bool {
        let parsed = self.parsed(file);
        let place = if is_part { &parsed.part } else { &parsed.whole };
        let is_there = parsed.whole.get().is_some() || place.get().is_some();
        is_there || self.kept(file, is_part).is_some_and(|kept| place.set(Ok(kept)).is_ok())
    }

    fn parsed(&self, file: FileId) -> &Parsed {
        let known = self.documents.get(&file);
        known.unwrap_or_else(|| self.documents.insert_with(file, Box::default))
    }
}

impl Parsed {
    /// The parsed document. The whole document also serves callers that need only a part.
    fn get(&self, keep: Option<Keep<'_>>) -> Option<&Result<Arc<Document>, Diagnostic>> {
        self.whole.get().or_else(|| self.part.get().filter(|_| keep.is_some()))
    }
}

fn shared(parsed: &Result<Arc<Document>, Diagnostic>) -> Result<&Document, Diagnostic> {
    parsed.as_ref().map(|document| &**document).map_err(Clone::clone)
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
pub fn decode(path: &Path, bytes: Vec<u8>) -> Result<SourceText, Diagnostic> {
    String::from_utf8(bytes).map(SourceText::from).map_err(|why| {
        let (_, _, mut wrong) = undecoded(&why);
        wrong.message = format!("`{}`: {}", path.display(), wrong.message);
        wrong
    })
}

/// The beginnings of files in other encodings than UTF-8, whether they have a byte order mark or
/// begin like a document of XML. Longer ones come before those that they begin with.
const ENCODINGS: [(&[u8], &str); 9] = [
    (&[0xFF, 0xFE, 0, 0], UTF_32),
    (&[0, 0, 0xFE, 0xFF], UTF_32),
    (&[b'<', 0, 0, 0], UTF_32),
    (&[0, 0, 0, b'<'], UTF_32),
    (&[0xFF, 0xFE], UTF_16),
    (&[0xFE, 0xFF], UTF_16),
    (&[b'<', 0], UTF_16),
    (&[0, b'<'], UTF_16),
    (&[0x4C, 0x6F, 0xA7, 0x94], "EBCDIC"),
];

const UTF_16: &str = "UTF-16";
const UTF_32: &str = "UTF-32";

/// The encoding of a file, if its first bytes show that it is another one than UTF-8.
pub fn other_encoding(bytes: &[u8]) -> Option<&'static str> {
    ENCODINGS.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, name)| *name)
}

/// The text of a file in UTF-16, as far as it can be read.
pub fn text_of_utf_16(bytes: &[u8]) -> Option<String> {
    if other_encoding(bytes) != Some(UTF_16) {
        return None;
    }
    let is_big = matches!(bytes, [0xFE, ..] | [0, ..]);
    let unit = |pair: &[u8]| match (pair, is_big) {
        (&[high, low], true) | (&[low, high], false) => u16::from_be_bytes([high, low]),
        _ => u16::from(b'?'),
    };
    let units: Vec<_> = bytes.chunks(2).map(unit).collect();
    Some(String::from_utf16_lossy(&units).trim_start_matches('\u{feff}').to_owned())
}

/// A text to show of bytes that are not UTF-8, the place in it where they are wrong, and the error.
fn undecoded(why: &FromUtf8Error) -> (String, u32, Diagnostic) {
    let (bytes, at) = (why.as_bytes(), why.utf8_error().valid_up_to());
    let error = |message: String| Diagnostic::error(CodeName::SYNTAX, message);
    if let Some(encoding) = other_encoding(bytes) {
        let wrong = error(format!("the file is written in {encoding}, not in UTF-8"));
        let text = text_of_utf_16(bytes).unwrap_or_default();
        return (text, 0, wrong.help("save it as UTF-8, and if it names its encoding, as that"));
    }
    let text = String::from_utf8_lossy(bytes).into_owned();
    let byte = bytes.get(at).copied().unwrap_or_default();
    let wrong = error(format!("the file is not UTF-8: the byte {byte:02X} starts no character"));
    (text, u32::try_from(at).unwrap_or(u32::MAX), wrong.help("save the file as UTF-8"))
}
