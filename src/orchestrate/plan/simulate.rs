//! Simulates carrying out a plan, round by round, without running anything (statements S1 to S7 of
//! simulation, I9 of failures).

use super::condition::{
    AskedAttribute, AskedNodes, Condition, ConditionCheck, DecidingAssertion, FoundValue,
};
use super::flow::{Flow, completes, is_tolerant};
use super::model::{
    ChangeClass, Guard, InstanceCount, KnownAttribute, Plan, PlanElementIndex, PlanElementKind,
    PlanStepIndex, StepWork,
};
use super::start::StartStates;
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, did_you_mean};
use crate::tosca::NodeState;
use crate::tosca::function::{Function, function_in};
use crate::tosca::sensitive::is_sensitive_name;
use crate::tosca::v2_0;
use crate::tosca::value::TextType;
use cuvee_text::value::Value;
use cuvee_text::yaml::write_flow;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How a plan is simulated.
#[derive(Clone, Debug, Default)]
pub struct SimulationOptions {
    /// The steps that fail: their identifiers, or beginnings of these.
    pub fail: Vec<String>,
    /// Whether an unknown condition counts as not met.
    pub assume_unmet: bool,
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepOutcome {
    /// It was not begun.
    NotReached,
    /// It was done.
    Done,
    /// A condition did not hold.
    Skipped,
    /// It failed.
    Failed,
}

impl StepOutcome {
    /// All outcomes, in the order in which messages count them.
    pub const ALL: [Self; 4] = [Self::Done, Self::Failed, Self::Skipped, Self::NotReached];

    /// The name for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotReached => "not-reached",
            Self::Done => "done",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }
}

/// An event of the simulation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SimulationEvent<'p> {
    /// The round of the event.
    pub wave: u32,
    /// The step of the event.
    pub step: PlanStepIndex,
    /// The outcome of the step.
    pub outcome: StepOutcome,
    /// The node whose state the step changed.
    pub element: Option<PlanElementIndex>,
    /// The states before and after.
    pub states: Option<(&'p str, &'p str)>,
}

/// The result of a simulation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Simulation<'p> {
    /// The events, in order.
    pub events: Vec<SimulationEvent<'p>>,
    /// The outcome of each step.
    pub outcomes: Vec<StepOutcome>,
    /// The state of each element before the plan.
    pub before: Vec<&'p str>,
    /// The state of each element at the end; [`GONE`](Self::GONE) if it does not exist any more.
    pub states: Vec<&'p str>,
    /// The names of the steps that ran because others had failed.
    pub handled_by: Vec<&'p str>,
    /// Whether the workflow failed to do all of its work.
    pub has_failed: bool,
    /// The errors, warnings and notes of the simulation.
    pub diagnostics: Diagnostics,
}

impl Simulation<'_> {
    /// The state of an element that does not exist any more.
    pub const GONE: &'static str = "-";
}

/// Simulates a plan.
///
/// ```
/// use cuvee::deploy::plan::{PlanQuery, SimulationOptions, StartStates, simulate};
/// let plan = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?.result;
/// let start = StartStates::default();
/// let simulation = simulate(&plan, &start, &SimulationOptions::default()).unwrap();
/// assert!(!simulation.has_failed);
/// # Ok::<(), cuvee::Failure>(())
/// ```
///
/// # Errors
/// `unknown-element` for a step to fail that does not exist, and for a node with a start state that
/// a generated plan does not contain.
pub fn simulate<'p>(
    plan: &'p Plan,
    start: &'p StartStates,
    how: &SimulationOptions,
) -> Result<Simulation<'p>, Diagnostics> {
    let mut simulator = Simulator::new(plan, start, how)?;
    if simulator.may_begin() {
        simulator.run();
    } else {
        simulator.simulation.has_failed = true;
    }
    Ok(simulator.simulation)
}

