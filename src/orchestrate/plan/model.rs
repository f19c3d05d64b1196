//! Plans as data: steps, what each waits for, and the parts that they belong to.

use crate::text::index::indices;
use crate::text::source::Span;
use crate::text::value::Value;
use crate::topology::sensitive::{is_sensitive_name, masked};
use crate::tosca::{LifecycleOperation, NodeState};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

indices! {
    /// A position in [`Plan::steps`].
    PlanStepIndex
    /// A position in [`Plan::elements`].
    PlanElementIndex
    /// A position in [`Plan::parts`].
    PlanPartIndex
    /// A position in [`Plan::calls`].
    PlanCallIndex
    /// A position in [`Plan::scopes`].
    PlanScopeIndex
}

/// What happens, as a graph without cycles.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Plan {
    /// The name of the workflow: `deploy`, `undeploy`, `update`, or one of the template.
    pub workflow: String,
    /// Whether it was made from the topology, not written by anybody.
    pub is_generated: bool,
    /// What the workflow is told, in the order in which it declares that; one that follows from the
    /// topology takes the inputs of that, where they have values.
    pub inputs: Vec<WorkflowInput>,
    /// What steps act on, and where they run.
    pub elements: Vec<PlanElement>,
    /// In what pieces nodes do what they do; none where a workflow says each step.
    pub parts: Vec<PlanPart>,
    /// Each behind all that it waits for; otherwise in the order of the template.
    pub steps: Vec<PlanStep>,
    /// The operations that are called and have something to run.
    pub calls: Vec<PlanCall>,
    /// Where steps come from: `""`, and one for each workflow that was inlined, such as
    /// `step.all/1/backup/`.
    pub scopes: Vec<String>,
    /// The steps of imperative workflows, to which [`PlanStep::activity`] refers.
    pub workflow_steps: Vec<WorkflowStep>,
    /// Names of states that are none of the specification's, and of workflows that are delegated.
    pub names: Vec<String>,
    /// What has to hold before anything is done.
    pub preconditions: Vec<Guard>,
    /// What differs between the two variants that this leads from and to.
    pub changes: Vec<ElementChange>,
    /// The instance that it is made for, where it is for one.
    pub instance: Option<Box<PlannedInstance>>,
    /// Of each scope the step of a workflow that it stands for, and the scope of that.
    pub(super) scope_owners: Vec<Option<(PlanScopeIndex, u32)>>,
    /// Of the steps that would be called like others before them, the how many-th they are.
    pub(super) repeats: BTreeMap<PlanStepIndex, u32>,
    pub(super) waits: Vec<PlanStepIndex>,
    /// Where the waits of each step end.
    pub(super) ends: Vec<u32>,
}

/// The instance that a plan is made for.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PlannedInstance {
    /// What the plan was made from.
    pub base: PlanBase,
    /// What the instance is to be; nothing where it is to be gone.
    pub target: Option<PlanTarget>,
    /// Nodes that have another name now: the old one and the new one.
    pub moved: Vec<(String, String)>,
    /// Values that only carrying it out will bring.
    pub unknown: Vec<UnknownValue>,
}

impl PlannedInstance {
    pub(crate) fn new(
        base: PlanBase,
        target: Option<PlanTarget>,
        moved: Vec<(String, String)>,
        unknown: Vec<UnknownValue>,
    ) -> Self {
        Self { base, target, moved, unknown }
    }
}

impl UnknownValue {
    pub(crate) fn new(element: &str, path: &str) -> Self {
        Self { element: element.to_owned(), path: path.to_owned() }
    }
}

/// A value that only carrying out a plan will bring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnknownValue {
    /// `node.shop`
    pub element: String,
    /// `property.broker_url`
    pub path: String,
}

/// What a plan was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanBase {
    /// The name of the instance.
    pub instance: Arc<str>,
    /// What tells it from all others.
    pub lineage: Arc<str>,
    /// Its last record.
    pub revision: u64,
    /// What the plan depends on.
    pub structure: u64,
}

/// What an instance is to be when a plan is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanTarget {
    /// The digest of the target.
    pub digest: Arc<str>,
    /// The template.
    #[serde(default)]
    pub template: Arc<str>,
    /// The presets that were chosen.
    #[serde(default)]
    pub presets: Vec<Arc<str>>,
    /// The variability inputs that were given beside them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<Arc<str>, Value>,
}

/// The value of an input of the workflow that is planned.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkflowInput {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Whether it is nobody's business.
    pub is_sensitive: bool,
}

