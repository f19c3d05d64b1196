//! Defines the parts of a topology as plain data, each part with its place in the source.
//!
//! Parts refer to each other by ids, which are positions in the lists of the
//! [`Topology`](super::Topology). The places are for messages and are not serialised.

pub use crate::tosca::workflow::ActivityKind;

use crate::topology::index::indices;
use crate::tosca::{Directive, PermittedEnds};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
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

/// A value together with the place where it is written. What few elements have is boxed, so that the
/// others stay small.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The place of the value.
    #[serde(skip)]
    pub span: Span,
}

/// A named value: a property, an attribute, an input, or an entry of metadata.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AssignedValue {
    /// Its name.
    pub name: String,
    /// The place of the name.
    #[serde(skip)]
    pub span: Span,
    /// The value; functions are kept as maps, the way they are written.
    pub value: Spanned<Value>,
}

/// The keynames that most parts share.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Described {
    /// The name of the type, as it is written.
    #[serde(rename = "type")]
    pub type_name: Option<Spanned<String>>,
    /// The description, for people.
    pub description: Option<Box<Spanned<String>>>,
    /// The metadata, for programs.
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
    /// The place of the name.
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
    /// The relations whose target is this node, in the order of the topology.
    pub incoming: Vec<RelationIndex>,
    /// Its artifacts.
    pub artifacts: Vec<TopologyArtifact>,
    /// The filter that a selected node must satisfy.
    pub node_filter: Option<Box<Spanned<Value>>>,
    /// The node template that it copies.
    pub copy: Option<Box<Spanned<String>>>,
    /// How many instances of the node are allowed.
    pub occurrences: Option<Box<Spanned<Value>>>,
    /// How many instances of the node there are.
    pub instance_count: Option<Box<Spanned<Value>>>,
}

impl TopologyNode {
    /// How the node comes about: the first of its directives. Those after it are for the case that
    /// this one does not work.
    pub(crate) fn directive(&self) -> Directive {
        let mut known = self.directives.iter().filter_map(|it| Directive::named(&it.value));
        known.next().unwrap_or(Directive::Create)
    }

    /// Whether it has a directive, alone or beside others.
    pub(crate) fn has_directive(&self, directive: Directive) -> bool {
        self.directives.iter().any(|it| Directive::named(&it.value) == Some(directive))
    }

