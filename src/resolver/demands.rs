//! What a node that is to be substituted asks of the variants of a template (V2), as conditions over
//! the elements of that.

use crate::orchestrate::substitute::candidate::{CatalogueTemplate, Facade};
use crate::text::yaml::{Node, NodeKind};
use crate::tosca::Types;
use crate::tosca::mapping::{CountBounds, MappingShare};
use crate::tosca::requirement::{AssignedCount, bounds};
use crate::tosca::substitution::SubstitutionMapping;
use crate::variability::choice::{DemandCondition, VariantDemand};
use rustc_hash::FxHashMap;

/// Conditions that are larger, or of more mappings, are left to who judges the variants that are
/// found.
const PARTS: usize = 100_000;
const MAPPINGS: usize = 300;

/// Says what a node asks of variants of a template.
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

/// A requirement of a node onto which something is mapped.
type Onto<'d> = (&'d str, &'d str);

/// How many relations one takes that have to be there.
struct OpenAssignments {
    min: u64,
    /// The positions of assignments without a target, with how many relations they need.
    open: Vec<(usize, u64)>,
    /// Likewise those with one, with how many they are.
    fulfilled: Vec<(usize, u64)>,
}

/// Entries of one mapping.
struct DemandedEntries<'d> {
    onto: Vec<Onto<'d>>,
    share: MappingShare,
}

impl<'d> DemandedTemplate<'d, '_, '_> {
    /// Where relations lead there are nodes.
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

    /// Of the mappings of a requirement, those onto mandatory ones are at most as many as there are
    /// relations for certain (R13).
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

    /// When each entry leads onto a mandatory requirement: no more of one mapping than are enough.
    fn mandatory(&self, all: &[DemandedEntries<'d>], enough: usize) -> Vec<DemandCondition> {
        let enough = enough as u64;
        let mut used: FxHashMap<Onto<'d>, u64> = FxHashMap::default();
        let mut found = Vec::new();
        for (position, entries) in all.iter().enumerate() {
            let count = match entries.share {
                // Where it is the only one, it takes as many as there are.
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

    /// When a requirement of a node has so many relations at least that need targets; nothing where
    /// it never has.
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

    /// What a node assigns to a requirement; nothing where its type has none of that name, or is not
    /// the same in all variants.
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

/// That nothing is there onto which others are mapped.
fn none_of(all: &[DemandedEntries<'_>], but: usize) -> DemandCondition {
    let others = all
        .iter()
        .enumerate()
        .filter(|(position, entries)| *position != but && entries.share != MappingShare::Times(0));
    let nodes = others.flat_map(|(_, entries)| &entries.onto);
    let nodes = nodes.map(|(node, _)| DemandCondition::Node((*node).to_owned()));
    DemandCondition::at_most(0, nodes.collect())
}

/// The assignments of a list, or of a map as earlier versions have it.
fn listed<'d>(requirements: Option<Node<'d>>) -> impl Iterator<Item = (Node<'d>, Node<'d>)> {
    let is_map = requirements.is_some_and(|it| it.kind() == NodeKind::Mapping);
    let entries = requirements.filter(|_| is_map).into_iter().flat_map(Node::entries);
    let items = requirements.filter(|_| !is_map).into_iter().flat_map(Node::items);
    entries.chain(items.flat_map(Node::entries))
}
