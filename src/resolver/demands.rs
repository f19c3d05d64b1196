//! Finds what a node to be substituted demands of the variants of a template (V2), as conditions
//! over the elements of that template.

use crate::orchestrate::substitute::candidate::{CatalogueTemplate, Facade};
use crate::tosca::Types;
use crate::tosca::mapping::{CountBounds, MappingShare};
use crate::tosca::requirement::{AssignedCount, bounds};
use crate::tosca::substitution::SubstitutionMapping;
use crate::variability::choice::{DemandCondition, VariantDemand};
use cuvee_text::yaml::{Node, NodeKind};
use rustc_hash::FxHashMap;

/// The largest condition, and the most mappings of one requirement, that become a demand. Larger
/// ones are dropped: the check of the variants that are found decides then.
const PARTS: usize = 100_000;
const MAPPINGS: usize = 300;

/// The demands of a node on the variants of a template.
pub(super) fn demands(
    template: &CatalogueTemplate<'_>,
    root: Node<'_>,
    types: &Types<'_>,
    facade: &Facade<'_, '_>,
) -> Vec<VariantDemand> {
    let topology = root.get("topology_template");
    let nodes = topology.and_then(|topology| topology.get("node_templates"));
    let asking = DemandedTemplate { template, nodes, types };
    let mut demands = asking.capabilities(facade);
    demands.extend(asking.requirements(facade));
    demands
}

struct DemandedTemplate<'d, 'a, 't> {
    template: &'d CatalogueTemplate<'a>,
    nodes: Option<Node<'d>>,
    types: &'d Types<'t>,
}

/// A node and the requirement of it that a mapping leads to.
type Onto<'d> = (&'d str, &'d str);

/// The relations that a requirement of a node must have.
struct OpenAssignments {
    min: u64,
    /// Positions of assignments without a target, each with the relations that it must have at
    /// least.
    open: Vec<(usize, u64)>,
    /// Positions of assignments with a target, each with the number of their relations.
    fulfilled: Vec<(usize, u64)>,
}

/// The entries that one mapping stands for.
struct DemandedEntries<'d> {
    onto: Vec<Onto<'d>>,
    share: MappingShare,
}

