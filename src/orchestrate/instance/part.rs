//! The parts of a model: a snapshot keeps each under a key of its own, so that a reader may read
//! only the parts that it needs.

use super::event::Event;
use super::model::{GroupInstance, InstanceModel, NodeInstance, PolicyInstance, StepStatus};
use super::open::corrupt;
use super::reduce::{Entity, relation_parts};
use super::store::{LogRecord, Snapshot};
use crate::diagnostic::Diagnostic;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The key of what remains of a model when all other parts are taken out.
const HEAD: &str = "head";

/// The key of the ids of nodes by their states.
const STATES: &str = "states";

/// A part of a model.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ModelPart<'m> {
    Group(&'m GroupInstance),
    Head(Box<InstanceModel>),
    /// The nodes that have a relation to one node.
    Into(Vec<&'m str>),
    Node(&'m NodeInstance),
    Policy(&'m PolicyInstance),
    States(BTreeMap<&'m str, Vec<&'m str>>),
    Step(StepStatus),
}

/// The parts of a model as a snapshot keeps them, by ascending keys. If the log keeps the keys of
/// reports itself, they are left out.
pub(super) fn parts(
    model: &InstanceModel,
    keeps_keys: bool,
) -> impl Iterator<Item = (String, ModelPart<'_>)> {
    fn named<'m, T>(
        kind: &'static str,
        all: impl Iterator<Item = (&'m Arc<str>, T)>,
        part: impl Fn(T) -> ModelPart<'m>,
    ) -> impl Iterator<Item = (String, ModelPart<'m>)> {
        all.map(move |(name, it)| (format!("{kind}/{name}"), part(it)))
    }
    let one = |key: &str, part| std::iter::once((key.to_owned(), part));
    let open = model.orchestration.iter();
    named("group", model.groups.iter(), ModelPart::Group)
        .chain(one(HEAD, ModelPart::Head(Box::new(head(model, keeps_keys)))))
        .chain(named("into", sources(model).into_iter(), ModelPart::Into))
        .chain(named("node", model.nodes.iter(), ModelPart::Node))
        .chain(named("policy", model.policies.iter(), ModelPart::Policy))
        .chain(one(STATES, ModelPart::States(states(model))))
        .chain(named("step", open.flat_map(|open| &open.steps), |status| ModelPart::Step(*status)))
}

/// The model without the parts that have a key of their own.
fn head(model: &InstanceModel, keeps_keys: bool) -> InstanceModel {
    let mut orchestration = model.orchestration.clone();
    if let Some(open) = &mut orchestration {
        open.steps.clear();
        if keeps_keys {
            open.keys.clear();
        }
    }
    InstanceModel {
        nodes: Default::default(),
        groups: Default::default(),
        policies: Default::default(),
        uri: Arc::clone(&model.uri),
        lineage: Arc::clone(&model.lineage),
        revision: model.revision,
        structure: model.structure,
        time: Arc::clone(&model.time),
        secrets: model.secrets,
        sensitive: model.sensitive.clone(),
        target: model.target.clone(),
        metadata: model.metadata.clone(),
        inputs: model.inputs.clone(),
        outputs: model.outputs.clone(),
        input_annotations: model.input_annotations.clone(),
        output_annotations: model.output_annotations.clone(),
        orchestration,
        generations: model.generations.clone(),
        last_key: model.last_key.clone(),
        is_later: model.is_later,
    }
}

/// For each node, the nodes that have a relation to it.
fn sources(model: &InstanceModel) -> BTreeMap<&Arc<str>, Vec<&str>> {
    let mut sources: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (source, _, relation) in model.relations() {
        let Some(target) = &relation.target else { continue };
        let known = sources.entry(target).or_default();
        // The relations of one source follow each other.
        if known.last() != Some(&&**source) {
            known.push(&**source);
        }
    }
    sources
}

fn states(model: &InstanceModel) -> BTreeMap<&str, Vec<&str>> {
    let mut states: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (id, node) in &model.nodes {
        states.entry(node.state.as_str()).or_default().push(&**id);
    }
    states
}

/// The part of a model that is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum ModelExtent {
    /// All of the model.
    #[default]
    Whole,
    /// Only these nodes, if they exist, and only these keys of earlier reports. Of the steps only
    /// those that were reported since the snapshot.
    Nodes { nodes: BTreeSet<Arc<str>>, keys: BTreeSet<Arc<str>> },
    /// The ids and states of all nodes; no groups and policies.
    States,
}

/// How an event concerns the part that is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Concern {
    /// It changes the part that is read.
    Inside,
    /// It does not change that part.
    Outside,
    /// Its effect on that part cannot be told without the rest of the model.
    Beyond,
}

impl ModelExtent {
    /// Whether a record does not concern the part that is read, so that its events need not be
    /// read.
    pub(super) fn is_outside(&self, record: &LogRecord<'_>) -> bool {
        if *self == Self::Whole {
            return false;
        }
        let glances = serde_json::from_str::<Vec<EventGlance<'_>>>(record.raw_events());
        glances.is_ok_and(|events| events.iter().all(|event| event.is_outside(self)))
    }

    /// How an event concerns the part that is read.
    pub(super) fn concern(&self, event: &Event) -> Concern {
        let inside = |is_inside| if is_inside { Concern::Inside } else { Concern::Outside };
        match self {
            Self::Whole => Concern::Inside,
            Self::Nodes { nodes, .. } => of_nodes(event, nodes),
            Self::States => inside(match event {
                Event::State { entity, .. } => matches!(Entity::of(entity), Entity::Node(_)),
                Event::NodeDefined { .. }
                | Event::RelationAdded(_)
                | Event::RelationRemoved { .. }
                | Event::Property { .. }
                | Event::CapabilityProperty { .. }
                | Event::Attribute { .. }
                | Event::Group { .. }
                | Event::Policy { .. }
                | Event::Linked { .. }
                | Event::Metadata { .. }
                | Event::Note { .. }
                | Event::Occurred { .. } => false,
                _ => true,
            }),
        }
    }
}

/// How an event concerns a reader of only these nodes.
fn of_nodes(event: &Event, nodes: &BTreeSet<Arc<str>>) -> Concern {
    let node = |id: &str| match nodes.contains(id) {
        true => Concern::Inside,
        false => Concern::Outside,
    };
    match event {
        // All nodes with a relation to it follow the new name.
        Event::NodeRenamed { .. } => Concern::Beyond,
        Event::RelationAdded(added) => match node(&added.source) {
            // A node that was not read has a relation to one that was.
            Concern::Outside if added.target.as_ref().is_some_and(|to| nodes.contains(to)) => {
                Concern::Beyond
            }
            concern => concern,
        },
        Event::RelationRemoved { source: id, .. }
        | Event::NodeDefined { id, .. }
        | Event::NodeRemoved { id }
        | Event::NodeAdopted { id, .. }
        | Event::NodeForgotten { id } => node(id),
        Event::NodeAdded(added) => node(&added.id),
        Event::State { entity, .. }
        | Event::Property { entity, .. }
        | Event::CapabilityProperty { entity, .. }
        | Event::Attribute { entity, .. }
        | Event::Linked { entity, .. }
        | Event::Occurred { entity, .. }
        | Event::Metadata { entity: Some(entity), .. }
        | Event::Note { entity: Some(entity), .. } => match Entity::of(entity) {
            Entity::Node(id) => node(id),
            Entity::Relation(identifier) => {
                let mut sources = relation_parts(identifier).map(|(.., source)| source);
                match (sources.next(), sources.next()) {
                    (Some(source), None) => node(source),
                    _ => Concern::Beyond,
                }
            }
            // Groups, policies, inputs and outputs are few, so every reader reads them.
            Entity::Group(_)
            | Entity::Policy(_)
            | Entity::Input(_)
            | Entity::Output(_)
            | Entity::Unknown => Concern::Inside,
        },
        _ => Concern::Inside,
    }
}

/// The two fields of an event that usually suffice to skip it. Text with escapes cannot be
/// borrowed, so such an event is read in full.
#[derive(Deserialize)]
struct EventGlance<'e> {
    kind: &'e str,
    #[serde(default)]
    entity: Option<&'e str>,
}

