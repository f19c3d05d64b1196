//! Tests that imports are looked for where arguments of the server and settings say.

use crate::client::Client;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const SHOP: &str = "tosca_definitions_version: tosca_2_0
imports: [{profile: org.example.web, namespace: web}]
service_template: {node_templates: {shop: {type: web:Shop}}}
";

const WEB: &str = "tosca_definitions_version: tosca_2_0
profile: org.example.web
node_types: {Shop: {}}
";

/// An editor that has opened the folder with these settings.
fn editor(folder: &Path, arguments: &[&str], settings: Value) -> Client {
    fs::create_dir_all(folder.join("lib")).unwrap();
    fs::write(folder.join("lib/web.yaml"), WEB).unwrap();
    let mut client = Client::with(folder, arguments);
    let root = format!("file://{}", client.folder.display());
    let params = json!({
        "processId": null, "rootUri": root, "capabilities": {}, "initializationOptions": settings,
    });
    client.request("initialize", params).unwrap();
    client.notify("initialized", json!({}));
    client
}

#[test]
fn profiles_are_found_where_settings_say() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = editor(folder.path(), &[], json!({ "profilePaths": ["lib"] }));
    client.open("t.yaml", SHOP);
    assert_eq!(client.published("t.yaml", 1), []);
    // What changes is judged anew.
    let configure = |client: &mut Client, settings: Value| {
        let settings = json!({ "settings": { "cuvee": settings } });
        client.notify("workspace/didChangeConfiguration", settings);
    };
    configure(&mut client, json!({ "profilePaths": ["nowhere"] }));
    client.published_until("t.yaml", 1, |found| !found.is_empty());
    configure(&mut client, json!({ "map": { "org.example.web": "lib/web.yaml" } }));
    client.published_until("t.yaml", 1, <[_]>::is_empty);
    client.shut_down();
}

#[test]
fn profiles_are_found_where_arguments_say() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("lib");
    let library = library.to_str().unwrap();
    for arguments in [
        vec!["--profile-path", library],
        vec!["--map", &format!("org.example.web={library}/web.yaml")],
    ] {
        let mut client = editor(folder.path(), &arguments, json!({}));
        client.open("t.yaml", SHOP);
        assert_eq!(client.published("t.yaml", 1), [], "{arguments:?}");
        client.shut_down();
    }
}
