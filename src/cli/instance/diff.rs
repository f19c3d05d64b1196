//! Runs `cuvee instance diff`.

use crate::cli::Outcome;
use crate::cli::args::ListFormat;
use crate::cli::diff::tell_difference;
use clap::ColorChoice;
use cuvee::deploy::instance::{InstanceModel, diff_models};

/// Compares two models, each of an instance, of a revision, or of an export.
pub(super) fn run(
    [from, to]: [&InstanceModel; 2],
    names: [&str; 2],
    exit_code: bool,
    format: ListFormat,
    color: ColorChoice,
) -> Outcome {
    tell_difference(&diff_models(from, to), names.map(Some), exit_code, format, color)
}
