//! Tests resolving a variant: what is read, chosen, evaluated and written.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod assign;
mod cli;
mod conformance;
mod csar;
mod evaluate;
mod faithful;
#[cfg(feature = "cli")]
#[path = "../shared/folders.rs"]
mod folders;
mod imports;
mod init;
mod loaded;
mod sessions;
#[cfg(feature = "cli")]
#[path = "../shared/sessions.rs"]
mod shown;
