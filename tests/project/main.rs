//! Tests the project as a whole: its structure, its pages, its packages, and the command as scripts
//! see it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

#[cfg(feature = "cli")]
#[path = "../shared/commands.rs"]
mod commands;
#[cfg(feature = "cli")]
#[path = "../shared/folders.rs"]
mod folders;
#[path = "../shared/shell.rs"]
mod shell;

mod architecture;
mod build_script;
mod ci;
mod completions;
mod docs;
mod json;
mod library;
mod packaging;
mod profile;
