//! Asks a command of the shell: what it reads is the question, what it writes the answer.

use super::output::StepOutput;
use super::process::{self, CommandEnd, CommandInput, GRACE, StopSign};
use crate::orchestrate::instance::SecretMasker;
use std::io::{self, PipeReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// How many bytes an answer may have.
const LARGEST: u64 = 16 << 20;

/// Runs a command of the shell with `question` as its standard input, and gives what it writes to
/// its standard output. `begun` is told the number of its process group: see [`end_group`](super::end_group).
///
/// # Errors
/// Why there is no answer: the command cannot be started, fails, takes longer than `limit`, or
/// writes more than 16 MiB or something that is no text.
pub fn ask(
    command: &str,
    question: String,
    limit: Duration,
    begun: &dyn Fn(u32),
) -> Result<String, String> {
    let unasked = |why: io::Error| format!("`{command}` cannot be started: {why}");
    let directory = tempfile::tempdir().map_err(unasked)?;
    let mut said = StepOutput::new(&directory.path().join("log"), SecretMasker::default(), None);
    let (reader, writer) = io::pipe().map_err(unasked)?;
    let answer = read_whole(reader);
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
    let input = CommandInput { bytes: question.into_bytes(), is_held: false };
    let sign = StopSign::default();
    let ended = process::run(
        shell,
        Some(input),
        Some(limit),
        &sign,
        &mut said,
        Some(Stdio::from(writer)),
        begun,
    );
    let ended = ended.map_err(unasked)?.end;
    let answer = answer.recv_timeout(GRACE).unwrap_or_else(|_| {
        Err(format!("a process that `{command}` began keeps its standard output open"))
    });
    let Some(why) = ended.failure(&format!("`{command}`")) else { return answer };
    // A command cannot go on if its answer is too long.
    if answer.is_err() && matches!(ended, CommandEnd::Code(_) | CommandEnd::Signal(_)) {
        return answer;
    }
    let last = said.finish().tail.pop().map(|line| format!("; its last line: {line}"));
    Err(format!("{why}{}", last.unwrap_or_default()))
}

/// Reads an answer while its command runs. A command that writes too much cannot go on.
fn read_whole(reader: PipeReader) -> Receiver<Result<String, String>> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = reader.take(LARGEST + 1).read_to_end(&mut bytes);
        let answer = match read {
            Err(why) => Err(format!("its answer cannot be read: {why}")),
            Ok(_) if bytes.len() as u64 > LARGEST => {
                Err(format!("its answer has more than {} MiB", LARGEST >> 20))
            }
            Ok(_) => String::from_utf8(bytes).map_err(|_| "its answer is not UTF-8".into()),
        };
        // Whoever gave up waiting reads no answer.
        let _ = send.send(answer);
    });
    receive
}
