//! Finds the boundaries of a probe: what it compares an input with. Everything else that the probe
//! does depends only on the results of these comparisons.

use super::probe::{Ask, Probe, Valuation};
use super::regions::NumberLine;
use crate::diagnostic::Diagnostic;
use crate::variability::expression::evaluate::{Evaluator, MAX_DEPTH};
use crate::variability::inputs::{Declaration, InputId};
use crate::variability::operators::{ValueOperator, compare};
use crate::variability::syntax::{Application, ExpressionId, ExpressionOperator, ReadAs, Term};
use cuvee_text::source::Span;
use cuvee_text::value::{Number, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;

/// The boundaries between values that comparisons distinguish.
#[derive(Debug, Default)]
pub(super) struct Boundaries {
    /// The constants that the input is compared with.
    pub values: Vec<Value>,
    /// Keys on the number line at which the result of a computation with the input changes; each is
    /// the first key of the upper side.
    pub keys: Vec<i64>,
    /// The lengths that the input's length is compared with.
    pub lengths: Vec<usize>,
    /// Whether the order of values matters, not only their equality.
    pub ordered: bool,
    /// Whether the input is read as a date.
    pub dates: bool,
}

impl Boundaries {
    /// Adds the boundaries of another probe.
    pub(super) fn extend(&mut self, other: Self) {
        self.values.extend(other.values);
        self.keys.extend(other.keys);
        self.lengths.extend(other.lengths);
        self.ordered |= other.ordered;
        self.dates |= other.dates;
    }
}

/// Adds the boundaries that a probe compares its input with.
///
/// # Errors
/// The place where the probe does something other than compare the input.
pub(super) fn collect(
    evaluator: &mut Evaluator<'_, '_>,
    input: InputId,
    declaration: &Declaration<'_>,
    probe: &Probe,
    boundaries: &mut Boundaries,
) -> Result<(), Span> {
    let valuation = &probe.valuation;
    let line = NumberLine::of(declaration.primitive());
    let mut collector = Collector {
        evaluator,
        input,
        valuation,
        line,
        boundaries,
        visited: FxHashSet::default(),
        slopes: FxHashMap::default(),
        depth: 0,
    };
    match probe.ask {
        Ask::Condition(id) => collector.expression(id, ReadAs::Logic),
        Ask::Value(id) => collector.expression(id, ReadAs::Value),
        Ask::Itself | Ask::Feature => {
            collector.truth();
            Ok(())
        }
        Ask::Which(id) => Err(collector.span(id)),
    }
}

struct Collector<'c, 'e, 'a> {
    evaluator: &'c mut Evaluator<'e, 'a>,
    input: InputId,
    valuation: &'c Valuation,
    line: Option<NumberLine>,
    boundaries: &'c mut Boundaries,
    /// The named expressions that were already visited, as conditions or as values.
    visited: FxHashSet<(usize, ReadAs)>,
    /// The slopes of named expressions.
    slopes: FxHashMap<usize, Option<Slope>>,
    depth: usize,
}

/// How a number changes as the input grows.
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

    /// The slope of a sum; `None` if the parts have opposite slopes.
    fn with(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Flat, slope) | (slope, Self::Flat) => Some(slope),
            _ => (self == other).then_some(self),
        }
    }
}

/// One side of a comparison.
enum Comparand {
    Expression(ExpressionId),
    Value(Value),
}

