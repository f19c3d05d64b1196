//! Tests what is published: of templates, of what they import, and while somebody types.

use crate::client::{Client, is_dead, lines};
use crate::folders;
use cuvee::Resolver;
use serde_json::json;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

pub(crate) const TYPES: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Shop:
    derived_from: tosca.nodes.Root
    properties:
      port: {type: integer}
";

pub(crate) const SHOP: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
imports: [types.yaml]
topology_template:
  node_templates:
    shop:
      type: Shop
      properties: {port: 80}
";

/// A template whose wrong value only some variants have.
pub(crate) const VARIABLE: &str = "tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    options: {mode: manual}
    inputs:
      on: {type: boolean, default: false}
  node_templates:
    shop:
      type: tosca.nodes.Root
      requirements:
        - dependency: cache
    cache:
      type: tosca.nodes.Root
      conditions: {variability_input: on}
";

#[test]
fn a_mistake_is_published_with_its_repair() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("types.yaml"), TYPES).unwrap();
    let mut client = Client::new(folder.path());
    client.open("shop.yaml", &SHOP.replace("type: Shop", "type: Shopp"));
    let found = client.published("shop.yaml", 1);
    assert_eq!(lines(&found), ["5:12 unknown-type: there is no node type `Shopp`"]);
    let value = serde_json::to_value(&found[0]).unwrap();
    assert_eq!(value["codeDescription"]["href"], "cuvee:/codes/unknown-type");
    assert_eq!((&value["severity"], &value["source"]), (&json!(1), &json!("cuvee")));
    let document = json!({ "uri": client.uri("shop.yaml") });
    let asked = json!({ "textDocument": document, "range": found[0].range, "context": { "diagnostics": [] } });
    let actions = client.request("textDocument/codeAction", asked).unwrap();
    let typed: Vec<gen_lsp_types::CodeAction> = serde_json::from_value(actions.clone()).unwrap();
    assert_eq!(typed.len(), 1);
    let edit = &actions[0]["edit"]["changes"][client.uri("shop.yaml")][0];
    assert_eq!(edit["newText"], "Shop");
    client.change("shop.yaml", 2, json!([{ "range": edit["range"], "text": edit["newText"] }]));
    assert_eq!(client.published("shop.yaml", 2), []);
    client.shut_down();
}

#[test]
fn unsaved_text_of_imports_counts() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("types.yaml"), TYPES).unwrap();
    let mut client = Client::new(folder.path());
    client.open("shop.yaml", SHOP);
    assert_eq!(client.published("shop.yaml", 1), []);
    client.open("types.yaml", TYPES);
    assert_eq!(client.published("types.yaml", 1), []);
    client.replace("types.yaml", 2, &TYPES.replace("port", "door"));
    assert_eq!(client.published("types.yaml", 2), []);
    let found = client.published_until("shop.yaml", 1, |found| !found.is_empty());
    let expected = [
        "4:4 missing-property: node \"shop\" needs a value of the property `door`",
        "6:19 unknown-property: `Shop` has no property `port`",
    ];
    assert_eq!(lines(&found), expected);
    let value = serde_json::to_value(&found[0]).unwrap();
    assert_eq!(value["relatedInformation"][0]["location"]["uri"], client.uri("types.yaml"));
    // A mistake in the library is shown there.
    client.replace("types.yaml", 3, &TYPES.replace("integer", "integr"));
    let found = client.published("types.yaml", 3);
    assert_eq!(found[0].range.start.line, 5);
    // What was not saved is gone with the document.
    client.close("types.yaml");
    client.published_until("shop.yaml", 1, <[_]>::is_empty);
    client.shut_down();
}

