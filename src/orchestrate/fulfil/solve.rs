//! Decides all at once which relation leads where, and which node of the inventory is selected, so
//! that all bounds hold, in the best way.
//!
//! Relations of one demand are interchangeable. So there is a variable for each demand and each of
//! its options, not for each relation. At least as many of these are true as relations are
//! mandatory, and at most as many as are permitted. Solutions prefer false variables, so a variable
//! says that a node is passed over. Among equally good solutions this takes the nodes that are
//! declared first.

use super::allocated::is_more;
use super::incoming::IncomingUses;
use super::least::least;
use super::sharing::{SharedPlaces, share};
use super::slots::{OpenDemands, SlotDemand};
use super::targets::{DemandOptions, FulfilOption, FulfilTargets};
use crate::topology::NodeIndex;
use crate::tosca::PermittedEnds;
use crate::tosca::v2_0::function::{BuiltIn, PlainText};
use cuvee_sat::formula::{Atom, Lit, OriginId};
use cuvee_sat::solve::{
    BoundedClauses, Limit, Objective, Problem, Solution, SolverSettings, Unsolved, solve,
};
use cuvee_text::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The reason of a clause.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum FulfilReason {
    /// This node has to be selected.
    Selection(usize),
    /// The number of relations of this demand is bounded from below and above.
    Demand(usize),
    /// Relations of one requirement at one node lead to different nodes.
    Different(NodeIndex, String),
    /// The number of relations to this capability of a target is bounded.
    Capacity(usize, Rc<str>),
    /// Of this property of a capability of a target only so much can be allocated.
    Room(usize, Rc<str>, Rc<str>),
    /// A node of the inventory is selected at most once.
    Once(usize),
    /// A node that is taken from the inventory counts as used.
    Used,
}

/// The best solution.
pub(super) struct Solved {
    /// For each selection, its target.
    pub selected: Vec<usize>,
    /// For each demand, the options that are taken.
    pub fulfilled: Vec<Vec<FulfilOption>>,
    /// The choosers that have other targets in a solution that is as good, with these targets.
    pub ambiguous: Vec<(Chooser, Vec<usize>)>,
    pub is_proven: bool,
}

/// The subject of a choice. The first demand of a requirement at a node stands for all of that
/// requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Chooser {
    Selection(usize),
    Demand(usize),
}

/// The targets of a chooser, each with the atom that says that the target is not taken.
struct ChooserTargets {
    chooser: Chooser,
    passed: Vec<(usize, Atom)>,
}

/// The reason why there is no solution.
pub(super) enum NotSolved {
    /// These reasons contradict each other, and each of them is needed for that.
    Conflict(Vec<FulfilReason>),
    /// No solution was found in time.
    Interrupted,
}

/// The options of each selection and each demand.
pub(super) struct FulfilOptions {
    pub selections: Vec<Vec<usize>>,
    pub demands: Vec<Rc<DemandOptions>>,
    /// What the relations to each node that is to be selected use.
    pub incoming: Vec<IncomingUses>,
}

/// What is decided.
#[derive(Clone, Copy)]
pub(super) struct FulfilProblem<'s, 'q, 't> {
    pub slots: &'s OpenDemands<'q>,
    pub targets: &'s FulfilTargets<'q, 't>,
    pub options: &'s FulfilOptions,
}

// The objectives, most important one first: optional relations that stay open, targets in the
// template where an existing one is preferred, existing nodes that are used, and relations to them.
const OPEN: usize = 0;
const INTERNAL: usize = 1;
const USED: usize = 2;
const LEADING: usize = 3;

/// How many other solutions are reported at most.
pub(super) const TOLD: usize = 32;

/// How many choices may become clauses before the limit counts.
const UNTIMED: usize = 100_000;

struct Solving<'s, 'q, 't> {
    slots: &'s OpenDemands<'q>,
    targets: &'s FulfilTargets<'q, 't>,
    options: &'s FulfilOptions,
    /// What is decided already.
    shared: SharedPlaces,
    /// The selections that are left out.
    left_out: FxHashSet<usize>,
    clauses: BoundedClauses,
    reasons: Vec<FulfilReason>,
    known: FxHashMap<FulfilReason, OriginId>,
    /// For each selection and target, the literal that the target is taken.
    selected: Vec<Vec<Lit>>,
    choosers: Vec<ChooserTargets>,
    /// For each demand and option, the literal that the option is taken.
    taken: Vec<Vec<Lit>>,
    objectives: [Objective; 4],
    /// What may be allocated of capabilities.
    rooms: Vec<Room>,
    /// The limit for the making of clauses; `None` if there are few.
    limit: Option<&'s Limit>,
}

