//! Judges every expression whatever the inputs: evaluation stops where the rest does not matter, and mistakes may stand there.

use super::evaluate::Evaluator;
use super::operators::Operator;
use super::presence;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::graph::ElementId;
use crate::yaml::{Node, NodeKind};

/// Operators that name something instead of taking operands.
const REFERENCES: [&str; 3] = ["variability_input", "logic_expression", "value_expression"];

/// The logical operators ("Logical Operators").
const LOGICAL: [&str; 7] = ["and", "or", "not", "xor", "exo", "implies", "amo"];

impl<'a> Evaluator<'_, 'a> {
    /// Reports unknown operators, inputs, expressions and elements anywhere in a condition: an expression or a list of them.
    pub fn validate_conditions(&mut self, node: Node<'a>, context: Option<ElementId>, diagnostics: &mut Diagnostics) {
        if node.kind() == NodeKind::Sequence {
            node.items().for_each(|item| self.validate(item, context, diagnostics));
        } else {
            self.validate(node, context, diagnostics);
        }
    }

    /// As [`Evaluator::validate_conditions`], for one expression.
    pub fn validate(&mut self, node: Node<'a>, context: Option<ElementId>, diagnostics: &mut Diagnostics) {
        match node.kind() {
            NodeKind::Scalar => {}
            NodeKind::Sequence => node.items().for_each(|item| self.validate(item, context, diagnostics)),
            NodeKind::Mapping => {
                let mut entries = node.entries();
                match (entries.next(), entries.next()) {
                    (Some((keyword, operand)), None) => self.validate_operator(keyword, operand, context, diagnostics),
                    _ => diagnostics.push(not_one_operator(node)),
                }
            }
        }
    }

    fn validate_operator(
        &mut self,
        keyword: Node<'a>,
        operand: Node<'a>,
        context: Option<ElementId>,
        diagnostics: &mut Diagnostics,
    ) {
        let name = keyword.text().unwrap_or_default();
        if REFERENCES.contains(&name) {
            let known =
                if name == "variability_input" { self.input_id(operand).err() } else { self.expression_index(operand).err() };
            diagnostics.0.extend(known);
        } else if let Some(element) = self.presence_element(name, operand, context) {
            diagnostics.ok(element);
        } else if LOGICAL.contains(&name) || Operator::from_keyword(name).is_some() {
            self.validate(operand, context, diagnostics);
        } else {
            diagnostics.push(unknown_operator(keyword));
        }
    }
}

/// A map that is no expression.
pub(super) fn not_one_operator(node: Node<'_>) -> Diagnostic {
    Diagnostic::error(Code::InvalidExpression, "an expression is a map with one operator")
        .at(node.span())
        .help("combine several with `and: [...]` or `or: [...]`")
}

/// A keyword that is no operator.
pub(super) fn unknown_operator(keyword: Node<'_>) -> Diagnostic {
    let name = keyword.text().unwrap_or_default();
    let known = REFERENCES.into_iter().chain(LOGICAL).chain(presence::keywords()).chain(Operator::keywords());
    Diagnostic::error(Code::InvalidExpression, format!("there is no operator `{name}`"))
        .at(keyword.span())
        .help_opt(did_you_mean(name, known))
}
