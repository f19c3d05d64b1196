//! Tests queries about a small shop.

use super::*;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::orchestrate::instance::exchange::import_model;
use crate::orchestrate::instance::model::{
    ByName, InstanceModel, NodeInstance, RelationInstance, SecretsMode,
};
use cuvee_text::source::{FileId, SourceMap};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Document, Limits, parse, write_flow};
use proptest::prelude::*;

const SHOP: &str = "\
metadata: {tosca_instance_version: tosca_simple_yaml_1_0, owner: ann}
inputs: {size: 2, domain: shop.example}
outputs: {entry: 'https://shop.example'}
nodes:
  box@0: &box
    template: {$externalToscaRef: 'shop.yaml#/topology_template/node_templates/box'}
    properties: {cpus: 4, memory: 8 GB, disks: [{name: a, size: 1 GB}, {name: b, size: 2000 MB}]}
    attributes: {state: started, tosca_name: box, ip: 10.0.0.1, ports: [80, 443]}
    capabilities: {host: {type: {$dsl-capability-types: Container}, properties: {cpus: 4, memory: 8 GB}}}
    metadata: {cuvee: {type: Machine, index: 0, reported: {ip: {revision: 7, time: '2026-05-01T10:00:00Z'}}}}
    links: {console: 'https://cloud/vm/1'}
  box@1:
    template: {$externalToscaRef: 'shop.yaml#/topology_template/node_templates/box'}
    properties: {cpus: 2, memory: 512 MB}
    attributes: {state: creating, tosca_name: box, ip: 10.0.0.2}
    capabilities: {host: {type: {$dsl-capability-types: Container}, properties: {cpus: 2}}}
    metadata: {cuvee: {type: Machine, index: 1}}
  db:
    template: {$externalToscaRef: 'shop.yaml#/topology_template/node_templates/db'}
    properties: {port: 5432, password: {$sensitive: 'hmac-sha256:00'}, version: '1.10'}
    attributes: {state: configured}
    capabilities: {endpoint: {type: {$dsl-capability-types: Endpoint.Database}, properties: {port: 5432}, attributes: {ip: 10.0.0.9}}}
    requirements: {host: {targets: [{$ref: '#/nodes/box@0'}]}}
    metadata: {cuvee: {type: Database}}
  shop:
    template: {$externalToscaRef: 'shop.yaml#/topology_template/node_templates/shop'}
    properties: {replicas: 3, title: 'A/B [x], y'}
    attributes: {state: started, url: 'https://shop.example'}
    requirements:
      host: {targets: [{$ref: '#/nodes/box@0'}, {$ref: '#/nodes/box@1'}]}
      endpoint: {relations: [{position: 2, target: {$ref: '#/nodes/db'}, capability: Endpoint, relationship: ConnectsTo, state: started}]}
      mail: {targets: [{$ref: 'mail.yaml#/nodes/relay'}]}
    metadata: {cuvee: {type: Shop}, owner: bob}
  odd/[x], y:
    type: {$dsl-node-types: Odd}
groups:
  web: {type: {$dsl-group-types: Pool}, members: [{$ref: '#/nodes/shop'}, {$ref: '#/nodes/db'}], properties: {quota: 5}}
policies:
  backup: {type: {$dsl-policy-types: Nightly}, targets: [{$ref: '#/groups/web'}, {$ref: '#/nodes/db'}], properties: {hour: 3}}
";

fn parsed(text: &str, sources: &SourceMap, name: &str) -> Document {
    parse(sources.add(name, text), text.into(), &Limits::default()).unwrap()
}

fn shop() -> InstanceModel {
    let sources = SourceMap::default();
    let told = |Diagnostics(found)| {
        found.iter().map(|one: &Diagnostic| one.one_line(&sources)).collect::<Vec<_>>()
    };
    import_model(parsed(SHOP, &sources, "shop.yaml").root()).map_err(told).unwrap()
}

const PARENTS: [(&str, &str); 3] =
    [("Machine", "tosca.nodes.Compute"), ("Database", "Software"), ("Shop", "Software")];

fn derives(own: &str, wanted: &str) -> bool {
    own == wanted || PARENTS.contains(&(own, wanted)) || own.starts_with(&format!("{wanted}."))
}

