//! Tests requests over the protocol, whose results are read by its types.

use crate::client::Client;
use serde_json::{Value, json};
use tempfile::tempdir;

const TYPES: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Shop:
    derived_from: tosca.nodes.Root
    description: Sells tea
    properties: {port: {type: integer}}
";

const SHOP: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
imports: [types.yaml]
topology_template:
  node_templates:
    shop:
      type: Shop
      properties: {port: 80}
    other: {type: Shop, properties: {port: 81}}
";

fn session() -> (tempfile::TempDir, Client) {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("types.yaml"), TYPES).unwrap();
    let mut client = Client::new(folder.path());
    client.open("shop.yaml", SHOP);
    assert_eq!(client.published("shop.yaml", 1), []);
    (folder, client)
}

fn at(client: &Client, line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": client.uri("shop.yaml") }, "position": { "line": line, "character": character } })
}

fn with(mut params: Value, key: &str, value: Value) -> Value {
    params[key] = value;
    params
}

#[test]
fn definitions_references_and_highlights() {
    let (_folder, mut client) = session();
    let place = at(&client, 5, 13);
    let definition = client.request("textDocument/definition", place.clone()).unwrap();
    let typed: Vec<gen_lsp_types::Location> = serde_json::from_value(definition.clone()).unwrap();
    assert_eq!((typed.len(), typed[0].range.start.line), (1, 2));
    assert_eq!(definition[0]["uri"], client.uri("types.yaml"));
    for (all, count) in [(true, 3), (false, 2)] {
        let params = with(place.clone(), "context", json!({ "includeDeclaration": all }));
        let found = client.request("textDocument/references", params).unwrap();
        assert_eq!(found.as_array().unwrap().len(), count, "{found}");
    }
    let marked = client.request("textDocument/documentHighlight", place).unwrap();
    let typed: Vec<gen_lsp_types::DocumentHighlight> = serde_json::from_value(marked).unwrap();
    assert_eq!(typed.len(), 2);
    client.shut_down();
}

#[test]
fn imports_lead_to_files() {
    let (_folder, mut client) = session();
    let found = client.request("textDocument/definition", at(&client, 1, 12)).unwrap();
    let typed: Vec<gen_lsp_types::Location> = serde_json::from_value(found.clone()).unwrap();
    assert_eq!((typed.len(), typed[0].range.start.line), (1, 0));
    assert_eq!(found[0]["uri"], client.uri("types.yaml"));
    client.shut_down();
}

/// Of very many words, those come that may be meant, and more of them once more is typed.
#[test]
fn very_many_words_come_in_part() {
    let folder = tempdir().unwrap();
    let kind = |number| format!("  kind.Number{number}: {{derived_from: tosca.nodes.Root}}\n");
    let types: String = (0..1_500).map(kind).collect();
    let head = "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n";
    std::fs::write(folder.path().join("types.yaml"), format!("{head}{types}")).unwrap();
    let mut client = Client::new(folder.path());
    for (version, typed, count) in [(1, "", 1_000), (2, "k", 1_000), (3, "num149", 10)] {
        let text = SHOP.replace("      type: Shop", &format!("      type: {typed}"));
        if version == 1 {
            client.open("shop.yaml", &text)
        } else {
            client.replace("shop.yaml", version, &text)
        }
        let place = at(&client, 5, 12 + u32::try_from(typed.len()).unwrap());
        let list = client.request("textDocument/completion", place).unwrap();
        assert_eq!(list["isIncomplete"], true, "{typed}");
        let items = list["items"].as_array().unwrap();
        assert!(items.len() >= count && items.len() <= 1_000, "{typed}: {}", items.len());
        let has = |label: &str| items.iter().any(|it| it["label"] == label);
        assert!(typed != "num149" || has("kind.Number1499") && !has("kind.Number1"), "{typed}");
    }
    client.shut_down();
}

