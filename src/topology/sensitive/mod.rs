//! Decides which values of a topology are secret. One rule counts for all of them, wherever a value
//! is, and whoever brings it:
//!
//! - A definition says so, `metadata: {sensitive: "true"}`, or its type, or the template or type
//!   that the value belongs to. With `"false"` a definition says the opposite.
//! - The data type of the value is a credential, or is marked; of other types, what their
//!   properties are, and what entries of lists and maps are.
//! - The name of the value contains one of [`SecretNames`].
//! - The value is computed from secrets by functions.

mod area;
mod computed;
mod paths;
mod places;
mod source;

pub(crate) use area::{Area, SlotForm, each_part, form};
pub use places::{InstanceValue, SecretPlaces};
pub(crate) use source::{secret_spans, source_topology};

use super::named::NamedParts;
use super::value_source::ValueOwner;
use super::{
    AssignedValue, Described, GroupIndex, NodeIndex, RelationIndex, RelationshipIndex, Spanned,
    Topology, TopologyInterface, TopologyParameter, relationship_type, requirement_definition,
    type_named,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::function::function_in;
use crate::tosca::secrecy::{DeclaredSecrets, Secrecy, SecretData, SecretNames};
use crate::tosca::sensitive::means_sensitive;
use crate::tosca::shape::defines_parameter;
use crate::tosca::types::{EffectiveType, InterfaceDefinition, OperationDefinition, Parts};
use crate::tosca::{Family, PropertyDefinition, TypeId, Types};
use cuvee_text::source::FileId;
use cuvee_text::value::{ReplacedPart, Value};
use cuvee_text::yaml::NodeKind;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};

/// How far a value is followed to what it is computed from. What is computed of more is taken for
/// a secret.
const DEEPEST: usize = 100;

/// The text that is shown for a secret value.
pub(crate) const SENSITIVE: &str = "(sensitive)";

/// What the digest of a secret begins with.
pub(crate) const DIGEST: &str = "hmac-sha256:";

/// Whether a digest is kept of a secret.
pub(crate) fn is_digest(kept: &Value) -> bool {
    kept.as_str().is_some_and(|text| text.starts_with(DIGEST))
}

/// Whether a value has marked secrets, and of all of them only digests.
pub(crate) fn is_digested(value: &Value) -> bool {
    let (mut has_any, mut has_other) = (false, false);
    value.replaced(&mut |part| match kept_secret(part) {
        Some(kept) => {
            has_any = true;
            has_other |= !is_digest(kept);
            ReplacedPart::Stays
        }
        None => ReplacedPart::Within,
    });
    has_any && !has_other
}

/// What is kept in place of a value that is marked as secret: a digest, the value itself, or null.
pub(crate) fn kept_secret(value: &Value) -> Option<&Value> {
    let Value::Map(entries) = value else { return None };
    match &**entries {
        [(name, kept)] if &**name == "$sensitive" => Some(kept),
        _ => None,
    }
}

/// The value with the parts that are marked as secret hidden; `None` if there are none.
pub(crate) fn masked(value: &Value) -> Option<Value> {
    unmarked(value, false)
}

/// The value without marks of secrets; `None` if there are none. A secret is shown as it is kept,
/// or hidden.
pub(crate) fn unmarked(value: &Value, reveal: bool) -> Option<Value> {
    value.replaced(&mut |part| match kept_secret(part) {
        Some(kept) if reveal => ReplacedPart::By(kept.clone()),
        Some(_) => ReplacedPart::By(Value::from(SENSITIVE)),
        None => ReplacedPart::Within,
    })
}

/// The errors in the value of an input, called `what`. For a sensitive input they are reduced to
/// the fact that the value is wrong, because messages show values.
pub(crate) fn told(
    found: Vec<Diagnostic>,
    definition: &PropertyDefinition<'_>,
    types: &Types<'_>,
    what: &str,
) -> Vec<Diagnostic> {
    let of_type = || {
        let schema = &definition.schema;
        let id = types.find_in(schema.file(), Family::Data, schema.type_name);
        id.is_some_and(|id| types.is_secret_data(id))
    };
    if found.is_empty() || !(definition.is_sensitive() || of_type()) {
        return found;
    }
    let message = format!("{what} is sensitive, and has a value that its declaration rejects");
    vec![Diagnostic::error(Code::InvalidInput, message).at(definition.named.key.span())]
}

