//! Completion scripts and man pages, as packages bring them along.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "what is printed is text")]

use snapbox::cmd::{Command, cargo_bin};

fn cuvee(line: &str) -> Command {
    Command::new(cargo_bin!("cuvee")).args(line.split_whitespace())
}

fn stdout(line: &str) -> String {
    let assert = cuvee(line).assert().success().stderr_eq("");
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

/// As the help lists them.
fn commands() -> Vec<String> {
    let help = stdout("--help");
    let (_, list) = help.split_once("Commands:\n").unwrap();
    // What is further to the right goes on with a description.
    let lines =
        list.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names =
        lines.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

#[test]
fn every_shell_completes_every_command() {
    assert!(commands().contains(&"explain-code".to_owned()));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
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

/// Where bash is at hand, it is asked.
#[test]
fn bash_completes_a_flag() {
    let ask = "source /dev/stdin; COMP_WORDS=(cuvee diff --exit) COMP_CWORD=2; _cuvee cuvee --exit diff; echo \"${COMPREPLY[@]}\"";
    if std::process::Command::new("bash").arg("--version").output().is_ok() {
        let bash =
            Command::new("bash").args(["--norc", "-c", ask]).stdin(stdout("completions bash"));
        bash.assert().success().stdout_eq("--exit-code\n").stderr_eq("");
    }
}

#[test]
fn every_command_has_a_page() {
    let manual = stdout("man");
    assert!(manual.contains(".TH cuvee 1 "), "{manual}");
    for command in commands() {
        // Dashes that are meant to be typed are escaped.
        let name = format!("cuvee-{command}").replace('-', "\\-");
        assert!(manual.contains(&format!("{name}(1)")), "{command}");
        let page = stdout(&format!("man {command}"));
        assert!(page.contains(&format!(".TH cuvee-{command} 1 ")), "{page}");
        assert!(page.contains(&format!(".SH NAME\n{name} \\- ")), "{page}");
    }
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
