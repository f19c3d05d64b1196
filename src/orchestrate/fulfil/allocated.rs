//! Tells what relations allocate of properties of capabilities (section 8.7.5 of TOSCA 2.0), and
//! what is left of these.

use super::inventory::{InventoryNode, node_type, value_of};
use super::slots::assigned_count;
use super::uses::CapabilityUses;
use crate::topology::{NodeIndex, Topology, TopologyRelation};
use crate::tosca::evaluate::left;
use crate::tosca::types::schemas::units;
use crate::tosca::v2_0::function::{BuiltIn, PlainText};
use crate::tosca::value::in_base_unit;
use crate::tosca::{Directive, PropertyDefinition, TypeId, Types};
use cuvee_text::value::Value;

/// What relations with a target allocate.
pub(crate) struct Allocations<'q, 't> {
    topology: &'q Topology,
    types: &'q Types<'t>,
    uses: &'q CapabilityUses<'q>,
}

/// What a relation takes more of a property than is left.
pub(crate) struct LackingRoom {
    pub property: String,
    pub amount: Value,
    pub left: Value,
}

impl LackingRoom {
    /// The same in words, for a capability.
    pub(crate) fn words(&self, capability: &str) -> String {
        let Self { property, amount, left } = self;
        format!(
            "{amount} of `{property}` is allocated of its capability `{capability}`, which has {left} left"
        )
    }
}

impl<'q, 't> Allocations<'q, 't> {
    pub(crate) fn of(
        topology: &'q Topology,
        types: &'q Types<'t>,
        uses: &'q CapabilityUses<'q>,
    ) -> Self {
        Self { topology, types, uses }
    }

    pub(crate) fn uses(&self) -> &'q CapabilityUses<'q> {
        self.uses
    }

    /// What is left of a property of a node's capability; `None` if that is not known.
    pub(crate) fn left(&self, node: NodeIndex, capability: &str, property: &str) -> Option<Value> {
        let of = self.topology.node(node);
        let definition = definition(self.types, node_type(self.types, of)?, capability, property)?;
        let own = of.capabilities.iter().find(|own| own.name == capability);
        let own = own.and_then(|own| value_of(&own.properties, property)).cloned();
        // The node that is selected has its own values, whatever the default is.
        let is_selected = of.has_directive(Directive::Select);
        let default = definition.default.filter(|_| !is_selected);
        let default = || Some(definition.value.or(default)?.to_value());
        let there = own.or_else(default)?;
        self.beside(node, capability, (property, there), definition)
    }

    /// What is left of a property of an existing node's capability, which is also this node of the
    /// topology, if it is in there.
    pub(crate) fn stored_left(
        &self,
        stored: &InventoryNode,
        (node, kind): (Option<NodeIndex>, TypeId),
        capability: &str,
        property: &str,
    ) -> Option<Value> {
        let definition = definition(self.types, kind, capability, property)?;
        let of = stored.capabilities.iter().find(|one| one.assigned.name == capability)?;
        let there = value_of(&of.available, property);
        let there = there.or_else(|| value_of(&of.assigned.properties, property))?.clone();
        match node {
            Some(node) => self.beside(node, capability, (property, there), definition),
            None => Some(there),
        }
    }

    /// What is left of an amount beside what relations to a node allocate of it.
    fn beside(
        &self,
        node: NodeIndex,
        capability: &str,
        (property, there): (&str, Value),
        definition: &PropertyDefinition<'_>,
    ) -> Option<Value> {
        let mut taken = Vec::new();
        for &id in self.uses.allocating(node, capability) {
            let relation = self.topology.relation(id);
            let Some(amount) = value_of(&relation.allocation, property) else { continue };
            let times = usize::try_from(assigned_count(relation).min.max(1)).ok()?;
            taken.extend(std::iter::repeat_n(amount.clone(), times));
        }
        left(there, taken, &units(self.types, definition))
    }
}

/// The properties of which a relation allocates something, with the amounts in their base units, at
/// a capability of a type. Amounts that are not known yet are left out.
pub(crate) fn amounts(
    types: &Types<'_>,
    kind: TypeId,
    capability: &str,
    relation: &TopologyRelation,
) -> Vec<(String, Value)> {
    let amount = |name: &str, value: &Value| {
        let amount = in_base(types, kind, (capability, name), value)?;
        matches!(amount, Value::Number(_)).then(|| (name.to_owned(), amount))
    };
    relation.allocation.iter().filter_map(|one| amount(&one.name, &one.value.value)).collect()
}

/// The first property of which a relation allocates something and that a capability does not have.
pub(super) fn unknown_property<'r>(
    types: &Types<'_>,
    kind: TypeId,
    capability: &str,
    relation: &'r TopologyRelation,
) -> Option<&'r str> {
    let defined = &types.effective(kind).capabilities.get(capability)?.definition;
    let mut names = relation.allocation.iter().map(|one| &*one.name);
    names.find(|name| !defined.is_open && !defined.properties.contains_key(name))
}

/// A value of a property of a capability in its base unit.
pub(crate) fn in_base(
    types: &Types<'_>,
    kind: TypeId,
    (capability, property): (&str, &str),
    value: &Value,
) -> Option<Value> {
    let definition = definition(types, kind, capability, property)?;
    Some(in_base_unit(value.clone(), &units(types, definition)))
}

/// The first property of which these amounts are more than what is left.
pub(crate) fn lacking(
    amounts: Vec<(String, Value)>,
    left: impl Fn(&str) -> Option<Value>,
) -> Option<LackingRoom> {
    amounts.into_iter().find_map(|(property, amount)| {
        let left = left(&property)?;
        is_more(&amount, &left).then_some(LackingRoom { property, amount, left })
    })
}

/// Whether an amount is greater than another one of the same unit.
pub(crate) fn is_more(amount: &Value, than: &Value) -> bool {
    let greater = BuiltIn::named("greater_than").and_then(|function| function.value);
    let found =
        greater.and_then(|greater| greater(&[amount.clone(), than.clone()], &PlainText).ok()?);
    found == Some(Value::Bool(true))
}

fn definition<'d>(
    types: &'d Types<'_>,
    kind: TypeId,
    capability: &str,
    property: &str,
) -> Option<&'d PropertyDefinition<'d>> {
    let capability = &types.effective(kind).capabilities.get(capability)?.definition;
    Some(&capability.properties.get(property)?.definition)
}
