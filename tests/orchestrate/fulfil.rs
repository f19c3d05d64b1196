//! Tests of fulfilling what a template leaves open, from its own nodes and from an inventory: cases
//! worked out by hand, and random ones compared with trying everything.

#![expect(clippy::unwrap_used)]

use cuvee::deploy::fulfil::Inventory;
use cuvee::diagnostic::Diagnostic;
use cuvee::{Failure, Resolver};
use std::time::Duration;

const TYPES: &str = "
capability_types:
  Service: {derived_from: tosca.capabilities.Root}
  Host: {derived_from: tosca.capabilities.Root, properties: {num_cpus: {type: integer, default: 1}}}
node_types:
  Client:
    derived_from: tosca.nodes.Root
    requirements: [{service: {capability: Service, node: Server, occurrences: [1, 4]}}]
  Picky:
    derived_from: Client
    requirements:
      - service: {capability: Service, node: Server, node_filter: {properties: [{tier: {equal: 1}}]}}
  Guest:
    derived_from: tosca.nodes.Root
    requirements: [{host: {capability: Host, occurrences: [1, 1]}}]
  Server:
    derived_from: tosca.nodes.Root
    properties: {tier: {type: integer, default: 2}}
    capabilities: {service: {type: Service}}
  Scarce:
    derived_from: Server
    capabilities: {service: {type: Service, occurrences: [0, 1]}}
  Machine:
    derived_from: tosca.nodes.Root
    properties: {owner: {type: string, required: false}}
    capabilities: {host: {type: Host}}
";

/// A template with the types above and the given topology.
fn template(body: &str) -> String {
    format!("tosca_definitions_version: tosca_simple_yaml_1_3\n{TYPES}topology_template:\n{body}")
}

fn inventory(body: &str) -> Inventory {
    Resolver::from_text("site.yaml", template(body)).inventory().unwrap().result
}

fn fulfilled(body: &str, inventory: &Inventory) -> Result<(String, Vec<Diagnostic>), Failure> {
    let fulfilled = Resolver::from_text("app.yaml", template(body)).fulfil(inventory)?;
    let (_, topology) = fulfilled.to_yaml().split_once("topology_template:\n").unwrap();
    Ok((topology.to_owned(), fulfilled.warnings().to_vec()))
}

/// The fulfilled template; asserts that there are no warnings.
fn becomes(body: &str, inventory: &Inventory) -> String {
    let (text, warnings) = fulfilled(body, inventory).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    text
}

fn shown(failure: &Failure) -> String {
    let shown = |found: &Diagnostic| {
        let labels = found
            .labels
            .iter()
            .map(|label| format!("\n  {}: {}", failure.sources.place(label.span), label.message));
        format!("{}{}", found.one_line(&failure.sources), labels.collect::<String>())
    };
    failure.diagnostics.iter().map(shown).collect::<Vec<_>>().join("\n")
}

fn refused(body: &str, inventory: &Inventory) -> String {
    shown(&fulfilled(body, inventory).unwrap_err())
}

const OPEN: &str = "  node_templates:
    client:
      type: Client
      requirements:
        - service:   # by somebody
        - service: {optional: true}
        - service: {optional: true}
";

#[test]
fn dangling_requirements_are_found() {
    let none = Inventory::default();
    let servers = |count: usize| -> String {
        (1..=count).map(|number| format!("    server{number}: {{type: Server}}\n")).collect()
    };
    let three = becomes(&format!("{OPEN}{}", servers(3)), &none);
    assert_eq!(
        three,
        format!(
            "  node_templates:
    client:
      type: Client
      requirements:
        - service: server1   # by somebody
        - service: server2
        - service: server3
{}",
            servers(3)
        ),
    );
    let two = becomes(&format!("{OPEN}{}", servers(2)), &none);
    assert!(two.contains("- service: server2\n        - service: {optional: true}\n"), "{two}");
    assert_eq!(
        refused(OPEN, &none),
        "app.yaml:33:11: error[unfulfilled-requirement]: the requirement `service` of `client` is not fulfilled: no node fits
  app.yaml:9:79: the requirement is defined here"
    );
}

#[test]
fn what_is_scarce_is_shared_out() {
    let body = "  node_templates:
    a: {type: Client}
    b: {type: Picky}
    server1: {type: Scarce, properties: {tier: 1}}
    server2: {type: Scarce}
";
    let none = Inventory::default();
    let found = becomes(body, &none);
    assert!(found.contains("a: {type: Client, requirements: [{service: server2}]}"), "{found}");
    assert!(found.contains("b: {type: Picky, requirements: [{service: server1}]}"), "{found}");
    assert_eq!(
        refused(&body.replace("    server2: {type: Scarce}\n", ""), &none),
        "app.yaml:30:5: error[unfulfilled-requirement]: 2 requirements or selections compete, and the nodes that fit are not enough: `a.service`, `b.service`
  app.yaml:31:5: competes with it
  app.yaml:32:5: the capability `service` of `server1` can be used once more"
    );
    // Relations to a node of the inventory count together with those that it has there already.
    let site = inventory(
        "  node_templates:
    server1: {type: Scarce, properties: {tier: 1}}
    user: {type: Client, requirements: [{service: server1}]}
    server2: {type: Scarce}
",
    );
    let body = "  node_templates:\n    a: {type: Client}\n";
    let found = becomes(body, &site);
    assert_eq!(
        found,
        "  node_templates:
    a: {type: Client, requirements: [{service: server2}]}
    server2:
      type: Scarce
      directives: []
      metadata:
        instance: site.yaml#/nodes/server2
"
    );
    let both = "  node_templates:\n    a: {type: Client}\n    b: {type: Client}\n";
    assert_eq!(
        refused(both, &site),
        "app.yaml:30:5: error[unfulfilled-requirement]: 2 requirements or selections compete, and the nodes that fit are not enough: `a.service`, `b.service`
  app.yaml:31:5: competes with it"
    );
}

