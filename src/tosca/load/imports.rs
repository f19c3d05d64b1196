//! Reads the imports of a template (section 3.6.8), and their imports in turn. Each file is read
//! once, however many imports lead to it.
//!
//! Nothing is fetched. An import from a URL is read where a local copy is mapped to the URL.
//! Otherwise resolving leaves the import to an orchestrator, and validating reports it.

use super::keys;
use super::mapping::{Mapping, file_url};
use crate::diagnostic::{Advice, Cite, Code, Diagnostic, Diagnostics, Severity, did_you_mean};
use crate::tosca::import::{ImportDefinition, below, is_profile, is_url, repository_address};
use crate::tosca::types::scope::{Link, Links};
use crate::tosca::v2_0;
use cuvee_text::files::Files;
use cuvee_text::source::{FileId, FileSystem, is_yaml, normalize};
use cuvee_text::yaml::{Document, Keep, Node};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// The section that defines what the names of imported files mean.
const SECTION: &str = "3.6.8.2.4";

/// The settings for reading imports.
#[derive(Clone, Copy)]
pub(super) struct Importing<'f> {
    /// The files that were read so far.
    pub texts: &'f Files,
    /// The file system of the files that come with the template.
    pub files: &'f dyn FileSystem,
    /// The file system of the local copies.
    pub outside: &'f dyn FileSystem,
    /// The directory of the package.
    pub root: &'f Path,
    /// The local copies, by the URLs or names that they stand for.
    pub mapping: &'f Mapping,
    /// The parts of an imported file that are kept. `None` keeps everything.
    pub keep: Option<Keep<'f>>,
    /// The file of a profile, and whether it is outside of the package.
    pub profile: &'f dyn Fn(&str) -> Option<(PathBuf, bool)>,
    /// The imports whose lack is an error.
    pub needed: NeededImports,
}

/// The imports that have to be available locally: whose lack is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NeededImports {
    /// Those of files that the template names beside it.
    Files,
    /// Those and profiles.
    Profiles,
    /// All.
    All,
}

/// The imports of a template and of its library.
#[derive(Clone, Debug, Default)]
pub(crate) struct Imported {
    /// The imported files, in the order of reading, without those of the library.
    pub files: Vec<FileId>,
    /// The imports between the files.
    pub links: Links,
    /// The files that are local copies, or that a local copy imports.
    pub copies: Vec<FileId>,
    /// The addresses that local copies stand for, with the copies.
    pub mapped: Vec<(String, FileId)>,
}

