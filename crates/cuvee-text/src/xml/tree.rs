//! Represents XML documents as trees.

use super::{XML, XMLNS};
use crate::source::{FileId, SourceText, Span};
use indexmap::{Equivalent, IndexSet};
use quick_xml::XmlVersion;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::BytesText;
use quick_xml::events::attributes::Attribute;
use quick_xml::name::QName;
use rustc_hash::FxBuildHasher;
use std::borrow::Cow;
use std::ops::Range;

/// A document. Its nodes are in the order of the text, and each knows where its content ends.
#[derive(Clone, Debug)]
pub struct XmlDocument {
    pub(super) file: FileId,
    pub(super) text: SourceText,
    pub(super) nodes: Vec<NodeData>,
    pub(super) attributes: Vec<AttributeData>,
    pub(super) names: NameTable,
    /// The number of the node of the root element.
    pub(super) root: u32,
}

/// The kinds of nodes that are no elements, in the place of a name.
pub(super) const TEXT: u32 = u32::MAX;
pub(super) const CDATA: u32 = u32::MAX - 1;
pub(super) const COMMENT: u32 = u32::MAX - 2;
pub(super) const INSTRUCTION: u32 = u32::MAX - 3;
/// The parent of nodes that are in no element.
pub(super) const NOTHING: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct NodeData {
    /// The name of an element, or one of the constants above.
    pub(super) name: u32,
    /// The start of the node: its `<`, if it has one.
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) parent: u32,
    /// The number of the first node behind this one and its content.
    pub(super) next: u32,
    pub(super) attributes: u32,
    pub(super) attribute_count: u16,
    /// The length of the name as it is written.
    pub(super) written: u16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct AttributeData {
    pub(super) name: u32,
    pub(super) start: u32,
    pub(super) value: u32,
    pub(super) end: u32,
    /// The length of the name as it is written.
    pub(super) written: u16,
}

/// A table of namespaces and names, each once.
#[derive(Clone, Debug)]
pub(super) struct NameTable {
    namespaces: IndexSet<Box<str>, FxBuildHasher>,
    names: IndexSet<(u32, Box<str>), FxBuildHasher>,
}

/// The numbers of the namespaces that are predefined: no namespace, and those of the prefixes `xml`
/// and `xmlns`.
pub(super) const NO_NAMESPACE: u32 = 0;
pub(super) const XML_NAMESPACE: u32 = 1;
pub(super) const DECLARATIONS: u32 = 2;

#[derive(Hash)]
struct NameKey<'k>(u32, &'k str);

impl Equivalent<(u32, Box<str>)> for NameKey<'_> {
    fn equivalent(&self, key: &(u32, Box<str>)) -> bool {
        self.0 == key.0 && *self.1 == *key.1
    }
}

impl Default for NameTable {
    fn default() -> Self {
        let mut table = Self { namespaces: IndexSet::default(), names: IndexSet::default() };
        for known in ["", XML, XMLNS] {
            table.namespaces.insert(known.into());
        }
        table
    }
}

impl NameTable {
    pub(super) fn namespace(&mut self, uri: &str) -> u32 {
        let at = match self.namespaces.get_index_of(uri) {
            Some(at) => at,
            None => self.namespaces.insert_full(uri.into()).0,
        };
        // There are fewer namespaces than bytes of the text.
        u32::try_from(at).unwrap_or(NO_NAMESPACE)
    }

    pub(super) fn name(&mut self, namespace: u32, local: &str) -> u32 {
        let at = match self.names.get_index_of(&NameKey(namespace, local)) {
            Some(at) => at,
            None => self.names.insert_full((namespace, local.into())).0,
        };
        u32::try_from(at).unwrap_or(TEXT)
    }

    pub(super) fn namespace_of(&self, name: u32) -> u32 {
        self.names.get_index(name as usize).map_or(NO_NAMESPACE, |name| name.0)
    }

