//! Tests evaluating functions: what is replaced by its value, what stays, and which errors there
//! are.
//!
//! Each `template.yaml` below `tests/evaluate` results in the bytes of the `expected.yaml` beside
//! it, with the deployment inputs of a `deployment.yaml` if there is one.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::source::MemoryFiles;
use cuvee::{Failure, Resolver};
use snapbox::cmd::{Command, cargo_bin};
use std::fs;
use std::path::{Path, PathBuf};

fn cases() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evaluate");
    let mut cases: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() > 3, "{cases:?}");
    cases
}

fn evaluating(template: Resolver, case: &Path) -> Resolver {
    let inputs = case.join("deployment.yaml");
    let template = template.evaluate_functions();
    if inputs.exists() { template.deployment_inputs_file(inputs) } else { template }
}

#[test]
fn functions_are_replaced_by_their_values() {
    for case in cases() {
        let result =
            evaluating(Resolver::new(case.join("template.yaml")), &case).resolve().unwrap();
        let expected = fs::read_to_string(case.join("expected.yaml")).unwrap_or_default();
        assert!(result.to_yaml() == expected, "{} gives\n{}", case.display(), result.to_yaml());
    }
}

#[test]
fn evaluating_twice_changes_nothing() {
    for case in cases() {
        let once = evaluating(Resolver::new(case.join("template.yaml")), &case).resolve().unwrap();
        let again = evaluating(Resolver::from_text(case.join("again.yaml"), once.to_yaml()), &case)
            .resolve()
            .unwrap();
        assert_eq!(once.to_yaml(), again.to_yaml(), "{}", case.display());
    }
}

#[test]
fn what_has_no_functions_stays_as_it_was_written() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faithful");
    let mut count = 0;
    for case in fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
    {
        let template = case.join("template.yaml");
        let text = fs::read_to_string(&template).unwrap();
        if !["get_", "concat", "join", "token"].iter().any(|function| text.contains(function)) {
            let resolver = Resolver::new(template);
            assert_eq!(
                resolver.resolve().unwrap().to_yaml(),
                resolver.evaluate_functions().resolve().unwrap().to_yaml()
            );
            count += 1;
        }
    }
    assert!(count > 3, "only {count} cases have no functions");
}

const SHOP: &str = "
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs:
    port: {type: integer, constraints: [{in_range: [1, 100]}]}
    names: {type: list, entry_schema: string, default: [a, b]}
  node_templates:
    shop: {type: Shop, properties: {value: VALUE}}
";

fn shop(value: &str) -> Resolver {
    Resolver::from_text("shop.yaml", SHOP.replace("VALUE", value)).evaluate_functions()
}

/// The only error, with its place.
fn error(resolver: &Resolver) -> (Diagnostic, String) {
    let Failure { diagnostics, sources } = resolver.resolve().unwrap_err();
    assert_eq!(diagnostics.len(), 1, "{diagnostics:#?}");
    (diagnostics[0].clone(), diagnostics[0].one_line(&sources))
}

/// What is computed fits its place in files of TOSCA 2.0; in those of version 1.3 nothing is said.
#[test]
fn values_fit_where_they_stand() {
    const BOXES: &str = "
tosca_definitions_version: tosca_2_0
node_types:
  Box: {properties: {small: {type: integer, validation: {$less_than: [$value, 3]}}, texts: {type: list, entry_schema: string, default: []}}}
service_template:
  inputs: {some: {type: integer, default: 2}, more: {type: integer, default: 7}, any: {}}
  node_templates:
    box: {type: Box, properties: PROPERTIES}
  outputs: {last: {type: integer, value: {$get_property: [box, small]}}}
";
    let boxes = |properties: &str| {
        let text = BOXES.replace("PROPERTIES", properties);
        Resolver::from_text("boxes.yaml", text).evaluate_functions()
    };
    assert!(boxes("{small: {$get_input: some}}").resolve().is_ok());
    // What is not known yet, or is written so, is not judged here.
    assert!(boxes("{small: {$get_attribute: [SELF, small]}}").resolve().is_ok());
    assert!(boxes("{small: 7, texts: [{$undeclared: [x]}]}").resolve().is_ok());
    let (_, line) = error(&boxes("{small: {$get_input: more}}"));
    assert_eq!(
        line,
        "boxes.yaml:8:42: error[violated-constraint]: what is computed does not fit: `7` violates `{$less_than: [$value, 3]}`"
    );
    let (_, line) = error(&boxes("{small: 1, texts: [a, {$get_input: more}]}"));
    assert_eq!(
        line,
        "boxes.yaml:8:52: error[invalid-value]: what is computed does not fit: expected a string, got a number `7` in it"
    );
}

