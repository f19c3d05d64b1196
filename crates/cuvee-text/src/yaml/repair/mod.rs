//! Repairs a text that is being typed, so that it has a tree wherever it is not broken.

mod open;

use super::parse::{Limits, parse};
use crate::source::FileId;
use open::OpenParts;
use std::borrow::Cow;
use std::ops::Range;

/// How many places besides that of the cursor are repaired at most.
const PLACES: usize = 8;

/// A text that parses, and how it came from a text that did not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The text.
    pub text: String,
    /// The changes, in the order of their places. There is none in a text that parsed at once.
    pub edits: Vec<RepairEdit>,
}

/// A change that repairs a text: within a line, or all lines that differ from an earlier text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairEdit {
    /// The bytes of the broken text that are replaced.
    pub range: Range<usize>,
    /// The text in their place.
    pub replacement: String,
}

impl Repaired {
    /// Reads a broken text as an earlier one, where repairing does not help.
    ///
    /// ```
    /// use cuvee_text::yaml::Repaired;
    /// let repaired = Repaired::as_earlier("a: 1\nb: }\nc: 3\n", "a: 1\nb: 2\nc: 3\n");
    /// assert_eq!(repaired.text, "a: 1\nb: 2\nc: 3\n");
    /// assert_eq!((&*repaired.edits[0].replacement, repaired.edits[0].range.clone()), ("b: 2\n", 5..10));
    /// ```
    pub fn as_earlier(text: &str, earlier: &str) -> Self {
        fn lines(text: &str) -> std::str::SplitInclusive<'_, char> {
            text.split_inclusive('\n')
        }
        let same = lines(text).zip(lines(earlier)).take_while(|(one, other)| one == other);
        let start: usize = same.map(|(line, _)| line.len()).sum();
        let (broken, whole) = (&text[start..], &earlier[start..]);
        let same = lines(broken).rev().zip(lines(whole).rev());
        let same = same.take_while(|(one, other)| one == other);
        let end: usize = same.map(|(line, _)| line.len()).sum();
        let range = start..text.len() - end;
        let replacement = whole[..whole.len() - end].to_owned();
        Self { text: earlier.to_owned(), edits: vec![RepairEdit { range, replacement }] }
    }

    /// The place in the broken text of an offset in the repaired one. For text that only the repair
    /// added, the place where it was added.
    pub fn original(&self, offset: usize) -> usize {
        let (mut added, mut removed) = (0, 0);
        for RepairEdit { range, replacement } in &self.edits {
            let start = range.start + added - removed;
            if offset < start {
                break;
            }
            if offset < start + replacement.len() {
                return range.start + (offset - start).min(range.len());
            }
            added += replacement.len();
            removed += range.len();
        }
        offset + removed - added
    }
}

/// Repairs a text near an offset, where somebody types: closes quotes and brackets, adds a missing
/// colon, or blanks the line, whichever is the least that helps. Then it does the same where the
/// text is still broken. `None` where that does not help either.
///
/// ```
/// use cuvee_text::yaml::{Limits, repair};
/// let broken = "shop: { type: Sho\ncache: { type: Cache }\n";
/// let repaired = repair(broken, 17, &Limits::default()).unwrap();
/// assert_eq!(repaired.text, "shop: { type: Sho}\ncache: { type: Cache }\n");
/// assert_eq!(repaired.original(19), 18);
/// ```
pub fn repair(text: &str, offset: usize, limits: &Limits) -> Option<Repaired> {
    let mut attempt = RepairAttempt::new(text, limits);
    if attempt.parses(&[]) {
        return Some(attempt.finish());
    }
    let cursor = attempt.line_of(offset);
    attempt.indent_above(cursor);
    if attempt.close_above(cursor) {
        return Some(attempt.finish());
    }
    let mut progress = attempt.repair_line(cursor, cursor);
    for _ in 0..PLACES {
        if progress == RepairProgress::Done {
            return Some(attempt.finish());
        }
        progress = attempt.repair_from(attempt.first_broken());
        if progress == RepairProgress::None {
            return None;
        }
    }
    (progress == RepairProgress::Done).then(|| attempt.finish())
}

