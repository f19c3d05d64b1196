//! Derives the change of expectations with which a failing case would pass.

use super::settings::CaseSettings;
use super::{CasePlace, EXPECTED, SETTINGS, compare, load};
use crate::Resolution;
use crate::diagnostic::CodeName;
use cuvee_text::source::{FileSystem, SourceMap, normalize};
use cuvee_text::yaml::{Out, with_strings, write_yaml};
use std::path::{Path, PathBuf};

/// A file with which a case would pass, as far as results are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Update {
    /// The path of the existing or new file.
    pub path: PathBuf,
    /// The whole content of the file.
    pub content: String,
}

/// The expected template as an update. Returns nothing where a `merge` is laid over it, because a
/// difference could belong to either of the two, and where the file is one that the case reads as
/// template, inputs or settings.
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

/// The settings with another error code, as an update.
pub(super) fn error(place: &CasePlace, code: CodeName, files: &dyn FileSystem) -> Option<Update> {
    let path = place.case.join(SETTINGS);
    let document = load(&path, files, &mut SourceMap::default()).ok()?;
    let error = document.root().get("error")?;
    let content = with_strings(&document, vec![(error, code.as_str().to_owned())]);
    Some(Update { path, content })
}
