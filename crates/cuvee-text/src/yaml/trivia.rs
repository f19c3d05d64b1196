//! Finds comments and blank lines between the tokens, and keeps them beside the tree, each with its
//! entry.
//!
//! An entry is a key of a map or an item of a list, both in block style. Whole lines above an entry
//! belong to it, as does the comment behind it. Lines below the last entry of a block belong to the
//! block when they are indented like it, and otherwise to what follows. Comments inside of a flow
//! collection, or between a key and a scalar, belong to the entry that contains them.

use memchr::{memchr, memchr2, memrchr};
use std::ops::Range;

/// A comment, or consecutive lines of comments and blank lines.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Trivia {
    /// The key or item that the comment belongs to.
    pub(super) owner: u32,
    pub(super) place: CommentPlace,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The position of a comment relative to its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CommentPlace {
    /// Whole lines above the owner.
    Above,
    /// Somewhere in the value. The comment keeps its position only if the value is written as in
    /// the source.
    Inside,
    /// At the end of the line of the entry, with the space before it.
    Behind,
    /// Whole lines below the owner.
    Below,
}

/// The lines above the first entry of a document and below its last one.
#[derive(Clone, Debug, Default)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Margins {
    pub(super) top: String,
    pub(super) bottom: String,
}

/// The owner of comments that are dropped.
pub(super) const NOBODY: u32 = u32::MAX;

/// A piece of the text between two tokens.
enum TriviaPiece {
    Comment(Range<usize>),
    /// A line break, with the start of the next line.
    Break(usize),
    /// The dash of a list item.
    Dash(usize),
    /// Any other run of characters: a colon, an anchor, a tag, the header of a block scalar.
    Word(Range<usize>),
}

struct Pieces<'t> {
    bytes: &'t [u8],
    at: usize,
    end: usize,
}

impl Iterator for Pieces<'_> {
    type Item = TriviaPiece;

    fn next(&mut self) -> Option<TriviaPiece> {
        let gap = self.bytes.get(..self.end)?;
        let mut rest = gap.get(self.at..)?;
        // A byte order mark is ignored wherever it may occur.
        while let [b' ' | b'\t', tail @ ..] | [0xef, 0xbb, 0xbf, tail @ ..] = rest {
            rest = tail;
        }
        self.at = self.end - rest.len();
        let start = self.at;
        let (piece, len) = match *rest {
            [] => return None,
            [b'\r', b'\n', ..] => (TriviaPiece::Break(start + 2), 2),
            [b'\n' | b'\r', ..] => (TriviaPiece::Break(start + 1), 1),
            [b'#', ..] => {
                let len = rest
                    .iter()
                    .position(|byte| matches!(byte, b'\n' | b'\r'))
                    .unwrap_or(rest.len());
                (TriviaPiece::Comment(start..start + len), len)
            }
            _ => {
                let len =
                    rest.iter().position(|byte| b" \t\n\r".contains(byte)).unwrap_or(rest.len());
                let dash = rest.get(..len) == Some(b"-");
                (
                    if dash {
                        TriviaPiece::Dash(start)
                    } else {
                        TriviaPiece::Word(start..start + len)
                    },
                    len,
                )
            }
        };
        self.at += len;
        Some(piece)
    }
}

/// The dash of the item that comes next, with the comments between them.
#[derive(Debug)]
struct Dash {
    at: u32,
    behind: Option<(u32, u32)>,
    lines: Vec<(u32, u32)>,
}

/// Reads the gaps between the tokens, in order.
pub(super) struct Gaps<'t> {
    text: &'t str,
    /// The end of the last token, and its line. The line is 0 if it is not known.
    at: usize,
    line: usize,
    /// Whole lines that belong to an entry still to come.
    pending: Vec<(u32, u32)>,
    dash: Option<Dash>,
    /// The entry that was started last.
    owner: u32,
    /// The number of flow collections that are open.
    pub(super) flow: u32,
    pub(super) found: Vec<Trivia>,
}

impl<'t> Gaps<'t> {
    /// Creates a reader that starts at a position.
    pub(super) fn new(text: &'t str, from: usize) -> Self {
        Self {
            text,
            at: from.max(first_byte(text)),
            line: 0,
            pending: Vec::new(),
            dash: None,
            owner: 0,
            flow: 0,
            found: Vec::new(),
        }
    }

