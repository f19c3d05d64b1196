//! Tests plans as other programs run and read them: the makefile and the process keep the order of
//! the plan, whatever runs in parallel, and the template accepts the workflow.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use crate::bpmn::{Order, Process, Rules};
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

/// The plans that the tests use.
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

/// Plans that cannot be written as a workflow of a template.
fn updates() -> Vec<Vec<&'static str>> {
    let to = |to, more: &[&'static str]| {
        [&["--from", "adaptation/template.yaml", "--to", to], more].concat()
    };
    vec![
        to("adaptation/recreated.yaml", &[]),
        to("adaptation/moved-host.yaml", &["--removals-first"]),
    ]
}

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&text(&[words, &["--format", "json"]].concat())).unwrap()
}

/// For each step that runs something, the steps that have to be over before, by the JSON of the
/// plan.
fn waits(words: &[&str]) -> Order {
    let plan = json(words);
    crate::bpmn::waits(&plan, &crate::bpmn::runs(&plan))
}

/// The violations of the order in a log of lines `start STEP` and `end STEP`.
fn violations(waits: &Order, log: &str) -> Vec<String> {
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

/// Runs the makefile of a plan in parallel, and gives the log.
fn made(words: &[&str], directory: &Path) -> String {
    let makefile = directory.join("plan.mk");
    let run = directory.join("run.sh");
    let log = directory.join("log");
    // Each line is written at once, even while others write.
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
        // Run backwards, the order is violated, so the check does find violations.
        let reversed: Vec<_> = log.lines().rev().collect();
        assert_ne!(violations(&waits, &reversed.join("\n")), [] as [String; 0], "{words:?}");
    }
}

/// The words that `printf` receives from a makefile whose names and values have special characters
/// of make and shells.
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
    // What is done does not run again.
    assert!(run(None).status.success());
    fs::remove_dir_all(directory.path().join("plan.mk.stamps")).unwrap();
    let unset = run(None);
    assert!(!unset.status.success());
    assert!(String::from_utf8_lossy(&unset.stderr).contains("SECRET_1"));
}

/// The template with the workflow is valid, and its plan has the whole order of the original plan.
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

/// The errors in a template.
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
        (
            updates().remove(0),
            "an update from one variant to another cannot be written as a workflow",
        ),
        (vec!["formats/twins.yaml"], "a workflow cannot tell the relations `peer` of `web` apart"),
    ] {
        let output = cuvee(&[&words[..], &["--format", "yaml"]].concat());
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(said), "{stderr}");
    }
}

/// Plans of workflows that the author of a template wrote.
fn written() -> Vec<Vec<&'static str>> {
    vec![
        vec!["03-two-on-one-host/imperative.yaml", "deploy"],
        vec!["05-order-of-steps/template.yaml", "example"],
        vec!["06-inlining/template.yaml", "outer"],
        vec!["08-failure/template.yaml", "backup", "-w", "to=s3"],
        vec!["08-failure/template.yaml", "nightly"],
        vec!["09-filter/template.yaml", "filtered"],
        vec!["09-filter/template.yaml", "around"],
        vec!["12-combination/template.yaml", "redeploy"],
        vec!["processes/template.yaml", "keep"],
        vec!["processes/template.yaml", "anyway"],
        vec!["processes/template.yaml", "whole"],
        vec!["processes/template.yaml", "nothing"],
    ]
}

fn process(words: &[&str]) -> Process {
    Process::read(&text(&[words, &["--format", "bpmn"]].concat()))
}

/// A process, played as the specification of BPMN says, does the steps of the plan in its order,
/// whether conditions hold or not.
#[test]
fn processes_keep_the_order_of_the_plan() {
    for words in plans().into_iter().chain(updates()).chain(written()) {
        let (plan, process) = (json(&words), process(&words));
        assert!(process.steps().is_superset(&crate::bpmn::runs(&plan)), "{words:?}");
        for is_unmet in [false, true] {
            let rules = Rules { is_unmet, ..Rules::default() };
            let played = process.play(rules);
            assert_eq!((&*played.ends, played.left), (&["done".to_owned()][..], 0), "{words:?}");
            assert_eq!(process.order(rules), crate::bpmn::waits(&plan, &played.done), "{words:?}");
        }
    }
}

#[test]
fn processes_begin_only_where_all_holds() {
    let process = process(&["processes/template.yaml", "careful"]);
    let all = process.play(Rules::default());
    assert_eq!((all.done.len(), &*all.ends), (7, &["done".to_owned()][..]));
    let none = process.play(Rules { is_unmet: true, ..Rules::default() });
    assert_eq!((none.done.len(), &*none.ends), (0, &["refused".to_owned()][..]));
}

