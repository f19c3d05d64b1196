//! A record before it is written. The model contains its events already, so that further ones can
//! be checked against it. They can be taken back until somebody writes them.

use super::event::{Event, RecordOrigin, RelationAdded};
use super::model::{
    Annotations, ByName, GroupInstance, InstanceModel, InstanceState, InstanceTarget, NodeInstance,
    OpenOrchestration, PolicyInstance, RelationInstance, ReportedValue, StepClaim, StepStatus,
};
use super::reduce::{Entity, ImpossibleEvent, RecordHead, RelationPath};
use cuvee_text::value::Value;
use std::sync::Arc;

/// Events that the model contains and the log does not yet.
///
/// ```
/// use cuvee::deploy::instance::{Event, InstanceModel, RecordHead, RecordOrigin, Unwritten};
/// let mut model = InstanceModel::default();
/// let mut record = Unwritten::new(&mut model, "2026-01-01T00:00:00Z", "ann", RecordOrigin::Client);
/// record.add(Event::Output { name: "url".into(), value: Some("http://shop".into()) })?;
/// record.take_back();
/// assert!(model.outputs.is_empty());
/// # Ok::<(), cuvee::deploy::instance::ImpossibleEvent>(())
/// ```
pub struct Unwritten<'m> {
    model: &'m mut InstanceModel,
    head: RecordHead,
    events: Vec<Event>,
    undo: Vec<Undo>,
}

/// The old values that an event replaces.
enum Undo {
    Nothing,
    Target(InstanceTarget, Vec<(Arc<str>, Arc<str>)>),
    Orchestration(Option<Box<OpenOrchestration>>, Option<(Arc<str>, u64)>),
    /// The status and claim of a step, and the relations of the node that its end settles.
    Step(Arc<str>, Option<StepStatus>, Option<StepClaim>, Option<Box<NodeRelations>>),
    Node(Arc<str>, Option<Box<NodeInstance>>, Option<u32>),
    /// For an added relation: its requirement, its position, and whether the node had the
    /// requirement.
    RelationAdded {
        source: Arc<str>,
        requirement: Arc<str>,
        position: u32,
        had: bool,
    },
    /// For a removed relation: the relation and its old path.
    RelationRemoved {
        path: RelationPath,
        relation: Box<RelationInstance>,
    },
    Renamed {
        id: Arc<str>,
        to: Arc<str>,
        generations: [Option<u32>; 2],
        generation: u32,
    },
    State(Arc<str>, InstanceState, Option<InstanceState>),
    Attribute(Arc<str>, Arc<str>, Option<ReportedValue>),
    Group(Arc<str>, Option<Box<GroupInstance>>),
    Policy(Arc<str>, Option<Box<PolicyInstance>>),
    Input(Arc<str>, Option<Value>, Option<Annotations>),
    Output(Arc<str>, Option<Value>, Option<Annotations>, bool),
    Metadata(Arc<str>, Option<Value>),
    Later(bool),
}

/// The relations of a node, by the names of its requirements.
type NodeRelations = (Arc<str>, ByName<Vec<RelationInstance>>);

impl<'m> Unwritten<'m> {
    /// An empty record that follows the last one of the model.
    pub fn new(
        model: &'m mut InstanceModel,
        time: impl Into<Arc<str>>,
        actor: impl Into<Arc<str>>,
        origin: RecordOrigin,
    ) -> Self {
        let revision = model.revision + 1;
        let head = RecordHead { revision, time: time.into(), actor: actor.into(), origin };
        Self { model, head, events: Vec::new(), undo: Vec::new() }
    }

    /// The model, with all added events.
    pub fn model(&self) -> &InstanceModel {
        self.model
    }

    /// The time of the record.
    pub(super) fn time(&self) -> &str {
        &self.head.time
    }

    /// The added events.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Adds an event.
    ///
    /// # Errors
    /// If the event cannot have happened; it is not added then.
    pub fn add(&mut self, event: Event) -> Result<(), ImpossibleEvent> {
        let undo = self.before(&event);
        self.model.apply_event(&self.head, &event)?;
        self.undo.push(undo);
        self.events.push(event);
        Ok(())
    }

    /// Takes back all added events.
    pub fn take_back(self) {
        self.take_back_to(0);
    }

    /// Takes back the events after the first `count`.
    pub(super) fn take_back_to(mut self, count: usize) -> Self {
        self.events.truncate(count);
        while self.undo.len() > count {
            if let Some(undo) = self.undo.pop() {
                self.restore(undo);
            }
        }
        self
    }

    /// Closes the record and returns its events in order. Without events there is no record.
    pub fn close(self, key: Option<&str>) -> Vec<Event> {
        if !self.events.is_empty() {
            self.model.close_record(&self.head, key, &self.events);
        }
        self.events
    }

