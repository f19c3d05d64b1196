//! Moves a result to another directory than its template: rewrites the file names in it so that
//! they lead to the same files, or gathers those files to copy them beside it.

use super::Package;
use super::archive::Limits;
use super::pack::{Content, Extension, error, listed, parse};
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::import::{ImportDefinition, below, profile_name};
use crate::tosca::reference::{FileReference, ReferenceKind, is_rooted, references};
use crate::tosca::v2_0;
use cuvee_text::files::read_bytes;
use cuvee_text::source::{FileSystem, SourceMap, is_yaml, normalize};
use cuvee_text::yaml::{self, Node};
use memchr::memmem;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::path::{Component, Path, PathBuf};

/// The file name of a result among the gathered files, where its template has no file name.
const RESULT: &str = "service-template.yaml";

/// Rewrites the file names in a result so that they are right in another directory. Returns the new
/// text, and a warning about the files that no name leads to from there.
pub(crate) fn renamed(
    package: &Package,
    sources: &SourceMap,
    resolved: &str,
    directory: &Path,
) -> (Option<String>, Option<Diagnostic>) {
    let files = &*package.files;
    let (from, base) = (canonical(files, directory), canonical(files, package.directory()));
    if from == base {
        return (None, None);
    }
    let Ok(document) = v2_0::parsed(resolved) else { return (None, None) };
    let renamed = RenamedPaths { package, from, base };
    let (mut changes, mut lost) = renamed.changes(document.root());
    let imports = ImportDefinition::all(document.root()).filter(|import| import.is_profile);
    for import in imports {
        match renamed.profile(&read_texts(sources), import.file) {
            NewName::Same => {}
            NewName::Other(name) => changes.extend(by_url(&import, name)),
            NewName::None => {
                lost.insert(import.file);
            }
        }
    }
    let text = (!changes.is_empty()).then(|| yaml::with_strings(&document, changes));
    (text, warning(&lost, directory))
}

/// Finds the file names that have to change where a template is put into another one in this
/// directory. Returns the new names, and a warning about the files that no name leads to from
/// there.
pub(crate) fn renamed_nodes<'a>(
    package: &Package,
    root: Node<'a>,
    directory: &Path,
) -> (Vec<(Node<'a>, String)>, Option<Diagnostic>) {
    let files = &*package.files;
    let (from, base) = (canonical(files, directory), canonical(files, package.directory()));
    if from == base {
        return (Vec::new(), None);
    }
    let (changes, lost) = RenamedPaths { package, from, base }.changes(root);
    (changes, warning(&lost, directory))
}

fn warning(lost: &BTreeSet<&str>, directory: &Path) -> Option<Diagnostic> {
    if lost.is_empty() {
        return None;
    }
    let names: Vec<_> = lost.iter().map(|name| format!("`{name}`")).collect();
    let message = format!(
        "the result names {}, which cannot be found from `{}`",
        names.join(", "),
        shown(directory).display()
    );
    Some(Diagnostic::warning(Code::File, message).help(
        "write such files beside the result with `--output-dir`, or pack them with an output that ends in `.csar`",
    ))
}

/// A directory in the form that messages show.
fn shown(directory: &Path) -> &Path {
    if directory.as_os_str().is_empty() { Path::new(".") } else { directory }
}

fn canonical(files: &dyn FileSystem, directory: &Path) -> PathBuf {
    let directory = shown(directory);
    files.canonical(directory).unwrap_or_else(|_| normalize(directory))
}

/// The name of a file seen from the other directory.
enum NewName {
    Same,
    Other(String),
    /// No name leads to the file.
    None,
}

struct RenamedPaths<'p> {
    package: &'p Package,
    /// The directory that the result is written to.
    from: PathBuf,
    /// The directory of the template.
    base: PathBuf,
}

