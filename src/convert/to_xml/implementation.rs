//! Interfaces, what implements them, and artifacts.

use super::names::{QualifiedName, as_name, unique};
use super::part::XmlPart;
use super::said::{SaidValue, entries, step};
use super::{LocatedFile, XmlConverter};
use crate::text::source::Span;
use crate::text::value::Value;
use crate::text::xml::schema::XML_SCHEMA;
use crate::tosca::{Family, TypeId, profile};
use std::collections::BTreeSet;

/// What implements a type.
#[derive(Debug)]
pub(super) struct ImplementedType {
    /// The name of the type, and of what implements it.
    of: QualifiedName,
    name: String,
    is_node: bool,
    operations: Vec<XmlPart>,
    artifacts: Vec<XmlPart>,
}

/// The lifecycle of nodes in the profile.
const STANDARD: &str = "Standard";

/// The same as others call it.
const LIFECYCLE: &str = "http://www.example.com/interfaces/lifecycle";
const OPENTOSCA_LIFECYCLE: &str = "http://opentosca.org/interfaces/lifecycle";

/// Its operations, in the profile and elsewhere.
const OPERATIONS: [(&str, &str); 5] = [
    ("create", "install"),
    ("configure", "configure"),
    ("start", "start"),
    ("stop", "stop"),
    ("delete", "uninstall"),
];

/// An artifact that is named by what it implements or is deployed with.
struct ArtifactTemplateName {
    type_name: String,
    /// Nothing where it has no file.
    template: Option<String>,
}

