//! Validates every expression, whatever the inputs are. Evaluation is not enough for that: it stops
//! once the result is decided, and skips mistakes in the rest.

use super::evaluate::Evaluator;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, LISTED, Severity, listed};
use crate::variability::graph::ElementId;
use crate::variability::inputs::InputValue;
use crate::variability::syntax::{Application, ExpressionId, ExpressionOperator, Term};
use cuvee_text::source::Span;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use rustc_hash::FxHashMap;

/// The codes of errors about undefined names.
const UNDEFINED: [Code; 3] = [Code::InvalidInput, Code::UnknownElement, Code::UnknownExpression];

impl Evaluator<'_, '_> {
    /// Reports unknown operators, inputs, expressions and elements in an expression or a list of
    /// expressions.
    pub(crate) fn validate(
        &mut self,
        id: ExpressionId,
        context: Option<ElementId>,
        diagnostics: &mut Diagnostics,
    ) {
        match self.expression(id).term {
            Term::Scalar(_) => {}
            Term::List(items) => {
                items.iter().for_each(|item| self.validate(item, context, diagnostics))
            }
            Term::Application(Application { operator, operand }) => match operator {
                ExpressionOperator::Input => diagnostics.0.extend(self.input_id(operand).err()),
                ExpressionOperator::Named(_) => {
                    diagnostics.0.extend(self.expression_index(operand).err())
                }
                ExpressionOperator::Presence(operator) => {
                    diagnostics.0.extend(self.validate_presence(operator, operand, context).err());
                }
                ExpressionOperator::Logical(_) | ExpressionOperator::Value(_) => {
                    self.validate(operand, context, diagnostics)
                }
            },
            Term::Broken(problem, _) => diagnostics.push(self.graph.syntax.problem(problem)),
        }
    }

    /// Reports strings in a condition that are no conditions. Evaluating finds them as well, if there
    /// are no other errors.
    pub(crate) fn validate_strings(&self, id: ExpressionId, diagnostics: &mut Diagnostics) {
        let expression = self.expression(id);
        match expression.term {
            Term::Scalar(node) => {
                let text = node.as_str().filter(|text| self.graph.by_identifier(text).is_none());
                let wrong = text.map(|text| self.no_condition(expression.span(), text));
                diagnostics.0.extend(wrong);
            }
            Term::List(items) => {
                items.iter().for_each(|item| self.validate_strings(item, diagnostics));
            }
            Term::Application(Application {
                operator: ExpressionOperator::Logical(_),
                operand,
            }) => self.validate_strings(operand, diagnostics),
            Term::Application(_) | Term::Broken(..) => {}
        }
    }

    /// The errors in named expressions, used or not. If none of the expressions in `used` needs a
    /// named expression, undefined names in it are only warnings.
    pub(crate) fn validate_named(
        &mut self,
        used: impl Iterator<Item = ExpressionId>,
    ) -> Diagnostics {
        let mut found = Vec::new();
        for index in 0..self.graph.template.variability.expressions.len() {
            let mut wrong = Diagnostics::default();
            self.validate(self.graph.syntax.named(index), None, &mut wrong);
            found.extend(wrong.0.into_iter().map(|one| (index, one)));
        }
        if found.is_empty() {
            return Diagnostics::default();
        }
        let reached = self.reached(used);
        let expressions = &self.graph.template.variability.expressions;
        let judged = found.into_iter().map(|(index, wrong)| {
            let tolerated = !reached[index] && UNDEFINED.iter().any(|&code| wrong.code == code);
            match tolerated {
                true => wrong
                    .with_severity(Severity::Warning)
                    .label(expressions[index].0.span(), "nothing needs this expression"),
                false => wrong,
            }
        });
        Diagnostics(judged.collect())
    }

    /// The named expressions that these expressions and the defaults of inputs need, directly or
    /// indirectly.
    fn reached(&self, used: impl Iterator<Item = ExpressionId>) -> Vec<bool> {
        let syntax = &self.graph.syntax;
        let mut reached = vec![false; self.graph.template.variability.expressions.len()];
        let inputs = self.known.inputs.declarations.iter().map(|(_, declaration)| declaration);
        let defaults =
            inputs.flat_map(|input| input.default_expression.into_iter().chain(input.default));
        let mut open: Vec<_> = used.chain(defaults.map(|node| syntax.read(node))).collect();
        while let Some(user) = open.pop() {
            syntax.each_reference(user, &mut |operator, operand| {
                if matches!(operator, ExpressionOperator::Named(_))
                    && let Ok(index) = self.expression_index(operand)
                    && !std::mem::replace(&mut reached[index], true)
                {
                    open.push(syntax.named(index));
                }
            });
        }
        reached
    }

    /// Reports named expressions and inputs that need their own value, used or not.
    pub(crate) fn validate_cycles(&self, diagnostics: &mut Diagnostics) {
        let syntax = &self.graph.syntax;
        let expressions = &self.graph.template.variability.expressions;
        let defaults = self.known.inputs.declarations.iter().filter_map(|(id, declaration)| {
            let InputValue::Expression(expression) = self.known.inputs.values.get(id) else {
                return None;
            };
            Some((declaration.name, declaration.span, syntax.read(*expression)))
        });
        let named = expressions.iter().enumerate().map(|(index, (key, _))| {
            (key.text().unwrap_or_default(), key.span(), syntax.named(index))
        });
        let bodies: Vec<_> = named.chain(defaults).collect();
        let input_at: FxHashMap<_, _> = bodies
            .iter()
            .enumerate()
            .skip(expressions.len())
            .map(|(at, body)| (body.0, at))
            .collect();
        let mut needs = Vec::new();
        for (user, &(_, _, body)) in bodies.iter().enumerate() {
            syntax.each_reference(body, &mut |operator, operand| {
                let used = match operator {
                    ExpressionOperator::Input => {
                        let name = self.expression(operand).text();
                        name.and_then(|name| input_at.get(name).copied())
                    }
                    _ => self.expression_index(operand).ok(),
                };
                needs.extend(used.map(|used| (user as u32, used as u32)));
            });
        }
        let needs = DiGraph::<(), ()>::from_edges(needs);
        for mut cycle in kosaraju_scc(&needs) {
            cycle.sort_unstable();
            if cycle.len() > 1 || needs.contains_edge(cycle[0], cycle[0]) {
                let cycle: Vec<_> = cycle.iter().map(|index| bodies[index.index()]).collect();
                diagnostics.push(cyclic(&cycle));
            }
        }
    }
}

fn cyclic(cycle: &[(&str, Span, ExpressionId)]) -> Diagnostic {
    let names = listed(cycle.iter().map(|(name, ..)| name));
    let message = match cycle {
        [_] => format!("the expression {names} needs its own value"),
        _ => format!("the expressions {names} need each other's values"),
    };
    let error =
        Diagnostic::error(Code::CyclicExpression, message).help("break the cycle at one of them");
    let error = error.at(cycle.first().map(|&(_, span, _)| span));
    cycle
        .iter()
        .skip(1)
        .take(LISTED)
        .fold(error, |error, &(_, span, _)| error.label(span, "this is part of the cycle"))
}
