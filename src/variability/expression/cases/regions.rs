//! Makes regions: sets of values of an input that compare alike with all constants. Each region has
//! one value that represents it.

use super::boundaries::Boundaries;
use super::texts;
use crate::tosca::value::Primitive;
use crate::variability::inputs::Declaration;
use crate::variability::operators::{instant, size};
use cuvee_text::value::{Number, Value};

/// A set of values that compare alike with all constants.
#[derive(Clone, Debug)]
pub(super) struct ValueRegion {
    /// The value that represents the region.
    pub value: Value,
    /// Whether the region has no other value.
    pub exact: bool,
    /// The places of the region in the orders of values.
    pub places: Vec<RegionPlace>,
    /// The type of the values, if the input may have values of different types.
    pub kind: Option<&'static str>,
    /// Whether the value is not valid: others of the region may be, but none is known.
    pub is_assumed: bool,
}

/// How many numbers are tried from each end of a range for one that is valid.
const TRIED: i64 = 64;

/// The place of a region in an order.
#[derive(Clone, Debug)]
pub(super) struct RegionPlace {
    /// The order.
    pub axis: Axis,
    /// The position; adjacent regions have consecutive positions.
    pub position: i64,
    /// The lower end.
    pub low: End,
    /// The upper end.
    pub high: End,
}

/// An end of a range as text, and whether the end belongs to the range; `None` for an open-ended
/// range.
pub(crate) type End = Option<(String, bool)>;

/// An order of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Axis {
    Numbers,
    Texts,
    Dates,
    Lengths,
}

impl ValueRegion {
    /// A region with only one value.
    pub(super) fn exact(value: Value) -> Self {
        Self { value, exact: true, places: Vec::new(), kind: None, is_assumed: false }
    }

    /// The same region, of which no valid value is known.
    pub(super) fn assumed(self) -> Self {
        Self { exact: false, is_assumed: true, ..self }
    }

    /// A region with further values beside this one.
    pub(super) fn other(value: Value) -> Self {
        Self { exact: false, ..Self::exact(value) }
    }
}

/// The numbers that an input may have, each with an integer key. Keys are in the order of the
/// numbers and have no gaps.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberLine {
    whole: bool,
}

impl NumberLine {
    /// The numbers of a type, where it has any.
    pub(super) fn of(kind: Option<Primitive>) -> Option<Self> {
        match kind {
            Some(Primitive::Integer) => Some(Self { whole: true }),
            Some(Primitive::Float) | None => Some(Self { whole: false }),
            _ => None,
        }
    }

    /// The least and the greatest key.
    pub(super) fn ends(self) -> (i64, i64) {
        if self.whole { (i64::MIN, i64::MAX) } else { (double_key(f64::MIN), double_key(f64::MAX)) }
    }

    /// The key of a number; `None` if the line does not have the number.
    pub(super) fn key(self, number: &Number) -> Option<i64> {
        if self.whole {
            number.as_int()
        } else {
            Some(number.as_f64()).filter(|double| double.is_finite()).map(double_key)
        }
    }

    /// The number with this key.
    pub(super) fn number(self, key: i64) -> Number {
        if self.whole {
            return Number::int(key);
        }
        let magnitude = f64::from_bits(key.unsigned_abs());
        Number::float(if key < 0 { -magnitude } else { magnitude })
    }

