//! Differences of small documents, and laws for any documents.

use super::*;
use cuvee_text::source::{FileId, MemoryFiles};
use cuvee_text::yaml::{Limits, parse};
use proptest::prelude::*;
use proptest::sample::select;

fn read(text: &str) -> Value {
    parse(FileId::new(0), text.into(), &Limits::default()).unwrap().root().to_value()
}

fn topology(text: &str) -> Value {
    map([("topology_template", read(text))])
}

fn map<'k>(entries: impl IntoIterator<Item = (&'k str, Value)>) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

/// The changes, one a line: `~ node.shop: property.port: 80 -> 90`.
fn lines(from: &Value, to: &Value) -> Vec<String> {
    let line = |Change { element, path, edit }: Change| {
        let (sign, value) = match edit {
            Edit::Added { to } => ('+', write_flow(&to)),
            Edit::Removed { from } => ('-', write_flow(&from)),
            Edit::Changed { from, to } => {
                ('~', format!("{} -> {}", write_flow(&from), write_flow(&to)))
            }
        };
        format!("{sign} {element}: {path}: {value}")
    };
    diff(from, to).changes.into_iter().map(line).collect()
}

fn in_topology(from: &str, to: &str) -> Vec<String> {
    lines(&topology(from), &topology(to))
}

#[test]
fn elements_of_tosca_2_0_are_elements() {
    let of = |port, target| {
        read(&format!(
            "tosca_definitions_version: tosca_2_0\nimports: [{{url: t.yaml, namespace: t}}, u.yaml]\n\
             service_template: {{node_templates: {{shop: {{properties: {{port: {port}}}, requirements: [{{host: {target}}}]}}}}}}"
        ))
    };
    assert_eq!(
        lines(&of(80, "box"), &of(90, "{node: box}")),
        ["~ node.shop: property.port: 80 -> 90"]
    );
    let imports = |list: &str| read(&format!("imports: {list}"));
    assert!(lines(&imports("[u.yaml]"), &imports("[{url: u.yaml}]")).is_empty());
    assert_eq!(
        lines(&imports("[{profile: p, namespace: a}]"), &imports("[{profile: p, namespace: b}]")),
        ["~ import.p: namespace: a -> b"]
    );
}

/// The differences between two lists of requirements of `shop`.
fn requirements(from: &str, to: &str) -> Vec<String> {
    let node = |list: &str| format!("node_templates: {{shop: {{requirements: {list}}}}}");
    in_topology(&node(from), &node(to))
}

#[test]
fn elements_are_added_and_removed_as_a_whole() {
    assert_eq!(
        in_topology(
            "{node_templates: {a: {type: A}, b: {type: B}}, inputs: {i: {type: string}}}",
            "{node_templates: {b: {type: B}, c: {type: C}}, policies: [p: {type: P}], groups: {g: {members: [b]}}}",
        ),
        [
            "- node.a: : {type: A}",
            "+ node.c: : {type: C}",
            "- input.i: : {type: string}",
            "+ policy.p: : {type: P}",
            "+ group.g: : {members: [b]}",
        ]
    );
    assert_eq!(
        lines(&Value::Null, &topology("{outputs: {o: {value: 1}}}")),
        ["+ output.o: : {value: 1}"]
    );
}

#[test]
fn the_smallest_part_is_told() {
    assert_eq!(
        in_topology(
            "
node_templates:
  shop:
    type: A
    properties: { port: 8080, tls: { versions: [1.2, 1.3], on: true }, gone: null, 'a.b': 1 }
    attributes: { url: x }
    capabilities: { http: { properties: { port: 1 } } }
    artifacts: { image: a.tar, script: { type: S, file: a.sh, properties: { mode: 1 } } }
    interfaces: { Standard: { operations: { create: a.sh } } }
relationship_templates: { r: { type: R, properties: { size: 1 } } }
outputs: { o: { value: { get_property: [shop, port] } } }
",
            "
node_templates:
  shop:
    properties: { 'a.b': 2, tls: { on: true, versions: [1.3], new: {} }, port: 9090 }
    type: B
    attributes: { url: v }
    capabilities: { http: { properties: { port: '1' } } }
    artifacts: { image: { file: b.tar }, script: { type: S, file: a.sh, properties: { mode: 2 } } }
    interfaces: { Standard: { operations: { create: b.sh } } }
relationship_templates: { r: { type: R, properties: { size: 2 } } }
outputs: { o: { value: { get_property: [shop, ports] } } }
",
        ),
        [
            "~ node.shop: type: A -> B",
            "~ node.shop: property.port: 8080 -> 9090",
            "- node.shop: property.tls.versions[0]: 1.2",
            "+ node.shop: property.tls.new: {}",
            "- node.shop: property.gone: null",
            "~ node.shop: property[\"a.b\"]: 1 -> 2",
            "~ node.shop: attribute.url: x -> v",
            "~ node.shop: capability.http.property.port: 1 -> '1'",
            "~ node.shop: artifact.image.file: a.tar -> b.tar",
            "~ node.shop: artifact.script.property.mode: 1 -> 2",
            "~ node.shop: interfaces.Standard.operations.create: a.sh -> b.sh",
            "~ relationship.r: property.size: 1 -> 2",
            "~ output.o: value.get_property[1]: port -> ports",
        ]
    );
}

