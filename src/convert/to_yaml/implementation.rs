//! Converts implementations of types, and artifacts.

use super::super::layout::YamlMap;
use super::super::loss::LossKind;
use super::super::well_known::{artifact_template_name, lifecycle_operation};
use super::YamlConverter;
use super::names::{FileKey, as_name, unique};
use super::place;
use super::scope::ConversionScope;
use super::settings::is_called;
use super::types::ConvertedInterface;
use super::usage;
use super::values::PropertyHolder;
use crate::diagnostic::Diagnostics;
use crate::tosca::v1_0::definitions::{
    ArtifactUse, ComponentContent, ComponentKind, ComponentName, DefinedNode, EntityTemplate,
    TypeImplementation,
};
use crate::tosca::v1_0::{ComponentId, Library};
use cuvee_text::value::Value;
use cuvee_text::xml::XmlElement;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The implementation that is used for each type.
#[derive(Default)]
pub(super) struct ChosenImplementations {
    by_type: FxHashMap<ComponentId, ComponentId>,
    /// The implementations and templates that were converted as part of something else.
    pub used: FxHashSet<ComponentId>,
}

impl ChosenImplementations {
    /// Chooses an implementation for each type: the only one that no other derives from, or the one
    /// that the settings name.
    pub(super) fn of(
        library: &Library<'_>,
        scope: &ConversionScope,
        wanted: &[String],
    ) -> Result<Self, Diagnostics> {
        let mut of_type: BTreeMap<ComponentId, Vec<ComponentId>> = BTreeMap::new();
        let mut parents = FxHashSet::default();
        for &id in &scope.converted {
            let Some(said) = library.implementation(id) else { continue };
            parents.extend(library.parent(id));
            let kind = match library.component(id).kind {
                ComponentKind::NodeTypeImplementation => ComponentKind::NodeType,
                _ => ComponentKind::RelationshipType,
            };
            let document = library.document(id);
            let of = said.of.as_ref().and_then(|of| library.find(kind, document, of).id());
            if let Some(of) = of.filter(|_| said.is_abstract.is_none()) {
                of_type.entry(of).or_default().push(id);
            }
        }
        known(library, wanted)?;
        let mut chosen = Self::default();
        for (of, mut all) in of_type {
            all.retain(|id| !parents.contains(id));
            if all.len() > 1 {
                all = named(library, of, &all, wanted)?;
            }
            if let [one] = all[..] {
                chosen.by_type.insert(of, one);
                chosen.used.extend(library.ancestry(one));
            }
        }
        Ok(chosen)
    }
}

/// Checks that an implementation of each name exists.
fn known(library: &Library<'_>, wanted: &[String]) -> Result<(), Diagnostics> {
    for name in wanted {
        let mut all = library.ids().filter(|id| library.implementation(*id).is_some());
        let is_it = |id: ComponentId| {
            let component = library.component(id);
            is_called(name, &component.namespace, &component.name.text)
        };
        if !all.any(is_it) {
            let message = format!("there is no implementation `{name}`");
            return Err(usage(message, "write its name, or `{namespace}name`".to_owned()));
        }
    }
    Ok(())
}

/// The implementations of a type that the settings name.
fn named(
    library: &Library<'_>,
    of: ComponentId,
    all: &[ComponentId],
    wanted: &[String],
) -> Result<Vec<ComponentId>, Diagnostics> {
    let is_wanted = |id: &&ComponentId| {
        let component = library.component(**id);
        wanted.iter().any(|it| is_called(it, &component.namespace, &component.name.text))
    };
    let found: Vec<_> = all.iter().filter(is_wanted).copied().collect();
    if found.len() == 1 {
        return Ok(found);
    }
    let names = all.iter().map(|id| {
        let component = library.component(*id);
        format!("`{{{}}}{}`", component.namespace, component.name.text)
    });
    let names = names.collect::<Vec<_>>().join(", ");
    let message = format!("`{}` has several implementations", library.component(of).name.text);
    Err(usage(message, format!("name one with `--implementation`: there are {names}")))
}

/// The implementation of an operation.
pub(super) struct ImplementedOperation {
    /// The key of the interface.
    pub interface: String,
    pub operation: String,
    /// The name of the artifact, or the artifact itself.
    pub artifact: Value,
}

