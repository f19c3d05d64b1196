//! From an output tree to text.
//!
//! Whatever is written, from the source or new, is an [`Item`], so that there is one way to write a
//! map, a list and a scalar each.

use super::node::{Document, Node, NodeKind, NodeStyle, Record, Scalar};
use super::quote::{fits_literal, fits_plain, push_double_quoted, push_string};
use super::scalar::{Typing, core};
use super::trivia::{CommentPlace, Lines, Trivia, line_start, trim_blank_lines};
use crate::text::value::{Number, Value};
use memchr::memchr;
use std::borrow::Cow;

/// A key of an output map.
#[derive(Clone, Debug)]
pub enum OutKey<'a> {
    /// As its author wrote it, with the comments above and behind it.
    Source(Node<'a>),
    /// A new one in the place of this one, with the comments above and behind that.
    Renamed(Node<'a>, Cow<'a, str>),
    /// A new one.
    New(Cow<'a, str>),
}

/// An output tree: parts of the source as they are, and what is new.
#[derive(Clone, Debug)]
pub enum Out<'a> {
    /// A whole subtree as its author wrote it.
    Source(Node<'a>),
    /// A new string; quoted where a reader would take it for something else.
    String(Cow<'a, str>),
    /// A new value.
    Value(Value),
    /// What takes the place of a map that held it alone under this key: it brings the comment
    /// behind the key along.
    Lifted(Node<'a>, Box<Out<'a>>),
    /// In a map: what stands where these entries were, which are left out: their comments come
    /// above it.
    Below(Vec<Node<'a>>, Box<Out<'a>>),
    /// A map; `like` is the source collection whose style it takes.
    Map {
        /// In the order to be written.
        entries: Vec<(OutKey<'a>, Out<'a>)>,
        /// Block style where there is none. At the root also the document whose head and foot
        /// comments are kept.
        like: Option<Node<'a>>,
    },
    /// A list; each item with the source item whose comments it keeps.
    Seq {
        /// In the order to be written.
        items: Vec<(Option<Node<'a>>, Out<'a>)>,
        /// Block style where there is none. At the root also the document whose head and foot
        /// comments are kept.
        like: Option<Node<'a>>,
    },
    /// In a map or list: one of these under its condition, of which at most one holds, or nothing;
    /// conditions have numbers. Only open texts tell them apart.
    #[doc(hidden)]
    Cases(Vec<(u32, Out<'a>)>),
    /// A scalar on one line that is known later, by its number.
    #[doc(hidden)]
    Later(u32),
}

/// Writes YAML.
///
/// ```
/// use cuvee::source::FileId;
/// use cuvee::yaml::{Limits, Out, OutKey, parse, write_yaml};
/// let document = parse(FileId::DETACHED, "shop:   # ours\n    port: 0x50\n    old: yes\n".into(), &Limits::default()).unwrap();
/// let (key, shop) = document.root().entries().next().unwrap();
/// let (port, value) = shop.entries().next().unwrap();
/// let kept = vec![(OutKey::Source(port), Out::Source(value)), (OutKey::New("tag".into()), Out::String("no".into()))];
/// let out = Out::Map {
///     entries: vec![(OutKey::Source(key), Out::Map { entries: kept, like: Some(shop) })],
///     like: Some(document.root()),
/// };
/// assert_eq!(write_yaml(&out), "shop:   # ours\n    port: 0x50\n    tag: 'no'\n");
/// ```
pub fn write_yaml(out: &Out<'_>) -> String {
    written(out).out
}

/// A text with parts that are there under conditions.
#[derive(Debug)]
pub(crate) struct OpenText {
    /// All parts.
    pub text: String,
    /// Where they begin and end, in order, nested like brackets.
    pub marks: Vec<(usize, OpenMark)>,
}

/// Where a part of an open text begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenMark {
    /// The start of a map or list that begins with what is there under a condition.
    Collection,
    /// The start of an entry or item that is there under the condition of this number.
    When(u32),
    /// The start of what is there only behind another entry or item of the collection around.
    Behind,
    /// The start of what stands for a scalar that is known later.
    Later(u32),
    /// The end of what began last.
    End,
}

/// Writes YAML of which parts are open; nothing where conditions would decide about the style of
/// what is around them.
pub(crate) fn write_open(out: &Out<'_>) -> Option<OpenText> {
    let YamlWriter { out: text, marks, is_stuck, .. } = written(out);
    // A document of which nothing is left would not be written as nothing.
    let is_certain = |&(at, _): &(usize, OpenMark)| 0 < at && at < text.len();
    let has_rest = marks.first().is_none_or(is_certain) || marks.last().is_none_or(is_certain);
    (!is_stuck && has_rest).then_some(OpenText { text, marks })
}

fn written(out: &Out<'_>) -> YamlWriter {
    let root = Item::from(out);
    let document = root.like().map(|like| like.document);
    let capacity = document.map_or(0, |document| document.text.len());
    let mut writer = YamlWriter::new(capacity, Style::of(document));
    let margins = root.like().filter(|like| like.id == 0).map(|like| &like.document.margins);
    if let Some(margins) = margins {
        writer.out.push_str(&margins.top);
    }
    writer.root(root);
    if let Some(margins) = margins {
        writer.out.push_str(&margins.bottom);
    }
    if writer.out.is_empty() {
        writer.out.push_str("null\n");
    }
    writer
}

/// Writes a value in one line, strings with quotes where a reader would take them for something
/// else.
///
/// ```
/// use cuvee::yaml::write_flow;
/// assert_eq!(write_flow(&vec!["80".into(), 80.into(), "a b".into()].into()), "['80', 80, a b]");
/// ```
pub fn write_flow(value: &Value) -> String {
    let mut writer = YamlWriter::new(0, Style::of(None));
    writer.inline(Item::Value(value), ScalarContext::Flow);
    writer.out
}

/// Writes a value in one line as [`write_flow`], for labels and messages: a map with one entry has
/// no braces around it.
///
/// ```
/// use cuvee::source::FileId;
/// use cuvee::yaml::{Limits, parse, write_line};
/// let document = parse(FileId::DETACHED, "equal:\n- variability_input: size\n- 1.10\n".into(), &Limits::default()).unwrap();
/// assert_eq!(write_line(&document.root().to_value()), "equal: [{variability_input: size}, 1.10]");
/// ```
pub fn write_line(value: &Value) -> String {
    let line = write_flow(value);
    match value {
        Value::Map(entries) if entries.len() == 1 => line
            .strip_prefix('{')
            .and_then(|line| line.strip_suffix('}'))
            .unwrap_or(&line)
            .to_owned(),
        _ => line,
    }
}

/// Anything that can be written.
#[derive(Clone, Copy)]
pub(super) enum Item<'i, 'a> {
    Source(Node<'a>),
    Out(&'i Out<'a>),
    Value(&'i Value),
}

/// A key of anything that can be written.
#[derive(Clone, Copy)]
pub(super) enum ItemKey<'i, 'a> {
    Source(Node<'a>),
    Renamed(Node<'a>, &'i str),
    New(&'i str),
}

impl<'i, 'a> From<&'i Out<'a>> for Item<'i, 'a> {
    fn from(out: &'i Out<'a>) -> Self {
        match out {
            Out::Source(node) => Self::Source(*node),
            Out::Value(value) => Self::Value(value),
            Out::Lifted(_, value) | Out::Below(_, value) => Self::from(&**value),
            _ => Self::Out(out),
        }
    }
}

impl<'a> Out<'a> {
    /// The key whose comment it brings along.
    fn lifted(&self) -> Option<Node<'a>> {
        match self {
            Self::Lifted(key, value) => Some(value.lifted().unwrap_or(*key)),
            Self::Below(_, value) => value.lifted(),
            _ => None,
        }
    }

    /// The entries whose comments come above it.
    fn gone(&self) -> &[Node<'a>] {
        match self {
            Self::Below(gone, _) => gone,
            Self::Lifted(_, value) => value.gone(),
            _ => &[],
        }
    }

    /// Calls back with what may be there, and with what that brings along.
    fn each_case<'i>(&'i self, mut case: impl FnMut(Item<'i, 'a>, Along<'i, 'a>)) {
        let mut one = |out: &'i Self, when| {
            case(out.into(), Along { lifted: out.lifted(), gone: out.gone(), when });
        };
        match self {
            Self::Cases(cases) => cases.iter().for_each(|(when, out)| one(out, Some(*when))),
            out => one(out, None),
        }
    }
}

/// What an entry or item brings along.
#[derive(Clone, Copy, Default)]
pub(super) struct Along<'i, 'a> {
    /// The key whose comment it has.
    pub(super) lifted: Option<Node<'a>>,
    /// The entries whose comments come above it.
    gone: &'i [Node<'a>],
    /// The condition under which it is there.
    when: Option<u32>,
}

impl<'i, 'a> Item<'i, 'a> {
    pub(super) fn kind(self) -> NodeKind {
        match self {
            Self::Source(node) => node.kind(),
            Self::Out(Out::Map { .. }) | Self::Value(Value::Map(_)) => NodeKind::Mapping,
            Self::Out(Out::Seq { .. }) | Self::Value(Value::List(_)) => NodeKind::Sequence,
            _ => NodeKind::Scalar,
        }
    }

    pub(super) fn is_empty(self) -> bool {
        match self {
            Self::Source(node) => node.record().len == 0,
            Self::Out(Out::Map { entries, .. }) => entries.is_empty(),
            Self::Out(Out::Seq { items, .. }) => items.is_empty(),
            Self::Value(Value::Map(entries)) => entries.is_empty(),
            Self::Value(Value::List(items)) => items.is_empty(),
            _ => false,
        }
    }

    /// The source collection whose style it takes.
    pub(super) fn like(self) -> Option<Node<'a>> {
        match self {
            Self::Source(node) => Some(node),
            Self::Out(Out::Map { like, .. } | Out::Seq { like, .. }) => *like,
            _ => None,
        }
    }

    /// Calls back with each entry of a map, and with what its value brings along.
    pub(super) fn each_entry(
        self,
        mut entry: impl FnMut(ItemKey<'i, 'a>, Item<'i, 'a>, Along<'i, 'a>),
    ) {
        match self {
            Self::Source(node) => node.entries().for_each(|(key, value)| {
                entry(ItemKey::Source(key), Item::Source(value), Along::default())
            }),
            Self::Out(Out::Map { entries, .. }) => entries.iter().for_each(|(key, value)| {
                let key = match key {
                    OutKey::Source(key) => ItemKey::Source(*key),
                    OutKey::Renamed(key, new) => ItemKey::Renamed(*key, new),
                    OutKey::New(key) => ItemKey::New(key),
                };
                value.each_case(|value, along| entry(key, value, along));
            }),
            Self::Value(Value::Map(entries)) => entries.iter().for_each(|(key, value)| {
                entry(ItemKey::New(key), Item::Value(value), Along::default())
            }),
            _ => {}
        }
    }

    /// Calls back with each item of a list, the source item whose comments it has, and what it
    /// brings along.
    pub(super) fn each_item(
        self,
        mut item: impl FnMut(Option<Node<'a>>, Item<'i, 'a>, Along<'i, 'a>),
    ) {
        match self {
            Self::Source(node) => {
                node.items().for_each(|node| item(Some(node), Item::Source(node), Along::default()))
            }
            Self::Out(Out::Seq { items, .. }) => items
                .iter()
                .for_each(|(owner, out)| out.each_case(|out, along| item(*owner, out, along))),
            Self::Value(Value::List(items)) => {
                items.iter().for_each(|value| item(None, Item::Value(value), Along::default()))
            }
            _ => {}
        }
    }

    /// Whether a condition decides about the first entry or item.
    fn begins_open(self) -> bool {
        let first = match self {
            Self::Out(Out::Map { entries, .. }) => entries.first().map(|(_, value)| value),
            Self::Out(Out::Seq { items, .. }) => items.first().map(|(_, item)| item),
            _ => None,
        };
        matches!(first, Some(Out::Cases(_)))
    }

    /// The first entry or item: what owns its comments, and what it holds.
    fn first(self) -> Option<(Node<'a>, Item<'i, 'a>)> {
        match self {
            Self::Source(node) => {
                let first = node.entries().next().map(|(key, value)| (key, Item::Source(value)));
                first.or_else(|| node.items().next().map(|item| (item, Item::Source(item))))
            }
            Self::Out(Out::Map { entries, .. }) => match entries.first()? {
                (OutKey::Source(key) | OutKey::Renamed(key, _), value) => {
                    Some((*key, value.into()))
                }
                (OutKey::New(_), _) => None,
            },
            Self::Out(Out::Seq { items, .. }) => {
                items.first().and_then(|(owner, out)| Some(((*owner)?, out.into())))
            }
            _ => None,
        }
    }

    /// Whether it is written in block style where it may be.
    fn is_block(self) -> bool {
        let flow = match self {
            _ if self.kind() == NodeKind::Scalar || self.is_empty() => true,
            Self::Value(_) => false,
            _ => self.like().is_some_and(Node::is_flow) && self.fits_flow(),
        };
        !flow
    }

    /// Whether nothing in it needs block style.
    fn fits_flow(self) -> bool {
        match self {
            Self::Value(_) | Self::Out(Out::String(_)) => true,
            _ if self.kind() != NodeKind::Scalar && self.is_empty() => true,
            Self::Source(node) => match node.record().shape {
                NodeStyle::Plain | NodeStyle::Quoted => true,
                NodeStyle::FlowMap | NodeStyle::FlowList if !node.record().is(Record::TANGLED) => {
                    true
                }
                NodeStyle::FlowMap => node
                    .entries()
                    .all(|(key, value)| key.fits_flow_key() && Item::Source(value).fits_flow()),
                NodeStyle::FlowList => node.items().all(|item| Item::Source(item).fits_flow()),
                _ => false,
            },
            Self::Out(Out::Map { entries, like }) => {
                like.is_none_or(Node::is_flow)
                    && entries.iter().all(|(key, value)| {
                        !matches!(key, OutKey::Source(key) if !key.fits_flow_key())
                            && Item::from(value).fits_flow()
                    })
            }
            Self::Out(Out::Seq { items, like }) => {
                like.is_none_or(Node::is_flow)
                    && items.iter().all(|(_, item)| Item::from(item).fits_flow())
            }
            Self::Out(Out::Cases(cases)) => {
                cases.iter().all(|(_, out)| Item::from(out).fits_flow())
            }
            Self::Out(_) => true,
        }
    }
}

impl<'a> Node<'a> {
    fn is_flow(self) -> bool {
        matches!(self.record().shape, NodeStyle::FlowMap | NodeStyle::FlowList)
    }

    /// The text of the source from its start to its end.
    pub(super) fn source(self) -> &'a str {
        let record = self.record();
        self.document.slice(record.start, record.end)
    }

    /// The source, when it is a flow collection that can be copied.
    fn verbatim_flow(self) -> Option<&'a str> {
        let copied = self.is_flow() && !self.record().is(Record::TANGLED);
        // A map of a single pair in a list may lack the braces.
        let first = self.document.children(self.record()).first();
        let bare = first
            .is_some_and(|first| self.document.nodes[*first as usize].start == self.record().start);
        Some(self.source()).filter(|source| {
            copied && !bare && source.starts_with(['[', '{']) && !has_odd_breaks(source)
        })
    }

    /// Whether a comment stands in it and is copied with it.
    fn copies(self, piece: &Trivia) -> bool {
        let record = self.own_record();
        record.start <= piece.start
            && piece.end <= record.end
            && record.shape != NodeStyle::Alias
            && self.verbatim_flow().is_some()
    }

    /// Whether it needs no block style as a key.
    fn fits_flow_key(self) -> bool {
        self.kind() == NodeKind::Scalar || Item::Source(self).fits_flow()
    }

    /// Whether it is a key behind a question mark: no colon follows it.
    fn is_marked(self) -> bool {
        let behind = || self.document.text.get(self.own_record().end as usize..);
        let colon = |behind: &str| behind.trim_start_matches([' ', '\t']).starts_with(':');
        self.kind() != NodeKind::Scalar && !behind().is_some_and(colon)
    }

    /// The last node in it, as the source has them.
    fn last(self) -> u32 {
        let children = self.document.children(self.own_record());
        children.last().map_or(self.id, |&last| self.document.at(last).last())
    }

    /// What stands before it in its line.
    fn line_before(self) -> &'a str {
        let (text, start) = (&self.document.text, self.own_record().start as usize);
        text.get(line_start(text, start)..start).unwrap_or_default()
    }

    /// The comment behind this key that stands before the colon.
    fn behind_mark(self) -> Option<&'a Trivia> {
        self.trivia().iter().find(|piece| self.is_behind_mark(piece))
    }

    fn is_behind_mark(self, piece: &Trivia) -> bool {
        let end = self.own_record().end;
        let gap = || self.document.slice(end, piece.start).bytes();
        piece.place == CommentPlace::Behind
            && self.kind() != NodeKind::Scalar
            && end <= piece.start
            && gap().all(|byte| matches!(byte, b' ' | b'\t'))
    }

    fn tag(self) -> Option<&'a str> {
        let tags = &self.document.tags;
        let index = self
            .record()
            .is(Record::TAGGED)
            .then(|| tags.binary_search_by_key(&self.target(), |(id, _)| *id).ok())??;
        tags.get(index).map(|(_, tag)| &**tag)
    }

    fn trivia(self) -> &'a [Trivia] {
        if !self.own_record().is(Record::TRIVIA) {
            return &[];
        }
        let table = &self.document.trivia;
        let rest = &table[table.partition_point(|trivia| trivia.owner < self.id)..];
        &rest[..rest.partition_point(|trivia| trivia.owner == self.id)]
    }

    /// The column in which it starts; nothing where an anchor, a tag or a key stands before it in
    /// its line.
    fn column(self) -> Option<usize> {
        let before = self.line_before();
        before.bytes().all(|byte| matches!(byte, b' ' | b'-' | b'?')).then_some(before.len())
    }

    /// The column in which its entry starts, where it is a key.
    fn entry_column(self) -> Option<usize> {
        if !self.is_marked() {
            return self.column();
        }
        let text = &self.document.text;
        let before = text.get(..self.own_record().start as usize)?.trim_end();
        let mark = before.strip_suffix('?')?.len();
        Some(mark - line_start(text, mark))
    }

    /// The column in which the author wrote the key or list that this is the value or an item of,
    /// when it is indeed.
    fn outer_column(self, parent: ValueParent<'_>) -> Option<usize> {
        let (outer, holds) = match parent {
            ValueParent::Root => return None,
            ValueParent::Key(key) => (key?, self.id == key?.last() + 1),
            ValueParent::List(list) => (
                list?,
                list?.record().start <= self.record().start
                    && self.record().end <= list?.record().end,
            ),
        };
        let here = std::ptr::eq(outer.document, self.document)
            && self.own_record().shape != NodeStyle::Alias;
        match parent {
            _ if !holds || !here => None,
            ValueParent::Key(_) => outer.entry_column(),
            _ => outer.column(),
        }
    }
}

