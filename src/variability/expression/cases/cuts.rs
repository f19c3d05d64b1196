//! Finds what a probe compares an input with: everything else that it does is a function of how
//! these comparisons come out.

use super::cells::Line;
use super::{Ask, Probe, Surrounding};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;
use crate::text::value::{Number, Value};
use crate::text::yaml::{Node, NodeKind};
use crate::variability::expression::evaluate::{Evaluator, MAX_DEPTH};
use crate::variability::expression::operators::{Operator, compare};
use crate::variability::expression::validate::is_logical;
use crate::variability::inputs::{Declaration, InputId};
use rustc_hash::FxHashSet;
use std::cmp::Ordering;

/// What an input is compared with.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    /// Constants that it is compared with.
    pub values: Vec<Value>,
    /// Places on the line of its numbers at which a computation with it changes; each belongs to
    /// what is above.
    pub keys: Vec<i64>,
    /// What its length is compared with.
    pub lengths: Vec<usize>,
    /// Whether it is asked for more than equality.
    pub ordered: bool,
    /// Whether it is read as a date.
    pub dates: bool,
}

/// Adds what a probe compares its input with.
///
/// # Errors
/// The place where it does something else with it.
pub(super) fn collect<'a>(
    evaluator: &mut Evaluator<'_, 'a>,
    input: InputId,
    declaration: &Declaration<'a>,
    probe: &Probe<'a>,
    cuts: &mut Cuts,
) -> Result<(), Span> {
    let surrounding = &probe.surrounding;
    let line = Line::of(declaration.kind);
    let mut collector = Collector {
        evaluator,
        input,
        surrounding,
        line,
        cuts,
        visited: FxHashSet::default(),
        depth: 0,
    };
    match probe.ask {
        Ask::Condition(node) => collector.condition(node),
        Ask::Value(node) => collector.expression(node),
        Ask::Itself | Ask::Feature => {
            collector.truth();
            Ok(())
        }
        Ask::Which(node) => Err(node.span()),
    }
}

struct Collector<'c, 'e, 'a> {
    evaluator: &'c mut Evaluator<'e, 'a>,
    input: InputId,
    surrounding: &'c Surrounding,
    line: Option<Line>,
    cuts: &'c mut Cuts,
    /// Named expressions that were looked at, as conditions or not.
    visited: FxHashSet<(usize, bool)>,
    depth: usize,
}

/// How a number changes while the input grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slope {
    Flat,
    Up,
    Down,
}

impl Slope {
    fn flip(self) -> Self {
        match self {
            Self::Flat => Self::Flat,
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

    /// The slope of a sum; nothing where the parts work against each other.
    fn with(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Flat, slope) | (slope, Self::Flat) => Some(slope),
            _ => (self == other).then_some(self),
        }
    }
}

/// One side of a comparison.
enum Side<'a> {
    Node(Node<'a>),
    Value(Value),
}

impl<'a> Collector<'_, '_, 'a> {
    /// An expression of which only the truth counts.
    fn condition(&mut self, node: Node<'a>) -> Result<(), Span> {
        self.mapping(node, true)
    }

    /// An expression of which the value counts.
    fn expression(&mut self, node: Node<'a>) -> Result<(), Span> {
        match node.kind() {
            NodeKind::Scalar => Ok(()),
            NodeKind::Sequence => node.items().try_for_each(|item| self.expression(item)),
            NodeKind::Mapping => self.mapping(node, false),
        }
    }

    fn mapping(&mut self, node: Node<'a>, logical: bool) -> Result<(), Span> {
        let Some((keyword, operand)) = node.entries().next().filter(|_| self.depends(node)) else {
            return Ok(());
        };
        let name = keyword.text().unwrap_or_default();
        match name {
            "variability_input" if logical => {
                self.truth();
                Ok(())
            }
            "variability_input" => Err(node.span()),
            "logic_expression" | "value_expression" => {
                self.named(node, operand, logical || name == "logic_expression")
            }
            _ if is_logical(name) => {
                let single = (operand.kind() != NodeKind::Sequence).then_some(operand);
                operand.items().chain(single).try_for_each(|operand| self.condition(operand))
            }
            _ if logical && self.slope(node).is_some() => {
                self.boundaries(&Side::Node(node), &Side::Value(0.into()));
                Ok(())
            }
            _ => self.operator(node, Operator::from_keyword(name), operand),
        }
    }

    fn named(&mut self, node: Node<'a>, operand: Node<'a>, logical: bool) -> Result<(), Span> {
        let Ok(index) = self.evaluator.expression_index(operand) else { return Ok(()) };
        if !self.visited.insert((index, logical)) {
            return Ok(());
        }
        let body = self.evaluator.graph.template.variability.expressions[index].1;
        let found =
            self.deeper(|this| if logical { this.condition(body) } else { this.expression(body) });
        found.unwrap_or_else(|| Err(node.span()))
    }

