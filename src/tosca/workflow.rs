//! Reads the definitions of behaviour at run time: workflows (section 3.8.7), the triggers of
//! policies (3.6.22), and the conditions (3.6.25) and activities (3.6.23) of both.

use super::grammar::Grammar;
use super::shape::{
    ACTIVITY, CALL_OPERATION, DELEGATE, EVENT_FILTER, INLINE, PRECONDITION, SET_STATE, STEP, Shape,
    TRIGGER, TRIGGER_CONDITION, WORKFLOW,
};
use super::types::{Named, PropertyDefinition};
use super::v2_0;
use super::value::Clause;
use crate::diagnostic::Diagnostics;
use cuvee_text::yaml::{Node, NodeKind};

/// A trigger of a policy (section 3.6.22).
pub(crate) struct Trigger<'a> {
    /// Its name and its body.
    pub named: Named<'a>,
    /// The interval in which the trigger is valid.
    pub schedule: Option<Node<'a>>,
    /// The monitored element, where it is not a target of the policy.
    pub filter: Option<EventFilter<'a>>,
    /// The assertions of the condition.
    pub condition: Vec<Assertion<'a>>,
    /// The period over which the condition is evaluated.
    pub period: Option<Node<'a>>,
    /// The number of evaluations.
    pub evaluations: Option<Node<'a>>,
    /// The activities of the action.
    pub activities: Vec<Activity<'a>>,
}

/// An event filter (section 3.6.21).
pub(crate) struct EventFilter<'a> {
    /// The name of a node template or a node type.
    pub node: Option<Node<'a>>,
    /// The name of a requirement. Its target is monitored.
    pub requirement: Option<Node<'a>>,
    /// The name of a capability.
    pub capability: Option<Node<'a>>,
}

/// An assertion (section 3.6.24). How a condition combines assertions is not recorded, because it
/// does not affect their validity.
pub(crate) struct Assertion<'a> {
    /// The name of an attribute.
    pub attribute: Node<'a>,
    /// The clauses that the value of the attribute has to fulfil.
    pub clauses: Vec<Clause<'a>>,
}

/// The kinds of activities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivityKind {
    /// Leaves a task for a node to the orchestrator.
    Delegate,
    /// Sets the state of a node.
    SetState,
    /// Calls an operation.
    CallOperation,
    /// Runs another workflow in place of the activity.
    Inline,
}

/// An activity (section 3.6.23).
#[derive(Clone)]
pub(crate) struct Activity<'a> {
    pub kind: ActivityKind,
    /// The name of a workflow, a state, or an operation.
    pub name: Node<'a>,
    /// The inputs that are assigned to the workflow or the operation.
    pub inputs: Vec<Named<'a>>,
}

/// A precondition of a workflow (section 3.6.26).
pub(crate) struct Precondition<'a> {
    pub target: Option<Node<'a>>,
    pub relationship: Option<Node<'a>>,
    pub condition: Vec<Assertion<'a>>,
}

/// A step of a workflow (section 3.6.27).
pub(crate) struct Step<'a> {
    pub named: Named<'a>,
    pub target: Option<Node<'a>>,
    pub relationship: Option<Node<'a>>,
    pub host: Option<Node<'a>>,
    pub filter: Vec<Assertion<'a>>,
    pub activities: Vec<Activity<'a>>,
    pub on_success: Vec<Node<'a>>,
    pub on_failure: Vec<Node<'a>>,
}

/// An imperative workflow (section 3.8.7).
pub(crate) struct Workflow<'a> {
    pub named: Named<'a>,
    pub inputs: Vec<PropertyDefinition<'a>>,
    pub preconditions: Vec<Precondition<'a>>,
    pub steps: Vec<Step<'a>>,
    pub outputs: Vec<Named<'a>>,
}

impl ActivityKind {
    pub(crate) const ALL: [Self; 4] =
        [Self::Delegate, Self::SetState, Self::CallOperation, Self::Inline];

