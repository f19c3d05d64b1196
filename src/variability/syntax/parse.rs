//! Reads expressions into the tree.

use super::{Expression, ExpressionId, Operation, Operator, Parts, ProblemId, Term};
use crate::text::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::text::source::Span;
use crate::text::yaml::{Node, NodeIdentity, NodeKind};
use rustc_hash::FxHashMap;

/// The expressions that were read, the parts of each side by side.
#[derive(Debug, Default)]
pub(super) struct Tree<'a> {
    expressions: Vec<Expression<'a>>,
    problems: Vec<Diagnostic>,
    /// The expressions that somebody asked for.
    roots: FxHashMap<NodeIdentity, ExpressionId>,
    /// What aliases stand for: it is read once, so that the tree is no larger than the documents.
    shared: FxHashMap<NodeIdentity, Term<'a>>,
}

impl<'a> Tree<'a> {
    pub fn read(&mut self, node: Node<'a>) -> ExpressionId {
        if let Some(&known) = self.roots.get(&node.identity()) {
            return known;
        }
        let id = ExpressionId(self.room(1, node).first);
        self.fill(id, node);
        self.roots.insert(node.identity(), id);
        id
    }

    pub fn get(&self, id: ExpressionId) -> Expression<'a> {
        self.expressions[id.index()]
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.expressions.len()
    }

    pub fn problem(&self, ProblemId(at): ProblemId) -> &Diagnostic {
        &self.problems[at as usize]
    }

    /// Room for so many expressions, to be filled.
    fn room(&mut self, count: usize, node: Node<'a>) -> Parts {
        let first = self.expressions.len();
        let empty = Expression { term: Term::Scalar(node), span: node.span() };
        self.expressions.resize(first + count, empty);
        Parts { first: first as u32, count: count as u32 }
    }

    fn fill(&mut self, id: ExpressionId, node: Node<'a>) {
        let term = match node.is_alias().then(|| self.shared.get(&node.identity())).flatten() {
            Some(&term) => term,
            None => self.term(node),
        };
        if node.is_alias() {
            self.shared.insert(node.identity(), term);
        }
        self.expressions[id.index()] = Expression { term, span: node.span() };
    }

    fn term(&mut self, node: Node<'a>) -> Term<'a> {
        match node.kind() {
            NodeKind::Scalar => Term::Scalar(node),
            NodeKind::Sequence => {
                let items = self.room(node.items().len(), node);
                items.iter().zip(node.items()).for_each(|(id, item)| self.fill(id, item));
                Term::List(items)
            }
            NodeKind::Mapping => {
                let mut entries = node.entries();
                match (entries.next(), entries.next()) {
                    (Some((keyword, operand)), None) => self.operation(keyword, operand),
                    _ => self.several(node),
                }
            }
        }
    }

    fn operation(&mut self, keyword: Node<'a>, operand: Node<'a>) -> Term<'a> {
        let parts = self.room(1, operand);
        let id = ExpressionId(parts.first);
        self.fill(id, operand);
        match Operator::from_keyword(keyword.text().unwrap_or_default()) {
            Some(operator) => {
                Term::Operation(Operation { operator, keyword: keyword.span(), operand: id })
            }
            None => Term::Broken(self.report(unknown_operator(keyword)), parts),
        }
    }

    /// A map that is no expression.
    fn several(&mut self, node: Node<'a>) -> Term<'a> {
        let problem = self.report(not_one_operator(node.span()));
        let parts = self.room(node.entries().len(), node);
        for (id, (keyword, operand)) in parts.iter().zip(node.entries()) {
            self.expressions[id.index()].term = self.operation(keyword, operand);
        }
        Term::Broken(problem, parts)
    }

    fn report(&mut self, problem: Diagnostic) -> ProblemId {
        self.problems.push(problem);
        ProblemId(self.problems.len() as u32 - 1)
    }
}

fn not_one_operator(span: Span) -> Diagnostic {
    Diagnostic::error(Code::InvalidExpression, "an expression is a map with one operator")
        .at(span)
        .help("combine several with `and: [...]` or `or: [...]`")
}

fn unknown_operator(keyword: Node<'_>) -> Diagnostic {
    let name = keyword.text().unwrap_or_default();
    Diagnostic::error(Code::InvalidExpression, format!("there is no operator `{name}`"))
        .at(keyword.span())
        .help_opt(did_you_mean(name, Operator::keywords()))
}
