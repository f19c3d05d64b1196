//! Writes output trees as YAML.
//!
//! Everything that is written, from the source or new, is an [`Item`]. So there is only one way to
//! write a map, a list or a scalar.

use super::node::{Document, Node, NodeKind, NodeStyle, Record, Scalar};
use super::quote::{fits_literal, fits_plain, push_double_quoted, push_string};
use super::scalar::{Typing, core};
use super::trivia::{CommentPlace, Lines, Trivia, line_start, trim_blank_lines};
use crate::value::{Number, Value};
use memchr::memchr;
use std::borrow::Cow;
use std::sync::Arc;

/// A key of an output map.
#[derive(Clone, Debug)]
pub enum OutKey<'a> {
    /// A key of the source as its author wrote it, with the comments above and behind it.
    Source(Node<'a>),
    /// A new key in the place of a source key, with the comments above and behind that one.
    Renamed(Node<'a>, Cow<'a, str>),
    /// A new key.
    New(Cow<'a, str>),
}

/// An output tree. It consists of parts of the source as they are, and of new parts. Maps and lists
/// are shared by the trees that have them, so that a clone costs no more than its root.
#[derive(Clone, Debug)]
pub enum Out<'a> {
    /// A whole subtree of the source as its author wrote it.
    Source(Node<'a>),
    /// A new string. It is quoted where a reader would take it for something else.
    String(Cow<'a, str>),
    /// A new value.
    Value(Value),
    /// A value that takes the place of a map that contained it alone under this key. The comment
    /// behind the key is kept.
    Lifted(Node<'a>, Box<Out<'a>>),
    /// In a map: a value at the place of these entries, which are left out. Their comments are
    /// written around it.
    Below(Vec<Node<'a>>, Box<Out<'a>>),
    /// In a map or list in block style: a value with this new comment above its entry or item.
    /// Flow style has no room for it.
    Noted(Cow<'a, str>, Box<Out<'a>>),
    /// A map.
    Map {
        /// The entries in the order to be written.
        entries: Arc<[(OutKey<'a>, Out<'a>)]>,
        /// The source collection whose style the map takes; block style if there is none. At the
        /// root, also the document whose head and foot comments are kept.
        like: Option<Node<'a>>,
    },
    /// A list.
    Seq {
        /// The items in the order to be written, each with the source item whose comments it keeps.
        items: Arc<[(Option<Node<'a>>, Out<'a>)]>,
        /// The source collection whose style the list takes; block style if there is none. At the
        /// root, also the document whose head and foot comments are kept.
        like: Option<Node<'a>>,
    },
    /// In a map or list: alternatives with numbered conditions, of which at most one holds. If none
    /// holds, there is nothing. Only open texts distinguish them.
    #[doc(hidden)]
    Cases(Vec<(u32, Out<'a>)>),
    /// A scalar of one line that is inserted later, by its number.
    #[doc(hidden)]
    Later(u32),
}

/// Writes an output tree as YAML.
///
/// ```
/// use cuvee_text::source::FileId;
/// use cuvee_text::yaml::{Limits, Out, OutKey, parse, write_yaml};
/// let document = parse(FileId::DETACHED, "shop:   # ours\n    port: 0x50\n    old: yes\n".into(), &Limits::default()).unwrap();
/// let (key, shop) = document.root().entries().next().unwrap();
/// let (port, value) = shop.entries().next().unwrap();
/// let kept = vec![(OutKey::Source(port), Out::Source(value)), (OutKey::New("tag".into()), Out::String("no".into()))];
/// let out = Out::Map {
///     entries: [(OutKey::Source(key), Out::Map { entries: kept.into(), like: Some(shop) })].into(),
///     like: Some(document.root()),
/// };
/// assert_eq!(write_yaml(&out), "shop:   # ours\n    port: 0x50\n    tag: 'no'\n");
/// ```
pub fn write_yaml(out: &Out<'_>) -> String {
    written(out).out
}

/// A text with parts that depend on conditions.
#[derive(Debug)]
pub struct OpenText {
    /// The text with all parts.
    pub text: String,
    /// The starts and ends of the parts with their positions, in order, nested like brackets.
    pub marks: Vec<(usize, OpenMark)>,
}

/// The start or end of a part of an open text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMark {
    /// The start of a map or list whose first part depends on a condition.
    Collection,
    /// The start of an entry or item that is present under the condition of this number.
    When(u32),
    /// The start of text that is present only behind another entry or item of the same collection.
    Behind,
    /// The start of a placeholder for a scalar that is inserted later.
    Later(u32),
    /// The end of the part that began last.
    End,
}

/// Writes an output tree as YAML with open parts. `None` where the conditions would influence the
/// style of the text around the parts.
pub fn write_open(out: &Out<'_>) -> Option<OpenText> {
    let YamlWriter { out: text, marks, is_stuck, .. } = written(out);
    // Without any part left, the document would not be written as an empty text.
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

/// Writes a value in one line. Strings have quotes where a reader would take them for something
/// else.
///
/// ```
/// use cuvee_text::yaml::write_flow;
/// assert_eq!(write_flow(&vec!["80".into(), 80.into(), "a b".into()].into()), "['80', 80, a b]");
/// ```
pub fn write_flow(value: &Value) -> String {
    let mut writer = YamlWriter::new(0, Style::of(None));
    writer.inline(Item::Value(value), ScalarContext::Flow);
    writer.out
}

/// Writes a value in one line for labels and messages. It does the same as [`write_flow`], but a
/// map with a single entry has no braces around it.
///
/// ```
/// use cuvee_text::source::FileId;
/// use cuvee_text::yaml::{Limits, parse, write_line};
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

/// A value to be written: a source node, a part of an output tree, or a value.
#[derive(Clone, Copy)]
pub(super) enum Item<'i, 'a> {
    Source(Node<'a>),
    Out(&'i Out<'a>),
    Value(&'i Value),
}

/// A key to be written.
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
            Out::Lifted(_, value) | Out::Below(_, value) | Out::Noted(_, value) => {
                Self::from(&**value)
            }
            _ => Self::Out(out),
        }
    }
}

impl<'a> Out<'a> {
    /// The key whose comment the value keeps.
    fn lifted(&self) -> Option<Node<'a>> {
        match self {
            Self::Lifted(key, value) => Some(value.lifted().unwrap_or(*key)),
            Self::Below(_, value) | Self::Noted(_, value) => value.lifted(),
            _ => None,
        }
    }

    /// The new comment above the value.
    fn note(&self) -> Option<&str> {
        if let Self::Noted(note, _) = self { Some(note) } else { None }
    }

    /// The entries whose comments are written above the value.
    fn gone(&self) -> &[Node<'a>] {
        match self {
            Self::Below(gone, _) => gone,
            Self::Lifted(_, value) => value.gone(),
            _ => &[],
        }
    }

    /// Calls `case` with each alternative of the value, and with what the alternative brings along.
    fn each_case<'i>(&'i self, mut case: impl FnMut(Item<'i, 'a>, Along<'i, 'a>)) {
        let mut one = |out: &'i Self, when| {
            let note = out.note();
            case(out.into(), Along { lifted: out.lifted(), gone: out.gone(), note, when });
        };
        match self {
            Self::Cases(cases) => cases.iter().for_each(|(when, out)| one(out, Some(*when))),
            out => one(out, None),
        }
    }
}