/// What choices allocate of properties of the capabilities of targets.
type RoomUses<'r> = BTreeMap<(usize, &'r str, String), Vec<(Lit, Value)>>;

/// How much of a property of a capability is left, and what choices allocate of it.
struct Room {
    reason: FulfilReason,
    left: Value,
    uses: Vec<(Lit, Value)>,
}

impl Room {
    /// Choices among the taken ones that together allocate too much, the largest amounts first, so
    /// that there are few of them.
    fn too_many(&self, is_taken: impl Fn(&Lit) -> bool) -> Option<Vec<Lit>> {
        let mut taken: Vec<_> = self.uses.iter().filter(|(literal, _)| is_taken(literal)).collect();
        taken.sort_by(|(_, one), (_, other)| match is_more(other, one) {
            true => Ordering::Greater,
            false if is_more(one, other) => Ordering::Less,
            false => Ordering::Equal,
        });
        let mut amounts = Vec::new();
        for (position, (_, amount)) in taken.iter().enumerate() {
            amounts.push(amount.clone());
            if sum(&amounts).is_some_and(|all| is_more(&all, &self.left)) {
                let literals = taken.iter().take(position + 1);
                return Some(literals.map(|(literal, _)| *literal).collect());
            }
        }
        None
    }
}

fn sum(amounts: &[Value]) -> Option<Value> {
    BuiltIn::named("sum")?.value?(amounts, &PlainText).ok()?
}

/// Finds the best solution.
///
/// # Errors
/// A smallest set of what competes, or that there was no time.
pub(super) fn solved(
    problem: FulfilProblem<'_, '_, '_>,
    settings: &SolverSettings,
) -> Result<Solved, NotSolved> {
    let found = share(problem, &settings.limit)
        .and_then(|shared| Solving::of(problem, shared, FxHashSet::default(), settings))
        .and_then(|solving| solving.solve(settings));
    found.map_err(|unsolved| match unsolved {
        NotSolved::Conflict(reasons) => NotSolved::Conflict(least(problem, reasons, settings)),
        NotSolved::Interrupted => NotSolved::Interrupted,
    })
}

/// Whether these selections and demands can be decided alone.
///
/// # Errors
/// Those that compete, or that there was no time.
pub(super) fn solvable(
    problem: FulfilProblem<'_, '_, '_>,
    wanting: &FxHashSet<FulfilReason>,
    settings: &SolverSettings,
) -> Result<(), NotSolved> {
    let is_left_out = |reason: FulfilReason| !wanting.contains(&reason);
    let selections = 0..problem.slots.selections.len();
    let left_out = selections.filter(|&it| is_left_out(FulfilReason::Selection(it))).collect();
    let demands = 0..problem.slots.demands.len();
    let fulfilled = demands.map(|it| is_left_out(FulfilReason::Demand(it)).then(Vec::new));
    let (fulfilled, ambiguous) = (fulfilled.collect(), Vec::new());
    let shared = SharedPlaces { fulfilled, ambiguous, is_proven: true };
    let mut solving = Solving::of(problem, shared, left_out, settings)?;
    solving.objectives = Default::default();
    solving.choosers = Vec::new();
    solving.solve(settings).map(|_| ())
}

impl<'s, 'q, 't> Solving<'s, 'q, 't> {
    /// Makes the clauses for everything that is not decided or left out.
    fn of(
        FulfilProblem { slots, targets, options }: FulfilProblem<'s, 'q, 't>,
        shared: SharedPlaces,
        left_out: FxHashSet<usize>,
        settings: &'s SolverSettings,
    ) -> Result<Self, NotSolved> {
        let mut solving = Self {
            slots,
            targets,
            options,
            shared,
            left_out,
            clauses: BoundedClauses::default(),
            reasons: Vec::new(),
            known: FxHashMap::default(),
            selected: Vec::new(),
            choosers: Vec::new(),
            taken: Vec::new(),
            objectives: Default::default(),
            rooms: Vec::new(),
            limit: None,
        };
        solving.variables();
        let choices: usize = solving.taken.iter().map(Vec::len).sum();
        solving.limit = (choices > UNTIMED).then_some(&settings.limit);
        let selections = 0..slots.selections.len();
        let wanted: Vec<_> = selections.filter(|it| !solving.left_out.contains(it)).collect();
        wanted.into_iter().for_each(|index| solving.selection(index));
        for (index, demand) in slots.demands.iter().enumerate() {
            if solving.shared.fulfilled[index].is_none() {
                solving.in_time()?;
                solving.demand(index, demand);
            }
        }
        solving.different()?;
        solving.capacities()?;
        solving.rooms();
        solving.inventory()?;
        Ok(solving)
    }

