//! Defines the arguments of `cuvee convert`.

use super::ChooseArgs;
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConvertFormat {
    /// TOSCA Simple Profile 1.3
    Yaml,
    /// TOSCA 1.0; a document of it in its canonical form
    Xml,
}

/// How XML is written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConvertDialect {
    /// As the specification has it
    Plain,
    /// As OpenTOSCA has it: `get_input: NAME` is a value
    Opentosca,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Definitions of TOSCA 1.0 or a service template: a file, an archive (CSAR), or a directory
    pub template: PathBuf,
    #[command(flatten)]
    pub choose: ChooseArgs,
    /// Write to this file, all of it or nothing, instead of to standard output, which is also `-`:
    /// one document; an archive where it ends in `.csar` or `.zip`; a directory where it ends in `/`
    /// or is one
    #[arg(short, long, value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub output: Option<PathBuf>,
    /// What is written; the other format, where nothing is said
    #[arg(long, value_enum)]
    pub to: Option<ConvertFormat>,
    /// With `--to xml`: write nothing, and exit with 1 where a file of XML is not in its canonical form
    #[arg(long, conflicts_with = "output")]
    pub check: bool,
    /// Write a report of what has no counterpart to this file, as JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub loss: Option<PathBuf>,
    /// Take types for others: a file with a map of `{namespace}name` to names of types
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub types: Option<PathBuf>,
    /// Convert this one of several service templates: its id, or `{namespace}id`
    #[arg(long, value_name = "NAME")]
    pub service_template: Option<String>,
    /// Take this one of several implementations of a type: its name, or `{namespace}name`; may be
    /// repeated
    #[arg(long = "implementation", value_name = "NAME")]
    pub implementations: Vec<String>,
    /// Of templates in YAML: leave out what TOSCA 1.0 has no word for, instead of keeping it as an
    /// extension
    #[arg(long)]
    pub no_extensions: bool,
    /// Of templates in YAML: say by tags which variability inputs gave the variant
    #[arg(long)]
    pub record_inputs: bool,
    /// How XML is written where the specification leaves it open
    #[arg(long, value_enum, default_value = "plain")]
    pub dialect: ConvertDialect,
    /// Take warnings for errors
    #[arg(long)]
    pub strict: bool,
}
