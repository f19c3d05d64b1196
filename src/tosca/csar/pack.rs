//! Makes an archive of a resolved template and the files that come with it.
//!
//! `TOSCA.meta` is the first entry. The others follow in the order of their names. All have the
//! same time, permissions and compression, so that the same files give the same bytes.
//!
//! | file | in the archive |
//! |---|---|
//! | the template | resolved |
//! | another service template with variability, or of a variability version with a topology | left out |
//! | types of a variability version | with the version of plain TOSCA in place of theirs |
//! | `TOSCA.meta` | in version 1.1, without blocks about files whose content has changed |
//! | in a directory: archives (`.csar`) | left out |
//! | in a directory: hidden files (`.git`) | left out, unless all files are asked for |
//! | `tests` at the root or beside the template: variants and their results | likewise |
//! | all others: types, artifacts, inputs, rules | unchanged |

use super::archive::Limits;
use super::meta::{META, META_AT_ROOT, Meta};
use super::name::{self, DEPTH};
use super::names;
use super::package::{Package, Root};
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::import::import_names;
use crate::tosca::{PLAIN_VERSION, v2_0};
use cuvee_text::files::read_bytes;
use cuvee_text::source::is_yaml;
use cuvee_text::source::{FileId, FileSystem, normalize};
use cuvee_text::value::Value;
use cuvee_text::yaml::{self, Document, Limits as YamlLimits, Node};
use flate2::Compression;
use flate2::read::DeflateEncoder;
use memchr::memmem;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

const LEVEL: u32 = 6;
const PERMISSIONS: u32 = 0o644;

/// The directory of the tests, at the root or beside the template.
const TESTS: &str = "tests";

/// The entry that tells which template substitutes which node.
const SUBSTITUTIONS: &str = "substitutions.json";

/// An extension of TOSCA. No archive holds a template that uses the extension, only plain ones made
/// of it.
pub(crate) struct Extension {
    /// Whether templates of this definitions version can be made plain.
    pub is_version: fn(&str) -> bool,
    /// The key in the topology that marks a template as one that uses the extension.
    pub key: &'static str,
}

/// The files of a package that go into an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extras {
    /// Only those that a deployment may need.
    Left,
    /// Hidden files and tests, too.
    Packed,
}

/// Packs a resolved template with the files of its package.
///
/// # Errors
/// `csar` where the template was not found in a package, where the archive would lack a file that
/// the result imports, or where readers would refuse the archive. `file` where a file cannot be
/// read.
pub(crate) fn pack(
    package: &Package,
    resolved: &str,
    extension: &Extension,
    extras: Extras,
) -> Result<Vec<u8>, Diagnostic> {
    let Some(root) = &package.root else {
        let message = format!(
            "no archive can be made of `{}`: it is not known which files belong to it",
            package.template.display()
        );
        return Err(
            error(message).help("name the directory or the archive that holds the template")
        );
    };
    let files = &*package.files;
    let entry =
        package.template.strip_prefix(&root.path).ok().and_then(in_archive).unwrap_or_default();
    let is_left_out = |path: &Path| is_left_out(package, root, extras, path);
    let paths = listed(files, &root.path, "an archive", &is_left_out)?;
    let mut contents = contents(files, root, paths, extension)?;
    contents.insert(entry.clone(), Content::Resolved(imports(resolved)));
    let meta = meta(root, &entry, resolved);
    let wanted = std::iter::once((META, entry.clone()))
        .chain(meta.others.iter().map(|other| (META, other.clone())));
    all_there(&contents, wanted, package.is_packed())?;
    if let Some(path) = names::outside(package, resolved, extension)? {
        let message =
            format!("the archive would not hold `{}`, which the result names", path.display());
        return Err(error(message).help("put that file below the root directory"));
    }

    let mut archive = ArchiveWriter::default();
    archive.add(
        META,
        meta.write(|name| matches!(contents.get(name), Some(Content::Same(_)))).as_bytes(),
    )?;
    for (name, content) in &contents {
        match content {
            Content::Resolved(_) => archive.add(name, resolved.as_bytes())?,
            Content::Relabelled(text, _) => archive.add(name, text)?,
            Content::Same(_) => archive.add(name, &read_bytes(files, &root.path.join(name))?)?,
        }
    }
    archive.finish()
}

