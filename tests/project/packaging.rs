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

/// For each command that writes a file, a call of it.
const WRITING: &[(&str, &str)] = &[
    ("resolve", "resolve shop --preset prod"),
    ("substitute", "substitute shop --preset prod --inventory machines.yaml"),
    ("plan", "plan shop --preset prod"),
    ("plan", "plan shop --list"),
    ("graph", "graph shop"),
    ("report", "report shop"),
    ("assign", "assign plain.yaml"),
    ("convert", "convert kiosk.tosca"),
    ("convert", "convert kiosk.tosca --to xml"),
    ("enrich", "enrich shop"),
    ("export", "export shop"),
    ("import", "import shop.uvl"),
    ("init", "init old.yaml"),
    ("instance plan", "instance plan site"),
    ("instance show", "instance show site"),
    ("instance show", "instance show site shop"),
    ("instance query", "instance query site nodes/*/state"),
    ("instance export", "instance export site"),
];

/// Whether a file holds what its ending says.
fn is_what_it_is_called(path: &Path) -> bool {
    let bytes = fs::read(path).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
    match path.extension().unwrap().to_str().unwrap() {
        "svg" => text.starts_with("<svg"),
        "html" => text.starts_with("<!doctype html>"),
        "dot" => text.starts_with("digraph"),
        "mmd" => text.starts_with("flowchart"),
        "bpmn" | "xml" | "tosca" => text.starts_with('<') && !text.starts_with("<svg"),
        "json" => is_json(&text) || text.lines().all(is_json),
        "ndjson" => text.lines().all(is_json),
        "yaml" => {
            let starts = |it: &str| text.starts_with(it);
            let is_map = serde_yaml::from_str::<serde_yaml::Mapping>(&text).is_ok();
            is_map && !starts("{")
        }
        "mk" => text.contains(".PHONY"),
        "csar" | "zip" => text.starts_with("PK"),
        "cnf" | "wcnf" => text.lines().any(|line| line.starts_with("p ") || line.starts_with("h ")),
        "uvl" => text.lines().any(|line| line == "features"),
        _ => false,
    }
}

/// The ending of a file decides its format in every command, or the file is refused.
#[test]
fn files_are_what_they_are_called() {
    let dir = workplace();
    for line in ["export shop -o shop.uvl", "instance init site shop --preset dev"] {
        let words: Vec<_> = line.split(' ').collect();
        assert!(run(dir.path(), &words).status.success(), "{line}");
    }
    for command in commands() {
        let writes = help_of(&command).contains("--output <FILE");
        assert!(!writes || WRITING.iter().any(|(name, _)| *name == command), "add `{command}`");
    }
    let endings =
        "svg html dot mmd bpmn xml tosca json ndjson yaml mk csar zip cnf wcnf uvl png pdf csv";
    for (command, line) in WRITING {
        let mut written = 0;
        for ending in endings.split(' ') {
            let file = dir.path().join(format!("out.{ending}"));
            let words = line.split(' ').chain(["-o", file.to_str().unwrap()]);
            let output = run(dir.path(), &words.collect::<Vec<_>>());
            let said = text(output.stderr);
            if output.status.success() {
                assert!(is_what_it_is_called(&file), "{line} -o out.{ending}");
                fs::remove_file(&file).unwrap();
                written += 1;
            } else {
                assert!(said.contains("error[") && !file.exists(), "{line} {ending}: {said}");
            }
        }
        assert!(written > 0, "{command}");
    }
}

/// The lines of a screen.
const SCREEN: usize = 40;

/// `-h` fits on a screen, `--help` is the manual: both begin with what a command does, and shared
/// flags stand last.
#[test]
fn brief_help_is_a_screen() {
    let help = |words: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cuvee"));
        text(command.args(words).env("COLUMNS", "80").output().unwrap().stdout)
    };
    let instance = ["init", "plan", "run", "check", "record", "show", "query"];
    let below = instance.map(|name| format!("instance {name}"));
    for command in commands().into_iter().chain(below).chain([String::new()]) {
        let words: Vec<_> = command.split_whitespace().collect();
        let (brief, long) =
            (help(&[&words[..], &["-h"]].concat()), help(&[&words[..], &["--help"]].concat()));
        let lines = brief.lines().count();
        assert!(lines <= SCREEN, "cuvee {command} -h has {lines} lines:\n{brief}");
        // The usage is one line, however long.
        let wrapped = brief.lines().filter(|line| !line.starts_with("Usage: "));
        assert!(wrapped.into_iter().all(|line| line.chars().count() <= 80), "{brief}");
        assert!(lines < long.lines().count(), "{command}");
        let headings: Vec<_> =
            long.lines().filter(|line| line.ends_with(':') && !line.starts_with(' ')).collect();
        let at = |heading: &str| headings.iter().position(|line| *line == heading);
        let last = ["Choice:", "Time:", "Messages:"].map(at);
        let known: Vec<_> = last.into_iter().flatten().collect();
        assert!(known.is_sorted(), "{command}: {headings:?}");
        let own = headings.iter().position(|line| *line == "Options:").unwrap();
        assert!(known.iter().all(|shared| *shared > own), "{command}: {headings:?}");
    }
    let begin = help(&["--help"]);
    let rows = begin.lines().filter_map(|line| line.strip_prefix("  "));
    let rows = rows.filter(|row| !row.starts_with(' '));
    let names: Vec<_> = rows.map(|row| row.split(' ').next().unwrap()).take(4).collect();
    assert_eq!(names, ["init", "resolve", "validate", "explain"]);
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
