//! Reads the variability settings that elements of every kind may declare.

use super::shape::{self, COMMON, of_kind};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::{Named, PropertyDefinition};
use crate::variability::element::ElementKind;
use crate::variability::options::{ModePart, parse_mode};
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, NodeKind};

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

/// The variability settings of an element.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditional<'a> {
    /// `conditions`: one expression or a list of them.
    pub conditions: Option<Node<'a>>,
    settings: Option<Box<ElementSettings<'a>>>,
}

/// An element as it is declared: its name, its places and its variability.
#[derive(Clone, Debug)]
pub(crate) struct Declared<'a> {
    /// The name.
    pub name: &'a str,
    /// The place of the name.
    pub key: Node<'a>,
    /// The node under the name; the name itself if there is none.
    pub value: Node<'a>,
    /// Conditions and settings.
    pub conditional: Conditional<'a>,
}

impl<'a> Declared<'a> {
    /// Its name and its value.
    pub(crate) fn named(&self) -> Named<'a> {
        Named { name: self.name, key: self.key, value: self.value }
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
        self.key.span()
    }
}

impl<'a> Conditional<'a> {
    /// Settings with these conditions and no others, not even generated ones.
    pub(super) fn settled(conditions: Option<Node<'a>>) -> Self {
        let settings = ElementSettings {
            default_condition: Some(false),
            pruning: Some(false),
            ..ElementSettings::default()
        };
        Self { conditions, settings: Some(Box::new(settings)) }
    }

    /// The rare settings, if there are any.
    pub(crate) fn settings(&self) -> Option<&ElementSettings<'a>> {
        self.settings.as_deref()
    }

    /// `default_alternative`
    pub(crate) fn default_alternative(&self) -> Option<bool> {
        self.settings()?.default_alternative
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
            self.conditions = Some(value);
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
