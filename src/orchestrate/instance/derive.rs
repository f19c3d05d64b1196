//! Derives the model of an instance from a resolved topology; no node of it has been created yet.

use super::concrete::{expanded, with_index};
use super::model::{
    ByName, CapabilityInstance, GroupInstance, InstanceModel, NodeInstance, PolicyInstance,
    RelationInstance, ReportedValue,
};
use super::query::{FormOfValue, ModelReading, holds_secret, query_value};
use super::report::DeclaredTypes;
use super::secrets::KeptSecrets;
use super::target::ComputedOutput;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::orchestrate::evaluated::evaluate;
use crate::orchestrate::plan::{NodesOfTemplates, compared_sections, with_definition};
use crate::orchestrate::representation;
use crate::orchestrate::substitute::represented;
use crate::topology::named::NamedParts;
use crate::topology::sensitive::{SecretOwner, SecretPlaces, Sensitivity, kept_secret, masked};
use crate::topology::value_source::inputs;
use crate::topology::{
    AssignedValue, Described, GroupIndex, NamedElement, NodeIndex, RelationIndex, Spanned,
    Topology, TopologyNode, TopologyParameter, TopologyPolicy, TopologyRelation, type_named,
};
use crate::tosca::function::{Function, SECRET_MARK, function_in};
use crate::tosca::secrecy::Secrecy;
use crate::tosca::types::Parts;
use crate::tosca::types::schemas::Schemas;
use crate::tosca::v2_0::function::BuiltIn;
use crate::tosca::value::{check_value, concealed, has_number, takes_null, with_versions};
use crate::tosca::{
    Directive, EffectiveType, Family, PropertyDefinition, RequirementDefinition, TypeId, Types,
    meant, v2_0,
};
use cuvee_text::source::{FileId, Span};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Limits, Node, Out, OutNode, parse, write_flow};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many nodes one template may count at most.
const INSTANCES: u64 = 100_000;

/// A variant that an instance is made from.
pub(crate) struct VariantOfInstance<'v, 'a, 't> {
    /// The document of the variant, with functions evaluated.
    pub(crate) document: &'v Out<'a>,
    /// The same document with functions unevaluated.
    pub(crate) unevaluated: &'v Out<'a>,
    /// The topology with the values that somebody gave its inputs.
    pub(crate) topology: &'v Topology,
    /// The same topology with functions unevaluated.
    pub(crate) written: &'v Topology,
    pub(crate) types: &'v Types<'t>,
}

/// The result of deriving: the documents with each counted node repeated, the model, and the places
/// of secrets.
pub(crate) struct Derived<'a> {
    pub(crate) document: Out<'a>,
    pub(crate) unevaluated: Out<'a>,
    pub(crate) model: InstanceModel,
    pub(crate) places: SecretPlaces,
    pub(crate) outputs: BTreeMap<String, ComputedOutput>,
}

/// A variant in which each counted node is repeated, in both forms.
struct ExpandedVariant<'a> {
    document: Out<'a>,
    unevaluated: Out<'a>,
    counts: InstanceCounts,
    /// Whether the documents differ from those of the variant.
    is_changed: bool,
}

/// The number of nodes per template, where that is not simply one.
#[derive(Debug, Default)]
pub(crate) struct InstanceCounts {
    counted: FxHashMap<NodeIndex, Vec<Arc<str>>>,
    /// Relations that lead to all nodes of their target template, not to one of them.
    to_each: FxHashSet<RelationIndex>,
    inputs: FxHashMap<String, Value>,
}

impl InstanceCounts {
    pub(crate) fn is_empty(&self) -> bool {
        self.counted.is_empty()
    }

    pub(crate) fn is_counted(&self, node: NodeIndex) -> bool {
        self.counted.contains_key(&node)
    }

    /// The ids of the nodes of a template.
    pub(crate) fn ids(&self, node: NodeIndex, name: &str) -> Cow<'_, [Arc<str>]> {
        match self.counted.get(&node) {
            Some(ids) => ids.into(),
            None => vec![Arc::from(name)].into(),
        }
    }

    /// Whether a relation leads to all nodes of its target template.
    pub(crate) fn leads_to_each(&self, relation: RelationIndex) -> bool {
        self.to_each.contains(&relation)
    }

    /// A written value for one of several nodes: `INDEX` and inputs have their values.
    pub(crate) fn indexed<'a>(&self, written: &Out<'a>, index: usize) -> Out<'a> {
        let value = OutNode::root(written).to_value();
        let indexed = with_index(&value, index, &self.inputs);
        if indexed == value { written.clone() } else { Out::Value(indexed) }
    }
}