/// Something that steps act on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlanElement {
    /// `node.shop`, `relation.db@0.node.shop`, `group.web`.
    pub identifier: String,
    /// What people read: `shop`, `shop -> db`.
    pub name: String,
    /// What it is.
    pub kind: PlanElementKind,
    /// Where its name stands.
    pub span: Span,
    /// How often it is there.
    pub count: InstanceCount,
    /// Whether it is there already, and stays as it is (statement D10).
    pub is_there: bool,
    /// Of a group, its nodes, where a condition asks for them.
    pub members: Vec<PlanElementIndex>,
    /// What its attributes are before anything runs, as far as that is known and a condition asks
    /// for it.
    pub known: Vec<KnownAttribute>,
}

impl PlanElement {
    /// An element of which nothing else is said.
    pub(super) fn new(
        (identifier, name): (String, String),
        kind: PlanElementKind,
        span: Span,
    ) -> Self {
        Self {
            identifier,
            name,
            kind,
            span,
            count: InstanceCount::One,
            is_there: false,
            members: Vec::new(),
            known: Vec::new(),
        }
    }
}

/// An attribute of which it is known what it begins with: a property, or a default.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KnownAttribute {
    /// Its name.
    pub name: String,
    /// Its value; functions as they are written.
    pub value: Value,
    /// Whether that is nobody's business.
    pub is_sensitive: bool,
}

/// What steps act on, as workflows name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanElementKind {
    /// A node, by its name.
    Node,
    /// A relation: the name of the requirement, and the nodes at its ends.
    Relation {
        /// `db`
        requirement: String,
        /// `shop`
        source: String,
        /// Nothing where it has to be found.
        target: Option<String>,
    },
    /// A group, by its name.
    Group,
}

/// How many instances a node has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InstanceCount {
    /// One.
    #[default]
    One,
    /// So many.
    Known(u64),
    /// That depends on an input without a value.
    Open,
}

/// What happens to an element between two variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeClass {
    /// Nothing.
    Keep,
    /// It comes.
    Add,
    /// It goes.
    Remove,
    /// It goes and comes again.
    Recreate,
    /// It is stopped, configured and started.
    Reconfigure,
    /// It is stopped and started.
    Restart,
    /// It keeps running while its relations change.
    Rewire,
    /// It is brought to where it should be; only where it is known how things are.
    Repair,
}

impl ChangeClass {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 8] = [
        Self::Add,
        Self::Remove,
        Self::Recreate,
        Self::Reconfigure,
        Self::Restart,
        Self::Rewire,
        Self::Repair,
        Self::Keep,
    ];

    /// What programs read.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Add => "add",
            Self::Remove => "remove",
            Self::Recreate => "recreate",
            Self::Reconfigure => "reconfigure",
            Self::Restart => "restart",
            Self::Rewire => "rewire",
            Self::Repair => "repair",
        }
    }

    /// What people read.
    pub const fn participle(self) -> &'static str {
        match self {
            Self::Keep => "kept",
            Self::Add => "added",
            Self::Remove => "removed",
            Self::Recreate => "recreated",
            Self::Reconfigure => "reconfigured",
            Self::Restart => "restarted",
            Self::Rewire => "rewired",
            Self::Repair => "repaired",
        }
    }
}

/// What differs at an element, and what follows from that.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ElementChange {
    /// `node.shop`
    pub element: String,
    /// What becomes of it.
    pub class: ChangeClass,
    /// Why.
    pub reasons: Vec<ChangeReason>,
}

/// Why an element changes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChangeReason {
    /// Where in the element, as in a [`Change`](crate::diff::Change): `property.replicas`.
    pub path: String,
    /// What was there.
    pub from: Option<Value>,
    /// What is there then.
    pub to: Option<Value>,
    /// Where that is written.
    pub span: Option<Span>,
    /// The element whose change brings this about.
    pub because: Option<String>,
    /// Whether what was there and is there then is nobody's business.
    pub is_sensitive: bool,
}

/// Which piece of an element's work a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PartKind {
    /// A node stops, and may go.
    Down,
    /// A relation of a source that keeps running goes.
    Unwire,
    /// A node comes, or starts again.
    Up,
    /// A relation of a source that keeps running comes.
    Wire,
    /// The target of a relation of a source that keeps running has changed.
    Changed,
    /// All that goes has gone, and what comes has not begun; of a relation, the other way round: all
    /// that comes of its name at its source has come, and what goes has not begun.
    Turn,
}

impl PartKind {
    /// What stands behind the element's identifier.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Unwire => "unwire",
            Self::Up => "up",
            Self::Wire => "wire",
            Self::Changed => "changed",
            Self::Turn => "turn",
        }
    }
}

