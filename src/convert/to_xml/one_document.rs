//! Merges a template and the types that it imports into one document. There are no prefixes there
//! by which files refer to the types of others, and types of the same name get the names that
//! reading back gives them.

use super::XmlConverter;
use super::said::entries;
use crate::tosca::{Family, TypeId, profile};
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The names of types in a single document, where they differ from those in their files.
pub(super) struct TypesInOne<'c, 's, 't> {
    converter: &'c XmlConverter<'s, 't>,
    names: FxHashMap<TypeId, String>,
}

/// The meaning of type names in a part of the document.
#[derive(Clone, Copy, Default)]
struct NamedThere {
    /// The family of the type that this part defines, if it is a type; its `derived_from` is of
    /// this family.
    defines: Option<Family>,
    /// The family of the keyname `type`.
    kind: Option<Family>,
    /// The family of a text that replaces the whole map.
    short: Option<Family>,
    /// Whether the part is a requirement.
    is_requirement: bool,
}

impl NamedThere {
    fn of(kind: Family) -> Self {
        Self { kind: Some(kind), ..Self::default() }
    }

    /// The same context where a text may replace the whole map.
    fn or_short(self) -> Self {
        Self { short: self.kind, ..self }
    }
}

impl<'c, 's, 't> TypesInOne<'c, 's, 't> {
    pub(super) fn of(converter: &'c XmlConverter<'s, 't>) -> Self {
        let types = converter.variant.types;
        let own = types.ids().filter(|id| {
            let definition = types.definition(*id);
            !profile::is_built_in(definition.key.span().file)
        });
        let mut alike: FxHashMap<(&str, &str), Vec<TypeId>> = FxHashMap::default();
        for id in own {
            let definition = types.definition(id);
            alike.entry((definition.family.keyword(), definition.name)).or_default().push(id);
        }
        let mut names = FxHashMap::default();
        for ids in alike.into_values().filter(|ids| ids.len() > 1) {
            for (number, id) in ids.into_iter().enumerate() {
                names.insert(id, converter.name_in_one(id, number));
            }
        }
        Self { converter, names }
    }

    /// The name of a type.
    pub(super) fn name(&self, id: TypeId) -> &str {
        let known = self.names.get(&id).map(String::as_str);
        known.unwrap_or(self.converter.variant.types.definition(id).name)
    }

    /// A template with the new names of types.
    pub(super) fn document(&self, said: &Value, file: FileId) -> Value {
        self.within(said, file, NamedThere::default())
    }

    /// A type with the new names of types.
    pub(super) fn definition(&self, said: &Value, file: FileId, family: Family) -> Value {
        self.within(said, file, NamedThere { defines: Some(family), ..NamedThere::default() })
    }

    fn within(&self, said: &Value, file: FileId, there: NamedThere) -> Value {
        match said {
            Value::Map(all) => {
                let of = |(key, value): &(Arc<str>, Value)| {
                    (Arc::clone(key), self.entry(key, value, file, there))
                };
                unless_same(said, Value::Map(all.iter().map(of).collect()))
            }
            Value::String(_) if there.short.is_some() => self.renamed(said, file, there.short),
            other => other.clone(),
        }
    }

