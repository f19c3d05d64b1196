//! Starts the processes that compute, and starts them again where they end.

use super::protocol::Encoding;
use super::settings::ImportLookup;
use super::worker::{FromWorker, ToWorker};
use cuvee::source::SourceText;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Sender;

/// What a worker computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkerKind {
    /// What the text says, and answers to requests.
    Text,
    /// What only some variants have.
    Variants,
}

/// What a worker tells its server.
pub(super) enum FromWorkers {
    Said(FromWorker),
    /// The process ended. The number says which one it was, as it may have been started again.
    Gone(WorkerKind, u32),
}

/// A process that computes.
pub(super) struct WorkerProcess {
    kind: WorkerKind,
    child: Child,
    input: ChildStdin,
    /// How many processes were started before this one.
    number: u32,
}

impl WorkerProcess {
    /// Starts a worker, which tells the server by `to` what it has computed, and tells it what is
    /// open.
    ///
    /// # Errors
    /// Where the program cannot be started.
    pub(super) fn start<E: From<FromWorkers> + Send + 'static>(
        kind: WorkerKind,
        number: u32,
        to: &Sender<E>,
        encoding: Encoding,
        lookup: &ImportLookup,
        texts: &BTreeMap<PathBuf, SourceText>,
    ) -> io::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["lsp", "--worker"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let gone = || io::Error::other("the worker has no streams");
        let output = child.stdout.take().ok_or_else(gone)?;
        let input = child.stdin.take().ok_or_else(gone)?;
        let to = to.clone();
        std::thread::Builder::new().spawn(move || {
            for line in BufReader::new(output).lines() {
                let said = line.ok().and_then(|line| serde_json::from_str(&line).ok());
                let Some(said) = said else { break };
                if to.send(FromWorkers::Said(said).into()).is_err() {
                    return;
                }
            }
            let _ = to.send(FromWorkers::Gone(kind, number).into());
        })?;
        let mut worker = Self { kind, child, input, number };
        worker.tell(&ToWorker::Encoding(encoding));
        worker.tell(&ToWorker::Lookup(lookup.clone()));
        for (path, text) in texts {
            worker.tell(&ToWorker::Text(path.clone(), Some(text.clone())));
        }
        Ok(worker)
    }

    /// Starts the worker again.
    ///
    /// # Errors
    /// As [`WorkerProcess::start`].
    pub(super) fn restart<E: From<FromWorkers> + Send + 'static>(
        &mut self,
        to: &Sender<E>,
        encoding: Encoding,
        lookup: &ImportLookup,
        texts: &BTreeMap<PathBuf, SourceText>,
    ) -> io::Result<()> {
        self.end();
        *self = Self::start(self.kind, self.number + 1, to, encoding, lookup, texts)?;
        Ok(())
    }

    /// Whether this is the process of a number.
    pub(super) fn is(&self, number: u32) -> bool {
        self.number == number
    }

    /// Tells the worker something. A worker that is gone is noticed by its output.
    pub(super) fn tell(&mut self, message: &ToWorker) {
        let Ok(mut line) = serde_json::to_string(message) else { return };
        line.push('\n');
        let _ = self.input.write_all(line.as_bytes()).and_then(|()| self.input.flush());
    }

    /// Ends the process.
    pub(super) fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.end();
    }
}