    /// The keyname of the kind.
    pub fn keyname(self) -> &'static str {
        match self {
            Self::Delegate => "delegate",
            Self::SetState => "set_state",
            Self::CallOperation => "call_operation",
            Self::Inline => "inline",
        }
    }

    /// The section that defines the kind.
    pub(crate) fn section(self) -> &'static str {
        self.shape().section
    }

    /// The keyname of the name in the long notation.
    pub(crate) fn name(self) -> &'static str {
        if self == Self::CallOperation { "operation" } else { "workflow" }
    }

    fn shape(self) -> &'static Shape {
        match self {
            Self::Delegate => &DELEGATE,
            Self::SetState => &SET_STATE,
            Self::CallOperation => &CALL_OPERATION,
            Self::Inline => &INLINE,
        }
    }
}

/// Reads the triggers of a policy.
pub(crate) fn triggers<'a>(node: Node<'a>, diagnostics: &mut Diagnostics) -> Vec<Trigger<'a>> {
    let mut grammar = Grammar::of_template(diagnostics);
    let named = grammar.map(node, "triggers", "3.8.6.1");
    named.into_iter().filter_map(|named| grammar.trigger(named)).collect()
}

/// Reads the workflows of a topology template.
pub(crate) fn workflows<'a>(node: Node<'a>, diagnostics: &mut Diagnostics) -> Vec<Workflow<'a>> {
    let mut grammar = Grammar::of_template(diagnostics);
    let named = grammar.map(node, "workflows", "3.9.1");
    named.into_iter().filter_map(|named| grammar.workflow(named)).collect()
}

