//! Parses YAML: builds the tree of a document from the events of a parser.

mod cut;
mod parts;
mod quick;

use super::key::Records;
use super::node::{Document, Indentation, NodeStyle, Record};
use super::scalar::Typing;
use super::trivia::{Gaps, Margins, NOBODY, line_start, margin, trim_blank_lines};
use crate::diagnostic::{CodeName, Diagnostic};
use crate::source::{FileId, SourceText, Span};
use granit_parser::{
    ErrorKind, Event, Marker, Options, Parser, ScalarStyle, ScanError, StructureStyle, Tag,
};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Limits on the resources that a document may use, so that no document can hang the reader or
/// exhaust its memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes of a file.
    pub bytes: u64,
    /// The deepest nesting. It is never more than 512, whatever is given, because the functions
    /// that walk through the tree are recursive.
    pub depth: u32,
    /// The most nodes after aliases and merge keys are expanded, as a multiple of the nodes
    /// written, plus a million. The total bytes of these nodes never exceed the bytes that a file
    /// may have.
    pub expansion: u64,
    /// The most threads that read a large file. There are never more than there are cores.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 256 << 20, depth: 128, expansion: 10, threads: usize::MAX }
    }
}

impl Limits {
    /// The most bytes of a file. Places are numbers of 32 bits.
    fn most_bytes(&self) -> u64 {
        self.bytes.min(u64::from(u32::MAX))
    }
}

/// The deepest nesting of a tree, whatever [`Limits`] says.
const MAX_DEPTH: u32 = 512;

/// How many nodes aliases may refer to, whatever the size of the document.
const FREE_EXPANSION: u64 = 1_000_000;

/// A function that decides from a path of keys whether an entry is kept.
pub type Keep<'k> = &'k (dyn Fn(&[&str]) -> bool + Sync);

/// A file to be parsed.
pub struct Job<'k> {
    /// The id of the file.
    pub file: FileId,
    /// The text of the file.
    pub text: SourceText,
    /// A filter of the entries to keep. Without a filter, all entries are kept.
    pub keep: Option<Keep<'k>>,
}

/// Parses a file that contains a single document. A large file is parsed on all cores.
///
/// # Errors
/// Returns a diagnostic `syntax` with its place, for malformed YAML, a second document, a duplicate
/// key, an unknown alias, or an exceeded limit.
pub fn parse(file: FileId, text: SourceText, limits: &Limits) -> Result<Document, Diagnostic> {
    read_one(Job { file, text, keep: None }, limits)
}

/// Parses a file, but leaves out every map entry for which `keep` returns false, so that the unused
/// part of a large library needs no tree. `keep` gets the path of keys to the entry. Entries inside
/// of a list have the path of the list, and the target of an alias is filtered where it is written.
///
/// # Errors
/// As for [`parse`]. Entries that are left out must be well-formed as well, but duplicate keys in
/// them are not found.
pub fn parse_filtered(
    file: FileId,
    text: SourceText,
    limits: &Limits,
    keep: Keep<'_>,
) -> Result<Document, Diagnostic> {
    read_one(Job { file, text, keep: Some(keep) }, limits)
}

