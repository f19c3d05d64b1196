//! Takes deployments apart for topologies in which it is open which nodes and relations exist. Each
//! node gets the steps of its coming, with all relations that it may have, and the reasons why one
//! node comes before another.
//!
//! The rules are those of [`weave`](super::weave) and [`order`](super::order). A caller that knows
//! what exists leaves out the rest and puts the parts in order.

use super::OrderOptions;
use super::behavior::Behaviors;
use super::build::PlanBuilder;
use super::declarative::{Declarative, whole};
use super::model::{ChangeClass, Plan, PlanCall, PlanStep, StepWork};
use super::order::ordering;
use super::weave::{CallPlace, Scene, SceneSide, Up, weave_apart};
use crate::topology::{NodeIndex, RelationIndex, Topology};
use crate::tosca::Types;
use crate::tosca::secrecy::USUAL_NAMES;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::rc::Rc;

/// The parts of the deployments of a topology.
pub(crate) struct Deployment<'a> {
    /// A plan with the steps of each node, as if there were no other nodes.
    pub plan: Plan,
    /// The steps of that plan.
    pub steps: Vec<ApartStep>,
    /// The nodes of the topology.
    pub nodes: Vec<ApartNode<'a>>,
    /// Its relations.
    pub relations: Vec<ApartRelation<'a>>,
}

/// A step, whatever else exists.
pub(crate) struct ApartStep {
    /// The relation that the step's operation belongs to, if any.
    pub relation: Option<RelationIndex>,
    /// The place where the call of the step runs.
    pub place: Option<CallPlace>,
}

/// A node, whatever else exists.
pub(crate) struct ApartNode<'a> {
    /// The steps of the node; `None` if it exists already.
    pub steps: Option<Range<usize>>,
    /// Whether operations of relations can run on it.
    pub is_compute: bool,
    /// The relations that the node cannot have, because the orchestrator brings it as a whole, each
    /// with the operation that would run meanwhile.
    pub impossible: Vec<(RelationIndex, String)>,
    /// The names of its types, the nearest first.
    pub types: Vec<&'a str>,
}

/// A relation, whatever else exists.
pub(crate) struct ApartRelation<'a> {
    /// Whether its target comes before its source.
    pub is_ordering: bool,
    /// The calls at its ends.
    pub calls: Vec<Rc<PlanCall>>,
    /// The names of its types, the nearest first.
    pub types: Vec<&'a str>,
}

/// Takes the deployments of a topology apart. Each relation of the topology has an identifier of
/// its own.
pub(crate) fn deployment<'a>(topology: &Topology, types: &Types<'a>) -> Deployment<'a> {
    let behaviors = Behaviors::of(topology, types, FxHashSet::default(), &USUAL_NAMES);
    // Calls on one host need not wait for each other, since it is open which of them exist.
    let mut builder = PlanBuilder::new(Declarative::Deploy.as_str(), true, true);
    builder.keeps_order = false;
    let order = OrderOptions::default();
    let side = whole(&behaviors, &order, &mut builder, Up::Whole, ChangeClass::Add);
    let mut nodes: Vec<_> = topology.node_ids().map(|id| node(&side, id)).collect();
    let relation = |id| ApartRelation {
        is_ordering: false,
        calls: side.coming(id),
        types: behaviors.relation_types(id),
    };
    let mut relations: Vec<_> = topology.relation_ids().map(relation).collect();
    for (relation, ..) in ordering(&behaviors, &side.is_ignored) {
        relations[relation.index()].is_ordering = true;
    }
    let comes: Vec<_> = side.extents.iter().map(Option::is_some).collect();
    let scene = Scene { down: None, up: Some(side), is_relaxed: false, removals_first: false };
    weave_apart(&scene, &mut builder);
    let plan = builder.plan;
    let named = topology.relation_ids().map(|id| (topology.relation_identifier(id), id));
    let named: FxHashMap<_, _> = named.collect();
    let mut steps = Vec::with_capacity(plan.steps.len());
    // Each node that comes has a part. The parts are in the order of the topology.
    let coming = topology.node_ids().filter(|id| comes[id.index()]);
    for (id, part) in coming.zip(&plan.parts) {
        let range = part.first.index()..part.first.index() + part.steps as usize;
        steps.extend(plan.steps[range.clone()].iter().map(|step| {
            let element = step.element.map(|element| plan.element(element));
            let relation = element.and_then(|element| named.get(&element.identifier)).copied();
            ApartStep { relation, place: place(topology, &plan, (id, relation), step) }
        }));
        nodes[id.index()].steps = Some(range);
    }
    Deployment { plan, steps, nodes, relations }
}

/// The node, still without steps.
fn node<'a>(side: &SceneSide<'_, '_, 'a, Up>, id: NodeIndex) -> ApartNode<'a> {
    let behaviors = side.behaviors;
    let is_whole = side.extents[id.index()].is_some() && behaviors.delegation(id).is_some();
    let said = |(relation, call): (RelationIndex, Rc<PlanCall>)| (relation, call.operation.clone());
    let between = is_whole.then(|| side.between(id).map(said));
    ApartNode {
        steps: None,
        is_compute: behaviors.is_compute(id),
        impossible: between.into_iter().flatten().collect(),
        types: behaviors.node_types(id),
    }
}

/// The place where the call of a node, or of one of its relations, runs.
fn place(
    topology: &Topology,
    plan: &Plan,
    (node, relation): (NodeIndex, Option<RelationIndex>),
    step: &PlanStep,
) -> Option<CallPlace> {
    let said = plan.calls[step.call?.index()].host.as_deref();
    match (relation, step.work) {
        (Some(relation), StepWork::Operation(operation)) => {
            Some(CallPlace::of_relation(topology.relation(relation), operation, said))
        }
        _ => Some(CallPlace::of_node(node, said)),
    }
}
