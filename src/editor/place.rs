//! Turns places into lines and columns as editors count them, and back.

use cuvee_text::source::{SourceMap, Span, line_ends};
use serde::{Deserialize, Serialize};

/// How columns are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Encoding {
    /// By bytes.
    #[serde(rename = "utf-8")]
    Utf8,
    /// By units of two bytes, as JavaScript counts.
    #[default]
    #[serde(rename = "utf-16")]
    Utf16,
}

impl Encoding {
    /// The name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
        }
    }
}

/// A place in a text; lines and columns count from zero.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub character: u32,
}

/// A range of a text, without its end.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Range {
    /// Where it starts.
    pub start: Position,
    /// The place behind it.
    pub end: Position,
}

/// The range of a span.
pub fn range(sources: &SourceMap, span: Span, encoding: Encoding) -> Range {
    let end = Span { start: span.end.max(span.start), ..span };
    Range { start: position(sources, span, encoding), end: position(sources, end, encoding) }
}

/// The position at which a span starts.
fn position(sources: &SourceMap, span: Span, encoding: Encoding) -> Position {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let line = sources.location(span).line.saturating_sub(1);
    let character = match encoding {
        Encoding::Utf16 => sources.utf16_column(span).saturating_sub(1),
        Encoding::Utf8 => (span.start as usize).saturating_sub(sources.line_range(span).start),
    };
    Position { line: number(line), character: number(character) }
}

/// The offset of a position in a text. What is behind the end of a line is its end.
pub fn offset(text: &str, position: Position, encoding: Encoding) -> usize {
    let mut starts = std::iter::once(0).chain(line_ends(text));
    let Some(start) = starts.nth(position.line as usize) else { return text.len() };
    let rest = text.get(start..).unwrap_or_default();
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    let (mut left, mut at) = (position.character as usize, 0);
    for character in line.chars() {
        let units = match encoding {
            Encoding::Utf8 => character.len_utf8(),
            Encoding::Utf16 => character.len_utf16(),
        };
        // A position within a character is before it.
        if left < units {
            break;
        }
        left -= units;
        at += character.len_utf8();
    }
    start + at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_units() {
        let text = "a\n\u{1F375}é=b\r\nc";
        let at = |line, character, encoding| offset(text, Position { line, character }, encoding);
        assert_eq!(at(1, 3, Encoding::Utf16), 8);
        assert_eq!(at(1, 6, Encoding::Utf8), 8);
        assert_eq!(at(1, 1, Encoding::Utf16), 2, "within a character");
        assert_eq!(at(1, 99, Encoding::Utf16), 10, "behind the line");
        assert_eq!(at(2, 0, Encoding::Utf16), 12);
        assert_eq!(at(9, 0, Encoding::Utf16), text.len());
        let sources = SourceMap::default();
        let file = sources.add("t", text);
        let span = Span { file, start: 8, end: 10 };
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            let range = range(&sources, span, encoding);
            assert_eq!(offset(text, range.start, encoding), 8);
            assert_eq!(offset(text, range.end, encoding), 10);
        }
    }

    #[test]
    fn carriage_returns_end_lines() {
        let text = "a\rb: c\r\r\nd";
        let sources = SourceMap::default();
        let file = sources.add("t", text);
        for (at, line, character) in [(0, 0, 0), (3, 1, 1), (6, 1, 4), (7, 2, 0), (9, 3, 0)] {
            let position = Position { line, character };
            let span = Span { file, start: at, end: at };
            assert_eq!(range(&sources, span, Encoding::Utf8).start, position);
            assert_eq!(offset(text, position, Encoding::Utf16), at as usize);
        }
        let far = Position { line: 1, character: 99 };
        assert_eq!(offset(text, far, Encoding::Utf16), 6, "behind the line");
    }
}
