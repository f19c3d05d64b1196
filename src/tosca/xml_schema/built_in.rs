//! Checks texts against the types that are built into XML Schema (its part 2).

use cuvee_text::xml::{is_name, is_unprefixed_name};

/// A built-in type of XML Schema.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BuiltInType {
    /// The name of the type in schemas.
    pub(crate) name: &'static str,
    texts: LexicalForm,
}

/// The texts that belong to a type.
#[derive(Debug, PartialEq, Eq)]
enum LexicalForm {
    /// All texts, and elements as well.
    Anything,
    /// All texts. White space is kept as it is written.
    Written,
    /// All texts.
    Any,
    Boolean,
    /// Integers, from the first bound to the second where there are bounds.
    Integer(Option<i128>, Option<i128>),
    Decimal,
    Float,
    Duration,
    /// Times in this form: `Y` is a year, other capital letters are two digits, and `S` may have a
    /// fraction.
    Time(&'static str),
    Hexadecimal,
    Base64,
    Name,
    UnprefixedName,
    PrefixedName,
    Token,
}

const fn of(name: &'static str, texts: LexicalForm) -> BuiltInType {
    BuiltInType { name, texts }
}

const fn integer(name: &'static str, least: i128, most: i128) -> BuiltInType {
    of(name, LexicalForm::Integer(Some(least), Some(most)))
}

static BUILT_IN: [BuiltInType; 46] = [
    of("anyType", LexicalForm::Anything),
    of("anySimpleType", LexicalForm::Written),
    of("string", LexicalForm::Written),
    of("normalizedString", LexicalForm::Written),
    of("token", LexicalForm::Any),
    of("language", LexicalForm::Token),
    of("NMTOKEN", LexicalForm::Token),
    of("NMTOKENS", LexicalForm::Any),
    of("Name", LexicalForm::Name),
    of("NCName", LexicalForm::UnprefixedName),
    of("ID", LexicalForm::UnprefixedName),
    of("IDREF", LexicalForm::UnprefixedName),
    of("IDREFS", LexicalForm::Any),
    of("ENTITY", LexicalForm::UnprefixedName),
    of("ENTITIES", LexicalForm::Any),
    of("QName", LexicalForm::PrefixedName),
    of("NOTATION", LexicalForm::PrefixedName),
    of("anyURI", LexicalForm::Any),
    of("boolean", LexicalForm::Boolean),
    of("decimal", LexicalForm::Decimal),
    of("integer", LexicalForm::Integer(None, None)),
    of("nonPositiveInteger", LexicalForm::Integer(None, Some(0))),
    of("negativeInteger", LexicalForm::Integer(None, Some(-1))),
    of("nonNegativeInteger", LexicalForm::Integer(Some(0), None)),
    of("positiveInteger", LexicalForm::Integer(Some(1), None)),
    integer("long", i64::MIN as i128, i64::MAX as i128),
    integer("int", i32::MIN as i128, i32::MAX as i128),
    integer("short", i16::MIN as i128, i16::MAX as i128),
    integer("byte", i8::MIN as i128, i8::MAX as i128),
    integer("unsignedLong", 0, u64::MAX as i128),
    integer("unsignedInt", 0, u32::MAX as i128),
    integer("unsignedShort", 0, u16::MAX as i128),
    integer("unsignedByte", 0, u8::MAX as i128),
    of("float", LexicalForm::Float),
    of("double", LexicalForm::Float),
    of("duration", LexicalForm::Duration),
    of("dateTime", LexicalForm::Time("Y-M-DTh:m:S")),
    of("time", LexicalForm::Time("h:m:S")),
    of("date", LexicalForm::Time("Y-M-D")),
    of("gYearMonth", LexicalForm::Time("Y-M")),
    of("gYear", LexicalForm::Time("Y")),
    of("gMonthDay", LexicalForm::Time("--M-D")),
    of("gMonth", LexicalForm::Time("--M")),
    of("gDay", LexicalForm::Time("---D")),
    of("hexBinary", LexicalForm::Hexadecimal),
    of("base64Binary", LexicalForm::Base64),
];

impl BuiltInType {
    /// The type of a name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        BUILT_IN.iter().find(|known| known.name == name)
    }