fn reading(unstable: bool) -> ModelReading<'static> {
    ModelReading { unstable, derives: &derives, ..ModelReading::default() }
}

fn told(row: &QueryRow) -> String {
    let path = if row.path.is_empty() { String::new() } else { format!("/{}", row.path) };
    match &row.value {
        Some(value) => format!("{}{path} {}", row.entity, write_flow(value)),
        None => format!("{}{path}", row.entity),
    }
}

/// The rows, followed by the messages.
fn ask_as(path: &str, reading: &ModelReading<'_>) -> Vec<String> {
    let sources = SourceMap::default();
    let file = sources.add("query", path);
    let line = |error: &Diagnostic| {
        let help = error.help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{}{help}", error.one_line(&sources))
    };
    match InstanceQuery::parse(path, file).and_then(|query| query.run(&shop(), reading)) {
        Ok(answer) => {
            answer.rows.iter().map(told).chain(answer.warnings.iter().map(line)).collect()
        }
        Err(error) => vec![line(&error)],
    }
}

fn ask(path: &str) -> Vec<String> {
    ask_as(path, &reading(false))
}

#[test]
fn collections_have_entities_and_values() {
    assert_eq!(
        ask("nodes"),
        ["node.box@0", "node.box@1", "node.db", "node.odd/[x], y", "node.shop"]
    );
    assert_eq!(ask("/nodes/*"), ask("nodes"));
    assert_eq!(ask("inputs"), ["input.domain shop.example", "input.size 2"]);
    assert_eq!(ask("outputs/entry"), ["output.entry https://shop.example"]);
    assert_eq!(ask("metadata"), ["metadata.owner ann"]);
    assert_eq!(ask("groups"), ["group.web"]);
    assert_eq!(ask("policies/backup/properties"), ["policy.backup/properties/hour 3"]);
    let relations = [
        "relation.host@0.node.db",
        "relation.endpoint@2.node.shop",
        "relation.host@0.node.shop",
        "relation.host@1.node.shop",
        "relation.mail@2.node.shop",
    ];
    assert_eq!(ask("relations"), relations);
}

#[test]
fn steps_lead_into_what_was_found() {
    assert_eq!(ask("nodes/shop/attributes/url"), ["node.shop/attributes/url https://shop.example"]);
    assert_eq!(ask("nodes/*/properties/port"), ["node.db/properties/port 5432"]);
    assert_eq!(
        ask("nodes/box@0/properties/disks/1/size"),
        ["node.box@0/properties/disks/1/size 2000 MB"]
    );
    assert_eq!(
        ask("nodes/box@0/properties/disks/*/name"),
        ["node.box@0/properties/disks/0/name a", "node.box@0/properties/disks/1/name b"]
    );
    assert_eq!(
        ask("nodes/db/capabilities"),
        [
            "node.db/capabilities/endpoint/properties/port 5432",
            "node.db/capabilities/endpoint/attributes/ip 10.0.0.9",
        ]
    );
    assert_eq!(
        ask("nodes/shop/requirements/host/target/state"),
        ["node.box@0/state started", "node.box@1/state creating"]
    );
    assert_eq!(
        ask("nodes/shop/requirements/mail/target"),
        ["relation.mail@2.node.shop/target mail.yaml#/nodes/relay"]
    );
    assert_eq!(ask("nodes/shop/metadata"), ["node.shop/metadata/owner bob"]);
    assert_eq!(ask("nodes/box@0/links/console"), ["node.box@0/links/console https://cloud/vm/1"]);
    assert_eq!(
        ask("groups/web/members/state"),
        ["node.shop/state started", "node.db/state configured"]
    );
    assert_eq!(ask("policies/backup/targets"), ["group.web", "node.db"]);
    assert_eq!(ask("nodes/shop/tosca_id"), ["node.shop/tosca_id '#/nodes/shop'"]);
    assert_eq!(
        ask("relations[type=ConnectsTo]/state"),
        ["relation.endpoint@2.node.shop/state started"]
    );
}

#[test]
fn properties_are_attributes_until_something_is_reported() {
    assert_eq!(ask("nodes/db/attributes/port"), ["node.db/attributes/port 5432"]);
    assert_eq!(
        ask("nodes/db/attributes"),
        [
            "node.db/attributes/state configured",
            "node.db/attributes/tosca_id '#/nodes/db'",
            "node.db/attributes/tosca_name db"
        ]
    );
}

