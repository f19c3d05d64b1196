//! A client that starts the command, and reads whatever it says by the types of the protocol.

use gen_lsp_types::{Diagnostic, DiagnosticSeverity, PublishDiagnosticsParams};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long an answer may take; a build that is not optimised beside others takes its time.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// What was said and nobody waited for.
    unread: Vec<Value>,
    next: i32,
    /// The folder with the files.
    pub folder: PathBuf,
}

impl Client {
    /// Starts the server, and says hello as an editor with UTF-16.
    pub(crate) fn new(folder: &Path) -> Self {
        let mut client = Self::silent(folder);
        client.initialize(json!({}));
        client
    }

    /// Starts the server.
    pub(crate) fn silent(folder: &Path) -> Self {
        Self::with(folder, &[])
    }

    /// Starts the server with arguments.
    pub(crate) fn with(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_cuvee"))
            .args(["lsp", "--stdio"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (to, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if to.send(message).is_err() {
                    return;
                }
            }
        });
        let folder = folder.canonicalize().unwrap();
        Self { child, input, messages, unread: Vec::new(), next: 1, folder }
    }

    pub(crate) fn initialize(&mut self, capabilities: Value) -> Value {
        let params = json!({ "processId": std::process::id(), "rootUri": null, "capabilities": capabilities });
        let result = self.request("initialize", params).unwrap();
        let typed: gen_lsp_types::InitializeResult =
            serde_json::from_value(result.clone()).unwrap();
        assert_eq!(typed.server_info.unwrap().name, "cuvee");
        self.notify("initialized", json!({}));
        result
    }

    /// The address of a file in the folder.
    pub(crate) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.folder.join(name).display())
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn write(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Sends a request, and returns its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> i32 {
        let id = self.next;
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(&request.to_string());
        id
    }

    /// The result of a request, or its error.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params);
        self.answer(id)
    }

    pub(crate) fn answer(&mut self, id: i32) -> Result<Value, Value> {
        let answer = self.wait(|message| message["id"] == id && message.get("method").is_none());
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].clone()),
        }
    }

    /// The next message that is wanted.
    pub(crate) fn wait(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.unread.iter().position(&is_wanted) {
            return self.unread.remove(at);
        }
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).unwrap_or_else(|error| {
                panic!("{error}; unread: {:?}", self.unread);
            });
            if is_wanted(&message) {
                return message;
            }
            self.unread.push(message);
        }
    }

    /// Whether something was said that nobody has waited for.
    pub(crate) fn has_unread(&self, is_wanted: impl Fn(&Value) -> bool) -> bool {
        self.unread.iter().any(is_wanted)
    }

    pub(crate) fn open(&mut self, name: &str, text: &str) {
        self.open_as(name, text, 1);
    }

    pub(crate) fn open_as(&mut self, name: &str, text: &str, version: i32) {
        let document = json!({ "uri": self.uri(name), "languageId": "yaml", "version": version, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Opens a file with its saved text.
    pub(crate) fn open_saved(&mut self, name: &str) -> String {
        let text = std::fs::read_to_string(self.folder.join(name)).unwrap();
        self.open(name, &text);
        text
    }

    pub(crate) fn close(&mut self, name: &str) {
        let uri = self.uri(name);
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    /// Replaces the whole text.
    pub(crate) fn replace(&mut self, name: &str, version: i32, text: &str) {
        self.change(name, version, json!([{ "text": text }]));
    }

    pub(crate) fn change(&mut self, name: &str, version: i32, changes: Value) {
        let document = json!({ "uri": self.uri(name), "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", params);
    }

    /// What is published of a version of a file.
    pub(crate) fn published(&mut self, name: &str, version: i32) -> Vec<Diagnostic> {
        let uri = self.uri(name);
        let message = self.wait(|message| {
            let params = &message["params"];
            message["method"] == "textDocument/publishDiagnostics"
                && params["uri"] == *uri
                && params["version"].as_i64().is_none_or(|it| it >= i64::from(version))
        });
        let typed: PublishDiagnosticsParams =
            serde_json::from_value(message["params"].clone()).unwrap();
        assert!(typed.version.is_none_or(|it| it == version), "{message}");
        typed.diagnostics
    }

    /// Publishes until one is as wanted.
    pub(crate) fn published_until(
        &mut self,
        name: &str,
        version: i32,
        is_wanted: impl Fn(&[Diagnostic]) -> bool,
    ) -> Vec<Diagnostic> {
        loop {
            let found = self.published(name, version);
            if is_wanted(&found) {
                return found;
            }
        }
    }

    /// Ends the standard input of the server.
    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    /// Waits for the end of the server.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "the server goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Says goodbye as an editor does.
    pub(crate) fn shut_down(mut self) {
        assert_eq!(self.request("shutdown", Value::Null), Ok(Value::Null));
        self.notify("exit", Value::Null);
        assert!(self.end().success());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(from: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            header => {
                length = header.strip_prefix("Content-Length: ").map(|it| it.parse().unwrap())
            }
        }
    }
    let mut body = vec![0; length.unwrap()];
    from.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).unwrap())
}

/// A message of a diagnostic, on one line.
pub(crate) fn line(found: &Diagnostic) -> String {
    let value = serde_json::to_value(found).unwrap();
    let text = value["message"].as_str().unwrap().lines().next().unwrap().to_owned();
    let start = found.range.start;
    format!("{}:{} {}: {text}", start.line, start.character, value["code"].as_str().unwrap_or("-"))
}

/// The messages of diagnostics, each on one line.
pub(crate) fn lines(found: &[Diagnostic]) -> Vec<String> {
    found.iter().filter(|found| !is_dead(found)).map(line).collect()
}

/// Whether something is shown as unnecessary, which validating says nothing of.
pub(crate) fn is_dead(found: &Diagnostic) -> bool {
    found.severity == Some(DiagnosticSeverity::Hint)
}

/// The text of a range of a text in which nothing is beyond ASCII.
pub(crate) fn text_in<'t>(text: &'t str, range: &Value) -> &'t str {
    let offset = |end: &str| {
        let number = |pointer| range[end][pointer].as_u64().unwrap() as usize;
        let lines = text.split_inclusive('\n').take(number("line"));
        lines.map(str::len).sum::<usize>() + number("character")
    };
    &text[offset("start")..offset("end")]
}
