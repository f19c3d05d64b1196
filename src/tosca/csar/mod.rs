//! Reads and writes TOSCA archives: a template with all files it needs, as one zip file or as a
//! directory. Tarballs, which TOSCA 2.0 has as well, are read.
//!
//! Specification: chapter 6 of TOSCA Simple Profile 1.3, and chapter 16 of TOSCA 1.0 for the syntax
//! of `TOSCA.meta`.
//!
//! | what the archive has | the template |
//! |---|---|
//! | `TOSCA-Metadata/TOSCA.meta` | what its `Entry-Definitions` names |
//! | else, in a directory, a file of a usual name | that file |
//! | else a single YAML file at the root, whose metadata hold `template_name` and `template_version` | that file |
//!
//! Nothing in an archive is trusted: see [`Archive`]. No entry is ever unpacked to a disk, and no
//! entry can make a file outside of the archive be read.

mod archive;
mod meta;
mod name;
mod names;
mod pack;
mod package;
mod tarball;
mod tree;

pub use archive::{Archive, Limits};
pub(crate) use meta::{META, META_DIRECTORY, Meta, check_definitions, is_pattern, matches_pattern};
pub(crate) use names::{gather, imports_by_path, renamed, renamed_nodes};
pub(crate) use pack::{
    Extension, Extras, converted_meta, definitions_meta, pack, pack_converted, pack_definitions,
    pack_files, pack_nested,
};
pub(crate) use package::{Package, TEMPLATE_NAMES, has_template};

use std::path::{Path, PathBuf};

/// The endings of archives that are written.
const WRITTEN: [&str; 2] = [".csar", ".zip"];

/// The endings of tarballs, which are read only.
const TARBALLS: [&str; 3] = [".tar", ".tar.gz", ".tgz"];

/// Whether a path names an archive that can be read: it ends in `.csar` or `.zip`, or in `.tar`,
/// `.tar.gz` or `.tgz`.
///
/// ```
/// assert!(cuvee::source::csar::is_archive("shop.csar".as_ref()));
/// assert!(cuvee::source::csar::is_archive("shop.tar.gz".as_ref()));
/// assert!(!cuvee::source::csar::is_archive("shop.yaml".as_ref()));
/// ```
pub fn is_archive(path: &Path) -> bool {
    is_written_archive(path) || is_tarball(path)
}

/// Whether a path names an archive that can be written: it ends in `.csar` or `.zip`.
///
/// ```
/// assert!(cuvee::source::csar::is_written_archive("shop.zip".as_ref()));
/// assert!(!cuvee::source::csar::is_written_archive("shop.tar".as_ref()));
/// ```
pub fn is_written_archive(path: &Path) -> bool {
    ends(path, &WRITTEN)
}

/// Whether a path names a tarball.
fn is_tarball(path: &Path) -> bool {
    ends(path, &TARBALLS)
}

fn ends(path: &Path, endings: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_end = |ending: &&str| {
        let start = name.len().checked_sub(ending.len()).filter(|start| *start > 0);
        start.is_some_and(|start| name[start..].eq_ignore_ascii_case(ending.as_bytes()))
    };
    endings.iter().any(is_end)
}

/// The archive in which a file is, by the path that the file has in messages.
///
/// ```
/// use cuvee::source::csar::archive_around;
/// let file = "/tea/shop.csar:/lib/types.yaml".as_ref();
/// assert_eq!(archive_around(file).unwrap(), std::path::Path::new("/tea/shop.csar"));
/// assert_eq!(archive_around("/tea/shop.csar".as_ref()), None);
/// ```
pub fn archive_around(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|part| {
        let archive = Path::new(part.to_str()?.strip_suffix(':')?);
        is_archive(archive).then(|| archive.to_owned())
    })
}