/// Parses several files on all cores, each as [`parse_filtered`] does. The documents are in the
/// order of the jobs.
pub fn parse_all(jobs: &[Job<'_>], limits: &Limits) -> Vec<Result<Document, Diagnostic>> {
    parts::read_all(jobs, limits, parts::Share::of_machine(jobs, limits.threads))
}

fn read_one(job: Job<'_>, limits: &Limits) -> Result<Document, Diagnostic> {
    parse_all(std::slice::from_ref(&job), limits).pop().unwrap_or_else(|| read(&job, limits))
}

/// Reads a file from its start to its end.
fn read(job: &Job<'_>, limits: &Limits) -> Result<Document, Diagnostic> {
    let Job { file, text, keep } = job;
    let most = limits.most_bytes();
    if text.len() as u64 > most {
        let message = format!("the file has {} bytes, {most} are allowed", text.len());
        let start = Span { file: *file, start: 0, end: 0 };
        return Err(Diagnostic::error(CodeName::SYNTAX, message).at(start).help("split the file"));
    }
    let built = match Builder::build(*file, text, limits, *keep, Omitted::Skip) {
        Err(Stop::Omitted) => Builder::build(*file, text, limits, *keep, Omitted::Build),
        built => built,
    };
    match built {
        Ok(document) => Ok(Document { text: text.clone(), ..document }),
        Err(Stop::Wrong(diagnostic)) => Err(*diagnostic),
        Err(Stop::Omitted | Stop::Unfit | Stop::Unread) => {
            Err(Diagnostic::error(CodeName::SYNTAX, "an alias refers to a value that was left out"))
        }
    }
}

/// How to treat an entry that is not kept.
#[derive(Clone, Copy, PartialEq)]
enum Omitted {
    Skip,
    /// Its nodes are built, because an alias elsewhere refers to a part of it, but no map contains
    /// it.
    Build,
}

/// The reason why parsing ends early.
enum Stop {
    Wrong(Box<Diagnostic>),
    /// A skipped entry is needed.
    Omitted,
    /// A part does not fit behind the part before it.
    Unfit,
    /// The quick reader cannot read the text.
    Unread,
}

/// A receiver of the events of a text, in their order.
trait EventSink {
    fn take(&mut self, event: &Event<'_>, place: &EventPlace) -> Result<(), Stop>;
}

impl From<Diagnostic> for Stop {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Wrong(Box::new(diagnostic))
    }
}

/// A collection that is still open.
struct Frame {
    id: u32,
    /// The start of the children of the collection among the pending ones.
    base: usize,
    column: usize,
    map: bool,
    flow: bool,
    /// Whether a key is expected next. Always false in a list.
    key_due: bool,
    /// Whether the current entry is left out when it is complete.
    omit: bool,
    /// Whether `keep` decides about the entries.
    filtered: bool,
    merges: bool,
    tangled: bool,
    /// For a flow collection, the first column in which its content may start.
    least: usize,
    /// Whether it is a list in the column of the key that it is the value of.
    indentless: bool,
    /// Whether it is the key of an entry.
    is_key: bool,
    /// The key or item that was started last.
    entry: u32,
    anchor: usize,
    extent: ExpandedSize,
}

/// The size of a node with its aliases expanded.
#[derive(Clone, Copy)]
struct ExpandedSize {
    nodes: u64,
    /// The bytes of the texts of scalars.
    bytes: u64,
    height: u32,
}

impl ExpandedSize {
    const NONE: Self = Self { nodes: 0, bytes: 0, height: 0 };
    const LEAF: Self = Self { nodes: 1, ..Self::NONE };

    /// The size of a scalar with a text of this many bytes.
    fn scalar(bytes: u32) -> Self {
        Self { bytes: bytes.into(), ..Self::LEAF }
    }

    fn add(&mut self, child: Self) {
        self.nodes = self.nodes.saturating_add(child.nodes);
        self.bytes = self.bytes.saturating_add(child.bytes);
        self.height = self.height.max(child.height + 1);
    }
}

#[derive(Clone, Copy)]
enum Anchor {
    Open,
    Done(u32, ExpandedSize),
    Skipped,
}

/// The meaning of a tag.
#[derive(Default)]
struct Tagged {
    typing: Option<Typing>,
    /// [`Record::TAGGED`] where there is one.
    mark: u8,
    /// Whether the tag is written in another form than in the source.
    declared: bool,
}

/// The state of skipping a value.
struct Skip {
    depth: u32,
    /// The column in which the value starts, if it is a block.
    column: usize,
}

/// For the end of a part: the places where the open collections end, and the document.
#[derive(Default)]
struct Ending {
    collections: Option<EventPlace>,
    document: Option<EventPlace>,
}

struct Builder<'t> {
    file: FileId,
    /// The text up to the end of what is read.
    text: &'t str,
    /// The position at which reading starts.
    from: usize,
    /// The keys that lead to the text that is read.
    path: Vec<&'t str>,
    /// For a part, what is still open at its end.
    ending: Option<Ending>,
    limits: Limits,
    keep: Option<Keep<'t>>,
    omitted: Omitted,
    skip: Option<Skip>,
    nodes: Vec<Record>,
    children: Vec<u32>,
    /// The children of open collections. Those of the innermost one are last.
    pending: Vec<u32>,
    cooked: String,
    tags: Vec<(u32, Box<str>)>,
    frames: Vec<Frame>,
    anchors: Vec<Anchor>,
    /// The number and bytes of the nodes that aliases refer to.
    expanded: ExpandedSize,
    gaps: Gaps<'t>,
    margins: Margins,
    indentation: Indentation,
    /// Whether there are keys that are no scalars.
    collection_keys: bool,
    /// The end of the last token.
    end: u32,
}

impl EventSink for Builder<'_> {
    // Inlined, so that callers with a known kind of event skip the match.
    #[inline]
    fn take(&mut self, event: &Event<'_>, place: &EventPlace) -> Result<(), Stop> {
        if self.skip.is_some() {
            self.skip_event(event, place);
            Ok(())
        } else {
            self.event(event, place)
        }
    }
}

impl<'t> Builder<'t> {
    fn new(
        file: FileId,
        text: &'t str,
        limits: &Limits,
        keep: Option<Keep<'t>>,
        omitted: Omitted,
    ) -> Self {
        Self {
            file,
            text,
            from: 0,
            path: Vec::new(),
            ending: None,
            limits: Limits { depth: limits.depth.min(MAX_DEPTH), ..*limits },
            keep,
            omitted,
            skip: None,
            nodes: Vec::new(),
            children: Vec::new(),
            pending: Vec::new(),
            cooked: String::new(),
            tags: Vec::new(),
            frames: Vec::new(),
            anchors: Vec::new(),
            expanded: ExpandedSize::NONE,
            gaps: Gaps::new(text, 0),
            margins: Margins::default(),
            indentation: Indentation::default(),
            collection_keys: false,
            end: 0,
        }
    }

    fn build(
        file: FileId,
        text: &'t str,
        limits: &Limits,
        keep: Option<Keep<'t>>,
        omitted: Omitted,
    ) -> Result<Document, Stop> {
        let new = || Self::new(file, text, limits, keep, omitted);
        Ok(Self::filled(new)?.finish())
    }

    /// Reads with the quick reader where that is possible, and otherwise with the parser. Only the
    /// parser reports errors.
    fn filled(new: impl Fn() -> Self) -> Result<Self, Stop> {
        let mut quick = new();
        // An entry that turns out to be needed has an anchor, which the quick reader does not read.
        if quick.omitted == Omitted::Skip && quick.read_quickly().is_ok() {
            return Ok(quick);
        }
        drop(quick);
        let mut builder = new();
        builder.read_by_parser()?;
        Ok(builder)
    }

    fn read_quickly(&mut self) -> Result<(), Stop> {
        self.make_room();
        quick::read(self.text, self.from, &self.options(), self)
    }

