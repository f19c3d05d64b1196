//! What values take from: inputs, properties and attributes, by the functions in them.

use super::{NodeIndex, RelationIndex, Topology};
use crate::text::value::Value;

/// Something that a value takes from.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum ValueSource {
    /// An input of the topology.
    Input(String),
    Property(NodeIndex, String),
    /// Any attribute of a node.
    Attributes(NodeIndex),
}

/// Whose value it is: what `SELF` and its like mean in it.
#[derive(Clone, Copy)]
pub(crate) enum ValueOwner {
    Node(NodeIndex),
    Relation(RelationIndex),
    Topology,
}

/// Names all that a value takes from.
pub(crate) fn sources(
    topology: &Topology,
    value: &Value,
    owner: ValueOwner,
    found: &mut impl FnMut(ValueSource),
) {
    match value {
        Value::List(items) => items.iter().for_each(|item| sources(topology, item, owner, found)),
        Value::Map(entries) => {
            if let [(name, arguments)] = &**entries {
                of_function(topology, (name, arguments), owner, found);
            }
            entries.iter().for_each(|(_, value)| sources(topology, value, owner, found));
        }
        _ => {}
    }
}

fn of_function(
    topology: &Topology,
    (function, arguments): (&str, &Value),
    owner: ValueOwner,
    found: &mut impl FnMut(ValueSource),
) {
    let texts: Vec<&str> = match arguments {
        Value::String(text) => vec![text],
        Value::List(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => return,
    };
    match (function, &*texts) {
        ("get_input", [name, ..]) => found(ValueSource::Input((*name).to_owned())),
        ("get_property", [entity, path @ ..]) => {
            for node in nodes(topology, entity, owner) {
                // Behind a requirement or a capability the name of the property comes next.
                path.iter().for_each(|name| found(ValueSource::Property(node, (*name).to_owned())));
                let behind = path.first().and_then(|name| target(topology, node, name));
                if let Some((node, name)) = behind.zip(path.get(1)) {
                    found(ValueSource::Property(node, (*name).to_owned()));
                }
            }
        }
        ("get_attribute", [entity, path @ ..]) => {
            for node in nodes(topology, entity, owner) {
                found(ValueSource::Attributes(node));
                let behind = path.first().and_then(|name| target(topology, node, name));
                behind.into_iter().for_each(|node| found(ValueSource::Attributes(node)));
            }
        }
        _ => {}
    }
}

/// The nodes that the first argument of a function may stand for.
fn nodes(topology: &Topology, entity: &str, owner: ValueOwner) -> Vec<NodeIndex> {
    let relation = match owner {
        ValueOwner::Relation(relation) => Some(topology.relation(relation)),
        _ => None,
    };
    let own = match owner {
        ValueOwner::Node(node) => Some(node),
        _ => relation.map(|relation| relation.source),
    };
    match entity {
        "SELF" | "SOURCE" => own.into_iter().collect(),
        "TARGET" => relation.and_then(|relation| relation.target).into_iter().collect(),
        "HOST" => {
            let host = |node: NodeIndex| topology.hosted_on(node);
            let chain = std::iter::successors(own.and_then(host), |&node| host(node));
            chain.take(topology.nodes.len()).collect()
        }
        name => topology.node_named(name).into_iter().collect(),
    }
}

/// The target of the first relation of this name.
fn target(topology: &Topology, node: NodeIndex, name: &str) -> Option<NodeIndex> {
    let mut relations = topology.node(node).relations.iter().map(|&id| topology.relation(id));
    relations.find(|relation| relation.name == name)?.target
}
