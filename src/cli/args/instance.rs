//! Defines the arguments of `cuvee instance`.

use super::{
    AdaptArgs, ChooseArgs, ListFormat, OrderArgs, PlanFormat, assignment, date, renaming, timeout,
};
use clap::{Args, Subcommand, ValueEnum};
use cuvee::deploy::instance::SecretsMode;
use cuvee::operate::Orchestrator;
use jiff::Zoned;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `cuvee instance`.
#[derive(Debug, Args)]
pub(crate) struct InstanceArgs {
    #[command(subcommand)]
    pub command: InstanceCommand,
}

/// The commands for instances.
#[derive(Debug, Subcommand)]
pub(crate) enum InstanceCommand {
    /// Make an instance of a variant that is not deployed yet
    Init(Box<InitInstanceArgs>),
    /// List the instances of a store
    List(ListInstancesArgs),
    /// Show an instance, or one entity of it
    Show(ShowInstanceArgs),
    /// Ask for nodes and their values
    Query(QueryInstanceArgs),
    /// Show the log
    Log(LogInstanceArgs),
    /// Plan how to turn an instance into a variant, or to repair it
    Plan(Box<PlanInstanceArgs>),
    /// Deploy a variant, or turn an instance into it: plan, ask, run and record
    Run(Box<RunInstanceArgs>),
    /// Find out what is really there, and compare it with the log
    Check(Box<CheckInstanceArgs>),
    /// Begin to carry out a plan, and show the steps that can be done
    Apply(ApplyInstanceArgs),
    /// Show the steps of the open orchestration that can be done
    Ready(ReadyInstanceArgs),
    /// Begin a change without a plan
    Begin(BeginInstanceArgs),
    /// End a change without a plan
    Finish(FinishInstanceArgs),
    /// Record a report: states, attributes, outputs, steps
    Record(Box<RecordInstanceArgs>),
    /// Change the model of an instance by hand, not through its orchestrator
    Edit(EditInstanceArgs),
    /// Compare two instances, or two revisions of one
    Diff(DiffInstancesArgs),
    /// Write an instance for other tools
    Export(ExportInstanceArgs),
    /// Make an instance of an exported one
    Import(ImportInstanceArgs),
    /// Check the log and the files of an instance
    Verify(VerifyInstanceArgs),
    /// Compact the files of an instance, so that it is read faster
    Compact(NamedInstanceArgs),
    /// Forget an instance; nothing is undeployed by that
    Delete(DeleteInstanceArgs),
}

/// The store of instances.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Store")]
pub(crate) struct StoreArgs {
    /// Directory in which instances are kept; by default `.cuvee` [env: CUVEE_STORE]
    #[arg(long, global = true, value_name = "DIR")]
    pub store: Option<PathBuf>,
}

/// The author of records.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Store")]
pub(crate) struct AuthorArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    /// The author of the record; by default the name of the user
    #[arg(long, global = true, value_name = "NAME")]
    pub actor: Option<String>,
    /// How long to wait while another process is writing
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 10)]
    pub lock_timeout: u64,
    /// Write only if this is the last revision
    #[arg(long, global = true, value_name = "REVISION")]
    pub expect: Option<u64>,
}

/// The clock.
#[derive(Debug, Args)]
pub(crate) struct ClockArgs {
    /// The present time: an ISO 8601 date, with a time and a zone
    #[arg(long, global = true, value_name = "DATE", value_parser = date)]
    pub now: Option<Zoned>,
}

/// Values of topology inputs.
#[derive(Clone, Debug, Args)]
pub(crate) struct DeploymentArgs {
    /// File of values of topology inputs (YAML or JSON); may be repeated
    #[arg(long = "deployment-inputs", value_name = "FILE")]
    pub deployment_files: Vec<PathBuf>,
    /// Value of a topology input, read as YAML; may be repeated, wins over files
    #[arg(long = "deployment-input", value_name = "NAME=VALUE", value_parser = assignment)]
    pub deployment_inputs: Vec<(String, String)>,
}