/// The comments and the condition that an entry or item brings along.
#[derive(Clone, Copy, Default)]
pub(super) struct Along<'i, 'a> {
    /// The key whose comment it keeps.
    pub(super) lifted: Option<Node<'a>>,
    /// The entries whose comments are written above it.
    gone: &'i [Node<'a>],
    /// The new comment above it.
    note: Option<&'i str>,
    /// The condition under which it is present.
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

    /// Whether the item is a map of a single pair that its author wrote without braces, as an item of
    /// a list in brackets may be.
    fn is_bare_pair(self) -> bool {
        let is_pair = match self {
            Self::Source(node) => node.entries().len() == 1,
            Self::Out(Out::Map { entries, .. }) => {
                matches!(&**entries, [(_, value)] if !matches!(value, Out::Cases(_)))
            }
            _ => false,
        };
        is_pair && self.like().is_some_and(Node::is_bare) && tag_of(self).is_none()
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

    /// The source collection whose style the item takes.
    pub(super) fn like(self) -> Option<Node<'a>> {
        match self {
            Self::Source(node) => Some(node),
            Self::Out(Out::Map { like, .. } | Out::Seq { like, .. }) => *like,
            _ => None,
        }
    }

    /// Calls `entry` with each entry of a map, and with what its value brings along.
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

    /// Calls `item` with each item of a list, the source item whose comments it has, and what it
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

    /// Whether the first entry or item depends on a condition.
    fn begins_open(self) -> bool {
        let first = match self {
            Self::Out(Out::Map { entries, .. }) => entries.first().map(|(_, value)| value),
            Self::Out(Out::Seq { items, .. }) => items.first().map(|(_, item)| item),
            _ => None,
        };
        matches!(first, Some(Out::Cases(_)))
    }

    /// The first entry or item: the owner of its comments, and its value.
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

    /// Whether the item is written in block style where that is possible.
    fn is_block(self) -> bool {
        let flow = match self {
            _ if self.kind() == NodeKind::Scalar || self.is_empty() => true,
            Self::Value(_) => false,
            _ => self.like().is_some_and(Node::is_flow) && self.fits_flow(),
        };
        !flow
    }

    /// Whether nothing in the item needs block style.
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
    /// Whether the node is a collection in flow style, that is, in brackets or braces.
    pub fn is_flow(self) -> bool {
        matches!(self.record().shape, NodeStyle::FlowMap | NodeStyle::FlowList)
    }

    /// The source text of the node.
    pub(super) fn source(self) -> &'a str {
        let record = self.record();
        self.document.slice(record.start, record.end)
    }

    /// The source text, if it is a flow collection that can be copied.
    fn verbatim_flow(self) -> Option<&'a str> {
        let copied = self.is_flow() && !self.record().is(Record::TANGLED) && !self.is_bare();
        Some(self.source())
            .filter(|source| copied && source.starts_with(['[', '{']) && !has_odd_breaks(source))
    }

    /// Whether the node is a map of a single pair in a list, without braces.
    fn is_bare(self) -> bool {
        let first = self.document.children(self.record()).first();
        let begins =
            |first: &u32| self.document.nodes[*first as usize].start == self.record().start;
        self.kind() == NodeKind::Mapping && self.is_flow() && first.is_some_and(begins)
    }

    /// Whether a comment is inside of the node and is copied with it.
    fn copies(self, piece: &Trivia) -> bool {
        let record = self.own_record();
        record.start <= piece.start
            && piece.end <= record.end
            && record.shape != NodeStyle::Alias
            && self.verbatim_flow().is_some()
    }

    /// Whether the node can be a key without block style.
    fn fits_flow_key(self) -> bool {
        self.kind() == NodeKind::Scalar || Item::Source(self).fits_flow()
    }

    /// Whether the node is a key behind a question mark. Then no colon follows it.
    fn is_marked(self) -> bool {
        let behind = || self.document.text.get(self.own_record().end as usize..);
        let colon = |behind: &str| behind.trim_start_matches([' ', '\t']).starts_with(':');
        self.kind() != NodeKind::Scalar && !behind().is_some_and(colon)
    }

    /// The last node inside of this one, in the order of the source.
    fn last(self) -> u32 {
        let children = self.document.children(self.own_record());
        children.last().map_or(self.id, |&last| self.document.at(last).last())
    }

    /// The text before the node in its line.
    fn line_before(self) -> &'a str {
        let (text, start) = (&self.document.text, self.own_record().start as usize);
        text.get(line_start(text, start)..start).unwrap_or_default()
    }

    /// The comment behind this key that is before the colon.
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

    /// Whether it has comments, all of them on lines of their own above or below it.
    pub fn is_commented_around(self) -> bool {
        let is_around =
            |piece: &Trivia| matches!(piece.place, CommentPlace::Above | CommentPlace::Below);
        let has_text = |piece: &Trivia| self.document.slice(piece.start, piece.end).contains('#');
        let all = self.trivia();
        all.iter().all(is_around) && all.iter().any(has_text)
    }

    fn trivia(self) -> &'a [Trivia] {
        if !self.own_record().is(Record::TRIVIA) {
            return &[];
        }
        let table = &self.document.trivia;
        let rest = &table[table.partition_point(|trivia| trivia.owner < self.id)..];
        &rest[..rest.partition_point(|trivia| trivia.owner == self.id)]
    }

    /// The column in which the node starts. `None` where an anchor, a tag or a key is before it in
    /// its line.
    fn column(self) -> Option<usize> {
        let before = self.line_before();
        before.bytes().all(|byte| matches!(byte, b' ' | b'-' | b'?')).then_some(before.len())
    }

    /// The column in which the entry of this key starts.
    fn entry_column(self) -> Option<usize> {
        if !self.is_marked() {
            return self.column();
        }
        let text = &self.document.text;
        let before = text.get(..self.own_record().start as usize)?.trim_end();
        let mark = before.strip_suffix('?')?.len();
        Some(mark - line_start(text, mark))
    }

    /// The author's column of the key or list that this node is the value or an item of. `None` if
    /// the node does not belong to it in the source.
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

