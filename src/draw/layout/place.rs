//! Assigns coordinates: connected boxes are placed above each other as far as their neighbours in
//! the layer leave room.

use super::frame::{FrameOrder, FrameRows};
use super::order::{EdgeSegment, LayerSpot, Layered};
use super::{HorizontalExtent, LOOP, Layout, LayoutArea, LayoutEdge, Point, Route, Size};

/// The space between two boxes of a layer.
const BETWEEN_BOXES: f64 = 34.0;
/// The space between a box and a lane.
const BESIDE_BOX: f64 = 20.0;
/// The space between two lanes.
const BETWEEN_LANES: f64 = 14.0;
/// The space between two lanes that lead to the same host.
const BUNDLED: f64 = 7.0;
/// The space between the ends of lines at a box that is wide enough.
const BETWEEN_ENDS: f64 = 14.0;
/// The least and the greatest space between two layers.
const GAP: (f64, f64) = (52.0, 132.0);
/// The part of the width that lines have to cover that is added to the space between layers.
const SLOPE: f64 = 0.13;
/// How much more strongly lanes are straightened than other lines.
const STIFFNESS: f64 = 8.0;
/// How much more strongly the stem of a fork is straightened than its branches.
const STEM: f64 = 4.0;
/// How often lanes are straightened; the room of one lane depends on its neighbours, so this is
/// repeated.
const STRAIGHTENINGS: usize = 4;
/// The greatest number of sweeps that move spots towards their neighbours; large graphs get fewer.
const SWEEPS: usize = 16;
/// How many segments all these sweeps may look at.
const EFFORT: usize = 1_000_000;

/// Places boxes and edges.
pub(super) fn place(boxes: &[Size], edges: &[LayoutEdge], layered: &Layered) -> Layout {
    let loops = loops(boxes.len(), edges);
    let columns = Columns::new(boxes, edges, &loops, layered);
    let rows = Rows::new(boxes, layered, &columns);
    let centre =
        |index: usize| Point { x: columns.x[index], y: rows.rows[rows.of[index]].middle() };
    let mut routes = vec![Route::Through(Vec::new()); edges.len()];
    let mut start = 0;
    for pieces in layered.pieces.chunk_by(|a, b| a.edge == b.edge) {
        let (edge, top) = (pieces[0].edge, pieces[0].upper);
        let mut points = through(start, pieces, boxes, layered, &columns, &rows);
        start += pieces.len();
        // An edge that was reversed to break a cycle leads up.
        if layered.spots[top] != LayerSpot::Box(edges[edge].source) {
            points.reverse();
        }
        routes[edge] = Route::Through(points);
    }
    for (index, around) in loops.into_iter().enumerate() {
        for (nth, edge) in around.into_iter().enumerate() {
            routes[edge] = looped(centre(index), boxes[index], nth);
        }
    }
    Layout {
        size: Size { width: columns.width, height: rows.height },
        centres: (0..boxes.len()).map(centre).collect(),
        forks: vec![0; edges.len()],
        frames: columns.frames.iter().zip(&rows.frames).map(area).collect(),
        routes,
    }
}

/// The area between the sides of a frame, and its top and bottom.
fn area((&(left, right), &(top, bottom)): (&(f64, f64), &(f64, f64))) -> LayoutArea {
    let size = Size { width: right - left, height: bottom - top };
    LayoutArea { corner: Point { x: left, y: top }, size }
}

/// The loops at each box.
fn loops(count: usize, edges: &[LayoutEdge]) -> Vec<Vec<usize>> {
    let mut loops = vec![Vec::new(); count];
    for (index, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.source == edge.target) {
        loops[edge.source].push(index);
    }
    loops
}

/// The route of the nth loop at a box, counted from the inside.
fn looped(centre: Point, size: Size, nth: usize) -> Route {
    let (x, nth) = (centre.x + size.width / 2.0, nth as f64);
    let height = (size.height / 5.0 * (1.0 + 0.7 * nth)).min(size.height / 2.0 - 4.0);
    Route::Loop {
        from: Point { x, y: centre.y - height },
        to: Point { x, y: centre.y + height },
        reach: LOOP * (nth + 1.2),
    }
}

