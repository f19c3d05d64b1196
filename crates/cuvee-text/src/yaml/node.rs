//! Represents a document as an arena of nodes, with cheap handles to the nodes.

use super::scalar::{Typing, core};
use super::trivia::{Margins, Trivia};
use crate::source::{FileId, SourceText, Span};
use crate::value::{Number, Value};

/// A parsed document: an arena of nodes over the text of its file.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Document {
    pub(super) file: FileId,
    pub(super) text: SourceText,
    /// The texts of scalars that are not a range of the source.
    pub(super) cooked: String,
    /// The nodes in the order of the source, each parent before its children. The first is the
    /// root.
    pub(super) nodes: Vec<Record>,
    /// The children of all collections. Those of one collection are consecutive; in a map, keys and
    /// values alternate.
    pub(super) children: Vec<u32>,
    /// The tags to be written, in the order of their nodes.
    pub(super) tags: Vec<(u32, Box<str>)>,
    /// Comments and blank lines, in the order of the entries that they belong to.
    pub(super) trivia: Vec<Trivia>,
    /// The lines above the first entry and below the last one.
    pub(super) margins: Margins,
    pub(super) indentation: Indentation,
    /// Whether there are keys that are no scalars.
    pub collection_keys: bool,
    /// Whether some scalars have other texts than in the source.
    pub is_called_otherwise: bool,
}

/// The author's indentation of blocks in maps.
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
    /// For a scalar, the start of its text. For a collection, its first child. For an alias, its
    /// target.
    pub(super) first: u32,
    /// For a scalar, the length of its text. For a collection, the number of its children.
    pub(super) len: u32,
    pub(super) shape: NodeStyle,
    pub(super) typing: Typing,
    /// Whether the text of a scalar is in `cooked`, not in the source.
    pub(super) cooked: bool,
    /// A union of the constants below.
    pub(super) marks: u8,
}

impl Record {
    /// The node has a tag to be written.
    pub(super) const TAGGED: u8 = 1;
    /// The node is an entry with comments or blank lines.
    pub(super) const TRIVIA: u8 = 2;
    /// The node contains an anchor, an alias, a merge key or a tag to be written. So its source
    /// text cannot be copied to the output.
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

/// The kind of a node.
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
    /// `null`, `~`, or an empty scalar.
    Null,
    /// A boolean: `true`, `True`, `TRUE`, `false`, ...
    Bool(bool),
    /// An integer, such as `12`, `0o14` or `0xC`.
    Int(i64),
    /// A number such as `1.5` or `.inf`, or an integer beyond 64 bits.
    Float(f64),
    /// Any other scalar.
    String(&'a str),
}

impl<'a> Scalar<'a> {
    /// The scalar that a text is when it is neither quoted nor tagged.
    pub fn plain(text: &'a str) -> Self {
        core(text)
    }
}

/// A cheap handle to a node of a document.
///
/// ```
/// use cuvee_text::source::FileId;
/// use cuvee_text::yaml::{Limits, Scalar, parse};
/// let document = parse(FileId::DETACHED, "nodes: {shop: {weight: 0x1F}}".into(), &Limits::default()).unwrap();
/// let shop = document.root().get("nodes").and_then(|nodes| nodes.get("shop")).unwrap();
/// assert_eq!(shop.get("weight").and_then(|weight| weight.scalar()), Some(Scalar::Int(31)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    pub(super) document: &'a Document,
    /// The position of the node. For an alias, that of the alias itself and not of its target.
    pub(super) id: u32,
}

/// A value that tells a node from all others: its document and its position in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeIdentity(usize, u32);

impl Document {
    /// The source text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The source text, shared with whoever keeps it.
    pub fn shared_text(&self) -> &SourceText {
        &self.text
    }

