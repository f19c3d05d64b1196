//! Weaves the work of single nodes and relations into one plan: for the declarative workflows of
//! chapter 7.3, and for updates from one variant to another, which have two topologies.
//!
//! Each node goes down in one topology and comes up in the other. Its pieces of work are put in
//! order first ([`order`](super::order)); then each piece becomes steps.

use super::behavior::{Behaviors, Delegation};
use super::build::PlanBuilder;
use super::elements;
use super::model::{
    ChangeClass, PartKind, PlanCall, PlanElementIndex, PlanPartIndex, PlanStepIndex, StepHost,
    StepWork,
};
use super::observed::Observed;
use super::order::{Piece, ScenePieces};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use crate::topology::{NodeIndex, RelationIndex, TopologyRelation};
use crate::tosca::LifecycleOperation as Operation;
use crate::tosca::NodeState as State;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How far a node goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Down {
    /// Until it is removed.
    Whole,
    /// Until it is stopped.
    Stop,
}

/// From where a node comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Up {
    /// From nothing: it is made.
    Whole,
    /// From being stopped: it is configured and started.
    Configure,
    /// From being stopped: it is only started.
    Start,
    /// From running: the orchestrator changes it without a stop.
    Update,
}

/// The side of one topology: how far its nodes and relations go.
pub(super) struct SceneSide<'s, 't, 'a, E> {
    pub(super) behaviors: &'s Behaviors<'t, 'a>,
    /// How far each node goes; `None` if it does not move.
    pub(super) extents: Vec<Option<E>>,
    /// The element of each node in the plan, and its class of change.
    pub(super) nodes: Vec<(PlanElementIndex, ChangeClass)>,
    /// The observed state of each node; empty if all run.
    pub(super) observed: Vec<Observed>,
    /// For each relation whether it is added or removed, so that its ends have to be told.
    pub(super) is_told: Vec<bool>,
    /// For each relation whether it orders nothing.
    pub(super) is_ignored: Vec<bool>,
    /// The relations that are added or removed while their sources keep running.
    pub(super) wires: Vec<RelationIndex>,
    /// The relations whose targets have changed while their sources keep running.
    pub(super) changed: Vec<RelationIndex>,
}

/// A scene: the side that goes down and the side that comes up.
pub(super) struct Scene<'s, 't, 'a, 'b> {
    pub(super) down: Option<SceneSide<'s, 't, 'a, Down>>,
    pub(super) up: Option<SceneSide<'s, 't, 'b, Up>>,
    /// Whether connections only order when nodes are started.
    pub(super) is_relaxed: bool,
    /// Whether everything that goes has gone before anything comes.
    pub(super) removals_first: bool,
}

/// Weaves a scene. The steps are added to the builder, after those in `behind`. Returns the steps
/// that no other step of the scene waits for.
///
/// # Errors
/// `cyclic-deployment`, `delegated-lifecycle`
pub(super) fn weave(
    scene: &Scene<'_, '_, '_, '_>,
    builder: &mut PlanBuilder,
    behind: &[PlanStepIndex],
) -> Result<Vec<PlanStepIndex>, Diagnostics> {
    let pieces = ScenePieces::of(scene)?;
    let first = builder.next();
    let diagnostics = Weaver::weave(scene, &pieces, builder, behind);
    match diagnostics.has_errors() {
        true => Err(diagnostics),
        false => Ok(builder.plan.last_since(first)),
    }
}

/// Makes the steps of each piece of a scene as if there were no other pieces. Work that is
/// impossible is not reported; the caller has to find it.
pub(super) fn weave_apart(scene: &Scene<'_, '_, '_, '_>, builder: &mut PlanBuilder) {
    Weaver::weave(scene, &ScenePieces::apart(scene), builder, &[]);
}

/// The piece whose steps are being made.
#[derive(Default)]
struct CurrentPiece {
    part: Option<PlanPartIndex>,
    element: Option<PlanElementIndex>,
    first: usize,
    /// The first of the steps that may run side by side with the next one.
    stage: usize,
    /// The steps that the piece waits for as a whole so far, in the order of the plan.
    waits: Vec<PlanStepIndex>,
    /// The turns among these steps. A turn stands for all that it waits for.
    turns: Vec<PlanStepIndex>,
    /// The steps that the next step waits for.
    last: Vec<PlanStepIndex>,
}

