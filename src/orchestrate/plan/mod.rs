//! Plans: which operations are called, in which order and where, to deploy a topology, remove it,
//! or turn it into another one (chapter 7 of the specification).
//!
//! This module is not stable: it may change with any version.
//!
//! ```
//! use cuvee::deploy::plan::PlanQuery;
//! let plan = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?.result;
//! assert_eq!(plan.workflow, "deploy");
//! let steps: Vec<_> = plan.step_ids().map(|step| plan.identifier(step)).collect();
//! assert!(steps.contains(&"node.shop/create".to_owned()));
//! # Ok::<(), cuvee::Failure>(())
//! ```

mod apart;
mod artifact;
mod assigned;
mod behavior;
mod build;
#[cfg(feature = "cli")]
mod calling;
mod compare;
mod condition;
mod content;
mod decide;
mod declarative;
mod difference;
mod digest;
mod elements;
mod exchange;
mod flow;
mod handed;
mod imperative;
mod inputs;
mod known;
mod model;
mod observed;
mod order;
mod others;
mod premature;
mod reach;
mod simulate;
mod sort;
mod start;
mod trigger;
mod update;
mod weave;

pub(crate) use apart::{Deployment, deployment};
#[cfg(feature = "cli")]
pub(crate) use condition::{AskedAttribute, UnknownAttribute, condition_holds};
pub(crate) use decide::may_begin;
pub use decide::{DecidedConditions, KnownCondition, decide};
pub(crate) use declarative::is_generated_workflow;
pub use digest::{digest_in, digest_of};
pub(crate) use flow::{Flow, handled_steps, is_tolerant};
pub(crate) use inputs::with_definition;
pub use model::{
    CallInput, CallOutput, ChangeClass, ChangeReason, ElementChange, Guard, InstanceCount,
    KnownAttribute, PartKind, Plan, PlanBase, PlanCall, PlanCallIndex, PlanCounts, PlanElement,
    PlanElementIndex, PlanElementKind, PlanPart, PlanPartIndex, PlanScopeIndex, PlanStep,
    PlanStepIndex, PlanTarget, PlannedInstance, StepHost, StepWork, UnknownValue, WorkflowInput,
    WorkflowStep,
};
pub(crate) use observed::{Observation, Observed};
pub(crate) use others::compared_sections;
pub use simulate::{Simulation, SimulationEvent, SimulationOptions, StepOutcome, simulate};
pub use start::{StartNode, StartStates};
pub(crate) use weave::{CallPlace, Unhosted};

use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::topology::{NodeIndex, Topology, TopologyElement, TopologyWorkflow};
use crate::tosca::Types;
use crate::tosca::load::Loaded;
use crate::tosca::secrecy::{Secrecy, SecretData, SecretNames, USUAL_NAMES};
use behavior::Behaviors;
use build::PlanBuilder;
use content::Contents;
use cuvee_text::value::Value;
use declarative::{Declarative, declarative};
use difference::VariantComparison;
use imperative::Imperative;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use trigger::TriggerOfPolicy;

/// The plan that is wanted.
#[derive(Clone, Debug)]
pub struct PlanQuery {
    /// The name of the workflow.
    pub workflow: String,
    /// Whether to plan the generated workflow even if the template has one of the same name.
    pub generated: bool,
    /// A trigger of a policy to plan instead of a workflow: `POLICY.TRIGGER`.
    pub trigger: Option<String>,
    /// The values of the workflow's inputs.
    pub inputs: Vec<(String, Value)>,
    /// Options that change the order.
    pub order: OrderOptions,
}

impl Default for PlanQuery {
    /// The query for the workflow `deploy`.
    fn default() -> Self {
        let workflow = Declarative::Deploy.as_str().to_owned();
        let order = OrderOptions::default();
        Self { workflow, generated: false, trigger: None, inputs: Vec::new(), order }
    }
}

