//! Keeps boxes that have a frame around them together: no other box gets into the frame.
//!
//! In each layer, the spots of a frame are beside each other, and frames beside each other have the
//! same order in all layers. So the left and the right side of each frame, and the spots, can be
//! ordered as a whole, and everything moves to the right as far as that order needs.

use super::order::{LayerSpot, Layered};
use super::{HorizontalExtent, LayoutEdge};
use std::collections::VecDeque;

/// The space between a frame and its contents.
pub(crate) const ROOM: f64 = 7.0;
/// The additional space above the contents, for the title of the frame.
pub(crate) const TITLE: f64 = 13.0;
/// The space between a frame and what is beside it.
const BESIDE_FRAME: f64 = 20.0;
/// The space between a frame and the layer above or below it.
const BETWEEN_LAYERS: f64 = 16.0;

/// Frames around boxes, which may be nested. A frame comes after the frame around it.
#[derive(Clone, Debug, Default)]
pub(in crate::draw) struct LayoutFrames {
    /// For each box, the innermost frame around it.
    pub of: Vec<Option<usize>>,
    /// For each frame, the frame around it.
    pub parents: Vec<Option<usize>>,
    /// For each frame, the width of its title.
    pub titles: Vec<f64>,
}

impl LayoutFrames {
    /// The innermost frame around a box.
    pub(super) fn around(&self, index: usize) -> Option<usize> {
        self.of.get(index).copied().flatten()
    }

    /// The innermost frame around both of these frames.
    pub(super) fn common(&self, one: Option<usize>, other: Option<usize>) -> Option<usize> {
        let (mut one, mut other) = (one, other);
        while one != other {
            let later = if one > other { &mut one } else { &mut other };
            *later = later.and_then(|frame| self.parents[frame]);
        }
        one
    }

    /// The innermost frame around both ends of an edge.
    pub(super) fn of_edge(&self, edge: &LayoutEdge) -> Option<usize> {
        self.common(self.around(edge.source), self.around(edge.target))
    }

    /// A frame and the frames around it, the innermost first.
    pub(super) fn outwards(&self, frame: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::successors(frame, |&frame| self.parents[frame])
    }

    /// The part of the frames that these boxes need, whose numbers are those of `frames`.
    pub(super) fn part(&self, boxes: &[usize], frames: &[usize]) -> Self {
        let local = |frame: usize| frames.binary_search(&frame).ok();
        Self {
            of: boxes.iter().map(|&index| self.around(index).and_then(local)).collect(),
            parents: frames.iter().map(|&frame| self.parents[frame].and_then(local)).collect(),
            titles: frames.iter().map(|&frame| self.titles[frame]).collect(),
        }
    }
}

/// A spot of a layer, or a side of a frame in it.
#[derive(Clone, Copy)]
enum LayerEvent {
    Spot(usize),
    Left(usize),
    Right(usize),
}

/// The order from left to right over all layers, with the least distances. It is empty if there are
/// no frames.
#[derive(Default)]
pub(super) struct FrameOrder {
    spots: usize,
    /// For each spot, and behind them for the left and the right side of each frame, what comes
    /// next, and how far from there.
    next: Vec<Vec<(usize, f64)>>,
    /// How many of these lead to each.
    waits: Vec<usize>,
}

impl FrameOrder {
    /// The order of the spots of layers. `offsets` are the least distances in each layer, and
    /// `extents` how far spots extend to the left and to the right.
    pub(super) fn of(
        layered: &Layered,
        offsets: &[Vec<f64>],
        extents: &[HorizontalExtent],
    ) -> Self {
        let frames = &layered.frames;
        if frames.parents.is_empty() {
            return Self::default();
        }
        let (spots, sides) = (layered.spots.len(), 2 * frames.parents.len());
        let mut order =
            Self { spots, next: vec![Vec::new(); spots + sides], waits: vec![0; spots + sides] };
        for (layer, offsets) in layered.layers.iter().zip(offsets) {
            let mut before: Option<LayerEvent> = None;
            let at = |spot: usize| offsets[layered.position[spot]];
            for event in events(layered, layer) {
                if let Some(before) = before.replace(event) {
                    let room = match (before, event) {
                        (LayerEvent::Spot(one), LayerEvent::Spot(other)) => at(other) - at(one),
                        (LayerEvent::Spot(one), _) => extents[one].right + between(before, event),
                        (_, LayerEvent::Spot(other)) => {
                            between(before, event) + extents[other].left
                        }
                        _ => between(before, event),
                    };
                    order.add(before, event, room);
                }
            }
        }
        for (frame, title) in frames.titles.iter().enumerate() {
            order.add(LayerEvent::Left(frame), LayerEvent::Right(frame), title + 2.0 * ROOM);
        }
        order
    }

    fn index(&self, event: LayerEvent) -> usize {
        match event {
            LayerEvent::Spot(spot) => spot,
            LayerEvent::Left(frame) => self.spots + 2 * frame,
            LayerEvent::Right(frame) => self.spots + 2 * frame + 1,
        }
    }

    fn add(&mut self, before: LayerEvent, event: LayerEvent, room: f64) {
        let (before, event) = (self.index(before), self.index(event));
        self.next[before].push((event, room));
        self.waits[event] += 1;
    }