/// The points at which a line is vertical: where it leaves a box, where it enters and leaves a
/// layer, and where it enters a box.
fn through(
    start: usize,
    pieces: &[EdgeSegment],
    boxes: &[Size],
    layered: &Layered,
    columns: &Columns,
    rows: &Rows,
) -> Vec<Point> {
    let mut points = Vec::with_capacity(2 * pieces.len() + 2);
    let mut push = |x: f64, y: f64| {
        let point = Point { x, y };
        if points.last() != Some(&point) {
            points.push(point);
        }
    };
    let half = |spot: usize| match layered.spots[spot] {
        LayerSpot::Box(index) => boxes[index].height / 2.0,
        LayerSpot::Lane(_) | LayerSpot::Blank => 0.0,
    };
    for (at, piece) in pieces.iter().enumerate() {
        let (upper, lower) = (&rows.rows[rows.of[piece.upper]], &rows.rows[rows.of[piece.lower]]);
        let [from, to] = columns.ends[start + at];
        let (from, to) = (columns.x[piece.upper] + from, columns.x[piece.lower] + to);
        if at == 0 {
            push(from, upper.middle() + half(piece.upper));
        }
        push(from, upper.bottom);
        push(to, lower.top);
        if at + 1 == pieces.len() {
            push(to, lower.middle() - half(piece.lower));
        } else {
            push(to, lower.bottom);
        }
    }
    points
}

/// The horizontal coordinates.
struct Columns {
    /// The centre of each spot.
    x: Vec<f64>,
    /// For each segment, whether it is the stem of a fork.
    stems: Vec<bool>,
    /// For each segment, the distances of its upper and its lower end from the centres of their
    /// spots.
    ends: Vec<[f64; 2]>,
    /// The left and the right side of each frame.
    frames: Vec<(f64, f64)>,
    width: f64,
}

impl Columns {
    fn new(boxes: &[Size], edges: &[LayoutEdge], loops: &[Vec<usize>], layered: &Layered) -> Self {
        let extent = |spot: &LayerSpot| match *spot {
            LayerSpot::Box(index) => {
                let half = boxes[index].width / 2.0;
                let loops = if loops[index].is_empty() {
                    0.0
                } else {
                    LOOP * (loops[index].len() as f64 + 0.6)
                };
                HorizontalExtent { left: half, right: half + loops }
            }
            LayerSpot::Lane(_) | LayerSpot::Blank => HorizontalExtent { left: 0.0, right: 0.0 },
        };
        let extents: Vec<_> = layered.spots.iter().map(extent).collect();
        let is_joint = |spot: usize| matches!(layered.spots[spot], LayerSpot::Box(index) if boxes[index].is_joint());
        let mut columns = Self {
            x: vec![0.0; layered.spots.len()],
            stems: layered.pieces.iter().map(|piece| is_joint(piece.lower)).collect(),
            ends: ends(boxes, layered),
            frames: Vec::new(),
            width: 0.0,
        };
        let layers: Vec<_> = layered
            .layers
            .iter()
            .map(|layer| offsets(layer, layered, boxes, edges, &extents))
            .collect();
        for (layer, offsets) in layered.layers.iter().zip(&layers) {
            let middle = offsets.last().map_or(0.0, |last| last / 2.0);
            layer.iter().zip(offsets).for_each(|(&spot, offset)| columns.x[spot] = offset - middle);
        }
        let order = FrameOrder::of(layered, &layers, &extents);
        let sweeps = (EFFORT / layered.pieces.len().max(1)).clamp(4, SWEEPS);
        for sweep in 0..3 * sweeps {
            // The first sweeps go from layer to layer, so that spots can move far. Later ones
            // consider both neighbouring layers, so that spots come to rest and lanes become
            // straight.
            let rest = sweep.saturating_sub(2 * sweeps);
            let sides = if rest > 0 { [true, true] } else { [sweep % 2 == 0, sweep % 2 == 1] };
            let stiffness = STIFFNESS * (1.0 + rest as f64);
            for step in 0..layers.len() {
                let at = if sweep % 2 == 0 { step } else { layers.len() - 1 - step };
                columns.settle(layered, at, &layers[at], sides, stiffness);
            }
            order.push(&mut columns.x);
        }
        (0..STRAIGHTENINGS).for_each(|_| columns.straighten(layered, &layers));
        columns.frames = order.sides(layered, &mut columns.x, &extents);
        columns.normalise(&extents);
        columns
    }

