//! Tests editors that ask for findings: nothing is published for them, and they are asked to ask
//! again where something is found later.

use crate::client::{Client, lines};
use crate::findings::{SHOP, TYPES, VARIABLE};
use gen_lsp_types::{DocumentDiagnosticReport, WorkspaceDiagnosticReport};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::tempdir;

const REFRESH: &str = "workspace/diagnostic/refresh";

/// A session of an editor that asks, and can be asked to ask again if it `refreshes`.
fn editor(folder: &Path, refreshes: bool) -> (Client, Value) {
    let mut client = Client::silent(folder);
    let capabilities = json!({
        "textDocument": { "diagnostic": { "dynamicRegistration": false } },
        "workspace": { "diagnostics": { "refreshSupport": refreshes } },
    });
    let result = client.initialize(capabilities);
    (client, result["capabilities"]["diagnosticProvider"].clone())
}

fn send(client: &mut Client, name: &str, known: Option<&str>) -> i32 {
    let document = json!({ "uri": client.uri(name) });
    let params = match known {
        Some(known) => json!({ "textDocument": document, "previousResultId": known }),
        None => json!({ "textDocument": document }),
    };
    client.send("textDocument/diagnostic", params)
}

/// What is found in a document, if it is news, and the id of the result.
fn pull(client: &mut Client, name: &str, known: Option<&str>) -> (Option<Vec<String>>, String) {
    let asked = send(client, name, known);
    let answer = client.answer(asked).unwrap();
    let id = answer["resultId"].as_str().unwrap().to_owned();
    match serde_json::from_value(answer).unwrap() {
        DocumentDiagnosticReport::RelatedFullDocumentDiagnosticReport(report) => {
            (Some(lines(&report.full_document_diagnostic_report.items)), id)
        }
        DocumentDiagnosticReport::RelatedUnchangedDocumentDiagnosticReport(_) => (None, id),
    }
}

/// What is found in files that are not open: addresses, each with how much is found in it.
fn pull_closed(client: &mut Client, known: &[(String, String)]) -> Vec<(String, Value)> {
    let known = known.iter().map(|(uri, value)| json!({ "uri": uri, "value": value }));
    let params = json!({ "previousResultIds": known.collect::<Vec<_>>() });
    let answer = client.request("workspace/diagnostic", params).unwrap();
    let _: WorkspaceDiagnosticReport = serde_json::from_value(answer.clone()).unwrap();
    let items = answer["items"].as_array().unwrap().iter();
    items.map(|item| (item["uri"].as_str().unwrap().to_owned(), item.clone())).collect()
}

fn asked_again(client: &mut Client) {
    let asked = client.wait(|message| message["method"] == REFRESH);
    client.write(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": null }).to_string());
}

fn was_published(client: &mut Client) -> bool {
    // What was sent before the answer to a request is there with it.
    let _ = client.request("cuvee/nothing", Value::Null);
    client.has_unread(|message| message["method"] == "textDocument/publishDiagnostics")
}

#[test]
fn what_is_found_is_asked_for_with_each_version() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("types.yaml"), TYPES).unwrap();
    let (mut client, provider) = editor(folder.path(), true);
    assert_eq!(
        (&provider["interFileDependencies"], &provider["workspaceDiagnostics"]),
        (&json!(true), &json!(true))
    );
    client.open("shop.yaml", &SHOP.replace("type: Shop", "type: Shopp"));
    let (found, first) = pull(&mut client, "shop.yaml", None);
    assert_eq!(found.unwrap(), ["5:12 unknown-type: there is no node type `Shopp`"]);
    assert_eq!(pull(&mut client, "shop.yaml", Some(&first)), (None, first.clone()));
    // Repairs are there for who asks, too.
    let start = json!({ "line": 5, "character": 12 });
    let range = json!({ "start": start, "end": start });
    let asked = json!({ "textDocument": { "uri": client.uri("shop.yaml") }, "range": range, "context": { "diagnostics": [] } });
    let actions = client.request("textDocument/codeAction", asked).unwrap();
    assert_eq!(actions.as_array().unwrap().len(), 1, "{actions}");
    client.replace("shop.yaml", 2, SHOP);
    let (found, second) = pull(&mut client, "shop.yaml", Some(&first));
    assert_eq!(found.unwrap(), [""; 0]);
    assert_ne!(first, second);
    // Who types on asks for what is found in the text as it is then.
    client.replace("shop.yaml", 3, &SHOP.replace("port: 80", "port: x"));
    let early = send(&mut client, "shop.yaml", None);
    client.replace("shop.yaml", 4, SHOP);
    client.answer(early).unwrap();
    assert_eq!(pull(&mut client, "shop.yaml", None).0.unwrap(), [""; 0]);
    client.open("ci.yaml", "jobs: [\n");
    assert_eq!(pull(&mut client, "ci.yaml", None).0.unwrap(), [""; 0]);
    let elsewhere = json!({ "textDocument": { "uri": "untitled:1" } });
    assert_eq!(client.request("textDocument/diagnostic", elsewhere).unwrap()["items"], json!([]));
    assert!(!was_published(&mut client));
    client.shut_down();
}