/// The implementation of a type.
#[derive(Default)]
pub(super) struct ConvertedImplementation {
    pub operations: Vec<ImplementedOperation>,
    pub artifacts: YamlMap,
}

/// The artifacts of a type or a node.
pub(super) struct OwnArtifacts<'o> {
    /// The name of the owner.
    owner: &'o str,
    /// The artifacts by name, each with its template.
    names: FxHashMap<String, Option<ComponentId>>,
    /// The types of the artifacts, by name.
    types: FxHashMap<String, Option<ComponentId>>,
    /// The type of the node that has them: an artifact with the name of one of its artifacts has to
    /// be of a type that derives from the type of that one.
    node_type: Option<ComponentId>,
    /// The name of the first artifact of each template.
    first_of: FxHashMap<ComponentId, String>,
    /// Whether those that implement operations are there. An artifact of theirs that is deployed as
    /// well is another one.
    is_implemented: bool,
    pub artifacts: YamlMap,
    /// Metadata that record the names of the templates.
    pub metadata: YamlMap,
}

impl<'o> OwnArtifacts<'o> {
    fn of(owner: &'o str) -> Self {
        let (names, first_of) = (FxHashMap::default(), FxHashMap::default());
        let (types, node_type) = (FxHashMap::default(), None);
        let (artifacts, metadata) = (YamlMap::default(), YamlMap::default());
        let is_implemented = false;
        Self { owner, names, types, node_type, first_of, is_implemented, artifacts, metadata }
    }

    /// The known artifact that another use of a template refers to, with the same name or without a
    /// name.
    fn known(&self, template: ComponentId, used: &ArtifactUse<'_>, name: &str) -> Option<String> {
        match &used.name {
            _ if self.is_implemented => None,
            Some(_) => (self.names.get(name) == Some(&Some(template))).then(|| name.to_owned()),
            None => self.first_of.get(&template).cloned(),
        }
    }
}

impl<'c, 'd> YamlConverter<'c, 'd> {
    /// The implementation of a type: its artifacts, and the operations that they implement.
    pub(super) fn implementation(
        &mut self,
        id: ComponentId,
        interfaces: &[ConvertedInterface],
        file: FileKey,
        metadata: &mut YamlMap,
    ) -> ConvertedImplementation {
        let library = self.library;
        let mut converted = ConvertedImplementation::default();
        let Some(chosen) = self.chosen.by_type.get(&id).copied() else { return converted };
        let is_of_nodes = library.component(id).kind == ComponentKind::NodeType;
        let component = library.component(chosen);
        let name = format!("{{{}}}{}", component.namespace, component.name.text);
        metadata.put("implementation", name);
        let owner = self.text_name(id).to_owned();
        let mut own = OwnArtifacts::of(&owner);
        let mut seen: FxHashSet<(String, String)> = FxHashSet::default();
        for by in library.ancestry(chosen).collect::<Vec<_>>() {
            let Some(said) = library.implementation(by) else { continue };
            if by != chosen {
                self.joined_implementation(chosen, by, said);
            }
            for artifact in &said.implementation_artifacts {
                let operations = self.operations_of(interfaces, artifact);
                let new: Vec<_> =
                    operations.into_iter().filter(|it| seen.insert(it.clone())).collect();
                if new.is_empty() {
                    let construct = format!("artifact `{}`", self.artifact_name(artifact));
                    let why = "a derived implementation implements the same operations";
                    self.lose(artifact.element, "", construct, why, LossKind::Lost);
                    continue;
                }
                let made = match is_of_nodes {
                    true => self.artifact(by, artifact, file, &mut own).map(Value::from),
                    false => self.placed_artifact(by, artifact, file, &new, &mut own),
                };
                let Some(made) = made else { continue };
                converted.operations.extend(new.into_iter().map(|(interface, operation)| {
                    ImplementedOperation { interface, operation, artifact: made.clone() }
                }));
            }
        }
        own.is_implemented = true;
        for by in library.ancestry(chosen).collect::<Vec<_>>() {
            let deployed = library.implementation(by).map(|said| &said.deployment_artifacts);
            for artifact in deployed.into_iter().flatten() {
                let wanted = self.artifact_name(artifact);
                if own.names.contains_key(&wanted) && by != chosen {
                    let construct = format!("artifact `{wanted}`");
                    let why = "a derived implementation has another artifact with this name";
                    self.lose(artifact.element, "", construct, why, LossKind::Lost);
                    continue;
                }
                self.artifact(by, artifact, file, &mut own);
            }
        }
        converted.artifacts = own.artifacts;
        metadata.append(own.metadata);
        self.type_artifacts.insert(id, own.types);
        converted
    }

