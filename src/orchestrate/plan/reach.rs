//! How far a change reaches: which operations are told something else because a property, an input
//! or an attribute elsewhere is another one.

use super::behavior::Behaviors;
use super::model::ChangeReason;
use crate::text::source::Span;
use crate::text::value::Value;
use crate::topology::{NodeIndex, Topology};
use crate::tosca::LifecycleOperation;
use rustc_hash::{FxHashMap, FxHashSet};

/// What a value takes from.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Source {
    Input(String),
    Property(NodeIndex, String),
    /// Any attribute of a node.
    Attributes(NodeIndex),
}

/// What takes from something.
#[derive(Clone)]
struct Taker {
    node: NodeIndex,
    /// `property.url`, or the input of an operation.
    path: String,
    /// The property that takes, so that others may take from it.
    property: Option<String>,
    span: Span,
}

/// Finds what a change reaches.
pub(super) struct Reach<'t> {
    topology: &'t Topology,
    takers: FxHashMap<Source, Vec<Taker>>,
    /// What has changed, and because of which element.
    open: Vec<(Source, String)>,
}

impl<'t> Reach<'t> {
    pub(super) fn of(behaviors: &Behaviors<'t, '_>) -> Self {
        let topology = behaviors.topology;
        let mut reach = Self { topology, takers: FxHashMap::default(), open: Vec::new() };
        for node in topology.node_ids() {
            for property in &topology.node(node).described.properties {
                let taker = Taker {
                    node,
                    path: format!("property.{}", property.name),
                    property: Some(property.name.clone()),
                    span: property.value.span,
                };
                reach.takes(&property.value.value, &taker);
            }
            for operation in LifecycleOperation::STANDARD {
                let call = behaviors.standard(node, operation);
                for input in call.into_iter().flat_map(|call| call.inputs) {
                    let path = format!(
                        "interfaces.{}.{}.inputs.{}",
                        operation.interface(),
                        operation.as_str(),
                        input.name
                    );
                    let taker = Taker { node, path, property: None, span: input.span };
                    reach.takes(&input.value, &taker);
                }
            }
        }
        reach
    }

    /// Notes what a value takes from.
    fn takes(&mut self, value: &Value, taker: &Taker) {
        match value {
            Value::List(items) => items.iter().for_each(|item| self.takes(item, taker)),
            Value::Map(entries) => {
                if let [(name, arguments)] = &**entries {
                    for source in self.sources(name, arguments, taker.node) {
                        self.takers.entry(source).or_default().push(taker.clone());
                    }
                }
                entries.iter().for_each(|(_, value)| self.takes(value, taker));
            }
            _ => {}
        }
    }

    fn sources(&self, function: &str, arguments: &Value, node: NodeIndex) -> Vec<Source> {
        let texts: Vec<&str> = match arguments {
            Value::String(text) => vec![text],
            Value::List(items) => items.iter().filter_map(Value::as_str).collect(),
            _ => return Vec::new(),
        };
        match (function, &*texts) {
            ("get_input", [name, ..]) => vec![Source::Input((*name).to_owned())],
            ("get_property", [entity, rest @ ..]) => {
                let nodes = self.nodes(entity, node);
                let of = |node: NodeIndex| {
                    // Behind a requirement or a capability the name of the property comes next.
                    let own =
                        rest.iter().map(move |name| Source::Property(node, (*name).to_owned()));
                    let relation = rest.first().and_then(|name| self.target(node, name));
                    let behind = relation.zip(rest.get(1));
                    own.chain(behind.map(|(node, name)| Source::Property(node, (*name).to_owned())))
                        .collect::<Vec<_>>()
                };
                nodes.into_iter().flat_map(of).collect()
            }
            ("get_attribute", [entity, rest @ ..]) => {
                let nodes = self.nodes(entity, node);
                let of = |node: NodeIndex| {
                    let relation = rest.first().and_then(|name| self.target(node, name));
                    std::iter::once(node)
                        .chain(relation)
                        .map(Source::Attributes)
                        .collect::<Vec<_>>()
                };
                nodes.into_iter().flat_map(of).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The nodes that the first argument of a function may stand for.
    fn nodes(&self, entity: &str, node: NodeIndex) -> Vec<NodeIndex> {
        match entity {
            "SELF" | "SOURCE" => vec![node],
            "HOST" => {
                let chain = std::iter::successors(self.topology.hosted_on(node), |&host| {
                    self.topology.hosted_on(host)
                });
                chain.take(self.topology.nodes.len()).collect()
            }
            name => self.topology.node_named(name).into_iter().collect(),
        }
    }

    /// The target of the first relation of this name.
    fn target(&self, node: NodeIndex, name: &str) -> Option<NodeIndex> {
        let relations = self.topology.node(node).relations.iter();
        let mut relations = relations.map(|&id| self.topology.relation(id));
        relations.find(|relation| relation.name == name)?.target
    }

    /// A topology input is another one.
    pub(super) fn input(&mut self, name: &str) {
        self.open.push((Source::Input(name.to_owned()), format!("input.{name}")));
    }

    /// A property is another one.
    pub(super) fn property(&mut self, node: NodeIndex, name: &str) {
        let because = self.topology.node_identifier(node);
        self.open.push((Source::Property(node, name.to_owned()), because));
    }

    /// A node comes anew: its attributes are others.
    pub(super) fn anew(&mut self, node: NodeIndex) {
        let because = self.topology.node_identifier(node);
        self.open.push((Source::Attributes(node), because));
    }

    /// The nodes that all of that reaches, each with why.
    pub(super) fn reached(mut self) -> Vec<(NodeIndex, ChangeReason)> {
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        while let Some((source, because)) = self.open.pop() {
            if !seen.insert(source.clone()) {
                continue;
            }
            for taker in self.takers.get(&source).into_iter().flatten() {
                if let Some(name) = &taker.property {
                    self.open.push((Source::Property(taker.node, name.clone()), because.clone()));
                }
                let own = self.topology.node_identifier(taker.node) == because;
                let reason = ChangeReason {
                    path: taker.path.clone(),
                    span: Some(taker.span),
                    because: (!own).then(|| because.clone()),
                    ..ChangeReason::default()
                };
                found.push((taker.node, reason));
            }
        }
        found.sort_by_key(|(node, reason)| (*node, reason.path.clone()));
        found
    }
}
