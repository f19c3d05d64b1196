//! Tests the protocol: beginning and end, wrong messages, and workers that end.

use crate::client::Client;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tempfile::tempdir;

const SHOP: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    shop: {type: tosca.nodes.Root}
";

#[test]
fn a_session_has_a_beginning_and_an_end() {
    let folder = tempdir().unwrap();
    let mut client = Client::silent(folder.path());
    let early = client.request("shutdown", Value::Null).unwrap_err();
    assert_eq!(early["code"], -32_002);
    let result = client.initialize(json!({}));
    assert_eq!(result["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(result["capabilities"]["textDocumentSync"]["change"], 2);
    let again = client.request("initialize", json!({ "capabilities": {} })).unwrap_err();
    assert_eq!(again["code"], -32_601);
    assert_eq!(client.request("shutdown", Value::Null), Ok(Value::Null));
    let late = client.request("textDocument/codeAction", json!({})).unwrap_err();
    assert_eq!(late["code"], -32_600);
    client.notify("exit", Value::Null);
    assert_eq!(client.end().code(), Some(0));
}

#[test]
fn an_editor_that_says_no_goodbye_is_an_error() {
    let folder = tempdir().unwrap();
    let mut exits = Client::new(folder.path());
    exits.notify("exit", Value::Null);
    assert_eq!(exits.end().code(), Some(1));
    let mut hangs_up = Client::new(folder.path());
    hangs_up.hang_up();
    assert_eq!(hangs_up.end().code(), Some(1));
}

#[test]
fn the_server_ends_after_its_editor() {
    let folder = tempdir().unwrap();
    let mut client = Client::silent(folder.path());
    let mut editor = std::process::Command::new("sleep").arg("0.1").spawn().unwrap();
    let params = json!({ "processId": editor.id(), "capabilities": {} });
    client.request("initialize", params).unwrap();
    editor.wait().unwrap();
    assert_eq!(client.end().code(), Some(1));
}

#[test]
fn columns_are_bytes_where_the_editor_offers_that() {
    let folder = tempdir().unwrap();
    let text = SHOP.replace("shop:", "\u{e4}\u{1F375}:").replace("Root", "Rot");
    for (offer, name, column) in
        [(json!(["utf-8", "utf-16"]), "utf-8", 19), (json!(["utf-16"]), "utf-16", 16)]
    {
        let mut client = Client::silent(folder.path());
        let result = client.initialize(json!({ "general": { "positionEncodings": offer } }));
        assert_eq!(result["capabilities"]["positionEncoding"], name);
        client.open("t.yaml", &text);
        let found = client.published("t.yaml", 1);
        assert_eq!((found[0].range.start.line, found[0].range.start.character), (3, column));
        client.shut_down();
    }
}

#[test]
fn wrong_messages_are_answered() {
    let folder = tempdir().unwrap();
    let mut client = Client::new(folder.path());
    client.write("{ no json");
    let answer = client.wait(|message| message.get("error").is_some());
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32_700)));
    client.write(r#"{"jsonrpc": "2.0", "id": 7}"#);
    let answer = client.wait(|message| message.get("error").is_some());
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32_600)));
    let unknown = client.request("textDocument/brew", json!({})).unwrap_err();
    assert_eq!(unknown["code"], -32_601);
    let wrong = client.request("textDocument/codeAction", json!({ "range": 1 })).unwrap_err();
    assert_eq!(wrong["code"], -32_602);
    // Notifications have no answer; the session goes on.
    client.notify("textDocument/didChange", json!({ "textDocument": 1 }));
    client.notify("$/unknown", json!({}));
    client.change("never-opened.yaml", 2, json!([{ "text": "" }]));
    client.open("t.yaml", SHOP);
    assert_eq!(client.published("t.yaml", 1), []);
    client.shut_down();
}

/// The processes that a process has started.
#[cfg(target_os = "linux")]
fn workers(process: u32) -> Vec<u32> {
    let path = format!("/proc/{process}/task");
    let tasks = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    // A thread may end before its file is read.
    let children =
        tasks.map(|task| std::fs::read_to_string(task.join("children")).unwrap_or_default());
    let children: String = children.collect();
    children.split_whitespace().map(|id| id.parse().unwrap()).collect()
}

/// What ends a worker does not end the session: it is started again, with what is open.
#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_ends_is_started_again() {
    let folder = tempdir().unwrap();
    let mut client = Client::new(folder.path());
    client.open("t.yaml", SHOP);
    assert_eq!(client.published("t.yaml", 1), []);
    for version in 2..5 {
        let before = workers(client.process());
        assert_eq!(before.len(), 2);
        for worker in &before {
            let kill =
                std::process::Command::new("kill").args(["-9", &worker.to_string()]).status();
            assert!(kill.unwrap().success());
        }
        let end = Instant::now() + Duration::from_secs(20);
        while workers(client.process()).iter().any(|worker| before.contains(worker)) {
            assert!(Instant::now() < end, "a worker was not started again");
            std::thread::sleep(Duration::from_millis(5));
        }
        client.replace("t.yaml", version, &SHOP.replace("Root", "Rot"));
        let found = client.published_until("t.yaml", version, |found| found.len() == 1);
        assert_eq!(found[0].range.start.line, 3);
    }
    client.shut_down();
}

/// A worker that no longer answers is ended, and what waited behind it is done by another one.
#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_hangs_is_ended() {
    let folder = tempdir().unwrap();
    let mut client = Client::new(folder.path());
    client.open("t.yaml", SHOP);
    assert_eq!(client.published("t.yaml", 1), []);
    client.published("t.yaml", 1);
    for worker in workers(client.process()) {
        let stop = std::process::Command::new("kill").args(["-STOP", &worker.to_string()]).status();
        assert!(stop.unwrap().success());
    }
    client.replace("t.yaml", 2, &SHOP.replace("Root", "Ro"));
    let place = json!({ "line": 3, "character": 20 });
    let params = json!({ "textDocument": { "uri": client.uri("t.yaml") }, "position": place });
    let asked = client.send("textDocument/hover", params);
    client.replace("t.yaml", 3, &SHOP.replace("Root", "Rot"));
    assert_eq!(client.published("t.yaml", 3).len(), 1);
    assert_eq!(client.answer(asked).unwrap_err()["code"], -32_801);
    client.shut_down();
}

/// The processes of a server end with it, however it ends.
#[cfg(target_os = "linux")]
#[test]
fn workers_end_with_their_server() {
    let folder = tempdir().unwrap();
    let mut client = Client::new(folder.path());
    let started = workers(client.process());
    let kill =
        std::process::Command::new("kill").args(["-9", &client.process().to_string()]).status();
    assert!(kill.unwrap().success());
    client.end();
    let end = Instant::now() + Duration::from_secs(20);
    let is_there = |id: &u32| {
        let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    while started.iter().any(is_there) {
        assert!(Instant::now() < end, "a worker goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}
