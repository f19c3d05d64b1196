//! The data of plans: steps, which steps each waits for, and the parts that they belong to.

use crate::topology::diff::step;
use crate::topology::index::indices;
use crate::topology::sensitive::masked;
use crate::tosca::function::function_in;
use crate::tosca::sensitive::is_sensitive_name;
use crate::tosca::value::TextType;
use crate::tosca::{LifecycleOperation, NodeState, v2_0};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
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

/// A plan: steps in a graph without cycles.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Plan {
    /// The name of the workflow: `deploy`, `undeploy`, `update`, or one of the template.
    pub workflow: String,
    /// Whether the workflow was generated from the topology, not written by an author.
    pub is_generated: bool,
    /// The inputs of the workflow with their values, in the order of their declarations. A
    /// generated workflow has the inputs of the topology.
    pub inputs: Vec<WorkflowInput>,
    /// The elements that steps act on or run on.
    pub elements: Vec<PlanElement>,
    /// The pieces of work of nodes and relations; none if a workflow gives each step.
    pub parts: Vec<PlanPart>,
    /// The steps. Each comes after all that it waits for, otherwise they are in the order of the
    /// template.
    pub steps: Vec<PlanStep>,
    /// The operations that are called and have something to run.
    pub calls: Vec<PlanCall>,
    /// The scopes of steps: `""`, and one for each inlined workflow, such as `step.all/1/backup/`.
    pub scopes: Vec<String>,
    /// The steps of imperative workflows, to which [`PlanStep::activity`] refers.
    pub workflow_steps: Vec<WorkflowStep>,
    /// The names of states that the specification does not know, and of delegated workflows.
    pub names: Vec<String>,
    /// The conditions that have to hold before anything is done.
    pub preconditions: Vec<Guard>,
    /// The differences between the two variants of an update.
    pub changes: Vec<ElementChange>,
    /// The instance that the plan is made for, if any.
    pub instance: Option<Box<PlannedInstance>>,
    /// The names of all nodes of the template, for a plan that need not act on all of them.
    pub(super) node_names: Vec<String>,
    /// Whether the template is one of TOSCA 2.0.
    pub(crate) is_2_0: bool,
    /// For each scope the written step that inlines it, and the scope of that step.
    pub(super) scope_owners: Vec<Option<(PlanScopeIndex, u32)>>,
    /// For steps that would have the identifier of an earlier one, the number that is appended.
    pub(super) repeats: BTreeMap<PlanStepIndex, u32>,
    pub(super) waits: Vec<PlanStepIndex>,
    /// For each step, the end of its range in `waits`.
    pub(super) ends: Vec<u32>,
}

/// The instance that a plan is made for.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PlannedInstance {
    /// The state of the instance that the plan was made from.
    pub base: PlanBase,
    /// The target of the instance after the plan; `None` if the instance is to be empty.
    pub target: Option<PlanTarget>,
    /// Renamed nodes: the old and the new name.
    pub moved: Vec<(String, String)>,
    /// Values that are only known when the plan is carried out.
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

/// A value that is only known when a plan is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnknownValue {
    /// The identifier of the element: `node.shop`.
    pub element: String,
    /// The path of the value: `property.broker_url`.
    pub path: String,
}

/// The state of an instance that a plan was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanBase {
    /// The name of the instance.
    pub instance: Arc<str>,
    /// The lineage of the instance: what tells it from all others.
    pub lineage: Arc<str>,
    /// The number of its last record.
    pub revision: u64,
    /// The number of its structural changes; the plan is stale if that has grown.
    pub structure: u64,
}

/// The target of an instance after a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanTarget {
    /// The digest of the target.
    pub digest: Arc<str>,
    /// The path of the template.
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
    /// Whether the value is secret.
    pub is_sensitive: bool,
}

/// An element that steps act on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlanElement {
    /// The identifier: `node.shop`, `relation.db@0.node.shop`, `group.web`.
    pub identifier: String,
    /// The name for people: `shop`, `shop -> db`.
    pub name: String,
    /// The kind of element.
    pub kind: PlanElementKind,
    /// The place of its name in the source.
    pub span: Span,
    /// How many instances of it exist.
    pub count: InstanceCount,
    /// Whether it exists already, and stays as it is (statement D10).
    pub is_there: bool,
    /// For a group, its nodes, if a condition needs them.
    pub members: Vec<PlanElementIndex>,
    /// The values of its attributes before anything runs, as far as they are known and a condition
    /// needs them.
    pub known: Vec<KnownAttribute>,
    /// What the types of these attributes make of texts, for those of which they make something.
    pub(crate) forms: Vec<(String, TextType)>,
}