/// Whether this line would start or end a document in the first column.
fn is_marker(line: &str) -> bool {
    let rest = line.strip_prefix("---").or_else(|| line.strip_prefix("..."));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']))
}

/// Whether there are carriage returns alone, which are no line ends here.
fn has_odd_breaks(text: &str) -> bool {
    memchr(b'\r', text.as_bytes()).is_some() && text.replace("\r\n", "").contains('\r')
}

/// The indentation where the source shows none.
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

/// The context in which a scalar or a flow collection is written.
#[derive(Clone, Copy, PartialEq)]
enum ScalarContext {
    /// A value in block style, inside of a block in this column; `None` at the root.
    Block(Option<usize>),
    /// A part of a flow collection.
    Flow,
    /// A key in block style.
    Key,
}

/// The parent of a value, with the source node that has the same role.
#[derive(Clone, Copy)]
enum ValueParent<'a> {
    Root,
    Key(Option<Node<'a>>),
    List(Option<Node<'a>>),
}

/// The place at which a value is written.
#[derive(Clone, Copy)]
struct ValueSpot<'a> {
    /// The column of the block that contains the value.
    column: usize,
    parent: ValueParent<'a>,
    /// The entry or item whose comments are written with the value.
    owner: Option<Node<'a>>,
    /// The key whose comment the value brings along. It is used where the owner has no comment.
    lifted: Option<Node<'a>>,
    /// Entries that are left out, whose comments are written above the value.
    gone: &'a [Node<'a>],
    /// The new comment above the value.
    note: Option<&'a str>,
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
    /// The end of the last block scalar that keeps its line breaks at the end; zero for any other.
    kept: usize,
    /// The starts and ends of open parts.
    marks: Vec<(usize, OpenMark)>,
    /// Whether a condition influences the style of the text around its part.
    is_stuck: bool,
}

