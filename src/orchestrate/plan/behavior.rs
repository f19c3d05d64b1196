//! Tells what nodes and relations do: which operations have something to run (statements D7 and D8
//! of `docs/plans.md`), which nodes the orchestrator brings, and where calls run.

use super::artifact::{FoundArtifact, full_name};
use super::condition::AskedAttribute;
use super::elements::{counts, is_selected};
use super::inputs::evaluated_in;
use super::model::{
    CallOutput, CallPlaces, InstanceCount, KnownAttribute, PlanCall, WorkflowInput,
};
use super::weave::{CallPlace, Unhosted};
use super::{CountedTemplate, KeepsValues};
use crate::diagnostic::Diagnostics;
use crate::topology::scope::TopologyScope;
use crate::topology::sensitive::{SecretOwner, Sensitivity};
use crate::topology::value_source::{ValueOwner, calls};
use crate::topology::{
    AssignedValue, Described, NodeIndex, RelationIndex, Spanned, Topology, TopologyArtifact,
    TopologyElement, TopologyImplementation, TopologyInterface, TopologyOperation,
    TopologyParameter, TopologyWorkflow, relationship_type, requirement_definition, type_named,
};
use crate::tosca::evaluate::{EvaluatorState, FunctionEvaluator};
use crate::tosca::function::Function;
use crate::tosca::secrecy::{Secrecy, SecretNames};
use crate::tosca::types::schemas::Schemas;
use crate::tosca::types::{InterfaceDefinition, Parts};
use crate::tosca::value::{Primitive, Schema, TextType, has_number, with_versions};
use crate::tosca::{
    Directive, EffectiveInterface, EffectiveType, Family, LifecycleOperation, OperationDefinition,
    PropertyDefinition, TypeId, TypeRef, Types, meant,
};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// The types whose nodes an orchestrator brings by itself if nothing is implemented. Types that
/// derive from these count as well.
const PROVIDED: [&str; 8] = [
    "tosca.nodes.Abstract.Compute",
    "tosca.nodes.Compute",
    "tosca.nodes.Abstract.Storage",
    "tosca.nodes.Storage.ObjectStorage",
    "tosca.nodes.Storage.BlockStorage",
    "tosca.nodes.network.Network",
    "tosca.nodes.network.Port",
    "tosca.nodes.LoadBalancer",
];

/// The operations that relations may have.
pub(super) const OF_RELATIONS: [LifecycleOperation; 9] = [
    LifecycleOperation::PreConfigureSource,
    LifecycleOperation::PreConfigureTarget,
    LifecycleOperation::PostConfigureSource,
    LifecycleOperation::PostConfigureTarget,
    LifecycleOperation::AddTarget,
    LifecycleOperation::AddSource,
    LifecycleOperation::TargetChanged,
    LifecycleOperation::RemoveTarget,
    LifecycleOperation::RemoveSource,
];

/// The reason why the orchestrator brings a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delegation {
    /// The node is abstract: a real one has to be found for it.
    Abstract,
    /// Orchestrators know the type of the node, and nothing is implemented.
    Provided,
}

/// The type of an element: its name as it is written, and where it is defined.
#[derive(Clone, Copy)]
pub(super) struct WrittenType<'n, 'a> {
    pub(super) said: &'n str,
    pub(super) types: &'n Types<'a>,
    pub(super) id: Option<TypeId>,
}

