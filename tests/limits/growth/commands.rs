//! Tests that every command is measured on large templates, and goes through there.

#![cfg(feature = "cli")]

#[allow(dead_code, reason = "other tests read the help of one command")]
#[path = "../../shared/commands.rs"]
mod listed;
#[path = "../../../benches/templates/commands.rs"]
mod measured;

use listed::{commands, cuvee, text};
use measured::{COMMANDS, SHAPES};

/// What takes no template. The language server has a benchmark of its own.
const OTHERS: [&str; 4] = ["completions", "explain-code", "lsp", "man"];

#[test]
fn every_command_is_measured() {
    for command in commands().iter().filter(|name| !OTHERS.contains(&&***name)) {
        let is_measured = COMMANDS.iter().any(|line| line.split(' ').next() == Some(command));
        assert!(is_measured, "benches/templates/commands.rs has no line for `cuvee {command}`");
    }
}

#[test]
fn what_is_measured_goes_through() {
    for shape in &SHAPES {
        let directory = tempfile::tempdir().unwrap();
        shape.write(directory.path(), 40).unwrap();
        for line in COMMANDS {
            let output = cuvee(directory.path(), &line.split(' ').collect::<Vec<_>>());
            assert!(output.status.success(), "{}, {line}: {}", shape.name, text(output.stderr));
        }
    }
}
