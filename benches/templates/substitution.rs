//! Generates templates with many nodes to substitute or many requirements that are left open.

use cuvee::Resolver;
use cuvee::deploy::substitute::SubstitutionQuery;
use cuvee::source::MemoryFiles;
use std::fmt::Write;

/// A template and its catalogue, which grow in one respect.
pub(crate) struct SubstitutionCase {
    pub name: &'static str,
    pub make: fn(usize) -> (Resolver, SubstitutionQuery),
    pub sizes: &'static [usize],
    /// How many milliseconds it may take at its first size.
    pub goal: Option<u32>,
    /// Whether there are too few targets, so that the answer is an error.
    pub is_impossible: bool,
}

pub(crate) const CASES: [SubstitutionCase; 12] = [
    SubstitutionCase {
        name: "nodes, 50 candidates of 20 nodes each",
        make: |size| candidates(size, 50),
        sizes: &[1_000, 2_000],
        goal: Some(500),
        is_impossible: false,
    },
    SubstitutionCase {
        name: "candidates of 20 nodes each",
        make: |size| candidates(1, size),
        sizes: &[1_000, 2_000],
        goal: Some(500),
        is_impossible: false,
    },
    SubstitutionCase {
        name: "templates in templates",
        make: deep,
        sizes: &[64],
        goal: None,
        is_impossible: false,
    },
    SubstitutionCase {
        name: "templates in templates, two for each",
        make: wide_and_deep,
        sizes: &[32, 64],
        goal: None,
        is_impossible: false,
    },
    SubstitutionCase {
        name: "open relations, 1,000 targets of 50 types",
        make: open_by_type,
        sizes: &[10_000, 20_000],
        goal: Some(2_000),
        is_impossible: false,
    },
    SubstitutionCase {
        name: "open relations, 1,000 targets",
        make: open_unbounded,
        sizes: &[10_000, 20_000],
        goal: Some(2_000),
        is_impossible: false,
    },
    SubstitutionCase {
        name: "open relations, a tenth as many targets for 11 each",
        make: open_bounded,
        sizes: &[10_000, 20_000],
        goal: Some(2_000),
        is_impossible: false,
    },
    SubstitutionCase {
        name: "open relations, a place for each",
        make: |size| places(size, size),
        sizes: &[500, 1_000],
        goal: Some(200),
        is_impossible: false,
    },
    SubstitutionCase {
        name: "open relations, one place too few",
        make: |size| places(size, size - 1),
        sizes: &[500, 1_000],
        goal: Some(200),
        is_impossible: true,
    },
    SubstitutionCase {
        name: "open relations, ten places for each",
        make: |size| places(size, size * 10),
        sizes: &[1_000, 2_000],
        goal: Some(2_000),
        is_impossible: false,
    },
    SubstitutionCase {
        name: "open relations, a place for every tenth",
        make: |size| places(size, size / 10),
        sizes: &[10_000, 20_000],
        goal: Some(2_000),
        is_impossible: true,
    },
    SubstitutionCase {
        name: "mappings of one requirement",
        make: mappings,
        sizes: &[10_000, 20_000],
        goal: None,
        is_impossible: false,
    },
];

const HEAD: &str =
    "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [types.yaml]\ntopology_template:\n";

const TYPES: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
capability_types:
  Service: {derived_from: tosca.capabilities.Root}
node_types:
  Server:
    derived_from: tosca.nodes.Root
    properties: {size: {type: integer, default: 1}}
    capabilities: {service: Service}
  Scarce:
    derived_from: tosca.nodes.Root
    capabilities: {service: {type: Service, occurrences: [0, 11]}}
  Single:
    derived_from: tosca.nodes.Root
    capabilities: {service: {type: Service, occurrences: [0, 1]}}
  Client:
    derived_from: tosca.nodes.Root
    properties: {size: {type: integer, default: 1}}
    capabilities: {service: Service}
    requirements: [service: {capability: Service, occurrences: [0, UNBOUNDED]}]
  Asking:
    derived_from: tosca.nodes.Root
    requirements: [service: {capability: Service}]
  Part:
    derived_from: tosca.nodes.Root
    properties: {size: {type: integer, default: 1}}
    capabilities: {service: Service}
    requirements: [service: {capability: Service, occurrences: [0, UNBOUNDED]}]
";

/// A resolver and a query for a template, its catalogue, and types of its own.
fn asked(
    nodes: &str,
    catalogue: Vec<(String, String)>,
    types: &str,
) -> (Resolver, SubstitutionQuery) {
    let query = SubstitutionQuery::with(catalogue.iter().map(|(name, _)| name.clone()));
    let own = [
        ("shop.yaml".to_owned(), format!("{HEAD}  node_templates:\n{nodes}")),
        ("types.yaml".to_owned(), format!("{TYPES}{types}")),
    ];
    let files = own.into_iter().chain(catalogue);
    let files = MemoryFiles::from_iter(files);
    (Resolver::new("shop.yaml").files(files), query)
}

