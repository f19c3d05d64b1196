//! What a topology is made of: plain data, each part with its place.
//!
//! Parts refer to each other by ids, which are positions in the lists of the
//! [`Topology`](super::Topology). Places are for messages: they are not serialised.

pub use crate::tosca::workflow::ActivityKind;

use crate::text::index::indices;
use crate::text::source::Span;
use crate::text::value::Value;
use serde::Serialize;

indices! {
    /// A position in [`Topology::nodes`](super::Topology::nodes).
    NodeIndex
    /// A position in [`Topology::relations`](super::Topology::relations).
    RelationIndex
    /// A position in [`Topology::relationships`](super::Topology::relationships).
    RelationshipIndex
    /// A position in [`Topology::groups`](super::Topology::groups).
    GroupIndex
    /// A position in [`TopologyWorkflow::steps`].
    StepIndex
}

/// Something written, and where.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Spanned<T> {
    /// What is written.
    pub value: T,
    /// Where.
    #[serde(skip)]
    pub span: Span,
}

/// A value by name: a property, an attribute, an input, an entry of metadata.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AssignedValue {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    #[serde(skip)]
    pub span: Span,
    /// The value; functions are maps, as they are written.
    pub value: Spanned<Value>,
}

/// What most parts have.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Described {
    /// The name of its type, as it is written.
    #[serde(rename = "type")]
    pub type_name: Option<Spanned<String>>,
    /// What is said of it for people.
    pub description: Option<Spanned<String>>,
    /// What is said of it for programs.
    pub metadata: Vec<AssignedValue>,
    /// Property assignments.
    pub properties: Vec<AssignedValue>,
    /// Attribute assignments.
    pub attributes: Vec<AssignedValue>,
    /// Interfaces.
    pub interfaces: Vec<TopologyInterface>,
}

/// A node template.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyNode {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    #[serde(skip)]
    pub span: Span,
    /// Its type, properties, interfaces and the like.
    #[serde(flatten)]
    pub described: Described,
    /// Its directives, such as `substitute`.
    pub directives: Vec<Spanned<String>>,
    /// Its capability assignments.
    pub capabilities: Vec<TopologyCapability>,
    /// Its requirement assignments, in their order.
    pub relations: Vec<RelationIndex>,
    /// The relations that end here, in the order of the topology.
    pub incoming: Vec<RelationIndex>,
    /// Its artifacts.
    pub artifacts: Vec<TopologyArtifact>,
    /// What a node that is selected must fulfil.
    pub node_filter: Option<Spanned<Value>>,
    /// The node template that it copies.
    pub copy: Option<Spanned<String>>,
    /// How often it may be there.
    pub occurrences: Option<Spanned<Value>>,
    /// How often it is there.
    pub instance_count: Option<Spanned<Value>>,
}

impl TopologyNode {
    /// What says how often it is there, where anything does: its `instance_count`, else the default
    /// of a scalable capability, else the lower bound of its `occurrences`.
    pub(crate) fn count(&self) -> Option<&Value> {
        let default = || {
            let mut values = self.capabilities.iter().flat_map(|capability| &capability.properties);
            values.find(|property| property.name == "default_instances")
        };
        let least = || match &self.occurrences.as_ref()?.value {
            Value::List(bounds) => match &**bounds {
                // What is there exactly once is not counted.
                [Value::Number(least), Value::Number(most)]
                    if least.as_int() == Some(1) && most.as_int() == Some(1) =>
                {
                    None
                }
                bounds => bounds.first(),
            },
            other => Some(other),
        };
        let said = self.instance_count.as_ref().map(|count| &count.value);
        let said = said.or_else(|| Some(&default()?.value.value)).or_else(least);
        said.filter(|said| **said != Value::Null)
    }
}

