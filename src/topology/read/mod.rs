//! Reads a topology from an output tree: nodes and relations here, the contents of parts in
//! [`body`], and workflows in [`workflow`].

mod body;
mod meant;
mod workflow;

use super::part::{
    GroupIndex, NamedElement, NodeIndex, RelationIndex, RelationshipIndex, Spanned,
    TopologyElement, TopologyGroup, TopologyNode, TopologyPolicy, TopologyRelation,
    TopologyRelationship, TopologySubstitution,
};
use super::{Topology, type_named};
use crate::tosca::{Family, Types, v2_0};
use body::{assigned, described, entries, texts};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{NodeKind, Out, OutEntry, OutNode};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The facts about a relation by which a caller decides whether it leads to a host.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RelationHead<'t> {
    /// The name of the requirement.
    pub name: &'t str,
    /// The name of the node that has the requirement.
    pub source: &'t str,
    /// The name of the type of that node.
    pub source_type: Option<&'t str>,
    /// The position among the requirement assignments of the node as its author wrote them.
    pub position: u32,
    /// The name of the type of the relationship, if it is written.
    pub relationship_type: Option<&'t str>,
}

/// Reads the topology of a service template.
pub(super) fn topology(
    document: OutNode<'_, '_>,
    hosting: &dyn Fn(&RelationHead<'_>) -> bool,
) -> Topology {
    let Some(body) = document.get("topology_template") else { return Topology::default() };
    let of = |keyname| body.get(keyname).map(entries).unwrap_or_default();
    let (nodes, groups) = (of("node_templates"), of("groups"));
    let relationships = of("relationship_templates");
    let is_2_0 = v2_0::is_said_in(document);
    // There, a type comes before a template of the same name (section 8.7.1).
    let types = document.get("relationship_types").filter(|_| is_2_0);
    let mut named = positions(&relationships, RelationshipIndex::new);
    for kind in types.map(entries).unwrap_or_default() {
        named.remove(&kind.name);
    }
    let templates = nodes.iter().filter(|_| is_2_0).map(|entry| entry.value).collect();
    let mut reader = TopologyReader {
        hosting,
        nodes: positions(&nodes, NodeIndex::new),
        groups: positions(&groups, GroupIndex::new),
        relationships: named,
        templates,
        topology: Topology {
            inputs: body.get("inputs").map(body::parameters).unwrap_or_default(),
            outputs: body.get("outputs").map(body::parameters).unwrap_or_default(),
            relationships: relationships.iter().map(named_relationship).collect(),
            substitution: body.get("substitution_mappings").map(substitution),
            nodes: Vec::with_capacity(nodes.len()),
            is_2_0,
            ..Topology::default()
        },
    };
    nodes.into_iter().for_each(|entry| reader.node(entry));
    reader.topology.relations.shrink_to_fit();
    reader.link();
    for entry in groups {
        let group = reader.group(entry);
        reader.topology.groups.push(group);
    }
    for entry in of("policies") {
        let policy = reader.policy(entry);
        reader.topology.policies.push(policy);
    }
    let workflows = of("workflows").into_iter();
    reader.topology.workflows = workflows.map(|entry| reader.workflow(entry)).collect();
    if is_2_0 {
        meant::mean(&mut reader.topology);
    }
    reader.topology
}

/// Adds to policies the triggers that their types define (section 16.4 of TOSCA 2.0), unless a
/// policy has one of the same name.
pub(super) fn inherit_triggers(topology: &mut Topology, types: &Types<'_>) {
    for policy in &mut topology.policies {
        let kind = policy.described.type_name.as_ref();
        let Some(kind) = kind.and_then(|kind| type_named(types, Family::Policy, kind)) else {
            continue;
        };
        for defined in types.chain(kind).flat_map(|id| &types.definition(id).triggers) {
            if policy.triggers.iter().any(|own| own.name == defined.name) {
                continue;
            }
            let body = Out::Source(defined.value);
            let (name, span) = (defined.name.into(), defined.key.span());
            let entry = OutEntry { name, span, value: OutNode::root(&body) };
            // A type knows no elements.
            let element = |node| NamedElement { name: body::whole(node), element: None };
            let mut trigger = workflow::trigger(entry, element);
            if topology.is_2_0 {
                meant::mean_trigger(&mut trigger);
            }
            policy.triggers.push(trigger);
        }
    }
}

/// The id of each name.
fn positions<'o, I>(
    entries: &[OutEntry<'o, '_>],
    id: impl Fn(usize) -> I,
) -> FxHashMap<Cow<'o, str>, I> {
    let named = entries.iter().enumerate();
    named.map(|(position, entry)| (entry.name.clone(), id(position))).collect()
}

