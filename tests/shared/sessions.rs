//! Runs sessions: directories with a `session.console` of commands, each followed by what it
//! prints. `UPDATE_DOCS=1` writes their output anew.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The directories below one of `tests` that contain a session.
fn directories(below: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(below);
    let all = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = all.filter(|path| path.join("session.console").is_file()).collect();
    all.sort();
    all
}

/// The directory in which a session runs.
#[allow(dead_code, reason = "each test has its own")]
pub(crate) enum Place {
    /// Its own directory, which it does not change.
    There,
    /// A copy of its directory, made by the function.
    Copy(fn(&Path, &Path)),
}

/// Runs all sessions below a directory of `tests`, and asserts that they show the output that `run`
/// gives for each of their lines, which are those behind `$ `.
pub(crate) fn hold(below: &str, place: &Place, run: impl Fn(&str, &Path) -> String) {
    let (directories, mut wrong) = (directories(below), String::new());
    assert!(!directories.is_empty(), "{below}");
    for directory in directories {
        let path = directory.join("session.console");
        let session = fs::read_to_string(&path).unwrap();
        let aside = tempfile::tempdir().unwrap();
        let place = match place {
            Place::There => directory,
            Place::Copy(copy) => {
                let place = aside.path().join("session");
                copy(&directory, &place);
                place
            }
        };
        let mut now = String::new();
        for line in session.lines().filter_map(|line| line.strip_prefix("$ ")) {
            writeln!(now, "$ {line}").unwrap();
            now.push_str(&run(line, &place));
        }
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, &now).unwrap();
        } else if now != session {
            writeln!(wrong, "{}:\n--- is\n{now}--- should be\n{session}", path.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What a command prints, and how it exits where that is not with success.
pub(crate) fn printed(output: Output) -> String {
    let mut text = String::from_utf8(output.stdout).unwrap();
    text.push_str(&String::from_utf8(output.stderr).unwrap());
    if !output.status.success() {
        writeln!(text, "[exit {}]", output.status.code().unwrap()).unwrap();
    }
    without_durations(&text)
}

/// A text without how long steps took, which is told of those that took longer than a second.
fn without_durations(text: &str) -> String {
    let mut parts = text.split(" after ");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(" s") {
            Some((seconds, rest)) if seconds.contains('.') && seconds.parse::<f64>().is_ok() => {
                kept.push_str(rest);
            }
            _ => {
                kept.push_str(" after ");
                kept.push_str(part);
            }
        }
    }
    kept
}

/// The output of a line that calls cuvee, without a shell; `{root}` in it is the directory of the
/// package.
#[allow(dead_code, reason = "not every test does without a shell")]
pub(crate) fn run(line: &str, directory: &Path) -> String {
    let words = line.strip_prefix("cuvee ").unwrap().split_whitespace();
    let root = env!("CARGO_MANIFEST_DIR");
    let words = words.map(|word| word.replace("{root}", root).replace('\'', ""));
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuvee"));
    printed(command.args(words).current_dir(directory).output().unwrap()).replace(root, "{root}")
}

/// The output of a line of a shell, which finds cuvee and has these variables, and how it exits
/// where that is not with success.
#[allow(dead_code, reason = "not every test needs a shell")]
pub(crate) fn run_in_shell(line: &str, directory: &Path, variables: &[(&str, &str)]) -> String {
    let own = Path::new(env!("CARGO_BIN_EXE_cuvee")).parent().unwrap();
    let others = std::env::var("PATH").unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{{ {line}; }} 2>&1")]).current_dir(directory);
    shell.envs(variables.iter().copied()).env("PATH", format!("{}:{others}", own.display()));
    printed(shell.output().unwrap())
}
