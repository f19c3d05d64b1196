//! Parses the entities of a topology template, each kind with its own parser.

use super::conditional::{Declared, PartPosition, boolean, invalid};
use super::plain;
use super::shape::{self, COMMON};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::profile::RESERVED_NAMES;
use crate::tosca::shape::{Reading, Vocabulary};
use crate::tosca::v2_0;
use crate::variability::element::ElementKind;
use cuvee_text::case::lower_case;
use cuvee_text::decimal::Decimal;
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, NodeKind, missing_blank};
use std::ops::{Deref, DerefMut};
use std::slice;

/// A node template ("Node Template").
#[derive(Clone, Debug)]
pub(crate) struct NodeTemplate<'a> {
    /// Its name, places and variability settings.
    pub declared: Declared<'a>,
    /// The alternatives of its type; `type: T` is a single alternative without conditions.
    pub types: TypeAssignments<'a>,
    /// Property assignments.
    pub properties: Box<[Property<'a>]>,
    /// Requirement assignments: its outgoing relations.
    pub requirements: Box<[Requirement<'a>]>,
    /// Deployment artifacts.
    pub artifacts: Box<[Artifact<'a>]>,
    /// The deployment technologies that the author named.
    pub technologies: Box<[Technology<'a>]>,
    /// `persistent`, alias `anchor`
    pub persistent: bool,
    /// The author's value of `managed`, if there is one.
    pub managed: Option<bool>,
    /// The cost of its presence.
    pub weight: Decimal,
    /// Whether it has maps or lists other than the [`NODE_PARTS`].
    pub has_rest: bool,
}

/// The keynames of a node template whose values are its elements and its conditions.
pub(crate) const NODE_PARTS: &[&str] =
    &["type", "properties", "requirements", "artifacts", "technology", "conditions", "implies"];

/// The keynames of a requirement whose values are its elements and its conditions.
pub(crate) const REQUIREMENT_PARTS: &[&str] = &["relationship", "conditions", "implies"];

/// The keynames of a relationship template whose values are its elements.
pub(crate) const RELATIONSHIP_PARTS: &[&str] = &["type", "properties", "conditions", "implies"];

/// Whether this entry is a map or a list under another keyname.
fn is_rest(key: &str, value: Node<'_>, parts: &[&str]) -> bool {
    value.kind() != NodeKind::Scalar && !parts.contains(&key)
}

/// The alternatives of a type.
#[derive(Clone, Debug)]
pub(crate) enum TypeAssignments<'a> {
    /// Mostly there is one, which is kept in place.
    One(TypeAssignment<'a>),
    /// Several, or none.
    Many(Box<[TypeAssignment<'a>]>),
}

impl Default for TypeAssignments<'_> {
    fn default() -> Self {
        Self::Many(Box::default())
    }
}

impl<'a> Deref for TypeAssignments<'a> {
    type Target = [TypeAssignment<'a>];

    fn deref(&self) -> &Self::Target {
        match self {
            Self::One(only) => slice::from_ref(only),
            Self::Many(all) => all,
        }
    }
}

impl DerefMut for TypeAssignments<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::One(only) => slice::from_mut(only),
            Self::Many(all) => all,
        }
    }
}

/// A type assignment ("Type Assignment").
#[derive(Clone, Debug)]
pub(crate) struct TypeAssignment<'a> {
    /// Its name, places and variability settings.
    pub declared: Declared<'a>,
    /// Whether it is written as in plain TOSCA, so that it cannot be an alternative.
    pub is_plain: bool,
}

/// The value of a property assignment.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PropertyValue<'a> {
    /// A literal value.
    Value(Node<'a>),
    /// The value of a value expression.
    Expression(Node<'a>),
}

/// A property assignment ("Property Assignment").
#[derive(Clone, Debug)]
pub(crate) struct Property<'a> {
    /// Its name, places and variability settings.
    pub declared: Declared<'a>,
    /// The assigned value.
    pub value: PropertyValue<'a>,
}

/// A requirement assignment ("Requirement Assignment"): a relation of the node.
#[derive(Clone, Debug)]
pub(crate) struct Requirement<'a> {
    /// Its name, places and variability settings.
    pub declared: Declared<'a>,
    target: PartPosition,
    relationship: PartPosition,
    /// Whether a `node_filter` lets an orchestrator choose the target, so that `node` may name a
    /// type.
    pub filtered: bool,
    /// A relationship template that is written inline.
    pub inline: Option<Box<RelationshipTemplate<'a>>>,
    /// Whether it has maps or lists other than the [`REQUIREMENT_PARTS`].
    pub has_rest: bool,
}