struct Weaver<'w, 's, 't, 'a, 'b> {
    scene: &'w Scene<'s, 't, 'a, 'b>,
    pieces: &'w ScenePieces,
    builder: &'w mut PlanBuilder,
    behind: &'w [PlanStepIndex],
    /// For each piece, the range of its last steps in `ends_of_all`.
    ends: Vec<(u32, u32)>,
    ends_of_all: Vec<PlanStepIndex>,
    current: CurrentPiece,
    diagnostics: Diagnostics,
}

/// Two operations of a relation: one at its source and one at its target.
type Both = [Operation; 2];

const BEFORE: Both = [Operation::PreConfigureSource, Operation::PreConfigureTarget];
const BEHIND: Both = [Operation::PostConfigureSource, Operation::PostConfigureTarget];
const ADD: Both = [Operation::AddTarget, Operation::AddSource];
pub(super) const REMOVE: Both = [Operation::RemoveTarget, Operation::RemoveSource];
/// The operations of a relation that orders nothing, when it is added.
const WHOLE: [Operation; 6] = [BEFORE[0], BEFORE[1], BEHIND[0], BEHIND[1], ADD[0], ADD[1]];

impl<'w, 's, 't, 'a, 'b> Weaver<'w, 's, 't, 'a, 'b> {
    /// Makes the steps of all pieces in order. Returns errors for work that is impossible.
    fn weave(
        scene: &'w Scene<'s, 't, 'a, 'b>,
        pieces: &'w ScenePieces,
        builder: &'w mut PlanBuilder,
        behind: &'w [PlanStepIndex],
    ) -> Diagnostics {
        let mut weaver = Self {
            scene,
            pieces,
            builder,
            behind,
            ends: vec![(0, 0); pieces.all.len()],
            ends_of_all: Vec::new(),
            current: CurrentPiece::default(),
            diagnostics: Diagnostics::default(),
        };
        pieces.order.iter().for_each(|&piece| weaver.piece(piece));
        weaver.diagnostics
    }

    fn piece(&mut self, index: usize) {
        let piece = self.pieces.all[index];
        let waits = self.waits(index, false);
        let plan = &self.builder.plan;
        let turns = waits.iter().filter(|&&wait| plan.step(wait).work == StepWork::Turn);
        self.current = CurrentPiece {
            first: self.builder.next().index(),
            stage: self.builder.next().index(),
            turns: turns.copied().collect(),
            last: waits.clone(),
            waits,
            ..CurrentPiece::default()
        };
        let ends = match piece {
            Piece::Down(node) => self.down(node),
            Piece::Up(node) => self.up(node, index),
            Piece::Unwire(relation) => self.wiring(relation, PartKind::Unwire),
            Piece::Wire(relation) => self.wiring(relation, PartKind::Wire),
            Piece::Changed(relation) => self.wiring(relation, PartKind::Changed),
            Piece::Turn => self.turn(),
            Piece::Exchange(relation) => self.exchange(relation),
        };
        if let Some(part) = self.current.part {
            self.builder.close_part(part);
        }
        let start = self.ends_of_all.len() as u32;
        self.ends_of_all.extend(ends);
        self.ends[index] = (start, self.ends_of_all.len() as u32);
    }

    /// The last steps of the pieces that this one comes after: those for its start only if `late`,
    /// otherwise those for the whole piece.
    fn waits(&self, index: usize, late: bool) -> Vec<PlanStepIndex> {
        let mut waits: Vec<_> = if late { Vec::new() } else { self.behind.to_vec() };
        for before in self.pieces.before(index, late) {
            let (start, end) = self.ends[before];
            waits.extend(&self.ends_of_all[start as usize..end as usize]);
        }
        waits.sort_unstable();
        waits.dedup();
        waits
    }

    fn open(&mut self, element: Option<PlanElementIndex>, kind: PartKind, class: ChangeClass) {
        self.current.element = element;
        self.current.part = Some(self.builder.open_part(element, kind, class));
    }

    fn up(&mut self, node: NodeIndex, index: usize) -> Vec<PlanStepIndex> {
        let Some((side, extent)) =
            self.scene.up.as_ref().and_then(|side| Some((side, side.extents[node.index()]?)))
        else {
            return Vec::new();
        };
        let (element, class) = side.nodes[node.index()];
        self.open(Some(element), PartKind::Up, class);
        let started = match side.behaviors.delegation(node) {
            Some(delegation) => self.delegated(side, node, extent, delegation),
            None => self.managed(side, node, extent, index),
        };
        self.tell(side, node, ADD);
        self.show_if_nothing_runs(started);
        vec![started]
    }

