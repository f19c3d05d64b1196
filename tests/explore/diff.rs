//! Tests `cuvee diff` as a user types it.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files has failed")]

use serde_json::{Value, json};
use snapbox::cmd::{Command, OutputAssert, cargo_bin};
use snapbox::{Data, str};
use std::fs;
use tempfile::TempDir;

const PRESETS: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    options: { type_default_condition: true, technology_required: true }
    inputs:
      size: { type: integer }
      cached: { type: boolean, default: false }
    presets:
      dev: { inputs: { size: 1 } }
      prod: { inputs: { size: 3 } }
      cached: { inputs: { cached: true } }
    constraints:
      - less: [{ variability_input: size }, 9]
  node_templates:
    shop:
      type: shop
      properties:
        size:
          expression: { variability_input: size }
    cache:
      type: cache
      conditions: { variability_input: cached }
";

/// A directory with a template, files of inputs and two plain templates.
fn workplace() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let files = [
        ("shop.yaml", PRESETS),
        ("big.yaml", "size: 7\n"),
        ("huge.yaml", "size: 10\n"),
        // A file with the name of a preset.
        ("prod", "size: 5\n"),
        (
            "old.yaml",
            "imports: [a.yaml]\ntopology_template:\n  node_templates: {shop: {type: shop, properties: {port: 80, a: b}}}\n",
        ),
        (
            "new.yaml",
            "topology_template:\n  node_templates: {shop: {type: shop, properties: {a: b, port: '80'}}}\nimports: [{file: a.yaml}]\n",
        ),
        ("broken.yaml", "a: [\n"),
    ];
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

fn cuvee(line: &str) -> Command {
    let command = Command::new(cargo_bin!("cuvee")).args(line.split_whitespace());
    ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CUVEE_PRESETS"]
        .into_iter()
        .fold(command, Command::env_remove)
}

fn diff(dir: &TempDir, line: &str) -> OutputAssert {
    cuvee(&format!("diff {line}")).current_dir(dir.path()).assert()
}

fn raw(text: impl Into<String>) -> Data {
    Data::text(text.into()).raw()
}

/// The size of the shop on both sides. The run prints nothing on standard error.
fn sizes(dir: &TempDir, line: &str) -> [Value; 2] {
    let output = diff(dir, &format!("{line} -q --format json"))
        .success()
        .stderr_eq(raw(""))
        .get_output()
        .stdout
        .clone();
    let report: Value = serde_json::from_slice(&output).unwrap();
    let change = &report["changes"][0];
    assert_eq!(
        (&change["element"], &change["path"]),
        (&json!("node.shop"), &json!("property.size")),
        "{report}"
    );
    [change["from"].clone(), change["to"].clone()]
}

