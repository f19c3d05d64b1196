//! Checks the activities (section 3.6.23) of workflow steps and policy triggers.

use super::checker::Checker;
use super::condition::{AssertedEntity, Subject};
use super::function::{ActivityPlace, PathStop};
use crate::diagnostic::{Cite, Code, Diagnostic, did_you_mean};
use crate::tosca::value::check_argument;
use crate::tosca::workflow::{Activity, ActivityKind, Workflow};
use crate::tosca::{EffectiveInterface, Family, Named, PropertyDefinition, TypeId, v2_0};
use cuvee_text::yaml::{Node, NodeKind};
use rustc_hash::FxHashMap;

/// The workflows that every orchestrator provides (section 7.1), including the names that sections
/// 7.2.1.1 and 7.3.7 use for them.
const NORMATIVE: [&str; 4] = ["deploy", "undeploy", "install", "uninstall"];

/// The workflows of a template, by their names.
pub(super) struct Workflows<'a> {
    pub all: Vec<Workflow<'a>>,
    positions: FxHashMap<&'a str, usize>,
}

impl<'a> Workflows<'a> {
    pub(super) fn new(all: Vec<Workflow<'a>>) -> Self {
        let positions =
            all.iter().enumerate().map(|(index, workflow)| (workflow.named.name, index)).collect();
        Self { all, positions }
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    fn find(&self, name: &str) -> Option<&Workflow<'a>> {
        self.all.get(self.position(name)?)
    }

    /// Whether the template defines a workflow of this name, or every orchestrator provides it.
    pub(super) fn has(&self, name: &str) -> bool {
        self.positions.contains_key(name) || NORMATIVE.contains(&name)
    }

    /// The error that there is no workflow of that name.
    pub(super) fn unknown(&self, name: Node<'_>) -> Diagnostic {
        let text = name.text().unwrap_or_default();
        let error =
            Diagnostic::error(Code::UnknownElement, format!("there is no workflow `{text}`"))
                .at(name.span());
        error.help_opt(did_you_mean(text, self.all.iter().map(|workflow| workflow.named.name)))
    }
}