/// Options that knowingly depart from the order of the specification.
#[derive(Clone, Debug, Default)]
pub struct OrderOptions {
    /// Whether calls on one host may run side by side.
    pub parallel_hosts: bool,
    /// The relations that order less than the specification says.
    pub relaxation: Relaxation,
    /// The relations that order nothing, by identifier.
    pub ignore: Vec<String>,
    /// The nodes that the orchestrator could bring but does not, by identifier or name.
    pub managed: Vec<String>,
}

/// The relations that order less than the specification says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relaxation {
    /// No relation.
    #[default]
    Strict,
    /// Connections: a node may be created and configured before what it connects to is started.
    Connections,
}

impl OrderOptions {
    fn ignored(&self, topology: &Topology) -> Vec<bool> {
        if self.ignore.is_empty() {
            return vec![false; topology.relations.len()];
        }
        let names: FxHashSet<_> = self.ignore.iter().map(String::as_str).collect();
        let is_named = |id| names.contains(&*topology.relation_identifier(id));
        topology.relation_ids().map(is_named).collect()
    }

    /// Resolves the nodes of `managed`, and checks the relations of `ignore`.
    ///
    /// # Errors
    /// `unknown-element` for names that no element has.
    fn resolved(&self, topology: &Topology) -> Result<FxHashSet<NodeIndex>, Diagnostics> {
        let (managed, unknown) = self.known(topology);
        if unknown.has_errors() { Err(unknown) } else { Ok(managed) }
    }

    /// The nodes of `managed` that there are, and errors for names of it and of `ignore` that no
    /// element has.
    fn known(&self, topology: &Topology) -> (FxHashSet<NodeIndex>, Diagnostics) {
        let mut unknown = Diagnostics::default();
        let relations: FxHashSet<_> = match self.ignore.is_empty() {
            true => FxHashSet::default(),
            false => topology.relation_ids().map(|id| topology.relation_identifier(id)).collect(),
        };
        for name in self.ignore.iter().filter(|name| !relations.contains(*name)) {
            let message = format!("`--ignore {name}`: there is no such relation in this variant");
            let error = Diagnostic::error(Code::UnknownElement, message);
            unknown.push(error.help_opt(did_you_mean(name, relations.iter().map(|name| &**name))));
        }
        let mut managed = FxHashSet::default();
        for said in &self.managed {
            managed.extend(unknown.ok(named_node(topology, "managed", said)));
        }
        (managed, unknown)
    }
}

/// The node that a flag names, with or without `node.`.
///
/// # Errors
/// `unknown-element`
fn named_node(topology: &Topology, flag: &str, said: &str) -> Result<NodeIndex, Diagnostic> {
    let name = bare(said);
    topology.node_named(name).ok_or_else(|| {
        let message = format!("`--{flag} {said}`: there is no node `{name}` in that variant");
        let names = topology.nodes.iter().map(|node| &*node.name);
        Diagnostic::error(Code::UnknownElement, message).help_opt(did_you_mean(name, names))
    })
}

/// Options for turning one variant into another.
#[derive(Clone, Debug, Default)]
pub struct Adaptation {
    /// Renamed nodes: the old and the new name.
    pub moved: Vec<(String, String)>,
    /// Nodes that are removed and made again, whether they differ or not.
    pub recreate: Vec<String>,
    /// Whether everything that goes has gone before anything comes.
    pub removals_first: bool,
}

impl Adaptation {
    /// The name in the new variant of a node of the old one.
    fn renamed(&self, name: &str) -> String {
        let moved = self.moved.iter().find(|(old, _)| bare(old) == name);
        moved.map_or(name, |(_, new)| bare(new)).to_owned()
    }

    /// The name in the old variant of a node of the new one.
    pub(crate) fn former(&self, name: &str) -> String {
        let moved = self.moved.iter().find(|(_, new)| bare(new) == name);
        moved.map_or(name, |(old, _)| bare(old)).to_owned()
    }

    /// The old document with the new names of nodes, wherever they occur.
    fn renamed_document(&self, document: &Value) -> Value {
        if self.moved.is_empty() { document.clone() } else { self.rename(document) }
    }

