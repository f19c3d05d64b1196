//! Runs tasks as processes of this machine, and over ssh on others.

use super::orphans;
use super::output::{EachLine, KeptOutput, StepOutput};
use super::outputs;
use super::place::{HostAddress, TaskPlace};
use super::process::{
    self, CommandEnd, CommandInput, EndedCommand, StopSign, no_command, not_started,
};
use super::ssh::Connections;
use super::task::{Executor, Signal, Task, TaskEnd, TaskFailure, TaskOutputs};
use cuvee_text::value::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Instant;

/// Runs each task in a thread of its own.
pub struct LocalExecutor {
    sign: Arc<StopSign>,
    connections: Arc<Connections>,
    tells_lines: bool,
}

impl LocalExecutor {
    /// An executor that keeps what belongs to connections in this directory. `tells_lines` is
    /// whether each line that a task writes is sent as a signal.
    pub fn new(directory: &Path, tells_lines: bool) -> Self {
        let connections = Arc::new(Connections::new(directory));
        Self { sign: Arc::default(), connections, tells_lines }
    }
}

impl Executor for LocalExecutor {
    fn start(&mut self, task: Task, signals: &SyncSender<Signal>) {
        let (sign, connections) = (Arc::clone(&self.sign), Arc::clone(&self.connections));
        let (signals, tells_lines) = (signals.clone(), self.tells_lines);
        let (step, log) = (Arc::clone(&task.step), task.log.clone());
        let own = signals.clone();
        let started = thread::Builder::new().spawn(move || {
            let end = run(&task, &sign, &connections, tells_lines.then_some(&own));
            // Nobody listens any more where the run itself has ended.
            let _ = own.send(Signal::Ended(Box::new(end)));
        });
        if let Err(why) = started {
            let outcome = Err(TaskFailure::new(format!("the system gives no thread: {why}")));
            let (took, tail, notes) = Default::default();
            let end = TaskEnd { step, outcome, took, tail, log: Some(log), notes };
            let _ = signals.send(Signal::Ended(Box::new(end)));
        }
    }

    fn reaches(&mut self, host: &HostAddress) -> Result<(), TaskFailure> {
        self.connections.reaches(host)
    }

    fn stop(&mut self) -> bool {
        self.sign.raise()
    }
}

/// Runs a task to its end.
fn run(
    task: &Task,
    sign: &StopSign,
    connections: &Connections,
    lines: Option<&SyncSender<Signal>>,
) -> TaskEnd {
    let began = Instant::now();
    let each_line = lines.map(|lines| {
        let (step, lines) = (Arc::clone(&task.step), lines.clone());
        let tell = move |line: &str| {
            let _ = lines.send(Signal::Said(Arc::clone(&step), line.to_owned()));
        };
        Box::new(tell) as EachLine
    });
    let mut output = StepOutput::new(&task.log, task.masker.clone(), each_line);
    if task.attempt > 1 {
        output.note(&format!("--- attempt {}", task.attempt));
    }
    let mut notes = Vec::new();
    let ran = match &task.place {
        TaskPlace::Here => here(task, sign, &mut output),
        TaskPlace::Host(host) => connections.run(host, task, sign, &mut output),
    };
    let outcome = ran.and_then(|ended| {
        if ended.leaves_processes {
            notes.push("processes that it began still run".to_owned());
        }
        judged(&ended.end).and_then(|()| given(task))
    });
    // Values are gone with it, some of which may be secret.
    let _ = fs::remove_dir_all(&task.directory);
    let KeptOutput { tail, log, trouble } = output.finish();
    notes.extend(trouble.map(|why| format!("its log cannot be written: {why}")));
    TaskEnd { step: Arc::clone(&task.step), outcome, took: began.elapsed(), tail, log, notes }
}

/// Runs a task on this machine.
fn here(
    task: &Task,
    sign: &StopSign,
    output: &mut StepOutput,
) -> Result<EndedCommand, TaskFailure> {
    let (program, arguments) = task.command.split_first().ok_or_else(no_command)?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(task.directory.join(&task.starts_in));
    command.envs(task.environment.iter().map(|(name, value)| (name, value)));
    let answer = match task.outputs {
        TaskOutputs::Standard => Some(File::create(task.directory.join(outputs::FILE))),
        TaskOutputs::File | TaskOutputs::None => None,
    };
    let answer = answer.transpose().map_err(|why| not_started(program, &why))?.map(Stdio::from);
    let input = task.input.clone().map(|bytes| CommandInput { bytes, is_held: false });
    let ran = process::run(command, input, task.timeout, sign, output, answer, &|group| {
        orphans::note(task, group);
    });
    ran.map_err(|why| not_started(program, &why))
}

fn judged(end: &CommandEnd) -> Result<(), TaskFailure> {
    let Some(why) = end.failure("it") else { return Ok(()) };
    let failure = TaskFailure::new(why);
    Err(match end {
        CommandEnd::Code(code) => TaskFailure { exit_code: Some(*code), ..failure },
        CommandEnd::Signal(_) => failure,
        CommandEnd::TimedOut(_) => failure.help(
            "give it more time: `timeout` of the operation's implementation, or `--step-timeout`",
        ),
        CommandEnd::Stopped => TaskFailure { is_stopped: true, ..failure },
    })
}

/// The outputs of the task.
fn given(task: &Task) -> Result<Vec<(Arc<str>, Value)>, TaskFailure> {
    match task.outputs {
        TaskOutputs::None => Ok(Vec::new()),
        TaskOutputs::File | TaskOutputs::Standard => {
            outputs::read(&task.directory.join(outputs::FILE))
        }
    }
}
