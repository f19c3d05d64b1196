//! Definitions in the one form in which they are written: what stands in elements in the order of
//! the schema, attributes likewise, namespaces at the root.
//!
//! Nothing changes what a document means. A prefix that means two things is declared at the root
//! with its first meaning, and where it has another one, there; so is a default namespace that is
//! not that of TOSCA, since names without a prefix in what belongs to others may be of it.

use super::read::is_definitions;
use super::rule::{AttributeKind, DEFINITIONS, DOCUMENTATION, ElementContent, ElementRule, TOSCA};
use crate::text::xml::{
    XML, XmlAttribute, XmlDocument, XmlElement, XmlNode, XmlOutput, is_space, with_line_feeds,
};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::collections::BTreeMap;

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
    let form = CanonicalForm::of(document.root(), Vec::new(), rule.is_some());
    form.write(document.nodes().collect(), rule)
}

/// The canonical form of an element that is not of TOSCA as a text of its own, in which these prefixes
/// mean what they mean around it.
pub(crate) fn canonical_element<'d>(
    element: XmlElement<'d>,
    around: Vec<(&'d str, Cow<'d, str>)>,
) -> String {
    let form = CanonicalForm::of(element, around, false);
    let text = form.write(vec![XmlNode::Element(element)], None);
    // Without the declaration that documents begin with.
    let element = text.split_once('\n').map_or(&*text, |(_, element)| element);
    element.trim_end_matches('\n').to_owned()
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

/// What prefixes mean.
type DeclaredPrefixes<'d> = BTreeMap<Cow<'d, str>, Cow<'d, str>>;

/// A node with its place in the order of the schema, and what it is by that.
type PlacedNode<'d> = (u8, Option<&'static ElementRule>, XmlNode<'d>);

struct CanonicalForm<'d> {
    output: XmlOutput<'d>,
    /// What the root declares, by prefixes; the empty one is the default.
    namespaces: DeclaredPrefixes<'d>,
    /// What is next, last first.
    steps: Vec<FormStep<'d>>,
    scopes: Vec<FormScope<'d>>,
    /// Prefixes with another meaning than at the root.
    others: Vec<(&'d str, Cow<'d, str>)>,
    /// The attributes of an element with their positions in the schema, to be sorted.
    attributes: Vec<(usize, XmlAttribute<'d>)>,
    /// What is in an element, and the same with places.
    nodes: Vec<XmlNode<'d>>,
    placed: Vec<PlacedNode<'d>>,
    /// How many prefixes were made up.
    made: usize,
}

impl<'d> CanonicalForm<'d> {
    /// Of this root, around which these prefixes have a meaning.
    fn of(
        root: XmlElement<'d>,
        around: Vec<(&'d str, Cow<'d, str>)>,
        are_definitions: bool,
    ) -> Self {
        let is_inner = root.subtree().skip(1).any(|element| prefixes(element).next().is_some());
        let unbound = if is_inner { unbound_prefixes(root) } else { FxHashSet::default() };
        let declare = |element: XmlElement<'d>, all: &mut DeclaredPrefixes<'d>| {
            let bound = prefixes(element).filter(|(prefix, _)| !unbound.contains(*prefix));
            bound.for_each(|(prefix, uri)| {
                all.entry(Cow::Borrowed(prefix)).or_insert(uri);
            });
        };
        let around = around.into_iter().map(|(prefix, uri)| (Cow::Borrowed(prefix), uri));
        let mut namespaces: DeclaredPrefixes<'d> = around.collect();
        let own = || root.declarations().find(|(prefix, _)| prefix.is_empty());
        let read = namespaces.remove("").or_else(|| Some(own()?.1)).unwrap_or_default();
        declare(root, &mut namespaces);
        if is_inner {
            let mut all = namespaces.clone();
            root.subtree().skip(1).for_each(|element| declare(element, &mut all));
            if all.len() + root.attributes().count() <= AT_ROOT {
                namespaces = all;
            }
        }
        let written = if are_definitions { Cow::Borrowed(TOSCA) } else { read.clone() };
        if !written.is_empty() {
            namespaces.insert(Cow::Borrowed(""), written.clone());
        }
        let whole = root.whole_span();
        Self {
            output: XmlOutput::with_room((whole.end - whole.start) as usize),
            namespaces,
            steps: Vec::new(),
            scopes: vec![FormScope { read, written, others: 0 }],
            others: Vec::new(),
            attributes: Vec::new(),
            nodes: Vec::new(),
            placed: Vec::new(),
            made: 0,
        }
    }

    /// The text of these nodes, of which the element is by this rule.
    fn write(mut self, nodes: Vec<XmlNode<'d>>, rule: Option<&'static ElementRule>) -> String {
        self.steps.extend(nodes.into_iter().rev().map(|node| FormStep::Node(node, rule, false)));
        while let Some(step) = self.steps.pop() {
            match step {
                FormStep::Node(XmlNode::Element(element), rule, is_kept) => {
                    self.element(element, rule, is_kept);
                }
                FormStep::Node(node, ..) => self.other(node),
                FormStep::End => self.end(),
            }
        }
        self.output.finish(&self.namespaces)
    }

    fn element(
        &mut self,
        element: XmlElement<'d>,
        rule: Option<&'static ElementRule>,
        is_kept: bool,
    ) {
        self.output.open(rule.map_or_else(|| element.written_name(), |rule| rule.name));
        self.scope(element, rule);
        let is_said = self.attributes(element, rule);
        self.steps.push(FormStep::End);
        let mut nodes = std::mem::take(&mut self.nodes);
        nodes.extend(element.nodes());
        let is_kept = is_kept || is_said || keeps_blanks(rule, &nodes);
        let is_part =
            |node: &XmlNode<'_>| !matches!(node, XmlNode::Text(..) | XmlNode::Unescaped(..));
        let has_parts = nodes.iter().any(is_part);
        if is_said || has_parts && is_kept && nodes.iter().any(holds_text) {
            self.output.as_it_is();
        }
        let keeps_all = is_kept || rule.is_none() && !has_parts;
        let mut placed = std::mem::take(&mut self.placed);
        placed.extend(nodes.drain(..).filter(|node| keeps_all || is_part(node)).map(unplaced));
        place(&mut placed, rule);
        if !keeps_all && !placed.is_sorted_by_key(|(place, ..)| *place) {
            placed.sort_by_key(|(place, ..)| *place);
        }
        let steps = placed.drain(..).rev();
        self.steps.extend(steps.map(|(_, rule, node)| FormStep::Node(node, rule, is_kept)));
        (self.nodes, self.placed) = (nodes, placed);
    }

    /// Declares what means something else here than around it.
    fn scope(&mut self, element: XmlElement<'d>, rule: Option<&'static ElementRule>) {
        let Some(around) = self.scopes.last() else { return };
        let own = element.declarations().find(|(prefix, _)| prefix.is_empty());
        let read = own.map_or_else(|| around.read.clone(), |(_, uri)| uri);
        // What TOSCA names stands in its namespace; what others name, in the one that they wrote in.
        let written = if rule.is_some() { around.written.clone() } else { read.clone() };
        if written != around.written {
            self.output.declare_here("", &written);
        }
        let scope = FormScope { read, written, others: self.others.len() };
        for (prefix, uri) in prefixes(element) {
            let known = self.others.iter().rev().find(|(other, _)| *other == prefix);
            let known = known.map(|(_, uri)| uri).or_else(|| self.namespaces.get(prefix));
            if known != Some(&uri) {
                self.output.declare_here(prefix, &uri);
                self.others.push((prefix, uri));
            }
        }
        self.scopes.push(scope);
    }

    /// Writes the attributes; whether one of them says that all in the element is kept as it is.
    fn attributes(&mut self, element: XmlElement<'d>, rule: Option<&'static ElementRule>) -> bool {
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
        let mut is_said = false;
        for (at, attribute) in attributes.drain(..) {
            let kind = rule.and_then(|rule| rule.attributes.get(at)).map(|rule| rule.kind);
            let value = match kind {
                None | Some(AttributeKind::Text) => attribute.value(),
                Some(AttributeKind::Component) => self.component(attribute.collapsed()),
                Some(_) => attribute.collapsed(),
            };
            let name = attribute.written_name();
            is_said |= name == "xml:space" && value == "preserve";
            self.output.attribute(name, &value);
        }
        self.attributes = attributes;
        is_said
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
        let mut known = self.namespaces.iter();
        let known = known.find(|(prefix, known)| *known == uri && is_meant(prefix));
        known.map(|(prefix, _)| prefix.to_string())
    }

    /// A prefix that nobody has, for a namespace.
    fn made_prefix(&mut self, uri: Cow<'d, str>) -> String {
        let prefix = loop {
            self.made += 1;
            let made = format!("ns{}", self.made);
            let is_taken = self.others.iter().any(|(other, _)| *other == made);
            if !is_taken && !self.namespaces.contains_key(&*made) {
                break made;
            }
        };
        self.namespaces.insert(Cow::Owned(prefix.clone()), uri);
        prefix
    }

    fn other(&mut self, node: XmlNode<'d>) {
        match node {
            XmlNode::Comment(text, _) => self.output.comment(&with_line_feeds(text)),
            XmlNode::Instruction(text, _) => self.output.instruction(&with_line_feeds(text)),
            XmlNode::Text(..) | XmlNode::Unescaped(..) if holds_text(&node) => {
                self.output.text(&node.text().unwrap_or_default());
            }
            XmlNode::Text(..) | XmlNode::Unescaped(..) | XmlNode::Element(_) => {}
        }
    }

    fn end(&mut self) {
        self.output.close();
        if let Some(scope) = self.scopes.pop() {
            self.others.truncate(scope.others);
        }
    }
}

/// Whether it is text of any length.
fn holds_text(node: &XmlNode<'_>) -> bool {
    match node {
        XmlNode::Text(text, _) | XmlNode::Unescaped(text, _) => !text.is_empty(),
        _ => false,
    }
}

/// The prefixes that an element declares, but for the one that always means what it means.
fn prefixes<'d>(element: XmlElement<'d>) -> impl Iterator<Item = (&'d str, Cow<'d, str>)> {
    element.declarations().filter(|(prefix, uri)| !prefix.is_empty() && uri != XML)
}

