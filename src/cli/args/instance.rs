//! Defines the arguments of `cuvee instance`.

use super::{AdaptArgs, ChooseArgs, ListFormat, OrderArgs, PlanFormat, assignment, date, renaming};
use clap::{Args, Subcommand, ValueEnum};
use cuvee::deploy::instance::SecretsMode;
use jiff::Zoned;
use std::path::PathBuf;

/// Arguments of `cuvee instance`.
#[derive(Debug, Args)]
pub(crate) struct InstanceArgs {
    #[command(subcommand)]
    pub command: InstanceCommand,
}

/// What is done with instances.
#[derive(Debug, Subcommand)]
pub(crate) enum InstanceCommand {
    /// Make an instance of a variant, of which nothing is there yet
    Init(Box<InitInstanceArgs>),
    /// List the instances of a store
    List(ListInstancesArgs),
    /// Show an instance, or one thing in it
    Show(ShowInstanceArgs),
    /// Ask for nodes and what they have
    Query(QueryInstanceArgs),
    /// Show what has happened
    Log(LogInstanceArgs),
    /// Plan what turns an instance into a variant, or repairs it
    Plan(Box<PlanInstanceArgs>),
    /// Begin to carry out a plan, and show what can be done
    Apply(ApplyInstanceArgs),
    /// Begin a change without a plan
    Begin(BeginInstanceArgs),
    /// End a change without a plan
    Finish(FinishInstanceArgs),
    /// Record what has happened
    Record(Box<RecordInstanceArgs>),
    /// Change what is known of an instance, past who deploys it
    Edit(EditInstanceArgs),
    /// Compare two instances, or two revisions of one
    Diff(DiffInstancesArgs),
    /// Write an instance for other tools
    Export(ExportInstanceArgs),
    /// Make an instance of what was exported
    Import(ImportInstanceArgs),
    /// Check what is kept of an instance
    Verify(VerifyInstanceArgs),
    /// Make it faster to read
    Compact(NamedInstanceArgs),
    /// Forget an instance; nothing is undeployed by that
    Delete(DeleteInstanceArgs),
}

/// Where instances are kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Store")]
pub(crate) struct StoreArgs {
    /// Directory in which instances are kept; by default `.cuvee` [env: CUVEE_STORE]
    #[arg(long, global = true, value_name = "DIR")]
    pub store: Option<PathBuf>,
}

/// Who writes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Store")]
pub(crate) struct AuthorArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    /// Who says so; by default the name of the user
    #[arg(long, global = true, value_name = "NAME")]
    pub actor: Option<String>,
    /// How long to wait for who else is writing
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 10)]
    pub lock_timeout: u64,
    /// Write only where this is the last revision
    #[arg(long, global = true, value_name = "REVISION")]
    pub expect: Option<u64>,
}

/// When.
#[derive(Debug, Args)]
pub(crate) struct ClockArgs {
    /// What the clock says: an ISO 8601 date, with a time and a zone
    #[arg(long, global = true, value_name = "DATE", value_parser = date)]
    pub now: Option<Zoned>,
}

/// Values of topology inputs.
#[derive(Debug, Args)]
pub(crate) struct DeploymentArgs {
    /// File of values of topology inputs (YAML or JSON); may be repeated
    #[arg(long = "deployment-inputs", value_name = "FILE")]
    pub deployment_files: Vec<PathBuf>,
    /// Value of a topology input, read as YAML; may be repeated, wins over files
    #[arg(long = "deployment-input", value_name = "NAME=VALUE", value_parser = assignment)]
    pub deployment_inputs: Vec<(String, String)>,
}

/// How secrets are kept.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SecretsFormat {
    /// As keyed digests: that one changed is seen, not what it is
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
    /// What to call the instance: lower case letters, digits, `.`, `_`, `-`
    pub name: String,
    /// A service template, an archive (CSAR), a directory that holds a template under its usual
    /// name, or `-` for standard input
    pub template: PathBuf,
    #[command(flatten)]
    pub choose: ChooseArgs,
    #[command(flatten)]
    pub deployment: DeploymentArgs,
    /// How secrets are kept
    #[arg(long, value_name = "HOW", default_value = "digest")]
    pub secrets: SecretsFormat,
    /// Part of a name whose value is secret, beside those that always are; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub sensitive: Vec<String>,
    /// Who it is for, in its URI
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub tenant: String,
    /// What it runs in, in its URI
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub runtime: String,
    #[command(flatten)]
    pub author: AuthorArgs,
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

