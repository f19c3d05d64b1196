//! Writes the template of exactly one instance: counts are expanded, and values are those of the
//! model.
//!
//! Plans are made from templates, so a model is written as one. The template contains whatever the
//! model has otherwise than its target.

use super::derive::InstanceCounts;
use super::model::{ByName, InstanceModel, InstanceState, NodeInstance, RelationInstance};
use crate::orchestrate::tree::{
    MapEntries, entries, items, key_name, like, rebuilt, set, within_topology,
};
use crate::topology::named::NamedParts;
use crate::topology::{NodeIndex, RelationIndex, Topology};
use crate::tosca::meant;
use crate::tosca::v2_0;
use cuvee_text::value::{Number, Value};
use cuvee_text::yaml::{Out, OutKey, OutNode};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;

/// The document with every counted node repeated: `site@0`, `site@1`. A name of such a node becomes
/// the names of all of them. Relations are the exception: each takes a single node if it hosts or
/// if its requirement takes a single one.
pub(crate) fn expanded<'a>(
    document: &Out<'a>,
    topology: &Topology,
    counts: &InstanceCounts,
) -> Out<'a> {
    if counts.is_empty() {
        return document.clone();
    }
    let expansion = Expansion { topology, named: NamedParts::of(topology), counts };
    within_topology(document, &mut |section, value| match section {
        "node_templates" => expansion.nodes(value),
        "groups" => expansion.named(value, "members"),
        "policies" => expansion.named(value, "targets"),
        _ => value.clone(),
    })
}

struct Expansion<'e> {
    topology: &'e Topology,
    named: NamedParts<'e>,
    counts: &'e InstanceCounts,
}

impl Expansion<'_> {
    fn nodes<'a>(&self, templates: &Out<'a>) -> Out<'a> {
        let mut all = Vec::new();
        for (key, template) in entries(templates) {
            let name = key_name(&key).into_owned();
            let Some(&id) = self.named.nodes.get(&*name) else { continue };
            let ids = self.counts.ids(id, &name);
            for (index, node) in ids.iter().enumerate() {
                let counted = self.counts.is_counted(id).then_some(index);
                let body = self.node(&template, id, counted);
                let key = if **node == *name {
                    key.clone()
                } else {
                    OutKey::New(node.to_string().into())
                };
                all.push((key, body));
            }
        }
        like(templates, all)
    }

    /// The template of one node, which may be one of several of the same template.
    fn node<'a>(&self, template: &Out<'a>, id: NodeIndex, index: Option<usize>) -> Out<'a> {
        let mut all = Vec::new();
        for (key, value) in entries(template) {
            let value = match (&*key_name(&key), index) {
                ("instance_count" | "occurrences", Some(_)) => continue,
                ("requirements", _) => self.requirements(&value, id, index.unwrap_or(0)),
                ("properties" | "attributes" | "capabilities" | "interfaces", Some(index)) => {
                    self.counts.indexed(&value, index)
                }
                _ => value,
            };
            all.push((key, value));
        }
        like(template, all)
    }

    fn requirements<'a>(&self, list: &Out<'a>, source: NodeIndex, index: usize) -> Out<'a> {
        let relations = &self.topology.node(source).relations;
        let counted = |relation: RelationIndex| {
            let target = self.topology.relation(relation).target;
            target.filter(|target| self.counts.is_counted(*target))
        };
        if !relations.iter().any(|&relation| counted(relation).is_some()) {
            return list.clone();
        }
        let mut all = Vec::new();
        for (item, &relation) in items(list).into_iter().zip(relations) {
            let Some(target) = counted(relation) else {
                all.push((None, item));
                continue;
            };
            let ids = self.counts.ids(target, &self.topology.node(target).name);
            let taken = match self.counts.leads_to_each(relation) {
                true => Some(&*ids),
                false => ids.get(index % ids.len().max(1)..).and_then(|ids| ids.get(..1)),
            };
            for id in taken.into_iter().flatten() {
                all.push((None, retargeted(&item, id)));
            }
        }
        Out::Seq { items: all.into(), like: None }
    }

    /// Expands the lists of node names under a key of each entry of a map.
    fn named<'a>(&self, map: &Out<'a>, keyname: &str) -> Out<'a> {
        each_entry(map, &mut |entry| self.lists(entry, keyname))
    }

    fn lists<'a>(&self, entry: &Out<'a>, keyname: &str) -> Out<'a> {
        let mut all = entries(entry);
        for (key, value) in &mut all {
            if key_name(key) == keyname {
                *value = self.names(value);
            }
        }
        like(entry, all)
    }

    fn names<'a>(&self, list: &Out<'a>) -> Out<'a> {
        let mut all = Vec::new();
        for item in items(list) {
            let name = OutNode::root(&item).text().map(|name| name.into_owned());
            let node = name.as_deref().and_then(|name| self.named.nodes.get(name).copied());
            match (node, name) {
                (Some(node), Some(name)) if self.counts.is_counted(node) => {
                    let ids = self.counts.ids(node, &name);
                    all.extend(ids.iter().map(|id| (None, Out::String(id.to_string().into()))));
                }
                _ => all.push((None, item)),
            }
        }
        Out::Seq { items: all.into(), like: None }
    }
}

