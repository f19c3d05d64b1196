//! Writes the tables of `docs/command.md` from what the help is made of.

use super::args::CommandLine;
use super::manual::{self, EXIT_CODES, PURPOSES};
use clap::{Arg, Command, CommandFactory};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// A flag as a row: its heading, which is empty where it has none, how it is written, and what it
/// means.
type Flag = (String, String, String);

/// From this many commands on, a flag with a heading is described once for all of them.
const MANY: usize = 3;

const ALL: &str = "Flags of every command";
const SHARED: &str = "Flags of several commands";

fn tables() -> String {
    let mut command = manual::arranged(CommandLine::command()).disable_help_subcommand(true);
    // Building gives the commands their usage, and all of them the flags that are global.
    command.build();
    let mut counts = BTreeMap::new();
    count(&command, &mut counts);
    counts.retain(|(heading, ..), count| !heading.is_empty() && *count >= MANY);
    let shared: Vec<Flag> = counts.into_keys().collect();

    let mut text = String::new();
    for (purpose, names) in PURPOSES {
        writeln!(text, "\n## {purpose}").unwrap();
        for command in names.iter().filter_map(|name| command.find_subcommand(name)) {
            describe(command, 3, &shared, &mut text);
        }
    }
    writeln!(text, "\n## {ALL}\n").unwrap();
    let global = command.get_arguments().filter(|arg| is_flag(arg)).map(flag);
    rows("Flag", global.map(|(_, name, meaning)| (name, meaning)), &mut text);
    writeln!(text, "\n## {SHARED}").unwrap();
    for group in shared.chunk_by(|one, other| one.0 == other.0) {
        writeln!(text, "\n### {}\n", group[0].0).unwrap();
        let flags = group.iter().map(|(_, name, meaning)| (name.clone(), meaning.clone()));
        rows("Flag", flags, &mut text);
    }
    writeln!(text, "\n## Exit codes\n").unwrap();
    let codes = EXIT_CODES.iter().map(|(code, meaning)| (format!("`{code}`"), escaped(meaning)));
    rows("Code", codes, &mut text);
    text
}

/// Counts in how many commands each flag means the same.
fn count(command: &Command, counts: &mut BTreeMap<Flag, usize>) {
    for below in command.get_subcommands().filter(|of| !of.is_hide_set()) {
        for flag in own(below).map(flag) {
            *counts.entry(flag).or_default() += 1;
        }
        count(below, counts);
    }
}

/// The flags of a command, without those of every command.
fn own(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| is_flag(arg) && !arg.is_global_set())
}

fn is_flag(arg: &Arg) -> bool {
    let is_of_all = ["help", "version"].contains(&arg.get_id().as_str());
    !arg.is_positional() && !arg.is_hide_set() && !is_of_all
}

fn flag(arg: &Arg) -> Flag {
    (arg.get_help_heading().unwrap_or_default().to_owned(), name(arg), meaning(arg))
}

/// How an argument is written, as code.
fn name(arg: &Arg) -> String {
    format!("`{}`", manual::spelt(arg).trim()).replace('|', "\\|")
}

/// What an argument means, and which values it takes.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let (help, variable) = match help.strip_suffix(']').and_then(|it| it.split_once(" [env: ")) {
        Some((help, variable)) => (help, Some(variable)),
        None => (&*help, None),
    };
    let mut text = escaped(help);
    if let Some(variable) = variable {
        write!(text, ". From the environment: `{variable}`").unwrap();
    }
    if !arg.get_action().takes_values() {
        return text;
    }
    let values = arg.get_possible_values();
    let values: Vec<_> = values.iter().filter(|it| !it.is_hide_set()).collect();
    if !values.is_empty() {
        let shown = |it: &&clap::builder::PossibleValue| match it.get_help() {
            Some(help) => format!("`{}` ({})", it.get_name(), escaped(&help.to_string())),
            None => format!("`{}`", it.get_name()),
        };
        let values: Vec<_> = values.iter().map(shown).collect();
        write!(text, ". Values: {}", values.join(", ")).unwrap();
    }
    let defaults = arg.get_default_values().iter().map(|it| format!("`{}`", it.to_string_lossy()));
    let defaults: Vec<_> = defaults.collect();
    if !defaults.is_empty() && !arg.is_hide_default_value_set() {
        write!(text, ". Without it: {}", defaults.join(", ")).unwrap();
    }
    text
}

