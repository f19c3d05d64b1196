//! Finds which inputs an expression depends on, and whether it depends on presence. Each operation
//! is analysed only once, however often it is evaluated.

use super::evaluate::{Evaluator, MAX_DEPTH};
use crate::variability::inputs::{InputId, InputValue};
use crate::variability::operators::ValueOperator;
use crate::variability::syntax::{Application, ExpressionId, ExpressionOperator, ReadAs, Term};
use cuvee_text::yaml::Node;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// The dependencies of an expression.
#[derive(Clone, Debug, Default)]
pub(super) struct Dependencies {
    /// The inputs, sorted.
    pub inputs: Vec<InputId>,
    /// The inputs that are open.
    pub open: Vec<InputId>,
    /// Whether the expression depends on presence.
    pub presence: bool,
    /// Whether open inputs alone decide the value of an operation, or that it has none. Logical
    /// operators and `equal` can also combine presence; then their operands are evaluated
    /// separately.
    pub by_value: bool,
}

/// The dependencies that were already found.
#[derive(Debug, Default)]
pub(super) struct DependencyMemo {
    /// Operations by their operands. An alias shares the operand with the node that it refers to.
    operations: RefCell<FxHashMap<ExpressionId, Rc<Dependencies>>>,
    named: RefCell<FxHashMap<(usize, ReadAs), Rc<Dependencies>>>,
}

impl<'a> Evaluator<'_, 'a> {
    /// The dependencies of an operation.
    pub(super) fn dependencies_of(&self, operation: Application) -> Rc<Dependencies> {
        self.operation_dependencies(operation, 0)
    }

    /// Whether an expression mentions an input, directly or in a named expression that it uses.
    pub(crate) fn mentions(&self, expression: Node<'a>, input: InputId) -> bool {
        self.depends_on(self.graph.syntax.read(expression), input)
    }

    /// The open inputs that an expression depends on.
    pub(crate) fn open_inputs_of(&self, node: Node<'a>) -> Vec<InputId> {
        self.expression_dependencies(self.graph.syntax.read(node)).open
    }

    /// The open inputs that a value depends on; `None` where it depends on presence.
    pub(crate) fn inputs_of_value(&self, node: Node<'a>) -> Option<Vec<InputId>> {
        let found = self.expression_dependencies(self.graph.syntax.read(node));
        (!found.presence).then_some(found.open)
    }

    /// The open input whose value the expression is, if the expression is nothing else.
    pub(crate) fn input_alone(&self, node: Node<'a>) -> Option<InputId> {
        let expression = self.expression(self.graph.syntax.read(node));
        let Term::Application(Application { operator: ExpressionOperator::Input, operand }) =
            expression.term
        else {
            return None;
        };
        let input = self.input_id(operand).ok()?;
        matches!(self.known.inputs.values.get(input), InputValue::Open).then_some(input)
    }

    /// As [`Evaluator::mentions`].
    pub(super) fn depends_on(&self, id: ExpressionId, input: InputId) -> bool {
        self.expression_dependencies(id).inputs.binary_search(&input).is_ok()
    }

    /// The dependencies of an expression that is not read as a condition.
    fn expression_dependencies(&self, id: ExpressionId) -> Dependencies {
        let mut found = Dependencies::default();
        self.gather(id, ReadAs::Value, 0, &mut found);
        found.sort();
        found
    }

    fn gather(&self, id: ExpressionId, reading: ReadAs, depth: usize, into: &mut Dependencies) {
        match self.expression(id).term {
            // If a condition is wanted, a string is the identifier of an element.
            Term::Scalar(node) => {
                into.presence |= reading == ReadAs::Logic && node.as_str().is_some();
            }
            Term::List(items) => {
                items.iter().for_each(|item| self.gather(item, reading, depth, into))
            }
            Term::Application(operation) => {
                into.add(&self.operation_dependencies(operation, depth));
            }
            Term::Broken(_, parts) => {
                parts.iter().for_each(|part| self.gather(part, ReadAs::Value, depth, into))
            }
        }
    }

    fn operation_dependencies(&self, operation: Application, depth: usize) -> Rc<Dependencies> {
        let Application { operator, operand } = operation;
        if let Some(known) = self.dependencies.operations.borrow().get(&operand) {
            return known.clone();
        }
        let mut found = Dependencies::default();
        match operator {
            ExpressionOperator::Input => found.inputs.extend(self.input_id(operand).ok()),
            ExpressionOperator::Named(reading) => {
                if let Ok(index) = self.expression_index(operand) {
                    found.add(&self.named_dependencies(index, reading, depth));
                }
            }
            ExpressionOperator::Presence(_) => found.presence = true,
            ExpressionOperator::Logical(_) => {
                self.gather(operand, ReadAs::Logic, depth, &mut found)
            }
            ExpressionOperator::Value(_) => self.gather(operand, ReadAs::Value, depth, &mut found),
        }
        let is_open =
            |input: &&InputId| matches!(self.known.inputs.values.get(**input), InputValue::Open);
        found.open.extend(found.inputs.iter().filter(is_open));
        found.sort();
        found.by_value = match operator {
            ExpressionOperator::Logical(_) | ExpressionOperator::Named(ReadAs::Logic) => false,
            ExpressionOperator::Presence(_)
            | ExpressionOperator::Named(ReadAs::Value)
            | ExpressionOperator::Value(ValueOperator::Equal) => !found.presence,
            ExpressionOperator::Input | ExpressionOperator::Value(_) => true,
        };
        let found = Rc::new(found);
        self.dependencies.operations.borrow_mut().insert(operand, found.clone());
        found
    }

    fn named_dependencies(&self, index: usize, reading: ReadAs, depth: usize) -> Rc<Dependencies> {
        if let Some(known) = self.dependencies.named.borrow().get(&(index, reading)) {
            return known.clone();
        }
        let mut found = Dependencies::default();
        // An expression that needs more levels has no value, whatever the inputs are.
        if depth < MAX_DEPTH {
            self.gather(self.graph.syntax.named(index), reading, depth + 1, &mut found);
            found.sort();
        }
        let found = Rc::new(found);
        self.dependencies.named.borrow_mut().insert((index, reading), found.clone());
        found
    }
}

impl Dependencies {
    fn add(&mut self, other: &Self) {
        self.inputs.extend(&other.inputs);
        self.open.extend(&other.open);
        self.presence |= other.presence;
    }

    fn sort(&mut self) {
        for inputs in [&mut self.inputs, &mut self.open] {
            inputs.sort_unstable();
            inputs.dedup();
        }
    }
}
