//! Makes the reports of steps: whether their conditions hold before they begin, and their outputs
//! after they have ended.

use super::outputs::Outputs;
use super::plan::RunStep;
use super::task::TaskFailure;
use super::values::Values;
use super::workshop::Workshop;
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::instance::{
    FunctionOwner, InstanceModel, InstanceReport, KEPT_OUTPUTS, ModelReading, NodeInstance,
    ReportOutcome, query_value_of,
};
use crate::orchestrate::plan::{AskedAttribute, UnknownAttribute, condition_holds};
use crate::topology::sensitive::InstanceValue;
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Limits, parse, write_flow};
use std::sync::Arc;

impl Workshop<'_> {
    /// How many steps are left that run something, if nothing fails.
    pub(super) fn left(&self, model: &InstanceModel) -> usize {
        self.remaining(model).filter(|step| !step.handler).count()
    }

    /// Whether the conditions of a step hold.
    ///
    /// # Errors
    /// `unresolved-attribute` if that cannot be told.
    pub(super) fn decided(
        &self,
        step: &RunStep,
        model: &InstanceModel,
    ) -> Result<bool, Diagnostic> {
        for guard in &step.guard {
            let element = guard.target.as_deref().or(step.target.as_deref()).unwrap_or_default();
            let found = |asked: AskedAttribute<'_>| {
                let values = attribute_values(model, asked.of.unwrap_or(element), asked);
                // Of templates with several nodes, each is named in a plan for an instance.
                values.into_iter().map(|value| asked.nodes.of(1, value)).collect()
            };
            let form = |asked: AskedAttribute<'_>, path: &[String]| {
                let node = typical_node(model, asked.of.unwrap_or(element))?;
                let (template, type_name) = (node.template.as_deref(), &*node.type_name);
                let AskedAttribute { capability, name, .. } = asked;
                let of = InstanceValue::OfNode { template, type_name, capability, name };
                (self.forms)(&of, path).map(|form| form.0)
            };
            let call = |function: &str, arguments: &[Value]| {
                let call = (format!("${function}").into(), arguments.to_vec().into());
                self.value_of_call(model, element, &Value::Map([call].into()))
            };
            match condition_holds(&guard.condition, &found, &form, &call) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(Some(UnknownAttribute { of, name })) => {
                    return Err(unresolved(step, of.as_deref().unwrap_or(element), &name));
                }
                Err(None) => return Err(undecided(step, &guard.condition)),
            }
        }
        Ok(true)
    }

    /// The value of a call of a function for an element, if it is known.
    fn value_of_call(&self, model: &InstanceModel, element: &str, call: &Value) -> Option<Value> {
        let derives = |one: &str, other: &str| self.kinds.derives(one, other);
        let open = |kept: &Value| self.secrets.value(kept);
        let reading = ModelReading {
            unstable: true,
            reveal: true,
            derives: &derives,
            forms: Some(self.forms),
            open: Some(&open),
            ..ModelReading::default()
        };
        let document = parse(FileId::DETACHED, write_flow(call).into(), &Limits::default()).ok()?;
        query_value_of(model, document.root(), Some(FunctionOwner::Named(element)), &reading).ok()
    }

    /// The report of a step whose task has ended well, and notes about it for people.
    ///
    /// # Errors
    /// It has not done what it says.
    pub(super) fn ended(
        &self,
        step: &Arc<str>,
        outputs: Outputs,
    ) -> Result<(InstanceReport, Vec<String>), TaskFailure> {
        match self.plan.step(step).and_then(RunStep::orchestrator) {
            Some(orchestrator) => self.handed_back(step, orchestrator),
            None => Ok(self.report(step, outputs)),
        }
    }

    /// The report of a step that succeeded, and notes about it for people.
    fn report(&self, step: &Arc<str>, outputs: Outputs) -> (InstanceReport, Vec<String>) {
        let (done, outcome) = (Some(Arc::clone(step)), Some(ReportOutcome::Done));
        let end = InstanceReport { step: done, outcome, ..InstanceReport::default() };
        let Some(of) = self.plan.step(step) else { return (end, Vec::new()) };
        let (mut reports, notes) = self.given(of, outputs);
        if reports.is_empty() {
            return (end, notes);
        }
        reports.push(end);
        (InstanceReport { batch: reports, ..InstanceReport::default() }, notes)
    }

    /// What is recorded of the outputs of a step, and what people are told about them.
    pub(super) fn given(
        &self,
        step: &RunStep,
        outputs: Outputs,
    ) -> (Vec<InstanceReport>, Vec<String>) {
        let mut given =
            GivenOutputs { workshop: self, step, reports: Vec::new(), notes: Vec::new() };
        given.keep(&outputs);
        outputs.into_iter().for_each(|(name, value)| given.assign(&name, value));
        (given.reports, given.notes)
    }
}