#[test]
fn attributes_have_an_age() {
    let rows = InstanceQuery::parse("nodes/box@0/attributes/ip", FileId::DETACHED).unwrap();
    let rows = rows.run(&shop(), &reading(false)).unwrap().rows;
    assert_eq!(
        (rows[0].revision, rows[0].time.as_deref()),
        (Some(7), Some("2026-05-01T10:00:00Z"))
    );
}

#[test]
fn names_with_signs_are_quoted() {
    assert_eq!(ask("nodes/'odd/[x], y'/type"), ["node.odd/[x], y/type Odd"]);
    assert_eq!(ask("nodes[id=\"odd/[x], y\"]"), ["node.odd/[x], y"]);
    assert_eq!(ask("nodes[properties/title='A/B [x], y']"), ["node.shop"]);
}

#[test]
fn filters_compare_as_what_values_are() {
    assert_eq!(
        ask("nodes[type=tosca.nodes.Compute,state=started]/attributes/ip"),
        ["node.box@0/attributes/ip 10.0.0.1"]
    );
    assert_eq!(ask("nodes[type!=Software]"), ["node.box@0", "node.box@1", "node.odd/[x], y"]);
    for (filter, found) in [
        ("properties/cpus>=4", vec!["node.box@0"]),
        ("properties/cpus<4", vec!["node.box@1"]),
        ("properties/memory > 1 GB", vec!["node.box@0"]),
        ("properties/memory<=512 MB", vec!["node.box@1"]),
        ("properties/memory=8000 MB", vec!["node.box@0"]),
        ("properties/version>1.9", vec!["node.db"]),
        ("properties/disks/*/name=b", vec!["node.box@0"]),
        ("properties/port", vec!["node.db"]),
        ("properties/port=*", vec!["node.db"]),
        ("attributes/url~^https://", vec!["node.shop"]),
        ("capabilities/*/type=Endpoint", vec!["node.db"]),
        ("requirements/host/target=box@1", vec!["node.shop"]),
        ("template=box,index=1", vec!["node.box@1"]),
        ("metadata/owner=bob", vec!["node.shop"]),
        ("properties/port!=5432,template!=box", vec!["node.odd/[x], y", "node.shop"]),
        ("properties/port!=*,properties/cpus!=*", vec!["node.odd/[x], y", "node.shop"]),
        ("properties/password~hmac", vec![]),
    ] {
        assert_eq!(ask(&format!("nodes[{filter}]")), found, "{filter}");
    }
    assert_eq!(
        ask("nodes/*/capabilities[type=Container]/properties[name~^cpu]"),
        [
            "node.box@0/capabilities/host/properties/cpus 4",
            "node.box@1/capabilities/host/properties/cpus 2",
        ]
    );
    assert_eq!(ask("inputs[name=size]"), ["input.size 2"]);
    assert_eq!(
        ask("nodes/box@0/properties/disks/*[size>1 GB]/name"),
        ["node.box@0/properties/disks/1/name b"]
    );
}

#[test]
fn axes_lead_along_relations() {
    assert_eq!(ask("nodes/shop->host"), ["node.box@0", "node.box@1"]);
    assert_eq!(
        ask("nodes/shop->*/state"),
        ["node.db/state configured", "node.box@0/state started", "node.box@1/state creating"]
    );
    assert_eq!(
        ask("nodes/shop->host[state=started]/attributes/ip"),
        ["node.box@0/attributes/ip 10.0.0.1"]
    );
    assert_eq!(ask("nodes/box@0<-host"), ["node.db", "node.shop"]);
    assert_eq!(ask("nodes/shop->endpoint->host"), ["node.box@0"]);
    assert_eq!(ask("nodes/shop->>*"), ["node.db", "node.box@0", "node.box@1"]);
    assert_eq!(ask("nodes/box@0<<-*"), ["node.db", "node.shop"]);
    assert_eq!(ask("nodes->host"), ["node.box@0", "node.box@1"]);
    assert_eq!(ask("groups/web/members->host"), ["node.box@0", "node.box@1"]);
}

