//! Finds probes: the parts of conditions that depend on the value of an open input.

use super::partition::few_values;
use crate::variability::expression::evaluate::{self, Evaluator};
use crate::variability::inputs::InputId;
use crate::variability::syntax::{
    Application, ExpressionId, ExpressionOperator, ReadAs, Syntax, Term,
};
use cuvee_text::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The outcome of a probe for one value of its input; `None` where the probe has no value, for
/// whatever reason.
pub(super) type ProbeOutcome = Option<Value>;

/// How many combinations of the values of other inputs a probe is evaluated for at most.
const MAX_VALUATIONS: usize = 256;

/// Values of other inputs, so that a probe depends on its own input alone.
pub(super) type Valuation = Rc<[(InputId, Value)]>;

/// A part of a condition that depends on one input, with values for its other inputs.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    pub ask: Ask,
    pub valuation: Valuation,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Ask {
    /// The truth of a condition.
    Condition(ExpressionId),
    /// The value of an expression.
    Value(ExpressionId),
    /// The truth of the input itself.
    Itself,
    /// Whether the input is selected as a feature.
    Feature,
    /// The exact value of the input. The expression also depends on presence, so it cannot be
    /// evaluated alone.
    Which(ExpressionId),
}

impl Probe {
    pub(super) fn new(ask: Ask) -> Self {
        Self { ask, valuation: Rc::default() }
    }

    /// The expression whose results are exactly the outcomes of this probe, if there is one.
    pub(super) fn settles(&self, syntax: &Syntax<'_>) -> Option<ExpressionId> {
        let is_truth = |id| match syntax.get(id).term {
            Term::Application(operation) => operation.operator.gives_truth(),
            _ => false,
        };
        match self.ask {
            Ask::Value(id) => Some(id),
            Ask::Condition(id) if is_truth(id) => Some(id),
            _ => None,
        }
        .filter(|_| self.valuation.is_empty())
    }

    /// The outcome if the input has this value.
    pub(super) fn outcome(
        &self,
        evaluator: &mut Evaluator<'_, '_>,
        input: InputId,
        value: &Value,
    ) -> ProbeOutcome {
        let assumed = || self.valuation.iter().cloned().chain([(input, value.clone())]);
        let truth = |value: &Value| evaluate::truth(value).map(Value::from);
        match self.ask {
            Ask::Condition(id) => {
                evaluator.value_where(id, assumed(), None).ok().as_ref().and_then(truth)
            }
            Ask::Value(id) => evaluator.value_where(id, assumed(), None).ok(),
            Ask::Itself => truth(value),
            Ask::Feature => Some(value.is_truthy().into()),
            Ask::Which(_) => Some(value.clone()),
        }
    }
}

/// The only valuation of no inputs.
fn none() -> [Valuation; 1] {
    [Rc::default()]
}

/// Finds probes.
pub(super) struct ProbeFinder<'f, 'e, 'a> {
    evaluator: &'f Evaluator<'e, 'a>,
    visited: FxHashSet<(usize, ReadAs, Option<InputId>)>,
    pub probes: FxHashMap<InputId, Vec<Probe>>,
    /// The texts of expressions that have a probe already: expressions with the same text need only
    /// one.
    texts: FxHashSet<(InputId, bool, String)>,
}

impl<'f, 'e, 'a> ProbeFinder<'f, 'e, 'a> {
    pub(super) fn new(evaluator: &'f Evaluator<'e, 'a>) -> Self {
        Self {
            evaluator,
            visited: FxHashSet::default(),
            probes: FxHashMap::default(),
            texts: FxHashSet::default(),
        }
    }

    /// Finds the probes of a condition, or of a list of them.
    pub(super) fn condition(&mut self, id: ExpressionId) {
        self.expression(id, ReadAs::Logic, None);
    }