/// Writes a model over its target: the target's document with the model's values.
pub(crate) struct Overlay<'o, 'a> {
    pub(crate) model: &'o InstanceModel,
    /// Whether the document contains nodes that are `initial`. A target contains them; the start of
    /// a plan does not.
    pub(crate) with_initial: bool,
    /// Whether values are those of the model. Otherwise they are the document's own, with functions
    /// unevaluated.
    pub(crate) with_values: bool,
    /// The templates of other targets, by digest. They define the nodes that the present target
    /// does not.
    pub(crate) others: &'o FxHashMap<Arc<str>, NamedTemplates<'a>>,
}

/// What of a target's document decides how a model is written over it.
struct OverlaidTarget {
    /// The names of its relationship templates, and of those of others that are added.
    relationships: FxHashSet<String>,
    is_2_0: bool,
}

impl OverlaidTarget {
    /// A value of the model; nothing if the document has the same one.
    fn changed<'a>(&self, old: Option<OutNode<'_, '_>>, said: &Value) -> Option<Out<'a>> {
        let old = old.map(OutNode::to_value);
        let old = old.map(|old| if self.is_2_0 { meant::value(old) } else { old });
        let new = || if self.is_2_0 { meant::written(said.clone()) } else { said.clone() };
        (old.as_ref() != Some(said)).then(|| Out::Value(new()))
    }

    /// Assignments with the model's values; unchanged ones keep their source text.
    fn values<'a>(&self, old: Option<&Out<'a>>, model: &ByName<Value>) -> Option<Out<'a>> {
        let mut all = Vec::new();
        let mut known = FxHashSet::default();
        for (key, value) in old.map(entries).unwrap_or_default() {
            let name = key_name(&key).into_owned();
            if let Some(said) = model.get(&*name) {
                let changed = self.changed(Some(OutNode::root(&value)), said);
                all.push((key, changed.unwrap_or(value)));
                known.insert(name);
            }
        }
        for (name, said) in model.iter().filter(|(name, _)| !known.contains(&***name)) {
            let key = OutKey::New(name.to_string().into());
            all.extend(self.changed(None, said).map(|value| (key, value)));
        }
        (!all.is_empty()).then(|| rebuilt(old, all))
    }

    /// Sets the values of a template to those of a node.
    fn set_values(&self, all: &mut MapEntries<'_>, node: &NodeInstance) {
        set(all, "properties", |old| self.values(old, &node.properties));
        let with_values: Vec<_> = node
            .capabilities
            .iter()
            .filter(|(_, capability)| !capability.properties.is_empty())
            .collect();
        set(all, "capabilities", |old| {
            let mut capabilities = old.map(entries).unwrap_or_default();
            for (name, capability) in with_values {
                set(&mut capabilities, name, |old| {
                    let mut body = old.map(entries).unwrap_or_default();
                    set(&mut body, "properties", |old| self.values(old, &capability.properties));
                    Some(rebuilt(old, body))
                });
            }
            Some(rebuilt(old, capabilities)).filter(|out| !entries(out).is_empty())
        });
    }
}