/// The ways to keep secrets.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SecretsFormat {
    /// As keyed digests: a change is noticed, the value is not known
    Digest,
    /// As they are
    Keep,
    /// Not at all
    Drop,
}

impl From<SecretsFormat> for SecretsMode {
    fn from(format: SecretsFormat) -> Self {
        match format {
            SecretsFormat::Digest => Self::Digest,
            SecretsFormat::Keep => Self::Keep,
            SecretsFormat::Drop => Self::Drop,
        }
    }
}

/// Arguments of `cuvee instance init`.
#[derive(Debug, Args)]
pub(crate) struct InitInstanceArgs {
    /// The name of the instance: lower case letters, digits, `.`, `_`, `-`
    pub name: String,
    /// A service template, an archive (CSAR), a directory that holds a template under its usual
    /// name, or `-` for standard input
    pub template: PathBuf,
    #[command(flatten)]
    pub deployment: DeploymentArgs,
    /// The way to keep secrets
    #[arg(long, value_name = "HOW", default_value = "digest")]
    pub secrets: SecretsFormat,
    /// Part of names whose values are secret, in addition to the built-in ones; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub sensitive: Vec<String>,
    /// The tenant, for the URI of the instance
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub tenant: String,
    /// The runtime, for the URI of the instance
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub runtime: String,
    #[command(flatten)]
    pub author: AuthorArgs,
    #[command(flatten)]
    pub choose: ChooseArgs,
}

/// Arguments of `cuvee instance list`.
#[derive(Debug, Args)]
pub(crate) struct ListInstancesArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    /// Format of the list
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

