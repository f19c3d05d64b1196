//! Makes the regions of texts: the constants that an input is compared with, and samples of all
//! other texts.
//!
//! All texts cannot be listed. So many samples are tried that are between, before and after the
//! constants, or have lengths that matter. Of samples that compare alike with all constants, one is
//! kept.

use super::boundaries::Boundaries;
use super::pattern;
use super::regions::{Axis, MAX_LENGTH, RegionPlace, ValueRegion, length_place, lengths};
use crate::tosca::value::{AmountUnits, Primitive, is_version};
use crate::variability::inputs::Declaration;
use crate::variability::operators::{compare, instant};
use cuvee_text::float::parse_float;
use cuvee_text::value::Value;
use jiff::{SignedDuration, Timestamp};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;

/// How many units beside those of constants are tried.
const UNITS: usize = 4;

/// How many samples are tried at most.
const MAX_SAMPLES: usize = 20_000;

/// The regions of texts; all are valid, or assumed.
pub(super) fn regions(
    declaration: &Declaration<'_>,
    boundaries: &Boundaries,
    known: &[Value],
) -> Vec<ValueRegion> {
    let axes = Axes::new(declaration, boundaries);
    let lengths = lengths(declaration, boundaries);
    let is_text = |value: &&Value| value.as_str().is_some();
    let valid = |value: &Value| declaration.problems(value).is_empty();
    let constants: FxHashSet<&str> = boundaries.values.iter().filter_map(Value::as_str).collect();
    let mut named: FxHashSet<&str> = FxHashSet::default();
    let mut regions: Vec<ValueRegion> = Vec::new();
    let region = |value: &Value, places: Vec<RegionPlace>| ValueRegion {
        places,
        ..ValueRegion::exact(value.clone())
    };
    let places = |value: &Value| {
        axes.places(value)
            .into_iter()
            .chain(length_place(value, &lengths, boundaries))
            .collect::<Vec<_>>()
    };
    for value in boundaries.values.iter().filter(is_text) {
        if valid(value) && value.as_str().is_some_and(|text| named.insert(text)) {
            regions.push(region(value, places(value)));
        }
    }
    let mut seen: FxHashSet<(Vec<Option<Ordering>>, Option<i64>)> = FxHashSet::default();
    let samples = samples(declaration, boundaries, &lengths);
    let samples = known
        .iter()
        .filter(is_text)
        .cloned()
        .chain(samples.into_iter().take(MAX_SAMPLES).map(Value::from));
    let mut assumed = FxHashMap::default();
    for value in
        samples.filter(|value| value.as_str().is_some_and(|text| !constants.contains(text)))
    {
        let length = length_place(&value, &lengths, boundaries);
        let signature = (axes.signature(&value), length.as_ref().map(|place| place.position));
        if seen.contains(&signature) {
            continue;
        }
        if valid(&value) {
            seen.insert(signature);
            regions.push(ValueRegion { exact: false, ..region(&value, places(&value)) });
        } else if !assumed.contains_key(&signature) && declaration.is_conceivable(&value) {
            assumed.insert(signature, value);
        }
    }
    let mut assumed: Vec<_> = assumed.into_iter().filter(|(it, _)| !seen.contains(it)).collect();
    assumed.sort_by(|(_, a), (_, b)| a.as_str().cmp(&b.as_str()));
    let assumed = assumed.into_iter().map(|(_, value)| region(&value, places(&value)));
    regions.extend(assumed.map(ValueRegion::assumed));
    regions.sort_by_key(|region| region.places.first().map(|place| place.position));
    regions
}

/// The orders by which texts are compared.
struct Axes<'d> {
    /// What others are compared with, sorted, each with its text; empty if only equality matters.
    texts: Vec<(Value, String)>,
    /// The units of texts that are compared as amounts.
    amounts: Option<&'d AmountUnits>,
    /// The dates that others are compared with, in order, each with its text.
    dates: Vec<(Timestamp, String)>,
    asks_dates: bool,
}

