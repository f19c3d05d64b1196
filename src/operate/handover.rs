//! Hands plans over to another orchestrator: gives it the template, keeps its state with the
//! instance, and takes back what it has done.

use super::handed::{HandedEnd, HandedNode, HandedPlace, HandoverVerb};
use super::orchestrator::Orchestrator;
use super::output::private_directory;
use super::outputs::Outputs;
use super::place::TaskPlace;
use super::plan::{RunPlan, RunStep};
use super::task::{Task, TaskFailure, TaskOutputs};
use super::untaken::{HandedStep, untaken};
use super::workshop::{PRIVATE, PROGRAM, PreparedStep, Workshop, unwritable, write};
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::instance::{InstanceReport, NodeInstance, ReportOutcome, SecretsMode};
use crate::topology::sensitive::InstanceValue;
use crate::tosca::function::function_in;
use crate::tosca::v2_0::{self, parsed};
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Limits, parse};
use rustc_hash::FxHashMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What was handed to an orchestrator: kept with the instance until all of it is undeployed.
#[derive(Clone, Debug)]
pub struct HandedVariant {
    /// The orchestrator that deploys it.
    pub orchestrator: Orchestrator,
    /// The digest of the target.
    pub digest: String,
    directory: PathBuf,
}

/// The directory of an instance for what was handed over.
const HANDED: &str = "handed";
/// The files of the template.
const FILES: &str = "files";
/// The state of the orchestrator.
const STATE: &str = "state";
/// The path of the template among the files.
const TEMPLATE: &str = "template";
/// What the name of a directory ends with that is being removed.
const GONE: &str = "gone";
/// The file that is there while the orchestrator is not known to have done all.
const UNFINISHED: &str = "unfinished";

impl HandedVariant {
    fn new(instance: &Path, orchestrator: Orchestrator, digest: &str) -> Self {
        let directory = instance.join(HANDED).join(orchestrator.as_str()).join(digest);
        Self { orchestrator, digest: digest.to_owned(), directory }
    }

    /// The variant of an instance that was handed over; `None` if none was.
    pub(super) fn find(instance: &Path) -> io::Result<Option<Self>> {
        for orchestrator in Orchestrator::ALL {
            let entries = match fs::read_dir(instance.join(HANDED).join(orchestrator.as_str())) {
                Err(why) if why.kind() == ErrorKind::NotFound => continue,
                entries => entries?,
            };
            let mut names = entries.map(|it| Ok(it?.file_name().to_string_lossy().into_owned()));
            let is_left =
                |name: &io::Result<String>| !matches!(name, Ok(name) if name.ends_with(GONE));
            if let Some(digest) = names.find(is_left).transpose()? {
                return Ok(Some(Self::new(instance, orchestrator, &digest)));
            }
        }
        Ok(None)
    }

    /// Whether the orchestrator is not known to have done all that it was to do.
    pub fn is_unfinished(&self) -> bool {
        self.directory.join(UNFINISHED).exists()
    }

    fn place(&self) -> io::Result<HandedPlace> {
        let path = PathBuf::from(fs::read_to_string(self.directory.join(TEMPLATE))?);
        let base = path.parent().unwrap_or(Path::new(""));
        Ok(HandedPlace {
            base: self.directory.join(FILES).join(base),
            template: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            state: self.directory.join(STATE),
        })
    }

    /// Removes all of it. Whoever is killed meanwhile leaves all of it, or nothing that is found.
    fn forget(&self) -> io::Result<()> {
        let mut gone = self.directory.clone();
        gone.set_extension(GONE);
        // An earlier run may have been killed while it removed one.
        let _ = fs::remove_dir_all(&gone);
        fs::rename(&self.directory, &gone)?;
        fs::remove_dir_all(gone)
    }
}

impl RunPlan {
    /// The orchestrator that the whole plan is handed to.
    pub(super) fn orchestrator(&self) -> Option<Orchestrator> {
        self.steps.iter().find_map(RunStep::orchestrator)
    }

    fn verb(&self) -> HandoverVerb {
        match self.target() {
            Some(_) => HandoverVerb::Deploy,
            None => HandoverVerb::Undeploy,
        }
    }
}

