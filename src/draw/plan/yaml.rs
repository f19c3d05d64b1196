//! Writes a plan as a workflow of the template, as a starting point for overriding it.

use crate::diagnostic::{Cite, Code, Diagnostic};
use crate::orchestrate::plan::{
    Plan, PlanElement, PlanElementIndex, PlanElementKind, PlanStepIndex, StepWork,
};
use crate::tosca::{LifecycleOperation, v2_0};
use cuvee_text::value::Value;
use cuvee_text::yaml::write_flow;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// A generated plan as an imperative workflow. Each of its steps is what an element does between
/// two states that others may wait for.
///
/// # Errors
/// An error if a workflow cannot express the plan: it distinguishes two relations of one name at
/// one node, it changes one variant to another, or it is already a workflow of the template.
///
/// ```
/// use cuvee::deploy::plan::PlanQuery;
/// let plan = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?.result;
/// assert!(cuvee::output::draw::plan::yaml(&plan).unwrap().starts_with("workflows:\n  deploy:\n"));
/// # Ok::<(), cuvee::Failure>(())
/// ```
pub fn yaml(plan: &Plan) -> Result<String, Diagnostic> {
    sayable(plan)?;
    let phases = WorkflowPhases::of(plan);
    let names = phases.names(plan);
    let mut out = format!("workflows:\n  {}:\n    steps:", scalar(&plan.workflow));
    if phases.all.is_empty() {
        out.push_str(" {}");
    }
    out.push('\n');
    let mut next = vec![Vec::new(); phases.all.len()];
    for (index, phase) in phases.all.iter().enumerate() {
        phase.after.iter().for_each(|&before| next[before].push(&*names[index]));
    }
    for ((phase, name), next) in phases.all.iter().zip(&names).zip(next) {
        phase_step(plan, phase, name, &next, &mut out);
    }
    Ok(out)
}

fn sayable(plan: &Plan) -> Result<(), Diagnostic> {
    if !plan.changes.is_empty() || plan.workflow == "update" {
        let message = "an update from one variant to another cannot be written as a workflow, which names elements of one variant only";
        let error = Diagnostic::error(Code::UnknownElement, message);
        return Err(error.help("write the plan with `--format json` or `--format make`"));
    }
    if !plan.is_generated {
        let message = format!("`{}` is a workflow of the template already", plan.workflow);
        return Err(Diagnostic::error(Code::Duplicate, message));
    }
    let mut known: FxHashMap<(&str, &str), &str> = FxHashMap::default();
    for step in plan.steps.iter().filter(|step| step.is_run()) {
        let Some(element) = step.element.map(|id| plan.element(id)) else { continue };
        let PlanElementKind::Relation { requirement, source, .. } = &element.kind else { continue };
        let before = known.entry((requirement, source)).or_insert(&element.identifier);
        if *before != element.identifier {
            let message = format!(
                "a workflow cannot tell the relations `{requirement}` of `{source}` apart, and `{before}` and `{}` both run something",
                element.identifier
            );
            let error = Diagnostic::error(Code::Duplicate, message).at(element.span);
            let mut error = error.section("3.6.27.1");
            if plan.is_2_0 {
                v2_0::cite(&mut error);
            }
            return Err(error);
        }
    }
    Ok(())
}

/// Consecutive steps of one element, which become one workflow step.
struct Phase {
    element: Option<PlanElementIndex>,
    steps: Vec<PlanStepIndex>,
    /// The phases that must be complete before.
    after: Vec<usize>,
}

struct WorkflowPhases {
    all: Vec<Phase>,
}

impl WorkflowPhases {
    fn of(plan: &Plan) -> Self {
        let mut followers = vec![0u32; plan.steps.len()];
        let waits = plan.step_ids().flat_map(|id| plan.after(id));
        waits.for_each(|wait| followers[wait.index()] += 1);
        let mut all: Vec<Phase> = Vec::new();
        let mut phase_of: Vec<usize> = Vec::with_capacity(plan.steps.len());
        for id in plan.step_ids() {
            let continued = continued(plan, id, &followers, &phase_of, &all);
            let position = continued.unwrap_or(all.len());
            if continued.is_none() {
                let element = plan.step(id).element;
                all.push(Phase { element, steps: Vec::new(), after: Vec::new() });
            }
            phase_of.push(position);
            let waits = plan.after(id).iter().map(|wait| phase_of[wait.index()]);
            let waits: Vec<_> = waits.filter(|&wait| wait != position).collect();
            all[position].steps.push(id);
            all[position].after.extend(waits);
        }
        for phase in &mut all {
            phase.after.sort_unstable();
            phase.after.dedup();
        }
        Self { all }
    }

