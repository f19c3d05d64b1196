//! Defines the elements of a graph, and the tables with the details of each kind.

use crate::tosca::v2_0;
use crate::variability::element::ElementKind;
use crate::variability::graph::index::NameIndex;
use crate::variability::graph::lookup::NamesByContainer;
use crate::variability::graph::references::Reference;
use crate::variability::syntax::{ExpressionId, Syntax};
use crate::variability::template::{
    Artifact, DEFAULT_ARTIFACT_TYPE, ElementSettings, Group, Import, Member, NodeTemplate,
    Parameter, Policy, Property, RelationshipTemplate, Requirement, ServiceTemplate,
};
use cuvee_sat::formula::Atom;
use cuvee_text::decimal::Decimal;
use cuvee_text::source::Span;
use cuvee_text::yaml::Node;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::OnceCell;
use std::fmt;
use std::ops::Range;

/// The id of an element of a [`Graph`]; its presence is the atom of the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementId(pub u32);

impl From<ElementId> for Atom {
    fn from(id: ElementId) -> Self {
        Self(id.0)
    }
}

/// The id of a node: a position in [`Graph::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(pub u32);

/// The id of a relation: a position in [`Graph::relations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RelationId(pub u32);

/// The id of a group: a position in [`Graph::groups`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct GroupId(pub u32);

/// A list that occurs often and is mostly short: up to four ids are stored inline.
pub(super) type Ids<T> = SmallVec<[T; 4]>;

/// The data that every element has.
#[derive(Clone, Debug)]
pub(crate) struct Element<'a> {
    /// Its kind.
    pub kind: ElementKind,
    /// Its name; for an import, the file.
    pub name: &'a str,
    /// Its position in the collection that it is written in.
    pub index: u32,
    /// The element that contains it.
    pub container: Option<ElementId>,
    /// Its position in the table of its kind; types have no table.
    pub slot: u32,
    /// The place of its declaration.
    pub span: Span,
    /// The conditions of its author, if any.
    pub conditions: Option<ExpressionId>,
    /// Other variability settings of its author, which are rare.
    pub settings: Option<&'a ElementSettings<'a>>,
    /// Whether a rule created it, so that it has no author.
    pub by_rule: bool,
    /// Whether it has no conditions of its own and is present whenever its container is: a type
    /// that is written as in plain TOSCA.
    pub follows: bool,
}

impl Element<'_> {
    /// `default_alternative`
    pub(crate) fn default_alternative(&self) -> Option<bool> {
        self.settings?.default_alternative
    }
}

/// A node template.
#[derive(Clone, Debug)]
pub(crate) struct NodeElement<'a> {
    /// The element.
    pub id: ElementId,
    /// Its syntax.
    pub template: &'a NodeTemplate<'a>,
    /// Its types.
    pub types: Ids<ElementId>,
    /// Its properties.
    pub properties: Ids<ElementId>,
    /// Its outgoing relations.
    pub relations: Ids<RelationId>,
    /// The relations that target it.
    pub incoming: Ids<RelationId>,
    /// Its artifacts.
    pub artifacts: Ids<ElementId>,
    /// Its technologies.
    pub technologies: Ids<ElementId>,
    /// Whether it needs a deployment technology.
    pub managed: bool,
}

/// A requirement assignment.
#[derive(Clone, Debug)]
pub(crate) struct RelationElement<'a> {
    /// The element.
    pub id: ElementId,
    /// Its syntax.
    pub requirement: &'a Requirement<'a>,
    /// The node where it starts.
    pub source: NodeId,
    /// The node where it ends, if that is a node of this template.
    pub target: Option<NodeId>,
    /// Whether the target hosts the source.
    pub hosting: bool,
    /// Its relationship template, named or inline.
    pub relationship: Option<&'a RelationshipTemplate<'a>>,
    /// The types of its relationship template.
    pub types: Ids<ElementId>,
    /// The properties of its relationship template.
    pub properties: Ids<ElementId>,
}