/// Whether this would start or end a document in the first column.
fn is_marker(line: &str) -> bool {
    let rest = line.strip_prefix("---").or_else(|| line.strip_prefix("..."));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']))
}

/// Whether there are line breaks that are no line ends to us.
fn has_odd_breaks(text: &str) -> bool {
    memchr(b'\r', text.as_bytes()).is_some() && text.replace("\r\n", "").contains('\r')
}

/// Indentation where the source says nothing.
#[derive(Clone, Copy)]
struct Style {
    map: usize,
    list: usize,
}

impl Style {
    fn of(document: Option<&Document>) -> Self {
        let found = document.map(|document| document.indentation).unwrap_or_default();
        let sane = |columns: Option<u32>| {
            columns.map(|columns| columns as usize).filter(|columns| *columns <= 8)
        };
        let map = sane(found.map).filter(|columns| *columns > 0).unwrap_or(2);
        Self { map, list: sane(found.list).unwrap_or(map) }
    }
}

/// A place in the output at which a scalar or a flow collection is written.
#[derive(Clone, Copy, PartialEq)]
enum ScalarContext {
    /// A value in block style, inside of a block in this column; nothing for the root.
    Block(Option<usize>),
    /// In brackets.
    Flow,
    /// A key in block style.
    Key,
}