impl<'d> Axes<'d> {
    fn new(declaration: &'d Declaration<'_>, boundaries: &Boundaries) -> Self {
        let amounts = declaration.amounts();
        let mut texts: Vec<(Value, String)> = Vec::new();
        // Amounts that are equal may have different texts.
        if boundaries.ordered || amounts.is_some() {
            let all = boundaries.values.iter().filter(|value| value.as_str().is_some());
            let read = all.map(|value| (declaration.compared(value), value.to_string()));
            texts.extend(read.filter(|(it, _)| amounts.is_none() || it.as_str().is_none()));
        }
        // Versions have their own order, but only if all texts are versions.
        let versions = texts.iter().all(|(value, _)| value.as_str().is_none_or(is_version));
        if versions {
            texts.sort_by(|(a, _), (b, _)| compare(a, b).unwrap_or(Ordering::Equal));
        } else {
            texts.sort_by(|(a, _), (b, _)| a.as_str().cmp(&b.as_str()));
        }
        texts.dedup_by(|(a, _), (b, _)| compare(a, b) == Some(Ordering::Equal));
        let mut dates: Vec<_> = Vec::new();
        if boundaries.dates {
            dates.extend(
                boundaries
                    .values
                    .iter()
                    .filter_map(|value| Some((instant(value)?, value.to_string()))),
            );
        }
        dates.sort();
        dates.dedup_by_key(|(instant, _)| *instant);
        Self { texts, amounts, dates, asks_dates: boundaries.dates }
    }

    /// The results of comparing a text with all constants, as texts and as dates.
    fn signature(&self, value: &Value) -> Vec<Option<Ordering>> {
        self.by_text(value).chain(self.by_date(value)).collect()
    }

    fn by_text<'s>(&'s self, value: &'s Value) -> impl Iterator<Item = Option<Ordering>> + 's {
        let read = self.amounts.map(|units| units.in_base_unit(value));
        self.texts.iter().map(move |(text, _)| compare(read.as_ref().unwrap_or(value), text))
    }

    fn by_date(&self, value: &Value) -> Vec<Option<Ordering>> {
        let own = instant(value);
        let order = |(date, _): &(Timestamp, String)| own.map(|own| own.cmp(date));
        let is_date = self.asks_dates.then(|| own.map(|_| Ordering::Equal));
        self.dates.iter().map(order).chain(is_date).collect()
    }

    fn places(&self, value: &Value) -> Vec<RegionPlace> {
        let texts: Vec<String> = self.texts.iter().map(|(_, text)| text.clone()).collect();
        let text = place(Axis::Texts, self.by_text(value), &texts);
        let dates: Vec<String> = self.dates.iter().map(|(_, text)| text.clone()).collect();
        let date = place(Axis::Dates, self.by_date(value).into_iter().take(dates.len()), &dates);
        text.into_iter().chain(date).collect()
    }
}

/// The place of a value in an order, given how it compares with the sorted points; `None` if the
/// results fit no order.
fn place(
    axis: Axis,
    orders: impl Iterator<Item = Option<Ordering>>,
    points: &[String],
) -> Option<RegionPlace> {
    let orders: Vec<Ordering> = orders.collect::<Option<_>>()?;
    if orders.is_empty() || !orders.is_sorted_by(|a, b| a >= b) {
        return None;
    }
    let below = orders.iter().filter(|order| order.is_gt()).count();
    let end = |index: Option<usize>, closed: bool| Some((points.get(index?)?.clone(), closed));
    if orders.get(below).is_some_and(|order| order.is_eq()) {
        let own = end(Some(below), true);
        return Some(RegionPlace {
            axis,
            position: 2 * below as i64 + 1,
            low: own.clone(),
            high: own,
        });
    }
    Some(RegionPlace {
        axis,
        position: 2 * below as i64,
        low: end(below.checked_sub(1), false),
        high: end(Some(below), false),
    })
}

