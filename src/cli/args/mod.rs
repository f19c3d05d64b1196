//! Defines the arguments, and the help that describes them.

pub(crate) mod convert;
pub(crate) mod instance;
pub(crate) mod substitute;

use super::manual;
use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{
    ArgGroup, Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum,
    ValueHint,
};
use convert::ConvertArgs;
use cuvee::diagnostic::{Code, did_you_mean};
use cuvee::explore::{Goal, Projection, Query};
use cuvee::parts::solve::SolverKind;
use instance::{DeploymentArgs, InstanceArgs};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Zoned};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use substitute::SubstituteArgs;

/// Resolves Variability4TOSCA: a variable service template and a preset in, the plain TOSCA
/// template of that variant out
#[derive(Debug, Parser)]
#[command(name = "cuvee", version)]
#[command(
    after_help = "Exit codes: 0 done; 1 the template, the inputs or the variant was rejected; 2 wrong use."
)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub watch: WatchArgs,
    #[command(flatten)]
    pub messages: Messages,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Resolve one variant of a template
    Resolve(ResolveArgs),
    /// Run variability tests
    Test(TestArgs),
    /// Show the variability options in effect, and where each comes from
    #[command(after_help = OPTIONS_NOTE)]
    Options(OptionsArgs),
    /// Explain a diagnostic code, or list all codes
    ExplainCode(ExplainCodeArgs),
    /// List the inputs of a template, their cases, and the elements that each influences
    Inputs(InputsArgs),
    /// List, count or sample the variants of a template
    Variants(VariantsArgs),
    /// Analyse all variants: find elements that every variant or none has, and constraints that are
    /// in vain
    Analyze(AnalyzeArgs),
    /// Explain why an element is present or absent, or why there is no variant, and how to change
    /// that
    Explain(ExplainArgs),
    /// Draw the topology, a variant in it, or the difference between two variants
    Graph(GraphArgs),
    /// Show which elements are present with which preset
    Matrix(MatrixArgs),
    /// Write a page with presets, topology, plans, differences and a configurator
    Report(ReportArgs),
    /// Replace nodes by templates that implement them, and select nodes and targets from an
    /// inventory
    ///
    /// Each node with the directive `substitute` is replaced by the nodes of a template from the
    /// catalogue. Nodes to select and targets of requirements are found all at once: as many as
    /// possible, with as few nodes of the inventory as possible. docs/substitution.md says more.
    Substitute(Box<SubstituteArgs>),
    /// Plan how a variant is deployed, undeployed, or runs one of its workflows
    ///
    /// The plan lists the operations, their order, and the hosts on which they run; none of them is
    /// called. With --from and --to, the plan turns one variant into another. docs/plans.md says
    /// more.
    Plan(Box<PlanArgs>),
    /// Keep instances of variants: make them, plan for them, record reports, ask for values
    Instance(InstanceArgs),
    /// Compare two variants of a template, or two plain templates
    #[command(override_usage = DIFF_USAGE)]
    Diff(DiffArgs),
    /// Serve an editor: what is wrong as it is typed, over the Language Server Protocol
    ///
    /// The editor starts the command and speaks with it over standard input and output.
    /// docs/editors.md says how each editor is told to.
    #[cfg(feature = "lsp")]
    Lsp(LspArgs),
    /// Print the script that completes command lines in a shell
    Completions(CompletionsArgs),
    /// Print the words that may stand at the cursor
    #[command(hide = true)]
    Complete(CompleteArgs),
    /// Print the manual, or its page for one command
    Man(ManArgs),
    /// Write definitions of TOSCA 1.0, which are XML, as templates of TOSCA Simple Profile 1.3, and
    /// variants of templates as definitions
    ///
    /// Messages name the parts that have no counterpart, and the report of --loss lists all of
    /// them. docs/tosca-1.0.md says more.
    Convert(ConvertArgs),
    /// Write the formula of a template for solvers, or the feature model of its inputs
    Export(ExportArgs),
    /// Write variability inputs and constraints for a feature model
    Import(ImportArgs),
    /// Write a first variable template out of a plain one
    Init(InitArgs),
    /// List the types of a template, or show the effective definition of one, and where each part
    /// of it comes from
    Types(TypesArgs),
    /// Assign technologies to the nodes of a plain template
    Assign(AssignArgs),
    /// Write out the conditions that options, default conditions, pruning and technology rules add
    ///
    /// The template that is written is in mode `manual`: it no longer depends on defaults of its
    /// version, and resolves to the same for all inputs. Each added condition has a comment that
    /// says where it comes from. docs/options.md says more.
    Enrich(EnrichArgs),
    /// Rate the technologies that a plain template names
    Quality(QualityArgs),
    /// Report everything that is wrong with templates, in all their variants
    Validate(ValidateArgs),
}