/// The definition of an operation in a type.
struct TypeOperation<'a> {
    interface: &'a str,
    implementation: Option<Node<'a>>,
    /// The type that gives the implementation.
    owner: &'a str,
    /// The inputs with a value, and the type that assigns it.
    inputs: Vec<(&'a str, Node<'a>, &'a str)>,
    outputs: Vec<(&'a str, Node<'a>)>,
    /// What is secret of inputs by their definitions, by name; open if that is said.
    sensitive: Vec<(&'a str, Secrecy)>,
}

impl<'a> TypeOperation<'a> {
    /// What is secret of an input by its definition; `None` if that says nothing about it.
    fn sensitivity(&self, input: &str) -> Option<&Secrecy> {
        self.sensitive.iter().find(|(name, _)| *name == input).map(|(_, said)| said)
    }

    /// The operation, with what it does not say itself from another one.
    fn over(mut self, other: Option<&Self>) -> Self {
        let Some(other) = other else { return self };
        if self.implementation.is_none() {
            (self.implementation, self.owner) = (other.implementation, other.owner);
        }
        self.inputs.splice(..0, other.inputs.iter().copied());
        if self.outputs.is_empty() {
            self.outputs.clone_from(&other.outputs);
        }
        self.sensitive.extend(other.sensitive.iter().cloned());
        self
    }

    /// The properties of an artifact that is defined in place of the implementation.
    fn properties(&self) -> impl Iterator<Item = (&'a str, Node<'a>)> {
        let primary = self.implementation.map(|node| node.get("primary").unwrap_or(node));
        let properties = primary.and_then(|primary| primary.get("properties"));
        let entries = properties.into_iter().flat_map(Node::entries);
        entries.filter_map(|(name, value)| Some((name.text()?, value)))
    }
}

/// The interface of a template that an operation is in, and the operation if the template lists it.
type ListedOperation<'o> = (&'o TopologyInterface, Option<&'o TopologyOperation>);

/// Who gives properties to the artifact that implements an operation.
#[derive(Clone, Copy)]
struct PropertyGiver<'g, 'a> {
    types: &'g Types<'a>,
    /// The element that has the operation.
    owner: ValueOwner,
    /// The template or the type that gives them, as plans name it.
    from: &'g str,
}

/// The behavior that all nodes or relations of a type share.
struct TypeBehavior<'t, 'a> {
    /// The types among which it is defined.
    types: &'t Types<'a>,
    id: TypeId,
    operations: FxHashMap<LifecycleOperation, TypeOperation<'a>>,
    /// The names of its interfaces whose types define operations of the life cycle.
    lifecycle: Vec<&'a str>,
    /// The interfaces and names of operations that are none of the life cycle.
    others: Vec<(&'a str, &'a str)>,
    /// The calls of nodes or relations that define nothing of their own, as far as they are all
    /// alike.
    calls: FxHashMap<LifecycleOperation, Option<Rc<PlanCall>>>,
    /// The deployment artifact.
    artifact: Option<(String, Span)>,
    is_provided: bool,
    is_compute: bool,
    is_ordering: bool,
    is_connection: bool,
}

/// The behavior of types, each by its place among its types.
type KnownTypes<'t, 'a> = FxHashMap<(*const Types<'a>, TypeId), Rc<TypeBehavior<'t, 'a>>>;

/// The behavior of a relation: that of its type, and whether it adds to it.
struct RelationBehavior<'t, 'a> {
    of_type: Option<Rc<TypeBehavior<'t, 'a>>>,
    /// Whether the relation defines nothing of its own.
    is_plain: bool,
}

/// The behavior of the nodes and relations of a topology.
pub(super) struct Behaviors<'t, 'a> {
    pub(super) topology: &'t Topology,
    types: &'t Types<'a>,
    /// For each node, the types that define what it has.
    types_of: Vec<&'t Types<'a>>,
    of_nodes: Vec<Option<Rc<TypeBehavior<'t, 'a>>>>,
    of_relations: Vec<RelationBehavior<'t, 'a>>,
    /// For each node, the node at the end of its chain of hosts.
    hosts: Vec<Option<NodeIndex>>,
    /// For each node, how many it stands for.
    counts: Vec<InstanceCount>,
    /// The nodes that the orchestrator could bring but does not.
    managed: FxHashSet<NodeIndex>,
    /// Whether source places mean nothing, because they are in files of another template.
    is_foreign: bool,
    secrets: Sensitivity<'t, 'a>,
    /// The behavior of the topology with functions unevaluated, if they have their values here.
    pub(super) as_written: Option<Box<Self>>,
    /// What functions in types refer to, if functions have their values here.
    scope: Option<TopologyScope<'t, 'a>>,
    evaluated: RefCell<EvaluatorState<TopologyElement>>,
    /// How an instance keeps the values that types give.
    pub(super) keeping: Option<&'t dyn KeepsValues>,
    /// The nodes of templates with several nodes, by the name of the template.
    counted: FxHashMap<String, Vec<NodeIndex>>,
}

impl<'t, 'a> Behaviors<'t, 'a> {
    pub(super) fn of(
        topology: &'t Topology,
        types: &'t Types<'a>,
        managed: FxHashSet<NodeIndex>,
        names: &SecretNames,
    ) -> Self {
        let types_of = vec![types; topology.nodes.len()];
        Self::among(topology, (types, types_of), managed, (names, None))
    }

    /// The behavior of a topology in which not all nodes have their types from the same template.
    /// Values that types give are as `keeping` keeps them.
    pub(super) fn among(
        topology: &'t Topology,
        (types, types_of): (&'t Types<'a>, Vec<&'t Types<'a>>),
        managed: FxHashSet<NodeIndex>,
        (names, keeping): (&SecretNames, Option<&'t dyn KeepsValues>),
    ) -> Self {
        let mut behaviors = Self {
            topology,
            types,
            types_of,
            of_nodes: Vec::new(),
            of_relations: Vec::new(),
            hosts: topology.hosts(),
            counts: counts(topology, types),
            managed,
            is_foreign: false,
            secrets: Sensitivity::of(topology, types, names.clone()),
            as_written: None,
            scope: None,
            evaluated: RefCell::default(),
            keeping,
            counted: FxHashMap::default(),
        };
        let mut known = FxHashMap::default();
        let of_node = |node| behaviors.found_node_type(node, &mut known);
        behaviors.of_nodes = topology.node_ids().map(of_node).collect();
        let mut known = FxHashMap::default();
        let of_relation = |id| behaviors.found_relation(id, &mut known);
        behaviors.of_relations = topology.relation_ids().map(of_relation).collect();
        behaviors
    }

    /// Adds the same topology with functions unevaluated, because only that shows which values are
    /// secret. The functions of types get their values, too.
    pub(super) fn beside(self, written: Option<&'t Topology>) -> Self {
        let Some(written) = written else { return self };
        let (types, names) = ((self.types, self.types_of.clone()), self.secrets.names());
        let secrets = (names, self.keeping);
        let as_written = Self::among(written, types, FxHashSet::default(), secrets);
        Self {
            as_written: Some(Box::new(as_written)),
            scope: Some(TopologyScope::of(self.topology, self.types)),
            ..self
        }
    }

    /// The errors in functions of types that were evaluated so far, each once.
    pub(super) fn wrong(&self) -> Diagnostics {
        let mut once = Diagnostics::default();
        for error in std::mem::take(&mut self.evaluated.borrow_mut().diagnostics.0) {
            // Every node of a type has the errors of the type.
            if !once.0.contains(&error) {
                once.push(error);
            }
        }
        once
    }

    /// A value that a type gives, and of which this is secret, with the values of functions, if they
    /// have theirs here.
    pub(super) fn value(&self, node: Node<'_>, owner: ValueOwner, secrecy: &Secrecy) -> Value {
        let value = match &self.scope {
            None => meant::value_of(node),
            Some(scope) => {
                let mut evaluator = FunctionEvaluator::new(scope, self.evaluated.take());
                let value = evaluator.replaced(node, owner.element());
                self.evaluated.replace(evaluator.into_state());
                value
            }
        };
        match self.keeping {
            Some(keeping) => keeping.kept(value, secrecy, self.secrets.data()),
            None => value,
        }
    }

    /// A value of a template with the properties that it asks for, if functions have their values
    /// here: where one template stands for several nodes or relations, these are known only of each.
    fn known_value<'v>(&self, value: &'v Value, owner: ValueOwner) -> Cow<'v, Value> {
        match &self.scope {
            Some(scope) if calls(value, Function::GetProperty) => {
                let of = (scope, owner.element());
                Cow::Owned(evaluated_in(value.clone(), of, self.types.is_of_2_0()))
            }
            _ => Cow::Borrowed(value),
        }
    }

    /// Registers the nodes of an instance that come from a template with several nodes.
    pub(super) fn counted(mut self, template_of: Option<CountedTemplate<'_>>) -> Self {
        let Some(template_of) = template_of else { return self };
        for id in self.topology.node_ids() {
            if let Some(template) = template_of(&self.topology.node(id).name) {
                self.counted.entry(template.to_owned()).or_default().push(id);
            }
        }
        self
    }

    /// The nodes of a template with several nodes.
    pub(super) fn nodes_of(&self, template: &str) -> Option<&[NodeIndex]> {
        self.counted.get(template).map(Vec::as_slice)
    }

    /// A workflow with functions unevaluated.
    pub(super) fn written_workflow(&self, name: &str) -> Option<&'t TopologyWorkflow> {
        let written = self.as_written.as_deref().unwrap_or(self);
        written.topology.workflows.iter().find(|workflow| workflow.name == name)
    }

    /// All types of the template.
    pub(super) fn types(&self) -> &'t Types<'a> {
        self.types
    }

    /// Decides which values are secret.
    pub(super) fn secrets(&self) -> &Sensitivity<'t, 'a> {
        self.as_written.as_ref().map_or(&self.secrets, |written| &written.secrets)
    }

    /// The inputs of a generated workflow: those of the topology, with their values, if functions
    /// have theirs.
    pub(super) fn told(&self) -> Vec<WorkflowInput> {
        let inputs = self.topology.inputs.iter().filter(|_| self.as_written.is_some());
        let told = inputs.filter_map(|input| {
            let value = input.value.as_ref().or(input.default.as_ref())?.value.clone();
            let is_sensitive = self.is_sensitive_input(input, &value);
            Some(WorkflowInput { name: input.name.clone(), value, is_sensitive })
        });
        told.collect()
    }

    /// Whether the value of an input of a workflow, or a part of it, is secret.
    pub(super) fn is_sensitive_input(&self, input: &TopologyParameter, value: &Value) -> bool {
        !self.secrets.parameter(input).is_open() || self.secrets.has_secret_name(value)
    }

    /// Makes a call, and marks the inputs that were secret before functions had their values.
    fn made(&self, make: impl Fn(&Self) -> Option<PlanCall>) -> Option<PlanCall> {
        let mut call = make(self)?;
        let written = self.as_written.as_ref().and_then(|written| make(written));
        let said = written.iter().flat_map(|written| &written.inputs);
        for (input, said) in call.inputs.iter_mut().zip(said) {
            input.is_sensitive = said.is_sensitive;
            input.function = takes_from_end(&said.value).then(|| said.value.clone());
        }
        Some(call)
    }

    /// The type of an artifact of a workflow, if it is defined in place.
    pub(super) fn type_in_place(&self, artifact: &Value, span: Span) -> Option<String> {
        Some(full_artifact_type(self.types, type_of(artifact)?, span))
    }

    /// Makes source places meaningless.
    pub(super) fn foreign(self) -> Self {
        Self { is_foreign: true, ..self }
    }

    /// Whether source places mean nothing.
    pub(super) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// A source place, if it means something here.
    pub(super) fn place(&self, span: Span) -> Span {
        if self.is_foreign { Span::DETACHED } else { span }
    }

    /// The node at the end of the chain of hosts of a node.
    pub(super) fn host(&self, node: NodeIndex) -> Option<NodeIndex> {
        self.hosts.get(node.index()).copied().flatten()
    }

    /// Whether a node was selected from elsewhere: it exists already and is not touched.
    pub(super) fn is_selected(&self, node: NodeIndex) -> bool {
        is_selected(self.topology.node(node))
    }

    /// Whether a template stands for no node at all.
    pub(super) fn is_nothing(&self, node: NodeIndex) -> bool {
        self.count(node) == InstanceCount::Known(0)
    }

    /// How many nodes a template stands for.
    pub(super) fn count(&self, node: NodeIndex) -> InstanceCount {
        self.counts[node.index()]
    }

    /// Whether nothing has to be done for a node.
    pub(super) fn is_untouched(&self, node: NodeIndex) -> bool {
        self.is_selected(node) || self.is_nothing(node)
    }

    /// Whether and why the orchestrator brings a node.
    pub(super) fn delegation(&self, node: NodeIndex) -> Option<Delegation> {
        if self.managed.contains(&node) {
            return None;
        }
        if self.topology.node(node).directive() != Directive::Create {
            return Some(Delegation::Abstract);
        }
        let is_provided = self.node_type(node).is_some_and(|behavior| behavior.is_provided);
        let implements = |&operation: &LifecycleOperation| self.standard(node, operation).is_some();
        (is_provided && !LifecycleOperation::STANDARD.iter().any(implements))
            .then_some(Delegation::Provided)
    }

    /// Whether a node has to be made again to change a property: the definition of the property
    /// says so.
    pub(super) fn recreates(&self, node: NodeIndex, property: &str) -> bool {
        let part = self.node_type(node).and_then(|it| it.effective().properties.get(property));
        let metadata = part.and_then(|part| part.named.value.get("metadata"));
        metadata.and_then(|said| said.get("recreate")?.text()) == Some("true")
    }

    /// The value of an attribute of a node before anything runs, if it is known.
    pub(super) fn attribute(
        &self,
        node: NodeIndex,
        asked: AskedAttribute<'_>,
    ) -> Option<KnownAttribute> {
        let AskedAttribute { capability, name, .. } = asked;
        let (template, of_type) = (self.topology.node(node), self.effective(node));
        let value = match capability {
            None => beginning(Some(&template.described), self.node_type(node), name)?,
            Some(capability) => {
                let own = template.capabilities.iter().find(|own| own.name == *capability);
                let defined = of_type.and_then(|it| it.capabilities.get(capability));
                let defined =
                    defined.map(|it| [&it.definition.properties, &it.definition.attributes]);
                beginning_of(own.map(|own| [&*own.properties, &own.attributes]), defined, name)?
            }
        };
        let secrets = self.secrets();
        let is_secret = !secrets.slot(SecretOwner::Node(node), capability, name).is_open();
        let is_sensitive = is_secret || secrets.has_secret_name(&value);
        Some(KnownAttribute { name: asked.key().into_owned(), value, is_sensitive })
    }

    /// The value of an attribute of a relation before anything runs, if it is known.
    pub(super) fn relation_attribute(
        &self,
        relation: RelationIndex,
        name: &str,
    ) -> Option<KnownAttribute> {
        let of_type = self.relationship_type(relation);
        let is_secret = self.secrets().relation_property(relation, name);
        let relation = self.topology.relation(relation);
        let template = relation.relationship.map(|id| &self.topology.relationship(id).described);
        let value = beginning(template, of_type, name)?;
        let is_sensitive = is_secret || self.secrets().has_secret_name(&value);
        Some(KnownAttribute { name: name.to_owned(), value, is_sensitive })
    }

    /// What the type of an attribute of an element makes of texts.
    pub(super) fn form(&self, owner: ValueOwner, asked: AskedAttribute<'_>) -> Option<TextType> {
        let AskedAttribute { capability, name, .. } = asked;
        let of_type = match owner {
            ValueOwner::Node(node) => self.effective(node),
            ValueOwner::Relation(relation) => self.relation_effective(relation),
            ValueOwner::Topology => None,
        }?;
        let [attributes, properties] = match capability {
            None => [&of_type.attributes, &of_type.properties],
            Some(capability) => {
                let defined = &of_type.capabilities.get(capability)?.definition;
                [&defined.attributes, &defined.properties]
            }
        };
        let part = attributes.get(name).or_else(|| properties.get(name))?;
        let schemas = Schemas::new(self.types_for(owner));
        TextType::of_part(part.definition.expected()?, &[], &schemas)
    }

    /// Whether operations of relations can run on the node itself.
    pub(super) fn is_compute(&self, node: NodeIndex) -> bool {
        self.node_type(node).is_some_and(|behavior| behavior.is_compute)
    }

    /// Whether a relation is an ordering one. All are whose types belong to the specification's
    /// hierarchy, and those of unknown type.
    pub(super) fn is_ordering(&self, relation: RelationIndex) -> bool {
        self.relationship_type(relation).is_none_or(|of_type| of_type.is_ordering)
    }

    /// Whether a relation connects a node to another one.
    pub(super) fn is_connection(&self, relation: RelationIndex) -> bool {
        self.relationship_type(relation).is_some_and(|of_type| of_type.is_connection)
    }

    /// The call of an operation of a node; `None` if it has nothing to run.
    pub(super) fn standard(
        &self,
        node: NodeIndex,
        operation: LifecycleOperation,
    ) -> Option<Rc<PlanCall>> {
        let template = self.topology.node(node);
        let is_plain = template.described.interfaces.is_empty() && template.artifacts.is_empty();
        let is_marked = || self.secrets().is_marked(SecretOwner::Node(node), None);
        let of_type = self.node_type(node).filter(|_| is_plain && !is_marked());
        match of_type.and_then(|of_type| of_type.calls.get(&operation)) {
            Some(same) => same.clone(),
            None => self.made(|behaviors| behaviors.standard_call(node, operation)).map(Rc::new),
        }
    }

    fn standard_call(&self, node: NodeIndex, operation: LifecycleOperation) -> Option<PlanCall> {
        let template = self.topology.node(node);
        let of_type = self.node_type(node);
        let inherited = of_type.and_then(|of_type| of_type.operations.get(&operation));
        let own = written(&template.described.interfaces, operation, (of_type, inherited));
        let from = (&*format!("node.{}", template.name), ValueOwner::Node(node));
        let artifacts = (&*template.artifacts, self.types_of[node.index()]);
        self.node_call(operation, own, artifacts, from, of_type)
    }

    fn node_call(
        &self,
        operation: LifecycleOperation,
        own: Option<ListedOperation<'_>>,
        artifacts: (&[TopologyArtifact], &Types<'a>),
        from: (&str, ValueOwner),
        of_type: Option<&TypeBehavior<'_, 'a>>,
    ) -> Option<PlanCall> {
        let inherited = of_type.and_then(|of_type| of_type.operations.get(&operation));
        if let Some(call) = self.merged(operation.as_str(), own, from, inherited) {
            return Some(self.with_file(call, artifacts, from, of_type));
        }
        let (artifact, span) = (operation == LifecycleOperation::Create)
            .then(|| deployment_artifact(artifacts, of_type))??;
        Some(PlanCall {
            interface: operation.interface().to_owned(),
            operation: operation.as_str().to_owned(),
            artifact: Some(artifact),
            ..PlanCall::at(span)
        })
    }

    /// The call of an operation of a relation.
    pub(super) fn relation(
        &self,
        relation: RelationIndex,
        operation: LifecycleOperation,
    ) -> Option<Rc<PlanCall>> {
        let RelationBehavior { of_type, is_plain } = &self.of_relations[relation.index()];
        let of_type = of_type.as_deref();
        match of_type.map(|of_type| of_type.calls.get(&operation)).filter(|_| *is_plain) {
            Some(Some(same)) => same.clone(),
            None if *is_plain => None,
            _ => self.made(|behaviors| behaviors.relation_call(relation, operation)).map(Rc::new),
        }
    }

    fn relation_call(
        &self,
        relation: RelationIndex,
        operation: LifecycleOperation,
    ) -> Option<PlanCall> {
        let owner = ValueOwner::Relation(relation);
        let of_type = self.relationship_type(relation);
        let inherited = of_type.and_then(|found| found.operations.get(&operation));
        let types = self.types_at(relation);
        let is_meant = |interface: &InterfaceDefinition<'a>| {
            is_interface_name(interface.named.name, operation)
                || is_interface(types, interface.kind, operation.interface_type())
        };
        let of_requirement =
            self.requirement_operation(relation, operation.as_str(), &is_meant, inherited);
        let inherited = of_requirement.as_ref().or(inherited);
        let relation = self.topology.relation(relation);
        let own = relation.relationship.map(|id| self.topology.relationship(id));
        let written = own.and_then(|template| {
            written(&template.described.interfaces, operation, (of_type, inherited))
        });
        let from = match own.and_then(|template| template.name.as_deref()) {
            Some(name) => format!("relationship.{name}"),
            None => format!("node.{}", self.topology.node(relation.source).name),
        };
        self.merged(operation.as_str(), written, (&from, owner), inherited)
    }

    /// The call of an operation that a workflow names on a node: `interface.operation`, with the
    /// name of the interface or of its type, or the operation alone.
    pub(super) fn called(&self, node: NodeIndex, name: &str) -> Option<PlanCall> {
        self.made(|behaviors| behaviors.named_call(node, split_operation(name)))
    }

    fn named_call(
        &self,
        node: NodeIndex,
        (interface, operation): (Option<&str>, &str),
    ) -> Option<PlanCall> {
        let template = self.topology.node(node);
        let of_type = self.node_type(node);
        let types = self.types_of[node.index()];
        let interfaces = of_type.map(|of_type| &of_type.effective().interfaces);
        let inherited = interfaces.and_then(|interfaces| {
            named_operation(types, &self.secrets, interfaces, (interface, operation))
        });
        let is_meant = |one: &&TopologyInterface| {
            interface.is_none_or(|name| {
                let is_of_type = one.type_name.as_ref().is_some_and(|kind| kind.value == name);
                short(&one.name) == short(name) || is_of_type
            })
        };
        let meant = template.described.interfaces.iter().filter(is_meant);
        let own = own_operation(meant, operation, inherited.as_ref());
        if own.is_none() && inherited.is_none() {
            return None;
        }
        let from = format!("node.{}", template.name);
        let owner = ValueOwner::Node(node);
        if let Some(call) = self.merged(operation, own, (&from, owner), inherited.as_ref()) {
            let artifacts = (&*template.artifacts, types);
            return Some(self.with_file(call, artifacts, (&from, owner), of_type));
        }
        let interface = own.map(|(interface, _)| &*interface.name);
        let interface = interface.or_else(|| inherited.as_ref().map(|said| said.interface));
        let interface = interface.unwrap_or_default();
        let create = LifecycleOperation::Create;
        let artifact = (operation == create.as_str() && is_interface_name(interface, create))
            .then(|| deployment_artifact((&template.artifacts, types), of_type));
        Some(PlanCall {
            interface: interface.to_owned(),
            operation: operation.to_owned(),
            artifact: artifact.flatten().map(|(artifact, _)| artifact),
            ..PlanCall::at(own.and_then(|(_, said)| said).map_or(template.span, |said| said.span))
        })
    }

    /// The call of an operation that a workflow names on a relation.
    pub(super) fn relation_called(&self, relation: RelationIndex, name: &str) -> Option<PlanCall> {
        self.made(|behaviors| behaviors.named_relation_call(relation, name))
    }

    fn named_relation_call(&self, relation: RelationIndex, name: &str) -> Option<PlanCall> {
        let owner = ValueOwner::Relation(relation);
        let (interface, operation) = split_operation(name);
        if let Some(known) = lifecycle_operation(operation, false) {
            return self.relation_call(relation, known);
        }
        let of_type = self.relationship_type(relation).and_then(|of_type| {
            let interfaces = &of_type.effective().interfaces;
            named_operation(of_type.types, &self.secrets, interfaces, (interface, operation))
        });
        let is_meant = |one: &InterfaceDefinition<'a>| {
            let is_of_type = |name| is_interface(self.types_at(relation), one.kind, name);
            interface.is_none_or(|name| one.named.name == name || is_of_type(name))
        };
        let inherited = self
            .requirement_operation(relation, operation, &is_meant, of_type.as_ref())
            .or(of_type);
        let relation = self.topology.relation(relation);
        let template = relation.relationship.map(|id| self.topology.relationship(id));
        let interfaces = template.into_iter().flat_map(|it| &it.described.interfaces);
        let meant = interfaces.filter(|one| interface.is_none_or(|name| one.name == name));
        let own = own_operation(meant, operation, inherited.as_ref());
        let from = self.topology.node_identifier(relation.source);
        let span = own.and_then(|(_, said)| said).map_or(relation.span, |said| said.span);
        let name = own.map(|(interface, _)| &*interface.name);
        let name = name.or_else(|| inherited.as_ref().map(|said| said.interface))?;
        let call = self.merged(operation, own, (&from, owner), inherited.as_ref());
        // An operation that nothing implements runs nothing.
        Some(call.unwrap_or_else(|| PlanCall {
            interface: name.to_owned(),
            operation: operation.to_owned(),
            ..PlanCall::at(span)
        }))
    }

    /// Whether a node has this name, or a type of this name.
    pub(super) fn is_named(&self, node: NodeIndex, name: &str) -> bool {
        let of_type = self.node_type(node);
        self.topology.node(node).name == name
            || of_type.is_some_and(|it| derives(it.types, it.id, Family::Node, name))
    }

    /// The names of the types of a node, the nearest first.
    pub(super) fn node_types(&self, node: NodeIndex) -> Vec<&'a str> {
        self.node_type(node).map(TypeBehavior::names).unwrap_or_default()
    }

    /// The names of the types of a relation, the nearest first.
    pub(super) fn relation_types(&self, relation: RelationIndex) -> Vec<&'a str> {
        self.relationship_type(relation).map(TypeBehavior::names).unwrap_or_default()
    }

    /// The type of a node, if it has one.
    pub(super) fn written_type(&self, node: NodeIndex) -> Option<WrittenType<'_, 'a>> {
        let said = &*self.topology.node(node).described.type_name.as_ref()?.value;
        let id = self.node_type(node).map(|it| it.id);
        Some(WrittenType { said, types: self.types_of[node.index()], id })
    }

    /// The type of a relation, if it has one.
    pub(super) fn written_relationship(
        &self,
        relation: RelationIndex,
    ) -> Option<WrittenType<'_, 'a>> {
        let types = self.types_at(relation);
        let id = self.relationship_type(relation).map(|it| it.id);
        let written = self.topology.relation(relation).relationship_type.as_ref();
        let defined = || id.map(|id| types.definition(id).name);
        Some(WrittenType { said: written.map(|name| &*name.value).or_else(defined)?, types, id })
    }

    /// What the type of a node defines.
    pub(super) fn effective(&self, node: NodeIndex) -> Option<&'t EffectiveType<'a>> {
        self.node_type(node).map(TypeBehavior::effective)
    }

    /// What the type of a relation defines.
    pub(super) fn relation_effective(
        &self,
        relation: RelationIndex,
    ) -> Option<&'t EffectiveType<'a>> {
        self.relationship_type(relation).map(TypeBehavior::effective)
    }

    /// The full name of the type of an artifact, and whether it is a type of deployment artifacts.
    /// The template's own name takes precedence over that in the type of the node.
    pub(super) fn artifact_type(
        &self,
        node: NodeIndex,
        own: Option<&Spanned<String>>,
        defined: Option<Node<'_>>,
    ) -> Option<(String, bool)> {
        let types = self.types_of[node.index()];
        let (id, written) = match own {
            Some(own) => (type_named(types, Family::Artifact, own), &*own.value),
            None => {
                let (file, name) = (defined?.span().file, defined?.text()?);
                (types.find_in(Some(file), Family::Artifact, name), name)
            }
        };
        let full = full_name(types, id).unwrap_or_else(|| written.to_owned());
        Some((full, id.is_some_and(|id| is_deployment(types, id))))
    }

    /// The interfaces and names of the operations of a node that are none of the life cycle.
    pub(super) fn other_operations(&self, node: NodeIndex) -> Vec<(String, String)> {
        let owned = |(interface, name): (&str, &str)| (interface.to_owned(), name.to_owned());
        let of_type = self.node_type(node).into_iter().flat_map(|it| it.others.iter().copied());
        let interfaces = self.topology.node(node).described.interfaces.iter();
        let own = interfaces.flat_map(|interface| {
            let others = interface.operations.iter().filter(move |said| {
                let known = LifecycleOperation::standard(&said.name);
                known.is_none_or(|known| !is_meant(interface, known, self.node_type(node)))
            });
            others.map(|said| (&*interface.name, &*said.name))
        });
        let mut all: Vec<_> = of_type.chain(own).map(owned).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The call of an operation of a node by interface and name; `None` if it has nothing to run.
    pub(super) fn operation(
        &self,
        node: NodeIndex,
        interface: &str,
        operation: &str,
    ) -> Option<PlanCall> {
        let made = self.made(|behaviors| behaviors.named_call(node, (Some(interface), operation)));
        made.filter(|call| call.primary.is_some())
    }

    /// The call of an operation of a relation with functions unevaluated.
    pub(super) fn written_relation(
        &self,
        relation: RelationIndex,
        operation: LifecycleOperation,
    ) -> Option<Rc<PlanCall>> {
        let written = self.as_written.as_deref().unwrap_or(self);
        written.relation(relation, operation)
    }

    /// The node on which a call at this place runs; `None` for the orchestrator.
    pub(super) fn place_of(&self, place: CallPlace) -> Option<NodeIndex> {
        let CallPlace::HostOf(node, unhosted) = place else { return None };
        let is_itself = || match unhosted {
            Unhosted::Orchestrator => false,
            Unhosted::Machine => self.is_compute(node),
            Unhosted::Itself => true,
        };
        self.host(node).or_else(|| is_itself().then_some(node))
    }

    /// The behavior of the type of a node.
    fn node_type(&self, node: NodeIndex) -> Option<&TypeBehavior<'t, 'a>> {
        self.of_nodes.get(node.index())?.as_deref()
    }

    /// The behavior of the type of a relation. It is the type that the relation names, otherwise
    /// the one in the definition of its requirement.
    fn relationship_type(&self, relation: RelationIndex) -> Option<&TypeBehavior<'t, 'a>> {
        self.of_relations.get(relation.index())?.of_type.as_deref()
    }

    fn found_node_type(
        &self,
        node: NodeIndex,
        known: &mut KnownTypes<'t, 'a>,
    ) -> Option<Rc<TypeBehavior<'t, 'a>>> {
        let types = self.types_of[node.index()];
        let name = self.topology.node(node).described.type_name.as_ref()?;
        let id = type_named(types, Family::Node, name)?;
        let behavior = || Rc::new(self.node_type_behavior(types, id));
        Some(Rc::clone(known.entry((std::ptr::from_ref(types), id)).or_insert_with(behavior)))
    }

    fn found_relation(
        &self,
        id: RelationIndex,
        known: &mut KnownTypes<'t, 'a>,
    ) -> RelationBehavior<'t, 'a> {
        let types = self.types_at(id);
        let of_type = relationship_type(self.topology, types, id).map(|id| {
            let behavior = || Rc::new(self.relationship_type_behavior(types, id));
            Rc::clone(known.entry((std::ptr::from_ref(types), id)).or_insert_with(behavior))
        });
        let own = self.topology.relation(id).relationship.map(|id| self.topology.relationship(id));
        let definition = requirement_definition(self.topology, types, id);
        let is_plain = own.is_none_or(|template| template.described.interfaces.is_empty())
            && definition.is_none_or(|(definition, _)| definition.interfaces.is_empty());
        RelationBehavior { of_type, is_plain }
    }

    /// The types that define what a relation has: those of its source.
    fn types_at(&self, relation: RelationIndex) -> &'t Types<'a> {
        self.types_of[self.topology.relation(relation).source.index()]
    }

    /// The types that define what an element has.
    fn types_for(&self, owner: ValueOwner) -> &'t Types<'a> {
        match owner {
            ValueOwner::Node(node) => self.types_of[node.index()],
            ValueOwner::Relation(relation) => self.types_at(relation),
            ValueOwner::Topology => self.types,
        }
    }

    fn node_type_behavior(&self, types: &'t Types<'a>, id: TypeId) -> TypeBehavior<'t, 'a> {
        let mut behavior = TypeBehavior::of(types, &self.secrets, id, true);
        let derives = |name: &str| derives(types, id, Family::Node, name);
        behavior.is_provided = PROVIDED.iter().any(|name| derives(name));
        behavior.is_compute = derives("tosca.nodes.Compute");
        behavior.artifact = types.effective(id).artifacts.values().find_map(|part| {
            let definition = &part.definition;
            let kind = definition.kind?;
            let id = types.find_in(Some(kind.span().file), Family::Artifact, kind.text()?)?;
            let file = definition.file?;
            is_deployment(types, id).then(|| Some((file.text()?.to_owned(), file.span())))?
        });
        let of_all = ("", ValueOwner::Topology);
        let call =
            |operation| self.node_call(operation, None, (&[], types), of_all, Some(&behavior));
        behavior.calls = behavior.same(&LifecycleOperation::STANDARD, call);
        behavior
    }

    fn relationship_type_behavior(&self, types: &'t Types<'a>, id: TypeId) -> TypeBehavior<'t, 'a> {
        let mut behavior = TypeBehavior::of(types, &self.secrets, id, false);
        behavior.is_ordering = types.is_ordering(id);
        behavior.is_connection =
            derives(types, id, Family::Relationship, "tosca.relationships.ConnectsTo");
        let of_all = ("", ValueOwner::Topology);
        let call = |operation: LifecycleOperation| {
            let inherited = behavior.operations.get(&operation);
            self.merged(operation.as_str(), None, of_all, inherited)
        };
        behavior.calls = behavior.same(&OF_RELATIONS, call);
        behavior
    }

    /// The operation of a relationship as the definition of its requirement gives it, with what that
    /// does not say from the type.
    fn requirement_operation(
        &self,
        relation: RelationIndex,
        operation: &str,
        is_meant: &dyn Fn(&InterfaceDefinition<'a>) -> bool,
        of_type: Option<&TypeOperation<'a>>,
    ) -> Option<TypeOperation<'a>> {
        let types = self.types_at(relation);
        let (definition, owner) = requirement_definition(self.topology, types, relation)?;
        let interfaces = definition.interfaces.iter().filter(|interface| is_meant(interface));
        let listing = interfaces.map(|interface| {
            let said = interface.operations.iter().find(|one| one.named.name == operation);
            (interface.named.name, interface, said)
        });
        let (interface, said) = listed(listing, of_type)?;
        let owner = types.definition(owner).name;
        let inputs = interface.inputs.iter().chain(said.iter().flat_map(|said| &said.inputs));
        let outputs = said.iter().flat_map(|said| &said.outputs);
        let of_requirement = TypeOperation {
            interface: interface.named.name,
            owner,
            implementation: said.and_then(|said| said.implementation).filter(|it| !it.is_null()),
            inputs: inputs
                .clone()
                .filter_map(|input| Some((input.named.name, input_value(input)?, owner)))
                .collect(),
            outputs: outputs.map(|one| (one.name, one.value)).collect(),
            sensitive: inputs.filter_map(|input| sensitivity(&self.secrets, input)).collect(),
        };
        Some(of_requirement.over(of_type))
    }

    /// An operation of a template merged over that of its type; `None` if neither has an
    /// implementation.
    fn merged(
        &self,
        operation: &str,
        own: Option<ListedOperation<'_>>,
        (from, owner): (&str, ValueOwner),
        inherited: Option<&TypeOperation<'_>>,
    ) -> Option<PlanCall> {
        let said = own.and_then(|(_, said)| said);
        let implementation = said.and_then(|said| said.implementation.as_ref());
        let implementation = implementation.filter(|found| found.primary.is_some());
        let mut call = match (implementation, inherited.and_then(|said| said.implementation)) {
            (Some(own), _) => of_template(own),
            (None, Some(node)) => of_type(node),
            (None, None) => return None,
        }?;
        call.operation = operation.to_owned();
        let kind = call.primary_type.take();
        let types = self.types_for(owner);
        call.primary_type = kind.map(|kind| full_artifact_type(types, kind, call.places.primary));
        let interface = own.map(|(interface, _)| &*interface.name);
        call.interface =
            interface.or(inherited.map(|said| said.interface)).unwrap_or_default().to_owned();
        for &(name, node, by) in inherited.iter().flat_map(|said| &said.inputs) {
            let secrecy = self.input_secrecy(inherited, owner, name);
            call.assign(name, self.value(node, owner, &secrecy), by, node.span());
        }
        for AssignedValue { name, value, .. } in assigned_inputs(own) {
            let known = self.known_value(&value.value, owner);
            call.assign(name, assigned(&known), from, value.span);
        }
        let written = said.map_or(&[][..], |said| &said.outputs);
        let written = written.iter().map(|output| (&*output.name, output.value.value.clone()));
        let outputs = inherited.iter().flat_map(|said| &said.outputs);
        let outputs = outputs.map(|(name, node)| (*name, node.to_value()));
        let outputs: Vec<_> = if written.len() > 0 { written.collect() } else { outputs.collect() };
        call.outputs = outputs
            .into_iter()
            .filter_map(|(name, mapping)| self.output(name, &mapping, owner))
            .collect();
        for input in &mut call.inputs {
            let is_said = inherited.is_some_and(|said| said.sensitivity(&input.name).is_some());
            input.is_sensitive = !self.input_secrecy(inherited, owner, &input.name).is_open()
                || (!is_said && self.secrets.value(&input.value, owner))
                || self.is_assigned_secret(own, &input.name)
                || self.secrets.has_secret_name(&input.value);
        }
        self.take_versions(&mut call, owner);
        self.add_in_place(&mut call, implementation, inherited, (from, owner));
        Some(call)
    }

    /// Makes unquoted versions among the inputs of a call texts: as a number, `1.10` is `1.1`.
    fn take_versions(&self, call: &mut PlanCall, owner: ValueOwner) {
        if !call.inputs.iter().any(|input| has_number(&input.value)) {
            return;
        }
        let of_type = match owner {
            ValueOwner::Node(node) => self.effective(node),
            ValueOwner::Relation(relation) => self.relation_effective(relation),
            ValueOwner::Topology => None,
        };
        let Some(defined) = of_type.and_then(|it| it.interfaces.get(&*call.interface)) else {
            return;
        };
        let defined = &defined.definition;
        let operation = defined.operations.get(&*call.operation).map(|it| &it.definition);
        let of_operation = operation.into_iter().flat_map(|operation| &operation.inputs);
        let all = defined.inputs.values().map(|part| &part.definition).chain(of_operation);
        let all: Vec<_> = all.collect();
        let of_types = OnceCell::new();
        for input in call.inputs.iter_mut().filter(|input| has_number(&input.value)) {
            let definition = all.iter().rfind(|definition| definition.named.name == input.name);
            let expected = definition.and_then(|definition| definition.expected());
            let is_number = |schema: &&Schema<'_>| {
                matches!(schema.primitive(), Some(Primitive::Integer | Primitive::Float))
            };
            let Some(expected) = expected.filter(|schema| !is_number(schema)) else { continue };
            let schemas = of_types.get_or_init(|| Schemas::new(self.types_for(owner)));
            if let Some(value) = with_versions(&input.value, expected, schemas) {
                input.value = value;
            }
        }
    }

    /// Adds the properties of an artifact that is defined in place of the implementation.
    fn add_in_place(
        &self,
        call: &mut PlanCall,
        own: Option<&TopologyImplementation>,
        inherited: Option<&TypeOperation<'_>>,
        (from, owner): (&str, ValueOwner),
    ) {
        let giver = PropertyGiver { types: self.types_for(owner), owner, from };
        match (own, inherited) {
            (Some(own), _) => {
                for (name, value) in properties_of(own) {
                    let value = Spanned { value: value.clone(), span: call.places.primary };
                    self.add_property(call, name, &value, giver);
                }
            }
            (None, Some(said)) => {
                let giver = PropertyGiver { from: said.owner, ..giver };
                self.add_defined(call, said.properties(), giver);
            }
            (None, None) => {}
        }
        self.add_defaults(call, giver);
    }

    /// What is secret of an input by its definition, or else by its name.
    fn input_secrecy(
        &self,
        inherited: Option<&TypeOperation<'_>>,
        owner: ValueOwner,
        name: &str,
    ) -> Secrecy {
        let is_marked = |owner| self.secrets.is_marked(owner, None);
        if SecretOwner::of(owner).is_some_and(is_marked) {
            return Secrecy::Whole;
        }
        let said = inherited.and_then(|said| said.sensitivity(name)).cloned();
        said.unwrap_or_else(|| Secrecy::whole(self.secrets.names().has(name)))
    }

    /// Whether a template says of an input that it is secret.
    fn is_assigned_secret(&self, own: Option<ListedOperation<'_>>, name: &str) -> bool {
        let mut inputs = assigned_inputs(own).filter(|input| input.name == name);
        inputs.any(|input| !self.secrets.assigned_definition(input).is_open())
    }

    /// Replaces the names of artifacts of the node by their files, and adds the properties of the
    /// one that implements the operation.
    fn with_file(
        &self,
        mut call: PlanCall,
        (artifacts, types): (&[TopologyArtifact], &Types<'a>),
        (from, owner): (&str, ValueOwner),
        of_type: Option<&TypeBehavior<'_, 'a>>,
    ) -> PlanCall {
        let of_type = of_type.map(TypeBehavior::effective);
        let found = |name: &str| FoundArtifact::of(name, artifacts, (of_type, types));
        if let Some(artifact) = call.primary.as_deref().and_then(found) {
            call.primary_type = artifact.kind(types);
            let FoundArtifact { file, place, own, inherited, .. } = artifact;
            (call.primary, call.places.primary) = (Some(file), place);
            let giver = PropertyGiver { types, owner, from };
            for one in own.into_iter().flat_map(|own| &own.properties) {
                self.add_property(&mut call, &one.name, &one.value, giver);
            }
            if let Some((from, properties)) = inherited {
                let properties = properties.iter().map(|one| (one.name, one.value));
                self.add_defined(&mut call, properties, PropertyGiver { from, ..giver });
            }
            self.add_defaults(&mut call, giver);
        }
        for (name, at) in call.dependencies.iter_mut().zip(&mut call.places.dependencies) {
            if let Some(FoundArtifact { file, place, .. }) = found(name) {
                (*name, *at) = (file, place);
            }
        }
        call
    }

    /// Adds a property of the artifact that implements an operation, unless the operation has an
    /// input of this name.
    fn add_property(
        &self,
        call: &mut PlanCall,
        name: &str,
        value: &Spanned<Value>,
        giver: PropertyGiver<'_, '_>,
    ) {
        if call.inputs.iter().any(|known| known.name == name) {
            return;
        }
        let (said, Spanned { value, span }) = (self.property_secrecy(call, name, giver), value);
        let is_computed = || self.secrets.value(value, giver.owner);
        let is_secret = match said {
            Some(said) => !said.is_open(),
            None => self.secrets.names().has(name) || is_computed(),
        };
        call.assign(name, value.clone(), giver.from, *span);
        if let Some(property) = call.inputs.last_mut() {
            property.is_property = true;
            property.is_sensitive = is_secret || self.secrets.has_secret_name(value);
        }
    }

    /// What is secret of a property by the type of the artifact; `None` if that says nothing.
    fn property_secrecy(
        &self,
        call: &PlanCall,
        name: &str,
        giver: PropertyGiver<'_, '_>,
    ) -> Option<Secrecy> {
        let kind = giver.types.find(Family::Artifact, call.primary_type.as_deref()?)?;
        let part = giver.types.effective(kind).properties.get(name)?;
        sensitivity(&self.secrets, &part.definition).map(|(_, said)| said)
    }

    /// Adds properties that a type gives to the artifact.
    fn add_defined<'n>(
        &self,
        call: &mut PlanCall,
        properties: impl Iterator<Item = (&'n str, Node<'n>)>,
        giver: PropertyGiver<'_, '_>,
    ) {
        for (name, node) in properties {
            let secrecy = self.property_secrecy(call, name, giver);
            let secrecy = secrecy.unwrap_or_else(|| Secrecy::whole(self.secrets.names().has(name)));
            let value = self.value(node, giver.owner, &secrecy);
            self.add_property(call, name, &Spanned { value, span: node.span() }, giver);
        }
    }

    /// Adds the defaults that the type of the artifact gives to its properties.
    fn add_defaults(&self, call: &mut PlanCall, giver: PropertyGiver<'_, '_>) {
        let types = giver.types;
        let kind = call.primary_type.as_deref();
        let Some(id) = kind.and_then(|kind| types.find(Family::Artifact, kind)) else { return };
        let defaults = types.effective(id).properties.iter().filter_map(|(name, part)| {
            Some((*name, input_value(&part.definition).filter(|node| !node.is_null())?))
        });
        let giver = PropertyGiver { from: types.definition(id).name, ..giver };
        self.add_defined(call, defaults, giver);
    }

    /// An output of an operation; `None` if it is assigned to no attribute.
    fn output(&self, name: &str, mapping: &Value, owner: ValueOwner) -> Option<CallOutput> {
        let of_relationship = matches!(owner, ValueOwner::Relation(_));
        CallOutput::of(name, mapping, of_relationship, |entity, name| {
            let node = match (owner, entity) {
                (ValueOwner::Node(node), "SELF") => Some(node),
                (ValueOwner::Relation(id), "SOURCE") => Some(self.topology.relation(id).source),
                (ValueOwner::Relation(id), "TARGET") => self.topology.relation(id).target,
                _ => None,
            };
            let of_type = node.and_then(|node| self.node_type(node));
            of_type.is_some_and(|of_type| of_type.effective().capabilities.contains_key(name))
        })
    }
}