/// Sample texts, the most readable ones first.
fn samples(
    declaration: &Declaration<'_>,
    boundaries: &Boundaries,
    lengths: &[(usize, Option<usize>)],
) -> Vec<String> {
    let (bounds, constants): (Vec<Value>, _) =
        (declaration.bounds().collect(), declaration.constants());
    let constants: Vec<&str> = constants.iter().filter_map(Value::as_str).collect();
    let points = boundaries.values.iter().chain(&bounds).filter_map(Value::as_str);
    let points: Vec<&str> = points.chain(constants.iter().copied()).collect();
    let wanted: Vec<usize> = lengths
        .iter()
        .flat_map(|&(start, _)| [start, start + 1])
        .filter(|&length| length <= MAX_LENGTH)
        .collect();
    let mut found: Vec<String> = Vec::new();
    let kind = declaration.primitive();
    let free = matches!(kind, Some(Primitive::String) | None) && declaration.amounts().is_none();
    for constraint in declaration.constraints() {
        found.extend(pattern::samples(constraint, &wanted));
    }
    for pattern in declaration.patterns() {
        found.extend(pattern::samples_of(pattern, &wanted));
    }
    if declaration.schema.primitive() == Some(Primitive::Bytes) {
        found.extend(constants.iter().copied().map(str::to_owned));
        found.extend(bytes(&wanted));
    }
    if free {
        found.extend(constants.iter().copied().map(str::to_owned));
        found.extend(["other", "another", "x", "a-b", "0"].map(String::from));
        found.extend(
            wanted.iter().flat_map(|&length| ["x", "y", "0"].map(|text| text.repeat(length))),
        );
    }
    if free || kind == Some(Primitive::Version) {
        let versions: Vec<&str> =
            points.iter().copied().filter(|point| is_version(point)).collect();
        if !free || !versions.is_empty() {
            found.extend(["1.0", "1.0.1", "2.0", "99.0", "0.0", "0.0.0.alpha"].map(String::from));
        }
        found.extend(versions.iter().flat_map(|version| versions_around(version)));
    }
    if boundaries.dates || kind == Some(Primitive::Timestamp) {
        found.extend(dates(boundaries, declaration));
    }
    if let Some(units) = declaration.amounts() {
        found.extend(constants.iter().copied().map(str::to_owned));
        found.extend(measures(units, &points));
    }
    if free && boundaries.ordered {
        found.extend(["", "!", "0", "A", "~"].map(String::from));
        found.extend(points.iter().flat_map(|point| texts_around(point)));
    } else if free {
        // A validation may ask for parts of a text, and conditions for other ones.
        found.extend(constants.iter().flat_map(|constant| texts_with(constant)));
    }
    if free && !boundaries.lengths.is_empty() {
        let sized: Vec<String> = wanted
            .iter()
            .flat_map(|&length| found.iter().map(move |text| resized(text, length)))
            .take(MAX_SAMPLES)
            .collect();
        found.extend(sized);
    }
    found
}

/// Texts that are close to a text in the order, before and after it.
fn texts_around(text: &str) -> Vec<String> {
    let mut chars = text.chars();
    let last = chars.next_back();
    let before = last
        .and_then(|last| char::from_u32(u32::from(last).checked_sub(1)?))
        .map(|last| format!("{}{last}~", chars.as_str()));
    let behind = ["a", "0", "-", "!", " "].map(|end| format!("{text}{end}"));
    behind.into_iter().chain(before).chain([chars.as_str().to_owned()]).collect()
}

/// Texts with a text at their start, at their end, and in their midst; and its start.
fn texts_with(text: &str) -> Vec<String> {
    let longer = ["a", "b", "0", "-", "."].into_iter();
    let longer = longer.flat_map(|more| {
        [format!("{text}{more}"), format!("{more}{text}"), format!("{more}{text}{more}")]
    });
    let mut chars = text.chars();
    let shorter = chars.next_back().map(|_| chars.as_str().to_owned());
    longer.chain(shorter).collect()
}

/// Bytes as base64: few ones, and some of the wanted lengths of the text.
fn bytes(wanted: &[usize]) -> Vec<String> {
    let few = ["", "AA==", "AAA="].into_iter().map(String::from);
    let lengths = [4, 8, 12, 16, 32, 64].into_iter().chain(wanted.iter().copied());
    let long = lengths.filter(|length| length % 4 == 0);
    few.chain(long.flat_map(|length| ["A", "B"].map(|digit| digit.repeat(length)))).collect()
}

/// A text of this length with the same start.
fn resized(text: &str, length: usize) -> String {
    text.chars().chain(std::iter::repeat('0')).take(length).collect()
}

/// Versions that are close to a version, before and after it.
fn versions_around(version: &str) -> Vec<String> {
    let mut parts = version.splitn(4, '.');
    let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok()).unwrap_or_default();
    let [major, minor, fix] = [number(), number(), number()];
    let next = |number: u64| number.saturating_add(1);
    let own = format!("{major}.{minor}.{fix}");
    let mut found = vec![
        format!("{major}.{minor}.{}", next(fix)),
        format!("{major}.{}", next(minor)),
        format!("{}.0", next(major)),
        format!("{own}.alpha"),
        format!("{own}.0"),
        format!("{major}.{minor}.{}.0", next(fix)),
        own,
    ];
    found.extend(fix.checked_sub(1).map(|fix| format!("{major}.{minor}.{fix}")));
    found.extend(minor.checked_sub(1).map(|minor| format!("{major}.{minor}")));
    found.extend(major.checked_sub(1).map(|major| format!("{major}.0")));
    if let Some(qualified) = parts.next() {
        let (qualifier, build) = qualified.rsplit_once('-').unwrap_or((qualified, "0"));
        let build = build.parse::<u64>().unwrap_or_default();
        let builds = [Some(next(build)), build.checked_sub(1)].into_iter().flatten();
        found.extend(builds.map(|build| format!("{major}.{minor}.{fix}.{qualifier}-{build}")));
        found.push(format!("{major}.{minor}.{fix}.{qualifier}0"));
    } else {
        found.push(format!("{major}.{minor}.{fix}.zzz"));
    }
    found
}

