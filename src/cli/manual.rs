//! Writes the parts of the help and the manual beside the flags: the commands by purpose, and
//! examples of their use.

use clap::builder::StyledStr;
use clap::{Arg, Command};
use clap_mangen::roff::{Roff, bold, roman};
use std::fmt::Write;

/// The width of the list of commands in characters.
const WIDTH: usize = 80;

/// The commands by purpose: those to begin with come first, those that are rarely used last.
pub(super) const PURPOSES: &[(&str, &[&str])] = &[
    ("Begin", &["init", "resolve", "validate", "explain"]),
    ("Explore all variants", &["inputs", "variants", "analyze"]),
    ("Compare and show", &["diff", "matrix", "graph", "report"]),
    ("Deploy", &["plan", "instance", "substitute"]),
    ("Test", &["test"]),
    ("Edit", &["lsp"]),
    (MORE, RARE),
];

/// The heading of commands that are rarely used.
const MORE: &str = "More";
const RARE: &[&str] = &[
    "enrich",
    "options",
    "types",
    "assign",
    "quality",
    "convert",
    "export",
    "import",
    "explain-code",
    "completions",
    "man",
    "help",
];

/// The headings of flags, with the names of their arguments. Flags that many commands share come
/// last, because the structs of arguments name them last.
const HEADINGS: &[(&str, &[&str])] = &[
    ("From one variant to another", &["moved", "recreate", "removals_first"]),
    ("Simulation", &["simulate", "fail", "assume"]),
    (
        "Run",
        &[
            "jobs",
            "runners",
            "providers",
            "step_timeout",
            "yes",
            "dry_run",
            "rehearse",
            "retries",
            "retry_delay",
            "keep_going",
            "interrupted",
            "verbose",
        ],
    ),
    ("Order", &["order", "parallel_hosts", "ignore", "managed"]),
    ("Secrets", &["secrets", "sensitive"]),
    ("Topology inputs", &["deployment_files", "deployment_inputs"]),
    (
        CHOICE,
        &[
            "presets",
            "inputs_files",
            "inputs",
            "set",
            "edition",
            "plugins",
            "plugin_timeout",
            "mappings",
            "profile_paths",
            "now",
            "solver",
        ],
    ),
    ("Store", &["store", "actor", "lock_timeout", "expect"]),
    ("Time", &["timeout", "timings"]),
    ("Messages", &["message_format", "color", "quiet"]),
];

/// The heading of flags that choose a variant.
const CHOICE: &str = "Choice";

/// The headings of which `-h` shows nothing, and the flags of the choice that it shows.
const SHARED: &[&str] =
    &["Simulation", "Order", "Secrets", "Topology inputs", "Store", "Time", "Messages"];
const BRIEF_CHOICE: &[&str] = &["presets", "inputs_files", "inputs"];

/// What follows a brief help.
const SEE_MORE: &str = "`--help` shows all flags, and examples.";

