//! Reads files: the template, its library, its imports. Nothing else in the crate does.
//!
//! The library is read once, by as many threads as there are cores, and only what resolving needs
//! of it is kept.

mod imports;
mod mapping;

pub use imports::{Importing, import_names};
pub use mapping::{Mapping, is_profile};

use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::text::source::{FileId, FileSystem, SourceMap};
use crate::text::yaml::{self, Document, Job, Keep, Limits};
use crate::tosca::types;
use memchr::memmem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The names under which a directory's template is found, the first one first.
pub const TEMPLATE_NAMES: [&str; 4] =
    ["variable-service-template.yaml", "service-template.yaml", "template.yaml", "vst.yaml"];

/// The template and the service templates under `lib/` next to it.
#[derive(Debug)]
pub struct Opened {
    /// The template.
    pub template: Document,
    /// Where it is: relative paths in it start here.
    pub base: PathBuf,
    /// The library, in the order of its paths.
    pub library: Vec<Document>,
}

/// Finds the template of a path: the file, or the file of a usual name in the directory.
///
/// # Errors
/// `file` where there is none.
pub fn find_template(files: &dyn FileSystem, path: &Path) -> Result<PathBuf, Diagnostic> {
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

/// Reads the text of a file into the sources.
///
/// # Errors
/// `file` where it cannot be read or is too large, `syntax` where it is not UTF-8.
pub fn read(
    files: &dyn FileSystem,
    sources: &mut SourceMap,
    path: &Path,
) -> Result<(FileId, Arc<str>), Diagnostic> {
    let text = read_text(files, path)?;
    let id = sources.add(path, Arc::clone(&text));
    Ok((id, text))
}

fn read_text(files: &dyn FileSystem, path: &Path) -> Result<Arc<str>, Diagnostic> {
    decode(path, read_bytes(files, path)?)
}

/// Reads a whole file.
///
/// # Errors
/// `file` where it cannot be read or is too large.
pub fn read_bytes(files: &dyn FileSystem, path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let limit = Limits::default().bytes;
    let error = |why: &dyn std::fmt::Display| {
        Diagnostic::error(Code::File, format!("cannot read `{}`: {why}", path.display()))
    };
    // A stream such as `/dev/stdin` has no size to look at; what it gives is measured by the
    // parser.
    if files.size(path).is_ok_and(|size| size > limit) {
        return Err(error(&format!("it is larger than {} MiB", limit >> 20)));
    }
    files.read(path).map_err(|why| error(&why))
}

fn decode(path: &Path, bytes: Vec<u8>) -> Result<Arc<str>, Diagnostic> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(why) => {
            let at = why.utf8_error().valid_up_to();
            let message =
                format!("`{}` is not UTF-8: byte {at} starts no character", path.display());
            Err(Diagnostic::error(Code::Syntax, message).help("save the file as UTF-8"))
        }
    }
}

/// Reads and parses a YAML file.
///
/// # Errors
/// As [`read`], and `syntax` at its place.
pub fn document(
    files: &dyn FileSystem,
    sources: &mut SourceMap,
    path: &Path,
) -> Result<Document, Diagnostic> {
    let (id, text) = read(files, sources, path)?;
    yaml::parse(id, text, &Limits::default())
}

/// Parses the template, and beside it the library.
///
/// # Errors
/// As [`document`], for every file.
pub fn open(
    files: &dyn FileSystem,
    sources: &mut SourceMap,
    path: &Path,
    text: Option<String>,
) -> Result<Opened, Diagnostics> {
    let base = path.parent().map(Path::to_owned).unwrap_or_default();
    let (id, text) = match text {
        Some(text) => {
            let text: Arc<str> = text.into();
            (sources.add(path, Arc::clone(&text)), text)
        }
        None => read(files, sources, path)?,
    };
    let mut jobs = vec![(id, text)];
    let mut diagnostics = Diagnostics::default();
    for file in library_files(files, &base.join("lib")) {
        // Below `lib/` lie playbooks and scripts too: only what calls itself a service template is
        // one.
        let bytes = diagnostics.ok(read_bytes(files, &file));
        let template =
            bytes.filter(|bytes| memmem::find(bytes, b"tosca_definitions_version").is_some());
        if let Some(text) = template.and_then(|bytes| diagnostics.ok(decode(&file, bytes))) {
            jobs.push((sources.add(file, Arc::clone(&text)), text));
        }
    }
    let mut parsed = parse_all(&jobs, |index| index == 0).into_iter();
    let template = parsed.next().and_then(|template| diagnostics.ok(template));
    let library = parsed.filter_map(|document| diagnostics.ok(document)).collect();
    match template {
        Some(template) if !diagnostics.has_errors() => Ok(Opened { template, base, library }),
        _ => Err(diagnostics),
    }
}

/// Every YAML file below a directory, sorted; nothing where there is no such directory.
fn library_files(files: &dyn FileSystem, directory: &Path) -> Vec<PathBuf> {
    const DEPTH: usize = 16;
    let mut found = Vec::new();
    let mut open = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = open.pop() {
        for path in files.list(&directory).unwrap_or_default() {
            if is_yaml(&path) && files.is_file(&path) {
                found.push(path);
            } else if depth < DEPTH && files.is_dir(&path) {
                open.push((path, depth + 1));
            }
        }
    }
    found.sort();
    found
}

/// Whether this is called a YAML file.
pub fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Parses texts on all cores; `whole` says which are wanted whole rather than for their types.
fn parse_all(
    jobs: &[(FileId, Arc<str>)],
    whole: impl Fn(usize) -> bool,
) -> Vec<Result<Document, Diagnostic>> {
    let job = |(index, (file, text)): (usize, &(FileId, Arc<str>))| {
        let keep: Option<Keep<'_>> = if whole(index) { None } else { Some(&types::is_needed) };
        Job { file: *file, text: Arc::clone(text), keep }
    };
    let jobs: Vec<_> = jobs.iter().enumerate().map(job).collect();
    yaml::parse_all(&jobs, &Limits::default())
}

/// Reads the optional file of the first of these names that exists.
///
/// # Errors
/// As [`document`].
pub fn optional(
    files: &dyn FileSystem,
    sources: &mut SourceMap,
    base: &Path,
    names: &[&str],
) -> Result<Option<Document>, Diagnostic> {
    let found = names.iter().map(|name| base.join(name)).find(|path| files.is_file(path));
    found.map(|path| document(files, sources, &path)).transpose()
}