/// An instance, at present or in the past.
#[derive(Debug, Args)]
pub(crate) struct ReadInstanceArgs {
    /// The instance, or an exported file
    pub name: String,
    /// Show the instance as it was after this revision, or at this time
    #[arg(long, value_name = "REVISION|TIME")]
    pub at: Option<String>,
    /// Also show attributes of nodes that are changing
    #[arg(long)]
    pub unstable: bool,
    /// Show secret values, if they are kept
    #[arg(long)]
    pub reveal: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Write to this file, all of it or nothing, instead of to standard output, which is also `-`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `cuvee instance show`.
#[derive(Debug, Args)]
pub(crate) struct ShowInstanceArgs {
    #[command(flatten)]
    pub read: ReadInstanceArgs,
    /// An entity of the instance: a node, or `group.web`, `policy.spread`,
    /// `relation.db@0.node.shop`
    pub entity: Option<String>,
    /// Format of the output; by default the one that the ending of the file names, else `human`
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ListFormat>,
}

/// Arguments of `cuvee instance query`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("asked").required(true).args(["path", "node_filter", "function", "evaluate"]))]
pub(crate) struct QueryInstanceArgs {
    #[command(flatten)]
    pub read: ReadInstanceArgs,
    /// The path to ask for, such as `nodes[state=started]/attributes/public_address`
    pub path: Option<String>,
    /// Ask for the nodes that fulfil the node filter of TOSCA in this file
    #[arg(long, value_name = "FILE")]
    pub node_filter: Option<PathBuf>,
    /// Ask for the value of a function: `{get_attribute: [shop, url]}`
    #[arg(long, value_name = "CALL")]
    pub function: Option<String>,
    /// Ask for a value with the values of all functions in it: `{url: {get_attribute: [shop, url]}}`
    #[arg(long, value_name = "VALUE")]
    pub evaluate: Option<String>,
    /// The entity that the function belongs to, for `SELF`, `SOURCE`, `TARGET` and `HOST`: a node,
    /// a group, or `relation.db@0.node.shop`
    #[arg(long, value_name = "ELEMENT", conflicts_with_all = ["path", "node_filter"])]
    pub of: Option<String>,
    /// Format of the answer; by default the one that the ending of the file names, else `human`
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ListFormat>,
}

/// Arguments of `cuvee instance log`.
#[derive(Debug, Args)]
pub(crate) struct LogInstanceArgs {
    /// The instance
    pub name: String,
    /// Show only records after this revision, or this time
    #[arg(long, value_name = "REVISION|TIME")]
    pub since: Option<String>,
    /// Show only events about this entity: a node, or `group.web`; may be repeated
    #[arg(long, value_name = "ENTITY")]
    pub entity: Vec<String>,
    /// Show only events of this kind, such as `state`; may be repeated
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Show only records of the orchestration that this revision began
    #[arg(long, value_name = "REVISION")]
    pub orchestration: Option<u64>,
    /// Show at most this many records
    #[arg(long, value_name = "COUNT")]
    pub limit: Option<u64>,
    /// Wait for further records
    #[arg(long)]
    pub follow: bool,
    /// Show secret values, if they are kept
    #[arg(long)]
    pub reveal: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Format of the records; JSON gives the lines of the log
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

/// Arguments of `cuvee instance plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanInstanceArgs {
    /// The instance
    pub name: String,
    /// The template that the instance is to be a variant of; by default its present template, and
    /// without a choice its present target
    pub template: Option<PathBuf>,
    #[command(flatten)]
    pub deployment: DeploymentArgs,
    /// Plan how to undeploy the whole instance
    #[arg(long, conflicts_with_all = ["template", "presets", "inputs_files", "inputs"])]
    pub undeploy: bool,
    /// Also overwrite properties that somebody edited by hand
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub adapt: AdaptArgs,
    #[command(flatten)]
    pub order: OrderArgs,
    /// Plan the generated workflow even if the template has its own
    #[arg(long)]
    pub generated: bool,
    /// Show all steps, even those that run nothing
    #[arg(long)]
    pub all_steps: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Write the plan to this file, all of it or nothing, instead of to standard output, which is
    /// also `-`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the plan; by default the one that the ending of the file names, else `human`
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<PlanFormat>,
    #[command(flatten)]
    pub choose: ChooseArgs,
}

/// Arguments of `cuvee instance run`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunInstanceArgs {
    /// The instance; it is made if there is none
    pub name: String,
    /// The template that the instance is to be a variant of; without one, the open orchestration is
    /// resumed, and the instance is repaired
    pub template: Option<PathBuf>,
    #[command(flatten)]
    pub deployment: DeploymentArgs,
    /// Run this plan, as `cuvee instance plan --format json` wrote it, instead of making one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["template", "undeploy"])]
    pub plan: Option<PathBuf>,
    /// Undeploy the whole instance
    #[arg(long, conflicts_with_all = ["template", "presets", "inputs_files", "inputs"])]
    pub undeploy: bool,
    /// Also overwrite properties that somebody edited by hand
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub order: OrderArgs,
    /// Adapt the instance whenever this file of variability inputs changes, until the process is
    /// ended; may be repeated
    #[arg(long = "watch", value_name = "FILE", requires = "yes", conflicts_with_all = ["plan", "undeploy", "dry_run", "rehearse"])]
    pub watched: Vec<PathBuf>,
    /// Hand the whole variant to this orchestrator, which deploys it in one step; it also takes it
    /// away again
    #[arg(long, value_name = "ORCHESTRATOR", conflicts_with_all = ["plan", "watched", "rehearse", "jobs", "runners", "providers", "retries", "retry_delay", "keep_going", "order", "parallel_hosts", "ignore", "managed"])]
    pub with: Option<OrchestratorFormat>,
    #[command(flatten)]
    pub how: RunArgs,
    /// The way to keep secrets of a new instance
    #[arg(long, value_name = "HOW", default_value = "digest")]
    pub secrets: SecretsFormat,
    /// Part of names whose values are secret in a new instance; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub sensitive: Vec<String>,
    #[command(flatten)]
    pub author: AuthorArgs,
    #[command(flatten)]
    pub choose: ChooseArgs,
}

