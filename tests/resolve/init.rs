//! Tests making plain templates variable. Their text is kept byte for byte unless a part would mean
//! something else, and templates that are not plain are refused.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up has failed")]

use cuvee::Resolver;
use cuvee::source::value::Value;
use cuvee::topology::diff::diff;
use snapbox::cmd::{Command, cargo_bin};
use snapbox::{Data, str};
use std::fs;
use std::path::Path;

/// The variable template made of a plain one, and what that resolves to with its preset.
fn begun(name: impl AsRef<Path>, plain: &str) -> (String, String) {
    let of_text = |text: &str| Resolver::from_text(name.as_ref(), text);
    let variable =
        of_text(plain).variable_template().unwrap_or_else(|error| panic!("{error}\n{plain}"));
    let again = of_text(&variable.result).preset("prod").resolve();
    let again = again.unwrap_or_else(|error| panic!("{error}\n{}", variable.result));
    (variable.result, again.to_yaml().to_owned())
}

/// A plain template as data.
fn value(plain: &str) -> Value {
    Resolver::from_text("shop.yaml", plain).resolve().unwrap().to_value()
}

#[test]
fn what_plain_templates_say_stays() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faithful");
    let (mut made, mut same) = (0, 0);
    let cases = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    for case in cases.filter(|path| path.is_dir()) {
        let path = case.join("expected.yaml");
        let plain = fs::read_to_string(&path).unwrap();
        let is_plain =
            plain.contains("tosca_simple_yaml_1_3") && plain.contains("topology_template");
        let Ok(resolution) = Resolver::new(&path).resolve() else { continue };
        if !is_plain {
            continue;
        }
        let (_, again) = begun(&path, &plain);
        let again = Resolver::from_text(&path, again).resolve().unwrap();
        let differences = diff(&resolution.to_value(), &again.to_value());
        assert!(differences.is_empty(), "{}: {differences:?}", path.display());
        made += 1;
        same += usize::from(again.to_yaml() == plain);
    }
    // In one template, a blank line keeps the bytes from being the same.
    assert!(made >= 20 && same >= made - 1, "{same} of {made}");
}