    /// A unique name for each phase.
    fn names(&self, plan: &Plan) -> Vec<String> {
        let mut taken = FxHashSet::default();
        let name = |phase: &Phase| {
            let name = phase_name(plan, phase);
            let mut unique = name.clone();
            let mut number = 2;
            while !taken.insert(unique.clone()) {
                unique = format!("{name}_{number}");
                number += 1;
            }
            unique
        };
        self.all.iter().map(name).collect()
    }
}

/// The phase that a step continues: that of the preceding step of the same element, if nothing else
/// waits for that step and no new phase begins. So the order of steps does not change.
fn continued(
    plan: &Plan,
    id: PlanStepIndex,
    followers: &[u32],
    phase_of: &[usize],
    all: &[Phase],
) -> Option<usize> {
    let step = plan.step(id);
    let begins = matches!(step.work, StepWork::State(state) if state.is_transitional());
    let mine = |wait: &&PlanStepIndex| plan.step(**wait).element == step.element;
    let before = *plan.after(id).iter().rev().find(mine)?;
    if begins || step.element.is_none() || followers[before.index()] != 1 {
        return None;
    }
    let phase = phase_of[before.index()];
    let members = &all[phase].steps;
    let has_run = members.iter().any(|&member| plan.step(member).is_run());
    // A phase that has not run anything yet may be delayed; one that has may not.
    let may_wait = |wait: &PlanStepIndex| *wait == before || !has_run && *wait < members[0];
    (members.last() == Some(&before) && plan.after(id).iter().all(may_wait)).then_some(phase)
}

fn phase_name(plan: &Plan, phase: &Phase) -> String {
    let said = phase.steps.iter().find(|&&id| plan.step(id).is_run()).unwrap_or(&phase.steps[0]);
    let does = plan.label(plan.step(*said).work);
    match phase.element.map(|element| plan.element(element)) {
        Some(PlanElement {
            kind: PlanElementKind::Relation { requirement, source, .. }, ..
        }) => {
            format!("{source}_{requirement}_{does}")
        }
        Some(element) => format!("{}_{does}", element.name),
        None => does.to_owned(),
    }
}

fn phase_step(plan: &Plan, phase: &Phase, name: &str, next: &[&str], out: &mut String) {
    let mut line = |indent: usize, text: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = writeln!(out, "{:indent$}{text}", "");
    };
    line(6, format_args!("{}:", scalar(name)));
    match phase.element.map(|element| plan.element(element)) {
        Some(PlanElement {
            kind: PlanElementKind::Relation { requirement, source, .. }, ..
        }) => {
            line(8, format_args!("target: {}", scalar(source)));
            line(8, format_args!("target_relationship: {}", scalar(requirement)));
        }
        Some(element) => line(8, format_args!("target: {}", scalar(&element.name))),
        None => {}
    }
    let operation = phase.steps.iter().find_map(|&id| operation(plan, id));
    // In TOSCA 2.0 operations say by themselves where they run.
    let of_relation =
        operation.filter(|operation| !plan.is_2_0 && operation.interface() == "Configure");
    if let Some(operation) = of_relation {
        let host = if operation.is_at_target() { "TARGET" } else { "SOURCE" };
        line(8, format_args!("operation_host: {host}"));
    }
    let activities: Vec<_> = phase.steps.iter().filter_map(|&id| activity(plan, id)).collect();
    match activities.is_empty() {
        true => line(8, format_args!("activities: []")),
        false => line(8, format_args!("activities:")),
    }
    activities.iter().for_each(|activity| line(8, format_args!("- {activity}")));
    if !next.is_empty() {
        let next: Vec<_> = next.iter().map(|name| scalar(name)).collect();
        line(8, format_args!("on_success: [{}]", next.join(", ")));
    }
}

fn operation(plan: &Plan, id: PlanStepIndex) -> Option<LifecycleOperation> {
    match plan.step(id).work {
        StepWork::Operation(operation) => Some(operation),
        _ => None,
    }
}

/// The activity of a step; `None` if a workflow does not mention it.
fn activity(plan: &Plan, id: PlanStepIndex) -> Option<String> {
    let step = plan.step(id);
    match step.work {
        StepWork::Operation(operation) => {
            // The type of the node may not define an operation that runs nothing.
            let call = plan.call_of(id)?;
            let name = format!("{}.{}", call.interface, operation.as_str());
            Some(format!("call_operation: {}", scalar(&name)))
        }
        work if work.is_delegated() => Some(format!("delegate: {}", scalar(plan.label(work)))),
        // A deleted node has no state to set.
        work => Some(format!("set_state: {}", work.state()?.as_str())),
    }
}

/// A string as YAML, quoted if necessary.
fn scalar(text: &str) -> String {
    write_flow(&Value::String(text.into()))
}
