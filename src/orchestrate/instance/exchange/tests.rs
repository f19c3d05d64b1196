//! Tests that every model survives an export and import.

use super::*;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::orchestrate::instance::model::*;
use cuvee_text::source::SourceMap;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Limits, parse};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::Arc;

fn read(text: &str) -> Result<InstanceModel, Vec<String>> {
    let sources = SourceMap::default();
    let file = sources.add("model.yaml", text);
    let document = parse(file, text.into(), &Limits::default())
        .map_err(|error| vec![error.one_line(&sources)])?;
    let told =
        |Diagnostics(found)| found.iter().map(|one: &Diagnostic| one.one_line(&sources)).collect();
    import_model(document.root()).map_err(told)
}

fn any_name() -> impl Strategy<Value = Arc<str>> {
    let odd = [
        "a/b",
        "~1",
        "true",
        "1.0",
        "x y",
        "site@0",
        "#",
        "- a",
        "é\u{1f600}",
        "[b]",
        "'",
        "\"q\"",
        "",
    ];
    prop_oneof![select(odd.to_vec()).prop_map(Arc::from), "[a-z][a-z_]{0,5}".prop_map(Arc::from)]
}

fn any_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e300..1e300f64).prop_map(Value::from),
        any_name().prop_map(Value::String),
        "[ -~\n\t\u{e000}\u{0}]{0,12}".prop_map(Value::from),
        Just(Value::Map([("$sensitive".into(), Value::Null)].into())),
    ];
    scalar.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map(any_name(), inner, 0..3)
                .prop_map(|map| Value::Map(map.into_iter().collect())),
        ]
    })
}

fn named<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = ByName<T>> {
    btree_map(any_name(), value, 0..3)
}

fn any_report() -> impl Strategy<Value = ReportedValue> {
    (any_value(), 0..90u64, any_name()).prop_map(|(value, revision, time)| ReportedValue {
        value,
        revision,
        time,
    })
}

fn any_state() -> impl Strategy<Value = InstanceState> {
    select(vec!["initial", "creating", "created", "started", "error", "backing_up"])
        .prop_map(InstanceState::named)
}

prop_compose! {
    fn any_capability()(type_name in any_name(), properties in named(any_value()), attributes in named(any_report())) -> CapabilityInstance {
        CapabilityInstance { type_name, properties, attributes }
    }
}

prop_compose! {
    /// A relation. The test replaces its target by one of the nodes later.
    fn any_relation()(position in 0..9u32, target in option::weighted(0.8, 0..9usize), capability in option::of(any_name()),
        template in option::of(any_name()), relationship in option::of(any_name()), hosting in any::<bool>(), state in any_state(),
        links in named(any_name()), metadata in named(any_value())) -> RelationInstance {
        RelationInstance { position, target: target.map(|at| at.to_string().into()), capability, template, relationship, hosting, state, pending: false, links, metadata }
    }
}

prop_compose! {
    fn any_node()(template in option::of(any_name()), type_name in any_name(), index in option::of(0..9u32), generation in 1..4u32,
        target in option::of(any_name()), state in any_state(), failed_in in option::of(any_state()))
        (properties in named(any_value()), attributes in named(any_report()), capabilities in named(any_capability()),
        requirements in named(vec(any_relation(), 0..3)), links in named(any_name()), metadata in named(any_value()),
        note in option::of(any_name()), edited in vec(any_name(), 0..2), template in Just(template), type_name in Just(type_name),
        index in Just(index), generation in Just(generation), target in Just(target), state in Just(state), failed_in in Just(failed_in)) -> NodeInstance {
        NodeInstance { template, type_name, index, generation, target, state, failed_in, properties, attributes, capabilities, requirements, links, metadata, note, edited }
    }
}

prop_compose! {
    fn any_group()(template in option::of(any_name()), type_name in any_name(), members in vec(0..9usize, 0..3), properties in named(any_value()),
        attributes in named(any_report()), capabilities in named(any_value()), requirements in named(any_value()),
        links in named(any_name()), metadata in named(any_value())) -> GroupInstance {
        let members = members.into_iter().map(|at| at.to_string().into()).collect();
        GroupInstance { template, type_name, members, properties, attributes, capabilities, requirements, links, metadata }
    }
}

prop_compose! {
    fn any_policy()(template in option::of(any_name()), type_name in any_name(), targets in vec(0..9usize, 0..3), properties in named(any_value()),
        links in named(any_name()), metadata in named(any_value())) -> PolicyInstance {
        let targets = targets.into_iter().map(|at| at.to_string().into()).collect();
        PolicyInstance { template, type_name, targets, properties, links, metadata }
    }
}