#[test]
fn forms_do_not_count() {
    let from = "
topology_template:
  node_templates:
    shop:
      properties: { ratio: 1.0, version: 0x10 }
      requirements: [{ host: engine }, { cache: cache }]
      artifacts: { image: a.tar }
    empty: { type: E, properties: {} }
  groups: { g: { members: [shop, [shop, 0], shop] } }
  policies: [{ p: { targets: [a, b] } }, { q: { targets: [] } }]
imports: [lib.yaml, { file: other.yaml, namespace_prefix: o }]
";
    let to = "
imports: [{ namespace_prefix: o, file: other.yaml }, { file: lib.yaml }]
topology_template:
  policies: { q: { }, p: { targets: [b, a] } }
  groups: { g: { members: [[shop, 0], shop] } }
  node_templates:
    empty: { type: E }
    shop:
      artifacts: { image: { file: a.tar } }
      requirements: [{ cache: { node: cache } }, { host: engine }]
      properties: { version: 16, ratio: 1 }
  outputs:
";
    assert_eq!(lines(&read(from), &read(to)), [""; 0]);
}

#[test]
fn requirements_meet_by_name_then_by_target() {
    assert_eq!(
        requirements("[host: a]", "[host: b]"),
        ["~ node.shop: requirement.host.node: a -> b"]
    );
    assert_eq!(
        requirements(
            "[host: {node: a, relationship: {properties: {x: 1}}}]",
            "[host: {node: a, relationship: {properties: {x: 2}}}]"
        ),
        ["~ node.shop: requirement.host.relationship.property.x: 1 -> 2"]
    );
    assert_eq!(
        requirements(
            "[host: a, db: x, db: {node: v, relationship: r}]",
            "[db: {node: v, relationship: s}, db: z, host: a]"
        ),
        [
            "- node.shop: requirement.db[x]: x",
            "~ node.shop: requirement.db[v].relationship: r -> s",
            "+ node.shop: requirement.db[z]: z",
        ]
    );
    assert_eq!(requirements("[db: x]", "[db: x, db: x]"), ["+ node.shop: requirement.db[x]@1: x"]);
    assert_eq!(requirements("[db: x]", "[db: v, db: x]"), ["+ node.shop: requirement.db[v]: v"]);
}

#[test]
fn the_order_of_requirements_counts_where_they_share_a_name() {
    assert_eq!(requirements("[a: x, b: y]", "[b: y, a: x]"), [""; 0]);
    assert_eq!(
        requirements("[db: db, a: x, db: v]", "[db: v, db: db, a: x]"),
        ["~ node.shop: requirement.db: [db, v] -> [v, db]"]
    );
    assert_eq!(
        requirements("[db: x, db: y]", "[db: x, db: z, db: y]"),
        ["+ node.shop: requirement.db[z]: z"]
    );
}

#[test]
fn members_and_targets_are_sets() {
    assert_eq!(
        in_topology(
            "{groups: {g: {members: [a, b, [a, 0]]}}, policies: [p: {targets: [a]}]}",
            "{groups: {g: {members: [c, b, [a, 0.0]]}}, policies: [p: {}]}",
        ),
        ["- group.g: members: a", "+ group.g: members: c", "- policy.p: targets: a"]
    );
}

#[test]
fn imports_meet_by_file_or_by_name() {
    let imports = |list: &str| map([("imports", read(list))]);
    assert_eq!(
        lines(
            &imports("[a.yaml, b.yaml, {types: c.yaml}]"),
            &imports("[{file: b.yaml, repository: r}, d.yaml, {types: {file: e.yaml}}]")
        ),
        [
            "- import.a.yaml: : a.yaml",
            "+ import.b.yaml: repository: r",
            "~ import.types: file: c.yaml -> e.yaml",
            "+ import.d.yaml: : d.yaml",
        ]
    );
}

#[test]
fn anything_else_is_told_by_its_path() {
    assert_eq!(
        lines(
            &read(
                "{metadata: {version: 1.1}, topology_template: {substitution_mappings: {node_type: A}}, node_types: {'a.B': {}}}"
            ),
            &read(
                "{metadata: {version: '1.1'}, topology_template: {substitution_mappings: {node_type: B}}, description: d}"
            ),
        ),
        [
            "~ document: metadata.version: 1.1 -> '1.1'",
            "~ document: topology_template.substitution_mappings.node_type: A -> B",
            "- document: node_types: {a.B: {}}",
            "+ document: description: d",
        ]
    );
    assert_eq!(lines(&read("1"), &read("[1]")), ["~ document: : 1 -> [1]"]);
}

