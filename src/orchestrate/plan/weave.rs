//! Weaves what single nodes and relations do into one plan: the declarative workflows of chapter
//! 7.3, and what leads from one variant to another, which is the same with two topologies.
//!
//! Each node goes down in the one topology and comes up in the other, in pieces that are put in
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
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::topology::{NodeIndex, RelationIndex, TopologyRelation};
use crate::tosca::LifecycleOperation as Operation;
use crate::tosca::NodeState as State;
use std::rc::Rc;

/// How far a node goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Down {
    /// Until it is gone.
    Whole,
    /// Until it stands still.
    Stop,
}

/// From where a node comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Up {
    /// From nothing.
    Whole,
    /// From standing still, to be configured.
    Configure,
    /// From standing still, only to be started.
    Start,
    /// It is changed by the orchestrator without standing still.
    Update,
}

/// What happens to the nodes and relations of a topology.
pub(super) struct SceneSide<'s, 't, 'a, E> {
    pub(super) behaviors: &'s Behaviors<'t, 'a>,
    /// How far each node goes, if it does at all.
    pub(super) extents: Vec<Option<E>>,
    /// What each node is in the plan, and what becomes of it.
    pub(super) nodes: Vec<(PlanElementIndex, ChangeClass)>,
    /// How far each node has come; empty where they all run.
    pub(super) observed: Vec<Observed>,
    /// Of each relation whether it comes or goes, so that its ends are told.
    pub(super) is_told: Vec<bool>,
    /// Relations that order nothing.
    pub(super) is_ignored: Vec<bool>,
    /// Relations of sources that keep running that come, or go.
    pub(super) wires: Vec<RelationIndex>,
    /// Relations of sources that keep running whose targets have changed.
    pub(super) changed: Vec<RelationIndex>,
}

/// What goes down, and what comes up.
pub(super) struct Scene<'s, 't, 'a, 'b> {
    pub(super) down: Option<SceneSide<'s, 't, 'a, Down>>,
    pub(super) up: Option<SceneSide<'s, 't, 'b, Up>>,
    /// Connections order only what is started.
    pub(super) is_relaxed: bool,
    /// Whether nothing comes before all has gone that goes.
    pub(super) removals_first: bool,
}

/// Weaves a scene; the steps are added to the builder, behind these ones. Gives back the steps that
/// nothing of it waits for.
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

/// Makes the steps of each piece of a scene as if there were no others; what cannot be done is left
/// for whoever asks to find.
pub(super) fn weave_apart(scene: &Scene<'_, '_, '_, '_>, builder: &mut PlanBuilder) {
    Weaver::weave(scene, &ScenePieces::apart(scene), builder, &[]);
}

/// The piece whose steps are made.
#[derive(Default)]
struct CurrentPiece {
    part: Option<PlanPartIndex>,
    element: Option<PlanElementIndex>,
    first: usize,
    /// Where the steps begin that may run side by side with the next one.
    stage: usize,
    /// What the piece waits for as a whole, as far as it has come, in the order of the plan.
    waits: Vec<PlanStepIndex>,
    /// The turns among that, which stand for all that they wait for.
    turns: Vec<PlanStepIndex>,
    /// The steps that the next one waits for.
    last: Vec<PlanStepIndex>,
}

struct Weaver<'w, 's, 't, 'a, 'b> {
    scene: &'w Scene<'s, 't, 'a, 'b>,
    pieces: &'w ScenePieces,
    builder: &'w mut PlanBuilder,
    behind: &'w [PlanStepIndex],
    /// Where the last steps of each piece stand in `ends_of_all`.
    ends: Vec<(u32, u32)>,
    ends_of_all: Vec<PlanStepIndex>,
    current: CurrentPiece,
    diagnostics: Diagnostics,
}

/// The operations at the ends of a relation: at its source, and at its target.
type Both = [Operation; 2];

const BEFORE: Both = [Operation::PreConfigureSource, Operation::PreConfigureTarget];
const BEHIND: Both = [Operation::PostConfigureSource, Operation::PostConfigureTarget];
const ADD: Both = [Operation::AddTarget, Operation::AddSource];
pub(super) const REMOVE: Both = [Operation::RemoveTarget, Operation::RemoveSource];
/// What happens to relations that order nothing.
const WHOLE: [Operation; 6] = [BEFORE[0], BEFORE[1], BEHIND[0], BEHIND[1], ADD[0], ADD[1]];

