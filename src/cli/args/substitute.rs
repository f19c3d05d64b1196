//! Defines the arguments of `cuvee substitute`.

use super::{DeploymentArgs, SelectArgs};
use clap::{Args, ValueEnum, ValueHint};
use cuvee::deploy::substitute::CandidateVariants;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct SubstituteArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub deployment: DeploymentArgs,
    /// Templates that may substitute nodes: files, archives, or directories of them; may be
    /// repeated
    #[arg(long, value_name = "FILE|DIR|CSAR", num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub with: Vec<PathBuf>,
    /// The template that substitutes a node, if several could: the end of its path; may be repeated
    #[arg(long = "choose", value_name = "NODE=FILE[:PRESET]", value_parser = candidate)]
    pub candidates: Vec<(String, String, Option<String>)>,
    /// The variants of variable templates that may substitute: those of defaults and presets, only
    /// that of the defaults, or the best of all
    #[arg(long = "candidates", value_name = "WHICH", default_value = "presets")]
    pub variants: CandidatesArg,
    /// The inventory, whose nodes exist and may be taken: `instance:NAME`, also
    /// `instance:NAME@REVISION`, an instance that was exported to a file, or a template, all nodes
    /// of which exist
    #[arg(long, value_name = "SOURCE", value_hint = ValueHint::FilePath)]
    pub inventory: Option<String>,
    /// Directory in which instances are kept; by default `.cuvee` [env: CUVEE_STORE]
    #[arg(long, value_name = "DIR", requires = "inventory")]
    pub store: Option<PathBuf>,
    /// Leave the template as it is, and write an archive that also has the substituting templates
    /// as `Other-Definitions`, and `substitutions.json`
    #[arg(long, conflicts_with_all = ["flatten", "explain"], requires = "output")]
    pub nest: bool,
    /// Put the nodes of the substituting templates in the places of the nodes that they substitute,
    /// which is the default
    #[arg(long)]
    pub flatten: bool,
    /// Show which template substitutes which node and why, instead of the result
    #[arg(long)]
    pub explain: bool,
    /// Treat warnings as errors
    #[arg(long)]
    pub strict: bool,
    /// Write the result to this file, all of it or nothing, instead of to standard output, which is
    /// also `-`; if the name ends in `.csar` or `.zip`, as an archive. Relative names of files in
    /// the result are adapted to its new place
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the result: `yaml` or `json`, by default the one that the ending of the file
    /// names; with --explain `human` or `json`
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<SubstituteFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CandidatesArg {
    Presets,
    Defaults,
    Open,
}

impl From<CandidatesArg> for CandidateVariants {
    fn from(which: CandidatesArg) -> Self {
        match which {
            CandidatesArg::Presets => Self::Presets,
            CandidatesArg::Defaults => Self::Defaults,
            CandidatesArg::Open => Self::Open,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SubstituteFormat {
    Human,
    Yaml,
    Json,
}

/// Parses a node, a template and an optional preset.
fn candidate(text: &str) -> Result<(String, String, Option<String>), String> {
    let example = "a node and a template are needed, such as `db=managed.yaml`";
    let (node, file) = text.split_once('=').ok_or(example)?;
    if node.is_empty() || file.is_empty() {
        return Err(example.into());
    }
    let endings = [".yaml", ".yml", ".csar", ".zip", ".tar", ".tar.gz", ".tgz"];
    let is_file = |text: &str| endings.iter().any(|ending| text.ends_with(ending));
    let (file, preset) = match file.rsplit_once(':') {
        Some((file, preset)) if is_file(file) => (file, Some(preset.to_owned())),
        _ => (file, None),
    };
    Ok((node.to_owned(), file.to_owned(), preset))
}
