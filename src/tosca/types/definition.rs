//! Defines the data structures for type definitions as they are written, with shorthand notations
//! resolved. Errors in the notation were reported when the definitions were read.

use crate::tosca::family::Family;
use crate::tosca::grammar::Named;
use crate::tosca::value::{PropertyDefinition, Schema};
use cuvee_text::yaml::Node;

/// How often something may occur.
#[derive(Clone, Copy, Debug)]
pub struct Occurrences<'a> {
    /// The node that contains the bounds.
    pub node: Node<'a>,
    /// The lower bound.
    pub min: u64,
    /// The upper bound. `None` means `UNBOUNDED`.
    pub max: Option<u64>,
}

impl<'a> Occurrences<'a> {
    /// The error message for bounds that cannot be read.
    pub(crate) const EXPECTED: &'static str =
        "`occurrences` has to be a lower and an upper bound, such as `[0, 2]` or `[1, UNBOUNDED]`";

    /// Reads a lower and an upper bound. Returns nothing where the node contains no such bounds.
    pub(crate) fn read(node: Node<'a>) -> Option<Self> {
        let bound =
            |item: Node<'_>| item.text()?.parse::<u64>().ok().filter(|_| item.as_str().is_none());
        let mut items = node.items();
        let (min, max, None) = (bound(items.next()?)?, items.next()?, items.next()) else {
            return None;
        };
        let max = if max.as_str() == Some("UNBOUNDED") { None } else { Some(bound(max)?) };
        max.is_none_or(|max| min <= max).then_some(Self { node, min, max })
    }

    /// Whether the other range allows every count that this one allows.
    pub fn is_within(&self, other: &Occurrences<'_>) -> bool {
        let below = |max: u64| self.max.is_some_and(|own| own <= max);
        self.min >= other.min && other.max.is_none_or(below)
    }
}

impl std::fmt::Display for Occurrences<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.max {
            Some(max) => write!(f, "[{}, {max}]", self.min),
            None => write!(f, "[{}, UNBOUNDED]", self.min),
        }
    }
}

/// A capability definition (section 3.7.2).
#[derive(Clone, Debug)]
pub struct CapabilityDefinition<'a> {
    /// Its name and place.
    pub named: Named<'a>,
    /// The name of its type.
    pub kind: Option<Node<'a>>,
    /// The description for people.
    pub description: Option<Node<'a>>,
    /// The properties that it adds to those of its type, or refines.
    pub properties: Vec<PropertyDefinition<'a>>,
    /// The attributes that it adds to those of its type, or refines.
    pub attributes: Vec<PropertyDefinition<'a>>,
    /// The node types that may use it, where the definition lists them.
    pub valid_source_types: Option<Vec<Node<'a>>>,
    /// The relationship types that may lead to it, where the definition lists them (TOSCA 2.0).
    pub valid_relationship_types: Option<Vec<Node<'a>>>,
    /// How often it may be used, where the definition gives bounds.
    pub occurrences: Option<Occurrences<'a>>,
}

/// A requirement definition (section 3.7.3).
#[derive(Clone, Debug)]
pub struct RequirementDefinition<'a> {
    /// Its name and place.
    pub named: Named<'a>,
    /// The description for people.
    pub description: Option<Node<'a>>,
    /// The name of a capability type.
    pub capability: Option<Node<'a>>,
    /// The name of a node type.
    pub node: Option<Node<'a>>,
    /// The name of a relationship type.
    pub relationship: Option<Node<'a>>,
    /// The properties of the relationship that it refines (TOSCA 2.0).
    pub properties: Vec<PropertyDefinition<'a>>,
    /// The attributes of the relationship that it refines (TOSCA 2.0).
    pub attributes: Vec<PropertyDefinition<'a>>,
    /// The interfaces that it adds to those of the relationship, or refines.
    pub interfaces: Vec<InterfaceDefinition<'a>>,
    /// The filters that valid target nodes fulfil. In TOSCA 2.0, those of a type add to inherited
    /// ones.
    pub node_filters: Vec<Node<'a>>,
    /// How often it occurs, where the definition gives bounds.
    pub occurrences: Option<Occurrences<'a>>,
}