/// How programs of nodes are called.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct CallArgs {
    /// The greatest number of steps that run side by side
    #[arg(short, long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,
    /// Program for implementations of a type of artifacts, or with an extension such as `.tf`; may
    /// be repeated
    #[arg(long = "runner", value_name = "TYPE=COMMAND", value_parser = assignment)]
    pub runners: Vec<(String, String)>,
    /// The provider of a node, or of all nodes of a type: `local`,
    /// `host:ADDRESS[:PORT][,user=USER][,key=FILE]` or `command:PATH`; may be repeated
    #[arg(long = "provider", value_name = "NODE=PROVIDER", value_parser = assignment)]
    pub providers: Vec<(String, String)>,
    /// The time limit of steps whose operations have no `timeout`, such as `90s` or `5m`
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    pub step_timeout: Option<Duration>,
}

/// How the steps of a plan are run.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub calls: CallArgs,
    /// Run without asking
    #[arg(short, long)]
    pub yes: bool,
    /// Check the plan without running it, and show for each step its program and the place where it
    /// would run
    #[arg(long)]
    pub dry_run: bool,
    /// Let each step fail in turn, in simulation only, and show the states that the nodes would be
    /// left in
    #[arg(long, conflicts_with = "dry_run")]
    pub rehearse: bool,
    /// The number of times that a failed step is tried again
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub retries: u32,
    /// The time before a failed step is tried again
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = timeout)]
    pub retry_delay: Duration,
    /// After a failure, go on with the steps that do not depend on it
    #[arg(long)]
    pub keep_going: bool,
    /// The outcome of steps that an earlier run left unfinished
    #[arg(long, value_name = "HOW")]
    pub interrupted: Option<InterruptedFormat>,
    /// Show the output of steps
    #[arg(long)]
    pub verbose: bool,
    /// Format of the events; json writes one event a line
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

/// The orchestrators that variants can be handed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrchestratorFormat {
    /// xOpera, which runs Ansible playbooks
    Opera,
    /// Unfurl, which runs scripts
    Unfurl,
}

impl From<OrchestratorFormat> for Orchestrator {
    fn from(named: OrchestratorFormat) -> Self {
        match named {
            OrchestratorFormat::Opera => Self::Opera,
            OrchestratorFormat::Unfurl => Self::Unfurl,
        }
    }
}

/// Arguments of `cuvee instance check`.
#[derive(Debug, Args)]
pub(crate) struct CheckInstanceArgs {
    /// The instance
    pub name: String,
    /// The nodes to check; by default all
    #[arg(value_name = "NODE")]
    pub nodes: Vec<String>,
    /// Program that tells whether a node runs, or the nodes of a type, in place of their operation
    /// `check`; may be repeated
    #[arg(long = "probe", value_name = "NODE=COMMAND", value_parser = assignment)]
    pub probes: Vec<(String, String)>,
    /// Record what differs: `cuvee instance run` then repairs it
    #[arg(long)]
    pub record: bool,
    /// Exit with 1 if something differs
    #[arg(long)]
    pub exit_code: bool,
    #[command(flatten)]
    pub calls: CallArgs,
    #[command(flatten)]
    pub deployment: DeploymentArgs,
    #[command(flatten)]
    pub author: AuthorArgs,
    /// Format of what was found
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

/// What became of steps that were interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InterruptedFormat {
    /// The steps run once more
    Retry,
    /// The steps failed
    Failed,
    /// The steps are done
    Done,
}

/// Arguments of `cuvee instance apply`.
#[derive(Debug, Args)]
pub(crate) struct ApplyInstanceArgs {
    /// The instance
    pub name: String,
    /// The plan, as `cuvee instance plan --format json` wrote it, or `-` for standard input
    #[arg(required_unless_present_any = ["resume", "cancel"], conflicts_with_all = ["resume", "cancel"])]
    pub plan: Option<PathBuf>,
    /// Record all steps as done
    #[arg(long, conflicts_with = "cancel")]
    pub assume_done: bool,
    /// Resume the open orchestration: show the remaining steps, and mark running ones as
    /// interrupted
    #[arg(long, conflicts_with = "cancel")]
    pub resume: bool,
    /// Cancel the open orchestration
    #[arg(long)]
    pub cancel: bool,
    /// Format of the steps that can be done
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
    #[command(flatten)]
    pub clock: ClockArgs,
    #[command(flatten)]
    pub author: AuthorArgs,
}

