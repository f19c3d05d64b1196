//! Reads what a task gave: an object of JSON, or lines `NAME=VALUE`.

use super::task::TaskFailure;
use cuvee_text::value::Value;
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
        return match serde_json::from_str(text) {
            Ok(Value::Map(entries)) => Ok(entries.to_vec()),
            Ok(_) => Err(unreadable("it is no object of JSON").help(how)),
            Err(why) => {
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
}
