//! Lines that fork: the alternatives of one requirement leave their source as one line, which parts
//! shortly before the first of their targets.
//!
//! Where it parts there is a *joint*, which is laid out like a box without any size. So the rest of
//! the layout knows nothing of forks, but that joints take less room.

use super::{Layout, LayoutEdge, Route, Size};
use rustc_hash::FxHashMap;

/// Boxes and joints, and the edges between them.
pub(super) struct Forked {
    /// The boxes, and behind them the joints.
    pub boxes: Vec<Size>,
    /// The edges, now from their joint where they have one, and behind them those to the joints.
    pub edges: Vec<LayoutEdge>,
    /// For each edge the one to its joint.
    stems: Vec<Option<usize>>,
}

impl Forked {
    pub(super) fn of(boxes: &[Size], edges: &[LayoutEdge]) -> Self {
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
        let mut forked =
            Self { boxes: boxes.to_vec(), edges: edges.to_vec(), stems: vec![None; edges.len()] };
        for key in order {
            forked.join(&forks[&key]);
        }
        forked
    }

    /// Lets these edges of one source lead through a joint, unless all have the same target.
    fn join(&mut self, tines: &[usize]) {
        let target = |&index: &usize| self.edges[index].target;
        if tines.iter().all(|tine| target(tine) == target(&tines[0])) {
            return;
        }
        let (source, joint) = (self.edges[tines[0]].source, self.boxes.len());
        let hosting = tines.iter().any(|&index| self.edges[index].hosting);
        for &index in tines {
            self.edges[index].source = joint;
            self.stems[index] = Some(self.edges.len());
        }
        self.boxes.push(Size::default());
        self.edges.push(LayoutEdge { source, target: joint, hosting, fork: None });
    }

    /// The layout of the boxes and edges as they were: each way leads through its joint.
    pub(super) fn rejoined(&self, mut layout: Layout, boxes: usize, edges: usize) -> Layout {
        let stems = layout.routes.split_off(edges);
        for (index, stem) in self.stems.iter().enumerate() {
            let stem = stem.and_then(|stem| stems.get(stem - edges));
            if let (Some(Route::Through(stem)), Route::Through(own)) =
                (stem, &mut layout.routes[index])
            {
                let mut whole = stem.clone();
                // The joint is the end of the one and the start of the other.
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
