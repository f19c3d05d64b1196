//! A log as it is read: record after record, with no lock, and without changing anything.

use super::keys::OrchestrationKeys;
use super::lines::LogLines;
use super::record::{self, Chain, ChainedLine, LogRecord, RecordPlace};
use super::segment::{self, LogSegment, SEGMENT_BYTES};
use super::torn::{self, TornEnd, TornVerdict};
use super::{LockHolder, LogWriter, Store, check_name, trouble};
use crate::text::diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::ops::Range;
use std::time::Duration;

/// A place between two records of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPosition {
    /// The segment, by the revision of its first record.
    pub(super) segment: u64,
    /// The byte in it.
    pub(super) offset: u64,
    /// Of the record before; 0 at the beginning.
    pub(super) revision: u64,
    /// Of the record before.
    pub(super) structure: u64,
    /// Of the record before.
    pub(super) chain: Option<Chain>,
}

impl LogPosition {
    /// Before the first record.
    pub(super) const START: Self =
        Self { segment: 1, offset: 0, revision: 0, structure: 0, chain: None };

    /// The revision of the record before; 0 at the beginning.
    pub fn revision(&self) -> u64 {
        self.revision
    }
}

/// What was read since the log was opened: what a snapshot would spare the next one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LogTail {
    pub(super) records: u64,
    pub(super) bytes: u64,
}

/// The log of an instance, at a place that only moves on.
///
/// It says what was there when it last looked: behind the last record, [`EventLog::refresh`] looks
/// for more.
///
/// ```
/// use cuvee::instance::{Draft, Event, EventLog, LockHolder, MemoryStore, RecordOrigin};
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
    /// As they were when last looked at.
    pub(super) segments: Vec<LogSegment>,
    pub(super) position: LogPosition,
    /// What is read behind the position.
    lines: Option<LogLines<'s>>,
    /// Whether there was nothing more when last looked.
    is_at_end: bool,
    pub(super) torn: Option<TornEnd>,
    pub(super) tail: LogTail,
    /// Once somebody has asked for them.
    pub(super) keys: Option<OrchestrationKeys>,
    pub(super) segment_bytes: u64,
}

/// So often a line that changes while it is read is looked at again.
const LOOKS: usize = 8;