/// Derives the model of an instance that is to become a variant.
///
/// # Errors
/// `unresolved-instance` if a value that the instance needs cannot be decided (I-4), and those of
/// [`represented`].
pub(crate) fn derive<'a>(
    variant: &VariantOfInstance<'_, 'a, '_>,
    secrets: &mut KeptSecrets,
) -> Result<(Derived<'a>, Diagnostics), Diagnostics> {
    let ambiguous = variant.topology.policies_of_one_name();
    if ambiguous.has_errors() {
        return Err(ambiguous);
    }
    let ExpandedVariant { document, unevaluated, counts, is_changed } = expanded_variant(variant)?;
    let topology = match is_changed {
        false => Cow::Borrowed(variant.topology),
        true => {
            let expanded = Topology::read(&document, &|_| false);
            let mut expanded = hosted(expanded, variant.topology, &counts);
            // What differs from node to node has a value in each of them.
            evaluate(&mut expanded, variant.types);
            Cow::Owned(expanded)
        }
    };
    let bases = bases(variant.topology, &counts);
    let mut deriving = Deriving {
        variant,
        topology: &topology,
        bases,
        secret: Sensitivity::of(variant.written, variant.types, secrets.names().clone()),
        schemas: Schemas::new(variant.types),
        secrets,
        found: Diagnostics::default(),
    };
    let mut model = deriving.model();
    let expanded = || Some(Topology::clone(&topology));
    let declared = DeclaredTypes::new(variant.types).with_target(&expanded);
    let forms: FormOfValue<'_> = &|of, path| declared.form(of, path);
    compute_attributes(&mut model, forms);
    deriving.take_versions(&mut model, forms);
    let outputs = deriving.computed_outputs();
    let (places, found) = (deriving.secret.places(), deriving.found);
    if found.has_errors() {
        return Err(found);
    }
    hide(&mut model, secrets);
    Ok((Derived { document, unevaluated, model, places, outputs }, found))
}

/// A variant in which each node of a counted template is one of its own, in both forms.
pub(crate) struct SeparateNodes {
    pub(crate) topology: Topology,
    /// The topology with functions unevaluated.
    pub(crate) written: Topology,
    /// The [`compared_sections`] of the document.
    pub(crate) document: Value,
    pub(crate) nodes: NodesOfTemplates,
}

/// Repeats the nodes of a variant as often as `known` says; where it does not, they stay together.
///
/// # Errors
/// Those of [`represented`].
pub(crate) fn separate_nodes(
    variant: &VariantOfInstance<'_, '_, '_>,
    known: &dyn Fn(NodeIndex) -> Option<u64>,
) -> Result<SeparateNodes, Diagnostics> {
    let mut topology = variant.topology.clone();
    for id in variant.topology.node_ids() {
        let node = &mut topology.nodes[id.index()];
        let count = known(id).and_then(|count| i64::try_from(count).ok()).map(Value::from);
        let count = count.map(|value| Spanned { value, span: node.span });
        (node.instance_count, node.occurrences) = (count.map(Box::new), None);
    }
    let expanded = expanded_variant(&VariantOfInstance { topology: &topology, ..*variant })?;
    let read = |document: &Out<'_>| {
        let read = Topology::read(document, &|_| false);
        let secrets = Arc::clone(&variant.topology.secrets);
        Topology { secrets, ..hosted(read, &topology, &expanded.counts) }
    };
    let name = |id: &NodeIndex| topology.node(*id).name.clone();
    Ok(SeparateNodes {
        topology: read(&expanded.document),
        written: read(&expanded.unevaluated),
        document: compared_sections(OutNode::root(&expanded.document)),
        nodes: expanded.counts.counted.iter().map(|(id, ids)| (name(id), ids.clone())).collect(),
    })
}

/// Gives attributes with computed initial values these values. Without one, nothing is known of an
/// attribute.
fn compute_attributes(model: &mut InstanceModel, forms: FormOfValue<'_>) {
    let is_computed = |it: &ReportedValue| function_in(&it.value).is_some();
    let of_nodes = model.nodes.iter().map(|(id, node)| (id, &node.attributes));
    let all = of_nodes.chain(model.groups.iter().map(|(name, group)| (name, &group.attributes)));
    let computed = all.flat_map(|(owner, attributes)| {
        let computed = attributes.iter().filter(|(_, value)| is_computed(value));
        computed.map(move |(name, value)| (Arc::clone(owner), Arc::clone(name), &value.value))
    });
    let values = computed.map(|(owner, name, value)| {
        let value = evaluated(model, Some(&owner), value, forms);
        (owner, name, value)
    });
    for (owner, name, value) in values.collect::<Vec<_>>() {
        let attributes = match (model.nodes.get_mut(&owner), model.groups.get_mut(&owner)) {
            (Some(node), _) => &mut node.attributes,
            (None, Some(group)) => &mut group.attributes,
            (None, None) => continue,
        };
        match value {
            Some(value) => {
                let reported = ReportedValue { value, revision: 0, time: Arc::default() };
                attributes.insert(name, reported);
            }
            None => drop(attributes.remove(&name)),
        }
    }
}

/// The value of an expression of an element, if it is known and no secret.
fn evaluated(
    model: &InstanceModel,
    owner: Option<&str>,
    value: &Value,
    forms: FormOfValue<'_>,
) -> Option<Value> {
    let document = parse(FileId::DETACHED, write_flow(value).into(), &Limits::default()).ok()?;
    let reading = ModelReading { forms: Some(forms), ..ModelReading::default() };
    let value = query_value(model, document.root(), owner, &reading).ok()?;
    (!holds_secret(&value) && function_in(&value).is_none()).then_some(value)
}