    /// The value that determines the number of instances, if any: the `instance_count`, else the
    /// default of a scalable capability, else the lower bound of the `occurrences`.
    pub(crate) fn count(&self) -> Option<&Value> {
        let default = || {
            let mut values = self.capabilities.iter().flat_map(|capability| &capability.properties);
            values.find(|property| property.name == "default_instances")
        };
        let least = || match &self.occurrences.as_ref()?.value {
            Value::List(bounds) => match &**bounds {
                // A node with exactly one instance is not counted.
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

/// A requirement assignment: a relation from a node to another node, or to one that an orchestrator
/// has to find.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyRelation {
    /// Its name.
    pub name: String,
    /// The position among the requirement assignments of the node as its author wrote them,
    /// counting those that are not in this variant.
    pub position: u32,
    /// The place of the name.
    #[serde(skip)]
    pub span: Span,
    /// The node that has the requirement.
    pub source: NodeIndex,
    /// The target node, if it is in this topology.
    pub target: Option<NodeIndex>,
    /// The target as it is written: the name of a node template or of a node type.
    pub node: Option<Spanned<String>>,
    /// The index of the target among the nodes of its template, if it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<Box<Spanned<Value>>>,
    /// The name of a capability of the target, or of a capability type.
    pub capability: Option<Box<Spanned<String>>>,
    /// The relationship template, referred to by name or written in the requirement assignment.
    pub relationship: Option<RelationshipIndex>,
    /// The type of the relationship, if it is written.
    pub relationship_type: Option<Box<Spanned<String>>>,
    /// Whether the target hosts the source.
    pub hosting: bool,
    /// The filter that a selected target must satisfy.
    pub node_filter: Option<Box<Spanned<Value>>>,
    /// How often the requirement may be fulfilled.
    pub occurrences: Option<Box<Spanned<Value>>>,
    /// How many relations the requirement assignment counts for.
    pub count: Option<Box<Spanned<Value>>>,
    /// Whether the requirement may stay unfulfilled.
    pub optional: Option<Box<Spanned<Value>>>,
    /// What the relation allocates of properties of the capability that it leads to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allocation: Vec<AssignedValue>,
    /// Whether the target is a node of the template (`internal`) or an existing one (`external`),
    /// in order of preference. Without directives, both are possible.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub directives: Box<[Spanned<String>]>,
}

impl TopologyRelation {
    /// The target for people, with its index if it has one: `vm`, `vm@1`.
    pub(crate) fn target_name(&self) -> Option<Value> {
        let name = &*self.node.as_ref()?.value;
        let Some(index) = &self.index else { return Some(Value::from(name)) };
        Some(match &index.value {
            Value::Number(index) => Value::from(&*format!("{name}@{index}")),
            index => Value::List([Value::from(name), index.clone()].into()),
        })
    }

    /// Which nodes its target may be.
    pub(crate) fn permitted_ends(&self) -> PermittedEnds {
        PermittedEnds::of(self.directives.iter().map(|it| &*it.value))
    }
}

/// A relationship template.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyRelationship {
    /// The name; `None` if the template is written in a requirement assignment.
    pub name: Option<String>,
    /// The place of the name; without a name, the place of the whole template.
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
    /// The place of the name.
    #[serde(skip)]
    pub span: Span,
    /// Property assignments.
    pub properties: Vec<AssignedValue>,
    /// Attribute assignments.
    pub attributes: Vec<AssignedValue>,
    /// How many relations may have this capability as their target.
    pub occurrences: Option<Spanned<Value>>,
    /// Whether relations to it come from nodes of the template (`internal`) or from others
    /// (`external`). Without directives, both are possible.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub directives: Box<[Spanned<String>]>,
}

impl TopologyCapability {
    /// From which nodes relations to it may come.
    pub(crate) fn permitted_ends(&self) -> PermittedEnds {
        PermittedEnds::of(self.directives.iter().map(|it| &*it.value))
    }
}

/// An artifact definition.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyArtifact {
    /// Its name.
    pub name: String,
    /// The place of the name.
    #[serde(skip)]
    pub span: Span,
    /// The name of its type.
    #[serde(rename = "type")]
    pub type_name: Option<Spanned<String>>,
    /// Its file.
    pub file: Option<Spanned<String>>,
    /// Its repository.
    pub repository: Option<Spanned<String>>,
    /// The path that the artifact is deployed to.
    pub deploy_path: Option<Spanned<String>>,
    /// Property assignments.
    pub properties: Vec<AssignedValue>,
    /// All other keynames.
    pub others: Vec<AssignedValue>,
}

/// An interface.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyInterface {
    /// Its name.
    pub name: String,
    /// The place of the name.
    #[serde(skip)]
    pub span: Span,
    /// The name of its type.
    #[serde(rename = "type")]
    pub type_name: Option<Spanned<String>>,
    /// Inputs that all operations of the interface share.
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
    /// The place of the name.
    #[serde(skip)]
    pub span: Span,
    /// The implementation.
    pub implementation: Option<TopologyImplementation>,
    /// The values of the inputs.
    pub inputs: Vec<AssignedValue>,
    /// The attributes that the outputs are written to.
    pub outputs: Vec<AssignedValue>,
}

/// The implementation of an operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyImplementation {
    /// The place of the implementation.
    #[serde(skip)]
    pub span: Span,
    /// The primary artifact: its name, a file, or a definition in place.
    pub primary: Option<Spanned<Value>>,
    /// Further artifacts, in the same notations.
    pub dependencies: Vec<Spanned<Value>>,
    /// The number of seconds after which the operation counts as failed.
    pub timeout: Option<Spanned<Value>>,
    /// The host that runs the operation, if it is written.
    pub operation_host: Option<Spanned<String>>,
}

/// An element that a group, a policy or a step refers to.
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

/// A name together with the element that it refers to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedElement {
    /// The name as it is written.
    pub name: Spanned<Value>,
    /// The element of that name, if there is one.
    pub element: Option<TopologyElement>,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyGroup {
    /// Its name.
    pub name: String,
    /// The place of the name.
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
    /// The place of the name.
    #[serde(skip)]
    pub span: Span,
    /// Its type, properties and the like.
    #[serde(flatten)]
    pub described: Described,
    /// The elements that the policy applies to.
    pub targets: Vec<NamedElement>,
    /// The triggers: when the policy acts, and what it does.
    pub triggers: Vec<TopologyTrigger>,
}

