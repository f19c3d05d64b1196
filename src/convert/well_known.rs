//! Lists the types that mean the same in both formats.

use crate::tosca::v1_0::definitions::ComponentKind;
use cuvee_text::value::Value;
use std::borrow::Cow;

/// The capability that a relationship needs at its target: its name and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WantedCapability {
    pub name: &'static str,
    pub type_name: &'static str,
}

/// The capability that all nodes have.
pub(super) const FEATURE: WantedCapability =
    WantedCapability { name: "feature", type_name: "tosca.capabilities.Node" };

/// The last parts of namespaces whose relationship types are those of the profile.
const NAMESPACES: [&str; 2] = ["ToscaBaseTypes", "ToscaNormativeTypes"];

/// The relationship types of these namespaces, with their names in the profile.
const RELATIONSHIPS: [(&str, &str); 7] = [
    ("AttachesTo", "tosca.relationships.AttachesTo"),
    ("AttachTo", "tosca.relationships.AttachesTo"),
    ("ConnectsTo", "tosca.relationships.ConnectsTo"),
    ("DependsOn", "tosca.relationships.DependsOn"),
    ("HostedOn", "tosca.relationships.HostedOn"),
    ("RootRelationshipType", "tosca.relationships.Root"),
    ("RoutesTo", "tosca.relationships.RoutesTo"),
];

/// The capabilities that relationships of the profile lead to if their definitions name none.
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

/// Interfaces of nodes that correspond to the lifecycle of the profile.
const LIFECYCLES: [&str; 2] =
    ["http://opentosca.org/interfaces/lifecycle", "http://www.example.com/interfaces/lifecycle"];

/// The lifecycle interface of nodes in the profile, and its type.
pub(super) const STANDARD: (&str, &str) = ("Standard", "tosca.interfaces.node.lifecycle.Standard");

/// The data type of texts that contain XML.
pub(super) const XML_TYPE: &str = "tosca.datatypes.xml";

/// The property that holds a fragment of XML without a schema.
pub(super) const XML_PROPERTY: &str = "xml";

/// Metadata of workflows: the exposed interfaces and operations that they implement, where
/// substitution mappings do not contain them.
pub(super) const EXPORTED: &str = "exported_as";

/// Metadata of a document whose namespace YAML reserves.
pub(super) const TARGET_NAMESPACE: &str = "target_namespace";

/// Metadata of a type: its former namespace and name, if its file or its name are others.
pub(super) const TARGET_NAME: &str = "target_name";

/// Metadata of a property or a data type: its name in XML, where that is another.
pub(super) const XML_NAME: &str = "xml_name";

/// The beginning of metadata for tags whose names would mean something as metadata.
const TAG: &str = "tag.";

/// Metadata of types that stand for something else than tags.
const OF_TYPE: [&str; 10] = [
    "abstract",
    "final",
    "policy_language",
    "target_interfaces",
    "node_to_node",
    "implementation",
    "properties_element",
    "properties_type",
    "properties_keys",
    TARGET_NAME,
];

/// The beginnings of further such metadata.
const BEGINNINGS_OF_TYPE: [&str; 7] = [
    "requirement_type.",
    "requirement_name.",
    "capability_name.",
    "operation_name.",
    "interface.",
    "artifact.",
    "artifact_name.",
];

/// Metadata of a template that stand for something else than tags of its service template.
const OF_SERVICE: [&str; 7] = [
    "template_name",
    "definitions_id",
    "definitions_name",
    "name",
    "other_definitions_ids",
    "other_definitions_names",
    TARGET_NAMESPACE,
];

/// Whether metadata of a type stand for something else than a tag.
pub(super) fn is_of_type(key: &str) -> bool {
    OF_TYPE.contains(&key) || BEGINNINGS_OF_TYPE.iter().any(|of| key.starts_with(of))
}

/// Whether metadata of a template stand for something else than a tag of its service template.
pub(super) fn is_of_service(key: &str) -> bool {
    OF_SERVICE.contains(&key)
}

