//! Converts types.

use super::super::layout::YamlMap;
use super::super::loss::LossKind;
use super::super::well_known::{self, STANDARD, TARGET_NAME, lifecycle_operation};
use super::YamlConverter;
use super::added::{self};
use super::implementation::ImplementedOperation;
use super::names::{FileKey, TypeName, as_name, unique};
use super::place;
use crate::tosca::v1_0::definitions::{
    Bound, ComponentKind, EntityType, FeatureDefinition, FeatureKind, TypeInterface,
};
use crate::tosca::v1_0::{ComponentId, ExpectedProperties};
use crate::tosca::xml_schema::ValueShape;
use cuvee_text::value::Value;
use cuvee_text::xml::XmlElement;
use rustc_hash::FxHashSet;

/// An interface of a type, declared or inherited.
#[derive(Clone, Debug)]
pub(super) struct ConvertedInterface {
    pub name: String,
    pub key: String,
    pub is_lifecycle: bool,
    pub is_at_target: bool,
    /// The types that declare the interface, the nearest last.
    pub said_by: Vec<ComponentId>,
}

/// What takes parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterOwner {
    /// A plan, or a workflow in its place: who starts it gives values.
    Plan,
    /// An operation. Plans give it values, so definitions of YAML must not require them.
    Operation,
}

/// An operation as a type declares it.
pub(super) struct OwnOperation {
    pub name: String,
    pub inputs: YamlMap,
    /// The inputs of a workflow that calls the operation.
    pub asked: YamlMap,
    pub outputs: YamlMap,
}

