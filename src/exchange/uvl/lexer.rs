//! Splits text into tokens; indentation becomes tokens as well.

use super::super::names::syntax;
use super::ESCAPED;
use crate::diagnostic::Diagnostic;
use cuvee_text::source::{FileId, Span};
use std::borrow::Cow;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'t> {
    /// A word or a number without quotes; it may contain dots.
    Word(&'t str),
    /// A name that was written in double quotes.
    Name(Cow<'t, str>),
    /// A text that was written in single quotes.
    Text(Cow<'t, str>),
    /// A punctuation mark or an operator.
    Mark(&'static str),
    /// The end of a line.
    Newline,
    /// The start of a line that is indented more than the previous one.
    Indent,
    /// The end of a level of indentation.
    Dedent,
    /// The end of the file.
    End,
}

/// The marks; longer ones come before their prefixes.
const MARKS: [&str; 23] = [
    "<=>", "==", "=>", "<=", ">=", "!=", "<", ">", "!", "&", "|", "(", ")", "[", "]", "{", "}",
    ",", "+", "-", "*", "/", "..",
];

/// The distance between tab stops.
const TAB: usize = 8;

/// Splits a text into tokens, each with its place.
///
/// # Errors
/// `syntax` at a character or an indentation that is not allowed.
pub(super) fn tokens(text: &str, file: FileId) -> Result<Vec<(Token<'_>, Span)>, Diagnostic> {
    let mut lexer = Lexer { text, file, at: 0, brackets: 0, levels: vec![0], tokens: Vec::new() };
    if text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    lexer.run()?;
    Ok(lexer.tokens)
}

struct Lexer<'t> {
    text: &'t str,
    file: FileId,
    at: usize,
    /// The number of open brackets; line ends within brackets do not count.
    brackets: usize,
    /// The open levels of indentation, outermost first.
    levels: Vec<usize>,
    tokens: Vec<(Token<'t>, Span)>,
}

impl<'t> Lexer<'t> {
    fn run(&mut self) -> Result<(), Diagnostic> {
        // The indentation of a line is the space before its first comment or token.
        let (mut line_is_empty, mut is_margin, mut indentation) = (true, true, 0);
        loop {
            is_margin &= !self.comments()?;
            let Some(next) = self.rest().chars().next() else { break };
            match next {
                '\n' | '\r' | '\u{c}' => {
                    let start = self.at;
                    self.at += 1;
                    if self.brackets == 0 {
                        if !line_is_empty {
                            self.push(Token::Newline, start);
                        }
                        (line_is_empty, is_margin, indentation) = (true, true, 0);
                    }
                }
                ' ' | '\t' => {
                    self.at += 1;
                    if is_margin {
                        indentation = if next == ' ' {
                            indentation + 1
                        } else {
                            (indentation / TAB + 1) * TAB
                        };
                    }
                }
                _ => {
                    is_margin = false;
                    if std::mem::replace(&mut line_is_empty, false) {
                        self.indent(indentation)?;
                    }
                    self.token(next)?;
                }
            }
        }
        if !line_is_empty {
            self.push(Token::Newline, self.at);
        }
        self.indent(0)?;
        self.push(Token::End, self.at);
        Ok(())
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn span(&self, start: usize) -> Span {
        Span { file: self.file, start: offset(start), end: offset(self.at) }
    }

    fn push(&mut self, token: Token<'t>, start: usize) {
        self.tokens.push((token, self.span(start)));
    }

    /// Skips comments; returns whether there were any.
    fn comments(&mut self) -> Result<bool, Diagnostic> {
        let first = self.at;
        loop {
            let (rest, start) = (self.rest(), self.at);
            if rest.starts_with("//") {
                self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            } else if let Some(inner) = rest.strip_prefix("/*") {
                match inner.find("*/") {
                    Some(end) => self.at += end + 4,
                    None => {
                        self.at += 2;
                        return Err(syntax(self.span(start), "the comment does not end")
                            .help("end it with `*/`"));
                    }
                }
            } else {
                return Ok(self.at > first);
            }
        }
    }

    /// Compares the indentation of a line with that of the preceding lines.
    fn indent(&mut self, indentation: usize) -> Result<(), Diagnostic> {
        let open = self.levels.last().copied().unwrap_or_default();
        if indentation > open {
            self.levels.push(indentation);
            self.push(Token::Indent, self.at);
            return Ok(());
        }
        while self.levels.last().is_some_and(|&level| level > indentation) {
            self.levels.pop();
            self.push(Token::Dedent, self.at);
        }
        if self.levels.last().is_some_and(|&level| level == indentation) {
            return Ok(());
        }
        let error = syntax(
            self.span(self.at),
            "this line is indented less than the line above, but not like any line before that",
        );
        Err(error.help("indent lines of one group alike, with tabs or with spaces"))
    }

    fn token(&mut self, next: char) -> Result<(), Diagnostic> {
        let (rest, start) = (self.rest(), self.at);
        if next == '"' || next == '\'' {
            return self.quoted(next);
        }
        if is_word(next) {
            let end =
                rest.char_indices().find(|&(at, c)| !is_word(c) && !is_inner_dot(rest, at, c));
            self.at += end.map_or(rest.len(), |(at, _)| at);
            self.push(Token::Word(self.text.get(start..self.at).unwrap_or_default()), start);
            return Ok(());
        }
        let Some(mark) = MARKS.into_iter().find(|mark| rest.starts_with(mark)) else {
            self.at += next.len_utf8();
            let error = syntax(
                self.span(start),
                format!("`{}` has no meaning here", next.escape_default()),
            );
            return Err(error.help("a name that is no identifier stands in double quotes"));
        };
        self.at += mark.len();
        match mark {
            "(" | "[" | "{" => self.brackets += 1,
            ")" | "]" | "}" => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
        self.push(Token::Mark(mark), start);
        Ok(())
    }

    fn quoted(&mut self, quote: char) -> Result<(), Diagnostic> {
        let start = self.at;
        let inner = self.rest().get(1..).unwrap_or_default();
        let Some(end) =
            inner.find([quote, '\n', '\r']).filter(|&end| inner[end..].starts_with(quote))
        else {
            self.at += 1;
            return Err(syntax(self.span(start), "the quotes do not end in this line"));
        };
        self.at += end + 2;
        let text = unescape(&inner[..end]);
        self.push(if quote == '"' { Token::Name(text) } else { Token::Text(text) }, start);
        Ok(())
    }
}

pub(super) fn offset(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '#' | '§' | '%' | '?' | '\\' | ';')
}

/// Whether this is a dot within a word; two dots are a range.
fn is_inner_dot(text: &str, at: usize, c: char) -> bool {
    c == '.'
        && text
            .get(at + 1..)
            .is_some_and(|after| after.starts_with(|next| is_word(next) || next == '*'))
}

/// Decodes `%XX` sequences.
fn unescape(text: &str) -> Cow<'_, str> {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default();
    if first.len() == text.len() {
        return Cow::Borrowed(text);
    }
    let mut out = first.to_owned();
    for part in parts {
        let code =
            part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).map(char::from);
        match code.filter(|c| ESCAPED.contains(c)) {
            Some(c) => {
                out.push(c);
                out.push_str(part.get(2..).unwrap_or_default());
            }
            None => {
                out.push('%');
                out.push_str(part);
            }
        }
    }
    Cow::Owned(out)
}
