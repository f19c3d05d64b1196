//! Runs tasks on hosts over the system's `ssh` and `scp`: one connection a host, which all of its
//! tasks share.

use super::output::{StepOutput, private_directory};
use super::outputs;
use super::place::HostAddress;
use super::process::{
    self, CommandEnd, CommandInput, EndedCommand, StopSign, no_command, not_started,
};
use super::task::{Task, TaskFailure};
use super::workshop::INPUTS;
use cuvee_text::value::Value;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

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

/// How many bytes the path of a socket may have; ssh appends some to it while it connects.
const LONGEST_SOCKET: usize = 80;

/// The connections of a run.
pub(super) struct Connections {
    /// The directory for their sockets.
    directory: PathBuf,
    known: Mutex<Vec<Arc<Connection>>>,
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
        self.to(host)?.run(task, sign, output)
    }

    /// Whether a host answers.
    ///
    /// # Errors
    /// Why it does not.
    pub(super) fn reaches(&self, host: &HostAddress) -> Result<(), TaskFailure> {
        self.to(host)?.open()
    }

    fn to(&self, host: &HostAddress) -> Result<Arc<Connection>, TaskFailure> {
        private_directory(&self.directory)
            .map_err(|why| TaskFailure::new(format!("no place for connections: {why}")))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = known.iter().find(|connection| connection.host == *host) {
            return Ok(Arc::clone(connection));
        }
        let socket = self.directory.join(known.len().to_string());
        let socket = Some(socket).filter(|path| path.as_os_str().len() <= LONGEST_SOCKET);
        let connection =
            Arc::new(Connection { host: host.clone(), socket, open: Mutex::default() });
        known.push(Arc::clone(&connection));
        Ok(connection)
    }
}

/// The connection to a host, which all of its tasks share.
struct Connection {
    host: HostAddress,
    /// The socket by which it is shared; `None` where its path would be too long.
    socket: Option<PathBuf>,
    /// Whether it was opened. Locked while it is, so that there are not two.
    open: Mutex<bool>,
}

impl Connection {
    fn open(&self) -> Result<(), TaskFailure> {
        let mut is_open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_open {
            self.answer("true")?;
            *is_open = true;
        }
        Ok(())
    }

    fn run(
        &self,
        task: &Task,
        sign: &StopSign,
        output: &mut StepOutput,
    ) -> Result<EndedCommand, TaskFailure> {
        self.open()?;
        let there = self.answer("umask 077; mktemp -d")?;
        let there = String::from_utf8_lossy(&there).trim().to_owned();
        if !there.starts_with('/') {
            return Err(TaskFailure::new(format!("`{}` gives no directory for files", self.host)));
        }
        let ran = self.there(task, &there, sign, output);
        let is_over = |ended: &EndedCommand| matches!(ended.end, CommandEnd::Code(_));
        if !ran.as_ref().is_ok_and(is_over) {
            // A script that has begun ends its command, and removes the directory itself.
            let wait = format!(
                "i=0; while [ -e {0}/.out ] && [ $i -lt 40 ]; do i=$((i + 1)); sleep 0.2 || sleep 1; done; rm -rf {0}",
                quoted(&there)
            );
            let _ = self.answer(&wait);
        }
        ran
    }

    /// Copies the files of a task, runs its command, and takes what that gave.
    fn there(
        &self,
        task: &Task,
        there: &str,
        sign: &StopSign,
        output: &mut StepOutput,
    ) -> Result<EndedCommand, TaskFailure> {
        let copied = process::run(
            self.copying(task, there)?,
            None,
            task.timeout,
            sign,
            output,
            None,
            &|_| {},
        );
        match copied.map_err(|why| not_started("scp", &why))? {
            EndedCommand { end: CommandEnd::Code(0), .. } => {}
            EndedCommand { end: CommandEnd::Code(_), .. } => {
                let message = format!("its files cannot be copied to `{}`", self.host);
                return Err(TaskFailure::new(message).help("see its log"));
            }
            ended => return Ok(ended),
        }
        let mut command = self.ssh();
        command.arg("exec sh -s");
        let script = CommandInput { bytes: script(task, there)?.into_bytes(), is_held: true };
        let ran = process::run(command, Some(script), task.timeout, sign, output, None, &|_| {});
        let mut ended = ran.map_err(|why| not_started("ssh", &why))?;
        if let CommandEnd::Code(code) = ended.end {
            ended.leaves_processes = self.fetch(task, there, code)?;
        }
        Ok(ended)
    }

