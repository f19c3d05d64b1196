//! Finds the types of scalars by the YAML 1.2 core schema.

use super::node::Scalar;
use crate::float::parse_float;

/// The source of the type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typing {
    /// The scalar is plain and has no tag, so that its text decides.
    Core,
    /// The scalar is quoted, a block, or tagged `!!str` or `!`.
    String,
    /// The scalar is tagged `!!int`.
    Int,
    /// The scalar is tagged `!!float`.
    Float,
    /// The scalar is tagged `!!bool`.
    Bool,
    /// The scalar is tagged `!!null`.
    Null,
}

impl Typing {
    /// The scalar with this text. `None` where a tag demands a type that the text cannot have.
    pub(super) fn read(self, text: &str) -> Option<Scalar<'_>> {
        match (self, core(text)) {
            (Self::String, _) => Some(Scalar::String(text)),
            (Self::Float, Scalar::Int(value)) => Some(Scalar::Float(value as f64)),
            (Self::Core, scalar)
            | (Self::Float, scalar @ Scalar::Float(_))
            | (Self::Bool, scalar @ Scalar::Bool(_))
            | (Self::Null, scalar @ Scalar::Null) => Some(scalar),
            // An integer beyond 64 bits is read as a float.
            (Self::Int, scalar @ (Scalar::Int(_) | Scalar::Float(_))) => {
                integer(text).map(|_| scalar)
            }
            _ => None,
        }
    }

    /// Whether the text is an integer, with any number of digits.
    pub(super) fn is_integer(self, text: &str) -> bool {
        matches!(self, Self::Core | Self::Int) && integer(text).is_some()
    }
}

/// The scalar that a plain text is.
pub(super) fn core(text: &str) -> Scalar<'_> {
    let typed = match text.as_bytes().first() {
        None | Some(b'~' | b'n' | b'N') => {
            matches!(text, "" | "~" | "null" | "Null" | "NULL").then_some(Scalar::Null)
        }
        Some(b't' | b'T' | b'f' | b'F') => match text {
            "true" | "True" | "TRUE" => Some(Scalar::Bool(true)),
            "false" | "False" | "FALSE" => Some(Scalar::Bool(false)),
            _ => None,
        },
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => {
            integer(text).or_else(|| float(text).map(Scalar::Float))
        }
        _ => None,
    };
    typed.unwrap_or(Scalar::String(text))
}

/// Reads an integer. It becomes a float where it does not fit into 64 bits.
fn integer(text: &str) -> Option<Scalar<'static>> {
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let valid = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
            return valid.then(|| based(digits, radix));
        }
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let valid = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if !valid {
        return None;
    }
    text.parse().ok().map(Scalar::Int).or_else(|| parse_float(text).map(Scalar::Float))
}

fn based(digits: &str, radix: u32) -> Scalar<'static> {
    let rounded = || {
        digits.chars().fold(0.0, |sum, digit| {
            sum * f64::from(radix) + f64::from(digit.to_digit(radix).unwrap_or(0))
        })
    };
    i64::from_str_radix(digits, radix).map_or_else(|_| Scalar::Float(rounded()), Scalar::Int)
}