fn describe(command: &Command, level: usize, shared: &[Flag], text: &mut String) {
    let name = command.get_bin_name().unwrap();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage:").unwrap();
    let usage: Vec<_> = usage.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let about = command.get_long_about().or(command.get_about()).unwrap().to_string();
    let about = escaped(&about);
    // Only the first sentence has no full stop.
    let about = if about.ends_with('.') { about } else { about + "." };
    let head = "#".repeat(level);
    writeln!(text, "\n{head} `{name}`\n\n{about}\n\n```text\n{}\n```", usage.join("\n")).unwrap();

    let positional = command.get_positionals().filter(|arg| !arg.is_hide_set());
    let positional: Vec<_> = positional.map(|arg| (self::name(arg), meaning(arg))).collect();
    let (elsewhere, here): (Vec<_>, Vec<_>) =
        own(command).map(flag).partition(|it| shared.contains(it));
    let here = here.into_iter().map(|(_, name, meaning)| (name, meaning));
    let described: Vec<_> = positional.into_iter().chain(here).collect();
    if !described.is_empty() {
        text.push('\n');
        rows("Argument", described, text);
    }
    if !elsewhere.is_empty() {
        let long = |name: &str| {
            let start = name.find("--").unwrap_or(1);
            let word = name[start..].split([' ', '`']).next().unwrap_or_default();
            format!("`{word}`")
        };
        let names: Vec<_> = elsewhere.iter().map(|(_, name, _)| long(name)).collect();
        let anchor = SHARED.to_lowercase().replace(' ', "-");
        writeln!(text, "\nAnd [{}](#{anchor}): {}.", SHARED.to_lowercase(), names.join(", "))
            .unwrap();
    }
    let examples = manual::examples(command.get_name());
    // Commands below others have no examples, but may be called like one that has.
    if level == 3 && !examples.is_empty() {
        let lines = examples.iter().map(|(line, purpose)| format!("# {purpose}\n{line}"));
        writeln!(text, "\n```sh\n{}\n```", lines.collect::<Vec<_>>().join("\n")).unwrap();
    }
    for below in command.get_subcommands().filter(|of| !of.is_hide_set()) {
        describe(below, level + 1, shared, text);
    }
}

/// Writes a table with a row for each name.
fn rows(what: &str, rows: impl IntoIterator<Item = (String, String)>, text: &mut String) {
    writeln!(text, "| {what} | Meaning |\n| --- | --- |").unwrap();
    for (name, meaning) in rows {
        writeln!(text, "| {name} | {meaning} |").unwrap();
    }
}

/// A text of the help as Markdown on one line. What stands between backticks is code; outside of it,
/// nothing is an element of HTML or a new column, and pages that are named are linked.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    for (index, part) in line.split('`').enumerate() {
        if index % 2 == 1 {
            write!(escaped, "`{part}`").unwrap();
            continue;
        }
        let part = part.replace('<', "&lt;").replace('*', "\\*");
        let words = part.split(' ').map(|word| match word.strip_prefix("docs/") {
            Some(page) if page.ends_with(".md") => format!("[{page}]({page})"),
            _ => match word.starts_with("--") {
                true => {
                    let end = word.find([',', '.', ';', ':', ')']).unwrap_or(word.len());
                    format!("`{}`{}", &word[..end], &word[end..])
                }
                false => word.to_owned(),
            },
        });
        escaped.push_str(&words.collect::<Vec<_>>().join(" "));
    }
    escaped
}

#[test]
fn the_page_of_commands_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/command.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mark = "<!-- Below this line generated: UPDATE_DOCS=1 cargo test --bin cuvee page -->\n";
    let (by_hand, generated) = text.split_once(mark).unwrap();
    let expected = tables();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{by_hand}{mark}{expected}")).unwrap();
    } else {
        assert!(
            generated == expected,
            "`UPDATE_DOCS=1 cargo test --bin cuvee page` writes docs/command.md anew"
        );
    }
}

#[test]
fn help_becomes_markdown() {
    for (help, markdown) in [
        ("Format; `a|b` or <FILE>", "Format; `a\\|b` or &lt;FILE>"),
        (
            "With --from and\n--to, see docs/plans.md",
            "With `--from` and `--to`, see [plans.md](plans.md)",
        ),
    ] {
        assert_eq!(escaped(help), markdown);
    }
}
