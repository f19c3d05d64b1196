//! Tests what fixtures cannot express: chosen variants, and packages.

use crate::Resolver;
use cuvee_text::source::MemoryFiles;

const TEMPLATE: &str = "\
tosca_definitions_version: tosca_variability_1_0
node_types:
  Machine:
    derived_from: tosca.nodes.Root
    properties: { size: { type: integer, constraints: [ less_than: 5 ] } }
topology_template:
  variability:
    inputs: { size: { type: integer, default: 1 } }
  node_templates:
    machine:
      type: Machine
      properties:
        - size: { expression: { mul: [ 2, { variability_input: size } ] } }
      artifacts: { script: scripts/start.sh }
";

fn found(resolver: &Resolver) -> Vec<String> {
    let validation = resolver.validate();
    validation.diagnostics.iter().map(|found| found.one_line(&validation.sources)).collect()
}

fn variant(size: i64) -> Vec<String> {
    let files = MemoryFiles::from([("scripts/start.sh", "")]);
    found(&Resolver::from_text("t.yaml", TEMPLATE).files(files).input("size", size))
}

#[test]
fn a_computed_value_fits_its_definition_in_a_variant() {
    assert_eq!(variant(2), [""; 0]);
    assert_eq!(
        variant(3),
        ["t.yaml:13:31: error[violated-constraint]: `6` violates `less_than: 5`"]
    );
}

#[test]
fn a_missing_file_is_an_error_where_all_files_are_at_hand() {
    let alone = Resolver::from_text("t.yaml", TEMPLATE).files(MemoryFiles::default());
    let message =
        "the file `scripts/start.sh` of artifact \"script@0\" of node \"machine\" is not there";
    assert_eq!(found(&alone), [format!("t.yaml:14:28: warning[file]: {message}")]);
    let files = |with: &[(&'static str, &'static str)]| {
        let template = [("shop/service-template.yaml", TEMPLATE)];
        template.iter().chain(with).copied().collect::<MemoryFiles>()
    };
    let whole = |with| found(&Resolver::new("shop").files(files(with)));
    assert_eq!(whole(&[]), [format!("shop/service-template.yaml:14:28: error[file]: {message}")]);
    assert_eq!(whole(&[("shop/scripts/start.sh", "")]), [""; 0]);
}
