//! Counts how often capabilities are used, and how often they may be.

use super::inventory::node_type;
use super::slots::assigned_count;
use crate::topology::{
    NodeIndex, RelationIndex, Topology, TopologyCapability, TopologyRelation, type_named,
};
use crate::tosca::fit::RequirementFit;
use crate::tosca::requirement::AssignedCount;
use crate::tosca::{EffectiveCapability, Family, TypeId, Types};
use cuvee_text::source::{FileId, Span};
use rustc_hash::FxHashMap;

/// How many relations with a target lead to each capability.
#[derive(Default)]
pub(crate) struct CapabilityUses<'t> {
    uses: FxHashMap<(NodeIndex, &'t str), u64>,
    /// The relations among these that allocate something.
    allocating: FxHashMap<(NodeIndex, &'t str), Vec<RelationIndex>>,
}

impl CapabilityUses<'_> {
    pub(crate) fn of(&self, node: NodeIndex, capability: &str) -> Option<u64> {
        self.uses.get(&(node, capability)).copied()
    }

    /// The relations that allocate something of a capability.
    pub(crate) fn allocating<'s>(
        &'s self,
        node: NodeIndex,
        capability: &'s str,
    ) -> &'s [RelationIndex] {
        self.allocating.get(&(node, capability)).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Counts the relations with a target, each at the first capability that it fits. Relations to
/// nodes that are to be selected count at the selected nodes instead.
pub(crate) fn capability_uses<'t>(topology: &Topology, types: &'t Types<'_>) -> CapabilityUses<'t> {
    let mut found = CapabilityUses::default();
    // Many relations have the same requirement, source type and target type.
    let mut known: FxHashMap<(TypeId, &str, Option<&str>, TypeId), Option<&'t str>> =
        FxHashMap::default();
    for id in topology.relation_ids() {
        let relation = topology.relation(id);
        let Some(target) = relation.target else { continue };
        let ends = [relation.source, target].map(|end| node_type(types, topology.node(end)));
        let [Some(source), Some(kind)] = ends else { continue };
        let named = relation.capability.as_ref().map(|name| &*name.value);
        let capability = *known
            .entry((source, &relation.name, named, kind))
            .or_insert_with(|| fitting(types, relation, source, kind).first().copied());
        if let Some(capability) = capability {
            let count = assigned_count(relation).min.max(1);
            *found.uses.entry((target, capability)).or_default() += count;
            if !relation.allocation.is_empty() {
                found.allocating.entry((target, capability)).or_default().push(id);
            }
        }
    }
    found
}

/// The names of the capabilities of a type that a relation can lead to.
pub(crate) fn fitting<'t>(
    types: &'t Types<'_>,
    relation: &TopologyRelation,
    source: TypeId,
    target: TypeId,
) -> Vec<&'t str> {
    let Some(part) = types.effective(source).requirements.get(&*relation.name) else {
        return Vec::new();
    };
    let named = relation.capability.as_ref();
    let fit = RequirementFit {
        types,
        definition: &part.definition,
        source,
        capability: named.map(|name| (&*name.value, file_of(name.span))),
    };
    let own = relation.relationship_type.as_ref();
    let own = own.and_then(|name| type_named(types, Family::Relationship, name));
    let found = fit.reachable(target, own.or_else(|| fit.relationship())).unwrap_or_default();
    found.into_iter().map(|(name, _)| name).collect()
}

/// How many relations may lead to a capability: as its node template says, otherwise its
/// definition.
pub(crate) fn capability_bound(
    assigned: Option<&TopologyCapability>,
    definition: &EffectiveCapability<'_>,
) -> Option<u64> {
    let own = assigned.and_then(|own| own.occurrences.as_ref());
    match own.and_then(|own| AssignedCount::range(&own.value)) {
        Some(own) => own.max,
        None => definition.occurrences.and_then(|occurrences| occurrences.max),
    }
}

/// The narrowest of the named types that is known here.
pub(super) fn known_type(types: &Types<'_>, names: &[String]) -> Option<TypeId> {
    names.iter().find_map(|name| types.find_told(Family::Node, name))
}

/// The type that an assignment names in place of a node.
pub(super) fn assigned_type(types: &Types<'_>, relation: &TopologyRelation) -> Option<TypeId> {
    type_named(types, Family::Node, relation.node.as_ref()?)
}

/// The file of a place, if it has one.
pub(super) fn file_of(span: Span) -> Option<FileId> {
    (!span.is_detached()).then_some(span.file)
}