impl<'a> Requirement<'a> {
    /// The name of its target; `None` if the target is left to an orchestrator.
    pub(crate) fn target(&self) -> Option<Node<'a>> {
        self.declared.part(self.target)
    }

    /// The place where its target is named, or its own name if no target is.
    pub(crate) fn target_span(&self) -> Span {
        self.target().unwrap_or(self.declared.key()).span()
    }

    /// The name of its relationship template.
    pub(crate) fn relationship(&self) -> Option<Node<'a>> {
        self.declared.part(self.relationship)
    }

    /// Sets the target, which is no target if it is null.
    fn aim(&mut self, target: Node<'a>) {
        self.target =
            if target.is_null() { PartPosition::default() } else { PartPosition::of(target) };
    }
}

/// A relationship template ("Relationship Templates"), which is present if the relation that uses
/// it is.
#[derive(Clone, Debug)]
pub(crate) struct RelationshipTemplate<'a> {
    /// Its name and places; the name of an inline template is the keyname `relationship`. It has no
    /// variability of its own.
    pub declared: Declared<'a>,
    /// The alternatives of its type.
    pub types: TypeAssignments<'a>,
    /// Property assignments.
    pub properties: Box<[Property<'a>]>,
    /// Whether it has maps or lists other than the [`RELATIONSHIP_PARTS`].
    pub has_rest: bool,
}

/// A deployment artifact ("Artifact Template").
#[derive(Clone, Debug)]
pub(crate) struct Artifact<'a> {
    /// Its name, places and variability settings.
    pub declared: Declared<'a>,
    /// The alternatives of its type; empty if it has the default type.
    pub types: TypeAssignments<'a>,
    /// Property assignments.
    pub properties: Box<[Property<'a>]>,
}

/// A deployment technology of a node ("Technology Template").
#[derive(Clone, Debug)]
pub(crate) struct Technology<'a> {
    /// Its name, places and variability settings.
    pub declared: Declared<'a>,
    /// The name in lower case.
    pub name: String,
    /// The weight of its presence, if the author gives one.
    pub weight: Option<Decimal>,
    /// The type that it assigns, if the author names one.
    pub assign: Option<&'a str>,
    /// The type of the artifact that it manages, if the author names one.
    pub artifact: Option<&'a str>,
}

/// A member of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'a> {
    /// The node of the whole entry.
    pub item: Node<'a>,
    /// The name of the node.
    pub node: Node<'a>,
    /// The name or position of a relation of that node, if the relation is the member.
    pub relation: Option<Node<'a>>,
}

/// A group ("Group Template").
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    /// Its name, places and variability settings.
    pub declared: Declared<'a>,
    /// The alternatives of its type.
    pub types: TypeAssignments<'a>,
    /// Property assignments.
    pub properties: Box<[Property<'a>]>,
    /// Its members.
    pub members: Box<[Member<'a>]>,
}

/// A policy ("Policy Template").
#[derive(Clone, Debug)]
pub(crate) struct Policy<'a> {
    /// Its name, places and variability settings.
    pub declared: Declared<'a>,
    /// The alternatives of its type.
    pub types: TypeAssignments<'a>,
    /// Property assignments.
    pub properties: Box<[Property<'a>]>,
    /// The names of its targets, which are nodes and groups.
    pub targets: Box<[Node<'a>]>,
}

/// A topology template input or output ("Topology Template Input", "Topology Template Output").
#[derive(Clone, Debug)]
pub(crate) struct Parameter<'a> {
    /// Its name, places and variability settings.
    pub declared: Declared<'a>,
}

/// An entry of a collection that is a map or a list of maps with one entry each.
#[derive(Clone, Copy, Debug)]
pub(super) struct CollectionEntry<'a> {
    pub key: Node<'a>,
    pub value: Option<Node<'a>>,
}

