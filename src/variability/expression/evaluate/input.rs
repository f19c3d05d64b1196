//! Evaluates variability inputs.

use super::{Evaluator, ValueCase, constant};
use crate::diagnostic::{Code, Diagnostic};
use crate::variability::inputs::{InputId, InputValue};
use crate::variability::syntax::ExpressionId;
use cuvee_sat::formula::Formula;
use cuvee_text::source::Span;
use cuvee_text::value::Value;

impl Evaluator<'_, '_> {
    pub(super) fn input(&mut self, operand: ExpressionId) -> Result<Value, Diagnostic> {
        let input = self.input_id(operand)?;
        self.input_at(input, self.expression(operand).span())
    }

    /// The variability input that an operand names.
    pub(in super::super) fn input_id(&self, operand: ExpressionId) -> Result<InputId, Diagnostic> {
        let operand = self.expression(operand);
        let name = operand.text().unwrap_or_default();
        let declarations = &self.known.inputs.declarations;
        declarations.id(name).ok_or_else(|| {
            Diagnostic::error(Code::InvalidInput, format!("there is no variability input `{name}`"))
                .at(operand.span())
                .help(declarations.suggestion(name))
        })
    }

    /// The value of a variability input.
    ///
    /// # Errors
    /// `missing-input` at `span` where the input has no value, and everything that is wrong with
    /// its default expression.
    pub(crate) fn input_at(&mut self, input: InputId, span: Span) -> Result<Value, Diagnostic> {
        if let Some(value) = self.opened.assumed.get(&input) {
            return Ok(value.clone());
        }
        match self.known.inputs.values.get(input) {
            InputValue::Assigned(value) | InputValue::Default(value) => Ok(value.clone()),
            InputValue::Expression(expression) => {
                if let Some(value) = self.results.default_of(input) {
                    return Ok(value.clone());
                }
                let expression = self.graph.syntax.read(*expression);
                self.prepare_default(input, expression);
                let value = self.default_value(expression, span)?;
                self.check_default(input, &value, self.expression(expression).span())?;
                self.results.remember_default(input, value.clone());
                Ok(value)
            }
            InputValue::Missing | InputValue::Open => Err(self.missing(input, span)),
        }
    }

    /// Checks that the value of a default expression fits its input, as for an assigned value.
    fn check_default(&self, input: InputId, value: &Value, span: Span) -> Result<(), Diagnostic> {
        let Some(declaration) = self.known.inputs.declarations.get(input) else { return Ok(()) };
        match declaration.problems(value).first() {
            None => Ok(()),
            Some(problem) => {
                let message = format!(
                    "the default of variability input `{}` does not fit: {}",
                    declaration.name, problem.message
                );
                Err(problem.labels(
                    Diagnostic::error(Code::InvalidInput, message)
                        .at(span)
                        .label(declaration.span, "declared here"),
                ))
            }
        }
    }

    /// The value of a variability input, read as logic.
    ///
    /// # Errors
    /// As [`Evaluator::input_at`], and where the value is no condition.
    pub(crate) fn input_condition(
        &mut self,
        input: InputId,
        span: Span,
    ) -> Result<Formula, Diagnostic> {
        if let Some(cases) = self.cases_of(input) {
            let cases: Vec<_> = cases
                .iter()
                .map(|(when, value)| ValueCase { when: *when, outcome: Ok(value.clone()) })
                .collect();
            return self.true_cases(&cases, span);
        }
        constant(&self.input_at(input, span)?, span)
    }

    pub(super) fn missing(&self, input: InputId, span: Span) -> Diagnostic {
        let declaration = self.known.inputs.declarations.get(input);
        let name = declaration.map_or("", |declaration| declaration.name);
        let error = Diagnostic::error(
            Code::MissingInput,
            format!("variability input `{name}` has no value"),
        )
        .at(span)
        .help(format!(
            "assign it with `--input {name}=VALUE` or a preset, or declare its `default`"
        ));
        declaration
            .into_iter()
            .fold(error, |error, declaration| error.label(declaration.span, "it is declared here"))
    }
}
