//! Views of a model or of one of its entities, as they are shown.

use super::apply::ClaimedStep;
use super::model::{
    ByName, CapabilityInstance, InstanceModel, NodeInstance, RelationInstance, ReportedValue,
    StepStatus, relation_identifier,
};
use super::query::ModelReading;
use super::reduce::Entity;
use super::shown::ShownValues;
use crate::diagnostic::Diagnostic;
use cuvee_text::value::Value;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A model in short.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModelView {
    /// The URI that the URIs of its entities begin with.
    pub uri: Arc<str>,
    /// The lineage: what tells the instance from all others.
    pub lineage: Arc<str>,
    /// The number of the last record in the model.
    pub revision: u64,
    /// How often its structure has changed.
    pub structure: u64,
    /// The time of the last record.
    pub time: Arc<str>,
    /// The template that the instance is meant to become.
    pub template: Arc<str>,
    /// The choices that resolved the template.
    pub choice: Vec<ValueView>,
    /// The orchestration that is open, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orchestration: Option<OrchestrationView>,
    /// How many nodes are in which state.
    pub states: BTreeMap<String, usize>,
    /// Its nodes.
    pub nodes: Vec<NodeLine>,
    /// The names of its groups.
    pub groups: Vec<Arc<str>>,
    /// The names of policies that apply.
    pub policies: Vec<Arc<str>>,
    /// Values of inputs.
    pub inputs: Vec<ValueView>,
    /// The values of outputs.
    pub outputs: Vec<ValueView>,
    /// Its metadata, for programs.
    pub metadata: Vec<ValueView>,
}

/// An open orchestration in short.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OrchestrationView {
    /// The number of the record that began it.
    pub id: u64,
    /// The time of that record.
    pub time: Arc<str>,
    /// The actor who began it.
    pub actor: Arc<str>,
    /// The digest of its plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Arc<str>>,
    /// The name of its workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Arc<str>>,
    /// The steps and parts that were reported.
    pub steps: ByName<StepStatus>,
    /// The claims of those that are running, whether their leases are over or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claimed: Vec<ClaimedStep>,
}

/// A node in short.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NodeLine {
    /// Its id.
    pub id: Arc<str>,
    /// The name of its type.
    #[serde(rename = "type")]
    pub type_name: Arc<str>,
    /// Its state.
    pub state: String,
    /// The last note about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Arc<str>>,
}

/// A value with its name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ValueView {
    /// Its name.
    pub name: Arc<str>,
    /// The value.
    pub value: Value,
    /// For an attribute: the number of the record that reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// For an attribute: the time of that record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Arc<str>>,
    /// Whether somebody edited the value without the orchestrator.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
}

/// A node, relation, group, policy, input or output.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EntityView {
    /// The identifier, as elements are named.
    pub entity: String,
    /// The name of its type.
    #[serde(rename = "type")]
    pub type_name: Arc<str>,
    /// The template that it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Arc<str>>,
    /// For an input or output: its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The state that it had before it came to `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_in: Option<String>,
    /// The URI that tells it from everything else that ever was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tosca_id: Option<String>,
    /// The last note about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Arc<str>>,
    /// Its properties.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<ValueView>,
    /// Its reported attributes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<ValueView>,
    /// Whether attributes are left out because its state is not stable (I-37).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Its capabilities.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<CapabilityView>,
    /// The relations of its requirements; for a relation, the relation itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<RelationView>,
    /// The relations that lead to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub incoming: Vec<RelationView>,
    /// For a group its members, for a policy its targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Arc<str>>,
    /// The groups that contain it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Arc<str>>,
    /// The policies that apply to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<Arc<str>>,
    /// Its links: URIs of things outside the instance, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: ByName<Arc<str>>,
    /// Its metadata, for programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<ValueView>,
}

/// A capability of a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CapabilityView {
    /// Its name.
    pub name: Arc<str>,
    /// The name of its type.
    #[serde(rename = "type")]
    pub type_name: Arc<str>,
    /// Its properties.
    pub properties: Vec<ValueView>,
    /// Its reported attributes.
    pub attributes: Vec<ValueView>,
}

/// A relation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RelationView {
    /// The identifier, as elements are named.
    pub entity: String,
    /// The name of the requirement.
    pub requirement: Arc<str>,
    /// The node that it leads from.
    pub source: Arc<str>,
    /// The node that it leads to; `None` if none was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Arc<str>>,
    /// The capability that it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<Arc<str>>,
    /// The relationship template that it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Arc<str>>,
    /// The name of its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relationship: Option<Arc<str>>,
    /// Its state.
    pub state: String,
}

