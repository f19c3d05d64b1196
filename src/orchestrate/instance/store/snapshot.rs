//! Snapshots: the state after a revision of a log, so that nobody has to read all of the log.
//!
//! Entries are one per line, sorted by key, in blocks that have a digest each. The index lists the
//! blocks and is written last. A snapshot follows from the log, so it may be removed at any time.
//! One that is damaged or belongs to another log is ignored.

use super::log::LogPosition;
use super::record::Chain;
use super::segment;
use super::{Store, StoredFile, trouble};
use crate::diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::io::{self, Read};

const PREFIX: &str = "snapshot-";
const ENTRIES: &str = ".ndjson";
const INDEX: &str = ".idx";

/// The format that this version writes and reads. A snapshot of another format is ignored.
const FORMAT: u64 = 3;

/// A block ends after the entry that reaches this length. To find one entry, one block is read.
const BLOCK: usize = 16 << 10;

/// The first character of keys that the store itself uses.
pub(super) const OWN: char = '!';

/// The state of a log after a revision: values by key.
pub struct Snapshot<'s> {
    store: &'s dyn Store,
    instance: String,
    pub(super) header: SnapshotHeader,
    blocks: Vec<SnapshotBlock>,
}

/// The first line of an index.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SnapshotHeader {
    format: u64,
    /// The position at which the log continues.
    #[serde(flatten)]
    pub(super) position: LogPosition,
    /// The orchestration of the last record that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) orchestration: Option<String>,
    entries: u64,
    pub(super) bytes: u64,
}

/// A further line of an index.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SnapshotBlock {
    /// The first key in the block.
    key: String,
    offset: u64,
    bytes: u64,
    digest: Chain,
}

/// A line of a snapshot.
#[derive(Serialize)]
struct WrittenEntry<'a, V> {
    key: &'a str,
    value: V,
}

#[derive(Deserialize)]
struct ReadEntry<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow)]
    value: &'a RawValue,
}

/// The file names of the snapshot of a revision: entries and index.
pub(super) fn names(revision: u64) -> [String; 2] {
    [ENTRIES, INDEX].map(|suffix| format!("{PREFIX}{revision}{suffix}"))
}

/// The revisions that have snapshots, the last one first.
pub(super) fn revisions(files: &[StoredFile]) -> Vec<u64> {
    let revision = |file: &StoredFile| segment::number(&file.name, PREFIX, INDEX);
    let mut revisions: Vec<_> = files.iter().filter_map(revision).collect();
    revisions.sort_unstable_by(|one, other| other.cmp(one));
    revisions
}

/// The revision of a file that belongs to a snapshot.
pub(super) fn revision_of(file: &str) -> Option<u64> {
    [ENTRIES, INDEX].iter().find_map(|suffix| segment::number(file, PREFIX, suffix))
}

impl<'s> Snapshot<'s> {
    /// Opens the snapshot of a revision. Its index has to be intact, its entries must have the
    /// length in the index, and the log must have its chain.
    pub(super) fn open(
        store: &'s dyn Store,
        instance: &str,
        files: &[StoredFile],
        revision: u64,
    ) -> io::Result<Option<Self>> {
        let [entries, index] = names(revision);
        let mut text = Vec::new();
        store.read(instance, &index, 0)?.read_to_end(&mut text)?;
        let Some((header, blocks)) = read_index(&text) else { return Ok(None) };
        let is_whole = header.position.revision == revision
            && files.iter().any(|file| file.name == entries && file.length == header.bytes);
        if !is_whole || !header.position.is_in(store, instance, &segment::all(files))? {
            return Ok(None);
        }
        Ok(Some(Self { store, instance: instance.to_owned(), header, blocks }))
    }

    /// The revision of the snapshot.
    pub fn revision(&self) -> u64 {
        self.header.position.revision
    }

    /// The structure after that revision.
    pub fn structure(&self) -> u64 {
        self.header.position.structure
    }

    /// The value of one key, as JSON. Reads at most one block.
    ///
    /// # Errors
    /// `file`, or `store-corrupt` if the snapshot is damaged.
    pub fn entry(&self, key: &str) -> Result<Option<String>, Diagnostic> {
        let behind = self.blocks.partition_point(|block| *block.key <= *key);
        let Some(block) = behind.checked_sub(1).and_then(|at| self.blocks.get(at)) else {
            return Ok(None);
        };
        let mut found = None;
        self.read(std::slice::from_ref(block), &mut |other, value| {
            if other == key {
                found = Some(value.to_owned());
            }
            Ok(other < key)
        })?;
        Ok(found)
    }

    /// Calls `each` with all keys that begin with `prefix`, sorted, and their values as JSON.
    ///
    /// # Errors
    /// `file`, `store-corrupt` if the snapshot is damaged, and the errors of `each`.
    pub fn entries(
        &self,
        prefix: &str,
        each: &mut dyn FnMut(&str, &str) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let before = |block: &SnapshotBlock| *block.key <= *prefix;
        let first = self.blocks.partition_point(before).saturating_sub(1);
        let is_wanted = |block: &SnapshotBlock| before(block) || block.key.starts_with(prefix);
        let end = self.blocks.partition_point(is_wanted);
        self.read(&self.blocks[first..end], &mut |key, value| {
            if key.starts_with(OWN) && !prefix.starts_with(OWN) {
                return Ok(true);
            }
            if key.starts_with(prefix) {
                each(key, value)?;
            }
            Ok(key < prefix || key.starts_with(prefix))
        })
    }