/// The key in metadata for a tag.
pub(super) fn tag_key(name: &str, is_known: fn(&str) -> bool) -> Cow<'_, str> {
    match is_known(name) || name.starts_with(TAG) {
        true => Cow::Owned(format!("{TAG}{name}")),
        false => Cow::Borrowed(name),
    }
}

/// The name of the tag for a key in metadata; the inverse of [`tag_key`].
pub(super) fn tag_name(key: &str, is_known: fn(&str) -> bool) -> &str {
    let set_apart = key.strip_prefix(TAG);
    set_apart.filter(|name| is_known(name) || name.starts_with(TAG)).unwrap_or(key)
}

/// The operations of the lifecycle, in both formats.
const OPERATIONS: [(&str, &str); 5] = [
    ("install", "create"),
    ("configure", "configure"),
    ("start", "start"),
    ("stop", "stop"),
    ("uninstall", "delete"),
];

/// The type of the profile that a component corresponds to.
pub(super) fn normative(kind: ComponentKind, namespace: &str, name: &str) -> Option<&'static str> {
    let last = namespace.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    if kind != ComponentKind::RelationshipType || !NAMESPACES.contains(&last) {
        return None;
    }
    RELATIONSHIPS.iter().find(|(known, _)| *known == name).map(|(_, normative)| *normative)
}

/// The capability that a relationship type of the profile leads to.
pub(super) fn target_of(relationship: &str) -> WantedCapability {
    let found = TARGETS.iter().find(|(known, _)| *known == relationship);
    found.map_or(FEATURE, |(_, wanted)| *wanted)
}

/// Whether relationships of the profile lead to capabilities of this type.
pub(super) fn is_wanted(type_name: &str) -> bool {
    TARGETS.iter().any(|(_, wanted)| wanted.type_name == type_name)
}

/// Whether an interface is the lifecycle of nodes, without further operations.
pub(super) fn is_lifecycle<'n>(
    interface: &str,
    mut operations: impl Iterator<Item = &'n str>,
) -> bool {
    LIFECYCLES.contains(&interface) && operations.all(|name| lifecycle_operation(name).is_some())
}

/// The name of a lifecycle operation in the profile.
pub(super) fn lifecycle_operation(name: &str) -> Option<&'static str> {
    OPERATIONS.iter().find(|(known, _)| *known == name).map(|(_, normative)| *normative)
}

/// The root type of a kind in the profile; requirement types have no counterpart.
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

/// The section of a template that defines types of this kind.
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

/// The type of the profile for a type of XML Schema: its name, the bounds that it implies, and
/// whether it can be converted back unambiguously.
pub(super) struct ValueCounterpart {
    pub type_name: &'static str,
    pub least: Option<i64>,
    pub most: Option<i64>,
    pub leads_back: bool,
}

impl ValueCounterpart {
    /// The constraint for the bounds.
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

/// The type of the profile for a built-in type.
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

/// The type of a parameter in YAML.
pub(super) struct ParameterCounterpart {
    pub type_name: &'static str,
    /// Whether the type can be converted back unambiguously.
    pub leads_back: bool,
    /// Whether the type is written as converting back writes it.
    pub is_usual: bool,
}

/// The type of a parameter in YAML. Tools write `String` for what XML Schema calls `string`.
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

/// The name of the data type with the states of a type.
pub(super) fn state_type_name(name: &str) -> String {
    format!("{name}_state")
}

/// The default name of the template of an artifact.
pub(super) fn artifact_template_name(owner: &str, artifact: &str) -> String {
    format!("{owner}_{artifact}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_come_back() {
        for name in ["since", "abstract", "tag.since", "tag.abstract", "interface.run", "name", ""]
        {
            for is_known in [is_of_type as fn(&str) -> bool, is_of_service] {
                let key = tag_key(name, is_known);
                assert_eq!(tag_name(&key, is_known), name);
                assert!(!is_known(&key), "{key}");
            }
        }
        // A template of YAML may have such keys as well.
        assert_eq!(tag_name("tag.since", is_of_type), "tag.since");
    }
}