/// The steps that a process does where one step fails.
fn failing(words: &[&str], step: &str) -> Vec<String> {
    let (plan, process) = (json(words), process(words));
    let rules = Rules { fails: Some(step), ..Rules::default() };
    let played = process.play(rules);
    assert_eq!(played.ends, ["failed"], "{words:?} {step}");
    // The order is that of the plan. What handles the failure does not wait in the plan for the
    // steps before it, so such pairs are left out.
    let usual = process.play(Rules::default()).done;
    let mut order = process.order(rules);
    for (step, before) in &mut order {
        before.retain(|it| usual.contains(it) == usual.contains(step));
    }
    assert_eq!(order, crate::bpmn::waits(&plan, &played.done), "{words:?} {step}");
    played.done.into_iter().collect()
}

#[test]
fn processes_handle_failures() {
    let backup = ["08-failure/template.yaml", "backup", "-w", "to=s3"];
    assert_eq!(failing(&backup, "step.backup_step/1"), ["step.rollback_step/0"]);
    let keep = ["processes/template.yaml", "keep"];
    let undone = |more: &[&str]| {
        let undo = ["node.<attic>", "node.書庫"].map(|node| format!("step.undo/0/{node}"));
        let more = more.iter().map(|&step| step.to_owned());
        BTreeSet::from_iter(undo.into_iter().chain(["step.report/0".to_owned()]).chain(more))
    };
    let done = |step| BTreeSet::from_iter(failing(&keep, step));
    assert_eq!(done("step.first/1"), undone(&["step.second/0", "step.second/1"]));
    assert_eq!(done("step.second/0"), undone(&["step.alarm/0", "step.first/1"]));
    assert_eq!(done("step.second/1"), undone(&["step.alarm/0", "step.first/1", "step.second/0"]));
    let whole = ["processes/template.yaml", "whole"];
    let away = failing(&whole, "step.run/0/keep/step.first/1");
    assert!(away.contains(&"step.away/0/undeploy/node.書庫/delete".to_owned()), "{away:?}");
    assert!(away.contains(&"step.run/0/keep/step.report/0".to_owned()), "{away:?}");
    // Steps that are done even without a failure go on from there.
    let anyway = process(&["processes/template.yaml", "anyway"]);
    let played = anyway.play(Rules { fails: Some("step.try/0"), ..Rules::default() });
    assert_eq!((played.done, played.left), (["step.tell/0".to_owned()].into(), 0));
}

#[test]
fn processes_hide_what_is_sensitive() {
    let words = ["processes/template.yaml", "keep", "--format", "bpmn"];
    let (hidden, shown) = (text(&words), text(&[&words[..], &["--reveal"]].concat()));
    assert!(hidden.contains("password = (sensitive)") && !hidden.contains("hush"));
    assert!(shown.contains("password = hush"));
    assert_eq!(shown.replace("hush", "(sensitive)"), hidden);
    // Texts are complete, whatever characters they have.
    assert!(
        hidden.contains(r#"to = &quot;&lt;tape&gt; &amp; \&quot;disk\&quot;\n&quot;"#),
        "{hidden}"
    );
    assert!(
        hidden.contains("name=\"書庫 save\"") && hidden.contains("name=\"&lt;attic&gt; save\"")
    );
}

/// The script of the given name in `docs/plans.md`.
fn shown_script(name: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/plans.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, script) = page.split_once(&format!("```sh {name}\n")).unwrap();
    script.split_once("```").unwrap().0.to_owned()
}

/// Runs the operations of the guest book with the script of `docs/plans.md`, and gives the log.
fn guest_book(workflow: &str, directory: &Path) -> String {
    let [run, record, makefile, log] =
        ["run.sh", "record.sh", "plan.mk", "log"].map(|name| directory.join(name));
    fs::write(&run, shown_script("run.sh")).unwrap();
    let script = "echo \"start $1/$2\" >>\"$LOG\" && sh \"$RUN_SH\" \"$@\" && echo \"end $1/$2\" >>\"$LOG\"\n";
    fs::write(&record, script).unwrap();
    fs::write(&log, "").unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/guestbook");
    let words = [example.to_str().unwrap(), workflow];
    let _ = text(&[&words[..], &["-o", makefile.to_str().unwrap()]].concat());
    let output = Command::new("make")
        .args(["-j8", "-f"])
        .arg(&makefile)
        .arg(format!("RUN=sh {}", record.display()))
        .current_dir(&example)
        .envs([("LOG", &log), ("RUN_SH", &run), ("GUESTBOOK_DIR", &directory.join("house"))])
        .env_remove("MAKEFLAGS")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = fs::read_to_string(&log).unwrap();
    assert_eq!(violations(&waits(&words), &log), [] as [String; 0], "{log}");
    log
}

