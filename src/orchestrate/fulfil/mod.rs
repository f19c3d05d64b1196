//! Selects nodes that are there already, and finds targets for requirements that have none: all at
//! once, never one after the other.
//!
//! What a topology leaves open ([`slots`]) is held against nodes of its own and of an [`Inventory`]
//! ([`targets`]), and what fits becomes clauses whose best solution is taken ([`solve`]).

mod filters;
mod inventory;
mod slots;
mod solve;
mod subject;
mod targets;
mod told;
mod uses;
mod write;

pub use inventory::{Inventory, InventoryCapability, InventoryNode};
pub(crate) use subject::NodeSubject;
pub(crate) use uses::{capability_bound, capability_uses, fitting};
pub(crate) use write::write;

use crate::sat::solve::SolverSettings;
use crate::text::diagnostic::Diagnostics;
use crate::text::yaml::OutNode;
use crate::topology::{NodeIndex, RelationIndex, Topology, TopologyNode};
use crate::tosca::types::schemas::Schemas;
use crate::tosca::{TypeId, Types};
use filters::FilterTexts;
use rustc_hash::FxHashSet;
use slots::{OpenDemands, SlotDemand, slots};
use solve::{FulfilOptions, Solved, solved};
use targets::{Fitting, FulfilOption, FulfilTargets};
use told::Teller;

/// What is asked.
#[derive(Clone, Copy)]
pub(crate) struct FulfilQuestion<'q, 'a, 't> {
    /// A document with the values that functions have, as far as they are known.
    pub document: OutNode<'q, 'a>,
    /// Its topology.
    pub topology: &'q Topology,
    pub types: &'q Types<'t>,
    pub inventory: &'q Inventory,
    /// Of which template a node of this name is: targets are looked for among its nodes and those of
    /// the inventory.
    pub scope: &'q dyn Fn(&str) -> u32,
    /// Whether what may take the place of nodes of a type that are to be substituted leaves a
    /// requirement to them. It has the others itself, so that nobody looks for what nobody wrote.
    pub leaves: &'q dyn Fn(TypeId, &str) -> bool,
}

/// Where something leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FoundNode {
    /// To a node of the topology.
    Own(NodeIndex),
    /// To one of the inventory, by its position.
    Stored(usize),
}

/// A relation that leads somewhere now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FulfilledRelation {
    pub source: NodeIndex,
    pub requirement: String,
    /// The assignment; nothing where there is none.
    pub assignment: Option<RelationIndex>,
    pub target: FoundNode,
    /// The capability, where the target has more than one that fits.
    pub capability: Option<String>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fulfilment {
    /// The nodes that are selected, by the positions of what they are in the inventory.
    pub selected: Vec<(NodeIndex, usize)>,
    /// In the order of declaration.
    pub relations: Vec<FulfilledRelation>,
    /// Assignments that stay open, with how many of their relations do.
    pub open: Vec<(RelationIndex, u64)>,
    /// Whether nothing better can be found.
    pub is_proven: bool,
}

impl Fulfilment {
    /// The nodes of the inventory that are used.
    pub(crate) fn stored(&self) -> FxHashSet<usize> {
        let selected = self.selected.iter().map(|(_, stored)| *stored);
        let targets = self.relations.iter().filter_map(|relation| match relation.target {
            FoundNode::Stored(stored) => Some(stored),
            FoundNode::Own(_) => None,
        });
        selected.chain(targets).collect()
    }
}

/// Selects and fulfils, with warnings.
///
/// # Errors
/// `no-selection` and `unfulfilled-requirement`.
pub(crate) fn fulfil(
    question: &FulfilQuestion<'_, '_, '_>,
    settings: &SolverSettings,
) -> Result<(Fulfilment, Diagnostics), Diagnostics> {
    let schemas = Schemas::new(question.types);
    let texts = FilterTexts::of(question.document, question.topology);
    let filters = texts.read();
    let slots = slots(question, &filters);
    if slots.selections.is_empty() && slots.demands.is_empty() {
        return Ok((
            Fulfilment { is_proven: true, ..Fulfilment::default() },
            Diagnostics::default(),
        ));
    }
    let uses = capability_uses(question.topology, question.types);
    let mut targets = FulfilTargets::of(question, &schemas, &filters, &uses);
    let selectable: Vec<Fitting<usize>> =
        slots.selections.iter().map(|selection| targets.selectable(selection)).collect();
    let fitting: Vec<_> = slots.demands.iter().map(|demand| targets.fitting(demand)).collect();
    let demands = slots.demands.iter().zip(&fitting);
    let most = slots.most();
    let options = FulfilOptions {
        demands: demands
            .map(|(demand, fitting)| usable(demand, most(demand), &fitting.options, &targets))
            .collect(),
        selections: selectable.iter().map(|fitting| fitting.options.clone()).collect(),
    };
    let teller = Teller { question, slots: &slots, targets: &targets };
    let lacking = teller.lacking(&options, &selectable, &fitting);
    if lacking.has_errors() {
        return Err(lacking);
    }
    match solved(question, &slots, &targets, &options, settings) {
        Ok(solved) => {
            let mut warnings = teller.ambiguous(&solved);
            warnings.0.extend((!solved.is_proven).then(told::unproven));
            Ok((fulfilment(&slots, &targets, &solved), warnings))
        }
        Err(unsolved) => Err(teller.unsolved(unsolved)),
    }
}

