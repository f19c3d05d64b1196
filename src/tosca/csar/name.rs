//! Checks the names of entries: relative paths with `/` between their parts that do not leave the
//! directory they are unpacked to.

use std::borrow::Cow;

/// The longest path in bytes that any system allows.
const BYTES: usize = 4096;

/// How deeply directories may be nested.
pub(super) const DEPTH: usize = 64;

/// Returns the name without parts that have no meaning, or says why the name is refused.
///
/// The check covers how any system reads the name, not only this one: an archive may be unpacked
/// elsewhere.
pub(super) fn checked(name: &str) -> Result<Cow<'_, str>, &'static str> {
    let drive =
        |name: &str| matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if name.len() > BYTES {
        return Err("is longer than any path may be");
    }
    if name.contains(char::is_control) {
        return Err("contains a control character");
    }
    if name.contains('\\') {
        return Err("contains a backslash; parts of a path are separated by `/`");
    }
    if name.starts_with('/') || drive(name) {
        return Err("is an absolute path");
    }
    let mut parts = name.split('/').filter(|part| *part != ".");
    if parts.clone().any(|part| part == "..") {
        return Err("leads out of its directory by `..`");
    }
    if parts.clone().count() > DEPTH {
        return Err("lies too deep");
    }
    if parts.clone().next().is_none() || parts.any(str::is_empty) {
        return Err("has a part without a name");
    }
    Ok(if name.split('/').any(|part| part == ".") {
        name.split('/').filter(|part| *part != ".").collect::<Vec<_>>().join("/").into()
    } else {
        name.into()
    })
}

/// The directory that contains an entry.
pub(super) fn parent(name: &str) -> Option<&str> {
    name.rsplit_once('/').map(|(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stay_inside() {
        for name in ["a", "a/b.yaml", "TOSCA-Metadata/TOSCA.meta", "a b/ü", "...", "a/..b", "ab:/c"]
        {
            assert_eq!(checked(name), Ok(name.into()));
        }
        for (name, plain) in [("./a", "a"), ("a/./b", "a/b"), ("././a/.", "a")] {
            assert_eq!(checked(name), Ok(plain.into()));
        }
        for (name, why) in [
            ("", "without a name"),
            (".", "without a name"),
            ("a//b", "without a name"),
            ("a/", "without a name"),
            ("/etc/passwd", "absolute"),
            ("C:/windows", "absolute"),
            ("c:x", "absolute"),
            ("..", "`..`"),
            ("a/../../b", "`..`"),
            ("a/..", "`..`"),
            ("..\\a", "backslash"),
            ("a\0b", "control"),
            ("a\u{1b}[2J", "control"),
        ] {
            assert!(checked(name).is_err_and(|error| error.contains(why)), "{name}");
        }
        assert!(checked(&"a/".repeat(DEPTH)).is_err());
        assert!(checked(&"a".repeat(BYTES + 1)).is_err());
    }
}
