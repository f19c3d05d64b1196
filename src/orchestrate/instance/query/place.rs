//! Places in a model, and the steps from a place to its parts.

use super::ModelReading;
use super::parse::ModelCollection;
use crate::orchestrate::instance::model::{
    ByName, CapabilityInstance, GroupInstance, InstanceModel, NodeInstance, PolicyInstance,
    RelationInstance, ReportedValue, relation_identifier,
};
use crate::orchestrate::instance::shown::ShownValues;
use crate::topology::sensitive::InstanceValue;
use crate::tosca::value::TextType;
use cuvee_text::value::Value;
use rustc_hash::FxHashSet;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// An entity of a model.
#[derive(Clone, Copy, Debug)]
pub(super) enum ModelEntity<'m> {
    Node(&'m Arc<str>, &'m NodeInstance),
    Relation(&'m Arc<str>, &'m Arc<str>, &'m RelationInstance),
    Group(&'m Arc<str>, &'m GroupInstance),
    Policy(&'m Arc<str>, &'m PolicyInstance),
    Input(&'m Arc<str>),
    Output(&'m Arc<str>),
    Metadata(&'m Arc<str>),
}

impl ModelEntity<'_> {
    /// The identifier, as elements are named.
    pub(super) fn identifier(self) -> String {
        match self {
            Self::Node(id, _) => format!("node.{id}"),
            Self::Relation(source, name, relation) => {
                relation_identifier(source, name, relation.position)
            }
            Self::Group(name, _) => format!("group.{name}"),
            Self::Policy(name, _) => format!("policy.{name}"),
            Self::Input(name) => format!("input.{name}"),
            Self::Output(name) => format!("output.{name}"),
            Self::Metadata(name) => format!("metadata.{name}"),
        }
    }
}

impl<'m> ModelEntity<'m> {
    /// A property or attribute of the entity, or of a capability of it, for its type.
    pub(super) fn value<'n>(
        self,
        capability: Option<&'n str>,
        name: &'n str,
    ) -> Option<InstanceValue<'n>>
    where
        'm: 'n,
    {
        Some(match self {
            Self::Node(_, NodeInstance { template, type_name, .. }) => {
                InstanceValue::OfNode { template: template.as_deref(), type_name, capability, name }
            }
            Self::Group(_, GroupInstance { template, type_name, .. }) => {
                InstanceValue::OfGroup { template: template.as_deref(), type_name, name }
            }
            _ => return None,
        })
    }
}

/// A place in a model: an entity or a part of one.
#[derive(Clone, Debug)]
pub(super) struct ModelPlace<'m> {
    pub entity: ModelEntity<'m>,
    /// The path in the entity; empty for the entity itself.
    pub path: String,
    /// The name of the place in its parent.
    pub name: &'m str,
    pub what: PlaceContent<'m>,
}

