//! Writes a plan for people: one step a line, in the order of the rounds.

use super::words::{counted, element, host, implementation, operation, settled, state_after};
use crate::orchestrate::plan::{
    ChangeClass, ChangeReason, Plan, PlanCounts, PlanStepIndex, StepWork, WorkflowKind,
    WorkflowOutline,
};
use crate::topology::sensitive::SENSITIVE;
use cuvee_text::value::Value;
use cuvee_text::yaml::write_flow;
use std::borrow::Cow;

/// The space between a step and the state that it leads to.
const GAP: usize = 8;

/// A line of the list.
struct PlanRow<'p> {
    /// The round; none for a step that runs nothing.
    wave: Option<u32>,
    element: Cow<'p, str>,
    operation: &'p str,
    middle: Middle<'p>,
    state: &'p str,
}

/// The implementation and its host, or a remark instead.
enum Middle<'p> {
    Run { implementation: &'p str, host: Option<&'p str> },
    Said(&'static str),
}

/// A plan for people, with all steps or only those that run something. Sensitive values are only
/// shown with `reveal`.
///
/// ```
/// use cuvee::deploy::plan::PlanQuery;
/// let plan = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?.result;
/// assert!(cuvee::output::draw::plan::human(&plan, false, false).starts_with("deploy: "));
/// # Ok::<(), cuvee::Failure>(())
/// ```
pub fn human(plan: &Plan, all_steps: bool, reveal: bool) -> String {
    let mut text = head(plan);
    text.push('\n');
    reasons(plan, reveal, &mut text);
    let mut steps: Vec<_> =
        plan.step_ids().filter(|&id| all_steps || plan.step(id).is_shown).collect();
    steps.sort_by_key(|&id| (plan.step(id).is_handler, plan.step(id).wave.max(1), id));
    let normal = steps.partition_point(|&id| !plan.step(id).is_handler);
    let (steps, handlers) = steps.split_at(normal);
    write(plan, steps, &mut text);
    if !handlers.is_empty() {
        text.push_str("where a step fails:\n");
        write(plan, handlers, &mut text);
    }
    text
}

/// The workflows of a template, for people.
pub fn workflows(all: &[WorkflowOutline]) -> String {
    let widest = all.iter().map(|one| width(&one.name)).max().unwrap_or(0);
    let mut text = String::new();
    for workflow in all {
        let kind = match workflow.kind {
            WorkflowKind::Generated => "generated",
            WorkflowKind::Written => "written",
            WorkflowKind::Overridden => "overridden",
            WorkflowKind::External => "external",
            WorkflowKind::Trigger => "trigger",
        };
        let inputs = match workflow.inputs.is_empty() {
            true => String::new(),
            false => format!("  inputs: {}", workflow.inputs.join(", ")),
        };
        let implements = match workflow.implements.is_empty() {
            true => String::new(),
            false => format!("  implements: {}", workflow.implements.join(", ")),
        };
        let line = format!("{:<widest$}  {kind:<10}{inputs}{implements}", workflow.name);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A summary of the plan: changes, operations, rounds.
fn head(plan: &Plan) -> String {
    let PlanCounts { operations, delegations, .. } = plan.counts();
    let mut parts = Vec::new();
    if operations > 0 || delegations == 0 {
        parts.push(counted(operations, "operation"));
    }
    if delegations > 0 {
        parts.push(counted(delegations, "delegation"));
    }
    let done = parts.join(" and ");
    let waves = plan.waves();
    match changes(plan) {
        Some(changes) => format!("{}: {changes}; {done}", plan.workflow),
        None if plan.steps.is_empty() => format!("{}: nothing to do", plan.workflow),
        None if waves == 0 => format!("{}: {done}", plan.workflow),
        None => format!("{}: {done} in {}", plan.workflow, counted(waves as usize, "wave")),
    }
}

/// The number of elements by kind of change, if two variants are compared.
fn changes(plan: &Plan) -> Option<String> {
    let counts = ChangeClass::ALL.into_iter().filter_map(|class| {
        let nodes = plan.changes.iter().filter(|change| change.element.starts_with("node."));
        let of_class: Vec<_> = nodes.filter(|change| change.class == class).collect();
        let following = of_class.iter().filter(|change| {
            let because = change.reasons.iter().map(|one| one.because.as_deref());
            let is_host = |said: Option<&str>| said.is_some_and(|said| said.starts_with("node."));
            !change.reasons.is_empty() && because.into_iter().all(is_host)
        });
        let following = following.count();
        let because = match (class, following) {
            (ChangeClass::Recreate, 1) => " (1 because of its host)".to_owned(),
            (ChangeClass::Recreate, 2..) => format!(" ({following} because of their hosts)"),
            _ => String::new(),
        };
        (!of_class.is_empty())
            .then(|| format!("{} {}{because}", of_class.len(), class.participle()))
    });
    let counts: Vec<_> = counts.collect();
    (!counts.is_empty()).then(|| counts.join(", "))
}

/// A plan in parts, for other ways of showing it. It contains no sensitive values.
pub(crate) struct ToldPlan<'p> {
    /// The summary.
    pub head: String,
    /// Each changed element, its kind of change, and the reasons.
    pub changes: Vec<(&'p str, &'static str, String)>,
    /// The steps that run something, in the order of the rounds.
    pub steps: Vec<ToldStep<'p>>,
}

/// A step in parts.
pub(crate) struct ToldStep<'p> {
    /// The round in which the step can be done, counted from 1.
    pub wave: u32,
    /// The element of the step, with the number of its instances.
    pub element: Cow<'p, str>,
    /// The operation.
    pub operation: &'p str,
    /// The implementation that the step runs, or a remark instead.
    pub implementation: &'p str,
    /// The host that the step runs on.
    pub host: &'p str,
    /// The state after the step.
    pub state: &'p str,
}

