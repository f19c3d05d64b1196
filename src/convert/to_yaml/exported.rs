//! Converts the exposed interfaces of a service template: each operation becomes a workflow that
//! calls its implementation.

use super::super::layout::YamlMap;
use super::super::loss::LossKind;
use super::super::well_known::{EXPORTED, lifecycle_operation};
use super::YamlConverter;
use super::boundary::ConvertedWorkflows;
use super::names::{TypeName, as_name, node_name, unique};
use super::types::{ConvertedInterface, key_of};
use crate::tosca::v1_0::ComponentId;
use crate::tosca::v1_0::definitions::{
    ComponentKind, DefinedService, ExportedInterface, ExportedOperation, OperationReference,
    OperationTarget,
};
use cuvee_text::value::Value;
use rustc_hash::FxHashMap;

/// An exposed interface of a service template.
struct ShownInterface {
    /// The name in the substitution mappings; `None` if there are none.
    key: Option<String>,
    /// The interface of that name in the node type.
    known: Option<ConvertedInterface>,
}

/// A workflow step that calls an operation.
struct OperationStep {
    /// The interface and the operation.
    called: String,
    /// The inputs of the operation.
    inputs: YamlMap,
    node: String,
    /// The requirement of the node, and the end of the relationship that has the operation.
    relationship: Option<(String, &'static str)>,
}

impl<'d> YamlConverter<'_, 'd> {
    /// The interfaces of the substitution mappings. Operations that are not workflows yet become
    /// workflows.
    pub(super) fn shown_interfaces(
        &mut self,
        id: ComponentId,
        service: &DefinedService<'d>,
        converted: &mut ConvertedWorkflows,
    ) -> YamlMap {
        let mut mappings = YamlMap::default();
        let interfaces = service.boundary.iter().flat_map(|boundary| &boundary.interfaces);
        let all = self.interface_keys(id, service);
        for (interface, shown) in interfaces.zip(&all) {
            let mut operations = YamlMap::default();
            for operation in &interface.operations {
                let workflow =
                    self.carried_out(id, service, (interface, shown), operation, converted);
                let found =
                    workflow.and_then(|workflow| Ok((self.outside(shown, operation)?, workflow)));
                match found {
                    Ok((name, workflow)) => operations.put(&name, workflow),
                    Err(why) => {
                        let construct =
                            format!("that operation `{}` can be called", operation.name.text);
                        self.lose(operation.element, "", construct, why, LossKind::Lost);
                    }
                }
            }
            if let Some(key) = &shown.key {
                mappings.put_map(key, operations);
            }
        }
        mappings
    }

    /// The names of the exposed interfaces in YAML.
    fn interface_keys(&self, id: ComponentId, service: &DefinedService<'d>) -> Vec<ShownInterface> {
        let node_type = self.find(ComponentKind::NodeType, id, service.substitutable.as_ref());
        let own = node_type.filter(|id| self.is_own(*id));
        let known = own.map(|id| self.interfaces_of(id)).unwrap_or_default();
        let mut all: Vec<ShownInterface> = Vec::new();
        for interface in service.boundary.iter().flat_map(|boundary| &boundary.interfaces) {
            let of_type = known.iter().find(|it| it.name == interface.name.text).cloned();
            let is_taken = |key: &str| {
                known.iter().any(|it| it.key == key)
                    || all.iter().any(|it| it.key.as_deref() == Some(key))
            };
            let key = match &of_type {
                Some(of_type) => of_type.key.clone(),
                None => unique(&key_of(&interface.name.text), is_taken),
            };
            let key = service.substitutable.is_some().then_some(key);
            all.push(ShownInterface { key, known: of_type });
        }
        all
    }

