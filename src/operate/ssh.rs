//! Runs tasks on hosts over the system's `ssh` and `scp`: one connection a host, which all of its
//! tasks share.

use super::output::{StepOutput, private_directory};
use super::outputs;
use super::place::HostAddress;
use super::process::{self, CommandEnd, EndedCommand, StopSign, no_command, not_started};
use super::task::{Task, TaskFailure};
use cuvee_text::value::Value;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// How ssh is asked to behave: never to ask a person, and to find out that a host is gone.
const OPTIONS: [&str; 6] = [
    "BatchMode=yes",
    "StrictHostKeyChecking=accept-new",
    "ConnectTimeout=10",
    "ServerAliveInterval=10",
    "ServerAliveCountMax=3",
    "ControlPersist=60",
];

/// The exit code of ssh itself, if it cannot reach a host.
const LOST: i32 = 255;

/// The connections of a run.
pub(super) struct Connections {
    /// The directory for their sockets.
    directory: PathBuf,
    /// The hosts that were connected, to be disconnected in the end.
    known: Mutex<Vec<HostAddress>>,
}

impl Connections {
    pub(super) fn new(directory: &Path) -> Self {
        Self { directory: directory.join("ssh"), known: Mutex::default() }
    }

    /// Runs a task on a host.
    pub(super) fn run(
        &self,
        host: &HostAddress,
        task: &Task,
        sign: &StopSign,
        output: &mut StepOutput,
    ) -> Result<EndedCommand, TaskFailure> {
        self.connect(host)?;
        let there = self.text(host, "umask 077; mktemp -d")?;
        let there = there.trim().to_owned();
        if !there.starts_with('/') {
            return Err(TaskFailure::new(format!("`{host}` gives no directory for files")));
        }
        let ran = self.there(host, task, &there, sign, output);
        if ran.as_ref().is_ok_and(|ended| ended.end == CommandEnd::Code(0)) {
            let given = self.bytes(
                host,
                &format!("cat {}/{} 2>/dev/null || true", quoted(&there), outputs::FILE),
            )?;
            if !given.is_empty() {
                fs::write(task.directory.join(outputs::FILE), given).map_err(|why| {
                    TaskFailure::new(format!("its outputs cannot be kept: {why}"))
                })?;
            }
        }
        // A host that is lost keeps the directory.
        let _ = self.text(host, &format!("rm -rf {}", quoted(&there)));
        ran
    }

    /// Copies the files of a task, runs its command, and ends it there as well if it is ended here.
    fn there(
        &self,
        host: &HostAddress,
        task: &Task,
        there: &str,
        sign: &StopSign,
        output: &mut StepOutput,
    ) -> Result<EndedCommand, TaskFailure> {
        self.copy(host, task, there)?;
        let script = script(task, there)?;
        let mut command = self.ssh(host);
        command.arg("exec sh -s");
        let ran =
            process::run(command, Some(script.into_bytes()), task.timeout, sign, output, None);
        let ended = ran.map_err(|why| not_started("ssh", &why))?;
        match ended.end {
            CommandEnd::Code(LOST) => {
                let message = format!(
                    "the connection to `{host}` was lost, or the command ended with exit code {LOST}"
                );
                Err(TaskFailure::new(message)
                    .help("see its log; `--retries` tries such a step again"))
            }
            CommandEnd::TimedOut(_) | CommandEnd::Stopped => {
                let pid = format!("{}/.pid", quoted(there));
                let kill = format!(
                    "p=$(cat {pid}) && {{ kill -TERM -- -$p || kill -TERM $p; sleep 1; kill -KILL -- -$p; }} 2>/dev/null"
                );
                let _ = self.text(host, &kill);
                Ok(ended)
            }
            _ => Ok(ended),
        }
    }

    /// Copies the files of a task, but for those with values, which go over standard input.
    fn copy(&self, host: &HostAddress, task: &Task, there: &str) -> Result<(), TaskFailure> {
        let mut command = Command::new("scp");
        command.args(["-q", "-r", "-p"]).args(self.options(host));
        if let Some(port) = host.port {
            command.args(["-P", &port.to_string()]);
        }
        let entries = fs::read_dir(&task.directory).and_then(|entries| {
            entries.map(|entry| entry.map(|it| it.path())).collect::<Result<Vec<_>, _>>()
        });
        let entries =
            entries.map_err(|why| TaskFailure::new(format!("its files cannot be read: {why}")))?;
        let sent: Vec<_> =
            entries.into_iter().filter(|path| !path.ends_with("inputs.json")).collect();
        if sent.is_empty() {
            return Ok(());
        }
        let address = if host.address.contains(':') {
            format!("[{}]", host.address)
        } else {
            host.address.clone()
        };
        let user = host.user.as_ref().map_or(String::new(), |user| format!("{user}@"));
        command.args(sent).arg(format!("{user}{address}:{there}/"));
        self.answer(host, command, "scp").map(drop)
    }

