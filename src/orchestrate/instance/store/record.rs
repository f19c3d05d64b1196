//! Reads and writes records: one line of a log each, with a chain through all of them.

use super::log::LogPosition;
use super::trouble;
use crate::diagnostic::Diagnostic;
use crate::orchestrate::instance::event::{Event, RecordOrigin};
use crate::orchestrate::instance::secrets::dropped;
use cuvee_text::value::Value;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt;

/// The format of records that this version writes and reads.
pub(super) const FORMAT: u64 = 2;

/// The number of digits in a chain.
const DIGITS: usize = 32;

/// The length of the end of a line that its chain does not cover: `,"chain":"…"}`.
const TAIL: usize = OPENING.len() + DIGITS + CLOSING.len();
const OPENING: &[u8] = b",\"chain\":\"";
const CLOSING: &[u8] = b"\"}";

/// The chain of a record: the first 32 hexadecimal digits of SHA-256 over the chain of the record
/// before, if any, and the record's own line up to its chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chain([u8; DIGITS]);

impl Chain {
    /// The chain of a line with this text before its chain.
    pub(super) fn of(before: Option<&Self>, body: &[u8]) -> Self {
        let before: &[u8] = before.map_or(&[], |before| &before.0);
        let digest = Sha256::new().chain_update(before).chain_update(body).finalize();
        let mut digits = [0; DIGITS];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(digest) {
            pair.copy_from_slice(&[byte >> 4, byte & 15].map(|half| HALVES[usize::from(half)]));
        }
        Self(digits)
    }

    /// The digits of the chain.
    pub fn as_str(&self) -> &str {
        // They are ASCII by construction.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    pub(super) fn read(digits: &[u8]) -> Option<Self> {
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        Some(Self(digits.try_into().ok()?)).filter(|chain| chain.0.iter().all(is_digit))
    }

    /// The end of a line with this chain, with its line break.
    pub(super) fn ending(&self) -> [u8; TAIL + 1] {
        let mut ending = [b'\n'; TAIL + 1];
        let parts = OPENING.iter().chain(&self.0).chain(CLOSING);
        ending.iter_mut().zip(parts).for_each(|(to, from)| *to = *from);
        ending
    }
}

/// The digits for half a byte.
const HALVES: [u8; 16] = *b"0123456789abcdef";

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Chain {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Chain {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom("a chain is 32 hexadecimal digits");
        Self::read(text.as_bytes()).ok_or_else(wrong)
    }
}

/// A line, divided at its chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChainedLine<'l> {
    /// The text that the chain covers, beside the chain before.
    pub(super) body: &'l [u8],
    /// The end of the line, in which the chain is written.
    tail: &'l [u8],
}

impl<'l> ChainedLine<'l> {
    pub(super) fn of(line: &'l [u8]) -> Self {
        let (body, tail) = line.split_at(line.len().saturating_sub(TAIL));
        Self { body, tail }
    }

    /// The chain in the line; `None` if the line does not end as records do.
    fn chain(&self) -> Option<Chain> {
        Chain::read(self.digits()?)
    }

    /// What is written in the place of the chain.
    fn digits(&self) -> Option<&'l [u8]> {
        self.tail.strip_prefix(OPENING)?.strip_suffix(CLOSING)
    }

    /// The chain of the line, if it continues this one.
    pub(super) fn following(&self, before: Option<&Chain>) -> Option<Chain> {
        let digits = self.digits()?;
        Some(Chain::of(before, self.body)).filter(|chain| chain.0 == *digits)
    }

    /// Whether the line continues this chain.
    pub(super) fn follows(&self, before: Option<&Chain>) -> bool {
        self.following(before).is_some()
    }
}

/// The contents of a record that is to be written. The store adds revision, structure and chain.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'a> {
    /// The time of the events, as the author gives it. Records are in order of revision, not time.
    pub time: Timestamp,
    /// The author.
    pub actor: &'a str,
    /// The role of the author.
    pub origin: RecordOrigin,
    /// The name of the orchestration that it belongs to.
    pub orchestration: Option<&'a str>,
    /// A key with which the author can repeat the record without effect, in the same orchestration.
    pub key: Option<&'a str>,
    /// The events. All of them happen, or none.
    pub events: &'a [Event],
}

