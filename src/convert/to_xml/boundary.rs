//! Writes the boundary definitions of a service template: what it exposes of its contents.

use super::XmlConverter;
use super::part::XmlPart;
use super::policies::ConvertedPlans;
use super::said::{SaidMap, SaidValue, entries, step};
use super::schema::DefinedField;
use super::service::ServiceParts;
use super::values::{called_input, first_definition};
use crate::convert::well_known::EXPORTED;
use crate::topology::{
    AssignedValue, NodeIndex, TopologyActivity, TopologyElement, TopologyStep, TopologyWorkflow,
};
use crate::tosca::v1_0::definitions::FeatureKind;
use crate::tosca::workflow::ActivityKind;
use crate::tosca::{Family, TypeId};
use cuvee_text::value::Value;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

/// The contents of the boundary definitions.
#[derive(Default)]
pub(super) struct ShownParts {
    /// The node type that the service template substitutes.
    node_type: Option<TypeId>,
    /// The part of the substitution mappings that is not converted yet.
    said: Option<SaidMap>,
    properties: Option<XmlPart>,
    requirements: Vec<XmlPart>,
    capabilities: Vec<XmlPart>,
    policies: Vec<XmlPart>,
    interfaces: Vec<XmlPart>,
}

impl ShownParts {
    pub(super) fn written(self) -> Option<XmlPart> {
        let mut boundary = XmlPart::new("BoundaryDefinitions");
        boundary.push_some(self.properties);
        boundary.push_in("Requirements", self.requirements);
        boundary.push_in("Capabilities", self.capabilities);
        boundary.push_in("Policies", self.policies);
        boundary.push_in("Interfaces", self.interfaces);
        (!boundary.is_empty()).then_some(boundary)
    }
}

/// A property that takes its value from an input: the id of its owner, and its path there.
type InputTarget = (String, String);

impl XmlConverter<'_, '_> {
    /// Finds the exposed requirements and capabilities, and gives them ids.
    pub(super) fn boundary(
        &mut self,
        service: &mut XmlPart,
        said: Option<SaidValue>,
        parts: &mut ServiceParts,
    ) -> ShownParts {
        let mut shown = ShownParts::default();
        let Some(said) = said else { return shown };
        let span = self.variant.topology.substitution.as_ref().map(|it| it.span);
        let mut body = SaidValue { span, ..said }.map();
        if let Some(name) = body.clone().take_text("node_type")
            && let Some(id) = self.find_named(Family::Node, &name, span)
        {
            body.take("node_type");
            let name = self.prefixed(id);
            service.set("substitutableNodeType", name);
            shown.node_type = Some(id);
        }
        let of = shown.node_type;
        shown.requirements = self.features(&mut body, (of, FeatureKind::Requirement), parts);
        shown.capabilities = self.features(&mut body, (of, FeatureKind::Capability), parts);
        shown.said = Some(body);
        shown
    }

    fn features(
        &mut self,
        body: &mut SaidMap,
        (of, kind): (Option<TypeId>, FeatureKind),
        parts: &mut ServiceParts,
    ) -> Vec<XmlPart> {
        let (key, element) = match kind {
            FeatureKind::Requirement => ("requirements", "Requirement"),
            FeatureKind::Capability => ("capabilities", "Capability"),
        };
        let mut shown = Vec::new();
        let Some(all) = body.take(key) else { return shown };
        for (name, value) in listed(&all) {
            let said = all.part(&name, &value);
            match self.feature(&value, kind == FeatureKind::Requirement, parts) {
                Some(id) => {
                    let name = of.map_or(&*name, |of| self.former_name(of, kind, &name));
                    shown.push(XmlPart::new(element).with("name", name).with("ref", id));
                }
                None => {
                    let key = format!("substitution_mappings.{key}{}", step(&name));
                    self.keep(&key, &said, "it leads to nothing in the template");
                }
            }
        }
        shown
    }

