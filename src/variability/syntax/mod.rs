//! Represents the syntax of expressions: every expression is read once into one tree, and
//! everything that validates, evaluates, splits or exports expressions walks that tree.
//!
//! Reading never fails. An invalid expression becomes a [`Term::Broken`], with its problem in a
//! separate list and with all parts that could be read, so that walks need no special handling of
//! errors. Operators are resolved from their keywords here and nowhere else. Names of inputs,
//! expressions and elements stay unresolved, because their meaning depends on who uses them.

mod operator;
mod parse;
mod presence;

pub(crate) use operator::{Connective, ExpressionOperator, ReadAs};
pub(crate) use presence::{Of, PresenceOperator};

use crate::diagnostic::Diagnostic;
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, write_flow};
use parse::ExpressionTree;
use std::cell::RefCell;

/// The id of an expression: a position in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ExpressionId(u32);

impl ExpressionId {
    /// The position as an index.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// A range of this expression alone.
    pub(crate) fn only(self) -> ExpressionRange {
        ExpressionRange { first: self.0, count: 1 }
    }
}

/// Consecutive expressions.
///
/// The parts of an expression are adjacent in the tree. They are thus a range of positions, and
/// iterating over them borrows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExpressionRange {
    first: u32,
    count: u32,
}

impl ExpressionRange {
    /// The first expression of a range that is not empty.
    fn first(self) -> ExpressionId {
        ExpressionId(self.first)
    }

    /// The ids in order.
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = ExpressionId> + Clone + use<> {
        (self.first..self.first + self.count).map(ExpressionId)
    }
}

/// An expression with its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expression<'a> {
    /// The content of the expression.
    pub term: Term<'a>,
    node: Node<'a>,
}

/// The content of an expression.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Term<'a> {
    /// A scalar: a value; in a condition, the identifier of an element; after some operators, a
    /// name.
    Scalar(Node<'a>),
    /// A list of expressions.
    List(ExpressionRange),
    /// An operator and its operand, which is mostly a list.
    Application(Application),
    /// An invalid expression, and its parts that could be read.
    Broken(ProblemId, ExpressionRange),
}

/// An operator and its operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Application {
    /// The operator.
    pub operator: ExpressionOperator,
    /// The operand.
    pub operand: ExpressionId,
}

/// The id of a problem: a position in the list of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProblemId(u32);

impl ProblemId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl<'a> Expression<'a> {
    /// The node that the expression was read from.
    pub(crate) fn node(&self) -> Node<'a> {
        self.node
    }

    /// The place of the expression; for an alias, the place of the node that it refers to.
    pub(crate) fn span(&self) -> Span {
        self.node.span()
    }

    /// The scalar, if the expression is one.
    pub(crate) fn scalar(&self) -> Option<Node<'a>> {
        if let Term::Scalar(node) = self.term { Some(node) } else { None }
    }

    /// The text of a scalar; `None` for other expressions.
    pub(crate) fn text(&self) -> Option<&'a str> {
        self.scalar()?.text()
    }

    /// The operator and its operand, if the expression is an application.
    pub(crate) fn application(&self) -> Option<Application> {
        if let Term::Application(operation) = self.term { Some(operation) } else { None }
    }

    /// The keyword of an application; the node of any other expression.
    pub(crate) fn keyword(&self) -> Node<'a> {
        self.node.entries().next().map_or(self.node, |(keyword, _)| keyword)
    }

    /// The items of a list; `None` for other expressions.
    pub(crate) fn items(&self) -> Option<ExpressionRange> {
        if let Term::List(items) = self.term { Some(items) } else { None }
    }

    /// The kind of the expression for messages: `a map`, `a string`, `a number`, ...
    pub(crate) fn describe(&self) -> &'static str {
        match self.term {
            Term::Scalar(node) => node.describe(),
            Term::List(_) => "a list",
            Term::Application(_) | Term::Broken(..) => "a map",
        }
    }
}

