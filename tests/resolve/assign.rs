//! Tests technologies of plain templates: `assign`, `quality` and `resolve --edmm`.

#![expect(clippy::unwrap_used, reason = "a test that finds nothing has failed")]

use cuvee::Resolver;
use cuvee::diagnostic::Code;
use cuvee::source::MemoryFiles;
use cuvee::technology::NodeTechnology;
use cuvee::technology::UnsupportedTechnology;

const TYPES: &str = "\
node_types:
  Service: {}
  Shop: { derived_from: Service }
  Box: {}
";

/// A resolver for a template with these nodes and rules.
fn resolver(nodes: &str, rules: &str) -> Resolver {
    let template = format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3\n{TYPES}topology_template:\n  node_templates:\n{nodes}"
    );
    let files = [("t.yaml", template), ("qualities.yaml", rules.to_owned())];
    Resolver::new("t.yaml").files(MemoryFiles::from(files))
}

fn assigned(nodes: &str, rules: &str) -> Vec<NodeTechnology> {
    resolver(nodes, rules).assign_technologies().unwrap().result.nodes
}

fn names(nodes: &[NodeTechnology]) -> Vec<(&str, Option<&str>)> {
    nodes.iter().map(|node| (&*node.node, node.technology.as_deref())).collect()
}

const SHOP: &str = "    shop: { type: Shop }\n";

#[test]
fn the_most_special_rule_counts_before_weights_and_weights_before_order() {
    let special = "[{ technology: a, component: Service, weight: 1 }, { technology: b, component: Shop, weight: 0.1 }]";
    assert_eq!(names(&assigned(SHOP, special)), [("shop", Some("b"))]);
    let heavy = "[{ technology: a, component: Shop, weight: 0.5 }, { technology: b, component: Shop, weight: 0.6 }]";
    assert_eq!(names(&assigned(SHOP, heavy)), [("shop", Some("b"))]);
    let equal = "[{ technology: a, component: Shop }, { technology: b, component: Shop }]";
    assert_eq!(names(&assigned(SHOP, equal)), [("shop", Some("a"))]);
}

#[test]
fn what_a_rule_says_is_reported() {
    let rules = "[{ technology: A, component: Shop, hosting: Box, weight: 0.5, reason: why not }]";
    let nodes = "    shop: { type: Shop, requirements: [host: box] }\n    box: { type: Box, technology: b }\n";
    let found = assigned(nodes, rules);
    let scenario = found[0].scenario.as_ref().unwrap();
    assert_eq!((&*scenario.component, &scenario.hosting[..]), ("Shop", &["Box".to_owned()][..]));
    assert_eq!((found[0].weight, found[0].quality), (Some(0.5), Some("medium")));
    assert_eq!((found[0].reason.as_deref(), found[0].given), (Some("why not"), false));
    assert_eq!((found[1].weight, found[1].given), (None, true));
}

#[test]
fn rules_whose_conditions_do_not_hold_do_not_count() {
    let rule = |condition: &str| {
        format!(
            "[{{ technology: a, component: Shop, conditions: {condition} }}, {{ technology: b, component: Service }}]"
        )
    };
    assert_eq!(names(&assigned(SHOP, &rule("false"))), [("shop", Some("b"))]);
    assert_eq!(names(&assigned(SHOP, &rule("{ node_presence: shop }"))), [("shop", Some("a"))]);
    for absent in [
        "{ not: { node_presence: shop } }",
        "{ not: node.shop }",
        "{ not: { has_incoming_relation: shop } }",
    ] {
        let nodes = "    shop: { type: Shop, requirements: [self: shop] }\n";
        assert_eq!(names(&assigned(nodes, &rule(absent))), [("shop", Some("b"))], "{absent}");
    }
}

#[test]
fn a_node_that_needs_none_gets_none() {
    let found = assigned(
        SHOP,
        "[{ technology: null, component: Shop }, { technology: a, component: Service }]",
    );
    assert_eq!(names(&found), []);
}

#[test]
fn the_template_stays_as_it_is_but_for_technologies() {
    let nodes = "    # sells\n    shop:\n      type: Shop   # tea\n      properties: { port: 1 }\n    box: {type: Box, technology: b}\n";
    let answer =
        resolver(nodes, "[{ technology: a, component: Shop }]").assign_technologies().unwrap();
    let expected = "    # sells\n    shop:\n      type: Shop   # tea\n      technology: a\n      properties: { port: 1 }\n    box: {type: Box, technology: b}\n";
    let (_, written) = answer.result.yaml.split_once("node_templates:\n").unwrap();
    assert_eq!(written, expected);
    let codes: Vec<_> = answer.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, [Code::RequiredTechnology], "no rule knows what the box names");
    let again = Resolver::from_text("t.yaml", answer.result.yaml.clone())
        .files(MemoryFiles::from([("qualities.yaml", "[{ technology: c, component: Shop }]")]))
        .assign_technologies()
        .unwrap();
    assert_eq!(again.result.yaml, answer.result.yaml, "what is assigned stays");
}

#[test]
fn quality_is_the_mean_of_what_counts() {
    let nodes = "    one: { type: Shop, technology: a }\n    two: { type: Shop, technology: b }\n    three: { type: Shop }\n";
    let rules =
        "[{ technology: a, component: Shop, weight: 0.75 }, { technology: c, component: Shop }]";
    let mean = |unsupported| {
        let quality = resolver(nodes, rules).technology_quality(unsupported).unwrap().result;
        assert_eq!(quality.nodes.len(), 3);
        assert_eq!(quality.nodes[2].technology, None, "what rules would assign is not what it has");
        (quality.weight, quality.quality)
    };
    assert_eq!(mean(UnsupportedTechnology::default()), (Some(0.25), Some("low")));
    assert_eq!(mean(UnsupportedTechnology::Penalty(1.125)), (Some(1.0), Some("very high")));
    assert_eq!(mean(UnsupportedTechnology::LeftOut), (Some(0.75), Some("high")));
    let none = resolver(SHOP, rules).technology_quality(UnsupportedTechnology::LeftOut).unwrap();
    assert_eq!((none.result.weight, none.result.quality), (None, None));
}

#[test]
fn only_plain_templates_are_asked_about() {
    let error = Resolver::new("examples/technologies").assign_technologies().unwrap_err();
    assert_eq!(error.diagnostics.last().unwrap().code, Code::InvalidTemplate);
    assert!(error.diagnostics.last().unwrap().span.is_some());
}

#[test]
fn nodes_keep_their_types_where_technologies_are_named() {
    let notes = Resolver::new("examples/technologies").preset("cluster");
    let (types, names) =
        (notes.clone().resolve().unwrap(), notes.name_technologies().resolve().unwrap());
    assert!(
        types.to_yaml().contains("type: Application.helm.Cluster")
            && !types.to_yaml().contains("technology:")
    );
    assert!(
        names.to_yaml().contains("      type: Database\n      technology: helm\n"),
        "{}",
        names.to_yaml()
    );
    assert!(!names.to_yaml().contains("Application.helm"), "{}", names.to_yaml());
}
