//! Type definitions as they are written, shorthand notations resolved; what is wrong with them has
//! been said already.

use crate::text::yaml::Node;
use crate::tosca::family::Family;
use crate::tosca::grammar::Named;
use crate::tosca::value::{PropertyDefinition, Schema};

/// How often something may occur.
#[derive(Clone, Copy, Debug)]
pub struct Occurrences<'a> {
    /// Where it is said.
    pub node: Node<'a>,
    /// At least.
    pub min: u64,
    /// At most; nothing for `UNBOUNDED`.
    pub max: Option<u64>,
}

impl<'a> Occurrences<'a> {
    /// What to say where they cannot be read.
    pub(crate) const EXPECTED: &'static str =
        "`occurrences` has to be a lower and an upper bound, such as `[0, 2]` or `[1, UNBOUNDED]`";

    /// Reads a lower and an upper bound; nothing where they are not.
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

    /// Whether all that this allows is allowed by the other.
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
    /// For people.
    pub description: Option<Node<'a>>,
    /// What it adds to the properties of its type.
    pub properties: Vec<PropertyDefinition<'a>>,
    /// What it adds to the attributes of its type.
    pub attributes: Vec<PropertyDefinition<'a>>,
    /// The node types that may use it, where they are said.
    pub valid_source_types: Option<Vec<Node<'a>>>,
    /// How often it may be used, where it is said.
    pub occurrences: Option<Occurrences<'a>>,
}

/// A requirement definition (section 3.7.3).
#[derive(Clone, Debug)]
pub struct RequirementDefinition<'a> {
    /// Its name and place.
    pub named: Named<'a>,
    /// For people.
    pub description: Option<Node<'a>>,
    /// The name of a capability type.
    pub capability: Option<Node<'a>>,
    /// The name of a node type.
    pub node: Option<Node<'a>>,
    /// The name of a relationship type.
    pub relationship: Option<Node<'a>>,
    /// What it adds to the interfaces of the relationship.
    pub interfaces: Vec<InterfaceDefinition<'a>>,
    /// Which nodes are valid targets.
    pub node_filter: Option<Node<'a>>,
    /// How often it occurs, where it is said.
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
    /// For people.
    pub description: Option<Node<'a>>,
    /// How it is implemented: a name, or a map.
    pub implementation: Option<Node<'a>>,
    /// Its inputs.
    pub inputs: Vec<PropertyDefinition<'a>>,
    /// Where its outputs go.
    pub outputs: Vec<Named<'a>>,
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
    /// For people.
    pub description: Option<Node<'a>>,
    /// Property assignments.
    pub properties: Vec<Named<'a>>,
}

/// A type definition of whichever family (section 3.7); what types of a family do not have is
/// empty.
#[derive(Clone, Debug)]
pub struct TypeDefinition<'a> {
    /// Its family.
    pub family: Family,
    /// Its name.
    pub name: &'a str,
    /// Where the name stands.
    pub key: Node<'a>,
    /// What stands behind it.
    pub value: Node<'a>,
    /// The name of its parent.
    pub derived_from: Option<Node<'a>>,
    /// For people.
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
    /// Of an interface type: inputs, operations, notifications.
    pub interface: InterfaceDefinition<'a>,
    /// `valid_source_types`, `valid_target_types`, `members` or `targets`, where they are said.
    pub valid_types: Option<Vec<Node<'a>>>,
    /// Of a data type: constraints and schemas.
    pub schema: Schema<'a>,
    /// Of an artifact type.
    pub mime_type: Option<Node<'a>>,
    /// Of an artifact type.
    pub file_ext: Option<Vec<Node<'a>>>,
    /// Of a policy type.
    pub triggers: Vec<Named<'a>>,
}
