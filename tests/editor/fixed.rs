//! Tests documents that are only read: what is a part of cuvee, and files in archives.

use crate::client::Client;
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

const TYPES: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Shop: {derived_from: tosca.nodes.Root}
";

const SHOP: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
metadata: {template_name: shop, template_version: 1.0.0}
imports: [types.yaml]
topology_template:
  node_templates:
    shop: {type: Shop}
    cache: {type: Shopp}
";

fn content(client: &mut Client, uri: &str) -> Result<String, Value> {
    let answer = client.request("workspace/textDocumentContent", json!({ "uri": uri }))?;
    let typed: gen_lsp_types::TextDocumentContentResult = serde_json::from_value(answer).unwrap();
    Ok(typed.text)
}

fn at(uri: &str, line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } })
}

fn open(client: &mut Client, uri: &str, text: &str) {
    let document = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": text });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
}

fn rename(client: &mut Client, mut place: Value) -> String {
    place["newName"] = json!("Other");
    let why = client.request("textDocument/rename", place).unwrap_err();
    why["message"].as_str().unwrap().to_owned()
}

/// A type of TOSCA leads to the profile, in which names lead on, and nothing is renamed.
#[test]
fn the_profile_is_read() {
    let folder = tempdir().unwrap();
    let mut client = Client::new(folder.path());
    let shop = SHOP.replace("imports: [types.yaml]", "").replace("Shopp", "Compute");
    client.open("t.yaml", &shop.replace("Shop}", "tosca.nodes.Compute}"));
    assert_eq!(client.published("t.yaml", 1), []);
    let used = at(&client.uri("t.yaml"), 5, 20);
    let definition = client.request("textDocument/definition", used).unwrap();
    let typed: Vec<gen_lsp_types::Location> = serde_json::from_value(definition.clone()).unwrap();
    assert_eq!(typed.len(), 1, "{definition}");
    let uri = definition[0]["uri"].as_str().unwrap().to_owned();
    assert_eq!(uri, "cuvee:/profiles/tosca_simple_1_3.yaml");
    let text = content(&mut client, &uri).unwrap();
    let line = typed[0].range.start.line;
    assert!(text.lines().nth(line as usize).unwrap().starts_with("  tosca.nodes.Compute:"));
    open(&mut client, &uri, &text);
    let here = at(&uri, line, 5);
    let again = client.request("textDocument/definition", here.clone()).unwrap();
    assert_eq!(again, definition);
    let mut params = here.clone();
    params["context"] = json!({ "includeDeclaration": false });
    let uses = client.request("textDocument/references", params).unwrap();
    let own = |it: &&Value| it["uri"] == client.uri("t.yaml");
    assert_eq!(uses.as_array().unwrap().iter().filter(own).count(), 2, "{uses}");
    let hover = client.request("textDocument/hover", here.clone()).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().contains("derives from"), "{hover}");
    let symbols = json!({ "textDocument": { "uri": uri } });
    let outline = client.request("textDocument/documentSymbol", symbols).unwrap();
    assert!(outline.as_array().unwrap().len() > 5, "{outline}");
    let why = "`tosca_simple_1_3.yaml` is a part of cuvee, so it stays as it is";
    assert_eq!(rename(&mut client, here), why);
    client.shut_down();
}

#[test]
fn codes_are_explained() {
    let folder = tempdir().unwrap();
    let mut client = Client::new(folder.path());
    let text = content(&mut client, "cuvee:/codes/unknown-type").unwrap();
    let printed = std::process::Command::new(env!("CARGO_BIN_EXE_cuvee"))
        .args(["explain-code", "unknown-type"])
        .output();
    assert_eq!(text, String::from_utf8(printed.unwrap().stdout).unwrap());
    for wrong in ["cuvee:/codes/none", "cuvee:/profiles/none", "cuvee:/etc/passwd", "file:///x", ""]
    {
        let why = content(&mut client, wrong).unwrap_err();
        assert!(why["message"].as_str().unwrap().contains("no document of cuvee"), "{why}");
    }
    client.shut_down();
}

fn archive() -> (TempDir, Client, String) {
    let folder = tempdir().unwrap();
    let source = folder.path().join("source");
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join("types.yaml"), TYPES).unwrap();
    std::fs::write(source.join("template.yaml"), SHOP.replace("Shopp", "Shop")).unwrap();
    let bytes = cuvee::Resolver::new(&source).resolve().unwrap().to_csar().unwrap();
    std::fs::write(folder.path().join("shop.csar"), bytes).unwrap();
    let client = Client::new(folder.path());
    let uri = format!("cuvee:{}/shop.csar:", client.folder.display());
    (folder, client, uri)
}

/// Files of an archive are judged as a whole, and names lead from file to file.
#[test]
fn archives_are_read() {
    let (_folder, mut client, archive) = archive();
    let template = format!("{archive}/template.yaml");
    let text = content(&mut client, &template).unwrap();
    open(&mut client, &template, &text);
    let published = client.wait(|message| {
        message["method"] == "textDocument/publishDiagnostics"
            && message["params"]["uri"] == template
    });
    assert_eq!(published["params"]["diagnostics"], json!([]), "{published}");
    let line = text.lines().position(|line| line.contains("shop: {")).unwrap() as u32;
    let character = text.lines().nth(line as usize).unwrap().find("Shop").unwrap() as u32 + 1;
    let place = at(&template, line, character);
    let definition = client.request("textDocument/definition", place.clone()).unwrap();
    let uri = definition[0]["uri"].as_str().unwrap().to_owned();
    assert!(uri.starts_with("cuvee:/") && uri.ends_with("/types.yaml"), "{definition}");
    assert!(content(&mut client, &uri).unwrap().contains("Shop:"));
    let why = rename(&mut client, place);
    assert!(why.ends_with("shop.csar` is an archive, which is only read"), "{why}");
    let found = client.request("workspace/symbol", json!({ "query": "cache" })).unwrap();
    let place = found[0]["location"]["uri"].as_str().unwrap();
    assert!(place.ends_with("shop.csar%3A/template.yaml"), "{found}");
    let whole = format!("file://{}/shop.csar", client.folder.display());
    let mut run = |command: &str, uri: &str| {
        let params = json!({ "command": command, "arguments": [{ "uri": uri }] });
        client.request("workspace/executeCommand", params)
    };
    assert_eq!(run("cuvee.template", &whole).unwrap(), place);
    assert!(run("cuvee.resolve", &whole).unwrap().as_str().unwrap().contains("type: Shop"));
    let why = run("cuvee.template", &whole.replace("shop", "none")).unwrap_err();
    assert!(why["message"].as_str().unwrap().contains("no template"), "{why}");
    let missing = content(&mut client, &format!("{archive}/none.yaml")).unwrap_err();
    assert!(missing["message"].as_str().unwrap().contains("none.yaml"), "{missing}");
    let outside = content(&mut client, &format!("{archive}/../../etc/passwd"));
    assert!(outside.is_err());
    client.shut_down();
}
