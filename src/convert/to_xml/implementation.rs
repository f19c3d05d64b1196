//! Converts interfaces, their implementations, and artifacts.

use super::names::{QualifiedName, as_name, unique};
use super::part::XmlPart;
use super::said::{SaidMap, SaidValue, entries, step};
use super::schema::takes_metadata;
use super::{LocatedFile, XmlConverter};
use crate::convert::well_known::{self, artifact_template_name};
use crate::tosca::types::Part;
use crate::tosca::xml_schema::XML_SCHEMA;
use crate::tosca::{Family, OperationDefinition, TypeId, profile};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The implementation of a type.
#[derive(Debug)]
pub(super) struct ImplementedType {
    /// The name of the implemented type, followed by that of the implementation.
    of: QualifiedName,
    name: QualifiedName,
    is_node: bool,
    operations: Vec<XmlPart>,
    artifacts: Vec<XmlPart>,
    /// The artifacts of the type that implement operations, by name.
    used: FxHashMap<String, ArtifactTemplateName>,
    /// Whether metadata record the implementation, which then may be empty.
    is_known: bool,
}

/// An operation of an interface, as types define it.
pub(super) struct WrittenOperation {
    name: String,
    /// Whether the parent type has the operation, too.
    is_inherited: bool,
    /// Whether the type itself adds or refines the operation.
    is_new: bool,
    /// Whether it did so in definitions.
    was_said: bool,
    inputs: SaidValue,
}

/// An operation of a type in definitions.
struct FormerOperation {
    was_said: bool,
    inputs: Value,
}

/// The name space of implementations among the taken names.
const IMPLEMENTATIONS: &str = "implementations";

/// The lifecycle interface of nodes in the profile.
const STANDARD: &str = "Standard";

/// The name of this interface in other tools.
const LIFECYCLE: &str = "http://www.example.com/interfaces/lifecycle";
const OPENTOSCA_LIFECYCLE: &str = "http://opentosca.org/interfaces/lifecycle";

/// The operations of the lifecycle interface, in the profile and in TOSCA 1.0.
const OPERATIONS: [(&str, &str); 5] = [
    ("create", "install"),
    ("configure", "configure"),
    ("start", "start"),
    ("stop", "stop"),
    ("delete", "uninstall"),
];

/// The type and the template of an artifact that implements an operation or is deployed.
#[derive(Clone, Debug)]
struct ArtifactTemplateName {
    type_name: String,
    /// The name of the artifact template; `None` if the artifact has no file.
    template: Option<String>,
}