    /// The id of a requirement or capability of a node that is written as `[node, name]`.
    fn feature(
        &mut self,
        value: &Value,
        is_requirement: bool,
        parts: &mut ServiceParts,
    ) -> Option<String> {
        let topology = self.variant.topology;
        let Value::List(items) = value else { return None };
        let [Value::String(node), Value::String(name)] = &**items else { return None };
        let index = *self.named.nodes.get(&**node)?;
        let effective = self.variant.types.effective(self.type_of(index)?);
        if !is_requirement {
            effective.capabilities.get(&**name)?;
            return Some(self.capability_id(parts, index, name));
        }
        effective.requirements.get(&**name)?;
        let mut relations = topology.node(index).relations.iter();
        if let Some(id) = relations.find(|&&id| topology.relation(id).name == **name) {
            return parts.requirements.get(id).cloned();
        }
        let key = (index.index(), name.to_string());
        if let Some(known) = parts.shown.get(&key) {
            return Some(known.clone());
        }
        let wanted = format!("{}_{name}", parts.nodes[index.index()]);
        let wanted = self.known_id(index, "requirement", name, wanted);
        let id = self.ids.take(&wanted);
        parts.shown.insert(key, id.clone());
        Some(id)
    }

    /// Adds the exposed policies, properties and interfaces, after all parts have received ids.
    pub(super) fn show_rest(
        &mut self,
        shown: &mut ShownParts,
        parts: &mut ServiceParts,
        plans: &ConvertedPlans,
    ) {
        shown.policies = std::mem::take(&mut parts.policies.of_service);
        let Some(mut body) = shown.said.take() else {
            shown.properties = self.shown_outputs(parts);
            shown.interfaces = self.exported_interfaces(parts, plans);
            return;
        };
        if let Some(node_type) = shown.node_type {
            if let Some(properties) = body.take("properties") {
                shown.properties = self.shown_properties(node_type, &properties, parts);
            }
            if let Some(interfaces) = body.take("interfaces") {
                shown.interfaces = self.shown_interfaces(node_type, &interfaces, parts, plans);
            }
        }
        for (key, said) in body.rest() {
            let key = format!("substitution_mappings{}", step(&key));
            self.keep(&key, &said, "service templates of TOSCA 1.0 show no such thing");
        }
    }

    /// The exposed properties, each mapped to the inner properties that take the value of the same
    /// input (M21).
    fn shown_properties(
        &mut self,
        node_type: TypeId,
        said: &SaidValue,
        parts: &ServiceParts,
    ) -> Option<XmlPart> {
        let element = self.properties_element(node_type);
        let space = element.as_ref().filter(|it| it.is_keyed).map(|it| it.name.namespace.clone());
        let targets = self.input_targets(parts);
        let mut root = element.map(|it| XmlPart::new(self.prefixes.name(&it.name)));
        let mut mappings = Vec::new();
        let properties = &self.variant.types.effective(node_type).properties;
        for (name, value) in entries(&said.value) {
            let input = match value {
                Value::List(items) => match &**items {
                    [one] => one.as_str(),
                    _ => None,
                },
                value => value.as_str(),
            };
            let inside = input.and_then(|input| targets.get(input));
            let (Some(inside), Some(input), Some((owner, property))) =
                (inside, input, first_definition(properties, name))
            else {
                let key = format!("substitution_mappings.properties{}", step(name));
                self.keep(
                    &key,
                    &said.part(name, value),
                    "no property inside of the template takes its value",
                );
                continue;
            };
            let own = path_of(self.schemas.field(owner, name));
            mappings.extend(inside.iter().map(|(id, field)| property_mapping(&own, id, field)));
            let known = self.named.inputs.get(input).copied();
            if let (Some(root), Some(value)) = (&mut root, known.and_then(|it| it.default.as_ref()))
            {
                self.property(root, (owner, property), &value.value, (space.as_deref(), 0));
            }
        }
        mapped_properties(root.filter(|root| !root.is_bare()), mappings)
    }

