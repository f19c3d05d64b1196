//! Makes the regions of texts: the constants that an input is compared with, and samples of all
//! other texts.
//!
//! All texts cannot be listed. So many samples are tried that are between, before and after the
//! constants, or have lengths that matter. Of samples that compare alike with all constants, one is
//! kept.

use super::boundaries::Boundaries;
use super::pattern;
use super::regions::{Axis, MAX_LENGTH, RegionPlace, ValueRegion, length_place, lengths};
use crate::tosca::value::{Dimension, Primitive, is_version};
use crate::variability::inputs::Declaration;
use crate::variability::operators::{compare, instant};
use cuvee_text::value::Value;
use jiff::{SignedDuration, Timestamp};
use rustc_hash::FxHashSet;
use std::cmp::Ordering;

/// How many samples are tried at most.
const MAX_SAMPLES: usize = 20_000;

/// The regions of texts; all are valid.
pub(super) fn regions(
    declaration: &Declaration<'_>,
    boundaries: &Boundaries,
    known: &[Value],
) -> Vec<ValueRegion> {
    let axes = Axes::new(boundaries);
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
    for value in
        samples.filter(|value| value.as_str().is_some_and(|text| !constants.contains(text)))
    {
        let length = length_place(&value, &lengths, boundaries);
        let signature = (axes.signature(&value), length.as_ref().map(|place| place.position));
        if !seen.contains(&signature) && valid(&value) {
            seen.insert(signature);
            regions.push(ValueRegion { exact: false, ..region(&value, places(&value)) });
        }
    }
    regions.sort_by_key(|region| region.places.first().map(|place| place.position));
    regions
}

/// The orders by which texts are compared.
struct Axes {
    /// The texts that others are compared with, sorted; empty if only equality matters.
    texts: Vec<Value>,
    /// The dates that others are compared with, in order, each with its text.
    dates: Vec<(Timestamp, String)>,
    asks_dates: bool,
}

impl Axes {
    fn new(boundaries: &Boundaries) -> Self {
        let mut texts: Vec<Value> = Vec::new();
        if boundaries.ordered {
            texts
                .extend(boundaries.values.iter().filter(|value| value.as_str().is_some()).cloned());
        }
        // Versions have their own order, but only if all texts are versions.
        let versions = texts.iter().all(|value| value.as_str().is_some_and(is_version));
        if versions {
            texts.sort_by(|a, b| compare(a, b).unwrap_or(Ordering::Equal));
        } else {
            texts.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        }
        texts.dedup_by(|a, b| compare(a, b) == Some(Ordering::Equal));
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
        Self { texts, dates, asks_dates: boundaries.dates }
    }

    /// The results of comparing a text with all constants, as texts and as dates.
    fn signature(&self, value: &Value) -> Vec<Option<Ordering>> {
        self.by_text(value).chain(self.by_date(value)).collect()
    }

    fn by_text<'s>(&'s self, value: &'s Value) -> impl Iterator<Item = Option<Ordering>> + 's {
        self.texts.iter().map(move |text| compare(value, text))
    }

    fn by_date(&self, value: &Value) -> Vec<Option<Ordering>> {
        let own = instant(value);
        let order = |(date, _): &(Timestamp, String)| own.map(|own| own.cmp(date));
        let is_date = self.asks_dates.then(|| own.map(|_| Ordering::Equal));
        self.dates.iter().map(order).chain(is_date).collect()
    }

    fn places(&self, value: &Value) -> Vec<RegionPlace> {
        let texts: Vec<String> = self.texts.iter().map(ToString::to_string).collect();
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
    let free = matches!(kind, Some(Primitive::String) | None);
    for constraint in declaration.constraints() {
        found.extend(pattern::samples(constraint, &wanted));
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
    if let Some(Primitive::ScalarUnit(dimension)) = kind {
        found.extend(measures(dimension, &points));
    }
    if free && boundaries.ordered {
        found.extend(["", "!", "0", "A", "~"].map(String::from));
        found.extend(points.iter().flat_map(|point| texts_around(point)));
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
    let far = ["2000-01-01", "2000-01-02", "0001-01-01", "9999-12-31"].map(String::from);
    found.iter().map(|&at| date(at)).chain(own).chain(far).collect()
}

/// A date as people write it: without the time if that is midnight.
fn date(at: Timestamp) -> String {
    let text = at.to_string();
    text.strip_suffix("T00:00:00Z").map_or_else(|| text.clone(), str::to_owned)
}

/// Scalars in all units that the constants use, and in common units.
fn measures(dimension: Dimension, points: &[&str]) -> Vec<String> {
    let mut units: Vec<&str> = Vec::new();
    let mut scalars: Vec<f64> = Vec::new();
    for point in points {
        let at = point.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(point.len());
        let (scalar, unit) = point.split_at(at);
        if !unit.is_empty() && !units.contains(&unit) {
            units.push(unit);
        }
        if let Ok(scalar) = scalar.trim().parse::<f64>() {
            scalars.extend([1.0, -1.0, 0.5, -0.5].map(|step| scalar + step));
            scalars.extend([scalar, scalar * 2.0, scalar / 2.0, scalar * 10.0]);
        }
    }
    units.extend(match dimension {
        Dimension::Size => ["B", "MB"],
        Dimension::Time => ["s", "ms"],
        Dimension::Frequency => ["Hz", "GHz"],
        Dimension::Bitrate => ["bps", "Mbps"],
    });
    scalars.extend([
        1.0, 2.0, 0.0, 0.5, 1.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 9.5, 10.0, 15.0, 50.0, 99.0,
        100.0, 1000.0,
    ]);
    scalars.retain(|scalar| *scalar >= 0.0);
    units
        .iter()
        .flat_map(|unit| scalars.iter().map(move |scalar| format!("{scalar} {unit}")))
        .collect()
}