fn any_orchestration() -> impl Strategy<Value = OpenOrchestration> {
    let steps = named(select(vec![
        StepStatus::Running,
        StepStatus::Done,
        StepStatus::Failed,
        StepStatus::Interrupted,
    ]));
    (0..9u64, any_name(), option::of(any_name()), steps, named(0..9u64)).prop_map(
        |(id, time, plan, steps, keys)| OpenOrchestration {
            id,
            time,
            plan,
            steps,
            keys,
            ..OpenOrchestration::default()
        },
    )
}

/// The id of one of the nodes; for larger numbers that of a node in another document.
fn among(ids: &[Arc<str>], at: &str) -> Arc<str> {
    let at: usize = at.parse().unwrap();
    ids.get(at).cloned().unwrap_or_else(|| format!("other.yaml#/nodes/{at}").into())
}

prop_compose! {
    fn any_model()(name in any_name(), revision in 0..99u64, time in any_name(), secrets in select(vec![SecretsMode::Digest, SecretsMode::Drop]),
        template in any_name(), service_template in any::<bool>(), choice in named(any_value()), metadata in named(any_value()), nodes in named(any_node()), groups in named(any_group()),
        policies in named(any_policy()), inputs in named(any_value()), outputs in named(any_value()), orchestration in option::of(any_orchestration())) -> InstanceModel {
        let target = InstanceTarget { digest: "sha256:1".into(), template, service_template, choice };
        let uri = format!("cuvee:default/default/{name}").into();
        let mut model = InstanceModel { uri, lineage: "x".into(), revision, structure: revision, time, secrets, sensitive: vec!["pin".into()], target, metadata,
            nodes, groups, policies, inputs, outputs, orchestration, ..InstanceModel::default() };
        let ids: Vec<_> = model.nodes.keys().cloned().collect();
        for relation in model.nodes.values_mut().flat_map(|node| node.requirements.values_mut()).flatten() {
            relation.target = relation.target.take().map(|at| among(&ids, &at));
        }
        let members = model.groups.values_mut().flat_map(|group| &mut group.members);
        members.chain(model.policies.values_mut().flat_map(|policy| &mut policy.targets)).for_each(|id| *id = among(&ids, id));
        model
    }
}

proptest! {
    #[test]
    fn a_model_is_read_back_from_what_is_written_of_it(model in any_model()) {
        let all = ModelExport { unstable: true, reveal: false };
        for text in [export_yaml(&model, all), export_json(&model, all)] {
            prop_assert_eq!(&read(&text).unwrap(), &model, "{}", text);
        }
    }

    #[test]
    fn what_is_read_back_is_written_as_before(model in any_model(), unstable in any::<bool>()) {
        let how = ModelExport { unstable, reveal: false };
        let (yaml, json) = (export_yaml(&model, how), export_json(&model, how));
        let [of_yaml, of_json] = [&yaml, &json].map(|text| read(text).unwrap());
        prop_assert_eq!(&export_yaml(&of_yaml, how), &yaml);
        prop_assert_eq!(&export_json(&of_yaml, how), &json);
        prop_assert_eq!(of_yaml, of_json);
    }

    #[test]
    fn nothing_that_is_read_is_a_panic(text in "[-a-z{}: \n$/#@\"']{0,80}", model in any_model(), at in any::<prop::sample::Index>()) {
        let _ = read(&text);
        let mut export = export_yaml(&model, ModelExport::default());
        let chars: Vec<_> = export.char_indices().map(|(at, _)| at).collect();
        export.insert_str(chars[at.index(chars.len())], &text);
        let _ = read(&export);
    }
}

/// The errors about a document, without its place in the file system.
fn wrong(text: &str) -> Vec<String> {
    read(text).unwrap_err()
}

#[test]
fn both_versions_and_places_of_them_are_read() {
    for text in [
        "metadata: {tosca_instance_version: tosca_simple_yaml_1_0}",
        "metadata: {tosca_instance_version: toscasimpleyaml_1_0}",
        "tosca_instance_version: toscasimpleyaml_1_0",
    ] {
        assert_eq!(read(text).unwrap(), InstanceModel::default(), "{text}");
    }
    assert_eq!(
        wrong("nodes: {}"),
        [
            "model.yaml:1:1: error[unsupported-version]: a model of an instance needs `tosca_instance_version` in its metadata"
        ]
    );
    assert_eq!(
        wrong("metadata:\n  tosca_instance_version: tosca_2_0"),
        [
            "model.yaml:2:27: error[unsupported-version]: `tosca_2_0` is not a known version of instance models"
        ]
    );
}

