//! Reads scalars of one line.

use granit_parser::ScalarStyle;
use memchr::{memchr2, memchr3};
use std::ops::Range;

/// A scalar of one line.
pub(super) struct QuickScalar {
    pub(super) style: ScalarStyle,
    /// The range of the scalar with its quotes.
    pub(super) range: Range<usize>,
    /// The position of what follows after spaces: a colon, a comment, the end of the line or, in
    /// flow collections, anything.
    pub(super) stop: usize,
    /// Whether the colon of a key follows.
    pub(super) is_key: bool,
}

impl QuickScalar {
    pub(super) fn inner(&self) -> Range<usize> {
        let quote = usize::from(self.style != ScalarStyle::Plain);
        self.range.start + quote..self.range.end - quote
    }
}

/// Reads the scalar that starts here. `None` where this reader does not know it. It must have no
/// escapes, end in its line, and be followed by something that may follow it.
pub(super) fn scalar(text: &[u8], at: usize, flow: bool) -> Option<QuickScalar> {
    let style = match text.get(at)? {
        b'\'' => ScalarStyle::SingleQuoted,
        b'"' => ScalarStyle::DoubleQuoted,
        _ => return plain(text, at, flow),
    };
    let end = quoted(text, at, style)?;
    let stop = skip_spaces(text, end);
    let is_key = text.get(stop) == Some(&b':');
    let fits =
        if is_key { is_blank_or_end(text, stop + 1) } else { flow || is_end(text, stop, end) };
    fits.then_some(QuickScalar { style, range: at..end, stop, is_key })
}

/// The end of a quoted scalar.
fn quoted(text: &[u8], at: usize, style: ScalarStyle) -> Option<usize> {
    let rest = text.get(at + 1..)?;
    let (quote, len) = if style == ScalarStyle::SingleQuoted {
        (b'\'', memchr2(b'\'', b'\n', rest)?)
    } else {
        (b'"', memchr3(b'"', b'\\', b'\n', rest)?)
    };
    let end = at + len + 2;
    let is_whole = rest.get(len) == Some(&quote)
        && (style == ScalarStyle::DoubleQuoted || text.get(end) != Some(&b'\''));
    is_whole.then_some(end)
}

fn plain(text: &[u8], at: usize, flow: bool) -> Option<QuickScalar> {
    if !starts_plain(text, at) {
        return None;
    }
    let stops = if flow { IN_FLOW } else { IN_BLOCK };
    let mut stop = at;
    let is_key = loop {
        let rest = text.get(stop..)?;
        let passed = rest.iter().position(|&byte| STOPS[usize::from(byte)] & stops != 0);
        stop += passed.unwrap_or(rest.len());
        match text.get(stop) {
            Some(b':') if is_blank_or_end(text, stop + 1) => break true,
            // In flow collections, the meaning of the colon depends on what follows.
            Some(b':') if flow && text.get(stop + 1).is_some_and(|&byte| is_flow(byte)) => {
                return None;
            }
            Some(b':') if text.get(stop + 1) == Some(&b'\t') => return None,
            Some(b'#') if text.get(stop - 1) == Some(&b' ') => break false,
            Some(b':' | b'#') => stop += 1,
            Some(b'\t') => return None,
            _ => break false,
        }
    };
    let written = text.get(at..stop)?;
    let spaces = written.iter().rev().take_while(|byte| **byte == b' ').count();
    Some(QuickScalar { style: ScalarStyle::Plain, range: at..stop - spaces, stop, is_key })
}

/// Whether a plain scalar may start here. Some starts that are allowed are not known here.
fn starts_plain(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        Some(b'-') => text.get(at + 1).is_some_and(|&next| {
            next.is_ascii_alphanumeric() || matches!(next, b'-' | b'.' | b'_' | b'/')
        }),
        Some(&first) => {
            first.is_ascii_alphanumeric() || !first.is_ascii() || b"_./$()<=~+^;\\".contains(&first)
        }
        None => false,
    }
}

/// The end of the spaces that start here.
pub(super) fn skip_spaces(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| **byte == b' ').count()
}

/// Whether a line ends or a comment starts here. The text before it ended at `before`.
pub(super) fn is_end(text: &[u8], at: usize, before: usize) -> bool {
    match text.get(at) {
        None | Some(b'\n' | b'\r') => true,
        Some(b'#') => at > before,
        Some(_) => false,
    }
}

pub(super) fn is_blank_or_end(text: &[u8], at: usize) -> bool {
    matches!(text.get(at), None | Some(b' ' | b'\n' | b'\r'))
}

fn is_flow(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}

const IN_BLOCK: u8 = 1;
const IN_FLOW: u8 = 2;

/// The bytes at which a plain scalar may end: bits for blocks and for flow collections.
const STOPS: [u8; 256] = {
    let mut table = [0; 256];
    let (block, flow) = (b":#\t\n\r", b",[]{}");
    let mut index = 0;
    while index < block.len() {
        table[block[index] as usize] = IN_BLOCK | IN_FLOW;
        table[flow[index] as usize] = IN_FLOW;
        index += 1;
    }
    table
};
