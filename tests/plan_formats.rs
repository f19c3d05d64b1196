//! Plans as others run and read them: the makefile keeps the order of the plan, whatever runs side
//! by side, and the workflow is one that the template may have.

#![expect(clippy::unwrap_used)]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan")
}

fn cuvee(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuvee"));
    command.arg("plan").args(words).current_dir(root()).output().unwrap()
}

fn text(words: &[&str]) -> String {
    let output = cuvee(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What is planned in these tests.
fn plans() -> Vec<Vec<&'static str>> {
    let mut plans = Vec::new();
    for case in [
        "01-software-on-a-machine",
        "02-connection-with-every-operation",
        "03-two-on-one-host",
        "04-diamond",
        "10-delegation",
        "formats",
    ] {
        let template: &str = Box::leak(format!("{case}/template.yaml").into_boxed_str());
        for workflow in ["deploy", "undeploy"] {
            plans.push(vec![template, workflow]);
        }
    }
    plans
}

/// Plans that no workflow of a template can say.
fn updates() -> Vec<Vec<&'static str>> {
    let to = |to, more: &[&'static str]| {
        [&["--from", "adaptation/template.yaml", "--to", to], more].concat()
    };
    vec![
        to("adaptation/recreated.yaml", &[]),
        to("adaptation/moved-host.yaml", &["--removals-first"]),
    ]
}

/// For each step that runs something all those that have to be over before, by the JSON of the plan.
fn waits(words: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let plan: Value =
        serde_json::from_str(&text(&[words, &["--format", "json"]].concat())).unwrap();
    let mut before: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut runs = BTreeSet::new();
    for step in plan["steps"].as_array().unwrap() {
        let id = step["id"].as_str().unwrap().to_owned();
        let mut all = BTreeSet::new();
        for wait in step["after"].as_array().unwrap() {
            let wait = wait.as_str().unwrap();
            all.insert(wait.to_owned());
            all.extend(before[wait].iter().cloned());
        }
        if step.get("implementation").is_some() || step["kind"] == "delegate" {
            runs.insert(id.clone());
        }
        before.insert(id, all);
    }
    before.retain(|id, _| runs.contains(id));
    before.values_mut().for_each(|all| all.retain(|id| runs.contains(id)));
    before
}

/// What is wrong with what happened: lines `start STEP` and `end STEP`.
fn violations(waits: &BTreeMap<String, BTreeSet<String>>, log: &str) -> Vec<String> {
    let (mut done, mut begun, mut wrong) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for line in log.lines() {
        let (what, step) = line.split_once(' ').unwrap();
        if what == "end" {
            done.insert(step.to_owned());
            continue;
        }
        if !begun.insert(step) {
            wrong.push(format!("{step} runs twice"));
        }
        match waits.get(step) {
            None => wrong.push(format!("{step} is no step")),
            Some(before) => wrong.extend(
                before.difference(&done).map(|wait| format!("{step} does not wait for {wait}")),
            ),
        }
    }
    let missing = waits.keys().filter(|step| !done.contains(*step));
    wrong.extend(missing.map(|step| format!("{step} does not run")));
    wrong
}

/// Runs the makefile of a plan side by side, and says what happened.
fn made(words: &[&str], directory: &Path) -> String {
    let makefile = directory.join("plan.mk");
    let run = directory.join("run.sh");
    let log = directory.join("log");
    // A line is written at once, whoever else writes.
    let script = "echo \"start $1/$2\" >>\"$LOG\"; sleep 0.02; echo \"end $1/$2\" >>\"$LOG\"\n";
    fs::write(&run, script).unwrap();
    fs::write(&log, "").unwrap();
    let _ = text(&[words, &["-o", makefile.to_str().unwrap()]].concat());
    let output = Command::new("make")
        .args(["-j8", "-f"])
        .arg(&makefile)
        .arg(format!("RUN=sh {}", run.display()))
        .env("LOG", &log)
        .env("SECRET_1", "s")
        .env_remove("MAKEFLAGS")
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(&log).unwrap()
}

#[test]
fn makefiles_run_side_by_side_keep_the_order_of_the_plan() {
    for words in plans().into_iter().chain(updates()) {
        let waits = waits(&words);
        let directory = tempfile::tempdir().unwrap();
        let log = made(&words, directory.path());
        assert_eq!(violations(&waits, &log), [] as [String; 0], "{words:?}:\n{log}");
        if waits.values().all(BTreeSet::is_empty) {
            continue;
        }
        // What is asked of it can be violated.
        let reversed: Vec<_> = log.lines().rev().collect();
        assert_ne!(violations(&waits, &reversed.join("\n")), [] as [String; 0], "{words:?}");
    }
}

/// What `printf` was told in a makefile with names and values that mean something to make and shells.
#[test]
fn makefiles_tell_commands_what_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let makefile = directory.path().join("plan.mk");
    fs::write(&makefile, text(&["formats/template.yaml", "--format", "make"])).unwrap();
    let run = |secret: Option<&str>| {
        let mut command = Command::new("make");
        command.arg("-f").arg(&makefile).arg("RUN=printf '<%s>'").env_remove("SECRET_1");
        command.envs(secret.map(|secret| ("SECRET_1", secret)));
        command.output().unwrap()
    };
    let told = String::from_utf8(run(Some("it's $HOME")).stdout).unwrap();
    for word in [
        "<node.web shop><create><create.sh>",
        "<motto=it's \"here\": $HOME $(shell date) #1>",
        "<lines=one\n\ttwo\n>",
        "<ports=[80,443]>",
        "<password=it's $HOME>",
    ] {
        assert!(told.contains(word), "{word}\n{told}");
    }
    let unset = run(None);
    assert!(!unset.status.success());
    assert!(String::from_utf8_lossy(&unset.stderr).contains("SECRET_1"));
}

/// The template with the workflow in it is valid, and so says the whole order of the plan.
#[test]
fn workflows_are_valid_in_their_template() {
    for words in plans() {
        let workflow = text(&[&words[..], &["--format", "yaml"]].concat());
        let template = fs::read_to_string(root().join(words[0])).unwrap();
        let indented: String = workflow.lines().map(|line| format!("  {line}\n")).collect();
        let whole = format!("{}\n{indented}", template.trim_end());
        assert_eq!(problems(&whole), problems(&template), "{words:?}\n{indented}");
    }
    let unknown = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  workflows: {a: {steps: {b: {target: c, activities: [{set_state: started}]}}}}\n";
    assert_eq!(problems(unknown).len(), 1);
}

/// What is wrong with a template.
fn problems(template: &str) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("template.yaml");
    fs::write(&file, template).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuvee"));
    let output = command.arg("validate").arg(&file).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let is_problem = |line: &&str| line.starts_with("error[") || line.starts_with("warning[");
    said.lines().filter(is_problem).map(str::to_owned).collect()
}

#[test]
fn workflows_say_which_plans_they_cannot_be() {
    for (words, said) in [
        (updates().remove(0), "no workflow leads from one variant to another"),
        (vec!["formats/twins.yaml"], "no workflow tells the relations `peer` of `web` apart"),
    ] {
        let output = cuvee(&[&words[..], &["--format", "yaml"]].concat());
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(said), "{stderr}");
    }
}