/// Gives a node the type and the values of what it copies. A keyname of its own counts alone.
fn copy(node: &mut TopologyNode, own: OutNode<'_, '_>, copied: OutNode<'_, '_>) {
    let lacks = |keyname| own.get(keyname).is_none();
    if lacks("type") {
        node.described.type_name = body::text(copied, "type");
    }
    if lacks("properties") {
        node.described.properties = assigned(copied, "properties");
    }
    if lacks("instance_count") {
        node.instance_count = body::rare_value(copied, "instance_count");
    }
    if lacks("capabilities") {
        let all = copied.get("capabilities").map(entries).unwrap_or_default();
        node.capabilities = all.into_iter().map(body::capability).collect();
    }
}

struct TopologyReader<'o, 'a, 'h> {
    hosting: &'h dyn Fn(&RelationHead<'_>) -> bool,
    nodes: FxHashMap<Cow<'o, str>, NodeIndex>,
    groups: FxHashMap<Cow<'o, str>, GroupIndex>,
    relationships: FxHashMap<Cow<'o, str>, RelationshipIndex>,
    /// The bodies of the node templates, in TOSCA 2.0. In version 1.3, nothing else is read of a node
    /// that copies another one than what it says itself.
    templates: Vec<OutNode<'o, 'a>>,
    topology: Topology,
}