    /// Reads the gap before the next token, which starts at `start`. Nearly all gaps contain no
    /// comment, which their first bytes show.
    pub(super) fn read(&mut self, start: usize, line: usize) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let plain = match line.saturating_sub(self.line) {
            0 => true,
            1 => matches!(rest, [b'\n', ..] | [b':', b'\n', ..]),
            _ => false,
        };
        if !plain {
            self.scan(start, None);
        }
        self.end_token(start, line);
    }

    /// Sets the end of the token that was read last.
    pub(super) fn end_token(&mut self, end: usize, line: usize) {
        self.at = self.at.max(end);
        self.line = line;
    }

    /// Reads the gap up to `end`, or up to the end of the line with the header of a block scalar.
    /// Returns the range of the header.
    pub(super) fn scan(&mut self, end: usize, header: Option<u8>) -> Option<Range<usize>> {
        let mut whole = self.at == first_byte(self.text)
            || self.text.as_bytes().get(self.at - 1) == Some(&b'\n');
        let after_dash = self.dash().and_then(|dash| self.text.get(dash as usize..self.at));
        let mut on_dash = after_dash.is_some_and(|between| !between.contains('\n'));
        let (mut line_start, mut found, mut on_mark) = (self.at, None, false);
        let mut pieces = Pieces { bytes: self.text.as_bytes(), at: self.at, end };
        while let Some(piece) = pieces.next() {
            match piece {
                // A comment behind a question mark belongs to the key that is still to come.
                TriviaPiece::Comment(range) if on_mark => self.whole_lines(range.start, range.end),
                TriviaPiece::Comment(range) if !whole => self.behind(range, on_dash),
                TriviaPiece::Comment(range) if range.end == self.text.len() => {
                    self.whole_lines(line_start, range.end)
                }
                TriviaPiece::Comment(_) => {}
                TriviaPiece::Break(_) if found.is_some() => break,
                TriviaPiece::Break(next) => {
                    if whole {
                        self.whole_lines(line_start, next);
                    }
                    (whole, line_start, on_dash, on_mark) = (true, next, false, false);
                }
                TriviaPiece::Dash(at) if self.flow == 0 => {
                    self.dash = Some(Dash { at: at as u32, behind: None, lines: Vec::new() });
                    (whole, on_dash) = (false, true);
                }
                TriviaPiece::Dash(_) => whole = false,
                TriviaPiece::Word(range) => {
                    whole = false;
                    on_mark |= self.flow == 0 && self.text.get(range.clone()) == Some("?");
                    if header.is_some() && self.text.as_bytes().get(range.start).copied() == header
                    {
                        // The header may be the last thing before the token. So the rest of its
                        // line is read as well.
                        pieces.end = self.text.len();
                        found = Some(range);
                    }
                }
            }
        }
        self.at = pieces.at.max(self.at);
        found
    }

    fn behind(&mut self, comment: Range<usize>, on_dash: bool) {
        let before = self.text.get(..comment.start).unwrap_or_default();
        let range = (before.trim_end_matches([' ', '\t']).len() as u32, comment.end as u32);
        match &mut self.dash {
            Some(dash) if on_dash => dash.behind = Some(range),
            _ if self.flow > 0 => self.add(self.owner, CommentPlace::Inside, range),
            _ => self.add(self.owner, CommentPlace::Behind, range),
        }
    }

    fn whole_lines(&mut self, start: usize, end: usize) {
        let lines = self.dash.as_mut().map_or(&mut self.pending, |dash| &mut dash.lines);
        match lines.last_mut() {
            Some((_, last)) if *last == start as u32 => *last = end as u32,
            _ => lines.push((start as u32, end as u32)),
        }
    }

    fn add(&mut self, owner: u32, place: CommentPlace, (start, end): (u32, u32)) {
        if owner != NOBODY {
            self.found.push(Trivia { owner, place, start, end });
        }
    }

    /// Handles the current token as the start of an entry.
    pub(super) fn entry(&mut self, owner: u32, opens_block: bool) {
        self.give_lines(owner, CommentPlace::Above);
        if let Some(dash) = self.dash.take() {
            if let Some(comment) = dash.behind {
                self.add(owner, CommentPlace::Behind, comment);
            }
            self.pending = dash.lines;
            if !opens_block {
                self.give_lines(owner, CommentPlace::Above);
            }
        }
        self.owner = owner;
    }

    /// Handles the end of a key: what follows belongs to its entry again.
    pub(super) fn resume(&mut self, owner: u32) {
        self.owner = owner;
    }

    fn give_lines(&mut self, owner: u32, place: CommentPlace) {
        while let Some(lines) = self.pending.pop() {
            self.add(owner, place, lines);
        }
    }

    /// Drops the entry that was just reached, with its comments.
    pub(super) fn disown(&mut self, owner: u32) {
        while self.found.pop_if(|trivia| trivia.owner == owner).is_some() {}
        self.pending.clear();
        self.owner = NOBODY;
    }

    /// Handles an absent scalar, which the parser reports at `start`. Returns the end of the token
    /// or of the dash before it.
    pub(super) fn skip_to_absent(&mut self, start: usize) -> usize {
        let before = self.at;
        self.scan(start, None);
        self.dash().map_or(before, |dash| dash as usize + 1)
    }

    /// Handles the current token as a part of an entry. If it opens a block, the lines above it are
    /// left to the first entry of the block.
    pub(super) fn part(&mut self, opens_block: bool) {
        if opens_block {
            return;
        }
        self.dash = None;
        self.give_lines(self.owner, CommentPlace::Inside);
    }

    /// Appends the comments of a part that was read on its own. Its first entry has the number
    /// `first` here, and `owner` translates the numbers of its owners.
    pub(super) fn append(&mut self, next: Gaps<'t>, first: u32, owner: impl Fn(u32) -> u32) {
        self.entry(first, false);
        self.found.extend(
            next.found.into_iter().map(|trivia| Trivia { owner: owner(trivia.owner), ..trivia }),
        );
        *self = Gaps { found: std::mem::take(&mut self.found), owner: owner(next.owner), ..next };
    }

    /// The position of the dash before the current token.
    pub(super) fn dash(&self) -> Option<u32> {
        self.dash.as_ref().map(|dash| dash.at)
    }

    /// Handles the end of the block whose last entry is `owner`, before the current token.
    pub(super) fn end_block(&mut self, column: usize, owner: u32) {
        let Some(&(start, _)) = self.pending.first() else { return };
        let mut cut = start;
        for &(start, end) in &self.pending {
            let mut at = start;
            for line in Lines(self.text.get(start as usize..end as usize).unwrap_or_default()) {
                at += line.len() as u32;
                let content = line.trim_start_matches([' ', '\t']);
                if content.starts_with('#') && line.len() - content.len() >= column {
                    cut = at;
                }
            }
        }
        for (start, end) in std::mem::take(&mut self.pending) {
            if start < cut {
                self.add(owner, CommentPlace::Below, (start, end.min(cut)));
            }
            if cut < end {
                self.pending.push((start.max(cut), end));
            }
        }
    }

    /// Drops the comments before a position, which belong to the margin of the document.
    pub(super) fn forget(&mut self, before: usize) {
        self.found.retain(|trivia| trivia.start as usize >= before);
        self.pending.clear();
    }

    /// Appends the lines whose entry did not come.
    pub(super) fn rest(&mut self, into: &mut String) {
        for (start, end) in self.pending.drain(..) {
            margin(self.text.get(start as usize..end as usize).unwrap_or_default(), into);
        }
    }
}

