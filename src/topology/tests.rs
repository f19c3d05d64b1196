use super::*;
use crate::Resolver;
use cuvee_text::source::{FileId, MemoryFiles};
use cuvee_text::yaml::{Limits, parse};
use proptest::prelude::*;

const TEMPLATE: &str = "\
tosca_definitions_version: tosca_variability_1_0
relationship_types:
  Placed: { derived_from: tosca.relationships.HostedOn }
topology_template:
  variability:
    inputs: { large: { type: boolean, default: true } }
  inputs:
    port: { type: integer, default: 80 }
  node_templates:
    shop:
      type: [{ Shop: { conditions: false } }, { BigShop: { conditions: true } }]
      directives: [select]
      properties:
        - size: { conditions: false, value: 1 }
        - size: { value: 2 }
        - name: { expression: { concat: [a, b] } }
      capabilities:
        endpoint: { properties: { port: { get_input: port } } }
      artifacts:
        - image: shop.tar
      interfaces:
        Standard:
          create: create.sh
          start:
            implementation: { primary: start.sh, dependencies: [lib.sh], operation_host: HOST }
            inputs: { port: { get_input: port } }
        Own:
          type: OwnInterface
          inputs: { all: 1 }
          operations: { run: { outputs: { out: [SELF, at] } } }
          notifications: { told: told.sh }
      requirements:
        - cache: { node: box, conditions: false }
        - lies_on: { node: box, relationship: { type: Placed, properties: { since: 2020 } } }
        - database: { node: tosca.nodes.Database, node_filter: { properties: [] }, capability: sql }
        - sees: { node: box, relationship: sight }
    box:
      type: tosca.nodes.Compute
      instance_count: 3
    gone: { type: tosca.nodes.Root, conditions: { not: { variability_input: large } } }
  relationship_templates:
    sight: { type: tosca.relationships.ConnectsTo }
  groups:
    pair: { type: tosca.groups.Root, members: [shop, gone, box] }
  policies:
    - near: { type: tosca.policies.Placement, targets: [pair], triggers: { t: { event: e, action: [] } } }
  outputs:
    url: { description: where, value: { get_attribute: [shop, url] } }
  workflows:
    deploy:
      preconditions: { target: shop, condition: [{ state: [{ equal: initial }] }] }
      steps:
        first:
          target: shop
          activities: [{ set_state: creating }, { call_operation: { operation: Own.run, inputs: { a: 1 } } }]
          on_success: second
        second: { target: pair, activities: [{ inline: undeploy }, { delegate: null, workflow: x }], on_failure: [first, third] }
  substitution_mappings:
    node_type: Whole
    requirements: { database: [shop, database] }
";

fn topology() -> (Topology, impl Fn(cuvee_text::source::Span) -> String) {
    let resolver = Resolver::new("t.yaml")
        .files(MemoryFiles::from([("t.yaml", TEMPLATE)]))
        .option("type_default_condition", "true");
    let answer = resolver.topology().unwrap();
    (answer.result, move |span| answer.sources.place(span))
}

