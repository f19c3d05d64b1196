//! Tests `cuvee graph` and `cuvee matrix` from outside.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files has failed")]

use serde_json::Value;
use snapbox::cmd::{Command, cargo_bin};
use snapbox::{Data, IntoData, str};
use std::fs;
use tempfile::TempDir;

const SHOP: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    options:
      type_default_condition: true
      relation_default_condition: true
    inputs:
      cached:
        type: boolean
        default: false
      size:
        type: integer
        default: 1
    presets:
      fast:
        description: With a cache
        inputs: { cached: true }
      wrong:
        inputs: { size: many }
  node_templates:
    shop:
      type: shop.nodes.Service
      persistent: true
      requirements:
        - host: machine
        - cache: { node: cache, conditions: { variability_input: cached } }
        - name: { node: tosca.nodes.Root }
        - peer: shop
    cache:
      type: [shop.nodes.Cache]
      weight: 0.5
      requirements:
        - host: machine
    machine:
      type: Machine
  groups:
    extras:
      type: variability.groups.Root
      conditions: [{ variability_input: cached }, { greater: [{ variability_input: size }, 0] }]
      members: [cache]
";

fn workplace() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("shop.yaml"), SHOP).unwrap();
    dir
}

/// A command in this directory, without variables for inputs, colour and width.
fn cuvee(dir: &TempDir, line: &str) -> Command {
    let command =
        Command::new(cargo_bin!("cuvee")).current_dir(dir.path()).args(line.split_whitespace());
    ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CUVEE_PRESETS"]
        .into_iter()
        .fold(command, Command::env_remove)
}