impl EventGlance<'_> {
    fn is_outside(&self, extent: &ModelExtent) -> bool {
        // Events of these kinds concern only the entity that they name.
        let is_of_entity = matches!(
            self.kind,
            "attribute"
                | "capability-property"
                | "linked"
                | "metadata"
                | "note"
                | "occurred"
                | "property"
        );
        let node = self.entity.and_then(|entity| entity.strip_prefix("node."));
        match (extent, node) {
            (ModelExtent::Nodes { nodes, .. }, Some(node)) => {
                (is_of_entity || self.kind == "state") && !nodes.contains(node)
            }
            (ModelExtent::States, Some(_)) => is_of_entity,
            _ => false,
        }
    }
}

/// Reads the wanted part of the model from a snapshot.
pub(super) fn restore(
    snapshot: &Snapshot<'_>,
    extent: &ModelExtent,
) -> Result<InstanceModel, Diagnostic> {
    let restoring = Restoring { snapshot };
    let mut model: InstanceModel = restoring.one(HEAD)?.ok_or_else(|| restoring.wrong(HEAD))?;
    match extent {
        ModelExtent::Whole => restoring.all(&mut model, "")?,
        ModelExtent::Nodes { nodes, keys } => {
            restoring.all(&mut model, "group/")?;
            restoring.all(&mut model, "policy/")?;
            for id in nodes {
                if let Some(node) = restoring.one(&format!("node/{id}"))? {
                    model.nodes.insert(Arc::clone(id), node);
                }
            }
            if let Some(open) = &mut model.orchestration
                && snapshot.keeps_keys_of(open.id)
            {
                for key in keys {
                    if let Some((revision, _)) = snapshot.said(key)? {
                        open.keys.insert(Arc::clone(key), revision);
                    }
                }
            }
        }
        ModelExtent::States => {
            let states: BTreeMap<Cow<'_, str>, Vec<Arc<str>>> =
                restoring.one(STATES)?.ok_or_else(|| restoring.wrong(STATES))?;
            for (name, ids) in states {
                let state = super::model::InstanceState::named(&name);
                let node = || NodeInstance { state: state.clone(), ..NodeInstance::default() };
                model.nodes.extend(ids.into_iter().map(|id| (id, node())));
            }
        }
    }
    Ok(model)
}

