//! Reports types for display: in owned data, with places in readable form.

use super::defined::Types;
use super::definition::{
    ArtifactDefinition, Occurrences, OperationDefinition, RequirementDefinition, TypeDefinition,
    ValidEnds,
};
use super::effective::{EffectiveCapability, EffectiveInterface, Part, Parts};
use super::hierarchy::{TypeId, TypeRef};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::tosca::family::Family;
use crate::tosca::v2_0;
use crate::tosca::value::{Clause, Primitive, PropertyDefinition, Schema};
use cuvee_text::source::SourceMap;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, write_flow};
use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// All types that a template has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TypesReport {
    /// The types, sorted by family. In each family, normative types come first.
    pub types: Vec<TypeEntry>,
}

/// A type and the place of its definition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TypeEntry {
    /// Its family.
    pub family: Family,
    /// The name by which the template calls it; its own where the template has none.
    pub name: String,
    /// The name of its parent, likewise.
    pub derived_from: Option<String>,
    /// The place of its definition: `file:line:column`.
    pub place: String,
}

/// A type that defines a part, and the place of that definition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Said {
    /// Its name.
    #[serde(rename = "type")]
    pub kind: String,
    /// `file:line:column`
    pub place: String,
}

/// The types that define a part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartOrigin {
    /// The last type that defines the part.
    #[serde(flatten)]
    pub said: Said,
    /// The definitions that the last one refines, the nearest first.
    pub refines: Vec<Said>,
}

/// An effective type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TypeReport {
    /// The type itself.
    #[serde(flatten)]
    pub entry: TypeEntry,
    /// The description for people.
    pub description: Option<String>,
    /// All ancestors, the parent first. For a data type, the primitive type is the last one.
    pub ancestors: Vec<String>,
    /// Properties.
    pub properties: Vec<PropertyReport>,
    /// Attributes, without those that reflect properties.
    pub attributes: Vec<PropertyReport>,
    /// Capabilities.
    pub capabilities: Vec<CapabilityReport>,
    /// Requirements.
    pub requirements: Vec<RequirementReport>,
    /// Interfaces.
    pub interfaces: Vec<InterfaceReport>,
    /// Artifacts.
    pub artifacts: Vec<ArtifactReport>,
    /// The inputs of an interface type.
    pub inputs: Vec<PropertyReport>,
    /// The operations of an interface type.
    pub operations: Vec<OperationReport>,
    /// The notifications of an interface type.
    pub notifications: Vec<OperationReport>,
    /// The media type of the files of an artifact type.
    pub mime_type: Option<String>,
    /// The extensions of the files of an artifact type.
    pub file_ext: Vec<String>,
    /// The triggers of a policy type.
    pub triggers: Vec<TriggerReport>,
    /// The list `valid_source_types`, `valid_target_types`, `members` or `targets`.
    pub valid_types: Vec<String>,
    /// The relationship types that may lead to a capability (TOSCA 2.0).
    pub valid_relationship_types: Vec<String>,
    /// The node types from which a relationship may start (TOSCA 2.0).
    pub valid_source_node_types: Vec<String>,
    /// The node types to which a relationship may lead (TOSCA 2.0).
    pub valid_target_node_types: Vec<String>,
    /// The constraints of a data type, such as `in_range: [1, 65535]`, and its validation clauses.
    pub constraints: Vec<String>,
    /// What the keys of a map are.
    pub key_schema: Option<SchemaReport>,
    /// What the entries of a list or a map are.
    pub entry_schema: Option<SchemaReport>,
    /// What TOSCA 2.0 says of the numbers and units of a scalar, by its keynames.
    pub scalar: BTreeMap<&'static str, Value>,
}

/// What keys or entries are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SchemaReport {
    /// Their type, with the type of their entries.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Their constraints and validation clauses.
    pub constraints: Vec<String>,
}

/// A property, an attribute or an input.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PropertyReport {
    /// Its name.
    pub name: String,
    /// Its type, with the type of its entries: `list of string`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Whether it needs a value.
    pub required: bool,
    /// Its default.
    pub default: Option<Value>,
    /// Its fixed value.
    pub value: Option<Value>,
    /// Its constraints and validation clauses, including inherited ones.
    pub constraints: Vec<String>,
    /// What the keys of a map are.
    pub key_schema: Option<SchemaReport>,
    /// What the entries of a list or a map are.
    pub entry_schema: Option<SchemaReport>,
    /// The types that define it.
    pub from: PartOrigin,
}

