//! The topology of a resolved variant as owned data, each part with its place in the author's file;
//! also compares plain topologies ([`diff`]).
//!
//! Not promised: may change with any version.
//!
//! [`Resolver::topology`](crate::Resolver::topology) reads it directly from the output tree of a
//! variant, without text in between. [`Topology::read`] reads it from any output tree, and so from
//! a plain template.
//!
//! ```
//! let answer = cuvee::Resolver::new("examples/shop").preset("prod").topology()?;
//! let topology = &answer.result;
//! let shop = topology.node_named("shop").unwrap();
//! let host = topology.host(shop).unwrap();
//! assert_eq!(topology.node(host).name, "cluster");
//!
//! let place = answer.sources.place(topology.node(shop).span);
//! assert!(place.starts_with("examples/shop/variable-service-template.yaml:"), "{place}");
//! let open = topology.dangling().next();
//! assert_eq!(open.map(|relation| topology.relation_identifier(relation)), None);
//! # Ok::<(), cuvee::Failure>(())
//! ```

pub(crate) mod cycle;
pub mod diff;
pub(crate) mod index;
pub(crate) mod named;
mod part;
mod read;
pub(crate) mod scope;
pub(crate) mod sensitive;
#[cfg(test)]
mod tests;
pub(crate) mod value_source;
pub(crate) mod waiting;

pub use part::{
    ActivityKind, AssignedValue, Described, GroupIndex, NamedElement, NextStep, NodeIndex,
    RelationIndex, RelationshipIndex, Spanned, StepIndex, TopologyActivity, TopologyArtifact,
    TopologyCapability, TopologyElement, TopologyGroup, TopologyImplementation, TopologyInterface,
    TopologyNode, TopologyOperation, TopologyParameter, TopologyPolicy, TopologyPrecondition,
    TopologyRelation, TopologyRelationship, TopologyStep, TopologySubstitution, TopologyTrigger,
    TopologyWorkflow,
};
pub use read::RelationHead;

use crate::tosca::{Family, RequirementDefinition, TypeId, Types};
use cuvee_text::yaml::{Out, OutNode};
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::sync::Arc;

/// The topology of a resolved template. Its serialised form has no places.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Topology {
    /// Topology inputs.
    pub inputs: Vec<TopologyParameter>,
    /// Topology outputs.
    pub outputs: Vec<TopologyParameter>,
    /// Node templates, in the order of the template.
    pub nodes: Vec<TopologyNode>,
    /// Requirement assignments, in the order of their nodes.
    pub relations: Vec<TopologyRelation>,
    /// Relationship templates: first those with a name, then those written in requirement
    /// assignments.
    pub relationships: Vec<TopologyRelationship>,
    /// Groups.
    pub groups: Vec<TopologyGroup>,
    /// Policies.
    pub policies: Vec<TopologyPolicy>,
    /// Imperative workflows.
    pub workflows: Vec<TopologyWorkflow>,
    /// The substitution mapping of the topology.
    pub substitution: Option<TopologySubstitution>,
    /// The values of secret variability inputs. What contains one of them is secret.
    #[serde(skip)]
    pub(crate) secrets: Arc<[String]>,
    /// Whether the template is one of TOSCA 2.0.
    #[serde(skip)]
    pub(crate) is_2_0: bool,
}

