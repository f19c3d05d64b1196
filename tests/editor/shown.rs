//! Tests what is shown within the text: what words are, when elements are present, and what the
//! variant of the chosen preset does not have.

use crate::client::{Client, text_in};
use crate::folders::copy;
use serde_json::{Value, json};
use std::path::Path;
use tempfile::{TempDir, tempdir};

const TEMPLATE: &str = "variable-service-template.yaml";

const SHOP: &str = "tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    options: {mode: manual}
    inputs:
      live: {type: boolean, default: false}
    presets:
      dev: {inputs: {live: false}}
      prod: {inputs: {live: true}}
  node_templates:
    shop:
      type: tosca.nodes.Root
    cache:
      type: tosca.nodes.Root
      conditions: {variability_input: live}
";

/// An editor that shows anew what it is asked to.
fn editor(folder: &Path, settings: Value) -> Client {
    let mut client = Client::silent(folder);
    let can = json!({ "refreshSupport": true });
    let workspace = json!({ "semanticTokens": can, "inlayHint": can, "codeLens": can });
    let params = json!({
        "processId": null, "rootUri": null, "capabilities": { "workspace": workspace },
        "initializationOptions": settings,
    });
    let result = client.request("initialize", params).unwrap();
    let _: gen_lsp_types::InitializeResult = serde_json::from_value(result).unwrap();
    client.notify("initialized", json!({}));
    client
}

fn session(settings: Value) -> (TempDir, Client) {
    let folder = tempdir().unwrap();
    let mut client = editor(folder.path(), settings);
    client.open("t.yaml", SHOP);
    assert_eq!(client.published("t.yaml", 1), []);
    (folder, client)
}

fn choose(client: &mut Client, name: &str, preset: Value) {
    let uri = client.uri(name);
    client.notify("cuvee/preset", json!({ "uri": uri, "preset": preset }));
}

/// The next news of what is absent: the version, the preset and the ranges.
fn absent(client: &mut Client) -> (i64, Value, Vec<Value>) {
    let message = client.wait(|message| message["method"] == "cuvee/absent");
    let params = &message["params"];
    let ranges = params["ranges"].as_array().unwrap().clone();
    (params["version"].as_i64().unwrap(), params["preset"].clone(), ranges)
}

/// The words of a text, each with what it is.
fn words(client: &mut Client, name: &str, text: &str, range: Option<Value>) -> Vec<String> {
    let document = json!({ "uri": client.uri(name) });
    let answer = match range {
        None => {
            client.request("textDocument/semanticTokens/full", json!({ "textDocument": document }))
        }
        Some(range) => client.request(
            "textDocument/semanticTokens/range",
            json!({ "textDocument": document, "range": range }),
        ),
    };
    let typed: gen_lsp_types::SemanticTokens = serde_json::from_value(answer.unwrap()).unwrap();
    let data = serde_json::to_value(&typed).unwrap()["data"].clone();
    let numbers: Vec<u64> = serde_json::from_value(data).unwrap();
    let (mut line, mut column) = (0, 0);
    let kinds = ["keyword", "type", "variable", "parameter", "property", "operator", "enumMember"];
    let word = |token: &[u64]| {
        column = if token[0] == 0 { column + token[1] } else { token[1] };
        line += token[0];
        let end = column + token[2];
        let range = json!({
            "start": { "line": line, "character": column },
            "end": { "line": line, "character": end },
        });
        let modifiers = ["definition", "defaultLibrary", "absent"];
        let set = (0..3).filter(|bit| token[4] & (1 << bit) != 0).map(|bit| modifiers[bit]);
        let set: String = set.map(|it| format!(" {it}")).collect();
        format!("{} {}{set}", text_in(text, &range), kinds[token[3] as usize])
    };
    numbers.chunks(5).map(word).collect()
}

