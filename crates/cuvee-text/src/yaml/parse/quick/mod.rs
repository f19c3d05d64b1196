//! Reads the constructs that nearly all YAML consists of: block maps and lists, scalars of one
//! line, and flow collections of one line. The events are those of the parser, at a fraction of the
//! cost.
//!
//! Where this reader does not know how a value continues, such as a value of several lines, the
//! parser reads only the lines of that entry: all that are indented further than the key or dash.
//! These lines have the same meaning on their own, because nothing to the left of them extends into
//! them, and they extend no further. Where that is not so, or anything is wrong or unusual
//! (anchors, aliases, directives, a second document, tabs between words, a question mark), this
//! reader gives up, and the parser reads the whole text. So errors and their places are those of
//! the parser.

mod flow;
mod scalar;
mod survey;

#[cfg(test)]
mod tests;

use super::{EventPlace, EventSink, Stop};
use flow::{FlowPart, flow};
use granit_parser::{Event, Options, Parser, ScalarStyle, StructureStyle};
use memchr::memchr;
use scalar::{QuickScalar, is_blank_or_end, is_end, scalar, skip_spaces};
use std::borrow::Cow;
use std::mem::ManuallyDrop;
use std::ops::Range;
use survey::survey;

/// The longest key. The parser looks for the colon of a key a few characters further.
const LONGEST_KEY: usize = 1000;

/// Passes the events of the text behind `from` to `sink`, except those before the first node.
///
/// # Errors
/// Returns the reason why `sink` stopped, or `Unread` where the parser has to read the text. In
/// both cases, the events that `sink` got must be discarded.
pub(super) fn read(
    text: &str,
    from: usize,
    options: &Options,
    sink: &mut impl EventSink,
) -> Result<(), Stop> {
    let bom = if from == 0 && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let (bytes, at) = (text.as_bytes(), from + bom);
    let ascii = survey(bytes.get(at..).unwrap_or_default()).ok_or(Stop::Unread)?;
    let (open, flow) = (Vec::new(), Vec::new());
    let reader = QuickReader { text, bytes, ascii, at, number: 1, open, flow, options, sink };
    reader.document()
}

struct QuickReader<'t, 's, S> {
    text: &'t str,
    bytes: &'t [u8],
    ascii: bool,
    /// The position at which the next line starts, and its number.
    at: usize,
    number: usize,
    /// The blocks that may contain the next line, innermost last.
    open: Vec<OpenBlock>,
    /// The parts of the flow collection that was read last.
    flow: Vec<FlowPart>,
    options: &'s Options,
    sink: &'s mut S,
}

/// A line that is not blank and not only a comment.
#[derive(Clone, Copy)]
struct QuickLine {
    start: usize,
    number: usize,
    /// The position of its first character that is no space.
    at: usize,
}

impl QuickLine {
    fn indent(&self) -> usize {
        self.at - self.start
    }
}

struct OpenBlock {
    kind: BlockKind,
    column: usize,
    awaited: Option<AwaitedValue>,
}

#[derive(Clone, Copy, PartialEq)]
enum BlockKind {
    Map,
    List,
    /// A list in the column of the key that it is the value of.
    InnerList,
}

/// A value that is expected, because its line ended behind a colon or a dash.
#[derive(Clone, Copy)]
struct AwaitedValue {
    line: QuickLine,
    /// The position that the parser reports if there is no value.
    at: usize,
}

impl<S: EventSink> QuickReader<'_, '_, S> {
    fn document(mut self) -> Result<(), Stop> {
        let mut next = self.next_line()?;
        if let Some(line) = next.filter(|line| self.is_start(line)) {
            self.finish_line(line.at, &line);
            next = self.next_line()?;
        }
        let Some(first) = next else { return Err(Stop::Unread) };
        next = self.read_line(&first)?;
        while let Some(line) = next {
            self.arrive(&line)?;
            next = self.read_line(&line)?;
        }
        let end = QuickLine { start: self.at, number: self.number, at: self.at };
        while !self.open.is_empty() {
            self.close(&end)?;
        }
        self.emit(Event::DocumentEnd, end.at..end.at, &end)
    }

    // Lines.