    /// The value of a key of a map, with the new names.
    fn entry(&self, key: &str, value: &Value, file: FileId, there: NamedThere) -> Value {
        let is_type = there.defines.is_some();
        let defines = |kind: Family| match is_type {
            true => NamedThere::of(kind).or_short(),
            false => NamedThere::of(kind),
        };
        if let Some(family) = Family::of_keyword(key) {
            let types = NamedThere { defines: Some(family), ..NamedThere::default() };
            return self.each(value, file, types);
        }
        match key {
            "topology_template" | "substitution_mappings" => {
                self.within(value, file, NamedThere::default())
            }
            "derived_from" => self.renamed(value, file, there.defines),
            "type" => self.renamed(value, file, there.kind),
            "node_type" => self.renamed(value, file, Some(Family::Node)),
            "node" if there.is_requirement => self.renamed(value, file, Some(Family::Node)),
            "capability" if there.is_requirement => {
                self.renamed(value, file, Some(Family::Capability))
            }
            "relationship" if there.is_requirement => {
                self.within(value, file, NamedThere::of(Family::Relationship).or_short())
            }
            "node_templates" => self.each(value, file, NamedThere::of(Family::Node)),
            "relationship_templates" => {
                self.each(value, file, NamedThere::of(Family::Relationship))
            }
            "groups" => self.each(value, file, NamedThere::of(Family::Group)),
            "policies" => self.each(value, file, NamedThere::of(Family::Policy)),
            // In a type these are definitions, elsewhere values.
            "properties" | "attributes" if is_type || there.short == Some(Family::Capability) => {
                self.each(value, file, NamedThere::of(Family::Data).or_short())
            }
            "inputs" if there.kind.is_none() => {
                self.each(value, file, NamedThere::of(Family::Data).or_short())
            }
            "entry_schema" | "key_schema" => {
                self.within(value, file, NamedThere::of(Family::Data).or_short())
            }
            "capabilities" => self.each(value, file, defines(Family::Capability)),
            "requirements" => {
                let short = is_type.then_some(Family::Capability);
                let there = NamedThere { is_requirement: true, short, ..NamedThere::default() };
                self.each(value, file, there)
            }
            "interfaces" => self.each(value, file, NamedThere::of(Family::Interface)),
            "artifacts" => self.each(value, file, NamedThere::of(Family::Artifact)),
            "members" | "targets" if is_type => self.all(value, file, Family::Node),
            "valid_source_types" => self.all(value, file, Family::Node),
            "valid_target_types" => self.all(value, file, Family::Capability),
            "operations" => self.each(value, file, NamedThere::default()),
            "implementation" | "primary" => {
                self.within(value, file, NamedThere::of(Family::Artifact))
            }
            _ if there.kind == Some(Family::Interface) => {
                self.within(value, file, NamedThere::default())
            }
            _ => value.clone(),
        }
    }

    /// The entries of a map, or of a list of maps, with the new names.
    fn each(&self, value: &Value, file: FileId, there: NamedThere) -> Value {
        let of =
            |(key, value): &(Arc<str>, Value)| (Arc::clone(key), self.within(value, file, there));
        let map = |value: &Value| unless_same(value, Value::Map(entries(value).map(of).collect()));
        match value {
            Value::Map(_) => map(value),
            Value::List(items) => {
                let item = |item: &Value| match item {
                    Value::Map(_) => map(item),
                    other => other.clone(),
                };
                unless_same(value, Value::List(items.iter().map(item).collect()))
            }
            other => other.clone(),
        }
    }

    fn all(&self, value: &Value, file: FileId, family: Family) -> Value {
        let Value::List(items) = value else { return value.clone() };
        Value::List(items.iter().map(|item| self.renamed(item, file, Some(family))).collect())
    }

    /// The new name, if the value is the name of a type.
    fn renamed(&self, value: &Value, file: FileId, family: Option<Family>) -> Value {
        let types = self.converter.variant.types;
        let (Value::String(name), Some(family)) = (value, family) else { return value.clone() };
        let found = types.find_in(Some(file), family, name);
        let own = found.filter(|id| !profile::is_built_in(types.definition(*id).key.span().file));
        let other = own.map(|id| self.name(id)).filter(|other| *other != &**name);
        other.map_or_else(|| value.clone(), Value::from)
    }
}

/// A value with other parts: the former value where they are all the same, so that its memory is shared.
fn unless_same(was: &Value, is: Value) -> Value {
    let same = match (was, &is) {
        (Value::Map(was), Value::Map(is)) => {
            was.iter().zip(&**is).all(|((_, was), (_, is))| is_shared(was, is))
        }
        (Value::List(was), Value::List(is)) => {
            was.iter().zip(&**is).all(|(was, is)| is_shared(was, is))
        }
        _ => false,
    };
    if same { was.clone() } else { is }
}

/// Whether a value is a clone of another one.
fn is_shared(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => Arc::ptr_eq(one, other),
        (Value::List(one), Value::List(other)) => Arc::ptr_eq(one, other),
        (Value::Map(one), Value::Map(other)) => Arc::ptr_eq(one, other),
        _ => matches!(one, Value::Null | Value::Bool(_) | Value::Number(_)),
    }
}