impl PlanElement {
    /// An element with its other fields empty.
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
            forms: Vec::new(),
        }
    }
}

/// An attribute with a known initial value: that of a property, or a default.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KnownAttribute {
    /// Its name.
    pub name: String,
    /// Its value, with functions unevaluated.
    pub value: Value,
    /// Whether the value is secret.
    pub is_sensitive: bool,
}

/// The kind of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanElementKind {
    /// A node, by its name.
    Node,
    /// A relation: the name of the requirement, and the nodes at its ends.
    Relation {
        /// The name of the requirement: `db`.
        requirement: String,
        /// The name of the source: `shop`.
        source: String,
        /// The name of the target; `None` if the target has to be found.
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
    /// This number.
    Known(u64),
    /// Unknown: it depends on an input without a value.
    Open,
}

impl InstanceCount {
    /// The number, if it is known.
    pub(super) fn number(self) -> Option<u64> {
        match self {
            Self::One => Some(1),
            Self::Known(count) => Some(count),
            Self::Open => None,
        }
    }
}

/// The class of a change: what happens to an element between two variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeClass {
    /// It does not change.
    Keep,
    /// It is added.
    Add,
    /// It is removed.
    Remove,
    /// It is removed and made again.
    Recreate,
    /// It is stopped, configured and started.
    Reconfigure,
    /// It is stopped and started.
    Restart,
    /// It keeps running while its relations change.
    Rewire,
    /// It is brought to its target state. This needs knowledge of its present state.
    Repair,
}

impl ChangeClass {
    /// All classes, in the order in which messages count them.
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

    /// The name for programs.
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

    /// The participle for messages to people.
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

/// A change of an element, with its reasons.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ElementChange {
    /// The identifier of the element: `node.shop`.
    pub element: String,
    /// The class of the change.
    pub class: ChangeClass,
    /// The reasons of the change.
    pub reasons: Vec<ChangeReason>,
}

/// A reason why an element changes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChangeReason {
    /// The path in the element, as in a [`Change`](crate::topology::diff::Change): `property.replicas`.
    pub path: String,
    /// The old value.
    pub from: Option<Value>,
    /// The new value.
    pub to: Option<Value>,
    /// The place where the new value is written.
    pub span: Option<Span>,
    /// The element whose change causes this one.
    pub because: Option<String>,
    /// Whether the values are secret.
    pub is_sensitive: bool,
}

/// The kind of a part: which piece of an element's work it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PartKind {
    /// A node stops, and is perhaps removed.
    Down,
    /// A relation is removed while its source keeps running.
    Unwire,
    /// A node is made, or starts again.
    Up,
    /// A relation is added while its source keeps running.
    Wire,
    /// The target of a relation has changed while its source keeps running.
    Changed,
    /// A turn. For nodes: all that goes has gone, and nothing that comes has begun. For relations
    /// of one name at one source it is the other way round: all that come have come, and none that
    /// goes has begun.
    Turn,
}

impl PartKind {
    /// The name of the part after the element's identifier.
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

/// A piece of work of an element. Its steps are adjacent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlanPart {
    /// The element; `None` for the turn between all nodes that go and all that come.
    pub element: Option<PlanElementIndex>,
    /// The kind of the piece.
    pub kind: PartKind,
    /// The class of the element's change.
    pub class: ChangeClass,
    /// The parts that have to be done before this one.
    pub after: Vec<PlanPartIndex>,
    /// Its first step.
    pub first: PlanStepIndex,
    /// How many steps it has.
    pub steps: u32,
}

/// How much a plan does, unless a step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanCounts {
    /// The number of operations that are called.
    pub operations: usize,
    /// The number of steps that somebody else does.
    pub delegations: usize,
}

