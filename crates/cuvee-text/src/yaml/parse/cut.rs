//! Cuts a text into parts that can be read on their own. The cuts are guessed from indentation and
//! colons alone. Whether the parts fit is checked when they are joined.

use super::Keep;
use memchr::memchr;
use std::ops::Range;

/// The longest key of an entry at which a text may be cut.
const LONGEST: usize = 128;

/// A part of a text: a run of entries of a block map. No line is further left than these.
pub(super) struct EntryRun<'t> {
    pub(super) range: Range<usize>,
    pub(super) column: usize,
    /// The keys that lead to the map.
    pub(super) path: Vec<&'t str>,
}

impl EntryRun<'_> {
    /// A part that is the whole text.
    pub(super) fn whole(text: &str) -> Self {
        Self { range: 0..text.len(), column: 0, path: Vec::new() }
    }
}

/// Cuts a text into parts that mostly have at least `size` bytes. The first part contains the first
/// line.
pub(super) fn cut<'t>(text: &'t str, size: usize, keep: Option<Keep<'_>>) -> Vec<EntryRun<'t>> {
    let mut cutter =
        Cutter { text, size, keep, open: Vec::new(), parts: vec![EntryRun::whole(text)] };
    let mut start = 0;
    while let Some(rest) = text.as_bytes().get(start..).filter(|rest| !rest.is_empty()) {
        let indent = spaces(rest);
        let content = rest.get(indent..).unwrap_or_default();
        let len = memchr(b'\n', content).map_or(content.len(), |end| end + 1);
        cutter.line(start, indent, content.get(..len).unwrap_or_default());
        start += indent + len;
    }
    let mut end = text.len();
    for part in cutter.parts.iter_mut().rev() {
        part.range.end = end;
        end = part.range.start;
    }
    cutter.parts
}

struct CutLine {
    start: usize,
    indent: usize,
}

struct Cutter<'t, 'k> {
    text: &'t str,
    size: usize,
    keep: Option<Keep<'k>>,
    /// The last line, and before it the lines that contain it by their indentation.
    open: Vec<CutLine>,
    parts: Vec<EntryRun<'t>>,
}

impl<'t> Cutter<'t, '_> {
    fn line(&mut self, start: usize, indent: usize, content: &[u8]) {
        if matches!(content, [] | [b'\n' | b'\r' | b'#', ..]) {
            return;
        }
        let mut follows = false;
        while let Some(last) = self.open.pop_if(|last| last.indent >= indent) {
            follows = last.indent == indent;
        }
        self.open.push(CutLine { start, indent });
        let Some((column, len)) =
            self.parts.last().map(|part| (part.column, start - part.range.start))
        else {
            return;
        };
        if indent < column || len >= self.size {
            let path = if follows && is_entry(content) { self.path() } else { None };
            self.consider(start, indent, path);
        }
    }

    /// Reconsiders the parts at a line: the line may be too far left for the last part, or the last
    /// part may be long enough.
    fn consider(&mut self, start: usize, indent: usize, path: Option<Vec<&'t str>>) {
        let last = |parts: &[EntryRun<'_>]| {
            parts.last().map_or((0, 0), |part| (part.column, start - part.range.start))
        };
        let (column, len) = last(&self.parts);
        if indent < column && path.is_none() {
            self.unite(indent);
        } else if indent < column && len < self.size / 2 {
            self.parts.pop();
            self.unite(column);
        }
        let (column, len) = last(&self.parts);
        if let Some(path) = path
            && (indent < column || len >= self.size)
        {
            self.parts.push(EntryRun { range: start..start, column: indent, path });
        }
    }

    /// Joins the last parts with those before them, until the last one may contain lines at this
    /// column.
    fn unite(&mut self, column: usize) {
        while self.parts.pop_if(|part| part.column > column).is_some() {}
    }

    /// The keys that lead to the last line. `None` unless all lines that contain it have the form
    /// `key:`, and all their entries are kept.
    fn path(&self) -> Option<Vec<&'t str>> {
        const DEEPEST: usize = 16;
        let (_, outer) = self.open.split_last().filter(|(_, outer)| outer.len() < DEEPEST)?;
        let mut path = Vec::with_capacity(outer.len());
        for line in outer {
            let start = line.start + line.indent;
            let rest = self.text.as_bytes().get(start..)?;
            let len = memchr(b'\n', rest.get(..LONGEST).unwrap_or(rest))?;
            path.push(
                self.text
                    .get(start..start + len)?
                    .trim_ascii_end()
                    .strip_suffix(':')
                    .filter(|key| is_simple(key))?,
            );
            if self.keep.is_some_and(|keep| !keep(&path)) {
                return None;
            }
        }
        Some(path)
    }
}

/// The number of spaces at the start of a text.
fn spaces(text: &[u8]) -> usize {
    let (eights, rest) = text.as_chunks::<8>();
    for (index, eight) in eights.iter().enumerate() {
        let differs = u64::from_le_bytes(*eight) ^ u64::from_le_bytes([b' '; 8]);
        if differs != 0 {
            return 8 * index + differs.trailing_zeros() as usize / 8;
        }
    }
    8 * eights.len() + rest.iter().take_while(|byte| **byte == b' ').count()
}

/// Whether a line looks like the start of a map entry and like nothing else.
fn is_entry(line: &[u8]) -> bool {
    let starts = line.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let key = line.get(..line.len().min(LONGEST)).unwrap_or_default();
    starts && key.windows(2).any(|pair| matches!(pair, [b':', b' ' | b'\n' | b'\r']))
}

fn is_simple(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
        && !key.contains(": ")
        && !key.contains(" #")
}
