//! A flow in a network: units that are moved along arcs of limited capacity.
//!
//! Units are pushed one after the other along paths in the residual network (L. R. Ford and D. R.
//! Fulkerson, Maximal flow through a network, Canadian Journal of Mathematics 1956). The flows of
//! `petgraph` begin from nothing and do not end with a network to push on in, and here most units
//! find their way at once.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use std::ops::Range;

/// The capacity of an arc without a bound. Twice as much is still a number.
pub(super) const UNBOUNDED: u32 = u32::MAX / 2;

/// A network with a flow.
#[derive(Default)]
pub(super) struct FlowNetwork {
    /// The node that each arc leads to. Every other arc is the reverse of the one before, and takes
    /// units of that one back.
    heads: Vec<usize>,
    /// How many more units each arc can take.
    left: Vec<u32>,
    /// How many units of each arc stay where they are.
    kept: Vec<u32>,
    /// The units that arcs could take before they were closed.
    closed: Vec<(usize, u32)>,
    /// The arcs that leave each node.
    leaving: Vec<Vec<usize>>,
    /// For each node the last search that met it, and the arc by which.
    met: Vec<(u32, usize)>,
    searches: u32,
    /// How many nodes all searches met.
    effort: usize,
}

impl FlowNetwork {
    pub(super) fn node(&mut self) -> usize {
        self.leaving.push(Vec::new());
        self.met.push((0, 0));
        self.leaving.len() - 1
    }

    pub(super) fn arc(&mut self, tail: usize, head: usize, capacity: u32) -> usize {
        let arc = self.heads.len();
        for (from, to, left) in [(tail, head, capacity), (head, tail, 0)] {
            self.leaving[from].push(self.heads.len());
            self.heads.push(to);
            self.left.push(left);
            self.kept.push(0);
        }
        arc
    }

    pub(super) fn nodes(&self) -> Range<usize> {
        0..self.leaving.len()
    }

    /// The node that an arc leads to.
    pub(super) fn head(&self, arc: usize) -> usize {
        self.heads[arc]
    }

    /// The ends of all arcs.
    pub(super) fn arcs(&self) -> impl Iterator<Item = [usize; 2]> {
        self.heads.chunks_exact(2).filter_map(|ends| Some([*ends.get(1)?, *ends.first()?]))
    }

    /// How many units of an arc may still be moved.
    pub(super) fn flow(&self, arc: usize) -> u32 {
        self.left[arc ^ 1]
    }

    /// How many more units an arc can take.
    pub(super) fn left(&self, arc: usize) -> u32 {
        self.left[arc]
    }

    /// Adds a unit to an arc, which has to be left there.
    pub(super) fn add(&mut self, arc: usize) {
        self.left[arc] -= 1;
        self.left[arc ^ 1] += 1;
    }

    /// Pushes a unit from a node to the nearest of some others, if there is a path.
    pub(super) fn push(&mut self, from: usize, goals: &Range<usize>) -> bool {
        self.searches += 1;
        self.met[from].0 = self.searches;
        let mut waiting = vec![from];
        let mut next = 0;
        while let Some(&node) = waiting.get(next) {
            next += 1;
            for &arc in &self.leaving[node] {
                let head = self.heads[arc];
                if self.left[arc] == 0 || self.met[head].0 == self.searches {
                    continue;
                }
                self.met[head] = (self.searches, arc);
                self.effort += 1;
                if goals.contains(&head) {
                    self.move_along(from, head);
                    return true;
                }
                // A place that is free ends the search at once.
                let first = self.leaving[head].first().copied();
                let first = first.filter(|&arc| self.left[arc] > 0);
                if let Some(arc) = first.filter(|&arc| goals.contains(&self.heads[arc])) {
                    self.met[self.heads[arc]] = (self.searches, arc);
                    self.move_along(from, self.heads[arc]);
                    return true;
                }
                waiting.push(head);
            }
        }
        false
    }

    fn move_along(&mut self, from: usize, to: usize) {
        let mut at = to;
        while at != from {
            let (_, arc) = self.met[at];
            self.add(arc);
            at = self.heads[arc ^ 1];
        }
    }

    /// How many nodes all searches met.
    pub(super) fn effort(&self) -> usize {
        self.effort
    }

    /// Whether the last search met a node.
    pub(super) fn is_met(&self, node: usize) -> bool {
        self.met[node].0 == self.searches
    }

    /// Keeps one unit on an arc. If there is none, it may move others so that there is one. If that
    /// is impossible, it closes the arc.
    pub(super) fn keep(&mut self, arc: usize, may_move: bool) -> bool {
        let (tail, head) = (self.heads[arc ^ 1], self.heads[arc]);
        let is_open = may_move && self.flow(arc) == 0 && self.left[arc] > 0;
        if is_open && self.push(head, &(tail..tail + 1)) {
            self.add(arc);
        }
        let is_kept = self.flow(arc) > 0;
        match is_kept {
            true => {
                self.left[arc ^ 1] -= 1;
                self.kept[arc] += 1;
            }
            false => self.closed.push((arc, std::mem::take(&mut self.left[arc]))),
        }
        is_kept
    }

    /// Lets all units be moved again, and opens all arcs.
    pub(super) fn release(&mut self) {
        for (arc, kept) in self.kept.iter_mut().enumerate() {
            self.left[arc ^ 1] += std::mem::take(kept);
        }
        for (arc, left) in self.closed.drain(..) {
            self.left[arc] += left;
        }
    }

    /// Takes all units out.
    pub(super) fn empty(&mut self) {
        for both in self.left.chunks_exact_mut(2) {
            if let [left, back] = both {
                *left += std::mem::take(back);
            }
        }
    }

    /// For each node a number that it shares with those to which units can be moved from it and
    /// back: an arc between two of these may as well have another flow.
    pub(super) fn circles(&self) -> Vec<usize> {
        let mut graph = DiGraph::<(), (), usize>::default();
        let nodes: Vec<_> = self.nodes().map(|_| graph.add_node(())).collect();
        for (arc, head) in self.heads.iter().enumerate().filter(|(arc, _)| self.left[*arc] > 0) {
            graph.add_edge(nodes[self.heads[arc ^ 1]], nodes[*head], ());
        }
        let mut circles = vec![0; nodes.len()];
        for (number, circle) in kosaraju_scc(&graph).iter().enumerate() {
            circle.iter().for_each(|node| circles[node.index()] = number);
        }
        circles
    }
}