impl<'d> DemandedTemplate<'d, '_, '_> {
    /// The demands of capabilities: a node that relations of others lead to must be present.
    fn capabilities(&self, facade: &Facade<'_, '_>) -> Vec<VariantDemand> {
        let used = |name: &str| facade.capabilities.contains_key(name);
        let mapped = self.template.substitution.capabilities.iter();
        let mapped = mapped.filter(|mapping| used(mapping.named.name));
        let demand = |mapping: &SubstitutionMapping<'_>| {
            let node = mapping.path().first()?.text()?.to_owned();
            let span = mapping.named.key.span();
            Some(VariantDemand { condition: DemandCondition::Node(node), span })
        };
        mapped.filter_map(demand).collect()
    }

    /// The demands of requirements: at most as many mappings of a requirement may lead to mandatory
    /// requirements as the node certainly has relations (R13).
    fn requirements(&self, facade: &Facade<'_, '_>) -> Vec<VariantDemand> {
        let Some(kind) = self.template.kind else { return Vec::new() };
        let mut demands = Vec::new();
        for (name, part) in self.types.effective(kind).requirements.iter() {
            let written = self.template.substitution.requirements.iter();
            let written: Vec<_> = written.filter(|mapping| mapping.named.name == *name).collect();
            let Some(first) = written.first().filter(|_| written.len() <= MAPPINGS) else {
                continue;
            };
            let entries: Vec<_> = written.iter().map(|mapping| self.entries(mapping)).collect();
            let slots = facade.requirements.iter().find(|it| it.name == *name);
            let slots = slots.map_or(u64::MAX, |it| it.slots.len() as u64);
            let most = usize::try_from(bounds(&part.definition).min.min(slots));
            let most = most.unwrap_or(usize::MAX);
            let mandatory = self.mandatory(&entries, most.saturating_add(1));
            if mandatory.len() > most && mandatory.len().saturating_mul(most.max(1)) <= PARTS {
                let condition = DemandCondition::at_most(most, mandatory);
                demands.push(VariantDemand { condition, span: first.named.key.span() });
            }
        }
        demands
    }

    fn entries(&self, mapping: &SubstitutionMapping<'d>) -> DemandedEntries<'d> {
        let pair = |target: &crate::tosca::substitution::MappingTarget<'d>| {
            let [node, requirement] = target.pair()?;
            let onto = (node.text()?, requirement.text()?);
            self.assignments(onto).is_some().then_some(onto)
        };
        let onto = mapping.targets.iter().filter_map(pair).collect();
        DemandedEntries { onto, share: mapping.share }
    }

    /// The condition under which each entry leads to a mandatory requirement. Of one mapping, this
    /// gives at most `enough` conditions.
    fn mandatory(&self, all: &[DemandedEntries<'d>], enough: usize) -> Vec<DemandCondition> {
        let enough = enough as u64;
        let mut used: FxHashMap<Onto<'d>, u64> = FxHashMap::default();
        let mut found = Vec::new();
        for (position, entries) in all.iter().enumerate() {
            let count = match entries.share {
                // A mapping that is the only one stands for as many entries as its targets take.
                MappingShare::One | MappingShare::Rest => enough,
                MappingShare::Times(count) => count.min(enough),
            };
            for entry in 1..=count {
                let of = |onto: &Onto<'d>| {
                    let before = used.get(onto).copied().unwrap_or(0);
                    self.takes_for_certain(*onto, before.saturating_add(entry))
                };
                let ways: Vec<_> = entries.onto.iter().filter_map(of).collect();
                if ways.is_empty() {
                    break;
                }
                let mut condition = DemandCondition::AtLeast(1, ways);
                if entries.share == MappingShare::One && entry > 1 {
                    let alone = none_of(all, position);
                    condition = DemandCondition::all(vec![condition, alone]);
                }
                found.push(condition);
            }
            let taken = match entries.share {
                MappingShare::One => 1,
                MappingShare::Times(count) => count,
                MappingShare::Rest => 0,
            };
            for onto in &entries.onto {
                let used = used.entry(*onto).or_default();
                *used = used.saturating_add(taken);
            }
        }
        found
    }

    /// The condition under which a requirement of a node has at least `count` relations that need
    /// targets; `None` if it never has.
    fn takes_for_certain(&self, onto: Onto<'d>, count: u64) -> Option<DemandCondition> {
        let (node, _) = onto;
        let OpenAssignments { min, open, fulfilled } = self.assignments(onto)?;
        let of = |all: Vec<(usize, u64)>, most: u64| {
            let each = all.into_iter().flat_map(|(position, times)| {
                let times = usize::try_from(times.min(most)).unwrap_or(usize::MAX);
                std::iter::repeat_n(DemandCondition::Relation(node.to_owned(), position), times)
            });
            each.collect::<Vec<_>>()
        };
        let mut ways = Vec::new();
        let wanted = usize::try_from(count).ok()?;
        let open = of(open, count);
        if open.len() >= wanted {
            ways.push(DemandCondition::AtLeast(wanted, open));
        }
        if min >= count {
            let left = usize::try_from(min - count).ok()?;
            ways.push(DemandCondition::at_most(left, of(fulfilled, min)));
        }
        let there = DemandCondition::Node(node.to_owned());
        let needs = DemandCondition::AtLeast(1, ways.clone());
        (!ways.is_empty()).then(|| DemandCondition::all(vec![there, needs]))
    }

    /// The assignments of a node to a requirement; `None` if the node's type has no such
    /// requirement, or if the type differs between variants.
    fn assignments(&self, (node, requirement): Onto<'_>) -> Option<OpenAssignments> {
        let body = self.nodes?.get(node)?;
        let kind =
            crate::orchestrate::substitute::candidate::kind_of(self.types, body.get("type"))?;
        let part = self.types.effective(kind).requirements.get(requirement)?;
        let CountBounds { min, .. } = bounds(&part.definition);
        let mut found = OpenAssignments { min, open: Vec::new(), fulfilled: Vec::new() };
        for (position, (name, assignment)) in listed(body.get("requirements")).enumerate() {
            if name.text() != Some(requirement) {
                continue;
            }
            let count = AssignedCount::read(assignment);
            let target = assignment.text().or_else(|| assignment.get("node")?.text());
            let is_node = |name: &str| self.nodes.is_some_and(|nodes| nodes.get(name).is_some());
            match target.is_some_and(is_node) {
                true => found.fulfilled.push((position, count.max.unwrap_or(count.min.max(1)))),
                false => found.open.push((position, count.min)),
            }
        }
        Some(found)
    }
}

/// The condition that no target of the other mappings is present.
fn none_of(all: &[DemandedEntries<'_>], but: usize) -> DemandCondition {
    let others = all
        .iter()
        .enumerate()
        .filter(|(position, entries)| *position != but && entries.share != MappingShare::Times(0));
    let nodes = others.flat_map(|(_, entries)| &entries.onto);
    let nodes = nodes.map(|(node, _)| DemandCondition::Node((*node).to_owned()));
    DemandCondition::at_most(0, nodes.collect())
}

/// The requirement assignments of a list, or of a map as earlier versions write them.
fn listed<'d>(requirements: Option<Node<'d>>) -> impl Iterator<Item = (Node<'d>, Node<'d>)> {
    let is_map = requirements.is_some_and(|it| it.kind() == NodeKind::Mapping);
    let entries = requirements.filter(|_| is_map).into_iter().flat_map(Node::entries);
    let items = requirements.filter(|_| !is_map).into_iter().flat_map(Node::items);
    entries.chain(items.flat_map(Node::entries))
}
