//! Holds what is open in the editor.

use super::protocol::{Encoding, Position, Range, TextChange};
use crate::cli::validate::mentions_tosca;
use cuvee::editor::offset;
use cuvee::source::SourceText;

/// A document that is open.
pub(super) struct EditedDocument {
    /// The address by which the editor calls it.
    pub uri: String,
    pub version: i32,
    pub text: SourceText,
    /// The offset behind the last change.
    pub typed_at: usize,
}

/// The keys of what a template has beside types: of version 1.3, and of TOSCA 2.0.
pub(super) const SERVICE_KEYS: [&str; 2] = ["topology_template", "service_template"];

impl EditedDocument {
    /// Applies a change.
    pub(super) fn apply(&mut self, change: &TextChange, encoding: Encoding) {
        let Some(range) = change.range else {
            self.typed_at = 0;
            self.text = change.text.as_str().into();
            return;
        };
        let start = offset(&self.text, range.start, encoding);
        let end = offset(&self.text, range.end, encoding).max(start);
        let mut text = self.text.to_string();
        text.replace_range(start..end, &change.text);
        self.typed_at = start + change.text.len();
        self.text = text.into();
    }

    /// Whether this is a file of TOSCA.
    pub(super) fn is_tosca(&self) -> bool {
        mentions_tosca(self.text.trim_start().as_bytes())
    }

    /// Whether the file has more than types, so that it is judged by itself.
    pub(super) fn is_template(&self) -> bool {
        let is_topology = |line: &str| SERVICE_KEYS.iter().any(|key| line.starts_with(key));
        self.text.split(['\n', '\r']).any(is_topology)
    }
}

/// Where a range is after a change of the text; `None` if the change touches it.
pub(super) fn moved(range: Range, change: &TextChange, encoding: Encoding) -> Option<Range> {
    let changed = change.range?;
    if range.end < changed.start {
        return Some(range);
    }
    if range.start <= changed.end {
        return None;
    }
    let place = |position| behind(position, change, encoding);
    Some(Range { start: place(range.start)?, end: place(range.end)? })
}

/// The same for a range with much in it, which grows where only a part of it changes.
pub(super) fn grown(range: Range, change: &TextChange, encoding: Encoding) -> Option<Range> {
    let changed = change.range?;
    if range.start < changed.start && changed.end <= range.end {
        return Some(Range { end: behind(range.end, change, encoding)?, ..range });
    }
    moved(range, change, encoding)
}

/// Where a position behind a change is afterwards.
fn behind(position: Position, change: &TextChange, encoding: Encoding) -> Option<Position> {
    let changed = change.range?;
    let text = change.text.replace("\r\n", "\n");
    let mut lines = text.split(['\n', '\r']);
    let added = u32::try_from(lines.clone().count() - 1).ok()?;
    let last = lines.next_back().unwrap_or_default();
    let length = match encoding {
        Encoding::Utf8 => last.len(),
        Encoding::Utf16 => last.encode_utf16().count(),
    };
    let length = u32::try_from(length).ok()?;
    let line = position.line - changed.end.line + changed.start.line + added;
    if position.line > changed.end.line {
        return Some(Position { line, ..position });
    }
    let before = if added == 0 { changed.start.character } else { 0 };
    let character = position.character - changed.end.character + before + length;
    Some(Position { line, character })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn document(text: &str) -> EditedDocument {
        EditedDocument { uri: String::new(), version: 0, text: text.into(), typed_at: 0 }
    }

    /// A position of an offset, the slow way.
    fn position(text: &str, at: usize, encoding: Encoding) -> Position {
        let before = &text[..at];
        let line = before.rsplit(['\n', '\r']).next().unwrap();
        let character = match encoding {
            Encoding::Utf8 => line.len(),
            Encoding::Utf16 => line.encode_utf16().count(),
        };
        let line = before.matches(['\n', '\r']).count();
        Position { line: line as u32, character: character as u32 }
    }

    fn boundary(text: &str, share: f64) -> usize {
        let mut at = (text.len() as f64 * share) as usize;
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    proptest! {
        /// Changes of ranges lead to the same text as changes of strings, and text that a change
        /// does not touch is found again.
        #[test]
        fn changes_are_those_of_the_text(
            text in "[a\u{e9}\u{1F375}\n :]{0,40}", new in "[b\u{e9}\u{1F375}\n]{0,6}",
            places in prop::array::uniform4(0.0..=1.0_f64), bytes: bool, returns: bool,
        ) {
            let broken = |text: String| if returns { text.replace('\n', "\r") } else { text };
            let (text, new) = (broken(text), broken(new));
            let encoding = if bytes { Encoding::Utf8 } else { Encoding::Utf16 };
            let mut at = places.map(|share| boundary(&text, share));
            at[..2].sort_unstable();
            at[2..].sort_unstable();
            let range = |text: &str, start, end| Range {
                start: position(text, start, encoding), end: position(text, end, encoding),
            };
            let change = TextChange { range: Some(range(&text, at[0], at[1])), text: new.clone() };
            let mut opened = document(&text);
            opened.apply(&change, encoding);
            let mut expected = text.clone();
            expected.replace_range(at[0]..at[1], &new);
            prop_assert_eq!(&*opened.text, &*expected);
            if let Some(moved) = moved(range(&text, at[2], at[3]), &change, encoding) {
                let [start, end] = [moved.start, moved.end].map(|it| offset(&expected, it, encoding));
                prop_assert_eq!(&expected[start..end], &text[at[2]..at[3]]);
            } else {
                prop_assert!(at[2] <= at[1] && at[0] <= at[3]);
            }
            if at[2] < at[0] && at[1] <= at[3] {
                let around = range(&text, at[2], at[3]);
                let grown = grown(around, &change, encoding).unwrap();
                let [start, end] = [grown.start, grown.end].map(|it| offset(&expected, it, encoding));
                let mut inner = text[at[2]..at[3]].to_owned();
                inner.replace_range(at[0] - at[2]..at[1] - at[2], &new);
                prop_assert_eq!(&expected[start..end], &inner);
            }
        }
    }
}