    /// The operations that each plan implements, as far as substitution mappings do not contain
    /// them.
    pub(super) fn exported_plans(
        &self,
        id: ComponentId,
        service: &DefinedService<'d>,
    ) -> FxHashMap<String, Vec<String>> {
        let mut exported: FxHashMap<String, Vec<String>> = FxHashMap::default();
        let interfaces = service.boundary.iter().flat_map(|boundary| &boundary.interfaces);
        for (interface, shown) in interfaces.zip(self.interface_keys(id, service)) {
            for operation in &interface.operations {
                if let Some(OperationTarget::Plan(Some(plan))) = &operation.by {
                    let said = exported_as(interface, &shown, operation);
                    exported.entry(plan.text.to_string()).or_default().extend(said);
                }
            }
        }
        exported.retain(|_, said| !said.is_empty());
        exported
    }

    /// The workflow that implements an exposed operation, or the reason why there is none.
    fn carried_out(
        &mut self,
        id: ComponentId,
        service: &DefinedService<'d>,
        (interface, shown): (&ExportedInterface<'d>, &ShownInterface),
        operation: &ExportedOperation<'d>,
        converted: &mut ConvertedWorkflows,
    ) -> Result<String, String> {
        let step = match &operation.by {
            Some(OperationTarget::Plan(plan)) => {
                let plan = plan.as_ref().map(|it| &*it.text).unwrap_or_default();
                let workflow = converted.of_plans.get(plan).cloned();
                return workflow.ok_or_else(|| format!("there is no plan `{plan}`"));
            }
            Some(OperationTarget::Node(by)) => self.node_step(id, service, by)?,
            Some(OperationTarget::Relationship(by)) => self.relationship_step(id, service, by)?,
            None => return Err("nothing carries it out".to_owned()),
        };
        let wanted = as_name(&operation.name.text);
        let name = unique(&wanted, |name| converted.workflows.has(name));
        let mut workflow = YamlMap::default();
        workflow.put_some("description", self.description(operation.element));
        let mut metadata = YamlMap::default();
        metadata.put_some(EXPORTED, exported_as(interface, shown, operation));
        workflow.put_map("metadata", metadata);
        let (inputs, steps) = step.written(&wanted);
        workflow.put_map("inputs", inputs);
        workflow.put("steps", steps);
        converted.workflows.put(&name, workflow);
        Ok(name)
    }

    /// The exposed name of an operation, or the reason why it cannot be exposed.
    fn outside(
        &self,
        shown: &ShownInterface,
        operation: &ExportedOperation<'d>,
    ) -> Result<String, String> {
        let name = &*operation.name.text;
        if shown.key.is_none() {
            let why = "a template of YAML shows nothing if it substitutes no node type";
            return Err(why.to_owned());
        }
        let Some(known) = &shown.known else { return Ok(name.to_owned()) };
        match self.operation_names(known).iter().any(|known| known == name) {
            true => Ok(called(known, name)),
            false => Err(format!(
                "the interface `{}` of the node type has none of this name",
                known.name
            )),
        }
    }

    /// A step for an operation of a node.
    fn node_step(
        &self,
        id: ComponentId,
        service: &DefinedService<'d>,
        by: &OperationReference<'d>,
    ) -> Result<OperationStep, String> {
        let wanted = by.of.as_ref().map(|it| &*it.text).unwrap_or_default();
        let node = service.nodes.iter().find(|node| node.id.text == wanted);
        let node = node.ok_or_else(|| format!("there is no node `{wanted}`"))?;
        let name = node.template.type_name.as_ref();
        let (_, called, inputs) =
            self.operation_of_type(self.find(ComponentKind::NodeType, id, name), by)?;
        let node = node_name(&node.id.text).into_owned();
        Ok(OperationStep { called, inputs, node, relationship: None })
    }

    /// A step for an operation of a relationship.
    fn relationship_step(
        &self,
        id: ComponentId,
        service: &DefinedService<'d>,
        by: &OperationReference<'d>,
    ) -> Result<OperationStep, String> {
        let wanted = by.of.as_ref().map(|it| &*it.text).unwrap_or_default();
        let at = service.relationships.iter().position(|it| it.id.text == wanted);
        let at = at.ok_or_else(|| format!("there is no relationship `{wanted}`"))?;
        let links = self.links.of_node.iter().zip(&service.nodes);
        let mut found = links.filter_map(|(links, node)| {
            let link = links.iter().find(|link| link.relationship == at)?;
            let is_one = links.iter().filter(|it| it.name == link.name).count() == 1;
            Some((node, &link.name, is_one))
        });
        let (node, requirement) = match found.next() {
            Some((node, requirement, true)) => (node, requirement.clone()),
            Some((node, requirement, false)) => {
                let node = &node.id.text;
                return Err(format!(
                    "a step cannot tell it from others by the requirement `{requirement}` of `{node}`"
                ));
            }
            None => return Err(format!("the relationship `{wanted}` is lost")),
        };
        let name = service.relationships[at].template.type_name.as_ref();
        let kind = self.find(ComponentKind::RelationshipType, id, name);
        let (is_at_target, called, inputs) = self.operation_of_type(kind, by)?;
        let host = if is_at_target { "TARGET" } else { "SOURCE" };
        let node = node_name(&node.id.text).into_owned();
        Ok(OperationStep { called, inputs, node, relationship: Some((requirement, host)) })
    }

    /// An operation of a type: whether it belongs to the target of a relationship, its name in
    /// activities, and its inputs.
    fn operation_of_type(
        &self,
        of: Option<ComponentId>,
        by: &OperationReference<'d>,
    ) -> Result<(bool, String, YamlMap), String> {
        let of = of.ok_or("nothing is known of the type of what carries it out")?;
        if !self.is_own(of) {
            let name = self.text_name(of);
            return Err(format!("`{name}` is a type of YAML, whose operations are others"));
        }
        let [interface, operation] = [&by.interface, &by.operation]
            .map(|said| said.as_ref().map(|said| &*said.text).unwrap_or_default());
        for known in self.interfaces_of(of).iter().filter(|it| it.name == interface) {
            for &owner in known.said_by.iter().rev() {
                let mut own = self.own_operations(owner, known).into_iter();
                if let Some(own) = own.find(|own| own.name == operation) {
                    let called = format!("{}.{}", known.key, called(known, operation));
                    return Ok((known.is_at_target, called, own.asked));
                }
            }
        }
        Err(format!("`{}` has no operation `{operation}` of `{interface}`", self.text_name(of)))
    }

    /// Whether the type is defined in the output.
    fn is_own(&self, id: ComponentId) -> bool {
        matches!(self.names.get(id), Some(TypeName::Own(..)))
    }
}

/// The name of an operation of an interface in YAML.
fn called(interface: &ConvertedInterface, operation: &str) -> String {
    let known = lifecycle_operation(operation).filter(|_| interface.is_lifecycle);
    known.unwrap_or(operation).to_owned()
}

/// The original names of the interface and the operation, if they differ in the substitution
/// mappings or there are no mappings.
fn exported_as(
    interface: &ExportedInterface<'_>,
    shown: &ShownInterface,
    operation: &ExportedOperation<'_>,
) -> Option<String> {
    // If the node type has the interface, metadata of the type record its name.
    let is_said = match &shown.known {
        Some(_) => true,
        None => shown.key.as_deref() == Some(&*interface.name.text),
    };
    (!is_said).then(|| format!("{} {}", interface.name.text, operation.name.text))
}

impl OperationStep {
    /// The inputs of the workflow, and its only step, which passes them on.
    fn written(self, name: &str) -> (YamlMap, YamlMap) {
        let mut handed = YamlMap::default();
        for input in self.inputs.keys() {
            handed.put(input, YamlMap::default().with("get_input", input));
        }
        let called: Value = match handed.is_empty() {
            true => self.called.into(),
            false => {
                YamlMap::default().with("operation", self.called).with("inputs", handed).into()
            }
        };
        let activity = YamlMap::default().with("call_operation", called);
        let mut step = YamlMap::default().with("target", self.node);
        if let Some((requirement, host)) = self.relationship {
            step = step.with("target_relationship", requirement).with("operation_host", host);
        }
        step.put_list("activities", vec![activity.into()]);
        (self.inputs, YamlMap::default().with(name, step))
    }
}