#[test]
fn going_round_ends() {
    let sources = SourceMap::default();
    let text = "\
tosca_instance_version: tosca_simple_yaml_1_0
nodes:
  a: {type: {$dsl-node-types: T}, requirements: {next: {targets: [{$ref: '#/nodes/b'}]}}}
  b: {type: {$dsl-node-types: T}, requirements: {next: {targets: [{$ref: '#/nodes/a'}, {$ref: '#/nodes/b'}]}}}
";
    let model = import_model(parsed(text, &sources, "a.yaml").root()).unwrap();
    for path in ["nodes/a->>next", "nodes/a<<-next"] {
        let query = InstanceQuery::parse(path, FileId::DETACHED).unwrap();
        let rows = query.run(&model, &ModelReading::default()).unwrap().rows;
        let mut found: Vec<_> = rows.iter().map(told).collect();
        found.sort();
        assert_eq!(found, ["node.a", "node.b"], "{path}");
    }
}

#[test]
fn what_is_not_visible_is_left_out_and_said() {
    assert_eq!(
        ask("nodes[template=box]/attributes/ip"),
        [
            "node.box@0/attributes/ip 10.0.0.1",
            "query:1:1: warning[not-visible]: 1 node is in no stable state from `created` on, so attributes are left out (show them as they are with `--unstable`)",
        ]
    );
    let rows = ask_as("nodes[template=box]/attributes/ip", &reading(true));
    assert_eq!(rows, ["node.box@0/attributes/ip 10.0.0.1", "node.box@1/attributes/ip 10.0.0.2"]);
    assert_eq!(ask("nodes/box@1/attributes/state"), ["node.box@1/attributes/state creating"]);
    assert_eq!(function("{get_attribute: ['box@1', ip]}").unwrap_err().code, Code::NotVisible);
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    for (path, said) in [
        (
            "node/shop",
            "query:1:1: error[invalid-expression]: `node` is no collection of an instance (did you mean `nodes`?)",
        ),
        (
            "nodes/shpo/state",
            "query:1:7: error[unknown-element]: `nodes` of this instance has no `shpo` (did you mean `shop`?)",
        ),
        (
            "nodes/box",
            "query:1:7: error[unknown-element]: `nodes` of this instance has no `box` (2 nodes are of that template: name one of them, such as `box@0`, or write `nodes[template=box]`)",
        ),
        (
            "nodes/shop/atributes/url",
            "query:1:12: error[unknown-keyword]: no element at this path has a part `atributes` (did you mean `attributes`?)",
        ),
        (
            "nodes[stat=started]",
            "query:1:7: error[unknown-keyword]: no element at this path has a part `stat` (did you mean `state`?)",
        ),
        (
            "nodes[cpus=4]",
            "query:1:7: error[unknown-keyword]: no element at this path has a part `cpus` (write `properties/cpus`)",
        ),
        (
            "nodes/*/properties/prot",
            "query:1:20: warning[unknown-property]: no element at this path has a value `prot` (did you mean `port`?)",
        ),
        (
            "nodes[state=started",
            "query:1:20: error[invalid-expression]: expected `,` or `]` behind a filter, got the end",
        ),
        ("nodes[state~(]", "query:1:13: error[invalid-expression]: `(` is no regular expression"),
        (
            "nodes[state<*]",
            "query:1:13: error[invalid-expression]: `*` stands behind `=` or `!=` only",
        ),
        (
            "nodes[state=]",
            "query:1:13: error[invalid-expression]: expected a value, got `]` (an empty text is written as `''`)",
        ),
        (
            "nodes/'shop",
            "query:1:7: error[invalid-expression]: the text that begins with ' does not end, got `'`",
        ),
        (
            "nodes/shop]",
            "query:1:11: error[invalid-expression]: expected `/`, `->`, `<-` or a filter in brackets, got `]` (put names with such characters into quotes)",
        ),
        ("nodes/", "query:1:7: error[invalid-expression]: expected a name or `*`, got the end"),
        (
            "",
            "query:1:1: error[invalid-expression]: expected a collection such as `nodes`, got the end",
        ),
        (
            "inputs->host",
            "query:1:9: error[invalid-expression]: relations lead from nodes, but the path before this step does not lead to nodes",
        ),
        (
            "nodes/shop/attributes->host",
            "query:1:24: error[invalid-expression]: relations lead from nodes, but the path before this step does not lead to nodes",
        ),
    ] {
        let found = ask(path);
        assert!(found.len() == 1 && found[0].starts_with(said), "{path}\n{found:#?}");
    }
    // The attribute has not been reported yet, and its name resembles no other.
    assert_eq!(ask("nodes/shop/attributes/certificate"), [""; 0]);
}