    /// The command that copies the files of a task, but for those with values, which go over
    /// standard input.
    fn copying(&self, task: &Task, there: &str) -> Result<Command, TaskFailure> {
        let mut command = Command::new("scp");
        command.args(["-q", "-r", "-p"]).args(self.options());
        if let Some(port) = self.host.port {
            command.args(["-P", &port.to_string()]);
        }
        let entries = fs::read_dir(&task.directory).and_then(|entries| {
            entries.map(|entry| entry.map(|it| it.path())).collect::<Result<Vec<_>, _>>()
        });
        let entries =
            entries.map_err(|why| TaskFailure::new(format!("its files cannot be read: {why}")))?;
        command.args(entries.into_iter().filter(|path| !path.ends_with(INPUTS)));
        let address = if self.host.address.contains(':') {
            format!("[{}]", self.host.address)
        } else {
            self.host.address.clone()
        };
        let user = self.host.user.as_ref().map_or(String::new(), |user| format!("{user}@"));
        command.arg(format!("{user}{address}:{there}/"));
        Ok(command)
    }

    /// Takes the outputs of a command that has ended with this code, and removes its files there.
    /// Tells whether processes are left.
    fn fetch(&self, task: &Task, there: &str, code: i32) -> Result<bool, TaskFailure> {
        let fetch = format!(
            "cd {0} && cat .code && {{ [ -f {1} ] && head -c {2} {1}; cd /; rm -rf {0}; }}",
            quoted(there),
            outputs::FILE,
            outputs::MOST + 1,
        );
        let fetched = self.answer(&fetch);
        let told = fetched.as_deref().unwrap_or_default();
        let (first, given) = told.split_at(told.iter().position(|it| *it == b'\n').unwrap_or(0));
        let first = String::from_utf8_lossy(first);
        // The code of ssh itself may as well be that of a command.
        if code == LOST && first.split(' ').next() != Some("255") {
            let message = format!("the connection to `{}` was lost", self.host);
            return Err(
                TaskFailure::new(message).help("see its log; `--retries` tries such a step again")
            );
        }
        let given = given.get(1..).unwrap_or_default();
        if code == 0 && !given.is_empty() {
            fs::write(task.directory.join(outputs::FILE), given)
                .map_err(|why| TaskFailure::new(format!("its outputs cannot be kept: {why}")))?;
        }
        let is_left = first.ends_with("left");
        fetched.map(|_| is_left)
    }

    /// The output of a shell command on the host.
    fn answer(&self, said: &str) -> Result<Vec<u8>, TaskFailure> {
        let mut command = self.ssh();
        command.arg(said).stdin(Stdio::null());
        process::separate(&mut command);
        let answer = command.output().map_err(|why| not_started("ssh", &why))?;
        if answer.status.success() {
            return Ok(answer.stdout);
        }
        let errors = String::from_utf8_lossy(&answer.stderr);
        let last = errors.lines().rfind(|line| !line.trim().is_empty());
        let last = last.unwrap_or("it says nothing");
        if answer.status.code() != Some(LOST) {
            return Err(TaskFailure::new(format!("`{}` cannot take a step: {last}", self.host)));
        }
        let port = self.host.port.map_or(String::new(), |port| format!("-p {port} "));
        let help = format!("try it by hand: `ssh {port}{}`", self.name());
        Err(TaskFailure::new(format!("`{}` cannot be reached: {last}", self.host)).help(help))
    }