/// What a value belongs to, with the node of the source that has its place there.
#[derive(Clone, Copy)]
enum ValueParent<'a> {
    Root,
    Key(Option<Node<'a>>),
    List(Option<Node<'a>>),
}

/// Where a value is written.
#[derive(Clone, Copy)]
struct ValueSpot<'a> {
    /// The column of the block around it.
    column: usize,
    parent: ValueParent<'a>,
    /// The entry or item whose comments are written with it.
    owner: Option<Node<'a>>,
    /// The key whose comment the value brings along, for where the owner has none.
    lifted: Option<Node<'a>>,
    /// Entries that are left out, whose comments are written above it.
    gone: &'a [Node<'a>],
}

impl ValueSpot<'_> {
    fn context(&self) -> ScalarContext {
        match self.parent {
            ValueParent::Root => ScalarContext::Block(None),
            _ => ScalarContext::Block(Some(self.column)),
        }
    }
}

struct YamlWriter {
    out: String,
    style: Style,
    /// Where open parts begin and end.
    marks: Vec<(usize, OpenMark)>,
    /// Whether a condition decides about the style of what is around it.
    is_stuck: bool,
}

/// What is written of a collection before the part that comes next.
#[derive(Clone, Copy, PartialEq)]
enum WrittenBefore {
    Nothing,
    Something,
    /// One or the other.
    Open,
}