impl<'t> XmlConverter<'_, 't> {
    /// The interfaces of a type. Their implementation is stored, with its artifacts, to be written
    /// later.
    pub(super) fn interfaces(
        &mut self,
        id: TypeId,
        said: Option<SaidValue>,
        artifacts: Option<SaidValue>,
    ) -> Vec<XmlPart> {
        let definition = self.variant.types.definition(id);
        let of = self.type_name(id);
        let is_node = definition.family == Family::Node;
        let mut implemented = self.implemented_type(of, is_node, Some(id));
        let mut interfaces = Vec::new();
        for (name, body) in said.iter().flat_map(|said| entries(&said.value)) {
            let said = said.as_ref().map(|said| said.part(name, body));
            let Some(said) = said else { continue };
            let known = self.defined_operations(id, name);
            let said = (&**name, &said, artifacts.as_ref());
            interfaces.extend(self.interface(id, said, known, &mut implemented));
        }
        if let Some(artifacts) = artifacts {
            self.artifacts_of_type(id, artifacts, &mut implemented);
        }
        self.add_implementation(implemented);
        interfaces
    }

    /// A new implementation of a type, with its former name from metadata, or else a name derived
    /// from the type.
    fn implemented_type(
        &self,
        of: QualifiedName,
        is_node: bool,
        id: Option<TypeId>,
    ) -> ImplementedType {
        let known = id.and_then(|id| self.metadata_name(id, "implementation"));
        let is_known = known.is_some();
        let wanted = known.unwrap_or_else(|| QualifiedName {
            namespace: of.namespace.clone(),
            local: format!("{}Implementation", of.local),
        });
        let name = |local: &str| QualifiedName { local: local.to_owned(), ..wanted.clone() };
        let is_taken = |local: &str| self.taken.contains(&(IMPLEMENTATIONS, name(local)));
        let name = name(&unique(&wanted.local, is_taken));
        let (operations, artifacts, used) = (Vec::new(), Vec::new(), FxHashMap::default());
        ImplementedType { of, name, is_node, operations, artifacts, used, is_known }
    }

    /// Adds an implementation, or its parts to the one of the same type: both ends of a relationship
    /// have interfaces.
    fn add_implementation(&mut self, implemented: ImplementedType) {
        let is_there = |known: &&mut ImplementedType| {
            (&known.of, known.is_node) == (&implemented.of, implemented.is_node)
        };
        // The other end has been converted just before.
        if let Some(known) = self.implemented.last_mut().filter(is_there) {
            known.operations.extend(implemented.operations);
        } else if implemented.is_known
            || !implemented.operations.is_empty()
            || !implemented.artifacts.is_empty()
        {
            self.taken.insert((IMPLEMENTATIONS, implemented.name.clone()));
            self.implemented.push(implemented);
        }
    }

    /// The operations of an interface, as defined by its type and the ancestors of that.
    fn defined_operations(&self, id: TypeId, interface: &str) -> Vec<WrittenOperation> {
        let types = self.variant.types;
        let of = |id| types.effective(id).interfaces.get(interface);
        let inherited =
            self.written_parent(id).and_then(of).map(|part| &part.definition.operations);
        let all = of(id).into_iter().flat_map(|part| part.definition.operations.iter());
        let defined = all.map(|(name, part)| {
            let before = inherited.and_then(|inherited| inherited.get(name));
            let place = |part: &Part<'_, OperationDefinition<'_>>| part.definition.named.key.span();
            let inputs = part.definition.inputs.iter().map(|input| input.named);
            let inputs = inputs.map(|input| (Arc::from(input.name), input.value.to_value()));
            let inputs = || Value::Map(inputs.collect());
            let former = self.former_operation(id, interface, name);
            WrittenOperation {
                name: (*name).to_owned(),
                is_inherited: before.is_some(),
                is_new: before.is_none_or(|before| place(before) != place(part)),
                was_said: former.as_ref().is_some_and(|former| former.was_said),
                inputs: SaidValue {
                    value: former.map_or_else(inputs, |former| former.inputs),
                    path: format!(
                        "{}.interfaces{}{}.inputs",
                        self.path_of(id),
                        step(interface),
                        step(name)
                    ),
                    span: Some(place(part)),
                },
            }
        });
        defined.collect()
    }

    /// An operation as it was in definitions, where one replaces an inherited one with its inputs:
    /// what the type of the interface says that was made for it.
    fn former_operation(
        &self,
        id: TypeId,
        interface: &str,
        operation: &str,
    ) -> Option<FormerOperation> {
        let types = self.variant.types;
        let said = types.definition(id).value.get("interfaces")?.get(interface)?;
        let kind = said.get("type").filter(|_| self.were_definitions);
        let kind = types.definition(self.find(Family::Interface, kind)?).value;
        let own = kind.get("operations").and_then(|all| all.get(operation));
        let inputs = own.and_then(|own| own.get("inputs"));
        let inputs = inputs.map_or_else(|| Value::Map([].into()), Node::to_value);
        Some(FormerOperation { was_said: own.is_some(), inputs })
    }

    pub(super) fn interface(
        &mut self,
        id: TypeId,
        (key, said, artifacts): (&str, &SaidValue, Option<&SaidValue>),
        known: Vec<WrittenOperation>,
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
        let all = own.iter().chain(known.iter().map(|known| &known.name));
        let is_lifecycle = implemented.is_node && is_lifecycle(key, all.map(|name| &**name));
        let said_uri = self.metadata_text(id, &format!("interface.{key}"));
        let uri = self.uri_of(key, is_lifecycle, said_uri);
        if is_lifecycle {
            body.take("type");
        }
        let mut interface = XmlPart::new("Interface").with("name", uri);
        for (name, said) in &operations {
            let known = known.iter().find(|known| known.name == *name);
            let called = self.operation_called(id, (key, name), is_lifecycle);
            let of = (uri, &*called, &*format!("{key}.{name}"));
            let operation = self.operation(id, of, (said, known, artifacts), implemented);
            let is_inherited = known.is_some_and(|known| known.is_inherited && !known.was_said);
            if !(is_inherited && said_uri.is_none() && says_implementation_only(&said.value)) {
                interface.push(operation);
            }
        }
        // If roots were added to definitions, the lifecycle interface contains only the operations
        // that the definitions declare.
        let says_all = is_lifecycle && self.has_added_roots && !own.is_empty();
        let is_left = |known: &&WrittenOperation| {
            (known.is_new || known.was_said) && !says_all && !own.contains(&known.name)
        };
        for known in known.iter().filter(is_left) {
            let called = self.operation_called(id, (key, &known.name), is_lifecycle);
            let mut operation = XmlPart::new("Operation").with("name", called);
            let inputs = self.parameters(&known.inputs);
            operation.push_in("InputParameters", inputs);
            interface.push(operation);
        }
        for (part, said) in body.rest() {
            let path = format!("interfaces{}{}", step(key), step(&part));
            self.keep(&path, &said, "interfaces of TOSCA 1.0 have operations only");
        }
        (!interface.is_empty()).then_some(interface)
    }

    /// The URI of an interface: the one that metadata record, else the well-known one of the
    /// lifecycle, else its name.
    fn uri_of<'n>(&self, name: &'n str, is_lifecycle: bool, known: Option<&'n str>) -> &'n str {
        let uri = match (is_lifecycle, self.settings.is_opentosca) {
            (true, true) => OPENTOSCA_LIFECYCLE,
            (true, false) => LIFECYCLE,
            (false, _) => name,
        };
        known.filter(|_| !is_lifecycle || is_known_lifecycle(known)).unwrap_or(uri)
    }

    /// The name of an interface of a type, and whether it is the lifecycle of nodes.
    pub(super) fn interface_name(&self, of: TypeId, key: &str) -> (String, bool) {
        let types = self.variant.types;
        let known = format!("interface.{key}");
        let known = types.chain(of).find_map(|id| self.metadata_text(id, &known));
        let part = types.effective(of).interfaces.get(key);
        let operations = part.into_iter().flat_map(|it| it.definition.operations.keys().copied());
        let is_lifecycle =
            types.definition(of).family == Family::Node && is_lifecycle(key, operations);
        (self.uri_of(key, is_lifecycle, known).to_owned(), is_lifecycle)
    }

    /// The name of an operation in XML: the former one that metadata record, that of the lifecycle,
    /// or its own.
    pub(super) fn operation_called(
        &self,
        of: TypeId,
        (interface, name): (&str, &str),
        is_lifecycle: bool,
    ) -> String {
        let former = || {
            let key = format!("operation_name.{interface}.{name}");
            self.variant.types.chain(of).find_map(|id| self.metadata_text(id, &key))
        };
        let former = self.has_former_names.then(former).flatten();
        let part = self.variant.types.effective(of).interfaces.get(interface);
        let is_taken =
            |name: &str| part.is_some_and(|it| it.definition.operations.contains_key(name));
        match (former.filter(|former| !is_taken(former)), lifecycle_operation(name)) {
            (Some(former), _) => as_name(former),
            (None, Some(other)) if is_lifecycle => other.to_owned(),
            (None, _) => as_name(name),
        }
    }

    fn operation(
        &mut self,
        id: TypeId,
        (interface, name, key): (&str, &str, &str),
        (said, known, artifacts): (&SaidValue, Option<&WrittenOperation>, Option<&SaidValue>),
        implemented: &mut ImplementedType,
    ) -> XmlPart {
        let mut part = XmlPart::new("Operation").with("name", name);
        let mut body = said.map();
        let by = match &said.value {
            Value::String(_) => Some(said.clone()),
            _ => body.take("implementation"),
        };
        Self::describe(&mut part, &mut body);
        let own = body.take("inputs");
        let mut inputs = own.as_ref().map(|own| self.parameters(own)).unwrap_or_default();
        if let Some(known) = known {
            let of_type = self.parameters(&known.inputs);
            inputs.extend(
                of_type
                    .into_iter()
                    .filter(|it| !inputs.iter().any(|own| own.is_named_as(it)))
                    .collect::<Vec<_>>(),
            );
        }
        part.push_in("InputParameters", inputs);
        if let Some(outputs) = body.take("outputs") {
            let attributes = &self.variant.types.effective(id).attributes;
            let parameters = entries(&outputs.value).map(|(name, _)| {
                let of = attributes.get(&**name).map(|it| it.definition.schema.type_name);
                let of = of.and_then(super::schema::parameter_type).unwrap_or("xs:string");
                XmlPart::new("OutputParameter").with("name", &**name).with("type", of)
            });
            let parameters = parameters.collect();
            self.prefixes.of(XML_SCHEMA);
            part.push_in("OutputParameters", parameters);
            let why = "parameters of TOSCA 1.0 lead to no attributes";
            self.keep("outputs", &outputs, why);
        }
        if let Some(by) = by {
            let of = (interface, name, key);
            self.implementation_of(id, of, (&by, artifacts), implemented);
        }
        self.keep_rest(body, "operations of TOSCA 1.0 have parameters only");
        part
    }

    /// The input parameters, from definitions of inputs or from assigned values.
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
            let is_required = takes_metadata(&mut body, ("xml", "required"));
            let written = written_type(&kind, &mut body);
            let of = super::schema::parameter_type(&kind);
            parameter.set("type", written.as_deref().or(of).unwrap_or("xs:string"));
            if of.is_none() {
                let kept = said.part("type", &kind.into());
                let why = "XML Schema has no such type";
                self.keep(&format!("inputs{}.type", step(name)), &kept, why);
            }
            let said = body.take("required");
            if !is_required && said.is_some_and(|it| it.value == Value::Bool(false)) {
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

    /// Converts the implementation of an operation: the name of an artifact, a file, or an artifact
    /// in place. Metadata record the former names of that one by the key of the operation.
    fn implementation_of(
        &mut self,
        id: TypeId,
        (interface, operation, key): (&str, &str, &str),
        (said, artifacts): (&SaidValue, Option<&SaidValue>),
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
            let mut by = XmlPart::new("ImplementationArtifact");
            let wanted = format!("{}_{operation}", implemented.of.local);
            let artifact = match primary.value.as_str() {
                Some(name) => {
                    let said = (name, &primary, artifacts);
                    let (artifact, is_new) = self.named_artifact(id, said, &wanted, implemented);
                    if is_new {
                        let former = self.metadata_text(id, &format!("artifact_name.{name}"));
                        by.set("name", former.unwrap_or(name));
                    }
                    artifact
                }
                None => {
                    let former = |what: &str| self.metadata_text(id, &format!("{what}.{key}"));
                    let template = former("artifact");
                    if let Some(name) = former("artifact_name") {
                        by.set("name", name);
                    }
                    self.artifact(&primary, (&wanted, template), "implementation")
                }
            };
            by.set("interfaceName", interface);
            by.set("operationName", operation);
            by.set("artifactType", artifact.type_name);
            implemented.operations.push(by.with_some("artifactRef", artifact.template));
        }
        for (key, said) in body.rest() {
            let why = "an operation of TOSCA 1.0 is implemented by one artifact";
            self.keep(&format!("implementation{}", step(&key)), &said, why);
        }
    }

    /// The artifact that implements an operation, found by name or taken as a file. The flag is
    /// true if it is an artifact of the type that is used for the first time.
    fn named_artifact(
        &mut self,
        id: TypeId,
        (name, said, artifacts): (&str, &SaidValue, Option<&SaidValue>),
        wanted: &str,
        implemented: &mut ImplementedType,
    ) -> (ArtifactTemplateName, bool) {
        if let Some(known) = implemented.used.get(name) {
            return (known.clone(), false);
        }
        let own = artifacts.filter(|_| implemented.is_node);
        let mut own =
            own.into_iter().flat_map(|own| entries(&own.value).zip(std::iter::repeat(own)));
        if let Some(((name, value), all)) = own.find(|((key, _), _)| **key == *name) {
            let said = all.part(name, value);
            let known = self.metadata_text(id, &format!("artifact.{name}"));
            let usual = artifact_template_name(&implemented.of.local, name);
            let key = format!("artifacts{}", step(name));
            let made = self.artifact(&said, (&usual, known), &key);
            implemented.used.insert(name.to_string(), made.clone());
            return (made, true);
        }
        let Some(inherited) = self.variant.types.effective(id).artifacts.get(name) else {
            return (self.artifact_of_file((name, said.span), None, wanted), false);
        };
        let definition = &inherited.definition;
        let kind = self.find(Family::Artifact, definition.kind);
        let file = definition.file.and_then(|file| Some((file.text()?, Some(file.span()))));
        let made = self.artifact_of_file(file.unwrap_or((name, said.span)), kind, wanted);
        implemented.used.insert(name.to_owned(), made.clone());
        (made, true)
    }

    fn artifact_of_file(
        &mut self,
        file: (&str, Option<Span>),
        kind: Option<TypeId>,
        wanted: &str,
    ) -> ArtifactTemplateName {
        let kind = kind.or_else(|| self.kind_of_file(file.0));
        let type_name = kind.map(|kind| self.prefixed(kind)).unwrap_or_default();
        let template = self.template_of(file, &type_name, (wanted, None), None);
        ArtifactTemplateName { type_name, template: Some(template) }
    }

    /// The name of an artifact template; one with the same file, type and (if known) former name is
    /// reused.
    fn template_of(
        &mut self,
        (file, named): (&str, Option<Span>),
        type_name: &str,
        (wanted, known): (&str, Option<&str>),
        properties: Option<XmlPart>,
    ) -> String {
        let file = self.reference(file, named);
        // Templates that were made of definitions are as many as there were names, so the name is
        // part of the key.
        let called = if self.were_definitions { Some(known.unwrap_or(wanted)) } else { known };
        let is_shared = properties.is_none() || called.is_some();
        let called = called.map(str::to_owned);
        let key = (file.clone(), type_name.to_owned(), called, properties.clone());
        if let Some(known) = self.files.get(&key).filter(|_| is_shared) {
            return known.clone();
        }
        let name = self.template_name(known, wanted);
        let mut template =
            XmlPart::new("ArtifactTemplate").with("id", &*name.local).with("type", type_name);
        template.push_some(properties);
        let reference = XmlPart::new("ArtifactReference").with("reference", file);
        template.push_in("ArtifactReferences", vec![reference]);
        let name = self.add_template(&name, template);
        if is_shared {
            self.files.insert(key, name.clone());
        }
        name
    }

    /// The name of a file from the root of the archive, to which the file is added. A file that is
    /// elsewhere keeps its name.
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

    /// The artifact type whose file extensions include that of this file.
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

    /// Converts an artifact definition: its type, file and properties; the remaining keynames are
    /// kept.
    fn artifact(
        &mut self,
        said: &SaidValue,
        called: (&str, Option<&str>),
        key: &str,
    ) -> ArtifactTemplateName {
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
            file.map(|file| self.template_of((&file, said.span), &type_name, called, properties));
        for (name, said) in body.rest() {
            let why = "artifacts of TOSCA 1.0 have a type and files only";
            self.keep(&format!("{key}{}", step(&name)), &said, why);
        }
        ArtifactTemplateName { type_name, template }
    }

    /// The deployment artifacts of an owner, whose metadata contain the former names of their
    /// templates.
    pub(super) fn deployment_artifacts<'k>(
        &mut self,
        owner: &str,
        said: &SaidValue,
        known: impl Fn(&str) -> Option<&'k str>,
    ) -> Vec<XmlPart> {
        let mut artifacts = Vec::new();
        for (name, value) in entries(&said.value) {
            let said = said.part(name, value);
            let key = format!("artifacts{}", step(name));
            let usual = artifact_template_name(owner, name);
            let made = self.artifact(&said, (&usual, known(&format!("artifact.{name}"))), &key);
            let former = known(&format!("artifact_name.{name}"));
            let artifact = XmlPart::new("DeploymentArtifact")
                .with("name", former.unwrap_or(name))
                .with("artifactType", made.type_name)
                .with_some("artifactRef", made.template);
            artifacts.push(artifact);
        }
        artifacts
    }

    /// Converts artifacts of a type that implement no operation: they are deployed with its nodes.
    fn artifacts_of_type(
        &mut self,
        id: TypeId,
        said: SaidValue,
        implemented: &mut ImplementedType,
    ) {
        if implemented.is_node {
            let owner = self.type_name(id).local;
            let (_, rest) = said.split(|name| implemented.used.contains_key(name));
            let Some(rest) = rest else { return };
            let metadata = self.variant.types.definition(id).value.get("metadata");
            let known = |key: &str| metadata.and_then(|it| it.get(key)?.text());
            implemented.artifacts.extend(self.deployment_artifacts(&owner, &rest, known));
        } else {
            let why = "implementations of relationship types have no deployment artifacts";
            self.keep("artifacts", &said, why);
        }
    }

    pub(super) fn implementation(&mut self, of: ImplementedType) -> XmlPart {
        let type_name = self.prefixes.name(&of.of);
        let (kind, attribute) = match of.is_node {
            true => ("NodeTypeImplementation", "nodeType"),
            false => ("RelationshipTypeImplementation", "relationshipType"),
        };
        let mut part = XmlPart::new(kind).with("name", of.name.local);
        if of.name.namespace != self.target {
            part.set("targetNamespace", of.name.namespace);
        }
        part.set(attribute, type_name);
        part.push_in("ImplementationArtifacts", of.operations);
        part.push_in("DeploymentArtifacts", of.artifacts);
        part
    }

    /// A node type for a single node that has implementations of its own, and the name of that
    /// type.
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
        let mut implemented = self.implemented_type(name.clone(), true, None);
        let mut interfaces = Vec::new();
        for (name, body) in entries(&said.value) {
            let said = said.part(name, body);
            let said = (&**name, &said, None);
            let made = self.interface(id, said, Vec::new(), &mut implemented);
            interfaces.extend(made);
        }
        part.push_in("Interfaces", interfaces);
        self.add_implementation(implemented);
        (part, self.prefixes.name(&name))
    }
}

