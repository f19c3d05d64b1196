//! Tests hostile or careless input: every command ends, in bounded memory, and reports what is
//! wrong and where.
//!
//! The command runs as a user runs it, under limits that stop whatever doubles with every step. The
//! limits are far above what is needed, since machines may be busy.

#![cfg(all(feature = "cli", target_os = "linux"))]
#![expect(clippy::unwrap_used, reason = "a test that cannot run the command has failed")]

use snapbox::cmd::{Command, OutputAssert, cargo_bin};
use snapbox::str;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// A gibibyte of address space, in the unit of the shell.
const MEMORY: u32 = 1 << 20;

const TIME: Duration = Duration::from_secs(240);

/// Every command that explores.
const EXPLORING: [&[&str]; 9] = [
    &["analyze"],
    &["explain"],
    &["export", "--format", "dimacs"],
    &["inputs"],
    &["matrix"],
    &["report"],
    &["validate"],
    &["variants"],
    &["variants", "--count"],
];

const SHOP: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  node_templates:
    shop: {type: Shop}
";

/// Runs a shell script in which `cuvee` is the command.
fn shell(directory: &Path, script: &str) -> OutputAssert {
    let script = format!(
        "ulimit -v {MEMORY}\ncuvee() {{ {} \"$@\"; }}\n{script}",
        cargo_bin("cuvee").display()
    );
    Command::new("bash").args(["-c", &script]).current_dir(directory).timeout(TIME).assert()
}

fn cuvee(directory: &Path, arguments: &str) -> OutputAssert {
    shell(directory, &format!("cuvee {arguments}"))
}

/// A directory with the given files.
fn directory<const N: usize>(files: [(&str, &str); N]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

/// A text for each number below `count`.
fn each(count: usize, write: impl Fn(usize) -> String) -> String {
    (0..count).map(write).collect()
}

#[test]
fn what_doubles_with_every_step_is_explored() {
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let mut count = 0;
    for entry in fs::read_dir(&templates).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        for command in EXPLORING {
            let run = cuvee(&templates, &format!("{} {name}", command.join(" ")));
            let code = run.get_output().status.code();
            assert!(matches!(code, Some(0 | 1)), "{command:?} {name}: {:?}", run.get_output());
            count += 1;
        }
    }
    assert!(count > 50);
}

