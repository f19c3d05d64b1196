//! Reads and writes messages on standard input and output.

use super::protocol::{self, ErrorKind};
use lsp_server::{Message, RequestId, Response};
use serde_json::Value;
use std::io::{self, BufRead, Write};

/// What comes from the editor.
pub(super) enum ClientMessage {
    Message(Message),
    /// Something that is no message, with the response that says so.
    Wrong(Value),
}

/// The most bytes of one message, so that a wrong length does not take all memory.
const MOST: usize = 1 << 30;

/// Reads one message; `None` at the end of the stream.
///
/// # Errors
/// Where the stream cannot be read, or where the next message starts cannot be known.
pub(super) fn read(from: &mut impl BufRead) -> io::Result<Option<ClientMessage>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            break;
        }
        let header = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
        if let Some((name, value)) = header
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.parse().ok();
        }
    }
    let invalid = |why| io::Error::new(io::ErrorKind::InvalidData, why);
    let length: usize = length.ok_or_else(|| invalid("a message has no `Content-Length`"))?;
    if length > MOST {
        return Err(invalid("a message is too long"));
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(Some(parse(&body)))
}

fn parse(body: &[u8]) -> ClientMessage {
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(error) => {
            return ClientMessage::Wrong(wrong(Value::Null, ErrorKind::Parse, &error.to_string()));
        }
    };
    let id = value.get("id").cloned().unwrap_or_default();
    match serde_json::from_value(value) {
        Ok(message) => ClientMessage::Message(message),
        Err(_) => {
            let why = "this is no request, response or notification";
            ClientMessage::Wrong(wrong(id, ErrorKind::InvalidRequest, why))
        }
    }
}

/// A response to a message that is none; its id may be null, which `lsp-server` does not have.
fn wrong(id: Value, kind: ErrorKind, message: &str) -> Value {
    serde_json::json!({
        "jsonrpc": "2.0", "id": id, "error": { "code": kind.code(), "message": message },
    })
}

/// Writes a message.
///
/// # Errors
/// Those of the stream.
pub(super) fn write(message: &Message, to: &mut impl Write) -> io::Result<()> {
    message.write(to)
}

/// Writes a value that is no message of `lsp-server`.
///
/// # Errors
/// Those of the stream.
pub(super) fn write_value(value: &Value, to: &mut impl Write) -> io::Result<()> {
    let text = value.to_string();
    write!(to, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    to.flush()
}

/// A response that says why there is no result.
pub(super) fn refused(id: RequestId, kind: ErrorKind, message: &str) -> Message {
    Response::new_err(id, kind.code(), message.to_owned()).into()
}

/// The parameters of a message.
///
/// # Errors
/// What is wrong with them.
pub(super) fn params<P: serde::de::DeserializeOwned>(params: Value) -> Result<P, String> {
    serde_json::from_value(params).map_err(|error| error.to_string())
}

/// An object with the entries of another one.
pub(super) fn joined(mut object: Value, more: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut object, more) {
        all.extend(more);
    }
    object
}

/// A request for the editor.
pub(super) fn asked(id: i32, method: &str, params: Value) -> Message {
    lsp_server::Request::new(id.into(), method.to_owned(), params).into()
}

/// The request for news of files that change outside of the editor.
pub(super) fn watches(id: i32) -> Message {
    let endings = ["yaml", "yml", "json", "tosca", "csar", "zip", "tar", "tar.gz", "tgz"];
    let watchers =
        endings.map(|ending| serde_json::json!({ "globPattern": format!("**/*.{ending}") }));
    let registration = serde_json::json!({
        "id": "files",
        "method": protocol::WATCHED,
        "registerOptions": { "watchers": watchers },
    });
    let params = serde_json::json!({ "registrations": [registration] });
    asked(id, "client/registerCapability", params)
}