/// A step: one activity at one element.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlanStep {
    /// The scope: the workflow that contains it.
    pub scope: PlanScopeIndex,
    /// The element that it acts on.
    pub element: Option<PlanElementIndex>,
    /// The work of the step.
    pub work: StepWork,
    /// The call that it runs, if any.
    pub call: Option<PlanCallIndex>,
    /// The host on which it runs.
    pub host: StepHost,
    /// The part that it belongs to.
    pub part: Option<PlanPartIndex>,
    /// For a written step, the index of the step and of its activity.
    pub activity: Option<(u32, u32)>,
    /// The earliest round in which it can be done, from 1; 0 if it is done before the first round.
    pub wave: u32,
    /// Whether it is done only if another step fails.
    pub is_handler: bool,
    /// Whether people see it: it runs something, or stands for a node with nothing to run.
    pub is_shown: bool,
    /// Whether it has nothing to run, and people see it all the same.
    pub is_idle: bool,
}

/// The work of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepWork {
    /// A node reaches a state.
    State(NodeState),
    /// A node is stopped: its state is `configured`.
    Stopped,
    /// A node is removed, and has no state any more.
    Deleted,
    /// A node reaches a state that the specification does not know; the index is in
    /// [`Plan::names`].
    OtherState(u32),
    /// A life-cycle operation.
    Operation(LifecycleOperation),
    /// An operation that a workflow calls; [`PlanStep::call`] tells which one.
    Call,
    /// The orchestrator brings a node.
    Deploy,
    /// The orchestrator takes a node away.
    Undeploy,
    /// The orchestrator changes a node in its place.
    Update,
    /// The orchestrator runs a workflow of its own for a node; the index is in [`Plan::names`].
    Delegate(u32),
    /// An implementation outside runs the whole workflow.
    External,
    /// Nothing. The steps after a turn wait for it instead of for each step before the turn.
    Turn,
    /// Nothing. It only waits for other steps.
    Nothing,
}

impl StepWork {
    /// Whether the orchestrator does this work by itself.
    pub fn is_delegated(self) -> bool {
        matches!(self, Self::Deploy | Self::Undeploy | Self::Update | Self::Delegate(_))
    }

    /// The state of the node after this work, if it is one of the specification's.
    pub fn state(self) -> Option<NodeState> {
        match self {
            Self::State(state) => Some(state),
            Self::Stopped => Some(NodeState::Configured),
            _ => None,
        }
    }
}

/// The host on which a step runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StepHost {
    /// Nowhere: nothing is run.
    #[default]
    None,
    /// On the machine of the orchestrator.
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
    /// The place of its name.
    pub span: Span,
    /// How many activities it has.
    pub activities: u32,
    /// Whether each activity is done for several elements: the members of a group, the nodes of a
    /// template, or the relations of a requirement.
    pub is_for_group: bool,
    /// The conditions without which it does nothing.
    pub guards: Vec<Guard>,
    /// The steps that follow if it fails, as positions in [`Plan::workflow_steps`].
    pub on_failure: Vec<u32>,
    /// The steps that follow if it succeeds, as positions in [`Plan::workflow_steps`].
    pub on_success: Vec<u32>,
}

/// A condition without which a step does nothing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Guard {
    /// The element whose attributes are checked.
    pub element: Option<PlanElementIndex>,
    /// The condition, with the inputs of the workflow that are no secrets.
    pub condition: Value,
    /// The condition as it is written, if it is another one.
    pub(crate) written: Option<Value>,
    /// The place of the condition.
    pub span: Span,
}

/// A call of an operation that has something to run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlanCall {
    /// The name of the interface.
    pub interface: String,
    /// The name of the operation.
    pub operation: String,
    /// The implementation: the name of a file, or of an artifact that is no file of the template;
    /// `None` if a deployment artifact does it, or nobody.
    pub primary: Option<String>,
    /// The type of the artifact that the implementation is, if it is known.
    pub primary_type: Option<String>,
    /// The deployment artifact, if that alone creates the node.
    pub artifact: Option<String>,
    /// Further files or artifacts that the implementation needs.
    pub dependencies: Vec<String>,
    /// The number of seconds after which it has failed, as it is written.
    pub timeout: Option<Value>,
    /// The host that its author gives: `SELF`, `HOST`, `SOURCE`, `TARGET`, `ORCHESTRATOR`.
    pub host: Option<String>,
    /// Its inputs.
    pub inputs: Vec<CallInput>,
    /// Its outputs, with the attributes that they are assigned to.
    pub outputs: Vec<CallOutput>,
    /// The place of its implementation.
    pub span: Span,
    /// The places of the names of its files.
    pub(super) places: CallPlaces,
}

