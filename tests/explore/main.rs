//! Tests questions about all variants at once, and their drawings, exports and reports.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

#[path = "../shared/shell.rs"]
mod shell;

mod diff;
mod draw;
mod exchange;
mod inputs_cases;
mod questions;
mod report;
