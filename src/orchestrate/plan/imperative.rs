//! Plans imperative workflows: their steps, each after those that name it, and the workflows that
//! they inline (statements I1 to I10).

use super::behavior::{Behaviors, file_of, split_operation};
use super::build::PlanBuilder;
use super::declarative::{Declarative, declarative, of_node};
use super::elements;
use super::inputs::{GivenInput, evaluated, input_values};
use super::known::guard;
use super::model::{
    ChangeClass, Guard, PlanCall, PlanElementIndex, PlanStepIndex, StepHost, StepWork,
    WorkflowInput, WorkflowStep,
};
use super::sort::sorted;
use super::weave::{SceneSide, Up};
use super::{OrderOptions, unknown_workflow};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use crate::topology::cycle::shortest_cycles;
use crate::topology::value_source::{input, inputs, part};
use crate::topology::{
    ActivityKind, AssignedValue, NamedElement, NodeIndex, RelationIndex, Spanned, Topology,
    TopologyActivity, TopologyElement, TopologyPrecondition, TopologyStep, TopologyWorkflow,
};
use crate::tosca::function::Function;
use crate::tosca::{LifecycleOperation, NodeState, meant};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use rustc_hash::FxHashSet;

/// How many steps workflows with inlined workflows may have at most. More is a mistake.
const MOST_STEPS: usize = 1_000_000;

/// The context in which imperative workflows are planned.
pub(super) struct Imperative<'i, 't, 'a> {
    pub(super) behaviors: &'i Behaviors<'t, 'a>,
    pub(super) order: &'i OrderOptions,
    pub(super) builder: &'i mut PlanBuilder,
    pub(super) diagnostics: Diagnostics,
    /// The workflows that are being inlined here, the outermost first.
    stack: Vec<&'t str>,
    /// The nodes as hosts of calls; computed when first needed.
    places: Option<SceneSide<'i, 't, 'a, Up>>,
}

/// The context of all steps of one workflow.
#[derive(Clone, Default)]
struct WorkflowFrame {
    /// The conditions without which no step does anything.
    guards: Vec<Guard>,
    /// The values of the workflow's inputs.
    inputs: Vec<(String, Value)>,
    /// The names of secret inputs.
    secrets: Vec<String>,
    /// The targets of steps that name none.
    targets: Vec<TopologyElement>,
}

/// The target of an activity.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum ActivityTarget {
    Node(NodeIndex),
    Relation(RelationIndex),
}

/// An activity while it is added to the plan.
struct OpenActivity<'s, 't> {
    activity: &'t TopologyActivity,
    /// The position of its step in the plan, and its own position in the step.
    place: (u32, u32),
    step: &'t TopologyStep,
    targets: &'s [ActivityTarget],
    /// The steps that it comes after.
    waits: &'s [PlanStepIndex],
}

impl<'i, 't, 'a> Imperative<'i, 't, 'a> {
    pub(super) fn new(
        behaviors: &'i Behaviors<'t, 'a>,
        order: &'i OrderOptions,
        builder: &'i mut PlanBuilder,
    ) -> Self {
        let diagnostics = Diagnostics::default();
        Self { behaviors, order, builder, diagnostics, stack: Vec::new(), places: None }
    }