impl<'o, 'a> TopologyReader<'o, 'a, '_> {
    fn node(&mut self, entry: OutEntry<'o, 'a>) {
        let id = NodeIndex::new(self.topology.nodes.len());
        let body = entry.value;
        let of = |keyname| body.get(keyname).map(entries).unwrap_or_default();
        let mut node = TopologyNode {
            name: entry.name.into_owned(),
            span: entry.span,
            described: described(body),
            directives: body.get("directives").map(texts).unwrap_or_default(),
            capabilities: of("capabilities").into_iter().map(body::capability).collect(),
            relations: Vec::new(),
            incoming: Vec::new(),
            artifacts: of("artifacts").into_iter().map(body::artifact).collect(),
            node_filter: body::rare_value(body, "node_filter"),
            copy: body::text(body, "copy").map(Box::new),
            occurrences: body::rare_value(body, "occurrences"),
            instance_count: body::rare_value(body, "instance_count"),
        };
        let copied = self.copied(&node);
        if let Some(copied) = copied {
            copy(&mut node, body, copied);
        }
        let own = body.get("requirements");
        let requirements = own.or_else(|| copied?.get("requirements"));
        let requirements = requirements.map(body::positioned).unwrap_or_default();
        for (position, requirement) in requirements {
            let relation = self.relation((id, &node), position, requirement);
            node.relations.push(RelationIndex::new(self.topology.relations.len()));
            self.topology.relations.push(relation);
        }
        self.topology.nodes.push(node);
    }

    /// The body that a node copies.
    fn copied(&self, node: &TopologyNode) -> Option<OutNode<'o, 'a>> {
        let copied = self.nodes.get(&*node.copy.as_ref()?.value)?;
        self.templates.get(copied.index()).copied()
    }

    /// Reads a requirement assignment. The short notation is only the target.
    fn relation(
        &mut self,
        (source, node): (NodeIndex, &TopologyNode),
        position: usize,
        entry: OutEntry<'o, 'a>,
    ) -> TopologyRelation {
        let body = entry.value;
        let target = body::target(body);
        let (relationship, relationship_type) =
            body.get("relationship").map(|used| self.relationship(used)).unwrap_or_default();
        let head = RelationHead {
            name: &entry.name,
            source: &node.name,
            source_type: node.described.type_name.as_ref().map(|name| &*name.value),
            position: position as u32,
            relationship_type: relationship_type.as_ref().map(|name| &*name.value),
        };
        TopologyRelation {
            name: entry.name.to_string(),
            position: head.position,
            span: entry.span,
            source,
            target: target.as_ref().and_then(|name| self.nodes.get(&*name.value)).copied(),
            hosting: (self.hosting)(&head),
            node: target,
            index: body::target_index(body),
            capability: body::text(body, "capability").map(Box::new),
            relationship,
            relationship_type: relationship_type.map(Box::new),
            node_filter: body::rare_value(body, "node_filter"),
            occurrences: body::rare_value(body, "occurrences"),
            count: body::rare_value(body, "count"),
            optional: body::rare_value(body, "optional"),
            allocation: body::assigned(body, "allocation"),
            directives: body.get("directives").map(texts).unwrap_or_default().into(),
        }
    }

    /// Reads the relationship of a requirement assignment: a template by name or in place, or the
    /// name of a type.
    fn relationship(
        &mut self,
        used: OutNode<'o, 'a>,
    ) -> (Option<RelationshipIndex>, Option<Spanned<String>>) {
        let id = match body::whole_text(used) {
            Some(name) => match self.relationships.get(&*name.value) {
                Some(&id) => id,
                None => return (None, Some(name)),
            },
            None if used.kind() == NodeKind::Mapping => {
                let relationships = &mut self.topology.relationships;
                relationships.push(relationship(None, used.span(), used));
                RelationshipIndex::new(relationships.len() - 1)
            }
            None => return (None, None),
        };
        (Some(id), self.topology.relationship(id).described.type_name.clone())
    }

    /// Records at each node which relations have it as their target.
    fn link(&mut self) {
        let Topology { nodes, relations, .. } = &mut self.topology;
        for (position, relation) in relations.iter().enumerate() {
            if let Some(node) = relation.target.and_then(|target| nodes.get_mut(target.index())) {
                node.incoming.push(RelationIndex::new(position));
            }
        }
    }

    fn group(&self, entry: OutEntry<'o, 'a>) -> TopologyGroup {
        TopologyGroup {
            name: entry.name.into_owned(),
            span: entry.span,
            described: described(entry.value),
            members: self.elements(entry.value, "members"),
        }
    }

    fn policy(&self, entry: OutEntry<'o, 'a>) -> TopologyPolicy {
        TopologyPolicy {
            name: entry.name.into_owned(),
            span: entry.span,
            described: described(entry.value),
            targets: self.elements(entry.value, "targets"),
            triggers: self.triggers(entry.value),
        }
    }

    fn elements(&self, body: OutNode<'o, 'a>, keyname: &str) -> Vec<NamedElement> {
        let items = body.get(keyname).map(OutNode::items).unwrap_or_default();
        items.into_iter().map(|(_, item)| self.element(item)).collect()
    }

    /// The element that a name refers to: a node, a group, or a relation as `[node, relation]`.
    fn element(&self, name: OutNode<'o, 'a>) -> NamedElement {
        let element = match &*name.items() {
            [(_, node), (_, relation)] => self.member(*node, *relation),
            _ => name.text().and_then(|text| {
                let node = self.nodes.get(&*text).copied().map(TopologyElement::Node);
                node.or_else(|| self.groups.get(&*text).copied().map(TopologyElement::Group))
            }),
        };
        NamedElement { name: body::whole(name), element }
    }

    /// A relation of a node, by its position among the relations of this variant, or by name.
    fn member(&self, node: OutNode<'_, '_>, relation: OutNode<'_, '_>) -> Option<TopologyElement> {
        let node = self.topology.node(*self.nodes.get(&*node.text()?)?);
        let found = match relation.to_value() {
            Value::Number(position) => {
                *node.relations.get(usize::try_from(position.as_int()?).ok()?)?
            }
            Value::String(name) => {
                let mut relations = node.relations.iter().copied();
                relations.find(|&id| self.topology.relation(id).name == *name)?
            }
            _ => return None,
        };
        Some(TopologyElement::Relation(found))
    }
}

fn named_relationship(entry: &OutEntry<'_, '_>) -> TopologyRelationship {
    relationship(Some(entry.name.clone().into_owned()), entry.span, entry.value)
}

fn relationship(name: Option<String>, span: Span, body: OutNode<'_, '_>) -> TopologyRelationship {
    TopologyRelationship { name, span, described: described(body), copy: body::text(body, "copy") }
}

fn substitution(body: OutNode<'_, '_>) -> TopologySubstitution {
    TopologySubstitution {
        span: body.span(),
        node_type: body::text(body, "node_type"),
        substitution_filter: body::value(body, "substitution_filter"),
        properties: assigned(body, "properties"),
        attributes: assigned(body, "attributes"),
        capabilities: assigned(body, "capabilities"),
        requirements: assigned(body, "requirements"),
        interfaces: assigned(body, "interfaces"),
    }
}
