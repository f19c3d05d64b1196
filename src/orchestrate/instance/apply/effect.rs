//! The effects of a change: the events that lead from the present model to the one of its target.

use super::document::RelationEnds;
use crate::orchestrate::instance::event::{Event, NodeAdded, RelationAdded};
use crate::orchestrate::instance::model::{
    ByName, GroupInstance, InstanceModel, InstanceState, NodeInstance, RelationInstance,
    relation_identifier,
};
use crate::orchestrate::instance::reduce::ImpossibleEvent;
use crate::orchestrate::instance::unwritten::Unwritten;
use crate::tosca::NodeState;
use cuvee_text::value::Value;
use std::sync::Arc;

/// The models that the targets of a change derive to.
#[derive(Clone, Copy, Debug)]
pub struct TargetModels<'t> {
    /// The model of the new target; one without nodes if the instance is to be empty.
    pub to: &'t InstanceModel,
    /// The model of the present target. What only this one has is removed. Without it, elements
    /// that the new target lacks stay, since they may have been reported.
    pub from: Option<&'t InstanceModel>,
}

type Added = Result<(), ImpossibleEvent>;

/// Adds a node with the definition of its target. If it exists only as a definition, that is
/// replaced.
pub(super) fn come(
    record: &mut Unwritten<'_>,
    models: &TargetModels<'_>,
    id: &Arc<str>,
    digest: Option<&Arc<str>>,
) -> Added {
    let Some(node) = models.to.nodes.get(id) else { return Ok(()) };
    match record.model().nodes.get(id) {
        // A node that is only a definition may also change its type. Of others only the name of the
        // type differs: a node of another type is made anew.
        Some(is) if is.type_name != node.type_name && is.state == InstanceState::default() => {
            record.add(Event::NodeRemoved { id: Arc::clone(id) })?;
        }
        Some(_) => return define(record, models, id, digest),
        None => {}
    }
    let values = node.attributes.iter();
    record.add(Event::NodeAdded(Box::new(NodeAdded {
        id: Arc::clone(id),
        template: node.template.clone(),
        type_name: Arc::clone(&node.type_name),
        index: node.index,
        generation: record.model().next_generation(id),
        target: digest.cloned(),
        properties: node.properties.clone(),
        attributes: values.map(|(name, it)| (Arc::clone(name), it.value.clone())).collect(),
        capabilities: node.capabilities.clone(),
        requirements: node.requirements.keys().cloned().collect(),
        metadata: node.metadata.clone(),
    })))
}

/// Gives a node the definition of its target, except for its state and relations.
pub(super) fn define(
    record: &mut Unwritten<'_>,
    models: &TargetModels<'_>,
    id: &Arc<str>,
    digest: Option<&Arc<str>>,
) -> Added {
    let Some(to) = models.to.nodes.get(id) else { return Ok(()) };
    let Some(is) = record.model().nodes.get(id) else { return Ok(()) };
    let from = models.from.and_then(|from| from.nodes.get(id));
    for event in definition(id, is, to, from, digest) {
        record.add(event)?;
    }
    Ok(())
}

/// The events for all differences between a node and its definition in the target.
fn definition(
    id: &Arc<str>,
    is: &NodeInstance,
    to: &NodeInstance,
    from: Option<&NodeInstance>,
    digest: Option<&Arc<str>>,
) -> Vec<Event> {
    let mut events = Vec::new();
    let template = (is.template != to.template || is.index != to.index).then_some(&to.template);
    let type_name = (is.type_name != to.type_name).then(|| Arc::clone(&to.type_name));
    if template.is_some() || type_name.is_some() || is.target.as_ref() != digest {
        events.push(Event::NodeDefined {
            id: Arc::clone(id),
            target: digest.cloned(),
            template: template.cloned().flatten(),
            index: to.index.filter(|_| template.is_some()),
            type_name,
        });
    }
    let entity: Arc<str> = format!("node.{id}").into();
    let of = |name: &Arc<str>| (Arc::clone(&entity), Arc::clone(name));
    differences(&is.properties, &to.properties, &mut |name, value| {
        let (entity, name) = of(name);
        events.push(Event::Property { entity, name, value });
    });
    let none = ByName::new();
    let capability_names = is.capabilities.keys().chain(to.capabilities.keys());
    let mut capability_names: Vec<_> = capability_names.collect();
    capability_names.sort_unstable();
    capability_names.dedup();
    for capability in capability_names {
        let of_capability = |node: &NodeInstance| match node.capabilities.get(capability) {
            Some(found) => found.properties.clone(),
            None => none.clone(),
        };
        differences(&of_capability(is), &of_capability(to), &mut |name, value| {
            let ((entity, name), capability) = (of(name), Arc::clone(capability));
            events.push(Event::CapabilityProperty { entity, capability, name, value });
        });
    }
    let metadata = leaving(&is.metadata, &to.metadata, from.map(|from| &from.metadata));
    events.extend(metadata.into_iter().map(|(name, value)| Event::Metadata {
        entity: Some(Arc::clone(&entity)),
        name,
        value,
    }));
    for (name, value) in &to.attributes {
        // An attribute that was never reported gets the new initial value.
        let began = from.and_then(|from| from.attributes.get(name)).map(|it| &it.value);
        let known = is.attributes.get(name).map(|it| &it.value);
        if known != Some(&value.value) && (known.is_none() || known == began) {
            let ((entity, name), value) = (of(name), Some(value.value.clone()));
            events.push(Event::Attribute { entity, capability: None, name, value });
        }
    }
    events
}