    fn origin(&mut self, reason: FulfilReason) -> OriginId {
        let next = OriginId(self.reasons.len() as u32);
        let reasons = &mut self.reasons;
        *self.known.entry(reason).or_insert_with_key(|reason| {
            reasons.push(reason.clone());
            next
        })
    }

    /// Interrupts the making of clauses once the limit is reached.
    fn in_time(&self) -> Result<(), NotSolved> {
        let is_over = self.limit.is_some_and(Limit::is_over);
        if is_over { Err(NotSolved::Interrupted) } else { Ok(()) }
    }

    /// Adds a variable for each choice, in the order in which solutions prefer them.
    fn variables(&mut self) {
        let mut fresh = |count: usize| -> Vec<Lit> {
            (0..count).map(|_| self.clauses.fresh().negative()).collect()
        };
        let (selections, demands) = (&self.options.selections, &self.options.demands);
        let selections = selections.iter().enumerate();
        let selected = selections.map(|(index, options)| match self.left_out.contains(&index) {
            true => 0,
            false => options.len(),
        });
        self.selected = selected.map(&mut fresh).collect();
        let open =
            demands.iter().zip(&self.shared.fulfilled).map(|(options, decided)| match decided {
                Some(_) => 0,
                None => options.options.len(),
            });
        self.taken = open.map(fresh).collect();
    }

    fn selection(&mut self, index: usize) {
        let origin = self.origin(FulfilReason::Selection(index));
        let literals = self.selected[index].clone();
        let passed = literals.iter().map(|literal| Atom(literal.var().0));
        let passed = self.options.selections[index].iter().copied().zip(passed).collect();
        self.choosers.push(ChooserTargets { chooser: Chooser::Selection(index), passed });
        self.clauses.assert(&literals, origin);
        self.clauses.at_most(&literals, 1, origin);
    }

    fn demand(&mut self, index: usize, demand: &SlotDemand<'q>) {
        let origin = self.origin(FulfilReason::Demand(index));
        let literals = self.taken[index].clone();
        let mandatory = demand.mandatory();
        let most = demand.most().unwrap_or(usize::MAX).min(self.options.demands[index].targets);
        if mandatory > 0 {
            let enough = self.clauses.at_least(&literals, mandatory);
            self.clauses.assert(&enough.into_iter().collect::<Vec<_>>(), origin);
        }
        self.clauses.at_most(&literals, most, origin);
        for count in mandatory + 1..=most {
            let fulfilled = self.clauses.at_least(&literals, count);
            self.objectives[OPEN].terms.extend(fulfilled.map(|fulfilled| (!fulfilled, 1)));
        }
    }

    /// Requires that relations of one requirement at one node lead to different nodes.
    fn different(&mut self) -> Result<(), NotSolved> {
        let mut choosers: Vec<ChooserTargets> = Vec::new();
        let mut next = 0;
        while let Some(demand) = self.slots.demands.get(next) {
            self.in_time()?;
            let rest = &self.slots.demands[next..];
            let beside = rest.iter().take_while(|other| other.is_beside(demand));
            let range = next..next + beside.count();
            let mut by_target: BTreeMap<usize, Vec<Lit>> = BTreeMap::new();
            for index in range.clone() {
                let options = &self.options.demands[index].options;
                for (option, &taken) in options.iter().zip(&self.taken[index]) {
                    by_target.entry(option.target).or_default().push(taken);
                }
            }
            let name = demand.wish.requirement.clone();
            let reason = FulfilReason::Different(demand.source, name);
            let targets = by_target.into_iter();
            let passed = targets.map(|(target, taken)| (target, self.passed(&taken, &reason)));
            choosers
                .push(ChooserTargets { chooser: Chooser::Demand(next), passed: passed.collect() });
            next = range.end;
        }
        self.choosers.append(&mut choosers);
        Ok(())
    }

    /// The atom that none of these literals is true, of which at most one may be.
    fn passed(&mut self, taken: &[Lit], reason: &FulfilReason) -> Atom {
        if let [taken] = taken {
            return Atom(taken.var().0);
        }
        let origin = self.origin(reason.clone());
        self.clauses.at_most(taken, 1, origin);
        let passed = self.clauses.fresh();
        taken.iter().for_each(|&taken| self.clauses.assert(&[!taken, passed.negative()], origin));
        let any: Vec<_> = taken.iter().copied().chain([passed.positive()]).collect();
        self.clauses.assert(&any, origin);
        Atom(passed.0)
    }

