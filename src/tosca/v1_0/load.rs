//! Loads documents of TOSCA 1.0: a file with its imports, or all documents of an archive or of a
//! directory.

use super::read;
use super::rule::{DEFINITIONS, TOSCA};
use super::structure::{self, by};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::csar::{
    Archive, Limits, META, META_DIRECTORY, Meta, check_definitions, has_template, is_archive,
    is_pattern, matches_pattern,
};
use crate::tosca::xml_schema::XML_SCHEMA;
use cuvee_text::files::{Files, other_encoding, read_bytes, text_of_utf_16};
use cuvee_text::source::{FileId, FileSystem, MemoryFiles, SourceMap, SourceText, Span, normalize};
use cuvee_text::xml::{self, XmlDocument, XmlElement, XmlLimits};
use memchr::memmem;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The directory in which an archive keeps its definitions.
const DEFINITIONS_DIRECTORY: &str = "Definitions";

/// The number of bytes that show whether a file is XML.
const START: usize = 1 << 10;

/// How many definitions are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefinitionsExtent {
    /// One file with its imports.
    File,
    /// All files of an archive or of a directory, as one library.
    Repository,
}

/// Documents that were read.
pub(crate) struct LoadedDefinitions {
    pub extent: DefinitionsExtent,
    pub documents: Vec<XmlDocument>,
    /// Schemas in separate files. Each comes with the namespace that applies if the schema declares
    /// none.
    pub schemas: Vec<(XmlDocument, String)>,
    /// The errors in reading, and in the structure of documents.
    pub found: Diagnostics,
    pub sources: SourceMap,
    /// The documents that imports lead to, by the place of the import.
    imported: FxHashMap<(FileId, u32), usize>,
    system: Arc<dyn FileSystem + Send>,
    /// The root directory of an archive or a repository.
    root: Option<PathBuf>,
}

/// Loads the definitions at a path. Returns nothing where the path does not lead to TOSCA 1.0.
pub(crate) fn load(system: &Arc<dyn FileSystem + Send>, path: &Path) -> Option<LoadedDefinitions> {
    if system.is_dir(path) {
        return all(system, path);
    }
    if !is_archive(path) {
        // The reader of templates reports a file that cannot be read.
        let start = system.read_start(path, START).ok()?;
        return is_xml(&start).then(|| one(system, path));
    }
    // The reader of templates also reports an archive that is refused.
    let archive = Archive::open(&**system, path, &Limits::default()).ok()?;
    let root = archive.root().to_owned();
    let system: Arc<dyn FileSystem + Send> = Arc::new(archive);
    all(&system, &root)
}

/// Whether a file is XML, in whatever encoding.
fn is_xml(bytes: &[u8]) -> bool {
    let start = bytes.get(..bytes.len().min(START)).unwrap_or_default();
    match other_encoding(start) {
        Some(_) => text_of_utf_16(start).is_none_or(|text| xml::is_xml(&text)),
        None => xml::is_xml(&String::from_utf8_lossy(start)),
    }
}

/// Whether a file is meant to contain definitions.
fn is_meant(system: &dyn FileSystem, path: &Path) -> bool {
    let Ok(bytes) = read_bytes(system, path) else { return false };
    // Of a file in an encoding that cannot be read, only its name says what it is.
    if other_encoding(&bytes).is_some() && text_of_utf_16(&bytes).is_none() {
        return path.extension().is_some_and(|it| it.eq_ignore_ascii_case("tosca"));
    }
    let bytes = text_of_utf_16(&bytes).map_or(bytes, String::into_bytes);
    is_xml(&bytes)
        && memmem::find(&bytes, TOSCA.as_bytes()).is_some()
        && memmem::find(&bytes, DEFINITIONS.name.as_bytes()).is_some()
}

