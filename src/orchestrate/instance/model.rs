//! The model of an instance: what is deployed, as far as anybody said so (seed "instance model",
//! chapters 3 and 4).
//!
//! Maps are sorted by their names: what is written of a model is in one order.

use crate::orchestrate::plan::{StartNode, StartStates};
use crate::text::value::Value;
use crate::tosca::NodeState;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Whatever has names, in their order.
pub type ByName<T> = BTreeMap<Arc<str>, T>;

/// What is deployed: one deployment of one resolved template.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct InstanceModel {
    /// What all entities stand below: `cuvee:<runtime>/<tenant>/<deployment>`.
    pub uri: Arc<str>,
    /// What tells it from every other instance, whatever that is called.
    pub lineage: Arc<str>,
    /// The record that it is the state after; 0 before the first one.
    pub revision: u64,
    /// How often its structure has changed: nodes, relations, states, properties, groups, policies,
    /// inputs, or the target; attributes, notes and links do not count.
    pub structure: u64,
    /// When that record was written, as who wrote it said.
    pub time: Arc<str>,
    /// How it keeps secrets.
    pub secrets: SecretsMode,
    /// Further names whose values are secret.
    pub sensitive: Vec<Arc<str>>,
    /// What it is meant to be.
    pub target: InstanceTarget,
    /// What is said of it for programs.
    pub metadata: ByName<Value>,
    /// Its nodes by their ids: `shop`, or `site@0` where a template has several.
    pub nodes: ByName<NodeInstance>,
    /// Its groups.
    pub groups: ByName<GroupInstance>,
    /// The policies that apply.
    pub policies: ByName<PolicyInstance>,
    /// The values of topology inputs that it was made with.
    pub inputs: ByName<Value>,
    /// What outputs came to, as far as that is known.
    pub outputs: ByName<Value>,
    /// What is said of inputs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub input_annotations: ByName<Annotations>,
    /// What is said of outputs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub output_annotations: ByName<Annotations>,
    /// What is going on.
    pub orchestration: Option<OpenOrchestration>,
    /// Of ids that no node has any more, the generation of the last one that had it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub generations: ByName<u32>,
    /// The key of the report that ended the last orchestration, with its record, so that it can be
    /// said again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_key: Option<(Arc<str>, u64)>,
    /// Whether something has happened to it of which only later versions know what it means.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_later: bool,
}

/// How secrets are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretsMode {
    /// As keyed digests: that one changed is seen, not what it is.
    #[default]
    Digest,
    /// As they are.
    Keep,
    /// Not at all.
    Drop,
}

/// A resolved template that an instance is meant to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct InstanceTarget {
    /// The digest of the target and its sources, which are kept under it; empty where they are not.
    pub digest: Arc<str>,
    /// The template, as it was named.
    pub template: Arc<str>,
    /// What was chosen: presets, variability inputs, options.
    pub choice: ByName<Value>,
}

impl InstanceTarget {
    /// Whether it is kept with the instance; of one that came from elsewhere only names are known.
    pub fn is_kept(&self) -> bool {
        !self.digest.is_empty()
    }
}

/// One thing that is, or is about to be, there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct NodeInstance {
    /// The node template that it was made of; nothing for what was adopted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Arc<str>>,
    /// The name of its type.
    #[serde(rename = "type")]
    pub type_name: Arc<str>,
    /// Which of several of one template it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// How often there was one under this id, from 1.
    pub generation: u32,
    /// The digest of the target in which its template stands, where that is not the present one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Arc<str>>,
    /// Its state.
    pub state: InstanceState,
    /// The state from which it came to `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_in: Option<InstanceState>,
    /// Its properties; those that are optional and have no value are left out.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: ByName<Value>,
    /// What was reported, and values that attributes begin with; a property is an attribute, too,
    /// until another value is reported.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: ByName<ReportedValue>,
    /// Its capabilities.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capabilities: ByName<CapabilityInstance>,
    /// The requirements of its type, and where they lead.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub requirements: ByName<Vec<RelationInstance>>,
    /// Things outside that it belongs to, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: ByName<Arc<str>>,
    /// What is said of it for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
    /// The last note about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Arc<str>>,
    /// Names of properties that somebody changed past the orchestrator.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<Arc<str>>,
}

/// What is said of an entity that is a value only; others have it beside what else they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Annotations {
    /// Things outside that it belongs to, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: ByName<Arc<str>>,
    /// What is said of it for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
}

/// A state: one of the specification's, or one that a workflow sets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InstanceState {
    /// One of the specification's.
    Known(NodeState),
    /// Another one, which is stable.
    Other(Arc<str>),
}

/// A value with the record that reported it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReportedValue {
    /// The value.
    pub value: Value,
    /// The record.
    pub revision: u64,
    /// When that was.
    pub time: Arc<str>,
}

/// A capability of a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CapabilityInstance {
    /// The name of its type.
    #[serde(rename = "type")]
    pub type_name: Arc<str>,
    /// Its properties.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: ByName<Value>,
    /// What was reported.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: ByName<ReportedValue>,
}

/// Where one requirement of a node leads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RelationInstance {
    /// Its position among the relations of its source in the target, counts expanded; part of its
    /// identifier, and of nothing else: relations are the same by name and target.
    pub position: u32,
    /// The id of the node at its end; nothing where nobody has found one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Arc<str>>,
    /// The capability that it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<Arc<str>>,
    /// The relationship template that it was made of, where that has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Arc<str>>,
    /// The name of its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relationship: Option<Arc<str>>,
    /// Whether its target hosts its source.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hosting: bool,
    /// Its state.
    pub state: InstanceState,
    /// Things outside that it belongs to, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: ByName<Arc<str>>,
    /// What is said of it for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
}

