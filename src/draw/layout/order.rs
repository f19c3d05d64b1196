//! Orders the boxes and lanes within their layers so that few lines cross.

use super::LayoutEdge;

/// A box or a lane in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LayerSpot {
    /// The box of this index.
    Box(usize),
    /// The lane of the edge of this index.
    Lane(usize),
}

/// A segment of an edge between two neighbouring layers.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeSegment {
    /// The edge.
    pub edge: usize,
    /// The spot in the upper layer.
    pub upper: usize,
    /// The spot in the lower layer.
    pub lower: usize,
}

/// Boxes and lanes in layers. The first spots are the boxes, in the order of their indices.
#[derive(Debug, Default)]
pub(super) struct Layered {
    /// All spots.
    pub spots: Vec<LayerSpot>,
    /// The spots of each layer, from left to right.
    pub layers: Vec<Vec<usize>>,
    /// All segments; those of one edge are consecutive, from top to bottom.
    pub pieces: Vec<EdgeSegment>,
    /// For each spot, the segments to the layer above.
    pub above: Vec<Vec<usize>>,
    /// For each spot, the segments to the layer below.
    pub below: Vec<Vec<usize>>,
    /// The position of each spot in its layer.
    pub position: Vec<usize>,
}

/// The greatest number of sweeps. More sweeps rarely improve the order; large graphs get fewer.
const SWEEPS: usize = 24;
/// How often neighbours are exchanged after each sweep, at most.
const TRANSPOSITIONS: usize = 8;
/// How many segments all sweeps together may look at.
const EFFORT: usize = 400_000;

impl Layered {
    /// Splits the edges into segments, and orders the layers.
    pub(super) fn new(ranks: &[usize], edges: &[LayoutEdge]) -> Self {
        let mut layered = Self::unordered(ranks, edges);
        layered.start();
        layered.improve();
        layered
    }

    fn unordered(ranks: &[usize], edges: &[LayoutEdge]) -> Self {
        let mut layered = Self {
            spots: (0..ranks.len()).map(LayerSpot::Box).collect(),
            layers: vec![Vec::new(); ranks.iter().max().map_or(0, |last| last + 1)],
            ..Self::default()
        };
        let mut ranks_of: Vec<usize> = ranks.to_vec();
        for (index, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.source != edge.target)
        {
            let turned = ranks[edge.source] > ranks[edge.target];
            let (mut upper, last) =
                if turned { (edge.target, edge.source) } else { (edge.source, edge.target) };
            for rank in ranks[upper] + 1..ranks[last] {
                let lane = layered.spots.len();
                layered.spots.push(LayerSpot::Lane(index));
                ranks_of.push(rank);
                layered.pieces.push(EdgeSegment { edge: index, upper, lower: lane });
                upper = lane;
            }
            layered.pieces.push(EdgeSegment { edge: index, upper, lower: last });
        }
        layered.above = vec![Vec::new(); layered.spots.len()];
        layered.below = vec![Vec::new(); layered.spots.len()];
        for (index, piece) in layered.pieces.iter().enumerate() {
            layered.below[piece.upper].push(index);
            layered.above[piece.lower].push(index);
        }
        for (spot, &rank) in ranks_of.iter().enumerate() {
            layered.layers[rank].push(spot);
        }
        layered.position = vec![0; layered.spots.len()];
        layered
    }

    /// Computes an initial order: depth first from the boxes at the top, so that connected boxes
    /// are close together.
    fn start(&mut self) {
        let mut seen = vec![false; self.spots.len()];
        let mut reached = vec![Vec::new(); self.layers.len()];
        let mut rank = vec![0; self.spots.len()];
        for (at, layer) in self.layers.iter().enumerate() {
            layer.iter().for_each(|&spot| rank[spot] = at);
        }
        for &first in self.layers.iter().flatten() {
            let mut stack = vec![first];
            while let Some(spot) = stack.pop() {
                if std::mem::replace(&mut seen[spot], true) {
                    continue;
                }
                reached[rank[spot]].push(spot);
                stack.extend(self.above[spot].iter().rev().map(|&piece| self.pieces[piece].upper));
                stack.extend(self.below[spot].iter().rev().map(|&piece| self.pieces[piece].lower));
            }
        }
        self.layers = reached;
        (0..self.layers.len()).for_each(|layer| self.renumber(layer));
    }

    fn renumber(&mut self, layer: usize) {
        for (at, &spot) in self.layers[layer].iter().enumerate() {
            self.position[spot] = at;
        }
    }

