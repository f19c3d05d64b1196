//! Converts service templates: nodes, their relationships, and the boundary definitions.

use super::XmlConverter;
use super::names::{QualifiedName, as_name, unique};
use super::part::{WrittenTemplates, XmlPart};
use super::policies::NodePolicies;
use super::said::{SaidMap, SaidValue, entries, step};
use crate::convert::loss::{Loss, LossKind};
use crate::convert::well_known::is_of_service;
use crate::topology::{
    AssignedValue, NodeIndex, RelationIndex, Topology, TopologyNode, type_named,
};
use crate::tosca::fit::RequirementFit;
use crate::tosca::shape::type_sections;
use crate::tosca::v1_0::TOPOLOGY_TEMPLATE;
use crate::tosca::v1_0::definitions::FeatureKind;
use crate::tosca::{Family, TypeId};
use cuvee_text::value::Value;
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Prefixes of node metadata that record former ids of parts.
const IDS: [&str; 4] = ["requirement.", "capability.", "artifact.", "artifact_name."];

/// Metadata of a node or a relationship: its former id, where YAML reserves that name.
const ID: &str = "id";

/// The depth of node templates and relationship templates in definitions.
const DEPTH: usize = 3;

/// The reason why keynames of a node template have no counterpart.
const NODES: &str = "node templates of TOSCA 1.0 have no such thing";

/// A node type that is not defined.
pub(super) struct UndefinedType {
    name: QualifiedName,
    /// The requirements of its nodes.
    requirements: BTreeSet<String>,
}

/// The parts of a service template, with their ids.
#[derive(Default)]
pub(super) struct ServiceParts {
    /// The ids of nodes.
    pub nodes: Vec<String>,
    /// The capability that each relation leads to, by name, if it is known.
    ends: FxHashMap<RelationIndex, String>,
    pub requirements: FxHashMap<RelationIndex, String>,
    /// The ids of the relationship templates.
    pub links: FxHashMap<RelationIndex, String>,
    /// The ids of capabilities, by node and name.
    pub capabilities: FxHashMap<(NodeIndex, String), String>,
    /// The ids of requirements without a relation that something else refers to, by node and name.
    pub shown: BTreeMap<(usize, String), String>,
    /// The named relationship templates, and those that a relation has taken.
    relationships: IndexMap<String, SaidValue>,
    taken: FxHashSet<String>,
    pub policies: NodePolicies,
}