/// The templates of a target, by name.
pub(crate) struct NamedTemplates<'a> {
    nodes: FxHashMap<String, Out<'a>>,
    relationships: FxHashMap<String, Out<'a>>,
}

impl<'a> NamedTemplates<'a> {
    pub(crate) fn of(document: &Out<'a>) -> Self {
        let named = |out: &Out<'a>| -> FxHashMap<String, Out<'a>> {
            entries(out)
                .into_iter()
                .map(|(key, value)| (key_name(&key).into_owned(), value))
                .collect()
        };
        let mut sections = named(document).get("topology_template").map(named).unwrap_or_default();
        let mut section = |name| sections.remove(name).as_ref().map(named).unwrap_or_default();
        let nodes = section("node_templates");
        Self { nodes, relationships: section("relationship_templates") }
    }
}

impl<'a> Overlay<'_, 'a> {
    /// The document of the present target, with the nodes and values of the model.
    pub(crate) fn document(&self, target: &Out<'a>) -> Out<'a> {
        let mut over = OverlaidTarget {
            relationships: relationship_templates(target),
            is_2_0: v2_0::is_said_in(OutNode::root(target)),
        };
        let templates = self.templates_of_others(&mut over.relationships);
        let mut all = entries(target);
        set(&mut all, "topology_template", |topology| {
            let mut sections = topology.map(entries).unwrap_or_default();
            set(&mut sections, "inputs", |inputs| inputs.map(|inputs| self.inputs(inputs, &over)));
            set(&mut sections, "node_templates", |old| {
                let none = Out::Map { entries: Default::default(), like: None };
                let nodes = self.nodes(old.unwrap_or(&none), &over);
                (old.is_some() || !entries(&nodes).is_empty()).then_some(nodes)
            });
            if self.with_values {
                self.take_versions(&mut sections, &over);
            }
            set(&mut sections, "relationship_templates", |old| match templates.is_empty() {
                true => old.cloned(),
                false => {
                    let known = old.map(entries).unwrap_or_default();
                    Some(rebuilt(old, known.into_iter().chain(templates).collect()))
                }
            });
            (topology.is_some() || !sections.is_empty()).then(|| rebuilt(topology, sections))
        });
        like(target, all)
    }

    /// Gives outputs, groups and policies their versions as the model has them: as texts. Their other
    /// values stay those of the target, with which the model is compared.
    fn take_versions(&self, sections: &mut MapEntries<'a>, over: &OverlaidTarget) {
        let model = self.model;
        let version = |old: &Out<'a>, said: Option<&Value>| {
            let value = OutNode::root(old).to_value();
            let is_same = |said: &&Value| **said != value && said.to_string() == value.to_string();
            over.changed(None, said.filter(is_same)?)
        };
        let below = |body: &Out<'a>, keyname: &str, said: &ByName<Value>| {
            changed_entries(body, &|name, all| {
                let of_name = |name: &str, old: &Out<'a>| version(old, said.get(name));
                (name == keyname).then(|| changed_entries(all, &of_name))?
            })
        };
        let output = |name: &str, body: &Out<'a>| {
            let said = model.outputs.get(name);
            changed_entries(body, &|key, old| (key == "value").then(|| version(old, said))?)
        };
        let group = |name: &str, body: &Out<'a>| {
            below(body, "properties", &model.groups.get(name)?.properties)
        };
        let policy = |name: &str, body: &Out<'a>| {
            below(body, "properties", &model.policies.get(name)?.properties)
        };
        let of: [(&str, &ChangeEntry<'_, 'a>); 3] =
            [("outputs", &output), ("groups", &group), ("policies", &policy)];
        for (section, change) in of {
            set(sections, section, |old| {
                Some(changed_entries(old?, change).unwrap_or(old?.clone()))
            });
        }
    }

    /// The relationship templates of other targets that relations of the model were made from, and
    /// that the present target does not have. `names` are those of the present target, and of the
    /// result afterwards.
    fn templates_of_others(&self, names: &mut FxHashSet<String>) -> MapEntries<'a> {
        let mut all = Vec::new();
        for node in self.model.nodes.values() {
            let other = node.target.as_ref().and_then(|digest| self.others.get(digest));
            let Some(other) = other else { continue };
            let relations = node.requirements.values().flatten();
            for name in relations.filter_map(|relation| relation.template.as_deref()) {
                if let Some(template) = other.relationships.get(name)
                    && names.insert(name.to_owned())
                {
                    all.push((OutKey::New(name.to_owned().into()), template.clone()));
                }
            }
        }
        all
    }

    /// The node templates for the nodes of the model.
    fn nodes(&self, templates: &Out<'a>, over: &OverlaidTarget) -> Out<'a> {
        let is_there =
            |node: &&NodeInstance| self.with_initial || node.state != InstanceState::default();
        let mut all: MapEntries<'a> = Vec::new();
        let mut written = FxHashSet::default();
        // Nodes of the target come first, in its order; the others follow.
        for (key, template) in entries(templates) {
            let name = key_name(&key).into_owned();
            let node = self.model.nodes.get(&*name).filter(is_there);
            if let Some(node) = node.filter(|node| node.target.is_none() && node.template.is_some())
            {
                all.push((key, self.node(Some(&template), node, over)));
                written.insert(name);
            }
        }
        for (id, node) in &self.model.nodes {
            if !written.contains(&**id) && is_there(&node) {
                let other = node.target.as_ref().and_then(|digest| self.others.get(digest));
                let template = other.and_then(|other| other.nodes.get(&**id));
                all.push((OutKey::New(id.to_string().into()), self.node(template, node, over)));
            }
        }
        like(templates, all)
    }

    fn node(
        &self,
        template: Option<&Out<'a>>,
        node: &NodeInstance,
        over: &OverlaidTarget,
    ) -> Out<'a> {
        let none = Out::Map { entries: Default::default(), like: None };
        let template = template.unwrap_or(&none);
        let mut all = entries(template);
        if node.template.is_none() {
            // An adopted node existed before the instance, so a plan does not touch it.
            set(&mut all, "metadata", |_| {
                let adopted = (Arc::from("instance"), Value::from("adopted"));
                Some(Out::Value(Value::Map([adopted].into())))
            });
        }
        if all.iter().all(|(key, _)| key_name(key) != "type") && !node.type_name.is_empty() {
            all.insert(
                0,
                (OutKey::New("type".into()), Out::String(node.type_name.to_string().into())),
            );
        }
        if self.with_values || node.template.is_none() {
            over.set_values(&mut all, node);
        }
        set(&mut all, "requirements", |old| self.requirements(old, node, &over.relationships));
        like(template, all)
    }

    fn requirements(
        &self,
        old: Option<&Out<'a>>,
        node: &NodeInstance,
        names: &FxHashSet<String>,
    ) -> Option<Out<'a>> {
        let is_left = |relation: &&RelationInstance| {
            let target = relation.target.as_ref().and_then(|target| self.model.nodes.get(target));
            self.with_initial
                || relation.target.is_none()
                || target.is_some_and(|target| target.state != InstanceState::default())
        };
        // The model's relations by name and target; there may be several of each.
        let mut rest: FxHashMap<_, Vec<&RelationInstance>> = FxHashMap::default();
        for (name, relations) in &node.requirements {
            for relation in relations.iter().filter(is_left) {
                let key = (name.to_string(), relation.target.as_deref().map(str::to_owned));
                rest.entry(key).or_default().push(relation);
            }
        }
        let (mut kept, mut has_all) = (Vec::new(), true);
        for item in old.map(items).unwrap_or_default() {
            let (name, target) = requirement(&item);
            let known = target.filter(|target| self.model.nodes.contains_key(&**target));
            match rest.get_mut(&(name, known)).and_then(Vec::pop) {
                Some(_) => kept.push((None, item)),
                None => has_all = false,
            }
        }
        let left = rest.iter().flat_map(|((name, _), left)| left.iter().map(move |it| (name, *it)));
        let mut new: Vec<_> = left.collect();
        if let (Some(old), true, true) = (old, has_all, new.is_empty()) {
            return Some(old.clone());
        }
        new.sort_by_key(|(name, relation)| (relation.position, *name));
        kept.extend(new.into_iter().map(|(name, relation)| (None, written(name, relation, names))));
        (!kept.is_empty()).then_some(Out::Seq { items: kept.into(), like: None })
    }

    /// The declarations of inputs; the default of each is the value that the model has.
    fn inputs(&self, inputs: &Out<'a>, over: &OverlaidTarget) -> Out<'a> {
        if !self.with_values {
            return inputs.clone();
        }
        let mut all = entries(inputs);
        for (key, declaration) in &mut all {
            let Some(value) = self.model.inputs.get(&*key_name(key)) else { continue };
            let old = OutNode::root(declaration).get("default");
            if let Some(value) = over.changed(old, value) {
                let mut body = entries(declaration);
                set(&mut body, "default", |_| Some(value));
                *declaration = like(declaration, body);
            }
        }
        like(inputs, all)
    }
}

