//! Reads the document of a model back.

use super::facts::{EntityFacts, ModelFacts};
use super::reference::{DocumentPlace, REFERENCE, SERVICE_TEMPLATE, TOSCA_REFERENCE, is_topology};
use super::{FACTS, RESERVED_METADATA, VERSION, VERSION_KEY, VERSIONS};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::orchestrate::instance::model::{
    ByName, CapabilityInstance, GroupInstance, InstanceModel, InstanceState, InstanceTarget,
    NodeInstance, PolicyInstance, RelationInstance, ReportedValue, pointer,
};
use crate::orchestrate::instance::shown::taken;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Reads a model from its object tree in YAML or JSON. The tree may be an export of this program,
/// or any other of the shape that the specification describes. References to other documents are
/// kept and not followed.
///
/// ```
/// use cuvee::deploy::instance::{ModelExport, export_yaml, import_model};
/// use cuvee::source::FileId;
/// use cuvee::parts::yaml::{Limits, parse};
/// let text = "\
/// metadata: {tosca_instance_version: tosca_simple_yaml_1_0}
/// nodes:
///   server:
///     type: {$dsl-node-types: tosca.nodes.Compute}
///     attributes: {state: started}
/// ";
/// let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
/// let model = import_model(document.root()).unwrap();
/// assert_eq!(model.nodes["server"].state.as_str(), "started");
/// let again = parse(FileId::DETACHED, export_yaml(&model, ModelExport::default()).into(), &Limits::default()).unwrap();
/// assert_eq!(import_model(again.root()).unwrap(), model);
/// ```
///
/// # Errors
/// All errors, each with its place: `unsupported-version`, `invalid-input` for another shape,
/// `unknown-keyword`, and `dangling-reference` for entities that this document does not contain.
pub fn import_model(root: Node<'_>) -> Result<InstanceModel, Diagnostics> {
    let mut reader = ModelReader::default();
    let model = reader.model(root);
    if reader.wrong.has_errors() { Err(reader.wrong) } else { Ok(model) }
}

#[derive(Default)]
struct ModelReader<'n> {
    wrong: Diagnostics,
    /// The URI that the document gives itself.
    uri: Arc<str>,
    /// The template from which its entities were made.
    template: Arc<str>,
    nodes: BTreeSet<Cow<'n, str>>,
    groups: BTreeSet<Cow<'n, str>>,
}

/// The parts of an entity, in the order of the requested keys.
struct KeyedParts<'n, const N: usize>([Option<Node<'n>>; N]);

fn invalid(node: Node<'_>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::InvalidInput, message).at(node.span())
}

impl<'n> ModelReader<'n> {
    fn model(&mut self, root: Node<'n>) -> InstanceModel {
        if root.get("node_instances").is_some() || root.get("input_bindings").is_some() {
            let message = "the file holds bindings, which describe only a part of an instance";
            self.wrong.push(
                invalid(root, message).help("export the instance with `--format yaml` or `json`"),
            );
            return InstanceModel::default();
        }
        const KEYS: [&str; 7] =
            ["metadata", "nodes", "groups", "policies", "inputs", "outputs", VERSION_KEY];
        let KeyedParts([metadata, nodes, groups, policies, inputs, outputs, version]) =
            self.parts(root, "a model of an instance", KEYS);
        let metadata = self.map(metadata, "`metadata`");
        let find =
            |name: &str| metadata.iter().find(|(key, _)| key.text() == Some(name)).map(|it| it.1);
        self.version(root, find(VERSION_KEY).or(version));
        let facts: ModelFacts = find(FACTS).map(|node| self.facts(node)).unwrap_or_default();
        let mut model = facts.into_model();
        let next = model.orchestration.as_mut().and_then(|open| open.target.as_mut());
        for target in next.into_iter().chain([&mut model.target]) {
            target.choice.values_mut().for_each(|value| *value = taken(value));
        }
        let said = model.input_annotations.values_mut();
        for annotations in said.chain(model.output_annotations.values_mut()) {
            annotations.metadata.values_mut().for_each(|value| *value = taken(value));
        }
        self.uri = Arc::clone(&model.uri);
        self.names(nodes, groups);
        model.target = self.only_target(&model, nodes);
        self.template = Arc::clone(&model.target.template);
        let free = metadata
            .iter()
            .filter(|(key, _)| !RESERVED_METADATA.contains(&key.text().unwrap_or_default()));
        model.metadata = free.map(|&(key, value)| (name(key), taken(&value.to_value()))).collect();
        model.nodes = self.entities(nodes, "`nodes`", Self::node);
        model.groups = self.entities(groups, "`groups`", Self::group);
        model.policies = self.entities(policies, "`policies`", Self::policy);
        model.inputs = self.values(inputs, "`inputs`");
        model.outputs = self.values(outputs, "`outputs`");
        model
    }

