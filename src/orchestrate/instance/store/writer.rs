//! Writes the log of an instance while holding its lock.

use super::log::{EventLog, LogPosition, LogTail};
use super::record::{self, Draft, LogRecord};
use super::segment;
use super::snapshot::{self, SnapshotBuilder};
use super::torn::TornEnd;
use super::{StoreLock, StoredFile, blob, trouble};
use crate::diagnostic::Diagnostic;
use crate::orchestrate::instance::event::Event;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;

/// Holds the lock of an instance until it is dropped.
///
/// A caller first reads what others have written since, then decides, then commits. Nobody else can
/// write in between.
pub struct LogWriter<'l, 's> {
    log: &'l mut EventLog<'s>,
    lock: Box<dyn StoreLock + 's>,
    /// Whether everything that was read is known to be durable.
    is_durable: bool,
    /// Whether a write has failed, so that the end of the log is unknown.
    is_unsure: bool,
    recovered: Option<Diagnostic>,
}

/// How many records or bytes after the last snapshot make the next one due.
const SNAPSHOT_RECORDS: u64 = 10_000;
const SNAPSHOT_BYTES: u64 = 8 << 20;

/// How soon a snapshot is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnapshotPace {
    /// Soon: the next program that opens the log should not take long.
    #[default]
    Soon,
    /// Seldom, for a program that goes on writing: when the log has grown by several times the size
    /// of the last snapshot, so that most of what is written are records.
    Seldom,
}

/// How many times the size of the last snapshot a log grows until a seldom one is due.
const SELDOM: u64 = 4;

/// The record that was made of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// The revision of its record.
    pub revision: u64,
    /// The structure after that record.
    pub structure: u64,
    /// Whether the key repeats an earlier record; the other fields are those of that record.
    pub repeated: bool,
}

/// Records that are to be written together.
struct RecordBatch {
    bytes: Vec<u8>,
    /// The position after the last record, except for segment and offset.
    position: LogPosition,
    /// The orchestration of the last record that has one.
    orchestration: Option<String>,
    records: u64,
}

impl RecordBatch {
    fn add(&mut self, draft: &Draft<'_>) -> Result<(), serde_json::Error> {
        let chain = record::write(&mut self.bytes, draft, &self.position)?;
        self.position.chain = Some(chain);
        self.position.revision += 1;
        self.position.structure += u64::from(draft.is_structural());
        self.records += 1;
        if let Some(orchestration) = draft.orchestration
            && self.orchestration.as_deref() != Some(orchestration)
        {
            self.orchestration = Some(orchestration.to_owned());
        }
        Ok(())
    }
}

impl<'l, 's> LogWriter<'l, 's> {
    pub(super) fn new(log: &'l mut EventLog<'s>, lock: Box<dyn StoreLock + 's>) -> Self {
        Self { log, lock, is_durable: false, is_unsure: false, recovered: None }
    }

