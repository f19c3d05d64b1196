//! Writes a fulfilment into a document.

use super::inventory::{Inventory, InventoryNode};
use super::uses::known_type;
use super::{FoundNode, FulfilledRelation, Fulfilment};
use crate::orchestrate::tree::{
    MapEntries, entries, items, key_name, like, rebuilt, set, set_open, within_topology,
    without_directive,
};
use crate::topology::{AssignedValue, NodeIndex, RelationIndex, Topology};
use crate::tosca::types::Parts;
use crate::tosca::{PropertyDefinition, TypeId, Types};
use cuvee_text::value::{Number, Value};
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey, OutNode};
use rustc_hash::{FxHashMap, FxHashSet};

/// Writes a fulfilment into the document of this topology.
pub(crate) fn write<'a>(
    document: &Out<'a>,
    topology: &Topology,
    types: &Types<'_>,
    inventory: &Inventory,
    fulfilment: &Fulfilment,
) -> Out<'a> {
    let writer = FulfilmentWriter::of(topology, types, inventory, fulfilment);
    within_topology(document, &mut |section, body| match section {
        "node_templates" => writer.nodes(body),
        _ => body.clone(),
    })
}

struct FulfilmentWriter<'w, 't> {
    topology: &'w Topology,
    types: &'w Types<'t>,
    inventory: &'w Inventory,
    /// How many directives of nodes do not work.
    passed: FxHashMap<NodeIndex, usize>,
    selected: FxHashMap<NodeIndex, usize>,
    relations: FxHashMap<NodeIndex, Vec<&'w FulfilledRelation>>,
    open: FxHashMap<RelationIndex, u64>,
    /// The nodes of the inventory that are added to the template, with their names there.
    brought: Vec<(usize, String)>,
}

impl<'w, 't> FulfilmentWriter<'w, 't> {
    fn of(
        topology: &'w Topology,
        types: &'w Types<'t>,
        inventory: &'w Inventory,
        fulfilment: &'w Fulfilment,
    ) -> Self {
        let mut relations: FxHashMap<NodeIndex, Vec<_>> = FxHashMap::default();
        let mut brought = Vec::new();
        let mut names: FxHashSet<String> =
            topology.nodes.iter().map(|node| node.name.clone()).collect();
        for relation in &fulfilment.relations {
            relations.entry(relation.source).or_default().push(relation);
            let FoundNode::Stored(stored) = relation.target else { continue };
            if brought.iter().all(|(known, _)| *known != stored) {
                let name = unused(&inventory.nodes[stored].name, &names);
                names.insert(name.clone());
                brought.push((stored, name));
            }
        }
        brought.sort_unstable();
        let selected = fulfilment.selected.iter().copied().collect();
        let open = fulfilment.open.iter().copied().collect();
        let mut passed = FxHashMap::default();
        fulfilment.passed.iter().for_each(|it| *passed.entry(it.node).or_default() += 1);
        Self { topology, types, inventory, passed, selected, relations, open, brought }
    }

