//! Partitions the values of open inputs into cases. No condition distinguishes two values of the
//! same case.
//!
//! A *probe* is a largest part of a condition that depends on one open input alone. A part may also
//! depend on one input with infinitely many values and on others with few values: then there is one
//! probe for each combination of the values of the others. Two values of the input are in the same
//! case if every probe has the same outcome for both. So the cases are the classes of an
//! equivalence.
//!
//! How the classes are found depends on the number of values:
//!
//! - In a finite domain each value is tried. It is a region of its own, and regions with the same
//!   outcomes are one case.
//! - In an infinite domain this is impossible. But a condition that only *compares* the input with
//!   constants is a function of the results of these comparisons. These results change only at the
//!   constants. The constants are [boundaries](boundaries::Boundaries) that partition the domain
//!   into [regions](regions::ValueRegion), and one value of each region represents all of it. This
//!   also works for computations with the input, as long as they keep to one direction: bisection
//!   then finds where `2 * size + 1` passes `10`.
//! - If a condition does anything else with the input, such as to concatenate it, nothing is known
//!   about other values, and the input cannot stay open.
//!
//! Regions with the same outcomes are merged, so that irrelevant boundaries, such as those behind
//! an `or` that holds anyway, make no cases. `label` then describes the values of a case for
//! people.

mod boundaries;
mod label;
mod outcomes;
mod partition;
mod pattern;
mod probe;
mod regions;
mod runs;
mod texts;

use super::evaluate::Evaluator;
use crate::diagnostic::Diagnostics;
use crate::variability::graph::Graph;
use crate::variability::inputs::{InputId, InputValue};
use crate::variability::syntax::{ExpressionId, Syntax};
use crate::variability::template::TypeSpecificConditions;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use partition::Partitioner;
use probe::{Ask, Probe, ProbeFinder, ProbeOutcome};
pub(crate) use regions::End as RangeEnd;
pub(crate) use runs::NumberRuns;
use runs::covering;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// An input without a decided value, with its cases.
#[derive(Clone, Debug)]
pub(crate) struct OpenInput {
    /// The input.
    pub input: InputId,
    /// The place of its declaration.
    pub span: Span,
    /// The cases; at least one.
    pub cases: Vec<InputCase>,
    probes: Vec<Probe>,
    /// For each probe its different outcomes.
    answers: Vec<Vec<ProbeOutcome>>,
    /// For each probe the number of its outcome, case by case.
    outcomes: Vec<Rc<NumberRuns>>,
    /// How often expressions were evaluated to find the cases.
    pub evaluations: usize,
}

impl OpenInput {
    /// Whether a condition or a rule depends on the input, even if it never changes the result.
    pub(crate) fn is_asked(&self) -> bool {
        !self.probes.is_empty()
    }
}

/// A set of values of an input that no condition distinguishes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InputCase {
    /// A valid value of the case; `None` if none is known. Then whether there is one is not known
    /// either, except where none is needed.
    pub value: Option<Value>,
    /// A value for which conditions have the results of the case, valid or not.
    pub stand_in: Value,
    /// A description of all values of the case: `< 500`, `laptop`, `something else`.
    pub label: String,
    /// Whether the case has only one value.
    pub exact: bool,
    /// The values of the case, so that values can be assigned to cases without evaluating
    /// conditions.
    pub members: CaseMembers,
}

/// The values of a case, as far as they are listed or are on the number line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CaseMembers {
    /// The ranges of numbers.
    pub ranges: Vec<NumberRange>,
    /// The single values.
    pub values: Vec<Value>,
    /// Whether the case has further values, beside the ranges and single values.
    pub others: bool,
}

/// The lower and the upper end of a range of numbers.
pub(crate) type NumberRange = (RangeEnd, RangeEnd);

/// The expressions and inputs that partitioning starts from.
pub(crate) struct Roots {
    /// All conditions of the template.
    pub conditions: Vec<ExpressionId>,
    /// Inputs that are conditions themselves.
    pub inputs: Vec<InputId>,
    /// Inputs that rules use as features.
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
    /// The case that a value belongs to; `None` if the value is not allowed, or if every probe
    /// fails for it.
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
        let mut agreeing = Vec::new();
        for ((probe, answers), outcomes) in
            self.probes.iter().zip(&self.answers).zip(&self.outcomes)
        {
            let outcome = probe.outcome(evaluator, self.input, value);
            let own = answers.iter().position(|answer| *answer == outcome)?;
            let alike = outcomes.iter().filter(|&(_, number)| number as usize == own);
            agreeing.extend(alike.map(|(cases, _)| cases));
        }
        let agreeing = covering(self.cases.len(), &agreeing);
        agreeing.iter().position(|&probes| probes == self.probes.len())
    }

    /// The expressions whose result is known in each case: the number of its answer for each case,
    /// and the answers.
    pub(crate) fn settled<'s>(
        &'s self,
        syntax: &'s Syntax<'_>,
    ) -> impl Iterator<Item = (ExpressionId, Rc<NumberRuns>, Vec<Value>)> + 's {
        let answered = self.probes.iter().zip(&self.answers).zip(&self.outcomes);
        answered.filter_map(move |((probe, answers), numbers)| {
            let id = probe.settles(syntax)?;
            let answers = answers.iter().cloned().collect::<Option<Vec<_>>>()?;
            Some((id, Rc::clone(numbers), answers))
        })
    }
}

/// Partitions the values of every open input. `known` has values of inputs that are known to be of
/// use; they are preferred as examples.
///
/// # Errors
/// `open-input` for each expression that distinguishes too many values.
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
