//! Reads what a task gave: an object of JSON, or lines `NAME=VALUE`.

use super::task::TaskFailure;
use cuvee_text::value::{NUMBER, Value};
use serde::de::IgnoredAny;
use serde_json::json;
use std::borrow::Cow;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

/// The file of a task's directory that its outputs are written to.
pub(super) const FILE: &str = "outputs";

/// How many bytes of outputs a task may give.
pub(super) const MOST: u64 = 1 << 20;

/// Outputs by name. Lines give texts; their values are read by the definitions of what they are
/// assigned to.
pub(super) type Outputs = Vec<(Arc<str>, Value)>;

/// Reads a file of outputs. A task that gives none need not write it.
pub(super) fn read(path: &Path) -> Result<Outputs, TaskFailure> {
    let mut bytes = Vec::new();
    // Opening anything else, such as a pipe, may never end.
    match std::fs::symlink_metadata(path) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Ok(meta) if !meta.is_file() => return Err(unreadable("it is no file")),
        _ => {}
    }
    let read = File::open(path).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes));
    read.map_err(|why| unreadable(&why.to_string()))?;
    if bytes.len() as u64 > MOST {
        return Err(unreadable("it has more than 1 MiB")
            .help("keep large values elsewhere, and give their addresses"));
    }
    parse(&bytes)
}

fn unreadable(why: &str) -> TaskFailure {
    TaskFailure::new(format!("its outputs, `CUVEE_OUTPUTS`, cannot be read: {why}"))
}

/// Reads an object of JSON, or lines.
pub(super) fn parse(bytes: &[u8]) -> Result<Outputs, TaskFailure> {
    let how = "write an object of JSON, or lines such as `url=http://shop`";
    let text = std::str::from_utf8(bytes)
        .map_err(|why| unreadable(&format!("byte {} is no UTF-8", why.valid_up_to())).help(how))?;
    if text.trim_start().starts_with('{') {
        return match serde_json::from_str(&with_digits(text)) {
            Ok(Value::Map(entries)) => Ok(entries.to_vec()),
            Ok(_) => Err(unreadable("it is no object of JSON").help(how)),
            Err(why) => {
                // The place is one of what was written.
                let why = serde_json::from_str::<IgnoredAny>(text).err().unwrap_or(why);
                let (line, column) = (why.line(), why.column());
                Err(unreadable(&format!("it is malformed at line {line}, column {column}"))
                    .help(how))
            }
        };
    }
    let mut outputs: Outputs = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end_matches('\r');
        if line.trim().is_empty() {
            continue;
        }
        let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
        match line.split_once('=') {
            Some((name, value)) if is_name(name) => {
                outputs.retain(|(known, _)| **known != *name);
                outputs.push((name.into(), value.into()));
            }
            _ => {
                let why = format!("line {} is not `NAME=VALUE`", number + 1);
                return Err(unreadable(&why).help(how));
            }
        }
    }
    Ok(outputs)
}

/// A text of JSON in which numbers that programs in general take for others, or for none, are as logs
/// have them. In JSON itself, a number has as many digits as it likes.
fn with_digits(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut whole, mut done, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        let start = at;
        at += 1;
        match bytes[start] {
            b'"' => {
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let is_more =
                    |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
                at += bytes[at..].iter().take_while(|byte| is_more(byte)).count();
                let number = &text[start..at];
                if is_lost(number) {
                    whole.push_str(&text[done..start]);
                    whole.push_str(&json!({ NUMBER: number }).to_string());
                    done = at;
                }
            }
            _ => {}
        }
    }
    if done == 0 {
        return text.into();
    }
    whole.push_str(&text[done..]);
    whole.into()
}

/// Whether a number of JSON is no integer of 64 bits though it is written as one, or too large for a
/// double.
fn is_lost(number: &str) -> bool {
    let is_integer = number.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    let is_there = match is_integer {
        true => number.parse::<i64>().is_ok(),
        false => number.parse::<f64>().is_ok_and(f64::is_finite),
    };
    !is_there && serde_json::from_str::<IgnoredAny>(number).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_json_or_lines() {
        let names =
            |text: &[u8]| parse(text).map(|all| format!("{all:?}")).map_err(|it| it.message);
        assert!(names(b"{\"port\": 80, \"a\": [1]}").unwrap().contains("port"));
        assert_eq!(names(b"a=1\n\nb=x=y\r\na=2\n"), names(b"b=x=y\na=2"));
        assert!(names(b"{\"a\": ").unwrap_err().contains("line 1, column 6"));
        assert!(names(b"\xff\xfe").unwrap_err().contains("byte 0"));
        assert!(names(b"hello\n").unwrap_err().contains("line 1"));
        assert_eq!(names(b"").unwrap(), "[]");
    }

    #[test]
    fn numbers_keep_their_digits() {
        let long = "123456789012345678901234567890";
        let text = format!(r#"{{"a": [{long}, -{long}, 1e400], "b": "\\\"{long}", "c": 1.5e3}}"#);
        let told = |outputs: &Outputs| {
            let texts = outputs.iter().map(|(name, value)| format!("{name}: {value}"));
            texts.collect::<Vec<_>>().join("; ")
        };
        let outputs = parse(text.as_bytes()).unwrap();
        let expected = format!(r#"a: [{long}, -{long}, 1e400]; b: \"{long}; c: 1500"#);
        assert_eq!(told(&outputs), expected);
        for wrong in [format!("0{long}"), format!("{long}-"), "-".to_owned(), "1e400.".to_owned()] {
            let text = format!("{{\"a\": {wrong}}}");
            assert!(parse(text.as_bytes()).unwrap_err().message.contains("line 1"), "{text}");
        }
        let cut = format!("{{\"a\": {long}, \"b");
        assert!(parse(cut.as_bytes()).unwrap_err().message.contains("column 40"), "{cut}");
    }
}