/// Calls `say` for each entry that differs; without a value for one that is removed.
fn differences(
    is: &ByName<Value>,
    to: &ByName<Value>,
    say: &mut dyn FnMut(&Arc<str>, Option<Value>),
) {
    for name in is.keys().filter(|name| !to.contains_key(*name)) {
        say(name, None);
    }
    for (name, value) in to.iter().filter(|(name, value)| is.get(*name) != Some(value)) {
        say(name, Some(value.clone()));
    }
}

/// The same if others may have added entries: only those of the target before are removed.
fn leaving(
    is: &ByName<Value>,
    to: &ByName<Value>,
    from: Option<&ByName<Value>>,
) -> Vec<(Arc<str>, Option<Value>)> {
    let mut all = Vec::new();
    differences(is, to, &mut |name, value| {
        if value.is_some() || from.is_some_and(|from| from.contains_key(name)) {
            all.push((Arc::clone(name), value));
        }
    });
    all
}

/// Links or metadata after a change of target. Entries of others stay, unless the target before had
/// them.
fn retold(is: &ByName<Value>, to: &ByName<Value>, from: Option<&ByName<Value>>) -> ByName<Value> {
    let mut told = is.clone();
    for (name, value) in leaving(is, to, from) {
        match value {
            Some(value) => told.insert(name, value),
            None => told.remove(&name),
        };
    }
    told
}

/// Whether two relations are the same in all that a target defines.
fn is_alike(one: &RelationInstance, other: &RelationInstance) -> bool {
    fn of(relation: &RelationInstance) -> impl PartialEq + '_ {
        let RelationInstance { position, target, capability, template, .. } = relation;
        (position, target, capability, template, &relation.relationship, relation.hosting)
    }
    of(one) == of(other)
}

/// Gives a node the relations of its target whose ends exist. Those for which `stays` holds are not
/// removed.
pub(super) fn relate(
    record: &mut Unwritten<'_>,
    models: &TargetModels<'_>,
    id: &Arc<str>,
    stays: &dyn Fn(&RelationEnds) -> bool,
) -> Added {
    let (Some(is), Some(to)) = (record.model().nodes.get(id), models.to.nodes.get(id)) else {
        return Ok(());
    };
    let names = is.requirements.keys().chain(to.requirements.keys());
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names.dedup();
    let mut events = Vec::new();
    for name in names {
        let of = |node: &NodeInstance| node.requirements.get(name).cloned().unwrap_or_default();
        let (is, mut to) = (of(is), of(to));
        let from = models.from.and_then(|from| from.nodes.get(id)).map(of).unwrap_or_default();
        let is_there =
            |target: &Arc<str>| target.contains("#/") || record.model().nodes.contains_key(target);
        to.retain(|relation| relation.target.as_ref().is_none_or(is_there));
        RelatedNode { source: id, requirement: name, from: &from }.relate(&is, &to, &mut events);
    }
    events.retain(|event| !matches!(removed(event), Some(ends) if stays(&ends)));
    events.into_iter().try_for_each(|event| record.add(event))
}

/// The relation that an event removes.
fn removed(event: &Event) -> Option<RelationEnds> {
    let Event::RelationRemoved { source, requirement, target } = event else { return None };
    let [source, requirement] = [source, requirement].map(Arc::clone);
    Some(RelationEnds { source, requirement, target: target.clone() })
}