/// A collection that is being written.
struct WrittenParts {
    before: WrittenBefore,
    /// Whether its start is marked.
    is_marked: bool,
}

impl Default for WrittenParts {
    fn default() -> Self {
        Self { before: WrittenBefore::Nothing, is_marked: false }
    }
}

/// Readers look no further for the colon of a key.
const SIMPLE_KEY: usize = 1000;

impl YamlWriter {
    fn new(capacity: usize, style: Style) -> Self {
        let out = String::with_capacity(capacity);
        Self { out, style, marks: Vec::new(), is_stuck: false }
    }

    // Open parts.

    fn mark(&mut self, mark: OpenMark) {
        self.marks.push((self.out.len(), mark));
    }

    /// Says that what was written from here on is only there behind something else.
    fn mark_behind(&mut self, from: usize, to: usize) {
        if from < to {
            self.marks.extend([(from, OpenMark::Behind), (to, OpenMark::End)]);
        }
    }

    /// Comes before a part that may be there under a condition only.
    fn begin(&mut self, parts: &mut WrittenParts, when: Option<u32>) {
        let Some(when) = when else { return };
        if parts.before == WrittenBefore::Nothing {
            self.mark(OpenMark::Collection);
            parts.is_marked = true;
        }
        self.mark(OpenMark::When(when));
    }

    /// Comes behind that part.
    fn end(&mut self, parts: &mut WrittenParts, when: Option<u32>) {
        match when {
            None => parts.before = WrittenBefore::Something,
            Some(_) => {
                self.mark(OpenMark::End);
                if parts.before == WrittenBefore::Nothing {
                    parts.before = WrittenBefore::Open;
                }
            }
        }
    }

    /// Comes behind all parts.
    fn finish(&mut self, parts: &WrittenParts) {
        if parts.is_marked {
            self.mark(OpenMark::End);
        }
    }

    fn root(&mut self, root: Item<'_, '_>) {
        if root.is_block() {
            if let Some(tag) = tag_of(root) {
                self.out.push_str(tag);
                self.out.push('\n');
            }
            return self.block(root, 0, false);
        }
        let spot = ValueSpot {
            column: 0,
            parent: ValueParent::Root,
            owner: root.like(),
            lifted: None,
            gone: &[],
        };
        self.lines_above(spot, root, WrittenBefore::Something);
        let start = self.out.len();
        self.after_indicator(root, spot);
        // Where the root is absent, there is nothing before its comment, or nothing at all.
        let written = &self.out[start..];
        let absent = written.len() - written.trim_start_matches([' ', '\t', '\n']).len();
        self.out.drain(start..start + absent);
        if self.out.len() == start {
            trim_blank_lines(&mut self.out);
        }
        self.is_stuck |= !self.marks.is_empty();
    }

    /// A collection that is not empty, one entry a line; the first continues a line when it is
    /// `inline`.
    fn block(&mut self, item: Item<'_, '_>, column: usize, inline: bool) {
        let mut parts = WrittenParts::default();
        // Whether it would fit in brackets depends on what is in it.
        let may_be_flow = item.like().is_some_and(Node::is_flow);
        let before = |parts: &WrittenParts, owner| match starts_source(item, owner) {
            true => WrittenBefore::Something,
            false => parts.before,
        };
        item.each_entry(|key, value, Along { lifted, gone, when }| {
            let owner = key.owner();
            let spot = ValueSpot { column, parent: ValueParent::Key(owner), owner, lifted, gone };
            self.is_stuck |= may_be_flow && when.is_some();
            self.begin(&mut parts, when);
            let inline = inline && parts.before == WrittenBefore::Nothing;
            self.entry(key, value, spot, inline, before(&parts, owner));
            self.end(&mut parts, when);
        });
        let list = item.like();
        item.each_item(|owner, value, Along { lifted, gone, when }| {
            let spot = ValueSpot { column, parent: ValueParent::List(list), owner, lifted, gone };
            self.is_stuck |= may_be_flow && when.is_some();
            self.begin(&mut parts, when);
            let inline = inline && parts.before == WrittenBefore::Nothing;
            self.item(value, spot, inline, before(&parts, owner));
            self.end(&mut parts, when);
        });
        self.finish(&parts);
    }

