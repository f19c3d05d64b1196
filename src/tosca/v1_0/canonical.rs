//! Writes definitions in a canonical form: the content of elements and the attributes are in the
//! order of the schema, and namespaces are declared at the root.
//!
//! The canonical form has the same meaning as the document. A prefix with two meanings is declared
//! at the root with its first meaning, and again at each element where it has another one. A
//! default namespace other than that of TOSCA is also declared where it applies, because names
//! without a prefix in elements of other namespaces may belong to it.

use super::read::is_definitions;
use super::rule::{AttributeKind, DEFINITIONS, ElementContent, ElementRule, TOSCA};
use cuvee_text::xml::{
    XML, XmlAttribute, XmlDocument, XmlElement, XmlNode, XmlOutput, is_space, with_line_feeds,
};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The largest number of namespaces and attributes at the root. If there would be more, inner
/// namespaces are declared where they were, because readers limit their number at one element.
const AT_ROOT: usize = 500;

/// Writes a document in canonical form. The document need not contain definitions.
///
/// ```
/// use cuvee::source::FileId;
/// use cuvee::parts::tosca::canonical_definitions;
/// use cuvee::parts::xml::{XmlLimits, parse};
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

/// Writes an element of another namespace in canonical form as a text of its own. The prefixes in
/// `around` have their meaning there as well.
pub(crate) fn canonical_element<'d>(
    element: XmlElement<'d>,
    around: Vec<(&'d str, Cow<'d, str>)>,
) -> String {
    let form = CanonicalForm::of(element, around, false);
    let text = form.write(vec![XmlNode::Element(element)], None);
    // Remove the declaration at the beginning of a document.
    let element = text.split_once('\n').map_or(&*text, |(_, element)| element);
    element.trim_end_matches('\n').to_owned()
}

enum FormStep<'d> {
    /// The next node, its rule in the schema, and whether blanks around it are kept.
    Node(XmlNode<'d>, Option<&'static ElementRule>, bool),
    /// The end of an element.
    End,
}

/// The meaning of prefixes inside an element.
struct FormScope<'d> {
    /// The default namespaces in the source and in the output.
    read: Cow<'d, str>,
    written: Cow<'d, str>,
    /// The number of entries in `CanonicalForm::others` before the element.
    others: usize,
}

/// Namespaces by their prefixes.
type DeclaredPrefixes<'d> = BTreeMap<Cow<'d, str>, Cow<'d, str>>;

/// A node with its place in the order of the schema, and its rule in the schema.
type PlacedNode<'d> = (u8, Option<&'static ElementRule>, XmlNode<'d>);

struct CanonicalForm<'d> {
    output: XmlOutput<'d>,
    /// The namespaces that the root declares, by prefix. The empty prefix is the default namespace.
    namespaces: DeclaredPrefixes<'d>,
    /// The remaining steps. The next one is the last in the list.
    steps: Vec<FormStep<'d>>,
    scopes: Vec<FormScope<'d>>,
    /// The prefixes that have another meaning here than at the root.
    others: Vec<(&'d str, Cow<'d, str>)>,
    /// A buffer for sorting the attributes of an element by their positions in the schema.
    attributes: Vec<(usize, XmlAttribute<'d>)>,
    /// Buffers for the nodes of an element, without and with their places.
    nodes: Vec<XmlNode<'d>>,
    placed: Vec<PlacedNode<'d>>,
    /// The number of invented prefixes.
    made: usize,
}

impl<'d> CanonicalForm<'d> {
    /// Prepares to write this root. The prefixes in `around` already have a meaning.
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

    /// Writes these nodes. The rule is that of the element among them.
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

    /// Declares the prefixes whose meaning changes at this element.
    fn scope(&mut self, element: XmlElement<'d>, rule: Option<&'static ElementRule>) {
        let Some(around) = self.scopes.last() else { return };
        let own = element.declarations().find(|(prefix, _)| prefix.is_empty());
        let read = own.map_or_else(|| around.read.clone(), |(_, uri)| uri);
        // Names of TOSCA are in its namespace. Other names are in the namespace that their author
        // used.
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

    /// Writes the attributes. Returns whether one of them requires that the content is kept as it
    /// is.
    fn attributes(&mut self, element: XmlElement<'d>, rule: Option<&'static ElementRule>) -> bool {
        let position = |attribute: &XmlAttribute<'d>| {
            let name = attribute.name();
            let known = rule
                .filter(|_| name.namespace.is_empty())
                .and_then(|rule| rule.position(name.local));
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

    /// The name of a component in the output. A name without a prefix needs one if its default
    /// namespace is not that of TOSCA.
    fn component(&mut self, name: Cow<'d, str>) -> Cow<'d, str> {
        let Some(FormScope { read, written, .. }) = self.scopes.last() else { return name };
        if read == written || read.is_empty() || name.contains(':') {
            return name;
        }
        let read = read.clone();
        let prefix = self.known_prefix(&read).unwrap_or_else(|| self.made_prefix(read));
        Cow::Owned(format!("{prefix}:{name}"))
    }

    /// A declared prefix that stands for a namespace here.
    fn known_prefix(&self, uri: &str) -> Option<String> {
        let is_meant = |prefix: &str| {
            !prefix.is_empty() && self.others.iter().all(|(other, _)| *other != prefix)
        };
        let mut known = self.namespaces.iter();
        let known = known.find(|(prefix, known)| *known == uri && is_meant(prefix));
        known.map(|(prefix, _)| prefix.to_string())
    }

    /// Declares a new prefix for a namespace.
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

/// Whether the node is text that is not empty.
fn holds_text(node: &XmlNode<'_>) -> bool {
    match node {
        XmlNode::Text(text, _) | XmlNode::Unescaped(text, _) => !text.is_empty(),
        _ => false,
    }
}

/// The prefixes that an element declares, except the predefined one for XML.
fn prefixes<'d>(element: XmlElement<'d>) -> impl Iterator<Item = (&'d str, Cow<'d, str>)> {
    element.declarations().filter(|(prefix, uri)| !prefix.is_empty() && uri != XML)
}

/// The prefixes in values that are not declared where they are used. They must not gain a meaning
/// from a declaration at the root.
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

/// Whether the content of an element is kept as it is, because it has text that is not blank beside
/// other nodes.
fn keeps_blanks(rule: Option<&'static ElementRule>, nodes: &[XmlNode<'_>]) -> bool {
    let is_text = |node: &XmlNode<'_>| match node {
        // This is the quick test for blanks in their written form, which most text between elements
        // consists of.
        XmlNode::Text(text, _) if text.chars().all(is_space) => false,
        node => node.text().is_some_and(|text| text.contains(|c| !is_space(c))),
    };
    rule.is_some_and(|rule| rule.content == ElementContent::Mixed) || nodes.iter().any(is_text)
}

fn unplaced(node: XmlNode<'_>) -> PlacedNode<'_> {
    (u8::MAX, None, node)
}

/// Finds the places of nodes and their rules in the schema. Documentation comes first, followed by
/// elements of other namespaces. A node that is not an element shares the place of the element
/// behind it.
fn place(nodes: &mut [PlacedNode<'_>], rule: Option<&'static ElementRule>) {
    let rule = rule.filter(|rule| rule.content != ElementContent::Anything);
    let mut behind = u8::MAX;
    for (place, child, node) in nodes.iter_mut().rev() {
        let Some(rule) = rule else { break };
        if let XmlNode::Element(element) = node {
            let name = element.name();
            (behind, *child) = rule.child(name.namespace, name.local);
        }
        *place = behind;
    }
}
