//! Tests validation: the errors that it finds, and the templates that it accepts.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod command;
mod diagnostics;
mod stages;
mod standard;
mod types;
mod valid;
mod values;
