//! Random topologies, for laws that hold for every topology.

use cuvee::Resolver;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) const STANDARD: [&str; 5] = ["create", "configure", "start", "stop", "delete"];
pub(crate) const CONFIGURE: [&str; 9] = [
    "pre_configure_source",
    "pre_configure_target",
    "post_configure_source",
    "post_configure_target",
    "add_target",
    "add_source",
    "target_changed",
    "remove_target",
    "remove_source",
];

/// What kind of node it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A machine that the orchestrator provides.
    Machine,
    /// A machine that the orchestrator could provide, but that has operations.
    OwnMachine,
    /// Software on another node.
    Software,
    /// A node without a host.
    Plain,
    /// An abstract node, for something that the orchestrator finds.
    Abstract,
}

impl Kind {
    pub(crate) fn is_delegated(self) -> bool {
        matches!(self, Self::Machine | Self::Abstract)
    }

    pub(crate) fn is_compute(self) -> bool {
        matches!(self, Self::Machine | Self::OwnMachine)
    }
}

/// A relation to a node of a lower rank.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Link {
    pub(crate) target: usize,
    pub(crate) operations: Vec<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// The rank of its host, which is lower.
    pub(crate) host: Option<usize>,
    pub(crate) operations: Vec<&'static str>,
    pub(crate) version: u8,
    pub(crate) links: Vec<Link>,
}

/// A topology: nodes by their rank. Each node needs nodes of lower ranks only.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) nodes: BTreeMap<usize, Node>,
    pub(crate) names: Vec<String>,
    /// The order in which the nodes are written.
    pub(crate) order: Vec<usize>,
}

impl Model {
    pub(crate) fn id(&self, rank: usize) -> String {
        format!("node.{}", self.names[rank])
    }

    /// All relations: source, identifier, target, and operations that are implemented.
    pub(crate) fn relations(&self) -> Vec<(usize, String, usize, Vec<&'static str>)> {
        let mut relations = Vec::new();
        for (&rank, node) in &self.nodes {
            if let Some(host) = node.host {
                relations.push((
                    rank,
                    format!("relation.host@0.{}", self.id(rank)),
                    host,
                    Vec::new(),
                ));
            }
            for (index, link) in node.links.iter().enumerate() {
                let position = index + usize::from(node.host.is_some());
                let id = format!("relation.dependency@{position}.{}", self.id(rank));
                relations.push((rank, id, link.target, link.operations.clone()));
            }
        }
        relations
    }

    pub(crate) fn render(&self) -> String {
        let mut text = TYPES.to_owned();
        if self.nodes.is_empty() {
            text.push_str("topology_template: {node_templates: {}}\n");
            return text;
        }
        text.push_str("topology_template:\n  node_templates:\n");
        for rank in self.order.iter().filter(|rank| self.nodes.contains_key(rank)) {
            self.render_node(*rank, &mut text);
        }
        text
    }

    pub(crate) fn render_node(&self, rank: usize, text: &mut String) {
        let node = &self.nodes[&rank];
        let kind = match node.kind {
            Kind::Machine | Kind::OwnMachine => "Machine",
            Kind::Software => "Software",
            Kind::Plain | Kind::Abstract => "Plain",
        };
        writeln!(text, "    {}:\n      type: {kind}", self.names[rank]).unwrap();
        if node.kind == Kind::Abstract {
            text.push_str("      directives: [substitute]\n");
        }
        writeln!(text, "      properties: {{version: {}}}", node.version).unwrap();
        if node.host.is_some() || !node.links.is_empty() {
            text.push_str("      requirements:\n");
        }
        if let Some(host) = node.host {
            writeln!(text, "        - host: {}", self.names[host]).unwrap();
        }
        for link in &node.links {
            let target = &self.names[link.target];
            let operations = written(&link.operations);
            writeln!(text, "        - dependency: {{node: {target}, relationship: {{type: Link, interfaces: {{Configure: {{operations: {operations}}}}}}}}}").unwrap();
        }
        let operations = written(&node.operations);
        writeln!(text, "      interfaces: {{Standard: {{operations: {operations}}}}}").unwrap();
    }