    /// A key, its value, and the comments around them.
    fn entry(
        &mut self,
        key: ItemKey<'_, '_>,
        value: Item<'_, '_>,
        spot: ValueSpot<'_>,
        inline: bool,
        before: WrittenBefore,
    ) {
        let ValueSpot { column, owner, .. } = spot;
        if !inline {
            self.lines_above(spot, value, before);
            pad(&mut self.out, column);
        }
        if let Some(source) = copied_entry(key, value) {
            self.out.push_str(source);
            self.behind(spot);
            self.out.push('\n');
        } else if let ItemKey::Source(key) = key
            && key.kind() != NodeKind::Scalar
        {
            self.collection_key(key, column);
            self.after_colon(key, value, spot);
        } else {
            let start = self.out.len();
            self.key(key, ScalarContext::Key);
            if self.needs_mark(start) {
                self.out.insert_str(start, "? ");
                self.trim_from(start);
                self.out.push('\n');
                pad(&mut self.out, column);
            }
            self.out.push(':');
            self.after_indicator(value, spot);
        }
        self.lines_below(owner, column);
    }

    /// A key that is no scalar, up to its colon: in block style, or where its author put one, behind
    /// a question mark.
    fn collection_key(&mut self, key: Node<'_>, column: usize) {
        let (item, start) = (Item::Source(key), self.out.len());
        if item.is_block() {
            self.block_key(key, column);
            return pad(&mut self.out, column);
        }
        self.inline(item, ScalarContext::Block(Some(column)));
        let behind = key.behind_mark();
        if key.is_marked() || behind.is_some() || self.needs_mark(start) {
            self.out.insert_str(start, "? ");
            if let Some(piece) = behind {
                self.comment(key, piece);
            }
            self.out.push('\n');
            pad(&mut self.out, column);
        }
    }

    /// A question mark and a key in block style, which begins behind it or on the line below.
    fn block_key(&mut self, key: Node<'_>, column: usize) {
        let (item, tag) = (Item::Source(key), key.tag());
        let is_below = key.line_before().trim_matches(' ').is_empty() && !key.is_alias();
        self.out.push('?');
        if tag.is_none() && !is_below && !starts_with_lines(item) {
            self.out.push(' ');
            return self.block(item, column + 2, true);
        }
        if let Some(tag) = tag {
            self.out.push(' ');
            self.out.push_str(tag);
        }
        self.out.push('\n');
        let by = key.entry_column().and_then(|entry| key.column()?.checked_sub(entry));
        self.block(item, column + by.filter(|by| *by > 0).unwrap_or(2), false);
    }

    /// The colon behind a key that is no scalar, and the value; where the colon has a line of its
    /// own, a block may start in it.
    fn after_colon(&mut self, key: Node<'_>, value: Item<'_, '_>, spot: ValueSpot<'_>) {
        self.out.push(':');
        let alone = |value: Node<'_>| value.line_before().trim_matches(' ') == ":";
        let marked = self.out.ends_with("\n:") || self.out.ends_with(" :");
        self.is_stuck |= marked && value.begins_open();
        let compact = marked
            && value.is_block()
            && value.like().is_some_and(alone)
            && tag_of(value).is_none()
            && !starts_with_lines(value)
            && behind(key, true).is_none();
        if compact {
            self.out.push(' ');
            self.block(value, spot.column + 2, true);
        } else {
            self.after_indicator(value, spot);
        }
    }

    /// A dash, an item, and the comments around them.
    fn item(
        &mut self,
        value: Item<'_, '_>,
        spot: ValueSpot<'_>,
        inline: bool,
        before: WrittenBefore,
    ) {
        if !inline {
            self.lines_above(spot, value, before);
            pad(&mut self.out, spot.column);
        }
        self.out.push('-');
        // Its first entry would continue this line, or not.
        self.is_stuck |= value.is_block() && value.begins_open();
        let commented = spot.owner.is_some_and(|owner| {
            owner.trivia().iter().any(|piece| piece.place == CommentPlace::Behind)
        });
        if value.is_block() && !commented && tag_of(value).is_none() && !starts_with_lines(value) {
            self.out.push(' ');
            self.block(value, spot.column + 2, true);
        } else {
            self.after_indicator(value, spot);
        }
        self.lines_below(spot.owner, spot.column);
    }

    /// What follows a colon or a dash, to the end of the line and further.
    fn after_indicator(&mut self, value: Item<'_, '_>, spot: ValueSpot<'_>) {
        let start = self.out.len();
        if !matches!(spot.parent, ValueParent::Root) {
            self.out.push(' ');
        }
        if value.is_block() {
            self.out.push_str(tag_of(value).unwrap_or_default());
            self.trim_from(start);
            self.behind(spot);
            self.out.push('\n');
            self.block(value, self.indented(value, spot), false);
        } else if let Some(lines) = self.block_scalar(value, spot) {
            self.behind(spot);
            self.out.push('\n');
            self.out.push_str(&lines);
        } else {
            self.inline(value, spot.context());
            self.trim_from(start);
            self.behind(spot);
            self.out.push('\n');
        }
    }

    /// The column of a block below a key or a dash.
    fn indented(&self, value: Item<'_, '_>, spot: ValueSpot<'_>) -> usize {
        let (style, least) = match (spot.parent, value.kind()) {
            (ValueParent::Root, _) => (0, 0),
            (ValueParent::List(_), _) => (2, 1),
            (ValueParent::Key(_), NodeKind::Sequence) => (self.style.list, 0),
            (ValueParent::Key(_), _) => (self.style.map, 1),
        };
        let by = value
            .like()
            .filter(|like| !like.is_flow())
            .and_then(|like| like.column()?.checked_sub(like.outer_column(spot.parent)?));
        spot.column + by.filter(|by| *by >= least).unwrap_or(style)
    }

