//! Applies records to the model. Each event changes what it names and nothing else, so the model
//! contains nothing that the log does not.

use super::event::{Event, NodeAdded, RecordOrigin, RelationAdded, ReportOutcome};
use super::model::{
    Annotations, ByName, InstanceModel, InstanceState, NodeInstance, OpenOrchestration,
    RelationInstance, ReportedValue, StepClaim, StepStatus, relation_identifier,
};
use crate::orchestrate::plan::PartKind;
use crate::tosca::NodeState;
use cuvee_text::value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The head of a record: everything but its events.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordHead {
    /// The number of the record.
    pub revision: u64,
    /// The time at which it was written, as its author gave it.
    pub time: Arc<str>,
    /// The actor who wrote it.
    pub actor: Arc<str>,
    /// The role of its author.
    pub origin: RecordOrigin,
}

/// The reason why an event cannot have happened, for instance because its node does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImpossibleEvent(String);

impl std::fmt::Display for ImpossibleEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ImpossibleEvent {}

type Reduced = Result<(), ImpossibleEvent>;

pub(super) fn impossible(what: impl Into<String>) -> ImpossibleEvent {
    ImpossibleEvent(what.into())
}

/// The entity that an event is about.
pub(super) enum Entity<'e> {
    /// A node, by its id.
    Node(&'e str),
    /// A group, by its name.
    Group(&'e str),
    /// A policy, by its name.
    Policy(&'e str),
    /// An input, by its name.
    Input(&'e str),
    /// An output, by its name.
    Output(&'e str),
    /// A relation, by its identifier.
    Relation(&'e str),
    /// None of these.
    Unknown,
}

impl<'e> Entity<'e> {
    pub(super) fn of(identifier: &'e str) -> Self {
        match identifier.split_once('.') {
            Some(("node", id)) => Self::Node(id),
            Some(("group", name)) => Self::Group(name),
            Some(("policy", name)) => Self::Policy(name),
            Some(("input", name)) => Self::Input(name),
            Some(("output", name)) => Self::Output(name),
            Some(("relation", _)) => Self::Relation(identifier),
            _ => Self::Unknown,
        }
    }
}

/// The parts of `relation.db@0.node.shop`. A name may contain any character, so the iterator gives
/// every possible reading.
pub(super) fn relation_parts(identifier: &str) -> impl Iterator<Item = (&str, u32, &str)> {
    const NODE: &str = ".node.";
    let rest = identifier.strip_prefix("relation.").unwrap_or_default();
    rest.match_indices(NODE).filter_map(move |(at, _)| {
        let (name, position) = rest.get(..at)?.rsplit_once('@')?;
        Some((name, position.parse().ok()?, rest.get(at + NODE.len()..)?))
    })
}

/// The path to a relation: the id of its source, the name of its requirement, and its index there.
pub(super) type RelationPath = (Arc<str>, Arc<str>, usize);

impl InstanceModel {
    /// Applies a record to the model, event by event. The structure grows by one if any event is
    /// structural (rule P-4).
    ///
    /// ```
    /// use cuvee::deploy::instance::{Event, InstanceModel, NodeAdded, RecordHead, RecordOrigin};
    /// let head = RecordHead { revision: 1, time: "2026-01-01T00:00:00Z".into(), actor: "ann".into(), origin: RecordOrigin::Client };
    /// let mut added = NodeAdded::default();
    /// added.id = "shop".into();
    /// let mut model = InstanceModel::default();
    /// model.apply(&head, None, &[Event::NodeAdded(Box::new(added))])?;
    /// assert_eq!((model.revision, model.structure), (1, 1));
    /// assert_eq!(model.nodes["shop"].state.as_str(), "initial");
    /// # Ok::<(), cuvee::deploy::instance::ImpossibleEvent>(())
    /// ```
    ///
    /// # Errors
    /// If the record does not follow the last one, or if an event cannot have happened. The model
    /// is unusable then.
    pub fn apply(&mut self, head: &RecordHead, key: Option<&str>, events: &[Event]) -> Reduced {
        if head.revision != self.revision + 1 {
            let (is, last) = (head.revision, self.revision);
            return Err(impossible(format!("record {is} does not follow on record {last}")));
        }
        for event in events {
            self.apply_event(head, event)?;
        }
        self.close_record(head, key, events);
        Ok(())
    }

    /// Updates the head of the model after all events of a record.
    pub(super) fn close_record(&mut self, head: &RecordHead, key: Option<&str>, events: &[Event]) {
        self.structure += u64::from(events.iter().any(Event::is_structural));
        self.revision = head.revision;
        self.time = Arc::clone(&head.time);
        let Some(key) = key else { return };
        let ends = |event: &Event| matches!(event, Event::OrchestrationEnded { .. });
        match &mut self.orchestration {
            Some(open) => drop(open.keys.entry(key.into()).or_insert(head.revision)),
            None if events.iter().any(ends) => self.last_key = Some((key.into(), head.revision)),
            None => {}
        }
    }

    /// Applies one event of a record.
    pub(super) fn apply_event(&mut self, head: &RecordHead, event: &Event) -> Reduced {
        match event {
            Event::InstanceCreated { lineage, uri, secrets, sensitive } => {
                if !self.lineage.is_empty() {
                    return Err(impossible("an instance cannot begin twice"));
                }
                (self.lineage, self.uri) = (Arc::clone(lineage), Arc::clone(uri));
                (self.secrets, self.sensitive) = (*secrets, sensitive.clone());
            }
            Event::TargetSet(target) => {
                self.target = target.clone();
                self.nodes.values_mut().for_each(|node| node.target = None);
            }
            Event::OrchestrationStarted { .. }
            | Event::OrchestrationEnded { .. }
            | Event::StepStarted { .. }
            | Event::StepClaimed { .. }
            | Event::StepEnded { .. } => self.orchestrate(head, event)?,
            Event::NodeAdded(added) => self.add_node(head, added)?,
            Event::NodeDefined { id, target, template, index, type_name } => {
                let node = self.node_mut(id)?;
                node.target.clone_from(target);
                if let Some(type_name) = type_name {
                    node.type_name = Arc::clone(type_name);
                }
                if template.is_some() {
                    (node.template, node.index) = (template.clone(), *index);
                }
            }
            Event::NodeRemoved { id } | Event::NodeForgotten { id } => self.remove_node(id)?,
            Event::NodeAdopted { id, type_name } => {
                let (id, type_name) = (Arc::clone(id), Arc::clone(type_name));
                let added = NodeAdded { id, type_name, ..NodeAdded::default() };
                self.add_node(head, &added)?;
                let node = self.node_mut(&added.id)?;
                node.state = NodeState::Started.into();
            }
            Event::NodeRenamed { id, to } => self.rename_node(id, to)?,
            Event::State { entity, from, to, .. } => self.set_state(entity, from, to)?,
            Event::RelationAdded(added) => self.add_relation(added)?,
            Event::RelationRemoved { source, requirement, target } => {
                self.remove_relation(source, requirement, target.as_ref())?;
            }
            Event::Property { .. } | Event::CapabilityProperty { .. } => {
                self.set_property(head, event)?;
            }
            Event::Attribute { entity, capability, name, value } => {
                let value = value.as_ref().map(|value| reported(head, value));
                assign(self.attributes_mut(entity, capability.as_ref())?, name, value);
            }
            Event::Group { name, value } => {
                let mut value = value.clone();
                let attributes = value.iter_mut().flat_map(|group| group.attributes.values_mut());
                // Initial values are those of the record that brings them.
                for initial in attributes.filter(|reported| reported.revision == 0) {
                    (initial.revision, initial.time) = (head.revision, Arc::clone(&head.time));
                }
                assign(&mut self.groups, name, value);
            }
            Event::Policy { name, value } => assign(&mut self.policies, name, value.clone()),
            Event::Input { name, value } => {
                annotated(&mut self.input_annotations, name, value.is_some());
                assign(&mut self.inputs, name, value.clone());
            }
            Event::Output { name, value } => {
                annotated(&mut self.output_annotations, name, value.is_some());
                assign(&mut self.outputs, name, value.clone());
                if let Some(open) = &mut self.orchestration {
                    open.outputs.insert(Arc::clone(name));
                }
            }
            Event::Linked { entity, name, uri } => {
                self.annotate(entity, |links, _| assign(links, name, uri.clone()))?;
            }
            Event::Metadata { entity: Some(entity), name, value } => {
                self.annotate(entity, |_, metadata| assign(metadata, name, value.clone()))?;
            }
            Event::Metadata { entity: None, name, value } => {
                assign(&mut self.metadata, name, value.clone());
            }
            Event::Note { entity, text, .. } => {
                if let Some(Entity::Node(id)) = entity.as_deref().map(Entity::of) {
                    self.node_mut(id)?.note = Some(Arc::clone(text)).filter(|it| !it.is_empty());
                }
            }
            Event::LogRecovered { .. } | Event::Occurred { .. } => {}
            Event::Unknown => self.is_later = true,
        }
        Ok(())
    }

    fn orchestrate(&mut self, head: &RecordHead, event: &Event) -> Reduced {
        let none = || impossible("no orchestration is open");
        match event {
            Event::OrchestrationStarted { plan, workflow, target } => {
                if let Some(open) = &self.orchestration {
                    return Err(impossible(format!("orchestration {} is open", open.id)));
                }
                self.last_key = None;
                self.orchestration = Some(OpenOrchestration {
                    id: head.revision,
                    time: Arc::clone(&head.time),
                    actor: Arc::clone(&head.actor),
                    plan: plan.clone(),
                    workflow: workflow.clone(),
                    target: target.clone(),
                    ..OpenOrchestration::default()
                });
            }
            Event::OrchestrationEnded { .. } => {
                self.orchestration.take().ok_or_else(none)?;
            }
            Event::StepStarted { step } => {
                let open = self.orchestration.as_mut().ok_or_else(none)?;
                assign(&mut open.steps, step, Some(StepStatus::Running));
                self.unsettle(step);
            }
            Event::StepClaimed { step, token, until } => {
                let open = self.orchestration.as_mut().ok_or_else(none)?;
                let [token, until] = [token, until].map(Arc::clone);
                let claim = StepClaim { actor: Arc::clone(&head.actor), token, until };
                assign(&mut open.claims, step, Some(claim));
            }
            Event::StepEnded { step, outcome, .. } => {
                let open = self.orchestration.as_mut().ok_or_else(none)?;
                let status = match outcome {
                    ReportOutcome::Done => StepStatus::Done,
                    ReportOutcome::Interrupted => StepStatus::Interrupted,
                    ReportOutcome::Failed | ReportOutcome::Cancelled => StepStatus::Failed,
                };
                assign(&mut open.steps, step, Some(status));
                open.claims.remove(step);
                if *outcome == ReportOutcome::Done {
                    self.settle(step);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The generation of the next node with this id.
    pub(super) fn next_generation(&self, id: &str) -> u32 {
        self.generations.get(id).copied().unwrap_or(0) + 1
    }

    fn add_node(&mut self, head: &RecordHead, added: &NodeAdded) -> Reduced {
        if self.nodes.contains_key(&added.id) {
            return Err(impossible(format!("there is a node `{}` already", added.id)));
        }
        let attributes = added.attributes.iter();
        let node = NodeInstance {
            template: added.template.clone(),
            type_name: Arc::clone(&added.type_name),
            index: added.index,
            generation: added.generation.max(self.next_generation(&added.id)),
            target: added.target.clone(),
            properties: added.properties.clone(),
            attributes: attributes
                .map(|(name, value)| (Arc::clone(name), reported(head, value)))
                .collect(),
            capabilities: added.capabilities.clone(),
            requirements: added
                .requirements
                .iter()
                .map(|name| (Arc::clone(name), Vec::new()))
                .collect(),
            metadata: added.metadata.clone(),
            ..NodeInstance::default()
        };
        self.generations.remove(&added.id);
        self.nodes.insert(Arc::clone(&added.id), node);
        Ok(())
    }

    fn remove_node(&mut self, id: &str) -> Reduced {
        let (id, node) = self.nodes.remove_entry(id).ok_or_else(|| no_node(id))?;
        self.generations.insert(id, node.generation);
        Ok(())
    }

    /// Renames a node, and follows the new name in everything that names it.
    fn rename_node(&mut self, id: &str, to: &Arc<str>) -> Reduced {
        if self.nodes.contains_key(to) {
            return Err(impossible(format!("there is a node `{to}` already")));
        }
        let (id, mut node) = self.nodes.remove_entry(id).ok_or_else(|| no_node(id))?;
        node.generation = node.generation.max(self.next_generation(to));
        self.generations.remove(to);
        self.nodes.insert(Arc::clone(to), node);
        let follow = |name: &mut Arc<str>| {
            if *name == id {
                *name = Arc::clone(to);
            }
        };
        for node in self.nodes.values_mut() {
            let relations = node.requirements.values_mut().flatten();
            relations.filter_map(|relation| relation.target.as_mut()).for_each(follow);
        }
        self.groups.values_mut().flat_map(|group| &mut group.members).for_each(follow);
        self.policies.values_mut().flat_map(|policy| &mut policy.targets).for_each(follow);
        Ok(())
    }

    fn node_mut(&mut self, id: &str) -> Result<&mut NodeInstance, ImpossibleEvent> {
        self.nodes.get_mut(id).ok_or_else(|| no_node(id))
    }

    /// The node that an event is about, by its identifier.
    fn entity_node(&mut self, entity: &str) -> Result<&mut NodeInstance, ImpossibleEvent> {
        match Entity::of(entity) {
            Entity::Node(id) => self.node_mut(id),
            _ => Err(impossible(format!("`{entity}` is no node"))),
        }
    }

    fn attributes_mut(
        &mut self,
        entity: &str,
        capability: Option<&Arc<str>>,
    ) -> Result<&mut ByName<ReportedValue>, ImpossibleEvent> {
        if let Entity::Group(name) = Entity::of(entity) {
            let group = self.groups.get_mut(name);
            let group = group.ok_or_else(|| impossible(format!("there is no group `{name}`")))?;
            return Ok(&mut group.attributes);
        }
        let node = self.entity_node(entity)?;
        Ok(match capability {
            Some(name) => &mut of_name(&mut node.capabilities, name).attributes,
            None => &mut node.attributes,
        })
    }

    fn set_property(&mut self, head: &RecordHead, event: &Event) -> Reduced {
        let (entity, capability, name, value) = match event {
            Event::Property { entity, name, value } => (entity, None, name, value),
            Event::CapabilityProperty { entity, capability, name, value } => {
                (entity, Some(capability), name, value)
            }
            _ => return Ok(()),
        };
        if let Entity::Group(group) = Entity::of(entity) {
            let found = self.groups.get_mut(group);
            let found = found.ok_or_else(|| impossible(format!("there is no group `{group}`")))?;
            assign(&mut found.properties, name, value.clone());
            return Ok(());
        }
        let node = self.entity_node(entity)?;
        let edited = match capability {
            Some(capability) => format!("{capability}.{name}").into(),
            None => Arc::clone(name),
        };
        let known = node.edited.binary_search(&edited);
        match (head.origin, known) {
            (RecordOrigin::Edit, Err(at)) => node.edited.insert(at, edited),
            (RecordOrigin::Edit, Ok(_)) | (_, Err(_)) => {}
            (_, Ok(at)) => drop(node.edited.remove(at)),
        }
        let properties = match capability {
            Some(name) => &mut of_name(&mut node.capabilities, name).properties,
            None => &mut node.properties,
        };
        assign(properties, name, value.clone());
        Ok(())
    }

    fn set_state(&mut self, entity: &str, from: &InstanceState, to: &InstanceState) -> Reduced {
        let state = match Entity::of(entity) {
            Entity::Node(id) => {
                let node = self.node_mut(id)?;
                let is_error = *to == InstanceState::Known(NodeState::Error);
                node.failed_in = is_error.then(|| from.clone());
                &mut node.state
            }
            Entity::Relation(identifier) => {
                let path = self.relation_path(identifier);
                let relation = path.and_then(|path| self.relation_mut(&path));
                let none = || impossible(format!("there is no `{identifier}`"));
                &mut relation.ok_or_else(none)?.state
            }
            _ => return Err(impossible(format!("`{entity}` has no state"))),
        };
        if state != from {
            return Err(impossible(format!("`{entity}` is `{state}`, not `{from}`")));
        }
        state.clone_from(to);
        Ok(())
    }

    /// Notes that the ends of the relations of a node, which a part brings up, have yet to learn of
    /// each other. Of a node that is there already, only new relations are such.
    fn unsettle(&mut self, part: &str) {
        let node = node_of_part(part).and_then(|id| self.nodes.get_mut(id));
        if let Some(node) = node.filter(|node| node.state == InstanceState::default()) {
            node.requirements.values_mut().flatten().for_each(|relation| relation.pending = true);
        }
    }

    /// Notes that the relations that a part has added are there.
    fn settle(&mut self, part: &str) {
        if let Some(node) = node_of_part(part).and_then(|id| self.nodes.get_mut(id)) {
            node.requirements.values_mut().flatten().for_each(|relation| relation.pending = false);
        } else if let Some(path) = self.wired(part)
            && let Some(relation) = self.relation_mut(&path)
        {
            relation.pending = false;
        }
    }

    /// The relation that a part of this name adds.
    fn wired(&self, part: &str) -> Option<RelationPath> {
        let (element, kind) = part.rsplit_once('/')?;
        if kind == PartKind::Wire.as_str() { self.relation_path(element) } else { None }
    }

    /// The node whose relations a part of this name adds, or one of them.
    pub(super) fn source_of_part(&self, part: &str) -> Option<Arc<str>> {
        let node = node_of_part(part).map(Arc::from);
        node.or_else(|| Some(self.wired(part)?.0))
    }

    fn add_relation(&mut self, added: &RelationAdded) -> Reduced {
        let part = format!("node.{}/{}", added.source, PartKind::Up.as_str());
        let status = self.orchestration.as_ref().and_then(|open| open.steps.get(&*part));
        let pending = status == Some(&StepStatus::Running);
        let node = self.node_mut(&added.source)?;
        let relation = RelationInstance {
            position: added.position,
            target: added.target.clone(),
            capability: added.capability.clone(),
            template: added.template.clone(),
            relationship: added.relationship.clone(),
            hosting: added.hosting,
            state: InstanceState::default(),
            pending,
            links: added.links.clone(),
            metadata: added.metadata.clone(),
        };
        let relations = of_name(&mut node.requirements, &added.requirement);
        if relations.is_empty() {
            // Most requirements have one relation.
            relations.reserve_exact(1);
        }
        let at = relations.partition_point(|known| known.position <= relation.position);
        relations.insert(at, relation);
        Ok(())
    }

    fn remove_relation(
        &mut self,
        source: &str,
        requirement: &str,
        target: Option<&Arc<str>>,
    ) -> Reduced {
        let none = || impossible(format!("`{source}` has no such relation `{requirement}`"));
        self.node_mut(source)?;
        let path = self.relation_to(source, requirement, target).ok_or_else(none)?;
        let node = self.node_mut(source)?;
        node.requirements.get_mut(requirement).ok_or_else(none)?.remove(path.2);
        Ok(())
    }

    /// The path of the relation to a target; of several the last one.
    pub(super) fn relation_to(
        &self,
        source: &str,
        requirement: &str,
        target: Option<&Arc<str>>,
    ) -> Option<RelationPath> {
        let (source, node) = self.nodes.get_key_value(source)?;
        let (name, all) = node.requirements.get_key_value(requirement)?;
        let at = all.iter().rposition(|one| one.target.as_ref() == target)?;
        Some((Arc::clone(source), Arc::clone(name), at))
    }

    /// The path of the relation with this identifier.
    pub(super) fn relation_path(&self, identifier: &str) -> Option<RelationPath> {
        relation_parts(identifier).find_map(|(name, position, source)| {
            let (source, node) = self.nodes.get_key_value(source)?;
            let (name, relations) = node.requirements.get_key_value(name)?;
            // Positions ascend. If a change has given two relations the same position, the later
            // one is meant.
            let behind = relations.partition_point(|one| one.position <= position);
            let at = behind.checked_sub(1)?;
            (relations.get(at)?.position == position)
                .then(|| (Arc::clone(source), Arc::clone(name), at))
        })
    }

    pub(super) fn relation_at(&self, path: &RelationPath) -> Option<&RelationInstance> {
        self.nodes.get(&path.0)?.requirements.get(&path.1)?.get(path.2)
    }

    pub(super) fn relation_mut(&mut self, path: &RelationPath) -> Option<&mut RelationInstance> {
        self.nodes.get_mut(&path.0)?.requirements.get_mut(&path.1)?.get_mut(path.2)
    }

    /// The identifier of the relation at a path.
    pub(super) fn relation_name(&self, path: &RelationPath) -> Option<String> {
        let relation = self.relation_at(path)?;
        Some(relation_identifier(&path.0, &path.1, relation.position))
    }
}

/// The node that a part of this name brings up.
fn node_of_part(part: &str) -> Option<&str> {
    let (element, kind) = part.rsplit_once('/')?;
    element.strip_prefix("node.").filter(|_| kind == PartKind::Up.as_str())
}

fn no_node(id: &str) -> ImpossibleEvent {
    impossible(format!("there is no node `{id}`"))
}

/// Removes the annotations of a value that was removed.
fn annotated(all: &mut ByName<Annotations>, name: &str, is_there: bool) {
    if !is_there {
        all.remove(name);
    }
}

fn reported(head: &RecordHead, value: &Value) -> ReportedValue {
    ReportedValue { value: value.clone(), revision: head.revision, time: Arc::clone(&head.time) }
}

/// Sets the value of a name, or removes it.
fn assign<T>(map: &mut BTreeMap<Arc<str>, T>, name: &Arc<str>, value: Option<T>) {
    match (value, map.get_mut(name)) {
        (Some(value), Some(known)) => *known = value,
        (Some(value), None) => drop(map.insert(Arc::clone(name), value)),
        (None, _) => drop(map.remove(name)),
    }
}

/// The value of a name, which is inserted if it is missing.
fn of_name<'m, T: Default>(map: &'m mut ByName<T>, name: &Arc<str>) -> &'m mut T {
    if !map.contains_key(name) {
        map.insert(Arc::clone(name), T::default());
    }
    map.entry(Arc::clone(name)).or_default()
}
