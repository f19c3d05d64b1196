//! Holds a template and all files that were read for it, shared by any number of resolutions and
//! queries.

use super::Mapping;
use super::dependencies::with_dependencies;
use super::imports::{self, Imported, Importing, NeededImports};
use super::keys;
use super::profiles::{self, Profiles};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::tosca::csar::{Package, is_archive};
use crate::tosca::import::ImportDefinition;
use crate::tosca::types::{KeptJudgements, is_needed};
use crate::tosca::v2_0;
use cuvee_text::answer::Failure;
use cuvee_text::files::{self, Files, read_bytes};
use cuvee_text::kept::KeptDocuments;
use cuvee_text::source::{
    FileId, FileSystem, SourceFile, SourceMap, SourceText, Span, is_yaml, normalize,
};
use cuvee_text::xml::is_xml;
use cuvee_text::yaml::{Document, Keep};
use memchr::memmem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The location of a template.
#[derive(Clone, Debug)]
pub(crate) enum TemplateLocation {
    /// A file, an archive, or a directory that holds it under its usual name.
    Path(PathBuf),
    /// A text in memory, with the path that it would have.
    Text { name: PathBuf, text: SourceText },
}

/// How much of a library and of imports is read and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Only what resolving needs.
    Needed,
    /// Whole files, for commands that look at type definitions.
    Whole,
}

/// What runs keep for those that follow: parsed files, and what was found in their types. Any
/// number of resolvers share it, whatever their templates are.
///
/// ```
/// use cuvee::editor::DocumentCache;
/// use std::sync::Arc;
/// let cache = Arc::new(DocumentCache::default());
/// let shop = cuvee::Resolver::new("examples/shop").cache(Arc::clone(&cache));
/// let first = shop.validate();
/// let (parsed, judged) = (cache.parsed(), cache.judged());
/// assert_eq!(first.diagnostics, shop.validate().diagnostics);
/// assert_eq!((parsed, judged), (cache.parsed(), cache.judged()));
/// ```
#[derive(Debug, Default)]
pub struct DocumentCache {
    documents: Arc<KeptDocuments>,
    pub(crate) judgements: KeptJudgements,
}

impl DocumentCache {
    /// How many files were parsed so far.
    pub fn parsed(&self) -> usize {
        self.documents.parsed()
    }

    /// The last text of a file that had a tree.
    pub(crate) fn last_text(&self, path: &Path) -> Option<SourceText> {
        self.documents.last_text(path)
    }

    /// How many types were judged so far.
    pub fn judged(&self) -> usize {
        self.judgements.judged()
    }
}

/// A template and the files that come with it. Each file is read and parsed when it is needed for
/// the first time, and is kept.
pub(crate) struct Loaded {
    files: Arc<Files>,
    package: Package,
    /// The file system of local copies and of files that callers name.
    outside: Arc<dyn FileSystem + Send>,
    mapping: Mapping,
    profiles: Arc<OnceLock<Profiles>>,
    extent: Extent,
    /// What other runs have kept.
    cache: Option<Arc<DocumentCache>>,
    template: FileId,
    /// The directory to which relative paths in the template refer.
    base: PathBuf,
    /// The service templates under `lib/` next to the template, in the order of their paths.
    library: Vec<FileId>,
    /// Warnings about the files that come with the template.
    warnings: Diagnostics,
}

impl Loaded {
    /// Reads and parses a template and its library.
    ///
    /// # Errors
    /// All errors in any of these files, before their contents are interpreted.
    pub(crate) fn open(
        location: &TemplateLocation,
        outside: Arc<dyn FileSystem + Send>,
        mapping: Mapping,
        extent: Extent,
        cache: Option<&Arc<DocumentCache>>,
    ) -> Result<Self, Failure> {
        let kept = cache.map(|cache| Arc::clone(&cache.documents));
        let files = Arc::new(Files::reading(v2_0::read).keeping(kept));
        match OpenedPackage::read(location, &outside, &files, extent) {
            Ok(OpenedPackage { package, template, base, library, warnings }) => Ok(Self {
                files,
                package: package.beside_profiles(mapping.profile_paths()),
                outside,
                mapping,
                profiles: Arc::default(),
                extent,
                cache: cache.cloned(),
                template,
                base,
                library,
                warnings,
            }),
            Err(Diagnostics(diagnostics)) => {
                Err(Failure { diagnostics, sources: files.sources().clone() })
            }
        }
    }