/// The entries of a collection in their original order.
pub(super) fn entries<'a>(
    collection: Node<'a>,
    what: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<CollectionEntry<'a>> {
    let entries = named_entries(collection, what, diagnostics);
    for bare in entries.iter().filter(|entry| entry.value.is_none()) {
        let name = bare.key.text().unwrap_or_default();
        let error = invalid(
            bare.key,
            format!("an item in a list of {what} has to be a map with one entry"),
        );
        let help = missing_blank(name).unwrap_or_else(|| format!("write `- {name}: ...`"));
        diagnostics.push(error.help(help));
    }
    entries
}

/// Like [`entries`], but a bare string in a list is an entry that has only a name.
fn named_entries<'a>(
    collection: Node<'a>,
    what: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<CollectionEntry<'a>> {
    match collection.kind() {
        NodeKind::Mapping => collection
            .entries()
            .map(|(key, value)| CollectionEntry { key, value: Some(value) })
            .collect(),
        NodeKind::Sequence => {
            collection.items().filter_map(|item| diagnostics.ok(single(item, what))).collect()
        }
        NodeKind::Scalar if collection.is_null() => Vec::new(),
        NodeKind::Scalar => {
            let message = format!("{what} have to be a map, or a list of maps with one entry each");
            diagnostics.push(no_map(collection, message));
            Vec::new()
        }
    }
}

/// The entries of a collection that must be a list.
pub(super) fn list_entries<'a>(
    collection: Node<'a>,
    what: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<CollectionEntry<'a>> {
    if collection.kind() == NodeKind::Mapping {
        diagnostics.push(
            invalid(collection, format!("{what} have to be a list"))
                .help("start each of them with `-`"),
        );
    }
    entries(collection, what, diagnostics)
}

fn single<'a>(item: Node<'a>, what: &str) -> Result<CollectionEntry<'a>, Diagnostic> {
    let mut entries = item.entries();
    match (item.kind(), entries.next(), entries.next()) {
        (NodeKind::Mapping, Some((key, value)), None) => {
            Ok(CollectionEntry { key, value: Some(value) })
        }
        (NodeKind::Scalar, ..) if !item.is_null() => Ok(CollectionEntry { key: item, value: None }),
        (_, _, Some((second, _))) => Err(invalid(
            second,
            format!("an item in a list of {what} has to be a map with one entry"),
        )
        .help("start a new list item with `-` here")),
        _ => Err(invalid(
            item,
            format!("an item in a list of {what} has to be a map with one entry"),
        )),
    }
}

impl<'a> CollectionEntry<'a> {
    fn declare(self) -> Declared<'a> {
        Declared::new(self.key, self.value)
    }

    /// The keynames and values of the entry. A value that is neither a map nor empty is reported as
    /// an error.
    fn body(
        self,
        what: &str,
        diagnostics: &mut Diagnostics,
    ) -> impl Iterator<Item = (Node<'a>, Node<'a>)> + use<'a> {
        let body = self.value.filter(|value| !value.is_null());
        if let Some(value) = body.filter(|value| value.kind() != NodeKind::Mapping) {
            let name = self.key.text().unwrap_or_default();
            diagnostics.push(no_map(value, format!("{what} `{name}` has to be a map")));
        }
        body.into_iter().flat_map(Node::entries)
    }
}

/// An error about a value that must be a map. Often only a blank is missing, so the error advises
/// that.
fn no_map(value: Node<'_>, message: String) -> Diagnostic {
    invalid(value, message).help_opt(value.text().and_then(missing_blank))
}

fn reserve(key: Node<'_>, what: &str, diagnostics: &mut Diagnostics) {
    let name = key.text().unwrap_or_default();
    if RESERVED_NAMES.contains(&name) {
        let message = format!("{what} must not be named `{name}`");
        diagnostics.push(
            Diagnostic::error(Code::ReservedName, message)
                .at(key.span())
                .help("choose another name"),
        );
    }
}

