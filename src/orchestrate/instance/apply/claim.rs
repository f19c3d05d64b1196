//! Claims of steps and parts, as far as a plan tells which of them belong together.

use super::Orchestration;
use super::document::{PlanName, PlanUnitIndex};
use crate::orchestrate::instance::event::{Event, ReportOutcome};
use crate::orchestrate::instance::model::{InstanceModel, StepClaim, StepStatus};
use crate::orchestrate::instance::reduce::ImpossibleEvent;
use crate::orchestrate::instance::unwritten::Unwritten;
use jiff::Timestamp;
use std::sync::Arc;

/// A step or part that somebody has claimed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ClaimedStep {
    /// The identifier of the step or part.
    pub step: Arc<str>,
    /// The actor who claimed it.
    pub actor: Arc<str>,
    /// The time at which the lease is over.
    pub until: Arc<str>,
}

impl InstanceModel {
    /// The steps and parts that are claimed with a lease that is not over.
    pub fn claimed_steps(&self, now: Timestamp) -> Vec<ClaimedStep> {
        let claims = self.orchestration.iter().flat_map(|open| &open.claims);
        let claimed = claims.filter(|(_, claim)| !claim.is_over(now));
        let step = |(step, claim): (&Arc<str>, &StepClaim)| ClaimedStep {
            step: Arc::clone(step),
            actor: Arc::clone(&claim.actor),
            until: Arc::clone(&claim.until),
        };
        claimed.map(step).collect()
    }

    /// The claim of a step or part.
    pub(super) fn claim_of(&self, id: &str) -> Option<&StepClaim> {
        self.orchestration.as_ref()?.claims.get(id)
    }
}

impl PlanName {
    /// The unit that is named, or that contains the named step.
    fn unit(self) -> PlanUnitIndex {
        let (Self::Unit(unit) | Self::Step(_, unit)) = self;
        unit
    }
}

impl Orchestration<'_> {
    /// Whether a report of `step`, or of a state of `node`, reports something of a claimed step: of
    /// this step, or of a part of which one contains the other.
    pub(in crate::orchestrate::instance) fn concerns(
        &self,
        claimed: &str,
        step: Option<&str>,
        node: Option<&str>,
    ) -> bool {
        let Some(claimed) = self.plan.named(claimed) else { return false };
        let is_same = |said: PlanName| match (claimed, said) {
            (PlanName::Step(one, _), PlanName::Step(other, _)) => one == other,
            (claimed, said) => claimed.unit() == said.unit(),
        };
        step.and_then(|step| self.plan.named(step)).is_some_and(is_same)
            || node.and_then(|node| self.current(node)) == Some(claimed.unit())
    }

    /// Ends the claimed steps of a unit that ends itself.
    pub(super) fn end_claimed(
        &self,
        record: &mut Unwritten<'_>,
        unit: PlanUnitIndex,
        outcome: ReportOutcome,
    ) -> Result<(), ImpossibleEvent> {
        let claims = record.model().orchestration.iter().flat_map(|open| open.claims.keys());
        let is_within = |id: &&Arc<str>| {
            let of = self.plan.named(id).map(PlanName::unit);
            of == Some(unit) && **id != self.plan.unit(unit).id
        };
        let steps: Vec<_> = claims.filter(is_within).cloned().collect();
        let ended = |step| Event::StepEnded { step, outcome, message: None };
        steps.into_iter().try_for_each(|step| record.add(ended(step)))
    }

    /// The status of a step at a time: one whose lease is over counts as interrupted.
    pub(super) fn status_at(model: &InstanceModel, id: &str, now: Timestamp) -> Option<StepStatus> {
        match model.claim_of(id) {
            Some(claim) if claim.is_over(now) => Some(StepStatus::Interrupted),
            _ => Self::status(model, id),
        }
    }
}
