//! Computes digests, and writes bytes as hexadecimal digits.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Writes bytes with two hexadecimal digits each.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The SHA-256 digest of the content, as 64 hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}
