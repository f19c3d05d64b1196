//! Tests `cuvee inputs`, `variants`, `analyze` and `explain` as a user types them.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files has failed")]

use biodivine_lib_bdd::{Bdd, BddPartialValuation, BddVariable, BddVariableSet};
use cuvee::diagnostic::Code;
use serde_json::Value;
use snapbox::cmd::{Command, OutputAssert, cargo_bin};
use snapbox::str;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A template with numbers and texts that conditions compare, rules between inputs, a computed
/// default, and an input that only a value needs.
const SIZES: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    options: { mode: semantic-loose }
    inputs:
      visitors:
        type: integer
        description: At once
        default: 10
        constraints: [{ in_range: [1, 100000] }]
      load: { type: float }
      region: { type: string, default: '10', constraints: [{ valid_values: ['10', eu west] }] }
      gold: { type: boolean, default: false, requires: [silver] }
      silver: { type: boolean, default_expression: { variability_input: gold } }
      greeting: { type: string, default: hello }
    presets:
      big: { inputs: { visitors: 5000, load: 0.9 } }
  node_templates:
    shop: { type: Shop, persistent: true, properties: { greeting: { expression: { variability_input: greeting } } } }
    second: { type: Shop, conditions: { greater_or_equal: [{ variability_input: visitors }, 500] } }
    third: { type: Shop, conditions: { greater: [{ variability_input: visitors }, 5000] } }
    helper: { type: Shop, conditions: { greater_or_equal: [{ variability_input: load }, 0.75] } }
    west: { type: Shop, conditions: { equal: [{ variability_input: region }, eu west] } }
    gold: { type: Gold, conditions: { variability_input: gold } }
    silver: { type: Silver, conditions: { variability_input: silver } }
";

/// A template with everything that `analyze` finds in templates that have variants.
const IN_VAIN: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    options: { mode: semantic-loose }
    inputs:
      cloud: { type: boolean, default: false }
      backup: { type: boolean, default: false }
      size: { type: integer, default: 1, constraints: [{ in_range: [1, 10] }] }
      colour: { type: string, default: red }
    presets:
      small: { inputs: { cloud: true, backup: true } }
      large: { inputs: { cloud: true, size: 10 } }
      broken: { inputs: { cloud: true, backup: false } }
    constraints:
      - implies: [{ variability_input: cloud }, { variability_input: backup }]
      - or:
          - not: { variability_input: cloud }
          - variability_input: backup
  node_templates:
    shop:
      type: Shop
      persistent: true
      properties:
        - size: { expression: { variability_input: size } }
    machine: { type: Machine, conditions: { variability_input: cloud } }
    disk: { type: Disk, conditions: { variability_input: cloud } }
    tape: { type: Tape, conditions: { variability_input: backup } }
    never: { type: Shop, conditions: { and: [{ variability_input: cloud }, { not: { variability_input: backup } }] } }
    always: { type: Shop, conditions: { or: [{ not: { variability_input: cloud } }, { variability_input: backup }] } }
";

/// A template without a variant, because three constraints conflict; a fourth is not involved.
const VOID: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs:
      gold: { type: boolean, default: false }
      silver: { type: boolean, default: false }
      bronze: { type: boolean, default: false }
    constraints:
      - { variability_input: gold }
      - not: { variability_input: silver }
      - implies: [{ variability_input: gold }, { variability_input: silver }]
      - implies: [{ variability_input: bronze }, { variability_input: silver }]
  node_templates:
    shop: { type: Shop }
";

/// A template with a check that rejects two of eight assignments, and a preset that leads to one.
const CHECKED: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs:
      tls: { type: boolean, default: false }
      plain: { type: boolean, default: true }
      logs: { type: boolean, default: false }
    presets:
      safe: { inputs: { tls: true, plain: false } }
      both: { inputs: { tls: true, plain: true } }
  node_templates:
    shop:
      type: Shop
      properties:
        - port: { value: 443, conditions: { variability_input: tls } }
        - port: { value: 80, conditions: { variability_input: plain } }
        - logs: { value: true, conditions: { variability_input: logs } }
";

/// A template with an input whose values cannot be cut into cases.
const OPEN: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    options: { mode: semantic-loose }
    inputs:
      load: { type: list, default: [1, 2] }
      watched: { type: boolean, default: false }
  node_templates:
    helper:
      type: Shop
      conditions: { greater: [{ mean: { variability_input: load } }, 3] }
    logs: { type: Logs, conditions: { variability_input: watched } }
";

/// A template with one of each kind of reason.
const REASONS: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    options: { mode: semantic-loose, optimization_topology: min }
    inputs:
      cloud: { type: boolean, default: false }
      watched: { type: boolean, default: false }
    presets:
      prod: { inputs: { cloud: true } }
    constraints:
      - implies: [{ variability_input: watched }, { variability_input: cloud }]
  node_templates:
    shop:
      type: Shop
      persistent: true
      properties:
        - url: { value: here, conditions: { variability_input: cloud } }
        - url: { value: there, default_alternative: true }
      requirements:
        - log: logs
    logs: { type: Logs }
    # Nothing but each other needs these.
    egg: { type: Egg, requirements: [{ from: hen }] }
    hen: { type: Hen, requirements: [{ from: egg }] }
  groups:
    watch:
      type: variability.groups.ConditionalMembers
      conditions: { variability_input: watched }
      members: [logs]
";

/// A directory with all these templates.
fn workplace() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let files = [
        ("sizes.yaml", SIZES),
        ("vain.yaml", IN_VAIN),
        ("void.yaml", VOID),
        ("checked.yaml", CHECKED),
        ("open.yaml", OPEN),
        ("reasons.yaml", REASONS),
    ];
    files.into_iter().for_each(|(name, text)| fs::write(dir.path().join(name), text).unwrap());
    dir
}

/// A command in this directory.
fn command(dir: &Path, line: &str) -> Command {
    Command::new(cargo_bin!("cuvee")).args(crate::shell::words(line)).env_clear().current_dir(dir)
}

/// Runs a command in the workplace.
fn cuvee(line: &str) -> OutputAssert {
    let dir = workplace();
    command(dir.path(), line).assert()
}

/// Asserts that a command prints exactly this to standard output, and nothing to standard error.
fn shows(line: &str, expected: impl snapbox::IntoData) {
    cuvee(line).success().stderr_eq("").stdout_eq(expected);
}

/// Asserts that a command prints exactly this to standard error, and nothing to standard output.
fn refuses(line: &str, expected: impl snapbox::IntoData) {
    cuvee(line).code(1).stdout_eq("").stderr_eq(expected);
}

