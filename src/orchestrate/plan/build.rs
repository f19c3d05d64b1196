//! Puts steps together: each behind all that it waits for, with the round in which it can be done.

use super::model::{
    ChangeClass, PartKind, Plan, PlanCall, PlanCallIndex, PlanElement, PlanElementIndex, PlanPart,
    PlanPartIndex, PlanScopeIndex, PlanStep, PlanStepIndex, StepHost, StepWork,
};
use crate::text::source::Span;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::rc::Rc;

/// A plan while it is built.
pub(super) struct PlanBuilder {
    pub(super) plan: Plan,
    /// The round in which each step is over: that of the last one that is shown on the way to it.
    rounds: Vec<u32>,
    /// By the hash of identifier and name, or the next one where that is taken.
    elements: FxHashMap<u64, PlanElementIndex>,
    /// The calls that several steps have, by where they lie, and stay while they are kept here.
    calls: FxHashMap<*const PlanCall, (Rc<PlanCall>, PlanCallIndex)>,
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
            calls: FxHashMap::default(),
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
        let mut hash = FxBuildHasher.hash_one(&named);
        while let Some(&known) = self.elements.get(&hash) {
            let element = self.plan.element(known);
            if (&element.identifier, &element.name) == (&named.0, &named.1) {
                return known;
            }
            hash = hash.wrapping_add(1);
        }
        let id = PlanElementIndex::new(self.plan.elements.len());
        self.elements.insert(hash, id);
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

    /// A call that may be that of several steps.
    pub(super) fn shared_call(&mut self, call: Rc<PlanCall>) -> PlanCallIndex {
        match Rc::try_unwrap(call) {
            Ok(own) => self.call(own),
            Err(shared) => match self.calls.get(&Rc::as_ptr(&shared)) {
                Some((_, known)) => *known,
                None => {
                    let id = self.call((*shared).clone());
                    self.calls.insert(Rc::as_ptr(&shared), (shared, id));
                    id
                }
            },
        }
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
    pub(super) fn push<'i>(
        &mut self,
        mut step: PlanStep,
        waits: impl IntoIterator<Item = &'i PlanStepIndex>,
    ) -> PlanStepIndex {
        let id = self.next();
        step.is_shown |= step.call.is_some();
        self.wait(waits);
        let before = self.plan.after(id).iter().map(|wait| self.rounds[wait.index()]);
        let before = before.max().unwrap_or(0);
        step.wave = if step.is_shown { before + 1 } else { before };
        self.rounds.push(step.wave);
        self.plan.steps.push(step);
        id
    }

    /// What the next step waits for, each once.
    fn wait<'i>(&mut self, waits: impl IntoIterator<Item = &'i PlanStepIndex>) {
        let all = &mut self.plan.waits;
        let start = all.len();
        all.extend(waits);
        all[start..].sort_unstable();
        let mut end = start;
        for index in start..all.len() {
            if end == start || all[end - 1] != all[index] {
                all[end] = all[index];
                end += 1;
            }
        }
        all.truncate(end);
        self.plan.ends.push(end as u32);
    }

    /// Forgets where the calls of the steps of some parts are written.
    pub(super) fn forget_places(&mut self, of: impl Fn(PartKind) -> bool) {
        let plan = &mut self.plan;
        let is_of =
            |step: &&PlanStep| step.part.is_some_and(|part| of(plan.parts[part.index()].kind));
        for call in plan.steps.iter().filter(is_of).filter_map(|step| step.call) {
            let call = &mut plan.calls[call.index()];
            call.span = Span::DETACHED;
            call.inputs.iter_mut().for_each(|input| input.span = Span::DETACHED);
        }
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
