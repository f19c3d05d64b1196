//! Finds the open parts of a topology: nodes to be selected, and requirements without a target.

use super::filters::{FilterOwner, PlacedFilter};
use super::inventory::node_type;
use super::uses::{assigned_type, file_of};
use super::{FulfilQuestion, instance_uri};
use crate::topology::{NodeIndex, RelationIndex, Topology, TopologyRelation};
use crate::tosca::requirement::{AssignedCount, bounds};
use crate::tosca::types::Part;
use crate::tosca::{
    Directive, Family, PermittedEnds, RequirementDefinition, TypeId, TypeRef, Types,
};
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use rustc_hash::{FxHashMap, FxHashSet};

/// How many relations an assignment stands for.
pub(crate) fn assigned_count(relation: &TopologyRelation) -> AssignedCount {
    let [occurrences, count, optional] =
        [&relation.occurrences, &relation.count, &relation.optional]
            .map(|said| said.as_ref().map(|said| &said.value));
    AssignedCount::said(occurrences, count, optional)
}

/// The conditions on targets. They are the same for all relations of a demand, and often for
/// several demands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wish {
    /// The type of the node that has the requirement.
    pub source: TypeId,
    pub requirement: String,
    /// The type that a target must have, if one is named.
    pub node: Option<TypeId>,
    /// The capability or capability type that the assignment names, and the file of that name.
    pub capability: Option<(String, Option<FileId>)>,
    /// The assignment, if it has a filter of its own.
    pub filter: Option<RelationIndex>,
    /// The template among whose nodes a target is looked for.
    pub scope: u32,
    /// Whether a target is one of these nodes or an existing one.
    pub origin: PermittedEnds,
    /// The assignment, if it allocates something of the capability.
    pub allocating: Option<RelationIndex>,
    /// The node that has the requirement, if the filter of its definition asks for that.
    pub from: Option<NodeIndex>,
}

/// The open relations of one requirement at one node that have the same conditions.
#[derive(Debug)]
pub(super) struct SlotDemand<'q> {
    pub source: NodeIndex,
    pub wish: Wish,
    pub definition: &'q RequirementDefinition<'q>,
    /// The assignments, each with the number of its mandatory and optional relations.
    pub assigned: Vec<(Option<RelationIndex>, AssignedCount)>,
    /// The nodes to which the requirement leads already.
    pub taken: FxHashSet<NodeIndex>,
}

impl SlotDemand<'_> {
    /// Whether another demand is for the same requirement of the same node.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        (self.source, &self.wish.requirement) == (other.source, &other.wish.requirement)
    }

    /// How many relations are mandatory.
    pub(super) fn mandatory(&self) -> usize {
        let all = self.assigned.iter().map(|(_, occurs)| occurs.min);
        usize::try_from(all.fold(0, u64::saturating_add)).unwrap_or(usize::MAX)
    }

    /// How many relations there are at most, if that is bounded.
    pub(super) fn most(&self) -> Option<usize> {
        let mut optional = self.assigned.iter().map(|(_, occurs)| occurs.optional());
        let optional = optional.try_fold(0_u64, |all, one| Some(all.saturating_add(one?)))?;
        Some(self.mandatory().saturating_add(usize::try_from(optional).unwrap_or(usize::MAX)))
    }

    /// The assignment of each relation, mandatory relations first. The last of an unbounded
    /// assignment is repeated.
    pub(super) fn slots(&self, count: usize) -> Vec<Option<RelationIndex>> {
        let repeated = |relation: Option<RelationIndex>, times: u64| {
            std::iter::repeat_n(relation, usize::try_from(times).unwrap_or(usize::MAX).min(count))
        };
        let mandatory = self.assigned.iter().flat_map(|(it, occurs)| repeated(*it, occurs.min));
        let optional = self.assigned.iter();
        let optional =
            optional.flat_map(|(it, occurs)| repeated(*it, occurs.optional().unwrap_or(u64::MAX)));
        mandatory.chain(optional).take(count).collect()
    }

    /// The assignments that stay open after these relations, with the number of open ones.
    /// Unbounded assignments are never open.
    pub(super) fn open(&self, fulfilled: &[Option<RelationIndex>]) -> Vec<(RelationIndex, u64)> {
        let open = |&(assignment, occurs): &(Option<RelationIndex>, AssignedCount)| {
            let all = occurs.max?;
            let done = fulfilled.iter().filter(|one| **one == assignment).count() as u64;
            Some((assignment?, all.saturating_sub(done))).filter(|(_, left)| *left > 0)
        };
        self.assigned.iter().filter_map(open).collect()
    }
}

