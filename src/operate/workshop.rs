//! Makes tasks of steps: the command, the place where it runs, its files, and the values that it
//! gets of the instance.

use super::files::{KeptFiles, NamedArtifact};
use super::kinds::Kinds;
use super::output::private_directory;
use super::outputs;
use super::place::{HostAddress, Provider, TaskPlace, is_here};
use super::plan::{PlannedImplementation, RunPlan, RunStep, StepKind};
use super::runner::{Protocol, Runner};
use super::settings::RunSettings;
use super::task::{Task, TaskFailure, TaskOutputs};
use super::values::{RunSecrets, Values, as_json, as_text};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::orchestrate::instance::{FormOfValue, InstanceModel, NodeInstance};
use cuvee_text::value::Value;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Makes tasks of the steps of one plan.
pub(super) struct Workshop<'r> {
    pub(super) plan: RunPlan,
    pub(super) instance: &'r str,
    pub(super) settings: &'r RunSettings,
    pub(super) kinds: &'r Kinds,
    /// What types make of texts in values.
    pub(super) forms: FormOfValue<'r>,
    pub(super) secrets: &'r RunSecrets,
    /// The files of the targets that nodes have, by the digest of the target.
    pub(super) files: FxHashMap<Arc<str>, KeptFiles>,
    /// The model of the target that the plan leads to.
    pub(super) to: Arc<InstanceModel>,
    /// The names of the outputs of operations that functions ask for.
    pub(super) asked: BTreeSet<String>,
    /// The directory of the run, for files that are gone afterwards.
    pub(super) directory: PathBuf,
    /// The directory of the instance in the store.
    pub(super) home: PathBuf,
    /// The directory for logs.
    pub(super) logs: PathBuf,
    /// How many tasks were made.
    pub(super) made: Cell<usize>,
}

/// The outcome of preparing a step.
#[derive(Debug)]
pub(super) enum PreparedStep {
    /// A task has to be run.
    Task(Box<Task>),
    /// Nothing has to be run; the step gives these outputs.
    Given(outputs::Outputs),
}

/// The implementation of a step, found.
pub(super) struct FoundImplementation<'w> {
    pub(super) path: PathBuf,
    pub(super) bytes: Cow<'w, [u8]>,
    pub(super) runner: Runner,
}

/// The variable of a playbook, and of the environment, that names each file of inputs.
pub(super) const INPUTS: &str = "inputs.json";

/// The directory of a task's files, beside those of the run, whose names files may have as well.
pub(super) const FILES: &str = "files";

/// The argument that names what runs artifacts.
const RUNNER: &str = "--runner";

/// Files that only their owner may read.
pub(super) const PRIVATE: u32 = 0o600;
/// Files that their owner may run as well.
pub(super) const PROGRAM: u32 = 0o700;

impl<'r> Workshop<'r> {
    /// Prepares a step with the present model.
    pub(super) fn prepared(
        &self,
        step: &RunStep,
        model: &InstanceModel,
        attempt: u32,
    ) -> Result<PreparedStep, Diagnostic> {
        if let Some(orchestrator) = step.orchestrator() {
            return self.handed(step, orchestrator, attempt);
        }
        if !step.is_run() {
            return Ok(PreparedStep::Given(Vec::new()));
        }
        match step.kind {
            StepKind::Delegate => self.delegated(step, model, attempt),
            _ => self.called(step, model, attempt).map(|task| PreparedStep::Task(Box::new(task))),
        }
    }