/// Whether a value is computed from what changes while an instance is there.
fn changes(value: &Value) -> bool {
    let is_changing =
        |function| matches!(function, Function::GetAttribute | Function::GetOperationOutput);
    match value {
        Value::List(items) => items.iter().any(changes),
        Value::Map(entries) => {
            Function::called_in(value).is_some_and(|(function, _)| is_changing(function))
                || entries.iter().any(|(_, value)| changes(value))
        }
        _ => false,
    }
}

/// Repeats counted nodes; in TOSCA 2.0 as substituting does.
fn expanded_variant<'a>(
    variant: &VariantOfInstance<'_, 'a, '_>,
) -> Result<ExpandedVariant<'a>, Diagnostics> {
    let topology = variant.topology;
    if !v2_0::is_said_in(OutNode::root(variant.document)) {
        let counts = counts(variant, &|node| node.count())?;
        let [document, unevaluated] = [variant.document, variant.unevaluated]
            .map(|document| expanded(document, topology, &counts));
        let is_changed = !counts.is_empty();
        return Ok(ExpandedVariant { document, unevaluated, counts, is_changed });
    }
    let inputs = given_inputs(variant).collect();
    let documents = (variant.unevaluated.clone(), Some(variant.document.clone()));
    let all = represented(documents.0, documents.1, &inputs, variant.types)?;
    let is_open = |node: &TopologyNode| !all.nodes.is_counted(&node.name);
    // A count that is known leads to nodes that are there now.
    let mut counts = counts(variant, &|node| {
        Some(&node.instance_count.as_ref().filter(|_| is_open(node))?.value)
    })?;
    let named = NamedParts::of(topology);
    let counted = all.nodes.counted().filter_map(|(template, nodes)| {
        let nodes = nodes.iter().map(|node| Arc::from(&**node));
        Some((*named.nodes.get(&**template)?, nodes.collect()))
    });
    counts.counted = counted.collect();
    let (unevaluated, is_changed) = (all.document, all.is_changed);
    let document = all.evaluated.unwrap_or_else(|| unevaluated.clone());
    Ok(ExpandedVariant { document, unevaluated, counts, is_changed })
}

/// Decides how many nodes each template has (item 8 of section 1.6 and statement D11 of
/// `docs/plans.md`), where `said` gives its count.
fn counts(
    variant: &VariantOfInstance<'_, '_, '_>,
    said: &dyn Fn(&TopologyNode) -> Option<&Value>,
) -> Result<InstanceCounts, Diagnostics> {
    let mut found = Diagnostics::default();
    let topology = variant.topology;
    let mut counts = InstanceCounts::default();
    for id in topology.node_ids() {
        let node = topology.node(id);
        let Some(said) = said(node) else { continue };
        let place = node.instance_count.as_ref().map_or(node.span, |count| count.span);
        let count = match said {
            Value::Number(count) => count.as_int().and_then(|count| u64::try_from(count).ok()),
            _ => None,
        };
        match count {
            Some(count) if count <= INSTANCES => {
                let ids = (0..count).map(|index| representation(&node.name, index).into());
                counts.counted.insert(id, ids.collect());
            }
            _ => {
                let message = format!("the number of instances of `{}` is not known", node.name);
                let help = match input_of(said) {
                    Some(input) => {
                        format!("give the input a value: `--deployment-input {input}=NUMBER`")
                    }
                    None => format!("write a number up to {INSTANCES}"),
                };
                found.push(unresolved(message, place).help(help));
            }
        }
    }
    if !counts.is_empty() {
        counts.to_each = relations_to_each(variant);
        counts.inputs = given_inputs(variant).collect();
    }
    if found.has_errors() { Err(found) } else { Ok(counts) }
}

/// The relations that do not host, and whose requirement may lead to several nodes.
fn relations_to_each(variant: &VariantOfInstance<'_, '_, '_>) -> FxHashSet<RelationIndex> {
    let topology = variant.topology;
    let takes_several = |id: &RelationIndex| {
        let relation = topology.relation(*id);
        let kind = topology.node(relation.source).described.type_name.as_ref();
        let kind = kind.and_then(|kind| type_named(variant.types, Family::Node, kind));
        let defined = kind.and_then(|kind| {
            let requirements = &variant.types.effective(kind).requirements;
            requirements.get(&*relation.name)?.definition.occurrences.as_ref()
        });
        !relation.hosting && defined.is_some_and(|occurrences| occurrences.max != Some(1))
    };
    topology.relation_ids().filter(takes_several).collect()
}

/// The values of topology inputs: the given values, otherwise the defaults.
fn given_inputs<'v>(
    variant: &'v VariantOfInstance<'_, '_, '_>,
) -> impl Iterator<Item = (String, Value)> + 'v {
    variant.topology.inputs.iter().filter_map(|input| {
        let value = input.value.as_ref().or(input.default.as_ref())?;
        Some((input.name.clone(), value.value.clone()))
    })
}