/// A node that is to be selected, with the relations that lead to it.
#[derive(Debug)]
pub(super) struct Selection {
    pub node: NodeIndex,
    pub kind: Option<TypeId>,
    pub incoming: Vec<RelationIndex>,
}

/// All open parts of a topology, in the order of declaration.
pub(super) struct OpenDemands<'q> {
    pub selections: Vec<Selection>,
    pub demands: Vec<SlotDemand<'q>>,
}

impl OpenDemands<'_> {
    /// How many relations the requirement of a demand has at most, if that is bounded.
    pub(super) fn most(&self) -> impl Fn(&SlotDemand<'_>) -> Option<usize> {
        let mut all: FxHashMap<(NodeIndex, String), Option<usize>> = FxHashMap::default();
        for demand in &self.demands {
            let key = (demand.source, demand.wish.requirement.clone());
            let known = all.entry(key).or_insert(Some(0));
            *known = known.zip(demand.most()).map(|(one, other)| one.saturating_add(other));
        }
        move |demand| all.get(&(demand.source, demand.wish.requirement.clone())).copied().flatten()
    }
}

/// The open parts of a topology.
pub(super) fn slots<'q>(
    question: &FulfilQuestion<'q, '_, '_>,
    filters: &FxHashMap<FilterOwner, PlacedFilter<'_>>,
) -> OpenDemands<'q> {
    let topology = question.topology;
    let mapped = mapped_requirements(topology);
    let mut slots = OpenDemands { selections: Vec::new(), demands: Vec::new() };
    for id in topology.node_ids() {
        let node = topology.node(id);
        let kind = node_type(question.types, node);
        if node.directive() == Directive::Select {
            slots.selections.push(Selection { node: id, kind, incoming: node.incoming.clone() });
        } else if let Some(kind) = kind.filter(|_| instance_uri(node).is_none()) {
            let search = DemandSearch { question, filters, mapped: &mapped, source: id, kind };
            search.demands(&mut slots.demands);
        }
    }
    slots
}

/// The requirements that users of the topology fulfil: names of nodes and of their requirements.
fn mapped_requirements(topology: &Topology) -> FxHashSet<(String, String)> {
    let mut found = FxHashSet::default();
    let requirements = topology.substitution.iter().flat_map(|mapping| &mapping.requirements);
    requirements.for_each(|mapping| paths(&mapping.value.value, &mut found));
    found
}

fn paths(value: &Value, found: &mut FxHashSet<(String, String)>) {
    match value {
        Value::List(items) => match &**items {
            [Value::String(node), Value::String(requirement)] => {
                found.insert((node.to_string(), requirement.to_string()));
            }
            items => items.iter().for_each(|item| paths(item, found)),
        },
        Value::Map(entries) => {
            let mapping = entries.iter().find(|(key, _)| &**key == "mapping");
            mapping.into_iter().for_each(|(_, path)| paths(path, found));
        }
        _ => {}
    }
}

/// Finds the open parts of one node.
struct DemandSearch<'s, 'q, 'a, 't> {
    question: &'s FulfilQuestion<'q, 'a, 't>,
    filters: &'s FxHashMap<FilterOwner, PlacedFilter<'s>>,
    mapped: &'s FxHashSet<(String, String)>,
    source: NodeIndex,
    kind: TypeId,
}