#[test]
fn everything_that_is_wrong_is_said_at_its_place() {
    let text = "\
tosca_instance_version: tosca_simple_yaml_1_0
node: {}
nodes:
  shop:
    template: {$externalToscaRef: 'shop.yaml#/topology_template/node_templates/shop'}
    type: {$dsl-node-types: Shop}
    attributes: {state: 1, tosca_name: chop}
    requirements:
      host: {targets: [{$ref: '#/nodes/servr'}, {$ref: server}, '#/nodes/server']}
      db: {targets: [], relations: [{target: {$ref: '#/nodes/server'}, hosting: maybe, position: -1}]}
  server:
    type: tosca.nodes.Compute
    metadata: {cuvee: {generation: many}}
  other: {}
groups: []
";
    let found = wrong(text);
    let expected = [
        "model.yaml:2:1: error[unknown-keyword]: a model of an instance has no `node`",
        "model.yaml:6:11: error[invalid-input]: an entity has a `template` or a `type`, not both",
        "model.yaml:7:25: error[invalid-input]: a state has to be a string, not a number",
        "model.yaml:7:40: error[invalid-value]: `tosca_name` has to be the name of the template, `shop`, not `chop`",
        "model.yaml:9:24: error[dangling-reference]: there is no `servr` in this document",
        "model.yaml:9:49: error[invalid-input]: `server` has no path behind `#/`",
        "model.yaml:9:65: error[invalid-input]: a reference has to be a map with `$ref`, not a string",
        "model.yaml:10:98: error[invalid-input]: a position has to be an integer from 0 up",
        "model.yaml:10:81: error[invalid-input]: `hosting` has to be `true` or `false`, not a string",
        "model.yaml:10:21: error[invalid-input]: `targets` of `db` are not the nodes that its `relations` lead to",
        "model.yaml:12:11: error[invalid-input]: a type is a reference such as `{$dsl-node-types: tosca.nodes.Root}`, not a string",
        "model.yaml:14:10: error[invalid-input]: an entity needs a `template`, or a `type` where it has none",
        "model.yaml:15:9: error[invalid-input]: `groups` has to be a map, not a list",
    ];
    for line in expected {
        assert!(found.iter().any(|found| found == line), "{line}\n{found:#?}");
    }
    assert!(
        found.iter().any(|found| found.starts_with(
            "model.yaml:13:23: error[invalid-input]: `cuvee` in the metadata is malformed"
        )),
        "{found:#?}"
    );
    assert_eq!(found.len(), expected.len() + 1, "{found:#?}");
    assert_eq!(
        wrong("tosca_instance_version: tosca_simple_yaml_1_0\nnode_instances: {}"),
        [
            "model.yaml:1:1: error[invalid-input]: the file holds bindings, which describe only a part of an instance"
        ]
    );
    assert_eq!(
        wrong("[]")[0],
        "model.yaml:1:1: error[invalid-input]: a model of an instance has to be a map, not a list"
    );
}

#[test]
fn what_others_write_is_read() {
    let text = "\
metadata: {tosca_instance_version: toscasimpleyaml_1_0, orchestrator: {name: other}}
nodes:
  web:
    template: {$externalToscaRef: 'http://host/a.yaml#/topology_template/node_templates/web'}
    attributes: {tosca_id: 7f3a, state: started}
    capabilities: {endpoint: {name: endpoint, properties: {port: 80}}}
    requirements: {host: {name: host, targets: [{$ref: '#/nodes/vm'}, {$ref: '../models/mymodel#/nodes/vm'}, {$ref: 'https://repo/m#/nodes/vm'}]}}
  vm:
    type: {$externalToscaRef: 'types.yaml#/node_types/my.Machine'}
";
    let model = read(text).unwrap();
    let web = &model.nodes["web"];
    assert_eq!(
        (&*model.target.template, web.template.as_deref()),
        ("http://host/a.yaml", Some("web"))
    );
    assert_eq!((&*web.links["tosca_id"], &*model.nodes["vm"].type_name), ("7f3a", "my.Machine"));
    let targets: Vec<_> =
        web.requirements["host"].iter().filter_map(|relation| relation.target.as_deref()).collect();
    assert_eq!(targets, ["vm", "../models/mymodel#/nodes/vm", "https://repo/m#/nodes/vm"]);
    let again = export_yaml(&model, ModelExport::default());
    assert!(again.contains("- $ref: ../models/mymodel#/nodes/vm\n"), "{again}");
    assert_eq!(read(&again).unwrap(), model);
}

