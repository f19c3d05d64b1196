//! Judges bytes at the end of a log that are no record: were they never acknowledged, or was the
//! log changed?

use super::lines::LogLines;
use super::log::{EventLog, LogPosition};
use super::record::{Chain, ChainedLine};
use super::segment::LogSegment;
use super::{Store, segment};
use std::io::{self, Read};

/// The end of a log that was never acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TornEnd {
    /// The segments by first revision, each with the offset of its torn part.
    pub(super) parts: Vec<(u64, u64)>,
    /// The number of bytes.
    pub(super) bytes: u64,
}

impl TornEnd {
    /// Moves the torn end to a file of its own, and returns the name of the file.
    ///
    /// # Errors
    /// Errors of the store; the rest is still at the end of the log then.
    pub(super) fn put_aside(&self, log: &EventLog<'_>) -> io::Result<String> {
        let (store, instance) = (log.store, log.instance());
        let mut bytes = Vec::new();
        for &(first, from) in &self.parts {
            store.read(instance, &segment::name(first), from)?.read_to_end(&mut bytes)?;
        }
        let aside = self.keep(log, &bytes)?;
        for &(first, from) in self.parts.iter().rev() {
            let file = segment::name(first);
            match from {
                0 => store.remove(instance, &file)?,
                from => store.truncate(instance, &file, from)?,
            }
        }
        Ok(aside)
    }

    /// Writes the bytes to a file, unless an earlier attempt did. Files of other torn ends stay.
    fn keep(&self, log: &EventLog<'_>, bytes: &[u8]) -> io::Result<String> {
        let first = format!("torn-{}", log.revision() + 1);
        let mut aside = first.clone();
        let mut number = 1;
        loop {
            match log.contents(&aside)? {
                Some(there) if there == bytes => return Ok(aside),
                Some(_) => {
                    number += 1;
                    aside = format!("{first}.{number}");
                }
                None => {
                    log.store.replace(log.instance(), &aside, bytes)?;
                    return Ok(aside);
                }
            }
        }
    }
}

/// The meaning of a wrong line.
pub(super) enum TornVerdict {
    /// The line is right when it is read again: it was not complete before.
    Right,
    /// No right line follows: writing was interrupted.
    Torn(TornEnd),
    /// A right line follows: the log was changed.
    Changed,
}

/// Judges the text after a position whose next line seems wrong.
///
/// An interrupted write may contain a group of records, so several lines may be wrong. A line is
/// right if it continues the line before, either by the chain that line contains or by the chain it
/// should have. So neither a changed line nor a changed chain hides the right lines after it.
///
/// # Errors
/// Errors of the store.
pub(super) fn judge(
    store: &dyn Store,
    instance: &str,
    segments: &[LogSegment],
    position: &LogPosition,
) -> io::Result<TornVerdict> {
    let mut torn = TornEnd { parts: Vec::new(), bytes: 0 };
    let mut before: Option<Candidates> = None;
    let open = segments.partition_point(|segment| segment.first < position.segment);
    for LogSegment { first, .. } in &segments[open..] {
        let from = if *first == position.segment { position.offset } else { 0 };
        let source = store.read(instance, &segment::name(*first), from)?;
        let mut lines = LogLines::new(source, None);
        torn.parts.push((*first, from));
        while let Some(range) = lines.next_line()? {
            let line = ChainedLine::of(lines.bytes(range.clone()));
            match &before {
                None if line.follows(position.chain.as_ref()) => return Ok(TornVerdict::Right),
                Some(before) if before.lead_to(&line) => return Ok(TornVerdict::Changed),
                _ => {}
            }
            let computed = before.map_or(position.chain, |before| Some(before.computed));
            before = Some(Candidates {
                written: line.chain,
                computed: Chain::of(computed.as_ref(), line.body),
            });
            torn.bytes += range.len() as u64 + 1;
        }
        torn.bytes += lines.rest().len() as u64;
    }
    Ok(TornVerdict::Torn(torn))
}

/// The possible chains of a wrong line.
#[derive(Clone, Copy)]
struct Candidates {
    /// The chain that the line contains.
    written: Option<Chain>,
    /// The chain that it would have if all lines since the last right one were unchanged.
    computed: Chain,
}

impl Candidates {
    fn lead_to(&self, line: &ChainedLine<'_>) -> bool {
        self.written.is_some_and(|written| line.follows(Some(&written)))
            || line.follows(Some(&self.computed))
    }
}
