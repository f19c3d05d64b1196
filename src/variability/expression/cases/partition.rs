//! Partitions the values of one input into cases.

use super::boundaries::{self, Boundaries};
use super::outcomes::{OutcomeChanges, ProbeAnswers, RegionSpans};
use super::probe::{Probe, ProbeOutcome};
use super::regions::{self, Axis, ValueRegion};
use super::runs::{NumberRuns, alike, covering};
use super::{CaseMembers, InputCase, OpenInput, label, pattern};
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::value::Primitive;
use crate::variability::expression::evaluate::Evaluator;
use crate::variability::inputs::{Declaration, InputId};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use std::rc::Rc;

/// How many values are tried one by one at most.
const MAX_VALUES: i64 = 1000;

/// Of at most this number of values each is tried, whatever conditions compare the input with.
const FEW_VALUES: usize = 32;

/// If at most this number of texts match a pattern, they are listed as the values of the input.
const FEW_TEXTS: usize = 32;

/// All values of an input, if its declaration lists them, or if they are a range of at most `most`
/// integers.
pub(super) fn few_values(declaration: &Declaration<'_>, most: i64) -> Option<Vec<Value>> {
    let valid = |value: &Value| declaration.problems(value).is_empty();
    match declaration.primitive() {
        Some(Primitive::Boolean) => {
            return Some([false, true].map(Value::from).into_iter().filter(valid).collect());
        }
        Some(Primitive::Null) => return Some([Value::Null].into_iter().filter(valid).collect()),
        _ => {}
    }
    if let Some(values) = declaration.listed_values() {
        let mut found: Vec<Value> = Vec::new();
        for value in values.into_iter().filter(valid) {
            if !found.contains(&value) {
                found.push(value);
            }
        }
        return Some(found);
    }
    if let Some(texts) = pattern::language(declaration, FEW_TEXTS) {
        return Some(texts.into_iter().map(Value::from).filter(valid).collect());
    }
    if declaration.primitive() != Some(Primitive::Integer) || most == 0 {
        return None;
    }
    let bounds = declaration
        .bounds()
        .filter_map(|bound| if let Value::Number(number) = bound { number.as_int() } else { None });
    let bounds: Vec<i64> = bounds.collect();
    let (&low, &high) = (bounds.iter().min()?, bounds.iter().max()?);
    let beyond = [low.checked_sub(1)?, high.checked_add(1)?];
    let closed =
        beyond.into_iter().all(|value| !valid(&value.into())) && high.checked_sub(low)? < most;
    closed.then(|| (low..=high).map(Value::from).filter(valid).collect())
}

impl CaseMembers {
    fn of<'r>(regions: impl Iterator<Item = &'r ValueRegion>) -> Self {
        let mut members = Self::default();
        for region in regions {
            match region.places.iter().find(|place| place.axis == Axis::Numbers) {
                Some(place) => members.ranges.push((place.low.clone(), place.high.clone())),
                None if region.exact => members.values.push(region.value.clone()),
                None => members.others = true,
            }
        }
        members
    }
}

/// Classes of regions; no probe distinguishes the regions of one class.
struct ValueClasses {
    /// For each probe its different outcomes.
    answers: Vec<Vec<ProbeOutcome>>,
    /// For each probe the number of its outcome, class by class.
    outcomes: Vec<NumberRuns>,
    /// The regions of each class.
    members: Vec<Vec<usize>>,
    evaluations: usize,
}

/// Partitions the values of one input.
pub(super) struct Partitioner<'c, 'e, 'a> {
    pub evaluator: &'c mut Evaluator<'e, 'a>,
    pub input: InputId,
    pub declaration: &'c Declaration<'a>,
    pub probes: Vec<Probe>,
    pub known: &'c [Value],
}