/// Nodes that each need one place, and servers with one place each.
fn rivals(clients: usize, servers: usize) -> String {
    let clients = (0..clients).map(|at| format!("    client{at}: {{type: Client}}\n"));
    let servers = (0..servers).map(|at| format!("    server{at}: {{type: Scarce}}\n"));
    ["  node_templates:\n".to_owned()].into_iter().chain(servers).chain(clients).collect()
}

/// As many places as are needed, one too few, and ten times as many of one as of the other.
#[test]
fn many_places_are_shared_out() {
    let fulfilled = |clients, servers| {
        let resolver = Resolver::from_text("app.yaml", template(&rivals(clients, servers)));
        resolver.timeout(Duration::from_secs(60)).fulfil(&Inventory::default())
    };
    for (clients, servers) in [(500, 500), (500, 501), (300, 3000)] {
        let found = fulfilled(clients, servers).unwrap();
        let leads = |at: usize| {
            let line = format!(
                "    client{at}: {{type: Client, requirements: [{{service: server{at}}}]}}\n"
            );
            found.to_yaml().contains(&line)
        };
        assert!((0..clients).all(leads), "{clients} {servers}");
        assert_eq!(found.warnings().len(), 32);
    }
    for (clients, servers) in [(500, 499), (3000, 300)] {
        let failure = fulfilled(clients, servers).unwrap_err();
        let [error] = &*failure.diagnostics else { unreachable!("{failure:?}") };
        let competing = servers + 1;
        assert_eq!(
            error.message,
            format!(
                "{competing} requirements or selections compete, and the nodes that fit are not enough: {} and {} more",
                (0..12).map(|at| format!("`client{at}.service`")).collect::<Vec<_>>().join(", "),
                competing - 12
            )
        );
        assert_eq!(error.labels.len(), 11 + 12);
    }
}

/// Nodes that are to be selected compete with the relations to them: for capabilities that have too
/// few places, however many there are, and only as many as are needed for that are named.
#[test]
fn selections_compete_with_their_relations() {
    let servers = |places: &[usize]| {
        let server = |(at, places): (usize, &usize)| {
            format!(
                "    s{at}: {{type: Server, capabilities: {{service: {{occurrences: [0, {places}]}}}}}}\n"
            )
        };
        let servers: String = places.iter().enumerate().map(server).collect();
        inventory(&format!("  node_templates:\n{servers}"))
    };
    let selected = |users: &[usize]| {
        let one = |(at, users): (usize, &usize)| {
            let user = |user| {
                format!("    u{at}_{user}: {{type: Client, requirements: [{{service: n{at}}}]}}\n")
            };
            let users: String = (0..*users).map(user).collect();
            format!("    n{at}: {{type: Server, directives: [select]}}\n{users}")
        };
        format!("  node_templates:\n{}", users.iter().enumerate().map(one).collect::<String>())
    };
    let said = |users: &[usize], places: &[usize]| {
        let failure = fulfilled(&selected(users), &servers(places)).unwrap_err();
        let [error] = &*failure.diagnostics else { unreachable!("{failure:?}") };
        assert_eq!(error.code.as_str(), "no-selection");
        format!("{}; {}", error.message, error.help.as_deref().unwrap_or_default())
    };
    let mut places = [1; 40];
    places[7] = 0;
    let many = said(&[1; 40], &places);
    assert!(many.starts_with("40 requirements or selections compete"), "{many}");
    assert!(many.contains("the capability `service` of `s7` can be used 0 times more"), "{many}");
    let one = said(&[0, 2, 0], &[1, 1, 1]);
    assert!(one.starts_with("`n1` cannot be fulfilled"), "{one}");
    let two = said(&[0, 2, 0, 2, 0], &[1, 2, 1, 1, 1]);
    assert!(two.starts_with("2 requirements or selections compete"), "{two}");
    assert!(two.contains("`n1`, `n3`"), "{two}");
}