    /// The orchestrator brings or changes the node (statement G2).
    fn delegated(
        &mut self,
        side: &SceneSide<'_, '_, '_, Up>,
        node: NodeIndex,
        extent: Up,
        delegation: Delegation,
    ) -> PlanStepIndex {
        for (_, call) in side.between(node) {
            self.diagnostics.push(delegated_lifecycle(side, node, &call, delegation));
        }
        let is_update = matches!(extent, Up::Update | Up::Configure | Up::Start);
        self.then(if is_update { StepWork::Update } else { StepWork::Deploy });
        self.then(StepWork::State(State::Started))
    }

    /// The node comes up step by step (statements D2 and D3).
    fn managed(
        &mut self,
        side: &SceneSide<'_, '_, '_, Up>,
        node: NodeIndex,
        extent: Up,
        index: usize,
    ) -> PlanStepIndex {
        if extent == Up::Whole {
            self.then(StepWork::State(State::Creating));
            self.standard(side, node, Operation::Create);
            self.then(StepWork::State(State::Created));
        }
        if extent != Up::Start {
            self.then(StepWork::State(State::Configuring));
            self.at_ends(side, node, BEFORE);
            self.standard(side, node, Operation::Configure);
            self.at_ends(side, node, BEHIND);
            self.then(StepWork::State(State::Configured));
        }
        let late = self.waits(index, true);
        self.current.last.extend(&late);
        self.current.waits.extend(late);
        self.current.waits.sort_unstable();
        self.then(StepWork::State(State::Starting));
        self.standard(side, node, Operation::Start);
        self.then(StepWork::State(State::Started))
    }

    /// The node goes down (statement D5).
    fn down(&mut self, node: NodeIndex) -> Vec<PlanStepIndex> {
        let Some((side, extent)) =
            self.scene.down.as_ref().and_then(|side| Some((side, side.extents[node.index()]?)))
        else {
            return Vec::new();
        };
        let (element, class) = side.nodes[node.index()];
        self.open(Some(element), PartKind::Down, class);
        let is_delegated = side.behaviors.delegation(node).is_some();
        let observed = side.observed.get(node.index());
        let runs = observed.is_none_or(|observed| observed.runs());
        if !is_delegated && runs {
            self.then(StepWork::State(State::Stopping));
        }
        self.tell(side, node, REMOVE);
        let last = if is_delegated {
            self.then(StepWork::Undeploy);
            self.then(StepWork::Deleted)
        } else {
            let stopped = runs.then(|| {
                self.standard(side, node, Operation::Stop);
                self.then(StepWork::Stopped)
            });
            match (extent, stopped) {
                (Down::Stop, Some(stopped)) => stopped,
                _ => {
                    self.then(StepWork::State(State::Deleting));
                    self.standard(side, node, Operation::Delete);
                    self.then(StepWork::Deleted)
                }
            }
        };
        self.show_if_nothing_runs(last);
        vec![last]
    }

    /// A relation of a source that keeps running, or a relation that orders nothing.
    fn wiring(&mut self, relation: RelationIndex, kind: PartKind) -> Vec<PlanStepIndex> {
        match (kind, &self.scene.down, &self.scene.up) {
            (PartKind::Unwire, Some(side), _) => self.wire(side, relation, kind, &REMOVE),
            (PartKind::Changed, _, Some(side)) => {
                self.wire(side, relation, kind, &[Operation::TargetChanged])
            }
            (_, _, Some(side)) => self.wire(side, relation, kind, side.wired(relation)),
            _ => Vec::new(),
        }
    }

    fn wire<E>(
        &mut self,
        side: &SceneSide<'_, '_, '_, E>,
        relation: RelationIndex,
        kind: PartKind,
        operations: &[Operation],
    ) -> Vec<PlanStepIndex> {
        let calls: Vec<_> = side.calls(relation, operations.iter().copied()).collect();
        if calls.is_empty() {
            // Pieces after this one wait for the steps that it would have waited for.
            return self.current.waits.clone();
        }
        let element = self.relation_element(side, relation);
        self.open(Some(element), kind, ChangeClass::Rewire);
        // The operations of one pair may run side by side.
        for pair in operations.chunks(2) {
            let of_pair = calls.iter().filter(|(operation, _)| pair.contains(operation));
            let of_pair: Vec<_> =
                of_pair.map(|(operation, call)| (relation, *operation, Rc::clone(call))).collect();
            self.side_by_side(side, of_pair, [BEFORE, BEHIND].iter().any(|known| known == pair));
        }
        self.current.last.clone()
    }

