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
pub(crate) struct BegunInstance {
    /// What tells it from all others.
    pub(crate) lineage: String,
    /// What its entities stand below.
    pub(crate) uri: String,
    pub(crate) secrets: SecretsMode,
    pub(crate) sensitive: Vec<Arc<str>>,
    /// What it is meant to be, as far as that is known.
    pub(crate) target: Option<InstanceTarget>,
    /// What has happened already to what it begins with.
    pub(crate) beside: Vec<Event>,
}

impl BegunInstance {
    /// The events that it begins with: it is there, it is meant to be something, and all that it is
    /// to be is known, as `initial` unless more is said of it.
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
            sensitive: self.sensitive,
        })?;
        self.target.map_or(Ok(()), |target| record.add(Event::TargetSet(target)))?;
        complete_model(&mut record, to)?;
        self.beside.into_iter().try_for_each(|event| record.add(event))?;
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
