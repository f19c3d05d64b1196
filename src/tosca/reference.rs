//! Finds the files that a service template names: imports, artifacts, implementations of
//! operations, and repositories that are directories.

use super::Family;
use super::import::{ImportDefinition, is_profile, is_url, repository_address};
use super::shape::{INTERFACE, Shape, of_type};
use super::v2_0;
use cuvee_text::yaml::{Node, NodeKind};
use std::path::Path;

/// The kind of place where a file is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceKind {
    Import,
    Artifact,
    /// The implementation of an operation. It may also be the name of an artifact.
    Implementation,
    /// The address of a repository, to which other names are relative.
    Repository,
}

/// A relative name that may be the name of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileReference<'a> {
    pub kind: ReferenceKind,
    /// The node that contains the name.
    pub node: Node<'a>,
    pub name: &'a str,
    /// The address of the repository that contains the file.
    pub repository: Option<&'a str>,
}

/// Finds all relative file names in a service template.
pub(crate) fn references(root: Node<'_>) -> Vec<FileReference<'_>> {
    let mut found = References { root, found: Vec::new() };
    for import in ImportDefinition::all(root).filter(|import| !import.is_profile) {
        let file = import.body.get("file").unwrap_or(import.body);
        found.add(ReferenceKind::Import, file, import.repository);
    }
    for (_, definition) in entries(root, "repositories") {
        found.add(ReferenceKind::Repository, definition.get("url").unwrap_or(definition), None);
    }
    for family in Family::ALL {
        entries(root, family.keyword()).for_each(|(_, body)| found.parts(body));
    }
    for (_, body) in entries(root, Family::Interface.keyword()) {
        found.interface(body, of_type(Family::Interface), &[]);
    }
    found.functions(root);
    if let Some(topology) = root.get("topology_template") {
        found.functions(topology);
        for section in ["node_templates", "relationship_templates", "groups"] {
            entries(topology, section).for_each(|(_, body)| found.parts(body));
        }
        for (_, workflow) in entries(topology, "workflows") {
            found.implementations(workflow.get("implementation"), &[]);
        }
    }
    found.found
}

/// The operations of an interface. Without `operations` and `notifications`, these are all entries
/// that are not keynames (section 3.6.20.3).
pub(crate) fn operations<'n>(
    body: Node<'n>,
    shape: &'static Shape,
) -> impl Iterator<Item = (Node<'n>, Node<'n>)> {
    let grouped = body.get("operations").is_some() || body.get("notifications").is_some();
    let within = if grouped { body.get("operations") } else { Some(body) };
    let is_operation =
        move |key: Node<'_>| grouped || !key.text().is_some_and(|key| shape.has(key));
    within.into_iter().flat_map(Node::entries).filter(move |(key, _)| is_operation(*key))
}

/// The artifacts of an implementation in its short or extended form: names and definitions.
pub(crate) fn implementing_artifacts<'n>(
    implementation: Node<'n>,
) -> impl Iterator<Item = Node<'n>> {
    let whole =
        matches!(implementation.kind(), NodeKind::Scalar) || implementation.get("file").is_some();
    let dependencies = implementation.get("dependencies").into_iter().flat_map(Node::items);
    let parts = implementation.get("primary").into_iter().chain(dependencies);
    whole.then_some(implementation).into_iter().chain(parts)
}

fn entries<'n>(node: Node<'n>, key: &str) -> impl Iterator<Item = (Node<'n>, Node<'n>)> {
    node.get(key).into_iter().flat_map(Node::entries)
}

struct References<'a> {
    root: Node<'a>,
    found: Vec<FileReference<'a>>,
}

impl<'a> References<'a> {
    /// Adds a name, unless it is a URL, an absolute path, or the name of the TOSCA profile. The
    /// absolute paths of imports of TOSCA 2.0 may start at the root of an archive (section 6.8.2).
    fn add(&mut self, kind: ReferenceKind, node: Node<'a>, repository: Option<Node<'a>>) {
        let may_be_rooted = kind == ReferenceKind::Import && v2_0::is_of(self.root.document());
        let is_meant = |name: &&str| is_path(name) && (may_be_rooted || !is_rooted(name));
        let Some(name) = node.as_str().filter(is_meant) else { return };
        let repository = match repository.map(|name| repository_address(self.root, name.as_str()?))
        {
            None => None,
            Some(Some(address)) if !is_url(address) => Some(address),
            // The content of a remote repository is not available as a file.
            Some(_) => return,
        };
        self.found.push(FileReference { kind, node, name, repository });
    }

    /// Adds the files that a type or a template names: in artifacts, in interfaces, and in the
    /// interfaces of its requirements' relationships.
    fn parts(&mut self, body: Node<'a>) {
        for (_, artifact) in entries(body, "artifacts") {
            self.artifact(ReferenceKind::Artifact, artifact);
        }
        let names: Vec<_> = entries(body, "artifacts").filter_map(|(key, _)| key.text()).collect();
        self.interfaces(body, &names);
        let requirements = body.get("requirements").into_iter().flat_map(Node::items);
        for (_, requirement) in requirements.flat_map(Node::entries) {
            requirement.get("relationship").into_iter().for_each(|it| self.interfaces(it, &[]));
        }
    }

    /// Adds an artifact, given by its definition or only by the name of its file. `alone` is the
    /// kind of a name without a definition.
    fn artifact(&mut self, alone: ReferenceKind, artifact: Node<'a>) {
        let file = artifact.get("file");
        let kind = if file.is_some() { ReferenceKind::Artifact } else { alone };
        self.add(kind, file.unwrap_or(artifact), artifact.get("repository"));
    }

    fn interfaces(&mut self, body: Node<'a>, artifacts: &[&str]) {
        entries(body, "interfaces").for_each(|(_, it)| self.interface(it, &INTERFACE, artifacts));
    }

    fn interface(&mut self, body: Node<'a>, shape: &'static Shape, artifacts: &[&str]) {
        for (_, operation) in operations(body, shape).chain(entries(body, "notifications")) {
            let short = Some(operation).filter(|it| it.kind() == NodeKind::Scalar);
            self.implementations(short.or_else(|| operation.get("implementation")), artifacts);
        }
    }

    /// Adds the implementations of the functions that TOSCA 2.0 declares (section 10.4).
    fn functions(&mut self, body: Node<'a>) {
        for (_, function) in entries(body, "functions") {
            let signatures = function.get("signatures").into_iter().flat_map(Node::items);
            signatures.for_each(|it| self.implementations(it.get("implementation"), &[]));
        }
    }

    /// Adds the implementations of an operation that are not artifacts of the same element.
    fn implementations(&mut self, implementation: Option<Node<'a>>, artifacts: &[&str]) {
        let made_of = implementation.into_iter().flat_map(implementing_artifacts);
        for part in made_of.filter(|part| !part.text().is_some_and(|it| artifacts.contains(&it))) {
            self.artifact(ReferenceKind::Implementation, part);
        }
    }
}

fn is_path(name: &str) -> bool {
    !name.is_empty() && !is_url(name) && !is_profile(name)
}

/// Whether a name is an absolute path.
pub(crate) fn is_rooted(name: &str) -> bool {
    Path::new(name).has_root()
}