    fn topology(&self) -> &'t Topology {
        self.behaviors.topology
    }

    /// Adds all steps of a workflow that is started with these inputs. Steps without a target of
    /// their own get the given targets.
    pub(super) fn start(
        &mut self,
        workflow: &'t TopologyWorkflow,
        given: &[(String, Value)],
        targets: Vec<TopologyElement>,
    ) {
        let given = given.iter().cloned();
        let given = given.map(|(name, value)| GivenInput { name, value, places: None });
        let inputs = self.inputs(workflow, given.collect());
        self.builder.plan.inputs = self.told(workflow, &inputs);
        let secrets = self.secrets(workflow, &inputs);
        let frame = WorkflowFrame { guards: Vec::new(), inputs, secrets, targets };
        self.builder.plan.preconditions = self.preconditions(workflow, &frame);
        self.workflow(workflow, &frame, &[]);
        // The workflow gives each step, so the plan has no parts.
        self.builder.plan.parts.clear();
        self.builder.plan.steps.iter_mut().for_each(|step| step.part = None);
        self.builder.plan.number_repeats();
    }

    /// The inputs of a workflow, as the plan shows them.
    fn told(&self, workflow: &TopologyWorkflow, values: &[(String, Value)]) -> Vec<WorkflowInput> {
        let told = workflow.inputs.iter().filter_map(|input| {
            let (name, value) = values.iter().find(|(name, _)| *name == input.name)?.clone();
            let is_sensitive = self.behaviors.is_sensitive_input(input, &value);
            Some(WorkflowInput { name, value, is_sensitive })
        });
        told.collect()
    }

    fn inputs(
        &mut self,
        workflow: &TopologyWorkflow,
        given: Vec<GivenInput>,
    ) -> Vec<(String, Value)> {
        input_values(workflow, given, self.behaviors.types(), &mut self.diagnostics)
    }

    /// The names of the secret inputs of a workflow.
    fn secrets(&self, workflow: &TopologyWorkflow, values: &[(String, Value)]) -> Vec<String> {
        let told = self.told(workflow, values).into_iter();
        told.filter(|input| input.is_sensitive).map(|input| input.name).collect()
    }

    fn preconditions(&mut self, workflow: &TopologyWorkflow, frame: &WorkflowFrame) -> Vec<Guard> {
        let written = self.behaviors.written_workflow(&workflow.name);
        let mut guards = Vec::new();
        for (at, said) in workflow.preconditions.iter().enumerate() {
            let Some(condition) = &said.condition else { continue };
            let TopologyPrecondition { target, relationship, .. } = said;
            let written = written.and_then(|written| written.preconditions.get(at));
            let written = written.and_then(|written| written.condition.as_ref());
            let conditions = (condition, written.unwrap_or(condition));
            let about = (target.as_ref(), relationship.as_ref());
            guards.append(&mut self.guards(about, conditions, frame));
        }
        guards
    }

    /// The guards for a condition: one for each node if the named template has several. Beside it
    /// is the condition as it is written.
    fn guards(
        &mut self,
        (target, relationship): (Option<&NamedElement>, Option<&Spanned<String>>),
        (condition, written): (&Spanned<Value>, &Spanned<Value>),
        frame: &WorkflowFrame,
    ) -> Vec<Guard> {
        // A plan shows its conditions.
        let shown = frame.inputs.iter().filter(|(name, _)| !frame.secrets.contains(name));
        let shown: Vec<_> = shown.cloned().collect();
        let value = match self.topology().is_2_0 {
            true => filled_expression(&condition.value, &shown),
            false => filled(&condition.value, &shown),
        };
        let condition = Spanned { value, span: condition.span };
        let named = target.map(|target| self.named(target)).unwrap_or_default();
        let about = |one: &TopologyElement| self.subjects(*one, relationship);
        let mut subjects: Vec<_> = named.iter().flat_map(about).collect();
        if target.is_none_or(|target| !self.is_counted(target)) && subjects.is_empty() {
            subjects.push(None);
        }
        let guard = |subject| {
            let condition = (condition.clone(), &written.value);
            guard(self.builder, self.behaviors, subject, condition)
        };
        subjects.into_iter().map(guard).collect()
    }

    /// The elements of a name: a single one, or all nodes of a template.
    fn named(&self, target: &NamedElement) -> Vec<TopologyElement> {
        match (target.element, self.counted(target)) {
            (None, Some(nodes)) => nodes.iter().copied().map(TopologyElement::Node).collect(),
            (element, _) => element.into_iter().collect(),
        }
    }

    /// The nodes of the named template, if an instance has several of them.
    fn counted(&self, target: &NamedElement) -> Option<&'i [NodeIndex]> {
        self.behaviors.nodes_of(target.name.value.as_str()?).filter(|_| target.element.is_none())
    }

    fn is_counted(&self, target: &NamedElement) -> bool {
        self.counted(target).is_some()
    }

    /// The elements that a step acts on.
    fn elements(&self, step: &TopologyStep, frame: &WorkflowFrame) -> Vec<TopologyElement> {
        match &step.target {
            Some(target) => self.named(target),
            None => frame.targets.clone(),
        }
    }

    /// The subjects of a condition: an element, or the relations of one of its requirements.
    fn subjects(
        &self,
        element: TopologyElement,
        relationship: Option<&Spanned<String>>,
    ) -> Vec<Option<TopologyElement>> {
        match (element, relationship) {
            (TopologyElement::Node(node), Some(name)) => {
                let all: Vec<_> = self.relations(node, &name.value).collect();
                match all.is_empty() {
                    true => vec![None],
                    false => {
                        all.into_iter().map(|id| Some(TopologyElement::Relation(id))).collect()
                    }
                }
            }
            (element, _) => vec![Some(element)],
        }
    }

    /// The element of the plan for an element of the topology.
    fn element(&mut self, element: TopologyElement) -> PlanElementIndex {
        let topology = self.topology();
        match element {
            TopologyElement::Node(node) => elements::node(self.builder, self.behaviors, node),
            TopologyElement::Group(group) => elements::group(self.builder, topology, group),
            TopologyElement::Relation(relation) => {
                elements::relation(self.builder, self.behaviors, relation)
            }
        }
    }

    /// The relations of a requirement.
    fn relations(&self, node: NodeIndex, name: &str) -> impl Iterator<Item = RelationIndex> {
        let relations = self.topology().node(node).relations.iter().copied();
        relations.filter(move |&id| self.topology().relation(id).name == name)
    }

    /// Adds the steps of a workflow after those in `behind`. Returns the last ones.
    fn workflow(
        &mut self,
        workflow: &'t TopologyWorkflow,
        frame: &WorkflowFrame,
        behind: &[PlanStepIndex],
    ) -> Vec<PlanStepIndex> {
        if let Some(implementation) = &workflow.implementation {
            return vec![self.external(
                workflow,
                &implementation.value,
                implementation.span,
                behind,
            )];
        }
        let steps = &workflow.steps;
        let order = StepOrder::of(steps);
        if let Some(cycle) = order.cycle(steps) {
            self.diagnostics.push(cycle);
            return Vec::new();
        }
        let first = self.builder.plan.workflow_steps.len() as u32;
        for step in steps {
            let written = self.written((workflow, step), frame, first);
            self.builder.plan.workflow_steps.push(written);
        }
        self.stack.push(&workflow.name);
        let mut ends: Vec<Vec<PlanStepIndex>> = vec![Vec::new(); steps.len()];
        for &index in &order.sorted {
            let (before, is_handler) = (&order.before[index], order.is_handler[index]);
            let mut waits: Vec<_> = match before.is_empty() {
                // A failure handler waits for the failure alone.
                true if is_handler => Vec::new(),
                true => behind.to_vec(),
                false => before.iter().flat_map(|&one| ends[one].iter().copied()).collect(),
            };
            waits.sort_unstable();
            waits.dedup();
            let was_handling = self.builder.handle(is_handler);
            ends[index] = self.step(&steps[index], first + index as u32, frame, &waits);
            self.builder.handled(was_handling);
        }
        self.stack.pop();
        let is_last = |index: &usize| {
            !order.is_handler[*index] && steps[*index].on_success.iter().all(|it| it.step.is_none())
        };
        let mut last: Vec<_> =
            (0..steps.len()).filter(is_last).flat_map(|index| ends[index].clone()).collect();
        if last.is_empty() {
            last = behind.to_vec();
        }
        last
    }

    /// An implementation outside runs the whole workflow (statement I10).
    fn external(
        &mut self,
        workflow: &TopologyWorkflow,
        implementation: &Value,
        span: Span,
        behind: &[PlanStepIndex],
    ) -> PlanStepIndex {
        let primary = match implementation {
            Value::Map(map) => map.iter().find(|(key, _)| &**key == "primary"),
            _ => None,
        };
        let primary = primary.map_or(implementation, |(_, primary)| primary);
        let call = PlanCall {
            operation: workflow.name.clone(),
            primary: file_of(primary),
            primary_type: self.behaviors.type_in_place(primary, span),
            ..PlanCall::at(span)
        };
        let mut step = self.builder.step(None, StepWork::External);
        step.call = Some(self.builder.call(call));
        step.host = StepHost::Orchestrator;
        self.builder.push(step, behind)
    }

    /// A written step, as the plan keeps it.
    fn written(
        &mut self,
        (workflow, step): (&TopologyWorkflow, &TopologyStep),
        frame: &WorkflowFrame,
        first: u32,
    ) -> WorkflowStep {
        let mut guards = frame.guards.clone();
        if let Some(filter) = &step.filter {
            let about = (step.target.as_ref(), step.relationship.as_ref());
            let written = self.behaviors.written_workflow(&workflow.name);
            let written = written.and_then(|it| it.steps.iter().find(|it| it.name == step.name));
            let written = written.and_then(|written| written.filter.as_ref());
            guards.extend(self.guards(about, (filter, written.unwrap_or(filter)), frame));
        }
        let next = |steps: &[crate::topology::NextStep]| {
            let known = steps.iter().filter_map(|next| next.step);
            known.map(|step| first + step.index() as u32).collect()
        };
        WorkflowStep {
            name: step.name.clone(),
            span: step.span,
            activities: step.activities.len() as u32,
            is_for_group: match &*self.elements(step, frame) {
                _ if step.target.as_ref().is_some_and(|it| self.is_counted(it)) => true,
                [only] if self.targets(step, *only).len() > 1 => true,
                [only] => matches!(only, TopologyElement::Group(_)),
                several => !several.is_empty(),
            },
            guards,
            on_failure: next(&step.on_failure),
            on_success: next(&step.on_success),
        }
    }

    /// Adds the activities of a step, one after the other (statement I2). Returns the last steps.
    fn step(
        &mut self,
        step: &'t TopologyStep,
        index: u32,
        frame: &WorkflowFrame,
        waits: &[PlanStepIndex],
    ) -> Vec<PlanStepIndex> {
        let elements = self.elements(step, frame).into_iter();
        let mut targets: Vec<_> = elements.flat_map(|one| self.targets(step, one)).collect();
        let mut met = FxHashSet::default();
        targets.retain(|&target| self.is_there(target) && met.insert(target));
        if step.activities.is_empty() {
            let element = step.target.as_ref().and_then(|target| target.element);
            let element = element.map(|element| self.element(element));
            let mut nothing = self.builder.step(element, StepWork::Nothing);
            nothing.activity = Some((index, 0));
            nothing.is_shown = true;
            return vec![self.builder.push(nothing, waits)];
        }
        let mut last = waits.to_vec();
        for (position, activity) in step.activities.iter().enumerate() {
            if self.builder.plan.steps.len() > MOST_STEPS {
                let message = format!("the workflows have more than {MOST_STEPS} steps together");
                let error =
                    Diagnostic::error(Code::InvalidTemplate, message).at(activity.name.span);
                self.diagnostics.push(error.help("inline fewer workflows"));
                break;
            }
            let place = (index, position as u32);
            let open = OpenActivity { activity, place, step, targets: &targets, waits: &last };
            let ends = match activity.kind {
                ActivityKind::Inline => self.inline(&open, frame),
                ActivityKind::SetState => self.set_state(&open),
                ActivityKind::CallOperation => self.calls(&open, frame),
                ActivityKind::Delegate => self.delegate(&open),
            };
            if !ends.is_empty() {
                last = ends;
            }
        }
        last
    }

    /// The targets of the activities of a step: a node, every relation of a requirement, every
    /// member of a group, or those that `operation_host` names (statement I7).
    fn targets(&self, step: &TopologyStep, element: TopologyElement) -> Vec<ActivityTarget> {
        match (element, &step.relationship) {
            (TopologyElement::Node(node), Some(name)) => {
                self.relations(node, &name.value).map(ActivityTarget::Relation).collect()
            }
            (TopologyElement::Node(node), None) => vec![ActivityTarget::Node(node)],
            (TopologyElement::Relation(relation), _) => vec![ActivityTarget::Relation(relation)],
            (TopologyElement::Group(group), _) => {
                let host = step.operation_host.as_ref().map(|host| &*host.value);
                let mut members = self.topology().nodes_of(group);
                members.retain(|&member| {
                    host.is_none_or(|host| self.behaviors.is_named(member, host))
                });
                members.into_iter().map(ActivityTarget::Node).collect()
            }
        }
    }

    /// Whether a target stands for any node.
    fn is_there(&self, target: ActivityTarget) -> bool {
        let ends = match target {
            ActivityTarget::Node(node) => [Some(node), None],
            ActivityTarget::Relation(id) => {
                let relation = self.topology().relation(id);
                [Some(relation.source), relation.target]
            }
        };
        !ends.into_iter().flatten().any(|node| self.behaviors.is_nothing(node))
    }

    fn target_element(&mut self, target: ActivityTarget) -> PlanElementIndex {
        self.element(match target {
            ActivityTarget::Node(node) => TopologyElement::Node(node),
            ActivityTarget::Relation(relation) => TopologyElement::Relation(relation),
        })
    }

    /// Sets a state (statement I3). It is visible only if its step calls and delegates nothing.
    fn set_state(&mut self, open: &OpenActivity<'_, '_>) -> Vec<PlanStepIndex> {
        let name = &*open.activity.name.value;
        let work = match NodeState::named(name) {
            Some(state) => StepWork::State(state),
            None => StepWork::OtherState(self.builder.name(name)),
        };
        let does = |activity: &TopologyActivity| {
            matches!(activity.kind, ActivityKind::CallOperation | ActivityKind::Delegate)
        };
        let is_shown = !open.step.activities.iter().any(does);
        let set = |&target: &ActivityTarget| {
            let element = self.target_element(target);
            let mut step = self.builder.step(Some(element), work);
            (step.activity, step.is_shown) = (Some(open.place), is_shown);
            self.builder.push(step, open.waits)
        };
        open.targets.iter().map(set).collect()
    }

    fn calls(&mut self, open: &OpenActivity<'_, '_>, frame: &WorkflowFrame) -> Vec<PlanStepIndex> {
        let activity = open.activity;
        let mut last = Vec::new();
        for target in self.meant(open.targets, &activity.name.value) {
            let Some(mut call) = self.called(target, activity) else { continue };
            assign(&mut call, &activity.inputs, &self.builder.plan.workflow);
            for input in &mut call.inputs {
                input.is_sensitive |= takes(&input.value, &frame.secrets)
                    || self.gives_secret(&open.step.name, activity, &input.name)
                    || self.behaviors.secrets().has_secret_name(&input.value);
                input.value = filled(&input.value, &frame.inputs);
            }
            let host = self.host(open.step, target, &call);
            let element = self.target_element(target);
            let mut step = self.builder.step(Some(element), StepWork::Call);
            (step.activity, step.is_shown, step.host) = (Some(open.place), true, host);
            step.is_idle = !call.runs();
            step.call = Some(self.builder.call(call));
            last.push(self.builder.push(step, open.waits));
        }
        last
    }

    /// Whether an activity gives a secret to an input of what it calls.
    fn gives_secret(&self, step: &str, activity: &TopologyActivity, name: &str) -> bool {
        let workflow = self.stack.last().copied().unwrap_or_default();
        let secrets = self.behaviors.secrets();
        activity.inputs.iter().any(|input| input.name == name)
            && !secrets.activity_input(workflow, step, name).is_open()
    }

    /// The targets of which an operation is called: of the relations of one requirement, which may
    /// be of several types, those that have it, or the first if none has.
    fn meant(&self, targets: &[ActivityTarget], operation: &str) -> Vec<ActivityTarget> {
        let has = |id: RelationIndex| self.behaviors.relation_called(id, operation).is_some();
        let requirement = |target: &ActivityTarget| match target {
            ActivityTarget::Node(_) => None,
            ActivityTarget::Relation(id) => {
                let relation = self.topology().relation(*id);
                Some((relation.source, relation.name.as_str()))
            }
        };
        let calls = |target: &ActivityTarget| match target {
            ActivityTarget::Node(_) => true,
            ActivityTarget::Relation(id) => has(*id),
        };
        let calling: FxHashSet<_> =
            targets.iter().filter(|it| calls(it)).map(requirement).collect();
        let mut told = FxHashSet::default();
        let mut meant = targets.to_vec();
        meant.retain(|target| {
            let of = requirement(target);
            calls(target) || !calling.contains(&of) && told.insert(of)
        });
        meant
    }

    fn called(&mut self, target: ActivityTarget, activity: &TopologyActivity) -> Option<PlanCall> {
        let name = &*activity.name.value;
        let found = match target {
            ActivityTarget::Node(node) => self.behaviors.called(node, name),
            ActivityTarget::Relation(relation) => self.behaviors.relation_called(relation, name),
        };
        if found.is_none() {
            let element = self.target_element(target);
            let whose = &self.builder.plan.element(element).name;
            let message = format!("`{whose}` has no operation `{}`", split_operation(name).1);
            let error = Diagnostic::error(Code::UnknownElement, message).at(activity.name.span);
            self.diagnostics.push(error.section("3.6.23.3"));
        }
        found
    }

    /// The host on which an operation of a workflow runs (statements H1 and I7).
    fn host(&mut self, step: &TopologyStep, target: ActivityTarget, call: &PlanCall) -> StepHost {
        let (behaviors, builder) = (self.behaviors, &mut *self.builder);
        let places = || SceneSide::at_rest(behaviors, builder, ChangeClass::Keep);
        let side = self.places.get_or_insert_with(places);
        let said = step.operation_host.as_ref().map(|host| &*host.value);
        match target {
            ActivityTarget::Node(node) => side.node_host(node, call.host.as_deref()),
            ActivityTarget::Relation(relation) => {
                // In TOSCA 2.0, where no keyname says it, the operation does.
                let by_name = behaviors.topology.is_2_0.then_some(call.operation.as_str());
                let operation = by_name.and_then(LifecycleOperation::named);
                let operation = operation.unwrap_or(LifecycleOperation::AddTarget);
                side.relation_host(relation, operation, said.or(call.host.as_deref()))
            }
        }
    }

    /// Delegates a workflow to the orchestrator (statement I4).
    fn delegate(&mut self, open: &OpenActivity<'_, '_>) -> Vec<PlanStepIndex> {
        let name = &*open.activity.name.value;
        let which = Declarative::named(name);
        let mut last = Vec::new();
        for &target in open.targets {
            let ActivityTarget::Node(node) = target else { continue };
            let is_delegated = self.behaviors.delegation(node).is_some();
            if let (false, Some(which)) = (is_delegated, which) {
                self.delegates_managed(node, open.activity);
                last.extend(self.expanded(node, which, open.place, open.waits));
                continue;
            }
            let work = match which {
                Some(Declarative::Deploy) => StepWork::Deploy,
                Some(Declarative::Undeploy) => StepWork::Undeploy,
                None => StepWork::Delegate(self.builder.name(name)),
            };
            let element = self.target_element(target);
            let mut step = self.builder.step(Some(element), work);
            step.activity = Some(open.place);
            let step = self.builder.push(step, open.waits);
            let reached = match work {
                StepWork::Deploy => StepWork::State(NodeState::Started),
                StepWork::Undeploy => StepWork::Deleted,
                _ => {
                    last.push(step);
                    continue;
                }
            };
            let reached = self.builder.step(Some(element), reached);
            last.push(self.builder.push(reached, &[step]));
        }
        last
    }

    fn delegates_managed(&mut self, node: NodeIndex, activity: &TopologyActivity) {
        let template = self.topology().node(node);
        let message = format!(
            "`{}` is delegated, but implements its own operations: these are run instead",
            template.name
        );
        let warning = Diagnostic::warning(Code::DelegateTarget, message)
            .at(activity.name.span)
            .label(template.span, "this node implements its operations itself");
        self.diagnostics.push(warning.section("3.6.23.1"));
    }

    /// Adds the part of a generated workflow that belongs to one node.
    fn expanded(
        &mut self,
        node: NodeIndex,
        which: Declarative,
        (index, activity): (u32, u32),
        waits: &[PlanStepIndex],
    ) -> Vec<PlanStepIndex> {
        let name = &self.builder.plan.workflow_steps[index as usize].name;
        let scope = format!("{}step.{name}/{activity}/", self.builder.scope());
        let outer = self.builder.enter(scope, index);
        let ends = of_node(which, self.behaviors, node, self.builder, waits);
        self.builder.leave(outer);
        self.diagnostics.all_ok(ends).unwrap_or_default()
    }

    /// Inlines a workflow in place of an activity (statement I5).
    fn inline(&mut self, open: &OpenActivity<'_, '_>, frame: &WorkflowFrame) -> Vec<PlanStepIndex> {
        let OpenActivity { activity, place: (index, position), waits, .. } = *open;
        let name = &*activity.name.value;
        let step = &self.builder.plan.workflow_steps[index as usize].name;
        let scope = format!("{}step.{step}/{position}/{name}/", self.builder.scope());
        let mut workflows = self.topology().workflows.iter();
        match (workflows.find(|workflow| workflow.name == name), Declarative::named(name)) {
            (Some(workflow), _) if self.stack.contains(&&*workflow.name) => {
                let message = format!("the workflow `{name}` inlines itself");
                let error = Diagnostic::error(Code::CyclicWorkflow, message);
                self.diagnostics.push(error.at(activity.name.span).section("3.6.23.4"));
                Vec::new()
            }
            (Some(workflow), _) => {
                let outer = self.builder.enter(scope, index);
                let ends = self.inlined(workflow, open, frame);
                self.builder.leave(outer);
                ends
            }
            (None, Some(which)) => {
                let outer = self.builder.enter(scope, index);
                self.builder.forget_calls();
                let ends = declarative(which, self.behaviors, self.order, self.builder, waits);
                self.builder.forget_calls();
                self.builder.leave(outer);
                self.diagnostics.all_ok(ends).unwrap_or_default()
            }
            (None, None) => {
                let error = unknown_workflow(self.topology(), name).at(activity.name.span);
                self.diagnostics.push(error);
                Vec::new()
            }
        }
    }

    fn inlined(
        &mut self,
        workflow: &'t TopologyWorkflow,
        open: &OpenActivity<'_, '_>,
        frame: &WorkflowFrame,
    ) -> Vec<PlanStepIndex> {
        let OpenActivity { activity, place: (written, _), waits, .. } = *open;
        let given = activity.inputs.iter().map(|input| GivenInput {
            name: input.name.clone(),
            value: evaluated(filled(&input.value.value, &frame.inputs), self.behaviors.types()),
            places: Some([input.span, input.value.span]),
        });
        let inputs = self.inputs(workflow, given.collect());
        // The guards of the step apply to all steps of the workflow as well.
        let mut guards = self.builder.plan.workflow_steps[written as usize].guards.clone();
        let mut secrets = self.secrets(workflow, &inputs);
        let step = &*self.builder.plan.workflow_steps[written as usize].name;
        let is_secret = |one: &&AssignedValue| {
            takes(&one.value.value, &frame.secrets) || self.gives_secret(step, activity, &one.name)
        };
        let taken = activity.inputs.iter().filter(is_secret);
        secrets.extend(taken.map(|input| input.name.clone()));
        let mut frame = WorkflowFrame { guards: Vec::new(), inputs, secrets, targets: Vec::new() };
        guards.append(&mut self.preconditions(workflow, &frame));
        frame.guards = guards;
        self.workflow(workflow, &frame, waits)
    }
}