/// For each node of an expanded topology, its node before the expansion and its index there.
fn bases(topology: &Topology, counts: &InstanceCounts) -> Vec<(NodeIndex, Option<u32>)> {
    let of = |id: NodeIndex| match counts.counted.get(&id) {
        Some(ids) => (0..ids.len()).map(|index| (id, u32::try_from(index).ok())).collect(),
        None => vec![(id, None)],
    };
    topology.node_ids().flat_map(of).collect()
}

/// Marks the relations of an expanded topology that host.
fn hosted(mut expanded: Topology, topology: &Topology, counts: &InstanceCounts) -> Topology {
    let bases = bases(topology, counts);
    let named = |topology: &Topology, id: RelationIndex| topology.relation(id).name.clone();
    let hosting: FxHashSet<_> = topology
        .relation_ids()
        .filter(|&id| topology.relation(id).hosting)
        .map(|id| {
            let relation = topology.relation(id);
            (relation.source, named(topology, id), relation.target)
        })
        .collect();
    let base = |node: NodeIndex| bases.get(node.index()).map(|base| base.0);
    for relation in &mut expanded.relations {
        let ends = (base(relation.source), relation.target.and_then(base));
        relation.hosting =
            ends.0.is_some_and(|source| hosting.contains(&(source, relation.name.clone(), ends.1)));
    }
    expanded
}

fn unresolved(message: String, at: Span) -> Diagnostic {
    Diagnostic::error(Code::UnresolvedInstance, message).at(at)
}

/// The error that a value needs a secret that the instance does not know.
fn missing_secret(what: &str, at: Span) -> Diagnostic {
    let message = format!("{what} is computed from a secret of which only a digest is kept");
    let error = Diagnostic::error(Code::MissingInput, message).at(at);
    error.help("give the inputs that it is made of: `--deployment-input NAME=VALUE`")
}

/// Whether a value has a call that only lacks a secret, of which something else is kept. What waits
/// for the deployed instance, too, is known when a step runs.
fn computes_secret(value: &Value) -> bool {
    let is_call = function_in(value).is_some() && kept_secret(value).is_none();
    let has_secret = is_call && masked(value).is_some();
    let is_own = || called(value).is_some() && !waits(value);
    let within = || match value {
        Value::List(items) => items.iter().any(computes_secret),
        Value::Map(entries) => entries.iter().any(|(_, value)| computes_secret(value)),
        _ => false,
    };
    has_secret && (is_own() || within())
}

/// Whether a value has a call that depends on more than its arguments.
fn waits(value: &Value) -> bool {
    let is_computed = |name: &str| {
        let of_1_3 = Function::named(name).map(|function| function.section().starts_with("4.3"));
        of_1_3.unwrap_or_else(|| BuiltIn::named(name).is_some_and(|it| it.value.is_some()))
    };
    called(value).is_some_and(|name| !is_computed(name))
        || match value {
            Value::List(items) => items.iter().any(waits),
            Value::Map(entries) => entries.iter().any(|(_, value)| waits(value)),
            _ => false,
        }
}

/// The name of the function that a value itself calls.
fn called(value: &Value) -> Option<&str> {
    let Value::Map(entries) = value else { return None };
    let of_2_0 = || match &**entries {
        [(name, _)] => v2_0::function_name(name).filter(|name| *name != SECRET_MARK),
        _ => None,
    };
    Function::called_in(value).map(|(function, _)| function.name()).or_else(of_2_0)
}

/// The input that a value waits for, if any.
fn input_of(value: &Value) -> Option<&str> {
    let mut first = None;
    inputs(value, &mut |name| _ = first.get_or_insert(name));
    first
}

struct Deriving<'d, 'v, 'a, 't> {
    variant: &'d VariantOfInstance<'v, 'a, 't>,
    /// The expanded topology: each counted node is repeated.
    topology: &'d Topology,
    bases: Vec<(NodeIndex, Option<u32>)>,
    secret: Sensitivity<'d, 't>,
    schemas: Schemas<'d, 't>,
    secrets: &'d mut KeptSecrets,
    found: Diagnostics,
}

/// The assigned values of an element, with the definitions that they belong to.
struct AssignedValues<'s, 't> {
    /// The word for what is assigned in messages: `property` or `attribute`.
    what: &'s str,
    owner: &'s str,
    /// The same owner in the topology with functions unevaluated, and the capability that has the
    /// values, if one does.
    slots: (SecretOwner, Option<&'s str>),
    at: Span,
    definitions: Option<&'s Parts<'t, PropertyDefinition<'t>>>,
    values: &'s [AssignedValue],
    /// Whether missing values are no error, because they are decided elsewhere.
    is_open: bool,
    /// Whether defaults count. Of a node that is to be selected, the existing one has the values.
    has_defaults: bool,
}

impl<'v, 't> Deriving<'_, 'v, '_, 't> {
    fn model(&mut self) -> InstanceModel {
        let mut model = InstanceModel { inputs: self.inputs(), ..InstanceModel::default() };
        model.target.service_template = self.variant.types.is_of_2_0();
        for id in self.topology.node_ids() {
            let name = Arc::from(&*self.topology.node(id).name);
            let node = self.node(id).trimmed();
            model.nodes.insert(name, node);
        }
        for (at, group) in self.topology.groups.iter().enumerate() {
            let owner = SecretOwner::Group(GroupIndex::new(at));
            let made = self.group((group.name.as_str(), owner), &group.described, &group.members);
            model.groups.insert(Arc::from(&*group.name), made);
        }
        for (at, policy) in self.topology.policies.iter().enumerate() {
            if let Some(made) = self.policy(policy, SecretOwner::Policy(at)) {
                model.policies.insert(Arc::from(&*policy.name), made);
            }
        }
        model.outputs = self.outputs();
        model
    }