    /// The error that the snapshot is not what was written.
    pub(super) fn damaged(&self) -> Diagnostic {
        let [file, _] = names(self.revision());
        trouble::damaged(&self.store.place(&self.instance, &file))
    }

    /// Checks that the whole snapshot is what was written.
    pub(super) fn check(&self) -> Result<(), Diagnostic> {
        self.read(&self.blocks, &mut |_, _| Ok(true))
    }

    /// Reads consecutive blocks, as long as `each` returns true.
    fn read(
        &self,
        blocks: &[SnapshotBlock],
        each: &mut dyn FnMut(&str, &str) -> Result<bool, Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let Some(first) = blocks.first() else { return Ok(()) };
        let [file, _] = names(self.revision());
        let place = || self.store.place(&self.instance, &file);
        let unreadable = |why: io::Error| trouble::file(&trouble::READ, &place(), &why);
        let mut source =
            self.store.read(&self.instance, &file, first.offset).map_err(unreadable)?;
        let mut text = Vec::new();
        for block in blocks {
            text.clear();
            text.reserve(usize::try_from(block.bytes).unwrap_or_default());
            source.by_ref().take(block.bytes).read_to_end(&mut text).map_err(unreadable)?;
            if Chain::of(None, &text) != block.digest {
                return Err(self.damaged());
            }
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                let entry: ReadEntry<'_> =
                    serde_json::from_slice(line).map_err(|_| self.damaged())?;
                if !each(&entry.key, entry.value.get())? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Header and blocks of an index, if it is intact.
fn read_index(text: &[u8]) -> Option<(SnapshotHeader, Vec<SnapshotBlock>)> {
    let text = text.strip_suffix(b"\n")?;
    let at = memchr::memrchr(b'\n', text)? + 1;
    let digest: Chain = serde_json::from_slice(&text[at..]).ok()?;
    if Chain::of(None, &text[..at]) != digest {
        return None;
    }
    let mut lines = text[..at - 1].split(|byte| *byte == b'\n');
    let header: SnapshotHeader = serde_json::from_slice(lines.next()?).ok()?;
    let blocks: Result<_, _> = lines.map(serde_json::from_slice).collect();
    (header.format == FORMAT).then_some((header, blocks.ok()?))
}

/// A snapshot that is being made.
#[derive(Debug, Default)]
pub(super) struct SnapshotBuilder {
    text: Vec<u8>,
    blocks: Vec<SnapshotBlock>,
    entries: u64,
    last: Option<String>,
    /// The offset of the block that is not finished.
    open: usize,
    first: Option<String>,
}

impl SnapshotBuilder {
    /// Adds an entry after all others.
    ///
    /// # Errors
    /// A message, if a key does not come after the last one, or a value cannot be written.
    pub(super) fn add(&mut self, key: &str, value: impl Serialize) -> Result<(), String> {
        if self.last.as_ref().is_some_and(|last| **last >= *key) {
            return Err(format!("the key `{key}` comes before another one"));
        }
        let from = self.text.len();
        serde_json::to_writer(&mut self.text, &WrittenEntry { key, value })
            .map_err(|why| why.to_string())?;
        if memchr::memchr(b'\n', &self.text[from..]).is_some() {
            return Err(format!("the value of `{key}` has a line break"));
        }
        self.text.push(b'\n');
        // A long entry gets a block of its own, so that looking for its neighbours does not read
        // it.
        if self.text.len() - from >= BLOCK {
            self.end_block(from);
        }
        self.entries += 1;
        let key = key.to_owned();
        self.first.get_or_insert_with(|| key.clone());
        self.last = Some(key);
        if self.text.len() - self.open >= BLOCK {
            self.end_block(self.text.len());
        }
        Ok(())
    }

    fn end_block(&mut self, end: usize) {
        let Some(key) = self.first.take() else { return };
        let block = &self.text[self.open..end];
        self.blocks.push(SnapshotBlock {
            key,
            offset: self.open as u64,
            bytes: block.len() as u64,
            digest: Chain::of(None, block),
        });
        self.open = end;
    }

    /// The text of the entries, and that of the index.
    pub(super) fn finish(
        mut self,
        position: LogPosition,
        orchestration: Option<String>,
    ) -> Result<[Vec<u8>; 2], serde_json::Error> {
        self.end_block(self.text.len());
        let header = SnapshotHeader {
            format: FORMAT,
            position,
            orchestration,
            entries: self.entries,
            bytes: self.text.len() as u64,
        };
        let mut index = serde_json::to_vec(&header)?;
        index.push(b'\n');
        for block in &self.blocks {
            serde_json::to_writer(&mut index, block)?;
            index.push(b'\n');
        }
        let digest = serde_json::to_vec(&Chain::of(None, &index))?;
        index.extend_from_slice(&digest);
        index.push(b'\n');
        Ok([self.text, index])
    }
}