    /// The same where templates stand for these nodes of the old and the new variant.
    fn of_nodes(&self, [from, to]: [&NodesOfTemplates; 2]) -> Self {
        let ids = |of: &NodesOfTemplates, name: &str| or_itself(nodes_of(of, name).collect(), name);
        let moved =
            self.moved.iter().flat_map(|(old, new)| ids(from, old).into_iter().zip(ids(to, new)));
        // What comes anyhow is not made again.
        let recreate = self.recreate.iter().flat_map(|name| {
            let were = ids(from, &self.former(bare(name))).len();
            ids(to, name).into_iter().take(were)
        });
        let removals_first = self.removals_first;
        Self { moved: moved.collect(), recreate: recreate.collect(), removals_first }
    }

    fn rename(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.renamed(text).into()),
            Value::List(items) => Value::List(items.iter().map(|item| self.rename(item)).collect()),
            Value::Map(entries) => {
                let renamed = |(key, value): &(Arc<str>, Value)| {
                    let is_named = &**key == "node_templates";
                    (Arc::clone(key), if is_named { self.keys(value) } else { self.rename(value) })
                };
                Value::Map(entries.iter().map(renamed).collect())
            }
            other => other.clone(),
        }
    }

    fn keys(&self, templates: &Value) -> Value {
        let Value::Map(entries) = templates else { return templates.clone() };
        let renamed =
            |(key, value): &(Arc<str>, Value)| (self.renamed(key).into(), self.rename(value));
        Value::Map(entries.iter().map(renamed).collect())
    }
}

/// The name of a node that may be said with its kind.
fn bare(name: &str) -> &str {
    name.strip_prefix("node.").unwrap_or(name)
}

/// One of two variants: its topology, its types, and what is compared of its document.
#[derive(Clone, Copy)]
pub(crate) struct VariantOfPlan<'v, 'a> {
    pub(crate) topology: &'v Topology,
    /// The topology with functions unevaluated, if they have their values in `topology`.
    pub(crate) written: Option<&'v Topology>,
    /// The [`compared_sections`] of its document.
    pub(crate) document: &'v Value,
    /// What the topology comes from.
    pub(crate) origin: VariantOrigin<'v, 'a>,
    /// What single nodes come from, if that is another template.
    pub(crate) origin_of: Option<OriginOfNode<'v, 'a>>,
    /// How an instance keeps what types and files give.
    pub(crate) keeping: Option<&'v dyn KeepsValues>,
    /// The states of its nodes, if they are known.
    pub(crate) observation: Option<Observation<'v>>,
    /// The relations whose ends have yet to learn of each other, if that is known.
    pub(crate) pending: Option<PendingRelation<'v>>,
    /// The template of each node, if one template gives several nodes.
    pub(crate) template_of: Option<CountedTemplate<'v>>,
    /// The names whose values are secret.
    pub(crate) names: &'v SecretNames,
}

/// The types and files of a template. The places of what it gives are in these files.
#[derive(Clone, Copy)]
pub(crate) struct VariantOrigin<'v, 'a> {
    pub(crate) types: &'v Types<'a>,
    pub(crate) loaded: &'v Loaded,
    /// The digests of files that an instance does not keep, by path.
    pub(crate) digests: &'v [(String, String)],
}

/// The origin of a node, by its name.
pub(crate) type OriginOfNode<'v, 'a> = &'v dyn Fn(&str) -> Option<VariantOrigin<'v, 'a>>;

/// How an instance keeps values and files, so that they can be compared with what it has kept.
pub(crate) trait KeepsValues {
    /// A value of which this is secret, with its secrets replaced.
    fn kept(&self, value: Value, secrecy: &Secrecy, data: &SecretData) -> Value;

    /// What replaces a value that is secret.
    fn secret(&self, value: &Value) -> Value;

    /// The digest of a file that is not kept.
    fn digest(&self, content: &[u8]) -> String;
}

