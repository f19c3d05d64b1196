//! Types of both formats that mean the same.

use crate::text::value::Value;
use crate::tosca::v1_0::definitions::ComponentKind;
use std::borrow::Cow;

/// What a relationship needs at its target: the name of the capability, and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WantedCapability {
    pub name: &'static str,
    pub type_name: &'static str,
}

/// What all nodes have.
pub(super) const FEATURE: WantedCapability =
    WantedCapability { name: "feature", type_name: "tosca.capabilities.Node" };

/// Namespaces whose relationship types are those of the profile, by how they end.
const NAMESPACES: [&str; 2] = ["ToscaBaseTypes", "ToscaNormativeTypes"];

/// Relationship types there, and what they are called in the profile.
const RELATIONSHIPS: [(&str, &str); 7] = [
    ("AttachesTo", "tosca.relationships.AttachesTo"),
    ("AttachTo", "tosca.relationships.AttachesTo"),
    ("ConnectsTo", "tosca.relationships.ConnectsTo"),
    ("DependsOn", "tosca.relationships.DependsOn"),
    ("HostedOn", "tosca.relationships.HostedOn"),
    ("RootRelationshipType", "tosca.relationships.Root"),
    ("RoutesTo", "tosca.relationships.RoutesTo"),
];

/// What relationships of the profile lead to where their definitions name no capability.
const TARGETS: [(&str, WantedCapability); 3] = [
    (
        "tosca.relationships.HostedOn",
        WantedCapability { name: "host", type_name: "tosca.capabilities.Container" },
    ),
    (
        "tosca.relationships.ConnectsTo",
        WantedCapability { name: "endpoint", type_name: "tosca.capabilities.Endpoint" },
    ),
    (
        "tosca.relationships.AttachesTo",
        WantedCapability { name: "attachment", type_name: "tosca.capabilities.Attachment" },
    ),
];

/// Interfaces of nodes that are the lifecycle of the profile.
const LIFECYCLES: [&str; 2] =
    ["http://opentosca.org/interfaces/lifecycle", "http://www.example.com/interfaces/lifecycle"];

/// The interface of the profile for the lifecycle of nodes, and its type.
pub(super) const STANDARD: (&str, &str) = ("Standard", "tosca.interfaces.node.lifecycle.Standard");

/// The type of texts in XML.
pub(super) const XML_TYPE: &str = "tosca.datatypes.xml";

/// The property that holds what nobody can look into.
pub(super) const XML_PROPERTY: &str = "xml";

/// Metadata of workflows: interfaces and operations of the service template that they carry out,
/// where substitution mappings do not say so.
pub(super) const EXPORTED: &str = "exported_as";

/// What a node does in its lifecycle, in both formats.
const OPERATIONS: [(&str, &str); 5] = [
    ("install", "create"),
    ("configure", "configure"),
    ("start", "start"),
    ("stop", "stop"),
    ("uninstall", "delete"),
];

/// The type of the profile that a component is.
pub(super) fn normative(kind: ComponentKind, namespace: &str, name: &str) -> Option<&'static str> {
    let last = namespace.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    if kind != ComponentKind::RelationshipType || !NAMESPACES.contains(&last) {
        return None;
    }
    RELATIONSHIPS.iter().find(|(known, _)| *known == name).map(|(_, normative)| *normative)
}

/// What a relationship type of the profile leads to.
pub(super) fn target_of(relationship: &str) -> WantedCapability {
    let found = TARGETS.iter().find(|(known, _)| *known == relationship);
    found.map_or(FEATURE, |(_, wanted)| *wanted)
}

/// Whether relationships of the profile lead to capabilities of a type.
pub(super) fn is_wanted(type_name: &str) -> bool {
    TARGETS.iter().any(|(_, wanted)| wanted.type_name == type_name)
}

/// Whether an interface is the lifecycle of nodes, and has no other operations.
pub(super) fn is_lifecycle<'n>(
    interface: &str,
    mut operations: impl Iterator<Item = &'n str>,
) -> bool {
    LIFECYCLES.contains(&interface) && operations.all(|name| lifecycle_operation(name).is_some())
}

/// What an operation of the lifecycle is called in the profile.
pub(super) fn lifecycle_operation(name: &str) -> Option<&'static str> {
    OPERATIONS.iter().find(|(known, _)| *known == name).map(|(_, normative)| *normative)
}

