//! Finds the outcomes of a probe in all regions. The probe is evaluated only where its own
//! boundaries say that its outcome may change.

use super::boundaries::Boundaries;
use super::probe::ProbeOutcome;
use super::regions::{NumberLine, ValueRegion};
use super::runs::NumberRuns;
use crate::tosca::value::Primitive;
use cuvee_text::value::Value;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Where the outcome of a probe may change.
pub(super) enum OutcomeChanges {
    /// From each region to the next.
    Anywhere,
    /// At the numbers with these keys, which ascend.
    AtKeys(Vec<i64>),
    /// At these texts; all others have the same outcome.
    AtTexts(Vec<Value>),
}

impl OutcomeChanges {
    /// Where the outcome of a probe with these boundaries may change, if its input has values of
    /// this type.
    pub(super) fn of(kind: Option<Primitive>, boundaries: &Boundaries) -> Self {
        // For dates, not only the position on the number line counts.
        if boundaries.dates {
            return Self::Anywhere;
        }
        if let Some(line) = NumberLine::of(kind) {
            return Self::AtKeys(line.keys(boundaries, &[]));
        }
        // A list of texts may contain the input, but is never equal to it.
        let mut values = boundaries.values.iter();
        let only_texts = values.all(|value| matches!(value, Value::String(_) | Value::List(_)));
        let equality = !boundaries.ordered && boundaries.lengths.is_empty();
        match kind == Some(Primitive::String) && equality && only_texts {
            true => Self::AtTexts(boundaries.values.clone()),
            false => Self::Anywhere,
        }
    }
}

/// The outcomes of a probe.
#[derive(Default)]
pub(super) struct ProbeAnswers {
    /// The different outcomes.
    pub answers: Vec<ProbeOutcome>,
    /// For each region the number of its outcome.
    pub numbers: NumberRuns,
    /// The regions in which numbers get too large for the probe.
    pub beyond: Vec<Range<usize>>,
    pub evaluations: usize,
}

impl ProbeAnswers {
    pub(super) fn answer(&self, region: usize) -> Option<&Value> {
        self.answers[self.numbers.at(region)? as usize].as_ref()
    }

    fn number(&mut self, outcome: ProbeOutcome) -> u32 {
        let known = self.answers.iter().position(|other| *other == outcome);
        known.unwrap_or_else(|| {
            self.answers.push(outcome);
            self.answers.len() - 1
        }) as u32
    }
}

/// Consecutive regions in which a probe has the same outcome.
struct RegionSpan {
    regions: Range<usize>,
    /// Whether the outcome is the one of all other spans with this mark.
    usual: bool,
}

impl RegionSpan {
    fn single(region: usize) -> Self {
        Self { regions: region..region + 1, usual: false }
    }
}

/// The regions of an input, with what tells where a number or a text is.
pub(super) struct RegionSpans<'r> {
    regions: &'r [ValueRegion],
    /// The regions of numbers that are found by their keys.
    numbers: Range<usize>,
    /// The keys of these numbers; they ascend.
    keys: Vec<i64>,
    texts: FxHashMap<&'r str, usize>,
}

impl<'r> RegionSpans<'r> {
    pub(super) fn of(kind: Option<Primitive>, regions: &'r [ValueRegion]) -> Self {
        let line = NumberLine::of(kind);
        let key = |region: &ValueRegion| match &region.value {
            Value::Number(number) => line.and_then(|line| line.key(number)),
            _ => None,
        };
        let first = regions.iter().position(|region| key(region).is_some()).unwrap_or(0);
        let mut keys: Vec<i64> = regions[first..].iter().map_while(key).collect();
        if !keys.is_sorted() {
            keys.clear();
        }
        let numbers = first..first + keys.len();
        let texts = regions.iter().enumerate();
        let texts = texts.filter_map(|(index, region)| Some((region.value.as_str()?, index)));
        Self { regions, numbers, keys, texts: texts.collect() }
    }

    /// The outcomes of a probe, given its outcome in one region and whether numbers get too large
    /// there.
    pub(super) fn answers(
        &self,
        changes: &OutcomeChanges,
        evaluate: &mut dyn FnMut(&ValueRegion) -> (ProbeOutcome, bool),
    ) -> ProbeAnswers {
        let mut found = ProbeAnswers::default();
        let mut usual = None;
        for RegionSpan { regions, usual: is_usual } in self.spans(changes) {
            let (number, overflows) = usual.filter(|_| is_usual).unwrap_or_else(|| {
                let (outcome, overflows) = evaluate(&self.regions[regions.start]);
                found.evaluations += 1;
                (found.number(outcome), overflows)
            });
            if is_usual {
                usual = Some((number, overflows));
            }
            found.numbers.extend(regions.len(), number);
            found.beyond.extend(overflows.then_some(regions));
        }
        found
    }

    fn spans(&self, changes: &OutcomeChanges) -> Vec<RegionSpan> {
        match changes {
            OutcomeChanges::Anywhere => (0..self.regions.len()).map(RegionSpan::single).collect(),
            OutcomeChanges::AtKeys(starts) => self.between(starts),
            OutcomeChanges::AtTexts(texts) => self.around(texts),
        }
    }

    /// The spans between numbers with these keys. Other values are spans of their own.
    fn between(&self, starts: &[i64]) -> Vec<RegionSpan> {
        let first = self.numbers.start;
        let from = |&start: &i64| first + self.keys.partition_point(|&key| key < start);
        let mut bounds: Vec<usize> =
            [first].into_iter().chain(starts.iter().map(from)).chain([self.numbers.end]).collect();
        bounds.dedup();
        let numbers =
            bounds.windows(2).map(|ends| RegionSpan { regions: ends[0]..ends[1], usual: false });
        let before = (0..first).map(RegionSpan::single);
        let after = (self.numbers.end..self.regions.len()).map(RegionSpan::single);
        before.chain(numbers).chain(after).collect()
    }

    /// The regions of these texts, and the spans between them.
    fn around(&self, texts: &[Value]) -> Vec<RegionSpan> {
        let known = |text: &Value| self.texts.get(text.as_str()?).copied();
        let mut own: Vec<usize> = texts.iter().filter_map(known).collect();
        own.sort_unstable();
        own.dedup();
        let mut spans = Vec::with_capacity(2 * own.len() + 1);
        let mut start = 0;
        for region in own.into_iter().chain([self.regions.len()]) {
            if start < region {
                spans.push(RegionSpan { regions: start..region, usual: true });
            }
            if region < self.regions.len() {
                spans.push(RegionSpan::single(region));
            }
            start = region + 1;
        }
        spans
    }
}
