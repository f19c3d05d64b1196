//! What is at the end of a log and is no record: was it never acknowledged, or was the log changed?

use super::lines::LogLines;
use super::log::{EventLog, LogPosition};
use super::record::{Chain, ChainedLine};
use super::segment::LogSegment;
use super::{Store, segment};
use std::io::{self, Read};

/// The end of a log that was never acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TornEnd {
    /// Segments by their first revision, and from which byte on.
    pub(super) parts: Vec<(u64, u64)>,
    /// How much that is.
    pub(super) bytes: u64,
}

impl TornEnd {
    /// Moves it to a file of its own, and gives the name of that.
    ///
    /// # Errors
    /// As the store gives them; then what is left is the end of the log.
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

    /// Writes what is put aside, unless it was before. What another one has put aside there stays.
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

/// What a wrong line means.
pub(super) enum TornVerdict {
    /// It is right when looked at once more: it was not whole yet.
    Right,
    /// Nothing right is behind it: it was interrupted.
    Torn(TornEnd),
    /// Something right is behind it: it was changed.
    Changed,
}

/// Judges what is behind a position, whose next line seemed wrong.
///
/// What was interrupted may be a group of records, so that several lines may be wrong. A line is
/// right where it goes on from the one before it, by what that says of itself or by what it is: so
/// neither a line that was changed nor a chain that was hides those behind it.
///
/// # Errors
/// As the store gives them.
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

/// What the chain of a wrong line may have been.
#[derive(Clone, Copy)]
struct Candidates {
    /// What it says.
    written: Option<Chain>,
    /// What it would be, were all since the last right line as they were written.
    computed: Chain,
}

impl Candidates {
    fn lead_to(&self, line: &ChainedLine<'_>) -> bool {
        self.written.is_some_and(|written| line.follows(Some(&written)))
            || line.follows(Some(&self.computed))
    }
}