/// The nodes that have a relation to this one, according to a snapshot.
pub(super) fn sources_of(snapshot: &Snapshot<'_>, id: &str) -> Result<Vec<Arc<str>>, Diagnostic> {
    Ok(Restoring { snapshot }.one(&format!("into/{id}"))?.unwrap_or_default())
}

/// Reads entries of a snapshot as parts of a model.
struct Restoring<'r, 's> {
    snapshot: &'r Snapshot<'s>,
}

impl Restoring<'_, '_> {
    fn wrong(&self, key: &str) -> Diagnostic {
        let place = format!("snapshot {}", self.snapshot.revision());
        corrupt(&place, format_args!("the entry `{key}` cannot be read; delete the snapshot"))
    }

    fn one<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Diagnostic> {
        let Some(value) = self.snapshot.entry(key)? else { return Ok(None) };
        serde_json::from_str(&value).map(Some).map_err(|_| self.wrong(key))
    }

    /// Reads the entries whose keys begin with `prefix`, and the keys that the log keeps for the
    /// snapshot.
    fn all(&self, model: &mut InstanceModel, prefix: &str) -> Result<(), Diagnostic> {
        let InstanceModel { nodes, groups, policies, orchestration, .. } = model;
        self.snapshot.entries(prefix, &mut |key, value| {
            let is_read = match key.split_once('/') {
                None => key == HEAD || key == STATES,
                Some(("into", _)) => true,
                Some(("group", name)) => read(value, |it| groups.insert(name.into(), it)),
                Some(("node", id)) => {
                    read(value, |it: NodeInstance| nodes.insert(id.into(), it.trimmed()))
                }
                Some(("policy", name)) => read(value, |it| policies.insert(name.into(), it)),
                Some(("step", id)) => match &mut *orchestration {
                    Some(open) => read(value, |it| open.steps.insert(id.into(), it)),
                    None => false,
                },
                _ => false,
            };
            if is_read { Ok(()) } else { Err(self.wrong(key)) }
        })?;
        match orchestration {
            Some(open) if prefix.is_empty() && self.snapshot.keeps_keys_of(open.id) => {
                self.snapshot.all_said(&mut |key, (revision, _)| {
                    open.keys.insert(key.into(), revision);
                })
            }
            _ => Ok(()),
        }
    }
}

/// Reads a value and puts it in its place. Returns whether it could be read.
fn read<T: DeserializeOwned>(value: &str, put: impl FnOnce(T) -> Option<T>) -> bool {
    serde_json::from_str(value).map(put).is_ok()
}