/// A property assignment.
#[derive(Clone, Debug)]
pub(crate) struct PropertyElement<'a> {
    /// The element.
    pub id: ElementId,
    /// Its syntax.
    pub property: &'a Property<'a>,
    /// The inputs and elements that its value refers to.
    pub consumed: Vec<ElementId>,
}

/// An artifact.
#[derive(Clone, Debug)]
pub(crate) struct ArtifactElement<'a> {
    /// The element.
    pub id: ElementId,
    /// Its syntax.
    pub artifact: &'a Artifact<'a>,
    /// Its node.
    pub node: NodeId,
    /// Its types.
    pub types: Ids<ElementId>,
    /// Its properties.
    pub properties: Ids<ElementId>,
}

/// Elements that have to be present: at least one of each list.
pub(crate) type Requires = Vec<Vec<ElementId>>;

/// The type that a technology assigns to its node if the required elements are present.
#[derive(Clone, Debug)]
pub(crate) struct Implementation {
    /// The elements that are required for it.
    pub requires: Requires,
    /// The type that it assigns; `None` if the node keeps its own.
    pub assign: Option<String>,
}

/// A deployment technology of a node, either named by the author or the candidate of a rule.
#[derive(Clone, Debug)]
pub(crate) struct TechnologyElement<'a> {
    /// The element.
    pub id: ElementId,
    /// Its node.
    pub node: NodeId,
    /// Whether it means no technology, because a rule says that its node needs none.
    pub none: bool,
    /// The weight of its presence.
    pub weight: Decimal,
    /// The types of the artifacts that it manages.
    pub artifacts: Vec<&'a str>,
    /// The number of steps by which the type of its node derives from the component of its rule;
    /// zero without a rule.
    pub priority: u32,
    /// The alternative sets of elements that it requires; empty for a technology that the author
    /// named.
    pub ways: Vec<Requires>,
    /// The additional conditions of its rule.
    pub conditions: Option<ExpressionId>,
    /// The implementations that it may assign to its node; the first one that applies counts.
    pub implementations: Vec<Implementation>,
}

/// A group.
#[derive(Clone, Debug)]
pub(crate) struct GroupElement<'a> {
    /// The element.
    pub id: ElementId,
    /// Its syntax.
    pub group: &'a Group<'a>,
    /// Whether its conditions apply to its members, and it is never part of a result.
    pub variability: bool,
    /// Its members, with their syntax.
    pub members: Vec<(&'a Member<'a>, ElementId)>,
    /// Its types.
    pub types: Ids<ElementId>,
    /// Its properties.
    pub properties: Ids<ElementId>,
}

/// A target of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A node.
    Node(NodeId),
    /// A group, which means its members.
    Group(GroupId),
}

/// A policy.
#[derive(Clone, Debug)]
pub(crate) struct PolicyElement<'a> {
    /// The element.
    pub id: ElementId,
    /// Its syntax.
    pub policy: &'a Policy<'a>,
    /// Its targets, with their syntax.
    pub targets: Vec<(Node<'a>, Target)>,
    /// Its types.
    pub types: Ids<ElementId>,
    /// Its properties.
    pub properties: Ids<ElementId>,
}

/// A topology input.
#[derive(Clone, Debug)]
pub(crate) struct InputElement<'a> {
    /// The element.
    pub id: ElementId,
    /// Its syntax.
    pub parameter: &'a Parameter<'a>,
    /// The elements that refer to it.
    pub consumers: Vec<ElementId>,
    /// Whether something refers to it that is in every variant.
    pub is_always_consumed: bool,
}

/// A topology output.
#[derive(Clone, Debug)]
pub(crate) struct OutputElement<'a> {
    /// The element.
    pub id: ElementId,
    /// Its syntax.
    pub parameter: &'a Parameter<'a>,
    /// The elements that its value refers to.
    pub producers: Vec<ElementId>,
}

/// An import.
#[derive(Clone, Debug)]
pub(crate) struct ImportElement<'a> {
    /// The element.
    pub id: ElementId,
    /// Its syntax.
    pub import: &'a Import<'a>,
}