    /// Bounds the relations to each capability, including those to selected nodes.
    fn capacities(&mut self) -> Result<(), NotSolved> {
        let mut uses: FxHashMap<(usize, &str), Vec<Lit>> = FxHashMap::default();
        for (options, taken) in self.options.demands.iter().zip(&self.taken) {
            for (option, &taken) in options.options.iter().zip(taken) {
                uses.entry((option.target, &option.capability)).or_default().push(taken);
            }
        }
        for (index, incoming) in self.options.incoming.iter().enumerate() {
            for (&target, &selected) in
                self.options.selections[index].iter().zip(&self.selected[index])
            {
                for (name, count) in incoming.at(&self.targets.all[target]) {
                    let all = std::iter::repeat_n(selected, usize::try_from(*count).unwrap_or(0));
                    uses.entry((target, name)).or_default().extend(all);
                }
            }
        }
        let left = |(target, name): (usize, &str)| self.targets.all[target].left(name);
        let mut bounded: Vec<_> =
            uses.into_iter().filter_map(|(key, uses)| Some((key, left(key)?, uses))).collect();
        bounded.sort_unstable();
        for ((target, capability), left, literals) in bounded {
            let origin = self.origin(FulfilReason::Capacity(target, capability.into()));
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            self.in_time()?;
            self.clauses.at_most(&literals, left, origin);
        }
        Ok(())
    }

    /// Collects what choices allocate, where all of them together allocate more than is left.
    fn rooms(&mut self) {
        let mut uses = RoomUses::new();
        let demands = self.slots.demands.iter().zip(&self.options.demands).zip(&self.taken);
        for ((demand, options), taken) in demands {
            let Some(relation) = demand.wish.allocating else { continue };
            for (FulfilOption { target, capability, .. }, &taken) in
                options.options.iter().zip(taken)
            {
                for (property, amount) in self.targets.amounts(*target, capability, relation) {
                    let of = uses.entry((*target, capability, property)).or_default();
                    of.push((taken, amount));
                }
            }
        }
        for (index, selection) in self.slots.selections.iter().enumerate() {
            let options = self.options.selections[index].iter().zip(&self.selected[index]);
            for (&target, &selected) in options {
                for (capability, property, amount) in self.targets.incoming(target, selection) {
                    uses.entry((target, capability, property))
                        .or_default()
                        .push((selected, amount));
                }
            }
        }
        for ((target, capability, property), uses) in uses {
            let Some(left) = self.targets.left_of(target, capability, &property) else { continue };
            let reason = FulfilReason::Room(target, capability.into(), property.into());
            let room = Room { reason, left, uses };
            self.rooms.extend(room.too_many(|_| true).is_some().then_some(room));
        }
    }

    /// Requires that each node of the inventory is selected at most once. Prefers few used nodes,
    /// and few relations to them.
    fn inventory(&mut self) -> Result<(), NotSolved> {
        let mut selecting: FxHashMap<usize, Vec<Lit>> = FxHashMap::default();
        for (options, selected) in self.options.selections.iter().zip(&self.selected) {
            for (&target, &selected) in options.iter().zip(selected) {
                selecting.entry(target).or_default().push(selected);
            }
        }
        let mut using = selecting.clone();
        let demands = self.slots.demands.iter().zip(&self.options.demands);
        for ((demand, options), taken) in demands.zip(&self.taken) {
            for (option, &taken) in options.options.iter().zip(taken) {
                let target = &self.targets.all[option.target];
                if target.stored.is_some() {
                    self.objectives[LEADING].terms.push((taken, 1));
                } else if demand.wish.origin == PermittedEnds::ExternalFirst {
                    self.objectives[INTERNAL].terms.push((taken, 1));
                }
                if target.is_new() {
                    using.entry(option.target).or_default().push(taken);
                }
            }
        }
        let mut selecting: Vec<_> = selecting.into_iter().collect();
        selecting.sort_unstable();
        for (target, literals) in selecting {
            let origin = self.origin(FulfilReason::Once(target));
            self.clauses.at_most(&literals, 1, origin);
        }
        let mut using: Vec<_> = using.into_iter().collect();
        using.sort_unstable();
        let origin = self.origin(FulfilReason::Used);
        for (_, literals) in using {
            self.in_time()?;
            let used = self.clauses.fresh().positive();
            literals.iter().for_each(|&literal| self.clauses.assert(&[!literal, used], origin));
            self.objectives[USED].terms.push((used, 1));
        }
        Ok(())
    }