pub(super) fn node_template<'a>(
    entry: CollectionEntry<'a>,
    diagnostics: &mut Diagnostics,
) -> NodeTemplate<'a> {
    reserve(entry.key, "a node", diagnostics);
    let mut node = NodeTemplate {
        declared: entry.declare(),
        types: TypeAssignments::default(),
        properties: Box::default(),
        requirements: Box::default(),
        artifacts: Box::default(),
        technologies: Box::default(),
        persistent: false,
        managed: None,
        weight: Decimal::ONE,
        has_rest: false,
    };
    let declared = &mut node.declared;
    let mut anchor = None;
    for (key, value) in entry.body("node template", diagnostics) {
        let keyword = key.text().unwrap_or_default();
        node.has_rest |= is_rest(keyword, value, NODE_PARTS);
        match keyword {
            "type" => node.types = types(value, diagnostics),
            "properties" => node.properties = properties(value, diagnostics),
            "requirements" => node.requirements = requirements(value, diagnostics),
            "artifacts" => node.artifacts = artifacts(value, diagnostics),
            "technology" => node.technologies = technologies(value, diagnostics),
            "persistent" => {
                node.persistent = diagnostics.ok(boolean(key, value)).unwrap_or_default()
            }
            "anchor" => anchor = diagnostics.ok(boolean(key, value)),
            "managed" => node.managed = diagnostics.ok(boolean(key, value)),
            "weight" => node.weight = diagnostics.ok(weight(value)).unwrap_or(Decimal::ONE),
            _ if declared.take(ElementKind::Node, key, value, diagnostics) => {}
            _ if is_like_a_node(value) => {
                let name = declared.name();
                let help = format!("indent it as far as `{name}` if it is a node template");
                diagnostics.0.extend(shape::NODE.misplaced(key, help));
            }
            _ => diagnostics.0.extend(shape::NODE.unknown(key, Reading::Lenient)),
        }
    }
    // The newer of the two keynames wins.
    node.persistent = anchor.unwrap_or(node.persistent);
    // A copy takes everything else from the template that it copies (section 3.8.3.1).
    if node.declared.value().get("copy").is_none() {
        require_type(&node.types, "node template", entry, diagnostics);
    }
    node
}

/// Whether the value of an unknown key may be a node template that is indented wrongly, and would
/// otherwise be ignored without a message.
pub(super) fn is_like_a_node(value: Node<'_>) -> bool {
    value.get("type").is_some()
}

fn require_type(
    types: &[TypeAssignment<'_>],
    what: &str,
    entry: CollectionEntry<'_>,
    diagnostics: &mut Diagnostics,
) {
    // An entry that is not a map is reported as such.
    let may_have = |body: Node<'_>| body.kind() == NodeKind::Mapping || body.is_null();
    if types.is_empty() && entry.value.is_none_or(may_have) {
        let message = format!("{what} `{}` has no type", entry.key.text().unwrap_or_default());
        diagnostics.push(
            Diagnostic::error(Code::AmbiguousType, message)
                .at(entry.key.span())
                .help("declare its `type`"),
        );
    }
}

fn types<'a>(value: Node<'a>, diagnostics: &mut Diagnostics) -> TypeAssignments<'a> {
    if value.kind() == NodeKind::Scalar && !value.is_null() {
        let declared = CollectionEntry { key: value, value: None }.declare();
        return TypeAssignments::One(TypeAssignment { declared, is_plain: true });
    }
    let assignment = |entry: CollectionEntry<'a>, diagnostics: &mut Diagnostics| {
        let mut declared = entry.declare();
        for (key, value) in entry.body("type assignment", diagnostics) {
            if !declared.take(ElementKind::Type, key, value, diagnostics) {
                diagnostics.0.extend(shape::TYPE.unknown(key, Reading::Strict));
            }
        }
        TypeAssignment { declared, is_plain: false }
    };
    let entries = named_entries(value, "types", diagnostics).into_iter();
    TypeAssignments::Many(entries.map(|entry| assignment(entry, diagnostics)).collect())
}

fn properties<'a>(value: Node<'a>, diagnostics: &mut Diagnostics) -> Box<[Property<'a>]> {
    let list = entries(value, "properties", diagnostics);
    let plain = value.kind() == NodeKind::Mapping && plain::is_plain(value.document().root());
    let parse = |entry| if plain { Property::plain(entry) } else { property(entry, diagnostics) };
    list.into_iter().map(parse).collect()
}

/// Whether a map has only keywords about presence.
fn has_only_keywords(body: Node<'_>) -> bool {
    let is_keyword = |key: Node<'_>| key.text().is_some_and(|text| COMMON.contains(&text));
    body.entries().len() > 0 && body.entries().all(|(key, _)| is_keyword(key))
}

/// Whether the value of a property in a variable template is not the property's value, but a map
/// that contains it.
pub(crate) fn is_read_as_wrapped(body: Node<'_>) -> bool {
    body.get("value").is_some() || body.get("expression").is_some() || has_only_keywords(body)
}

