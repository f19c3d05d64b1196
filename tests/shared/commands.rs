//! Runs the command, and reads its help.

use std::path::Path;
use std::process::{Command, Output};

/// Runs `cuvee` with the given words in a directory.
pub(crate) fn cuvee(directory: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cuvee")).args(words).current_dir(directory).output().unwrap()
}

/// What a run printed.
pub(crate) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn help(words: &[&str]) -> String {
    text(cuvee(Path::new("."), &[words, &["--help"]].concat()).stdout)
}

/// The names of all commands, from the list in the help in front of the flags.
pub(crate) fn commands() -> Vec<String> {
    let help = help(&[]);
    let (list, _) = help.split_once("\nOptions:\n").unwrap();
    let rows = list.lines().filter_map(|line| line.strip_prefix("  "));
    let names = rows.filter(|row| !row.starts_with(' ')).map(|row| row.split(' ').next().unwrap());
    let names: Vec<_> = names.filter(|name| *name != "help").map(str::to_owned).collect();
    assert!(names.len() > 15, "{names:?}");
    names
}

/// The help of a command.
pub(crate) fn help_of(command: &str) -> String {
    help(&[command])
}
