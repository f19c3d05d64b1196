//! Converts service templates: nodes, relationships, policies.

use super::super::layout::YamlMap;
use super::super::loss::LossKind;
use super::YamlConverter;
use super::names::{FileKey, node_name, relationship_name};
use super::place;
use super::values::PropertyHolder;
use crate::convert::unique::UniqueNames;
use crate::tosca::profile::RESERVED_NAMES;
use crate::tosca::v1_0::ComponentId;
use crate::tosca::v1_0::definitions::{
    ComponentContent, ComponentKind, DefinedNode, DefinedRelationship, DefinedService,
    EntityTemplate, FeatureKind, NodeFeature, PolicyUse,
};
use cuvee_text::value::Value;
use cuvee_text::xml::XmlElement;
use rustc_hash::FxHashMap;

impl<'d> YamlConverter<'_, 'd> {
    /// The topology of a service template.
    pub(super) fn topology(&mut self, id: ComponentId, service: &DefinedService<'d>) -> YamlMap {
        let mut nodes = YamlMap::default();
        for (at, node) in service.nodes.iter().enumerate() {
            let template = self.node(id, service, at, node);
            nodes.put(&node_name(&node.id.text), template);
        }
        let mut relationships = YamlMap::default();
        for relationship in &service.relationships {
            let template = self.relationship(id, relationship);
            relationships.put(&relationship_name(&relationship.id.text), template);
        }
        let policies = self.policies(id, service);
        let mut workflows = self.workflows(id, service);
        let interfaces = self.shown_interfaces(id, service, &mut workflows);
        let mut topology = YamlMap::default();
        topology.put_map("inputs", std::mem::take(&mut self.inputs));
        topology.put_map("node_templates", nodes);
        topology.put_map("relationship_templates", relationships);
        topology.put_list("policies", policies);
        topology.put_map("outputs", std::mem::take(&mut self.shown.outputs));
        let substitution = self.substitution(id, service, interfaces);
        topology.put_some("substitution_mappings", substitution);
        topology.put_map("workflows", workflows.workflows);
        topology
    }

    fn node(
        &mut self,
        id: ComponentId,
        service: &DefinedService<'d>,
        at: usize,
        node: &DefinedNode<'d>,
    ) -> YamlMap {
        let file = FileKey::Service;
        let type_name = node.template.type_name.as_ref();
        let mut template = YamlMap::default();
        template.put_some("type", self.type_name(ComponentKind::NodeType, id, type_name, file));
        template.put_some("description", self.description(node.element));
        let artifacts = self.node_artifacts(id, node);
        let mut metadata = self.node_metadata(node);
        metadata.append(artifacts.metadata);
        template.put_map("metadata", metadata);
        let (least, most) = (node.least.value.unwrap_or_default(), node.most.value);
        if (least, most) != (1, Some(1)) {
            let number = |number: u64| Value::from(i64::try_from(number).unwrap_or(i64::MAX));
            let most = most.map_or_else(|| "UNBOUNDED".into(), number);
            template.put("occurrences", vec![number(least), most]);
            if least != 1 {
                template.put("instance_count", number(least));
            }
        }
        if let Some(type_id) = self.find(ComponentKind::NodeType, id, type_name) {
            let holder = PropertyHolder {
                type_id,
                element: node.element,
                root: node.template.properties,
                input: Some(&node.id.text),
                object: Some(&node.id.text),
                below: "",
            };
            template.put_map("properties", self.properties(holder));
        } else {
            self.unknown_properties(&node.template);
        }
        template.put_map("capabilities", self.capabilities(id, node));
        template.put_list("requirements", self.requirements(id, service, at, node));
        template.put_map("artifacts", artifacts.artifacts);
        template
    }

    /// Reports properties of templates of unknown types.
    fn unknown_properties(&mut self, template: &EntityTemplate<'d>) {
        if let Some(root) = template.properties {
            let why = "nothing is known of its type";
            self.lose(root, "", format!("`{}`", root.name().local), why, LossKind::Lost);
        }
    }

    /// Metadata that record names of a node and its parts, where these cannot be derived.
    fn node_metadata(&self, node: &DefinedNode<'d>) -> YamlMap {
        let mut metadata = YamlMap::default();
        metadata.put_some("name", place::attribute(node.element, "name"));
        let id = &*node.id.text;
        metadata.put_some("id", (node_name(id) != id).then_some(id));
        for kind in FeatureKind::ALL {
            let all = match kind {
                FeatureKind::Requirement => &node.requirements,
                FeatureKind::Capability => &node.capabilities,
            };
            let mut names = UniqueNames::default();
            for feature in all {
                let wanted = format!("{}.{}", kind.what(), feature.name.text);
                metadata.put(&names.take(&wanted), &*feature.id.text);
            }
        }
        metadata
    }

    fn capabilities(&mut self, id: ComponentId, node: &DefinedNode<'d>) -> YamlMap {
        let mut capabilities = YamlMap::default();
        for capability in &node.capabilities {
            self.narrowed(id, node, FeatureKind::Capability, capability);
            let name = capability.template.type_name.as_ref();
            let Some(type_id) = self.find(ComponentKind::CapabilityType, id, name) else {
                self.unknown_properties(&capability.template);
                continue;
            };
            if capabilities.has(&capability.name.text) {
                let construct = format!("capability `{}`", capability.id.text);
                let why = "a node of YAML has one of each name";
                self.lose(capability.element, "", construct, why, LossKind::Lost);
                continue;
            }
            let input = format!("{}_{}", node.id.text, capability.name.text);
            let holder = PropertyHolder {
                type_id,
                element: capability.element,
                root: capability.template.properties,
                input: Some(&input),
                object: Some(&capability.id.text),
                below: "",
            };
            let properties = self.properties(holder);
            if !properties.is_empty() {
                let said = YamlMap::default().with("properties", properties);
                capabilities.put(&capability.name.text, said);
            }
        }
        self.unsaid_capabilities(id, node, &mut capabilities);
        capabilities
    }

    /// Supplies the properties of capabilities that a node has by its type, without saying so.
    fn unsaid_capabilities(
        &mut self,
        id: ComponentId,
        node: &DefinedNode<'d>,
        capabilities: &mut YamlMap,
    ) {
        let library = self.library;
        let node_type = node.template.type_name.as_ref();
        let Some(of) = self.find(ComponentKind::NodeType, id, node_type) else { return };
        for (owner, defined) in library.effective_features(of, FeatureKind::Capability) {
            let name = &*defined.name.text;
            let said = defined.type_name.as_ref();
            let kind = self.find(ComponentKind::CapabilityType, owner, said);
            let is_said = node.capabilities.iter().any(|it| it.name.text == name);
            // Types of the profile have defaults.
            let is_open = |id: &ComponentId| !is_said && self.names.file_of(*id).is_some();
            let Some(type_id) = kind.filter(is_open) else { continue };
            let input = format!("{}_{name}", node.id.text);
            let holder = PropertyHolder {
                type_id,
                element: node.element,
                root: None,
                input: Some(&input),
                object: None,
                below: &format!("Capabilities/Capability[{name}]/"),
            };
            let properties = self.properties(holder);
            if !properties.is_empty() {
                capabilities.put(name, YamlMap::default().with("properties", properties));
            }
        }
    }

    /// Reports a requirement or capability with another type than its definition has.
    fn narrowed(
        &mut self,
        id: ComponentId,
        node: &DefinedNode<'d>,
        kind: FeatureKind,
        feature: &NodeFeature<'d>,
    ) {
        let library = self.library;
        let node_type = node.template.type_name.as_ref();
        let Some(node_type) = self.find(ComponentKind::NodeType, id, node_type) else { return };
        let mut all = library.features(node_type, kind);
        let defined = all.find(|(_, known)| known.name.text == feature.name.text);
        let defined = defined
            .and_then(|(owner, known)| self.find(kind.types(), owner, known.type_name.as_ref()));
        let name = feature.template.type_name.as_ref();
        let own = self.find(kind.types(), id, name);
        if let (Some(defined), Some(own), Some(name)) = (defined, own, name)
            && defined != own
        {
            let what = kind.what();
            let construct = format!("that {what} `{}` is a `{}`", feature.id.text, name.local);
            let why = format!("a {what} of YAML is what its definition says");
            self.lose(feature.element, "@type", construct, why, LossKind::Lost);
        }
    }

    /// The requirement assignments of a node, both fulfilled and open ones.
    fn requirements(
        &mut self,
        id: ComponentId,
        service: &DefinedService<'d>,
        at: usize,
        node: &DefinedNode<'d>,
    ) -> Vec<Value> {
        let links = self.links.of_node.get(at).cloned().unwrap_or_default();
        let ids = |relationship: usize| {
            service.relationships[relationship].source.as_ref().map(|source| &*source.text)
        };
        let mut links_of: FxHashMap<&str, Vec<_>> = FxHashMap::default();
        for link in &links {
            if let Some(source) = ids(link.relationship) {
                links_of.entry(source).or_default().push(link);
            }
        }
        let mut assignments = Vec::new();
        for requirement in &node.requirements {
            self.narrowed(id, node, FeatureKind::Requirement, requirement);
            if let Some(root) = requirement.template.properties {
                let construct = format!("the properties of requirement `{}`", requirement.id.text);
                let why = "requirements of YAML have no properties";
                self.lose(root, "", construct, why, LossKind::Lost);
            }
            let own = links_of.get(&*requirement.id.text).map(Vec::as_slice).unwrap_or_default();
            assignments.extend(own.iter().map(|link| assignment(service, link)));
            if own.is_empty() {
                let name = requirement.template.type_name.as_ref();
                let mut open = self.open_requirement(id, name);
                if self.optional.contains(&*requirement.id.text) {
                    open.put("occurrences", vec![Value::from(0_i64), Value::from(1_i64)]);
                }
                assignments.push(YamlMap::default().with(&requirement.name.text, open).into());
            }
        }
        let of_node = links_of.get(&*node.id.text).into_iter().flatten();
        assignments.extend(of_node.map(|link| assignment(service, link)));
        assignments
    }

    /// A requirement without a relationship, with the type that its target must have.
    fn open_requirement(
        &mut self,
        id: ComponentId,
        name: Option<&crate::tosca::v1_0::definitions::ComponentName<'d>>,
    ) -> YamlMap {
        let library = self.library;
        let type_id = self.find(ComponentKind::RequirementType, id, name);
        let wanted = type_id.and_then(|type_id| {
            library.ancestry(type_id).find_map(|of| {
                let wanted = library.entity_type(of)?.required_capability.as_ref()?;
                self.find(ComponentKind::CapabilityType, of, Some(wanted))
            })
        });
        let name = wanted.and_then(|wanted| self.names.name(wanted, FileKey::Service));
        let name = name.unwrap_or_else(|| "tosca.capabilities.Root".to_owned());
        YamlMap::default().with("capability", name)
    }

    fn relationship(&mut self, id: ComponentId, said: &DefinedRelationship<'d>) -> YamlMap {
        let kind = ComponentKind::RelationshipType;
        let name = said.template.type_name.as_ref();
        let mut template = YamlMap::default();
        template.put_some("type", self.type_name(kind, id, name, FileKey::Service));
        template.put_some("description", self.description(said.element));
        let mut metadata = YamlMap::default();
        metadata.put_some("name", place::attribute(said.element, "name"));
        let own = &*said.id.text;
        metadata.put_some("id", (relationship_name(own) != own).then_some(own));
        template.put_map("metadata", metadata);
        if let Some(type_id) = self.find(kind, id, name) {
            let holder = PropertyHolder {
                type_id,
                element: said.element,
                root: said.template.properties,
                input: Some(&said.id.text),
                object: Some(&said.id.text),
                below: "",
            };
            template.put_map("properties", self.properties(holder));
        } else {
            self.unknown_properties(&said.template);
        }
        template
    }

    /// The policies of all nodes and of the service template.
    fn policies(&mut self, id: ComponentId, service: &DefinedService<'d>) -> Vec<Value> {
        let mut names = UniqueNames::default();
        RESERVED_NAMES.iter().for_each(|name| drop(names.take(name)));
        let mut all = Vec::new();
        for node in &service.nodes {
            for policy in &node.policies {
                let target = vec![Value::from(&*node_name(&node.id.text))];
                all.push(self.policy(id, policy, &node.id.text, Some(target), &mut names));
            }
        }
        for policy in service.boundary.iter().flat_map(|boundary| &boundary.policies) {
            all.push(self.policy(id, policy, "service", None, &mut names));
        }
        all
    }

    fn policy(
        &mut self,
        id: ComponentId,
        policy: &PolicyUse<'d>,
        of: &str,
        targets: Option<Vec<Value>>,
        names: &mut UniqueNames,
    ) -> Value {
        let library = self.library;
        let kind = ComponentKind::PolicyType;
        let said = policy.name.as_ref().map(|name| name.text.to_string());
        let local = policy.type_name.as_ref().map(|name| name.local.to_string());
        let wanted = said.clone().or(local).unwrap_or_default();
        let name = names.take(&wanted);
        let mut body = YamlMap::default();
        let template = self.find(ComponentKind::PolicyTemplate, id, policy.template.as_ref());
        let of_template = template.and_then(|id| match &library.component(id).content {
            ComponentContent::Template(said) => Some((library.component(id).element, said)),
            _ => None,
        });
        let mut type_name = (id, policy.type_name.as_ref());
        if let (Some(template), Some((_, said))) = (template, of_template) {
            self.replaced_type(policy.element, "@policyType", id, template, (kind, type_name.1));
            type_name = (template, said.type_name.as_ref());
        }
        body.put_some("type", self.type_name(kind, type_name.0, type_name.1, FileKey::Service));
        body.put_some("description", self.description(policy.element));
        let mut metadata = YamlMap::default();
        metadata.put_some("name", said.filter(|said| *said != name));
        metadata.put_some("template", template.map(|id| self.recorded_name(id)));
        body.put_map("metadata", metadata);
        let own = place::foreign(policy.element);
        if let Some(own) = own {
            let why = "content of a policy beside its template has no schema";
            self.lose(own, "", format!("`{}`", own.name().local), why, LossKind::Lost);
        }
        let type_id = self.find(kind, type_name.0, type_name.1);
        if let Some(type_id) = type_id {
            let (element, root): (XmlElement<'d>, _) = match of_template {
                Some((element, said)) => (element, said.properties),
                None => (policy.element, None),
            };
            let input = format!("{of}_{name}");
            let input = Some(&*input);
            let holder = PropertyHolder { type_id, element, root, input, object: None, below: "" };
            body.put_map("properties", self.properties(holder));
        }
        body.put_some("targets", targets);
        self.chosen.used.extend(template);
        YamlMap::default().with(&name, body).into()
    }
}

fn assignment(service: &DefinedService<'_>, link: &super::relations::LinkedRequirement) -> Value {
    let node = node_name(&service.nodes[link.node].id.text);
    let mut body = YamlMap::default().with("node", &*node);
    body.put_some("capability", link.capability.as_deref());
    let relationship = &service.relationships[link.relationship];
    body.put("relationship", &*relationship_name(&relationship.id.text));
    YamlMap::default().with(&link.name, body).into()
}