/// What an element does in one piece: its steps stand side by side.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlanPart {
    /// Whose it is; nothing for the turn between all that goes and all that comes.
    pub element: Option<PlanElementIndex>,
    /// Which piece.
    pub kind: PartKind,
    /// What becomes of the element.
    pub class: ChangeClass,
    /// The parts that have to be done before.
    pub after: Vec<PlanPartIndex>,
    /// Its first step.
    pub first: PlanStepIndex,
    /// How many steps it has.
    pub steps: u32,
}

/// A step: one activity at one element.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlanStep {
    /// The workflow that it stands in.
    pub scope: PlanScopeIndex,
    /// What it acts on.
    pub element: Option<PlanElementIndex>,
    /// What is done.
    pub work: StepWork,
    /// What that runs, if anything.
    pub call: Option<PlanCallIndex>,
    /// Where.
    pub host: StepHost,
    /// The piece of work that it belongs to.
    pub part: Option<PlanPartIndex>,
    /// Of a step that somebody wrote, which, and which of its activities.
    pub activity: Option<(u32, u32)>,
    /// The earliest round in which it can be done, from 1; 0 for what is done before any.
    pub wave: u32,
    /// Whether it is done only where another one fails.
    pub is_handler: bool,
    /// Whether people see it: it runs something, or stands for a node that has nothing to run.
    pub is_shown: bool,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepWork {
    /// A node has reached a state.
    State(NodeState),
    /// A node has been stopped: its state is `configured`.
    Stopped,
    /// A node is gone, and has no state any more.
    Deleted,
    /// A state that the specification does not know: its name, a position in [`Plan::names`].
    OtherState(u32),
    /// An operation that belongs to the course of things.
    Operation(LifecycleOperation),
    /// An operation that a workflow calls; which one says [`PlanStep::call`].
    Call,
    /// The orchestrator brings a node.
    Deploy,
    /// The orchestrator takes a node away.
    Undeploy,
    /// The orchestrator changes a node in its place.
    Update,
    /// The orchestrator runs this workflow of its own, a position in [`Plan::names`], for a node.
    Delegate(u32),
    /// Something else runs the whole workflow.
    External,
    /// Nothing: all that comes, or goes, waits for it instead of for all that goes, or comes.
    Turn,
    /// Nothing but what it waits for.
    Nothing,
}

impl StepWork {
    /// Whether the orchestrator does it by itself.
    pub fn is_delegated(self) -> bool {
        matches!(self, Self::Deploy | Self::Undeploy | Self::Update | Self::Delegate(_))
    }

    /// What the state of a node is when this is done, where that is a state of the specification.
    pub fn state(self) -> Option<NodeState> {
        match self {
            Self::State(state) => Some(state),
            Self::Stopped => Some(NodeState::Configured),
            _ => None,
        }
    }
}

/// Where a step runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StepHost {
    /// Nothing is run.
    #[default]
    None,
    /// Where the orchestrator runs.
    Orchestrator,
    /// On a node.
    Element(PlanElementIndex),
}

/// A step of an imperative workflow.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkflowStep {
    /// Its name.
    pub name: String,
    /// Where that stands.
    pub span: Span,
    /// How many activities it has.
    pub activities: u32,
    /// Whether each activity is done for every member of a group.
    pub is_for_group: bool,
    /// What has to hold for it to do anything.
    pub guards: Vec<Guard>,
    /// The steps that follow where it fails: positions in [`Plan::workflow_steps`].
    pub on_failure: Vec<u32>,
    /// The same for where it succeeds.
    pub on_success: Vec<u32>,
}

/// What has to hold for a step to do anything.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Guard {
    /// Whose attributes are looked at.
    pub element: Option<PlanElementIndex>,
    /// The condition, as it is written.
    pub condition: Value,
    /// Where.
    pub span: Span,
}

/// An operation with something to run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlanCall {
    /// The name of the interface.
    pub interface: String,
    /// The name of the operation.
    pub operation: String,
    /// What is run: the name of a file, or of an artifact that is no file of the template's; nothing
    /// where a deployment artifact or nobody does it.
    pub primary: Option<String>,
    /// The deployment artifact, where that alone is what creates the node.
    pub artifact: Option<String>,
    /// What else is needed for it.
    pub dependencies: Vec<String>,
    /// After so many seconds it has failed, as it is written.
    pub timeout: Option<Value>,
    /// Where its author wants it to run: `SELF`, `HOST`, `SOURCE`, `TARGET`, `ORCHESTRATOR`.
    pub host: Option<String>,
    /// What it is told.
    pub inputs: Vec<CallInput>,
    /// Which attributes its outputs go to.
    pub outputs: Vec<(String, Value)>,
    /// Where it is implemented.
    pub span: Span,
}

