//! Lists the words of options for the reference of the language: `docs/language.md`.

use super::names::Aspect;
use super::table::{TABLE, Takes};
use super::{presets, versions};
use crate::variability::element::ElementKind;
use serde_yaml::Value;

/// Each word with a prefix that tells what it is, such as `option pruning`, and its description in
/// the tables.
pub(crate) fn words() -> Vec<(String, Option<String>)> {
    let mut words = options();
    let mut add = |of: &str, word: &str| words.push((format!("{of} {word}"), None));
    versions().for_each(|version| add("version", version));
    presets::editions().for_each(|edition| add("edition", edition));
    modes().iter().for_each(|mode| add("mode", mode));
    Aspect::NAMES.iter().for_each(|aspect| add("aspect", aspect));
    for kind in ElementKind::ALL {
        match kind.parts() {
            [] => add("condition", kind.as_str()),
            parts => {
                let alias = kind.part_alias().map(|(alias, _)| alias);
                let parts = parts.iter().map(|part| part.as_str()).chain(alias);
                parts.for_each(|part| add(&format!("part {kind}"), part));
            }
        }
    }
    words
}

/// The options, and the values of those that are not switches.
fn options() -> Vec<(String, Option<String>)> {
    let mut words = Vec::new();
    for (_, option) in &TABLE.options {
        let names = std::iter::once(&*option.name).chain(option.alias);
        let named =
            names.map(|name| (format!("option {name}"), Some(option.description.to_string())));
        words.extend(named);
        let values = match option.takes {
            Takes::Words(values) if values[0] != "true" => values.to_vec(),
            Takes::WordsOrTrue(values, _) => [values, &["true"]].concat(),
            _ => Vec::new(),
        };
        let values =
            values.into_iter().map(|value| (format!("value {} {value}", option.name), None));
        words.extend(values);
    }
    words
}

fn modes() -> Vec<String> {
    let names = presets::MODES.iter().flat_map(|(path, text)| {
        let mode: Value = serde_yaml::from_str(text).unwrap();
        let aliases = mode.get("aliases").and_then(Value::as_sequence).cloned().unwrap_or_default();
        let aliases = aliases.into_iter().map(|alias| alias.as_str().unwrap().to_owned());
        let name = path.rsplit('/').next().unwrap_or(path);
        std::iter::once(name.to_owned()).chain(aliases.collect::<Vec<_>>())
    });
    names.collect()
}
