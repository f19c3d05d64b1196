//! Evaluates expressions that depend on open inputs, case by case.
//!
//! An open input has a few cases, and no condition distinguishes values of the same case. Each case
//! has one value that represents it, and a formula over its own atoms that says when the case
//! holds. An operator that needs the value itself is evaluated once for each combination of the
//! cases of the inputs that it depends on, with these values *assumed*. The results are then
//! collected: each different result with the formula of its combinations. Logical operators are not
//! split like this. They combine the formulas of their operands, so that there are fewer
//! combinations.

use super::{Evaluation, Evaluator, constant, depends_on_presence};
use crate::diagnostic::{Code, Diagnostic};
use crate::variability::expression::cases::{NumberRuns, OpenInput};
use crate::variability::expression::dependencies::Dependencies;
use crate::variability::graph::ElementId;
use crate::variability::inputs::InputId;
use crate::variability::syntax::{Application, ExpressionId};
use cuvee_sat::formula::Formula;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;

/// The result of an expression in some of the cases of open inputs. Of the cases of one expression,
/// exactly one holds.
#[derive(Clone, Debug)]
pub(crate) struct ValueCase {
    /// The condition of the case: a formula over atoms of inputs.
    pub when: Formula,
    /// The value of the expression, or why it has none.
    pub outcome: Result<Value, Diagnostic>,
}

/// The cases of an open input: each with its condition and its value.
pub(super) type InputCases = Rc<[(Formula, Value)]>;

/// The condition under which an expression has no value, and the reason.
pub(crate) type EvaluationFailure = (Formula, Diagnostic);

/// For each case the number of its answer, and the answers.
type SettledCases = (Rc<NumberRuns>, Vec<Value>);

/// The largest number of combinations of cases that one expression is evaluated for.
const MAX_COMBINATIONS: usize = 4096;

/// How many consecutive cases are still written as a list of cases; longer runs are written by
/// their two ends.
const SHORT_RUN: usize = 8;

/// The inputs that are open, with their cases.
#[derive(Default)]
pub(super) struct OpenCases {
    cases: FxHashMap<InputId, InputCases>,
    /// For each input: at index `n`, the formula that one of its first `n` cases holds.
    first: FxHashMap<InputId, Rc<[Formula]>>,
    /// The answers of expressions that depend on one input only, case by case. They are known from
    /// finding the cases of that input.
    settled: FxHashMap<ExpressionId, SettledCases>,
    /// The atoms that the formulas of the cases consist of.
    pub atoms: Range<u32>,
    /// A cache: for formulas, the condition under which the atoms of the cases alone make them
    /// true.
    pub folded: FxHashMap<Formula, Formula>,
    /// The values of inputs that an expression is being evaluated with.
    pub assumed: FxHashMap<InputId, Value>,
}

impl OpenCases {
    /// Whether no input has cases.
    pub(super) fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }
}

/// A result of an expression, with the conditions under which it has this result.
type OutcomeCases = (Vec<Formula>, Result<Value, Diagnostic>);

/// The values of some inputs, with the condition under which the inputs have them.
type Combination = (Formula, Vec<Value>);