/// The ways to fulfil a demand that can be in a solution that is best, and one more, so that it is seen
/// where another one is as good: behind so many targets of the template whose capabilities are not
/// bounded nobody needs to look. A node is its own target only where nothing else fits.
fn usable(
    demand: &SlotDemand<'_>,
    most: Option<usize>,
    options: &[FulfilOption],
    targets: &FulfilTargets<'_, '_>,
) -> Vec<FulfilOption> {
    let node = |option: &FulfilOption| targets.all[option.target].node;
    let is_free =
        |option: &&FulfilOption| node(option).is_none_or(|node| !demand.taken.contains(&node));
    let others = options.iter().filter(is_free);
    let others: Vec<_> = others.filter(|option| node(option) != Some(demand.source)).collect();
    if others.is_empty() {
        return options.iter().filter(is_free).cloned().collect();
    }
    let enough = most.map(|most| most.saturating_add(1));
    let mut unbounded = FxHashSet::default();
    let mut kept = Vec::new();
    for option in others {
        if enough.is_some_and(|enough| unbounded.len() >= enough) {
            break;
        }
        // Of the capabilities of a target nobody needs those behind one that is not bounded.
        if unbounded.contains(&option.target) {
            continue;
        }
        let target = &targets.all[option.target];
        if target.stored.is_none() && target.left(&option.capability).is_none() {
            unbounded.insert(option.target);
        }
        if target.left(&option.capability) != Some(0) {
            kept.push(option.clone());
        }
    }
    kept
}

fn fulfilment(
    slots: &OpenDemands<'_>,
    targets: &FulfilTargets<'_, '_>,
    solved: &Solved,
) -> Fulfilment {
    let mut found = Fulfilment { is_proven: solved.is_proven, ..Fulfilment::default() };
    for (selection, &target) in slots.selections.iter().zip(&solved.selected) {
        let stored = targets.all[target].stored;
        found.selected.extend(stored.map(|stored| (selection.node, stored)));
    }
    for (demand, taken) in slots.demands.iter().zip(&solved.fulfilled) {
        let slots = demand.slots(taken.len());
        for (option, assignment) in taken.iter().zip(&slots) {
            let target = &targets.all[option.target];
            let own = target.node.map(FoundNode::Own);
            let Some(target) = own.or(target.stored.map(FoundNode::Stored)) else { continue };
            found.relations.push(FulfilledRelation {
                source: demand.source,
                requirement: demand.wish.requirement.clone(),
                assignment: *assignment,
                target,
                capability: (!option.is_only).then(|| option.capability.clone()),
            });
        }
        for (assignment, open) in demand.open(&slots) {
            found.open.push((assignment, open));
        }
    }
    // What one node of the inventory was selected for stands for it.
    for relation in &mut found.relations {
        let selected = found.selected.iter();
        let mut same = selected.filter(|(_, stored)| FoundNode::Stored(*stored) == relation.target);
        if let Some((node, _)) = same.next() {
            relation.target = FoundNode::Own(*node);
        }
    }
    found
}

/// Whether a node is to be selected.
fn is_to_be_selected(node: &TopologyNode) -> bool {
    node.directives.iter().any(|directive| matches!(&*directive.value, "select" | "selectable"))
}

/// Whether another template takes the place of a node.
fn is_to_be_substituted(node: &TopologyNode) -> bool {
    node.directives.iter().any(|directive| &*directive.value == "substitute")
}

/// What a node is in an inventory.
fn instance_uri(node: &TopologyNode) -> Option<&str> {
    let entry = node.described.metadata.iter().find(|entry| entry.name == "instance")?;
    entry.value.value.as_str()
}
