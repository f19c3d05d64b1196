//! Writes the log of an instance as one text, with the blobs that its records name, and reads it
//! back. A blob is a line before the record that names it first, so a text that is written later
//! has only more lines.

use super::blobs::NamedBlobs;
use super::store::{EventLog, Store, find_blob, missing_blob};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::tosca::digest::{hexadecimal, sha256};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A line that contains a blob. Its contents are text, or hexadecimal digits of bytes that are none.
#[derive(Serialize, Deserialize)]
struct BlobLine<'l> {
    #[serde(borrow)]
    blob: Cow<'l, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'l, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    bytes: Option<Cow<'l, str>>,
}

/// The beginning of a line that contains a blob.
const BLOB: &str = "{\"blob\":";

impl<'l> BlobLine<'l> {
    fn of(digest: &'l str, contents: &'l [u8]) -> Self {
        let text = std::str::from_utf8(contents).ok().map(Cow::Borrowed);
        let bytes = text.is_none().then(|| hexadecimal(contents).into());
        Self { blob: digest.into(), text, bytes }
    }

    /// The contents of the blob; `None` if it has none, or if they do not have its digest.
    fn contents(self) -> Option<Vec<u8>> {
        let contents = match (self.text, self.bytes) {
            (Some(text), None) => text.into_owned().into_bytes(),
            (None, Some(digits)) => from_hexadecimal(&digits)?,
            _ => return None,
        };
        (sha256(&contents) == self.blob).then_some(contents)
    }
}

fn from_hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}

/// The log of an instance as one text.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ExportedLog {
    /// The records and blobs, one a line.
    pub text: String,
    /// Warnings of blobs that are missing.
    pub warnings: Vec<Diagnostic>,
}

/// Writes the log of an instance as one text: its records as they are, and the blobs that they
/// name.
///
/// # Errors
/// `unknown-instance`, `store-corrupt`, `store-version`, `file`.
pub fn export_log(store: &dyn Store, name: &str) -> Result<ExportedLog, Diagnostic> {
    let mut log = EventLog::open_at_start(store, name)?;
    let (mut named, mut exported) = (NamedBlobs::default(), ExportedLog::default());
    while let Some(record) = log.next_record()? {
        let blobs = named.new_in(&record.events()?, &|digest| find_blob(store, name, digest))?;
        for (digest, contents) in blobs {
            match contents {
                Some(contents) => exported.add(&digest, &contents),
                None => {
                    let missing = missing_blob(store, name, &digest);
                    exported.warnings.push(missing.with_severity(Severity::Warning));
                }
            }
        }
        exported.text.push_str(record.line());
        exported.text.push('\n');
    }
    Ok(exported)
}

impl ExportedLog {
    fn add(&mut self, digest: &str, contents: &[u8]) {
        // Strings can always be written.
        self.text += &serde_json::to_string(&BlobLine::of(digest, contents)).unwrap_or_default();
        self.text.push('\n');
    }
}

/// The lines of an exported log.
pub(super) struct ExportedLines {
    /// The records, one a line.
    pub(super) records: String,
    /// The contents of the blobs, by their digests.
    pub(super) blobs: BTreeMap<String, Vec<u8>>,
}

impl ExportedLines {
    /// # Errors
    /// `store-corrupt` if a blob is not what its digest says.
    pub(super) fn read(text: &str) -> Result<Self, Diagnostic> {
        let mut lines = Self { records: String::new(), blobs: BTreeMap::new() };
        for (index, line) in text.split_inclusive('\n').enumerate() {
            if !line.starts_with(BLOB) {
                lines.records.push_str(line);
                continue;
            }
            let blob = serde_json::from_str::<BlobLine<'_>>(line).ok();
            let digest = blob.as_ref().map(|blob| blob.blob.to_string());
            let found = digest.zip(blob.and_then(BlobLine::contents)).ok_or_else(|| {
                let message = format!("line {} is no blob that has its digest", index + 1);
                Diagnostic::error(Code::StoreCorrupt, message)
                    .help("export the log again: `cuvee instance export NAME --format log`")
            })?;
            lines.blobs.insert(found.0, found.1);
        }
        Ok(lines)
    }
}
