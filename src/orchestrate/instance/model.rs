//! The model of an instance: what is deployed, as far as it was reported (seed "instance model",
//! chapters 3 and 4).
//!
//! Maps are sorted by name, so a model is always written in the same order.

use crate::orchestrate::plan::{StartNode, StartStates};
use crate::tosca::NodeState;
use cuvee_text::value::Value;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The outputs of an operation are kept as metadata of its element. The metadata's name begins with
/// this, and goes on with the interface and the operation: `outputs.Standard.create`.
pub(crate) const KEPT_OUTPUTS: &str = "outputs.";

/// A map of named elements, sorted by name.
pub type ByName<T> = BTreeMap<Arc<str>, T>;

/// The model of an instance: one deployment of one resolved template.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct InstanceModel {
    /// The URI that the URIs of all entities begin with: `cuvee:<runtime>/<tenant>/<deployment>`.
    pub uri: Arc<str>,
    /// The lineage: what tells the instance from every other one, even one of the same name.
    pub lineage: Arc<str>,
    /// The number of the last record in the model; 0 before the first one.
    pub revision: u64,
    /// How often the structure has changed: nodes, relations, states, properties, groups, policies,
    /// inputs, or the target. Attributes, notes and links do not count.
    pub structure: u64,
    /// The time of the last record, as its author gave it.
    pub time: Arc<str>,
    /// How the instance keeps secrets.
    pub secrets: SecretsMode,
    /// Further parts of names whose values are secret.
    pub sensitive: Vec<Arc<str>>,
    /// The target that the instance is meant to become.
    pub target: InstanceTarget,
    /// Its metadata, for programs.
    pub metadata: ByName<Value>,
    /// Its nodes by their ids: `shop`, or `site@0` where a template has several.
    pub nodes: ByName<NodeInstance>,
    /// Its groups.
    pub groups: ByName<GroupInstance>,
    /// The policies that apply.
    pub policies: ByName<PolicyInstance>,
    /// The values of topology inputs that the instance was made with.
    pub inputs: ByName<Value>,
    /// The values of outputs, as far as they are known.
    pub outputs: ByName<Value>,
    /// The annotations of inputs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub input_annotations: ByName<Annotations>,
    /// The annotations of outputs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub output_annotations: ByName<Annotations>,
    /// The orchestration that is open, if any.
    pub orchestration: Option<OpenOrchestration>,
    /// For each id that no node has any more, the generation of its last node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub generations: ByName<u32>,
    /// The key of the report that ended the last orchestration, and its record, so that the report
    /// can be repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_key: Option<(Arc<str>, u64)>,
    /// Whether the log contains an event that only later versions understand.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_later: bool,
}

/// How an instance keeps secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretsMode {
    /// As keyed digests: a change is noticed, the value is not known.
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
    /// The digest of the target, under which its texts are kept; empty if they are not kept.
    pub digest: Arc<str>,
    /// The path of the template, as it was given.
    pub template: Arc<str>,
    /// Whether its nodes are below `service_template`, as those of TOSCA 2.0 are.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub service_template: bool,
    /// The choices that resolved the template: presets, variability inputs, options.
    pub choice: ByName<Value>,
}

impl InstanceTarget {
    /// Whether the target is kept with the instance. Of an imported one only names are known.
    pub fn is_kept(&self) -> bool {
        !self.digest.is_empty()
    }
}

/// A node: something that exists, or is about to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct NodeInstance {
    /// The node template that it was made from; `None` if the node was adopted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Arc<str>>,
    /// The name of its type.
    #[serde(rename = "type")]
    pub type_name: Arc<str>,
    /// Its index among the nodes of its template, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Its generation: how many nodes have had this id, including this one.
    pub generation: u32,
    /// The digest of the target that contains its template, if that is not the present one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Arc<str>>,
    /// Its state.
    pub state: InstanceState,
    /// The state that it had before it came to `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_in: Option<InstanceState>,
    /// Its properties. Optional ones without a value are left out.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: ByName<Value>,
    /// Its reported attributes, and the initial values of others. A property is also an attribute
    /// until another value is reported for it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: ByName<ReportedValue>,
    /// Its capabilities.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capabilities: ByName<CapabilityInstance>,
    /// Its requirements, and the relations of each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub requirements: ByName<Vec<RelationInstance>>,
    /// Its links: URIs of things outside the instance, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: ByName<Arc<str>>,
    /// Its metadata, for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
    /// The last note about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Arc<str>>,
    /// The names of properties that somebody edited without the orchestrator.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<Arc<str>>,
}

/// The annotations of an input or output. Other entities contain theirs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Annotations {
    /// The links: URIs of things outside the instance, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: ByName<Arc<str>>,
    /// The metadata, for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
}

/// The state of a node: one of the specification's, or one that a workflow sets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InstanceState {
    /// A state of the specification.
    Known(NodeState),
    /// Another state. It counts as stable.
    Other(Arc<str>),
}

/// A value with the record that reported it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReportedValue {
    /// The value.
    pub value: Value,
    /// The number of the record that reported it.
    pub revision: u64,
    /// The time of that record.
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
    /// Its reported attributes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: ByName<ReportedValue>,
}

/// A relation: where one requirement of a node leads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RelationInstance {
    /// Its position among the relations of its source in the expanded target. It is only used in
    /// the identifier: relations are the same if name and target are the same.
    pub position: u32,
    /// The id of the target node; `None` if none was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Arc<str>>,
    /// The capability that it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<Arc<str>>,
    /// The relationship template that it was made from, if that has a name.
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
    /// Whether its ends have yet to learn of each other: it came with its source, whose part of a
    /// plan is not done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    /// Its links: URIs of things outside the instance, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: ByName<Arc<str>>,
    /// Its metadata, for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
}

