//! Evaluates expressions to values or formulas.
//!
//! The result is a value if inputs decide it, and a formula over elements if it depends on
//! presence. If inputs are open, a value may differ from case to case. The expression is then
//! evaluated once for each combination of the cases that it depends on, and the result has a
//! formula over cases for each different value.

mod amounts;
mod atoms;
mod input;
mod logic;
mod named;
mod open;

pub(super) use open::{EvaluationFailure, ValueCase};

use super::dependencies::DependencyMemo;
use crate::diagnostic::{Advice, Code, Diagnostic};
use crate::tosca::types::TypeHierarchy;
use crate::tosca::v2_0;
use crate::variability::clock::Clock;
use crate::variability::graph::index::NameIndex;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::inputs::{Declarations, Inputs};
use crate::variability::operators::{MAX_LIST_BYTES, ValueOperator};
use crate::variability::presence::Presence;
use crate::variability::syntax::{
    Application, Expression, ExpressionId, ExpressionOperator, ExpressionRange, ReadAs, Term,
};
use atoms::ManualAtoms;
use cuvee_sat::formula::{Arena, Formula};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use named::{Nesting, Results};
use open::OpenCases;
use std::cell::Cell;
use std::rc::Rc;

pub(super) use named::MAX_DEPTH;

/// The result of an expression.
#[derive(Clone, Debug)]
pub(super) enum Evaluation {
    /// A value.
    Value(Value),
    /// One of several values, depending on open inputs.
    Cases(Rc<[ValueCase]>),
    /// A boolean that depends on presence.
    Logic(Formula),
}

/// Evaluates the expressions of one template under one assignment of inputs.
pub(crate) struct Evaluator<'e, 'a> {
    /// The elements, and the expressions that were parsed.
    pub graph: &'e Graph<'a>,
    /// The formulas.
    pub arena: Arena,
    pub(super) known: Known<'e, 'a>,
    /// The names of named expressions.
    names: NameIndex<'a>,
    atoms: ManualAtoms,
    opened: OpenCases,
    /// The results of named expressions and defaults.
    results: Results,
    nesting: Nesting,
    /// The dependencies of expressions.
    pub(super) dependencies: DependencyMemo,
    /// The cases of open inputs in which a condition that matters has no value.
    failures: Vec<EvaluationFailure>,
    overflowed: Cell<bool>,
}

/// The data that evaluation reads, beside the elements.
pub(super) struct Known<'e, 'a> {
    pub types: &'e TypeHierarchy<'a>,
    pub inputs: &'e Inputs<'a>,
    pub now: Option<&'e Clock>,
    /// The presence of elements, once it is solved.
    pub presence: Option<&'e Presence>,
}

impl<'e, 'a> Evaluator<'e, 'a> {
    /// An evaluator for a graph and its inputs. Without a clock, expressions that ask for the time
    /// are errors.
    pub(crate) fn new(
        graph: &'e Graph<'a>,
        types: &'e TypeHierarchy<'a>,
        inputs: &'e Inputs<'a>,
        now: Option<&'e Clock>,
    ) -> Self {
        let expressions = &graph.template.variability.expressions;
        let names = expressions.iter().map(|(key, _)| key.text().unwrap_or_default());
        Self {
            graph,
            arena: Arena::with_room(graph.elements.len()),
            known: Known { types, inputs, now, presence: None },
            // The names are keys of a map, so they are unique.
            names: NameIndex::of(names, true),
            atoms: ManualAtoms::new(graph.elements.len()),
            opened: OpenCases::default(),
            results: Results::new(expressions.len()),
            nesting: Nesting::default(),
            dependencies: DependencyMemo::default(),
            failures: Vec::new(),
            overflowed: Cell::default(),
        }
    }

    /// The types.
    pub(crate) fn types(&self) -> &'e TypeHierarchy<'a> {
        self.known.types
    }

    /// The declarations of inputs.
    pub(crate) fn declarations(&self) -> &'e Declarations<'a> {
        &self.known.inputs.declarations
    }