/// A trigger of a policy type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TriggerReport {
    /// Its name.
    pub name: String,
    /// All that its type says of it.
    pub definition: Value,
    /// The type that defines it.
    pub from: Said,
}

/// A capability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CapabilityReport {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// How often it may be used.
    pub occurrences: String,
    /// The node types that may use it. Empty where all may use it.
    pub valid_source_types: Vec<String>,
    /// The relationship types that may lead to it (TOSCA 2.0). Empty where all may.
    pub valid_relationship_types: Vec<String>,
    /// Its properties.
    pub properties: Vec<PropertyReport>,
    /// Its attributes.
    pub attributes: Vec<PropertyReport>,
    /// The types that define it.
    pub from: PartOrigin,
}

/// A requirement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequirementReport {
    /// Its name.
    pub name: String,
    /// The capability type that it asks for.
    pub capability: Option<String>,
    /// The node type that it asks for.
    pub node: Option<String>,
    /// The type of the relationship.
    pub relationship: Option<String>,
    /// How often it occurs.
    pub occurrences: String,
    /// The filters that its targets fulfil.
    pub node_filters: Vec<String>,
    /// The types that define it.
    pub from: PartOrigin,
}

/// An interface.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InterfaceReport {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Inputs of all operations.
    pub inputs: Vec<PropertyReport>,
    /// Its operations.
    pub operations: Vec<OperationReport>,
    /// Its notifications.
    pub notifications: Vec<OperationReport>,
    /// The types that define it.
    pub from: PartOrigin,
}

/// An operation or a notification.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationReport {
    /// Its name.
    pub name: String,
    /// Its implementation.
    pub implementation: Option<Value>,
    /// The names of its inputs.
    pub inputs: Vec<String>,
    /// The names of its outputs.
    pub outputs: Vec<String>,
    /// The types that define it.
    pub from: PartOrigin,
}

/// An artifact.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArtifactReport {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Its file.
    pub file: Option<String>,
    /// The types that define it.
    pub from: PartOrigin,
}

impl TypesReport {
    /// All types.
    pub(crate) fn of(types: &Types<'_>, sources: &SourceMap) -> Self {
        let mut entries: Vec<_> = types.named_ids().map(|id| entry(types, id, sources)).collect();
        entries.sort_by_key(|entry| entry.family);
        Self { types: entries }
    }
}

impl TypeReport {
    /// The types that the template calls so, or else those that are defined by this name.
    ///
    /// # Errors
    /// `unknown-type` where there is no such type.
    pub(crate) fn of(
        types: &Types<'_>,
        name: &str,
        sources: &SourceMap,
    ) -> Result<Vec<Self>, Diagnostic> {
        let called: Vec<_> =
            Family::ALL.into_iter().filter_map(|family| types.find(family, name)).collect();
        let defined = |name: &str| -> Vec<_> {
            types.named_ids().filter(|id| types.definition(*id).name == name).collect()
        };
        let mut found = if called.is_empty() { defined(name) } else { called };
        if found.is_empty() {
            found = defined(meant(types, name)?);
        }
        Ok(found.into_iter().map(|id| Reporting { types, sources }.of(id)).collect())
    }
}

/// The only full name that ends with this part of a name.
fn meant<'a>(types: &Types<'a>, part: &str) -> Result<&'a str, Diagnostic> {
    let names = || types.named_ids().map(|id| types.definition(id).name);
    let ends = |name: &&str| name.strip_suffix(part).is_some_and(|before| before.ends_with('.'));
    let ending: BTreeSet<&str> = names().filter(ends).collect();
    let error = Diagnostic::error(Code::UnknownType, format!("there is no type `{part}`"));
    let primitive = if types.is_of_2_0() { Primitive::of_2_0 } else { Primitive::from_name };
    if let Some(primitive) = primitive(part) {
        let values = primitive.describe();
        return Err(error.help(format!("it is a primitive type, whose values are {values}")));
    }
    match ending.len() {
        0 => {
            let last = |name: &'a str| name.rsplit('.').next().unwrap_or(name);
            let close = || did_you_mean(part, names().map(last));
            Err(error.help_opt(did_you_mean(part, names()).or_else(close)))
        }
        1 => ending.first().copied().ok_or(error),
        _ => {
            let listed: Vec<_> = ending.iter().map(|name| format!("`{name}`")).collect();
            Err(error.help(format!("name one of {}", listed.join(", "))))
        }
    }
}