fn entry<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    let Value::Map(entries) = value else { return None };
    entries.iter().find(|(key, _)| &**key == name).map(|(_, value)| value)
}

/// What owns values with names of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SecretOwner {
    Node(NodeIndex),
    Relation(RelationIndex),
    /// A relationship template that no relation uses.
    Relationship(RelationshipIndex),
    Group(GroupIndex),
    /// A policy, by its position.
    Policy(usize),
}

impl SecretOwner {
    /// The owner as functions know it.
    pub(crate) fn of(owner: ValueOwner) -> Option<Self> {
        match owner {
            ValueOwner::Node(node) => Some(Self::Node(node)),
            ValueOwner::Relation(relation) => Some(Self::Relation(relation)),
            ValueOwner::Topology => None,
        }
    }

    /// The owner as functions in its values know it.
    pub(crate) fn of_values(self) -> ValueOwner {
        match self {
            Self::Node(node) => ValueOwner::Node(node),
            Self::Relation(relation) => ValueOwner::Relation(relation),
            Self::Relationship(_) | Self::Group(_) | Self::Policy(_) => ValueOwner::Topology,
        }
    }
}

/// How many values are searched for one by its name, before they are laid out by name.
const MANY_VALUES: usize = 16;

/// An owner of values, or the capability of it that has them.
type AssigningOwner = (SecretOwner, Option<String>);

/// The positions of assigned values by their names, first of all properties and then of all
/// attributes.
type PositionsByName = FxHashMap<String, SmallVec<[usize; 2]>>;

/// The values that are assigned to one name: rarely more than one.
type ValuesOfName<'t> = SmallVec<[&'t AssignedValue; 2]>;

/// What is known of an owner of values.
#[derive(Clone, Copy)]
struct KnownOwner {
    type_id: Option<TypeId>,
    /// Whether its template or its type says that all values are secret.
    is_marked: bool,
}

/// A property or attribute: its owner, the capability that has it, if one does, and its name.
type SecretSlot = (SecretOwner, Option<String>, String);

/// Knows which values of a topology are secret. Functions must be as their author wrote them.
pub(crate) struct Sensitivity<'t, 'a> {
    topology: &'t Topology,
    declared: DeclaredSecrets<'t, 'a>,
    /// The nodes by their names. Where variants differ, several may have one name.
    nodes: FxHashMap<&'t str, Vec<NodeIndex>>,
    named: NamedParts<'t>,
    /// What was found of owners so far.
    owners: RefCell<FxHashMap<SecretOwner, KnownOwner>>,
    /// The values of owners that assign many, by their names.
    assigned: RefCell<FxHashMap<AssigningOwner, PositionsByName>>,
    /// Results so far for values that are computed. One that is being examined counts as open, so
    /// that a value that is computed from itself ends the search.
    slots: RefCell<FxHashMap<SecretSlot, Secrecy>>,
    /// The same of inputs whose defaults are computed.
    inputs: RefCell<FxHashMap<String, Secrecy>>,
    /// How many values are being examined, each for the one before.
    within: Cell<usize>,
}

/// What is said of a property or attribute itself.
struct SaidOfSlot<'t> {
    declared: Secrecy,
    /// Whether its definition says that it is not secret, whatever it is computed from.
    is_public: bool,
    /// Its value: those that are assigned, or else its defaults.
    values: SmallVec<[Cow<'t, Value>; 2]>,
    /// Whether a type defines it, or a template assigns it.
    is_there: bool,
}

impl<'t, 'a> Sensitivity<'t, 'a> {
    pub(crate) fn of(topology: &'t Topology, types: &'t Types<'a>, names: SecretNames) -> Self {
        let mut nodes: FxHashMap<&str, Vec<_>> = FxHashMap::default();
        for id in topology.node_ids() {
            nodes.entry(&topology.node(id).name).or_default().push(id);
        }
        Self {
            topology,
            declared: DeclaredSecrets::new(types, names),
            nodes,
            named: NamedParts::of(topology),
            owners: RefCell::default(),
            assigned: RefCell::default(),
            slots: RefCell::default(),
            inputs: RefCell::default(),
            within: Cell::new(0),
        }
    }