#[test]
fn renaming_changes_all_files() {
    let (_folder, mut client) = session();
    let place = at(&client, 5, 13);
    let prepared = client.request("textDocument/prepareRename", place.clone()).unwrap();
    assert_eq!(prepared["placeholder"], "Shop");
    let edit = client
        .request("textDocument/rename", with(place.clone(), "newName", json!("Store")))
        .unwrap();
    let _: gen_lsp_types::WorkspaceEdit = serde_json::from_value(edit.clone()).unwrap();
    assert_eq!(edit["changes"][client.uri("shop.yaml")].as_array().unwrap().len(), 2);
    assert_eq!(edit["changes"][client.uri("types.yaml")].as_array().unwrap().len(), 1);
    let wrong = client
        .request("textDocument/rename", with(place, "newName", json!("no name")))
        .unwrap_err();
    assert!(wrong["message"].as_str().unwrap().contains("cannot be a name"), "{wrong}");
    let nothing = at(&client, 0, 3);
    assert!(client.request("textDocument/prepareRename", nothing).is_err());
    client.shut_down();
}

#[test]
fn completion_hover_and_symbols() {
    let (_folder, mut client) = session();
    let place = at(&client, 5, 14);
    let list = client.request("textDocument/completion", place.clone()).unwrap();
    let typed: gen_lsp_types::CompletionList = serde_json::from_value(list.clone()).unwrap();
    assert!(!typed.is_incomplete);
    let item = list["items"].as_array().unwrap().iter().find(|it| it["label"] == "Shop").unwrap();
    assert_eq!(
        item["textEdit"]["range"],
        json!({ "start": { "line": 5, "character": 12 }, "end": { "line": 5, "character": 16 } })
    );
    assert_eq!(item["detail"], "Sells tea");
    let hover = client.request("textDocument/hover", place).unwrap();
    let _: gen_lsp_types::Hover = serde_json::from_value(hover.clone()).unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains("Sells tea")
            && text.contains("- `port`")
            && text.contains("tosca.nodes.Root"),
        "{text}"
    );
    let document = json!({ "textDocument": { "uri": client.uri("shop.yaml") } });
    let symbols = client.request("textDocument/documentSymbol", document).unwrap();
    let typed: Vec<gen_lsp_types::DocumentSymbol> = serde_json::from_value(symbols).unwrap();
    assert_eq!(typed.last().unwrap().name, "topology_template");
    client.shut_down();
}

#[test]
fn folds_selections_and_links() {
    let (_folder, mut client) = session();
    let document = json!({ "textDocument": { "uri": client.uri("shop.yaml") } });
    let folds = client.request("textDocument/foldingRange", document.clone()).unwrap();
    let typed: Vec<gen_lsp_types::FoldingRange> = serde_json::from_value(folds).unwrap();
    let lines: Vec<_> = typed.iter().map(|it| (it.start_line, it.end_line)).collect();
    assert_eq!(lines, [(2, 7), (3, 7), (4, 6)]);
    let positions = with(document.clone(), "positions", json!([{ "line": 5, "character": 13 }]));
    let found = client.request("textDocument/selectionRange", positions).unwrap();
    let _: Vec<gen_lsp_types::SelectionRange> = serde_json::from_value(found.clone()).unwrap();
    assert_eq!(found[0]["range"]["start"], json!({ "line": 5, "character": 12 }));
    assert_eq!(found[0]["parent"]["range"]["start"], json!({ "line": 5, "character": 6 }));
    let links = client.request("textDocument/documentLink", document).unwrap();
    let typed: Vec<gen_lsp_types::DocumentLink> = serde_json::from_value(links.clone()).unwrap();
    assert_eq!(typed.len(), 1);
    assert_eq!(links[0]["target"], client.uri("types.yaml"));
    client.shut_down();
}

/// Files that implement operations are linked, and artifacts that do so are not.
#[test]
fn implementations_are_linked() {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("run.sh"), "").unwrap();
    let mut client = Client::new(folder.path());
    let text = "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Shop:
    derived_from: tosca.nodes.Root
    artifacts: {program: {type: tosca.artifacts.File, file: run.sh}}
    interfaces: {Standard: {operations: {create: run.sh, start: program, stop: {implementation: {primary: run.sh}}}}}