    pub(super) fn called(
        &self,
        step: &RunStep,
        model: &InstanceModel,
        attempt: u32,
    ) -> Result<Task, Diagnostic> {
        let said = step.implementation.as_ref().ok_or_else(|| no_implementation(step))?;
        let found = self.implementation(step, said, model)?;
        let place = self.place(step, model)?;
        let own = self.directory().map_err(|why| unwritable(&self.directory, &why))?;
        let directory = own.join(FILES);
        let files = self.files_of(step, model);
        let keep = |path: &Path, bytes: &[u8], mode| {
            write(&directory.join(path), bytes, mode).map_err(|why| unwritable(&directory, &why))
        };
        keep(&found.path, &found.bytes, PROGRAM)?;
        let named = said.dependencies.iter().map(|name| self.named(files, step, name));
        let dependencies = named.collect::<Result<Vec<_>, _>>()?;
        for (path, bytes) in &dependencies {
            keep(path, bytes, PROGRAM)?;
        }
        for artifact in self.artifacts(files, step.node().unwrap_or_default(), model) {
            // Artifacts that are no files of the template are somebody else's.
            if let Some((path, bytes)) = files.find(&artifact.file, artifact.place.as_deref()) {
                keep(&path, &bytes, PROGRAM)?;
            }
        }
        // Other orchestrators put dependencies beside the file that needs them.
        for (path, bytes) in &dependencies {
            let beside = path.file_name().map(|name| found.path.with_file_name(name));
            if let Some(beside) = beside.filter(|beside| !directory.join(beside).exists()) {
                keep(&beside, bytes, PROGRAM)?;
            }
        }
        let values = Values {
            model,
            to: &self.to,
            kinds: self.kinds,
            forms: self.forms,
            secrets: self.secrets,
            artifacts: &|node, name| {
                let (path, bytes) = self.artifact(files, (node, name), model)?;
                keep(&path, &bytes, PROGRAM).ok()?;
                Some(directory.join(path).to_string_lossy().into_owned())
            },
        };
        let inputs = values.inputs(step)?;
        let json = as_json(&Value::Map(inputs.iter().cloned().collect()));
        write(&own.join(INPUTS), json.as_bytes(), PRIVATE).map_err(|why| unwritable(&own, &why))?;
        let mut task = Task {
            environment: self.environment(step, &values, &inputs, &own)?,
            starts_in: Path::new(FILES).join(found.path.parent().unwrap_or(Path::new(""))),
            ..self.task(step, attempt, place, own)
        };
        task.timeout = timeout(said).or(self.settings.step_timeout);
        task.command = found.runner.command.clone();
        if found.runner.protocol == Protocol::Ansible {
            self.playbook(&mut task)?;
        }
        task.command.push(directory.join(&found.path).to_string_lossy().into_owned());
        Ok(task)
    }

    /// A task without a command.
    pub(super) fn task(
        &self,
        step: &RunStep,
        attempt: u32,
        place: TaskPlace,
        directory: PathBuf,
    ) -> Task {
        Task {
            step: Arc::clone(&step.id),
            attempt,
            place,
            command: Vec::new(),
            directory,
            starts_in: PathBuf::new(),
            environment: Vec::new(),
            input: None,
            outputs: TaskOutputs::File,
            timeout: self.settings.step_timeout,
            log: self.logs.join(log_name(&step.id)),
            masker: self.secrets.masker(),
        }
    }

    /// The path of the log of a step.
    pub(super) fn log(&self, step: &str) -> PathBuf {
        self.logs.join(log_name(step))
    }