    /// The names whose values are secret.
    pub(crate) fn names(&self) -> &SecretNames {
        self.declared.names()
    }

    /// What is secret in values of data types.
    pub(crate) fn data(&self) -> &SecretData {
        self.declared.data()
    }

    fn types(&self) -> &'t Types<'a> {
        self.declared.types()
    }

    /// The nodes of this name. Those of a template that gives several have the secrets of that.
    fn nodes_named(&self, name: &str) -> &[NodeIndex] {
        let of_template = || name.rsplit_once('@').and_then(|(name, _)| self.nodes.get(name));
        self.nodes.get(name).or_else(of_template).map_or(&[], Vec::as_slice)
    }

    /// What is secret of values by a definition of a type.
    pub(crate) fn declared(&self, definition: &PropertyDefinition<'_>) -> Secrecy {
        self.declared.judged(definition)
    }

    /// Whether a value is computed from what is secret.
    pub(crate) fn value(&self, value: &Value, owner: ValueOwner) -> bool {
        !self.computed(value, SecretOwner::of(owner)).is_open()
    }

    /// Whether a property or attribute of a relation is secret, or has parts that are.
    pub(crate) fn relation_property(&self, relation: RelationIndex, name: &str) -> bool {
        !self.slot(SecretOwner::Relation(relation), None, name).is_open()
    }

    /// What is secret of an input of the topology.
    pub(crate) fn input(&self, name: &str) -> Secrecy {
        match self.named.inputs.get(name) {
            Some(input) => self.given(input),
            None => Secrecy::whole(self.names().has(name)),
        }
    }

    /// What is secret of a declared input: by its declaration, and by what its default computes.
    fn given(&self, input: &TopologyParameter) -> Secrecy {
        let declared = self.parameter(input);
        let default = input.default.as_ref().filter(|it| function_in(&it.value).is_some());
        let Some(default) = default.filter(|_| !is_public(&input.definition.value)) else {
            return declared;
        };
        if let Some(known) = self.inputs.borrow().get(&input.name) {
            return known.clone();
        }
        if self.within.get() == DEEPEST {
            return Secrecy::Computed;
        }
        self.within.set(self.within.get() + 1);
        self.inputs.borrow_mut().insert(input.name.clone(), declared.clone());
        let found = self.data().either(declared, self.computed(&default.value, None));
        self.within.set(self.within.get() - 1);
        self.inputs.borrow_mut().insert(input.name.clone(), found.clone());
        found
    }

    /// What is secret of an output of the topology.
    pub(crate) fn output(&self, name: &str) -> Secrecy {
        let Some(output) = self.named.outputs.get(name) else {
            return Secrecy::whole(self.names().has(name));
        };
        let declared = self.parameter(output);
        match &output.value {
            Some(value) if !is_public(&output.definition.value) => {
                self.data().either(declared, self.computed(&value.value, None))
            }
            _ => declared,
        }
    }

    /// What is secret of an input or output by its declaration.
    pub(crate) fn parameter(&self, parameter: &TopologyParameter) -> Secrecy {
        self.spanned(&parameter.name, &parameter.definition)
    }

    fn spanned(&self, name: &str, definition: &Spanned<Value>) -> Secrecy {
        let file = (!definition.span.is_detached()).then_some(definition.span.file);
        self.definition(name, &definition.value, file)
    }

    /// What is secret of a value by a definition in a template.
    fn definition(&self, name: &str, definition: &Value, file: Option<FileId>) -> Secrecy {
        let said = said(entry(definition, "metadata"));
        if self.names().adds(name) || said.unwrap_or_else(|| self.names().has(name)) {
            return Secrecy::Whole;
        }
        self.schema(definition, file, said.is_some())
    }

    fn schema(&self, schema: &Value, file: Option<FileId>, is_public: bool) -> Secrecy {
        let kind = schema.as_str().or_else(|| entry(schema, "type")?.as_str());
        let each = entry(schema, "entry_schema").map(|entry| self.schema(entry, file, false));
        self.declared.of_type((file, kind.unwrap_or_default()), each.unwrap_or_default(), is_public)
    }