/// A requirement assignment: a relation from one node to another, or to one that somebody else has
/// to find.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyRelation {
    /// Its name.
    pub name: String,
    /// Its position among the requirement assignments of its author's node, with those that are not
    /// in this variant.
    pub position: u32,
    /// Where the name stands.
    #[serde(skip)]
    pub span: Span,
    /// Where it starts.
    pub source: NodeIndex,
    /// Where it ends, if at a node of this topology.
    pub target: Option<NodeIndex>,
    /// What is written for its target: the name of a node, or of a type of nodes.
    pub node: Option<Spanned<String>>,
    /// The name of a capability of the target, or of a type of capabilities.
    pub capability: Option<Spanned<String>>,
    /// Its relationship template, by name or in place.
    pub relationship: Option<RelationshipIndex>,
    /// The type of its relationship, where that is written.
    pub relationship_type: Option<Spanned<String>>,
    /// Whether the target hosts the source.
    pub hosting: bool,
    /// What a target that is selected must fulfil.
    pub node_filter: Option<Spanned<Value>>,
    /// How often it may be fulfilled.
    pub occurrences: Option<Spanned<Value>>,
    /// How many relations it stands for.
    pub count: Option<Spanned<Value>>,
    /// Whether it may stay open.
    pub optional: Option<Spanned<Value>>,
}

/// A relationship template.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyRelationship {
    /// Its name; nothing where it stands in a requirement assignment.
    pub name: Option<String>,
    /// Where the name stands, or all of it.
    #[serde(skip)]
    pub span: Span,
    /// Its type, properties, interfaces and the like.
    #[serde(flatten)]
    pub described: Described,
    /// The relationship template that it copies.
    pub copy: Option<Spanned<String>>,
}

/// A capability assignment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyCapability {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    #[serde(skip)]
    pub span: Span,
    /// Property assignments.
    pub properties: Vec<AssignedValue>,
    /// Attribute assignments.
    pub attributes: Vec<AssignedValue>,
    /// How many relations may end here.
    pub occurrences: Option<Spanned<Value>>,
}

/// An artifact definition.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyArtifact {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    #[serde(skip)]
    pub span: Span,
    /// The name of its type.
    #[serde(rename = "type")]
    pub type_name: Option<Spanned<String>>,
    /// Its file.
    pub file: Option<Spanned<String>>,
    /// Its repository.
    pub repository: Option<Spanned<String>>,
    /// Where it is deployed to.
    pub deploy_path: Option<Spanned<String>>,
    /// Property assignments.
    pub properties: Vec<AssignedValue>,
    /// What else is said of it.
    pub others: Vec<AssignedValue>,
}

/// An interface.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyInterface {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    #[serde(skip)]
    pub span: Span,
    /// The name of its type.
    #[serde(rename = "type")]
    pub type_name: Option<Spanned<String>>,
    /// Inputs of all its operations.
    pub inputs: Vec<AssignedValue>,
    /// Its operations.
    pub operations: Vec<TopologyOperation>,
    /// Its notifications.
    pub notifications: Vec<TopologyOperation>,
}

/// An operation or a notification.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyOperation {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    #[serde(skip)]
    pub span: Span,
    /// What implements it.
    pub implementation: Option<TopologyImplementation>,
    /// What is assigned to its inputs.
    pub inputs: Vec<AssignedValue>,
    /// Which attributes its outputs go to.
    pub outputs: Vec<AssignedValue>,
}

/// The implementation of an operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyImplementation {
    /// Where it stands.
    #[serde(skip)]
    pub span: Span,
    /// The artifact: its name, a file, or a definition in place.
    pub primary: Option<Spanned<Value>>,
    /// Further artifacts, likewise.
    pub dependencies: Vec<Spanned<Value>>,
    /// After how many seconds it has failed.
    pub timeout: Option<Spanned<Value>>,
    /// Where it is run, where that is said.
    pub operation_host: Option<Spanned<String>>,
}

/// Something that a group, a policy or a step names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TopologyElement {
    /// A node template.
    Node(NodeIndex),
    /// A requirement assignment.
    Relation(RelationIndex),
    /// A group.
    Group(GroupIndex),
}

/// A name, and what it stands for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedElement {
    /// As it is written.
    pub name: Spanned<Value>,
    /// What it stands for; nothing where there is nothing of that name.
    pub element: Option<TopologyElement>,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyGroup {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    #[serde(skip)]
    pub span: Span,
    /// Its type, properties, interfaces and the like.
    #[serde(flatten)]
    pub described: Described,
    /// Its members.
    pub members: Vec<NamedElement>,
}

