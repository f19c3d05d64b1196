//! Writes the messages of a fulfilment: what is missing, what is in conflict, and what is
//! ambiguous.

use super::slots::{OpenDemands, SlotDemand};
use super::solve::{Chooser, FulfilOptions, FulfilReason, NotSolved, Solved};
use super::targets::{Fitting, FulfilOption, FulfilTargets, Unfit};
use super::{FailedAttempt, FulfilQuestion};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, LISTED, listed};
use crate::topology::NodeIndex;
use crate::tosca::requirement::times;
use cuvee_text::source::Span;
use std::rc::Rc;

/// How many nodes that do not fit a message names at most.
const NAMED: usize = 8;

/// The advice where filters wait for what nothing fulfils, perhaps each for another one.
const ASKS_FOR_OPEN: &str = "the filter asks for something that stays open: name a node for that, or ask for something else";

pub(super) struct Teller<'s, 'q, 't> {
    pub question: &'s FulfilQuestion<'q, 'q, 't>,
    pub slots: &'s OpenDemands<'q>,
    pub targets: &'s FulfilTargets<'q, 't>,
}

impl Teller<'_, '_, '_> {
    /// Reports demands and selections that are impossible by themselves: nothing fits, or too
    /// little.
    pub(super) fn lacking(
        &self,
        options: &FulfilOptions,
        selectable: &[Fitting<usize>],
        fitting: &[Rc<Fitting<FulfilOption>>],
    ) -> Diagnostics {
        let mut found = Diagnostics::default();
        for (index, fitting) in selectable.iter().enumerate() {
            if fitting.options.is_empty() {
                let error = self.not_selected(index);
                let error = if fitting.waits() { error.help(ASKS_FOR_OPEN) } else { error };
                found.push(self.unfit(error, &fitting.unfit));
            }
        }
        for (index, fitting) in fitting.iter().enumerate() {
            let demand = &self.slots.demands[index];
            let of_demand = &options.demands[index];
            if of_demand.targets < demand.mandatory() {
                let error = self.not_fulfilled(index, of_demand.targets);
                let error = if fitting.waits() { error.help(ASKS_FOR_OPEN) } else { error };
                let left = &of_demand.options;
                let full = fitting.options.iter().filter(|option| !left.contains(option));
                let full: Vec<_> =
                    full.filter_map(|option| self.exhausted(demand, option)).collect();
                let unfit: Vec<_> = fitting.unfit.iter().cloned().chain(full).collect();
                found.push(self.unfit(error, &unfit));
            }
        }
        found
    }

    /// The nodes for which nothing can be selected, each with the reason.
    pub(super) fn unselected(&self, selectable: &[Fitting<usize>]) -> Vec<(NodeIndex, String)> {
        let without = |(_, fitting): &(usize, &Fitting<usize>)| fitting.options.is_empty();
        let all = selectable.iter().enumerate().filter(without);
        all.map(|(at, _)| (self.slots.selections[at].node, self.not_selected(at).message)).collect()
    }

    /// The reason why a target that fits cannot be taken.
    fn exhausted(&self, demand: &SlotDemand<'_>, option: &FulfilOption) -> Option<Unfit> {
        let target = &self.targets.all[option.target];
        let is_taken = target.node.is_some_and(|node| demand.taken.contains(&node));
        let message = match target.left(&option.capability) {
            _ if is_taken => format!("`{}` leads to it already", demand.wish.requirement),
            Some(0) => {
                format!("its capability `{}` is used as often as it can be", option.capability)
            }
            _ => return None,
        };
        Some(Unfit::new(option.target, message, target.span))
    }

    fn not_selected(&self, index: usize) -> Diagnostic {
        let node = self.question.topology.node(self.slots.selections[index].node);
        let kind = node.described.type_name.as_ref().map_or("", |name| &*name.value);
        let message = match self.question.inventory.nodes.is_empty() {
            true => {
                format!("`{}` is to be selected, but the inventory has no nodes", node.name)
            }
            false => format!("no existing `{kind}` can be selected for `{}`", node.name),
        };
        let error = Diagnostic::error(Code::NoSelection, message).at(node.span).section("3.4.3");
        match self.question.inventory.nodes.is_empty() {
            true => error.help("describe the existing nodes with `--inventory`"),
            false => error,
        }
    }

    fn not_fulfilled(&self, index: usize, there: usize) -> Diagnostic {
        let demand = &self.slots.demands[index];
        let (source, name) = (self.name(demand.source), &demand.wish.requirement);
        let lacks = match (there, demand.mandatory()) {
            (0, _) => "no node fits".to_owned(),
            (there, needed) => format!("{there} of the {needed} nodes that it needs fit"),
        };
        let message = format!("the requirement `{name}` of `{source}` is not fulfilled: {lacks}");
        let error = Diagnostic::error(Code::UnfulfilledRequirement, message);
        let definition = demand.definition;
        let at = definition.occurrences.map_or(definition.named.key, |occurs| occurs.node).span();
        let error = error.at(self.place(demand)).section("3.7.3.3");
        error.label(at, "the requirement is defined here").help(
            "name a node, describe existing nodes with `--inventory`, or make the requirement optional",
        )
    }

    /// Adds the reasons why nodes do not fit.
    fn unfit(&self, error: Diagnostic, unfit: &[Unfit]) -> Diagnostic {
        let named = unfit.iter().take(NAMED).fold(error, |error, unfit| {
            let target = &self.targets.all[unfit.target];
            let message = format!("`{}` does not fit: {}", target.name, unfit.reason.message);
            let at = if unfit.reason.at.is_detached() { error.span } else { Some(unfit.reason.at) };
            error.label(at.unwrap_or(Span::DETACHED), message)
        });
        match unfit.len().checked_sub(NAMED).filter(|more| *more > 0) {
            Some(more) => {
                let at = unfit[NAMED].reason.at;
                named.label(
                    at,
                    format!("{more} more nodes do not fit, for this reason among others"),
                )
            }
            None => named,
        }
    }

    fn name(&self, node: NodeIndex) -> &str {
        &self.question.topology.node(node).name
    }

    /// The place of a demand's assignment, otherwise that of its node.
    fn place(&self, demand: &SlotDemand<'_>) -> Span {
        let topology = self.question.topology;
        let assigned = demand.assigned.iter().find_map(|(assignment, _)| *assignment);
        assigned.map_or(topology.node(demand.source).span, |id| topology.relation(id).span)
    }

    /// Reports a conflict, or that time ran out.
    pub(super) fn failed(&self, unsolved: NotSolved) -> FailedAttempt {
        let topology = self.question.topology;
        let (error, unselected) = match unsolved {
            NotSolved::Interrupted => {
                let message = "the time was over before targets were found for all requirements";
                let error = Diagnostic::error(Code::Unproven, message);
                (error.help("allow more time with `--timeout`"), None)
            }
            NotSolved::Conflict(reasons) => {
                let error = self.conflict(&reasons);
                let selected = reasons.iter().filter_map(|reason| match reason {
                    FulfilReason::Selection(index) => Some(self.slots.selections[*index].node),
                    _ => None,
                });
                let others = selected.filter(|node| topology.node(*node).directives.len() > 1);
                let last = others.max().map(|node| (node, error.message.clone()));
                (error, last)
            }
        };
        FailedAttempt { errors: error.into(), unselected: unselected.into_iter().collect() }
    }

    fn conflict(&self, reasons: &[FulfilReason]) -> Diagnostic {
        let wanting = reasons.iter().filter_map(|reason| self.wanting(reason));
        let wanting: Vec<_> = wanting.collect();
        let selects = |reason: &&FulfilReason| matches!(reason, FulfilReason::Selection(_));
        let code = match reasons.iter().find(selects) {
            Some(_) => Code::NoSelection,
            None => Code::UnfulfilledRequirement,
        };
        let who = listed(wanting.iter().map(|(what, _)| &**what));
        let message = match wanting.len() {
            1 => format!("{who} cannot be fulfilled: the nodes that fit are not enough"),
            count => format!(
                "{count} requirements or selections compete, and the nodes that fit are not enough: {who}"
            ),
        };
        let error = Diagnostic::error(code, message).at(wanting.first().map(|(_, at)| *at));
        let rest = wanting.iter().take(LISTED).skip(1);
        let error = rest.fold(error, |error, (_, at)| error.label(*at, "competes with it"));
        let bounds: Vec<_> = reasons.iter().filter_map(|reason| self.bound(reason)).collect();
        let (unplaced, placed): (Vec<_>, Vec<_>) =
            bounds.into_iter().partition(|(_, at)| at.is_detached());
        let placed = placed.into_iter().take(LISTED);
        let error = placed.fold(error, |error, (bound, at)| error.label(at, bound));
        let more = unplaced.len().saturating_sub(LISTED);
        let unplaced = unplaced.into_iter().take(LISTED).map(|(bound, _)| bound);
        let more = (more > 0).then(|| format!("and {more} more such bounds"));
        let help: Vec<_> = unplaced.chain(more).collect();
        if help.is_empty() { error } else { error.help(help.join("; ")) }
    }

    /// The bound that is too small, in words, and its place.
    fn bound(&self, reason: &FulfilReason) -> Option<(String, Span)> {
        let (target, message) = match reason {
            FulfilReason::Capacity(target, capability) => {
                let target = &self.targets.all[*target];
                let left = times(target.left(capability).unwrap_or(0));
                let name = target.name;
                (
                    target,
                    format!("the capability `{capability}` of `{name}` can be used {left} more"),
                )
            }
            FulfilReason::Room(target, capability, property) => {
                let left = self.targets.left_of(*target, capability, property)?;
                let target = &self.targets.all[*target];
                let name = target.name;
                let message = format!(
                    "the capability `{capability}` of `{name}` has {left} of `{property}` left"
                );
                (target, message)
            }
            FulfilReason::Once(target) => {
                let target = &self.targets.all[*target];
                (target, format!("`{}` can be selected once", target.name))
            }
            _ => return None,
        };
        Some((message, target.span))
    }

    /// The demand or selection in words, and its place.
    fn wanting(&self, reason: &FulfilReason) -> Option<(String, Span)> {
        let topology = self.question.topology;
        Some(match reason {
            FulfilReason::Selection(index) => {
                let node = topology.node(self.slots.selections[*index].node);
                (node.name.clone(), node.span)
            }
            FulfilReason::Demand(index) => {
                let demand = &self.slots.demands[*index];
                let name = format!("{}.{}", self.name(demand.source), demand.wish.requirement);
                (name, self.place(demand))
            }
            _ => return None,
        })
    }

    /// Reports where another solution is as good.
    pub(super) fn ambiguous(&self, solved: &Solved) -> Diagnostics {
        let mut found = Diagnostics::default();
        for (chooser, others) in &solved.ambiguous {
            let named = others.iter().map(|&target| self.targets.all[target].name);
            let others: Vec<_> = named.collect();
            let other = match others.is_empty() {
                true => "nothing".to_owned(),
                false => listed(others.iter().copied()),
            };
            let (message, at, help) = match chooser {
                Chooser::Selection(index) => {
                    let node = self.question.topology.node(self.slots.selections[*index].node);
                    let taken = self.targets.all[solved.selected[*index]].name;
                    let message = format!(
                        "`{taken}` is selected for `{}`, and {other} fits as well",
                        node.name
                    );
                    (message, node.span, "tell the nodes apart with a `node_filter`")
                }
                Chooser::Demand(index) => {
                    let demand = &self.slots.demands[*index];
                    let message = format!(
                        "the requirement `{}` of `{}` could as well lead to {other}",
                        demand.wish.requirement,
                        self.name(demand.source)
                    );
                    (
                        message,
                        self.place(demand),
                        "name the node, or tell the nodes apart with a `node_filter`",
                    )
                }
            };
            let warning = Diagnostic::warning(Code::AmbiguousFulfilment, message).at(at);
            found.push(warning.help(help));
        }
        found
    }
}

/// The warning that the result may not be the best.
pub(super) fn unproven() -> Diagnostic {
    let message = "the time was over before the targets of requirements were proven to be the best";
    Diagnostic::warning(Code::Unproven, message).help("allow more time with `--timeout`")
}
