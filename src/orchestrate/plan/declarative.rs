//! Builds the workflows that follow from a topology alone: `deploy` and `undeploy` (chapter 7.3).

use super::behavior::Behaviors;
use super::build::PlanBuilder;
use super::model::{ChangeClass, PlanStepIndex};
use super::weave::{Down, Scene, SceneSide, Up, weave};
use super::{OrderOptions, Relaxation};
use crate::diagnostic::Diagnostics;
use crate::topology::{NodeIndex, RelationIndex};

/// The workflows that exist without being written in the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declarative {
    Deploy,
    Undeploy,
}

/// Whether a workflow of this name is generated where the template has none.
pub(crate) fn is_generated_workflow(name: &str) -> bool {
    Declarative::named(name).is_some()
}

impl Declarative {
    /// The workflow of a name. Each has two names (statement D1).
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "deploy" | "install" => Some(Self::Deploy),
            "undeploy" | "uninstall" => Some(Self::Undeploy),
            _ => None,
        }
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Deploy => "deploy",
            Self::Undeploy => "undeploy",
        }
    }
}

/// Adds all steps of a declarative workflow after those in `behind`.
///
/// # Errors
/// As [`weave`].
pub(super) fn declarative(
    which: Declarative,
    behaviors: &Behaviors<'_, '_>,
    order: &OrderOptions,
    builder: &mut PlanBuilder,
    behind: &[PlanStepIndex],
) -> Result<Vec<PlanStepIndex>, Diagnostics> {
    let is_relaxed = order.relaxation == Relaxation::Connections;
    let (mut down, mut up) = (None, None);
    match which {
        Declarative::Deploy => {
            up = Some(whole(behaviors, order, builder, Up::Whole, ChangeClass::Add));
        }
        Declarative::Undeploy => {
            down = Some(whole(behaviors, order, builder, Down::Whole, ChangeClass::Remove));
        }
    }
    weave(&Scene { down, up, is_relaxed, removals_first: false }, builder, behind)
}

/// Adds the steps of a single node of a declarative workflow, without its relations to others.
///
/// # Errors
/// As [`weave`].
pub(super) fn of_node(
    which: Declarative,
    behaviors: &Behaviors<'_, '_>,
    node: NodeIndex,
    builder: &mut PlanBuilder,
    behind: &[PlanStepIndex],
) -> Result<Vec<PlanStepIndex>, Diagnostics> {
    let (mut down, mut up) = (None, None);
    match which {
        Declarative::Deploy => {
            up = Some(alone(behaviors, node, builder, Up::Whole, ChangeClass::Add));
        }
        Declarative::Undeploy => {
            down = Some(alone(behaviors, node, builder, Down::Whole, ChangeClass::Remove));
        }
    }
    let scene = Scene { down, up, is_relaxed: false, removals_first: false };
    weave(&scene, builder, behind)
}

/// A side on which a single node moves, all the way.
fn alone<'s, 't, 'a, E: Copy>(
    behaviors: &'s Behaviors<'t, 'a>,
    node: NodeIndex,
    builder: &mut PlanBuilder,
    extent: E,
    class: ChangeClass,
) -> SceneSide<'s, 't, 'a, E> {
    let mut side = SceneSide::at_rest(behaviors, builder, class);
    side.extents[node.index()] = Some(extent);
    side
}

/// A side on which every node moves, all the way.
pub(super) fn whole<'s, 't, 'a, E: Copy>(
    behaviors: &'s Behaviors<'t, 'a>,
    order: &OrderOptions,
    builder: &mut PlanBuilder,
    extent: E,
    class: ChangeClass,
) -> SceneSide<'s, 't, 'a, E> {
    let topology = behaviors.topology;
    let moves = |id| (!behaviors.is_untouched(id)).then_some(extent);
    let is_ignored = order.ignored(topology);
    // Without a node at one of its ends there is no relation.
    let is_told = |id: RelationIndex| {
        let relation = topology.relation(id);
        let ends = [Some(relation.source), relation.target];
        !ends.into_iter().flatten().any(|node| behaviors.is_nothing(node))
    };
    let ignored = topology.relation_ids().filter(|&id| is_ignored[id.index()] && is_told(id));
    SceneSide {
        extents: topology.node_ids().map(moves).collect(),
        is_told: topology.relation_ids().map(is_told).collect(),
        wires: ignored.collect(),
        is_ignored,
        ..SceneSide::at_rest(behaviors, builder, class)
    }
}
