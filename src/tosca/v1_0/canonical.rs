//! Definitions in the one form in which they are written: what stands in elements in the order of
//! the schema, attributes likewise, namespaces at the root.
//!
//! Nothing changes what a document means. A prefix that means two things is declared at the root
//! with its first meaning, and where it has another one, there; so is a default namespace that is
//! not that of TOSCA, since names without a prefix in what belongs to others may be of it.

use super::read::is_definitions;
use super::rule::{AttributeKind, DEFINITIONS, DOCUMENTATION, ElementContent, ElementRule, TOSCA};
use crate::text::xml::{
    XML, XmlAttribute, XmlDocument, XmlElement, XmlNode, XmlTree, is_space, with_line_feeds,
};
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// More namespaces than these are left where they are declared: who reads bounds how many there may
/// be at one place.
const AT_ROOT: usize = 500;

/// The canonical form of a document, which need not be one of definitions.
///
/// ```
/// use cuvee::source::FileId;
/// use cuvee::tosca::canonical_definitions;
/// use cuvee::xml::{XmlLimits, parse};
/// let text = "<Definitions targetNamespace='urn:a' id='a' xmlns='http://docs.oasis-open.org/tosca/ns/2011/12'>
///   <NodeType name='B' abstract='yes'><DerivedFrom xmlns:p='urn:a' typeRef='p:A'></DerivedFrom></NodeType></Definitions>";
/// let document = parse(FileId::DETACHED, text.into(), &XmlLimits::default()).unwrap();
/// let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
/// <Definitions xmlns="http://docs.oasis-open.org/tosca/ns/2011/12" xmlns:p="urn:a" id="a" targetNamespace="urn:a">
///   <NodeType name="B" abstract="yes">
///     <DerivedFrom typeRef="p:A"/>
///   </NodeType>
/// </Definitions>
/// "#;
/// assert_eq!(canonical_definitions(&document), expected);
/// ```
pub fn canonical_definitions(document: &XmlDocument) -> String {
    let rule = is_definitions(document.root()).then_some(&DEFINITIONS);
    let mut form = CanonicalForm::of(document, rule.is_some());
    let nodes: Vec<_> = document.nodes().collect();
    form.steps.extend(nodes.into_iter().rev().map(|node| FormStep::Node(node, rule, false)));
    while let Some(step) = form.steps.pop() {
        match step {
            FormStep::Node(XmlNode::Element(element), rule, is_kept) => {
                form.element(element, rule, is_kept);
            }
            FormStep::Node(node, ..) => form.other(node),
            FormStep::End => form.end(),
        }
    }
    form.tree.write()
}

enum FormStep<'d> {
    /// What is next, what it is by the schema, and whether blanks around it are kept.
    Node(XmlNode<'d>, Option<&'static ElementRule>, bool),
    /// An element ends.
    End,
}

/// What names mean in an element.
struct FormScope<'d> {
    /// The default namespace where it is read, and where it is written.
    read: Cow<'d, str>,
    written: Cow<'d, str>,
    /// How many prefixes had another meaning than at the root before it.
    others: usize,
}

struct CanonicalForm<'d> {
    tree: XmlTree<'d>,
    /// What is next, last first.
    steps: Vec<FormStep<'d>>,
    scopes: Vec<FormScope<'d>>,
    /// Prefixes with another meaning than at the root.
    others: Vec<(&'d str, Cow<'d, str>)>,
    /// The attributes of an element with their positions in the schema, to be sorted.
    attributes: Vec<(usize, XmlAttribute<'d>)>,
    /// How many prefixes were made up.
    made: usize,
}

impl<'d> CanonicalForm<'d> {
    fn of(document: &'d XmlDocument, are_definitions: bool) -> Self {
        let (mut tree, root) = (XmlTree::default(), document.root());
        let is_inner =
            document.elements().skip(1).any(|element| prefixes(element).next().is_some());
        let unbound = if is_inner { unbound_prefixes(document) } else { FxHashSet::default() };
        let first = |element: XmlElement<'d>, tree: &mut XmlTree<'d>| {
            for (prefix, uri) in prefixes(element) {
                if tree.namespace(prefix).is_none() && !unbound.contains(prefix) {
                    tree.declare(prefix, uri);
                }
            }
        };
        document.elements().for_each(|element| first(element, &mut tree));
        if tree.namespaces().count() + root.attributes().count() > AT_ROOT {
            tree = XmlTree::default();
            first(root, &mut tree);
        }
        let read = root.namespace("").unwrap_or_default();
        let written = if are_definitions { Cow::Borrowed(TOSCA) } else { read.clone() };
        if !written.is_empty() {
            tree.declare("", written.clone());
        }
        Self {
            tree,
            steps: Vec::new(),
            scopes: vec![FormScope { read, written, others: 0 }],
            others: Vec::new(),
            attributes: Vec::new(),
            made: 0,
        }
    }

