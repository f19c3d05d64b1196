//! Keys: what an orchestration has said, so that it can say it again without effect.

use super::log::{EventLog, LogPosition};
use super::snapshot::{Snapshot, SnapshotBuilder};
use super::trouble;
use crate::text::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;

/// What the store keeps in a snapshot begins with this, and then the key.
const PREFIX: &str = "!key/";

/// For so many keys a snapshot is asked one by one.
const ASKED: u32 = 16;

/// The keys of one orchestration.
#[derive(Debug)]
pub(super) struct OrchestrationKeys {
    orchestration: String,
    /// With the revision and the structure that the first of each has.
    said: FxHashMap<String, (u64, u64)>,
    /// Whether the snapshot has further ones.
    is_partial: bool,
    /// How often it was asked.
    asked: u32,
}

impl OrchestrationKeys {
    /// What an orchestration has said since the snapshot of a log, until the place that the log has
    /// come to.
    pub(super) fn read(log: &EventLog<'_>, orchestration: &str) -> Result<Self, Diagnostic> {
        let header = log.snapshot().map(|snapshot| &snapshot.header);
        let start = header.map_or(LogPosition::START, |header| header.position.clone());
        let of_snapshot = header.and_then(|header| header.orchestration.as_deref());
        let mut keys = Self {
            orchestration: orchestration.to_owned(),
            said: FxHashMap::default(),
            is_partial: of_snapshot == Some(orchestration),
            asked: 0,
        };
        let mut again = EventLog::at(log.store, &log.instance, start);
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
    pub(super) fn get(
        &mut self,
        key: &str,
        snapshot: Option<&Snapshot<'_>>,
    ) -> Result<Option<(u64, u64)>, Diagnostic> {
        if let Some(found) = self.said.get(key) {
            return Ok(Some(*found));
        }
        let Some(snapshot) = snapshot.filter(|_| self.is_partial) else { return Ok(None) };
        if self.asked < ASKED {
            self.asked += 1;
            let found = snapshot.entry(&format!("{PREFIX}{key}"))?;
            return found.map(|found| committed(&found, snapshot)).transpose();
        }
        self.load(snapshot)?;
        Ok(self.said.get(key).copied())
    }

    /// All of them as entries of a snapshot.
    pub(super) fn add_to(
        &mut self,
        to: &mut SnapshotBuilder,
        before: Option<&Snapshot<'_>>,
    ) -> Result<(), Diagnostic> {
        if let Some(before) = before.filter(|_| self.is_partial) {
            self.load(before)?;
        }
        let mut sorted: Vec<_> = self.said.iter().collect();
        sorted.sort_unstable();
        for (key, committed) in sorted {
            to.add(&format!("{PREFIX}{key}"), committed)
                .map_err(|why| trouble::unwritable(&self.orchestration, &why))?;
        }
        Ok(())
    }

    /// Those of a snapshot as well.
    fn load(&mut self, snapshot: &Snapshot<'_>) -> Result<(), Diagnostic> {
        snapshot.entries(PREFIX, &mut |key, value| {
            if let Some(key) = key.strip_prefix(PREFIX) {
                let committed = committed(value, snapshot)?;
                self.said.entry(key.to_owned()).or_insert(committed);
            }
            Ok(())
        })?;
        self.is_partial = false;
        Ok(())
    }
}

/// Revision and structure, as a snapshot has them.
fn committed(text: &str, snapshot: &Snapshot<'_>) -> Result<(u64, u64), Diagnostic> {
    serde_json::from_str(text).map_err(|_| snapshot.damaged())
}
