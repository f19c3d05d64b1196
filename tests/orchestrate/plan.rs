//! Tests plans as users see them. Each directory of `tests/plan/` has a template and a session of
//! commands, each followed by its output. `UPDATE_DOCS=1` writes the output anew.

#![expect(clippy::unwrap_used)]

use crate::sessions::{Place, hold, run};
use cuvee::Resolver;
use cuvee::deploy::plan::{PlanQuery, Simulation, SimulationOptions, StartStates, simulate};
use cuvee::diagnostic::Code;
use proptest::prelude::*;
use std::fmt::Write;
use std::path::Path;

#[test]
fn sessions_are_as_shown() {
    hold("plan", &Place::There, run);
}

/// The steps of a generated workflow have the topology inputs where functions use their values.
#[test]
fn json_has_the_values_of_deployment_inputs() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan/secrets");
    let inputs = |flags: &str| {
        let printed = run(&format!("cuvee plan {flags} --format json"), &directory);
        serde_json::from_str::<serde_json::Value>(&printed).unwrap()["inputs"].take()
    };
    let evaluated = "--evaluate --deployment-input phrase=canary";
    let hidden = serde_json::json!({"phrase": "(sensitive)", "stage": "test"});
    assert_eq!(inputs("template.yaml"), serde_json::Value::Null);
    assert_eq!(inputs(&format!("template.yaml {evaluated}")), hidden);
    assert_eq!(inputs(&format!("template.yaml --from weak --to strong {evaluated}")), hidden);
    let revealed = serde_json::json!({"phrase": "canary", "stage": "live"});
    let stage = "--deployment-input stage=live --reveal";
    assert_eq!(inputs(&format!("template.yaml undeploy {evaluated} {stage}")), revealed);
}

/// Simulations decide the conditions of a template that was converted as they did before, and name
/// the same attributes of the same elements. What differs is how clauses and places are written.
#[test]
fn conditions_are_decided_alike_in_both_versions() {
    let told = |printed: &str| {
        let is_place = |line: &&str| ["|", "-->", "= "].iter().any(|it| line.contains(it));
        let clause = [" fulfils ", ", which violates ", ", so "];
        let before = |line: &str| {
            let end = clause.iter().filter_map(|it| line.find(it)).min();
            line[..end.unwrap_or(line.len())].to_owned()
        };
        printed.lines().filter(|line| !is_place(line)).map(before).collect::<Vec<_>>()
    };
    let directory = tempfile::tempdir().unwrap();
    for name in ["07-preconditions", "09-filter", "attributes", "simulation"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan").join(name);
        for file in std::fs::read_dir(&from).unwrap().map(|file| file.unwrap().path()) {
            std::fs::copy(&file, directory.path().join(file.file_name().unwrap())).unwrap();
        }
        run("cuvee convert template.yaml --to 2.0 -o new.yaml", directory.path());
        let session = std::fs::read_to_string(from.join("session.console")).unwrap();
        let lines = session.lines().filter_map(|line| line.strip_prefix("$ "));
        let lines = lines.filter(|it| it.starts_with("cuvee plan template.yaml "));
        // The precondition about a relationship is kept as metadata.
        let lines = lines.filter(|it| it.contains("--simulate") && !it.contains(" relation "));
        for line in lines {
            let again = run(&line.replace("template.yaml", "new.yaml"), directory.path());
            let once = run(line, directory.path());
            assert_eq!(told(&again), told(&once), "{name}: {line}");
        }
    }
}

