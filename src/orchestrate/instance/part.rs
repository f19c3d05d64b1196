//! Parts of a model: how a snapshot keeps them, each under a key of its own, and how much of an
//! instance is read for what somebody asks.

use super::event::Event;
use super::model::{GroupInstance, InstanceModel, NodeInstance, PolicyInstance, StepStatus};
use super::open::corrupt;
use super::reduce::{Entity, relation_parts};
use super::store::{LogRecord, Snapshot};
use crate::text::diagnostic::Diagnostic;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a snapshot has of the model beside what has names of its own.
const HEAD: &str = "head";

/// The ids of nodes by their states.
const STATES: &str = "states";

/// A part of a model.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ModelPart<'m> {
    Group(&'m GroupInstance),
    Head(Box<InstanceModel>),
    /// The nodes whose relations lead to one.
    Into(Vec<&'m str>),
    Node(&'m NodeInstance),
    Policy(&'m PolicyInstance),
    States(BTreeMap<&'m str, Vec<&'m str>>),
    Step(StepStatus),
}

/// The parts of a model as a snapshot keeps them: by keys that ascend. Keys of reports that the log
/// keeps itself are left out.
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

/// What is left without what has a key of its own.
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

/// By whom each node is named as the end of a relation.
fn sources(model: &InstanceModel) -> BTreeMap<&Arc<str>, Vec<&str>> {
    let mut sources: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (source, _, relation) in model.relations() {
        let Some(target) = &relation.target else { continue };
        let known = sources.entry(target).or_default();
        // One after the other, each source has its relations.
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

/// How much of an instance is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum ModelExtent {
    /// All of it.
    #[default]
    Whole,
    /// Of nodes only these, where they are there, and of what was said before only these keys; no
    /// steps but those that have come since the snapshot.
    Nodes { nodes: BTreeSet<Arc<str>>, keys: BTreeSet<Arc<str>> },
    /// Of nodes only which there are and their states; no groups and policies.
    States,
}

/// What an event is to an extent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Concern {
    /// It changes what is read.
    Inside,
    /// It does not.
    Outside,
    /// What it changes cannot be told from what is read.
    Beyond,
}

impl ModelExtent {
    /// Whether a record says nothing of what is read: it need not be looked at any closer.
    pub(super) fn is_outside(&self, record: &LogRecord<'_>) -> bool {
        if *self == Self::Whole {
            return false;
        }
        let glances = serde_json::from_str::<Vec<EventGlance<'_>>>(record.raw_events());
        glances.is_ok_and(|events| events.iter().all(|event| event.is_outside(self)))
    }

    /// What an event is to it.
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
                | Event::Note { .. } => false,
                _ => true,
            }),
        }
    }
}

/// What an event is to who reads some nodes only.
fn of_nodes(event: &Event, nodes: &BTreeSet<Arc<str>>) -> Concern {
    let node = |id: &str| match nodes.contains(id) {
        true => Concern::Inside,
        false => Concern::Outside,
    };
    match event {
        // Whoever leads to it follows.
        Event::NodeRenamed { .. } => Concern::Beyond,
        Event::RelationAdded(added) => match node(&added.source) {
            // Somebody leads there of whom nothing is known.
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
            // What has few of its kind is read whatever somebody asks for.
            Entity::Group(_)
            | Entity::Policy(_)
            | Entity::Input(_)
            | Entity::Output(_)
            | Entity::Unknown => Concern::Inside,
        },
        _ => Concern::Inside,
    }
}

/// As much of an event as most often says that it is nobody's business here. What is written with
/// escapes cannot be glanced at.
#[derive(Deserialize)]
struct EventGlance<'e> {
    kind: &'e str,
    #[serde(default)]
    entity: Option<&'e str>,
}

impl EventGlance<'_> {
    fn is_outside(&self, extent: &ModelExtent) -> bool {
        // What these say is said of what `entity` names, and of nothing else.
        let is_of_entity = matches!(
            self.kind,
            "attribute" | "capability-property" | "linked" | "metadata" | "note" | "property"
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

/// As much of the model as is asked for of what a snapshot keeps.
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

/// The nodes whose relations lead to one, as a snapshot says.
pub(super) fn sources_of(snapshot: &Snapshot<'_>, id: &str) -> Result<Vec<Arc<str>>, Diagnostic> {
    Ok(Restoring { snapshot }.one(&format!("into/{id}"))?.unwrap_or_default())
}

/// A snapshot whose entries become parts of a model.
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

    /// What has keys that begin with this, and what the log keeps for it.
    fn all(&self, model: &mut InstanceModel, prefix: &str) -> Result<(), Diagnostic> {
        let InstanceModel { nodes, groups, policies, orchestration, .. } = model;
        self.snapshot.entries(prefix, &mut |key, value| {
            let is_read = match key.split_once('/') {
                None => key == HEAD || key == STATES,
                Some(("into", _)) => true,
                Some(("group", name)) => read(value, |it| groups.insert(name.into(), it)),
                Some(("node", id)) => read(value, |it| nodes.insert(id.into(), it)),
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

/// Reads a value and puts it where it belongs; whether it could be read.
fn read<T: DeserializeOwned>(value: &str, put: impl FnOnce(T) -> Option<T>) -> bool {
    serde_json::from_str(value).map(put).is_ok()
}
