//! Finds what is still open at the end of a line: brackets and quotes. A text that is broken has no
//! tokens of a parser, so this reads characters, and what it finds is only tried.

/// What is open behind a part of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OpenParts {
    /// The brackets that close what is open, the innermost last.
    pub brackets: Vec<char>,
    /// The quote that is open.
    pub quote: Option<char>,
    /// The column of the key that a block scalar belongs to.
    block: Option<usize>,
}

impl OpenParts {
    /// Whether a bracket or a quote is open.
    pub(super) fn is_any(&self) -> bool {
        self.quote.is_some() || !self.brackets.is_empty()
    }

    /// Reads one more line.
    pub(super) fn read(&mut self, line: &str) {
        let indent = line.len() - line.trim_start_matches(' ').len();
        if let Some(column) = self.block {
            if line.trim().is_empty() || indent > column {
                return;
            }
            self.block = None;
        }
        let mut reader = LineReader { open: self, starts: true, after_blank: true, column: indent };
        let mut rest = line.char_indices().peekable();
        while let Some((at, c)) = rest.next() {
            let next = rest.peek().map(|&(_, c)| c);
            match reader.read(c, next, at, line) {
                ReadingStep::On => {}
                ReadingStep::Twice => {
                    rest.next();
                }
                ReadingStep::End => break,
            }
        }
    }
}

/// How to go on after a character.
enum ReadingStep {
    On,
    /// The next character belongs to this one.
    Twice,
    /// The rest of the line has no meaning.
    End,
}

struct LineReader<'o> {
    open: &'o mut OpenParts,
    /// Whether a node may start here.
    starts: bool,
    /// Whether the character before is a blank.
    after_blank: bool,
    /// The column of the last key of the line.
    column: usize,
}

impl LineReader<'_> {
    fn read(&mut self, c: char, next: Option<char>, at: usize, line: &str) -> ReadingStep {
        if let Some(quote) = self.open.quote {
            return self.in_quotes(quote, c, next);
        }
        let after_blank = std::mem::replace(&mut self.after_blank, c.is_whitespace());
        let in_flow = !self.open.brackets.is_empty();
        let before_blank = next.is_none_or(char::is_whitespace);
        match c {
            ' ' | '\t' => {}
            '#' if after_blank => return ReadingStep::End,
            '"' | '\'' if self.starts => {
                self.open.quote = Some(c);
                self.starts = false;
            }
            '[' | '{' if self.starts || in_flow => {
                self.open.brackets.push(if c == '[' { ']' } else { '}' });
                self.starts = true;
            }
            ']' | '}' if in_flow => {
                self.open.brackets.pop();
                self.starts = false;
            }
            ',' if in_flow => self.starts = true,
            ':' if before_blank || in_flow => self.starts = true,
            '-' | '?' if before_blank && self.starts => self.column = at + 2,
            '|' | '>' if self.starts && !in_flow && is_header(line, at) => {
                self.open.block = Some(self.column);
                return ReadingStep::End;
            }
            // An anchor or a tag stands before its node.
            '&' | '!' if self.starts => {}
            _ if self.starts && is_behind_mark(line, at) => {}
            _ => self.starts = false,
        }
        ReadingStep::On
    }

    fn in_quotes(&mut self, quote: char, c: char, next: Option<char>) -> ReadingStep {
        match c {
            '\\' if quote == '"' => return ReadingStep::Twice,
            '\'' if quote == '\'' && next == Some('\'') => return ReadingStep::Twice,
            _ if c == quote => self.open.quote = None,
            _ => {}
        }
        self.after_blank = false;
        ReadingStep::On
    }
}

/// Whether the rest of a line is the header of a block scalar.
fn is_header(line: &str, at: usize) -> bool {
    let header = line.get(at + 1..).unwrap_or_default();
    let header = header.trim_start_matches(|c: char| matches!(c, '+' | '-') || c.is_ascii_digit());
    header.trim().is_empty() || header.starts_with(" #")
}

/// Whether the word up to here begins as an anchor or a tag does.
fn is_behind_mark(line: &str, at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    let word = before.rsplit([' ', '\t']).next().unwrap_or_default();
    word.starts_with(['&', '!'])
}
