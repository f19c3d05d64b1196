//! Remembers the keys of reports of an orchestration, so that a repeated report has no effect.

use super::log::{EventLog, LogPosition};
use super::snapshot::{Snapshot, SnapshotBuilder};
use super::trouble;
use crate::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;

/// The prefix of keys that the store itself adds to a snapshot.
const PREFIX: &str = "!key/";

/// How many keys are looked up one by one in a snapshot before all of them are read.
const ASKED: u32 = 16;

/// The keys that one orchestration has used.
#[derive(Debug)]
pub(super) struct OrchestrationKeys {
    orchestration: String,
    /// The revision and structure of the first record with each key.
    said: FxHashMap<String, (u64, u64)>,
    /// Whether the snapshot contains keys that were not read.
    is_partial: bool,
    /// How many keys were looked up in it.
    asked: u32,
}

impl Snapshot<'_> {
    /// Whether the snapshot contains the keys of an orchestration, which is named by its first
    /// revision.
    pub fn keeps_keys_of(&self, orchestration: u64) -> bool {
        self.header.orchestration.as_deref() == Some(&*orchestration.to_string())
    }

    /// Revision and structure of the first record with a key, in the orchestration of the snapshot.
    ///
    /// # Errors
    /// As [`Snapshot::entry`].
    pub fn said(&self, key: &str) -> Result<Option<(u64, u64)>, Diagnostic> {
        let found = self.entry(&format!("{PREFIX}{key}"))?;
        found.map(|found| committed(&found, self)).transpose()
    }

    /// Calls `each` with all keys of the orchestration of the snapshot.
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
    /// The keys of an orchestration at a snapshot, or at the beginning if there is none.
    pub(super) fn behind(snapshot: Option<&Snapshot<'_>>, orchestration: &str) -> Self {
        let of_snapshot = snapshot.and_then(|it| it.header.orchestration.as_deref());
        Self {
            orchestration: orchestration.to_owned(),
            said: FxHashMap::default(),
            is_partial: of_snapshot == Some(orchestration),
            asked: 0,
        }
    }

    /// Reads the keys of an orchestration from the snapshot of a log to its present position.
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

    /// Remembers the key of a record of this orchestration.
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

    /// Revision and structure of the first record with a key, if there is one.
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

    /// Adds all keys as entries of a new snapshot.
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

    /// Reads the keys in the snapshot as well.
    fn load(&mut self, snapshot: &Snapshot<'_>) -> Result<(), Diagnostic> {
        snapshot.all_said(&mut |key, committed| {
            self.said.entry(key.to_owned()).or_insert(committed);
        })?;
        self.is_partial = false;
        Ok(())
    }
}

/// Reads a revision and a structure from an entry of a snapshot.
fn committed(text: &str, snapshot: &Snapshot<'_>) -> Result<(u64, u64), Diagnostic> {
    serde_json::from_str(text).map_err(|_| snapshot.damaged())
}