    // Scalars and flow collections.

    fn key(&mut self, key: ItemKey<'_, '_>, context: ScalarContext) {
        match key {
            ItemKey::Source(node) if node.kind() != NodeKind::Scalar => {
                self.inline(Item::Source(node), context)
            }
            ItemKey::Source(node) => {
                self.push_tag(Item::Source(node));
                let absent = node.source().is_empty() && node.record().typing == Typing::Core;
                if !absent {
                    self.source_scalar(node, context);
                }
            }
            ItemKey::Renamed(_, text) | ItemKey::New(text) => {
                push_string(&mut self.out, text, context == ScalarContext::Flow)
            }
        }
    }

    /// Whether the key that starts here is read as one only behind a question mark: it is too long,
    /// of several lines, or absent.
    fn needs_mark(&self, start: usize) -> bool {
        let key = self.out.as_bytes().get(start..).unwrap_or_default();
        !(1..=SIMPLE_KEY).contains(&key.len()) || memchr(b'\n', key).is_some()
    }

    fn push_tag(&mut self, item: Item<'_, '_>) {
        if let Some(tag) = tag_of(item) {
            self.out.push_str(tag);
            self.out.push(' ');
        }
    }

    /// A scalar or a flow collection.
    fn inline(&mut self, item: Item<'_, '_>, context: ScalarContext) {
        self.push_tag(item);
        match item {
            _ if item.kind() != NodeKind::Scalar => self.flow(item, context),
            Item::Source(node) => self.source_scalar(node, context),
            Item::Out(Out::String(text)) => {
                push_string(&mut self.out, text, context == ScalarContext::Flow)
            }
            Item::Value(value) => self.value(value, context),
            Item::Out(Out::Later(number)) => {
                self.mark(OpenMark::Later(*number));
                self.out.push('?');
                self.mark(OpenMark::End);
            }
            Item::Out(_) => {}
        }
    }