impl Collector<'_, '_, '_> {
    /// Collects the boundaries of an expression. If it is read as logic, only its truth matters,
    /// otherwise its value.
    fn expression(&mut self, id: ExpressionId, reading: ReadAs) -> Result<(), Span> {
        match self.evaluator.expression(id).term {
            Term::Application(operation) if self.depends(id) => {
                self.operation(id, operation, reading)
            }
            Term::List(items) if reading == ReadAs::Value => {
                items.iter().try_for_each(|item| self.expression(item, reading))
            }
            _ => Ok(()),
        }
    }

    fn operation(
        &mut self,
        id: ExpressionId,
        Application { operator, operand }: Application,
        reading: ReadAs,
    ) -> Result<(), Span> {
        let logical = reading == ReadAs::Logic;
        match operator {
            ExpressionOperator::Input if logical => {
                self.truth();
                Ok(())
            }
            ExpressionOperator::Input => Err(self.span(id)),
            ExpressionOperator::Named(ReadAs::Logic) => self.named(id, operand, ReadAs::Logic),
            ExpressionOperator::Named(ReadAs::Value) => self.named(id, operand, reading),
            ExpressionOperator::Logical(_) => {
                let mut operands = self.evaluator.graph.syntax.each(operand).iter();
                operands.try_for_each(|operand| self.expression(operand, ReadAs::Logic))
            }
            _ if logical && self.slope(id).is_some() => {
                self.crossings(&Comparand::Expression(id), &Comparand::Value(0.into()));
                Ok(())
            }
            ExpressionOperator::Value(operator) => self.value_operator(id, operator, operand),
            // Presence does not depend on the value of an input.
            ExpressionOperator::Presence(_) => Ok(()),
        }
    }

    fn named(
        &mut self,
        id: ExpressionId,
        operand: ExpressionId,
        reading: ReadAs,
    ) -> Result<(), Span> {
        let Ok(index) = self.evaluator.expression_index(operand) else { return Ok(()) };
        if !self.visited.insert((index, reading)) {
            return Ok(());
        }
        let body = self.evaluator.graph.syntax.named(index);
        let found = self.deeper(|this| this.expression(body, reading));
        found.unwrap_or_else(|| Err(self.span(id)))
    }

    /// Looks into a named expression; `None` if that is nested too deeply.
    fn deeper<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let found = look(self);
        self.depth -= 1;
        Some(found)
    }

    fn span(&self, id: ExpressionId) -> Span {
        self.evaluator.expression(id).span()
    }

    /// Adds the boundary of the input as a condition: numbers above 0 are true.
    fn truth(&mut self) {
        self.boundaries.values.push(0.into());
    }

    fn value_operator(
        &mut self,
        id: ExpressionId,
        operator: ValueOperator,
        operand: ExpressionId,
    ) -> Result<(), Span> {
        use ValueOperator::{
            After, AfterOrSame, Before, BeforeOrSame, Equal, Greater, GreaterOrEqual, InRange,
            Length, Less, LessOrEqual, MaxLength, MinLength, Same, ValidValues, Within,
        };
        let found = match operator {
            Equal | ValidValues | Greater | GreaterOrEqual | Less | LessOrEqual | InRange => {
                self.comparison(id, operand, operator)
            }
            Same | Before | BeforeOrSame | After | AfterOrSame | Within => self.dates(operand),
            Length | MinLength | MaxLength => self.lengths(operand),
            _ => None,
        };
        // The result of any other operator depends on the results of its operands.
        found.unwrap_or_else(|| self.operands(id, operand))
    }

    fn operands(&mut self, id: ExpressionId, operand: ExpressionId) -> Result<(), Span> {
        let syntax = &self.evaluator.graph.syntax;
        for operand in syntax.each(operand).iter() {
            let mut items = syntax.items(operand).iter();
            if self.is_input(operand) || items.any(|item| self.is_input(item)) {
                return Err(self.span(id));
            }
            self.expression(operand, ReadAs::Value)?;
        }
        Ok(())
    }

    /// Whether an expression is the input itself.
    fn is_input(&mut self, id: ExpressionId) -> bool {
        let Some(operation) = self.evaluator.expression(id).application() else { return false };
        match operation.operator {
            ExpressionOperator::Input => {
                self.evaluator.input_id(operation.operand).ok() == Some(self.input)
            }
            ExpressionOperator::Named(ReadAs::Value) => {
                let Ok(index) = self.evaluator.expression_index(operation.operand) else {
                    return false;
                };
                let body = self.evaluator.graph.syntax.named(index);
                self.deeper(|this| this.is_input(body)).unwrap_or_default()
            }
            _ => false,
        }
    }

    fn depends(&self, id: ExpressionId) -> bool {
        self.evaluator.depends_on(id, self.input)
    }

    /// The value of an expression that does not depend on the input.
    fn constant(&mut self, id: ExpressionId) -> Result<Value, Diagnostic> {
        self.evaluator.value_where(id, self.valuation.iter().cloned(), None)
    }

    /// Collects the boundaries of a comparison with constants, or of numbers that are computed from
    /// the input. `None` if the operation is neither.
    fn comparison(
        &mut self,
        id: ExpressionId,
        operand: ExpressionId,
        operator: ValueOperator,
    ) -> Option<Result<(), Span>> {
        use ValueOperator::{Equal, InRange, ValidValues};
        if self.constants(operand) {
            self.boundaries.ordered |= !matches!(operator, Equal | ValidValues);
            return Some(Ok(()));
        }
        let syntax = &self.evaluator.graph.syntax;
        let mut items = syntax.items(operand).iter();
        let first = items.next()?;
        let own = self.slope(first)?;
        let lists = matches!(operator, InRange | ValidValues);
        for item in items {
            let others = if lists { syntax.each(item) } else { item.only() };
            for other in others.iter() {
                if own.with(self.slope(other)?.flip()).is_none() {
                    return Some(Err(self.span(id)));
                }
                self.compared(first, other);
            }
        }
        Some(Ok(()))
    }

    /// Notes where the results of comparing two numbers change. A list of constants is compared
    /// constant by constant.
    fn compared(&mut self, first: ExpressionId, other: ExpressionId) {
        let first = Comparand::Expression(first);
        match (!self.depends(other)).then(|| self.constant(other)) {
            Some(Ok(Value::List(values))) => values
                .iter()
                .for_each(|value| self.crossings(&first, &Comparand::Value(value.clone()))),
            Some(Ok(value)) => self.crossings(&first, &Comparand::Value(value)),
            Some(Err(_)) => {}
            None => self.crossings(&first, &Comparand::Expression(other)),
        }
    }

    /// Notes the constants among operands, if all other operands are the input itself; false if an
    /// operand is neither.
    fn constants(&mut self, operand: ExpressionId) -> bool {
        let mut values = Vec::new();
        for item in self.evaluator.graph.syntax.items(operand).iter() {
            if self.is_input(item) {
                continue;
            }
            if self.depends(item) {
                // The bounds of a range may contain the input.
                let Some(bounds) = self.evaluator.expression(item).items() else { return false };
                for bound in bounds.iter() {
                    if self.is_input(bound) {
                        continue;
                    }
                    if self.depends(bound) {
                        return false;
                    }
                    values.extend(self.constant(bound));
                }
                continue;
            }
            // An expression that has no value is compared with nothing.
            match self.constant(item) {
                Ok(Value::List(items)) => {
                    values.extend(items.iter().cloned());
                    values.push(Value::List(items));
                }
                Ok(value) => values.push(value),
                Err(_) => {}
            }
        }
        self.boundaries.values.extend(values);
        true
    }

    fn dates(&mut self, operand: ExpressionId) -> Option<Result<(), Span>> {
        self.constants(operand).then(|| {
            self.boundaries.dates = true;
            Ok(())
        })
    }

    fn lengths(&mut self, operand: ExpressionId) -> Option<Result<(), Span>> {
        let mut items = self.evaluator.graph.syntax.items(operand).iter();
        let (value, length) = (items.next()?, items.next()?);
        if !self.is_input(value) || self.depends(length) {
            return None;
        }
        if let Ok(Value::Number(length)) = self.constant(length) {
            self.boundaries
                .lengths
                .extend(length.as_int().and_then(|length| usize::try_from(length).ok()));
        }
        Some(Ok(()))
    }

    /// How the value of an expression changes as the input grows; `None` where it does not keep to
    /// one direction, or where this is unknown.
    fn slope(&mut self, id: ExpressionId) -> Option<Slope> {
        use ValueOperator::{Add, Div, Max, Mean, Median, Min, Mul, Sub, Sum};
        self.line?;
        if !self.depends(id) {
            return Some(Slope::Flat);
        }
        let Application { operator, operand } = self.evaluator.expression(id).application()?;
        let operator = match operator {
            ExpressionOperator::Input => return Some(Slope::Up),
            ExpressionOperator::Named(ReadAs::Value) => return self.named_slope(operand),
            ExpressionOperator::Value(operator) => operator,
            _ => return None,
        };
        let items: Vec<_> = self.evaluator.graph.syntax.items(operand).iter().collect();
        let mut slopes = items.iter().map(|&item| self.slope(item)).collect::<Option<Vec<_>>>()?;
        match operator {
            Add | Sum | Min | Max | Mean | Median => {}
            Sub => slopes.iter_mut().skip(1).for_each(|slope| *slope = slope.flip()),
            Mul => return self.scaled(&items, &slopes),
            Div if slopes.iter().skip(1).all(|&slope| slope == Slope::Flat) => {
                return self.scaled(&items, &slopes);
            }
            _ => return None,
        }
        slopes.into_iter().try_fold(Slope::Flat, Slope::with)
    }

    /// The slope of a named expression, computed only once.
    fn named_slope(&mut self, operand: ExpressionId) -> Option<Slope> {
        let index = self.evaluator.expression_index(operand).ok()?;
        if let Some(&known) = self.slopes.get(&index) {
            return known;
        }
        let body = self.evaluator.graph.syntax.named(index);
        let slope = self.deeper(|this| this.slope(body)).flatten();
        self.slopes.insert(index, slope);
        slope
    }

    /// The slope of a product or quotient in which only one number depends on the input.
    fn scaled(&mut self, items: &[ExpressionId], slopes: &[Slope]) -> Option<Slope> {
        let mut slope = Slope::Flat;
        let mut negative = false;
        for (&item, &own) in items.iter().zip(slopes) {
            match own {
                Slope::Flat => match self.constant(item) {
                    Ok(Value::Number(factor)) => negative ^= factor.as_f64() < 0.0,
                    // Then the product has no value at all.
                    _ => return Some(Slope::Flat),
                },
                _ if slope == Slope::Flat => slope = own,
                _ => return None,
            }
        }
        Some(if negative { slope.flip() } else { slope })
    }

    /// Notes the keys at which the result of comparing two sides changes. The difference between
    /// the sides keeps to one direction as the input grows.
    fn crossings(&mut self, a: &Comparand, b: &Comparand) {
        let Some(line) = self.line else { return };
        // Computations fail where numbers get too large, so this searches the range in which they
        // succeed.
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
        self.boundaries.keys.extend(keys.into_iter().filter(|&key| key > least));
    }

    /// The result of comparing two sides if the input is the number with this key; `None` where a
    /// side has no value.
    fn order(
        &mut self,
        line: NumberLine,
        key: i64,
        a: &Comparand,
        b: &Comparand,
    ) -> Option<Option<Ordering>> {
        let (a, b) = (self.side(line, key, a)?, self.side(line, key, b)?);
        Some(compare(&a, &b))
    }

    fn side(&mut self, line: NumberLine, key: i64, side: &Comparand) -> Option<Value> {
        match side {
            Comparand::Expression(id) => {
                let own = (self.input, Value::Number(line.number(key)));
                self.evaluator
                    .value_where(*id, self.valuation.iter().cloned().chain([own]), None)
                    .ok()
            }
            Comparand::Value(value) => Some(value.clone()),
        }
    }
}
