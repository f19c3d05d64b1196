//! Judges every expression whatever the inputs: evaluation stops where the rest does not matter,
//! and mistakes may stand there.

use super::evaluate::Evaluator;
use super::operators::Operator;
use super::presence;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::text::source::Span;
use crate::text::yaml::{Node, NodeKind};
use crate::variability::graph::ElementId;
use crate::variability::inputs::InputValue;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use rustc_hash::FxHashMap;

/// Operators that name something instead of taking operands.
const REFERENCES: [&str; 3] = ["variability_input", "logic_expression", "value_expression"];

/// The logical operators ("Logical Operators").
const LOGICAL: [&str; 7] = ["and", "or", "not", "xor", "exo", "implies", "amo"];

/// Whether a keyword is that of an operator other than those that ask for presence.
pub fn is_operator(keyword: &str) -> bool {
    REFERENCES.contains(&keyword) || computes(keyword)
}

/// Whether a keyword is that of a logical operator.
pub(super) fn is_logical(keyword: &str) -> bool {
    LOGICAL.contains(&keyword)
}

/// Whether an operator takes expressions as its operands.
fn computes(keyword: &str) -> bool {
    is_logical(keyword) || Operator::from_keyword(keyword).is_some()
}

impl<'a> Evaluator<'_, 'a> {
    /// Reports unknown operators, inputs, expressions and elements anywhere in an expression, or in
    /// a list of them.
    pub fn validate(
        &mut self,
        node: Node<'a>,
        context: Option<ElementId>,
        diagnostics: &mut Diagnostics,
    ) {
        match node.kind() {
            NodeKind::Scalar => {}
            NodeKind::Sequence => {
                node.items().for_each(|item| self.validate(item, context, diagnostics))
            }
            NodeKind::Mapping => {
                let mut entries = node.entries();
                match (entries.next(), entries.next()) {
                    (Some((keyword, operand)), None) => {
                        self.validate_operator(keyword, operand, context, diagnostics)
                    }
                    _ => diagnostics.push(not_one_operator(node)),
                }
            }
        }
    }

    /// Reports named expressions and inputs that need their own value, whether anything uses them
    /// or not.
    pub fn validate_cycles(&self, diagnostics: &mut Diagnostics) {
        let expressions = &self.graph.template.variability.expressions;
        let defaults = self.inputs.declarations.iter().filter_map(|(id, declaration)| {
            let InputValue::Expression(expression) = self.inputs.values.get(id) else {
                return None;
            };
            Some((declaration.name, declaration.span, *expression))
        });
        let named = expressions
            .iter()
            .map(|&(key, expression)| (key.text().unwrap_or_default(), key.span(), expression));
        let bodies: Vec<_> = named.chain(defaults).collect();
        let input_at: FxHashMap<_, _> = bodies
            .iter()
            .enumerate()
            .skip(expressions.len())
            .map(|(at, body)| (body.0, at))
            .collect();
        let mut needs = Vec::new();
        for (user, &(_, _, body)) in bodies.iter().enumerate() {
            each_reference(body, &mut |keyword, operand| {
                let used = match keyword {
                    "variability_input" => {
                        operand.text().and_then(|name| input_at.get(name).copied())
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
                diagnostics.push(cyclic(
                    &cycle.iter().map(|index| bodies[index.index()]).collect::<Vec<_>>(),
                ));
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
            let known = if name == "variability_input" {
                self.input_id(operand).err()
            } else {
                self.expression_index(operand).err()
            };
            diagnostics.0.extend(known);
        } else if let Some(element) = self.presence_element(name, operand, context) {
            diagnostics.ok(element);
        } else if computes(name) {
            self.validate(operand, context, diagnostics);
        } else {
            diagnostics.push(unknown_operator(keyword));
        }
    }
}

/// Calls back with every operator in an expression that names an input or an expression.
pub(super) fn each_reference<'a>(node: Node<'a>, found: &mut impl FnMut(&'a str, Node<'a>)) {
    node.items().for_each(|item| each_reference(item, found));
    for (keyword, operand) in node.entries() {
        match keyword.text() {
            Some(keyword) if REFERENCES.contains(&keyword) => found(keyword, operand),
            _ => each_reference(operand, found),
        }
    }
}

fn cyclic(cycle: &[(&str, Span, Node<'_>)]) -> Diagnostic {
    let names: Vec<_> = cycle.iter().map(|(name, ..)| format!("`{name}`")).collect();
    let message = match &names[..] {
        [only] => format!("the expression {only} needs its own value"),
        _ => format!("the expressions {} need each other's values", names.join(", ")),
    };
    let error =
        Diagnostic::error(Code::CyclicExpression, message).help("break the cycle at one of them");
    let error = error.at(cycle.first().map(|&(_, span, _)| span));
    cycle
        .iter()
        .skip(1)
        .fold(error, |error, &(_, span, _)| error.label(span, "this is part of the cycle"))
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
    let known = REFERENCES
        .into_iter()
        .chain(LOGICAL)
        .chain(presence::keywords())
        .chain(Operator::keywords());
    Diagnostic::error(Code::InvalidExpression, format!("there is no operator `{name}`"))
        .at(keyword.span())
        .help_opt(did_you_mean(name, known))
}