    fn inputs(&mut self) -> ByName<Value> {
        let mut inputs = ByName::default();
        let given: FxHashMap<_, _> = given_inputs(self.variant).collect();
        for input in &self.variant.topology.inputs {
            let Some(value) = given.get(&input.name) else { continue };
            let versions = self.versions(input, value);
            let value = versions.as_ref().unwrap_or(value);
            let secrecy = self.secret.input(&input.name);
            let value = self.secrets.learned(value, &secrecy, self.secret.data());
            inputs.insert(Arc::from(&*input.name), value);
        }
        inputs
    }

    /// The outputs whose values are known only from the deployed instance.
    fn computed_outputs(&mut self) -> BTreeMap<String, ComputedOutput> {
        let topology = self.topology;
        let outputs = topology.outputs.iter().filter_map(|output| {
            let said = output.value.as_ref().filter(|it| function_in(&it.value).is_some())?;
            let value = &said.value;
            if computes_secret(value) {
                self.found
                    .push(missing_secret(&format!("the output `{}`", output.name), said.span));
            }
            let secrecy = self.secret.output(&output.name);
            let is_secret = !secrecy.is_open();
            let value = self.secrets.learned(value, &secrecy, self.secret.data());
            Some((output.name.clone(), ComputedOutput { value: write_flow(&value), is_secret }))
        });
        outputs.collect()
    }

    fn outputs(&mut self) -> ByName<Value> {
        let mut outputs = ByName::default();
        for output in &self.topology.outputs {
            let Some(value) = output.value.as_ref().filter(|it| function_in(&it.value).is_none())
            else {
                continue;
            };
            let versions = self.versions(output, &value.value);
            let value = versions.as_ref().unwrap_or(&value.value);
            let secrecy = self.secret.output(&output.name);
            let value = self.secrets.learned(value, &secrecy, self.secret.data());
            outputs.insert(Arc::from(&*output.name), value);
        }
        outputs
    }

    /// The value of an input or output with its versions as texts; `None` if it has none.
    fn versions(&self, parameter: &TopologyParameter, value: &Value) -> Option<Value> {
        has_number(value).then(|| {
            with_definition(parameter, self.variant.types, |definition| {
                with_versions(value, definition.expected()?, &self.schemas)
            })
        })?
    }

    /// Gives outputs that ask for versions these as the model has them: what an output without a type
    /// asks for says whether a number is a version.
    fn take_versions(&self, model: &mut InstanceModel, forms: FormOfValue<'_>) {
        for output in &self.variant.written.outputs {
            let known = model.outputs.get(&*output.name).filter(|known| has_number(known));
            let asked = output.value.as_ref().filter(|it| function_in(&it.value).is_some());
            let (Some(known), Some(asked)) = (known, asked) else { continue };
            let asked = evaluated(model, None, &asked.value, forms);
            let is_same = |asked: &Value| asked.to_string() == known.to_string();
            if let Some(value) = asked.filter(is_same) {
                model.outputs.insert(Arc::from(&*output.name), value);
            }
        }
    }

    fn node(&mut self, id: NodeIndex) -> NodeInstance {
        let node = self.topology.node(id);
        let (base, index) = self.bases.get(id.index()).copied().unwrap_or((id, None));
        let kind = node.described.type_name.as_ref();
        let type_id = kind.and_then(|kind| type_named(self.variant.types, Family::Node, kind));
        let effective = type_id.map(|id| self.variant.types.effective(id));
        let is_abstract = is_abstract(node);
        if is_abstract {
            self.warn_abstract(node);
        }
        let owner = SecretOwner::Node(base);
        let assigned = AssignedValues {
            what: "property",
            owner: &node.name,
            slots: (owner, None),
            at: node.span,
            definitions: effective.map(|it| &it.properties),
            values: &node.described.properties,
            is_open: is_abstract,
            has_defaults: has_defaults(node),
        };
        let properties = self.properties(&assigned);
        NodeInstance {
            template: Some(Arc::from(&*self.variant.topology.node(base).name)),
            type_name: self.type_name(kind.map(|kind| &*kind.value), type_id),
            index,
            generation: 1,
            properties,
            attributes: self.attributes(
                &node.described,
                effective,
                &AssignedValues { what: "attribute", ..assigned },
            ),
            capabilities: self.capabilities(node, effective, owner),
            requirements: self.requirements(node, effective),
            metadata: self.metadata(&node.described.metadata),
            ..NodeInstance::default()
        }
    }

