//! The steps of a plan as they are run, read from the document that is kept with the instance.

use super::orchestrator::Orchestrator;
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::instance::RelationInstance;
use cuvee_text::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A plan as it is run.
#[derive(Debug, Deserialize)]
pub(super) struct RunPlan {
    pub(super) steps: Vec<RunStep>,
    #[serde(skip)]
    by_id: FxHashMap<Arc<str>, usize>,
    /// The target that the plan leads to; `None` if all goes.
    #[serde(default)]
    target: Option<RunTarget>,
}

#[derive(Debug, Deserialize)]
struct RunTarget {
    digest: Arc<str>,
    /// The path of its template, as somebody gave it.
    template: Arc<str>,
}

/// A step as it is run.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct RunStep {
    pub(super) id: Arc<str>,
    #[serde(default)]
    part: Option<Arc<str>>,
    /// The element that it acts on: `node.shop`, `relation.db@0.node.shop`.
    #[serde(default)]
    pub(super) target: Option<Arc<str>>,
    /// The relation that it acts on.
    #[serde(default)]
    pub(super) ends: Option<StepEnds>,
    pub(super) kind: StepKind,
    #[serde(default)]
    pub(super) interface: Option<Arc<str>>,
    #[serde(default)]
    pub(super) operation: Option<Arc<str>>,
    /// For a delegated step what the orchestrator does: `deploy`, `undeploy`, `update`.
    #[serde(default)]
    pub(super) workflow: Option<Arc<str>>,
    /// Most steps have none, and plans have many steps.
    #[serde(default)]
    pub(super) implementation: Option<Box<PlannedImplementation>>,
    #[serde(default)]
    pub(super) inputs: BTreeMap<Arc<str>, PlannedInput>,
    #[serde(default)]
    pub(super) outputs: BTreeMap<Arc<str>, PlannedOutput>,
    /// The host on which it runs: an element, or `ORCHESTRATOR`.
    #[serde(default)]
    pub(super) host: Option<Arc<str>>,
    #[serde(default)]
    pub(super) guard: Vec<PlannedGuard>,
    /// Whether it runs only after another step has failed.
    #[serde(default)]
    pub(super) handler: bool,
    /// The place where its author wrote it: `FILE:LINE:COLUMN`.
    #[serde(default)]
    pub(super) place: Option<String>,
}

/// The kinds of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StepKind {
    /// An operation is called.
    Call,
    /// The orchestrator does something by itself.
    Delegate,
    /// An implementation of a whole workflow is called.
    External,
    /// A node reaches a state.
    SetState,
    /// Nothing is run.
    Wait,
}

/// A relation by its name and the nodes at its ends.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct StepEnds {
    pub(super) source: Arc<str>,
    pub(super) requirement: Arc<str>,
    #[serde(default)]
    pub(super) target: Option<Arc<str>>,
}

/// The implementation of an operation.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct PlannedImplementation {
    #[serde(default)]
    pub(super) primary: Option<String>,
    /// The type of the artifact that the primary file is.
    #[serde(default, rename = "type")]
    pub(super) artifact_type: Option<String>,
    #[serde(default)]
    pub(super) artifact: Option<String>,
    #[serde(default)]
    pub(super) dependencies: Vec<String>,
    #[serde(default)]
    pub(super) timeout: Option<Value>,
    /// The properties of the artifact.
    #[serde(default)]
    pub(super) properties: BTreeMap<Arc<str>, PlannedInput>,
}

/// An input of an operation as the plan has it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PlannedInput {
    pub(super) value: Value,
    /// The time at which the value is known; `runtime` for a function that the run evaluates.
    #[serde(default)]
    pub(super) when: Option<String>,
    /// A secret value as the instance keeps it, by which the run finds it.
    #[serde(default)]
    pub(super) sealed: Option<Value>,
    /// The function that gave the value, if that takes something from a source or a target.
    #[serde(default)]
    pub(super) function: Option<Value>,
}