impl<'d> YamlConverter<'_, 'd> {
    /// Converts a type of any kind that has a section in YAML.
    pub(super) fn entity_type(&mut self, id: ComponentId) {
        let library = self.library;
        let component = library.component(id);
        let (Some(said), Some(section)) =
            (library.entity_type(id), well_known::section_of(component.kind))
        else {
            return;
        };
        let (file, name) = match self.names.get(id) {
            Some(TypeName::Own(file, name)) => (*file, name.clone()),
            Some(TypeName::Counterpart(name)) => {
                let name = name.clone();
                return self.counterpart(id, said, &name);
            }
            None => return,
        };
        let parent = self.type_name(component.kind, id, said.derived_from.as_ref(), file);
        let root = well_known::root_of(component.kind).map(str::to_owned);
        let mut body = YamlMap::default();
        body.put_some("derived_from", parent.or(root));
        let mut metadata = self.type_metadata(id, said, component.element);
        let is_renamed = name != component.name.text
            || self.names.namespace(file) != Some(&*component.namespace);
        if is_renamed {
            let original = format!("{{{}}}{}", component.namespace, component.name.text);
            metadata.put(TARGET_NAME, original);
        }
        body.put_some("description", self.description(component.element));
        let place = body;
        let mut body = YamlMap::default();
        body.put_map("properties", self.property_definitions(id, file));
        let mut attributes = self.state(id, file, &name);
        attributes.append(self.output_attributes(id, said));
        self.tell_inputs(said);
        body.put_map("attributes", attributes);
        let mut more = YamlMap::default();
        match component.kind {
            ComponentKind::NodeType => self.node_type(id, said, file, &mut body, &mut more),
            ComponentKind::RelationshipType => {
                self.relationship_type(id, said, file, &mut body, &mut more);
            }
            ComponentKind::PolicyType => {
                let targets = said.applies_to.iter().filter_map(|target| {
                    self.type_name(ComponentKind::NodeType, id, Some(target), file)
                });
                let targets: Vec<_> = targets.map(Value::from).collect();
                body.put_list("targets", targets);
            }
            _ => {}
        }
        let mut all = place;
        metadata.append(more);
        all.put_map("metadata", metadata);
        all.append(body);
        self.section(file, section).put(&name, all);
    }

    /// The attribute for the states of instances. Attribute definitions have no constraints, so the
    /// values get a data type.
    fn state(&mut self, id: ComponentId, file: FileKey, name: &str) -> YamlMap {
        let library = self.library;
        let mut attributes = YamlMap::default();
        let states_of = |id| states(library.component(id).element);
        let states = states_of(id);
        if !states.is_empty() && library.ancestry(id).skip(1).any(|id| !states_of(id).is_empty()) {
            let construct = format!("the list of states of `{name}`");
            let why = "an attribute that is inherited cannot have more values";
            let element = library.component(id).element;
            self.lose(element, "InstanceStates", construct, why, LossKind::Lost);
        } else if !states.is_empty() {
            let data_type = self.names.free(file, "data_types", &well_known::state_type_name(name));
            let constraint = YamlMap::default().with("valid_values", states);
            let body = YamlMap::default().with("derived_from", "string");
            let body = body.with("constraints", vec![constraint.into()]);
            self.section(file, "data_types").put(&data_type, body);
            attributes.put("state", YamlMap::default().with("type", data_type));
        }
        attributes
    }

    /// Reports the losses of a type that has a counterpart: its own contents are not converted.
    fn counterpart(&mut self, id: ComponentId, said: &EntityType<'d>, name: &str) {
        let element = self.library.component(id).element;
        if self.library.component(id).namespace == crate::tosca::profile::NAMESPACE {
            // The profile defines the type.
            return;
        }
        let is_bare = element.elements().next().is_none()
            && said.is_abstract.is_none()
            && said.is_final.is_none();
        if !is_bare {
            let construct = format!("the definition of `{}`", self.text_name(id));
            let why = format!("in YAML it is `{name}`, and the definition of that type counts");
            self.lose(element, "", construct, why, LossKind::Lost);
        }
    }

    fn type_metadata(
        &mut self,
        id: ComponentId,
        said: &EntityType<'d>,
        element: XmlElement<'d>,
    ) -> YamlMap {
        let mut metadata = self.tags(element, well_known::is_of_type);
        for (word, is_said) in
            [("abstract", said.is_abstract.is_some()), ("final", said.is_final.is_some())]
        {
            if is_said {
                metadata.put(word, "yes");
                let construct = format!("that `{}` is {word}", self.text_name(id));
                let why = "YAML has only metadata for it, which nothing enforces";
                self.lose(element, &format!("@{word}"), construct, why, LossKind::Lost);
            }
        }
        self.properties_name(id, said, &mut metadata);
        metadata.put_some("policy_language", said.policy_language.as_ref().map(|it| &*it.text));
        metadata
    }

    /// Records the element that keys of Winery name, and that of the schema if it is not called
    /// like the type.
    fn properties_name(&mut self, id: ComponentId, said: &EntityType<'d>, metadata: &mut YamlMap) {
        let component = self.library.component(id);
        let has_keys = said.keys.is_some() && self.keys_count(id);
        if let Some(keys) = said.keys.as_ref().filter(|_| has_keys) {
            let [namespace, local] = [&keys.namespace, &keys.element]
                .map(|said| said.as_ref().map(|said| &*said.text).unwrap_or_default());
            metadata.put("properties_keys", format!("{{{namespace}}}{local}"));
        }
        let Some(definition) = &said.properties else { return };
        if let Some(name) = &definition.element {
            let namespace = name.namespace.as_deref().unwrap_or_default();
            let is_alike =
                (namespace, &*name.local) == (&*component.namespace, &*component.name.text);
            if !is_alike || has_keys {
                metadata.put("properties_element", format!("{{{namespace}}}{}", name.local));
            }
        }
        if let Some(name) = &definition.type_name {
            let construct =
                format!("that properties of `{}` are any `{}`", component.name.text, name.local);
            let why = "they are an element that is called like the type";
            self.lose(
                component.element,
                "PropertiesDefinition/@type",
                construct,
                why,
                LossKind::Lost,
            );
        }
    }

    /// Whether the keys of a type say what its schema says, if it has both.
    fn keys_count(&mut self, id: ComponentId) -> bool {
        let (own, set) = (self.schemas.own(id), &self.schemas.set);
        let (Some(defined), Some(keyed)) = (own.defined, own.keyed) else { return true };
        let [defined, keyed] = [defined, ExpectedProperties::Element(keyed)]
            .map(|expected| self.schemas.value_type(expected));
        let are_alike = set.differ(defined, keyed) != Some(true);
        if !are_alike {
            let construct = format!("the keys of `{}`", self.text_name(id));
            let why = "its schema says otherwise, and counts";
            let element = self.library.component(id).element;
            self.lose(element, "PropertiesDefinition", construct, why, LossKind::Lost);
        }
        are_alike
    }

    fn node_type(
        &mut self,
        id: ComponentId,
        said: &EntityType<'d>,
        file: FileKey,
        body: &mut YamlMap,
        metadata: &mut YamlMap,
    ) {
        let mut capabilities = YamlMap::default();
        for capability in &said.capabilities {
            capabilities.put(&capability.name.text, self.capability(id, capability, file));
            self.former_name(FeatureKind::Capability, capability, metadata);
        }
        for wanted in self.links.capabilities.get(&id).cloned().unwrap_or_default() {
            let capability = YamlMap::default().with("type", wanted.type_name);
            capabilities.put(&wanted.name, capability);
        }
        body.put_map("capabilities", capabilities);
        let mut requirements = Vec::new();
        for requirement in &said.requirements {
            self.former_name(FeatureKind::Requirement, requirement, metadata);
            let definition = self.requirement(id, requirement, file, metadata);
            requirements.push(YamlMap::default().with(&requirement.name.text, definition).into());
        }
        let generated = self.links.requirements.get(&id).cloned().unwrap_or_default();
        let names: Vec<_> = generated.iter().map(|it| it.name.clone()).collect();
        for wanted in generated {
            let capability = match wanted.capability {
                Ok(normative) => Some(normative.to_owned()),
                Err(id) => self.names.name(id, file),
            };
            let relationship = match wanted.relationship {
                Some(id) => self.names.name(id, file),
                None => None,
            };
            let mut definition = YamlMap::default();
            definition.put_some("capability", capability);
            definition.put_some("relationship", relationship);
            definition.put("occurrences", vec![Value::from(0_i64), "UNBOUNDED".into()]);
            requirements.push(YamlMap::default().with(&wanted.name, definition).into());
        }
        if !names.is_empty() {
            metadata.put("node_to_node", names.join(", "));
        }
        body.put_list("requirements", requirements);
        self.behavior(id, file, body, metadata);
    }

    /// Records the name of a requirement or capability that was renamed.
    fn former_name(&self, kind: FeatureKind, said: &FeatureDefinition<'d>, to: &mut YamlMap) {
        let name = &*said.name.text;
        let former = self.renamed.former_feature(kind, name);
        to.put_some(&format!("{}_name.{name}", kind.what()), former);
    }

    fn capability(
        &mut self,
        id: ComponentId,
        said: &FeatureDefinition<'d>,
        file: FileKey,
    ) -> YamlMap {
        let kind = self.type_name(ComponentKind::CapabilityType, id, said.type_name.as_ref(), file);
        let mut capability = YamlMap::default();
        capability.put_some("type", kind);
        capability.with("occurrences", occurrences(said.lower, said.upper))
    }

    /// A requirement definition; the name of the requirement type is recorded.
    fn requirement(
        &mut self,
        id: ComponentId,
        said: &FeatureDefinition<'d>,
        file: FileKey,
        metadata: &mut YamlMap,
    ) -> YamlMap {
        let library = self.library;
        let type_id = self.find(ComponentKind::RequirementType, id, said.type_name.as_ref());
        let mut capability = None;
        if let Some(type_id) = type_id {
            let wanting = library.ancestry(type_id).find_map(|of| {
                let wanted = library.entity_type(of)?.required_capability.as_ref()?;
                Some((of, wanted))
            });
            self.chosen.used.insert(type_id);
            if let Some((of, wanted)) = wanting {
                let kind = ComponentKind::CapabilityType;
                capability = self.type_name(kind, of, Some(wanted), file);
                self.inherited_capability(type_id, of);
            }
            let component = library.component(type_id);
            let name = format!("{{{}}}{}", component.namespace, component.name.text);
            metadata.put(&format!("requirement_type.{}", said.name.text), name);
        }
        let capability = capability.unwrap_or_else(|| "tosca.capabilities.Root".to_owned());
        let definition = YamlMap::default().with("capability", capability);
        definition.with("occurrences", occurrences(said.lower, said.upper))
    }

    /// Reports a requirement type that asks for the capability of the type it derives from.
    fn inherited_capability(&mut self, id: ComponentId, said_by: ComponentId) {
        if id == said_by {
            return;
        }
        let [construct, why] = [
            format!("what `{}` asks for", self.text_name(id)),
            format!("`{}`, from which it derives, says it", self.text_name(said_by)),
        ];
        let element = self.library.component(id).element;
        self.lose(element, "@requiredCapabilityType", construct, why, LossKind::Supplied);
    }

    fn relationship_type(
        &mut self,
        id: ComponentId,
        said: &EntityType<'d>,
        file: FileKey,
        body: &mut YamlMap,
        metadata: &mut YamlMap,
    ) {
        self.behavior(id, file, body, metadata);
        let element = self.library.component(id).element;
        let valid = self.find(ComponentKind::CapabilityType, id, said.valid_target.as_ref());
        if let Some(valid) = valid {
            let name = self.names.name(valid, file).map(Value::from);
            body.put_list("valid_target_types", name.into_iter().collect());
        } else if said.valid_target.is_some() {
            let construct = format!("the valid targets of `{}`", self.text_name(id));
            let why = "valid targets in YAML are types of capabilities";
            self.lose(element, "ValidTarget", construct, why, LossKind::Lost);
        }
    }

    /// Converts interfaces, their implementations, and artifacts.
    fn behavior(
        &mut self,
        id: ComponentId,
        file: FileKey,
        body: &mut YamlMap,
        metadata: &mut YamlMap,
    ) {
        let interfaces = self.interfaces_of(id);
        let implementation = self.implementation(id, &interfaces, file, metadata);
        let mut written = YamlMap::default();
        let mut at_target = Vec::new();
        for interface in &interfaces {
            let implemented: Vec<_> = implementation
                .operations
                .iter()
                .filter(|it| it.interface == interface.key)
                .collect();
            let is_own = interface.said_by.last() == Some(&id);
            if !is_own && implemented.is_empty() {
                continue;
            }
            if interface.is_at_target {
                at_target.push(interface.key.clone());
            }
            written.put(&interface.key, self.interface(id, interface, &implemented, file));
            if is_own && interface.key != interface.name {
                metadata.put(&format!("interface.{}", interface.key), &*interface.name);
            }
            if is_own {
                self.former_operations(id, interface, metadata);
            }
        }
        if !at_target.is_empty() {
            metadata.put("target_interfaces", at_target.join(", "));
        }
        body.put_map("interfaces", written);
        body.put_map("artifacts", implementation.artifacts);
    }

    /// Records the names of operations that were renamed.
    fn former_operations(
        &self,
        id: ComponentId,
        interface: &ConvertedInterface,
        metadata: &mut YamlMap,
    ) {
        for (name, _) in self.said_operations(id, interface) {
            let former = self.renamed.former_operation(name);
            metadata.put_some(&format!("operation_name.{}.{name}", interface.key), former);
        }
    }

    /// The interfaces of a type, inherited ones first.
    pub(super) fn interfaces_of(&self, id: ComponentId) -> Vec<ConvertedInterface> {
        let library = self.library;
        let mut ancestry: Vec<_> = library.ancestry(id).collect();
        ancestry.reverse();
        let mut all: Vec<ConvertedInterface> = Vec::new();
        for of in ancestry {
            let Some(said) = library.entity_type(of) else { continue };
            let sides = [(&said.interfaces, false), (&said.target_interfaces, true)];
            for (interface, is_at_target) in
                sides.into_iter().flat_map(|(all, side)| all.iter().map(move |it| (it, side)))
            {
                let known = all.iter_mut().find(|known| {
                    known.name == interface.name.text && known.is_at_target == is_at_target
                });
                if let Some(known) = known {
                    if known.said_by.last() != Some(&of) {
                        known.said_by.push(of);
                    }
                    continue;
                }
                let is_lifecycle = library.component(id).kind == ComponentKind::NodeType
                    && is_lifecycle(interface);
                let wanted = match is_lifecycle {
                    true => STANDARD.0.to_owned(),
                    false => key_of(&interface.name.text),
                };
                let key = unique(&wanted, |key| {
                    all.iter().any(|known| known.key == key)
                        || !is_lifecycle && self.added.has(id, added::INTERFACES, key)
                });
                all.push(ConvertedInterface {
                    name: interface.name.text.to_string(),
                    key,
                    is_lifecycle,
                    is_at_target,
                    said_by: vec![of],
                });
            }
        }
        all
    }

    fn interface(
        &mut self,
        id: ComponentId,
        interface: &ConvertedInterface,
        implemented: &[&ImplementedOperation],
        file: FileKey,
    ) -> YamlMap {
        let mut body = YamlMap::default();
        let mut operations = YamlMap::default();
        if interface.is_lifecycle {
            body.put("type", STANDARD.1);
            for own in self.own_operations(id, interface) {
                let name = lifecycle_operation(&own.name).unwrap_or(&own.name).to_owned();
                let mut operation = YamlMap::default();
                operation.put_map("inputs", own.inputs);
                operation.put_map("outputs", own.outputs);
                let by = implemented.iter().find(|it| it.operation == name);
                operation.put_some("implementation", by.map(|it| it.artifact.clone()));
                operations.put(&name, operation);
            }
        } else if let Some(&nearest) = interface.said_by.last() {
            body.put_some("type", self.interface_type(nearest, interface, file));
            for own in self.own_operations(id, interface) {
                let by = implemented.iter().find(|it| it.operation == own.name);
                if own.outputs.is_empty() {
                    continue;
                }
                let mut operation = YamlMap::default().with("outputs", own.outputs);
                operation.put_some("implementation", by.map(|it| it.artifact.clone()));
                operations.put(&own.name, operation);
            }
        }
        for by in implemented {
            if !operations.has(&by.operation) {
                let operation = YamlMap::default().with("implementation", by.artifact.clone());
                operations.put(&by.operation, operation);
            }
        }
        body.put_map("operations", operations);
        body
    }

    /// Attributes for the outputs of operations; each name gets at most one new attribute.
    fn output_attributes(&mut self, id: ComponentId, said: &EntityType<'d>) -> YamlMap {
        let mut attributes = YamlMap::default();
        let component = self.library.component(id);
        let has_state = place::child(component.element, "InstanceStates").is_some();
        let known = self.known_attributes(id);
        let all = said.interfaces.iter().chain(&said.target_interfaces);
        for operation in all.flat_map(|interface| &interface.operations) {
            for (name, written) in outputs(operation.element) {
                let counterpart = well_known::parameter_type(&written);
                let (kind, is_built_in) = (counterpart.type_name, counterpart.leads_back);
                let is_there = known.contains(&*name)
                    || name == "state" && has_state
                    || [added::PROPERTIES, added::ATTRIBUTES]
                        .iter()
                        .any(|kind| self.added.has(id, kind, &name));
                let is_said = match attributes.get(&name) {
                    Some(_) => false,
                    None if is_there => false,
                    None => {
                        attributes.put(&name, YamlMap::default().with("type", kind));
                        is_built_in
                    }
                };
                if !is_said {
                    let below = format!("OutputParameters/OutputParameter[{name}]/@type");
                    let construct = format!("that the type of `{name}` is `{written}`");
                    let why = "an output is what its attribute is";
                    self.lose(operation.element, &below, construct, why, LossKind::Lost);
                }
            }
        }
        attributes
    }

    /// Reports inputs of operations that nothing in YAML requires.
    fn tell_inputs(&mut self, said: &EntityType<'d>) {
        let all = said.interfaces.iter().chain(&said.target_interfaces);
        for operation in all.flat_map(|interface| &interface.operations) {
            for parameter in input_parameters(operation.element).filter(|it| is_required(*it)) {
                let construct = "that an operation requires an input";
                let why =
                    "plans of TOSCA 1.0 give it a value, and types of YAML cannot wait for one";
                self.lose(parameter, "@required", construct, why, LossKind::KeptAsExtension);
            }
        }
    }

    /// The names of attributes that a type already has: those that reflect properties, those added
    /// to its ancestors, and those of every node.
    fn known_attributes(&self, id: ComponentId) -> FxHashSet<String> {
        let mut known: FxHashSet<_> =
            ["tosca_id", "tosca_name", "state"].into_iter().map(str::to_owned).collect();
        let expected = self.schemas.expected(self.library, id);
        let shape = self.schemas.set.shape(self.schemas.value_type(expected));
        if let ValueShape::Parts(parts) = shape {
            known.extend(parts.iter().map(|part| part.name.to_owned()));
        }
        for of in self.library.ancestry(id).skip(1) {
            let Some(said) = self.library.entity_type(of) else { continue };
            let all = said.interfaces.iter().chain(&said.target_interfaces);
            let all = all.flat_map(|interface| &interface.operations);
            known.extend(all.flat_map(|it| it.outputs.iter().map(|it| it.text.to_string())));
        }
        known
    }

    /// The names and elements of the operations that a type declares in an interface.
    fn said_operations<'s>(
        &'s self,
        id: ComponentId,
        interface: &'s ConvertedInterface,
    ) -> impl Iterator<Item = (&'s str, XmlElement<'d>)> {
        let said = self.library.entity_type(id).into_iter();
        let all = said.flat_map(|said| match interface.is_at_target {
            true => &said.target_interfaces,
            false => &said.interfaces,
        });
        let own = all.filter(|it| it.name.text == *interface.name);
        own.flat_map(|own| &own.operations).map(|it| (&*it.name.text, it.element))
    }

    /// The operations that a type declares in an interface, with inputs and outputs.
    pub(super) fn own_operations(
        &self,
        id: ComponentId,
        interface: &ConvertedInterface,
    ) -> Vec<OwnOperation> {
        let own = self.said_operations(id, interface).map(|(name, it)| OwnOperation {
            name: name.to_owned(),
            inputs: parameters(it, ParameterOwner::Operation),
            asked: parameters(it, ParameterOwner::Plan),
            outputs: output_mappings(it),
        });
        own.collect()
    }

    /// The name of the interface type for an interface of a type.
    fn interface_type(
        &mut self,
        id: ComponentId,
        interface: &ConvertedInterface,
        from: FileKey,
    ) -> Option<String> {
        let known = self.interface_types.get(&(id, interface.key.clone())).cloned();
        let (file, name) = match known {
            Some(known) => known,
            None => self.new_interface_type(id, interface)?,
        };
        Some(self.names.seen(file, &name, from))
    }

    fn new_interface_type(
        &mut self,
        id: ComponentId,
        interface: &ConvertedInterface,
    ) -> Option<(FileKey, String)> {
        let file = self.names.file_of(id)?;
        let wanted = format!("{}_{}", self.text_name(id), interface.key);
        let name = self.names.free(file, "interface_types", &wanted);
        self.interface_types.insert((id, interface.key.clone()), (file, name.clone()));
        let before = interface.said_by.iter().rposition(|of| *of == id).unwrap_or_default();
        let parent = match before.checked_sub(1).and_then(|at| interface.said_by.get(at)) {
            Some(&parent) => self.interface_type(parent, interface, file),
            None => None,
        };
        let parent = parent.unwrap_or_else(|| "tosca.interfaces.Root".to_owned());
        let mut body = YamlMap::default().with("derived_from", parent);
        let mut operations = YamlMap::default();
        for own in self.own_operations(id, interface) {
            let mut said = YamlMap::default();
            said.put_map("inputs", own.inputs);
            operations.put(&own.name, said);
        }
        body.put_map("operations", operations);
        self.section(file, "interface_types").put(&name, body);
        Some((file, name))
    }
}