/// A trigger of a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyTrigger {
    /// Its name.
    pub name: String,
    /// The place of the name.
    #[serde(skip)]
    pub span: Span,
    /// The description, for people.
    pub description: Option<Spanned<String>>,
    /// The monitored node or node type, if it is not the target of the policy.
    pub monitored: Option<NamedElement>,
    /// The requirement of the monitored node whose target is meant.
    pub requirement: Option<Spanned<String>>,
    /// The activities, run one after the other.
    pub activities: Vec<TopologyActivity>,
    /// The keynames that say when the trigger fires, as they are written: event, schedule,
    /// condition.
    pub when: Vec<AssignedValue>,
}

/// An input or output: of the topology, or of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyParameter {
    /// Its name.
    pub name: String,
    /// The place of the name.
    #[serde(skip)]
    pub span: Span,
    /// The name of the type of the value.
    #[serde(rename = "type")]
    pub type_name: Option<Spanned<String>>,
    /// Its value.
    pub value: Option<Spanned<Value>>,
    /// The value used if none is given.
    pub default: Option<Spanned<Value>>,
    /// Whether a value is required, if that is written.
    pub required: Option<Spanned<Value>>,
    /// The whole definition, with the constraints on the value.
    pub definition: Spanned<Value>,
}

/// An imperative workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyWorkflow {
    /// Its name.
    pub name: String,
    /// The place of the name.
    #[serde(skip)]
    pub span: Span,
    /// The description, for people.
    pub description: Option<Spanned<String>>,
    /// The metadata, for programs.
    pub metadata: Vec<AssignedValue>,
    /// Its inputs.
    pub inputs: Vec<TopologyParameter>,
    /// The conditions that must hold before the workflow starts.
    pub preconditions: Vec<TopologyPrecondition>,
    /// Its steps.
    pub steps: Vec<TopologyStep>,
    /// The artifact that runs the workflow, instead of steps.
    pub implementation: Option<Spanned<Value>>,
    /// Its outputs.
    pub outputs: Vec<AssignedValue>,
}

/// A precondition of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyPrecondition {
    /// The node or group that the condition is about.
    pub target: Option<NamedElement>,
    /// The requirement of the target whose relationship is meant.
    pub relationship: Option<Spanned<String>>,
    /// The condition, as it is written.
    pub condition: Option<Spanned<Value>>,
}

/// A step of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyStep {
    /// Its name.
    pub name: String,
    /// The place of the name.
    #[serde(skip)]
    pub span: Span,
    /// The node or group that the step works on.
    pub target: Option<NamedElement>,
    /// The requirement of the target whose relationship is meant.
    pub relationship: Option<Spanned<String>>,
    /// The host that runs the operations.
    pub operation_host: Option<Spanned<String>>,
    /// The condition under which the step does anything, as it is written.
    pub filter: Option<Spanned<Value>>,
    /// The activities of the step.
    pub activities: Vec<TopologyActivity>,
    /// The steps that follow if this step succeeds.
    pub on_success: Vec<NextStep>,
    /// The steps that follow if this step fails.
    pub on_failure: Vec<NextStep>,
}

/// A step that follows another.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NextStep {
    /// The name of the step, as it is written.
    pub name: Spanned<String>,
    /// The step of that name, if there is one.
    pub step: Option<StepIndex>,
}

/// An activity of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologyActivity {
    /// The kind of the activity.
    pub kind: ActivityKind,
    /// The name of a workflow, a state, or an operation.
    pub name: Spanned<String>,
    /// The values of the inputs of the workflow or the operation.
    pub inputs: Vec<AssignedValue>,
}

/// A substitution mapping: the topology implements a node type.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopologySubstitution {
    /// The place of the substitution mapping.
    #[serde(skip)]
    pub span: Span,
    /// The name of the node type.
    pub node_type: Option<Spanned<String>>,
    /// The filter that a substituted node must satisfy.
    pub substitution_filter: Option<Spanned<Value>>,
    /// Maps properties of the node type to inputs.
    pub properties: Vec<AssignedValue>,
    /// Maps attributes of the node type to outputs.
    pub attributes: Vec<AssignedValue>,
    /// Maps capabilities of the node type to capabilities of nodes.
    pub capabilities: Vec<AssignedValue>,
    /// Maps requirements of the node type to requirements of nodes.
    pub requirements: Vec<AssignedValue>,
    /// Maps operations of interfaces of the node type to workflows.
    pub interfaces: Vec<AssignedValue>,
}
