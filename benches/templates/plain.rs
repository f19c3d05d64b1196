//! Generates plain templates that are wide, deep or long in one respect.

use std::fmt::Write;

/// The name of what grows, and a function that makes a template of some size.
pub(crate) struct PlainCase {
    pub name: &'static str,
    pub make: fn(usize) -> String,
}

pub(crate) const CASES: [PlainCase; 8] = [
    PlainCase { name: "nodes in a chain", make: chain },
    PlainCase { name: "nodes of an unknown type", make: unknown },
    PlainCase { name: "properties of a node", make: properties },
    PlainCase { name: "properties that no type has", make: strange },
    PlainCase { name: "relations of a node", make: relations },
    PlainCase { name: "types", make: types },
    PlainCase { name: "inputs and outputs", make: inputs },
    PlainCase { name: "policies of a node", make: policies },
];

/// The template of a case at some size.
pub(crate) fn template(name: &str, size: usize) -> Option<String> {
    CASES.iter().find(|case| case.name == name).map(|case| (case.make)(size))
}

const HEAD: &str = "tosca_definitions_version: tosca_simple_yaml_1_3\n";

/// A line for each number below a size.
fn lines(size: usize, line: impl Fn(usize) -> String) -> String {
    (0..size).fold(String::new(), |mut text, number| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line(number));
        text
    })
}

fn nodes(types: &str, nodes: &str) -> String {
    format!("{HEAD}{types}topology_template:\n  node_templates:\n{nodes}")
}

/// A type whose nodes need this many others.
fn needing(occurrences: &str) -> String {
    format!(
        "node_types:\n  Item:\n    derived_from: tosca.nodes.Root\n    properties: {{size: {{type: integer, required: false}}}}\n    \
         requirements:\n      - next: {{capability: tosca.capabilities.Node, node: Item, relationship: tosca.relationships.DependsOn, occurrences: {occurrences}}}\n"
    )
}

fn chain(size: usize) -> String {
    let node = |i: usize| match i {
        0 => "    n_0: {type: Item, properties: {size: 0}}".to_owned(),
        i => format!(
            "    n_{i}: {{type: Item, properties: {{size: {i}}}, requirements: [{{next: n_{}}}]}}",
            i - 1
        ),
    };
    nodes(&needing("[0, 1]"), &lines(size, node))
}

fn unknown(size: usize) -> String {
    nodes("", &lines(size, |i| format!("    n_{i}: {{type: Item, properties: {{size: {i}}}}}")))
}

fn properties(size: usize) -> String {
    let defined = lines(size, |i| format!("      p_{i}: {{type: integer}}"));
    let types = format!(
        "node_types:\n  Item:\n    derived_from: tosca.nodes.Root\n    properties:\n{defined}"
    );
    let assigned = lines(size, |i| format!("        p_{i}: {i}"));
    nodes(&types, &format!("    one:\n      type: Item\n      properties:\n{assigned}"))
}

fn strange(size: usize) -> String {
    let assigned = lines(size, |i| format!("        p_{i}: {i}"));
    nodes("", &format!("    one:\n      type: tosca.nodes.Root\n      properties:\n{assigned}"))
}

fn relations(size: usize) -> String {
    let needed = lines(size, |i| format!("        - next: n_{i}"));
    let others = lines(size, |i| format!("    n_{i}: {{type: Item}}"));
    let hub = format!("    hub:\n      type: Item\n      requirements:\n{needed}");
    nodes(&needing("[0, UNBOUNDED]"), &format!("{hub}{others}"))
}

fn types(size: usize) -> String {
    let defined = lines(size, |i| {
        format!(
            "  T{i}:\n    derived_from: tosca.nodes.Root\n    properties: {{size: {{type: integer, required: false}}}}\n    \
             capabilities: {{c{i}: tosca.capabilities.Node}}\n    requirements: [r{i}: {{capability: tosca.capabilities.Node, occurrences: [0, 1]}}]"
        )
    });
    let used = lines(size, |i| format!("    n_{i}: {{type: T{i}, properties: {{size: {i}}}}}"));
    nodes(&format!("node_types:\n{defined}"), &used)
}

fn inputs(size: usize) -> String {
    let inputs = lines(size, |i| format!("    i_{i}: {{type: integer, default: {i}}}"));
    let outputs = lines(size, |i| format!("    o_{i}: {{value: {{get_input: i_{i}}}}}"));
    format!(
        "{HEAD}topology_template:\n  inputs:\n{inputs}  node_templates:\n    one: {{type: tosca.nodes.Root}}\n  outputs:\n{outputs}"
    )
}

fn policies(size: usize) -> String {
    let policies =
        lines(size, |i| format!("    - p_{i}: {{type: tosca.policies.Root, targets: [one]}}"));
    format!("{}  policies:\n{policies}", nodes("", "    one: {type: tosca.nodes.Root}\n"))
}