/// Outputs go to the attributes that paths of TOSCA 2.0 lead to as to those of 1.3.
#[test]
fn outputs_are_assigned_alike_in_both_versions() {
    let text = "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Server:
    derived_from: SoftwareComponent
    capabilities: {feature: Offer}
    attributes: {url: {type: string}}
    interfaces:
      Standard:
        operations:
          start: {implementation: s.sh, outputs: {a: [SELF, url], b: [SELF, feature, port]}}
capability_types:
  Offer: {derived_from: Node, attributes: {port: {type: integer}}}
relationship_types:
  Follows:
    derived_from: DependsOn
    attributes: {offset: {type: integer}}
    interfaces:
      Configure:
        operations:
          add_target:
            implementation: f.sh
            outputs: {c: [TARGET, url], d: [SOURCE, feature, port], e: [SELF, offset]}
topology_template:
  node_templates:
    one: {type: Server}
    two:
      type: Server
      requirements: [{dependency: {node: one, relationship: Follows}}]
";
    let directory = tempfile::tempdir().unwrap();
    let outputs = |name: &str| {
        let printed = run(&format!("cuvee plan {name} --format json"), directory.path());
        let plan: serde_json::Value = serde_json::from_str(&printed).unwrap();
        let steps = plan["steps"].as_array().unwrap().iter();
        let mut outputs: Vec<_> = steps.filter_map(|it| it.get("outputs").cloned()).collect();
        outputs.sort_by_key(serde_json::Value::to_string);
        serde_json::Value::from(outputs)
    };
    std::fs::write(directory.path().join("old.yaml"), text).unwrap();
    run("cuvee convert old.yaml --to 2.0 --output new.yaml", directory.path());
    let converted = std::fs::read_to_string(directory.path().join("new.yaml")).unwrap();
    assert!(converted.contains("[SELF, CAPABILITY, feature, port]"), "{converted}");
    assert!(converted.contains("[SELF, TARGET, url]"), "{converted}");
    let of_node = serde_json::json!({
        "a": {"entity": "SELF", "attribute": "url"},
        "b": {"entity": "SELF", "capability": "feature", "attribute": "port"},
    });
    let of_relation = serde_json::json!({
        "c": {"entity": "TARGET", "attribute": "url"},
        "d": {"entity": "SOURCE", "capability": "feature", "attribute": "port"},
        "e": {"entity": "SELF", "attribute": "offset"},
    });
    let expected = serde_json::json!([of_node, of_node, of_relation]);
    assert_eq!(outputs("old.yaml"), expected);
    assert_eq!(outputs("new.yaml"), expected);
}

/// A template whose nodes depend on some of the nodes before them, and each run on one of two
/// machines.
fn template(nodes: &[(bool, u8, u8)]) -> String {
    let mut text = String::from(
        "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Software:
    derived_from: SoftwareComponent
    interfaces: {Standard: {operations: {create: c.sh, start: s.sh, delete: d.sh}}}
topology_template:
  node_templates:
    one: {type: Compute}
    two: {type: Compute}
",
    );
    for (index, (is_first, some, others)) in nodes.iter().enumerate() {
        let host = if *is_first { "one" } else { "two" };
        let mut before: Vec<_> = [some, others]
            .map(|it| usize::from(*it))
            .into_iter()
            .filter(|it| *it < index)
            .collect();
        before.dedup();
        let before: String = before.iter().map(|it| format!(", {{dependency: n{it}}}")).collect();
        writeln!(
            text,
            "    n{index}: {{type: Software, requirements: [{{host: {host}}}{before}]}}"
        )
        .unwrap();
    }
    text
}

/// The final states of a simulated workflow; asserts that there are no messages.
fn ends(text: &str, workflow: &str) -> Vec<String> {
    let query = PlanQuery { workflow: workflow.to_owned(), ..PlanQuery::default() };
    let plan = Resolver::from_text("t.yaml", text).plan(&query).unwrap().result;
    let start = StartStates::default();
    let simulation = simulate(&plan, &start, &SimulationOptions::default()).unwrap();
    assert!(!simulation.has_failed, "{text}");
    assert_eq!(simulation.diagnostics.0, [], "{text}");
    let elements = plan.elements.iter().zip(&simulation.states);
    let nodes = elements.filter(|(element, _)| element.identifier.starts_with("node."));
    nodes.map(|(_, state)| (*state).to_owned()).collect()
}