impl<'w, 's, 't, 'a, 'b> Weaver<'w, 's, 't, 'a, 'b> {
    /// Makes the steps of all pieces in their order; what cannot be done is given back.
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

    /// The last steps of all pieces that one comes after, only in part or as a whole.
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

    /// Statement G2: the orchestrator brings the node, or changes it.
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

    /// Statements D2 and D3.
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

    /// Statement D5.
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

    /// A relation of a source that keeps running, or one that orders nothing.
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
            // Whoever comes after this comes after what this would have waited for.
            return self.current.waits.clone();
        }
        let element = self.relation_element(side, relation);
        self.open(Some(element), kind, ChangeClass::Rewire);
        // What stands in one pair may run side by side.
        for pair in operations.chunks(2) {
            let of_pair = calls.iter().filter(|(operation, _)| pair.contains(operation));
            let of_pair: Vec<_> =
                of_pair.map(|(operation, call)| (relation, *operation, Rc::clone(call))).collect();
            self.side_by_side(side, of_pair);
        }
        self.current.last.clone()
    }

    fn turn(&mut self) -> Vec<PlanStepIndex> {
        self.open(None, PartKind::Turn, ChangeClass::Keep);
        vec![self.then(StepWork::Turn)]
    }

    /// Named by the first relation that goes then.
    fn exchange(&mut self, relation: RelationIndex) -> Vec<PlanStepIndex> {
        let Some(side) = &self.scene.down else { return Vec::new() };
        let element = self.relation_element(side, relation);
        self.open(Some(element), PartKind::Turn, ChangeClass::Rewire);
        vec![self.then(StepWork::Turn)]
    }

    /// The operations of all relations of a node that happen to it.
    fn at_ends<E>(&mut self, side: &SceneSide<'_, '_, '_, E>, node: NodeIndex, operations: Both) {
        let calls = side.ends(node, operations);
        self.side_by_side(side, calls);
    }

    /// Tells both ends of the relations of a source, where those come or go.
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
        self.side_by_side(side, calls);
    }

    /// Calls that wait for the same, and for each other only on one host.
    fn side_by_side<E>(
        &mut self,
        side: &SceneSide<'_, '_, '_, E>,
        calls: Vec<(RelationIndex, Operation, Rc<PlanCall>)>,
    ) {
        if calls.is_empty() {
            return;
        }
        let before = std::mem::take(&mut self.current.last);
        self.current.stage = self.builder.next().index();
        for (relation, operation, call) in calls {
            let host = side.relation_host(relation, operation, call.host.as_deref());
            let element = self.relation_element(side, relation);
            let step = self.called(element, operation, call, host, &before);
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

    /// An operation of a node, which is a step even where it has nothing to run.
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

    /// A call, which waits for the one before on its host.
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

    /// Whether the next step comes after another one anyway: one of an earlier stage of its piece,
    /// or of a piece that its own one waits for.
    fn follows(&self, before: PlanStepIndex) -> bool {
        let index = before.index();
        if index >= self.current.first {
            return index < self.current.stage;
        }
        // The steps of a part stand side by side, so the next wait is of the same one if any is.
        let plan = &self.builder.plan;
        let is_among = |waits: &[PlanStepIndex]| {
            let next = waits.get(waits.partition_point(|&wait| wait < before));
            next.is_some_and(|&next| plan.step(next).part == plan.step(before).part)
        };
        is_among(&self.current.waits)
            || self.current.turns.iter().any(|&turn| is_among(plan.after(turn)))
    }

    /// The next step of the piece.
    fn then(&mut self, work: StepWork) -> PlanStepIndex {
        self.current.stage = self.builder.next().index();
        let mut step = self.builder.step(self.current.element, work);
        step.part = self.current.part;
        let waits = std::mem::take(&mut self.current.last);
        let step = self.builder.push(step, &waits);
        self.goes_on(waits, step);
        step
    }

    /// The next step waits for this one instead of those.
    fn goes_on(&mut self, mut last: Vec<PlanStepIndex>, step: PlanStepIndex) {
        last.clear();
        last.push(step);
        self.current.last = last;
    }

    /// A node that runs nothing is seen all the same, so that the order is.
    fn show_if_nothing_runs(&mut self, last: PlanStepIndex) {
        let steps = &self.builder.plan.steps[self.current.first..];
        if steps.iter().all(|step| !step.is_shown) {
            self.builder.show(last);
        }
    }
}

impl<'s, 't, 'a, E> SceneSide<'s, 't, 'a, E> {
    /// A side on which nothing goes or comes.
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
    /// What is done when a relation comes of which the source keeps running, or which orders nothing.
    pub(super) fn wired(&self, relation: RelationIndex) -> &'static [Operation] {
        if self.is_ignored[relation.index()] { &WHOLE } else { &ADD }
    }
}