/// The relations of one name at one node, while they change.
struct RelatedNode<'n> {
    source: &'n Arc<str>,
    requirement: &'n Arc<str>,
    /// The relations of the target before.
    from: &'n [RelationInstance],
}

impl RelatedNode<'_> {
    /// The events that change the relations `is` into `to`. Relations that stay keep their states,
    /// links and metadata.
    fn relate(&self, is: &[RelationInstance], to: &[RelationInstance], events: &mut Vec<Event>) {
        let mut kept = vec![None; to.len()];
        let mut gone = Vec::new();
        // Of several equal relations the last one is removed, so they are compared from the end.
        for relation in is.iter().rev() {
            let mut open = to.iter().enumerate().filter(|(at, _)| kept[*at].is_none());
            match open.find(|(_, new)| is_alike(relation, new)).map(|(at, _)| at) {
                Some(at) => kept[at] = Some(relation),
                None => {
                    events.push(Event::RelationRemoved {
                        source: Arc::clone(self.source),
                        requirement: Arc::clone(self.requirement),
                        target: relation.target.clone(),
                    });
                    gone.push(relation);
                }
            }
        }
        for (relation, _) in to.iter().zip(&kept).filter(|(_, kept)| kept.is_none()) {
            let was = gone.iter().position(|was| was.target == relation.target);
            self.add(relation, was.map(|at| gone.swap_remove(at)), events);
        }
        for (relation, is) in to.iter().zip(kept) {
            let Some(is) = is else { continue };
            let metadata = leaving(&is.metadata, &relation.metadata, self.said_before(relation));
            events.extend(metadata.into_iter().map(|(name, value)| Event::Metadata {
                entity: Some(self.identifier(relation)),
                name,
                value,
            }));
        }
    }

    /// Adds a relation, perhaps in place of one to the same target.
    fn add(
        &self,
        relation: &RelationInstance,
        was: Option<&RelationInstance>,
        events: &mut Vec<Event>,
    ) {
        let metadata =
            was.map(|was| retold(&was.metadata, &relation.metadata, self.said_before(relation)));
        let links = was.map_or(&relation.links, |was| &was.links);
        events.push(Event::RelationAdded(Box::new(RelationAdded {
            source: Arc::clone(self.source),
            requirement: Arc::clone(self.requirement),
            position: relation.position,
            target: relation.target.clone(),
            capability: relation.capability.clone(),
            template: relation.template.clone(),
            relationship: relation.relationship.clone(),
            hosting: relation.hosting,
            links: links.clone(),
            metadata: metadata.unwrap_or_else(|| relation.metadata.clone()),
        })));
        let state = was.map(|was| was.state.clone()).unwrap_or_default();
        if state != InstanceState::default() {
            let (entity, from) = (self.identifier(relation), InstanceState::default());
            let skipped = Vec::new();
            events.push(Event::State { entity, from, to: state, skipped, forced: false });
        }
    }

    fn identifier(&self, relation: &RelationInstance) -> Arc<str> {
        relation_identifier(self.source, self.requirement, relation.position).into()
    }

    /// The metadata of a relation in the target before.
    fn said_before(&self, relation: &RelationInstance) -> Option<&ByName<Value>> {
        let mut from = self.from.iter();
        from.find(|from| from.target == relation.target).map(|from| &from.metadata)
    }
}

/// Makes the rest of the model equal to the target when a change is done: what no step has added or
/// removed.
pub(super) fn complete(
    record: &mut Unwritten<'_>,
    models: &TargetModels<'_>,
    removed: &dyn Fn(&str) -> bool,
) -> Added {
    let to = models.to;
    let gone = record.model().nodes.iter().filter(|(id, _)| !to.nodes.contains_key(*id));
    let gone: Vec<_> = gone
        .filter_map(|(id, node)| {
            let is_ours = node.template.is_some() && !is_selected(node);
            let id = Arc::clone(id);
            match is_ours {
                true => Some(Event::NodeRemoved { id }),
                false => {
                    (node.template.is_some() || removed(&id)).then_some(Event::NodeForgotten { id })
                }
            }
        })
        .collect();
    gone.into_iter().try_for_each(|event| record.add(event))?;
    for (id, node) in &to.nodes {
        let is_new = !record.model().nodes.contains_key(id);
        come(record, models, id, None)?;
        if is_new && is_selected(node) {
            record.add(Event::State {
                entity: format!("node.{id}").into(),
                from: InstanceState::default(),
                to: NodeState::Started.into(),
                skipped: Vec::new(),
                forced: false,
            })?;
        }
    }
    to.nodes.keys().try_for_each(|id| relate(record, models, id, &|_| false))?;
    around(record, models).into_iter().try_for_each(|event| record.add(event))
}

