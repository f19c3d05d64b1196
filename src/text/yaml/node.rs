//! The tree: one arena a document, nodes as cheap handles into it.

use super::scalar::{Typing, core};
use super::trivia::{Margins, Trivia};
use crate::text::source::{FileId, Span};
use crate::text::value::{Number, Value};
use std::sync::Arc;

/// A parsed document: an arena of nodes over the text of its file.
#[derive(Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Document {
    pub(super) file: FileId,
    pub(super) text: Arc<str>,
    /// The texts of scalars that are not a range of the source.
    pub(super) cooked: String,
    /// In the order of the source, a parent before its children; the first is the root.
    pub(super) nodes: Vec<Record>,
    /// The children of all collections, those of one side by side; keys and values of a map
    /// alternate.
    pub(super) children: Vec<u32>,
    /// Tags that are to be written, in the order of the nodes they belong to.
    pub(super) tags: Vec<(u32, Box<str>)>,
    /// Comments and blank lines, in the order of the entries they belong to.
    pub(super) trivia: Vec<Trivia>,
    /// What stands above the first entry and below the last one.
    pub(super) margins: Margins,
    pub(super) indentation: Indentation,
    /// Whether there are keys in it that are no scalars.
    pub(super) collection_keys: bool,
    /// Whether some scalars have other texts than the source.
    pub(super) is_called_otherwise: bool,
}

/// How the author indents blocks in maps.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Indentation {
    pub(super) map: Option<u32>,
    pub(super) list: Option<u32>,
}

/// A node in the arena.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Record {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Of a scalar: where its text starts; of a collection: its first child; of an alias: the node
    /// it stands for.
    pub(super) first: u32,
    /// Of a scalar: how long its text is; of a collection: how many children it has.
    pub(super) len: u32,
    pub(super) shape: NodeStyle,
    pub(super) typing: Typing,
    /// Whether the text of a scalar is in the side storage, not in the source.
    pub(super) cooked: bool,
    /// A union of the constants below.
    pub(super) marks: u8,
}

impl Record {
    /// It has a tag to be written.
    pub(super) const TAGGED: u8 = 1;
    /// It is an entry with comments or blank lines.
    pub(super) const TRIVIA: u8 = 2;
    /// There is an anchor, an alias, a merge key or a written tag in it, so that the source is not
    /// what is to be written.
    pub(super) const TANGLED: u8 = 4;

    pub(super) fn is(&self, mark: u8) -> bool {
        self.marks & mark != 0
    }
}

/// How a node is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeStyle {
    Plain,
    Quoted,
    Literal,
    Folded,
    BlockMap,
    FlowMap,
    BlockList,
    FlowList,
    Alias,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A scalar.
    Scalar,
    /// A list.
    Sequence,
    /// A map.
    Mapping,
}

/// A scalar, typed by the YAML 1.2 core schema; only plain scalars are anything but strings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// `null`, `~`, or nothing
    Null,
    /// `true`, `True`, `TRUE`, `false`, ...
    Bool(bool),
    /// `12`, `0o14`, `0xC`
    Int(i64),
    /// `1.5`, `.inf`; also an integer past 64 bits.
    Float(f64),
    /// Anything else.
    String(&'a str),
}

impl<'a> Scalar<'a> {
    /// What a text is where it stands plain, neither quoted nor tagged.
    pub fn plain(text: &'a str) -> Self {
        core(text)
    }
}

/// A handle to a node.
///
/// ```
/// use cuvee::source::FileId;
/// use cuvee::yaml::{Limits, Scalar, parse};
/// let document = parse(FileId::DETACHED, "nodes: {shop: {weight: 0x1F}}".into(), &Limits::default()).unwrap();
/// let shop = document.root().get("nodes").and_then(|nodes| nodes.get("shop")).unwrap();
/// assert_eq!(shop.get("weight").and_then(|weight| weight.scalar()), Some(Scalar::Int(31)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    pub(super) document: &'a Document,
    /// Where it stands: for an alias the alias, not what it stands for.
    pub(super) id: u32,
}

