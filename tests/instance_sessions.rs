//! Instances as people use them, where things are not as they usually are: each directory of
//! `tests/instance/` with a session has commands, each above what it prints, which are run in a copy
//! of it. `UPDATE_DOCS=1` writes anew what they print. Times and digests stand there as `TIME` and
//! `DIGEST`.

#![cfg(all(unix, feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod folders;

use folders::copy;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn sessions() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/instance");
    let all = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = all.filter(|path| path.join("session.console").is_file()).collect();
    all.sort();
    all
}

/// What a line of a shell prints, and how it ends where that is not well.
fn run(line: &str, directory: &Path) -> String {
    let own = Path::new(env!("CARGO_BIN_EXE_cuvee")).parent().unwrap();
    let others = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {line}; }} 2>&1")])
        .env("PATH", format!("{}:{others}", own.display()))
        .env("CUVEE_STORE", "store")
        .env("USER", "ann")
        .current_dir(directory)
        .output()
        .unwrap();
    let mut text = steady(&String::from_utf8(output.stdout).unwrap());
    if !output.status.success() {
        writeln!(text, "[exit {}]", output.status.code().unwrap()).unwrap();
    }
    text
}

/// A text without what is another one each time.
fn steady(text: &str) -> String {
    let is_within = |c: char| c.is_ascii_alphanumeric() || "-:.".contains(c);
    let mut steady = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_within) {
        steady.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c| !is_within(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        let is_digest = word.len() >= 32 && word.chars().all(|c| c.is_ascii_hexdigit());
        let is_time = word.len() >= 20 && word.get(10..11) == Some("T") && word.ends_with('Z');
        steady.push_str(if is_digest {
            "DIGEST"
        } else if is_time {
            "TIME"
        } else {
            word
        });
        rest = &rest[end..];
    }
    steady + rest
}

#[test]
fn sessions_are_as_shown() {
    let sessions = sessions();
    assert!(sessions.len() > 6, "{sessions:?}");
    let mut wrong = String::new();
    for directory in sessions {
        let path = directory.join("session.console");
        let session = fs::read_to_string(&path).unwrap();
        let aside = tempfile::tempdir().unwrap();
        let place = aside.path().join("session");
        copy(&directory, &place);
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
