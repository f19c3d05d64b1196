//! Holds what an editor has chosen, and what follows for a template: what its variant lacks.

use super::documents::grown;
use super::protocol::{Encoding, Range, TextChange};
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
}

impl Default for EditorSettings {
    fn default() -> Self {
        Self { preset: String::new(), inlay_hints: true, lenses: true }
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
