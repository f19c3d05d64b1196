//! The progress of a plan: which units are ready, and what failures change about that (statement
//! I9).

use super::document::{AppliedPlan, PlanUnitIndex};

/// The outcome of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum UnitOutcome {
    /// It is not done.
    #[default]
    Open,
    /// It has failed, and the units after it wait.
    Failed,
    /// It has failed or is left out, and the units after it do not wait.
    Over,
    /// It is done.
    Done,
}

#[derive(Clone, Copy, Debug, Default)]
struct UnitProgress {
    outcome: UnitOutcome,
    /// The number of units that it still waits for.
    waits: u32,
    /// Whether it was begun.
    is_begun: bool,
    /// Whether a unit whose failure it handles has failed.
    is_called: bool,
    /// Whether it may begin even after a failure, because a failure handler leads to it.
    goes_on: bool,
    /// Whether it is left out because it completes a unit that has failed. Others do not wait for
    /// it.
    is_void: bool,
}

/// The reason why a unit cannot begin.
pub(super) enum Obstacle {
    /// It waits for this unit.
    Waits(PlanUnitIndex),
    /// It is a handler, and nothing that it handles has failed.
    NotCalled,
    /// It has failed, or completes a unit that has.
    HasFailed,
    /// Something has failed, and units that have not begun do not begin any more.
    Halted,
}

/// The progress of a plan. It depends only on the outcomes of units, not on their order.
#[derive(Debug)]
pub(super) struct PlanProgress<'p> {
    plan: &'p AppliedPlan,
    units: Vec<UnitProgress>,
    /// How many units are left of those that have to be done if nothing fails.
    left: usize,
    /// How many units have failed and hold up the units after them.
    failed: usize,
    /// Whether a failure is final: it is handled, or others go on without the unit.
    has_failed: bool,
    /// The unit that was found ready by the last call of `is_over`.
    seen: usize,
}

impl<'p> PlanProgress<'p> {
    /// The progress of a plan of which nothing is done.
    pub(super) fn new(plan: &'p AppliedPlan) -> Self {
        let waits = |after: &[PlanUnitIndex]| after.len() as u32;
        let unit = |after| UnitProgress { waits: waits(after), ..UnitProgress::default() };
        Self {
            plan,
            units: plan.units.iter().map(|one| unit(&one.after)).collect(),
            left: plan.units.iter().filter(|unit| !unit.is_handler).count(),
            failed: 0,
            has_failed: false,
            seen: 0,
        }
    }

    pub(super) fn is_done(&self, unit: PlanUnitIndex) -> bool {
        self.units[unit.index()].outcome == UnitOutcome::Done
    }

    /// Whether the units after this one need not wait for it any more.
    pub(super) fn is_past(&self, unit: PlanUnitIndex) -> bool {
        matches!(self.units[unit.index()].outcome, UnitOutcome::Done | UnitOutcome::Over)
    }

    /// Whether a unit has failed and is not tried again.
    pub(super) fn has_failed_for_good(&self, unit: PlanUnitIndex) -> bool {
        match self.units[unit.index()].outcome {
            UnitOutcome::Failed => self.is_halted(),
            UnitOutcome::Over => !self.units[unit.index()].is_void,
            UnitOutcome::Open | UnitOutcome::Done => false,
        }
    }

    /// Whether a failure is final, so that the plan cannot be completed.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Whether only handlers of failures may begin now.
    fn is_halted(&self) -> bool {
        self.has_failed && self.failed > 0
    }

    pub(super) fn is_ready(&self, unit: PlanUnitIndex) -> bool {
        self.obstacle(unit).is_none() && !self.is_done(unit)
    }

    /// The reason why a unit that is not done cannot begin.
    pub(super) fn obstacle(&self, unit: PlanUnitIndex) -> Option<Obstacle> {
        let UnitProgress { outcome, waits, is_begun, is_called, goes_on, is_void } =
            self.units[unit.index()];
        let of = self.plan.unit(unit);
        if outcome == UnitOutcome::Over || is_void || self.has_failed_for_good(unit) {
            return Some(Obstacle::HasFailed);
        }
        if is_called {
            return None;
        }
        if waits > 0 {
            let mut before = of.after.iter().copied();
            return before.find(|&before| !self.is_past(before)).map(Obstacle::Waits);
        }
        if of.is_handler && of.after.is_empty() {
            return Some(Obstacle::NotCalled);
        }
        (self.is_halted() && !is_begun && !goes_on).then_some(Obstacle::Halted)
    }