impl<'a> Property<'a> {
    /// A property whose whole node is its value.
    fn plain(entry: CollectionEntry<'a>) -> Self {
        let value = PropertyValue::Value(entry.value.unwrap_or(entry.key));
        Self { declared: entry.declare(), value }
    }
}

/// Reads a property. A map with `value` or `expression` wraps the property's value; any other node
/// is the value itself.
fn property<'a>(entry: CollectionEntry<'a>, diagnostics: &mut Diagnostics) -> Property<'a> {
    let body = entry.value.unwrap_or(entry.key);
    if entry.value.is_none() || body.kind() != NodeKind::Mapping {
        return Property::plain(entry);
    }
    let (value, expression) = (body.get("value"), body.get("expression"));
    if value.is_none() && expression.is_none() {
        if has_only_keywords(body) {
            let message = format!(
                "property `{}` has conditions, but no `value`",
                entry.key.text().unwrap_or_default()
            );
            let help = "add `value` or `expression`, or wrap the map as `value` if it is the property's own value";
            diagnostics.push(
                Diagnostic::error(Code::InvalidTemplate, message).at(entry.key.span()).help(help),
            );
        }
        return Property::plain(entry);
    }
    let mut declared = entry.declare();
    for (key, item) in body.entries() {
        let known = matches!(key.text(), Some("value" | "expression"));
        if !known && !declared.take(ElementKind::Property, key, item, diagnostics) {
            diagnostics.0.extend(shape::PROPERTY.unknown(key, Reading::Strict));
        }
    }
    let value = match (value, expression) {
        (Some(value), None) => PropertyValue::Value(value),
        (None, Some(expression)) => PropertyValue::Expression(expression),
        _ => {
            diagnostics
                .push(invalid(body, "a property needs either `value` or `expression`, not both"));
            PropertyValue::Value(body)
        }
    };
    Property { declared, value }
}

fn requirements<'a>(value: Node<'a>, diagnostics: &mut Diagnostics) -> Box<[Requirement<'a>]> {
    let list = list_entries(value, "requirements", diagnostics);
    list.into_iter().map(|entry| requirement(entry, diagnostics)).collect()
}

fn requirement<'a>(entry: CollectionEntry<'a>, diagnostics: &mut Diagnostics) -> Requirement<'a> {
    let mut requirement = Requirement {
        declared: entry.declare(),
        target: PartPosition::default(),
        relationship: PartPosition::default(),
        filtered: false,
        inline: None,
        has_rest: false,
    };
    if let Some(target) = entry.value.and_then(short_target) {
        requirement.aim(target);
        requirement.has_rest = entry.value.is_some_and(|it| it.kind() == NodeKind::Sequence);
        return requirement;
    }
    for (key, value) in entry.body("requirement", diagnostics) {
        let keyword = key.text().unwrap_or_default();
        requirement.has_rest |= is_rest(keyword, value, REQUIREMENT_PARTS);
        match keyword {
            "node" => requirement.aim(short_target(value).unwrap_or(value)),
            "node_filter" => requirement.filtered = true,
            "relationship" if value.kind() == NodeKind::Mapping => {
                let inline = CollectionEntry { key, value: Some(value) };
                let vocabulary = &shape::RELATIONSHIP_IN_PLACE;
                requirement.inline = Some(Box::new(relationship(inline, vocabulary, diagnostics)));
            }
            "relationship" if value.kind() == NodeKind::Sequence => {
                diagnostics.push(invalid(value, "`relationship` has to be a name or a map"));
            }
            "relationship" => requirement.relationship = PartPosition::of(value),
            _ if requirement.declared.take(ElementKind::Relation, key, value, diagnostics) => {}
            _ => diagnostics.0.extend(shape::REQUIREMENT.unknown(key, Reading::Lenient)),
        }
    }
    requirement
}