#[test]
fn a_variable_template_is_valid_and_explained() {
    let plain = "\
# Sold by the cup.
tosca_definitions_version: tosca_simple_yaml_1_3 # as it was
topology_template: # all of it
  node_templates:
    # The first one.
    vm:
      type: tosca.nodes.Compute
";
    let (variable, again) = begun("vm.yaml", plain);
    assert_eq!(again, plain);
    let validation = Resolver::from_text("vm.yaml", &variable).validate();
    assert!(validation.is_valid(true), "{:?}", validation.diagnostics);
    snapbox::assert_data_eq!(
        variable,
        str![[r#"
# Sold by the cup.
tosca_definitions_version: tosca_variability_1_0 # as it was
topology_template: # all of it
  # What differs between variants: `cuvee resolve` takes it away.
  variability:
    options:
      mode: semantic-loose # what belongs to something absent, or serves it alone, is absent, too
    inputs:
      # What can be chosen. A node, a requirement, an artifact and so on is there if its conditions hold:
      #   conditions: { variability_input: production }
      # Properties that have alternatives are a list:
      #   properties:
      #     - size: { value: large, conditions: { variability_input: production } }
      #     - size: { value: small, default_alternative: true }
      production: # chosen by `--input production=true`
        type: boolean
        default: false
    presets:
      # What is chosen together.
      prod: # chosen by `--preset prod`
        inputs:
          production: true
  node_templates:
    # The first one.
    vm:
      type: tosca.nodes.Compute

"#]]
    );
}

/// A map in a property that would be read as conditions is written as its value.
#[test]
fn maps_with_a_value_stay_maps() {
    let plain = "\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    shop:
      type: shop
      properties:
        price: { value: 3, currency: EUR }
        label:
          # Shown to all.
          value: |
            Tea

            House
          size: 2
        when: { conditions: [dry] }
        port: 80
";
    let (variable, again) = begun("shop.yaml", plain);
    assert!(variable.contains("price: { value: { value: 3, currency: EUR } }\n"), "{variable}");
    assert!(
        variable.contains("        label:\n          value:\n            # Shown"),
        "{variable}"
    );
    assert!(diff(&value(plain), &value(&again)).is_empty(), "{again}");
}

#[test]
fn braces_and_other_line_ends_stay() {
    let json = "{\"tosca_definitions_version\": \"tosca_simple_yaml_1_3\", \"topology_template\": {\"node_templates\": {\"vm\": {\"type\": \"vm\"}}}}\n";
    let (variable, again) = begun("shop.json", json);
    assert!(variable.contains("{ variability: { options:"), "{variable}");
    assert!(diff(&value(json), &value(&again)).is_empty(), "{again}");
    let windows = "tosca_definitions_version: tosca_simple_yaml_1_3\r\ntopology_template:\r\n  node_templates:\r\n    vm:\r\n      type: vm\r\n      \
         properties:\r\n        price:\r\n          value: 3\r\n";
    let (variable, again) = begun("shop.yaml", windows);
    assert_eq!(variable.matches('\n').count(), variable.matches("\r\n").count());
    // Results of variable templates have line ends of Unix.
    assert_eq!(again, windows.replace("\r\n", "\n"));
}

/// Requirements of one name in a plain template are not alternatives, and nodes that only keep each
/// other are not pruned.
#[test]
fn what_variable_templates_demand_more_is_not_demanded() {
    let head =
        "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n";
    let twice = format!(
        "{head}    shop:\n      type: shop\n      requirements:\n        - uses: till\n        - uses: stock\n    till:\n      type: till\n    stock:\n      type: stock\n"
    );
    let (variable, again) = begun("shop.yaml", &twice);
    assert!(variable.contains("ambiguous_relation_check: false #"), "{variable}");
    assert_eq!(again, twice);
    let circle = format!(
        "{head}    left:\n      type: side\n      requirements:\n        - other: right\n    right:\n      type: side\n      requirements:\n        - other: left\n"
    );
    let (variable, again) = begun("shop.yaml", &circle);
    assert!(!variable.contains("semantic-loose"), "{variable}");
    assert_eq!(again, circle);
}

#[test]
fn what_is_no_plain_template_is_refused() {
    let refused = |text: &str| {
        let failure = Resolver::from_text("shop.yaml", text).variable_template();
        failure.err().unwrap_or_else(|| panic!("{text}")).render()
    };
    snapbox::assert_data_eq!(
        refused(
            "tosca_definitions_version: tosca_variability_1_0\ntopology_template: {node_templates: {vm: {type: vm}}}\n"
        ),
        str![[r#"
error[invalid-template]: this template is variable already
 --> shop.yaml:1:28
  |
1 | tosca_definitions_version: tosca_variability_1_0
  |                            ^^^^^^^^^^^^^^^^^^^^^
  |
  = help: `cuvee resolve` makes plain templates of it, `cuvee inputs` lists what can be chosen

error: 1 error

"#]]
    );
    snapbox::assert_data_eq!(
        refused("tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types: {Shop: {}}\n"),
        str![[r#"
error[invalid-template]: there is no `topology_template`, and so nothing that varies
 --> shop.yaml:1:1
  |
1 | tosca_definitions_version: tosca_simple_yaml_1_3
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: name the template that uses these types

error: 1 error

"#]]
    );
    snapbox::assert_data_eq!(
        refused(
            "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    vm: {type: vm, conditions: true}\n"
        ),
        str![[r#"
error[unknown-keyword]: `conditions` has no meaning in plain TOSCA
 --> shop.yaml:4:20
  |
1 | tosca_definitions_version: tosca_simple_yaml_1_3
  |                            --------------------- this version makes it plain TOSCA
...
4 |     vm: {type: vm, conditions: true}
  |                    ^^^^^^^^^^
  |
  = note: section 3.8.3.1 of TOSCA Simple Profile 1.3
  = help: a template with variability says `tosca_definitions_version: tosca_variability_1_0`

error: 1 error

"#]]
    );
    snapbox::assert_data_eq!(
        refused("apiVersion: v1\nkind: Service\n"),
        str![[r#"
error[unsupported-version]: there is no `tosca_definitions_version`
 --> shop.yaml:1:1
  |
1 | apiVersion: v1
  | ^^^^^^^^^^^^^^
  |
  = help: start the template with `tosca_definitions_version: tosca_variability_1_0`

error: 1 error

"#]]
    );
}

#[test]
fn templates_of_tosca_2_0_keep_their_version() {
    let head = "\
tosca_definitions_version: tosca_2_0
capability_types: {Peer: {}}
relationship_types: {Meets: {}}
node_types:
  Web:
    properties: {theme: {type: map, entry_schema: string, required: false}}
    capabilities: {peer: Peer}
    requirements: [peer: {capability: Peer, relationship: Meets, count_range: [0, 1]}]
";
    let flow = "service_template: {node_templates: {web: {type: Web, properties: {theme: {value: dark}}}}}\n";
    let block = "\
service_template:
  inputs: {}
  node_templates:
    web: {type: Web, requirements: [peer: {node: [web, 0]}]}
";
    let short =
        "service_template: {node_templates: {web: {type: Web, requirements: [peer: [web, 0]]}}}\n";
    for (plain, same) in [(flow, flow), (block, short)] {
        let (variable, again) = begun("web.yaml", &format!("{head}{plain}"));
        assert_eq!(value(&again), value(&format!("{head}{same}")), "{again}");
        assert!(variable.starts_with(head) && variable.contains("variability:"), "{variable}");
        let validation = Resolver::from_text("web.yaml", &variable).validate();
        assert!(validation.is_valid(false), "{:?}", validation.diagnostics);
    }
}

#[test]
fn nothing_is_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let plain = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    vm:\n      type: vm\n";
    fs::write(at("vm.yaml"), plain).unwrap();
    fs::write(at("mine.yaml"), "mine\n").unwrap();
    let init = |words: &[&str]| {
        Command::new(cargo_bin!("cuvee")).current_dir(directory.path()).arg("init").args(words)
    };
    for name in ["mine.yaml", "vm.yaml"] {
        init(&["vm.yaml", "-o", name]).assert().code(1).stdout_eq("").stderr_eq(format!(
            "error[file]: `{name}` is there already\n |\n = help: write to another file: `cuvee init` never overwrites one\n\nerror: 1 error\n"
        ));
    }
    assert_eq!(fs::read_to_string(at("vm.yaml")).unwrap(), plain);
    assert_eq!(fs::read_to_string(at("mine.yaml")).unwrap(), "mine\n");
    init(&["vm.yaml", "-o", "new.yaml"]).assert().success().stdout_eq("").stderr_eq("");
    let written = fs::read_to_string(at("new.yaml")).unwrap();
    for words in [&["vm.yaml"][..], &["-"], &["vm.yaml", "-o", "-"]] {
        let command = init(words).stdin(plain);
        command.assert().success().stdout_eq(Data::text(written.as_str()).raw()).stderr_eq("");
    }
}
