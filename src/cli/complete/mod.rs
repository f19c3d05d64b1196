//! Runs `cuvee complete`, which the scripts of `cuvee completions` call to complete the word at the
//! cursor.
//!
//! Each line of the output is a word, a tab, and the meaning of the word. A line with no word and
//! the meaning `files` or `directories` tells the shell to complete these, too. Errors are not
//! reported.

mod line;
mod values;

use super::args::{CommandLine, CompleteArgs};
use super::output;
use clap::{Arg, Command, CommandFactory, ValueHint};
use line::{Line, Place};
use std::process::ExitCode;

/// Prints the possible words at the cursor.
pub(crate) fn run(args: &CompleteArgs) -> ExitCode {
    let mut root = CommandLine::command();
    root.build();
    let (words, current) = match args.index {
        Some(index) => (args.words.clone(), index),
        None => {
            let part = |index: usize| args.words.get(index).map_or("", String::as_str);
            line::split(part(0), part(1))
        }
    };
    let line = Line::read(&root, &words, current);
    let candidates = candidates(&root, &line);
    let shown: String = candidates.iter().map(Completion::line).collect();
    // A failed completion is not worth an error message.
    let _ = output::to_stdout(shown);
    ExitCode::SUCCESS
}

/// A word that is possible at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Completion {
    word: String,
    meaning: String,
}

impl Completion {
    fn new(word: impl Into<String>, meaning: impl ToString) -> Self {
        Self { word: word.into(), meaning: meaning.to_string() }
    }

    /// A request to the shell to complete files or directories.
    fn paths(what: &str) -> Self {
        Self::new("", what)
    }

    fn line(&self) -> String {
        let meaning: Vec<_> = self.meaning.split_whitespace().collect();
        match self.word.contains(char::is_control) {
            true => String::new(),
            false => format!("{}\t{}\n", self.word, meaning.join(" ")),
        }
    }
}

fn candidates(root: &Command, line: &Line<'_>) -> Vec<Completion> {
    match &line.place {
        Place::Value { argument, before, typed } => {
            let mut found = values_of(root, line, argument, typed);
            found.retain(|found| found.word.is_empty() || found.word.starts_with(typed));
            for candidate in found.iter_mut().filter(|found| !found.word.is_empty()) {
                candidate.word.insert_str(0, before);
            }
            found
        }
        Place::Flag(typed) => {
            let mut found: Vec<_> = line.command.get_arguments().flat_map(flags).collect();
            found.retain(|found| found.word.starts_with(typed));
            found
        }
        Place::Command(typed) => {
            let mut found = values::commands(line.command);
            found.retain(|found| found.word.starts_with(typed));
            found
        }
        Place::Nothing => Vec::new(),
    }
}

fn flags(argument: &Arg) -> Vec<Completion> {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let long = argument.get_long().map(|long| format!("--{long}"));
    let short = argument.get_short().map(|short| format!("-{short}"));
    [long, short].into_iter().flatten().map(|flag| Completion::new(flag, &help)).collect()
}