    /// Returns the next line that is not blank and not only a comment.
    fn next_line(&mut self) -> Result<Option<QuickLine>, Stop> {
        loop {
            let (start, number) = (self.at, self.number);
            let line = QuickLine { start, number, at: skip_spaces(self.bytes, start) };
            match self.bytes.get(line.at) {
                None => {
                    self.at = line.at;
                    return Ok(None);
                }
                Some(b'\n' | b'\r' | b'#') => self.finish_line(line.at, &line),
                Some(b'\t') => return Err(Stop::Unread),
                Some(_) => return Ok(Some(line)),
            }
        }
    }

    /// Continues behind the rest of a line.
    fn finish_line(&mut self, from: usize, line: &QuickLine) {
        let rest = self.bytes.get(from..).unwrap_or_default();
        (self.at, self.number) = match memchr(b'\n', rest) {
            Some(len) => (from + len + 1, line.number + 1),
            None => (self.bytes.len(), line.number),
        };
    }

    fn starts_with(&self, line: &QuickLine, mark: &[u8]) -> bool {
        line.indent() == 0 && self.bytes.get(line.at..).is_some_and(|rest| rest.starts_with(mark))
    }

    /// Whether a line contains only the marker that starts the document.
    fn is_start(&self, line: &QuickLine) -> bool {
        let behind = line.at + 3;
        self.starts_with(line, b"---")
            && is_end(self.bytes, skip_spaces(self.bytes, behind), behind)
    }

    /// Closes the blocks that end before a line, and checks that the line may continue the
    /// innermost one.
    fn arrive(&mut self, line: &QuickLine) -> Result<(), Stop> {
        let column = line.indent();
        while self.open.last().is_some_and(|block| block.column > column) {
            self.close(line)?;
        }
        let Some(block) = self.open.last() else { return Err(Stop::Unread) };
        let awaits = block.awaited.is_some();
        match (block.kind, self.is_dash(line.at)) {
            _ if block.column < column && awaits => Ok(()),
            _ if block.column < column => Err(Stop::Unread),
            (BlockKind::Map, true) if awaits => Ok(()),
            (BlockKind::Map, true) | (BlockKind::List, false) => Err(Stop::Unread),
            (BlockKind::InnerList, false) => self.close(line),
            (BlockKind::Map, false) | (_, true) => self.settle(),
        }
    }

    /// Reads the entry or item that starts in a line. Returns the line that follows.
    fn read_line(&mut self, line: &QuickLine) -> Result<Option<QuickLine>, Stop> {
        if self.starts_with(line, b"---") || self.starts_with(line, b"...") {
            return Err(Stop::Unread);
        }
        let mut at = line.at;
        while self.is_dash(at) {
            let content = self.item(line, at)?;
            if is_end(self.bytes, content, at + 1) {
                self.finish_line(content, line);
                return self.next_line();
            }
            at = content;
        }
        match scalar(self.bytes, at, false) {
            Some(key) if key.is_key => self.entry(line, &key),
            value => {
                // Only keys are allowed in the column of a map.
                let inside = |block: &&mut OpenBlock| block.column < at - line.start;
                let Some(block) = self.open.last_mut().filter(inside) else {
                    return Err(Stop::Unread);
                };
                match block.awaited.take() {
                    Some(awaited) => self.hand_over(&awaited.line, at),
                    None => self.value(line, at, value),
                }
            }
        }
    }

    // Blocks.

    fn is_dash(&self, at: usize) -> bool {
        self.bytes.get(at) == Some(&b'-') && is_blank_or_end(self.bytes, at + 1)
    }

    /// Reads a dash. Returns the position at which its line continues.
    fn item(&mut self, line: &QuickLine, at: usize) -> Result<usize, Stop> {
        let column = at - line.start;
        let content = skip_spaces(self.bytes, at + 1);
        if self.bytes.get(content) == Some(&b'\t') {
            return Err(Stop::Unread);
        }
        let is_empty = is_end(self.bytes, content, at + 1);
        let mark = if is_empty { self.line_end(content) } else { content };
        match self.open.last() {
            Some(block) if block.column == column && block.kind != BlockKind::Map => {}
            // The parser reports that such a list starts behind its first dash.
            Some(block) if block.column == column => {
                self.open(BlockKind::InnerList, column, mark, line)?;
            }
            _ => self.open(BlockKind::List, column, at, line)?,
        }
        if let (Some(list), true) = (self.open.last_mut(), is_empty) {
            list.awaited = Some(AwaitedValue { line: *line, at: mark });
        }
        Ok(content)
    }

