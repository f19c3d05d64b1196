//! The type hierarchy, as far as resolving needs it.
//!
//! A type that nobody defined is its own only ancestor: nothing fails, it just derives from nothing.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::yaml::{Document, Node, NodeKind};
use rustc_hash::FxHashMap;

/// The kinds of types that matter for resolving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// `node_types`
    Node,
    /// `relationship_types`
    Relationship,
    /// `artifact_types`
    Artifact,
    /// `group_types`
    Group,
    /// `policy_types`
    Policy,
}

impl Family {
    const ALL: [Self; 5] = [Self::Node, Self::Relationship, Self::Artifact, Self::Group, Self::Policy];

    /// The keyword under which types of this family are defined.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Node => "node_types",
            Self::Relationship => "relationship_types",
            Self::Artifact => "artifact_types",
            Self::Group => "group_types",
            Self::Policy => "policy_types",
        }
    }
}

/// What to keep of a library: a file of megabytes holds a few names that matter here.
pub fn is_needed(path: &[&str]) -> bool {
    match path {
        [top] => *top == "imports" || is_family(top),
        ["imports", ..] => true,
        [top, _] => is_family(top),
        [_, _, keyword] => matches!(*keyword, "derived_from" | "metadata" | "artifacts"),
        [_, _, "metadata", key] => *key == ABSTRACT,
        [_, _, "artifacts", _] => true,
        [_, _, "artifacts", _, keyword] => *keyword == "type",
        _ => false,
    }
}

fn is_family(keyword: &str) -> bool {
    Family::ALL.iter().any(|family| family.keyword() == keyword)
}

/// The metadata by which a type says that nothing deploys it.
const ABSTRACT: &str = "vintner_abstract";

/// All types, by name.
#[derive(Debug, Default)]
pub struct TypeHierarchy<'a> {
    families: [FxHashMap<&'a str, Definition<'a>>; 5],
}

#[derive(Clone, Copy, Debug)]
struct Definition<'a> {
    parent: Option<Node<'a>>,
    body: Node<'a>,
}

impl<'a> TypeHierarchy<'a> {
    /// The types of these documents; of a type defined more than once the first definition counts.
    ///
    /// # Errors
    /// `cyclic-type` for each cycle of derivation.
    pub fn of(documents: impl IntoIterator<Item = &'a Document>) -> Result<Self, Diagnostics> {
        let mut types = Self::default();
        for document in documents {
            for (key, definitions) in document.root().entries() {
                let family = Family::ALL.into_iter().find(|family| key.text() == Some(family.keyword()));
                if let Some(family) = family {
                    types.define(family, definitions);
                }
            }
        }
        let mut diagnostics = Diagnostics::default();
        types.families.iter().for_each(|family| check_cycles(family, &mut diagnostics));
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(types) }
    }

    fn define(&mut self, family: Family, definitions: Node<'a>) {
        let known = &mut self.families[family as usize];
        for (key, body) in definitions.entries() {
            let parent = body.get("derived_from").filter(|parent| parent.as_str().is_some());
            known.entry(key.text().unwrap_or_default()).or_insert(Definition { parent, body });
        }
    }

    /// Whether the type is defined.
    pub fn is_defined(&self, family: Family, name: &str) -> bool {
        self.families[family as usize].contains_key(name)
    }

    /// The type and its ancestors, the type first.
    pub fn chain<'t>(&'t self, family: Family, name: &'t str) -> impl Iterator<Item = &'t str> {
        let known = &self.families[family as usize];
        std::iter::successors(Some(name), |name| known.get(name)?.parent?.text())
    }

    /// Whether the type is the ancestor or derives from it.
    pub fn is_a(&self, family: Family, name: &str, ancestor: &str) -> bool {
        self.chain(family, name).any(|one| one == ancestor)
    }

    /// Whether a node type says that nothing deploys it; a derived type says so itself.
    pub fn is_abstract(&self, node_type: &str) -> bool {
        let body = self.families[Family::Node as usize].get(node_type).map(|definition| definition.body);
        let mark = body.and_then(|body| body.get("metadata")?.get(ABSTRACT));
        mark.is_some_and(|mark| mark.text() == Some("true"))
    }

    /// The types of the artifacts that a node type and its ancestors define.
    pub fn artifact_types<'t>(&'t self, node_type: &'t str) -> impl Iterator<Item = &'t str> {
        let known = &self.families[Family::Node as usize];
        let bodies = self.chain(Family::Node, node_type).filter_map(|name| known.get(name));
        let artifacts = bodies.filter_map(|definition| definition.body.get("artifacts"));
        artifacts.flat_map(named).filter_map(|artifact| artifact.get("type")?.as_str())
    }
}

/// The values of a map, or of a list of maps with one entry each.
fn named(collection: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let lists = collection.items().flat_map(|item| item.entries().map(|(_, value)| value));
    let maps = collection.entries().map(|(_, value)| value);
    maps.chain(lists).filter(|value| value.kind() == NodeKind::Mapping)
}

/// Each type is walked once: a walk ends at a type that an earlier walk has passed.
fn check_cycles<'a>(family: &FxHashMap<&'a str, Definition<'a>>, diagnostics: &mut Diagnostics) {
    let mut walk_of: FxHashMap<&str, usize> = FxHashMap::default();
    let mut names: Vec<_> = family.keys().copied().collect();
    names.sort_unstable();
    for (walk, start) in names.into_iter().enumerate() {
        let mut current = Some(start);
        while let Some(name) = current {
            match walk_of.get(name) {
                Some(&seen) if seen == walk => {
                    diagnostics.push(cycle(family, name));
                    break;
                }
                Some(_) => break,
                None => walk_of.insert(name, walk),
            };
            current = family.get(name).and_then(|definition| definition.parent?.text());
        }
    }
}

fn cycle<'a>(family: &FxHashMap<&'a str, Definition<'a>>, start: &str) -> Diagnostic {
    let parent = |name: &str| family.get(name).and_then(|definition| definition.parent);
    let mut names = vec![start];
    let mut current = parent(start).and_then(Node::text);
    while let Some(name) = current.filter(|&name| name != start) {
        names.push(name);
        current = parent(name).and_then(Node::text);
    }
    names.push(start);
    Diagnostic::error(Code::CyclicType, format!("a type derives from itself: {}", names.join(" -> ")))
        .at(parent(start).map(Node::span))
        .help("let one of them derive from something else")
}