/// An input of an operation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallInput {
    /// Its name.
    pub name: String,
    /// Its value; functions as they are written.
    pub value: Value,
    /// Who says so: `node.shop`, `relationship.db`, `workflow.backup`, or the name of a type.
    pub from: String,
    /// Where.
    pub span: Span,
    /// Whether it is nobody's business.
    pub is_sensitive: bool,
}

impl Plan {
    /// The ids of all steps.
    pub fn step_ids(&self) -> impl ExactSizeIterator<Item = PlanStepIndex> + use<> {
        (0..self.steps.len()).map(PlanStepIndex::new)
    }

    /// A step of this plan.
    pub fn step(&self, id: PlanStepIndex) -> &PlanStep {
        &self.steps[id.index()]
    }

    /// An element of this plan.
    pub fn element(&self, id: PlanElementIndex) -> &PlanElement {
        &self.elements[id.index()]
    }

    /// A part of this plan.
    pub fn part(&self, id: PlanPartIndex) -> &PlanPart {
        &self.parts[id.index()]
    }

    /// What a step runs.
    pub fn call_of(&self, id: PlanStepIndex) -> Option<&PlanCall> {
        self.step(id).call.map(|call| &self.calls[call.index()])
    }

    /// The steps that a step waits for.
    pub fn after(&self, id: PlanStepIndex) -> &[PlanStepIndex] {
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.waits[start as usize..self.ends[id.index()] as usize]
    }

    /// The steps from this one on that no other waits for.
    pub(super) fn last_since(&self, first: PlanStepIndex) -> Vec<PlanStepIndex> {
        let count = self.steps.len() - first.index();
        let mut is_awaited = vec![false; count];
        for step in first.index()..self.steps.len() {
            for wait in self.after(PlanStepIndex::new(step)) {
                if let Some(wait) = wait.index().checked_sub(first.index()) {
                    is_awaited[wait] = true;
                }
            }
        }
        let last = is_awaited.iter().enumerate().filter(|(_, is_awaited)| !**is_awaited);
        last.map(|(index, _)| PlanStepIndex::new(first.index() + index)).collect()
    }

    /// The step that somebody wrote of which a step is a part: its own, or the one that inlines the
    /// generated workflow in which it is. A position in [`Plan::workflow_steps`].
    pub fn written(&self, id: PlanStepIndex) -> Option<u32> {
        let step = self.step(id);
        let own = step.activity.map(|(written, _)| written);
        own.or_else(|| self.scope_owners[step.scope.index()].map(|(_, written)| written))
    }

    /// What has to hold for a step to do anything.
    pub fn guards(&self, id: PlanStepIndex) -> &[Guard] {
        self.written(id).map_or(&[], |written| &self.workflow_steps[written as usize].guards)
    }

    /// Whether anything in it is nobody's business.
    pub fn has_secrets(&self) -> bool {
        let mut inputs = self.calls.iter().flat_map(|call| &call.inputs);
        let mut reasons = self.changes.iter().flat_map(|change| &change.reasons);
        self.inputs.iter().any(|input| input.is_sensitive)
            || inputs.any(|input| input.is_sensitive)
            || reasons.any(|reason| reason.is_sensitive)
    }

    /// Lets all be nobody's business that holds what is kept of a secret.
    pub(crate) fn hide_kept_secrets(&mut self) {
        let holds = |value: &Value| masked(value).is_some();
        for input in self.calls.iter_mut().flat_map(|call| &mut call.inputs) {
            input.is_sensitive |= holds(&input.value);
        }
        for input in &mut self.inputs {
            input.is_sensitive |= holds(&input.value);
        }
        for reason in self.changes.iter_mut().flat_map(|change| &mut change.reasons) {
            if let Some((path, _)) = reason.path.split_once("[\"$sensitive\"]") {
                (reason.path, reason.is_sensitive) = (path.to_owned(), true);
            }
            let mut values = reason.from.iter().chain(&reason.to);
            reason.is_sensitive |= values.any(holds);
        }
    }

    /// How many rounds it takes, where nothing fails.
    pub fn waves(&self) -> u32 {
        let shown = self.steps.iter().filter(|step| step.is_shown && !step.is_handler);
        shown.map(|step| step.wave).max().unwrap_or(0)
    }