/// Examples of how to call each command, with their purposes. A test runs them in a project that
/// also contains what `tests/project/packaging.rs` writes.
#[rustfmt::skip]
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    ("init", &[("cuvee init old.yaml -o variable.yaml", "with an input and a preset, explained by comments")]),
    ("resolve", &[
        ("cuvee resolve shop --preset prod", "the variant of a preset, on standard output"),
        ("cuvee resolve shop --preset prod -i visitors=9000 -o prod.yaml", "one input otherwise, into a file"),
        ("cuvee resolve shop --inputs choice.yaml --format json", "inputs from a file, the result as JSON"),
    ]),
    ("enrich", &[
        ("cuvee enrich shop", "the template with all conditions written out"),
        ("cuvee enrich shop --option mode=default --format json", "the conditions that this mode would add, for programs"),
    ]),
    ("options", &[
        ("cuvee options shop", "the options that are set, and where"),
        ("cuvee options shop --option mode=manual --all", "all options, as they would be with this one"),
    ]),
    ("validate", &[
        ("cuvee validate shop", "all variants"),
        ("cuvee validate shop --preset prod --strict", "one variant, with warnings as errors"),
        ("cuvee validate shop --format sarif", "for code scanning"),
    ]),
    ("test", &[
        ("cuvee test shop", "all cases below a directory"),
        ("cuvee test shop --filter prod --format junit", "some of the cases, for a build server"),
    ]),
    ("lsp", &[("cuvee lsp", "as an editor calls it; see docs/editors.md")]),
    ("explain-code", &[
        ("cuvee explain-code unsatisfiable", "one code"),
        ("cuvee explain-code", "all codes, a line each"),
    ]),
    ("inputs", &[
        ("cuvee inputs shop", "the inputs that can be chosen"),
        ("cuvee inputs shop --preset prod --format json", "the inputs that a preset leaves open, for programs"),
    ]),
    ("variants", &[
        ("cuvee variants shop --count", "the number of variants"),
        ("cuvee variants shop --limit 5 --where '{node_presence: broker}'", "some variants that have a node"),
        ("cuvee variants shop --pairwise --output-dir variants", "a few variants to test, resolved"),
    ]),
    ("analyze", &[("cuvee analyze shop", "elements that all variants have or none has, and constraints in vain")]),
    ("explain", &[
        ("cuvee explain shop node.broker --preset prod", "why a node is present"),
        ("cuvee explain shop --preset edge -i durable_orders=true", "why a choice has no variant, and how to get one"),
    ]),
    ("diff", &[
        ("cuvee diff shop --from dev --to prod", "two presets"),
        ("cuvee diff shop --from prod --to prod,sale", "what one preset adds to another"),
        ("cuvee diff shop --preset prod --to choice.yaml", "what a file of inputs changes"),
        ("cuvee diff old.yaml new.yaml", "two plain templates, as they are"),
        ("cuvee diff kiosk.tosca kiosk.yaml", "definitions of TOSCA 1.0 with a template"),
    ]),
    ("substitute", &[
        ("cuvee substitute shop --preset prod --inventory machines.yaml", "open requirements fulfilled by the nodes of a template"),
    ]),
    ("plan", &[
        ("cuvee plan shop --preset prod", "the steps that deploy a variant"),
        ("cuvee plan shop --from prod --to prod,sale", "the steps that turn one variant into another"),
    ]),
    ("instance", &[
        ("cuvee instance run book guestbook --dry-run", "the programs that would deploy a variant"),
        ("cuvee instance init site shop --preset dev", "an instance of a variant that is not deployed yet"),
        ("cuvee instance plan site -o plan.json", "the plan that brings it to its target"),
        ("cuvee instance show site", "its nodes and their states"),
    ]),
    ("matrix", &[("cuvee matrix shop --format markdown", "a table for a page")]),
    ("graph", &[
        ("cuvee graph shop --preset prod -o shop.svg", "one variant"),
        ("cuvee graph shop --from dev --to prod", "the difference between two variants"),
    ]),
    ("report", &[("cuvee report shop -o shop.html", "a page for a browser")]),
    ("types", &[
        ("cuvee types shop", "all types"),
        ("cuvee types shop Compute", "the effective definition of one type"),
    ]),
    ("assign", &[
        ("cuvee assign plain.yaml", "the technology of each node, and why"),
        ("cuvee assign plain.yaml -o assigned.yaml", "the template with its technologies"),
    ]),
    ("quality", &[("cuvee quality plain.yaml --leave-out", "the quality of the nodes that rules support")]),
    ("export", &[
        ("cuvee export shop -o shop.uvl", "the inputs as a feature model"),
        ("cuvee export shop --format dimacs", "the conditions for a solver"),
    ]),
    ("convert", &[
        ("cuvee convert kiosk.tosca", "definitions in XML as one document, on standard output"),
        ("cuvee convert kiosk.tosca -o kiosk/ --loss loss.json", "into files, with a report of what has no counterpart"),
        ("cuvee convert kiosk.tosca --to xml", "the definitions in their canonical form"),
        ("cuvee convert shop --preset prod -o shop.csar", "a variant as an archive of definitions in XML"),
        ("cuvee convert shop --preset prod -o shop.csar --strict", "the same, or nothing where something would be lost"),
    ]),
    ("import", &[("cuvee import shop.uvl", "inputs for a feature model")]),
    ("completions", &[
        ("cuvee completions bash", "for `source <(cuvee completions bash)`"),
        ("cuvee completions fish", "for `cuvee completions fish | source`"),
    ]),
    ("man", &[("cuvee man resolve", "one page, for `man -l -`")]),
];

/// The exit codes of commands, with their meanings.
pub(super) const EXIT_CODES: [(&str, &str); 3] = [
    ("0", "Done; there may be warnings."),
    (
        "1",
        "The template, the inputs or the variant was rejected, or a test failed; `diff --exit-code` found a difference.",
    ),
    ("2", "Wrong use: an unknown flag, a missing argument."),
];

/// Gives flags their headings. A heading of a flattened struct would otherwise hold for all flags
/// behind it.
pub(super) fn arranged(command: Command) -> Command {
    let chooses = command.get_arguments().any(|arg| arg.get_id() == "presets");
    let heading = |arg: &Arg| {
        let found = heading(arg.get_id().as_str());
        // Without a choice, the clock is a flag like others.
        found.filter(|heading| *heading != CHOICE || chooses)
    };
    let arrange = |arg: Arg| {
        let heading = heading(&arg);
        arg.help_heading(heading)
    };
    command.mut_args(arrange).mut_subcommands(arranged)
}

fn heading(id: &str) -> Option<&'static str> {
    HEADINGS.iter().find_map(|(heading, ids)| ids.contains(&id).then_some(*heading))
}

