//! Selects existing nodes, and finds targets for requirements without one. Both are decided at
//! once; only what filters cannot decide before something else is there comes after that.
//!
//! The open parts of a topology ([`slots`]) are checked against its own nodes and those of an
//! [`Inventory`] ([`targets`]). What fits becomes clauses, and their best solution is taken
//! ([`solve`]).

mod allocated;
mod filters;
mod incoming;
mod inventory;
mod least;
mod network;
mod sharing;
mod slots;
mod solve;
mod subject;
mod targets;
mod told;
mod uses;
mod write;

pub(crate) use allocated::{Allocations, amounts, in_base, is_more, lacking};
pub(crate) use filters::{FilterOwner, FilterTexts, PlacedFilter};
pub(crate) use inventory::node_type;
pub use inventory::{Inventory, InventoryCapability, InventoryNode};
pub(crate) use slots::assigned_count;
pub(crate) use subject::{FilterGraph, GraphNode, NodeSubject};
pub(crate) use uses::{capability_bound, capability_uses, fitting};

use crate::diagnostic::Diagnostics;
use crate::orchestrate::evaluated::evaluate;
use crate::topology::scope::TopologyScope;
use crate::topology::{NodeIndex, RelationIndex, Topology, TopologyNode};
use crate::tosca::types::schemas::Schemas;
use crate::tosca::{Directive, TypeId, Types};
use cuvee_sat::solve::SolverSettings;
use cuvee_text::yaml::{Out, OutNode};
use incoming::IncomingUses;
use rustc_hash::{FxHashMap, FxHashSet};
use slots::{OpenDemands, SlotDemand, slots};
use solve::{FulfilOptions, FulfilProblem, Solved, solved};
use std::borrow::Cow;
use std::rc::Rc;
use targets::{DemandOptions, Fitting, FulfilOption, FulfilTargets};
use told::Teller;
use write::write;

/// The input of a fulfilment.
#[derive(Clone, Copy)]
pub(crate) struct FulfilQuestion<'q, 'a, 't> {
    /// A document with the values of functions, as far as they are known.
    pub document: OutNode<'q, 'a>,
    /// Its topology.
    pub topology: &'q Topology,
    pub types: &'q Types<'t>,
    pub inventory: &'q Inventory,
    /// The template that a node of this name comes from. Its requirements are only fulfilled by
    /// nodes of the same template and of the inventory.
    pub scope: &'q dyn Fn(&str) -> u32,
    /// Whether a template that substitutes nodes of this type leaves this requirement to them. It
    /// has the other requirements itself, so these are not looked for unless they are assigned.
    pub leaves: &'q dyn Fn(TypeId, &str) -> bool,
}

/// The node that something leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FoundNode {
    /// A node of the topology.
    Own(NodeIndex),
    /// A node of the inventory, by its position.
    Stored(usize),
}

/// A relation that got a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FulfilledRelation {
    pub source: NodeIndex,
    pub requirement: String,
    /// The assignment of the relation; `None` if there is none.
    pub assignment: Option<RelationIndex>,
    pub target: FoundNode,
    /// The capability, if the target has several that fit.
    pub capability: Option<String>,
}

/// A directive that does not work for a node, which has another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PassedDirective {
    pub node: NodeIndex,
    /// The directive that is tried next.
    pub next: Directive,
    /// Why this one does not work.
    pub reason: String,
}

/// The result of a fulfilment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fulfilment {
    /// Nodes for which nothing can be selected, and that have other directives.
    pub passed: Vec<PassedDirective>,
    /// The nodes that are selected, each with the position of its counterpart in the inventory.
    pub selected: Vec<(NodeIndex, usize)>,
    /// The relations that got a target, in the order of declaration.
    pub relations: Vec<FulfilledRelation>,
    /// The assignments that stay open, with the number of their open relations.
    pub open: Vec<(RelationIndex, u64)>,
    /// Whether it is proven that no better result exists.
    pub is_proven: bool,
    /// Whether there is more to fulfil, by filters that ask for what is fulfilled here.
    pub is_waiting: bool,
}

impl Fulfilment {
    /// Whether nothing was found, and nothing stays open.
    pub(crate) fn is_nothing(&self) -> bool {
        let Self { passed, open, .. } = self;
        passed.is_empty() && !self.leads_on() && open.is_empty()
    }