/// Whether something of a collection is written before its next part.
#[derive(Clone, Copy, PartialEq)]
enum WrittenBefore {
    Nothing,
    Something,
    /// Nothing or something, depending on conditions.
    Open,
}

/// The state of writing a collection.
struct WrittenParts {
    before: WrittenBefore,
    /// Whether the start of the collection is marked.
    is_marked: bool,
}

impl Default for WrittenParts {
    fn default() -> Self {
        Self { before: WrittenBefore::Nothing, is_marked: false }
    }
}

/// The longest key without a question mark. Readers look no further for its colon.
const SIMPLE_KEY: usize = 1000;

impl YamlWriter {
    fn new(capacity: usize, style: Style) -> Self {
        let out = String::with_capacity(capacity);
        Self { out, style, kept: 0, marks: Vec::new(), is_stuck: false }
    }

    // Open parts.

    fn mark(&mut self, mark: OpenMark) {
        self.marks.push((self.out.len(), mark));
    }

    /// Marks the text from `from` to `to` as present only behind something else.
    fn mark_behind(&mut self, from: usize, to: usize) {
        if from < to {
            self.marks.extend([(from, OpenMark::Behind), (to, OpenMark::End)]);
        }
    }

    /// Starts a part, which may depend on a condition.
    fn begin(&mut self, parts: &mut WrittenParts, when: Option<u32>) {
        let Some(when) = when else { return };
        if parts.before == WrittenBefore::Nothing {
            self.mark(OpenMark::Collection);
            parts.is_marked = true;
        }
        self.mark(OpenMark::When(when));
    }

    /// Ends a part.
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

