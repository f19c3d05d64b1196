//! Locates a template and the files that come with it.

use super::archive::{Archive, Limits};
use super::is_archive;
use super::meta::{META, META_AT_ROOT, META_DIRECTORY, Meta};
use super::pack::listed;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0};
use crate::tosca::v2_0;
use cuvee_text::files::{Files, read_bytes};
use cuvee_text::source::{FileId, FileSystem, is_yaml, normalize};
use cuvee_text::xml::is_xml;
use cuvee_text::yaml::{Node, NodeKind};
use memchr::memmem;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The usual names of the template in a directory, in order of precedence.
pub(crate) const TEMPLATE_NAMES: [&str; 4] =
    ["variable-service-template.yaml", "service-template.yaml", "template.yaml", "vst.yaml"];

/// The metadata that a template needs if it makes up a whole archive.
const REQUIRED_METADATA: [&str; 2] = ["template_name", "template_version"];

/// The largest accepted size of `TOSCA.meta` in bytes.
const META_BYTES: u64 = 1 << 20;

/// A template, and the files that come with it.
#[derive(Clone)]
pub(crate) struct Package {
    /// The file system of the files that the template names.
    pub files: Arc<dyn FileSystem + Send>,
    /// The path of the template.
    pub template: PathBuf,
    /// The archive or directory in which the template was found. `None` where a file was named.
    pub(super) root: Option<Box<Root>>,
    /// The directories of profiles that the caller names.
    pub profile_paths: Vec<PathBuf>,
}

/// An archive or a directory, with what is known of its contents.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// The path that the paths of its files begin with.
    pub path: PathBuf,
    /// The path of the zip file, for an archive.
    pub archive: Option<PathBuf>,
    /// The contents of its `TOSCA.meta`.
    pub meta: Option<Meta>,
    /// Whether the template was found as the only YAML file, so that its metadata take the place of
    /// `TOSCA.meta`.
    alone: bool,
}

impl Root {
    /// A directory whose contents are unknown.
    pub(super) fn alone(path: PathBuf) -> Self {
        Self { path, archive: None, meta: None, alone: false }
    }
}

impl Package {
    /// The package of a single template, without the files beside it.
    pub(crate) fn of_file(files: &Arc<dyn FileSystem + Send>, template: &Path) -> Self {
        let (files, template) = (Arc::clone(files), template.to_owned());
        Self { files, template, root: None, profile_paths: Vec::new() }
    }

    /// Finds the template of a path: a file, an archive or a directory.
    ///
    /// # Errors
    /// `csar` where the archive is refused, `file` where there is no template.
    pub(crate) fn find(
        files: &Arc<dyn FileSystem + Send>,
        path: &Path,
        texts: &Files,
    ) -> Result<Self, Diagnostics> {
        if files.is_dir(path) {
            return Self::in_root(Arc::clone(files), path.to_owned(), None, texts);
        }
        if !is_archive(path) {
            return Ok(Self::of_file(files, path));
        }
        let archive = Archive::open(&**files, path, &Limits::default())?;
        let root = archive.root().to_owned();
        Self::in_root(Arc::new(archive), root, Some(path.to_owned()), texts)
    }

    fn in_root(
        files: Arc<dyn FileSystem + Send>,
        path: PathBuf,
        archive: Option<PathBuf>,
        texts: &Files,
    ) -> Result<Self, Diagnostics> {
        let mut root = Root { path, archive, meta: None, alone: false };
        let template = if let Some(name) = meta_name(&*files, &root.path) {
            let meta = root.meta.insert(read_meta(&*files, &root.path, name, texts)?);
            root.path.join(&meta.entry)
        } else {
            match (
                root.archive.as_deref(),
                find_template(&*files, &root.path),
                only_yaml(&*files, &root.path),
            ) {
                (None, Ok(template), _) => template,
                (_, _, [Some(only), None]) => {
                    root.alone = true;
                    only
                }
                (None, Err(error), _) => return Err(error.into()),
                (Some(archive), _, [first, _]) => {
                    return Err(without_template(archive, first.is_some()).into());
                }
            }
        };
        Ok(Self { files, template, root: Some(Box::new(root)), profile_paths: Vec::new() })
    }

    /// The package where the caller names directories of profiles.
    pub(crate) fn beside_profiles(self, directories: &[PathBuf]) -> Self {
        Self { profile_paths: directories.to_vec(), ..self }
    }

    /// Whether a directory holds files of types but no template, so that it is a library.
    pub(crate) fn is_library(files: &dyn FileSystem, path: &Path) -> bool {
        let is_template = |path: &Path| {
            let bytes = read_bytes(files, path).unwrap_or_default();
            let is_in = |word: &str| memmem::find(&bytes, word.as_bytes()).is_some();
            is_in("topology_template") || is_in("service_template")
        };
        files.is_dir(path)
            && meta_name(files, path).is_none()
            && find_template(files, path).is_err()
            && !matches!(only_yaml(files, path), [Some(only), None] if is_template(&only))
    }

