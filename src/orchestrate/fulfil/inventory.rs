//! The existing nodes that may be used.

use super::allocated::Allocations;
use super::uses::{capability_bound, capability_uses};
use crate::topology::{
    AssignedValue, NodeIndex, Spanned, Topology, TopologyCapability, TopologyNode, type_named,
};
use crate::tosca::types::Parts;
use crate::tosca::{Family, PropertyDefinition, TypeId, Types};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A list of existing nodes. It can be made of a template, an instance, or anything else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory {
    /// The nodes, in the order of their declaration.
    pub nodes: Vec<InventoryNode>,
}

/// An existing node.
#[derive(Clone, Debug, PartialEq)]
pub struct InventoryNode {
    /// Its name.
    pub name: String,
    /// Its URI, which differs from that of everything else.
    pub uri: String,
    /// The place of its declaration, such as `site.yaml:4`; `None` for nodes of instances.
    pub place: Option<String>,
    /// The names of its type and of the types that it derives from, the narrowest first.
    pub types: Vec<String>,
    /// Its properties, including defaults.
    pub properties: Vec<AssignedValue>,
    /// Its capabilities.
    pub capabilities: Vec<InventoryCapability>,
}

/// A capability of an existing node.
#[derive(Clone, Debug, PartialEq)]
pub struct InventoryCapability {
    /// Its name and its properties, including defaults.
    pub assigned: TopologyCapability,
    /// How many relations may lead to it, if that is bounded.
    pub max: Option<u64>,
    /// How many relations lead to it already.
    pub used: u64,
    /// What is left of the properties of which relations allocate something.
    pub available: Vec<AssignedValue>,
}

impl Inventory {
    /// The nodes of a topology that `is_there` accepts, with the number of relations that use them.
    pub(crate) fn of(
        topology: &Topology,
        types: &Types<'_>,
        uri: &dyn Fn(&str) -> String,
        is_there: &dyn Fn(&str) -> bool,
    ) -> Self {
        let uses = capability_uses(topology, types);
        let allocations = Allocations::of(topology, types, &uses);
        // What is left of the properties of which relations allocate something.
        let available = |id: NodeIndex, capability: &str| {
            let relations = uses.allocating(id, capability).iter();
            let named = relations.flat_map(|id| &topology.relation(*id).allocation);
            let named: BTreeMap<&str, Span> =
                named.map(|one| (&*one.name, one.value.span)).collect();
            let left = |(name, span): (&str, Span)| {
                let value = allocations.left(id, capability, name)?;
                Some(AssignedValue { name: name.to_owned(), span, value: Spanned { value, span } })
            };
            named.into_iter().filter_map(left).collect()
        };
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
                    (uses.of(id, name).unwrap_or(0), available(id, name))
                }),
            }
        };
        let there = topology.node_ids().filter(|&id| is_there(&topology.node(id).name));
        Self { nodes: there.map(node).collect() }
    }
}

/// The type of a node, if it is known.
pub(crate) fn node_type(types: &Types<'_>, node: &TopologyNode) -> Option<TypeId> {
    type_named(types, Family::Node, node.described.type_name.as_ref()?)
}

fn capabilities(
    types: &Types<'_>,
    kind: Option<TypeId>,
    node: &TopologyNode,
    used: &dyn Fn(&str) -> (u64, Vec<AssignedValue>),
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
            directives: Box::default(),
        };
        let mut assigned = own.cloned().unwrap_or(none);
        assigned.properties =
            with_defaults(&assigned.properties, Some(&part.definition.properties));
        let max = capability_bound(own, &part.definition);
        let (used, available) = used(name);
        found.push(InventoryCapability { assigned, max, used, available });
    }
    found
}

/// Assigned values, and the defaults of properties without one.
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

/// The value with this name.
pub(super) fn value_of<'v>(values: &'v [AssignedValue], name: &str) -> Option<&'v Value> {
    values.iter().find(|value| value.name == name).map(|value| &value.value.value)
}