/// The content of a place.
#[derive(Clone, Debug)]
pub(super) enum PlaceContent<'m> {
    /// The entity.
    Entity,
    Values(&'m ByName<Value>),
    Reports(&'m ByName<ReportedValue>, ReportOwner<'m>),
    Capabilities(&'m ByName<CapabilityInstance>),
    Capability(&'m CapabilityInstance),
    Requirements(&'m ByName<Vec<RelationInstance>>),
    Links(&'m ByName<Arc<str>>),
    Value(Value),
    /// A value with the report that it comes from.
    Report(Value, &'m ReportedValue),
}

/// The owner of reported attributes.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReportOwner<'m> {
    /// A node: it also has computed attributes and its properties.
    Node,
    /// Another owner, with its properties.
    Part(&'m ByName<Value>),
}

/// Finds the parts of places.
pub(super) struct PlaceWalk<'m, 'r> {
    pub model: &'m InstanceModel,
    pub reading: &'r ModelReading<'r>,
    pub shown: ShownValues<'r>,
    /// How many invisible attributes were asked for.
    pub hidden: Cell<usize>,
    /// The nodes with those attributes.
    pub hiding: RefCell<FxHashSet<&'m str>>,
}

const NODE_VALUES: [&str; 9] =
    ["id", "type", "template", "state", "index", "generation", "tosca_id", "tosca_name", "note"];
/// The parts whose values have declared types.
const VALUES: [&str; 2] = ["properties", "attributes"];
const PARTS: [&str; 4] = ["properties", "attributes", "capabilities", "requirements"];
/// The parts that any entity may have.
const ANNOTATIONS: [&str; 2] = ["links", "metadata"];
const RELATION_VALUES: [&str; 8] =
    ["id", "name", "capability", "template", "type", "state", "position", "hosting"];
const RELATION_ENDS: [&str; 2] = ["source", "target"];

impl<'m, 'r> PlaceWalk<'m, 'r> {
    pub(super) fn new(model: &'m InstanceModel, reading: &'r ModelReading<'r>) -> Self {
        let shown = ShownValues::of(model, reading.reveal).opened(reading.open);
        Self { model, reading, shown, hidden: Cell::new(0), hiding: RefCell::default() }
    }

    /// Adds all entities of a collection, or the one with this name.
    pub(super) fn entities(
        &self,
        collection: ModelCollection,
        name: Option<&str>,
        out: &mut Vec<ModelPlace<'m>>,
    ) {
        let model = self.model;
        match collection {
            ModelCollection::Nodes => {
                each(&model.nodes, name, |id, node| out.push(node_place(id, node)))
            }
            ModelCollection::Groups => each(&model.groups, name, |id, group| {
                out.push(whole(ModelEntity::Group(id, group), id));
            }),
            ModelCollection::Policies => each(&model.policies, name, |id, policy| {
                out.push(whole(ModelEntity::Policy(id, policy), id));
            }),
            ModelCollection::Relations => {
                let relations = model
                    .relations()
                    .map(|(id, name, relation)| relation_place(id, name, relation));
                out.extend(relations.filter(|relation| {
                    name.is_none_or(|name| relation.entity.identifier() == name)
                }));
            }
            ModelCollection::Inputs => {
                each(&model.inputs, name, |id, value| {
                    out.push(self.entry(ModelEntity::Input(id), id, value))
                });
            }
            ModelCollection::Outputs => {
                each(&model.outputs, name, |id, value| {
                    out.push(self.entry(ModelEntity::Output(id), id, value))
                });
            }
            ModelCollection::Metadata => {
                each(&model.metadata, name, |id, value| {
                    out.push(self.entry(ModelEntity::Metadata(id), id, value))
                });
            }
        }
    }

    /// The names of a collection, for suggestions.
    pub(super) fn names(&self, collection: ModelCollection) -> Vec<String> {
        let mut all = Vec::new();
        self.entities(collection, None, &mut all);
        let relations = collection == ModelCollection::Relations;
        all.into_iter()
            .map(|place| match relations {
                true => place.entity.identifier(),
                false => place.name.to_owned(),
            })
            .collect()
    }

    fn entry(&self, entity: ModelEntity<'m>, name: &'m str, value: &Value) -> ModelPlace<'m> {
        let what = PlaceContent::Value(self.shown.value(value));
        ModelPlace { entity, path: String::new(), name, what }
    }

    /// What the type of the value at a place makes of texts, if that is known.
    pub(super) fn form(&self, place: &ModelPlace<'m>) -> Option<TextType> {
        let forms = self.reading.forms?;
        let steps = segments(&place.path);
        let (of, path) = match (place.entity, &*steps) {
            (ModelEntity::Input(name), path) => (InstanceValue::Input(name), path),
            (entity, [all, capability, part, name, path @ ..])
                if all == "capabilities" && VALUES.contains(&&**part) =>
            {
                (entity.value(Some(&**capability), name)?, path)
            }
            (entity, [part, name, path @ ..]) if VALUES.contains(&&**part) => {
                (entity.value(None, name)?, path)
            }
            _ => return None,
        };
        // A value that has no parts may be asked for by `value`.
        let without_last = || forms(&of, path.split_last().filter(|(last, _)| *last == "value")?.1);
        forms(&of, path).or_else(without_last).map(|form| form.0)
    }

    /// The node of an id; `None` if the node is in another document.
    pub(super) fn node(&self, id: &str) -> Option<ModelPlace<'m>> {
        let (id, node) = self.model.nodes.get_key_value(id)?;
        Some(node_place(id, node))
    }

    /// Adds the part of a place with this name, or all parts.
    pub(super) fn step(
        &self,
        place: &ModelPlace<'m>,
        name: Option<&str>,
        out: &mut Vec<ModelPlace<'m>>,
    ) {
        match &place.what {
            PlaceContent::Entity => match place.entity {
                ModelEntity::Node(id, node) => self.of_node(place, id, node, name, out),
                ModelEntity::Relation(source, own, relation) => {
                    self.of_relation(place, (source, own, relation), name, out);
                }
                ModelEntity::Group(id, group) => self.of_group(place, id, group, name, out),
                ModelEntity::Policy(id, policy) => self.of_policy(place, id, policy, name, out),
                ModelEntity::Input(_) | ModelEntity::Output(_) | ModelEntity::Metadata(_) => {}
            },
            PlaceContent::Value(value) if place.path.is_empty() => {
                let before = out.len();
                parts_of(place, value, None, name, out);
                // The value of an input has precedence over its annotations if both have the name.
                if out.len() == before && name.is_some() {
                    self.annotations(place, name, out);
                }
            }
            PlaceContent::Values(values) => each(values, name, |own, value| {
                out.push(place.with(own, PlaceContent::Value(self.shown.value(value))));
            }),
            PlaceContent::Reports(reports, owner) => {
                self.attributes(place, reports, *owner, name, out)
            }
            PlaceContent::Capabilities(all) => each(all, name, |own, capability| {
                out.push(place.with(own, PlaceContent::Capability(capability)));
            }),
            PlaceContent::Capability(capability) => {
                Self::of_capability(place, capability, name, out)
            }
            PlaceContent::Requirements(all) => each(all, name, |own, relations| {
                let ModelEntity::Node(id, _) = place.entity else { return };
                out.extend(relations.iter().map(|relation| relation_place(id, own, relation)));
            }),
            PlaceContent::Links(links) => each(links, name, |own, uri| {
                out.push(place.with(own, PlaceContent::Value(shared(uri))));
            }),
            PlaceContent::Value(value) => parts_of(place, value, None, name, out),
            PlaceContent::Report(value, report) => parts_of(place, value, Some(report), name, out),
        }
    }

    fn of_node(
        &self,
        place: &ModelPlace<'m>,
        id: &'m Arc<str>,
        node: &'m NodeInstance,
        name: Option<&str>,
        out: &mut Vec<ModelPlace<'m>>,
    ) {
        place.parts(&PARTS, name, out, |part| match part {
            "properties" => PlaceContent::Values(&node.properties),
            "attributes" => PlaceContent::Reports(&node.attributes, ReportOwner::Node),
            "capabilities" => PlaceContent::Capabilities(&node.capabilities),
            _ => PlaceContent::Requirements(&node.requirements),
        });
        self.annotations(place, name, out);
        for &part in NODE_VALUES.iter().filter(|part| name == Some(part)) {
            let value = match part {
                "id" => Some(shared(id)),
                "type" => Some(shared(&node.type_name)),
                "template" => node.template.as_ref().map(shared),
                "state" => Some(node.state.as_str().into()),
                "index" => node.index.map(|index| i64::from(index).into()),
                "generation" => Some(i64::from(node.generation).into()),
                "note" => node.note.as_ref().map(shared),
                made => self.made(id, node, made),
            };
            out.extend(place.value(part, value));
        }
    }

    /// The value of an attribute that every node has.
    fn made(&self, id: &'m Arc<str>, node: &'m NodeInstance, name: &str) -> Option<Value> {
        match name {
            "tosca_id" => Some(self.model.tosca_id(id, node).into()),
            "tosca_name" => Some(shared(node.template.as_ref().unwrap_or(id))),
            "state" => Some(node.state.as_str().into()),
            _ => None,
        }
    }

    /// Adds reported attributes. A property is also an attribute until another value is reported.
    fn attributes(
        &self,
        place: &ModelPlace<'m>,
        reports: &'m ByName<ReportedValue>,
        owner: ReportOwner<'m>,
        name: Option<&str>,
        out: &mut Vec<ModelPlace<'m>>,
    ) {
        let node = match place.entity {
            ModelEntity::Node(id, node) => Some((id, node)),
            _ => None,
        };
        if let (ReportOwner::Node, Some((id, node))) = (owner, node) {
            for &own in chosen(&["state", "tosca_id", "tosca_name"], name) {
                out.extend(place.value(own, self.made(id, node, own)));
            }
            if name.is_some_and(|name| ["state", "tosca_id", "tosca_name"].contains(&name)) {
                return;
            }
        }
        let properties = match (owner, node) {
            (ReportOwner::Part(properties), _) => Some(properties),
            (ReportOwner::Node, node) => node.map(|(_, node)| &node.properties),
        };
        let reflected = |name: &str| properties?.get_key_value(name);
        let hiding = node.filter(|(_, node)| !node.has_attributes() && !self.reading.unstable);
        if let Some((id, _)) = hiding {
            let has_some = match name {
                Some(name) => reports.contains_key(name) || reflected(name).is_some(),
                None => !reports.is_empty(),
            };
            if has_some {
                self.hidden.set(self.hidden.get() + 1);
                self.hiding.borrow_mut().insert(id);
            }
            return;
        }
        let before = out.len();
        each(reports, name, |own, report| {
            out.push(
                place.with(own, PlaceContent::Report(self.shown.value(&report.value), report)),
            );
        });
        if let Some((own, value)) = name.filter(|_| out.len() == before).and_then(reflected) {
            out.push(place.with(own, PlaceContent::Value(self.shown.value(value))));
        }
    }

    fn of_capability(
        place: &ModelPlace<'m>,
        capability: &'m CapabilityInstance,
        name: Option<&str>,
        out: &mut Vec<ModelPlace<'m>>,
    ) {
        let owner = ReportOwner::Part(&capability.properties);
        place.parts(&["properties", "attributes"], name, out, |part| match part {
            "properties" => PlaceContent::Values(&capability.properties),
            _ => PlaceContent::Reports(&capability.attributes, owner),
        });
        match name {
            Some("type") => out.extend(place.value("type", Some(shared(&capability.type_name)))),
            Some("name") => out.extend(place.value("name", Some(place.name.into()))),
            _ => {}
        }
    }

    fn of_relation(
        &self,
        place: &ModelPlace<'m>,
        (source, own, relation): (&'m Arc<str>, &'m Arc<str>, &'m RelationInstance),
        name: Option<&str>,
        out: &mut Vec<ModelPlace<'m>>,
    ) {
        for &part in RELATION_ENDS.iter().filter(|part| name == Some(part)) {
            let id = if part == "source" { Some(source) } else { relation.target.as_ref() };
            let foreign = |id| place.with(part, PlaceContent::Value(shared(id)));
            out.extend(id.map(|id| self.node(id).unwrap_or_else(|| foreign(id))));
        }
        for &part in chosen(&RELATION_VALUES, name) {
            let value = match part {
                "id" => Some(place.entity.identifier().into()),
                "name" => Some(shared(own)),
                "capability" => relation.capability.as_ref().map(shared),
                "template" => relation.template.as_ref().map(shared),
                "type" => relation.relationship.as_ref().map(shared),
                "state" => Some(relation.state.as_str().into()),
                "position" => Some(i64::from(relation.position).into()),
                _ => Some(relation.hosting.into()),
            };
            out.extend(place.value(part, value));
        }
        self.annotations(place, name, out);
    }

    /// Adds the links and metadata of an entity.
    fn annotations(
        &self,
        place: &ModelPlace<'m>,
        name: Option<&str>,
        out: &mut Vec<ModelPlace<'m>>,
    ) {
        if name.is_some_and(|name| !ANNOTATIONS.contains(&name)) {
            return;
        }
        let (links, metadata) = match place.entity {
            ModelEntity::Node(_, it) => (&it.links, &it.metadata),
            ModelEntity::Relation(.., it) => (&it.links, &it.metadata),
            ModelEntity::Group(_, it) => (&it.links, &it.metadata),
            ModelEntity::Policy(_, it) => (&it.links, &it.metadata),
            ModelEntity::Input(_) | ModelEntity::Output(_) | ModelEntity::Metadata(_) => {
                match self.model.annotations(&place.entity.identifier()) {
                    Some(said) => said,
                    None => return,
                }
            }
        };
        place.parts(&ANNOTATIONS, name, out, |part| match part {
            "links" => PlaceContent::Links(links),
            _ => PlaceContent::Values(metadata),
        });
    }

    fn of_group(
        &self,
        place: &ModelPlace<'m>,
        id: &'m Arc<str>,
        group: &'m GroupInstance,
        name: Option<&str>,
        out: &mut Vec<ModelPlace<'m>>,
    ) {
        if name.is_none_or(|name| name == "members") {
            self.named(place, "members", &group.members, out);
        }
        let owner = ReportOwner::Part(&group.properties);
        place.parts(&PARTS, name, out, |part| match part {
            "properties" => PlaceContent::Values(&group.properties),
            "attributes" => PlaceContent::Reports(&group.attributes, owner),
            "capabilities" => PlaceContent::Values(&group.capabilities),
            _ => PlaceContent::Values(&group.requirements),
        });
        self.annotations(place, name, out);
        described(place, id, &group.type_name, group.template.as_ref(), name, out);
    }

    fn of_policy(
        &self,
        place: &ModelPlace<'m>,
        id: &'m Arc<str>,
        policy: &'m PolicyInstance,
        name: Option<&str>,
        out: &mut Vec<ModelPlace<'m>>,
    ) {
        for &part in chosen(&["targets", "properties"], name) {
            match part {
                "targets" => self.named(place, part, &policy.targets, out),
                _ => out.push(place.with(part, PlaceContent::Values(&policy.properties))),
            }
        }
        self.annotations(place, name, out);
        described(place, id, &policy.type_name, policy.template.as_ref(), name, out);
    }

    /// Adds the nodes and groups of these names; for one in another document only its name.
    fn named(
        &self,
        place: &ModelPlace<'m>,
        part: &'static str,
        names: &'m [Arc<str>],
        out: &mut Vec<ModelPlace<'m>>,
    ) {
        for name in names {
            let group = || {
                let (id, group) = self.model.groups.get_key_value(name)?;
                Some(whole(ModelEntity::Group(id, group), id))
            };
            let foreign = || place.with(part, PlaceContent::Value(shared(name)));
            out.push(self.node(name).or_else(group).unwrap_or_else(foreign));
        }
    }
}

impl<'m> ModelPlace<'m> {
    /// A part of the place.
    fn with(&self, name: &'m str, what: PlaceContent<'m>) -> Self {
        Self { entity: self.entity, path: self.below(name), name, what }
    }

    /// The place of a value in this one, if there is a value.
    fn value(&self, name: &'m str, value: Option<Value>) -> Option<Self> {
        Some(self.with(name, PlaceContent::Value(value?)))
    }

    /// Adds the places of all parts, or of the one with this name.
    fn parts(
        &self,
        names: &[&'static str],
        name: Option<&str>,
        out: &mut Vec<Self>,
        content: impl Fn(&str) -> PlaceContent<'m>,
    ) {
        out.extend(chosen(names, name).map(|part| self.with(part, content(part))));
    }

    /// The path of the part with this name.
    fn below(&self, name: &str) -> String {
        let mut path = String::with_capacity(self.path.len() + name.len() + 1);
        path.push_str(&self.path);
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(&segment(name));
        path
    }

    /// Whether the place is a collection of other places.
    pub(super) fn is_collection(&self) -> bool {
        !matches!(
            self.what,
            PlaceContent::Entity
                | PlaceContent::Capability(_)
                | PlaceContent::Value(_)
                | PlaceContent::Report(..)
        )
    }
}

/// A name as it is written in a path.
pub(super) fn segment(name: &str) -> std::borrow::Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.@:$#".contains(c);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.into(),
        false => format!("'{}'", name.replace('\'', "''")).into(),
    }
}

/// The names in a path, as [`segment`] writes them.
fn segments(path: &str) -> Vec<String> {
    let (mut all, mut own, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut chars = path.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // A quote in a quoted name is written twice.
            '\'' if is_quoted && chars.next_if_eq(&'\'').is_some() => own.push(c),
            '\'' => is_quoted = !is_quoted,
            '/' if !is_quoted => all.push(std::mem::take(&mut own)),
            _ => own.push(c),
        }
    }
    if !path.is_empty() {
        all.push(own);
    }
    all
}

pub(super) fn whole<'m>(entity: ModelEntity<'m>, name: &'m str) -> ModelPlace<'m> {
    ModelPlace { entity, path: String::new(), name, what: PlaceContent::Entity }
}

fn node_place<'m>(id: &'m Arc<str>, node: &'m NodeInstance) -> ModelPlace<'m> {
    whole(ModelEntity::Node(id, node), id)
}

pub(super) fn relation_place<'m>(
    source: &'m Arc<str>,
    name: &'m Arc<str>,
    relation: &'m RelationInstance,
) -> ModelPlace<'m> {
    whole(ModelEntity::Relation(source, name, relation), name)
}

