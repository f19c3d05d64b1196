//! Reads what a template imports (section 3.6.8), and what that imports: each file once, whatever
//! the ways that lead to it.
//!
//! Nothing is fetched. What is to be had from a URL is read where a local copy is mapped to it;
//! else resolving leaves it to an orchestrator, and validating says so.

use super::keys;
use super::mapping::{Mapping, file_url};
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, Severity, did_you_mean};
use crate::text::files::Files;
use crate::text::source::{FileId, FileSystem, is_yaml, normalize};
use crate::text::yaml::{Document, Keep, Node};
use crate::tosca::import::{ImportDefinition, below, is_profile, is_url, repository_address};
use crate::tosca::types::scope::{Link, Links};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// The section that says what the names of imported files mean.
const SECTION: &str = "3.6.8.2.4";

/// How imports are read.
#[derive(Clone, Copy)]
pub(super) struct Importing<'f> {
    /// What was read so far.
    pub texts: &'f Files,
    /// Through which the files are read that come with the template.
    pub files: &'f dyn FileSystem,
    /// Through which local copies of what is elsewhere are read.
    pub outside: &'f dyn FileSystem,
    /// Which those are.
    pub mapping: &'f Mapping,
    /// What of an imported file is kept.
    pub keep: Option<Keep<'f>>,
    /// Whether what cannot be had here is an error.
    pub strict: bool,
}

/// What a template imports, and its library.
#[derive(Clone, Debug, Default)]
pub(crate) struct Imported {
    /// The files, in the order of reading, without those of the library.
    pub files: Vec<FileId>,
    /// Which file imports which.
    pub links: Links,
    /// Those that are local copies of what is elsewhere, or came with one.
    pub copies: Vec<FileId>,
    /// The addresses that copies stand for.
    pub mapped: Vec<(String, FileId)>,
}

/// Reads what a template imports that lies in this directory, and what that and the library
/// import.
pub(super) fn read<'i>(
    how: Importing<'_>,
    (template, directory): (&Document, &Path),
    library: &[(FileId, &Document)],
    wanted: impl Iterator<Item = ImportDefinition<'i>>,
    diagnostics: &mut Diagnostics,
) -> Imported {
    let sources = how.texts.sources();
    let path = |file: FileId| normalize(sources.file(file).asked());
    let known = library.iter().map(|&(file, _)| file).chain([template.file()]);
    let links = Links {
        top: Some(template.file()),
        library: library.iter().map(|&(file, _)| file).collect(),
        links: Vec::new(),
    };
    let mut reading = ImportReading {
        how,
        known: known.map(|file| (path(file), file)).collect(),
        left: library.iter().copied().collect(),
        imported: Imported { links, ..Imported::default() },
    };
    let importer = Importer { root: template.root(), directory, way: ImportWay::default() };
    let open = wanted
        .filter_map(|import| diagnostics.ok(how.target(&importer, import)).flatten())
        .collect();
    reading.follow(open, diagnostics);
    for &(file, _) in library {
        let open = reading.of_library(file, diagnostics);
        reading.follow(open, diagnostics);
    }
    reading.imported
}

impl Importing<'_> {
    /// The file that is imported; nothing where none is, and none is missed.
    fn target(
        &self,
        importer: &Importer<'_>,
        import: ImportDefinition<'_>,
    ) -> Result<Option<ImportTarget>, Diagnostic> {
        let place = match self.place(importer, &import) {
            Err(error) if self.strict => return Err(error.at(import.item.span()).section(SECTION)),
            place => place.ok().flatten(),
        };
        let from = importer.root.document().file();
        let link = Link {
            from,
            to: from,
            span: import.item.span(),
            prefix: import.prefix.map(str::to_owned),
            uri: import.uri.map(str::to_owned),
        };
        Ok(place.map(|place| ImportTarget { place, name: import.file.to_owned(), link }))
    }

    /// Where a file is; nothing where nothing has to be read, or where the grammar is wrong
    /// already.
    fn place(
        &self,
        importer: &Importer<'_>,
        import: &ImportDefinition<'_>,
    ) -> Result<Option<ImportPlace>, Diagnostic> {
        let Importer { root, directory, way } = *importer;
        let ImportWay { outside, .. } = way;
        let name = match import.repository {
            None if is_profile(import.file) => return Ok(None),
            Some(repository) if !is_url(import.file) => match address(root, repository)? {
                Some(address) => below(address, import.file),
                None => return Ok(None),
            },
            _ => import.file.to_owned(),
        };
        if let Some(path) = file_url(&name) {
            return Ok(Some(ImportPlace { path, way, optional: true, mapped: None }));
        }
        let path = directory.join(&name);
        // Without a YAML ending it may be the name of a profile, which only an orchestrator knows.
        if !is_url(&name) && (is_yaml(&path) || self.through(outside).is_file(&path)) {
            let optional = import.repository.is_some();
            return Ok(Some(ImportPlace { path, way, optional, mapped: None }));
        }
        let way = ImportWay { outside: true, ..way };
        let mapped = self.mapping.local(&name);
        let place = |path| ImportPlace { path, way, optional: false, mapped: Some(name.clone()) };
        mapped.map(|path| Some(place(path))).ok_or_else(|| {
            let why = if is_url(&name) {
                "is not mapped to a local file, and nothing is fetched"
            } else {
                "is neither a file nor a profile that is known"
            };
            let error = Diagnostic::error(Code::File, format!("`{name}` {why}"));
            error.help(format!("name a local copy: `--map {name}=PATH`"))
        })
    }

    fn through(&self, outside: bool) -> &dyn FileSystem {
        if outside { self.outside } else { self.files }
    }

    /// Reports what went wrong on a way. What only the library asks for is a warning, unless
    /// everything is to be had.
    fn ok<T>(
        &self,
        result: Result<T, Diagnostic>,
        way: ImportWay,
        diagnostics: &mut Diagnostics,
    ) -> Option<T> {
        let result = result.map_err(|error| match way.library && !self.strict {
            true => Diagnostic { severity: Severity::Warning, ..error },
            false => error,
        });
        diagnostics.ok(result)
    }

    /// Reads a file; nothing where there is no such file, and none is needed.
    fn file(&self, target: &ImportTarget) -> Result<Option<FileId>, Diagnostic> {
        let ImportPlace { path, way, optional, .. } = &target.place;
        let files = self.through(way.outside);
        // What is there and no file is refused when it is read.
        let is_there = || files.size(path).is_ok() && !files.is_dir(path);
        if (*optional || self.strict) && !files.is_file(path) && !is_there() {
            let error =
                Diagnostic::error(Code::File, format!("there is no file `{}`", target.name));
            return if self.strict { Err(target.judge(error)) } else { Ok(None) };
        }
        self.texts.read(files, path).map(Some).map_err(|error| target.judge(error))
    }
}