impl Grammar<'_> {
    /// Reports a map that lacks a required keyname.
    fn required(&mut self, named: Named<'_>, keyname: &str, shape: &Shape) {
        if named.value.get(keyname).is_none() {
            self.invalid(named.key, format!("{} needs `{keyname}`", shape.what), shape.section);
        }
    }

    /// Reads a list. A node that is not a list is reported.
    fn listed<'a>(&mut self, node: Node<'a>, keyname: &str, shape: &Shape) -> Vec<Node<'a>> {
        let Some(list) = node.get(keyname).filter(|list| !list.is_null()) else {
            return Vec::new();
        };
        if list.kind() != NodeKind::Sequence {
            self.wrong(list, keyname, "a list", shape.section);
        }
        list.items().collect()
    }

    /// Reads a trigger. Returns nothing where the node is not a map.
    pub(crate) fn trigger<'a>(&mut self, named: Named<'a>) -> Option<Trigger<'a>> {
        let node = named.value;
        self.keynames(node, &TRIGGER);
        if node.kind() != NodeKind::Mapping {
            return None;
        }
        match node.entries().find(|(key, _)| key.text() == Some("event_type")) {
            Some((key, _)) => {
                self.deprecated(key, "`event_type` is deprecated: write `event`", TRIGGER.section);
                self.string(node, "event_type", &TRIGGER);
            }
            None => self.required(named, "event", &TRIGGER),
        }
        self.string(node, "event", &TRIGGER);
        self.required(named, "action", &TRIGGER);
        let extended = node.get("condition").filter(|condition| {
            condition
                .entries()
                .any(|(key, _)| key.text().is_some_and(|text| TRIGGER_CONDITION.has(text)))
        });
        if let Some(extended) = extended {
            self.keynames(extended, &TRIGGER_CONDITION);
            self.string(extended, "method", &TRIGGER_CONDITION);
        }
        Some(Trigger {
            named,
            // TOSCA 2.0 has none.
            schedule: node.get("schedule").filter(|it| !v2_0::is_of(it.document())),
            filter: node.get("target_filter").and_then(|filter| self.event_filter(filter)),
            condition: match extended {
                Some(extended) => self.conditions(extended, "constraint"),
                None => self.conditions(node, "condition"),
            },
            period: extended.and_then(|extended| extended.get("period")),
            evaluations: extended.and_then(|extended| extended.get("evaluations")),
            activities: self.activities(node, "action"),
        })
    }

    fn event_filter<'a>(&mut self, node: Node<'a>) -> Option<EventFilter<'a>> {
        self.keynames(node, &EVENT_FILTER);
        if node.kind() != NodeKind::Mapping {
            return None;
        }
        if node.get("node").is_none() {
            self.invalid(node, "an event filter needs `node`", EVENT_FILTER.section);
        }
        Some(EventFilter {
            node: self.string(node, "node", &EVENT_FILTER),
            requirement: self.string(node, "requirement", &EVENT_FILTER),
            capability: self.string(node, "capability", &EVENT_FILTER),
        })
    }

    /// Reads all assertions of a condition: a list of clauses, or a single one.
    fn conditions<'a>(&mut self, node: Node<'a>, keyname: &str) -> Vec<Assertion<'a>> {
        let mut assertions = Vec::new();
        // The conditions of TOSCA 2.0 are expressions, which are checked as such.
        let condition = node.get(keyname).filter(|it| !v2_0::is_of(it.document()));
        if let Some(condition) = condition {
            self.clauses(condition, keyname, &mut assertions);
        }
        assertions
    }

    fn clauses<'a>(&mut self, node: Node<'a>, keyname: &str, assertions: &mut Vec<Assertion<'a>>) {
        match node.kind() {
            NodeKind::Sequence => {
                node.items().for_each(|clause| self.clause(clause, keyname, assertions))
            }
            _ => self.clause(node, keyname, assertions),
        }
    }

    /// Reads a condition clause: assertions, or one operator over further clauses.
    fn clause<'a>(&mut self, clause: Node<'a>, keyname: &str, assertions: &mut Vec<Assertion<'a>>) {
        if clause.kind() != NodeKind::Mapping {
            return self.wrong(clause, keyname, "a list of condition clauses", "3.6.25.2");
        }
        let mut operator: Option<&str> = None;
        for (key, value) in clause.entries() {
            let text = key.text().unwrap_or_default();
            if !matches!(text, "and" | "or" | "not" | "assert") {
                assertions.push(self.assertion(key, value));
                continue;
            }
            if let Some(first) = operator.replace(text) {
                let message = format!(
                    "a condition clause can have only one of `and`, `or` and `not`, and `{first}` is there already"
                );
                self.invalid(key, message, "3.6.25.4");
            }
            if text == "assert" {
                self.deprecated(key, "`assert` is deprecated: write `and`", "3.6.25.1");
            }
            self.clauses(value, text, assertions);
        }
    }

    fn assertion<'a>(&mut self, attribute: Node<'a>, value: Node<'a>) -> Assertion<'a> {
        let written = match value.kind() {
            NodeKind::Sequence => value.items().collect(),
            _ => vec![value],
        };
        let read = |clause| self.diagnostics.ok(Clause::read(clause));
        let clauses = written.into_iter().filter_map(read).collect();
        Assertion { attribute, clauses }
    }

    /// Reads a list of activities. A single activity, as in earlier versions, is accepted with a
    /// warning.
    fn activities<'a>(&mut self, node: Node<'a>, keyname: &str) -> Vec<Activity<'a>> {
        match node.get(keyname) {
            Some(list) if list.kind() == NodeKind::Sequence => {
                list.items().filter_map(|item| self.activity(item)).collect()
            }
            Some(only) if only.kind() == NodeKind::Mapping => {
                // In TOSCA 2.0 it is an error, which the grammar tells.
                if !v2_0::is_of(only.document()) {
                    self.deprecated(
                        only,
                        format!("a single activity is deprecated: write `{keyname}` as a list"),
                        ACTIVITY.section,
                    );
                }
                self.activity(only).into_iter().collect()
            }
            Some(other) => {
                self.wrong(other, keyname, "a list of activities", ACTIVITY.section);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    fn activity<'a>(&mut self, node: Node<'a>) -> Option<Activity<'a>> {
        let kind_of = |key: Node<'_>| {
            ActivityKind::ALL.into_iter().find(|kind| key.text() == Some(kind.keyname()))
        };
        let Some((kind, value)) =
            node.entries().find_map(|(key, value)| Some((kind_of(key)?, value)))
        else {
            match node.entries().len() {
                0 => self.invalid(
                    node,
                    format!(
                        "an activity has to be a map with one of {}",
                        ACTIVITY.names().collect::<Vec<_>>().join(", ")
                    ),
                    "3.6.23",
                ),
                _ => self.keynames(node, &ACTIVITY),
            }
            return None;
        };
        let shape = kind.shape();
        self.keynames(node, shape);
        // By the grammar, the long notation is below the keyname. In the printed examples it is
        // beside it.
        let long = if value.kind() == NodeKind::Mapping && kind != ActivityKind::SetState {
            value
        } else {
            node
        };
        if value.kind() == NodeKind::Mapping && kind != ActivityKind::SetState {
            self.keynames(value, shape);
        }
        let keyname =
            if long.ptr_eq(value) || value.is_null() { kind.name() } else { kind.keyname() };
        let name = self.string(long, keyname, shape);
        if long.get(keyname).is_none() {
            self.invalid(
                long,
                format!("`{}` needs a name as `{keyname}`", kind.keyname()),
                shape.section,
            );
        }
        Some(Activity { kind, name: name?, inputs: self.entries(long, "inputs", shape) })
    }

    fn workflow<'a>(&mut self, named: Named<'a>) -> Option<Workflow<'a>> {
        let node = named.value;
        self.keynames(node, &WORKFLOW);
        if node.kind() != NodeKind::Mapping {
            return None;
        }
        let implementation = node.get("implementation");
        // The grammar of TOSCA 2.0 tells it there.
        let has_steps = node.get("steps").is_some() && !v2_0::is_of(node.document());
        if let Some(both) = implementation.filter(|_| has_steps) {
            self.invalid(
                both,
                "a workflow needs either `steps` or an `implementation`",
                WORKFLOW.section,
            );
        }
        if let Some(implementation) = implementation.filter(|node| node.as_str().is_none()) {
            self.implementation(implementation);
        }
        let preconditions = self.listed(node, "preconditions", &WORKFLOW);
        let steps = self.entries(node, "steps", &WORKFLOW);
        Some(Workflow {
            named,
            inputs: self.inputs(node, &WORKFLOW),
            preconditions: preconditions.into_iter().map(|node| self.precondition(node)).collect(),
            steps: steps.into_iter().map(|named| self.step(named)).collect(),
            outputs: self.entries(node, "outputs", &WORKFLOW),
        })
    }

    fn precondition<'a>(&mut self, node: Node<'a>) -> Precondition<'a> {
        self.keynames(node, &PRECONDITION);
        if node.kind() == NodeKind::Mapping && node.get("target").is_none() {
            self.invalid(node, "a precondition needs `target`", PRECONDITION.section);
        }
        Precondition {
            target: self.string(node, "target", &PRECONDITION),
            relationship: self.string(node, "target_relationship", &PRECONDITION),
            condition: self.conditions(node, "condition"),
        }
    }

    fn step<'a>(&mut self, named: Named<'a>) -> Step<'a> {
        let node = named.value;
        // Section 7.3.1.1 has empty steps.
        if !node.is_null() {
            self.keynames(node, &STEP);
        }
        let activities = self.activities(node, "activities");
        let acts = activities.iter().any(|activity| activity.kind != ActivityKind::Inline);
        if acts {
            self.required(named, "target", &STEP);
        }
        Step {
            named,
            target: self.string(node, "target", &STEP),
            relationship: self.string(node, "target_relationship", &STEP),
            host: self.string(node, "operation_host", &STEP),
            filter: self.conditions(node, "filter"),
            activities,
            on_success: self.step_names(node, "on_success"),
            on_failure: self.step_names(node, "on_failure"),
        }
    }

    /// Reads a list of step names. Section 7.3.1.2 writes a single name without a list.
    fn step_names<'a>(&mut self, node: Node<'a>, keyname: &str) -> Vec<Node<'a>> {
        match node.get(keyname) {
            Some(only) if only.as_str().is_some() => vec![only],
            _ => self.strings(node, keyname, &STEP).unwrap_or_default(),
        }
    }
}
