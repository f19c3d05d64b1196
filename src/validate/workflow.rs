//! Checks imperative workflows (section 3.8.7).

use super::activity::Workflows;
use super::checker::Checker;
use super::condition::Subject;
use super::function::PathStop;
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, did_you_mean, listed};
use crate::topology::cycle::shortest_cycles;
use crate::tosca::Family;
use crate::tosca::v2_0;
use crate::tosca::value::{check_definition, defines_parameter};
use crate::tosca::workflow::{self, ActivityKind, Step, Workflow};
use crate::variability::graph::Target;
use cuvee_text::source::Span;
use cuvee_text::yaml::Node;
use rustc_hash::FxHashMap;

/// A condition of TOSCA 2.0, which is an expression.
pub(super) fn of_2_0<'a>(element: Node<'a>, keyname: &str) -> Option<Node<'a>> {
    element.get(keyname).filter(|_| v2_0::is_of(element.document()))
}

/// An edge between steps: the following step, and the place that names it.
type StepEdge = (usize, Span);

impl<'a> Checker<'_, 'a> {
    /// Checks all workflows, and returns them.
    pub(super) fn workflows(&self) -> Workflows<'a> {
        let mut diagnostics = Diagnostics::default();
        let nodes = self.graph.template.topologies().filter_map(|it| it.get("workflows"));
        let all = nodes.flat_map(|node| workflow::workflows(node, &mut diagnostics)).collect();
        self.report_all(&[], diagnostics);
        let workflows = Workflows::new(all);
        for workflow in &workflows.all {
            self.workflow(workflow, &workflows);
        }
        self.inlining(&workflows);
        workflows
    }

    fn workflow(&self, workflow: &Workflow<'a>, workflows: &Workflows<'a>) {
        if !self.graph.template.is_imported(workflow.named.key.span()) {
            let own: Vec<_> = workflow.inputs.iter().map(|input| input.named).collect();
            self.inputs_asked_in(workflow.named.value, &own);
        }
        for input in &workflow.inputs {
            // What is no definition in TOSCA 2.0 is a value (section 9.7).
            let value = input.named.value;
            let is_of_2_0 = v2_0::is_of(value.document());
            let is_value = is_of_2_0 && !defines_parameter(value);
            // What implements a workflow may be given values, which come in nowhere else.
            if is_of_2_0 && workflow.named.value.get("implementation").is_none() {
                let owner = format!("the input `{}` of a workflow", input.named.name);
                self.unchosen_input(&[], &owner, value, "3.8.7.1");
                self.mapped_input(input.named);
            }
            if !is_value && self.schema_types(&[], value) {
                self.report_values(&[], check_definition(input, &self.schemas));
            }
        }
        for precondition in &workflow.preconditions {
            let target = precondition
                .target
                .map(|target| self.subject(target, precondition.relationship, "3.6.26.1"));
            target
                .into_iter()
                .for_each(|subject| self.assertions(&precondition.condition, &subject));
        }
        if let Some(condition) = of_2_0(workflow.named.value, "precondition") {
            self.condition(PathStop::Nothing, condition);
        }
        for step in &workflow.steps {
            let subject = step
                .target
                .map(|target| self.subject(target, step.relationship, "3.6.27.1"))
                .unwrap_or_default();
            self.assertions(&step.filter, &subject);
            if let Some(filter) = of_2_0(step.named.value, "filter") {
                self.condition(self.reached(&subject), filter);
            }
            self.activities_in(&step.activities, &subject, workflows, &workflow.inputs);
            self.step_host(step, &subject);
        }
        self.order(&workflow.steps);
        for output in &workflow.outputs {
            self.mapped_parameter(("output", "3.8.7.1"), *output);
        }
    }

    /// Checks `operation_host` of a step: for a relationship its source or target, for a group a
    /// node or a node type.
    fn step_host(&self, step: &Step<'a>, subject: &Subject<'_, 'a>) {
        let calls =
            step.activities.iter().any(|activity| activity.kind == ActivityKind::CallOperation);
        let related = step.relationship.is_some();
        let error = |at: Node<'_>, message: String| {
            let error =
                Diagnostic::error(Code::InvalidTemplate, message).at(at.span()).section("3.6.27.1");
            self.report_when(&subject.when, &[], error);
        };
        match step.host {
            // Steps of TOSCA 2.0 do not say where they run.
            None if related && calls && !v2_0::is_of(step.named.key.document()) => {
                error(
                    step.named.key,
                    "a step that calls operations of a relationship needs `operation_host`".into(),
                );
            }
            // Section 3.6.16.1 allows the orchestrator as well.
            Some(host)
                if related
                    && !matches!(host.text(), Some("SOURCE" | "TARGET" | "ORCHESTRATOR")) =>
            {
                error(
                    host,
                    "the `operation_host` of a relationship has to be `SOURCE` or `TARGET`".into(),
                );
            }
            Some(host)
                if !related
                    && step.target.and_then(|name| self.target(name)).is_some_and(is_group) =>
            {
                let name = host.text().unwrap_or_default();
                let is_node = matches!(self.target(host), Some(Target::Node(_)));
                if !is_node && self.types.find(Family::Node, name).is_none() {
                    let message = format!(
                        "the `operation_host` of a group has to be a node or a node type, and `{name}` is neither"
                    );
                    error(host, message);
                }
            }
            _ => {}
        }
    }

    /// Checks the order of steps: the named steps exist, and no step follows itself, not even
    /// indirectly.
    fn order(&self, steps: &[Step<'a>]) {
        let positions: FxHashMap<_, _> =
            steps.iter().enumerate().map(|(index, step)| (step.named.name, index)).collect();
        let follow = |names: &[Node<'a>]| -> Vec<StepEdge> {
            let known = |name: &Node<'a>| {
                let text = name.text().unwrap_or_default();
                let found = positions.get(text).map(|&index| (index, name.span()));
                if found.is_none() {
                    let error = Diagnostic::error(
                        Code::UnknownElement,
                        format!("there is no step `{text}`"),
                    )
                    .at(name.span());
                    let help = did_you_mean(text, steps.iter().map(|step| step.named.name));
                    self.report_when(&[], &[], error.section("3.6.27.1").help_opt(help));
                }
                found
            };
            names.iter().filter_map(known).collect()
        };
        let mut edges: Vec<_> = steps.iter().map(|step| follow(&step.on_success)).collect();
        let found = shortest_cycles(&edges);
        let deadlocks = !found.is_empty();
        for cycle in found {
            let message = match cycle.as_slice() {
                [_] => format!("the step {} waits for itself", names(steps, &cycle)),
                _ => format!("the steps {} wait for each other", names(steps, &cycle)),
            };
            let error = Diagnostic::error(Code::CyclicWorkflow, message)
                .at(closing(&cycle))
                .section("7.3.1.1")
                .help("leave this step out of `on_success`");
            self.report_when(&[], &[], error);
        }
        for (step, edges) in steps.iter().zip(&mut edges) {
            edges.extend(follow(&step.on_failure));
        }
        for cycle in shortest_cycles(&edges).into_iter().filter(|_| !deadlocks) {
            let message = match cycle.as_slice() {
                [_] => format!("the step {} may follow itself without end", names(steps, &cycle)),
                _ => {
                    format!("the steps {} may follow each other without end", names(steps, &cycle))
                }
            };
            let warning = Diagnostic::warning(Code::CyclicWorkflow, message)
                .at(closing(&cycle))
                .section("7.3.7");
            self.report_when(&[], &[], warning);
        }
    }

    /// Checks that no workflow inlines itself, not even indirectly.
    fn inlining(&self, workflows: &Workflows<'a>) {
        let inlined = |workflow: &Workflow<'a>| -> Vec<StepEdge> {
            let activities = workflow.steps.iter().flat_map(|step| &step.activities);
            let inline = activities.filter(|activity| activity.kind == ActivityKind::Inline);
            inline
                .filter_map(|activity| {
                    Some((workflows.position(activity.name.text()?)?, activity.name.span()))
                })
                .collect()
        };
        let edges: Vec<_> = workflows.all.iter().map(inlined).collect();
        for cycle in shortest_cycles(&edges) {
            let name =
                |index: usize| workflows.all.get(index).map_or("", |workflow| workflow.named.name);
            let through = match &cycle[..] {
                [] | [_] => String::new(),
                [_, between @ ..] => {
                    format!(" through {}", listed(between.iter().map(|&(index, _)| name(index))))
                }
            };
            let first = cycle.first().map_or("", |&(index, _)| name(index));
            let message = format!("the workflow `{first}` inlines itself{through}");
            let error = Diagnostic::error(Code::CyclicWorkflow, message)
                .at(closing(&cycle))
                .section("3.6.23.4")
                .help("leave this `inline` out");
            self.report_when(&[], &[], error);
        }
    }
}

fn is_group(target: Target) -> bool {
    matches!(target, Target::Group(_))
}

/// The place of the edge that closes a cycle.
fn closing(cycle: &[(usize, Span)]) -> Span {
    cycle.last().map_or(Span::DETACHED, |&(_, span)| span)
}

fn names(steps: &[Step<'_>], cycle: &[(usize, Span)]) -> String {
    listed(cycle.iter().filter_map(|&(index, _)| steps.get(index)).map(|step| step.named.name))
}