    fn value(&mut self, value: &Value, context: ScalarContext) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Value::Number(number) => self.out.push_str(&number_text(number)),
            Value::String(text) => push_string(&mut self.out, text, context == ScalarContext::Flow),
            Value::List(_) | Value::Map(_) => {}
        }
    }

    fn flow(&mut self, item: Item<'_, '_>, context: ScalarContext) {
        if let Item::Source(node) = item
            && let Some(source) = node.verbatim_flow()
        {
            return self.copy_lines(node, source, context);
        }
        let map = item.kind() == NodeKind::Mapping;
        // As its author did, there is space inside of the brackets or none.
        let is_padded =
            |like: Node<'_>| matches!(like.source().as_bytes(), [b'{' | b'[', b' ', ..]);
        let padding = if item.like().is_some_and(is_padded) { " " } else { "" };
        self.out.push(if map { '{' } else { '[' });
        let start = self.out.len();
        self.out.push_str(padding);
        let first = self.out.len();
        let mut parts = WrittenParts::default();
        item.each_entry(|key, value, Along { when, .. }| {
            self.in_flow(&mut parts, when, |this| {
                let before = this.out.len();
                this.key(key, ScalarContext::Flow);
                if this.needs_mark(before) {
                    this.out.insert_str(before, "? ");
                }
                this.out.push_str(": ");
                this.inline(value, ScalarContext::Flow);
            });
        });
        item.each_item(|_, item, Along { when, .. }| {
            self.in_flow(&mut parts, when, |this| this.inline(item, ScalarContext::Flow));
        });
        self.finish(&parts);
        if self.out.len() > first {
            self.out.push_str(padding);
        } else {
            self.out.truncate(start);
        }
        self.out.push(if map { '}' } else { ']' });
    }

    /// An entry or item in brackets, with what parts it from those before it.
    fn in_flow(
        &mut self,
        parts: &mut WrittenParts,
        when: Option<u32>,
        write: impl FnOnce(&mut Self),
    ) {
        self.begin(parts, when);
        let start = self.out.len();
        if parts.before != WrittenBefore::Nothing {
            self.out.push_str(", ");
        }
        if parts.before == WrittenBefore::Open {
            self.mark_behind(start, self.out.len());
        }
        write(self);
        // Lines of what follows would be indented like another line.
        self.is_stuck |= when.is_some() && memchr(b'\n', &self.out.as_bytes()[start..]).is_some();
        self.end(parts, when);
    }

    fn source_scalar(&mut self, node: Node<'_>, context: ScalarContext) {
        let (record, source) = (node.record(), node.source());
        let text = node.text().unwrap_or_default();
        let one_line = !record.cooked || memchr(b'\n', source.as_bytes()).is_none();
        match record.shape {
            NodeStyle::Plain if source.is_empty() => self.empty_scalar(record.typing, context),
            // The root and a key may come to stand in the first column.
            NodeStyle::Plain
                if matches!(context, ScalarContext::Block(None) | ScalarContext::Key)
                    && is_marker(source) =>
            {
                push_double_quoted(&mut self.out, text)
            }
            NodeStyle::Plain | NodeStyle::Quoted if has_odd_breaks(source) => {
                push_double_quoted(&mut self.out, text)
            }
            NodeStyle::Plain if context == ScalarContext::Flow && !fits_plain(text, true) => {
                push_double_quoted(&mut self.out, text)
            }
            NodeStyle::Plain | NodeStyle::Quoted if one_line => self.out.push_str(source),
            // Some comments in tabs pass for a part of the text.
            NodeStyle::Plain if Lines(source).any(|line| line.trim_start().starts_with('#')) => {
                push_double_quoted(&mut self.out, text)
            }
            NodeStyle::Plain | NodeStyle::Quoted if context != ScalarContext::Key => {
                self.copy_lines(node, source, context)
            }
            _ => push_double_quoted(&mut self.out, text),
        }
    }

    /// A scalar that is not there, which needs a text where another one follows.
    fn empty_scalar(&mut self, typing: Typing, context: ScalarContext) {
        match (context, typing) {
            (ScalarContext::Block(_), Typing::Core) => {}
            (_, Typing::String) => self.out.push_str("\"\""),
            _ => self.out.push_str("null"),
        }
    }

    /// Copies a scalar or a flow collection of several lines, indented like the line it starts in.
    fn copy_lines(&mut self, node: Node<'_>, source: &str, context: ScalarContext) {
        if memchr(b'\n', source.as_bytes()).is_none() {
            return self.out.push_str(source);
        }
        let text = &node.document.text;
        let spaces = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
        let from = spaces(&text[line_start(text, node.record().start as usize)..]);
        let to = spaces(&self.out[line_start(&self.out, self.out.len())..]);
        for (index, line) in source.split('\n').enumerate() {
            let line = line.strip_suffix('\r').unwrap_or(line);
            if index == 0 {
                self.out.push_str(line);
                continue;
            }
            self.out.push('\n');
            let content = line.trim_start_matches([' ', '\t']);
            let least = match context {
                ScalarContext::Block(Some(column)) => {
                    column
                        + usize::from(
                            node.kind() == NodeKind::Scalar || !content.starts_with([']', '}']),
                        )
                }
                ScalarContext::Block(None) => usize::from(is_marker(content)),
                ScalarContext::Flow | ScalarContext::Key => to + 1,
            };
            if !content.is_empty() {
                pad(&mut self.out, (spaces(line) + to).saturating_sub(from).max(least));
                self.out.push_str(content);
            }
        }
    }

    // Block scalars.

    /// Writes the header of a literal or folded scalar, if the value is to be written as one, and
    /// returns its lines.
    fn block_scalar(&mut self, value: Item<'_, '_>, spot: ValueSpot<'_>) -> Option<String> {
        let style = if matches!(spot.parent, ValueParent::List(_)) { 2 } else { self.style.map };
        match value {
            Item::Source(node) => {
                let block = SourceBlock::of(node)?;
                let by = node
                    .outer_column(spot.parent)
                    .and_then(|outer| block.column.checked_sub(outer));
                let by = by.filter(|by| (1..=9).contains(by)).unwrap_or(style);
                self.push_tag(value);
                self.header(block.sign, by, node.text()?, block.keeps);
                Some(block.lines(spot.column + by))
            }
            Item::Out(Out::String(text)) => self.literal(text, spot.column, style),
            Item::Value(Value::String(text)) => self.literal(text, spot.column, style),
            _ => None,
        }
    }

    fn literal(&mut self, text: &str, column: usize, by: usize) -> Option<String> {
        if !fits_literal(text) {
            return None;
        }
        self.header('|', by, text, false);
        let mut lines = String::with_capacity(text.len() * 2);
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            if !line.is_empty() {
                pad(&mut lines, column + by);
                lines.push_str(line);
            }
            lines.push('\n');
        }
        Some(lines)
    }

    /// The sign, the indentation where the first line cannot tell it, and what happens to line
    /// breaks at the end.
    fn header(&mut self, sign: char, by: usize, text: &str, keeps: bool) {
        self.out.push(sign);
        if text.trim_start_matches('\n').starts_with(' ') {
            self.out.push_str(&by.to_string());
        }
        if !text.ends_with('\n') {
            self.out.push('-');
        } else if keeps {
            self.out.push('+');
        }
    }

    // Comments.

    /// The comments and blank lines above an entry; the first of its block loses the blank lines
    /// that parted it from another one.
    fn lines_above(&mut self, spot: ValueSpot<'_>, value: Item<'_, '_>, before: WrittenBefore) {
        let start = self.out.len();
        for gone in spot.gone {
            for piece in gone.trivia() {
                let lines = gone.document.slice(piece.start, piece.end);
                let trim = before == WrittenBefore::Nothing && self.out.len() == start;
                self.lines(lines, spot.column, trim);
            }
        }
        let Some(owner) = spot.owner else { return };
        for piece in above(owner, matches!(spot.parent, ValueParent::Key(_)), value) {
            let lines = owner.document.slice(piece.start, piece.end);
            let trim = before == WrittenBefore::Nothing && self.out.len() == start;
            self.lines(lines, spot.column, trim);
        }
        if before == WrittenBefore::Open {
            let blank = self.out[start..].bytes().take_while(|&byte| byte == b'\n').count();
            self.mark_behind(start, start + blank);
        }
    }

    fn lines_below(&mut self, owner: Option<Node<'_>>, column: usize) {
        let Some(owner) = owner else { return };
        for piece in owner.trivia().iter().filter(|piece| piece.place == CommentPlace::Below) {
            self.lines(owner.document.slice(piece.start, piece.end), column, false);
        }
    }

    /// Comment lines, indented to this column.
    fn lines(&mut self, lines: &str, column: usize, trim: bool) {
        let mut trim = trim;
        for line in Lines(lines) {
            let content = line.trim_start_matches([' ', '\t']).trim_end_matches(['\r', '\n']);
            if !content.is_empty() {
                pad(&mut self.out, column);
                self.out.push_str(content);
                trim = false;
            }
            if !trim {
                self.out.push('\n');
            }
        }
    }

    /// The comment on the line of an entry.
    fn behind(&mut self, spot: ValueSpot<'_>) {
        let is_key = matches!(spot.parent, ValueParent::Key(_));
        let found = [spot.owner, spot.lifted]
            .into_iter()
            .flatten()
            .find_map(|owner| Some((owner, behind(owner, is_key)?)));
        if let Some((owner, piece)) = found {
            self.comment(owner, piece);
        }
    }

    /// A comment at the end of the line.
    fn comment(&mut self, owner: Node<'_>, piece: &Trivia) {
        let comment = owner.document.slice(piece.start, piece.end);
        if comment.starts_with('#') {
            self.out.push(' ');
        }
        self.out.push_str(comment);
    }

    /// Removes spaces at the end, back to `start`.
    fn trim_from(&mut self, start: usize) {
        let end = self.out.trim_end_matches(' ').len();
        self.out.truncate(end.max(start));
    }
}

fn pad(out: &mut String, columns: usize) {
    const SPACES: &str = "                                                                ";
    let mut left = columns;
    while left > 0 {
        let now = left.min(SPACES.len());
        out.push_str(&SPACES[..now]);
        left -= now;
    }
}

impl<'a> ItemKey<'_, 'a> {
    /// The source key whose comments it has.
    fn owner(self) -> Option<Node<'a>> {
        match self {
            Self::Source(node) | Self::Renamed(node, _) => Some(node),
            Self::New(_) => None,
        }
    }
}