    /// What is secret of a property or attribute.
    pub(crate) fn slot(&self, owner: SecretOwner, capability: Option<&str>, name: &str) -> Secrecy {
        let said = self.said_of(owner, capability, name);
        let has_literals = self.topology.secrets.is_empty();
        let is_literal = |value: &Cow<'_, Value>| has_literals && function_in(value).is_none();
        let are_literal = || said.values.iter().all(is_literal);
        if said.is_public || said.values.len() < 2 && are_literal() {
            return said.declared;
        }
        // Where a slot has thousands of alternatives, it is asked for as often.
        let key = (owner, capability.map(str::to_owned), name.to_owned());
        if let Some(known) = self.slots.borrow().get(&key) {
            return known.clone();
        }
        if are_literal() {
            self.slots.borrow_mut().insert(key, said.declared.clone());
            return said.declared;
        }
        if self.within.get() == DEEPEST {
            return Secrecy::Computed;
        }
        self.within.set(self.within.get() + 1);
        self.slots.borrow_mut().insert(key.clone(), said.declared.clone());
        let computed = said.values.iter().map(|value| self.computed(value, Some(owner)));
        let found = computed.fold(said.declared, |all, one| self.data().either(all, one));
        self.within.set(self.within.get() - 1);
        self.slots.borrow_mut().insert(key, found.clone());
        found
    }

    /// Whether an owner has a property or attribute of this name.
    fn has_slot(&self, owner: SecretOwner, capability: Option<&str>, name: &str) -> bool {
        self.said_of(owner, capability, name).is_there
    }

