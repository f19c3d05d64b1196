//! Writes a plan for programs: a single form for all plans, with all steps.

use super::simulation::SimulationDocument;
use super::words::{host, operation, shown};
use crate::orchestrate::plan::{
    CallInput, CallOutput, ChangeClass, ChangeReason, ElementChange, Guard, PartKind, Plan,
    PlanCounts, PlanElementKind, PlanPartIndex, PlanStep, PlanStepIndex, Simulation, StepHost,
    StepWork, digest_of, handled_steps, is_tolerant,
};
use crate::topology::sensitive::{is_digested, masked};
use cuvee_text::source::{SourceMap, Span};
use cuvee_text::value::Value;
use elsa::FrozenMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// The JSON document of a plan; the caller adds `version`.
#[derive(Clone, Copy)]
pub struct PlanDocument<'p> {
    plan: &'p Plan,
    sources: &'p SourceMap,
    reveal: bool,
    simulation: Option<&'p Simulation<'p>>,
}

impl<'p> PlanDocument<'p> {
    /// The document of a plan whose places refer to these files. Sensitive values are only shown
    /// with `reveal`.
    ///
    /// ```
    /// use cuvee::output::draw::plan::PlanDocument;
    /// use cuvee::deploy::plan::PlanQuery;
    /// let answer = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?;
    /// let document = PlanDocument::of(&answer.result, &answer.sources, false);
    /// assert!(serde_json::to_string(&document).unwrap().starts_with(r#"{"plan":"sha256:"#));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn of(plan: &'p Plan, sources: &'p SourceMap, reveal: bool) -> Self {
        Self { plan, sources, reveal, simulation: None }
    }

    /// Adds the result of a simulation.
    pub fn simulated(self, simulation: &'p Simulation<'p>) -> Self {
        Self { simulation: Some(simulation), ..self }
    }

    /// The digest of the document, which names the plan.
    pub fn digest(&self) -> String {
        self.rest().digest()
    }

    fn rest(&self) -> Rest<'p> {
        Rest { document: *self, names: PlanNames::of(self.plan), places: FrozenMap::default() }
    }
}

/// The identifiers of all steps and parts, computed once because every dependency repeats them.
struct PlanNames {
    steps: Vec<String>,
    parts: Vec<String>,
    /// The identifiers of the steps of written workflows.
    written: Vec<String>,
    /// The failure handlers: for each first step, the steps whose failure it handles.
    handled: FxHashMap<PlanStepIndex, Vec<u32>>,
}

impl PlanNames {
    fn of(plan: &Plan) -> Self {
        let parts = (0..plan.parts.len()).map(PlanPartIndex::new);
        Self {
            steps: plan.step_ids().map(|id| plan.identifier(id)).collect(),
            parts: parts.map(|id| plan.part_identifier(id)).collect(),
            written: plan.written_identifiers(),
            handled: handled_steps(plan),
        }
    }
}

/// The document without its digest.
struct Rest<'p> {
    document: PlanDocument<'p>,
    names: PlanNames,
    /// The places as text; many steps share the place of their node.
    places: FrozenMap<Span, String, FxBuildHasher>,
}

impl Rest<'_> {
    fn digest(&self) -> String {
        digest_of(&serde_json::to_vec(self).unwrap_or_default())
    }

    fn place(&self, span: Span) -> Option<&str> {
        let made = || self.places.insert(span, self.document.sources.place(span));
        (!span.is_detached()).then(|| self.places.get(&span).unwrap_or_else(made))
    }
}

impl Serialize for PlanDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'p> {
            plan: String,
            #[serde(flatten)]
            rest: &'p Rest<'p>,
            #[serde(flatten)]
            simulation: Option<SimulationDocument<'p>>,
        }
        // The digest does not include the simulation, because the plan is the same.
        let simulation = self.simulation.map(|it| SimulationDocument::of(self.plan, it));
        let rest = self.rest();
        Whole { plan: rest.digest(), rest: &rest, simulation }.serialize(serializer)
    }
}

/// The inputs of the workflow, by name.
struct WorkflowInputs<'p>(PlanDocument<'p>);

impl Serialize for WorkflowInputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let inputs =
            self.0.plan.inputs.iter().map(|input| {
                (&input.name, shown(&input.value, input.is_sensitive && !self.0.reveal))
            });
        serializer.collect_map(inputs)
    }
}

