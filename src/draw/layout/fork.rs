//! Lets lines fork: the alternatives of one requirement leave their source as one line, which forks
//! shortly before the first of their targets.
//!
//! The place of the fork is a *joint*, which is laid out like a box of size zero. So the rest of
//! the layout need not know of forks, except that joints take less room.

use super::frame::LayoutFrames;
use super::{Layout, LayoutEdge, Route, Size};
use rustc_hash::FxHashMap;

/// Boxes and joints, with the edges between them.
pub(super) struct Forked {
    /// The boxes, followed by the joints.
    pub boxes: Vec<Size>,
    /// The edges, which start at their joint if they have one, followed by the edges that lead to
    /// joints.
    pub edges: Vec<LayoutEdge>,
    /// The frames, in which joints are where all their lines are.
    pub frames: LayoutFrames,
    /// For each edge, the edge that leads to its joint.
    stems: Vec<Option<usize>>,
}

impl Forked {
    pub(super) fn of(boxes: &[Size], edges: &[LayoutEdge], frames: &LayoutFrames) -> Self {
        let mut forks: FxHashMap<(usize, usize), Vec<usize>> = FxHashMap::default();
        let mut order = Vec::new();
        for (index, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.source != edge.target)
        {
            let Some(fork) = edge.fork else { continue };
            let tines = forks.entry((edge.source, fork)).or_default();
            if tines.is_empty() {
                order.push((edge.source, fork));
            }
            tines.push(index);
        }
        let mut forked = Self {
            boxes: boxes.to_vec(),
            edges: edges.to_vec(),
            frames: frames.clone(),
            stems: vec![None; edges.len()],
        };
        forked.frames.of.resize(boxes.len(), None);
        for key in order {
            forked.join(&forks[&key]);
        }
        forked
    }

    /// Leads these edges of one source through a joint, unless all have the same target.
    fn join(&mut self, tines: &[usize]) {
        let target = |&index: &usize| self.edges[index].target;
        if tines.iter().all(|tine| target(tine) == target(&tines[0])) {
            return;
        }
        let (source, joint) = (self.edges[tines[0]].source, self.boxes.len());
        let hosting = tines.iter().any(|&index| self.edges[index].hosting);
        let around = tines.iter().map(|&index| self.frames.of_edge(&self.edges[index]));
        let around = around.reduce(|one, other| self.frames.common(one, other)).flatten();
        self.frames.of.push(around);
        for &index in tines {
            self.edges[index].source = joint;
            self.stems[index] = Some(self.edges.len());
        }
        self.boxes.push(Size::default());
        self.edges.push(LayoutEdge { source, target: joint, hosting, fork: None });
    }

    /// The layout of the original boxes and edges, where each route leads through its joint.
    pub(super) fn rejoined(&self, mut layout: Layout, boxes: usize, edges: usize) -> Layout {
        let stems = layout.routes.split_off(edges);
        for (index, stem) in self.stems.iter().enumerate() {
            let stem = stem.and_then(|stem| stems.get(stem - edges));
            if let (Some(Route::Through(stem)), Route::Through(own)) =
                (stem, &mut layout.routes[index])
            {
                let mut whole = stem.clone();
                // The joint is the end of the stem and the start of the edge.
                layout.forks[index] = whole.len().saturating_sub(1);
                whole.extend(own.drain(..).skip(1));
                *own = whole;
            }
        }
        layout.forks.truncate(edges);
        layout.centres.truncate(boxes);
        layout
    }
}