    /// The best solution for which there is room. A solution that allocates too much rules out the
    /// choices that do so together, and another one is looked for.
    fn best(&mut self, settings: &SolverSettings) -> Result<Solution, NotSolved> {
        let literals = self.selected.iter().chain(&self.taken).flatten();
        let preference: Vec<_> = literals.map(|literal| Atom(literal.var().0)).collect();
        let rooms = std::mem::take(&mut self.rooms);
        let origins: Vec<_> = rooms.iter().map(|room| self.origin(room.reason.clone())).collect();
        loop {
            let problem = Problem {
                cnf: self.clauses.cnf(),
                objectives: &self.objectives,
                preference: &preference,
            };
            let solution = match solve(&problem, settings, &mut ()) {
                Ok(solution) => solution,
                Err(Unsolved::Interrupted) => return Err(NotSolved::Interrupted),
                Err(Unsolved::Conflict(conflict)) => {
                    let origins = conflict.origins.into_iter();
                    let reasons = origins.filter_map(|origin| self.reasons.get(origin.0 as usize));
                    return Err(NotSolved::Conflict(reasons.cloned().collect()));
                }
            };
            let is_taken = |literal: &Lit| !solution.is_true(Atom(literal.var().0));
            let mut is_possible = true;
            for (room, &origin) in rooms.iter().zip(&origins) {
                if let Some(too_many) = room.too_many(is_taken) {
                    is_possible = false;
                    let clause: Vec<_> = too_many.into_iter().map(|taken| !taken).collect();
                    self.clauses.assert(&clause, origin);
                }
            }
            if is_possible {
                return Ok(solution);
            }
            if settings.limit.is_over() {
                return Err(NotSolved::Interrupted);
            }
        }
    }

    fn solve(mut self, settings: &SolverSettings) -> Result<Solved, NotSolved> {
        let has_rooms = !self.rooms.is_empty();
        let mut solution = self.best(settings)?;
        let is_taken = |literal: &Lit| !solution.is_true(Atom(literal.var().0));
        let selected = self.options.selections.iter().zip(&self.selected).map(|(options, own)| {
            let chosen = options.iter().zip(own).find(|(_, literal)| is_taken(literal));
            chosen.map_or(0, |(&target, _)| target)
        });
        let selected = selected.collect();
        let SharedPlaces { fulfilled, mut ambiguous, is_proven } = self.shared;
        let of_solver = self.options.demands.iter().zip(&self.taken).map(|(options, own)| {
            let taken = options.options.iter().zip(own).filter(|(_, literal)| is_taken(literal));
            taken.map(|(option, _)| option.clone()).collect()
        });
        let fulfilled = fulfilled.into_iter().zip(of_solver);
        let fulfilled = fulfilled.map(|(shared, own)| shared.unwrap_or(own)).collect();
        let is_proven = is_proven && solution.is_proven();
        // Another solution as good may have no room.
        if is_proven && !has_rooms {
            ambiguous.extend(others(self.choosers, &mut solution));
            ambiguous.sort_by_key(|(chooser, _)| *chooser);
            ambiguous.truncate(TOLD);
        }
        Ok(Solved { selected, fulfilled, ambiguous, is_proven })
    }
}

/// The choosers that could take other targets equally well, and these targets.
fn others(mut open: Vec<ChooserTargets>, solution: &mut Solution) -> Vec<(Chooser, Vec<usize>)> {
    let mut found = Vec::new();
    while found.len() < TOLD {
        let over: Vec<_> =
            open.iter().flat_map(|one| one.passed.iter().map(|(_, atom)| *atom)).collect();
        let Ok(Some(other)) = solution.another(&over) else { break };
        let passed: FxHashSet<Atom> = other.into_iter().collect();
        let before = open.len();
        open.retain(|one| {
            let differs = |atom: &Atom| solution.is_true(*atom) != passed.contains(atom);
            let is_same = !one.passed.iter().any(|(_, atom)| differs(atom));
            if !is_same {
                let new = one.passed.iter().filter(|(_, atom)| !passed.contains(atom));
                let new = new.filter(|(_, atom)| solution.is_true(*atom));
                found.push((one.chooser, new.map(|(target, _)| *target).collect()));
            }
            is_same
        });
        if open.len() == before {
            break;
        }
    }
    found
}
