//! Tests `cuvee types` as a user types it.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot run the binary has failed")]

use snapbox::cmd::{Command, cargo_bin};
use snapbox::str;
use std::fs;

const SHOP: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ types.yaml ]
topology_template: {}
";

const TYPES: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
capability_types:
  Api:
    derived_from: tosca.capabilities.Root
    properties:
      path: { type: string, required: false }
node_types:
  Service:
    properties:
      port: { type: PortDef, default: 80, constraints: [ { in_range: [ 1, 8080 ] } ] }
    capabilities:
      api: { type: Api, properties: { path: / } }
    requirements:
      - store: { capability: Endpoint.Database, occurrences: [ 0, 1 ] }
  Shop:
    derived_from: Service
    properties:
      port: { default: 8080 }
    interfaces:
      Life: { type: Standard, operations: { start: start.sh } }
    artifacts:
      image: { type: File, file: shop.iso }
";

fn cuvee(types: &str, words: &[&str]) -> snapbox::cmd::OutputAssert {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("shop.yaml"), SHOP).unwrap();
    fs::write(directory.path().join("types.yaml"), types).unwrap();
    Command::new(cargo_bin!("cuvee"))
        .args(["types", "shop.yaml"])
        .args(words)
        .current_dir(directory.path())
        .assert()
}

#[test]
fn shows_what_a_type_effectively_is() {
    cuvee(TYPES, &["Shop"]).success().stdout_eq(str![[r#"
node type Shop  types.yaml:15:3
  derives from Service
  properties
    port  PortDef  default 8080  in_range: [1, 8080]  Shop types.yaml:18:7, refines Service types.yaml:10:7
  requirements
    store  Endpoint.Database  [0, 1]  Service types.yaml:14:9
  capability api  Api  [1, UNBOUNDED]  Service types.yaml:12:7
    properties
      path  string  = /  Service types.yaml:12:39, refines Api types.yaml:6:7
  interface Life  Standard  Shop types.yaml:20:7
    operations
      create               tosca.interfaces.node.lifecycle.Standard tosca_simple_1_3.yaml:517:7
      configure            tosca.interfaces.node.lifecycle.Standard tosca_simple_1_3.yaml:519:7
      start      start.sh  Shop types.yaml:20:45, refines tosca.interfaces.node.lifecycle.Standard tosca_simple_1_3.yaml:521:7
      stop                 tosca.interfaces.node.lifecycle.Standard tosca_simple_1_3.yaml:523:7
      delete               tosca.interfaces.node.lifecycle.Standard tosca_simple_1_3.yaml:525:7
  artifacts
    image  File  shop.iso  Shop types.yaml:22:7

"#]]);
}

#[test]
fn lists_all_types() {
    let listed = cuvee(TYPES, &[]).success().get_output().stdout.clone();
    let listed = String::from_utf8(listed).unwrap();
    let shop = listed.lines().find(|line| line.trim().starts_with("Shop")).unwrap();
    assert_eq!(shop.split_whitespace().collect::<Vec<_>>(), ["Shop", "Service", "types.yaml:15:3"]);
    assert_eq!(listed.lines().filter(|line| line.starts_with(' ')).count(), 66 + 3);
    let more = cuvee(TYPES, &["--non-normative"]).success().get_output().stdout.clone();
    assert_eq!(
        String::from_utf8(more).unwrap().lines().filter(|line| line.starts_with(' ')).count(),
        66 + 12 + 3
    );
}

#[test]
fn writes_json_with_its_version() {
    let output =
        cuvee(TYPES, &["Service", "--format", "json"]).success().get_output().stdout.clone();
    let json: serde_json::Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(json["version"], 1);
    let service = &json["definitions"][0];
    assert_eq!(service["family"], "node");
    assert_eq!(service["properties"][0]["default"], 80);
    let path = &service["capabilities"][0]["properties"][0];
    assert_eq!((&path["value"], &path["type"]), (&"/".into(), &"string".into()));
    assert_eq!(path["from"]["refines"][0]["type"], "Api");
    assert_eq!(path["from"]["place"], "types.yaml:12:39");
}

#[test]
fn a_name_of_several_families_shows_them_all() {
    let output =
        cuvee(TYPES, &["tosca:Root", "--format", "json"]).success().get_output().stdout.clone();
    let json: serde_json::Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(json["definitions"].as_array().unwrap().len(), 8);
}

#[test]
fn wrong_definitions_are_reported_and_the_rest_is_shown() {
    let wrong = TYPES.replace("{ default: 8080 }", "{ type: string }");
    cuvee(&wrong, &["Api"])
        .code(1)
        .stdout_eq(str![[r#"
capability type Api  types.yaml:3:3
  derives from tosca.capabilities.Root
  properties
    path  string  Api types.yaml:6:7

"#]])
        .stderr_eq(str![[r#"
error[invalid-refinement]: the data type `string` of the property `port` does not derive from `PortDef`
  --> types.yaml:18:21
   |
10 |       port: { type: PortDef, default: 80, constraints: [ { in_range: [ 1, 8080 ] } ] }
   |                     ------- the type that is inherited
...
18 |       port: { type: string }
   |                     ^^^^^^
   |
   = note: section 3.6.10.6 of TOSCA Simple Profile 1.3

error: 1 error

"#]]);
}

#[test]
fn an_unknown_name_is_rejected() {
    cuvee(TYPES, &["Shpo"]).code(1).stdout_eq("").stderr_eq(str![[r#"
error[unknown-type]: there is no type `Shpo`
 |
 = help: did you mean `Shop`?

error: 1 error

"#]]);
}