/// A simulation while it runs.
pub(super) struct Simulator<'p> {
    plan: &'p Plan,
    flow: Flow,
    assume_unmet: bool,
    pub(super) simulation: Simulation<'p>,
    /// The nodes of the plan, by name.
    nodes: FxHashMap<&'p str, PlanElementIndex>,
    /// The values of attributes. The value is `None` if it is unknown.
    attributes: FxHashMap<(PlanElementIndex, &'p str), Option<&'p Value>>,
    fails: Vec<bool>,
    /// How many steps each one still waits for.
    waits: Vec<u32>,
    /// For each step whether it may begin after a failure, because a handler leads to it.
    goes_on: Vec<bool>,
    /// For each step whether it is left out, because it completes a step that has failed. Others do
    /// not wait for it.
    is_void: Vec<bool>,
    /// Whether no further step begins.
    is_halted: bool,
    wave: u32,
    /// The visible steps that may begin in the next round.
    next: Vec<PlanStepIndex>,
    /// The invisible steps that are done in this round, and those that are left out.
    passing: BinaryHeap<Reverse<PlanStepIndex>>,
    /// The results of guards, by scope, place and element.
    guards: FxHashMap<GuardKey, bool>,
    /// The written activities that were warned of already.
    warned: FxHashSet<(u32, u32)>,
}

type GuardKey = (usize, cuvee_text::source::Span, Option<PlanElementIndex>);

/// The state of an element that is not known.
const UNKNOWN: &str = "?";

impl<'p> Simulator<'p> {
    pub(super) fn new(
        plan: &'p Plan,
        start: &'p StartStates,
        how: &SimulationOptions,
    ) -> Result<Self, Diagnostics> {
        let fails = failing(plan, &how.fail)?;
        let flow = Flow::of(plan);
        let before = default_states(plan);
        let mut simulator = Self {
            plan,
            assume_unmet: how.assume_unmet,
            simulation: Simulation {
                events: Vec::new(),
                outcomes: vec![StepOutcome::NotReached; plan.steps.len()],
                states: Vec::new(),
                before,
                handled_by: Vec::new(),
                has_failed: false,
                diagnostics: Diagnostics::default(),
            },
            nodes: nodes(plan),
            attributes: FxHashMap::default(),
            fails,
            waits: flow.waits.clone(),
            flow,
            goes_on: vec![false; plan.steps.len()],
            is_void: vec![false; plan.steps.len()],
            is_halted: false,
            wave: 0,
            next: Vec::new(),
            passing: BinaryHeap::new(),
            guards: FxHashMap::default(),
            warned: FxHashSet::default(),
        };
        simulator.begin_at(start)?;
        Ok(simulator)
    }

    /// Takes over the given states and attributes of nodes.
    fn begin_at(&mut self, start: &'p StartStates) -> Result<(), Diagnostics> {
        let mut unknown = Diagnostics::default();
        let mut given: FxHashSet<PlanElementIndex> = FxHashSet::default();
        for node in &start.nodes {
            let Some(element) = self.started(&node.name) else {
                let is_known = self.is_elsewhere(&node.name);
                // Other workflows need not act on every node of the instance.
                if self.plan.is_generated || !is_known && node.span.is_some() {
                    let message = format!("there is no node `{}` in this plan", node.name);
                    let error = Diagnostic::error(Code::UnknownElement, message).at(node.span);
                    let names = self.plan.node_names.iter().map(|name| &**name);
                    let help = did_you_mean(&node.name, self.nodes.keys().copied().chain(names));
                    unknown.push(error.help_opt(help));
                }
                continue;
            };
            let is_first = given.insert(element);
            if let Some(state) = &node.state {
                let before = &mut self.simulation.before[element.index()];
                // A template is as far as the least of its nodes.
                if is_first || is_less(state, before) {
                    *before = state;
                }
            }
            for (name, value) in &node.attributes {
                let known = self.attributes.entry((element, name)).or_insert(Some(value));
                // Nodes of one template may have different values.
                if *known != Some(value) {
                    *known = None;
                }
            }
        }
        self.simulation.states = self.simulation.before.clone();
        if unknown.has_errors() { Err(unknown) } else { Ok(()) }
    }

    /// The element of a node with a given state. It may be one of the nodes of a template: `app@0`.
    fn started(&self, name: &str) -> Option<PlanElementIndex> {
        self.nodes.get(name).copied().or_else(|| {
            let (template, index) = name.rsplit_once('@')?;
            let (element, index) = (*self.nodes.get(template)?, index.parse::<u64>().ok()?);
            let is_there = match self.plan.element(element).count {
                InstanceCount::One => false,
                InstanceCount::Known(count) => index < count,
                InstanceCount::Open => true,
            };
            is_there.then_some(element)
        })
    }

    /// Whether a node that the plan does not act on is one of the template.
    fn is_elsewhere(&self, name: &str) -> bool {
        let template = name.rsplit_once('@').map(|(template, _)| template);
        let template = template.filter(|template| !self.nodes.contains_key(template));
        self.plan.node_names.iter().any(|known| known == name || Some(&**known) == template)
    }

