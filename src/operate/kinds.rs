//! Collects the facts about types that a run needs: derivation, attributes and artifacts.

use super::files::NamedArtifact;
use crate::tosca::types::{Part, Parts};
use crate::tosca::{EffectiveType, Family, PropertyDefinition, TypeId, Types};
use cuvee_text::source::SourceMap;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// For each node type and artifact type of a target, the names of the types that it derives from.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    /// The names that types have in the template, by their own ones, which mean nothing there.
    called: FxHashMap<String, String>,
    above: FxHashMap<String, Vec<String>>,
    /// The names of artifact types.
    artifact_types: Vec<String>,
    /// The attributes that node types and their capabilities declare.
    attributes: FxHashMap<String, Vec<AttributeOfKind>>,
    /// The artifacts that node types define.
    artifacts: FxHashMap<String, Vec<NamedArtifact>>,
    /// The attributes whose value is an output of an operation: the operation, its output, and the
    /// attribute.
    taken: FxHashMap<String, Vec<[String; 3]>>,
    /// The operations of node types that have an implementation.
    producers: FxHashMap<String, Vec<String>>,
}

#[derive(Debug)]
struct AttributeOfKind {
    /// The capability that has the attribute, if one does.
    capability: Option<String>,
    name: String,
    /// The name of the type of its values.
    kind: String,
    /// The name of the type of the entries of a list or map, or nothing.
    entry: String,
}

impl Kinds {
    pub(super) fn of(types: &Types<'_>, sources: &SourceMap) -> Self {
        let mut kinds = Self::default();
        for id in types.ids() {
            let definition = types.definition(id);
            if !matches!(definition.family, Family::Node | Family::Artifact) {
                continue;
            }
            let name = types.told_name(id).into_owned();
            let own = own_name(types, id).map(str::to_owned);
            own.into_iter().for_each(|own| _ = kinds.called.entry(own).or_insert(name.clone()));
            let names = |id| [Some(types.told_name(id)), own_name(types, id).map(Cow::Borrowed)];
            let chain = types.chain(id).flat_map(names).flatten().map(Cow::into_owned);
            kinds.above.insert(name.clone(), chain.collect());
            if definition.family == Family::Artifact {
                kinds.artifact_types.push(name.clone());
            }
            if definition.family == Family::Node {
                let effective = types.effective(id);
                kinds.attributes.insert(name.clone(), attributes(effective));
                let operations = effective.interfaces.values().flat_map(|part| {
                    let operations = part.definition.operations.iter();
                    let run = operations.filter(|(_, it)| it.definition.implementation.is_some());
                    run.map(|(name, _)| format!("{}.{name}", part.named.name))
                });
                let artifacts = effective.artifacts.values().filter_map(|part| {
                    let file = part.definition.file?;
                    Some(NamedArtifact {
                        name: part.named.name.to_owned(),
                        file: file.text()?.to_owned(),
                        place: Some(sources.place(file.span())),
                    })
                });
                let taken = effective.attributes.values().filter_map(|part| {
                    let value = part.definition.value.or(part.definition.default)?;
                    let [interface, operation, output] = output_of_self(value)?;
                    let attribute = part.named.name.to_owned();
                    Some([format!("{interface}.{operation}"), output, attribute])
                });
                kinds.taken.insert(name.clone(), taken.collect());
                kinds.artifacts.insert(name.clone(), artifacts.collect());
                kinds.producers.insert(name, operations.collect());
            }
        }
        kinds
    }

    /// The name that the template has for a type.
    fn called<'k>(&'k self, kind: &'k str) -> &'k str {
        self.called.get(kind).map_or(kind, |name| name)
    }

    /// Whether there is a node type of this name.
    pub(super) fn has_node_type(&self, name: &str) -> bool {
        self.attributes.contains_key(self.called(name))
    }

    /// The names of all artifact types.
    pub(super) fn artifact_types(&self) -> &[String] {
        &self.artifact_types
    }

    /// Whether a type is another one or derives from it.
    pub(super) fn derives(&self, name: &str, other: &str) -> bool {
        let above = || self.above.get(self.called(name));
        name == other || above().is_some_and(|above| above.iter().any(|it| it == other))
    }

    /// The type of an attribute that nodes of this type, or one of their capabilities, have, or of
    /// the part at the end of a path, if that is known; `None` if they have none of this name.
    pub(super) fn attribute(
        &self,
        kind: &str,
        (capability, name): (Option<&str>, &str),
        path: &[Value],
    ) -> Option<&str> {
        let mut all = self.attributes.get(self.called(kind))?.iter();
        let found = all.find(|it| it.name == name && it.capability.as_deref() == capability)?;
        Some(match path {
            [] => &found.kind,
            [_] => &found.entry,
            _ => "",
        })
    }

    /// The attributes of nodes of this type whose value is this output of an operation.
    pub(super) fn taking(&self, kind: &str, operation: &str, output: &str) -> Vec<&str> {
        let taken = self.taken.get(self.called(kind)).map_or(&[][..], Vec::as_slice).iter();
        let taken = taken.filter(|[of, name, _]| *of == operation && *name == output);
        taken.map(|[.., attribute]| &**attribute).collect()
    }

    /// The artifacts that nodes of this type have.
    pub(super) fn artifacts(&self, kind: &str) -> &[NamedArtifact] {
        self.artifacts.get(self.called(kind)).map_or(&[], Vec::as_slice)
    }

    /// The operations with an implementation that nodes of this type have.
    pub(super) fn operations(&self, kind: &str) -> &[String] {
        self.producers.get(self.called(kind)).map_or(&[], Vec::as_slice)
    }
}

/// The own name of a type, where that means nothing in the template.
fn own_name<'a>(types: &Types<'a>, id: TypeId) -> Option<&'a str> {
    let definition = types.definition(id);
    types.find(definition.family, definition.name).is_none().then_some(definition.name)
}

/// The attributes of nodes of a type and of their capabilities.
fn attributes(of: &EffectiveType<'_>) -> Vec<AttributeOfKind> {
    let kinds = |capability: Option<&str>, parts: &Parts<'_, PropertyDefinition<'_>>| {
        let kind = |part: &Arc<Part<'_, PropertyDefinition<'_>>>| {
            let schema = &part.definition.schema;
            let entry = schema.entry_schema.as_ref().and_then(|entry| entry.kind?.text());
            AttributeOfKind {
                capability: capability.map(str::to_owned),
                name: part.named.name.to_owned(),
                kind: schema.kind.and_then(Node::text).unwrap_or("string").to_owned(),
                entry: entry.unwrap_or_default().to_owned(),
            }
        };
        parts.values().map(kind).collect::<Vec<_>>()
    };
    let of_capabilities = of.capabilities.values();
    let of_capabilities =
        of_capabilities.flat_map(|it| kinds(Some(it.named.name), &it.definition.attributes));
    kinds(None, &of.attributes).into_iter().chain(of_capabilities).collect()
}

/// The interface, the operation and the output of a function that asks its own node for it.
fn output_of_self(value: Node<'_>) -> Option<[String; 3]> {
    let path = value.get("get_operation_output")?;
    let mut parts = path.items().map(|part| part.text().unwrap_or_default().to_owned());
    let own = parts.next()?;
    (own == "SELF").then(|| Some([parts.next()?, parts.next()?, parts.next()?]))?
}