/// The target that a requirement names alone: in TOSCA 2.0 it may be a list of the template and the
/// index of one of its nodes.
fn short_target(value: Node<'_>) -> Option<Node<'_>> {
    match value.kind() {
        NodeKind::Scalar => Some(value),
        NodeKind::Sequence if v2_0::is_of(value.document()) => value.items().next(),
        _ => None,
    }
}

pub(super) fn relationship_template<'a>(
    entry: CollectionEntry<'a>,
    diagnostics: &mut Diagnostics,
) -> RelationshipTemplate<'a> {
    let template = relationship(entry, &shape::RELATIONSHIP, diagnostics);
    // A copy takes everything else from the template that it copies (section 3.8.4.1).
    if template.declared.value().get("copy").is_none() {
        require_type(&template.types, "relationship template", entry, diagnostics);
    }
    template
}

/// Reads a relationship template. An inline one may leave its type to the definition of the
/// requirement.
fn relationship<'a>(
    entry: CollectionEntry<'a>,
    vocabulary: &Vocabulary,
    diagnostics: &mut Diagnostics,
) -> RelationshipTemplate<'a> {
    let mut template = RelationshipTemplate {
        declared: entry.declare(),
        types: TypeAssignments::default(),
        properties: Box::default(),
        has_rest: false,
    };
    for (key, value) in entry.body("relationship template", diagnostics) {
        let keyword = key.text().unwrap_or_default();
        template.has_rest |= is_rest(keyword, value, RELATIONSHIP_PARTS);
        match keyword {
            "type" => template.types = types(value, diagnostics),
            "properties" => template.properties = properties(value, diagnostics),
            "conditions" => diagnostics.push(
                Diagnostic::error(
                    Code::UnknownKeyword,
                    "a relationship template has no conditions of its own",
                )
                .at(key.span())
                .help("it is present with the relation that uses it: put the conditions there"),
            ),
            _ => diagnostics.0.extend(vocabulary.unknown(key, Reading::Lenient)),
        }
    }
    template
}

fn artifacts<'a>(value: Node<'a>, diagnostics: &mut Diagnostics) -> Box<[Artifact<'a>]> {
    let list = entries(value, "artifacts", diagnostics);
    list.into_iter().map(|entry| artifact(entry, diagnostics)).collect()
}

fn artifact<'a>(entry: CollectionEntry<'a>, diagnostics: &mut Diagnostics) -> Artifact<'a> {
    let mut artifact = Artifact {
        declared: entry.declare(),
        types: TypeAssignments::default(),
        properties: Box::default(),
    };
    if entry.value.is_some_and(|value| value.kind() == NodeKind::Scalar) {
        return artifact;
    }
    let declared = &mut artifact.declared;
    for (key, value) in entry.body("artifact", diagnostics) {
        match key.text().unwrap_or_default() {
            "type" => artifact.types = types(value, diagnostics),
            "properties" => artifact.properties = properties(value, diagnostics),
            _ if declared.take(ElementKind::Artifact, key, value, diagnostics) => {}
            _ => diagnostics.0.extend(shape::ARTIFACT.unknown(key, Reading::Lenient)),
        }
    }
    artifact
}

fn technologies<'a>(value: Node<'a>, diagnostics: &mut Diagnostics) -> Box<[Technology<'a>]> {
    let list = match value.kind() {
        NodeKind::Scalar if value.as_str().is_some() => {
            vec![CollectionEntry { key: value, value: None }]
        }
        _ => named_entries(value, "technologies", diagnostics),
    };
    list.into_iter().map(|entry| technology(entry, diagnostics)).collect()
}

fn technology<'a>(entry: CollectionEntry<'a>, diagnostics: &mut Diagnostics) -> Technology<'a> {
    let declared = entry.declare();
    let name = lower_case(declared.name());
    let mut technology = Technology { declared, name, weight: None, assign: None, artifact: None };
    let declared = &mut technology.declared;
    for (key, value) in entry.body("technology", diagnostics) {
        match key.text().unwrap_or_default() {
            "weight" => technology.weight = diagnostics.ok(weight(value)),
            "assign" => technology.assign = diagnostics.ok(string(value, "`assign`")),
            "artifact" => technology.artifact = diagnostics.ok(string(value, "`artifact`")),
            _ if declared.take(ElementKind::Technology, key, value, diagnostics) => {}
            _ => diagnostics.0.extend(shape::TECHNOLOGY.unknown(key, Reading::Strict)),
        }
    }
    technology
}