    /// Reads and parses a directory of types without a template. All files see each other, as the
    /// files of one library do.
    ///
    /// # Errors
    /// `file` where the directory has no TOSCA file.
    pub(crate) fn open_library(
        directory: &Path,
        outside: Arc<dyn FileSystem + Send>,
        mapping: Mapping,
    ) -> Result<Self, Failure> {
        const NOTHING: &str = "tosca_definitions_version: tosca_simple_yaml_1_3";
        let files = Arc::new(Files::reading(v2_0::read));
        let mut diagnostics = Diagnostics::default();
        let is_tosca = |path: &Path| is_yaml(path) || path.extension() == Some("tosca".as_ref());
        let paths = files_below(&*outside, directory, is_tosca, &mut diagnostics);
        let mut library = read_library(&*outside, paths, &files, &mut diagnostics);
        let jobs: Vec<_> = library.iter().map(|&file| (file, None)).collect();
        // A file that cannot be read does not hide errors in the others.
        let mut parsed = files.parse(&jobs).into_iter();
        let mut is_read = |parsed| diagnostics.ok(keys::judged(parsed)).is_some();
        library.retain(|_| parsed.next().is_some_and(&mut is_read));
        if library.is_empty() {
            let message = format!("no file in `{}` is of TOSCA", directory.display());
            diagnostics.push(Diagnostic::error(Code::File, message));
            let sources = files.sources().clone();
            return Err(Failure { diagnostics: diagnostics.0, sources });
        }
        let template = files.add(&*outside, directory, NOTHING.into());
        Ok(Self {
            package: Package::of_file(&outside, directory),
            files,
            outside,
            mapping,
            profiles: Arc::default(),
            extent: Extent::Whole,
            cache: None,
            template,
            base: directory.to_owned(),
            library,
            warnings: diagnostics,
        })
    }

    /// One instance for each library file that has a topology, with that file as the template.
    pub(crate) fn templates(&self) -> impl Iterator<Item = Self> {
        let with_topology = |file: &FileId| {
            let document = self.whole(*file).ok();
            document.is_some_and(|document| document.root().get("topology_template").is_some())
        };
        let templates = self.library.iter().copied().filter(with_topology);
        templates.map(|template| {
            let path = self.sources().file(template).path();
            let library = self.library.iter().copied().filter(|file| *file != template);
            Self {
                files: Arc::clone(&self.files),
                package: Package::of_file(&self.outside, path),
                outside: Arc::clone(&self.outside),
                mapping: self.mapping.clone(),
                profiles: Arc::default(),
                cache: self.cache.clone(),
                template,
                base: path.parent().unwrap_or(path).to_owned(),
                library: library.collect(),
                warnings: Diagnostics::default(),
                ..*self
            }
        })
    }