impl Command {
    /// Whether the command watches the clock itself, and has a result when the time is over.
    pub(crate) fn keeps_time(&self) -> bool {
        matches!(self, Self::Resolve(_) | Self::Substitute(_))
    }
}

/// The time limit for an answer, and whether to print how long each phase takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Time")]
pub(crate) struct WatchArgs {
    /// Exit with 1 if there is no answer in this time, such as `30s` or `5m`; `resolve` and
    /// `substitute` return the best result found by then
    #[arg(long, global = true, value_name = "TIME", value_parser = timeout)]
    pub timeout: Option<Duration>,
    /// Print to standard error how long each phase takes
    #[arg(long, global = true)]
    pub timings: bool,
}

/// How diagnostics are shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Messages")]
pub(crate) struct Messages {
    /// Format of errors and warnings; json writes one object a line
    #[arg(long, global = true, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
    /// Whether to colour errors and warnings
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Show neither warnings nor progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    #[default]
    Human,
    Json,
}

/// The template and the choice.
#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    /// A service template, an archive (CSAR), a directory that holds a template under its usual
    /// name, or `-` for standard input
    pub template: PathBuf,
    #[command(flatten)]
    pub choose: ChooseArgs,
}

/// The choice: presets, inputs, the clock and the solver.
#[derive(Clone, Debug, Args)]
pub(crate) struct ChooseArgs {
    /// Variability preset; repeat it or separate several by commas, later ones win [env:
    /// CUVEE_PRESETS]
    #[arg(long = "preset", value_name = "NAME", value_parser = name_list)]
    pub presets: Vec<String>,
    /// File of variability inputs (YAML, JSON or FeatureIDE extended XML), or `-` for standard
    /// input; may be repeated, wins over presets
    #[arg(long = "inputs", value_name = "FILE")]
    pub inputs_files: Vec<PathBuf>,
    /// Variability input, its value read as YAML; may be repeated, wins over files [env:
    /// CUVEE_INPUT_<NAME>]
    #[arg(short = 'i', long = "input", value_name = "NAME=VALUE", value_parser = assignment)]
    pub inputs: Vec<(String, String)>,
    #[command(flatten)]
    pub options: OptionArgs,
    #[command(flatten)]
    pub imports: LookupArgs,
    /// The present time: an ISO 8601 date, with a time and a zone if they matter
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub now: Option<Zoned>,
    /// The solver to use instead of the fastest one; every solver finds the same variant
    #[arg(long, value_name = "NAME")]
    pub solver: Option<Solver>,
}

/// Where imports are looked for.
#[derive(Clone, Debug, Args)]
pub(crate) struct LookupArgs {
    /// Local file or directory to read instead of a URL and all URLs below it, for imports; may be
    /// repeated, the longest URL wins
    #[arg(long = "map", value_name = "URL=PATH", value_parser = mapping)]
    pub mappings: Vec<(String, PathBuf)>,
    /// Directory in which profiles of TOSCA 2.0 are looked for by their names; may be repeated
    #[arg(long = "profile-path", value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = existing_directory)]
    pub profile_paths: Vec<PathBuf>,
}