impl<'t, 'a> TypeBehavior<'t, 'a> {
    /// The behavior of a type; its calls are still missing.
    fn of(types: &'t Types<'a>, secrets: &Sensitivity<'_, '_>, id: TypeId, is_node: bool) -> Self {
        let mut behavior = Self {
            types,
            id,
            operations: FxHashMap::default(),
            lifecycle: Vec::new(),
            others: Vec::new(),
            calls: FxHashMap::default(),
            artifact: None,
            is_provided: false,
            is_compute: false,
            is_ordering: false,
            is_connection: false,
        };
        for part in types.effective(id).interfaces.values() {
            let (interface, of) = (part.named.name, &part.definition);
            let defining = [LifecycleOperation::Create, LifecycleOperation::AddTarget];
            if defining.iter().any(|it| is_interface(types, of.kind, it.interface_type())) {
                behavior.lifecycle.push(interface);
            }
            for (name, said) in of.operations.iter() {
                let is_meant = |operation: &LifecycleOperation| {
                    is_interface(types, of.kind, operation.interface_type())
                        || is_interface_name(interface, *operation)
                };
                let Some(operation) = lifecycle_operation(name, is_node).filter(is_meant) else {
                    behavior.others.push((interface, name));
                    continue;
                };
                let said =
                    type_operation(types, secrets, interface, of, said.owner, &said.definition);
                behavior.operations.insert(operation, said);
            }
        }
        behavior
    }