/// The places where the files of a call are named.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CallPlaces {
    pub(super) primary: Span,
    pub(super) dependencies: Vec<Span>,
}

/// An input of an operation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallInput {
    /// Its name.
    pub name: String,
    /// Its value, with functions unevaluated.
    pub value: Value,
    /// The source of the value: `node.shop`, `relationship.db`, `workflow.backup`, or the name of a
    /// type.
    pub from: String,
    /// The place of the value.
    pub span: Span,
    /// Whether the value is secret.
    pub is_sensitive: bool,
    /// The function that gives the value, if that takes something from the source or target of a
    /// relation.
    pub function: Option<Value>,
    /// Whether it is a property of the artifact that implements the operation.
    pub is_property: bool,
    /// Whether secrets in the value are sealed, as an instance keeps them.
    pub(crate) is_sealed: bool,
}

impl CallInput {
    /// Its path from the operation.
    pub(crate) fn path(&self) -> String {
        let of = if self.is_property { "implementation.properties" } else { "inputs" };
        format!("{of}{}", step(&self.name))
    }

    /// Whether the value can be written although it is secret: an instance keeps its secrets so.
    pub fn is_sealed(&self) -> bool {
        self.is_sealed
    }

    /// Whether the value is only known when the step begins: functions in it are unevaluated.
    pub fn is_runtime(&self) -> bool {
        function_in(&self.value).is_some()
    }
}

/// An output of an operation, and the attribute that it is assigned to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallOutput {
    /// Its name.
    pub name: String,
    /// The element with the attribute, as in functions: `SELF`, `SOURCE` or `TARGET`.
    pub entity: String,
    /// The capability with the attribute, if the attribute is not the element's own.
    pub capability: Option<String>,
    /// The name of the attribute.
    pub attribute: String,
    /// The names and positions that lead to a part of the attribute; empty for all of it.
    pub path: Vec<Value>,
}

impl CallOutput {
    /// An output with this mapping; `None` if it is assigned to no attribute (section 3.6.15). A path
    /// of TOSCA 2.0 is read as the one of 1.3 that means the same; one that leads elsewhere is not
    /// followed. `is_capability` tells whether an entity has a capability of a name.
    pub(crate) fn of(
        name: &str,
        mapping: &Value,
        of_relationship: bool,
        is_capability: impl Fn(&str, &str) -> bool,
    ) -> Option<Self> {
        let Value::List(path) = mapping else { return None };
        let path = v2_0::local_path(path, of_relationship)?;
        let (entity, path) = path.split_first()?;
        let entity = entity.as_str()?;
        let is_capability =
            |name: &Value| name.as_str().is_some_and(|name| is_capability(entity, name));
        let (capability, attribute, path) = match path {
            [capability, attribute, path @ ..] if is_capability(capability) => {
                (capability.as_str(), attribute, path)
            }
            [attribute, path @ ..] => (None, attribute, path),
            [] => return None,
        };
        Some(Self {
            name: name.to_owned(),
            entity: entity.to_owned(),
            capability: capability.map(str::to_owned),
            attribute: attribute.as_str()?.to_owned(),
            path: path.to_vec(),
        })
    }
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

    /// The call of a step.
    pub fn call_of(&self, id: PlanStepIndex) -> Option<&PlanCall> {
        self.step(id).call.map(|call| &self.calls[call.index()])
    }

    /// The steps that a step waits for.
    pub fn after(&self, id: PlanStepIndex) -> &[PlanStepIndex] {
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.waits[start as usize..self.ends[id.index()] as usize]
    }

    /// The steps from this one on for which no other waits.
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

    /// The written step that a step belongs to: its own, or the one that inlines the generated
    /// workflow of the step. The index is in [`Plan::workflow_steps`].
    pub fn written(&self, id: PlanStepIndex) -> Option<u32> {
        let step = self.step(id);
        let own = step.activity.map(|(written, _)| written);
        own.or_else(|| self.scope_owners[step.scope.index()].map(|(_, written)| written))
    }

    /// The conditions without which a step does nothing.
    pub fn guards(&self, id: PlanStepIndex) -> &[Guard] {
        self.written(id).map_or(&[], |written| &self.workflow_steps[written as usize].guards)
    }

