//! Shares out places: which relation leads to which capability, and which existing node is
//! selected, as far as only numbers limit that.
//!
//! Relations and the places that capabilities have are a network, and what can be fulfilled is a
//! flow in it. If the flow is too small, what a last search met is a set of which every part is
//! needed for that (P. Hall, On representatives of subsets, Journal of the London Mathematical
//! Society 1935). If it is not, it becomes the best one, and decides all relations of which the
//! network says everything. The rest is for the solver ([`super::solve`]): selected nodes with what
//! leads to them, assignments of one requirement that need different targets, and existing nodes of
//! which as few as possible are used.

use super::network::{FlowNetwork, UNBOUNDED};
use super::slots::OpenDemands;
use super::solve::{Chooser, FulfilOptions, FulfilProblem, FulfilReason, NotSolved, TOLD};
use super::targets::{DemandOptions, FulfilOption, FulfilTargets};
use crate::tosca::PermittedEnds;
use cuvee_sat::solve::Limit;
use indexmap::IndexSet;
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::rc::Rc;

/// The ends of the network. Places of nodes of the template come first, then those of existing
/// nodes that are in the template, then those of other existing nodes.
const ENDS: Range<usize> = 0..3;

/// The node from which the units of optional relations come.
const OPTIONAL: usize = 3;

/// How many nodes searches may meet before the limit counts.
const UNTIMED: usize = 1_000_000;

/// How many competitors a message is made minimal for at most.
const MINIMISED: usize = 200;

/// The relations of demands that the network decides.
pub(super) struct SharedPlaces {
    /// The options that are taken, for each demand that is decided.
    pub fulfilled: Vec<Option<Vec<FulfilOption>>>,
    /// The demands that could as well have other targets, with one of these.
    pub ambiguous: Vec<(Chooser, Vec<usize>)>,
    /// Whether there was time to find the best solution.
    pub is_proven: bool,
}

/// Options as arcs to their places.
struct OptionArcs {
    /// The node that the arcs leave.
    node: usize,
    arcs: Vec<usize>,
    /// The first option that has not failed yet.
    next: usize,
    /// Whether no further relation can get any of these options.
    is_exhausted: bool,
}

/// A demand in the network.
struct SharedDemand {
    node: usize,
    /// The arc from which the units of its optional relations come.
    optional: usize,
    mandatory: usize,
    most: usize,
    /// The arc to options that other demands have as well.
    entry: Option<usize>,
    options: usize,
}

/// The network while it is made.
struct Sharing<'s, 'q, 't> {
    targets: &'s FulfilTargets<'q, 't>,
    options: &'s FulfilOptions,
    network: FlowNetwork,
    /// The reason why a unit has to pass a node, or why only some can.
    reasons: FxHashMap<usize, FulfilReason>,
    selections: Vec<usize>,
    demands: Vec<SharedDemand>,
    arcs: Vec<OptionArcs>,
    places: FxHashMap<FulfilReason, usize>,
    /// The first place of each target.
    first: FxHashMap<usize, usize>,
    /// Nodes that are decided together.
    together: Vec<[usize; 2]>,
    /// Nodes of which the network does not say everything.
    open: Vec<usize>,
}

/// Shares out the places.
///
/// # Errors
/// The relations and selections that compete, with the bounds that are too small for them.
pub(super) fn share(
    FulfilProblem { slots, targets, options }: FulfilProblem<'_, '_, '_>,
    limit: &Limit,
) -> Result<SharedPlaces, NotSolved> {
    let mut network = FlowNetwork::default();
    for _ in ENDS.start..=OPTIONAL {
        network.node();
    }
    let mut sharing = Sharing {
        targets,
        options,
        network,
        reasons: FxHashMap::default(),
        selections: Vec::new(),
        demands: Vec::new(),
        arcs: Vec::new(),
        places: FxHashMap::default(),
        first: FxHashMap::default(),
        together: Vec::new(),
        open: Vec::new(),
    };
    sharing.selections();
    sharing.demands(slots);
    sharing.fill(limit)?;
    let is_decided = sharing.decided();
    let fulfilled = sharing.best(&is_decided, limit);
    let is_proven = !sharing.is_over(limit);
    let ambiguous = if is_proven { sharing.ambiguous(&fulfilled) } else { Vec::new() };
    Ok(SharedPlaces { fulfilled, ambiguous, is_proven })
}

