//! Finds how far a change reaches: which operations get other inputs because a property, an input
//! or an attribute elsewhere changes.

use super::behavior::Behaviors;
use super::model::ChangeReason;
use crate::topology::value_source::{ValueOwner, ValueSource, sources};
use crate::topology::{NodeIndex, Topology};
use crate::tosca::LifecycleOperation;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

/// A place that uses a value.
struct Taker {
    node: NodeIndex,
    /// The path of the place: `property.url`, or an input of an operation.
    path: String,
    /// The property that uses the value, if it is one. Other places may use it in turn.
    property: Option<String>,
    span: Span,
}

/// Finds the nodes that changes reach.
pub(super) struct Reach<'t> {
    topology: &'t Topology,
    takers: FxHashMap<ValueSource, Vec<Taker>>,
    /// The changed values that are not followed yet, each with the element that caused the change.
    open: Vec<(ValueSource, String)>,
}

impl<'t> Reach<'t> {
    pub(super) fn of(behaviors: &Behaviors<'t, '_>) -> Self {
        let topology = behaviors.topology;
        let mut reach = Self { topology, takers: FxHashMap::default(), open: Vec::new() };
        for node in topology.node_ids() {
            for property in &topology.node(node).described.properties {
                reach.takes(node, &property.value.value, || Taker {
                    node,
                    path: format!("property.{}", property.name),
                    property: Some(property.name.clone()),
                    span: property.value.span,
                });
            }
            for operation in LifecycleOperation::STANDARD {
                let call = behaviors.standard(node, operation);
                for input in call.iter().flat_map(|call| &call.inputs) {
                    let (interface, called) = (operation.interface(), operation.as_str());
                    reach.takes(node, &input.value, || Taker {
                        node,
                        path: format!("interfaces.{interface}.{called}.inputs.{}", input.name),
                        property: None,
                        span: input.span,
                    });
                }
            }
        }
        reach
    }

    /// Records all values that a place uses.
    fn takes(&mut self, node: NodeIndex, value: &Value, taker: impl Fn() -> Taker) {
        let takers = &mut self.takers;
        sources(self.topology, value, ValueOwner::Node(node), &mut |source| {
            takers.entry(source).or_default().push(taker());
        });
    }

    /// Notes that a topology input changes.
    pub(super) fn input(&mut self, name: &str) {
        self.open.push((ValueSource::Input(name.to_owned()), format!("input.{name}")));
    }

    /// Notes that a property changes.
    pub(super) fn property(&mut self, node: NodeIndex, name: &str) {
        let because = self.topology.node_identifier(node);
        self.open.push((ValueSource::Property(node, name.to_owned()), because));
    }

    /// Notes that a node is made again, so that its attributes change.
    pub(super) fn anew(&mut self, node: NodeIndex) {
        let because = self.topology.node_identifier(node);
        self.open.push((ValueSource::Attributes(node), because));
    }

    /// The nodes that the changes reach, each with the reason.
    pub(super) fn reached(mut self) -> Vec<(NodeIndex, ChangeReason)> {
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        while let Some((source, because)) = self.open.pop() {
            if !seen.insert(source.clone()) {
                continue;
            }
            for taker in self.takers.get(&source).into_iter().flatten() {
                if let Some(name) = &taker.property {
                    self.open
                        .push((ValueSource::Property(taker.node, name.clone()), because.clone()));
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
