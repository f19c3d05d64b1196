//! Tests what editors ask about variants: commands and lenses.

use crate::client::{Client, text_in};
use crate::folders::copy;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use tempfile::{TempDir, tempdir};

const TEMPLATE: &str = "variable-service-template.yaml";

/// The shop, with its template open.
fn shop() -> (TempDir, Client, String) {
    let folder = tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let shop = folder.path().join("shop");
    copy(&examples.join("shop"), &shop);
    let mut client = Client::new(&shop);
    let text = client.open_saved(TEMPLATE);
    (folder, client, text)
}

fn run(client: &mut Client, command: &str, more: Value) -> Result<Value, Value> {
    let mut subject = json!({ "uri": client.uri(TEMPLATE) });
    subject.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client
        .request("workspace/executeCommand", json!({ "command": command, "arguments": [subject] }))
}

/// What the command line prints.
fn printed(client: &Client, line: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuvee"));
    let output = command.args(line.split(' ')).current_dir(&client.folder).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn texts_are_those_of_the_command_line() {
    let (_folder, mut client, _) = shop();
    let dev = json!({ "preset": "dev" });
    for (command, subject, line) in [
        ("cuvee.resolve", &dev, format!("resolve {TEMPLATE} --preset dev")),
        ("cuvee.graph", &dev, format!("graph {TEMPLATE} --preset dev --format svg")),
        ("cuvee.graph", &json!({}), format!("graph {TEMPLATE} --format svg")),
        ("cuvee.matrix", &json!({}), format!("matrix {TEMPLATE} --format markdown")),
    ] {
        let told = run(&mut client, command, subject.clone()).unwrap();
        assert_eq!(told, printed(&client, &line), "{command}");
    }
    let names = run(&mut client, "cuvee.presets", json!({})).unwrap();
    assert_eq!(names, json!(["dev", "prod", "edge", "sale"]));
    client.shut_down();
}

#[test]
fn unsaved_text_counts() {
    let (_folder, mut client, text) = shop();
    client.replace(TEMPLATE, 2, &text.replace("name: \"tea\"", "name: \"coffee\""));
    let told = run(&mut client, "cuvee.resolve", json!({ "preset": "dev" })).unwrap();
    assert!(told.as_str().unwrap().contains("name: \"coffee\""));
    client.replace(TEMPLATE, 3, "tosca_definitions_version: tosca_variability_1_0\nx: [\n");
    let why = run(&mut client, "cuvee.resolve", json!({})).unwrap_err();
    assert!(why["message"].as_str().unwrap().contains("error[syntax]"), "{why}");
    client.shut_down();
}

#[test]
fn the_element_at_the_cursor_is_explained() {
    let (_folder, mut client, text) = shop();
    let line = text.lines().position(|line| line.starts_with("    cluster:")).unwrap();
    let at = |line: usize| json!({ "preset": "dev", "position": { "line": line, "character": 6 } });
    let told = run(&mut client, "cuvee.explain", at(line)).unwrap();
    let shown = printed(&client, &format!("explain {TEMPLATE} node.cluster --preset dev"));
    let told = told.as_str().unwrap();
    assert_eq!(
        told.replace(client.folder.to_str().unwrap(), "").replace("/variable", "variable"),
        format!("```text\n{shown}```\n")
    );
    let why = run(&mut client, "cuvee.explain", at(0)).unwrap_err();
    assert!(why["message"].as_str().unwrap().contains("no element"), "{why}");
    client.shut_down();
}

#[test]
fn lenses_count_variants_and_offer_those_of_presets() {
    let (_folder, mut client, text) = shop();
    let params = json!({ "textDocument": { "uri": client.uri(TEMPLATE) } });
    let lenses = client.request("textDocument/codeLens", params).unwrap();
    let typed: Vec<gen_lsp_types::CodeLens> = serde_json::from_value(lenses.clone()).unwrap();
    assert_eq!(typed.len(), 1 + 2 * 4);
    let lens = |index: usize| {
        let it = &lenses[index];
        (text_in(&text, &it["range"]), it["command"]["title"].as_str().unwrap())
    };
    assert_eq!(lens(0), ("variability", "459 variants"));
    assert_eq!(lens(1), ("dev", "show variant"));
    assert_eq!(lens(2), ("dev", "show graph"));
    let command = lenses[2]["command"].clone();
    let svg = client.request("workspace/executeCommand", command).unwrap();
    assert!(svg.as_str().unwrap().starts_with("<svg"));
    client.shut_down();
}

#[test]
fn lenses_of_tosca_2_0_are_those_of_version_1_3() {
    let folder = tempdir().unwrap();
    let text = "tosca_definitions_version: tosca_2_0\nnode_types: {Web: {}}\nservice_template:\n  \
                variability:\n    inputs: {on: {type: boolean}}\n    presets: {off: {inputs: {on: false}}}\n  \
                node_templates:\n    web: {type: Web, conditions: {variability_input: on}}\n";
    std::fs::write(folder.path().join(TEMPLATE), text).unwrap();
    let mut client = Client::new(folder.path());
    client.open_saved(TEMPLATE);
    let params = json!({ "textDocument": { "uri": client.uri(TEMPLATE) } });
    let lenses = client.request("textDocument/codeLens", params).unwrap();
    let titles: Vec<_> =
        lenses.as_array().unwrap().iter().map(|lens| &lens["command"]["title"]).collect();
    assert_eq!(titles, ["2 variants", "show variant", "show graph"]);
    client.shut_down();
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let (_folder, mut client, _) = shop();
    for (command, subject, said) in [
        ("cuvee.unknown", json!({}), "there is no command `cuvee.unknown`"),
        ("cuvee.resolve", json!({ "preset": "prd" }), "`prd`"),
        ("cuvee.explain", json!({}), "the command has no position"),
        (
            "cuvee.resolve",
            json!({ "uri": client.uri("other.yaml") }),
            "a template that is not open",
        ),
    ] {
        let why = run(&mut client, command, subject).unwrap_err();
        assert!(why["message"].as_str().unwrap().contains(said), "{command}: {why}");
    }
    let empty = client.request("workspace/executeCommand", json!({ "command": "cuvee.resolve" }));
    let why = empty.unwrap_err();
    assert!(why["message"].as_str().unwrap().contains("template"), "{why}");
    let lenses = json!({ "textDocument": { "uri": client.uri("other.yaml") } });
    assert_eq!(client.request("textDocument/codeLens", lenses).unwrap(), json!([]));
    client.shut_down();
}