    /// Reads the templates at a path with the settings of this one. The path is a file, an archive,
    /// or a directory; of a directory, the files whose text contains `word` are read. In a
    /// directory, a file that cannot be read is a note and does not hide errors in the others.
    pub(crate) fn beside_this(
        &self,
        path: &Path,
        word: &str,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Self> {
        if !self.outside.is_dir(path) {
            return diagnostics.all_ok(self.with_others(path)).unwrap_or_default();
        }
        let is_wanted = |path: &Path| is_yaml(path) || is_archive(path);
        let mut found = Vec::new();
        for path in files_below(&*self.outside, path, is_wanted, diagnostics) {
            let has_word = |bytes: Vec<u8>| memmem::find(&bytes, word.as_bytes()).is_some();
            if !is_archive(&path) && !read_bytes(&*self.outside, &path).is_ok_and(has_word) {
                continue;
            }
            match self.with_others(&path) {
                Ok(loaded) => found.extend(loaded),
                Err(Diagnostics(errors)) => diagnostics
                    .0
                    .extend(errors.into_iter().map(|error| error.with_severity(Severity::Note))),
            }
        }
        found
    }

    /// Reads another template with the settings of this one.
    fn another(&self, path: &Path) -> Result<Self, Diagnostics> {
        let location = TemplateLocation::Path(path.to_owned());
        let opened = OpenedPackage::read(&location, &self.outside, &self.files, self.extent)?;
        Ok(self.opened(opened))
    }

    /// Reads another template. For an archive, also reads the templates that substitute its nodes.
    fn with_others(&self, path: &Path) -> Result<Vec<Self>, Diagnostics> {
        let first = self.another(path)?;
        let others = first.others().collect::<Result<Vec<_>, _>>()?;
        Ok([first].into_iter().chain(others).collect())
    }

    /// The templates that the archive lists as substituting nodes.
    pub(crate) fn others(&self) -> impl Iterator<Item = Result<Self, Diagnostics>> {
        self.package.others().map(|template| {
            let mut package = self.package.clone();
            package.template = template;
            let file = self.files.read(&*package.files, &package.template)?;
            let opened = OpenedPackage::of(package, file, &self.files, self.extent)?;
            Ok(self.opened(opened))
        })
    }

    fn opened(&self, opened: OpenedPackage) -> Self {
        let OpenedPackage { package, template, base, library, warnings } = opened;
        Self {
            files: Arc::clone(&self.files),
            package,
            outside: Arc::clone(&self.outside),
            mapping: self.mapping.clone(),
            profiles: Arc::default(),
            cache: self.cache.clone(),
            template,
            base,
            library,
            warnings,
            ..*self
        }
    }

    /// The same files, with this text as the template.
    pub(crate) fn with_template(&self, text: String) -> Self {
        Self {
            files: Arc::clone(&self.files),
            package: self.package.clone(),
            outside: Arc::clone(&self.outside),
            mapping: self.mapping.clone(),
            profiles: Arc::clone(&self.profiles),
            cache: self.cache.clone(),
            template: self.files.add(&*self.package.files, &self.package.template, text.into()),
            base: self.base.clone(),
            library: self.library.clone(),
            warnings: self.warnings.clone(),
            ..*self
        }
    }

    /// Finds the local copies that a template imports. Returns the copies, and the addresses that
    /// they stand for.
    pub(crate) fn copies(&self, template: String) -> (Vec<FileId>, Vec<(String, FileId)>) {
        let loaded = self.with_template(template);
        let Ok(document) = loaded.whole(loaded.template) else { return Default::default() };
        let wanted = ImportDefinition::all(document.root());
        let Imported { copies, mapped, .. } =
            loaded.import(wanted, NeededImports::Files, &mut Diagnostics::default());
        (copies, mapped)
    }

    /// What other runs have kept.
    pub(crate) fn cache(&self) -> Option<&DocumentCache> {
        self.cache.as_deref()
    }

    /// The files that were read so far.
    pub(crate) fn sources(&self) -> &SourceMap {
        self.files.sources()
    }

    /// The package that contains the template.
    pub(crate) fn package(&self) -> &Package {
        &self.package
    }

    /// The path of a file that is named at this place, in the way artifacts are named.
    pub(crate) fn named_file(&self, name: &str, at: Span) -> PathBuf {
        let by = self.sources().get(at.file).map(SourceFile::path).and_then(Path::parent);
        normalize(&by.unwrap_or(&self.base).join(name))
    }

    /// The directory to which relative paths in the template refer.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// What is in a folder, each with whether it is a folder.
    pub(crate) fn listed(&self, folder: &Path) -> Vec<(PathBuf, bool)> {
        let files = &self.package.files;
        let listed = files.list(folder).unwrap_or_default().into_iter();
        listed.map(|path| (path.clone(), files.is_dir(&path))).collect()
    }

    /// Whether a file declares itself a service template at its beginning.
    pub(crate) fn is_service_template(&self, path: &Path) -> bool {
        let start = self.package.files.read_start(path, BEGINNING).unwrap_or_default();
        is_yaml(path) && memmem::find(&start, b"tosca_definitions_version").is_some()
    }

    /// The bytes of a file. Returns nothing where the file cannot be read.
    pub(crate) fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        read_bytes(&*self.package.files, path).ok()
    }