    /// Whether a text is a value of the type.
    pub(crate) fn accepts(&self, text: &str) -> bool {
        match self.collapses() {
            true => self.holds(&text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")),
            false => self.holds(text),
        }
    }

    /// Whether values of the type may be elements.
    pub(crate) fn is_anything(&self) -> bool {
        self.texts == LexicalForm::Anything
    }

    /// Whether white space around and inside of values is insignificant.
    pub(crate) fn collapses(&self) -> bool {
        !matches!(self.texts, LexicalForm::Anything | LexicalForm::Written)
    }

    /// Whether a text may be a value of both types.
    pub(crate) fn may_share(&self, other: &Self) -> bool {
        let is_open = |of: &Self| {
            matches!(of.texts, LexicalForm::Anything | LexicalForm::Written | LexicalForm::Any)
        };
        self == other || is_open(self) || is_open(other) || self.is_number() && other.is_number()
    }

    /// Whether values of the type are numbers, so that they can be compared.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self.texts, LexicalForm::Integer(..) | LexicalForm::Decimal | LexicalForm::Float)
    }

    /// Whether a text with collapsed white space is a value of the type.
    pub(crate) fn holds(&self, text: &str) -> bool {
        match self.texts {
            LexicalForm::Anything | LexicalForm::Written | LexicalForm::Any => true,
            LexicalForm::Boolean => matches!(text, "true" | "false" | "1" | "0"),
            LexicalForm::Integer(least, most) => is_integer(text, least, most),
            LexicalForm::Decimal => is_decimal(text),
            LexicalForm::Float => is_float(text),
            LexicalForm::Duration => is_duration(text),
            LexicalForm::Time(form) => is_time(form, text),
            LexicalForm::Hexadecimal => {
                text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
            }
            LexicalForm::Base64 => is_base64(text),
            LexicalForm::Name => is_name(text),
            LexicalForm::UnprefixedName => is_unprefixed_name(text),
            LexicalForm::PrefixedName => {
                text.split(':').all(is_unprefixed_name) && text.matches(':').count() < 2
            }
            LexicalForm::Token => !text.is_empty() && !text.contains(' '),
        }
    }
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_integer(text: &str, least: Option<i128>, most: Option<i128>) -> bool {
    if !is_digits(unsigned(text)) {
        return false;
    }
    match text.parse::<i128>() {
        Ok(value) => least.is_none_or(|it| it <= value) && most.is_none_or(|it| value <= it),
        // The number is beyond every bound that a built-in type has.
        Err(_) if text.starts_with('-') => least.is_none(),
        Err(_) => most.is_none(),
    }
}

fn is_decimal(text: &str) -> bool {
    let (whole, part) = unsigned(text).split_once('.').unwrap_or((unsigned(text), ""));
    let is_empty_or_digits = |text: &str| text.is_empty() || is_digits(text);
    is_empty_or_digits(whole) && is_empty_or_digits(part) && !(whole.is_empty() && part.is_empty())
}

fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    matches!(text, "INF" | "-INF" | "NaN") || is_decimal(mantissa) && is_digits(unsigned(exponent))
}

fn is_base64(text: &str) -> bool {
    let digits: Vec<_> = text.bytes().filter(|byte| *byte != b' ').collect();
    let filled = digits.iter().rev().take_while(|byte| **byte == b'=').count();
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    digits.len().is_multiple_of(4)
        && filled < 3
        && digits[..digits.len() - filled].iter().all(is_digit)
}

/// Whether a text is a duration such as `P1Y2M3DT4H5M6.7S`. All parts but one may be missing.
fn is_duration(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let Some(text) = text.strip_prefix('P') else { return false };
    let (days, time) = text.split_once('T').map_or((text, None), |(days, time)| (days, Some(time)));
    let are_parts = |mut text: &str, units: &str| {
        let mut units = units.chars();
        while !text.is_empty() {
            let Some(end) = text.find(|c: char| c.is_ascii_alphabetic()) else { return false };
            let (number, rest) = text.split_at(end);
            let unit = rest.chars().next().unwrap_or_default();
            let is_number =
                is_digits(number) || unit == 'S' && number.contains('.') && is_decimal(number);
            if !is_number || !units.any(|known| known == unit) {
                return false;
            }
            text = &rest[1..];
        }
        true
    };
    let is_there = !days.is_empty() || time.is_some();
    is_there
        && are_parts(days, "YMD")
        && time.is_none_or(|time| !time.is_empty() && are_parts(time, "HMS"))
}

