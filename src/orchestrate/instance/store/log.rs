//! Reads a log, record after record, without a lock and without changes.

use super::keys::OrchestrationKeys;
use super::lines::LogLines;
use super::record::{self, Chain, ChainedLine, LastTime, LogRecord, RecordPlace};
use super::segment::{self, LogSegment, SEGMENT_BYTES};
use super::snapshot::{self, Snapshot, SnapshotBuilder};
use super::torn::{self, TornEnd};
use super::{LockHolder, LogWriter, Store, StoredFile, check_name, trouble};
use crate::diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::time::Duration;

/// A place between two records of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPosition {
    /// The segment, given by the revision of its first record.
    pub(super) segment: u64,
    /// The byte offset in the segment.
    pub(super) offset: u64,
    /// The revision of the record before the position; 0 at the beginning.
    pub(super) revision: u64,
    /// The structure after the record before the position.
    pub(super) structure: u64,
    /// The chain of the record before the position.
    pub(super) chain: Option<Chain>,
}

impl LogPosition {
    /// The position before the first record.
    pub(super) const START: Self =
        Self { segment: 1, offset: 0, revision: 0, structure: 0, chain: None };

    /// The revision of the record before the position; 0 at the beginning.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether a log has this position, with this chain right before it.
    pub(super) fn is_in(
        &self,
        store: &dyn Store,
        instance: &str,
        segments: &[LogSegment],
    ) -> io::Result<bool> {
        let Some(chain) = &self.chain else { return Ok(*self == Self::START) };
        // The structure grows at most by one per record.
        if self.structure > self.revision || self.revision == u64::MAX {
            return Ok(false);
        }
        let ending = chain.ending();
        let before = match self.offset {
            0 => segments.iter().rfind(|segment| segment.first < self.segment).copied(),
            offset => {
                let mut here = segments.iter().filter(|segment| segment.first == self.segment);
                here.next()
                    .filter(|segment| segment.length >= offset)
                    .map(|segment| LogSegment { length: offset, ..*segment })
            }
        };
        let Some(LogSegment { first, length }) = before else { return Ok(false) };
        let Some(from) = length.checked_sub(ending.len() as u64) else { return Ok(false) };
        let mut there = Vec::new();
        let source = store.read(instance, &segment::name(first), from)?;
        source.take(ending.len() as u64).read_to_end(&mut there)?;
        Ok(there == ending)
    }
}

/// The number of records and bytes read since the log was opened. A new snapshot would spare the
/// next reader these.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LogTail {
    pub(super) records: u64,
    pub(super) bytes: u64,
}

/// The log of an instance, read from a position that only moves forward.
///
/// It knows the records of the last time that it looked. After the last of these,
/// [`EventLog::refresh`] looks for more.
///
/// ```
/// use cuvee::deploy::instance::{Draft, Event, EventLog, LockHolder, MemoryStore, RecordOrigin};
/// use std::time::Duration;
///
/// let store = MemoryStore::new(1);
/// let anna = LockHolder { actor: "anna".to_owned(), process: 1 };
/// let begun = [Event::OrchestrationStarted { plan: None, workflow: None, target: None }];
/// let draft = Draft {
///     time: jiff::Timestamp::UNIX_EPOCH,
///     actor: "anna",
///     origin: RecordOrigin::Client,
///     orchestration: None,
///     key: None,
///     events: &begun,
/// };
/// EventLog::create(&store, "shop", &anna, Duration::ZERO, |writer| writer.commit(&[draft]))?;
///
/// let mut log = EventLog::open(&store, "shop")?;
/// let record = log.next_record()?.unwrap();
/// assert_eq!(record.revision, 1);
/// assert_eq!(record.raw_events(), r#"[{"kind":"orchestration-started"}]"#);
/// assert!(log.next_record()?.is_none());
///
/// let committed = log.writer(&anna, Duration::ZERO)?.commit(&[draft])?;
/// assert_eq!(committed[0].revision, 2);
/// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
/// ```
pub struct EventLog<'s> {
    pub(super) store: &'s dyn Store,
    pub(super) instance: String,
    /// The segments, as of the last look.
    pub(super) segments: Vec<LogSegment>,
    pub(super) position: LogPosition,
    /// The lines after the position.
    lines: Option<LogLines<'s>>,
    /// Whether the last look found nothing more.
    is_at_end: bool,
    pub(super) torn: Option<TornEnd>,
    pub(super) tail: LogTail,
    /// The snapshot that the log was opened at, or a later one that was made since.
    pub(super) snapshot: Option<Snapshot<'s>>,
    /// The orchestration of the last record that has one.
    pub(super) orchestration: Option<String>,
    /// Whether `orchestration` is unknown because earlier records were not read.
    is_midway: bool,
    /// The keys of the orchestration, once they are needed.
    pub(super) keys: Option<OrchestrationKeys>,
    pub(super) segment_bytes: u64,
    last_time: LastTime,
}

