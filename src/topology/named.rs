//! Finds the parts of a topology by their names, each with one look.

use super::{GroupIndex, NodeIndex, RelationIndex, RelationshipIndex, Topology, TopologyParameter};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0};
use cuvee_text::source::Span;
use rustc_hash::FxHashMap;
use std::hash::Hash;

impl Topology {
    /// The errors about policies that have the name of one before them, as lists of TOSCA 2.0 can:
    /// plans and instances know policies by their names.
    pub(crate) fn policies_of_one_name(&self) -> Diagnostics {
        let mut known = FxHashMap::default();
        let again = self.policies.iter().filter_map(|policy| {
            let first = known.insert(&*policy.name, policy.span).filter(|_| self.is_2_0)?;
            let message = format!("a second policy is named `{}`", policy.name);
            let error = Diagnostic::error(Code::Duplicate, message).at(policy.span);
            let error = error.label(first, "the first is here");
            Some(error.rule(Rule::new(&TOSCA_2_0, "6.9.1")))
        });
        Diagnostics(again.collect())
    }
}

/// The parts of a topology by name. Of several parts with one name, it has the first.
pub(crate) struct NamedParts<'t> {
    topology: &'t Topology,
    pub(crate) nodes: FxHashMap<&'t str, NodeIndex>,
    pub(crate) inputs: FxHashMap<&'t str, &'t TopologyParameter>,
    pub(crate) outputs: FxHashMap<&'t str, &'t TopologyParameter>,
    pub(crate) groups: FxHashMap<&'t str, GroupIndex>,
    /// The positions of policies.
    pub(crate) policies: FxHashMap<&'t str, usize>,
    pub(crate) relationships: FxHashMap<&'t str, RelationshipIndex>,
    /// The relations that use a relationship template with a name.
    relations: FxHashMap<RelationshipIndex, Vec<RelationIndex>>,
}

impl<'t> NamedParts<'t> {
    pub(crate) fn of(topology: &'t Topology) -> Self {
        let groups = topology.groups.iter().enumerate();
        let policies = topology.policies.iter().enumerate();
        let relationships = topology.relationships.iter().enumerate();
        let relationships = relationships
            .filter_map(|(at, it)| Some((it.name.as_deref()?, RelationshipIndex::new(at))));
        let mut relations: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for id in topology.relation_ids() {
            let used = topology.relation(id).relationship;
            if let Some(used) = used.filter(|used| topology.relationship(*used).name.is_some()) {
                relations.entry(used).or_default().push(id);
            }
        }
        Self {
            topology,
            nodes: first(topology.node_ids().map(|id| (&*topology.node(id).name, id))),
            inputs: first(topology.inputs.iter().map(|it| (&*it.name, it))),
            outputs: first(topology.outputs.iter().map(|it| (&*it.name, it))),
            groups: first(groups.map(|(at, it)| (&*it.name, GroupIndex::new(at)))),
            policies: first(policies.map(|(at, it)| (&*it.name, at))),
            relationships: first(relationships),
            relations,
        }
    }

    /// The relations that use the relationship template of this name.
    pub(crate) fn relations(&self, relationship: &str) -> &[RelationIndex] {
        let used = self.relationships.get(relationship).and_then(|id| self.relations.get(id));
        used.map_or(&[], Vec::as_slice)
    }

    /// The place of a part by its kind, such as `input`, and its name.
    pub(crate) fn place(&self, kind: &str, name: &str) -> Option<Span> {
        let topology = self.topology;
        match kind {
            "node" => self.nodes.get(name).map(|id| topology.node(*id).span),
            "relationship" => {
                self.relationships.get(name).map(|id| topology.relationship(*id).span)
            }
            "group" => self.groups.get(name).map(|id| topology.group(*id).span),
            "policy" => topology.policies.get(*self.policies.get(name)?).map(|it| it.span),
            "input" => self.inputs.get(name).map(|it| it.span),
            "output" => self.outputs.get(name).map(|it| it.span),
            _ => None,
        }
    }
}

/// A map with the first value of each key.
fn first<K: Hash + Eq, V>(all: impl Iterator<Item = (K, V)>) -> FxHashMap<K, V> {
    let mut first = FxHashMap::default();
    first.reserve(all.size_hint().1.unwrap_or_default());
    all.for_each(|(key, value)| {
        first.entry(key).or_insert(value);
    });
    first
}
