//! Comments and blank lines: found between the tokens, kept beside the tree, each with the entry it
//! goes with.
//!
//! An entry is a key of a map or an item of a list, both in block style. Whole lines above an entry
//! are its own, as is the comment behind it. Lines below the last entry of a block go with the
//! block when they are indented like it, else with what follows. What is found inside of a flow
//! collection, or between a key and a scalar, goes with the entry around it.

use memchr::{memchr, memchr2, memrchr};
use std::ops::Range;

/// A comment or some lines of them.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Trivia {
    /// The key or item it goes with.
    pub(super) owner: u32,
    pub(super) place: CommentPlace,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// Where a comment stands, as seen from its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CommentPlace {
    /// Whole lines above.
    Above,
    /// Somewhere in the value, which can only be kept where it is when the value is written as it
    /// was.
    Inside,
    /// On the line of the entry, with the space before it.
    Behind,
    /// Whole lines below.
    Below,
}

/// What stands above the first entry of a document and below its last, in whole lines.
#[derive(Clone, Debug, Default)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Margins {
    pub(super) top: String,
    pub(super) bottom: String,
}

/// The owner of what is to be forgotten.
pub(super) const NOBODY: u32 = u32::MAX;

/// What is between two tokens.
enum TriviaPiece {
    Comment(Range<usize>),
    /// A line break; where the next line starts.
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
        // A byte order mark is nothing wherever it may stand.
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

/// The dash of the item that is about to come, and what stands between them.
#[derive(Debug)]
struct Dash {
    at: u32,
    behind: Option<(u32, u32)>,
    lines: Vec<(u32, u32)>,
}

/// Reads the gaps between the tokens in order.
pub(super) struct Gaps<'t> {
    text: &'t str,
    /// Where the last token ended, and in which line; 0 for unknown.
    at: usize,
    line: usize,
    /// Whole lines whose entry is still to come.
    pending: Vec<(u32, u32)>,
    dash: Option<Dash>,
    /// The entry that was started last.
    owner: u32,
    /// How many flow collections are open.
    pub(super) flow: u32,
    pub(super) found: Vec<Trivia>,
}

impl<'t> Gaps<'t> {
    /// Reads from this place on.
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

    /// The next token is at `start`. Nearly all gaps hold no comment, and show it in their first
    /// bytes.
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

    /// The token that was read last ends here.
    pub(super) fn end_token(&mut self, end: usize, line: usize) {
        self.at = self.at.max(end);
        self.line = line;
    }

    /// Reads up to `end`, or up to the end of the line that holds the header of a block scalar;
    /// returns the place of the header.
    pub(super) fn scan(&mut self, end: usize, header: Option<u8>) -> Option<Range<usize>> {
        let mut whole = self.at == first_byte(self.text)
            || self.text.as_bytes().get(self.at - 1) == Some(&b'\n');
        let after_dash = self.dash().and_then(|dash| self.text.get(dash as usize..self.at));
        let mut on_dash = after_dash.is_some_and(|between| !between.contains('\n'));
        let (mut line_start, mut found, mut on_mark) = (self.at, None, false);
        let mut pieces = Pieces { bytes: self.text.as_bytes(), at: self.at, end };
        while let Some(piece) = pieces.next() {
            match piece {
                // Behind a question mark, it goes with the key that is still to come.
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
                        // The header may be the last thing before the token, so the rest of its
                        // line is read, too.
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

    /// The token that was just reached is this entry.
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

    /// The key that was read last is complete: what follows is part of its entry again.
    pub(super) fn resume(&mut self, owner: u32) {
        self.owner = owner;
    }

    fn give_lines(&mut self, owner: u32, place: CommentPlace) {
        while let Some(lines) = self.pending.pop() {
            self.add(owner, place, lines);
        }
    }

    /// The entry that was just reached is left out, and so is what goes with it.
    pub(super) fn disown(&mut self, owner: u32) {
        while self.found.pop_if(|trivia| trivia.owner == owner).is_some() {}
        self.pending.clear();
        self.owner = NOBODY;
    }

    /// A scalar that is not there is said to be at `start`; returns the end of the token, or of the
    /// dash, that it would follow.
    pub(super) fn skip_to_absent(&mut self, start: usize) -> usize {
        let before = self.at;
        self.scan(start, None);
        self.dash().map_or(before, |dash| dash as usize + 1)
    }

    /// The token that was just reached is part of an entry; what opens a block leaves the lines
    /// above to its first entry.
    pub(super) fn part(&mut self, opens_block: bool) {
        if opens_block {
            return;
        }
        self.dash = None;
        self.give_lines(self.owner, CommentPlace::Inside);
    }

    /// What follows was read on its own: its first entry is `first` here, and its owners are what
    /// `owner` makes of them.
    pub(super) fn append(&mut self, next: Gaps<'t>, first: u32, owner: impl Fn(u32) -> u32) {
        self.entry(first, false);
        self.found.extend(
            next.found.into_iter().map(|trivia| Trivia { owner: owner(trivia.owner), ..trivia }),
        );
        *self = Gaps { found: std::mem::take(&mut self.found), owner: owner(next.owner), ..next };
    }

    /// Where the dash before the token is that was just reached.
    pub(super) fn dash(&self) -> Option<u32> {
        self.dash.as_ref().map(|dash| dash.at)
    }

    /// The block whose last entry is `owner` ended before the token that was just reached.
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

    /// What was found before this place is a margin of the document.
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

/// The lines of a text, each with the break that ends it.
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

/// The lines of a margin: comments, directives, blank lines, and the marker at the start of a
/// document.
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

/// Removes the blank lines at the end.
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

/// Where the line starts that holds this place.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    match memrchr(b'\n', before) {
        Some(end) => end + 1,
        None => first_byte(text).min(at),
    }
}

/// Where the text starts behind its byte order mark.
fn first_byte(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}
