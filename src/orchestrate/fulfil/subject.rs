//! Presents nodes to filters.

use super::inventory::{InventoryNode, node_type, value_of};
use crate::topology::{AssignedValue, TopologyNode};
use crate::tosca::filter::{FilterSubject, FilteredProperty};
use crate::tosca::value::{DataTypes, Datum, PropertyDefinition};
use crate::tosca::{Family, TypeId, TypeRef, Types};
use cuvee_text::source::FileId;
use cuvee_text::yaml::Node;

/// A node with its type and values, against which filters are checked.
pub(crate) struct NodeSubject<'s, 'c> {
    types: &'s Types<'c>,
    schemas: &'s dyn DataTypes<'c>,
    kind: Option<TypeId>,
    properties: &'s [AssignedValue],
    /// The capabilities that have values.
    capabilities: Vec<(&'s str, &'s [AssignedValue])>,
}

impl<'s, 'c> NodeSubject<'s, 'c> {
    /// A node of a topology.
    pub(crate) fn of(
        types: &'s Types<'c>,
        schemas: &'s dyn DataTypes<'c>,
        node: &'s TopologyNode,
    ) -> Self {
        let capabilities = node.capabilities.iter();
        Self {
            types,
            schemas,
            kind: node_type(types, node),
            properties: &node.described.properties,
            capabilities: capabilities.map(|one| (&*one.name, &*one.properties)).collect(),
        }
    }

    /// An existing node. Its type is the narrowest of its types that is known here.
    pub(super) fn of_inventory(
        types: &'s Types<'c>,
        schemas: &'s dyn DataTypes<'c>,
        node: &'s InventoryNode,
        kind: Option<TypeId>,
    ) -> Self {
        let capabilities = node.capabilities.iter().map(|one| &one.assigned);
        Self {
            types,
            schemas,
            kind,
            properties: &node.properties,
            capabilities: capabilities.map(|one| (&*one.name, &*one.properties)).collect(),
        }
    }

    fn found<'f>(
        definition: Option<&'f PropertyDefinition<'f>>,
        assigned: &'f [AssignedValue],
        name: &str,
        is_open: bool,
    ) -> FilteredProperty<'f> {
        let value = value_of(assigned, name);
        match (definition, value) {
            (Some(definition), Some(value)) => {
                FilteredProperty::Defined(definition, Some(Datum::Value(value)))
            }
            (Some(definition), None) => {
                let otherwise = definition.value.or(definition.default);
                FilteredProperty::Defined(definition, otherwise.map(Datum::Node))
            }
            (None, Some(value)) => FilteredProperty::Untyped(value),
            (None, None) if is_open => FilteredProperty::Unknown,
            (None, None) => FilteredProperty::Missing,
        }
    }
}

impl<'c> FilterSubject<'c> for NodeSubject<'_, 'c> {
    fn property(&self, capability: Option<&str>, name: &str) -> FilteredProperty<'_> {
        let effective = self.kind.map(|kind| self.types.effective(kind));
        let Some(capability) = capability else {
            let part = effective.and_then(|effective| effective.properties.get(name));
            let is_open = effective.is_some_and(|effective| effective.is_open);
            return Self::found(part.map(|part| &part.definition), self.properties, name, is_open);
        };
        let own = self.capabilities.iter().find(|(own, _)| *own == capability);
        let own = own.map_or(&[][..], |(_, values)| values);
        let known = effective.and_then(|effective| effective.capabilities.get(capability));
        let part = known.and_then(|known| known.definition.properties.get(name));
        let is_open = known.is_some_and(|known| known.definition.is_open);
        Self::found(part.map(|part| &part.definition), own, name, is_open)
    }

    fn capabilities(&self, key: Node<'_>) -> Vec<&str> {
        let wanted = key.text().unwrap_or_default();
        let effective = self.kind.map(|kind| &self.types.effective(kind).capabilities);
        let known = effective.and_then(|known| known.get_key_value(wanted));
        let own = || self.capabilities.iter().find(|(name, _)| *name == wanted);
        if let Some(name) = known.map(|(name, _)| *name).or_else(|| own().map(|(name, _)| *name)) {
            return vec![name];
        }
        let file = key.span().file;
        let file = (file != FileId::DETACHED).then_some(file);
        let Some(kind) = self.types.find_in(file, Family::Capability, wanted) else {
            return Vec::new();
        };
        let is_one = |named: Option<Node<'_>>| {
            let named = named.and_then(|named| {
                let file = Some(named.span().file);
                self.types.find_in(file, Family::Capability, named.text()?)
            });
            named.is_some_and(|own| {
                self.types.may_derive(TypeRef::Defined(own), TypeRef::Defined(kind))
            })
        };
        let all = effective.into_iter().flat_map(|all| all.iter());
        all.filter(|(_, part)| is_one(part.definition.kind)).map(|(name, _)| *name).collect()
    }

    fn data_types(&self) -> &dyn DataTypes<'c> {
        self.schemas
    }
}