    /// Ends a collection after all of its parts.
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
            note: None,
        };
        self.lines_above(spot, root, WrittenBefore::Something);
        let start = self.out.len();
        self.after_indicator(root, spot);
        // If the root is absent, no line break may be left before its comment, and an empty output
        // stays empty.
        let written = &self.out[start..];
        let absent = written.len() - written.trim_start_matches([' ', '\t', '\n']).len();
        self.out.drain(start..start + absent);
        if self.out.len() == start {
            trim_blank_lines(&mut self.out);
        }
        self.is_stuck |= !self.marks.is_empty();
    }

    /// Writes a collection that is not empty in block style. The first entry continues the current
    /// line when it is `inline`.
    fn block(&mut self, item: Item<'_, '_>, column: usize, inline: bool) {
        let mut parts = WrittenParts::default();
        // Whether the collection fits into brackets depends on its parts.
        let may_be_flow = item.like().is_some_and(Node::is_flow);
        let before = |parts: &WrittenParts, owner| match starts_source(item, owner) {
            true => WrittenBefore::Something,
            false => parts.before,
        };
        item.each_entry(|key, value, Along { lifted, gone, note, when }| {
            let owner = key.owner();
            let parent = ValueParent::Key(owner);
            let spot = ValueSpot { column, parent, owner, lifted, gone, note };
            self.is_stuck |= may_be_flow && when.is_some();
            self.begin(&mut parts, when);
            let inline = inline && parts.before == WrittenBefore::Nothing;
            self.entry(key, value, spot, inline, before(&parts, owner));
            self.end(&mut parts, when);
        });
        let list = item.like();
        item.each_item(|owner, value, Along { lifted, gone, note, when }| {
            let parent = ValueParent::List(list);
            let spot = ValueSpot { column, parent, owner, lifted, gone, note };
            self.is_stuck |= may_be_flow && when.is_some();
            self.begin(&mut parts, when);
            let inline = inline && parts.before == WrittenBefore::Nothing;
            self.item(value, spot, inline, before(&parts, owner));
            self.end(&mut parts, when);
        });
        self.finish(&parts);
    }

    /// Writes a key, its value, and the comments around them.
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
        spot.gone.iter().for_each(|gone| self.lines_below(Some(*gone), column));
        self.lines_below(owner, column);
    }

    /// Writes a key that is no scalar, up to its colon. It follows a question mark if it is in
    /// block style, or if its author put one there.
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

    /// Writes a question mark and a key in block style, which starts behind it or on the line
    /// below.
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

    /// Writes the colon behind a key that is no scalar, and the value. Where the colon has a line
    /// of its own, a block may start in it.
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

    /// Writes a dash, an item, and the comments around them.
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
        // It depends on conditions whether the first entry of the item continues this line.
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
        spot.gone.iter().for_each(|gone| self.lines_below(Some(*gone), spot.column));
        self.lines_below(spot.owner, spot.column);
    }

    /// Writes what follows a colon or a dash, up to the end of the value.
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
        } else if let Some(BlockLines { lines, keeps }) = self.block_scalar(value, spot) {
            self.behind(spot);
            self.out.push('\n');
            self.out.push_str(&lines);
            self.kept = if keeps { self.out.len() } else { 0 };
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

    /// Whether the key that starts here needs a question mark, because it is too long, has several
    /// lines, or is absent.
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

    /// Writes a scalar or a flow collection.
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
        // There are spaces inside of the brackets if the author put some there.
        let is_padded =
            |like: Node<'_>| matches!(like.source().as_bytes(), [b'{' | b'[', b' ', ..]);
        let padding = if item.like().is_some_and(is_padded) { " " } else { "" };
        self.out.push(if map { '{' } else { '[' });
        let start = self.out.len();
        self.out.push_str(padding);
        let first = self.out.len();
        let mut parts = WrittenParts::default();
        item.each_entry(|key, value, Along { when, .. }| {
            self.in_flow(&mut parts, when, |this| this.flow_entry(key, value));
        });
        item.each_item(|_, item, Along { when, .. }| {
            self.in_flow(&mut parts, when, |this| match item.is_bare_pair() {
                true => item.each_entry(|key, value, _| this.flow_entry(key, value)),
                false => this.inline(item, ScalarContext::Flow),
            });
        });
        self.finish(&parts);
        if self.out.len() > first {
            self.out.push_str(padding);
        } else {
            self.out.truncate(start);
        }
        self.out.push(if map { '}' } else { ']' });
    }

    /// Writes a key and its value in braces.
    fn flow_entry(&mut self, key: ItemKey<'_, '_>, value: Item<'_, '_>) {
        let before = self.out.len();
        self.key(key, ScalarContext::Flow);
        if self.needs_mark(before) {
            self.out.insert_str(before, "? ");
        }
        self.out.push_str(": ");
        self.inline(value, ScalarContext::Flow);
    }

    /// Writes an entry or item in brackets, with the comma before it.
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
        // A line break in the part would change the indentation of what follows.
        self.is_stuck |= when.is_some() && memchr(b'\n', &self.out.as_bytes()[start..]).is_some();
        self.end(parts, when);
    }

    fn source_scalar(&mut self, node: Node<'_>, context: ScalarContext) {
        let (record, source) = (node.record(), node.source());
        let text = node.text().unwrap_or_default();
        let one_line = !record.cooked || memchr(b'\n', source.as_bytes()).is_none();
        match record.shape {
            NodeStyle::Plain if source.is_empty() => self.empty_scalar(record.typing, context),
            // The root and a key may get into the first column.
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
            // Some comments after tabs would be taken for a part of the text.
            NodeStyle::Plain if Lines(source).any(|line| line.trim_start().starts_with('#')) => {
                push_double_quoted(&mut self.out, text)
            }
            NodeStyle::Plain | NodeStyle::Quoted if context != ScalarContext::Key => {
                self.copy_lines(node, source, context)
            }
            _ => push_double_quoted(&mut self.out, text),
        }
    }

    /// Writes an absent scalar, as a text where something else follows it.
    fn empty_scalar(&mut self, typing: Typing, context: ScalarContext) {
        match (context, typing) {
            (ScalarContext::Block(_), Typing::Core) => {}
            (_, Typing::String) => self.out.push_str("\"\""),
            _ => self.out.push_str("null"),
        }
    }

    /// Copies a scalar or a flow collection of several lines, indented like the line in which it
    /// starts.
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

    /// Writes the header of a literal or folded scalar and returns its lines. `None` if the value
    /// is not to be written as one.
    fn block_scalar(&mut self, value: Item<'_, '_>, spot: ValueSpot<'_>) -> Option<BlockLines> {
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
                Some(BlockLines { lines: block.lines(spot.column + by), keeps: block.keeps })
            }
            Item::Out(Out::String(text)) => self.literal(text, spot.column, style),
            Item::Value(Value::String(text)) => self.literal(text, spot.column, style),
            _ => None,
        }
    }

    fn literal(&mut self, text: &str, column: usize, by: usize) -> Option<BlockLines> {
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
        Some(BlockLines { lines, keeps: false })
    }

    /// Writes the header: the sign, the indentation where the first line cannot show it, and the
    /// treatment of line breaks at the end.
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

    /// Writes the comments and blank lines above an entry. Above the first entry of a block, blank
    /// lines at the top are dropped, which separated it from another entry.
    fn lines_above(&mut self, spot: ValueSpot<'_>, value: Item<'_, '_>, before: WrittenBefore) {
        let start = self.out.len();
        if let Some(note) = spot.note {
            self.lines(&format!("# {note}\n"), spot.column, false);
        }
        for gone in spot.gone {
            for piece in gone.trivia().iter().filter(|it| it.place != CommentPlace::Below) {
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

    /// Writes comment lines, indented to a column.
    fn lines(&mut self, lines: &str, column: usize, trim: bool) {
        // Behind a block scalar that keeps its line breaks, a blank line would become one of them.
        let mut trim = trim || self.kept == self.out.len() && self.kept > 0;
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

    /// Writes the comment at the end of the line of an entry.
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

    /// Writes a comment at the end of the line.
    fn comment(&mut self, owner: Node<'_>, piece: &Trivia) {
        let comment = owner.document.slice(piece.start, piece.end);
        if comment.starts_with('#') {
            self.out.push(' ');
        }
        self.out.push_str(comment);
    }

    /// Removes spaces at the end of the output, but not before `start`.
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
    /// The source key whose comments the key has.
    fn owner(self) -> Option<Node<'a>> {
        match self {
            Self::Source(node) | Self::Renamed(node, _) => Some(node),
            Self::New(_) => None,
        }
    }
}

/// The comment at the end of the line of an entry, which is a key or an item.
fn behind(owner: Node<'_>, is_key: bool) -> Option<&Trivia> {
    let at_end = |piece: &&Trivia| piece.place == CommentPlace::Behind;
    owner.trivia().iter().rfind(|piece| at_end(piece) && !(is_key && owner.is_behind_mark(piece)))
}

fn tag_of<'a>(item: Item<'_, 'a>) -> Option<&'a str> {
    // A new part in the place of a tagged collection keeps its tag.
    item.like().and_then(Node::tag)
}

/// Whether an entry is the first one in the source as well.
fn starts_source(item: Item<'_, '_>, owner: Option<Node<'_>>) -> bool {
    let Some((like, owner)) = item.like().zip(owner) else { return false };
    std::ptr::eq(like.document, owner.document)
        && like.document.children(like.record()).first() == Some(&owner.id)
}

/// Whether there are comments or blank lines above the first entry of a block.
fn starts_with_lines(block: Item<'_, '_>) -> bool {
    let Some((owner, value)) = block.first() else { return false };
    let trim = !starts_source(block, Some(owner));
    above(owner, block.kind() == NodeKind::Mapping, value)
        .any(|piece| !trim || owner.document.slice(piece.start, piece.end).contains('#'))
}

/// The comments that are written above their owner, a key or an item.
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

/// Whether a comment is written above its owner.
fn is_above(piece: &Trivia, next: Option<&Trivia>, value: Item<'_, '_>) -> bool {
    match piece.place {
        CommentPlace::Above => true,
        CommentPlace::Below => false,
        // Only one comment fits at the end of the line, and that is the last one.
        CommentPlace::Behind => next.is_some_and(|next| next.place == CommentPlace::Behind),
        CommentPlace::Inside => !matches!(value, Item::Source(value) if value.copies(piece)),
    }
}

/// The text of an entry of the source, if it is one line in which nothing has to change.
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
    let text = || key.document.slice(from.start, to.end);
    (colon && to.start < to.end).then(text).filter(|text| !is_marker(text))
}

/// The text of a number as it was written, if readers take it for a number.
pub(super) fn number_text(number: &Number) -> Cow<'_, str> {
    match number.text().filter(|text| matches!(core(text), Scalar::Int(_) | Scalar::Float(_))) {
        Some(text) => Cow::Borrowed(text),
        None => plain_number(number).into(),
    }
}