    fn get(&self, name: u32) -> XmlName<'_> {
        let Some((namespace, local)) = self.names.get_index(name as usize) else {
            return XmlName { namespace: "", local: "" };
        };
        let namespace = self.namespaces.get_index(*namespace as usize);
        XmlName { namespace: namespace.map_or("", |uri| uri), local }
    }
}

/// A name with its namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct XmlName<'d> {
    /// The namespace. It is empty if the name has none.
    pub namespace: &'d str,
    /// The local name.
    pub local: &'d str,
}

impl std::fmt::Display for XmlName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.namespace {
            "" => f.write_str(self.local),
            namespace => write!(f, "{{{namespace}}}{}", self.local),
        }
    }
}

/// A node of a document.
#[derive(Clone, Copy, Debug)]
pub enum XmlNode<'d> {
    /// An element.
    Element(XmlElement<'d>),
    /// A text as it is written, with its references, and its place.
    Text(&'d str, Span),
    /// The text of a `CDATA` section, and the place of the section.
    Unescaped(&'d str, Span),
    /// The text of a comment without its delimiters, and its place.
    Comment(&'d str, Span),
    /// A processing instruction without its delimiters, and its place.
    Instruction(&'d str, Span),
}

impl<'d> XmlNode<'d> {
    /// The text with its references resolved. `None` where the node is no text.
    pub fn text(self) -> Option<Cow<'d, str>> {
        match self {
            Self::Text(text, _) => Some(meant(text)),
            Self::Unescaped(text, _) => Some(with_line_feeds(text)),
            _ => None,
        }
    }
}

/// An element of a document.
#[derive(Clone, Copy, Debug)]
pub struct XmlElement<'d> {
    document: &'d XmlDocument,
    index: u32,
}

/// An attribute of an element.
#[derive(Clone, Copy, Debug)]
pub struct XmlAttribute<'d> {
    document: &'d XmlDocument,
    data: AttributeData,
}

impl XmlDocument {
    /// The file of the document.
    pub fn file(&self) -> FileId {
        self.file
    }

    /// The root element.
    pub fn root(&self) -> XmlElement<'_> {
        XmlElement { document: self, index: self.root }
    }

    /// The top-level nodes: comments, processing instructions and the root element.
    pub fn nodes(&self) -> impl Iterator<Item = XmlNode<'_>> {
        self.siblings(0, self.nodes.len() as u32)
    }

    /// All elements of the document, in the order of the text.
    pub fn elements(&self) -> impl Iterator<Item = XmlElement<'_>> {
        self.elements_among(0..self.nodes.len() as u32)
    }

    fn elements_among(&self, nodes: Range<u32>) -> impl Iterator<Item = XmlElement<'_>> {
        nodes.filter_map(|index| match self.nodes.get(index as usize)?.name {
            TEXT | CDATA | COMMENT | INSTRUCTION => None,
            _ => Some(XmlElement { document: self, index }),
        })
    }

    fn siblings(&self, first: u32, end: u32) -> impl Iterator<Item = XmlNode<'_>> {
        let within = move |index: &u32| *index < end;
        let next = |index: &u32| Some(self.nodes.get(*index as usize)?.next);
        let indices = std::iter::successors(Some(first).filter(within), move |index| {
            next(index).filter(within)
        });
        indices.filter_map(|index| self.node(index))
    }

    pub(super) fn node(&self, index: u32) -> Option<XmlNode<'_>> {
        let data = self.nodes.get(index as usize)?;
        let span = self.span(data.start, data.end);
        let inside = |before: u32, behind: u32| {
            self.slice(data.start + before, data.end.saturating_sub(behind))
        };
        Some(match data.name {
            TEXT => XmlNode::Text(inside(0, 0), span),
            CDATA => XmlNode::Unescaped(inside(9, 3), span),
            COMMENT => XmlNode::Comment(inside(4, 3), span),
            INSTRUCTION => XmlNode::Instruction(inside(2, 2), span),
            _ => XmlNode::Element(XmlElement { document: self, index }),
        })
    }

    fn slice(&self, start: u32, end: u32) -> &str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    fn span(&self, start: u32, end: u32) -> Span {
        Span { file: self.file, start, end }
    }

    /// The attributes of a node, including declarations of namespaces.
    fn written_attributes(&self, index: u32) -> &[AttributeData] {
        let Some(node) = self.nodes.get(index as usize) else { return &[] };
        let start = node.attributes as usize;
        self.attributes.get(start..start + usize::from(node.attribute_count)).unwrap_or_default()
    }

    /// The namespace that a prefix has inside of an element. The empty prefix stands for the
    /// default namespace.
    fn namespace(&self, mut element: u32, prefix: &str) -> Option<Cow<'_, str>> {
        loop {
            for declared in self.written_attributes(element) {
                if self.names.namespace_of(declared.name) == DECLARATIONS
                    && self.declared_prefix(declared) == prefix
                {
                    return Some(self.value_of(declared));
                }
            }
            match self.nodes.get(element as usize)?.parent {
                NOTHING => break,
                parent => element = parent,
            }
        }
        match prefix {
            "xml" => Some(Cow::Borrowed(XML)),
            "xmlns" => Some(Cow::Borrowed(XMLNS)),
            "" => Some(Cow::Borrowed("")),
            _ => None,
        }
    }

    /// The value of an attribute.
    pub(super) fn value_of(&self, data: &AttributeData) -> Cow<'_, str> {
        XmlAttribute { document: self, data: *data }.value()
    }

    /// The prefix that a declaration declares.
    fn declared_prefix(&self, declared: &AttributeData) -> &str {
        let written = self.slice(declared.start, declared.start + u32::from(declared.written));
        written.strip_prefix("xmlns:").unwrap_or_default()
    }
}

