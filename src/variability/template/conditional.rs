//! Reads the variability settings that elements of every kind may declare.

use super::shape::{self, COMMON, of_kind};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::{Named, PropertyDefinition};
use crate::variability::element::ElementKind;
use crate::variability::options::{ModePart, parse_mode};
use cuvee_text::source::Span;
use cuvee_text::yaml::{Document, Node, NodeKind};
use std::num::NonZeroU32;

/// The value of `implied`: which element's presence, together with the manual conditions, implies
/// this element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Implied {
    /// No element.
    No,
    /// The container; for a relation, the source.
    Container,
    /// The target, for a relation.
    Target,
}

/// An entry of `implies`: the element implies the target if the condition holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Implication<'a> {
    /// The implied expression.
    pub target: Node<'a>,
    /// The condition, if there is one.
    pub condition: Option<Node<'a>>,
}

/// The settings of an element that few elements have.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElementSettings<'a> {
    /// The conditions of an element of an imported file, which are those of its imports.
    pub settled: Option<Node<'a>>,
    /// `implies`
    pub implies: Vec<Implication<'a>>,
    /// `implied`
    pub implied: Option<Implied>,
    /// `default_alternative`
    pub default_alternative: Option<bool>,
    /// `default_condition`
    pub default_condition: Option<bool>,
    /// `default_condition_mode`
    pub default_condition_mode: Option<Vec<ModePart>>,
    /// `default_consistency_condition`, `default_semantic_condition`
    pub default_aspects: [Option<bool>; 2],
    /// `pruning`
    pub pruning: Option<bool>,
    /// `consistency_pruning`, `semantic_pruning`
    pub pruning_aspects: [Option<bool>; 2],
}

/// A node below an element, or none: its position in the document of the element. The root, at 0,
/// is below nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PartPosition(Option<NonZeroU32>);

impl PartPosition {
    /// The position of a node.
    pub(super) fn of(node: Node<'_>) -> Self {
        Self(NonZeroU32::new(node.position()))
    }
}

/// An element as it is declared: its name, its places and its variability.
///
/// A large template has many of them, so nodes are kept as positions in their document.
#[derive(Clone, Debug)]
pub(crate) struct Declared<'a> {
    document: &'a Document,
    key: u32,
    value: u32,
    /// What the author wrote as `conditions`.
    conditions: PartPosition,
    settings: Option<Box<ElementSettings<'a>>>,
}

impl<'a> Declared<'a> {
    /// An element without variability. Its value is the name itself if there is no other.
    pub(super) fn new(key: Node<'a>, value: Option<Node<'a>>) -> Self {
        Self {
            document: key.document(),
            key: key.position(),
            value: value.unwrap_or(key).position(),
            conditions: PartPosition::default(),
            settings: None,
        }
    }