/// Only those that compete are named, and what they compete for: neither those with places enough
/// nor those that can go elsewhere.
#[test]
fn only_competitors_are_named() {
    let body = "  node_templates:
    first: {type: Client}
    a: {type: Picky}
    middle: {type: Client}
    b: {type: Picky}
    last: {type: Client}
    server1: {type: Scarce, properties: {tier: 1}}
    server2: {type: Scarce}
    server3: {type: Scarce}
    server4: {type: Scarce}
";
    assert_eq!(
        refused(body, &Inventory::default()),
        "app.yaml:31:5: error[unfulfilled-requirement]: 2 requirements or selections compete, and the nodes that fit are not enough: `a.service`, `b.service`
  app.yaml:33:5: competes with it
  app.yaml:35:5: the capability `service` of `server1` can be used once more"
    );
}

#[test]
fn selected() {
    let site = inventory("  node_templates:
    small: {type: Machine, capabilities: {host: {properties: {num_cpus: 2}}}}
    large: {type: Machine, properties: {owner: me}, capabilities: {host: {properties: {num_cpus: 4}}}}
    huge: {type: Machine, capabilities: {host: {properties: {num_cpus: 16}}}}
");
    let body = "  node_templates:
    app: {type: Guest, requirements: [{host: compute}]}
    other: {type: Guest}
    compute:
      type: Machine
      directives: [select]
      node_filter: {capabilities: [{host: {properties: [{num_cpus: {greater_or_equal: 4}}]}}]}
";
    let (text, warnings) = fulfilled(body, &site).unwrap();
    assert_eq!(
        text,
        "  node_templates:
    app: {type: Guest, requirements: [{host: compute}]}
    other: {type: Guest, requirements: [{host: compute}]}
    compute:
      type: Machine
      directives: []
      metadata:
        instance: site.yaml#/nodes/large
      properties:
        owner: me
      capabilities:
        host:
          properties:
            num_cpus: 4
"
    );
    let said: Vec<_> =
        warnings.iter().map(|found| (found.code.as_str(), &*found.message)).collect();
    assert_eq!(
        said,
        [
            ("ambiguous-fulfilment", "`large` is selected for `compute`, and `huge` fits as well"),
            (
                "ambiguous-fulfilment",
                "the requirement `host` of `other` could as well lead to `huge`"
            ),
        ]
    );
    let clause = "does not fit: the value of `num_cpus` of its capability `host` does not fit:";
    assert_eq!(
        refused(&body.replace("equal: 4", "equal: 40"), &site),
        format!("app.yaml:32:5: error[no-selection]: no existing `Machine` can be selected for `compute`
  app.yaml:35:69: `small` {clause} `2` violates `greater_or_equal: 40`
  app.yaml:35:69: `large` {clause} `4` violates `greater_or_equal: 40`
  app.yaml:35:69: `huge` {clause} `16` violates `greater_or_equal: 40`")
    );
    let again = "    again: {type: Machine, directives: [select]}\n    compute:";
    let two = body.replace("    compute:", again).replace("equal: 4", "equal: 2");
    let two = two.replace("    other: {type: Guest}\n", "");
    let (text, _) = fulfilled(&two, &site).unwrap();
    let taken = |name: &str| text.matches(&format!("site.yaml#/nodes/{name}")).count();
    assert_eq!((taken("small"), taken("large"), taken("huge")), (1, 1, 0), "{text}");
    let three =
        two.replace("    again:", "    third: {type: Machine, directives: [select]}\n    again:");
    let few = site.nodes.iter().filter(|node| node.name != "huge").cloned().collect();
    let competing = refused(&three, &Inventory { nodes: few });
    assert!(
        competing.starts_with(
            "app.yaml:31:5: error[no-selection]: 3 requirements or selections compete"
        ),
        "{competing}"
    );
}

/// The values of functions count in filters; a value that is only known at run time is never
/// selected.
#[test]
fn filters_see_what_is_known() {
    let site = inventory(
        "  node_templates:
    small: {type: Machine, properties: {owner: you}}
    large: {type: Machine, properties: {owner: {get_attribute: [small, tosca_name]}}}
",
    );
    let body = |wanted: &str| {
        format!(
            "  inputs:
    who: {{type: string, default: you}}
  node_templates:
    app: {{type: Guest, requirements: [{{host: compute}}]}}
    compute: {{type: Machine, directives: [select], properties: {{owner: {wanted}}}}}
"
        )
    };
    assert!(becomes(&body("{get_input: who}"), &site).contains("instance: site.yaml#/nodes/small"));
    let open = refused(&body("{get_attribute: [app, tosca_name]}"), &site);
    assert!(open.contains("`small` does not fit: `owner` is not decided: the result of `get_attribute` is not known here"), "{open}");
    let other = refused(&body("nobody"), &site);
    assert!(other.contains("`large` does not fit: `owner` is not decided"), "{other}");
    let listed = body("nobody").replace("{owner: nobody}", "[owner: {max_length: 3}]");
    let (listed, _) = fulfilled(&listed, &site).unwrap();
    assert!(listed.contains("instance: site.yaml#/nodes/small"), "{listed}");
    let long = becomes(&body("{min_length: 3}"), &site);
    assert!(long.contains("instance: site.yaml#/nodes/small"), "{long}");
}

mod law;
