//! Tests what is effective: operations, properties and inputs as a node has them, whether its type
//! says so or its template.

use cuvee::Resolver;
use cuvee::deploy::plan::PlanQuery;
use cuvee::output::draw::plan::PlanDocument;
use serde_json::{Value, json};

/// The document of the deployment of a template, with the values of functions.
fn deployment(text: &str) -> Value {
    let resolver = Resolver::from_text("t.yaml", text).evaluate_functions();
    let answer = resolver.plan(&PlanQuery::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let document = PlanDocument::of(&answer.result, &answer.sources, false);
    serde_json::to_value(document).unwrap()
}

/// A step of a plan.
fn step<'p>(plan: &'p Value, id: &str) -> &'p Value {
    let steps = plan["steps"].as_array().unwrap();
    steps.iter().find(|step| step["id"] == id).unwrap_or_else(|| panic!("{id}: {plan:#}"))
}

/// Types whose operations take whatever can be taken.
const TAKING: &str = r#"
tosca_definitions_version: tosca_simple_yaml_1_3
interface_types:
  Backup:
    derived_from: tosca.interfaces.Root
    inputs: {bucket: {type: string, default: {get_property: [SELF, name]}}}
    operations: {dump: {implementation: dump.sh}}
node_types:
  Machine:
    derived_from: Compute
    properties: {zone: {type: string, default: north}, size: {type: integer, default: 4}}
  Store:
    derived_from: SoftwareComponent
    properties:
      name: {type: string, default: {concat: [store-, {get_property: [HOST, zone]}]}}
      port: {type: integer, default: 5432}
      limits: {type: map, entry_schema: string, default: {small: 1 GB}}
      address: {type: string, default: {get_attribute: [HOST, public_address]}}
    attributes: {ip: {type: string}, ports: {type: list, entry_schema: integer}}
    capabilities:
      admin: {type: Endpoint.Admin, properties: {port: {type: integer, default: 9}}}
    interfaces:
      Standard:
        inputs:
          everywhere: {get_property: [SELF, port]}
        operations:
          create:
            implementation: create.sh
            inputs:
              own: {get_property: [SELF, name]}
              part: {get_property: [SELF, limits, small]}
              of_host: {get_property: [HOST, zone]}
              of_capability: {get_property: [SELF, admin, port]}
              through: {get_property: [SELF, host, size]}
              said: {get_input: who}
              joined: {join: [[{get_input: who}, {get_property: [SELF, port]}], "@"]}
              nested: {a: [{get_property: [SELF, port]}, b], c: {get_attribute: [SELF, ip]}}
              plain: {token: yes}
              all: {get_nodes_of_type: Store}
              live: {get_attribute: [SELF, ip]}
              mixed: {concat: [{get_property: [SELF, port]}, ":", {get_attribute: [HOST, ip]}]}
              late: {get_property: [SELF, address]}
              result: {get_operation_output: [SELF, Standard, configure, made]}
              file: {get_artifact: [SELF, image]}
            outputs:
              ip: [SELF, ip]
              address: [SELF, admin, ip_address]
              first: [SELF, ports, 0]
      Backup:
        type: Backup
relationship_types:
  Link:
    derived_from: ConnectsTo
    properties: {user: {type: string, default: nobody}}
    interfaces:
      Configure:
        operations:
          pre_configure_source:
            implementation: link.sh
            inputs:
              user: {get_property: [SELF, user]}
              from: {get_property: [SOURCE, name]}
              to: {get_property: [TARGET, admin, port]}
              live: {concat: [{get_property: [SELF, user]}, "@", {get_attribute: [TARGET, ip]}]}
            outputs: {seen: [TARGET, admin, ip_address], told: [SOURCE, ip], done: [SELF, state]}
topology_template:
  inputs: {who: {type: string, default: ann}}
  node_templates:
    one: {type: Machine}
    two: {type: Machine, properties: {zone: south}}
    old: {type: Store, requirements: [{host: two}]}
    new:
      type: Store
      properties: {port: 99}
      requirements:
        - host: one
        - dependency: {node: old, relationship: {type: Link, properties: {user: {get_input: who}}}}
  workflows:
    dump: {steps: {all: {target: new, activities: [{call_operation: Backup.dump}]}}}
"#;