    fn read_by_parser(&mut self) -> Result<(), Stop> {
        self.make_room();
        let source = self.text.get(self.from..).unwrap_or_default();
        for next in Parser::new_from_str_with_options(source, self.options()) {
            // Events are large, so they are passed by reference.
            match &next {
                Ok((event, place)) => self.take(event, &EventPlace::new(place, self.from))?,
                Err(error) => return Err(self.malformed(error)),
            }
        }
        Ok(())
    }

    fn make_room(&mut self) {
        self.nodes.reserve(if self.keep.is_some() {
            0
        } else {
            (self.text.len() - self.from) / 20 + 1
        });
    }

    fn options(&self) -> Options {
        // Both limits of the parser are above ours, which counts flow and block nesting together.
        let limit = self.limits.depth as usize + 8;
        granit_parser::options! { flow_nesting_limit: limit, block_nesting_limit: limit }
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>, place: &EventPlace) -> Result<(), Stop> {
        let is_flow = |style: &StructureStyle| *style == StructureStyle::Flow;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(text, *style, *anchor, tag.as_deref(), place)
            }
            Event::MappingStart(style, anchor, tag) => {
                self.open(true, is_flow(style), *anchor, tag.as_deref(), place)
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.open(false, is_flow(style), *anchor, tag.as_deref(), place)
            }
            Event::MappingEnd | Event::SequenceEnd => self.close(place),
            Event::Alias(anchor) => self.alias(*anchor, place),
            Event::DocumentStart(..) if self.nodes.is_empty() => Ok(()),
            Event::DocumentStart(..) => Err(self.error(
                "there is a second document in this file",
                self.visible(place.start),
                "write each document into a file of its own",
            )),
            Event::DocumentEnd => {
                self.end_document(place);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn end_document(&mut self, place: &EventPlace) {
        if let Some(ending) = &mut self.ending {
            ending.document = Some(place.clone());
            return;
        }
        let marker = place.start < place.end;
        self.gaps.scan(if marker { place.start } else { self.text.len() }, None);
        self.gaps.rest(&mut self.margins.bottom);
        if marker {
            margin(self.text.get(place.end..).unwrap_or_default(), &mut self.margins.bottom);
        }
    }

    fn finish(mut self) -> Document {
        if self.nodes.is_empty() {
            margin(self.text, &mut self.margins.top);
            self.nodes.push(Record::scalar(0, 0, NodeStyle::Plain, Typing::Core));
        }
        trim_blank_lines(&mut self.margins.bottom);
        let mut trivia = self.gaps.found;
        trivia.sort_unstable_by_key(|trivia| (trivia.owner, trivia.place, trivia.start));
        for trivia in &trivia {
            if let Some(owner) = self.nodes.get_mut(trivia.owner as usize) {
                owner.marks |= Record::TRIVIA;
            }
        }
        self.nodes.shrink_to_fit();
        self.children.shrink_to_fit();
        Document {
            file: self.file,
            text: SourceText::default(),
            cooked: self.cooked,
            nodes: self.nodes,
            children: self.children,
            tags: self.tags,
            trivia,
            margins: self.margins,
            indentation: self.indentation,
            collection_keys: self.collection_keys,
            is_called_otherwise: false,
        }
    }

    // Errors.

    fn error(&self, message: impl Into<String>, span: Span, help: &str) -> Stop {
        Diagnostic::error(CodeName::SYNTAX, message).at(span).help(help).into()
    }

    fn span(&self, place: &EventPlace) -> Span {
        Span { file: self.file, start: place.start as u32, end: place.end as u32 }
    }

    /// The character at a position, or the last visible one before it.
    fn visible(&self, at: usize) -> Span {
        let before = self.text.get(..at).unwrap_or(self.text);
        let here =
            self.text.get(at..).is_some_and(|rest| rest.starts_with(|c: char| !c.is_whitespace()));
        let trimmed = before.trim_end();
        let start =
            if here { at } else { trimmed.char_indices().next_back().map_or(0, |(last, _)| last) };
        let word = self.text.get(start..).unwrap_or_default();
        let edge = |c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}');
        let first = word.chars().next().map_or(0, char::len_utf8);
        let len = word.find(edge).unwrap_or(word.len()).max(first);
        Span { file: self.file, start: start as u32, end: (start + len) as u32 }
    }

    fn malformed(&self, error: &ScanError) -> Stop {
        let span = self
            .visible(error.marker().byte_offset().map_or(self.end as usize, |at| self.from + at));
        let message = match error.kind() {
            ErrorKind::RecursionLimitExceeded => return self.too_deep(span),
            _ => format!("malformed YAML: {}", error.info()),
        };
        let above = match error.kind() {
            ErrorKind::MappingValueNotAllowed | ErrorKind::ExpectedBlockMappingKey => {
                unexpected_key(self.text, span.start as usize)
            }
            _ => None,
        };
        self.error(message, span, above.as_deref().unwrap_or(advice(error.kind())))
    }

    fn too_deep(&self, span: Span) -> Stop {
        let message = format!("collections are nested more than {} levels deep", self.limits.depth);
        self.error(message, span, "nest less deeply")
    }

    // Parts that all nodes have in common.

    /// The depth of the node that comes next.
    fn depth(&self) -> u32 {
        (self.path.len() + self.frames.len()) as u32
    }

    /// The first column in which a flow value may start here: to the right of the block around it.
    fn least_column(&self) -> usize {
        match self.frames.last() {
            Some(frame) if frame.flow => frame.least,
            Some(frame) => frame.column + 1,
            None => 0,
        }
    }