fn shared(text: &Arc<str>) -> Value {
    Value::String(Arc::clone(text))
}

/// Calls `found` for each entry of a map, or for the one with this name.
fn each<'m, T>(map: &'m ByName<T>, name: Option<&str>, mut found: impl FnMut(&'m Arc<str>, &'m T)) {
    match name {
        Some(name) => {
            if let Some((own, value)) = map.get_key_value(name) {
                found(own, value);
            }
        }
        None => map.iter().for_each(|(own, value)| found(own, value)),
    }
}

/// The names, or only the requested one.
fn chosen<'n>(
    names: &'n [&'static str],
    name: Option<&str>,
) -> impl Iterator<Item = &'n &'static str> {
    names.iter().filter(move |own| name.is_none_or(|name| **own == name))
}

/// Adds the parts that groups and policies have in common.
fn described<'m>(
    place: &ModelPlace<'m>,
    id: &Arc<str>,
    type_name: &Arc<str>,
    template: Option<&Arc<str>>,
    name: Option<&str>,
    out: &mut Vec<ModelPlace<'m>>,
) {
    let (own, value) = match name {
        Some("id" | "name") => ("id", Some(id)),
        Some("type") => ("type", Some(type_name)),
        Some("template") => ("template", template),
        _ => return,
    };
    out.extend(place.value(own, value.map(shared)));
}

/// Adds the parts of a value: entries by name, items by position.
fn parts_of<'m>(
    place: &ModelPlace<'m>,
    value: &Value,
    report: Option<&&'m ReportedValue>,
    name: Option<&str>,
    out: &mut Vec<ModelPlace<'m>>,
) {
    let mut push = |own: &str, value: &Value| {
        let what = match report {
            Some(report) => PlaceContent::Report(value.clone(), report),
            None => PlaceContent::Value(value.clone()),
        };
        let path = place.below(own);
        out.push(ModelPlace { path, name: place.name, entity: place.entity, what });
    };
    match value {
        Value::List(items) => match name {
            Some(name) => {
                let item = name.parse::<usize>().ok().and_then(|at| items.get(at));
                item.into_iter().for_each(|item| push(name, item));
            }
            None => items.iter().enumerate().for_each(|(at, item)| push(&at.to_string(), item)),
        },
        Value::Map(entries) => {
            let named = entries.iter().filter(|(own, _)| name.is_none_or(|name| **own == *name));
            named.for_each(|(own, value)| push(own, value));
        }
        _ if name.is_none() || name == Some("value") => push("value", value),
        _ => {}
    }
}