    /// The first key of a range that fulfils `holds`, if all later keys fulfil it as well. If no
    /// key does, the last key.
    pub(super) fn first(self, low: i64, high: i64, holds: &mut dyn FnMut(i64) -> bool) -> i64 {
        let (mut low, mut high) = (low, high);
        while low < high {
            let middle = (i128::from(low) + i128::from(high)).div_euclid(2) as i64;
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// The first key whose number is at least this number, and the first whose number exceeds it.
    fn around(self, number: &Number) -> Vec<i64> {
        match self.key(number) {
            Some(key) => [Some(key), key.checked_add(1)].into_iter().flatten().collect(),
            // Larger numbers are beyond all integers. A number between two integers separates them
            // after its `floor`.
            None if self.whole && number.as_f64().abs() < 9e18 => {
                vec![number.as_f64().floor() as i64 + 1]
            }
            None => Vec::new(),
        }
    }

    /// The keys from which on the results of comparisons with the boundaries or with these bounds
    /// may change.
    pub(super) fn keys(self, boundaries: &Boundaries, bounds: &[Value]) -> Vec<i64> {
        let points = boundaries.values.iter().chain(bounds).filter_map(number_of);
        let mut keys: Vec<i64> = points.flat_map(|point| self.around(point)).collect();
        if boundaries.dates {
            let limits = [jiff::Timestamp::MIN, jiff::Timestamp::MAX];
            let instants = boundaries.values.iter().filter_map(instant).chain(limits);
            let number = |instant: jiff::Timestamp| instant.as_nanosecond() as f64 / 1e6;
            keys.extend(instants.flat_map(|at| self.around(&Number::float(number(at)))));
        }
        keys.extend(&boundaries.keys);
        let (least, most) = self.ends();
        keys.retain(|&key| key > least && key <= most);
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// A number in the range with a short text.
    fn example(self, low: i64, high: i64) -> Number {
        let (least, most) = self.ends();
        let text_length = |key: &i64| self.number(*key).to_string().len();
        if (low, high) == (least, most) {
            return Number::int(0);
        }
        let keys = if self.whole {
            [Some(low).filter(|&low| low > least), Some(high).filter(|&high| high < most), None]
        } else {
            let (from, to) = (self.number(low).as_f64(), self.number(high).as_f64());
            let middle = from / 2.0 + to / 2.0;
            [Some(from.floor() + 1.0), Some(to.ceil() - 1.0), Some(middle)]
                .map(|number| number.map(double_key))
        };
        let within = keys.into_iter().flatten().filter(|key| (low..=high).contains(key));
        self.number(within.min_by_key(text_length).unwrap_or(low))
    }

    /// Numbers in the range, from both ends and around zero.
    fn tried(self, low: i64, high: i64) -> impl Iterator<Item = Number> {
        let near = |around: Number, steps: std::ops::Range<i64>| {
            let whole = around.as_f64().trunc();
            steps.filter_map(move |step| match self.whole {
                true => around.as_int()?.checked_add(step),
                false => Some(double_key(whole + step as f64)),
            })
        };
        let zero = Number::int(0);
        near(zero, -TRIED..TRIED)
            .chain(near(self.number(low), 0..TRIED))
            .chain(near(self.number(high), 1 - TRIED..1))
            .filter(move |key| (low..=high).contains(key))
            .map(move |key| self.number(key))
    }

    fn low_end(self, key: i64) -> End {
        let end = || if self.whole { (key, true) } else { self.shorter(key, key - 1) };
        (key > self.ends().0).then(end).map(|(key, closed)| (self.number(key).to_string(), closed))
    }

    fn high_end(self, key: i64) -> End {
        let end = || if self.whole { (key, true) } else { self.shorter(key, key + 1) };
        (key < self.ends().1).then(end).map(|(key, closed)| (self.number(key).to_string(), closed))
    }

    /// The end of a range with the shorter text: the end itself, or its neighbour outside as an
    /// exclusive end.
    fn shorter(self, own: i64, next: i64) -> (i64, bool) {
        let length = |key: i64| self.number(key).to_string().len();
        if length(next) < length(own) { (next, false) } else { (own, true) }
    }
}

fn number_of(value: &Value) -> Option<&Number> {
    if let Value::Number(number) = value { Some(number) } else { None }
}

/// The key of a double: keys have the order of the doubles, and both zeros have the same key.
fn double_key(double: f64) -> i64 {
    let magnitude = double.abs().to_bits() as i64;
    if double < 0.0 { -magnitude } else { magnitude }
}

/// A region for each of these values.
pub(super) fn listed(kind: Option<Primitive>, values: Vec<Value>) -> Vec<ValueRegion> {
    let place = |value: &Value| {
        let number = if let (Some(Primitive::Integer), Value::Number(number)) = (kind, value) {
            number
        } else {
            return Vec::new();
        };
        let end = Some((number.to_string(), true));
        number
            .as_int()
            .map(|position| RegionPlace {
                axis: Axis::Numbers,
                position,
                low: end.clone(),
                high: end,
            })
            .into_iter()
            .collect()
    };
    values
        .into_iter()
        .map(|value| ValueRegion { places: place(&value), ..ValueRegion::exact(value) })
        .collect()
}

/// The regions of an infinite domain; some may violate the constraints of the input.
pub(super) fn regions(
    declaration: &Declaration<'_>,
    boundaries: &Boundaries,
    known: &[Value],
) -> Vec<ValueRegion> {
    let kind = declaration.primitive();
    let any = kind.is_none();
    let mut regions = Vec::new();
    if any {
        regions.extend([false, true].map(Value::from).map(ValueRegion::exact));
    }
    // Numbers are left out if no condition needs them. As dates, they behave like texts.
    let asked = boundaries.values.iter().any(|value| matches!(value, Value::Number(_)))
        || !boundaries.keys.is_empty();
    let wanted = !any || asked || boundaries.dates;
    if let Some(line) = NumberLine::of(kind).filter(|_| wanted) {
        regions.extend(numbers_of(line, declaration, boundaries, known));
    }
    if !matches!(
        kind,
        Some(
            Primitive::Integer
                | Primitive::Float
                | Primitive::List
                | Primitive::Map
                | Primitive::Range
        )
    ) {
        regions.extend(texts::regions(declaration, boundaries, known));
    }
    let lists =
        if any { vec![Primitive::List, Primitive::Map] } else { kind.into_iter().collect() };
    lists
        .into_iter()
        .for_each(|kind| regions.extend(collections(kind, declaration, boundaries, known)));
    if any {
        regions.push(ValueRegion::exact(Value::Null));
        regions.iter_mut().for_each(|region| region.kind = Some(region.value.describe()));
    }
    regions
}

/// The regions of the number line.
fn numbers_of(
    line: NumberLine,
    declaration: &Declaration<'_>,
    boundaries: &Boundaries,
    known: &[Value],
) -> Vec<ValueRegion> {
    let constants = declaration.constants();
    let bounds: Vec<Value> = declaration.bounds().chain(constants.iter().cloned()).collect();
    // Constraints hold for all of a region or for none of it, other validations for some.
    let is_valid_value = |value: &Value| declaration.problems(value).is_empty();
    let is_valid = |number: &Number| is_valid_value(&Value::Number(number.clone()));
    let is_mixed = !constants.is_empty();
    let (least, most) = line.ends();
    let keys = line.keys(boundaries, &bounds);
    let keys: Vec<i64> = [least].into_iter().chain(keys).collect();
    let number = |value: &Value| number_of(value).and_then(|number| line.key(number));
    let known: Vec<(i64, &Value)> =
        known.iter().filter_map(|value| Some((number(value)?, value))).collect();
    let mut regions = Vec::new();
    let ends = keys.iter().skip(1).map(|key| key - 1).chain([most]);
    for ((&low, high), position) in keys.iter().zip(ends).zip(0..) {
        let used = known
            .iter()
            .find(|(key, _)| (low..=high).contains(key))
            .map(|&(_, value)| value.clone());
        let example = || {
            let example = line.example(low, high);
            match is_mixed && !is_valid(&example) {
                true => line.tried(low, high).find(is_valid).unwrap_or(example),
                false => example,
            }
        };
        let value = used.unwrap_or_else(|| Value::Number(example()));
        let place = RegionPlace {
            axis: Axis::Numbers,
            position,
            low: line.low_end(low),
            high: line.high_end(high),
        };
        // A number with a fraction is no date.
        let fraction = line.number(low).as_f64() / 2.0 + line.number(high).as_f64() / 2.0;
        if boundaries.dates && !line.whole && fraction.fract() != 0.0 {
            regions.push(ValueRegion {
                places: vec![place.clone()],
                ..ValueRegion::other(fraction.into())
            });
        }
        let exact = low == high;
        let is_assumed =
            is_mixed && !exact && !is_valid_value(&value) && declaration.is_conceivable(&value);
        regions.push(ValueRegion { value, exact, places: vec![place], kind: None, is_assumed });
    }
    regions
}

/// Ranges of lengths that matter: each with an exclusive end; the last one has no end.
pub(super) fn lengths(
    declaration: &Declaration<'_>,
    boundaries: &Boundaries,
) -> Vec<(usize, Option<usize>)> {
    let sizes = declaration
        .constraints()
        .iter()
        .filter_map(|constraint| constraint.size())
        .chain(boundaries.lengths.iter().copied());
    let mut starts: Vec<usize> =
        sizes.flat_map(|size| [size, size.saturating_add(1)]).chain([0]).collect();
    starts.sort_unstable();
    starts.dedup();
    starts
        .iter()
        .enumerate()
        .map(|(index, &start)| (start, starts.get(index + 1).copied()))
        .collect()
}

/// The place of a value by its length; `None` where no condition asks for lengths.
pub(super) fn length_place(
    value: &Value,
    lengths: &[(usize, Option<usize>)],
    boundaries: &Boundaries,
) -> Option<RegionPlace> {
    let size = size(value).filter(|_| !boundaries.lengths.is_empty())?;
    let position = lengths.iter().rposition(|(start, _)| *start <= size)?;
    let (low, high) = lengths[position];
    let low = (low > 0 || high == Some(1)).then(|| (low.to_string(), true));
    let high = high.map(|high| ((high - 1).to_string(), true));
    Some(RegionPlace { axis: Axis::Lengths, position: position as i64, low, high })
}

/// The length of the longest sample values.
pub(super) const MAX_LENGTH: usize = 4096;

/// The regions of lists, maps or ranges: the constants that the input is compared with, and samples
/// of all lengths that matter.
fn collections(
    kind: Primitive,
    declaration: &Declaration<'_>,
    boundaries: &Boundaries,
    known: &[Value],
) -> Vec<ValueRegion> {
    let lengths = lengths(declaration, boundaries);
    let samples: Vec<Value> = match kind {
        Primitive::List | Primitive::Map => {
            let sizes = lengths
                .iter()
                .flat_map(|&(start, _)| [start, start + 1])
                .chain([0, 1, 2])
                .filter(|&size| size <= MAX_LENGTH);
            let entries = entries_of(declaration.entries());
            sizes
                .flat_map(|size| entries.iter().map(move |entry| collection(kind, size, entry)))
                .collect()
        }
        Primitive::Range => ranges(declaration),
        _ => return Vec::new(),
    };
    let fits = |value: &&Value| {
        matches!(
            (kind, value),
            (Primitive::List | Primitive::Range, Value::List(_)) | (Primitive::Map, Value::Map(_))
        )
    };
    let mut regions: Vec<ValueRegion> = Vec::new();
    let mut add = |region: ValueRegion| {
        let place = length_place(&region.value, &lengths, boundaries);
        let position = |region: &ValueRegion| region.places.first().map(|place| place.position);
        let same = |other: &ValueRegion| {
            if region.exact {
                other.value == region.value
            } else {
                other.value == region.value
                    || (!other.exact
                        && position(other) == place.as_ref().map(|place| place.position))
            }
        };
        if declaration.problems(&region.value).is_empty() && !regions.iter().any(same) {
            regions.push(ValueRegion { places: place.into_iter().collect(), ..region });
        }
    };
    boundaries.values.iter().filter(fits).cloned().map(ValueRegion::exact).for_each(&mut add);
    known.iter().filter(fits).cloned().chain(samples).map(ValueRegion::other).for_each(&mut add);
    regions.sort_by_key(|region| region.places.first().map(|place| place.position));
    regions
}

fn collection(kind: Primitive, size: usize, entry: &Value) -> Value {
    if kind == Primitive::List {
        return vec![entry.clone(); size].into();
    }
    Value::Map((0..size).map(|key| (format!("key{key}").into(), entry.clone())).collect())
}

fn entries_of(kind: Option<Primitive>) -> Vec<Value> {
    let Some(kind) = kind else { return ["x", "other"].map(Value::from).to_vec() };
    match kind {
        Primitive::Integer | Primitive::Float => [0, 7].map(Value::from).to_vec(),
        Primitive::Boolean => [false, true].map(Value::from).to_vec(),
        Primitive::Timestamp => ["2000-01-01", "2000-01-02"].map(Value::from).to_vec(),
        Primitive::Version => ["1.0", "99.0"].map(Value::from).to_vec(),
        Primitive::List => vec![Vec::new().into()],
        Primitive::Map => vec![Value::Map([].into())],
        Primitive::Range => vec![vec![Value::from(0), Value::from(1)].into()],
        Primitive::ScalarUnit(_) => ["1 B", "1 s", "1 Hz", "1 bps"].map(Value::from).to_vec(),
        Primitive::Null | Primitive::Nil => vec![Value::Null],
        Primitive::Bytes => ["", "AA=="].map(Value::from).to_vec(),
        Primitive::String | Primitive::Scalar => ["x", "other"].map(Value::from).to_vec(),
    }
}

/// Sample ranges with ends at or near the bounds of the constraints.
fn ranges(declaration: &Declaration<'_>) -> Vec<Value> {
    let bounds: Vec<i64> = declaration
        .bounds()
        .filter_map(|bound| if let Value::Number(number) = bound { number.as_int() } else { None })
        .collect();
    let lows = bounds.iter().copied().chain([0]);
    lows.flat_map(|low| {
        [low, low.saturating_add(1)].map(|high| vec![Value::from(low), Value::from(high)].into())
    })
    .collect()
}
