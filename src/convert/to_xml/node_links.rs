//! Finds the requirements and capabilities that stand for relationships from node to node, which
//! exist in TOSCA 1.0 alone. Only templates made from definitions have them, and they are not
//! converted back.

use super::XmlConverter;
use crate::convert::well_known;
use crate::topology::{AssignedValue, NodeIndex, RelationIndex};
use crate::tosca::{Family, TypeId, profile};
use cuvee_text::value::Value;
use rustc_hash::FxHashSet;

/// The requirements and capabilities that only express relationships from node to node, each with
/// the type that defines it.
#[derive(Debug, Default)]
pub(super) struct NodeLinks {
    requirements: FxHashSet<(TypeId, String)>,
    capabilities: FxHashSet<(TypeId, String)>,
}

impl XmlConverter<'_, '_> {
    /// Finds the requirements and capabilities for relationships from node to node that have no
    /// other use. Capabilities of definitions have occurrences, so a capability without them was
    /// not in the definitions.
    pub(super) fn find_node_links(&mut self) {
        let types = self.variant.types;
        let own = types.ids().map(|id| (id, types.definition(id))).filter(|(_, definition)| {
            definition.family == Family::Node && !profile::is_built_in(definition.key.span().file)
        });
        let mut links = NodeLinks::default();
        for (id, definition) in own {
            let names = self.metadata_text(id, "node_to_node").unwrap_or_default();
            let names: FxHashSet<_> = names.split(", ").collect();
            let generated = definition.requirements.iter().filter(|it| {
                let is_any =
                    it.occurrences.as_ref().is_some_and(|it| (it.min, it.max) == (0, None));
                let says_more =
                    it.description.or(it.node).or(it.node_filters.first().copied()).is_some();
                names.contains(it.named.name) && is_any && !says_more && it.interfaces.is_empty()
            });
            links.requirements.extend(generated.map(|it| (id, it.named.name.to_owned())));
            let generated = definition.capabilities.iter().filter(|it| {
                let is_wanted =
                    it.kind.and_then(|kind| kind.text()).is_some_and(well_known::is_wanted);
                let says_more = it.description.is_some() || it.valid_source_types.is_some();
                let has_parts = !it.properties.is_empty() || !it.attributes.is_empty();
                self.were_definitions
                    && is_wanted
                    && it.occurrences.is_none()
                    && !says_more
                    && !has_parts
            });
            links.capabilities.extend(generated.map(|it| (id, it.named.name.to_owned())));
        }
        self.links = links;
        if !self.links.requirements.is_empty() || !self.links.capabilities.is_empty() {
            self.forget_used_links();
        }
    }

    /// Removes requirements and capabilities that definitions of TOSCA 1.0 use as well.
    fn forget_used_links(&mut self) {
        let topology = self.variant.topology;
        let mapped = topology.substitution.iter();
        for it in mapped.clone().flat_map(|it| &it.requirements) {
            let used = self.end_of(it).and_then(|(node, name)| self.requirement_owner(node, name));
            used.map(|used| self.links.requirements.remove(&used));
        }
        let mut used: Vec<_> = mapped
            .flat_map(|it| &it.capabilities)
            .filter_map(|it| self.end_of(it).map(|(node, name)| (node, name.to_owned())))
            .collect();
        for id in topology.relation_ids().filter(|id| !self.is_node_link(*id)) {
            let target = topology.relation(id).target;
            used.extend(target.and_then(|node| Some((node, self.capability_to(id, node)?))));
        }
        for (at, node) in topology.nodes.iter().enumerate() {
            used.extend(node.capabilities.iter().map(|it| (NodeIndex::new(at), it.name.clone())));
        }
        for (node, name) in used {
            let used = self.capability_owner(node, &name);
            used.map(|used| self.links.capabilities.remove(&used));
        }
    }

    /// The node and the name in a substitution mapping: `[node, name]`.
    fn end_of<'v>(&self, mapped: &'v AssignedValue) -> Option<(NodeIndex, &'v str)> {
        let Value::List(items) = &mapped.value.value else { return None };
        let [Value::String(node), Value::String(name)] = &**items else { return None };
        Some((*self.named.nodes.get(&**node)?, name))
    }

    fn requirement_owner(&self, node: NodeIndex, name: &str) -> Option<(TypeId, String)> {
        let effective = self.variant.types.effective(self.type_of(node)?);
        Some((effective.requirements.get(name)?.owner, name.to_owned()))
    }

    fn capability_owner(&self, node: NodeIndex, name: &str) -> Option<(TypeId, String)> {
        let effective = self.variant.types.effective(self.type_of(node)?);
        Some((effective.capabilities.get(name)?.owner, name.to_owned()))
    }

    /// Whether a requirement of a type exists only for relationships from node to node.
    pub(super) fn is_requirement_link(&self, id: TypeId, name: &str) -> bool {
        self.links.requirements.contains(&(id, name.to_owned()))
    }

    /// Whether a capability of a type exists only for relationships from node to node.
    pub(super) fn is_capability_link(&self, id: TypeId, name: &str) -> bool {
        self.links.capabilities.contains(&(id, name.to_owned()))
    }

    /// Whether the source of a relation is a node itself rather than its requirement.
    pub(super) fn is_node_link(&self, id: RelationIndex) -> bool {
        let relation = self.variant.topology.relation(id);
        !self.links.requirements.is_empty()
            && relation.target.is_some()
            && self
                .requirement_owner(relation.source, &relation.name)
                .is_some_and(|of| self.links.requirements.contains(&of))
    }

    /// The capability that such a relation leads to, unless it leads to the node itself.
    pub(super) fn linked_capability(&self, id: RelationIndex, target: NodeIndex) -> Option<String> {
        self.variant.topology.relation(id).capability.as_ref()?;
        let name = self.capability_to(id, target)?;
        let owner = self.capability_owner(target, &name)?;
        (!self.links.capabilities.contains(&owner)).then_some(name)
    }
}