/// Adds the list of commands by purpose, and the examples.
pub(super) fn described(command: Command) -> Command {
    let command = with_list(&list(&command), arranged(command));
    command.mut_subcommands(|command| {
        let mut notes =
            command.get_after_help().map(|note| format!("{note}\n\n")).unwrap_or_default();
        notes.push_str(&shown(examples(command.get_name())));
        command.after_help(notes.trim_end().to_owned())
    })
}

fn with_list(list: &str, command: Command) -> Command {
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\nOptions:\n{{options}}{{after-help}}"
    ))
}

/// Makes the help of `-h`, which fits on a screen: the flags of each command and the most frequent
/// ones of all, each in a few words.
pub(super) fn brief(command: Command) -> Command {
    let list = brief_list(&command);
    let template = format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{list}\n{SEE_MORE}\n");
    arranged(command).help_template(template).mut_subcommands(abridged)
}

fn abridged(command: Command) -> Command {
    let command = command.mut_subcommands(abridged);
    let is_shown = |arg: &&Arg| {
        let id = arg.get_id().as_str();
        !arg.is_hide_set()
            && heading(id).is_none_or(|heading| match heading {
                CHOICE => BRIEF_CHOICE.contains(&id),
                heading => !SHARED.contains(&heading),
            })
    };
    let shown: Vec<_> = command.get_arguments().filter(is_shown).collect();
    let (arguments, flags): (Vec<_>, Vec<_>) = shown.into_iter().partition(|it| it.is_positional());
    let is_choice = |arg: &&Arg| heading(arg.get_id().as_str()) == Some(CHOICE);
    let (choice, own): (Vec<_>, Vec<_>) = flags.into_iter().partition(is_choice);
    let short = |about: Option<&StyledStr>| {
        clause(&about.map(ToString::to_string).unwrap_or_default()).to_owned()
    };
    let below = command.get_subcommands().filter(|of| !of.is_hide_set());
    let below = below.map(|of| (of.get_name().to_owned(), short(of.get_about())));
    let of_args = |args: Vec<&Arg>| -> Vec<_> {
        args.into_iter().map(|arg| (spelt(arg), short(arg.get_help()))).collect()
    };
    let parts: [(_, Vec<_>); 4] = [
        ("Commands", below.collect()),
        ("Arguments", of_args(arguments)),
        ("Options", of_args(own)),
        (CHOICE, of_args(choice)),
    ];
    let mut text = String::new();
    for (heading, part) in parts.iter().filter(|(_, part)| !part.is_empty()) {
        let widths = part.iter().map(|(name, _)| name.len()).filter(|width| *width <= NAMES);
        rows(heading, part, widths.max().unwrap_or_default(), &mut text);
    }
    let template = format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{text}\n{SEE_MORE}\n");
    command.help_template(template)
}

/// How an argument is written: `-o, --output <FILE>`.
pub(super) fn spelt(arg: &Arg) -> String {
    let names = arg.get_value_names().into_iter().flatten();
    let takes_value = arg.is_positional() || arg.get_action().takes_values();
    let value = names.filter(|_| takes_value).map(|name| format!(" <{name}>")).collect::<String>();
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{value}"),
        (None, Some(long)) => format!("    --{long}{value}"),
        (Some(short), None) => format!("-{short}{value}"),
        (None, None) => value.trim_start().to_owned(),
    }
}

/// The widest column of names in a brief help. The description of a longer one begins behind it.
const NAMES: usize = 30;

/// Writes arguments or commands below a heading, each with its description.
fn rows(heading: &str, rows: &[(String, String)], width: usize, text: &mut String) {
    // Writing into a string does not fail.
    let _ = writeln!(text, "{heading}:");
    for (name, about) in rows {
        let taken = width.max(name.len()) + 4;
        let lines = wrapped(about, WIDTH - taken).join(&format!("\n{:1$}", "", taken));
        let _ = writeln!(text, "{}", format!("  {name:width$}  {lines}").trim_end());
    }
}

/// The beginning of a description, which says what it is about. A condition in front belongs to it.
fn clause(text: &str) -> &str {
    let is_condition = ["After ", "For ", "With "].into_iter().any(|it| text.starts_with(it));
    let skipped = match text.find([':', ',']) {
        Some(at) if is_condition => at + 2,
        _ => 0,
    };
    let rest = &text[skipped..];
    let end = ["; ", ": ", ", ", " ("].into_iter().filter_map(|end| rest.find(end)).min();
    end.map_or(text, |end| &text[..skipped + end])
}

pub(super) fn examples(command: &str) -> &'static [(&'static str, &'static str)] {
    EXAMPLES.iter().find(|(name, _)| *name == command).map_or(&[], |(_, examples)| examples)
}

