//! Reads the dependencies from the `config.yaml` beside a template: directories that are treated as
//! if they were beside the template.
//!
//! Nothing is fetched, and nothing is copied.

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::tosca::import::is_url;
use cuvee_text::files::{Files, read_bytes};
use cuvee_text::mounted::Mounted;
use cuvee_text::source::{FileSystem, normalize};
use cuvee_text::yaml::Node;
use memchr::memmem;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const CONFIG: &str = "config.yaml";
const DEPENDENCIES: &str = "dependencies";

/// Makes a file system of the files in the directory of the template and of its dependencies.
///
/// Many tools call their configuration `config.yaml`. Therefore only the part about dependencies is
/// read, and every error in it is only a warning.
pub(super) fn with_dependencies(
    system: Arc<dyn FileSystem + Send>,
    base: &Path,
    files: &Files,
    warnings: &mut Diagnostics,
) -> Arc<dyn FileSystem + Send> {
    let path = base.join(CONFIG);
    if !system.is_file(&path) || !speaks_of_dependencies(&*system, &path) {
        return system;
    }
    let document = files.document(&*system, &path);
    let document = document.map_err(|error| error.with_severity(Severity::Warning));
    let Some(document) = warnings.ok(document) else { return system };
    let mut mounts: Vec<(OsString, PathBuf)> = Vec::new();
    let listed = document.root().get(DEPENDENCIES).into_iter().flat_map(Node::items);
    for source in listed.filter_map(|dependency| dependency.get("source")) {
        let found = source.as_str().map(|text| directory(&*system, base, source, text));
        let Some((name, place)) = found.and_then(|found| warnings.ok(found)) else { continue };
        let beside = base.join(&name);
        let is_there = system.is_file(&beside) || system.is_dir(&beside);
        if !is_there && mounts.iter().all(|(mounted, _)| *mounted != name) {
            mounts.push((name, place));
        }
    }
    if mounts.is_empty() { system } else { Arc::new(Mounted::new(system, base, mounts)) }
}

fn speaks_of_dependencies(system: &dyn FileSystem, path: &Path) -> bool {
    // A file that cannot be read was not written for this purpose.
    let bytes = read_bytes(system, path);
    bytes.is_ok_and(|bytes| memmem::find(&bytes, DEPENDENCIES.as_bytes()).is_some())
}

/// The directory that a source refers to: its name and its path.
fn directory(
    system: &dyn FileSystem,
    base: &Path,
    source: Node<'_>,
    text: &str,
) -> Result<(OsString, PathBuf), Diagnostic> {
    let place = normalize(&base.join(text));
    match place.file_name() {
        Some(name) if system.is_dir(&place) => return Ok((name.to_owned(), place)),
        _ => {}
    }
    let warning = |message| Diagnostic::warning(Code::File, message).at(source.span());
    Err(if is_remote(text) {
        warning(format!("`{text}` is not fetched: of dependencies only local directories count"))
            .help("name a local copy of it, or put one beside the template")
    } else {
        warning(format!("`{text}` is no directory that could lie beside the template"))
            .help(format!("a `source` starts at the directory that holds `{CONFIG}`"))
    })
}

/// Whether the source is something that would have to be fetched: a URL, or a form that git accepts
/// as one.
fn is_remote(source: &str) -> bool {
    let host = source.split('/').next().unwrap_or_default();
    is_url(source) || source.ends_with(".git") || host.contains('@') && host.contains(':')
}
