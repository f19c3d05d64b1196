//! Segments: the files that a log is divided into, each named by its first revision.

use super::StoredFile;

/// How many bytes a segment has before the log continues in a new one.
pub(super) const SEGMENT_BYTES: u64 = 64 << 20;

const PREFIX: &str = "log-";
const SUFFIX: &str = ".ndjson";

/// A segment, as of the last look at the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogSegment {
    /// The revision of its first record.
    pub(super) first: u64,
    /// The number of bytes.
    pub(super) length: u64,
}

/// The file name of the segment that begins with this revision.
pub(super) fn name(first: u64) -> String {
    format!("{PREFIX}{first}{SUFFIX}")
}

/// The first revision of the segment with this file name; `None` for other files.
pub(super) fn first(name: &str) -> Option<u64> {
    number(name, PREFIX, SUFFIX)
}

/// The number in a file name, if it is written in the usual way.
pub(super) fn number(name: &str, prefix: &str, suffix: &str) -> Option<u64> {
    let digits = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
    let number: u64 = digits.parse().ok()?;
    (number > 0 && number.to_string() == digits).then_some(number)
}

/// The segments among the files, in order.
pub(super) fn all(files: &[StoredFile]) -> Vec<LogSegment> {
    let segment =
        |file: &StoredFile| Some(LogSegment { first: first(&file.name)?, length: file.length });
    let mut segments: Vec<_> = files.iter().filter_map(segment).collect();
    segments.sort_unstable_by_key(|segment| segment.first);
    segments
}