#[derive(Serialize)]
struct Summary {
    #[serde(flatten)]
    classes: ClassCounts,
    operations: usize,
    delegations: usize,
    waves: u32,
}

/// The number of nodes by kind of change.
struct ClassCounts([usize; ChangeClass::ALL.len()]);

impl Serialize for ClassCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = ChangeClass::ALL.iter().map(|class| class.as_str());
        serializer.collect_map(named.zip(&self.0))
    }
}

#[derive(Serialize)]
struct PartDocument<'p> {
    id: &'p str,
    class: &'p str,
    after: Vec<&'p str>,
    states: Vec<&'p str>,
}

#[derive(Serialize)]
struct StepDocument<'p> {
    id: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<&'p str>,
    wave: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ends: Option<EndsDocument<'p>>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    interface: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    implementation: Option<ImplementationDocument<'p>>,
    #[serde(skip_serializing_if = "NamedDocuments::is_empty")]
    inputs: NamedDocuments<'p, InputDocument<'p>>,
    #[serde(skip_serializing_if = "NamedDocuments::is_empty")]
    outputs: NamedDocuments<'p, OutputDocument<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<Cow<'p, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'p str>,
    after: Vec<&'p str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    handler: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    handles: Vec<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_failure: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    guard: Vec<GuardDocument<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'p str>,
}

/// A relation by its name and the nodes at its ends.
#[derive(Serialize)]
struct EndsDocument<'p> {
    source: &'p str,
    requirement: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'p str>,
}

#[derive(Serialize)]
struct ImplementationDocument<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    primary: Option<&'p str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    primary_type: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<&'p str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    dependencies: &'p [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<&'p Value>,
    #[serde(skip_serializing_if = "NamedDocuments::is_empty")]
    properties: NamedDocuments<'p, InputDocument<'p>>,
}

/// Inputs or outputs, by name.
struct NamedDocuments<'p, T>(Vec<(&'p str, T)>);

#[derive(Serialize)]
struct InputDocument<'p> {
    value: Cow<'p, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<&'static str>,
    /// A secret value as the instance keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    sealed: Option<Cow<'p, Value>>,
    /// The function that gives the value, if it depends on the ends of a relation.
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<&'p Value>,
    from: &'p str,
}

#[derive(Serialize)]
struct OutputDocument<'p> {
    entity: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    capability: Option<&'p str>,
    attribute: &'p str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    path: &'p [Value],
}

impl<T> NamedDocuments<'_, T> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for NamedDocuments<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, document)| (name, document)))
    }
}

#[derive(Serialize)]
struct GuardDocument<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'p str>,
    condition: Cow<'p, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'p str>,
}

#[derive(Serialize)]
struct ChangeDocument<'p> {
    element: &'p str,
    class: &'p str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<ReasonDocument<'p>>,
}

#[derive(Serialize)]
struct ReasonDocument<'p> {
    #[serde(skip_serializing_if = "str::is_empty")]
    path: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Cow<'p, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Cow<'p, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<&'p str>,
}

impl Serialize for Rest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let plan = self.document.plan;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("workflow", &plan.workflow)?;
        map.serialize_entry("generated", &plan.is_generated)?;
        if let Some(instance) = &plan.instance {
            map.serialize_entry("base", &instance.base)?;
            if let Some(target) = &instance.target {
                map.serialize_entry("target", target)?;
            }
            if !instance.moved.is_empty() {
                map.serialize_entry("moved", &MovedNodes(&instance.moved))?;
            }
        }
        if !plan.inputs.is_empty() {
            map.serialize_entry("inputs", &WorkflowInputs(self.document))?;
        }
        if !plan.preconditions.is_empty() {
            map.serialize_entry("preconditions", &self.guards(&plan.preconditions))?;
        }
        map.serialize_entry("summary", &self.summary())?;
        if !plan.changes.is_empty() {
            let changes: Vec<_> = plan.changes.iter().map(|change| self.change(change)).collect();
            map.serialize_entry("changes", &changes)?;
        }
        map.serialize_entry("parts", &PartDocuments(self))?;
        map.serialize_entry("steps", &StepDocuments(self))?;
        if let Some(instance) = plan.instance.as_ref().filter(|it| !it.unknown.is_empty()) {
            map.serialize_entry("unknown", &instance.unknown)?;
        }
        map.serialize_entry("redacted", &(plan.has_secrets() && !self.document.reveal))?;
        map.end()
    }
}