    /// Sets the presence of elements, so that from now on every expression has a value.
    pub(crate) fn decide(&mut self, presence: &'e Presence) {
        self.known.presence = Some(presence);
        self.results.forget();
    }

    /// Evaluates conditions that all have to hold: one expression, or a list of them; each with its
    /// place.
    ///
    /// # Errors
    /// As [`Evaluator::condition`].
    pub(crate) fn conditions(
        &mut self,
        list: ExpressionId,
        context: Option<ElementId>,
    ) -> Result<Vec<(Formula, Span)>, Diagnostic> {
        self.until(self.graph.syntax.each(list), context, Formula::FALSE)
    }

    /// Evaluates an expression as a condition: a boolean counts as it is, a number is true if it is
    /// more than 0, a string is always true.
    ///
    /// # Errors
    /// Errors of the expression, at their places.
    pub(crate) fn condition(
        &mut self,
        id: ExpressionId,
        context: Option<ElementId>,
    ) -> Result<Formula, Diagnostic> {
        let expression = self.expression(id);
        if let Some(identifier) = expression.scalar().and_then(Node::as_str) {
            let element = self.graph.by_identifier(identifier);
            return element
                .map(|element| self.atom(element))
                .ok_or_else(|| self.no_condition(expression.span(), identifier));
        }
        match self.evaluate(id, context)? {
            Evaluation::Logic(formula) => Ok(formula),
            Evaluation::Value(value) => constant(&value, expression.span()),
            Evaluation::Cases(cases) => self.true_cases(&cases, expression.span()),
        }
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// As [`Evaluator::condition`], and where the value depends on presence, before that is solved.
    pub(crate) fn value(
        &mut self,
        id: ExpressionId,
        context: Option<ElementId>,
    ) -> Result<Value, Diagnostic> {
        match self.evaluate(id, context)? {
            Evaluation::Value(value) => Ok(value),
            Evaluation::Cases(_) => {
                let message = "this depends on inputs that have no value";
                let error = Diagnostic::error(Code::OpenInput, message);
                Err(error.at(self.expression(id).span()).help("assign them"))
            }
            Evaluation::Logic(_) => Err(depends_on_presence(self.expression(id).span())),
        }
    }

    /// The expression with this id.
    pub(super) fn expression(&self, id: ExpressionId) -> Expression<'a> {
        self.graph.syntax.get(id)
    }

    fn evaluate(
        &mut self,
        id: ExpressionId,
        context: Option<ElementId>,
    ) -> Result<Evaluation, Diagnostic> {
        match self.expression(id).term {
            Term::Scalar(node) => Ok(Evaluation::Value(v2_0::data(node))),
            Term::List(items) => self.list(id, items, context),
            Term::Application(operation) => match self.splits(operation) {
                Some(inputs) => self.by_cases(&inputs.open, id, operation, context),
                None => self.operation(operation, context),
            },
            Term::Broken(problem, _) => Err(self.graph.syntax.problem(problem)),
        }
    }

    /// Evaluates a list. Its parts may be shared lists, so a list can take little memory but be
    /// huge to traverse.
    fn list(
        &mut self,
        id: ExpressionId,
        items: ExpressionRange,
        context: Option<ElementId>,
    ) -> Result<Evaluation, Diagnostic> {
        let items = items.iter().map(|item| self.value(item, context));
        let list = Value::from(items.collect::<Result<Vec<_>, _>>()?);
        if list.bytes_up_to(MAX_LIST_BYTES) > MAX_LIST_BYTES {
            let message = format!("this list has more than {MAX_LIST_BYTES} bytes");
            return Err(Diagnostic::error(Code::InvalidExpression, message)
                .at(self.expression(id).span())
                .help("lists that are made of each other double with every step"));
        }
        Ok(Evaluation::Value(list))
    }

