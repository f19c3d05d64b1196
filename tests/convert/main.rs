//! Tests TOSCA 1.0: its XML, its rules, and conversions from and to it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

#[cfg(feature = "cli")]
#[path = "../shared/folders.rs"]
mod folders;
#[cfg(feature = "cli")]
#[path = "../shared/sessions.rs"]
mod sessions;

mod definitions;
mod versions;
mod xml;
mod xml_rules;