    /// The full name of a type, as the template would write it; if the type is unknown, the name as
    /// it is written.
    fn type_name(&self, written: Option<&str>, id: Option<TypeId>) -> Arc<str> {
        let full = id.map(|id| self.variant.types.told_name(id));
        full.as_deref().or(written).unwrap_or_default().into()
    }

    fn warn_abstract(&mut self, node: &TopologyNode) {
        let Some(directive) = node.directives.first() else { return };
        let message = format!(
            "`{}` is marked `{}`, and which node stands for it is not decided",
            node.name, directive.value
        );
        let warning = Diagnostic::warning(Code::UnresolvedInstance, message).at(directive.span);
        self.found.push(
            warning.help(
                "resolve it before with `cuvee substitute`, or report the node that was found",
            ),
        );
    }

    /// What is secret of an assigned value.
    fn secrecy(&self, assigned: &AssignedValues<'_, 't>, name: &str) -> Secrecy {
        let (owner, capability) = assigned.slots;
        self.secret.slot(owner, capability, name)
    }

    /// The assigned values and defaults as they are kept.
    fn properties(&mut self, assigned: &AssignedValues<'_, 't>) -> ByName<Value> {
        let mut properties = ByName::default();
        for (name, value) in self.values(assigned) {
            let secrecy = self.secrecy(assigned, &name);
            let value = self.secrets.learned(&value, &secrecy, self.secret.data());
            properties.insert(name, value);
        }
        properties
    }

    /// Metadata as they are kept; only names say which of them are secret.
    fn metadata(&mut self, said: &[AssignedValue]) -> ByName<Value> {
        let mut metadata = ByName::default();
        for one in said {
            let secrecy = Secrecy::whole(self.secrets.is_sensitive_name(&one.name));
            let value = self.secrets.learned(&one.value.value, &secrecy, self.secret.data());
            metadata.insert(Arc::from(&*one.name), value);
        }
        metadata
    }

    /// The assigned values, and the defaults of those that have no assignment.
    fn values(&mut self, assigned: &AssignedValues<'_, 't>) -> Vec<(Arc<str>, Value)> {
        let mut all = Vec::new();
        let given: FxHashMap<&str, &AssignedValue> =
            assigned.values.iter().map(|one| (&*one.name, one)).collect();
        let defined = assigned.definitions.into_iter().flat_map(|all| all.iter());
        for (name, part) in defined {
            let definition = &part.definition;
            let said = given.get(name);
            let value = said.map(|one| one.value.value.clone());
            let default = definition.default.filter(|_| assigned.has_defaults);
            let default = || definition.value.or(default).map(meant::value_of);
            let expected = definition.expected();
            let takes_null = expected.is_some_and(|schema| takes_null(schema, &self.schemas));
            let is_value = |value: &Value| takes_null || *value != Value::Null;
            let value = value.filter(is_value).or_else(default);
            let at = said.map_or(assigned.at, |one| one.value.span);
            match value.filter(is_value) {
                Some(value) => {
                    let kept = expected.and_then(|it| with_versions(&value, it, &self.schemas));
                    let value = kept.unwrap_or(value);
                    self.judge(assigned, name, &value, Some(definition), at);
                    all.push((Arc::from(*name), value));
                }
                None if definition.is_required() && !assigned.is_open => {
                    let AssignedValues { what, owner, .. } = assigned;
                    let message = format!("the {what} `{name}` of `{owner}` has no value");
                    self.found.push(
                        unresolved(message, at).help("assign it one, or give its type a default"),
                    );
                }
                None => {}
            }
        }
        let is_known = |name: &str| assigned.definitions.is_some_and(|all| all.contains_key(name));
        for one in assigned.values {
            if !is_known(&one.name) && one.value.value != Value::Null {
                self.judge(assigned, &one.name, &one.value.value, None, one.value.span);
                all.push((Arc::from(&*one.name), one.value.value.clone()));
            }
        }
        all
    }

    /// Reports what is wrong with a value: it waits for an input, or does not match its type.
    fn judge(
        &mut self,
        assigned: &AssignedValues<'_, 't>,
        name: &str,
        value: &Value,
        definition: Option<&PropertyDefinition<'t>>,
        at: Span,
    ) {
        let AssignedValues { what, owner, .. } = assigned;
        if let Some(input) = input_of(value) {
            let message = format!(
                "the {what} `{name}` of `{owner}` needs the input `{input}`, which has no value"
            );
            let help = format!("give the input a value: `--deployment-input {input}=VALUE`");
            self.found.push(unresolved(message, at).help(help));
        } else if computes_secret(value) {
            self.found.push(missing_secret(&format!("the {what} `{name}` of `{owner}`"), at));
        } else if let Some(schema) = definition.and_then(|it| it.expected())
            && function_in(value).is_none()
            // What stands for a secret was judged when that was given.
            && masked(value).is_none()
        {
            let wrong = check_value(value, schema, &self.schemas).diagnostics;
            if wrong.is_empty() {
                return;
            }
            let is_secret =
                !self.secrecy(assigned, name).is_open() || self.secret.has_secret_name(value);
            for error in wrong {
                let error = if is_secret { concealed(&error) } else { error };
                let message = format!("the {what} `{name}` of `{owner}`: {}", error.message);
                self.found.push(error.with_message(message).at(at));
            }
        }
    }