/// The options by which a template is read.
#[derive(Clone, Debug, Args)]
pub(crate) struct OptionArgs {
    /// Variability option; wins over the template's; may be repeated
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// Revision of the specification that the template follows, such as `2025-07`; wins over the
    /// template's option `edition`
    #[arg(long, value_name = "EDITION")]
    pub edition: Option<String>,
    /// Let this command of the shell answer for a technology plugin that the template names, from
    /// standard input to standard output; may be repeated
    #[arg(long = "plugin", value_name = "NAME=COMMAND", value_parser = plugin)]
    pub plugins: Vec<(String, String)>,
    /// The time that an answer of a plugin may take
    #[arg(long, value_name = "TIME", value_parser = timeout, default_value = "10s", requires = "plugins")]
    pub plugin_timeout: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct ResolveArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// Write the result to this file, all of it or nothing, instead of to standard output, which is
    /// also `-`; if the name ends in `.csar` or `.zip`, as an archive. Relative names of files in
    /// the result are adapted to its new place
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the result into this directory, with the files that it names and the files that these
    /// name
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub output_dir: Option<PathBuf>,
    /// Also pack hidden files and the tests beside the template into the archive
    #[arg(long, requires = "output")]
    pub all_files: bool,
    /// Format of the result; by default the one that the ending of the file names, else `yaml`; in an
    /// archive it is always yaml
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ResultFormat>,
    /// Keep the types of nodes and write `technology`, instead of writing the types that
    /// technologies assign
    #[arg(long)]
    pub edmm: bool,
    #[command(flatten)]
    pub evaluate: EvaluateArgs,
    /// Exit with 0 even if the time of --timeout was too short to prove that the variant is the
    /// best
    #[arg(long, requires = "timeout")]
    pub accept_unproven: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    Yaml,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Solver {
    #[cfg(feature = "varisat")]
    Varisat,
    Batsat,
}

impl From<Solver> for SolverKind {
    fn from(solver: Solver) -> Self {
        match solver {
            #[cfg(feature = "varisat")]
            Solver::Varisat => Self::Varisat,
            Solver::Batsat => Self::Batsat,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// A directory with a service template and `tests`, a tree of cases, or a single case
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dirs: Vec<PathBuf>,
    /// Run only cases that have this text in the path of their directory
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub filter: Option<String>,
    #[command(flatten)]
    pub imports: LookupArgs,
    /// Show how results differ from the expected ones, and write them as the expected ones
    #[arg(long)]
    pub update: bool,
    /// Format of the report
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: TestFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    Human,
    Json,
    Junit,
}

const OPTIONS_NOTE: &str = "\
Options are the same whatever is chosen: of the flags that other commands have, only --option and
--edition matter here.";

#[derive(Debug, Args)]
pub(crate) struct OptionsArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// Format of the list
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
    /// Also list the options that keep their built-in values
    #[arg(long)]
    pub all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    Human,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct InputsArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// Format of the list
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// The identifier of an element, such as `node.shop`; without one, the variant as a whole is
    /// explained
    pub element: Option<String>,
    /// The depth to which reasons are given; by default 4, and all of them as json
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,
    /// Exit with 1 if there is no variant, or no variant has the element
    #[arg(long)]
    pub strict: bool,
    /// Format of the explanation
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct AnalyzeArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// Exit with 1 if there is no variant, if no variant has some element, or if something is in
    /// vain
    #[arg(long)]
    pub strict: bool,
    /// Format of the analysis
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct VariantsArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// List at most this many variants
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = limit)]
    pub limit: usize,
    /// The elements that tell variants apart: all of them, or nodes only
    #[arg(long, value_name = "ELEMENTS", default_value = "all")]
    pub projection: ProjectionArg,
    /// Take only variants in which this variability condition holds, such as `{node_presence:
    /// cache}`; may be repeated
    #[arg(long = "where", value_name = "CONDITION")]
    pub conditions: Vec<String>,
    /// Count the variants instead of listing them
    #[arg(long, group = "which")]
    pub count: bool,
    /// Draw this many different variants at random, each with the same probability
    #[arg(long, value_name = "N", group = "which")]
    pub sample: Option<u64>,
    /// The seed of the random numbers of a sample
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "sample")]
    pub seed: u64,
    /// List a small set that covers every combination of cases of any two open inputs
    #[arg(long, group = "which")]
    pub pairwise: bool,
    /// List a small set that covers every combination of cases of this many open inputs
    #[arg(long, value_name = "T", group = "which", value_parser = clap::value_parser!(u8).range(1..=6))]
    pub twise: Option<u8>,
    /// List only the best variant over all open inputs
    #[arg(long, value_name = "WHAT", group = "which")]
    pub minimize: Option<GoalArg>,
    /// List the variant of each variability preset
    #[arg(long, group = "which", conflicts_with = "presets")]
    pub all_presets: bool,
    /// The number of steps that counting may take; after them, the count is a lower bound and says
    /// so
    #[arg(long, value_name = "STEPS", default_value_t = Query::default().effort)]
    pub effort: u64,
    /// Write each variant's resolved template into this directory, and a manifest; relative names
    /// of files are adapted to their new place
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "count")]
    pub output_dir: Option<PathBuf>,
    /// Format of the list; csv has a line for each variant, with the values of the open inputs
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: VariantsFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VariantsFormat {
    Human,
    Json,
    Csv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProjectionArg {
    Nodes,
    All,
}

impl From<ProjectionArg> for Projection {
    fn from(projection: ProjectionArg) -> Self {
        match projection {
            ProjectionArg::Nodes => Self::Nodes,
            ProjectionArg::All => Self::All,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GoalArg {
    Weight,
    Count,
    Technologies,
}

impl From<GoalArg> for Goal {
    fn from(goal: GoalArg) -> Self {
        match goal {
            GoalArg::Weight => Self::Weight,
            GoalArg::Count => Self::Count,
            GoalArg::Technologies => Self::Technologies,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExplainCodeArgs {
    /// The code: the word in brackets behind `error` or `warning`
    #[arg(value_parser = code)]
    pub code: Option<Code>,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// Show how two variants differ, beginning with this one: presets, or files of inputs if no
    /// preset has that name, separated by commas; by default the choice of the other flags
    #[arg(long, value_name = "CHOICE", value_parser = NonEmptyStringValueParser::new())]
    pub from: Option<String>,
    /// The other variant: as for --from
    #[arg(long, value_name = "CHOICE", value_parser = NonEmptyStringValueParser::new())]
    pub to: Option<String>,
    /// Leave out absent elements; without a choice, those absent from the variant of the defaults
    #[arg(long)]
    pub present_only: bool,
    /// Colour by the states of an instance: `instance:NAME`, also `instance:NAME@REVISION`, or an
    /// exported file
    #[arg(long, value_name = "SOURCE", conflicts_with_all = ["from", "to"], value_hint = ValueHint::FilePath)]
    pub state: Option<String>,
    /// Directory in which instances are kept; by default `.cuvee` [env: CUVEE_STORE]
    #[arg(long, value_name = "DIR", requires = "state")]
    pub store: Option<PathBuf>,
    /// Draw each node by itself, even in a large SVG, where nodes that are alike are otherwise
    /// drawn as one
    #[arg(long)]
    pub expand: bool,
    /// Write the drawing to this file, all of it or nothing, instead of to standard output,
    /// which is also `-`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the drawing; by default the one that the ending of the file names (`.mmd`, `.dot`,
    /// `.svg`, `.json`), else `mermaid`
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<DrawingFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DrawingFormat {
    Mermaid,
    Dot,
    Svg,
    Json,
}

/// Whether functions are evaluated, and the values of topology inputs for that.
#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// Replace those functions of TOSCA by their values that use only topology inputs and
    /// properties
    #[arg(long)]
    pub evaluate: bool,
    /// File of values of topology inputs (YAML or JSON) for evaluating functions; may be repeated
    #[arg(long = "deployment-inputs", value_name = "FILE", requires = "evaluate")]
    pub deployment_files: Vec<PathBuf>,
    /// Value of a topology input, read as YAML, for evaluating functions; may be repeated, wins
    /// over files
    #[arg(long = "deployment-input", value_name = "NAME=VALUE", value_parser = assignment, requires = "evaluate")]
    pub deployment_inputs: Vec<(String, String)>,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// A service template, an archive (CSAR), a directory that holds a template under its usual
    /// name, or `-` for standard input
    #[arg(required_unless_present_all = ["from", "to"])]
    pub template: Option<PathBuf>,
    /// The workflow: `deploy`, `undeploy`, or one of the template
    #[arg(value_name = "WORKFLOW", default_value = "deploy")]
    pub workflow: String,
    /// Plan an update that begins with this variant: presets, or files of inputs if no preset has
    /// that name, separated by commas; by default the choice of the other flags. Without a
    /// template, a file with a plain template
    #[arg(long, value_name = "CHOICE", value_parser = NonEmptyStringValueParser::new())]
    pub from: Option<String>,
    /// Plan an update that ends with this variant: as for --from
    #[arg(long, value_name = "CHOICE", value_parser = NonEmptyStringValueParser::new())]
    pub to: Option<String>,
    #[command(flatten)]
    pub adapt: AdaptArgs,
    /// List the workflows instead of planning one
    #[arg(long)]
    pub list: bool,
    /// Plan the action of a trigger of a policy, instead of a workflow
    #[arg(long, value_name = "POLICY.TRIGGER", conflicts_with_all = ["workflow", "from", "to", "list", "generated"])]
    pub trigger: Option<String>,
    /// Input of the workflow, its value read as YAML; may be repeated
    #[arg(short = 'w', long = "workflow-input", value_name = "NAME=VALUE", value_parser = assignment)]
    pub workflow_inputs: Vec<(String, String)>,
    /// Plan the generated `deploy` or `undeploy` even if the template has its own
    #[arg(long)]
    pub generated: bool,
    #[command(flatten)]
    pub evaluate: EvaluateArgs,
    #[command(flatten)]
    pub order: OrderArgs,
    #[command(flatten)]
    pub simulate: SimulateArgs,
    /// Show all steps, even those that run nothing
    #[arg(long)]
    pub all_steps: bool,
    /// Also show sensitive values
    #[arg(long)]
    pub reveal: bool,
    /// Write the plan to this file, all of it or nothing, instead of to standard output, which is
    /// also `-`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the plan; by default the one that the ending of the file names (`.json`, `.mmd`,
    /// `.dot`, `.svg`, `.mk`, `.bpmn`, `.yaml`), else `human`
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<PlanFormat>,
    // The flags that other commands share are last in the help. They apply to both sides.
    #[command(flatten)]
    pub choose: ChooseArgs,
}

/// The way in which one variant becomes another.
#[derive(Debug, Args)]
#[command(next_help_heading = "From one variant to another")]
pub(crate) struct AdaptArgs {
    /// Keep a node running that has another name now; may be repeated
    #[arg(long, value_name = "OLD=NEW", value_parser = renaming)]
    pub moved: Vec<(String, String)>,
    /// Replace this node by a new one, whatever differs; may be repeated
    #[arg(long, value_name = "NODE")]
    pub recreate: Vec<String>,
    /// Remove everything that goes before adding anything new
    #[arg(long)]
    pub removals_first: bool,
    /// Exit with 1 if there is something to do
    #[arg(long)]
    pub exit_code: bool,
}

/// The simulation of a plan.
#[derive(Debug, Args)]
#[command(next_help_heading = "Simulation")]
pub(crate) struct SimulateArgs {
    /// Simulate the plan round by round, without running anything; exit with 1 if the workflow
    /// fails
    #[arg(long)]
    pub simulate: bool,
    /// Let this step fail: its identifier as JSON shows it, such as `node.shop/start`, or the
    /// beginning of that; may be repeated
    #[arg(long, value_name = "STEP", requires = "simulate")]
    pub fail: Vec<String>,
    /// The states before the plan: `instance:NAME`, also `instance:NAME@REVISION`, or a file (YAML
    /// or JSON) such as `nodes: {shop: {state: started}}`, which may also have values of attributes
    #[arg(long, value_name = "SOURCE")]
    pub state: Option<PathBuf>,
    /// Directory in which instances are kept; by default `.cuvee` [env: CUVEE_STORE]
    #[arg(long, value_name = "DIR", requires = "state")]
    pub store: Option<PathBuf>,
    /// The result of conditions that depend on unknown values
    #[arg(long, value_name = "OUTCOME", default_value = "met", requires = "simulate")]
    pub assume: AssumeFormat,
}

/// Whether conditions that depend on unknown values count as met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AssumeFormat {
    Met,
    Unmet,
}

/// Deviations from the order that the specification prescribes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Order")]
pub(crate) struct OrderArgs {
    /// The relations that order steps: all relations order all steps, or with `parallel`
    /// connections order only starts
    #[arg(long, value_name = "ORDER", default_value = "strict")]
    pub order: OrderFormat,
    /// Run operations on one host side by side
    #[arg(long)]
    pub parallel_hosts: bool,
    /// Ignore this relation when steps are ordered; may be repeated
    #[arg(long, value_name = "RELATION")]
    pub ignore: Vec<String>,
    /// Deploy this node step by step although the orchestrator could provide it; may be repeated
    #[arg(long, value_name = "NODE")]
    pub managed: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderFormat {
    Strict,
    Parallel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    Human,
    Json,
    Mermaid,
    Dot,
    Svg,
    Make,
    Bpmn,
    Yaml,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// Also show the states of an instance: `instance:NAME`, also `instance:NAME@REVISION`, or an
    /// exported file
    #[arg(long, value_name = "SOURCE", value_hint = ValueHint::FilePath)]
    pub state: Option<String>,
    /// Directory in which instances are kept; by default `.cuvee` [env: CUVEE_STORE]
    #[arg(long, value_name = "DIR", requires = "state")]
    pub store: Option<PathBuf>,
    /// Also show sensitive values
    #[arg(long)]
    pub reveal: bool,
    /// Write the page to this file, all of it or nothing, instead of to standard output,
    /// which is also `-`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MatrixArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// The elements to show
    #[arg(long, value_name = "WHICH", default_value = "nodes")]
    pub elements: Elements,
    /// Format of the matrix
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: MatrixFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Elements {
    Nodes,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MatrixFormat {
    Human,
    Json,
    Csv,
    Markdown,
}

/// The two sides of a comparison.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("sides").args(["from", "to", "other"]).required(true).multiple(true)))]
// clap leaves the group of an `Args` struct that flattens others empty. It uses that group to
// decide whether the struct was given, so the groups are filled here.
#[command(mut_group("SelectArgs", |select| select.arg("template")), mut_group("ChooseArgs", |choose| choose.args(["presets", "inputs_files", "inputs", "mappings", "profile_paths", "now", "solver"]).requires("template")), mut_group("OptionArgs", |options| options.requires("template")))]
#[command(mut_arg("template", |template| template.required(false).index(1)))]
pub(crate) struct DiffArgs {
    // These choices apply to both sides.
    #[command(flatten)]
    pub select: Option<SelectArgs>,
    /// Another file, to compare both as they are: plain templates, or definitions of TOSCA 1.0,
    /// which are converted to templates first
    #[arg(index = 2, value_name = "FILE", requires = "template", conflicts_with_all = ["from", "to", "ChooseArgs", "OptionArgs"])]
    pub other: Option<PathBuf>,
    /// The old variant: presets, or files of inputs if no preset has that name, separated by
    /// commas; later ones win, and files win over presets; by default the choice of the other
    /// flags. Without a template, a file with a plain template
    #[arg(long, value_name = "CHOICE", required_unless_present = "template", value_parser = NonEmptyStringValueParser::new())]
    pub from: Option<String>,
    /// The new variant: as for --from
    #[arg(long, value_name = "CHOICE", required_unless_present = "template", value_parser = NonEmptyStringValueParser::new())]
    pub to: Option<String>,
    /// Exit with 1 if there is a difference
    #[arg(long)]
    pub exit_code: bool,
    /// Format of the list
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

const DIFF_USAGE: &str = "\
cuvee diff [OPTIONS] <TEMPLATE> [--from <CHOICE>] [--to <CHOICE>]
       cuvee diff [OPTIONS] <FILE> <FILE>
       cuvee diff [OPTIONS] --from <FILE> --to <FILE>";

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct CompleteArgs {
    /// The number of the word that ends at the cursor, if words are given; else the text before the
    /// cursor and the text behind it
    #[arg(long)]
    pub index: Option<usize>,
    /// The command line
    #[arg(last = true)]
    pub words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command
    #[arg(value_parser = command_name)]
    pub command: Option<String>,
    /// A subcommand of the command, such as `init` of `instance`
    pub subcommand: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// Format of the export; by default the one that the ending of the file names (`.cnf`, `.wcnf`,
    /// `.uvl`, `.xml`)
    #[arg(long, value_name = "FORMAT", required_unless_present = "output")]
    pub format: Option<ExportFormat>,
    /// Write to this file, all of it or nothing, instead of to standard output,
    /// which is also `-`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// The conditions as DIMACS CNF, for SAT solvers and model counters
    Dimacs,
    /// The conditions and the optimisation as WCNF, for MaxSAT solvers
    Wcnf,
    /// The feature model of the inputs, in the Universal Variability Language
    Uvl,
    /// The feature model of the inputs, as `model.xml` of FeatureIDE
    Featureide,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A feature model (`model.xml` of FeatureIDE, or UVL), or `-` for standard input
    pub model: PathBuf,
    /// Write a whole template, in which each feature that is an input is a node
    #[arg(long)]
    pub nodes: bool,
    /// Write to this file, all of it or nothing, instead of to standard output,
    /// which is also `-`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// A plain service template, a directory that holds one under its usual name, or `-` for
    /// standard input
    pub template: PathBuf,
    /// Write to this file, which must not exist yet, instead of to standard output, which is also
    /// `-`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TypesArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// The name of a type, full, shorthand or qualified; of TOSCA 1.0 also `{namespace}name`
    pub name: Option<String>,
    /// Include the non-normative types of chapter 9 of TOSCA Simple Profile
    #[arg(long)]
    pub non_normative: bool,
    /// Format of the list or the definition
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct AssignArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// Write the template with its technologies to this file, all of it or nothing; `-` is standard
    /// output, to which nothing else is written then
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the output: a table, the same as json, or the template with its technologies
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: AssignFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AssignFormat {
    Human,
    Json,
    Yaml,
}

#[derive(Debug, Args)]
pub(crate) struct EnrichArgs {
    /// A service template, an archive (CSAR), a directory that holds a template under its usual
    /// name, or `-` for standard input
    pub template: PathBuf,
    #[command(flatten)]
    pub options: OptionArgs,
    #[command(flatten)]
    pub imports: LookupArgs,
    /// Write the result to this file, all of it or nothing; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the output: the template, or what is added to it as data; by default the one that
    /// the ending of the file names, else `yaml`
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ResultFormat>,
}

#[derive(Debug, Args)]
pub(crate) struct QualityArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// The value of a node that has no technology, or one that no rule supports
    #[arg(long, value_name = "WEIGHT", default_value_t = 0.0, value_parser = penalty, allow_negative_numbers = true)]
    pub penalty: f64,
    /// Leave such nodes out of the mean
    #[arg(long, conflicts_with = "penalty")]
    pub leave_out: bool,
    /// Format of the list
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,
}

fn penalty(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| "a penalty is a number".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Service templates, archives (CSAR), directories that hold a template under its usual name or
    /// a library of types, or `-` for standard input
    #[arg(required = true, value_name = "TEMPLATE")]
    pub templates: Vec<PathBuf>,
    #[command(flatten)]
    pub choose: ChooseArgs,
    /// Include the non-normative types of chapter 9 of TOSCA Simple Profile
    #[arg(long)]
    pub non_normative: bool,
    /// Skip files that have no `tosca_definitions_version`, such as other YAML
    #[arg(long)]
    pub only_tosca: bool,
    /// Also note valid constructs that known orchestrators refuse
    #[arg(long)]
    pub portable: bool,
    /// Also check whether these templates substitute the nodes that are to be substituted, in all
    /// variants: a file, an archive, or a directory of them; may be repeated
    #[arg(long, value_name = "FILE|DIR|CSAR", value_hint = ValueHint::AnyPath)]
    pub with: Vec<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    pub strict: bool,
    /// Format of the findings; all but human go to standard output, as one document
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: FindingsFormat,
}

/// The language server has no arguments: the editor says everything over the protocol.
#[cfg(feature = "lsp")]
#[derive(Debug, Args)]
pub(crate) struct LspArgs {
    /// Compute for a server on standard input
    #[arg(long, hide = true)]
    pub worker: bool,
    /// Speak over standard input and output, which is so anyway; many editors say it
    #[arg(long, hide = true)]
    pub stdio: bool,
    #[command(flatten)]
    pub imports: LookupArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingsFormat {
    Human,
    Json,
    Sarif,
}

impl CommandLine {
    /// Parses the command line.
    ///
    /// # Errors
    /// Wrong usage or a request for help, together with the message format that the command line
    /// asks for.
    pub(crate) fn from_command_line() -> Result<Self, (clap::Error, MessageFormat)> {
        let words: Vec<OsString> = std::env::args_os().collect();
        Self::parse_words(&words).map_err(|error| (error, wish(&words, "--message-format")))
    }

    fn parse_words(words: &[OsString]) -> Result<Self, clap::Error> {
        let mut command = Self::command().color(wish(words, "--color"));
        let matches = command.clone().try_get_matches_from(words).map_err(|error| {
            // The help is assembled only when it is requested.
            let is_brief = words.iter().any(|word| word == "-h");
            let describe = if is_brief { manual::brief } else { manual::described };
            let described = || describe(command.clone()).try_get_matches_from(words);
            if is_help(&error) { described().err().unwrap_or(error) } else { error }
        })?;
        let arguments = Self::from_arg_matches(&matches)?;
        let is_completed = matches!(arguments.command, Command::Complete(_));
        let twice = (!is_completed && reads_input_twice(words))
            .then_some("standard input can be read only once, so `-` cannot be given twice");
        match twice.or(arguments.misuse()) {
            Some(why) => Err(command.error(ErrorKind::ArgumentConflict, why)),
            None => Ok(arguments),
        }
    }

    /// The misuse that clap cannot express.
    fn misuse(&self) -> Option<&'static str> {
        match &self.command {
            Command::Resolve(args) => {
                let archive =
                    args.output.as_deref().is_some_and(cuvee::source::csar::is_written_archive);
                let json = archive && args.format == Some(ResultFormat::Json);
                json.then_some("an archive holds YAML, so `--format json` does not go with it")
            }
            Command::Test(args) => (args.update && args.format != TestFormat::Human).then_some(
                "`--update` shows differences to people, so `--format` does not go with it",
            ),
            _ => None,
        }
    }
}

/// Whether standard input is to be read for several arguments. Behind `--output`, `-` is standard
/// output.
fn reads_input_twice(words: &[OsString]) -> bool {
    let before = std::iter::once(None).chain(words.iter().map(|word| word.to_str()));
    let reads = before.zip(words).filter(|(before, word)| match word.to_str() {
        Some("-") => !matches!(before, Some("-o" | "--output")),
        Some(word) => word.starts_with("--inputs=") && word.ends_with("=-"),
        None => false,
    });
    reads.count() > 1
}

fn is_help(error: &clap::Error) -> bool {
    let on_misuse = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    error.kind() == ErrorKind::DisplayHelp || error.kind() == on_misuse
}

/// The value of a flag, read before parsing, because errors in the arguments follow it as well.
fn wish<T: ValueEnum + Default>(words: &[OsString], flag: &str) -> T {
    let mut wish = None;
    for (index, word) in words.iter().enumerate() {
        let Some(word) = word.to_str() else { continue };
        match word.strip_prefix(flag) {
            Some("") => wish = words.get(index + 1).and_then(|next| next.to_str()),
            Some(rest) => wish = rest.strip_prefix('=').or(wish),
            None => {}
        }
    }
    wish.and_then(|text| T::from_str(text, false).ok()).unwrap_or_default()
}

fn renaming(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.into(), new.into())),
        _ => Err("write `OLD=NEW`, such as `shop=store`".into()),
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) => Err("the name in front of `=` is missing".into()),
        None => match text.split_once(':').filter(|(name, _)| !name.is_empty()) {
            Some((name, value)) => Err(format!(
                "`=` has to stand between name and value: `{}={}`",
                name.trim(),
                value.trim()
            )),
            None => Err(format!("a name and a value are needed, such as `{text}=true`")),
        },
    }
}

/// Splits at the last `=`, because a URL may contain one.
fn mapping(text: &str) -> Result<(String, PathBuf), String> {
    match text.rsplit_once('=') {
        Some((url, path)) if !url.is_empty() && !path.is_empty() => {
            Ok((url.to_owned(), path.into()))
        }
        _ => {
            Err("a URL and a path are needed, such as `https://example.com/types=vendor/types`"
                .into())
        }
    }
}

fn existing_directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("there is no such directory".into()) }
}

fn plugin(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, command)) if !name.is_empty() && !command.trim().is_empty() => {
            Ok((name.to_owned(), command.to_owned()))
        }
        _ => Err("a name and a command are needed, such as `rules.js='node rules.js'`".into()),
    }
}

pub(crate) fn date(text: &str) -> Result<Zoned, String> {
    // The message of jiff about a text that is not a date at all describes its grammar.
    let is_date = text.starts_with(|c: char| c.is_ascii_digit());
    let example = "expected a date such as `2024-12-24` or `2024-12-24T18:00+01:00`";
    cuvee::options::clock::parse(text, TimeZone::system()).map_err(|error| match is_date {
        true => format!("{example}: {error}"),
        false => example.to_owned(),
    })
}

/// Parses the number of entries to list.
fn limit(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => {
            Err("at least 1 is listed; `--count` lists none and says how many there are".into())
        }
        limit => limit.map_err(|_| "expected a number such as `10`".into()),
    }
}