    fn ssh(&self) -> Command {
        let mut command = Command::new("ssh");
        command.arg("-T").args(self.options());
        if let Some(port) = self.host.port {
            command.args(["-p", &port.to_string()]);
        }
        command.arg("--").arg(self.name());
        command
    }

    fn options(&self) -> Vec<OsString> {
        let shared = match &self.socket {
            Some(socket) => {
                ["ControlMaster=auto".to_owned(), format!("ControlPath={}", socket.display())]
            }
            None => ["ControlMaster=no".to_owned(), "ControlPath=none".to_owned()],
        };
        let all = OPTIONS.map(str::to_owned).into_iter().chain(shared);
        let mut options: Vec<OsString> =
            all.flat_map(|option| ["-o".into(), option.into()]).collect();
        if let Some(key) = &self.host.key {
            options.extend(["-o".into(), "IdentitiesOnly=yes".into(), "-i".into(), key.into()]);
        }
        options
    }

    /// The host as ssh names it.
    fn name(&self) -> String {
        let user = self.host.user.as_ref().map_or(String::new(), |user| format!("{user}@"));
        format!("{user}{}", self.host.address)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(socket) = self.socket.as_ref().filter(|socket| socket.exists()) else { return };
        let mut command = Command::new("ssh");
        command.arg("-o").arg(format!("ControlPath={}", socket.display()));
        command.args(["-O", "exit", "--"]).arg(self.name());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // A connection that is left ends by itself.
        let _ = command.status();
    }
}

/// The script that sets the variables of a task and runs its command. It is read from standard
/// input, so nothing of it is an argument.
///
/// The input stays open as long as somebody waits for the command. Where it is closed, since the
/// run ends the step or the connection is lost, the script ends its process group, and removes the
/// files of the task. Children that the command leaves may write for a second; nobody waits for them
/// longer than that.
fn script(task: &Task, there: &str) -> Result<String, TaskFailure> {
    let here = task.directory.to_string_lossy();
    // The directory has another name there.
    let moved = |text: &str| quoted(&text.replace(&*here, there));
    let directory = quoted(there);
    let mut script = format!("{{ umask 077; cd {directory} || exit\n");
    let mut line = |text: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = writeln!(script, "{text}");
    };
    let inputs = fs::read(task.directory.join(INPUTS)).unwrap_or_default();
    if let Ok(value) = serde_json::from_slice::<Value>(&inputs) {
        let text = serde_json::to_string(&value).unwrap_or_default();
        line(format_args!("printf %s {} >{INPUTS}", moved(&text)));
    }
    for (name, value) in &task.environment {
        if is_variable(name) {
            line(format_args!("export {name}={}", moved(value)));
        }
    }
    let words: Vec<_> = task.command.iter().map(|word| moved(word)).collect();
    if words.is_empty() {
        return Err(no_command());
    }
    let (words, starts_in) = (words.join(" "), quoted(&task.starts_in.to_string_lossy()));
    let run = RUN.replace("DIRECTORY", &directory);
    line(format_args!("run() {{ cd ./{starts_in} && exec {words}; }}\n{run}"));
    Ok(script)
}

/// Runs the function `run`, and keeps its exit code in the file `.code`.
const RUN: &str = r#"exec 3<&0 </dev/null
trap ended=1 TERM
mkfifo .out || exit
(trap '' TERM; exec cat 3<&-) <.out & reader=$!
(
    trap '' TERM
    cat <&3
    kill -s TERM -- -$$
    i=0; while [ ! -e .code ] && [ $i -lt 25 ]; do i=$((i + 1)); sleep 0.2 || sleep 1; done
    cd /; rm -rf DIRECTORY
    kill -s KILL -- -$$
) >/dev/null 2>&1 & watcher=$!
(run) 3<&- >.out 2>&1
code=$?
(sleep 1; kill -s KILL $reader) >/dev/null 2>&1 3<&- & killer=$!
wait $reader && left= || left=left
[ -n "$ended" ] || kill -s KILL $killer $watcher
echo $code $left >.code
exit $code
} 2>/dev/null
"#;

/// Whether a shell can have a variable of this name.
fn is_variable(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_plain) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