fn is_lifecycle(interface: &TypeInterface<'_>) -> bool {
    let operations = interface.operations.iter().map(|it| &*it.name.text);
    well_known::is_lifecycle(&interface.name.text, operations)
}

/// The key of an interface in YAML; the interface may have a URI as its name.
pub(super) fn key_of(name: &str) -> String {
    let last = name.trim_end_matches(['/', '#']).rsplit(['/', ':', '#']).next();
    as_name(last.unwrap_or_default()).replace(['-', '.'], "_")
}

/// The inputs of an operation or a plan.
pub(super) fn parameters(of: XmlElement<'_>, owner: ParameterOwner) -> YamlMap {
    let mut inputs = YamlMap::default();
    for parameter in input_parameters(of) {
        let name = place::attribute(parameter, "name").unwrap_or_default();
        if !inputs.has(&name) {
            inputs.put(&name, parameter_definition(parameter, owner));
        }
    }
    inputs
}

fn input_parameters(of: XmlElement<'_>) -> impl Iterator<Item = XmlElement<'_>> {
    let all = place::child(of, "InputParameters").into_iter();
    all.flat_map(|all| place::children(all, "InputParameter"))
}

fn is_required(parameter: XmlElement<'_>) -> bool {
    place::attribute(parameter, "required").is_none_or(|it| it != "no")
}

/// The outputs of an operation or a plan: their names, and their types as written.
pub(super) fn outputs(of: XmlElement<'_>) -> Vec<(String, String)> {
    let all = place::child(of, "OutputParameters").into_iter();
    let all = all.flat_map(|all| place::children(all, "OutputParameter"));
    let said = |it, name| place::attribute(it, name).unwrap_or_default();
    let mut names = FxHashSet::default();
    let all = all.map(|it| (said(it, "name"), said(it, "type")));
    all.filter(|(name, _)| names.insert(name.clone())).collect()
}

/// The mappings of an operation's outputs to attributes of the same names.
fn output_mappings(operation: XmlElement<'_>) -> YamlMap {
    let mut mappings = YamlMap::default();
    for (name, _) in outputs(operation) {
        mappings.put(&name, vec![Value::from("SELF"), (&*name).into()]);
    }
    mappings
}

/// The type of a parameter, and whether it is required.
fn parameter_definition(parameter: XmlElement<'_>, owner: ParameterOwner) -> YamlMap {
    let written = place::attribute(parameter, "type").unwrap_or_default();
    let counterpart = well_known::parameter_type(&written);
    let is_later = is_required(parameter) && owner == ParameterOwner::Operation;
    let definition = YamlMap::default().with("type", counterpart.type_name);
    let mut definition = definition.with("required", is_required(parameter) && !is_later);
    let mut metadata = YamlMap::default();
    metadata.put_some("xml", is_later.then_some("required"));
    metadata.put_some("xsd", (!counterpart.is_usual).then_some(written));
    definition.put_map("metadata", metadata);
    definition
}

/// The states of instances.
fn states(element: XmlElement<'_>) -> Vec<Value> {
    let all = place::child(element, "InstanceStates").into_iter();
    let states = all.flat_map(|all| place::children(all, "InstanceState"));
    states.filter_map(|state| place::attribute(state, "state")).map(Value::from).collect()
}

fn occurrences(lower: Bound, upper: Bound) -> Vec<Value> {
    let number = |number: u64| Value::from(i64::try_from(number).unwrap_or(i64::MAX));
    vec![
        number(lower.value.unwrap_or_default()),
        upper.value.map_or_else(|| "UNBOUNDED".into(), number),
    ]
}
