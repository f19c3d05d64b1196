//! Finds how far a change reaches: which operations get other inputs because a property, an input
//! or an attribute elsewhere changes.

use super::behavior::{Behaviors, OF_RELATIONS};
use super::difference::configured_with;
use super::model::{ChangeReason, PlanCall};
use crate::topology::value_source::{ValueOwner, ValueSource, sources};
use crate::topology::{NodeIndex, RelationIndex, Topology};
use crate::tosca::LifecycleOperation;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

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
    takers: FxHashMap<ValueSource, Vec<Rc<Taker>>>,
    /// The changed values that are not followed yet, each with the element that caused the change.
    open: Vec<(ValueSource, String)>,
}

impl<'t> Reach<'t> {
    pub(super) fn of(behaviors: &Behaviors<'t, '_>) -> Self {
        let topology = behaviors.topology;
        let mut reach = Self { topology, takers: FxHashMap::default(), open: Vec::new() };
        for node in topology.node_ids() {
            reach.values(behaviors, node);
            reach.operations(behaviors, node);
        }
        for relation in topology.relation_ids() {
            reach.relation(behaviors, relation);
        }
        reach
    }

    /// Records what the properties of a node and of its capabilities are computed from.
    fn values(&mut self, behaviors: &Behaviors<'_, '_>, node: NodeIndex) {
        let owner = ValueOwner::Node(node);
        let properties = behaviors.properties(node);
        for name in properties.names(false) {
            let Some((value, span)) = behaviors.value_of(&properties, name) else { continue };
            let (path, property) = (format!("property.{name}"), Some(name.to_owned()));
            self.takes(owner, &value, || Taker { node, path, property, span });
        }
        for capability in behaviors.capabilities(node) {
            let properties = behaviors.capability(node, capability);
            for name in properties.names(false) {
                let Some((value, span)) = behaviors.value_of(&properties, name) else { continue };
                // Functions name the capability first.
                let path = format!("capability.{capability}.property.{name}");
                let property = Some(capability.to_owned());
                self.takes(owner, &value, || Taker { node, path, property, span });
            }
        }
    }

    fn operations(&mut self, behaviors: &Behaviors<'_, '_>, node: NodeIndex) {
        let owner = ValueOwner::Node(node);
        for operation in LifecycleOperation::STANDARD {
            let called = format!("interfaces.{}.{}", operation.interface(), operation.as_str());
            let call = behaviors.standard(node, operation);
            call.iter().for_each(|call| self.call(owner, node, &called, call));
        }
        for (interface, operation) in behaviors.other_operations(node) {
            let called = format!("interfaces.{interface}.{operation}");
            let call = behaviors.operation(node, &interface, &operation);
            call.iter().for_each(|call| self.call(owner, node, &called, call));
        }
    }

    /// Records what those operations of a relation are told that run while one of its ends is
    /// configured.
    fn relation(&mut self, behaviors: &Behaviors<'_, '_>, id: RelationIndex) {
        let relation = self.topology.relation(id);
        for operation in OF_RELATIONS {
            let end = configured_with(operation, relation.source, relation.target);
            let Some((node, call)) = end.zip(behaviors.relation(id, operation)) else { continue };
            let called = operation.as_str();
            let called =
                format!("requirement.{}.relationship.interfaces.Configure.{called}", relation.name);
            self.call(ValueOwner::Relation(id), node, &called, &call);
        }
    }

    fn call(&mut self, owner: ValueOwner, node: NodeIndex, called: &str, call: &PlanCall) {
        for input in &call.inputs {
            self.takes(owner, &input.value, || Taker {
                node,
                path: format!("{called}.{}", input.path()),
                property: None,
                span: input.span,
            });
        }
    }

    /// Records all values that a place uses.
    fn takes(&mut self, owner: ValueOwner, value: &Value, taker: impl FnOnce() -> Taker) {
        if !matches!(value, Value::List(_) | Value::Map(_)) {
            return;
        }
        let mut found = Vec::new();
        sources(self.topology, value, owner, &mut |source| found.push(source));
        if found.is_empty() {
            return;
        }
        let taker = Rc::new(taker());
        for source in found {
            self.takers.entry(source).or_default().push(Rc::clone(&taker));
        }
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