impl RenamedPaths<'_> {
    /// The names that have to change, and the names that nothing can replace.
    fn changes<'a>(&self, root: Node<'a>) -> (Vec<(Node<'a>, String)>, BTreeSet<&'a str>) {
        let (mut changes, mut lost) = (Vec::new(), BTreeSet::new());
        for reference in references(root) {
            match self.name(&reference) {
                NewName::Same => {}
                NewName::Other(name) => changes.push((reference.node, name)),
                NewName::None => {
                    lost.insert(reference.name);
                }
            }
        }
        (changes, lost)
    }

    fn name(&self, reference: &FileReference<'_>) -> NewName {
        let &FileReference { kind, name, repository, .. } = reference;
        let base = self.package.directory();
        // The address of the repository leads to the file, and that address is rewritten itself.
        let found = self.package.located(base, name).filter(|_| repository.is_none());
        let real = match found {
            Some(_) if self.package.is_packed() => return NewName::None,
            None if self.package.is_packed() => return NewName::Same,
            Some(path) => self.real(base, &path),
            None if repository.is_none() && !is_rooted(name) && is_certain(kind, name) => {
                normalize(&self.base.join(name))
            }
            None => return NewName::Same,
        };
        match relative(&self.from, &real) {
            Some(new) if Path::new(&new) == normalize(Path::new(name)) => NewName::Same,
            Some(new) if name.ends_with('/') => NewName::Other(new + "/"),
            Some(new) => NewName::Other(new),
            None => NewName::None,
        }
    }

    /// The name of the file of a profile that only the package knows.
    fn profile(&self, read: &BTreeMap<PathBuf, &str>, name: &str) -> NewName {
        match profile(self.package, read, name) {
            None => NewName::Same,
            Some(_) if self.package.is_packed() => NewName::None,
            // Where the caller names its directory, it is known outside, too.
            Some(path)
                if self.package.profile_paths.iter().any(|at| path.starts_with(normalize(at))) =>
            {
                NewName::Same
            }
            Some(path) => {
                let real = self.real(self.package.directory(), &path);
                relative(&self.from, &real).map_or(NewName::None, NewName::Other)
            }
        }
    }

    /// The real path of a file. Links in the name that leads to it from the template are not
    /// followed.
    fn real(&self, base: &Path, path: &Path) -> PathBuf {
        let files = &*self.package.files;
        let place = files.place(path);
        if *place != *path {
            return canonical(files, &place);
        }
        match relative(&normalize(base), path) {
            Some(name) => normalize(&self.base.join(name)),
            None => canonical(files, path),
        }
    }
}