/// Whether an operation assigns nothing but its implementation.
fn says_implementation_only(said: &Value) -> bool {
    match said {
        Value::String(_) => true,
        said => {
            let mut keys = entries(said).map(|(key, _)| &**key).peekable();
            keys.peek().is_some() && keys.all(|key| key == "implementation")
        }
    }
}

/// The former type of a parameter, if its metadata contain nothing else; the metadata are then
/// taken.
fn written_type(kind: &str, said: &mut SaidMap) -> Option<String> {
    let metadata = said.clone().take("metadata")?;
    let mut all = entries(&metadata.value);
    let (Some((key, written)), None) = (all.next(), all.next()) else { return None };
    let written = written.as_str().filter(|_| &**key == "xsd")?;
    if well_known::parameter_type(written).type_name != kind {
        return None;
    }
    said.take("metadata");
    Some(written.to_owned())
}

/// A file name as a URI reference.
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

/// Whether an interface is the lifecycle of nodes, without further operations.
fn is_lifecycle<'n>(name: &str, mut operations: impl Iterator<Item = &'n str>) -> bool {
    name == STANDARD && operations.all(|name| lifecycle_operation(name).is_some())
}

fn is_known_lifecycle(name: Option<&str>) -> bool {
    matches!(name, Some(LIFECYCLE | OPENTOSCA_LIFECYCLE))
}

/// The name of a lifecycle operation in TOSCA 1.0.
fn lifecycle_operation(name: &str) -> Option<&'static str> {
    OPERATIONS.iter().find(|(known, _)| *known == name).map(|(_, other)| *other)
}