    /// Warnings about the files that come with the template. Of a library, also errors about
    /// unreadable files.
    pub(crate) fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// The file of the template.
    pub(crate) fn template(&self) -> FileId {
        self.template
    }

    /// The files of the library.
    pub(crate) fn library(&self) -> &[FileId] {
        &self.library
    }

    /// The whole tree of a file that was read.
    ///
    /// # Errors
    /// `syntax` where the file cannot be parsed.
    pub(crate) fn whole(&self, file: FileId) -> Result<&Document, Diagnostic> {
        self.files.whole(file)
    }

    /// The trees of files, each as far as it was requested.
    ///
    /// # Errors
    /// `syntax` for every file that cannot be parsed.
    pub(crate) fn documents(&self, files: &[FileId]) -> Result<Vec<&Document>, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let parsed = self.parse(files);
        let documents = parsed.into_iter().filter_map(|parsed| diagnostics.ok(parsed)).collect();
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(documents) }
    }

    fn parse(&self, files: &[FileId]) -> Vec<Result<&Document, Diagnostic>> {
        let job = |&file: &FileId| (file, keep(self.extent).filter(|_| file != self.template));
        self.files.parse(&files.iter().map(job).collect::<Vec<_>>())
    }

    /// Reads the wanted imports of the template for the types in them. The library has been read
    /// already. Where an import is not available locally, that is an error if it is needed.
    ///
    /// A file that does not exist is a `file` error at the import's place, and a file that cannot
    /// be parsed is a `syntax` error. Where only the library needs the file and not all are needed,
    /// both are warnings.
    pub(crate) fn import<'i>(
        &self,
        wanted: impl Iterator<Item = ImportDefinition<'i>>,
        needed: NeededImports,
        diagnostics: &mut Diagnostics,
    ) -> Imported {
        let how = Importing {
            texts: &self.files,
            files: &*self.package.files,
            outside: &*self.outside,
            root: self.package.root().unwrap_or(self.package.directory()),
            mapping: &self.mapping,
            profile: &|name| self.profiles().get(name).cloned(),
            keep: keep(self.extent),
            needed,
        };
        let Ok(template) = self.whole(self.template) else { return Imported::default() };
        let library = self.library.iter().zip(self.parse(&self.library));
        let library: Vec<_> =
            library.filter_map(|(&file, parsed)| Some((file, parsed.ok()?))).collect();
        imports::read(how, (template, &self.base), &library, wanted.collect(), diagnostics)
    }

    /// What is wrong with the imports of the template and of what they import.
    pub(crate) fn wrong_imports(&self) -> Vec<Diagnostic> {
        let mut diagnostics = Diagnostics::default();
        if let Ok(template) = self.whole(self.template) {
            let all = ImportDefinition::all(template.root());
            self.import(all, NeededImports::Files, &mut diagnostics);
        }
        diagnostics.0
    }

    /// The profiles that can be imported by name. They are looked for when one is named.
    fn profiles(&self) -> &Profiles {
        self.profiles.get_or_init(|| {
            let outside = self.mapping.profile_paths().iter();
            let outside = outside.map(|path| (&*self.outside as &dyn FileSystem, &**path, true));
            let own = self
                .package
                .root()
                .map(|root| (&*self.package.files as &dyn FileSystem, root, false));
            profiles::find(outside.chain(own))
        })
    }

    /// The document of this name in the directory of the template.
    ///
    /// # Errors
    /// `file` where it cannot be read, and `syntax` where it cannot be parsed.
    pub(crate) fn beside(&self, name: &str) -> Result<&Document, Diagnostic> {
        self.files.document(&*self.package.files, &self.base.join(name))
    }

    /// The first of these documents that exists in the directory of the template.
    ///
    /// # Errors
    /// As [`Loaded::beside`].
    pub(crate) fn first_beside(&self, names: &[&str]) -> Result<Option<&Document>, Diagnostic> {
        let exists = |name: &&&str| {
            let path = self.base.join(name);
            self.files.has(&path) || self.package.files.is_file(&path)
        };
        names.iter().find(exists).map(|name| self.beside(name)).transpose()
    }

    /// Reads the text of a file that a caller names.
    ///
    /// # Errors
    /// `file` where it cannot be read, `syntax` where it is not UTF-8.
    pub(crate) fn text(&self, path: &Path) -> Result<(FileId, &SourceText), Diagnostic> {
        let file = self.files.read(&*self.outside, path)?;
        Ok((file, self.files.text(file)))
    }

    /// Reads and parses a file that a caller names.
    ///
    /// # Errors
    /// As [`Loaded::text`], and `syntax` where the file cannot be parsed.
    pub(crate) fn document(&self, path: &Path) -> Result<&Document, Diagnostic> {
        self.files.document(&*self.outside, path)
    }

    /// Parses a text from a caller. Messages call the text `name`.
    ///
    /// # Errors
    /// `syntax` where the text cannot be parsed.
    pub(crate) fn inline(&self, name: &str, text: &str) -> Result<&Document, Diagnostic> {
        self.files.inline(name, text)
    }

    /// Parses the answer of a caller to what is asked for at this place.
    ///
    /// # Errors
    /// As [`Loaded::inline`].
    pub(crate) fn answer(
        &self,
        name: &str,
        text: &str,
        asker: Span,
    ) -> Result<&Document, Diagnostic> {
        self.files.answer(name, text, asker)
    }

    /// Makes diagnostics ready to be told: those about answers of callers move to where these were
    /// asked for, those about files of TOSCA 2.0 cite that standard, those about what callers give
    /// for a template cite that of the template, and none offers to write a key that its map already
    /// has.
    pub(crate) fn settle(&self, diagnostics: &mut [Diagnostic]) {
        let is_versioned =
            |document: &&Document| document.root().get("tosca_definitions_version").is_some();
        let is_of_2_0 = |found: &&mut Diagnostic| {
            let document = found.span.and_then(|span| self.files.known(span.file));
            let document = document.filter(is_versioned);
            document.or_else(|| self.files.known(self.template)).is_some_and(v2_0::is_of)
        };
        diagnostics.iter_mut().filter(is_of_2_0).for_each(v2_0::tell);
        for found in diagnostics.iter_mut() {
            found.without_fix(|span, word| {
                let document = self.files.known(span.file);
                let map = document.and_then(|document| document.map_of_key(span));
                map.is_some_and(|map| map.get(word).is_some())
            });
        }
        self.files.place_at_askers(diagnostics);
    }
}