/// The order of the steps of a workflow.
struct StepOrder {
    /// For each step, the steps that it comes after.
    before: Vec<Vec<usize>>,
    /// Whether each step is reached only by a failure.
    is_handler: Vec<bool>,
    /// The steps, each after those that it comes after.
    sorted: Vec<usize>,
}

impl StepOrder {
    fn of(steps: &[TopologyStep]) -> Self {
        let is_handler = handlers(steps);
        let mut before = vec![Vec::new(); steps.len()];
        for (index, step) in steps.iter().enumerate() {
            for next in step.on_success.iter().filter_map(|next| next.step) {
                // Steps of the normal flow do not wait for failure handlers.
                if !is_handler[index] || is_handler[next.index()] {
                    before[next.index()].push(index);
                }
            }
        }
        // Where there is a choice, failure handlers come last.
        let one_behind = |index: usize| before[index].iter().copied();
        let sorted = sorted(steps.len(), one_behind, |index| is_handler[index]);
        Self { before, is_handler, sorted }
    }

    /// The error that the steps wait for each other in a circle.
    fn cycle(&self, steps: &[TopologyStep]) -> Option<Diagnostic> {
        if self.sorted.len() == steps.len() {
            return None;
        }
        let edges: Vec<Vec<_>> = steps
            .iter()
            .map(|step| {
                let next = step.on_success.iter().filter_map(|next| Some((next.step?, next)));
                next.map(|(step, next)| (step.index(), next.name.span)).collect()
            })
            .collect();
        let cycle = shortest_cycles(&edges).into_iter().next()?;
        let names: Vec<_> =
            cycle.iter().map(|(index, _)| format!("`{}`", steps[*index].name)).collect();
        let message = format!("steps follow one another in a circle: {}", names.join(", "));
        let mut error = Diagnostic::error(Code::CyclicWorkflow, message);
        for (position, (index, span)) in cycle.iter().enumerate() {
            let follows = format!("follows `{}`", steps[*index].name);
            error = if position == 0 { error.at(*span) } else { error };
            error = error.label(*span, follows);
        }
        Some(error.section("7.3"))
    }
}

