//! The first record of an instance.

use super::apply::complete_model;
use super::event::{Event, RecordOrigin};
use super::model::{InstanceModel, InstanceTarget, SecretsMode};
use super::reduce::ImpossibleEvent;
use super::store::Store;
use super::unwritten::Unwritten;
use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::digest::hexadecimal;
use std::sync::Arc;

/// An instance that begins.
pub(crate) struct BegunInstance<'b> {
    /// What tells it from all others.
    pub(crate) lineage: String,
    /// What its entities stand below.
    pub(crate) uri: String,
    pub(crate) secrets: SecretsMode,
    pub(crate) sensitive: &'b [String],
    pub(crate) target: InstanceTarget,
}

impl BegunInstance<'_> {
    /// The events that it begins with: it is there, it is meant to be something, and all that it is
    /// to be is known, as `initial`.
    pub(crate) fn events(
        self,
        to: &InstanceModel,
        (time, actor, origin): (String, &str, RecordOrigin),
    ) -> Result<(InstanceModel, Vec<Event>), ImpossibleEvent> {
        let mut model = InstanceModel::default();
        let mut record = Unwritten::new(&mut model, time, actor, origin);
        record.add(Event::InstanceCreated {
            lineage: self.lineage.into(),
            uri: self.uri.into(),
            secrets: self.secrets,
            sensitive: self.sensitive.iter().map(|pattern| Arc::from(&**pattern)).collect(),
        })?;
        record.add(Event::TargetSet(self.target))?;
        complete_model(&mut record, to)?;
        let events = record.close(None);
        Ok((model, events))
    }
}

/// A name that nothing else has: a lineage, or what an instance is called to tell it from others.
///
/// # Errors
/// `file`, where nothing random can be had.
pub(crate) fn random_name(store: &dyn Store) -> Result<String, Diagnostic> {
    let bytes = store.random().map_err(|error| {
        Diagnostic::error(Code::File, format!("nothing random can be had: {error}"))
    })?;
    Ok(hexadecimal(&bytes[..16]))
}