/// A plan in parts, as [`human`] writes it.
pub(crate) fn told(plan: &Plan) -> ToldPlan<'_> {
    let shown = |id: &PlanStepIndex| plan.step(*id).is_shown && !plan.step(*id).is_handler;
    let mut steps: Vec<_> = plan.step_ids().filter(shown).collect();
    steps.sort_by_key(|&id| (plan.step(id).wave.max(1), id));
    ToldPlan {
        head: head(plan),
        changes: told_changes(plan, false),
        steps: steps.into_iter().map(|id| told_step(plan, id)).collect(),
    }
}

fn told_step(plan: &Plan, id: PlanStepIndex) -> ToldStep<'_> {
    let row = row(plan, id);
    let implementation = match row.middle {
        Middle::Run { implementation, .. } => implementation,
        Middle::Said(said) => said,
    };
    ToldStep {
        wave: plan.step(id).wave.max(1),
        element: row.element,
        operation: row.operation,
        implementation,
        host: host(plan, plan.step(id).host).unwrap_or_default(),
        state: row.state,
    }
}

/// All steps of a plan that is put together elsewhere. The state of each is only the one that the
/// step itself leads to.
pub(crate) fn told_apart(plan: &Plan) -> Vec<ToldStep<'_>> {
    let step = |id| {
        let state = settled(plan, plan.step(id).work).unwrap_or_default();
        ToldStep { state, ..told_step(plan, id) }
    };
    plan.step_ids().map(step).collect()
}

/// Each changed element, its kind of change, and the reasons.
fn told_changes(plan: &Plan, reveal: bool) -> Vec<(&str, &'static str, String)> {
    let changes = plan.changes.iter().filter(|change| change.class != ChangeClass::Keep);
    let told = changes.map(|change| {
        let mut because: Vec<_> = change.reasons.iter().map(|one| reason(one, reveal)).collect();
        because.dedup();
        (&*change.element, change.class.participle(), because.join("; "))
    });
    told.collect()
}