impl<'v, 'a> VariantOfPlan<'v, 'a> {
    /// A variant of a template, without an instance.
    pub(crate) fn of(
        topology: &'v Topology,
        document: &'v Value,
        types: &'v Types<'a>,
        loaded: &'v Loaded,
    ) -> Self {
        Self {
            topology,
            written: None,
            document,
            origin: VariantOrigin { types, loaded, digests: &[] },
            origin_of: None,
            keeping: None,
            observation: None,
            pending: None,
            template_of: None,
            names: &USUAL_NAMES,
        }
    }

    /// The origin of each node.
    fn origins(&self) -> Vec<VariantOrigin<'v, 'a>> {
        let of = |name: &str| self.origin_of.and_then(|of| of(name)).unwrap_or(self.origin);
        self.topology.nodes.iter().map(|node| of(&node.name)).collect()
    }

    /// How many nodes each template stands for, where that is known.
    fn numbers(&self) -> Vec<Option<u64>> {
        let counts = elements::counts(self.topology, self.origin.types);
        counts.into_iter().map(InstanceCount::number).collect()
    }

    /// What its nodes and relations do. The orchestrator does not bring those in `managed`.
    fn behaviors(&self, managed: FxHashSet<NodeIndex>) -> Behaviors<'v, 'a> {
        let types_of = self.origins().iter().map(|origin| origin.types).collect();
        let secrets = (self.names, self.keeping);
        Behaviors::among(self.topology, (self.origin.types, types_of), managed, secrets)
            .beside(self.written)
    }
}

/// The nodes of templates that stand for several, by the name of the template.
pub(crate) type NodesOfTemplates = FxHashMap<String, Vec<Arc<str>>>;

/// The nodes of a template that stands for several.
fn nodes_of(of: &NodesOfTemplates, name: &str) -> impl Iterator<Item = String> {
    of.get(bare(name)).into_iter().flatten().map(|id| id.to_string())
}

/// These nodes, or if there are none the node of this name.
fn or_itself(nodes: Vec<String>, name: &str) -> Vec<String> {
    if nodes.is_empty() { vec![name.to_owned()] } else { nodes }
}

/// Whether the ends of a relation have yet to learn of each other: by its source, its name and its
/// target.
pub(crate) type PendingRelation<'v> = &'v dyn Fn(&str, &str, Option<&str>) -> bool;

/// The template of a node that is one of several.
pub(crate) type CountedTemplate<'v> = &'v dyn Fn(&str) -> Option<&'v str>;

/// The numbers of nodes of the counted templates of both variants, where these are known, if one
/// template has another number in the new variant.
pub(crate) fn scaled(
    from: &VariantOfPlan<'_, '_>,
    to: &VariantOfPlan<'_, '_>,
    adaptation: &Adaptation,
) -> Option<[Vec<Option<u64>>; 2]> {
    let is_counted = |of: &Topology| of.nodes.iter().any(|node| node.count().is_some());
    if !is_counted(from.topology) && !is_counted(to.topology) {
        return None;
    }
    let (was, is) = (from.numbers(), to.numbers());
    let named = |id: NodeIndex| adaptation.renamed(&from.topology.node(id).name);
    let old: FxHashMap<_, _> =
        from.topology.node_ids().map(|id| (named(id), was[id.index()])).collect();
    let is_scaled = to.topology.node_ids().any(|id| {
        let was = old.get(&to.topology.node(id).name).copied().flatten();
        was.zip(is[id.index()]).is_some_and(|(was, is)| was != is)
    });
    let counted = |topology: &Topology, numbers: Vec<Option<u64>>| {
        let nodes = topology.nodes.iter().zip(numbers);
        nodes.map(|(node, number)| number.filter(|_| node.count().is_some())).collect()
    };
    is_scaled.then(|| [counted(from.topology, was), counted(to.topology, is)])
}