/// Whether a text is a time of a form, with or without a time zone.
fn is_time(form: &str, text: &str) -> bool {
    let mut rest = text;
    for part in form.chars() {
        let Some(behind) = after(part, rest) else { return false };
        rest = behind;
    }
    match rest {
        "" | "Z" => true,
        zone => {
            let zone = zone.strip_prefix(['+', '-']);
            zone.and_then(|zone| after('h', zone))
                .and_then(|zone| zone.strip_prefix(':'))
                .and_then(|zone| after('m', zone))
                .is_some_and(str::is_empty)
        }
    }
}

/// The text behind a part of a time.
fn after(part: char, text: &str) -> Option<&str> {
    let two = |least: u8, most: u8| {
        let (number, rest) = text.split_at_checked(2)?;
        let is_within = |number: u8| (least..=most).contains(&number);
        (is_digits(number) && number.parse().is_ok_and(is_within)).then_some(rest)
    };
    match part {
        'Y' => {
            let text = text.strip_prefix('-').unwrap_or(text);
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            (end >= 4).then_some(&text[end..])
        }
        'M' => two(1, 12),
        'D' => two(1, 31),
        'h' => two(0, 24),
        'm' => two(0, 59),
        'S' => {
            let rest = two(0, 60)?;
            let Some(fraction) = rest.strip_prefix('.') else { return Some(rest) };
            let end = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
            (end > 0).then_some(&fraction[end..])
        }
        literal => text.strip_prefix(literal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_of_types_by_their_forms() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("boolean", &["true", "0"], &["yes", "True", ""]),
            (
                "integer",
                &["0", "-7", "+7", "99999999999999999999999999999999999999999999"],
                &["", "-", "1.0", "1e3"],
            ),
            (
                "positiveInteger",
                &["1"],
                &["0", "-1", "-99999999999999999999999999999999999999999999"],
            ),
            ("byte", &["-128", "127"], &["128", "-129"]),
            ("unsignedLong", &["18446744073709551615"], &["18446744073709551616", "-1"]),
            ("decimal", &["1", ".5", "5.", "-1.50"], &["", ".", "1e3", "1,5"]),
            ("double", &["1e3", "-1.5E-7", "INF", "NaN"], &["", "e3", "+INF", "1e", "inf"]),
            (
                "duration",
                &["P1Y", "-P1M2D", "PT1.5S", "P1DT2H"],
                &["", "P", "PT", "P1S", "P1M1Y", "PT1.5H", "1Y"],
            ),
            (
                "dateTime",
                &["2024-02-29T23:59:59", "-0044-03-15T00:00:00.5Z", "2024-01-01T00:00:00+02:00"],
                &["2024-02-29", "2024-13-01T00:00:00", "2024-01-01T00:00:00.", "24-01-01T00:00:00"],
            ),
            ("time", &["24:00:00", "12:00:00Z"], &["12:00", "25:00:00"]),
            (
                "date",
                &["2024-02-29", "2024-02-29Z"],
                &["2024-2-29", "2024-02-32", "2024-02-29T00:00:00"],
            ),
            ("gYear", &["2024", "12024"], &["24"]),
            ("gMonthDay", &["--12-31"], &["12-31"]),
            ("gDay", &["---31"], &["--31"]),
            ("hexBinary", &["", "0aFF"], &["0", "0g"]),
            ("base64Binary", &["", "YWI=", "YW Jj"], &["YWI", "Y===", "YW=I"]),
            ("NCName", &["a", "_a.b-c"], &["", "1a", "a:b"]),
            ("QName", &["a", "p:a"], &["p:", "a:b:c"]),
            ("NMTOKEN", &["1a"], &["", "a b"]),
            ("anyURI", &["", "a b"], &[]),
        ];
        for (name, right, wrong) in cases {
            let known = BuiltInType::named(name).unwrap_or_else(|| panic!("there is no `{name}`"));
            for text in *right {
                assert!(known.holds(text), "`{text}` is a {name}");
            }
            for text in *wrong {
                assert!(!known.holds(text), "`{text}` is no {name}");
            }
        }
    }
}