    /// Whether the plan contains a secret.
    pub fn has_secrets(&self) -> bool {
        let mut inputs = self.calls.iter().flat_map(|call| &call.inputs);
        let mut reasons = self.changes.iter().flat_map(|change| &change.reasons);
        self.inputs.iter().any(|input| input.is_sensitive)
            || inputs.any(|input| input.is_sensitive)
            || reasons.any(|reason| reason.is_sensitive)
    }

    /// Marks everything as sensitive that contains a kept secret.
    pub(crate) fn hide_kept_secrets(&mut self) {
        let holds = |value: &Value| masked(value).is_some();
        for input in self.calls.iter_mut().flat_map(|call| &mut call.inputs) {
            input.is_sensitive |= holds(&input.value);
            input.is_sealed = true;
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

    /// The number of rounds if nothing fails.
    pub fn waves(&self) -> u32 {
        let normal = self.steps.iter().filter(|step| !step.is_handler);
        normal.map(|step| step.wave).max().unwrap_or(0)
    }

    /// How many operations are called, and how much is delegated, unless a step fails.
    pub fn counts(&self) -> PlanCounts {
        let normal = || self.steps.iter().filter(|step| !step.is_handler);
        PlanCounts {
            operations: normal().filter(|step| step.is_called()).count(),
            delegations: normal().filter(|step| step.is_delegated()).count(),
        }
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

    /// The identifier of a step: `node.shop/create`, `step.backup/0`. If an earlier step has the
    /// same one, a number is appended: `node.vm/started@1`.
    pub fn identifier(&self, id: PlanStepIndex) -> String {
        let own = self.own_identifier(id);
        match self.repeats.get(&id) {
            Some(repeat) => format!("{own}@{repeat}"),
            None => own,
        }
    }

    /// Numbers the steps that would have the identifier of an earlier one.
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
            // A written step may already have that name.
            while !taken.insert(format!("{name}@{repeat}")) {
                *repeat += 1;
            }
            self.repeats.insert(id, *repeat);
        }
    }

    /// The identifiers of the written steps: `step.backup`, `step.all/1/nightly/step.dump`.
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

    /// A word for the work of a step: a state, an operation, a workflow.
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
    /// An empty call with this place.
    pub(super) fn at(span: Span) -> Self {
        Self {
            interface: String::new(),
            operation: String::new(),
            primary: None,
            primary_type: None,
            artifact: None,
            dependencies: Vec::new(),
            timeout: None,
            host: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            span,
            places: CallPlaces { primary: span, dependencies: Vec::new() },
        }
    }

    /// Whether it has anything to run.
    pub(super) fn runs(&self) -> bool {
        self.primary.is_some() || self.artifact.is_some()
    }

    /// The file of the implementation, with the place where it is named.
    pub(super) fn file(&self) -> Option<(&str, Span)> {
        Some((self.primary.as_deref()?, self.places.primary))
    }

    /// The files that the implementation needs, with the places where they are named.
    pub(super) fn needed(&self) -> impl Iterator<Item = (&str, Span)> {
        self.dependencies.iter().map(String::as_str).zip(self.places.dependencies.iter().copied())
    }

    /// Assigns a value to an input, in place of an earlier one.
    pub(super) fn assign(&mut self, name: &str, value: Value, from: &str, span: Span) {
        let from = from.to_owned();
        match self.inputs.iter_mut().find(|known| known.name == name) {
            Some(known) => {
                (known.value, known.from, known.span) = (value, from, span);
                known.is_property = false;
            }
            None => {
                let is_sensitive = is_sensitive_name(name);
                self.inputs.push(CallInput {
                    name: name.to_owned(),
                    value,
                    from,
                    span,
                    is_sensitive,
                    function: None,
                    is_property: false,
                    is_sealed: false,
                });
            }
        }
    }
}

impl PlanStep {
    /// Whether an executor has something to run for the step.
    pub fn is_run(&self) -> bool {
        self.is_called() || self.is_delegated()
    }

    /// Whether somebody else does it, and nothing is called for it: the orchestrator, or a workflow
    /// in another language.
    pub fn is_delegated(&self) -> bool {
        self.work.is_delegated() || (self.work == StepWork::External && !self.is_called())
    }

    /// Whether an operation is called that has something to run.
    pub fn is_called(&self) -> bool {
        self.call.is_some() && !self.is_idle
    }

    /// Whether the step takes a round, and counts as a step: it runs something, or an author gave
    /// it a place in a workflow.
    pub fn takes_wave(&self) -> bool {
        self.is_shown && !self.is_idle
    }
}