fn examples() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// The output of a command in the directory of the examples.
fn of_examples(line: &str) -> String {
    let output = command(&examples(), line).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What a command printed to standard output.
fn told(assert: &OutputAssert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The JSON that a command in the workplace prints.
fn asks(line: &str) -> Value {
    let text = told(&cuvee(line).success());
    assert!(text.starts_with("{\n  \"version\": 1,\n"), "{text}");
    json(&text)
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

/// Python reads the table, and the inputs of each line lead to the variant of that line.
#[test]
fn tables_of_variants() {
    const READ: &str = "import csv, json, sys; print(json.dumps(list(csv.DictReader(sys.stdin))))";
    let dir = workplace();
    for template in ["sizes.yaml", "reasons.yaml", "checked.yaml"] {
        let table = command(dir.path(), &format!("variants {template} --format csv"));
        let table = table.assert().success().stderr_eq("");
        let python = Command::new("python3").args(["-c", READ]).stdin(&*table.get_output().stdout);
        let rows = python.assert().success().get_output().stdout.clone();
        let rows: Vec<BTreeMap<String, String>> = serde_json::from_slice(&rows).unwrap();
        assert!(!rows.is_empty(), "{template}");
        for row in &rows {
            let mut again = command(dir.path(), &format!("variants {template} --format csv"));
            for (name, value) in row.iter().filter(|(name, _)| *name != "variant") {
                again = again.args(["-i", &format!("{name}={value}")]);
            }
            let expected = format!("variant\n{}\n", row["variant"]);
            again.assert().success().stdout_eq(expected);
        }
    }
    refuses(
        "variants sizes.yaml --count --format csv",
        str![[r#"
error[usage]: a count cannot be written as a table of open inputs
 |
 = help: leave out `--format`

error: 1 error

"#]],
    );
    refuses(
        "variants sizes.yaml --all-presets --format csv",
        str![[r#"
error[usage]: variants of presets cannot be written as a table of open inputs
 |
 = help: `cuvee matrix --format csv` has a column for each

error: 1 error

"#]],
    );
    cuvee("variants sizes.yaml --limit 1 --format csv").success().stderr_eq(str![[r#"
note[usage]: there are more variants than are listed
 |
 = help: `--limit` lists more

note: 1 note

"#]]);
}

#[test]
fn inputs_have_cases_and_influence() {
    shows(
        "inputs sizes.yaml",
        str![[r#"
visitors: integer  At once
  cases      1 … 499 | 500 … 5000 | 5001 … 100000
  default    10
  presets    big=5000
  influences node.second, node.third
load: float
  cases      < 0.75 | ≥ 0.75
  presets    big=0.9
  influences node.helper
region: string
  cases      '10' | eu west
  default    '10'
  influences node.west
gold: boolean
  cases      false | true
  default    false
  influences node.gold
silver: boolean
  cases      false | true
  default    {variability_input: gold}
  influences node.silver
greeting: string
  cases      any
  default    hello
  sets       property.greeting@0.node.shop

"#]],
    );
    shows(
        "inputs sizes.yaml --preset big -i gold=true",
        str![[r#"
visitors: integer  At once
  assigned   5000
  default    10
  presets    big=5000
load: float
  assigned   0.9
  presets    big=0.9
region: string
  cases      '10' | eu west
  default    '10'
  influences node.west
gold: boolean
  assigned   true
  default    false
silver: boolean
  cases      false | true
  default    {variability_input: gold}
  influences node.silver
greeting: string
  cases      any
  default    hello
  sets       property.greeting@0.node.shop

"#]],
    );
}

#[test]
fn inputs_as_json() {
    let report = asks("inputs sizes.yaml --preset big --format json");
    let input = |name: &str| {
        report["inputs"]
            .as_array()
            .unwrap()
            .iter()
            .find(|input| input["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(input("visitors")["assigned"], 5000);
    assert_eq!(input("visitors")["cases"], Value::Array(Vec::new()));
    assert_eq!(input("load")["presets"][0], json(r#"{"preset": "big", "value": 0.9}"#));
    assert_eq!(input("region")["cases"][1], json(r#"{"label": "eu west", "value": "eu west"}"#));
    assert_eq!(input("greeting")["values"][0], "property.greeting@0.node.shop");
    assert_eq!(input("silver")["computed"], "{variability_input: gold}");
    assert_eq!(input("silver")["place"], "sizes.yaml:14:7");
    assert_eq!(texts(&input("gold")["influences"]), ["node.gold", "type.Gold@0.node.gold"]);
}

#[test]
fn inputs_of_the_shop() {
    let text = of_examples("inputs shop");
    assert!(
        text.starts_with(
            "stack: string  What hosts the shop\n  cases      laptop | cluster | box\n"
        ),
        "{text}"
    );
    assert!(text.contains("\nalerting: boolean\n"), "{text}");
    assert!(text.contains("\n  sets       property.replicas@7.node.shop\n"), "{text}");
}

#[test]
fn what_cannot_be_told_apart_has_to_be_assigned() {
    let expected = str![[r#"
error[open-input]: the values of input `load` cannot be told apart here, so it cannot stay open
  --> open.yaml:11:[..]
   |
 6 |       load: { type: list, default: [1, 2] }
   |       ---- declared here
...
11 |       conditions: { greater: [{ mean: { variability_input: load } }, 3] }
   | [..]^^^^^
   |
   = help: assign it with `--input load=VALUE` or a preset, or list its `valid_values`

error: 1 error

"#]];
    for command in ["inputs", "variants", "variants --count", "variants --pairwise", "analyze"] {
        refuses(&format!("{command} open.yaml"), expected.clone());
    }
    let found = [
        "2 variants",
        "ecc6dd81a612  helper (+1)  as it is",
        "f40af3036fd9  helper logs (+2)  -i watched=true",
    ];
    assert_eq!(listed("variants open.yaml -i load=[9,1]"), found);
    // An element is explained for the inputs as they are, so no input has to stay open.
    shows(
        "explain open.yaml node.helper",
        str![[r#"
node.helper is absent, and no change of inputs makes it present

node.helper  open.yaml:9:5
└─ condition `{ greater: [{ mean: { variability_input: load } }, 3] }` fails  open.yaml:11:19

"#]],
    );
}

/// The list of variants, each on one line, sorted, so that the order in which they are found does
/// not count.
fn listed(line: &str) -> Vec<String> {
    let mut lines: Vec<_> =
        told(&cuvee(line).success()).replace("\n    ", "  ").lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn variants_are_listed_with_the_inputs_that_give_them() {
    let found = [
        "01ac7e777f30  shop (+3)  -i logs=true",
        "1a9c01b8a699  shop (+2)  -i plain=false -i logs=true",
        "26e2f908ecfe  shop (+3)  -i tls=true -i plain=false -i logs=true",
        "44b4503bb6ba  shop (+2)  -i tls=true -i plain=false",
        "4aa0b99c526b  shop (+2)  as it is",
        "6 variants",
        "efab7ad8d263  shop (+1)  -i plain=false",
    ];
    assert_eq!(listed("variants checked.yaml"), found);
    assert_eq!(listed("variants checked.yaml --limit 6"), found);
    let some = listed("variants checked.yaml --limit 2");
    assert_eq!(some.iter().filter(|line| found.contains(&line.as_str())).count(), 2, "{some:?}");
    assert!(some.contains(&"2 variants, and there are more".to_owned()), "{some:?}");
    let found = [
        "2 variants",
        "a632d208231c  shop west gold silver  -i 'region=eu west' -i gold=true",
        "f8e425ecef24  shop gold silver  -i gold=true",
    ];
    let line = "variants sizes.yaml --projection nodes -i load=0 -i visitors=10 --where '{node_presence: gold}'";
    assert_eq!(listed(line), found);
}

#[test]
fn variants_are_counted() {
    shows("variants checked.yaml --count", "6 variants\n");
    shows("variants checked.yaml --count --projection nodes", "1 variant\n");
    // There are 3 cases of visitors, 2 of the load, 2 of the region, and gold needs silver.
    shows("variants sizes.yaml --count", "36 variants\n");
    shows("variants sizes.yaml --count --where '{node_presence: gold}'", "12 variants\n");
    shows(
        "variants sizes.yaml --count --where '{node_presence: gold}' --where '{not: {node_presence: west}}'",
        "6 variants\n",
    );
    shows("variants void.yaml --count", "0 variants\n");
    // Beyond the effort, variants are counted one by one.
    shows("variants sizes.yaml --count --effort 1", "36 variants\n");
    assert_eq!(
        asks("variants sizes.yaml --count --format json"),
        json(r#"{"version": 1, "count": "36", "exact": true}"#)
    );
}

#[test]
fn counting_says_where_it_ends() {
    let list = |line: &dyn Fn(usize) -> String| (0..18).map(line).collect::<String>();
    let inputs = list(&|n| format!("      i{n}: {{ type: boolean, default: false }}\n"));
    let input = |n: usize| format!("{{ variability_input: i{} }}", n % 18);
    let any =
        list(&|n| format!("      - or: [{}, {}, {}]\n", input(n), input(n + 1), input(n + 5)));
    let nodes =
        list(&|n| format!("    n{n}: {{ type: N, conditions: {{ variability_input: i{n} }} }}\n"));
    let head = "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    options: { mode: semantic-loose }\n";
    let dir = workplace();
    let text =
        format!("{head}    inputs:\n{inputs}    constraints:\n{any}  node_templates:\n{nodes}");
    fs::write(dir.path().join("many.yaml"), text).unwrap();
    let run = |flags: &str| command(dir.path(), &format!("variants many.yaml {flags}")).assert();
    let rotated = |bits: u32, by: u32| (bits >> by | bits << (18 - by)) & 0x3ffff;
    let count =
        (0..1 << 18).filter(|&bits| bits | rotated(bits, 1) | rotated(bits, 5) == 0x3ffff).count();
    run("--count").success().stdout_eq(format!("{count} variants\n"));
    // The first variant, with inputs at their defaults where possible, and the variants that share
    // half of its inputs.
    let all: Vec<u32> = (0..1 << 18)
        .filter(|&bits| bits | rotated(bits, 1) | rotated(bits, 5) == 0x3ffff)
        .collect();
    let first = all.iter().copied().min_by_key(|bits| bits.reverse_bits()).unwrap();
    let some = all.iter().filter(|&&bits| (bits ^ first) >> 9 == 0).count();
    run("--count --effort 1").success().stdout_eq(format!(
        "at least {some} variants: those in which 9 open inputs are as in one of them\n"
    ));
    run("--sample 2 --effort 1").code(1).stdout_eq("").stderr_eq(str![[r#"
error[open-input]: counting the variants takes more than 1 steps, so that none can be drawn fairly
 |
 = help: assign some inputs, or allow more with `--effort`

error: 1 error

"#]]);
}

#[test]
fn the_best_of_all_inputs() {
    shows(
        "variants sizes.yaml --minimize weight",
        str![[r#"
a30cde961f1b  shop (+2)
    -i load=[..]
1 variant, cost 1

"#]],
    );
    shows(
        "variants sizes.yaml --minimize count --projection nodes --where '{node_presence: gold}'",
        str![[r#"
f8e425ecef24  shop gold silver
    -i load=[..] -i gold=true
1 variant, cost 3

"#]],
    );
    shows(
        "variants reasons.yaml --minimize technologies --projection nodes",
        str![[r#"
bb44443961ac  shop
    as it is
1 variant, cost 0, and there are others as good

"#]],
    );
    let found = json(&of_examples(
        "variants shop --minimize weight --where '{node_presence: broker}' --format json",
    ));
    assert_eq!(found["cost"], "10");
    assert_eq!(found["more"], true);
}

#[test]
fn samples_can_be_drawn_again() {
    let sample = |seed: &str| of_examples(&format!("variants shop --sample 20 --seed {seed}"));
    assert_eq!(sample("7"), sample("7"));
    assert_ne!(sample("7"), sample("8"));
    assert!(sample("7").ends_with("\n20 variants, and there are more\n"));
    let names = |text: &str| {
        text.lines()
            .filter(|line| !line.starts_with(' '))
            .map(str::to_owned)
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(names(&sample("7")).len(), 21);
    // If there are fewer variants than asked for, all are drawn.
    assert!(of_examples("variants shop --sample 1000").ends_with("\n459 variants\n"));
}

#[test]
fn pairs_of_cases_are_covered() {
    assert!(
        told(&cuvee("variants checked.yaml --pairwise"))
            .ends_with("\n5 variants cover 11 combinations of cases\n")
    );
    let covered = |line: &str| {
        let found = json(&of_examples(line));
        let pairs = |variant: &Value| {
            let inputs = variant["inputs"].as_array().unwrap().iter();
            let inputs: Vec<_> =
                inputs.map(|input| format!("{}={}", input["name"], input["case"])).collect();
            let before =
                |(index, one)| inputs[..index].iter().map(move |other| format!("{other} {one}"));
            inputs.iter().enumerate().flat_map(before).collect::<Vec<_>>()
        };
        let variants = found["variants"].as_array().unwrap().iter();
        (variants.flat_map(pairs).collect::<BTreeSet<_>>(), found["covered"].as_u64())
    };
    // All pairs that any variant has, whatever inputs lead to the variant.
    let (pairs, count) =
        covered("variants shop --pairwise --format json -i region=eu-central -i visitors=10");
    assert_eq!(Some(pairs.len() as u64), count);
    let (listed, _) =
        covered("variants shop --limit 1000 --format json -i region=eu-central -i visitors=10");
    assert!(listed.is_subset(&pairs), "{:?}", listed.difference(&pairs));
    let found = json(&of_examples("variants shop --twise 3 --format json"));
    assert_eq!(found["covered"], 1356);
}

#[test]
fn presets_are_variants() {
    cuvee("variants checked.yaml --all-presets").success().stdout_eq(str![[r#"
safe  shop (+2)
both  no variant
    checked.yaml:15:11: error[ambiguous-property]: property "port@0" of node "shop" is ambiguous: more than one of its name is present
1 variant

"#]]).stderr_eq("");
    let found = asks("variants checked.yaml --all-presets --format json");
    assert_eq!(found["variants"][0]["preset"], "safe");
    assert_eq!(found["rejected"][0]["preset"], "both");
    assert_eq!(found["rejected"][0]["void"], false);
}

#[test]
fn conditions_that_are_wrong_have_their_place() {
    refuses(
        "variants checked.yaml --where '{node_presence: shopp}'",
        str![[r#"
error[unknown-element]: there is no node `shopp`
 --> <where>:1:17
  |
1 | {node_presence: shopp}
  |                 ^^^^^
  |
  = help: did you mean `shop`?

error: 1 error

"#]],
    );
    refuses(
        "variants checked.yaml --where '{variability_inputs: tls}'",
        str![[r#"
error[invalid-expression]: there is no operator `variability_inputs`
 --> <where>:1:2
  |
1 | {variability_inputs: tls}
  |  ^^^^^^^^^^^^^^^^^^
  |
  = help: did you mean `variability_input`?

error: 1 error

"#]],
    );
    refuses(
        "variants checked.yaml --where '{not: ['",
        str![[r#"
error[syntax]: malformed YAML: unclosed bracket '['
 --> <where>:1:7
  |
1 | {not: [
  |       ^
  |
  = help: close every bracket that is open

error: 1 error

"#]],
    );
}

#[test]
fn variants_as_json() {
    let found = asks("variants checked.yaml --limit 1 --format json");
    let keys: Vec<_> = found.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["more", "variants", "version"]);
    assert_eq!(found["more"], true);
    let variant = &found["variants"][0];
    assert!(texts(&variant["present"]).contains(&"node.shop"));
    let inputs: BTreeMap<_, _> = variant["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|input| (input["name"].as_str().unwrap(), input))
        .collect();
    assert_eq!(inputs.keys().copied().collect::<Vec<_>>(), ["logs", "plain", "tls"]);
    assert!(
        inputs["tls"]["value"].is_boolean()
            && inputs["tls"]["default"].is_boolean()
            && inputs["tls"]["case"].is_string()
    );
}

/// The manifest of a directory, and the texts of the variants' files.
fn written(dir: &Path) -> (Value, BTreeMap<String, String>) {
    let manifest = fs::read_to_string(dir.join("manifest.json")).unwrap();
    assert!(manifest.starts_with("{\n  \"version\": 1,\n"), "{manifest}");
    let entries =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let yaml = entries.filter(|name| name != "manifest.json");
    (
        json(&manifest),
        yaml.map(|name| (name.clone(), fs::read_to_string(dir.join(name)).unwrap())).collect(),
    )
}

#[test]
fn files_are_what_resolving_gives() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("first"), dir.path().join("second/below"));
    for target in [&first, &second] {
        let line = format!(
            "variants shop --sample 12 --seed 3 --where '{{node_presence: checkout}}' --output-dir {}",
            target.display()
        );
        of_examples(&line);
    }
    let (manifest, files) = written(&first);
    // Everything but relative names of files, which start in different directories.
    let (deeper, others) = written(&second);
    assert_eq!(manifest, deeper);
    let names = |text: &str| text.replace("../", "");
    assert_eq!(
        files.values().map(|text| names(text)).collect::<Vec<_>>(),
        others.values().map(|text| names(text)).collect::<Vec<_>>()
    );
    assert_eq!(manifest["more"], true);
    let variants = manifest["variants"].as_array().unwrap();
    assert_eq!((variants.len(), files.len()), (12, 12));
    for variant in variants {
        let inputs = variant["inputs"].as_array().unwrap().iter();
        let inputs = inputs
            .map(|input| (input["name"].as_str().unwrap().to_owned(), input["value"].clone()));
        let assignment = dir.path().join("inputs.json");
        fs::write(&assignment, Value::Object(inputs.collect()).to_string()).unwrap();
        let line = format!("resolve shop --inputs {}", assignment.display());
        let target = first.join("resolved");
        of_examples(&format!("{line} --output {}", target.display()));
        let resolved = fs::read_to_string(&target).unwrap();
        assert_eq!(files[variant["file"].as_str().unwrap()], resolved);
        assert!(resolved.contains("\n    checkout:\n"), "{resolved}");
    }
}

#[test]
fn files_of_presets_have_their_names() {
    let dir = workplace();
    command(dir.path(), "variants checked.yaml --all-presets --output-dir out -i logs=true")
        .assert()
        .success();
    let (manifest, files) = written(&dir.path().join("out"));
    assert_eq!(files.keys().collect::<Vec<_>>(), ["safe.yaml"]);
    assert_eq!(manifest["variants"][0]["preset"], "safe");
    let resolved =
        command(dir.path(), "resolve checked.yaml --preset safe -i logs=true").output().unwrap();
    assert_eq!(files["safe.yaml"].as_bytes(), resolved.stdout);
}

#[test]
fn names_depend_on_what_is_present_only() {
    let names = |line: &str| {
        let found = asks(line);
        let variants = found["variants"].as_array().unwrap().iter();
        let named = variants
            .map(|variant| (variant["name"].to_string(), texts(&variant["present"]).join(" ")));
        named.collect::<BTreeMap<_, _>>()
    };
    let all = names("variants checked.yaml --format json");
    assert_eq!(all.len(), 6);
    for line in [
        "variants checked.yaml -i tls=true --format json",
        "variants checked.yaml --sample 3 --seed 9 --format json",
    ] {
        let some = names(line);
        assert!(
            some.iter().all(|(name, present)| all[name] == *present) && some.len() < 6,
            "{some:?}"
        );
    }
}

#[test]
fn analysis_says_what_is_in_vain() {
    cuvee("analyze vain.yaml")
        .success()
        .stdout_eq(str![[r#"
in every variant:
  node.shop
  node.always

in no variant:
  node.never  vain.yaml:28:5

always present with what they belong to, in spite of their conditions:
  node.always  vain.yaml:29:5

in the same variants:
  node.machine node.disk

inputs that change values only:
  size  vain.yaml:8:7: property.size@0.node.shop

inputs that change nothing:
  colour  vain.yaml:9:7

constraints:
  follows from the rest: implies: [{ variability_input: cloud }, { variability_input: backup }]  vain.yaml:15:9
  follows from the rest: or: - not: { variability_input: cloud } - variability_input: backup  vain.yaml:16:9

presets without a variant:
  broken, whatever the other inputs are
    vain.yaml:15:9: error[unsatisfiable]: no variant fulfils all conditions: this one cannot hold
  large
    vain.yaml:15:9: error[unsatisfiable]: no variant fulfils all conditions: this one cannot hold

"#]])
        .stderr_eq(str![[r#"
warning[dead-element]: node "never" is in no variant
  --> vain.yaml:28:5
   |
28 |     never: { type: Shop, conditions: { and: [{ variability_input: cloud }, { not: { variability_input: backup } }] } }
   |     ^^^^^
   |
   = help: `cuvee explain` with `node.never` says why

warning: 1 warning

"#]]);
    cuvee("analyze vain.yaml --quiet -i cloud=false")
        .success()
        .stdout_eq(str![[r#"
in every variant:
  node.shop
  node.always

in no variant:
  node.machine  vain.yaml:25:5
  node.disk  vain.yaml:26:5
  node.never  vain.yaml:28:5

always present with what they belong to, in spite of their conditions:
  node.always  vain.yaml:29:5

inputs that change values only:
  size  vain.yaml:8:7: property.size@0.node.shop

inputs that change nothing:
  colour  vain.yaml:9:7

"#]])
        .stderr_eq("");
}

/// With `--strict`, what no template is meant to have makes builds fail.
#[test]
fn strict_questions_fail() {
    let vain = cuvee("analyze vain.yaml --strict").code(1);
    let text = String::from_utf8(vain.get_output().stderr.clone()).unwrap();
    assert!(text.contains("error[dead-element]: node \"never\" is in no variant\n"), "{text}");
    let rejected = "`--strict` rejects the template";
    let counted = "1 element in no variant, 1 element with conditions in vain, 1 input that changes nothing, 2 constraints that follow from the rest, 2 presets without a variant";
    let counted = format!("error[{}]: {rejected}: {counted}\n", Code::InVain);
    assert!(text.contains(&counted), "{text}");
    assert_eq!(told(&vain), told(&cuvee("analyze vain.yaml").success()));
    let void = cuvee("analyze void.yaml --strict --format json").code(1);
    assert_eq!(json(&told(&void))["void"], true);
    void.stderr_eq("error[in-vain]: `--strict` rejects the template: there is no variant\n...\n");
    cuvee("analyze sizes.yaml").success();
    // It is no fault if checks reject variants, or inputs change only values.
    let checked = cuvee("analyze checked.yaml --strict");
    assert!(told(&checked).contains("checks that reject variants"));

    cuvee("explain void.yaml --strict").code(1);
    cuvee("explain reasons.yaml --strict").success();
    cuvee("explain reasons.yaml -i watched=true --strict").code(1);
    cuvee("explain vain.yaml node.never --strict").code(1);
    cuvee("explain vain.yaml node.never").success();
    cuvee("explain vain.yaml node.always --strict").success();
    cuvee("explain reasons.yaml node.logs --strict").success();
}

/// Reasons are given down to the requested depth, and a note tells where they are cut.
#[test]
fn explanations_have_a_depth() {
    shows(
        "explain reasons.yaml relation.log@0.node.shop --depth 2",
        str![[r#"
relation.log@0.node.shop is absent because watched is false; to make it present: -i cloud=true -i watched=true

relation.log@0.node.shop  reasons.yaml:20:11
└─ pruning `target` (mode semantic-loose) fails  reasons.yaml:20:11
   └─ node.logs is absent …  reasons.yaml:21:5
… more than 2 steps down: `--depth` goes further

"#]],
    );
    let lines = |depth: &str| {
        let text = told(
            &cuvee(&format!("explain reasons.yaml relation.log@0.node.shop {depth}")).success(),
        );
        text.lines().count()
    };
    assert_eq!(lines("--depth 0"), 4);
    assert_eq!(lines("--depth 4"), lines(""));
    assert_eq!(lines("--depth 9"), lines("--depth 4"));
    let depth = |flags: &str| {
        let explanation = asks(&format!("explain reasons.yaml node.hen --format json {flags}"));
        let mut reason = &explanation;
        std::iter::from_fn(|| {
            reason = reason["because"].as_array()?.first()?;
            Some(())
        })
        .count()
    };
    assert_eq!((depth(""), depth("--depth 3"), depth("--depth 0")), (4, 3, 0));
}

/// An error that does not depend on inputs is reported once.
#[test]
fn a_wrong_template_is_told_once() {
    let dir = workplace();
    fs::write(dir.path().join("wrong.yaml"), "tosca_definitions_version: tosca_variability_1_0\ntopology_template: { node_templates: { a: { type: T, condtions: true } } }\n").unwrap();
    let failed = command(dir.path(), "explain wrong.yaml").assert().code(1);
    let text = String::from_utf8(failed.get_output().stderr.clone()).unwrap();
    assert_eq!(text.matches("error[unknown-keyword]").count(), 1, "{text}");
    fs::write(
        dir.path().join("needs.yaml"),
        "tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs: { n: { type: integer } }
    presets: { a: { inputs: {} }, b: { inputs: {} }, c: { inputs: { n: 1 } } }
  node_templates: { a: { type: T, conditions: { equal: [ { variability_input: n }, 1 ] } } }
",
    )
    .unwrap();
    for line in
        ["variants needs.yaml --all-presets", "analyze needs.yaml", "matrix needs.yaml --quiet"]
    {
        let text = command(dir.path(), line).output().unwrap();
        let text = String::from_utf8([text.stdout, text.stderr].concat()).unwrap();
        assert_eq!(text.matches("error[missing-input]").count(), 1, "{line}: {text}");
    }
}

#[test]
fn analysis_as_json() {
    let text = told(&cuvee("analyze vain.yaml --format json"));
    assert!(text.starts_with("{\n  \"version\": 1,\n  \"void\": false,\n"), "{text}");
    let analysis = json(&text);
    let keys: Vec<_> = analysis.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "atomic_sets",
        "checks",
        "constraints",
        "core",
        "dead",
        "false_optional",
        "idle_inputs",
        "presets",
        "version",
        "void",
    ];
    assert_eq!(keys, expected);
    assert_eq!(texts(&analysis["core"]), ["node.shop", "node.always"]);
    assert_eq!(analysis["dead"], json(r#"[{"element": "node.never", "place": "vain.yaml:28:5"}]"#));
    assert_eq!(texts(&analysis["atomic_sets"][0]), ["node.machine", "node.disk"]);
    assert_eq!(analysis["idle_inputs"][0]["name"], "size");
    assert_eq!(texts(&analysis["idle_inputs"][0]["values"]), ["property.size@0.node.shop"]);
    assert_eq!(analysis["constraints"][1]["redundant"], true);
    let presets: Vec<_> = analysis["presets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|preset| (&preset["preset"], &preset["void"]))
        .collect();
    assert_eq!(
        presets,
        [
            (&Value::from("broken"), &Value::from(true)),
            (&Value::from("large"), &Value::from(false))
        ]
    );
}

#[test]
fn analysis_of_nothing_possible() {
    shows(
        "analyze void.yaml",
        str![[r#"
there is no variant:
  `cuvee explain` says why

constraints:
  leaves no variant: { variability_input: gold }  void.yaml:9:9
  leaves no variant: not: { variability_input: silver }  void.yaml:10:9
  leaves no variant: implies: [{ variability_input: gold }, { variability_input: silver }]  void.yaml:11:9

"#]],
    );
    refuses(
        "variants void.yaml",
        str![[r#"
error[unsatisfiable]: no variant fulfils all conditions: these 3 conflict
  --> void.yaml:9:9
   |
 9 |       - { variability_input: gold }
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^ this constraint has to hold
10 |       - not: { variability_input: silver }
   |         ---------------------------------- this constraint has to hold
11 |       - implies: [{ variability_input: gold }, { variability_input: silver }]
   |         --------------------------------------------------------------------- this constraint has to hold
   |
   = help: each of them could hold without one of the others: drop or weaken any one

error: 1 error

"#]],
    );
    cuvee("explain void.yaml")
        .success()
        .stdout_eq("these inputs give no variant, and no change of inputs gives one\n")
        .stderr_eq(str![[r#"
error[unsatisfiable]: no variant fulfils all conditions: this one cannot hold
 --> void.yaml:9:9
  |
9 |       - { variability_input: gold }
  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^ this constraint has to hold
  |
  = help: drop or weaken it

note[unsatisfiable]: no other inputs help: these 3 conflict
  --> void.yaml:9:9
   |
 9 |       - { variability_input: gold }
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^ this constraint has to hold
10 |       - not: { variability_input: silver }
   |         ---------------------------------- this constraint has to hold
11 |       - implies: [{ variability_input: gold }, { variability_input: silver }]
   |         --------------------------------------------------------------------- this constraint has to hold
   |
   = help: each of them could hold without one of the others: drop or weaken any one

error: 1 error, 1 note

"#]]);
    assert_eq!(asks("analyze void.yaml --format json")["void"], true);
}

#[test]
fn analysis_names_checks_that_reject() {
    shows(
        "analyze checked.yaml",
        str![[r#"
in every variant:
  node.shop

checks that reject variants:
  ambiguous-property: 2 topologies, for example -i tls=true, because of node.shop

presets without a variant:
  both, whatever the other inputs are
    checked.yaml:15:11: error[ambiguous-property]: property "port@0" of node "shop" is ambiguous: more than one of its name is present

"#]],
    );
    let analysis = asks("analyze checked.yaml --format json");
    let check = &analysis["checks"][0];
    assert_eq!(
        (&check["check"], &check["element"]),
        (&Value::from("ambiguous-property"), &Value::from("node.shop"))
    );
    assert_eq!(check["count"], "2");
    shows(
        "analyze checked.yaml --option ambiguous_property_check=false",
        str![[r#"
in every variant:
  node.shop

"#]],
    );
}

#[test]
fn analysis_where_nothing_stands_out() {
    let dir = workplace();
    let template = "tosca_definitions_version: tosca_variability_1_0\ntopology_template: {}\n";
    fs::write(dir.path().join("empty.yaml"), template).unwrap();
    command(dir.path(), "analyze empty.yaml")
        .assert()
        .success()
        .stdout_eq("nothing stands out\n")
        .stderr_eq("");
    command(dir.path(), "inputs empty.yaml")
        .assert()
        .success()
        .stdout_eq("no inputs\n")
        .stderr_eq("");
}

#[test]
fn conditions_are_explained_down_to_inputs() {
    shows(
        "explain reasons.yaml property.url@0.node.shop --preset prod",
        str![[r#"
property.url@0.node.shop is present because cloud is true; to make it absent: -i cloud=false

property.url@0.node.shop  reasons.yaml:17:11
├─ condition `{ variability_input: cloud }`  reasons.yaml:17:43
│  └─ input cloud is true (the preset `prod`)  reasons.yaml:9:32
└─ pruning `container` (mode semantic-loose)  reasons.yaml:17:11
   └─ node.shop is present  reasons.yaml:13:5
      └─ no condition could remove it

"#]],
    );
    shows(
        "explain reasons.yaml property.url@0.node.shop",
        str![[r#"
property.url@0.node.shop is absent because cloud is false; to make it present: -i cloud=true

property.url@0.node.shop  reasons.yaml:17:11
└─ condition `{ variability_input: cloud }` fails  reasons.yaml:17:43
   └─ input cloud is false (default)  reasons.yaml:6:40

"#]],
    );
    // A change may need more than one input.
    shows(
        "explain sizes.yaml node.gold -i load=0 -i silver=false",
        str![[r#"
node.gold is absent because gold is false; to make it present: -i gold=true -i silver=true

node.gold  sizes.yaml:24:5
└─ condition `{ variability_input: gold }` fails  sizes.yaml:24:37
   └─ input gold is false (default)  sizes.yaml:13:39

"#]],
    );
    shows(
        "explain sizes.yaml node.west -i load=0",
        str![[r#"
node.west is absent because region is '10'; to make it present: -i 'region=eu west'

node.west  sizes.yaml:23:5
└─ condition `{ equal: [{ variability_input: region }, eu west] }` fails  sizes.yaml:23:37
   └─ input region is 10 (default)  sizes.yaml:12:40

"#]],
    );
    shows(
        "explain vain.yaml node.never",
        str![[r#"
node.never is absent, and no change of inputs makes it present

node.never  vain.yaml:28:5
└─ condition `{ and: [{ variability_input: cloud }, { not: { variability_i…` fails  vain.yaml:28:38
   └─ input cloud is false (default)  vain.yaml:6:40

"#]],
    );
}

#[test]
fn groups_hand_on_conditions() {
    shows(
        "explain reasons.yaml relation.log@0.node.shop",
        str![[r#"
relation.log@0.node.shop is absent because watched is false; to make it present: -i cloud=true -i watched=true

relation.log@0.node.shop  reasons.yaml:20:11
└─ pruning `target` (mode semantic-loose) fails  reasons.yaml:20:11
   └─ node.logs is absent  reasons.yaml:21:5
      └─ condition `{ variability_input: watched }` of group.watch fails  reasons.yaml:28:19
         └─ input watched is false (default)  reasons.yaml:7:42

"#]],
    );
    shows(
        "explain reasons.yaml node.logs -i cloud=true -i watched=true",
        str![[r#"
node.logs is present because watched is true; to make it absent: -i watched=false

node.logs  reasons.yaml:21:5
├─ condition `{ variability_input: watched }` of group.watch  reasons.yaml:28:19
│  └─ input watched is true (the call)
└─ pruning `incoming` (mode semantic-loose)  reasons.yaml:21:5
   └─ node.shop is present  reasons.yaml:13:5
      └─ no condition could remove it

"#]],
    );
}

#[test]
fn default_alternatives_depend_on_the_others() {
    shows(
        "explain reasons.yaml property.url@1.node.shop",
        str![[r#"
property.url@1.node.shop is present because cloud is false; to make it absent: -i cloud=true

property.url@1.node.shop  reasons.yaml:18:11
├─ default alternative: no other is present  reasons.yaml:18:11
│  └─ property.url@0.node.shop is absent  reasons.yaml:17:11
│     └─ condition `{ variability_input: cloud }` fails  reasons.yaml:17:43
│        └─ input cloud is false (default)  reasons.yaml:6:40
└─ pruning `container` (mode semantic-loose)  reasons.yaml:18:11
   └─ node.shop is present  reasons.yaml:13:5
      └─ no condition could remove it

"#]],
    );
    shows(
        "explain reasons.yaml property.url@1.node.shop -i cloud=true",
        str![[r#"
property.url@1.node.shop is absent because cloud is true; to make it present: -i cloud=false

property.url@1.node.shop  reasons.yaml:18:11
└─ default alternative: no other is present fails  reasons.yaml:18:11
   └─ property.url@0.node.shop is present  reasons.yaml:17:11
      ├─ condition `{ variability_input: cloud }`  reasons.yaml:17:43
      │  └─ input cloud is true (the call)
      └─ pruning `container` (mode semantic-loose)  reasons.yaml:17:11
         └─ node.shop is present  reasons.yaml:13:5
            └─ no condition could remove it

"#]],
    );
}

#[test]
fn what_only_supports_itself_is_absent() {
    shows(
        "explain reasons.yaml node.hen",
        str![[r#"
node.hen is absent, and no change of inputs makes it present

node.hen  reasons.yaml:24:5
└─ pruning `incoming` (mode semantic-loose) fails  reasons.yaml:24:5
   └─ node.egg is absent  reasons.yaml:23:5
      └─ pruning `incoming` (mode semantic-loose) fails  reasons.yaml:23:5
         └─ node.hen is absent, see above: they need each other, and the best variant does without them  reasons.yaml:24:5

"#]],
    );
}

#[test]
fn technologies_are_explained_by_their_rules() {
    let text = of_examples(
        "explain technologies technology.terraform@0.node.machine --preset machine --depth 9",
    );
    let rule = "\n\ntechnology.terraform@0.node.machine  technologies/lib/qualities.yaml:5:5\n├─ the condition of its technology rule  ";
    assert!(text.contains(rule), "{text}");
    assert!(text.contains("─ input target is machine (the preset `machine`)  "), "{text}");
    assert!(
        text.starts_with("technology.terraform@0.node.machine is present because target is machine; to make it absent: -i target=workstation\n\n"),
        "{text}"
    );
}

#[test]
fn explanations_as_json() {
    let explanation = asks("explain reasons.yaml node.logs --preset prod --format json");
    let keys: Vec<_> = explanation.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["because", "change", "element", "place", "present", "version"]);
    assert_eq!(
        (&explanation["element"], &explanation["present"]),
        (&Value::from("node.logs"), &Value::from(false))
    );
    let condition = &explanation["because"][0];
    assert_eq!(
        (&condition["kind"], &condition["holds"]),
        (&Value::from("condition"), &Value::from(false))
    );
    let input = &condition["because"][0];
    assert_eq!(
        (&input["kind"], &input["what"]),
        (&Value::from("input"), &Value::from("input watched is false (default)"))
    );
    assert_eq!(
        explanation["change"][0],
        json(
            r#"{"from": false, "name": "watched", "value": true, "case": "true", "default": false}"#
        )
    );
}

#[test]
fn rejected_choices_have_a_remedy() {
    cuvee("explain checked.yaml --preset both")
        .success()
        .stdout_eq(str![[r#"
these inputs give no variant; the smallest change that gives one: -i plain=false (now plain=true)

"#]])
        .stderr_eq(str![[r#"
error[ambiguous-property]: property "port@0" of node "shop" is ambiguous: more than one of its name is present
  --> checked.yaml:15:11
   |
15 |         - port: { value: 443, conditions: { variability_input: tls } }
   |           ^^^^
16 |         - port: { value: 80, conditions: { variability_input: plain } }
   |           ---- another is here
   |
   = help: write `conditions` that exclude each other, `unique_property_constraint: true` in the options, or another name

error: 1 error

"#]]);
    cuvee("explain reasons.yaml -i watched=true")
        .success()
        .stdout_eq(str![[r#"
these inputs give no variant; the smallest change that gives one: -i watched=false (now watched=true)

"#]])
        .stderr_eq(str![[r#"
error[unsatisfiable]: no variant fulfils all conditions: this one cannot hold
  --> reasons.yaml:11:9
   |
11 |       - implies: [{ variability_input: watched }, { variability_input: cloud }]
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ this constraint has to hold
   |
   = help: drop or weaken it; other inputs give a variant: `-i watched=false`

error: 1 error

"#]]);
    cuvee("explain reasons.yaml")
        .success()
        .stdout_eq("these inputs give a variant\n")
        .stderr_eq(str![[r#"
warning[pruned]: pruning removed nodes that no condition speaks about: "egg", "hen"
  --> reasons.yaml:23:5
   |
23 |     egg: { type: Egg, requirements: [{ from: hen }] }
   |     ^^^ "egg" went because "hen", its only source, did
24 |     hen: { type: Hen, requirements: [{ from: egg }] }
   |     --- "hen" went because "egg", its only source, did
   |
   = help: a node that has to stay is `persistent: true`, with the option `expected_incoming_relation_check: false`

warning: 1 warning

"#]]);
    let outlook = json(&told(&cuvee("explain checked.yaml --preset both --format json").success()));
    assert_eq!(outlook["version"], 1);
    assert_eq!(outlook["resolves"], false);
    assert_eq!(outlook["change"][0]["name"], "plain");
    assert_eq!(
        json(&told(&cuvee("explain reasons.yaml --format json").success())),
        json(r#"{"version": 1, "resolves": true, "change": null}"#)
    );
}

#[test]
fn elements_that_are_not_there_have_neighbours() {
    refuses(
        "explain reasons.yaml node.logz",
        str![[r#"
error[unknown-element]: there is no element `node.logz`
 |
 = help: did you mean `node.logs`?

error: 1 error

"#]],
    );
}

#[test]
fn what_excludes_each_other_is_wrong_use() {
    let lines = [
        "--count --sample 3",
        "--count --pairwise",
        "--pairwise --twise 3",
        "--twise 0",
        "--twise 7",
        "--minimize weight --sample 1",
        "--minimize size",
        "--all-presets --count",
        "--all-presets --preset safe",
        "--count --output-dir out",
        "--projection edges",
        "--limit many",
    ];
    for line in lines {
        let refused = cuvee(&format!("variants checked.yaml {line}")).code(2).stdout_eq("");
        assert!(refused.get_output().stderr.starts_with(b"error: "), "{line}");
    }
}

/// Counts the projected models of a DIMACS CNF with a decision diagram that quantifies all other
/// variables away.
fn projected_models(dimacs: &str) -> String {
    let numbers = |text: &str| {
        text.split_whitespace().filter_map(|word| word.parse::<i32>().ok()).collect::<Vec<_>>()
    };
    let header = dimacs.lines().find_map(|line| line.strip_prefix("p cnf ")).unwrap();
    let vars = numbers(header)[0] as u16;
    let shown = dimacs.lines().find_map(|line| line.strip_prefix("c p show ")).unwrap();
    let shown: BTreeSet<i32> = numbers(shown).into_iter().filter(|&var| var != 0).collect();
    let set = BddVariableSet::new_anonymous(vars);
    let variable = |literal: i32| BddVariable::from_index(literal.unsigned_abs() as usize - 1);
    let clause = |line: &str| {
        let literals = numbers(line).into_iter().filter(|&literal| literal != 0);
        let literals: Vec<_> = literals.map(|literal| (variable(literal), literal > 0)).collect();
        set.mk_disjunctive_clause(&BddPartialValuation::from_values(&literals))
    };
    let clauses = dimacs.lines().filter(|line| !line.starts_with(['c', 'p']));
    let all: Bdd = clauses.fold(set.mk_true(), |all, line| all.and(&clause(line)));
    let hidden: Vec<_> = (1..=i32::from(vars)).filter(|var| !shown.contains(var)).collect();
    let projected = all.exists(&hidden.iter().map(|&var| variable(var)).collect::<Vec<_>>());
    (projected.exact_cardinality() >> hidden.len()).to_string()
}

#[test]
fn exported_formulas_have_as_many_models_as_are_counted() {
    let dir = workplace();
    let run = |line: String| told(&command(dir.path(), &line).assert().success());
    let technologies = examples().join("technologies").display().to_string();
    let cases = [
        "sizes.yaml",
        "sizes.yaml --preset big",
        "vain.yaml",
        "void.yaml",
        "checked.yaml",
        "reasons.yaml",
        "open.yaml -i 'load=[9]'",
        &technologies,
    ];
    for case in cases {
        let count = json(&run(format!("variants {case} --count --format json")));
        let models = projected_models(&run(format!("export {case} --format dimacs")));
        assert_eq!(count["count"], models, "{case}");
        assert_eq!(count["exact"], true);
    }
}

/// The solver decides how variants are found, but neither which ones nor their order.
#[test]
fn solvers_do_not_change_a_byte() {
    const COMMANDS: [&str; 17] = [
        "analyze",
        "analyze --format json",
        "explain",
        "export --format dimacs",
        "export --format uvl",
        "export --format wcnf",
        "graph",
        "inputs --format json",
        "matrix",
        "report",
        "validate",
        "variants --format json",
        "variants --limit 3",
        "variants --pairwise",
        "variants --twise 3",
        "variants --sample 5 --seed 7",
        "variants --minimize weight --format json",
    ];
    let run = |command: &str, example: &Path, solver: &str| {
        let words = crate::shell::words(command);
        let (name, flags) = words.split_first().unwrap();
        let run = Command::new(cargo_bin("cuvee"))
            .arg(name)
            .arg(example)
            .args(flags)
            .args(["--solver", solver])
            .output()
            .unwrap();
        (run.status.code(), run.stdout, run.stderr)
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for example in fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
        let explained: Value =
            serde_json::from_slice(&run("variants --format json", &example, "batsat").1)
                .unwrap_or_default();
        let elements = explained["variants"][0]["present"].as_array().cloned().unwrap_or_default();
        let explain =
            elements.iter().take(5).map(|element| format!("explain {}", element.as_str().unwrap()));
        for command in COMMANDS.map(str::to_owned).into_iter().chain(explain) {
            let [one, other] = ["batsat", "varisat"].map(|solver| run(&command, &example, solver));
            assert_eq!(one, other, "{command} {}", example.display());
        }
    }
}

/// A list is written while it is made. It ends when its reader stops, and a full disk is an error.
#[cfg(target_os = "linux")]
#[test]
fn lists_end_where_they_cannot_be_written() {
    use std::io::Read;
    use std::process;
    let run = |to: process::Stdio| {
        process::Command::new(cargo_bin("cuvee"))
            .args(["variants", "examples/shop", "--limit", "1000", "--format", "json"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdout(to)
            .stderr(process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut read = run(process::Stdio::piped());
    let mut beginning = [0; 16];
    // The rest does not fit into a pipe, and the pipe is closed after this.
    read.stdout.take().unwrap().read_exact(&mut beginning).unwrap();
    let read = read.wait_with_output().unwrap();
    assert_eq!((&beginning, read.status.code()), (b"{\n  \"version\": 1", Some(0)));
    assert!(read.stderr.is_empty());

    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let full = run(full.into()).wait_with_output().unwrap();
    assert_eq!(full.status.code(), Some(1));
    let message = String::from_utf8(full.stderr).unwrap();
    assert!(message.starts_with("error[file]: cannot write to standard output"), "{message}");

    for args in [&["--help"][..], &["-V"], &["help", "resolve"], &["resolve", "-h"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut help = process::Command::new(cargo_bin!("cuvee"));
        let help = help.args(args).stdout(full).output().unwrap();
        assert_eq!(help.status.code(), Some(1), "{args:?}");
        let message = String::from_utf8(help.stderr).unwrap();
        assert!(message.starts_with("error[file]: cannot write to standard output"), "{message}");
    }
}