    /// Forgets the states of nodes that nobody gave, unless nothing is deployed yet.
    pub(super) fn forget_states(&mut self, start: &StartStates) {
        if is_deployment(self.plan) {
            return;
        }
        let given = start.nodes.iter().filter(|node| node.state.is_some());
        let given: FxHashSet<_> =
            given.filter_map(|node| self.started(&node.name)).map(|it| it.index()).collect();
        let states = self.simulation.states.iter_mut().enumerate();
        let forgotten = states.filter(|(element, _)| !given.contains(element));
        forgotten.for_each(|(_, state)| *state = UNKNOWN);
    }

    /// Checks all preconditions of the workflow.
    pub(super) fn may_begin(&mut self) -> bool {
        let plan = self.plan;
        let mut may = true;
        for guard in &plan.preconditions {
            let (holds, violated) = self.holds(guard);
            may &= holds;
            let reported = if holds { Vec::new() } else { violated };
            let errors = reported.into_iter().map(|it| self.failed_precondition(guard, &it));
            let errors: Vec<_> = errors.collect();
            self.simulation.diagnostics.0.extend(errors);
        }
        may
    }

    fn failed_precondition(&self, guard: &Guard, why: &DecidingAssertion) -> Diagnostic {
        let found = match &why.value {
            Some(_) if self.is_sensitive(why) => "is a secret".to_owned(),
            Some(value) => format!("is `{}`", write_flow(value)),
            None => "is not known".to_owned(),
        };
        let violates = match &why.value {
            None => format!("so `{}` counts as not met", why.clause),
            Some(_) => format!("which violates `{}`", why.demand),
        };
        let message = match self.asked(why) {
            Some(asked) => format!("{asked} {found}, {violates}"),
            None => {
                let written = guard.written.as_ref().map(write_flow);
                format!("`{}` does not hold", written.as_ref().unwrap_or(&why.demand))
            }
        };
        let error = Diagnostic::error(Code::FailedPrecondition, message).at(guard.span);
        cited(error.section("3.6.26"), self.plan.is_2_0)
    }

    /// The attribute that decides, for people.
    fn asked(&self, why: &DecidingAssertion) -> Option<String> {
        let named = why.element.map(|element| &self.plan.element(element).name);
        let of = named.or(why.of.as_ref()).map_or("?", |name| name);
        Some(format!("`{}` of `{of}`", why.attribute.as_ref()?))
    }

