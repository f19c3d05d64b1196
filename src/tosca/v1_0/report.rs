//! Reports types of TOSCA 1.0 together with the parts that they inherit.

use super::definitions::{
    Bound, ComponentKind, ComponentName, DefinedComponent, FeatureDefinition, FeatureKind,
};
use super::library::{ComponentId, Library};
use super::properties::PropertySchemas;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::tosca::xml_schema::{ValuePart, ValueShape};
use serde::Serialize;
use std::collections::BTreeSet;

/// The types in documents of TOSCA 1.0.
#[derive(Clone, Debug, Serialize)]
pub struct DefinedTypes {
    /// The types, in the order of the documents.
    pub types: Vec<DefinedType>,
}

/// A type with its own and its inherited parts.
#[derive(Clone, Debug, Serialize)]
pub struct DefinedType {
    /// The kind of the type, such as `node type`.
    pub kind: &'static str,
    /// The name in the form `{namespace}name`.
    pub name: String,
    /// The place of the definition.
    pub place: String,
    /// The ancestors, the nearest first.
    pub ancestors: Vec<String>,
    /// Whether templates of the type are not allowed.
    #[serde(rename = "abstract")]
    pub is_abstract: bool,
    /// Whether derived types are not allowed.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// The properties that its schema defines.
    pub properties: Vec<DefinedProperty>,
    /// The requirements of a node type.
    pub requirements: Vec<DefinedPart>,
    /// The capabilities of a node type.
    pub capabilities: Vec<DefinedPart>,
    /// The operations, each prefixed by its interface.
    pub operations: Vec<DefinedPart>,
    /// The components that it refers to: ends of relationships, the capability of a requirement,
    /// the nodes of a policy.
    pub goes_with: Vec<String>,
}

/// A property of a type.
#[derive(Clone, Debug, Serialize)]
pub struct DefinedProperty {
    /// Its name.
    pub name: String,
    /// The type of its value. `None` where the property has parts, or its type is not known.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Whether the property finally needs a value.
    pub required: bool,
    /// Whether the property may occur several times.
    pub repeats: bool,
}

/// A part of a type, and the type that defines the part.
#[derive(Clone, Debug, Serialize)]
pub struct DefinedPart {
    /// Its name.
    pub name: String,
    /// Its type, where it has one.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The lower and the upper bound of its occurrences.
    pub occurrences: Option<String>,
    /// The type that defines the part.
    pub from: String,
}

/// Reports all types of a library, or those of one name.
///
/// # Errors
/// No type has that name, or types of several namespaces have it.
pub(crate) fn defined_types(
    library: &Library<'_>,
    schemas: &PropertySchemas<'_>,
    name: Option<&str>,
) -> Result<DefinedTypes, Diagnostic> {
    let all = library.ids().filter(|id| library.component(*id).kind.is_type());
    let ids: Vec<_> = match name {
        None => all.collect(),
        Some(name) => named(library, all.collect(), name)?,
    };
    let reporter = TypeReporter { library, schemas };
    Ok(DefinedTypes { types: ids.into_iter().map(|id| reporter.defined(id)).collect() })
}

fn named(
    library: &Library<'_>,
    all: Vec<ComponentId>,
    name: &str,
) -> Result<Vec<ComponentId>, Diagnostic> {
    let is_it = |component: &DefinedComponent<'_>| match name.starts_with('{') {
        true => qualified(component) == name,
        false => component.name.text == name,
    };
    let found: Vec<_> = all.iter().copied().filter(|id| is_it(library.component(*id))).collect();
    let names: BTreeSet<_> = found.iter().map(|id| qualified(library.component(*id))).collect();
    match names.len() {
        1 => Ok(found),
        0 => {
            let known = all.iter().map(|id| library.component(*id));
            let known: Vec<_> = match name.starts_with('{') {
                true => known.map(qualified).collect(),
                false => known.map(|component| component.name.text.to_string()).collect(),
            };
            let message = format!("there is no type `{name}`");
            let meant = did_you_mean(name, known.iter().map(String::as_str));
            Err(Diagnostic::error(Code::UnknownType, message).help_opt(meant))
        }
        _ => {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("`{name}` is a type in several namespaces");
            let error = Diagnostic::error(Code::Usage, message);
            Err(error.help(format!("name one of them: {}", names.join(", "))))
        }
    }
}

