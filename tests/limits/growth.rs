//! Tests that templates that are deep, wide or long resolve, on the small stacks of test threads.
//! At this size, costs above linear would take forever. `CUVEE_SIZE=large cargo test --test limits`
//! takes larger ones.

#![expect(clippy::unwrap_used, reason = "a template that does not resolve has failed the test")]

mod commands;
mod conversion;
mod explore;
#[path = "../../benches/templates/features.rs"]
mod features;
#[path = "../../benches/templates/growth.rs"]
mod growing;
mod instances;
#[path = "../../benches/templates/plain.rs"]
mod plain;
mod substitution;
#[path = "../../benches/templates/substitution.rs"]
mod substitution_templates;
mod topologies;

use cuvee::Resolver;
use std::iter;

const SIZE: usize = if option_env!("CUVEE_SIZE").is_some() { 10_000 } else { 4_000 };

fn resolved(text: String) -> String {
    Resolver::from_text("growth.yaml", text)
        .input("mode", 5)
        .resolve()
        .unwrap()
        .to_yaml()
        .to_owned()
}

/// The template of a case at this size.
fn grown(name: &str, size: usize) -> String {
    let case = growing::CASES.iter().find(|case| case.name == name).unwrap();
    (case.make)(size)
}

/// How often a text occurs in the resolved template of a case at this size.
fn left(name: &str, size: usize, text: &str) -> usize {
    resolved(grown(name, size)).matches(text).count()
}

#[test]
fn every_case_resolves() {
    for case in &growing::CASES {
        assert!(resolved((case.make)(20)).contains("node_templates"), "{}", case.name);
    }
}

#[test]
fn deep() {
    assert_eq!(left("hosts, one on the other", SIZE, "host: "), SIZE - 1);
    assert_eq!(left("expressions in a row", SIZE + 1, "user: "), 1);
}

/// Default values that need each other, through named expressions, in either order.
#[test]
fn defaults_in_a_row() {
    let links: Vec<_> = (0..SIZE)
        .map(|i| {
            let input = format!("{{variability_input: i{}}}", i + 1);
            match i % 3 {
                0 => (
                    format!("{{value_expression: e{i}}}"),
                    format!("      e{i}: {{add: [{input}, 1]}}\n"),
                ),
                _ => (input, String::new()),
            }
        })
        .collect();
    let declared = links.iter().enumerate().map(|(i, (default, _))| {
        format!("      i{i}: {{type: integer, default_expression: {default}}}\n")
    });
    let mut declared: Vec<_> = declared.collect();
    let expressions: String = links.iter().map(|(_, expression)| &**expression).collect();
    for _ in 0..2 {
        declared.reverse();
        let text = format!(
            "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    inputs:\n      mode: {{type: integer}}\n      i{SIZE}: {{type: integer, default: 0}}\n{}\
             \x20   expressions:\n{expressions}  node_templates:\n    one: {{type: node, conditions: {{equal: [{{variability_input: i0}}, {}]}}}}\n    other: {{type: node}}\n",
            declared.concat(),
            SIZE.div_ceil(3),
        );
        assert_eq!(resolved(text).matches("type: node").count(), 2);
    }
}

#[test]
fn wide() {
    assert_eq!(left("relations of a node", SIZE, "- link_"), SIZE);
    assert_eq!(left("hosts to choose from", SIZE, "- host: "), 1);
    assert_eq!(left("alternatives of a property", SIZE, "port: 5\n"), 1);
    assert_eq!(left("alternatives of a type", SIZE, "type: type_5\n"), 1);
}

#[test]
fn long() {
    assert_eq!(left("operands of `and`", SIZE, "type: node"), SIZE);
    for name in ["operands of `or`", "operands of `exo`"] {
        assert_eq!(left(name, SIZE, "type: node"), 1, "{name}");
    }
    let joined: String = (0..10 * SIZE).map(|number| number.to_string()).collect();
    assert_eq!(left("operands of `concat`", 10 * SIZE, &joined), 1);
    assert_eq!(
        left("operands of `sum`", 10 * SIZE, &format!("size: {}\n", (0..10 * SIZE).sum::<usize>())),
        1
    );
    assert_eq!(left("conditions of a node", SIZE, "hub:"), 1);
    assert_eq!(left("constraints", 2 * SIZE, "type: node"), 2 * SIZE);
    assert_eq!(left("uses of an expression", 10 * SIZE, "user:"), 1);
}

/// A wrong expression is reported once, however many others need it.
#[test]
fn deep_and_wrong() {
    let expressions: String =
        (0..SIZE).map(|i| format!("      e_{i}: {{logic_expression: e_{}}}\n", i + 1)).collect();
    let wrong = format!("      e_{SIZE}: {{variability_input: nothing}}\n");
    let text = iter::once("tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    inputs: {nothing: {type: string}}\n    expressions:\n")
        .chain([&*expressions, &wrong, "  node_templates:\n    node: {type: node, conditions: {logic_expression: e_0}}\n"]);
    let failure =
        Resolver::from_text("growth.yaml", text.collect::<String>()).resolve().unwrap_err();
    assert_eq!(failure.diagnostics.len(), 1);
}
