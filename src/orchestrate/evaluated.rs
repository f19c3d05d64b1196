//! Gives values of a topology what the functions in them give.

use super::tree::{MADE, made};
use crate::topology::scope::TopologyScope;
use crate::topology::{NodeIndex, RelationIndex, Spanned, Topology, TopologyElement};
use crate::tosca::evaluate::{EvaluatorState, FunctionEvaluator};
use crate::tosca::function::function_in;
use crate::tosca::{Types, meant};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, Out};

/// Replaces functions by what they give, as far as this is known: in properties, counts and
/// allocations.
pub(crate) fn evaluate(topology: &mut Topology, types: &Types<'_>) {
    let is_2_0 = topology.is_2_0;
    let written = |(_, value): (_, &mut Spanned<Value>)| match is_2_0 {
        true => meant::written(value.value.clone()),
        false => value.value.clone(),
    };
    let written: Vec<_> = calling(topology).into_iter().map(written).collect();
    if written.is_empty() {
        return;
    }
    let made = made(Out::Value(written.into()), is_2_0);
    let Some(list) = made.as_ref().and_then(|made| made.root().get(MADE)) else { return };
    let nodes: Vec<Node<'_>> = list.items().collect();
    // Paths find the functions that they lead to by their places.
    let mut asked = topology.clone();
    for ((_, value), node) in calling(&mut asked).into_iter().zip(&nodes) {
        value.span = node.span();
    }
    let scope = TopologyScope::with_calls(&asked, types, &nodes);
    // Mistakes are reported where templates are validated.
    let mut evaluator = FunctionEvaluator::new(&scope, EvaluatorState::default());
    for ((site, value), node) in calling(topology).into_iter().zip(&nodes) {
        value.value = evaluator.replaced(*node, site);
    }
}

/// The values with functions, each with what `SELF` means in it, if that is known.
fn calling(topology: &mut Topology) -> Vec<(Option<TopologyElement>, &mut Spanned<Value>)> {
    let Topology { nodes, relations, relationships, .. } = topology;
    let mut all = Vec::new();
    for (at, node) in nodes.iter_mut().enumerate() {
        let site = Some(TopologyElement::Node(NodeIndex::new(at)));
        let own = node.capabilities.iter_mut().map(|capability| &mut capability.properties);
        let own = own.chain([&mut node.described.properties]).flatten();
        all.extend(own.map(|one| (site, &mut one.value)));
        all.extend(node.instance_count.as_deref_mut().map(|count| (site, count)));
    }
    for (at, relation) in relations.iter_mut().enumerate() {
        let site = Some(TopologyElement::Relation(RelationIndex::new(at)));
        all.extend(relation.allocation.iter_mut().map(|one| (site, &mut one.value)));
    }
    let own = relationships.iter_mut().flat_map(|it| &mut it.described.properties);
    all.extend(own.map(|one| (None, &mut one.value)));
    all.retain(|(_, value)| function_in(&value.value).is_some());
    all
}
