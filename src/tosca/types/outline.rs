//! What the hierarchy reads of a type definition, and what of a library is kept for that.

use super::hierarchy::TypeId;
use crate::text::yaml::{Node, NodeKind};
use crate::tosca::family::Family;

/// The metadata by which a type says that nothing deploys it.
pub(super) const ABSTRACT: &str = "vintner_abstract";

/// The metadata by which a type says that it is of a profile.
const NORMATIVE: &str = "vintner_normative";

/// The interface that deployment technologies are told apart by, and the key of its operations.
const MANAGEMENT: [&str; 2] = ["management", "operations"];

/// A type definition, of which nothing is read but its name and the name of its parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeOutline<'a> {
    /// Its family.
    pub family: Family,
    /// Its name.
    pub name: &'a str,
    /// The position of its file.
    pub file: usize,
    /// Where the name stands.
    pub key: Node<'a>,
    /// What stands behind it.
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

    /// The parent, or else the type itself.
    pub(super) fn place(&self) -> Node<'a> {
        self.parent.unwrap_or(self.key)
    }

    /// Whether a node type says that nothing deploys it.
    pub(super) fn is_abstract(&self) -> bool {
        self.is_marked(ABSTRACT)
    }

    /// Whether a node type says that it is of a profile, so that it has whatever operations are asked
    /// for.
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

    /// Whether a node type defines an artifact of this name, and its type.
    pub(super) fn types_artifact(&self, artifact: &str) -> bool {
        let mut own = self.parts("artifacts").filter(|(name, _)| name.text() == Some(artifact));
        own.any(|(_, definition)| definition.get("type").is_some())
    }

    /// The relationship type that a node type says a requirement to have.
    pub(super) fn relationship(&self, requirement: &str) -> Option<Node<'a>> {
        let own = self.parts("requirements").filter(|(name, _)| name.text() == Some(requirement));
        own.filter_map(|(_, definition)| definition.get("relationship")).find_map(|relationship| {
            let name = relationship.get("type").unwrap_or(relationship);
            name.as_str().is_some().then_some(name)
        })
    }

    /// The entries of a map, or of a list of maps with one entry each, where they are maps.
    fn parts(&self, keyname: &str) -> impl Iterator<Item = (Node<'a>, Node<'a>)> + use<'a> {
        let entries = self.body.get(keyname).into_iter().flat_map(|collection| {
            collection.entries().chain(collection.items().flat_map(Node::entries))
        });
        entries.filter(|(_, value)| value.kind() == NodeKind::Mapping)
    }
}

/// Whether a node type or a node template has an operation by which it is managed.
pub(crate) fn has_management_operation(body: Node<'_>, operation: &str) -> bool {
    let mut operations = body.get("interfaces");
    for key in MANAGEMENT {
        operations = operations.and_then(|node| node.get(key));
    }
    operations.is_some_and(|operations| operations.get(operation).is_some())
}

const TOPOLOGY: &str = "topology_template";

/// What to keep of a library: a file of megabytes holds a few names that matter for resolving.
pub(crate) fn is_needed(path: &[&str]) -> bool {
    match path {
        [top] => {
            matches!(*top, "imports" | "repositories" | "tosca_definitions_version")
                || has_elements(top)
                || *top == TOPOLOGY
        }
        // What is imported brings its templates along.
        [TOPOLOGY, ..] => true,
        ["imports" | "repositories", ..] => true,
        [top, _] => has_elements(top),
        ["node_types", _, "requirements"] | ["node_types", _, "requirements", _] => true,
        ["node_types", _, "requirements", _, "relationship"]
        | ["node_types", _, "requirements", _, "relationship", "type"] => true,
        // Of the operations only the names.
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