fn code(text: &str) -> Result<Code, String> {
    let known = || Code::ALL.iter().map(|code| code.as_str());
    text.parse().map_err(|()| {
        let help = did_you_mean(text, known());
        help.map_or("`cuvee explain-code` lists all codes".into(), |help| help.to_string())
    })
}

/// Checks a list of names separated by commas, which names may have themselves.
fn name_list(text: &str) -> Result<String, String> {
    match text.split(',').any(str::is_empty) {
        true => Err("a name is empty".to_owned()),
        false => Ok(text.to_owned()),
    }
}

fn command_name(text: &str) -> Result<String, String> {
    let command = CommandLine::command();
    if command.find_subcommand(text).is_some() {
        return Ok(text.to_owned());
    }
    let names = command.get_subcommands().map(clap::Command::get_name);
    let help = did_you_mean(text, names);
    Err(help.map_or("`cuvee --help` lists the commands".into(), |help| help.to_string()))
}

/// Parses a number of seconds, or a time with its units.
fn timeout(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let with_units =
        || text.parse::<SignedDuration>().ok().and_then(|time| Duration::try_from(time).ok());
    seconds
        .or_else(with_units)
        .ok_or_else(|| "expected a time such as `30s`, `1.5` (seconds) or `5m`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<CommandLine, clap::Error> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        CommandLine::parse_words(&words)
    }

    fn resolve(line: &str) -> ResolveArgs {
        match parse(line).unwrap().command {
            Command::Resolve(args) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn lists_of_presets_are_repeated() {
        assert_eq!(
            resolve("cuvee resolve t --preset a,b --preset c").select.choose.presets,
            ["a,b", "c"]
        );
        assert!(parse("cuvee resolve t --preset a,,b").is_err());
    }

    #[test]
    fn assignments_are_split_at_the_first_sign() {
        let args = resolve("cuvee resolve t -i a=b=c --input d= --option mode=manual");
        assert_eq!(
            args.select.choose.inputs,
            [("a".into(), "b=c".into()), ("d".into(), String::new())]
        );
        assert_eq!(args.select.choose.options.set, [("mode".into(), "manual".into())]);
        for line in ["-i a", "-i =b", "--option mode", "--now soon"] {
            let error = parse(&format!("cuvee resolve t {line}")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ValueValidation, "{line}");
            assert_eq!(error.exit_code(), 2);
        }
    }

    #[test]
    fn mappings_are_split_at_the_last_sign() {
        let args =
            resolve("cuvee resolve t --map https://a.example/t?v=1=vendor/t --map profile=p.yaml");
        assert_eq!(
            args.select.choose.imports.mappings,
            [
                ("https://a.example/t?v=1".into(), "vendor/t".into()),
                ("profile".into(), "p.yaml".into())
            ]
        );
        let wrong = ["--map https://a.example", "--map =t", "--map https://a.example="];
        for line in wrong.into_iter().chain(["--profile-path there/is/none"]) {
            assert_eq!(
                parse(&format!("cuvee resolve t {line}")).unwrap_err().kind(),
                ErrorKind::ValueValidation,
                "{line}"
            );
        }
    }

    #[test]
    fn global_flags_stand_anywhere() {
        for line in ["cuvee -q --color never resolve t", "cuvee resolve t -q --color=never"] {
            let messages = parse(line).unwrap().messages;
            assert!(messages.quiet);
            assert_eq!(messages.color, ColorChoice::Never);
        }
    }

    #[test]
    fn the_last_wish_for_colour_counts() {
        let wish = |line: &str| -> ColorChoice {
            wish(&line.split(' ').map(OsString::from).collect::<Vec<_>>(), "--color")
        };
        assert_eq!(wish("cuvee --color always --color=never"), ColorChoice::Never);
        assert_eq!(wish("cuvee --color always"), ColorChoice::Always);
        assert_eq!(wish("cuvee --color"), ColorChoice::Auto);
        assert_eq!(wish("cuvee --colors=never"), ColorChoice::Auto);
    }
}
