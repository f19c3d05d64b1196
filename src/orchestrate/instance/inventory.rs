//! Collects the nodes of an instance that other templates may use.

use super::model::{InstanceModel, InstanceState};
use crate::orchestrate::fulfil::Inventory;
use crate::topology::Topology;
use crate::topology::sensitive::kept_secret;
use crate::tosca::{NodeState, Types};

/// The started nodes of a model, and which nodes use them. `topology` is the model as a template.
/// Secrets are not passed on.
pub(crate) fn inventory(
    model: &InstanceModel,
    topology: &Topology,
    types: &Types<'_>,
) -> Inventory {
    let uri = |id: &str| {
        let node = model.nodes.get(id);
        node.map(|node| model.tosca_id(id, node)).unwrap_or_default()
    };
    let is_started = |id: &str| {
        let started = InstanceState::Known(NodeState::Started);
        model.nodes.get(id).is_some_and(|node| node.state == started)
    };
    let mut inventory = Inventory::of(topology, types, &uri, &is_started);
    for node in &mut inventory.nodes {
        let capabilities = node.capabilities.iter_mut().map(|one| &mut one.assigned.properties);
        for properties in capabilities.chain([&mut node.properties]) {
            properties.retain(|value| kept_secret(&value.value.value).is_none());
        }
    }
    inventory
}