/// What a repair led to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RepairProgress {
    /// The text parses.
    Done,
    /// The text parses further than before.
    Further,
    /// Nothing helped.
    None,
}

/// Lines with other contents.
type LineChange = Vec<(usize, String)>;

struct RepairAttempt<'t> {
    limits: &'t Limits,
    /// The text, if it is not changed.
    text: &'t str,
    /// The current contents of the lines, without what ends them.
    lines: Vec<Cow<'t, str>>,
    /// Where each line starts in the text, and one more for its end.
    starts: Vec<usize>,
}

impl<'t> RepairAttempt<'t> {
    fn new(text: &'t str, limits: &'t Limits) -> Self {
        let (mut lines, mut starts, mut at) = (Vec::new(), Vec::new(), 0);
        for line in text.split('\n') {
            lines.push(Cow::Borrowed(line));
            starts.push(at);
            at += line.len() + 1;
        }
        Self { limits, text, lines, starts }
    }

    /// The line that an offset of the given text is in.
    fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// The first line up to which the text does not parse. Since a longer text has all mistakes of
    /// a shorter one, it is found by halves.
    fn first_broken(&self) -> usize {
        let (mut whole, mut broken) = (0, self.lines.len().saturating_sub(1));
        while whole < broken {
            let line = whole.midpoint(broken);
            if self.is_broken_until(line, &[]) { broken = line } else { whole = line + 1 }
        }
        broken
    }

    /// Writes spaces in place of tabs before what stands in lines above one: no tab may stand there.
    fn indent_above(&mut self, line: usize) {
        let mut open = OpenParts::default();
        for index in 0..line {
            let Some(content) = self.lines.get(index) else { return };
            let own = content.trim_start();
            let blank = content.get(..content.len() - own.len()).unwrap_or_default();
            if blank.contains('\t') && !own.is_empty() && !open.is_any() {
                let column = self.columns_around(index).first().copied().unwrap_or_default();
                let moved = format!("{:column$}{own}", "");
                self.apply(vec![(index, moved)]);
            }
            if let Some(content) = self.lines.get(index) {
                open.read(content);
            }
        }
    }

    /// Closes what a line or lines above it have left open: no line that is indented less can belong
    /// to it. Returns whether the text parses then.
    fn close_above(&mut self, line: usize) -> bool {
        for _ in 0..PLACES {
            let Some((above, content)) = self.left_open(line) else { return false };
            self.apply(vec![(above, content)]);
            if self.parses(&[]) {
                return true;
            }
        }
        false
    }

    /// The first line up to one that has left something open, with what closes it.
    fn left_open(&self, line: usize) -> Option<(usize, String)> {
        let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let is_closing = |line: &str| line.trim_start().starts_with([']', '}']);
        let line_at = |at: usize| -> &str { self.lines.get(at).map_or("", Cow::as_ref) };
        let (mut open, mut begun) = (OpenParts::default(), None);
        for (index, content) in self.lines.iter().enumerate() {
            if content.trim().is_empty() {
                continue;
            }
            // The line behind says what that line itself has left open; what lines above it have left
            // open up to there may be closed in it.
            let is_behind = index > line;
            if let Some((above, own)) = &begun
                && (!is_behind || *above == line)
                && !is_closing(content)
                && indent(content) <= indent(line_at(*above))
            {
                let begun = line_at(*above).trim_end();
                let closed = self.completed(begun, own, &OpenParts::default());
                let mut closed = closed.into_iter();
                return closed.next().map(|content| (*above, content));
            }
            if is_behind {
                return None;
            }
            let was_open = open.is_any();
            open.read(content);
            begun = match (was_open, open.is_any()) {
                (_, false) => None,
                (false, true) => Some((index, open.clone())),
                (true, true) => begun,
            };
        }
        None
    }

