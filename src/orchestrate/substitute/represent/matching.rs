//! Gives each relation of a requirement a node of its own.
//!
//! Relations come in the order of their importance. One that finds all its candidates taken may
//! move others to further candidates of theirs, but none loses its place (H. Kuhn, The Hungarian
//! method for the assignment problem, Naval Research Logistics Quarterly 1955). So as many as
//! possible of the first relations get a node, then of the others.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::rc::Rc;

/// A relation that looks for a node.
pub(super) struct Slot<'s> {
    /// The assignment of the relation. Without an index, all its relations have the same candidates.
    pub assignment: usize,
    /// The index of the relation among those of its requirement.
    pub relation: u64,
    /// The template whose nodes are its candidates.
    pub template: &'s str,
    /// The indices of its candidates, best first.
    pub candidates: Rc<[u64]>,
    /// Whether the author says that it leads to its first candidate, whatever else does.
    pub is_fixed: bool,
}

/// The matching so far.
struct RelationMatching<'m> {
    slots: &'m [Slot<'m>],
    given: Vec<Option<u64>>,
    owners: FxHashMap<(&'m str, u64), usize>,
    /// For each assignment with shared candidates, how many of the first are taken for sure.
    taken: FxHashMap<usize, usize>,
    /// The assignments whose candidates nobody can free any more.
    exhausted: FxHashSet<usize>,
}

/// The index of the node that each relation gets, if one is left for it.
pub(super) fn matched(slots: &[Slot<'_>]) -> Vec<Option<u64>> {
    let mut matching = RelationMatching {
        slots,
        given: vec![None; slots.len()],
        owners: FxHashMap::default(),
        taken: FxHashMap::default(),
        exhausted: FxHashSet::default(),
    };
    (0..slots.len()).for_each(|slot| matching.add(slot));
    matching.given
}

impl<'m> RelationMatching<'m> {
    fn add(&mut self, slot: usize) {
        let Slot { assignment, template, candidates, is_fixed, .. } = &self.slots[slot];
        if *is_fixed {
            self.given[slot] = candidates.first().copied();
            self.owners.extend(candidates.first().map(|&index| ((*template, index), slot)));
            return;
        }
        let is_shared = candidates.len() > 1;
        let start = match is_shared {
            true => self.taken.get(assignment).copied().unwrap_or(0),
            false => 0,
        };
        let mut rest = candidates.iter().enumerate().skip(start);
        let free = rest.find(|(_, index)| !self.owners.contains_key(&(*template, **index)));
        match free {
            Some((at, &index)) => {
                self.taken.insert(*assignment, at + 1);
                self.owners.insert((*template, index), slot);
                self.given[slot] = Some(index);
            }
            None if is_shared && self.exhausted.contains(assignment) => {}
            None => {
                if !self.moves(slot) && is_shared {
                    self.exhausted.insert(*assignment);
                }
            }
        }
    }

    /// Moves other relations so that this one gets a node, if that is possible.
    fn moves(&mut self, slot: usize) -> bool {
        let mut reached: FxHashMap<(&'m str, u64), usize> = FxHashMap::default();
        let mut open = VecDeque::from([slot]);
        while let Some(next) = open.pop_front() {
            let Slot { template, candidates, .. } = &self.slots[next];
            for &index in candidates.iter() {
                let place = (*template, index);
                if reached.contains_key(&place) {
                    continue;
                }
                reached.insert(place, next);
                match self.owners.get(&place) {
                    Some(&owner) => open.push_back(owner),
                    None => {
                        self.shift(slot, place, &reached);
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Gives a free node to the relation that reached it, whose node goes to the one before, up to
    /// the relation that had none.
    fn shift(
        &mut self,
        slot: usize,
        free: (&'m str, u64),
        reached: &FxHashMap<(&'m str, u64), usize>,
    ) {
        let mut place = Some(free);
        while let Some(next) = place {
            let Some(&taker) = reached.get(&next) else { break };
            let before = self.given[taker].replace(next.1);
            self.owners.insert(next, taker);
            let freed = before.map(|index| (self.slots[taker].template, index));
            place = freed.filter(|_| taker != slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slots(candidates: &[Vec<u64>]) -> Vec<Slot<'static>> {
        let slot = |(at, all): (usize, &Vec<u64>)| Slot {
            assignment: at,
            relation: 0,
            template: "right",
            candidates: all.as_slice().into(),
            is_fixed: false,
        };
        candidates.iter().enumerate().map(slot).collect()
    }

    /// Whether all these relations can have different nodes, by trying.
    fn can_all(candidates: &[&Vec<u64>], taken: &mut Vec<u64>) -> bool {
        let Some((first, rest)) = candidates.split_first() else { return true };
        first.iter().any(|index| {
            if taken.contains(index) {
                return false;
            }
            taken.push(*index);
            let fits = can_all(rest, taken);
            taken.pop();
            fits
        })
    }

    proptest! {
        /// A relation gets a node where all before it that got one and it can have different ones.
        #[test]
        fn earlier_relations_come_first(
            candidates in prop::collection::vec(prop::collection::vec(0..4_u64, 0..4), 0..6)
        ) {
            let found = matched(&slots(&candidates));
            let mut given = Vec::new();
            let mut winners = Vec::new();
            for (own, got) in candidates.iter().zip(found) {
                winners.push(own);
                prop_assert_eq!(got.is_some(), can_all(&winners, &mut Vec::new()));
                match got {
                    Some(index) => {
                        prop_assert!(own.contains(&index) && !given.contains(&index));
                        given.push(index);
                    }
                    None => drop(winners.pop()),
                }
            }
        }
    }
}
