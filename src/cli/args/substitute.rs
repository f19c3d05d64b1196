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
    /// What substitutes a node, where several templates could: as the path of the template ends; may
    /// be repeated
    #[arg(long = "choose", value_name = "NODE=FILE[:PRESET]", value_parser = candidate)]
    pub candidates: Vec<(String, String, Option<String>)>,
    /// Which variants of variable templates may substitute: those of defaults and presets, that of
    /// the defaults only, or the best of all
    #[arg(long = "candidates", value_name = "WHICH", default_value = "presets")]
    pub variants: CandidatesArg,
    /// What is there and may be taken: `instance:NAME`, also `instance:NAME@REVISION`, an instance
    /// that was exported to a file, or a template, all nodes of which are there
    #[arg(long, value_name = "SOURCE", value_hint = ValueHint::FilePath)]
    pub inventory: Option<String>,
    /// Directory in which instances are kept; by default `.cuvee` [env: CUVEE_STORE]
    #[arg(long, value_name = "DIR", requires = "inventory")]
    pub store: Option<PathBuf>,
    /// Leave the template as it is, and write it as an archive with what substitutes its nodes as
    /// `Other-Definitions`, and with `substitutions.json`
    #[arg(long, conflicts_with_all = ["flatten", "explain"], requires = "output")]
    pub nest: bool,
    /// Put what substitutes nodes into their places, which is the default
    #[arg(long)]
    pub flatten: bool,
    /// Show what substitutes which node and why, instead of the result
    #[arg(long)]
    pub explain: bool,
    /// Take warnings for errors
    #[arg(long)]
    pub strict: bool,
    /// Write the result to this file, all of it or nothing, instead of to standard output, which is
    /// also `-`; as an archive where it ends in `.csar` or `.zip`. Relative names of files in it
    /// are rewritten to be right there
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the result: `yaml` or `json`, by default what the file is called after; with
    /// --explain `human` or `json`
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
    let endings = [".yaml", ".yml", ".csar", ".zip"];
    let is_file = |text: &str| endings.iter().any(|ending| text.ends_with(ending));
    let (file, preset) = match file.rsplit_once(':') {
        Some((file, preset)) if is_file(file) => (file, Some(preset.to_owned())),
        _ => (file, None),
    };
    Ok((node.to_owned(), file.to_owned(), preset))
}
