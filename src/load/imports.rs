//! Reads what a template imports (section 3.6.8), and what that imports: each file once, whatever the ways that lead to it.
//!
//! Nothing is fetched. What is to be had from a URL is read where a local copy is mapped to it; else resolving leaves it to an
//! orchestrator, and validating says so.

use super::mapping::{Mapping, below, file_url, is_profile, is_url};
use super::{Opened, is_yaml, normalize, parse_all, read_text};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity, did_you_mean};
use crate::scope::{Link, Links};
use crate::source::{FileId, FileSystem, SourceMap, Span};
use crate::template::ImportDefinition;
use crate::yaml::{Document, Node};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The section that says what the names of imported files mean.
const SECTION: &str = "3.6.8.2.4";

/// How imports are read.
#[derive(Clone, Copy)]
pub struct Importing<'f> {
    /// Through which the files are read that come with the template.
    pub files: &'f dyn FileSystem,
    /// Through which local copies of what is elsewhere are read.
    pub outside: &'f dyn FileSystem,
    /// Which those are.
    pub mapping: &'f Mapping,
    /// Whether what cannot be had here is an error.
    pub strict: bool,
}

impl Importing<'_> {
    /// Reads the wanted imports of a template, for the types in them; what is in its library is there already.
    ///
    /// A file that does not exist is a `file` error at the import's place; where only a file of the library that nothing imports asks for
    /// it, a warning. `syntax` errors are as everywhere.
    pub fn read<'i>(
        self,
        sources: &mut SourceMap,
        opened: &Opened,
        wanted: impl Iterator<Item = ImportDefinition<'i>>,
        diagnostics: &mut Diagnostics,
    ) -> (Vec<Document>, Links) {
        let path = |document: &Document| normalize(sources.file(document.file()).path());
        let known = opened.library.iter().chain([&opened.template]).map(|document| (path(document), document.file())).collect();
        let library: Vec<_> = opened.library.iter().map(Document::file).collect();
        let left = opened.library.iter().map(|document| (document.file(), document)).collect();
        let links = Links { top: Some(opened.template.file()), library: library.clone(), links: Vec::new() };
        let mut reading = Reading { how: self, sources, known, left, documents: Vec::new(), links };
        let importer = Importer { root: opened.template.root(), directory: &opened.base, outside: false };
        let open = wanted.filter_map(|import| diagnostics.ok(reading.how.target(&importer, import)).flatten()).collect();
        reading.follow(open, diagnostics);
        let mut unasked = Diagnostics::default();
        for file in library {
            let open = reading.of_library(file, &mut unasked);
            reading.follow(open, &mut unasked);
        }
        for mut diagnostic in unasked.0 {
            diagnostic.severity = Severity::Warning;
            diagnostics.push(diagnostic);
        }
        (reading.documents, reading.links)
    }

    /// The file that is imported; nothing where none is, and none is missed.
    fn target(&self, importer: &Importer<'_>, import: ImportDefinition<'_>) -> Result<Option<Target>, Diagnostic> {
        match self.place(importer, &import) {
            Ok(Some((path, outside, optional))) => Ok(Some(Target {
                path,
                outside,
                optional: optional && !self.strict,
                link: Link {
                    from: importer.root.document().file(),
                    to: importer.root.document().file(),
                    prefix: import.prefix.map(str::to_owned),
                    uri: import.uri.map(str::to_owned),
                },
                import: import.item.span(),
            })),
            Err(error) if self.strict => Err(error.at(import.item.span()).section(SECTION)),
            _ => Ok(None),
        }
    }

    /// Where the file is, whether that is elsewhere than the template, and whether resolving goes on without it.
    fn place(&self, importer: &Importer<'_>, import: &ImportDefinition<'_>) -> Result<Option<(PathBuf, bool, bool)>, Diagnostic> {
        let repository = import.repository.map(|name| repository(importer.root, name)).transpose()?;
        let name = match repository {
            Some(address) if !is_url(import.file) => below(address, import.file),
            _ if is_profile(import.file) => return Ok(None),
            _ => import.file.to_owned(),
        };
        let is_elsewhere = is_url(&name);
        if let Some(path) = file_url(&name) {
            return Ok(Some((path, importer.outside, true)));
        }
        let path = importer.directory.join(&name);
        // Without a YAML ending it may be the name of a profile, which only an orchestrator knows.
        let is_foreign = !is_elsewhere && !is_yaml(&path) && !self.of(importer.outside).is_file(&path);
        if !is_elsewhere && !is_foreign {
            return Ok(Some((path, importer.outside, repository.is_some())));
        }
        let mapped = self.mapping.local(&name).map(|path| Some((path, true, false)));
        mapped.ok_or_else(|| {
            let help = format!("name a local copy: `--map {name}=PATH`");
            let message = if is_elsewhere {
                format!("`{name}` is not mapped to a local file, and nothing is fetched")
            } else {
                format!("`{name}` is neither a file nor a profile that is known")
            };
            Diagnostic::error(Code::File, message).help(help)
        })
    }

    fn of(&self, outside: bool) -> &dyn FileSystem {
        if outside { self.outside } else { self.files }
    }
}