    /// Reports an implementation whose artifacts become those of one that derives from it.
    fn joined_implementation(
        &mut self,
        into: ComponentId,
        id: ComponentId,
        said: &TypeImplementation<'d>,
    ) {
        let [into_element, element] = [into, id].map(|id| self.library.component(id).element);
        let why =
            format!("its artifacts are those of `{}`, which derives from it", self.text_name(into));
        self.lose(element, "", self.called(id), why, LossKind::Lost);
        for (container, artifacts) in [
            ("ImplementationArtifacts", &said.implementation_artifacts),
            ("DeploymentArtifacts", &said.deployment_artifacts),
        ] {
            if !artifacts.is_empty() {
                let construct = format!("the artifacts of `{}`", self.text_name(id));
                let why = "implementations of YAML do not derive";
                self.lose(into_element, container, construct, why, LossKind::Supplied);
            }
        }
    }

    /// The operations that an artifact implements, by the key of the interface and the name in
    /// YAML.
    fn operations_of(
        &self,
        interfaces: &[ConvertedInterface],
        artifact: &ArtifactUse<'d>,
    ) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for interface in interfaces {
            if artifact.interface.as_ref().is_some_and(|name| *name.text != *interface.name) {
                continue;
            }
            for operation in self.operation_names(interface) {
                if artifact.operation.as_ref().is_some_and(|name| *name.text != *operation) {
                    continue;
                }
                let operation = match interface.is_lifecycle {
                    true => {
                        lifecycle_operation(&operation).map_or(operation.clone(), str::to_owned)
                    }
                    false => operation,
                };
                all.push((interface.key.clone(), operation));
            }
        }
        all
    }

    /// The names of the operations of an interface.
    pub(super) fn operation_names(&self, interface: &ConvertedInterface) -> Vec<String> {
        let mut names = Vec::new();
        for &by in &interface.said_by {
            let Some(said) = self.library.entity_type(by) else { continue };
            let all = match interface.is_at_target {
                true => &said.target_interfaces,
                false => &said.interfaces,
            };
            let own = all.iter().filter(|it| it.name.text == *interface.name);
            for operation in own.flat_map(|it| &it.operations) {
                if !names.iter().any(|name| *name == operation.name.text) {
                    names.push(operation.name.text.to_string());
                }
            }
        }
        names
    }

    /// The deployment artifacts of a node template.
    pub(super) fn node_artifacts<'o>(
        &mut self,
        id: ComponentId,
        node: &'o DefinedNode<'d>,
    ) -> OwnArtifacts<'o> {
        let mut own = OwnArtifacts::of(&node.id.text);
        let name = node.template.type_name.as_ref();
        own.node_type = self.find(ComponentKind::NodeType, id, name);
        for artifact in &node.artifacts {
            self.artifact(id, artifact, FileKey::Service, &mut own);
        }
        own
    }

    /// The name of an artifact: its own, or else that of its template.
    fn artifact_name(&self, artifact: &ArtifactUse<'d>) -> String {
        let said = artifact.name.as_ref().map(|name| as_name(&name.text));
        let template = artifact.template.as_ref().map(|name| name.local.to_string());
        said.or(template).unwrap_or_else(|| "artifact".to_owned())
    }

    /// Adds an artifact and returns its name; `None` if it has no file. Artifacts of the same name
    /// and template are merged.
    fn artifact(
        &mut self,
        from: ComponentId,
        artifact: &ArtifactUse<'d>,
        file: FileKey,
        own: &mut OwnArtifacts<'_>,
    ) -> Option<String> {
        let wanted = self.artifact_name(artifact);
        let said = self.artifact_template(from, artifact);
        let template = said.map(|(id, _)| id);
        if let Some(known) = template.and_then(|id| own.known(id, artifact, &wanted)) {
            return Some(known);
        }
        let kind = self.artifact_type(from, artifact, said);
        let inherited = |name: &str| {
            let mut of = own.node_type.into_iter().flat_map(|of| self.library.ancestry(of));
            of.find_map(|of| self.type_artifacts.get(&of)?.get(name).copied()).flatten()
        };
        let is_other = |name: &str| {
            let is_it = |of| kind.is_some_and(|kind| self.library.derives(kind, of));
            inherited(name).is_some_and(|of| !is_it(of))
        };
        let name = unique(&wanted, |name| own.names.contains_key(name) || is_other(name));
        let path = self.artifact_file(artifact, said, &name, file)?;
        if artifact.name.is_none() {
            let construct = format!("the name `{name}` of an artifact");
            let why = "artifacts of YAML have names";
            self.lose(artifact.element, "@name", construct, why, LossKind::Supplied);
        }
        let former = artifact.name.as_ref().filter(|former| former.text != name);
        let former = former.map(|former| &*former.text);
        own.metadata.put_some(&format!("artifact_name.{name}"), former);
        own.types.insert(name.clone(), kind);
        own.names.insert(name.clone(), template);
        if let Some(template) = template {
            own.first_of.entry(template).or_insert_with(|| name.clone());
        }
        let called = template.map(|id| self.recorded_name(id));
        let usual = artifact_template_name(own.owner, &name);
        if let Some(called) = called.filter(|called| *called != usual) {
            own.metadata.put(&format!("artifact.{name}"), called);
        }
        let body = self.artifact_body(from, artifact, (said, path), file);
        own.artifacts.put(&name, body);
        Some(name)
    }

    /// The definition of an artifact with this file.
    fn artifact_body(
        &mut self,
        from: ComponentId,
        artifact: &ArtifactUse<'d>,
        (said, path): (Option<(ComponentId, &EntityTemplate<'d>)>, String),
        file: FileKey,
    ) -> YamlMap {
        let kind = ComponentKind::ArtifactType;
        let mut body = YamlMap::default();
        let type_name = match said {
            Some((id, said)) => {
                self.replaced_type(
                    artifact.element,
                    "@artifactType",
                    from,
                    id,
                    (kind, artifact.type_name.as_ref()),
                );
                self.type_name(kind, id, said.type_name.as_ref(), file)
            }
            None => self.type_name(kind, from, artifact.type_name.as_ref(), file),
        };
        body.put_some("type", type_name);
        body.put_some("description", self.description(artifact.element));
        body.put("file", path);
        if let Some((id, said)) = said
            && let Some(type_id) = self.find(kind, id, said.type_name.as_ref())
        {
            let element = self.library.component(id).element;
            let root = said.properties;
            let (input, object) = (None, None);
            let holder = PropertyHolder { type_id, element, root, input, object, below: "" };
            body.put_map("properties", self.properties(holder));
        }
        body
    }

    /// The artifact of operations of a relationship, which stands where it is used, because
    /// relationship types have no artifacts that operations could name.
    fn placed_artifact(
        &mut self,
        from: ComponentId,
        artifact: &ArtifactUse<'d>,
        file: FileKey,
        operations: &[(String, String)],
        own: &mut OwnArtifacts<'_>,
    ) -> Option<Value> {
        let name = self.artifact_name(artifact);
        let said = self.artifact_template(from, artifact);
        let path = self.artifact_file(artifact, said, &name, file)?;
        let template = said.map(|(id, _)| self.recorded_name(id));
        for (interface, operation) in operations {
            let key = |what| format!("{what}.{interface}.{operation}");
            own.metadata.put_some(&key("artifact"), template.as_deref());
            let name = artifact.name.as_ref().map(|name| &*name.text);
            own.metadata.put_some(&key("artifact_name"), name);
        }
        let body = self.artifact_body(from, artifact, (said, path), file);
        Some(YamlMap::default().with("primary", body).into())
    }

    /// The type of an artifact: that of its template, or else its own.
    fn artifact_type(
        &self,
        from: ComponentId,
        artifact: &ArtifactUse<'d>,
        said: Option<(ComponentId, &EntityTemplate<'d>)>,
    ) -> Option<ComponentId> {
        let (from, name) = match said {
            Some((id, said)) => (id, said.type_name.as_ref()),
            None => (from, artifact.type_name.as_ref()),
        };
        self.find(ComponentKind::ArtifactType, from, name)
    }

    /// The template of an artifact.
    fn artifact_template(
        &mut self,
        from: ComponentId,
        artifact: &ArtifactUse<'d>,
    ) -> Option<(ComponentId, &'c EntityTemplate<'d>)> {
        let library = self.library;
        let id = self.find(ComponentKind::ArtifactTemplate, from, artifact.template.as_ref())?;
        self.chosen.used.insert(id);
        match &library.component(id).content {
            ComponentContent::Template(said) => Some((id, said)),
            _ => None,
        }
    }

    /// The file of an artifact, relative to a document.
    fn artifact_file(
        &mut self,
        artifact: &ArtifactUse<'d>,
        said: Option<(ComponentId, &EntityTemplate<'d>)>,
        name: &str,
        file: FileKey,
    ) -> Option<String> {
        let path = match said {
            Some((id, said)) => self.referred_file(id, said),
            None => self.inline_file(artifact, name),
        }?;
        let is_below = matches!(file, FileKey::Types(_)) && !path.contains("://");
        Some(if is_below { format!("../{path}") } else { path })
    }

    /// Reports that the type given with an artifact or a policy differs from that of its template,
    /// which takes precedence.
    pub(super) fn replaced_type(
        &mut self,
        element: XmlElement<'d>,
        attribute: &str,
        from: ComponentId,
        template: ComponentId,
        (kind, said): (ComponentKind, Option<&ComponentName<'d>>),
    ) {
        let own = match &self.library.component(template).content {
            ComponentContent::Template(own) => own.type_name.as_ref(),
            _ => None,
        };
        if self.find(kind, from, said) != self.find(kind, template, own) {
            let construct = format!("`{}`", said.map(|name| &*name.local).unwrap_or_default());
            let why = "its template has another type, which counts";
            self.lose(element, attribute, construct, why, LossKind::Lost);
        }
    }

    /// The file that an artifact template refers to.
    fn referred_file(&mut self, id: ComponentId, said: &EntityTemplate<'d>) -> Option<String> {
        let element = self.library.component(id).element;
        let references = place::child(element, "ArtifactReferences");
        let mut all =
            references.into_iter().flat_map(|it| place::children(it, "ArtifactReference"));
        let first = all.next();
        for other in all {
            let name = place::attribute(other, "reference").unwrap_or_default();
            let why = "an artifact of YAML is one file";
            self.lose(other, "", format!("the reference `{name}`"), why, LossKind::Lost);
        }
        let Some(reference) = said.references.first() else {
            let construct = format!("artifact `{}`", self.text_name(id));
            self.lose(element, "", construct, "it names no file", LossKind::Lost);
            return None;
        };
        let name = &reference.reference.text;
        if name.contains("://") {
            return Some(name.to_string());
        }
        let found = self.files.copy(name);
        if let (Err(why), Some(first)) = (&found, first) {
            self.lose(first, "@reference", format!("the file `{name}`"), *why, LossKind::Lost);
        }
        Some(found.unwrap_or_else(|_| files_name(name)))
    }

    /// A new file with the inline content of an artifact.
    fn inline_file(&mut self, artifact: &ArtifactUse<'d>, name: &str) -> Option<String> {
        let Some(content) = place::foreign(artifact.element) else {
            let construct = format!("artifact `{name}`");
            self.lose(artifact.element, "", construct, "it names no file", LossKind::Lost);
            return None;
        };
        let text = self.fragment(content);
        let path = self.files.inline("artifacts", name, text.into_bytes());
        if path.is_none() {
            let construct = format!("the content of artifact `{name}`");
            let why = "one document holds no files; write an archive or a directory";
            self.lose(content, "", construct, why, LossKind::Lost);
        }
        path
    }
}

/// The file name that a reference, which may be percent-encoded, stands for.
pub(super) fn files_name(reference: &str) -> String {
    percent_encoding::percent_decode_str(reference).decode_utf8_lossy().into_owned()
}