    /// Finds the implementation of a step and what runs it.
    ///
    /// # Errors
    /// `file` if the file is not there, `no-runner` if nothing says what runs it.
    pub(super) fn implementation(
        &self,
        step: &RunStep,
        said: &PlannedImplementation,
        model: &InstanceModel,
    ) -> Result<FoundImplementation<'_>, Diagnostic> {
        // A deployment artifact is run by a program for its kind, if there is one.
        let primary = said.primary.as_ref().or(said.artifact.as_ref());
        let primary = primary.ok_or_else(|| no_implementation(step))?;
        let (path, bytes) = self.named(self.files_of(step, model), step, primary)?;
        let derives = |one: &str, other: &str| self.kinds.derives(one, other);
        let runner = self.settings.runners.of(said, primary, &bytes, &derives)?;
        Ok(FoundImplementation { path, bytes, runner })
    }

    /// The files of the target that a step belongs to: what goes is run as it was deployed.
    pub(super) fn files_of(&self, step: &RunStep, model: &InstanceModel) -> &KeptFiles {
        let own = || step.node().and_then(|id| model.nodes.get(id)?.target.as_ref());
        let present = || own().unwrap_or(&model.target.digest);
        let digest = match self.plan.target() {
            Some(target) if !step.is_removal() => target,
            _ => present(),
        };
        // Whoever makes the workshop reads the files of all targets.
        static NONE: std::sync::OnceLock<KeptFiles> = std::sync::OnceLock::new();
        self.files.get(digest).unwrap_or_else(|| NONE.get_or_init(KeptFiles::default))
    }

    /// A file that a step names.
    pub(super) fn named<'f>(
        &self,
        files: &'f KeptFiles,
        step: &RunStep,
        name: &str,
    ) -> Result<(PathBuf, Cow<'f, [u8]>), Diagnostic> {
        files.find(name, step.place.as_deref()).ok_or_else(|| {
            let message = format!("there is no file `{name}`");
            Diagnostic::error(Code::File, message).help(
                "put the file beside the template, or correct its name; an instance has the files as they were when it was planned",
            )
        })
    }

    /// The file of an artifact of a node, with its name among the files.
    pub(super) fn artifact<'f>(
        &'f self,
        files: &'f KeptFiles,
        (node, name): (&str, &str),
        model: &InstanceModel,
    ) -> Option<(PathBuf, Cow<'f, [u8]>)> {
        let all = self.artifacts(files, node, model);
        let artifact = all.into_iter().find(|artifact| artifact.name == name)?;
        files.find(&artifact.file, artifact.place.as_deref())
    }

    /// The artifacts of a node: its own, then those of its type.
    fn artifacts<'f>(
        &'f self,
        files: &'f KeptFiles,
        node: &str,
        model: &InstanceModel,
    ) -> Vec<&'f NamedArtifact> {
        let known = model.nodes.get(node).or_else(|| self.to.nodes.get(node));
        let template = known.and_then(|node| node.template.as_deref()).unwrap_or(node);
        let kind = known.map_or("", |node| &*node.type_name);
        let own = files.artifacts(template);
        let is_new = |it: &&NamedArtifact| own.iter().all(|known| known.name != it.name);
        own.iter().chain(self.kinds.artifacts(kind).iter().filter(is_new)).collect()
    }

    fn environment(
        &self,
        step: &RunStep,
        values: &Values<'_>,
        inputs: &[(Arc<str>, Value)],
        directory: &Path,
    ) -> Result<Vec<(String, String)>, Diagnostic> {
        let path = |name: &str| directory.join(name).to_string_lossy().into_owned();
        let node = values.node_of(step).unwrap_or_default();
        let mut environment: Vec<_> = inputs.iter().filter_map(variable).collect();
        environment.extend(values.around(step)?);
        let own = [
            ("CUVEE_NODE", node.to_owned()),
            ("CUVEE_STEP", step.id.to_string()),
            ("CUVEE_INSTANCE", self.instance.to_owned()),
            ("CUVEE_INPUTS", path(INPUTS)),
            ("CUVEE_OUTPUTS", path(outputs::FILE)),
        ];
        environment.extend(own.map(|(name, value)| (name.to_owned(), value)));
        Ok(environment)
    }

    /// Adds to a task what a playbook needs: it is run on this machine and reaches the host itself.
    fn playbook(&self, task: &mut Task) -> Result<(), Diagnostic> {
        const CALLBACK: &str = include_str!("cuvee_outputs.py");
        let plugins = task.directory.join("callbacks");
        write(&plugins.join("cuvee_outputs.py"), CALLBACK.as_bytes(), PRIVATE)
            .map_err(|why| unwritable(&plugins, &why))?;
        if let TaskPlace::Host(host) = std::mem::take(&mut task.place) {
            let HostAddress { address, port, user, key } = host;
            task.command.truncate(1);
            task.command.extend(["-i".to_owned(), format!("{address},")]);
            let key = key.map(|key| Value::from(absolute(&key).to_string_lossy().as_ref()));
            let extra: Vec<(Arc<str>, Value)> = [
                ("ansible_user", user.map(|user| Value::from(user.as_str()))),
                ("ansible_port", port.map(|port| Value::from(i32::from(port)))),
                ("ansible_ssh_private_key_file", key),
            ]
            .into_iter()
            .filter_map(|(name, value)| Some((name.into(), value?)))
            .collect();
            // As JSON, since a path may have spaces.
            let extra = serde_json::to_string(&Value::Map(extra.into())).unwrap_or_default();
            task.command.extend(["-e".to_owned(), extra]);
        }
        let inputs = task.directory.join(INPUTS);
        task.command.extend(["-e".to_owned(), format!("@{}", inputs.display())]);
        let plugins = plugins.to_string_lossy().into_owned();
        task.environment.extend([
            ("ANSIBLE_CALLBACK_PLUGINS".to_owned(), plugins),
            ("ANSIBLE_CALLBACKS_ENABLED".to_owned(), "cuvee_outputs".to_owned()),
            ("ANSIBLE_NOCOLOR".to_owned(), "1".to_owned()),
            ("ANSIBLE_RETRY_FILES_ENABLED".to_owned(), "0".to_owned()),
        ]);
        Ok(())
    }

    /// The place where a step runs.
    ///
    /// # Errors
    /// `unreachable-host` if the address of its host is not known.
    pub(super) fn place(
        &self,
        step: &RunStep,
        model: &InstanceModel,
    ) -> Result<TaskPlace, Diagnostic> {
        match step.host.as_deref().and_then(|host| host.strip_prefix("node.")) {
            None => Ok(TaskPlace::Here),
            Some(node) => self.place_of(node, model).ok_or_else(|| {
                let message = format!("the address of `{node}` is not known");
                Diagnostic::error(Code::UnreachableHost, message).help(ways(node))
            }),
        }
    }

    /// The place where the operations of nodes on this node run, if that is known.
    pub(super) fn place_of(&self, node: &str, model: &InstanceModel) -> Option<TaskPlace> {
        let known = model.nodes.get(node).or_else(|| self.to.nodes.get(node));
        let address = || known.and_then(address);
        match self.provider(node, model) {
            Some(Provider::Local) => Some(TaskPlace::Here),
            Some(Provider::Host(host)) if !host.address.is_empty() => {
                let is_plain = (host.port, &host.user, &host.key) == (None, &None, &None);
                let is_here = is_plain && is_here(&host.address);
                Some(if is_here { TaskPlace::Here } else { TaskPlace::Host(host.clone()) })
            }
            Some(Provider::Host(how)) => {
                Some(TaskPlace::Host(HostAddress { address: address()?, ..how.clone() }))
            }
            _ => {
                let address = address()?;
                Some(match is_here(&address) {
                    true => TaskPlace::Here,
                    false => TaskPlace::Host(HostAddress { address, ..HostAddress::default() }),
                })
            }
        }
    }

    /// The provider that the caller gives for a node: by its name, else by its type or an ancestor
    /// of that.
    pub(super) fn provider(&self, node: &str, model: &InstanceModel) -> Option<&'r Provider> {
        self.named_for(&self.settings.providers, node, model)
    }

    /// Refuses names that the caller gave, and that neither nodes nor types have.
    ///
    /// # Errors
    /// `unknown-element`
    pub(super) fn check_named(&self, model: &InstanceModel) -> Result<(), Diagnostic> {
        for (argument, name) in &self.settings.named {
            let known = match *argument {
                RUNNER => self.check_runner(name),
                _ => self.check_node(name, model),
            };
            known.map_err(|error| {
                let message = format!("`{argument} {name}=`: {}", error.message);
                error.with_message(message)
            })?;
        }
        Ok(())
    }

    fn check_node(&self, name: &str, model: &InstanceModel) -> Result<(), Diagnostic> {
        let is_node = model.nodes.contains_key(name) || self.to.nodes.contains_key(name);
        match is_node || self.kinds.has_node_type(name) {
            true => Ok(()),
            false => Err(model.no_entity(name)),
        }
    }

    /// Checks that there is an artifact type of this name, unless it is an extension.
    fn check_runner(&self, name: &str) -> Result<(), Diagnostic> {
        // What goes may be of a type that the target does not have any more.
        let said = self.plan.steps.iter().filter_map(|step| step.implementation.as_ref());
        let mut said = said.filter_map(|said| said.artifact_type.as_deref());
        let types = self.kinds.artifact_types();
        if name.starts_with('.') || types.iter().any(|it| it == name) || said.any(|it| it == name) {
            return Ok(());
        }
        let message = format!("the template has no artifact type `{name}`");
        let help = did_you_mean(name, types.iter().map(|it| &**it));
        let help =
            help.unwrap_or_else(|| format!("an extension begins with a dot: `.{name}`").into());
        Err(Diagnostic::error(Code::UnknownElement, message).help(help))
    }

    /// What stands for a node in such a list: by its name, else by its type or what that derives
    /// from. The last one counts.
    pub(super) fn named_for<T>(
        &self,
        list: &'r [(String, T)],
        node: &str,
        model: &InstanceModel,
    ) -> Option<&'r T> {
        let known = model.nodes.get(node).or_else(|| self.to.nodes.get(node));
        let by_name = || list.iter().rev().find(|(name, _)| name == node);
        let by_type = || {
            let kind = &known?.type_name;
            list.iter().rev().find(|(name, _)| self.kinds.derives(kind, name))
        };
        by_name().or_else(by_type).map(|(_, it)| it)
    }

    /// A node that the orchestrator brings, takes away or changes.
    fn delegated(
        &self,
        step: &RunStep,
        model: &InstanceModel,
        attempt: u32,
    ) -> Result<PreparedStep, Diagnostic> {
        let node = step.node().unwrap_or_default();
        let provider = self.provider(node, model).ok_or_else(|| no_provider(node))?;
        let address = match provider {
            Provider::Command(program) => {
                return self.provided(step, model, attempt, program).map(PreparedStep::Task);
            }
            Provider::Local => "localhost".to_owned(),
            Provider::Host(host) => host.address.clone(),
        };
        let is_given = !is_undeployed(step) && !address.is_empty();
        let names = ["public_address", "private_address"].map(Arc::from);
        let given = names.into_iter().filter(|_| is_given);
        Ok(PreparedStep::Given(given.map(|name| (name, Value::from(&*address))).collect()))
    }

    /// The task that calls the program of a provider.
    fn provided(
        &self,
        step: &RunStep,
        model: &InstanceModel,
        attempt: u32,
        program: &Path,
    ) -> Result<Box<Task>, Diagnostic> {
        let program = absolute(program).to_string_lossy().into_owned();
        let node = self.node_for_provider(step, model);
        // What takes a node away need not know how it was made.
        let told = (node, is_undeployed(step));
        self.told(step, told, attempt, vec![program, verb(step).to_owned()])
    }

    /// The node of which the program of a provider is told.
    fn node_for_provider<'w>(
        &'w self,
        step: &RunStep,
        model: &'w InstanceModel,
    ) -> Option<&'w NodeInstance> {
        let id = step.node().unwrap_or_default();
        let known = if is_undeployed(step) { None } else { self.to.nodes.get(id) };
        known.or_else(|| model.nodes.get(id))
    }

    /// Checks that the program of a provider can be told of a node.
    ///
    /// # Errors
    /// `missing-secret`
    pub(super) fn check_told(
        &self,
        step: &RunStep,
        model: &InstanceModel,
    ) -> Result<(), Diagnostic> {
        let (id, node) = (step.node().unwrap_or_default(), self.node_for_provider(step, model));
        node.map_or(Ok(()), |node| self.secrets.node(id, node, is_undeployed(step)).map(drop))
    }

    /// The task that calls a program here, which is told of the node on its standard input and
    /// answers attributes. If it can do without them, it is not told of secrets that the run does not
    /// know.
    pub(super) fn told(
        &self,
        step: &RunStep,
        (node, can_do_without): (Option<&NodeInstance>, bool),
        attempt: u32,
        command: Vec<String>,
    ) -> Result<Box<Task>, Diagnostic> {
        let id = step.node().unwrap_or_default();
        let directory = self.directory().map_err(|why| unwritable(&self.directory, &why))?;
        let asked = node.map(|node| self.secrets.node(id, node, can_do_without)).transpose()?;
        let input = as_json(&asked.unwrap_or(Value::Null)).into_bytes();
        Ok(Box::new(Task {
            command,
            input: Some(input),
            outputs: TaskOutputs::Standard,
            environment: vec![
                ("CUVEE_NODE".to_owned(), id.to_owned()),
                ("CUVEE_STEP".to_owned(), step.id.to_string()),
                ("CUVEE_INSTANCE".to_owned(), self.instance.to_owned()),
            ],
            ..self.task(step, attempt, TaskPlace::Here, directory)
        }))
    }

    /// A new directory for a task.
    pub(super) fn directory(&self) -> io::Result<PathBuf> {
        let number = self.made.replace(self.made.get() + 1);
        let directory = self.directory.join(number.to_string());
        private_directory(&directory)?;
        Ok(directory)
    }
}