impl<'a> Evaluator<'_, 'a> {
    /// Gives open inputs their cases, with one or more new atoms for each input. Returns the
    /// conditions of the cases, input by input.
    pub(crate) fn open(&mut self, inputs: &[OpenInput]) -> Vec<Vec<Formula>> {
        let start = self.atoms();
        let cases = inputs.iter().map(|open| self.open_input(open)).collect();
        self.opened.atoms = start..self.atoms();
        self.opened.folded.clear();
        cases
    }

    /// The atoms that the formulas of the cases consist of.
    pub(crate) fn input_atoms(&self) -> Range<u32> {
        self.opened.atoms.clone()
    }

    /// Two cases are an atom and its negation. If there are more, each case has an atom of its own.
    fn open_input(&mut self, open: &OpenInput) -> Vec<Formula> {
        let when = match open.cases.len() {
            1 => vec![Formula::TRUE],
            2 => {
                let second = self.fresh_atom();
                vec![!second, second]
            }
            count => (0..count).map(|_| self.fresh_atom()).collect(),
        };
        let values = when
            .iter()
            .zip(&open.cases)
            .map(|(&when, case)| (when, case.value.as_ref().unwrap_or(&case.stand_in).clone()));
        self.opened.cases.insert(open.input, values.collect());
        let settled = open.settled(&self.graph.syntax);
        self.opened.settled.extend(settled.map(|(id, numbers, answers)| (id, (numbers, answers))));
        when
    }

    /// The cases of an input; `None` if it is not open.
    pub(crate) fn cases_of(&self, input: InputId) -> Option<InputCases> {
        self.opened.cases.get(&input).cloned()
    }

    /// The conditions under which some condition of the template has no value. Inputs must not have
    /// such values.
    pub(crate) fn failures(&self) -> &[EvaluationFailure] {
        &self.failures
    }

    /// The results of an expression, case by case.
    ///
    /// # Errors
    /// As [`Evaluator::value`].
    pub(crate) fn value_cases(&mut self, node: Node<'a>) -> Result<Vec<ValueCase>, Diagnostic> {
        match self.evaluate(self.graph.syntax.read(node), None)? {
            Evaluation::Value(value) => {
                Ok(vec![ValueCase { when: Formula::TRUE, outcome: Ok(value) }])
            }
            Evaluation::Cases(cases) => Ok(cases.to_vec()),
            Evaluation::Logic(formula) => Ok([true, false]
                .map(|value| ValueCase {
                    when: if value { formula } else { !formula },
                    outcome: Ok(value.into()),
                })
                .into()),
        }
    }

    /// The value of an expression if open inputs have these values.
    ///
    /// # Errors
    /// As [`Evaluator::value`].
    pub(crate) fn value_where(
        &mut self,
        id: ExpressionId,
        assumed: impl IntoIterator<Item = (InputId, Value)>,
        context: Option<ElementId>,
    ) -> Result<Value, Diagnostic> {
        self.assuming(assumed, |this| this.value(id, context))
    }

    fn assuming<T>(
        &mut self,
        assumed: impl IntoIterator<Item = (InputId, Value)>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.opened.assumed = assumed.into_iter().collect();
        let result = run(self);
        self.opened.assumed.clear();
        self.results.forget_assumed();
        result
    }

    /// The dependencies of an operation, if it has to be evaluated case by case.
    pub(super) fn splits(&self, operation: Application) -> Option<Rc<Dependencies>> {
        if self.opened.cases.is_empty() || !self.opened.assumed.is_empty() {
            return None;
        }
        let depends = self.dependencies_of(operation);
        (depends.by_value && !depends.open.is_empty()).then_some(depends)
    }

    /// Evaluates an operation once for each combination of the cases of these inputs.
    pub(super) fn by_cases(
        &mut self,
        inputs: &[InputId],
        id: ExpressionId,
        operation: Application,
        context: Option<ElementId>,
    ) -> Result<Evaluation, Diagnostic> {
        let at = self.expression(operation.operand).span();
        // There are few results among many combinations: combinations with the same result become
        // one case.
        let mut found = self.settled(inputs, id);
        let combinations = match found.is_empty() {
            true => self.combinations(inputs, id, operation)?,
            false => Vec::new(),
        };
        for (when, values) in combinations {
            let assumed = inputs.iter().copied().zip(values);
            let outcome = match self.assuming(assumed, |this| this.operation(operation, context)) {
                Ok(Evaluation::Value(value)) => Ok(value),
                Ok(_) => Err(depends_on_presence(at)),
                Err(error) => Err(error),
            };
            match found.iter_mut().find(|(_, other)| *other == outcome) {
                Some((whens, _)) => whens.push(when),
                None => found.push((vec![when], outcome)),
            }
        }
        if let [(_, outcome)] = &found[..] {
            return outcome.clone().map(Evaluation::Value);
        }
        let cases = found
            .into_iter()
            .map(|(whens, outcome)| ValueCase { when: self.arena.or(whens), outcome });
        Ok(Evaluation::Cases(cases.collect()))
    }

    /// The results of an expression with their conditions, if they are known for all cases of its
    /// only input; empty otherwise.
    fn settled(&mut self, inputs: &[InputId], id: ExpressionId) -> Vec<OutcomeCases> {
        let &[input] = inputs else { return Vec::new() };
        let Some(cases) = self.cases_of(input) else { return Vec::new() };
        let first = self.first_cases(input, &cases);
        let Some((numbers, answers)) = self.opened.settled.get(&id) else { return Vec::new() };
        if numbers.len() != cases.len() {
            return Vec::new();
        }
        let mut whens: IndexMap<u32, Vec<Formula>> = IndexMap::new();
        for (run, number) in numbers.iter() {
            let whens = whens.entry(number).or_default();
            match run.len() <= SHORT_RUN {
                true => whens.extend(cases[run].iter().map(|(when, _)| *when)),
                // Exactly one case holds. It is in this run if it is before the end of the run but
                // not before its start.
                false => whens.push(self.arena.and([first[run.end], !first[run.start]])),
            }
        }
        let answer = |number: u32| Ok(answers[number as usize].clone());
        whens.into_iter().map(|(number, whens)| (whens, answer(number))).collect()
    }

    /// At index `n`, the formula that one of the first `n` cases of an input holds. It has the same
    /// form as in the assertion that exactly one case holds, so that formulas are shared.
    fn first_cases(&mut self, input: InputId, cases: &InputCases) -> Rc<[Formula]> {
        if let Some(known) = self.opened.first.get(&input) {
            return Rc::clone(known);
        }
        let mut first = vec![Formula::FALSE];
        let mut before = Formula::FALSE;
        for (when, _) in cases.iter().take(cases.len().saturating_sub(1)) {
            before = self.arena.or([*when, before]);
            first.push(before);
        }
        first.push(Formula::TRUE);
        let first: Rc<[Formula]> = first.into();
        self.opened.first.insert(input, Rc::clone(&first));
        first
    }

    /// All combinations of the cases of these inputs.
    fn combinations(
        &mut self,
        inputs: &[InputId],
        id: ExpressionId,
        operation: Application,
    ) -> Result<Vec<Combination>, Diagnostic> {
        let mut rows: Vec<Combination> = vec![(Formula::TRUE, Vec::new())];
        for &input in inputs {
            let Some(cases) = self.cases_of(input) else {
                return Err(self.missing(input, self.expression(operation.operand).span()));
            };
            if rows.len() * cases.len() > MAX_COMBINATIONS {
                let message = format!(
                    "this depends on more than {MAX_COMBINATIONS} combinations of open inputs"
                );
                let error = Diagnostic::error(Code::OpenInput, message)
                    .at(self.expression(id).keyword().span());
                return Err(error.help("assign some of them with `--input` or a preset"));
            }
            let arena = &mut self.arena;
            let extended = rows.iter().flat_map(|(when, values)| {
                cases.iter().map(move |(case, value)| {
                    (*when, *case, [&values[..], std::slice::from_ref(value)].concat())
                })
            });
            rows = extended.map(|(when, case, values)| (arena.and([when, case]), values)).collect();
        }
        Ok(rows)
    }

    /// The condition that a value is true. Cases in which it is no condition are recorded as
    /// failures; if all cases fail, that is an error.
    pub(super) fn true_cases(
        &mut self,
        cases: &[ValueCase],
        span: Span,
    ) -> Result<Formula, Diagnostic> {
        let mut holds = Vec::new();
        let mut failed = Vec::new();
        for case in cases {
            match case.outcome.clone().and_then(|value| constant(&value, span)) {
                Ok(Formula::TRUE) => holds.push(case.when),
                Ok(_) => {}
                Err(error) => failed.push((case.when, error)),
            }
        }
        if failed.len() == cases.len()
            && let Some((_, error)) = failed.pop()
        {
            return Err(error);
        }
        self.failures.extend(failed);
        Ok(self.arena.or(holds))
    }
}