    /// The end of the line that contains a position.
    fn line_end(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let line = rest.get(..memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or_default();
        at + line.strip_suffix(b"\r").unwrap_or(line).len()
    }

    /// Reads an entry of a map. Opens the map if this is its first entry.
    fn entry(&mut self, line: &QuickLine, key: &QuickScalar) -> Result<Option<QuickLine>, Stop> {
        if key.stop - key.range.start > LONGEST_KEY {
            return Err(Stop::Unread);
        }
        let column = key.range.start - line.start;
        let goes_on = |block: &OpenBlock| block.kind == BlockKind::Map && block.column == column;
        if !self.open.last().is_some_and(goes_on) {
            self.open(BlockKind::Map, column, key.range.start, line)?;
        }
        self.emit_scalar(key, line)?;
        let at = skip_spaces(self.bytes, key.stop + 1);
        if is_end(self.bytes, at, key.stop + 1) {
            if let Some(map) = self.open.last_mut() {
                map.awaited = Some(AwaitedValue { line: *line, at: key.stop });
            }
            self.finish_line(at, line);
            return self.next_line();
        }
        let value = scalar(self.bytes, at, false);
        if value.as_ref().is_some_and(|value| value.is_key) || self.is_dash(at) {
            return Err(Stop::Unread);
        }
        self.value(line, at, value)
    }

    fn open(
        &mut self,
        kind: BlockKind,
        column: usize,
        at: usize,
        line: &QuickLine,
    ) -> Result<(), Stop> {
        if let Some(parent) = self.open.last_mut() {
            parent.awaited = None;
        }
        self.open.push(OpenBlock { kind, column, awaited: None });
        let event = match kind {
            BlockKind::Map => Event::MappingStart(StructureStyle::Block, 0, None),
            _ => Event::SequenceStart(StructureStyle::Block, 0, None),
        };
        self.emit(event, at..at, line)
    }

    /// Reports an expected value that did not come as an empty scalar.
    fn settle(&mut self) -> Result<(), Stop> {
        let Some(awaited) = self.open.last_mut().and_then(|block| block.awaited.take()) else {
            return Ok(());
        };
        let absent = Event::Scalar(Cow::Borrowed("~"), ScalarStyle::Plain, 0, None);
        self.emit(absent, awaited.at..awaited.at, &awaited.line)
    }

    /// Closes the innermost block, which ends before a line.
    fn close(&mut self, line: &QuickLine) -> Result<(), Stop> {
        self.settle()?;
        let event = match self.open.pop() {
            Some(OpenBlock { kind: BlockKind::Map, .. }) => Event::MappingEnd,
            _ => Event::SequenceEnd,
        };
        self.emit(event, line.at..line.at, line)
    }

    // Values.

    /// Reads a value in the line of its key or dash. Returns the line that follows.
    fn value(
        &mut self,
        line: &QuickLine,
        at: usize,
        value: Option<QuickScalar>,
    ) -> Result<Option<QuickLine>, Stop> {
        let stop = match (&value, self.bytes.get(at)) {
            (Some(value), _) => Some(value.stop),
            (None, Some(b'[' | b'{')) => flow(self.bytes, at, &mut self.flow),
            (None, _) => None,
        };
        let Some(stop) = stop else { return self.hand_over(line, at) };
        self.finish_line(stop, line);
        let next = self.next_line()?;
        if next.is_some_and(|next| next.indent() > self.column()) {
            // The value may continue in the following lines.
            return self.hand_over(line, at);
        }
        match value {
            Some(value) => self.emit_scalar(&value, line)?,
            None => self.emit_flow(line)?,
        }
        Ok(next)
    }

    /// The column of the innermost block.
    fn column(&self) -> usize {
        self.open.last().map_or(0, |block| block.column)
    }

    /// Lets the parser read the value that starts here, in the entry of a line. Returns the line
    /// that follows.
    fn hand_over(&mut self, line: &QuickLine, at: usize) -> Result<Option<QuickLine>, Stop> {
        let next = self.skip_value(line)?;
        let end = next.map_or(self.bytes.len(), |next| next.at);
        let entry = self.text.get(line.start..end).unwrap_or_default();
        let (mut depth, mut done) = (0, false);
        for read in Parser::new_from_str_with_options(entry, self.options.clone()) {
            let Ok((event, place)) = &read else { return Err(Stop::Unread) };
            let mut place = EventPlace::new(place, line.start);
            place.line += line.number - 1;
            place.last_line += line.number - 1;
            match event {
                Event::MappingEnd | Event::SequenceEnd if done => continue,
                Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => continue,
                Event::DocumentStart(..) => continue,
                // The events before the value have been passed already.
                _ if place.start < at => continue,
                // The end of a block depends on the lines that follow, and so does the text of an
                // empty block scalar.
                Event::MappingStart(StructureStyle::Block, ..)
                | Event::SequenceStart(StructureStyle::Block, ..) => return Err(Stop::Unread),
                Event::Scalar(text, ScalarStyle::Literal | ScalarStyle::Folded, ..)
                    if text.trim().is_empty() =>
                {
                    return Err(Stop::Unread);
                }
                _ if done || event.is_alias() || event.anchor_id().is_some_and(|id| id > 0) => {
                    return Err(Stop::Unread);
                }
                Event::MappingStart(..) | Event::SequenceStart(..) => depth += 1,
                // There is no value.
                Event::MappingEnd | Event::SequenceEnd if depth == 0 => return Err(Stop::Unread),
                Event::MappingEnd | Event::SequenceEnd => depth -= 1,
                _ => {}
            }
            done = depth == 0;
            self.sink.take(event, &place)?;
        }
        if done { self.next_line() } else { Err(Stop::Unread) }
    }

    /// Continues behind the lines that are indented further than the innermost block. Returns the
    /// line that follows, which may be a comment.
    fn skip_value(&mut self, line: &QuickLine) -> Result<Option<QuickLine>, Stop> {
        let column = self.column();
        self.finish_line(line.at, line);
        loop {
            let (start, number) = (self.at, self.number);
            let next = QuickLine { start, number, at: skip_spaces(self.bytes, start) };
            match self.bytes.get(next.at) {
                None => {
                    self.at = next.at;
                    return Ok(None);
                }
                Some(b'\n' | b'\r') => {}
                Some(_) if next.indent() > column => {}
                Some(b'\t') => return Err(Stop::Unread),
                Some(_) => return Ok(Some(next)),
            }
            self.finish_line(next.at, &next);
        }
    }

    // Events.

    #[inline]
    fn emit(
        &mut self,
        event: Event<'_>,
        range: Range<usize>,
        line: &QuickLine,
    ) -> Result<(), Stop> {
        let before = self.text.get(line.start..range.start);
        let place = EventPlace {
            start: range.start,
            end: range.end,
            column: match before {
                Some(before) if !self.ascii => before.chars().count(),
                _ => range.start - line.start,
            },
            line: line.number,
            last_line: line.number,
            tag: None,
        };
        // The event owns no memory. Checking that before dropping it takes time.
        self.sink.take(&ManuallyDrop::new(event), &place)
    }

    fn emit_scalar(&mut self, scalar: &QuickScalar, line: &QuickLine) -> Result<(), Stop> {
        let text = Cow::Borrowed(self.text.get(scalar.inner()).unwrap_or_default());
        self.emit(Event::Scalar(text, scalar.style, 0, None), scalar.range.clone(), line)
    }

    /// Passes the events of the flow collection that was read last.
    fn emit_flow(&mut self, line: &QuickLine) -> Result<(), Stop> {
        let parts = std::mem::take(&mut self.flow);
        for part in &parts {
            match *part {
                FlowPart::Scalar(ref scalar) => self.emit_scalar(scalar, line)?,
                FlowPart::Open { map, at } => {
                    let event = if map {
                        Event::MappingStart(StructureStyle::Flow, 0, None)
                    } else {
                        Event::SequenceStart(StructureStyle::Flow, 0, None)
                    };
                    self.emit(event, at..at + 1, line)?;
                }
                FlowPart::Close { map, at } => {
                    let event = if map { Event::MappingEnd } else { Event::SequenceEnd };
                    self.emit(event, at..at + 1, line)?;
                }
            }
        }
        self.flow = parts;
        Ok(())
    }
}
