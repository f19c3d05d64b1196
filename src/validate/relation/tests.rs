//! Tests errors that only one variant has, by validating that variant.

use crate::Resolver;

const TEMPLATE: &str = "
tosca_definitions_version: tosca_variability_1_0
node_types:
  Client:
    derived_from: tosca.nodes.Root
    requirements:
      - server: { capability: tosca.capabilities.Node, occurrences: [ 1, 2 ] }
topology_template:
  variability:
    inputs:
      servers: { type: integer }
    options: { ambiguous_relation_check: false, semantic_checks: false }
  node_templates:
    client:
      type: Client
      requirements:
        - server: { node: server, conditions: { greater: [ { variability_input: servers }, 0 ] } }
        - server: { node: server, conditions: { greater: [ { variability_input: servers }, 1 ] } }
        - server: { node: server, conditions: { greater: [ { variability_input: servers }, 2 ] } }
    server: { type: tosca.nodes.Root }
";

fn codes(servers: i64) -> Vec<&'static str> {
    let resolver = Resolver::from_text("template.yaml", TEMPLATE).input("servers", servers);
    resolver.validate().diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect()
}

#[test]
fn what_is_present_counts() {
    assert_eq!(codes(0), ["missing-requirement"]);
    assert_eq!(codes(1), [""; 0]);
    assert_eq!(codes(2), [""; 0]);
    assert_eq!(codes(3), ["too-many-relations"]);
}