/// Arguments of `cuvee instance ready`.
#[derive(Debug, Args)]
pub(crate) struct ReadyInstanceArgs {
    /// The instance
    pub name: String,
    #[command(flatten)]
    pub clock: ClockArgs,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Format of the steps
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

/// Arguments of `cuvee instance begin`.
#[derive(Debug, Args)]
pub(crate) struct BeginInstanceArgs {
    /// The instance
    pub name: String,
    /// The workflow that runs
    #[arg(long, value_name = "NAME")]
    pub workflow: String,
    #[command(flatten)]
    pub clock: ClockArgs,
    #[command(flatten)]
    pub author: AuthorArgs,
}

/// The outcomes of a change.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OutcomeFormat {
    /// It succeeded
    Done,
    /// It failed
    Failed,
    /// Somebody cancelled it
    Cancelled,
}

/// Arguments of `cuvee instance finish`.
#[derive(Debug, Args)]
pub(crate) struct FinishInstanceArgs {
    /// The instance
    pub name: String,
    /// The outcome of the change
    #[arg(long, value_name = "HOW", default_value = "done")]
    pub outcome: OutcomeFormat,
    #[command(flatten)]
    pub clock: ClockArgs,
    #[command(flatten)]
    pub author: AuthorArgs,
}

/// Arguments of `cuvee instance record`.
#[derive(Debug, Args)]
pub(crate) struct RecordInstanceArgs {
    /// The instance
    pub name: String,
    /// The node that the report is about
    #[arg(conflicts_with_all = ["relation", "stream"])]
    pub node: Option<String>,
    /// The relation that the report is about: `relation.db@0.node.shop`, or `shop/db` if that is
    /// the only one
    #[arg(long, value_name = "RELATION", conflicts_with = "stream")]
    pub relation: Option<String>,
    /// The new state; `gone` if the node does not exist any more
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
    /// Value of an attribute, read as YAML; may be repeated; `http.port=80` for an attribute of a
    /// capability
    #[arg(long = "attribute", value_name = "NAME=VALUE", value_parser = assignment)]
    pub attributes: Vec<(String, String)>,
    /// An event of the node: a notification with its interface, such as `Health.failed`, or what
    /// triggers of policies wait for
    #[arg(long, value_name = "EVENT", requires = "node")]
    pub event: Option<String>,
    /// Value of an output, read as YAML; may be repeated; with `--event` an output of the
    /// notification
    #[arg(long = "output", value_name = "NAME=VALUE", value_parser = assignment)]
    pub outputs: Vec<(String, String)>,
    /// The step or part of the plan that the report belongs to
    #[arg(long, value_name = "STEP")]
    pub step: Option<String>,
    /// The outcome of the step; without this flag, the step begins
    #[arg(long, value_name = "HOW", requires = "step")]
    pub outcome: Option<StepOutcomeFormat>,
    /// Begin and claim the step, and print the token that its reports need until the lease is over
    #[arg(long, requires = "step", conflicts_with_all = ["outcome", "key", "stream"])]
    pub claim: bool,
    /// Duration of the claim, such as `90s` or `1h`
    #[arg(long, value_name = "TIME", requires = "claim", default_value = "10m", value_parser = timeout)]
    pub lease: Duration,
    /// The token that answered the claim of the step
    #[arg(long, value_name = "TOKEN", requires = "step")]
    pub token: Option<String>,
    /// A key for the report: a report with a known key is not recorded again
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// A note for people
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Keep attributes that the type does not declare as metadata
    #[arg(long)]
    pub undeclared: bool,
    /// Record the state even if it cannot follow the present one
    #[arg(long)]
    pub force: bool,
    /// Read reports from standard input, one JSON object a line, and answer each
    #[arg(long, conflicts_with_all = ["state", "attributes", "event", "outputs", "step", "outcome", "key", "note"])]
    pub stream: bool,
    /// End a stream at the first line that is rejected
    #[arg(long, requires = "stream")]
    pub fail_fast: bool,
    #[command(flatten)]
    pub clock: ClockArgs,
    #[command(flatten)]
    pub author: AuthorArgs,
}