/// The operation that an activity calls.
#[derive(Clone, Copy)]
struct CalledOperation<'n> {
    /// The name of an interface or of its type; section 7.3.4.2 omits it.
    interface: Option<&'n str>,
    name: &'n str,
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Checks the activities of a trigger against the subject that they are performed on.
    pub(super) fn activities(
        &self,
        activities: &[Activity<'a>],
        subject: &Subject<'c, 'a>,
        workflows: &Workflows<'a>,
    ) {
        self.activities_in(activities, subject, workflows, &[]);
    }

    /// The same of activities in a workflow that has these inputs.
    pub(super) fn activities_in(
        &self,
        activities: &[Activity<'a>],
        subject: &Subject<'c, 'a>,
        workflows: &Workflows<'a>,
        inputs: &[PropertyDefinition<'a>],
    ) {
        let place = ActivityPlace { own: PathStop::Unknown, inputs, when: &subject.when };
        for activity in activities {
            match activity.kind {
                ActivityKind::SetState => {}
                ActivityKind::Delegate => self.delegate(activity, workflows, place),
                ActivityKind::Inline => self.inline(activity, workflows, place),
                ActivityKind::CallOperation => self.call_operation(activity, subject, inputs),
            }
        }
    }

    fn delegate(
        &self,
        activity: &Activity<'a>,
        workflows: &Workflows<'a>,
        place: ActivityPlace<'_, 'c, 'a>,
    ) {
        let name = activity.name.text().unwrap_or_default();
        if let Some(workflow) = workflows.find(name) {
            return self.workflow_inputs(activity, workflow, place);
        }
        if !NORMATIVE.contains(&name) {
            let message = format!(
                "whether there is a workflow `{name}` cannot be decided: an orchestrator may provide it"
            );
            let note = Diagnostic::note(Code::Undecidable, message).at(activity.name.span());
            self.report_when(place.when, &[], note.section(activity.kind.section()));
        }
    }

    fn inline(
        &self,
        activity: &Activity<'a>,
        workflows: &Workflows<'a>,
        place: ActivityPlace<'_, 'c, 'a>,
    ) {
        let name = activity.name.text().unwrap_or_default();
        match workflows.find(name) {
            Some(workflow) => self.workflow_inputs(activity, workflow, place),
            None if workflows.has(name) => {}
            None => self.report_when(
                place.when,
                &[],
                workflows.unknown(activity.name).section(activity.kind.section()),
            ),
        }
    }

    /// Checks the values for inputs of a workflow: the workflow has the inputs, and the values fit.
    fn workflow_inputs(
        &self,
        activity: &Activity<'a>,
        workflow: &Workflow<'a>,
        place: ActivityPlace<'_, 'c, 'a>,
    ) {
        let when = place.when;
        for input in &activity.inputs {
            let Some(definition) =
                workflow.inputs.iter().find(|definition| definition.named.name == input.name)
            else {
                let message =
                    format!("the workflow `{}` has no input `{}`", workflow.named.name, input.name);
                let error = Diagnostic::error(Code::UnknownProperty, message).at(input.key.span());
                let help = did_you_mean(
                    input.name,
                    workflow.inputs.iter().map(|definition| definition.named.name),
                );
                self.report_when(when, &[], error.section(activity.kind.section()).help_opt(help));
                continue;
            };
            self.activity_input(*input, definition, place);
            if v2_0::is_of(input.value.document()) {
                self.paths(PathStop::Unknown, input.value);
            }
        }
        let is_missing = |definition: &&PropertyDefinition<'_>| {
            let is_given = |input: &Named<'_>| input.name == definition.named.name;
            definition.needs_value() && !activity.inputs.iter().any(is_given)
        };
        for definition in workflow.inputs.iter().filter(is_missing) {
            let (workflow, input) = (workflow.named.name, definition.named.name);
            let message = format!("the workflow `{workflow}` needs a value of its input `{input}`");
            let error = Diagnostic::error(Code::MissingProperty, message).at(activity.name.span());
            let error = error.section(activity.kind.section());
            let error = error.label(definition.named.key.span(), "the input is defined here");
            self.report_when(when, &[], error.help("give it under `inputs` of the activity"));
        }
    }

    fn activity_input(
        &self,
        input: Named<'a>,
        definition: &PropertyDefinition<'_>,
        place: ActivityPlace<'_, 'c, 'a>,
    ) {
        let found = check_argument(input.value, definition, &self.schemas);
        found.undecided.iter().for_each(|open| self.result_fits(place, open));
        self.report_values(place.when, found);
    }

    fn call_operation(
        &self,
        activity: &Activity<'a>,
        subject: &Subject<'c, 'a>,
        inputs: &[PropertyDefinition<'a>],
    ) {
        let own = self.reached(subject);
        let of_2_0 = activity.inputs.iter().filter(|input| v2_0::is_of(input.value.document()));
        of_2_0.for_each(|input| self.paths(own, input.value));
        let text = activity.name.text().unwrap_or_default();
        let operation = match text.rsplit_once('.') {
            Some((interface, name)) => CalledOperation { interface: Some(interface), name },
            None => CalledOperation { interface: None, name: text },
        };
        let is_name = activity.name.as_str().is_some() && v2_0::is_of(activity.name.document());
        if is_name && operation.interface.is_none() {
            let message = format!("`{text}` does not say of which interface the operation is");
            let warning = Diagnostic::warning(Code::InvalidTemplate, message);
            let warning = warning.at(activity.name.span()).section(activity.kind.section());
            let help = format!("write the name of the interface before it: `INTERFACE.{text}`");
            self.report_when(&subject.when, &[], warning.help(help));
        }
        if subject.groups.iter().any(|&kind| self.interface_of(kind, operation).is_some()) {
            return;
        }
        for entity in &subject.entities {
            let when = subject.when(entity);
            match self.interface_of(entity.kind, operation) {
                Some(interface) => {
                    let given = self.assigned_inputs(entity, operation);
                    let place = ActivityPlace { own, inputs, when: &when };
                    self.operation_inputs(activity, interface, (operation, &given), place)
                }
                None if self.is_added(entity, operation) => {}
                None => {
                    let known: Vec<_> = self.operations_of(entity.kind).collect();
                    let (wanted, known) =
                        ((entity.kind, "operation"), known.iter().map(String::as_str));
                    self.lacks(&when, wanted, activity.name, known, activity.kind.section());
                }
            }
        }
    }

    /// The interface of a type that contains an operation.
    fn interface_of(
        &self,
        kind: TypeId,
        operation: CalledOperation<'_>,
    ) -> Option<&'c EffectiveInterface<'c>> {
        let interfaces = self.types.effective(kind).interfaces.values();
        let named = interfaces
            .filter(|part| self.is_meant(operation, part.named.name, part.definition.kind));
        named
            .map(|part| &part.definition)
            .find(|interface| interface.operations.contains_key(operation.name))
    }

    /// Whether an activity may refer to an interface of this name and type.
    fn is_meant(&self, operation: CalledOperation<'_>, name: &str, kind: Option<Node<'_>>) -> bool {
        let Some(wanted) = operation.interface.filter(|&wanted| wanted != name) else {
            return true;
        };
        let find = |name: &str| self.types.find(Family::Interface, name);
        // The name of an interface without a type may itself be the name of an interface type.
        let own = kind.and_then(|kind| find(kind.text()?)).or_else(|| find(name));
        own.zip(find(wanted)).is_some_and(|(own, wanted)| self.may_derive(own, wanted))
    }

    /// Whether a template, or the definition of a requirement, adds the operation to the type.
    fn is_added(&self, entity: &AssertedEntity<'c, 'a>, operation: CalledOperation<'_>) -> bool {
        let given = entity
            .given
            .iter()
            .filter(|interface| self.is_meant(operation, interface.named.name, interface.kind));
        let is_given = given
            .flat_map(|interface| &interface.operations)
            .any(|given| given.named.name == operation.name);
        is_given || self.assigned(entity, operation).next().is_some()
    }

    /// The assignments of the interfaces that may be meant in the template of an entity.
    fn assigned_interfaces(
        &self,
        entity: &AssertedEntity<'c, 'a>,
        operation: CalledOperation<'_>,
    ) -> impl Iterator<Item = Node<'a>> {
        let interfaces = entity.body.and_then(|body| body.get("interfaces"));
        let interfaces = interfaces.into_iter().flat_map(Node::entries);
        let meant = interfaces.filter(move |(name, body)| {
            self.is_meant(operation, name.text().unwrap_or_default(), body.get("type"))
        });
        meant.map(|(_, body)| body)
    }

    /// The assignments of an operation in the template of an entity.
    fn assigned(
        &self,
        entity: &AssertedEntity<'c, 'a>,
        operation: CalledOperation<'_>,
    ) -> impl Iterator<Item = Node<'a>> {
        let interfaces = self.assigned_interfaces(entity, operation);
        let operations = interfaces.flat_map(|it| it.get("operations").unwrap_or(it).entries());
        operations
            .filter(move |(name, _)| name.text() == Some(operation.name))
            .map(|(_, body)| body)
    }

    /// The names of the inputs that the template of an entity assigns to an operation, or to its
    /// interface for all operations.
    fn assigned_inputs(
        &self,
        entity: &AssertedEntity<'c, 'a>,
        operation: CalledOperation<'_>,
    ) -> Vec<Node<'a>> {
        let all = self.assigned_interfaces(entity, operation);
        let inputs = all.chain(self.assigned(entity, operation));
        let inputs = inputs.filter_map(|it| it.get("inputs")).flat_map(Node::entries);
        inputs.map(|(name, _)| name).collect()
    }

    fn operations_of(&self, kind: TypeId) -> impl Iterator<Item = String> {
        let interfaces = self.types.effective(kind).interfaces.values();
        interfaces.flat_map(|part| {
            part.definition.operations.keys().map(|name| format!("{}.{name}", part.named.name))
        })
    }

    /// Checks the values for inputs that an operation, or its interface for all operations,
    /// defines. If none are defined, or the template gives them to the operation, they may be any.
    fn operation_inputs(
        &self,
        activity: &Activity<'a>,
        interface: &EffectiveInterface<'_>,
        (operation, own): (CalledOperation<'_>, &[Node<'a>]),
        place: ActivityPlace<'_, 'c, 'a>,
    ) {
        let when = place.when;
        let of_operation = interface.operations.get(operation.name);
        let of_operation = of_operation.into_iter().flat_map(|part| &part.definition.inputs);
        let all = interface.inputs.values().map(|part| &part.definition);
        let defined: Vec<_> = of_operation.chain(all).collect();
        for input in &activity.inputs {
            if let Some(it) = defined.iter().find(|it| it.named.name == input.name) {
                self.activity_input(*input, it, place);
            } else if defined.is_empty()
                || interface.is_open
                || own.iter().any(|name| name.text() == Some(input.name))
            {
                self.untyped(when, input.value);
            } else {
                let message =
                    format!("the operation `{}` has no input `{}`", operation.name, input.name);
                let known = defined.iter().map(|it| it.named.name);
                self.undefined(when, input.key, message, known, activity.kind.section());
            }
        }
    }

    /// Checks the attribute that an output of a workflow, or an input, is mapped to (section 3.6.15):
    /// one of a node or of one of its capabilities.
    pub(super) fn mapped_parameter(
        &self,
        (noun, section): (&str, &'static str),
        output: Named<'a>,
    ) {
        self.mapping_fits(noun, output);
        let mapping = v2_0::output_mapping(output.value);
        let mut parts = v2_0::output_path(mapping, false).into_iter();
        let (Some(node), Some(second)) = (parts.next(), parts.next()) else {
            let expected = if mapping.kind() == NodeKind::Sequence {
                "names of a node and an attribute"
            } else {
                "a list"
            };
            let message = format!(
                "the {noun} `{}` has to be mapped to an attribute by {expected}",
                output.name
            );
            let error = Diagnostic::error(Code::InvalidTemplate, message)
                .at(output.value.span())
                .section("3.6.15.1");
            return self.report_when(&[], &[], error.help("write `[ node, attribute ]`"));
        };
        let is_keyword = matches!(node.text(), Some("SELF" | "SOURCE" | "TARGET"));
        if is_keyword && v2_0::is_of(node.document()) {
            let word = node.text().unwrap_or_default();
            let message =
                format!("the {noun} `{}` belongs to no node that is `{word}`", output.name);
            let error = Diagnostic::error(Code::InvalidTemplate, message).at(node.span());
            let error = error.section("3.6.15.1").help("write `[ node, attribute ]`");
            return self.report_when(&[], &[], error);
        }
        if is_keyword || v2_0::leads_away(second) {
            return;
        }
        for entity in self.subject(node, None, section).entities {
            let name = second.text().unwrap_or_default();
            let in_capability = parts.len() > 0
                && self.types.effective(entity.kind).capabilities.contains_key(name);
            if !in_capability && self.attribute(entity.kind, name).is_none() {
                let known = self
                    .schemas
                    .of(entity.kind)
                    .attributes
                    .iter()
                    .map(|definition| definition.named.name);
                self.lacks(&entity.when, (entity.kind, "attribute"), second, known, "3.6.15.1");
            }
        }
    }
}
