//! Evaluates expressions: values as far as inputs reach, formulas from there on.
//!
//! An expression is a value where inputs decide it, and a formula over elements where presence
//! comes in. With inputs that are open, a value may differ from case to case: then the expression
//! is evaluated once for each combination of the cases that it depends on, and what comes out is
//! again a formula, over cases.

mod atoms;
mod input;
mod logic;
mod named;
mod open;

pub(super) use open::{EvaluationFailure, ValueCase};

use super::dependencies::DependencyMemo;
use crate::sat::formula::{Arena, Formula};
use crate::text::diagnostic::{Advice, Code, Diagnostic};
use crate::text::source::Span;
use crate::text::value::Value;
use crate::text::yaml::Node;
use crate::tosca::types::TypeHierarchy;
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
use named::{Nesting, Results};
use open::OpenCases;
use std::cell::Cell;
use std::rc::Rc;

pub(super) use named::MAX_DEPTH;

/// What an expression evaluates to.
#[derive(Clone, Debug)]
pub(super) enum Evaluation {
    /// A value.
    Value(Value),
    /// One value or another, as open inputs are decided.
    Cases(Rc<[ValueCase]>),
    /// A boolean that depends on what is present.
    Logic(Formula),
}

/// Evaluates the expressions of one template under one assignment of inputs.
pub(crate) struct Evaluator<'e, 'a> {
    /// The elements, and the expressions that were read.
    pub graph: &'e Graph<'a>,
    /// The formulas.
    pub arena: Arena,
    pub(super) known: Known<'e, 'a>,
    /// The names of named expressions.
    names: NameIndex<'a>,
    atoms: ManualAtoms,
    opened: OpenCases,
    /// What named expressions and defaults came to.
    results: Results,
    nesting: Nesting,
    /// What expressions depend on.
    pub(super) dependencies: DependencyMemo,
    /// Where open inputs have values with which a condition that matters cannot be computed.
    failures: Vec<EvaluationFailure>,
    overflowed: Cell<bool>,
}

/// What is known besides the elements.
pub(super) struct Known<'e, 'a> {
    pub types: &'e TypeHierarchy<'a>,
    pub inputs: &'e Inputs<'a>,
    pub now: Option<&'e Clock>,
    /// What is present, once that is solved.
    pub presence: Option<&'e Presence>,
}

impl<'e, 'a> Evaluator<'e, 'a> {
    /// An evaluator for a graph and its inputs; without a clock, expressions that ask for it are
    /// errors.
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
            // They are keys of a map.
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

    /// What inputs there are.
    pub(crate) fn declarations(&self) -> &'e Declarations<'a> {
        &self.known.inputs.declarations
    }

    /// From now on presence is known, so that every expression has a value.
    pub(crate) fn decide(&mut self, presence: &'e Presence) {
        self.known.presence = Some(presence);
        self.results.forget();
    }

    /// Expressions that have to hold together: one, or a list of them; each with its place.
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

    /// An expression read as logic: a boolean as it is, a number when it is more than 0, a string
    /// always.
    ///
    /// # Errors
    /// What is wrong with the expression, at its place.
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
    /// As [`Evaluator::condition`]; also where the value depends on what is present, before that is
    /// solved.
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

    /// The expression of an id.
    pub(super) fn expression(&self, id: ExpressionId) -> Expression<'a> {
        self.graph.syntax.get(id)
    }

    fn evaluate(
        &mut self,
        id: ExpressionId,
        context: Option<ElementId>,
    ) -> Result<Evaluation, Diagnostic> {
        match self.expression(id).term {
            Term::Scalar(node) => Ok(Evaluation::Value(node.to_value())),
            Term::List(items) => self.list(id, items, context),
            Term::Application(operation) => match self.splits(operation) {
                Some(inputs) => self.by_cases(&inputs.open, id, operation, context),
                None => self.operation(operation, context),
            },
            Term::Broken(problem, _) => Err(self.graph.syntax.problem(problem)),
        }
    }

    /// Lists in it may be shared, so that one that is small to keep can be endless to go through.
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

    /// A formula that is constant, or whose atoms are decided, is a value.
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
        operator.apply(operands, self.known.now).map_err(|error| {
            self.overflowed.set(self.overflowed.get() || error.is_overflow);
            let span = self.expression(at).span();
            Diagnostic::error(Code::InvalidExpression, error.message).at(span)
        })
    }

    /// Whether an integer got too large since that was asked last.
    pub(super) fn take_overflow(&self) -> bool {
        self.overflowed.take()
    }

    fn no_condition(&self, span: Span, written: &str) -> Diagnostic {
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

    /// The operator that makes a condition of a name which is none.
    fn operator_of(&self, name: &str) -> Option<ExpressionOperator> {
        if self.known.inputs.declarations.id(name).is_some() {
            return Some(ExpressionOperator::Input);
        }
        let expressions = &self.graph.template.variability.expressions;
        let is_named = expressions.iter().any(|(key, _)| key.text() == Some(name));
        is_named.then_some(ExpressionOperator::Named(ReadAs::Logic))
    }
}

/// A value is asked for where only what is present decides.
fn depends_on_presence(span: Span) -> Diagnostic {
    let message = "this depends on which elements are present";
    let help = "values that decide about presence are computed from inputs; presence is combined with `and`, `or`, `not` and the like";
    Diagnostic::error(Code::InvalidExpression, message).at(span).help(help)
}

/// A value read as a condition.
fn constant(value: &Value, span: Span) -> Result<Formula, Diagnostic> {
    truth(value).map(Formula::constant).ok_or_else(|| {
        let message = format!("{} is not a condition", value.describe());
        Diagnostic::error(Code::InvalidExpression, message)
            .at(span)
            .help("combine conditions with `and` or `or`")
    })
}

/// A value read as logic.
pub(super) fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::Number(number) => Some(number.as_f64() > 0.0),
        Value::String(_) => Some(true),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}