/// Finds the steps that are reached only by a failure.
fn handlers(steps: &[TopologyStep]) -> Vec<bool> {
    let mut is_named = vec![[false; 2]; steps.len()];
    for step in steps {
        for (way, names) in [&step.on_success, &step.on_failure].into_iter().enumerate() {
            names
                .iter()
                .filter_map(|next| next.step)
                .for_each(|it| is_named[it.index()][way] = true);
        }
    }
    let starts = |index: &usize| is_named[*index] == [false, false];
    let mut is_normal = vec![false; steps.len()];
    let mut open: Vec<_> = (0..steps.len()).filter(starts).collect();
    // If every step follows another one, there is a circle, which is reported elsewhere.
    while let Some(index) = open.pop() {
        if !std::mem::replace(&mut is_normal[index], true) {
            let next = steps[index].on_success.iter().filter_map(|next| next.step);
            open.extend(next.map(|step| step.index()));
        }
    }
    let mut is_handler = vec![false; steps.len()];
    let mut open: Vec<_> = steps
        .iter()
        .flat_map(|step| step.on_failure.iter().filter_map(|next| next.step))
        .map(|step| step.index())
        .collect();
    while let Some(index) = open.pop() {
        if !is_normal[index] && !std::mem::replace(&mut is_handler[index], true) {
            let next = steps[index].on_success.iter().filter_map(|next| next.step);
            open.extend(next.map(|step| step.index()));
        }
    }
    is_handler
}

