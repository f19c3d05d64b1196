//! Checks artifacts of node templates (section 3.6.7), and the files that artifacts and
//! implementations name.

use super::assignment::Typed;
use super::checker::Checker;
use crate::diagnostic::{Cite, Code, Diagnostic, did_you_mean};
use crate::tosca::shape::{ARTIFACT, NODE, Vocabulary};
use crate::tosca::value::{check_assignments, function};
use crate::tosca::{ArtifactDefinition, Family, Part, TypeId, v2_0};
use crate::variability::graph::{ArtifactElement, ElementId};
use crate::variability::template::{DEFAULT_ARTIFACT_TYPE, shape};
use cuvee_text::source::normalize;
use cuvee_text::yaml::{Node, NodeKind};
use std::fmt::Display;
use std::path::Path;

/// The type of images; the `file` of an image is often its name in a registry.
const IMAGE: &str = "tosca.artifacts.Deployment.Image";

impl<'c, 'a> Checker<'c, 'a> {
    /// Checks an artifact of a node template.
    pub(super) fn artifact(&self, id: ElementId) {
        if !self.counts(id) {
            return;
        }
        let element = &self.graph.artifacts[self.graph.element(id).slot as usize];
        let body = element.artifact.declared.value();
        let short = body.kind() == NodeKind::Scalar;
        let file = if short { Some(body).filter(|file| !file.is_null()) } else { body.get("file") };
        let refined = self.refined_artifacts(element);
        let types = self.artifact_types(element, &refined);
        let given = refined.iter().flat_map(|(refined, _)| &refined.definition.properties);
        let given: Vec<_> = given.map(|property| property.name).collect();
        for (kind, of_type) in &types {
            self.assigned_properties(&element.properties, *kind, of_type);
            let when: Vec<_> = of_type.iter().copied().chain([id]).collect();
            let of = Typed { id, kind: *kind, when: &when };
            self.missing_properties(of, &element.properties, &given);
            self.refines_artifact(of, element, &refined);
            if let Some(misnamed) = file.and_then(|file| self.types.misnamed(*kind, file)) {
                self.report_when(&when, &[], misnamed);
            }
        }
        if !short {
            self.artifact_keynames(&[id], body, shape::ARTIFACT);
        }
        let Some(file) = file else { return self.without_file(element) };
        let is_image = types.iter().any(|(kind, _)| self.is_image(*kind));
        // It is not known what the files of an undefined type are.
        if body.get("repository").is_none() && !types.is_empty() && !is_image {
            self.artifact_file((&[id], &self.graph.display(id)), file);
        }
    }

    /// Checks those artifacts that a node has from its type: their files, and that they have values of
    /// required properties.
    pub(super) fn artifacts_of_type(&self, of: Typed<'_>, assigned: &[ElementId]) {
        let has_file = |id: ElementId| {
            let artifact = &self.graph.artifacts[self.graph.element(id).slot as usize].artifact;
            let body = artifact.declared.value();
            v2_0::is_of(body.document()) || body.as_str().is_some() || body.get("file").is_some()
        };
        for (name, part) in self.types.effective(of.kind).artifacts.iter() {
            let ArtifactDefinition { kind, file, repository, .. } = part.definition;
            let replaces = |id: &ElementId| self.graph.element(*id).name == *name && has_file(*id);
            let known = self.defined(Family::Artifact, kind);
            let is_file = kind.is_none() || known.is_some_and(|kind| !self.is_image(kind));
            let is_asked = is_file && repository.is_none() && !assigned.iter().any(replaces);
            if let Some(file) = file.filter(|_| is_asked) {
                let owner = format!("the artifact `{name}` of `{}`", self.called(of.kind));
                self.artifact_file((of.when, &owner), file);
            }
            if let Some(known) = known {
                let own = assigned.iter().copied();
                let own: Vec<_> = own.filter(|id| self.graph.element(*id).name == *name).collect();
                self.artifact_of_type(of, part, known, &own);
            }
        }
    }

    /// Reports required properties of an artifact that neither the type of a node gives a value, nor
    /// an artifact `own` of that name, of which this is asked itself.
    fn artifact_of_type(
        &self,
        of: Typed<'_>,
        part: &Part<'c, ArtifactDefinition<'c>>,
        kind: TypeId,
        own: &[ElementId],
    ) {
        let element = self.graph.element(of.id);
        let node = &self.graph.nodes[element.slot as usize];
        // One that exists already has its values.
        if self.is_selected(node) {
            return;
        }
        let given = &part.definition.properties;
        let is_given = |name: &str| given.iter().any(|property| property.name == name);
        let needed = self.schemas.of(kind).properties.iter();
        let needed = needed.filter(|it| it.schema.is_typed() && it.needs_value());
        for definition in needed.filter(|it| !is_given(it.named.name)) {
            let message = format!(
                "the artifact `{}` of {} needs a value of the property `{}`",
                part.named.name,
                self.graph.display(of.id),
                definition.named.name
            );
            let error = Diagnostic::error(Code::MissingProperty, message)
                .at(element.span)
                .section("3.6.10.5");
            let error = error.label(part.named.key.span(), "the artifact is defined here");
            self.report_when(of.when, own, error);
        }
    }