/// A model in short.
///
/// ```
/// use cuvee::deploy::instance::{InstanceModel, ModelReading, NodeInstance, view_model};
/// let mut model = InstanceModel::default();
/// model.nodes.insert("shop".into(), NodeInstance::default());
/// assert_eq!(view_model(&model, &ModelReading::default()).states["initial"], 1);
/// ```
pub fn view_model(model: &InstanceModel, reading: &ModelReading<'_>) -> ModelView {
    let shown = ShownValues::of(model, reading.reveal);
    let values = |values| values_of(&shown, values, &[]);
    let mut states = BTreeMap::new();
    for node in model.nodes.values() {
        *states.entry(node.state.as_str().to_owned()).or_default() += 1;
    }
    let line = |(id, node): (&Arc<str>, &NodeInstance)| NodeLine {
        id: Arc::clone(id),
        type_name: Arc::clone(&node.type_name),
        state: node.state.as_str().to_owned(),
        note: node.note.clone(),
    };
    ModelView {
        uri: Arc::clone(&model.uri),
        lineage: Arc::clone(&model.lineage),
        revision: model.revision,
        structure: model.structure,
        time: Arc::clone(&model.time),
        template: Arc::clone(&model.target.template),
        choice: values(&model.target.choice),
        orchestration: model.orchestration.as_ref().map(|open| OrchestrationView {
            id: open.id,
            time: Arc::clone(&open.time),
            actor: Arc::clone(&open.actor),
            plan: open.plan.clone(),
            workflow: open.workflow.clone(),
            steps: open.steps.clone(),
            claimed: model.claimed_steps(Timestamp::MIN),
        }),
        states,
        nodes: model.nodes.iter().map(line).collect(),
        groups: model.groups.keys().cloned().collect(),
        policies: model.policies.keys().cloned().collect(),
        inputs: values(&model.inputs),
        outputs: values(&model.outputs),
        metadata: values(&model.metadata),
    }
}

/// A view of one entity by its identifier, such as `relation.host@0.node.shop`. For nodes, groups
/// and policies the name is enough.
///
/// ```
/// use cuvee::deploy::instance::{InstanceModel, ModelReading, NodeInstance, view_entity};
/// let mut model = InstanceModel::default();
/// model.nodes.insert("shop".into(), NodeInstance::default());
/// let shop = view_entity(&model, "shop", &ModelReading::default())?;
/// assert_eq!((&*shop.entity, shop.state.as_deref()), ("node.shop", Some("initial")));
/// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
/// ```
///
/// # Errors
/// `unknown-element`.
pub fn view_entity(
    model: &InstanceModel,
    entity: &str,
    reading: &ModelReading<'_>,
) -> Result<EntityView, Diagnostic> {
    let viewer = EntityViewer { model, reading, shown: ShownValues::of(model, reading.reveal) };
    let found = model.entity_named(entity).and_then(|identifier| viewer.entity(&identifier));
    found.ok_or_else(|| model.no_entity(entity))
}

struct EntityViewer<'m, 'r> {
    model: &'m InstanceModel,
    reading: &'r ModelReading<'r>,
    shown: ShownValues<'static>,
}

impl EntityViewer<'_, '_> {
    fn entity(&self, identifier: &str) -> Option<EntityView> {
        let value = |values: &ByName<Value>, name| {
            Some(self.input_or_output(identifier, values.get(name)?))
        };
        let mut view = match Entity::of(identifier) {
            Entity::Node(id) => self.node(self.model.nodes.get_key_value(id)?),
            Entity::Group(name) => self.group(name)?,
            Entity::Policy(name) => self.policy(name)?,
            Entity::Relation(_) => self.relation(identifier)?,
            Entity::Input(name) => value(&self.model.inputs, name)?,
            Entity::Output(name) => value(&self.model.outputs, name)?,
            Entity::Unknown => return None,
        };
        let (links, metadata) = self.model.annotations(identifier)?;
        view.links.clone_from(links);
        view.metadata = self.values(metadata, &[]);
        Some(view)
    }

    fn input_or_output(&self, identifier: &str, value: &Value) -> EntityView {
        EntityView {
            entity: identifier.to_owned(),
            value: Some(self.shown.value(value)),
            ..EntityView::default()
        }
    }