/// What tells a node from others: its document, and its place in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeIdentity(usize, u32);

impl Document {
    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many nodes it has: all positions are less.
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The same with other texts for some scalars, by their positions; written it is as it was.
    pub(crate) fn called(mut self, texts: &[(u32, &str)]) -> Self {
        for &(id, text) in texts {
            let Some(record) = self.nodes.get_mut(id as usize) else { continue };
            (record.first, record.len) = (self.cooked.len() as u32, text.len() as u32);
            record.cooked = true;
            self.cooked.push_str(text);
        }
        self.is_called_otherwise = !texts.is_empty();
        self
    }

    /// Whether something in it is called otherwise than it is written.
    pub(crate) fn is_called_otherwise(&self) -> bool {
        self.is_called_otherwise
    }

    /// The root; a null scalar for an empty file.
    pub fn root(&self) -> Node<'_> {
        Node { document: self, id: 0 }
    }

    /// The node at a position that [`Node::position`] said.
    pub(crate) fn at(&self, position: u32) -> Node<'_> {
        Node { document: self, id: position }
    }

    /// The file this is the document of.
    pub fn file(&self) -> FileId {
        self.file
    }

    pub(super) fn slice(&self, start: u32, end: u32) -> &str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    pub(super) fn scalar_text(&self, record: &Record) -> &str {
        self.records().scalar_text(record)
    }

    pub(super) fn children(&self, record: &Record) -> &[u32] {
        match record.shape {
            NodeStyle::BlockMap
            | NodeStyle::FlowMap
            | NodeStyle::BlockList
            | NodeStyle::FlowList => self.records().children_of(record),
            _ => &[],
        }
    }
}

