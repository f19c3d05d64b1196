//! Laws of substituting, over random templates and catalogues.

#![expect(clippy::unwrap_used)]

use cuvee::source::MemoryFiles;
use cuvee::substitute::SubstitutionQuery;
use cuvee::value::Value;
use cuvee::{Failure, Resolver};
use proptest::prelude::*;
use std::fmt::Write;

const TYPES: &str = "
tosca_definitions_version: tosca_simple_yaml_1_3
capability_types:
  Service: {derived_from: tosca.capabilities.Root}
node_types:
  Server: {derived_from: tosca.nodes.Root, capabilities: {service: Service}}
  Client:
    derived_from: tosca.nodes.Root
    capabilities: {service: Service}
    requirements: [{service: {capability: Service, occurrences: [1, 4]}}]
  Soft0:
    derived_from: tosca.nodes.Root
    capabilities: {service: Service}
    requirements: [{service: {capability: Service, occurrences: [0, 1]}}]
  SoftU:
    derived_from: tosca.nodes.Root
    capabilities: {service: Service}
    requirements: [{service: {capability: Service, occurrences: [0, UNBOUNDED]}}]
";

/// A mapping: onto which node, how often, or all that is left.
#[derive(Clone, Debug)]
struct Mapped {
    node: usize,
    count: Option<u8>,
}

/// A template: of each node whether it takes several relations, and mappings.
#[derive(Clone, Debug)]
struct Inner {
    takes_several: Vec<bool>,
    mappings: Vec<Mapped>,
}

/// A template in which clients are substituted: where the relations of each lead, among servers and
/// clients.
#[derive(Clone, Debug)]
struct Outer {
    servers: usize,
    clients: Vec<Vec<usize>>,
}

fn inner() -> impl Strategy<Value = Inner> {
    prop::collection::vec(any::<bool>(), 1..4).prop_flat_map(|takes_several| {
        let mapped = (0..takes_several.len(), prop::option::weighted(0.6, 0..3_u8))
            .prop_map(|(node, count)| Mapped { node, count });
        prop::collection::vec(mapped, 0..4)
            .prop_map(move |mappings| Inner { takes_several: takes_several.clone(), mappings })
    })
}

fn outer() -> impl Strategy<Value = Outer> {
    (1..4_usize, 1..4_usize).prop_flat_map(|(servers, clients)| {
        let relations = prop::collection::vec(0..servers + clients, 1..=4);
        prop::collection::vec(relations, clients)
            .prop_map(move |clients| Outer { servers, clients })
    })
}

impl Inner {
    fn text(&self, is_grouped: bool) -> String {
        let mut text = "
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [../types.yaml]
topology_template:
  substitution_mappings:
    node_type: Client
    capabilities: {service: [n0, service]}
    requirements:
"
        .to_owned();
        for Mapped { node, count } in &self.mappings {
            let mut line = |key: &str| writeln!(text, "      - {key}: [n{node}, service]").unwrap();
            match count {
                None => line("service"),
                Some(count) if is_grouped => line(&format!("[service, {count}]")),
                Some(count) => (0..*count).for_each(|_| line("[service, 1]")),
            }
        }
        text.push_str("  node_templates:\n");
        for (node, several) in self.takes_several.iter().enumerate() {
            let kind = if *several { "SoftU" } else { "Soft0" };
            writeln!(text, "    n{node}: {{type: {kind}}}").unwrap();
        }
        text.replace("    requirements:\n  node", "    requirements: []\n  node")
    }
}

impl Outer {
    fn text(&self, is_reversed: bool) -> String {
        let servers = (0..self.servers).map(|server| format!("    s{server}: {{type: Server}}\n"));
        let client = |(client, relations): (usize, &Vec<usize>)| {
            let name = |target: usize| match target.checked_sub(self.servers) {
                None => format!("s{target}"),
                Some(client) => format!("c{client}"),
            };
            let relations =
                relations.iter().map(|&target| format!("{{service: {}}}", name(target)));
            let relations = relations.collect::<Vec<_>>().join(", ");
            format!(
                "    c{client}: {{type: Client, directives: [substitute], requirements: [{relations}]}}\n"
            )
        };
        let mut lines: Vec<_> =
            servers.chain(self.clients.iter().enumerate().map(client)).collect();
        if is_reversed {
            lines.reverse();
        }
        format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [types.yaml]\ntopology_template:\n  node_templates:\n{}",
            lines.concat()
        )
    }
}