/// Plans how to turn one variant into another, where each node of a counted template is one of its
/// own. Names of templates stand for all of their nodes.
///
/// # Errors
/// As [`adapt`].
pub(crate) fn adapt_nodes(
    (from, to): (VariantOfPlan<'_, '_>, VariantOfPlan<'_, '_>),
    nodes: [&NodesOfTemplates; 2],
    adaptation: &Adaptation,
    order: &OrderOptions,
) -> Result<(Plan, Diagnostics), Diagnostics> {
    let managed = |name: &String| {
        let ids: FxHashSet<_> = nodes.iter().flat_map(|of| nodes_of(of, name)).collect();
        or_itself(ids.into_iter().collect(), name)
    };
    let managed = order.managed.iter().flat_map(managed).collect();
    adapt(from, to, &adaptation.of_nodes(nodes), &OrderOptions { managed, ..order.clone() })
}

/// Plans how to turn one variant into another.
///
/// # Errors
/// `cyclic-deployment`, `delegated-lifecycle`, `unknown-element`
pub(crate) fn adapt(
    from: VariantOfPlan<'_, '_>,
    to: VariantOfPlan<'_, '_>,
    adaptation: &Adaptation,
    order: &OrderOptions,
) -> Result<(Plan, Diagnostics), Diagnostics> {
    // A named element may exist in only one of the variants.
    let (old, unknown) = order.known(from.topology);
    let (new, mut errors) = order.known(to.topology);
    errors.0.retain(|error| unknown.0.iter().any(|other| other.message == error.message));
    if errors.has_errors() {
        return Err(errors);
    }
    let wrong = elements::wrong(to.topology, to.origin.types);
    if wrong.has_errors() {
        return Err(wrong);
    }
    let mut old = from.behaviors(old);
    if !std::ptr::eq(from.origin.loaded, to.origin.loaded) {
        old = old.foreign();
    }
    let new = to.behaviors(new);
    let mut builder = PlanBuilder::new("update", true, order.parallel_hosts);
    builder.plan.inputs = new.told();
    builder.plan.is_2_0 = to.topology.is_2_0;
    let origins = from.origins();
    let contents = Contents::new(to.origin.loaded, to.keeping);
    let comparison = VariantComparison::new((&old, &origins), &new, contents, adaptation);
    let observed = Observed::all(from.topology, from.observation);
    let (document, pending) = (from.document, from.pending);
    let from = update::PlannedVariant { behaviors: &old, document, pending };
    let to = update::PlannedVariant { behaviors: &new, document: to.document, pending: None };
    update::update((&from, observed), &to, &comparison, adaptation, order, &mut builder)?;
    let wrong = new.wrong();
    if wrong.has_errors() { Err(wrong) } else { Ok((builder.plan, wrong)) }
}

/// Plans a workflow of a topology. If functions have their values there, `written` is the same
/// topology with functions unevaluated.
///
/// # Errors
/// `cyclic-deployment`, `cyclic-workflow`, `delegated-lifecycle`, `invalid-input`, `missing-input`,
/// `unknown-element`
pub(crate) fn plan(
    topology: &Topology,
    written: Option<&Topology>,
    types: &Types<'_>,
    query: &PlanQuery,
) -> Result<(Plan, Diagnostics), Diagnostics> {
    let managed = query.order.resolved(topology)?;
    let wrong = elements::wrong(topology, types);
    if wrong.has_errors() {
        return Err(wrong);
    }
    planned(&Behaviors::of(topology, types, managed, &USUAL_NAMES).beside(written), query)
}

/// Plans a workflow of a variant in which one template may give several nodes. What the workflow
/// says of the template is done for each of them.
///
/// # Errors
/// As [`plan`].
pub(crate) fn plan_instance(
    of: VariantOfPlan<'_, '_>,
    query: &PlanQuery,
) -> Result<(Plan, Diagnostics), Diagnostics> {
    let managed = query.order.resolved(of.topology)?;
    planned(&of.behaviors(managed).counted(of.template_of), query)
}