    /// Whether a guard holds, and which assertions it violates. A note about unknown values is
    /// given once.
    fn holds(&mut self, guard: &Guard) -> (bool, Vec<DecidingAssertion>) {
        let found = |asked: AskedAttribute<'_>| self.found(guard.element, asked);
        let forms = |asked: AskedAttribute<'_>, path: &[String]| {
            self.form(guard.element, asked)?.at(path).cloned()
        };
        let mut check = ConditionCheck { forms: &forms, ..ConditionCheck::new(&found) };
        let holds = check.holds(&Condition::read(&guard.condition));
        let ConditionCheck { mut violated, unknown, .. } = check;
        if holds.is_some() {
            return (holds == Some(true), violated);
        }
        let taken = if self.assume_unmet { "not met" } else { "met" };
        for why in &unknown {
            let whether = match self.asked(why) {
                Some(asked) => format!("{asked} fulfils `{}`", why.clause),
                None => format!("`{}` holds", why.clause),
            };
            let message = format!("whether {whether} is not known; it is taken as {taken}");
            let note = Diagnostic::note(Code::Undecidable, message).at(guard.span);
            // A value that is computed is known once functions have their values.
            let is_computed = why.element.zip(why.attribute.as_ref()).map_or_else(
                || asks_input(&guard.condition),
                |(element, name)| {
                    let known = self.beginning(element, name);
                    known.is_some_and(|known| function_in(&known.value).is_some())
                },
            );
            let help = match is_computed {
                true => "give functions their values with `--evaluate`",
                false => "give its value in a file for `--state`",
            };
            let note = cited(note.section("3.6.25").help(help), self.plan.is_2_0);
            self.simulation.diagnostics.push(note);
        }
        violated.extend(unknown);
        (!self.assume_unmet, violated)
    }

    /// The node or group of this name; without a name the element that a condition is about.
    fn meant(
        &self,
        subject: Option<PlanElementIndex>,
        of: Option<&str>,
    ) -> Option<PlanElementIndex> {
        let Some(name) = of else { return subject };
        let plan = self.plan;
        let is_group = |id: &PlanElementIndex| {
            let element = plan.element(*id);
            element.kind == PlanElementKind::Group && element.name == name
        };
        let group = || (0..plan.elements.len()).map(PlanElementIndex::new).find(is_group);
        self.nodes.get(name).copied().or_else(group)
    }

    /// What the type of an attribute makes of texts; in a group, that of its first member.
    fn form(
        &self,
        subject: Option<PlanElementIndex>,
        asked: AskedAttribute<'_>,
    ) -> Option<&'p TextType> {
        let plan = self.plan;
        let element = plan.element(self.meant(subject, asked.of)?);
        let element = match element.kind {
            PlanElementKind::Group => plan.element(*element.members.first()?),
            _ => element,
        };
        let key = asked.key();
        element.forms.iter().find(|(name, _)| *name == key).map(|(_, form)| form)
    }

    /// The values of an attribute: that of an element, or those of all members of a group
    /// (statement C3).
    fn found(
        &self,
        subject: Option<PlanElementIndex>,
        asked: AskedAttribute<'_>,
    ) -> Vec<FoundValue> {
        let plan = self.plan;
        let Some(element) = self.meant(subject, asked.of) else { return vec![(None, None)] };
        let key = asked.key();
        let of = |one: PlanElementIndex| {
            let value = self.known(one, &key);
            let value = match (plan.element(one).count.number(), asked.nodes) {
                (Some(count), nodes) => nodes.of(count, value),
                // Nodes of one template are alike, however many there are.
                (None, AskedNodes::At(_)) => value,
                (None, AskedNodes::All) => None,
            };
            (Some(one), value)
        };
        match plan.element(element).kind {
            PlanElementKind::Group => {
                plan.element(element).members.iter().copied().map(of).collect()
            }
            _ => vec![of(element)],
        }
    }

    /// The value of an attribute: a state, a given or changed value, otherwise the initial value.
    fn known(&self, element: PlanElementIndex, attribute: &str) -> Option<Value> {
        if attribute == "state" {
            let state = self.simulation.states[element.index()];
            return (state != UNKNOWN).then(|| Value::String(state.into()));
        }
        if let Some(said) = self.attributes.get(&(element, attribute)) {
            return said.cloned();
        }
        self.beginning(element, attribute).map(|known| known.value.clone())
    }

    fn beginning(&self, element: PlanElementIndex, attribute: &str) -> Option<&'p KnownAttribute> {
        self.plan.element(element).known.iter().find(|known| known.name == attribute)
    }

    fn is_sensitive(&self, why: &DecidingAssertion) -> bool {
        let Some(name) = &why.attribute else { return false };
        let known = why.element.and_then(|element| self.beginning(element, name));
        known.is_some_and(|known| known.is_sensitive) || is_sensitive_name(name)
    }

    pub(super) fn run(&mut self) {
        for id in self.plan.step_ids() {
            if self.waits[id.index()] == 0 && !self.plan.step(id).is_handler {
                self.enqueue(id);
            }
        }
        loop {
            while let Some(Reverse(id)) = self.passing.pop() {
                self.perform(id, self.is_halted);
            }
            let mut round = std::mem::take(&mut self.next);
            // What handles a failure may have begun before, and is called once more.
            round.retain(|&id| self.outcome(id) == StepOutcome::NotReached);
            if round.is_empty() {
                break;
            }
            self.wave += 1;
            round.sort_unstable();
            // Steps that run beside a failing one still end.
            let was_halted = self.is_halted;
            for id in round {
                self.perform(id, was_halted);
            }
        }
    }

    fn enqueue(&mut self, id: PlanStepIndex) {
        if self.plan.step(id).takes_wave() && !self.is_void[id.index()] {
            self.next.push(id);
        } else {
            self.passing.push(Reverse(id));
        }
    }

    fn perform(&mut self, id: PlanStepIndex, is_halted: bool) {
        let index = id.index();
        if self.outcome(id) != StepOutcome::NotReached {
            return;
        }
        if self.is_void[index] {
            return self.release(id);
        }
        if is_halted && !self.goes_on[index] {
            return;
        }
        if !self.may_pass(id) {
            self.record(id, StepOutcome::Skipped, None);
        } else if self.fails[index] {
            return self.fail(id);
        } else {
            let change = self.reached(id);
            self.record(id, StepOutcome::Done, change);
            self.forget_outputs(id);
        }
        self.release(id);
    }

    /// Releases the steps that waited for this one; those that wait for nothing else may begin.
    fn release(&mut self, id: PlanStepIndex) {
        let goes_on = self.goes_on[id.index()];
        let is_done = self.outcome(id) == StepOutcome::Done;
        for position in self.flow.followers_of(id) {
            let next = self.flow.followers[position];
            self.goes_on[next.index()] |= goes_on || is_done && completes(self.plan, id, next);
            let waits = &mut self.waits[next.index()];
            *waits = waits.saturating_sub(1);
            if *waits == 0 {
                self.enqueue(next);
            }
        }
    }

    /// Whether the guards of a step let it begin (statement I6).
    fn may_pass(&mut self, id: PlanStepIndex) -> bool {
        let plan = self.plan;
        let mut may = true;
        for guard in plan.guards(id) {
            // An inlined workflow is guarded as a whole, when it begins.
            let key = (plan.step(id).scope.index(), guard.span, guard.element);
            let holds = match self.guards.get(&key) {
                Some(&holds) => holds,
                None => self.holds(guard).0,
            };
            self.guards.insert(key, holds);
            may &= holds;
        }
        may
    }

    /// The change of state that a step makes.
    fn reached(&mut self, id: PlanStepIndex) -> Option<(PlanElementIndex, &'p str, &'p str)> {
        let plan = self.plan;
        let step = plan.step(id);
        let to = match step.work {
            StepWork::Deleted => Simulation::GONE,
            StepWork::OtherState(_) => plan.label(step.work),
            work => work.state()?.as_str(),
        };
        let element = step.element?;
        let from = self.simulation.states[element.index()];
        self.judge(id, from, to);
        Some((element, from, to))
    }

    /// Checks that the table of states allows a change (statement S4). What the orchestrator brings
    /// or takes away is not checked, and neither are states that the specification does not know.
    fn judge(&mut self, id: PlanStepIndex, from: &str, to: &str) {
        let (plan, step) = (self.plan, self.plan.step(id));
        let is_delegated = |&wait: &PlanStepIndex| {
            let before = plan.step(wait);
            before.work.is_delegated() && before.element == step.element
        };
        if plan.after(id).iter().any(is_delegated) {
            return;
        }
        let from_state = if from == Simulation::GONE { "initial" } else { from };
        let states = NodeState::named(from_state).zip(NodeState::named(to));
        let Some((_, next)) = states.filter(|(from, to)| !from.leads_to(*to)) else { return };
        if step.activity.is_some_and(|activity| !self.warned.insert(activity)) {
            return;
        }
        let element = step.element.map_or("?", |element| &plan.element(element).name);
        let message = format!("`{element}` becomes `{to}`, but it is `{from}`");
        let ways = NodeState::ALL.into_iter().filter(|state| state.leads_to(next));
        let ways: Vec<_> = ways.map(|state| format!("`{state}`")).collect();
        let help = match ways.is_empty() {
            true => format!("no state leads to `{to}`"),
            false => {
                format!("set one of the states that lead to `{to}` before: {}", ways.join(", "))
            }
        };
        let written = step.activity.map(|(written, _)| plan.workflow_steps[written as usize].span);
        let at = written.or_else(|| Some(plan.element(step.element?).span));
        let warning = Diagnostic::warning(Code::IllegalTransition, message);
        let warning = warning.at(at.filter(|span| !span.is_detached())).section("3.4.1");
        self.simulation.diagnostics.push(cited(warning.help(help), plan.is_2_0));
    }

    fn record(
        &mut self,
        step: PlanStepIndex,
        outcome: StepOutcome,
        change: Option<(PlanElementIndex, &'p str, &'p str)>,
    ) {
        self.simulation.outcomes[step.index()] = outcome;
        if let Some((element, _, to)) = change {
            self.simulation.states[element.index()] = to;
        }
        self.simulation.events.push(SimulationEvent {
            wave: self.wave.max(1),
            step,
            outcome,
            element: change.map(|(element, ..)| element),
            states: change.map(|(_, from, to)| (from, to)),
        });
    }

    /// Forgets the attributes that an operation assigns, since its outputs are unknown (statement
    /// S7).
    fn forget_outputs(&mut self, id: PlanStepIndex) {
        let plan = self.plan;
        let Some(call) = plan.call_of(id) else { return };
        for output in &call.outputs {
            let own = plan.step(id).element;
            let ends = match own.map(|own| &plan.element(own).kind) {
                Some(PlanElementKind::Relation { source, target, .. }) => Some((source, target)),
                _ => None,
            };
            let named = |name: &str| self.nodes.get(name).copied();
            let element = match &*output.entity {
                "SELF" => own,
                "SOURCE" => ends.and_then(|(source, _)| named(source)),
                "TARGET" => ends.and_then(|(_, target)| named(target.as_deref()?)),
                name => named(name),
            };
            let Some(element) = element else { continue };
            let name = match &output.capability {
                None => Some(&*output.attribute),
                // What nobody knows need not be forgotten.
                Some(capability) => {
                    let key = format!("{capability}.{}", output.attribute);
                    let known = plan.element(element).known.iter().find(|one| one.name == key);
                    let said = || self.attributes.keys().find(|it| **it == (element, &*key));
                    known.map(|one| &*one.name).or_else(|| said().map(|it| it.1))
                }
            };
            self.attributes.extend(name.map(|name| ((element, name), None)));
        }
    }

    fn outcome(&self, id: PlanStepIndex) -> StepOutcome {
        self.simulation.outcomes[id.index()]
    }

    /// Handles the failure of a step (statement I9).
    fn fail(&mut self, id: PlanStepIndex) {
        let plan = self.plan;
        let step = plan.step(id);
        let is_node =
            |&element: &PlanElementIndex| plan.element(element).identifier.starts_with("node.");
        let of_part = || step.part.and_then(|part| plan.part(part).element).filter(is_node);
        let node = step.element.filter(is_node).or_else(of_part);
        let error = NodeState::Error.as_str();
        let change = node.map(|node| (node, self.simulation.states[node.index()], error));
        self.record(id, StepOutcome::Failed, change);
        self.simulation.has_failed = true;
        for handler in Flow::handlers(plan, id) {
            let name = &*plan.workflow_steps[handler as usize].name;
            if !self.simulation.handled_by.contains(&name) {
                self.simulation.handled_by.push(name);
            }
            for position in 0..self.flow.entries(handler).len() {
                let entry = self.flow.entries(handler)[position];
                self.go_on(entry);
                self.enqueue(entry);
            }
        }
        if is_tolerant(plan, id) {
            self.skip_rest(id);
        } else {
            self.is_halted = true;
        }
    }

    /// Lets a failure handler go on, and what follows it. It may have begun before the failure.
    fn go_on(&mut self, id: PlanStepIndex) {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut self.goes_on[id.index()], true) {
                continue;
            }
            if self.is_past(id) {
                open.extend(&self.flow.followers[self.flow.followers_of(id)]);
            } else if self.waits[id.index()] == 0 {
                self.enqueue(id);
            }
        }
    }

    /// Whether the steps after this one do not wait for it any more.
    fn is_past(&self, id: PlanStepIndex) -> bool {
        match self.outcome(id) {
            StepOutcome::Done | StepOutcome::Skipped => true,
            StepOutcome::Failed => is_tolerant(self.plan, id),
            StepOutcome::NotReached => self.is_void[id.index()] && self.waits[id.index()] == 0,
        }
    }

    /// Leaves out the steps that would only have completed a failed one. Others do not wait for
    /// them.
    fn skip_rest(&mut self, id: PlanStepIndex) {
        let mut rest = vec![id];
        while let Some(step) = rest.pop() {
            for position in self.flow.followers_of(step) {
                let next = self.flow.followers[position];
                if completes(self.plan, step, next) && !self.is_void[next.index()] {
                    self.is_void[next.index()] = true;
                    rest.push(next);
                }
            }
        }
        self.release(id);
    }
}