fn substituted(outer: &str, inner: &str, with: &[&str]) -> Result<String, Failure> {
    let files = MemoryFiles::from([
        ("shop.yaml", outer),
        ("types.yaml", TYPES),
        ("catalogue/inner.yaml", inner),
        ("catalogue/large.yaml", &large()),
    ]);
    let resolver = Resolver::new("shop.yaml").files(files);
    let substituted = resolver.substitute(&SubstitutionQuery::with(with))?;
    Ok(substituted.resolution.to_yaml().to_owned())
}

/// A template that always fits, and is never the least.
fn large() -> String {
    let nodes: String = (0..9).map(|node| format!("    n{node}: {{type: SoftU}}\n")).collect();
    format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [../types.yaml]\ntopology_template:\n  substitution_mappings:\n    node_type: Client\n    capabilities: {{service: [n0, service]}}\n    requirements:\n      - service: [n0, service]\n  node_templates:\n{nodes}"
    )
}

fn value(yaml: &str) -> Value {
    let files = MemoryFiles::from([("flat.yaml", yaml), ("types.yaml", TYPES)]);
    Resolver::new("flat.yaml").files(files).resolve().unwrap().to_value()
}

/// What a map has under a key.
fn of(map: &Value, key: &str) -> Option<Value> {
    let Value::Map(entries) = map else { return None };
    entries.iter().find(|(name, _)| **name == *key).map(|(_, value)| value.clone())
}

const CATALOGUE: [&str; 2] = ["catalogue/inner.yaml", "catalogue/large.yaml"];

proptest! {
    #[test]
    fn what_is_flat_is_valid_and_stays(outer in outer(), inner in inner()) {
        let flat = match substituted(&outer.text(false), &inner.text(true), &CATALOGUE) {
            Ok(flat) => flat,
            Err(failure) => {
                let placed = failure.diagnostics.iter().all(|error| error.span.is_some());
                prop_assert!(placed, "{:#?}", failure.diagnostics);
                return Ok(());
            }
        };
        prop_assert!(!flat.contains("substitute]"), "{flat}");
        let files = MemoryFiles::from([("shop.yaml", &*flat), ("types.yaml", TYPES)]);
        let validation = Resolver::new("shop.yaml").files(files).validate();
        prop_assert!(validation.is_valid(false), "{flat}\n{:#?}", validation.diagnostics);
        prop_assert_eq!(substituted(&flat, &inner.text(true), &CATALOGUE).unwrap(), flat);
    }

    #[test]
    fn groups_are_what_they_stand_for(outer in outer(), inner in inner()) {
        let flat = |is_grouped| substituted(&outer.text(false), &inner.text(is_grouped), &CATALOGUE);
        prop_assert_eq!(flat(true).ok(), flat(false).ok());
    }

    #[test]
    fn the_order_of_the_catalogue_counts_for_nothing(outer in outer(), inner in inner()) {
        let flat = |with: &[&str]| substituted(&outer.text(false), &inner.text(true), with).ok();
        let [one, other] = CATALOGUE;
        prop_assert_eq!(flat(&[one, other]), flat(&[other, one]));
        prop_assert_eq!(flat(&[one, other]), flat(&["catalogue"]));
    }

    /// Nodes are called and connected the same in whatever order they are substituted.
    #[test]
    fn the_order_of_nodes_counts_for_nothing(outer in outer(), inner in inner()) {
        let nodes = |is_reversed| {
            let flat = substituted(&outer.text(is_reversed), &inner.text(true), &CATALOGUE).ok()?;
            let nodes = of(&of(&value(&flat), "topology_template")?, "node_templates")?;
            let Value::Map(sections) = nodes else { return None };
            let mut nodes: Vec<_> = sections.iter().map(|(name, body)| (name.to_string(), body.to_string())).collect();
            nodes.sort();
            Some(nodes)
        };
        prop_assert_eq!(nodes(false), nodes(true));
    }
}