#[test]
fn a_library_is_judged_by_itself_or_through_its_template() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("types.yaml"), TYPES).unwrap();
    fs::write(folder.path().join("shop.yaml"), SHOP).unwrap();
    let mut client = Client::new(folder.path());
    let wrong = TYPES.replace("integer", "integr");
    client.open("types.yaml", &wrong);
    assert_eq!(client.published("types.yaml", 1).len(), 1);
    client.open_saved("shop.yaml");
    let found = client.published("shop.yaml", 1);
    assert!(lines(&found)[0].starts_with("6:25 undecidable: "), "{found:?}");
    client.replace("types.yaml", 2, &wrong);
    assert_eq!(client.published("types.yaml", 2).len(), 1, "once, not twice");
    client.close("shop.yaml");
    client.replace("types.yaml", 3, TYPES);
    assert_eq!(client.published("types.yaml", 3), []);
    client.shut_down();
}

/// Files of several folders have the same names, and nothing to do with each other.
#[test]
fn folders_are_apart() {
    let folder = tempdir().unwrap();
    for name in ["one", "two"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("one/types.yaml"), TYPES).unwrap();
    fs::write(folder.path().join("two/types.yaml"), TYPES.replace("Shop", "Store")).unwrap();
    let mut client = Client::new(folder.path());
    client.open("one/shop.yaml", SHOP);
    client.open("two/shop.yaml", SHOP);
    assert_eq!(client.published("one/shop.yaml", 1), []);
    let found = client.published("two/shop.yaml", 1);
    assert_eq!(lines(&found), ["5:12 unknown-type: there is no node type `Shop`"]);
    client.open("two/types.yaml", TYPES);
    client.published_until("two/shop.yaml", 1, <[_]>::is_empty);
    client.replace("two/types.yaml", 2, &TYPES.replace("Shop", "Market"));
    client.published_until("two/shop.yaml", 1, |found| found.len() == 1);
    client.replace("one/shop.yaml", 2, SHOP);
    assert_eq!(client.published("one/shop.yaml", 2), []);
    client.shut_down();
}

/// What no variant has is shown as unnecessary, is no mistake, and goes where it is moved to.
#[test]
fn what_no_variant_has_is_unnecessary() {
    let folder = tempdir().unwrap();
    let mut client = Client::new(folder.path());
    let condition = "{and: [{variability_input: on}, {not: {variability_input: on}}]}";
    let node = format!("    ghost: {{type: tosca.nodes.Root, conditions: {condition}}}\n");
    let text = format!("{}{node}", VARIABLE.replace("mode: manual", "mode: semantic-loose"));
    client.open("t.yaml", &text);
    assert_eq!(client.published("t.yaml", 1), []);
    let found = serde_json::to_value(client.published("t.yaml", 1)).unwrap();
    let line = text.lines().count() - 1;
    let [hint] = found.as_array().unwrap().as_slice() else { panic!("{found}") };
    assert_eq!(
        hint["message"].as_str().unwrap().lines().next().unwrap(),
        "node \"ghost\" is in no variant"
    );
    assert_eq!(
        (&hint["code"], &hint["severity"], &hint["tags"]),
        (&json!("dead-element"), &json!(4), &json!([1]))
    );
    assert_eq!(hint["range"]["start"], json!({ "line": line, "character": 4 }));
    let start = json!({ "line": 0, "character": 0 });
    let line_above = json!([{ "range": { "start": start, "end": start }, "text": "# a shop\n" }]);
    client.change("t.yaml", 2, line_above);
    let moved = client.published("t.yaml", 2);
    assert_eq!(moved.iter().map(|it| it.range.start.line as usize).collect::<Vec<_>>(), [line + 1]);
    assert!(moved.iter().all(is_dead));
    client.replace("t.yaml", 3, &text.replace(condition, "{variability_input: on}"));
    client.published_until("t.yaml", 3, <[_]>::is_empty);
    client.shut_down();
}