fn filtered(filter: &str) -> Result<Vec<String>, Vec<String>> {
    let sources = SourceMap::default();
    let document = parsed(filter, &sources, "filter.yaml");
    let answer = query_by_filter(&shop(), document.root(), &reading(false));
    answer
        .map(|answer| answer.rows.iter().map(told).collect())
        .map_err(|Diagnostics(found)| found.iter().map(|one| one.one_line(&sources)).collect())
}

#[test]
fn node_filters_of_tosca_are_applied() {
    let both = Ok(vec!["node.box@0".to_owned(), "node.box@1".to_owned()]);
    assert_eq!(filtered("properties: [{cpus: {in_range: [2, 4]}}]"), both);
    assert_eq!(
        filtered("capabilities: [{Container: {properties: [{cpus: {greater_or_equal: 2}}]}}]"),
        both
    );
    assert_eq!(
        filtered(
            "node_filter: {capabilities: [{host: {properties: [{memory: {greater_than: 1 GB}}]}}]}"
        ),
        Ok(vec!["node.box@0".into()])
    );
    assert_eq!(
        filtered("properties: [{memory: [{greater_than: 100 MB}, {less_than: 1 GB}]}, {cpus: 2}]"),
        Ok(vec!["node.box@1".into()])
    );
    assert_eq!(
        filtered("properties: [{version: {pattern: '1[.].*'}}]"),
        Ok(vec!["node.db".into()])
    );
    assert_eq!(filtered("properties: [{disks: {min_length: 2}}]"), Ok(vec!["node.box@0".into()]));
    assert_eq!(filtered("properties: [{cpus: {valid_values: [3, 5]}}]"), Ok(vec![]));
    assert_eq!(
        filtered("property: []").unwrap_err()[0].split(": ").nth(1),
        Some("error[unknown-keyword]")
    );
    assert!(
        filtered("properties: [{cpus: {get_input: size}}]").unwrap_err()[0]
            .starts_with("filter.yaml:1:21: error[invalid-function]")
    );
}

fn function_in(model: &InstanceModel, text: &str, reveal: bool) -> Result<Value, Diagnostic> {
    let sources = SourceMap::default();
    let document = parsed(text, &sources, "function");
    query_function(model, document.root(), None, &ModelReading { reveal, ..reading(false) })
}

fn function(text: &str) -> Result<Value, Diagnostic> {
    function_in(&shop(), text, false)
}

#[test]
fn functions_have_values() {
    for (call, value) in [
        ("{get_attribute: [shop, url]}", "https://shop.example".into()),
        ("{get_attribute: [shop, replicas]}", 3.into()),
        ("{get_attribute: [shop, state]}", "started".into()),
        ("{get_property: [db, port]}", 5432.into()),
        ("{get_property: ['box@0', disks, 1, size]}", "2000 MB".into()),
        ("{get_property: [db, endpoint, port]}", 5432.into()),
        ("{get_property: [shop, endpoint, port]}", 5432.into()),
        ("{get_attribute: [shop, endpoint, ip]}", "10.0.0.9".into()),
        ("{get_property: [shop, host, cpus]}", 4.into()),
        ("{get_property: [web, quota]}", 5.into()),
        ("{get_input: size}", 2.into()),
        ("{concat: [a, {get_input: domain}, 1.10]}", "ashop.example1.10".into()),
        ("{join: [[a, {get_input: size}], '-']}", "a-2".into()),
        ("{token: [{get_attribute: [shop, url]}, '/:.', 3]}", "shop".into()),
        ("{get_nodes_of_type: Software}", vec!["db".into(), "shop".into()].into()),
        ("{get_property: [db, password]}", "(sensitive)".into()),
        ("{concat: ['postgres://', {get_property: [db, password]}]}", "(sensitive)".into()),
        (
            "{token: [{concat: [{get_property: [db, password]}, ':x']}, ':', 1]}",
            "(sensitive)".into(),
        ),
    ] {
        assert_eq!(function(call), Ok(value), "{call}");
    }
}

