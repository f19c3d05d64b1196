//! From events to the tree.

use super::node::Document;
use crate::diagnostic::Diagnostic;
use crate::source::FileId;
use std::sync::Arc;

/// How much a document may ask for, so that none can hang the reader or exhaust its memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of one file.
    pub bytes: u64,
    /// Levels of nesting.
    pub depth: u32,
    /// Nodes after expanding aliases and merge keys, as a multiple of those written, plus a million.
    pub expansion: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 256 << 20, depth: 128, expansion: 10 }
    }
}

/// Parses the only document of a file.
///
/// # Errors
/// `syntax` with the place, for malformed YAML, a second document, a duplicate key, an unknown alias, or a passed limit.
pub fn parse(file: FileId, text: Arc<str>, limits: &Limits) -> Result<Document, Diagnostic> {
    parse_filtered(file, text, limits, &|_| true)
}

/// Parses, but leaves out every map entry for whose path of keys `keep` is false, so that a large library costs no tree.
///
/// # Errors
/// As [`parse`]; what is left out is still checked for well-formedness, but not for duplicate keys.
pub fn parse_filtered(
    file: FileId,
    text: Arc<str>,
    limits: &Limits,
    keep: &dyn Fn(&[&str]) -> bool,
) -> Result<Document, Diagnostic> {
    let _ = (file, text, limits, keep);
    todo!()
}