    /// Checks that the archive is of the version of the parsed template, and that the template has
    /// the metadata that it needs.
    ///
    /// # Errors
    /// `csar` where the versions differ, or where the template makes up a whole archive and lacks
    /// required metadata.
    pub(crate) fn check(&self, template: Node<'_>) -> Result<(), Diagnostic> {
        if v2_0::is_of(template.document()) {
            // It needs no metadata (section 17.3).
            return self.meta().map_or(Ok(()), Meta::is_for_2_0);
        }
        if !self.root.as_ref().is_some_and(|root| root.alone) {
            return Ok(());
        }
        let metadata = template.get("metadata");
        let is_there =
            |key: &str| metadata.and_then(|metadata| metadata.get(key)).is_some_and(is_value);
        let missing: Vec<_> = REQUIRED_METADATA.into_iter().filter(|key| !is_there(key)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let missing = missing.join("` and `");
        let message =
            format!("without `{META}` the template needs metadata, which lack `{missing}`");
        let at = metadata.unwrap_or(template).span();
        let mut help = format!("add `{missing}` to its `metadata`, or a `{META}`");
        if self.root.as_ref().is_some_and(|root| root.archive.is_none()) {
            let names = TEMPLATE_NAMES.join(", ");
            help.push_str(&format!(
                "; if this is no archive, name the file of the template, or call it {names}"
            ));
        }
        Err(Diagnostic::error(Code::Csar, message).at(at).help(help))
    }

    /// The path that the paths of all files of the package begin with. `None` for a single
    /// template.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.root.as_ref().map(|root| root.path.as_path())
    }

    /// The directory of the template, to which its relative names refer.
    pub(crate) fn directory(&self) -> &Path {
        self.template.parent().unwrap_or(Path::new(""))
    }

    /// The templates that the archive lists as substituting nodes.
    pub(crate) fn others(&self) -> impl Iterator<Item = PathBuf> {
        let root = self.root.as_deref();
        root.into_iter().flat_map(|root| {
            let names = root.meta.iter().flat_map(|meta| &meta.others);
            names.map(|name| root.path.join(name))
        })
    }

    /// Whether the template is in a zip file.
    pub(crate) fn is_packed(&self) -> bool {
        self.root.as_ref().is_some_and(|root| root.archive.is_some())
    }

    /// The contents of `TOSCA.meta`.
    pub(crate) fn meta(&self) -> Option<&Meta> {
        self.root.as_ref()?.meta.as_ref()
    }

    /// The name of a path relative to the root of the package.
    pub(crate) fn below_root(&self, path: &Path) -> Option<String> {
        let root = normalize(self.root().unwrap_or_else(|| self.directory()));
        let below = path.strip_prefix(root).ok()?;
        let parts = below.components().map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        });
        let parts: Option<Vec<_>> = parts.collect();
        parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("/"))
    }

    /// Reads a file, or all files below a directory. Each name in the result begins with `name`.
    ///
    /// # Errors
    /// A file cannot be read, or there are too many files.
    pub(crate) fn contents(
        &self,
        name: &str,
        path: &Path,
    ) -> Result<Vec<(PathBuf, Vec<u8>)>, Diagnostic> {
        let files = &*self.files;
        if !files.is_dir(path) {
            return Ok(vec![(name.into(), read_bytes(files, path)?)]);
        }
        let mut all = listed(files, path, "a copy", &|_| false)?;
        all.sort();
        let read = |found: PathBuf| {
            let below = found.strip_prefix(path).unwrap_or(&found);
            Ok((Path::new(name).join(below), read_bytes(files, &found)?))
        };
        all.into_iter().map(read).collect()
    }

    /// The path of a name that occurs in a file of this directory. Relative names are looked up in
    /// that directory, in the directory of the template, and at the root. Absolute names start at the
    /// root, unless they are those of other files.
    pub(crate) fn located(&self, directory: &Path, name: &str) -> Option<PathBuf> {
        if let Some(below_root) = name.strip_prefix('/') {
            let root = self.root().unwrap_or_else(|| self.directory());
            let path = normalize(&root.join(below_root));
            let is_other = !self.is_packed() && self.files.is_file(Path::new(name));
            return Some(path).filter(|path| !is_other && self.files.is_file(path));
        }
        let bases = [directory, self.directory()].into_iter().chain(self.root());
        let mut paths = bases.map(|base| normalize(&base.join(name)));
        paths.find(|path| self.files.is_file(path) || self.files.is_dir(path))
    }

    /// The file on the disk that contains a file: the archive for an entry, else the file itself.
    pub(crate) fn on_disk<'p>(&'p self, path: &'p Path) -> &'p Path {
        let packed = self.root.as_ref().filter(|root| path.starts_with(&root.path));
        packed.and_then(|root| root.archive.as_deref()).unwrap_or(path)
    }
}

impl fmt::Debug for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Package")
            .field("template", &self.template)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

fn is_value(node: Node<'_>) -> bool {
    node.kind() == NodeKind::Scalar && !node.is_null()
}