/// Reads the wanted imports of the template in this directory, and the imports of those files and
/// of the library.
pub(super) fn read<'f>(
    how: Importing<'f>,
    (template, directory): (&'f Document, &Path),
    library: &[(FileId, &'f Document)],
    wanted: Vec<ImportDefinition<'f>>,
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
        read: Vec::new(),
        waiting: Vec::new(),
        imported: Imported { links, ..Imported::default() },
    };
    let way = ImportWay::default();
    let open = reading.open((template, directory), way, wanted.into_iter(), diagnostics);
    reading.follow(open, diagnostics);
    for &(file, _) in library {
        let open = reading.of_library(file, diagnostics);
        reading.follow(open, diagnostics);
    }
    for WaitingImport { import, directory, way } in std::mem::take(&mut reading.waiting) {
        let root = import.item.document().root();
        let importer = Importer { root, directory: &directory, way, address: None };
        how.ok(how.target(&importer, import), way, diagnostics);
    }
    reading.imported
}

impl Importing<'_> {
    fn needs_all(&self) -> bool {
        self.needed == NeededImports::All
    }

    /// The file that an import leads to. Returns nothing where there is none and none is needed.
    fn target(
        &self,
        importer: &Importer<'_>,
        import: ImportDefinition<'_>,
    ) -> Result<Option<ImportTarget>, Diagnostic> {
        let place = match self.place(importer, &import) {
            // An orchestrator may know the profile, but its types decide what is resolved.
            Err(error) if self.needs_all() || import.is_profile => {
                let error = error.at(import.item.span()).section(SECTION);
                let is_error = self.needed != NeededImports::Files;
                return Err(if is_error { error } else { error.with_severity(Severity::Warning) });
            }
            place => place.ok().flatten(),
        };
        let from = importer.root.document().file();
        let link = Link {
            from,
            to: from,
            span: import.item.span(),
            prefix: import.prefix.map(str::to_owned),
            uri: import.uri.map(str::to_owned),
            is_of_2_0: v2_0::is_of(importer.root.document()),
        };
        Ok(place.map(|place| ImportTarget { place, name: import.file.to_owned(), link }))
    }

    /// The place of an imported file. Returns nothing where no file has to be read, or where the
    /// import is malformed, which is reported elsewhere.
    fn place(
        &self,
        importer: &Importer<'_>,
        import: &ImportDefinition<'_>,
    ) -> Result<Option<ImportPlace>, Diagnostic> {
        let Importer { root, directory, way, address: known } = *importer;
        let ImportWay { outside, .. } = way;
        // That a profile comes from no repository is reported elsewhere.
        let name = match import.repository.filter(|_| !import.is_profile) {
            None if is_profile(import.file) => return Ok(None),
            Some(repository) if !is_url(import.file) => {
                let own = if known.is_some() { known } else { address(root, repository)? };
                match own {
                    Some(address) => below(address, import.file),
                    None => return Ok(None),
                }
            }
            _ => import.file.to_owned(),
        };
        if let Some(path) = file_url(&name) {
            return Ok(Some(ImportPlace { path, way, optional: true, mapped: None }));
        }
        if import.is_profile {
            return self.profile(&name, way).map(Some);
        }
        let path = match name.strip_prefix('/').filter(|_| v2_0::is_of(root.document())) {
            Some(below_root) if !self.through(outside).is_file(Path::new(&name)) => {
                self.root.join(below_root)
            }
            _ => directory.join(&name),
        };
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

    /// The place of a profile: the local copy that its name is mapped to, or else a file that has
    /// the name.
    fn profile(&self, name: &str, way: ImportWay) -> Result<ImportPlace, Diagnostic> {
        let place = |path, outside| ImportPlace {
            path,
            way: ImportWay { outside, ..way },
            optional: false,
            mapped: Some(name.to_owned()),
        };
        if let Some(path) = self.mapping.local(name) {
            return Ok(place(path, true));
        }
        let found = (self.profile)(name).map(|(path, outside)| place(path, outside));
        found.ok_or_else(|| {
            let error = Diagnostic::error(Code::File, format!("the profile `{name}` is not known"));
            error.help(format!(
                "name its file, `--map {name}=PATH`, or a directory with profiles, `--profile-path DIR`"
            ))
        })
    }

    fn through(&self, outside: bool) -> &dyn FileSystem {
        if outside { self.outside } else { self.files }
    }

    /// Reports an error on a way. Where only the library needs the import, the error becomes a
    /// warning, unless all are needed.
    fn ok<T>(
        &self,
        result: Result<T, Diagnostic>,
        way: ImportWay,
        diagnostics: &mut Diagnostics,
    ) -> Option<T> {
        let result = result.map_err(|error| match way.library && !self.needs_all() {
            true => error.with_severity(Severity::Warning),
            false => error,
        });
        diagnostics.ok(result)
    }

    /// Reads a file. Returns nothing where the file does not exist and is not needed.
    fn file(&self, target: &ImportTarget) -> Result<Option<FileId>, Diagnostic> {
        let ImportPlace { path, way, optional, .. } = &target.place;
        let files = self.through(way.outside);
        // An existing path that is neither file nor directory is refused when it is read.
        let is_there = || files.size(path).is_ok() && !files.is_dir(path);
        if (*optional || self.needs_all()) && !files.is_file(path) && !is_there() {
            let named = match target.place.mapped {
                Some(_) => path.to_string_lossy(),
                None => target.name.as_str().into(),
            };
            let error = Diagnostic::error(Code::File, format!("there is no file `{named}`"));
            return if self.needs_all() { Err(target.judge(error)) } else { Ok(None) };
        }
        self.texts.read(files, path).map(Some).map_err(|error| target.judge(error))
    }
}

/// The address of a repository (section 3.6.6), where it has one.
fn address<'a>(root: Node<'a>, name: Node<'_>) -> Result<Option<&'a str>, Diagnostic> {
    let Some(text) = name.as_str() else { return Ok(None) };
    let all = root.get("repositories");
    if all.is_some_and(|all| all.get(text).is_some()) {
        return Ok(repository_address(root, text));
    }
    let known = all.into_iter().flat_map(Node::entries).filter_map(|(key, _)| key.text());
    let error = Diagnostic::error(Code::UnknownElement, format!("there is no repository `{text}`"));
    Err(error.help("define it under `repositories`").help_opt(did_you_mean(text, known)))
}

/// A document that imports others.
struct Importer<'a> {
    root: Node<'a>,
    /// The directory to which relative names refer.
    directory: &'a Path,
    /// How the document itself was reached.
    way: ImportWay,
    /// The address of the import's repository, where another document defines it.
    address: Option<&'a str>,
}

/// An import of TOSCA 2.0 from a repository that another import may bring (section 6.8.1).
struct WaitingImport<'f> {
    import: ImportDefinition<'f>,
    directory: PathBuf,
    way: ImportWay,
}