    /// The exposed properties of definitions that substitute no node: there, outputs are exposed.
    fn shown_outputs(&mut self, parts: &ServiceParts) -> Option<XmlPart> {
        let topology = self.variant.topology;
        let mut mappings = Vec::new();
        let outputs = if self.were_definitions { &*topology.outputs } else { &[] };
        for output in outputs {
            let value = output.value.as_ref().map(|it| &it.value);
            let path = value.and_then(|value| match value {
                Value::Map(function) => match &**function {
                    [(name, Value::List(path))] if &**name == "get_property" => Some(path),
                    _ => None,
                },
                _ => None,
            });
            let path = path.map(|path| path.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
            let target = path.flatten().and_then(|path| self.property_at(&path, parts));
            let mapping = target.map(|(id, field)| property_mapping(&output.name, &id, &field));
            mappings.extend(mapping);
        }
        mapped_properties(None, mappings)
    }

    /// The property that `get_property` refers to: of a node, of one of its capabilities, or of a
    /// relationship template.
    fn property_at(&mut self, path: &[&str], parts: &ServiceParts) -> Option<InputTarget> {
        let (id, of, name) = match *path {
            [node, name] => match self.named.nodes.get(node) {
                Some(&node) => (parts.nodes[node.index()].clone(), self.type_of(node)?, name),
                None => {
                    let id = *self.named.relations(node).first()?;
                    (parts.links.get(&id)?.clone(), self.relationship_kind(id)?, name)
                }
            },
            [node, capability, name] => {
                let node = *self.named.nodes.get(node)?;
                let id = parts.capabilities.get(&(node, capability.to_owned()))?.clone();
                (id, self.capability_kind(node, capability)?, name)
            }
            _ => return None,
        };
        self.target((id, of), name)
    }

    /// The type of a capability of a node.
    fn capability_kind(&self, node: NodeIndex, name: &str) -> Option<TypeId> {
        let effective = self.variant.types.effective(self.type_of(node)?);
        self.capability_of(effective.capabilities.get(name)?.definition.kind)
    }

    /// A property of an element of a type, as an input target.
    fn target(&mut self, (id, of): (String, TypeId), name: &str) -> Option<InputTarget> {
        self.properties_element(of)?;
        let (owner, _) = first_definition(&self.variant.types.effective(of).properties, name)?;
        Some((id, path_of(self.schemas.field(owner, name))))
    }

    /// The properties whose values are inputs, by the name of the input.
    fn input_targets(&mut self, parts: &ServiceParts) -> FxHashMap<String, Vec<InputTarget>> {
        let topology = self.variant.topology;
        let mut all: FxHashMap<String, Vec<InputTarget>> = FxHashMap::default();
        let mut add = |converter: &mut Self, id: &str, of: TypeId, values: &[AssignedValue]| {
            for value in values {
                let Some(input) = called_input(&value.value.value) else { continue };
                let target = converter.target((id.to_owned(), of), &value.name);
                all.entry(input.to_owned()).or_default().extend(target);
            }
        };
        for (at, node) in topology.nodes.iter().enumerate() {
            let index = NodeIndex::new(at);
            let Some(of) = self.type_of(index) else { continue };
            add(self, &parts.nodes[at], of, &node.described.properties);
            for capability in &node.capabilities {
                let id = parts.capabilities.get(&(index, capability.name.clone()));
                let of = self.capability_kind(index, &capability.name);
                if let (Some(id), Some(of)) = (id, of) {
                    add(self, id, of, &capability.properties);
                }
            }
        }
        for id in topology.relation_ids() {
            let template = topology.relation(id).relationship.map(|it| topology.relationship(it));
            if let (Some(template), Some(own), Some(of)) =
                (template, parts.links.get(&id), self.relationship_kind(id))
            {
                add(self, own, of, &template.described.properties);
            }
        }
        all
    }

    /// The exposed interfaces, with the elements that implement their operations.
    fn shown_interfaces(
        &mut self,
        node_type: TypeId,
        said: &SaidValue,
        parts: &ServiceParts,
        plans: &ConvertedPlans,
    ) -> Vec<XmlPart> {
        let mut interfaces: Vec<XmlPart> = Vec::new();
        for (key, operations) in entries(&said.value) {
            let said = said.part(key, operations);
            let mut written = XmlPart::new("Interface");
            let mut name = self.interface_name(node_type, key).0;
            for (operation, workflow) in entries(operations) {
                let by = workflow.as_str().and_then(|it| self.carried_out(it, parts, plans));
                let Some((workflow, by)) = by else {
                    let path =
                        format!("substitution_mappings.interfaces{}{}", step(key), step(operation));
                    let why = "neither a plan nor one operation carries it out";
                    self.keep(&path, &said.part(operation, workflow), why);
                    continue;
                };
                let mut called = self.operation_name(node_type, key, operation);
                let mut exports = exports(workflow);
                if let Some((interface, own)) = exports.find(|(_, own)| **own == **operation) {
                    (name, called) = (interface.to_owned(), own.to_owned());
                }
                written.push(XmlPart::new("Operation").with("name", called).holding(by));
            }
            if !written.is_empty() {
                interfaces.push(written.with("name", name));
            }
        }
        interfaces
    }

    /// The exposed interfaces of definitions that substitute no node: metadata of workflows name
    /// the operations that they were exposed as.
    fn exported_interfaces(&self, parts: &ServiceParts, plans: &ConvertedPlans) -> Vec<XmlPart> {
        let mut interfaces: IndexMap<&str, XmlPart> = IndexMap::new();
        for workflow in &self.variant.topology.workflows {
            for (interface, operation) in exports(workflow) {
                let Some((_, by)) = self.carried_out(&workflow.name, parts, plans) else {
                    continue;
                };
                let new = || XmlPart::new("Interface").with("name", interface);
                let written = interfaces.entry(interface).or_insert_with(new);
                written.push(XmlPart::new("Operation").with("name", operation).holding(by));
            }
        }
        interfaces.into_values().collect()
    }

    /// A workflow of this name, and the element that refers to its implementation.
    fn carried_out(
        &self,
        name: &str,
        parts: &ServiceParts,
        plans: &ConvertedPlans,
    ) -> Option<(&TopologyWorkflow, XmlPart)> {
        let mut workflows = self.variant.topology.workflows.iter();
        let workflow = workflows.find(|it| it.name == name)?;
        if let Some(plan) = plans.ids.get(name) {
            return Some((workflow, XmlPart::new("Plan").with("planRef", plan)));
        }
        let (step, activity) = only_call(workflow)?;
        let (key, operation) = activity.name.value.split_once('.')?;
        let Some(TopologyElement::Node(node)) = step.target.as_ref()?.element else { return None };
        let (by, of) = match &step.relationship {
            None => {
                let id = &*parts.nodes[node.index()];
                (XmlPart::new("NodeOperation").with("nodeRef", id), self.type_of(node)?)
            }
            Some(requirement) => {
                let topology = self.variant.topology;
                let mut relations = topology.node(node).relations.iter();
                let id = relations.find(|id| topology.relation(**id).name == requirement.value)?;
                let of = self.relationship_kind(*id)?;
                let own = parts.links.get(id)?;
                (XmlPart::new("RelationshipOperation").with("relationshipRef", own), of)
            }
        };
        let by = by.with("interfaceName", self.interface_name(of, key).0);
        Some((workflow, by.with("operationName", self.operation_name(of, key, operation))))
    }

    /// The name of an operation of an interface of a type in XML.
    fn operation_name(&self, of: TypeId, interface: &str, name: &str) -> String {
        let is_lifecycle = self.interface_name(of, interface).1;
        self.operation_called(of, (interface, name), is_lifecycle)
    }
}

/// The only step of a workflow, if it calls an operation and does nothing else.
fn only_call(workflow: &TopologyWorkflow) -> Option<(&TopologyStep, &TopologyActivity)> {
    let [step] = &*workflow.steps else { return None };
    let [activity] = &*step.activities else { return None };
    let is_plain = workflow.preconditions.is_empty()
        && workflow.outputs.is_empty()
        && step.filter.is_none()
        && step.on_success.is_empty()
        && step.on_failure.is_empty();
    (is_plain && activity.kind == ActivityKind::CallOperation).then_some((step, activity))
}

/// The interfaces and operations that a workflow was exposed as, according to its metadata.
fn exports(workflow: &TopologyWorkflow) -> impl Iterator<Item = (&str, &str)> {
    let said = workflow.metadata.iter().find(|it| it.name == EXPORTED);
    let said = said.and_then(|it| it.value.value.as_str()).unwrap_or_default();
    said.split(", ").filter_map(|it| it.rsplit_once(' '))
}

/// The path of a property in mappings.
fn path_of(field: DefinedField) -> String {
    if field.is_attribute { format!("@{}", field.name) } else { field.name }
}

fn property_mapping(own: &str, id: &str, field: &str) -> XmlPart {
    XmlPart::new("PropertyMapping")
        .with("serviceTemplatePropertyRef", own)
        .with("targetObjectRef", id)
        .with("targetPropertyRef", field)
}

/// The properties element with its mappings.
fn mapped_properties(root: Option<XmlPart>, mappings: Vec<XmlPart>) -> Option<XmlPart> {
    let mut properties = XmlPart::new("Properties");
    properties.push_some(root);
    properties.push_in("PropertyMappings", mappings);
    (!properties.is_empty()).then_some(properties)
}

/// The entries of a map, or of a list of maps.
fn listed(said: &SaidValue) -> Vec<(String, Value)> {
    let of = |value: &Value| -> Vec<(String, Value)> {
        entries(value).map(|(name, value)| (name.to_string(), value.clone())).collect()
    };
    match &said.value {
        Value::List(items) => items.iter().flat_map(of).collect(),
        value => of(value),
    }
}