    fn said_of(&self, owner: SecretOwner, capability: Option<&str>, name: &str) -> SaidOfSlot<'t> {
        let definitions = self.definitions(owner, capability, name);
        let definitions = || definitions.into_iter().flatten();
        let declared = definitions().map(|it| self.declared.definition(it));
        let declared = declared.reduce(|one, other| self.data().either(one, other));
        let declared = declared.unwrap_or_else(|| Secrecy::whole(self.names().has(name)));
        let assigned = self.assigned(owner, capability, name);
        let is_there = definitions().next().is_some() || !assigned.is_empty();
        let default = |it: &'t PropertyDefinition<'a>| {
            let value = it.value.or(it.default)?;
            (value.kind() != NodeKind::Scalar).then(|| Cow::Owned(value.to_value()))
        };
        let values = match assigned.is_empty() {
            true => definitions().filter_map(default).collect(),
            false => assigned.into_iter().map(|one| Cow::Borrowed(&one.value.value)).collect(),
        };
        SaidOfSlot {
            declared: if self.is_marked(owner, capability) { Secrecy::Whole } else { declared },
            is_public: definitions().any(|it| it.sensitive == Some(false)),
            values,
            is_there,
        }
    }

    /// The values that templates assign to a property or attribute.
    fn assigned(
        &self,
        owner: SecretOwner,
        capability: Option<&str>,
        name: &str,
    ) -> ValuesOfName<'t> {
        let [properties, attributes] = match (capability, owner) {
            (Some(capability), SecretOwner::Node(node)) => {
                let mut all = self.topology.node(node).capabilities.iter();
                let found = all.find(|one| one.name == capability);
                found.map_or([&[][..]; 2], |found| [&found.properties, &found.attributes])
            }
            (Some(_), _) => [&[][..]; 2],
            (None, _) => self
                .described(owner)
                .map_or([&[][..]; 2], |it| [&it.properties[..], &it.attributes]),
        };
        let all = properties.iter().chain(attributes);
        if properties.len() + attributes.len() <= MANY_VALUES {
            return all.filter(|one| one.name == name).collect();
        }
        let mut assigned = self.assigned.borrow_mut();
        let owner = (owner, capability.map(str::to_owned));
        let by_name = assigned.entry(owner).or_insert_with(|| {
            let mut by_name = PositionsByName::default();
            for (at, one) in all.enumerate() {
                by_name.entry(one.name.clone()).or_default().push(at);
            }
            by_name
        });
        let value = |at: usize| match at.checked_sub(properties.len()) {
            None => &properties[at],
            Some(at) => &attributes[at],
        };
        by_name.get(name).into_iter().flatten().map(|at| value(*at)).collect()
    }

    /// The definitions of a property and of an attribute of this name.
    fn definitions(
        &self,
        owner: SecretOwner,
        capability: Option<&str>,
        name: &str,
    ) -> [Option<&'t PropertyDefinition<'a>>; 2] {
        let Some(effective) = self.effective(owner) else { return [None; 2] };
        let all: [&'t Parts<'a, PropertyDefinition<'a>>; 2] = match capability {
            None => [&effective.properties, &effective.attributes],
            Some(capability) => match effective.capabilities.get(capability) {
                Some(part) => [&part.definition.properties, &part.definition.attributes],
                None => return [None; 2],
            },
        };
        all.map(|parts| Some(&parts.get(name)?.definition))
    }

    /// Whether a template, its type, or the type of its capability says that all values are secret.
    pub(crate) fn is_marked(&self, owner: SecretOwner, capability: Option<&str>) -> bool {
        let of_capability = || {
            let effective = self.effective(owner)?;
            let kind = effective.capabilities.get(capability?)?.definition.kind?;
            let file = Some(kind.document().file());
            self.types().find_in(file, Family::Capability, kind.text()?)
        };
        self.known(owner).is_marked || of_capability().is_some_and(|id| self.says_sensitive(id))
    }

    fn says_sensitive(&self, id: TypeId) -> bool {
        self.types().said_sensitive(id) == Some(true)
    }

    fn known(&self, owner: SecretOwner) -> KnownOwner {
        if let Some(known) = self.owners.borrow().get(&owner) {
            return *known;
        }
        let metadata = self.described(owner).map(|it| &it.metadata).into_iter().flatten();
        let mut said = metadata.filter(|one| one.name == "sensitive");
        let by_template =
            said.any(|one| means_sensitive(&one.value.value.to_string()) == Some(true));
        let type_id = self.found_type(owner);
        let is_marked = by_template || type_id.is_some_and(|id| self.says_sensitive(id));
        let known = KnownOwner { type_id, is_marked };
        self.owners.borrow_mut().insert(owner, known);
        known
    }

    fn described(&self, owner: SecretOwner) -> Option<&'t Described> {
        let topology = self.topology;
        match owner {
            SecretOwner::Node(node) => Some(&topology.node(node).described),
            SecretOwner::Relation(relation) => {
                let template = topology.relation(relation).relationship?;
                Some(&topology.relationship(template).described)
            }
            SecretOwner::Relationship(id) => Some(&topology.relationship(id).described),
            SecretOwner::Group(group) => Some(&topology.group(group).described),
            SecretOwner::Policy(at) => topology.policies.get(at).map(|policy| &policy.described),
        }
    }

    fn type_of(&self, owner: SecretOwner) -> Option<TypeId> {
        self.known(owner).type_id
    }

    fn found_type(&self, owner: SecretOwner) -> Option<TypeId> {
        let family = match owner {
            SecretOwner::Node(_) => Family::Node,
            SecretOwner::Relation(_) | SecretOwner::Relationship(_) => Family::Relationship,
            SecretOwner::Group(_) => Family::Group,
            SecretOwner::Policy(_) => Family::Policy,
        };
        let said = self.described(owner).and_then(|described| described.type_name.as_ref());
        match (said, owner) {
            (Some(name), _) => type_named(self.types(), family, name),
            (None, SecretOwner::Relation(relation)) => {
                relationship_type(self.topology, self.types(), relation)
            }
            (None, _) => None,
        }
    }

    fn effective(&self, owner: SecretOwner) -> Option<&'t EffectiveType<'a>> {
        self.type_of(owner).map(|id| self.types().effective(id))
    }

    /// What is secret of an input of an operation, or of all operations of an interface.
    pub(crate) fn operation_input(
        &self,
        owner: SecretOwner,
        (interface, operation): (&str, Option<&str>),
        name: &str,
    ) -> Secrecy {
        if self.is_marked(owner, None) {
            return Secrecy::Whole;
        }
        let definitions = self.input_definitions(owner, (interface, operation), name);
        let declared = definitions.iter().map(|it| self.declared.definition(it));
        let declared = declared.reduce(|one, other| self.data().either(one, other));
        let assigned = self.assigned_inputs(owner, (interface, operation), name);
        let mut found = declared.unwrap_or_else(|| Secrecy::whole(self.names().has(name)));
        if definitions.iter().any(|it| it.sensitive == Some(false)) {
            return found;
        }
        for one in &assigned {
            let own = self.assigned_input(owner, one);
            found = self.data().either(found, own);
        }
        if assigned.is_empty() {
            let defaults = definitions.iter().filter_map(|it| it.value.or(it.default));
            for default in defaults {
                let own = self.computed(&default.to_value(), Some(owner));
                found = self.data().either(found, own);
            }
        }
        found
    }

    /// What is secret of an input that a template assigns, as a value or as a definition.
    fn assigned_input(&self, owner: SecretOwner, said: &AssignedValue) -> Secrecy {
        let declared = self.assigned_definition(said);
        let value = match is_definition(&said.value.value) {
            true if is_public(&said.value.value) => return declared,
            true => entry(&said.value.value, "value").or(entry(&said.value.value, "default")),
            false => Some(&said.value.value),
        };
        let computed = value.map(|value| self.computed(value, Some(owner)));
        self.data().either(declared, computed.unwrap_or_default())
    }

    /// What is secret of an input by the definition that a template writes in place of its value.
    pub(crate) fn assigned_definition(&self, said: &AssignedValue) -> Secrecy {
        match is_definition(&said.value.value) {
            true => self.spanned(&said.name, &said.value),
            false => Secrecy::Open,
        }
    }

    fn input_definitions(
        &self,
        owner: SecretOwner,
        (interface, operation): (&str, Option<&str>),
        name: &str,
    ) -> Vec<&'t PropertyDefinition<'a>> {
        let mut found = Vec::new();
        let said = self.effective(owner).and_then(|it| it.interfaces.get(interface));
        if let Some(part) = said {
            found.extend(part.definition.inputs.get(name).map(|part| &part.definition));
            let operation = operation.and_then(|name| part.definition.operations.get(name));
            found.extend(operation.and_then(|it| input_of(&it.definition, name)));
        }
        if let SecretOwner::Relation(relation) = owner
            && let Some((definition, _)) =
                requirement_definition(self.topology, self.types(), relation)
        {
            let own = definition.interfaces.iter();
            for one in own.filter(|one| one.named.name == interface) {
                found.extend(inputs_of(one, operation, name));
            }
        }
        found
    }

    fn assigned_inputs(
        &self,
        owner: SecretOwner,
        (interface, operation): (&str, Option<&str>),
        name: &str,
    ) -> Vec<&'t AssignedValue> {
        let interfaces = self.described(owner).map(|it| &it.interfaces).into_iter().flatten();
        let meant = interfaces.filter(|one| one.name == interface);
        let inputs = |one: &'t TopologyInterface| {
            let operations = one.operations.iter().chain(&one.notifications);
            let operations = operations.filter(move |it| Some(&*it.name) == operation);
            one.inputs.iter().chain(operations.flat_map(|it| &it.inputs))
        };
        meant.flat_map(inputs).filter(|input| input.name == name).collect()
    }
}