    /// Checks that each line of a flow collection is indented more than the block around it.
    fn indented(&self, place: &EventPlace) -> Result<(), Stop> {
        let least = match self.frames.last() {
            Some(frame) if frame.flow => frame.least,
            _ => return Ok(()),
        };
        let mut at = (place.column < least).then_some(place.start);
        if at.is_none() && place.line < place.last_line {
            let text = self.text.get(place.start..place.end).unwrap_or_default();
            let mut starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1);
            let is_short = |start: &usize| {
                let line = text.get(*start..).unwrap_or_default();
                let content = line.trim_start_matches(' ');
                !content.starts_with(['\n', '\r', '\t']) && line.len() - content.len() < least
            };
            at = starts.find(is_short).map(|start| place.start + start);
        }
        match at {
            Some(at) => Err(self.error(
                "text in brackets has to be indented more than the key or item that it is for",
                self.visible(at),
                "indent this line further",
            )),
            None => Ok(()),
        }
    }

    fn is_key(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.key_due)
    }

    /// Handles the start of a node. The comment lines above it get their owner.
    fn arrive(&mut self, place: &EventPlace, opens_block: bool) {
        if self.nodes.is_empty() {
            margin(
                self.text.get(self.from..place.start).unwrap_or_default(),
                &mut self.margins.top,
            );
            self.gaps.end_token(place.start, place.line);
        } else {
            self.gaps.read(place.start, place.line);
        }
        self.settle(opens_block);
    }

    /// Handles the start of a node after the gap before it was read.
    fn settle(&mut self, opens_block: bool) {
        let id = self.nodes.len() as u32;
        match self.frames.last_mut() {
            Some(frame) if !frame.flow && (frame.key_due || !frame.map) => {
                frame.entry = id;
                self.gaps.entry(id, opens_block);
            }
            _ => self.gaps.part(opens_block),
        }
    }

    /// Adds a node to its parent. It is complete or about to be filled.
    fn hang(&mut self, id: u32) {
        let Some(frame) = self.frames.last_mut() else { return };
        let value = frame.map && !frame.key_due;
        frame.key_due = frame.map && value;
        if value && std::mem::take(&mut frame.omit) {
            self.pending.pop();
        } else {
            self.pending.push(id);
        }
    }

    fn count(&mut self, extent: ExpandedSize, tangled: bool) {
        if let Some(frame) = self.frames.last_mut() {
            frame.extent.add(extent);
            frame.tangled |= tangled;
        }
    }

    fn set_anchor(&mut self, anchor: usize, state: Anchor) {
        if anchor > 0 {
            if self.anchors.len() <= anchor {
                self.anchors.resize(anchor + 1, Anchor::Skipped);
            }
            self.anchors[anchor] = state;
        }
    }

    fn records(&self) -> Records<'_> {
        Records {
            nodes: &self.nodes,
            children: &self.children,
            text: self.text,
            cooked: &self.cooked,
        }
    }

    /// The text of a scalar.
    fn text_of(&self, id: u32) -> &str {
        self.records().scalar_text(&self.nodes[id as usize])
    }

    /// Reads the tag of the node that is about to be added.
    #[inline]
    fn tag(&mut self, tag: Option<&Tag>, kind: &str, place: &EventPlace) -> Result<Tagged, Stop> {
        tag.map_or_else(|| Ok(Tagged::default()), |tag| self.written_tag(tag, kind, place))
    }

    fn written_tag(&mut self, tag: &Tag, kind: &str, place: &EventPlace) -> Result<Tagged, Stop> {
        let tag_range = place.tag.clone().unwrap_or(place.start..place.end);
        let tag_span =
            Span { file: self.file, start: tag_range.start as u32, end: tag_range.end as u32 };
        let typing = match (kind, tag.core_suffix()) {
            ("scalar", Some("str")) => Some(Typing::String),
            ("scalar", Some("int")) => Some(Typing::Int),
            ("scalar", Some("float")) => Some(Typing::Float),
            ("scalar", Some("bool")) => Some(Typing::Bool),
            ("scalar", Some("null")) => Some(Typing::Null),
            ("map", Some("map")) | ("list", Some("seq")) | (_, None) => None,
            (_, Some(suffix)) => {
                let message = format!("the tag `!!{suffix}` does not fit a {kind}");
                return Err(self.error(
                    message,
                    tag_span,
                    "remove the tag, or change the value behind it",
                ));
            }
        };
        let raw = self.text.get(tag_range).unwrap_or_default();
        // A handle that a directive declares has no meaning in a file without the directive.
        let declared = tag.handle() != tag.original_handle()
            && !tag.original_handle().is_empty()
            && tag.core_suffix().is_none();
        let written = match raw.strip_prefix(tag.original_handle()) {
            Some(suffix) if declared => format!("!<{}{suffix}>", tag.handle()),
            _ => raw.to_owned(),
        };
        self.tags.push((self.nodes.len() as u32, written.into()));
        Ok(Tagged {
            typing: if raw == "!" && kind == "scalar" { Some(Typing::String) } else { typing },
            mark: Record::TAGGED,
            declared,
        })
    }

    // Scalars and aliases.

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        place: &EventPlace,
    ) -> Result<(), Stop> {
        let tag = self.tag(tag, "scalar", place)?;
        let record = match style {
            ScalarStyle::Literal | ScalarStyle::Folded => {
                self.block_scalar(text, style == ScalarStyle::Folded, place)?
            }
            _ => self.flow_scalar(text, style == ScalarStyle::Plain, place)?,
        };
        let id = self.nodes.len() as u32;
        let record =
            Record { typing: tag.typing.unwrap_or(record.typing), marks: tag.mark, ..record };
        self.nodes.push(record);
        if tag.typing.is_some() && record.typing.read(self.text_of(id)).is_none() {
            let what = format!("{:?}", record.typing).to_ascii_lowercase();
            return Err(self.error(
                format!("the value does not fit its tag `!!{what}`"),
                self.visible(place.start),
                "remove the tag",
            ));
        }
        if self.is_key() && !self.keep_key(id) {
            self.set_anchor(anchor, Anchor::Skipped);
            return Ok(());
        }
        let extent = ExpandedSize::scalar(record.len);
        self.set_anchor(anchor, Anchor::Done(id, extent));
        self.hang(id);
        self.count(extent, anchor > 0 || tag.declared);
        Ok(())
    }

    fn flow_scalar(&mut self, text: &str, plain: bool, place: &EventPlace) -> Result<Record, Stop> {
        let absent = plain && place.start == place.end;
        // The parser reports an absent scalar behind the comment of its line. Its place is where it
        // could be.
        let at = if absent && !self.nodes.is_empty() {
            self.gaps.skip_to_absent(place.start)
        } else {
            place.start
        };
        if !absent {
            self.indented(place)?;
        }
        self.arrive(place, false);
        self.end = if absent { at } else { place.end } as u32;
        self.gaps.end_token(place.end, place.last_line);
        let (shape, typing, quote) = if plain {
            (NodeStyle::Plain, Typing::Core, 0)
        } else {
            (NodeStyle::Quoted, Typing::String, 1)
        };
        let record = Record::scalar(at as u32, self.end, shape, typing);
        if absent {
            // The parser reports the text of an absent scalar as `~`.
            return Ok(record);
        }
        let inner = place.start + quote..place.end.saturating_sub(quote);
        if self.text.get(inner.clone()) == Some(text) {
            return Ok(Record { first: inner.start as u32, len: inner.len() as u32, ..record });
        }
        self.cook(record, text)
    }

    /// Adds a literal or folded scalar. Its span starts at its header and ends with its last line
    /// that is not blank.
    fn block_scalar(
        &mut self,
        text: &str,
        folded: bool,
        place: &EventPlace,
    ) -> Result<Record, Stop> {
        let last = place.end;
        let sign = if folded { b'>' } else { b'|' };
        let header = self.gaps.scan(last, Some(sign)).filter(|header| header.start <= place.start);
        let header = header.unwrap_or(place.start..place.start);
        if self.nodes.is_empty() {
            margin(
                self.text.get(self.from..header.start).unwrap_or_default(),
                &mut self.margins.top,
            );
            self.gaps.forget(header.start);
        }
        self.settle(false);
        let keeps = self.text.get(header.clone()).is_some_and(|header| header.contains('+'));
        let header_line = self.text.get(header.end..last).unwrap_or_default();
        let body = header_line.find('\n').map_or(last.max(header.end), |at| header.end + at + 1);
        let len = content_len(self.text.get(body..last).unwrap_or_default(), keeps);
        let stop = if len == 0 { header.end } else { body + len };
        self.end = stop as u32;
        self.gaps.end_token(stop, 0);
        let shape = if folded { NodeStyle::Folded } else { NodeStyle::Literal };
        self.cook(Record::scalar(header.start as u32, stop as u32, shape, Typing::String), text)
    }

    /// Stores a text that is not a range of the source in `cooked`.
    fn cook(&mut self, record: Record, text: &str) -> Result<Record, Stop> {
        let first = self.cooked.len();
        self.cooked.push_str(text);
        if u32::try_from(self.cooked.len()).is_err() {
            return Err(self.error(
                "the file is too large",
                Span { file: self.file, start: 0, end: 0 },
                "split the file",
            ));
        }
        Ok(Record { first: first as u32, len: text.len() as u32, cooked: true, ..record })
    }

    fn alias(&mut self, anchor: usize, place: &EventPlace) -> Result<(), Stop> {
        let (target, extent) = match self.anchors.get(anchor) {
            Some(&Anchor::Done(target, extent)) => (target, extent),
            Some(Anchor::Open) => {
                return Err(self.error(
                    "this alias is inside of the value that it refers to",
                    self.span(place),
                    "remove the alias",
                ));
            }
            Some(Anchor::Skipped) | None => return Err(Stop::Omitted),
        };
        self.expanded.add(extent);
        let written = self.nodes.len() as u64;
        let most = self.limits.expansion.saturating_mul(written).saturating_add(FREE_EXPANSION);
        let (passed, help) = if self.expanded.nodes > most {
            (
                "nodes",
                "write out the values that differ, or use types instead of aliases in aliases",
            )
        } else {
            ("bytes", "write out the values that differ, or move long texts into files")
        };
        if self.expanded.nodes > most || self.expanded.bytes > self.limits.most_bytes() {
            let message = format!("the aliases of this document expand to too many {passed}");
            return Err(self.error(message, self.span(place), help));
        }
        if self.depth() + extent.height > self.limits.depth {
            return Err(self.too_deep(self.span(place)));
        }
        self.indented(place)?;
        self.arrive(place, false);
        self.end = place.end as u32;
        self.gaps.end_token(place.end, place.last_line);
        self.hang_alias(target, extent, place)
    }

    fn hang_alias(
        &mut self,
        target: u32,
        extent: ExpandedSize,
        place: &EventPlace,
    ) -> Result<(), Stop> {
        let id = self.nodes.len() as u32;
        let key = self.is_key();
        let of = self.nodes[target as usize];
        let alias =
            Record::scalar(place.start as u32, place.end as u32, NodeStyle::Alias, Typing::Core);
        let name = key && of.shape.is_scalar();
        let record =
            if name { Record { marks: 0, ..of } } else { Record { first: target, ..alias } };
        self.nodes.push(Record { marks: record.marks | Record::TANGLED, ..record });
        if name && !self.keep_key(id) {
            return Ok(());
        }
        self.collection_keys |= key && !name;
        self.hang(id);
        self.count(extent, true);
        Ok(())
    }

    // Keys.

    /// Records a key. Returns whether its entry is built at all.
    fn keep_key(&mut self, id: u32) -> bool {
        let record = &self.nodes[id as usize];
        let merge = record.shape == NodeStyle::Plain
            && record.typing == Typing::Core
            && self.text_of(id) == "<<";
        let wanted = merge || self.wants(self.text_of(id));
        let Some(frame) = self.frames.last_mut() else { return true };
        frame.merges |= merge;
        // The source text of a flow collection is no longer its content.
        frame.tangled |= !wanted;
        if !wanted && self.omitted == Omitted::Skip {
            if !frame.flow {
                frame.entry = NOBODY;
                self.gaps.disown(id);
            }
            self.nodes.pop();
            self.tags.pop_if(|(tagged, _)| *tagged == id);
            self.skip = Some(Skip { depth: 0, column: 0 });
            return false;
        }
        frame.omit = !wanted;
        true
    }

    /// Whether the entry of a key in the innermost map is kept.
    fn wants(&self, key: &str) -> bool {
        let Some((keep, frame)) = self.keep.zip(self.frames.last()) else { return true };
        if !frame.filtered {
            return true;
        }
        let mut path = self.keys();
        path.push(key);
        keep(&path)
    }

    /// Whether the expected value in the innermost map has a key that is no scalar.
    fn is_of_collection_key(&self, frame: &Frame) -> bool {
        let key = self.pending.last().filter(|_| frame.map && !frame.key_due);
        key.is_some_and(|&key| !self.nodes[key as usize].shape.is_scalar())
    }

    /// The keys that lead to the innermost collection, without those that are no scalars.
    fn keys(&self) -> Vec<&str> {
        let outer = self.frames.split_last().map_or(&[][..], |(_, outer)| outer);
        let mut path: Vec<&str> = Vec::with_capacity(self.path.len() + self.frames.len());
        path.extend(&self.path);
        for (frame, inner) in outer.iter().zip(self.frames.iter().skip(1)) {
            // The key of the inner map is pending right before the map.
            if let (true, [.., key, _]) =
                (frame.map && !inner.is_key, self.pending.get(..inner.base).unwrap_or_default())
                && self.nodes[*key as usize].shape.is_scalar()
            {
                let key = self.text_of(*key);
                path.extend((key != "<<").then_some(key));
            }
        }
        path
    }

    /// Handles an event inside of a skipped value.
    fn skip_event(&mut self, event: &Event<'_>, place: &EventPlace) {
        let Some(skip) = &mut self.skip else { return };
        match event {
            Event::MappingStart(style, ..) | Event::SequenceStart(style, ..) => {
                if skip.depth == 0 && *style == StructureStyle::Block {
                    skip.column = place.column;
                }
                skip.depth += 1;
            }
            Event::MappingEnd | Event::SequenceEnd => skip.depth -= 1,
            _ => {}
        }
        let (done, column) = (skip.depth == 0, skip.column);
        let ends_block =
            matches!(event, Event::MappingEnd | Event::SequenceEnd) && place.start == place.end;
        if !ends_block {
            let block =
                matches!(event, Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, ..));
            let stop = if block {
                self.text.get(..place.end).unwrap_or_default().trim_end().len()
            } else {
                place.end
            };
            self.gaps.end_token(stop, if block { 0 } else { place.last_line });
        }
        self.set_anchor(event.anchor_id().unwrap_or(0), Anchor::Skipped);
        if !done {
            return;
        }
        self.skip = None;
        if ends_block {
            self.gaps.read(place.start, place.line);
            self.gaps.end_block(column, NOBODY);
        }
    }

    // Collections.

    fn open(
        &mut self,
        map: bool,
        flow: bool,
        anchor: usize,
        tag: Option<&Tag>,
        place: &EventPlace,
    ) -> Result<(), Stop> {
        let tag = self.tag(tag, if map { "map" } else { "list" }, place)?;
        let is_key = self.is_key();
        if self.depth() >= self.limits.depth {
            return Err(self.too_deep(self.visible(place.start)));
        }
        let value_of =
            self.frames.last().filter(|frame| frame.map && !frame.flow).map(|frame| frame.column);
        if value_of.is_some() && !map && !flow {
            // The parser reports a list in the column of its key behind the first dash, which is
            // needed here.
            self.gaps.scan(place.start, None);
        }
        let dash = self.gaps.dash().filter(|_| value_of.is_some() && !flow);
        self.indented(&EventPlace { last_line: place.line, ..place.clone() })?;
        self.arrive(place, !flow);
        let at = dash.map_or(place.start, |dash| dash as usize);
        let column = if dash.is_some() { at - line_start(self.text, at) } else { place.column };
        if let (Some(outer), false, false) = (value_of, flow, is_key) {
            let style = if map { &mut self.indentation.map } else { &mut self.indentation.list };
            *style =
                style.or(column.checked_sub(outer).and_then(|columns| u32::try_from(columns).ok()));
        }
        self.push_frame(map, flow, &tag, anchor, at, column);
        if let (Some(frame), Some(_)) = (self.frames.last_mut(), dash) {
            frame.indentless = true;
        }
        if flow {
            self.gaps.flow += 1;
            self.gaps.end_token(place.end, place.last_line);
            self.end = place.end as u32;
        }
        Ok(())
    }

    fn push_frame(
        &mut self,
        map: bool,
        flow: bool,
        tag: &Tagged,
        anchor: usize,
        at: usize,
        column: usize,
    ) {
        let id = self.nodes.len() as u32;
        let shape = match (map, flow) {
            (true, true) => NodeStyle::FlowMap,
            (true, false) => NodeStyle::BlockMap,
            (false, true) => NodeStyle::FlowList,
            (false, false) => NodeStyle::BlockList,
        };
        let record = Record::scalar(at as u32, at as u32, shape, Typing::Core);
        self.nodes.push(Record { marks: tag.mark, ..record });
        let is_key = self.is_key();
        // No path leads to or through a key that is no scalar, so its entry is kept as a whole.
        let filtered = self.frames.last().map_or(self.keep.is_some(), |frame| {
            frame.filtered && !frame.omit && !is_key && !self.is_of_collection_key(frame)
        });
        self.collection_keys |= is_key;
        let least = self.least_column();
        self.hang(id);
        self.set_anchor(anchor, Anchor::Open);
        self.frames.push(Frame {
            id,
            base: self.pending.len(),
            column,
            map,
            flow,
            key_due: map,
            omit: false,
            filtered,
            merges: false,
            tangled: tag.declared,
            least,
            indentless: false,
            is_key,
            entry: NOBODY,
            anchor,
            extent: ExpandedSize::LEAF,
        });
    }

    fn close(&mut self, place: &EventPlace) -> Result<(), Stop> {
        self.gaps.read(place.start, place.line);
        let last = self.frames.len() == 1 || place.start == self.text.len();
        if let (Some(ending), true) =
            (&mut self.ending, last && self.frames.last().is_some_and(|frame| !frame.flow))
        {
            // Every key has a value, even if it is absent.
            if self.frames.iter().any(|frame| frame.is_key) {
                return Err(Stop::Unfit);
            }
            ending.collections = Some(place.clone());
            return Ok(());
        }
        self.close_frame(place)
    }

    fn close_frame(&mut self, place: &EventPlace) -> Result<(), Stop> {
        let merged = match self.frames.last() {
            Some(frame) if frame.map => {
                self.unique_keys(frame)?;
                if frame.merges { Some(self.merge(frame)?) } else { None }
            }
            _ => None,
        };
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        if frame.flow {
            self.gaps.part(false);
            self.gaps.flow -= 1;
            self.gaps.end_token(place.end, place.last_line);
            self.end = if place.start < place.end { place.end as u32 } else { self.end };
        } else if !self.frames.is_empty() {
            self.gaps.end_block(frame.column + usize::from(frame.indentless), frame.entry);
        }
        if let (true, Some(outer)) = (frame.is_key && !frame.flow, self.frames.last()) {
            self.gaps.resume(outer.entry);
        }
        let first = self.children.len();
        if let Some(merged) = merged {
            self.pending.truncate(frame.base);
            self.children.extend(merged);
        } else {
            self.children.extend(self.pending.drain(frame.base..));
        }
        let tangled = frame.tangled || frame.merges;
        let record = &mut self.nodes[frame.id as usize];
        record.end = self.end.max(record.start);
        (record.first, record.len) = (first as u32, (self.children.len() - first) as u32);
        record.marks |= if tangled { Record::TANGLED } else { 0 };
        let tangled = tangled || frame.anchor > 0;
        self.set_anchor(frame.anchor, Anchor::Done(frame.id, frame.extent));
        self.count(frame.extent, tangled);
        Ok(())
    }

    /// Checks that the keys of a map are distinct by their texts. The texts of collections are made
    /// only here.
    fn unique_keys(&self, frame: &Frame) -> Result<(), Stop> {
        const FEW: usize = 8;
        let (entries, _) = self.pending.get(frame.base..).unwrap_or_default().as_chunks::<2>();
        let len = |key: u32| self.nodes[key as usize].len;
        let scalars = || entries.iter().all(|&[key, _]| self.nodes[key as usize].shape.is_scalar());
        if entries.len() <= FEW && (!self.collection_keys || scalars()) {
            for (index, &[key, _]) in entries.iter().enumerate() {
                let earlier = entries.iter().take(index).map(|&[earlier, _]| earlier);
                let same = |&earlier: &u32| {
                    len(earlier) == len(key) && self.text_of(earlier) == self.text_of(key)
                };
                if let Some(earlier) = earlier.into_iter().find(same) {
                    return Err(self.duplicate(earlier, key));
                }
            }
            return Ok(());
        }
        let mut seen = HashMap::with_capacity(entries.len());
        for &[key, _] in entries {
            if let Some(earlier) = seen.insert(self.records().key_text(key), key) {
                return Err(self.duplicate(earlier, key));
            }
        }
        Ok(())
    }

    fn duplicate(&self, first: u32, second: u32) -> Stop {
        let span = |id: u32| Span {
            file: self.file,
            start: self.nodes[id as usize].start,
            end: self.nodes[id as usize].end,
        };
        Diagnostic::error(
            CodeName::SYNTAX,
            format!("the key `{}` is there twice in one map", self.records().key_text(second)),
        )
        .at(span(second))
        .label(span(first), "it is here, too")
        .help("remove or rename one of them")
        .into()
    }

    /// The entries of a map with those that `<<` adds. Its own keys take precedence, then those of
    /// earlier maps.
    fn merge(&self, frame: &Frame) -> Result<Vec<u32>, Stop> {
        let (own, _) = self.pending.get(frame.base..).unwrap_or_default().as_chunks::<2>();
        let is_merge = |key: u32| {
            let record = &self.nodes[key as usize];
            record.shape == NodeStyle::Plain
                && record.typing == Typing::Core
                && self.text_of(key) == "<<"
        };
        let mut seen: HashSet<Cow<'_, str>> = own
            .iter()
            .map(|&[key, _]| key)
            .filter(|&key| !is_merge(key))
            .map(|key| self.records().key_text(key))
            .collect();
        let mut merged = Vec::new();
        for &[key, value] in own {
            if !is_merge(key) {
                merged.extend([key, value]);
                continue;
            }
            for source in self.merged_maps(value)? {
                let (entries, _) = self.records().children_of(source).as_chunks::<2>();
                let new = entries.iter().filter(|[key, _]| {
                    let (text, (_, of)) =
                        (self.records().key_text(*key), self.records().resolved(*key));
                    (!of.shape.is_scalar() || self.wants(&text)) && seen.insert(text)
                });
                merged.extend(new.flatten());
            }
        }
        Ok(merged)
    }

    fn merged_maps(&self, value: u32) -> Result<Vec<&Record>, Stop> {
        let (_, record) = self.records().resolved(value);
        let maps = match record.shape {
            NodeStyle::FlowList | NodeStyle::BlockList => {
                let items = self.records().children_of(record).iter();
                items.map(|&item| (item, self.records().resolved(item).1)).collect()
            }
            _ => vec![(value, record)],
        };
        let map = |(id, record): (u32, &'_ Record)| match record.shape {
            NodeStyle::FlowMap | NodeStyle::BlockMap => Ok(()),
            _ => {
                let own = self.nodes[id as usize];
                let span = Span { file: self.file, start: own.start, end: own.end };
                Err(self.error(
                    "the value of `<<` is not a map or a list of maps",
                    span,
                    "quote the key if `<<` is meant as a name",
                ))
            }
        };
        maps.iter().try_for_each(|&entry| map(entry))?;
        Ok(maps.into_iter().map(|(_, record)| record).collect())
    }
}

