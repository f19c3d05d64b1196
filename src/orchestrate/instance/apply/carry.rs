//! What comes of what is reported of steps and parts while a plan is carried out.

use super::document::{AppliedStep, PlanName, PlanUnit, PlanUnitIndex, UNTRACKED, UnitKind};
use super::progress::Obstacle;
use super::{Orchestration, effect, impossible, is_done};
use crate::orchestrate::instance::event::{Event, ReportOutcome};
use crate::orchestrate::instance::model::{InstanceModel, InstanceState, StepStatus};
use crate::orchestrate::instance::reduce::ImpossibleEvent;
use crate::orchestrate::instance::transition::ReportedState;
use crate::orchestrate::instance::unwritten::Unwritten;
use crate::text::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::tosca::NodeState;
use std::sync::Arc;

/// The workflow that brings a topology.
const DEPLOY: &str = "deploy";

type Done = Result<(), Diagnostic>;

fn not_ready(message: String) -> Diagnostic {
    Diagnostic::error(Code::StepNotReady, message)
        .help("`cuvee instance apply NAME --resume` lists what is ready")
}

fn node_name(id: &str) -> Arc<str> {
    format!("node.{id}").into()
}

impl Orchestration<'_> {
    /// Begins the part of a step of which something is reported, unless it is done or the step
    /// cannot be begun, which is said where that is looked at.
    ///
    /// # Errors
    /// `unknown-element`, `step-not-ready`
    pub(in crate::orchestrate::instance) fn open_step(
        &mut self,
        record: &mut Unwritten<'_>,
        step: &str,
        has_state: bool,
    ) -> Done {
        let (PlanName::Unit(unit) | PlanName::Step(_, unit)) = self.find(step)?;
        match self.progress.is_done(unit) || self.progress.has_failed_for_good(unit) {
            true => Ok(()),
            false => self.begin_unit(record, unit, has_state),
        }
    }

    /// Says that a step or part has begun; nothing is added where that is known.
    ///
    /// # Errors
    /// `unknown-element`, `step-not-ready`
    pub fn start_step(&mut self, record: &mut Unwritten<'_>, step: &str) -> Done {
        let name = self.find(step)?;
        let (PlanName::Unit(unit) | PlanName::Step(_, unit)) = name;
        if self.progress.is_done(unit) {
            return Err(not_ready(format!("`{step}` is done already")));
        }
        self.begin_unit(record, unit, false)?;
        let PlanName::Step(at, _) = name else { return Ok(()) };
        self.check_before(record.model(), at)?;
        let id = &self.plan.steps[at].id;
        if *id == self.plan.unit(unit).id
            || Self::status(record.model(), id) == Some(StepStatus::Running)
        {
            return Ok(());
        }
        let first = self.plan.unit(unit).steps.start;
        let before = (first..at).rev().find(|&before| self.plan.steps[before].is_state());
        self.advance(record, unit, before).map_err(impossible)?;
        record.add(Event::StepStarted { step: Arc::clone(id) }).map_err(impossible)
    }

    /// Says how a step or part has ended; nothing is added where that is known. `has_state` says
    /// that the state of its node is reported with it.
    ///
    /// # Errors
    /// `unknown-element`, `step-not-ready`
    pub fn end_step(
        &mut self,
        record: &mut Unwritten<'_>,
        step: &str,
        outcome: ReportOutcome,
        message: Option<&Arc<str>>,
        has_state: bool,
    ) -> Done {
        let name = self.find(step)?;
        let (PlanName::Unit(unit) | PlanName::Step(_, unit)) = name;
        let was_done = match name {
            PlanName::Step(at, _) => is_done(record.model(), &self.plan.steps[at]),
            PlanName::Unit(_) => false,
        };
        if self.progress.is_done(unit) || was_done {
            return match outcome {
                ReportOutcome::Done => Ok(()),
                _ => Err(not_ready(format!("`{step}` is done already"))),
            };
        }
        if outcome == ReportOutcome::Failed && self.progress.has_failed_for_good(unit) {
            return Ok(());
        }
        self.begin_unit(record, unit, has_state)?;
        if let PlanName::Step(at, _) = name {
            self.check_before(record.model(), at)?;
        }
        if outcome == ReportOutcome::Done {
            return self.succeed(record, name);
        }
        let (step, message) = (Arc::from(step), message.cloned());
        let is_whole = self.plan.unit(unit).id == step;
        record.add(Event::StepEnded { step, outcome, message }).map_err(impossible)?;
        if outcome == ReportOutcome::Failed && !has_state {
            self.fail(record, name).map_err(impossible)?;
        }
        match outcome {
            ReportOutcome::Failed | ReportOutcome::Cancelled if is_whole => {
                let next = self.progress.fail(unit);
                self.pass_on(record, next)
            }
            _ => Ok(()),
        }
    }

    fn succeed(&mut self, record: &mut Unwritten<'_>, name: PlanName) -> Done {
        let (at, unit) = match name {
            PlanName::Unit(unit) => return self.end_unit(record, unit),
            PlanName::Step(at, unit) => (at, unit),
        };
        let PlanUnit { id, steps, .. } = self.plan.unit(unit);
        if self.plan.steps[at].id == *id {
            return self.end_unit(record, unit);
        }
        self.end_steps(record, [at].into_iter()).map_err(impossible)?;
        if self.is_complete(record.model(), unit) {
            return self.end_unit(record, unit);
        }
        // Behind it stand the states that it has brought about, until something else begins.
        let behind = at + 1..steps.end;
        let behind = behind.take_while(|&next| {
            let step = &self.plan.steps[next];
            !step.is_run && step.known_state().is_none_or(|state| !state.is_transitional())
        });
        let reached = behind.filter(|&next| self.plan.steps[next].is_state()).last();
        let own = self.plan.steps[at].is_state().then_some(at);
        self.advance(record, unit, reached.or(own)).map_err(impossible)
    }

    /// The node of what fails is in error; that of a relation goes on.
    fn fail(&self, record: &mut Unwritten<'_>, name: PlanName) -> Result<(), ImpossibleEvent> {
        let (PlanName::Unit(unit) | PlanName::Step(_, unit)) = name;
        let own = match name {
            PlanName::Step(at, _) => self.plan.steps[at].node.as_ref(),
            PlanName::Unit(_) => None,
        };
        let kind = &self.plan.unit(unit).kind;
        let node = kind.node().or(own.filter(|_| *kind == UnitKind::Other));
        match node {
            Some(node) => set_state(record, node, NodeState::Error.into(), Vec::new()),
            None => Ok(()),
        }
    }

    /// Says that who ran something is gone: whatever runs is interrupted, and can be begun again.
    ///
    /// # Errors
    /// `no-orchestration`
    pub fn interrupt(record: &mut Unwritten<'_>) -> Done {
        let open = super::open_of(record.model())?;
        let running = open.steps.iter().filter(|(_, status)| **status == StepStatus::Running);
        let running: Vec<_> = running.map(|(step, _)| Arc::clone(step)).collect();
        for step in running {
            let outcome = ReportOutcome::Interrupted;
            record.add(Event::StepEnded { step, outcome, message: None }).map_err(impossible)?;
        }
        Ok(())
    }

    /// Says that all that is left is done.
    ///
    /// # Errors
    /// `invalid-plan` where its parts wait for each other in a circle.
    pub fn assume_done(&mut self, record: &mut Unwritten<'_>) -> Done {
        let units = (0..self.plan.units.len()).map(PlanUnitIndex::new);
        let mut open: Vec<_> = units.filter(|&unit| self.progress.is_ready(unit)).collect();
        open.reverse();
        while let Some(unit) = open.pop() {
            if !self.progress.is_ready(unit) {
                continue;
            }
            self.begin_unit(record, unit, false)?;
            self.end_unit(record, unit)?;
            // What is passed at once has let others begin, too.
            let mut behind = self.plan.unit(unit).before.clone();
            while let Some(next) = behind.pop() {
                let PlanUnit { is_passed, before, .. } = self.plan.unit(next);
                match self.progress.is_past(next) {
                    true if *is_passed || !self.progress.is_done(next) => behind.extend(before),
                    false if self.progress.is_ready(next) => open.push(next),
                    _ => {}
                }
            }
        }
        match record.model().orchestration {
            None => Ok(()),
            Some(_) => Err(Diagnostic::error(
                Code::InvalidPlan,
                "parts of the plan wait for each other in a circle",
            )),
        }
    }

    /// What a state of a node, which is reported next, does to its part: the part begins with it.
    /// Gives back whether a part is under way.
    ///
    /// # Errors
    /// `step-not-ready`
    pub(in crate::orchestrate::instance) fn before_state(
        &mut self,
        record: &mut Unwritten<'_>,
        id: &str,
        reported: &ReportedState,
    ) -> Result<Option<PlanUnitIndex>, Diagnostic> {
        let Some(unit) = self.current(id) else {
            self.come_unplanned(record, id).map_err(impossible)?;
            return Ok(None);
        };
        let status = Self::status(record.model(), &self.plan.unit(unit).id);
        let node = record.model().nodes.get(id);
        let is_error = *reported == ReportedState::In(NodeState::Error.into());
        match status {
            Some(_) => Ok(Some(unit)),
            // What fails before its time fails all the same.
            None if is_error && node.is_some() => Ok(None),
            None => {
                self.begin_unit(record, unit, true)?;
                Ok(Some(unit))
            }
        }
    }

    /// What the reported state of a node, which it has now, says of the steps of its part.
    pub(in crate::orchestrate::instance) fn after_state(
        &mut self,
        record: &mut Unwritten<'_>,
        unit: PlanUnitIndex,
        reported: &ReportedState,
    ) -> Done {
        let reported = match reported {
            ReportedState::In(state) => state.as_str(),
            ReportedState::Gone => UNTRACKED,
        };
        let steps = self.plan.unit(unit).steps.clone();
        let is_it = |at: &usize| self.plan.steps[*at].state.as_deref() == Some(reported);
        let Some(at) = steps.clone().find(is_it) else { return Ok(()) };
        let before = steps.start..at;
        self.end_steps(record, before.filter(|&at| self.plan.steps[at].is_run))
            .map_err(impossible)?;
        let is_last = !(at + 1..steps.end).any(|next| self.plan.steps[next].is_state());
        let is_open = |at: usize| {
            let step = &self.plan.steps[at];
            step.is_run && !is_done(record.model(), step)
        };
        match is_last && !steps.clone().any(is_open) {
            true => self.end_unit(record, unit),
            false => Ok(()),
        }
    }

    /// Whether a node comes with a part that has not begun.
    pub(in crate::orchestrate::instance) fn is_awaited(&self, id: &str) -> bool {
        self.current(id).is_some() || self.models.to.nodes.contains_key(id)
    }

    /// The part in which a node is, or which is its next.
    fn current(&self, id: &str) -> Option<PlanUnitIndex> {
        let units = self.plan.units_of(id).iter().copied();
        let mut moving = units.filter(|unit| self.plan.unit(*unit).kind.node().is_some());
        moving.find(|unit| !self.progress.is_done(*unit))
    }

    fn find(&self, step: &str) -> Result<PlanName, Diagnostic> {
        self.plan.named(step).ok_or_else(|| {
            let message = format!("the plan has no step and no part `{step}`");
            Diagnostic::error(Code::UnknownElement, message)
                .help_opt(did_you_mean(step, self.plan.names()))
        })
    }

    fn check_before(&self, model: &InstanceModel, step: usize) -> Done {
        match self.missing(model, step) {
            None => Ok(()),
            Some(before) => {
                let (id, before) = (&self.plan.steps[step].id, &before.id);
                Err(not_ready(format!("`{id}` comes after `{before}`, which is not done")))
            }
        }
    }

    /// Begins a unit, or begins it again; `has_state` says that the state of its node is reported.
    fn begin_unit(
        &mut self,
        record: &mut Unwritten<'_>,
        unit: PlanUnitIndex,
        has_state: bool,
    ) -> Done {
        let PlanUnit { id, kind, .. } = self.plan.unit(unit);
        let status = Self::status(record.model(), id);
        if status == Some(StepStatus::Running) {
            return Ok(());
        }
        if let Some(obstacle) = self.progress.obstacle(unit) {
            return Err(self.obstructed(id, &obstacle));
        }
        record.add(Event::StepStarted { step: Arc::clone(id) }).map_err(impossible)?;
        self.progress.begin(unit);
        self.appear(record, kind, status.is_none()).map_err(impossible)?;
        match kind.node() {
            Some(node) if !has_state => {
                self.enter(record, unit, node, status.is_some()).map_err(impossible)
            }
            _ => Ok(()),
        }
    }

    fn obstructed(&self, id: &str, obstacle: &Obstacle) -> Diagnostic {
        not_ready(match obstacle {
            Obstacle::Waits(before) => {
                let before = &self.plan.unit(*before).id;
                format!("`{id}` comes after `{before}`, which is not done")
            }
            Obstacle::NotCalled => {
                format!("`{id}` is done only where a step fails that it handles, and none has")
            }
            Obstacle::HasFailed => format!("`{id}` has failed, or belongs to a step that has"),
            Obstacle::Halted => {
                format!("`{id}` is not begun any more, since another step has failed")
            }
        })
    }

    /// A node that comes is in the model from now on.
    fn appear(
        &self,
        record: &mut Unwritten<'_>,
        kind: &UnitKind,
        is_first: bool,
    ) -> Result<(), ImpossibleEvent> {
        let UnitKind::Up(id, is_anew) = kind else { return Ok(()) };
        if *is_anew && is_first && record.model().nodes.contains_key(id) {
            record.add(Event::NodeRemoved { id: Arc::clone(id) })?;
        }
        let is_initial = |state: &InstanceState| *state == InstanceState::default();
        match record.model().nodes.get(id) {
            Some(node) if !is_initial(&node.state) => Ok(()),
            _ => effect::come(record, &self.models, id, self.digest(record.model()).as_ref()),
        }
    }

    /// A node that has no part of its own comes with the first report of it.
    fn come_unplanned(&self, record: &mut Unwritten<'_>, id: &str) -> Result<(), ImpossibleEvent> {
        let is_there = record.model().nodes.contains_key(id);
        match self.models.to.nodes.get_key_value(id).filter(|_| !is_there) {
            Some((id, _)) => {
                effect::come(record, &self.models, id, self.digest(record.model()).as_ref())
            }
            None => Ok(()),
        }
    }

    /// The digest of the target that nodes are defined by, where the instance has another one.
    fn digest(&self, model: &InstanceModel) -> Option<Arc<str>> {
        let target = self.target.as_ref().filter(|target| target.digest != model.target.digest);
        target.map(|target| Arc::clone(&target.digest))
    }

    /// A node whose part begins is in its first state; begun again, in the one that failed.
    fn enter(
        &self,
        record: &mut Unwritten<'_>,
        unit: PlanUnitIndex,
        id: &Arc<str>,
        is_again: bool,
    ) -> Result<(), ImpossibleEvent> {
        let steps = self.plan.steps_of(unit);
        let first = steps.first().and_then(AppliedStep::known_state);
        let Some(node) = record.model().nodes.get(id) else { return Ok(()) };
        let failed = node.failed_in.as_ref().filter(|_| is_again);
        let of_part = |state: &&InstanceState| {
            !state.is_stable() && steps.iter().any(|it| it.state.as_deref() == Some(state.as_str()))
        };
        let state = failed.filter(of_part).cloned().or(first.map(InstanceState::Known));
        let is_on_its_way = is_again && node.failed_in.is_none();
        match state.filter(|_| !is_on_its_way) {
            Some(state) => set_state(record, id, state, Vec::new()),
            None => Ok(()),
        }
    }

    /// Moves the node of a unit to the state that a step of it sets.
    fn advance(
        &self,
        record: &mut Unwritten<'_>,
        unit: PlanUnitIndex,
        step: Option<usize>,
    ) -> Result<(), ImpossibleEvent> {
        let PlanUnit { kind, steps, .. } = self.plan.unit(unit);
        let (Some(id), Some(step)) = (kind.node(), step) else { return Ok(()) };
        let Some(node) = record.model().nodes.get(id) else { return Ok(()) };
        let states = || (steps.start..=step).filter_map(|at| self.plan.steps[at].state.as_deref());
        let Some(to) = states().next_back().filter(|to| *to != UNTRACKED) else { return Ok(()) };
        let was = states().position(|state| state == node.state.as_str()).map_or(0, |at| at + 1);
        let count = states().count();
        let skipped = states().take(count - 1).skip(was).map(InstanceState::named).collect();
        set_state(record, id, InstanceState::named(to), skipped)
    }

    fn end_steps(
        &self,
        record: &mut Unwritten<'_>,
        steps: impl Iterator<Item = usize>,
    ) -> Result<(), ImpossibleEvent> {
        for at in steps {
            let step = &self.plan.steps[at];
            if !is_done(record.model(), step) {
                let (step, outcome) = (Arc::clone(&step.id), ReportOutcome::Done);
                record.add(Event::StepEnded { step, outcome, message: None })?;
            }
        }
        Ok(())
    }

    /// Whether all steps of a unit are done that run something, or its last state where none does.
    fn is_complete(&self, model: &InstanceModel, unit: PlanUnitIndex) -> bool {
        let steps = self.plan.steps_of(unit);
        match steps.iter().any(|step| step.is_run) {
            true => steps.iter().filter(|step| step.is_run).all(|step| is_done(model, step)),
            false => {
                let last = steps.iter().rfind(|step| step.is_state());
                last.is_none_or(|step| is_done(model, step))
            }
        }
    }

    /// All that a unit brings about, and what can be done behind it without anybody.
    fn end_unit(&mut self, record: &mut Unwritten<'_>, unit: PlanUnitIndex) -> Done {
        let next = self.end_one(record, unit).map_err(impossible)?;
        self.pass_on(record, next)
    }

    /// Of what may be ready, does what nobody has to do, and what can be done so behind that.
    fn pass_on(&mut self, record: &mut Unwritten<'_>, mut open: Vec<PlanUnitIndex>) -> Done {
        while let Some(unit) = open.pop() {
            if self.plan.unit(unit).is_passed && self.progress.is_ready(unit) {
                open.extend(self.end_one(record, unit).map_err(impossible)?);
            }
        }
        self.finish(record)
    }

    fn end_one(
        &mut self,
        record: &mut Unwritten<'_>,
        unit: PlanUnitIndex,
    ) -> Result<Vec<PlanUnitIndex>, ImpossibleEvent> {
        let PlanUnit { id, kind, .. } = self.plan.unit(unit);
        match kind {
            UnitKind::Up(node, _) => {
                self.arrive(record, unit, node)?;
                let digest = self.digest(record.model());
                effect::define(record, &self.models, node, digest.as_ref())?;
                effect::relate(record, &self.models, node, None)?;
            }
            UnitKind::Down(node) => self.arrive(record, unit, node)?,
            UnitKind::Wire(relation) => effect::wire(record, &self.models, relation)?,
            UnitKind::Unwire(relation) => effect::unwire(record, &self.models, relation)?,
            UnitKind::Other => self.act(record, unit)?,
        }
        let (step, outcome) = (Arc::clone(id), ReportOutcome::Done);
        record.add(Event::StepEnded { step, outcome, message: None })?;
        Ok(self.progress.end(unit))
    }

    /// The node of a part comes to its last state, or goes.
    fn arrive(
        &self,
        record: &mut Unwritten<'_>,
        unit: PlanUnitIndex,
        id: &Arc<str>,
    ) -> Result<(), ImpossibleEvent> {
        if !record.model().nodes.contains_key(id) {
            return Ok(());
        }
        let steps = self.plan.unit(unit).steps.clone();
        let Some(last) = steps.rev().find(|&at| self.plan.steps[at].is_state()) else {
            return Ok(());
        };
        match self.plan.steps[last].state.as_deref() {
            Some(UNTRACKED) => record.add(Event::NodeRemoved { id: Arc::clone(id) }),
            _ => self.advance(record, unit, Some(last)),
        }
    }

    /// The states that steps of a workflow set.
    fn act(&self, record: &mut Unwritten<'_>, unit: PlanUnitIndex) -> Result<(), ImpossibleEvent> {
        for step in self.plan.steps_of(unit) {
            let (Some(id), Some(state)) = (&step.node, &step.state) else { continue };
            self.come_unplanned(record, id)?;
            match (record.model().nodes.contains_key(id), &**state) {
                (false, _) => {}
                (true, UNTRACKED) => record.add(Event::NodeRemoved { id: Arc::clone(id) })?,
                (true, state) => set_state(record, id, InstanceState::named(state), Vec::new())?,
            }
        }
        Ok(())
    }

    /// Does at the beginning what nobody has to do.
    pub(super) fn pass(&mut self, record: &mut Unwritten<'_>) -> Done {
        let units = (0..self.plan.units.len()).map(PlanUnitIndex::new);
        let is_passed =
            |it: &PlanUnitIndex| self.plan.unit(*it).is_passed && self.progress.is_ready(*it);
        for unit in units.filter(is_passed).collect::<Vec<_>>() {
            self.pass_on(record, vec![unit])?;
        }
        if self.plan.units.is_empty() { self.finish(record) } else { Ok(()) }
    }

    /// When all is done the instance is what its target says; when something has failed, and nothing
    /// can be done any more, it stays as it is.
    fn finish(&mut self, record: &mut Unwritten<'_>) -> Done {
        if record.model().orchestration.is_none() || !self.progress.is_over() {
            return Ok(());
        }
        if self.progress.has_failed() {
            let outcome = ReportOutcome::Failed;
            return record.add(Event::OrchestrationEnded { outcome }).map_err(impossible);
        }
        self.settle(record).map_err(impossible)?;
        effect::complete(record, &self.models, &|id| self.plan.removed.contains(id))
            .map_err(impossible)?;
        let is_marked = record.model().nodes.values().any(|node| node.target.is_some());
        if let Some(target) = &self.target
            && (*target != record.model().target || is_marked)
        {
            record.add(Event::TargetSet(target.clone())).map_err(impossible)?;
        }
        let outcome = ReportOutcome::Done;
        record.add(Event::OrchestrationEnded { outcome }).map_err(impossible)
    }

    /// What a workflow that deploys has acted on is deployed, also where it never says so.
    fn settle(&self, record: &mut Unwritten<'_>) -> Result<(), ImpossibleEvent> {
        if &*self.plan.workflow != DEPLOY {
            return Ok(());
        }
        let nodes = self.models.to.nodes.keys();
        let acted: Vec<_> = nodes.filter(|id| !self.plan.units_of(id).is_empty()).collect();
        for id in acted {
            self.come_unplanned(record, id)?;
            let node = record.model().nodes.get(id);
            if node.is_some_and(|node| node.state == InstanceState::default()) {
                set_state(record, id, NodeState::Started.into(), Vec::new())?;
            }
        }
        Ok(())
    }
}

/// Brings a node to a state, where it is not in it.
fn set_state(
    record: &mut Unwritten<'_>,
    id: &Arc<str>,
    to: InstanceState,
    skipped: Vec<InstanceState>,
) -> Result<(), ImpossibleEvent> {
    let Some(node) = record.model().nodes.get(id) else { return Ok(()) };
    if node.state == to {
        return Ok(());
    }
    let (entity, from) = (node_name(id), node.state.clone());
    record.add(Event::State { entity, from, to, skipped, forced: false })
}

impl AppliedStep {
    /// Whether it is only that a state is reached.
    fn is_state(&self) -> bool {
        self.state.is_some() && !self.is_run
    }

    /// The state that it sets, where that is one of the specification's.
    fn known_state(&self) -> Option<NodeState> {
        NodeState::named(self.state.as_deref().filter(|_| !self.is_run)?)
    }
}