#[test]
fn what_is_no_template_is_compared_all_the_same() {
    assert_eq!(
        in_topology(
            "{node_templates: [a, b], groups: {g: 1, h: {members: x}}, policies: 1}",
            "{node_templates: [a, c], groups: {g: {members: [m]}, h: {members: [x]}}}",
        ),
        [
            "~ document: topology_template.node_templates[1]: b -> c",
            "~ group.g: : 1 -> {members: [m]}",
            "~ group.h: members: x -> [x]",
            "- document: topology_template.policies: 1",
        ]
    );
}

#[test]
fn items_meet_from_both_ends() {
    let lists = |from: &str, to: &str| lines(&map([("l", read(from))]), &map([("l", read(to))]));
    assert_eq!(lists("[a, b, c]", "[a, x, b, c]"), ["+ document: l[1]: x"]);
    assert_eq!(
        lists("[a, {k: 1}, .nan]", "[a, {k: 2}, b, .nan]"),
        ["~ document: l[1].k: 1 -> 2", "+ document: l[2]: b"]
    );
    assert_eq!(lists("[a, a]", "[a]"), ["- document: l[1]: a"]);
}

#[test]
fn json_says_what_happened() {
    let diff =
        diff(&topology("{inputs: {i: {a: 1, b: 2}}}"), &topology("{inputs: {i: {b: x, c: 3}}}"));
    assert_eq!(
        serde_json::to_string(&diff).unwrap(),
        concat!(
            r#"{"changes":[{"element":"input.i","path":"a","kind":"removed","from":1},"#,
            r#"{"element":"input.i","path":"b","kind":"changed","from":2,"to":"x"},"#,
            r#"{"element":"input.i","path":"c","kind":"added","to":3}]}"#
        )
    );
}

#[test]
fn reads_files_as_they_are() {
    let files = MemoryFiles::from([("a.yaml", "a: 0x10\n"), ("b.yaml", "a: [\n")]);
    assert_eq!(super::read(Path::new("a.yaml"), &files).unwrap(), map([("a", 16.into())]));
    for (name, place) in [("b.yaml", true), ("c.yaml", false)] {
        let failure = super::read(Path::new(name), &files).unwrap_err();
        assert_eq!(
            (failure.diagnostics.len(), failure.diagnostics[0].span.is_some()),
            (1, place),
            "{failure}"
        );
    }
}

/// Any value, from small alphabets, so that keys often coincide.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0i64..3).prop_map(Value::from),
        Just(Value::from(f64::NAN)),
        Just(Value::from(0.5)),
        "[01ab.]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            any_map(inner, 4)
        ]
    })
}

fn any_map(value: impl Strategy<Value = Value>, size: usize) -> impl Strategy<Value = Value> {
    proptest::collection::btree_map("[a-d]", value, 0..size)
        .prop_map(|entries| map(entries.iter().map(|(key, value)| (key.as_str(), value.clone()))))
}

/// A list of maps with one entry each.
fn any_named(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let item = ("[a-c]", value).prop_map(|(name, value)| map([(name.as_str(), value)]));
    proptest::collection::vec(item, 0..5).prop_map(Value::from)
}

fn any_name() -> impl Strategy<Value = Value> {
    "[a-c]".prop_map(Value::from)
}

/// A map in which each of these entries may be missing or have a wrong value.
fn any_body(entries: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let entry = |(key, value): (&'static str, BoxedStrategy<Value>)| {
        prop_oneof![8 => value.prop_map(Some), 3 => Just(None), 1 => any_value().prop_map(Some)]
            .prop_map(move |value| value.map(|value| (key, value)))
    };
    entries
        .into_iter()
        .map(entry)
        .collect::<Vec<_>>()
        .prop_map(|entries| map(entries.into_iter().flatten()))
        .boxed()
}

fn any_set() -> BoxedStrategy<Value> {
    let pair = any_name().prop_map(|name| Value::from(vec![name, 0.into()]));
    proptest::collection::vec(prop_oneof![4 => any_name(), 1 => pair, 1 => any_value()], 0..5)
        .prop_map(Value::from)
        .boxed()
}