    fn nodes<'a>(&self, templates: &Out<'a>) -> Out<'a> {
        let mut all = entries(templates);
        for (id, (_, template)) in self.topology.node_ids().zip(&mut all) {
            for _ in 0..self.passed.get(&id).copied().unwrap_or(0) {
                *template = without_directive(template);
            }
            if let Some(&stored) = self.selected.get(&id) {
                let node = &self.inventory.nodes[stored];
                let kind = super::inventory::node_type(self.types, self.topology.node(id));
                *template = self.taken(template, node, kind);
            } else if self.relations.contains_key(&id) || self.is_partly_open(id) {
                let mut body = entries(template);
                set(&mut body, "requirements", |old| self.requirements(old, id));
                *template = like(template, body);
            }
        }
        let none = Out::Map { entries: Default::default(), like: None };
        for (stored, name) in &self.brought {
            let node = &self.inventory.nodes[*stored];
            let kind = known_type(self.types, &node.types);
            let type_name = kind.map(|kind| self.types.told_name(kind).into_owned());
            let type_name = type_name.or_else(|| node.types.first().cloned()).unwrap_or_default();
            let typed = vec![(OutKey::New("type".into()), Out::String(type_name.into()))];
            let template = self.taken(&like(&none, typed), node, kind);
            all.push((OutKey::New(name.clone().into()), template));
        }
        like(templates, all)
    }

    fn is_partly_open(&self, id: NodeIndex) -> bool {
        self.topology.node(id).relations.iter().any(|relation| self.open.contains_key(relation))
    }

    /// An existing node as a node template, with its values for properties that its type has here.
    fn taken<'a>(&self, template: &Out<'a>, node: &InventoryNode, kind: Option<TypeId>) -> Out<'a> {
        let mut body = entries(template);
        body.retain(|(key, _)| key_name(key) != "node_filter");
        let known = kind.map(|kind| self.types.effective(kind));
        let defined =
            |value: &&AssignedValue| known.is_some_and(|known| is_news(value, &known.properties));
        let directives = Out::Value(Value::List([].into()));
        let after = body.iter().position(|(key, _)| key_name(key) == "type").map_or(0, |at| at + 1);
        match body.iter().position(|(key, _)| key_name(key) == "directives") {
            Some(at) => body[at].1 = directives,
            None => body.insert(after, (OutKey::New("directives".into()), directives)),
        }
        if body.iter().all(|(key, _)| key_name(key) != "metadata") {
            let none = Out::Map { entries: Default::default(), like: None };
            body.insert(after + 1, (OutKey::New("metadata".into()), none));
        }
        set(&mut body, "metadata", |old| {
            let mut metadata = old.map(entries).unwrap_or_default();
            set(&mut metadata, "instance", |_| Some(Out::String(node.uri.clone().into())));
            Some(rebuilt(old, metadata))
        });
        set(&mut body, "properties", |_| values(node.properties.iter().filter(defined)));
        set(&mut body, "capabilities", |_| {
            let of = |name: &str| known?.capabilities.get(name);
            let with_values = node.capabilities.iter().filter_map(|capability| {
                let assigned = &capability.assigned;
                let part = of(&assigned.name)?;
                let properties = &part.definition.properties;
                let own = assigned.properties.iter();
                let own = values(own.filter(|value| is_news(value, properties)))?;
                let body = vec![(OutKey::New("properties".into()), own)];
                Some((
                    OutKey::New(assigned.name.clone().into()),
                    Out::Map { entries: body.into(), like: None },
                ))
            });
            let entries: MapEntries<'a> = with_values.collect();
            (!entries.is_empty()).then_some(Out::Map { entries: entries.into(), like: None })
        });
        like(template, body)
    }

    fn requirements<'a>(&self, old: Option<&Out<'a>>, id: NodeIndex) -> Option<Out<'a>> {
        let none = Vec::new();
        let found = self.relations.get(&id).unwrap_or(&none);
        let written = old.map(requirement_items).unwrap_or_default();
        let mut all = Vec::new();
        let mut relations = self.topology.node(id).relations.iter();
        for item in written {
            // An item that is no assignment is not in the topology either.
            let is_one = !OutNode::root(&item).entries().is_empty();
            let relation = if is_one { relations.next() } else { None };
            let of_item = found.iter().filter(|it| it.assignment.as_ref() == relation);
            let of_item: Vec<_> = of_item.filter(|_| relation.is_some()).collect();
            let open = relation.and_then(|relation| self.open.get(relation)).copied();
            if of_item.is_empty() {
                all.push((source(&item), item));
                continue;
            }
            for (position, relation) in of_item.into_iter().enumerate() {
                let first = if position == 0 { source(&item) } else { None };
                all.push((first, self.fulfilled(Some(&item), relation)));
            }
            all.extend(open.map(|open| (None, still_open(&item, open))));
        }
        let new = found.iter().filter(|relation| relation.assignment.is_none());
        all.extend(new.map(|relation| (None, self.fulfilled(None, relation))));
        let style = if let Some(Out::Source(node)) = old { Some(*node) } else { None };
        let style = style.filter(|node| node.kind() == NodeKind::Sequence);
        (!all.is_empty()).then_some(Out::Seq { items: all.into(), like: style })
    }

    /// An assignment that leads to the target that was found, in short form if it has nothing else.
    fn fulfilled<'a>(&self, item: Option<&Out<'a>>, relation: &FulfilledRelation) -> Out<'a> {
        let entry = item.and_then(|item| entries(item).into_iter().next());
        let mut body = entry.as_ref().map(|(_, body)| entries(body)).unwrap_or_default();
        const DONE: [&str; 5] = ["optional", "count", "occurrences", "node_filter", "directives"];
        body.retain(|(key, _)| !DONE.contains(&&*key_name(key)));
        let target = Out::String(self.target(relation).to_owned().into());
        match body.iter().position(|(key, _)| key_name(key) == "node") {
            Some(at) => body[at].1 = target,
            None => body.insert(0, (OutKey::New("node".into()), target)),
        }
        if let Some(capability) = &relation.capability {
            set(&mut body, "capability", |_| Some(Out::String(capability.clone().into())));
        }
        let key = entry.as_ref().map(|(key, _)| key.clone());
        let key = key.unwrap_or_else(|| OutKey::New(relation.requirement.clone().into()));
        let value = match (body.len(), entry.as_ref()) {
            (1, _) => body.remove(0).1,
            (_, Some((_, old))) => like(old, body),
            (_, None) => Out::Map { entries: body.into(), like: None },
        };
        match item {
            Some(item) => like(item, vec![(key, value)]),
            None => Out::Map { entries: vec![(key, value)].into(), like: None },
        }
    }

    fn target(&self, relation: &FulfilledRelation) -> &str {
        match relation.target {
            FoundNode::Own(node) => &self.topology.node(node).name,
            FoundNode::Stored(stored) => {
                let brought = self.brought.iter().find(|(known, _)| *known == stored);
                brought.map_or("", |(_, name)| name)
            }
        }
    }
}

