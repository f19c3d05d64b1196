//! Makes the elements that steps act on.

use super::behavior::Behaviors;
use super::build::PlanBuilder;
use super::model::{InstanceCount, PlanElement, PlanElementIndex, PlanElementKind};
use crate::topology::{GroupIndex, NodeIndex, RelationIndex, Topology, TopologyNode};
use cuvee_text::value::Value;

/// The element of a node.
pub(super) fn node(
    builder: &mut PlanBuilder,
    behaviors: &Behaviors<'_, '_>,
    id: NodeIndex,
) -> PlanElementIndex {
    let topology = behaviors.topology;
    let node = topology.node(id);
    let name = (topology.node_identifier(id), node.name.clone());
    builder.element(name, |name| PlanElement {
        count: count(topology, node),
        is_there: is_selected(node),
        ..PlanElement::new(name, PlanElementKind::Node, behaviors.place(node.span))
    })
}

/// The element of a relation.
pub(super) fn relation(
    builder: &mut PlanBuilder,
    behaviors: &Behaviors<'_, '_>,
    id: RelationIndex,
) -> PlanElementIndex {
    let topology = behaviors.topology;
    let relation = topology.relation(id);
    let name = |node: NodeIndex| &*topology.node(node).name;
    let (source, target) = (name(relation.source), relation.target.map(name));
    let name = format!("{source} -> {}", target.unwrap_or("?"));
    // Two variants may have relations with one identifier and different targets.
    builder.element((topology.relation_identifier(id), name), |name| {
        let kind = PlanElementKind::Relation {
            requirement: relation.name.clone(),
            source: source.to_owned(),
            target: target.map(str::to_owned),
        };
        PlanElement::new(name, kind, behaviors.place(relation.span))
    })
}

/// The element of a group.
pub(super) fn group(
    builder: &mut PlanBuilder,
    topology: &Topology,
    id: GroupIndex,
) -> PlanElementIndex {
    let group = topology.group(id);
    let name = (format!("group.{}", group.name), group.name.clone());
    builder.element(name, |name| PlanElement::new(name, PlanElementKind::Group, group.span))
}

/// Whether a node was selected from elsewhere: it exists already and is not touched.
pub(super) fn is_selected(node: &TopologyNode) -> bool {
    node.described.metadata.iter().any(|entry| entry.name == "instance")
}

/// The number of instances of a node (statement D11).
pub(super) fn count(topology: &Topology, node: &TopologyNode) -> InstanceCount {
    match node.count().map(|said| of_input(topology, said).unwrap_or(said)) {
        None => InstanceCount::One,
        Some(Value::Number(number)) => {
            match number.as_int().and_then(|count| count.try_into().ok()) {
                Some(1) | None => InstanceCount::One,
                Some(count) => InstanceCount::Known(count),
            }
        }
        Some(_) => InstanceCount::Open,
    }
}

/// The value of the input that a call asks for.
fn of_input<'t>(topology: &'t Topology, call: &Value) -> Option<&'t Value> {
    let Value::Map(call) = call else { return None };
    let [(function, Value::String(name))] = &**call else { return None };
    let mut inputs = topology.inputs.iter().filter(|_| **function == *"get_input");
    let input = inputs.find(|input| *input.name == **name)?;
    Some(&input.value.as_ref().or(input.default.as_ref())?.value)
}