impl<'t> XmlConverter<'_, 't> {
    /// The service template (if there are nodes), the id of the definitions, and further attributes
    /// of the definitions.
    pub(super) fn service(&mut self) -> (Option<XmlPart>, String, Vec<(&'static str, String)>) {
        let mut document = SaidMap::of_value(String::new(), self.variant.document, None);
        document.take("tosca_definitions_version");
        document.take("namespace");
        type_sections().for_each(|section| drop(document.take(section)));
        let has_nodes = !self.variant.topology.nodes.is_empty();
        if !has_nodes {
            self.without_service(document.clone());
        }
        // The losses have just been reported; they are not reported again.
        self.is_silent = !has_nodes;
        let metadata = document.take("metadata");
        let mut service = XmlPart::new("ServiceTemplate");
        let text = |key: &str| {
            let mut of = metadata.iter().flat_map(|it| entries(&it.value));
            of.find(|(known, _)| &**known == key).and_then(|(_, it)| it.as_str().map(str::to_owned))
        };
        let topology = document.take("topology_template");
        let (name, definitions) = (text("template_name"), text("definitions_id"));
        // Nodes take their ids first, so they keep their names.
        let nodes = self.variant.topology.nodes.iter();
        let nodes = nodes.map(|node| self.ids.take(former_id(node).unwrap_or(&node.name)));
        let nodes: Vec<_> = nodes.collect();
        let name = name.unwrap_or_else(|| "service".into());
        let id = self.ids.take(&name);
        let said = SaidValue {
            value: name.into(),
            path: "metadata.template_name".into(),
            span: metadata.as_ref().and_then(|metadata| metadata.span),
        };
        self.named(&mut service, "id", &id, &said);
        let definitions =
            self.ids.take(&definitions.unwrap_or_else(|| format!("{id}-definitions")));
        if let Some(name) = text("name") {
            service.set("name", name);
        }
        let mut tags = self.tags(metadata.clone(), is_of_service);
        for (input, value) in &self.settings.recorded {
            let name = format!("variability.{input}");
            let value =
                value.as_str().map_or_else(|| cuvee_text::yaml::write_flow(value), str::to_owned);
            tags.push(XmlPart::new("Tag").with("name", name).with("value", value));
        }
        service.push_in("Tags", tags);
        Self::describe(&mut service, &mut document);
        self.imports(&mut document);
        self.keep_rest(document, "TOSCA 1.0 has no such thing");
        if let Some(topology) = topology {
            let mut said = topology.map();
            said.path = String::new();
            self.topology(&mut service, said, nodes);
        }
        let attributes = text("definitions_name").map(|name| ("name", name));
        self.is_silent = false;
        (has_nodes.then_some(service), definitions, attributes.into_iter().collect())
    }

    /// Reports the losses of a template without nodes, which has no service template in XML.
    fn without_service(&mut self, mut document: SaidMap) {
        document.take("imports");
        for (key, said) in document.rest() {
            let why = "a service template of TOSCA 1.0 has a node at least";
            self.lose(&said, format!("`{key}`"), why);
        }
    }

    /// Converts imports: types of imported files become part of the document, and distant imports
    /// are kept by name.
    fn imports(&mut self, document: &mut SaidMap) {
        let Some(imports) = document.take("imports") else { return };
        if let Some(distant) = distant_imports(&imports.value) {
            let said = SaidValue { value: distant, ..imports };
            self.keep("imports", &said, "the content of the imported file is not known");
        }
    }

    fn topology(&mut self, service: &mut XmlPart, mut said: SaidMap, nodes: Vec<String>) {
        let mut parts = ServiceParts { nodes, ..ServiceParts::default() };
        let mut topology = XmlPart::new("TopologyTemplate");
        Self::describe(&mut topology, &mut said);
        let templates = said.take_parts("node_templates", "node");
        let relationships = said.take_parts("relationship_templates", "relationship");
        parts.relationships = relationships.into_iter().collect();
        let mapping = said.take("substitution_mappings").map(|mapping| SaidValue {
            path: "topology_template.substitution_mappings".to_owned(),
            ..mapping
        });
        let policies = said.take_parts("policies", "policy");
        self.name_relations(&mut parts);
        parts.policies = self.policies(policies);
        let mut boundary = self.boundary(service, mapping, &mut parts);
        let plans = self.plans(&mut said);
        let [mut nodes, mut relationships] =
            [(); 2].map(|()| WrittenTemplates::new(&TOPOLOGY_TEMPLATE, DEPTH));
        for (at, (name, said)) in templates.into_iter().enumerate() {
            nodes.push(self.node((at, &name), said, &mut parts, &mut relationships));
        }
        topology.push_some(nodes.part());
        topology.push_some(relationships.part());
        if topology.is_empty() && !self.variant.topology.nodes.is_empty() {
            return;
        }
        for (name, said) in std::mem::take(&mut parts.relationships) {
            if !parts.taken.contains(&name) {
                let key = format!("relationship_templates{}", step(&name));
                self.keep(&key, &said, "no relation uses it");
            }
        }
        for (section, part, why) in [
            ("inputs", "input", "only plans of TOSCA 1.0 have parameters"),
            ("outputs", "output", "service templates of TOSCA 1.0 have no outputs"),
            ("groups", "group", "TOSCA 1.0 has no groups"),
        ] {
            for (name, mut said) in said.take_parts(section, part) {
                said.span = self.named.place(part, &name);
                self.keep(&format!("{section}{}", step(&name)), &said, why);
            }
        }
        said.path = "topology_template".to_owned();
        self.keep_rest(said, "service templates of TOSCA 1.0 have no such thing");
        self.show_rest(&mut boundary, &mut parts, &plans);
        service.push_some(boundary.written());
        service.push(topology);
        service.push_some(plans.written());
    }

    /// The type of a node.
    pub(super) fn type_of(&self, node: NodeIndex) -> Option<TypeId> {
        let name = self.variant.topology.node(node).described.type_name.as_ref()?;
        type_named(self.variant.types, Family::Node, name)
    }

    /// Gives ids to requirements and to the capabilities that they lead to.
    fn name_relations(&mut self, parts: &mut ServiceParts) {
        let topology = self.variant.topology;
        let mut seen: FxHashMap<(NodeIndex, &str), usize> = FxHashMap::default();
        for id in topology.relation_ids() {
            let relation = topology.relation(id);
            if self.is_node_link(id) {
                let end =
                    relation.target.and_then(|it| Some((it, self.linked_capability(id, it)?)));
                if let Some((target, name)) = end {
                    self.capability_id(parts, target, &name);
                    parts.ends.insert(id, name);
                }
                continue;
            }
            let owner = &parts.nodes[relation.source.index()];
            let wanted = format!("{owner}_{}", relation.name);
            // If a node has several requirements of a name, metadata number all but the first.
            let number = seen.entry((relation.source, &relation.name)).or_default();
            *number += 1;
            let name = match *number {
                1 => relation.name.clone(),
                number => format!("{}_{number}", relation.name),
            };
            let wanted = self.known_id(relation.source, "requirement", &name, wanted);
            let requirement = self.ids.take(&wanted);
            parts.requirements.insert(id, requirement);
            let Some(target) = relation.target else { continue };
            let Some(name) = self.capability_to(id, target) else { continue };
            self.capability_id(parts, target, &name);
            parts.ends.insert(id, name);
        }
    }

    /// The former id of a part of a node according to metadata, else `otherwise`.
    pub(super) fn known_id(
        &self,
        node: NodeIndex,
        what: &str,
        name: &str,
        otherwise: String,
    ) -> String {
        let key = format!("{what}.{name}");
        let known = self.known_ids.get(&(node, &*key)).map(|known| (*known).to_owned());
        known.unwrap_or(otherwise)
    }

    pub(super) fn capability_id(
        &mut self,
        parts: &mut ServiceParts,
        node: NodeIndex,
        name: &str,
    ) -> String {
        let key = (node, name.to_owned());
        if let Some(known) = parts.capabilities.get(&key) {
            return known.clone();
        }
        let wanted = format!("{}_{name}", parts.nodes[node.index()]);
        let wanted = self.known_id(node, "capability", name, wanted);
        let id = self.ids.take(&wanted);
        parts.capabilities.insert(key, id.clone());
        id
    }

    /// The capability that a relation leads to.
    pub(super) fn capability_to(&self, id: RelationIndex, target: NodeIndex) -> Option<String> {
        let types = self.variant.types;
        let relation = self.variant.topology.relation(id);
        let (source, target) = (self.type_of(relation.source)?, self.type_of(target)?);
        let definition = &types.effective(source).requirements.get(&*relation.name)?.definition;
        let said = relation.capability.as_ref();
        let fit = RequirementFit {
            types,
            definition,
            source,
            capability: said.map(|said| {
                let file = (!said.span.is_detached()).then_some(said.span.file);
                (&*said.value, file)
            }),
        };
        let found = fit.capabilities(target).ok()?;
        Some(found.first()?.0.to_owned())
    }

    fn node(
        &mut self,
        (at, name): (usize, &str),
        said: SaidValue,
        parts: &mut ServiceParts,
        relationships: &mut WrittenTemplates,
    ) -> XmlPart {
        let index = NodeIndex::new(at);
        let node = self.variant.topology.node(index);
        let mut said = SaidValue { span: Some(node.span), ..said };
        said.path = format!("node.{name}");
        let mut part = XmlPart::new("NodeTemplate");
        let former = former_id(node).unwrap_or(name);
        let old = SaidValue { value: former.into(), ..said.clone() };
        let id = parts.nodes[at].clone();
        self.named(&mut part, "id", &id, &old);
        let mut body = said.map();
        body.take("type");
        let type_id = self.type_of(index);
        Self::describe(&mut part, &mut body);
        self.element_metadata(&mut part, &mut body);
        let of = self.node_type_name(index, type_id, &mut body);
        part.set("type", of);
        self.occurrences(&mut part, &mut body);
        let properties = body.take("properties");
        let properties = self.properties(type_id, properties);
        part.push_some(properties);
        let requirements = self.requirements(index, type_id, &mut body, parts, relationships);
        part.push_in("Requirements", requirements);
        let capabilities = self.capabilities(index, type_id, &mut body, parts);
        part.push_in("Capabilities", capabilities);
        part.push_in("Policies", parts.policies.take(at));
        if let Some(artifacts) = body.take("artifacts") {
            let known_ids = self.known_ids.clone();
            let known = |key: &str| known_ids.get(&(index, key)).copied();
            let artifacts = self.deployment_artifacts(&id, &artifacts, known);
            part.push_in("DeploymentArtifacts", artifacts);
        }
        self.keep_rest(body, NODES);
        part
    }

    /// The name of a node's type; a node with its own implementations gets a type of its own.
    fn node_type_name(
        &mut self,
        node: NodeIndex,
        id: Option<TypeId>,
        body: &mut SaidMap,
    ) -> String {
        let Some(id) = id else { return self.undefined_type(node) };
        let name = &self.variant.topology.node(node).name;
        let has_interfaces = body.clone().take("interfaces");
        let Some(interfaces) = has_interfaces.filter(|it| entries(&it.value).next().is_some())
        else {
            return self.prefixed(id);
        };
        body.take("interfaces");
        let construct = format!("a type for `{name}`");
        let why = "only types of TOSCA 1.0 have operations";
        self.tell(&interfaces, construct, why, LossKind::Supplied);
        let (part, name) = self.type_of_node(id, name, &interfaces);
        self.templates.push(part);
        name
    }

    /// The name of an undefined node type, which is defined with the requirements of its nodes.
    fn undefined_type(&mut self, node: NodeIndex) -> String {
        let topology = self.variant.topology;
        let node = topology.node(node);
        let said = node.described.type_name.as_ref();
        let called = said.map_or("untyped", |name| &*name.value).to_owned();
        let known = self.undefined.get(&called).map(|known| known.name.clone());
        let name = known.unwrap_or_else(|| {
            let name = |local: &str| QualifiedName {
                namespace: self.target.clone(),
                local: local.to_owned(),
            };
            let family = Family::Node.keyword();
            let is_taken = |local: &str| self.taken.contains(&(family, name(local)));
            let name = name(&unique(&as_name(&called), is_taken));
            self.taken.insert((family, name.clone()));
            self.losses.push(Loss {
                path: format!("node.{}.type", node.name),
                span: Some(node.span),
                construct: format!("the definition of `{called}`"),
                why: "no file defines this type, so it gets what its nodes need".to_owned(),
                kind: LossKind::Supplied,
            });
            name
        });
        let needed = node.relations.iter().map(|&id| topology.relation(id).name.clone());
        let undefined = self
            .undefined
            .entry(called)
            .or_insert_with(|| UndefinedType { name: name.clone(), requirements: BTreeSet::new() });
        undefined.requirements.extend(needed);
        self.prefixes.name(&name)
    }

    /// Definitions of the undefined node types.
    pub(super) fn undefined_types(&mut self) -> Vec<XmlPart> {
        let kind = self.requirement_type(None);
        let kind = self.prefixes.name(&kind);
        let undefined = std::mem::take(&mut self.undefined).into_values();
        let types = undefined.map(|UndefinedType { name, requirements }| {
            let mut part = XmlPart::new("NodeType").with("name", name.local);
            let requirements = requirements.into_iter().map(|name| {
                XmlPart::new("RequirementDefinition")
                    .with("name", name)
                    .with("requirementType", &*kind)
                    .with("lowerBound", "0")
                    .with("upperBound", "unbounded")
            });
            part.push_in("RequirementDefinitions", requirements.collect());
            part
        });
        types.collect()
    }

    /// Converts the metadata of an element that cannot have tags.
    fn element_metadata(&mut self, part: &mut XmlPart, body: &mut SaidMap) {
        let Some(metadata) = body.take("metadata") else { return };
        let is_id = |key: &str| key == ID || IDS.iter().any(|of| key.starts_with(of));
        let mut left = Vec::new();
        for (key, value) in entries(&metadata.value) {
            match value.as_str() {
                Some(text) if &**key == "name" => part.set("name", text),
                _ if is_id(key) => {}
                _ => left.push((key.clone(), value.clone())),
            }
        }
        if !left.is_empty() {
            let said = SaidValue { value: Value::Map(left.into()), ..metadata };
            self.keep("metadata", &said, "only service templates and types have tags");
        }
    }

    /// The bounds on the number of instances of a node.
    fn occurrences(&mut self, part: &mut XmlPart, body: &mut SaidMap) {
        let Some(said) = body.take("occurrences") else { return };
        let bounds = bounds(&said.value);
        let Some((least, most)) = bounds else {
            return self.keep("occurrences", &said, "these are no bounds of TOSCA 1.0");
        };
        part.set("minInstances", least.to_string());
        part.set("maxInstances", most.map_or_else(|| "unbounded".into(), |it| it.to_string()));
        let count = body.clone().take("instance_count");
        let is_least = |count: &SaidValue| as_count(&count.value) == Some(least);
        if count.as_ref().is_some_and(is_least) {
            body.take("instance_count");
        }
    }

    fn requirements(
        &mut self,
        node: NodeIndex,
        type_id: Option<TypeId>,
        body: &mut SaidMap,
        parts: &mut ServiceParts,
        relationships: &mut WrittenTemplates,
    ) -> Vec<XmlPart> {
        let topology = self.variant.topology;
        let said = body.take_parts("requirements", "requirement");
        let mut made = Vec::new();
        for (&id, (name, said)) in topology.node(node).relations.iter().zip(said) {
            let relation = topology.relation(id);
            let said = SaidValue { span: Some(relation.span), ..said };
            if let Some(requirement) = parts.requirements.get(&id) {
                let kind = self.type_of_requirement(type_id, &name);
                let part = XmlPart::new("Requirement");
                let name = self.name_of_feature(type_id, FeatureKind::Requirement, &name);
                let part = part.with("id", requirement).with("name", name).with("type", kind);
                made.push(part);
            }
            let mut body = said.map();
            if let Some(target) = relation.target {
                body.take("node");
                let end = parts.ends.get(&id);
                if end.is_some() || self.is_node_link(id) {
                    body.take("capability");
                }
                let end =
                    end.and_then(|end| parts.capabilities.get(&(target, end.clone()))).cloned();
                let end = end.unwrap_or_else(|| parts.nodes[target.index()].clone());
                relationships.push(self.relationship(id, &said, &mut body, end, parts));
            } else if let Value::String(_) = &said.value {
                let why = "requirements of TOSCA 1.0 do not say who is to fulfil them";
                self.keep("node", &said, why);
            }
            let why = "requirements of TOSCA 1.0 have a type only";
            self.keep_rest(body, why);
        }
        let of_node = |at: usize| (at, String::new());
        let shown: Vec<_> = parts
            .shown
            .range(of_node(node.index())..of_node(node.index() + 1))
            .map(|((_, name), id)| (name.clone(), id.clone()))
            .collect();
        for (name, id) in shown {
            let kind = self.type_of_requirement(type_id, &name);
            let name = self.name_of_feature(type_id, FeatureKind::Requirement, &name);
            made.push(
                XmlPart::new("Requirement").with("id", id).with("name", name).with("type", kind),
            );
        }
        made
    }

    /// The name in XML of a requirement or capability of nodes of a type.
    fn name_of_feature(&self, of: Option<TypeId>, kind: FeatureKind, name: &str) -> String {
        of.map_or(name, |of| self.former_name(of, kind, name)).to_owned()
    }

    /// The type of a requirement of nodes of a type.
    fn type_of_requirement(&mut self, id: Option<TypeId>, name: &str) -> String {
        let types = self.variant.types;
        let kind = match id.and_then(|id| types.effective(id).requirements.get(name)) {
            Some(part) => {
                let capability = self.capability_of(part.definition.capability);
                self.named_requirement_type(part.owner, name, capability)
            }
            None => self.requirement_type(None),
        };
        self.prefixes.name(&kind)
    }

    /// The relationship template of a relation.
    fn relationship(
        &mut self,
        id: RelationIndex,
        said: &SaidValue,
        body: &mut SaidMap,
        end: String,
        parts: &mut ServiceParts,
    ) -> XmlPart {
        let topology = self.variant.topology;
        let relation = topology.relation(id);
        let template = relation.relationship.map(|id| topology.relationship(id));
        let used = body.take("relationship");
        let named = template.and_then(|template| template.name.clone());
        let described = match &named {
            Some(name) => {
                let said = parts.relationships.get(name).cloned();
                parts.taken.insert(name.clone());
                said.zip(template).map(|(said, it)| SaidValue { span: Some(it.span), ..said })
            }
            None => used.filter(|used| matches!(used.value, Value::Map(_))),
        };
        let source = parts.requirements.get(&id);
        let source = source.unwrap_or(&parts.nodes[relation.source.index()]).clone();
        let former = template.and_then(|it| text_of(&it.described.metadata, ID));
        let wanted = former.map(str::to_owned).or_else(|| named.clone());
        let wanted = wanted.unwrap_or_else(|| format!("{source}_{end}"));
        let own = self.ids.take(&wanted);
        parts.links.insert(id, own.clone());
        let mut part = XmlPart::new("RelationshipTemplate");
        match &named {
            Some(name) => {
                let old = SaidValue {
                    value: former.unwrap_or(name).into(),
                    path: format!("relationship.{name}"),
                    span: said.span,
                };
                self.named(&mut part, "id", &own, &old);
            }
            None => part.set("id", own),
        }
        let kind = self.relationship_kind(id);
        if let Some(kind) = kind {
            let name = self.prefixed(kind);
            part.set("type", name);
            let to = relation.target.and_then(|target| {
                let effective = self.variant.types.effective(self.type_of(target)?);
                let end = effective.capabilities.get(&**parts.ends.get(&id)?)?;
                self.capability_of(end.definition.kind)
            });
            self.joined.push((kind, to));
        }
        if let Some(described) = described {
            let mut body = described.map();
            body.take("type");
            Self::describe(&mut part, &mut body);
            self.element_metadata(&mut part, &mut body);
            let properties = body.take("properties");
            let properties = self.properties(kind, properties);
            part.push_some(properties);
            let why = "relationship templates of TOSCA 1.0 have no such thing";
            self.keep_rest(body, why);
        }
        part.push(XmlPart::new("SourceElement").with("ref", source));
        part.push(XmlPart::new("TargetElement").with("ref", end));
        part
    }

    /// The type of the relationship of a relation.
    pub(super) fn relationship_kind(&self, id: RelationIndex) -> Option<TypeId> {
        let types = self.variant.types;
        let relation = self.variant.topology.relation(id);
        let said = relation.relationship_type.as_ref();
        let said = said.and_then(|name| type_named(types, Family::Relationship, name));
        let defined = || {
            let source = self.type_of(relation.source)?;
            let part = types.effective(source).requirements.get(&*relation.name)?;
            self.find(Family::Relationship, part.definition.relationship)
        };
        said.or_else(defined).or_else(|| self.root(Family::Relationship))
    }

    /// Whether definitions said nothing of a capability: reading them supplied inputs for its values.
    fn is_supplied(
        &self,
        node: NodeIndex,
        name: &str,
        said: &SaidValue,
        parts: &ServiceParts,
    ) -> bool {
        let is_input = |value: &Value| super::values::called_input(value).is_some();
        let all_inputs = |entry: &(Arc<str>, Value)| {
            &*entry.0 == "properties" && entries(&entry.1).all(|(_, it)| is_input(it))
        };
        self.were_definitions
            && !parts.capabilities.contains_key(&(node, name.to_owned()))
            && !self.known_ids.contains_key(&(node, &*format!("capability.{name}")))
            && entries(&said.value).all(all_inputs)
    }

    /// The capabilities that a node assigns, and those that relations or mappings refer to.
    fn capabilities(
        &mut self,
        node: NodeIndex,
        type_id: Option<TypeId>,
        body: &mut SaidMap,
        parts: &mut ServiceParts,
    ) -> Vec<XmlPart> {
        let said = body.take_parts("capabilities", "capability");
        let Some(type_id) = type_id else { return Vec::new() };
        let types = self.variant.types;
        let defined = &types.effective(type_id).capabilities;
        for (name, said) in &said {
            if !defined.contains_key(&**name) {
                self.keep(
                    &format!("capabilities{}", step(name)),
                    said,
                    "its node type defines no such capability",
                );
            } else if self.is_supplied(node, name, said, parts) {
                let why = "its values are inputs, and definitions do not say that it is there";
                self.keep(&format!("capabilities{}", step(name)), said, why);
            } else {
                self.capability_id(parts, node, name);
            }
        }
        // Capabilities with a former id existed in the definitions.
        let metadata = &self.variant.topology.node(node).described.metadata;
        let had_ids = metadata.iter().filter_map(|said| said.name.strip_prefix("capability."));
        for name in had_ids.filter(|name| defined.contains_key(*name)) {
            self.capability_id(parts, node, name);
        }
        let mut made = Vec::new();
        let said: FxHashMap<&str, &SaidValue> =
            said.iter().map(|(name, said)| (&**name, said)).collect();
        for (name, defined) in defined.iter() {
            let Some(id) = parts.capabilities.get(&(node, (*name).to_owned())).cloned() else {
                continue;
            };
            let kind = self.capability_of(defined.definition.kind);
            let type_name = kind.map(|kind| self.prefixed(kind)).unwrap_or_default();
            let mut part = XmlPart::new("Capability")
                .with("id", id)
                .with("name", self.former_name(type_id, FeatureKind::Capability, name))
                .with("type", type_name);
            if let Some(said) = said.get(name) {
                let mut body = said.map();
                let properties = body.take("properties");
                let properties = self.properties(kind, properties);
                part.push_some(properties);
                let why = "capabilities of TOSCA 1.0 have properties only";
                self.keep_rest(body, why);
            }
            made.push(part);
        }
        made
    }
}

