//! Types of TOSCA 1.0 with what they inherit, for who asks.

use super::definitions::{
    Bound, ComponentKind, ComponentName, DefinedComponent, FeatureDefinition, FeatureKind,
};
use super::library::{ComponentId, Library};
use super::properties::PropertySchemas;
use crate::text::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::text::xml::schema::{ValuePart, ValueShape};
use serde::Serialize;
use std::collections::BTreeSet;

/// Types of documents of TOSCA 1.0.
#[derive(Clone, Debug, Serialize)]
pub struct DefinedTypes {
    /// In the order of the documents.
    pub types: Vec<DefinedType>,
}

/// A type with what it has, by itself or by what it derives from.
#[derive(Clone, Debug, Serialize)]
pub struct DefinedType {
    /// Of which kind it is, such as `node type`.
    pub kind: &'static str,
    /// `{namespace}name`
    pub name: String,
    /// Where it is defined.
    pub place: String,
    /// What it derives from, the nearest first.
    pub ancestors: Vec<String>,
    /// Whether nothing may be of it itself.
    #[serde(rename = "abstract")]
    pub is_abstract: bool,
    /// Whether nothing may derive from it.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// What its schema has.
    pub properties: Vec<DefinedProperty>,
    /// Of a node type.
    pub requirements: Vec<DefinedPart>,
    /// Of a node type.
    pub capabilities: Vec<DefinedPart>,
    /// Operations, each behind its interface.
    pub operations: Vec<DefinedPart>,
    /// What it goes with: ends of relationships, the capability of a requirement, nodes of a policy.
    pub goes_with: Vec<String>,
}

/// A property of a type.
#[derive(Clone, Debug, Serialize)]
pub struct DefinedProperty {
    /// Its name.
    pub name: String,
    /// The type of its texts; nothing where it has parts, or nobody knows.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Whether a value has to be there in the end.
    pub required: bool,
    /// Whether there may be several.
    pub repeats: bool,
}

/// A part of a type, and by which type it has it.
#[derive(Clone, Debug, Serialize)]
pub struct DefinedPart {
    /// Its name.
    pub name: String,
    /// Its type, or nothing.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// How often it is there, from the least to the most.
    pub occurrences: Option<String>,
    /// The type that says so.
    pub from: String,
}

/// All types of a library, or those of a name.
///
/// # Errors
/// Where there is none of that name, or it may mean types of several namespaces.
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

    /// Operations, of each name the nearest.
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

    /// What it names that it goes with, or the nearest of what it derives from does.
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
    /// The kinds of types, in the order in which they are listed.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        ComponentKind::ALL.into_iter().filter(|kind| kind.is_type()).map(ComponentKind::what)
    }
}