    /// Finds the probes of all inputs, except for probes of the input `apart`.
    fn expression(&mut self, id: ExpressionId, reading: ReadAs, apart: Option<InputId>) {
        match self.evaluator.expression(id).term {
            Term::Scalar(_) => {}
            Term::List(parts) | Term::Broken(_, parts) => {
                parts.iter().for_each(|part| self.expression(part, reading, apart))
            }
            Term::Application(operation) => self.operation(id, operation, reading, apart),
        }
    }

    fn operation(
        &mut self,
        id: ExpressionId,
        operation: Application,
        reading: ReadAs,
        apart: Option<InputId>,
    ) {
        let depends = self.evaluator.dependencies_of(operation);
        if depends.open.is_empty() {
            return;
        }
        if depends.by_value && depends.presence {
            depends.open.iter().for_each(|&input| self.add(input, Ask::Which(id), &none()));
            return;
        }
        let ask = if reading == ReadAs::Logic { Ask::Condition(id) } else { Ask::Value(id) };
        match depends.open[..] {
            [input] if depends.by_value => {
                if apart != Some(input) {
                    self.add(input, ask, &none());
                }
                return;
            }
            _ if depends.by_value && apart.is_none() => {
                if let Some((input, valuations)) = self.valuations(&depends.open) {
                    self.add(input, ask, &valuations);
                    self.descend(operation, reading, Some(input));
                    return;
                }
            }
            _ => {}
        }
        self.descend(operation, reading, apart);
    }

    fn descend(&mut self, operation: Application, reading: ReadAs, apart: Option<InputId>) {
        let Application { operator, operand } = operation;
        let ExpressionOperator::Named(named) = operator else {
            let logical = operator.is_logical();
            let reading = if logical { ReadAs::Logic } else { ReadAs::Value };
            return self.expression(operand, reading, apart);
        };
        let Ok(index) = self.evaluator.expression_index(operand) else { return };
        let reading = if named == ReadAs::Logic { named } else { reading };
        if self.visited.insert((index, reading, apart)) {
            self.expression(self.evaluator.graph.syntax.named(index), reading, apart);
        }
    }

    fn add(&mut self, input: InputId, ask: Ask, valuations: &[Valuation]) {
        let text = match ask {
            Ask::Condition(id) | Ask::Value(id) | Ask::Which(id) => {
                self.evaluator.graph.syntax.canonical(id)
            }
            Ask::Itself | Ask::Feature => return,
        };
        if self.texts.insert((input, matches!(ask, Ask::Condition(_)), text)) {
            let probes =
                valuations.iter().map(|valuation| Probe { ask, valuation: valuation.clone() });
            self.probes.entry(input).or_default().extend(probes);
        }
    }

    /// The one of these inputs that has infinitely many values, and all combinations of the values
    /// of the others.
    fn valuations(&self, inputs: &[InputId]) -> Option<(InputId, Vec<Valuation>)> {
        let declarations = &self.evaluator.known.inputs.declarations;
        let values = |input: InputId, most: i64| {
            declarations.get(input).and_then(|declaration| few_values(declaration, most))
        };
        let infinite = |most: i64| {
            inputs
                .iter()
                .copied()
                .filter(|&input| values(input, most).is_none())
                .collect::<Vec<_>>()
        };
        // A long range of integers counts as finite or as infinite, whichever leaves exactly one
        // infinite input.
        let (own, most) = match (&infinite(0)[..], &infinite(MAX_VALUATIONS as i64)[..]) {
            (&[own], _) => (own, 0),
            (_, &[own]) => (own, MAX_VALUATIONS as i64),
            _ => return None,
        };
        let mut rows: Vec<Vec<(InputId, Value)>> = vec![Vec::new()];
        for &other in inputs.iter().filter(|&&input| input != own) {
            let values = values(other, most)?;
            if rows.len() * values.len() > MAX_VALUATIONS {
                return None;
            }
            let extended = rows.iter().flat_map(|row| {
                values.iter().map(|value| [&row[..], &[(other, value.clone())]].concat())
            });
            rows = extended.collect();
        }
        Some((own, rows.into_iter().map(Into::into).collect()))
    }
}