    fn turn(&mut self) -> Vec<PlanStepIndex> {
        self.open(None, PartKind::Turn, ChangeClass::Keep);
        vec![self.then(StepWork::Turn)]
    }

    /// The turn of an exchange. It is named after the first relation that goes.
    fn exchange(&mut self, relation: RelationIndex) -> Vec<PlanStepIndex> {
        let Some(side) = &self.scene.down else { return Vec::new() };
        let element = self.relation_element(side, relation);
        self.open(Some(element), PartKind::Turn, ChangeClass::Rewire);
        vec![self.then(StepWork::Turn)]
    }

    /// Runs the operations of all relations of a node that happen at that node.
    fn at_ends<E>(&mut self, side: &SceneSide<'_, '_, '_, E>, node: NodeIndex, operations: Both) {
        let calls = side.ends(node, operations);
        self.side_by_side(side, calls, true);
    }

    /// Tells both ends of the relations of a source that are added or removed.
    fn tell<E>(&mut self, side: &SceneSide<'_, '_, '_, E>, node: NodeIndex, operations: Both) {
        let relations = side.behaviors.topology.node(node).relations.iter().copied();
        let told = relations.filter(|relation| {
            side.is_told[relation.index()] && !side.is_ignored[relation.index()]
        });
        let calls = told.flat_map(|relation| {
            let calls = side.calls(relation, operations.into_iter());
            calls.map(move |(operation, call)| (relation, operation, call))
        });
        let calls = calls.collect();
        self.side_by_side(side, calls, false);
    }

    /// Adds calls that wait for the same steps, and for each other only on one host. If they keep
    /// their order, they do so even where calls on one host need not wait for each other.
    fn side_by_side<E>(
        &mut self,
        side: &SceneSide<'_, '_, '_, E>,
        calls: Vec<(RelationIndex, Operation, Rc<PlanCall>)>,
        keeps_order: bool,
    ) {
        if calls.is_empty() {
            return;
        }
        let mut waits = std::mem::take(&mut self.current.last);
        let before = waits.len();
        self.current.stage = self.builder.next().index();
        let mut last: FxHashMap<PlanElementIndex, PlanStepIndex> = FxHashMap::default();
        for (relation, operation, call) in calls {
            let host = side.relation_host(relation, operation, call.host.as_deref());
            let element = self.relation_element(side, relation);
            waits.truncate(before);
            let next = self.builder.next();
            if let (true, StepHost::Element(host)) = (keeps_order && self.builder.keeps_order, host)
            {
                waits.extend(last.insert(host, next));
            }
            let step = self.called(element, operation, call, host, &waits);
            self.current.last.push(step);
        }
    }

    fn relation_element<E>(
        &mut self,
        side: &SceneSide<'_, '_, '_, E>,
        relation: RelationIndex,
    ) -> PlanElementIndex {
        elements::relation(self.builder, side.behaviors, relation)
    }

    /// Adds an operation of a node. It is a step even if it has nothing to run.
    fn standard<E>(
        &mut self,
        side: &SceneSide<'_, '_, '_, E>,
        node: NodeIndex,
        operation: Operation,
    ) {
        self.current.stage = self.builder.next().index();
        let Some(element) = self.current.element else { return };
        match side.behaviors.standard(node, operation) {
            Some(call) => {
                let host = side.node_host(node, call.host.as_deref());
                let waits = std::mem::take(&mut self.current.last);
                let step = self.called(element, operation, call, host, &waits);
                self.goes_on(waits, step);
            }
            None => drop(self.then(StepWork::Operation(operation))),
        }
    }