    /// Whether the text with a change parses.
    fn parses(&self, change: &[(usize, String)]) -> bool {
        parse(FileId::DETACHED, self.with(change).into(), self.limits).is_ok()
    }

    fn with(&self, change: &[(usize, String)]) -> String {
        let mut text = String::with_capacity(self.text.len() + 16);
        for (index, line) in self.lines.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            let changed = change.iter().find(|(changed, _)| *changed == index);
            text.push_str(changed.map_or(line, |(_, content)| content));
        }
        text
    }

    /// Tries what may repair a line, the least first. Where the text is broken elsewhere, too, the
    /// first change stays with which the text up to the line `until` is not.
    fn repair_line(&mut self, line: usize, until: usize) -> RepairProgress {
        let is_broken = self.is_broken_until(until, &[]);
        let mut helps = None;
        for change in self.changes(line) {
            if self.parses(&change) {
                self.apply(change);
                return RepairProgress::Done;
            }
            if is_broken && helps.is_none() && !self.is_broken_until(until, &change) {
                helps = Some(change);
            }
        }
        let Some(change) = helps else { return RepairProgress::None };
        self.apply(change);
        RepairProgress::Further
    }

    /// Whether the text up to a line does not parse, even if its brackets and quotes are closed.
    fn is_broken_until(&self, line: usize, change: &[(usize, String)]) -> bool {
        let (mut text, mut open) = (String::new(), OpenParts::default());
        for (index, content) in self.lines.iter().enumerate().take(line + 1) {
            let changed = change.iter().find(|(changed, _)| *changed == index);
            let content = changed.map_or(&**content, |(_, content)| content);
            open.read(content);
            text.push_str(content);
            text.push('\n');
        }
        // The line may end with a comment, so brackets stand on a line of their own.
        text.extend(open.quote);
        text.push_str(&format!(" {}", closing(&open.brackets)));
        parse(FileId::DETACHED, text.into(), self.limits).is_err()
    }

    /// Repairs the line in which parsing fails, or where what is open there began, or else blanks
    /// the line.
    fn repair_from(&mut self, line: usize) -> RepairProgress {
        let (begun, above) = (self.begun(line), line.saturating_sub(1));
        for at in [line, begun, above] {
            match self.repair_line(at, line) {
                RepairProgress::None => {}
                helped => return helped,
            }
        }
        if self.lines.get(line).is_none_or(|line| line.trim().is_empty()) {
            return RepairProgress::None;
        }
        self.apply(vec![(line, String::new())]);
        if self.parses(&[]) { RepairProgress::Done } else { RepairProgress::Further }
    }

    /// The line since which something is open where this line starts; this line if nothing is.
    fn begun(&self, line: usize) -> usize {
        let (mut open, mut begun) = (OpenParts::default(), line);
        for (index, content) in self.lines.iter().enumerate().take(line) {
            let was_open = open.is_any();
            open.read(content);
            begun = match (was_open, open.is_any()) {
                (_, false) => line,
                (false, true) => index,
                (true, true) => begun,
            };
        }
        begun
    }

    /// What may repair a line, in the order in which it is tried.
    fn changes(&self, line: usize) -> Vec<LineChange> {
        let Some(content) = self.lines.get(line) else { return Vec::new() };
        let content = content.trim_end();
        let mut before = OpenParts::default();
        self.lines.iter().take(line).for_each(|line| before.read(line));
        let mut open = before.clone();
        open.read(content);
        let indent = content.len() - content.trim_start().len();
        let mut contents = self.completed(content, &open, &before);
        // Text without a key could continue a value above it.
        let is_entry = content.contains(':') || content.trim_start().starts_with("- ");
        for columns in self.columns_around(line).into_iter().filter(|&it| it != indent) {
            let moved = format!("{:columns$}{}", "", content.trim_start());
            let completed = self.completed(&moved, &open, &before).into_iter();
            contents.extend(completed.filter(|it| is_entry || it.contains(':')));
        }
        contents.push(format!("{:indent$}{}", "", closing(&open.brackets)));
        contents.push(format!("{:indent$}{}", "", closing(&before.brackets)));
        contents.push(String::new());
        let mut changes: Vec<LineChange> =
            contents.into_iter().map(|content| vec![(line, content)]).collect();
        let below = self.lines.iter().enumerate().skip(line + 1);
        let below = below.take_while(|(_, line)| {
            line.trim().is_empty() || line.len() - line.trim_start().len() > indent
        });
        let below = below.map(|(line, _)| (line, String::new()));
        changes.push(std::iter::once((line, String::new())).chain(below).collect());
        changes
    }

    /// The content of a line with what may be missing at its end.
    fn completed(&self, content: &str, open: &OpenParts, before: &OpenParts) -> Vec<String> {
        let quoted = |content: &str| match open.quote {
            Some(quote) => {
                let escapes = content.len() - content.trim_end_matches('\\').len();
                let escape = if quote == '"' && escapes % 2 == 1 { "\\" } else { "" };
                format!("{content}{escape}{quote}")
            }
            None => content.to_owned(),
        };
        let own = open.brackets.get(before.brackets.len()..).unwrap_or_default();
        let (own, all) = (closing(own), closing(&open.brackets));
        let text = quoted(content);
        let closed = vec![format!("{text}{own}"), format!("{text}{all}")];
        if content.trim().is_empty() {
            return closed;
        }
        let with_colon = [
            format!("{text}:"),
            format!("{text}:{own}"),
            format!("{text}: {own}"),
            format!("{text}: {all}"),
            format!("{text}{own}:"),
            format!("{text}{own},"),
            format!("{text}: {own},"),
        ];
        [&closed[..], &with_colon].concat()
    }

    /// The columns in which a line may have been meant to start: that of the line above and two
    /// further, of which the latter comes first behind a key without a value.
    fn columns_around(&self, line: usize) -> Vec<usize> {
        let above = self.lines.iter().take(line).rev().find(|line| !line.trim().is_empty());
        let Some(above) = above else { return vec![0] };
        let column = above.len() - above.trim_start_matches(' ').len();
        let is_below = above.trim_end().ends_with(':');
        if is_below { vec![column + 2, column] } else { vec![column, column + 2] }
    }

    fn apply(&mut self, change: LineChange) {
        for (line, content) in change {
            if let Some(line) = self.lines.get_mut(line) {
                *line = Cow::Owned(content);
            }
        }
    }

    fn finish(self) -> Repaired {
        let text = self.with(&[]);
        let mut edits = Vec::new();
        for ((line, &start), given) in
            self.lines.iter().zip(&self.starts).zip(self.text.split('\n'))
        {
            edits.extend(difference(given, line, start));
        }
        Repaired { text, edits }
    }
}

/// The brackets that close what is open, the innermost first.
fn closing(brackets: &[char]) -> String {
    brackets.iter().rev().collect()
}

/// The change from one content of a line to another, without what both begin and end with.
fn difference(given: &str, line: &str, start: usize) -> Option<RepairEdit> {
    if given == line {
        return None;
    }
    let same = |(a, b): &(char, char)| a == b;
    let before: usize =
        given.chars().zip(line.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (given, line) = (given.get(before..)?, line.get(before..)?);
    let behind = given.chars().rev().zip(line.chars().rev()).take_while(same);
    let behind: usize = behind.map(|(c, _)| c.len_utf8()).sum();
    let replaced = given.len() - behind;
    let replacement = line.get(..line.len() - behind)?.to_owned();
    let start = start + before;
    Some(RepairEdit { range: start..start + replaced, replacement })
}

#[cfg(test)]
mod tests;