#[test]
fn variants_are_looked_at_when_nobody_types() {
    let folder = tempdir().unwrap();
    let mut client = Client::new(folder.path());
    client.open("t.yaml", VARIABLE);
    assert_eq!(client.published("t.yaml", 1), [], "what the text says comes first");
    let found = client.published("t.yaml", 1);
    assert_eq!(found.len(), 1, "{found:?}");
    let before = found[0].range.start.line;
    // What was found stays at its text until there is a new proof.
    let start = json!({ "line": 0, "character": 0 });
    let line = json!([{ "range": { "start": start, "end": start }, "text": "# a shop\n" }]);
    client.change("t.yaml", 2, line);
    let moved = client.published("t.yaml", 2);
    assert_eq!((moved.len(), moved[0].range.start.line), (1, before + 1));
    let proven = client.published("t.yaml", 2);
    assert_eq!(proven, moved);
    // Text that changes takes it away.
    client.replace("t.yaml", 3, &VARIABLE.replace("default: false", "default: true"));
    assert_eq!(client.published("t.yaml", 3), []);
    client.shut_down();
}

#[test]
fn what_is_broken_hides_nothing_else() {
    let folder = tempdir().unwrap();
    let mut client = Client::new(folder.path());
    let text = VARIABLE
        .replace("type: tosca.nodes.Root\n      requirements", "type: Rot\n      requirements");
    client.open("t.yaml", &format!("{text}    third: {{ type: \"tos\n"));
    let found = client.published("t.yaml", 1);
    let codes: Vec<_> =
        lines(&found).iter().map(|it| it.split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(codes, ["unknown-type:", "syntax:"], "{found:?}");
    client.shut_down();
}

#[test]
fn other_files_are_left_alone() {
    let folder = tempdir().unwrap();
    let mut client = Client::new(folder.path());
    client.open("ci.yaml", "jobs: [\n");
    assert_eq!(client.published("ci.yaml", 1), []);
    client.open("empty.yaml", "");
    assert_eq!(client.published("empty.yaml", 1), []);
    client.shut_down();
}

#[test]
fn a_file_that_comes_later_is_seen() {
    let folder = tempdir().unwrap();
    let mut client = Client::silent(folder.path());
    client.initialize(
        json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } }),
    );
    let asked = client.wait(|message| message["method"] == "client/registerCapability");
    assert_eq!(asked["params"]["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    client.write(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": null }).to_string());
    client.open("shop.yaml", SHOP);
    assert!(!client.published("shop.yaml", 1).is_empty());
    fs::write(folder.path().join("types.yaml"), TYPES).unwrap();
    let changes = json!([{ "uri": client.uri("types.yaml"), "type": 1 }]);
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    client.published_until("shop.yaml", 1, <[_]>::is_empty);
    client.shut_down();
}

/// What validating says of a saved file, as the client has lines of it.
pub(crate) fn validated(client: &Client, name: &str) -> Vec<String> {
    let validation = Resolver::new(client.folder.join(name)).validate();
    let sources = &validation.sources;
    let found = validation.diagnostics.iter().filter(|found| {
        found.span.is_some_and(|span| sources.file(span.file).path().ends_with(name))
    });
    let line = |found: &cuvee::diagnostic::Diagnostic| {
        let at = sources.location(found.span.unwrap());
        let column = sources.utf16_column(found.span.unwrap()) - 1;
        let message = found.message.lines().next().unwrap();
        format!("{}:{column} {}: {message}", at.line - 1, found.code)
    };
    found.map(line).collect()
}

/// What is published in the end is what validating says.
#[test]
fn examples_have_what_validating_says() {
    let folder = tempdir().unwrap();
    let examples = folder.path().join("examples");
    folders::copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"), &examples);
    let mut client = Client::new(&examples);
    let mut count = 0;
    for entry in fs::read_dir(&examples).unwrap().map(|it| it.unwrap().path()) {
        let template = entry.join("variable-service-template.yaml");
        if !template.is_file() {
            continue;
        }
        let name = template.strip_prefix(&examples).unwrap().display().to_string();
        let expected = validated(&client, &name);
        client.open_saved(&name);
        client.published(&name, 1);
        let proven = client.published(&name, 1);
        assert_eq!(lines(&proven), expected, "{name}");
        count += 1;
    }
    assert!(count > 3, "{count}");
    client.shut_down();
}