impl<'a> Node<'a> {
    /// The record of what this is; for an alias, of what it stands for.
    pub(super) fn record(self) -> &'a Record {
        let record = self.own_record();
        if record.shape == NodeStyle::Alias {
            &self.document.nodes[record.first as usize]
        } else {
            record
        }
    }

    /// The record of what stands here.
    pub(super) fn own_record(self) -> &'a Record {
        &self.document.nodes[self.id as usize]
    }

    /// The id of what this is; for an alias, of what it stands for.
    pub(super) fn target(self) -> u32 {
        let record = self.own_record();
        if record.shape == NodeStyle::Alias { record.first } else { self.id }
    }

    /// What it is; an alias is what it stands for.
    pub fn kind(self) -> NodeKind {
        match self.record().shape {
            NodeStyle::BlockMap | NodeStyle::FlowMap => NodeKind::Mapping,
            NodeStyle::BlockList | NodeStyle::FlowList => NodeKind::Sequence,
            _ => NodeKind::Scalar,
        }
    }

    /// Whether it is a scalar without quotes.
    pub fn is_plain(self) -> bool {
        self.record().shape == NodeStyle::Plain
    }

    /// The document that it is part of.
    pub fn document(self) -> &'a Document {
        self.document
    }

    /// Whether both are the same node of the same document; an alias is the same as what it stands
    /// for.
    pub fn ptr_eq(self, other: Node<'_>) -> bool {
        std::ptr::eq(self.document, other.document) && self.target() == other.target()
    }

    /// What tells this node from all others that are there at the same time; an alias has that of
    /// what it stands for.
    pub fn identity(self) -> NodeIdentity {
        NodeIdentity(std::ptr::from_ref(self.document).addr(), self.target())
    }

    /// Its position in its document, for [`Document::at`].
    pub(crate) fn position(self) -> u32 {
        self.id
    }

    /// Whether it is an alias of another node.
    pub fn is_alias(self) -> bool {
        self.own_record().shape == NodeStyle::Alias
    }

    /// Its place, without comments; for an alias, that of what it stands for.
    pub fn span(self) -> Span {
        let record = self.record();
        Span { file: self.document.file, start: record.start, end: record.end }
    }

    /// Keys and values in the order written, merge keys (`<<`) already merged; nothing for what is
    /// not a map.
    pub fn entries(self) -> impl ExactSizeIterator<Item = (Node<'a>, Node<'a>)> + Clone {
        let Node { document, .. } = self;
        let children =
            if self.kind() == NodeKind::Mapping { document.children(self.record()) } else { &[] };
        let (pairs, _) = children.as_chunks::<2>();
        pairs
            .iter()
            .map(move |&[key, value]| (Node { document, id: key }, Node { document, id: value }))
    }

    /// The items; nothing for what is not a list.
    pub fn items(self) -> impl ExactSizeIterator<Item = Node<'a>> + Clone {
        let Node { document, .. } = self;
        let children =
            if self.kind() == NodeKind::Sequence { document.children(self.record()) } else { &[] };
        children.iter().map(move |&id| Node { document, id })
    }

    /// The value of this key; scans, so not for large maps in a loop.
    pub fn get(self, key: &str) -> Option<Node<'a>> {
        self.entries().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
    }

    /// The content of a scalar of whatever type, unquoted and unfolded.
    pub fn text(self) -> Option<&'a str> {
        (self.kind() == NodeKind::Scalar).then(|| self.document.scalar_text(self.record()))
    }

    /// The typed scalar.
    pub fn scalar(self) -> Option<Scalar<'a>> {
        let text = self.text()?;
        self.record().typing.read(text)
    }

    /// Whether it is an integer by the core schema, of however many digits: the typed scalar of
    /// one past 64 bits is a float.
    pub fn is_integer(self) -> bool {
        self.text().is_some_and(|text| self.record().typing.is_integer(text))
    }

    /// The string, when it is one by the core schema.
    pub fn as_str(self) -> Option<&'a str> {
        match self.scalar()? {
            Scalar::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, when it is one by the core schema.
    pub fn as_bool(self) -> Option<bool> {
        match self.scalar()? {
            Scalar::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Whether this is a null scalar.
    pub fn is_null(self) -> bool {
        self.scalar() == Some(Scalar::Null)
    }

    /// What this is, for messages: `a map`, `a string`, `a number`, ...
    pub fn describe(self) -> &'static str {
        match (self.kind(), self.scalar()) {
            (NodeKind::Mapping, _) => "a map",
            (NodeKind::Sequence, _) => "a list",
            (_, Some(Scalar::Null)) => "null",
            (_, Some(Scalar::Bool(_))) => "a boolean",
            (_, Some(Scalar::Int(_) | Scalar::Float(_))) => "a number",
            (_, Some(Scalar::String(_)) | None) => "a string",
        }
    }

    /// The value, numbers with the text they were written as, keys that are no scalars as
    /// [`Node::key_text`] has them. Its depth and size are bounded by the limits of the parse.
    pub fn to_value(self) -> Value {
        match self.kind() {
            NodeKind::Mapping => Value::Map(
                self.entries()
                    .map(|(key, value)| (key.key_text().into(), value.to_value()))
                    .collect(),
            ),
            NodeKind::Sequence => Value::List(self.items().map(Node::to_value).collect()),
            NodeKind::Scalar => self.scalar_value(),
        }
    }

    fn scalar_value(self) -> Value {
        let number = |number: Number| {
            let number = number.with_text(self.text().unwrap_or_default());
            Value::Number(number.written_as_integer(self.is_integer()))
        };
        match self.scalar() {
            None | Some(Scalar::Null) => Value::Null,
            Some(Scalar::Bool(value)) => Value::Bool(value),
            Some(Scalar::Int(value)) => number(Number::int(value)),
            Some(Scalar::Float(value)) => number(Number::float(value)),
            Some(Scalar::String(text)) => Value::String(text.into()),
        }
    }
}

impl NodeStyle {
    pub(super) fn is_scalar(self) -> bool {
        matches!(self, Self::Plain | Self::Quoted | Self::Literal | Self::Folded)
    }
}