    /// Adds a call, which waits for the previous one on its host.
    fn called(
        &mut self,
        element: PlanElementIndex,
        operation: Operation,
        call: Rc<PlanCall>,
        host: StepHost,
        waits: &[PlanStepIndex],
    ) -> PlanStepIndex {
        let next = self.builder.next();
        let before = self.builder.last_call(host, next).filter(|&it| !self.follows(it));
        let call = self.builder.shared_call(call);
        let mut step = self.builder.step(Some(element), StepWork::Operation(operation));
        (step.call, step.host, step.part) = (Some(call), host, self.current.part);
        self.builder.push(step, waits.iter().chain(&before))
    }

    /// Whether the next step comes after another one anyway, because that belongs to an earlier
    /// stage of the piece, or to a piece that this one waits for.
    fn follows(&self, before: PlanStepIndex) -> bool {
        let index = before.index();
        if index >= self.current.first {
            return index < self.current.stage;
        }
        // The steps of a part are adjacent, so only the next wait can belong to the same part.
        let plan = &self.builder.plan;
        let is_among = |waits: &[PlanStepIndex]| {
            let next = waits.get(waits.partition_point(|&wait| wait < before));
            next.is_some_and(|&next| plan.step(next).part == plan.step(before).part)
        };
        is_among(&self.current.waits)
            || self.current.turns.iter().any(|&turn| is_among(plan.after(turn)))
    }

    /// Adds the next step of the piece.
    fn then(&mut self, work: StepWork) -> PlanStepIndex {
        self.current.stage = self.builder.next().index();
        let mut step = self.builder.step(self.current.element, work);
        step.part = self.current.part;
        let waits = std::mem::take(&mut self.current.last);
        let step = self.builder.push(step, &waits);
        self.goes_on(waits, step);
        step
    }

    /// Lets the next step wait for this one instead of `last`, whose memory it reuses.
    fn goes_on(&mut self, mut last: Vec<PlanStepIndex>, step: PlanStepIndex) {
        last.clear();
        last.push(step);
        self.current.last = last;
    }

    /// Makes the last step of a node visible if the node runs nothing, so that its order is
    /// visible.
    fn show_if_nothing_runs(&mut self, last: PlanStepIndex) {
        let steps = &self.builder.plan.steps[self.current.first..];
        if steps.iter().all(|step| !step.is_shown) {
            self.builder.show(last);
        }
    }
}

impl<'s, 't, 'a, E> SceneSide<'s, 't, 'a, E> {
    /// A side on which nothing moves.
    pub(super) fn at_rest(
        behaviors: &'s Behaviors<'t, 'a>,
        builder: &mut PlanBuilder,
        class: ChangeClass,
    ) -> Self {
        let topology = behaviors.topology;
        let element = |id| (elements::node(builder, behaviors, id), class);
        let relations = topology.relations.len();
        Self {
            behaviors,
            extents: topology.node_ids().map(|_| None).collect(),
            nodes: topology.node_ids().map(element).collect(),
            observed: Vec::new(),
            is_told: vec![false; relations],
            is_ignored: vec![true; relations],
            wires: Vec::new(),
            changed: Vec::new(),
        }
    }
}

impl SceneSide<'_, '_, '_, Up> {
    /// The operations of a relation that is added while its source keeps running, or that orders
    /// nothing.
    pub(super) fn wired(&self, relation: RelationIndex) -> &'static [Operation] {
        if self.is_ignored[relation.index()] { &WHOLE } else { &ADD }
    }
}