/// How a file was reached. Its own imports inherit this.
#[derive(Clone, Copy, Default)]
struct ImportWay {
    /// The file is a local copy, or one that a local copy imports.
    outside: bool,
    /// The file belongs to the library, or is one that the library imports.
    library: bool,
}

/// The place of an imported file.
struct ImportPlace {
    path: PathBuf,
    /// How the file is reached.
    way: ImportWay,
    /// Whether resolving can do without the file.
    optional: bool,
    /// The address that the local copy stands for.
    mapped: Option<String>,
}

/// A file that an import leads to.
struct ImportTarget {
    place: ImportPlace,
    /// The name of the file as the import has it.
    name: String,
    /// The link from the importing file, without its destination.
    link: Link,
}

impl ImportTarget {
    fn judge(&self, error: Diagnostic) -> Diagnostic {
        let help: Advice = match &self.place.mapped {
            Some(name) => format!("it is the local copy of `{name}`").into(),
            None => "relative names start at the importing file".into(),
        };
        error.at(self.link.span).section(SECTION).help(help)
    }
}

struct ImportReading<'f> {
    how: Importing<'f>,
    /// The files that were met, by their normalized paths.
    known: FxHashMap<PathBuf, FileId>,
    /// The files of the library whose imports have not been followed yet.
    left: FxHashMap<FileId, &'f Document>,
    /// The imported documents, in the order of reading.
    read: Vec<&'f Document>,
    /// The imports whose repositories are not known yet.
    waiting: Vec<WaitingImport<'f>>,
    imported: Imported,
}

impl<'f> ImportReading<'f> {
    /// Reads these files and their imports in breadth-first order, then those from repositories that
    /// they define.
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
                    self.read.push(document);
                    self.imported.files.push(document.file());
                    self.imported.copies.extend(way.outside.then_some(document.file()));
                }
            }
            open = if next.is_empty() { self.awaited(diagnostics) } else { next };
        }
    }

    /// The imports that waited for a repository which is known by now.
    fn awaited(&mut self, diagnostics: &mut Diagnostics) -> Vec<ImportTarget> {
        let mut found = Vec::new();
        for waiting in std::mem::take(&mut self.waiting) {
            let WaitingImport { import, directory, way } = &waiting;
            let name = import.repository.and_then(Node::as_str).unwrap_or_default();
            // It may begin with the namespaces of imports.
            let own = name.rsplit(':').next().unwrap_or(name);
            let address = self.read.iter().find_map(|it| repository_address(it.root(), own));
            let Some(address) = address else {
                self.waiting.push(waiting);
                continue;
            };
            let root = import.item.document().root();
            let importer = Importer { root, directory, way: *way, address: Some(address) };
            let target = self.how.target(&importer, *import);
            found.extend(self.how.ok(target, *way, diagnostics).flatten());
        }
        found
    }

    /// The imports of a file of the library, when it is reached for the first time.
    fn of_library(&mut self, file: FileId, diagnostics: &mut Diagnostics) -> Vec<ImportTarget> {
        let way = ImportWay { outside: false, library: true };
        self.left
            .remove(&file)
            .map(|document| self.targets(document, way, diagnostics))
            .unwrap_or_default()
    }

    fn targets(
        &mut self,
        document: &'f Document,
        way: ImportWay,
        diagnostics: &mut Diagnostics,
    ) -> Vec<ImportTarget> {
        let sources = self.how.texts.sources();
        let directory = sources.file(document.file()).asked().parent().unwrap_or(Path::new(""));
        let all = ImportDefinition::all(document.root());
        self.open((document, directory), way, all, diagnostics)
    }

    /// The targets of these imports of a document. An import whose repository it does not define
    /// waits for others.
    fn open(
        &mut self,
        (document, directory): (&'f Document, &Path),
        way: ImportWay,
        imports: impl Iterator<Item = ImportDefinition<'f>>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<ImportTarget> {
        let root = document.root();
        let waits = |import: &ImportDefinition<'_>| {
            let is_unknown = import.repository.is_some_and(|name| address(root, name).is_err());
            is_unknown && !import.is_profile && !is_url(import.file) && v2_0::is_of(document)
        };
        let importer = Importer { root, directory, way, address: None };
        let mut found = Vec::new();
        for import in imports {
            if waits(&import) {
                let directory = directory.to_owned();
                self.waiting.push(WaitingImport { import, directory, way });
            } else {
                found.extend(self.how.ok(self.how.target(&importer, import), way, diagnostics));
            }
        }
        found.into_iter().flatten().collect()
    }
}