    fn element(
        &mut self,
        element: XmlElement<'d>,
        rule: Option<&'static ElementRule>,
        is_kept: bool,
    ) {
        match rule {
            Some(rule) => self.tree.open(rule.name),
            None => self.tree.open(element.written_name()),
        }
        self.scope(element, rule);
        self.attributes(element, rule);
        self.steps.push(FormStep::End);
        let nodes: Vec<_> = element.nodes().collect();
        let is_kept = is_kept || keeps_blanks(element, rule, &nodes);
        let is_part =
            |node: &XmlNode<'_>| !matches!(node, XmlNode::Text(..) | XmlNode::Unescaped(..));
        let is_leaf = rule.is_none() && !nodes.iter().any(is_part);
        let keeps_all = is_kept || is_leaf;
        let parts = nodes.into_iter().filter(|node| keeps_all || is_part(node));
        let mut placed = with_places(parts, rule);
        if !keeps_all && !placed.is_sorted_by_key(|(place, ..)| *place) {
            placed.sort_by_key(|(place, ..)| *place);
        }
        let steps = placed.into_iter().rev();
        self.steps.extend(steps.map(|(_, rule, node)| FormStep::Node(node, rule, is_kept)));
    }

    /// Declares what means something else here than around it.
    fn scope(&mut self, element: XmlElement<'d>, rule: Option<&'static ElementRule>) {
        let Some(around) = self.scopes.last() else { return };
        let own = element.declarations().find(|(prefix, _)| prefix.is_empty());
        let read = own.map_or_else(|| around.read.clone(), |(_, uri)| uri);
        // What TOSCA names stands in its namespace; what others name, in the one that they wrote in.
        let written = if rule.is_some() { around.written.clone() } else { read.clone() };
        if written != around.written {
            self.tree.declare_here("", written.clone());
        }
        let scope = FormScope { read, written, others: self.others.len() };
        for (prefix, uri) in prefixes(element) {
            let known = self.others.iter().rev().find(|(other, _)| *other == prefix);
            let known = known.map(|(_, uri)| &**uri).or_else(|| self.tree.namespace(prefix));
            if known != Some(&*uri) {
                self.tree.declare_here(prefix, uri.clone());
                self.others.push((prefix, uri));
            }
        }
        self.scopes.push(scope);
    }

    fn attributes(&mut self, element: XmlElement<'d>, rule: Option<&'static ElementRule>) {
        let position = |attribute: &XmlAttribute<'d>| {
            let name = attribute.name();
            let known = rule
                .filter(|_| name.namespace.is_empty())
                .and_then(|rule| rule.attributes.iter().position(|known| known.name == name.local));
            known.unwrap_or(usize::MAX)
        };
        let mut attributes = std::mem::take(&mut self.attributes);
        attributes.extend(element.attributes().map(|it| (position(&it), it)));
        attributes.sort_by(|(one_at, one), (other_at, other)| {
            one_at.cmp(other_at).then_with(|| one.name().cmp(&other.name()))
        });
        for (at, attribute) in attributes.drain(..) {
            let kind = rule.and_then(|rule| rule.attributes.get(at)).map(|rule| rule.kind);
            let value = match kind {
                None | Some(AttributeKind::Text) => attribute.value(),
                Some(AttributeKind::Component) => self.component(attribute.collapsed()),
                Some(_) => attribute.collapsed(),
            };
            self.tree.attribute(attribute.written_name(), value);
        }
        self.attributes = attributes;
    }

    /// The name of a component: one without a prefix that is of another default namespace than that
    /// of TOSCA needs one.
    fn component(&mut self, name: Cow<'d, str>) -> Cow<'d, str> {
        let Some(FormScope { read, written, .. }) = self.scopes.last() else { return name };
        if read == written || read.is_empty() || name.contains(':') {
            return name;
        }
        let read = read.clone();
        let prefix = self.known_prefix(&read).unwrap_or_else(|| self.made_prefix(read));
        Cow::Owned(format!("{prefix}:{name}"))
    }

    /// A prefix that means a namespace here.
    fn known_prefix(&self, uri: &str) -> Option<String> {
        let is_meant = |prefix: &str| {
            !prefix.is_empty() && self.others.iter().all(|(other, _)| *other != prefix)
        };
        let mut known = self.tree.namespaces();
        let known = known.find(|(prefix, known)| *known == uri && is_meant(prefix));
        known.map(|(prefix, _)| prefix.to_owned())
    }

    /// A prefix that nobody has, for a namespace.
    fn made_prefix(&mut self, uri: Cow<'d, str>) -> String {
        let prefix = loop {
            self.made += 1;
            let made = format!("ns{}", self.made);
            let is_taken = self.others.iter().any(|(other, _)| *other == made);
            if !is_taken && self.tree.namespace(&made).is_none() {
                break made;
            }
        };
        self.tree.declare(prefix.clone(), uri);
        prefix
    }

    fn other(&mut self, node: XmlNode<'d>) {
        match node {
            XmlNode::Comment(text, _) => self.tree.comment(with_line_feeds(text)),
            XmlNode::Instruction(text, _) => self.tree.instruction(with_line_feeds(text)),
            XmlNode::Text(..) | XmlNode::Unescaped(..) => {
                self.tree.text(node.text().unwrap_or_default());
            }
            XmlNode::Element(_) => {}
        }
    }

    fn end(&mut self) {
        self.tree.close();
        if let Some(scope) = self.scopes.pop() {
            self.others.truncate(scope.others);
        }
    }
}

