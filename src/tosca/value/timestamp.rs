//! Reads timestamps in the notation of YAML 1.1, to which section 3.3.1 refers: a date, or a date
//! and a time with an optional zone.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// Reads a timestamp as an instant. Without a zone it is in UTC.
pub(crate) fn timestamp(text: &str) -> Option<Timestamp> {
    let mut rest = Reader(text);
    let year = rest.digits(4, 4)?;
    let month = rest.after("-")?.digits(1, 2)?;
    let day = rest.after("-")?.digits(1, 2)?;
    let (date, zone) = if rest.0.is_empty() {
        // A date without a time needs two digits for month and day.
        (text.len() == 10).then_some(())?;
        (DateTime::new(narrow(year)?, narrow(month)?, narrow(day)?, 0, 0, 0, 0), 0)
    } else {
        rest.separator()?;
        let hour = rest.digits(1, 2)?;
        let minute = rest.after(":")?.digits(2, 2)?;
        // A leap second counts as the second before it, because clocks do not show it.
        let second = match rest.after(":")?.digits(2, 2)? {
            60 => 59,
            second => second,
        };
        let nanosecond = rest.fraction()?;
        let date = [month, day, hour, minute, second].map(narrow);
        let [Some(month), Some(day), Some(hour), Some(minute), Some(second)] = date else {
            return None;
        };
        (DateTime::new(narrow(year)?, month, day, hour, minute, second, nanosecond), rest.zone()?)
    };
    Offset::from_seconds(zone).ok()?.to_timestamp(date.ok()?).ok()
}

/// Reads a timestamp in the notation of RFC 3339, to which TOSCA 2.0 refers (section 9.1.2.1).
pub(crate) fn rfc_3339(text: &str) -> Option<Timestamp> {
    const DATE_AND_TIME: &str = "0000-00-00T00:00:00";
    let (start, rest) = text.split_at_checked(DATE_AND_TIME.len())?;
    let has_shape = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, of_shape)| match of_shape {
                b'0' => byte.is_ascii_digit(),
                of_shape => byte.eq_ignore_ascii_case(&of_shape),
            })
    };
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|digit: char| digit.is_ascii_digit()),
        None => rest,
    };
    let has_zone = ["Z", "+00:00", "-00:00"].iter().any(|shape| has_shape(zone, shape))
        && zone.get(1..3).is_none_or(|hours| hours < "24");
    let has_fraction = !rest.starts_with('.') || rest.len() > zone.len() + 1;
    // The reader below knows capital letters only.
    let is_one = has_shape(start, DATE_AND_TIME) && has_zone && has_fraction;
    is_one.then(|| timestamp(&text.to_ascii_uppercase()))?
}

fn narrow<T: TryFrom<i32>>(number: i32) -> Option<T> {
    T::try_from(number).ok()
}

/// The rest of a text that is being read.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    /// A number with at least `least` and at most `most` digits.
    fn digits(&mut self, least: usize, most: usize) -> Option<i32> {
        let count = self.0.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at_checked(count).filter(|_| count >= least)?;
        self.0 = rest;
        digits.parse().ok()
    }

    fn after(&mut self, prefix: &str) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(prefix)?;
        Some(self)
    }

    fn blanks(&mut self) -> bool {
        let rest = self.0.trim_start_matches([' ', '\t']);
        let found = rest.len() < self.0.len();
        self.0 = rest;
        found
    }

    /// Skips the separator between date and time.
    fn separator(&mut self) -> Option<()> {
        match self.0.strip_prefix(['T', 't']) {
            Some(rest) => self.0 = rest,
            None => self.blanks().then_some(())?,
        }
        Some(())
    }

    /// Reads a fraction as nanoseconds. Digits behind the ninth are dropped.
    fn fraction(&mut self) -> Option<i32> {
        let Some(rest) = self.0.strip_prefix('.') else { return Some(0) };
        let count = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = rest.split_at_checked(count)?;
        self.0 = rest;
        format!("{digits:0<9}").get(..9)?.parse().ok()
    }

    /// Reads the offset of the zone in seconds, at the end of the text.
    fn zone(&mut self) -> Option<i32> {
        if self.0.is_empty() {
            return Some(0);
        }
        self.blanks();
        if self.0 == "Z" {
            return Some(0);
        }
        let sign = if self.0.starts_with('-') { -1 } else { 1 };
        self.0 = self.0.strip_prefix(['+', '-'])?;
        let hours = self.digits(1, 2)?;
        let minutes = if self.0.is_empty() { 0 } else { self.after(":")?.digits(2, 2)? };
        (self.0.is_empty() && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
    }
}

#[cfg(test)]
mod tests {
    use super::timestamp as read;

    #[test]
    fn instants_are_those_of_yaml() {
        let same = Some("2001-12-15T02:59:43.1Z".parse().unwrap());
        for text in [
            "2001-12-15T02:59:43.1Z",
            "2001-12-14t21:59:43.10-05:00",
            "2001-12-14 21:59:43.10 -5",
            "2001-12-15 2:59:43.10",
            "2001-12-15\t02:59:43.100000000000 Z",
        ] {
            assert_eq!(read(text), same, "{text}");
        }
        assert_eq!(read("2016-12-31T23:59:60Z"), read("2016-12-31 23:59:59"));
        assert_eq!(read("2002-12-14"), Some("2002-12-14T00:00:00Z".parse().unwrap()));
        assert_eq!(read("2002-2-4 0:00:00"), Some("2002-02-04T00:00:00Z".parse().unwrap()));
        for text in [
            "",
            "2002",
            "2002-12",
            "2002-2-4",
            "2002-13-01",
            "2001-02-29",
            "02-12-14",
            "2002-12-14T",
            "2002-12-14T10:00",
            "today",
            "2002-12-14T24:00:00",
            "2002-12-14T10:00:00 CET",
            "2002-12-14T10:00:00+1:5",
            "2002-12-14T10:00:00Z ",
            "2002-12-14X10:00:00",
            "2002-12-14T10:00:00+99",
            "-002-12-14",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