fn entry(types: &Types<'_>, id: TypeId, sources: &SourceMap) -> TypeEntry {
    let definition = types.definition(id);
    let parent = match types.parent(id) {
        Some(parent) => Some(types.told_name(parent).into_owned()),
        None => types.primitive(TypeRef::Defined(id)).map(str::to_owned),
    };
    TypeEntry {
        family: definition.family,
        name: types.told_name(id).into_owned(),
        derived_from: parent,
        place: sources.place(definition.key.span()),
    }
}

fn text(node: Option<Node<'_>>) -> Option<String> {
    node.and_then(Node::text).map(str::to_owned)
}

fn clauses(schema: &Schema<'_>) -> Vec<String> {
    let validations = schema.validations.iter().map(|clause| write_flow(&clause.to_value()));
    schema.constraints.iter().map(Clause::text).chain(validations).collect()
}

/// What a type says, after what it adds to if both are maps.
fn with_inherited(own: Value, inherited: Value) -> Value {
    match (&own, &inherited) {
        (Value::Map(own), Value::Map(inherited)) => {
            let is_new = |entry: &&(Arc<str>, Value)| inherited.iter().all(|it| it.0 != entry.0);
            let all: Vec<_> = inherited.iter().chain(own.iter().filter(is_new)).cloned().collect();
            Value::Map(all.into())
        }
        _ => own,
    }
}

fn occurrences(said: Option<Occurrences<'_>>, otherwise: &str) -> String {
    said.map_or_else(|| otherwise.to_owned(), |said| said.to_string())
}

/// What TOSCA 2.0 lets data types say of scalars; the first one is that of later texts.
const SCALAR: [&str; 7] = [
    "data_type",
    "data_value_type",
    "units",
    "canonical_unit",
    "prefixes",
    "unit_suffix",
    "unit_symbol_map",
];

/// The families of types that a type may list.
const VALID: [Family; 3] = [Family::Node, Family::Capability, Family::Group];

struct Reporting<'t, 'a> {
    types: &'t Types<'a>,
    sources: &'t SourceMap,
}