/// The address of a repository (section 3.6.6).
fn repository<'a>(root: Node<'a>, name: Node<'_>) -> Result<&'a str, Diagnostic> {
    let name = name.text().unwrap_or_default();
    let all = root.get("repositories");
    let Some(definition) = all.and_then(|all| all.get(name)) else {
        let known = all.into_iter().flat_map(Node::entries).filter_map(|(key, _)| key.text());
        let error = Diagnostic::error(Code::UnknownElement, format!("there is no repository `{name}`"));
        return Err(error.help("define it under `repositories`").help_opt(did_you_mean(name, known)));
    };
    let address = definition.as_str().or_else(|| definition.get("url")?.as_str());
    address.ok_or_else(|| Diagnostic::error(Code::File, format!("the repository `{name}` has no `url`")))
}

/// What imports.
struct Importer<'a> {
    root: Node<'a>,
    /// Where relative names start.
    directory: &'a Path,
    /// Whether it is a local copy of something elsewhere, or came with one.
    outside: bool,
}

/// A file that is imported.
struct Target {
    path: PathBuf,
    outside: bool,
    /// Whether nothing is wrong where there is no such file.
    optional: bool,
    /// Without where it leads.
    link: Link,
    import: Span,
}

struct Reading<'f> {
    how: Importing<'f>,
    sources: &'f mut SourceMap,
    /// The files that were read.
    known: FxHashMap<PathBuf, FileId>,
    /// Files of the library whose imports were not followed yet.
    left: FxHashMap<FileId, &'f Document>,
    documents: Vec<Document>,
    links: Links,
}

impl Reading<'_> {
    /// Reads these files and what they import, wave by wave.
    fn follow(&mut self, mut open: Vec<Target>, diagnostics: &mut Diagnostics) {
        while !open.is_empty() {
            let mut jobs = Vec::new();
            let mut outside = Vec::new();
            let mut next = Vec::new();
            for target in open {
                let path = normalize(&target.path);
                let to = match self.known.get(&path) {
                    Some(known) => *known,
                    None => {
                        let Some(text) = diagnostics.ok(self.text(&target)).flatten() else { continue };
                        let file = self.sources.add(&target.path, Arc::clone(&text));
                        self.known.insert(path, file);
                        jobs.push((file, text));
                        outside.push(target.outside);
                        file
                    }
                };
                next.extend(self.of_library(to, diagnostics));
                self.links.links.push(Link { to, ..target.link });
            }
            for (document, outside) in parse_all(&jobs, |_| false).into_iter().zip(outside) {
                if let Some(document) = diagnostics.ok(document) {
                    next.extend(self.targets(&document, outside, diagnostics));
                    self.documents.push(document);
                }
            }
            open = next;
        }
    }

    fn text(&self, target: &Target) -> Result<Option<Arc<str>>, Diagnostic> {
        let files = self.how.of(target.outside);
        if target.optional && !files.is_file(&target.path) {
            return Ok(None);
        }
        let error =
            |error: Diagnostic| error.at(target.import).help("relative names start at the importing file").section(SECTION);
        read_text(files, &target.path).map(Some).map_err(error)
    }

    /// What a file of the library imports, when it is asked for the first time.
    fn of_library(&mut self, file: FileId, diagnostics: &mut Diagnostics) -> Vec<Target> {
        self.left.remove(&file).map(|document| self.targets(document, false, diagnostics)).unwrap_or_default()
    }

    fn targets(&self, document: &Document, outside: bool, diagnostics: &mut Diagnostics) -> Vec<Target> {
        let directory = self.sources.file(document.file()).path().parent().unwrap_or(Path::new(""));
        let importer = Importer { root: document.root(), directory, outside };
        let targets = ImportDefinition::all(document.root()).map(|import| self.how.target(&importer, import));
        targets.filter_map(|target| diagnostics.ok(target).flatten()).collect()
    }
}

/// What a service template imports from beside itself.
pub fn import_names(root: Node<'_>) -> impl Iterator<Item = &str> {
    let local = ImportDefinition::all(root).filter(|import| import.repository.is_none() && !is_url(import.file));
    local.map(|import| import.file).filter(|file| !is_profile(file))
}