/// Plans a call of an operation, of any interface, for each of these nodes that implements it. The
/// calls do not wait for each other.
///
/// # Errors
/// As [`plan`].
#[cfg(feature = "cli")]
pub(crate) fn plan_operation(
    of: VariantOfPlan<'_, '_>,
    operation: &str,
    is_meant: &dyn Fn(&str) -> bool,
) -> Result<(Plan, Diagnostics), Diagnostics> {
    let order = OrderOptions { parallel_hosts: true, ..OrderOptions::default() };
    let query = PlanQuery { workflow: operation.to_owned(), order, ..PlanQuery::default() };
    let managed = query.order.resolved(of.topology)?;
    let behaviors = of.behaviors(managed).counted(of.template_of);
    let workflow = behaviors.calling(operation, is_meant);
    let mut builder = PlanBuilder::new(operation, false, query.order.parallel_hosts);
    let found = said(&behaviors, &workflow, Vec::new(), &query, &mut builder)?;
    let wrong = behaviors.wrong();
    if wrong.has_errors() { Err(found.before(wrong)) } else { Ok((builder.plan, found)) }
}

fn planned(
    behaviors: &Behaviors<'_, '_>,
    query: &PlanQuery,
) -> Result<(Plan, Diagnostics), Diagnostics> {
    let (plan, found) = workflow(behaviors, query)?;
    let wrong = behaviors.wrong();
    if wrong.has_errors() { Err(found.before(wrong)) } else { Ok((plan, found)) }
}

fn workflow(
    behaviors: &Behaviors<'_, '_>,
    query: &PlanQuery,
) -> Result<(Plan, Diagnostics), Diagnostics> {
    let topology = behaviors.topology;
    if let Some(name) = &query.trigger {
        let trigger = TriggerOfPolicy::named(topology, name)?;
        let (workflow, targets) = (trigger.workflow(topology), trigger.targets(topology)?);
        let mut builder = PlanBuilder::new(&workflow.name, false, query.order.parallel_hosts);
        let found = said(behaviors, &workflow, targets, query, &mut builder)?;
        return Ok((builder.plan, found));
    }
    let which = Declarative::named(&query.workflow);
    let mut workflows = topology.workflows.iter();
    let written = workflows.find(|workflow| workflow.name == query.workflow);
    match (written.filter(|_| !query.generated || which.is_none()), which) {
        (Some(workflow), _) => {
            let mut builder = PlanBuilder::new(&workflow.name, false, query.order.parallel_hosts);
            let mut found = said(behaviors, workflow, Vec::new(), query, &mut builder)?;
            if let Some(which) = which {
                compare::with_generated(which, behaviors, workflow, &builder.plan, &mut found);
            }
            Ok((builder.plan, found))
        }
        (None, Some(which)) => {
            let mut builder = PlanBuilder::new(which.as_str(), true, query.order.parallel_hosts);
            builder.plan.inputs = behaviors.told();
            builder.plan.is_2_0 = topology.is_2_0;
            declarative(which, behaviors, &query.order, &mut builder, &[])?;
            if let Some((name, _)) = query.inputs.first() {
                return Err(no_input(which, name).into());
            }
            let mut found = Diagnostics::default();
            if which == Declarative::Deploy {
                let is_ignored = query.order.ignored(topology);
                premature::premature(behaviors, &is_ignored, &builder.plan, &mut found);
            }
            Ok((builder.plan, found))
        }
        (None, None) => Err(unknown_workflow(topology, &query.workflow).into()),
    }
}

/// Adds the steps of an imperative workflow. Steps without a target of their own get `targets`.
fn said<'t>(
    behaviors: &Behaviors<'t, '_>,
    workflow: &'t TopologyWorkflow,
    targets: Vec<TopologyElement>,
    query: &PlanQuery,
    builder: &mut PlanBuilder,
) -> Result<Diagnostics, Diagnostics> {
    builder.plan.is_2_0 = behaviors.topology.is_2_0;
    let names = behaviors.topology.nodes.iter().map(|node| node.name.clone());
    builder.plan.node_names = names.collect();
    let mut imperative = Imperative::new(behaviors, &query.order, builder);
    imperative.start(workflow, &query.inputs, targets);
    let found = imperative.diagnostics;
    if found.has_errors() { Err(found) } else { Ok(found) }
}