/// Renamed nodes: old and new names.
struct MovedNodes<'p>(&'p [(String, String)]);

impl Serialize for MovedNodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(old, new)| (old, new)))
    }
}

/// Serialises all parts, one at a time.
struct PartDocuments<'r, 'p>(&'r Rest<'p>);

impl Serialize for PartDocuments<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = (0..self.0.document.plan.parts.len()).map(PlanPartIndex::new);
        serializer.collect_seq(parts.map(|id| self.0.part(id)))
    }
}

/// Serialises all steps, one at a time.
struct StepDocuments<'r, 'p>(&'r Rest<'p>);

impl Serialize for StepDocuments<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.document.plan.step_ids().map(|id| self.0.step(id)))
    }
}

impl<'p> Rest<'p> {
    fn summary(&self) -> Summary {
        let plan = self.document.plan;
        let count = |class| match plan.changes.is_empty() {
            true => {
                let nodes = plan.parts.iter().filter(|part| part.class == class);
                nodes.filter(|part| part.element.is_some()).count()
            }
            false => {
                let nodes = plan.changes.iter().filter(|one| one.element.starts_with("node."));
                nodes.filter(|change| change.class == class).count()
            }
        };
        let PlanCounts { operations, delegations, .. } = plan.counts();
        Summary {
            classes: ClassCounts(ChangeClass::ALL.map(count)),
            operations,
            delegations,
            waves: plan.waves(),
        }
    }

    fn change(&self, change: &'p ElementChange) -> ChangeDocument<'_> {
        let reason = |reason: &'p ChangeReason| {
            let is_hidden = reason.is_sensitive && !self.document.reveal;
            ReasonDocument {
                path: &reason.path,
                from: reason.from.as_ref().map(|value| shown(value, is_hidden)),
                to: reason.to.as_ref().map(|value| shown(value, is_hidden)),
                place: reason.span.and_then(|span| self.place(span)),
                because: reason.because.as_deref(),
            }
        };
        ChangeDocument {
            element: &change.element,
            class: change.class.as_str(),
            reasons: change.reasons.iter().map(reason).collect(),
        }
    }

