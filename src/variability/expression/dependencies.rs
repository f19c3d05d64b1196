//! Which inputs an expression depends on, and whether presence comes in. Each operator is looked at
//! once, however often it is evaluated.

use super::evaluate::{Evaluator, MAX_DEPTH};
use super::presence;
use super::validate::is_logical;
use crate::text::source::Span;
use crate::text::yaml::{Node, NodeKind};
use crate::variability::inputs::{InputId, InputValue};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// What an expression depends on.
#[derive(Clone, Debug, Default)]
pub(super) struct Dependencies {
    /// The inputs, in order.
    pub inputs: Vec<InputId>,
    /// Those of them that are open.
    pub open: Vec<InputId>,
    /// Whether it depends on what is present.
    pub presence: bool,
    /// Whether open inputs alone decide its value, or that it has none: logical operators and
    /// `equal` also combine what is present, and keep their operands.
    pub by_value: bool,
}

/// Dependencies by operator: by the places of its keyword and of its operand, which an alias shares
/// with what it stands for.
#[derive(Debug, Default)]
pub(super) struct Memo {
    operators: RefCell<FxHashMap<(Span, Span), Rc<Dependencies>>>,
    named: RefCell<FxHashMap<(usize, bool), Rc<Dependencies>>>,
}

impl<'a> Evaluator<'_, 'a> {
    /// What an operator with its operand depends on.
    pub(super) fn dependencies_of(&self, keyword: Node<'a>, operand: Node<'a>) -> Rc<Dependencies> {
        self.operator_dependencies(keyword, operand, 0)
    }

    /// Whether an expression, or one that it names, mentions an input.
    pub fn mentions(&self, expression: Node<'a>, input: InputId) -> bool {
        self.expression_dependencies(expression).inputs.binary_search(&input).is_ok()
    }

    /// The open inputs that an expression depends on.
    pub fn open_inputs_of(&self, node: Node<'a>) -> Vec<InputId> {
        self.expression_dependencies(node).open
    }

    /// What an expression that is no condition depends on.
    pub(super) fn expression_dependencies(&self, node: Node<'a>) -> Dependencies {
        let mut found = Dependencies::default();
        self.gather(node, false, 0, &mut found);
        found.sort();
        found
    }

    fn gather(&self, node: Node<'a>, logical: bool, depth: usize, into: &mut Dependencies) {
        match node.kind() {
            // Where a condition is asked for, a string is the identifier of an element.
            NodeKind::Scalar => into.presence |= logical && node.as_str().is_some(),
            NodeKind::Sequence => {
                node.items().for_each(|item| self.gather(item, logical, depth, into))
            }
            NodeKind::Mapping => {
                for (keyword, operand) in node.entries() {
                    into.add(&self.operator_dependencies(keyword, operand, depth));
                }
            }
        }
    }

    fn operator_dependencies(
        &self,
        keyword: Node<'a>,
        operand: Node<'a>,
        depth: usize,
    ) -> Rc<Dependencies> {
        let key = (keyword.span(), operand.span());
        if let Some(known) = self.dependencies.operators.borrow().get(&key) {
            return known.clone();
        }
        let name = keyword.text().unwrap_or_default();
        let mut found = Dependencies::default();
        match name {
            "variability_input" => found.inputs.extend(self.input_id(operand).ok()),
            "logic_expression" | "value_expression" => {
                if let Ok(index) = self.expression_index(operand) {
                    found.add(&self.named_dependencies(index, name == "logic_expression", depth));
                }
            }
            _ if presence::is_operator(name) => found.presence = true,
            _ => self.gather(operand, is_logical(name), depth, &mut found),
        }
        found.open.extend(
            found
                .inputs
                .iter()
                .filter(|&&input| matches!(self.inputs.values.get(input), InputValue::Open)),
        );
        found.sort();
        let keeps_operands = is_logical(name) || name == "logic_expression";
        let combines = matches!(name, "equal" | "value_expression") || presence::is_operator(name);
        found.by_value = !(keeps_operands || combines && found.presence);
        let found = Rc::new(found);
        self.dependencies.operators.borrow_mut().insert(key, found.clone());
        found
    }

    fn named_dependencies(&self, index: usize, logical: bool, depth: usize) -> Rc<Dependencies> {
        if let Some(known) = self.dependencies.named.borrow().get(&(index, logical)) {
            return known.clone();
        }
        let mut found = Dependencies::default();
        // What needs more levels than that has no value whatever the inputs.
        if depth < MAX_DEPTH {
            self.gather(
                self.graph.template.variability.expressions[index].1,
                logical,
                depth + 1,
                &mut found,
            );
            found.sort();
        }
        let found = Rc::new(found);
        self.dependencies.named.borrow_mut().insert((index, logical), found.clone());
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
