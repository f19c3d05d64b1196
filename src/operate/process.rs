//! Runs a command as a process group: reads what it writes while it runs, ends it at its time
//! limit or when somebody asks for it, and tells how it ended.

use super::output::StepOutput;
use super::runner::how_to_install;
use super::task::TaskFailure;
use std::io::{self, PipeReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long a process group has between being asked to end and being killed at its time limit.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// How often a silent process is looked after.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// How many bytes a pipe holds: what a command wrote last that has ended.
const PIPE: usize = 1 << 16;

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandEnd {
    /// It ended with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// It ran longer than this, and was ended.
    TimedOut(Duration),
    /// Somebody stopped the run, and with it the command.
    Stopped,
}

impl CommandEnd {
    /// Why the command, which is called `subject` here, was of no avail; `None` if it succeeded.
    pub(super) fn failure(&self, subject: &str) -> Option<String> {
        Some(match self {
            Self::Code(0) => return None,
            Self::Code(code) => format!("{subject} ended with exit code {code}"),
            Self::Signal(signal) => format!("the signal {signal} ended {subject}"),
            Self::TimedOut(limit) => {
                format!("{subject} took longer than {} s, and was ended", limit.as_secs_f64())
            }
            Self::Stopped => format!("{subject} was ended with the run"),
        })
    }
}

/// How a command ended, and what it left behind.
#[derive(Clone, Debug)]
pub(super) struct EndedCommand {
    pub(super) end: CommandEnd,
    /// Whether processes that it began still run.
    pub(super) leaves_processes: bool,
}

/// How the commands of a run are stopped: not at all, by asking, or by force.
#[derive(Debug, Default)]
pub(super) struct StopSign(AtomicU8);

impl StopSign {
    /// Asks once more: first the commands are asked to end, then they are killed. Tells whether
    /// they are killed.
    pub(super) fn raise(&self) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst) > 0
    }

    /// Whether somebody has asked.
    pub(super) fn is_raised(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }

    fn kills(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 1
    }
}

/// The standard input of a command.
#[derive(Clone, Debug)]
pub(super) struct CommandInput {
    pub(super) bytes: Vec<u8>,
    /// Whether its standard input stays open behind that. Closing it asks the command to end.
    pub(super) is_held: bool,
}

/// Runs a command to its end. What it writes goes to `output`; its standard output goes to `answer`
/// instead, if there is one. `begun` is told the number of its process group.
///
/// # Errors
/// Errors of the system where the command cannot be started.
pub(super) fn run(
    mut command: Command,
    input: Option<CommandInput>,
    timeout: Option<Duration>,
    sign: &StopSign,
    output: &mut StepOutput,
    answer: Option<Stdio>,
    begun: &dyn Fn(u32),
) -> io::Result<EndedCommand> {
    let (reader, writer) = io::pipe()?;
    match answer {
        Some(answer) => command.stdout(answer),
        None => command.stdout(writer.try_clone()?),
    };
    command.stderr(writer);
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    group::separate(&mut command);
    let mut child = command.spawn()?;
    begun(child.id());
    // The command holds the ends of the pipe to which the child writes.
    drop(command);
    let held = child.stdin.take().zip(input).and_then(|(stdin, input)| written(stdin, input));
    let mut running =
        Running { child, began: Instant::now(), timeout, sign, held, asked: None, why: None };
    let status = running.watch(reader, output)?;
    let end = match running.why.take() {
        // What was ended leaves nothing.
        Some(why) => {
            group::kill(&mut running.child);
            return Ok(EndedCommand { end: why, leaves_processes: false });
        }
        None => ended(status),
    };
    let leaves_processes = group::is_alive(&running.child);
    Ok(EndedCommand { end, leaves_processes })
}

/// Writes what a command reads. Gives what keeps its input open, if that is held.
fn written(mut stdin: ChildStdin, input: CommandInput) -> Option<Sender<()>> {
    let (hold, held) = channel();
    // A command that reads nothing would block whoever writes.
    thread::spawn(move || {
        let _ = stdin.write_all(&input.bytes);
        if input.is_held {
            let _ = held.recv();
        }
    });
    input.is_held.then_some(hold)
}

struct Running<'s> {
    child: Child,
    began: Instant,
    timeout: Option<Duration>,
    sign: &'s StopSign,
    /// Keeps the input of the command open.
    held: Option<Sender<()>>,
    /// The moment at which the group was asked to end.
    asked: Option<Instant>,
    /// Why it was asked to end.
    why: Option<CommandEnd>,
}