    /// The present values of what an event is about to change.
    fn before(&self, event: &Event) -> Undo {
        let model = &*self.model;
        match event {
            Event::InstanceCreated { .. } | Event::LogRecovered { .. } => Undo::Nothing,
            Event::TargetSet(_) => {
                let nodes = model.nodes.iter();
                let foreign = nodes.filter_map(|(id, node)| {
                    Some((Arc::clone(id), Arc::clone(node.target.as_ref()?)))
                });
                Undo::Target(model.target.clone(), foreign.collect())
            }
            Event::OrchestrationStarted { .. } | Event::OrchestrationEnded { .. } => {
                let open = model.orchestration.clone().map(Box::new);
                Undo::Orchestration(open, model.last_key.clone())
            }
            Event::StepStarted { step }
            | Event::StepClaimed { step, .. }
            | Event::StepEnded { step, .. } => {
                let open = model.orchestration.as_ref();
                let status = open.and_then(|open| open.steps.get(step)).copied();
                let claim = open.and_then(|open| open.claims.get(step)).cloned();
                let source = model.source_of_part(step).and_then(|id| {
                    let node = model.nodes.get(&id)?;
                    let is_new = node.state == InstanceState::default();
                    let mut relations = node.requirements.values().flatten();
                    let changes = relations.any(|relation| relation.pending || is_new);
                    changes.then(|| Box::new((id, node.requirements.clone())))
                });
                Undo::Step(Arc::clone(step), status, claim, source)
            }
            Event::NodeAdded(added) => self.node(&added.id),
            Event::NodeDefined { id, .. }
            | Event::NodeRemoved { id }
            | Event::NodeAdopted { id, .. }
            | Event::NodeForgotten { id } => self.node(id),
            // A node may have many relations, so it is not copied for each of them.
            Event::RelationAdded(added) => {
                let RelationAdded { source, requirement, position, .. } = &**added;
                let node = model.nodes.get(source);
                Undo::RelationAdded {
                    source: Arc::clone(source),
                    requirement: Arc::clone(requirement),
                    position: *position,
                    had: node.is_some_and(|node| node.requirements.contains_key(requirement)),
                }
            }
            Event::RelationRemoved { source, requirement, target } => {
                let path = model.relation_to(source, requirement, target.as_ref());
                let relation = path.as_ref().and_then(|path| model.relation_at(path));
                let relation = relation.cloned().map(Box::new);
                let undo = path.zip(relation);
                undo.map_or(Undo::Nothing, |(path, relation)| Undo::RelationRemoved {
                    path,
                    relation,
                })
            }
            Event::NodeRenamed { id, to } => {
                let known = |id: &str| model.generations.get(id).copied();
                let generation = model.nodes.get(id).map_or(1, |node| node.generation);
                let generations = [known(id), known(to)];
                Undo::Renamed { id: Arc::clone(id), to: Arc::clone(to), generations, generation }
            }
            Event::State { entity, .. } => match Entity::of(entity) {
                Entity::Node(id) => model.nodes.get_key_value(id).map_or(Undo::Nothing, |found| {
                    let (id, node) = found;
                    Undo::State(Arc::clone(id), node.state.clone(), node.failed_in.clone())
                }),
                _ => self.entity(entity),
            },
            Event::Attribute { entity, capability: None, name, .. } => match Entity::of(entity) {
                Entity::Node(id) => model.nodes.get_key_value(id).map_or(Undo::Nothing, |found| {
                    let was = found.1.attributes.get(name).cloned();
                    Undo::Attribute(Arc::clone(found.0), Arc::clone(name), was)
                }),
                _ => self.entity(entity),
            },
            Event::Property { entity, .. }
            | Event::CapabilityProperty { entity, .. }
            | Event::Attribute { entity, .. }
            | Event::Linked { entity, .. }
            | Event::Metadata { entity: Some(entity), .. }
            | Event::Note { entity: Some(entity), .. } => self.entity(entity),
            Event::Group { name, .. } => self.group(name),
            Event::Policy { name, .. } => self.policy(name),
            Event::Input { name, .. } => self.input(name),
            Event::Output { name, .. } => self.output(name),
            Event::Metadata { entity: None, name, .. } => {
                Undo::Metadata(Arc::clone(name), model.metadata.get(name).cloned())
            }
            Event::Note { entity: None, .. } | Event::Occurred { .. } => Undo::Nothing,
            Event::Unknown => Undo::Later(model.is_later),
        }
    }

    fn node(&self, id: &str) -> Undo {
        let was = self.model.nodes.get(id).cloned().map(Box::new);
        Undo::Node(id.into(), was, self.model.generations.get(id).copied())
    }

    fn group(&self, name: &str) -> Undo {
        Undo::Group(name.into(), self.model.groups.get(name).cloned().map(Box::new))
    }

    fn policy(&self, name: &str) -> Undo {
        Undo::Policy(name.into(), self.model.policies.get(name).cloned().map(Box::new))
    }