    fn operation(
        &mut self,
        Application { operator, operand }: Application,
        context: Option<ElementId>,
    ) -> Result<Evaluation, Diagnostic> {
        match operator {
            ExpressionOperator::Input => self.input(operand).map(Evaluation::Value),
            ExpressionOperator::Named(reading) => {
                self.named(operand, reading == ReadAs::Logic, context)
            }
            ExpressionOperator::Logical(connective) => {
                let formula = self.logical(connective, operand, context)?;
                Ok(self.decided(formula))
            }
            ExpressionOperator::Presence(operator) => {
                let element = self.operand_element(operator, operand, context)?;
                let formula = self.presence(operator.of(), element);
                Ok(self.decided(formula))
            }
            ExpressionOperator::Value(operator) => self.value_operator(operator, operand, context),
        }
    }

    /// Turns a formula into a value if it is constant, or if presence is known.
    fn decided(&self, formula: Formula) -> Evaluation {
        let value = formula.as_constant().or_else(|| {
            let holds =
                |presence: &Presence| self.arena.eval(formula, &|atom| presence.holds(atom));
            self.known.presence.map(holds)
        });
        value.map_or(Evaluation::Logic(formula), |value| Evaluation::Value(value.into()))
    }

    fn value_operator(
        &mut self,
        operator: ValueOperator,
        operand: ExpressionId,
        context: Option<ElementId>,
    ) -> Result<Evaluation, Diagnostic> {
        if operator == ValueOperator::Equal
            && let Some(operands) = self.expression(operand).items()
        {
            return self.equal(operand, operands, context);
        }
        let operands = self.value(operand, context)?;
        self.apply(operator, &operands, operand).map(Evaluation::Value)
    }

    fn apply(
        &self,
        operator: ValueOperator,
        operands: &Value,
        at: ExpressionId,
    ) -> Result<Value, Diagnostic> {
        let amounts = self.amounts(operator, operands, at)?;
        operator.apply(amounts.as_ref().unwrap_or(operands), self.known.now).map_err(|error| {
            self.overflowed.set(self.overflowed.get() || error.is_overflow);
            let span = self.expression(at).span();
            Diagnostic::error(Code::InvalidExpression, error.message).at(span)
        })
    }

    /// Whether an integer overflowed since the last call.
    pub(super) fn take_overflow(&self) -> bool {
        self.overflowed.take()
    }

    pub(super) fn no_condition(&self, span: Span, written: &str) -> Diagnostic {
        let guess = || self.graph.closest_identifier(written);
        let meant = self.operator_of(written).map(|operator| {
            let keyword = operator.keyword();
            Advice::from(format!("write `{{{keyword}: {written}}}`"))
        });
        let help = "a condition is `true`, `false`, an expression such as `{node_presence: shop}`, or an identifier such as `node.shop`";
        let message = format!("`{written}` is not a condition");
        let error = Diagnostic::error(Code::InvalidExpression, message).at(span);
        error.help(help).help_opt(meant.or_else(guess))
    }

    /// The operator that would turn a bare name into a condition, for advice.
    fn operator_of(&self, name: &str) -> Option<ExpressionOperator> {
        if self.known.inputs.declarations.id(name).is_some() {
            return Some(ExpressionOperator::Input);
        }
        let expressions = &self.graph.template.variability.expressions;
        let is_named = expressions.iter().any(|(key, _)| key.text() == Some(name));
        is_named.then_some(ExpressionOperator::Named(ReadAs::Logic))
    }
}

/// The error for a value that depends on presence.
fn depends_on_presence(span: Span) -> Diagnostic {
    let message = "this depends on which elements are present";
    let help = "values that decide about presence are computed from inputs; presence is combined with `and`, `or`, `not` and the like";
    Diagnostic::error(Code::InvalidExpression, message).at(span).help(help)
}

/// A value as a constant condition.
fn constant(value: &Value, span: Span) -> Result<Formula, Diagnostic> {
    truth(value).map(Formula::constant).ok_or_else(|| {
        let message = format!("{} is not a condition", value.describe());
        Diagnostic::error(Code::InvalidExpression, message)
            .at(span)
            .help("combine conditions with `and` or `or`")
    })
}

/// A value as a boolean; `None` if it is no condition.
pub(super) fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::Number(number) => Some(number.as_f64() > 0.0),
        Value::String(_) => Some(true),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}