/// Reads a number with a point or an exponent, an infinity or "not a number".
fn float(text: &str) -> Option<f64> {
    let (negative, magnitude) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    match magnitude {
        ".inf" | ".Inf" | ".INF" => {
            return Some(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        ".nan" | ".NaN" | ".NAN" if magnitude.len() == text.len() => return Some(f64::NAN),
        _ => {}
    }
    // Names that the standard library reads as numbers, such as `infinity`, contain other letters.
    let digit_or_point = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let number = magnitude
        .bytes()
        .all(|byte| digit_or_point(&byte) || matches!(byte, b'e' | b'E' | b'+' | b'-'))
        && magnitude.as_bytes().first().is_some_and(digit_or_point);
    number.then(|| parse_float(text)).flatten()
}

/// Whether a reader of YAML 1.1, such as PyYAML, takes this plain text for something other than a
/// string. For YAML 1.2, [`core`] decides.
pub(super) fn typed_in_yaml_1_1(text: &str) -> bool {
    match text.as_bytes().first() {
        Some(b'y' | b'Y' | b'n' | b'N' | b'o' | b'O') => switch(text).is_some(),
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => is_old_number(text) || is_timestamp(text),
        Some(b'=' | b'<') => matches!(text, "=" | "<<"),
        _ => false,
    }
}

/// The boolean that a reader of YAML 1.1 takes this plain text for, where YAML 1.2 has a string,
/// such as `yes`.
pub fn switch(text: &str) -> Option<bool> {
    let same_case = |word: &str| {
        text.eq_ignore_ascii_case(word)
            && (text[1..] == word[1..] || text.bytes().all(|byte| byte.is_ascii_uppercase()))
    };
    let words =
        [("y", true), ("n", false), ("yes", true), ("no", false), ("on", true), ("off", false)];
    words.into_iter().find(|(word, _)| same_case(word)).map(|(_, value)| value)
}

/// Whether a text is a number of YAML 1.1: `1_000`, `0b11`, `017`, `12:30:00`, and the like with a
/// sign or a fraction.
fn is_old_number(text: &str) -> bool {
    let magnitude = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (number, fraction) =
        magnitude.split_once('.').map_or((magnitude, None), |(number, rest)| (number, Some(rest)));
    let in_sixties = number.contains(':')
        && number.split(':').all(|part| !part.is_empty() && all_in(part, "0123456789_"));
    if in_sixties {
        return fraction.is_none_or(|rest| all_in(rest, "0123456789_"));
    }
    // Some readers take a point for a number even without a digit.
    if number.is_empty() && fraction.is_some_and(|rest| all_in(rest, "0123456789_")) {
        return true;
    }
    if !magnitude.contains('_') {
        return magnitude.strip_prefix("0b").is_some_and(|digits| all_in(digits, "01"));
    }
    let bare = magnitude.replace('_', "");
    let octal_or_binary = bare.strip_prefix("0b").is_some_and(|digits| all_in(digits, "01"));
    octal_or_binary || !matches!(core(&bare), Scalar::String(_)) || bare.is_empty()
}

fn all_in(text: &str, alphabet: &str) -> bool {
    text.bytes().all(|byte| alphabet.as_bytes().contains(&byte))
}

/// Whether a text is a timestamp of YAML 1.1: `2024-01-01`, alone or with a time.
fn is_timestamp(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let digits =
        |part: &str, most: usize| (1..=most).contains(&part.len()) && all_in(part, "0123456789");
    let day = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    year.len() == 4
        && digits(year, 4)
        && digits(month, 2)
        && digits(&rest[..day], 2)
        && all_in(&rest[day..], "0123456789:.TtZ+- \t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_by_the_core_schema() {
        use Scalar::*;
        let table: &[(&str, Scalar)] = &[
            ("", Null),
            ("~", Null),
            ("null", Null),
            ("Null", Null),
            ("NULL", Null),
            ("nUll", String("nUll")),
            ("true", Bool(true)),
            ("True", Bool(true)),
            ("FALSE", Bool(false)),
            ("tRue", String("tRue")),
            ("0", Int(0)),
            ("-0", Int(0)),
            ("017", Int(17)),
            ("+12", Int(12)),
            ("0o14", Int(12)),
            ("0x1F", Int(31)),
            ("0xg", String("0xg")),
            ("0x", String("0x")),
            ("0o8", String("0o8")),
            ("-0x1", String("-0x1")),
            ("0x+1", String("0x+1")),
            ("+-1", String("+-1")),
            ("9223372036854775807", Int(i64::MAX)),
            ("-9223372036854775808", Int(i64::MIN)),
            ("9223372036854775808", Float(9_223_372_036_854_775_808.0)),
            ("0xFFFFFFFFFFFFFFFF", Float(18_446_744_073_709_551_615.0)),
            ("1.", Float(1.0)),
            (".5", Float(0.5)),
            ("-1.10", Float(-1.1)),
            ("1e3", Float(1000.0)),
            ("1.5E-3", Float(0.0015)),
            ("1e", String("1e")),
            (".", String(".")),
            ("+", String("+")),
            (".e1", String(".e1")),
            ("1.2.3", String("1.2.3")),
            (".inf", Float(f64::INFINITY)),
            ("-.INF", Float(f64::NEG_INFINITY)),
            ("inf", String("inf")),
            ("+inf", String("+inf")),
            ("-nan", String("-nan")),
            ("-.nan", String("-.nan")),
            ("infinity", String("infinity")),
            ("yes", String("yes")),
            ("2024-01-01", String("2024-01-01")),
            ("1:30", String("1:30")),
            ("1_000", String("1_000")),
        ];
        for &(text, expected) in table {
            assert_eq!(core(text), expected, "{text}");
        }
        assert!(matches!(core(".NaN"), Float(value) if value.is_nan()));
    }

    #[test]
    fn tags_decide_or_refuse() {
        assert_eq!(Typing::String.read("1"), Some(Scalar::String("1")));
        assert_eq!(Typing::Float.read("1"), Some(Scalar::Float(1.0)));
        assert_eq!(Typing::Int.read("0x1F"), Some(Scalar::Int(31)));
        for (typing, text) in [
            (Typing::Int, "1.5"),
            (Typing::Int, "a"),
            (Typing::Bool, "1"),
            (Typing::Null, "x"),
            (Typing::Float, "true"),
        ] {
            assert_eq!(typing.read(text), None, "{typing:?} {text}");
        }
    }

    #[test]
    fn knows_what_older_readers_would_type() {
        for text in [
            "y",
            "Y",
            "no",
            "No",
            "NO",
            "on",
            "OFF",
            "yes",
            "=",
            "<<",
            "1_000",
            "0b11",
            "0b1_1",
            "12:30",
            "12:30:15.5",
            "+1:30",
            "2024-01-01",
            "2024-1-1",
            "2024-01-01T10:00:00Z",
            "2024-01-01 10:00:00 +1",
            "0x_1F",
            "1_0.5",
        ] {
            assert!(typed_in_yaml_1_1(text), "{text}");
        }
        for text in [
            "yEs",
            "nO",
            "oN",
            "none",
            "1.2.3",
            "a:b",
            "2024-01",
            "2024-01-01-x",
            "-",
            "--x",
            "1-2-3",
            "x_1",
            "1:a",
            "one",
            "<",
            "1:",
        ] {
            assert!(!typed_in_yaml_1_1(text), "{text}");
        }
    }
}