    fn input(&self, name: &str) -> Undo {
        let said = self.model.input_annotations.get(name).cloned();
        Undo::Input(name.into(), self.model.inputs.get(name).cloned(), said)
    }

    fn output(&self, name: &str) -> Undo {
        let open = self.model.orchestration.as_ref();
        let was_told = open.is_some_and(|open| open.outputs.contains(name));
        let said = self.model.output_annotations.get(name).cloned();
        Undo::Output(name.into(), self.model.outputs.get(name).cloned(), said, was_told)
    }

    fn entity(&self, entity: &str) -> Undo {
        match Entity::of(entity) {
            Entity::Node(id) => self.node(id),
            Entity::Group(name) => self.group(name),
            Entity::Policy(name) => self.policy(name),
            Entity::Input(name) => self.input(name),
            Entity::Output(name) => self.output(name),
            Entity::Relation(identifier) => {
                let path = self.model.relation_path(identifier);
                path.map_or(Undo::Nothing, |(source, ..)| self.node(&source))
            }
            Entity::Unknown => Undo::Nothing,
        }
    }

    fn restore(&mut self, undo: Undo) {
        let model = &mut *self.model;
        match undo {
            Undo::Nothing => {}
            Undo::Target(target, foreign) => {
                model.target = target;
                for (id, target) in foreign {
                    if let Some(node) = model.nodes.get_mut(&id) {
                        node.target = Some(target);
                    }
                }
            }
            Undo::Orchestration(open, last_key) => {
                (model.orchestration, model.last_key) = (open.map(|open| *open), last_key);
            }
            Undo::Step(step, status, claim, source) => {
                if let Some((id, requirements)) = source.map(|source| *source)
                    && let Some(node) = model.nodes.get_mut(&id)
                {
                    node.requirements = requirements;
                }
                if let Some(open) = &mut model.orchestration {
                    put(&mut open.steps, Arc::clone(&step), status);
                    put(&mut open.claims, step, claim);
                }
            }
            Undo::Node(id, was, generation) => {
                put(&mut model.generations, Arc::clone(&id), generation);
                put(&mut model.nodes, id, was.map(|node| *node));
            }
            Undo::RelationAdded { source, requirement, position, had } => {
                let node = model.nodes.get_mut(&source);
                let Some(requirements) = node.map(|node| &mut node.requirements) else { return };
                if let Some(relations) = requirements.get_mut(&requirement) {
                    // Of several relations with one position it was added last.
                    let behind = relations.partition_point(|one| one.position <= position);
                    relations.drain(behind.saturating_sub(1)..behind);
                }
                if !had {
                    requirements.remove(&requirement);
                }
            }
            Undo::RelationRemoved { path: (source, requirement, at), relation } => {
                let node = model.nodes.get_mut(&source);
                if let Some(all) = node.and_then(|node| node.requirements.get_mut(&requirement)) {
                    all.insert(at, *relation);
                }
            }
            Undo::Renamed { id, to, generations, generation } => {
                // The reverse renaming changes the same names. If it fails, the renaming was never
                // done.
                let back = Event::NodeRenamed { id: Arc::clone(&to), to: Arc::clone(&id) };
                if model.apply_event(&self.head, &back).is_ok()
                    && let Some(node) = model.nodes.get_mut(&id)
                {
                    node.generation = generation;
                }
                let [of_id, of_to] = generations;
                put(&mut model.generations, id, of_id);
                put(&mut model.generations, to, of_to);
            }
            Undo::State(id, state, failed_in) => {
                if let Some(node) = model.nodes.get_mut(&id) {
                    (node.state, node.failed_in) = (state, failed_in);
                }
            }
            Undo::Attribute(id, name, was) => {
                if let Some(node) = model.nodes.get_mut(&id) {
                    put(&mut node.attributes, name, was);
                }
            }
            Undo::Group(name, was) => put(&mut model.groups, name, was.map(|it| *it)),
            Undo::Policy(name, was) => put(&mut model.policies, name, was.map(|it| *it)),
            Undo::Input(name, was, said) => {
                put(&mut model.input_annotations, Arc::clone(&name), said);
                put(&mut model.inputs, name, was);
            }
            Undo::Output(name, was, said, was_told) => {
                if let Some(open) = model.orchestration.as_mut().filter(|_| !was_told) {
                    open.outputs.remove(&name);
                }
                put(&mut model.output_annotations, Arc::clone(&name), said);
                put(&mut model.outputs, name, was);
            }
            Undo::Metadata(name, was) => put(&mut model.metadata, name, was),
            Undo::Later(was) => model.is_later = was,
        }
    }
}

fn put<T>(map: &mut super::model::ByName<T>, name: Arc<str>, was: Option<T>) {
    match was {
        Some(was) => drop(map.insert(name, was)),
        None => drop(map.remove(&name)),
    }
}
