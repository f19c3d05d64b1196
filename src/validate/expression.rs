//! Checks all expressions, whether or not their values are used: conditions must be conditions, and
//! operands must be of kinds that their operators accept.

use super::checker::Checker;
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::value::Primitive;
use crate::variability::graph::ElementId;
use crate::variability::operators::ValueOperator;
use crate::variability::syntax::{Application, Connective, ExpressionId, ExpressionOperator, Term};
use crate::variability::template::PropertyValue;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;

/// The kind of a value, as far as operators distinguish kinds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandKind {
    Boolean,
    Number,
    Text,
    List,
    Map,
}

impl<'a> Checker<'_, 'a> {
    /// Checks all expressions.
    pub(super) fn expressions(&self) {
        let (syntax, variability) = (&self.graph.syntax, &self.graph.template.variability);
        let named = (0..variability.expressions.len()).map(|index| syntax.named(index));
        named.for_each(|id| _ = self.constant(id, &[]));
        for (_, declaration) in self.prepared.inputs.declarations.iter() {
            declaration.computed_default().into_iter().for_each(|value| self.value_at(value, &[]));
        }
        let of_types = self.prepared.type_specific.iter().map(|condition| condition.conditions);
        let of_rules = self.graph.technologies.iter().filter_map(|rule| rule.conditions);
        let shared = variability.constraints.iter().copied().chain(of_types);
        let shared = shared.map(|node| syntax.read(node)).chain(of_rules);
        shared.for_each(|conditions| self.conditions_at(conditions, &[]));
        for id in self.graph.ids().filter(|&id| self.counts(id)) {
            let element = self.graph.element(id);
            let implied = element.settings.into_iter().flat_map(|settings| &settings.implies);
            let implied = implied.filter_map(|implication| implication.condition);
            let implied = implied.map(|node| syntax.read(node));
            let conditions = element.conditions.into_iter().chain(implied);
            conditions.for_each(|conditions| self.conditions_at(conditions, &[id]));
        }
        for property in self.graph.properties.iter().filter(|property| self.counts(property.id)) {
            if let PropertyValue::Expression(expression) = property.property.value {
                self.value_at(expression, &[property.id]);
            }
        }
    }

    /// Checks one condition or a list of them.
    fn conditions_at(&self, list: ExpressionId, when: &[ElementId]) {
        self.graph.syntax.each(list).iter().for_each(|id| self.logical(id, when));
    }

    fn value_at(&self, node: Node<'a>, when: &[ElementId]) {
        self.constant(self.graph.syntax.read(node), when);
    }

    /// Checks an expression that has to be a condition. Whether a string names an element is
    /// checked where names are looked up.
    fn logical(&self, id: ExpressionId, when: &[ElementId]) {
        let expression = self.graph.syntax.get(id);
        let is_condition = match expression.term {
            Term::Scalar(node) => node.as_bool().is_some() || node.as_str().is_some(),
            Term::List(_) => false,
            Term::Application(_) | Term::Broken(..) => true,
        };
        if !is_condition {
            let message = format!(
                "a condition has to be `true`, `false`, an expression or the identifier of an element, not {}",
                expression.describe()
            );
            self.invalid_expression(when, expression.span(), message);
        }
        self.constant(id, when);
    }

    /// The value of an expression that consists of constants; errors inside it are reported.
    fn constant(&self, id: ExpressionId, when: &[ElementId]) -> Option<Value> {
        let syntax = &self.graph.syntax;
        match syntax.get(id).term {
            Term::Scalar(node) => Some(node.to_value()),
            Term::List(items) | Term::Broken(_, items) => {
                let items: Vec<_> = items.iter().map(|item| self.constant(item, when)).collect();
                Some(items.into_iter().collect::<Option<Vec<_>>>()?.into())
            }
            Term::Application(Application { operator, operand }) => match operator {
                ExpressionOperator::Logical(Connective::Not) => {
                    self.logical(operand, when);
                    None
                }
                ExpressionOperator::Logical(_) => {
                    syntax.each(operand).iter().for_each(|item| self.logical(item, when));
                    None
                }
                ExpressionOperator::Value(operator) => self.computed_by(operator, operand, when),
                _ => None,
            },
        }
    }

    fn kind_of_input(&self, name: ExpressionId) -> Option<OperandKind> {
        let declarations = &self.prepared.inputs.declarations;
        let input = declarations.id(self.graph.syntax.get(name).text()?)?;
        OperandKind::of_primitive(declarations.get(input)?.primitive()?)
    }

    /// The result of a value operator on constants. Operands that are not constant are checked by
    /// kind.
    fn computed_by(
        &self,
        operator: ValueOperator,
        operand: ExpressionId,
        when: &[ElementId],
    ) -> Option<Value> {
        let constant = self.constant(operand, when);
        let constant = constant.filter(|_| operator != ValueOperator::Weekday);
        if constant.is_some() {
            self.constant_comparison(operator, operand, when);
        }
        let wrong = match constant.map(|operands| operator.apply(&operands, None)) {
            Some(Ok(value)) => return Some(value),
            Some(Err(error)) => Some(error.message),
            None => {
                self.comparison(operator, operand, when);
                let items = self.graph.syntax.items(operand).iter();
                let kinds: Vec<_> = items.filter_map(|item| self.kind(item)).collect();
                self.miscounted(operator, operand).or_else(|| misfit(operator, &kinds))
            }
        };
        let at = self.graph.syntax.get(operand).span();
        wrong.into_iter().for_each(|wrong| self.invalid_expression(when, at, wrong));
        None
    }

    /// The error of an operator on another number of operands than it takes.
    fn miscounted(&self, operator: ValueOperator, operand: ExpressionId) -> Option<String> {
        let (keyword, arity) = (operator.keyword(), operator.arity()?);
        let got = match self.graph.syntax.get(operand).items() {
            Some(items) if items.iter().count() == arity => return None,
            Some(items) => format!("a list of {}", items.iter().count()),
            // The value of an expression may be the list.
            None => self.kind(operand).filter(|kind| *kind != OperandKind::List)?.noun().to_owned(),
        };
        Some(format!("`{keyword}` expects a list of {arity} operands, but got {got}"))
    }

    /// The kind of an expression's value, as far as it is known without evaluation.
    fn kind(&self, id: ExpressionId) -> Option<OperandKind> {
        match self.graph.syntax.get(id).term {
            Term::Scalar(node) => OperandKind::of(&node.to_value()),
            Term::List(_) => Some(OperandKind::List),
            Term::Application(Application { operator, operand }) => match operator {
                ExpressionOperator::Input => self.kind_of_input(operand),
                ExpressionOperator::Logical(_) | ExpressionOperator::Presence(_) => {
                    Some(OperandKind::Boolean)
                }
                ExpressionOperator::Named(_) | ExpressionOperator::Value(_) => None,
            },
            Term::Broken(..) => None,
        }
    }

    fn invalid_expression(&self, when: &[ElementId], at: Span, message: String) {
        let error = Diagnostic::error(Code::InvalidExpression, message);
        self.report_when(when, &[], error.at(at));
    }
}