#[test]
fn who_asks_is_asked_again_once_variants_are_known() {
    let folder = tempdir().unwrap();
    let (mut client, _) = editor(folder.path(), true);
    client.open("t.yaml", VARIABLE);
    let (found, first) = pull(&mut client, "t.yaml", None);
    assert_eq!(found.unwrap(), [""; 0], "what the text says comes first");
    asked_again(&mut client);
    let (found, proven) = pull(&mut client, "t.yaml", Some(&first));
    assert_eq!(found.unwrap().len(), 1);
    // It stays at its text until there is a new proof, which finds nothing new.
    let start = json!({ "line": 0, "character": 0 });
    client.change(
        "t.yaml",
        2,
        json!([{ "range": { "start": start, "end": start }, "text": "# a shop\n" }]),
    );
    let (moved, second) = pull(&mut client, "t.yaml", Some(&proven));
    assert_eq!(moved.unwrap().len(), 1);
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert_eq!(pull(&mut client, "t.yaml", Some(&second)).0, None);
    assert!(!was_published(&mut client));
    client.shut_down();
}

/// Files that a template imports change what is found in it, and have findings of their own.
#[test]
fn files_that_are_not_open_are_asked_for_as_well() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("types.yaml"), TYPES.replace("integer", "integr")).unwrap();
    let (mut client, _) = editor(folder.path(), true);
    client.open("shop.yaml", SHOP);
    let (found, before) = pull(&mut client, "shop.yaml", None);
    assert!(found.unwrap()[0].contains("undecidable"));
    let closed = pull_closed(&mut client, &[]);
    let types = client.uri("types.yaml");
    let [(uri, report)] = closed.as_slice() else { panic!("{closed:?}") };
    assert_eq!((uri, &report["kind"], &report["version"]), (&types, &json!("full"), &Value::Null));
    assert_eq!(report["items"].as_array().unwrap().len(), 1);
    let known = [(types.clone(), report["resultId"].as_str().unwrap().to_owned())];
    assert_eq!(pull_closed(&mut client, &known)[0].1["kind"], "unchanged");
    // What is open is asked for by itself.
    client.open("types.yaml", TYPES);
    assert_eq!(pull(&mut client, "types.yaml", None).0.unwrap(), [""; 0]);
    asked_again(&mut client);
    assert_eq!(pull(&mut client, "shop.yaml", Some(&before)).0.unwrap(), [""; 0]);
    assert_eq!(pull_closed(&mut client, &known), []);
    // The saved text counts again, and what is known of it goes with its template.
    client.close("types.yaml");
    while pull_closed(&mut client, &[]).is_empty() {
        asked_again(&mut client);
    }
    client.close("shop.yaml");
    let gone = &pull_closed(&mut client, &known)[0].1;
    assert_eq!((&gone["kind"], &gone["items"]), (&json!("full"), &json!([])));
    client.shut_down();
}

#[test]
fn who_waits_can_cancel() {
    let folder = tempdir().unwrap();
    let (mut client, _) = editor(folder.path(), true);
    // Judging this takes longer than asking and cancelling.
    let node = |number| format!("    node{number}: {{type: tosca.nodes.Root}}\n");
    let nodes: String = (0..5_000).map(node).collect();
    client.open("t.yaml", &format!("{VARIABLE}{nodes}"));
    let asked: Vec<_> = (0..20).map(|_| send(&mut client, "t.yaml", None)).collect();
    asked.iter().for_each(|id| client.notify("$/cancelRequest", json!({ "id": id })));
    let answers: Vec<_> = asked.iter().map(|&id| client.answer(id)).collect();
    let cancelled = answers.iter().filter(|it| it.as_ref().is_err_and(|it| it["code"] == -32_800));
    assert!(cancelled.count() > 0);
    client.shut_down();
}

/// An editor that cannot be asked to ask again would never learn what only variants have.
#[test]
fn who_cannot_be_asked_again_is_told() {
    let folder = tempdir().unwrap();
    let (mut client, provider) = editor(folder.path(), false);
    assert_eq!(provider, Value::Null);
    client.open("t.yaml", VARIABLE);
    assert_eq!(client.published("t.yaml", 1), []);
    assert_eq!(client.published("t.yaml", 1).len(), 1);
    let asked = send(&mut client, "t.yaml", None);
    assert_eq!(client.answer(asked).unwrap_err()["code"], -32_601);
    client.shut_down();
}