/// The place of an event in the text of the file.
#[derive(Clone)]
struct EventPlace {
    start: usize,
    end: usize,
    column: usize,
    line: usize,
    last_line: usize,
    tag: Option<Range<usize>>,
}

impl EventPlace {
    /// The place that the parser reports when it started to read at an offset.
    fn new(place: &granit_parser::Span, from: usize) -> Self {
        let at = |marker: &Marker| from + marker.byte_offset().unwrap_or_default();
        Self {
            start: at(&place.start),
            end: at(&place.end),
            column: place.start.col(),
            line: place.start.line(),
            last_line: place.end.line(),
            tag: place.tag_span().map(|tag| at(&tag.start)..at(&tag.end)),
        }
    }
}

impl Record {
    fn scalar(start: u32, end: u32, shape: NodeStyle, typing: Typing) -> Self {
        Self { start, end, first: start, len: 0, shape, typing, cooked: false, marks: 0 }
    }
}

/// The length of the lines of a block scalar, without the blank lines at the end unless it `keeps`
/// them.
fn content_len(lines: &str, keeps: bool) -> usize {
    let filled = lines.trim_end_matches([' ', '\t', '\r', '\n']).len();
    let last_line = lines[filled..].find(['\r', '\n']).map_or(lines.len(), |at| filled + at);
    match lines.rfind('\n') {
        // The line that follows does not belong to the scalar.
        Some(at) if keeps => last_line.max(at + 1),
        _ if filled == 0 => 0,
        _ => last_line,
    }
}