impl Running<'_> {
    fn watch(&mut self, mut reader: PipeReader, output: &mut StepOutput) -> io::Result<ExitStatus> {
        let mut chunk = vec![0; 1 << 16];
        loop {
            let is_ready = group::is_readable(&reader, LOOK);
            if is_ready {
                match reader.read(&mut chunk) {
                    Ok(0) => return self.wait(),
                    Ok(count) => output.push(&chunk[..count]),
                    Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                    Err(why) => return Err(why),
                }
            }
            if let Some(status) = self.child.try_wait()? {
                // Processes that the command left may hold the pipe open, and write, for ever.
                let mut rest = PIPE;
                while rest > 0 && group::is_readable(&reader, Duration::ZERO) {
                    let count = reader.read(&mut chunk)?;
                    output.push(&chunk[..count]);
                    rest = if count == 0 { 0 } else { rest.saturating_sub(count) };
                }
                return Ok(status);
            }
            self.end_in_time();
        }
    }

    /// Waits for a command that writes no more.
    fn wait(&mut self) -> io::Result<ExitStatus> {
        let mut pause = Duration::from_micros(50);
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LOOK);
            self.end_in_time();
        }
    }

    /// Ends the group where its time is over or somebody asked for it.
    fn end_in_time(&mut self) {
        let is_late = self.timeout.filter(|limit| self.began.elapsed() >= *limit);
        let why = match (is_late, self.sign.is_raised()) {
            (Some(limit), _) => Some(CommandEnd::TimedOut(limit)),
            (None, true) => Some(CommandEnd::Stopped),
            (None, false) => None,
        };
        if let (Some(why), None) = (why, &self.why) {
            self.why = Some(why);
            self.asked = Some(Instant::now());
            match self.held.take() {
                Some(held) => drop(held),
                None => group::ask_to_end(&self.child),
            }
        }
        let is_over = self.asked.is_some_and(|asked| asked.elapsed() >= GRACE);
        let is_timed = matches!(self.why, Some(CommandEnd::TimedOut(_)));
        if self.sign.kills() || is_over && is_timed {
            group::kill(&mut self.child);
        }
    }
}

fn ended(status: ExitStatus) -> CommandEnd {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return CommandEnd::Signal(signal);
    }
    CommandEnd::Code(status.code().unwrap_or(-1))
}

/// Lets a command run in a group of its own, which no interrupt of a terminal reaches.
pub(super) fn separate(command: &mut Command) {
    group::separate(command);
}

/// Ends a process group at once.
pub fn end_group(number: u32) {
    group::end(number);
}

/// The failure of a step that has nothing to run.
pub(super) fn no_command() -> TaskFailure {
    TaskFailure::new("the step has no command")
}

/// The failure of a program that cannot be started.
pub(super) fn not_started(program: &str, why: &io::Error) -> TaskFailure {
    let failure = TaskFailure::new(format!("`{program}` cannot be started: {why}"));
    match why.kind() {
        io::ErrorKind::NotFound => failure.help(how_to_install(program)),
        _ => failure,
    }
}

#[cfg(unix)]
mod group {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
    use std::io::PipeReader;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};
    use std::time::Duration;

    /// Makes the command the leader of a group of its own.
    pub(super) fn separate(command: &mut Command) {
        command.process_group(0);
    }

    fn of(child: &Child) -> Option<Pid> {
        Pid::from_raw(child.id().cast_signed())
    }

    // A group that is gone needs no signal.
    pub(super) fn ask_to_end(child: &Child) {
        let _ = of(child).map(|group| kill_process_group(group, Signal::TERM));
    }

    pub(super) fn kill(child: &mut Child) {
        end(child.id());
    }

    pub(super) fn end(number: u32) {
        let group = Pid::from_raw(number.cast_signed());
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
    }

    /// Whether processes of the group are left, once its leader has ended.
    pub(super) fn is_alive(child: &Child) -> bool {
        of(child).is_some_and(|group| test_kill_process_group(group).is_ok())
    }

    /// Waits until there is something to read, or the other end is closed.
    pub(super) fn is_readable(pipe: &PipeReader, wait: Duration) -> bool {
        let time = Timespec::try_from(wait).ok();
        let mut fds = [PollFd::new(pipe, PollFlags::IN)];
        matches!(poll(&mut fds, time.as_ref()), Ok(count) if count > 0)
    }
}

/// Elsewhere there are no groups: only the command itself is ended, and what it writes is waited
/// for.
#[cfg(not(unix))]
mod group {
    use std::io::PipeReader;
    use std::process::{Child, Command};
    use std::time::Duration;

    pub(super) fn separate(_: &mut Command) {}

    pub(super) fn ask_to_end(_: &Child) {}

    pub(super) fn kill(child: &mut Child) {
        let _ = child.kill();
    }

    pub(super) fn end(_: u32) {}

    pub(super) fn is_alive(_: &Child) -> bool {
        false
    }

    pub(super) fn is_readable(_: &PipeReader, wait: Duration) -> bool {
        !wait.is_zero()
    }
}