impl<'d> XmlElement<'d> {
    fn data(self) -> &'d NodeData {
        // The index is valid, because the element was found among these nodes.
        &self.document.nodes[self.index as usize]
    }

    /// The name of the element.
    pub fn name(self) -> XmlName<'d> {
        self.document.names.get(self.data().name)
    }

    /// The number of the name in the document. Equal names have equal numbers.
    pub fn name_id(self) -> u32 {
        self.data().name
    }

    /// The name as it is written.
    pub fn written_name(self) -> &'d str {
        let start = self.data().start + 1;
        self.document.slice(start, start + u32::from(self.data().written))
    }

    /// The place of the name in the start tag.
    pub fn span(self) -> Span {
        let start = self.data().start + 1;
        self.document.span(start, start + u32::from(self.data().written))
    }

    /// The place of the whole element, from its start tag to its end tag.
    pub fn whole_span(self) -> Span {
        self.document.span(self.data().start, self.data().end)
    }

    /// The parent of the element. `None` for the root.
    pub fn parent(self) -> Option<Self> {
        let parent = self.data().parent;
        (parent != NOTHING).then_some(Self { index: parent, ..self })
    }

    /// The number of the first node behind the element and its content.
    pub(super) fn following(self) -> u32 {
        self.data().next
    }

    /// The child nodes.
    pub fn nodes(self) -> impl Iterator<Item = XmlNode<'d>> {
        self.document.siblings(self.index + 1, self.data().next)
    }

    /// The child elements.
    pub fn elements(self) -> impl Iterator<Item = XmlElement<'d>> {
        self.nodes().filter_map(|node| match node {
            XmlNode::Element(element) => Some(element),
            _ => None,
        })
    }

    /// The element and all elements in it, in the order of the text.
    pub fn subtree(self) -> impl Iterator<Item = XmlElement<'d>> {
        self.document.elements_among(self.index..self.data().next)
    }

    /// The attributes, without declarations of namespaces.
    pub fn attributes(self) -> impl Iterator<Item = XmlAttribute<'d>> {
        let all = self.document.written_attributes(self.index).iter();
        let names = &self.document.names;
        all.filter(|data| names.namespace_of(data.name) != DECLARATIONS)
            .map(move |&data| XmlAttribute { document: self.document, data })
    }

    /// The attribute of a name without a namespace.
    pub fn attribute(self, local: &str) -> Option<XmlAttribute<'d>> {
        self.attributes().find(|attribute| attribute.name() == XmlName { namespace: "", local })
    }

    /// The namespaces that the element declares, each with its prefix. The empty prefix stands for
    /// the default namespace.
    pub fn declarations(self) -> impl Iterator<Item = (&'d str, Cow<'d, str>)> {
        let document = self.document;
        let all = document.written_attributes(self.index).iter();
        all.filter(|data| document.names.namespace_of(data.name) == DECLARATIONS)
            .map(|data| (document.declared_prefix(data), document.value_of(data)))
    }

    /// The namespace of a prefix at this element. The empty prefix stands for the default
    /// namespace, which may be empty.
    pub fn namespace(self, prefix: &str) -> Option<Cow<'d, str>> {
        self.document.namespace(self.index, prefix)
    }

    /// The text directly in the element, without the text of child elements.
    pub fn text(self) -> Cow<'d, str> {
        let mut texts = self.nodes().filter_map(XmlNode::text);
        let first = texts.next().unwrap_or_default();
        texts.fold(first, |text, more| text + more)
    }
}

