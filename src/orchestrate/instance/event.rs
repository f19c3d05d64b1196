//! What records of the log say has happened.

use super::model::{
    ByName, CapabilityInstance, GroupInstance, InstanceState, InstanceTarget, PolicyInstance,
    SecretsMode,
};
use crate::text::value::Value;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One thing that has happened. What it is about is named as elements are: `node.shop`,
/// `relation.db@0.node.shop`, `group.web`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// An instance begins.
    InstanceCreated {
        /// What tells it from all others.
        lineage: Arc<str>,
        /// What its entities stand below.
        uri: Arc<str>,
        /// How it keeps secrets.
        secrets: SecretsMode,
        /// Further names whose values are secret.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sensitive: Vec<Arc<str>>,
    },
    /// It is meant to be this from now on.
    TargetSet(InstanceTarget),
    /// A change begins.
    OrchestrationStarted {
        /// The digest of its plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<Arc<str>>,
        /// Its workflow, where it has no plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workflow: Option<Arc<str>>,
        /// What the instance is to be after it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<InstanceTarget>,
    },
    /// A change is over.
    OrchestrationEnded {
        /// How.
        outcome: ReportOutcome,
    },
    /// A step or part begins.
    StepStarted {
        /// Its identifier.
        step: Arc<str>,
    },
    /// A step or part is over.
    StepEnded {
        /// Its identifier.
        step: Arc<str>,
        /// How.
        outcome: ReportOutcome,
        /// Why, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Arc<str>>,
    },
    /// A node is in the model from now on, as `initial`.
    NodeAdded(Box<NodeAdded>),
    /// A node is what a target says of it: its values follow as events of their own.
    NodeDefined {
        /// Its id.
        id: Arc<str>,
        /// The digest of that target; nothing for the present one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<Arc<str>>,
        /// Its node template, where that is another one than before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<Arc<str>>,
        /// With it, which of several of that template it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<u32>,
    },
    /// A node is gone.
    NodeRemoved {
        /// Its id.
        id: Arc<str>,
    },
    /// A node or relation has another state.
    State {
        /// What it is about.
        entity: Arc<str>,
        /// What it was.
        from: InstanceState,
        /// What it is.
        to: InstanceState,
        /// What lies between, of which nothing was said.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<InstanceState>,
        /// Whether it cannot be, and somebody insists.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        forced: bool,
    },
    /// A requirement leads somewhere.
    RelationAdded(Box<RelationAdded>),
    /// It no longer does. Relations are the same by name and target; of several the last one goes.
    RelationRemoved {
        /// The id of its source.
        source: Arc<str>,
        /// The name of its requirement.
        requirement: Arc<str>,
        /// The id of its target.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<Arc<str>>,
    },
    /// A property of a node or group has a value, or none any more.
    Property {
        /// What it is about.
        entity: Arc<str>,
        /// Its name.
        name: Arc<str>,
        /// Its value.
        #[serde(default, deserialize_with = "some", skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// The same for a property of a capability.
    CapabilityProperty {
        /// The node.
        entity: Arc<str>,
        /// The capability.
        capability: Arc<str>,
        /// Its name.
        name: Arc<str>,
        /// Its value.
        #[serde(default, deserialize_with = "some", skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// Somebody says what an attribute is.
    Attribute {
        /// What it is about.
        entity: Arc<str>,
        /// The capability, where it is one of that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        capability: Option<Arc<str>>,
        /// Its name.
        name: Arc<str>,
        /// Its value.
        #[serde(default, deserialize_with = "some", skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// A group is this, or no more.
    Group {
        /// Its name.
        name: Arc<str>,
        /// What it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<GroupInstance>,
    },
    /// A policy is this, or applies no more.
    Policy {
        /// Its name.
        name: Arc<str>,
        /// What it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<PolicyInstance>,
    },
    /// The value of an input of the topology.
    Input {
        /// Its name.
        name: Arc<str>,
        /// Its value.
        #[serde(default, deserialize_with = "some", skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// What an output came to.
    Output {
        /// Its name.
        name: Arc<str>,
        /// Its value.
        #[serde(default, deserialize_with = "some", skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// Something, whatever it is, belongs to something outside.
    Linked {
        /// What it is about.
        entity: Arc<str>,
        /// What that is to it.
        name: Arc<str>,
        /// What that is called; nothing where it does not belong to it any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uri: Option<Arc<str>>,
    },
    /// Something that programs are told.
    Metadata {
        /// What it is about, where it is not the instance.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entity: Option<Arc<str>>,
        /// Its name.
        name: Arc<str>,
        /// Its value.
        #[serde(default, deserialize_with = "some", skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// A node that was there belongs to the instance from now on.
    NodeAdopted {
        /// Its id.
        id: Arc<str>,
        /// The name of its type.
        #[serde(rename = "type")]
        type_name: Arc<str>,
    },
    /// A node does not belong to the instance any more, and stays what it is.
    NodeForgotten {
        /// Its id.
        id: Arc<str>,
    },
    /// A node has another id.
    NodeRenamed {
        /// What it was.
        id: Arc<str>,
        /// What it is.
        to: Arc<str>,
    },
    /// Something that people are told.
    Note {
        /// What it is about, where it is not the instance.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entity: Option<Arc<str>>,
        /// What they are told.
        text: Arc<str>,
        /// How urgent it is: `info`, `warning`, `error`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        level: Option<Arc<str>>,
    },
    /// What was torn off at the end of the log, and never acknowledged, was put aside.
    LogRecovered {
        /// How much that was.
        bytes: u64,
    },
    /// Something that a later version knows: it stays in the log, and nobody may write behind it
    /// who does not know it.
    #[serde(other)]
    Unknown,
}

/// A node that comes into the model, with what its target says of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct NodeAdded {
    /// Its id.
    pub id: Arc<str>,
    /// Its node template.
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
    /// The digest of the target that defines it, where that is not the present one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Arc<str>>,
    /// Its properties.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: ByName<Value>,
    /// What its attributes begin with.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: ByName<Value>,
    /// Its capabilities.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capabilities: ByName<CapabilityInstance>,
    /// The requirements of its type that lead nowhere yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Arc<str>>,
    /// What is said of it for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
}

/// A relation that comes into the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RelationAdded {
    /// The id of its source.
    pub source: Arc<str>,
    /// The name of its requirement.
    pub requirement: Arc<str>,
    /// Its position in the target.
    pub position: u32,
    /// The id of its target.
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
    /// Things outside that it belongs to, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: ByName<Arc<str>>,
    /// What is said of it for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
}

/// How something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportOutcome {
    /// As it should.
    Done,
    /// It went wrong.
    Failed,
    /// Somebody called it off.
    Cancelled,
    /// Who ran it is gone; of steps.
    Interrupted,
}

impl ReportOutcome {
    /// How it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Who says something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordOrigin {
    /// Who carries a change out.
    #[default]
    Orchestrator,
    /// Somebody who asks for something: a change, an instance.
    Client,
    /// Somebody who changes the model past the orchestrator.
    Edit,
    /// An export or a log from elsewhere.
    Import,
}

/// A value that is there, be it null.
fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Event {
    /// What it is called in a log.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::InstanceCreated { .. } => "instance-created",
            Self::TargetSet(_) => "target-set",
            Self::OrchestrationStarted { .. } => "orchestration-started",
            Self::OrchestrationEnded { .. } => "orchestration-ended",
            Self::StepStarted { .. } => "step-started",
            Self::StepEnded { .. } => "step-ended",
            Self::NodeAdded(_) => "node-added",
            Self::NodeDefined { .. } => "node-defined",
            Self::NodeRemoved { .. } => "node-removed",
            Self::State { .. } => "state",
            Self::RelationAdded(_) => "relation-added",
            Self::RelationRemoved { .. } => "relation-removed",
            Self::Property { .. } => "property",
            Self::CapabilityProperty { .. } => "capability-property",
            Self::Attribute { .. } => "attribute",
            Self::Group { .. } => "group",
            Self::Policy { .. } => "policy",
            Self::Input { .. } => "input",
            Self::Output { .. } => "output",
            Self::Linked { .. } => "linked",
            Self::Metadata { .. } => "metadata",
            Self::NodeAdopted { .. } => "node-adopted",
            Self::NodeForgotten { .. } => "node-forgotten",
            Self::NodeRenamed { .. } => "node-renamed",
            Self::Note { .. } => "note",
            Self::LogRecovered { .. } => "log-recovered",
            Self::Unknown => "unknown",
        }
    }

    /// What it is about: `node.shop`, `group.web`, `input.port`; nothing for what is about the
    /// instance or a step.
    pub fn entity(&self) -> Option<String> {
        let of = |kind: &str, name: &str| Some(format!("{kind}.{name}"));
        match self {
            Self::State { entity, .. }
            | Self::Property { entity, .. }
            | Self::CapabilityProperty { entity, .. }
            | Self::Attribute { entity, .. }
            | Self::Linked { entity, .. } => Some(entity.to_string()),
            Self::Metadata { entity, .. } | Self::Note { entity, .. } => {
                entity.as_ref().map(ToString::to_string)
            }
            Self::NodeAdded(added) => of("node", &added.id),
            Self::NodeDefined { id, .. }
            | Self::NodeRemoved { id }
            | Self::NodeAdopted { id, .. }
            | Self::NodeForgotten { id }
            | Self::NodeRenamed { id, .. } => of("node", id),
            Self::RelationAdded(added) => of("node", &added.source),
            Self::RelationRemoved { source, .. } => of("node", source),
            Self::Group { name, .. } => of("group", name),
            Self::Policy { name, .. } => of("policy", name),
            Self::Input { name, .. } => of("input", name),
            Self::Output { name, .. } => of("output", name),
            _ => None,
        }
    }

    /// Whether it changes what a plan is made from (rule P-4).
    pub fn is_structural(&self) -> bool {
        !matches!(
            self,
            Self::Attribute { .. }
                | Self::Output { .. }
                | Self::Linked { .. }
                | Self::Metadata { .. }
                | Self::Note { .. }
                | Self::LogRecovered { .. }
                | Self::OrchestrationStarted { .. }
                | Self::OrchestrationEnded { .. }
                | Self::StepStarted { .. }
                | Self::StepEnded { .. }
                | Self::Unknown
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_back() {
        let state = Event::State {
            entity: "node.shop".into(),
            from: InstanceState::default(),
            to: InstanceState::named("backing_up"),
            skipped: Vec::new(),
            forced: false,
        };
        let null = Event::Input { name: "size".into(), value: Some(Value::Null) };
        let none = Event::Input { name: "size".into(), value: None };
        let added =
            Event::NodeAdded(Box::new(NodeAdded { id: "shop".into(), ..NodeAdded::default() }));
        for event in [state, null, none, added] {
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
        }
    }

    #[test]
    fn what_later_versions_know_is_kept_apart() {
        let later = r#"{"kind":"node-frozen","id":"shop"}"#;
        assert_eq!(serde_json::from_str::<Event>(later).unwrap(), Event::Unknown);
    }
}