impl Partitioner<'_, '_, '_> {
    pub(super) fn partition(mut self) -> Result<OpenInput, Diagnostic> {
        let (regions, changes) = match few_values(self.declaration, 0) {
            Some(values) => self.listed(values),
            None => match self.boundaries() {
                Ok((boundaries, changes)) => {
                    (regions::regions(self.declaration, &boundaries, self.known), changes)
                }
                Err(span) => {
                    match few_values(self.declaration, MAX_VALUES).or_else(|| self.matching()) {
                        Some(values) => self.listed(values),
                        None => return Err(self.indistinct(span)),
                    }
                }
            },
        };
        let valid: Vec<ValueRegion> =
            regions.into_iter().filter(|it| it.is_assumed || self.is_valid(&it.value)).collect();
        if valid.is_empty() {
            return self.unknown();
        }
        let ValueClasses { answers, mut outcomes, mut members, evaluations } =
            self.classes(&valid, &changes);
        let all = members.len() == 1 && valid.iter().any(|region| !region.exact);
        let mut labels = label::labels(&valid, &members);
        if let Some(rest) = labels.iter().position(|label| label == label::REST) {
            outcomes.iter_mut().for_each(|numbers| numbers.move_last(rest));
            members[rest..].rotate_left(1);
            labels[rest..].rotate_left(1);
        }
        let case = |(members, label): (&Vec<usize>, String)| InputCase {
            value: self.example(&valid, members),
            stand_in: members.first().map_or(Value::Null, |&first| valid[first].value.clone()),
            label: if all { "any".into() } else { label },
            exact: members.len() == 1 && members.iter().all(|&member| valid[member].exact),
            members: CaseMembers::of(members.iter().map(|&member| &valid[member])),
        };
        let cases = members.iter().zip(labels).map(case).collect();
        Ok(OpenInput {
            input: self.input,
            span: self.declaration.span,
            cases,
            probes: self.probes,
            answers,
            outcomes: outcomes.into_iter().map(Rc::new).collect(),
            evaluations,
        })
    }

    /// A region for each of these values. Few values are tried one by one; of many, only those at
    /// which a probe has a boundary.
    fn listed(&mut self, values: Vec<Value>) -> (Vec<ValueRegion>, Vec<OutcomeChanges>) {
        let changes = (0..self.probes.len()).map(|probe| match values.len() > FEW_VALUES {
            true => self.boundaries_of(probe).map_or(OutcomeChanges::Anywhere, |(_, own)| own),
            false => OutcomeChanges::Anywhere,
        });
        let changes = changes.collect();
        (regions::listed(self.declaration.primitive(), values), changes)
    }

    /// Groups regions that no probe distinguishes, with the outcomes of the probes.
    fn classes(&mut self, regions: &[ValueRegion], changes: &[OutcomeChanges]) -> ValueClasses {
        let spans = RegionSpans::of(self.declaration.primitive(), regions);
        self.evaluator.take_overflow();
        let answers = |(probe, changes): (&Probe, &OutcomeChanges)| {
            spans.answers(changes, &mut |region| {
                let outcome = probe.outcome(self.evaluator, self.input, &region.value);
                (outcome, self.evaluator.take_overflow())
            })
        };
        let found: Vec<ProbeAnswers> = self.probes.iter().zip(changes).map(answers).collect();
        let rows: Vec<&NumberRuns> = found.iter().map(|probe| &probe.numbers).collect();
        let classes = alike(regions.len(), &rows).into_iter();
        let mut classes: Vec<(usize, Vec<usize>)> =
            classes.map(|members| (members[0], members)).collect();
        // Regions in which numbers overflow are left out, because the limits of numbers interest
        // nobody; except if there are no other regions.
        let beyond: Vec<_> = found.iter().flat_map(|probe| &probe.beyond).cloned().collect();
        let beyond = covering(regions.len(), &beyond);
        if beyond.contains(&0) {
            let is_within = |member: &usize| beyond[*member] == 0;
            classes.iter_mut().for_each(|(_, members)| members.retain(is_within));
            classes.retain(|(_, members)| !members.is_empty());
        }
        // If every probe fails for a value, the value is no case of its own: no variant needs it.
        let fails = |&(first, _): &(usize, Vec<usize>)| {
            !found.is_empty() && found.iter().all(|probe| probe.answer(first).is_none())
        };
        let (failing, computed): (Vec<_>, Vec<_>) = classes.into_iter().partition(fails);
        let classes = if computed.is_empty() { failing } else { computed };
        let (firsts, members): (Vec<_>, Vec<_>) = classes.into_iter().unzip();
        let evaluations = found.iter().map(|probe| probe.evaluations).sum();
        let of_classes = |probe: ProbeAnswers| (probe.numbers.select(&firsts), probe.answers);
        let (outcomes, answers) = found.into_iter().map(of_classes).unzip();
        ValueClasses { answers, outcomes, members, evaluations }
    }

    fn is_valid(&self, value: &Value) -> bool {
        self.declaration.problems(value).is_empty()
    }

    /// The value that represents a case: one that is known to be of use, or else the first.
    fn example(&self, regions: &[ValueRegion], members: &[usize]) -> Option<Value> {
        let known = members.iter().map(|&index| &regions[index]).filter(|it| !it.is_assumed);
        let values = || known.clone().map(|region| &region.value);
        self.known
            .iter()
            .find(|known| values().any(|value| value == *known))
            .or_else(|| values().next())
            .cloned()
    }

    /// All texts that match the pattern of the input, if there are not too many.
    fn matching(&self) -> Option<Vec<Value>> {
        let texts = pattern::language(self.declaration, MAX_VALUES as usize)?;
        Some(texts.into_iter().map(Value::from).collect())
    }

    /// The boundaries that conditions compare the input with, and where the outcome of each probe
    /// may change.
    ///
    /// # Errors
    /// The place where a condition does something other than compare the input.
    fn boundaries(&mut self) -> Result<(Boundaries, Vec<OutcomeChanges>), Span> {
        let mut all = Boundaries::default();
        let mut changes = Vec::with_capacity(self.probes.len());
        for probe in 0..self.probes.len() {
            let (own, own_changes) = self.boundaries_of(probe)?;
            all.extend(own);
            changes.push(own_changes);
        }
        Ok((all, changes))
    }

    fn boundaries_of(&mut self, probe: usize) -> Result<(Boundaries, OutcomeChanges), Span> {
        let mut own = Boundaries::default();
        let Self { evaluator, input, declaration, probes, .. } = self;
        boundaries::collect(evaluator, *input, declaration, &probes[probe], &mut own)?;
        let changes = OutcomeChanges::of(declaration.primitive(), &own);
        Ok((own, changes))
    }

    fn indistinct(&self, span: Span) -> Diagnostic {
        let name = self.declaration.name;
        let message = format!(
            "the values of input `{name}` cannot be told apart here, so it cannot stay open"
        );
        Diagnostic::error(Code::OpenInput, message)
            .at(span)
            .label(self.declaration.span, "declared here")
            .help(format!(
                "assign it with `--input {name}=VALUE` or a preset, or list its `valid_values`"
            ))
    }

    /// An input for which no valid value is known. This is an error only if a probe depends on the
    /// input.
    fn unknown(self) -> Result<OpenInput, Diagnostic> {
        if self.probes.is_empty() {
            let cases = vec![InputCase {
                value: None,
                stand_in: Value::Null,
                label: "any".into(),
                exact: false,
                members: CaseMembers { others: true, ..CaseMembers::default() },
            }];
            return Ok(OpenInput {
                input: self.input,
                span: self.declaration.span,
                cases,
                probes: self.probes,
                answers: Vec::new(),
                outcomes: Vec::new(),
                evaluations: 0,
            });
        }
        let message = format!("no value is known that input `{}` may have", self.declaration.name);
        let error = Diagnostic::error(Code::OpenInput, message).at(self.declaration.span);
        Err(error.help("declare a valid `default`, or assign it with `--input`"))
    }
}
