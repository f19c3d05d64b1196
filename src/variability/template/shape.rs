//! Defines the keywords that variability adds to TOSCA's keynames, and the vocabularies of parts
//! that belong to variability alone ("Service Template" to "Import Definition").

use crate::tosca::shape::{self, Vocabulary};
use crate::variability::element::ElementKind;

type Words = &'static [&'static str];

/// The keywords of every conditional element.
pub(super) const COMMON: [&str; 11] = [
    "default_alternative",
    "conditions",
    "implies",
    "implied",
    "default_condition",
    "default_condition_mode",
    "default_consistency_condition",
    "default_semantic_condition",
    "pruning",
    "consistency_pruning",
    "semantic_pruning",
];

/// The keywords of elements that cannot be alternatives of each other.
const WITHOUT_ALTERNATIVES: Words = match COMMON.split_first() {
    Some((_, rest)) => rest,
    None => &[],
};

/// The keywords of a single kind of element, or of the template.
const PARTICULAR: [&str; 8] = [
    "weight",
    "technology",
    "managed",
    "persistent",
    "anchor",
    "expression",
    "assign",
    "variability",
];

const EVERYWHERE: &[Words] = &[&COMMON, &PARTICULAR];

/// Whether a key exists only for variability, so that it is never part of a result.
pub(crate) fn is_keyword(key: &str) -> bool {
    EVERYWHERE.iter().any(|words| words.contains(&key))
}

/// Whether a key is a word of conditional elements, which nobody takes for a name.
pub(crate) fn is_common(key: &str) -> bool {
    COMMON.contains(&key)
}

const fn of(shape: &shape::Shape, words: &'static [Words]) -> Vocabulary {
    Vocabulary::extended(shape, words, EVERYWHERE)
}

/// The vocabulary of a part that TOSCA does not have.
const fn own(what: &'static str, words: &'static [Words]) -> Vocabulary {
    Vocabulary { what, section: None, keynames: &[], words, everywhere: EVERYWHERE }
}

pub(crate) static SERVICE: Vocabulary = of(&shape::SERVICE, &[]);
pub(crate) static TOPOLOGY: Vocabulary = of(&shape::TOPOLOGY, &[&["variability"]]);
pub(crate) static IMPORT: Vocabulary = of(&shape::IMPORT, &[WITHOUT_ALTERNATIVES]);
pub(crate) static PARAMETER: Vocabulary = of(&shape::PARAMETER, &[&COMMON]);
pub(crate) static NODE: Vocabulary = of(
    &shape::NODE,
    &[WITHOUT_ALTERNATIVES, &["technology", "managed", "persistent", "anchor", "weight"]],
);
pub(crate) static REQUIREMENT: Vocabulary = of(&shape::REQUIREMENT_ASSIGNMENT, &[&COMMON]);
/// A relationship has no conditions, because it is present if the relation that uses it is.
pub(crate) static RELATIONSHIP: Vocabulary = of(&shape::RELATIONSHIP, &[]);
pub(crate) static RELATIONSHIP_IN_PLACE: Vocabulary = of(&shape::RELATIONSHIP_IN_PLACE, &[]);
pub(crate) static ARTIFACT: Vocabulary = of(&shape::ARTIFACT, &[&COMMON]);
pub(crate) static GROUP: Vocabulary = of(&shape::GROUP, &[WITHOUT_ALTERNATIVES]);
pub(crate) static POLICY: Vocabulary = of(&shape::POLICY, &[WITHOUT_ALTERNATIVES]);

pub(crate) static TYPE: Vocabulary = own("a type assignment", &[&COMMON]);
pub(crate) static PROPERTY: Vocabulary =
    own("a wrapped property", &[&["value", "expression"], &COMMON]);
pub(crate) static TECHNOLOGY: Vocabulary =
    own("a technology", &[&["weight", "assign", "artifact"], &COMMON]);
pub(crate) static VARIABILITY: Vocabulary = own(
    "a variability definition",
    &[&[
        "inputs",
        "presets",
        "expressions",
        "constraints",
        "options",
        "type_specific_conditions",
        "qualities",
        "plugins",
    ]],
);
pub(crate) static TYPE_SPECIFIC_CONDITIONS: Vocabulary = own(
    "type-specific conditions",
    &[&["node_types", "relationship_types", "artifact_types", "group_types", "policy_types"]],
);
pub(crate) static TYPE_SPECIFIC_CONDITION: Vocabulary =
    own("a type-specific condition", &[&["conditions", "consistency", "semantic", "properties"]]);
/// The words of a technology rule beside its component.
const RULE: Words = &[
    "technology",
    "hosting",
    "artifact",
    "operations",
    "conditions",
    "weight",
    "assign",
    "reason",
    "details",
    "name",
    "description",
];
pub(crate) static TECHNOLOGY_RULE: Vocabulary = own("a technology rule", &[&["component"], RULE]);
pub(super) static PLUGINS: Vocabulary = own("a plugin definition", &[&["technology"]]);
/// What a technology plugin answers.
pub(super) static ANSWER: Vocabulary = own("an answer", &[&["version", "technologies"]]);
pub(super) static ANSWERED_TECHNOLOGY: Vocabulary = own("a technology of an answer", &[RULE]);

/// The vocabulary of an element of this kind.
pub(super) fn of_kind(kind: ElementKind) -> &'static Vocabulary {
    match kind {
        ElementKind::Input | ElementKind::Output => &PARAMETER,
        ElementKind::Node => &NODE,
        ElementKind::Relation => &REQUIREMENT,
        ElementKind::Property => &PROPERTY,
        ElementKind::Artifact => &ARTIFACT,
        ElementKind::Type => &TYPE,
        ElementKind::Group => &GROUP,
        ElementKind::Policy => &POLICY,
        ElementKind::Technology => &TECHNOLOGY,
        ElementKind::Import => &IMPORT,
    }
}
