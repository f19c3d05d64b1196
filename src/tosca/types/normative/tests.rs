use super::*;
use crate::tosca::types::is_hosting_by_name;
use crate::tosca::{Types, profile};
use std::collections::BTreeMap;
use std::fmt::Write;

const TABLE: &str = "src/tosca/types/normative/table.rs";

/// Generates the index from the profile.
fn generate() -> String {
    let definitions = profile::definitions();
    let position = |family: Family, name: &str| {
        definitions.iter().position(|it| it.family == family && it.name == name)
    };
    let mut table = format!(
        "//! The index itself, as the test beside it writes it:
//! `UPDATE_DOCS=1 cargo test --lib normative`.

use super::{{Family, NormativeType, derived, root, simple}};

/// All normative types, in the order of the profile.
pub(super) static TYPES: [NormativeType; {}] = [
",
        definitions.len()
    );
    for definition in definitions {
        let (family, name) = (definition.family, definition.name);
        let parent = definition.derived_from.and_then(|parent| parent.text());
        match parent.map(|parent| (parent, position(family, parent))) {
            None => writeln!(table, "    root({name:?}),"),
            Some((_, Some(parent))) => {
                writeln!(table, "    derived({name:?}, {parent}),")
            }
            Some((primitive, None)) => writeln!(table, "    simple({name:?}, {primitive:?}),"),
        }
        .unwrap();
    }
    table += "];

/// By family, all names of its types, sorted.
pub(super) static NAMES: [&[(&str, u16)]; Family::ALL.len()] = [
";
    for family in Family::ALL {
        let own = || definitions.iter().enumerate().filter(|(_, it)| it.family == family);
        let mut names: BTreeMap<_, _> = own().map(|(index, it)| (it.name, index)).collect();
        for (index, definition) in own() {
            for name in profile::other_names(definition.value) {
                names.entry(name).or_insert(index);
            }
        }
        writeln!(table, "    // {}", family.keyword()).unwrap();
        table += "    &[\n";
        for (name, index) in names {
            writeln!(table, "        ({name:?}, {index}),").unwrap();
        }
        table += "    ],\n";
    }
    table + "];\n"
}

#[test]
fn the_index_is_that_of_the_profile() {
    let generated = generate();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(TABLE, &generated).unwrap();
    }
    let table = std::fs::read_to_string(TABLE).unwrap();
    assert_eq!(table, generated, "`UPDATE_DOCS=1 cargo test --lib normative` writes it anew");
}

/// Checks the facts about normative types that the index does not store.
#[test]
fn normative_node_types_have_no_artifacts_and_are_not_abstract() {
    for definition in profile::definitions().iter().filter(|it| it.family == Family::Node) {
        assert!(definition.artifacts.is_empty(), "{}", definition.name);
        let metadata = definition.value.get("metadata").unwrap();
        assert!(metadata.get(crate::tosca::types::outline::ABSTRACT).is_none());
    }
}

/// Checks that the index need not store the requirements of node types.
#[test]
fn names_of_normative_requirements_tell_which_are_for_hosts() {
    let types = Types::of([profile::non_normative()]);
    let find = |name: &str| types.find(Family::Relationship, name).map(TypeRef::Defined).unwrap();
    let nodes = types.ids().filter(|id| types.definition(*id).family == Family::Node);
    let mut count = 0;
    for requirement in nodes.flat_map(|id| types.effective(id).requirements.values()) {
        if let Some(relationship) = requirement.definition.relationship {
            let relationship = find(relationship.text().unwrap());
            let is_hosting = types.derives(relationship, find("tosca.relationships.HostedOn"));
            let name = requirement.named.name;
            assert_eq!(is_hosting, is_hosting_by_name(name), "{name}");
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}