/// The files of a directory that may contain definitions, sorted. Files that an archive declares as
/// something else are left out.
fn repository(system: &dyn FileSystem, root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        let is_definitions = directory.file_name().is_some_and(|it| it == DEFINITIONS_DIRECTORY);
        for path in system.list(&directory).unwrap_or_default() {
            let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            if name.starts_with('.') || system.is_link(&path) || path == root.join(META) {
                continue;
            }
            if system.is_dir(&path) {
                open.push(path);
                continue;
            }
            let extension = path.extension().map(|it| it.to_string_lossy().to_ascii_lowercase());
            let is_likely = matches!(extension.as_deref(), Some("tosca" | "xml" | "definitions"));
            if (is_definitions || is_likely) && is_meant(system, &path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Loads all files of a directory or of an archive as one library. Returns nothing where there are
/// none, or where the directory has a YAML template.
fn all(system: &Arc<dyn FileSystem + Send>, root: &Path) -> Option<LoadedDefinitions> {
    if has_template(&**system, root) {
        return None;
    }
    let files = repository(&**system, root);
    if files.is_empty() {
        return None;
    }
    let mut loading = Loading::new(system, Some(root));
    for file in files {
        loading.read(&file, false);
    }
    if system.is_dir(&root.join(META_DIRECTORY)) {
        loading.archive(root);
    }
    Some(loading.follow(DefinitionsExtent::Repository))
}

/// Loads one file with its imports.
fn one(system: &Arc<dyn FileSystem + Send>, path: &Path) -> LoadedDefinitions {
    let mut loading = Loading::new(system, None);
    loading.read(path, false);
    loading.follow(DefinitionsExtent::File)
}

/// Loads definitions that were just written, without checking their structure. They are in no file.
pub(crate) fn load_written<'t>(
    main: &str,
    texts: impl Iterator<Item = (&'t str, SourceText)>,
) -> LoadedDefinitions {
    let (names, texts): (Vec<_>, Vec<_>) = texts.map(|it| (it.0, it)).unzip();
    let names: MemoryFiles = names.into_iter().map(|name| (name, "")).collect();
    let system: Arc<dyn FileSystem + Send> = Arc::new(names);
    let mut loading = Loading { is_checked: false, ..Loading::new(&system, None) };
    for (name, text) in texts {
        loading.files.add(&*system, Path::new(name), text);
    }
    loading.read(Path::new(main), false);
    loading.follow(DefinitionsExtent::File)
}

struct Loading {
    /// Whether the structure of documents is checked.
    is_checked: bool,
    system: Arc<dyn FileSystem + Send>,
    root: Option<PathBuf>,
    files: Files,
    documents: Vec<XmlDocument>,
    by_path: FxHashMap<PathBuf, Option<usize>>,
    schemas: Vec<(XmlDocument, String)>,
    schema_paths: FxHashSet<PathBuf>,
    found: Diagnostics,
}

impl Loading {
    fn new(system: &Arc<dyn FileSystem + Send>, root: Option<&Path>) -> Self {
        Self {
            is_checked: true,
            system: Arc::clone(system),
            root: root.map(Path::to_owned),
            files: Files::default(),
            documents: Vec::new(),
            by_path: FxHashMap::default(),
            schemas: Vec::new(),
            schema_paths: FxHashSet::default(),
            found: Diagnostics::default(),
        }
    }

    /// Reads a document once. A document that is only imported may be something else than
    /// definitions, and is then left out.
    fn read(&mut self, path: &Path, is_import: bool) -> Option<usize> {
        let normal = normalize(path);
        if let Some(known) = self.by_path.get(&normal) {
            return *known;
        }
        let document = self.parse(path);
        let meant = document.filter(|it| !is_import || read::is_definitions(it.root()));
        let known = meant.map(|document| {
            if self.is_checked {
                structure::check(&document, &mut self.found);
            }
            self.documents.push(document);
            self.documents.len() - 1
        });
        self.by_path.insert(normal, known);
        known
    }

    fn parse(&mut self, path: &Path) -> Option<XmlDocument> {
        let read = self.files.read(&*self.system, path).map_err(Diagnostics::from);
        let parsed = read.and_then(|file| {
            let text = self.files.text(file).clone();
            xml::parse(file, text, &XmlLimits::default())
        });
        parsed.map_err(|mut errors| self.found.0.append(&mut errors.0)).ok()
    }

    /// Checks an archive apart from its documents (section 16).
    fn archive(&mut self, root: &Path) {
        let by = |found: Diagnostic| found.rule(by("16.2"));
        let file = match self.files.read(&*self.system, &root.join(META)) {
            Ok(file) => file,
            Err(error) => return self.found.push(by(error)),
        };
        let mut found = Diagnostics::default();
        let entry = check_definitions(file, self.files.text(file), &mut found);
        let is_read = |path: &Path| self.by_path.get(&normalize(path)).copied().flatten().is_some();
        let is_there = |name: &str| spellings(name).iter().any(|name| is_read(&root.join(name)));
        if let Some(entry) = entry.filter(|entry| !is_there(&entry.name)) {
            let message = format!(
                "the entry `{}` is not a document of definitions in this archive",
                entry.name
            );
            found.push(Diagnostic::error(Code::Csar, message).at(entry.span));
        }
        if !self.system.is_dir(&root.join(DEFINITIONS_DIRECTORY)) {
            let message = format!("there is no directory `{DEFINITIONS_DIRECTORY}`");
            let at = Span { file, start: 0, end: 0 };
            found.push(Diagnostic::warning(Code::Csar, message).at(at));
        }
        self.found.0.extend(found.0.into_iter().map(by));
    }

    /// Reads all imports, directly and indirectly.
    fn follow(mut self, extent: DefinitionsExtent) -> LoadedDefinitions {
        let mut imported = FxHashMap::default();
        let mut next = 0;
        while next < self.documents.len() {
            for import in imports(&self.documents[next], self.files.sources()) {
                if let Some(document) = self.import(&import) {
                    imported.insert(import.place, document);
                }
            }
            next += 1;
        }
        self.follow_schemas();
        LoadedDefinitions {
            extent,
            documents: self.documents,
            schemas: self.schemas,
            found: self.found,
            sources: self.files.sources().clone(),
            imported,
            system: self.system,
            root: self.root,
        }
    }

    /// Reads the imported schemas, and the schemas that these import.
    fn follow_schemas(&mut self) {
        let sources = self.files.sources();
        let mut open: Vec<_> =
            self.documents.iter().flat_map(|document| schema_imports(document, sources)).collect();
        while let Some((import, namespace)) = open.pop() {
            let Some(path) = self.find(&import) else { continue };
            if !self.schema_paths.insert(path.clone()) {
                continue;
            }
            let Some(document) = self.parse(&path).filter(|it| read::is_schema(it.root())) else {
                continue;
            };
            let directory = directory_of(&document, self.files.sources());
            open.extend(schema_references(document.root(), &directory, &namespace));
            self.schemas.push((document, namespace));
        }
    }

    fn import(&mut self, import: &XmlImport) -> Option<usize> {
        let path = self.find(import)?;
        self.read(&path, true)
    }

    /// The file that an import leads to.
    fn find(&mut self, import: &XmlImport) -> Option<PathBuf> {
        if import.location.contains("://") {
            return None;
        }
        let found = import.paths(self.root.as_deref()).find(|path| self.system.is_file(path));
        if found.is_none() {
            let message = format!("there is no file `{}`", import.location);
            let warning = Diagnostic::warning(Code::File, message).at(import.span).rule(by("4.2"));
            self.found.push(warning.help("a location starts at the file that imports"));
        }
        found
    }
}

/// An import in a document.
struct XmlImport {
    place: (FileId, u32),
    location: String,
    span: Span,
    directory: PathBuf,
}

impl XmlImport {
    /// The paths that the import may mean, in order of precedence.
    fn paths(&self, root: Option<&Path>) -> impl Iterator<Item = PathBuf> {
        let names = spellings(&self.location);
        let bases: Vec<_> =
            std::iter::once(self.directory.clone()).chain(root.map(Path::to_owned)).collect();
        bases.into_iter().flat_map(move |base| {
            names.clone().into_iter().map(move |name| normalize(&base.join(name)))
        })
    }
}

/// The spellings of a path that a reference may mean. Authors encode names once, not at all, or
/// twice.
fn spellings(reference: &str) -> [String; 3] {
    let decode =
        |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let once = decode(reference);
    let twice = decode(&once);
    [once, reference.to_owned(), twice]
}

fn imports(document: &XmlDocument, sources: &SourceMap) -> Vec<XmlImport> {
    let directory = directory_of(document, sources);
    let root = Some(document.root()).filter(|root| read::is_definitions(*root));
    let located = root.into_iter().flat_map(read::imports).filter_map(|import| {
        let is_definitions = import.import_type.is_none_or(|said| said.text == TOSCA);
        let location = import.location.filter(|_| is_definitions)?;
        Some(XmlImport {
            place: (document.file(), import.span.start),
            location: location.text.into_owned(),
            span: location.span,
            directory: directory.clone(),
        })
    });
    located.collect()
}

fn directory_of(document: &XmlDocument, sources: &SourceMap) -> PathBuf {
    let path = sources.file(document.file()).path();
    path.parent().unwrap_or(Path::new("")).to_owned()
}

/// The schemas that definitions import, and the schemas that inline schemas import. Each comes with
/// the namespace that applies if the schema declares none.
fn schema_imports(document: &XmlDocument, sources: &SourceMap) -> Vec<(XmlImport, String)> {
    let (directory, root) = (directory_of(document, sources), document.root());
    let imports = read::imports(root).filter_map(|import| {
        let is_schema = import.import_type.as_ref().is_some_and(|said| said.text == XML_SCHEMA);
        let location = import.location.filter(|_| is_schema)?;
        let namespace = import.namespace.map(|said| said.text.into_owned()).unwrap_or_default();
        let (location, span) = (location.text.into_owned(), location.span);
        let place = (span.file, span.start);
        Some((XmlImport { place, location, span, directory: directory.clone() }, namespace))
    });
    let own = root.attribute("targetNamespace").map(|it| it.collapsed()).unwrap_or_default();
    let inside = read::schemas(root);
    let inside = inside.flat_map(|schema| schema_references(schema, &directory, &own));
    imports.chain(inside).collect()
}

/// The schemas that a schema includes or imports.
fn schema_references(
    root: XmlElement<'_>,
    directory: &Path,
    namespace: &str,
) -> Vec<(XmlImport, String)> {
    let own = root.attribute("targetNamespace").map(|it| it.collapsed());
    let own = own.as_deref().unwrap_or(namespace);
    let references = root.elements().filter_map(|reference| {
        let namespace = match (reference.name().namespace, reference.name().local) {
            (XML_SCHEMA, "include") => own,
            (XML_SCHEMA, "import") => "",
            _ => return None,
        };
        let location = reference.attribute("schemaLocation")?;
        let span = location.value_span();
        let (place, location) = ((span.file, span.start), location.collapsed().into_owned());
        let import = XmlImport { place, location, span, directory: directory.to_owned() };
        Some((import, namespace.to_owned()))
    });
    references.collect()
}

impl LoadedDefinitions {
    /// The document that an import leads to.
    pub(crate) fn imported(&self, file: FileId, import: Span) -> Option<usize> {
        self.imported.get(&(file, import.start)).copied()
    }

    /// Whether the definitions come from an archive, packed or unpacked.
    pub(crate) fn is_archive(&self) -> bool {
        self.root.as_ref().is_some_and(|root| self.system.is_dir(&root.join(META_DIRECTORY)))
    }

    /// The `TOSCA.meta` of the archive.
    pub(crate) fn meta(&self) -> Option<Meta> {
        let bytes = self
            .root
            .as_ref()
            .filter(|_| self.is_archive())
            .and_then(|root| read_bytes(&*self.system, &root.join(META)).ok())?;
        Some(Meta::of_definitions(&String::from_utf8_lossy(&bytes)))
    }

    /// The documents of an archive that may contain its service template, in order of precedence:
    /// its entry, the files that are definitions by their type, and the files in the directory of
    /// definitions (section 16.1).
    pub(crate) fn entries(&self) -> [Vec<usize>; 3] {
        let Some((meta, base)) = self.meta().zip(self.base()) else { return Default::default() };
        let path_of = |document: &XmlDocument| {
            let path = self.sources.file(document.root().span().file).path();
            normalize(path).strip_prefix(&base).map(Path::to_owned).unwrap_or_default()
        };
        let paths: Vec<_> = self.documents.iter().map(path_of).collect();
        let known: FxHashMap<&PathBuf, usize> = paths.iter().zip(0..).collect();
        let named = |name: &str| {
            let is_read = |name: String| known.get(&normalize(Path::new(&name))).copied();
            spellings(name).into_iter().find_map(is_read)
        };
        let mut by_type = vec![false; paths.len()];
        for (name, are_definitions) in meta.typed_files() {
            let alike =
                |path: &PathBuf| matches_pattern(&path.to_string_lossy().replace('\\', "/"), name);
            match named(name) {
                Some(at) => by_type[at] = are_definitions,
                None if is_pattern(name) => {
                    let of_files = by_type.iter_mut().zip(&paths);
                    of_files.filter(|it| alike(it.1)).for_each(|(it, _)| *it = are_definitions);
                }
                None => {}
            }
        }
        let by_place = |at: &usize| paths[*at].starts_with(DEFINITIONS_DIRECTORY);
        [
            named(&meta.entry).into_iter().collect(),
            (0..paths.len()).filter(|&at| by_type[at]).collect(),
            (0..paths.len()).filter(by_place).collect(),
        ]
    }

    /// Reads a file whose name is relative to the root of an archive, or to the directory of the
    /// first document.
    pub(crate) fn read_file(&self, name: &str) -> Option<Vec<u8>> {
        let path = self.within(name)?;
        self.system.is_file(&path).then(|| read_bytes(&*self.system, &path).ok()).flatten()
    }

    /// The name of the file or directory that a reference leads to.
    pub(crate) fn found(&self, reference: &str) -> Option<String> {
        let is_there = |path: &Path| self.system.is_file(path) || self.system.is_dir(path);
        spellings(reference)
            .into_iter()
            .find(|name| self.within(name).is_some_and(|it| is_there(&it)))
    }

    /// The files below a directory whose name is relative in the same way.
    pub(crate) fn files_below(&self, name: &str) -> Vec<String> {
        let (Some(base), Some(path)) = (self.base(), self.within(name)) else { return Vec::new() };
        let mut open = vec![path];
        let mut found = Vec::new();
        while let Some(path) = open.pop() {
            if self.system.is_link(&path) {
                continue;
            }
            if self.system.is_dir(&path) {
                open.extend(self.system.list(&path).unwrap_or_default());
            } else if let Ok(name) = path.strip_prefix(&base) {
                found.push(name.to_string_lossy().replace('\\', "/"));
            }
        }
        found.sort();
        found
    }

    fn base(&self) -> Option<PathBuf> {
        if let Some(root) = &self.root {
            return Some(normalize(root));
        }
        let first = self.documents.first()?;
        Some(normalize(&directory_of(first, &self.sources)))
    }

    /// The path for a name that does not lead outside.
    fn within(&self, name: &str) -> Option<PathBuf> {
        let relative = normalize(Path::new(name));
        let is_inside = relative.components().all(|part| matches!(part, Component::Normal(_)));
        let path = self.base()?.join(relative);
        (is_inside && !self.system.is_link(&path)).then_some(path)
    }

    /// Whether a reference from the root of an archive leads to a file.
    pub(crate) fn is_file(&self, reference: &str) -> bool {
        let path = self.found(reference).and_then(|name| self.within(&name));
        self.root.is_some() && path.is_some_and(|path| self.system.is_file(&path))
    }

    /// Whether a reference from the root of an archive leads to a file or directory. Returns
    /// nothing where there is no archive.
    pub(crate) fn has_file(&self, reference: &str) -> Option<bool> {
        self.root.as_ref().map(|_| self.found(reference).is_some())
    }
}
