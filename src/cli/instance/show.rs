//! Runs `cuvee instance show`.

use crate::cli::args::ListFormat;
use crate::cli::json;
use cuvee::deploy::instance::{EntityView, InstanceModel, ModelReading, view_model};
use cuvee::output::draw::instance;

/// Prints all of an instance.
pub(super) fn model(
    model: &InstanceModel,
    reading: &ModelReading<'_>,
    format: ListFormat,
) -> String {
    let view = view_model(model, reading);
    match format {
        ListFormat::Human => instance::model(&view),
        ListFormat::Json => json(&view),
    }
}

/// Prints a single entity of an instance.
pub(super) fn entity(view: &EntityView, format: ListFormat) -> String {
    match format {
        ListFormat::Human => instance::entity(view),
        ListFormat::Json => json(view),
    }
}