proptest! {
    /// Statement W4: deployed nodes are started at the end, undeployed nodes are gone, and no state
    /// is skipped on the way.
    #[test]
    fn simulated_workflows_end_where_they_should(
        nodes in prop::collection::vec((any::<bool>(), 0u8..8, 0u8..8), 1..8),
    ) {
        let text = template(&nodes);
        let all = nodes.len() + 2;
        prop_assert_eq!(ends(&text, "deploy"), vec!["started"; all]);
        prop_assert_eq!(ends(&text, "undeploy"), vec![Simulation::GONE; all]);
    }
}

/// The conditions of the relations in [`variable`].
const CONDITIONS: [&str; 5] = [
    "true",
    "{variability_input: x}",
    "{not: {variability_input: x}}",
    "{variability_input: y}",
    "{and: [{variability_input: x}, {not: {variability_input: y}}]}",
];

/// A template whose nodes depend on each other under conditions.
fn variable(relations: &[(usize, usize, usize)]) -> String {
    let mut text = String::from(
        "tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs: {x: {type: boolean, default: false}, y: {type: boolean, default: false}}
    options: {ambiguous_relation_check: false, expected_incoming_relation_check: false}
  node_templates:
",
    );
    for node in 0..5 {
        writeln!(text, "    n{node}:\n      type: Root\n      requirements:").unwrap();
        for (_, target, condition) in relations.iter().filter(|(source, ..)| *source == node) {
            let conditions = CONDITIONS[*condition];
            writeln!(text, "        - dependency: {{node: n{target}, conditions: {conditions}}}")
                .unwrap();
        }
    }
    text
}

/// Whether the steps of a variant have no order.
fn is_cyclic(text: &str, inputs: &[(&str, bool)]) -> bool {
    let template = Resolver::from_text("t.yaml", text);
    let chosen = inputs.iter().fold(template, |it, (name, value)| it.input(*name, *value));
    let Err(failure) = chosen.plan(&PlanQuery::default()) else { return false };
    assert!(failure.diagnostics.iter().all(|it| it.code == Code::CyclicDeployment), "{text}");
    true
}

proptest! {
    /// Statement O3: the warning about a cycle appears if and only if some variant has one, with
    /// inputs that lead to it.
    #[test]
    fn cycles_of_variants_are_found(
        relations in prop::collection::vec((0usize..5, 0usize..5, 0usize..5), 0..9),
    ) {
        let text = variable(&relations);
        let all = [(false, false), (false, true), (true, false), (true, true)];
        let expected = all.iter().any(|&(x, y)| is_cyclic(&text, &[("x", x), ("y", y)]));
        let found = Resolver::from_text("t.yaml", &*text).validate().diagnostics;
        let cycles: Vec<_> =
            found.iter().filter(|it| it.code == Code::CyclicDeployment).collect();
        prop_assert_eq!(!cycles.is_empty(), expected, "{}", text);
        for cycle in cycles {
            let help = cycle.help.as_deref().unwrap();
            let given: Vec<_> = ["x", "y"].map(|name| (name, help.contains(&format!("-i {name}=true")))).into();
            prop_assert!(is_cyclic(&text, &given), "{help}: {text}");
        }
    }
}

/// These nodes have more cycles than anybody could look at one by one, and no variant has any of
/// them.
#[test]
fn cycles_of_no_variant_are_ruled_out_at_once() {
    let mut text = variable(&[]);
    text.truncate(text.find("    n0:").unwrap());
    for node in 0..40 {
        writeln!(text, "    n{node}:\n      type: Root\n      requirements:").unwrap();
        for target in (0..40).filter(|&target| target != node) {
            let condition = CONDITIONS[if target < node { 1 } else { 2 }];
            writeln!(text, "        - dependency: {{node: n{target}, conditions: {condition}}}")
                .unwrap();
        }
    }
    let found = Resolver::from_text("t.yaml", text).validate().diagnostics;
    assert_eq!(found.iter().find(|it| it.code == Code::CyclicDeployment), None);
}
