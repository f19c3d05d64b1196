//! How far a plan is: what can be done next, and what failures make of that (statement I9).

use super::document::{AppliedPlan, PlanUnitIndex};

/// What has become of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum UnitOutcome {
    /// Nothing yet.
    #[default]
    Open,
    /// It has failed, and what comes behind it waits.
    Failed,
    /// It has failed, or belongs to what has, and holds nothing up.
    Over,
    /// It was done.
    Done,
}

#[derive(Clone, Copy, Debug, Default)]
struct UnitProgress {
    outcome: UnitOutcome,
    /// For how many others it waits.
    waits: u32,
    /// Whether somebody has begun it.
    is_begun: bool,
    /// Whether what it handles has failed.
    is_called: bool,
    /// Whether it is done although something has failed: what follows from that.
    goes_on: bool,
    /// Whether it is not done, and holds nothing up, because it belongs to what has failed.
    is_void: bool,
}

/// Why a unit cannot be begun.
pub(super) enum Obstacle {
    /// It comes after this one.
    Waits(PlanUnitIndex),
    /// Nothing has failed that it handles.
    NotCalled,
    /// It has failed, or belongs to what has.
    HasFailed,
    /// Something has failed, and what has not begun does not begin any more.
    Halted,
}

/// How far a plan is. It follows from what has become of each unit, in whatever order that was.
#[derive(Debug)]
pub(super) struct PlanProgress<'p> {
    plan: &'p AppliedPlan,
    units: Vec<UnitProgress>,
    /// How many units are not done that are to be done where nothing fails.
    left: usize,
    /// How many have failed, and hold up what comes behind them.
    failed: usize,
    /// Whether something has failed for good: it is handled, or others go on without it.
    has_failed: bool,
    /// A unit that could be done when that was asked last.
    seen: usize,
}

impl<'p> PlanProgress<'p> {
    /// That of a plan of which nothing is done.
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

    /// Whether a unit holds nothing up any more.
    pub(super) fn is_past(&self, unit: PlanUnitIndex) -> bool {
        matches!(self.units[unit.index()].outcome, UnitOutcome::Done | UnitOutcome::Over)
    }

    /// Whether a unit has failed, and is not tried again.
    pub(super) fn has_failed_for_good(&self, unit: PlanUnitIndex) -> bool {
        match self.units[unit.index()].outcome {
            UnitOutcome::Failed => self.is_halted(),
            UnitOutcome::Over => !self.units[unit.index()].is_void,
            UnitOutcome::Open | UnitOutcome::Done => false,
        }
    }

    /// Whether something has failed so that the plan cannot be done any more.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Whether nothing begins any more but what handles failures.
    fn is_halted(&self) -> bool {
        self.has_failed && self.failed > 0
    }

    pub(super) fn is_ready(&self, unit: PlanUnitIndex) -> bool {
        self.obstacle(unit).is_none() && !self.is_done(unit)
    }

    /// Why a unit that is not done cannot be begun.
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

    /// Whether nothing can be done any more.
    pub(super) fn is_over(&mut self) -> bool {
        if !self.has_failed {
            return self.left == 0;
        }
        // What could be done the last time still can, most of the time, or what stands behind it.
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

    /// Notes that a unit has begun, maybe again.
    pub(super) fn begin(&mut self, unit: PlanUnitIndex) {
        let own = &mut self.units[unit.index()];
        own.is_begun = true;
        if own.outcome == UnitOutcome::Failed {
            own.outcome = UnitOutcome::Open;
            self.failed -= 1;
        }
    }

    /// Notes that a unit is done; gives what may be ready now.
    pub(super) fn end(&mut self, unit: PlanUnitIndex) -> Vec<PlanUnitIndex> {
        self.units[unit.index()].outcome = UnitOutcome::Done;
        self.left -= usize::from(!self.plan.unit(unit).is_handler);
        self.release(unit)
    }

    /// Notes that a unit has failed; gives what may be ready now.
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

    /// What would have said that a unit is done is not done.
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

    /// Lets go on what has waited for a unit only; gives it.
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

    /// What handles a failure goes on, and what follows from that.
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