impl Sharing<'_, '_, '_> {
    /// A node that has a reason.
    fn node(&mut self, reason: FulfilReason) -> usize {
        let node = self.network.node();
        self.reasons.insert(node, reason);
        node
    }

    /// The node of a capability or of an existing node, from which units go to an end.
    fn place(&mut self, target: usize, reason: FulfilReason, left: Option<u64>) -> usize {
        if let Some(&known) = self.places.get(&reason) {
            return known;
        }
        let node = self.node(reason.clone());
        let left = left.and_then(|left| u32::try_from(left).ok()).unwrap_or(UNBOUNDED);
        let of = &self.targets.all[target];
        let end = usize::from(of.stored.is_some()) + usize::from(of.is_new());
        self.network.arc(node, end, left.min(UNBOUNDED));
        self.places.insert(reason, node);
        let first = *self.first.entry(target).or_insert(node);
        self.together.push([first, node]);
        // Several relations to one existing node count once.
        if of.is_new() && (left != 1 || first != node) {
            self.open.push(node);
        }
        node
    }

    fn selections(&mut self) {
        let mut known: FxHashMap<(&[usize], Vec<FulfilReason>), usize> = FxHashMap::default();
        let all = self.options.selections.iter().zip(&self.options.incoming).enumerate();
        for (index, (options, incoming)) in all {
            let node = self.node(FulfilReason::Selection(index));
            self.selections.push(node);
            self.open.push(node);
            // Of a node with too few places for the relations to a selected one nothing is left.
            let full = options.iter().filter_map(|&target| {
                let full = incoming.too_many(&self.targets.all[target])?;
                Some(FulfilReason::Capacity(target, Rc::clone(full)))
            });
            let key = (&**options, full.collect::<Vec<_>>());
            let shared = match known.get(&key) {
                Some(&shared) => shared,
                None => {
                    let shared = self.network.node();
                    self.selection_arcs(shared, options, &key.1);
                    known.insert(key, shared);
                    shared
                }
            };
            self.network.arc(node, shared, 1);
        }
    }

    /// Adds arcs from a node to existing nodes that can be selected, some of which are full.
    fn selection_arcs(&mut self, node: usize, options: &[usize], full: &[FulfilReason]) {
        let mut full = full.iter().peekable();
        for &target in options {
            let is_it = |reason: &&FulfilReason| matches!(reason, FulfilReason::Capacity(of, _) if *of == target);
            let place = match full.next_if(is_it) {
                Some(reason) => self.node(reason.clone()),
                None => self.place(target, FulfilReason::Once(target), Some(1)),
            };
            self.network.arc(node, place, UNBOUNDED);
        }
    }

    fn demands(&mut self, slots: &OpenDemands<'_>) {
        let first = self.network.nodes().end;
        for index in 0..slots.demands.len() {
            self.node(FulfilReason::Demand(index));
        }
        let mut known: FxHashMap<*const DemandOptions, usize> = FxHashMap::default();
        let all = slots.demands.iter().zip(&self.options.demands).enumerate();
        for (index, (demand, options)) in all {
            let node = first + index;
            let mandatory = demand.mandatory();
            let most = demand.most().unwrap_or(usize::MAX).min(options.targets);
            let beside = [index.wrapping_sub(1), index + 1]
                .into_iter()
                .find(|&at| slots.demands.get(at).is_some_and(|other| other.is_beside(demand)));
            // The network counts relations, and not what they allocate. It prefers nodes of the
            // template.
            if demand.wish.allocating.is_some()
                || demand.wish.origin == PermittedEnds::ExternalFirst
            {
                self.open.push(node);
            }
            if let Some(beside) = beside {
                self.open.push(node);
                self.together.push([first + beside, node]);
            }
            // Relations beside each other need different targets, so each has arcs of its own.
            let is_alone = most <= 1 && beside.is_none();
            let (entry, options) = if !is_alone {
                if options.options.len() > options.targets {
                    self.open.push(node);
                }
                (None, self.option_arcs(node, options, 1))
            } else {
                let at = known.get(&Rc::as_ptr(options)).copied().unwrap_or_else(|| {
                    let shared = self.network.node();
                    self.option_arcs(shared, options, UNBOUNDED)
                });
                known.insert(Rc::as_ptr(options), at);
                (Some(self.network.arc(node, self.arcs[at].node, 1)), at)
            };
            let more = u32::try_from(most.saturating_sub(mandatory)).unwrap_or(UNBOUNDED);
            let optional = self.network.arc(OPTIONAL, node, more.min(UNBOUNDED));
            self.demands.push(SharedDemand { node, optional, mandatory, most, entry, options });
        }
    }

    /// Adds arcs from a node to the places of options. Returns their position.
    fn option_arcs(&mut self, node: usize, options: &DemandOptions, capacity: u32) -> usize {
        let arc = |FulfilOption { target, capability, .. }: &FulfilOption| {
            let reason = FulfilReason::Capacity(*target, Rc::clone(capability));
            let place = self.place(*target, reason, self.targets.all[*target].left(capability));
            self.network.arc(node, place, capacity)
        };
        let arcs = options.options.iter().map(arc).collect();
        self.arcs.push(OptionArcs { node, arcs, next: 0, is_exhausted: false });
        self.arcs.len() - 1
    }

    /// Whether the limit is reached. What takes next to no time is done in any case.
    fn is_over(&self, limit: &Limit) -> bool {
        self.network.effort() > UNTIMED && limit.is_over()
    }

    /// Makes the flow as large as it can be, with as few existing nodes as possible.
    fn fill(&mut self, limit: &Limit) -> Result<(), NotSolved> {
        let demands = self.demands.iter().map(|demand| (demand.node, demand.mandatory));
        let wanting: Vec<_> =
            self.selections.iter().map(|&node| (node, 1)).chain(demands).collect();
        for &(node, count) in &wanting {
            for done in 0..count {
                if !self.network.push(node, &ENDS) {
                    let is_short_of_one = done + 1 == count;
                    return Err(NotSolved::Conflict(self.competing(&wanting, is_short_of_one)));
                }
            }
            if self.is_over(limit) {
                return Err(NotSolved::Interrupted);
            }
        }
        for demand in 0..self.demands.len() {
            let demand = &self.demands[demand];
            let options = &mut self.arcs[demand.options];
            while self.network.left(demand.optional) > 0 && !options.is_exhausted {
                match self.network.push(demand.node, &ENDS) {
                    true => self.network.add(demand.optional),
                    false => options.is_exhausted = true,
                }
            }
            if self.is_over(limit) {
                return Err(NotSolved::Interrupted);
            }
        }
        for from in ENDS.rev() {
            for to in 0..from {
                while self.network.push(from, &(to..to + 1)) {}
            }
        }
        Ok(())
    }

    /// What the last search met, which found no path: the relations and selections that compete,
    /// and the places that they compete for. Each of them is needed for that if only one place is
    /// missing. Otherwise some of those that compete are left out as long as that changes nothing.
    fn competing(
        &mut self,
        wanting: &[(usize, usize)],
        is_short_of_one: bool,
    ) -> Vec<FulfilReason> {
        let met = wanting.iter().filter(|(node, _)| self.network.is_met(*node));
        let mut competing: Vec<_> = met.copied().collect();
        if !is_short_of_one && competing.len() <= MINIMISED {
            for (node, _) in competing.clone() {
                let rest = competing.iter().copied().filter(|(other, _)| *other != node);
                let rest: Vec<_> = rest.collect();
                if !self.fits(&rest) {
                    competing = rest;
                }
            }
            self.fits(&competing);
        }
        let met = self.network.nodes().filter(|&node| self.network.is_met(node));
        let reasons: IndexSet<_> =
            met.filter_map(|node| self.reasons.get(&node).cloned()).collect();
        reasons.into_iter().collect()
    }

    /// Whether there are places for these alone.
    fn fits(&mut self, wanting: &[(usize, usize)]) -> bool {
        self.network.empty();
        let mut units = wanting.iter().flat_map(|&(node, count)| std::iter::repeat_n(node, count));
        units.all(|node| self.network.push(node, &ENDS))
    }

    /// For each demand, whether the network says everything of it and of all that it depends on.
    fn decided(&self) -> Vec<bool> {
        let mut parts = UnionFind::<usize>::new(self.network.nodes().end);
        let of_parts = |ends: &[usize; 2]| ends.iter().all(|&end| end > OPTIONAL);
        let arcs = self.network.arcs().filter(of_parts);
        for [one, other] in arcs.chain(self.together.iter().copied()) {
            parts.union(one, other);
        }
        let open: FxHashSet<usize> = self.open.iter().map(|&node| parts.find(node)).collect();
        self.demands.iter().map(|demand| !open.contains(&parts.find(demand.node))).collect()
    }

    /// Moves units so that each demand has the options that are declared first, as far as those
    /// before it let it.
    fn best(&mut self, is_decided: &[bool], limit: &Limit) -> Vec<Option<Vec<FulfilOption>>> {
        self.arcs.iter_mut().for_each(|arcs| arcs.is_exhausted = false);
        let demands = std::mem::take(&mut self.demands);
        let mut all = Vec::new();
        for (index, (demand, is_decided)) in demands.iter().zip(is_decided).enumerate() {
            let options = Rc::clone(&self.options.demands[index]);
            let taken = is_decided.then(|| self.best_of(demand, self.is_over(limit)));
            let taken = taken.map(|taken| taken.into_iter().map(|at| options.options[at].clone()));
            all.push(taken.map(Iterator::collect));
        }
        self.network.release();
        self.demands = demands;
        all
    }

    /// The positions of the options that a demand takes.
    fn best_of(&mut self, demand: &SharedDemand, is_over: bool) -> Vec<usize> {
        let options = &mut self.arcs[demand.options];
        if let Some(entry) = demand.entry {
            let is_hopeless = options.is_exhausted && self.network.flow(entry) == 0;
            if is_hopeless || !self.network.keep(entry, !is_over) {
                options.is_exhausted = true;
                return Vec::new();
            }
        }
        let mut taken = Vec::new();
        let mut at = options.next;
        while let Some(&arc) = options.arcs.get(at).filter(|_| taken.len() < demand.most) {
            if self.network.keep(arc, !is_over) {
                taken.push(at);
            } else if demand.entry.is_some() {
                // What one demand cannot get, no later one with the same options can.
                options.next = at + 1;
            }
            at += 1;
        }
        taken
    }

    /// The demands that have other targets in a solution that is as good, each with one of these.
    fn ambiguous(&self, fulfilled: &[Option<Vec<FulfilOption>>]) -> Vec<(Chooser, Vec<usize>)> {
        let circles = self.network.circles();
        let all = self.demands.iter().zip(fulfilled).enumerate();
        let found = all.filter_map(|(index, (demand, taken))| {
            let other = self.other(index, demand, taken.as_ref()?, &circles)?;
            Some((Chooser::Demand(index), other.into_iter().collect()))
        });
        found.take(TOLD).collect()
    }

    /// Whether a demand has other targets in a solution that is as good: one of them, or `None`
    /// where it only has fewer there.
    fn other(
        &self,
        index: usize,
        demand: &SharedDemand,
        taken: &[FulfilOption],
        circles: &[usize],
    ) -> Option<Option<usize>> {
        let OptionArcs { node, arcs, .. } = &self.arcs[demand.options];
        let is_movable = |head: usize| circles[*node] == circles[head];
        // Whether the demand can get a unit or lose it.
        let changes = demand.entry.is_some() && is_movable(demand.node);
        let gets = demand.entry.is_none() || !taken.is_empty() || changes;
        let options = &self.options.demands[index].options;
        let other = options.iter().zip(arcs).find(|(option, arc)| {
            let is_swapped = demand.entry.is_some() && self.network.flow(**arc) > 0;
            let is_free = self.network.left(**arc) > 0 && is_movable(self.network.head(**arc));
            gets && (is_swapped || is_free) && taken.iter().all(|it| it.target != option.target)
        });
        let loses = || {
            let mut moved = arcs.iter().filter(|arc| self.network.flow(**arc) > 0);
            changes
                || demand.entry.is_none() && moved.any(|arc| is_movable(self.network.head(*arc)))
        };
        match other {
            Some((option, _)) => Some(Some(option.target)),
            None => loses().then_some(None),
        }
    }
}