fn no_input(which: Declarative, name: &str) -> Diagnostic {
    let message = format!("the workflow `{}` has no input `{name}`", which.as_str());
    Diagnostic::error(Code::InvalidInput, message)
        .help("workflows that follow from the topology take its inputs: `--evaluate --deployment-input NAME=VALUE`")
}

fn unknown_workflow(topology: &Topology, name: &str) -> Diagnostic {
    let generated = [Declarative::Deploy, Declarative::Undeploy].map(Declarative::as_str);
    let written = topology.workflows.iter().map(|workflow| &*workflow.name);
    Diagnostic::error(Code::UnknownElement, format!("there is no workflow `{name}`"))
        .help_opt(did_you_mean(name, written.chain(generated)))
}

/// An outline of a workflow that can be planned.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct WorkflowOutline {
    /// Its name.
    pub name: String,
    /// The origin of the workflow.
    pub kind: WorkflowKind,
    /// The names of its inputs.
    pub inputs: Vec<String>,
    /// The operations of the substituted node that it implements: `Standard.create`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub implements: Vec<String>,
    /// The description that its author gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The origin of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkflowKind {
    /// It follows from the topology alone.
    Generated,
    /// Its author wrote its steps.
    Written,
    /// Its author wrote its steps, and they replace a generated workflow.
    Overridden,
    /// An implementation outside runs it.
    External,
    /// A trigger of a policy starts it.
    Trigger,
}

/// The outlines of all workflows of a topology, and of the triggers of its policies.
pub(crate) fn workflows(topology: &Topology) -> Vec<WorkflowOutline> {
    let written = topology.workflows.iter().map(|workflow| WorkflowOutline {
        name: workflow.name.clone(),
        kind: match (&workflow.implementation, Declarative::named(&workflow.name)) {
            (Some(_), _) => WorkflowKind::External,
            (None, Some(_)) => WorkflowKind::Overridden,
            (None, None) => WorkflowKind::Written,
        },
        inputs: workflow.inputs.iter().map(|input| input.name.clone()).collect(),
        implements: Vec::new(),
        description: workflow.description.as_ref().map(|text| text.value.clone()),
    });
    let mut all: Vec<_> = written.collect();
    for which in [Declarative::Undeploy, Declarative::Deploy] {
        let name = which.as_str();
        if all.iter().all(|known| known.name != name) {
            let name = name.to_owned();
            let kind = WorkflowKind::Generated;
            let (inputs, implements) = (Vec::new(), Vec::new());
            all.insert(0, WorkflowOutline { name, kind, inputs, implements, description: None });
        }
    }
    for (operation, workflow) in mapped_operations(topology) {
        let implementing = all.iter_mut().find(|one| one.name == workflow);
        implementing.into_iter().for_each(|one| one.implements.push(operation.clone()));
    }
    all.extend(TriggerOfPolicy::all(topology).map(|trigger| WorkflowOutline {
        name: trigger.name(),
        kind: WorkflowKind::Trigger,
        inputs: trigger.inputs(topology).into_iter().map(|input| input.name).collect(),
        implements: Vec::new(),
        description: trigger.description().map(|text| text.value.clone()),
    }));
    all
}

/// The operations of the substituted node that are mapped to workflows (section 3.8.12), each with
/// the name of its workflow (statement D10).
fn mapped_operations(topology: &Topology) -> impl Iterator<Item = (String, &str)> {
    let interfaces = topology.substitution.iter().flat_map(|mapping| &mapping.interfaces);
    interfaces.flat_map(|interface| {
        let operations = match &interface.value.value {
            Value::Map(operations) => &**operations,
            _ => &[],
        };
        operations.iter().filter_map(|(operation, workflow)| {
            Some((format!("{}.{operation}", interface.name), workflow.as_str()?))
        })
    })
}
