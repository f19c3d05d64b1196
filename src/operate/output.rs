//! Keeps what a step writes: a log file with its beginning and its end, and its last lines.

use crate::orchestrate::instance::{MaskedStream, SecretMasker};
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How many bytes of the beginning, and of the end, a log keeps.
const HALF: usize = 5 << 20;

/// How many last lines are shown after a failure.
const TAIL_LINES: usize = 20;

/// How long a shown line is at most.
const LINE: usize = 1_000;

/// Receives each whole line of an output.
pub(super) type EachLine = Box<dyn FnMut(&str) + Send>;

/// The part of an output that is kept.
pub(super) struct KeptOutput {
    /// Its last lines.
    pub(super) tail: Vec<String>,
    /// The log; `None` if nothing was written.
    pub(super) log: Option<PathBuf>,
    /// Why the log is not whole.
    pub(super) trouble: Option<String>,
}

/// The output of a step while it is written. Secrets are masked before anything is kept.
pub(super) struct StepOutput {
    path: PathBuf,
    /// The file, made with the first byte.
    file: Option<File>,
    /// Why it cannot be written any more.
    trouble: Option<String>,
    written: usize,
    /// The end of an output whose beginning fills its half of the log.
    end: VecDeque<u8>,
    dropped: u64,
    stream: MaskedStream,
    tail: VecDeque<String>,
    line: Vec<u8>,
    /// Receives each whole line.
    each_line: Option<EachLine>,
}

impl StepOutput {
    /// An empty output that is kept in this file.
    pub(super) fn new(path: &Path, masker: SecretMasker, each_line: Option<EachLine>) -> Self {
        Self {
            path: path.to_owned(),
            file: None,
            trouble: None,
            written: 0,
            end: VecDeque::new(),
            dropped: 0,
            stream: MaskedStream::new(masker),
            tail: VecDeque::new(),
            line: Vec::new(),
            each_line,
        }
    }

    /// Takes what the step has written.
    pub(super) fn push(&mut self, chunk: &[u8]) {
        let mut shown = Vec::with_capacity(chunk.len());
        self.stream.push(chunk, &mut shown);
        self.keep(&shown);
    }

    /// Takes a line that the run itself says about the step.
    pub(super) fn note(&mut self, text: &str) {
        if !self.line.is_empty() {
            self.push(b"\n");
        }
        self.push(format!("{text}\n").as_bytes());
    }

    fn keep(&mut self, shown: &[u8]) {
        self.lines(shown);
        let (first, rest) = shown.split_at(shown.len().min(HALF.saturating_sub(self.written)));
        self.written += first.len();
        self.write(first);
        self.end.extend(rest);
        let over = self.end.len().saturating_sub(HALF);
        self.end.drain(..over);
        self.dropped += over as u64;
    }

    /// Writes to the log. A log that cannot be written does not stop the step.
    fn write(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.trouble.is_some() {
            return;
        }
        let path = &self.path;
        let written = match &mut self.file {
            Some(file) => file.write_all(bytes),
            none => opened(path).and_then(|file| none.insert(file).write_all(bytes)),
        };
        self.trouble = written.err().map(|why| why.to_string());
    }

    fn lines(&mut self, shown: &[u8]) {
        for part in shown.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = plain(&String::from_utf8_lossy(&line));
        if let Some(each) = &mut self.each_line {
            each(&line);
        }
        if self.tail.len() == TAIL_LINES {
            self.tail.pop_front();
        }
        self.tail.push_back(line);
    }

    /// Ends the output.
    pub(super) fn finish(mut self) -> KeptOutput {
        let mut rest = Vec::new();
        self.stream.finish(&mut rest);
        self.keep(&rest);
        if !self.line.is_empty() {
            self.end_line();
        }
        if self.dropped > 0 {
            let note = format!("\n[... {} bytes are left out here ...]\n", self.dropped);
            self.write(note.as_bytes());
        }
        let end = std::mem::take(&mut self.end);
        let (first, second) = end.as_slices();
        self.write(first);
        self.write(second);
        let log = self.file.is_some().then(|| self.path.clone());
        KeptOutput { tail: self.tail.into(), log, trouble: self.trouble }
    }
}

/// Opens a log behind what earlier attempts wrote.
fn opened(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        private_directory(directory)?;
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Hides secrets in a log that were not known when it was written.
pub(super) fn hide(log: &Path, masker: SecretMasker) -> io::Result<()> {
    let written = fs::read(log)?;
    let (mut stream, mut shown) = (MaskedStream::new(masker), Vec::with_capacity(written.len()));
    stream.push(&written, &mut shown);
    stream.finish(&mut shown);
    if shown == written { Ok(()) } else { fs::write(log, shown) }
}

/// Makes a directory, and those above it, which only their owner may read.
pub(super) fn private_directory(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// A line without what terminals would obey: colours, movements, bells.
fn plain(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.trim_end_matches(['\r', '\n']).chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.peek() == Some(&'[') => {
                chars.next();
                while chars.next_if(|c| !('@'..='~').contains(c)).is_some() {}
                chars.next();
            }
            '\t' => plain.push(c),
            // A line that a program writes over: what it said last counts.
            '\r' => plain.clear(),
            c if c.is_control() => plain.extend(c.escape_default()),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(chunks: &[&[u8]]) -> (Vec<String>, String) {
        let directory = tempfile::tempdir().unwrap();
        let mut output =
            StepOutput::new(&directory.path().join("a/b.log"), SecretMasker::default(), None);
        chunks.iter().for_each(|chunk| output.push(chunk));
        let KeptOutput { tail, log, .. } = output.finish();
        (tail, log.map_or_else(String::new, |log| std::fs::read_to_string(log).unwrap()))
    }

    #[test]
    fn terminals_are_not_commanded() {
        let (tail, log) = output(&[b"\x1b[31mred\x1b[0m\x07\n10%\r20%\rlast"]);
        assert_eq!(tail, ["red\\u{7}", "last"]);
        assert!(log.contains("\x1b[31m"), "the log keeps what was written");
    }

    #[test]
    fn long_outputs_keep_their_beginning_and_their_end() {
        let middle = vec![b'x'; 2 * HALF];
        let (tail, log) = output(&[b"begin\n", &middle, b"\nend\n"]);
        assert!(log.starts_with("begin\n") && log.ends_with("\nend\n"));
        assert!(log.contains("bytes are left out here") && log.len() < 2 * HALF + 100);
        assert_eq!(tail.last().unwrap(), "end");
    }
}
