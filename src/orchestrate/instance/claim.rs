//! Claims: whoever carries out a step keeps others from reporting it until a lease is over. A claim
//! is answered with a token; the log has only its digest.

use super::event::{Event, ReportOutcome};
use super::model::{InstanceModel, StepClaim, StepStatus};
use super::report::{InstanceReport, ReportJudge};
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::digest::sha256;
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// Makes a token that nobody can guess.
pub type DrawToken<'r> = dyn Fn() -> Result<String, Diagnostic> + 'r;

/// Reads how long a lease lasts: `10m`, `90s`, `1h 30m`.
pub(super) fn lease(text: &str) -> Option<Duration> {
    let lease = text.parse::<SignedDuration>().ok()?;
    Duration::try_from(lease).ok()
}

fn wrong(message: &str) -> Diagnostic {
    Diagnostic::error(Code::InvalidValue, message)
}

fn refused(message: String) -> Diagnostic {
    Diagnostic::error(Code::StepClaimed, message).help(
        "`cuvee instance ready NAME` lists what can be done; `cuvee instance apply NAME --resume` takes over and voids all claims",
    )
}

impl InstanceReport {
    /// Whether the report claims a step, or reports one that was claimed.
    pub(crate) fn is_claiming(&self) -> bool {
        let mut is_claiming = false;
        self.all(&mut |it| is_claiming |= it.claim.is_some() || it.token.is_some());
        is_claiming
    }

    /// The token for the steps that the report claims; `None` if it claims none. All steps that one
    /// record claims have the same token.
    pub(super) fn claim_token(
        &self,
        draw: Option<&DrawToken<'_>>,
    ) -> Result<Option<Arc<str>>, Diagnostic> {
        let (mut known, mut is_new) = (None, false);
        self.all(&mut |it| match (&it.claim, &it.token) {
            (Some(_), Some(token)) => known = Some(Arc::clone(token)),
            (Some(_), None) => is_new = true,
            (None, _) => {}
        });
        if self.key.is_some() && (is_new || known.is_some()) {
            return Err(wrong(
                "a report with a `key` claims nothing: its token cannot be repeated",
            ));
        }
        match draw {
            _ if !is_new => Ok(known),
            Some(draw) => draw().map(|token| Some(token.into())),
            None => Err(wrong("no step can be claimed here, since nothing makes tokens")),
        }
    }

    /// Checks that the members which belong to claims fit together.
    fn check_claim(&self) -> Result<(), Diagnostic> {
        match (&self.step, self.claim, &self.token) {
            (_, None, None) => Ok(()),
            (None, Some(_), _) => Err(wrong("a `claim` needs a `step`, which is missing")),
            (None, None, Some(_)) => Err(wrong("a `token` needs a `step`, which is missing")),
            (Some(_), Some(_), _) if self.outcome.is_some() => {
                Err(wrong("a step is claimed before it has an `outcome`"))
            }
            (Some(_), Some(Duration::ZERO), _) => Err(wrong("a lease lasts longer than nothing")),
            _ => Ok(()),
        }
    }
}

impl ReportJudge<'_, '_, '_, '_, '_, '_> {
    /// Refuses a report of a step that somebody else has claimed. If the lease is over, the step is
    /// interrupted, and the report counts.
    pub(super) fn pass_claims(&mut self, report: &InstanceReport) -> Result<(), Diagnostic> {
        report.check_claim()?;
        if is_told(self.record.model(), report) {
            return Ok(());
        }
        let Some(open) = &self.record.model().orchestration else { return Ok(()) };
        let claims = open.claims.iter().filter(|(claimed, _)| self.concerns(claimed, report));
        let token = report.token.as_ref().map(|token| sha256(token.as_bytes()));
        let is_own = |claim: &StepClaim| token.as_deref() == Some(&*claim.token);
        let (own, others): (Vec<_>, Vec<_>) = claims.partition(|(_, claim)| is_own(claim));
        if token.is_some() && own.is_empty() {
            let step = report.step.as_deref().unwrap_or_default();
            return Err(refused(format!(
                "the token fits no claim of `{step}`: it is another one, or the claim is void"
            )));
        }
        let is_own_step = own.iter().any(|(step, _)| Some(*step) == report.step.as_ref());
        let mut over = Vec::new();
        for (step, claim) in others {
            if !claim.is_over(self.now()?) {
                let StepClaim { actor, until, .. } = claim;
                return Err(refused(format!("`{step}` is claimed by `{actor}` until {until}")));
            }
            over.push(Arc::clone(step));
        }
        for step in over {
            let outcome = ReportOutcome::Interrupted;
            self.add(Event::StepEnded { step, outcome, message: None })?;
        }
        match &report.step {
            Some(step) if report.claim.is_some() && !is_own_step && self.is_running(step) => {
                Err(refused(format!("`{step}` has begun, and who began it did not claim it")))
            }
            _ => Ok(()),
        }
    }

    /// Whether a report reports something of a claimed step.
    fn concerns(&self, claimed: &Arc<str>, report: &InstanceReport) -> bool {
        let node = report.node.as_ref().filter(|_| report.state.is_some());
        match &self.orchestration {
            Some(running) => {
                let node = node.map(|node| self.node_id(node));
                running.concerns(claimed, report.step.as_deref(), node.as_deref())
            }
            None => report.step.as_ref() == Some(claimed),
        }
    }

    /// Adds the claim of the step that the report has begun.
    pub(super) fn claim(&mut self, report: &InstanceReport) -> Result<(), Diagnostic> {
        let (Some(step), Some(lease)) = (&report.step, report.claim) else { return Ok(()) };
        let Some(token) = report.token.as_ref().or(self.token) else { return Ok(()) };
        let now = self.now()?;
        let lease = SignedDuration::try_from(lease).ok();
        let until = lease.and_then(|lease| now.checked_add(lease).ok());
        let until = until.ok_or_else(|| wrong("the lease is too long"))?.to_string().into();
        let token: Arc<str> = sha256(token.as_bytes()).into();
        let known = self.record.model().orchestration.as_ref();
        let known = known.and_then(|open| open.claims.get(step));
        if known.is_some_and(|known| known.token == token && known.until == until) {
            return Ok(());
        }
        self.add(Event::StepClaimed { step: Arc::clone(step), token, until })
    }

    /// Whether a step or part is running.
    pub(super) fn is_running(&self, step: &str) -> bool {
        status(self.record.model(), step) == Some(StepStatus::Running)
    }

    fn now(&self) -> Result<Timestamp, Diagnostic> {
        let time = self.record.time();
        time.parse().map_err(|_| wrong(&format!("the time of the record, `{time}`, is no time")))
    }
}

fn status(model: &InstanceModel, step: &str) -> Option<StepStatus> {
    model.orchestration.as_ref()?.steps.get(step).copied()
}

/// Whether the report only repeats that a step is done, which changes nothing.
fn is_told(model: &InstanceModel, report: &InstanceReport) -> bool {
    let status = report.step.as_ref().and_then(|step| status(model, step));
    let is_done = report.outcome == Some(ReportOutcome::Done) && status == Some(StepStatus::Done);
    is_done && report.state.is_none()
}
