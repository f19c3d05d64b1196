//! Tests what is effective: operations, properties and inputs as a node has them, whether its type
//! says so or its template.

use crate::adapting::{classes, plans, reasons};
use cuvee::Resolver;
use cuvee::deploy::plan::{ChangeClass, OrderOptions, Plan, PlanQuery};
use cuvee::output::draw::plan::{self as drawn, PlanDocument};
use cuvee::source::MemoryFiles;
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
              plain: {concat: yes}
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
            "plain": [{"concat": "yes"}, "now"],
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

/// Software whose type says all that it does, connected to software that does nothing.
const SHOP: &str = r#"
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Shop:
    derived_from: SoftwareComponent
    properties:
      port: {type: integer, default: 80}
      engine: {type: string, default: tomcat, metadata: {recreate: "true"}}
    interfaces:
      Standard:
        operations:
          create: {implementation: scripts/make.sh, inputs: {port: {get_property: [SELF, port]}}}
          start: scripts/start.sh
  Idle: {derived_from: SoftwareComponent}
relationship_types:
  Reads: {derived_from: DependsOn, interfaces: {Configure: {add_target: scripts/add.sh}}}
topology_template:
  node_templates:
    vm: {type: Compute}
    idle: {type: Idle, requirements: [{host: vm}]}
    shop: {type: Shop, requirements: [{host: vm}, {dependency: {node: idle, relationship: Reads}}]}
"#;

fn files(template: &str, made: &str) -> MemoryFiles {
    let files = [("t.yaml", template), ("scripts/make.sh", made)];
    files
        .map(|(name, content)| (name.to_owned(), content.as_bytes().to_vec()))
        .into_iter()
        .collect()
}

/// Whichever way it is planned, a change of the template gives the nodes `idle` and `shop` these
/// classes, and the reason is at this place.
fn assert_seen(change: [&str; 2], [idle, shop]: [ChangeClass; 2], at: &str) {
    let [old, new] = change;
    assert_eq!(SHOP.matches(old).count(), 1, "{old}");
    let to = SHOP.replace(old, new);
    for (how, plan) in plans(&files(SHOP, "one"), &files(&to, "one")) {
        let found = classes(&plan);
        let found = ["node.idle", "node.shop"].map(|name| found[name]);
        assert_eq!(found, [idle, shop], "{how}: {new}: {}", reasons(&plan));
        assert!(reasons(&plan).contains(at), "{how}: {new}: {}", reasons(&plan));
    }
}

#[test]
fn changes_in_types_are_seen() {
    use ChangeClass::{Keep, Reconfigure, Recreate};
    let seen = |old, new, class, at| assert_seen([old, new], [Keep, class], at);
    seen(
        "scripts/make.sh",
        "scripts/other.sh",
        Recreate,
        "interfaces.Standard.create.implementation",
    );
    seen(
        "start: scripts/start.sh",
        "start: scripts/run.sh",
        Reconfigure,
        "Standard.start.implementation",
    );
    let more = "inputs: {size: 3, port: ";
    seen("inputs: {port: ", more, Reconfigure, "interfaces.Standard.create.inputs.size");
    let more = "start: scripts/start.sh\n          stop: scripts/stop.sh";
    seen("start: scripts/start.sh", more, Reconfigure, "interfaces.Standard.stop.implementation");
    let timed = "start: {implementation: {primary: scripts/start.sh, timeout: 9}}";
    seen("start: scripts/start.sh", timed, Reconfigure, "Standard.start.implementation.timeout");
    let needing = "start: {implementation: {primary: scripts/start.sh, dependencies: [lib.sh]}}";
    seen("start: scripts/start.sh", needing, Reconfigure, "start.implementation.dependencies[0]");
    let here = "start: {implementation: {primary: scripts/start.sh, operation_host: ORCHESTRATOR}}";
    seen("start: scripts/start.sh", here, Reconfigure, "start.implementation.operation_host");
    seen("default: 80", "default: 81", Reconfigure, "property.port");
    seen("default: tomcat", "default: jetty", Recreate, "property.engine");
    seen("scripts/add.sh", "scripts/plus.sh", Reconfigure, "Configure.add_target.implementation");
}

/// Also where the node had nothing to run before.
#[test]
fn a_new_create_makes_its_node_again() {
    use ChangeClass::{Recreate, Restart};
    let created = "idle: {type: Idle, interfaces: {Standard: {create: new.sh}}, requirements";
    let at = "interfaces.Standard.create.implementation";
    assert_seen(["idle: {type: Idle, requirements", created], [Recreate, Restart], at);
    let created =
        "Idle: {derived_from: SoftwareComponent, interfaces: {Standard: {create: new.sh}}}";
    assert_seen(["Idle: {derived_from: SoftwareComponent}", created], [Recreate, Restart], at);
}

#[test]
fn saying_the_same_again_changes_nothing() {
    let again = "shop: {type: Shop, properties: {port: 80}, interfaces: {Standard: {operations: {start: scripts/start.sh, create: {implementation: scripts/make.sh, inputs: {port: {get_property: [SELF, port]}}}}}}, requirements";
    let to = SHOP.replace("shop: {type: Shop, requirements", again);
    let to = to.replace("idle: {type: Idle,", "idle: {type: Idle, interfaces: {Standard: {}},");
    assert!(to.contains(again));
    for (how, plan) in plans(&files(SHOP, "one"), &files(&to, "one")) {
        assert!(plan.steps.is_empty(), "{how}: {}", reasons(&plan));
    }
}

