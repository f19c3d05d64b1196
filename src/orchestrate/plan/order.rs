//! In which order nodes go and come: pieces of work, and which comes after which (statements O1 to
//! O5 and U3).

use super::behavior::Behaviors;
use super::sort::sorted;
use super::weave::Scene;
use crate::text::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::topology::cycle::{components, shortest_cycles};
use crate::topology::waiting::{Wait, cyclic_deployment};
use crate::topology::{NodeIndex, RelationIndex, Topology};
use rustc_hash::FxHashMap;

/// A piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Piece {
    /// A node of the topology that goes.
    Down(NodeIndex),
    /// A relation of the topology that goes.
    Unwire(RelationIndex),
    /// All that goes has gone.
    Turn,
    /// A node of the topology that comes.
    Up(NodeIndex),
    /// A relation of the topology that comes.
    Wire(RelationIndex),
    /// A relation of the topology that comes.
    Changed(RelationIndex),
}

/// One piece comes after another one.
#[derive(Clone, Copy, Debug)]
struct Before {
    piece: u32,
    /// Only its start comes after: statement O5.
    is_late: bool,
    /// Better so, but not where it would close a cycle.
    is_wish: bool,
}

/// All pieces of a scene, in their order.
pub(super) struct ScenePieces {
    pub(super) all: Vec<Piece>,
    /// Each behind all that it comes after; otherwise by the positions of nodes.
    pub(super) order: Vec<usize>,
    before: Vec<Vec<Before>>,
}

impl ScenePieces {
    /// # Errors
    /// `cyclic-deployment`
    pub(super) fn of(scene: &Scene<'_, '_, '_, '_>) -> Result<Self, Diagnostics> {
        let mut pieces = Self { all: all(scene), order: Vec::new(), before: Vec::new() };
        pieces.before.resize(pieces.all.len(), Vec::new());
        let index: FxHashMap<_, _> =
            pieces.all.iter().enumerate().map(|(index, &piece)| (piece, index)).collect();
        PieceOrder { pieces: &mut pieces, index, scene }.link();
        let ranks = pieces.ranks(scene);
        pieces.order = pieces.sorted(&ranks);
        if pieces.order.len() < pieces.all.len() {
            // A relation may go before another one comes, where it would otherwise never.
            pieces.give_up_wishes();
            pieces.order = pieces.sorted(&ranks);
        }
        if pieces.order.len() < pieces.all.len() { Err(cycles(scene)) } else { Ok(pieces) }
    }

    /// Leaves out the wishes that close a cycle, and no others.
    fn give_up_wishes(&mut self) {
        let edge = |before: &Before| (before.piece as usize, ());
        let edges: Vec<Vec<_>> =
            self.before.iter().map(|before| before.iter().map(edge).collect()).collect();
        let knots = components(&edges);
        for (index, before) in self.before.iter_mut().enumerate() {
            before.retain(|one| !one.is_wish || knots[one.piece as usize] != knots[index]);
        }
    }

    /// The pieces that one comes after, as a whole or only in part.
    pub(super) fn before(&self, index: usize, late: bool) -> impl Iterator<Item = usize> {
        let before = self.before[index].iter();
        before.filter(move |before| before.is_late == late).map(|before| before.piece as usize)
    }

    /// Ties are broken by the position of the element, then by what goes first.
    fn ranks(&self, scene: &Scene<'_, '_, '_, '_>) -> Vec<(u32, Piece)> {
        let node = |piece: Piece| match piece {
            Piece::Down(node) => scene.down.as_ref().map(|side| side.nodes[node.index()].0),
            Piece::Up(node) => scene.up.as_ref().map(|side| side.nodes[node.index()].0),
            Piece::Unwire(relation) => scene.down.as_ref().map(|side| {
                side.nodes[side.behaviors.topology.relation(relation).source.index()].0
            }),
            Piece::Wire(relation) | Piece::Changed(relation) => scene.up.as_ref().map(|side| {
                side.nodes[side.behaviors.topology.relation(relation).source.index()].0
            }),
            Piece::Turn => None,
        };
        let rank = |&piece: &Piece| (node(piece).map_or(0, |node| node.index() as u32), piece);
        self.all.iter().map(rank).collect()
    }