    /// Whether no unit is ready any more.
    pub(super) fn is_over(&mut self) -> bool {
        if !self.has_failed {
            return self.left == 0;
        }
        // The search starts at the unit that was ready last time: it usually still is, or one after
        // it.
        let count = self.units.len();
        let from = self.seen;
        let mut all = (0..count).map(|step| (from + step) % count);
        match all.find(|&unit| self.is_ready(PlanUnitIndex::new(unit))) {
            Some(ready) => {
                self.seen = ready;
                false
            }
            None => true,
        }
    }

    /// Notes that a unit has begun, perhaps not for the first time.
    pub(super) fn begin(&mut self, unit: PlanUnitIndex) {
        let own = &mut self.units[unit.index()];
        own.is_begun = true;
        if own.outcome == UnitOutcome::Failed {
            own.outcome = UnitOutcome::Open;
            self.failed -= 1;
        }
    }

    /// Notes that a unit is done. Returns the units that may be ready now.
    pub(super) fn end(&mut self, unit: PlanUnitIndex) -> Vec<PlanUnitIndex> {
        self.units[unit.index()].outcome = UnitOutcome::Done;
        self.left -= usize::from(!self.plan.unit(unit).is_handler);
        self.release(unit)
    }

    /// Notes that a unit has failed. Returns the units that may be ready now.
    pub(super) fn fail(&mut self, unit: PlanUnitIndex) -> Vec<PlanUnitIndex> {
        let mut next: Vec<_> = self.plan.handlers_of(unit).collect();
        for &handler in &next {
            self.units[handler.index()].is_called = true;
            self.go_on(handler);
        }
        self.has_failed |= !next.is_empty();
        if !self.plan.unit(unit).is_tolerant {
            self.units[unit.index()].outcome = UnitOutcome::Failed;
            self.failed += 1;
            return next;
        }
        self.has_failed = true;
        self.units[unit.index()].outcome = UnitOutcome::Over;
        self.leave_out(unit);
        next.extend(self.release(unit));
        next
    }

    /// Leaves out the units that would only have completed this one.
    fn leave_out(&mut self, unit: PlanUnitIndex) {
        let mut open = vec![unit];
        while let Some(unit) = open.pop() {
            for &next in &self.plan.unit(unit).before {
                if self.plan.completes(unit, next) && !self.units[next.index()].is_void {
                    self.units[next.index()].is_void = true;
                    open.push(next);
                }
            }
        }
    }

    /// Releases the units that waited for this one. Returns those that wait for nothing else.
    fn release(&mut self, unit: PlanUnitIndex) -> Vec<PlanUnitIndex> {
        let (mut open, mut free) = (vec![unit], Vec::new());
        while let Some(unit) = open.pop() {
            let (goes_on, is_done) = (self.units[unit.index()].goes_on, self.is_done(unit));
            for &next in &self.plan.unit(unit).before {
                if goes_on || is_done && self.plan.completes(unit, next) {
                    self.go_on(next);
                }
                let own = &mut self.units[next.index()];
                own.waits -= 1;
                match own.waits {
                    0 if own.is_void && own.outcome == UnitOutcome::Open => {
                        own.outcome = UnitOutcome::Over;
                        open.push(next);
                    }
                    0 => free.push(next),
                    _ => {}
                }
            }
        }
        free
    }

    /// Lets a handler go on after a failure, and the units after it as well.
    fn go_on(&mut self, unit: PlanUnitIndex) {
        let mut open = vec![unit];
        while let Some(unit) = open.pop() {
            if !std::mem::replace(&mut self.units[unit.index()].goes_on, true) && self.is_past(unit)
            {
                open.extend(&self.plan.unit(unit).before);
            }
        }
    }
}