/// Nodes of one type that each need one of ten servers, and templates for that type.
fn candidates(size: usize, templates: usize) -> (Resolver, SubstitutionQuery) {
    let mut nodes: String =
        (0..10).map(|at| format!("    server{at}: {{type: Server}}\n")).collect();
    for node in 0..size {
        let server = node % 10;
        writeln!(nodes, "    client{node}: {{type: Client, directives: [substitute], properties: {{size: {node}}}, requirements: [{{service: server{server}}}]}}").ok();
    }
    let template = |index: usize| {
        let parts = if index == templates / 2 { 19 } else { 20 };
        let mut text = format!(
            "{HEAD}  inputs:\n    size: {{type: integer}}\n  substitution_mappings:\n    node_type: Client\n    capabilities: {{service: [part0, service]}}\n    requirements:\n      - service: [part0, service]\n  node_templates:\n    part0: {{type: Part, properties: {{size: {{get_input: size}}}}}}\n"
        );
        for part in 1..parts {
            let before = part - 1;
            writeln!(
                text,
                "    part{part}: {{type: Part, requirements: [{{service: part{before}}}]}}"
            )
            .ok();
        }
        (format!("catalogue{index:02}.yaml"), text)
    };
    asked(&nodes, (0..templates).map(template).collect(), "")
}

/// A chain of substitutions: the template for a node has a node of the next type, with `choices`
/// templates for each type.
fn nested(depth: usize, choices: usize) -> (Resolver, SubstitutionQuery) {
    let types: String =
        (0..depth).map(|at| format!("  Level{at}: {{derived_from: Client}}\n")).collect();
    let mut catalogue = Vec::new();
    for level in 0..depth {
        for choice in 0..choices {
            let inner = match level + 1 == depth {
                true => "type: Part".to_owned(),
                false => format!("type: Level{}, directives: [substitute]", level + 1),
            };
            let more: String =
                (0..choice).map(|at| format!("    more{at}: {{type: Part}}\n")).collect();
            let text = format!(
                "{HEAD}  substitution_mappings:\n    node_type: Level{level}\n    capabilities: {{service: [n, service]}}\n    requirements:\n      - service: [n, service]\n  node_templates:\n    n: {{{inner}}}\n    own: {{type: Part, requirements: [{{service: n}}]}}\n{more}"
            );
            catalogue.push((format!("level{level:02}-{choice}.yaml"), text));
        }
    }
    let nodes = "    server: {type: Server}\n    n: {type: Level0, directives: [substitute], requirements: [{service: server}]}\n";
    asked(nodes, catalogue, &types)
}

fn deep(size: usize) -> (Resolver, SubstitutionQuery) {
    nested(size, 1)
}

fn wide_and_deep(size: usize) -> (Resolver, SubstitutionQuery) {
    nested(size, 2)
}

/// Nodes that each need a server of one kind, of which there are 20.
fn open_by_type(size: usize) -> (Resolver, SubstitutionQuery) {
    const KINDS: usize = 50;
    let mut types = String::new();
    for kind in 0..KINDS {
        writeln!(types, "  Server{kind}: {{derived_from: Server}}").ok();
        writeln!(types, "  Asking{kind}: {{derived_from: tosca.nodes.Root, requirements: [service: {{capability: Service, node: Server{kind}}}]}}").ok();
    }
    let mut nodes = String::new();
    for at in 0..1_000 {
        writeln!(
            nodes,
            "    server{at}: {{type: Server{}, properties: {{size: {at}}}}}",
            at % KINDS
        )
        .ok();
    }
    for at in 0..size {
        writeln!(nodes, "    n{at}: {{type: Asking{}, requirements: [{{service: {{node_filter: {{properties: [size: {{in_range: [0, 1000]}}]}}}}}}]}}", at % KINDS).ok();
    }
    asked(&nodes, Vec::new(), &types)
}

/// Nodes that each need any of the servers.
fn open(size: usize, servers: usize, server: &str) -> (Resolver, SubstitutionQuery) {
    let mut nodes = String::new();
    for at in 0..servers {
        writeln!(nodes, "    server{at}: {{type: {server}}}").ok();
    }
    for at in 0..size {
        writeln!(nodes, "    n{at}: {{type: Asking}}").ok();
    }
    asked(&nodes, Vec::new(), "")
}

/// Nodes that each need one of the places, and servers with one place each.
fn places(size: usize, places: usize) -> (Resolver, SubstitutionQuery) {
    open(size, places, "Single")
}

fn open_unbounded(size: usize) -> (Resolver, SubstitutionQuery) {
    open(size, 1_000, "Server")
}

fn open_bounded(size: usize) -> (Resolver, SubstitutionQuery) {
    open(size, size.div_ceil(10), "Scarce")
}

/// A node with many relations, each of which is mapped onto a different node.
fn mappings(size: usize) -> (Resolver, SubstitutionQuery) {
    let mut nodes: String =
        (0..size).map(|at| format!("    server{at}: {{type: Server}}\n")).collect();
    nodes.push_str(
        "    client:\n      type: Client\n      directives: [substitute]\n      requirements:\n",
    );
    (0..size).for_each(|at| {
        writeln!(nodes, "        - service: server{at}").ok();
    });
    let mut text =
        format!("{HEAD}  substitution_mappings:\n    node_type: Client\n    requirements:\n");
    (0..size).for_each(|at| {
        writeln!(text, "      - service: [part{at}, service]").ok();
    });
    text.push_str("  node_templates:\n");
    (0..size).for_each(|at| {
        writeln!(text, "    part{at}: {{type: Part}}").ok();
    });
    asked(&nodes, vec![("many.yaml".to_owned(), text)], "")
}