/// How many bytes of a file are read to see what it is.
const BEGINNING: usize = 4_096;

/// The parts of a file of types that are kept. `None` keeps everything.
fn keep(extent: Extent) -> Option<Keep<'static>> {
    match extent {
        Extent::Needed => Some(&is_needed),
        Extent::Whole => None,
    }
}

/// The results of opening a template.
struct OpenedPackage {
    package: Package,
    template: FileId,
    base: PathBuf,
    library: Vec<FileId>,
    warnings: Diagnostics,
}

impl OpenedPackage {
    /// Finds and parses the template, then its library.
    fn read(
        location: &TemplateLocation,
        outside: &Arc<dyn FileSystem + Send>,
        files: &Files,
        extent: Extent,
    ) -> Result<Self, Diagnostics> {
        let (package, template) = match location {
            TemplateLocation::Path(path) => {
                let package = Package::find(outside, path, files)?;
                let template = files.read(&*package.files, &package.template)?;
                (package, template)
            }
            TemplateLocation::Text { name, text } => {
                (Package::of_file(outside, name), files.add(&**outside, name, text.clone()))
            }
        };
        Self::of(package, template, files, extent)
    }

    /// Parses this template, then its library.
    fn of(
        mut package: Package,
        template: FileId,
        files: &Files,
        extent: Extent,
    ) -> Result<Self, Diagnostics> {
        if is_xml(files.text(template)) {
            let message = "this is XML, as TOSCA 1.0 is written, and no template in YAML";
            let start = Span { file: template, start: 0, end: 0 };
            let error = Diagnostic::error(Code::UnsupportedVersion, message).at(start);
            return Err(error
                .help("`cuvee convert` writes it as one, `cuvee validate` reads it")
                .into());
        }
        let base = package.template.parent().map(Path::to_owned).unwrap_or_default();
        let (mut warnings, mut diagnostics) = (Diagnostics::default(), Diagnostics::default());
        package.files = with_dependencies(package.files, &base, files, &mut warnings);
        let library = base.join("lib");
        let paths = files_below(&*package.files, &library, is_yaml, &mut diagnostics);
        let library = read_library(&*package.files, paths, files, &mut diagnostics);
        let jobs: Vec<_> = std::iter::once((template, None))
            .chain(library.iter().map(|&file| (file, keep(extent))))
            .collect();
        for parsed in files.parse(&jobs) {
            diagnostics.ok(keys::judged(parsed));
        }
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        package.check(files.whole(template)?.root())?;
        warnings.0.append(&mut diagnostics.0);
        Ok(Self { package, template, base, library, warnings })
    }
}

