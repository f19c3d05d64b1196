//! The events that the records of a log contain: what has happened to an instance.

use super::model::{
    ByName, CapabilityInstance, GroupInstance, InstanceState, InstanceTarget, PolicyInstance,
    SecretsMode,
};
use cuvee_text::value::Value;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One thing that has happened. An event names its entity as elements are named: `node.shop`,
/// `relation.db@0.node.shop`, `group.web`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// An instance was created.
    InstanceCreated {
        /// The lineage: what tells the instance from all others.
        lineage: Arc<str>,
        /// The URI that the URIs of its entities begin with.
        uri: Arc<str>,
        /// How the instance keeps secrets.
        secrets: SecretsMode,
        /// Further parts of names whose values are secret.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sensitive: Vec<Arc<str>>,
    },
    /// The instance is meant to become this target from now on.
    TargetSet(InstanceTarget),
    /// An orchestration has begun.
    OrchestrationStarted {
        /// The digest of its plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<Arc<str>>,
        /// The name of its workflow, if it has no plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workflow: Option<Arc<str>>,
        /// The target that the instance is to have after it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<InstanceTarget>,
    },
    /// An orchestration has ended.
    OrchestrationEnded {
        /// How it ended.
        outcome: ReportOutcome,
    },
    /// A step or part of the plan has begun.
    StepStarted {
        /// The identifier of the step.
        step: Arc<str>,
    },
    /// A step or part that is running was claimed, or its lease was renewed.
    StepClaimed {
        /// The identifier of the step.
        step: Arc<str>,
        /// The digest of the token that reports of the step need until the lease is over.
        token: Arc<str>,
        /// The time at which the lease is over.
        until: Arc<str>,
    },
    /// A step or part of the plan has ended.
    StepEnded {
        /// The identifier of the step.
        step: Arc<str>,
        /// How it ended.
        outcome: ReportOutcome,
        /// Why it ended so, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Arc<str>>,
    },
    /// A node was added to the model, in the state `initial`.
    NodeAdded(Box<NodeAdded>),
    /// A target defines the node anew. The values follow as events of their own.
    NodeDefined {
        /// The id of the node.
        id: Arc<str>,
        /// The digest of that target; `None` for the present one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<Arc<str>>,
        /// The node template, if it differs from the previous one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<Arc<str>>,
        /// The index of the node among those of its template; given with `template`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<u32>,
        /// The name of its type, if the target calls the type by another name.
        #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
        type_name: Option<Arc<str>>,
    },
    /// A node was removed.
    NodeRemoved {
        /// The id of the node.
        id: Arc<str>,
    },
    /// The state of a node or relation has changed.
    State {
        /// The identifier of the node or relation.
        entity: Arc<str>,
        /// The old state.
        from: InstanceState,
        /// The new state.
        to: InstanceState,
        /// The states in between that were not reported.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<InstanceState>,
        /// Whether the change is not allowed and somebody forced it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        forced: bool,
    },
    /// A relation was added: a requirement leads to a target.
    RelationAdded(Box<RelationAdded>),
    /// A relation was removed. It is identified by name and target; of several the last one goes.
    RelationRemoved {
        /// The id of its source.
        source: Arc<str>,
        /// The name of its requirement.
        requirement: Arc<str>,
        /// The id of its target.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<Arc<str>>,
    },
    /// A property of a node or group was set or removed.
    Property {
        /// The identifier of the node or group.
        entity: Arc<str>,
        /// The name of the property.
        name: Arc<str>,
        /// The new value; `None` removes it.
        #[serde(default, deserialize_with = "some", skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// A property of a capability was set or removed.
    CapabilityProperty {
        /// The identifier of the node.
        entity: Arc<str>,
        /// The name of the capability.
        capability: Arc<str>,
        /// The name of the property.
        name: Arc<str>,
        /// The new value; `None` removes it.
        #[serde(default, deserialize_with = "some", skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// An attribute was reported or removed.
    Attribute {
        /// The identifier of the node or group.
        entity: Arc<str>,
        /// The capability that the attribute belongs to, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        capability: Option<Arc<str>>,
        /// The name of the attribute.
        name: Arc<str>,
        /// The new value; `None` removes it.
        #[serde(default, deserialize_with = "some", skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// A group was set or removed.
    Group {
        /// The name of the group.
        name: Arc<str>,
        /// The group; `None` removes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<GroupInstance>,
    },
    /// A policy was set, or does not apply any more.
    Policy {
        /// The name of the policy.
        name: Arc<str>,
        /// The policy; `None` removes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<PolicyInstance>,
    },
    /// An input of the topology was set or removed.
    Input {
        /// The name of the input.
        name: Arc<str>,
        /// The new value; `None` removes it.
        #[serde(default, deserialize_with = "some", skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// An output was set or removed.
    Output {
        /// The name of the output.
        name: Arc<str>,
        /// The new value; `None` removes it.
        #[serde(default, deserialize_with = "some", skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// An entity of any kind was linked to something outside, or the link was removed.
    Linked {
        /// The identifier of the entity.
        entity: Arc<str>,
        /// The name of the link: the role of the outside thing for the entity.
        name: Arc<str>,
        /// The URI of the outside thing; `None` removes the link.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uri: Option<Arc<str>>,
    },
    /// Metadata, which is meant for programs, was set or removed.
    Metadata {
        /// The identifier of the entity; `None` for the instance.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entity: Option<Arc<str>>,
        /// The name of the metadata entry.
        name: Arc<str>,
        /// The new value; `None` removes it.
        #[serde(default, deserialize_with = "some", skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// A node that existed outside belongs to the instance from now on.
    NodeAdopted {
        /// The id of the node.
        id: Arc<str>,
        /// The name of its type.
        #[serde(rename = "type")]
        type_name: Arc<str>,
    },
    /// A node does not belong to the instance any more. The node itself remains as it is.
    NodeForgotten {
        /// The id of the node.
        id: Arc<str>,
    },
    /// A node got another id.
    NodeRenamed {
        /// The old id.
        id: Arc<str>,
        /// The new id.
        to: Arc<str>,
    },
    /// A note for people.
    Note {
        /// The identifier of the entity; `None` for the instance.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entity: Option<Arc<str>>,
        /// The text of the note.
        text: Arc<str>,
        /// The urgency: `info`, `warning` or `error`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        level: Option<Arc<str>>,
    },
    /// A notification came from a node, or something that triggers of policies wait for.
    Occurred {
        /// The identifier of the node.
        entity: Arc<str>,
        /// The event: a notification with its interface, or what triggers call it.
        event: Arc<str>,
        /// The triggers that wait for it: `policy.scale.up`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        triggers: Vec<Arc<str>>,
    },
    /// The torn end of the log, which was never acknowledged, was put aside.
    LogRecovered {
        /// The number of bytes that were put aside.
        bytes: u64,
    },
    /// An event that only a later version knows. It stays in the log, and a version that does not
    /// know it must not write to the log any more.
    #[serde(other)]
    Unknown,
}

/// A node that is added to the model, with the values that its target gives it.
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
    /// Its index among the nodes of its template, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Its generation: how many nodes have had this id, including this one.
    pub generation: u32,
    /// The digest of the target that defines it, if that is not the present one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Arc<str>>,
    /// Its properties.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: ByName<Value>,
    /// The initial values of its attributes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: ByName<Value>,
    /// Its capabilities.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capabilities: ByName<CapabilityInstance>,
    /// The requirements of its type that have no target yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Arc<str>>,
    /// Its metadata, for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
}

/// A relation that is added to the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RelationAdded {
    /// The id of its source.
    pub source: Arc<str>,
    /// The name of its requirement.
    pub requirement: Arc<str>,
    /// Its position among the relations of its source in the target.
    pub position: u32,
    /// The id of its target.
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
    /// Its links: URIs of things outside the instance, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: ByName<Arc<str>>,
    /// Its metadata, for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: ByName<Value>,
}

/// How a step or an orchestration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportOutcome {
    /// It succeeded.
    Done,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// The program that ran it is gone. Only steps end so.
    Interrupted,
}

impl ReportOutcome {
    /// The outcome as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}

/// In which role the author of a record speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordOrigin {
    /// The orchestrator: it carries a change out.
    #[default]
    Orchestrator,
    /// A client: it asks for a change or an instance.
    Client,
    /// Somebody who edits the model without the orchestrator.
    Edit,
    /// An export or a log from another store.
    Import,
}

/// Reads a value that is present, even if it is null.
fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Event {
    /// The kind of the event, as a log writes it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::InstanceCreated { .. } => "instance-created",
            Self::TargetSet(_) => "target-set",
            Self::OrchestrationStarted { .. } => "orchestration-started",
            Self::OrchestrationEnded { .. } => "orchestration-ended",
            Self::StepStarted { .. } => "step-started",
            Self::StepClaimed { .. } => "step-claimed",
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
            Self::Occurred { .. } => "occurred",
            Self::LogRecovered { .. } => "log-recovered",
            Self::Unknown => "unknown",
        }
    }

    /// The entity that the event is about: `node.shop`, `group.web`, `input.port`; `None` if it is
    /// about the instance or a step.
    pub fn entity(&self) -> Option<String> {
        let of = |kind: &str, name: &str| Some(format!("{kind}.{name}"));
        match self {
            Self::State { entity, .. }
            | Self::Property { entity, .. }
            | Self::CapabilityProperty { entity, .. }
            | Self::Attribute { entity, .. }
            | Self::Occurred { entity, .. }
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

    /// Whether the event changes anything that a plan is made from (rule P-4).
    pub fn is_structural(&self) -> bool {
        !matches!(
            self,
            Self::Attribute { .. }
                | Self::Output { .. }
                | Self::Linked { .. }
                | Self::Metadata { .. }
                | Self::Note { .. }
                | Self::Occurred { .. }
                | Self::LogRecovered { .. }
                | Self::OrchestrationStarted { .. }
                | Self::OrchestrationEnded { .. }
                | Self::StepStarted { .. }
                | Self::StepClaimed { .. }
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
        let occurred = Event::Occurred {
            entity: "node.shop".into(),
            event: "Health.failed".into(),
            triggers: vec!["policy.heal.again".into()],
        };
        for event in [state, null, none, added, occurred] {
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
