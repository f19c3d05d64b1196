//! Makes the first record of an instance.

use super::apply::complete_model;
use super::event::{Event, RecordOrigin};
use super::model::{InstanceModel, InstanceTarget, SecretsMode};
use super::reduce::ImpossibleEvent;
use super::store::Store;
use super::unwritten::Unwritten;
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::digest::hexadecimal;
use std::sync::Arc;

/// An instance that is about to be created.
pub(crate) struct BegunInstance {
    /// The lineage: a name that no other instance has.
    pub(crate) lineage: String,
    /// The URI that the URIs of its entities begin with.
    pub(crate) uri: String,
    pub(crate) secrets: SecretsMode,
    pub(crate) sensitive: Vec<Arc<str>>,
    /// The resolved template that the instance is meant to be, as far as that is known.
    pub(crate) target: Option<InstanceTarget>,
    /// Events that have already happened to the elements the instance begins with.
    pub(crate) beside: Vec<Event>,
}

impl BegunInstance {
    /// The events that the instance begins with: it is created, gets its target, and every node of
    /// `to` is added as `initial`. Then the events of `beside` follow.
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

/// A random name that nothing else has, for the lineage of an instance.
///
/// # Errors
/// `file`, if the store has no random bytes.
pub(crate) fn random_name(store: &dyn Store) -> Result<String, Diagnostic> {
    let bytes = store.random().map_err(|error| {
        Diagnostic::error(Code::File, format!("the system gives no random numbers: {error}"))
    })?;
    Ok(hexadecimal(&bytes[..16]))
}
