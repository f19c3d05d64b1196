//! Writes strings so that every reader reads them as strings, with quotes only where they are
//! needed.

use super::node::Scalar;
use super::scalar::{core, typed_in_yaml_1_1};
use std::fmt::Write;

/// Appends a string in one line, with quotes if needed.
pub(super) fn push_string(out: &mut String, text: &str, in_flow: bool) {
    if is_plain(text, in_flow) {
        out.push_str(text);
    } else if text.contains('\'') || !text.chars().all(is_printable) {
        push_double_quoted(out, text);
    } else {
        out.push('\'');
        out.push_str(text);
        out.push('\'');
    }
}

/// Appends a string in double quotes, in one line.
pub(super) fn push_double_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c => {
                let code = u32::from(c);
                // Writing to a string does not fail.
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
}

/// Whether a character can be written unescaped in any scalar. Characters that some readers take
/// for line breaks cannot.
pub(super) fn is_printable(c: char) -> bool {
    match c {
        ' '..='~' => true,
        '\u{a0}'..='\u{d7ff}' => !matches!(c, '\u{2028}' | '\u{2029}'),
        '\u{e000}'..='\u{fffd}' => c != '\u{feff}',
        '\u{10000}'.. => true,
        _ => false,
    }
}

/// Whether readers of YAML 1.2 and of YAML 1.1 take this unquoted text for a string.
fn is_plain(text: &str, in_flow: bool) -> bool {
    // In flow collections, some readers of YAML 1.1 end a scalar at any question mark.
    fits_plain(text, in_flow)
        && !(in_flow && text.contains('?'))
        && matches!(core(text), Scalar::String(_))
        && !typed_in_yaml_1_1(text)
}

/// Whether this text can be a plain scalar of any type.
pub(super) fn fits_plain(text: &str, in_flow: bool) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    let starts = match first {
        b' ' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>'
        | b'\'' | b'"' | b'%' | b'@' | b'`' | b'?' | b':' => false,
        b'-' => bytes
            .get(1)
            .is_some_and(|second| !matches!(second, b' ' | b',' | b'[' | b']' | b'{' | b'}')),
        _ => true,
    };
    let marker = text.starts_with("---") || text.starts_with("...");
    let indicator = |pair: &[u8]| match pair {
        [b':', b' '] | [b' ', b'#'] => true,
        [b':', next] => in_flow && matches!(next, b',' | b'[' | b']' | b'{' | b'}' | b':'),
        _ => false,
    };
    let special = |byte: &u8| in_flow && matches!(byte, b',' | b'[' | b']' | b'{' | b'}');
    starts
        && !marker
        && !matches!(last, b' ' | b':')
        && !bytes.windows(2).any(indicator)
        && !bytes.iter().any(special)
        && (bytes.iter().all(|byte| matches!(byte, b' '..=b'~')) || text.chars().all(is_printable))
}

/// Whether a string of several lines can be written as a literal block.
pub(super) fn fits_literal(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let blank = |line: &str| !line.is_empty() && line.trim_matches([' ', '\t']).is_empty();
    text.contains('\n')
        && !body.is_empty()
        && !body.ends_with('\n')
        && !body.trim_start_matches('\n').starts_with('\t')
        && body.chars().all(|c| is_printable(c) || matches!(c, '\n' | '\t'))
        && !body.split('\n').any(blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut out = String::new();
        push_string(&mut out, text, false);
        out
    }

    #[test]
    fn quotes_only_what_needs_it() {
        for text in [
            "a",
            "a b",
            "tosca.nodes.Root",
            "1.2.3",
            "-a",
            "--flag",
            "a:b",
            "http://x",
            "a#b",
            "é",
            "x, y",
            "a [b]",
            "it's",
        ] {
            assert_eq!(written(text), text);
        }
        for text in [
            "",
            " a",
            "a ",
            "1",
            "1.10",
            "true",
            "null",
            "~",
            "yes",
            "No",
            "12:30",
            "2024-01-01",
            "0o17",
            "017",
            "1_000",
            "=",
            ".",
            "+._",
            "<<",
            "- a",
            "-",
            "a: b",
            "a:",
            "a #b",
            "#a",
            "[a]",
            "{a}",
            "*a",
            "&a",
            "!a",
            "|",
            ">",
            "%a",
            "@a",
            "`a",
            "? a",
            ": a",
            "---",
            "...",
            ".inf",
            "0x1F",
            "\"a",
        ] {
            assert_eq!(written(text), format!("'{text}'"));
        }
        assert_eq!(written("'"), r#""'""#);
        assert_eq!(written("a\nb\t\u{7}\u{2028}\u{feff}\\\""), r#""a\nb\t\x07\u2028\ufeff\\\"""#);
    }

    #[test]
    fn quotes_more_inside_of_flow() {
        for text in ["a,b", "a]", "{a", "a:]", "-]", "a?", "http://h/?q=x"] {
            assert!(!is_plain(text, true), "{text}");
        }
        assert!(is_plain("http://x", true));
    }
}
