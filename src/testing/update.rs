//! What failing cases would have to expect to pass.

use super::settings::CaseSettings;
use super::{CasePlace, EXPECTED, SETTINGS, compare, load};
use crate::Resolution;
use crate::text::diagnostic::Code;
use crate::text::source::{FileSystem, SourceMap, normalize};
use crate::text::yaml::{Out, with_strings, write_yaml};
use std::path::{Path, PathBuf};

/// A file with which a case would pass, as far as results go.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Update {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// All that it would hold.
    pub content: String,
}

/// The expected template; nothing where something is laid over it, so that nobody knows in which of
/// the two a difference belongs, and where it is what was resolved.
pub(super) fn expected(
    place: &CasePlace,
    settings: &CaseSettings,
    path: Option<&Path>,
    resolution: &Resolution,
    template: &Path,
) -> Option<Update> {
    let [.., usual] = EXPECTED;
    let path = normalize(&path.map_or_else(|| place.case.join(usual), Path::to_owned));
    let inputs = settings.inputs.iter().map(|file| place.case.join(file));
    let mut read = inputs.chain([template.to_owned(), place.case.join(SETTINGS)]);
    if settings.merge.is_some() || read.any(|read| normalize(&read) == path) {
        return None;
    }
    let content = match &settings.replace[..] {
        [] => resolution.to_yaml().to_owned(),
        pairs => write_yaml(&Out::Value(compare::replace(&resolution.to_value(), pairs))),
    };
    Some(Update { path, content })
}

/// The settings with the code of another error.
pub(super) fn error(place: &CasePlace, code: Code, files: &dyn FileSystem) -> Option<Update> {
    let path = place.case.join(SETTINGS);
    let document = load(&path, files, &mut SourceMap::default()).ok()?;
    let error = document.root().get("error")?;
    let content = with_strings(&document, vec![(error, code.as_str().to_owned())]);
    Some(Update { path, content })
}