/// All elements of a template. A container precedes its contents; otherwise the order is that of
/// the template.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    /// The syntax that it was built from.
    pub template: &'a ServiceTemplate<'a>,
    /// Every element.
    pub elements: Vec<Element<'a>>,
    /// Node templates.
    pub nodes: Vec<NodeElement<'a>>,
    /// Relations.
    pub relations: Vec<RelationElement<'a>>,
    /// Properties.
    pub properties: Vec<PropertyElement<'a>>,
    /// Artifacts.
    pub artifacts: Vec<ArtifactElement<'a>>,
    /// Technologies.
    pub technologies: Vec<TechnologyElement<'a>>,
    /// Groups.
    pub groups: Vec<GroupElement<'a>>,
    /// Policies.
    pub policies: Vec<PolicyElement<'a>>,
    /// Topology inputs.
    pub inputs: Vec<InputElement<'a>>,
    /// Topology outputs.
    pub outputs: Vec<OutputElement<'a>>,
    /// Imports.
    pub imports: Vec<ImportElement<'a>>,
    /// The references in values.
    pub references: Vec<Reference>,
    /// The outputs that a substitution mapping names, about which validating says more.
    pub mapped_outputs: Vec<Reference>,
    /// The positions of nodes.
    pub(super) node_names: NameIndex<'a>,
    /// The positions of relationship templates in the template.
    pub(super) relationship_names: NameIndex<'a>,
    /// The positions of groups.
    pub(super) group_names: NameIndex<'a>,
    /// The expressions that decide about elements.
    pub syntax: Syntax<'a>,
    pub(super) names: OnceCell<NamesByContainer<'a>>,
    pub(super) identifiers: OnceCell<FxHashMap<String, ElementId>>,
}

impl<'a> Graph<'a> {
    /// A graph without elements, for evaluations that depend on inputs only.
    pub(crate) fn empty(template: &'a ServiceTemplate<'a>) -> Self {
        Self {
            template,
            elements: Vec::new(),
            nodes: Vec::new(),
            relations: Vec::new(),
            properties: Vec::new(),
            artifacts: Vec::new(),
            technologies: Vec::new(),
            groups: Vec::new(),
            policies: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            imports: Vec::new(),
            references: Vec::new(),
            mapped_outputs: Vec::new(),
            node_names: NameIndex::default(),
            relationship_names: NameIndex::default(),
            group_names: NameIndex::default(),
            syntax: Syntax::new(
                &template.variability.expressions,
                v2_0::is_of(template.root.document()),
            ),
            names: OnceCell::new(),
            identifiers: OnceCell::new(),
        }
    }

    /// Adds an element and returns its id.
    pub(crate) fn push(&mut self, element: Element<'a>) -> ElementId {
        let id = ElementId(self.elements.len() as u32);
        self.elements.push(element);
        // The tables of names are rebuilt when they are needed next.
        self.names.take();
        self.identifiers.take();
        id
    }

    /// Whether an element comes from an imported file.
    pub(crate) fn is_imported(&self, id: ElementId) -> bool {
        self.template.is_imported(self.element(id).span)
    }

