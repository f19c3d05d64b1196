//! Puts steps together: each behind all that it waits for, with the round in which it can be done.

use super::model::{
    ChangeClass, PartKind, Plan, PlanCall, PlanCallIndex, PlanElement, PlanElementIndex, PlanPart,
    PlanPartIndex, PlanScopeIndex, PlanStep, PlanStepIndex, StepHost, StepWork,
};
use rustc_hash::FxHashMap;

/// A plan while it is built.
pub(super) struct PlanBuilder {
    pub(super) plan: Plan,
    /// The round in which each step is over: that of the last one that is shown on the way to it.
    rounds: Vec<u32>,
    /// By identifier and name.
    elements: FxHashMap<(String, String), PlanElementIndex>,
    /// Where each host does its calls one after the other, the last one so far.
    last_calls: FxHashMap<PlanElementIndex, PlanStepIndex>,
    scope: PlanScopeIndex,
    /// Whether the steps that follow are done only where another one fails.
    is_handling: bool,
    /// Whether calls on one host may run side by side.
    is_parallel: bool,
}

impl PlanBuilder {
    pub(super) fn new(workflow: &str, is_generated: bool, is_parallel: bool) -> Self {
        Self {
            plan: Plan {
                workflow: workflow.to_owned(),
                is_generated,
                scopes: vec![String::new()],
                scope_owners: vec![None],
                ..Plan::default()
            },
            rounds: Vec::new(),
            elements: FxHashMap::default(),
            last_calls: FxHashMap::default(),
            scope: PlanScopeIndex::new(0),
            is_handling: false,
            is_parallel,
        }
    }

    /// The element of this identifier and name; made where it is not there yet.
    pub(super) fn element(
        &mut self,
        named: (String, String),
        make: impl FnOnce((String, String)) -> PlanElement,
    ) -> PlanElementIndex {
        if let Some(&known) = self.elements.get(&named) {
            return known;
        }
        let id = PlanElementIndex::new(self.plan.elements.len());
        self.elements.insert(named.clone(), id);
        self.plan.elements.push(make(named));
        id
    }

    /// A name that steps refer to.
    pub(super) fn name(&mut self, name: &str) -> u32 {
        let names = &mut self.plan.names;
        let known = names.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        }) as u32
    }

    /// Lets the steps that follow stand in a workflow that is inlined for this written step; gives
    /// back where they stood.
    pub(super) fn enter(&mut self, scope: String, written: u32) -> PlanScopeIndex {
        self.plan.scopes.push(scope);
        self.plan.scope_owners.push(Some((self.scope, written)));
        std::mem::replace(&mut self.scope, PlanScopeIndex::new(self.plan.scopes.len() - 1))
    }

    /// Lets the steps that follow stand where others stood before.
    pub(super) fn leave(&mut self, scope: PlanScopeIndex) {
        self.scope = scope;
    }

    /// The prefix of all identifiers where steps stand now.
    pub(super) fn scope(&self) -> &str {
        &self.plan.scopes[self.scope.index()]
    }

    /// Lets the steps that follow be done only where another one fails, if those before are not so
    /// already; gives back whether they are.
    pub(super) fn handle(&mut self, is_handler: bool) -> bool {
        let was_handling = self.is_handling;
        self.is_handling |= is_handler;
        was_handling
    }

    /// Lets the steps that follow be done as others were before.
    pub(super) fn handled(&mut self, was_handling: bool) {
        self.is_handling = was_handling;
    }

    pub(super) fn call(&mut self, call: PlanCall) -> PlanCallIndex {
        self.plan.calls.push(call);
        PlanCallIndex::new(self.plan.calls.len() - 1)
    }

    /// The step that will be pushed next.
    pub(super) fn next(&self) -> PlanStepIndex {
        PlanStepIndex::new(self.plan.steps.len())
    }

    /// A step of what stands here now, without a call.
    pub(super) fn step(&self, element: Option<PlanElementIndex>, work: StepWork) -> PlanStep {
        PlanStep {
            scope: self.scope,
            element,
            work,
            call: None,
            host: StepHost::None,
            part: None,
            activity: None,
            wave: 0,
            is_handler: self.is_handling,
            is_shown: work.is_delegated() || work == StepWork::External,
        }
    }

    /// Adds a step behind those that it waits for.
    pub(super) fn push(&mut self, mut step: PlanStep, waits: &[PlanStepIndex]) -> PlanStepIndex {
        let id = self.next();
        step.is_shown |= step.call.is_some();
        let start = self.plan.waits.len();
        let mut waits = waits.to_vec();
        waits.sort_unstable();
        waits.dedup();
        self.plan.waits.append(&mut waits);
        self.plan.ends.push(self.plan.waits.len() as u32);
        let before = self.plan.waits[start..].iter().map(|wait| self.rounds[wait.index()]);
        let before = before.max().unwrap_or(0);
        step.wave = if step.is_shown { before + 1 } else { before };
        self.rounds.push(step.wave);
        self.plan.steps.push(step);
        id
    }

    /// Lets people see a step that stands for a node with nothing to run; nothing waits for it yet.
    pub(super) fn show(&mut self, id: PlanStepIndex) {
        let step = &mut self.plan.steps[id.index()];
        if !step.is_shown {
            step.is_shown = true;
            step.wave += 1;
            self.rounds[id.index()] = step.wave;
        }
    }

    /// The last call on a host, which this one has to wait for; from now on this is the last one.
    /// Nothing where calls may run side by side.
    pub(super) fn last_call(
        &mut self,
        host: StepHost,
        next: PlanStepIndex,
    ) -> Option<PlanStepIndex> {
        let StepHost::Element(host) = host else { return None };
        if self.is_parallel {
            return None;
        }
        self.last_calls.insert(host, next)
    }

    /// Forgets which calls were the last: those of another workflow know nothing of them.
    pub(super) fn forget_calls(&mut self) {
        self.last_calls.clear();
    }

    /// Begins a part; its steps are those that are pushed until it is closed.
    pub(super) fn open_part(
        &mut self,
        element: Option<PlanElementIndex>,
        kind: PartKind,
        class: ChangeClass,
    ) -> PlanPartIndex {
        let id = PlanPartIndex::new(self.plan.parts.len());
        let first = self.next();
        self.plan.parts.push(PlanPart { element, kind, class, after: Vec::new(), first, steps: 0 });
        id
    }

    /// Ends a part: its steps are known, and with them which parts it comes after.
    pub(super) fn close_part(&mut self, id: PlanPartIndex) {
        let first = self.plan.parts[id.index()].first;
        let mut after = Vec::new();
        for step in first.index()..self.plan.steps.len() {
            let waits = self.plan.after(PlanStepIndex::new(step));
            let parts = waits.iter().filter_map(|wait| self.plan.step(*wait).part);
            after.extend(parts.filter(|&part| part != id));
        }
        after.sort_unstable();
        after.dedup();
        let part = &mut self.plan.parts[id.index()];
        part.after = after;
        part.steps = (self.plan.steps.len() - first.index()) as u32;
    }
}