/// Packs a result and the files that it names, as [`names::gather`] finds them. The result comes
/// first.
///
/// # Errors
/// `csar` where the name of a file is not allowed in an archive.
pub(crate) fn pack_files(files: &[(PathBuf, Vec<u8>)]) -> Result<Vec<u8>, Diagnostic> {
    pack_with_others(files, &[])
}

/// As [`pack_files`]. Behind the result follow templates that substitute nodes; `nodes` lists the
/// nodes of each.
///
/// # Errors
/// As [`pack_files`].
pub(crate) fn pack_nested(
    files: &[(PathBuf, Vec<u8>)],
    nodes: &[&[String]],
) -> Result<Vec<u8>, Diagnostic> {
    let mut others = Vec::new();
    for ((path, _), nodes) in files.iter().skip(1).zip(nodes) {
        others.push((entry_name(path)?, *nodes));
    }
    if let Some((path, _)) = files.iter().find(|(path, _)| path.as_os_str() == SUBSTITUTIONS) {
        return Err(error(format!("there is a file `{}` already", path.display())));
    }
    pack_with_others(files, &others)
}

/// As [`pack_files`], with the metadata of another archive about itself and about unchanged files.
///
/// # Errors
/// As [`pack_files`].
pub(crate) fn pack_converted(
    files: &[(PathBuf, Vec<u8>)],
    meta: Option<&Meta>,
) -> Result<Vec<u8>, Diagnostic> {
    let Some((path, meta)) = meta.and_then(|meta| converted_meta(files, meta)) else {
        return pack_files(files);
    };
    let mut archive = ArchiveWriter::default();
    archive.add(path, &meta)?;
    for (path, bytes) in files {
        archive.add(&entry_name(path)?, bytes)?;
    }
    archive.finish()
}

/// The `TOSCA.meta` of converted files, with what that of another archive says about itself and about
/// unchanged files. It lists the templates that are still there.
pub(crate) fn converted_meta(
    files: &[(PathBuf, Vec<u8>)],
    meta: &Meta,
) -> Option<(&'static str, Vec<u8>)> {
    let rest = files.get(1..)?;
    let is_there = |name: &str| rest.iter().any(|(path, _)| path == Path::new(name));
    let mut meta = meta.clone();
    meta.entry = in_archive(&files.first()?.0)?;
    meta.others.retain(|name| is_there(name));
    Some((META, meta.write(is_there).into_bytes()))
}

/// Packs definitions and the files that they name. The definitions come first.
///
/// # Errors
/// `csar` where the name of a file is not allowed in an archive.
pub(crate) fn pack_definitions(
    files: &[(PathBuf, Vec<u8>)],
    meta: Option<&Meta>,
) -> Result<Vec<u8>, Diagnostic> {
    let mut archive = ArchiveWriter::default();
    let (_, content) = definitions_meta(files, meta);
    archive.add(META, &content)?;
    for (path, bytes) in files {
        archive.add(&entry_name(path)?, bytes)?;
    }
    archive.finish()
}

/// The `TOSCA.meta` of an archive of definitions, based on that of another archive if there is one.
pub(crate) fn definitions_meta(
    files: &[(PathBuf, Vec<u8>)],
    meta: Option<&Meta>,
) -> (PathBuf, Vec<u8>) {
    let names: Vec<_> = files.iter().filter_map(|(path, _)| in_archive(path)).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let entry = names.first().copied().unwrap_or_default();
    let meta = meta.map_or_else(|| Meta::new(entry, None), |meta| meta.with_entry(entry));
    (META.into(), meta.write_definitions(&names).into_bytes())
}

fn entry_name(path: &Path) -> Result<String, Diagnostic> {
    in_archive(path)
        .ok_or_else(|| error(format!("the name of `{}` is not valid UTF-8", path.display())))
}