/// The former id of a node.
fn former_id(node: &TopologyNode) -> Option<&str> {
    text_of(&node.described.metadata, ID)
}

/// A text in metadata.
fn text_of<'m>(metadata: &'m [AssignedValue], key: &str) -> Option<&'m str> {
    metadata.iter().find(|said| said.name == key)?.value.value.as_str()
}

/// The former ids of parts of nodes, by node and metadata key.
pub(super) type KnownIds<'s> = FxHashMap<(NodeIndex, &'s str), &'s str>;

/// The former ids of parts of nodes, from the metadata of the nodes.
pub(super) fn known_ids(topology: &Topology) -> KnownIds<'_> {
    let mut known = KnownIds::default();
    for (at, node) in topology.nodes.iter().enumerate() {
        let said = node.described.metadata.iter();
        let ids = said.filter(|said| IDS.iter().any(|of| said.name.starts_with(of)));
        known.extend(ids.filter_map(|said| {
            Some(((NodeIndex::new(at), &*said.name), said.value.value.as_str()?))
        }));
    }
    known
}

/// A lower and an upper bound, as far as TOSCA 1.0 can express them.
fn bounds(value: &Value) -> Option<(u64, Option<u64>)> {
    let Value::List(items) = value else { return None };
    let [least, most] = &**items else { return None };
    let most = match most.as_str() {
        Some("UNBOUNDED") => None,
        _ => Some(as_count(most).filter(|most| *most > 0)?),
    };
    // The bounds are 32-bit integers.
    let least = as_count(least).filter(|least| *least <= i32::MAX as u64)?;
    most.is_none_or(|most| least <= most).then_some((least, most))
}

fn as_count(value: &Value) -> Option<u64> {
    let Value::Number(number) = value else { return None };
    u64::try_from(number.as_int()?).ok()
}

/// The imports of files that are not beside the template.
pub(super) fn distant_imports(imports: &Value) -> Option<Value> {
    let Value::List(items) = imports else { return None };
    let file = |item: &Value| match item {
        Value::String(file) => Some(file.to_string()),
        item => SaidMap::of_value(String::new(), item, None).take_text("file"),
    };
    let is_distant = |item: &&Value| file(item).is_some_and(|file| file.contains("://"));
    let distant: Vec<_> = items.iter().filter(is_distant).cloned().collect();
    (!distant.is_empty()).then(|| distant.into())
}