impl<'q> DemandSearch<'_, 'q, '_, '_> {
    fn demands(&self, found: &mut Vec<SlotDemand<'q>>) {
        let (topology, types) = (self.question.topology, self.question.types);
        let node = topology.node(self.source);
        let mut by_name: FxHashMap<&str, Vec<RelationIndex>> = FxHashMap::default();
        for &id in &node.relations {
            by_name.entry(&topology.relation(id).name).or_default().push(id);
        }
        for (name, part) in types.effective(self.kind).requirements.iter() {
            if self.mapped.contains(&(node.name.clone(), (*name).to_owned())) {
                continue;
            }
            let assigned = by_name.remove(name).unwrap_or_default();
            let first = found.len();
            let is_left = || {
                node.directive() != Directive::Substitute || (self.question.leaves)(self.kind, name)
            };
            if assigned.is_empty() && is_left() {
                self.unassigned(name, part, found);
            }
            let open = assigned.iter().filter(|&&id| topology.relation(id).target.is_none());
            open.for_each(|&id| self.assignment(id, &part.definition, first, found));
            let taken = assigned.iter().filter_map(|&id| topology.relation(id).target);
            let taken: FxHashSet<_> = taken.collect();
            found[first..].iter_mut().for_each(|demand| demand.taken.clone_from(&taken));
        }
    }

    /// Adds a demand for a requirement without assignments: the minimal number of relations is
    /// open.
    fn unassigned(
        &self,
        name: &str,
        part: &'q Part<'q, RequirementDefinition<'q>>,
        found: &mut Vec<SlotDemand<'q>>,
    ) {
        let definition = &part.definition;
        let min = bounds(definition).min;
        let copies = self.question.topology.node(self.source).copy.is_some();
        if min > 0 && !copies {
            let occurs = AssignedCount { min, max: Some(min), is_known: true };
            let wish = Wish {
                source: self.kind,
                requirement: name.to_owned(),
                node: self.wanted(definition, None),
                capability: None,
                filter: None,
                allocating: None,
                scope: self.scope(),
                origin: PermittedEnds::InternalFirst,
                from: self.asked_source(definition),
            };
            found.push(self.demand(wish, definition, (None, occurs)));
        }
    }

    fn assignment(
        &self,
        id: RelationIndex,
        definition: &'q RequirementDefinition<'q>,
        first: usize,
        found: &mut Vec<SlotDemand<'q>>,
    ) {
        let relation = self.question.topology.relation(id);
        let occurs = assigned_count(relation);
        let filter = self.filters.contains_key(&FilterOwner::Relation(id)).then_some(id);
        let wish = Wish {
            source: self.kind,
            requirement: relation.name.clone(),
            node: self.wanted(definition, assigned_type(self.question.types, relation)),
            capability: relation.capability.as_ref().map(|it| (it.value.clone(), file_of(it.span))),
            filter,
            allocating: (!relation.allocation.is_empty()).then_some(id),
            scope: self.scope(),
            origin: relation.permitted_ends(),
            from: self.asked_source(definition),
        };
        if occurs.max == Some(0) {
            return;
        }
        match found[first..].iter_mut().find(|demand| demand.wish == wish) {
            Some(same) => same.assigned.push((Some(id), occurs)),
            None => found.push(self.demand(wish, definition, (Some(id), occurs))),
        }
    }

    fn demand(
        &self,
        wish: Wish,
        definition: &'q RequirementDefinition<'q>,
        assigned: (Option<RelationIndex>, AssignedCount),
    ) -> SlotDemand<'q> {
        let assigned = vec![assigned];
        SlotDemand { source: self.source, wish, definition, assigned, taken: FxHashSet::default() }
    }

    fn asked_source(&self, definition: &RequirementDefinition<'_>) -> Option<NodeIndex> {
        definition.node_filters.iter().any(|filter| names_source(*filter)).then_some(self.source)
    }

    fn scope(&self) -> u32 {
        (self.question.scope)(&self.question.topology.node(self.source).name)
    }

    /// The narrower of the types that the definition and the assignment name.
    fn wanted(
        &self,
        definition: &RequirementDefinition<'_>,
        own: Option<TypeId>,
    ) -> Option<TypeId> {
        let types = self.question.types;
        let named = definition
            .node
            .and_then(|node| types.find_in(Some(node.span().file), Family::Node, node.text()?));
        match (own, named) {
            (Some(own), Some(named)) if derives(types, named, own) => Some(named),
            (own, named) => own.or(named),
        }
    }
}

/// Whether a filter asks for the node that has the requirement.
fn names_source(filter: Node<'_>) -> bool {
    filter.as_str() == Some("SOURCE")
        || filter.items().any(names_source)
        || filter.entries().any(|(_, value)| names_source(value))
}

pub(super) fn derives(types: &Types<'_>, one: TypeId, ancestor: TypeId) -> bool {
    types.derives(TypeRef::Defined(one), TypeRef::Defined(ancestor))
}