/// How often a line that changes during reading is read again.
const LOOKS: usize = 8;

impl<'s> EventLog<'s> {
    /// Makes an instance. `first` writes its first records and the blobs that these name. If
    /// `first` fails, there is no instance.
    ///
    /// # Errors
    /// `instance-name`, `instance-exists`, `store-locked`, `file`, and those of `first`.
    pub fn create<T>(
        store: &'s dyn Store,
        name: &str,
        holder: &LockHolder,
        timeout: Duration,
        first: impl FnOnce(&mut LogWriter<'_, 's>) -> Result<T, Diagnostic>,
    ) -> Result<(Self, T), Diagnostic> {
        check_name(name)?;
        let place = || store.place(name, "");
        store.create(name).map_err(|why| trouble::file(&trouble::WRITE, &place(), &why))?;
        let mut log = Self::at(store, name, LogPosition::START);
        let mut writer = log.writer(holder, timeout)?;
        if writer.next_record()?.is_some() {
            return Err(trouble::exists(name));
        }
        let is_new = writer.log().segments.is_empty();
        let made = first(&mut writer);
        if is_new && made.is_err() {
            // If this fails, the next attempt takes the directory over.
            let _ = store.remove_instance(name);
        }
        drop(writer);
        made.map(|made| (log, made))
    }

    /// Opens the log after its newest intact snapshot, or at its beginning if there is none.
    ///
    /// # Errors
    /// `instance-name`, `unknown-instance`, `file`, `store-corrupt`, `store-version`.
    pub fn open(store: &'s dyn Store, name: &str) -> Result<Self, Diagnostic> {
        Self::open_until(store, name, u64::MAX)
    }

    /// Opens the log after its newest snapshot of this or an earlier revision, or at its beginning
    /// if there is none.
    ///
    /// # Errors
    /// As [`EventLog::open`].
    pub fn open_until(store: &'s dyn Store, name: &str, revision: u64) -> Result<Self, Diagnostic> {
        check_name(name)?;
        let mut log = Self::at(store, name, LogPosition::START);
        let files = log.look()?;
        let Some(snapshot) = log.newest_snapshot(&files, revision) else {
            return Self::open_at_start(store, name);
        };
        log.position = snapshot.header.position.clone();
        log.orchestration.clone_from(&snapshot.header.orchestration);
        log.snapshot = Some(snapshot);
        Ok(log)
    }

    /// Opens the log after this revision, or after its last record if that is earlier. Chains are
    /// only checked from a position shortly before.
    ///
    /// # Errors
    /// As [`EventLog::open`].
    pub fn open_after(store: &'s dyn Store, name: &str, revision: u64) -> Result<Self, Diagnostic> {
        check_name(name)?;
        let mut log = Self::at(store, name, LogPosition::START);
        let files = log.look()?;
        if let Some(snapshot) = log.newest_snapshot(&files, revision) {
            log.position = snapshot.header.position;
        }
        if let Some(later) = log.segment_before(revision)? {
            log.position = later;
        }
        if log.position == LogPosition::START {
            log = Self::open_at_start(store, name)?;
        }
        log.is_midway = true;
        while log.revision() < revision && log.next_record()?.is_some() {}
        Ok(log)
    }