#[test]
fn shows_what_production_has_that_a_laptop_has_not() {
    let dev_to_prod =
        cuvee("diff examples/shop --from dev --to prod").current_dir(env!("CARGO_MANIFEST_DIR"));
    dev_to_prod.assert().success().stderr_eq(raw("")).stdout_eq(str![[r#"
+ import.lib/monitoring.yaml
~ input.domain
  ~ default                   localhost -> tea.example
~ node.shop
  ~ property.protocol         http -> https
  ~ property.log_level        debug -> warning
  + property.payments[1]      invoice
  + property.replicas         4
  ~ requirement.host.node     engine -> cluster
  + requirement.metrics       metrics
~ node.checkout
  ~ property.payment_gateway  https://sandbox.pay.example.com -> https://pay.example.com
  + property.replicas         2
  ~ requirement.host.node     engine -> cluster
  + requirement.metrics       metrics
~ node.worker
  ~ requirement.host.node     engine -> cluster
  + requirement.metrics       metrics
~ node.orders
  ~ type                      shop.nodes.Stream -> shop.nodes.Queue
  ~ requirement.host.node     cache -> broker
~ node.cache
  ~ requirement.host.node     engine -> cluster
~ node.database
  ~ requirement.host.node     dbms -> managed_dbms
  + requirement.backup        object_store
- node.dbms                   shop.nodes.Dbms
- node.engine                 shop.nodes.ContainerEngine
+ node.broker                 shop.nodes.Broker
+ node.managed_dbms           shop.nodes.ManagedDbms
+ node.object_store           shop.nodes.ObjectStore
+ node.metrics                shop.nodes.Metrics
+ node.dashboard              shop.nodes.Dashboard
+ node.cluster                shop.nodes.Cluster
~ relationship.shop_to_database
  + property.timeout          30 s
+ output.dashboard_url        {get_attribute: [dashboard, url]}
+ output.backups              {get_property: [object_store, bucket]}
+ policy.spread               shop.policies.Spread
+ policy.nightly_backup       shop.policies.Backup
+ policy.on_call              shop.policies.Alert

12 added, 2 removed, 8 changed

"#]]);
}

#[test]
fn json_has_every_change() {
    let dir = workplace();
    let expected = json!({
        "version": 1,
        "from": "dev",
        "to": "prod,cached",
        "changes": [
            {"element": "node.shop", "path": "property.size", "kind": "changed", "from": 1, "to": 3},
            {"element": "node.cache", "path": "", "kind": "added", "to": {"type": "cache"}},
        ],
    });
    let output = diff(&dir, "shop.yaml --from dev --to prod,cached -q --format json")
        .success()
        .get_output()
        .stdout
        .clone();
    assert_eq!(serde_json::from_slice::<Value>(&output).unwrap(), expected);
    assert!(output.starts_with(b"{\n  \"version\": 1,\n") && output.ends_with(b"}\n"));
}

#[test]
fn a_side_is_presets_or_files_of_inputs() {
    let dir = workplace();
    for (line, expected) in [
        ("--from dev --to prod", [1, 3]),
        ("--from prod --to dev", [3, 1]),
        ("--from dev --to big.yaml", [1, 7]),
        ("--from dev --to prod,big.yaml", [1, 7]),
        ("--from ./prod --to big.yaml,./prod,prod", [5, 5]),
        ("--preset dev --to prod", [1, 3]),
        ("--preset dev --from prod", [3, 1]),
        ("--inputs big.yaml --preset dev --from ./prod", [5, 7]),
    ] {
        if expected[0] != expected[1] {
            assert_eq!(
                sizes(&dir, &format!("shop.yaml {line}")),
                expected.map(Value::from),
                "{line}"
            );
        } else {
            diff(&dir, &format!("shop.yaml {line} -q"))
                .success()
                .stdout_eq(raw("no difference\n"))
                .stderr_eq(raw(""));
        }
    }
}

#[test]
fn other_choices_hold_for_both_sides() {
    let dir = workplace();
    diff(&dir, "shop.yaml --from dev --to prod -i size=2 -q")
        .success()
        .stdout_eq(raw("no difference\n"))
        .stderr_eq(raw(""));
    diff(&dir, "shop.yaml --from dev --to cached -i size=2 -q")
        .success()
        .stdout_eq(str![[r#"
+ node.cache  cache

1 added

"#]])
        .stderr_eq(raw(""));
    let stdin =
        cuvee("diff - --from dev --to prod -q --format json").stdin(PRESETS).assert().success();
    assert!(String::from_utf8_lossy(&stdin.get_output().stdout).contains("property.size"));
}

#[test]
fn compares_plain_templates_as_they_are() {
    let dir = workplace();
    diff(&dir, "--from old.yaml --to new.yaml").success().stderr_eq(raw("")).stdout_eq(str![[r#"
~ node.shop
  ~ property.port  80 -> '80'

1 changed

"#]]);
    diff(&dir, "--from old.yaml --to old.yaml")
        .success()
        .stderr_eq(raw(""))
        .stdout_eq(raw("no difference\n"));
}

#[test]
fn exits_with_1_where_that_is_wished() {
    let dir = workplace();
    diff(&dir, "--from old.yaml --to new.yaml --exit-code").code(1).stderr_eq(raw(""));
    diff(&dir, "--from old.yaml --to old.yaml --exit-code").code(0).stderr_eq(raw(""));
    diff(&dir, "--from old.yaml --to new.yaml --exit-code --format json")
        .code(1)
        .stderr_eq(raw(""));
}

#[test]
fn says_which_side_is_wrong() {
    let dir = workplace();
    diff(&dir, "shop.yaml --from dve --to prod -q").code(1).stdout_eq(raw("")).stderr_eq(str![[
        r#"
error[unknown-preset]: --from dve: there is no variability preset `dve`
 |
 = help: did you mean `dev`?

error: 1 error

"#
    ]]);
    fs::create_dir(dir.path().join("dve")).unwrap();
    diff(&dir, "shop.yaml --from dve --to huge.yaml -q").code(1).stdout_eq(raw("")).stderr_eq(
        str![[r#"
error[unknown-preset]: --from dve: there is no variability preset `dve`
 |
 = help: did you mean `dev`?

error: 1 error
error[unsatisfiable]: --to huge.yaml: no variant fulfils all conditions: this one cannot hold
  --> shop.yaml:13:9
   |
13 |       - less: [{ variability_input: size }, 9]
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ this constraint has to hold
   |
   = help: drop or weaken it; other inputs give a variant: `-i size=1`

error: 1 error

"#]],
    );
    diff(&dir, "shop.yaml --to prod -q").code(1).stdout_eq(raw("")).stderr_eq(str![[r#"
error[missing-input]: without --from: variability input `size` has no value
  --> shop.yaml:13:37
   |
 6 |       size: { type: integer }
   |       ---- it is declared here
...
13 |       - less: [{ variability_input: size }, 9]
   |                                     ^^^^
   |
   = help: assign it with `--input size=VALUE` or a preset, or declare its `default`

error: 1 error

"#]]);
    diff(&dir, "--from missing.yaml --to broken.yaml").code(1).stdout_eq(raw("")).stderr_eq(str![
        [r#"
error[file]: --from missing.yaml: cannot read `missing.yaml`: [..]

error: 1 error
error[syntax]: --to broken.yaml: malformed YAML: unclosed bracket '['
 --> broken.yaml:1:4
  |
1 | a: [
  |    ^
  |
  = help: close every bracket that is open

error: 1 error

"#]
    ]);
}

#[test]
fn what_is_wrong_with_both_sides_is_told_once() {
    let dir = workplace();
    let told = |line: &str| {
        let stderr =
            diff(&dir, &format!("{line} --message-format json")).get_output().stderr.clone();
        let message = |line: &str| {
            serde_json::from_str::<Value>(line).unwrap()["message"].as_str().unwrap().to_owned()
        };
        String::from_utf8(stderr).unwrap().lines().map(message).collect::<Vec<_>>()
    };
    assert_eq!(
        told("shop.yaml --from dev --to prod"),
        ["option `technology_required` has no effect"]
    );
    assert_eq!(
        told("shop.yaml --from dev --to prodd"),
        [
            "option `technology_required` has no effect",
            "--to prodd: there is no variability preset `prodd`"
        ]
    );
    let [error] = &told("nowhere.yaml --from dev --to prod")[..] else { panic!() };
    assert!(error.starts_with("cannot read `nowhere.yaml`: "), "{error}");
}

#[test]
fn colours_only_where_they_are_wished_for() {
    let dir = workplace();
    let stdout = |line: &str| diff(&dir, line).success().get_output().stdout.clone();
    let (plain, coloured) = (
        stdout("--from old.yaml --to new.yaml"),
        stdout("--from old.yaml --to new.yaml --color always"),
    );
    assert!(!plain.contains(&0x1b) && coloured.contains(&0x1b));
    let stripped = anstream::adapter::strip_bytes(&coloured).into_vec();
    assert_eq!(String::from_utf8(stripped).unwrap(), String::from_utf8(plain).unwrap());
}

#[test]
fn wrong_use_exits_with_2() {
    let dir = workplace();
    for (line, complaint) in [
        ("", "[..]<--from <CHOICE>|--to <CHOICE>|FILE>"),
        ("shop.yaml", "[..]<--from <CHOICE>|--to <CHOICE>|FILE>"),
        ("--from old.yaml", "[..]--to <CHOICE>"),
        ("--to old.yaml", "[..]--from <CHOICE>"),
        ("old.yaml new.yaml --from dev", "[..]'[FILE]' cannot be used with '--from <CHOICE>'"),
        ("old.yaml new.yaml --preset dev", "[..]'[FILE]' cannot be used with[..]"),
        ("--from old.yaml --to new.yaml -i a=1", "[..]<TEMPLATE>"),
        ("--from old.yaml --to new.yaml --preset dev", "[..]<TEMPLATE>"),
        ("--from old.yaml --to new.yaml --edition 2025-07", "[..]<TEMPLATE>"),
        ("shop.yaml --from dev --to prod --format yaml", "[..]human, json[..]"),
    ] {
        diff(&dir, line).code(2).stdout_eq(raw("")).stderr_eq(format!("...\n{complaint}\n...\n"));
    }
    let empty = Command::new(cargo_bin!("cuvee"))
        .args(["diff", "shop.yaml", "--from", ""])
        .assert()
        .code(2);
    empty.stderr_eq("error: a value is required for '--from <CHOICE>'[..]\n...\n");
}