#[test]
fn functions_of_types_have_their_values() {
    let plan = deployment(TAKING);
    let values = |id: &str| {
        let inputs = step(&plan, id)["inputs"].as_object().unwrap().clone();
        let when = |input: &Value| input.get("when").cloned().unwrap_or(json!("now"));
        let read = inputs.into_iter().map(|(name, it)| (name, json!([it["value"], when(&it)])));
        read.collect::<serde_json::Map<_, _>>()
    };
    let of_node = |name: &str, zone: &str, port: i64| {
        json!({
            "everywhere": [port, "now"],
            "own": [name, "now"],
            "part": ["1 GB", "now"],
            "of_host": [zone, "now"],
            "of_capability": [9, "now"],
            "through": [4, "now"],
            "said": ["ann", "now"],
            "joined": [format!("ann@{port}"), "now"],
            "nested": [{"a": [port, "b"], "c": {"get_attribute": ["SELF", "ip"]}}, "runtime"],
            "plain": [{"token": "yes"}, "now"],
            "all": [["old", "new"], "now"],
            "live": [{"get_attribute": ["SELF", "ip"]}, "runtime"],
            "mixed": [{"concat": [port, ":", {"get_attribute": ["HOST", "ip"]}]}, "runtime"],
            "late": [{"get_property": ["SELF", "address"]}, "runtime"],
            "result": [
                {"get_operation_output": ["SELF", "Standard", "configure", "made"]}, "runtime"
            ],
            "file": [{"get_artifact": ["SELF", "image"]}, "runtime"],
        })
    };
    assert_eq!(Value::Object(values("node.old/create")), of_node("store-south", "south", 5432));
    assert_eq!(Value::Object(values("node.new/create")), of_node("store-north", "north", 99));
    let of_relation = json!({
        "user": ["ann", "now"],
        "from": ["store-north", "now"],
        "to": [9, "now"],
        "live": [{"concat": ["ann", "@", {"get_attribute": ["TARGET", "ip"]}]}, "runtime"],
    });
    let found = values("relation.dependency@1.node.new/pre_configure_source");
    assert_eq!(Value::Object(found), of_relation);
}

#[test]
fn outputs_say_what_they_are_assigned_to() {
    let plan = deployment(TAKING);
    let of_node = json!({
        "ip": {"entity": "SELF", "attribute": "ip"},
        "address": {"entity": "SELF", "capability": "admin", "attribute": "ip_address"},
        "first": {"entity": "SELF", "attribute": "ports", "path": [0]},
    });
    assert_eq!(step(&plan, "node.old/create")["outputs"], of_node);
    let of_relation = json!({
        "seen": {"entity": "TARGET", "capability": "admin", "attribute": "ip_address"},
        "told": {"entity": "SOURCE", "attribute": "ip"},
        "done": {"entity": "SELF", "attribute": "state"},
    });
    let found = step(&plan, "relation.dependency@1.node.new/pre_configure_source");
    assert_eq!(found["outputs"], of_relation);
}

/// Workflows of the template call operations of types, too; inputs may be those of an interface
/// type.
#[test]
fn workflows_are_told_the_same() {
    let resolver = Resolver::from_text("t.yaml", TAKING).evaluate_functions();
    let query = PlanQuery { workflow: "dump".to_owned(), ..PlanQuery::default() };
    let answer = resolver.plan(&query).unwrap();
    let call = answer.result.calls.iter().find(|call| call.operation == "dump").unwrap();
    assert_eq!((&*call.inputs[0].name, &call.inputs[0].value), ("bucket", &"store-north".into()));
}

/// What is wrong with a function is told once, at its place in the type.
#[test]
fn wrong_functions_of_types_are_told() {
    let text =
        TAKING.replace("{get_input: who}, {get_property", "{get_input: whom}, {get_property");
    let declared = text.replace("inputs: {who: ", "inputs: {whom: {type: string}, who: ");
    let planned = |text: String| {
        let resolver = Resolver::from_text("t.yaml", text).evaluate_functions();
        resolver.plan(&PlanQuery::default()).map_err(|failure| failure.to_string())
    };
    // As in templates, an input that nobody declares is left to whoever runs the operation.
    assert!(planned(text).is_ok());
    let error = planned(declared).unwrap_err();
    assert_eq!(error.matches("error[missing-input]").count(), 1, "{error}");
    assert!(error.contains("the topology input `whom` is needed here and has no value"), "{error}");
    let knotted = TAKING.replace(
        "{concat: [store-, {get_property: [HOST, zone]}]}",
        "{get_property: [SELF, name]}",
    );
    let error = planned(knotted).unwrap_err();
    assert!(error.contains("the value of a function needs itself"), "{error}");
}