/// An instance as it is, or was.
#[derive(Debug, Args)]
pub(crate) struct ReadInstanceArgs {
    /// The instance, or a file that was exported
    pub name: String,
    /// As it was after this revision, or at this time
    #[arg(long, value_name = "REVISION|TIME")]
    pub at: Option<String>,
    /// Show attributes, too, while their node changes
    #[arg(long)]
    pub unstable: bool,
    /// Show what is secret, where it is kept
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
    /// One thing in it: a node, or `group.web`, `policy.spread`, `relation.db@0.node.shop`
    pub entity: Option<String>,
    /// Format of what is shown
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

/// Arguments of `cuvee instance query`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("asked").required(true).args(["path", "node_filter", "function"]))]
pub(crate) struct QueryInstanceArgs {
    #[command(flatten)]
    pub read: ReadInstanceArgs,
    /// What is asked for: `nodes[state=started]/attributes/public_address`
    pub path: Option<String>,
    /// Ask for the nodes that fulfil this file, a node filter of TOSCA
    #[arg(long, value_name = "FILE")]
    pub node_filter: Option<PathBuf>,
    /// Ask for the value of a function: `{get_attribute: [shop, url]}`
    #[arg(long, value_name = "CALL")]
    pub function: Option<String>,
    /// Format of the answer
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

/// Arguments of `cuvee instance log`.
#[derive(Debug, Args)]
pub(crate) struct LogInstanceArgs {
    /// The instance
    pub name: String,
    /// Only what came after this revision, or this time
    #[arg(long, value_name = "REVISION|TIME")]
    pub since: Option<String>,
    /// Only what is about this: a node, or `group.web`; may be repeated
    #[arg(long, value_name = "ENTITY")]
    pub entity: Vec<String>,
    /// Only events of this kind, such as `state`; may be repeated
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Only what happened in the orchestration that this revision began
    #[arg(long, value_name = "REVISION")]
    pub orchestration: Option<u64>,
    /// So many records at most
    #[arg(long, value_name = "COUNT")]
    pub limit: Option<u64>,
    /// Wait for what comes
    #[arg(long)]
    pub follow: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Format of the records; as JSON they are lines, as they stand in the log
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

/// Arguments of `cuvee instance plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanInstanceArgs {
    /// The instance
    pub name: String,
    /// The template that it is to be a variant of; by default that of which it is one, and without
    /// a choice the variant that it is meant to be
    pub template: Option<PathBuf>,
    #[command(flatten)]
    pub choose: ChooseArgs,
    #[command(flatten)]
    pub deployment: DeploymentArgs,
    /// Plan how all of it goes
    #[arg(long, conflicts_with_all = ["template", "presets", "inputs_files", "inputs"])]
    pub undeploy: bool,
    /// Plan over what somebody changed past who deploys it
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub adapt: AdaptArgs,
    #[command(flatten)]
    pub order: OrderArgs,
    /// Plan what is generated also where the template has a workflow of its own
    #[arg(long)]
    pub generated: bool,
    /// Show all steps, those that run nothing, too
    #[arg(long)]
    pub all_steps: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Write the plan to this file, all of it or nothing, instead of to standard output, which is
    /// also `-`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the plan; by default what the file is called after, else `human`
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<PlanFormat>,
}

/// Arguments of `cuvee instance apply`.
#[derive(Debug, Args)]
pub(crate) struct ApplyInstanceArgs {
    /// The instance
    pub name: String,
    /// The plan, as `cuvee instance plan --format json` wrote it, or `-` for standard input
    #[arg(required_unless_present_any = ["resume", "cancel"], conflicts_with_all = ["resume", "cancel"])]
    pub plan: Option<PathBuf>,
    /// Record all of it as done
    #[arg(long, conflicts_with = "cancel")]
    pub assume_done: bool,
    /// Go on with what was begun: show what is left, and mark as interrupted what was running
    #[arg(long, conflicts_with = "cancel")]
    pub resume: bool,
    /// Give up what was begun
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

/// How a change ends.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OutcomeFormat {
    /// As it should
    Done,
    /// It went wrong
    Failed,
    /// Somebody called it off
    Cancelled,
}

/// Arguments of `cuvee instance finish`.
#[derive(Debug, Args)]
pub(crate) struct FinishInstanceArgs {
    /// The instance
    pub name: String,
    /// How it ended
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
    /// The node that it is about
    #[arg(conflicts_with_all = ["relation", "stream"])]
    pub node: Option<String>,
    /// The relation that it is about: `relation.db@0.node.shop`, or `shop/db` where that is the only
    /// one
    #[arg(long, value_name = "RELATION", conflicts_with = "stream")]
    pub relation: Option<String>,
    /// Its state; `gone` where it is no more
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
    /// What an attribute is, read as YAML; may be repeated; `http.port=80` for one of a capability
    #[arg(long = "attribute", value_name = "NAME=VALUE", value_parser = assignment)]
    pub attributes: Vec<(String, String)>,
    /// What an output came to, read as YAML; may be repeated
    #[arg(long = "output", value_name = "NAME=VALUE", value_parser = assignment)]
    pub outputs: Vec<(String, String)>,
    /// The step or part of the plan that it belongs to
    #[arg(long, value_name = "STEP")]
    pub step: Option<String>,
    /// How that step ended; without it, it begins
    #[arg(long, value_name = "HOW", requires = "step")]
    pub outcome: Option<StepOutcomeFormat>,
    /// Names this report: what is recorded under it already is not recorded again
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// What people are told
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Keep attributes that the type does not have as metadata
    #[arg(long)]
    pub undeclared: bool,
    /// Record also a state that cannot follow
    #[arg(long)]
    pub force: bool,
    /// Read reports from standard input, an object of JSON a line, and answer each
    #[arg(long, conflicts_with_all = ["state", "attributes", "outputs", "step", "outcome", "key", "note"])]
    pub stream: bool,
    /// End a stream at the first line that is rejected
    #[arg(long, requires = "stream")]
    pub fail_fast: bool,
    #[command(flatten)]
    pub clock: ClockArgs,
    #[command(flatten)]
    pub author: AuthorArgs,
}

/// How a step ends.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum StepOutcomeFormat {
    /// As it should
    Done,
    /// It went wrong
    Failed,
}

/// Arguments of `cuvee instance edit`.
#[derive(Debug, Args)]
pub(crate) struct EditInstanceArgs {
    /// The instance
    pub name: String,
    /// Give something this value, read as YAML: `node.shop/property.port=80`
    #[arg(long, value_name = "PATH=VALUE", value_parser = assignment)]
    pub set: Option<(String, String)>,
    #[command(subcommand)]
    pub command: Option<EditCommand>,
    /// Edit also while something is going on
    #[arg(long, global = true)]
    pub force: bool,
    #[command(flatten)]
    pub clock: ClockArgs,
    #[command(flatten)]
    pub author: AuthorArgs,
}

/// What is edited.
#[derive(Debug, Subcommand)]
pub(crate) enum EditCommand {
    /// Take in a node that was made elsewhere
    Adopt {
        /// The name of its type
        #[arg(value_name = "TYPE")]
        type_name: String,
        /// What to call it
        id: String,
    },
    /// Let a node go, which stays what it is
    Forget {
        /// The node
        id: String,
    },
    /// Call a node otherwise
    Rename {
        /// The node
        old: String,
        /// What it is called from now on
        new: String,
    },
    /// Say to what outside something belongs
    Link {
        /// What it is: a node, a group or a policy by its name, else as elements are named, such as
        /// `relation.db@0.node.shop` or `input.size`
        entity: String,
        /// What that is to it, and what it is called; nothing behind `=` where it belongs to it no
        /// more
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
    /// An instance, `NAME@REVISION`, or a file that was exported
    #[arg(value_name = "A")]
    pub from: String,
    /// What it is compared with
    #[arg(value_name = "B")]
    pub to: String,
    /// Exit with 1 when they differ
    #[arg(long)]
    pub exit_code: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Format of the differences
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

/// In which form an instance is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportedForm {
    /// The model as YAML
    Yaml,
    /// The same as JSON
    Json,
    /// Templates and inputs with their nodes, as the specification derives them
    Bindings,
    /// A plain template of exactly what it is meant to be
    Template,
    /// All that has happened, a record a line
    Log,
}

/// Arguments of `cuvee instance export`.
#[derive(Debug, Args)]
pub(crate) struct ExportInstanceArgs {
    #[command(flatten)]
    pub read: ReadInstanceArgs,
    /// What is written
    #[arg(long, value_name = "FORMAT", default_value = "yaml")]
    pub format: ExportedForm,
}

/// Arguments of `cuvee instance import`.
#[derive(Debug, Args)]
pub(crate) struct ImportInstanceArgs {
    /// What to call the instance
    pub name: String,
    /// What was exported: a model, or a log
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
    /// Copy what is provably whole to this store
    #[arg(long, value_name = "DIR")]
    pub salvage: Option<PathBuf>,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Format of what is found
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
    /// Also where nodes are there
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub author: AuthorArgs,
}
