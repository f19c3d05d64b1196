//! A plan as a workflow of the template: where an override of one's own begins.

use crate::orchestrate::plan::{
    Plan, PlanElement, PlanElementIndex, PlanElementKind, PlanStepIndex, StepWork,
};
use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::value::Value;
use crate::text::yaml::write_flow;
use crate::tosca::LifecycleOperation;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// A generated plan as an imperative workflow: a step is what an element does between two states
/// that others may wait for.
///
/// # Errors
/// Where a workflow cannot say it: two relations of one name at one node, what is gone or not there
/// yet in one of two variants, and what is a workflow of the template already.
///
/// ```
/// use cuvee::plan::PlanQuery;
/// let plan = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?.result;
/// assert!(cuvee::draw::plan::yaml(&plan).unwrap().starts_with("workflows:\n  deploy:\n"));
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
        let message =
            "no workflow leads from one variant to another: it names what is in one of them";
        let error = Diagnostic::error(Code::UnknownElement, message);
        return Err(error.help("`--format json` and `--format make` write such a plan"));
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
                "no workflow tells the relations `{requirement}` of `{source}` apart, and `{before}` and `{}` both run something",
                element.identifier
            );
            let error = Diagnostic::error(Code::Duplicate, message).at(element.span);
            return Err(error.section("3.6.27.1"));
        }
    }
    Ok(())
}

/// Steps of one element that follow one another.
struct Phase {
    element: Option<PlanElementIndex>,
    steps: Vec<PlanStepIndex>,
    /// The phases that have to be over before.
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

    /// A name for each that no other has.
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

/// The phase that a step goes on with: that of the step which it alone waits for and which nothing
/// else waits for, unless a new one begins. So no other order comes of it.
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
    // What has only begun may begin later; what runs may not.
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
    let of_relation = operation.filter(|operation| operation.interface() == "Configure");
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

/// What a step does, as an activity; nothing for what a workflow does not say.
fn activity(plan: &Plan, id: PlanStepIndex) -> Option<String> {
    let step = plan.step(id);
    match step.work {
        StepWork::Operation(operation) => {
            // An operation without anything to run may be none of the node's type.
            let call = plan.call_of(id)?;
            let name = format!("{}.{}", call.interface, operation.as_str());
            Some(format!("call_operation: {}", scalar(&name)))
        }
        work if work.is_delegated() => Some(format!("delegate: {}", scalar(plan.label(work)))),
        // The state of a node that is gone is nobody's any more.
        work => Some(format!("set_state: {}", work.state()?.as_str())),
    }
}

/// A string as YAML, quoted where it has to be.
fn scalar(text: &str) -> String {
    write_flow(&Value::String(text.into()))
}
