//! Generates templates that are the same on every machine.

pub(crate) mod growth;

use crate::modular::Template;
use std::fmt::Write;

/// `2·seed` nodes and as many relations in a ring, of which `mode` keeps half; with these, the
/// growth of the pipeline is measured.
pub(crate) fn chain(seed: usize) -> String {
    let mut text = String::from(
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n    variability:\n        inputs:\n            mode:\n                \
         type: string\n        options:\n            type_default_condition: true\n        expressions:\n",
    );
    for (i, kind, value) in
        (0..seed).flat_map(|i| [(i, "present", "present"), (i, "removed", "absent")])
    {
        line(&mut text, 12, &format!("condition_{i}_{kind}:"));
        line(&mut text, 16, "equal:");
        line(&mut text, 20, "- variability_input: mode");
        line(&mut text, 20, &format!("- {value}"));
    }
    line(&mut text, 4, "node_templates:");
    for i in 0..seed {
        let next = (i + 1) % seed;
        for kind in ["present", "removed"] {
            line(&mut text, 8, &format!("component_{i}_{kind}:"));
            line(&mut text, 12, &format!("type: component_type_{i}_{kind}"));
            line(&mut text, 12, "conditions:");
            line(&mut text, 16, &format!("logic_expression: condition_{i}_{kind}"));
            if kind == "present" {
                relations(&mut text, i, next);
            }
        }
    }
    line(&mut text, 4, "relationship_templates:");
    for (i, kind) in (0..seed).flat_map(|i| [(i, "present"), (i, "removed")]) {
        line(&mut text, 8, &format!("relationship_{i}_{kind}:"));
        line(&mut text, 12, &format!("type: relationship_type_{i}_{kind}"));
    }
    text
}

fn relations(text: &mut String, i: usize, next: usize) {
    line(text, 12, "requirements:");
    for kind in ["present", "removed"] {
        line(text, 16, &format!("- relation_{kind}:"));
        line(text, 22, &format!("node: component_{next}_{kind}"));
        line(text, 22, "conditions:");
        line(text, 26, &format!("logic_expression: condition_{i}_{kind}"));
        line(text, 22, &format!("relationship: relationship_{i}_{kind}"));
    }
}

/// An optimisation problem of the size of real systems; see [`Template`].
pub(crate) fn modular(size: usize, seed: u64) -> String {
    let template = Template::modular(size, seed);
    let mut text = String::from(
        "tosca_definitions_version: tosca_variability_1_0_rc_3\ntopology_template:\n    variability:\n        options:\n            \
         optimization_topology_unique: false\n            technology_constraint: false\n        constraints:\n",
    );
    for (one, other) in &template.excluded {
        line(
            &mut text,
            12,
            &format!(
                "- not: {{and: [{{node_presence: node_{one}}}, {{node_presence: node_{other}}}]}}"
            ),
        );
    }
    line(&mut text, 4, "node_templates:");
    for (position, node) in template.nodes.iter().enumerate() {
        line(&mut text, 8, &format!("node_{position}:"));
        line(&mut text, 12, "type: component");
        line(&mut text, 12, &format!("weight: {}.{:02}", node.weight / 100, node.weight % 100));
        if node.persistent {
            line(&mut text, 12, "persistent: true");
        }
        if !node.hosts.is_empty() {
            line(&mut text, 12, "requirements:");
        }
        for host in &node.hosts {
            line(&mut text, 16, &format!("- host: node_{host}"));
        }
    }
    text
}

/// A library of node types of about 1.3 KB each.
pub(crate) fn library(types: usize) -> String {
    let mut text = String::from("tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n");
    for i in 0..types {
        line(&mut text, 4, &format!("library.type_{types}_{i}:"));
        let parent = if i == 0 {
            "tosca.nodes.Root".into()
        } else {
            format!("library.type_{types}_{}", i / 2)
        };
        line(&mut text, 8, &format!("derived_from: {parent}"));
        line(&mut text, 8, "properties:");
        for property in 0..10 {
            line(&mut text, 12, &format!("property_{property}:"));
            line(&mut text, 16, "type: string");
            line(
                &mut text,
                16,
                "description: What the operations of this type read when they are run.",
            );
        }
        line(&mut text, 8, "interfaces:");
        line(&mut text, 12, "Standard:");
        line(&mut text, 16, "create: playbooks/create.yaml");
    }
    text
}

