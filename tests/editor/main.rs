//! Tests the language server as editors meet it: a client speaks the protocol with the command.

#![cfg(feature = "lsp")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod asks;
mod broken;
mod client;
mod commands;
mod described;
mod findings;
mod fixed;
#[path = "../shared/folders.rs"]
mod folders;
mod imports;
mod kept;
mod latency;
mod names;
mod parts;
mod protocol;
mod pulled;
mod shown;
mod suggestions;
mod typing;