/// The text of a number in a form that every reader of YAML takes for it, finite or not. If the
/// number is finite, readers of JSON do as well.
pub(super) fn plain_number(number: &Number) -> String {
    if let Some(value) = number.as_int() {
        return value.to_string();
    }
    let value = number.as_f64();
    let text = format!("{value:?}");
    match text.split_once('e') {
        // Readers of YAML 1.1 need a point in the number, and a sign in the exponent.
        Some((number, exponent)) => {
            let fraction = if number.contains('.') { "" } else { ".0" };
            let sign = if exponent.starts_with('-') { "" } else { "+" };
            format!("{number}{fraction}e{sign}{exponent}")
        }
        None => Number::float(value).to_string(),
    }
}

/// The lines of a literal or folded scalar to be written.
struct BlockLines {
    lines: String,
    /// Whether line breaks at the end belong to the scalar.
    keeps: bool,
}

/// A literal or folded scalar of the source.
struct SourceBlock<'a> {
    sign: char,
    /// The column of its lines.
    column: usize,
    /// Whether line breaks at the end belong to the scalar.
    keeps: bool,
    body: &'a str,
}

impl<'a> SourceBlock<'a> {
    /// Finds the block scalar of a node. `None` where the node is none, or its lines do not show
    /// enough to be moved.
    fn of(node: Node<'a>) -> Option<Self> {
        let sign = match node.record().shape {
            NodeStyle::Literal => '|',
            NodeStyle::Folded => '>',
            _ => return None,
        };
        let (text, source) = (node.text()?, node.source());
        // Carriage returns alone may also follow the scalar and belong to its text.
        let behind = node.document.text.get(node.record().end as usize..).unwrap_or_default();
        let behind = behind.trim_start_matches(' ');
        let is_odd =
            has_odd_breaks(source) || behind.starts_with('\r') && !behind.starts_with("\r\n");
        let (header, body) = source.split_once('\n').filter(|_| !is_odd)?;
        let header = header.split(' ').next().filter(|header| header.starts_with(sign))?;
        let filled = |line: &&str| !line.trim_matches([' ', '\r']).is_empty();
        let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
        // The first line that is not blank starts with the same spaces in the text, without the
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