/// The output of a command that succeeds and prints nothing on standard error.
fn output(dir: &TempDir, line: &str) -> String {
    let assert = cuvee(dir, line).assert().success().stderr_eq("");
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

fn json(dir: &TempDir, line: &str) -> Value {
    serde_json::from_str(&output(dir, line)).unwrap()
}

#[test]
fn draws_the_topology_as_mermaid() {
    cuvee(&workplace(), "graph shop.yaml").assert().success().stderr_eq("").stdout_eq(str![[r#"
flowchart TB
    n0[["<b>shop</b><br/><small>Service</small>"]]
    n1["<b>cache</b><br/><small>Cache</small>"]
    n2["<b>machine</b><br/><small>Machine</small>"]
    n0 ==> n2
    n0 -.->|"cache#58; cached"| n1
    n0 -.->|"name"| open2((" "))
    n0 -.->|"peer"| n0
    n1 ==> n2

"#]]);
}

#[test]
fn draws_a_variant_over_the_topology() {
    cuvee(&workplace(), "graph shop.yaml -i cached=false")
        .assert()
        .success()
        .stderr_eq("")
        .stdout_eq(str![[r#"
flowchart TB
    n0[["<b>shop</b><br/><small>Service</small>"]]:::present
    n1["<b>cache</b><br/><small>Cache</small>"]:::absent
    n2["<b>machine</b><br/><small>Machine</small>"]:::present
    n0 ==> n2
    n0 -.->|"cache#58; cached"| n1
    n0 -.->|"name"| open2((" ")):::present
    n0 -.->|"peer"| n0
    n1 ==> n2
    classDef present fill:#eaf5ff,stroke:#0969da,color:#0a3069
    classDef absent fill:transparent,stroke:#cfd6dd,color:#8b949e,stroke-dasharray:3 3
    linkStyle 0,2,3 stroke:#0969da
    linkStyle 1,4 stroke:#cfd6dd,color:#8b949e

"#]]);
}

#[test]
fn draws_what_is_present_only() {
    cuvee(&workplace(), "graph shop.yaml --present-only")
        .assert()
        .success()
        .stderr_eq("")
        .stdout_eq(str![[r#"
flowchart TB
    n0[["<b>shop</b><br/><small>Service</small>"]]:::present
    n1["<b>machine</b><br/><small>Machine</small>"]:::present
    n0 ==> n1
    n0 -.->|"name"| open1((" ")):::present
    n0 -.->|"peer"| n0
    classDef present fill:#eaf5ff,stroke:#0969da,color:#0a3069
    linkStyle 0,1,2 stroke:#0969da

"#]]);
}

#[test]
fn draws_how_two_variants_differ_as_dot() {
    let dir = workplace();
    let command = cuvee(&dir, "graph shop.yaml --to fast --format dot");
    command.assert().success().stderr_eq("").stdout_eq(str![[r##"
digraph topology {
    graph [rankdir=TB, nodesep=0.4, ranksep=0.7, bgcolor=transparent];
    node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=12, margin="0.2,0.1"];
    edge [fontname="sans-serif", fontsize=10];
    n0 [label="shop\nService", tooltip="shop\ntype: shop.nodes.Service\npersistent", id="node.shop", class="node present", fillcolor="#eaf5ff", color="#0969da", fontcolor="#0a3069", peripheries=2];
    n1 [label="+ cache\nCache", tooltip="cache\ntype: shop.nodes.Cache\nweight: 0.5\nif variability_input: cached\nif greater: [{variability_input: size}, 0]", id="node.cache", class="node added", fillcolor="#e6fbea", color="#1a7f37", fontcolor="#0b4d20"];
    n2 [label="machine\nMachine", tooltip="machine\ntype: Machine", id="node.machine", class="node present", fillcolor="#eaf5ff", color="#0969da", fontcolor="#0a3069"];
    n0 -> n2 [style=bold, penwidth=2, arrowhead=normal, weight=3, tooltip="host: shop → machine", id="relation.host@0.node.shop", class="relation hosting present", color="#0969da"];
    n0 -> n1 [style=dashed, arrowhead=vee, tooltip="cache: shop → cache\nif variability_input: cached", id="relation.cache@1.node.shop", class="relation connection added", color="#1a7f37", label="+", fontcolor="#1a7f37"];
    open2 [shape=circle, width=0.12, label="", fillcolor="#eaf5ff", color="#0969da", fontcolor="#0a3069"];
    n0 -> open2 [style=dashed, arrowhead=vee, tooltip="name: shop → whatever an orchestrator chooses", id="relation.name@2.node.shop", class="relation connection present", color="#0969da"];
    n0 -> n0 [style=dashed, arrowhead=vee, tooltip="peer: shop → shop", id="relation.peer@3.node.shop", class="relation connection present", color="#0969da"];
    n1 -> n2 [style=bold, penwidth=2, arrowhead=normal, weight=3, tooltip="host: cache → machine", id="relation.host@0.node.cache", class="relation hosting added", color="#1a7f37", label="+", fontcolor="#1a7f37"];
}

"##]].raw());
}

#[test]
fn gives_states_as_json() {
    let dir = workplace();
    let graph = json(&dir, "graph shop.yaml --preset fast --format json");
    assert!(output(&dir, "graph shop.yaml --format json").starts_with("{\n  \"version\": 1,\n"));
    let cache = &graph["nodes"][1];
    assert_eq!(cache["identifier"], "node.cache");
    assert_eq!(cache["state"], "present");
    assert_eq!(cache["weight"], 0.5);
    assert_eq!(cache["place"], "shop.yaml:29:5");
    let conditions = ["variability_input: cached", "greater: [{variability_input: size}, 0]"];
    assert_eq!(cache["conditions"], serde_json::json!(conditions));
    let name = &graph["relations"][2];
    assert_eq!(name["identifier"], "relation.name@2.node.shop");
    assert_eq!(
        (&name["source"], &name["target"], &name["hosting"]),
        (&0.into(), &Value::Null, &false.into())
    );
    let plain = json(&dir, "graph shop.yaml --format json");
    assert!(plain["nodes"].as_array().unwrap().iter().all(|node| node["state"] == "plain"));
}

#[test]
fn draws_svg_that_tells_variants_apart() {
    let dir = workplace();
    let svg = output(&dir, "graph shop.yaml --to fast --format svg");
    for part in [
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"topology\" ",
        "<g class=\"node added conditional\" data-id=\"node.cache\"><title>cache\ntype: shop.nodes.Cache\nweight: 0.5\nif ",
        "<g class=\"node present persistent\" data-id=\"node.shop\">",
        "<g class=\"relation hosting added\" data-id=\"relation.host@0.node.cache\">",
        "<g class=\"relation connection present\" data-id=\"relation.peer@3.node.shop\">",
        ">only with fast</text>",
        "prefers-color-scheme: dark",
    ] {
        assert!(svg.replace("&#10;", "\n").contains(part), "{part} is not in {svg}");
    }
    // The drawing refers to nothing on other servers.
    assert_eq!(svg.matches("http").count(), 1);
}

#[test]
fn draws_what_is_alike_in_large_svgs_as_one() {
    let dir = workplace();
    let nodes: String =
        (0..80).map(|at| format!("    worker_{at}: {{ type: Worker }}\n")).collect();
    let text = format!(
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  node_templates:\n{nodes}"
    );
    fs::write(dir.path().join("many.yaml"), text).unwrap();
    let svg = output(&dir, "graph many.yaml --format svg");
    assert!(svg.contains(">worker_* × 80</text>"), "{svg}");
    assert_eq!(svg.matches("<g class=\"node").count(), 1);
    let each = output(&dir, "graph many.yaml --format svg --expand");
    assert_eq!(each.matches("<g class=\"node").count(), 80);
    // Other formats are meant for programs, and keep all nodes.
    assert_eq!(json(&dir, "graph many.yaml --format json")["nodes"].as_array().unwrap().len(), 80);
}

#[test]
fn writes_to_a_file() {
    let dir = workplace();
    // The ending of the file says its format.
    for (ending, format) in [("svg", "svg"), ("dot", "dot"), ("mmd", "mermaid"), ("json", "json")] {
        assert_eq!(output(&dir, &format!("graph shop.yaml -o shop.{ending}")), "");
        assert_eq!(
            fs::read_to_string(dir.path().join(format!("shop.{ending}"))).unwrap(),
            output(&dir, &format!("graph shop.yaml --format {format}"))
        );
    }
    cuvee(&dir, "graph shop.yaml --format json -o other.svg").assert().code(1).stderr_eq(str![[
        r#"
error[usage]: `other.svg` ends in `.svg`, which is not the ending of this `--format`
 |
 = help: leave out `--format`, or use the ending `.json`

error: 1 error

"#
    ]]);
    cuvee(&dir, "graph shop.yaml -o other.html").assert().code(1).stderr_eq(str![[r#"
error[usage]: `other.html` ends in `.html`, but this command writes no such file
 |
 = help: use one of the endings `.mmd`, `.dot`, `.gv`, `.svg`, `.json`

error: 1 error

"#]]);
    assert!(!dir.path().join("other.svg").exists() && !dir.path().join("other.html").exists());
}

/// Two variants are named as `diff` and `plan` name them: presets or files, and by default what the
/// other flags choose.
#[test]
fn compares_the_variants_that_diff_compares() {
    let dir = workplace();
    fs::write(dir.path().join("cached.yaml"), "cached: true\n").unwrap();
    let states = |line: &str| {
        let graph = json(&dir, &format!("graph shop.yaml {line} --format json"));
        let nodes = graph["nodes"].as_array().unwrap().iter();
        nodes.map(|node| node["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(states("--to fast"), ["present", "added", "present"]);
    assert_eq!(states("--from fast"), ["present", "removed", "present"]);
    assert_eq!(states("--to cached.yaml"), states("--to fast"));
    assert_eq!(states("--preset fast --to cached.yaml"), ["present"; 3]);
    let named = output(&dir, "graph shop.yaml --preset fast --from cached.yaml --to fast -o -");
    assert!(!named.contains(":::added"), "{named}");
}

#[test]
fn reads_the_template_from_standard_input_once() {
    let dir = workplace();
    let command = cuvee(&dir, "graph - --from fast --to fast").stdin(Data::text(SHOP));
    let assert = command.assert().success();
    let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    assert!(text.contains(":::present") && !text.contains(":::added"), "{text}");
}

#[test]
fn rejects_what_cannot_be_drawn() {
    let dir = workplace();
    cuvee(&dir, "graph shop.yaml --to fsat").assert().code(1).stdout_eq("").stderr_eq(str![[r#"
error[unknown-preset]: --to fsat: there is no variability preset `fsat`
 |
 = help: did you mean `fast`?

error: 1 error

"#]]);
    cuvee(&dir, "graph shop.yaml --preset wrong").assert().code(1).stdout_eq("");
    cuvee(&dir, "graph shop.yaml --format png").assert().code(2).stdout_eq("");
}

#[test]
fn shows_what_is_present_with_which_preset() {
    cuvee(&workplace(), "matrix shop.yaml").assert().success().stderr_eq("").stdout_eq(str![[r#"
          -   fast  wrong
shop      ●    ●      ✗
cache     ·    ●      ✗
machine   ●    ●      ✗
present   2    3      ✗

✗ wrong: shop.yaml:19:25: error[invalid-input]: the preset `wrong` assigns `size` a value that does not fit: expected an integer, got a string `many`

"#]]);
}

#[test]
fn shows_every_element() {
    cuvee(&workplace(), "matrix shop.yaml --elements all -i size=2")
        .assert()
        .success()
        .stderr_eq("")
        .stdout_eq(str![[r#"
                                              -   fast  wrong
node.shop                                     ●    ●      ●
type.shop.nodes.Service@0.node.shop           ●    ●      ●
relation.host@0.node.shop                     ●    ●      ●
relation.cache@1.node.shop                    ·    ●      ·
relation.name@2.node.shop                     ●    ●      ●
relation.peer@3.node.shop                     ●    ●      ●
node.cache                                    ·    ●      ·
type.shop.nodes.Cache@0.node.cache            ·    ●      ·
relation.host@0.node.cache                    ·    ●      ·
node.machine                                  ●    ●      ●
type.Machine@0.node.machine                   ●    ●      ●
group.extras                                  ·    ·      ·
type.variability.groups.Root@0.group.extras   ·    ·      ·
present                                       7    11     7

"#]]);
}

#[test]
fn writes_the_matrix_for_programs() {
    let dir = workplace();
    cuvee(&dir, "matrix shop.yaml --format csv").assert().success().stderr_eq("").stdout_eq(str![
        [r#"
element,-,fast,wrong
node.shop,present,present,rejected
node.cache,absent,present,rejected
node.machine,present,present,rejected

"#]
    ]);
    cuvee(&dir, "matrix shop.yaml --format markdown").assert().success().stderr_eq("").stdout_eq(str![[r#"
| Element | - | fast | wrong |
| --- | :-: | :-: | :-: |
| shop | ● | ● | ✗ |
| cache | · | ● | ✗ |
| machine | ● | ● | ✗ |

- ✗ wrong: shop.yaml:19:25: error\[invalid-input\]: the preset \`wrong\` assigns \`size\` a value that does not fit: expected an integer, got a string \`many\`

"#]].raw());
    cuvee(&dir, "matrix shop.yaml --format json").assert().success().stderr_eq("").stdout_eq(str![[r#"
{
  "version": 1,
  "columns": [
    {
      "preset": null,
      "description": null,
      "rejected": []
    },
    {
      "preset": "fast",
      "description": "With a cache",
      "rejected": []
    },
    {
      "preset": "wrong",
      "description": null,
      "rejected": [
        "shop.yaml:19:25: error[invalid-input]: the preset `wrong` assigns `size` a value that does not fit: expected an integer, got a string `many`"
      ]
    }
  ],
  "rows": [
    {
      "identifier": "node.shop",
      "kind": "node",
      "present": [
        true,
        true,
        null
      ]
    },
    {
      "identifier": "node.cache",
      "kind": "node",
      "present": [
        false,
        true,
        null
      ]
    },
    {
      "identifier": "node.machine",
      "kind": "node",
      "present": [
        true,
        true,
        null
      ]
    }
  ]
}

"#]]);
}

#[test]
fn a_broken_template_has_no_matrix() {
    let dir = workplace();
    fs::write(dir.path().join("broken.yaml"), SHOP.replace("greater", "grater")).unwrap();
    cuvee(&dir, "matrix broken.yaml").assert().code(1).stdout_eq("");
    cuvee(&dir, "matrix shop.yaml -i size=none").assert().code(1).stdout_eq("").stderr_eq(str![[
        r#"
error[invalid-input]: `--input size=none`: expected an integer, got a string `none`
  --> shop.yaml:11:7
   |
11 |       size:
   |       ---- declared here

error: 1 error

"#
    ]]);
}

#[test]
fn draws_the_examples() {
    for (template, presets) in [
        ("shop", &["dev", "prod", "edge"][..]),
        ("technologies", &["workstation", "machine", "cluster"]),
    ] {
        let template = format!("{}/examples/{template}", env!("CARGO_MANIFEST_DIR"));
        let dir = workplace();
        for format in ["mermaid", "dot", "svg", "json"] {
            output(&dir, &format!("graph {template} --format {format}"));
            for preset in presets {
                let text =
                    output(&dir, &format!("graph {template} --format {format} --preset {preset}"));
                assert!(text.contains("present") && text.contains("absent"), "{text}");
            }
        }
    }
}

/// A result of substituting `db`, in which `db_engine` was substituted as well.
const SUBSTITUTED: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    shop: { type: tosca.nodes.Root, requirements: [{ dependency: db_proxy }] }
    db_proxy: { type: tosca.nodes.Root, metadata: { substitutes: db } }
    other: { type: tosca.nodes.Root }
    db_engine_process: { type: tosca.nodes.Root, metadata: { substitutes: db_engine, within: db } }
";

#[test]
fn frames_are_around_what_substitutes() {
    let dir = workplace();
    fs::write(dir.path().join("flat.yaml"), SUBSTITUTED).unwrap();
    let mermaid = output(&dir, "graph flat.yaml --format mermaid");
    let frames = [
        "    subgraph frame0[\"db\"]\n        n1[",
        "        subgraph frame1[\"db#95;engine\"]\n            n3[",
        "            n3[\"<b>db_engine_process</b><br/><small>Root</small>\"]\n        end\n    end\n    n2[",
    ];
    for part in frames {
        let part = part.replace("#95;", "_");
        assert!(mermaid.contains(&part), "{part} is not in {mermaid}");
    }
    let dot = output(&dir, "graph flat.yaml --format dot");
    assert!(dot.contains("    subgraph cluster_0 {\n        graph [label=\"db\", id=\"frame.db\""));
    assert_eq!(dot.matches("subgraph").count(), 2);
    let svg = output(&dir, "graph flat.yaml --format svg");
    let page = output(&dir, "report flat.yaml").replace("\\u003c", "<").replace("\\\"", "\"");
    for drawn in [&svg, &page] {
        for id in ["frame.db", "frame.db/db_engine"] {
            assert!(drawn.contains(&format!("<g class=\"frame\" data-id=\"{id}\">")), "{drawn}");
        }
    }
    let json = json(&dir, "graph flat.yaml --format json");
    assert_eq!(json["nodes"][3]["substitutes"], serde_json::json!(["db", "db_engine"]));
}

/// The words of the legend of an SVG.
fn legend(svg: &str) -> Vec<String> {
    let (_, legend) = svg.split_once("<g class=\"legend\"").unwrap();
    let words = legend.split("<text class=\"word\"").skip(1);
    let inner = |word: &str| word[word.find('>').unwrap() + 1..word.find('<').unwrap()].to_owned();
    words.map(inner).collect()
}

/// The legend of a plan counts what its summary counts, and explains the colours of what changes.
#[test]
fn the_legend_of_a_plan_counts_as_its_summary() {
    let dir = workplace();
    let shop = format!("{}/examples/shop", env!("CARGO_MANIFEST_DIR"));
    for choice in ["--preset dev", "--preset prod", "--preset edge", "--from dev --to prod"] {
        let summary = &json(&dir, &format!("plan {shop} {choice} --format json"))["summary"];
        let svg = output(&dir, &format!("plan {shop} {choice} --format svg"));
        let human = output(&dir, &format!("plan {shop} {choice}"));
        let legend = legend(&svg);
        for (noun, key) in [("operation", "operations"), ("delegation", "delegations")] {
            let count = summary[key].as_u64().unwrap();
            let said = format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
            assert_eq!(legend.contains(&said), count > 0, "{choice}: {legend:?}");
            assert!(count == 0 || human.lines().next().unwrap().contains(&said), "{human}");
        }
        let boxes = svg.matches("<g class=\"step call node ").count() as u64;
        // One more is in the legend.
        assert_eq!(boxes, summary["operations"].as_u64().unwrap() + 1, "{svg}");
        let changes =
            ["added", "removed", "changed"].map(|word| legend.iter().any(|it| it == word));
        assert_eq!(changes, [choice.contains("--to"); 3], "{legend:?}");
        assert!(legend.iter().any(|it| it == "comes before"), "{legend:?}");
    }
}

/// The nodes of the cluster are on several layers, with another node beside them: one frame is
/// around them all the same.
#[test]
fn a_substituted_node_has_one_frame() {
    let dir = workplace();
    let catalogue = format!("{}/examples/catalogue", env!("CARGO_MANIFEST_DIR"));
    for database in ["self-hosted", "cluster"] {
        let flat = format!("substitute {catalogue} --with {catalogue}/databases --quiet");
        output(&dir, &format!("{flat} --choose db={database}.yaml -o flat.yaml"));
        let svg = output(&dir, "graph flat.yaml --format svg");
        assert_eq!(svg.matches("<g class=\"frame\" data-id=\"frame.db\">").count(), 1);
        assert_eq!(svg.matches("<rect class=\"around\"").count(), 1, "{svg}");
    }
}

/// Colours alone do not tell everybody what differs.
#[test]
fn what_differs_has_a_sign() {
    let dir = workplace();
    let mermaid = output(&dir, "graph shop.yaml --to fast");
    assert!(mermaid.contains("n1[\"<b>+ cache</b>"), "{mermaid}");
    assert!(mermaid.contains("n0 -.->|\"+ cache#58; cached\"| n1"), "{mermaid}");
    assert!(output(&dir, "graph shop.yaml --from fast").contains("n1[\"<b>− cache</b>"));
    let svg = output(&dir, "graph shop.yaml --to fast --format svg");
    let (_, relation) = svg.split_once("data-id=\"relation.host@0.node.cache\">").unwrap();
    let (relation, _) = relation.split_once("</g>\n").unwrap();
    assert!(relation.contains("<g class=\"sign\""), "{relation}");
}
