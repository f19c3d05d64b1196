//! Supplies the types of version 1.3 that a document of version 2.0 uses, and recognises them.

use super::to_2_0::RELATIONSHIP;
use super::{Converter, NeededType, TargetVersion, VersionContext, text, value_of};
use crate::tosca::Family;
use crate::tosca::types::{HOSTED_BY_NAME, Refusals, Types, profile};
use crate::tosca::v2_0;
use crate::tosca::v2_0::grammar::{self, ElementGrammar};
use crate::tosca::value::{Dimension, Primitive, units};
use cuvee_text::value::{Number, Value};
use cuvee_text::yaml::{Document, Node, Out, OutKey, write_yaml};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, OnceLock};

/// The metadata that only say which names the profile has for a type.
const OF_PROFILE: [&str; 4] = ["shorthand", "qualified", "aliases", "section"];

/// What the supplied file says of itself.
const DESCRIPTION: &str = "The types of TOSCA Simple Profile 1.3 that other files here use.";

/// What the type says for which requirements have by their names in version 1.3.
const BY_NAME: &str = "The target hosts the source, as the name of the requirement says.";

/// Types by their names.
type TypesByName = Vec<(String, Value)>;

/// The types of version 1.3.
pub(super) fn built_in() -> &'static Types<'static> {
    static TYPES: OnceLock<Types<'static>> = OnceLock::new();
    TYPES.get_or_init(|| Types::of([profile::normative()]))
}

/// The definitions of these types, and of all that they name, by sections of a file.
pub(super) fn sections(
    types: &Types<'_>,
    needed: &[NeededType],
) -> Vec<(&'static str, TypesByName)> {
    let mut open = needed.to_vec();
    let mut done: Vec<(NeededType, Value)> = Vec::new();
    while let Some((family, name)) = open.pop() {
        let is_own = types
            .find(family, &name)
            .is_some_and(|id| !profile::is_built_in(types.definition(id).value.document().file()));
        if is_own || done.iter().any(|((of, known), _)| *of == family && *known == name) {
            continue;
        }
        let Some((value, more)) = definition(family, &name) else { continue };
        open.extend(more);
        done.push(((family, name), value));
    }
    let of = |family: Family| {
        let mut types: TypesByName = done
            .iter()
            .filter(|((of, _), _)| *of == family)
            .map(|((_, name), value)| (name.clone(), value.clone()))
            .collect();
        types.sort_by(|(one, _), (other, _)| one.cmp(other));
        (family.keyword(), types)
    };
    Family::ALL.into_iter().map(of).filter(|(_, types)| !types.is_empty()).collect()
}

/// A file with the definitions of these types.
pub(crate) fn supplied_document(types: &Types<'_>, needed: &[NeededType]) -> String {
    let key = |name: &'static str| OutKey::New(name.into());
    let mut entries = vec![
        (key("tosca_definitions_version"), text(v2_0::VERSION)),
        (key("description"), text(DESCRIPTION)),
    ];
    for (section, types) in sections(types, needed) {
        let types = types.into_iter().map(|(name, value)| (name.into(), value));
        entries.push((key(section), Out::Value(Value::Map(types.collect()))));
    }
    write_yaml(&Out::Map { entries: entries.into(), like: None })
}

/// Whether a document of version 2.0 has nothing but supplied types.
pub(crate) fn is_supplied_file(document: &Document) -> bool {
    let mut has_types = false;
    document.root().entries().all(|(key, value)| {
        let name = key.text().unwrap_or_default();
        match Family::of_keyword(name) {
            Some(family) => value.entries().all(|(key, body)| {
                has_types = true;
                is_definition(family, key.text().unwrap_or_default(), body)
            }),
            None => matches!(name, "tosca_definitions_version" | "description"),
        }
    }) && has_types
}

/// Whether this is what is supplied for a type.
pub(super) fn is_definition(family: Family, name: &str, body: Node<'_>) -> bool {
    let Some((value, _)) = definition(family, name) else { return false };
    // What is read of version 2.0 has other keys than what is written.
    let types = Out::Map {
        entries: vec![(OutKey::New(name.into()), Out::Value(value))].into(),
        like: None,
    };
    let entries = vec![
        (OutKey::New("tosca_definitions_version".into()), text(v2_0::VERSION)),
        (OutKey::New(family.keyword().into()), types),
    ];
    let written = write_yaml(&Out::Map { entries: entries.into(), like: None });
    let read = v2_0::parsed(written);
    read.is_ok_and(|document| {
        let own = document.root().get(family.keyword()).and_then(|types| types.get(name));
        own.is_some_and(|own| own.to_value() == body.to_value())
    })
}