    /// What the type defines.
    fn effective(&self) -> &'t EffectiveType<'a> {
        self.types.effective(self.id)
    }

    /// The names of the type and its ancestors, the nearest first.
    fn names(&self) -> Vec<&'a str> {
        self.types.chain(self.id).map(|id| self.types.definition(id).name).collect()
    }

    /// The calls of these operations for nodes or relations that define nothing of their own.
    /// Operations are left out whose inputs, or properties of artifacts, may be computed, or whose
    /// outputs may be assigned to capabilities: these can have another meaning, or be secret, at
    /// each node.
    fn same(
        &self,
        operations: &[LifecycleOperation],
        call: impl Fn(LifecycleOperation) -> Option<PlanCall>,
    ) -> FxHashMap<LifecycleOperation, Option<Rc<PlanCall>>> {
        let artifacts = self.effective().artifacts.values();
        let of_artifacts = || {
            artifacts
                .clone()
                .flat_map(|part| part.definition.properties.iter().map(|one| one.value))
        };
        let is_plain = |node: Node<'_>| node.scalar().is_some();
        let is_same = |operation: &LifecycleOperation| {
            self.operations.get(operation).is_none_or(|said| {
                let inputs = said.inputs.iter().map(|(_, node, _)| *node);
                inputs
                    .chain(said.properties().map(|(_, node)| node))
                    .chain(of_artifacts())
                    .all(is_plain)
                    && said.outputs.iter().all(|(_, node)| node.items().len() < 3)
            })
        };
        let same = operations.iter().copied().filter(is_same);
        same.map(|operation| (operation, call(operation).map(Rc::new))).collect()
    }
}