    /// As many as can be put in order.
    fn sorted(&self, ranks: &[(u32, Piece)]) -> Vec<usize> {
        let before = |index: usize| self.before[index].iter().map(|one| one.piece as usize);
        sorted(self.all.len(), before, |index| ranks[index])
    }
}

/// Every piece that there is.
fn all(scene: &Scene<'_, '_, '_, '_>) -> Vec<Piece> {
    let mut all = Vec::new();
    let nodes = |moves: &[bool]| -> Vec<NodeIndex> {
        let moving = moves.iter().enumerate().filter(|(_, moves)| **moves);
        moving.map(|(index, _)| NodeIndex::new(index)).collect()
    };
    if let Some(down) = &scene.down {
        let moves: Vec<_> = down.extents.iter().map(Option::is_some).collect();
        all.extend(nodes(&moves).into_iter().map(Piece::Down));
        all.extend(down.wires.iter().copied().map(Piece::Unwire));
    }
    if scene.removals_first {
        all.push(Piece::Turn);
    }
    if let Some(up) = &scene.up {
        let moves: Vec<_> = up.extents.iter().map(Option::is_some).collect();
        all.extend(nodes(&moves).into_iter().map(Piece::Up));
        all.extend(up.wires.iter().copied().map(Piece::Wire));
        all.extend(up.changed.iter().copied().map(Piece::Changed));
    }
    all
}

/// Finds out which piece comes after which.
struct PieceOrder<'l, 's, 't, 'a, 'b> {
    pieces: &'l mut ScenePieces,
    index: FxHashMap<Piece, usize>,
    scene: &'l Scene<'s, 't, 'a, 'b>,
}

impl PieceOrder<'_, '_, '_, '_, '_> {
    fn link(&mut self) {
        self.going();
        self.coming();
        self.turning();
    }

    /// Lets one piece come after another one, where both are there.
    fn after(&mut self, piece: Piece, before: Piece, is_late: bool, is_wish: bool) {
        if let (Some(&piece), Some(&before)) = (self.index.get(&piece), self.index.get(&before)) {
            let known = &mut self.pieces.before[piece];
            // Relations of one node stand side by side, so what is there already was met last.
            let is_known = |one: &Before| one.piece as usize == before && one.is_late == is_late;
            if !known.last().is_some_and(is_known) {
                known.push(Before { piece: before as u32, is_late, is_wish });
            }
        }
    }

    /// Sources go before their targets, by the relations of what goes.
    fn going(&mut self) {
        let Some(side) = &self.scene.down else { return };
        let topology = side.behaviors.topology;
        for relation in topology.relation_ids() {
            let (source, target) = ends(topology, relation);
            let Some(target) = target else { continue };
            if !side.is_ignored[relation.index()] && side.behaviors.is_ordering(relation) {
                self.after(Piece::Down(target), Piece::Down(source), false, false);
            }
        }
        for &relation in &side.wires {
            let (source, target) = ends(topology, relation);
            self.after(Piece::Down(source), Piece::Unwire(relation), false, false);
            if let Some(target) = target {
                self.after(Piece::Down(target), Piece::Unwire(relation), false, false);
            }
        }
    }

    /// Targets come before their sources, by the relations of what comes.
    fn coming(&mut self) {
        let Some(side) = &self.scene.up else { return };
        let topology = side.behaviors.topology;
        for relation in topology.relation_ids() {
            let (source, target) = ends(topology, relation);
            let Some(target) = target else { continue };
            if !side.is_ignored[relation.index()] && side.behaviors.is_ordering(relation) {
                let is_late = self.scene.is_relaxed
                    && side.behaviors.is_connection(relation)
                    && side.behaviors.delegation(source).is_none();
                self.after(Piece::Up(source), Piece::Up(target), is_late, false);
            }
        }
        for &relation in &side.wires {
            let (source, target) = ends(topology, relation);
            self.after(Piece::Wire(relation), Piece::Up(source), false, false);
            if let Some(target) = target {
                self.after(Piece::Wire(relation), Piece::Up(target), false, false);
            }
        }
        for &relation in &side.changed {
            if let (_, Some(target)) = ends(topology, relation) {
                self.after(Piece::Changed(relation), Piece::Up(target), false, false);
            }
        }
    }

    /// Each node goes before it comes; a relation comes, if it can, before another one of that name
    /// goes.
    fn turning(&mut self) {
        let (Some(down), Some(up)) = (&self.scene.down, &self.scene.up) else { return };
        let mut coming = FxHashMap::default();
        for (index, _) in up.extents.iter().enumerate().filter(|(_, extent)| extent.is_some()) {
            coming.insert(up.nodes[index].0, NodeIndex::new(index));
        }
        for index in 0..down.extents.len() {
            if let Some(&node) = coming.get(&down.nodes[index].0) {
                self.after(Piece::Up(node), Piece::Down(NodeIndex::new(index)), false, false);
            }
        }
        let mut wires: FxHashMap<_, Vec<RelationIndex>> = FxHashMap::default();
        for &relation in &up.wires {
            let said = up.behaviors.topology.relation(relation);
            let key = (up.nodes[said.source.index()].0, &*said.name);
            wires.entry(key).or_default().push(relation);
        }
        for &relation in &down.wires {
            let said = down.behaviors.topology.relation(relation);
            let key = (down.nodes[said.source.index()].0, &*said.name);
            for &wire in wires.get(&key).into_iter().flatten() {
                if !self.scene.removals_first {
                    self.after(Piece::Unwire(relation), Piece::Wire(wire), false, true);
                }
            }
        }
        if self.scene.removals_first {
            for piece in self.pieces.all.clone() {
                match piece {
                    Piece::Down(_) | Piece::Unwire(_) => {
                        self.after(Piece::Turn, piece, false, false);
                    }
                    Piece::Turn => {}
                    _ => self.after(piece, Piece::Turn, false, false),
                }
            }
        }
    }
}

