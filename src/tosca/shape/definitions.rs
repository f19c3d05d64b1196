//! Lists the keynames of definitions and types: sections 3.6 and 3.7.

use super::Holds::Named;
use super::{Keyname, Shape, keynames};
use crate::tosca::Family;
use crate::tosca::v2_0::grammar;

/// A shape whose keynames hold values.
const fn shape(what: &'static str, section: &'static str, keynames: &'static [Keyname]) -> Shape {
    Shape { what, section, short: None, keynames }
}

pub(crate) static REPOSITORY: Shape =
    shape("a repository definition", "3.6.6.1", keynames!["description", "url", "credential"]);

pub(crate) static IMPORT: Shape = Shape {
    short: Some("file"),
    ..shape(
        "an import definition",
        "3.6.8.1",
        keynames!["file", "repository", "namespace_prefix", "namespace_uri"],
    )
};

pub(crate) static SCHEMA: Shape = shape(
    "a schema definition",
    "3.6.9.1",
    keynames!["type", "description", "constraints", "key_schema", "entry_schema"],
);

/// Includes `value`, which property refinements have as parameters do (section 3.6.10.6).
const OF_PROPERTIES: &[Keyname] = keynames![
    "type",
    "description",
    "required",
    "default",
    "status",
    "constraints",
    "key_schema",
    "entry_schema",
    "external-schema",
    "metadata",
    "value",
];

pub(crate) static PROPERTY: Shape = shape("a property definition", "3.6.10.2", OF_PROPERTIES);

pub(crate) static PARAMETER: Shape = shape("a parameter definition", "3.6.14.1", OF_PROPERTIES);

/// Whether a key is one of a parameter definition, of any version.
pub(crate) fn defines_parameter(key: &str) -> bool {
    PARAMETER.has(key) || grammar::PARAMETER.keyname(key).is_some()
}

pub(crate) static ATTRIBUTE: Shape = shape(
    "an attribute definition",
    "3.6.12.2",
    keynames!["type", "description", "default", "status", "key_schema", "entry_schema", "metadata",],
);

/// The value that is assigned to a property or an attribute (sections 3.6.11 and 3.6.13). Its type
/// decides what is allowed.
pub(super) static VALUE: Shape = shape("an assignment", "3.6.11", &[]);

/// Includes `version`, which is the spelling of section 3.6.7.2.2 for what section 3.6.7.1 calls
/// `artifact_version`. The mime type comes from the artifact type (section 3.7.4.1).
pub(crate) static ARTIFACT: Shape = Shape {
    short: Some("file"),
    ..shape(
        "an artifact definition",
        "3.6.7.1",
        keynames![
            "type",
            "file",
            "repository",
            "description",
            "deploy_path",
            "artifact_version",
            "version",
            "checksum",
            "checksum_algorithm",
            "properties" => Named("property", &VALUE),
        ],
    )
};

pub(crate) static FILTER: Shape =
    shape("a node filter", "3.6.5.1", keynames!["properties", "capabilities"]);

pub(crate) static CAPABILITY_FILTER: Shape =
    shape("a filter of a capability", "3.6.5.2", keynames!["properties"]);

pub(crate) static INTERFACE: Shape = shape(
    "an interface definition",
    "3.6.20.1",
    keynames!["type", "description", "inputs", "operations", "notifications"],
);

pub(crate) static OPERATION: Shape = shape(
    "an operation definition",
    "3.6.17.1",
    keynames!["description", "implementation", "inputs", "outputs"],
);

pub(crate) static NOTIFICATION: Shape = shape(
    "a notification definition",
    "3.6.19.1",
    keynames!["description", "implementation", "outputs"],
);

pub(crate) static IMPLEMENTATION: Shape = shape(
    "an implementation",
    "3.6.16.1",
    keynames!["primary", "dependencies", "timeout", "operation_host"],
);

pub(crate) static CAPABILITY: Shape = shape(
    "a capability definition",
    "3.7.2.1",
    keynames![
        "type",
        "description",
        "properties",
        "attributes",
        "valid_source_types",
        "occurrences",
    ],
);

/// Includes `description`, which only the listing of section 5.9.14 has, and `node_filter`, which
/// only section 3.7.3.5.1 has.
pub(crate) static REQUIREMENT: Shape = shape(
    "a requirement definition",
    "3.7.3.1",
    keynames!["capability", "node", "relationship", "occurrences", "node_filter", "description",],
);