/// Writes which template substitutes which node, as JSON.
fn substitutions(others: &[(String, &[String])]) -> String {
    let each = others.iter().flat_map(|(file, nodes)| {
        nodes.iter().map(|node| (Arc::from(node.as_str()), Value::from(file.as_str())))
    });
    let all = [
        ("version".into(), Value::from(1_i64)),
        ("substitutions".into(), Value::Map(each.collect())),
    ];
    yaml::write_json(&yaml::Out::Value(Value::Map(all.into())))
}

fn pack_with_others(
    files: &[(PathBuf, Vec<u8>)],
    others: &[(String, &[String])],
) -> Result<Vec<u8>, Diagnostic> {
    let mut archive = ArchiveWriter::default();
    if let Some((path, resolved)) = files.first() {
        let root = Root::alone(path.parent().unwrap_or(Path::new("")).to_owned());
        let resolved = String::from_utf8_lossy(resolved);
        let mut meta = meta(&root, &entry_name(path)?, &resolved);
        meta.others.extend(others.iter().map(|(name, _)| name.clone()));
        archive.add(META, meta.write(|_| true).as_bytes())?;
    }
    for (path, bytes) in files {
        archive.add(&entry_name(path)?, bytes)?;
    }
    if !others.is_empty() {
        archive.add(SUBSTITUTIONS, substitutions(others).as_bytes())?;
    }
    archive.finish()
}

/// The content that the archive has for a file, and the names of the files that it imports.
pub(super) enum Content {
    Resolved(Vec<String>),
    Relabelled(Vec<u8>, Vec<String>),
    Same(Vec<String>),
}

impl Content {
    fn imports(&self) -> &[String] {
        match self {
            Self::Resolved(imports) | Self::Relabelled(_, imports) | Self::Same(imports) => imports,
        }
    }

    /// Decides what the archive holds for a YAML file. Returns nothing for a template that has to
    /// be resolved itself.
    pub(super) fn of_yaml(bytes: &[u8], extension: &Extension) -> Option<Self> {
        let is_template = memmem::find(bytes, b"tosca_definitions_version").is_some();
        let Some(document) = std::str::from_utf8(bytes)
            .ok()
            .filter(|_| is_template)
            .and_then(|text| parse(text, Some(extension.key)))
        else {
            return Some(Self::Same(Vec::new()));
        };
        let template = document.root();
        let imports = imports_of(template);
        let topology = template.get("topology_template");
        let is_extended = topology.is_some_and(|topology| topology.get(extension.key).is_some());
        let version = template.get("tosca_definitions_version");
        let other_version = version.filter(|version| {
            version.text().is_some_and(|text| text != PLAIN_VERSION && (extension.is_version)(text))
        });
        match other_version {
            _ if is_extended => None,
            None => Some(Self::Same(imports)),
            Some(_) if topology.is_some() => None,
            Some(version) => {
                let (before, after) = (
                    bytes.get(..version.span().start as usize)?,
                    bytes.get(version.span().end as usize..)?,
                );
                Some(Self::Relabelled([before, PLAIN_VERSION.as_bytes(), after].concat(), imports))
            }
        }
    }

    /// The new text of a file, where it has changed.
    pub(super) fn relabelled(self) -> Option<Vec<u8>> {
        match self {
            Self::Relabelled(text, _) => Some(text),
            Self::Resolved(_) | Self::Same(_) => None,
        }
    }
}

pub(super) fn error(message: String) -> Diagnostic {
    Diagnostic::error(Code::Csar, message)
}

/// The name of the archive entry for a path.
fn in_archive(path: &Path) -> Option<String> {
    path.iter().map(|part| part.to_str()).collect::<Option<Vec<_>>>().map(|parts| parts.join("/"))
}

