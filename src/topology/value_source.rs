//! Finds the inputs, properties and attributes that a value is computed from, by its functions.

use super::{NodeIndex, RelationIndex, Topology, TopologyElement};
use crate::tosca::function::Function;
use cuvee_text::value::Value;

/// A source that a value is computed from.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum ValueSource {
    /// An input of the topology.
    Input(String),
    Property(NodeIndex, String),
    /// Any attribute of a node.
    Attributes(NodeIndex),
}

/// The owner of a value, which determines what `SELF` and similar keywords mean in it.
#[derive(Clone, Copy)]
pub(crate) enum ValueOwner {
    Node(NodeIndex),
    Relation(RelationIndex),
    Topology,
}

impl ValueOwner {
    /// The owner as an element, if it is one.
    pub(crate) fn element(self) -> Option<TopologyElement> {
        match self {
            Self::Node(node) => Some(TopologyElement::Node(node)),
            Self::Relation(relation) => Some(TopologyElement::Relation(relation)),
            Self::Topology => None,
        }
    }
}

/// Reports every source that a value is computed from.
pub(crate) fn sources(
    topology: &Topology,
    value: &Value,
    owner: ValueOwner,
    found: &mut impl FnMut(ValueSource),
) {
    functions(value, &mut |name, arguments| {
        of_function(topology, (name, arguments), owner, found);
    });
}

/// Reports every input that a value refers to, of the topology or of a workflow.
pub(crate) fn inputs<'v>(value: &'v Value, found: &mut impl FnMut(&'v str)) {
    functions(value, &mut |name, arguments| {
        if let Some((input, _)) = input((name, arguments)) {
            found(input);
        }
    });
}

/// The input that a function refers to, and the path into its value: `get_input: NAME` or
/// `get_input: [NAME, NAME_OR_INDEX, …]`.
pub(crate) fn input<'v>(
    (function, arguments): (&str, &'v Value),
) -> Option<(&'v str, &'v [Value])> {
    let (name, path) = match arguments {
        Value::List(items) => items.split_first()?,
        name => (name, Default::default()),
    };
    Some((name.as_str().filter(|_| function == "get_input")?, path))
}

/// The part of a value with this name or position.
pub(crate) fn part<'v>(value: &'v Value, step: &Value) -> Option<&'v Value> {
    match (value, step) {
        (Value::Map(entries), Value::String(name)) => {
            entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
        }
        (Value::List(items), Value::Number(position)) => {
            items.get(usize::try_from(position.as_int()?).ok()?)
        }
        _ => None,
    }
}

/// Whether a value calls this function.
pub(crate) fn calls(value: &Value, function: Function) -> bool {
    let mut is_called = false;
    functions(value, &mut |name, _| is_called |= name == function.name());
    is_called
}

/// Visits everything that may be a function: each map with one entry.
fn functions<'v>(value: &'v Value, found: &mut impl FnMut(&'v str, &'v Value)) {
    match value {
        Value::List(items) => items.iter().for_each(|item| functions(item, found)),
        Value::Map(entries) => {
            if let [(name, arguments)] = &**entries {
                // Calls that version 1.3 does not have keep their sign.
                found(name.strip_prefix('$').unwrap_or(name), arguments);
            }
            entries.iter().for_each(|(_, value)| functions(value, found));
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
    if let Some((name, _)) = input((function, arguments)) {
        return found(ValueSource::Input(name.to_owned()));
    }
    let texts: Vec<&str> = match arguments {
        Value::String(text) => vec![text],
        Value::List(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => return,
    };
    match (function, &*texts) {
        ("get_property", [entity, path @ ..]) => {
            for node in nodes(topology, entity, owner) {
                // After the name of a requirement or a capability comes the name of the property.
                path.iter().for_each(|name| found(ValueSource::Property(node, (*name).to_owned())));
                let name = match path {
                    ["RELATIONSHIP", .., name] | [_, name, ..] => name,
                    _ => continue,
                };
                for node in behind(topology, node, path) {
                    found(ValueSource::Property(node, (*name).to_owned()));
                }
            }
        }
        ("get_attribute", [entity, path @ ..]) => {
            for node in nodes(topology, entity, owner) {
                found(ValueSource::Attributes(node));
                let behind = behind(topology, node, path);
                behind.into_iter().for_each(|node| found(ValueSource::Attributes(node)));
            }
        }
        _ => {}
    }
}

/// The nodes that the first argument of a function may refer to.
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

/// The nodes that a path of names leads to over relations. In version 1.3 that is the target of the
/// first relation of a name; a path of TOSCA 2.0 may lead to all of them, and further.
fn behind(topology: &Topology, node: NodeIndex, path: &[&str]) -> Vec<NodeIndex> {
    let targets = |node: NodeIndex, name: &str| {
        let relations = topology.node(node).relations.iter().map(|&id| topology.relation(id));
        let named = relations.filter(|relation| relation.name == name);
        named.filter_map(|relation| relation.target).collect::<Vec<_>>()
    };
    if let Some(name) = path.first().filter(|word| **word != "RELATIONSHIP") {
        return targets(node, name).into_iter().take(1).collect();
    }
    let (mut all, mut ends) = (Vec::new(), vec![node]);
    for step in path.windows(2).filter(|step| step[0] == "RELATIONSHIP") {
        ends = ends.into_iter().flat_map(|node| targets(node, step[1])).collect();
        all.extend_from_slice(&ends);
    }
    all
}