";
    client.open("types.yaml", text);
    let document = json!({ "textDocument": { "uri": client.uri("types.yaml") } });
    let links = client.request("textDocument/documentLink", document).unwrap();
    let links = links.as_array().unwrap();
    let lines: Vec<_> = links.iter().map(|link| link["range"]["start"]["line"].clone()).collect();
    assert_eq!(lines, [4, 5, 5]);
    assert!(links.iter().all(|link| link["target"] == client.uri("run.sh")));
    // Hovering tells what the type has of whom.
    let hover = client
        .request(
            "textDocument/hover",
            with(at(&client, 2, 3), "textDocument", json!({ "uri": client.uri("types.yaml") })),
        )
        .unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains("interfaces:\n- `Standard`") && text.contains("artifacts:\n- `program`"),
        "{text}"
    );
    client.shut_down();
}

/// Requests are answered where the text is broken at the cursor, and in files that nobody opened.
#[test]
fn broken_text_and_unknown_files() {
    let (_folder, mut client) = session();
    client.replace(
        "shop.yaml",
        2,
        &SHOP.replace("other: {type: Shop, properties: {port: 81}}", "other: {type: \"Sh"),
    );
    let list = client.request("textDocument/completion", at(&client, 7, 22)).unwrap();
    assert!(list["items"].as_array().unwrap().iter().any(|it| it["label"] == "Shop"), "{list}");
    let definition = client.request("textDocument/definition", at(&client, 5, 13)).unwrap();
    assert_eq!(definition.as_array().unwrap().len(), 1);
    let elsewhere = json!({ "textDocument": { "uri": "untitled:1" }, "position": { "line": 0, "character": 0 } });
    assert_eq!(client.request("textDocument/hover", elsewhere), Ok(Value::Null));
    client.shut_down();
}

#[test]
fn what_is_cancelled_is_answered() {
    let (_folder, mut client) = session();
    let place = at(&client, 5, 13);
    let ids: Vec<_> =
        (0..50).map(|_| client.send("textDocument/completion", place.clone())).collect();
    for id in &ids {
        client.notify("$/cancelRequest", json!({ "id": id }));
    }
    let answers: Vec<_> = ids.iter().map(|&id| client.answer(id)).collect();
    let cancelled = answers.iter().filter(|it| it.as_ref().is_err_and(|it| it["code"] == -32_800));
    assert!(cancelled.count() > 0);
    assert!(client.request("textDocument/hover", place).unwrap().is_object());
    client.shut_down();
}

/// Parts of types are found where templates assign them, across files, and renamed.
#[test]
fn parts_of_types_are_found() {
    let folder = tempdir().unwrap();
    let types = format!(
        "{TYPES}  Big:\n    derived_from: Shop\n    properties: {{port: {{type: integer, default: 1}}}}\n"
    );
    std::fs::write(folder.path().join("types.yaml"), types).unwrap();
    let mut client = Client::new(folder.path());
    client.open("shop.yaml", &SHOP.replace("other: {type: Shop", "other: {type: Big"));
    assert_eq!(client.published("shop.yaml", 1), []);
    let place = at(&client, 6, 20);
    let found = client.request("textDocument/definition", place.clone()).unwrap();
    let lines = |found: &Value| -> Vec<u64> {
        let lines = found.as_array().unwrap().iter();
        lines.map(|it| it["range"]["start"]["line"].as_u64().unwrap()).collect()
    };
    // Where it is defined, and refined.
    assert_eq!(lines(&found), [5, 8], "{found}");
    let params = with(place.clone(), "context", json!({ "includeDeclaration": false }));
    let found = client.request("textDocument/references", params).unwrap();
    assert_eq!(lines(&found), [6, 7], "{found}");
    let hover = client.request("textDocument/hover", place.clone()).unwrap();
    assert_eq!(hover["contents"]["value"], "**port**: integer (property of Shop)");
    let edit =
        client.request("textDocument/rename", with(place, "newName", json!("door"))).unwrap();
    let edited = |name: &str| -> Vec<u64> {
        let edits = edit["changes"][client.uri(name)].as_array().unwrap().iter();
        edits.map(|it| it["range"]["start"]["line"].as_u64().unwrap()).collect()
    };
    assert_eq!((edited("types.yaml"), edited("shop.yaml")), (vec![5, 8], vec![6, 7]));
    client.shut_down();
}

