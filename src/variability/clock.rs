//! Gives the time to conditions that need it, and parses points in time that replace the present.

use jiff::civil::Time;
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;
use jiff::{Error, Zoned};
use std::fmt;
use std::sync::{Arc, LazyLock};

/// A clock that is read when it is asked for the first time, which may mean reading files. From
/// then on it gives the same time.
#[derive(Clone)]
pub(crate) struct Clock(Arc<LazyLock<Zoned, Box<dyn FnOnce() -> Zoned + Send>>>);

impl Clock {
    /// A clock that gives the result of `now`.
    pub(crate) fn new(now: impl FnOnce() -> Zoned + Send + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(now))))
    }

    /// The time, in the time zone that `weekday` uses.
    pub(crate) fn now(&self) -> &Zoned {
        &self.0
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// Reads an ISO 8601 date, or date and time, with or without an offset or a time zone. The time
/// defaults to midnight. Without an offset and a time zone, `zone` counts.
///
/// ```
/// use jiff::tz::TimeZone;
/// let now = cuvee::options::clock::parse("2024-12-24T18:00+01:00", TimeZone::UTC)?;
/// assert_eq!(now, cuvee::options::clock::parse("2024-12-24T17:00", TimeZone::UTC)?);
/// # Ok::<(), jiff::Error>(())
/// ```
///
/// # Errors
/// The text is malformed, or its time zone is unknown here.
pub fn parse(text: &str, zone: TimeZone) -> Result<Zoned, Error> {
    let pieces = Pieces::parse(text)?;
    if pieces.time_zone_annotation().is_some() && pieces.offset().is_some() {
        // Only this call detects an offset that contradicts its time zone.
        return text.parse();
    }
    let zone = match (pieces.to_time_zone()?, pieces.to_numeric_offset()) {
        (Some(named), _) => named,
        (None, Some(offset)) => TimeZone::fixed(offset),
        (None, None) => zone,
    };
    pieces.date().to_datetime(pieces.time().unwrap_or(Time::midnight())).to_zoned(zone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn at(text: &str) -> String {
        parse(text, TimeZone::fixed(jiff::tz::offset(2)))
            .map_or_else(|_| "error".into(), |now| now.timestamp().to_string())
    }

    #[test]
    fn reads_every_form() {
        assert_eq!(at("2024-12-24"), "2024-12-23T22:00:00Z");
        assert_eq!(at("2024-12-24T18:30"), "2024-12-24T16:30:00Z");
        assert_eq!(at("2024-12-24 18:30:05"), "2024-12-24T16:30:05Z");
        assert_eq!(at("2024-12-24T18:30Z"), "2024-12-24T18:30:00Z");
        assert_eq!(at("2024-12-24T18:30-05:00"), "2024-12-24T23:30:00Z");
        assert_eq!(at("2024-12-24T18:30[UTC]"), "2024-12-24T18:30:00Z");
        assert_eq!(at("2024-12-24T18:30+00:00[UTC]"), "2024-12-24T18:30:00Z");
    }

    #[test]
    fn refuses_what_is_no_point_in_time() {
        for text in [
            "",
            "now",
            "2024-13-01",
            "18:30",
            "2024-12-24T18:30+05:00[UTC]",
            "2024-12-24T18:30[No/Where]",
        ] {
            assert_eq!(at(text), "error", "{text}");
        }
    }

    #[test]
    fn is_asked_once_and_only_if_needed() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let clock = Clock::new(|| {
            ASKED.fetch_add(1, Ordering::Relaxed);
            Zoned::default()
        });
        let other = clock.clone();
        assert_eq!(ASKED.load(Ordering::Relaxed), 0);
        assert_eq!(clock.now(), other.now());
        assert_eq!(ASKED.load(Ordering::Relaxed), 1);
    }
}