/// The topologies with the relations of a model: they take over which relations host, and their
/// positions. A position is that of the target even if other relations of the target are missing.
pub(crate) fn as_in_model<const N: usize>(
    topologies: [Topology; N],
    model: &InstanceModel,
) -> [Topology; N] {
    let mut known = KnownRelations::default();
    for (source, node) in &model.nodes {
        for (name, relations) in &node.requirements {
            for relation in relations {
                let ends = (&**source, &**name, relation.target.as_deref());
                known.entry(ends).or_default().push(relation);
            }
        }
    }
    topologies.map(|mut topology| {
        take_over(&mut topology, &known);
        topology
    })
}

/// The relations of a model by their source, their name and their target.
type KnownRelations<'m> =
    FxHashMap<(&'m str, &'m str, Option<&'m str>), SmallVec<[&'m RelationInstance; 1]>>;

fn take_over(topology: &mut Topology, known: &KnownRelations<'_>) {
    let Topology { nodes, relations, .. } = topology;
    let name = |id: NodeIndex| nodes.get(id.index()).map(|node| &*node.name);
    let mut taken: FxHashSet<(NodeIndex, u32)> = FxHashSet::default();
    for relation in relations {
        let source = name(relation.source).unwrap_or_default();
        let ends = (source, &*relation.name, relation.target.and_then(name));
        let of_target = known.get(&ends).into_iter().flatten();
        relation.hosting = of_target.clone().any(|one| one.hosting);
        let positions = of_target.map(|one| one.position).chain([relation.position]).chain(0..);
        let is_free = |position: &u32| !taken.contains(&(relation.source, *position));
        relation.position = positions.into_iter().find(is_free).unwrap_or(relation.position);
        taken.insert((relation.source, relation.position));
    }
}

