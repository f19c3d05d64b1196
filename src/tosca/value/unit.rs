//! Reads scalar units of TOSCA: `10 GB`, `5 ms`, `2.4 GHz`, `10 Kbps`.

use cuvee_text::float::parse_float;
use cuvee_text::value::Number;
use num_bigint::BigInt;
use std::cmp::Ordering;

/// The quantity that a scalar unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// `scalar-unit.size`, in bytes
    Size,
    /// `scalar-unit.time`, in seconds
    Time,
    /// `scalar-unit.frequency`, in hertz
    Frequency,
    /// `scalar-unit.bitrate`, in bits per second
    Bitrate,
}

/// An exact amount: `mantissa / 10^scale` of the smallest unit of its dimension (a byte, a
/// nanosecond, a hertz, a bit per second).
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    mantissa: BigInt,
    scale: u32,
}

impl Measure {
    /// The amount that is `other` times as large.
    pub(super) fn times(&self, other: &Self) -> Self {
        Self { mantissa: &self.mantissa * &other.mantissa, scale: self.scale + other.scale }
    }

    /// The amount as a number: an integer where it is one of 64 bits, else the nearest double.
    pub(super) fn number(&self) -> Number {
        let unit = BigInt::from(10).pow(self.scale);
        let whole = (&self.mantissa % &unit == BigInt::ZERO).then(|| &self.mantissa / &unit);
        match whole.and_then(|whole| i64::try_from(whole).ok()) {
            Some(integer) => Number::int(integer),
            None => {
                let text = format!("{}e-{}", self.mantissa, self.scale);
                Number::float(parse_float(&text).unwrap_or(f64::NAN))
            }
        }
    }

    fn scaled(&self, scale: u32) -> BigInt {
        &self.mantissa * BigInt::from(10).pow(scale)
    }
}

impl Ord for Measure {
    fn cmp(&self, other: &Self) -> Ordering {
        self.scaled(other.scale).cmp(&other.scaled(self.scale))
    }
}

impl PartialOrd for Measure {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Measure {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Measure {}

/// The product of two decimals, as a decimal.
pub(crate) fn product(one: &str, other: &str) -> Option<String> {
    let Measure { mantissa, scale } = decimal(one)?.times(&decimal(other)?);
    let unit = BigInt::from(10).pow(scale);
    let (whole, rest) = (&mantissa / &unit, &mantissa % &unit);
    Some(match rest == BigInt::ZERO {
        true => whole.to_string(),
        false => format!("{whole}.{rest:0>width$}", width = scale as usize),
    })
}

/// Reads an amount such as `10 GB`.
pub(crate) fn measure(dimension: Dimension, text: &str) -> Option<Measure> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (scalar, unit) = text.split_at_checked(unit_at)?;
    let Measure { mantissa, scale } = decimal(scalar.trim_end())?;
    let (_, factor) = self::unit(dimension, unit)?;
    Some(Measure { mantissa: mantissa * factor, scale })
}

/// Reads a decimal without an exponent. More than a thousand digits are rejected, because
/// arithmetic on them is slow and no template needs them.
pub(super) fn decimal(text: &str) -> Option<Measure> {
    const LONGEST: usize = 1000;
    let magnitude = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty()
        || digits.len() > LONGEST
        || !digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let mantissa: BigInt = digits.parse().ok()?;
    let scale = u32::try_from(fraction.len()).ok()?;
    Some(Measure { mantissa: if text.starts_with('-') { -mantissa } else { mantissa }, scale })
}

/// The units of a dimension in their preferred spelling, each with its size in the smallest unit.
pub(crate) fn units(dimension: Dimension) -> &'static [(&'static str, u64)] {
    const KI: u64 = 1024;
    match dimension {
        Dimension::Size => &[
            ("B", 1),
            ("kB", 1_000),
            ("KiB", KI),
            ("MB", 1_000_000),
            ("MiB", KI * KI),
            ("GB", 1_000_000_000),
            ("GiB", KI * KI * KI),
            ("TB", 1_000_000_000_000),
            ("TiB", KI * KI * KI * KI),
        ],
        Dimension::Time => &[
            ("d", 86_400_000_000_000),
            ("h", 3_600_000_000_000),
            ("m", 60_000_000_000),
            ("s", 1_000_000_000),
            ("ms", 1_000_000),
            ("us", 1_000),
            ("ns", 1),
        ],
        Dimension::Frequency => {
            &[("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000), ("GHz", 1_000_000_000)]
        }
        Dimension::Bitrate => &[
            ("bps", 1),
            ("Kbps", 1_000),
            ("Kibps", KI),
            ("Mbps", 1_000_000),
            ("Mibps", KI * KI),
            ("Gbps", 1_000_000_000),
            ("Gibps", KI * KI * KI),
            ("Tbps", 1_000_000_000_000),
            ("Tibps", KI * KI * KI * KI),
            ("Bps", 8),
            ("KBps", 8_000),
            ("KiBps", 8 * KI),
            ("MBps", 8_000_000),
            ("MiBps", 8 * KI * KI),
            ("GBps", 8_000_000_000),
            ("GiBps", 8 * KI * KI * KI),
            ("TBps", 8_000_000_000_000),
            ("TiBps", 8 * KI * KI * KI * KI),
        ],
    }
}

/// The preferred spelling of a unit, and its size in the smallest unit. Case matters only for bit
/// rates, because `Kb` differs from `KB`.
pub(super) fn unit(dimension: Dimension, unit: &str) -> Option<(&'static str, u64)> {
    let is = |name: &str| {
        name == unit || dimension != Dimension::Bitrate && name.eq_ignore_ascii_case(unit)
    };
    units(dimension).iter().copied().find(|(name, _)| is(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_tosca() {
        let cases = [
            (Dimension::Size, "10 GB", Some("10000000000 B")),
            (Dimension::Size, "1KiB", Some("1024 B")),
            (Dimension::Size, "1 kib", Some("1024 B")),
            (Dimension::Size, "1 B", Some("1 B")),
            (Dimension::Size, "-.5 kB", Some("-500 B")),
            (Dimension::Size, "0.3 GB", Some("300 MB")),
            (Dimension::Size, "inf B", None),
            (Dimension::Size, ". B", None),
            (Dimension::Size, "10", None),
            (Dimension::Size, "GB", None),
            (Dimension::Size, "1 iB", None),
            (Dimension::Size, "1 s", None),
            (Dimension::Time, "10 ms", Some("10000000 ns")),
            (Dimension::Time, "2 d", Some("172800 s")),
            (Dimension::Frequency, "2.5 GHz", Some("2500000000 Hz")),
            (Dimension::Time, "50 S", Some("50 s")),
            (Dimension::Time, "1 M", Some("60 s")),
            (Dimension::Frequency, "50 hz", Some("50 Hz")),
            (Dimension::Frequency, "1 KiHz", None),
            (Dimension::Bitrate, "1 Kbps", Some("1000 bps")),
            (Dimension::Bitrate, "1 KiBps", Some("8192 bps")),
            (Dimension::Bitrate, "1 kbps", None),
        ];
        for (dimension, text, expected) in cases {
            let expected = expected.map(|expected| measure(dimension, expected).unwrap());
            assert_eq!(measure(dimension, text), expected, "{text}");
        }
    }
}
