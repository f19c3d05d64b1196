//! Reads expressions into the tree.

use super::{
    Application, Connective, Expression, ExpressionId, ExpressionOperator, ExpressionRange,
    ProblemId, Term,
};
use crate::diagnostic::{Advice, Code, Diagnostic, closest};
use crate::tosca::v2_0;
use cuvee_text::source::Span;
use cuvee_text::yaml::{Document, Node, NodeIdentity, NodeKind};
use rustc_hash::FxHashMap;

/// The expressions that were read; the parts of each are adjacent.
#[derive(Debug, Default)]
pub(super) struct ExpressionTree<'a> {
    /// Whether the template is one of TOSCA 2.0.
    is_of_2_0: bool,
    records: Vec<ExpressionRecord>,
    /// The problems of invalid expressions, each with the parts that could be read.
    problems: Vec<(Diagnostic, ExpressionRange)>,
    /// The documents that expressions were read from. Each has an offset, which is the number of
    /// nodes in the documents before it.
    documents: Vec<(u32, &'a Document)>,
    /// The expressions that are identified by their nodes.
    roots: FxHashMap<NodeIdentity, ExpressionId>,
    /// The content of nodes that aliases refer to. It is read once, so that the tree is not larger
    /// than the documents.
    shared: FxHashMap<NodeIdentity, ExpressionShape>,
}

/// A compact expression, because a large template has a million of them.
#[derive(Clone, Copy, Debug)]
struct ExpressionRecord {
    shape: ExpressionShape,
    /// The position of its node among the nodes of all documents.
    position: u32,
}

const _: () = assert!(size_of::<ExpressionRecord>() == 12);

/// The content of an expression, like [`Term`]. The number of a list's items is known from its
/// node.
#[derive(Clone, Copy, Debug)]
enum ExpressionShape {
    Scalar,
    List { first: u32 },
    Application(Application),
    Broken(ProblemId),
}

impl<'a> ExpressionTree<'a> {
    pub(super) fn new(is_of_2_0: bool) -> Self {
        Self { is_of_2_0, ..Self::default() }
    }

    /// Like [`add`](Self::add), but reads each node once.
    pub(super) fn read(&mut self, node: Node<'a>) -> ExpressionId {
        if let Some(&known) = self.roots.get(&node.identity()) {
            return known;
        }
        let id = self.add(node);
        self.roots.insert(node.identity(), id);
        id
    }

    /// Reads the expression at a node.
    pub(super) fn add(&mut self, node: Node<'a>) -> ExpressionId {
        let base = self.base(node.document());
        let id = self.room(1).first();
        self.fill(id, base, node);
        id
    }

