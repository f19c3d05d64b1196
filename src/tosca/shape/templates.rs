//! Lists the keynames of templates: sections 3.8 to 3.10.

use super::Holds::{Listed, Named, One, Set};
use super::definitions::VALUE;
use super::{ARTIFACT, IMPORT, Keyname, PARAMETER, Shape, keynames};
use crate::tosca::Family;

/// Includes the keynames that earlier versions had beside `metadata`.
pub(crate) static SERVICE: Shape = Shape {
    what: "a service template",
    section: "3.10.1",
    short: None,
    keynames: keynames![
        "tosca_definitions_version",
        "namespace",
        "metadata",
        "description",
        "dsl_definitions",
        "repositories",
        "imports" => Listed("import", &IMPORT),
        "artifact_types",
        "data_types",
        "capability_types",
        "interface_types",
        "relationship_types",
        "node_types",
        "group_types",
        "policy_types",
        "topology_template" => One(&TOPOLOGY),
        "template_name",
        "template_author",
        "template_version",
    ],
};

/// The sections of a service template that define types, in the order of its keynames.
pub(crate) fn type_sections() -> impl Iterator<Item = &'static str> {
    SERVICE.names().filter(|name| Family::of_keyword(name).is_some())
}

pub(crate) static TOPOLOGY: Shape = Shape {
    what: "a topology template",
    section: "3.9.1",
    short: None,
    keynames: keynames![
        "description",
        "inputs" => Named("input", &PARAMETER),
        "node_templates" => Named("node", &NODE),
        "relationship_templates" => Named("relationship", &RELATIONSHIP),
        "groups" => Named("group", &GROUP),
        "policies" => Named("policy", &POLICY),
        "outputs" => Named("output", &PARAMETER),
        "substitution_mappings",
        "workflows",
    ],
};

/// Includes `occurrences` and `instance_count`, which templates of section 2.20 have.
pub(crate) static NODE: Shape = Shape {
    what: "a node template",
    section: "3.8.3.1",
    short: None,
    keynames: keynames![
        "type",
        "description",
        "metadata",
        "directives",
        "properties" => Named("property", &VALUE),
        "attributes" => Named("attribute", &VALUE),
        "requirements" => Named("requirement", &REQUIREMENT_ASSIGNMENT),
        "capabilities" => Named("capability", &CAPABILITY_ASSIGNMENT),
        "interfaces",
        "artifacts" => Named("artifact", &ARTIFACT),
        "node_filter",
        "copy",
        "occurrences",
        "instance_count",
    ],
};

pub(crate) static CAPABILITY_ASSIGNMENT: Shape = Shape {
    what: "a capability assignment",
    section: "3.8.1.1",
    short: None,
    keynames: keynames![
        "properties" => Named("property", &VALUE),
        "attributes" => Named("attribute", &VALUE),
        "occurrences",
    ],
};

/// Includes `description` and `metadata`, which all other templates have, and `count` and
/// `optional`, which later versions of TOSCA have.
pub(crate) static REQUIREMENT_ASSIGNMENT: Shape = Shape {
    what: "a requirement assignment",
    section: "3.8.2.1",
    short: Some("node"),
    keynames: keynames![
        "capability",
        "node",
        "relationship" => One(&RELATIONSHIP_IN_PLACE),
        "node_filter",
        "occurrences",
        "count",
        "optional",
        "description",
        "metadata",
    ],
};

/// Includes `description` and `metadata`, as a requirement assignment does.
pub(crate) static RELATIONSHIP_IN_PLACE: Shape = Shape {
    what: "the relationship of a requirement assignment",
    section: "3.8.2.1",
    short: None,
    keynames: keynames![
        "type",
        "properties" => Named("property", &VALUE),
        "interfaces",
        "description",
        "metadata",
    ],
};

pub(crate) static RELATIONSHIP: Shape = Shape {
    what: "a relationship template",
    section: "3.8.4.1",
    short: None,
    keynames: keynames![
        "type",
        "description",
        "metadata",
        "properties" => Named("property", &VALUE),
        "attributes" => Named("attribute", &VALUE),
        "interfaces",
        "copy",
    ],
};

/// Includes the keynames that only section 3.8.5.2 has, and `interfaces`, which section 3.8.5.3
/// deprecates.
pub(crate) static GROUP: Shape = Shape {
    what: "a group",
    section: "3.8.5.1",
    short: None,
    keynames: keynames![
        "type",
        "description",
        "metadata",
        "properties" => Named("property", &VALUE),
        "attributes" => Named("attribute", &VALUE),
        "members" => Set,
        "interfaces",
    ],
};

pub(crate) static POLICY: Shape = Shape {
    what: "a policy",
    section: "3.8.6.1",
    short: None,
    keynames: keynames![
        "type",
        "description",
        "metadata",
        "properties" => Named("property", &VALUE),
        "targets" => Set,
        "triggers",
    ],
};

pub(crate) static SUBSTITUTION: Shape = Shape {
    what: "a substitution mapping",
    section: "3.8.13.1",
    short: None,
    keynames: keynames![
        "node_type",
        "substitution_filter",
        "properties",
        "attributes",
        "capabilities",
        "requirements",
        "interfaces",
    ],
};

pub(crate) static PROPERTY_MAPPING: Shape = Shape {
    what: "a property mapping",
    section: "3.8.8.1",
    short: None,
    keynames: keynames!["mapping", "value"],
};

pub(crate) static ATTRIBUTE_MAPPING: Shape = Shape {
    what: "an attribute mapping",
    section: "3.8.9.1",
    short: None,
    keynames: keynames!["mapping"],
};

const OF_MAPPINGS: &[Keyname] = keynames!["mapping", "properties", "attributes"];

pub(crate) static CAPABILITY_MAPPING: Shape =
    Shape { what: "a capability mapping", section: "3.8.10.1", short: None, keynames: OF_MAPPINGS };

pub(crate) static REQUIREMENT_MAPPING: Shape = Shape {
    what: "a requirement mapping",
    section: "3.8.11.1",
    short: None,
    keynames: OF_MAPPINGS,
};
