//! Tests completion in real shells. A shell that is not installed is skipped with a message on
//! standard error, unless the environment variable `CUVEE_SHELLS=required` demands all of them.

#![cfg(all(feature = "cli", unix))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on fails"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Each line up to the cursor, with what each shell makes of its last word by completing it. A
/// blank at the end means that the word is finished.
const COMPLETED: &[(&str, &str)] = &[
    ("cuvee valida", "validate "),
    ("cuvee resolve shop --accept", "--accept-unproven "),
    ("cuvee resolve shop --message-format=j", "--message-format=json "),
    ("cuvee matrix shop --format mark", "markdown "),
    // Presets
    ("cuvee resolve shop --preset ed", "edge "),
    ("cuvee resolve shop --preset dev,ed", "dev,edge "),
    ("cuvee resolve shop --preset=ed", "--preset=edge "),
    ("cuvee diff shop --from ed", "edge "),
    // Inputs and their values
    ("cuvee resolve shop --input durable", "durable_orders="),
    ("cuvee resolve shop --input durable_orders=t", "durable_orders=true "),
    ("cuvee resolve shop -i stack=cl", "stack=cluster "),
    // Options and their values
    ("cuvee resolve shop --option optimization_topology_m", "optimization_topology_mode="),
    (
        "cuvee resolve shop --option optimization_topology_mode=c",
        "optimization_topology_mode=count ",
    ),
    // Elements, codes, types
    ("cuvee explain shop node.bro", "node.broker "),
    ("cuvee explain-code unsat", "unsatisfiable "),
    ("cuvee types shop shop.nodes.Serv", "shop.nodes.Service "),
    // A template that is wrong
    ("cuvee resolve wrong.yaml --preset on", "only "),
    ("cuvee explain wrong.yaml node.alo", "node.alone "),
    // Words that a shell takes for more than one
    ("cuvee resolve wrong.yaml --preset tw", "two\\ words "),
    // Paths
    ("cuvee resolve wron", "wrong.yaml "),
    ("cuvee resolve shop --inputs wron", "wrong.yaml "),
];

/// Lines for which no shell completes anything or prints a message.
const SILENT: &[&str] = &[
    "cuvee resolve broken.yaml --preset x",
    "cuvee explain broken.yaml node.x",
    "cuvee resolve nowhere --preset x",
    "cuvee resolve shop --timeout x",
];

const WRONG: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    presets: { only: { inputs: { nobody: 1 } }, two words: {} }
  node_templates:
    alone: { type: T, conditions: { node_presence: nobody }, propertys: 1 }
";

/// A directory with the example, wrong templates, scripts, and the command as `bin/cuvee`.
fn workplace() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shop");
    fs::create_dir_all(path("shop/lib")).unwrap();
    for from in [shop.clone(), shop.join("lib")] {
        let to = dir.path().join("shop").join(from.strip_prefix(&shop).unwrap());
        for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
            if entry.path().is_file() {
                fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
            }
        }
    }
    fs::write(path("wrong.yaml"), WRONG).unwrap();
    fs::write(path("broken.yaml"), "a: [").unwrap();
    fs::create_dir(path("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_cuvee"), path("bin/cuvee")).unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script =
            Command::new(env!("CARGO_BIN_EXE_cuvee")).args(["completions", shell]).output();
        fs::write(path(&format!("_{shell}")), script.unwrap().stdout).unwrap();
    }
    dir
}

/// The output of a script in a shell; `None` where the shell is not installed.
fn ask(shell: &str, flags: &[&str], script: &str, dir: &Path) -> Option<String> {
    let path = format!("{}:{}", dir.join("bin").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(shell);
    command.args(flags).args(["-c", script]).current_dir(dir).env("PATH", path).env("HOME", dir);
    let Output { status, stdout, stderr } = match command.output() {
        Ok(output) => output,
        Err(error) if std::env::var("CUVEE_SHELLS").is_ok_and(|value| value == "required") => {
            panic!("{shell}: {error}")
        }
        Err(error) => {
            eprintln!("completion in {shell} is NOT tested: {error}");
            return None;
        }
    };
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success() && stderr.is_empty(), "{shell}: {stderr}");
    Some(String::from_utf8(stdout).unwrap())
}

