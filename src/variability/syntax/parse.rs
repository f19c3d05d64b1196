//! Reads expressions into the tree.

use super::{
    Application, Expression, ExpressionId, ExpressionOperator, ExpressionRange, ProblemId, Term,
};
use crate::text::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::text::source::Span;
use crate::text::yaml::{Document, Node, NodeIdentity, NodeKind};
use rustc_hash::FxHashMap;

/// The expressions that were read, the parts of each side by side.
#[derive(Debug, Default)]
pub(super) struct ExpressionTree<'a> {
    records: Vec<ExpressionRecord>,
    /// What is no expression: why not, and what could be read inside of it.
    problems: Vec<(Diagnostic, ExpressionRange)>,
    documents: Vec<&'a Document>,
    /// The expressions that somebody asked for: for each position in a document one more than the
    /// id, or 0. Conditions are read in their order, and so go through memory in order.
    roots: Vec<Vec<u32>>,
    /// What aliases stand for: it is read once, so that the tree is no larger than the documents.
    shared: FxHashMap<NodeIdentity, ExpressionShape>,
}

/// An expression in few bytes: a large template has a million of them.
#[derive(Clone, Copy, Debug)]
struct ExpressionRecord {
    shape: ExpressionShape,
    /// Where its node is: which document, and which position there.
    document: u32,
    position: u32,
}

/// What an expression is, as a [`Term`] says it; positions of keywords are those of their document.
#[derive(Clone, Copy, Debug)]
enum ExpressionShape {
    Scalar,
    List(ExpressionRange),
    Application { operator: ExpressionOperator, keyword: u32, operand: ExpressionId },
    Broken(ProblemId),
}

impl<'a> ExpressionTree<'a> {
    pub(super) fn read(&mut self, node: Node<'a>) -> ExpressionId {
        let document = self.document(node.document());
        let (tree, position) = (document as usize, node.identity().position());
        if let Some(known) = self.roots[tree][position].checked_sub(1) {
            return ExpressionId(known);
        }
        let id = self.room(1).first();
        self.fill(id, document, node);
        self.roots[tree][position] = id.0 + 1;
        id
    }

    pub(super) fn get(&self, id: ExpressionId) -> Expression<'a> {
        let ExpressionRecord { shape, document, position } = self.records[id.index()];
        let document = self.documents[document as usize];
        let node = document.at(position);
        let term = match shape {
            ExpressionShape::Scalar => Term::Scalar(node),
            ExpressionShape::List(items) => Term::List(items),
            ExpressionShape::Application { operator, keyword, operand } => {
                Term::Application(Application { operator, keyword: document.at(keyword), operand })
            }
            ExpressionShape::Broken(problem) => {
                Term::Broken(problem, self.problems[problem.index()].1)
            }
        };
        Expression { term, node }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn problem(&self, problem: ProblemId) -> &Diagnostic {
        &self.problems[problem.index()].0
    }

    /// The number of a document; mostly it is the one of the expression before.
    fn document(&mut self, document: &'a Document) -> u32 {
        let known = self.documents.iter().rposition(|known| std::ptr::eq(*known, document));
        known.unwrap_or_else(|| {
            self.documents.push(document);
            self.roots.push(vec![0; document.node_count()]);
            self.documents.len() - 1
        }) as u32
    }

    /// Room for so many expressions, to be filled.
    fn room(&mut self, count: usize) -> ExpressionRange {
        let first = self.records.len();
        let empty = ExpressionRecord { shape: ExpressionShape::Scalar, document: 0, position: 0 };
        self.records.resize(first + count, empty);
        ExpressionRange { first: first as u32, count: count as u32 }
    }

    fn fill(&mut self, id: ExpressionId, document: u32, node: Node<'a>) {
        let shape = match node.is_alias().then(|| self.shared.get(&node.identity())).flatten() {
            Some(&shape) => shape,
            None => self.shape(document, node),
        };
        if node.is_alias() {
            self.shared.insert(node.identity(), shape);
        }
        self.records[id.index()] = ExpressionRecord { shape, document, position: node.position() };
    }

    fn shape(&mut self, document: u32, node: Node<'a>) -> ExpressionShape {
        match node.kind() {
            NodeKind::Scalar => ExpressionShape::Scalar,
            NodeKind::Sequence => {
                let items = self.room(node.items().len());
                items.iter().zip(node.items()).for_each(|(id, item)| self.fill(id, document, item));
                ExpressionShape::List(items)
            }
            NodeKind::Mapping => {
                let mut entries = node.entries();
                match (entries.next(), entries.next()) {
                    (Some((keyword, operand)), None) => self.apply(document, keyword, operand),
                    _ => self.several(document, node),
                }
            }
        }
    }

    fn apply(&mut self, document: u32, keyword: Node<'a>, operand: Node<'a>) -> ExpressionShape {
        let parts = self.room(1);
        let id = parts.first();
        self.fill(id, document, operand);
        match ExpressionOperator::from_keyword(keyword.text().unwrap_or_default()) {
            Some(operator) => {
                ExpressionShape::Application { operator, keyword: keyword.position(), operand: id }
            }
            None => self.broken(unknown_operator(keyword), parts),
        }
    }

    /// A map that is no expression.
    fn several(&mut self, document: u32, node: Node<'a>) -> ExpressionShape {
        let parts = self.room(node.entries().len());
        for (id, (keyword, operand)) in parts.iter().zip(node.entries()) {
            let shape = self.apply(document, keyword, operand);
            self.records[id.index()] =
                ExpressionRecord { shape, document, position: node.position() };
        }
        self.broken(not_one_operator(node.span()), parts)
    }

    fn broken(&mut self, problem: Diagnostic, parts: ExpressionRange) -> ExpressionShape {
        self.problems.push((problem, parts));
        ExpressionShape::Broken(ProblemId(self.problems.len() as u32 - 1))
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
        .help_opt(did_you_mean(name, ExpressionOperator::keywords()))
}
