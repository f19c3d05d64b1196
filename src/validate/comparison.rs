//! Finds comparisons of a variability input that have the same result for all of its values.

use super::checker::Checker;
use crate::diagnostic::{Advice, Code, Diagnostic};
use crate::tosca::v2_0;
use crate::tosca::value::Primitive;
use crate::variability::graph::ElementId;
use crate::variability::inputs::Declaration;
use crate::variability::operators::{ValueOperator, compare};
use crate::variability::syntax::{Application, ExpressionId, ExpressionOperator, Term};
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use std::cmp::Ordering;

/// The least and the greatest value of an input, as far as it has these.
struct InputBounds {
    least: Option<Value>,
    greatest: Option<Value>,
}

impl<'a> Checker<'_, 'a> {
    /// Warns of a comparison of an input with values that its declaration rules out.
    pub(super) fn comparison(
        &self,
        operator: ValueOperator,
        operand: ExpressionId,
        when: &[ElementId],
    ) {
        use ValueOperator as Op;
        let items: Vec<_> = self.graph.syntax.items(operand).iter().collect();
        let Some((at, declaration)) =
            items.iter().enumerate().find_map(|(at, &item)| Some((at, self.input_at(item)?)))
        else {
            return;
        };
        let others = items.iter().enumerate().filter(|(other, _)| *other != at);
        let mut values = others.filter_map(|(_, &item)| self.scalar(item));
        match operator {
            Op::Equal => values.for_each(|value| self.never_equal(declaration, value, when)),
            Op::ValidValues if at == 0 => {
                let listed = items.get(1).map(|&list| self.graph.syntax.items(list));
                let listed = listed.into_iter().flat_map(|list| list.iter().collect::<Vec<_>>());
                let listed = listed.filter_map(|item| self.scalar(item));
                listed.for_each(|value| self.never_equal(declaration, value, when));
            }
            Op::Greater | Op::GreaterOrEqual | Op::Less | Op::LessOrEqual => {
                if let Some(value) = values.next() {
                    self.decided(operator, declaration, (value, at == 0), when);
                }
            }
            _ => {}
        }
    }

    /// Warns of a comparison of constants of which one is the name of an input: it compares this
    /// text, and not the value of the input.
    pub(super) fn constant_comparison(
        &self,
        operator: ValueOperator,
        operand: ExpressionId,
        when: &[ElementId],
    ) {
        use ValueOperator as Op;
        if !matches!(
            operator,
            Op::Equal
                | Op::Greater
                | Op::GreaterOrEqual
                | Op::Less
                | Op::LessOrEqual
                | Op::InRange
                | Op::ValidValues
        ) {
            return;
        }
        let declarations = &self.prepared.inputs.declarations;
        let mut items = self.graph.syntax.items(operand).iter();
        let named = items.find_map(|item| {
            let node = self.scalar(item)?;
            let name = node.as_str().filter(|name| declarations.id(name).is_some())?;
            Some((node, name))
        });
        let Some((node, name)) = named else { return };
        let message = format!(
            "`{}` compares the text `{name}` here, not the variability input",
            operator.keyword()
        );
        let warning = Diagnostic::warning(Code::ImpossibleComparison, message).at(node.span());
        let meant = format!("{{variability_input: {name}}}");
        let help = Advice::from(format!("write `{meant}`")).instead(name, meant);
        self.report_when(when, &[], warning.help(help));
    }

    /// The declaration of the input that an expression asks for.
    fn input_at(&self, item: ExpressionId) -> Option<&Declaration<'a>> {
        let Term::Application(Application { operator: ExpressionOperator::Input, operand }) =
            self.graph.syntax.get(item).term
        else {
            return None;
        };
        let declarations = &self.prepared.inputs.declarations;
        declarations.get(declarations.id(self.graph.syntax.get(operand).text()?)?)
    }

    fn scalar(&self, item: ExpressionId) -> Option<Node<'a>> {
        match self.graph.syntax.get(item).term {
            Term::Scalar(node) => Some(node),
            _ => None,
        }
    }

    /// Warns of a value that an input never has.
    fn never_equal(&self, declaration: &Declaration<'a>, value: Node<'a>, when: &[ElementId]) {
        let problems = declaration.problems(&declaration.read_value(v2_0::data(value)));
        let Some(problem) = problems.first() else { return };
        let message = format!(
            "the variability input `{}` never has this value: {}",
            declaration.name, problem.message
        );
        let warning = Diagnostic::warning(Code::ImpossibleComparison, message).at(value.span());
        self.report_when(when, &[], problem.labels(warning));
    }

    /// Warns of a comparison that holds for no value of an input, or that holds for all of them
    /// because the other value is not one of them.
    fn decided(
        &self,
        operator: ValueOperator,
        declaration: &Declaration<'a>,
        (value, is_first): (Node<'a>, bool),
        when: &[ElementId],
    ) {
        use ValueOperator as Op;
        let other = declaration.read_value(v2_0::data(value));
        let holds = |own: &Value| {
            let pair = [own, &other].map(|value| declaration.compared(value));
            let operands = if is_first { pair.to_vec() } else { pair.into_iter().rev().collect() };
            operator.apply(&operands.into(), None).ok()
        };
        let InputBounds { least, greatest } = InputBounds::of(declaration);
        let is_greater = matches!(operator, Op::Greater | Op::GreaterOrEqual);
        // Which end of the values fulfils the comparison if any value does.
        let (most, fewest) =
            if is_greater == is_first { (greatest, least) } else { (least, greatest) };
        let never = most.as_ref().and_then(holds) == Some(Value::Bool(false));
        let always = fewest.as_ref().and_then(holds) == Some(Value::Bool(true))
            && !declaration.problems(&other).is_empty();
        if !never && !always {
            return;
        }
        let (often, end) = if never { ("never", most) } else { ("always", fewest) };
        let end = end.map(|end| end.to_string()).unwrap_or_default();
        let kind = if is_greater == (is_first == never) { "at most" } else { "at least" };
        let name = declaration.name;
        let message = format!(
            "this comparison {often} holds: the variability input `{name}` is {kind} {end}"
        );
        let mut warning = Diagnostic::warning(Code::ImpossibleComparison, message).at(value.span());
        if let Some(clause) = declaration.constraints().first() {
            warning = warning.label(clause.span, "the values that it may have");
        }
        self.report_when(when, &[], warning);
    }
}

