//! Holds what an editor has chosen, and what follows for a template: what its variant lacks.

use super::documents::grown;
use super::protocol::{Encoding, Range, TextChange};
use cuvee::Resolver;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What an editor says of a preset for one template.
pub(super) const PRESET: &str = "cuvee/preset";

/// What the server says of elements that a variant does not have.
pub(super) const ABSENT: &str = "cuvee/absent";

/// What an editor shows anew when what was told to it is another one, each with the capability of
/// an editor that can.
pub(super) const REFRESHES: [(&str, &str); 4] = [
    ("/workspace/semanticTokens/refreshSupport", TOKENS_REFRESH),
    ("/workspace/inlayHint/refreshSupport", HINTS_REFRESH),
    ("/workspace/codeLens/refreshSupport", LENSES_REFRESH),
    ("/workspace/diagnostics/refreshSupport", FINDINGS_REFRESH),
];
pub(super) const TOKENS_REFRESH: &str = "workspace/semanticTokens/refresh";
pub(super) const HINTS_REFRESH: &str = "workspace/inlayHint/refresh";
pub(super) const LENSES_REFRESH: &str = "workspace/codeLens/refresh";
pub(super) const FINDINGS_REFRESH: &str = "workspace/diagnostic/refresh";

/// The settings of an editor, below `cuvee`.
#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct EditorSettings {
    /// The preset that is shown where none is chosen for a template; none where it is empty.
    pub preset: String,
    /// Whether there are inlay hints.
    pub inlay_hints: bool,
    /// Whether there are lenses.
    pub lenses: bool,
    /// Directories in which profiles are looked for, from the folders of the workspace.
    pub profile_paths: Vec<PathBuf>,
    /// Local files and directories by URLs and names of profiles, from the folders of the workspace.
    pub map: BTreeMap<String, PathBuf>,
}

/// Where imports are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ImportLookup {
    pub mappings: Vec<(String, PathBuf)>,
    pub profile_paths: Vec<PathBuf>,
}

impl ImportLookup {
    /// Adds what an editor has chosen. It wins over arguments of the server.
    pub(super) fn chosen(mut self, settings: &EditorSettings, folders: &[PathBuf]) -> Self {
        let here = [PathBuf::new()];
        let folders = if folders.is_empty() { &here } else { folders };
        let paths =
            |path: &PathBuf| -> Vec<_> { folders.iter().map(|base| base.join(path)).collect() };
        let chosen = settings.profile_paths.iter().flat_map(paths);
        self.profile_paths = chosen.chain(std::mem::take(&mut self.profile_paths)).collect();
        // Of several folders, the one that has the file is meant.
        let found = |path: &PathBuf| {
            let all = paths(path);
            all.iter().find(|path| path.exists()).or(all.first()).unwrap_or(path).clone()
        };
        let chosen = settings.map.iter().map(|(url, path)| (url.clone(), found(path)));
        self.mappings.extend(chosen);
        self
    }

    /// Lets a template find its imports there.
    pub(super) fn apply(&self, resolver: Resolver) -> Resolver {
        let mapped = self.mappings.iter();
        let resolver = mapped.fold(resolver, |resolver, (url, path)| resolver.map(url, path));
        self.profile_paths.iter().fold(resolver, |resolver, path| resolver.profile_path(path))
    }
}

impl Default for EditorSettings {
    fn default() -> Self {
        let (preset, profile_paths, map) = Default::default();
        Self { preset, inlay_hints: true, lenses: true, profile_paths, map }
    }
}

impl EditorSettings {
    /// The settings in a value, which may have them below `cuvee`. What is no setting is passed
    /// over.
    pub(super) fn of(value: &Value) -> Option<Self> {
        let own = value.get("cuvee").unwrap_or(value);
        own.is_object().then(|| serde_json::from_value(own.clone()).ok()).flatten()
    }
}

/// The preset that is shown for one template.
#[derive(Deserialize)]
pub(super) struct ChosenPreset {
    pub uri: String,
    /// The name; none for the one of the settings, an empty one for none at all.
    #[serde(default)]
    pub preset: Option<String>,
}

/// What is shown of a preset: the ranges that its variant does not have, by file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ShownPreset {
    pub name: String,
    pub absent: BTreeMap<PathBuf, Vec<Range>>,
}

impl ShownPreset {
    /// What is absent in a file.
    pub(super) fn absent_in(&self, path: &Path) -> &[Range] {
        self.absent.get(path).map_or(&[], Vec::as_slice)
    }

    /// Moves what is absent, as the text of a file changes.
    pub(super) fn change(&mut self, path: &Path, change: &TextChange, encoding: Encoding) {
        if let Some(absent) = self.absent.get_mut(path) {
            *absent = absent.iter().filter_map(|&it| grown(it, change, encoding)).collect();
        }
    }
}