#[test]
fn has_nodes_with_what_they_have() {
    let (topology, place) = topology();
    let [shop, r#box] = &topology.nodes[..] else { panic!("{topology:?}") };
    assert_eq!((&*shop.name, &*r#box.name), ("shop", "box"));
    assert_eq!(place(shop.span), "t.yaml:10:5");
    let type_name = shop.described.type_name.as_ref().unwrap();
    assert_eq!((&*type_name.value, &*place(type_name.span)), ("BigShop", "t.yaml:11:49"));
    let properties: Vec<_> = shop.described.properties.iter().collect();
    assert_eq!((&*properties[0].name, &properties[0].value.value), ("size", &2.into()));
    assert_eq!(place(properties[0].value.span), "t.yaml:15:26");
    // The place of a computed value is that of its name.
    assert_eq!((&*properties[1].name, &properties[1].value.value), ("name", &"ab".into()));
    assert_eq!(place(properties[1].value.span), "t.yaml:16:11");
    assert_eq!(shop.directives[0].value, "select");
    assert_eq!(shop.capabilities[0].properties[0].name, "port");
    assert_eq!(shop.artifacts[0].file.as_ref().unwrap().value, "shop.tar");
    assert_eq!(shop.artifacts[0].type_name.as_ref().unwrap().value, "tosca.artifacts.File");
    assert_eq!(r#box.instance_count.as_ref().unwrap().value, 3.into());
    assert_eq!(topology.inputs[0].default.as_ref().unwrap().value, 80.into());
    assert!(topology.outputs[0].value.is_some());
    assert_eq!(topology.substitution.as_ref().unwrap().requirements[0].name, "database");
}

#[test]
fn has_interfaces_in_all_forms() {
    let (topology, _) = topology();
    let [standard, own] = &topology.nodes[0].described.interfaces[..] else { panic!() };
    let [create, start] = &standard.operations[..] else { panic!("{standard:?}") };
    let primary = |operation: &TopologyOperation| {
        operation.implementation.as_ref().unwrap().primary.as_ref().unwrap().value.clone()
    };
    assert_eq!((&*create.name, primary(create)), ("create", "create.sh".into()));
    assert_eq!((&*start.inputs[0].name, primary(start)), ("port", "start.sh".into()));
    let implementation = start.implementation.as_ref().unwrap();
    assert_eq!(implementation.dependencies[0].value, "lib.sh".into());
    assert_eq!(implementation.operation_host.as_ref().unwrap().value, "HOST");
    assert_eq!(own.type_name.as_ref().unwrap().value, "OwnInterface");
    let operations: Vec<_> = own.operations.iter().map(|operation| &*operation.name).collect();
    assert_eq!((operations, own.inputs.len(), own.notifications.len()), (vec!["run"], 1, 1));
}

#[test]
fn has_relations_with_their_ends() {
    let (topology, place) = topology();
    let about = |id: RelationIndex| {
        let relation = topology.relation(id);
        let target = relation.target.map_or("", |target| &*topology.node(target).name);
        (topology.relation_identifier(id), target, relation.hosting)
    };
    let relations: Vec<_> = topology.relation_ids().map(about).collect();
    let expected = [
        ("relation.lies_on@1.node.shop", "box", true),
        ("relation.database@2.node.shop", "", false),
        ("relation.sees@3.node.shop", "box", false),
    ];
    assert_eq!(relations, expected.map(|(id, target, hosting)| (id.to_owned(), target, hosting)));
    let [lies_on, database, sees] = &topology.relations[..] else { panic!() };
    assert_eq!(place(lies_on.span), "t.yaml:34:11");
    let of = |relation: &TopologyRelation| topology.relationship(relation.relationship.unwrap());
    assert_eq!((of(sees).name.as_deref(), &of(lies_on).name), (Some("sight"), &None));
    assert_eq!(of(lies_on).described.properties[0].name, "since");
    assert_eq!(sees.relationship_type.as_ref().unwrap().value, "tosca.relationships.ConnectsTo");
    assert_eq!(database.node.as_ref().unwrap().value, "tosca.nodes.Database");
    assert!(database.node_filter.is_some() && database.capability.is_some());
    assert_eq!(topology.dangling().map(RelationIndex::index).collect::<Vec<_>>(), [1]);
    let incoming: Vec<_> = topology.nodes[1].incoming.iter().map(|id| id.index()).collect();
    assert_eq!(incoming, [0, 2]);
}

#[test]
fn has_groups_policies_and_workflows_with_what_they_name() {
    let (topology, _) = topology();
    let named = |names: &[NamedElement]| names.iter().map(|name| name.element).collect::<Vec<_>>();
    let node = |index| Some(TopologyElement::Node(NodeIndex::new(index)));
    let group = Some(TopologyElement::Group(GroupIndex::new(0)));
    assert_eq!(named(&topology.groups[0].members), [node(0), node(1)]);
    assert_eq!(named(&topology.policies[0].targets), [group]);
    assert_eq!(topology.policies[0].triggers[0].name, "t");
    let workflow = &topology.workflows[0];
    assert_eq!(workflow.preconditions[0].target.as_ref().unwrap().element, node(0));
    let [first, second] = &workflow.steps[..] else { panic!("{workflow:?}") };
    assert_eq!(
        (first.target.as_ref().unwrap().element, second.target.as_ref().unwrap().element),
        (node(0), group)
    );
    let activities = |step: &TopologyStep| -> Vec<_> {
        let activities = step.activities.iter();
        activities.map(|activity| (activity.kind, activity.name.value.clone())).collect()
    };
    let expected = [
        (ActivityKind::SetState, "creating".into()),
        (ActivityKind::CallOperation, "Own.run".into()),
    ];
    assert_eq!(activities(first), expected);
    assert_eq!(first.activities[1].inputs[0].name, "a");
    let expected =
        [(ActivityKind::Inline, "undeploy".into()), (ActivityKind::Delegate, "x".into())];
    assert_eq!(activities(second), expected);
    let steps = |next: &[NextStep]| {
        next.iter().map(|next| next.step.map(StepIndex::index)).collect::<Vec<_>>()
    };
    assert_eq!(
        (steps(&first.on_success), steps(&second.on_failure)),
        (vec![Some(1)], vec![Some(0), None])
    );
}

/// A topology of nodes, each with the nodes that host it.
fn hosted(hosts: &[Vec<usize>]) -> Topology {
    let mut text = "topology_template:\n  node_templates:\n".to_owned();
    for (node, hosts) in hosts.iter().enumerate() {
        let on: Vec<_> = hosts.iter().map(|host| format!("{{host: n{host}}}")).collect();
        text.push_str(&format!("    n{node}: {{requirements: [{}]}}\n", on.join(", ")));
    }
    let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
    Topology::read(&Out::Source(document.root()), &|relation| relation.name == "host")
}

proptest! {
    #[test]
    fn hosts_are_ends_of_chains(hosts in prop::collection::vec(prop::collection::vec(0usize..8, 0..2), 0..8)) {
        let topology = hosted(&hosts);
        let each: Vec<_> = topology.node_ids().map(|node| topology.host(node)).collect();
        prop_assert_eq!(&topology.hosts(), &each);
        for (node, host) in topology.node_ids().zip(each) {
            let mut end = node;
            for _ in 0..hosts.len() {
                end = topology.hosted_on(end).unwrap_or(end);
            }
            let ends = topology.hosted_on(end).is_none();
            prop_assert_eq!(host, (ends && end != node).then_some(end));
        }
    }
}

#[test]
fn types_of_relationships_come_before_templates() {
    let text = "relationship_types: {S: {}}\ntopology_template: {relationship_templates: {S: {type: R}}, node_templates: {a: {requirements: [r: {node: b, relationship: S}]}, b: {}}}\n";
    for (version, kind) in [("tosca_2_0", "S"), ("tosca_simple_yaml_1_3", "R")] {
        let text = format!("tosca_definitions_version: {version}\n{text}");
        let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
        let topology = Topology::read(&Out::Source(document.root()), &|_| false);
        let known = topology.relations[0].relationship_type.as_ref().map(|kind| &*kind.value);
        assert_eq!(
            (known, topology.relations[0].relationship.is_some()),
            (Some(kind), kind == "R")
        );
    }
}

#[test]
fn what_is_no_topology_is_empty() {
    for text in [
        "",
        "[]",
        "a",
        "topology_template: []",
        "topology_template: {node_templates: [a, {b: c}], groups: 1, workflows: {w: {steps: [1], preconditions: 2}}, inputs: {i: }}",
    ] {
        let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
        let topology = Topology::read(&Out::Source(document.root()), &|_| true);
        assert!(topology.nodes.len() < 2 && topology.relations.is_empty(), "{text}");
    }
}
