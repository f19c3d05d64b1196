//! Checks, before anything runs, all that can be known, and tells it at once.

use super::place::{HostAddress, Provider, TaskPlace};
use super::plan::{RunStep, StepKind};
use super::runner::{Protocol, how_to_install, installed};
use super::values::Values;
use super::workshop::{Workshop, no_provider};
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::instance::InstanceModel;
use crate::topology::value_source::calls;
use crate::tosca::function::Function;
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many steps a message names.
const NAMED: usize = 3;

/// The problems that were found, each with the steps that it concerns.
#[derive(Default)]
struct FoundProblems<'s> {
    /// By code and message, so that what is alike is told once.
    problems: BTreeMap<(String, String), (Diagnostic, Vec<&'s str>)>,
}

impl<'s> FoundProblems<'s> {
    fn add(&mut self, step: &'s RunStep, problem: Diagnostic) {
        let key = (problem.code.as_str().to_owned(), problem.message.clone());
        self.problems.entry(key).or_insert((problem, Vec::new())).1.push(&step.id);
    }

    fn add_all<T>(&mut self, step: &'s RunStep, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|problem| self.add(step, problem)).ok()
    }

    fn into_diagnostics(self) -> Vec<Diagnostic> {
        let named = |(mut problem, steps): (Diagnostic, Vec<&str>)| {
            let shown: Vec<_> = steps.iter().take(NAMED).map(|step| format!("`{step}`")).collect();
            let more = match steps.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            problem.message = format!("{}; needed by {}{more}", problem.message, shown.join(", "));
            problem
        };
        self.problems.into_values().map(named).collect()
    }
}

/// Checks the steps that are left. `reaches` asks whether a host answers.
pub(super) fn check(
    workshop: &Workshop<'_>,
    model: &InstanceModel,
    reaches: &mut dyn FnMut(&HostAddress) -> Result<(), Diagnostic>,
) -> Vec<Diagnostic> {
    let mut found = FoundProblems::default();
    let givers = AttributeGivers::of(workshop, model);
    let mut hosts: BTreeMap<HostAddress, &RunStep> = BTreeMap::new();
    for step in workshop.remaining(model) {
        if let Some(orchestrator) = step.orchestrator() {
            let problems = workshop.check_handover(orchestrator, model.secrets);
            problems.into_iter().for_each(|problem| found.add(step, problem));
            continue;
        }
        let place = match step.kind {
            StepKind::Delegate => provided(workshop, model, step, &mut found),
            _ => called(workshop, model, step, &givers, &mut found),
        };
        if let Some(TaskPlace::Host(host)) = place {
            hosts.entry(host).or_insert(step);
        }
    }
    if !hosts.is_empty() {
        for program in ["ssh", "scp"] {
            if let (None, Some(step)) = (installed(program), hosts.values().next()) {
                found.add(step, missing_program(program));
            }
        }
    }
    for (host, step) in hosts {
        found.add_all(step, reaches(&host));
    }
    found.into_diagnostics()
}

fn provided<'s>(
    workshop: &Workshop<'_>,
    model: &InstanceModel,
    step: &'s RunStep,
    found: &mut FoundProblems<'s>,
) -> Option<TaskPlace> {
    let node = step.node().unwrap_or_default();
    match workshop.provider(node, model) {
        None => {
            found.add(step, no_provider(node));
            None
        }
        Some(Provider::Command(path)) if !path.is_file() => {
            let message = format!("there is no program `{}`", path.display());
            let help = format!("correct `--provider {node}=command:PATH`");
            found.add(step, Diagnostic::error(Code::File, message).help(help));
            None
        }
        Some(provider) => {
            if let Provider::Command(_) = provider {
                found.add_all(step, workshop.check_told(step, model));
            }
            workshop.place_of(node, model)
        }
    }
}

fn called<'s>(
    workshop: &'s Workshop<'_>,
    model: &InstanceModel,
    step: &'s RunStep,
    givers: &AttributeGivers<'_>,
    found: &mut FoundProblems<'s>,
) -> Option<TaskPlace> {
    let said = step.implementation.clone().unwrap_or_default();
    let implementation = found.add_all(step, workshop.implementation(step, &said, model));
    let files = workshop.files_of(step, model);
    for name in &said.dependencies {
        found.add_all(step, workshop.named(files, step, name));
    }
    let is_later = is_later(workshop, model, step);
    let place = match is_later {
        true => None,
        false => found.add_all(step, workshop.place(step, model)),
    };
    if let Some(implementation) = implementation {
        let is_ansible = implementation.runner.protocol == Protocol::Ansible;
        let program = implementation.runner.program();
        // What a host has is not known here.
        let is_here = is_ansible || matches!(place, Some(TaskPlace::Here));
        if is_here && installed(program).is_none() {
            found.add(step, missing_program(program));
        }
    }
    inputs(workshop, model, step, givers, found);
    place
}