    pub(super) fn get(&self, id: ExpressionId) -> Expression<'a> {
        let ExpressionRecord { shape, position } = self.records[id.index()];
        let behind = self.documents.partition_point(|&(base, _)| base <= position);
        let (base, document) = self.documents[behind - 1];
        let node = document.at(position - base);
        let term = match shape {
            ExpressionShape::Scalar => Term::Scalar(node),
            ExpressionShape::List { first } => {
                Term::List(ExpressionRange { first, count: node.items().len() as u32 })
            }
            ExpressionShape::Application(application) => Term::Application(application),
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

    /// The offset of a document's positions. The document is mostly that of the expression before.
    fn base(&mut self, document: &'a Document) -> u32 {
        let known = self.documents.iter().rfind(|(_, known)| std::ptr::eq(*known, document));
        if let Some(&(base, _)) = known {
            return base;
        }
        let base = self.documents.last().map_or(0, |(base, last)| base + last.node_count() as u32);
        self.documents.push((base, document));
        base
    }

    /// Allocates expressions that are filled in later.
    fn room(&mut self, count: usize) -> ExpressionRange {
        let first = self.records.len();
        let empty = ExpressionRecord { shape: ExpressionShape::Scalar, position: 0 };
        self.records.resize(first + count, empty);
        ExpressionRange { first: first as u32, count: count as u32 }
    }

    fn fill(&mut self, id: ExpressionId, base: u32, node: Node<'a>) {
        let shape = match node.is_alias().then(|| self.shared.get(&node.identity())).flatten() {
            Some(&shape) => shape,
            None => self.shape(base, node),
        };
        if node.is_alias() {
            self.shared.insert(node.identity(), shape);
        }
        self.records[id.index()] = ExpressionRecord { shape, position: base + node.position() };
    }

    fn shape(&mut self, base: u32, node: Node<'a>) -> ExpressionShape {
        match node.kind() {
            NodeKind::Scalar => ExpressionShape::Scalar,
            NodeKind::Sequence => {
                let items = self.room(node.items().len());
                items.iter().zip(node.items()).for_each(|(id, item)| self.fill(id, base, item));
                ExpressionShape::List { first: items.first }
            }
            NodeKind::Mapping => {
                let mut entries = node.entries();
                match (entries.next(), entries.next()) {
                    (Some((keyword, operand)), None) => self.apply(base, keyword, operand),
                    _ => self.several(base, node),
                }
            }
        }
    }

    fn apply(&mut self, base: u32, keyword: Node<'a>, operand: Node<'a>) -> ExpressionShape {
        let parts = self.room(1);
        let id = parts.first();
        let operator = ExpressionOperator::called_by(keyword, self.is_of_2_0);
        let is_not = matches!(operator, Some(ExpressionOperator::Logical(Connective::Not)));
        let is_call = is_not && keyword.text() == Some("$not");
        self.fill(id, base, if is_call { v2_0::negated(operand) } else { operand });
        match operator {
            Some(operator) => ExpressionShape::Application(Application { operator, operand: id }),
            None => self.broken(unknown_operator(keyword, operand), parts),
        }
    }

    /// Reads a map that is an invalid expression: its entries become the parts, each at its
    /// keyword.
    fn several(&mut self, base: u32, node: Node<'a>) -> ExpressionShape {
        let parts = self.room(node.entries().len());
        for (id, (keyword, operand)) in parts.iter().zip(node.entries()) {
            let shape = self.apply(base, keyword, operand);
            self.records[id.index()] =
                ExpressionRecord { shape, position: base + keyword.position() };
        }
        self.broken(not_one_operator(node.span()), parts)
    }

    fn broken(&mut self, problem: Diagnostic, parts: ExpressionRange) -> ExpressionShape {
        self.problems.push((problem, parts));
        ExpressionShape::Broken(ProblemId(self.problems.len() as u32 - 1))
    }
}

fn not_one_operator(span: Span) -> Diagnostic {
    Diagnostic::error(Code::InvalidExpression, "an expression has to be a map with one operator")
        .at(span)
        .help("combine several with `and: [...]` or `or: [...]`")
}

fn unknown_operator(keyword: Node<'_>, operand: Node<'_>) -> Diagnostic {
    let name = &*keyword.key_text();
    let word = name.trim_start_matches('$');
    let mark = name.strip_suffix(word).unwrap_or_default();
    let meant = usual_name(word).or_else(|| closest(word, ExpressionOperator::keywords()));
    let meant = meant.map(|meant| Advice::did_you_mean(name, &format!("{mark}{meant}")));
    Diagnostic::error(Code::InvalidExpression, format!("there is no operator `{name}`"))
        .at(keyword.span())
        .help_opt(meant.or_else(|| of_tosca(name, operand)))
}

/// The operator that constraint clauses of TOSCA or other languages call by this name.
fn usual_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "greater_than" | "greater_then" | "gt" | ">" => "greater",
        "less_than" | "less_then" | "lower" | "lt" | "<" => "less",
        "greater_equal" | "gte" | "ge" | ">=" => "greater_or_equal",
        "less_equal" | "lte" | "le" | "<=" => "less_or_equal",
        "equals" | "eq" | "==" | "is" => "equal",
        "&&" | "all" => "and",
        "||" | "any" => "or",
        "!" | "none" => "not",
        "one_of" | "in" => "valid_values",
        _ => return None,
    })
}

/// Advice on what to write instead of a TOSCA function, because these are called long after a
/// variant is chosen.
fn of_tosca(name: &str, operand: Node<'_>) -> Option<Advice> {
    let input = operand.as_str().filter(|_| name == "get_input").unwrap_or("NAME");
    let help = format!(
        "a variant is chosen before functions of TOSCA have values: write `{{variability_input: {input}}}`, which takes an input that `variability` declares"
    );
    name.starts_with("get_").then(|| help.into())
}
