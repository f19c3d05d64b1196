//! Keys: what an orchestration has said, so that it can say it again without effect.

use super::log::{EventLog, LogPosition};
use crate::text::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;

/// The keys of one orchestration.
#[derive(Debug)]
pub(super) struct OrchestrationKeys {
    orchestration: String,
    /// With the revision and the structure that the first of each has.
    said: FxHashMap<String, (u64, u64)>,
}

impl OrchestrationKeys {
    /// What an orchestration has said until the place that a log has come to.
    pub(super) fn read(log: &EventLog<'_>, orchestration: &str) -> Result<Self, Diagnostic> {
        let mut keys = Self { orchestration: orchestration.to_owned(), said: FxHashMap::default() };
        let mut again = EventLog::at(log.store, &log.instance, LogPosition::START);
        again.refresh()?;
        while again.revision() < log.revision()
            && let Some(record) = again.next_record()?
        {
            let committed = (record.revision, record.structure);
            keys.note(record.orchestration.as_deref(), record.key.as_deref(), committed);
        }
        Ok(keys)
    }

    pub(super) fn is_of(&self, orchestration: &str) -> bool {
        self.orchestration == orchestration
    }

    /// Remembers the key of a record, if it is of this orchestration.
    pub(super) fn note(
        &mut self,
        orchestration: Option<&str>,
        key: Option<&str>,
        committed: (u64, u64),
    ) {
        if let Some(key) = key.filter(|_| orchestration == Some(&self.orchestration)) {
            self.said.entry(key.to_owned()).or_insert(committed);
        }
    }

    /// What became of a key.
    pub(super) fn get(&self, key: &str) -> Option<(u64, u64)> {
        self.said.get(key).copied()
    }
}
