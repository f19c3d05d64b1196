//! Inputs that are open: expressions that need their values are evaluated case by case.
//!
//! An open input has a few cases that no condition looks into, each with one value that stands for
//! all of its case, and each with a formula over atoms of its own that says when the case holds.
//! An operator that needs the value itself is evaluated once for each combination of the cases of
//! the inputs that it depends on, with these values *assumed*; what it comes to is put together
//! again as a value for each formula. Logical operators are not split like this: they combine the
//! formulas of their operands, so that the combinations stay small.

use super::{Evaluation, Evaluator, constant, depends_on_presence};
use crate::sat::formula::Formula;
use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::source::Span;
use crate::text::value::Value;
use crate::text::yaml::Node;
use crate::variability::expression::cases::OpenInput;
use crate::variability::expression::dependencies::Dependencies;
use crate::variability::graph::ElementId;
use crate::variability::inputs::InputId;
use crate::variability::syntax::{Application, ExpressionId};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;

/// What an expression comes to in some of the cases of open inputs; of the cases of one expression,
/// exactly one holds.
#[derive(Clone, Debug)]
pub(crate) struct ValueCase {
    /// When: a formula over atoms of inputs.
    pub when: Formula,
    /// Its value, or why it has none.
    pub outcome: Result<Value, Diagnostic>,
}

/// The cases of an open input: when it has which value.
pub(super) type InputCases = Rc<[(Formula, Value)]>;

/// When an expression has no value, and why.
pub(crate) type EvaluationFailure = (Formula, Diagnostic);

/// The answer in each case, by its number, and the answers.
type SettledCases = (Rc<[u32]>, Vec<Value>);

/// More combinations of cases than this are too many to go through for one expression.
const MAX_COMBINATIONS: usize = 4096;

/// A run of so many cases is written as a list of them.
const SHORT_RUN: usize = 8;

/// The inputs that are open.
#[derive(Default)]
pub(super) struct OpenCases {
    cases: FxHashMap<InputId, InputCases>,
    /// For each number of cases of an input that it has one of those that are listed first.
    first: FxHashMap<InputId, Rc<[Formula]>>,
    /// What expressions come to in each case of the one input that they depend on, as it was found when
    /// the cases were told apart.
    settled: FxHashMap<ExpressionId, SettledCases>,
    /// The atoms that those cases are made of.
    pub atoms: Range<u32>,
    /// When those atoms alone make formulas true.
    pub folded: FxHashMap<Formula, Formula>,
    /// Values that an expression is evaluated with at the moment.
    pub assumed: FxHashMap<InputId, Value>,
}

impl OpenCases {
    /// Whether no input has cases.
    pub(super) fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }
}

/// When an expression comes to what.
type OutcomeCases = (Vec<Formula>, Result<Value, Diagnostic>);

/// When which values hold that are combined so far.
type Combination = (Formula, Vec<Value>);

impl<'a> Evaluator<'_, 'a> {
    /// Gives open inputs their cases, an atom or more each; returns when each case holds, input by
    /// input.
    pub(crate) fn open(&mut self, inputs: &[OpenInput]) -> Vec<Vec<Formula>> {
        let start = self.atoms();
        let cases = inputs.iter().map(|open| self.open_input(open)).collect();
        self.opened.atoms = start..self.atoms();
        self.opened.folded.clear();
        cases
    }

    /// The atoms that the cases of open inputs are made of.
    pub(crate) fn input_atoms(&self) -> Range<u32> {
        self.opened.atoms.clone()
    }

    /// Two cases are an atom and its negation; of more, each has an atom of its own.
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
            .filter_map(|(&when, case)| Some((when, case.value.clone()?)));
        self.opened.cases.insert(open.input, values.collect());
        let settled = open.settled(&self.graph.syntax);
        self.opened.settled.extend(settled.map(|(id, numbers, answers)| (id, (numbers, answers))));
        when
    }

    /// The cases of an input, if it is open.
    pub(crate) fn cases_of(&self, input: InputId) -> Option<InputCases> {
        self.opened.cases.get(&input).cloned()
    }

    /// Where conditions cannot be computed, so that inputs may not have these values.
    pub(crate) fn failures(&self) -> &[EvaluationFailure] {
        &self.failures
    }

    /// What an expression comes to, case by case.
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

    /// The value of an expression where open inputs have these values.
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

    /// What an operation depends on, where it has to be evaluated case by case.
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
        // Few outcomes among many combinations: those in which it is the same are one case.
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

    /// What an expression comes to, and when, where that is known of all cases of its only input.
    fn settled(&mut self, inputs: &[InputId], id: ExpressionId) -> Vec<OutcomeCases> {
        let &[input] = inputs else { return Vec::new() };
        let Some(cases) = self.cases_of(input) else { return Vec::new() };
        let first = self.first_cases(input, &cases);
        let Some((numbers, answers)) = self.opened.settled.get(&id) else { return Vec::new() };
        if numbers.len() != cases.len() {
            return Vec::new();
        }
        let mut whens: IndexMap<u32, Vec<Formula>> = IndexMap::new();
        let mut start = 0;
        for run in numbers.chunk_by(|one, next| one == next) {
            let whens = whens.entry(run[0]).or_default();
            let end = start + run.len();
            match run.len() <= SHORT_RUN {
                true => whens.extend(cases[start..end].iter().map(|(when, _)| *when)),
                // One of the cases holds, so it is one of these if it is before their end and not
                // before them.
                false => whens.push(self.arena.and([first[end], !first[start]])),
            }
            start = end;
        }
        let answer = |number: u32| Ok(answers[number as usize].clone());
        whens.into_iter().map(|(number, whens)| (whens, answer(number))).collect()
    }

    /// For each number of cases that one of those that are listed first holds, as it is said when
    /// exactly one of all is to hold.
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

    /// The cases in which a value is true; those in which it is no condition fail, and if all do
    /// that is an error.
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