/// The address of a repository (section 3.6.6), where it has one.
fn address<'a>(root: Node<'a>, name: Node<'_>) -> Result<Option<&'a str>, Diagnostic> {
    let Some(text) = name.as_str() else { return Ok(None) };
    let all = root.get("repositories");
    if all.is_some_and(|all| all.get(text).is_some()) {
        return Ok(repository_address(root, name));
    }
    let known = all.into_iter().flat_map(Node::entries).filter_map(|(key, _)| key.text());
    let error = Diagnostic::error(Code::UnknownElement, format!("there is no repository `{text}`"));
    Err(error.help("define it under `repositories`").help_opt(did_you_mean(text, known)))
}

/// What imports.
struct Importer<'a> {
    root: Node<'a>,
    /// Where relative names start.
    directory: &'a Path,
    /// How it was come by.
    way: ImportWay,
}

/// How a file was come by, which counts for what it imports as well.
#[derive(Clone, Copy, Default)]
struct ImportWay {
    /// It is a local copy of something elsewhere, or came with one.
    outside: bool,
    /// It is of the library, or came with that.
    library: bool,
}

/// Where an imported file is.
struct ImportPlace {
    path: PathBuf,
    /// How it is come by.
    way: ImportWay,
    /// Whether resolving does without it.
    optional: bool,
    /// The address that it stands for.
    mapped: Option<String>,
}

/// A file that is imported.
struct ImportTarget {
    place: ImportPlace,
    /// As it is written.
    name: String,
    /// Without where it leads.
    link: Link,
}

impl ImportTarget {
    fn judge(&self, error: Diagnostic) -> Diagnostic {
        let help = if self.place.way.outside {
            "it has a local copy, which is mapped"
        } else {
            "relative names start at the importing file"
        };
        error.at(self.link.span).section(SECTION).help(help)
    }
}

struct ImportReading<'f> {
    how: Importing<'f>,
    /// The files that were met.
    known: FxHashMap<PathBuf, FileId>,
    /// Files of the library whose imports have not been followed yet.
    left: FxHashMap<FileId, &'f Document>,
    imported: Imported,
}

impl ImportReading<'_> {
    /// Reads these files and what they import, wave by wave.
    fn follow(&mut self, mut open: Vec<ImportTarget>, diagnostics: &mut Diagnostics) {
        while !open.is_empty() {
            let mut new = Vec::new();
            let mut ways = Vec::new();
            let mut next = Vec::new();
            for target in open {
                let path = normalize(&target.place.path);
                let to = match self.known.get(&path) {
                    Some(known) => *known,
                    None => {
                        let read = self.how.file(&target);
                        let read = self.how.ok(read, target.place.way, diagnostics);
                        let Some(file) = read.flatten() else { continue };
                        self.known.insert(path, file);
                        new.push((file, self.how.keep));
                        ways.push(target.place.way);
                        file
                    }
                };
                next.extend(self.of_library(to, diagnostics));
                self.imported.mapped.extend(target.place.mapped.map(|address| (address, to)));
                self.imported.links.links.push(Link { to, ..target.link });
            }
            for (document, way) in self.how.texts.parse(&new).into_iter().zip(ways) {
                if let Some(document) = self.how.ok(keys::judged(document), way, diagnostics) {
                    next.extend(self.targets(document, way, diagnostics));
                    self.imported.files.push(document.file());
                    self.imported.copies.extend(way.outside.then_some(document.file()));
                }
            }
            open = next;
        }
    }

    /// What a file of the library imports, when it is asked for the first time.
    fn of_library(&mut self, file: FileId, diagnostics: &mut Diagnostics) -> Vec<ImportTarget> {
        let way = ImportWay { outside: false, library: true };
        self.left
            .remove(&file)
            .map(|document| self.targets(document, way, diagnostics))
            .unwrap_or_default()
    }

    fn targets(
        &self,
        document: &Document,
        way: ImportWay,
        diagnostics: &mut Diagnostics,
    ) -> Vec<ImportTarget> {
        let sources = self.how.texts.sources();
        let directory = sources.file(document.file()).asked().parent().unwrap_or(Path::new(""));
        let importer = Importer { root: document.root(), directory, way };
        let targets =
            ImportDefinition::all(document.root()).map(|import| self.how.target(&importer, import));
        targets.filter_map(|target| self.how.ok(target, way, diagnostics).flatten()).collect()
    }
}