fn secret(kept: &str) -> Value {
    Value::Map([("$sensitive".into(), kept.into())].into())
}

#[test]
fn secrets_are_written_for_those_who_keep_and_ask_only() {
    let login =
        Value::Map([("user".into(), "ann".into()), ("key".into(), secret("canary"))].into());
    let with = |secrets, reveal| {
        let inputs = ByName::from([("login".into(), login.clone())]);
        let model = InstanceModel { secrets, inputs, ..InstanceModel::default() };
        let text = export_yaml(&model, ModelExport { reveal, unstable: false });
        assert_eq!(read(&text).unwrap() == model, text.contains("canary"), "{text}");
        text
    };
    for (secrets, reveal) in
        [(SecretsMode::Keep, false), (SecretsMode::Digest, true), (SecretsMode::Drop, true)]
    {
        let shown = with(secrets, reveal);
        assert!(shown.contains("key: (sensitive)") && !shown.contains("canary"), "{shown}");
    }
    let revealed = with(SecretsMode::Keep, true);
    assert!(revealed.contains("$sensitive: canary"), "{revealed}");
}

#[test]
fn attributes_between_stable_states_are_left_out() {
    let mut model = InstanceModel::default();
    let report = ReportedValue { value: "10.0.0.4".into(), revision: 4, time: "t".into() };
    for (id, state) in [("a", "creating"), ("b", "started"), ("c", "error"), ("d", "draining")] {
        let attributes = ByName::from([("ip".into(), report.clone())]);
        model.nodes.insert(
            id.into(),
            NodeInstance {
                state: InstanceState::named(state),
                attributes,
                generation: 1,
                ..NodeInstance::default()
            },
        );
    }
    let count = |unstable| {
        let text = export_yaml(&model, ModelExport { unstable, reveal: false });
        (text.matches("10.0.0.4").count(), text.matches("unstable: true").count())
    };
    assert_eq!((count(false), count(true)), ((2, 0), (4, 2)));
}

#[test]
fn bindings_begin_with_what_hosts() {
    let mut model = InstanceModel::default();
    for (id, host) in
        [("app", Some("vm")), ("db", Some("app")), ("vm", None), ("zone", Some("zone"))]
    {
        let relation = |host: &str| RelationInstance {
            target: Some(host.into()),
            hosting: true,
            ..RelationInstance::default()
        };
        let requirements =
            host.map(|host| ("host".into(), vec![relation(host)])).into_iter().collect();
        model.nodes.insert(id.into(), NodeInstance { requirements, ..NodeInstance::default() });
    }
    model.inputs.insert("size".into(), 3.into());
    let text = export_bindings(&model, ModelExport::default());
    let nodes: Vec<_> =
        text.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")).collect();
    assert_eq!(nodes, ["  size: 3", "  vm:", "  app:", "  db:", "  zone:"]);
}

/// A model of many nodes: each is hosted by the next one, or all by one.
fn large(count: usize, is_star: bool) -> InstanceModel {
    let id = |at: usize| Arc::from(format!("n{at}"));
    let mut model = InstanceModel::default();
    for at in 0..count {
        let host = RelationInstance {
            target: Some(id(if is_star { 0 } else { at + 1 })),
            hosting: true,
            ..RelationInstance::default()
        };
        let is_end = if is_star { at == 0 } else { at + 1 == count };
        let relations = if is_end { Vec::new() } else { vec![host] };
        let requirements = ByName::from([("host".into(), relations)]);
        model.nodes.insert(
            id(at),
            NodeInstance { requirements, generation: 1, ..NodeInstance::default() },
        );
    }
    model
}

#[test]
fn deep_and_wide_models_are_written_and_read() {
    for is_star in [false, true] {
        let model = large(10_000, is_star);
        let text = export_yaml(&model, ModelExport::default());
        assert_eq!(read(&text).unwrap(), model);
        let bindings = export_bindings(&model, ModelExport::default());
        let first = bindings.lines().find(|line| line.starts_with("  n"));
        assert_eq!(first, Some(if is_star { "  n0:" } else { "  n9999:" }));
    }
}
