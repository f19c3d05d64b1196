//! The type hierarchy, as far as resolving needs it.
//!
//! A type that nobody defined is its own only ancestor: nothing fails, it just derives from
//! nothing.

use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::text::source::FileId;
use crate::text::yaml::{Document, Node, NodeKind};
use crate::tosca::types::scope::{Links, Scopes};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

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
    const ALL: [Self; 5] =
        [Self::Node, Self::Relationship, Self::Artifact, Self::Group, Self::Policy];

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
        [top] => matches!(*top, "imports" | "repositories") || is_family(top),
        ["imports" | "repositories", ..] => true,
        [top, _] => is_family(top),
        ["node_types", _, "requirements"] | ["node_types", _, "requirements", _] => true,
        ["node_types", _, "requirements", _, "relationship"]
        | ["node_types", _, "requirements", _, "relationship", "type"] => true,
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

/// The relationship type of hosting.
const HOSTED_ON: &str = "tosca.relationships.HostedOn";

/// What the full names of normative relationship types start with.
const NORMATIVE: &str = "tosca.relationships.";

/// By which other names normative relationship types go, with or without the prefix of TOSCA.
const RELATIONSHIPS: [&str; 10] = [
    "Root",
    "DependsOn",
    "HostedOn",
    "ConnectsTo",
    "AttachesTo",
    "RoutesTo",
    "LinksTo",
    "BindsTo",
    "network.LinksTo",
    "network.BindsTo",
];

/// All types, by the names that the template has for them: what it imports with a prefix has that
/// in front.
#[derive(Debug, Default)]
pub struct TypeHierarchy<'a> {
    families: [FxHashMap<Cow<'a, str>, Definition<'a>>; 5],
    /// Where names have prefixes, what it takes to tell them.
    prefixed: Option<Prefixed<'a>>,
}

#[derive(Clone, Copy, Debug)]
struct Definition<'a> {
    parent: Option<Node<'a>>,
    body: Node<'a>,
}

/// What names mean in files of which some are imported with a prefix.
#[derive(Debug)]
struct Prefixed<'a> {
    scopes: Scopes,
    /// The prefixes by which the template calls what is in each file.
    ways: Vec<String>,
    /// By which names types are defined.
    defined: [FxHashMap<&'a str, Vec<Defined<'a>>>; 5],
}

/// The position of the file in which a type is defined, and for the scopes the same with its name
/// there.
type Defined<'a> = (usize, (usize, &'a str));

impl Prefixed<'_> {
    /// The name that the template has for what a name means in a file.
    fn name(&self, family: Family, name: &str, file: Option<FileId>) -> Option<String> {
        let defined = &self.defined[family as usize];
        let known = |name: &str| defined.get(name).map_or(&[][..], Vec::as_slice);
        let found = self
            .scopes
            .find(file, name, known)
            .or_else(|| self.scopes.find_around(file, known(name)));
        // Resolving does without a prefix as well.
        let (file, local) = found.or_else(|| known(name).first().map(|(_, found)| *found))?;
        Some(format!("{}{local}", self.ways.get(file)?))
    }
}