    /// The element of an id.
    pub(crate) fn element(&self, id: ElementId) -> &Element<'a> {
        &self.elements[id.0 as usize]
    }

    /// All ids in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ElementId> + use<> {
        (0..self.elements.len() as u32).map(ElementId)
    }

    /// The node of an id.
    pub(crate) fn node(&self, id: NodeId) -> &NodeElement<'a> {
        &self.nodes[id.0 as usize]
    }

    /// The relation of an id.
    pub(crate) fn relation(&self, id: RelationId) -> &RelationElement<'a> {
        &self.relations[id.0 as usize]
    }

    /// The hosting relations of a node.
    pub(crate) fn hosting<'g>(
        &'g self,
        node: &'g NodeElement<'a>,
    ) -> impl Iterator<Item = &'g RelationElement<'a>> + Clone {
        node.relations.iter().map(|&id| self.relation(id)).filter(|relation| relation.hosting)
    }

    /// The elements of the nodes and members that a target means.
    pub(crate) fn target_elements(&self, target: Target) -> impl Iterator<Item = ElementId> {
        let (node, group) = match target {
            Target::Node(node) => (Some(self.node(node).id), None),
            Target::Group(group) => (None, Some(&self.groups[group.0 as usize])),
        };
        node.into_iter().chain(
            group.into_iter().flat_map(|group| group.members.iter().map(|&(_, member)| member)),
        )
    }

    /// The nodes and relations in a group, also those in groups that are members of it.
    pub(crate) fn members_within(&self, group: &GroupElement<'a>) -> Vec<ElementId> {
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        let mut open: Vec<ElementId> = group.members.iter().rev().map(|&(_, id)| id).collect();
        while let Some(id) = open.pop() {
            let element = self.element(id);
            match element.kind {
                ElementKind::Group if seen.insert(id) => {
                    let members = self.groups[element.slot as usize].members.iter().rev();
                    open.extend(members.map(|&(_, member)| member));
                }
                ElementKind::Group => {}
                _ => found.push(id),
            }
        }
        found
    }

    /// The variability group of this id. The conditions of such a group apply to its members, and
    /// it is never part of a result.
    pub(crate) fn variability_group(&self, id: ElementId) -> Option<&GroupElement<'a>> {
        let element = self.element(id);
        let group =
            (element.kind == ElementKind::Group).then(|| &self.groups[element.slot as usize])?;
        group.variability.then_some(group)
    }

    /// Whether an element is a variability group or belongs to one, and so is never part of a
    /// result.
    pub(crate) fn is_of_variability_group(&self, id: ElementId) -> bool {
        let outer = std::iter::successors(Some(id), |&id| self.element(id).container).last();
        outer.is_some_and(|outer| self.variability_group(outer).is_some())
    }

    /// The types of an element that has types.
    pub(crate) fn types_of(&self, id: ElementId) -> &[ElementId] {
        let element = self.element(id);
        let slot = element.slot as usize;
        match element.kind {
            ElementKind::Node => &self.nodes[slot].types,
            ElementKind::Relation => &self.relations[slot].types,
            ElementKind::Artifact => &self.artifacts[slot].types,
            ElementKind::Group => &self.groups[slot].types,
            ElementKind::Policy => &self.policies[slot].types,
            _ => &[],
        }
    }

    /// The properties of an element that has properties.
    pub(crate) fn properties_of(&self, id: ElementId) -> &[ElementId] {
        let element = self.element(id);
        let slot = element.slot as usize;
        match element.kind {
            ElementKind::Node => &self.nodes[slot].properties,
            ElementKind::Relation => &self.relations[slot].properties,
            ElementKind::Artifact => &self.artifacts[slot].properties,
            ElementKind::Group => &self.groups[slot].properties,
            ElementKind::Policy => &self.policies[slot].properties,
            _ => &[],
        }
    }

    /// The only type that an element can have; `None` if it has alternatives or no type. This
    /// includes the default type of an artifact without a type, and the relationship type that a
    /// requirement assignment names instead of a relationship template.
    pub(crate) fn only_type(&self, id: ElementId) -> Option<&'a str> {
        let element = self.element(id);
        match (self.types_of(id), element.kind) {
            ([only], _) => Some(self.element(*only).name),
            ([], ElementKind::Artifact) => Some(DEFAULT_ARTIFACT_TYPE),
            ([], ElementKind::Relation) => {
                let relation = &self.relations[element.slot as usize];
                let name = relation.requirement.relationship();
                name.filter(|_| relation.relationship.is_none())?.text()
            }
            _ => None,
        }
    }

    /// The identifier of an element ("Element Identifier System"): `property.port@0.node.shop`.
    pub(crate) fn identifier(&self, id: ElementId) -> impl fmt::Display {
        Path { graph: self, id, style: PathStyle::Identifier }
    }

    /// How messages name an element ("Element Display System"): `Property "port@0" of Node "shop"`,
    /// with the kind in lower case. In plain TOSCA the position is left out, because there are no
    /// alternatives.
    pub(crate) fn display(&self, id: ElementId) -> impl fmt::Display {
        Path { graph: self, id, style: PathStyle::Display }
    }

    /// How the author would name an element: with its kind but without a position, for messages
    /// that show the place of the element.
    pub(crate) fn called(&self, id: ElementId) -> impl fmt::Display {
        Path { graph: self, id, style: PathStyle::Called }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum PathStyle {
    Identifier,
    Display,
    Called,
}

struct Path<'g, 'a> {
    graph: &'g Graph<'a>,
    id: ElementId,
    style: PathStyle,
}

impl fmt::Display for Path<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut current = Some(self.id);
        while let Some(element) = current.map(|id| self.graph.element(id)) {
            let (kind, name, index) = (element.kind, element.name, element.index);
            let has_alternatives = || !self.graph.template.is_only_plain();
            match self.style {
                PathStyle::Identifier => own(f, kind, name, index),
                PathStyle::Display => {
                    display(f, kind, name, Some(index).filter(|_| has_alternatives()))
                }
                PathStyle::Called => display(f, kind, name, None),
            }?;
            current = element.container;
            if current.is_some() {
                f.write_str(if self.style == PathStyle::Identifier { "." } else { " of " })?;
            }
        }
        Ok(())
    }
}