pub(crate) static REQUIREMENT_RELATIONSHIP: Shape = shape(
    "the relationship of a requirement definition",
    "3.7.3.1.1",
    keynames!["type", "interfaces"],
);

pub(crate) static TRIGGER: Shape = shape(
    "a trigger definition",
    "3.6.22.1",
    keynames![
        "description",
        "event",
        "event_type",
        "schedule",
        "target_filter",
        "condition",
        "action",
    ],
);

pub(crate) static TRIGGER_CONDITION: Shape = shape(
    "the condition of a trigger",
    "3.6.22.2",
    keynames!["constraint", "period", "evaluations", "method"],
);

pub(crate) static EVENT_FILTER: Shape =
    shape("an event filter", "3.6.21.1", keynames!["node", "requirement", "capability"]);

pub(crate) static ACTIVITY: Shape =
    shape("an activity", "3.6.23", keynames!["delegate", "set_state", "call_operation", "inline"]);

pub(crate) static DELEGATE: Shape =
    shape("this activity", "3.6.23.1.1", keynames!["delegate", "workflow", "inputs"]);

pub(crate) static SET_STATE: Shape = shape("this activity", "3.6.23.2.1", keynames!["set_state"]);

pub(crate) static CALL_OPERATION: Shape =
    shape("this activity", "3.6.23.3.1", keynames!["call_operation", "operation", "inputs"]);

pub(crate) static INLINE: Shape =
    shape("this activity", "3.6.23.4.1", keynames!["inline", "workflow", "inputs"]);

/// Includes `valid_states` and `attributes`, which only the listing of section 7.3.6.1 has.
pub(crate) static PRECONDITION: Shape = shape(
    "a precondition",
    "3.6.26.1",
    keynames!["target", "target_relationship", "condition", "valid_states", "attributes"],
);

pub(crate) static STEP: Shape = shape(
    "a step",
    "3.6.27.1",
    keynames![
        "target",
        "target_relationship",
        "operation_host",
        "filter",
        "activities",
        "on_success",
        "on_failure",
    ],
);

pub(crate) static WORKFLOW: Shape = shape(
    "a workflow",
    "3.8.7.1",
    keynames![
        "description",
        "metadata",
        "inputs",
        "preconditions",
        "steps",
        "implementation",
        "outputs",
    ],
);

/// The shape of a type of this family. Group types keep the keynames that section 3.7.11.3
/// deprecates.
pub(crate) const fn of_type(family: Family) -> &'static Shape {
    match family {
        Family::Data => &DATA_TYPE,
        Family::Artifact => &ARTIFACT_TYPE,
        Family::Capability => &CAPABILITY_TYPE,
        Family::Relationship => &RELATIONSHIP_TYPE,
        Family::Interface => &INTERFACE_TYPE,
        Family::Node => &NODE_TYPE,
        Family::Group => &GROUP_TYPE,
        Family::Policy => &POLICY_TYPE,
    }
}

/// Lists the keynames that all types have (section 3.7.1), and then those of one family.
macro_rules! of_types {
    ($($own:literal),* $(,)?) => {
        keynames!["derived_from", "version", "metadata", "description", $($own),*]
    };
}

static DATA_TYPE: Shape = shape(
    "a data type",
    Family::Data.section(),
    of_types!["constraints", "properties", "key_schema", "entry_schema"],
);

static ARTIFACT_TYPE: Shape = shape(
    "an artifact type",
    Family::Artifact.section(),
    of_types!["mime_type", "file_ext", "properties"],
);

static CAPABILITY_TYPE: Shape = shape(
    "a capability type",
    Family::Capability.section(),
    of_types!["properties", "attributes", "valid_source_types"],
);

static RELATIONSHIP_TYPE: Shape = shape(
    "a relationship type",
    Family::Relationship.section(),
    of_types!["properties", "attributes", "interfaces", "valid_target_types"],
);

static INTERFACE_TYPE: Shape = shape(
    "an interface type",
    Family::Interface.section(),
    of_types!["inputs", "operations", "notifications"],
);

static NODE_TYPE: Shape = shape(
    "a node type",
    Family::Node.section(),
    of_types![
        "attributes",
        "properties",
        "requirements",
        "capabilities",
        "interfaces",
        "artifacts",
    ],
);

static GROUP_TYPE: Shape = shape(
    "a group type",
    Family::Group.section(),
    of_types!["attributes", "properties", "members", "requirements", "capabilities", "interfaces"],
);

static POLICY_TYPE: Shape = shape(
    "a policy type",
    Family::Policy.section(),
    of_types!["properties", "targets", "triggers"],
);