/// Iterates over the lines of a text, each with its line break.
pub(super) struct Lines<'t>(pub(super) &'t str);

impl<'t> Iterator for Lines<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let end = match memchr2(b'\n', b'\r', self.0.as_bytes()) {
            Some(at) if self.0[at..].starts_with("\r\n") => at + 2,
            Some(at) => at + 1,
            None => self.0.len(),
        };
        let (line, rest) = self.0.split_at(end);
        self.0 = rest;
        (end > 0).then_some(line)
    }
}

/// Appends the lines of a margin: comments, directives, blank lines, and the marker at the start of
/// a document.
pub(super) fn margin(text: &str, into: &mut String) {
    for line in Lines(text) {
        let content =
            line.trim_start_matches([' ', '\t', '\u{feff}']).trim_end_matches(['\r', '\n']);
        let comment = comment(content).map_or("", |at| &content[at..]);
        if content.starts_with(['#', '%']) || (content.is_empty() && line.ends_with(['\n', '\r'])) {
            into.push_str(content);
        } else if let Some(rest) = content.strip_prefix("---") {
            into.push_str(if rest.trim_start() == comment { content.trim_end() } else { "---" });
        } else if !comment.is_empty() {
            into.push_str(comment);
        } else {
            continue;
        }
        into.push('\n');
    }
}

/// Removes the blank lines at the end of a text.
pub(super) fn trim_blank_lines(text: &mut String) {
    while text.ends_with("\n\n") || text == "\n" {
        text.pop();
    }
}

fn comment(line: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = memchr(b'#', line.as_bytes().get(from..)?).map(|at| from + at) {
        if at == 0 || matches!(line.as_bytes().get(at - 1), Some(b' ' | b'\t')) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// The start of the line that contains a position.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    match memrchr(b'\n', before) {
        Some(end) => end + 1,
        None => first_byte(text).min(at),
    }
}

/// The start of the text behind its byte order mark.
fn first_byte(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}