/// The comment at the end of the line of an entry, a key or an item.
fn behind(owner: Node<'_>, is_key: bool) -> Option<&Trivia> {
    let at_end = |piece: &&Trivia| piece.place == CommentPlace::Behind;
    owner.trivia().iter().rfind(|piece| at_end(piece) && !(is_key && owner.is_behind_mark(piece)))
}

fn tag_of<'a>(item: Item<'_, 'a>) -> Option<&'a str> {
    // What is new in place of a tagged collection keeps its tag.
    item.like().and_then(Node::tag)
}

/// Whether this entry is the first one in the source, too.
fn starts_source(item: Item<'_, '_>, owner: Option<Node<'_>>) -> bool {
    let Some((like, owner)) = item.like().zip(owner) else { return false };
    std::ptr::eq(like.document, owner.document)
        && like.document.children(like.record()).first() == Some(&owner.id)
}

/// Whether there are comments or blank lines above the first entry of this block.
fn starts_with_lines(block: Item<'_, '_>) -> bool {
    let Some((owner, value)) = block.first() else { return false };
    let trim = !starts_source(block, Some(owner));
    above(owner, block.kind() == NodeKind::Mapping, value)
        .any(|piece| !trim || owner.document.slice(piece.start, piece.end).contains('#'))
}

/// The pieces that are written above their owner, a key or an item.
fn above<'a>(
    owner: Node<'a>,
    is_key: bool,
    value: Item<'_, '_>,
) -> impl Iterator<Item = &'a Trivia> {
    let trivia = owner.trivia();
    let key = Some(owner).filter(|key| is_key && key.kind() != NodeKind::Scalar);
    let pieces = trivia.iter().enumerate().filter(move |(index, piece)| {
        is_above(piece, trivia.get(index + 1), value)
            && !key.is_some_and(|key| key.is_behind_mark(piece) || key.copies(piece))
    });
    pieces.map(|(_, piece)| piece)
}

/// Whether a piece is written above its owner.
fn is_above(piece: &Trivia, next: Option<&Trivia>, value: Item<'_, '_>) -> bool {
    match piece.place {
        CommentPlace::Above => true,
        CommentPlace::Below => false,
        // There is one end of the line, and the last comment has it.
        CommentPlace::Behind => next.is_some_and(|next| next.place == CommentPlace::Behind),
        CommentPlace::Inside => !matches!(value, Item::Source(value) if value.copies(piece)),
    }
}

/// An entry from the source that is one line with nothing in it that would have to change.
fn copied_entry<'a>(key: ItemKey<'_, 'a>, value: Item<'_, 'a>) -> Option<&'a str> {
    let (ItemKey::Source(key), Item::Source(value)) = (key, value) else { return None };
    let (from, to) = (key.own_record(), value.own_record());
    let simple = |record: &Record| {
        matches!(record.shape, NodeStyle::Plain | NodeStyle::Quoted)
            && !record.cooked
            && record.marks & (Record::TAGGED | Record::TANGLED) == 0
    };
    if value.id != key.id + 1
        || !std::ptr::eq(key.document, value.document)
        || !simple(from)
        || !simple(to)
    {
        return None;
    }
    let between = key.document.slice(from.end, to.start);
    let colon = between == ": "
        || between
            .strip_prefix(':')
            .is_some_and(|gap| !gap.is_empty() && gap.bytes().all(|b| b == b' '));
    (colon && to.start < to.end).then(|| key.document.slice(from.start, to.end))
}

/// A number as it was written, when that is a number to a reader.
pub(super) fn number_text(number: &Number) -> Cow<'_, str> {
    match number.text().filter(|text| matches!(core(text), Scalar::Int(_) | Scalar::Float(_))) {
        Some(text) => Cow::Borrowed(text),
        None => plain_number(number).into(),
    }
}

/// A number as every reader of YAML and JSON takes it, finite or not.
pub(super) fn plain_number(number: &Number) -> String {
    if let Some(value) = number.as_int() {
        return value.to_string();
    }
    let value = number.as_f64();
    let text = format!("{value:?}");
    match text.split_once('e') {
        // Readers of YAML 1.1 ask for a point and for a sign.
        Some((number, exponent)) => {
            let fraction = if number.contains('.') { "" } else { ".0" };
            let sign = if exponent.starts_with('-') { "" } else { "+" };
            format!("{number}{fraction}e{sign}{exponent}")
        }
        None => Number::float(value).to_string(),
    }
}

/// A literal or folded scalar in the source.
struct SourceBlock<'a> {
    sign: char,
    /// The column of its lines.
    column: usize,
    /// Whether line breaks at its end belong to it.
    keeps: bool,
    body: &'a str,
}

impl<'a> SourceBlock<'a> {
    /// Nothing for what is no block scalar, or one whose lines say too little to be moved.
    fn of(node: Node<'a>) -> Option<Self> {
        let sign = match node.record().shape {
            NodeStyle::Literal => '|',
            NodeStyle::Folded => '>',
            _ => return None,
        };
        let (text, source) = (node.text()?, node.source());
        // Line breaks that are none to us may stand behind it, too, and belong to its text.
        let behind = node.document.text.get(node.record().end as usize..).unwrap_or_default();
        let is_odd =
            has_odd_breaks(source) || behind.starts_with('\r') && !behind.starts_with("\r\n");
        let (header, body) = source.split_once('\n').filter(|_| !is_odd)?;
        let header = header.split(' ').next().filter(|header| header.starts_with(sign))?;
        let filled = |line: &&str| !line.trim_matches([' ', '\r']).is_empty();
        let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
        // The first line with something in it has the same spaces in the text, less the
        // indentation.
        let column = spaces(body.split('\n').find(filled)?)
            .checked_sub(spaces(text.split('\n').find(filled)?))?;
        let last = text.trim_end_matches('\n').rsplit('\n').next()?;
        (column > 0 && !last.trim_matches([' ', '\t']).is_empty()).then_some(Self {
            sign,
            column,
            keeps: header.contains('+'),
            body,
        })
    }

    fn lines(&self, column: usize) -> String {
        let mut lines = String::with_capacity(self.body.len());
        for line in self.body.split_inclusive('\n') {
            let line = line.trim_end_matches(['\r', '\n']);
            let indented = line.get(self.column..).filter(|content| !content.is_empty());
            if let Some(content) = indented
                .filter(|_| line.as_bytes().iter().take(self.column).all(|byte| *byte == b' '))
            {
                pad(&mut lines, column);
                lines.push_str(content);
            }
            lines.push('\n');
        }
        lines
    }
}