/// A group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct GroupInstance {
    /// The group of the template that it was made from.
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
    /// Its attributes: initial values or reported ones.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: ByName<ReportedValue>,
    /// The capabilities that deprecated group types have.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capabilities: ByName<Value>,
    /// The requirements that deprecated group types have.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub requirements: ByName<Value>,
    /// Its links: URIs of things outside the instance, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: ByName<Arc<str>>,
    /// Its metadata, for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
}

/// A policy that applies, triggered or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PolicyInstance {
    /// The policy of the template that it was made from.
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
    /// Its links: URIs of things outside the instance, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: ByName<Arc<str>>,
    /// Its metadata, for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
}

/// An orchestration that has begun and not ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct OpenOrchestration {
    /// The number of the record that began it.
    pub id: u64,
    /// The time of that record.
    pub time: Arc<str>,
    /// The actor who began it.
    pub actor: Arc<str>,
    /// The digest of its plan, under which the plan is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Arc<str>>,
    /// The name of its workflow, if it has no plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Arc<str>>,
    /// The target that the instance is to have after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<InstanceTarget>,
    /// The status of the parts and steps that were reported.
    pub steps: ByName<StepStatus>,
    /// The claims of steps and parts that are running.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub claims: ByName<StepClaim>,
    /// The keys of reports, each with the number of its record.
    pub keys: ByName<u64>,
    /// The names of outputs that were reported since it began.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub outputs: BTreeSet<Arc<str>>,
}

/// The claim of a step or part: until its lease is over, only whoever has its token may report the
/// step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepClaim {
    /// The actor who claimed it.
    pub actor: Arc<str>,
    /// The digest of the token.
    pub token: Arc<str>,
    /// The time at which the lease is over.
    pub until: Arc<str>,
}

impl StepClaim {
    /// Whether the lease is over at a time.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.until.parse().is_ok_and(|until: Timestamp| until <= now)
    }
}

/// The status of a step or part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    /// It has begun.
    Running,
    /// It has succeeded.
    Done,
    /// It has failed.
    Failed,
    /// The program that ran it is gone.
    Interrupted,
}

impl StepStatus {
    /// The status as it is written.
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
    /// The state as it is written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(state) => state.as_str(),
            Self::Other(name) => name,
        }
    }

    /// The state with this name.
    pub fn named(name: &str) -> Self {
        NodeState::named(name).map_or_else(|| Self::Other(name.into()), Self::Known)
    }

    /// Whether a node may remain in this state (I-30).
    pub fn is_stable(&self) -> bool {
        !matches!(self, Self::Known(state) if state.is_transitional())
    }
}

impl Default for InstanceState {
    /// The state in which everything begins (I-8).
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
    /// The node without spare room for relations: most requirements have one, and lists begin with
    /// room for four.
    pub(super) fn trimmed(mut self) -> Self {
        self.requirements.values_mut().for_each(Vec::shrink_to_fit);
        self
    }

    /// Whether reported attributes count in the present state. In transitional states, before
    /// creation and after an error attributes may have any value (I-37).
    pub fn has_attributes(&self) -> bool {
        use NodeState::{Configured, Created, Started};
        match &self.state {
            InstanceState::Known(state) => matches!(state, Created | Configured | Started),
            InstanceState::Other(_) => true,
        }
    }
}

impl InstanceModel {
    /// The URI of a node: it differs from that of everything else that ever was (I-8, I-22).
    pub fn tosca_id(&self, id: &str, node: &NodeInstance) -> String {
        let uri = format!("{}#/nodes/{}", self.uri, pointer(id));
        match node.generation {
            0 | 1 => uri,
            generation => format!("{uri}?generation={generation}"),
        }
    }

    /// The states and reported attributes from which a plan over templates starts. If a template
    /// has several nodes, the first one counts.
    pub fn start_states(&self) -> StartStates {
        let first = self.nodes.iter().filter(|(_, node)| node.index.is_none_or(|index| index == 0));
        start(first.map(|(id, node)| (node.template.as_ref().unwrap_or(id), node)))
    }

    /// The states and reported attributes from which a plan for this instance starts.
    pub fn node_states(&self) -> StartStates {
        start(self.nodes.iter())
    }

    /// All relations, each with the id of its source and the name of its requirement.
    pub fn relations(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>, &RelationInstance)> {
        self.nodes.iter().flat_map(|(id, node)| {
            node.requirements.iter().flat_map(move |(name, relations)| {
                relations.iter().map(move |relation| (id, name, relation))
            })
        })
    }
}

/// The states and reported attributes of nodes, by these names.
fn start<'m>(nodes: impl Iterator<Item = (&'m Arc<str>, &'m NodeInstance)>) -> StartStates {
    let mut states = StartStates::default();
    states.nodes.extend(nodes.map(|(name, node)| {
        let reported = node.attributes.iter();
        let reported = reported.map(|(name, it)| (name.to_string(), it.value.clone()));
        StartNode::of(name.to_string(), node.state.to_string(), reported.collect())
    }));
    states
}

/// The identifier of a relation: `relation.db@0.node.shop`.
pub fn relation_identifier(source: &str, requirement: &str, position: u32) -> String {
    format!("relation.{requirement}@{position}.node.{source}")
}

/// A segment of a JSON pointer, with its special characters escaped.
pub(crate) fn pointer(segment: &str) -> std::borrow::Cow<'_, str> {
    match segment.contains(['~', '/']) {
        true => segment.replace('~', "~0").replace('/', "~1").into(),
        false => segment.into(),
    }
}
