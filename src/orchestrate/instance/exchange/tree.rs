//! Writes a model as an object tree.

use super::facts::ModelFacts;
use super::reference::{REFERENCE, TOSCA_REFERENCE, is_foreign, local, template};
use super::{FACTS, ModelExport, VERSION, VERSION_KEY};
use crate::orchestrate::instance::model::{
    ByName, CapabilityInstance, GroupInstance, InstanceModel, NodeInstance, PolicyInstance,
    RelationInstance, ReportedValue,
};
use crate::orchestrate::instance::shown::ShownValues;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Out, OutKey};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The whole tree.
pub(super) fn tree(model: &InstanceModel, how: ModelExport) -> Out<'_> {
    let tree = ModelTree { model, how, shown: ShownValues::of(model, how.reveal).marked() };
    let mut root = OutMap::default();
    root.put("metadata", tree.metadata());
    root.put("nodes", map(model.nodes.iter().map(|(id, node)| (id, tree.node(id, node)))));
    root.some("groups", map(model.groups.iter().map(|(name, group)| (name, tree.group(group)))));
    root.some("policies", map(model.policies.iter().map(|(name, it)| (name, tree.policy(it)))));
    root.some("inputs", tree.values(&model.inputs));
    root.some("outputs", tree.values(&model.outputs));
    root.out()
}

/// The tree of the dump in section 5.7.
pub(super) fn bindings(model: &InstanceModel, how: ModelExport) -> Out<'_> {
    let tree = ModelTree { model, how, shown: ShownValues::of(model, how.reveal).marked() };
    let mut root = OutMap::default();
    root.put(VERSION_KEY, text(VERSION));
    root.put("template", text(&model.target.template));
    root.put("input_bindings", tree.values(&model.inputs));
    let nodes = hosts_first(model);
    root.put("node_instances", map(nodes.into_iter().map(|(id, node)| (id, tree.node(id, node)))));
    root.out()
}

/// The nodes, each after its hosts. In a circle, the order is that in which the search meets them.
fn hosts_first(model: &InstanceModel) -> Vec<(&Arc<str>, &NodeInstance)> {
    let mut seen = FxHashSet::default();
    let mut ordered = Vec::with_capacity(model.nodes.len());
    for id in model.nodes.keys() {
        let mut way = vec![(id, false)];
        while let Some((id, is_behind)) = way.pop() {
            let Some((id, node)) = model.nodes.get_key_value(id) else { continue };
            if is_behind {
                ordered.push((id, node));
            } else if seen.insert(id) {
                way.push((id, true));
                let hosting = node.requirements.values().flatten().filter(|one| one.hosting);
                let hosts: Vec<_> = hosting.filter_map(|one| one.target.as_ref()).collect();
                way.extend(hosts.into_iter().rev().map(|host| (host, false)));
            }
        }
    }
    ordered
}

struct ModelTree<'m> {
    model: &'m InstanceModel,
    how: ModelExport,
    shown: ShownValues<'static>,
}

/// A map that is being written.
#[derive(Default)]
struct OutMap<'m>(Vec<(OutKey<'m>, Out<'m>)>);

impl<'m> OutMap<'m> {
    fn put(&mut self, key: &'m str, value: Out<'m>) {
        self.0.push((OutKey::New(key.into()), value));
    }

    /// Adds an entry, unless its value is empty.
    fn some(&mut self, key: &'m str, value: Out<'m>) {
        let is_empty = match &value {
            Out::Map { entries, .. } => entries.is_empty(),
            Out::Seq { items, .. } => items.is_empty(),
            _ => false,
        };
        if !is_empty {
            self.put(key, value);
        }
    }

    fn out(self) -> Out<'m> {
        Out::Map { entries: self.0.into(), like: None }
    }
}

fn map<'m>(entries: impl Iterator<Item = (&'m Arc<str>, Out<'m>)>) -> Out<'m> {
    let entries = entries.map(|(name, value)| (OutKey::New((&**name).into()), value));
    Out::Map { entries: entries.collect(), like: None }
}

fn list<'m>(items: impl Iterator<Item = Out<'m>>) -> Out<'m> {
    Out::Seq { items: items.map(|item| (None, item)).collect(), like: None }
}

fn single<'m>(key: &'static str, value: impl Into<std::borrow::Cow<'m, str>>) -> Out<'m> {
    let mut map = OutMap::default();
    map.put(key, Out::String(value.into()));
    map.out()
}

fn text(text: &str) -> Out<'_> {
    Out::String(text.into())
}

fn number<'m>(number: u64) -> Out<'m> {
    // Nobody writes more records than an `i64` counts.
    Out::Value(Value::from(i64::try_from(number).unwrap_or(i64::MAX)))
}

/// The value that serde makes of the data.
fn plain<T: serde::Serialize>(data: &T) -> Value {
    // Strings, numbers, lists and maps with string keys can always be written.
    let json = serde_json::to_value(data).unwrap_or_default();
    serde::Deserialize::deserialize(json).unwrap_or(Value::Null)
}