/// Whether the address of a step's host is known only once other steps have run.
fn is_later(workshop: &Workshop<'_>, model: &InstanceModel, step: &RunStep) -> bool {
    let Some(host) = step.host.as_deref().and_then(|host| host.strip_prefix("node.")) else {
        return false;
    };
    let brings = |other: &RunStep| match other.kind {
        StepKind::Delegate => {
            matches!(workshop.provider(host, model), Some(Provider::Command(_)))
        }
        _ => other.id != step.id && other.host != step.host,
    };
    // What goes has a host that is there already, whose address nobody gives any more.
    let goes = step.is_removal() || workshop.plan.target().is_none();
    !goes
        && workshop.place_of(host, model).is_none()
        && workshop.remaining(model).any(|other| other.node() == Some(host) && brings(other))
}

/// Checks that inputs have a source: secrets, and attributes that are there or that a step can
/// still give.
fn inputs<'s>(
    workshop: &Workshop<'_>,
    model: &InstanceModel,
    step: &'s RunStep,
    givers: &AttributeGivers<'_>,
    found: &mut FoundProblems<'s>,
) {
    let files = workshop.files_of(step, model);
    let lacks = Cell::new(false);
    let artifacts = |node: &str, name: &str| {
        let found = workshop.artifact(files, (node, name), model);
        lacks.set(found.is_none());
        found.map(|_| String::new())
    };
    let now = Values { artifacts: &artifacts, ..values(workshop, model) };
    let then = values(workshop, &workshop.to);
    for (name, input) in &step.inputs {
        lacks.set(false);
        match now.input(step, name, input) {
            Err(problem) if lacks.get() => found.add(step, problem),
            Err(problem) if problem.code == Code::MissingSecret => found.add(step, problem),
            Err(problem) if problem.code == Code::UnresolvedAttribute => {
                let missing = now.missing(step, name, input);
                let still = then.missing(step, name, input);
                let is_lost = |node: &str| {
                    !givers.may_give(step, node) && still.iter().any(|(other, _)| other == node)
                };
                let lost = missing.into_iter().filter(|(node, _)| is_lost(node));
                lost.for_each(|(_, problem)| found.add(step, problem));
            }
            // What neither the instance nor its target has will not be there later.
            // Outputs of operations come while a plan runs.
            Err(problem)
                if problem.code == Code::UnknownProperty
                    && !calls(&input.value, Function::GetOperationOutput) =>
            {
                let then = then.input(step, name, input).err();
                if then.is_some_and(|then| then.code == problem.code) {
                    found.add(step, problem);
                }
            }
            _ => {}
        }
    }
}

/// The nodes to which steps that are left may give attributes, each with its steps.
struct AttributeGivers<'s>(FxHashMap<Arc<str>, Vec<&'s str>>);

impl<'s> AttributeGivers<'s> {
    fn of(workshop: &'s Workshop<'_>, model: &'s InstanceModel) -> Self {
        let values = values(workshop, model);
        let mut givers: FxHashMap<Arc<str>, Vec<&str>> = FxHashMap::default();
        for step in workshop.remaining(model) {
            let keywords = step.outputs.values().map(|mapping| &*mapping.entity).chain(["SELF"]);
            for node in keywords.filter_map(|keyword| values.entity(step, keyword)) {
                givers.entry(node).or_default().push(&step.id);
            }
        }
        Self(givers)
    }

    /// Whether another step than this one may give attributes to a node.
    fn may_give(&self, step: &RunStep, node: &str) -> bool {
        self.0.get(node).is_some_and(|steps| steps.iter().any(|other| *other != &*step.id))
    }
}

fn values<'v>(workshop: &'v Workshop<'_>, model: &'v InstanceModel) -> Values<'v> {
    let Workshop { to, kinds, forms, secrets, .. } = workshop;
    Values { model, to, kinds, forms: *forms, secrets, artifacts: &|_, _| Some(String::new()) }
}

pub(super) fn missing_program(program: &str) -> Diagnostic {
    let message = format!("`{program}` is not installed");
    Diagnostic::error(Code::MissingProgram, message).help(how_to_install(program))
}

impl Workshop<'_> {
    /// The steps that run something and are not done.
    pub(super) fn remaining<'w>(
        &'w self,
        model: &'w InstanceModel,
    ) -> impl Iterator<Item = &'w RunStep> {
        use crate::orchestrate::instance::StepStatus;
        let steps = model.orchestration.as_ref().map(|open| &open.steps);
        let is_done = move |id: &Arc<str>| {
            steps.is_some_and(|steps| steps.get(id) == Some(&StepStatus::Done))
        };
        self.plan.steps.iter().filter(move |step| step.is_run() && !is_done(&step.id))
    }
}