impl<'s> EventLog<'s> {
    /// Makes an instance: `first` writes its first records, and whatever these name. Where that
    /// fails, there is no instance.
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
        if is_new && writer.log().revision() == 0 {
            // What was begun is worth nothing; where it stays, the next attempt takes it over.
            let _ = store.remove_instance(name);
        }
        drop(writer);
        made.map(|made| (log, made))
    }

    /// The log from its beginning.
    ///
    /// # Errors
    /// `instance-name`, `unknown-instance`, `file`, `store-corrupt`, `store-version`.
    pub fn open(store: &'s dyn Store, name: &str) -> Result<Self, Diagnostic> {
        check_name(name)?;
        match Self::begun(store, name)? {
            Some(log) => Ok(log),
            None if super::has_log(store, name) => Err(trouble::never_begun(name)),
            None => Err(trouble::unknown(store, name)),
        }
    }

    /// The log from its beginning, if it has a record.
    pub(super) fn begun(store: &'s dyn Store, name: &str) -> Result<Option<Self>, Diagnostic> {
        let mut log = Self::at(store, name, LogPosition::START);
        log.look()?;
        let has_begun = log.next_line()?.is_some();
        log.look_again();
        Ok(has_begun.then_some(log))
    }

    /// Behind a place that another one had come to.
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
            keys: None,
            segment_bytes: SEGMENT_BYTES,
        }
    }

    /// In segments of so many bytes, which are 64 MiB unless somebody wants to see what many do.
    pub fn with_segments(mut self, bytes: u64) -> Self {
        self.segment_bytes = bytes;
        self
    }

    /// Its name.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// The revision of the record that was read last; 0 at the beginning.
    pub fn revision(&self) -> u64 {
        self.position.revision
    }

    /// The structure of the record that was read last.
    pub fn structure(&self) -> u64 {
        self.position.structure
    }

    /// Where it has come to.
    pub fn position(&self) -> &LogPosition {
        &self.position
    }

    /// How many bytes are behind the last record that are none: somebody is writing them, or was
    /// interrupted. Known once there is no further record.
    pub fn torn(&self) -> Option<u64> {
        self.torn.as_ref().map(|torn| torn.bytes)
    }

    /// The next record; nothing behind the last one.
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
        let record = record::read(lines.bytes(range), chain, &self.position, place)?;
        self.position.offset += bytes;
        self.position.revision = record.revision;
        self.position.structure = record.structure;
        self.position.chain = Some(chain);
        self.tail.records += 1;
        self.tail.bytes += bytes;
        if let Some(keys) = &mut self.keys {
            let committed = (record.revision, record.structure);
            keys.note(record.orchestration.as_deref(), record.key.as_deref(), committed);
        }
        Ok(Some(record))
    }

    /// Looks whether something has come since.
    ///
    /// # Errors
    /// `unknown-instance` where it was removed, `file`.
    pub fn refresh(&mut self) -> Result<bool, Diagnostic> {
        self.look()?;
        self.look_again();
        let behind = |segment: &&LogSegment| {
            segment.first > self.position.segment
                || segment.first == self.position.segment && segment.length > self.position.offset
        };
        Ok(self.segments.iter().any(|segment| behind(&segment)))
    }

    /// Takes the lock, for which others are waited for that long, and goes on where this is.
    ///
    /// # Errors
    /// `store-locked` with who has it, `unknown-instance`, `file`.
    pub fn writer(
        &mut self,
        holder: &LockHolder,
        timeout: Duration,
    ) -> Result<LogWriter<'_, 's>, Diagnostic> {
        let lock = super::lock(self.store, &self.instance, holder, timeout)?;
        self.refresh()?;
        Ok(LogWriter::new(self, lock))
    }

    /// The next line that is right, and its chain. Until it is read, the position is before it.
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

    /// What is read behind the position, if there is a segment.
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
            // Those before the last do not grow any more, whatever they had when they were listed.
            let is_last = index + 1 == self.segments.len();
            let source = self.store.read(&self.instance, &segment::name(wanted), offset);
            let source = source.map_err(|why| self.unreadable(&why))?;
            self.lines = Some(LogLines::new(source, is_last.then_some(length - offset)));
        }
        Ok(self.lines.as_mut())
    }

    /// There is no further line in a segment: on to the next, if there is one.
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
                let parts = vec![(here, self.position.offset)];
                self.torn = (rest > 0).then_some(TornEnd { parts, bytes: rest });
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

    /// A segment had fewer bytes than it was listed with: somebody has put aside what was torn, or
    /// reading fails, of which nobody must think that it is the end.
    fn shorter(&mut self) -> Result<(), Diagnostic> {
        let was = self.segments.clone();
        self.look()?;
        if was == self.segments {
            return Err(self.unreadable(&std::io::Error::from(ErrorKind::UnexpectedEof)));
        }
        Ok(())
    }

    /// A line is wrong.
    fn judge(&mut self) -> Result<(), Diagnostic> {
        if self.position.revision == 0 {
            self.check_format()?;
        }
        self.lines = None;
        self.look()?;
        let verdict = torn::judge(self.store, &self.instance, &self.segments, &self.position)
            .map_err(|why| self.unreadable(&why))?;
        match verdict {
            TornVerdict::Right => Ok(()),
            TornVerdict::Torn(torn) => {
                (self.torn, self.is_at_end) = (Some(torn), true);
                Ok(())
            }
            TornVerdict::Changed => Err(trouble::corrupt(
                &self.next_place(),
                "is not what was written: its chain is wrong, and right records are behind it",
            )),
        }
    }

    /// A later version may have other chains.
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

    /// Which segments there are.
    fn look(&mut self) -> Result<(), Diagnostic> {
        match self.store.files(&self.instance) {
            Ok(files) => self.segments = segment::all(&files),
            Err(why) if why.kind() == ErrorKind::NotFound => {
                return Err(trouble::unknown(self.store, &self.instance));
            }
            Err(why) => return Err(self.unreadable(&why)),
        }
        Ok(())
    }

    /// What became of a key of an orchestration: revision and structure, if it was said.
    pub(super) fn said(
        &mut self,
        orchestration: &str,
        key: &str,
    ) -> Result<Option<(u64, u64)>, Diagnostic> {
        let keys = match self.keys.take() {
            Some(keys) if keys.is_of(orchestration) => keys,
            _ => OrchestrationKeys::read(self, orchestration)?,
        };
        Ok(self.keys.insert(keys).get(key))
    }

    /// Has come to a place by writing.
    pub(super) fn moved_to(&mut self, position: LogPosition, written: LogTail) {
        let LogPosition { segment: first, offset: length, .. } = position;
        match self.segments.last_mut().filter(|last| last.first == first) {
            Some(last) => last.length = length,
            None => self.segments.push(LogSegment { first, length }),
        }
        self.tail.records += written.records;
        self.tail.bytes += written.bytes;
        self.position = position;
        self.lines = None;
    }

    /// Goes on from the position, with what was looked at last.
    pub(super) fn look_again(&mut self) {
        self.lines = None;
        self.is_at_end = false;
        self.torn = None;
    }

    fn place(&self, segment: u64) -> String {
        self.store.place(&self.instance, &segment::name(segment))
    }

    fn next_place(&self) -> String {
        let LogPosition { segment, revision, .. } = self.position;
        let place = RecordPlace {
            store: self.store,
            instance: &self.instance,
            segment,
            revision: revision + 1,
        };
        place.name()
    }

    fn unreadable(&self, why: &std::io::Error) -> Diagnostic {
        trouble::file(&trouble::READ, &self.place(self.position.segment), why)
    }
}