    /// Looks into a named expression, unless that leads too deep.
    fn deeper<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let found = look(self);
        self.depth -= 1;
        Some(found)
    }

    /// The input as a condition: of numbers those above 0 are true.
    fn truth(&mut self) {
        self.cuts.values.push(0.into());
    }

    fn operator(
        &mut self,
        node: Node<'a>,
        operator: Option<Operator>,
        operand: Node<'a>,
    ) -> Result<(), Span> {
        use Operator::{
            After, AfterOrSame, Before, BeforeOrSame, Equal, Greater, GreaterOrEqual, InRange,
            Length, Less, LessOrEqual, MaxLength, MinLength, Same, ValidValues, Within,
        };
        let found = match operator {
            Some(
                comparison @ (Equal | ValidValues | Greater | GreaterOrEqual | Less | LessOrEqual
                | InRange),
            ) => self.comparison(node, operand, comparison),
            Some(Same | Before | BeforeOrSame | After | AfterOrSame | Within) => {
                self.dates(operand)
            }
            Some(Length | MinLength | MaxLength) => self.lengths(operand),
            _ => None,
        };
        // Anything else is told by what its operands come to.
        found.unwrap_or_else(|| self.operands(node, operand))
    }

    fn operands(&mut self, node: Node<'a>, operand: Node<'a>) -> Result<(), Span> {
        let single = (operand.kind() != NodeKind::Sequence).then_some(operand);
        for operand in operand.items().chain(single) {
            let itself = self.is_input(operand) || operand.items().any(|item| self.is_input(item));
            if itself {
                return Err(node.span());
            }
            self.expression(operand)?;
        }
        Ok(())
    }

    /// Whether an expression is the input itself.
    fn is_input(&mut self, node: Node<'a>) -> bool {
        let Some((keyword, operand)) = node.entries().next() else { return false };
        match keyword.text() {
            Some("variability_input") => self.evaluator.input_id(operand).ok() == Some(self.input),
            Some("value_expression") => {
                let Ok(index) = self.evaluator.expression_index(operand) else { return false };
                let body = self.evaluator.graph.template.variability.expressions[index].1;
                self.deeper(|this| this.is_input(body)).unwrap_or_default()
            }
            _ => false,
        }
    }

    fn depends(&self, node: Node<'a>) -> bool {
        self.evaluator.mentions(node, self.input)
    }

    /// The value of an expression that does not depend on the input.
    fn constant(&mut self, node: Node<'a>) -> Result<Value, Diagnostic> {
        self.evaluator.value_where(node, self.surrounding.iter().cloned())
    }

    /// Comparisons with constants, and those of numbers that are computed from the input; nothing
    /// for what is none.
    fn comparison(
        &mut self,
        node: Node<'a>,
        operand: Node<'a>,
        operator: Operator,
    ) -> Option<Result<(), Span>> {
        let ordered = !matches!(operator, Operator::Equal | Operator::ValidValues);
        if self.constants(operand) {
            self.cuts.ordered |= ordered;
            return Some(Ok(()));
        }
        let mut items = operand.items();
        let first = items.next()?;
        let own = self.slope(first)?;
        let lists = matches!(operator, Operator::InRange | Operator::ValidValues);
        for item in items {
            let single = (!lists || item.kind() != NodeKind::Sequence).then_some(item);
            let listed = item.items().filter(|_| single.is_none());
            for other in listed.chain(single) {
                if own.with(self.slope(other)?.flip()).is_none() {
                    return Some(Err(node.span()));
                }
                self.compared(first, other);
            }
        }
        Some(Ok(()))
    }

    /// Notes where two numbers compare differently; a list of constants stands for each of them.
    fn compared(&mut self, first: Node<'a>, other: Node<'a>) {
        match (!self.depends(other)).then(|| self.constant(other)) {
            Some(Ok(Value::List(values))) => {
                values.iter().for_each(|value| {
                    self.boundaries(&Side::Node(first), &Side::Value(value.clone()))
                });
            }
            Some(Ok(value)) => self.boundaries(&Side::Node(first), &Side::Value(value)),
            Some(Err(_)) => {}
            None => self.boundaries(&Side::Node(first), &Side::Node(other)),
        }
    }

    /// Notes the constants among operands of which all others are the input itself; false where
    /// there are yet others.
    fn constants(&mut self, operand: Node<'a>) -> bool {
        let mut values = Vec::new();
        for item in operand.items() {
            if self.is_input(item) {
                continue;
            }
            if self.depends(item) {
                // Bounds may be the input, too.
                for bound in item.items().filter(|_| item.kind() == NodeKind::Sequence) {
                    if self.is_input(bound) {
                        continue;
                    }
                    if self.depends(bound) {
                        return false;
                    }
                    values.extend(self.constant(bound));
                }
                if item.kind() != NodeKind::Sequence {
                    return false;
                }
                continue;
            }
            // What cannot be computed is compared with nothing.
            match self.constant(item) {
                Ok(Value::List(items)) => {
                    values.extend(items.iter().cloned());
                    values.push(Value::List(items));
                }
                Ok(value) => values.push(value),
                Err(_) => {}
            }
        }
        self.cuts.values.extend(values);
        true
    }

    fn dates(&mut self, operand: Node<'a>) -> Option<Result<(), Span>> {
        self.constants(operand).then(|| {
            self.cuts.dates = true;
            Ok(())
        })
    }

    fn lengths(&mut self, operand: Node<'a>) -> Option<Result<(), Span>> {
        let mut items = operand.items();
        let (value, length) = (items.next()?, items.next()?);
        if !self.is_input(value) || self.depends(length) {
            return None;
        }
        if let Ok(Value::Number(length)) = self.constant(length) {
            self.cuts
                .lengths
                .extend(length.as_int().and_then(|length| usize::try_from(length).ok()));
        }
        Some(Ok(()))
    }

    /// How an expression grows with the input; nothing where it does not keep to one direction, or
    /// where nobody knows.
    fn slope(&mut self, node: Node<'a>) -> Option<Slope> {
        self.line?;
        if !self.depends(node) {
            return Some(Slope::Flat);
        }
        let (keyword, operand) = node.entries().next()?;
        let operator = match keyword.text()? {
            "variability_input" => return Some(Slope::Up),
            "value_expression" => {
                let index = self.evaluator.expression_index(operand).ok()?;
                let body = self.evaluator.graph.template.variability.expressions[index].1;
                return self.deeper(|this| this.slope(body)).flatten();
            }
            name => Operator::from_keyword(name)?,
        };
        let items: Vec<Node<'a>> = operand.items().collect();
        let mut slopes = items.iter().map(|&item| self.slope(item)).collect::<Option<Vec<_>>>()?;
        match operator {
            Operator::Add
            | Operator::Sum
            | Operator::Min
            | Operator::Max
            | Operator::Mean
            | Operator::Median => {}
            Operator::Sub => slopes.iter_mut().skip(1).for_each(|slope| *slope = slope.flip()),
            Operator::Mul => return self.scaled(&items, &slopes),
            Operator::Div if slopes.iter().skip(1).all(|&slope| slope == Slope::Flat) => {
                return self.scaled(&items, &slopes);
            }
            _ => return None,
        }
        slopes.into_iter().try_fold(Slope::Flat, Slope::with)
    }

    /// The slope of one number times, or by, others that do not change.
    fn scaled(&mut self, items: &[Node<'a>], slopes: &[Slope]) -> Option<Slope> {
        let mut slope = Slope::Flat;
        let mut negative = false;
        for (&item, &own) in items.iter().zip(slopes) {
            match own {
                Slope::Flat => match self.constant(item) {
                    Ok(Value::Number(factor)) => negative ^= factor.as_f64() < 0.0,
                    // It has no value at all then.
                    _ => return Some(Slope::Flat),
                },
                _ if slope == Slope::Flat => slope = own,
                _ => return None,
            }
        }
        Some(if negative { slope.flip() } else { slope })
    }

    /// Notes where, on the line of numbers, a comparison of two that move towards or away from each
    /// other comes out differently.
    fn boundaries(&mut self, a: &Side<'a>, b: &Side<'a>) {
        let Some(line) = self.line else { return };
        // Computations fail where numbers get too large, if not everywhere.
        let samples = [0, 1, -1, 1000, -1000, 1_000_000_000, -1_000_000_000]
            .map(|number| line.key(&Number::int(number)));
        let Some(middle) =
            samples.into_iter().flatten().find(|&key| self.order(line, key, a, b).is_some())
        else {
            return;
        };
        let (least, most) = line.ends();
        let low = line.first(least, middle, &mut |key| self.order(line, key, a, b).is_some());
        let beyond = line.first(middle, most, &mut |key| self.order(line, key, a, b).is_none());
        let high = if self.order(line, beyond, a, b).is_none() { beyond - 1 } else { beyond };
        let mut keys = vec![low, high.saturating_add(1)];
        let (below, above) = (self.order(line, low, a, b), self.order(line, high, a, b));
        if below != above {
            let other = line.first(low, high, &mut |key| self.order(line, key, a, b) != below);
            let last = line.first(other, high, &mut |key| self.order(line, key, a, b) == above);
            keys.extend([other, last]);
        }
        self.cuts.keys.extend(keys.into_iter().filter(|&key| key > least));
    }

    /// How two sides compare where the input is the number of this key; nothing where one of them
    /// has no value.
    fn order(
        &mut self,
        line: Line,
        key: i64,
        a: &Side<'a>,
        b: &Side<'a>,
    ) -> Option<Option<Ordering>> {
        let (a, b) = (self.side(line, key, a)?, self.side(line, key, b)?);
        Some(compare(&a, &b))
    }

    fn side(&mut self, line: Line, key: i64, side: &Side<'a>) -> Option<Value> {
        match side {
            Side::Node(node) => {
                let own = (self.input, Value::Number(line.number(key)));
                self.evaluator
                    .value_where(*node, self.surrounding.iter().cloned().chain([own]))
                    .ok()
            }
            Side::Value(value) => Some(value.clone()),
        }
    }
}
