//! Tests the completion scripts and man pages that packages contain.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "what is printed is text")]

use crate::commands::{commands, cuvee as run, help_of, text};
use crate::folders::copy;
use snapbox::cmd::{Command, cargo_bin};
use std::fs;
use std::path::Path;

fn cuvee(line: &str) -> Command {
    Command::new(cargo_bin!("cuvee")).args(line.split_whitespace())
}

fn stdout(line: &str) -> String {
    let assert = cuvee(line).assert().success().stderr_eq("");
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

#[test]
fn every_shell_completes_every_command() {
    assert!(commands().contains(&"explain-code".to_owned()));
    // The scripts of the other shells ask the command; `tests/project/completions.rs` tests them.
    for shell in ["elvish", "powershell"] {
        let script = stdout(&format!("completions {shell}"));
        for word in commands().iter().map(String::as_str).chain(["exit-code", "message-format"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    cuvee("completions tcsh")
        .assert()
        .code(2)
        .stdout_eq("")
        .stderr_eq("...\n[..]bash, elvish, fish, powershell, zsh[..]\n...\n");
}

#[test]
fn every_command_has_a_page() {
    let manual = stdout("man");
    assert!(manual.contains(".TH cuvee 1 "), "{manual}");
    for command in commands() {
        // Dashes that users type are escaped in man pages.
        let name = format!("cuvee-{command}").replace('-', "\\-");
        assert!(manual.contains(&format!("{name}(1)")), "{command}");
        let page = stdout(&format!("man {command}"));
        assert!(page.contains(&format!(".TH cuvee-{command} 1 ")), "{page}");
        assert!(page.contains(&format!(".SH NAME\n{name} \\- ")), "{page}");
        assert!(page.contains("\n.SH EXAMPLES\n"), "{page}");
        assert!(page.contains("\n.SH \"EXIT STATUS\"\n"), "{page}");
    }
    for (command, name) in [("instance init", "init"), ("instance edit", "edit")] {
        let page = stdout(&format!("man {command}"));
        assert!(page.contains(&format!(".TH cuvee-instance-{name} 1 ")), "{page}");
        assert!(page.contains("\n.SH OPTIONS\n"), "{page}");
        assert!(!page.contains("\n.SH EXAMPLES\n"), "{page}");
        assert!(stdout("man instance").contains(&format!("cuvee\\-instance\\-{name}(1)")));
    }
    cuvee("man instance inot")
        .assert()
        .failure()
        .stdout_eq("")
        .stderr_eq("error[usage]: `instance` has no command `inot`\n...\n");
    cuvee("man dif")
        .assert()
        .code(2)
        .stdout_eq("")
        .stderr_eq("error: [..]did you mean `diff`?\n...\n");
    cuvee("man help")
        .assert()
        .code(2)
        .stdout_eq("")
        .stderr_eq("error: [..]`cuvee --help` lists the commands\n...\n");
}

/// The examples in the man page of a command: between two headings, in bold.
fn examples_in_page(command: &str) -> Vec<String> {
    let page = stdout(&format!("man {command}"));
    let (_, rest) = page.split_once(".SH EXAMPLES\n").unwrap();
    let (section, _) = rest.split_once(".SH ").unwrap();
    let bold = section.lines().filter_map(|line| line.strip_prefix("\\fB")?.strip_suffix("\\fR"));
    bold.map(|line| line.replace("\\-", "-").replace("\\*(Aq", "'").replace("\\\\", "\\")).collect()
}

/// The examples in the help of a command.
fn examples_in_help(command: &str) -> Vec<String> {
    let help = help_of(command);
    let lines = help.lines().filter_map(|line| line.strip_prefix("  cuvee "));
    lines.filter(|_| help.contains("Examples:\n")).map(|line| format!("cuvee {line}")).collect()
}

const PLAIN: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types: { Service: {} }
topology_template:
  node_templates:
    service: { type: Service, technology: ansible }
";

const MACHINES: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template: { node_templates: { box: { type: tosca.nodes.Compute } } }
";

/// A directory with the files that the examples use: `shop`, and others beside it.
fn workplace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["shop", "guestbook"] {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
        copy(&example, &dir.path().join(name));
    }
    let without = PLAIN.replace(", technology: ansible", "");
    let files = [
        ("choice.yaml", "visitors: 7000\n"),
        ("machines.yaml", MACHINES),
        ("old.yaml", &without),
        ("new.yaml", &without),
        ("plain.yaml", PLAIN),
        ("qualities.yaml", "- { technology: ansible, component: Service }\n"),
    ];
    files.iter().for_each(|(name, text)| fs::write(dir.path().join(name), text).unwrap());
    for name in ["kiosk.tosca", "kiosk.yaml"] {
        let kiosk = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
        fs::copy(kiosk, dir.path().join(name)).unwrap();
    }
    dir
}

#[test]
fn examples_do_what_they_are_for() {
    let dir = workplace();
    for command in commands() {
        let examples = examples_in_page(&command);
        assert!(
            !examples.is_empty(),
            "add examples of `{command}` to EXAMPLES in src/cli/manual.rs"
        );
        assert_eq!(examples_in_help(&command), examples, "{command}");
        for line in examples {
            let words = crate::shell::words(&line);
            assert_eq!(words[..2], ["cuvee", &*command], "{line}");
            let words: Vec<_> = words[1..].iter().map(String::as_str).collect();
            let output = run(dir.path(), &words);
            assert!(output.status.success(), "{line}: {}", text(output.stderr));
        }
    }
}

#[test]
fn help_reads_well_in_eighty_columns() {
    for command in commands().iter().map(String::as_str).chain([""]) {
        let words = command.split_whitespace().chain(["--help"]);
        let help = std::process::Command::new(env!("CARGO_BIN_EXE_cuvee"))
            .args(words)
            .env("COLUMNS", "80")
            .output()
            .unwrap();
        let help = text(help.stdout);
        let wide: Vec<_> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "cuvee {command} --help: {wide:#?}");
    }
}
