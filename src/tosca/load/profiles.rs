//! Finds the files of profiles by the names that they have (TOSCA 2.0, section 6.8.1). Nothing is
//! fetched: profiles are looked for in directories that the caller names, then in the archive.

use super::loaded::files_below;
use crate::diagnostic::Diagnostics;
use crate::tosca::import::profile_name;
use cuvee_text::files::read_bytes;
use cuvee_text::source::{FileSystem, is_yaml};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// The files of profiles by name. The boolean says that the file is outside of the package.
pub(super) type Profiles = FxHashMap<String, (PathBuf, bool)>;

/// The profiles below these directories. Where several files have one name, the first one counts.
pub(super) fn find<'p>(
    directories: impl Iterator<Item = (&'p dyn FileSystem, &'p Path, bool)>,
) -> Profiles {
    let mut profiles = Profiles::default();
    for (files, directory, is_outside) in directories {
        // What cannot be read is no profile.
        for path in files_below(files, directory, is_yaml, &mut Diagnostics::default()) {
            if let Some(name) = name(files, &path) {
                profiles.entry(name).or_insert((path, is_outside));
            }
        }
    }
    profiles
}

/// The name of the profile in a file.
fn name(files: &dyn FileSystem, path: &Path) -> Option<String> {
    profile_name(&String::from_utf8(read_bytes(files, path).ok()?).ok()?)
}