/// Whether a name is certainly that of a file, even where no such file exists. Other names may be
/// those of images, of artifacts of a type, or of something that only an orchestrator knows.
fn is_certain(kind: ReferenceKind, name: &str) -> bool {
    let path = Path::new(name);
    let dotted = name.starts_with("./") || name.starts_with("../");
    let ending = path.extension().and_then(|extension| extension.to_str());
    let is_ending = |ending: &str| {
        ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let is_file = || !name.contains([':', '@', ' ']) && ending.is_some_and(is_ending);
    match kind {
        ReferenceKind::Import => is_yaml(path),
        ReferenceKind::Repository => dotted,
        ReferenceKind::Artifact => dotted || is_file(),
        ReferenceKind::Implementation => dotted || name.contains('/') && is_file(),
    }
}

/// The relative path from a directory to a file, with `/` between its parts.
fn relative(from: &Path, to: &Path) -> Option<String> {
    let same = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let mut parts = Vec::new();
    for part in from.components().skip(same) {
        match part {
            Component::Normal(_) => parts.push(".."),
            _ => return None,
        }
    }
    for part in to.components().skip(same) {
        match part {
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::ParentDir => parts.push(".."),
            _ => return None,
        }
    }
    Some(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

/// Gathers the result, the files that it names, and the files that these name. Each has its path
/// below a new common directory. The result comes first, followed by `others`, which are placed
/// beside it.
///
/// # Errors
/// `csar` where an imported file is missing or is a template with variability, `file` where a file
/// cannot be read.
pub(crate) fn gather(
    package: &Package,
    sources: &SourceMap,
    resolved: &str,
    others: &[(&Path, &str)],
    extension: &Extension,
) -> Result<Vec<(PathBuf, Vec<u8>)>, Diagnostic> {
    let read = read_texts(sources);
    let mut gathering = Gathering { package, extension, read, found: BTreeMap::new() };
    let template = gathering.template();
    let own = std::iter::once((template, resolved))
        .chain(others.iter().map(|(path, text)| (normalize(path), *text)));
    let own = own.map(|(path, text)| {
        let changed = by_path(package, &gathering.read, &parent(&path), text);
        (path, changed.map_or(Cow::Borrowed(text), Cow::Owned))
    });
    let own: Vec<_> = own.collect();
    own.iter().try_for_each(|(path, text)| gathering.follow(path, text))?;
    let mut found = mem::take(&mut gathering.found);
    found.retain(|path, _| own.iter().all(|(own, _)| own != path));
    let here = canonical(&*package.files, Path::new(""));
    let whole = |path: &Path| normalize(&here.join(path));
    let all = own.iter().map(|(path, _)| path).chain(found.keys());
    let mut parents = all.map(|path| parent(&whole(path)));
    let first = parents.next().unwrap_or_default();
    let root = parents.fold(first, |root, path| {
        let same = root.components().zip(path.components()).take_while(|(a, b)| a == b);
        same.map(|(part, _)| part).collect()
    });
    let placed = |(path, bytes): (PathBuf, Option<Vec<u8>>)| {
        let below = below_root(&root, &whole(&path)).map(Path::to_owned);
        let out = || error(format!("the place of `{}` is not known", path.display()));
        Ok((below.ok_or_else(out)?, bytes.map_or_else(|| gathering.bytes(&path), Ok)?))
    };
    let own = own.into_iter().map(|(path, text)| (path, Some(text.as_bytes().to_vec())));
    own.chain(found).map(placed).collect()
}

/// The text of the template of a package in which all imports of files of the package are paths,
/// as [`gather`] writes them. `None` if they are already.
pub(crate) fn imports_by_path(
    package: &Package,
    sources: &SourceMap,
    text: &str,
) -> Option<String> {
    by_path(package, &read_texts(sources), &normalize(package.directory()), text)
}

fn read_texts(sources: &SourceMap) -> BTreeMap<PathBuf, &str> {
    sources.files().map(|file| (normalize(file.asked()), &**file.text())).collect()
}

/// The text of a file in this directory in which each import of a profile of the package, or from
/// its root, is a path from there: elsewhere nobody knows the package. `None` if there is no such
/// import.
fn by_path(
    package: &Package,
    read: &BTreeMap<PathBuf, &str>,
    directory: &Path,
    text: &str,
) -> Option<String> {
    // Only TOSCA 2.0 has such imports, and reading a long text takes time.
    let says = |word: &str| memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    if !says(v2_0::VERSION) || !says("imports") {
        return None;
    }
    let document = parse(text, None).filter(v2_0::is_of)?;
    let mut changes = Vec::new();
    for import in ImportDefinition::all(document.root()) {
        let ImportDefinition { file, is_profile, repository, .. } = import;
        let found = match is_profile {
            true => profile(package, read, file),
            false if is_rooted(file) && repository.is_none() => package.located(directory, file),
            false => None,
        };
        let name = found.and_then(|found| relative(directory, &found));
        changes.extend(name.into_iter().flat_map(|name| by_url(&import, name)));
    }
    (!changes.is_empty()).then(|| yaml::with_strings(&document, changes))
}

/// What changes where an import names a file by this path.
fn by_url<'a>(
    import: &ImportDefinition<'a>,
    path: String,
) -> impl Iterator<Item = (Node<'a>, String)> + use<'a> {
    let ImportDefinition { body, is_profile, .. } = *import;
    let key = body.entries().find(|(key, _)| is_profile && key.text() == Some("file"));
    let key = key.map(|(key, _)| (key, "url".to_owned()));
    key.into_iter().chain([(body.get("file").unwrap_or(body), path)])
}

/// The file of the package that was read for a profile.
fn profile(package: &Package, read: &BTreeMap<PathBuf, &str>, name: &str) -> Option<PathBuf> {
    let root = normalize(package.root()?);
    let mut all = read.iter().filter(|(path, _)| below_root(&root, path).is_some());
    let (path, _) = all.find(|(_, text)| profile_name(text).as_deref() == Some(name))?;
    Some(path.clone())
}

/// The path relative to a directory, if it is inside that directory.
fn below_root<'p>(root: &Path, path: &'p Path) -> Option<&'p Path> {
    let below = path.strip_prefix(root).ok()?;
    below.components().all(|part| matches!(part, Component::Normal(_))).then_some(below)
}

/// Finds a file outside of its package that a result needs.
///
/// # Errors
/// As [`gather`].
pub(super) fn outside(
    package: &Package,
    resolved: &str,
    extension: &Extension,
) -> Result<Option<PathBuf>, Diagnostic> {
    let mut gathering =
        Gathering { package, extension, read: BTreeMap::new(), found: BTreeMap::new() };
    gathering.follow(&gathering.template(), resolved)?;
    let root = package.root().map(normalize).unwrap_or_default();
    Ok(gathering.found.into_keys().find(|path| below_root(&root, path).is_none()))
}

fn parent(path: &Path) -> PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}