/// What is found, with the section of the template's version.
fn cited(mut found: Diagnostic, is_2_0: bool) -> Diagnostic {
    if is_2_0 {
        v2_0::cite(&mut found);
    }
    found
}

/// The nodes of a plan by name.
fn nodes(plan: &Plan) -> FxHashMap<&str, PlanElementIndex> {
    let elements = plan.elements.iter().enumerate();
    let nodes = elements.filter(|(_, element)| element.kind == PlanElementKind::Node);
    nodes.map(|(index, element)| (&*element.name, PlanElementIndex::new(index))).collect()
}

/// Whether a value asks for an input.
fn asks_input(value: &Value) -> bool {
    let is_input = Function::called_in(value).is_some_and(|(it, _)| it == Function::GetInput);
    is_input
        || match value {
            Value::List(items) => items.iter().any(asks_input),
            Value::Map(entries) => entries.iter().any(|(_, value)| asks_input(value)),
            _ => false,
        }
}

/// Whether a node in one state is less far than one in another: failed, or earlier in its life.
fn is_less(state: &str, other: &str) -> bool {
    let rank = |state| match NodeState::named(state) {
        Some(NodeState::Error) => (0, None),
        Some(state) => (1, Some(state)),
        None => (2, None),
    };
    rank(state) < rank(other)
}

