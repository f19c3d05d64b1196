//! Carries out a plan: adds the events that follow from reports of steps and parts.

use super::document::{AppliedStep, PlanName, PlanUnit, PlanUnitIndex, UNTRACKED, UnitKind};
use super::progress::Obstacle;
use super::{Orchestration, effect, impossible, is_done};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::orchestrate::instance::event::{Event, ReportOutcome};
use crate::orchestrate::instance::model::{InstanceModel, InstanceState, NodeInstance, StepStatus};
use crate::orchestrate::instance::reduce::ImpossibleEvent;
use crate::orchestrate::instance::transition::ReportedState;
use crate::orchestrate::instance::unwritten::Unwritten;
use crate::tosca::NodeState;
use std::sync::Arc;

/// The workflow that deploys a topology.
const DEPLOY: &str = "deploy";

type Done = Result<(), Diagnostic>;

fn not_ready(message: String) -> Diagnostic {
    Diagnostic::error(Code::StepNotReady, message)
        .help("`cuvee instance ready NAME` lists what is ready")
}

fn node_name(id: &str) -> Arc<str> {
    format!("node.{id}").into()
}

impl Orchestration<'_> {
    /// Begins the part of a step for which something is reported. A step or part that is done, or a
    /// part that has failed for good, is left alone; other checks report that.
    ///
    /// # Errors
    /// `unknown-element`, `step-not-ready`
    pub(in crate::orchestrate::instance) fn open_step(
        &mut self,
        record: &mut Unwritten<'_>,
        step: &str,
        has_state: bool,
    ) -> Done {
        let name = self.find(step)?;
        let (PlanName::Unit(unit) | PlanName::Step(_, unit)) = name;
        let is_over = self.progress.is_done(unit) || self.was_done(record.model(), name);
        match is_over || self.progress.has_failed_for_good(unit) {
            true => Ok(()),
            false => self.begin_unit(record, unit, has_state),
        }
    }

    /// Notes that a step or part has begun. Adds nothing if that is known already.
    ///
    /// # Errors
    /// `unknown-element`, `step-not-ready`
    pub fn start_step(&mut self, record: &mut Unwritten<'_>, step: &str) -> Done {
        let name = self.find(step)?;
        let (PlanName::Unit(unit) | PlanName::Step(_, unit)) = name;
        let was_done = self.was_done(record.model(), name);
        if self.progress.is_done(unit) || was_done {
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
        self.approach(record, unit, at).map_err(impossible)?;
        record.add(Event::StepStarted { step: Arc::clone(id) }).map_err(impossible)
    }

    /// Moves the node of a unit to the last state before a step.
    fn approach(
        &self,
        record: &mut Unwritten<'_>,
        unit: PlanUnitIndex,
        step: usize,
    ) -> Result<(), ImpossibleEvent> {
        let first = self.plan.unit(unit).steps.start;
        let before = (first..step).rev().find(|&before| self.plan.steps[before].is_state());
        self.advance(record, unit, before)
    }

    /// Notes how a step or part has ended. Adds nothing if that is known already. `has_state` is
    /// whether the same report contains the state of its node, which counts before the one that a
    /// step of a workflow sets.
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
        let was_done = self.was_done(record.model(), name);
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
        let step = Arc::from(step);
        let PlanUnit { id, kind, .. } = self.plan.unit(unit);
        let is_whole = *id == step;
        if outcome == ReportOutcome::Done {
            return match has_state && is_whole && *kind == UnitKind::Other {
                true => self.over(record, unit),
                false => self.succeed(record, name),
            };
        }
        let message = message.cloned();
        if is_whole {
            self.end_claimed(record, unit, outcome).map_err(impossible)?;
        }
        record.add(Event::StepEnded { step, outcome, message }).map_err(impossible)?;
        if outcome == ReportOutcome::Failed && !has_state {
            if let PlanName::Step(at, _) = name {
                self.approach(record, unit, at).map_err(impossible)?;
            }
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

    /// Whether a step was reported to be done.
    fn was_done(&self, model: &InstanceModel, name: PlanName) -> bool {
        matches!(name, PlanName::Step(at, _) if is_done(model, &self.plan.steps[at]))
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
        // The steps after it are the states that it has reached, until another activity begins.
        let behind = at + 1..steps.end;
        let behind = behind.take_while(|&next| {
            let step = &self.plan.steps[next];
            !step.is_run && step.known_state().is_none_or(|state| !state.is_transitional())
        });
        let reached = behind.filter(|&next| self.plan.steps[next].is_state()).last();
        let own = self.plan.steps[at].is_state().then_some(at);
        self.advance(record, unit, reached.or(own)).map_err(impossible)
    }

    /// Sets the node of a failed step or part to `error`. The nodes of a failed relation keep their
    /// states.
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

    /// Interrupts all running steps, because the program that ran them is gone. They can begin
    /// again.
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

    /// Assumes that everything left is done.
    ///
    /// # Errors
    /// `invalid-plan` if parts of the plan wait for each other in a circle.
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
            // Units that were passed at once may have made others ready, too.
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

    /// Prepares for a state of a node, which is reported next: begins the part of the node. Returns
    /// the part that is under way, if any.
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
            // A node may fail before its part has begun.
            None if is_error && node.is_some() => Ok(None),
            None => {
                self.begin_unit(record, unit, true)?;
                Ok(Some(unit))
            }
        }
    }

    /// Updates the steps of a part after the state of its node was reported.
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

    /// Whether the node has a part that is not done, or belongs to the new target.
    pub(in crate::orchestrate::instance) fn is_awaited(&self, id: &str) -> bool {
        self.current(id).is_some() || self.models.to.nodes.contains_key(id)
    }

    /// The first part of a node that is not done.
    pub(super) fn current(&self, id: &str) -> Option<PlanUnitIndex> {
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

    /// Begins a unit, perhaps not for the first time. `has_state` is whether the state of its node
    /// is reported as well.
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
                format!("`{id}` runs only after a step that it handles has failed, and none has")
            }
            Obstacle::HasFailed => format!("`{id}` has failed, or belongs to a step that has"),
            Obstacle::Halted => {
                format!("`{id}` is not begun any more, since another step has failed")
            }
        })
    }

    /// Adds the node that a unit brings up, or gives it its new definition and relations, of which
    /// its operations are. Removes one that it replaces.
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
        match record.model().nodes.get(id).is_some_and(has_begun) {
            true => self.define(record, id),
            false => self.come(record, id),
        }
    }

    /// Gives a node the definition and relations of its target. Relations that other parts have yet
    /// to take away stay.
    fn define(&self, record: &mut Unwritten<'_>, id: &Arc<str>) -> Result<(), ImpossibleEvent> {
        effect::define(record, &self.models, id, self.digest(record.model()).as_ref())?;
        let leaving = self.plan.leaving(id).iter();
        let leaving: Vec<_> = leaving
            .filter(|(unit, _)| !self.progress.is_done(*unit))
            .map(|(_, ends)| ends)
            .collect();
        effect::relate(record, &self.models, id, &|ends| leaving.contains(&ends))
    }

    /// Adds a node as its target defines it, with its relations: if it fails, the next plan has to
    /// know where it was created. A node of which more exists than a definition stays as it is.
    fn come(&self, record: &mut Unwritten<'_>, id: &Arc<str>) -> Result<(), ImpossibleEvent> {
        if record.model().nodes.get(id).is_some_and(has_begun) {
            return Ok(());
        }
        effect::come(record, &self.models, id, self.digest(record.model()).as_ref())?;
        effect::relate(record, &self.models, id, &|_| false)
    }

    /// Adds a node that has no part of its own when it is first reported.
    fn come_unplanned(&self, record: &mut Unwritten<'_>, id: &str) -> Result<(), ImpossibleEvent> {
        let known = self.models.to.nodes.get_key_value(id);
        known.map_or(Ok(()), |(id, _)| self.come(record, id))
    }

    /// The digest of the target that defines the nodes, if the instance still has another one.
    fn digest(&self, model: &InstanceModel) -> Option<Arc<str>> {
        let target = self.target.as_ref().filter(|target| target.digest != model.target.digest);
        target.map(|target| Arc::clone(&target.digest))
    }

    /// Puts the node of a beginning part into its first state; if the part failed before, into the
    /// state in which it failed.
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

    /// Whether all steps of a unit that run something are done. If no step does, whether its last
    /// state is reached.
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

    /// Ends a unit with all its effects, and passes the units after it that have nothing to run.
    fn end_unit(&mut self, record: &mut Unwritten<'_>, unit: PlanUnitIndex) -> Done {
        self.take_effect(record, unit).map_err(impossible)?;
        self.over(record, unit)
    }

    /// Ends a unit whose effects are there, and passes the units after it that have nothing to run.
    fn over(&mut self, record: &mut Unwritten<'_>, unit: PlanUnitIndex) -> Done {
        let next = self.end_one(record, unit).map_err(impossible)?;
        self.pass_on(record, next)
    }

    /// Ends those of the units that are ready and have nothing to run, and so on with the units
    /// after them.
    fn pass_on(&mut self, record: &mut Unwritten<'_>, mut open: Vec<PlanUnitIndex>) -> Done {
        while let Some(unit) = open.pop() {
            if self.plan.unit(unit).is_passed && self.progress.is_ready(unit) {
                self.take_effect(record, unit).map_err(impossible)?;
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
        let (step, outcome) = (Arc::clone(&self.plan.unit(unit).id), ReportOutcome::Done);
        record.add(Event::StepEnded { step, outcome, message: None })?;
        Ok(self.progress.end(unit))
    }

    /// Adds all effects of a unit.
    fn take_effect(
        &self,
        record: &mut Unwritten<'_>,
        unit: PlanUnitIndex,
    ) -> Result<(), ImpossibleEvent> {
        self.end_claimed(record, unit, ReportOutcome::Done)?;
        match &self.plan.unit(unit).kind {
            UnitKind::Up(node, _) => {
                self.arrive(record, unit, node)?;
                self.define(record, node)?;
            }
            UnitKind::Down(node) => self.arrive(record, unit, node)?,
            UnitKind::Wire(relation) => effect::wire(record, &self.models, relation)?,
            UnitKind::Unwire(relation) => effect::unwire(record, &self.models, relation)?,
            UnitKind::Other => self.act(record, unit)?,
        }
        Ok(())
    }

    /// Moves the node of a part to its last state, or removes it.
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

    /// Applies the states that the steps of a workflow set.
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

    /// At the beginning, ends the ready units that have nothing to run.
    pub(super) fn pass(&mut self, record: &mut Unwritten<'_>) -> Done {
        let units = (0..self.plan.units.len()).map(PlanUnitIndex::new);
        let is_passed =
            |it: &PlanUnitIndex| self.plan.unit(*it).is_passed && self.progress.is_ready(*it);
        for unit in units.filter(is_passed).collect::<Vec<_>>() {
            self.pass_on(record, vec![unit])?;
        }
        if self.plan.units.is_empty() { self.finish(record) } else { Ok(()) }
    }

    /// Ends the orchestration if nothing is left. If all is done, the instance becomes what its
    /// target says. If something has failed and nothing else is ready, it stays as it is.
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

    /// Sets nodes that a deploying workflow has acted on to `started` if no state was reported.
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

/// Whether more of a node exists than its definition.
fn has_begun(node: &NodeInstance) -> bool {
    node.state != InstanceState::default()
}

/// Sets a node to a state, unless it has that state.
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
    /// Whether the step only reaches a state and runs nothing.
    fn is_state(&self) -> bool {
        self.state.is_some() && !self.is_run
    }

    /// The state that the step sets, if the specification knows it.
    fn known_state(&self) -> Option<NodeState> {
        NodeState::named(self.state.as_deref().filter(|_| !self.is_run)?)
    }
}
