//! Variability inputs: declarations, and the values that presets, the environment, files and calls
//! assign to them (specification, "Variability Input" and "Variability Preset").
//!
//! `value(i)` is the last assignment of `i`, else its `default`, else its `default_expression`,
//! else missing.

mod assignment;
mod data_type;
mod declaration;
mod feature_ide;
mod features;
mod preset;

pub(crate) use assignment::{
    Assignment, INPUT_VARIABLE, InputMode, InputValue, InputValues, assign, from_environment,
    parse_assignment_text, presets_from_environment, read_file,
};
pub(crate) use declaration::{Declaration, Declarations, InputId, is_expression};
pub(crate) use feature_ide::{from_feature_ide, input_name};
pub(crate) use features::{FeatureKeyword, FeatureRule, check_assigned, check_features};
pub(crate) use preset::VariabilityPresets;

/// The keynames of a variability input.
pub(crate) fn input_keywords() -> impl Iterator<Item = &'static str> {
    let features = FeatureKeyword::ALL.iter().map(|keyword| keyword.as_str());
    declaration::KEYWORDS.into_iter().chain(features)
}

/// The keynames of a variability preset.
pub(crate) fn preset_keywords() -> impl Iterator<Item = &'static str> {
    preset::KEYWORDS.into_iter()
}

use crate::diagnostic::{Code, Diagnostic, Diagnostics, listed};
use cuvee_text::yaml::{Node, NodeKind};

/// The inputs of one run, with their declarations and their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs<'a> {
    /// The declarations.
    pub declarations: Declarations<'a>,
    /// The value of each input.
    pub values: InputValues<'a>,
}

/// The named entries of a map, or of a list of maps with one entry each; none if there is no node.
fn named<'a>(
    node: Option<Node<'a>>,
    what: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<(&'a str, Node<'a>, Node<'a>)> {
    let mut found = Vec::new();
    let mut add =
        |(key, value): (Node<'a>, Node<'a>), diagnostics: &mut Diagnostics| match key.text() {
            Some(name) => found.push((name, key, value)),
            None => diagnostics.push(shape(
                key,
                format!("the name of {what} must be a string, not {}", key.describe()),
            )),
        };
    match node {
        None => {}
        Some(node) if node.is_null() => {}
        Some(node) if node.kind() == NodeKind::Mapping => {
            node.entries().for_each(|entry| add(entry, diagnostics))
        }
        Some(node) if node.kind() == NodeKind::Sequence => {
            for item in node.items() {
                match item.entries().next() {
                    Some(entry) if item.entries().len() == 1 => add(entry, diagnostics),
                    _ => diagnostics.push(shape(
                        item,
                        format!("{what} in a list must be a map with its name as only key"),
                    )),
                }
            }
        }
        Some(node) => diagnostics.push(shape(
            node,
            format!("expected {what} by name, in a map or a list, not {}", node.describe()),
        )),
    }
    found
}

/// An error about a part of the template that does not have the form of the specification.
fn shape(node: Node<'_>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::InvalidTemplate, message).at(node.span())
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod vocabulary;