/// The error that nobody gave an attribute of a condition.
fn unresolved(step: &RunStep, element: &str, name: &str) -> Diagnostic {
    let node = element.strip_prefix("node.").unwrap_or("NODE");
    let message = format!(
        "a condition of `{}` needs the attribute `{name}` of `{element}`, which nobody gave",
        step.id
    );
    Diagnostic::error(Code::UnresolvedAttribute, message)
        .help(format!("report it: `cuvee instance record NAME {node} --attribute {name}=VALUE`"))
}

/// The error that a condition cannot be told, and not for lack of one attribute.
fn undecided(step: &RunStep, condition: &Value) -> Diagnostic {
    let condition = write_flow(condition);
    let message = format!("whether a condition of `{}` holds is not known: `{condition}`", step.id);
    Diagnostic::error(Code::Undecidable, message)
        .help("ask for properties and attributes that nodes have when the step begins")
}

/// The name of an attribute, the capability that has it, if one does, and the path to a part of it.
type AttributeName = (Option<Arc<str>>, Arc<str>, Vec<Value>);

/// The outputs of a step, on their way into reports.
struct GivenOutputs<'g, 'r> {
    workshop: &'g Workshop<'r>,
    step: &'g RunStep,
    reports: Vec<InstanceReport>,
    notes: Vec<String>,
}

impl GivenOutputs<'_, '_> {
    /// Keeps the outputs that functions ask for.
    fn keep(&mut self, outputs: &Outputs) {
        let asked = &self.workshop.asked;
        let kept = outputs.iter().filter(|(name, _)| asked.contains(&**name));
        let kept = kept.map(|(name, value)| (Arc::clone(name), self.learned(name, value)));
        let kept: Vec<_> = kept.collect();
        if kept.is_empty() {
            return;
        }
        let (Some(element), Some(operation)) = (&self.step.target, &self.step.operation) else {
            return;
        };
        let interface = self.step.interface.as_deref().unwrap_or_default();
        let mut report = InstanceReport::default();
        match self.step.node() {
            Some(node) => report.node = Some(node.into()),
            None => report.entity = Some(Arc::clone(element)),
        }
        let name = format!("{KEPT_OUTPUTS}{interface}.{operation}");
        report.metadata = vec![(name.into(), Value::Map(kept.into()))];
        self.reports.push(report);
    }

    /// Assigns an output to its attributes.
    fn assign(&mut self, name: &Arc<str>, value: Value) {
        self.learned(name, &value);
        let Some((node, attributes)) = self.attributes(name) else { return self.note(name) };
        if attributes.is_empty() {
            self.note(name);
        }
        for attribute in attributes {
            self.attribute(&node, attribute, value.clone());
        }
    }

    /// What is kept of an output. It is secret if its name is, or an attribute that it is assigned
    /// to.
    fn learned(&self, name: &str, value: &Value) -> Value {
        let Workshop { to, secrets, .. } = self.workshop;
        let sealed = secrets.learned(&InstanceValue::Other(name), value);
        let Some((id, attributes)) = self.attributes(name) else { return sealed };
        let Some(node) = to.nodes.get(&id) else { return sealed };
        attributes.iter().fold(sealed, |sealed, (capability, name, _)| {
            let (template, type_name) = (node.template.as_deref(), &*node.type_name);
            let capability = capability.as_deref();
            secrets
                .learned(&InstanceValue::OfNode { template, type_name, capability, name }, &sealed)
        })
    }

