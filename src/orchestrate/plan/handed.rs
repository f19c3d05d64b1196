//! Hands a plan over to another orchestrator, which does all of it in one step.

use super::model::{Plan, PlanScopeIndex, PlanStep, PlanStepIndex, StepHost, StepWork};

impl Plan {
    /// The plan in which one step of this orchestrator takes the place of all steps that run
    /// something. The nodes and relations come and go behind it.
    ///
    /// ```
    /// use cuvee::deploy::plan::PlanQuery;
    /// let plan = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?.result;
    /// let handed = plan.handed_over("opera");
    /// let runs: Vec<_> = handed.step_ids().filter(|&step| handed.step(step).is_run()).collect();
    /// assert_eq!(runs.len(), 1);
    /// assert_eq!(handed.identifier(runs[0]), "deploy/opera");
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    #[must_use]
    pub fn handed_over(mut self, orchestrator: &str) -> Self {
        let behind = |id: PlanStepIndex| PlanStepIndex::new(id.index() + 1);
        let first = PlanStepIndex::new(0);
        let (mut waits, mut ends) = (Vec::with_capacity(self.waits.len()), vec![0]);
        for id in self.step_ids() {
            match self.after(id) {
                [] => waits.push(first),
                before => waits.extend(before.iter().copied().map(behind)),
            }
            ends.push(waits.len() as u32);
        }
        (self.waits, self.ends) = (waits, ends);
        self.parts.iter_mut().for_each(|part| part.first = behind(part.first));
        self.steps.iter_mut().for_each(PlanStep::take_over);
        self.calls.clear();
        if self.scopes.is_empty() {
            self.scopes.push(String::new());
            self.scope_owners.push(None);
        }
        self.names.push(orchestrator.to_owned());
        let work = StepWork::Delegate(self.names.len() as u32 - 1);
        self.steps.insert(0, PlanStep::handing_over(work));
        self.repeats.clear();
        self.number_repeats();
        self
    }
}

impl PlanStep {
    /// The step that another orchestrator does.
    fn handing_over(work: StepWork) -> Self {
        Self {
            scope: PlanScopeIndex::new(0),
            element: None,
            work,
            call: None,
            host: StepHost::Orchestrator,
            part: None,
            activity: None,
            wave: 1,
            is_handler: false,
            is_shown: true,
            is_idle: false,
        }
    }

    /// Leaves nothing to run, since another orchestrator does it.
    fn take_over(&mut self) {
        if self.is_run() && !matches!(self.work, StepWork::Operation(_)) {
            self.work = StepWork::Nothing;
        }
        (self.call, self.host) = (None, StepHost::None);
        (self.wave, self.is_shown, self.is_idle) = (1, false, false);
    }
}