/// Reads the service templates below `lib/`. That directory may hold playbooks and scripts too, so
/// a file counts only if it declares itself a service template.
fn read_library(
    system: &dyn FileSystem,
    paths: Vec<PathBuf>,
    files: &Files,
    diagnostics: &mut Diagnostics,
) -> Vec<FileId> {
    let mut library = Vec::new();
    for path in paths {
        let bytes = diagnostics.ok(files::read_bytes(system, &path));
        let template =
            bytes.filter(|bytes| memmem::find(bytes, b"tosca_definitions_version").is_some());
        let text = template.and_then(|bytes| diagnostics.ok(files::decode(&path, bytes)));
        library.extend(text.map(|text| files.add(system, &path, text)));
    }
    library
}

/// All wanted files below a directory, sorted. The result is empty where the directory does not
/// exist.
///
/// Files outside of the directory do not belong to the library. Links that lead out of it are
/// therefore not followed, which is a warning. Links to directories inside of it are not followed
/// either, because these are read at their own place.
pub(super) fn files_below(
    files: &dyn FileSystem,
    library: &Path,
    is_wanted: impl Fn(&Path) -> bool,
    diagnostics: &mut Diagnostics,
) -> Vec<PathBuf> {
    const DEPTH: usize = 16;
    let mut found = Vec::new();
    let mut open = vec![(library.to_owned(), 0)];
    while let Some((directory, depth)) = open.pop() {
        let listed = match files.list(&directory) {
            Err(error) if files.is_dir(&directory) => {
                diagnostics.push(unreadable(&directory, &error));
                continue;
            }
            listed => listed.unwrap_or_default(),
        };
        for path in listed {
            let is_directory = files.is_dir(&path);
            // A link to a missing file is ignored.
            if !(is_directory || is_wanted(&path) && files.size(&path).is_ok()) {
                continue;
            }
            let is_link = files.is_link(&path);
            if is_link && leads_out(files, &path, library) {
                diagnostics.push(not_followed(&path, library));
            } else if !is_directory {
                found.push(path);
            } else if depth < DEPTH && !is_link {
                open.push((path, depth + 1));
            }
        }
    }
    found.sort();
    found
}

fn leads_out(files: &dyn FileSystem, link: &Path, library: &Path) -> bool {
    match (files.canonical(link), files.canonical(library)) {
        (Ok(target), Ok(library)) => !target.starts_with(library),
        _ => true,
    }
}

fn unreadable(directory: &Path, error: &std::io::Error) -> Diagnostic {
    let message = format!("cannot read `{}`: {error}", directory.display());
    Diagnostic::error(Code::File, message).help("types of the template may be in it")
}

fn not_followed(link: &Path, library: &Path) -> Diagnostic {
    let message = format!(
        "`{}` is a link that leads out of `{}`, and is not followed",
        link.display(),
        library.display()
    );
    Diagnostic::warning(Code::File, message)
        .help("replace the link by the file that it leads to, or import that file")
}