/// A template of industrial size: stations with a gateway that connects to the controllers and
/// sensors of its line, each on one of two kinds of hosts.
pub(crate) fn industry() -> String {
    const STATIONS: usize = 10;
    const DEVICES: usize = 5;
    let mut text = String::from(
        "tosca_definitions_version: tosca_variability_1_0\nimports: [lib/types.yaml]\ntopology_template:\n    variability:\n        inputs:\n            \
         site: {type: string}\n        options:\n            mode: semantic-loose\n            node_default_condition_mode: incomingnaive-host\n            \
         hosting_stack_constraint: true\n            relation_default_implied: true\n            optimization_topology: min\n    node_templates:\n",
    );
    let mut node = |name: &str, typed: usize, lines: &[String]| {
        line(&mut text, 8, &format!("{name}:"));
        line(&mut text, 12, &format!("type: library.type_3200_{typed}"));
        lines.iter().for_each(|content| line(&mut text, 12, content));
    };
    for station in 0..STATIONS {
        let connected =
            (0..DEVICES).map(|device| format!("    - device_{device}: device_{station}_{device}"));
        let host = format!("    - host: edge_{station}");
        let requirements =
            std::iter::once("requirements:".to_owned()).chain(connected).chain([host]);
        let lines: Vec<_> =
            std::iter::once("persistent: true".to_owned()).chain(requirements).collect();
        node(&format!("gateway_{station}"), 100 + station, &lines);
        node(&format!("edge_{station}"), 300 + station, &["properties: {zone: hall}".into()]);
        for device in 0..DEVICES {
            let name = format!("{station}_{device}");
            let hosts = ["plant", "cloud"].map(|site| format!("    - host: {site}_{name}"));
            let properties = format!("properties: {{address: {}}}", 1_000 * station + device);
            node(
                &format!("device_{name}"),
                1_000 + device,
                &[&[properties, "requirements:".into()], &hosts[..]].concat(),
            );
            for site in ["plant", "cloud"] {
                let selected =
                    format!("conditions: {{equal: [{{variability_input: site}}, {site}]}}");
                node(&format!("{site}_{name}"), 2_000 + device, &[selected]);
            }
        }
    }
    text
}

/// A template of ten lines, as a first one has.
pub(crate) fn small() -> String {
    "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    inputs: {mode: {type: string}}\n    \
     options: {type_default_condition: true}\n  node_templates:\n    shop: {type: shop}\n    monitor:\n      type: monitor\n      \
     conditions: {equal: [{variability_input: mode}, prod]}\n"
        .into()
}

/// A shop of 25 nodes with a static and an elastic stack.
pub(crate) fn shop() -> String {
    let mut text = String::from(
        "tosca_definitions_version: tosca_variability_1_0\nimports: [lib/types.yaml]\ntopology_template:\n    variability:\n        inputs:\n            \
         env: {type: string}\n        options:\n            mode: semantic-loose\n            node_default_condition_mode: incomingnaive-host\n            \
         hosting_stack_constraint: true\n            relation_default_implied: true\n            optimization_topology: min\n    node_templates:\n",
    );
    line(&mut text, 8, "shop:");
    line(&mut text, 12, "type: library.type_1200_900");
    line(&mut text, 12, "persistent: true");
    line(&mut text, 12, "requirements:");
    for i in 0..8 {
        line(&mut text, 16, &format!("- service_{i}: service_{i}"));
    }
    for (i, stack) in (0..8).flat_map(|i| [(i, None), (i, Some("static")), (i, Some("elastic"))]) {
        let name = stack.map_or_else(|| format!("service_{i}"), |stack| format!("{stack}_{i}"));
        line(&mut text, 8, &format!("{name}:"));
        line(&mut text, 12, &format!("type: library.type_400_{}", 200 + i));
        if let Some(stack) = stack {
            line(
                &mut text,
                12,
                &format!("conditions: {{equal: [{{variability_input: env}}, {stack}]}}"),
            );
        } else {
            line(&mut text, 12, &format!("properties: {{port: {}}}", 8080 + i));
            line(&mut text, 12, "requirements:");
            line(&mut text, 16, &format!("- host: static_{i}"));
            line(&mut text, 16, &format!("- host: elastic_{i}"));
        }
    }
    text
}

fn line(text: &mut String, indent: usize, content: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{:indent$}{content}", "");
}
