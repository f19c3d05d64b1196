//! Lists the words of variability inputs and presets for the reference of the language:
//! `docs/language.md`.

use super::declaration::{KEYWORDS, SCHEMA, TOLERATED};
use super::features::FeatureKeyword;
use super::preset;

/// Each word with a prefix that tells what it is, such as `input default`.
pub(crate) fn words() -> Vec<String> {
    let features = FeatureKeyword::ALL.iter().map(|keyword| keyword.as_str());
    let inputs = KEYWORDS.into_iter().chain(SCHEMA).chain(TOLERATED).chain(features);
    let presets = preset::KEYWORDS.into_iter().map(|word| format!("preset {word}"));
    inputs.map(|word| format!("input {word}")).chain(presets).collect()
}