/// Advice about a key where none is allowed. The mistake is often in the line before, or in the
/// indentation of this line.
fn unexpected_key(text: &str, at: usize) -> Option<String> {
    let line_start = text.get(..at)?.rfind('\n')? + 1;
    let (before, line) = (text.get(..line_start)?, text.get(line_start..)?);
    let is_filled = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let above = before.lines().rfind(is_filled)?;
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let entry = above.trim().trim_start_matches("- ");
    let (key, _) = key_and_value(entry)?;
    let is_deeper = || indent(line) > indent(above);
    missing_blank(entry).or_else(|| {
        is_deeper().then(|| {
            format!(
                "indent this as far as `{key}` above, which has a value and can hold nothing else"
            )
        })
    })
}

/// The texts before and behind the first colon of a line, where the first may be a key.
fn key_and_value(entry: &str) -> Option<(&str, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let is_entry = |(key, value): &(&str, &str)| {
        !key.is_empty() && key.chars().all(is_word) && !value.is_empty()
    };
    entry.split_once(':').filter(is_entry)
}

/// Advice about text that was meant as an entry of a map, such as `type:App`.
pub fn missing_blank(text: &str) -> Option<String> {
    let is_entry = |(_, value): &(&str, &str)| !value.starts_with([' ', '/']);
    let (key, value) = key_and_value(text).filter(is_entry)?;
    Some(format!("put a space behind the colon: `{key}: {value}`"))
}

/// Advice about an error of the scanner.
fn advice(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation => "indent with spaces",
        ErrorKind::UnknownAnchor => {
            "define the anchor (`&name`) further up, or quote the text if it is no alias"
        }
        ErrorKind::UnclosedQuotedScalar => "add the closing quote",
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::MismatchedFlowCollectionEnd { .. } => "close every bracket that is open",
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            "quote the text if the colon belongs to it"
        }
        ErrorKind::UnexpectedCharacter { .. } => "quote the text if the character belongs to it",
        ErrorKind::CommentNotSeparated => {
            "put a space before the `#`, or quote the text if it belongs to it"
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            "write `\\\\` for a backslash, or use single quotes"
        }
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::InvalidIndentation => {
            "check the indentation: what belongs together starts in the same column"
        }
        _ => "check the indentation, the quotes and the brackets before this place",
    }
}