impl<E> SceneSide<'_, '_, '_, E> {
    /// Whether anything is done where a relation comes or goes, or something waits for its ends.
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

    /// Of these operations those that happen to a node, in the order of the relations.
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

    /// What a relation runs where it comes.
    pub(super) fn coming(&self, relation: RelationIndex) -> Vec<Rc<PlanCall>> {
        self.calls(relation, WHOLE.into_iter()).map(|(_, call)| call).collect()
    }

    /// The operations of relations that happen to a node between its states, each with its relation.
    pub(super) fn between(
        &self,
        node: NodeIndex,
    ) -> impl Iterator<Item = (RelationIndex, Rc<PlanCall>)> {
        let calls = [BEFORE, BEHIND].into_iter().flat_map(move |both| self.ends(node, both));
        calls.map(|(relation, _, call)| (relation, call))
    }

    /// Statement H1, for operations of nodes.
    pub(super) fn node_host(&self, node: NodeIndex, said: Option<&str>) -> StepHost {
        self.host_at(CallPlace::of_node(node, said))
    }

    /// Statement H1, for operations of relations.
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
        let CallPlace::HostOf(node, unhosted) = place else { return StepHost::Orchestrator };
        let is_itself = || match unhosted {
            Unhosted::Orchestrator => false,
            Unhosted::Machine => self.behaviors.is_compute(node),
            Unhosted::Itself => true,
        };
        match self.behaviors.host(node).or_else(|| is_itself().then_some(node)) {
            Some(host) => StepHost::Element(self.nodes[host.index()].0),
            None => StepHost::Orchestrator,
        }
    }
}

/// Where a call runs, whatever hosts what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallPlace {
    Orchestrator,
    /// On the host of a node; where nothing hosts that, on this.
    HostOf(NodeIndex, Unhosted),
}

/// Where what belongs on the host of a node runs that nothing hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unhosted {
    Orchestrator,
    /// On the node where that is a machine, else on the orchestrator.
    Machine,
    /// On the node.
    Itself,
}

impl CallPlace {
    /// Statement H1, for operations of nodes.
    pub(super) fn of_node(node: NodeIndex, said: Option<&str>) -> Self {
        match said {
            Some("ORCHESTRATOR") => Self::Orchestrator,
            Some("SELF") => Self::HostOf(node, Unhosted::Itself),
            _ => Self::HostOf(node, Unhosted::Orchestrator),
        }
    }

    /// Statement H1, for operations of relations.
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

/// Statement G3: what the orchestrator brings has no states in between.
fn delegated_lifecycle<E>(
    side: &SceneSide<'_, '_, '_, E>,
    node: NodeIndex,
    call: &PlanCall,
    delegation: Delegation,
) -> Diagnostic {
    let template = side.behaviors.topology.node(node);
    let name = &template.name;
    let message = format!(
        "`{}` has to run while `{name}` is configured, but the orchestrator brings `{name}` as a whole",
        call.operation
    );
    let label = match delegation {
        Delegation::Abstract => "stands for something that the orchestrator finds",
        Delegation::Provided => "is of a type that the orchestrator brings, and implements nothing",
    };
    Diagnostic::error(Code::DelegatedLifecycle, message)
        .at(call.span)
        .label(template.span, label)
        .section("7.3")
        .help(format!(
            "use `add_target` or `add_source`, or take it from the orchestrator: `--managed node.{name}`"
        ))
}