    /// The name.
    pub(crate) fn name(&self) -> &'a str {
        self.key().text().unwrap_or_default()
    }

    /// The place of the name.
    pub(crate) fn key(&self) -> Node<'a> {
        self.document.at(self.key)
    }

    /// The node under the name; the name itself if there is none.
    pub(crate) fn value(&self) -> Node<'a> {
        self.document.at(self.value)
    }

    /// `conditions`: one expression or a list of them.
    pub(crate) fn conditions(&self) -> Option<Node<'a>> {
        self.part(self.conditions).or_else(|| self.settings()?.settled)
    }

    /// The node at a position of its document.
    pub(super) fn part(&self, position: PartPosition) -> Option<Node<'a>> {
        Some(self.document.at(position.0?.get()))
    }

    /// The rare settings, if there are any.
    pub(crate) fn settings(&self) -> Option<&ElementSettings<'a>> {
        self.settings.as_deref()
    }

    /// `default_alternative`
    pub(crate) fn default_alternative(&self) -> Option<bool> {
        self.settings()?.default_alternative
    }

    /// Its name and its value.
    pub(crate) fn named(&self) -> Named<'a> {
        Named { name: self.name(), key: self.key(), value: self.value() }
    }

    /// Its definition as a parameter: an input or an output of the topology.
    pub(crate) fn parameter_definition(
        &self,
        diagnostics: &mut Diagnostics,
    ) -> PropertyDefinition<'a> {
        PropertyDefinition::parameter(self.named(), &shape::PARAMETER, diagnostics)
    }

    /// The place of the declaration.
    pub(crate) fn span(&self) -> Span {
        self.key().span()
    }

    /// Gives it these conditions and no others, not even generated ones.
    pub(super) fn settle(&mut self, conditions: Option<Node<'a>>) {
        self.conditions = PartPosition::default();
        self.settings = Some(Box::new(ElementSettings {
            settled: conditions,
            default_condition: Some(false),
            pruning: Some(false),
            ..ElementSettings::default()
        }));
    }

    /// Sets `default_alternative: true` as if the author had written it.
    pub(super) fn make_default_alternative(&mut self) {
        self.settings.get_or_insert_default().default_alternative = Some(true);
    }

    /// Reads a keyword that every element may have; returns false for other keywords.
    pub(super) fn take(
        &mut self,
        kind: ElementKind,
        keyword: Node<'a>,
        value: Node<'a>,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let text = keyword.text().unwrap_or_default();
        if text == "conditions" {
            self.conditions = PartPosition::of(value);
            return true;
        }
        if !COMMON.contains(&text) || !of_kind(kind).has(text) {
            return false;
        }
        let settings = self.settings.get_or_insert_default();
        match text {
            "implies" => settings.implies = implications(value, diagnostics),
            "implied" => settings.implied = diagnostics.ok(implied(kind, value)),
            "default_condition_mode" => {
                settings.default_condition_mode = diagnostics.ok(mode(kind, value)).flatten()
            }
            _ => {
                let slot = match text {
                    "default_alternative" => &mut settings.default_alternative,
                    "default_condition" => &mut settings.default_condition,
                    "default_consistency_condition" => &mut settings.default_aspects[0],
                    "default_semantic_condition" => &mut settings.default_aspects[1],
                    "pruning" => &mut settings.pruning,
                    "consistency_pruning" => &mut settings.pruning_aspects[0],
                    _ => &mut settings.pruning_aspects[1],
                };
                *slot = diagnostics.ok(boolean(keyword, value));
            }
        }
        true
    }
}

/// Reads a boolean setting.
pub(super) fn boolean(keyword: Node<'_>, value: Node<'_>) -> Result<bool, Diagnostic> {
    value.as_bool().ok_or_else(|| {
        let keyword = keyword.text().unwrap_or_default();
        let message = format!("`{keyword}` has to be `true` or `false`, not {}", value.describe());
        Diagnostic::error(Code::InvalidTemplate, message).at(value.span())
    })
}

/// Reads a default condition mode. The specification of December also lists the keyword for inputs
/// and outputs, with the parts of nodes, which have no meaning there and are ignored.
fn mode(kind: ElementKind, value: Node<'_>) -> Result<Option<Vec<ModePart>>, Diagnostic> {
    let text = value.text().unwrap_or_default();
    if kind == ElementKind::Input
        || kind == ElementKind::Output && parse_mode(ElementKind::Node, text).is_ok()
    {
        return Ok(None);
    }
    parse_mode(kind, text).map(Some).map_err(|error| error.at(value.span()))
}

fn implied(kind: ElementKind, value: Node<'_>) -> Result<Implied, Diagnostic> {
    match (value.as_bool(), value.as_str()) {
        (Some(true), _) | (_, Some("CONTAINER")) => Ok(Implied::Container),
        (Some(false), _) => Ok(Implied::No),
        (_, Some("SOURCE")) if kind == ElementKind::Relation => Ok(Implied::Container),
        (_, Some("TARGET")) if kind == ElementKind::Relation => Ok(Implied::Target),
        _ if kind == ElementKind::Relation => Err(invalid(
            value,
            "`implied` has to be `true`, `false`, `SOURCE`, `TARGET` or `CONTAINER`",
        )),
        _ => Err(invalid(
            value,
            "`implied` has to be `true`, `false` or `CONTAINER`; only relations have a source and a target",
        )),
    }
}

fn implications<'a>(value: Node<'a>, diagnostics: &mut Diagnostics) -> Vec<Implication<'a>> {
    if value.kind() != NodeKind::Sequence {
        diagnostics.push(invalid(value, "`implies` has to be a list of `[target, condition]`"));
    }
    let implication = |item: Node<'a>| {
        let mut parts = item.items();
        match (parts.next(), parts.next(), parts.next()) {
            (Some(target), condition, None) => Ok(Implication { target, condition }),
            _ => Err(invalid(
                item,
                "an entry of `implies` has to be `[target]` or `[target, condition]`",
            )),
        }
    };
    value.items().filter_map(|item| diagnostics.ok(implication(item))).collect()
}

/// An error about a value of the wrong form.
pub(super) fn invalid(at: Node<'_>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::InvalidTemplate, message)
        .at(at.span())
        .help(format!("here stands {}", at.describe()))
}
