//! Digests, and bytes as digits.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Two hexadecimal digits a byte.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The digest of a content: 64 hexadecimal digits of SHA-256.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}