    fn version(&mut self, root: Node<'n>, version: Option<Node<'n>>) {
        let help = format!("write `metadata: {{{VERSION_KEY}: {VERSION}}}`");
        let wrong = match version {
            Some(version) if version.text().is_some_and(|text| VERSIONS.contains(&text)) => return,
            Some(version) => {
                let said = version.text().unwrap_or(version.describe());
                let message = format!("`{said}` is not a known version of instance models");
                Diagnostic::error(Code::UnsupportedVersion, message).at(version.span())
            }
            None => {
                let message =
                    format!("a model of an instance needs `{VERSION_KEY}` in its metadata");
                Diagnostic::error(Code::UnsupportedVersion, message).at(root.span())
            }
        };
        self.wrong.push(wrong.help(help));
    }

    /// Reads the facts that only this program writes. All errors in them get the same place.
    fn facts<T: serde::de::DeserializeOwned + Default>(&mut self, node: Node<'n>) -> T {
        let json = serde_json::to_value(node.to_value()).unwrap_or_default();
        serde_json::from_value(json).unwrap_or_else(|error| {
            let message = format!("`{FACTS}` in the metadata is malformed: {error}");
            self.wrong.push(invalid(node, message));
            T::default()
        })
    }

    /// Collects the names that references may use.
    fn names(&mut self, nodes: Option<Node<'n>>, groups: Option<Node<'n>>) {
        let names = |all: Option<Node<'n>>| {
            all.into_iter().flat_map(Node::entries).map(|(key, _)| key.key_text()).collect()
        };
        (self.nodes, self.groups) = (names(nodes), names(groups));
    }

    /// The target that entities refer to. If the document names none, its template is the first that
    /// a node names.
    fn only_target(&self, model: &InstanceModel, nodes: Option<Node<'n>>) -> InstanceTarget {
        let said = &model.target;
        let is_said = !said.template.is_empty() || !model.uri.is_empty();
        let mut places = nodes.into_iter().flat_map(Node::entries).filter_map(|(_, node)| {
            DocumentPlace::read(node.get("template")?.get(TOSCA_REFERENCE)?.text()?)
        });
        match places.next().filter(|_| !is_said) {
            Some(place) => InstanceTarget {
                template: place.document.into(),
                service_template: place.segments().next().as_deref() == Some(SERVICE_TEMPLATE),
                ..said.clone()
            },
            None => said.clone(),
        }
    }

    fn entities<T>(
        &mut self,
        node: Option<Node<'n>>,
        what: &str,
        read: impl Fn(&mut Self, &str, Node<'n>) -> T,
    ) -> ByName<T> {
        let entries = self.map(node, what);
        entries
            .into_iter()
            .map(|(key, value)| {
                let name = name(key);
                let entity = read(self, &name, value);
                (name, entity)
            })
            .collect()
    }

    fn values(&mut self, node: Option<Node<'n>>, what: &str) -> ByName<Value> {
        let entries = self.map(node, what);
        entries.into_iter().map(|(key, value)| (name(key), taken(&value.to_value()))).collect()
    }

    fn node(&mut self, id: &str, node: Node<'n>) -> NodeInstance {
        const KEYS: [&str; 8] = [
            "template",
            "type",
            "properties",
            "attributes",
            "capabilities",
            "requirements",
            "links",
            "metadata",
        ];
        let KeyedParts(
            [template, kind, properties, attributes, capabilities, requirements, links, metadata],
        ) = self.parts(node, &format!("the node `{id}`"), KEYS);
        let (facts, free) = self.metadata(metadata);
        let (template, type_name) = self.origin(node, template, kind, &facts, "node_templates");
        let mut read = NodeInstance {
            template,
            type_name,
            index: facts.index,
            generation: facts.generation.unwrap_or(1),
            target: facts.target.clone(),
            failed_in: facts.failed_in.clone(),
            edited: facts.edited.clone(),
            note: facts.note.clone(),
            metadata: free,
            properties: self.values(properties, "`properties`"),
            ..NodeInstance::default()
        };
        self.attributes(id, attributes, &facts, &mut read);
        read.capabilities = self.entities(capabilities, "`capabilities`", Self::capability);
        read.requirements = self.requirements(requirements, &facts);
        read.links.append(&mut self.links(links));
        read
    }

    fn links(&mut self, node: Option<Node<'n>>) -> ByName<Arc<str>> {
        let links = self.map(node, "`links`").into_iter();
        links.filter_map(|(key, uri)| Some((name(key), self.text(uri, "a link")?.into()))).collect()
    }

    /// Reads attributes. Those that every node has set fields of the node; the others are reports.
    fn attributes(
        &mut self,
        id: &str,
        node: Option<Node<'n>>,
        facts: &EntityFacts,
        read: &mut NodeInstance,
    ) {
        for (key, value) in self.map(node, "`attributes`") {
            match key.text().unwrap_or_default() {
                "state" => {
                    let state = self.text(value, "a state").map(InstanceState::named);
                    read.state = state.unwrap_or_default();
                }
                "tosca_id" => {
                    if let Some(text) = self.text(value, "`tosca_id`") {
                        self.identity(id, text, facts, read);
                    }
                }
                "tosca_name" => {
                    let own = read.template.as_deref().unwrap_or(id);
                    let own = DocumentPlace::read(own)
                        .and_then(|it| it.segments().last())
                        .unwrap_or(own.into());
                    let said = self.text(value, "`tosca_name`");
                    if let Some(said) = said.filter(|said| **said != own) {
                        let message = format!(
                            "`tosca_name` has to be the name of the template, `{own}`, not `{said}`"
                        );
                        self.wrong
                            .push(Diagnostic::error(Code::InvalidValue, message).at(value.span()));
                    }
                }
                _ => {
                    let said = reported(&name(key), value, facts);
                    read.attributes.insert(name(key), said);
                }
            }
        }
    }

    /// Reads the identity of a node. One of this program contains the generation of the node. One
    /// of another orchestrator becomes a link to something outside.
    fn identity(&mut self, id: &str, said: &str, facts: &EntityFacts, read: &mut NodeInstance) {
        let own = format!("{}#/nodes/{}", self.uri, pointer(id));
        let generation =
            said.strip_prefix(&own).filter(|_| !self.uri.is_empty() || said.starts_with('#'));
        match generation.map(|rest| rest.strip_prefix("?generation=").map_or(rest, |rest| rest)) {
            Some("") => {}
            Some(text) if facts.generation.is_none() => match text.parse() {
                Ok(generation) => read.generation = generation,
                Err(_) => drop(read.links.insert("tosca_id".into(), said.into())),
            },
            Some(_) => {}
            None => drop(read.links.insert("tosca_id".into(), said.into())),
        }
    }

    fn capability(&mut self, id: &str, node: Node<'n>) -> CapabilityInstance {
        const KEYS: [&str; 5] = ["name", "type", "properties", "attributes", "metadata"];
        let KeyedParts([said, kind, properties, attributes, metadata]) =
            self.parts(node, &format!("the capability `{id}`"), KEYS);
        self.is_called(said, id);
        let (facts, _) = self.metadata(metadata);
        CapabilityInstance {
            type_name: kind.and_then(|kind| self.type_of(kind)).unwrap_or_default(),
            properties: self.values(properties, "`properties`"),
            attributes: self.reported(attributes, &facts),
        }
    }

    fn reported(&mut self, node: Option<Node<'n>>, facts: &EntityFacts) -> ByName<ReportedValue> {
        let entries = self.map(node, "`attributes`");
        entries
            .into_iter()
            .map(|(key, value)| {
                let name = name(key);
                let said = reported(&name, value, facts);
                (name, said)
            })
            .collect()
    }

    fn requirements(
        &mut self,
        node: Option<Node<'n>>,
        facts: &EntityFacts,
    ) -> ByName<Vec<RelationInstance>> {
        let mut position = 0;
        let entries = self.map(node, "`requirements`");
        entries
            .into_iter()
            .map(|(key, value)| {
                let name = name(key);
                let relations = self.requirement(&name, value, facts, &mut position);
                (name, relations)
            })
            .collect()
    }

    /// Reads the relations of a requirement; if it has none, its targets alone.
    fn requirement(
        &mut self,
        id: &str,
        node: Node<'n>,
        facts: &EntityFacts,
        position: &mut u32,
    ) -> Vec<RelationInstance> {
        const KEYS: [&str; 3] = ["name", "targets", "relations"];
        let KeyedParts([said, targets, relations]) =
            self.parts(node, &format!("the requirement `{id}`"), KEYS);
        self.is_called(said, id);
        let names = targets.map(|targets| self.references(targets, "`targets`"));
        let relations = relations.map(|relations| {
            let items = self.items(relations, "`relations`");
            items.into_iter().map(|relation| self.relation(relation, facts)).collect::<Vec<_>>()
        });
        match (relations, names) {
            (Some(relations), names) => {
                let own = relations.iter().filter_map(|relation| relation.target.as_ref());
                if let Some((targets, _)) = targets.zip(names).filter(|(_, names)| !own.eq(names)) {
                    let message = format!(
                        "`targets` of `{id}` are not the nodes that its `relations` lead to"
                    );
                    self.wrong.push(invalid(targets, message));
                }
                relations
            }
            (None, names) => {
                let relation = |target| {
                    *position += 1;
                    let position = *position - 1;
                    RelationInstance {
                        position,
                        target: Some(target),
                        ..RelationInstance::default()
                    }
                };
                names.into_iter().flatten().map(relation).collect()
            }
        }
    }

    /// Reads a relation of a node.
    fn relation(&mut self, node: Node<'n>, facts: &EntityFacts) -> RelationInstance {
        const KEYS: [&str; 9] = [
            "position",
            "target",
            "capability",
            "template",
            "relationship",
            "hosting",
            "state",
            "links",
            "metadata",
        ];
        let KeyedParts(
            [position, target, capability, template, relationship, hosting, state, links, metadata],
        ) = self.parts(node, "a relation", KEYS);
        let mut text = |node: Option<Node<'n>>, what| node.and_then(|node| self.text(node, what));
        let capability = text(capability, "a capability").map(Arc::from);
        let relationship = text(relationship, "a relationship").map(Arc::from);
        let state = text(state, "a state").map(InstanceState::named).unwrap_or_default();
        let position = position.and_then(|node| {
            let read = node.text().filter(|_| node.is_integer()).and_then(|text| text.parse().ok());
            if read.is_none() {
                self.wrong.push(invalid(node, "a position has to be an integer from 0 up"));
            }
            read
        });
        let hosting = hosting.and_then(|node| {
            if node.as_bool().is_none() {
                let message =
                    format!("`hosting` has to be `true` or `false`, not {}", node.describe());
                self.wrong.push(invalid(node, message));
            }
            node.as_bool()
        });
        RelationInstance {
            position: position.unwrap_or_default(),
            target: target.and_then(|target| self.reference(target)),
            capability,
            template: template
                .and_then(|node| self.template(node, facts, "relationship_templates")),
            relationship,
            hosting: hosting.unwrap_or_default(),
            state,
            pending: false,
            links: self.links(links),
            metadata: self.metadata(metadata).1,
        }
    }

    fn group(&mut self, id: &str, node: Node<'n>) -> GroupInstance {
        const KEYS: [&str; 9] = [
            "template",
            "type",
            "members",
            "properties",
            "attributes",
            "capabilities",
            "requirements",
            "links",
            "metadata",
        ];
        let KeyedParts(
            [
                template,
                kind,
                members,
                properties,
                attributes,
                capabilities,
                requirements,
                links,
                metadata,
            ],
        ) = self.parts(node, &format!("the group `{id}`"), KEYS);
        let (facts, free) = self.metadata(metadata);
        let (template, type_name) = self.origin(node, template, kind, &facts, "groups");
        GroupInstance {
            template,
            type_name,
            members: members.map(|all| self.references(all, "`members`")).unwrap_or_default(),
            properties: self.values(properties, "`properties`"),
            attributes: self.reported(attributes, &facts),
            capabilities: self.values(capabilities, "`capabilities`"),
            requirements: self.values(requirements, "`requirements`"),
            links: self.links(links),
            metadata: free,
        }
    }

    fn policy(&mut self, id: &str, node: Node<'n>) -> PolicyInstance {
        const KEYS: [&str; 6] = ["template", "type", "targets", "properties", "links", "metadata"];
        let KeyedParts([template, kind, targets, properties, links, metadata]) =
            self.parts(node, &format!("the policy `{id}`"), KEYS);
        let (facts, free) = self.metadata(metadata);
        let (template, type_name) = self.origin(node, template, kind, &facts, "policies");
        PolicyInstance {
            template,
            type_name,
            targets: targets.map(|all| self.references(all, "`targets`")).unwrap_or_default(),
            properties: self.values(properties, "`properties`"),
            links: self.links(links),
            metadata: free,
        }
    }

    /// Reads metadata: the facts of this program, and the entries of others.
    fn metadata(&mut self, node: Option<Node<'n>>) -> (EntityFacts, ByName<Value>) {
        let mut facts = EntityFacts::default();
        let mut free = ByName::new();
        for (key, value) in self.map(node, "`metadata`") {
            match key.text() {
                Some(FACTS) => facts = self.facts(value),
                _ => drop(free.insert(name(key), taken(&value.to_value()))),
            }
        }
        (facts, free)
    }

    /// Reads the origin of an entity: a template or a type, and not both.
    fn origin(
        &mut self,
        node: Node<'n>,
        template: Option<Node<'n>>,
        kind: Option<Node<'n>>,
        facts: &EntityFacts,
        section: &str,
    ) -> (Option<Arc<str>>, Arc<str>) {
        match (template, kind) {
            (Some(template), None) => {
                let type_name = facts.type_name.clone().unwrap_or_default();
                (self.template(template, facts, section), type_name)
            }
            (None, Some(kind)) => (None, self.type_of(kind).unwrap_or_default()),
            (Some(_), Some(kind)) => {
                let message = "an entity has a `template` or a `type`, not both";
                self.wrong.push(invalid(kind, message));
                (None, Arc::default())
            }
            (None, None) => {
                let message = "an entity needs a `template`, or a `type` where it has none";
                let help = "write a type such as `type: {$dsl-node-types: tosca.nodes.Root}`";
                self.wrong.push(invalid(node, message).help(help));
                (None, Arc::default())
            }
        }
    }

    /// The name of a template of the target; for another template the whole reference.
    fn template(&mut self, node: Node<'n>, facts: &EntityFacts, section: &str) -> Option<Arc<str>> {
        let said = self.only(node, TOSCA_REFERENCE)?;
        let Some(place) = DocumentPlace::read(said) else {
            self.no_path(node, said, "shop.yaml#/topology_template/node_templates/shop");
            return None;
        };
        let segments: Vec<_> = place.segments().collect();
        let own = facts.target.as_ref().unwrap_or(&self.template);
        match &segments[..] {
            [topology, of, name]
                if is_topology(topology) && of == section && place.document == &**own =>
            {
                Some(Arc::from(&**name))
            }
            _ => Some(said.into()),
        }
    }

    /// The name of a type, which is given by itself or as a place in TOSCA.
    fn type_of(&mut self, node: Node<'n>) -> Option<Arc<str>> {
        let mut entries = node.entries();
        let (key, value) = match (entries.next(), entries.len()) {
            (Some(entry), 0) => entry,
            _ => {
                let message = format!(
                    "a type is a reference such as `{{$dsl-node-types: tosca.nodes.Root}}`, not {}",
                    node.describe()
                );
                self.wrong.push(invalid(node, message));
                return None;
            }
        };
        let said = self.text(value, "a type")?;
        match key.text().unwrap_or_default() {
            TOSCA_REFERENCE => {
                let place = DocumentPlace::read(said);
                if place.is_none() {
                    self.no_path(value, said, "types.yaml#/node_types/Shop");
                }
                Some(Arc::from(&*place?.segments().last()?))
            }
            key if key.starts_with("$dsl-") && key.ends_with("-types") => Some(said.into()),
            other => {
                let message = format!("`{other}` is no reference to a type");
                let help = did_you_mean(
                    other,
                    [
                        "$dsl-node-types",
                        "$dsl-group-types",
                        "$dsl-policy-types",
                        "$dsl-capability-types",
                        TOSCA_REFERENCE,
                    ],
                );
                self.wrong.push(
                    Diagnostic::error(Code::UnknownKeyword, message).at(key.span()).help_opt(help),
                );
                None
            }
        }
    }

    fn references(&mut self, node: Node<'n>, what: &str) -> Vec<Arc<str>> {
        let items = self.items(node, what);
        items.into_iter().filter_map(|item| self.reference(item)).collect()
    }

    /// The id of an entity of this document; a reference to another document stays as it is.
    fn reference(&mut self, node: Node<'n>) -> Option<Arc<str>> {
        let said = self.only(node, REFERENCE)?;
        let Some(place) = DocumentPlace::read(said) else {
            self.no_path(node, said, "#/nodes/shop");
            return None;
        };
        if !place.document.is_empty() && *place.document != *self.uri {
            return Some(said.into());
        }
        let segments: Vec<_> = place.segments().collect();
        let among = match &segments[..] {
            [section, id] if section == "nodes" => Some((&self.nodes, id)),
            [section, id] if section == "groups" => Some((&self.groups, id)),
            _ => None,
        };
        let Some((among, id)) = among else {
            let message = format!("`{said}` is neither a node nor a group of this document");
            self.wrong.push(Diagnostic::error(Code::DanglingReference, message).at(node.span()));
            return None;
        };
        if !among.contains(id) {
            let message = format!("there is no `{id}` in this document");
            let help = did_you_mean(id, among.iter().map(|name| &**name));
            self.wrong.push(
                Diagnostic::error(Code::DanglingReference, message).at(node.span()).help_opt(help),
            );
        }
        Some(Arc::from(&**id))
    }

    fn no_path(&mut self, node: Node<'n>, said: &str, such_as: &str) {
        let message = format!("`{said}` has no path behind `#/`");
        self.wrong.push(invalid(node, message).help(format!("write it like `{such_as}`")));
    }

    /// The text under the only key of a map, if the key is the expected one.
    fn only(&mut self, node: Node<'n>, key: &str) -> Option<&'n str> {
        let mut entries = node.entries();
        match entries.next().filter(|(name, _)| entries.len() == 0 && name.text() == Some(key)) {
            Some((_, value)) => self.text(value, "a reference"),
            None => {
                let message =
                    format!("a reference has to be a map with `{key}`, not {}", node.describe());
                self.wrong.push(invalid(node, message));
                None
            }
        }
    }

    fn text(&mut self, node: Node<'n>, what: &str) -> Option<&'n str> {
        if node.as_str().is_none() {
            self.wrong
                .push(invalid(node, format!("{what} has to be a string, not {}", node.describe())));
        }
        node.as_str()
    }

    /// Checks that `name`, if given, is the key under which the entity is.
    fn is_called(&mut self, said: Option<Node<'n>>, name: &str) {
        if let Some(said) = said.filter(|said| said.text() != Some(name)) {
            self.wrong.push(invalid(said, format!("`name` has to be that of the key, `{name}`")));
        }
    }

    fn items(&mut self, node: Node<'n>, what: &str) -> Vec<Node<'n>> {
        if node.kind() != NodeKind::Sequence {
            self.wrong
                .push(invalid(node, format!("{what} has to be a list, not {}", node.describe())));
        }
        node.items().collect()
    }

    /// The entries of a map; none if there is no node.
    fn map(&mut self, node: Option<Node<'n>>, what: &str) -> Vec<(Node<'n>, Node<'n>)> {
        let Some(node) = node else { return Vec::new() };
        if node.kind() != NodeKind::Mapping {
            self.wrong
                .push(invalid(node, format!("{what} has to be a map, not {}", node.describe())));
        }
        node.entries().collect()
    }

    /// The values of these keys; other keys are errors.
    fn parts<const N: usize>(
        &mut self,
        node: Node<'n>,
        what: &str,
        keys: [&'static str; N],
    ) -> KeyedParts<'n, N> {
        let mut parts = [None; N];
        for (key, value) in self.map(Some(node), what) {
            let name = key.text().unwrap_or_default();
            match keys.iter().position(|known| *known == name) {
                Some(at) => parts[at] = Some(value),
                None => {
                    let message = format!("{what} has no `{name}`");
                    let error = Diagnostic::error(Code::UnknownKeyword, message).at(key.span());
                    let others =
                        || format!("it has {}", keys.map(|key| format!("`{key}`")).join(", "));
                    self.wrong.push(match did_you_mean(name, keys) {
                        Some(help) => error.help(help),
                        None => error.help(others()),
                    });
                }
            }
        }
        KeyedParts(parts)
    }
}

fn name(key: Node<'_>) -> Arc<str> {
    key.key_text().into()
}

fn reported(name: &str, value: Node<'_>, facts: &EntityFacts) -> ReportedValue {
    let age = facts.reported.get(name);
    ReportedValue {
        value: taken(&value.to_value()),
        revision: age.map_or(0, |age| age.revision),
        time: age.map(|age| Arc::clone(&age.time)).unwrap_or_default(),
    }
}