/// The names of the relationship templates of a document.
fn relationship_templates(document: &Out<'_>) -> FxHashSet<String> {
    let templates = OutNode::root(document).get("topology_template");
    let templates = templates.and_then(|topology| topology.get("relationship_templates"));
    let entries = templates.into_iter().flat_map(|templates| templates.entries());
    entries.map(|entry| entry.name.into_owned()).collect()
}

/// A relation as a requirement assignment. It names its relationship template if the document has
/// that, otherwise its type.
fn written<'a>(name: &str, relation: &RelationInstance, names: &FxHashSet<String>) -> Out<'a> {
    let mut body: MapEntries<'a> = Vec::new();
    let mut said = |key: &'static str, value: Option<&Arc<str>>| {
        if let Some(value) = value {
            body.push((OutKey::New(key.into()), Out::String(value.to_string().into())));
        }
    };
    said("node", relation.target.as_ref());
    said("capability", relation.capability.as_ref());
    let template = relation.template.as_ref().filter(|name| names.contains(&***name));
    said("relationship", template.or(relation.relationship.as_ref()));
    let body = Out::Map { entries: body.into(), like: None };
    Out::Map { entries: vec![(OutKey::New(name.to_owned().into()), body)].into(), like: None }
}

/// The name and the target of a requirement assignment.
fn requirement(item: &Out<'_>) -> (String, Option<String>) {
    let Some(entry) = OutNode::root(item).entries().into_iter().next() else {
        return (String::new(), None);
    };
    let target = entry.value.text().or_else(|| entry.value.get("node")?.text());
    (entry.name.into_owned(), target.map(|target| target.into_owned()))
}