/// The values of an argument: names from the template or from this program, the possible values
/// that the argument declares, or paths.
fn values_of(root: &Command, line: &Line<'_>, argument: &Arg, typed: &str) -> Vec<Completion> {
    if let Some(named) = values::NamedValue::of(line.command, argument) {
        return named.candidates(root, line, typed);
    }
    let words = argument.get_possible_values();
    if !words.is_empty() {
        let meaning = |help: Option<&clap::builder::StyledStr>| help.map(ToString::to_string);
        return words
            .iter()
            .filter(|word| !word.is_hide_set())
            .map(|word| {
                Completion::new(word.get_name(), meaning(word.get_help()).unwrap_or_default())
            })
            .collect();
    }
    match argument.get_value_hint() {
        ValueHint::AnyPath | ValueHint::FilePath => vec![Completion::paths("files")],
        ValueHint::DirPath => vec![Completion::paths("directories")],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that complete the end of a line.
    fn complete(before: &str) -> Vec<String> {
        let mut root = CommandLine::command();
        root.build();
        let (words, current) = line::split(before, "");
        let line = Line::read(&root, &words, current);
        candidates(&root, &line).into_iter().map(|found| found.word).collect()
    }

    /// Arguments whose values cannot be listed: numbers, texts, conditions, times, URLs.
    const FREE: &[&str] = &[
        "candidates",
        "conditions",
        "depth",
        "deployment_inputs",
        "effort",
        "fail",
        "filter",
        "ignore",
        "implementations",
        "limit",
        "managed",
        "mappings",
        "plugins",
        "plugin_timeout",
        "moved",
        "now",
        "penalty",
        "recreate",
        "sample",
        "seed",
        "service_template",
        "subcommand",
        "timeout",
        "trigger",
        "twise",
        "workflow",
        "workflow_inputs",
    ];

    #[test]
    fn every_argument_completes() {
        let mut root = CommandLine::command();
        root.build();
        let commands = root.get_subcommands().filter(|command| !command.is_hide_set());
        for command in commands.filter(|command| command.get_name() != "help") {
            for argument in command.get_arguments().filter(|of| of.get_action().takes_values()) {
                let completes = values::NamedValue::of(command, argument).is_some()
                    || !argument.get_possible_values().is_empty()
                    || !matches!(argument.get_value_hint(), ValueHint::Unknown | ValueHint::Other);
                let free = FREE.contains(&argument.get_id().as_str());
                assert!(
                    completes != free,
                    "`{}` of `cuvee {}`: say in `NamedValue::of` what completes it, give it a `value_hint`, or list it in `FREE`",
                    argument.get_id(),
                    command.get_name()
                );
            }
        }
    }

    #[test]
    fn commands_and_flags_complete() {
        assert_eq!(complete("cuvee res"), ["resolve"]);
        assert_eq!(complete("cuvee help res"), ["resolve"]);
        assert!(!complete("cuvee ").contains(&"complete".to_owned()));
        assert_eq!(complete("cuvee diff --exit"), ["--exit-code"]);
        assert_eq!(complete("cuvee resolve --message-format=j"), ["--message-format=json"]);
        assert_eq!(complete("cuvee resolve x --format "), ["yaml", "json"]);
        assert_eq!(complete("cuvee resolve x -"), complete("cuvee resolve -"));
        assert!(complete("cuvee resolve --no-such-flag -").contains(&"--preset".to_owned()));
    }

    #[test]
    fn values_of_the_template_that_is_named_complete() {
        let shop = "cuvee resolve examples/shop";
        assert_eq!(complete(&format!("{shop} --preset ")), ["dev", "prod", "edge", "sale"]);
        assert_eq!(complete(&format!("{shop} --preset=dev,p")), ["--preset=dev,prod"]);
        assert_eq!(complete(&format!("{shop} -i st")), ["stack="]);
        assert_eq!(complete(&format!("{shop} -i 'stack=c")), ["stack=cluster"]);
        assert_eq!(complete(&format!("{shop} -istack=b")), ["-istack=box"]);
        assert_eq!(complete("cuvee explain examples/shop node.br"), ["node.broker"]);
        assert_eq!(complete("cuvee types examples/shop shop.nodes.Se"), ["shop.nodes.Service"]);
        assert_eq!(complete("cuvee explain-code unsat"), ["unsatisfiable"]);
        assert_eq!(complete("cuvee man dif"), ["diff"]);
        assert_eq!(complete("cuvee resolve --edition 2025"), ["2025-07"]);
        assert_eq!(complete("cuvee resolve --option node_pruning=t"), ["node_pruning=true"]);
        assert_eq!(complete("cuvee resolve --option mode=semantic-l"), ["mode=semantic-loose"]);
    }

    #[test]
    fn a_template_behind_the_cursor_counts() {
        let mut root = CommandLine::command();
        root.build();
        let (words, current) = line::split("cuvee resolve --preset ed", " examples/shop");
        let line = Line::read(&root, &words, current);
        assert_eq!(candidates(&root, &line)[0].word, "edge");
    }

    #[test]
    fn nothing_is_said_of_what_cannot_be_read() {
        for template in ["nowhere", "-", "Cargo.toml", "/dev/null"] {
            assert_eq!(complete(&format!("cuvee resolve {template} --preset ")), [""; 0]);
            assert_eq!(complete(&format!("cuvee explain {template} ")), [""; 0]);
        }
    }
}