/// The error of an operator on operands of these kinds, if there is one.
fn misfit(operator: ValueOperator, kinds: &[OperandKind]) -> Option<String> {
    use ValueOperator as Op;
    let keyword = operator.keyword();
    match operator {
        Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Mod | Op::Sum | Op::Mean | Op::Median => {
            let wrong = kinds.iter().find(|&&kind| kind != OperandKind::Number)?;
            Some(format!("`{keyword}` expects numbers, but got {}", wrong.noun()))
        }
        Op::Greater | Op::GreaterOrEqual | Op::Less | Op::LessOrEqual => {
            let is_ordered = |kind| matches!(kind, OperandKind::Number | OperandKind::Text);
            let (&first, rest) = kinds.split_first()?;
            let fits = is_ordered(first) && rest.iter().all(|&other| other == first);
            let nouns: Vec<_> = kinds.iter().map(|kind| kind.noun()).collect();
            (!fits).then(|| {
                let expected = "compares numbers, or strings, or versions alike";
                format!("`{keyword}` {expected}, but got {}", nouns.join(" and "))
            })
        }
        _ => None,
    }
}

impl OperandKind {
    fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::Text,
            Value::List(_) => Self::List,
            Value::Map(_) => Self::Map,
        })
    }

    fn of_primitive(primitive: Primitive) -> Option<Self> {
        Some(match primitive {
            Primitive::Null | Primitive::Nil => return None,
            Primitive::Boolean => Self::Boolean,
            Primitive::Integer | Primitive::Float => Self::Number,
            Primitive::List | Primitive::Range => Self::List,
            Primitive::Map => Self::Map,
            Primitive::String
            | Primitive::Timestamp
            | Primitive::Version
            | Primitive::ScalarUnit(_)
            | Primitive::Bytes
            | Primitive::Scalar => Self::Text,
        })
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::List => "a list",
            Self::Map => "a map",
        }
    }
}