/// The same holds for properties of capabilities.
#[test]
fn values_fit_capabilities() {
    let hosts = |assigned: &str| {
        let text = format!(
            "
tosca_definitions_version: tosca_2_0
capability_types: {{Host: {{properties: {{slots: {{type: integer, default: 1}}}}}}}}
node_types: {{Box: {{properties: {{name: {{type: string, default: x}}}}, capabilities: {{host: {{type: Host}}}}}}}}
service_template: {{node_templates: {{box: {{type: Box, capabilities: {{host: {{properties: {{slots: {assigned}}}}}}}}}}}}}
"
        );
        Resolver::from_text("hosts.yaml", text).evaluate_functions()
    };
    assert!(hosts("{$length: [{$get_property: [SELF, name]}]}").resolve().is_ok());
    let (_, line) = error(&hosts("{$get_property: [SELF, name]}"));
    assert_eq!(
        line,
        "hosts.yaml:5:96: error[invalid-value]: what is computed does not fit: expected an integer, got a string `x`"
    );
}

#[test]
fn inputs_are_needed_only_by_what_is_evaluated() {
    assert!(shop("{get_input: [names, 0]}").resolve().is_ok());
    let (error, line) = error(&shop("{concat: [a, {get_input: port}]}"));
    assert_eq!(
        line,
        "shop.yaml:8:57: error[missing-input]: the topology input `port` is needed here and has no value"
    );
    assert_eq!(error.labels.len(), 1);
}

#[test]
fn deployment_inputs_fit_their_declarations() {
    let wrong = [
        ("prot: 1", "in.yaml:1:1: error[invalid-input]: there is no topology input `prot`"),
        ("port: many", "in.yaml:1:7: error[invalid-value]: expected an integer, got `many`"),
        (
            "port: 101",
            "in.yaml:1:7: error[violated-constraint]: `101` violates `in_range: [1, 100]`",
        ),
        ("names: [a, {}]", "in.yaml:1:12: error[invalid-value]: expected a string, got a map"),
        (
            "names: [{get_input: port}]",
            "in.yaml:1:9: error[invalid-input]: a deployment input has to be a value, not the function `get_input`",
        ),
        (
            "[port]",
            "in.yaml:1:1: error[invalid-input]: deployment inputs have to be a map of values by the names of inputs, not a list",
        ),
    ];
    for (inputs, expected) in wrong {
        let files = MemoryFiles::from([("shop.yaml", SHOP), ("in.yaml", inputs)]);
        let (_, line) =
            error(&Resolver::new("shop.yaml").files(files).deployment_inputs_file("in.yaml"));
        assert_eq!(line, expected);
    }
    let (misspelt, line) = error(&shop("1").deployment_input("prot", 1));
    assert_eq!(
        line,
        "error[invalid-input]: the deployment input `prot`: there is no topology input `prot`"
    );
    assert_eq!(misspelt.help.as_deref(), Some("did you mean `port`?"));
    let (violated, line) = error(&shop("1").deployment_input("port", 0));
    assert_eq!(
        line,
        "error[violated-constraint]: the deployment input `port`: `0` violates `in_range: [1, 100]`"
    );
    assert_eq!(violated.labels.len(), 1, "the constraint has a place");
    let (_, line) = error(&shop("1").deployment_input_text("port", "[1"));
    assert!(line.starts_with("error[syntax]: the deployment input `port`: "), "{line}");
}

