//! What is there already, and may be taken.

use super::uses::{capability_bound, capability_uses};
use crate::text::value::Value;
use crate::text::yaml::Node;
use crate::topology::{
    AssignedValue, NodeIndex, Spanned, Topology, TopologyCapability, TopologyNode, type_named,
};
use crate::tosca::types::Parts;
use crate::tosca::{Family, PropertyDefinition, TypeId, Types};
use rustc_hash::FxHashMap;

/// Nodes that are there already. Anybody can make one: of a template, an instance, or otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory {
    /// In the order of their declaration.
    pub nodes: Vec<InventoryNode>,
}

/// A node that is there already.
#[derive(Clone, Debug, PartialEq)]
pub struct InventoryNode {
    /// Its name.
    pub name: String,
    /// What tells it from everything else there is.
    pub uri: String,
    /// Where it is declared, such as `site.yaml:4`; nothing for nodes of instances.
    pub place: Option<String>,
    /// The names of its type and of what that derives from, the narrowest first.
    pub types: Vec<String>,
    /// Its properties, defaults among them.
    pub properties: Vec<AssignedValue>,
    /// Its capabilities.
    pub capabilities: Vec<InventoryCapability>,
}

/// A capability of a node that is there already.
#[derive(Clone, Debug, PartialEq)]
pub struct InventoryCapability {
    /// Its name and its properties, defaults among them.
    pub assigned: TopologyCapability,
    /// How many relations may lead to it, where that is bounded.
    pub max: Option<u64>,
    /// How many lead to it already.
    pub used: u64,
}

impl Inventory {
    /// The nodes of a topology that are there, each with what uses it.
    pub(crate) fn of(
        topology: &Topology,
        types: &Types<'_>,
        uri: &dyn Fn(&str) -> String,
        is_there: &dyn Fn(&str) -> bool,
    ) -> Self {
        let uses = capability_uses(topology, types);
        let node = |id: NodeIndex| {
            let node = topology.node(id);
            let kind = node_type(types, node);
            let chain = kind.into_iter().flat_map(|kind| types.chain(kind));
            let mut names: Vec<_> =
                chain.map(|kind| types.definition(kind).name.to_owned()).collect();
            if names.is_empty() {
                names.extend(node.described.type_name.iter().map(|name| name.value.clone()));
            }
            let known = kind.map(|kind| types.effective(kind));
            let properties = known.map(|known| &known.properties);
            InventoryNode {
                name: node.name.clone(),
                uri: uri(&node.name),
                place: None,
                types: names,
                properties: with_defaults(&node.described.properties, properties),
                capabilities: capabilities(types, kind, node, &|name| {
                    uses.of(id, name).unwrap_or(0)
                }),
            }
        };
        let there = topology.node_ids().filter(|&id| is_there(&topology.node(id).name));
        Self { nodes: there.map(node).collect() }
    }
}

/// The type of a node, where it is known.
pub(super) fn node_type(types: &Types<'_>, node: &TopologyNode) -> Option<TypeId> {
    type_named(types, Family::Node, node.described.type_name.as_ref()?)
}

fn capabilities(
    types: &Types<'_>,
    kind: Option<TypeId>,
    node: &TopologyNode,
    used: &dyn Fn(&str) -> u64,
) -> Vec<InventoryCapability> {
    let known = kind.map(|kind| &types.effective(kind).capabilities);
    let mut found: Vec<InventoryCapability> = Vec::new();
    for (name, part) in known.into_iter().flat_map(|known| known.iter()) {
        let own = node.capabilities.iter().find(|own| own.name == *name);
        let none = TopologyCapability {
            name: (*name).to_owned(),
            span: node.span,
            properties: Vec::new(),
            attributes: Vec::new(),
            occurrences: None,
        };
        let mut assigned = own.cloned().unwrap_or(none);
        assigned.properties =
            with_defaults(&assigned.properties, Some(&part.definition.properties));
        let max = capability_bound(own, &part.definition);
        found.push(InventoryCapability { assigned, max, used: used(name) });
    }
    found
}

/// Values, with those that properties have where nobody says them.
fn with_defaults(
    assigned: &[AssignedValue],
    definitions: Option<&Parts<'_, PropertyDefinition<'_>>>,
) -> Vec<AssignedValue> {
    let known: FxHashMap<&str, ()> =
        assigned.iter().map(|value| (value.name.as_str(), ())).collect();
    let defaults = definitions.into_iter().flat_map(|all| all.iter()).filter_map(|(name, part)| {
        let value: Node<'_> = part.definition.value.or(part.definition.default)?;
        (!known.contains_key(name)).then(|| AssignedValue {
            name: (*name).to_owned(),
            span: value.span(),
            value: Spanned { value: value.to_value(), span: value.span() },
        })
    });
    assigned.iter().cloned().chain(defaults).collect()
}

/// The value of a name among these.
pub(super) fn value_of<'v>(values: &'v [AssignedValue], name: &str) -> Option<&'v Value> {
    values.iter().find(|value| value.name == name).map(|value| &value.value.value)
}
