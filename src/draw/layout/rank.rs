//! Assigns boxes to layers: every edge leads at least one layer down, except where edges form a
//! cycle.

use super::{LayoutEdge, Size};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The greatest number of rounds. Somewhat longer lines are acceptable; finding the shortest would
/// take too long.
const ROUNDS: usize = 8;
/// A layer of up to this many boxes is never folded.
const NARROW: usize = 8;

/// The layer of each box, counted from 0 at the top. If hosting has no cycles, every host is below
/// the nodes it hosts.
pub(super) fn rank(boxes: &[Size], edges: &[LayoutEdge]) -> Vec<usize> {
    let count = boxes.len();
    let order = precedence(count, edges);
    let mut position = vec![0; count];
    for (at, &index) in order.iter().enumerate() {
        position[index] = at;
    }
    let mut around = vec![Around::default(); count];
    for edge in edges.iter().filter(|edge| edge.source != edge.target) {
        let turned = position[edge.source] > position[edge.target];
        let (upper, lower) =
            if turned { (edge.target, edge.source) } else { (edge.source, edge.target) };
        around[upper].below.push(lower);
        around[lower].above.push(upper);
    }
    let mut ranks = vec![0; count];
    for &index in &order {
        ranks[index] = around[index].highest(&ranks);
    }
    tighten(&order, &around, &mut ranks);
    fold(boxes, &around, &mut ranks);
    ranks
}

/// The neighbours of a box, above and below.
#[derive(Clone, Default)]
struct Around {
    above: Vec<usize>,
    below: Vec<usize>,
}

impl Around {
    fn highest(&self, ranks: &[usize]) -> usize {
        self.above.iter().map(|&index| ranks[index] + 1).max().unwrap_or_default()
    }

    fn lowest(&self, ranks: &[usize]) -> Option<usize> {
        self.below.iter().map(|&index| ranks[index] - 1).min()
    }

    /// How many more edges lead down than up.
    fn pull(&self) -> isize {
        self.below.len() as isize - self.above.len() as isize
    }
}

/// Orders the boxes so that few edges are contradicted: none if there are no cycles, and no hosting
/// edge if hosting has no cycles. The next box is always the one that waits for the fewest hosted
/// boxes, then for the fewest others.
fn precedence(count: usize, edges: &[LayoutEdge]) -> Vec<usize> {
    let mut leaving: Vec<Vec<&LayoutEdge>> = vec![Vec::new(); count];
    let mut waits = vec![(0usize, 0usize); count];
    for edge in edges.iter().filter(|edge| edge.source != edge.target) {
        leaving[edge.source].push(edge);
        *if edge.hosting { &mut waits[edge.target].0 } else { &mut waits[edge.target].1 } += 1;
    }
    let mut done = vec![false; count];
    let mut order = Vec::with_capacity(count);
    let mut queue: BinaryHeap<_> =
        waits.iter().enumerate().map(|(index, &wait)| Reverse((wait, index))).collect();
    while let Some(Reverse((wait, index))) = queue.pop() {
        // An outdated entry; the box has another one with its current priority.
        if done[index] || wait != waits[index] {
            continue;
        }
        done[index] = true;
        order.push(index);
        for edge in leaving[index].iter().filter(|edge| !done[edge.target]) {
            let wait = &mut waits[edge.target];
            *if edge.hosting { &mut wait.0 } else { &mut wait.1 } -= 1;
            queue.push(Reverse((*wait, edge.target)));
        }
    }
    order
}

/// Moves boxes in the direction that most of their edges lead.
fn tighten(order: &[usize], around: &[Around], ranks: &mut [usize]) {
    for _ in 0..ROUNDS {
        let mut moved = false;
        for &index in order.iter().rev() {
            let here = &around[index];
            let wish = match here.pull() {
                ..0 => here.highest(ranks),
                0 => ranks[index],
                1.. => here.lowest(ranks).unwrap_or(ranks[index]),
            };
            moved |= wish != ranks[index];
            ranks[index] = wish;
        }
        if !moved {
            break;
        }
    }
}

/// Folds layers that are too wide into several. No edges connect the boxes of one layer, so they
/// may be in any order above each other.
fn fold(boxes: &[Size], around: &[Around], ranks: &mut [usize]) {
    let mut layers: Vec<Vec<usize>> =
        vec![Vec::new(); ranks.iter().max().map_or(0, |last| last + 1)];
    for (index, &rank) in ranks.iter().enumerate() {
        layers[rank].push(index);
    }
    let is_joint = |index: &usize| boxes[*index].is_joint();
    let own = ranks.len() - (0..ranks.len()).filter(is_joint).count();
    let limit = NARROW.max((2 * own).isqrt());
    let mut next = 0;
    for layer in layers.into_iter().filter(|layer| !layer.is_empty()) {
        let (joints, mut layer): (Vec<_>, Vec<_>) = layer.into_iter().partition(is_joint);
        let rows = layer.len().div_ceil(limit).max(1);
        // Boxes with the same pull are distributed over the rows, so that the lines of the rows
        // above have room between them.
        layer.sort_by_key(|&index| (around[index].pull(), index % rows));
        for row in layer.chunks(layer.len().div_ceil(rows).max(1)) {
            row.iter().for_each(|&index| ranks[index] = next);
            next += 1;
        }
        // Lines fork as far down as they can.
        next += usize::from(layer.is_empty());
        joints.iter().for_each(|&index| ranks[index] = next - 1);
    }
}