/// Resolves a text: line ends become line feeds, and references become characters.
fn meant(text: &str) -> Cow<'_, str> {
    let lines = with_line_feeds(text);
    match lines {
        Cow::Borrowed(lines) => unescape(lines).unwrap_or(Cow::Borrowed(lines)),
        Cow::Owned(lines) => {
            let meant = unescape(&lines).map(Cow::into_owned);
            Cow::Owned(meant.unwrap_or(lines))
        }
    }
}

/// Replaces all line ends by line feeds (XML 1.0, section 2.11).
pub fn with_line_feeds(text: &str) -> Cow<'_, str> {
    match text.contains('\r') {
        true => Cow::Owned(BytesText::from_escaped(text).xml10_content().into_owned()),
        false => Cow::Borrowed(text),
    }
}

/// A value without blanks around it, and with single blanks inside.
pub fn collapsed(value: &str) -> Cow<'_, str> {
    let value = value.trim_matches(' ');
    if !value.contains("  ") {
        return Cow::Borrowed(value);
    }
    let words: Vec<_> = value.split(' ').filter(|word| !word.is_empty()).collect();
    Cow::Owned(words.join(" "))
}

impl<'d> XmlAttribute<'d> {
    /// The name of the attribute.
    pub fn name(self) -> XmlName<'d> {
        self.document.names.get(self.data.name)
    }

    /// The name as it is written.
    pub fn written_name(self) -> &'d str {
        self.document.slice(self.data.start, self.data.start + u32::from(self.data.written))
    }

    /// The value. White space characters have become blanks, and references are resolved.
    pub fn value(self) -> Cow<'d, str> {
        let raw = self.document.slice(self.data.value, self.data.end);
        if !raw.bytes().any(|byte| matches!(byte, b'&' | b'\t' | b'\n' | b'\r')) {
            return Cow::Borrowed(raw);
        }
        let attribute = Attribute { key: QName(""), value: Cow::Borrowed(raw) };
        let resolve = resolve_predefined_entity;
        let value = attribute.normalized_value_with(XmlVersion::Implicit1_0, 1, resolve);
        value.unwrap_or(Cow::Borrowed(raw))
    }

    /// The value without white space around it, and with single blanks inside.
    pub fn collapsed(self) -> Cow<'d, str> {
        match self.value() {
            Cow::Borrowed(value) => collapsed(value),
            Cow::Owned(value) => Cow::Owned(collapsed(&value).into_owned()),
        }
    }

    /// The place of the name.
    pub fn span(self) -> Span {
        self.document.span(self.data.start, self.data.start + u32::from(self.data.written))
    }

    /// The place of the value, without quotes.
    pub fn value_span(self) -> Span {
        self.document.span(self.data.value, self.data.end)
    }
}
