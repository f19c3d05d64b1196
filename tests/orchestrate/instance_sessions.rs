//! Tests instances in unusual situations, as people use them. Each directory of `tests/instance/`
//! with a session has commands, each followed by its output, which are run in a copy of the
//! directory. `UPDATE_DOCS=1` writes the output anew. It has `TIME` and `DIGEST` in place of times
//! and digests.

#![cfg(all(unix, feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::folders::copy;
use crate::sessions::{Place, hold, run_in_shell};
use std::path::Path;

fn run(line: &str, directory: &Path) -> String {
    steady(&run_in_shell(line, directory, &[("CUVEE_STORE", "store"), ("USER", "ann")]))
}

/// A text with placeholders for everything that changes from run to run.
fn steady(text: &str) -> String {
    let is_within = |c: char| c.is_ascii_alphanumeric() || "-:.".contains(c);
    let mut steady = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_within) {
        steady.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c| !is_within(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        let is_digest = word.len() >= 32 && word.chars().all(|c| c.is_ascii_hexdigit());
        let is_time = word.len() >= 20 && word.get(10..11) == Some("T") && word.ends_with('Z');
        steady.push_str(if is_digest {
            "DIGEST"
        } else if is_time {
            "TIME"
        } else {
            word
        });
        rest = &rest[end..];
    }
    steady + rest
}

#[test]
fn sessions_are_as_shown() {
    hold("instance", &Place::Copy(copy), run);
}
