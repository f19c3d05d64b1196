//! Defines the arguments of `cuvee convert`.

use super::ChooseArgs;
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// The formats that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConvertFormat {
    /// TOSCA Simple Profile 1.3
    Yaml,
    /// TOSCA 1.0; a document of TOSCA 1.0 is written in its canonical form
    Xml,
    /// TOSCA 2.0, of a template of TOSCA 1.3
    #[value(name = "2.0")]
    Tosca20,
    /// TOSCA Simple Profile 1.3, of a template of TOSCA 2.0 or definitions of TOSCA 1.0
    #[value(name = "1.3")]
    Tosca13,
}

/// The dialects of XML.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConvertDialect {
    /// XML as the specification describes it
    Plain,
    /// XML as OpenTOSCA uses it, where `get_input: NAME` is a value
    Opentosca,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Definitions of TOSCA 1.0 or a service template: a file, an archive (CSAR), or a directory
    pub template: PathBuf,
    #[command(flatten)]
    pub choose: ChooseArgs,
    /// Write to this file, all of it or nothing, instead of to standard output, which is also `-`:
    /// one document; an archive if the name ends in `.csar` or `.zip`; a directory if it ends in
    /// `/` or is the name of a directory
    #[arg(short, long, value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub output: Option<PathBuf>,
    /// Format of the output; by default the one that the template does not have
    #[arg(long, value_enum)]
    pub to: Option<ConvertFormat>,
    /// With `--to xml`: write nothing, and exit with 1 if a file of XML is not in its canonical
    /// form
    #[arg(long, conflicts_with = "output")]
    pub check: bool,
    /// Write a report of the parts without a counterpart to this file, as JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub loss: Option<PathBuf>,
    /// Replace types by others: a file with a map from `{namespace}name` to the name of a type
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub types: Option<PathBuf>,
    /// Convert this one of several service templates: its id, or `{namespace}id`
    #[arg(long, value_name = "NAME")]
    pub service_template: Option<String>,
    /// Take this one of several implementations of a type: its name, or `{namespace}name`; may be
    /// repeated
    #[arg(long = "implementation", value_name = "NAME")]
    pub implementations: Vec<String>,
    /// For templates in YAML: leave out the parts that TOSCA 1.0 cannot express, instead of keeping
    /// them as extensions
    #[arg(long)]
    pub no_extensions: bool,
    /// For templates in YAML: record in tags the variability inputs that gave the variant
    #[arg(long)]
    pub record_inputs: bool,
    /// The dialect of XML, where the specification leaves it open
    #[arg(long, value_enum, default_value = "plain")]
    pub dialect: ConvertDialect,
    /// Treat warnings as errors
    #[arg(long)]
    pub strict: bool,
}