/// The error that nobody brings a node.
pub(super) fn no_provider(node: &str) -> Diagnostic {
    let message = format!("`{node}` has no operations, and nothing is known that stands for it");
    Diagnostic::error(Code::NoProvider, message).help(ways(node))
}

/// Whether a step of the orchestrator takes a node away.
fn is_undeployed(step: &RunStep) -> bool {
    step.workflow.as_deref() == Some("undeploy")
}

/// The argument that the program of a provider gets.
pub(super) fn verb(step: &RunStep) -> &'static str {
    if is_undeployed(step) { "down" } else { "up" }
}

/// How a caller says what stands for a node.
fn ways(node: &str) -> String {
    format!(
        "`--provider {node}=local` takes this machine, `--provider {node}=host:ADDRESS,user=USER` one that is there, `--provider {node}=command:PATH` makes one"
    )
}

fn no_implementation(step: &RunStep) -> Diagnostic {
    let message = format!("nothing is known that runs `{}`", step.id);
    let operation = step.operation.as_deref().unwrap_or("create");
    let help = format!("give the operation `{operation}` an implementation");
    Diagnostic::error(Code::NoRunner, message).help(help)
}

pub(super) fn unwritable(path: &Path, why: &io::Error) -> Diagnostic {
    Diagnostic::error(Code::File, format!("cannot write to `{}`: {why}", path.display()))
        .help("a run needs space for the files of its steps; `TMPDIR` names another directory")
}