/// Each line, with the expected completion.
fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    COMPLETED.iter().copied().chain(SILENT.iter().map(|line| (*line, "")))
}

fn quoted(line: &str) -> String {
    format!("'{line}'")
}

#[test]
fn bash_completes() {
    let dir = workplace();
    // Readline calls the function like this: words end at `=`, too, and only the last one is
    // replaced.
    let script = r#"
source ./_bash
compopt() { [[ $* == *nospace* ]] && blank=; return 0; }
ask() {
    COMP_LINE=$1 COMP_POINT=${#1} blank=' '
    local kept="${1##* }"; kept="${kept%"${kept##*[=:]}"}"
    local current="${1##* }"; current="${current#"$kept"}"
    _cuvee cuvee "$current" ''
    ((${#COMPREPLY[@]} == 1)) && echo "$kept${COMPREPLY[0]}$blank" || echo "${COMPREPLY[*]}"
}
"#;
    let asks: String = lines().map(|(line, _)| format!("ask {}\n", quoted(line))).collect();
    let script = format!("{script}{asks}");
    let Some(said) = ask("bash", &["--norc", "--noprofile"], &script, dir.path()) else { return };
    for ((line, expected), said) in lines().zip(said.lines()) {
        assert_eq!(said, expected, "{line}");
    }
    assert_eq!(said.lines().count(), lines().count());
}

#[test]
fn fish_completes() {
    let dir = workplace();
    let asks: String = lines()
        .map(|(line, _)| format!("complete --do-complete {}; echo =\n", quoted(line)))
        .collect();
    let script = format!("source ./_fish\n{asks}");
    let Some(said) = ask("fish", &["--no-config"], &script, dir.path()) else { return };
    let answers: Vec<_> = said.split("=\n").collect();
    for ((line, expected), said) in lines().zip(answers) {
        // fish adds quotes itself, and finishes every word that does not end with `=`.
        let word = said.split(['\t', '\n']).next().unwrap_or_default();
        assert_eq!(word, expected.trim_end().replace('\\', ""), "{line}: {said}");
        assert!(said.lines().count() <= 1, "{line}: {said}");
    }
}

#[test]
fn zsh_completes() {
    let dir = workplace();
    // A terminal in which one key completes the line and another one writes it down.
    let script = r#"
zmodload zsh/zpty
zpty terminal zsh -f -i
tell() { zpty -w terminal "$1"; }
tell 'stty -echo; PS1= PROMPT_EOL_MARK= ; autoload -Uz compinit; compinit -u -D; source ./_zsh; setopt noautoremoveslash
write() { print -r -- "$BUFFER" >> said; BUFFER=; }; zle -N write; bindkey "^X" write; bindkey "^I" complete-word; unsetopt autolist automenu listambiguous beep; touch ready'
until [[ -e ready ]]; do sleep 0.05; done
ask() {
    zpty -n -w terminal "$1"$'\t\x18'
    local tries=0
    until [[ -e said && $(wc -l < said) -ge $2 ]] || ((tries++ > 400)); do zpty -r -t terminal drained; sleep 0.05; done
}
"#;
    let asks: String = lines()
        .enumerate()
        .map(|(at, (line, _))| format!("ask {} {}\n", quoted(line), at + 1))
        .collect();
    let script = format!("{script}{asks}zpty -d terminal; cat said");
    let Some(said) = ask("zsh", &["-f"], &script, dir.path()) else { return };
    for ((line, expected), said) in lines().zip(said.lines()) {
        let (before, word) = line.rsplit_once(' ').unwrap();
        let expected = if expected.is_empty() { word } else { expected };
        assert_eq!(said, format!("{before} {expected}"), "{line}");
    }
    assert_eq!(said.lines().count(), lines().count());
}
