//! Tests input that is large, deep, hostile or found by fuzzing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

#[path = "../shared/oracle.rs"]
mod oracle;

mod fuzzed;
mod growth;
mod hostile;
mod optimize;
