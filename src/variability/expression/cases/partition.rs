//! Partitions the values of one input into cases.

use super::boundaries::{self, Boundaries};
use super::probe::{Probe, ProbeOutcome};
use super::regions::{self, Axis, NumberLine, ValueRegion};
use super::{CaseMembers, InputCase, OpenInput, label, pattern};
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::value::Primitive;
use crate::variability::expression::evaluate::Evaluator;
use crate::variability::inputs::{Declaration, InputId};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::Hasher as _;
use std::rc::Rc;

/// How many values are tried one by one at most.
const MAX_VALUES: i64 = 1000;

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
    outcomes: Vec<Vec<u32>>,
    /// The regions of each class.
    members: Vec<Vec<usize>>,
    evaluations: usize,
}

/// The boundaries of all probes together, and for each probe the keys of numbers at which its
/// outcome may change, if these are all of them.
type ProbedBoundaries = (Boundaries, Vec<Option<Vec<i64>>>);

/// The outcomes of a probe: for each region the number of its outcome, and the regions in which
/// numbers get too large for the probe.
#[derive(Default)]
struct ProbeAnswers {
    answers: Vec<ProbeOutcome>,
    numbers: Vec<u32>,
    beyond: Vec<usize>,
    evaluations: usize,
}

impl ProbeAnswers {
    fn answer(&self, region: usize) -> &ProbeOutcome {
        &self.answers[self.numbers[region] as usize]
    }
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
        let (regions, keys) = match few_values(self.declaration, 0) {
            Some(values) => self.listed(values),
            None => match self.boundaries() {
                Ok((boundaries, keys)) => {
                    (regions::regions(self.declaration, &boundaries, self.known), keys)
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
            regions.into_iter().filter(|region| self.is_valid(&region.value)).collect();
        if valid.is_empty() {
            return self.unknown();
        }
        let ValueClasses { answers, mut outcomes, mut members, evaluations } =
            self.classes(&valid, &keys);
        let all = members.len() == 1 && valid.iter().any(|region| !region.exact);
        let mut labels = label::labels(&valid, &members);
        if let Some(rest) = labels.iter().position(|label| label == label::REST) {
            outcomes.iter_mut().for_each(|numbers| numbers[rest..].rotate_left(1));
            members[rest..].rotate_left(1);
            labels[rest..].rotate_left(1);
        }
        let case = |(members, label): (&Vec<usize>, String)| InputCase {
            value: self.example(&valid, members),
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
            outcomes: outcomes.into_iter().map(Rc::from).collect(),
            evaluations,
        })
    }

    /// A region for each of these values. Every probe is evaluated in each of them.
    fn listed(&self, values: Vec<Value>) -> (Vec<ValueRegion>, Vec<Option<Vec<i64>>>) {
        let regions = regions::listed(self.declaration.primitive(), values);
        (regions, vec![None; self.probes.len()])
    }

    /// Groups regions that no probe distinguishes, with the outcomes of the probes.
    fn classes(&mut self, regions: &[ValueRegion], keys: &[Option<Vec<i64>>]) -> ValueClasses {
        let line = NumberLine::of(self.declaration.primitive());
        let key = |region: &ValueRegion| match &region.value {
            Value::Number(number) => line.and_then(|line| line.key(number)),
            _ => None,
        };
        let region_keys: Vec<Option<i64>> = regions.iter().map(key).collect();
        let mut found = Vec::with_capacity(self.probes.len());
        for (probe, keys) in self.probes.iter().zip(keys) {
            let place = |index: usize| {
                let key = region_keys[index]?;
                Some(keys.as_ref()?.partition_point(|&start| start <= key))
            };
            found.push(answers(self.evaluator, self.input, probe, regions, &place));
        }
        let mut classes = alike(regions.len(), &found);
        // Regions in which numbers overflow are left out, because the limits of numbers interest
        // nobody; except if there are no other regions.
        let beyond: FxHashSet<usize> = found.iter().flat_map(|it| &it.beyond).copied().collect();
        if beyond.len() < regions.len() {
            let is_within = |member: &usize| !beyond.contains(member);
            classes.iter_mut().for_each(|members| members.retain(is_within));
            classes.retain(|members| !members.is_empty());
        }
        // If every probe fails for a value, the value is no case of its own: no variant needs it.
        let fails = |members: &Vec<usize>| {
            !found.is_empty() && found.iter().all(|probe| probe.answer(members[0]).is_none())
        };
        let (failing, computed): (Vec<_>, Vec<_>) = classes.into_iter().partition(fails);
        let members = if computed.is_empty() { failing } else { computed };
        let evaluations = found.iter().map(|probe| probe.evaluations).sum();
        let of_classes = |probe: ProbeAnswers| {
            let number = |members: &Vec<usize>| probe.numbers[members[0]];
            (members.iter().map(number).collect(), probe.answers)
        };
        let (outcomes, answers) = found.into_iter().map(of_classes).unzip();
        ValueClasses { answers, outcomes, members, evaluations }
    }

    fn is_valid(&self, value: &Value) -> bool {
        self.declaration.problems(value).is_empty()
    }

    /// The value that represents a case: one that is known to be of use, or else the first.
    fn example(&self, regions: &[ValueRegion], members: &[usize]) -> Option<Value> {
        let values = || members.iter().map(|&index| &regions[index].value);
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

    /// The boundaries that conditions compare the input with.
    ///
    /// # Errors
    /// The place where a condition does something other than compare the input.
    fn boundaries(&mut self) -> Result<ProbedBoundaries, Span> {
        let line = NumberLine::of(self.declaration.primitive());
        let mut all = Boundaries::default();
        let mut keys = Vec::with_capacity(self.probes.len());
        for probe in &self.probes {
            let mut own = Boundaries::default();
            boundaries::collect(self.evaluator, self.input, self.declaration, probe, &mut own)?;
            // For dates, not only the position on the number line counts.
            let line = line.filter(|_| !own.dates);
            keys.push(line.map(|line| line.keys(&own, &[])));
            all.extend(own);
        }
        Ok((all, keys))
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

/// Groups regions in which all probes have the same outcome.
fn alike(regions: usize, probes: &[ProbeAnswers]) -> Vec<Vec<usize>> {
    let mut hashes = vec![FxHasher::default(); regions];
    for probe in probes {
        let numbers = probe.numbers.iter().zip(&mut hashes);
        numbers.for_each(|(&number, hash)| hash.write_u32(number));
    }
    let is_alike = |one: usize, other: usize| {
        probes.iter().all(|probe| probe.numbers[one] == probe.numbers[other])
    };
    let mut classes: Vec<Vec<usize>> = Vec::new();
    let mut class_of: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for (region, hash) in hashes.into_iter().enumerate() {
        let known = class_of.entry(hash.finish()).or_default();
        match known.iter().find(|&&class| is_alike(classes[class][0], region)) {
            Some(&class) => classes[class].push(region),
            None => {
                known.push(classes.len());
                classes.push(vec![region]);
            }
        }
    }
    classes
}

/// The outcomes of a probe in some regions. Regions at the same place have the same outcome.
fn answers(
    evaluator: &mut Evaluator<'_, '_>,
    input: InputId,
    probe: &Probe,
    regions: &[ValueRegion],
    place: &dyn Fn(usize) -> Option<usize>,
) -> ProbeAnswers {
    let mut found = ProbeAnswers::default();
    let mut known: FxHashMap<usize, (u32, bool)> = FxHashMap::default();
    // Most regions are at the same place as the one before.
    let mut last = None;
    evaluator.take_overflow();
    for (index, region) in regions.iter().enumerate() {
        let place = place(index);
        let known_here = match (place, last) {
            (Some(place), Some((before, known))) if place == before => Some(known),
            (Some(place), _) => known.get(&place).copied(),
            (None, _) => None,
        };
        let (number, overflows) = known_here.unwrap_or_else(|| {
            let outcome = probe.outcome(evaluator, input, &region.value);
            found.evaluations += 1;
            let answers = &mut found.answers;
            let number = answers.iter().position(|other| *other == outcome);
            let number = number.unwrap_or_else(|| {
                answers.push(outcome);
                answers.len() - 1
            });
            (number as u32, evaluator.take_overflow())
        });
        if known_here.is_none() {
            known.extend(place.map(|place| (place, (number, overflows))));
        }
        last = place.map(|place| (place, (number, overflows)));
        found.numbers.push(number);
        found.beyond.extend(overflows.then_some(index));
    }
    found
}