    /// The artifacts of this name that the types of the node define, each with the elements on
    /// whose presence that depends. In TOSCA 2.0, an artifact replaces them (section 12.2).
    fn refined_artifacts(
        &self,
        element: &ArtifactElement<'a>,
    ) -> Vec<(&Part<'c, ArtifactDefinition<'c>>, Vec<ElementId>)> {
        if v2_0::is_of(element.artifact.declared.key().document()) {
            return Vec::new();
        }
        let name = self.graph.element(element.id).name;
        let types = self.types_of(self.graph.node(element.node).id, Family::Node);
        let refined = types.into_iter().filter_map(|(kind, when)| {
            Some((&**self.types.effective(kind).artifacts.get(name)?, when))
        });
        refined.collect()
    }

    /// The defined types of an artifact. An artifact without a type has the type of the artifact
    /// that it refines, or else the default type.
    fn artifact_types(
        &self,
        element: &ArtifactElement<'a>,
        refined: &[(&Part<'c, ArtifactDefinition<'c>>, Vec<ElementId>)],
    ) -> Vec<(TypeId, Vec<ElementId>)> {
        if !element.types.is_empty() {
            return self.types_of(element.id, Family::Artifact);
        }
        if refined.is_empty() {
            let default = self.types.find(Family::Artifact, DEFAULT_ARTIFACT_TYPE);
            return default.map(|default| (default, Vec::new())).into_iter().collect();
        }
        let kind = |part: &Part<'c, ArtifactDefinition<'c>>| {
            self.defined(Family::Artifact, part.definition.kind)
        };
        refined.iter().filter_map(|(part, when)| Some((kind(part)?, when.clone()))).collect()
    }

    /// Checks that an artifact has the type of the artifact that it refines, or a type derived from
    /// it.
    fn refines_artifact(
        &self,
        of: Typed<'_>,
        element: &ArtifactElement<'a>,
        refined: &[(&Part<'c, ArtifactDefinition<'c>>, Vec<ElementId>)],
    ) {
        let name = self.graph.element(of.id).name;
        let at = element.artifact.declared.value().get("type").map(Node::span);
        for (part, when) in refined {
            let Some(outer) = self.defined(Family::Artifact, part.definition.kind) else {
                continue;
            };
            if self.may_derive(of.kind, outer) {
                continue;
            }
            let type_name = |kind| self.called(kind);
            let message = format!(
                "the artifact `{name}` has to be of type `{}` or of one that derives from it, not `{}`",
                type_name(outer),
                type_name(of.kind)
            );
            let error = Diagnostic::error(Code::IncompatibleType, message)
                .at(at.unwrap_or(self.graph.element(of.id).span))
                .section(NODE.section)
                .label(part.named.key.span(), "the type of the node defines it here");
            self.report_when(&[of.when, when].concat(), &[], error);
        }
    }

    fn is_image(&self, kind: TypeId) -> bool {
        self.types.find(Family::Artifact, IMAGE).is_some_and(|image| self.may_derive(kind, image))
    }

    /// Checks that an artifact without a file refines an artifact of its node's type that has one.
    fn without_file(&self, element: &ArtifactElement<'a>) {
        let artifact = self.graph.element(element.id);
        for (kind, mut when) in self.types_of(self.graph.node(element.node).id, Family::Node) {
            let refined = self.types.effective(kind).artifacts.get(artifact.name);
            if refined.is_none_or(|refined| refined.definition.file.is_none()) {
                when.push(element.id);
                let error = Diagnostic::error(
                    Code::InvalidTemplate,
                    format!("the artifact `{}` has no `file`", artifact.name),
                );
                self.report_when(&when, &[], error.at(artifact.span).section(ARTIFACT.section));
            }
        }
    }

    fn artifact_keynames(&self, when: &[ElementId], body: Node<'_>, known: impl Into<Vocabulary>) {
        self.keynames(when, body, known);
        self.about(when, body, ARTIFACT.section);
        for keyname in
            ["deploy_path", "artifact_version", "version", "checksum", "checksum_algorithm"]
        {
            let value = body
                .get(keyname)
                .filter(|value| value.kind() != NodeKind::Scalar && function(*value).is_none());
            if let Some(value) = value {
                self.wrong(when, value, keyname, "a string", ARTIFACT.section);
            }
        }
        if let Some(checksum) =
            body.get("checksum").filter(|_| body.get("checksum_algorithm").is_none())
            && !v2_0::is_of(body.document())
        {
            let error = Diagnostic::error(
                Code::InvalidTemplate,
                "a `checksum` needs its `checksum_algorithm`",
            );
            self.report_when(when, &[], error.at(checksum.span()).section(ARTIFACT.section));
        }
        if let Some(repository) = body.get("repository") {
            self.repository(when, repository);
        }
    }