#[test]
fn later_deployment_inputs_win() {
    let text = SHOP.replace("VALUE", "{get_input: port}");
    let files = MemoryFiles::from([
        ("shop.yaml", &*text),
        ("a.yaml", "port: 1"),
        ("b.json", "{\"port\": 2}"),
    ]);
    let resolver = Resolver::new("shop.yaml").files(files).deployment_inputs_file("a.yaml");
    let value = |resolver: &Resolver| {
        let result = resolver.resolve().unwrap();
        result.to_yaml().rsplit("value: ").next().unwrap().trim_end_matches(['}', '\n']).to_owned()
    };
    assert_eq!(value(&resolver), "1");
    let resolver = resolver.deployment_input("port", 3).deployment_inputs_file("b.json");
    assert_eq!(value(&resolver), "3");
}

#[test]
fn inputs_of_other_variants_may_be_given() {
    let text = "
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability: {inputs: {big: {type: boolean, default: false}}}
  inputs:
    - size: {type: integer, conditions: {variability_input: big}}
  node_templates:
    shop: {type: Shop}
";
    let resolver = Resolver::from_text("shop.yaml", text)
        .deployment_input("size", 3)
        .option("type_default_condition", "true");
    assert!(resolver.resolve().is_ok());
    assert_eq!(error(&resolver.deployment_input("sise", 3)).0.code, Code::InvalidInput);
}

#[test]
fn what_cannot_be_evaluated_is_an_error_with_its_place() {
    let wrong = [
        ("{token: [a-b, '-', 2]}", "2]"),
        ("{get_input: [names, 2]}", "2]"),
        ("{concat: [a, {get_input: names}]}", "{get_input"),
        ("{join: [{get_input: [names, 0]}, '-']}", "{get_input"),
        ("{token: [a, b, {concat: [a, b]}]}", "{concat: [a, b]}"),
        ("{get_property: [SELF, value]}", "{get_property"),
    ];
    for (value, at) in wrong {
        let resolver = shop(value);
        let (error, _) = error(&resolver);
        assert_eq!(error.code, Code::InvalidFunction);
        let text = SHOP.replace("VALUE", value);
        let start = error.span.unwrap().start as usize;
        assert!(text[start..].starts_with(at), "{value}: {}", &text[start..]);
    }
}

/// A template with a node for each of these values, which its property has.
fn chain(values: impl Iterator<Item = String>) -> Resolver {
    let mut text =
        "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n"
            .to_owned();
    for (index, value) in values.enumerate() {
        text.push_str(&format!("    n{index}: {{type: N, properties: {{p: {value}}}}}\n"));
    }
    Resolver::from_text("chain.yaml", text).evaluate_functions()
}

#[test]
fn cycles_are_named() {
    let resolver = chain(
        (0..3).map(|index| format!("{{concat: [a, {{get_property: [n{}, p]}}]}}", (index + 1) % 3)),
    );
    let (error, line) = error(&resolver);
    assert_eq!(
        line,
        "chain.yaml:4:35: error[invalid-function]: the value of a function needs itself"
    );
    assert_eq!(error.labels.len(), 2);
}

#[test]
fn chains_and_sizes_are_bounded() {
    let next = |index| format!("{{get_property: [n{}, p]}}", index + 1);
    assert!(chain((0..40).map(next).chain(["1".to_owned()])).resolve().is_ok());
    let failure = chain((0..3_000).map(next).chain(["1".to_owned()])).resolve().unwrap_err();
    assert!(failure.diagnostics.iter().all(|error| error.code == Code::InvalidFunction));

    let doubled = |index| format!("{{concat: [{0}, {0}]}}", next(index));
    let failure = chain((0..40).map(doubled).chain(["ab".to_owned()])).resolve().unwrap_err();
    assert!(
        failure.diagnostics[0].message.starts_with("the values of all functions together pass "),
        "{failure}"
    );
    let listed = |index| format!("[{0}, {0}]", next(index));
    let failure = chain((0..40).map(listed).chain(["ab".to_owned()])).resolve().unwrap_err();
    assert!(
        failure.diagnostics[0].message.starts_with("the values of all functions together pass "),
        "{failure}"
    );
}

