//! What `config.yaml` beside a template says it depends on: directories that count as if they lay
//! beside the template.
//!
//! Nothing is fetched, and nothing is copied.

use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::text::files::{Files, read_bytes};
use crate::text::mounted::Mounted;
use crate::text::source::{FileSystem, normalize};
use crate::text::yaml::Node;
use crate::tosca::import::is_url;
use memchr::memmem;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const CONFIG: &str = "config.yaml";
const DEPENDENCIES: &str = "dependencies";

/// The files that come with a template in this directory, those that it depends on among them.
///
/// The file is called what many tools call theirs, so that only what it says of dependencies is
/// looked at, and whatever is wrong with it is a warning.
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
    let document = document.map_err(|error| Diagnostic { severity: Severity::Warning, ..error });
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
    // What cannot be read is none that somebody wrote for this.
    let bytes = read_bytes(system, path);
    bytes.is_ok_and(|bytes| memmem::find(&bytes, DEPENDENCIES.as_bytes()).is_some())
}

/// The directory that a source names: what it is called, and where it is.
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

/// Whether this names what a tool would have to fetch: a URL, or what git takes for one.
fn is_remote(source: &str) -> bool {
    let host = source.split('/').next().unwrap_or_default();
    is_url(source) || source.ends_with(".git") || host.contains('@') && host.contains(':')
}