fn qualified(component: &DefinedComponent<'_>) -> String {
    format!("{{{}}}{}", component.namespace, component.name.text)
}

struct TypeReporter<'r, 'd> {
    library: &'r Library<'d>,
    schemas: &'r PropertySchemas<'d>,
}

impl<'d> TypeReporter<'_, 'd> {
    fn defined(&self, id: ComponentId) -> DefinedType {
        let component = self.library.component(id);
        let said = self.library.entity_type(id);
        let ancestors = self.library.ancestry(id).skip(1).map(|id| self.name(id));
        DefinedType {
            kind: component.kind.what(),
            name: qualified(component),
            place: self.library.loaded.sources.place(component.name.span),
            ancestors: ancestors.collect(),
            is_abstract: said.is_some_and(|said| said.is_abstract.is_some()),
            is_final: said.is_some_and(|said| said.is_final.is_some()),
            properties: self.properties(id),
            requirements: self.features(id, FeatureKind::Requirement),
            capabilities: self.features(id, FeatureKind::Capability),
            operations: self.operations(id),
            goes_with: self.goes_with(id),
        }
    }

    fn name(&self, id: ComponentId) -> String {
        qualified(self.library.component(id))
    }

    fn properties(&self, id: ComponentId) -> Vec<DefinedProperty> {
        let expected = self.schemas.expected(self.library, id);
        let set = &self.schemas.set;
        let ValueShape::Parts(parts) = set.shape(self.schemas.value_type(expected)) else {
            return Vec::new();
        };
        let property = |part: &ValuePart<'_>| DefinedProperty {
            name: part.name.to_owned(),
            kind: match set.shape(part.of) {
                ValueShape::Text(known, _) => Some(known.name.to_owned()),
                ValueShape::Opaque | ValueShape::Parts(_) => None,
            },
            required: part.is_required,
            repeats: part.repeats,
        };
        parts.iter().map(property).collect()
    }

    fn features(&self, id: ComponentId, kind: FeatureKind) -> Vec<DefinedPart> {
        let all = self.library.effective_features(id, kind);
        let part = |(owner, feature): (ComponentId, &FeatureDefinition<'d>)| DefinedPart {
            name: feature.name.text.to_string(),
            kind: feature.type_name.as_ref().map(shown),
            occurrences: Some(occurrences(feature.lower, feature.upper)),
            from: self.name(owner),
        };
        all.map(part).collect()
    }

    /// The operations of a type; of each name the nearest.
    fn operations(&self, id: ComponentId) -> Vec<DefinedPart> {
        let (mut seen, mut all) = (BTreeSet::new(), Vec::new());
        for owner in self.library.ancestry(id) {
            let Some(said) = self.library.entity_type(owner) else { continue };
            for interface in said.interfaces.iter().chain(&said.target_interfaces) {
                for operation in &interface.operations {
                    let name = format!("{} {}", interface.name.text, operation.name.text);
                    if seen.insert(name.clone()) {
                        let from = self.name(owner);
                        all.push(DefinedPart { name, kind: None, occurrences: None, from });
                    }
                }
            }
        }
        all
    }

    /// The components that the type or its nearest ancestors refer to.
    fn goes_with(&self, id: ComponentId) -> Vec<String> {
        let all: Vec<_> =
            self.library.ancestry(id).filter_map(|id| self.library.entity_type(id)).collect();
        let single = [
            all.iter().find_map(|said| said.valid_source.as_ref()),
            all.iter().find_map(|said| said.valid_target.as_ref()),
            all.iter().find_map(|said| said.required_capability.as_ref()),
        ];
        let targets = all.iter().flat_map(|said| &said.applies_to).map(shown);
        single.into_iter().flatten().map(shown).chain(targets).collect()
    }
}

fn shown(name: &ComponentName<'_>) -> String {
    format!("{{{}}}{}", name.namespace.as_deref().unwrap_or_default(), name.local)
}

fn occurrences(lower: Bound, upper: Bound) -> String {
    let most = upper.value.map_or_else(|| "unbounded".to_owned(), |most| most.to_string());
    format!("{} to {most}", lower.value.unwrap_or_default())
}

impl DefinedTypes {
    /// The kinds of types, in the order of reports.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        ComponentKind::ALL.into_iter().filter(|kind| kind.is_type()).map(ComponentKind::what)
    }
}