/// The attribute that an output of an operation is assigned to.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PlannedOutput {
    /// `SELF`, `SOURCE` or `TARGET`.
    pub(super) entity: String,
    #[serde(default)]
    pub(super) capability: Option<Arc<str>>,
    pub(super) attribute: Arc<str>,
    /// The names and positions that lead to a part of the attribute.
    #[serde(default)]
    pub(super) path: Vec<Value>,
}

/// A condition of a step.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PlannedGuard {
    #[serde(default)]
    pub(super) target: Option<Arc<str>>,
    pub(super) condition: Value,
}

impl RunPlan {
    /// Reads a document. It was read as a plan before.
    ///
    /// # Errors
    /// `invalid-plan`
    pub(super) fn read(text: &str) -> Result<Self, Diagnostic> {
        let mut plan: Self = serde_json::from_str(text).map_err(|why| {
            let message = format!("the plan cannot be run: {why}");
            Diagnostic::error(Code::InvalidPlan, message)
                .help("make a new plan: `cuvee instance plan NAME -o plan.json`")
        })?;
        for step in &mut plan.steps {
            let said = step.implementation.as_mut();
            let properties = said.map(|said| std::mem::take(&mut said.properties));
            // An implementation gets the properties of its artifact as it gets inputs.
            step.inputs.extend(properties.unwrap_or_default());
        }
        let named = plan.steps.iter().enumerate();
        plan.by_id = named.map(|(at, step)| (Arc::clone(&step.id), at)).collect();
        Ok(plan)
    }

    /// The step of this identifier; `None` for a part, which runs nothing itself.
    pub(super) fn step(&self, id: &str) -> Option<&RunStep> {
        self.by_id.get(id).map(|&at| &self.steps[at])
    }

    /// The path of the template that the plan leads to.
    pub(super) fn template(&self) -> Option<&str> {
        self.target.as_ref().map(|target| &*target.template)
    }

    /// The parts that steps belong to, in an order in which each comes after those that it waits
    /// for.
    pub(super) fn parts_of_steps(&self) -> impl Iterator<Item = &Arc<str>> {
        let mut seen = FxHashSet::default();
        let parts = self.steps.iter().filter_map(|step| step.part.as_ref());
        parts.filter(move |part| seen.insert(Arc::clone(part)))
    }

    /// The digest of the target that the plan leads to.
    pub(super) fn target(&self) -> Option<&Arc<str>> {
        self.target.as_ref().map(|target| &target.digest)
    }
}

impl StepEnds {
    /// The relation, as far as its ends tell of it.
    pub(super) fn lost(&self) -> RelationInstance {
        RelationInstance { target: self.target.clone(), ..RelationInstance::default() }
    }
}

impl RunStep {
    /// A step that finds out whether a node runs, without an operation of the node.
    pub(super) fn probing(node: &str) -> Self {
        Self {
            id: format!("node.{node}/probe").into(),
            part: None,
            target: Some(format!("node.{node}").into()),
            ends: None,
            kind: StepKind::Delegate,
            interface: None,
            operation: None,
            workflow: None,
            implementation: None,
            inputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            host: None,
            guard: Vec::new(),
            handler: false,
            place: None,
        }
    }

    /// Whether the step runs something.
    pub(super) fn is_run(&self) -> bool {
        match self.kind {
            StepKind::Call => self.implementation.is_some(),
            StepKind::Delegate | StepKind::External => true,
            StepKind::SetState | StepKind::Wait => false,
        }
    }

    /// The orchestrator that does the whole plan by this step.
    pub(super) fn orchestrator(&self) -> Option<Orchestrator> {
        let is_whole = self.kind == StepKind::Delegate && self.target.is_none();
        is_whole.then(|| Orchestrator::named(self.workflow.as_deref()?))?
    }

    /// The node that the step acts on.
    pub(super) fn node(&self) -> Option<&str> {
        self.target.as_deref()?.strip_prefix("node.")
    }

    /// Whether the step takes something away that the target of the plan no longer has.
    pub(super) fn is_removal(&self) -> bool {
        let part = self.part.as_deref().unwrap_or_default();
        part.ends_with("/down") || part.ends_with("/unwire")
    }
}