/// The initial value of an attribute: the property of that name, otherwise its own initial value.
fn beginning(
    said: Option<&Described>,
    of_type: Option<&TypeBehavior<'_, '_>>,
    name: &str,
) -> Option<Value> {
    let defined = of_type.map(TypeBehavior::effective);
    let defined = defined.map(|defined| [&defined.properties, &defined.attributes]);
    beginning_of(said.map(|said| [&*said.properties, &said.attributes]), defined, name)
}

/// The initial value of an attribute, where a template and a type give these properties and
/// attributes.
fn beginning_of(
    said: Option<[&[AssignedValue]; 2]>,
    defined: Option<[&Parts<'_, PropertyDefinition<'_>>; 2]>,
    name: &str,
) -> Option<Value> {
    let value = |of: &PropertyDefinition<'_>| input_value(of).map(meant::value_of);
    (0..2).find_map(|at| {
        let assigned = said.and_then(|said| said[at].iter().find(|one| one.name == name));
        let assigned = assigned.map(|one| one.value.value.clone());
        assigned.or_else(|| value(&defined?[at].get(name)?.definition))
    })
}

fn is_deployment(types: &Types<'_>, id: TypeId) -> bool {
    derives(types, id, Family::Artifact, "tosca.artifacts.Deployment")
}