/// The definition that is supplied for a type of version 1.3, and the types that it names.
fn definition(family: Family, name: &str) -> Option<(Value, Vec<NeededType>)> {
    let primitive = Primitive::from_name(name).filter(|_| family == Family::Data);
    if let Some(primitive) = primitive {
        return Some((primitive_definition(primitive)?, Vec::new()));
    }
    if (family, name) == (Family::Relationship, HOSTED_BY_NAME) {
        let entries = [("derived_from", RELATIONSHIP), ("description", BY_NAME)];
        let entries = entries.map(|(key, value)| (key.into(), value.into()));
        return Some((Value::Map(entries.into()), vec![(family, RELATIONSHIP.to_owned())]));
    }
    let profiles = [profile::normative(), profile::non_normative()];
    let (document, (key, body)) = profiles.into_iter().find_map(|document| {
        let mut types = document.root().get(family.keyword())?.entries();
        Some((document, types.find(|(key, _)| key.text() == Some(name))?))
    })?;
    let context = VersionContext {
        types: built_in(),
        renamed: &FxHashMap::default(),
        refusals: &Refusals::default(),
        bringing: &FxHashSet::default(),
        is_word: |_| false,
        is_wrapped: |_| false,
        is_expression: |_| false,
        extended: "",
        options: |_, _| Vec::new(),
        mark: "",
        beside: None,
        imported: &|_| None,
        path_to: &|_| None,
        leaving: &FxHashSet::default(),
    };
    let mut converter = Converter::new(document.root(), TargetVersion::Two, &context);
    converter.name = key.text().unwrap_or_default();
    let mut value = value_of(&converter.element(body, entity_of(family)));
    drop_names(&mut value);
    Some((value, converter.needed))
}

/// Leaves out the names that the profile has for a type.
fn drop_names(value: &mut Value) {
    let Value::Map(entries) = value else { return };
    let kept = entries.iter().filter_map(|(key, value)| match value {
        Value::Map(metadata) if &**key == "metadata" => {
            let metadata = metadata.iter().filter(|(key, _)| !OF_PROFILE.contains(&&**key));
            let metadata: Arc<[_]> = metadata.cloned().collect();
            (!metadata.is_empty()).then(|| (Arc::clone(key), Value::Map(metadata)))
        }
        _ => Some((Arc::clone(key), value.clone())),
    });
    *value = Value::Map(kept.collect());
}

/// The definition of a type that is built in only in version 1.3.
fn primitive_definition(primitive: Primitive) -> Option<Value> {
    let map = |entries: Vec<(&str, Value)>| {
        Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    };
    match primitive {
        Primitive::Range => Some(map(vec![
            ("derived_from", "list".into()),
            ("description", "A lower and an upper bound.".into()),
            ("entry_schema", "integer".into()),
        ])),
        Primitive::ScalarUnit(dimension) => Some(map(vec![
            ("derived_from", "scalar-unit".into()),
            ("data_value_type", "float".into()),
            ("unit_symbol_map", unit_symbols(dimension)),
        ])),
        _ => None,
    }
}

/// The units of a dimension with their size in its base unit. Version 1.3 does not tell capital
/// letters from others where that leaves no doubt.
fn unit_symbols(dimension: Dimension) -> Value {
    let mut symbols: Vec<(Arc<str>, Value)> = Vec::new();
    let all = units(dimension);
    let spellings = all.iter().map(|(unit, size)| ((*unit).to_owned(), *size));
    let other = all
        .iter()
        .flat_map(|(unit, size)| [(unit.to_lowercase(), *size), (unit.to_uppercase(), *size)]);
    let other = other.filter(|_| dimension != Dimension::Bitrate);
    for (unit, size) in spellings.chain(other) {
        if !symbols.iter().any(|(known, _)| **known == *unit) {
            symbols.push((unit.into(), Value::Number(multiplier(dimension, size))));
        }
    }
    Value::Map(symbols.into())
}

/// The size of a unit in the base unit; sizes in time are given in nanoseconds.
fn multiplier(dimension: Dimension, size: u64) -> Number {
    const SECOND: u64 = 1_000_000_000;
    if dimension != Dimension::Time || size.is_multiple_of(SECOND) {
        let size = if dimension == Dimension::Time { size / SECOND } else { size };
        return Number::int(i64::try_from(size).unwrap_or(i64::MAX));
    }
    let written = match size {
        1_000_000 => "0.001",
        1_000 => "0.000001",
        _ => "0.000000001",
    };
    Number::float(size as f64 / SECOND as f64).with_text(written)
}

/// The grammar of the types of a family.
fn entity_of(family: Family) -> &'static ElementGrammar {
    match family {
        Family::Data => &grammar::DATA_TYPE,
        Family::Artifact => &grammar::ARTIFACT_TYPE,
        Family::Capability => &grammar::CAPABILITY_TYPE,
        Family::Relationship => &grammar::RELATIONSHIP_TYPE,
        Family::Interface => &grammar::INTERFACE_TYPE,
        Family::Node => &grammar::NODE_TYPE,
        Family::Group => &grammar::GROUP_TYPE,
        Family::Policy => &grammar::POLICY_TYPE,
    }
}

impl<'a> Converter<'_, 'a> {
    /// Whether an element defines a type as the other direction supplies it.
    pub(super) fn is_supplied(&self, body: Node<'a>, entity: &ElementGrammar) -> bool {
        let [family] = super::family_of(entity) else { return false };
        is_definition(*family, self.name, body)
    }
}