    pub(crate) fn resolver(&self) -> Resolver {
        Resolver::from_text("template.yaml", self.render())
    }
}

pub(crate) const TYPES: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Machine:
    derived_from: Compute
    properties: {version: integer}
  Software:
    derived_from: SoftwareComponent
    properties: {version: integer}
    capabilities: {host: tosca.capabilities.Compute}
  Plain:
    derived_from: Root
    properties: {version: integer}
relationship_types:
  Link: {derived_from: DependsOn}
";

pub(crate) fn written(operations: &[&str]) -> String {
    let each = operations.iter().map(|name| format!("{name}: {name}.sh"));
    format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
}

pub(crate) type NodeSeed = (u8, u8, u8, u8, Vec<(u8, u16)>, bool);

pub(crate) fn node() -> impl Strategy<Value = NodeSeed> {
    let links = vec((any::<u8>(), 0_u16..512), 0..3);
    (0_u8..8, any::<u8>(), 0_u8..32, 0_u8..2, links, prop::bool::weighted(0.85))
}

/// Makes a topology of the seeds of its nodes.
pub(crate) fn model(seeds: &[NodeSeed], order: &[usize]) -> Model {
    let mut nodes: BTreeMap<usize, Node> = BTreeMap::new();
    for (rank, (kind, host, operations, version, links, is_there)) in seeds.iter().enumerate() {
        if !is_there {
            continue;
        }
        let hosts =
            nodes.iter().filter(|(_, node)| node.kind.is_compute() || node.kind == Kind::Software);
        let hosts: Vec<_> = hosts.map(|(&rank, _)| rank).collect();
        let kind = match kind {
            0 => Kind::Machine,
            1 => Kind::OwnMachine,
            2 => Kind::Plain,
            3 => Kind::Abstract,
            _ if hosts.is_empty() => Kind::Machine,
            _ => Kind::Software,
        };
        let host = (kind == Kind::Software).then(|| hosts[usize::from(*host) % hosts.len()]);
        let mut operations = chosen(&STANDARD, u16::from(*operations));
        match kind {
            Kind::Machine | Kind::Abstract => operations.clear(),
            Kind::OwnMachine if operations.is_empty() => operations.push("create"),
            _ => {}
        }
        let lower: Vec<usize> = nodes.keys().copied().collect();
        let links = links.iter().filter(|_| !lower.is_empty()).map(|(target, operations)| {
            let target = lower[usize::from(*target) % lower.len()];
            let is_possible = |operation: &&str| {
                let at = if operation.ends_with("source") { kind } else { nodes[&target].kind };
                !operation.contains("configure") || !at.is_delegated()
            };
            let operations = chosen(&CONFIGURE, *operations).into_iter().filter(is_possible);
            Link { target, operations: operations.collect() }
        });
        let links = links.collect();
        nodes.insert(rank, Node { kind, host, operations, version: *version, links });
    }
    let names = (0..seeds.len()).map(|rank| format!("n{rank}")).collect();
    Model { nodes, names, order: order.to_vec() }
}

pub(crate) fn chosen(names: &[&'static str], bits: u16) -> Vec<&'static str> {
    let is_chosen = |index: usize| bits & (1 << index) != 0;
    names.iter().enumerate().filter(|(index, _)| is_chosen(*index)).map(|(_, name)| *name).collect()
}

/// Two topologies that share many nodes.
pub(crate) fn two_topologies() -> impl Strategy<Value = (Model, Model)> {
    vec((node(), node(), prop::bool::weighted(0.4)), 1..8).prop_flat_map(|seeds| {
        let order = Just((0..seeds.len()).collect::<Vec<_>>()).prop_shuffle();
        let from: Vec<_> = seeds.iter().map(|(old, _, _)| old.clone()).collect();
        let to: Vec<_> = seeds
            .into_iter()
            .map(
                |(old, new, differs)| {
                    if differs { (old.0, old.1, old.2, new.3, new.4, new.5) } else { old }
                },
            )
            .collect();
        order.prop_map(move |order| (model(&from, &order), model(&to, &order)))
    })
}
