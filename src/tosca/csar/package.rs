//! Where a template is, and what comes with it.

use super::archive::{Archive, Limits};
use super::is_archive;
use super::meta::{META, META_DIRECTORY, Meta};
use super::pack::listed;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::text::files::{Files, read_bytes};
use crate::text::source::{FileId, FileSystem, is_yaml, normalize};
use crate::text::xml::is_xml;
use crate::text::yaml::{Node, NodeKind};
use memchr::memmem;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The names under which a directory's template is found, the first one first.
pub(crate) const TEMPLATE_NAMES: [&str; 4] =
    ["variable-service-template.yaml", "service-template.yaml", "template.yaml", "vst.yaml"];

/// What the metadata of a template must hold that stands for a whole archive.
const REQUIRED_METADATA: [&str; 2] = ["template_name", "template_version"];

/// So much nobody has to say of an archive.
const META_BYTES: u64 = 1 << 20;

/// A template, and the files that come with it.
#[derive(Clone)]
pub(crate) struct Package {
    /// Through which the files are read that the template names.
    pub files: Arc<dyn FileSystem + Send>,
    /// The template.
    pub template: PathBuf,
    /// The archive or directory that it was found in, where no file was named.
    pub(super) root: Option<Box<Root>>,
}

/// What an archive or a directory is known to hold.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// With which the paths of its files begin.
    pub path: PathBuf,
    /// The zip file, where it is one.
    pub archive: Option<PathBuf>,
    /// Its `TOSCA.meta`.
    pub meta: Option<Meta>,
    /// Whether the template is found by being the only one, so that its metadata stand for
    /// `TOSCA.meta`.
    alone: bool,
}

impl Root {
    /// A directory of which nothing is known.
    pub(super) fn alone(path: PathBuf) -> Self {
        Self { path, archive: None, meta: None, alone: false }
    }
}

impl Package {
    /// Of a template alone, whatever lies beside it.
    pub(crate) fn of_file(files: &Arc<dyn FileSystem + Send>, template: &Path) -> Self {
        Self { files: Arc::clone(files), template: template.to_owned(), root: None }
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
        let template = if files.is_dir(&root.path.join(META_DIRECTORY)) {
            let meta = root.meta.insert(read_meta(&*files, &root.path, texts)?);
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
        Ok(Self { files, template, root: Some(Box::new(root)) })
    }

    /// Whether a directory holds files of types and no template, so that it is a library.
    pub(crate) fn is_library(files: &dyn FileSystem, path: &Path) -> bool {
        let is_template = |path: &Path| {
            let bytes = read_bytes(files, path).unwrap_or_default();
            memmem::find(&bytes, b"topology_template").is_some()
        };
        files.is_dir(path)
            && !files.is_dir(&path.join(META_DIRECTORY))
            && find_template(files, path).is_err()
            && !matches!(only_yaml(files, path), [Some(only), None] if is_template(&only))
    }

    /// Whether the template says what it has to, with what was parsed of it.
    ///
    /// # Errors
    /// `csar` where it stands for a whole archive, and its metadata do not.
    pub(crate) fn check(&self, template: Node<'_>) -> Result<(), Diagnostic> {
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
            format!("without `{META}` the template needs metadata, and they lack `{missing}`");
        let at = metadata.unwrap_or(template).span();
        let mut help = format!("add `{missing}` to its `metadata`, or a `{META}`");
        if self.root.as_ref().is_some_and(|root| root.archive.is_none()) {
            let names = TEMPLATE_NAMES.join(", ");
            help.push_str(&format!("; what is no archive is found by its file, or called {names}"));
        }
        Err(Diagnostic::error(Code::Csar, message).at(at).help(help))
    }

    /// With which the paths of all that belongs to the template begin; nothing for a template
    /// alone.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.root.as_ref().map(|root| root.path.as_path())
    }

    /// The directory of the template, where its relative names start.
    pub(crate) fn directory(&self) -> &Path {
        self.template.parent().unwrap_or(Path::new(""))
    }

    /// The templates that it names as those that substitute nodes.
    pub(crate) fn others(&self) -> impl Iterator<Item = PathBuf> {
        let root = self.root.as_deref();
        root.into_iter().flat_map(|root| {
            let names = root.meta.iter().flat_map(|meta| &meta.others);
            names.map(|name| root.path.join(name))
        })
    }

    /// Whether it is in a zip file.
    pub(crate) fn is_packed(&self) -> bool {
        self.root.as_ref().is_some_and(|root| root.archive.is_some())
    }

    /// What the archive says of itself.
    pub(crate) fn meta(&self) -> Option<&Meta> {
        self.root.as_ref()?.meta.as_ref()
    }

    /// What a path is called from the root of what belongs to the template.
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

    /// What a file holds, or all files below a directory, each called as it is below `name`.
    ///
    /// # Errors
    /// Where one cannot be read, or there are too many.
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

    /// Where what is named in a file of this directory is: relative names start there, at the
    /// template, or at the root.
    pub(crate) fn located(&self, directory: &Path, name: &str) -> Option<PathBuf> {
        let bases = [directory, self.directory()].into_iter().chain(self.root());
        let mut paths = bases.map(|base| normalize(&base.join(name)));
        paths.find(|path| self.files.is_file(path) || self.files.is_dir(path))
    }

    /// The file on a disk that holds a file which was read.
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

fn read_meta(files: &dyn FileSystem, root: &Path, texts: &Files) -> Result<Meta, Diagnostics> {
    let path = root.join(META);
    if !files.is_file(&path) {
        let message = format!("there is no `{}`", path.display());
        return Err(Diagnostic::error(Code::Csar, message)
            .help(format!("`{META_DIRECTORY}` is there to hold it"))
            .into());
    }
    if files.size(&path).is_ok_and(|size| size > META_BYTES) {
        let message = format!("`{}` is larger than {} MiB", path.display(), META_BYTES >> 20);
        return Err(Diagnostic::error(Code::Csar, message).into());
    }
    let file = texts.read(files, &path)?;
    let text = texts.text(file);
    let mut diagnostics = Diagnostics::default();
    let parsed = Meta::parse(file, text, &mut diagnostics);
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

/// Whether an archive or a directory holds a template in YAML, rather than definitions of TOSCA 1.0.
pub(crate) fn has_template(files: &dyn FileSystem, root: &Path) -> bool {
    if !files.is_dir(&root.join(META_DIRECTORY)) {
        return find_template(files, root).is_ok() || only_yaml(files, root)[0].is_some();
    }
    let bytes = read_bytes(files, &root.join(META)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    // What is wrong with it is for whoever reads it to say.
    let meta = Meta::parse(FileId::DETACHED, &text, &mut Diagnostics::default());
    meta.is_some_and(|(meta, _)| {
        let entry = read_bytes(files, &root.join(&meta.entry));
        entry.is_ok_and(|entry| !is_xml(&String::from_utf8_lossy(&entry)))
    })
}

/// Up to two of the YAML files at the root.
fn only_yaml(files: &dyn FileSystem, root: &Path) -> [Option<PathBuf>; 2] {
    let listed = files.list(root).unwrap_or_default();
    let mut found = listed.into_iter().filter(|path| is_yaml(path) && files.is_file(path));
    [found.next(), found.next()]
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

/// Finds the template of a path: the file, or the file of a usual name in the directory.
///
/// # Errors
/// `file` where there is none.
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
