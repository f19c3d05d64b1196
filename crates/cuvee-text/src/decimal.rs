//! Calculates with exact decimals. Binary floating point would make `0.1 + 0.2` and `0.3` different
//! sums.

use std::cmp::Ordering;
use std::fmt;

/// A non-negative decimal number, `digits / 10^scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: u64,
    scale: u32,
}

impl Decimal {
    /// The number 0.
    pub const ZERO: Self = Self { digits: 0, scale: 0 };
    /// The number 1.
    pub const ONE: Self = Self { digits: 1, scale: 0 };

    /// Creates the number `digits / 10^scale`.
    pub fn of_units(digits: u64, scale: u32) -> Self {
        Self { digits, scale }
    }

    /// Reads a number such as `12`, `0.25` or `1e-3`. `None` where the text is negative or no
    /// number, has more digits than fit into 64 bits, or more than 19 digits behind the point.
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
            None => (text, 0),
        };
        let mantissa = mantissa.strip_prefix('+').unwrap_or(mantissa);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        if whole.is_empty() && fraction.is_empty()
            || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit())
        {
            return None;
        }
        let digits = format!("{whole}{fraction}").parse::<u64>().ok()?;
        let scale = i64::try_from(fraction.len()).ok()? - i64::from(exponent);
        if scale >= 0 {
            return Some(Self {
                digits,
                scale: u32::try_from(scale).ok().filter(|&scale| scale <= 19)?,
            });
        }
        let factor = 10u64.checked_pow(u32::try_from(-scale).ok()?)?;
        Some(Self { digits: digits.checked_mul(factor)?, scale: 0 })
    }

    /// Compares two numbers.
    pub fn order(self, other: Self) -> Ordering {
        // The digits are less than 2^64 and the factor is at most 10^19, so the products fit.
        let scaled = |one: Self, by: u32| u128::from(one.digits) * 10u128.pow(by.min(19));
        scaled(self, other.scale).cmp(&scaled(other, self.scale))
    }

    /// Adds two numbers. `None` where the sum has too many digits.
    pub fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        Some(Self { digits: self.units(scale)?.checked_add(other.units(scale)?)?, scale })
    }

    /// The number of digits behind the point.
    pub fn scale(self) -> u32 {
        self.scale
    }

    /// The number in units of `10^-scale`. `None` where that does not fit or is not whole.
    pub fn units(self, scale: u32) -> Option<u64> {
        self.digits.checked_mul(10u64.checked_pow(scale.checked_sub(self.scale)?)?)
    }
}

/// Writes the number without trailing zeros behind the point.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = self.scale as usize;
        let digits = format!("{:0>width$}", self.digits, width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        match fraction.trim_end_matches('0') {
            "" => f.write_str(whole),
            fraction => write!(f, "{whole}.{fraction}"),
        }
    }
}

/// The nearest double. It is meant for display, not for sums.
impl From<Decimal> for f64 {
    fn from(decimal: Decimal) -> Self {
        decimal.digits as f64 / 10f64.powi(decimal.scale as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn is_shown_as_the_nearest_double() {
        for text in ["0", "1", "0.1", "2.5", "1234.5678", "1e3"] {
            assert_eq!(Decimal::parse(text).map(f64::from), text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn is_written_without_zeros_at_its_end() {
        let written = |units, scale| Decimal::of_units(units, scale).to_string();
        assert_eq!(
            [written(0, 0), written(0, 2), written(5, 2), written(1230, 2), written(1200, 2)],
            ["0", "0", "0.05", "12.3", "12"]
        );
    }

    #[test]
    fn reads_decimals_exactly() {
        let units =
            |text: &str, scale| Decimal::parse(text).and_then(|decimal| decimal.units(scale));
        assert_eq!(units("0.1", 2), Some(10));
        assert_eq!(units("1.50", 1), Some(15));
        assert_eq!(units("2.5e3", 0), Some(2500));
        assert_eq!(units("1e-3", 3), Some(1));
        assert_eq!(units(".5", 1), Some(5));
        assert_eq!(units("-1", 0), None);
        assert_eq!(units("one", 0), None);
        assert_eq!(units(".", 0), None);
        assert_eq!(units("1e99", 0), None);
    }
}