impl Topology {
    /// Reads the topology of a service template without variability. It reports no errors: whatever
    /// is malformed is left out.
    ///
    /// Whether a relation leads to a host depends on types, which this function does not know, so
    /// it asks `hosting`.
    ///
    /// ```
    /// use cuvee::source::FileId;
    /// use cuvee::topology::Topology;
    /// use cuvee::parts::yaml::{Limits, Out, parse};
    /// let text = "topology_template: {node_templates: {shop: {requirements: [{host: box}]}, box: {}}}";
    /// let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
    /// let topology = Topology::read(&Out::Source(document.root()), &|relation| relation.name == "host");
    /// assert_eq!(topology.hosts(), [topology.node_named("box"), None]);
    /// ```
    pub fn read(document: &Out<'_>, hosting: &dyn Fn(&RelationHead<'_>) -> bool) -> Self {
        read::topology(OutNode::root(document), hosting)
    }

    /// Adds to policies the triggers that their types define.
    pub(crate) fn inherit_triggers(&mut self, types: &Types<'_>) {
        read::inherit_triggers(self, types);
    }

    /// The node with this id, which must be from this topology.
    pub fn node(&self, id: NodeIndex) -> &TopologyNode {
        &self.nodes[id.index()]
    }

    /// The relation with this id, which must be from this topology.
    pub fn relation(&self, id: RelationIndex) -> &TopologyRelation {
        &self.relations[id.index()]
    }

    /// The relationship template with this id, which must be from this topology.
    pub fn relationship(&self, id: RelationshipIndex) -> &TopologyRelationship {
        &self.relationships[id.index()]
    }

    /// The group with this id, which must be from this topology.
    pub fn group(&self, id: GroupIndex) -> &TopologyGroup {
        &self.groups[id.index()]
    }

    /// The ids of all nodes.
    pub fn node_ids(&self) -> impl ExactSizeIterator<Item = NodeIndex> + use<> {
        (0..self.nodes.len()).map(NodeIndex::new)
    }

    /// The ids of all relations.
    pub fn relation_ids(&self) -> impl ExactSizeIterator<Item = RelationIndex> + use<> {
        (0..self.relations.len()).map(RelationIndex::new)
    }

    /// The node of this name; searches all nodes.
    pub fn node_named(&self, name: &str) -> Option<NodeIndex> {
        self.nodes.iter().position(|node| node.name == name).map(NodeIndex::new)
    }

    /// The relations whose target is not in this topology, so that an orchestrator has to find one.
    pub fn dangling(&self) -> impl Iterator<Item = RelationIndex> {
        self.relation_ids().filter(|&id| self.relation(id).target.is_none())
    }

    /// The node that a node is directly hosted on: the target of its first hosting relation that
    /// has one.
    pub fn hosted_on(&self, node: NodeIndex) -> Option<NodeIndex> {
        let relations = self.node(node).relations.iter().map(|&id| self.relation(id));
        relations.filter(|relation| relation.hosting).find_map(|relation| relation.target)
    }

    /// The host of a node: the last node of its chain of hosting relations. `None` if nothing hosts
    /// the node, or if the chain is a cycle.
    pub fn host(&self, node: NodeIndex) -> Option<NodeIndex> {
        let chain = std::iter::successors(self.hosted_on(node), |&node| self.hosted_on(node));
        // A chain with an end is never longer than the number of nodes.
        let (length, end) = chain.take(self.nodes.len()).enumerate().last()?;
        (length + 1 < self.nodes.len()).then_some(end)
    }

    /// The hosts of all nodes, as [`Topology::host`] defines them; looks at each relation once.
    pub fn hosts(&self) -> Vec<Option<NodeIndex>> {
        // The end of the chain of each node: not known yet, or known, or known not to exist.
        let mut ends: Vec<Option<Option<NodeIndex>>> = vec![None; self.nodes.len()];
        let mut way = Vec::new();
        for start in self.node_ids() {
            let mut next = start;
            let end = loop {
                if let Some(known) = ends[next.index()] {
                    break known;
                }
                // While a chain is walked, its nodes count as without end: whoever meets them again
                // has found a cycle.
                ends[next.index()] = Some(None);
                way.push(next);
                match self.hosted_on(next) {
                    Some(host) => next = host,
                    None => break Some(next),
                }
            };
            way.drain(..).for_each(|node| ends[node.index()] = Some(end));
        }
        let host = |(node, end): (NodeIndex, Option<Option<NodeIndex>>)| {
            end.flatten().filter(|&end| end != node)
        };
        self.node_ids().zip(ends).map(host).collect()
    }

    /// The nodes of a group and of the groups nested in it, each once.
    pub fn nodes_of(&self, group: GroupIndex) -> Vec<NodeIndex> {
        let (mut found, mut open) = (Vec::new(), Vec::from([group]));
        let mut seen = FxHashSet::from_iter([TopologyElement::Group(group)]);
        let mut next = 0;
        while let Some(&group) = open.get(next) {
            next += 1;
            let members = self.group(group).members.iter().filter_map(|member| member.element);
            for member in members.filter(|&member| seen.insert(member)) {
                match member {
                    TopologyElement::Node(node) => found.push(node),
                    TopologyElement::Group(inner) => open.push(inner),
                    TopologyElement::Relation(_) => {}
                }
            }
        }
        found
    }

    /// The identifier of a node: `node.shop`.
    pub fn node_identifier(&self, id: NodeIndex) -> String {
        format!("node.{}", self.node(id).name)
    }

    /// The identifier of a relation: `relation.host@0.node.shop`.
    pub fn relation_identifier(&self, id: RelationIndex) -> String {
        let TopologyRelation { name, position, source, .. } = self.relation(id);
        format!("relation.{name}@{position}.{}", self.node_identifier(*source))
    }
}

/// The type that a name refers to in the file where the name is written.
pub(crate) fn type_named(
    types: &Types<'_>,
    family: Family,
    name: &Spanned<String>,
) -> Option<TypeId> {
    let file = (!name.span.is_detached()).then_some(name.span.file);
    types.find_in(file, family, &name.value).or_else(|| types.find(family, &name.value))
}

/// The definition of a relation's requirement in the type of its source, and the type that has it.
pub(crate) fn requirement_definition<'t, 'a>(
    topology: &Topology,
    types: &'t Types<'a>,
    relation: RelationIndex,
) -> Option<(&'t RequirementDefinition<'a>, TypeId)> {
    let relation = topology.relation(relation);
    let source = topology.node(relation.source).described.type_name.as_ref()?;
    let source = type_named(types, Family::Node, source)?;
    let part = types.effective(source).requirements.get(&*relation.name)?;
    Some((&part.definition, part.owner))
}

/// The type of a relation: the one that it names, otherwise the one in the definition of its
/// requirement.
pub(crate) fn relationship_type(
    topology: &Topology,
    types: &Types<'_>,
    relation: RelationIndex,
) -> Option<TypeId> {
    if let Some(name) = &topology.relation(relation).relationship_type {
        return type_named(types, Family::Relationship, name);
    }
    let (definition, _) = requirement_definition(topology, types, relation)?;
    let name = definition.relationship?;
    types.find_in(Some(name.span().file), Family::Relationship, name.text()?)
}
