//! Orders the pieces of work in which nodes go and come: which piece comes after which (statements
//! O1 to O5 and U3).

use super::behavior::Behaviors;
use super::exchange::Exchange;
use super::sort::sorted;
use super::weave::Scene;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::topology::cycle::{components, shortest_cycles};
use crate::topology::waiting::{Wait, cyclic_deployment};
use crate::topology::{NodeIndex, RelationIndex, Topology};
use rustc_hash::FxHashMap;

/// A piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Piece {
    /// A node that goes.
    Down(NodeIndex),
    /// A relation that goes.
    Unwire(RelationIndex),
    /// The turn: everything that goes has gone.
    Turn,
    /// A node that comes.
    Up(NodeIndex),
    /// A relation that comes.
    Wire(RelationIndex),
    /// A relation whose target has changed.
    Changed(RelationIndex),
    /// An exchange: all relations of one name that come have come, and those that go may go. The
    /// relation is the first that goes.
    Exchange(RelationIndex),
}

/// A piece that another one comes after.
#[derive(Clone, Copy, Debug)]
struct Before {
    piece: u32,
    /// Whether only the start of the other piece comes after it (statement O5).
    is_late: bool,
    /// Whether this is only a wish, which is dropped if it closes a cycle.
    is_wish: bool,
}

/// The pieces of a scene, in order.
pub(super) struct ScenePieces {
    pub(super) all: Vec<Piece>,
    /// The order: each piece after those that it comes after, otherwise by the positions of nodes.
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
        let exchanges = Exchange::all(scene, &index);
        PieceOrder { pieces: &mut pieces, index, scene }.link();
        let firm = pieces.all.len();
        exchanges.iter().for_each(|exchange| pieces.exchange(exchange));
        pieces.order = pieces.sorted(scene);
        if pieces.order.len() < pieces.all.len() {
            // Some relations may have to go before others come, or there is no order at all.
            pieces.give_up_wishes(firm, exchanges);
            pieces.order = pieces.sorted(scene);
        }
        if pieces.order.len() < pieces.all.len() { Err(cycles(scene)) } else { Ok(pieces) }
    }

    /// The pieces in the order of the topology, none of which comes after another one.
    pub(super) fn apart(scene: &Scene<'_, '_, '_, '_>) -> Self {
        let all = all(scene);
        Self { order: (0..all.len()).collect(), before: vec![Vec::new(); all.len()], all }
    }

    /// Adds the wishes of an exchange: its relations go after the others have come, unless that
    /// closes a cycle.
    fn exchange(&mut self, exchange: &Exchange) {
        let wish = |&piece: &usize| Before { piece: piece as u32, is_late: false, is_wish: true };
        let mut coming: Vec<_> = exchange.coming.iter().map(wish).collect();
        if exchange.has_turn()
            && let Some(&Piece::Unwire(first)) = exchange.going.first().map(|&one| &self.all[one])
        {
            let turn = self.all.len();
            self.all.push(Piece::Exchange(first));
            self.before.push(std::mem::replace(&mut coming, vec![wish(&turn)]));
        }
        for &going in &exchange.going {
            self.before[going].extend(&coming);
        }
    }

    /// Drops exactly those wishes that close a cycle. Pieces of wishes come after all firm ones.
    fn give_up_wishes(&mut self, firm: usize, exchanges: Vec<Exchange>) {
        let edge = |before: &Before| (before.piece as usize, ());
        let edges: Vec<Vec<_>> =
            self.before.iter().map(|before| before.iter().map(edge).collect()).collect();
        let knots = components(&edges);
        self.all.truncate(firm);
        self.before.truncate(firm);
        self.before.iter_mut().for_each(|before| before.retain(|one| !one.is_wish));
        let untied = exchanges.into_iter().flat_map(|exchange| exchange.untied(&knots));
        untied.for_each(|exchange| self.exchange(&exchange));
    }

    /// The pieces that one comes after: those for its start only if `late`, otherwise those for the
    /// whole piece.
    pub(super) fn before(&self, index: usize, late: bool) -> impl Iterator<Item = usize> {
        let before = self.before[index].iter();
        before.filter(move |before| before.is_late == late).map(|before| before.piece as usize)
    }

    /// The ranks that break ties: the position of the element, then the kind of piece.
    fn ranks(&self, scene: &Scene<'_, '_, '_, '_>) -> Vec<(u32, Piece)> {
        let node = |piece: Piece| match piece {
            Piece::Down(node) => scene.down.as_ref().map(|side| side.nodes[node.index()].0),
            Piece::Up(node) => scene.up.as_ref().map(|side| side.nodes[node.index()].0),
            Piece::Unwire(relation) | Piece::Exchange(relation) => {
                scene.down.as_ref().map(|side| {
                    side.nodes[side.behaviors.topology.relation(relation).source.index()].0
                })
            }
            Piece::Wire(relation) | Piece::Changed(relation) => scene.up.as_ref().map(|side| {
                side.nodes[side.behaviors.topology.relation(relation).source.index()].0
            }),
            Piece::Turn => None,
        };
        let rank = |&piece: &Piece| (node(piece).map_or(0, |node| node.index() as u32), piece);
        self.all.iter().map(rank).collect()
    }

    /// As many pieces as have an order.
    fn sorted(&self, scene: &Scene<'_, '_, '_, '_>) -> Vec<usize> {
        let ranks = self.ranks(scene);
        let before = |index: usize| self.before[index].iter().map(|one| one.piece as usize);
        sorted(self.all.len(), before, |index| ranks[index])
    }
}