/// A policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyPolicy {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    #[serde(skip)]
    pub span: Span,
    /// Its type, properties and the like.
    #[serde(flatten)]
    pub described: Described,
    /// What it applies to.
    pub targets: Vec<NamedElement>,
    /// When it does something, and what.
    pub triggers: Vec<TopologyTrigger>,
}

/// A trigger of a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyTrigger {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    #[serde(skip)]
    pub span: Span,
    /// What is said of it for people.
    pub description: Option<Spanned<String>>,
    /// What is monitored, where it is not what the policy targets: a node, or a type of nodes.
    pub monitored: Option<NamedElement>,
    /// A requirement of what is monitored, whose target is meant.
    pub requirement: Option<Spanned<String>>,
    /// What is done, one after the other.
    pub activities: Vec<TopologyActivity>,
    /// When that is done, as it is written: event, schedule, condition.
    pub when: Vec<AssignedValue>,
}

/// An input or output: of the topology, or of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyParameter {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    #[serde(skip)]
    pub span: Span,
    /// The name of the type of its value.
    #[serde(rename = "type")]
    pub type_name: Option<Spanned<String>>,
    /// Its value.
    pub value: Option<Spanned<Value>>,
    /// Its value where nobody gives one.
    pub default: Option<Spanned<Value>>,
    /// Whether it has to have a value, where that is said.
    pub required: Option<Spanned<Value>>,
    /// All that is written, with what constrains the value.
    pub definition: Spanned<Value>,
}

/// An imperative workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyWorkflow {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    #[serde(skip)]
    pub span: Span,
    /// What is said of it for people.
    pub description: Option<Spanned<String>>,
    /// What is said of it for programs.
    pub metadata: Vec<AssignedValue>,
    /// Its inputs.
    pub inputs: Vec<TopologyParameter>,
    /// What must hold before it starts.
    pub preconditions: Vec<TopologyPrecondition>,
    /// Its steps.
    pub steps: Vec<TopologyStep>,
    /// What runs it instead of steps.
    pub implementation: Option<Spanned<Value>>,
    /// Its outputs.
    pub outputs: Vec<AssignedValue>,
}

/// A precondition of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyPrecondition {
    /// A node or a group.
    pub target: Option<NamedElement>,
    /// A requirement of the target, whose relationship is meant.
    pub relationship: Option<Spanned<String>>,
    /// What must hold, as it is written.
    pub condition: Option<Spanned<Value>>,
}

/// A step of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyStep {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    #[serde(skip)]
    pub span: Span,
    /// A node or a group.
    pub target: Option<NamedElement>,
    /// A requirement of the target, whose relationship is meant.
    pub relationship: Option<Spanned<String>>,
    /// Where operations are run.
    pub operation_host: Option<Spanned<String>>,
    /// What must hold for it to do anything, as it is written.
    pub filter: Option<Spanned<Value>>,
    /// What it does.
    pub activities: Vec<TopologyActivity>,
    /// What follows when it has succeeded.
    pub on_success: Vec<NextStep>,
    /// What follows when it has failed.
    pub on_failure: Vec<NextStep>,
}

/// A step that follows another.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NextStep {
    /// As it is written.
    pub name: Spanned<String>,
    /// Which step that is; nothing where there is none of that name.
    pub step: Option<StepIndex>,
}

/// An activity of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyActivity {
    /// What is done.
    pub kind: ActivityKind,
    /// The name of a workflow, a state, or an operation.
    pub name: Spanned<String>,
    /// What is assigned to inputs of the workflow or the operation.
    pub inputs: Vec<AssignedValue>,
}

/// A substitution mapping: the topology implements a node type.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologySubstitution {
    /// Where it stands.
    #[serde(skip)]
    pub span: Span,
    /// The name of the node type.
    pub node_type: Option<Spanned<String>>,
    /// Which nodes may be substituted.
    pub substitution_filter: Option<Spanned<Value>>,
    /// From its properties to inputs.
    pub properties: Vec<AssignedValue>,
    /// From its attributes to outputs.
    pub attributes: Vec<AssignedValue>,
    /// From its capabilities to those of nodes.
    pub capabilities: Vec<AssignedValue>,
    /// From its requirements to those of nodes.
    pub requirements: Vec<AssignedValue>,
    /// From operations of its interfaces to workflows.
    pub interfaces: Vec<AssignedValue>,
}
