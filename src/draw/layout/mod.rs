//! Lays out boxes and lines in layers from top to bottom, with hosts below the nodes they host.
//!
//! The steps are those of Sugiyama, Tagawa and Toda: give every box a layer ([`rank`]), order the
//! layers so that few lines cross ([`order`]), give everything coordinates ([`place`]). A line that
//! passes a layer has a lane in it, between the boxes. Lines change lanes between the layers, where
//! there are no boxes, so no line runs through a box. Lines of one [`fork`] share their way as far
//! as they can. A [`frame`] is around its boxes and no others. Components that are not connected are
//! laid out apart and packed.

mod fork;
pub(super) mod frame;
mod order;
mod place;
mod rank;

use frame::LayoutFrames;
use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

/// The size of a box or a drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Size {
    pub width: f64,
    pub height: f64,
}

/// A point; y grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
}

/// How far a box or a lane extends to the left and to the right of its centre.
#[derive(Clone, Copy)]
struct HorizontalExtent {
    left: f64,
    right: f64,
}

/// An edge from one box to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayoutEdge {
    pub source: usize,
    pub target: usize,
    /// Whether the target has to be below the source.
    pub hosting: bool,
    /// Edges of one source with the same number are alternatives, drawn as one line that forks.
    pub fork: Option<usize>,
}

/// The route of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Route {
    /// A line through these points from its source to its target; it is vertical at each of them.
    Through(Vec<Point>),
    /// A loop from the right side of a box back to it, which extends this far.
    Loop { from: Point, to: Point, reach: f64 },
}

/// The area of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LayoutArea {
    /// The upper left corner.
    pub corner: Point,
    pub size: Size,
}

/// The places of boxes, lines and frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Layout {
    /// The size of the whole layout, from the origin.
    pub size: Size,
    /// The centres of the boxes.
    pub centres: Vec<Point>,
    /// The ways of the edges.
    pub routes: Vec<Route>,
    /// For each edge, the point of its route at which it leaves the other edges of its fork; the
    /// first point if it shares nothing.
    pub forks: Vec<usize>,
    /// The areas of the frames.
    pub frames: Vec<LayoutArea>,
}

/// The space between components that are not connected.
const APART: f64 = 48.0;
/// The ratio of width to height of a drawing with many components.
const ASPECT: f64 = 1.6;
/// How much further each loop at a box extends than the previous one.
const LOOP: f64 = 16.0;

/// Lays out boxes, the edges between them, and the frames around them. The result only depends on
/// the arguments.
pub(super) fn layout(boxes: &[Size], edges: &[LayoutEdge], frames: &LayoutFrames) -> Layout {
    let forked = fork::Forked::of(boxes, edges, frames);
    let layout = packed(&forked.boxes, &forked.edges, &forked.frames);
    forked.rejoined(layout, boxes.len(), edges.len())
}

/// Lays out very many boxes: in the layers of [`layout`], but with straight lines that may cross
/// boxes. The time grows with the number of boxes and edges, whereas the time for lanes grows with
/// the length of the edges.
pub(super) fn coarse(boxes: &[Size], edges: &[LayoutEdge]) -> Layout {
    let ranks = rank::rank(boxes, edges);
    let mut heights = vec![0.0f64; ranks.iter().max().map_or(0, |last| last + 1)];
    for (size, &rank) in boxes.iter().zip(&ranks) {
        heights[rank] = heights[rank].max(size.height);
    }
    let mut height = 0.0;
    let middle = |row: &f64| {
        let middle = height + row / 2.0;
        height += row + APART;
        middle
    };
    let middles: Vec<_> = heights.iter().map(middle).collect();
    let mut ends = vec![0.0; heights.len()];
    let centre = |(size, &rank): (&Size, &usize)| {
        let x = ends[rank] + size.width / 2.0;
        ends[rank] += size.width + APART;
        Point { x, y: middles[rank] }
    };
    let centres: Vec<_> = boxes.iter().zip(&ranks).map(centre).collect();
    let route = |edge: &LayoutEdge| {
        let down = if ranks[edge.source] <= ranks[edge.target] { 1.0 } else { -1.0 };
        let end = |index: usize, side: f64| Point {
            y: centres[index].y + side * boxes[index].height / 2.0,
            ..centres[index]
        };
        Route::Through(vec![end(edge.source, down), end(edge.target, -down)])
    };
    let routes = edges.iter().map(route).collect();
    let width = ends.iter().map(|end| end - APART).fold(0.0, f64::max);
    let size = Size { width, height: (height - APART).max(0.0) };
    Layout { size, centres, routes, forks: vec![0; edges.len()], frames: Vec::new() }
}