/// Whether a type is the one of this name, or derives from it.
fn derives(types: &Types<'_>, id: TypeId, family: Family, name: &str) -> bool {
    let ancestor = types.role(family, name).map(TypeRef::Defined);
    ancestor.is_some_and(|ancestor| types.derives(TypeRef::Defined(id), ancestor))
}

/// Whether the type of an interface is this one, or derives from it.
fn is_interface(types: &Types<'_>, kind: Option<Node<'_>>, name: &str) -> bool {
    let Some(kind) = kind else { return false };
    let find = |text| types.find_in(Some(kind.span().file), Family::Interface, text);
    let own = kind.text().and_then(find);
    own.is_some_and(|own| derives(types, own, Family::Interface, name))
}

/// The operation of a type that a workflow names, with the name of its interface or of the type of
/// that, or alone.
fn named_operation<'a>(
    types: &Types<'a>,
    secrets: &Sensitivity<'_, '_>,
    interfaces: &Parts<'a, EffectiveInterface<'a>>,
    (interface, operation): (Option<&str>, &str),
) -> Option<TypeOperation<'a>> {
    interfaces.values().find_map(|part| {
        let said = part.definition.operations.get(operation)?;
        let is_meant = interface.is_none_or(|name| {
            part.named.name == name || is_interface(types, part.definition.kind, name)
        });
        let (name, of) = (part.named.name, &part.definition);
        is_meant.then(|| type_operation(types, secrets, name, of, said.owner, &said.definition))
    })
}

