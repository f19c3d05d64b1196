//! The syntax of expressions: every expression is read once, into one tree, and everything that
//! judges, computes, splits or exports expressions walks that tree.
//!
//! ReadAs never fails. What is no expression is a [`Term::Broken`] with the problem beside it and
//! whatever could be read inside of it, so that a walk needs no second way for bad input. Operators
//! are resolved from their keywords here and nowhere else; names of inputs, expressions and
//! elements stay as they were read, because what they mean depends on who asks.

mod operator;
mod parse;
mod presence;

pub(crate) use operator::{Connective, ExpressionOperator, ReadAs};
pub(crate) use presence::{Of, PresenceOperator};

use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;
use crate::text::yaml::Node;
use parse::ExpressionTree;
use std::cell::RefCell;

/// An expression: a position in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ExpressionId(u32);

impl ExpressionId {
    /// The position as an index.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// This one alone.
    pub(crate) fn only(self) -> ExpressionRange {
        ExpressionRange { first: self.0, count: 1 }
    }
}

/// Expressions one behind the other.
///
/// The parts of an expression lie side by side, so that this is a range of positions, and going
/// through them borrows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExpressionRange {
    first: u32,
    count: u32,
}

impl ExpressionRange {
    /// The first, of at least one.
    fn first(self) -> ExpressionId {
        ExpressionId(self.first)
    }

    /// The ids in order.
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = ExpressionId> + Clone + use<> {
        (self.first..self.first + self.count).map(ExpressionId)
    }
}

/// An expression: what it is, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expression<'a> {
    /// What it is.
    pub term: Term<'a>,
    node: Node<'a>,
}

/// What an expression is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Term<'a> {
    /// A scalar: a value; where a condition is asked for, the identifier of an element; behind some
    /// operators, a name.
    Scalar(Node<'a>),
    /// A list of expressions.
    List(ExpressionRange),
    /// An operator and its operand, which is mostly a list.
    Application(Application),
    /// What is no expression, and what could be read inside of it.
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

/// A problem: a position in the list beside the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProblemId(u32);

impl ProblemId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl<'a> Expression<'a> {
    /// What it was read from.
    pub(crate) fn node(&self) -> Node<'a> {
        self.node
    }

    /// Where it stands; for an alias, where what it stands for does.
    pub(crate) fn span(&self) -> Span {
        self.node.span()
    }

    /// The scalar, if it is one.
    pub(crate) fn scalar(&self) -> Option<Node<'a>> {
        if let Term::Scalar(node) = self.term { Some(node) } else { None }
    }

    /// The text of a scalar; nothing for anything else.
    pub(crate) fn text(&self) -> Option<&'a str> {
        self.scalar()?.text()
    }

    /// The operator and its operand, if it is one that is applied.
    pub(crate) fn application(&self) -> Option<Application> {
        if let Term::Application(operation) = self.term { Some(operation) } else { None }
    }

    /// The keyword of an operator; of anything else its node.
    pub(crate) fn keyword(&self) -> Node<'a> {
        self.node.entries().next().map_or(self.node, |(keyword, _)| keyword)
    }

    /// The items of a list; nothing for anything else.
    pub(crate) fn items(&self) -> Option<ExpressionRange> {
        if let Term::List(items) = self.term { Some(items) } else { None }
    }

    /// What this is, for messages: `a map`, `a string`, `a number`, ...
    pub(crate) fn describe(&self) -> &'static str {
        match self.term {
            Term::Scalar(node) => node.describe(),
            Term::List(_) => "a list",
            Term::Application(_) | Term::Broken(..) => "a map",
        }
    }
}

/// The expressions of a template, each read when somebody asks for it first.
///
/// Conditions of elements are read with their elements, which keep their ids. Of others most are
/// asked for, but not all of them by everybody: whether an import is wanted takes its conditions
/// and what they name. So these are not read ahead: named expressions are known by their position,
/// what there is little of by its node.
#[derive(Debug)]
pub(crate) struct Syntax<'a> {
    tree: RefCell<ExpressionTree<'a>>,
    /// The named expressions, and those of them that were read.
    named: &'a [(Node<'a>, Node<'a>)],
    named_ids: RefCell<Vec<Option<ExpressionId>>>,
}

impl<'a> Syntax<'a> {
    /// For the expressions of a template that names these.
    pub(crate) fn new(named: &'a [(Node<'a>, Node<'a>)]) -> Self {
        let named_ids = RefCell::new(vec![None; named.len()]);
        Self { tree: RefCell::default(), named, named_ids }
    }

    /// The expression that stands here, or the list of them; it is read once.
    pub(crate) fn read(&self, node: Node<'a>) -> ExpressionId {
        self.tree.borrow_mut().read(node)
    }

    /// The expression that stands here, or the list of them, for who keeps its id.
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

    /// The items of a list, and anything else as the only one.
    pub(crate) fn each(&self, id: ExpressionId) -> ExpressionRange {
        self.get(id).items().unwrap_or(id.only())
    }

    /// The items of a list; none of anything else.
    pub(crate) fn items(&self, id: ExpressionId) -> ExpressionRange {
        self.get(id).items().unwrap_or(ExpressionRange { first: id.0, count: 0 })
    }

    /// What is wrong with an expression.
    pub(crate) fn problem(&self, id: ProblemId) -> Diagnostic {
        self.tree.borrow().problem(id).clone()
    }

    /// Calls back with every operation in an expression that names an input or an expression: what
    /// it names, and where.
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

    /// An expression as text; expressions with the same text are the same, wherever they stand.
    pub(crate) fn canonical(&self, id: ExpressionId) -> String {
        let mut text = String::new();
        self.write_canonical(id, &mut text);
        text
    }

    fn write_canonical(&self, id: ExpressionId, into: &mut String) {
        let parts = match self.get(id).term {
            Term::Scalar(node) => return into.push_str(&format!("{:?}", node.to_value())),
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