    fn part(&self, id: PlanPartIndex) -> PartDocument<'_> {
        let plan = self.document.plan;
        let part = plan.part(id);
        let first = part.first.index();
        let steps = &plan.steps[first..first + part.steps as usize];
        PartDocument {
            id: &self.names.parts[id.index()],
            class: part.class.as_str(),
            after: part.after.iter().map(|&before| &*self.names.parts[before.index()]).collect(),
            states: steps
                .iter()
                .filter_map(|step| super::words::reached(plan, step.work))
                .collect(),
        }
    }

    fn step(&self, id: PlanStepIndex) -> StepDocument<'_> {
        let plan = self.document.plan;
        let step = plan.step(id);
        let call = plan.call_of(id);
        let written = step.activity.map(|(index, _)| &plan.workflow_steps[index as usize]);
        let (kind, is_operation) = match step.work {
            StepWork::Operation(_) | StepWork::Call => ("call", true),
            work if work.is_delegated() => ("delegate", false),
            StepWork::External => ("external", false),
            StepWork::Turn | StepWork::Nothing => ("wait", false),
            _ => ("set_state", false),
        };
        let interface = match step.work {
            StepWork::Operation(operation) => Some(operation.interface()),
            _ => None,
        };
        let span = call.map(|call| call.span).or(written.map(|written| written.span));
        let span = span.or_else(|| Some(plan.element(step.element?).span));
        let inputs = |is_property: bool| {
            let all = call.into_iter().flat_map(|call| &call.inputs);
            let meant = all.filter(|input| input.is_property == is_property);
            NamedDocuments(meant.map(|one| self.input(one)).collect())
        };
        let outputs = call.into_iter().flat_map(|call| &call.outputs);
        StepDocument {
            id: &self.names.steps[id.index()],
            part: step.part.map(|part| &*self.names.parts[part.index()]),
            written: step.activity.map(|(written, _)| &*self.names.written[written as usize]),
            wave: step.wave,
            target: step.element.map(|element| &*plan.element(element).identifier),
            ends: self.ends(step),
            kind,
            interface: call.map(|call| &*call.interface).or(interface).filter(|_| is_operation),
            operation: is_operation.then(|| operation(plan, id)),
            workflow: step.work.is_delegated().then(|| plan.label(step.work)),
            implementation: call.filter(|_| !step.is_idle).map(|call| ImplementationDocument {
                primary: call.primary.as_deref(),
                primary_type: call.primary_type.as_deref(),
                artifact: call.artifact.as_deref(),
                dependencies: &call.dependencies,
                timeout: call.timeout.as_ref(),
                properties: inputs(true),
            }),
            inputs: inputs(false),
            outputs: NamedDocuments(outputs.map(output).collect()),
            host: self.host(step.host),
            state: super::words::reached(plan, step.work),
            after: plan.after(id).iter().map(|&it| &*self.names.steps[it.index()]).collect(),
            handler: step.is_handler,
            handles: self.names.handled.get(&id).map_or_else(Vec::new, |handled| {
                handled.iter().map(|&written| &*self.names.written[written as usize]).collect()
            }),
            on_failure: (!plan.is_generated && is_tolerant(plan, id)).then_some("continue"),
            guard: self.guards(self.document.plan.guards(id)),
            place: span.and_then(|span| self.place(span)),
        }
    }

    /// The relation of a step. In an instance, two targets may give one position to different
    /// relations.
    fn ends(&self, step: &PlanStep) -> Option<EndsDocument<'p>> {
        let plan = self.document.plan;
        let moved = &plan.instance.as_ref()?.moved;
        let kind = &plan.element(step.element?).kind;
        let PlanElementKind::Relation { requirement, source, target } = kind else { return None };
        let goes = step
            .part
            .is_some_and(|part| matches!(plan.part(part).kind, PartKind::Down | PartKind::Unwire));
        // The instance has the new names of nodes as soon as the plan begins.
        let name = |name: &'p str| match moved.iter().find(|(old, _)| goes && old == name) {
            Some((_, new)) => new,
            None => name,
        };
        Some(EndsDocument {
            source: name(source),
            requirement,
            target: target.as_deref().map(name),
        })
    }

    fn input(&self, input: &'p CallInput) -> (&'p str, InputDocument<'p>) {
        let is_hidden = input.is_sensitive && !self.document.reveal;
        // A function tells where a secret is, not what it is; texts beside it may be secret.
        let is_function = input.is_runtime() && input.is_sealed();
        let value = match masked(&input.value).filter(|_| is_function) {
            Some(masked) => Cow::Owned(masked),
            None => shown(&input.value, is_hidden && !is_function),
        };
        let sealed = Some(&input.value).filter(|value| is_hidden && is_digested(value));
        // Functions may take a number among their arguments for a version.
        let told = |value| if input.is_runtime() { with_digits(value) } else { value };
        let document = InputDocument {
            value: told(value),
            when: input.is_runtime().then_some("runtime"),
            sealed: sealed.map(|value| told(Cow::Borrowed(value))),
            function: input.function.as_ref().filter(|_| !is_hidden || input.is_sealed()),
            from: &input.from,
        };
        (&input.name, document)
    }

    fn host(&self, at: StepHost) -> Option<Cow<'p, str>> {
        let plan = self.document.plan;
        match at {
            StepHost::Element(element) => Some((&*plan.element(element).identifier).into()),
            StepHost::Orchestrator => Some("ORCHESTRATOR".into()),
            StepHost::None => host(plan, at).map(Cow::Borrowed),
        }
    }

    fn guards(&self, guards: &'p [Guard]) -> Vec<GuardDocument<'_>> {
        let plan = self.document.plan;
        let guard = |guard: &'p Guard| GuardDocument {
            target: guard.element.map(|element| &*plan.element(element).identifier),
            condition: with_digits(Cow::Borrowed(&guard.condition)),
            place: self.place(guard.span),
        };
        guards.iter().map(guard).collect()
    }
}

/// A value with all digits of its numbers.
fn with_digits(value: Cow<'_, Value>) -> Cow<'_, Value> {
    let whole = value.with_digits();
    whole.map_or(value, Cow::Owned)
}

fn output(output: &CallOutput) -> (&str, OutputDocument<'_>) {
    let document = OutputDocument {
        entity: &output.entity,
        capability: output.capability.as_deref(),
        attribute: &output.attribute,
        path: &output.path,
    };
    (&output.name, document)
}