fn hints(client: &mut Client, name: &str) -> Vec<(u64, String)> {
    let range =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9999, "character": 0 } });
    let params = json!({ "textDocument": { "uri": client.uri(name) }, "range": range });
    let answer = client.request("textDocument/inlayHint", params).unwrap();
    let typed: Vec<gen_lsp_types::InlayHint> = serde_json::from_value(answer.clone()).unwrap();
    let label = |hint: &Value| {
        (hint["position"]["line"].as_u64().unwrap(), hint["label"].as_str().unwrap().to_owned())
    };
    assert_eq!(typed.len(), answer.as_array().unwrap().len());
    answer.as_array().unwrap().iter().map(label).collect()
}

#[test]
fn words_are_told_by_what_they_are() {
    let (_folder, mut client) = session(Value::Null);
    let all = words(&mut client, "t.yaml", SHOP, None);
    for word in [
        "tosca_definitions_version keyword",
        "tosca_variability_1_0 enumMember",
        "mode property",
        "manual enumMember",
        "live parameter definition",
        "prod enumMember definition",
        "live parameter",
        "cache variable definition",
        "tosca.nodes.Root type defaultLibrary",
        "variability_input operator",
    ] {
        assert!(all.contains(&word.to_owned()), "{word}: {all:#?}");
    }
    let line = |line: u32, character: u32| json!({ "line": line, "character": character });
    let range = json!({ "start": line(10, 0), "end": line(11, 10) });
    assert_eq!(
        words(&mut client, "t.yaml", SHOP, Some(range)),
        ["shop variable definition", "type keyword"]
    );
    // What is misspelt is no keyword.
    client.replace("t.yaml", 2, &SHOP.replace("      type", "      typ"));
    let misspelt = SHOP.replace("      type", "      typ");
    let all = words(&mut client, "t.yaml", &misspelt, None);
    assert!(!all.iter().any(|word| word.starts_with("typ ")), "{all:#?}");
    client.shut_down();
}

#[test]
fn what_a_preset_leaves_out_is_told_with_each_version() {
    let (_folder, mut client) = session(Value::Null);
    let present = (12, "present if live".to_owned());
    assert_eq!(hints(&mut client, "t.yaml"), std::slice::from_ref(&present));
    choose(&mut client, "t.yaml", json!("dev"));
    let (version, preset, ranges) = absent(&mut client);
    assert_eq!((version, preset, ranges.len()), (1, json!("dev"), 1));
    let whole = text_in(SHOP, &ranges[0]);
    assert!(whole.starts_with("cache:") && whole.trim_end().ends_with('}'), "{whole}");
    client.wait(|message| message["method"] == "workspace/semanticTokens/refresh");
    client.wait(|message| message["method"] == "workspace/inlayHint/refresh");
    let all = words(&mut client, "t.yaml", SHOP, None);
    assert!(all.contains(&"cache variable definition absent".to_owned()), "{all:#?}");
    assert!(all.contains(&"shop variable definition".to_owned()), "{all:#?}");
    let left_out = (12, "absent in dev".to_owned());
    assert_eq!(hints(&mut client, "t.yaml"), [left_out.clone(), present.clone()]);
    // A line above: what was known moves at once, and is told again with the version.
    let start = json!({ "line": 9, "character": 0 });
    let change = json!([{ "range": { "start": start, "end": start }, "text": "  # all\n" }]);
    client.change("t.yaml", 2, change);
    let below = |(line, text): (u64, String)| (line + 1, text);
    assert_eq!(hints(&mut client, "t.yaml"), [left_out, present.clone()].map(below));
    assert_eq!(absent(&mut client).0, 2);
    // A broken text leaves what is known; another preset has all.
    client.replace("t.yaml", 3, &SHOP.replace("shop:", "shop: ["));
    client.published_until("t.yaml", 3, |found| !found.is_empty());
    client.replace("t.yaml", 4, SHOP);
    assert_eq!(absent(&mut client).0, 4);
    choose(&mut client, "t.yaml", json!("prod"));
    assert_eq!(absent(&mut client), (4, json!("prod"), vec![]));
    choose(&mut client, "t.yaml", json!("prd"));
    assert_eq!(absent(&mut client), (4, json!("prd"), vec![]));
    choose(&mut client, "t.yaml", Value::Null);
    assert_eq!(absent(&mut client), (4, Value::Null, vec![]));
    assert_eq!(hints(&mut client, "t.yaml"), [present]);
    client.shut_down();
}