/// The expressions of a template, each of which is read when it is first needed.
///
/// Conditions of elements are read with their elements, which store their ids. Most other
/// expressions are needed as well, but not in every run: to decide whether an import is wanted
/// takes only the conditions of the import and what they name. So these are not read in advance.
/// Named expressions are identified by their position, the few others by their node.
#[derive(Debug)]
pub(crate) struct Syntax<'a> {
    tree: RefCell<ExpressionTree<'a>>,
    /// The named expressions, and the ids of those that were read.
    named: &'a [(Node<'a>, Node<'a>)],
    named_ids: RefCell<Vec<Option<ExpressionId>>>,
}

impl<'a> Syntax<'a> {
    /// Creates the syntax of a template, which may be one of TOSCA 2.0, with these named expressions.
    pub(crate) fn new(named: &'a [(Node<'a>, Node<'a>)], is_of_2_0: bool) -> Self {
        let named_ids = RefCell::new(vec![None; named.len()]);
        Self { tree: ExpressionTree::new(is_of_2_0).into(), named, named_ids }
    }

    /// Reads the expression, or the list of expressions, at a node once.
    pub(crate) fn read(&self, node: Node<'a>) -> ExpressionId {
        self.tree.borrow_mut().read(node)
    }

    /// Reads the expression, or the list of expressions, at a node for a caller that stores its id.
    pub(crate) fn add(&self, node: Node<'a>) -> ExpressionId {
        self.tree.borrow_mut().add(node)
    }

    /// The named expression at a position.
    pub(crate) fn named(&self, index: usize) -> ExpressionId {
        let mut ids = self.named_ids.borrow_mut();
        *ids[index].get_or_insert_with(|| self.add(self.named[index].1))
    }

    /// The expression of an id.
    pub(crate) fn get(&self, id: ExpressionId) -> Expression<'a> {
        self.tree.borrow().get(id)
    }

    /// The items of a list; any other expression as the only item.
    pub(crate) fn each(&self, id: ExpressionId) -> ExpressionRange {
        self.get(id).items().unwrap_or(id.only())
    }

    /// The items of a list; for other expressions, none.
    pub(crate) fn items(&self, id: ExpressionId) -> ExpressionRange {
        self.get(id).items().unwrap_or(ExpressionRange { first: id.0, count: 0 })
    }

    /// The problem of an invalid expression.
    pub(crate) fn problem(&self, id: ProblemId) -> Diagnostic {
        self.tree.borrow().problem(id).clone()
    }

    /// Calls `found` with every operation in an expression that names an input or an expression,
    /// and with the operand that names it.
    pub(crate) fn each_reference(
        &self,
        id: ExpressionId,
        found: &mut impl FnMut(ExpressionOperator, ExpressionId),
    ) {
        let parts = match self.get(id).term {
            Term::Scalar(_) => return,
            Term::Application(Application { operator, operand }) if operator.is_reference() => {
                return found(operator, operand);
            }
            Term::Application(Application { operand, .. }) => operand.only(),
            Term::List(parts) | Term::Broken(_, parts) => parts,
        };
        parts.iter().for_each(|part| self.each_reference(part, found));
    }

    /// An expression as text. Expressions with the same text are equal, wherever they occur.
    pub(crate) fn canonical(&self, id: ExpressionId) -> String {
        let mut text = String::new();
        self.write_canonical(id, &mut text);
        text
    }

    fn write_canonical(&self, id: ExpressionId, into: &mut String) {
        let parts = match self.get(id).term {
            Term::Scalar(node) => {
                // A text that begins like an operator is none.
                into.push('=');
                return into.push_str(&write_flow(&node.to_value()));
            }
            Term::Application(Application { operator, operand }) => {
                into.push_str(operator.keyword());
                into.push(' ');
                return self.write_canonical(operand, into);
            }
            Term::List(parts) => parts,
            Term::Broken(ProblemId(problem), parts) => {
                into.push_str(&format!("!{problem} "));
                parts
            }
        };
        into.push('[');
        for part in parts.iter() {
            self.write_canonical(part, into);
            into.push(',');
        }
        into.push(']');
    }
}

#[cfg(test)]
mod tests;