/// The path of a script stays, and what is in it does not.
#[test]
fn other_contents_of_scripts_of_types_are_seen() {
    for (how, plan) in plans(&files(SHOP, "one"), &files(SHOP, "two")) {
        assert_eq!(classes(&plan)["node.shop"], ChangeClass::Recreate, "{how}");
        assert_eq!(reasons(&plan).matches("sha256:").count(), 2, "{how}: {}", reasons(&plan));
    }
}

/// What is secret in a relation, or in a capability, is so in the reasons, too.
#[test]
fn reasons_hide_what_is_secret() {
    const SECRETS: &str = r#"
tosca_definitions_version: tosca_simple_yaml_1_3
capability_types:
  Door: {derived_from: tosca.capabilities.Root, properties: {code: &secret {type: string, default: canary-1, metadata: {sensitive: "true"}}}}
relationship_types:
  Opens: {derived_from: DependsOn, properties: {tone: *secret, said: {type: string, default: x}}}
node_types:
  House: {derived_from: SoftwareComponent, capabilities: {door: Door}}
topology_template:
  inputs: {whispered: {type: string, default: canary-2, metadata: {sensitive: "true"}}}
  node_templates:
    house: {type: House}
    guest: {type: SoftwareComponent, requirements: [{dependency: {node: house, relationship: {type: Opens, properties: {said: {get_input: whispered}}}}}]}
"#;
    let planned = |text: &str| Resolver::from_text("t.yaml", text).evaluate_functions();
    let (from, to) = (planned(SECRETS), planned(&SECRETS.replace("canary-", "canary-0")));
    let plan = from.adapt(&to, &Default::default(), &OrderOptions::default()).unwrap();
    let seen = reasons(&plan.result);
    for path in ["door.property.code", "relationship.property.tone", "relationship.property.said"] {
        assert!(seen.contains(path), "{path}: {seen}");
    }
    let document = PlanDocument::of(&plan.result, &plan.sources, false);
    let document = serde_json::to_string(&document).unwrap();
    assert!(!document.contains("canary"), "{document}");
}

/// A node with nothing to run is no step on the way: what comes after it is in the first wave.
#[test]
fn nothing_to_run_takes_no_wave() {
    let plan = Resolver::from_text("t.yaml", SHOP).plan(&PlanQuery::default()).unwrap().result;
    let waves = |name: &str| plan.steps[id(&plan, name)].wave;
    assert_eq!(waves("node.vm/deploy"), 1);
    assert_eq!(waves("node.idle/started"), 1);
    assert_eq!(waves("node.shop/create"), 2);
    assert_eq!(plan.waves(), 4);
    let text = drawn::human(&plan, false, false);
    assert!(text.starts_with("deploy: 3 operations and 1 delegation in 4 waves\n"), "{text}");
}

/// The place of a step in its plan.
fn id(plan: &Plan, name: &str) -> usize {
    let found = plan.step_ids().find(|&id| plan.identifier(id) == name);
    found.unwrap_or_else(|| panic!("{name}")).index()
}

/// What the relations of one node do before it is configured, or after, keeps the order of the
/// template, also where operations on one host need not wait for each other.
#[test]
fn operations_of_relations_at_one_node_keep_their_order() {
    const MANY: &str = r"
tosca_definitions_version: tosca_simple_yaml_1_3
relationship_types:
  Both:
    derived_from: DependsOn
    interfaces:
      Configure: {pre_configure_source: a.sh, post_configure_source: b.sh, pre_configure_target: c.sh, post_configure_target: d.sh}
topology_template:
  node_templates:
    vm: {type: Compute}
    one: {type: SoftwareComponent, requirements: [{host: vm}]}
    two: {type: SoftwareComponent, requirements: [{host: vm}]}
    user:
      type: SoftwareComponent
      requirements:
        - host: vm
        - dependency: {node: two, relationship: Both}
        - dependency: {node: one, relationship: Both}
    other: {type: SoftwareComponent, requirements: [{host: vm}, {dependency: {node: one, relationship: Both}}]}
";
    let order = OrderOptions { parallel_hosts: true, ..OrderOptions::default() };
    let query = PlanQuery { order, ..PlanQuery::default() };
    let plan = Resolver::from_text("t.yaml", MANY).plan(&query).unwrap().result;
    let waits = |late: &str, early: &str| {
        let (late, early) = (id(&plan, late), id(&plan, early));
        let ids: Vec<_> = plan.step_ids().collect();
        plan.after(ids[late]).contains(&ids[early])
    };
    for when in ["pre_configure", "post_configure"] {
        let of_user = |number: usize| format!("relation.dependency@{number}.node.user/{when}");
        let of_other = format!("relation.dependency@1.node.other/{when}");
        assert!(waits(&format!("{}_source", of_user(2)), &format!("{}_source", of_user(1))));
        assert!(waits(&format!("{of_other}_target"), &format!("{}_target", of_user(2))));
        // Those of two nodes do not wait for each other.
        assert!(!waits(&format!("{of_other}_source"), &format!("{}_source", of_user(1))));
    }
}