/// Runs the scripts of an example as the page says: each after all that it needs.
#[test]
fn makefiles_deploy_the_guest_book() {
    let directory = tempfile::tempdir().unwrap();
    let read = |name: &str| fs::read_to_string(directory.path().join("house").join(name));
    let log = guest_book("deploy", directory.path());
    assert!(log.contains("end relation.book@1.node.site/pre_configure_target\n"), "{log}");
    let page = read("site/index.html").unwrap();
    assert!(page.starts_with("<pre>\nWhat you write here is shown to everybody.\nLovely tea."));
    assert!(read("index/words").unwrap().lines().any(|word| word == "tea"));
    let happened = read("happened").unwrap();
    assert_eq!(happened.lines().count(), log.lines().filter(|it| it.starts_with("end")).count());
    guest_book("undeploy", directory.path());
    let left = fs::read_dir(directory.path().join("house")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["happened"]);
    assert!(read("happened").unwrap().ends_with("house delete\n"));
}

/// Scripts get the inputs of their steps as variables, whatever the values are.
#[test]
fn scripts_have_their_inputs_as_variables() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        Command::new("chmod").arg("+x").arg(&path).status().unwrap();
    };
    write("run.sh", &shown_script("run.sh"));
    write(
        "create.sh",
        "#!/bin/sh\nprintf '%s|' \"$motto\" \"$lines\" \"$ports\" \"$password\" >told\n",
    );
    for name in ["start.sh", "pre-source.sh", "add-source.sh"] {
        write(name, "#!/bin/sh\n");
    }
    let makefile = directory.path().join("plan.mk");
    fs::write(&makefile, text(&["formats/template.yaml", "--format", "make"])).unwrap();
    let mut command = Command::new("make");
    command.args(["-j8", "-f", "plan.mk", "RUN=./run.sh"]).current_dir(directory.path());
    let output = command.env("SECRET_1", "it's").env_remove("MAKEFLAGS").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = fs::read_to_string(directory.path().join("told")).unwrap();
    assert_eq!(told, "it's \"here\": $HOME $(shell date) #1|one\n\ttwo\n|[80,443]|it's|");
}

/// The calls of a plan, each named by its operation and place, with the calls that have to be over
/// before.
fn calls(words: &[&str]) -> Order {
    let plan = json(words);
    let steps = plan["steps"].as_array().unwrap().iter();
    let name = |step: &Value| {
        let does = step.get("workflow").unwrap_or(&step["operation"]);
        format!("{}/{}", step["target"].as_str().unwrap(), does.as_str().unwrap())
    };
    let runs = crate::bpmn::runs(&plan);
    let names: BTreeMap<_, _> = steps
        .filter(|step| runs.contains(step["id"].as_str().unwrap()))
        .map(|step| (step["id"].as_str().unwrap(), name(step)))
        .collect();
    let order = crate::bpmn::waits(&plan, &runs).into_iter().map(|(step, before)| {
        (names[&*step].clone(), before.iter().map(|it| names[&**it].clone()).collect())
    });
    let order: Order = order.collect();
    assert_eq!(order.len(), runs.len());
    order
}

/// Planned again from its workflow in the template, each call waits for the same calls, for all
/// results of the examples.
#[test]
fn workflows_of_examples_wait_as_their_plans() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let directories = |of: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(of).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    };
    let mut count = 0;
    for example in directories(&examples) {
        let directory = tempfile::tempdir().unwrap();
        let copied = directory.path().join("example");
        crate::folders::copy(&example, &copied);
        for case in directories(&example.join("tests")) {
            let Ok(resolved) = fs::read_to_string(case.join("expected.yaml")) else { continue };
            for workflow in ["deploy", "undeploy"] {
                let file = copied.join("resolved.yaml");
                fs::write(&file, &resolved).unwrap();
                let words = [file.to_str().unwrap(), workflow];
                let plan = calls(&words);
                let written = text(&[&words[..], &["--format", "yaml"]].concat());
                let written: String = written.lines().map(|line| format!("\n  {line}")).collect();
                let section = "\ntopology_template:";
                assert_eq!(resolved.matches(section).count(), 1, "{case:?}");
                let whole = resolved.replace(section, &format!("{section}{written}"));
                fs::write(&file, whole).unwrap();
                assert_eq!(json(&words)["generated"], false);
                assert_eq!(calls(&words), plan, "{case:?} {workflow}");
                count += usize::from(!plan.is_empty());
            }
        }
    }
    assert!(count > 10);
}