#[test]
fn functions_that_have_no_value_say_why() {
    for (call, code, said) in [
        (
            "{get_attribute: [SELF, url]}",
            Code::InvalidFunction,
            "`SELF` has no meaning outside of a template",
        ),
        (
            "{get_attribute: [box, ip]}",
            Code::InvalidFunction,
            "the instance has `box` 2 times, so the function has no single value",
        ),
        ("{get_attribute: [shpo, ip]}", Code::UnknownElement, "this instance has no node `shpo`"),
        (
            "{get_attribute: [shop, ulr]}",
            Code::UnknownProperty,
            "`shop` has no attribute `ulr` with a value",
        ),
        (
            "{get_property: [shop, url]}",
            Code::UnknownProperty,
            "`shop` has no property `url` with a value",
        ),
        (
            "{get_input: sizes}",
            Code::MissingInput,
            "the instance was made without an input `sizes`",
        ),
        ("{get_property: ['box@0', disks, 7]}", Code::InvalidFunction, "a list has no part `7`"),
        ("{token: [a, b, 3]}", Code::InvalidFunction, "the string has no substring 3"),
        (
            "{get_operation_output: [shop, Standard, create, x]}",
            Code::UnknownProperty,
            "the operation `create` of `shop` has not given the output `x`",
        ),
        (
            "{get_artifact: [shop, image]}",
            Code::InvalidFunction,
            "an instance has the names of artifacts, but not their paths",
        ),
        (
            "{get_attribute: [shop]}",
            Code::InvalidFunction,
            "`get_attribute` does not take 1 argument",
        ),
        ("shop", Code::InvalidFunction, "expected the call of a function, got a string"),
    ] {
        let error = function(call).unwrap_err();
        assert_eq!((error.code, &*error.message), (code.into(), said), "{call}");
        assert!(error.span.is_some(), "{call}");
    }
}

/// The value of a function of an element.
fn function_of(model: &InstanceModel, text: &str, of: &str) -> Result<Value, Diagnostic> {
    let document = parsed(text, &SourceMap::default(), "function");
    query_function(model, document.root(), Some(of), &reading(false))
}

#[test]
fn functions_belong_to_elements() {
    let relation = "relation.endpoint@2.node.shop";
    for (call, of, value) in [
        ("{get_property: [SELF, replicas]}", "shop", 3.into()),
        ("{get_property: [SELF, replicas]}", "node.shop", 3.into()),
        ("{get_property: [SELF, quota]}", "group.web", 5.into()),
        ("{get_property: [HOST, cpus]}", "db", 4.into()),
        ("{get_property: [HOST, host, memory]}", "db", "8 GB".into()),
        ("{get_property: [SOURCE, replicas]}", relation, 3.into()),
        ("{get_property: [TARGET, port]}", relation, 5432.into()),
        ("{get_property: [TARGET, password]}", relation, "(sensitive)".into()),
    ] {
        let mut model = shop();
        let host = model.nodes.get_mut("db").unwrap().requirements.get_mut("host").unwrap();
        host[0].hosting = true;
        assert_eq!(function_of(&model, call, of), Ok(value), "{call} of {of}");
    }
    for (call, of, said) in [
        ("{get_property: [SOURCE, replicas]}", "shop", "`node.shop` has no `SOURCE`"),
        ("{get_property: [HOST, cpus]}", relation, "`relation.endpoint@2.node.shop` has no `HOST`"),
        ("{get_property: [HOST, cpus]}", "shop", "`HOST` has no property `cpus` with a value"),
        ("{get_input: size}", "policy.backup", "`policy.backup` has no functions"),
        ("{get_input: size}", "shpo", "there is no `shpo` in this instance"),
    ] {
        assert_eq!(function_of(&shop(), call, of).unwrap_err().message, said, "{call} of {of}");
    }
}

