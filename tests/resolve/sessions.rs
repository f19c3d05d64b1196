//! Tests resolving as users see it. Each directory below `tests/resolve/` has templates and a
//! session of commands of a shell, each followed by its output. `UPDATE_DOCS=1` writes the output anew.

#![cfg(feature = "cli")]

use super::folders::copy;
use super::shown::{Place, hold, run_in_shell};
use std::fmt::Write;
use std::process::{Command, Stdio};

#[test]
fn sessions_are_as_shown() {
    hold("resolve", &Place::Copy(copy), |line, directory| run_in_shell(line, directory, &[]));
}

/// On a terminal, at most ten errors of one kind are shown, and then how many there are.
#[test]
fn a_terminal_shows_ten_of_a_kind() {
    let mut template =
        "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n"
            .to_owned();
    for number in 0..401 {
        writeln!(template, "    n{number}: {{ type: Unknown }}").unwrap();
    }
    let at = tempfile::tempdir().unwrap();
    std::fs::write(at.path().join("template.yaml"), template).unwrap();
    // A terminal of the system, with the command on its other side.
    let program = "\
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
try:
    while part := os.read(terminal, 65536):
        os.write(1, part)
except OSError:
    pass
os.waitpid(child, 0)
";
    let terminal = Command::new("python3")
        .args(["-c", program, env!("CARGO_BIN_EXE_cuvee"), "--color", "never", "validate"])
        .arg("template.yaml")
        .current_dir(at.path())
        .stdin(Stdio::null())
        .output();
    let piped = Command::new(env!("CARGO_BIN_EXE_cuvee"))
        .args(["validate", "template.yaml"])
        .current_dir(at.path())
        .output()
        .unwrap();
    let count = |text: &[u8]| String::from_utf8_lossy(text).matches("error[unknown-type]").count();
    assert_eq!(count(&piped.stderr), 401);
    // Where there is no Python, there is no terminal to ask.
    let Ok(shown) = terminal else { return };
    let text = String::from_utf8_lossy(&shown.stdout);
    assert_eq!(count(&shown.stdout), 10, "{text}");
    assert!(text.contains("note: 391 more of `unknown-type`: `2>&1 | less`"), "{text}");
    assert!(text.contains("error: 401 errors"), "{text}");
}