/// Whether metadata say that values are secret; `None` if they do not say anything about it.
fn said(metadata: Option<&Value>) -> Option<bool> {
    means_sensitive(&entry(metadata?, "sensitive")?.to_string())
}

/// Whether a definition says that its values are not secret.
fn is_public(definition: &Value) -> bool {
    said(entry(definition, "metadata")) == Some(false)
}

/// Whether a map defines a parameter and is not itself a value.
pub(crate) fn is_definition(value: &Value) -> bool {
    let Value::Map(entries) = value else { return false };
    entry(value, "type").is_some() && entries.iter().all(|(key, _)| defines_parameter(key))
}

/// The definition of an input of an operation.
fn input_of<'t, 'a>(
    operation: &'t OperationDefinition<'a>,
    name: &str,
) -> Option<&'t PropertyDefinition<'a>> {
    operation.inputs.iter().find(|input| input.named.name == name)
}

/// The definitions of an input of an interface, and of one of its operations.
fn inputs_of<'t, 'a>(
    interface: &'t InterfaceDefinition<'a>,
    operation: Option<&str>,
    name: &str,
) -> Vec<&'t PropertyDefinition<'a>> {
    let own = interface.inputs.iter().find(|input| input.named.name == name);
    let operations = interface.operations.iter().filter(|it| Some(it.named.name) == operation);
    own.into_iter().chain(operations.filter_map(|it| input_of(it, name))).collect()
}
