//! Reads flow collections of one line.

use super::LONGEST_KEY;
use super::scalar::{QuickScalar, is_end, scalar, skip_spaces};

/// The deepest nesting. Deeper collections are left to the parser.
const DEEPEST: usize = 16;

pub(super) enum FlowPart {
    Open { map: bool, at: usize },
    Scalar(QuickScalar),
    Close { map: bool, at: usize },
}

/// Reads the flow collection that starts here. Returns the position behind it where its line ends
/// or a comment starts. `None` for what this reader does not know, such as a trailing comma.
pub(super) fn flow(text: &[u8], at: usize, parts: &mut Vec<FlowPart>) -> Option<usize> {
    parts.clear();
    let end = collection(text, at, 0, parts)?;
    let stop = skip_spaces(text, end);
    is_end(text, stop, end).then_some(stop)
}

/// Reads a collection and returns its end.
fn collection(text: &[u8], at: usize, depth: usize, parts: &mut Vec<FlowPart>) -> Option<usize> {
    let (map, close) = if text.get(at) == Some(&b'{') { (true, b'}') } else { (false, b']') };
    parts.push(FlowPart::Open { map, at });
    let mut next = skip_spaces(text, at + 1);
    if text.get(next) != Some(&close) {
        loop {
            let start = if map { key(text, next, parts)? } else { next };
            next = node(text, start, depth, parts)?;
            match text.get(next) {
                Some(b',') => next = skip_spaces(text, next + 1),
                Some(&end) if end == close => break,
                _ => return None,
            }
        }
    }
    parts.push(FlowPart::Close { map, at: next });
    Some(next + 1)
}

/// Reads a key and returns the start of its value.
fn key(text: &[u8], at: usize, parts: &mut Vec<FlowPart>) -> Option<usize> {
    let is_short = |key: &QuickScalar| key.stop - at <= LONGEST_KEY;
    let key = scalar(text, at, true).filter(|key| key.is_key && is_short(key))?;
    let value = skip_spaces(text, key.stop + 1);
    parts.push(FlowPart::Scalar(key));
    Some(value)
}

/// Reads a value or an item, and returns the position behind it and the spaces that follow.
fn node(text: &[u8], at: usize, depth: usize, parts: &mut Vec<FlowPart>) -> Option<usize> {
    if matches!(text.get(at), Some(b'[' | b'{')) {
        let end =
            if depth < DEEPEST { collection(text, at, depth + 1, parts)? } else { return None };
        return Some(skip_spaces(text, end));
    }
    let value = scalar(text, at, true).filter(|value| !value.is_key)?;
    let stop = value.stop;
    parts.push(FlowPart::Scalar(value));
    Some(stop)
}