/// Lays out each connected component, and packs them.
fn packed(boxes: &[Size], edges: &[LayoutEdge], frames: &LayoutFrames) -> Layout {
    let mut layout = Layout {
        size: Size::default(),
        centres: vec![Point::default(); boxes.len()],
        routes: vec![Route::Through(Vec::new()); edges.len()],
        forks: vec![0; edges.len()],
        frames: vec![LayoutArea::default(); frames.parents.len()],
    };
    let mut parts: Vec<(ConnectedComponent, Layout)> = parts(boxes.len(), edges, frames)
        .into_iter()
        .map(|part| {
            let boxes: Vec<_> = part.boxes.iter().map(|&index| boxes[index]).collect();
            let local = connected(&boxes, &part.local, frames.part(&part.boxes, &part.frames));
            (part, local)
        })
        .collect();
    // High components come first, because a row is as high as its highest component.
    parts.sort_by(|(_, a), (_, b)| b.size.height.total_cmp(&a.size.height));
    let area: f64 =
        parts.iter().map(|(_, part)| (part.size.width + APART) * (part.size.height + APART)).sum();
    let widest = parts.iter().map(|(_, part)| part.size.width).fold(0.0, f64::max);
    let limit = widest.max((area * ASPECT).sqrt());
    let (mut corner, mut row) = (Point::default(), 0.0f64);
    for (part, local) in parts {
        if corner.x > 0.0 && corner.x + local.size.width > limit {
            corner = Point { x: 0.0, y: corner.y + row + APART };
            row = 0.0;
        }
        let end = Point { x: corner.x + local.size.width, y: corner.y + local.size.height };
        layout.size =
            Size { width: layout.size.width.max(end.x), height: layout.size.height.max(end.y) };
        row = row.max(local.size.height);
        for (index, centre) in part.boxes.into_iter().zip(local.centres) {
            layout.centres[index] = centre.moved(corner);
        }
        for (index, route) in part.edges.into_iter().zip(local.routes) {
            layout.routes[index] = route.moved(corner);
        }
        for (index, LayoutArea { corner: own, size }) in part.frames.into_iter().zip(local.frames) {
            layout.frames[index] = LayoutArea { corner: own.moved(corner), size };
        }
        corner.x = end.x + APART;
    }
    layout
}

/// The boxes of one connected component. A frame connects its boxes.
#[derive(Default)]
struct ConnectedComponent {
    boxes: Vec<usize>,
    edges: Vec<usize>,
    /// The frames, in ascending order.
    frames: Vec<usize>,
    /// The edges, with positions in `boxes`.
    local: Vec<LayoutEdge>,
}

fn parts(boxes: usize, edges: &[LayoutEdge], frames: &LayoutFrames) -> Vec<ConnectedComponent> {
    let mut union = UnionFind::new(boxes);
    for edge in edges {
        union.union(edge.source, edge.target);
    }
    let mut first: Vec<Option<usize>> = vec![None; frames.parents.len()];
    for index in 0..boxes {
        for frame in frames.outwards(frames.around(index)) {
            union.union(index, *first[frame].get_or_insert(index));
        }
    }
    let mut parts: Vec<ConnectedComponent> = Vec::new();
    let mut known = FxHashMap::default();
    let mut local = vec![(0, 0); boxes];
    for (index, local) in local.iter_mut().enumerate() {
        let part = *known.entry(union.find(index)).or_insert(parts.len());
        if part == parts.len() {
            parts.push(ConnectedComponent::default());
        }
        *local = (part, parts[part].boxes.len());
        parts[part].boxes.push(index);
    }
    for (index, edge) in edges.iter().enumerate() {
        let part = &mut parts[local[edge.source].0];
        part.edges.push(index);
        part.local.push(LayoutEdge {
            source: local[edge.source].1,
            target: local[edge.target].1,
            ..*edge
        });
    }
    for (frame, first) in first.into_iter().enumerate() {
        if let Some(first) = first {
            parts[local[first].0].frames.push(frame);
        }
    }
    parts
}

fn connected(boxes: &[Size], edges: &[LayoutEdge], frames: LayoutFrames) -> Layout {
    let ranks = rank::rank(boxes, edges);
    let layered = order::Layered::new(&ranks, edges, frames);
    place::place(boxes, edges, &layered)
}

impl Size {
    /// Whether this is the size of a joint, the place where a line forks.
    fn is_joint(self) -> bool {
        self == Self::default()
    }
}

impl Point {
    fn moved(self, by: Point) -> Self {
        Self { x: self.x + by.x, y: self.y + by.y }
    }
}

impl Route {
    fn moved(self, by: Point) -> Self {
        match self {
            Self::Through(points) => {
                Self::Through(points.into_iter().map(|point| point.moved(by)).collect())
            }
            Self::Loop { from, to, reach } => {
                Self::Loop { from: from.moved(by), to: to.moved(by), reach }
            }
        }
    }
}

#[cfg(test)]
mod tests;
