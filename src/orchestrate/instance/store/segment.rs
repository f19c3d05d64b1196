//! Segments: the files that a log is cut into, each called by its first revision.

use super::StoredFile;

/// A log goes on in a new file once the last has so many bytes.
pub(super) const SEGMENT_BYTES: u64 = 64 << 20;

const PREFIX: &str = "log-";
const SUFFIX: &str = ".ndjson";

/// A segment as it was when somebody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogSegment {
    /// The revision of its first record.
    pub(super) first: u64,
    /// Bytes.
    pub(super) length: u64,
}

/// What the segment is called that begins with this revision.
pub(super) fn name(first: u64) -> String {
    format!("{PREFIX}{first}{SUFFIX}")
}

/// With which revision the segment of this name begins; nothing for other files.
pub(super) fn first(name: &str) -> Option<u64> {
    number(name, PREFIX, SUFFIX)
}

/// The number in a name, where it is written as we write it.
pub(super) fn number(name: &str, prefix: &str, suffix: &str) -> Option<u64> {
    let digits = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
    let number: u64 = digits.parse().ok()?;
    (number > 0 && number.to_string() == digits).then_some(number)
}

/// The segments among files, in their order.
pub(super) fn all(files: &[StoredFile]) -> Vec<LogSegment> {
    let segment =
        |file: &StoredFile| Some(LogSegment { first: first(&file.name)?, length: file.length });
    let mut segments: Vec<_> = files.iter().filter_map(segment).collect();
    segments.sort_unstable_by_key(|segment| segment.first);
    segments
}