/// Assigns inputs of an activity; they take precedence over those of the template (statement I3).
fn assign(call: &mut PlanCall, inputs: &[AssignedValue], workflow: &str) {
    for input in inputs {
        let from = format!("workflow.{workflow}");
        call.assign(&input.name, input.value.value.clone(), &from, input.value.span);
    }
}

/// Whether a value uses any of these inputs of the workflow.
fn takes(value: &Value, names: &[String]) -> bool {
    let mut takes = false;
    inputs(value, &mut |asked| takes |= names.iter().any(|name| name == asked));
    takes
}

/// An expression of TOSCA 2.0, as it is written, with the inputs of the workflow filled in.
fn filled_expression(value: &Value, inputs: &[(String, Value)]) -> Value {
    match value {
        Value::Map(entries) => {
            if let Some((Function::GetInput, arguments)) = Function::called_in(value)
                && let Some((name, path)) = input((Function::GetInput.name(), arguments))
                && let Some((_, value)) = inputs.iter().find(|(known, _)| known == name)
                && let Some(value) = path.iter().try_fold(value, part)
            {
                return meant::written(value.clone());
            }
            let fill = |(key, value): &(std::sync::Arc<str>, Value)| {
                (std::sync::Arc::clone(key), filled_expression(value, inputs))
            };
            Value::Map(entries.iter().map(fill).collect())
        }
        Value::List(items) => {
            Value::List(items.iter().map(|item| filled_expression(item, inputs)).collect())
        }
        other => other.clone(),
    }
}

/// The value with the inputs of the workflow filled in (statement I8).
fn filled(value: &Value, inputs: &[(String, Value)]) -> Value {
    match value {
        Value::Map(entries) => {
            if let [(function, arguments)] = &**entries
                && let Some((name, path)) = input((function, arguments))
                && let Some((_, value)) = inputs.iter().find(|(known, _)| known == name)
                && let Some(value) = path.iter().try_fold(value, part)
            {
                return value.clone();
            }
            let fill = |(key, value): &(std::sync::Arc<str>, Value)| {
                (std::sync::Arc::clone(key), filled(value, inputs))
            };
            Value::Map(entries.iter().map(fill).collect())
        }
        Value::List(items) => Value::List(items.iter().map(|item| filled(item, inputs)).collect()),
        other => other.clone(),
    }
}
