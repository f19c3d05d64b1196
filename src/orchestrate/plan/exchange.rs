//! Exchanges relations of one name at one source: all that come do so before any goes, if that is
//! possible (statement U3).

use super::model::PlanElementIndex;
use super::order::Piece;
use super::weave::{REMOVE, Scene, SceneSide};
use crate::topology::RelationIndex;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// Relations of one name at one source, as positions of their pieces.
pub(super) struct Exchange {
    pub(super) coming: Vec<usize>,
    pub(super) going: Vec<usize>,
}

impl Exchange {
    /// The exchanges of a scene; none if removals come first.
    pub(super) fn all(scene: &Scene<'_, '_, '_, '_>, index: &FxHashMap<Piece, usize>) -> Vec<Self> {
        let (Some(down), Some(up)) = (&scene.down, &scene.up) else { return Vec::new() };
        if scene.removals_first {
            return Vec::new();
        }
        let positions = |relations: Vec<RelationIndex>, piece: fn(RelationIndex) -> Piece| {
            relations.into_iter().filter_map(move |relation| index.get(&piece(relation)).copied())
        };
        let mut coming = of_names(up, &up.wires);
        let exchanges = of_names(down, &down.wires).into_iter().filter_map(|(key, mut going)| {
            let mut coming = coming.swap_remove(&key)?;
            if has_turn(coming.len(), going.len()) {
                // Relations whose coming or going has no effect need no turn.
                coming.retain(|&relation| up.matters(relation, up.wired(relation)));
                going.retain(|&relation| down.matters(relation, &REMOVE));
            }
            let coming = positions(coming, Piece::Wire).collect();
            Some(Self { coming, going: positions(going, Piece::Unwire).collect() })
        });
        exchanges.collect()
    }

    /// Whether a turn is needed between those that come and those that go.
    pub(super) fn has_turn(&self) -> bool {
        has_turn(self.coming.len(), self.going.len())
    }

    /// The two exchanges that remain if pieces of one strongly connected component do not wait for
    /// each other. In the first, relations that come and share no component with any that goes
    /// precede those that go and share one. In the second, all that come precede the other ones
    /// that go.
    pub(super) fn untied(self, knots: &[usize]) -> [Self; 2] {
        let Self { coming, going } = self;
        let knots_of = |pieces: &[usize]| -> FxHashSet<_> {
            pieces.iter().map(|&piece| knots[piece]).collect()
        };
        let (of_coming, of_going) = (knots_of(&coming), knots_of(&going));
        let (tied, free) = going.into_iter().partition(|&piece| of_coming.contains(&knots[piece]));
        let early = coming.iter().copied().filter(|&piece| !of_going.contains(&knots[piece]));
        [Self { coming: early.collect(), going: tied }, Self { coming, going: free }]
    }
}

/// A turn is worth it if one wait per relation is less than a wait for each pair of a coming and a
/// going one.
fn has_turn(coming: usize, going: usize) -> bool {
    coming * going > coming + going
}

/// Relations grouped by source and name.
fn of_names<'t, E>(
    side: &SceneSide<'_, 't, '_, E>,
    relations: &[RelationIndex],
) -> IndexMap<(PlanElementIndex, &'t str), Vec<RelationIndex>, FxBuildHasher> {
    let mut named: IndexMap<_, Vec<_>, _> = IndexMap::default();
    for &relation in relations {
        let said = side.behaviors.topology.relation(relation);
        let key = (side.nodes[said.source.index()].0, &*said.name);
        named.entry(key).or_default().push(relation);
    }
    named
}