/// The name of `TOSCA.meta` in an archive: in its directory, or, as TOSCA 2.0 allows, at the root
/// (section 17.1).
fn meta_name(files: &dyn FileSystem, root: &Path) -> Option<&'static str> {
    if files.is_dir(&root.join(META_DIRECTORY)) {
        return Some(META);
    }
    files.is_file(&root.join(META_AT_ROOT)).then_some(META_AT_ROOT)
}

fn read_meta(
    files: &dyn FileSystem,
    root: &Path,
    name: &str,
    texts: &Files,
) -> Result<Meta, Diagnostics> {
    if name == META && files.is_file(&root.join(META_AT_ROOT)) {
        let message = format!("the archive has both `{META}` and `{META_AT_ROOT}`");
        let error = Diagnostic::error(Code::Csar, message).help("remove one of them");
        return Err(error.rule(Rule::new(&TOSCA_2_0, "17.1")).into());
    }
    let path = root.join(name);
    if !files.is_file(&path) {
        let message = format!("there is no `{}`", path.display());
        return Err(Diagnostic::error(Code::Csar, message)
            .help(format!("add the file, or remove the directory `{META_DIRECTORY}`"))
            .into());
    }
    if files.size(&path).is_ok_and(|size| size > META_BYTES) {
        let message = format!("`{}` is larger than {} MiB", path.display(), META_BYTES >> 20);
        return Err(Diagnostic::error(Code::Csar, message).into());
    }
    let file = texts.read(files, &path)?;
    let text = texts.text(file);
    let mut diagnostics = Diagnostics::default();
    let alone = alone(files, root);
    let parsed = Meta::parse(file, text, (name, alone.as_deref()), &mut diagnostics);
    for named in parsed.iter().flat_map(|(_, named)| named) {
        let because = |why| format!("`{}` names `{}`, which is {why}", named.keyname, named.name);
        let why = match root.join(&named.name) {
            path if !files.is_file(&path) => because("not there"),
            path if !is_yaml(&path) => because("no YAML file"),
            _ => continue,
        };
        diagnostics.push(
            Diagnostic::error(Code::Csar, why)
                .at(named.span)
                .help("paths start at the root of the archive"),
        );
    }
    match parsed {
        Some((meta, _)) if !diagnostics.has_errors() => Ok(meta),
        _ => Err(diagnostics),
    }
}

/// Whether an archive or a directory holds a YAML template rather than definitions of TOSCA 1.0.
pub(crate) fn has_template(files: &dyn FileSystem, root: &Path) -> bool {
    let Some(name) = meta_name(files, root) else {
        return find_template(files, root).is_ok() || only_yaml(files, root)[0].is_some();
    };
    let bytes = read_bytes(files, &root.join(name)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    // Errors are ignored here: whoever reads `TOSCA.meta` afterwards reports them.
    let alone = alone(files, root);
    let place = (name, alone.as_deref());
    let meta = Meta::parse(FileId::DETACHED, &text, place, &mut Diagnostics::default());
    meta.is_some_and(|(meta, _)| {
        let entry = read_bytes(files, &root.join(&meta.entry));
        entry.is_ok_and(|entry| !is_xml(&String::from_utf8_lossy(&entry)))
    })
}

/// At most two of the YAML files at the root.
fn only_yaml(files: &dyn FileSystem, root: &Path) -> [Option<PathBuf>; 2] {
    let listed = files.list(root).unwrap_or_default();
    let mut found = listed.into_iter().filter(|path| is_yaml(path) && files.is_file(path));
    [found.next(), found.next()]
}

/// The name of the YAML file at the root, if there is one.
fn alone(files: &dyn FileSystem, root: &Path) -> Option<String> {
    let [Some(only), None] = only_yaml(files, root) else { return None };
    Some(only.file_name()?.to_str()?.to_owned())
}

fn without_template(archive: &Path, ambiguous: bool) -> Diagnostic {
    let there = if ambiguous { "more than one" } else { "no" };
    let message = format!(
        "`{}` has neither `{META}` nor a single template: there is {there} YAML file at its root",
        archive.display()
    );
    let help = format!(
        "name the template in `{META}`, and pack what is in a directory rather than the directory"
    );
    Diagnostic::error(Code::Csar, message).help(help)
}

/// Finds the template of a path: the file itself, or the file with a usual name in the directory.
///
/// # Errors
/// `file` where there is no template.
fn find_template(files: &dyn FileSystem, path: &Path) -> Result<PathBuf, Diagnostic> {
    if !files.is_dir(path) {
        return Ok(path.to_owned());
    }
    let found = TEMPLATE_NAMES.iter().map(|name| path.join(name)).find(|file| files.is_file(file));
    found.ok_or_else(|| {
        let message = format!("there is no template in `{}`", path.display());
        Diagnostic::error(Code::File, message)
            .help(format!("name the file, or call it {}", TEMPLATE_NAMES.join(", ")))
    })
}
