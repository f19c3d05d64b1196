//! Makes a workflow that calls one operation of many nodes.

use super::behavior::Behaviors;
use crate::topology::{
    ActivityKind, NamedElement, NodeIndex, Spanned, TopologyActivity, TopologyElement,
    TopologyStep, TopologyWorkflow,
};
use cuvee_text::source::Span;
use cuvee_text::value::Value;

impl Behaviors<'_, '_> {
    /// A workflow that calls an operation, of any interface, of each of these nodes that
    /// implements it. Each call is a step of its own, and no step waits for another.
    pub(super) fn calling(
        &self,
        operation: &str,
        is_meant: &dyn Fn(&str) -> bool,
    ) -> TopologyWorkflow {
        let topology = self.topology;
        let implements = |&node: &NodeIndex| {
            is_meant(&topology.node(node).name)
                && self.called(node, operation).is_some_and(|call| call.primary.is_some())
        };
        let steps = topology.node_ids().filter(implements).map(|id| self.step(id, operation));
        TopologyWorkflow {
            name: operation.to_owned(),
            span: Span::DETACHED,
            description: None,
            metadata: Vec::new(),
            inputs: Vec::new(),
            preconditions: Vec::new(),
            steps: steps.collect(),
            implementation: None,
            outputs: Vec::new(),
        }
    }

    fn step(&self, id: NodeIndex, operation: &str) -> TopologyStep {
        let node = self.topology.node(id);
        let span = node.span;
        TopologyStep {
            name: node.name.clone(),
            span,
            target: Some(NamedElement {
                name: Spanned { value: Value::from(&*node.name), span },
                element: Some(TopologyElement::Node(id)),
            }),
            relationship: None,
            operation_host: None,
            filter: None,
            activities: vec![TopologyActivity {
                kind: ActivityKind::CallOperation,
                name: Spanned { value: operation.to_owned(), span },
                inputs: Vec::new(),
            }],
            on_success: Vec::new(),
            on_failure: Vec::new(),
        }
    }
}
