//! What steps act on, as plans name it.

use super::build::PlanBuilder;
use super::model::{InstanceCount, PlanElement, PlanElementIndex, PlanElementKind};
use crate::text::value::Value;
use crate::topology::{GroupIndex, NodeIndex, RelationIndex, Topology, TopologyNode};

/// A node of a topology.
pub(super) fn node(
    builder: &mut PlanBuilder,
    topology: &Topology,
    id: NodeIndex,
) -> PlanElementIndex {
    let node = topology.node(id);
    let name = (topology.node_identifier(id), node.name.clone());
    builder.element(name, |(identifier, name)| PlanElement {
        identifier,
        name,
        kind: PlanElementKind::Node,
        span: node.span,
        count: count(node),
    })
}

/// A relation of a topology.
pub(super) fn relation(
    builder: &mut PlanBuilder,
    topology: &Topology,
    id: RelationIndex,
) -> PlanElementIndex {
    let relation = topology.relation(id);
    let name = |node: NodeIndex| &*topology.node(node).name;
    let name = format!("{} -> {}", name(relation.source), relation.target.map_or("?", name));
    // In two variants relations to different targets may stand at one place.
    builder.element((topology.relation_identifier(id), name), |(identifier, name)| PlanElement {
        identifier,
        name,
        kind: PlanElementKind::Relation {
            requirement: relation.name.clone(),
            source: topology.node(relation.source).name.clone(),
        },
        span: relation.span,
        count: InstanceCount::One,
    })
}

/// A group of a topology.
pub(super) fn group(
    builder: &mut PlanBuilder,
    topology: &Topology,
    id: GroupIndex,
) -> PlanElementIndex {
    let group = topology.group(id);
    let name = (format!("group.{}", group.name), group.name.clone());
    builder.element(name, |(identifier, name)| PlanElement {
        identifier,
        name,
        kind: PlanElementKind::Group,
        span: group.span,
        count: InstanceCount::One,
    })
}

/// Statement D11: how many instances a node has.
fn count(node: &TopologyNode) -> InstanceCount {
    let scalable = node.capabilities.iter().flat_map(|capability| &capability.properties);
    let default = scalable
        .filter(|property| property.name == "default_instances")
        .map(|property| &property.value.value)
        .next();
    let least = node.occurrences.as_ref().map(|occurrences| match &occurrences.value {
        Value::List(bounds) => bounds.first().cloned().unwrap_or(Value::Null),
        other => other.clone(),
    });
    let said =
        node.instance_count.as_ref().map(|count| &count.value).or(default).or(least.as_ref());
    match said {
        None | Some(Value::Null) => InstanceCount::One,
        Some(Value::Number(number)) => {
            match number.as_int().and_then(|count| count.try_into().ok()) {
                Some(1) | None => InstanceCount::One,
                Some(count) => InstanceCount::Known(count),
            }
        }
        Some(_) => InstanceCount::Open,
    }
}
