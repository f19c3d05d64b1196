//! Evaluates expressions as far as inputs and indices say what they are.

use crate::tosca::function::function_in;
use crate::tosca::v2_0::function::{FunctionOutcome, PlainText, evaluate};
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Limits, Node, NodeKind, Out, OutNode, parse, write_yaml};
use rustc_hash::FxHashMap;

/// The values of topology inputs that are known before deployment.
pub(super) struct KnownInputs {
    values: FxHashMap<String, Value>,
}

/// The indices that functions mean where an expression stands.
#[derive(Clone, Copy, Default)]
pub(super) struct Indices {
    /// The index of the node among those of its template.
    pub node: Option<u64>,
    /// The index of the relationship among those of its requirement.
    pub relationship: Option<u64>,
    /// Whether the expression is one of a workflow, whose inputs are not those of the topology.
    pub is_in_workflow: bool,
}

impl KnownInputs {
    /// The given values, and the defaults of the other inputs of this document.
    pub(super) fn of(inputs: Option<OutNode<'_, '_>>, given: &FxHashMap<String, Value>) -> Self {
        let mut values = given.clone();
        for input in inputs.map(OutNode::entries).unwrap_or_default() {
            let default = || ["value", "default"].iter().find_map(|it| input.value.get(it));
            if !values.contains_key(&*input.name)
                && let Some(value) = default().map(OutNode::to_value)
                && function_in(&value).is_none()
            {
                values.insert(input.name.into_owned(), value);
            }
        }
        Self { values }
    }

    /// The value of an expression; `None` if it is not known before deployment.
    pub(super) fn value(&self, expression: &Out<'_>, at: Indices) -> FunctionOutcome {
        if let Some(node) = OutNode::root(expression).source() {
            return self.evaluated(node, at);
        }
        let text = write_yaml(expression);
        match parse(FileId::DETACHED, text.into(), &Limits::default()) {
            Ok(document) => self.evaluated(document.root(), at),
            Err(_) => Ok(None),
        }
    }

    fn evaluated(&self, node: Node<'_>, at: Indices) -> FunctionOutcome {
        let query = |name: &str, arguments: Option<Node<'_>>| {
            Some((self.asked(name, arguments, at)?, None::<PlainText>))
        };
        evaluate(node, &query, &PlainText)
    }

    fn asked(&self, function: &str, arguments: Option<Node<'_>>, at: Indices) -> Option<Value> {
        let number = |index: u64| i64::try_from(index).ok().map(Value::from);
        match function {
            "node_index" => number(at.node?),
            "relationship_index" => number(at.relationship?),
            "get_input" => {
                let arguments = arguments?;
                let single = (arguments.kind() == NodeKind::Scalar).then_some(arguments);
                let mut path = single.into_iter().chain(arguments.items());
                let mut value = self.values.get(path.next()?.text()?)?.clone();
                for step in path {
                    value = part(&value, &self.evaluated(step, at).ok()??)?;
                }
                Some(value)
            }
            _ => None,
        }
    }
}

/// The entry of a list or a map.
fn part(value: &Value, step: &Value) -> Option<Value> {
    match (value, step) {
        (Value::List(items), Value::Number(index)) => {
            items.get(usize::try_from(index.as_int()?).ok()?).cloned()
        }
        (Value::Map(entries), step) => {
            let key = step.to_string();
            let (_, entry) = entries.iter().find(|(name, _)| **name == *key)?;
            Some(entry.clone())
        }
        _ => None,
    }
}