/// An interface definition (section 3.6.20).
#[derive(Clone, Debug)]
pub struct InterfaceDefinition<'a> {
    /// Its name and place.
    pub named: Named<'a>,
    /// The name of its type.
    pub kind: Option<Node<'a>>,
    /// Inputs of all operations.
    pub inputs: Vec<PropertyDefinition<'a>>,
    /// Its operations.
    pub operations: Vec<OperationDefinition<'a>>,
    /// Its notifications.
    pub notifications: Vec<OperationDefinition<'a>>,
}

/// An operation definition (section 3.6.17), or a notification definition (3.6.19).
#[derive(Clone, Debug)]
pub struct OperationDefinition<'a> {
    /// Its name and place.
    pub named: Named<'a>,
    /// The description for people.
    pub description: Option<Node<'a>>,
    /// How it is implemented: a name, or a map.
    pub implementation: Option<Node<'a>>,
    /// Its inputs.
    pub inputs: Vec<PropertyDefinition<'a>>,
    /// The attributes to which its outputs are written.
    pub outputs: Vec<Named<'a>>,
    /// What its outputs are, where TOSCA 2.0 defines them.
    pub results: Vec<PropertyDefinition<'a>>,
}

/// An artifact definition (section 3.6.7).
#[derive(Clone, Debug)]
pub struct ArtifactDefinition<'a> {
    /// Its name and place.
    pub named: Named<'a>,
    /// The name of its type.
    pub kind: Option<Node<'a>>,
    /// The file.
    pub file: Option<Node<'a>>,
    /// The name of the repository that has the file.
    pub repository: Option<Node<'a>>,
    /// The description for people.
    pub description: Option<Node<'a>>,
    /// Property assignments.
    pub properties: Vec<Named<'a>>,
}

/// The types of what relationships connect, where TOSCA 2.0 lists them (sections 7.3 and 8.1).
#[derive(Clone, Debug, Default)]
pub struct ValidEnds<'a> {
    /// The relationship types that may lead to a capability.
    pub relationships: Option<Vec<Node<'a>>>,
    /// The node types from which a relationship may start.
    pub sources: Option<Vec<Node<'a>>>,
    /// The node types to which a relationship may lead.
    pub targets: Option<Vec<Node<'a>>>,
}

/// A type definition of any family (section 3.7). Members that types of its family cannot have are
/// empty.
#[derive(Clone, Debug)]
pub struct TypeDefinition<'a> {
    /// Its family.
    pub family: Family,
    /// Its name.
    pub name: &'a str,
    /// The node that contains the name.
    pub key: Node<'a>,
    /// The map below the name.
    pub value: Node<'a>,
    /// The name of its parent.
    pub derived_from: Option<Node<'a>>,
    /// The description for people.
    pub description: Option<Node<'a>>,
    /// Its properties.
    pub properties: Vec<PropertyDefinition<'a>>,
    /// Its attributes.
    pub attributes: Vec<PropertyDefinition<'a>>,
    /// Its capabilities.
    pub capabilities: Vec<CapabilityDefinition<'a>>,
    /// Its requirements, in order.
    pub requirements: Vec<RequirementDefinition<'a>>,
    /// Its interfaces.
    pub interfaces: Vec<InterfaceDefinition<'a>>,
    /// Its artifacts.
    pub artifacts: Vec<ArtifactDefinition<'a>>,
    /// The inputs, operations and notifications of an interface type.
    pub interface: InterfaceDefinition<'a>,
    /// The list `valid_source_types`, `valid_target_types`, `members` or `targets`, where the
    /// definition has one.
    pub valid_types: Option<Vec<Node<'a>>>,
    /// The types that TOSCA 2.0 lists besides, where the definition does.
    pub valid_ends: Option<ValidEnds<'a>>,
    /// The constraints and schemas of a data type.
    pub schema: Schema<'a>,
    /// The MIME type of an artifact type.
    pub mime_type: Option<Node<'a>>,
    /// The file extensions of an artifact type.
    pub file_ext: Option<Vec<Node<'a>>>,
    /// The triggers of a policy type.
    pub triggers: Vec<Named<'a>>,
}

impl TypeDefinition<'_> {
    /// What the type inherits from, for messages.
    pub(super) fn inherited(&self) -> String {
        format!("what the {} `{}` derives from", self.family.noun(), self.name)
    }
}