impl Draft<'_> {
    /// Whether plans that were made before have to be made again.
    pub(super) fn is_structural(&self) -> bool {
        self.events.iter().any(Event::is_structural)
    }
}

/// A record, read from its line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogRecord<'a> {
    /// The number of the record, from 1.
    pub revision: u64,
    /// The number of structural changes up to this record.
    pub structure: u64,
    /// The time of the events, as the author gave it.
    pub time: Timestamp,
    /// The author.
    pub actor: Cow<'a, str>,
    /// The role of the author.
    pub origin: RecordOrigin,
    /// The orchestration that it belongs to.
    pub orchestration: Option<Cow<'a, str>>,
    /// The key with which it can be repeated.
    pub key: Option<Cow<'a, str>>,
    /// The chain through this record and all before it.
    pub chain: Chain,
    events: &'a RawValue,
    line: &'a str,
    /// The place of the record for messages. File and instance are only looked up for one.
    place: RecordPlace<'a>,
}

#[derive(Clone, Copy)]
pub(super) struct RecordPlace<'a> {
    pub(super) store: &'a dyn super::Store,
    pub(super) instance: &'a str,
    /// The segment, by its first revision.
    pub(super) segment: u64,
    pub(super) revision: u64,
}

impl fmt::Debug for RecordPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl RecordPlace<'_> {
    /// Each line is a record, so the line number follows from the revision.
    pub(super) fn name(&self) -> String {
        let file = self.store.place(self.instance, &super::segment::name(self.segment));
        format!("{file}:{}", self.revision.saturating_sub(self.segment) + 1)
    }
}

impl<'a> LogRecord<'a> {
    /// The events of the record.
    ///
    /// # Errors
    /// `store-corrupt` if the text contains no valid events.
    pub fn events(&self) -> Result<Vec<Event>, Diagnostic> {
        serde_json::from_str(self.events.get())
            .map_err(|why| trouble::corrupt(&self.place(), format_args!("has wrong events: {why}")))
    }

    /// The events as they are written: a JSON list of objects.
    pub fn raw_events(&self) -> &'a str {
        self.events.get()
    }

    /// The line as it is written, without its line break.
    pub fn line(&self) -> &'a str {
        self.line
    }

    /// The line without the secrets that the instance keeps as they are. Its chain is still that of
    /// the line as it is written.
    pub fn line_without_secrets(&self) -> Cow<'a, str> {
        let events = self.raw_events();
        let read = || serde_json::from_str::<Value>(events).ok();
        let hidden = read().and_then(|events| dropped(&events));
        let written = hidden.and_then(|events| serde_json::to_string(&events).ok());
        match (written, self.line.split_once(events)) {
            (Some(written), Some((before, behind))) => [before, &written, behind].concat().into(),
            _ => self.line.into(),
        }
    }

    /// The segment of the record, given by its first revision.
    pub(super) fn segment(&self) -> u64 {
        self.place.segment
    }

    /// The file and line of the record, for messages.
    pub fn place(&self) -> String {
        self.place.name()
    }
}

/// A string that is borrowed if it is written without escapes.
#[derive(Deserialize)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

/// A record as serde reads it.
#[derive(Deserialize)]
struct ReadRecord<'a> {
    format: Option<u64>,
    revision: u64,
    structure: u64,
    #[serde(borrow)]
    time: BorrowedText<'a>,
    #[serde(borrow)]
    actor: BorrowedText<'a>,
    origin: RecordOrigin,
    #[serde(borrow)]
    orchestration: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    key: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    events: &'a RawValue,
}

/// The last time that was parsed. Consecutive records often have the same time.
pub(super) type LastTime = Option<(Box<str>, Timestamp)>;