fn ends(topology: &Topology, relation: RelationIndex) -> (NodeIndex, Option<NodeIndex>) {
    let relation = topology.relation(relation);
    (relation.source, relation.target)
}

/// Statement O3: the shortest cycle of each component, by the relations that close it.
fn cycles(scene: &Scene<'_, '_, '_, '_>) -> Diagnostics {
    let of_up = scene.up.as_ref().map(|side| cycles_of(side.behaviors, &side.is_ignored));
    let of_up = of_up.unwrap_or_default();
    if of_up.has_errors() {
        return of_up;
    }
    scene.down.as_ref().map(|side| cycles_of(side.behaviors, &side.is_ignored)).unwrap_or_default()
}

fn cycles_of(behaviors: &Behaviors<'_, '_>, is_ignored: &[bool]) -> Diagnostics {
    let topology = behaviors.topology;
    let mut edges = vec![Vec::new(); topology.nodes.len()];
    for relation in topology.relation_ids() {
        if let (source, Some(target)) = ends(topology, relation)
            && !is_ignored[relation.index()]
            && behaviors.is_ordering(relation)
        {
            edges[source.index()].push((target.index(), relation));
        }
    }
    let mut found = Diagnostics::default();
    for cycle in shortest_cycles(&edges) {
        let relations: Vec<_> = cycle.into_iter().map(|(_, relation)| relation).collect();
        found.push(cyclic(behaviors, &relations));
    }
    found
}

fn cyclic(behaviors: &Behaviors<'_, '_>, cycle: &[RelationIndex]) -> Diagnostic {
    let topology = behaviors.topology;
    let name = |node: NodeIndex| &*topology.node(node).name;
    let wait = |&relation: &RelationIndex| {
        let (source, target) = ends(topology, relation);
        let place = behaviors.place(topology.relation(relation).span);
        Wait { source: name(source), target: target.map_or("", name), place }
    };
    let waits: Vec<_> = cycle.iter().map(wait).collect();
    let last = cycle.last().map(|&last| topology.relation_identifier(last));
    let help = |last| format!("leave one out of the order: `--ignore {last}`");
    cyclic_deployment(Severity::Error, &waits).help_opt(last.map(help))
}