/// The files that go into the archive, by their names in it, without `TOSCA.meta`.
fn contents(
    files: &dyn FileSystem,
    root: &Root,
    paths: Vec<PathBuf>,
    extension: &Extension,
) -> Result<BTreeMap<String, Content>, Diagnostic> {
    let mut contents = BTreeMap::new();
    for path in paths {
        let relative = path.strip_prefix(&root.path).unwrap_or(&path);
        let name = in_archive(relative)
            .ok_or_else(|| error(format!("the name of `{}` is not valid UTF-8", path.display())))?;
        if [META, META_AT_ROOT].contains(&&*name) {
            continue;
        }
        let content = if is_yaml(&path) {
            Content::of_yaml(&read_bytes(files, &path)?, extension)
        } else {
            Some(Content::Same(Vec::new()))
        };
        contents.extend(content.map(|content| (name, content)));
    }
    Ok(contents)
}

/// Whether a file or a directory is left out of the archive. Archives that were made of a directory
/// are never packed. Files that only the authors of the template need are packed if these ask for
/// them.
fn is_left_out(package: &Package, root: &Root, extras: Extras, path: &Path) -> bool {
    let is_directory = root.archive.is_none();
    let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let of_template = [Some(&*root.path), package.template.parent()];
    let are_tests =
        path.file_name().is_some_and(|name| name == TESTS) && of_template.contains(&path.parent());
    is_directory && path.extension().is_some_and(|extension| extension == "csar")
        || extras == Extras::Left && (is_directory && is_hidden || are_tests)
}

/// Lists every file below a directory, except those that are left out. `made` names the product in
/// messages.
pub(super) fn listed(
    files: &dyn FileSystem,
    root: &Path,
    made: &str,
    is_left_out: &dyn Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, Diagnostic> {
    let most = Limits::default().entries;
    let mut found = Vec::new();
    let mut open = vec![(root.to_owned(), 0)];
    while let Some((directory, depth)) = open.pop() {
        let unreadable = |why| {
            Diagnostic::error(Code::File, format!("cannot read `{}`: {why}", directory.display()))
        };
        for path in files
            .list(&directory)
            .map_err(unreadable)?
            .into_iter()
            .filter(|path| !is_left_out(path))
        {
            if files.is_link(&path) {
                let message = format!("`{}` is a link, which {made} cannot hold", path.display());
                return Err(error(message)
                    .help("replace the link by the file or directory that it leads to"));
            } else if files.is_file(&path) {
                found.push(path);
            } else if files.is_dir(&path) && depth < DEPTH {
                open.push((path, depth + 1));
            } else if files.is_dir(&path) {
                return Err(error(format!("`{}` lies too deep for {made}", path.display())));
            }
        }
        if found.len() > most {
            return Err(error(format!("`{}` holds more than {most} files", root.display())));
        }
    }
    Ok(found)
}

pub(super) fn parse(text: &str, key: Option<&str>) -> Option<Document> {
    let keep = |path: &[&str]| match path {
        [top] => matches!(
            *top,
            "tosca_definitions_version" | "topology_template" | "service_template" | "imports"
        ),
        ["imports", ..] => true,
        ["topology_template" | "service_template", inner] => Some(*inner) == key,
        _ => false,
    };
    let limits = YamlLimits::default();
    yaml::parse_filtered(FileId::DETACHED, text.into(), &limits, &keep).ok().map(v2_0::read)
}

fn imports(text: &str) -> Vec<String> {
    parse(text, None).map_or_else(Vec::new, |document| imports_of(document.root()))
}

fn imports_of(template: Node<'_>) -> Vec<String> {
    import_names(template).map(str::to_owned).collect()
}

/// The metadata of the archive: the existing ones, or new ones from the metadata of the template.
fn meta(root: &Root, entry: &str, resolved: &str) -> Meta {
    root.meta.clone().unwrap_or_else(|| {
        let document = yaml::parse(FileId::DETACHED, resolved.into(), &YamlLimits::default()).ok();
        let author = document
            .as_ref()
            .and_then(|document| document.root().get("metadata")?.get("template_author")?.as_str());
        let version = document.as_ref().and_then(|it| it.root().get("tosca_definitions_version"));
        let is_of_2_0 = version.and_then(Node::text) == Some(v2_0::VERSION);
        let mut meta = Meta::new(entry, author);
        meta.is_of_2_0 = is_of_2_0;
        meta
    })
}

/// Checks that the archive has all wanted files and everything that these import. Each wanted file
/// comes with the file that asks for it. The root of absolute paths is that of the archive, where
/// it has the file.
fn all_there<'c>(
    contents: &'c BTreeMap<String, Content>,
    wanted: impl Iterator<Item = (&'c str, String)>,
    is_packed: bool,
) -> Result<(), Diagnostic> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<_> = wanted.collect();
    while let Some((by, name)) = open.pop() {
        let Some((name, content)) = contents.get_key_value(&name) else {
            // Without a YAML ending, the import may be the name of a profile.
            if is_yaml(Path::new(&name)) {
                let message = format!("the archive would not hold `{name}`, which `{by}` needs");
                return Err(error(message).help(
                    "what is imported lies below the root, is no variable template itself, and, unless all files are asked for, neither hidden nor a test",
                ));
            }
            continue;
        };
        if seen.insert(name) {
            let directory = Path::new(name::parent(name).unwrap_or_default());
            let path = |import: &String| {
                let is_there = |name: &&str| is_packed || contents.contains_key(*name);
                let rooted = import.strip_prefix('/').filter(is_there);
                let path = rooted.map_or_else(|| directory.join(import), PathBuf::from);
                in_archive(&normalize(&path)).unwrap_or_default()
            };
            open.extend(content.imports().iter().map(|import| (name.as_str(), path(import))));
        }
    }
    Ok(())
}