fn type_operation<'a>(
    types: &Types<'a>,
    secrets: &Sensitivity<'_, '_>,
    interface: &'a str,
    of: &EffectiveInterface<'a>,
    owner: TypeId,
    said: &OperationDefinition<'a>,
) -> TypeOperation<'a> {
    let owner = types.definition(owner).name;
    let inputs = of.inputs.values();
    let inputs = inputs.map(|part| (&part.definition, types.definition(part.owner).name));
    let inputs: Vec<_> = inputs.chain(said.inputs.iter().map(|input| (input, owner))).collect();
    TypeOperation {
        interface,
        owner,
        implementation: said.implementation.filter(|node| !node.is_null()),
        inputs: inputs
            .iter()
            .filter_map(|(input, owner)| Some((input.named.name, input_value(input)?, *owner)))
            .collect(),
        outputs: said.outputs.iter().map(|output| (output.name, output.value)).collect(),
        sensitive: inputs.iter().filter_map(|(input, _)| sensitivity(secrets, input)).collect(),
    }
}

/// What is secret of an input by its definition; `None` if that says nothing about it.
fn sensitivity<'a>(
    secrets: &Sensitivity<'_, '_>,
    input: &PropertyDefinition<'a>,
) -> Option<(&'a str, Secrecy)> {
    let secrecy = secrets.declared(input);
    let is_said = !secrecy.is_open() || input.sensitive == Some(false);
    is_said.then_some((input.named.name, secrecy))
}