impl Workshop<'_> {
    /// What an orchestrator does not take of the plan.
    pub(super) fn untaken(&self, by: Orchestrator) -> Vec<Diagnostic> {
        let steps = self.plan.steps.iter().filter(|step| step.is_run());
        let steps: Vec<_> =
            steps.map(|step| HandedStep { step, to: &self.to, kinds: self.kinds }).collect();
        self.untaken_version(by).into_iter().chain(untaken(by, &steps)).collect()
    }

    /// That an orchestrator does not read the version of the template: none reads TOSCA 2.0, as trying
    /// opera 0.7.0 and unfurl 1.2.0 shows.
    fn untaken_version(&self, by: Orchestrator) -> Option<Diagnostic> {
        let files = self.plan.target().and_then(|digest| self.files.get(digest))?;
        let document = parsed(files.text()).ok().filter(v2_0::is_of)?;
        let version = document.root().get("tosca_definitions_version")?.text()?;
        let message = format!("{by} does not read TOSCA 2.0, which the template has: `{version}`");
        let help = "make an instance of the template that `cuvee convert --to 1.3` writes, or leave `--with` out";
        Some(Diagnostic::error(Code::NotTaken, message).help(help))
    }

    /// The command by which the plan is handed over, for people.
    pub(super) fn handover_command(&self) -> String {
        let by = self.plan.orchestrator().map_or("", Orchestrator::as_str);
        format!("{by} {}", self.plan.verb().as_str())
    }

    /// Checks that the plan can be handed over: the programs are there, and no secret would be kept
    /// that the instance does not keep.
    pub(super) fn check_handover(&self, by: Orchestrator, mode: SecretsMode) -> Vec<Diagnostic> {
        let missing =
            by.way().programs().iter().filter(|it| super::runner::installed(it).is_none());
        let mut found: Vec<_> = missing.map(|it| super::preflight::missing_program(it)).collect();
        if self.plan.verb() == HandoverVerb::Undeploy {
            return found;
        }
        match self.handed_template() {
            Err(problem) => found.push(problem),
            Ok((_, true)) if mode != SecretsMode::Keep => {
                let message = format!(
                    "{by} keeps in its state what it is given, and the template has secrets, which this instance does not keep"
                );
                found.push(Diagnostic::error(Code::NotTaken, message).help(
                    "make an instance that keeps them: `cuvee instance run NAME TEMPLATE --secrets keep`",
                ));
            }
            Ok(_) => {}
        }
        found
    }

    /// The template of the target with its secrets as they are, and whether it has any.
    fn handed_template(&self) -> Result<(String, bool), Diagnostic> {
        let files = self.plan.target().and_then(|digest| self.files.get(digest));
        let Some(files) = files else { return Ok((String::new(), false)) };
        let document = parse(FileId::DETACHED, files.text().into(), &Limits::default())?;
        let document = document.root().to_value();
        let opened = self.secrets.opened("the template", &document)?;
        if opened == document {
            return Ok((files.text().to_owned(), false));
        }
        // JSON is YAML.
        Ok((serde_json::to_string(&opened).unwrap_or_default(), true))
    }

    /// The task by which an orchestrator does the plan.
    pub(super) fn handed(
        &self,
        step: &RunStep,
        by: Orchestrator,
        attempt: u32,
    ) -> Result<PreparedStep, Diagnostic> {
        let failed = |why: io::Error| unwritable(&self.home.join(HANDED), &why);
        let verb = self.plan.verb();
        let variant = match self.plan.target() {
            Some(digest) => self.hand(by, digest)?,
            None => match HandedVariant::find(&self.home).map_err(failed)? {
                Some(variant) => variant,
                // An earlier run has undeployed it, and could not say so.
                None => return Ok(PreparedStep::Given(Outputs::new())),
            },
        };
        let mark = write(&variant.directory.join(UNFINISHED), b"", PRIVATE);
        let place = mark.and_then(|()| variant.place()).map_err(failed)?;
        by.way().prepare(&place).map_err(failed)?;
        let directory = self.directory().map_err(failed)?;
        let environment = by.way().environment().iter();
        Ok(PreparedStep::Task(Box::new(Task {
            command: by.way().command(&place, verb),
            starts_in: place.base,
            outputs: TaskOutputs::None,
            environment: environment
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect(),
            ..self.task(step, attempt, TaskPlace::Here, directory)
        })))
    }

    /// Writes the files of the target where the orchestrator finds them.
    fn hand(&self, by: Orchestrator, digest: &str) -> Result<HandedVariant, Diagnostic> {
        let variant = HandedVariant::new(&self.home, by, digest);
        let Some(files) = self.files.get(digest) else { return Ok(variant) };
        let (text, _) = self.handed_template()?;
        let root = variant.directory.join(FILES);
        let written = || {
            private_directory(&variant.directory.join(STATE))?;
            let name = files.path().to_string_lossy().into_owned();
            write(&variant.directory.join(TEMPLATE), name.as_bytes(), PRIVATE)?;
            for (path, bytes) in files.all() {
                write(&root.join(path), &bytes, PROGRAM)?;
            }
            write(&root.join(files.path()), text.as_bytes(), PRIVATE)
        };
        written().map_err(|why| unwritable(&variant.directory, &why))?;
        Ok(variant)
    }

    /// The report of a step that an orchestrator has done: with it all parts of the plan are done,
    /// and nodes have the attributes that it gave them.
    ///
    /// # Errors
    /// It says that it is done, and is not.
    pub(super) fn handed_back(
        &self,
        step: &Arc<str>,
        by: Orchestrator,
    ) -> Result<(InstanceReport, Vec<String>), TaskFailure> {
        let failed = |why: String| TaskFailure::new(format!("its state cannot be read: {why}"));
        let variant = HandedVariant::find(&self.home).map_err(|why| failed(why.to_string()))?;
        let mut batch = vec![done(step)];
        batch.extend(self.plan.parts_of_steps().map(done));
        if let Some(variant) = variant {
            let place = variant.place().map_err(|why| failed(why.to_string()))?;
            let nodes = by.way().nodes(&place).map_err(failed)?;
            let finished = match self.plan.verb() {
                HandoverVerb::Deploy => {
                    self.check_deployed(by, &nodes)?;
                    batch.extend(nodes.into_iter().filter_map(|node| self.given_by(node)));
                    fs::remove_file(variant.directory.join(UNFINISHED))
                }
                HandoverVerb::Undeploy => {
                    check_gone(by, &nodes)?;
                    variant.forget()
                }
            };
            finished.map_err(|why| failed(why.to_string()))?;
        }
        Ok((InstanceReport { batch, ..InstanceReport::default() }, Vec::new()))
    }

    /// Checks that the orchestrator has deployed all nodes of the target that have operations.
    fn check_deployed(&self, by: Orchestrator, nodes: &[HandedNode]) -> Result<(), TaskFailure> {
        let ends: FxHashMap<_, _> = nodes.iter().map(|it| (&*it.name, &it.end)).collect();
        let is_short = |(id, node): &(&Arc<str>, &NodeInstance)| {
            match ends.get(&***id).copied() {
                Some(HandedEnd::Deployed) => false,
                // What was selected from elsewhere is not deployed.
                _ if node.metadata.contains_key("instance") => false,
                Some(HandedEnd::Untouched) => !self.kinds.operations(&node.type_name).is_empty(),
                _ => true,
            }
        };
        let short = self.to.nodes.iter().filter(is_short).map(|(id, _)| id.to_string());
        refuse(by, "deployed", short.collect())
    }

    /// The attributes that an orchestrator gave a node, of those that its type declares.
    fn given_by(&self, node: HandedNode) -> Option<InstanceReport> {
        /// What every node has, and an orchestrator says of itself.
        const OWN: [&str; 3] = ["tosca_id", "tosca_name", "state"];
        let (id, known) = self.to.nodes.get_key_value(&*node.name)?;
        let is_new = |(name, value): &(Arc<str>, Value)| {
            let is_declared = self.kinds.attribute(&known.type_name, (None, name), &[]).is_some();
            let before = known.attributes.get(name).map(|it| &it.value);
            is_declared
                && !OWN.contains(&&**name)
                && before != Some(value)
                && function_in(value).is_none()
        };
        let attributes: Vec<_> = node.attributes.into_iter().filter(is_new).collect();
        for (name, value) in &attributes {
            let (template, type_name) = (known.template.as_deref(), &*known.type_name);
            let of = InstanceValue::OfNode { template, type_name, capability: None, name };
            self.secrets.learned(&of, value);
        }
        let of = Some(Arc::clone(id));
        (!attributes.is_empty()).then(|| InstanceReport {
            node: of,
            attributes,
            ..InstanceReport::default()
        })
    }
}

fn check_gone(by: Orchestrator, nodes: &[HandedNode]) -> Result<(), TaskFailure> {
    let is_left = |node: &&HandedNode| !matches!(node.end, HandedEnd::Gone | HandedEnd::Untouched);
    let left = nodes.iter().filter(is_left).map(|node| node.name.clone());
    refuse(by, "undeployed", left.collect())
}

/// The failure that nodes are not what they were to become.
fn refuse(by: Orchestrator, what: &str, mut nodes: Vec<String>) -> Result<(), TaskFailure> {
    nodes.sort_unstable();
    let names: Vec<_> = nodes.iter().map(|name| format!("`{name}`")).collect();
    match names.is_empty() {
        true => Ok(()),
        false => {
            let message = format!("{by} has ended, and has not {what} {}", names.join(", "));
            Err(TaskFailure::new(message).help("its log says why"))
        }
    }
}

fn done(step: &Arc<str>) -> InstanceReport {
    let (step, outcome) = (Some(Arc::clone(step)), Some(ReportOutcome::Done));
    InstanceReport { step, outcome, ..InstanceReport::default() }
}