/// The prefixes that an element declares, but for the one that always means what it means.
fn prefixes<'d>(element: XmlElement<'d>) -> impl Iterator<Item = (&'d str, Cow<'d, str>)> {
    element.declarations().filter(|(prefix, uri)| !prefix.is_empty() && uri != XML)
}

/// The prefixes of values that mean nothing where they stand: they are not to mean something for being
/// declared elsewhere.
fn unbound_prefixes(document: &XmlDocument) -> FxHashSet<String> {
    let unbound = |element: XmlElement<'_>| {
        let values = element.attributes().map(|attribute| attribute.collapsed());
        let prefixes: Vec<_> = values
            .filter_map(|value| Some(value.split_once(':')?.0.to_owned()))
            .filter(|prefix| element.namespace(prefix).is_none())
            .collect();
        prefixes
    };
    document.elements().flat_map(unbound).collect()
}

/// Whether all of an element is kept as it is: text that is not blank stands in it beside other
/// parts, or as much is said.
fn keeps_blanks(
    element: XmlElement<'_>,
    rule: Option<&'static ElementRule>,
    nodes: &[XmlNode<'_>],
) -> bool {
    let is_text = |node: &XmlNode<'_>| match node {
        // Blank as it is written: most of what stands between elements.
        XmlNode::Text(text, _) if text.chars().all(is_space) => false,
        node => node.text().is_some_and(|text| text.contains(|c| !is_space(c))),
    };
    let is_mixed = rule.is_some_and(|rule| rule.content == ElementContent::Mixed);
    let is_said = || {
        let mut attributes = element.attributes();
        attributes.any(|it| it.written_name() == "xml:space" && it.value() == "preserve")
    };
    is_mixed || nodes.iter().any(is_text) || is_said()
}

/// Nodes with their places in the order of the schema and what they are by it: first what is said for
/// people, then what belongs to others. What is no element goes with the element behind it.
fn with_places<'d>(
    nodes: impl Iterator<Item = XmlNode<'d>>,
    rule: Option<&'static ElementRule>,
) -> Vec<(u8, Option<&'static ElementRule>, XmlNode<'d>)> {
    let mut placed: Vec<_> = nodes.map(|node| (u8::MAX, None, node)).collect();
    let rule = rule.filter(|rule| rule.content != ElementContent::Anything);
    let mut behind = u8::MAX;
    for (place, child, node) in placed.iter_mut().rev() {
        let Some(rule) = rule else { break };
        if let XmlNode::Element(element) = node {
            (behind, *child) = child_of(rule, *element);
        }
        *place = behind;
    }
    placed
}

/// The place of a child, and what it is by the schema.
fn child_of(
    rule: &'static ElementRule,
    child: XmlElement<'_>,
) -> (u8, Option<&'static ElementRule>) {
    let name = child.name();
    if name.namespace != TOSCA {
        return (1, None);
    }
    if name.local == DOCUMENTATION.name {
        return (0, Some(&DOCUMENTATION));
    }
    let known = rule.children.iter().find(|known| known.rule.name == name.local);
    known.map_or((u8::MAX - 1, None), |known| (2 + known.place, Some(known.rule)))
}