fn deployment_artifact(
    (artifacts, types): (&[TopologyArtifact], &Types<'_>),
    of_type: Option<&TypeBehavior<'_, '_>>,
) -> Option<(String, Span)> {
    let own = artifacts.iter().find_map(|artifact| {
        let id = type_named(types, Family::Artifact, artifact.type_name.as_ref()?)?;
        let file = artifact.file.as_ref()?;
        is_deployment(types, id).then(|| (file.value.clone(), file.span))
    });
    own.or_else(|| of_type?.artifact.clone())
}

/// What the interfaces of a template say of an operation of the life cycle.
fn written<'o>(
    interfaces: &'o [TopologyInterface],
    operation: LifecycleOperation,
    (of_type, inherited): (Option<&TypeBehavior<'_, '_>>, Option<&TypeOperation<'_>>),
) -> Option<ListedOperation<'o>> {
    let meant = interfaces.iter().filter(|interface| is_meant(interface, operation, of_type));
    own_operation(meant, operation.as_str(), inherited)
}

/// What these interfaces of a template say of an operation.
fn own_operation<'o>(
    interfaces: impl Iterator<Item = &'o TopologyInterface> + Clone,
    operation: &str,
    inherited: Option<&TypeOperation<'_>>,
) -> Option<ListedOperation<'o>> {
    let listing = interfaces.map(|interface| {
        let said = interface.operations.iter().find(|said| said.name == operation);
        (&*interface.name, interface, said)
    });
    listed(listing, inherited)
}

/// The interface, of those with these names, that lists an operation; else the one in which a type
/// has it, since its inputs are for all operations.
fn listed<'n, I, O>(
    mut interfaces: impl Iterator<Item = (&'n str, I, Option<O>)> + Clone,
    of_type: Option<&TypeOperation<'_>>,
) -> Option<(I, Option<O>)> {
    let listing = interfaces.clone().find(|(.., said)| said.is_some());
    let wanted = of_type.map(|said| short(said.interface));
    let of_type = || interfaces.find(|(name, ..)| Some(short(name)) == wanted);
    listing.or_else(of_type).map(|(_, interface, said)| (interface, said))
}

/// The inputs that a template assigns for an operation.
fn assigned_inputs<'o>(
    own: Option<ListedOperation<'o>>,
) -> impl Iterator<Item = &'o AssignedValue> {
    own.into_iter().flat_map(|(interface, said)| {
        interface.inputs.iter().chain(said.into_iter().flat_map(|said| &said.inputs))
    })
}

/// The short name of an interface that TOSCA defines; other names stay as they are.
fn short(name: &str) -> &str {
    let own = name.strip_prefix("tosca").and_then(|it| it.rsplit(['.', ':']).next());
    own.unwrap_or(name)
}

/// Splits `Standard.create` or `create`. Names of interfaces may contain dots.
pub(super) fn split_operation(name: &str) -> (Option<&str>, &str) {
    match name.rsplit_once('.') {
        Some((interface, operation)) => (Some(interface), operation),
        None => (None, name),
    }
}

fn lifecycle_operation(name: &str, is_node: bool) -> Option<LifecycleOperation> {
    match is_node {
        true => LifecycleOperation::standard(name),
        false => OF_RELATIONS.into_iter().find(|operation| operation.as_str() == name),
    }
}

/// Whether an operation of this name of an interface is the one of the life cycle: by the type of
/// the interface, which the type of its owner may say, or by its usual name.
fn is_meant(
    interface: &TopologyInterface,
    operation: LifecycleOperation,
    of_type: Option<&TypeBehavior<'_, '_>>,
) -> bool {
    let by_type = interface.type_name.as_ref();
    by_type.map_or_else(
        || is_interface_name(&interface.name, operation),
        |kind| is_interface_name(&kind.value, operation),
    ) || interface.name == operation.interface()
        || of_type.is_some_and(|of_type| of_type.lifecycle.contains(&&*interface.name))
}

/// Whether an interface has the usual name for this operation.
fn is_interface_name(name: &str, operation: LifecycleOperation) -> bool {
    let short = operation.interface();
    name == short
        || name == operation.interface_type()
        || name.strip_prefix("tosca:") == Some(short)
        || name.strip_prefix("tosca.interfaces.node.lifecycle.") == Some(short)
}

fn input_value<'a>(input: &PropertyDefinition<'a>) -> Option<Node<'a>> {
    input.value.or(input.default)
}

/// The value of an operation input. A template may write it as a definition instead of a plain
/// value.
fn assigned(value: &Value) -> Value {
    let Value::Map(map) = value else { return value.clone() };
    let of = |name: &str| map.iter().find(|(key, _)| &**key == name).map(|(_, value)| value);
    const DEFINES: [&str; 5] = ["type", "value", "default", "description", "required"];
    let is_definition =
        of("type").is_some() && map.iter().all(|(key, _)| DEFINES.contains(&&**key));
    let said = of("value").or_else(|| of("default")).filter(|_| is_definition);
    said.unwrap_or(value).clone()
}

fn of_template(said: &TopologyImplementation) -> Option<PlanCall> {
    let primary = said.primary.as_ref()?;
    let needed = said.dependencies.iter();
    let (dependencies, places) =
        needed.filter_map(|one| Some((file_of(&one.value)?, one.span))).unzip();
    let timeout = said.timeout.as_ref().map(|timeout| timeout.value.clone());
    let host = said.operation_host.as_ref().map(|host| host.value.clone());
    Some(PlanCall {
        primary: Some(file_of(&primary.value)?),
        primary_type: type_of(&primary.value),
        dependencies,
        places: CallPlaces { primary: primary.span, dependencies: places },
        timeout,
        host,
        ..PlanCall::at(said.span)
    })
}

/// The implementation of an operation in a type: a name, or a map.
fn of_type(node: Node<'_>) -> Option<PlanCall> {
    let primary = node.get("primary").unwrap_or(node);
    let needed = node.get("dependencies").into_iter().flat_map(Node::items);
    let (dependencies, places) =
        needed.filter_map(|one| Some((file_of(&one.to_value())?, one.span()))).unzip();
    Some(PlanCall {
        primary: Some(file_of(&primary.to_value())?),
        primary_type: type_of(&primary.to_value()),
        dependencies,
        places: CallPlaces { primary: primary.span(), dependencies: places },
        timeout: node.get("timeout").map(Node::to_value),
        host: node.get("operation_host").and_then(|host| Some(host.text()?.to_owned())),
        ..PlanCall::at(node.span())
    })
}

/// The properties of an artifact that is defined in place.
fn properties_of(said: &TopologyImplementation) -> impl Iterator<Item = (&str, &Value)> {
    fn entries(value: &Value) -> &[(Arc<str>, Value)] {
        if let Value::Map(entries) = value { entries } else { &[] }
    }
    let primary = said.primary.as_ref().map_or(&[][..], |primary| entries(&primary.value));
    let properties = primary.iter().find(|(key, _)| &**key == "properties");
    let properties = properties.map_or(&[][..], |(_, properties)| entries(properties));
    properties.iter().map(|(name, value)| (&**name, value))
}

/// The full name of the type of an artifact, if that is defined; otherwise as it is written.
fn full_artifact_type(types: &Types<'_>, value: String, span: Span) -> String {
    let kind = Spanned { value, span };
    full_name(types, type_named(types, Family::Artifact, &kind)).unwrap_or(kind.value)
}

/// The type of an artifact that is defined in place.
fn type_of(value: &Value) -> Option<String> {
    let Value::Map(map) = value else { return None };
    Some(map.iter().find(|(key, _)| &**key == "type")?.1.as_str()?.to_owned())
}

/// Whether a function in a value takes something from the source or target of a relation.
fn takes_from_end(value: &Value) -> bool {
    match value {
        Value::List(items) => items.iter().any(takes_from_end),
        Value::Map(entries) => entries.iter().any(|(name, value)| match value {
            Value::List(path) if name.starts_with("get_") => {
                let entity = path.first().and_then(Value::as_str);
                matches!(entity, Some("SOURCE" | "TARGET"))
            }
            other => takes_from_end(other),
        }),
        _ => false,
    }
}

/// The name of a file or artifact; for an artifact that is defined in place, its file.
pub(super) fn file_of(value: &Value) -> Option<String> {
    match value {
        Value::String(name) => Some(name.to_string()),
        Value::Map(map) => file_of(&map.iter().find(|(key, _)| &**key == "file")?.1),
        _ => None,
    }
}
