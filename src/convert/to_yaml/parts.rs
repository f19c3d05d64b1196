//! Names properties: the elements and attributes of values. Those that YAML could not tell from
//! something else, or from each other, get another name.

use super::YamlConverter;
use super::added;
use super::names::unique;
use crate::convert::well_known;
use crate::tosca::function::Function;
use crate::tosca::v1_0::ComponentId;
use crate::tosca::xml_schema::{SchemaSet, ValuePart, ValueShape};
use cuvee_text::value::{Number, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// An element or attribute: whether it is an attribute, its namespace, and its name there.
type PartKey = (bool, String, String);

/// The names of properties in YAML that differ from those in XML, by the type that has them.
#[derive(Default)]
pub(super) struct PartNames {
    of: FxHashMap<ComponentId, FxHashMap<PartKey, String>>,
}

impl PartNames {
    /// The name of a property of a type.
    fn renamed(&self, id: ComponentId, part: &ValuePart<'_>) -> Option<&String> {
        self.of.get(&id)?.get(&key_of(part))
    }
}

fn key_of(part: &ValuePart<'_>) -> PartKey {
    (part.is_attribute, part.namespace.to_owned(), part.name.to_owned())
}

impl YamlConverter<'_, '_> {
    /// Names the properties of all types.
    pub(super) fn name_parts(&mut self) {
        for id in self.scope.converted.clone() {
            if self.names.get(id).is_some() {
                self.name_parts_of(id);
            }
        }
    }

    /// The name of a property that a type has, or inherits in YAML.
    pub(super) fn part_name<'p>(&self, id: ComponentId, part: &ValuePart<'p>) -> Cow<'p, str> {
        if self.part_names.of.is_empty() {
            return Cow::Borrowed(part.name);
        }
        let mut ancestry = self.library.ancestry(id);
        let renamed = ancestry.find_map(|of| self.part_names.renamed(of, part));
        renamed.map_or(Cow::Borrowed(part.name), |name| Cow::Owned(name.clone()))
    }

    /// The names of all properties that values of a type have.
    pub(super) fn names_of_parts<'p>(
        &self,
        id: ComponentId,
        parts: &[ValuePart<'p>],
    ) -> Vec<Cow<'p, str>> {
        parts.iter().map(|part| self.part_name(id, part)).collect()
    }

    /// Names the properties of a type and of its ancestors, so that what is inherited has the same
    /// name in both.
    fn name_parts_of(&mut self, id: ComponentId) {
        let own = self.own_parts(id);
        let mut seen = FxHashSet::default();
        let set = &self.schemas.set;
        let is_strange = own.iter().any(|part| {
            !seen.insert(part.name)
                || self.added.has(id, added::PROPERTIES, part.name)
                || is_call(set, part)
        });
        if !is_strange || self.part_names.of.contains_key(&id) {
            return;
        }
        let ancestors: Vec<_> = self.library.ancestry(id).skip(1).collect();
        if let Some(parent) = ancestors.first() {
            self.name_parts_of(*parent);
        }
        let (mut names, mut taken) = (FxHashMap::default(), FxHashSet::default());
        for &of in ancestors.iter().rev() {
            for part in self.own_parts(of) {
                let name = self.part_name(of, &part).into_owned();
                taken.insert(name.clone());
                names.insert(key_of(&part), name);
            }
        }
        let (elements, attributes): (Vec<_>, Vec<_>) =
            own.iter().partition(|part| !part.is_attribute);
        for part in elements.into_iter().chain(attributes) {
            if names.contains_key(&key_of(part)) {
                continue;
            }
            let is_taken = |name: &str| {
                taken.contains(name)
                    || self.added.has(id, added::PROPERTIES, name)
                    || name == part.name && is_call(set, part)
            };
            let name = unique(part.name, is_taken);
            taken.insert(name.clone());
            names.insert(key_of(part), name);
        }
        names.retain(|(_, _, local), name| local != name);
        self.part_names.of.insert(id, names);
    }
}

/// The names of the properties of a data type.
pub(super) fn names_inside<'p>(set: &SchemaSet<'_>, parts: &[ValuePart<'p>]) -> Vec<Cow<'p, str>> {
    let mut seen = FxHashSet::default();
    let is_strange = |part: &ValuePart<'p>| is_call(set, part);
    if parts.iter().all(|part| seen.insert(part.name) && !is_strange(part)) {
        return parts.iter().map(|part| Cow::Borrowed(part.name)).collect();
    }
    let plain = parts.iter().filter(|part| !part.is_attribute && !is_strange(part));
    let mut taken: FxHashSet<String> = plain.map(|part| part.name.to_owned()).collect();
    let mut settled: FxHashSet<&str> = FxHashSet::default();
    let named = parts.iter().map(|part| {
        let is_plain = !part.is_attribute && !is_strange(part) && settled.insert(part.name);
        if is_plain {
            return Cow::Borrowed(part.name);
        }
        let is_taken = |name: &str| taken.contains(name) || Function::named(name).is_some();
        let name = unique(part.name, is_taken);
        taken.insert(name.clone());
        match name == part.name {
            true => Cow::Borrowed(part.name),
            false => Cow::Owned(name),
        }
    });
    named.collect()
}

/// Whether a map with this part is, or could be taken for, the call of a function in YAML.
fn is_call(set: &SchemaSet<'_>, part: &ValuePart<'_>) -> bool {
    if Function::named(part.name).is_none() {
        return false;
    }
    let value = match set.shape(part.of) {
        _ if part.repeats => Value::List([].into()),
        ValueShape::Parts(_) => return false,
        ValueShape::Opaque => Value::from(""),
        ValueShape::Text(known, _) => match well_known::value_type(known.name).type_name {
            "integer" | "float" => Value::Number(Number::int(0)),
            "boolean" => return false,
            _ => Value::from(""),
        },
    };
    Function::called_in(&Value::Map([(part.name.into(), value)].into())).is_some()
}