/// The part of an identifier that names the element itself: imports have only a position, nodes and
/// groups only a name.
pub(crate) fn identifier(kind: ElementKind, name: &str, index: u32) -> String {
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = own(&mut text, kind, name, index);
    text
}

/// The names in an identifier, such as `property.port@0.node.shop`, each with its kind and its
/// place: first that of the element, then those of what it is in. `None` if the text is no
/// identifier of an element with a name.
pub(crate) fn names_in_identifier(text: &str) -> Option<Vec<(ElementKind, Range<usize>)>> {
    let (mut names, mut start) = (Vec::new(), 0);
    loop {
        let (kind, rest) = text.get(start..)?.split_once('.')?;
        let kind: ElementKind = kind.parse().ok()?;
        let name = text.len() - rest.len();
        let (length, end) = match kind {
            ElementKind::Import => return None,
            ElementKind::Node | ElementKind::Group => (rest.len(), rest.len()),
            _ => indexed(rest)?,
        };
        if length == 0 {
            return None;
        }
        names.push((kind, name..name + length));
        if end == rest.len() {
            return Some(names);
        }
        start = name + end + 1;
    }
}

/// The ends of a name and of the index behind it, where a text begins with these.
fn indexed(text: &str) -> Option<(usize, usize)> {
    text.match_indices('@').find_map(|(at, _)| {
        let digits = text[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let end = at + 1 + digits;
        let is_end = text.as_bytes().get(end).is_none_or(|next| *next == b'.');
        (digits > 0 && is_end).then_some((at, end))
    })
}

/// Writes this part piece by piece: a large template has many elements, and reports name each
/// several times.
fn own(out: &mut dyn fmt::Write, kind: ElementKind, name: &str, index: u32) -> fmt::Result {
    out.write_str(kind.as_str())?;
    out.write_str(".")?;
    match kind {
        ElementKind::Import => write!(out, "{index}"),
        ElementKind::Node | ElementKind::Group => out.write_str(name),
        _ => {
            out.write_str(name)?;
            write!(out, "@{index}")
        }
    }
}

fn display(
    out: &mut dyn fmt::Write,
    kind: ElementKind,
    name: &str,
    index: Option<u32>,
) -> fmt::Result {
    out.write_str(kind.as_str())?;
    out.write_str(" \"")?;
    out.write_str(name)?;
    match (kind, index) {
        (ElementKind::Import | ElementKind::Node | ElementKind::Group, _) | (_, None) => {
            out.write_str("\"")
        }
        (_, Some(index)) => write!(out, "@{index}\""),
    }
}
