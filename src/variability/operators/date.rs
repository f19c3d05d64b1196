//! Implements `weekday`, `same`, `before`, …, `within`.

use super::{Operands, OperatorError, OperatorResult};
use crate::tosca::value::timestamp;
use cuvee_text::value::Value;
use jiff::Timestamp;
use jiff::civil::{DateTime, Weekday};
use jiff::tz::TimeZone;
use std::cmp::Ordering;

/// The day of the week at the time of the clock, in its zone.
pub(super) fn weekday(operands: &Operands<'_>) -> OperatorResult {
    match operands.value {
        Value::Null => {}
        Value::List(items) if items.is_empty() => {}
        other => return Err(operands.expected("no operands", other)),
    }
    let clock = operands.clock.ok_or_else(|| {
        operands.error("needs a clock: pass `--now` (in a library call, `Resolver::now`)")
    })?;
    Ok(Value::from(match clock.now().weekday() {
        Weekday::Monday => "monday",
        Weekday::Tuesday => "tuesday",
        Weekday::Wednesday => "wednesday",
        Weekday::Thursday => "thursday",
        Weekday::Friday => "friday",
        Weekday::Saturday => "saturday",
        Weekday::Sunday => "sunday",
    }))
}

pub(super) fn same(operands: &Operands<'_>) -> OperatorResult {
    ordered(operands, Ordering::is_eq)
}

pub(super) fn before(operands: &Operands<'_>) -> OperatorResult {
    ordered(operands, Ordering::is_lt)
}

pub(super) fn before_or_same(operands: &Operands<'_>) -> OperatorResult {
    ordered(operands, Ordering::is_le)
}

pub(super) fn after(operands: &Operands<'_>) -> OperatorResult {
    ordered(operands, Ordering::is_gt)
}

pub(super) fn after_or_same(operands: &Operands<'_>) -> OperatorResult {
    ordered(operands, Ordering::is_ge)
}

/// Whether a date is between two others, excluding both of them.
pub(super) fn within(operands: &Operands<'_>) -> OperatorResult {
    const EXPECTED: &str = "a date and a range of two dates";
    let [date, range] = operands.exactly(EXPECTED)?;
    let [from, to] = operands.tuple(range, EXPECTED)?;
    let (date, from, to) = (read(operands, date)?, read(operands, from)?, read(operands, to)?);
    Ok(Value::Bool(from < date && date < to))
}

fn ordered(operands: &Operands<'_>, holds: fn(Ordering) -> bool) -> OperatorResult {
    let [a, b] = operands.exactly("two dates")?;
    Ok(Value::Bool(holds(read(operands, a)?.cmp(&read(operands, b)?))))
}

fn read(operands: &Operands<'_>, value: &Value) -> Result<Timestamp, OperatorError> {
    let expected = "dates, as ISO 8601 strings or as milliseconds since 1970";
    instant(value).ok_or_else(|| operands.expected(expected, value))
}

/// The instant of a date, which is a TOSCA timestamp, another ISO 8601 date with or without time
/// and zone (UTC if there is no zone), or a number of milliseconds since 1970.
pub(crate) fn instant(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Number(number) => Timestamp::from_millisecond(number.as_int()?).ok(),
        Value::String(text) => {
            let zoned = || text.parse().ok();
            let local = || {
                text.parse::<DateTime>()
                    .ok()?
                    .to_zoned(TimeZone::UTC)
                    .ok()
                    .map(|date| date.timestamp())
            };
            let iso = || if has_zone(text) { zoned() } else { local() };
            timestamp(text).or_else(iso)
        }
        _ => None,
    }
}

/// Whether an ISO 8601 text has a zone. Only the part after the date is searched, so that the
/// hyphens of the date are not taken for an offset.
fn has_zone(text: &str) -> bool {
    let time = text.find(['T', 't', ' ']).and_then(|at| text.get(at + 1..)).unwrap_or_default();
    time.contains(['Z', 'z', '+', '-', '['])
}
