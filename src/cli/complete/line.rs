//! Reads an unfinished command line, and finds the place of the cursor in it.

use clap::{Arg, Command};

/// An unfinished command line, as far as it is known.
pub(super) struct Line<'c> {
    /// The innermost command on the line.
    pub(super) command: &'c Command,
    /// The arguments with their values, before and behind the cursor.
    pub(super) given: Vec<(&'c Arg, String)>,
    /// The place of the cursor.
    pub(super) place: Place<'c>,
}

/// The kind of word at the cursor, and the part that is typed already.
pub(super) enum Place<'c> {
    /// The value of an argument. `before` is the part of the word in front of the value.
    Value {
        argument: &'c Arg,
        before: String,
        typed: String,
    },
    Flag(String),
    Command(String),
    Nothing,
}

/// The role of a word that is not the value of the flag before it.
enum Start<'c> {
    /// A flag with its value in the same word, which begins at this byte.
    Assigned(&'c Arg, usize),
    /// A flag whose value is the next word.
    Awaiting(&'c Arg),
    Flag,
    Plain,
}

impl<'c> Line<'c> {
    /// Reads the words, of which the first is the program. The cursor is at the end of the word
    /// with index `current`.
    pub(super) fn read(root: &'c Command, words: &[String], current: usize) -> Self {
        let mut line = Self { command: root, given: Vec::new(), place: Place::Nothing };
        let (mut awaiting, mut position, mut only_plain) = (None, 0, false);
        for (index, word) in words.iter().enumerate().skip(1) {
            let here = index == current;
            if let Some(argument) = awaiting.take() {
                line.value(argument, word, 0, here);
                continue;
            }
            let start = if only_plain { Start::Plain } else { start(line.command, word) };
            match start {
                Start::Assigned(argument, at) => line.value(argument, word, at, here),
                Start::Awaiting(_) | Start::Flag if here => line.place = Place::Flag(word.clone()),
                Start::Awaiting(argument) => awaiting = Some(argument),
                Start::Flag => only_plain |= word == "--",
                // A single dash means standard input, and may become a flag.
                Start::Plain if here && word == "-" && !only_plain => {
                    line.place = Place::Flag(word.clone());
                }
                Start::Plain if line.command.has_subcommands() => match here {
                    true => line.place = Place::Command(word.clone()),
                    false => match line.command.find_subcommand(word) {
                        Some(command) => line.command = command,
                        None => return line,
                    },
                },
                Start::Plain => {
                    if let Some(argument) = positional(line.command, position) {
                        line.value(argument, word, 0, here);
                    }
                    position += 1;
                }
            }
        }
        line
    }

    fn value(&mut self, argument: &'c Arg, word: &str, at: usize, here: bool) {
        let (before, typed) = word.split_at(at);
        match here {
            true => {
                let (before, typed) = (before.to_owned(), typed.to_owned());
                self.place = Place::Value { argument, before, typed };
            }
            false => self.given.push((argument, typed.to_owned())),
        }
    }
}

fn start<'c>(command: &'c Command, word: &str) -> Start<'c> {
    let takes = |argument: &&Arg| argument.get_action().takes_values();
    let mut arguments = command.get_arguments();
    if let Some(long) = word.strip_prefix("--") {
        let (name, at) = match long.split_once('=') {
            Some((name, _)) => (name, Some(word.len() - long.len() + name.len() + 1)),
            None => (long, None),
        };
        let found = arguments.filter(takes).find(|argument| argument.get_long() == Some(name));
        return match (found, at) {
            (Some(argument), Some(at)) => Start::Assigned(argument, at),
            (Some(argument), None) => Start::Awaiting(argument),
            (None, _) => Start::Flag,
        };
    }
    let Some(short) = word.strip_prefix('-').filter(|short| !short.is_empty()) else {
        return Start::Plain;
    };
    let first = short.chars().next();
    match arguments.find(|argument| takes(argument) && argument.get_short() == first) {
        Some(argument) if short.chars().nth(1).is_some() => {
            Start::Assigned(argument, 1 + first.map_or(0, char::len_utf8))
        }
        Some(argument) => Start::Awaiting(argument),
        None => Start::Flag,
    }
}

/// The argument at a position. The last one may take several values.
fn positional(command: &Command, position: usize) -> Option<&Arg> {
    let many = |argument: &&Arg| argument.get_num_args().is_some_and(|of| of.max_values() > 1);
    let mut all: Vec<_> = command.get_positionals().collect();
    all.sort_by_key(|argument| argument.get_index());
    all.get(position).copied().or_else(|| all.last().copied().filter(many))
}

/// Splits a line into words as a shell does, and finds the word that contains the cursor. The part
/// of that word behind the cursor is dropped.
pub(super) fn split(before: &str, after: &str) -> (Vec<String>, usize) {
    let (mut words, open) = words(before);
    words.push(open.unwrap_or_default());
    let current = words.len() - 1;
    let rest = after.find(char::is_whitespace).map_or("", |end| &after[end..]);
    let (behind, open) = self::words(rest);
    words.extend(behind.into_iter().chain(open));
    (words, current)
}

/// The finished words, and the unfinished one.
fn words(text: &str) -> (Vec<String>, Option<String>) {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    (words, word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        let split = |before, after| {
            let (words, current) = split(before, after);
            (words.join("|"), current)
        };
        assert_eq!(split("cuvee  a 'b c' d\\ e", ""), ("cuvee|a|b c|d e".into(), 3));
        assert_eq!(split("cuvee a ", ""), ("cuvee|a|".into(), 2));
        assert_eq!(split("cuvee \"a 'b", "c\" d e"), ("cuvee|a 'b|d|e".into(), 1));
        assert_eq!(split("", ""), (String::new(), 0));
    }
}
