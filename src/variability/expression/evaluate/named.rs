//! Evaluates named expressions: each once for all its users, or, if it mentions SELF or the like,
//! once for each user.
//!
//! Named expressions may use each other many levels deep. Evaluating one within another goes deeper
//! on the stack with each level. So from half of the allowed depth on, the expressions that one
//! needs are evaluated *before* it, in an order that is found without recursion.

use super::{Evaluation, EvaluationFailure, Evaluator, truth};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::variability::graph::ElementId;
use crate::variability::inputs::{InputId, InputValue};
use crate::variability::syntax::{ExpressionId, ExpressionOperator};
use cuvee_sat::formula::Formula;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// How deep named expressions and inputs may be evaluated within each other, so that the stack
/// suffices.
pub(in super::super) const MAX_DEPTH: usize = 256;

/// From this depth on, the needs of a named expression are evaluated before it instead of within
/// it.
const DEEP: usize = MAX_DEPTH / 2;

/// Something that another value is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum NeededValue {
    /// A named expression.
    Named(usize),
    /// The default of an input, if it is an expression.
    Default(InputId),
}

/// The result of a named expression, and the failures where it has no value.
type NamedResult = (Evaluation, Vec<EvaluationFailure>);

/// The results of named expressions and default expressions.
#[derive(Default)]
pub(super) struct Results {
    /// The results of named expressions that mean the same for every user.
    shared: Vec<Option<NamedResult>>,
    /// The results of the other named expressions, for each user.
    by_user: FxHashMap<(usize, ElementId), NamedResult>,
    /// The results for the values that are currently assumed.
    assumed: FxHashMap<(usize, Option<ElementId>), Evaluation>,
    defaults: FxHashMap<InputId, Value>,
}

impl Results {
    /// An empty store with room for the results of this number of named expressions.
    pub(super) fn new(expressions: usize) -> Self {
        Self { shared: vec![None; expressions], ..Self::default() }
    }

    /// Drops all results that depend on presence.
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

/// The state of evaluating expressions within each other.
#[derive(Default)]
pub(super) struct Nesting {
    /// How many named expressions and inputs are being evaluated within each other.
    depth: usize,
    /// Whether the needs of an expression are being evaluated before it.
    preparing: bool,
    /// Whether the current expression mentions SELF or the like.
    mentions_context: bool,
}

impl<'a> Evaluator<'_, 'a> {
    /// Evaluates a named expression for its user; SELF means the user.
    pub(super) fn named(
        &mut self,
        operand: ExpressionId,
        logic: bool,
        context: Option<ElementId>,
    ) -> Result<Evaluation, Diagnostic> {
        let index = self.expression_index(operand)?;
        // A bare string is an identifier if a condition is wanted, and a value otherwise.
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
            // The expression means something else for another element, and so does every expression
            // that uses it.
            self.note_context();
            self.failures.extend(failures);
            evaluated
        } else {
            self.evaluate_named(index, operand, context)?
        };
        if logic { self.as_logic(evaluated, operand) } else { Ok(evaluated) }
    }

    /// The result of a named expression, read as a condition.
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

    /// The result of a named expression, if it is remembered.
    fn remembered(&self, index: usize, user: Option<ElementId>) -> Option<NamedResult> {
        if self.opened.assumed.is_empty() {
            let known = match user {
                None => self.results.shared[index].as_ref(),
                Some(user) => self.results.by_user.get(&(index, user)),
            };
            known.cloned()
        } else {
            // While values are assumed, an expression without a value is an error, not a failure.
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

    /// Merges failures at the same place. Otherwise, expressions that each use another one twice
    /// would double the number of failures at each level.
    fn united(&mut self, failures: Vec<EvaluationFailure>) -> Vec<EvaluationFailure> {
        let mut united: IndexMap<_, (Vec<Formula>, Diagnostic), FxBuildHasher> =
            IndexMap::default();
        for (when, error) in failures {
            united.entry(error.span).or_insert_with(|| (Vec::new(), error)).0.push(when);
        }
        united.into_values().map(|(when, error)| (self.arena.or(when), error)).collect()
    }

    /// The position of the expression of this name.
    pub(crate) fn expression_index(&self, operand: ExpressionId) -> Result<usize, Diagnostic> {
        let operand = self.expression(operand);
        let name = operand.text().unwrap_or_default();
        self.names.get(name).ok_or_else(|| {
            Diagnostic::error(Code::UnknownExpression, format!("there is no expression `{name}`"))
                .at(operand.span())
                .help("define it under `variability.expressions`")
                .help_opt(did_you_mean(name, self.names.names()))
        })
    }

    /// Evaluates the named expressions and the input defaults that `first` needs. Each is evaluated
    /// after its own needs, so that all are remembered when `first` is evaluated.
    ///
    /// Errors are ignored here: they occur again, and are reported, when `first` is evaluated.
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
            // Errors are not remembered.
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

    /// If the evaluation is nested deeply, evaluates the needs of an input's default first.
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

    /// The expression that a value is computed from; `None` for an input without a default
    /// expression.
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

    /// The value of an input's default expression. SELF means nothing in it, whoever uses the
    /// input.
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

    /// Runs an evaluation one level deeper. Cycles were already reported by
    /// [`Evaluator::validate_cycles`].
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

    /// Records that the current expression means something else for another element.
    pub(in super::super) fn note_context(&mut self) {
        self.nesting.mentions_context = true;
    }
}