/// Renaming in a file of types changes every file of the workspace that has the name, whether it is
/// open or imports the types through other files; and nothing where a file outside of it has it.
#[test]
fn renaming_reaches_the_workspace() {
    let folder = tempdir().unwrap();
    let work = folder.path().join("work");
    std::fs::create_dir_all(work.join("deep/.hidden")).unwrap();
    let importing = |file: &str, rest: &str| {
        format!("tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [{file}]\n{rest}")
    };
    let node = "topology_template: {node_templates: {a: {type: Shop, properties: {port: 1}}}}\n";
    let files = [
        ("types.yaml", TYPES.to_owned()),
        ("more.yaml", importing("types.yaml", "")),
        ("deep/one.yaml", importing("../more.yaml", node)),
        ("deep/two.yml", importing("../types.yaml", node)),
        ("deep/other.yaml", importing("../more.yaml", "").replace("imports", "# port\nimports")),
        ("deep/.hidden/kept.yaml", importing("../../types.yaml", node)),
        ("deep/note.yaml", "port: 1\n".to_owned()),
        // What is open counts, and not what is saved.
        ("deep/open.yaml", importing("../more.yaml", "")),
    ];
    for (name, text) in &files {
        std::fs::write(work.join(name), text).unwrap();
    }
    let mut client = Client::new(folder.path());
    let added = json!({ "event": { "added": [{ "uri": client.uri("work"), "name": "work" }], "removed": [] } });
    client.notify("workspace/didChangeWorkspaceFolders", added);
    client.open("work/types.yaml", TYPES);
    client.open("work/deep/open.yaml", &importing("../more.yaml", node));
    let place = json!({ "line": 5, "character": 19 });
    let rename = |client: &Client, name: &str, position: &Value| json!({ "textDocument": { "uri": client.uri(name) }, "position": position, "newName": "door" });
    let asked = rename(&client, "work/types.yaml", &place);
    let edit = client.request("textDocument/rename", asked.clone()).unwrap();
    let changed: Vec<_> = edit["changes"].as_object().unwrap().keys().cloned().collect();
    let expected = ["deep/one.yaml", "deep/open.yaml", "deep/two.yml", "types.yaml"];
    assert_eq!(changed, expected.map(|name| client.uri(&format!("work/{name}"))));
    let two = &edit["changes"][client.uri("work/deep/two.yml")];
    assert_eq!(two[0]["range"]["start"], json!({ "line": 2, "character": 66 }));
    // A file of which nothing is known.
    let unknown = work.join("unknown.yaml");
    let text = importing("types.yaml", node).replace("simple_yaml_1_3", "9");
    std::fs::write(&unknown, text).unwrap();
    let why = client.request("textDocument/rename", asked.clone()).unwrap_err();
    let path = client.folder.join("work/unknown.yaml");
    assert_eq!(
        why["message"],
        format!("`port` may stand in `{}`, which cannot be read", path.display())
    );
    std::fs::remove_file(&unknown).unwrap();
    // A type that the workspace does not have.
    std::fs::write(folder.path().join("outer.yaml"), TYPES).unwrap();
    let shop = importing("../outer.yaml", node);
    client.open("work/shop.yaml", &shop);
    let position = json!({ "line": 2, "character": 66 });
    let asked = rename(&client, "work/shop.yaml", &position);
    let why = client.request("textDocument/rename", asked).unwrap_err();
    let outer = client.folder.join("outer.yaml");
    let expected =
        format!("`port` stands in `{}`, too, which is outside of the workspace", outer.display());
    assert_eq!(why["message"], expected);
    client.shut_down();
}
