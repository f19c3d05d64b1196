//! Writes into assignments what types give, where that means something else in the result.

use crate::orchestrate::tree::{MapEntries, entries, key_name, rebuilt, set};
use crate::tosca::types::Parts;
use crate::tosca::{EffectiveInterface, EffectiveType, PropertyDefinition};
use cuvee_text::yaml::{NodeKind, Out, OutKey, OutNode};

/// The value to write for a definition, if that is to be written.
pub(super) type OwnValue<'o, 'a> = dyn Fn(&PropertyDefinition<'_>) -> Option<Out<'a>> + 'o;

/// Adds to a node or relationship template those values of its type that it does not assign.
pub(super) fn add_to_template<'a>(
    body: &mut MapEntries<'a>,
    kind: &EffectiveType<'_>,
    own: &OwnValue<'_, 'a>,
) {
    add_parts(body, [("properties", &kind.properties), ("attributes", &kind.attributes)], own);
    for (name, part) in kind.capabilities.iter() {
        let (properties, attributes) = (&part.definition.properties, &part.definition.attributes);
        let parts = [("properties", properties), ("attributes", attributes)];
        let is_given = |defined: &Parts<'_, PropertyDefinition<'_>>| {
            defined.values().any(|part| own(&part.definition).is_some())
        };
        if parts.iter().any(|(_, defined)| is_given(defined)) {
            within(body, "capabilities", |capabilities| {
                within(capabilities, name, |said| add_parts(said, parts, own));
            });
        }
    }
    for (name, part) in kind.interfaces.iter() {
        for (operation, said) in part.definition.operations.iter() {
            let inputs = &said.definition.inputs;
            add_inputs(body, (name, operation), (&part.definition, inputs), own);
        }
    }
}

/// Adds to an assignment of a requirement those values of properties of its relationship that it
/// does not assign, unless it names a relationship template or type.
pub(super) fn add_to_relationship<'d, 'a>(
    body: &mut MapEntries<'a>,
    properties: impl Iterator<Item = &'d PropertyDefinition<'d>>,
    own: &OwnValue<'_, 'a>,
) {
    let values = given(properties, own);
    if !values.is_empty() && !names_relationship(body) {
        within(body, "relationship", |relationship| add_values(relationship, "properties", values));
    }
}

/// Gives the relationship of an assignment a type, unless it has one.
pub(super) fn add_relationship_type(body: &mut MapEntries<'_>, name: &str) {
    if !names_relationship(body) {
        within(body, "relationship", |relationship| {
            let name = Out::String(name.to_owned().into());
            set(relationship, "type", |old| Some(old.cloned().unwrap_or(name)));
        });
    }
}

/// Whether an assignment names a relationship template or type.
fn names_relationship(body: &MapEntries<'_>) -> bool {
    body.iter().any(|(key, value)| {
        key_name(key) == "relationship" && OutNode::root(value).kind() == NodeKind::Scalar
    })
}

/// The values to write, by the names of their definitions.
fn given<'d, 'a>(
    defined: impl Iterator<Item = &'d PropertyDefinition<'d>>,
    own: &OwnValue<'_, 'a>,
) -> Vec<(&'d str, Out<'a>)> {
    defined.filter_map(|definition| Some((definition.named.name, own(definition)?))).collect()
}

fn add_parts<'a>(
    body: &mut MapEntries<'a>,
    parts: [(&str, &Parts<'_, PropertyDefinition<'_>>); 2],
    own: &OwnValue<'_, 'a>,
) {
    for (keyname, defined) in parts {
        let values = given(defined.values().map(|part| &part.definition), own);
        if !values.is_empty() {
            add_values(body, keyname, values);
        }
    }
}

/// Adds to an operation the values of its inputs, unless the operation or its interface is assigned
/// others.
fn add_inputs<'a>(
    body: &mut MapEntries<'a>,
    (interface, operation): (&str, &str),
    (defined, inputs): (&EffectiveInterface<'_>, &[PropertyDefinition<'_>]),
    own: &OwnValue<'_, 'a>,
) {
    let is_own = |name: &str| inputs.iter().any(|input| input.named.name == name);
    let shared = defined.inputs.values().map(|part| &part.definition);
    let mut all = given(shared.filter(|input| !is_own(input.named.name)).chain(inputs), own);
    if all.is_empty() {
        return;
    }
    within(body, "interfaces", |interfaces| {
        within(interfaces, interface, |interface| {
            let shared = interface.iter().find(|(key, _)| key_name(key) == "inputs");
            let shared = shared.map(|(_, inputs)| entries(inputs)).unwrap_or_default();
            all.retain(|(name, _)| shared.iter().all(|(key, _)| key_name(key) != *name));
            within(interface, "operations", |operations| {
                set(operations, operation, |said| Some(expanded(said)));
                within(operations, operation, |operation| add_values(operation, "inputs", all));
            });
        });
    });
}

/// The assignment of an operation, written in full.
fn expanded<'a>(said: Option<&Out<'a>>) -> Out<'a> {
    match said {
        Some(said) if OutNode::root(said).kind() != NodeKind::Scalar => said.clone(),
        said => {
            let said = said.filter(|said| OutNode::root(said).text().is_some());
            let implementation = said.map(|it| (OutKey::New("implementation".into()), it.clone()));
            rebuilt(None, implementation.into_iter().collect())
        }
    }
}

/// Changes the entries of a map in a map.
fn within<'a>(all: &mut MapEntries<'a>, name: &str, change: impl FnOnce(&mut MapEntries<'a>)) {
    set(all, name, |old| {
        let mut parts = old.map(entries).unwrap_or_default();
        change(&mut parts);
        Some(rebuilt(old, parts))
    });
}

/// Adds those values to a map that it does not have.
fn add_values<'a>(body: &mut MapEntries<'a>, keyname: &str, values: Vec<(&str, Out<'a>)>) {
    within(body, keyname, |assigned| {
        for (name, value) in values {
            set(assigned, name, |old| Some(old.cloned().unwrap_or(value)));
        }
    });
}