/// The address of a node: that of its attributes, else that of its endpoint.
fn address(node: &NodeInstance) -> Option<String> {
    let text = |value: &Value| value.as_str().filter(|it| !it.is_empty()).map(str::to_owned);
    let own = ["public_address", "private_address"];
    let own = own.iter().find_map(|name| text(&node.attributes.get(*name)?.value));
    own.or_else(|| {
        let endpoint = node.capabilities.get("endpoint")?;
        let reported = endpoint.attributes.get("ip_address").and_then(|it| text(&it.value));
        reported.or_else(|| text(endpoint.properties.get("ip_address")?))
    })
}

/// A path that means the same in any directory.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// How long the value of an environment variable may be: systems begin no program with longer ones.
const LONGEST: usize = 120_000;

/// The environment variable of an input; `None` if no variable can have the name or the value.
fn variable((name, value): &(Arc<str>, Value)) -> Option<(String, String)> {
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    let value = as_text(value).replace('\0', "");
    (is_name && value.len() <= LONGEST).then(|| (name.to_string(), value))
}

/// The seconds after which an operation has failed.
fn timeout(said: &PlannedImplementation) -> Option<Duration> {
    let seconds = match said.timeout.as_ref()? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().trim_end_matches('s').trim().parse().ok()?,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero())
}

pub(super) fn write(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        private_directory(directory)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)?.write_all(bytes)
}

/// The name of a step's log below the directory of logs. Each part of an identifier becomes a
/// directory; other characters than the usual ones are encoded.
fn log_name(step: &str) -> PathBuf {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'_').remove(b'-').remove(b'@');
    let part = |part: &str| match part {
        "" | "." | ".." => format!("%{part}"),
        part => utf8_percent_encode(part, PLAIN).to_string(),
    };
    let mut path: PathBuf = step.split('/').map(part).collect();
    path.as_mut_os_string().push(".log");
    path
}

impl From<Diagnostic> for TaskFailure {
    fn from(why: Diagnostic) -> Self {
        let failure = Self { code: Some(why.code.as_str()), ..Self::new(why.message) };
        why.help.into_iter().fold(failure, |failure, help| failure.help(help))
    }
}