    /// Whether filters may ask for something that was found.
    fn leads_on(&self) -> bool {
        !self.selected.is_empty() || !self.relations.is_empty()
    }

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

/// Fulfils what a document leaves open, and writes it there. What filters can only decide once other
/// parts are fulfilled waits for these (TOSCA 2.0, section 4.2.2). `evaluated` is the document with
/// the values of functions, and `tell` is called with what is found, each time before it is written.
///
/// # Errors
/// `no-selection` and `unfulfilled-requirement`.
pub(crate) fn fulfil<'a>(
    mut document: Out<'a>,
    mut evaluated: Option<Out<'a>>,
    question: &FulfilQuestion<'_, '_, '_>,
    settings: &SolverSettings,
    tell: &mut dyn FnMut(&Fulfilment, &Topology),
) -> Result<(Out<'a>, Option<Out<'a>>, Diagnostics), Diagnostics> {
    let FulfilQuestion { types, inventory, .. } = *question;
    let mut warnings = Diagnostics::default();
    let mut so_far: Option<Topology> = None;
    loop {
        let topology = so_far.as_ref().unwrap_or(question.topology);
        let written = OutNode::root(evaluated.as_ref().unwrap_or(&document));
        let question = FulfilQuestion { document: written, topology, ..*question };
        let (found, more) = found(&question, settings)?;
        warnings.0.extend(more.0);
        tell(&found, topology);
        // What was put together from parts already, and has nothing to add, stays as it is.
        if matches!(document, Out::Map { .. }) && found.is_nothing() {
            return Ok((document, evaluated, warnings));
        }
        let write = |document: &Out<'a>| write(document, topology, types, inventory, &found);
        (evaluated, document) = (evaluated.as_ref().map(write), write(&document));
        if !found.is_waiting {
            return Ok((document, evaluated, warnings));
        }
        let mut next = Topology::read(evaluated.as_ref().unwrap_or(&document), &|_| false);
        next.inputs.clone_from(&topology.inputs);
        evaluate(&mut next, types);
        so_far = Some(next);
    }
}

/// Selects nodes and fulfils requirements, but for those that wait. Returns warnings as well. A node
/// for which nothing can be selected follows the next of its directives (TOSCA 2.0, section 7.2).
fn found(
    question: &FulfilQuestion<'_, '_, '_>,
    settings: &SolverSettings,
) -> Result<(Fulfilment, Diagnostics), Diagnostics> {
    let mut passed = Vec::new();
    let mut topology = Cow::Borrowed(question.topology);
    loop {
        let question = FulfilQuestion { topology: &topology, ..*question };
        let attempted = match attempt(&question, settings, true) {
            // Nothing that is there decides what waits.
            Ok((found, _)) if found.is_waiting && !found.leads_on() => {
                attempt(&question, settings, false)
            }
            attempted => attempted,
        };
        let failed = match attempted {
            Ok((found, warnings)) => return Ok((Fulfilment { passed, ..found }, warnings)),
            Err(failed) => failed,
        };
        let mut others = failed.unselected;
        others.retain(|(node, _)| topology.node(*node).directives.len() > 1);
        if others.is_empty() {
            return Err(failed.errors);
        }
        let topology = topology.to_mut();
        for (node, reason) in others {
            let template = &mut topology.nodes[node.index()];
            template.directives.remove(0);
            passed.push(PassedDirective { node, next: template.directive(), reason });
        }
    }
}

/// The reason why a fulfilment is impossible.
struct FailedAttempt {
    errors: Diagnostics,
    /// The nodes for which nothing was selected, each with the reason. Of nodes that compete, only
    /// the last one that has another directive.
    unselected: Vec<(NodeIndex, String)>,
}

/// Fulfils all that is open at once; what waits is left out where `may_wait`.
fn attempt(
    question: &FulfilQuestion<'_, '_, '_>,
    settings: &SolverSettings,
    may_wait: bool,
) -> Result<(Fulfilment, Diagnostics), FailedAttempt> {
    let schemas = Schemas::new(question.types);
    let texts = FilterTexts::of(question.document, question.topology);
    let filters = texts.read();
    let mut slots = slots(question, &filters);
    if slots.selections.is_empty() && slots.demands.is_empty() {
        return Ok((
            Fulfilment { is_proven: true, ..Fulfilment::default() },
            Diagnostics::default(),
        ));
    }
    let uses = capability_uses(question.topology, question.types);
    let graph = TopologyScope::of(question.topology, question.types);
    let allocations = Allocations::of(question.topology, question.types, &uses);
    let mut targets = FulfilTargets::of(question, (&schemas, &graph), &filters, &allocations);
    let mut selectable: Vec<Fitting<usize>> =
        slots.selections.iter().map(|selection| targets.selectable(selection)).collect();
    let mut fitting: Vec<_> = slots.demands.iter().map(|demand| targets.fitting(demand)).collect();
    let is_waiting =
        may_wait && (selectable.iter().any(Fitting::waits) || fitting.iter().any(|it| it.waits()));
    if is_waiting {
        retain(&mut slots.selections, &mut selectable, |it| !it.waits());
        retain(&mut slots.demands, &mut fitting, |it| !it.waits());
    }
    let most = slots.most();
    let mut usable = UsableOptions { targets: &targets, known: FxHashMap::default() };
    let demands = slots.demands.iter().zip(&fitting);
    let options = FulfilOptions {
        demands: demands
            .map(|(demand, fitting)| usable.of(demand, most(demand), fitting))
            .collect(),
        selections: selectable.iter().map(|fitting| fitting.options.clone()).collect(),
        incoming: slots
            .selections
            .iter()
            .zip(&selectable)
            .map(|(selection, fitting)| {
                let options = fitting.options.iter();
                let kinds = options.filter_map(|&target| targets.all[target].kind);
                IncomingUses::of(question, selection, kinds)
            })
            .collect(),
    };
    let teller = Teller { question, slots: &slots, targets: &targets };
    let lacking = teller.lacking(&options, &selectable, &fitting);
    if lacking.has_errors() {
        let unselected = teller.unselected(&selectable);
        return Err(FailedAttempt { errors: lacking, unselected });
    }
    let problem = FulfilProblem { slots: &slots, targets: &targets, options: &options };
    match solved(problem, settings) {
        Ok(solved) => {
            let mut warnings = teller.ambiguous(&solved);
            warnings.0.extend((!solved.is_proven).then(told::unproven));
            let mut found = fulfilment(&slots, &targets, &solved);
            if is_waiting {
                // What stays open is only known at the end.
                found.open.clear();
            }
            Ok((Fulfilment { is_waiting, ..found }, warnings))
        }
        Err(unsolved) => Err(teller.failed(unsolved)),
    }
}