/// Writes each example below its purpose.
fn shown(examples: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (index, (line, purpose)) in examples.iter().enumerate() {
        text.push_str(if index == 0 { "Examples:\n" } else { "" });
        // Writing into a string does not fail.
        let _ = writeln!(text, "  # {purpose}\n  {line}");
    }
    text
}

/// Lists the commands by purpose. Commands without a purpose come last.
fn list(command: &Command) -> String {
    let named: Vec<_> = named().collect();
    let others = command.get_subcommands().filter(|of| !of.is_hide_set());
    let others: Vec<_> =
        others.map(Command::get_name).filter(|name| !named.contains(name)).collect();
    let all = PURPOSES.iter().copied().chain([("Others", &*others)]);
    let mut text = String::new();
    for (purpose, names) in all.filter(|(_, names)| !names.is_empty()) {
        commands(command, purpose, names, |about| about, &mut text);
        text.push('\n');
    }
    text.truncate(text.trim_end().len() + 1);
    text
}

/// Lists the commands by purpose in few lines, those that are rarely used by their names only.
fn brief_list(command: &Command) -> String {
    let mut text = String::new();
    for (purpose, names) in PURPOSES.iter().filter(|(purpose, _)| *purpose != MORE) {
        commands(command, purpose, names, clause, &mut text);
    }
    let rare = wrapped(&RARE.join(", "), WIDTH - 2).join("\n  ");
    // Writing into a string does not fail.
    let _ = writeln!(text, "{MORE}:\n  {rare}");
    text
}

/// The commands that have a purpose.
fn named() -> impl Iterator<Item = &'static str> {
    PURPOSES.iter().flat_map(|(_, names)| *names).copied()
}

/// Writes commands of one purpose, with what they do.
fn commands(
    command: &Command,
    purpose: &str,
    names: &[&str],
    shown: fn(&str) -> &str,
    text: &mut String,
) {
    let about = |name: &str| {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        about.map_or_else(|| "Print help for a command".to_owned(), ToString::to_string)
    };
    let described = names.iter().map(|&name| (name.to_owned(), shown(&about(name)).to_owned()));
    let width = named().map(str::len).max().unwrap_or_default();
    rows(purpose, &described.collect::<Vec<_>>(), width, text);
}

/// Wraps a text into lines that are at most this wide, unless a single word is wider.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The sections of a manual page behind its flags: examples and exit codes.
pub(super) fn sections(command: &str) -> Roff {
    let mut page = Roff::new();
    let examples = examples(command);
    if !examples.is_empty() {
        page.control("SH", ["EXAMPLES"]);
    }
    for (line, purpose) in examples {
        page.control("TP", []).text([bold(*line)]).text([roman(*purpose)]);
    }
    page.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in EXIT_CODES {
        page.control("TP", []).text([bold(code)]).text([roman(meaning)]);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::CommandLine;
    use clap::CommandFactory;

    #[test]
    fn descriptions_are_cut_where_they_become_long() {
        for (text, short) in [
            ("Write the plan to this file, all of it or nothing", "Write the plan to this file"),
            ("File of inputs (YAML), or `-`", "File of inputs"),
            (
                "For templates in YAML: leave out parts, and more",
                "For templates in YAML: leave out parts",
            ),
            ("Show all steps", "Show all steps"),
        ] {
            assert_eq!(clause(text), short);
        }
    }

    /// No heading is of an argument that no command has.
    #[test]
    fn headings_are_of_arguments() {
        fn ids(command: &Command, found: &mut Vec<String>) {
            found.extend(command.get_arguments().map(|arg| arg.get_id().to_string()));
            command.get_subcommands().for_each(|command| ids(command, found));
        }
        let mut found = Vec::new();
        ids(&CommandLine::command(), &mut found);
        for id in HEADINGS.iter().flat_map(|(_, ids)| *ids).chain(BRIEF_CHOICE) {
            assert!(found.iter().any(|known| known == id), "{id}");
        }
    }

    #[test]
    fn every_command_has_a_purpose_and_examples() {
        let command = CommandLine::command();
        for name in command.get_subcommands().filter(|of| !of.is_hide_set()).map(Command::get_name)
        {
            let listed = PURPOSES.iter().filter(|(_, names)| names.contains(&name)).count();
            assert_eq!(
                listed, 1,
                "say in PURPOSES of src/cli/manual.rs what `{name}` is for, once"
            );
            assert!(
                !examples(name).is_empty(),
                "add examples of `{name}` to EXAMPLES in src/cli/manual.rs"
            );
        }
        let names = PURPOSES.iter().flat_map(|(_, names)| *names).filter(|name| **name != "help");
        for name in names.chain(EXAMPLES.iter().map(|(name, _)| name)) {
            assert!(command.find_subcommand(name).is_some(), "there is no `{name}`");
        }
    }
}