/// All pieces of a scene.
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

/// Finds which piece comes after which.
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

    /// Notes that one piece comes after another one, if both exist.
    fn after(&mut self, piece: Piece, before: Piece, is_late: bool) {
        if let (Some(&piece), Some(&before)) = (self.index.get(&piece), self.index.get(&before)) {
            let known = &mut self.pieces.before[piece];
            // The relations of a node are adjacent, so a repeated entry is the last one.
            let is_known = |one: &Before| one.piece as usize == before && one.is_late == is_late;
            if !known.last().is_some_and(is_known) {
                known.push(Before { piece: before as u32, is_late, is_wish: false });
            }
        }
    }

    /// Sources go before their targets, by the relations of the side that goes.
    fn going(&mut self) {
        let Some(side) = &self.scene.down else { return };
        let topology = side.behaviors.topology;
        for (_, source, target) in ordering(side.behaviors, &side.is_ignored) {
            self.after(Piece::Down(target), Piece::Down(source), false);
        }
        for &relation in &side.wires {
            let (source, target) = ends(topology, relation);
            self.after(Piece::Down(source), Piece::Unwire(relation), false);
            if let Some(target) = target {
                self.after(Piece::Down(target), Piece::Unwire(relation), false);
            }
        }
    }

    /// Targets come before their sources, by the relations of the side that comes.
    fn coming(&mut self) {
        let Some(side) = &self.scene.up else { return };
        let topology = side.behaviors.topology;
        for (relation, source, target) in ordering(side.behaviors, &side.is_ignored) {
            let is_late = self.scene.is_relaxed
                && side.behaviors.is_connection(relation)
                && side.behaviors.delegation(source).is_none();
            self.after(Piece::Up(source), Piece::Up(target), is_late);
        }
        let wires = side.wires.iter().map(|&relation| (relation, Piece::Wire(relation)));
        let changed = side.changed.iter().map(|&relation| (relation, Piece::Changed(relation)));
        for (relation, piece) in wires.chain(changed) {
            let (source, target) = ends(topology, relation);
            self.after(piece, Piece::Up(source), false);
            if let Some(target) = target {
                self.after(piece, Piece::Up(target), false);
            }
        }
    }

    /// Each node goes before it comes. If removals come first, everything goes before anything
    /// comes.
    fn turning(&mut self) {
        let (Some(down), Some(up)) = (&self.scene.down, &self.scene.up) else { return };
        let mut coming = FxHashMap::default();
        for (index, _) in up.extents.iter().enumerate().filter(|(_, extent)| extent.is_some()) {
            coming.insert(up.nodes[index].0, NodeIndex::new(index));
        }
        for index in 0..down.extents.len() {
            if let Some(&node) = coming.get(&down.nodes[index].0) {
                self.after(Piece::Up(node), Piece::Down(NodeIndex::new(index)), false);
            }
        }
        if self.scene.removals_first {
            for piece in self.pieces.all.clone() {
                match piece {
                    Piece::Down(_) | Piece::Unwire(_) => self.after(Piece::Turn, piece, false),
                    Piece::Turn => {}
                    _ => self.after(piece, Piece::Turn, false),
                }
            }
        }
    }
}

/// The relations by which a target comes before its source, each with its source and target.
pub(super) fn ordering(
    behaviors: &Behaviors<'_, '_>,
    is_ignored: &[bool],
) -> impl Iterator<Item = (RelationIndex, NodeIndex, NodeIndex)> {
    let topology = behaviors.topology;
    topology.relation_ids().filter_map(move |relation| {
        let (source, target) = ends(topology, relation);
        let is_ordering = !is_ignored[relation.index()] && behaviors.is_ordering(relation);
        Some((relation, source, target.filter(|_| is_ordering)?))
    })
}

fn ends(topology: &Topology, relation: RelationIndex) -> (NodeIndex, Option<NodeIndex>) {
    let relation = topology.relation(relation);
    (relation.source, relation.target)
}

/// Reports a shortest cycle of each component, by the relations that close it (statement O3).
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
    for (relation, source, target) in ordering(behaviors, is_ignored) {
        edges[source.index()].push((target.index(), relation));
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
