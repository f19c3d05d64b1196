//! Artifacts of node templates (section 3.6.7), and the files that they and implementations name.

use super::assignment::Typed;
use super::checker::Checker;
use crate::text::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::text::source::normalize;
use crate::text::yaml::{Node, NodeKind};
use crate::tosca::shape::{ARTIFACT, Vocabulary};
use crate::tosca::value::function;
use crate::tosca::{Family, TypeId};
use crate::variability::graph::{ArtifactElement, ElementId};
use crate::variability::template::{DEFAULT_ARTIFACT_TYPE, shape};
use std::path::Path;

/// What is the image of a container or a machine is often the name that a registry has for it.
const IMAGE: &str = "tosca.artifacts.Deployment.Image";

impl<'a> Checker<'_, 'a> {
    /// Checks an artifact of a node template.
    pub(super) fn artifact(&self, id: ElementId) {
        if !self.counts(id) {
            return;
        }
        let element = &self.graph.artifacts[self.graph.element(id).slot as usize];
        let body = element.artifact.declared.value;
        let types = self.artifact_types(element);
        for (kind, when) in &types {
            self.properties(id, &element.properties, *kind, when);
        }
        let short = body.kind() == NodeKind::Scalar;
        let file = if short { Some(body).filter(|file| !file.is_null()) } else { body.get("file") };
        if !short {
            self.artifact_keynames(&[id], body, shape::ARTIFACT);
        }
        let Some(file) = file else { return self.without_file(element) };
        let is_image = types.iter().any(|(kind, _)| self.is_image(*kind));
        // Of a type that is not defined nobody knows what its files are.
        if body.get("repository").is_none() && !types.is_empty() && !is_image {
            self.artifact_file(id, file);
        }
    }

    /// The types of an artifact that are defined; one without a type has the default, or refines
    /// that of its node's type.
    fn artifact_types(&self, element: &ArtifactElement<'a>) -> Vec<(TypeId, Vec<ElementId>)> {
        let default =
            || Some((self.types.find(Family::Artifact, DEFAULT_ARTIFACT_TYPE)?, Vec::new()));
        if element.types.is_empty() {
            default().into_iter().collect()
        } else {
            self.types_of(element.id, Family::Artifact)
        }
    }

    fn is_image(&self, kind: TypeId) -> bool {
        self.types.find(Family::Artifact, IMAGE).is_some_and(|image| self.may_derive(kind, image))
    }

    /// An artifact has a file, unless it refines one of its node's type that has.
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

    /// The name of a repository is that of one which the template or one of its imports defines.
    fn repository(&self, when: &[ElementId], name: Node<'_>) {
        let text = name.text().unwrap_or_default();
        let defined =
            self.documents.iter().filter_map(|document| document.root().get("repositories"));
        let names: Vec<_> =
            defined.flat_map(Node::entries).filter_map(|(key, _)| key.text()).collect();
        if !names.contains(&text) && function(name).is_none() {
            let error =
                Diagnostic::error(Code::UnknownElement, format!("there is no repository `{text}`"));
            self.report_when(
                when,
                &[],
                error.at(name.span()).section(ARTIFACT.section).help_opt(did_you_mean(text, names)),
            );
        }
    }

    /// Checks an artifact that is defined where it is used, in an implementation.
    pub(super) fn inline_artifact(&self, of: Typed<'_>, body: Node<'_>) {
        self.artifact_keynames(of.when, body, &ARTIFACT);
        if let Some(kind) = body.get("type") {
            self.type_at(of.id, Family::Artifact, kind);
        }
        if body.get("file").is_none() {
            let error =
                Diagnostic::error(Code::InvalidTemplate, "an artifact definition has a `file`");
            self.report_when(of.when, &[], error.at(body.span()).section(ARTIFACT.section));
        }
    }

    /// Checks that the file of an artifact is there.
    fn artifact_file(&self, id: ElementId, file: Node<'_>) {
        match file.as_str() {
            Some(name) if self.is_there(file, name) => {}
            Some(name) => {
                let message =
                    format!("the file `{name}` of {} is not there", self.graph.display(id));
                self.missing_file(&[id], file, message, ARTIFACT.section);
            }
            None if function(file).is_some() => {}
            None => self.wrong(&[id], file, "file", "the name of a file", ARTIFACT.section),
        }
    }

    /// Reports a file that should be there. For a template alone that is a warning: nobody says
    /// that all its files are at hand.
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

    /// Whether a file is there, or is one of the network, where nobody looks.
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