fn any_node() -> BoxedStrategy<Value> {
    let relationship = any_body(vec![
        ("type", any_name().boxed()),
        ("properties", any_map(any_value(), 3).boxed()),
    ]);
    let long = any_body(vec![("node", any_name().boxed()), ("relationship", relationship)]);
    let artifact = any_body(vec![("file", any_name().boxed()), ("type", any_name().boxed())]);
    any_body(vec![
        ("type", any_name().boxed()),
        ("properties", any_map(any_value(), 4).boxed()),
        ("requirements", any_named(prop_oneof![any_name().boxed(), long]).boxed()),
        ("artifacts", any_map(prop_oneof![any_name().boxed(), artifact], 3).boxed()),
        (
            "capabilities",
            any_map(any_body(vec![("properties", any_map(any_value(), 3).boxed())]), 3).boxed(),
        ),
    ])
}

fn any_template() -> impl Strategy<Value = Value> {
    let group = any_body(vec![("type", any_name().boxed()), ("members", any_set())]);
    let policy = any_body(vec![("type", any_name().boxed()), ("targets", any_set())]);
    let named = any_body(vec![("file", any_name().boxed()), ("repository", any_name().boxed())]);
    let import = prop_oneof![any_name().boxed(), named];
    let topology = any_body(vec![
        ("node_templates", any_map(any_node(), 4).boxed()),
        ("groups", any_map(group, 3).boxed()),
        ("policies", any_named(policy).boxed()),
        ("outputs", any_map(any_value(), 3).boxed()),
        ("substitution_mappings", any_value().boxed()),
    ]);
    any_body(vec![
        ("metadata", any_value().boxed()),
        ("imports", proptest::collection::vec(import, 0..4).prop_map(Value::from).boxed()),
        ("topology_template", topology),
    ])
}

/// The value with the entries of every map rotated by `by` places.
fn turned(value: &Value, by: usize) -> Value {
    match value {
        Value::Map(entries) => {
            let mut entries: Vec<_> =
                entries.iter().map(|(key, value)| (key.clone(), turned(value, by))).collect();
            let places = by.checked_rem(entries.len()).unwrap_or_default();
            entries.rotate_left(places);
            Value::Map(entries.into())
        }
        Value::List(items) => items.iter().map(|item| turned(item, by)).collect::<Vec<_>>().into(),
        _ => value.clone(),
    }
}

fn mirrored(diff: Diff) -> Vec<Change> {
    let mirror = |change: Change| {
        let edit = match change.edit {
            Edit::Added { to } => Edit::Removed { from: to },
            Edit::Removed { from } => Edit::Added { to: from },
            Edit::Changed { from, to } => Edit::Changed { from: to, to: from },
        };
        Change { edit, ..change }
    };
    diff.changes.into_iter().map(mirror).collect()
}

/// The changes as sorted text, because the two directions may find them in different orders.
fn sorted(changes: Vec<Change>) -> Vec<String> {
    let value = |value: &Value| write_flow(&normal(value));
    let line = |Change { element, path, edit }: &Change| match edit {
        Edit::Added { to } => format!("{element} {path} + {}", value(to)),
        Edit::Removed { from } => format!("{element} {path} - {}", value(from)),
        Edit::Changed { from, to } => format!("{element} {path} ~ {} {}", value(from), value(to)),
    };
    let mut lines: Vec<_> = changes.iter().map(line).collect();
    lines.sort();
    lines
}

proptest! {
    #[test]
    fn nothing_differs_from_itself(template in any_template(), by in 0usize..4) {
        prop_assert_eq!(diff(&template, &template), Diff::default());
        prop_assert_eq!(diff(&template, &turned(&template, by)), Diff::default());
    }

    #[test]
    fn sides_are_treated_alike(a in any_template(), b in any_template()) {
        prop_assert_eq!(sorted(mirrored(diff(&a, &b))), sorted(diff(&b, &a).changes));
    }

    #[test]
    fn the_order_of_maps_changes_nothing(a in any_template(), b in any_template(), by in 1usize..4) {
        prop_assert_eq!(sorted(diff(&turned(&a, by), &b).changes), sorted(diff(&a, &turned(&b, by + 1)).changes));
    }

    #[test]
    fn values_differ_exactly_where_they_are_not_the_same(a in any_value(), b in any_value(), key in select(vec!["metadata", "x"])) {
        let found = diff(&map([(key, a.clone())]), &map([(key, b.clone())]));
        prop_assert_eq!(found.is_empty(), is_same(&a, &b));
        prop_assert_eq!(found.is_empty(), write_flow(&normal(&a)) == write_flow(&normal(&b)));
    }

    #[test]
    fn an_element_that_is_one_sided_is_one_change(template in any_template(), node in any_node()) {
        let with = |nodes: Value| map([("topology_template", map([("node_templates", nodes)])), ("metadata", template.clone())]);
        let found = diff(&with(map([])), &with(map([("shop", node.clone())])));
        prop_assert_eq!(sorted(found.changes), sorted(vec![Change { element: "node.shop".into(), path: String::new(), edit: Edit::Added { to: node } }]));
    }
}
