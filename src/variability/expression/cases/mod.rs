//! Partitions the values of open inputs into the cases that conditions tell apart.
//!
//! A *probe* is a largest part of a condition that depends on one open input alone, or on one that
//! has infinitely many values and others that have few: then it is one probe for each combination
//! of those. Two values of the input are the same case when every probe comes to the same with
//! both, so that the cases are the classes of an equivalence, and no condition can tell which value
//! of its case an input has.
//!
//! How the classes are found depends on how many values there are:
//!
//! - Of a finite domain each value is tried: it is a region of its own, and regions with the same
//!   outcomes are one case.
//! - An infinite one cannot be tried. But a condition that only *compares* the input with constants
//!   is a function of how these comparisons come out, and that changes at the constants and nowhere
//!   else: they are [boundaries](boundaries::Boundaries) that partition the domain into
//!   [regions](regions::ValueRegion), and one value of each stands for all of it. That works for
//!   computations with the input, too, as long as they keep to one direction: where `2 * size + 1`
//!   passes `10` is then found by bisection.
//! - Where a condition does anything else with the input, such as to concatenate it, nothing is
//!   known of other values, and the input cannot stay open.
//!
//! Regions with the same outcomes are put together again, so that boundaries that turn out not to
//! matter, as those behind an `or` that holds anyway, make no cases. `label` then says for people
//! what the values of a case have in common.

mod boundaries;
mod label;
mod partition;
mod pattern;
mod probe;
mod regions;
mod texts;

use super::evaluate::Evaluator;
use crate::text::diagnostic::Diagnostics;
use crate::text::source::Span;
use crate::text::value::Value;
use crate::variability::graph::Graph;
use crate::variability::inputs::{InputId, InputValue};
use crate::variability::syntax::{ExpressionId, Syntax};
use crate::variability::template::TypeSpecificConditions;
use partition::Partitioner;
use probe::{Ask, Probe, ProbeFinder, ProbeOutcome};
pub(crate) use regions::End as RangeEnd;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// An input that is not decided, and what may become of it.
#[derive(Clone, Debug)]
pub(crate) struct OpenInput {
    /// Which.
    pub input: InputId,
    /// Where it is declared.
    pub span: Span,
    /// What conditions tell apart; at least one.
    pub cases: Vec<InputCase>,
    probes: Vec<Probe>,
    /// What each probe comes to in some case, each once.
    answers: Vec<Vec<ProbeOutcome>>,
    /// What each probe comes to, case by case: numbers of its answers.
    outcomes: Vec<Rc<[u32]>>,
    /// How often an expression was evaluated for that.
    pub evaluations: usize,
}

impl OpenInput {
    /// Whether a condition or a rule asks for it, whatever it makes of the answer.
    pub(crate) fn is_asked(&self) -> bool {
        !self.probes.is_empty()
    }
}

/// Values of an input that no condition tells apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InputCase {
    /// One of them, valid for the input's constraints; nothing where none is known and none is
    /// needed.
    pub value: Option<Value>,
    /// All of them, for people: `< 500`, `laptop`, `something else`.
    pub label: String,
    /// Whether that is the only one.
    pub exact: bool,
    /// Which values it has, for whoever is to tell without asking conditions.
    pub members: CaseMembers,
}

/// The values of a case, as far as they are listed or lie on the line of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CaseMembers {
    /// Its ranges of numbers.
    pub ranges: Vec<NumberRange>,
    /// Its values that stand for themselves only.
    pub values: Vec<Value>,
    /// Whether it has any others, beside ranges.
    pub others: bool,
}

/// The lower and the upper end of a range of numbers.
pub(crate) type NumberRange = (RangeEnd, RangeEnd);

/// Where conditions start.
pub(crate) struct Roots {
    /// Conditions.
    pub conditions: Vec<ExpressionId>,
    /// Inputs that are conditions by themselves.
    pub inputs: Vec<InputId>,
    /// Inputs of which rules ask whether they are selected as features.
    pub features: Vec<InputId>,
}

