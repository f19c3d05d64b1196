//! Turns places between editors and files: ranges, and addresses of files.

use super::protocol::{Encoding, Position, Range};
use cuvee::source::{SourceMap, Span};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::path::{Path, PathBuf};

/// The characters that the path of an address has as they are.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The path of an address; `None` where it is not one of a file.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.get(rest.find('/')?..)?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    // On Windows, a letter of a drive follows the first slash.
    let is_drive = |text: &str| text.as_bytes().get(2) == Some(&b':');
    let path = if cfg!(windows) && is_drive(&path) { path.get(1..)? } else { &*path };
    Some(PathBuf::from(path))
}

/// The address of a path.
pub(super) fn uri_of(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let slash = if text.starts_with('/') { "" } else { "/" };
    format!("file://{slash}{}", utf8_percent_encode(&text, PATH))
}

/// The range of a span.
pub(super) fn range(sources: &SourceMap, span: Span, encoding: Encoding) -> Range {
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
pub(super) fn offset(text: &str, position: Position, encoding: Encoding) -> usize {
    let mut start = 0;
    for _ in 0..position.line {
        match memchr::memchr(b'\n', text.as_bytes().get(start..).unwrap_or_default()) {
            Some(end) => start += end + 1,
            None => return text.len(),
        }
    }
    let rest = text.get(start..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    let line = line.strip_suffix('\r').unwrap_or(line);
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
    fn addresses_lead_back() {
        for path in ["/a/b c/ü#%.yaml", "/shop.yaml"] {
            assert_eq!(path_of(&uri_of(Path::new(path))).unwrap(), Path::new(path));
        }
        assert_eq!(uri_of(Path::new("/a b")), "file:///a%20b");
        assert_eq!(path_of("untitled:new"), None);
        assert_eq!(path_of("file://host/a").unwrap(), Path::new("/a"));
    }
}
