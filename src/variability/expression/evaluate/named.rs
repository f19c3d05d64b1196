//! Named expressions: each is evaluated once for all who use it, or, where it mentions SELF and the
//! like, once for each of them.
//!
//! Named expressions may use each other many levels deep. Evaluating one for the other goes deeper
//! on the stack with each level, so that from half of the depth that is allowed on, what is needed
//! is evaluated *before* what needs it, in an order that is found without recursion.

use super::{Evaluation, EvaluationFailure, Evaluator, truth};
use crate::sat::formula::Formula;
use crate::text::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::text::source::Span;
use crate::text::value::Value;
use crate::text::yaml::Node;
use crate::variability::graph::ElementId;
use crate::variability::inputs::{InputId, InputValue};
use crate::variability::syntax::{ExpressionId, ExpressionOperator};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// How deep named expressions and inputs are evaluated one for the other; within the stack.
pub(in super::super) const MAX_DEPTH: usize = 256;

/// From this depth on, what a named expression needs is evaluated before it rather than for it.
const DEEP: usize = MAX_DEPTH / 2;

/// What another value is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum NeededValue {
    /// A named expression.
    Named(usize),
    /// The default of an input that is an expression.
    Default(InputId),
}

/// What a named expression came to, and where it has no value.
type NamedResult = (Evaluation, Vec<EvaluationFailure>);

/// What named expressions and default expressions came to.
#[derive(Default)]
pub(super) struct Results {
    /// Of those named expressions that mean the same for every user.
    shared: Vec<Option<NamedResult>>,
    /// Of the others, once for each user.
    by_user: FxHashMap<(usize, ElementId), NamedResult>,
    /// With values that are assumed at the moment.
    assumed: FxHashMap<(usize, Option<ElementId>), Evaluation>,
    defaults: FxHashMap<InputId, Value>,
}

impl Results {
    /// Room for the results of so many named expressions.
    pub(super) fn new(expressions: usize) -> Self {
        Self { shared: vec![None; expressions], ..Self::default() }
    }

    /// Forgets what depends on presence.
    pub(super) fn forget(&mut self) {
        self.shared.fill(None);
        self.by_user.clear();
    }

    pub(super) fn forget_assumed(&mut self) {
        self.assumed.clear();
    }

    pub(super) fn default_of(&self, input: InputId) -> Option<&Value> {
        self.defaults.get(&input)
    }

    pub(super) fn remember_default(&mut self, input: InputId, value: Value) {
        self.defaults.insert(input, value);
    }
}

/// Where evaluating one expression for the other has come to.
#[derive(Default)]
pub(super) struct Nesting {
    /// How many named expressions and inputs are being evaluated, one for the other.
    depth: usize,
    /// Whether what is evaluated is needed later only.
    preparing: bool,
    /// Whether the expression at hand mentions SELF and the like.
    mentions_context: bool,
}