/// Whether the node was selected from elsewhere, so that it is never touched.
fn is_selected(node: &NodeInstance) -> bool {
    node.metadata.contains_key("instance")
}

/// The events for everything but nodes: groups, policies, inputs, outputs, metadata.
fn around(record: &Unwritten<'_>, models: &TargetModels<'_>) -> Vec<Event> {
    let (is, TargetModels { to, from }) = (record.model(), models);
    let mut events = Vec::new();
    for name in is.groups.keys().filter(|name| !to.groups.contains_key(*name)) {
        events.push(Event::Group { name: Arc::clone(name), value: None });
    }
    for (name, group) in &to.groups {
        let before = from.and_then(|from| from.groups.get(name));
        let group = regrouped(is.groups.get(name), group, before);
        if is.groups.get(name) != Some(&group) {
            events.push(Event::Group { name: Arc::clone(name), value: Some(group) });
        }
    }
    for name in is.policies.keys().filter(|name| !to.policies.contains_key(*name)) {
        events.push(Event::Policy { name: Arc::clone(name), value: None });
    }
    for (name, policy) in &to.policies {
        let mut policy = policy.clone();
        if let Some(is) = is.policies.get(name) {
            let before = from.and_then(|from| from.policies.get(name)).map(|it| &it.metadata);
            policy.metadata = retold(&is.metadata, &policy.metadata, before);
            policy.links.clone_from(&is.links);
        }
        if is.policies.get(name) != Some(&policy) {
            events.push(Event::Policy { name: Arc::clone(name), value: Some(policy) });
        }
    }
    differences(&is.inputs, &to.inputs, &mut |name, value| {
        events.push(Event::Input { name: Arc::clone(name), value });
    });
    let told =
        |name: &Arc<str>| is.orchestration.as_ref().is_some_and(|open| open.outputs.contains(name));
    let outputs = leaving(&is.outputs, &to.outputs, from.map(|from| &from.outputs));
    let outputs = outputs.into_iter().filter(|(name, _)| !told(name));
    events.extend(outputs.map(|(name, value)| Event::Output { name, value }));
    let metadata = leaving(&is.metadata, &to.metadata, from.map(|from| &from.metadata));
    let metadata = metadata.into_iter();
    events.extend(metadata.map(|(name, value)| Event::Metadata { entity: None, name, value }));
    events
}

/// A group as its target defines it, with its reported attributes, links and metadata.
fn regrouped(
    is: Option<&GroupInstance>,
    to: &GroupInstance,
    from: Option<&GroupInstance>,
) -> GroupInstance {
    let mut group = to.clone();
    let Some(is) = is else { return group };
    for (name, value) in &is.attributes {
        group.attributes.insert(Arc::clone(name), value.clone());
    }
    group.metadata = retold(&is.metadata, &to.metadata, from.map(|from| &from.metadata));
    group.links.clone_from(&is.links);
    group
}

/// How many relations of one name a node has to the target of this one.
fn relation_count(model: &InstanceModel, ends: &RelationEnds) -> usize {
    let all = model.nodes.get(&ends.source).and_then(|it| it.requirements.get(&ends.requirement));
    all.into_iter().flatten().filter(|relation| relation.target == ends.target).count()
}

/// Adds a relation of the target, unless it is there.
pub(super) fn wire(
    record: &mut Unwritten<'_>,
    models: &TargetModels<'_>,
    ends: &RelationEnds,
) -> Added {
    let RelationEnds { source, requirement, target } = ends;
    let Some(node) = models.to.nodes.get(source) else { return Ok(()) };
    let there = relation_count(record.model(), ends);
    let to = node.requirements.get(requirement).into_iter().flatten();
    let Some(relation) = to.filter(|one| one.target == *target).nth(there) else { return Ok(()) };
    let mut events = Vec::new();
    RelatedNode { source, requirement, from: &[] }.add(relation, None, &mut events);
    events.into_iter().try_for_each(|event| record.add(event))
}

/// Removes a relation that the target does not have.
pub(super) fn unwire(
    record: &mut Unwritten<'_>,
    models: &TargetModels<'_>,
    ends: &RelationEnds,
) -> Added {
    if relation_count(record.model(), ends) <= relation_count(models.to, ends) {
        return Ok(());
    }
    let RelationEnds { source, requirement, target } = ends.clone();
    record.add(Event::RelationRemoved { source, requirement, target })
}
