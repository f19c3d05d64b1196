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

impl Snapshot<'_> {
    /// Whether the store keeps the keys of an orchestration in it, which is named by its first
    /// revision.
    pub fn keeps_keys_of(&self, orchestration: u64) -> bool {
        self.header.orchestration.as_deref() == Some(&*orchestration.to_string())
    }

    /// Revision and structure of the record that said a key of that orchestration first.
    ///
    /// # Errors
    /// As [`Snapshot::entry`].
    pub fn said(&self, key: &str) -> Result<Option<(u64, u64)>, Diagnostic> {
        let found = self.entry(&format!("{PREFIX}{key}"))?;
        found.map(|found| committed(&found, self)).transpose()
    }

    /// All keys of that orchestration.
    ///
    /// # Errors
    /// As [`Snapshot::entries`].
    pub fn all_said(&self, each: &mut dyn FnMut(&str, (u64, u64))) -> Result<(), Diagnostic> {
        self.entries(PREFIX, &mut |key, value| {
            if let Some(key) = key.strip_prefix(PREFIX) {
                each(key, committed(value, self)?);
            }
            Ok(())
        })
    }
}

impl OrchestrationKeys {
    /// Of an orchestration of which a snapshot, if any, has what was said before.
    pub(super) fn behind(snapshot: Option<&Snapshot<'_>>, orchestration: &str) -> Self {
        let of_snapshot = snapshot.and_then(|it| it.header.orchestration.as_deref());
        Self {
            orchestration: orchestration.to_owned(),
            said: FxHashMap::default(),
            is_partial: of_snapshot == Some(orchestration),
            asked: 0,
        }
    }

    /// What an orchestration has said since the snapshot of a log, until the place that the log has
    /// come to.
    pub(super) fn read(log: &EventLog<'_>, orchestration: &str) -> Result<Self, Diagnostic> {
        let snapshot = log.snapshot();
        let start = snapshot.map_or(LogPosition::START, |it| it.header.position.clone());
        let mut keys = Self::behind(snapshot, orchestration);
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
            return snapshot.said(key);
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
        snapshot.all_said(&mut |key, committed| {
            self.said.entry(key.to_owned()).or_insert(committed);
        })?;
        self.is_partial = false;
        Ok(())
    }
}

/// Revision and structure, as a snapshot has them.
fn committed(text: &str, snapshot: &Snapshot<'_>) -> Result<(u64, u64), Diagnostic> {
    serde_json::from_str(text).map_err(|_| snapshot.damaged())
}