/// The outcomes of a step.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum StepOutcomeFormat {
    /// It succeeded
    Done,
    /// It failed
    Failed,
}

/// Arguments of `cuvee instance edit`.
#[derive(Debug, Args)]
pub(crate) struct EditInstanceArgs {
    /// The instance
    pub name: String,
    /// Set a value, read as YAML, such as `nodes/shop/properties/port=80`
    #[arg(long, value_name = "PATH=VALUE", value_parser = assignment)]
    pub set: Option<(String, String)>,
    #[command(subcommand)]
    pub command: Option<EditCommand>,
    /// Edit even while an orchestration is open
    #[arg(long, global = true)]
    pub force: bool,
    #[command(flatten)]
    pub clock: ClockArgs,
    #[command(flatten)]
    pub author: AuthorArgs,
}

/// The kinds of edits.
#[derive(Debug, Subcommand)]
pub(crate) enum EditCommand {
    /// Adopt a node that was made elsewhere
    Adopt {
        /// The name of its type
        #[arg(value_name = "TYPE")]
        type_name: String,
        /// The name of the node
        id: String,
    },
    /// Remove a node from the model, without undeploying it
    Forget {
        /// The node
        id: String,
    },
    /// Rename a node
    Rename {
        /// The node
        old: String,
        /// The new name
        new: String,
    },
    /// Link an entity to something outside
    Link {
        /// The entity: a node, a group or a policy by its name, others by their identifiers, such
        /// as `relation.db@0.node.shop` or `input.size`
        entity: String,
        /// The name of the link and its URI; nothing after `=` removes the link
        #[arg(value_name = "KEY=URI", value_parser = renaming_or_none)]
        link: (String, String),
    },
}

/// Parses `KEY=URI`, where the URI may be empty.
fn renaming_or_none(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, uri)) if !key.is_empty() => Ok((key.to_owned(), uri.to_owned())),
        _ => renaming(text),
    }
}

/// Arguments of `cuvee instance diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffInstancesArgs {
    /// An instance, `NAME@REVISION`, or an exported file
    #[arg(value_name = "A")]
    pub from: String,
    /// The instance, or file, to compare it with
    #[arg(value_name = "B")]
    pub to: String,
    /// Exit with 1 if they differ
    #[arg(long)]
    pub exit_code: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Format of the differences
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

/// The forms in which an instance is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportedForm {
    /// The model as YAML
    Yaml,
    /// The model as JSON
    Json,
    /// Templates and inputs with their nodes, as the specification derives them
    Bindings,
    /// A plain template of exactly the target
    Template,
    /// The whole log, a record a line
    Log,
}

/// Arguments of `cuvee instance export`.
#[derive(Debug, Args)]
pub(crate) struct ExportInstanceArgs {
    #[command(flatten)]
    pub read: ReadInstanceArgs,
    /// The form to write; by default the one that the ending of the file names, else `yaml`
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ExportedForm>,
}

/// Arguments of `cuvee instance import`.
#[derive(Debug, Args)]
pub(crate) struct ImportInstanceArgs {
    /// The name of the instance
    pub name: String,
    /// The exported file: a model, or a log
    pub file: PathBuf,
    #[command(flatten)]
    pub clock: ClockArgs,
    #[command(flatten)]
    pub author: AuthorArgs,
}

/// Arguments of `cuvee instance verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyInstanceArgs {
    /// The instance
    pub name: String,
    /// Copy the records that are provably intact to this store
    #[arg(long, value_name = "DIR")]
    pub salvage: Option<PathBuf>,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Format of the findings
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

/// Arguments of `cuvee instance compact`.
#[derive(Debug, Args)]
pub(crate) struct NamedInstanceArgs {
    /// The instance
    pub name: String,
    #[command(flatten)]
    pub author: AuthorArgs,
}

/// Arguments of `cuvee instance delete`.
#[derive(Debug, Args)]
pub(crate) struct DeleteInstanceArgs {
    /// The instance
    pub name: String,
    /// Delete the instance even if it still has nodes
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub author: AuthorArgs,
}
