//! Defines tasks: the commands that steps run, with all that they need, and their outcomes. The
//! runner of tasks is behind a trait, so that tests run none.

use super::place::{HostAddress, TaskPlace};
use crate::orchestrate::instance::SecretMasker;
use cuvee_text::diagnostic::in_words;
use cuvee_text::value::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// How many signals wait at most until somebody takes them.
pub(super) const WAITING: usize = 1_000;

/// The command that a step runs, with all that it needs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Task {
    /// The step.
    pub step: Arc<str>,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The place where it runs.
    pub place: TaskPlace,
    /// The program and its arguments. A word that is the name of a file of the task is a path
    /// below `directory`.
    pub command: Vec<String>,
    /// The directory of the task on this machine, with all of its files. It is made for this
    /// attempt and removed behind it.
    pub directory: PathBuf,
    /// The directory in which the command starts, below `directory`.
    pub starts_in: PathBuf,
    /// Environment variables, beside those of the run.
    pub environment: Vec<(String, String)>,
    /// The standard input of the command.
    pub input: Option<Vec<u8>>,
    /// The way in which its outputs come back.
    pub outputs: TaskOutputs,
    /// The time limit.
    pub timeout: Option<Duration>,
    /// The file that keeps what it writes.
    pub log: PathBuf,
    /// Hides secrets in what it writes.
    pub masker: SecretMasker,
}

/// The ways in which the outputs of a task come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskOutputs {
    /// In the file `outputs` of its directory.
    #[default]
    File,
    /// As an object of JSON on its standard output, which is not kept in the log.
    Standard,
    /// The task has none.
    None,
}

/// How a task ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskEnd {
    /// The step.
    pub step: Arc<str>,
    /// Its outputs by name, or the failure.
    pub outcome: Result<Vec<(Arc<str>, Value)>, TaskFailure>,
    /// How long it took.
    pub took: Duration,
    /// The last lines that it wrote.
    pub tail: Vec<String>,
    /// The file that keeps what it wrote; `None` if it wrote nothing.
    pub log: Option<PathBuf>,
    /// Notes about it, for people.
    pub notes: Vec<String>,
}

/// Why a task failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskFailure {
    /// The message of the error.
    pub message: String,
    /// The advice on what to do.
    pub help: Option<String>,
    /// The code of the error, if it is one of cuvee's.
    pub code: Option<&'static str>,
    /// Whether somebody stopped the run, and with it the task.
    pub is_stopped: bool,
    /// The exit code of the task, if it ended with one.
    pub exit_code: Option<i32>,
}

impl TaskFailure {
    /// A failure that the task itself is the reason of.
    pub fn new(message: impl Into<String>) -> Self {
        let message = in_words(message.into());
        Self { message, help: None, code: None, is_stopped: false, exit_code: None }
    }

    /// The failure with what to do about it.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// Something that a run waits for.
#[derive(Debug)]
#[non_exhaustive]
pub enum Signal {
    /// A task has ended.
    Ended(Box<TaskEnd>),
    /// A task has written a line.
    Said(Arc<str>, String),
    /// Somebody asks the run to end.
    Stop,
}

/// Runs tasks.
pub trait Executor {
    /// Begins a task. Its end is sent as a signal, always.
    fn start(&mut self, task: Task, signals: &SyncSender<Signal>);

    /// Whether a host answers.
    ///
    /// # Errors
    /// Why it does not.
    fn reaches(&mut self, host: &HostAddress) -> Result<(), TaskFailure>;

    /// Asks what runs to end; asked once more, kills it. Tells whether it kills.
    fn stop(&mut self) -> bool;
}