#[test]
fn kept_functions_are_evaluated_where_they_are_kept() {
    let mut model = shop();
    let call = |text: &str| parsed(text, &SourceMap::default(), "kept").root().to_value();
    let mut keep = |node: &str, name: &str, value: &str| {
        model.nodes.get_mut(node).unwrap().properties.insert(name.into(), call(value));
    };
    keep(
        "db",
        "entry",
        "{concat: [{get_property: [SELF, port]}, '/', {get_property: [SELF, password]}]}",
    );
    keep("db", "name", "{parts: [{get_property: [SELF, version]}]}");
    keep("shop", "name", "{get_property: [db, name, parts, 0]}");
    keep("shop", "there", "{get_property: [SELF, back]}");
    keep("shop", "back", "{get_property: [SELF, there]}");
    let of_shop = |text: &str| function_of(&model, text, "shop");
    assert_eq!(of_shop("{get_property: [SELF, name]}"), Ok("1.10".into()));
    assert_eq!(of_shop("{get_property: [db, name]}"), Ok(call("{parts: ['1.10']}")));
    assert_eq!(of_shop("{get_property: [db, entry]}"), Ok("(sensitive)".into()));
    let error = of_shop("{get_property: [SELF, there]}").unwrap_err();
    assert_eq!(error.message, "more than 100 values refer to each other");
}

#[test]
fn functions_of_2_0_have_values() {
    for (call, value) in [
        ("{$get_attribute: [shop, url]}", "https://shop.example".into()),
        ("{$concat: ['at ', {$get_attribute: [shop, url]}]}", "at https://shop.example".into()),
        ("{$sum: [1, {$get_attribute: [shop, replicas]}]}", 4.into()),
    ] {
        assert_eq!(function(call), Ok(value), "{call}");
    }
    for call in ["{$value: [0]}", "{$own: [1]}", "{$get_property: []}"] {
        let error = function(call).unwrap_err();
        assert_eq!(error.code, Code::InvalidFunction, "{call}");
    }
}

#[test]
fn secrets_are_revealed_where_they_are_kept() {
    let mut model = shop();
    model.secrets = SecretsMode::Keep;
    model
        .nodes
        .get_mut("db")
        .unwrap()
        .properties
        .insert("password".into(), Value::Map([("$sensitive".into(), "canary".into())].into()));
    let call = "{concat: ['x:', {get_property: [db, password]}]}";
    assert_eq!(function_in(&model, call, false), Ok("(sensitive)".into()));
    assert_eq!(function_in(&model, call, true), Ok("x:canary".into()));
}

proptest! {
    #[test]
    fn no_path_is_a_panic(path in "(nodes|relations|groups|inputs|node)?[-/<>a-z\\[\\]=~!*,'\" é]{0,20}") {
        let _ = ask(&path);
    }

    #[test]
    fn rows_are_found_by_what_they_say(pick in any::<prop::sample::Index>()) {
        let model = shop();
        let query = |path: &str| InstanceQuery::parse(path, FileId::DETACHED).unwrap().run(&model, &reading(true)).unwrap().rows;
        let all = ["properties", "attributes", "capabilities", "links", "metadata"].map(|part| query(&format!("nodes/*/{part}"))).concat();
        let row = pick.get(&all);
        let id = row.entity.strip_prefix("node.").unwrap();
        prop_assert_eq!(query(&format!("nodes/'{id}'/{}", row.path)), std::slice::from_ref(row));
    }
}

#[test]
fn long_chains_are_walked() {
    let mut model = InstanceModel::default();
    for at in 0..10_000 {
        let target = Some(format!("n{}", at + 1).into());
        let next = RelationInstance { target, ..RelationInstance::default() };
        let requirements = ByName::from([("next".into(), vec![next])]);
        let node = NodeInstance { requirements, ..NodeInstance::default() };
        model.nodes.insert(format!("n{at}").into(), node);
    }
    let found = |path: &str| {
        let query = InstanceQuery::parse(path, FileId::DETACHED).unwrap();
        query.run(&model, &ModelReading::default()).unwrap().rows.len()
    };
    assert_eq!((found("nodes/n0->>next"), found("nodes/n9999<<-next")), (9_999, 9_999));
    assert_eq!(
        (found("nodes->next"), found("nodes->>*"), found("relations")),
        (9_999, 9_999, 10_000)
    );
}