/// A requirement assignment with another target.
fn retargeted<'a>(item: &Out<'a>, target: &str) -> Out<'a> {
    let mut all = entries(item);
    if let Some((_, value)) = all.first_mut() {
        *value = match OutNode::root(value).text() {
            Some(_) => Out::String(target.to_owned().into()),
            None => {
                let mut body = entries(value);
                set(&mut body, "node", |_| Some(Out::String(target.to_owned().into())));
                like(value, body)
            }
        };
    }
    like(item, all)
}

/// What an entry of this name becomes; `None` if it stays.
type ChangeEntry<'c, 'a> = dyn Fn(&str, &Out<'a>) -> Option<Out<'a>> + 'c;

/// A map, or a list of maps, with some of its entries changed; `None` if none is.
fn changed_entries<'a>(map: &Out<'a>, change: &ChangeEntry<'_, 'a>) -> Option<Out<'a>> {
    let mut is_changed = false;
    let mut taken = |old: &Out<'a>, new: Option<Out<'a>>| {
        is_changed |= new.is_some();
        new.unwrap_or_else(|| old.clone())
    };
    let changed = if OutNode::root(map).kind() == cuvee_text::yaml::NodeKind::Sequence {
        let all = items(map).into_iter();
        let all = all.map(|item| (None, taken(&item, changed_entries(&item, change))));
        Out::Seq { items: all.collect(), like: None }
    } else {
        let mut all = entries(map);
        all.iter_mut().for_each(|(key, old)| *old = taken(old, change(&key_name(key), old)));
        like(map, all)
    };
    is_changed.then_some(changed)
}

/// Each value of a map, or of the maps in a list.
fn each_entry<'a>(map: &Out<'a>, change: &mut dyn FnMut(&Out<'a>) -> Out<'a>) -> Out<'a> {
    if OutNode::root(map).kind() == cuvee_text::yaml::NodeKind::Sequence {
        let all = items(map).into_iter().map(|item| (None, each_entry(&item, change)));
        return Out::Seq { items: all.collect(), like: None };
    }
    let mut all = entries(map);
    all.iter_mut().for_each(|(_, value)| *value = change(value));
    like(map, all)
}

/// The document without its topology, so that only its types are left.
pub(crate) fn types_only<'a>(document: &Out<'a>) -> Out<'a> {
    let mut all = entries(document);
    all.retain(|(key, _)| key_name(key) != "topology_template");
    like(document, all)
}

/// The value of one of several nodes of a template: `INDEX` becomes its index, and inputs their
/// values.
pub(super) fn with_index(value: &Value, index: usize, inputs: &FxHashMap<String, Value>) -> Value {
    match value {
        Value::String(text) if matches!(&**text, "INDEX" | "$node_index") => {
            Value::Number(Number::int(i64::try_from(index).unwrap_or(i64::MAX)))
        }
        Value::List(items) => {
            Value::List(items.iter().map(|item| with_index(item, index, inputs)).collect())
        }
        Value::Map(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| (Arc::clone(key), with_index(value, index, inputs)))
                .collect();
            if let [(name, Value::List(path))] = &*entries
                && let "get_input" | "$get_input" = &**name
                && let Some(value) = at_path(path, inputs).cloned()
            {
                return if name.starts_with('$') { meant::literal(value) } else { value };
            }
            Value::Map(entries.into())
        }
        other => other.clone(),
    }
}

/// The value at a path: first the name of an input, then keys and positions.
fn at_path<'v>(path: &[Value], inputs: &'v FxHashMap<String, Value>) -> Option<&'v Value> {
    let (name, steps) = path.split_first()?;
    steps.iter().try_fold(inputs.get(name.as_str()?)?, |value, step| match value {
        Value::List(items) => match step {
            Value::Number(at) => items.get(usize::try_from(at.as_int()?).ok()?),
            _ => None,
        },
        Value::Map(entries) => {
            let step = step.to_string();
            entries.iter().find(|(key, _)| **key == *step).map(|(_, value)| value)
        }
        _ => None,
    })
}