    /// The identifier of a part: `node.shop/up`.
    pub fn part_identifier(&self, id: PlanPartIndex) -> String {
        let part = self.part(id);
        match part.element {
            Some(element) => {
                format!("{}/{}", self.element(element).identifier, part.kind.as_str())
            }
            None => format!("{}/{}", self.workflow, part.kind.as_str()),
        }
    }

    /// The identifier of a step: `node.shop/create`, `step.backup/0`; `node.vm/started@1` where one
    /// before it would be called so, too.
    pub fn identifier(&self, id: PlanStepIndex) -> String {
        let own = self.own_identifier(id);
        match self.repeats.get(&id) {
            Some(repeat) => format!("{own}@{repeat}"),
            None => own,
        }
    }

    /// Numbers the steps that would be called like others before them.
    pub(super) fn number_repeats(&mut self) {
        let mut taken: FxHashSet<String> = FxHashSet::default();
        let mut next: FxHashMap<String, u32> = FxHashMap::default();
        let mut again = Vec::new();
        for id in self.step_ids() {
            let name = self.own_identifier(id);
            match taken.contains(&name) {
                true => again.push((id, name)),
                false => drop(taken.insert(name)),
            }
        }
        for (id, name) in again {
            let repeat = next.entry(name.clone()).or_insert(0);
            *repeat += 1;
            // Somebody may have called another step so.
            while !taken.insert(format!("{name}@{repeat}")) {
                *repeat += 1;
            }
            self.repeats.insert(id, *repeat);
        }
    }

    /// The identifiers of the steps that somebody wrote: `step.backup`, `step.all/1/nightly/step.dump`.
    pub(crate) fn written_identifiers(&self) -> Vec<String> {
        let mut scopes = vec![0; self.workflow_steps.len()];
        let own = self.steps.iter().filter_map(|step| Some((step.scope, step.activity?.0)));
        for (scope, written) in own.chain(self.scope_owners.iter().flatten().copied()) {
            scopes[written as usize] = scope.index();
        }
        let named = scopes.iter().zip(&self.workflow_steps);
        named.map(|(&scope, step)| format!("{}step.{}", self.scopes[scope], step.name)).collect()
    }

    fn own_identifier(&self, id: PlanStepIndex) -> String {
        let step = self.step(id);
        let scope = &self.scopes[step.scope.index()];
        if let Some((written, activity)) = step.activity {
            let written = &self.workflow_steps[written as usize];
            return match (written.activities, step.element) {
                (0, _) => format!("{scope}step.{}", written.name),
                (_, Some(element)) if written.is_for_group => format!(
                    "{scope}step.{}/{activity}/{}",
                    written.name,
                    self.element(element).identifier
                ),
                _ => format!("{scope}step.{}/{activity}", written.name),
            };
        }
        let element = step.element.map(|element| &*self.element(element).identifier);
        format!("{scope}{}/{}", element.unwrap_or(&self.workflow), self.label(step.work))
    }

    /// What a step does, in a word: a state, an operation, a workflow.
    pub fn label(&self, work: StepWork) -> &str {
        match work {
            StepWork::State(state) => state.as_str(),
            StepWork::Stopped => "stopped",
            StepWork::Deleted => "deleted",
            StepWork::OtherState(name) | StepWork::Delegate(name) => &self.names[name as usize],
            StepWork::Operation(operation) => operation.as_str(),
            StepWork::Call => "call",
            StepWork::Deploy => "deploy",
            StepWork::Undeploy => "undeploy",
            StepWork::Update => "update",
            StepWork::External => "external",
            StepWork::Turn => "turn",
            StepWork::Nothing => "nothing",
        }
    }
}

impl PlanCall {
    /// A call of nothing yet, at this place.
    pub(super) fn at(span: Span) -> Self {
        Self {
            interface: String::new(),
            operation: String::new(),
            primary: None,
            artifact: None,
            dependencies: Vec::new(),
            timeout: None,
            host: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            span,
        }
    }

    /// Gives an input a value instead of the one that it has, if any.
    pub(super) fn assign(&mut self, name: &str, value: Value, from: &str, span: Span) {
        let from = from.to_owned();
        match self.inputs.iter_mut().find(|known| known.name == name) {
            Some(known) => (known.value, known.from, known.span) = (value, from, span),
            None => {
                let is_sensitive = is_sensitive_name(name);
                self.inputs.push(CallInput {
                    name: name.to_owned(),
                    value,
                    from,
                    span,
                    is_sensitive,
                });
            }
        }
    }
}

impl PlanStep {
    /// Whether an executor has something to do for it.
    pub fn is_run(&self) -> bool {
        self.call.is_some() || self.work.is_delegated() || self.work == StepWork::External
    }
}
