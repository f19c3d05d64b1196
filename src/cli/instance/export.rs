//! Runs `cuvee instance export` for the formats that need only the model.

use crate::cli::read::ReadFiles;
use crate::cli::{Outcome, output, rejected};
use cuvee::deploy::instance::{
    InstanceModel, ModelExport, export_bindings, export_json, export_yaml,
};
use std::path::Path;
use std::process::ExitCode;

/// The output format of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModelFormat {
    Yaml,
    Json,
    Bindings,
}

/// Writes the model of an instance.
pub(super) fn run(
    model: &InstanceModel,
    format: ModelFormat,
    how: ModelExport,
    output: Option<&Path>,
    read: &ReadFiles,
) -> Outcome {
    let text = match format {
        ModelFormat::Yaml => export_yaml(model, how),
        ModelFormat::Json => export_json(model, how),
        ModelFormat::Bindings => export_bindings(model, how),
    };
    output::deliver(output, text, read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}
