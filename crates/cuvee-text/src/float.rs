//! Reads floating-point numbers.
//!
//! The standard library does so with a table of 10 KB that does not pack, which is a hundredth of a
//! module for browsers. There, big integers do it.

/// The floating-point number nearest to a text such as `-1.5e3`; `None` if the text is no number.
///
/// ```
/// use cuvee_text::float::parse_float;
/// assert_eq!(parse_float("-1.5e3"), Some(-1500.0));
/// assert_eq!(parse_float("1,5"), None);
/// ```
pub fn parse_float(text: &str) -> Option<f64> {
    #[cfg(target_family = "wasm")]
    return by_integers::parse_float(text);
    #[cfg(not(target_family = "wasm"))]
    text.parse().ok()
}

#[cfg(any(test, target_family = "wasm"))]
mod by_integers {
    use num_bigint::BigUint;
    use std::cmp::Ordering;

    /// How many digits can decide between two neighbours; of more it counts only whether they are
    /// zero.
    const DIGITS: usize = 800;

    /// The bits of the fraction of a normal number, and its highest bit.
    const BITS: i64 = 53;
    const HIGHEST: u64 = 1 << (BITS - 1);

    /// The exponent of the least number.
    const LEAST: i64 = -1074;

    /// The floating-point number nearest to a text; `None` if the text is no number.
    pub(super) fn parse_float(text: &str) -> Option<f64> {
        let magnitude = text.strip_prefix(['+', '-']).unwrap_or(text);
        let is = |name: &str| magnitude.eq_ignore_ascii_case(name);
        let number = if is("inf") || is("infinity") {
            f64::INFINITY
        } else if is("nan") {
            f64::NAN
        } else {
            decimal(magnitude)?
        };
        Some(if text.starts_with('-') { -number } else { number })
    }

    fn decimal(text: &str) -> Option<f64> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, power(exponent)?),
            None => (text, 0),
        };
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, part].concat();
        if all.is_empty() || !is_digits(&all) {
            return None;
        }
        let digits = all.trim_start_matches('0');
        let point = exponent.saturating_sub(part.len() as i64).saturating_add(digits.len() as i64);
        if digits.is_empty() || point < -330 {
            return Some(0.0);
        }
        if point > 310 {
            return Some(f64::INFINITY);
        }
        let (kept, rest) = digits.split_at(digits.len().min(DIGITS));
        let more = rest.bytes().any(|digit| digit != b'0');
        let number = kept
            .bytes()
            .chain(more.then_some(b'1'))
            .fold(BigUint::ZERO, |sum, digit| sum * 10_u32 + u32::from(digit - b'0'));
        let exponent = point - kept.len() as i64 - i64::from(more);
        let power = (0..exponent.abs()).fold(BigUint::from(1_u32), |power, _| power * 10_u32);
        Some(match exponent < 0 {
            true => nearest(number, power),
            false => nearest(number * power, BigUint::from(1_u32)),
        })
    }

    fn is_digits(text: &str) -> bool {
        text.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// An exponent. One that is too large for an integer is too large for a number, too.
    fn power(text: &str) -> Option<i64> {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let most = if text.starts_with('-') { i64::MIN } else { i64::MAX };
        let is_one = !digits.is_empty() && is_digits(digits);
        is_one.then(|| text.parse().unwrap_or(most))
    }

    /// The number nearest to a fraction that is not zero; of two, the even one.
    fn nearest(mut over: BigUint, mut under: BigUint) -> f64 {
        // The quotient gets at least as many bits as a number has, and at most one more.
        let lowest = over.bits() as i64 - under.bits() as i64 - BITS;
        let mut exponent = lowest.max(LEAST);
        if exponent < 0 {
            over <<= exponent.unsigned_abs();
        } else {
            under <<= exponent.unsigned_abs();
        }
        let quotient = &over / &under;
        let rest: BigUint = over - &quotient * &under;
        let mut bits = quotient.iter_u64_digits().next().unwrap_or(0);
        let mut rounds = (rest.clone() * 2_u32).cmp(&under);
        if bits >= 2 * HIGHEST {
            let is_exact = rest == BigUint::ZERO;
            rounds = match (bits & 1, is_exact) {
                (0, _) => Ordering::Less,
                (_, true) => Ordering::Equal,
                (_, false) => Ordering::Greater,
            };
            bits >>= 1;
            exponent += 1;
        }
        match rounds {
            Ordering::Less => {}
            Ordering::Equal => bits += bits & 1,
            Ordering::Greater => bits += 1,
        }
        // Where rounding up gives one more bit, it is added to the exponent, as it has to be.
        let above_least = (exponent - LEAST) as u64;
        match (above_least, bits >= HIGHEST) {
            (2046.., _) => f64::INFINITY,
            (_, true) => f64::from_bits((above_least << (BITS - 1)) + bits),
            (_, false) => f64::from_bits(bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::by_integers::parse_float;
    use proptest::prelude::*;

    fn check(text: &str) {
        let by_library = text.parse::<f64>().ok().map(f64::to_bits);
        assert_eq!(parse_float(text).map(f64::to_bits), by_library, "{text}");
    }

    #[test]
    fn edges_are_those_of_the_standard_library() {
        for text in [
            "",
            ".",
            "-",
            "+",
            "e1",
            ".e1",
            "1e",
            "1e+",
            "1.2.3",
            "1e1e1",
            "1-2",
            "0x1",
            " 1",
            "1_0",
            "inf",
            "-INF",
            "infinity",
            "+Infinity",
            "nan",
            "infinit",
            "0",
            "-0",
            "-0.0",
            "+1",
            "1.",
            ".5",
            "1e999999999999999999999",
            "1e-999999999999999999999",
            "0e99999999999999999999",
            "5e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2.47e-324",
            "7e-324",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "2.2250738585072009e-308",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "9007199254740993",
            "9007199254740992.5",
            "9007199254740993.0000000000000000001",
            "9223372036854775808",
            "0.1",
            "123456789012345678901234567890",
        ] {
            check(text);
        }
        let half = format!("9007199254740993.{}", "0".repeat(900));
        check(&half);
        check(&(half + "1"));
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_the_standard_library(bits: u64) {
            let number = f64::from_bits(bits);
            check(&format!("{number:e}"));
            check(&format!("{number}"));
            // Halfway to the next one, and beside that.
            let next = f64::from_bits(bits ^ 1);
            let half = format!("{:.800e}", number / 2.0 + next / 2.0);
            check(&half);
        }

        #[test]
        fn texts_are_those_of_the_standard_library(text in "[+-]?[0-9]{0,25}([.][0-9]{0,25})?([eE][+-]?[0-9]{0,3})?") {
            check(&text);
        }
    }
}