    /// Checks that the template or one of its imports defines the repository of this name, which may
    /// begin with the prefix of an import.
    pub(super) fn repository(&self, when: &[ElementId], name: Node<'_>) {
        let text = name.text().unwrap_or_default();
        let defined =
            self.documents.iter().filter_map(|document| document.root().get("repositories"));
        let names: Vec<_> =
            defined.flat_map(Node::entries).filter_map(|(key, _)| key.text()).collect();
        let own = text.rsplit(':').next().unwrap_or(text);
        if ![text, own].iter().any(|it| names.contains(it)) && function(name).is_none() {
            let error =
                Diagnostic::error(Code::UnknownElement, format!("there is no repository `{text}`"));
            self.report_when(
                when,
                &[],
                error.at(name.span()).section(ARTIFACT.section).help_opt(did_you_mean(text, names)),
            );
        }
    }

    /// Checks an artifact that an implementation defines in place.
    pub(super) fn inline_artifact(&self, when: &[ElementId], body: Node<'_>) {
        self.artifact_keynames(when, body, &ARTIFACT);
        let named = body.get("type").map(|name| {
            self.types.named(Family::Artifact, name.text().unwrap_or_default(), name.span())
        });
        match named {
            Some(Ok(kind)) => self.inline_values(when, kind, body),
            Some(Err(error)) => self.report_when(when, &[], error),
            None => {}
        }
        if body.get("file").is_none() {
            let error =
                Diagnostic::error(Code::InvalidTemplate, "an artifact definition needs a `file`");
            self.report_when(when, &[], error.at(body.span()).section(ARTIFACT.section));
        }
    }

    /// Checks the file and the properties of an artifact in place by its type.
    fn inline_values(&self, when: &[ElementId], kind: TypeId, body: Node<'_>) {
        let misnamed = body.get("file").and_then(|file| self.types.misnamed(kind, file));
        misnamed.into_iter().for_each(|error| self.report_when(when, &[], error));
        let owner = format!("the artifact of type `{}`", self.called(kind));
        let found = check_assignments(
            body.get("properties"),
            &self.schemas.of(kind).properties,
            &owner,
            body.span(),
            &self.schemas,
            // Before TOSCA 2.0, implementations are handed properties that no type defines.
            self.is_open(kind) || !v2_0::is_of(body.document()),
        );
        self.report_values(when, found);
    }

    /// Checks that the file of an artifact exists.
    fn artifact_file(&self, (when, artifact): (&[ElementId], &dyn Display), file: Node<'_>) {
        match file.as_str() {
            Some(name) if self.is_there(file, name) => {}
            Some(name) => {
                let message = format!("the file `{name}` of {artifact} is not there");
                self.missing_file(when, file, message, ARTIFACT.section);
            }
            None if function(file).is_some() => {}
            None => self.wrong(when, file, "file", "the name of a file", ARTIFACT.section),
        }
    }

    /// Reports a missing file. Outside an archive this is only a warning, because not all files of
    /// the template need to be available.
    pub(super) fn missing_file(
        &self,
        when: &[ElementId],
        at: Node<'_>,
        message: String,
        section: &'static str,
    ) {
        let whole = self.prepared.loaded.package().root().is_some();
        let diagnostic = if whole {
            Diagnostic::error(Code::File, message)
        } else {
            Diagnostic::warning(Code::File, message)
        };
        let help = "relative names start at the file that names them, at the template, or at the root of the archive";
        self.report_when(when, &[], diagnostic.at(at.span()).section(section).help(help));
    }

    /// Whether a file exists. A URL counts as existing, because the network is not accessed.
    pub(super) fn is_there(&self, at: Node<'_>, name: &str) -> bool {
        let package = self.prepared.loaded.package();
        let naming = self.sources.file(at.span().file).asked().parent();
        let bases = naming.into_iter().chain(package.template.parent()).chain(package.root());
        name.contains("://")
            || bases.map(|base| normalize(&base.join(name))).any(|path| self.is_file(&path))
    }

    fn is_file(&self, path: &Path) -> bool {
        if let Some(&known) = self.files.borrow().get(path) {
            return known;
        }
        let files = &self.prepared.loaded.package().files;
        let found = files.is_file(path) || files.is_dir(path);
        self.files.borrow_mut().insert(path.to_owned(), found);
        found
    }
}
