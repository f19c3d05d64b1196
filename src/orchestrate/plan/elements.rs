//! Makes the elements that steps act on.

use super::behavior::Behaviors;
use super::build::PlanBuilder;
use super::inputs::evaluated_in;
use super::model::{InstanceCount, PlanElement, PlanElementIndex, PlanElementKind};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0};
use crate::topology::scope::TopologyScope;
use crate::topology::{
    GroupIndex, NodeIndex, RelationIndex, Topology, TopologyElement, TopologyNode,
};
use crate::tosca::Types;
use crate::tosca::function::function_in;
use cuvee_text::value::Value;
use std::borrow::Cow;
use std::cell::OnceCell;

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
        count: behaviors.count(id),
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

/// The numbers of instances of all nodes (statement D11), as far as what is written and defaults of
/// inputs decide them.
pub(super) fn counts(topology: &Topology, types: &Types<'_>) -> Vec<InstanceCount> {
    let all = said_counts(topology, types);
    all.map(|(_, said)| said.map_or(InstanceCount::One, |said| count_of(&said))).collect()
}

/// The errors for which nothing can be planned: in what TOSCA 2.0 templates say of numbers of
/// instances, and in names of policies.
pub(super) fn wrong(topology: &Topology, types: &Types<'_>) -> Diagnostics {
    let is_wrong = |said: &Value| number(said).is_none() && function_in(said).is_none();
    // A capability may have a property by which version 1.3 counts.
    let says = |id: NodeIndex| topology.is_2_0 && topology.node(id).instance_count.is_some();
    let counts = said_counts(topology, types).filter(|(id, _)| says(*id));
    let wrong = counts.filter_map(|(id, said)| Some((id, said.filter(|said| is_wrong(said))?)));
    let error = |(id, said): (NodeIndex, Cow<'_, Value>)| {
        let node = topology.node(id);
        let place = node.instance_count.as_ref().map_or(node.span, |count| count.span);
        let message =
            format!("the `count` of `{}` is an integer from 0 up, not `{said}`", node.name);
        let error = Diagnostic::error(Code::InvalidValue, message).at(place);
        error.rule(Rule::new(&TOSCA_2_0, "14.1"))
    };
    let policies = topology.policies_of_one_name().0;
    Diagnostics(wrong.map(error).chain(policies).collect())
}

/// What each node says of its number of instances, with the values of functions.
fn said_counts<'t>(
    topology: &'t Topology,
    types: &'t Types<'_>,
) -> impl Iterator<Item = (NodeIndex, Option<Cow<'t, Value>>)> {
    let scope = OnceCell::new();
    topology.node_ids().map(move |id| {
        let Some(said) = topology.node(id).count() else { return (id, None) };
        let said = of_input(topology, said).unwrap_or(said);
        if function_in(said).is_none() {
            return (id, Some(Cow::Borrowed(said)));
        }
        let scope = scope.get_or_init(|| TopologyScope::of(topology, types));
        let of = (scope, Some(TopologyElement::Node(id)));
        (id, Some(Cow::Owned(evaluated_in(said.clone(), of, types.is_of_2_0()))))
    })
}

/// The number of instances that a value says.
fn count_of(said: &Value) -> InstanceCount {
    match number(said) {
        None => InstanceCount::Open,
        Some(1) => InstanceCount::One,
        Some(count) => InstanceCount::Known(count),
    }
}

/// The number that a value is, from 0 up.
fn number(said: &Value) -> Option<u64> {
    let Value::Number(number) = said else { return None };
    number.as_int().filter(|_| number.is_integer())?.try_into().ok()
}

/// The value of the input that a call asks for.
fn of_input<'t>(topology: &'t Topology, call: &Value) -> Option<&'t Value> {
    let Value::Map(call) = call else { return None };
    let [(function, Value::String(name))] = &**call else { return None };
    let mut inputs = topology.inputs.iter().filter(|_| **function == *"get_input");
    let input = inputs.find(|input| *input.name == **name)?;
    Some(&input.value.as_ref().or(input.default.as_ref())?.value)
}