#[test]
fn values_that_grow_too_large_are_errors_at_their_place() {
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    cuvee(&templates, "resolve texts-concat.yaml -i name=a").code(1).stderr_eq(str![[r#"
error[invalid-expression]: `concat` has a result of more than 1048576 bytes
  --> texts-concat.yaml:32:21
...
"#]]);
    cuvee(&templates, "resolve lists.yaml -i name=a").code(1).stderr_eq(str![[r#"
error[invalid-expression]: this list has more than 4194304 bytes
  --> lists.yaml:32:12
...
"#]]);
    let user = |index: usize| {
        format!(
            "    n{index}: {{type: Shop, properties: {{text: {{expression: {{value_expression: e19}}}}}}}}\n"
        )
    };
    let head = "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    expressions:\n      e0: x\n";
    let double = |index: usize| {
        format!(
            "      e{}: {{concat: [{{value_expression: e{index}}}, {{value_expression: e{index}}}]}}\n",
            index + 1
        )
    };
    let text = format!("{head}{}  node_templates:\n{}", each(19, double), each(5000, user));
    let directory = directory([("many.yaml", &text)]);
    cuvee(directory.path(), "resolve many.yaml").code(1).stdout_eq("").stderr_eq(str![[r#"
error[invalid-expression]: the values of all expressions together pass 268435456 bytes
...
"#]]);
}

#[test]
fn aliases_stand_for_no_more_bytes_than_a_file_may_have() {
    let long = "x".repeat(1 << 20);
    let many = each(1000, |index| format!("    a{index}: *text\n"));
    let text = format!("{SHOP}metadata:\n    text: &text {long}\n{many}");
    let directory = directory([("aliases.yaml", &text)]);
    cuvee(directory.path(), "resolve aliases.yaml").code(1).stderr_eq(str![[r#"
error[syntax]: the aliases of this document expand to too many bytes
   --> aliases.yaml:263:11
...
"#]]);
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let importing = format!("imports: [pipe.yaml]\n{SHOP}");
    let directory = directory([("shop.yaml", SHOP), ("importing.yaml", &importing)]);
    shell(directory.path(), "mkfifo pipe.yaml").success();
    let _socket =
        std::os::unix::net::UnixListener::bind(directory.path().join("socket.yaml")).unwrap();
    for (arguments, what) in [
        ("resolve pipe.yaml", "`pipe.yaml`: it is a named pipe, not a file"),
        ("validate pipe.yaml", "`pipe.yaml`: it is a named pipe, not a file"),
        ("resolve socket.yaml", "`socket.yaml`: it is a socket, not a file"),
        ("resolve /dev/zero", "`/dev/zero`: it is a device, not a file"),
        ("resolve shop.yaml --inputs pipe.yaml", "`pipe.yaml`: it is a named pipe, not a file"),
        (
            "resolve shop.yaml --evaluate --deployment-inputs /dev/zero",
            "`/dev/zero`: it is a device, not a file",
        ),
        ("resolve importing.yaml", "`pipe.yaml`: it is a named pipe, not a file"),
        ("validate importing.yaml", "`pipe.yaml`: it is a named pipe, not a file"),
        ("diff --from pipe.yaml --to pipe.yaml", "`pipe.yaml`: it is a named pipe, not a file"),
        ("import pipe.yaml", "`pipe.yaml`: it is a named pipe, not a file"),
    ] {
        let run = cuvee(directory.path(), arguments).code(1);
        let told = String::from_utf8(run.get_output().stderr.clone()).unwrap();
        assert!(
            told.starts_with(&format!("error[file]: cannot read {what}\n")),
            "{arguments}: {told}"
        );
    }
    shell(directory.path(), "mkdir lib && mv pipe.yaml lib/types.yaml").success();
    cuvee(directory.path(), "resolve shop.yaml").code(1).stderr_eq(str![[r#"
error[file]: cannot read `lib/types.yaml`: it is a named pipe, not a file

error: 1 error

"#]]);
}

#[test]
fn what_a_shell_hands_over_is_read_once_and_up_to_a_size() {
    let directory =
        directory([("shop.yaml", SHOP), ("other.yaml", &SHOP.replace("shop", "other"))]);
    let plain = str![[r#"
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    shop: {type: Shop}

"#]];
    for script in [
        "cuvee resolve - < shop.yaml",
        "cat shop.yaml | cuvee resolve /dev/stdin",
        "cuvee resolve /dev/stdin < shop.yaml",
        "cuvee resolve <(cat shop.yaml)",
        "cuvee resolve shop.yaml --inputs <(echo '{}')",
    ] {
        shell(directory.path(), script).success().stdout_eq(plain.clone());
    }
    shell(directory.path(), "cuvee diff --from <(cat shop.yaml) --to <(cat other.yaml)")
        .success()
        .stdout_eq("- node.shop   Shop\n+ node.other  Shop\n\n1 added, 1 removed\n");
    shell(directory.path(), "sed s/type/tipe/ shop.yaml | cuvee validate /dev/stdin")
        .code(1)
        .stderr_eq("...\n --> <stdin>:4:12\n...\n");
    shell(directory.path(), "cuvee resolve - < /dev/zero").code(1).stderr_eq(str![[r#"
error[file]: cannot read standard input: it is larger than 256 MiB

error: 1 error

"#]]);
    // A template that imports standard input has not been handed it by the user.
    fs::write(directory.path().join("asking.yaml"), format!("imports: [/dev/stdin]\n{SHOP}"))
        .unwrap();
    shell(directory.path(), "yes | cuvee validate asking.yaml").code(1).stderr_eq(str![[r#"
error[file]: `/dev/stdin` is neither a file nor a profile that is known
...
"#]]);
}

#[test]
fn links_do_not_lead_out_of_a_library() {
    let types = "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types: {Shop: {derived_from: tosca.nodes.Root}}\n";
    let directory =
        directory([("a/shop.yaml", SHOP), ("a/lib/own/types.v1", types), ("b/other.yaml", types)]);
    let script = "cd a/lib && ln -s own/types.v1 types.yaml && ln -s / root && ln -s . self && ln -s ../../b/other.yaml . && ln -s nowhere gone.yaml";
    shell(directory.path(), script).success();
    cuvee(&directory.path().join("a"), "validate shop.yaml").success().stderr_eq(str![[r#"
warning[file]: `lib/other.yaml` is a link that leads out of `lib`, and is not followed
 |
 = help: replace the link by the file that it leads to, or import that file

warning[file]: `lib/root` is a link that leads out of `lib`, and is not followed
 |
 = help: replace the link by the file that it leads to, or import that file

warning: 2 warnings

"#]]);
}

#[test]
fn mistakes_in_one_long_line_are_told_in_linear_time() {
    let node = |index: usize| format!("\"n{index}\":{{\"type\":\"Shop\",\"condtions\":false}},");
    let nodes = each(5_000, node);
    let text = format!(
        "{{\"tosca_definitions_version\":\"tosca_variability_1_0\",\"topology_template\":{{\"node_templates\":{{{}}}}}}}",
        nodes.trim_end_matches(',')
    );
    let directory = directory([("shop.json", &text)]);
    cuvee(directory.path(), "resolve shop.json 2>&1 | tail -3").success().stdout_eq(
        "  = help: did you mean `conditions`?; `cuvee validate shop.json` tells 5000 more errors\n\nerror: 5000 errors\n",
    );
    cuvee(directory.path(), "validate shop.json --format sarif | grep -c startColumn")
        .success()
        .stdout_eq("15000\n");
    cuvee(directory.path(), "resolve shop.json 2>&1 | head -7").success().stdout_eq(str![[r#"
error[unknown-keyword]: `condtions` is not a keyname of a node template
 --> shop.json:1:113
  |
1 | {"tosca_definitions_version":"tosca_variability_1_0","topology_template":{"node_templates":{"n0":{"type":"Shop","condtions":false},"n...
  |                                                                                                                 ^^^^^^^^^^^
  |
  = note: section 3.8.3.1 of TOSCA Simple Profile 1.3

"#]]);
}

#[test]
fn files_that_import_each_other_see_the_same() {
    const FILES: usize = 10_000;
    let directory = directory([(
        "shop.yaml",
        &format!("imports: [f0.yaml]\n{}", SHOP.replace("Shop", "T9999")),
    )]);
    for index in 0..FILES {
        let next = (index + 1) % FILES;
        let text = format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [f{next}.yaml]\nnode_types: {{T{index}: {{derived_from: tosca.nodes.Root}}}}\n"
        );
        fs::write(directory.path().join(format!("f{index}.yaml")), text).unwrap();
    }
    shell(directory.path(), "ulimit -v 262144; cuvee validate shop.yaml").success().stderr_eq("");
}

#[test]
fn hosts_that_host_each_other_are_no_endless_stacks() {
    let hosts = |name: &str, count: usize| {
        each(count, |index| {
            let relations =
                each(count, |other| format!("{{host: {{node: h{other}, conditions: false}}}}, "));
            format!("    {name}{index}: {{type: Server, requirements: [{relations}]}}\n")
        })
    };
    let text = |component: &str| {
        format!(
            "\
tosca_definitions_version: tosca_variability_1_0_rc_2
topology_template:
  variability:
    qualities:
      ansible: [{{component: Shop, hosting: ['*', {component}]}}, {{component: Server}}]
  node_templates:
{}    shop: {{type: Shop, requirements: [{{host: h0}}]}}
",
            hosts("h", 40)
        )
    };
    let directory = directory([("none.yaml", &text("System")), ("many.yaml", &text("Server"))]);
    cuvee(directory.path(), "resolve none.yaml")
        .code(1)
        .stderr_eq("error[required-technology]: node \"shop\" has no technology candidates\n...\n");
    cuvee(directory.path(), "resolve many.yaml").code(1).stderr_eq(
        "error[invalid-template]: there are more than 10000 hosting stacks for node \"shop\" and one rule\n...\n",
    );
}

#[test]
fn a_message_lists_a_dozen_names() {
    const NAMES: usize = 10_000;
    let inputs = each(NAMES, |index| format!("      i{index}: {{type: boolean}}\n"));
    let expressions = each(NAMES, |index| {
        format!("      e{index}: {{value_expression: e{}}}\n", (index + 1) % NAMES)
    });
    let properties =
        each(NAMES, |index| format!("      p{index}: {{type: string, required: false}}\n"));
    let text = format!(
        "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs:
{inputs}    expressions:
{expressions}  node_templates:
    shop: {{type: Shop, properties: {{colour: red}}}}
node_types:
  Shop:
    derived_from: tosca.nodes.Root
    properties:
{properties}"
    );
    let directory = directory([("names.yaml", &text)]);
    for arguments in
        ["resolve names.yaml", "validate names.yaml", "resolve names.yaml -i colour=red"]
    {
        let run = cuvee(directory.path(), arguments).code(1);
        let told = String::from_utf8(run.get_output().stderr.clone()).unwrap();
        assert!(told.contains("more"), "{arguments}: {told}");
        assert!(
            told.len() < 10_000 && told.lines().all(|line| line.len() < 500),
            "{arguments}: {told}"
        );
    }
}

/// The output of a command on a terminal.
fn on_a_terminal(directory: &Path, arguments: &str) -> String {
    let command = format!("{} {arguments}", cargo_bin("cuvee").display());
    let script = format!("script -qec '{command}' /dev/null < /dev/null");
    String::from_utf8_lossy(&shell(directory, &script).get_output().stdout).into_owned()
}

#[test]
fn control_characters_of_others_do_not_reach_a_terminal() {
    let hostile = r#"tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    options: {mode: semantic-loose}
    inputs: {"x\x9b31m": {type: boolean}}
  node_templates:
    "a\e]0;owned\a\x9b31m": {type: Shop}
    b: {type: "S\x9b31m", conditions: {variability_input: "x\x9b31m"}}
"#;
    let wrong = hostile.replace("{variability_input:", "{node_presence:");
    let directory = directory([("hostile.yaml", hostile), ("wrong.yaml", &wrong)]);
    for arguments in [
        "variants hostile.yaml",
        "variants hostile.yaml --format json",
        "graph hostile.yaml",
        "inputs hostile.yaml",
        "analyze hostile.yaml",
        "diff --from hostile.yaml --to wrong.yaml",
        "diff --from hostile.yaml --to wrong.yaml --format json",
        "resolve wrong.yaml",
        "resolve wrong.yaml --message-format json",
        "validate wrong.yaml --format sarif",
    ] {
        let shown = on_a_terminal(directory.path(), arguments);
        assert!(shown.contains("31m"), "{arguments}: {shown:?}");
        assert!(!shown.contains("\u{1b}]") && !shown.contains('\u{7}'), "{arguments}: {shown:?}");
        assert!(!shown.contains('\u{9b}'), "{arguments}: {shown:?}");
    }
    // Output to a pipe is unchanged.
    let piped = cuvee(directory.path(), "variants hostile.yaml --format json").success();
    assert!(String::from_utf8_lossy(&piped.get_output().stdout).contains('\u{9b}'));
}

#[test]
fn nobody_hears_of_a_file_that_is_there_for_a_moment_only() {
    let directory = directory([("shop.yaml", SHOP)]);
    cuvee(directory.path(), "resolve shop.yaml -o no/where.yaml").code(1).stderr_eq(str![[r#"
error[file]: cannot write `no/where.yaml`: No such file or directory

error: 1 error

"#]]);
    // At most a kibibyte can be written.
    let long = "    shop: {type: Shop} # x\n".repeat(1000);
    fs::write(
        directory.path().join("long.yaml"),
        SHOP.replace(
            "    shop: {type: Shop}\n",
            &format!("{}    shop: {{type: Shop}}\n", long.replace("shop:", "# shop:")),
        ),
    )
    .unwrap();
    let script = "ulimit -f 1; cuvee resolve long.yaml -o out.yaml";
    let run = shell(directory.path(), script).code(1);
    let told = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(told.starts_with("error[file]: cannot write `out.yaml`: File too large"), "{told}");
    shell(directory.path(), "ls -A").success().stdout_eq("long.yaml\nshop.yaml\n");
}

#[test]
fn who_is_asked_to_end_cleans_up_before() {
    let directory = directory([]);
    for signal in ["INT", "TERM", "HUP"] {
        // The command is a job of its own, since background processes otherwise ignore interrupts.
        // It waits for a template that never arrives.
        let script = format!(
            "mkfifo {signal}; exec 3<> {signal}; rm {signal}; set -m; {} resolve - -o out.yaml <&3 & sleep 3; kill -{signal} $!; wait $!; echo $?; ls -A",
            cargo_bin("cuvee").display()
        );
        shell(directory.path(), &script).success().stdout_eq("130\n");
    }
}