pub(super) fn group<'a>(entry: CollectionEntry<'a>, diagnostics: &mut Diagnostics) -> Group<'a> {
    reserve(entry.key, "a group", diagnostics);
    let declared = entry.declare();
    let mut group = Group {
        declared,
        types: TypeAssignments::default(),
        properties: Box::default(),
        members: Box::default(),
    };
    let declared = &mut group.declared;
    for (key, value) in entry.body("group", diagnostics) {
        match key.text().unwrap_or_default() {
            "type" => group.types = types(value, diagnostics),
            "properties" => group.properties = properties(value, diagnostics),
            "members" if value.kind() != NodeKind::Sequence => {
                diagnostics.push(invalid(value, "`members` has to be a list"))
            }
            "members" => {
                group.members =
                    value.items().filter_map(|item| diagnostics.ok(member(item))).collect()
            }
            _ if declared.take(ElementKind::Group, key, value, diagnostics) => {}
            _ => diagnostics.0.extend(shape::GROUP.unknown(key, Reading::Lenient)),
        }
    }
    require_type(&group.types, "group", entry, diagnostics);
    group
}

fn member(item: Node<'_>) -> Result<Member<'_>, Diagnostic> {
    let mut parts = item.items();
    match (item.kind(), parts.next(), parts.next(), parts.next()) {
        (NodeKind::Scalar, ..) if item.as_str().is_some() => {
            Ok(Member { item, node: item, relation: None })
        }
        (NodeKind::Sequence, Some(node), Some(relation), None) => {
            Ok(Member { item, node, relation: Some(relation) })
        }
        _ if v2_0::is_of(item.document()) => Err(invalid(
            item,
            "a member has to be the name of a node or a group, or `[node, relation]`",
        )),
        _ => Err(invalid(item, "a member has to be the name of a node, or `[node, relation]`")),
    }
}

pub(super) fn policy<'a>(entry: CollectionEntry<'a>, diagnostics: &mut Diagnostics) -> Policy<'a> {
    reserve(entry.key, "a policy", diagnostics);
    let declared = entry.declare();
    let mut policy = Policy {
        declared,
        types: TypeAssignments::default(),
        properties: Box::default(),
        targets: Box::default(),
    };
    let declared = &mut policy.declared;
    for (key, value) in entry.body("policy", diagnostics) {
        match key.text().unwrap_or_default() {
            "type" => policy.types = types(value, diagnostics),
            "properties" => policy.properties = properties(value, diagnostics),
            "targets" if value.kind() == NodeKind::Sequence => {
                policy.targets = value.items().collect()
            }
            "targets" => diagnostics
                .push(invalid(value, "`targets` has to be a list of names of nodes and groups")),
            _ if declared.take(ElementKind::Policy, key, value, diagnostics) => {}
            _ => diagnostics.0.extend(shape::POLICY.unknown(key, Reading::Lenient)),
        }
    }
    require_type(&policy.types, "policy", entry, diagnostics);
    policy
}

pub(super) fn parameter<'a>(
    kind: ElementKind,
    entry: CollectionEntry<'a>,
    diagnostics: &mut Diagnostics,
) -> Parameter<'a> {
    let mut declared = entry.declare();
    // Anything other than a map is the parameter's value, in the single-line grammar.
    for (key, value) in entry.value.into_iter().flat_map(Node::entries) {
        if !declared.take(kind, key, value, diagnostics) {
            diagnostics.0.extend(shape::PARAMETER.unknown(key, Reading::Lenient));
        }
    }
    Parameter { declared }
}

/// Reads a weight: `true` is 1, `false` is 0.
pub(super) fn weight(value: Node<'_>) -> Result<Decimal, Diagnostic> {
    match value.as_bool() {
        Some(true) => Ok(Decimal::ONE),
        Some(false) => Ok(Decimal::ZERO),
        None => {
            let number = value.text().filter(|_| value.describe() == "a number");
            number.and_then(Decimal::parse).ok_or_else(|| match number {
                Some(text) if !text.starts_with('-') => {
                    invalid(value, "a weight has at most 19 digits, before and behind the point")
                        .help(format!("the largest weight is {}, the smallest 1e-19", u64::MAX))
                }
                _ => invalid(value, "a weight has to be `true`, `false` or a non-negative number"),
            })
        }
    }
}

pub(super) fn string<'a>(value: Node<'a>, what: &str) -> Result<&'a str, Diagnostic> {
    value.as_str().ok_or_else(|| invalid(value, format!("{what} has to be a string")))
}
