//! The torn end of a log: a last line without line break, whose writing was interrupted. Every
//! other wrong line may have been acknowledged, so nobody moves it.

use super::lines::LogLines;
use super::log::{EventLog, LogPosition};
use super::record::ChainedLine;
use super::segment::LogSegment;
use super::{Store, segment};
use std::io::{self, Read};

/// The end of a log that was never acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TornEnd {
    /// The last segment, given by the revision of its first record.
    pub(super) segment: u64,
    /// The byte offset in the segment.
    pub(super) offset: u64,
    /// The number of bytes.
    pub(super) bytes: u64,
}

impl TornEnd {
    /// Moves the torn end to a file of its own, and returns the name of the file.
    ///
    /// # Errors
    /// Errors of the store; the torn end is still at the end of the log then.
    pub(super) fn put_aside(&self, log: &EventLog<'_>) -> io::Result<String> {
        let (store, instance, file) = (log.store, log.instance(), segment::name(self.segment));
        let mut bytes = Vec::new();
        store.read(instance, &file, self.offset)?.read_to_end(&mut bytes)?;
        let aside = self.keep(log, &bytes)?;
        match self.offset {
            0 => store.remove(instance, &file)?,
            offset => store.truncate(instance, &file, offset)?,
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

/// Whether the line after a position is wrong: it does not continue the line before, or lacks its
/// line break though a later segment exists.
///
/// # Errors
/// Errors of the store.
pub(super) fn is_wrong(
    store: &dyn Store,
    instance: &str,
    segments: &[LogSegment],
    position: &LogPosition,
) -> io::Result<bool> {
    let source = store.read(instance, &segment::name(position.segment), position.offset)?;
    let mut lines = LogLines::new(source, None);
    Ok(match lines.next_line()? {
        Some(range) => !ChainedLine::of(lines.bytes(range)).follows(position.chain.as_ref()),
        None => {
            let is_last = segments.iter().all(|segment| segment.first <= position.segment);
            !is_last && !lines.rest().is_empty()
        }
    })
}