impl<'a> TypeHierarchy<'a> {
    /// The types of these documents; of a type defined more than once the first definition counts.
    ///
    /// # Errors
    /// `cyclic-type` for each cycle of derivation.
    pub fn of(
        documents: impl IntoIterator<Item = &'a Document>,
        links: &Links,
    ) -> Result<Self, Diagnostics> {
        let mut types = Self::default();
        let documents: Vec<_> = documents.into_iter().collect();
        if links.have_prefixes() {
            let files: Vec<_> = documents.iter().map(|document| document.file()).collect();
            let mut ways = links.ways();
            let ways = files.iter().map(|file| ways.remove(file).unwrap_or_default()).collect();
            types.prefixed = Some(Prefixed {
                scopes: Scopes::of(&files, links),
                ways,
                defined: Default::default(),
            });
        }
        for (file, document) in documents.into_iter().enumerate() {
            for (key, definitions) in document.root().entries() {
                let family =
                    Family::ALL.into_iter().find(|family| key.text() == Some(family.keyword()));
                if let Some(family) = family {
                    types.define(family, definitions, file);
                }
            }
        }
        let mut diagnostics = Diagnostics::default();
        Family::ALL.into_iter().for_each(|family| types.check_cycles(family, &mut diagnostics));
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(types) }
    }

    fn define(&mut self, family: Family, definitions: Node<'a>, file: usize) {
        let known = &mut self.families[family as usize];
        for (key, body) in definitions.entries() {
            let parent = body.get("derived_from").filter(|parent| parent.as_str().is_some());
            let mut name = Cow::Borrowed(key.text().unwrap_or_default());
            if let Some(prefixed) = &mut self.prefixed {
                let local = key.text().unwrap_or_default();
                prefixed.defined[family as usize]
                    .entry(local)
                    .or_default()
                    .push((file, (file, local)));
                if let Some(way) = prefixed.ways.get(file).filter(|way| !way.is_empty()) {
                    name = Cow::Owned(format!("{way}{local}"));
                }
            }
            known.entry(name).or_insert(Definition { parent, body });
        }
    }

    fn definition(&self, family: Family, name: &str) -> Option<Definition<'a>> {
        self.families[family as usize].get(name).copied()
    }

    /// The name that stands here for what a name in a file means; in the template, where no file is
    /// given.
    fn meaning<'t>(&'t self, family: Family, name: &'t str, file: Option<FileId>) -> &'t str {
        let Some(prefixed) = &self.prefixed else { return name };
        let full = prefixed.name(family, name, file);
        full.and_then(|full| self.families[family as usize].get_key_value(full.as_str()))
            .map_or(name, |(known, _)| known)
    }

    /// The name that stands here for what the template means by a name.
    pub fn canonical<'t>(&'t self, family: Family, name: &'t str) -> &'t str {
        self.meaning(family, name, None)
    }

    fn at<'t>(&'t self, family: Family, name: Node<'t>) -> Option<&'t str> {
        Some(self.meaning(family, name.text()?, Some(name.document().file())))
    }

    fn parent<'t>(&'t self, family: Family, name: &str) -> Option<&'t str> {
        self.at(family, self.definition(family, name)?.parent?)
    }

    /// Whether the type is defined.
    pub fn is_defined(&self, family: Family, name: &str) -> bool {
        self.definition(family, self.canonical(family, name)).is_some()
    }

    /// The type and its ancestors, the type first.
    pub fn chain<'t>(&'t self, family: Family, name: &'t str) -> impl Iterator<Item = &'t str> {
        std::iter::successors(Some(self.canonical(family, name)), move |name| {
            self.parent(family, name)
        })
    }

    /// Whether the type is the ancestor or derives from it.
    pub fn is_a(&self, family: Family, name: &str, ancestor: &str) -> bool {
        let ancestor = self.canonical(family, ancestor);
        self.chain(family, name).any(|one| one == ancestor)
    }

    /// Whether a node type says that nothing deploys it; a derived type says so itself.
    pub fn is_abstract(&self, node_type: &str) -> bool {
        let definition = self.definition(Family::Node, self.canonical(Family::Node, node_type));
        let mark = definition.and_then(|definition| definition.body.get("metadata")?.get(ABSTRACT));
        mark.is_some_and(|mark| mark.text() == Some("true"))
    }

    /// What a node type and its ancestors have under a keyname, the type first.
    fn parts<'t>(
        &'t self,
        node_type: &'t str,
        keyname: &'static str,
    ) -> impl Iterator<Item = (Node<'t>, Node<'t>)> {
        let bodies = self
            .chain(Family::Node, node_type)
            .filter_map(|name| self.definition(Family::Node, name));
        bodies.filter_map(move |definition| definition.body.get(keyname)).flat_map(named)
    }

    /// The types of the artifacts that a node type and its ancestors define.
    pub fn artifact_types<'t>(&'t self, node_type: &'t str) -> impl Iterator<Item = &'t str> {
        let types =
            self.parts(node_type, "artifacts").filter_map(|(_, artifact)| artifact.get("type"));
        types
            .filter(|name| name.as_str().is_some())
            .filter_map(|name| self.at(Family::Artifact, name))
    }

    /// Whether a relationship type is one of hosting; nothing where nobody defines it.
    pub fn is_hosting(&self, relationship: &str) -> Option<bool> {
        let last = self.chain(Family::Relationship, relationship).last().unwrap_or(relationship);
        // What somebody defines goes before the other names of normative types.
        let normative =
            Some(last).filter(|last| self.definition(Family::Relationship, last).is_none());
        let normative = normative.map(|last| {
            last.strip_prefix(NORMATIVE).unwrap_or(last.strip_prefix("tosca:").unwrap_or(last))
        });
        let is_known = last.starts_with(NORMATIVE)
            || normative.is_none_or(|last| RELATIONSHIPS.contains(&last));
        let is_defined = is_known || self.is_defined(Family::Relationship, relationship);
        is_defined.then(|| {
            normative == Some("HostedOn")
                || self.is_a(Family::Relationship, relationship, HOSTED_ON)
        })
    }

    /// Whether the relationships of a requirement are those of hosting, where the node type or an
    /// ancestor says what they are.
    pub fn is_hosting_requirement(&self, node_type: &str, requirement: &str) -> Option<bool> {
        let own = self
            .parts(node_type, "requirements")
            .filter(|(name, _)| name.text() == Some(requirement));
        let relationship = own
            .filter_map(|(_, definition)| definition.get("relationship"))
            .find_map(|relationship| {
                relationship
                    .get("type")
                    .or(Some(relationship))
                    .filter(|name| name.as_str().is_some())
            });
        self.is_hosting(self.at(Family::Relationship, relationship?)?)
    }

    /// Each type is walked once: a walk ends at a type that an earlier walk has passed.
    fn check_cycles(&self, family: Family, diagnostics: &mut Diagnostics) {
        let mut walk_of: FxHashMap<&str, usize> = FxHashMap::default();
        let mut names: Vec<&str> =
            self.families[family as usize].keys().map(|name| &**name).collect();
        names.sort_unstable();
        for (walk, start) in names.into_iter().enumerate() {
            let mut current = Some(start);
            while let Some(name) = current {
                match walk_of.get(name) {
                    Some(&seen) if seen == walk => {
                        diagnostics.push(self.cycle(family, name));
                        break;
                    }
                    Some(_) => break,
                    None => walk_of.insert(name, walk),
                };
                current = self.parent(family, name);
            }
        }
    }

    fn cycle(&self, family: Family, start: &str) -> Diagnostic {
        let mut names = vec![start];
        let mut current = self.parent(family, start);
        while let Some(name) = current.filter(|&name| name != start) {
            names.push(name);
            current = self.parent(family, name);
        }
        names.push(start);
        let place = self.definition(family, start).and_then(|definition| definition.parent);
        Diagnostic::error(
            Code::CyclicType,
            format!("a type derives from itself: {}", names.join(" -> ")),
        )
        .at(place.map(Node::span))
        .help("let one of them derive from something else")
    }
}