#[test]
fn settings_choose_a_preset_and_leave_out_hints_and_lenses() {
    let (_folder, mut client) = session(json!({ "preset": "dev", "inlayHints": false }));
    assert_eq!(absent(&mut client).1, "dev");
    assert_eq!(hints(&mut client, "t.yaml"), []);
    let lenses = |client: &mut Client| {
        let params = json!({ "textDocument": { "uri": client.uri("t.yaml") } });
        client.request("textDocument/codeLens", params).unwrap().as_array().unwrap().len()
    };
    assert_eq!(lenses(&mut client), 5);
    let settings = json!({ "settings": { "cuvee": { "lenses": false, "other": 1 } } });
    client.notify("workspace/didChangeConfiguration", settings);
    client.wait(|message| message["method"] == "workspace/codeLens/refresh");
    assert_eq!(absent(&mut client).1, Value::Null);
    assert_eq!(lenses(&mut client), 0);
    assert_eq!(hints(&mut client, "t.yaml").len(), 1);
    client.shut_down();
}

#[test]
fn what_the_shop_lacks_is_told_as_a_whole() {
    let folder = tempdir().unwrap();
    let shop = folder.path().join("shop");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shop"), &shop);
    let mut client = editor(&shop, json!({ "preset": "dev" }));
    let text = client.open_saved(TEMPLATE);
    let (_, _, ranges) = absent(&mut client);
    let _: Vec<gen_lsp_types::Range> = serde_json::from_value(json!(ranges)).unwrap();
    let absent: Vec<_> = ranges.iter().map(|it| text_in(&text, it)).collect();
    let resolver = cuvee::Resolver::new(shop.join(TEMPLATE)).preset("dev");
    let variant = resolver.resolve().unwrap().to_yaml().to_owned();
    let cluster = absent.iter().find(|it| it.starts_with("cluster:\n")).unwrap();
    assert!(cluster.trim_end().lines().count() > 2, "{cluster}");
    // What is whole and absent is not in the variant.
    for node in absent.iter().filter(|it| it.contains("\n      type: ")) {
        let name = node.split('\n').next().unwrap();
        assert!(!variant.contains(&format!("\n    {name}\n")), "{name}");
    }
    assert!(!absent.iter().any(|it| it.starts_with("shop:\n      type")));
    let import = absent.iter().find(|it| it.starts_with("file: lib/monitoring.yaml")).unwrap();
    assert!(import.contains("variability_input: monitoring"), "{import}");
    client.shut_down();
}

/// Hovering over an element says when it is present, and names are found in all templates.
#[test]
fn elements_are_described_and_names_found_everywhere() {
    let (_folder, mut client) = session(Value::Null);
    let place = json!({ "textDocument": { "uri": client.uri("t.yaml") }, "position": { "line": 12, "character": 6 } });
    let hover = client.request("textDocument/hover", place).unwrap();
    let said = hover["contents"]["value"].as_str().unwrap();
    assert!(said.starts_with("**cache** (node template)\n\npresent if live\n\n"), "{said}");
    client.open("other.yaml", &SHOP.replace("shop:", "shopping:"));
    client.published("other.yaml", 1);
    let mut found = |wanted: &str| {
        let answer = client.request("workspace/symbol", json!({ "query": wanted })).unwrap();
        let typed: Vec<gen_lsp_types::SymbolInformation> =
            serde_json::from_value(answer.clone()).unwrap();
        assert_eq!(typed.len(), answer.as_array().unwrap().len());
        let line = |it: &Value| {
            let file =
                it["location"]["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            format!(
                "{} {file} {}",
                it["name"].as_str().unwrap(),
                it["containerName"].as_str().unwrap()
            )
        };
        answer.as_array().unwrap().iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(found("SHOP"), ["shopping other.yaml node template", "shop t.yaml node template"]);
    assert_eq!(found("nothing"), [""; 0]);
    assert_eq!(found("").len(), 10);
    client.shut_down();
}
