//! Generates templates that are deep, wide or long in one respect, and as small as possible in all
//! others.

use std::fmt::Write;

/// The name of what grows, and a function that makes a template of some size. All templates resolve
/// with the input `mode` at 5.
pub(crate) struct Case {
    pub name: &'static str,
    pub make: fn(usize) -> String,
}

pub(crate) const CASES: [Case; 16] = [
    Case { name: "hosts, one on the other", make: hosts },
    Case { name: "relations of a node", make: relations },
    Case { name: "hosts to choose from", make: choice },
    Case { name: "alternatives of a property", make: properties },
    Case { name: "alternatives of a type", make: types },
    Case { name: "operands of `and`", make: |size| operands("and", size) },
    Case { name: "operands of `or`", make: |size| operands("or", size) },
    Case { name: "operands of `exo`", make: |size| operands("exo", size) },
    Case { name: "operands of `concat`", make: |size| values("concat", size) },
    Case { name: "operands of `sum`", make: |size| values("sum", size) },
    Case { name: "conditions of a node", make: conditions },
    Case { name: "nodes for a number each", make: numbers },
    Case { name: "nodes for a listed text each", make: texts },
    Case { name: "constraints", make: constraints },
    Case { name: "expressions in a row", make: expressions },
    Case { name: "uses of an expression", make: uses },
];

/// A template with these options, further lines below `variability`, and these node templates.
fn template(options: &str, variability: &str, nodes: &str) -> String {
    template_with("mode: {type: integer}", options, variability, nodes)
}

/// Such a template with these inputs.
fn template_with(inputs: &str, options: &str, variability: &str, nodes: &str) -> String {
    format!(
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    inputs: {{{inputs}}}\n    \
         options: {{type_default_condition: true{options}}}\n{variability}  node_templates:\n{nodes}"
    )
}

/// A line for each number below a size.
fn lines(size: usize, line: impl Fn(usize) -> String) -> String {
    (0..size).fold(String::new(), |mut text, number| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line(number));
        text
    })
}

fn hosts(size: usize) -> String {
    let nodes = lines(size, |i| match i {
        0 => "    node_0: {type: node, persistent: true, requirements: [{host: node_1}]}".into(),
        _ if i + 1 == size => format!("    node_{i}: {{type: node}}"),
        _ => format!("    node_{i}: {{type: node, requirements: [{{host: node_{}}}]}}", i + 1),
    });
    let options = ", mode: semantic-loose, node_default_condition_mode: incomingnaive-host, relation_default_implied: true, \
                   hosting_stack_constraint: true, optimization_topology: min";
    template(options, "", &nodes)
}

fn leaves(size: usize) -> String {
    lines(size, |i| format!("    node_{i}: {{type: node}}"))
}

/// A template with a node that has a list under a key, and with further nodes.
fn hub(key: &str, size: usize, item: impl Fn(usize) -> String, nodes: &str) -> String {
    let typed = if key == "type" { "" } else { "      type: node\n" };
    format!(
        "    hub:\n      persistent: true\n{typed}      {key}:\n{}{nodes}",
        lines(size, |i| format!("        - {}", item(i)))
    )
}

fn relations(size: usize) -> String {
    let nodes = hub("requirements", size, |i| format!("link_{i}: node_{i}"), &leaves(size));
    template(
        ", mode: semantic-loose, relation_default_implied: true, optimization_topology: min",
        "",
        &nodes,
    )
}

fn choice(size: usize) -> String {
    let weighted = lines(size, |i| {
        format!("    node_{i}: {{type: node, weight: {}}}", (i + size / 2) % size + 1)
    });
    let nodes = hub("requirements", size, |i| format!("host: node_{i}"), &weighted);
    let options = ", mode: semantic-loose, node_default_condition_mode: incomingnaive, hosting_stack_constraint: true, optimization_topology: min";
    template(options, "", &nodes)
}

fn selected(number: usize) -> String {
    format!("conditions: {{equal: [{{variability_input: mode}}, {number}]}}")
}

fn properties(size: usize) -> String {
    let nodes = hub("properties", size, |i| format!("port: {{value: {i}, {}}}", selected(i)), "");
    template(", unique_property_constraint: true", "", &nodes)
}

fn types(size: usize) -> String {
    template("", "", &hub("type", size, |i| format!("type_{i}: {{{}}}", selected(i)), ""))
}

/// A constraint on the presence of nodes, of which exactly one is absent or exactly one is present.
fn operands(operator: &str, size: usize) -> String {
    let list = lines(size, |i| format!("          - node_presence: node_{i}"));
    let nodes = lines(size, |i| {
        format!("    node_{i}: {{type: node, conditions: {}}}", operator == "and" || i == 5)
    });
    template("", &format!("    constraints:\n      - {operator}:\n{list}"), &nodes)
}

fn values(operator: &str, size: usize) -> String {
    let list = lines(size, |i| format!("                - {i}"));
    template(
        "",
        "",
        &format!(
            "    node:\n      type: node\n      properties:\n        - size:\n            expression:\n              {operator}:\n{list}"
        ),
    )
}

fn conditions(size: usize) -> String {
    let item = |i| format!("not: {{equal: [{{variability_input: mode}}, {}]}}", i + 10);
    template("", "", &hub("conditions", size, item, ""))
}

/// Each node is there for another value of an input.
fn numbers(size: usize) -> String {
    template("", "", &lines(size, |i| format!("    node_{i}: {{type: node, {}}}", selected(i))))
}

fn texts(size: usize) -> String {
    let listed = (0..size).map(|i| format!("size_{i}")).collect::<Vec<_>>().join(", ");
    let inputs = format!(
        "mode: {{type: integer}}, size: {{type: string, default: size_0, constraints: [valid_values: [{listed}]]}}"
    );
    let nodes = lines(size, |i| {
        format!(
            "    node_{i}: {{type: node, conditions: {{equal: [{{variability_input: size}}, size_{i}]}}}}"
        )
    });
    template_with(&inputs, "", "", &nodes)
}

fn constraints(size: usize) -> String {
    let implied = |i| {
        format!(
            "      - implies: [{{node_presence: node_{i}}}, {{node_presence: node_{}}}]",
            (i + 1) % size
        )
    };
    let list = lines(size, implied);
    template("", &format!("    constraints:\n{list}"), &leaves(size))
}

/// Expressions that each need the next one.
fn expressions(size: usize) -> String {
    let list = lines(size, |i| match i + 1 {
        next if next == size => format!("      expression_{i}: {{node_presence: node}}"),
        next => format!("      expression_{i}: {{not: {{logic_expression: expression_{next}}}}}"),
    });
    let nodes = "    node: {type: node, persistent: true}\n    user: {type: node, conditions: {logic_expression: expression_0}}\n";
    template(", optimization_topology: max", &format!("    expressions:\n{list}"), nodes)
}

/// An expression that needs all others.
fn uses(size: usize) -> String {
    let list = lines(size, |i| format!("          - logic_expression: expression_{i}"));
    let all = lines(size, |i| {
        format!("      expression_{i}: {{greater: [{{variability_input: mode}}, 0]}}")
    });
    let nodes = "    user: {type: node, conditions: {logic_expression: all}}\n";
    template("", &format!("    expressions:\n      all:\n        and:\n{list}{all}"), nodes)
}