impl<'m> ModelTree<'m> {
    fn metadata(&self) -> Out<'m> {
        let mut map = OutMap::default();
        map.put(VERSION_KEY, text(VERSION));
        map.put(FACTS, Out::Value(self.shown.value(&plain(&ModelFacts::of(self.model)))));
        self.free_metadata(&mut map, &self.model.metadata);
        map.out()
    }

    /// Adds the metadata of others, except under names that this program uses.
    fn free_metadata(&self, map: &mut OutMap<'m>, metadata: &'m ByName<Value>) {
        let is_free = |name: &str| {
            map.0.iter().all(|(key, _)| !matches!(key, OutKey::New(key) if key == name))
        };
        let free: Vec<_> = metadata.iter().filter(|(name, _)| is_free(name)).collect();
        for (name, value) in free {
            map.put(name, self.value(value));
        }
    }

    fn value(&self, value: &Value) -> Out<'m> {
        Out::Value(self.shown.value(value))
    }

    fn values(&self, values: &'m ByName<Value>) -> Out<'m> {
        map(values.iter().map(|(name, value)| (name, self.value(value))))
    }

    fn reported(&self, values: &'m ByName<ReportedValue>) -> Out<'m> {
        map(values.iter().map(|(name, said)| (name, self.value(&said.value))))
    }

    fn node(&self, id: &'m str, node: &'m NodeInstance) -> Out<'m> {
        let shows_attributes = node.has_attributes() || self.how.unstable;
        let mut map = OutMap::default();
        self.origin(
            &mut map,
            EntityOrigin {
                template: node.template.as_deref(),
                type_name: &node.type_name,
                target: node.target.as_deref(),
                section: "node_templates",
                types: "$dsl-node-types",
            },
        );
        map.some("properties", self.values(&node.properties));
        map.put("attributes", self.attributes(id, node, shows_attributes));
        let capabilities = node.capabilities.iter();
        let capabilities =
            capabilities.map(|(name, it)| (name, self.capability(it, shows_attributes)));
        map.some("capabilities", self::map(capabilities));
        let target = node.target.as_deref();
        let requirements = node.requirements.iter();
        map.some(
            "requirements",
            self::map(requirements.map(|(name, it)| (name, self.requirement(it, target)))),
        );
        map.some("links", links(&node.links));
        let facts = self.node_facts(node, shows_attributes);
        self.own_metadata(&mut map, facts, Some(&node.metadata));
        map.out()
    }

    /// The facts about a node that only this program knows.
    fn node_facts(&self, node: &'m NodeInstance, shows_attributes: bool) -> OutMap<'m> {
        let mut facts = OutMap::default();
        if node.template.is_some() {
            facts.put("type", text(&node.type_name));
        }
        if let Some(index) = node.index {
            facts.put("index", number(index.into()));
        }
        if node.generation > 1 {
            facts.put("generation", number(node.generation.into()));
        }
        if let Some(target) = &node.target {
            facts.put("target", text(target));
        }
        if let Some(state) = &node.failed_in {
            facts.put("failed_in", text(state.as_str()));
        }
        facts.some("edited", list(node.edited.iter().map(|name| text(name))));
        if let Some(note) = &node.note {
            facts.put("note", text(note));
        }
        if shows_attributes {
            facts.some("reported", ages(&node.attributes));
            if !node.has_attributes() {
                facts.put("unstable", Out::Value(Value::from(true)));
            }
        }
        facts
    }

    fn own_metadata(
        &self,
        map: &mut OutMap<'m>,
        facts: OutMap<'m>,
        free: Option<&'m ByName<Value>>,
    ) {
        let mut metadata = OutMap::default();
        metadata.some(FACTS, facts.out());
        if let Some(free) = free {
            self.free_metadata(&mut metadata, free);
        }
        map.some("metadata", metadata.out());
    }

    /// The attributes of a node: those that every node has (section 5.9.1 of TOSCA Simple Profile
    /// 1.3), and reported ones.
    fn attributes(&self, id: &'m str, node: &'m NodeInstance, shows_reported: bool) -> Out<'m> {
        let mut map = OutMap::default();
        map.put("tosca_id", Out::String(self.model.tosca_id(id, node).into()));
        map.put("tosca_name", text(node.template.as_deref().unwrap_or(id)));
        map.put("state", text(node.state.as_str()));
        let reported = shows_reported.then_some(&node.attributes).into_iter().flatten();
        // The state of the node takes precedence over a reported attribute of that name.
        let reported: Vec<_> = reported.filter(|(name, _)| !is_made(name)).collect();
        for (name, said) in reported {
            map.put(name, self.value(&said.value));
        }
        map.out()
    }

    fn capability(&self, capability: &'m CapabilityInstance, shows_attributes: bool) -> Out<'m> {
        let mut map = OutMap::default();
        if !capability.type_name.is_empty() {
            map.put("type", single("$dsl-capability-types", &*capability.type_name));
        }
        map.some("properties", self.values(&capability.properties));
        if shows_attributes {
            map.some("attributes", self.reported(&capability.attributes));
            let mut facts = OutMap::default();
            facts.some("reported", ages(&capability.attributes));
            self.own_metadata(&mut map, facts, None);
        }
        map.out()
    }

    fn requirement(&self, relations: &'m [RelationInstance], of: Option<&'m str>) -> Out<'m> {
        let mut map = OutMap::default();
        let targets = relations.iter().filter_map(|relation| relation.target.as_deref());
        map.put("targets", list(targets.map(|target| self.reference(target))));
        map.some("relations", list(relations.iter().map(|relation| self.relation(relation, of))));
        map.out()
    }

    /// A relation. Its template belongs to `target`, the target of its source node.
    fn relation(&self, relation: &'m RelationInstance, target: Option<&'m str>) -> Out<'m> {
        let mut map = OutMap::default();
        map.put("position", number(relation.position.into()));
        if let Some(target) = &relation.target {
            map.put("target", self.reference(target));
        }
        if let Some(capability) = &relation.capability {
            map.put("capability", text(capability));
        }
        if let Some(name) = &relation.template {
            map.put("template", self.template(name, "relationship_templates", target));
        }
        if let Some(relationship) = &relation.relationship {
            map.put("relationship", text(relationship));
        }
        if relation.hosting {
            map.put("hosting", Out::Value(Value::from(true)));
        }
        map.put("state", text(relation.state.as_str()));
        map.some("links", links(&relation.links));
        self.own_metadata(&mut map, OutMap::default(), Some(&relation.metadata));
        map.out()
    }

    /// A reference to the node or group of an id, or to an entity in another document.
    fn reference(&self, id: &'m str) -> Out<'m> {
        if self.model.nodes.contains_key(id) {
            single(REFERENCE, local("nodes", id))
        } else if self.model.groups.contains_key(id) {
            single(REFERENCE, local("groups", id))
        } else if is_foreign(id) {
            single(REFERENCE, id)
        } else {
            single(REFERENCE, local("nodes", id))
        }
    }

    fn group(&self, group: &'m GroupInstance) -> Out<'m> {
        let mut map = OutMap::default();
        self.origin(
            &mut map,
            EntityOrigin {
                template: group.template.as_deref(),
                type_name: &group.type_name,
                target: None,
                section: "groups",
                types: "$dsl-group-types",
            },
        );
        map.put("members", list(group.members.iter().map(|member| self.reference(member))));
        map.some("properties", self.values(&group.properties));
        map.some("attributes", self.reported(&group.attributes));
        map.some("capabilities", self.values(&group.capabilities));
        map.some("requirements", self.values(&group.requirements));
        let mut facts = OutMap::default();
        if group.template.is_some() {
            facts.put("type", text(&group.type_name));
        }
        facts.some("reported", ages(&group.attributes));
        map.some("links", links(&group.links));
        self.own_metadata(&mut map, facts, Some(&group.metadata));
        map.out()
    }

    fn policy(&self, policy: &'m PolicyInstance) -> Out<'m> {
        let mut map = OutMap::default();
        self.origin(
            &mut map,
            EntityOrigin {
                template: policy.template.as_deref(),
                type_name: &policy.type_name,
                target: None,
                section: "policies",
                types: "$dsl-policy-types",
            },
        );
        map.put("targets", list(policy.targets.iter().map(|target| self.reference(target))));
        map.some("properties", self.values(&policy.properties));
        let mut facts = OutMap::default();
        if policy.template.is_some() {
            facts.put("type", text(&policy.type_name));
        }
        map.some("links", links(&policy.links));
        self.own_metadata(&mut map, facts, Some(&policy.metadata));
        map.out()
    }

    /// Adds the template that an entity was made from, or else its type.
    fn origin(&self, map: &mut OutMap<'m>, origin: EntityOrigin<'m>) {
        match origin.template {
            Some(name) => map.put("template", self.template(name, origin.section, origin.target)),
            None => map.put("type", single(origin.types, origin.type_name)),
        }
    }

    /// A place in a target: the present one, unless `target` names another one.
    fn template(&self, name: &'m str, section: &str, target: Option<&str>) -> Out<'m> {
        // Names in other documents are kept as they are.
        if is_foreign(name) {
            return single(TOSCA_REFERENCE, name);
        }
        let own = &self.model.target;
        single(TOSCA_REFERENCE, template(own, target.unwrap_or(&own.template), section, name))
    }
}

/// The origin of an entity.
struct EntityOrigin<'m> {
    template: Option<&'m str>,
    type_name: &'m str,
    /// The digest of the target, if that is not the present one.
    target: Option<&'m str>,
    section: &'static str,
    types: &'static str,
}

fn links(links: &ByName<Arc<str>>) -> Out<'_> {
    map(links.iter().map(|(name, uri)| (name, text(uri))))
}

/// Whether an attribute is one that the model computes itself.
fn is_made(attribute: &str) -> bool {
    ["tosca_id", "tosca_name", "state"].contains(&attribute)
}

/// The report of each attribute.
fn ages(attributes: &ByName<ReportedValue>) -> Out<'_> {
    map(attributes.iter().map(|(name, said)| {
        let mut age = OutMap::default();
        age.put("revision", number(said.revision));
        age.put("time", text(&said.time));
        (name, age.out())
    }))
}