/// What everything of a kind derives from in the profile; requirement types have no counterpart.
pub(super) fn root_of(kind: ComponentKind) -> Option<&'static str> {
    Some(match kind {
        ComponentKind::NodeType => "tosca.nodes.Root",
        ComponentKind::RelationshipType => "tosca.relationships.Root",
        ComponentKind::CapabilityType => "tosca.capabilities.Root",
        ComponentKind::ArtifactType => "tosca.artifacts.Root",
        ComponentKind::PolicyType => "tosca.policies.Root",
        _ => return None,
    })
}

/// The section of a template in which types of a kind are defined.
pub(super) fn section_of(kind: ComponentKind) -> Option<&'static str> {
    Some(match kind {
        ComponentKind::NodeType => "node_types",
        ComponentKind::RelationshipType => "relationship_types",
        ComponentKind::CapabilityType => "capability_types",
        ComponentKind::ArtifactType => "artifact_types",
        ComponentKind::PolicyType => "policy_types",
        _ => return None,
    })
}

/// A type of XML Schema as one of the profile: its name, bounds that come with it, and whether the
/// way back is clear.
pub(super) struct ValueCounterpart {
    pub type_name: &'static str,
    pub least: Option<i64>,
    pub most: Option<i64>,
    pub leads_back: bool,
}

impl ValueCounterpart {
    /// The constraint that says the bounds.
    pub(super) fn bounds(&self) -> Option<Value> {
        let (name, operand) = match (self.least, self.most) {
            (Some(least), Some(most)) => {
                ("in_range", Value::from(vec![Value::from(least), Value::from(most)]))
            }
            (Some(least), None) => ("greater_or_equal", least.into()),
            (None, Some(most)) => ("less_or_equal", most.into()),
            (None, None) => return None,
        };
        Some(Value::Map([(name.into(), operand)].into()))
    }
}

/// What values of a built-in type are.
pub(super) fn value_type(name: &str) -> ValueCounterpart {
    let of = |type_name, least, most, leads_back| ValueCounterpart {
        type_name,
        least,
        most,
        leads_back,
    };
    match name {
        "integer" => of("integer", None, None, true),
        "positiveInteger" => of("integer", Some(1), None, true),
        "nonNegativeInteger" => of("integer", Some(0), None, true),
        "nonPositiveInteger" => of("integer", None, Some(0), true),
        "negativeInteger" => of("integer", None, Some(-1), true),
        "long" => of("integer", None, None, false),
        "int" => of("integer", Some(i32::MIN.into()), Some(i32::MAX.into()), false),
        "short" => of("integer", Some(i16::MIN.into()), Some(i16::MAX.into()), false),
        "byte" => of("integer", Some(i8::MIN.into()), Some(i8::MAX.into()), false),
        "unsignedLong" => of("integer", Some(0), None, false),
        "unsignedInt" => of("integer", Some(0), Some(u32::MAX.into()), false),
        "unsignedShort" => of("integer", Some(0), Some(u16::MAX.into()), false),
        "unsignedByte" => of("integer", Some(0), Some(u8::MAX.into()), false),
        "double" => of("float", None, None, true),
        "float" | "decimal" => of("float", None, None, false),
        "boolean" => of("boolean", None, None, true),
        "dateTime" => of("timestamp", None, None, true),
        "date" => of("timestamp", None, None, false),
        "string" => of("string", None, None, true),
        _ => of("string", None, None, false),
    }
}

/// What a parameter is in YAML.
pub(super) struct ParameterCounterpart {
    pub type_name: &'static str,
    /// Whether the way back to it is clear.
    pub leads_back: bool,
    /// Whether it is written as that is led back.
    pub is_usual: bool,
}

/// What a type of a parameter is in YAML; tools write `String` for what XML Schema calls `string`.
pub(super) fn parameter_type(written: &str) -> ParameterCounterpart {
    let local = written.rsplit(':').next().unwrap_or_default();
    let lower = match local {
        "String" | "Boolean" | "Integer" | "Float" => Cow::Owned(local.to_lowercase()),
        other => Cow::Borrowed(other),
    };
    let ValueCounterpart { type_name, leads_back, .. } = value_type(&lower);
    let is_usual =
        matches!(written, "xs:string" | "xs:integer" | "xs:double" | "xs:boolean" | "xs:dateTime");
    ParameterCounterpart { type_name, leads_back: leads_back && *lower == *local, is_usual }
}

/// What the data type is called that has the states of a type.
pub(super) fn state_type_name(name: &str) -> String {
    format!("{name}_state")
}

/// What the template of an artifact is called where nothing else is said.
pub(super) fn artifact_template_name(owner: &str, artifact: &str) -> String {
    format!("{owner}_{artifact}")
}