struct Gathering<'p> {
    package: &'p Package,
    extension: &'p Extension,
    /// The texts that were already read.
    read: BTreeMap<PathBuf, &'p str>,
    /// The files found so far, with their contents where these were read.
    found: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

impl Gathering<'_> {
    fn template(&self) -> PathBuf {
        let template = normalize(&self.package.template);
        if is_yaml(&template) { template } else { template.with_file_name(RESULT) }
    }

    /// Finds the files that a template names, and those that its imports name.
    fn follow(&mut self, template: &Path, resolved: &str) -> Result<(), Diagnostic> {
        let mut open = vec![(template.to_owned(), resolved.to_owned())];
        let mut followed = BTreeSet::from([template.to_owned()]);
        while let Some((path, text)) = open.pop() {
            let Ok(document) = v2_0::parsed(text) else { continue };
            for reference in references(document.root()) {
                let imported = self.named_in(&path, &reference)?;
                open.extend(imported.filter(|(path, _)| followed.insert(path.clone())));
            }
        }
        Ok(())
    }

    /// Adds a file that is named in another one. Returns the path and the text of an import,
    /// because it names files itself.
    fn named_in(
        &mut self,
        path: &Path,
        reference: &FileReference<'_>,
    ) -> Result<Option<(PathBuf, String)>, Diagnostic> {
        let &FileReference { kind, name, repository, .. } = reference;
        let name = repository.map_or_else(|| name.to_owned(), |address| below(address, name));
        let directory = path.parent().unwrap_or(Path::new(""));
        let found = self.package.located(directory, &name);
        match (kind, found) {
            (ReferenceKind::Repository, _) => Ok(None),
            (ReferenceKind::Import, Some(found)) => self.import(path, found).map(Some),
            (ReferenceKind::Artifact | ReferenceKind::Implementation, Some(found)) => {
                self.artifact(found).map(|()| None)
            }
            (ReferenceKind::Import, None)
                if repository.is_none() && !is_rooted(&name) && is_yaml(Path::new(&name)) =>
            {
                Err(error(format!("`{}` imports `{name}`, which does not exist", path.display())))
            }
            _ => Ok(None),
        }
    }

    fn import(&mut self, by: &Path, path: PathBuf) -> Result<(PathBuf, String), Diagnostic> {
        let bytes = self.bytes(&path)?;
        let Some(content) = Content::of_yaml(&bytes, self.extension) else {
            let (import, by) = (path.display(), by.display());
            let message =
                format!("`{import}`, which `{by}` imports, is a variable template itself");
            return Err(error(message).help("resolve that template, and import the result"));
        };
        let mut bytes = content.relabelled().unwrap_or(bytes);
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some(changed) = by_path(self.package, &self.read, &parent(&path), &text) {
            (bytes, text) = (changed.clone().into_bytes(), changed);
        }
        self.found.insert(path.clone(), Some(bytes));
        Ok((path, text))
    }

    /// Adds a file, or all files in a directory.
    fn artifact(&mut self, path: PathBuf) -> Result<(), Diagnostic> {
        let files = &*self.package.files;
        let all = if files.is_dir(&path) {
            listed(files, &path, "a copy", &|_| false)?
        } else {
            vec![path]
        };
        all.into_iter().for_each(|path| {
            self.found.entry(path).or_default();
        });
        if self.found.len() > Limits::default().entries {
            return Err(error(format!(
                "the result names more than {} files",
                Limits::default().entries
            )));
        }
        Ok(())
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>, Diagnostic> {
        match self.read.get(path) {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => read_bytes(&*self.package.files, path),
        }
    }
}