    /// Moves the spots of a layer towards their neighbours, as far as their order and the space
    /// between them allow.
    fn settle(
        &mut self,
        layered: &Layered,
        layer: usize,
        offsets: &[f64],
        sides: [bool; 2],
        stiffness: f64,
    ) {
        let spots = &layered.layers[layer];
        let wishes = spots.iter().zip(offsets).map(|(&spot, offset)| {
            let (mut sum, mut weight) = (0.0, 0.0);
            for (side, pieces) in [&layered.above[spot], &layered.below[spot]]
                .into_iter()
                .enumerate()
                .filter(|&(side, _)| sides[side])
            {
                for &piece in pieces {
                    let EdgeSegment { upper, lower, .. } = layered.pieces[piece];
                    let [at_upper, at_lower] = self.ends[piece];
                    let wish = if side == 0 {
                        self.x[upper] + at_upper - at_lower
                    } else {
                        self.x[lower] + at_lower - at_upper
                    };
                    let strength = match (layered.spots[upper], layered.spots[lower]) {
                        (LayerSpot::Lane(_), LayerSpot::Lane(_)) => stiffness,
                        _ if self.stems[piece] => STEM,
                        _ => 1.0,
                    };
                    (sum, weight) = (sum + strength * wish, weight + strength);
                }
            }
            // A spot without neighbours yields to all others.
            if weight == 0.0 {
                (self.x[spot] - offset, 1e-3)
            } else {
                (sum / weight - offset, weight)
            }
        });
        let settled = rising(wishes);
        for ((&spot, offset), base) in spots.iter().zip(offsets).zip(settled) {
            self.x[spot] = base + offset;
        }
    }

    /// Places the lanes of an edge above each other, as many as their neighbours leave room for.
    fn straighten(&mut self, layered: &Layered, layers: &[Vec<f64>]) {
        let mut of = vec![0; layered.spots.len()];
        for (at, layer) in layered.layers.iter().enumerate() {
            layer.iter().for_each(|&spot| of[spot] = at);
        }
        for pieces in layered.pieces.chunk_by(|a, b| a.edge == b.edge) {
            let lanes: Vec<_> = pieces.iter().skip(1).map(|piece| piece.upper).collect();
            let mut rest = &lanes[..];
            while let Some(&first) = rest.first() {
                let mut room = self.room(layered, layers, of[first], first);
                let mut count = 1;
                for &lane in &rest[1..] {
                    let next = self.room(layered, layers, of[lane], lane);
                    let both = (room.0.max(next.0), room.1.min(next.1));
                    if both.0 > both.1 {
                        break;
                    }
                    (room, count) = (both, count + 1);
                }
                let (run, others) = rest.split_at(count);
                let mean = run.iter().map(|&lane| self.x[lane]).sum::<f64>() / count as f64;
                run.iter().for_each(|&lane| self.x[lane] = mean.max(room.0).min(room.1));
                rest = others;
            }
        }
    }

    /// The range in which a spot may move while its neighbours stay.
    fn room(
        &self,
        layered: &Layered,
        layers: &[Vec<f64>],
        layer: usize,
        spot: usize,
    ) -> (f64, f64) {
        let (spots, offsets, at) = (&layered.layers[layer], &layers[layer], layered.position[spot]);
        let beside = |other: usize| Some(self.x[*spots.get(other)?] + offsets[at] - offsets[other]);
        let left = at.checked_sub(1).and_then(beside).unwrap_or(f64::NEG_INFINITY);
        (left, beside(at + 1).unwrap_or(f64::INFINITY))
    }