impl InputBounds {
    fn of(declaration: &Declaration<'_>) -> Self {
        if let Some(listed) = declaration.listed_values() {
            let by = |wanted: Ordering| {
                let mut listed = listed.iter().cloned();
                let first = listed.next()?;
                listed.try_fold(first, |best, next| {
                    let is_better =
                        compare(&declaration.compared(&next), &declaration.compared(&best))?
                            == wanted;
                    Some(if is_better { next } else { best })
                })
            };
            return Self { least: by(Ordering::Less), greatest: by(Ordering::Greater) };
        }
        let is_number =
            matches!(declaration.primitive(), Some(Primitive::Integer | Primitive::Float));
        let bounds = declaration.bounds().filter_map(|bound| match bound {
            Value::Number(number) if is_number => number.as_int(),
            _ => None,
        });
        let bounds: Vec<i64> = bounds.collect();
        let is_valid = |value: i64| declaration.problems(&value.into()).is_empty();
        // Constraints other than lists of values leave no gaps between valid numbers.
        let end = |bound: Option<&i64>, outwards: i64| {
            let bound = *bound?;
            let beyond = bound.checked_add(outwards)?;
            let is_whole = declaration.primitive() == Some(Primitive::Integer);
            let own =
                if is_whole && !is_valid(bound) { bound.checked_sub(outwards)? } else { bound };
            (!is_valid(beyond)).then(|| own.into())
        };
        Self { least: end(bounds.iter().min(), -1), greatest: end(bounds.iter().max(), 1) }
    }
}
