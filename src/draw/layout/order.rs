//! Orders the boxes and lanes within their layers so that few lines cross, and the boxes of each
//! frame are beside each other.

use super::LayoutEdge;
use super::frame::LayoutFrames;
use std::collections::BTreeMap;

/// A box or a lane in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LayerSpot {
    /// The box of this index.
    Box(usize),
    /// The lane of the edge of this index.
    Lane(usize),
    /// The place of a frame in a layer in which it has nothing else.
    Blank,
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
    /// The frames around the boxes.
    pub frames: LayoutFrames,
    /// For each spot, the innermost frame around it.
    pub frame_of: Vec<Option<usize>>,
}

/// The greatest number of sweeps. More sweeps rarely improve the order; large graphs get fewer.
const SWEEPS: usize = 24;
/// How often neighbours are exchanged after each sweep, at most.
const TRANSPOSITIONS: usize = 8;
/// How many segments all sweeps together may look at.
const EFFORT: usize = 400_000;

impl Layered {
    /// Splits the edges into segments, and orders the layers.
    pub(super) fn new(ranks: &[usize], edges: &[LayoutEdge], frames: LayoutFrames) -> Self {
        let mut layered = Self::unordered(ranks, edges, frames);
        layered.start();
        layered.improve();
        layered
    }

    fn unordered(ranks: &[usize], edges: &[LayoutEdge], frames: LayoutFrames) -> Self {
        let mut layered = Self {
            spots: (0..ranks.len()).map(LayerSpot::Box).collect(),
            layers: vec![Vec::new(); ranks.iter().max().map_or(0, |last| last + 1)],
            frame_of: (0..ranks.len()).map(|index| frames.around(index)).collect(),
            frames,
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
                layered.frame_of.push(layered.frames.of_edge(edge));
                ranks_of.push(rank);
                layered.pieces.push(EdgeSegment { edge: index, upper, lower: lane });
                upper = lane;
            }
            layered.pieces.push(EdgeSegment { edge: index, upper, lower: last });
        }
        layered.fill(&mut ranks_of);
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

    /// Gives each frame a spot in every layer from its first to its last one.
    fn fill(&mut self, ranks_of: &mut Vec<usize>) {
        let mut taken: Vec<Vec<usize>> = vec![Vec::new(); self.frames.parents.len()];
        for (frame, &rank) in self.frame_of.iter().zip(&*ranks_of) {
            frame.iter().for_each(|&frame| taken[frame].push(rank));
        }
        for frame in (0..taken.len()).rev() {
            let mut own = std::mem::take(&mut taken[frame]);
            own.sort_unstable();
            own.dedup();
            for pair in own.windows(2) {
                for rank in pair[0] + 1..pair[1] {
                    self.spots.push(LayerSpot::Blank);
                    self.frame_of.push(Some(frame));
                    ranks_of.push(rank);
                }
            }
            if let (Some(parent), Some((&first, &last))) =
                (self.frames.parents[frame], own.first().zip(own.last()))
            {
                taken[parent].extend(first..=last);
            }
        }
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
        let mut frames = self.gather();
        let mut best = (self.crossings(), self.layers.clone());
        let sweeps = (EFFORT / self.pieces.len().max(1)).clamp(4, SWEEPS);
        for sweep in 0..sweeps {
            if best.0 == 0 {
                break;
            }
            let down = sweep % 2 == 0;
            for step in 1..self.layers.len() {
                let layer = if down { step } else { self.layers.len() - 1 - step };
                self.sort(layer, down);
                self.gather_in(layer, &frames);
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
            frames = self.gather();
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

    /// Puts the spots of each frame beside each other, and frames in one order in all layers. Returns
    /// where each frame is: its mean place in its layers.
    fn gather(&mut self) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.frames.parents.len()];
        for layer in &self.layers {
            for (at, &spot) in layer.iter().enumerate() {
                let place = (at as f64 + 0.5) / layer.len() as f64;
                for frame in self.frames.outwards(self.frame_of[spot]) {
                    sums[frame] = (sums[frame].0 + place, sums[frame].1 + 1.0);
                }
            }
        }
        let places: Vec<_> = sums.into_iter().map(|(sum, count)| sum / count).collect();
        (0..self.layers.len()).for_each(|layer| self.gather_in(layer, &places));
        places
    }

    fn gather_in(&mut self, layer: usize, places: &[f64]) {
        if !places.is_empty() {
            let spots: Vec<_> = self.layers[layer].iter().copied().enumerate().collect();
            self.layers[layer] = self.gathered(spots, None, places);
            self.renumber(layer);
        }
    }

    /// The spots of one frame, or outside of all, in a layer: those of each inner frame beside each
    /// other, where they are on average, but frames in the order of their places.
    fn gathered(
        &self,
        spots: Vec<(usize, usize)>,
        around: Option<usize>,
        places: &[f64],
    ) -> Vec<usize> {
        let mut alone = Vec::new();
        let mut inner: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (at, spot) in spots {
            let mut outwards = self.frames.outwards(self.frame_of[spot]);
            match outwards.find(|&frame| self.frames.parents[frame] == around) {
                Some(frame) => inner.entry(frame).or_default().push((at, spot)),
                None => alone.push((at as f64, vec![spot])),
            }
        }
        let mut inner: Vec<_> = inner.into_iter().collect();
        inner.sort_by(|(one, _), (other, _)| places[*one].total_cmp(&places[*other]));
        let mut least = f64::NEG_INFINITY;
        let framed = inner.into_iter().map(|(frame, spots)| {
            let sum: usize = spots.iter().map(|(at, _)| at).sum();
            least = least.max(sum as f64 / spots.len() as f64);
            (least, self.gathered(spots, Some(frame), places))
        });
        let mut all: Vec<_> = framed.chain(alone).collect();
        all.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        all.into_iter().flat_map(|(_, spots)| spots).collect()
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
                let [one, other] = [at - 1, at].map(|at| self.frame_of[self.layers[layer][at]]);
                if one != other {
                    continue;
                }
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