    /// The attributes that an output is assigned to, with their node: the one that the operation
    /// maps it to, else the one of its name, and those whose definition asks for it.
    fn attributes(&self, name: &str) -> Option<(Arc<str>, Vec<AttributeName>)> {
        let mapping = self.step.outputs.get(name);
        let node = self.node(mapping.map_or("SELF", |mapping| &*mapping.entity))?;
        let Workshop { to, kinds, .. } = self.workshop;
        let kind = to.nodes.get(&node).map_or("", |node| &*node.type_name);
        let interface = self.step.interface.as_deref().unwrap_or_default();
        let operation = self.step.operation.as_deref().unwrap_or_default();
        let mut found: Vec<AttributeName> = Vec::new();
        match mapping {
            Some(of) => {
                found.push((of.capability.clone(), Arc::clone(&of.attribute), of.path.clone()));
            }
            None if kinds.attribute(kind, (None, name), &[]).is_some() => {
                found.push((None, name.into(), Vec::new()));
            }
            None => {}
        }
        let asking = kinds.taking(kind, &format!("{interface}.{operation}"), name);
        found.extend(asking.into_iter().map(|attribute| (None, attribute.into(), Vec::new())));
        Some((node, found))
    }

    fn attribute(
        &mut self,
        node: &Arc<str>,
        (capability, attribute, path): AttributeName,
        value: Value,
    ) {
        let mut report =
            InstanceReport { node: Some(Arc::clone(node)), ..InstanceReport::default() };
        let Workshop { to, kinds, .. } = self.workshop;
        let known = to.nodes.get(node);
        let name = (capability.as_deref(), &*attribute);
        let kind = known.and_then(|node| kinds.attribute(&node.type_name, name, &path));
        let value = as_declared(value, kind);
        report.attribute_parts.push((capability, attribute, path, value));
        self.reports.push(report);
    }

    /// Tells that an output has no place, unless a function asks for it.
    fn note(&mut self, name: &str) {
        if self.workshop.asked.contains(name) {
            return;
        }
        let is_own = |entity: &str| entity == "SELF";
        let masker = self.workshop.secrets.masker();
        let shown = masker.text(name);
        let mapping = self.step.outputs.get(name).filter(|mapping| is_own(&mapping.entity));
        self.notes.push(match mapping.filter(|_| self.step.node().is_none()) {
            Some(of) => {
                let attribute = &of.attribute;
                format!("its output `{shown}` is not kept: instances have no attributes of relations, such as `{attribute}`")
            }
            None => format!("its output `{shown}` is declared nowhere, and is not kept"),
        });
    }

    fn node(&self, keyword: &str) -> Option<Arc<str>> {
        let Workshop { to, kinds, forms, secrets, .. } = self.workshop;
        // The ends of a relation are the same in the target, unless it goes.
        let values =
            Values { model: to, to, kinds, forms: *forms, secrets, artifacts: &|_, _| None };
        values.entity(self.step, keyword)
    }
}

/// A text as a value of the type that an attribute has: lines of outputs have no types.
fn as_declared(value: Value, kind: Option<&str>) -> Value {
    let Value::String(text) = &value else { return value };
    if kind.is_none_or(|kind| kind == "string") {
        return value;
    }
    match parse(FileId::DETACHED, (&**text).into(), &Limits::default()) {
        Ok(document) => document.root().to_value(),
        Err(_) => value,
    }
}

/// A node, or one of a group, by which the types of attributes are known.
fn typical_node<'m>(model: &'m InstanceModel, element: &str) -> Option<&'m NodeInstance> {
    let members = model.groups.get(element.strip_prefix("group.").unwrap_or(element));
    let of_group = || model.nodes.get(members?.members.first()?);
    model.nodes.get(element.strip_prefix("node.").unwrap_or(element)).or_else(of_group)
}

/// The values of an attribute: of a node, or of all members of a group.
fn attribute_values(
    model: &InstanceModel,
    element: &str,
    AskedAttribute { capability, name, .. }: AskedAttribute<'_>,
) -> Vec<Option<Value>> {
    let of_node = |id: &str| {
        let node = model.nodes.get(id)?;
        let (attributes, properties) = match capability {
            None if name == "state" => return Some(Value::from(node.state.as_str())),
            None => (&node.attributes, &node.properties),
            Some(capability) => {
                let own = node.capabilities.get(capability)?;
                (&own.attributes, &own.properties)
            }
        };
        let reported = attributes.get(name).map(|reported| &reported.value);
        reported.or_else(|| properties.get(name)).cloned()
    };
    let name = element.strip_prefix("group.").unwrap_or(element);
    match model.groups.get(name).filter(|_| !model.nodes.contains_key(element)) {
        Some(group) => group.members.iter().map(|member| of_node(member)).collect(),
        None => vec![of_node(element.strip_prefix("node.").unwrap_or(element))],
    }
}
