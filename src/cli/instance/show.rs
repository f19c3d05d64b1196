//! `cuvee instance show`

use crate::cli::args::ListFormat;
use crate::cli::read::ReadFiles;
use crate::cli::{Outcome, json, output, rejected};
use cuvee::draw::instance;
use cuvee::instance::{InstanceModel, ModelReading, view_entity, view_model};
use std::path::Path;
use std::process::ExitCode;

/// What is shown, and how.
pub(super) struct ShowAsk<'a> {
    pub entity: Option<&'a str>,
    pub unstable: bool,
    pub reveal: bool,
    pub format: ListFormat,
    pub output: Option<&'a Path>,
}

/// Shows an instance, or one entity of it.
pub(super) fn run(model: &InstanceModel, ask: &ShowAsk<'_>, read: &ReadFiles) -> Outcome {
    let (unstable, reveal) = (ask.unstable, ask.reveal);
    let reading = ModelReading { unstable, reveal, ..ModelReading::default() };
    let text = match (ask.entity, ask.format) {
        (None, ListFormat::Human) => instance::model(&view_model(model, &reading)),
        (None, ListFormat::Json) => json(&view_model(model, &reading)),
        (Some(entity), format) => {
            let view = view_entity(model, entity, &reading).map_err(rejected)?;
            match format {
                ListFormat::Human => instance::entity(&view),
                ListFormat::Json => json(&view),
            }
        }
    };
    output::deliver(ask.output, text, read).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}