impl<'a> Reporting<'_, 'a> {
    fn of(&self, id: TypeId) -> TypeReport {
        let (definition, effective) = (self.types.definition(id), self.types.effective(id));
        let ancestors =
            self.types.chain(id).skip(1).map(|id| self.types.told_name(id).into_owned());
        let ends = effective.valid_ends.as_deref();
        let ends = |family, of: for<'e> fn(&'e ValidEnds<'a>) -> Option<&'e [Node<'a>]>| {
            self.names(&[family], ends.and_then(of))
        };
        TypeReport {
            entry: entry(self.types, id, self.sources),
            description: text(definition.description),
            ancestors: ancestors
                .chain(self.types.primitive(TypeRef::Defined(id)).map(str::to_owned))
                .collect(),
            properties: self.all(&effective.properties, Self::property),
            attributes: self.all(&effective.attributes, Self::property),
            capabilities: self.all(&effective.capabilities, Self::capability),
            requirements: self.all(&effective.requirements, Self::requirement),
            interfaces: self.all(&effective.interfaces, Self::interface),
            artifacts: self.all(&effective.artifacts, Self::artifact),
            inputs: self.all(&effective.interface.inputs, Self::property),
            operations: self.all(&effective.interface.operations, Self::operation),
            notifications: self.all(&effective.interface.notifications, Self::operation),
            mime_type: text(self.nearest(id, |it| it.mime_type)),
            file_ext: self.file_ext(id),
            triggers: self.triggers(id),
            valid_types: self.names(&VALID, effective.valid_types.as_deref()),
            valid_relationship_types: ends(Family::Relationship, |it| it.relationships.as_deref()),
            valid_source_node_types: ends(Family::Node, |it| it.sources.as_deref()),
            valid_target_node_types: ends(Family::Node, |it| it.targets.as_deref()),
            constraints: clauses(&effective.schema),
            key_schema: effective.schema.key_schema.as_deref().map(|it| self.schema(it)),
            entry_schema: effective.schema.entry_schema.as_deref().map(|it| self.schema(it)),
            scalar: self.scalar(id),
        }
    }

    /// The name by which the template calls the type that a file names, which may be behind a
    /// namespace there.
    fn called(&self, families: &[Family], said: Option<Node<'a>>) -> Option<String> {
        let said = said.filter(|said| said.text().is_some())?;
        Some(self.types.called_by(None, families, said))
    }

    fn names(&self, families: &[Family], said: Option<&[Node<'a>]>) -> Vec<String> {
        let said = said.unwrap_or_default().iter();
        said.filter_map(|node| self.called(families, Some(*node))).collect()
    }

    /// The type with the types of its entries: `map of list of string`.
    fn kind(&self, schema: &Schema<'a>) -> Option<String> {
        let own = self.called(&[Family::Data], schema.kind)?;
        let entries = schema.entry_schema.as_deref().and_then(|entries| self.kind(entries));
        Some(entries.map(|entries| format!("{own} of {entries}")).unwrap_or(own))
    }

    fn schema(&self, schema: &Schema<'a>) -> SchemaReport {
        SchemaReport { kind: self.kind(schema), constraints: clauses(schema) }
    }

    /// What a type, or else the nearest one that it derives from, says.
    fn nearest<T>(&self, id: TypeId, said: impl Fn(&TypeDefinition<'a>) -> Option<T>) -> Option<T> {
        self.types.chain(id).find_map(|id| said(self.types.definition(id)))
    }

    fn file_ext(&self, id: TypeId) -> Vec<String> {
        let listed = self.nearest(id, |it| it.file_ext.clone()).unwrap_or_default();
        listed.into_iter().filter_map(|it| text(Some(it))).collect()
    }

    /// The triggers of a type, those that it inherits first. They are not changed (section 16.3).
    fn triggers(&self, id: TypeId) -> Vec<TriggerReport> {
        let mut triggers = IndexMap::new();
        let chain: Vec<_> = self.types.chain(id).collect();
        for id in chain.into_iter().rev() {
            for trigger in &self.types.definition(id).triggers {
                let report = TriggerReport {
                    name: trigger.name.to_owned(),
                    definition: trigger.value.to_value(),
                    from: Said {
                        kind: self.types.told_name(id).into_owned(),
                        place: self.sources.place(trigger.key.span()),
                    },
                };
                triggers.insert(trigger.name, report);
            }
        }
        triggers.into_values().collect()
    }

    /// What a type and those that it derives from say of numbers and units: the nearest counts, and
    /// units add up.
    fn scalar(&self, id: TypeId) -> BTreeMap<&'static str, Value> {
        let said = |keyname| {
            let bodies = self.types.chain(id).map(|id| self.types.definition(id).value);
            let of_2_0 = bodies.filter(|body| v2_0::is_of(body.document()));
            let mut all = of_2_0.filter_map(|body| body.get(keyname)).map(Node::to_value);
            let nearest = all.next()?;
            Some((keyname, all.fold(nearest, with_inherited)))
        };
        let is_data = self.types.definition(id).family == Family::Data;
        SCALAR.into_iter().filter(|_| is_data).filter_map(said).collect()
    }

    fn all<T, R>(&self, parts: &Parts<'a, T>, report: impl Fn(&Self, &Part<'a, T>) -> R) -> Vec<R> {
        parts.values().map(|part| report(self, part)).collect()
    }

    fn said<T>(&self, part: &Part<'a, T>) -> Said {
        Said {
            kind: self.types.told_name(part.owner).into_owned(),
            place: self.sources.place(part.named.key.span()),
        }
    }

    fn origin<T>(&self, part: &Part<'a, T>) -> PartOrigin {
        let refined = std::iter::successors(part.refines.as_ref(), |part| part.refines.as_ref());
        PartOrigin {
            said: self.said(part),
            refines: refined.map(|part: &Arc<_>| self.said(part)).collect(),
        }
    }

    fn property(&self, part: &Part<'a, PropertyDefinition<'a>>) -> PropertyReport {
        let definition = &part.definition;
        PropertyReport {
            name: part.named.name.to_owned(),
            kind: self.kind(&definition.schema),
            required: definition.is_required(),
            default: definition.default.map(Node::to_value),
            value: definition.value.map(Node::to_value),
            constraints: clauses(&definition.schema),
            key_schema: definition.schema.key_schema.as_deref().map(|it| self.schema(it)),
            entry_schema: definition.schema.entry_schema.as_deref().map(|it| self.schema(it)),
            from: self.origin(part),
        }
    }

    fn capability(&self, part: &Part<'a, EffectiveCapability<'a>>) -> CapabilityReport {
        let capability = &part.definition;
        CapabilityReport {
            name: part.named.name.to_owned(),
            kind: self.called(&[Family::Capability], capability.kind),
            occurrences: match v2_0::is_of(part.named.key.document()) {
                // There, capabilities have no bounds.
                true => String::new(),
                false => occurrences(capability.occurrences, "[1, UNBOUNDED]"),
            },
            valid_source_types: self
                .names(&[Family::Node], capability.valid_source_types.as_deref()),
            valid_relationship_types: self
                .names(&[Family::Relationship], capability.valid_relationship_types.as_deref()),
            properties: self.all(&capability.properties, Self::property),
            attributes: self.all(&capability.attributes, Self::property),
            from: self.origin(part),
        }
    }

    fn requirement(&self, part: &Part<'a, RequirementDefinition<'a>>) -> RequirementReport {
        let requirement = &part.definition;
        RequirementReport {
            name: part.named.name.to_owned(),
            capability: self.called(&[Family::Capability], requirement.capability),
            node: self.called(&[Family::Node], requirement.node),
            relationship: self.called(&[Family::Relationship], requirement.relationship),
            occurrences: match v2_0::is_of(part.named.key.document()) {
                true => occurrences(requirement.occurrences, "[0, UNBOUNDED]"),
                false => occurrences(requirement.occurrences, "[1, 1]"),
            },
            node_filters: requirement
                .node_filters
                .iter()
                .map(|filter| write_flow(&filter.to_value()))
                .collect(),
            from: self.origin(part),
        }
    }

    fn interface(&self, part: &Part<'a, EffectiveInterface<'a>>) -> InterfaceReport {
        let interface = &part.definition;
        InterfaceReport {
            name: part.named.name.to_owned(),
            kind: self.called(&[Family::Interface], interface.kind),
            inputs: self.all(&interface.inputs, Self::property),
            operations: self.all(&interface.operations, Self::operation),
            notifications: self.all(&interface.notifications, Self::operation),
            from: self.origin(part),
        }
    }

    fn operation(&self, part: &Part<'a, OperationDefinition<'a>>) -> OperationReport {
        OperationReport {
            name: part.named.name.to_owned(),
            implementation: part.definition.implementation.map(Node::to_value),
            inputs: part
                .definition
                .inputs
                .iter()
                .map(|input| input.named.name.to_owned())
                .collect(),
            outputs: self.outputs(&part.definition),
            from: self.origin(part),
        }
    }

    /// The names of the outputs of an operation, whether they are mapped or defined.
    fn outputs(&self, operation: &OperationDefinition<'a>) -> Vec<String> {
        let mapped = operation.outputs.iter().map(|output| output.name);
        let defined = operation.results.iter().map(|output| output.named.name);
        let names: IndexSet<&str> = mapped.chain(defined).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    fn artifact(&self, part: &Part<'a, ArtifactDefinition<'a>>) -> ArtifactReport {
        let artifact = &part.definition;
        ArtifactReport {
            name: part.named.name.to_owned(),
            kind: self.called(&[Family::Artifact], artifact.kind),
            file: text(artifact.file),
            from: self.origin(part),
        }
    }
}