/// Keeps those of which the second list says so.
fn retain<T, F>(list: &mut Vec<T>, beside: &mut Vec<F>, keeps: impl Fn(&F) -> bool) {
    let mut kept = beside.iter().map(&keeps);
    list.retain(|_| kept.next().unwrap_or(true));
    beside.retain(keeps);
}

/// Finds the options of demands that a best solution may contain. Most demands with the same wish
/// have the same.
struct UsableOptions<'f, 'q, 't> {
    targets: &'f FulfilTargets<'q, 't>,
    known: FxHashMap<(*const Fitting<FulfilOption>, Option<usize>), Rc<DemandOptions>>,
}

impl UsableOptions<'_, '_, '_> {
    /// The options that a best solution may contain, and one more, which shows whether another
    /// solution is as good. `most` is the number of relations.
    fn of(
        &mut self,
        demand: &SlotDemand<'_>,
        most: Option<usize>,
        fitting: &Rc<Fitting<FulfilOption>>,
    ) -> Rc<DemandOptions> {
        let enough = most.map(|most| most.saturating_add(1));
        let is_its_own = |node: &NodeIndex| fitting.nodes.contains(node);
        let find = || Rc::new(DemandOptions::of(self.find(demand, enough, &fitting.options)));
        if is_its_own(&demand.source) || demand.taken.iter().any(is_its_own) {
            return find();
        }
        let key = (Rc::as_ptr(fitting), enough);
        if let Some(known) = self.known.get(&key) {
            return Rc::clone(known);
        }
        let found = find();
        self.known.insert(key, Rc::clone(&found));
        found
    }

    /// Options after that many targets of the template with unbounded capabilities are left out. A
    /// node is its own target only if nothing else fits.
    fn find(
        &self,
        demand: &SlotDemand<'_>,
        enough: Option<usize>,
        options: &[FulfilOption],
    ) -> Vec<FulfilOption> {
        let node = |option: &FulfilOption| self.targets.all[option.target].node;
        let is_free =
            |option: &&FulfilOption| node(option).is_none_or(|node| !demand.taken.contains(&node));
        let mut others = options.iter().filter(is_free);
        if others.all(|option| node(option) == Some(demand.source)) {
            return options.iter().filter(is_free).cloned().collect();
        }
        let mut unbounded = FxHashSet::default();
        let mut kept = Vec::new();
        for option in options.iter().filter(is_free) {
            if enough.is_some_and(|enough| unbounded.len() >= enough) {
                break;
            }
            // Further capabilities of a target after an unbounded one are not needed.
            if node(option) == Some(demand.source) || unbounded.contains(&option.target) {
                continue;
            }
            let target = &self.targets.all[option.target];
            let is_unbounded =
                target.left(&option.capability).is_none() && demand.wish.allocating.is_none();
            if target.stored.is_none() && is_unbounded {
                unbounded.insert(option.target);
            }
            if target.left(&option.capability) != Some(0) {
                kept.push(option.clone());
            }
        }
        kept
    }
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
                capability: (!option.is_only).then(|| option.capability.to_string()),
            });
        }
        for (assignment, open) in demand.open(&slots) {
            found.open.push((assignment, open));
        }
    }
    // A relation to an inventory node leads to the node that it was selected for.
    let selected = found.selected.iter().map(|&(node, stored)| (FoundNode::Stored(stored), node));
    let selected: FxHashMap<_, _> = selected.collect();
    for relation in &mut found.relations {
        if let Some(&node) = selected.get(&relation.target) {
            relation.target = FoundNode::Own(node);
        }
    }
    found
}

/// The URI of the existing node that a node stands for.
fn instance_uri(node: &TopologyNode) -> Option<&str> {
    let entry = node.described.metadata.iter().find(|entry| entry.name == "instance")?;
    entry.value.value.as_str()
}