/// The entries of a map, or of a list of maps with one entry each, where they are maps.
fn named(collection: Node<'_>) -> impl Iterator<Item = (Node<'_>, Node<'_>)> {
    let lists = collection.items().flat_map(Node::entries);
    collection.entries().chain(lists).filter(|(_, value)| value.kind() == NodeKind::Mapping)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tosca::{Family as Families, TypeRef, Types, profile};

    fn is_hosting_by_name(requirement: &str) -> bool {
        requirement.split('_').any(|word| word == "host")
    }

    /// So resolving need not know the node types of the profiles.
    #[test]
    fn names_of_normative_requirements_tell_which_are_for_hosts() {
        let types = Types::of([profile::normative(), profile::non_normative()]);
        let hosted_on = TypeRef::Defined(types.find(Families::Relationship, HOSTED_ON).unwrap());
        let nodes = types.ids().filter(|id| types.definition(*id).family == Families::Node);
        let mut count = 0;
        for requirement in nodes.flat_map(|id| types.effective(id).requirements.values()) {
            if let Some(relationship) = requirement.definition.relationship {
                let relationship =
                    types.find(Families::Relationship, relationship.text().unwrap()).unwrap();
                let is_hosting = types.derives(TypeRef::Defined(relationship), hosted_on);
                assert_eq!(
                    is_hosting,
                    is_hosting_by_name(requirement.named.name),
                    "{}",
                    requirement.named.name
                );
                count += 1;
            }
        }
        assert!(count > 20, "{count}");
    }

    #[test]
    fn normative_relationship_types_are_known_by_all_their_names() {
        let types = Types::of([profile::normative()]);
        let none = TypeHierarchy::default();
        let hosted_on = types.find(Families::Relationship, HOSTED_ON);
        for definition in types
            .ids()
            .map(|id| types.definition(id))
            .filter(|it| it.family == Families::Relationship)
        {
            let short = definition.name.strip_prefix(NORMATIVE).unwrap();
            let metadata = definition.value.get("metadata").unwrap();
            let others = ["shorthand", "qualified", "aliases"]
                .into_iter()
                .filter_map(|key| metadata.get(key)?.as_str());
            for name in others.flat_map(|names| names.split(' ')).chain([definition.name, short]) {
                let expected = types.find(Families::Relationship, name) == hosted_on;
                assert_eq!(none.is_hosting(name), Some(expected), "{name}");
            }
        }
        assert_eq!(none.is_hosting("Hosted"), None);
    }
}