    /// The number of nodes. All positions are less.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Gives some scalars other texts, by their positions. When the document is written, they
    /// appear as in the source.
    pub fn called(mut self, texts: &[(u32, &str)]) -> Self {
        for &(id, text) in texts {
            let Some(record) = self.nodes.get_mut(id as usize) else { continue };
            (record.first, record.len) = (self.cooked.len() as u32, text.len() as u32);
            record.cooked = true;
            self.cooked.push_str(text);
        }
        self.is_called_otherwise = !texts.is_empty();
        self
    }

    /// Whether some scalars have other texts than in the source.
    pub fn is_called_otherwise(&self) -> bool {
        self.is_called_otherwise
    }

    /// The nodes with tags, each with its tag as it is written.
    pub fn tagged(&self) -> impl Iterator<Item = (Node<'_>, &str)> {
        self.tags.iter().map(|(id, tag)| (self.at(*id), tag.trim_end()))
    }

    /// The root. For an empty file, it is a null scalar.
    pub fn root(&self) -> Node<'_> {
        Node { document: self, id: 0 }
    }

    /// The map that has its key at this place.
    ///
    /// ```
    /// use cuvee_text::source::FileId;
    /// use cuvee_text::yaml::{Limits, parse};
    /// let document = parse(FileId::DETACHED, "shop: {port: 80}".into(), &Limits::default()).unwrap();
    /// let shop = document.root().get("shop").unwrap();
    /// let (port, _) = shop.entries().next().unwrap();
    /// assert!(document.map_of_key(port.span()).unwrap().ptr_eq(shop));
    /// ```
    pub fn map_of_key(&self, place: Span) -> Option<Node<'_>> {
        let mut around = self.root();
        loop {
            // Children are in the order of the source, but for merged ones.
            let children = self.children(around.own_record());
            let start = |id: &u32| self.nodes.get(*id as usize).map_or(0, |record| record.start);
            let last = children.partition_point(|id| start(id) <= place.start).checked_sub(1)?;
            let child = self.at(*children.get(last)?);
            if around.kind() == NodeKind::Mapping && last % 2 == 0 && child.span() == place {
                return Some(around);
            }
            let is_around = child.own_record().end >= place.end && child.span() != place;
            around = Some(child).filter(|_| is_around)?;
        }
    }

    /// The node at a position, which comes from [`Node::position`].
    pub fn at(&self, position: u32) -> Node<'_> {
        Node { document: self, id: position }
    }

    /// The same document at another file, which has the same text.
    pub fn in_file(&self, file: FileId) -> Self {
        Self { file, ..self.clone() }
    }

    /// The file of the document.
    pub fn file(&self) -> FileId {
        self.file
    }

    pub(super) fn slice(&self, start: u32, end: u32) -> &str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    pub(super) fn scalar_text(&self, record: &Record) -> &str {
        self.records().scalar_text(record)
    }

    #[inline]
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
    /// The record of the node; for an alias, that of its target.
    #[inline]
    pub(super) fn record(self) -> &'a Record {
        let record = self.own_record();
        if record.shape == NodeStyle::Alias {
            &self.document.nodes[record.first as usize]
        } else {
            record
        }
    }

    /// The record of the node itself, even if it is an alias.
    #[inline]
    pub(super) fn own_record(self) -> &'a Record {
        &self.document.nodes[self.id as usize]
    }

    /// The id of the node; for an alias, that of its target.
    #[inline]
    pub(super) fn target(self) -> u32 {
        let record = self.own_record();
        if record.shape == NodeStyle::Alias { record.first } else { self.id }
    }

    /// The kind of the node; for an alias, that of its target.
    #[inline]
    pub fn kind(self) -> NodeKind {
        match self.record().shape {
            NodeStyle::BlockMap | NodeStyle::FlowMap => NodeKind::Mapping,
            NodeStyle::BlockList | NodeStyle::FlowList => NodeKind::Sequence,
            _ => NodeKind::Scalar,
        }
    }

    /// Whether the node is a scalar without quotes.
    #[inline]
    pub fn is_plain(self) -> bool {
        self.record().shape == NodeStyle::Plain
    }

    /// The document that contains the node.
    pub fn document(self) -> &'a Document {
        self.document
    }

    /// Whether both handles refer to the same node of the same document. An alias and its target
    /// are the same.
    #[inline]
    pub fn ptr_eq(self, other: Node<'_>) -> bool {
        std::ptr::eq(self.document, other.document) && self.target() == other.target()
    }

    /// A value that tells this node from all others that exist at the same time. An alias has the
    /// same value as its target.
    #[inline]
    pub fn identity(self) -> NodeIdentity {
        NodeIdentity(std::ptr::from_ref(self.document).addr(), self.target())
    }

    /// The position of the node in its document, for [`Document::at`].
    pub fn position(self) -> u32 {
        self.id
    }

    /// Whether the node is an alias.
    #[inline]
    pub fn is_alias(self) -> bool {
        self.own_record().shape == NodeStyle::Alias
    }

    /// The place of the node, without comments. For an alias, the place of its target.
    #[inline]
    pub fn span(self) -> Span {
        let record = self.record();
        Span { file: self.document.file, start: record.start, end: record.end }
    }

    /// The keys and values of a map in the order written, with merge keys (`<<`) already merged.
    /// Empty if the node is no map.
    #[inline]
    pub fn entries(self) -> impl ExactSizeIterator<Item = (Node<'a>, Node<'a>)> + Clone {
        let Node { document, .. } = self;
        let children =
            if self.kind() == NodeKind::Mapping { document.children(self.record()) } else { &[] };
        let (pairs, _) = children.as_chunks::<2>();
        pairs
            .iter()
            .map(move |&[key, value]| (Node { document, id: key }, Node { document, id: value }))
    }

    /// The items of a list. Empty if the node is no list.
    #[inline]
    pub fn items(self) -> impl ExactSizeIterator<Item = Node<'a>> + Clone {
        let Node { document, .. } = self;
        let children =
            if self.kind() == NodeKind::Sequence { document.children(self.record()) } else { &[] };
        children.iter().map(move |&id| Node { document, id })
    }

    /// The items of a list, or the values of a map. Empty if the node is neither.
    #[inline]
    pub fn parts(self) -> impl Iterator<Item = Node<'a>> + Clone {
        self.items().chain(self.entries().map(|(_, part)| part))
    }

    /// The value of a key in a map. It scans the entries, so it is slow in loops over large maps.
    #[inline]
    pub fn get(self, key: &str) -> Option<Node<'a>> {
        self.entries().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
    }

    /// The content of a scalar of any type, without quotes and line folding.
    #[inline]
    pub fn text(self) -> Option<&'a str> {
        (self.kind() == NodeKind::Scalar).then(|| self.document.scalar_text(self.record()))
    }

    /// The scalar with its type.
    #[inline]
    pub fn scalar(self) -> Option<Scalar<'a>> {
        let text = self.text()?;
        self.record().typing.read(text)
    }

    /// Whether the node is an integer by the core schema, with any number of digits. Beyond 64 bits
    /// its [`Scalar`] is a float.
    pub fn is_integer(self) -> bool {
        self.text().is_some_and(|text| self.record().typing.is_integer(text))
    }

    /// The text, if the node is a string by the core schema.
    pub fn as_str(self) -> Option<&'a str> {
        match self.scalar()? {
            Scalar::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if the node is one by the core schema.
    pub fn as_bool(self) -> Option<bool> {
        match self.scalar()? {
            Scalar::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Whether the node is a null scalar.
    pub fn is_null(self) -> bool {
        self.scalar() == Some(Scalar::Null)
    }

    /// The kind of the node for messages: `a map`, `a string`, `a number`, ...
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

    /// The value of the node. Numbers keep the text they were written as. Keys that are no scalars
    /// become their [`Node::key_text`]. The depth and size of the value are bounded by the limits
    /// of parsing.
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