impl<'t> XmlConverter<'_, 't> {
    /// The interfaces of a type; what implements them is kept for later, with its artifacts.
    pub(super) fn interfaces(
        &mut self,
        id: TypeId,
        said: Option<SaidValue>,
        artifacts: Option<SaidValue>,
    ) -> Vec<XmlPart> {
        let definition = self.variant.types.definition(id);
        let of = self.type_name(id);
        let is_node = definition.family == Family::Node;
        let name = format!("{}Implementation", of.local);
        let mut implemented =
            ImplementedType { of, name, is_node, operations: Vec::new(), artifacts: Vec::new() };
        let mut interfaces = Vec::new();
        for (name, body) in said.iter().flat_map(|said| entries(&said.value)) {
            let said = said.as_ref().map(|said| said.part(name, body));
            let Some(said) = said else { continue };
            let known = self.inherited_operations(id, name);
            interfaces.extend(self.interface(id, (name, &said), known, &mut implemented));
        }
        if let Some(artifacts) = artifacts {
            self.artifacts_of_type(id, artifacts, &mut implemented);
        }
        if !implemented.operations.is_empty() || !implemented.artifacts.is_empty() {
            self.implemented.push(implemented);
        }
        interfaces
    }

    /// The operations that an interface has by its own type, where the type that has it is the first
    /// to say so.
    fn inherited_operations(&self, id: TypeId, interface: &str) -> Vec<String> {
        let types = self.variant.types;
        let is_known = types
            .parent(id)
            .is_some_and(|parent| types.effective(parent).interfaces.contains_key(interface));
        let part = types.effective(id).interfaces.get(interface).filter(|_| !is_known);
        let operations = part.into_iter().flat_map(|part| part.definition.operations.keys());
        operations.map(|name| (*name).to_owned()).collect()
    }

    pub(super) fn interface(
        &mut self,
        id: TypeId,
        (name, said): (&str, &SaidValue),
        known: Vec<String>,
        implemented: &mut ImplementedType,
    ) -> Option<XmlPart> {
        let mut body = said.map();
        let listed = body.take("operations");
        let operations: Vec<_> = match &listed {
            Some(listed) => entries(&listed.value)
                .map(|(name, value)| (name.to_string(), listed.part(name, value)))
                .collect(),
            None => {
                let is_key = |key: &str| matches!(key, "type" | "inputs" | "notifications");
                let own = entries(&said.value).filter(|(key, _)| !is_key(key));
                let own: Vec<_> = own.map(|(key, _)| key.to_string()).collect();
                own.into_iter().filter_map(|key| Some((key.clone(), body.take(&key)?))).collect()
            }
        };
        let own: BTreeSet<String> = operations.iter().map(|(name, _)| name.clone()).collect();
        let all = own.iter().chain(&known);
        let is_lifecycle = implemented.is_node
            && name == STANDARD
            && all.clone().all(|name| lifecycle_operation(name).is_some());
        let uri = match (is_lifecycle, self.settings.is_opentosca) {
            (true, true) => OPENTOSCA_LIFECYCLE,
            (true, false) => LIFECYCLE,
            (false, _) => name,
        };
        let key = format!("interface.{name}");
        let said = self.variant.types.definition(id).value.get("metadata");
        let said_uri = said.and_then(|metadata| metadata.get(&key)?.text());
        let uri = said_uri.filter(|_| !is_lifecycle || is_known_lifecycle(said_uri)).unwrap_or(uri);
        let called = |name: &str| match lifecycle_operation(name).filter(|_| is_lifecycle) {
            Some(other) => other.to_owned(),
            None => as_name(name),
        };
        if is_lifecycle {
            body.take("type");
        }
        let mut interface = XmlPart::new("Interface").with("name", uri);
        for (name, said) in &operations {
            let operation = self.operation(id, (uri, &called(name)), said, implemented);
            interface.push(operation);
        }
        for name in known.iter().filter(|name| !own.contains(*name)) {
            interface.push(XmlPart::new("Operation").with("name", called(name)));
        }
        for (key, said) in body.rest() {
            let path = format!("interfaces{}{}", step(name), step(&key));
            self.keep(&path, &said, "interfaces of TOSCA 1.0 have operations only");
        }
        (!interface.is_empty()).then_some(interface)
    }

    fn operation(
        &mut self,
        id: TypeId,
        (interface, name): (&str, &str),
        said: &SaidValue,
        implemented: &mut ImplementedType,
    ) -> XmlPart {
        let mut part = XmlPart::new("Operation").with("name", name);
        let mut body = said.map();
        let by = match &said.value {
            Value::String(_) => Some(said.clone()),
            _ => body.take("implementation"),
        };
        Self::describe(&mut part, &mut body);
        if let Some(inputs) = body.take("inputs") {
            let inputs = self.parameters(&inputs);
            part.push_in("InputParameters", inputs);
        }
        if let Some(outputs) = body.take("outputs") {
            let parameters = entries(&outputs.value).map(|(name, _)| {
                XmlPart::new("OutputParameter").with("name", &**name).with("type", "xs:string")
            });
            let parameters = parameters.collect();
            self.prefixes.of(XML_SCHEMA);
            part.push_in("OutputParameters", parameters);
            let why = "parameters of TOSCA 1.0 lead to no attributes";
            self.keep("outputs", &outputs, why);
        }
        if let Some(by) = by {
            self.implementation_of(id, (interface, name), &by, implemented);
        }
        self.keep_rest(body, "operations of TOSCA 1.0 have parameters only");
        part
    }

    /// Inputs as they are defined, or as values are assigned to them.
    pub(super) fn parameters(&mut self, inputs: &SaidValue) -> Vec<XmlPart> {
        let mut parameters = Vec::new();
        self.prefixes.of(XML_SCHEMA);
        for (name, value) in entries(&inputs.value) {
            let said = inputs.part(name, value);
            let mut body = said.map();
            let kind = body.take_text("type");
            let mut parameter = XmlPart::new("InputParameter").with("name", &**name);
            let Some(kind) = kind else {
                parameters.push(parameter.with("type", "xs:string"));
                let why = "parameters of TOSCA 1.0 have no values";
                self.keep(&format!("inputs{}", step(name)), &said, why);
                continue;
            };
            let of = super::schema::parameter_type(&kind);
            parameter.set("type", of.unwrap_or("xs:string"));
            if of.is_none() {
                let kept = said.part("type", &kind.into());
                let why = "XML Schema has no such type";
                self.keep(&format!("inputs{}.type", step(name)), &kept, why);
            }
            if body.take("required").is_some_and(|it| it.value == Value::Bool(false)) {
                parameter.set("required", "no");
            }
            for (key, said) in body.rest() {
                let why = "parameters of TOSCA 1.0 have a type only";
                self.keep(&format!("inputs{}{}", step(name), step(&key)), &said, why);
            }
            parameters.push(parameter);
        }
        parameters
    }

    /// What implements an operation: an artifact by its name, a file, or one that is described there.
    fn implementation_of(
        &mut self,
        id: TypeId,
        (interface, operation): (&str, &str),
        said: &SaidValue,
        implemented: &mut ImplementedType,
    ) {
        let mut body = said.map();
        let primary = match &said.value {
            Value::String(_) => Some(said.clone()),
            value if entries(value).any(|(key, _)| &**key == "primary") => body.take("primary"),
            value if entries(value).any(|(key, _)| &**key == "file") => {
                let whole = said.clone();
                ["file", "type", "repository", "deploy_path", "description", "properties"]
                    .iter()
                    .for_each(|key| drop(body.take(key)));
                Some(whole)
            }
            _ => None,
        };
        if let Some(primary) = primary {
            let wanted = format!("{}_{operation}", implemented.of.local);
            let artifact = self.named_artifact(id, &primary, &wanted);
            let by = XmlPart::new("ImplementationArtifact")
                .with("interfaceName", interface)
                .with("operationName", operation)
                .with("artifactType", artifact.type_name)
                .with_some("artifactRef", artifact.template);
            implemented.operations.push(by);
        }
        for (key, said) in body.rest() {
            let why = "what implements an operation of TOSCA 1.0 is one artifact";
            self.keep(&format!("implementation{}", step(&key)), &said, why);
        }
    }

    /// The artifact that implements something: one that its type has, or a file.
    fn named_artifact(
        &mut self,
        id: TypeId,
        said: &SaidValue,
        wanted: &str,
    ) -> ArtifactTemplateName {
        let Value::String(name) = &said.value else {
            return self.artifact(said, wanted, "implementation");
        };
        let known = self.variant.types.effective(id).artifacts.get(&**name);
        let Some(known) = known else {
            return self.artifact_of_file((name, said.span), None, wanted);
        };
        let definition = &known.definition;
        let kind = self.find(Family::Artifact, definition.kind);
        let file = definition.file.and_then(|file| Some((file.text()?, Some(file.span()))));
        self.artifact_of_file(file.unwrap_or((name, said.span)), kind, wanted)
    }

    fn artifact_of_file(
        &mut self,
        file: (&str, Option<Span>),
        kind: Option<TypeId>,
        wanted: &str,
    ) -> ArtifactTemplateName {
        let kind = kind.or_else(|| self.kind_of_file(file.0));
        let type_name = kind.map(|kind| self.prefixed(kind)).unwrap_or_default();
        let template = self.template_of(file, &type_name, wanted, None);
        ArtifactTemplateName { type_name, template: Some(template) }
    }

    /// An artifact template; one of the same file and type is used again.
    fn template_of(
        &mut self,
        (file, named): (&str, Option<Span>),
        type_name: &str,
        wanted: &str,
        properties: Option<XmlPart>,
    ) -> String {
        let file = self.reference(file, named);
        let key = (file.clone(), type_name.to_owned());
        if properties.is_none()
            && let Some(known) = self.files.get(&key)
        {
            return known.clone();
        }
        let id = self.ids.take(wanted);
        let mut template =
            XmlPart::new("ArtifactTemplate").with("id", &*id).with("type", type_name);
        if properties.is_none() {
            let name = QualifiedName { namespace: self.target.clone(), local: id.clone() };
            self.files.insert(key, self.prefixes.name(&name));
        }
        template.push_some(properties);
        let reference = XmlPart::new("ArtifactReference").with("reference", file);
        template.push_in("ArtifactReferences", vec![reference]);
        self.templates.push(template);
        self.prefixes.name(&QualifiedName { namespace: self.target.clone(), local: id })
    }

    /// A file as it is called from the root of an archive, into which it goes; as it is, where it is
    /// somewhere else.
    pub(super) fn reference(&mut self, file: &str, named: Option<Span>) -> String {
        let in_file = named.filter(|it| !it.is_detached() && !profile::is_built_in(it.file));
        let in_file = in_file.map_or(self.variant.file, |named| named.file);
        let is_elsewhere = file.contains("://") || file.starts_with('/');
        let found = (!is_elsewhere).then(|| (self.variant.locate)(in_file, file)).flatten();
        let Some(LocatedFile { path, name }) = found else { return file.to_owned() };
        let name = name.unwrap_or_else(|| {
            let last = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            format!("files/{last}")
        });
        let is_taken = |name: &str| self.located.get(name).is_some_and(|known| *known != path);
        let name = unique(&name, is_taken);
        self.renamed.insert((in_file, file.to_owned()), name.clone());
        let reference = as_reference(&name);
        self.located.insert(name, path);
        reference
    }

    /// The type of artifacts whose files end like this one.
    fn kind_of_file(&self, file: &str) -> Option<TypeId> {
        let types = self.variant.types;
        let ending = file.rsplit('/').next()?.rsplit_once('.').map(|(_, ending)| ending);
        let is_of = |id: &TypeId| {
            let definition = types.definition(*id);
            let endings = definition.file_ext.as_deref().unwrap_or_default();
            definition.family == Family::Artifact
                && endings.iter().any(|it| it.text().is_some() && it.text() == ending)
        };
        let of_ending = ending.and_then(|_| types.ids().find(is_of));
        let any = || types.find(Family::Artifact, "tosca.artifacts.Implementation");
        of_ending.or_else(any)
    }

    /// An artifact that is described: its type, its file and values; what else is said of it is kept.
    fn artifact(&mut self, said: &SaidValue, wanted: &str, key: &str) -> ArtifactTemplateName {
        let mut body = said.map();
        let file = match &said.value {
            Value::String(file) => Some(file.to_string()),
            _ => body.take_text("file"),
        };
        let kind = body.take_text("type");
        let known = kind.as_ref().and_then(|it| self.find_named(Family::Artifact, it, said.span));
        let guessed = || file.as_ref().and_then(|file| self.kind_of_file(file));
        let id = known.or_else(guessed).or_else(|| self.root(Family::Artifact));
        let type_name = id.map(|id| self.prefixed(id)).unwrap_or_default();
        let properties = body.take("properties");
        let properties = self.properties(id, properties);
        let template =
            file.map(|file| self.template_of((&file, said.span), &type_name, wanted, properties));
        for (name, said) in body.rest() {
            let why = "artifacts of TOSCA 1.0 have a type and files only";
            self.keep(&format!("{key}{}", step(&name)), &said, why);
        }
        ArtifactTemplateName { type_name, template }
    }

    /// Artifacts that are deployed with nodes.
    pub(super) fn deployment_artifacts(&mut self, owner: &str, said: &SaidValue) -> Vec<XmlPart> {
        let mut artifacts = Vec::new();
        for (name, value) in entries(&said.value) {
            let said = said.part(name, value);
            let key = format!("artifacts{}", step(name));
            let made = self.artifact(&said, &format!("{owner}_{name}"), &key);
            let artifact = XmlPart::new("DeploymentArtifact")
                .with("name", &**name)
                .with("artifactType", made.type_name)
                .with_some("artifactRef", made.template);
            artifacts.push(artifact);
        }
        artifacts
    }

    fn artifacts_of_type(
        &mut self,
        id: TypeId,
        said: SaidValue,
        implemented: &mut ImplementedType,
    ) {
        if implemented.is_node {
            let owner = self.type_name(id).local;
            let artifacts = self.deployment_artifacts(&owner, &said);
            implemented.artifacts.extend(artifacts);
        } else {
            let why = "what implements a relationship type is not deployed";
            self.keep("artifacts", &said, why);
        }
    }

    pub(super) fn implementation(&mut self, of: ImplementedType) -> XmlPart {
        let type_name = self.prefixes.name(&of.of);
        let (kind, attribute) = match of.is_node {
            true => ("NodeTypeImplementation", "nodeType"),
            false => ("RelationshipTypeImplementation", "relationshipType"),
        };
        let mut part = XmlPart::new(kind).with("name", of.name);
        if of.of.namespace != self.target {
            part.set("targetNamespace", &*of.of.namespace);
        }
        part.set(attribute, type_name);
        part.push_in("ImplementationArtifacts", of.operations);
        part.push_in("DeploymentArtifacts", of.artifacts);
        part
    }

    /// A type that says what implements the operations of one node, and what that is called.
    pub(super) fn type_of_node(
        &mut self,
        id: TypeId,
        node: &str,
        said: &SaidValue,
    ) -> (XmlPart, String) {
        let parent = self.type_name(id);
        let wanted = format!("{}_{}", parent.local, as_name(node));
        let name =
            |local: &str| QualifiedName { namespace: self.target.clone(), local: local.to_owned() };
        let family = Family::Node.keyword();
        let is_taken = |local: &str| self.taken.contains(&(family, name(local)));
        let name = name(&unique(&wanted, is_taken));
        self.taken.insert((family, name.clone()));
        let mut part = XmlPart::new("NodeType").with("name", &*name.local);
        let derived = self.prefixes.name(&parent);
        part.push(XmlPart::new("DerivedFrom").with("typeRef", derived));
        let mut implemented = ImplementedType {
            name: format!("{}Implementation", name.local),
            of: name.clone(),
            is_node: true,
            operations: Vec::new(),
            artifacts: Vec::new(),
        };
        let mut interfaces = Vec::new();
        for (name, body) in entries(&said.value) {
            let said = said.part(name, body);
            let made = self.interface(id, (name, &said), Vec::new(), &mut implemented);
            interfaces.extend(made);
        }
        part.push_in("Interfaces", interfaces);
        if !implemented.operations.is_empty() {
            self.implemented.push(implemented);
        }
        (part, self.prefixes.name(&name))
    }
}

/// A name of a file as a URI has it.
fn as_reference(name: &str) -> String {
    let mut reference = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '%' | ' ' | '#' | '?' | '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' => {
                reference.push_str(&format!("%{:02X}", u32::from(c)));
            }
            c => reference.push(c),
        }
    }
    reference
}

fn is_known_lifecycle(name: Option<&str>) -> bool {
    matches!(name, Some(LIFECYCLE | OPENTOSCA_LIFECYCLE))
}

/// What an operation of the lifecycle is called elsewhere.
fn lifecycle_operation(name: &str) -> Option<&'static str> {
    OPERATIONS.iter().find(|(known, _)| *known == name).map(|(_, other)| *other)
}