/// Whether the plan deploys what is not there yet.
fn is_deployment(plan: &Plan) -> bool {
    matches!(&*plan.workflow, "deploy" | "install")
}

/// The states of nodes before the plan if none are given (statement S2).
fn default_states(plan: &Plan) -> Vec<&str> {
    let changes = plan.changes.iter().map(|change| (&*change.element, change.class));
    let classes: FxHashMap<_, _> = changes.collect();
    let is_deploy = is_deployment(plan);
    let state = |element: &super::PlanElement| {
        let is_node = element.identifier.starts_with("node.");
        let is_added = classes.get(&*element.identifier) == Some(&ChangeClass::Add);
        let is_there = is_node && (element.is_there || !is_deploy && !is_added);
        if is_there { NodeState::Started } else { NodeState::Initial }
    };
    plan.elements.iter().map(|element| state(element).as_str()).collect()
}

/// Whether each step is to fail.
fn failing(plan: &Plan, names: &[String]) -> Result<Vec<bool>, Diagnostics> {
    let mut fails = vec![false; plan.steps.len()];
    if names.is_empty() {
        return Ok(fails);
    }
    let identifiers: Vec<_> = plan.step_ids().map(|id| plan.identifier(id)).collect();
    let mut unknown = Diagnostics::default();
    for name in names {
        let below = |identifier: &String| {
            identifier.strip_prefix(&**name).is_some_and(|rest| rest.starts_with('/'))
        };
        let is_work = |index: usize| {
            let work = plan.steps[index].work;
            !matches!(work, StepWork::Deleted | StepWork::OtherState(_)) && work.state().is_none()
        };
        let all = 0..identifiers.len();
        let exact: Vec<_> = all.clone().filter(|&index| identifiers[index] == *name).collect();
        let below: Vec<_> = all.filter(|&index| below(&identifiers[index])).collect();
        let working: Vec<_> = below.iter().copied().filter(|&index| is_work(index)).collect();
        let meant = [exact, working, below].into_iter().find(|meant| !meant.is_empty());
        match meant {
            Some(meant) => meant.into_iter().for_each(|index| fails[index] = true),
            None => {
                let message = format!("`--fail {name}`: there is no such step in this plan");
                let error = Diagnostic::error(Code::UnknownElement, message);
                let help = did_you_mean(name, identifiers.iter().map(|name| &**name));
                unknown.push(error.help_opt(help));
            }
        }
    }
    if unknown.has_errors() { Err(unknown) } else { Ok(fails) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orchestrate::plan::build::PlanBuilder;
    use crate::orchestrate::plan::{PlanElement, PlanElementKind, PlanStep, WorkflowStep};
    use cuvee_text::source::{FileId, Span};
    use cuvee_text::yaml::{Limits, parse};

    fn value(text: &str) -> Value {
        parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap().root().to_value()
    }

    /// A workflow over the node `shop`. Each step has a name, the steps after its success, those
    /// after its failure, and a guard.
    fn workflow(steps: &[(&str, &[u32], &[u32], &str)]) -> Plan {
        let mut builder = PlanBuilder::new("backup", false, false);
        let named = ("node.shop".to_owned(), "shop".to_owned());
        let new = |name| PlanElement::new(name, PlanElementKind::Node, Span::DETACHED);
        let element = builder.element(named, new);
        for (index, (name, on_success, on_failure, guard)) in steps.iter().enumerate() {
            let guards = (!guard.is_empty()).then(|| Guard {
                element: Some(element),
                condition: value(guard),
                written: None,
                span: Span::DETACHED,
            });
            builder.plan.workflow_steps.push(WorkflowStep {
                name: (*name).to_owned(),
                span: Span::DETACHED,
                activities: 1,
                is_for_group: false,
                guards: guards.into_iter().collect(),
                on_failure: on_failure.to_vec(),
                on_success: on_success.to_vec(),
            });
            let names = |to: &[u32]| to.contains(&(index as u32));
            let before = steps.iter().enumerate().filter(|(_, step)| names(step.1));
            let waits: Vec<_> = before.map(|(index, _)| PlanStepIndex::new(index)).collect();
            let activity = Some((index as u32, 0));
            let is_handler = steps.iter().any(|step| names(step.2));
            let step = builder.step(Some(element), StepWork::Call);
            builder.push(PlanStep { activity, is_handler, is_shown: true, ..step }, &waits);
        }
        builder.plan
    }

    fn outcomes(plan: &Plan, start: &StartStates, fail: &[&str], unmet: bool) -> String {
        let fail = fail.iter().map(|step| (*step).to_owned()).collect();
        let how = SimulationOptions { fail, assume_unmet: unmet };
        let simulation = simulate(plan, start, &how).unwrap();
        let marks = simulation.outcomes.iter().map(|outcome| match outcome {
            StepOutcome::Done => '+',
            StepOutcome::Failed => '!',
            StepOutcome::Skipped => 's',
            StepOutcome::NotReached => '.',
        });
        let mut text: String = marks.collect();
        text.extend(simulation.handled_by.iter().flat_map(|name| [" ", *name]));
        text.extend(simulation.diagnostics.0.iter().flat_map(|it| [" ", it.code.as_str()]));
        text
    }

    #[test]
    fn what_runs_beside_a_failure_ends_and_nothing_begins() {
        let steps: [(&str, &[u32], &[u32], &str); 6] = [
            ("a", &[2, 3], &[], ""),
            ("e", &[3, 5], &[], ""),
            ("b", &[4], &[], ""),
            ("c", &[4], &[], ""),
            ("d", &[], &[], ""),
            ("f", &[], &[], ""),
        ];
        let (plan, start) = (workflow(&steps), StartStates::default());
        assert_eq!(outcomes(&plan, &start, &[], false), "++++++");
        assert_eq!(outcomes(&plan, &start, &["step.a"], false), "!+....");
        assert_eq!(outcomes(&plan, &start, &["step.c/0"], false), "+++!.+");
    }

    #[test]
    fn failures_are_handled() {
        let steps: [(&str, &[u32], &[u32], &str); 5] = [
            ("save", &[1], &[2], ""),
            ("report", &[], &[], ""),
            ("roll_back", &[3], &[], ""),
            ("tell", &[], &[4], ""),
            ("shout", &[], &[], ""),
        ];
        let (plan, start) = (workflow(&steps), StartStates::default());
        assert_eq!(outcomes(&plan, &start, &[], false), "++...");
        assert_eq!(outcomes(&plan, &start, &["step.save/0"], false), "!.++. roll_back");
        let both = ["step.save", "step.tell"];
        assert_eq!(outcomes(&plan, &start, &both, false), "!.+!+ roll_back shout");
    }

    #[test]
    fn guards_skip_steps_and_let_go_on() {
        let guard = "or: [foo: [{equal: true}], bar: [{in_range: [2, 20]}]]";
        let plan = workflow(&[("a", &[1], &[], guard), ("b", &[], &[], "")]);
        let mut start = StartStates::default();
        assert_eq!(outcomes(&plan, &start, &[], false), "++ undecidable undecidable");
        assert_eq!(outcomes(&plan, &start, &[], true), "s+ undecidable undecidable");
        let attributes = vec![("foo".into(), value("false")), ("bar".into(), value("1"))];
        let name = "shop".to_owned();
        start.nodes = vec![super::super::StartNode { name, attributes, ..Default::default() }];
        assert_eq!(outcomes(&plan, &start, &[], false), "s+");
    }

    #[test]
    fn preconditions_come_first() {
        let mut plan = workflow(&[("a", &[], &[], "")]);
        let element = plan.steps[0].element;
        let condition = value("state: [{equal: available}]");
        plan.preconditions =
            vec![Guard { element, condition, written: None, span: Span::DETACHED }];
        let start = StartStates::default();
        let simulation = simulate(&plan, &start, &SimulationOptions::default()).unwrap();
        assert!(simulation.has_failed && simulation.events.is_empty());
        let [error] = &simulation.diagnostics.0[..] else { panic!() };
        assert_eq!(error.code, Code::FailedPrecondition);
        let message = "`state` of `shop` is `started`, which violates `equal: available`";
        assert_eq!(error.message, message);
    }
}