    /// Shifts everything so that the leftmost spot begins at 0.
    fn normalise(&mut self, extents: &[HorizontalExtent]) {
        let edges = |x: &[f64], edge: fn(f64, &HorizontalExtent) -> f64| -> Vec<f64> {
            x.iter().zip(extents).map(|(&x, e)| edge(x, e)).collect()
        };
        let (lefts, rights): (Vec<_>, Vec<_>) = self.frames.iter().copied().unzip();
        let left = edges(&self.x, |x, extent| x - extent.left).into_iter().chain(lefts);
        let left = left.fold(f64::INFINITY, f64::min);
        let right = edges(&self.x, |x, extent| x + extent.right).into_iter().chain(rights);
        let right = right.fold(f64::NEG_INFINITY, f64::max);
        self.x.iter_mut().for_each(|x| *x -= left);
        self.frames.iter_mut().for_each(|sides| *sides = (sides.0 - left, sides.1 - left));
        self.width = (right - left).max(0.0);
    }
}

/// The distance of each spot of a layer from the first one, if all are as close as allowed.
fn offsets(
    layer: &[usize],
    layered: &Layered,
    boxes: &[Size],
    edges: &[LayoutEdge],
    extents: &[HorizontalExtent],
) -> Vec<f64> {
    let is_box = |spot: usize| matches!(layered.spots[spot], LayerSpot::Box(index) if !boxes[index].is_joint());
    let mut offset = 0.0;
    let mut before: Option<usize> = None;
    let next = |&spot: &usize| {
        if let Some(before) = before.replace(spot) {
            let room = match (layered.spots[before], layered.spots[spot]) {
                _ if is_box(before) && is_box(spot) => BETWEEN_BOXES,
                _ if is_box(before) || is_box(spot) => BESIDE_BOX,
                (LayerSpot::Lane(one), LayerSpot::Lane(other))
                    if edges[one].hosting
                        && edges[other].hosting
                        && edges[one].target == edges[other].target =>
                {
                    BUNDLED
                }
                _ => BETWEEN_LANES,
            };
            offset += extents[before].right + room + extents[spot].left;
        }
        offset
    };
    layer.iter().map(next).collect()
}

/// Spreads the ends of lines over the sides of boxes, in the order of their other ends.
fn ends(boxes: &[Size], layered: &Layered) -> Vec<[f64; 2]> {
    let mut ends = vec![[0.0; 2]; layered.pieces.len()];
    for (index, size) in boxes.iter().enumerate() {
        for (side, pieces) in [&layered.below[index], &layered.above[index]].into_iter().enumerate()
        {
            let mut pieces = pieces.clone();
            let other = |piece: usize| {
                if side == 0 { layered.pieces[piece].lower } else { layered.pieces[piece].upper }
            };
            pieces
                .sort_by_key(|&piece| (layered.position[other(piece)], layered.pieces[piece].edge));
            let room = BETWEEN_ENDS.min(size.width * 0.8 / pieces.len().max(1) as f64);
            let middle = pieces.len().saturating_sub(1) as f64 / 2.0;
            for (at, piece) in pieces.into_iter().enumerate() {
                ends[piece][side] = (at as f64 - middle) * room;
            }
        }
    }
    ends
}

