//! Builds plans: adds each step after all that it waits for, and computes the round in which it can
//! be done.

use super::model::{
    ChangeClass, PartKind, Plan, PlanCall, PlanCallIndex, PlanElement, PlanElementIndex, PlanPart,
    PlanPartIndex, PlanScopeIndex, PlanStep, PlanStepIndex, StepHost, StepWork,
};
use cuvee_text::source::Span;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::rc::Rc;

/// A plan while it is built.
pub(super) struct PlanBuilder {
    pub(super) plan: Plan,
    /// Whether calls at one node on one host keep the order of the template. Where it is open which
    /// of them exist, whoever knows has to order them.
    pub(super) keeps_order: bool,
    /// The round in which each step ends: that of the last step on the way to it that takes one.
    rounds: Vec<u32>,
    /// The elements by a hash of identifier and name; on a collision the next number is used.
    elements: FxHashMap<u64, PlanElementIndex>,
    /// The calls that several steps share, by address. Keeping them here keeps addresses valid.
    calls: FxHashMap<*const PlanCall, (Rc<PlanCall>, PlanCallIndex)>,
    /// The last call on each host, if calls there run one after the other.
    last_calls: FxHashMap<PlanElementIndex, PlanStepIndex>,
    scope: PlanScopeIndex,
    /// Whether the steps that follow are done only if another one fails.
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
            keeps_order: true,
            rounds: Vec::new(),
            elements: FxHashMap::default(),
            calls: FxHashMap::default(),
            last_calls: FxHashMap::default(),
            scope: PlanScopeIndex::new(0),
            is_handling: false,
            is_parallel,
        }
    }

    /// The element with this identifier and name; `make` makes it if it does not exist yet.
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

    /// The index of a name that steps refer to.
    pub(super) fn name(&mut self, name: &str) -> u32 {
        let names = &mut self.plan.names;
        let known = names.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        }) as u32
    }

    /// Enters a workflow that is inlined for this written step. Returns the scope that was left.
    pub(super) fn enter(&mut self, scope: String, written: u32) -> PlanScopeIndex {
        self.plan.scopes.push(scope);
        self.plan.scope_owners.push(Some((self.scope, written)));
        std::mem::replace(&mut self.scope, PlanScopeIndex::new(self.plan.scopes.len() - 1))
    }

    /// Returns to an earlier scope.
    pub(super) fn leave(&mut self, scope: PlanScopeIndex) {
        self.scope = scope;
    }

    /// The prefix of the identifiers in the present scope.
    pub(super) fn scope(&self) -> &str {
        &self.plan.scopes[self.scope.index()]
    }

    /// Marks the steps that follow as failure handlers, if they are. Returns whether earlier steps
    /// were marked already.
    pub(super) fn handle(&mut self, is_handler: bool) -> bool {
        let was_handling = self.is_handling;
        self.is_handling |= is_handler;
        was_handling
    }

    /// Restores the mark that `handle` returned.
    pub(super) fn handled(&mut self, was_handling: bool) {
        self.is_handling = was_handling;
    }

    pub(super) fn call(&mut self, call: PlanCall) -> PlanCallIndex {
        self.plan.calls.push(call);
        PlanCallIndex::new(self.plan.calls.len() - 1)
    }

    /// The index of a call that several steps may share.
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

    /// A step of this element in the present scope, without a call.
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
            is_idle: false,
        }
    }

    /// Adds a step after those that it waits for.
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
        step.wave = if step.takes_wave() { before + 1 } else { before };
        self.rounds.push(step.wave);
        self.plan.steps.push(step);
        id
    }

    /// Records the steps that the next step waits for, each once.
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

    /// Removes the source places from the calls of some parts.
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

    /// Makes a step visible that stands for a node with nothing to run.
    pub(super) fn show(&mut self, id: PlanStepIndex) {
        let step = &mut self.plan.steps[id.index()];
        step.is_idle = !step.is_shown;
        step.is_shown = true;
    }

    /// The last call on a host, for which this one has to wait; this one becomes the last. `None`
    /// if calls may run side by side.
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

    /// Forgets the last calls on hosts, because another workflow begins.
    pub(super) fn forget_calls(&mut self) {
        self.last_calls.clear();
    }

    /// Opens a part. It gets all steps that are pushed until it is closed.
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

    /// Closes a part: counts its steps, and finds the parts that it comes after.
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