/// Reads a line whose chain is right, and checks that it is the next record after `before`.
///
/// # Errors
/// `store-corrupt`; for the first record `store-version`.
pub(super) fn read<'a>(
    line: &'a [u8],
    chain: Chain,
    before: &LogPosition,
    last: &mut LastTime,
    place: RecordPlace<'a>,
) -> Result<LogRecord<'a>, Diagnostic> {
    let wrong = |what: &dyn fmt::Display| trouble::corrupt(&place.name(), what);
    let line =
        std::str::from_utf8(line).map_err(|why| wrong(&format_args!("is no text: {why}")))?;
    let read: ReadRecord<'a> =
        serde_json::from_str(line).map_err(|why| wrong(&format_args!("is no record: {why}")))?;
    if read.revision != before.revision + 1 {
        let (is, was) = (read.revision, before.revision);
        return Err(wrong(&format_args!("has revision {is}, and the one before has {was}")));
    }
    if !(before.structure..=before.structure + 1).contains(&read.structure) {
        let (is, was) = (read.structure, before.structure);
        return Err(wrong(&format_args!("has structure {is}, and the one before has {was}")));
    }
    match read.format {
        None if read.revision == 1 => return Err(wrong(&"does not name its format")),
        Some(format) if format != FORMAT => return Err(trouble::version(&place.name(), format)),
        _ => {}
    }
    let time = match last {
        Some((text, time)) if **text == *read.time.0 => *time,
        _ => {
            let time = read.time.0.parse();
            let time = time.map_err(|why| wrong(&format_args!("has no time: {why}")))?;
            last.insert((read.time.0.into(), time)).1
        }
    };
    Ok(LogRecord {
        revision: read.revision,
        structure: read.structure,
        time,
        actor: read.actor.0,
        origin: read.origin,
        orchestration: read.orchestration.map(|text| text.0),
        key: read.key.map(|text| text.0),
        chain,
        events: read.events,
        line,
        place,
    })
}

/// The format in a line, even of a later version with other chains.
pub(super) fn later_format(line: &[u8]) -> Option<u64> {
    let digits = line.strip_prefix(b"{\"format\":")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    let format = std::str::from_utf8(&digits[..end]).ok()?.parse().ok()?;
    (format > FORMAT).then_some(format)
}

/// Revision, structure and chain in a line.
pub(super) fn numbers(line: &[u8]) -> Option<(u64, u64, Chain)> {
    let chain = ChainedLine::of(line).chain()?;
    let read: ReadRecord<'_> = serde_json::from_slice(line).ok()?;
    Some((read.revision, read.structure, chain))
}

/// A record as serde writes it.
#[derive(Serialize)]
struct WrittenRecord<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<u64>,
    revision: u64,
    structure: u64,
    time: WrittenTime,
    actor: &'a str,
    origin: RecordOrigin,
    #[serde(skip_serializing_if = "Option::is_none")]
    orchestration: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    events: &'a [Event],
}

/// A time as text.
struct WrittenTime(Timestamp);

impl Serialize for WrittenTime {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Writes the record after `before`, and returns its chain.
///
/// # Errors
/// Errors of writing the events as JSON.
pub(super) fn write(
    to: &mut Vec<u8>,
    draft: &Draft<'_>,
    before: &LogPosition,
) -> Result<Chain, serde_json::Error> {
    let start = to.len();
    let record = WrittenRecord {
        format: (before.revision == 0).then_some(FORMAT),
        revision: before.revision + 1,
        structure: before.structure + u64::from(draft.is_structural()),
        time: WrittenTime(draft.time),
        actor: draft.actor,
        origin: draft.origin,
        orchestration: draft.orchestration,
        key: draft.key,
        events: draft.events,
    };
    serde_json::to_writer(&mut *to, &record)?;
    // The closing brace belongs after the chain.
    to.pop();
    let chain = Chain::of(before.chain.as_ref(), &to[start..]);
    to.extend_from_slice(&chain.ending());
    Ok(chain)
}