    /// Begins the connection that all else shares.
    fn connect(&self, host: &HostAddress) -> Result<(), TaskFailure> {
        private_directory(&self.directory)
            .map_err(|why| TaskFailure::new(format!("no place for connections: {why}")))?;
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !known.contains(host) {
            self.text(host, "true")?;
            known.push(host.clone());
        }
        Ok(())
    }

    /// Whether a host answers.
    ///
    /// # Errors
    /// Why it does not.
    pub(super) fn reaches(&self, host: &HostAddress) -> Result<(), TaskFailure> {
        self.connect(host)
    }

    fn text(&self, host: &HostAddress, command: &str) -> Result<String, TaskFailure> {
        Ok(String::from_utf8_lossy(&self.bytes(host, command)?).into_owned())
    }

    fn bytes(&self, host: &HostAddress, said: &str) -> Result<Vec<u8>, TaskFailure> {
        let mut command = self.ssh(host);
        command.arg(said);
        self.answer(host, command, "ssh")
    }

    /// What a command prints.
    fn answer(
        &self,
        host: &HostAddress,
        mut command: Command,
        program: &str,
    ) -> Result<Vec<u8>, TaskFailure> {
        command.stdin(Stdio::null());
        let answer = command.output().map_err(|why| not_started(program, &why))?;
        if answer.status.success() {
            return Ok(answer.stdout);
        }
        let said = String::from_utf8_lossy(&answer.stderr);
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
        let help = format!("try it by hand: `ssh {}{}`", option_port(host), named(host));
        Err(TaskFailure::new(format!("`{host}` cannot be reached: {last}")).help(help))
    }

    fn ssh(&self, host: &HostAddress) -> Command {
        let mut command = Command::new("ssh");
        command.arg("-T").args(self.options(host));
        if let Some(port) = host.port {
            command.args(["-p", &port.to_string()]);
        }
        command.arg("--").arg(named(host));
        command
    }

    fn options(&self, host: &HostAddress) -> Vec<OsString> {
        let mut options: Vec<OsString> = Vec::new();
        let socket = self.directory.join("%C");
        let own = ["ControlMaster=auto".into(), format!("ControlPath={}", socket.display())];
        for option in OPTIONS.map(str::to_owned).into_iter().chain(own) {
            options.extend(["-o".into(), option.into()]);
        }
        if let Some(key) = &host.key {
            options.extend(["-o".into(), "IdentitiesOnly=yes".into(), "-i".into(), key.into()]);
        }
        options
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        let known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for host in known.iter() {
            let mut command = Command::new("ssh");
            command.args(self.options(host)).args(["-O", "exit", "--"]).arg(named(host));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            // A connection that is left ends by itself.
            let _ = command.status();
        }
    }
}

fn named(host: &HostAddress) -> String {
    let user = host.user.as_ref().map_or(String::new(), |user| format!("{user}@"));
    format!("{user}{}", host.address)
}

fn option_port(host: &HostAddress) -> String {
    host.port.map_or(String::new(), |port| format!("-p {port} "))
}

/// The script that sets the variables of a task and runs its command. It is read from standard
/// input, so nothing of it is an argument.
fn script(task: &Task, there: &str) -> Result<String, TaskFailure> {
    let here = task.directory.to_string_lossy();
    // The directory has another name there.
    let moved = |text: &str| quoted(&text.replace(&*here, there));
    let mut script = format!("umask 077\nprintf %s \"$$\" >{}/.pid\n", quoted(there));
    let mut line = |text: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = writeln!(script, "{text}");
    };
    let inputs = fs::read(task.directory.join("inputs.json")).unwrap_or_default();
    if let Ok(value) = serde_json::from_slice::<Value>(&inputs) {
        let text = serde_json::to_string(&value).unwrap_or_default();
        line(format_args!("printf %s {} >{}/inputs.json", moved(&text), quoted(there)));
    }
    for (name, value) in &task.environment {
        if is_variable(name) {
            line(format_args!("export {name}={}", moved(value)));
        }
    }
    let starts_in = task.starts_in.to_string_lossy();
    line(format_args!("cd {}/{} || exit", quoted(there), quoted(&starts_in)));
    let words: Vec<_> = task.command.iter().map(|word| moved(word)).collect();
    if words.is_empty() {
        return Err(no_command());
    }
    line(format_args!("exec {} </dev/null", words.join(" ")));
    Ok(script)
}

/// Whether a shell can have a variable of this name.
fn is_variable(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_plain) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