/// The increasing sequence closest to the wishes, by weighted squares. Neighbours in the wrong
/// order are pooled at their mean.
fn rising(wishes: impl Iterator<Item = (f64, f64)>) -> Vec<f64> {
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (wish, weight) in wishes {
        let mut pool = (wish, weight, 1);
        while let Some(&(mean, total, count)) = pools.last().filter(|(mean, ..)| *mean > pool.0) {
            let sum = total + pool.1;
            pool = ((mean * total + pool.0 * pool.1) / sum, sum, count + pool.2);
            pools.pop();
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(mean, _, count)| std::iter::repeat_n(mean, count)).collect()
}

/// The vertical coordinates.
struct Rows {
    rows: Vec<LayoutRow>,
    /// The row of each spot.
    of: Vec<usize>,
    /// The top and the bottom of each frame.
    frames: Vec<(f64, f64)>,
    height: f64,
}

struct LayoutRow {
    top: f64,
    bottom: f64,
}

impl LayoutRow {
    fn middle(&self) -> f64 {
        (self.top + self.bottom) / 2.0
    }
}

impl Rows {
    fn new(boxes: &[Size], layered: &Layered, columns: &Columns) -> Self {
        let mut of = vec![0; layered.spots.len()];
        for (row, layer) in layered.layers.iter().enumerate() {
            layer.iter().for_each(|&spot| of[spot] = row);
        }
        let mut heights = vec![0.0f64; layered.layers.len()];
        boxes.iter().zip(&of).for_each(|(size, &row)| heights[row] = heights[row].max(size.height));
        let mut slants = vec![0.0f64; layered.layers.len()];
        for piece in &layered.pieces {
            let slant = &mut slants[of[piece.upper]];
            *slant = slant.max((columns.x[piece.upper] - columns.x[piece.lower]).abs());
        }
        let around = FrameRows::of(layered, &of);
        let mut top = around.above.first().copied().unwrap_or_default();
        let row = |(at, (height, slant)): (usize, (f64, f64))| {
            let row = LayoutRow { top, bottom: top + height };
            top = row.bottom + (slant * SLOPE).clamp(GAP.0, GAP.1).max(around.gap(at));
            row
        };
        let rows: Vec<_> = heights.into_iter().zip(slants).enumerate().map(row).collect();
        let side = |&(first, last, above, below): &(usize, usize, f64, f64)| {
            (rows[first].top - above, rows[last].bottom + below)
        };
        let frames = around.frames.iter().map(side).collect();
        let below = around.below.last().copied().unwrap_or_default();
        let height = rows.last().map_or(0.0, |row| row.bottom + below);
        Self { rows, of, frames, height }
    }
}

#[cfg(test)]
mod tests {
    use super::rising;
    use proptest::prelude::*;

    /// The least sum of weighted squares of an increasing sequence, over all ways to pool
    /// neighbours.
    fn least(wishes: &[(f64, f64)]) -> f64 {
        let cost = |cuts: u32| {
            let (mut before, mut sum) = (f64::NEG_INFINITY, 0.0);
            let mut pool = Vec::new();
            for (index, &wish) in wishes.iter().enumerate() {
                pool.push(wish);
                if index + 1 == wishes.len() || cuts >> index & 1 == 1 {
                    let weight: f64 = pool.iter().map(|(_, weight)| weight).sum();
                    let mean =
                        pool.iter().map(|(wish, weight)| wish * weight).sum::<f64>() / weight;
                    if mean < before {
                        return f64::INFINITY;
                    }
                    sum += pool
                        .drain(..)
                        .map(|(wish, weight)| weight * (wish - mean).powi(2))
                        .sum::<f64>();
                    before = mean;
                }
            }
            sum
        };
        (0..1 << wishes.len()).map(cost).fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn rises_as_close_to_the_wishes_as_can_be(wishes in prop::collection::vec((-9i8..9, 1u8..5), 1..8)) {
            let wishes: Vec<(f64, f64)> = wishes.into_iter().map(|(wish, weight)| (wish.into(), weight.into())).collect();
            let found = rising(wishes.iter().copied());
            prop_assert!(found.len() == wishes.len() && found.is_sorted());
            let cost: f64 = found.iter().zip(&wishes).map(|(x, (wish, weight))| weight * (x - wish).powi(2)).sum();
            prop_assert!((cost - least(&wishes)).abs() < 1e-9, "{found:?}");
        }
    }
}