impl Roots {
    /// All conditions of a template.
    pub(crate) fn of<'a>(graph: &Graph<'a>, type_specific: &TypeSpecificConditions<'a>) -> Self {
        let mut conditions = Vec::new();
        let read = |node| graph.syntax.read(node);
        for element in &graph.elements {
            conditions.extend(element.conditions);
            let implications = element.settings.into_iter().flat_map(|settings| &settings.implies);
            conditions.extend(
                implications
                    .flat_map(|implication| [Some(implication.target), implication.condition])
                    .flatten()
                    .map(read),
            );
        }
        conditions.extend(graph.technologies.iter().filter_map(|technology| technology.conditions));
        conditions.extend(type_specific.iter().map(|condition| read(condition.conditions)));
        conditions.extend(graph.template.variability.constraints.iter().map(|&node| read(node)));
        Self { conditions, inputs: Vec::new(), features: Vec::new() }
    }
}

impl OpenInput {
    /// The case that a value belongs to; nothing where the input may not have it, or where nothing
    /// that asks for it can be computed with it.
    pub(crate) fn case_of(
        &self,
        evaluator: &mut Evaluator<'_, '_>,
        value: &Value,
    ) -> Option<usize> {
        let declaration = evaluator.known.inputs.declarations.get(self.input)?;
        if !declaration.problems(value).is_empty() {
            return None;
        }
        if self.probes.is_empty() {
            return Some(0);
        }
        let answered = self.probes.iter().zip(&self.answers);
        let numbers = answered.map(|(probe, answers)| {
            let outcome = probe.outcome(evaluator, self.input, value);
            answers.iter().position(|answer| *answer == outcome).map(|number| number as u32)
        });
        let numbers: Vec<u32> = numbers.collect::<Option<_>>()?;
        (0..self.cases.len())
            .find(|&case| self.outcomes.iter().zip(&numbers).all(|(of, own)| of[case] == *own))
    }

    /// The expressions of which it is known what they come to in each case, as conditions or as
    /// whatever they are: for each case its answer, and the answers.
    pub(crate) fn settled<'s>(
        &'s self,
        syntax: &'s Syntax<'_>,
    ) -> impl Iterator<Item = (ExpressionId, Rc<[u32]>, Vec<Value>)> + 's {
        let answered = self.probes.iter().zip(&self.answers).zip(&self.outcomes);
        answered.filter_map(move |((probe, answers), numbers)| {
            let id = probe.settles(syntax)?;
            let answers = answers.iter().cloned().collect::<Option<Vec<_>>>()?;
            Some((id, Rc::clone(numbers), answers))
        })
    }
}

/// Partitions the values of every open input; `known` are values that are known to be of use, by
/// input: they are taken as examples first.
///
/// # Errors
/// `open-input` for each expression that tells too many values apart.
pub(crate) fn partition<'a>(
    evaluator: &mut Evaluator<'_, 'a>,
    roots: &Roots,
    known: &FxHashMap<InputId, Vec<Value>>,
) -> Result<Vec<OpenInput>, Diagnostics> {
    let inputs = evaluator.known.inputs;
    let mut finder = ProbeFinder::new(evaluator);
    roots.conditions.iter().for_each(|&id| finder.condition(id));
    let mut probes = finder.probes;
    let itself = roots.inputs.iter().map(|&input| (input, Ask::Itself));
    for (input, ask) in itself.chain(roots.features.iter().map(|&input| (input, Ask::Feature))) {
        probes.entry(input).or_default().push(Probe::new(ask));
    }
    let mut diagnostics = Diagnostics::default();
    let mut open = Vec::new();
    for (input, declaration) in inputs.declarations.iter() {
        if matches!(inputs.values.get(input), InputValue::Open) {
            let known = known.get(&input).map_or(&[][..], Vec::as_slice);
            let probes = probes.remove(&input).unwrap_or_default();
            let partitioner =
                Partitioner { evaluator: &mut *evaluator, input, declaration, probes, known };
            open.extend(diagnostics.ok(partitioner.partition()));
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(open) }
}