    /// Sweeps down and up repeatedly, and keeps the best order.
    fn improve(&mut self) {
        let mut best = (self.crossings(), self.layers.clone());
        let sweeps = (EFFORT / self.pieces.len().max(1)).clamp(4, SWEEPS);
        for sweep in 0..sweeps {
            if best.0 == 0 {
                break;
            }
            let down = sweep % 2 == 0;
            for step in 1..self.layers.len() {
                self.sort(if down { step } else { self.layers.len() - 1 - step }, down);
            }
            for _ in 0..TRANSPOSITIONS {
                if !self.transpose() {
                    break;
                }
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.layers.clone());
            }
        }
        self.layers = best.1;
        (0..self.layers.len()).for_each(|layer| self.renumber(layer));
    }

    /// Sorts a layer by the average position of the neighbours in the previous layer; a spot
    /// without neighbours keeps its position.
    fn sort(&mut self, layer: usize, down: bool) {
        let key = |&spot: &usize| {
            let (mut sum, mut count) = (0.0, 0);
            self.neighbours(spot, down).for_each(|at| (sum, count) = (sum + at as f64, count + 1));
            if count == 0 { self.position[spot] as f64 } else { sum / f64::from(count) }
        };
        let mut keyed: Vec<_> = self.layers[layer].iter().map(|spot| (key(spot), *spot)).collect();
        keyed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        self.layers[layer] = keyed.into_iter().map(|(_, spot)| spot).collect();
        self.renumber(layer);
    }

    /// The positions of the neighbours above or below.
    fn neighbours(&self, spot: usize, above: bool) -> impl Iterator<Item = usize> {
        let pieces = if above { &self.above[spot] } else { &self.below[spot] };
        pieces.iter().map(move |&piece| {
            let piece = &self.pieces[piece];
            self.position[if above { piece.upper } else { piece.lower }]
        })
    }

    /// Exchanges neighbouring spots if that reduces crossings; returns false if nothing improved.
    fn transpose(&mut self) -> bool {
        let mut won = false;
        for layer in 0..self.layers.len() {
            let sorted = |spot, above| {
                let mut positions: Vec<_> = self.neighbours(spot, above).collect();
                positions.sort_unstable();
                positions
            };
            let mut ends: Vec<_> = self.layers[layer]
                .iter()
                .map(|&spot| [sorted(spot, true), sorted(spot, false)])
                .collect();
            for at in 1..ends.len() {
                let (left, right) = (&ends[at - 1], &ends[at]);
                let now: usize = (0..2).map(|side| inversions(&left[side], &right[side])).sum();
                let then: usize = (0..2).map(|side| inversions(&right[side], &left[side])).sum();
                if then < now {
                    ends.swap(at - 1, at);
                    self.layers[layer].swap(at - 1, at);
                    won = true;
                }
            }
            self.renumber(layer);
        }
        won
    }

    /// The number of pairs of lines that cross.
    pub(super) fn crossings(&self) -> usize {
        let between = |pair: &[Vec<usize>]| {
            let [upper, lower] = pair else { return 0 };
            let mut seen = Counts::new(lower.len());
            let mut crossings = 0;
            for &spot in upper {
                crossings +=
                    self.neighbours(spot, false).map(|end| seen.beyond(end)).sum::<usize>();
                self.neighbours(spot, false).for_each(|end| seen.add(end));
            }
            crossings
        };
        self.layers.windows(2).map(between).sum()
    }
}

/// The number of pairs whose first end is right of the second, for two sorted lists.
fn inversions(first: &[usize], second: &[usize]) -> usize {
    let (mut pairs, mut smaller) = (0, 0);
    for end in first {
        smaller += second[smaller..].iter().take_while(|other| *other < end).count();
        pairs += smaller;
    }
    pairs
}

/// A Fenwick tree that counts how often each number was added.
struct Counts {
    sums: Vec<usize>,
    total: usize,
}

impl Counts {
    /// A tree for numbers below a limit.
    fn new(limit: usize) -> Self {
        Self { sums: vec![0; limit + 1], total: 0 }
    }

    fn add(&mut self, number: usize) {
        self.total += 1;
        let mut at = number + 1;
        while at < self.sums.len() {
            self.sums[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    /// How many of the added numbers are larger.
    fn beyond(&self, number: usize) -> usize {
        let (mut at, mut others) = (number + 1, 0);
        while at > 0 {
            others += self.sums[at];
            at -= at & at.wrapping_neg();
        }
        self.total - others
    }
}

#[cfg(test)]
mod tests {
    use super::inversions;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pairs_out_of_order_are_counted(mut a in prop::collection::vec(0usize..9, 0..6), mut b in prop::collection::vec(0usize..9, 0..6)) {
            a.sort_unstable();
            b.sort_unstable();
            let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
            prop_assert_eq!(inversions(&a, &b), pairs.filter(|(a, b)| b < a).count());
        }
    }
}