    /// Opens the log at a position that another one has reached.
    ///
    /// # Errors
    /// As [`EventLog::open`]; `store-corrupt` if the log has no such position.
    pub fn open_at(
        store: &'s dyn Store,
        name: &str,
        position: &LogPosition,
    ) -> Result<Self, Diagnostic> {
        check_name(name)?;
        let mut log = Self::at(store, name, position.clone());
        log.is_midway = true;
        log.refresh()?;
        Ok(log)
    }

    /// Opens the log at its beginning.
    ///
    /// # Errors
    /// As [`EventLog::open`].
    pub fn open_at_start(store: &'s dyn Store, name: &str) -> Result<Self, Diagnostic> {
        check_name(name)?;
        match Self::begun(store, name)? {
            Some(log) => Ok(log),
            None if super::has_log(store, name) => Err(trouble::never_begun(name)),
            None => Err(trouble::unknown(store, name)),
        }
    }

    /// Opens the log at its beginning, if it has a record.
    pub(super) fn begun(store: &'s dyn Store, name: &str) -> Result<Option<Self>, Diagnostic> {
        let mut log = Self::at(store, name, LogPosition::START);
        log.look()?;
        let has_begun = log.next_line()?.is_some();
        log.look_again();
        Ok(has_begun.then_some(log))
    }

    /// A log at a position that another one has reached.
    pub(super) fn at(store: &'s dyn Store, name: &str, position: LogPosition) -> Self {
        Self {
            store,
            instance: name.to_owned(),
            segments: Vec::new(),
            position,
            lines: None,
            is_at_end: false,
            torn: None,
            tail: LogTail::default(),
            snapshot: None,
            orchestration: None,
            is_midway: false,
            keys: None,
            segment_bytes: SEGMENT_BYTES,
            last_time: None,
        }
    }

    /// Sets the size of segments, which are 64 MiB otherwise. Tests use it to get many segments.
    pub fn with_segments(mut self, bytes: u64) -> Self {
        self.segment_bytes = bytes;
        self
    }

    /// The name of the instance.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// The revision of the last record that was read; 0 at the beginning.
    pub fn revision(&self) -> u64 {
        self.position.revision
    }

    /// The structure after the last record that was read.
    pub fn structure(&self) -> u64 {
        self.position.structure
    }

    /// The present position.
    pub fn position(&self) -> &LogPosition {
        &self.position
    }

