//! Defines the families of types. Section 3.7 has one subsection for each family.

/// The family that a type belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// `data_types`
    Data,
    /// `artifact_types`
    Artifact,
    /// `capability_types`
    Capability,
    /// `relationship_types`
    Relationship,
    /// `interface_types`
    Interface,
    /// `node_types`
    Node,
    /// `group_types`
    Group,
    /// `policy_types`
    Policy,
}

impl Family {
    /// All families. A family comes before those that use it.
    pub const ALL: [Self; 8] = [
        Self::Data,
        Self::Artifact,
        Self::Capability,
        Self::Relationship,
        Self::Interface,
        Self::Node,
        Self::Group,
        Self::Policy,
    ];

    /// The keyword under which types of this family are defined.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Data => "data_types",
            Self::Artifact => "artifact_types",
            Self::Capability => "capability_types",
            Self::Relationship => "relationship_types",
            Self::Interface => "interface_types",
            Self::Node => "node_types",
            Self::Group => "group_types",
            Self::Policy => "policy_types",
        }
    }

    /// The family whose types are defined under this keyword.
    pub(crate) fn of_keyword(keyword: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.keyword() == keyword)
    }

    /// Whether elements of a topology have types of this family. Resolving needs only these
    /// families.
    pub(crate) fn has_elements(self) -> bool {
        matches!(
            self,
            Self::Artifact | Self::Relationship | Self::Node | Self::Group | Self::Policy
        )
    }

    /// The name for a type of this family in messages.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Data => "data type",
            Self::Artifact => "artifact type",
            Self::Capability => "capability type",
            Self::Relationship => "relationship type",
            Self::Interface => "interface type",
            Self::Node => "node type",
            Self::Group => "group type",
            Self::Policy => "policy type",
        }
    }

    /// The section that defines types of this family.
    pub const fn section(self) -> &'static str {
        match self {
            Self::Data => "3.7.6",
            Self::Artifact => "3.7.4",
            Self::Capability => "3.7.7",
            Self::Relationship => "3.7.10",
            Self::Interface => "3.7.5",
            Self::Node => "3.7.9",
            Self::Group => "3.7.11",
            Self::Policy => "3.7.12",
        }
    }
}
