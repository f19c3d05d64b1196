//! Reads the parts of a type definition that the hierarchy uses, and decides which parts of a
//! library are kept.

use super::hierarchy::TypeId;
use crate::tosca::family::Family;
use cuvee_text::yaml::{Node, NodeKind};

/// The metadata key that marks a type as one that is not deployed.
pub(super) const ABSTRACT: &str = "vintner_abstract";

/// The metadata key that marks a type as part of a profile.
const NORMATIVE: &str = "vintner_normative";

/// The interface by which deployment technologies are told apart, and the keyname of its
/// operations.
const MANAGEMENT: [&str; 2] = [MANAGEMENT_INTERFACE, "operations"];

/// The name of that interface.
pub(crate) const MANAGEMENT_INTERFACE: &str = "management";

/// A type definition of which only the name and the parent's name were read.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeOutline<'a> {
    /// Its family.
    pub family: Family,
    /// Its name.
    pub name: &'a str,
    /// The position of its file.
    pub file: usize,
    /// The node that contains the name.
    pub key: Node<'a>,
    /// The map below the name.
    pub body: Node<'a>,
    /// The name of its parent.
    pub parent: Option<Node<'a>>,
    /// The next type of this family and name.
    pub next: Option<TypeId>,
}

impl<'a> TypeOutline<'a> {
    pub(super) fn new(family: Family, file: usize, (key, body): (Node<'a>, Node<'a>)) -> Self {
        let parent = body
            .get("derived_from")
            // The primitive type `null` needs no quotes.
            .filter(|parent| !parent.is_null() || parent.text() == Some("null"))
            .filter(|parent| parent.text().is_some());
        let name = key.text().unwrap_or_default();
        Self { family, name, file, key, body, parent, next: None }
    }

    /// The node of the parent's name, or else of the type's own name.
    pub(super) fn place(&self) -> Node<'a> {
        self.parent.unwrap_or(self.key)
    }

    /// Whether a node type is marked as one that is not deployed.
    pub(super) fn is_abstract(&self) -> bool {
        self.is_marked(ABSTRACT)
    }

    /// Whether a node type is marked as part of a profile, so that it counts as having every
    /// operation.
    pub(super) fn is_normative(&self) -> bool {
        self.is_marked(NORMATIVE)
    }

    fn is_marked(&self, metadata: &str) -> bool {
        let mark = self.body.get("metadata").and_then(|all| all.get(metadata));
        mark.is_some_and(|mark| mark.text() == Some("true"))
    }

    /// The types of the artifacts that a node type defines.
    pub(super) fn artifact_types(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let types = self.parts("artifacts").filter_map(|(_, artifact)| artifact.get("type"));
        types.filter(|name| name.as_str().is_some())
    }

    /// Whether a node type defines an artifact of this name and gives its type.
    pub(super) fn types_artifact(&self, artifact: &str) -> bool {
        let mut own = self.parts("artifacts").filter(|(name, _)| name.text() == Some(artifact));
        own.any(|(_, definition)| definition.get("type").is_some())
    }

    /// The names of the requirements for which a node type gives the relationship type, each with
    /// that type.
    pub(super) fn relationships(&self) -> impl Iterator<Item = (&'a str, Node<'a>)> + use<'a> {
        self.parts("requirements").filter_map(|(name, definition)| {
            let relationship = definition.get("relationship")?;
            let kind = relationship.get("type").unwrap_or(relationship);
            kind.as_str().is_some().then_some((name.text()?, kind))
        })
    }

    /// The entries of a map, or of a list of maps with one entry each. Entries whose value is not a
    /// map are left out.
    fn parts(&self, keyname: &str) -> impl Iterator<Item = (Node<'a>, Node<'a>)> + use<'a> {
        let entries = self.body.get(keyname).into_iter().flat_map(|collection| {
            collection.entries().chain(collection.items().flat_map(Node::entries))
        });
        entries.filter(|(_, value)| value.kind() == NodeKind::Mapping)
    }
}

/// Whether a node type or a node template has this operation for managing nodes.
pub(crate) fn has_management_operation(body: Node<'_>, operation: &str) -> bool {
    let mut operations = body.get("interfaces");
    for key in MANAGEMENT {
        operations = operations.and_then(|node| node.get(key));
    }
    operations.is_some_and(|operations| operations.get(operation).is_some())
}

const TOPOLOGY: &str = "topology_template";

/// [`TOPOLOGY`] as files of TOSCA 2.0 have it.
const SERVICE: &str = "service_template";

/// Whether a path in a library file is kept. A file may have megabytes, but resolving needs few
/// names of it.
pub(crate) fn is_needed(path: &[&str]) -> bool {
    match path {
        [top] => {
            matches!(*top, "imports" | "repositories" | "tosca_definitions_version")
                || has_elements(top)
                || matches!(*top, TOPOLOGY | SERVICE)
        }
        // An imported file contributes its templates.
        [TOPOLOGY | SERVICE, ..] => true,
        ["imports" | "repositories", ..] => true,
        [top, _] => has_elements(top),
        ["node_types", _, "requirements"] | ["node_types", _, "requirements", _] => true,
        ["node_types", _, "requirements", _, "relationship"]
        | ["node_types", _, "requirements", _, "relationship", "type"] => true,
        // Only the names of operations are needed.
        ["node_types", _, "interfaces", path @ ..] => {
            path.len() <= MANAGEMENT.len() + 1 && path.iter().zip(MANAGEMENT).all(|(a, b)| *a == b)
        }
        [_, _, keyword] => matches!(*keyword, "derived_from" | "metadata" | "artifacts"),
        [_, _, "metadata", key] => matches!(*key, ABSTRACT | NORMATIVE),
        [_, _, "artifacts", _] => true,
        [_, _, "artifacts", _, keyword] => *keyword == "type",
        _ => false,
    }
}

fn has_elements(keyword: &str) -> bool {
    Family::of_keyword(keyword).is_some_and(Family::has_elements)
}