    /// Moves spots to the right until all distances are kept. Returns the range in which each frame
    /// may be.
    pub(super) fn push(&self, x: &mut [f64]) -> Vec<(f64, f64)> {
        if self.next.is_empty() {
            return Vec::new();
        }
        let mut at = x.to_vec();
        at.resize(self.next.len(), f64::NEG_INFINITY);
        let mut waits = self.waits.clone();
        let free = (0..waits.len()).filter(|&index| waits[index] == 0);
        let mut open: VecDeque<_> = free.collect();
        while let Some(index) = open.pop_front() {
            for &(next, room) in &self.next[index] {
                at[next] = at[next].max(at[index] + room);
                waits[next] -= 1;
                if waits[next] == 0 {
                    open.push_back(next);
                }
            }
        }
        let sides = at.split_off(self.spots);
        x.copy_from_slice(&at);
        sides.chunks_exact(2).map(|sides| (sides[0], sides[1])).collect()
    }

    /// Moves spots as [`push`](Self::push) does. Returns the left and the right side of each frame:
    /// close around its contents, but wide enough for its title.
    pub(super) fn sides(
        &self,
        layered: &Layered,
        x: &mut [f64],
        extents: &[HorizontalExtent],
    ) -> Vec<(f64, f64)> {
        let (frames, ranges) = (&layered.frames, self.push(x));
        let mut sides = vec![(f64::INFINITY, f64::NEG_INFINITY); ranges.len()];
        let widen = |sides: &mut [(f64, f64)], frame: Option<usize>, left: f64, right: f64| {
            if let Some(frame) = frame {
                sides[frame] = (sides[frame].0.min(left), sides[frame].1.max(right));
            }
        };
        for (spot, frame) in layered.frame_of.iter().enumerate() {
            if layered.spots[spot] != LayerSpot::Blank {
                let HorizontalExtent { left, right } = extents[spot];
                widen(&mut sides, *frame, x[spot] - left, x[spot] + right);
            }
        }
        // Inner frames come first.
        for frame in (0..sides.len()).rev() {
            let (left, right) = (sides[frame].0 - ROOM, sides[frame].1 + ROOM);
            let wide = frames.titles[frame] + 2.0 * ROOM;
            let right = right.max((left + wide).min(ranges[frame].1));
            let left = left.min(right - wide);
            sides[frame] = (left, right);
            widen(&mut sides, frames.parents[frame], left, right);
        }
        sides
    }
}

/// The spots of a layer with the sides of the frames between them.
fn events(layered: &Layered, layer: &[usize]) -> Vec<LayerEvent> {
    let frames = &layered.frames;
    let mut events = Vec::with_capacity(layer.len());
    let mut open: Option<usize> = None;
    let spots = layer.iter().map(|&spot| (Some(spot), layered.frame_of[spot]));
    for (spot, frame) in spots.chain([(None, None)]) {
        let both = frames.common(open, frame);
        let is_inner = |frame: &usize| Some(*frame) != both;
        events.extend(frames.outwards(open).take_while(is_inner).map(LayerEvent::Right));
        let mut opened: Vec<_> = frames.outwards(frame).take_while(is_inner).collect();
        opened.reverse();
        events.extend(opened.into_iter().map(LayerEvent::Left));
        events.extend(spot.map(LayerEvent::Spot));
        open = frame;
    }
    events
}

/// The space between neighbours of which one is a side of a frame.
fn between(before: LayerEvent, event: LayerEvent) -> f64 {
    match (before, event) {
        (LayerEvent::Left(_), _) | (_, LayerEvent::Right(_)) => ROOM,
        _ => BESIDE_FRAME,
    }
}

/// How far frames extend above and below the layers.
pub(super) struct FrameRows {
    /// For each frame, its first and its last layer, how far it extends above the first one, and how
    /// far below the last one.
    pub frames: Vec<(usize, usize, f64, f64)>,
    /// For each layer, how far frames extend above it.
    pub above: Vec<f64>,
    /// For each layer, how far frames extend below it.
    pub below: Vec<f64>,
}

impl FrameRows {
    /// The frames around spots, of which each is in one of the layers.
    pub(super) fn of(layered: &Layered, layer_of: &[usize]) -> Self {
        let (frames, layers) = (&layered.frames, layered.layers.len());
        let mut rows = Self {
            frames: vec![(usize::MAX, 0, 0.0, 0.0); frames.parents.len()],
            above: vec![0.0; layers],
            below: vec![0.0; layers],
        };
        for (frame, &layer) in layered.frame_of.iter().zip(layer_of) {
            for frame in frames.outwards(*frame) {
                let (first, last, ..) = &mut rows.frames[frame];
                (*first, *last) = ((*first).min(layer), (*last).max(layer));
            }
        }
        // Inner frames come first.
        for frame in (0..frames.parents.len()).rev() {
            let (first, last, above, below) = rows.frames[frame];
            let (above, below) = (above + ROOM + TITLE, below + ROOM);
            rows.frames[frame] = (first, last, above, below);
            rows.above[first] = rows.above[first].max(above);
            rows.below[last] = rows.below[last].max(below);
            if let Some(parent) = frames.parents[frame] {
                let around = &mut rows.frames[parent];
                around.2 = around.2.max(if around.0 == first { above } else { 0.0 });
                around.3 = around.3.max(if around.1 == last { below } else { 0.0 });
            }
        }
        rows
    }

    /// The least space between a layer and the next one.
    pub(super) fn gap(&self, layer: usize) -> f64 {
        let frames = self.below[layer] + self.above.get(layer + 1).copied().unwrap_or_default();
        if frames > 0.0 { frames + BETWEEN_LAYERS } else { 0.0 }
    }
}