    /// The snapshot that the log was opened at, or a later one that was made since.
    pub fn snapshot(&self) -> Option<&Snapshot<'s>> {
        self.snapshot.as_ref()
    }

    /// How many bytes after the last record are no record: somebody is writing them, or was
    /// interrupted. It is known once there is no further record.
    pub fn torn(&self) -> Option<u64> {
        self.torn.as_ref().map(|torn| torn.bytes)
    }

    /// The next record; `None` after the last one.
    ///
    /// # Errors
    /// `store-corrupt` with the segment and the line, `store-version`, `file`.
    pub fn next_record(&mut self) -> Result<Option<LogRecord<'_>>, Diagnostic> {
        let Some((range, chain)) = self.next_line()? else { return Ok(None) };
        let Some(lines) = &self.lines else { return Ok(None) };
        let bytes = range.len() as u64 + 1;
        let place = RecordPlace {
            store: self.store,
            instance: &self.instance,
            segment: self.position.segment,
            revision: self.position.revision + 1,
        };
        let line = lines.bytes(range);
        let record = record::read(line, chain, &self.position, &mut self.last_time, place)?;
        self.position.offset += bytes;
        self.position.revision = record.revision;
        self.position.structure = record.structure;
        self.position.chain = Some(chain);
        self.tail.records += 1;
        self.tail.bytes += bytes;
        if let Some(orchestration) = record.orchestration.as_deref()
            && self.orchestration.as_deref() != Some(orchestration)
        {
            self.orchestration = Some(orchestration.to_owned());
            // The orchestration begins with this record, so it has no keys yet.
            if self.keys.is_some() && orchestration == record.revision.to_string() {
                self.keys = Some(OrchestrationKeys::behind(None, orchestration));
            }
        }
        if let Some(keys) = &mut self.keys {
            let committed = (record.revision, record.structure);
            keys.note(record.orchestration.as_deref(), record.key.as_deref(), committed);
        }
        Ok(Some(record))
    }

    /// Looks for new records. Returns whether there are any.
    ///
    /// # Errors
    /// `unknown-instance` if the instance was removed, `store-corrupt` if the log is another one
    /// now, `file`.
    pub fn refresh(&mut self) -> Result<bool, Diagnostic> {
        self.look()?;
        self.look_again();
        let is_there = self.position.is_in(self.store, &self.instance, &self.segments);
        if !is_there.map_err(|why| self.unreadable(&why))? {
            return Err(trouble::replaced(
                &self.place(self.position.segment),
                self.position.revision,
            ));
        }
        let behind = |segment: &&LogSegment| {
            segment.first > self.position.segment
                || segment.first == self.position.segment && segment.length > self.position.offset
        };
        Ok(self.segments.iter().any(|segment| behind(&segment)))
    }

    /// Takes the lock, waiting for others at most `timeout`, and returns a writer at this position.
    ///
    /// # Errors
    /// `store-locked` with the holder, `unknown-instance`, `file`.
    pub fn writer(
        &mut self,
        holder: &LockHolder,
        timeout: Duration,
    ) -> Result<LogWriter<'_, 's>, Diagnostic> {
        let lock = super::lock(self.store, &self.instance, holder, timeout)?;
        self.refresh()?;
        Ok(LogWriter::new(self, lock))
    }

    /// The next correct line, and its chain. The position stays before it until the line is read.
    fn next_line(&mut self) -> Result<Option<(Range<usize>, Chain)>, Diagnostic> {
        for _ in 0..LOOKS {
            while !self.is_at_end {
                let Some(lines) = self.opened()? else { break };
                match lines.next_line() {
                    Err(why) => return Err(self.unreadable(&why)),
                    Ok(None) => self.end_of_segment()?,
                    Ok(Some(range)) => {
                        let before = self.position.chain.as_ref();
                        let line = self.lines.as_ref().map(|lines| lines.bytes(range.clone()));
                        let chain = line.and_then(|line| ChainedLine::of(line).following(before));
                        match chain {
                            Some(chain) => return Ok(Some((range, chain))),
                            None => {
                                self.judge()?;
                                break;
                            }
                        }
                    }
                }
            }
            if self.is_at_end {
                return Ok(None);
            }
        }
        Err(trouble::corrupt(&self.next_place(), "changes while it is read"))
    }

    /// The lines after the position, if there is a segment.
    fn opened(&mut self) -> Result<Option<&mut LogLines<'s>>, Diagnostic> {
        if self.lines.is_none() {
            let wanted = self.position.segment;
            let Ok(index) = self.segments.binary_search_by_key(&wanted, |segment| segment.first)
            else {
                let is_last = self.segments.iter().all(|segment| segment.first < wanted);
                if is_last && self.position.offset == 0 {
                    self.is_at_end = true;
                    return Ok(None);
                }
                return Err(trouble::corrupt(&self.place(wanted), "is missing"));
            };
            let (length, offset) = (self.segments[index].length, self.position.offset);
            if length < offset {
                let what = format!(
                    "has {length} bytes, and revision {} ended at byte {offset}",
                    self.position.revision
                );
                return Err(trouble::corrupt(&self.place(wanted), what));
            }
            // Only the last segment still grows; earlier ones are read as far as they were listed.
            let is_last = index + 1 == self.segments.len();
            let source = self.store.read(&self.instance, &segment::name(wanted), offset);
            let source = source.map_err(|why| self.unreadable(&why))?;
            self.lines = Some(LogLines::new(source, is_last.then_some(length - offset)));
        }
        Ok(self.lines.as_mut())
    }

    /// Goes on to the next segment at the end of one, if there is a next one.
    fn end_of_segment(&mut self) -> Result<(), Diagnostic> {
        let Some(lines) = self.lines.take() else { return Ok(()) };
        let (rest, is_short) = (lines.rest().len() as u64, lines.is_short());
        if is_short {
            return self.shorter();
        }
        let here = self.position.segment;
        let next = self.segments.iter().find(|segment| segment.first > here);
        match next.map(|next| next.first) {
            None => {
                self.is_at_end = true;
                let (segment, offset) = (here, self.position.offset);
                self.torn = (rest > 0).then_some(TornEnd { segment, offset, bytes: rest });
                Ok(())
            }
            Some(_) if rest > 0 => self.judge(),
            Some(next) if next == self.position.revision + 1 => {
                (self.position.segment, self.position.offset) = (next, 0);
                Ok(())
            }
            Some(next) => {
                let what = format!("comes behind revision {}", self.position.revision);
                Err(trouble::corrupt(&self.place(next), what))
            }
        }
    }

    /// Handles a segment with fewer bytes than were listed. Either a torn end was put aside
    /// meanwhile, or reading fails, which must not be taken for the end of the log.
    fn shorter(&mut self) -> Result<(), Diagnostic> {
        let was = self.segments.clone();
        self.look()?;
        if was == self.segments {
            return Err(self.unreadable(&std::io::Error::from(ErrorKind::UnexpectedEof)));
        }
        Ok(())
    }

    /// Refuses a line that is wrong, unless it is right when it is read again: a writer may just
    /// have put a torn end aside, and written on.
    fn judge(&mut self) -> Result<(), Diagnostic> {
        if self.position.revision == 0 {
            self.check_format()?;
        }
        self.lines = None;
        if !(self.is_wrong()? && self.is_wrong()?) {
            return Ok(());
        }
        Err(trouble::corrupt(
            &self.next_place(),
            "does not continue the record before: a line was changed, moved or removed after it was written",
        ))
    }

    fn is_wrong(&mut self) -> Result<bool, Diagnostic> {
        self.look()?;
        torn::is_wrong(self.store, &self.instance, &self.segments, &self.position)
            .map_err(|why| self.unreadable(&why))
    }

    /// Checks the format of the first line, since chains of a later version may differ.
    fn check_format(&mut self) -> Result<(), Diagnostic> {
        self.lines = None;
        let place = self.next_place();
        let Some(lines) = self.opened()? else { return Ok(()) };
        let Ok(Some(range)) = lines.next_line() else { return Ok(()) };
        match record::later_format(lines.bytes(range)) {
            Some(format) => Err(trouble::version(&place, format)),
            None => Ok(()),
        }
    }

    /// Lists the files, and takes note of the segments among them.
    fn look(&mut self) -> Result<Vec<StoredFile>, Diagnostic> {
        let files = self.store.files(&self.instance).map_err(|why| match why.kind() {
            ErrorKind::NotFound => trouble::unknown(self.store, &self.instance),
            _ => self.unreadable(&why),
        })?;
        self.segments = segment::all(&files);
        Ok(files)
    }

    /// The newest snapshot that is not later than a revision. One that cannot be read is ignored,
    /// since the log contains the same.
    fn newest_snapshot(&self, files: &[StoredFile], until: u64) -> Option<Snapshot<'s>> {
        let revisions = snapshot::revisions(files);
        let early = revisions.into_iter().filter(|&revision| revision <= until);
        let mut opened = early.filter_map(|revision| {
            Snapshot::open(self.store, &self.instance, files, revision).ok().flatten()
        });
        opened.next()
    }

    /// The beginning of the segment that has the record after a revision. It is `None` unless that
    /// is further than the present position, and the previous segment gives the chain there.
    fn segment_before(&self, revision: u64) -> Result<Option<LogPosition>, Diagnostic> {
        let behind =
            self.segments.partition_point(|segment| segment.first.saturating_sub(1) <= revision);
        let [.., before, segment] = &self.segments[..behind] else { return Ok(None) };
        if segment.first <= self.position.revision + 1 {
            return Ok(None);
        }
        let last = self.last_record(before).map_err(|why| self.unreadable(&why))?;
        let position = last.map(|(revision, structure, chain)| LogPosition {
            segment: segment.first,
            offset: 0,
            revision,
            structure,
            chain: Some(chain),
        });
        Ok(position.filter(|position| position.revision + 1 == segment.first))
    }

    /// Revision, structure and chain in the last line of a segment.
    fn last_record(&self, segment: &LogSegment) -> io::Result<Option<(u64, u64, Chain)>> {
        let mut wanted: u64 = 16 << 10;
        loop {
            let from = segment.length.saturating_sub(wanted);
            let mut bytes = Vec::new();
            let name = segment::name(segment.first);
            self.store.read(&self.instance, &name, from)?.read_to_end(&mut bytes)?;
            let Some(line) = bytes.strip_suffix(b"\n") else { return Ok(None) };
            match memchr::memrchr(b'\n', line) {
                Some(at) => return Ok(record::numbers(&line[at + 1..])),
                None if from == 0 => return Ok(record::numbers(line)),
                None => wanted *= 8,
            }
        }
    }

    /// Whether the log keeps the keys of this orchestration, which is named by its first revision.
    pub(in crate::orchestrate::instance) fn keeps_keys_of(&self, orchestration: u64) -> bool {
        self.orchestration.as_deref() == Some(&*orchestration.to_string())
    }

    /// Collects keys from here on, for a writer. Otherwise the records after the snapshot would
    /// have to be read again for them.
    pub(in crate::orchestrate::instance) fn note_keys(&mut self) {
        let orchestration = self.orchestration.as_deref().unwrap_or_default();
        self.keys = Some(OrchestrationKeys::behind(self.snapshot.as_ref(), orchestration));
    }

    /// Revision and structure of the first record with a key of an orchestration, if there is one.
    pub(super) fn said(
        &mut self,
        orchestration: &str,
        key: &str,
    ) -> Result<Option<(u64, u64)>, Diagnostic> {
        let keys = match self.keys.take() {
            Some(keys) if keys.is_of(orchestration) => keys,
            _ => OrchestrationKeys::read(self, orchestration)?,
        };
        self.keys.insert(keys).get(key, self.snapshot.as_ref())
    }

    /// Adds the keys of the orchestration to a snapshot.
    pub(super) fn add_keys(&mut self, to: &mut SnapshotBuilder) -> Result<(), Diagnostic> {
        if std::mem::take(&mut self.is_midway) {
            let mut again = Self::open_until(self.store, &self.instance, self.position.revision)?;
            while again.revision() < self.revision() && again.next_record()?.is_some() {}
            (self.orchestration, self.snapshot) = (again.orchestration, again.snapshot);
        }
        let Some(orchestration) = self.orchestration.clone() else { return Ok(()) };
        let mut keys = match self.keys.take() {
            Some(keys) if keys.is_of(&orchestration) => keys,
            _ => OrchestrationKeys::read(self, &orchestration)?,
        };
        keys.add_to(to, self.snapshot.as_ref())?;
        self.keys = Some(keys);
        Ok(())
    }

    /// Takes note of a new snapshot of the present revision.
    pub(super) fn take_snapshot(&mut self) -> Result<(), Diagnostic> {
        let files = self.look()?;
        self.snapshot = self.newest_snapshot(&files, self.position.revision);
        self.tail = LogTail::default();
        Ok(())
    }

    /// Moves to the position that writing has reached.
    pub(super) fn moved_to(
        &mut self,
        position: LogPosition,
        orchestration: Option<String>,
        written: LogTail,
    ) {
        let LogPosition { segment: first, offset: length, .. } = position;
        match self.segments.last_mut().filter(|last| last.first == first) {
            Some(last) => last.length = length,
            None => self.segments.push(LogSegment { first, length }),
        }
        self.tail.records += written.records;
        self.tail.bytes += written.bytes;
        self.position = position;
        self.orchestration = orchestration;
        self.lines = None;
    }

    /// Continues at the position, with a new look at the files.
    pub(super) fn look_again(&mut self) {
        self.lines = None;
        self.is_at_end = false;
        self.torn = None;
    }

    fn place(&self, segment: u64) -> String {
        self.store.place(&self.instance, &segment::name(segment))
    }

    pub(super) fn next_place(&self) -> String {
        let LogPosition { segment, revision, .. } = self.position;
        let place = RecordPlace {
            store: self.store,
            instance: &self.instance,
            segment,
            revision: revision + 1,
        };
        place.name()
    }

    pub(super) fn unreadable(&self, why: &std::io::Error) -> Diagnostic {
        trouble::file(&trouble::READ, &self.place(self.position.segment), why)
    }
}