impl<'a> Evaluator<'_, 'a> {
    /// A named expression, evaluated for whoever uses it: SELF means the user.
    pub(super) fn named(
        &mut self,
        operand: ExpressionId,
        logic: bool,
        context: Option<ElementId>,
    ) -> Result<Evaluation, Diagnostic> {
        let index = self.expression_index(operand)?;
        // A bare string is an identifier where a condition is asked for, and a value otherwise.
        if logic {
            let body = self.graph.syntax.named(index);
            if self.expression(body).scalar().and_then(Node::as_str).is_some() {
                return self.condition(body, context).map(|formula| self.decided(formula));
            }
        }
        let evaluated = if let Some((evaluated, failures)) = self.remembered(index, None) {
            self.failures.extend(failures);
            evaluated
        } else if let Some((evaluated, failures)) = self.remembered(index, context) {
            // Whatever uses an expression that means something else for another element does so,
            // too.
            self.note_context();
            self.failures.extend(failures);
            evaluated
        } else {
            self.evaluate_named(index, operand, context)?
        };
        if logic { self.as_logic(evaluated, operand) } else { Ok(evaluated) }
    }

    /// What a named expression came to, read as a condition.
    fn as_logic(
        &mut self,
        evaluated: Evaluation,
        operand: ExpressionId,
    ) -> Result<Evaluation, Diagnostic> {
        let operand = self.expression(operand);
        match evaluated {
            Evaluation::Cases(cases) => {
                Ok(Evaluation::Logic(self.true_cases(&cases, operand.span())?))
            }
            Evaluation::Value(value) => match truth(&value) {
                Some(truth) => Ok(Evaluation::Value(truth.into())),
                None => {
                    let name = operand.text().unwrap_or_default();
                    let message =
                        format!("expression `{name}` is {}, not a condition", value.describe());
                    Err(Diagnostic::error(Code::InvalidExpression, message)
                        .at(operand.span())
                        .help("use `value_expression`"))
                }
            },
            evaluated @ Evaluation::Logic(_) => Ok(evaluated),
        }
    }

    /// What a named expression came to.
    fn remembered(&self, index: usize, user: Option<ElementId>) -> Option<NamedResult> {
        if self.opened.assumed.is_empty() {
            let known = match user {
                None => self.results.shared[index].as_ref(),
                Some(user) => self.results.by_user.get(&(index, user)),
            };
            known.cloned()
        } else {
            // With values assumed, whatever has none is an error.
            let known = self.results.assumed.get(&(index, user));
            known.map(|evaluated| (evaluated.clone(), Vec::new()))
        }
    }

    fn remember(
        &mut self,
        index: usize,
        user: Option<ElementId>,
        evaluated: &Evaluation,
        failures: usize,
    ) {
        if !self.opened.assumed.is_empty() {
            self.results.assumed.insert((index, user), evaluated.clone());
            return;
        }
        let own = self.failures.split_off(failures);
        let own = self.united(own);
        self.failures.extend_from_slice(&own);
        let outcome = (evaluated.clone(), own);
        match user {
            None => self.results.shared[index] = Some(outcome),
            Some(user) => _ = self.results.by_user.insert((index, user), outcome),
        }
    }

    /// Failures at one place are one: expressions that each use another twice would have twice as
    /// many with every step.
    fn united(&mut self, failures: Vec<EvaluationFailure>) -> Vec<EvaluationFailure> {
        let mut united: IndexMap<_, (Vec<Formula>, Diagnostic), FxBuildHasher> =
            IndexMap::default();
        for (when, error) in failures {
            united.entry(error.span).or_insert_with(|| (Vec::new(), error)).0.push(when);
        }
        united.into_values().map(|(when, error)| (self.arena.or(when), error)).collect()
    }

    /// The position of the expression of this name.
    pub(in super::super) fn expression_index(
        &self,
        operand: ExpressionId,
    ) -> Result<usize, Diagnostic> {
        let operand = self.expression(operand);
        let name = operand.text().unwrap_or_default();
        self.names.get(name).ok_or_else(|| {
            Diagnostic::error(Code::UnknownExpression, format!("there is no expression `{name}`"))
                .at(operand.span())
                .help("define it under `variability.expressions`")
                .help_opt(did_you_mean(name, self.names.names()))
        })
    }

    /// Evaluates the named expressions and the defaults of inputs that one needs, each after those that
    /// it needs itself, so that they are remembered when it is evaluated.
    ///
    /// What goes wrong does so again where it matters, and is told there.
    fn evaluate_needed(
        &mut self,
        first: NeededValue,
        operand: ExpressionId,
        context: Option<ElementId>,
    ) {
        let (mut met, mut order, mut open) =
            (FxHashSet::default(), Vec::new(), vec![(first, operand, false)]);
        while let Some((needed, operand, is_next)) = open.pop() {
            if is_next {
                order.push((needed, operand));
            } else if met.insert(needed) {
                open.push((needed, operand, needed != first));
                let Some(body) = self.body_of(needed) else { continue };
                self.graph.syntax.each_reference(body, &mut |operator, operand| {
                    let needed = self.needed_by(operator, operand);
                    open.extend(
                        needed
                            .filter(|needed| !met.contains(needed))
                            .map(|needed| (needed, operand, false)),
                    );
                });
            }
        }
        let (mentions, failed) = (self.nesting.mentions_context, self.failures.len());
        for (needed, operand) in order {
            // What fails is not remembered.
            match needed {
                NeededValue::Named(index) => drop(self.evaluate_named(index, operand, context)),
                NeededValue::Default(input) => {
                    drop(self.input_at(input, self.expression(operand).span()));
                }
            }
        }
        self.failures.truncate(failed);
        self.nesting.mentions_context = mentions;
    }

    /// Before what an input's default needs is nested too deeply, it is evaluated.
    pub(super) fn prepare_default(&mut self, input: InputId, operand: ExpressionId) {
        if self.nesting.depth == DEEP && !std::mem::replace(&mut self.nesting.preparing, true) {
            self.evaluate_needed(NeededValue::Default(input), operand, None);
            self.nesting.preparing = false;
        }
    }

    fn needed_by(
        &self,
        operator: ExpressionOperator,
        operand: ExpressionId,
    ) -> Option<NeededValue> {
        match operator {
            ExpressionOperator::Named(_) => {
                self.expression_index(operand).ok().map(NeededValue::Named)
            }
            ExpressionOperator::Input => {
                let needed = NeededValue::Default(self.input_id(operand).ok()?);
                self.body_of(needed).map(|_| needed)
            }
            _ => None,
        }
    }

    /// What a value is computed from.
    fn body_of(&self, needed: NeededValue) -> Option<ExpressionId> {
        match needed {
            NeededValue::Named(index) => Some(self.graph.syntax.named(index)),
            NeededValue::Default(input) => match self.known.inputs.values.get(input) {
                InputValue::Expression(expression) => Some(self.graph.syntax.read(*expression)),
                _ => None,
            },
        }
    }

    fn evaluate_named(
        &mut self,
        index: usize,
        operand: ExpressionId,
        context: Option<ElementId>,
    ) -> Result<Evaluation, Diagnostic> {
        if self.nesting.depth == DEEP && !std::mem::replace(&mut self.nesting.preparing, true) {
            self.evaluate_needed(NeededValue::Named(index), operand, context);
            self.nesting.preparing = false;
        }
        let (body, at) = (self.graph.syntax.named(index), self.expression(operand).span());
        let outer = std::mem::take(&mut self.nesting.mentions_context);
        let failed = self.failures.len();
        let evaluated = self.deeper(at, |this| this.evaluate(body, context)).map_err(|error| {
            if error.labels.is_empty() {
                error.label(at, "the expression is used here")
            } else {
                error
            }
        });
        let user = if self.nesting.mentions_context { context } else { None };
        self.nesting.mentions_context |= outer;
        let evaluated = evaluated?;
        self.remember(index, user, &evaluated, failed);
        Ok(evaluated)
    }

    /// The value of an input's default expression: whoever uses the input, SELF means nothing in
    /// it.
    pub(super) fn default_value(
        &mut self,
        expression: ExpressionId,
        span: Span,
    ) -> Result<Value, Diagnostic> {
        let mentions = self.nesting.mentions_context;
        let value = self.deeper(span, |this| this.value(expression, None))?;
        self.nesting.mentions_context = mentions;
        Ok(value)
    }

    /// Evaluates what something needs; cycles are found before, see [`Evaluator::validate_cycles`].
    fn deeper<T>(
        &mut self,
        at: Span,
        run: impl FnOnce(&mut Self) -> Result<T, Diagnostic>,
    ) -> Result<T, Diagnostic> {
        if self.nesting.depth >= MAX_DEPTH {
            let message =
                format!("named expressions need each other more than {MAX_DEPTH} levels deep");
            return Err(Diagnostic::error(Code::InvalidExpression, message)
                .at(at)
                .help("write some of them out"));
        }
        self.nesting.depth += 1;
        let result = run(self);
        self.nesting.depth -= 1;
        result
    }

    /// Notes that the expression at hand means something else for another element.
    pub(in super::super) fn note_context(&mut self) {
        self.nesting.mentions_context = true;
    }
}