/// Writes the reasons of all changes.
fn reasons(plan: &Plan, reveal: bool, text: &mut String) {
    let changes = told_changes(plan, reveal);
    let widest = changes.iter().map(|(element, ..)| width(element)).max().unwrap_or(0);
    for (element, class, because) in &changes {
        let separator = if because.is_empty() { "" } else { ": " };
        let line = format!("{element:<widest$}  {class}{separator}{because}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if !changes.is_empty() && plan.steps.iter().any(|step| step.is_shown) {
        text.push('\n');
    }
}

/// A reason in words: `property.replicas 4 -> 24`, `because of node.cluster`.
fn reason(reason: &ChangeReason, reveal: bool) -> String {
    let is_hidden = reason.is_sensitive && !reveal;
    let value = |value: &Value| match is_hidden {
        true => SENSITIVE.to_owned(),
        false => write_flow(value),
    };
    let edit = match (&reason.from, &reason.to) {
        (None, None) => String::new(),
        (Some(from), None) => format!(" without {}", value(from)),
        (None, Some(to)) => format!(" with {}", value(to)),
        (Some(from), Some(to)) => format!(" {} -> {}", value(from), value(to)),
    };
    let said = format!("{}{edit}", reason.path);
    let because = reason.because.as_ref().map(|element| format!("because of {element}"));
    match (said.is_empty(), because) {
        (true, because) => because.unwrap_or_default(),
        (false, None) => said,
        (false, Some(because)) => format!("{said} {because}"),
    }
}

fn row(plan: &Plan, id: PlanStepIndex) -> PlanRow<'_> {
    let step = plan.step(id);
    let written = step.activity.map(|(index, _)| &plan.workflow_steps[index as usize]);
    let name = step.element.map(|id| element(plan, id));
    // A step without an element is shown by its own name.
    let name = name.or_else(|| written.map(|written| written.name.as_str().into()));
    let middle = if step.is_delegated() {
        Middle::Said("by the orchestrator")
    } else if step.is_called() {
        let host = host(plan, step.host);
        Middle::Run { implementation: implementation(plan, id), host }
    } else if step.is_idle {
        Middle::Said("nothing to run")
    } else {
        Middle::Said("")
    };
    // A step that only states that a state is reached shows it in the column of states.
    let is_said = step.work.state().is_some()
        || matches!(step.work, StepWork::Deleted | StepWork::OtherState(_) | StepWork::Nothing);
    PlanRow {
        wave: step.takes_wave().then_some(step.wave),
        element: name.unwrap_or_default(),
        operation: if is_said { "" } else { operation(plan, id) },
        middle,
        state: state_after(plan, id).unwrap_or_default(),
    }
}

/// The width of a text, in characters.
fn width(text: &str) -> usize {
    text.chars().count()
}

/// The widths of the columns: those of their widest cells.
#[derive(Default)]
struct PlanColumns {
    wave: usize,
    element: usize,
    operation: usize,
    implementation: usize,
    middle: usize,
}

impl PlanColumns {
    fn of<'p>(rows: impl Iterator<Item = PlanRow<'p>>) -> Self {
        let mut widest = Self { wave: 2, ..Self::default() };
        let mut host_width = None;
        for row in rows {
            let digits = row.wave.and_then(u32::checked_ilog10).map_or(1, |it| it as usize + 1);
            widest.wave = widest.wave.max(digits);
            widest.element = widest.element.max(width(&row.element));
            widest.operation = widest.operation.max(width(row.operation));
            match row.middle {
                Middle::Run { implementation, host } => {
                    widest.implementation = widest.implementation.max(width(implementation));
                    host_width =
                        host_width.max(Some(host.map_or(0, |host| ON.len() + width(host))));
                }
                Middle::Said(said) => widest.middle = widest.middle.max(width(said)),
            }
        }
        let run = host_width.map_or(0, |host| widest.implementation + 2 + host);
        Self { middle: widest.middle.max(run), ..widest }
    }
}

/// The word between an implementation and its host.
const ON: &str = "on ";

/// Writes text in columns.
struct ColumnWriter<'o> {
    out: &'o mut String,
    /// The number of blanks to write before the next text, if there is one.
    blanks: usize,
}

impl ColumnWriter<'_> {
    /// Writes a cell of this width.
    fn cell(&mut self, text: &str, wide: usize) {
        self.text(text);
        self.blanks += wide - width(text).min(wide);
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.extend(std::iter::repeat_n(' ', self.blanks));
            self.out.push_str(text);
            self.blanks = 0;
        }
    }

    fn end(&mut self) {
        self.out.push('\n');
        self.blanks = 0;
    }
}

fn write(plan: &Plan, steps: &[PlanStepIndex], text: &mut String) {
    // The rows are computed twice, which is faster than storing those of a large plan.
    let rows = || steps.iter().map(|&id| row(plan, id));
    let columns = PlanColumns::of(rows());
    let mut writer = ColumnWriter { out: text, blanks: 0 };
    let (mut wave, mut number) = (None, String::new());
    for row in rows() {
        if wave != row.wave {
            let shown = row.wave.map(|wave| wave.to_string()).unwrap_or_default();
            (wave, number) = (row.wave, format!("{shown:>0$}", columns.wave));
        }
        writer.cell(&number, columns.wave + 2);
        writer.cell(&row.element, columns.element + 2);
        writer.cell(row.operation, columns.operation + 2);
        match row.middle {
            Middle::Said(said) => writer.cell(said, columns.middle),
            Middle::Run { implementation, host } => {
                let place = columns.implementation + 2;
                writer.cell(implementation, place);
                let before = if host.is_some() { ON } else { "" };
                writer.text(before);
                writer.cell(host.unwrap_or_default(), columns.middle - place - before.len());
            }
        }
        writer.blanks += GAP;
        writer.text(row.state);
        writer.end();
    }
}