    /// The log that is written to.
    pub fn log(&self) -> &EventLog<'s> {
        self.log
    }

    /// The next record that others have written.
    ///
    /// # Errors
    /// As [`EventLog::next_record`].
    pub fn next_record(&mut self) -> Result<Option<LogRecord<'_>>, Diagnostic> {
        self.log.next_record()
    }

    /// Checks that the log is at this revision.
    ///
    /// # Errors
    /// `stale-revision`, and as [`EventLog::next_record`].
    pub fn expect(&mut self, revision: u64) -> Result<(), Diagnostic> {
        self.read_on()?;
        let present = self.log.position.revision;
        if present == revision {
            return Ok(());
        }
        Err(trouble::stale(&self.log.instance, revision, present))
    }

    /// Adds records, all or none, and makes them durable. Records of others that were not read yet
    /// are skipped. Without drafts it makes durable what others have written, so that they can be
    /// acknowledged.
    ///
    /// A draft becomes no record if its key was used before in its orchestration, in this call or
    /// earlier. A torn end that an interrupted write left is put aside first, and a record of its
    /// own says so.
    ///
    /// # Errors
    /// `file` if the records cannot be written; no draft has become a record then. `invalid-value`
    /// if an event cannot be written as JSON.
    pub fn commit(&mut self, drafts: &[Draft<'_>]) -> Result<Vec<Committed>, Diagnostic> {
        self.read_on()?;
        if let (Some(torn), Some(first)) = (self.log.torn.clone(), drafts.first()) {
            self.recover(&torn, first)?;
        }
        let mut batch = self.batch();
        let committed = self
            .add_all(&mut batch, drafts)
            .and_then(|committed| self.append(batch).map(|()| committed));
        if committed.is_err() {
            // The keys of the failed drafts do not count.
            self.log.keys = None;
        }
        committed
    }

    fn add_all(
        &mut self,
        batch: &mut RecordBatch,
        drafts: &[Draft<'_>],
    ) -> Result<Vec<Committed>, Diagnostic> {
        let mut committed = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let key = draft.orchestration.zip(draft.key);
            let said = key.map(|(orchestration, key)| self.log.said(orchestration, key));
            if let Some((revision, structure)) = said.transpose()?.flatten() {
                committed.push(Committed { revision, structure, repeated: true });
                continue;
            }
            batch.add(draft).map_err(|why| trouble::unwritable(&self.log.instance, &why))?;
            let LogPosition { revision, structure, .. } = batch.position;
            committed.push(Committed { revision, structure, repeated: false });
            if let Some(keys) = &mut self.log.keys {
                keys.note(draft.orchestration, draft.key, (revision, structure));
            }
        }
        Ok(committed)
    }

    /// Whether the log has grown enough since the last snapshot for another one.
    pub fn snapshot_due(&self, pace: SnapshotPace) -> bool {
        let LogTail { records, bytes } = self.log.tail;
        let last = self.log.snapshot.as_ref().map_or(0, |snapshot| snapshot.header.bytes);
        match pace {
            SnapshotPace::Soon => records >= SNAPSHOT_RECORDS || bytes >= SNAPSHOT_BYTES,
            SnapshotPace::Seldom => bytes >= SNAPSHOT_BYTES.max(SELDOM * last),
        }
    }

    /// Writes a snapshot, so that the log need not be read from its beginning. Keys must ascend
    /// byte by byte and begin with a letter. Of earlier snapshots the last one stays, for programs
    /// that are reading it.
    ///
    /// # Errors
    /// `file` if the snapshot cannot be written, `invalid-value` if keys do not ascend or a value
    /// cannot be written as JSON. The log stays as it was.
    pub fn write_snapshot<K: AsRef<str>, V: Serialize>(
        &mut self,
        entries: impl IntoIterator<Item = (K, V)>,
    ) -> Result<(), Diagnostic> {
        self.read_on()?;
        if self.log.revision() == 0 {
            return Ok(());
        }
        self.make_durable()?;
        let instance = self.log.instance.clone();
        let unwritable = |why: &dyn Display| trouble::unwritable(&instance, why);
        let mut builder = SnapshotBuilder::default();
        self.log.add_keys(&mut builder)?;
        for (key, value) in entries {
            let key = key.as_ref();
            if !key.starts_with(|first: char| first.is_ascii_alphabetic()) {
                return Err(unwritable(&format_args!(
                    "the key `{key}` does not begin with a letter"
                )));
            }
            builder.add(key, value).map_err(|why| unwritable(&why))?;
        }
        let (position, orchestration) = (self.log.position.clone(), self.log.orchestration.clone());
        let revision = position.revision;
        let files = builder.finish(position, orchestration).map_err(|why| unwritable(&why))?;
        for (name, bytes) in snapshot::names(revision).iter().zip(files) {
            let place = || self.log.store.place(&instance, name);
            let replaced = self.log.store.replace(&instance, name, &bytes);
            replaced.map_err(|why| trouble::file(&trouble::WRITE, &place(), &why))?;
        }
        self.log.take_snapshot()?;
        // Old snapshots that cannot be removed do no harm.
        let _ = self.remove_snapshots(2);
        Ok(())
    }

    /// Removes unused files: blobs whose digest neither a record nor another used blob contains,
    /// and all snapshots but the last. Returns the names of the files.
    ///
    /// # Errors
    /// `file`, and the errors of reading the log, all of which is read.
    pub fn sweep(&mut self) -> Result<Vec<String>, Diagnostic> {
        let (store, instance) = (self.log.store, self.log.instance.clone());
        let failed =
            |why: io::Error| trouble::file(&trouble::WRITE, &store.place(&instance, ""), &why);
        let mut removed = self.remove_snapshots(1).map_err(failed)?;
        let files = store.files(&instance).map_err(failed)?;
        let digests = files.iter().filter_map(|file| blob::digest_of(&file.name));
        let mut unnamed: BTreeSet<&str> = digests.collect();
        // A blob that is used may name others: a target names its texts.
        let mut naming = Vec::new();
        let mut log = EventLog::open_at_start(store, &instance)?;
        while !unnamed.is_empty()
            && let Some(record) = log.next_record()?
        {
            blob::named_in(record.line(), |digest| naming.extend(unnamed.take(digest)));
            while let Some(digest) = naming.pop() {
                let text = self.log.contents(&blob::file(digest)).map_err(failed)?;
                let text = text.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
                blob::named_in(&text, |digest| naming.extend(unnamed.take(digest)));
            }
        }
        for digest in unnamed {
            store.remove(&instance, &blob::file(digest)).map_err(failed)?;
            removed.push(blob::file(digest));
        }
        Ok(removed)
    }

    /// Removes the instance with all its files.
    ///
    /// # Errors
    /// `file`; either all files are intact then, or the rest has no name any more.
    pub fn delete(self) -> Result<(), Diagnostic> {
        let (store, instance) = (self.log.store, &*self.log.instance);
        // On systems that cannot remove open files, the lock is released just before.
        let _lock = cfg!(unix).then_some(self.lock);
        let place = || store.place(instance, "");
        store
            .remove_instance(instance)
            .map_err(|why| trouble::file(&trouble::WRITE, &place(), &why))
    }

    /// Removes all snapshots but the last `kept` ones.
    fn remove_snapshots(&self, kept: usize) -> io::Result<Vec<String>> {
        let (store, instance) = (self.log.store, &*self.log.instance);
        let files = store.files(instance)?;
        let kept: Vec<_> = snapshot::revisions(&files).into_iter().take(kept).collect();
        let mut removed = Vec::new();
        // An index is removed before the entries that it lists.
        for StoredFile { name, .. } in &files {
            if snapshot::revision_of(name).is_some_and(|revision| !kept.contains(&revision)) {
                store.remove(instance, name)?;
                removed.push(name.clone());
            }
        }
        Ok(removed)
    }

    /// The warning that a torn end was put aside; it is returned only once.
    pub fn recovered(&mut self) -> Option<Diagnostic> {
        self.recovered.take()
    }

    /// Reads the records that were not read yet.
    fn read_on(&mut self) -> Result<(), Diagnostic> {
        if self.is_unsure {
            self.log.refresh()?;
            self.is_unsure = false;
        }
        while self.log.next_record()?.is_some() {}
        Ok(())
    }

    fn batch(&self) -> RecordBatch {
        RecordBatch {
            bytes: Vec::new(),
            position: self.log.position.clone(),
            orchestration: self.log.orchestration.clone(),
            records: 0,
        }
    }

    /// Puts the torn end aside, and adds a record of that.
    fn recover(&mut self, torn: &TornEnd, first: &Draft<'_>) -> Result<(), Diagnostic> {
        let log = &mut *self.log;
        let (store, instance) = (log.store, &*log.instance);
        let place = |file: &str| store.place(instance, file);
        let file = segment::name(log.position.segment);
        let aside = match torn.put_aside(log) {
            Ok(aside) => aside,
            Err(why) => {
                self.is_unsure = true;
                return Err(trouble::file(&trouble::WRITE, &place(&file), &why));
            }
        };
        self.recovered = Some(trouble::recovered(&place(&file), torn.bytes, &place(&aside)));
        log.refresh()?;
        if log.position.revision == 0 {
            // The first record of an instance has to be its own.
            return Ok(());
        }
        let draft = Draft {
            time: first.time,
            actor: first.actor,
            origin: first.origin,
            orchestration: None,
            key: None,
            events: &[Event::LogRecovered { bytes: torn.bytes }],
        };
        let mut batch = self.batch();
        batch.add(&draft).map_err(|why| trouble::unwritable(&self.log.instance, &why))?;
        self.append(batch)
    }

    /// Writes records by one write, and makes them durable.
    fn append(&mut self, batch: RecordBatch) -> Result<(), Diagnostic> {
        let RecordBatch { bytes, mut position, orchestration, records } = batch;
        if records == 0 {
            return self.make_durable();
        }
        if position.offset >= self.log.segment_bytes {
            // Earlier segments must be durable before a later one exists.
            self.make_durable()?;
            (position.segment, position.offset) = (self.log.position.revision + 1, 0);
        }
        let (store, instance) = (self.log.store, &*self.log.instance);
        let file = segment::name(position.segment);
        if let Err(why) = store.append(instance, &file, &bytes) {
            // The bytes of a failed write are removed. If that fails, too, the next reader finds a
            // torn end, as after a crash.
            let _ = match position.offset {
                0 => store.remove(instance, &file),
                offset => store.truncate(instance, &file, offset),
            };
            self.is_unsure = true;
            return Err(trouble::file(&trouble::WRITE, &store.place(instance, &file), &why));
        }
        position.offset += bytes.len() as u64;
        let written = LogTail { records, bytes: bytes.len() as u64 };
        self.log.moved_to(position, orchestration, written);
        self.is_durable = true;
        Ok(())
    }

    /// Makes durable what others may have written just before they ended.
    fn make_durable(&mut self) -> Result<(), Diagnostic> {
        let LogPosition { segment, offset, .. } = self.log.position;
        if !self.is_durable && offset > 0 {
            let (store, instance) = (self.log.store, &*self.log.instance);
            let file = segment::name(segment);
            let place = || store.place(instance, &file);
            store
                .sync(instance, &file)
                .map_err(|why| trouble::file(&trouble::WRITE, &place(), &why))?;
        }
        self.is_durable = true;
        Ok(())
    }
}