/// Dates: the constants, dates close to them before and after, and dates between them.
fn dates(boundaries: &Boundaries, declaration: &Declaration<'_>) -> Vec<String> {
    let bounds: Vec<Value> = declaration.bounds().collect();
    let mut points: Vec<Timestamp> =
        boundaries.values.iter().chain(&bounds).filter_map(instant).collect();
    points.sort_unstable();
    points.dedup();
    let second = SignedDuration::from_secs(1);
    let day = SignedDuration::from_hours(24);
    let mut found: Vec<Timestamp> = Vec::new();
    for (&low, &high) in points.iter().zip(points.iter().skip(1)) {
        found.extend(
            high.duration_since(low).checked_div(2).and_then(|half| low.checked_add(half).ok()),
        );
    }
    for &point in &points {
        found.extend(
            [day, second]
                .into_iter()
                .flat_map(|step| [point.checked_sub(step).ok(), point.checked_add(step).ok()])
                .flatten(),
        );
    }
    let own = points
        .iter()
        .flat_map(|point| [point.to_string(), point.to_string().replace('Z', "+00:00")]);
    let far = ["2000-01-01", "2000-01-02", "0001-01-01", "9999-12-31"];
    // TOSCA 2.0 has no dates without a time.
    let far = far.into_iter().flat_map(|date| [date.to_owned(), format!("{date}T00:00:00Z")]);
    found.iter().flat_map(|&at| [date(at), at.to_string()]).chain(own).chain(far).collect()
}

/// A date as people write it: without the time if that is midnight.
fn date(at: Timestamp) -> String {
    let text = at.to_string();
    text.strip_suffix("T00:00:00Z").map_or_else(|| text.clone(), str::to_owned)
}

/// Amounts in all units that the constants use, and in a few others: near the constants and between
/// them.
fn measures(units: &AmountUnits, points: &[&str]) -> Vec<String> {
    let sizes = units.sizes();
    let mut used: Vec<(&str, f64)> = Vec::new();
    let mut scalars: Vec<f64> = Vec::new();
    for point in points {
        let at = point.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(point.len());
        let (scalar, unit) = point.split_at(at);
        let known = sizes.iter().find(|(known, _)| known.eq_ignore_ascii_case(unit));
        used.extend(known.filter(|known| !used.contains(known)));
        if let Some(scalar) = parse_float(scalar.trim()) {
            scalars.extend([1.0, -1.0, 0.5, -0.5].map(|step| scalar + step));
            scalars.extend([scalar, scalar * 2.0, scalar / 2.0, scalar * 10.0]);
        }
    }
    used.extend(sizes.iter().take(UNITS));
    scalars.extend([
        1.0, 2.0, 0.0, 0.5, 1.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 9.5, 10.0, 15.0, 50.0, 99.0,
        100.0, 1000.0,
    ]);
    match units {
        AmountUnits::Dimension(_) => scalars.retain(|scalar| *scalar >= 0.0),
        AmountUnits::Defined(_) => scalars.push(-1.0),
    }
    let mut amounts: Vec<f64> =
        points.iter().filter_map(|point| Some(units.amount(point)?.as_f64())).collect();
    amounts.sort_by(f64::total_cmp);
    let between =
        amounts.iter().zip(amounts.iter().skip(1)).map(|(low, high)| low / 2.0 + high / 2.0);
    let between: Vec<f64> = between.collect();
    let near =
        used.iter().flat_map(|(unit, _)| scalars.iter().map(move |it| format!("{it} {unit}")));
    let middle = used.iter().flat_map(|(unit, size)| {
        let own = between.iter().map(move |amount| amount / size);
        own.flat_map(move |it| [format!("{} {unit}", it.floor()), format!("{it} {unit}")])
    });
    near.chain(middle).collect()
}