/// An archive that is being written.
struct ArchiveWriter {
    zip: ZipWriter<Cursor<Vec<u8>>>,
    limits: Limits,
    entries: usize,
    total: u64,
}

impl Default for ArchiveWriter {
    fn default() -> Self {
        Self {
            zip: ZipWriter::new(Cursor::new(Vec::new())),
            limits: Limits::default(),
            entries: 0,
            total: 0,
        }
    }
}

impl ArchiveWriter {
    /// Adds a file, unless the archive would then exceed the limits of its readers.
    fn add(&mut self, name: &str, content: &[u8]) -> Result<(), Diagnostic> {
        let size = content.len() as u64;
        self.entries += 1;
        self.total += size;
        let checked = name::checked(name)
            .map_err(|why| error(format!("the name of `{}` {why}", name.escape_debug())))?;
        if self.entries > self.limits.entries
            || size > self.limits.entry
            || self.total > self.limits.total
        {
            return Err(error(format!("with `{name}` the archive would be too large")));
        }
        let method = if self.is_believable(content) {
            CompressionMethod::Deflated
        } else {
            CompressionMethod::Stored
        };
        let options = SimpleFileOptions::DEFAULT
            .compression_method(method)
            .compression_level((method == CompressionMethod::Deflated).then_some(i64::from(LEVEL)))
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(PERMISSIONS)
            .system(System::Unix);
        let started = self.zip.start_file(checked, options).map_err(io::Error::other);
        started.and_then(|()| self.zip.write_all(content)).map_err(unwritable)
    }

    /// Whether the compression ratio of the content is low enough that readers do not take it for a
    /// bomb.
    fn is_believable(&self, content: &[u8]) -> bool {
        let size = content.len() as u64;
        if !self.limits.is_bomb(size, 0) {
            return true;
        }
        // A part of the compressed content is enough to see that.
        let enough = size / self.limits.ratio + 1;
        let compressed = io::copy(
            &mut DeflateEncoder::new(content, Compression::new(LEVEL)).take(enough),
            &mut io::sink(),
        );
        !self.limits.is_bomb(size, compressed.unwrap_or(0))
    }

    fn finish(self) -> Result<Vec<u8>, Diagnostic> {
        self.zip
            .finish()
            .map(Cursor::into_inner)
            .map_err(|error| unwritable(io::Error::other(error)))
    }
}

fn unwritable(why: io::Error) -> Diagnostic {
    error(format!("the archive cannot be written: {why}"))
}