/// The part of an assignment that stays open.
fn still_open<'a>(item: &Out<'a>, open: u64) -> Out<'a> {
    let mut all = entries(item);
    if let Some((_, body)) = all.first_mut() {
        let mut inner = entries(body);
        inner.retain(|(key, _)| !["optional", "count"].contains(&&*key_name(key)));
        let open = i64::try_from(open).unwrap_or(i64::MAX);
        let range = [0, open].map(|bound| Value::Number(Number::int(bound)));
        let [min, max] = range;
        set_open(&mut inner, item, (min, max));
        *body = like(body, inner);
    }
    like(item, all)
}

/// The items of a list of requirements, or the entries of a map of them.
fn requirement_items<'a>(list: &Out<'a>) -> Vec<Out<'a>> {
    if OutNode::root(list).kind() != NodeKind::Mapping {
        return items(list);
    }
    let one = |entry| Out::Map { entries: vec![entry].into(), like: None };
    entries(list).into_iter().map(one).collect()
}

fn source<'a>(item: &Out<'a>) -> Option<Node<'a>> {
    match item {
        Out::Source(node) | Out::Map { like: Some(node), .. } => Some(*node),
        _ => None,
    }
}

/// Whether the value belongs to one of these properties and differs from the default.
fn is_news(value: &AssignedValue, properties: &Parts<'_, PropertyDefinition<'_>>) -> bool {
    properties.get(&*value.name).is_some_and(|part| {
        let otherwise = part.definition.value.or(part.definition.default);
        otherwise.map(Node::to_value).as_ref() != Some(&value.value.value)
    })
}

fn values<'v, 'a>(values: impl Iterator<Item = &'v AssignedValue>) -> Option<Out<'a>> {
    let entry = |value: &AssignedValue| {
        (OutKey::New(value.name.clone().into()), Out::Value(value.value.value.clone()))
    };
    let entries: MapEntries<'a> = values.map(entry).collect();
    (!entries.is_empty()).then_some(Out::Map { entries: entries.into(), like: None })
}

/// A name that is not used yet: the name itself, or with a number at its end.
fn unused(name: &str, names: &FxHashSet<String>) -> String {
    let numbered = (2..).map(|number: u64| format!("{name}_{number}"));
    let mut all = std::iter::once(name.to_owned()).chain(numbered);
    all.find(|name| !names.contains(name)).unwrap_or_default()
}