    fn node(&self, (id, node): (&Arc<str>, &NodeInstance)) -> EntityView {
        let sees = node.has_attributes() || self.reading.unstable;
        let reported =
            |all: &ByName<ReportedValue>| if sees { self.reported(all) } else { Vec::new() };
        let capability = |(name, one): (&Arc<str>, &CapabilityInstance)| CapabilityView {
            name: Arc::clone(name),
            type_name: Arc::clone(&one.type_name),
            properties: self.values(&one.properties, &[]),
            attributes: reported(&one.attributes),
        };
        let outgoing = node.requirements.iter();
        let outgoing = outgoing.flat_map(|(name, all)| all.iter().map(move |one| (id, name, one)));
        let here =
            |(.., one): &(&Arc<str>, &Arc<str>, &RelationInstance)| one.target.as_ref() == Some(id);
        let has_some = !node.attributes.is_empty()
            || node.capabilities.values().any(|one| !one.attributes.is_empty());
        EntityView {
            entity: format!("node.{id}"),
            type_name: Arc::clone(&node.type_name),
            template: node.template.clone(),
            state: Some(node.state.as_str().to_owned()),
            failed_in: node.failed_in.as_ref().map(|state| state.as_str().to_owned()),
            tosca_id: Some(self.model.tosca_id(id, node)),
            note: node.note.clone(),
            properties: self.values(&node.properties, &node.edited),
            attributes: reported(&node.attributes),
            hidden: !sees && has_some,
            capabilities: node.capabilities.iter().map(capability).collect(),
            relations: outgoing.map(relation_view).collect(),
            incoming: self.model.relations().filter(here).map(relation_view).collect(),
            groups: named(&self.model.groups, |group| group.members.contains(id)),
            policies: named(&self.model.policies, |policy| policy.targets.contains(id)),
            ..EntityView::default()
        }
    }

    fn group(&self, name: &str) -> Option<EntityView> {
        let group = self.model.groups.get(name)?;
        Some(EntityView {
            entity: format!("group.{name}"),
            type_name: Arc::clone(&group.type_name),
            template: group.template.clone(),
            members: group.members.clone(),
            properties: self.values(&group.properties, &[]),
            attributes: self.reported(&group.attributes),
            policies: named(&self.model.policies, |policy| {
                policy.targets.iter().any(|target| **target == *name)
            }),
            ..EntityView::default()
        })
    }

    fn policy(&self, name: &str) -> Option<EntityView> {
        let policy = self.model.policies.get(name)?;
        Some(EntityView {
            entity: format!("policy.{name}"),
            type_name: Arc::clone(&policy.type_name),
            template: policy.template.clone(),
            members: policy.targets.clone(),
            properties: self.values(&policy.properties, &[]),
            ..EntityView::default()
        })
    }

    fn relation(&self, entity: &str) -> Option<EntityView> {
        let is_meant = |(id, name, one): &(&Arc<str>, &Arc<str>, &RelationInstance)| {
            relation_identifier(id, name, one.position) == entity
        };
        let relation = relation_view(self.model.relations().find(is_meant)?);
        Some(EntityView {
            entity: entity.to_owned(),
            type_name: relation.relationship.clone().unwrap_or_default(),
            template: relation.template.clone(),
            state: Some(relation.state.clone()),
            relations: vec![relation],
            ..EntityView::default()
        })
    }

    fn values(&self, values: &ByName<Value>, edited: &[Arc<str>]) -> Vec<ValueView> {
        values_of(&self.shown, values, edited)
    }

    fn reported(&self, values: &ByName<ReportedValue>) -> Vec<ValueView> {
        let view = |(name, said): (&Arc<str>, &ReportedValue)| ValueView {
            name: Arc::clone(name),
            value: self.shown.value(&said.value),
            revision: Some(said.revision),
            time: Some(Arc::clone(&said.time)),
            edited: false,
        };
        values.iter().map(view).collect()
    }
}

fn values_of(
    shown: &ShownValues<'_>,
    values: &ByName<Value>,
    edited: &[Arc<str>],
) -> Vec<ValueView> {
    let view = |(name, value): (&Arc<str>, &Value)| ValueView {
        name: Arc::clone(name),
        value: shown.value(value),
        revision: None,
        time: None,
        edited: edited.contains(name),
    };
    values.iter().map(view).collect()
}

fn named<T>(all: &ByName<T>, is_meant: impl Fn(&T) -> bool) -> Vec<Arc<str>> {
    all.iter().filter(|(_, one)| is_meant(one)).map(|(name, _)| Arc::clone(name)).collect()
}

fn relation_view((source, name, one): (&Arc<str>, &Arc<str>, &RelationInstance)) -> RelationView {
    RelationView {
        entity: relation_identifier(source, name, one.position),
        requirement: Arc::clone(name),
        source: Arc::clone(source),
        target: one.target.clone(),
        capability: one.capability.clone(),
        template: one.template.clone(),
        relationship: one.relationship.clone(),
        state: one.state.as_str().to_owned(),
    }
}