    /// The initial values of attributes of an element with these properties. An attribute that is
    /// computed at run time has no value yet.
    fn attributes(
        &mut self,
        described: &Described,
        effective: Option<&EffectiveType<'t>>,
        properties: &AssignedValues<'_, 't>,
    ) -> ByName<ReportedValue> {
        self.beginnings(&AssignedValues {
            what: "attribute",
            at: Span::DETACHED,
            definitions: effective.map(|it| &it.attributes),
            values: &described.attributes,
            is_open: true,
            ..*properties
        })
    }

    fn beginnings(&mut self, assigned: &AssignedValues<'_, 't>) -> ByName<ReportedValue> {
        const COMPUTED: [&str; 3] = ["tosca_id", "tosca_name", "state"];
        let mut all = ByName::default();
        for (name, value) in self.values(assigned) {
            if !COMPUTED.contains(&&*name) && !changes(&value) {
                let secrecy = self.secrecy(assigned, &name);
                let value = self.secrets.learned(&value, &secrecy, self.secret.data());
                all.insert(name, ReportedValue { value, revision: 0, time: Arc::default() });
            }
        }
        all
    }

    fn capabilities(
        &mut self,
        node: &TopologyNode,
        effective: Option<&EffectiveType<'t>>,
        secret: SecretOwner,
    ) -> ByName<CapabilityInstance> {
        let mut all = ByName::default();
        let defined = effective.into_iter().flat_map(|it| it.capabilities.keys().copied());
        let written = node.capabilities.iter().map(|capability| &*capability.name);
        for name in defined.chain(written) {
            if !all.contains_key(name) {
                let made = self.capability(node, effective, (secret, name));
                all.insert(Arc::from(name), made);
            }
        }
        all
    }

    fn capability(
        &mut self,
        node: &TopologyNode,
        effective: Option<&EffectiveType<'t>>,
        (secret, name): (SecretOwner, &str),
    ) -> CapabilityInstance {
        let defined = effective.and_then(|it| it.capabilities.get(name)).map(|it| &it.definition);
        let said = node.capabilities.iter().find(|capability| capability.name == name);
        let owner = format!("{}.{name}", node.name);
        let assigned = AssignedValues {
            what: "property",
            owner: &owner,
            slots: (secret, Some(name)),
            at: said.map_or(node.span, |said| said.span),
            definitions: defined.map(|it| &it.properties),
            values: said.map_or(&[], |said| &said.properties),
            // Properties of a capability that nobody assigned are left to whoever provides the
            // node.
            is_open: said.is_none() || is_abstract(node),
            has_defaults: has_defaults(node),
        };
        let properties = self.properties(&assigned);
        let assigned = AssignedValues {
            what: "attribute",
            definitions: defined.map(|it| &it.attributes),
            values: said.map_or(&[], |said| &said.attributes),
            is_open: true,
            ..assigned
        };
        let kind = defined.and_then(|it| it.kind);
        let id = kind.and_then(|kind| {
            let file = kind.document().file();
            self.variant.types.find_in(Some(file), Family::Capability, kind.text()?)
        });
        CapabilityInstance {
            type_name: self.type_name(kind.and_then(Node::text), id),
            properties,
            attributes: self.beginnings(&assigned),
        }
    }

    fn requirements(
        &mut self,
        node: &TopologyNode,
        effective: Option<&EffectiveType<'t>>,
    ) -> ByName<Vec<RelationInstance>> {
        let defined = effective.into_iter().flat_map(|it| it.requirements.keys());
        let mut all: ByName<Vec<RelationInstance>> =
            defined.map(|name| (Arc::from(*name), Vec::new())).collect();
        for &id in &node.relations {
            let relation = self.topology.relation(id);
            let target = relation.target.map(|target| Arc::from(&*self.topology.node(target).name));
            if target.is_none() && !is_abstract(node) {
                let message = format!(
                    "the requirement `{}` of `{}` leads to no node of the template",
                    relation.name, node.name
                );
                let warning = Diagnostic::warning(Code::UnresolvedInstance, message);
                let help = "choose the node before with `cuvee substitute`, or report the node that was found";
                self.found.push(warning.at(relation.span).help(help));
            }
            let defined = effective.and_then(|it| it.requirements.get(&*relation.name));
            let definition = defined.map(|it| &it.definition);
            let of_type = || {
                let asked = definition?.capability?;
                let file = Some(asked.span().file);
                let id = self.variant.types.find_in(file, Family::Capability, asked.text()?);
                Some(self.type_name(asked.text(), id))
            };
            let capability = relation.capability.as_ref().map(|it| Arc::from(&*it.value));
            let template = relation.relationship.map(|id| self.topology.relationship(id));
            all.entry(Arc::from(&*relation.name)).or_default().push(RelationInstance {
                position: relation.position,
                target,
                capability: capability.or_else(of_type),
                template: template.and_then(|it| it.name.as_deref()).map(Arc::from),
                relationship: self.relationship(relation, definition),
                hosting: relation.hosting,
                metadata: template
                    .map(|it| self.metadata(&it.described.metadata))
                    .unwrap_or_default(),
                ..RelationInstance::default()
            });
        }
        all
    }

