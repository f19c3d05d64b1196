//! Reads and compares versions (section 3.3.2): `major.minor[.fix[.qualifier[-build]]]`.

use std::cmp::Ordering;

/// A TOSCA version. The fields are in the order in which they decide a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version<'a> {
    numbers: [Numeral<'a>; 3],
    release: bool,
    qualifier: &'a str,
    build: Numeral<'a>,
}

impl<'a> Version<'a> {
    /// Reads a version. A zero version means that there is none; it may be a single `0`, and has no
    /// qualifier (section 3.3.2.5).
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let mut parts = if text == "0" { "0.0" } else { text }.splitn(4, '.');
        let (major, minor) = (Numeral::read(parts.next()?)?, Numeral::read(parts.next()?)?);
        let fix = parts.next().map_or(Some(Numeral::ZERO), Numeral::read)?;
        let qualified = parts.next();
        let (qualifier, build) =
            match qualified.map(|rest| rest.rsplit_once('-').unwrap_or((rest, "0"))) {
                None => ("", Numeral::ZERO),
                Some((qualifier, build)) => (qualifier, Numeral::read(build)?),
            };
        let numbers = [major, minor, fix];
        let named = !qualifier.is_empty()
            && qualifier.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let version = Self { numbers, release: qualified.is_none(), qualifier, build };
        (version.release || named && numbers != [Numeral::ZERO; 3]).then_some(version)
    }

    /// Orders two versions of one branch. Returns nothing where their qualifiers are the first
    /// difference, because these have no order (section 3.3.2.2).
    pub(crate) fn compare_in_branch(&self, other: &Self) -> Option<Ordering> {
        let apart = self.numbers == other.numbers && !self.release && !other.release;
        (!apart || self.qualifier == other.qualifier).then(|| self.cmp(other))
    }
}

/// Whether a text is a version.
pub(crate) fn is_version(text: &str) -> bool {
    Version::parse(text).is_some()
}

/// A natural number of any length, without leading zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numeral<'a>(&'a str);

impl<'a> Numeral<'a> {
    const ZERO: Self = Self("");

    /// Reads a sequence of digits without sign or blanks.
    fn read(text: &'a str) -> Option<Self> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Self(text.trim_start_matches('0')))
    }
}

impl Ord for Numeral<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(other.0))
    }
}

impl PartialOrd for Numeral<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::{Version, is_version};
    use std::cmp::Ordering;

    #[test]
    fn versions_have_at_least_two_numbers() {
        for version in
            ["6.1", "2.0.1", "3.1.0.beta", "1.0.0.alpha-10", "0", "0.0", "01.2", "1.0.0.a-b-1"]
        {
            assert!(is_version(version), "{version}");
        }
        for other in [
            "",
            "1",
            "1.",
            ".1",
            "1.x",
            "v1.0",
            "1.0.0.",
            "1.0.0.a-b",
            "1.0.0.-1",
            "1.-1",
            "1.+1",
            "1. 1",
            "00",
            "0.0.0.beta",
        ] {
            assert!(!is_version(other), "{other}");
        }
    }

    #[test]
    fn versions_are_ordered_within_a_branch() {
        let order =
            |a, b| Version::parse(a).unwrap().compare_in_branch(&Version::parse(b).unwrap());
        for (less, more) in [
            ("1.9", "1.10"),
            ("1.0.0.beta", "1.0"),
            ("1.0.0.beta-9", "1.0.0.beta-10"),
            ("1.20240101000000000000", "1.20240101000000000001"),
        ] {
            assert_eq!(order(less, more), Some(Ordering::Less), "{less} {more}");
            assert_eq!(order(more, less), Some(Ordering::Greater), "{less} {more}");
        }
        assert_eq!(order("1.0", "1.00.0"), Some(Ordering::Equal));
        assert_eq!(order("1.0.0.alpha", "1.0.0.beta"), None);
    }
}