/// A group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct GroupInstance {
    /// The group of the template that it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Arc<str>>,
    /// The name of its type.
    #[serde(rename = "type")]
    pub type_name: Arc<str>,
    /// The ids of its members.
    pub members: Vec<Arc<str>>,
    /// Its properties.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: ByName<Value>,
    /// What its attributes begin with, or what was reported.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: ByName<ReportedValue>,
    /// What deprecated types of groups have.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capabilities: ByName<Value>,
    /// What deprecated types of groups have.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub requirements: ByName<Value>,
    /// Things outside that it belongs to, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: ByName<Arc<str>>,
    /// What is said of it for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
}

/// A policy that applies, triggered or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PolicyInstance {
    /// The policy of the template that it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Arc<str>>,
    /// The name of its type.
    #[serde(rename = "type")]
    pub type_name: Arc<str>,
    /// The nodes and groups that it applies to.
    pub targets: Vec<Arc<str>>,
    /// Its properties.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: ByName<Value>,
    /// Things outside that it belongs to, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: ByName<Arc<str>>,
    /// What is said of it for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
}

/// A change that is going on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct OpenOrchestration {
    /// The record that began it.
    pub id: u64,
    /// When that was.
    pub time: Arc<str>,
    /// Who began it.
    pub actor: Arc<str>,
    /// The digest of its plan, which is kept under it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Arc<str>>,
    /// The name of its workflow, where it has no plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Arc<str>>,
    /// What the instance is to be after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<InstanceTarget>,
    /// Parts and steps of which something was said.
    pub steps: ByName<StepStatus>,
    /// Keys of reports, each with the record that it led to.
    pub keys: ByName<u64>,
    /// Names of outputs that were reported since it began.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub outputs: BTreeSet<Arc<str>>,
}

/// How far a step or part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    /// It has begun.
    Running,
    /// It has succeeded.
    Done,
    /// It has failed.
    Failed,
    /// Who ran it is gone.
    Interrupted,
}

impl StepStatus {
    /// How it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

impl InstanceState {
    /// How it is written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(state) => state.as_str(),
            Self::Other(name) => name,
        }
    }

    /// The state of a name.
    pub fn named(name: &str) -> Self {
        NodeState::named(name).map_or_else(|| Self::Other(name.into()), Self::Known)
    }

    /// Whether a node stays in it (I-30).
    pub fn is_stable(&self) -> bool {
        !matches!(self, Self::Known(state) if state.is_transitional())
    }
}

impl Default for InstanceState {
    /// What everything begins with (I-8).
    fn default() -> Self {
        Self::Known(NodeState::Initial)
    }
}

impl From<NodeState> for InstanceState {
    fn from(state: NodeState) -> Self {
        Self::Known(state)
    }
}

impl std::fmt::Display for InstanceState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for InstanceState {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for InstanceState {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Ok(Self::named(&name))
    }
}

impl NodeInstance {
    /// Whether what was reported of it is meant to hold: between stable states, before it is
    /// created and after an error attributes may be anything (I-37).
    pub fn has_attributes(&self) -> bool {
        use NodeState::{Configured, Created, Started};
        match &self.state {
            InstanceState::Known(state) => matches!(state, Created | Configured | Started),
            InstanceState::Other(_) => true,
        }
    }
}

impl InstanceModel {
    /// The URI of a node: what tells it from everything else that ever was (I-8, I-22).
    pub fn tosca_id(&self, id: &str, node: &NodeInstance) -> String {
        let uri = format!("{}#/nodes/{}", self.uri, pointer(id));
        match node.generation {
            0 | 1 => uri,
            generation => format!("{uri}?generation={generation}"),
        }
    }

    /// What there is before a plan begins that acts on templates: their states, and what was reported
    /// of attributes. Of several nodes of one template the first counts.
    pub fn start_states(&self) -> StartStates {
        let mut states = StartStates::default();
        let first = self.nodes.iter().filter(|(_, node)| node.index.is_none_or(|index| index == 0));
        for (id, node) in first {
            let name = node.template.as_ref().unwrap_or(id);
            let attributes = node.attributes.iter();
            let attributes = attributes.map(|(name, it)| (name.to_string(), it.value.clone()));
            states.nodes.push(StartNode::of(
                name.to_string(),
                node.state.to_string(),
                attributes.collect(),
            ));
        }
        states
    }

    /// All relations: the id of the source, the name of the requirement, and where it leads.
    pub fn relations(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>, &RelationInstance)> {
        self.nodes.iter().flat_map(|(id, node)| {
            node.requirements.iter().flat_map(move |(name, relations)| {
                relations.iter().map(move |relation| (id, name, relation))
            })
        })
    }
}

/// The identifier of a relation: `relation.db@0.node.shop`.
pub fn relation_identifier(source: &str, requirement: &str, position: u32) -> String {
    format!("relation.{requirement}@{position}.node.{source}")
}

/// A segment of a JSON pointer.
pub(crate) fn pointer(segment: &str) -> std::borrow::Cow<'_, str> {
    match segment.contains(['~', '/']) {
        true => segment.replace('~', "~0").replace('/', "~1").into(),
        false => segment.into(),
    }
}