#[test]
fn command_line() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cuvee = |words: &str| {
        Command::new(cargo_bin!("cuvee"))
            .args(words.split(' '))
            .env_clear()
            .current_dir(root)
            .assert()
    };
    let template = "resolve tests/evaluate/inputs/template.yaml";
    let expected = fs::read_to_string(root.join("tests/evaluate/inputs/expected.yaml")).unwrap();
    let file = "--deployment-inputs tests/evaluate/inputs/deployment.yaml";
    cuvee(&format!("{template} --evaluate {file}")).success().stdout_eq(&expected);
    let port = expected.replace("0x50", "443");
    cuvee(&format!("{template} --evaluate {file} --deployment-input port=443"))
        .success()
        .stdout_eq(port);
    cuvee(&format!("{template} {file}")).code(2);
    cuvee(&format!("{template} --deployment-input port=443")).code(2);
    cuvee(&format!("{template} --evaluate")).code(1);
}

/// Keys that calls stand in place of are strings, and no two are the same.
#[test]
fn computed_keys_are_distinct_strings() {
    let keyed = |map: &str| {
        let text = format!(
            "
tosca_definitions_version: tosca_2_0
node_types: {{N: {{properties: {{m: {{type: map, entry_schema: integer}}}}}}}}
service_template:
  inputs: {{k: {{type: string, default: k1}}, n: {{type: integer, default: 3}}}}
  node_templates: {{n: {{type: N, properties: {{m: {map}}}}}}}
"
        );
        Resolver::from_text("keys.yaml", text).evaluate_functions()
    };
    assert!(keyed("{{$concat: [k, \"1\"]}: 1, k2: 2}").resolve().is_ok());
    let found = [
        ("{{$concat: [k, \"1\"]}: 1, k1: 2}", "the map has the key `k1` twice"),
        ("{k1: 2, {$get_input: k}: 1}", "the map has the key `k1` twice"),
        ("{{$get_input: n}: 1}", "`$get_input` gives 3 as key, which is no string"),
        ("{{$get_property: [SELF, m, a]}: 1}", "the value of a function needs itself"),
    ];
    for (map, message) in found {
        assert_eq!(error(&keyed(map)).0.message, message, "{map}");
    }
}

/// Validations may ask for other values of the node that a value is for.
#[test]
fn values_fit_others_of_their_node() {
    let spans = |properties: &str| {
        let text = format!(
            "
tosca_definitions_version: tosca_2_0
node_types:
  Span:
    properties:
      low: {{type: integer}}
      high: {{type: integer, default: 5, validation: {{$greater_than: [$value, {{$get_property: [SELF, low]}}]}}}}
service_template:
  inputs: {{two: {{type: integer, default: 2}}, nine: {{type: integer, default: 9}}}}
  node_templates: {{span: {{type: Span, properties: {properties}}}}}
"
        );
        Resolver::from_text("spans.yaml", text).evaluate_functions()
    };
    let violated = "violates `{$greater_than: [$value, {$get_property: [SELF, low]}]}`";
    assert!(spans("{low: {$get_input: two}, high: 3}").resolve().is_ok());
    assert!(spans("{low: {$get_input: two}}").resolve().is_ok());
    for (properties, message) in [
        ("{low: 3, high: {$get_input: two}}", "what is computed does not fit: `2`"),
        ("{low: {$get_input: nine}, high: 3}", "what is computed does not fit: `3`"),
        ("{low: {$get_input: nine}}", "the default of `high` does not fit: `5`"),
    ] {
        let (found, _) = error(&spans(properties));
        assert_eq!(found.message, format!("{message} {violated}"), "{properties}");
    }
}