/// The prefixes of values that mean nothing where they stand: they are not to mean something for being
/// declared elsewhere.
fn unbound_prefixes(root: XmlElement<'_>) -> FxHashSet<String> {
    let unbound = |element: XmlElement<'_>| {
        let values = element.attributes().map(|attribute| attribute.collapsed());
        let prefixes: Vec<_> = values
            .filter_map(|value| Some(value.split_once(':')?.0.to_owned()))
            .filter(|prefix| element.namespace(prefix).is_none())
            .collect();
        prefixes
    };
    root.subtree().flat_map(unbound).collect()
}

/// Whether all of an element is kept as it is: text that is not blank stands in it beside other
/// parts.
fn keeps_blanks(rule: Option<&'static ElementRule>, nodes: &[XmlNode<'_>]) -> bool {
    let is_text = |node: &XmlNode<'_>| match node {
        // Blank as it is written: most of what stands between elements.
        XmlNode::Text(text, _) if text.chars().all(is_space) => false,
        node => node.text().is_some_and(|text| text.contains(|c| !is_space(c))),
    };
    rule.is_some_and(|rule| rule.content == ElementContent::Mixed) || nodes.iter().any(is_text)
}

fn unplaced(node: XmlNode<'_>) -> PlacedNode<'_> {
    (u8::MAX, None, node)
}

/// Finds the places of nodes, and what they are by the schema: first what is said for people, then what
/// belongs to others. What is no element goes with the element behind it.
fn place(nodes: &mut [PlacedNode<'_>], rule: Option<&'static ElementRule>) {
    let rule = rule.filter(|rule| rule.content != ElementContent::Anything);
    let mut behind = u8::MAX;
    for (place, child, node) in nodes.iter_mut().rev() {
        let Some(rule) = rule else { break };
        if let XmlNode::Element(element) = node {
            (behind, *child) = child_of(rule, *element);
        }
        *place = behind;
    }
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