impl<E> SceneSide<'_, '_, '_, E> {
    /// Whether adding or removing a relation runs anything, or anything waits for its ends.
    pub(super) fn matters(&self, relation: RelationIndex, operations: &[Operation]) -> bool {
        let ends = self.behaviors.topology.relation(relation);
        let moves = |node: NodeIndex| self.extents[node.index()].is_some();
        moves(ends.source)
            || ends.target.is_some_and(moves)
            || self.calls(relation, operations.iter().copied()).next().is_some()
    }

    /// The operations of a relation that have something to run.
    fn calls(
        &self,
        relation: RelationIndex,
        operations: impl Iterator<Item = Operation>,
    ) -> impl Iterator<Item = (Operation, Rc<PlanCall>)> {
        operations.filter_map(move |operation| {
            Some((operation, self.behaviors.relation(relation, operation)?))
        })
    }

    /// Those of these operations that happen at a node, in the order of the relations.
    fn ends(
        &self,
        node: NodeIndex,
        [at_source, at_target]: Both,
    ) -> Vec<(RelationIndex, Operation, Rc<PlanCall>)> {
        let template = self.behaviors.topology.node(node);
        let sources = template.relations.iter().map(|&relation| (relation, at_source));
        let targets = template.incoming.iter().map(|&relation| (relation, at_target));
        let all = sources.chain(targets).filter(|(id, _)| !self.is_ignored[id.index()]);
        let call = |(relation, operation)| {
            Some((relation, operation, self.behaviors.relation(relation, operation)?))
        };
        let mut calls: Vec<_> = all.filter_map(call).collect();
        calls.sort_unstable_by_key(|&(relation, operation, _)| (relation, operation));
        calls
    }

    /// The calls of a relation that is added.
    pub(super) fn coming(&self, relation: RelationIndex) -> Vec<Rc<PlanCall>> {
        self.calls(relation, WHOLE.into_iter()).map(|(_, call)| call).collect()
    }

    /// The operations of relations that happen at a node between its states, each with its
    /// relation.
    pub(super) fn between(
        &self,
        node: NodeIndex,
    ) -> impl Iterator<Item = (RelationIndex, Rc<PlanCall>)> {
        let calls = [BEFORE, BEHIND].into_iter().flat_map(move |both| self.ends(node, both));
        calls.map(|(relation, _, call)| (relation, call))
    }

    /// The host of an operation of a node (statement H1).
    pub(super) fn node_host(&self, node: NodeIndex, said: Option<&str>) -> StepHost {
        self.host_at(CallPlace::of_node(node, said))
    }

    /// The host of an operation of a relation (statement H1).
    pub(super) fn relation_host(
        &self,
        relation: RelationIndex,
        operation: Operation,
        said: Option<&str>,
    ) -> StepHost {
        let relation = self.behaviors.topology.relation(relation);
        self.host_at(CallPlace::of_relation(relation, operation, said))
    }

    fn host_at(&self, place: CallPlace) -> StepHost {
        match self.behaviors.place_of(place) {
            Some(host) => StepHost::Element(self.nodes[host.index()].0),
            None => StepHost::Orchestrator,
        }
    }
}

/// The place of a call, independent of which node hosts which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallPlace {
    Orchestrator,
    /// The host of a node; the second value is the place if nothing hosts the node.
    HostOf(NodeIndex, Unhosted),
}

/// The place of a call on the host of a node that nothing hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unhosted {
    Orchestrator,
    /// The node if it is a machine, otherwise the orchestrator.
    Machine,
    /// The node itself.
    Itself,
}

impl CallPlace {
    /// The place of an operation of a node (statement H1).
    pub(super) fn of_node(node: NodeIndex, said: Option<&str>) -> Self {
        match said {
            Some("ORCHESTRATOR") => Self::Orchestrator,
            Some("SELF") => Self::HostOf(node, Unhosted::Itself),
            _ => Self::HostOf(node, Unhosted::Orchestrator),
        }
    }

    /// The place of an operation of a relation (statement H1).
    pub(super) fn of_relation(
        relation: &TopologyRelation,
        operation: Operation,
        said: Option<&str>,
    ) -> Self {
        let end = match said {
            Some("ORCHESTRATOR") => None,
            Some("SOURCE") => Some(relation.source),
            Some("TARGET") => relation.target,
            _ if operation.is_at_target() => relation.target,
            _ => Some(relation.source),
        };
        end.map_or(Self::Orchestrator, |end| Self::HostOf(end, Unhosted::Machine))
    }
}

/// The error that a node which the orchestrator brings has no states in between (statement G3).
fn delegated_lifecycle<E>(
    side: &SceneSide<'_, '_, '_, E>,
    node: NodeIndex,
    call: &PlanCall,
    delegation: Delegation,
) -> Diagnostic {
    let template = side.behaviors.topology.node(node);
    let name = &template.name;
    let message = format!(
        "`{}` has to run while `{name}` is configured, but the orchestrator provides `{name}` as a whole",
        call.operation
    );
    let label = match delegation {
        Delegation::Abstract => "this node stands for a node that the orchestrator finds",
        Delegation::Provided => {
            "this node is of a type that the orchestrator provides, and implements nothing itself"
        }
    };
    Diagnostic::error(Code::DelegatedLifecycle, message)
        .at(call.span)
        .label(template.span, label)
        .section("7.3")
        .help(format!(
            "use `add_target` or `add_source`, or take it from the orchestrator: `--managed node.{name}`"
        ))
}
