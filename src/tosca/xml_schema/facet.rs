//! Checks texts against facets, the restrictions of a type.

use cuvee_text::float::parse_float;
use regex_lite::Regex;
use std::borrow::Cow;
use std::cmp::Ordering;

/// A restriction of the texts of a type.
pub(super) enum Facet<'d> {
    /// The text is one of these.
    Values(Vec<Cow<'d, str>>),
    /// The whole text matches one of these patterns.
    Patterns(Vec<(Cow<'d, str>, Regex)>),
    Length(usize, Option<usize>),
    /// The number is greater than the bound or, if the flag is set, equal to it.
    Above(Cow<'d, str>, bool),
    Below(Cow<'d, str>, bool),
    Digits(usize),
    Decimals(usize),
}

impl Facet<'_> {
    /// Explains why a text violates the facet. `None` where it does not.
    pub(super) fn broken_by(&self, text: &str, is_number: bool) -> Option<String> {
        let is_broken = |bound: &str, order: Ordering, or_equal: bool| {
            let found = is_number.then(|| compared(text, bound)).flatten();
            found.is_some_and(|found| found != order && !(or_equal && found == Ordering::Equal))
        };
        match self {
            Self::Values(values) => (!values.iter().any(|value| value == text))
                .then(|| format!("`{text}` is none of {}", crate::diagnostic::listed(values))),
            Self::Patterns(patterns) => {
                let matches = patterns.iter().any(|(_, pattern)| pattern.is_match(text));
                let written = patterns.iter().map(|(written, _)| &**written);
                (!matches).then(|| {
                    format!("`{text}` does not match {}", crate::diagnostic::listed(written))
                })
            }
            Self::Length(least, most) => {
                let length = text.chars().count();
                let is_within = *least <= length && most.is_none_or(|most| length <= most);
                (!is_within).then(|| match most {
                    Some(most) if most == least => {
                        format!("`{text}` has {length} characters, not {least}")
                    }
                    Some(most) if length > *most => {
                        format!("`{text}` has {length} characters, more than {most}")
                    }
                    _ => format!("`{text}` has {length} characters, fewer than {least}"),
                })
            }
            Self::Above(bound, or_equal) => {
                is_broken(bound, Ordering::Greater, *or_equal).then(|| {
                    format!(
                        "`{text}` is not {} {bound}",
                        if *or_equal { "at least" } else { "more than" }
                    )
                })
            }
            Self::Below(bound, or_equal) => {
                is_broken(bound, Ordering::Less, *or_equal).then(|| {
                    format!(
                        "`{text}` is not {} {bound}",
                        if *or_equal { "at most" } else { "less than" }
                    )
                })
            }
            Self::Digits(most) => {
                let (whole, part) = digits(text);
                let count = whole.len() + part.len();
                (count > *most).then(|| format!("`{text}` has {count} digits, more than {most}"))
            }
            Self::Decimals(most) => {
                let count = digits(text).1.len();
                (count > *most).then(|| {
                    format!("`{text}` has {count} digits behind the point, more than {most}")
                })
            }
        }
    }
}

/// The significant digits of a number, before and behind the point.
fn digits(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches(['+', '-']);
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    (whole.trim_start_matches('0'), part.trim_end_matches('0'))
}

/// Compares two numbers.
fn compared(one: &str, other: &str) -> Option<Ordering> {
    if let (Ok(one), Ok(other)) = (one.parse::<i128>(), other.parse::<i128>()) {
        return Some(one.cmp(&other));
    }
    parse_float(one)?.partial_cmp(&parse_float(other)?)
}

/// Translates a pattern of XML Schema into a regular expression, where that can express the same.
/// Patterns of XML Schema match whole texts. They have no anchors, but have classes for the
/// characters of names.
pub(super) fn pattern(written: &str) -> Option<Regex> {
    let mut ours = String::with_capacity(written.len() + 8);
    let (mut rest, mut is_class) = (written.chars().peekable(), false);
    while let Some(character) = rest.next() {
        match (character, rest.peek()) {
            ('\\', Some('i')) => {
                rest.next();
                ours.push_str(if is_class { "_:A-Za-z" } else { "[_:A-Za-z]" });
            }
            ('\\', Some('c')) => {
                rest.next();
                ours.push_str(if is_class { "-._:A-Za-z0-9" } else { "[-._:A-Za-z0-9]" });
            }
            // These constructs differ between the two languages, or are unknown to one of them.
            ('\\', Some('p' | 'P' | 'I' | 'C')) | ('[' | '&' | '~', Some('[')) if is_class => {
                return None;
            }
            ('-', Some('[')) if is_class => return None,
            ('\\', Some(_)) => {
                ours.push('\\');
                ours.extend(rest.next());
            }
            ('^' | '$', _) if !is_class => {
                ours.push('\\');
                ours.push(character);
            }
            _ => {
                is_class = match character {
                    '[' => true,
                    ']' => false,
                    _ => is_class,
                };
                ours.push(character);
            }
        }
    }
    // The pattern is compiled alone first, so that an unbalanced parenthesis does not close the
    // added group.
    Regex::new(&ours).ok()?;
    Regex::new(&format!(r"\A(?:{ours})\z")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_texts() {
        let cases = [
            ("[a-z]+", "abc", true),
            ("[a-z]+", "abc1", false),
            ("a|b", "ab", false),
            (r"\d{2}", "12", true),
            ("a^$", "a^$", true),
            (r"\i\c*", "_a-1", true),
            (r"[\i]", "1", false),
        ];
        for (written, text, matches) in cases {
            assert_eq!(
                pattern(written).map(|it| it.is_match(text)),
                Some(matches),
                "{written} {text}"
            );
        }
        for unknown in ["[a-z-[aeiou]]", "(", r"[\p{L}]"] {
            assert!(pattern(unknown).is_none(), "{unknown}");
        }
    }
}