    /// The type of a relation: the type that it or its relationship template names, otherwise the
    /// one that the requirement definition of its source asks for.
    fn relationship(
        &self,
        relation: &TopologyRelation,
        definition: Option<&RequirementDefinition<'t>>,
    ) -> Option<Arc<str>> {
        let types = self.variant.types;
        if let Some(written) = &relation.relationship_type {
            let id = type_named(types, Family::Relationship, written);
            return Some(self.type_name(Some(&written.value), id));
        }
        let asked = definition?.relationship?;
        let id = types.find_in(Some(asked.span().file), Family::Relationship, asked.text()?);
        Some(self.type_name(asked.text(), id))
    }

    fn group(
        &mut self,
        (name, owner): (&str, SecretOwner),
        described: &Described,
        members: &[NamedElement],
    ) -> GroupInstance {
        let kind = described.type_name.as_ref();
        let id = kind.and_then(|kind| type_named(self.variant.types, Family::Group, kind));
        let effective = id.map(|id| self.variant.types.effective(id));
        let properties = assigned((name, owner), described, effective);
        GroupInstance {
            template: Some(name.into()),
            type_name: self.type_name(kind.map(|kind| &*kind.value), id),
            members: names(members),
            properties: self.properties(&properties),
            attributes: self.attributes(described, effective, &properties),
            metadata: self.metadata(&described.metadata),
            ..GroupInstance::default()
        }
    }

    /// A policy, if it applies to any node or group (I-14).
    fn policy(&mut self, policy: &TopologyPolicy, owner: SecretOwner) -> Option<PolicyInstance> {
        let targets = names(&policy.targets);
        if targets.is_empty() && !policy.targets.is_empty() {
            let message =
                format!("the policy `{}` applies to nothing, and is left out", policy.name);
            self.found.push(Diagnostic::note(Code::UnresolvedInstance, message).at(policy.span));
            return None;
        }
        let kind = policy.described.type_name.as_ref();
        let id = kind.and_then(|kind| type_named(self.variant.types, Family::Policy, kind));
        let effective = id.map(|id| self.variant.types.effective(id));
        Some(PolicyInstance {
            template: Some(Arc::from(&*policy.name)),
            type_name: self.type_name(kind.map(|kind| &*kind.value), id),
            targets,
            properties: self.properties(&assigned(
                (&policy.name, owner),
                &policy.described,
                effective,
            )),
            metadata: self.metadata(&policy.described.metadata),
            ..PolicyInstance::default()
        })
    }
}

/// The properties of a group or policy.
fn assigned<'s, 't>(
    (name, owner): (&'s str, SecretOwner),
    described: &'s Described,
    effective: Option<&'s EffectiveType<'t>>,
) -> AssignedValues<'s, 't> {
    AssignedValues {
        what: "property",
        owner: name,
        slots: (owner, None),
        at: described.type_name.as_ref().map_or(Span::DETACHED, |kind| kind.span),
        definitions: effective.map(|it| &it.properties),
        values: &described.properties,
        is_open: false,
        has_defaults: true,
    }
}

/// The names that resolve to an element of the topology.
fn names(said: &[NamedElement]) -> Vec<Arc<str>> {
    let there = said.iter().filter(|named| named.element.is_some());
    there.map(|named| named.name.value.to_string().into()).collect()
}

/// Hides known secrets wherever else they occur in the model.
fn hide(model: &mut InstanceModel, secrets: &KeptSecrets) {
    let scanner = secrets.scanner();
    let hide = |values: &mut ByName<Value>| {
        values.values_mut().for_each(|value| {
            if let Some(hidden) = scanner.hidden(value) {
                *value = hidden;
            }
        });
    };
    for node in model.nodes.values_mut() {
        hide(&mut node.properties);
        hide(&mut node.metadata);
        let relations = node.requirements.values_mut().flatten();
        relations.for_each(|relation| hide(&mut relation.metadata));
        node.capabilities.values_mut().for_each(|capability| hide(&mut capability.properties));
        for reported in node.attributes.values_mut() {
            if let Some(hidden) = scanner.hidden(&reported.value) {
                reported.value = hidden;
            }
        }
    }
    for group in model.groups.values_mut() {
        hide(&mut group.properties);
        hide(&mut group.metadata);
    }
    for policy in model.policies.values_mut() {
        hide(&mut policy.properties);
        hide(&mut policy.metadata);
    }
    hide(&mut model.inputs);
    hide(&mut model.outputs);
}

/// Whether the defaults of its type are values of a node.
fn has_defaults(node: &TopologyNode) -> bool {
    node.directive() != Directive::Select
}

/// Whether a node stands for one that is not decided.
fn is_abstract(node: &TopologyNode) -> bool {
    node.directive() != Directive::Create
}
