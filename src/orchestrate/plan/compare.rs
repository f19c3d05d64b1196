//! Compares a workflow that replaces a generated one with the generated one (statement I11).

use super::behavior::Behaviors;
use super::declarative::Declarative;
use super::model::{Plan, PlanStepIndex, StepWork};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use crate::topology::{NodeIndex, TopologyWorkflow};
use crate::tosca::NodeState;
use rustc_hash::FxHashMap;

/// Larger workflows are not compared: nobody writes them by hand.
const MOST_STEPS: usize = 5_000;

/// Warns of nodes that no step acts on, and of sources that come before their targets.
pub(super) fn with_generated(
    which: Declarative,
    behaviors: &Behaviors<'_, '_>,
    workflow: &TopologyWorkflow,
    plan: &Plan,
    found: &mut Diagnostics,
) {
    if workflow.implementation.is_some() || plan.steps.len() > MOST_STEPS {
        return;
    }
    let topology = behaviors.topology;
    let mut touched: FxHashMap<&str, Vec<PlanStepIndex>> = FxHashMap::default();
    for id in plan.step_ids() {
        if let Some(element) = plan.step(id).element {
            touched.entry(&plan.element(element).identifier).or_default().push(id);
        }
    }
    let of = |node: NodeIndex| touched.get(&*topology.node_identifier(node));
    for node in topology.node_ids().filter(|&node| !behaviors.is_untouched(node)) {
        if of(node).is_none() {
            let template = topology.node(node);
            let message = format!("no step of `{}` touches `{}`", workflow.name, template.name);
            let warning = Diagnostic::warning(Code::PlanOrder, message).at(workflow.span);
            found.push(warning.label(template.span, "this node is in the topology").section("7.3"));
        }
    }
    if which == Declarative::Undeploy {
        return;
    }
    for id in topology.relation_ids().filter(|&id| behaviors.is_ordering(id)) {
        let relation = topology.relation(id);
        let Some(target) = relation.target else { continue };
        let (Some(source_steps), Some(target_steps)) = (of(relation.source), of(target)) else {
            continue;
        };
        let Some(&first) = source_steps.first() else { continue };
        let mut started = target_steps.iter().copied().filter(|&step| {
            let work = plan.step(step).work;
            work == StepWork::State(NodeState::Started) || work == StepWork::Deploy
        });
        let last = started.next_back().or(target_steps.last().copied());
        if last.is_some_and(|last| !comes_after(plan, first, last)) {
            let name = |node: NodeIndex| &topology.node(node).name;
            let message = format!(
                "`{}` begins before `{}` is started, which it needs",
                name(relation.source),
                name(target)
            );
            let place = place(plan, first).unwrap_or(workflow.span);
            let warning = Diagnostic::warning(Code::PlanOrder, message).at(place);
            found.push(warning.label(relation.span, "needed by this requirement").section("7.3"));
        }
    }
}

/// The place where a step is written.
fn place(plan: &Plan, id: PlanStepIndex) -> Option<cuvee_text::source::Span> {
    let (index, _) = plan.step(id).activity?;
    Some(plan.workflow_steps[index as usize].span)
}

/// Whether a step waits for another one, directly or not.
fn comes_after(plan: &Plan, step: PlanStepIndex, before: PlanStepIndex) -> bool {
    let mut seen = vec![false; plan.steps.len()];
    let mut open = vec![step];
    while let Some(id) = open.pop() {
        if id == before {
            return true;
        }
        if !std::mem::replace(&mut seen[id.index()], true) {
            open.extend(plan.after(id));
        }
    }
    false
}
